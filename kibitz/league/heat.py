"""The matrix of a league: who is ahead of whom as a heat map, with a figure in every cell.

Blue is ahead and vermilion behind, which everybody can tell apart; where all play together, more
blue is more points. Words on a colour have a contrast of at least 4.5 to 1.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.core.markup import Markup, element, joined
from kibitz.core.svg import PALETTE, SEAT_COLOURS
from kibitz.league.contest import Cell
from kibitz.league.ladder import Ladder, Rung

LEVELS = 20  # steps of colour on each side of even
AHEAD, BEHIND = SEAT_COLOURS[0], SEAT_COLOURS[1]
CONTRAST = 4.5


def _channels(colour: str) -> list[int]:
    return [int(colour[at : at + 2], 16) for at in (1, 3, 5)]


def mixed(colour: str, paper: str, part: float) -> str:
    """Mix a part of a colour with paper."""
    pairs = zip(_channels(colour), _channels(paper), strict=True)
    return "#" + "".join(f"{round(part * one + (1 - part) * two):02X}" for one, two in pairs)


def contrast(one: str, two: str) -> float:
    """Give the contrast of two colours, 1 to 21, as the Web Content Accessibility Guidelines do."""
    lights = []
    for colour in (one, two):
        parts = [part / 255 for part in _channels(colour)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        lights.append(0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2])
    return (max(lights) + 0.05) / (min(lights) + 0.05)


def colours(level: int, dark: bool) -> tuple[str, str]:
    """Give the colour of a level, -LEVELS to LEVELS, and that of words on it."""
    hue = AHEAD if level > 0 else BEHIND
    ground = mixed(hue, PALETTE["paper"][dark], abs(level) / LEVELS)
    inks = (PALETTE["ink"][dark], PALETTE["ink"][not dark], "#FFFFFF", "#000000")
    # White or black always does: one of the two has a contrast of 4.58 with any colour.
    return ground, next(ink for ink in inks if contrast(ink, ground) >= CONTRAST)


def heat_style(dark: str = "@media screen and (prefers-color-scheme:dark)") -> str:
    """Write the style of all levels, `.h-20` to `.h20`; `dark` says where the dark ones hold."""

    def rules(dark: bool) -> str:
        made = []
        for level in range(-LEVELS, LEVELS + 1):
            ground, ink = colours(level, dark)
            made.append(f".h{level}{{background:{ground};color:{ink}}}")
        return "".join(made)

    return f"{rules(False)}\n{dark}{{{rules(True)}}}"


@dataclass(frozen=True, slots=True)
class Door:
    """What a cell opens: the attributes of its button, and words that invite to press it."""

    attributes: Mapping[str, str | int]
    invites: str


def heat_map(
    ladder: Ladder, doors: Mapping[tuple[str, str], Door], most_points: float | None = None
) -> Markup:
    """Draw the matrix as a table, in the order of the ladder; `doors` says what cells open."""
    met = {name for pair in ladder.cells for name in pair}
    shown = {
        agent: rung for agent, rung in enumerate(ladder.rungs) if rung.place or rung.name in met
    }
    means = [cell.points.mean for cell in ladder.cells.values()]
    low = min([0.0, *means])
    high = most_points if most_points is not None else max(means, default=1.0)
    head = element(
        "tr",
        element("td", class_="corner"),
        *(
            element("th", element("span", _numbered(rung)), scope="col", title=rung.name)
            for rung in shown.values()
        ),
    )
    rows = []
    for agent, rung in shown.items():
        one = rung.name
        row = [element("th", _numbered(rung), scope="row", title=one, class_="who")]
        for two in (other.name for other in shown.values()):
            cell = ladder.cells.get((one, two))
            if cell is None:
                row.append(_empty(one, two, ladder.cooperative, doors.get((one, two))))
            elif ladder.cooperative:
                part = (cell.points.mean - low) / max(high - low, 1e-9)
                level = round(LEVELS * min(max(part, 0.0), 1.0))
                row.append(_cell(level, *points_words(cell, one, two), doors.get((one, two))))
            else:
                level = round(LEVELS * (2 * cell.share.mean - 1))
                row.append(_cell(level, *share_words(cell, one, two), doors.get((one, two))))
        rows.append(element("tr", *row, data_agent=agent))
    return element("table", element("thead", head), element("tbody", *rows), class_="matrix")


def _numbered(rung: Rung) -> Markup:
    place = element("span", f"{rung.place or '–'}", class_="place")
    return joined(place, " ", element("span", rung.name, class_="name"))


def share_words(cell: Cell, one: str, two: str) -> tuple[str, str]:
    """Give the figure of a cell, and all about it."""
    about = f"{one} ahead of {two}: {cell.share.text()} of {cell.games:,} games"
    return f"{100 * cell.share.mean:.0f}", about


def points_words(cell: Cell, one: str, two: str) -> tuple[str, str]:
    """Give the figure of a cell, and all about it, where all play together."""
    whom = "itself" if one == two else two
    found = estimate_text(cell.points.mean, cell.points.plus_minus)
    return f"{cell.points.mean:.1f}", f"{one} with {whom}: {found} points in {cell.games:,} games"


def estimate_text(mean: float, plus_minus: float, digits: int = 2) -> str:
    """Write `12.3 ± 0.4`; after a single deal nothing is known about how sure that is."""
    wide = f"{plus_minus:.{digits}f}" if math.isfinite(plus_minus) else "?"
    return f"{mean:.{digits}f} ± {wide}"


def _empty(one: str, two: str, cooperative: bool, door: Door | None) -> Markup:
    if one == two and not cooperative:
        return element("td", element("span", "·"), class_="self", title=one)
    return _filled("none", "–", f"{one} and {two}: no games", door)


def _cell(level: int, figure: str, about: str, door: Door | None) -> Markup:
    return _filled(f"h{level}", figure, about, door)


def _filled(class_: str, figure: str, about: str, door: Door | None) -> Markup:
    if door is None:
        return element("td", element("span", figure), class_=class_, title=about)
    title = f"{about}. {door.invites}"
    button = element(
        "button", figure, type="button", **door.attributes, title=title, aria_label=title,
        class_=class_,
    )  # fmt: skip
    return element("td", button, class_=class_)
