"""How many people there are at which time of a run. Pure."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Shape:
    """`most` people; `length_s` of the whole run."""

    name: str
    most: int
    length_s: float

    def at(self, second: float) -> int | None:
        """People at that second; None when the run is over."""
        if second >= self.length_s:
            return None
        share = second / self.length_s
        if self.name == "steps":  # five equal stairs
            return max(1, self.most * (int(share * 5) + 1) // 5)
        if self.name == "spike":  # a fifth, then all at once, then a fifth
            return self.most if 0.4 <= share < 0.6 else max(1, self.most // 5)
        if self.name == "soak":  # a short way up, then the same for the rest
            return max(1, round(self.most * min(1.0, share * 20)))
        raise ValueError(f"no shape {self.name!r}: steps, spike or soak")
