"""Draws results as SVG: `python -m transport.benches.plots build/bench.jsonl FOLDER`.

Only what the figures need: lines over a logarithmic axis, and bars. No library is worth its weight
for nine pictures.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from transport.whole_file import export_whole, users_rights

WIDTH, HEIGHT = 640, 320
LEFT, RIGHT, TOP, BOTTOM = 72, 168, 40, 48
COLOURS = ("#1b6ac9", "#c9601b", "#2b8a3e", "#7b2ba8", "#666666")
# From here on the memory of groups is more than that of the engine itself.
MANY_GROUPS = 1024
STYLE = "font-family='sans-serif' font-size='12' fill='#222222'"

Point = tuple[float, float]
Line = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Series:
    """One line of a chart."""

    name: str
    points: Sequence[Point]


def _short(value: float) -> str:
    if value >= 1000 and value % 100:
        return f"{value:,.0f}"  # a power of two, say
    for size, unit in ((1e6, " M"), (1e3, " k")):
        if abs(value) >= size:
            return f"{value / size:g}{unit}"
    return f"{value:g}"


def _steps(most: float) -> list[float]:
    """Four or five round numbers from 0 to at least `most`."""
    if most <= 0:
        return [0.0, 1.0]
    magnitude = 10 ** math.floor(math.log10(most / 4))
    size = next(unit * magnitude for unit in (1, 2, 2.5, 5, 10) if unit * magnitude * 5 >= most)
    return [size * index for index in range(math.ceil(most / size) + 1)]


@dataclass(frozen=True, slots=True)
class Scale:
    """Where values are drawn, from the first step at the bottom to the last at the top."""

    steps: Sequence[float]
    by_tens: bool = False

    def y(self, value: float) -> float:
        low, high, here = self.steps[0], self.steps[-1], max(value, self.steps[0])
        if self.by_tens:
            low, high, here = math.log(low), math.log(high), math.log(here)
        return HEIGHT - BOTTOM - (here - low) / (high - low) * (HEIGHT - TOP - BOTTOM)


def _scale_by_tens(values: Sequence[float]) -> Scale:
    least, most = min(value for value in values if value > 0), max(values)
    low, high = math.floor(math.log10(least)), math.ceil(math.log10(most))
    return Scale([10.0**power for power in range(low, max(high, low + 1) + 1)], by_tens=True)


def _frame(title: str, body: Sequence[str]) -> str:
    head = f"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 {WIDTH} {HEIGHT}' {STYLE}>"
    paper = f"<rect width='{WIDTH}' height='{HEIGHT}' fill='#ffffff'/>"
    caption = f"<text x='{LEFT}' y='22' font-size='15'>{escape(title)}</text>"
    return "\n".join([head, paper, caption, *body, "</svg>"]) + "\n"


def _grid(scale: Scale, name: str) -> list[str]:
    drawn = [f"<text x='8' y='{TOP - 14}' fill='#666666'>{escape(name)}</text>"]
    for step in scale.steps:
        y = scale.y(step)
        drawn.append(
            f"<line x1='{LEFT}' x2='{WIDTH - RIGHT}' y1='{y:.1f}' y2='{y:.1f}' stroke='#dddddd'/>"
        )
        text = f"<text x='{LEFT - 6}' y='{y + 4:.1f}' text-anchor='end'>{_short(step)}</text>"
        drawn.append(text)
    return drawn


def lines(
    title: str, x_name: str, y_name: str, series: Sequence[Series], by_tens: bool = False
) -> str:
    """Lines over a logarithmic axis; `by_tens`: the other one is logarithmic, too."""
    places = sorted({x for one in series for x, _ in one.points})
    values = [y for one in series for _, y in one.points]
    scale = _scale_by_tens(values) if by_tens and max(values) > 0 else Scale(_steps(max(values)))
    low, high = math.log(places[0]), math.log(places[-1])
    span = (high - low) or 1.0

    def x_of(x: float) -> float:
        return LEFT + (math.log(x) - low) / span * (WIDTH - LEFT - RIGHT)

    body = _grid(scale, y_name)
    for x in places:
        at = f"x='{x_of(x):.1f}' y='{HEIGHT - BOTTOM + 18}'"
        body.append(f"<text {at} text-anchor='middle'>{_short(x)}</text>")
    middle = (LEFT + WIDTH - RIGHT) / 2
    foot = f"x='{middle:.0f}' y='{HEIGHT - 10}' text-anchor='middle' fill='#666666'"
    body.append(f"<text {foot}>{escape(x_name)}</text>")
    for index, one in enumerate(series):
        colour = COLOURS[index % len(COLOURS)]
        path = " ".join(f"{x_of(x):.1f},{scale.y(y):.1f}" for x, y in one.points)
        body.append(f"<polyline points='{path}' fill='none' stroke='{colour}' stroke-width='2'/>")
        body += [
            f"<circle cx='{x_of(x):.1f}' cy='{scale.y(y):.1f}' r='3' fill='{colour}'/>"
            for x, y in one.points
        ]
        body.append(
            f"<text x='{WIDTH - RIGHT + 10}' y='{TOP + 16 + 18 * index}' fill='{colour}'>"
            f"{escape(one.name)}</text>"
        )
    return _frame(title, body)


def bars(title: str, y_name: str, values: Sequence[tuple[str, float]]) -> str:
    """A bar for each name, with its value above it."""
    scale = Scale(_steps(max(value for _, value in values)))
    body = _grid(scale, y_name)
    room = (WIDTH - LEFT - 20) / len(values)
    for index, (name, value) in enumerate(values):
        x, y = LEFT + room * index + room * 0.15, scale.y(value)
        colour = COLOURS[index % len(COLOURS)]
        body.append(
            f"<rect x='{x:.1f}' y='{y:.1f}' width='{room * 0.7:.1f}' "
            f"height='{HEIGHT - BOTTOM - y:.1f}' fill='{colour}'/>"
        )
        centre = f"x='{x + room * 0.35:.1f}' text-anchor='middle'"
        body.append(f"<text {centre} y='{y - 5:.1f}'>{_short(round(value, -3))}</text>")
        for row, words in enumerate(name.split(", ")):
            at = f"{centre} y='{HEIGHT - BOTTOM + 16 + 14 * row}'"
            body.append(f"<text {at}>{escape(words)}</text>")
    return _frame(title, body)


# What is drawn of which experiment


def _throughput(found: Sequence[Line]) -> str:
    raw: dict[str, float] = {}
    rates = []
    for line in found:
        ours = "offload" in line  # else another system
        if ours:
            raw["raw, offload" if line["offload"] else "raw, plain"] = line["raw"]
        what = line["what"].removeprefix("throughput, ")
        rates.append((f"ours, {what}" if ours else what, line["rate"]))
    values = [*raw.items(), *rates]
    return bars("One sender, two receivers, 1000 bytes", "messages/s", values)


def _receivers(found: Sequence[Line]) -> str:
    shares = [(line["receivers"], line["ratio"]) for line in found]
    return lines("Share of the raw limit", "receivers", "share", [Series("ours", shares)])


def _groups(found: Sequence[Line]) -> str:
    kept = [(line["groups"], line["ratio"]) for line in found]
    title = "Rate with many groups, of the rate with one"
    return lines(title, "groups", "share", [Series("ours", kept)])


def _memory(found: Sequence[Line]) -> str:
    """Of a few groups the engine itself takes more than they do."""
    many = [line for line in found if line["groups"] >= MANY_GROUPS] or found
    names = {
        "a receiver": "group_bytes",
        "the sender": "sender_group_bytes",
        "one who hosts": "host_group_bytes",
    }
    series = [
        Series(name, [(line["groups"], line.get(key, 0)) for line in many])
        for name, key in names.items()
    ]
    return lines("Memory of each group", "groups", "bytes", series)


def _by_clock(found: Sequence[Line], key: str) -> list[Series]:
    return [
        Series(
            name,
            [(line["receivers"], line[key]) for line in found if line["coupled"] == coupled],
        )
        for name, coupled in (("own clocks", False), ("coupled, as in the papers", True))
    ]


def _nodes(found: Sequence[Line]) -> str:
    title = "Rate with many receivers, of the rate with two, simulated"
    return lines(title, "receivers", "share", _by_clock(found, "ratio"))


def _acknowledged(found: Sequence[Line]) -> str:
    title = "Time to acknowledge at half of the rate, simulated"
    return lines(title, "receivers", "ms", _by_clock(found, "ack_calm_ms"), by_tens=True)


def _pending(found: Sequence[Line]) -> str:
    title = "Packets not acknowledged at full rate, simulated"
    return lines(title, "receivers", "packets", _by_clock(found, "pending"))


def _rates(found: Sequence[Line]) -> str:
    """What was offered stands where others have the raw limit."""
    series = [
        Series(
            f"{name}, {size} bytes",
            [(line["raw"], line[key]) for line in found if line["bytes"] == size],
        )
        for size in sorted({line["bytes"] for line in found})
        for name, key in (("median", "p50_us"), ("99th", "p99_us"))
    ]
    title = "From call to call by rate, two receivers"
    return lines(title, "messages/s", "us", series, by_tens=True)


def _python(found: Sequence[Line]) -> str:
    values = [
        (line["what"].replace("live-objects", "ours").replace(", a call", ", call"), line["rate"])
        for line in found
        if line["rate"]
    ]
    return bars("Into Python callbacks, two receivers", "messages/s", values)


# Name of the picture, the experiment whose figures it shows, and who draws it.
PICTURES: dict[str, tuple[str, Callable[[Sequence[Line]], str]]] = {
    "throughput": ("throughput", _throughput),
    "receivers": ("receivers", _receivers),
    "groups": ("groups", _groups),
    "memory": ("groups", _memory),
    "nodes": ("nodes", _nodes),
    "acknowledged": ("nodes", _acknowledged),
    "pending": ("nodes", _pending),
    "rates": ("rates", _rates),
    "python": ("python", _python),
}


def draw_all(results: Path, folder: Path) -> list[Path]:
    """Writes the pictures of each experiment that the file has figures of."""
    _, *records = [json.loads(line) for line in results.read_text("utf-8").splitlines()]
    with users_rights():
        folder.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, (experiment, draw) in PICTURES.items():
        found = [line for line in records if line["name"] == experiment and not line["problem"]]
        if found:
            path = folder / f"{name}.svg"
            export_whole(path, draw(found).encode())
            drawn.append(path)
    return drawn


if __name__ == "__main__":
    for picture in draw_all(Path(sys.argv[1]), Path(sys.argv[2])):
        sys.stdout.write(f"{picture}\n")
