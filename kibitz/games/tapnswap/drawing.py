"""TapnSwap as a picture: four hands across a line, with a small button for every tap and swap.

As in words, the left hands of both players are drawn on the left. Buttons also say in `data-hand`
and `data-on` which hand acts on which (`own-left`, `other-right`), so that a page may let two
clicks on hands do the same.
"""

from __future__ import annotations

from collections.abc import Mapping

from kibitz.core.svg import (
    CORNER,
    ON_SEAT,
    board,
    button,
    figure,
    halo,
    legal,
    number,
    paint,
    seat_chip,
    seat_colour,
    seat_mark,
    tag,
    text,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View
from kibitz.games.tapnswap.rules import TAPS
from kibitz.games.tapnswap.words import SIDES

WIDTH, HEIGHT = 640, 672
MIDDLE = HEIGHT / 2
COLUMNS = (176, 464)  # of left and right hands
PALM = 166  # from the line to the middle of a palm
TIPS = 54  # from the line to where arrows meet raised fingers
KNUCKLES = 116  # from the line to where they meet a fist
TARGET = 36  # from the line to the buttons of taps

FINGERS = ((-31.5, 74, -8), (-10.5, 84, -2.5), (10.5, 77, 3), (31.5, 58, 9))  # x, length, tilt
REACH = (0, -42, -28, -14, 0)  # where the tips of so many raised fingers are, across a left hand
PALM_PATH = "M-27 74C-29 60-47 46-47 20L-43-16Q-43-28-31-28H31Q43-28 43-16V20C43 46 29 60 27 74z"

STYLE = f"""
& .skin{{fill:#EDBE94;stroke:#7C4D29;stroke-width:1.75;stroke-linejoin:round;stroke-linecap:round}}
& .nail{{fill:#F9E0CE;stroke:#B97F52;stroke-width:1}}
& .crease{{fill:none;stroke:#B97F52;stroke-width:1.5;stroke-linecap:round}}
& .dead .skin{{{paint("line")};{paint("quiet", "stroke")}}}
& .dead .nail,& .dead .crease{{fill:none;{paint("quiet", "stroke")};stroke-opacity:.5}}
& .way{{{paint("accent")};visibility:hidden;pointer-events:none}}
& .way .stem{{fill:none;{paint("accent", "stroke")};stroke-width:3;stroke-linecap:round}}
& [role=button]:hover .way,& [role=button]:focus-visible .way{{visibility:visible}}
& .went{{{paint("halo")};pointer-events:none}}
& .went .stem{{fill:none;{paint("halo", "stroke")};stroke-width:4;stroke-linecap:round}}
"""


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the viewer's hands below the line and the other's above it."""
    hands = view["hands"].tolist()
    changes = _changes(last, hands)
    parts = [tag("path", d=f"M48 {number(MIDDLE)}H{WIDTH - 48}", class_="edge", stroke_width=2)]
    if last:
        parts.append(_went(view, last))
    for seat in (1 - view.seat, view.seat):
        for side in range(2):
            place = 2 * seat + side
            parts.append(_hand(view, seat, side, hands[place], changes.get(place, 0)))
    thoughts = opinion or {}
    for action in view.legal:
        if view.acts or action in thoughts:
            parts.append(_choice(view, action, thoughts.get(action)))
    swaps = [divmod(action - TAPS, 2) for action in view.legal if action >= TAPS]
    if swaps and view.acts:
        top = min(_swap_place(view, *swap)[1] for swap in swaps)
        parts.append(text(WIDTH / 2, top - 30, "swap", 13, "quiet"))
    return board(
        view, WIDTH, HEIGHT,
        seat_chip(view, 1 - view.seat, 16, 34),
        *parts,
        seat_chip(view, view.seat, 16, HEIGHT - 34),
        style=STYLE,
    )  # fmt: skip


def _changes(last: Move | None, hands: list[int]) -> dict[int, int]:
    """Find by how many fingers the last move changed which hands."""
    if last is None:
        return {}
    own = 2 * last.seat
    if last.action < TAPS:
        return {2 - own + last.action % 2: hands[own + last.action // 2]}
    giver, spare = divmod(last.action - TAPS, 2)
    return {own + giver: -spare - 1, own + 1 - giver: spare + 1}


def _away(view: View, seat: int) -> int:
    """Give the direction from the line to a seat's hands."""
    return 1 if seat == view.seat else -1


def _tips(view: View, seat: int, side: int) -> tuple[float, float]:
    """Find where a hand touches, or is touched."""
    away = _away(view, seat)
    fingers = int(view["hands"][2 * seat + side])
    across = REACH[fingers] * away * (-1 if side else 1)
    return COLUMNS[side] + across, MIDDLE + away * (TIPS if fingers else KNUCKLES)


def _name(view: View, seat: int, side: int) -> str:
    return f"{'own' if seat == view.seat else 'other'}-{SIDES[side]}"


# --- hands -------------------------------------------------------------------------------------


def _hand(view: View, seat: int, side: int, fingers: int, change: int) -> str:
    """Draw a hand with its side and count beside it."""
    x, y = COLUMNS[side], MIDDLE + _away(view, seat) * PALM
    turn = "" if seat == view.seat else " rotate(180)"
    flip = " scale(-1 1)" if side else ""
    picture = tag(
        "g", _cuff(seat), *_palm(fingers), transform=f"translate({x} {number(y)}){turn}{flip}",
        class_=None if fingers else "dead",
    )  # fmt: skip
    beside = x + (104 if side else -104)
    words = [
        text(beside, y - 24, SIDES[side], 14, "quiet"),
        text(beside, y + 4, str(fingers), 32, "ink strong") if fingers
        else text(beside, y + 2, "dead", 20, "quiet strong"),
    ]  # fmt: skip
    if change:
        words.append(
            text(beside, y + 34, f"{'+' if change > 0 else '−'}{abs(change)}", 14, "quiet")
        )
    return tag("g", picture, *words, data_hand=_name(view, seat, side), data_fingers=fingers)


def _cuff(seat: int) -> str:
    """Draw the sleeve, which carries the seat's colour and shape."""
    return tag(
        "g",
        tag("rect", x=-38, y=72, width=76, height=32, rx=CORNER, fill=seat_colour(seat)),
        seat_mark(seat, 0, 88, 14, fill=ON_SEAT[seat]),
    )


def _palm(fingers: int) -> list[str]:
    """Draw a left hand from the palm's side, fingers up, the index first to rise."""
    parts = [
        tag("path", d=PALM_PATH, class_="skin"),
        tag("path", d="M34 10C24 22 8 26-2 44M-14 62C-22 54-24 44-20 34", class_="crease"),
    ]
    for place, (x, length, tilt) in enumerate(FINGERS):
        if place < fingers:
            up = length - 10
            finger = tag("path", d=f"M-10 4V{-up}a10 10 0 0 1 20 0V4", class_="skin")
            joints = f"M-5 {number(-0.3 * up)}q5 2 10 0M-5 {number(-0.68 * up)}q5 2 10 0"
            finger += tag("path", d=joints, class_="crease")
            parts.append(tag("g", finger, transform=f"translate({x} -22) rotate({tilt})"))
        else:
            low = (2, 5, 3, -3)[place]
            folded = tag("rect", x=x - 10.5, y=-40, width=21, height=40 + low, rx=10, class_="skin")
            folded += tag("path", d=f"M{x - 5.5} -20q5.5 3 11 0", class_="crease")
            folded += tag("rect", x=x - 5, y=low - 13, width=10, height=10, rx=4.5, class_="nail")
            parts.append(folded)
    thumb = tag("path", d="M-2-13Q22-16 46-12a12 12 0 0 1 0 24Q22 14 2 15", class_="skin")
    thumb += tag("rect", x=42, y=-6, width=13, height=12, rx=5, class_="nail")
    thumb += tag("path", d="M26-5q3 5 0 10", class_="crease")
    parts.append(tag("g", thumb, transform="translate(-38 36) rotate(-22)"))
    return parts


# --- moves -------------------------------------------------------------------------------------


def _arrow(start: tuple[float, float], end: tuple[float, float], class_: str, head: float) -> str:
    """Draw an arrow."""
    (x, y), (to_x, to_y) = start, end
    far = ((to_x - x) ** 2 + (to_y - y) ** 2) ** 0.5
    east, south = (to_x - x) / far, (to_y - y) / far
    neck_x, neck_y = to_x - head * east, to_y - head * south
    tip = [
        (to_x, to_y),
        (neck_x - 0.6 * head * south, neck_y + 0.6 * head * east),
        (neck_x + 0.6 * head * south, neck_y - 0.6 * head * east),
    ]
    stem = f"M{number(x)} {number(y)}L{number(neck_x)} {number(neck_y)}"
    points = " ".join(f"{number(a)},{number(b)}" for a, b in tip)
    return tag(
        "g", tag("path", d=stem, class_="stem"), tag("polygon", points=points), class_=class_
    )


def _went(view: View, last: Move) -> str:
    """Mark the last move: a halo behind the hands that met, an arrow between them."""
    away = _away(view, last.seat)
    if last.action < TAPS:
        giver, taker = divmod(last.action, 2)
        other = -away
        start, end = _tips(view, last.seat, giver), _tips(view, 1 - last.seat, taker)
    else:
        giver = (last.action - TAPS) // 2
        taker, other = 1 - giver, away
        inward = 68 if giver == 0 else -68
        level = MIDDLE + away * PALM
        start, end = (COLUMNS[giver] + inward, level), (COLUMNS[taker] - inward, level)
    halos = [
        halo("ellipse", cx=COLUMNS[side], cy=MIDDLE + way * (PALM - 8), rx=68, ry=88)
        for side, way in ((giver, away), (taker, other))
    ]
    return tag("g", *halos, _arrow(start, end, "went", 14))


def _swap_place(view: View, hand: int, spare: int) -> tuple[float, float]:
    """Find the middle of a swap's button; those that are legal lie centred between the hands."""
    swaps = [divmod(action - TAPS, 2) for action in view.legal if action >= TAPS]
    x, y = WIDTH / 2, MIDDLE + _away(view, view.mover) * PALM
    if len({giver for giver, _ in swaps}) == 2:
        x += -32 if hand else 32
    if len({more for _, more in swaps}) == 2:
        y += 20 if spare else -20
    return x, y


def _choice(view: View, action: int, value: float | None) -> str:
    """Draw the small button of a tap or a swap; a plain mark where it is not the viewer's turn."""
    seat, away = view.mover, _away(view, view.mover)
    if action < TAPS:
        hand, on = divmod(action, 2)
        x, y = COLUMNS[on] + (58.0 if hand else -58.0), MIDDLE - away * TARGET
        wide, tall, words = 108, 28, f"tap with {SIDES[hand]}"
        beside = (x, y + away * 26)
        end = (x, y + away * (18 if value is None else 36))  # a figure keeps clear of it
        way = _arrow(_tips(view, seat, hand), end, "way", 12)
        names = {"data_hand": _name(view, seat, hand), "data_on": _name(view, 1 - seat, on)}
    else:
        hand, spare = divmod(action - TAPS, 2)
        x, y = _swap_place(view, hand, spare)
        wide, tall = 56, 32
        words = f"← {spare + 1}" if hand else f"{spare + 1} →"
        beside = (x + (-52 if hand else 52), y)
        way = ""
        names = {"data_hand": _name(view, seat, hand), "data_on": _name(view, seat, 1 - hand)}
    box = {"x": x - wide / 2, "y": y - tall / 2, "width": wide, "height": tall, "rx": tall / 2}
    parts = [tag("rect", class_="paper", **box)]
    if value is not None:
        parts += [shade(value, "rect", **box), figure(value, *beside)]
    size = 13 if action < TAPS else 16
    parts += [legal("rect", **box), text(x, y, words, size), way]
    if not view.acts:
        return tag("g", *parts)
    return button(view, action, *parts, **names)
