"""A run's result: JSON for programs, and one page with plots for people that needs nothing but itself."""

import html
import io
import json
import os
import platform
from dataclasses import asdict
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from numbridge import RELEASE
from numbridge.load.run import Outcome, Plan
from numbridge.load.tally import Goals

FORMAT = 1
mpl.rcParams["svg.hashsalt"] = "numbridge"  # the same report gives the same bytes
mpl.rcParams["svg.fonttype"] = "none"


def as_json(
    plan: Plan, goals: Goals, outcome: Outcome, *, started_at: str, deployment: dict[str, Any]
) -> dict[str, Any]:
    """The whole run. `deployment`: what is known of it (versions, workers, gateways)."""
    return {
        "format": FORMAT,
        "release": RELEASE,
        "started_at": started_at,
        "machine": {
            "system": platform.platform(),
            "processor": _processor(),
            "cores": _cores(),
            "python": platform.python_version(),
        },
        "deployment": deployment,
        "plan": asdict(plan),
        "goals": asdict(goals),
        "games": outcome.games,
        "limited": outcome.limited,
        "levels": [{**asdict(level), "held": level.held} for level in outcome.levels],
    }


def _cores() -> int:
    return os.cpu_count() or 0


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as lines:
            return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    except OSError:
        return platform.processor()


def claim(report: dict[str, Any]) -> str:
    """The answer in a sentence."""
    goals, games = report["goals"], report["games"]
    best = max((level for level in report["levels"] if level["games"] == games and level["held"]),
               key=lambda level: level["moves"], default=None)  # fmt: skip
    if best is None:
        return "No level met the goals."
    text = (
        f"{games} games at once ({best['moves_per_s']:g} moves/s) with 99 % of moves shown to both players within "
        f"{goals['move_p99_ms']:g} ms (measured: {best['move_p99_ms']:g}) and 95 % of seeks seated within "
        f"{goals['seat_p95_ms']:g} ms (measured: {best['seat_p95_ms']:g})."
    )
    return text + (f" Not the limit: the run was limited by {report['limited']}." if report["limited"] else "")


def _svg(figure: Figure) -> str:
    out = io.StringIO()
    figure.savefig(out, format="svg", metadata={"Date": None, "Creator": None})
    return out.getvalue()[out.getvalue().index("<svg") :]


def _lines(title: str, unit: str, games: list[int], series: dict[str, list[float]], *, log: bool = False,
           bound: float | None = None, stacked: bool = False) -> str:  # fmt: skip
    figure = Figure(figsize=(7.2, 3.6), layout="constrained")
    axes = figure.add_subplot()
    if stacked and series:
        axes.stackplot(games, *series.values(), labels=list(series))
    else:
        for name, values in series.items():
            axes.plot(games, values, marker="o", markersize=4, label=name)
    if bound is not None:
        axes.axhline(bound, linestyle="--", color="0.4", label="goal")
    if log:
        axes.set_yscale("log")
    else:
        axes.set_ylim(bottom=0)
    axes.set_title(title)
    axes.set_xlabel("games at once")
    axes.set_ylabel(unit)
    axes.grid(alpha=0.3)
    axes.legend(fontsize=8)
    return _svg(figure)


def plots(report: dict[str, Any]) -> list[str]:
    """SVG pictures: latency, seating, rate, CPU and memory by load."""
    levels = sorted(report["levels"], key=lambda level: level["games"])
    games = [level["games"] for level in levels]

    def each(name: str) -> list[float]:
        return [level[name] for level in levels]

    found = [
        _lines("Moves: sent to shown to both", "ms", games,
               {"median": each("move_p50_ms"), "99 %": each("move_p99_ms")},
               log=True, bound=report["goals"]["move_p99_ms"]),
        _lines("Seeks: sent to seated", "ms", games,
               {"median": each("seat_p50_ms"), "95 %": each("seat_p95_ms")},
               log=True, bound=report["goals"]["seat_p95_ms"]),
        _lines("Throughput", "moves/s", games, {"moves": each("moves_per_s")}),
    ]  # fmt: skip
    for title, unit, key in (("CPU by process", "cores", "cpu"), ("Memory by process", "MiB", "memory_mib")):
        names = sorted({name for level in levels for name in level[key]})
        if names:
            series = {name: [float(level[key].get(name, 0.0)) for level in levels] for name in names}
            found.append(_lines(title, unit, games, series, stacked=True))
    return found


_STYLE = (
    "body{font:16px/1.5 system-ui,sans-serif;max-width:72rem;margin:2rem auto;padding:0 1rem;color:#1b1b1b;"
    "background:#fff}table{border-collapse:collapse;font-size:14px}td,th{border:1px solid #ccc;padding:.25rem .5rem;"
    "text-align:right}td:last-child,th:last-child{text-align:left}.plots{display:flex;flex-wrap:wrap;gap:1rem}"
    "svg{max-width:100%;height:auto}.claim{font-size:1.25rem}pre{background:#f4f4f4;padding:1rem;overflow:auto}"
)
_COLUMNS = (
    ("games", "games"), ("moves/s", "moves_per_s"), ("shown ms", "move_p50_ms"), ("99 %", "move_p99_ms"),
    ("answered ms", "answer_p50_ms"), ("99 %", "answer_p99_ms"), ("seats", "seats"), ("seated ms", "seat_p50_ms"),
    ("95 %", "seat_p95_ms"), ("generator cores", "generator_cpu"), ("late ms 99 %", "late_p99_ms"),
)  # fmt: skip


def as_page(report: dict[str, Any]) -> str:
    """HTML with everything in it."""
    rows = []
    for level in report["levels"]:
        verdict = "holds" if level["held"] else "; ".join(level["failed"]) or "invalid: the generator was the limit"
        cells = "".join(f"<td>{level[key]:g}</td>" for _, key in _COLUMNS)
        rows.append(f"<tr>{cells}<td>{html.escape(verdict)}</td></tr>")
    head = "".join(f"<th>{name}</th>" for name, _ in _COLUMNS)
    conditions = {key: report[key] for key in ("release", "started_at", "machine", "deployment", "plan", "goals")}
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Numbridge capacity</title>'
        f"<style>{_STYLE}</style></head><body><h1>Numbridge capacity</h1>"
        f'<p class="claim">{html.escape(claim(report))}</p>'
        f'<div class="plots">{"".join(plots(report))}</div>'
        f"<h2>Levels, in the order tried</h2><table><tr>{head}<th>verdict</th></tr>{''.join(rows)}</table>"
        f"<h2>Conditions</h2><pre>{html.escape(json.dumps(conditions, indent=2))}</pre></body></html>\n"
    )


_COMPARED = (("moves/s", "moves_per_s"), ("shown, median ms", "move_p50_ms"), ("shown, 99 % ms", "move_p99_ms"))


def compare(before: dict[str, Any], after: dict[str, Any]) -> str:
    """Two reports side by side: the answers, and the levels that both tried."""
    lines = [f"{'':28}{'before':>14}{'after':>14}{'ratio':>8}"]

    def row(name: str, one: float, two: float) -> None:
        ratio = f"{two / one:8.2f}" if one else f"{'':8}"
        lines.append(f"{name:28}{one:14g}{two:14g}{ratio}")

    row("games that hold", before["games"], after["games"])
    known = {level["games"]: level for level in before["levels"]}
    for level in sorted(after["levels"], key=lambda level: int(level["games"])):
        other = known.get(level["games"])
        if other is None:
            continue
        for name, key in _COMPARED:
            row(f"{level['games']} games: {name}", other[key], level[key])
        if other["cpu"] and level["cpu"]:
            row(f"{level['games']} games: cores", sum(other["cpu"].values()), sum(level["cpu"].values()))
    conditions = ("release", "machine", "goals", "plan")
    lines += [f"not the same: {key}" for key in conditions if before[key] != after[key]]
    return "\n".join(lines)
