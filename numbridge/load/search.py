"""Which level to try next: growing steps until one fails, then halving between the best and the worst. Pure."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Search:
    """Finds the highest level that holds. Levels are whole numbers of games.

    `first`: where to begin; `factor`: how much a step grows; `most`: never beyond it; `precision`: it is found when
    the lowest level that failed is within this share of the highest that held. `tries`: levels at most.
    """

    first: int
    most: int
    factor: float = 2.0
    precision: float = 0.1
    tries: int = 16
    held: int = 0
    """The highest level that has held; 0: none yet."""
    failed: int | None = None
    """The lowest level that has failed."""
    tried: list[int] = field(default_factory=list)

    def next(self) -> int | None:
        """The next level to try; None when the answer is `held`."""
        if len(self.tried) >= self.tries:
            return None
        if self.failed is None:
            level = max(1, self.first) if not self.tried else max(self.held + 1, round(self.held * self.factor))
            level = min(level, self.most)
            return None if level in self.tried else level
        if self.failed - self.held <= max(1.0, self.failed * self.precision):
            return None
        middle = (self.held + self.failed) // 2
        return None if middle in self.tried or middle < 1 else middle

    def report(self, level: int, *, held: bool) -> None:
        """What became of a level. One that fails below another that held shows that the other held by luck."""
        self.tried.append(level)
        if held:
            self.held = max(self.held, level)
            if self.failed is not None and self.failed <= self.held:
                self.failed = None
        else:
            self.failed = level if self.failed is None else min(self.failed, level)
            if self.held >= self.failed:
                self.held = 0
