"""`numbridge status` for eyes: at most a line a worker and some more."""

from typing import Any

_COLUMNS = ("worker", "addr", "shards", "playing", "adjourned", "unconfirmed", "moves/s", "p99", "release", "state")


def screen(found: dict[str, Any]) -> str:
    """The status for eyes."""
    rows: list[tuple[str, ...]] = [_COLUMNS]
    for worker in found["workers"]:
        numbers = ["?"] * 7
        state = "does not answer"
        if worker["answers"]:
            numbers = [*(str(worker[key]) for key in _COLUMNS[2:6]), _rate(worker["moves_per_s"])]
            numbers += [f"{worker['p99_us'] / 1000:.1f} ms", worker["release"]]
            state = "draining" if worker["draining"] else "serving"
        rows.append((worker["worker"], worker["addr"], *numbers, state))
    widths = [max(len(row[column]) for row in rows) for column in range(len(_COLUMNS))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
    shards, games, lag = found["shards"], found["games"], found["lag"]
    lobby, ratings = found["lobby"], found["ratings"]
    lines += ["", f"shards   {shards['served']} of {shards['all']} served"]
    slowest = f"{lag['p99_us'] / 1000:.1f} ms"
    lines.append(f"games    {games['playing']} playing, {games['adjourned']} adjourned")
    lines.append(f"moves    {_rate(found['moves_per_s'])} a second, 99 % answered by their worker within {slowest}")
    if lobby is not None:
        lines.append(f"lobby    {lobby['seeks']} seeks open, {lobby['seating']} matches being seated")
    lines += [f"lobby    {away['addr']} does not answer" for away in found["lobbies"] if not away["answers"]]
    waiting = "ratings service does not answer" if ratings is None else f"{ratings['waiting']} results waiting"
    lines.append(f"lag      {waiting}, {lag['unconfirmed']} finished games not yet known to be archived")
    for name, state in found["streams"].items():
        size = "not there" if state is None else f"{state['messages']} messages, {state['bytes'] / 2**20:.1f} MiB"
        lines.append(f"{name:<8} {size}")
    releases = found["versions"]["numbridge"]
    ours = ", ".join(f"{release} ({count})" for release, count in releases.items())
    mixed = "; several run side by side" if len(releases) > 1 else ""
    lines.append(f"release  {ours or 'nobody says'}{mixed}; NATS {found['versions']['nats']}")
    return "\n".join(lines)


def _rate(moves: float | None) -> str:
    """Moves a second; unknown for a worker that has just come."""
    return "?" if moves is None else f"{moves:.1f}"
