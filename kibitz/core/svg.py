"""What all drawings share: the palette, the seats' marks, the three marks of a board, buttons.

Drawings are text. `tag` makes an element from elements, `text` and attributes are escaped, and
`board` puts it all under one root. A page changes colours by setting `--paper`, `--ink`, `--line`
or `--accent` (and if it likes `--halo`, `--quiet`, `--opinion`) on anything around the drawing.
Nothing has an id and every style rule begins with the root's class, so boards can share a page.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from kibitz.core.markup import escape, quoteattr

if TYPE_CHECKING:
    from kibitz.core.table import View

PALETTE = {  # on light, on dark
    "paper": ("#FAF8F4", "#16181D"),
    "ink": ("#1F2328", "#E6E3DC"),
    "line": ("#D9D4C7", "#343841"),
    "accent": ("#0072B2", "#56B4E9"),
    "halo": ("#E9B50B", "#E9B50B"),
}
MIXED = {  # with paper, so that a page need not set them: plain, from, per cent
    "quiet": ("#696B6D", "ink", 66),  # words that step back
    "opinion": ("#7DB5D3", "accent", 50),  # ink is legible on it when it is opaque
}
SEAT_COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")  # Okabe-Ito
SEAT_SHAPES = ("circle", "square", "triangle", "diamond", "star", "hexagon")
SEAT_SIGNS = "●■▲◆★⬢"  # the same shapes, to stand in a line of words
ON_SEAT = ("#FFFFFF", "#000000", "#000000", "#000000", "#000000", "#000000")  # 4.5 : 1 or more

FONT = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif"
CORNER = 8


def paint(name: str, what: str = "fill") -> str:
    """Write a style declaration in a colour of the palette, plain for those who lack variables."""
    return f"{what}:{(PALETTE | MIXED)[name][0]};{what}:var(--k-{name})"


def in_plain_colours(drawing: str) -> str:
    """Give a drawing for renderers that do not skip what they cannot read: without variables."""
    return re.sub(r";(fill|stroke):var\(--k-\w+\)", "", drawing)


def _variables(variant: int) -> str:
    return ";".join(f"--k-{name}:var(--{name},{pair[variant]})" for name, pair in PALETTE.items())


def _mixtures() -> str:
    return ";".join(
        f"--k-{name}:var(--{name},color-mix(in srgb,var(--k-{other}) {part}%,var(--k-paper)))"
        for name, (_, other, part) in MIXED.items()
    )


STYLE = f"""
.kibitz{{{_variables(0)};{_mixtures()};font-family:{FONT};font-variant-numeric:tabular-nums}}
@media (prefers-color-scheme:dark){{.kibitz{{{_variables(1)}}}}}
{"".join(f".kibitz .{name}{{{paint(name)}}}" for name in PALETTE | MIXED)}
.kibitz text{{pointer-events:none;user-select:none}}
.kibitz .strong{{font-weight:600}}
.kibitz .edge{{fill:none;{paint("line", "stroke")}}}
.kibitz .legal{{fill:transparent;{paint("quiet", "stroke")};stroke-width:1.25;stroke-dasharray:4 4;
stroke-opacity:.7}}
.kibitz .last{{{paint("halo")};fill-opacity:.34;filter:blur(4px);pointer-events:none}}
.kibitz .value{{{paint("opinion")};pointer-events:none}}
.kibitz [role=button]{{cursor:pointer;outline:none}}
.kibitz [role=button]:hover .legal,.kibitz [role=button]:focus-visible .legal{{
{paint("accent", "stroke")};stroke-opacity:1;stroke-width:2;stroke-dasharray:none}}
"""


# --- composing ---------------------------------------------------------------------------------


def number(value: float) -> str:
    """Write a number with at most two decimals."""
    return str(value) if isinstance(value, int) else f"{round(value, 2) + 0.0:g}"  # never -0


def tag(name: str, *inside: str, **attributes: str | float | None) -> str:
    """Make an element. `class_` means class, `data_action` data-action; None is left out."""
    pairs = "".join(
        f" {key.strip('_').replace('_', '-')}"
        f"={quoteattr(value if isinstance(value, str) else number(value))}"
        for key, value in attributes.items()
        if value is not None
    )
    return f"<{name}{pairs}>{''.join(inside)}</{name}>" if inside else f"<{name}{pairs}/>"


def text(
    x: float, y: float, words: str, size: float = 14, class_: str = "ink", **attributes: str | float
) -> str:
    """Write words, centred on x unless `text_anchor` says otherwise, with their middle at y."""
    attributes = {"text_anchor": "middle", **attributes}
    # 0.36 of the size is half the height of figures; `dominant-baseline` differs among renderers.
    return tag(
        "text", escape(words), x=x, y=y + 0.36 * size, font_size=size, class_=class_, **attributes
    )


def text_width(words: str, size: float = 14) -> float:
    """Guess how wide words are in the reader's system font, on the generous side."""
    narrow = sum(letter in " .,:;'|!()fijlrtI·" for letter in words)
    wide = sum(letter in "mwMW%–—" or letter.isupper() for letter in words)
    return size * (0.62 * len(words) - 0.24 * narrow + 0.2 * wide)


def board(view: View, width: float, height: float, *parts: str, style: str = "") -> str:
    """Make the whole drawing. In `style`, & stands for the class of this game's drawings."""
    root = "kibitz-" + re.sub(r"\W+", "-", view.game.name).strip("-")
    return tag(
        "svg",
        tag("style", escape(STYLE + style.replace("&", f".{root}"))),
        tag("rect", width=width, height=height, rx=CORNER, class_="paper"),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {number(width)} {number(height)}",
        class_=f"kibitz {root}",
        role="group",
        aria_label=f"{view.game.title}: {view.brief()}",
    )


def button(view: View, action: int, *inside: str, **attributes: str | float | None) -> str:
    """Make a group that plays an action when clicked.

    A `legal` mark inside shows hover and focus; without one, the room's style has to.
    """
    title = tag("title", escape(view.say(action)))
    return tag(
        "g", title, *inside, data_action=int(action), role="button", tabindex=0, **attributes
    )


# What only a board that can be clicked needs.
BUTTONS = re.compile(r' data-action="\d+"| role="button"| tabindex="0"')


def only_seen(drawing: str) -> str:
    """Give a drawing for those who look on and cannot click."""
    return BUTTONS.sub("", drawing)


# --- the three marks of every board ------------------------------------------------------------


def legal(shape: str, **where: str | float) -> str:
    """Mark what may be done: a quiet dashed outline. It also is what a pointer hits."""
    return tag(shape, class_="legal", **where)


def halo(shape: str, **where: str | float) -> str:
    """Mark the last move: a soft halo, to be drawn behind what moved."""
    return tag(shape, class_="last", **where)


def opinion(value: float, shape: str, **where: str | float) -> str:
    """Mark what somebody thinks of an action: a fill as opaque as the value, for behind things."""
    return tag(shape, class_="value", fill_opacity=min(max(value, 0.0), 1.0), **where)


def figure(value: float, x: float, y: float, size: float = 12, **attributes: str | float) -> str:
    """Write an opinion's value, to stand beside its fill."""
    return text(x, y, f"{100 * value:.0f}%", size, "ink strong", **attributes)


# --- seats -------------------------------------------------------------------------------------


def seat_colour(seat: int) -> str:
    """Give the colour of a seat; `ON_SEAT` has that of words on it."""
    return SEAT_COLOURS[seat % len(SEAT_COLOURS)]


def _points(x: float, y: float, radii: Sequence[float], turn: float = -90) -> str:
    """Go once around (x, y), at each of the radii in turn."""
    corners = ((math.radians(turn + 360 * i / len(radii)), r) for i, r in enumerate(radii))
    return " ".join(
        f"{number(x + r * math.cos(angle))},{number(y + r * math.sin(angle))}"
        for angle, r in corners
    )


def seat_mark(seat: int, x: float, y: float, size: float = 16, **attributes: str | float) -> str:
    """Draw a seat's colour and shape, about `size` across; seats beyond six have a ring around."""
    kind = SEAT_SHAPES[seat % len(SEAT_SHAPES)]
    ringed = seat >= len(SEAT_SHAPES)
    half = size * (0.32 if ringed else 0.5)
    # Radii that make the shapes look equally large.
    corners = {
        "square": ([1.2] * 4, -45), "triangle": ([1.2] * 3, -90), "diamond": ([1.2] * 4, -90),
        "star": ([1.2, 0.54] * 5, -90), "hexagon": ([1.05] * 6, -90),
    }  # fmt: skip
    if kind == "circle":
        shape = tag("circle", cx=x, cy=y, r=half)
    else:
        radii, turn = corners[kind]
        low = 0.15 * half if kind == "triangle" else 0  # its middle lies below half its height
        shape = tag("polygon", points=_points(x, y + low, [half * r for r in radii], turn))
    if ringed:
        colour = seat_colour(seat)
        shape += tag(
            "circle", cx=x, cy=y, r=size * 0.5, fill="none", stroke=colour, stroke_width=size * 0.1
        )
    return tag("g", shape, **{"fill": seat_colour(seat), **attributes})


def won(view: View, seat: int) -> bool:
    """Tell whether a seat has won a finished game, and not drawn it."""
    return view.over and view.points[seat] == max(view.points) > min(view.points)


def standing(view: View, seat: int) -> str:
    """Say who sits there and how it stands: 'You · to move', 'Seat 1 · won'."""
    who = view.call(seat)
    if not view.over:
        return f"{who} · to move" if seat == view.mover else who
    if view.game.cooperative:
        return who
    if min(view.points) == max(view.points):
        return f"{who} · draw"
    return f"{who} · {'won' if won(view, seat) else 'lost'}"


def seat_chip(view: View, seat: int, x: float, y: float, words: str = "") -> str:
    """Draw a seat's mark and standing from x on, centred on y; whoever moves or won is framed."""
    words = words or standing(view, seat)
    lit = seat == view.mover or won(view, seat)
    frame = tag(
        "rect",
        x=x,
        y=y - 16,
        width=text_width(words) + 52,
        height=32,
        rx=16,
        fill="none",
        stroke=seat_colour(seat),
        stroke_width=2,
    )
    return tag(
        "g",
        frame if lit else "",
        seat_mark(seat, x + 18, y, 14),
        text(x + 34, y, words, 14, "ink strong" if lit else "quiet", text_anchor="start"),
    )
