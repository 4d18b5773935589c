"""The cards of Hanabi as pictures: faces, backs, and the slips that keep what hints have said.

Every colour has a symbol too. Cards are drawn around a point, 70 by 98 before they are scaled, in
colours that are fixed: they look the same on light and on dark paper.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from kibitz.core.svg import number, tag, text
from kibitz.games.hanabi.cells import VALUE, VALUES
from kibitz.games.hanabi.words import Told

WIDE, TALL = 70, 98


@dataclass(frozen=True, slots=True)
class Suit:
    """How a colour looks."""

    ground: str
    ink: str  # legible on the ground
    spark: str  # in the night sky
    symbol: str  # a path 20 across

    def mark(self, x: float, y: float, size: float, fill: str = "") -> str:
        """Draw the symbol, by default in the suit's colour and outlined, as white needs it."""
        at = f"translate({number(x)} {number(y)}) scale({number(size / 20)})"
        outlined = None if fill else "mark"
        return tag("path", d=self.symbol, fill=fill or self.ground, class_=outlined, transform=at)


def _star() -> str:
    corners = ((math.radians(36 * i - 90), 4.6 if i % 2 else 10.6) for i in range(10))
    return "M" + "L".join(
        f"{number(r * math.cos(a))} {number(1 + r * math.sin(a))}" for a, r in corners
    )


HEART = (
    "M0 9.5C-4 6-10 1.5-10-3.8C-10-7.2-7.6-9-5.2-9C-2.8-9-.9-7.6 0-5.4C.9-7.6 2.8-9 5.2-9"
    "C7.6-9 10-7.2 10-3.8C10 1.5 4 6 0 9.5z"
)
CLOVER = (
    "M-4.5-5.2a4.5 4.5 0 1 1 9 0c0 1.4-.6 2.6-1.5 3.4a4.5 4.5 0 1 1-2 6.6c.2 2 .9 3.6 2.2 4.7"
    "h-6.4c1.3-1.1 2-2.7 2.2-4.7a4.5 4.5 0 1 1-2-6.6c-.9-.8-1.5-2-1.5-3.4z"
)
MOON = "M3-9.6A10 10 0 1 0 9.6 3.4A8.2 8.2 0 0 1 3-9.6z"
DROP = "M0-10.5C2.5-6 7.4-1.6 7.4 3.2A7.4 7.4 0 1 1-7.4 3.2C-7.4-1.6-2.5-6 0-10.5z"

SUITS = (
    Suit("#C4302B", "#FFFFFF", "#FF7A6B", HEART),
    Suit("#F2BE1F", "#2A2205", "#FFD95A", _star()),
    Suit("#1B7A43", "#FFFFFF", "#6FDB97", CLOVER),
    Suit("#F7F4EC", "#3A3A44", "#FFFFFF", MOON),
    Suit("#2459BF", "#FFFFFF", "#7FB0FF", DROP),
)

STYLE = """
& .face{stroke:#1F2328;stroke-opacity:.45;stroke-width:1}
& .inner{fill:none;stroke-opacity:.4;stroke-width:1.2}
& .rays{stroke-opacity:.34}
& .mark{stroke:#4A4436;stroke-width:1.6;stroke-linejoin:round}
& .back{fill:#43336B;stroke:#1F1636;stroke-width:1}
& .gilt{fill:none;stroke:#C9A9F0;stroke-opacity:.6}
& .slip{fill:#FFFBEE;stroke:#8F8368;stroke-width:.9}
& .named{fill:#FFD75E;stroke:#8A6A00;stroke-width:.9}
& .out{opacity:.3}
& .strike{fill:none;stroke:#7A1F1B;stroke-width:1.2;stroke-linecap:round;stroke-opacity:.75}
& .dark{fill:#2B2A26}
"""


def box(x: float, y: float, wide: float, tall: float, corner: float = 8) -> dict[str, float]:
    """Give a rectangle around a point."""
    return {"x": x - wide / 2, "y": y - tall / 2, "width": wide, "height": tall, "rx": corner}


def rays(
    x: float, y: float, near: float, far: float, count: int, thick: float, **attributes: str | float
) -> str:
    """Draw rays around a point: the dashes of a broad circle. Where near is far, they are dots."""
    radius = (near + far) / 2
    dash, step = thick, 2 * math.pi * radius / count
    if near == far:
        dash, attributes = 0, {"stroke_linecap": "round", **attributes}
    return tag(
        "circle", cx=x, cy=y, r=radius, fill="none", stroke_width=far - near or thick,
        stroke_dasharray=f"{number(dash)} {number(step - dash)}", **attributes,
    )  # fmt: skip


# --- cards ---------------------------------------------------------------------------------------


def _scaled(x: float, y: float, wide: float, *inside: str) -> str:
    at = f"translate({number(x)} {number(y)}) scale({number(round(wide / WIDE, 4))})"
    return tag("g", *inside, transform=at)


def face(card: int, x: float, y: float, wide: float) -> str:
    """Draw a card: its value, and its symbol in a burst."""
    suit, value = SUITS[card // VALUES], card % VALUES + 1
    return _scaled(
        x,
        y,
        wide,
        tag("rect", fill=suit.ground, class_="face", **box(0, 0, WIDE, TALL)),
        tag("rect", class_="inner", stroke=suit.ink, **box(0, 0, WIDE - 8, TALL - 8, 5)),
        rays(6, 15, 20, 27, 16, 1.8, class_="rays", stroke=suit.ink),
        suit.mark(6, 15, 32, suit.ink),
        text(-18, -26, str(value), 36, "", fill=suit.ink, font_weight="700"),
    )


def edge(card: int, x: float, y: float, wide: float) -> str:
    """Draw a card of which only the lower edge will be seen."""
    suit, value = SUITS[card // VALUES], card % VALUES + 1
    return _scaled(
        x,
        y,
        wide,
        tag("rect", fill=suit.ground, class_="face", **box(0, 0, WIDE, TALL)),
        suit.mark(20, TALL / 2 - 13, 15, suit.ink),
        text(-20, TALL / 2 - 13, str(value), 20, "", fill=suit.ink, font_weight="700"),
    )


def mini(card: int, x: float, y: float, wide: float, tall: float) -> str:
    """Draw a card so small that only its value fits, with its symbol below if it is tall."""
    suit, value = SUITS[card // VALUES], card % VALUES + 1
    high = tall > 1.3 * wide
    return tag(
        "g",
        tag("rect", fill=suit.ground, class_="face", **box(x, y, wide, tall, 3)),
        text(
            x if high else x - wide / 5, y - (tall / 5 if high else 0), str(value),
            0.46 * tall if high else 0.72 * tall, "", fill=suit.ink, font_weight="700",
        ),
        suit.mark(x if high else x + wide / 5, y + (tall / 4 if high else 0), 9, suit.ink),
    )  # fmt: skip


def hint_card(hint: int, x: float, y: float, wide: float) -> str:
    """Draw what a hint names: a tiny card with a colour and no value, or a value and no colour."""
    where = box(x, y, wide, 19, 3)
    if hint < VALUE:
        suit = SUITS[hint]
        ground = tag("rect", fill=suit.ground, class_="face", **where)
        return ground + suit.mark(x, y, 11, suit.ink)
    figure = text(x, y, str(hint - VALUE + 1), 14, "dark", font_weight="700")
    return tag("rect", class_="slip", **where) + figure


def back(x: float, y: float, wide: float) -> str:
    """Draw a card that lies face down."""
    bursts = [
        rays(px, py, 0.36 * r, r, 12, 1.1, class_="gilt")
        for px, py, r in ((0, 0, 22), (-21, -35, 8), (21, -35, 8), (-21, 35, 8), (21, 35, 8))
    ]
    return _scaled(
        x,
        y,
        wide,
        tag("rect", class_="back", **box(0, 0, WIDE, TALL)),
        tag("rect", class_="gilt", **box(0, 0, WIDE - 8, TALL - 8, 5)),
        *bursts,
        rays(0, 0, 27, 27, 16, 2.2, class_="gilt"),
    )


# --- what hints have said ------------------------------------------------------------------------


def slip(told: Told, x: float, y: float, wide: float) -> str:
    """Draw the colours and values that hints leave; what they ruled out is faint and crossed."""
    step = (wide - 4) / max(5, len(told.colours) + len(told.no_colours))
    tall = slip_height(wide)
    parts = [tag("rect", class_="slip", **box(x, y, wide, tall, 4))]
    for row, (may, not_so, named) in enumerate(
        (
            (told.colours, told.no_colours, told.colour_named),
            (told.values, told.no_values, told.value_named),
        )
    ):
        count = len(may) + len(not_so)
        for place in range(count):
            px = x + (place - (count - 1) / 2) * step
            py = y + (row - 0.5) * (tall - 3) / 2
            parts.append(_pip(row == 0, place, px, py, step, place in may, named))
    return tag("g", *parts)


def slip_height(wide: float) -> float:
    """Give the height of a slip."""
    return 2 * (wide - 4) / 5 + 5


def _pip(colour: bool, place: int, x: float, y: float, step: float, may: bool, named: bool) -> str:
    """Draw one colour or value: named by a hint, possible, or crossed out."""
    if colour:
        mark = SUITS[place].mark(x, y, 0.72 * step)
    else:
        mark = text(x, y, str(place + 1), 0.92 * step, "dark", font_weight="700" if may else "400")
    if may:
        ring = tag("circle", cx=x, cy=y, r=0.54 * step, class_="named") if named else ""
        return ring + mark
    far = 0.36 * step
    strike = f"M{number(x - far)} {number(y + far)}l{number(2 * far)} {number(-2 * far)}"
    return tag("g", mark, class_="out") + tag("path", d=strike, class_="strike")


def badges(told: Told, x: float, y: float, size: float) -> str:
    """Draw the colour and the value of a card side by side, each where hints leave only one."""
    known = []
    if told.colour is not None:
        known.append((told.colour_named, SUITS[told.colour].mark(0, 0, 0.6 * size)))
    if told.value is not None:
        figure = text(0, 0, str(told.value + 1), 0.66 * size, "dark", font_weight="700")
        known.append((told.value_named, figure))
    parts = []
    for i, (named, mark) in enumerate(known):
        at = f"translate({number(x + (i - (len(known) - 1) / 2) * 1.12 * size)} {number(y)})"
        ground = tag("circle", r=size / 2, class_="named" if named else "slip")
        parts.append(tag("g", ground, mark, transform=at))
    return "".join(parts)
