"""Mexican train as a picture: a yard of tracks that leave a turntable, where the engine stands.

Every line has a track of its own, the viewer's lowest. Where one is too long the earlier tiles are
counted; at its open end stands the number to match, and a coin where a penny is up. Below lies the
viewer's hand. Under a tile that fits hang tickets, one for each line it may go to; they are the
buttons, and also say in `data-tile` and `data-line` what goes where, so that a page may let a click
on a tile and one on a line do the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product

from kibitz.core.svg import (
    CORNER,
    board,
    button,
    figure,
    halo,
    legal,
    number,
    paint,
    seat_colour,
    seat_mark,
    standing,
    tag,
    text,
    won,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View
from kibitz.games.mexican_train.cells import DOUBLE, DRAW, LINES, PASS, SHARED
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, NUMBERS
from kibitz.games.mexican_train.words import chain, engine, line_name, own_tiles, tile_name

WIDTH = 800
EDGE = 16
HEAD = 48  # above the tracks
LABEL = 164  # left of them, for the seats
TITLE = 48  # above the hand
CHIP = 24  # a ticket's height
WIDEST = 54  # a ticket with a figure
ROOMY = 42  # a ticket's width from which on it can carry a figure
RAISED = 6  # by how much a tile that fits stands out

# Where so many pips lie in a column of half a tile, and how large they are on one 20 across.
RUNS = ((), (0,), (-1, 1), (-1, 0, 1), (-1, -1 / 3, 1 / 3, 1), (-1, -0.5, 0, 0.5, 1))
PIP_SIZES = (4.6, 4.6, 4.6, 4.6, 4.5, 4.5, 4.1, 4.1, 4.1, 4.1, 3.4, 3.4, 3.4, 2.9, 2.9, 2.9)
PIP_COLOURS = (
    "none", "#0B7FC2", "#1B8A3A", "#CF2F2A", "#85552A", "#2140A6", "#AE7500", "#D23F8A",
    "#00827A", "#7739B5", "#D1560A", "#5D6A00", "#59616E", "#9C1448", "#2F7D9A", "#1F2328",
)  # fmt: skip
AIMED = ",".join(
    f"&:has(.to{line}:{how}) .at{line}"
    for line, how in product(range(LINES), ("hover", "focus-visible"))
)

STYLE = f"""
& .bone{{fill:#FCF7EA;stroke:#8F8368;stroke-width:.8}}
& .bar{{fill:none;stroke:#B9AD92;stroke-width:1;stroke-linecap:round}}
& .pips{{fill:none;stroke-linecap:round}}
{"".join(map("& .p{}{{stroke:{};stroke-width:{}}}".format, range(16), PIP_COLOURS, PIP_SIZES))}
& .back{{fill:#8C6F4E;stroke:#5C452C;stroke-width:1}}
& .hatch{{fill:none;stroke:#CDB08A;stroke-width:1}}
& .track{{fill:none;{paint("line", "stroke")}}}
& .bed{{fill:none;{paint("paper", "stroke")}}}
& .table{{{paint("paper")};{paint("line", "stroke")};stroke-width:2}}
& .coin{{fill:#B9713A;stroke:#6F3D17;stroke-width:1.25}}
& .rim{{fill:none;stroke:#E9B183;stroke-width:1}}
& .mint{{fill:#FFF3E6;font-weight:700}}
{AIMED}{{{paint("accent", "stroke")};stroke-opacity:1;stroke-width:2.5;stroke-dasharray:none}}
"""


@dataclass(frozen=True, slots=True)
class Yard:
    """Where the lines lie, and how large their tiles are."""

    lines: tuple[int, ...]  # from above
    half: float  # a tile is twice as long

    @property
    def height(self) -> float:
        """Where the yard ends."""
        return HEAD + (2 * self.half + 8) * len(self.lines)

    @property
    def hub(self) -> tuple[float, float, float]:
        """The turntable: its middle, and how far it reaches."""
        reach = 1.3 * self.half
        return LABEL + 8 + reach, (HEAD + self.height) / 2, reach

    def level(self, line: int) -> float:
        """The height that a line lies at."""
        return HEAD + (2 * self.half + 8) * (self.lines.index(line) + 0.5)


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the lines, the viewer's below the others, and the viewer's hand."""
    seats = view.game.players
    lines = (SHARED, *((view.seat + i) % seats for i in range(1, seats + 1)))
    yard = Yard(lines, 24 if seats <= 6 else 22)
    actions = view.legal if view.acts else []  # of others one knows no tiles
    parts = [_header(view), _tracks(view, yard)]
    for line in lines:
        target = any(action // MOST_TILES == line for action in actions)
        parts.append(_label(view, yard, line, last))
        parts.append(_line(view, yard, line, target, last))
    parts.append(_title(view, yard.height + TITLE / 2, actions, opinion or {}))
    hand, height = _hand(view, yard.height + TITLE, actions, opinion or {})
    return board(view, WIDTH, height, *parts, *hand, style=STYLE)


def _box(x: float, y: float, wide: float, tall: float, corner: float = CORNER) -> dict[str, float]:
    """Give a rectangle around a point."""
    return {"x": x - wide / 2, "y": y - tall / 2, "width": wide, "height": tall, "rx": corner}


def _say(x: float, y: float, words: str, size: float = 13, class_: str = "quiet") -> str:
    """Write words from x on."""
    return text(x, y, words, size, class_, text_anchor="start")


# --- tiles ---------------------------------------------------------------------------------------


def _spots(pips: int) -> str:
    """Place pips on half a tile, as a path of points around its middle."""
    outer = 2 + (pips > 5) + (pips > 9) + (pips > 12)
    far = 5.4 if pips < 10 else 6.3
    if pips < 4:
        spots = [(place, place) for place in RUNS[pips]]
    else:
        middle = (-1, -0.5, 0.5, 1) if pips == 14 else RUNS[pips - 2 * outer]
        spots = [*product((-1, 1), RUNS[outer]), *product((0,), middle)]
    return "".join(f"M{number(far * x)} {number(far * y)}h.01" for x, y in spots)


SPOTS = tuple(map(_spots, range(NUMBERS)))


def _tile(halves: tuple[int, int], x: float, y: float, half: float, turn: int = 0) -> str:
    """Draw a tile around a point, the first half above, or on the left if it is turned by -90."""
    pips = [
        tag("path", d=SPOTS[pips], class_=f"pips p{pips}", transform=f"translate(0 {at})")
        for pips, at in zip(halves, (-10, 10), strict=True)
        if pips
    ]
    return tag(
        "g",
        tag("rect", class_="bone", **_box(0, 0, 19.2, 39.2, 3.2)),
        tag("path", d="M-6.5 0H6.5", class_="bar"),
        *pips,
        transform=f"translate({number(x)} {number(y)}) rotate({turn}) scale({number(half / 20)})",
    )


def _back(x: float, y: float) -> str:
    """Draw a small tile that lies face down."""
    hatch = f"M{number(x - 3)} {number(y - 6)}l6 6l-6 6m6 0l-6-6l6-6"
    return tag("rect", class_="back", **_box(x, y, 10, 18, 2)) + tag(
        "path", d=hatch, class_="hatch"
    )


def _coin(x: float, y: float) -> str:
    """Draw a penny."""
    return tag(
        "g",
        tag("title", "penny up: open to everybody"),
        tag("circle", cx=x, cy=y, r=11.5, class_="coin"),
        tag("circle", cx=x, cy=y, r=8.75, class_="rim"),
        text(x, y, "1¢", 10, "mint"),
    )


def _mark(line: int, x: float, y: float, size: float) -> str:
    """Draw the mark of whose line it is: a seat's, or a locomotive for everybody's."""
    if line != SHARED:
        return seat_mark(line, x, y, size)
    shape = "M-8-2V-6.5H-9V-9h6v2.5h-1V-2h4.5V-9.5H10V5H-8l-4 3v-3l3-3V-2zM3-7v4.5h4.5V-7z"
    wheels = [tag("circle", cx=cx, cy=6.5, r=r) for cx, r in ((-5, 2.5), (0.5, 2.5), (6.5, 3.5))]
    at = f"translate({number(x)} {number(y)}) scale({number(size / 18)})"
    return tag("g", tag("path", d=shape, fill_rule="evenodd"), *wheels, transform=at, class_="ink")


# --- the yard ------------------------------------------------------------------------------------


def _header(view: View) -> str:
    """Say which hand this is, what must be covered, and what the boneyard has."""
    settings = view.game.settings
    hands = min(settings["hands"] or NUMBERS, settings["highest"] + 1)
    now = "Game over" if view.over else f"Hand {view['hand'] + 1} of {hands}"
    parts = [_say(EDGE, 26, now, 15, "ink strong")]
    if view["double"] and not view.over:
        line = view["double"] - 1
        words = f"the double {view['end'][line]} must be covered first"
        parts += [_mark(line, 280, 26, 14), _say(296, 26, words, 14, "ink strong")]
    elif settings["cover"]:
        parts += [_say(296, 26, "doubles must be covered")]
    if settings["boneyard"]:
        parts += [_back(644, 26), _say(656, 26, f"{view['left']} in the boneyard")]
    return tag("g", *parts)


def _tracks(view: View, yard: Yard) -> str:
    """Draw a track for every line to the right edge, and the engine on its turntable."""
    x, y, reach = yard.hub
    bend = yard.half
    way = ""
    for line in yard.lines:
        level = yard.level(line)
        way += f"M{number(x)} {number(y)}"
        if abs(level - y) >= bend:
            turn = level + (bend if level < y else -bend)
            way += f"V{number(turn)}q0 {number(level - turn)} {number(bend)} {number(level - turn)}"
        way += f"H{WIDTH - EDGE}"
    return tag(
        "g",
        tag("path", d=way, class_="track", stroke_width=9),
        tag("path", d=way, class_="bed", stroke_width=6),
        tag("path", d=way, class_="track", stroke_width=14, stroke_dasharray="2 8"),
        tag("circle", cx=x, cy=y, r=reach, class_="table"),
        _tile((engine(view), engine(view)), x, y, yard.half),
    )


def _label(view: View, yard: Yard, seat: int, last: Move | None) -> str:
    """Say whose line it is, with tiles held and pips so far; whoever moves or won is framed."""
    y = yard.level(seat)
    if seat == SHARED:
        words = "open to all" if view["length"][: view.game.players].all() else "not open yet"
        name = _mark(SHARED, 23, y - 10, 16) + _say(36, y - 10, "Mexican train", 13, "ink")
        return tag("g", name, _say(36, y + 10, words))
    frame = _box(LABEL / 2 + 3, y, LABEL - 6, 2 * yard.half)
    lit = seat == view.mover or won(view, seat)
    words = standing(view, seat)
    if view["again"] == DOUBLE:
        words = words.replace("to move", "again")
    parts = []
    if last and last.action == DRAW and last.seat == seat:
        parts.append(halo("rect", **frame))
    if lit:
        parts.append(tag("rect", fill="none", stroke=seat_colour(seat), stroke_width=2, **frame))
    pips, loud = f"{view['pips'][seat]} pips", "ink strong" if view.over else "quiet"
    return tag(
        "g",
        *parts,
        seat_mark(seat, 22, y - 10, 14),
        _say(36, y - 10, words, 13, "ink strong" if lit else "ink"),
        _back(22, y + 10),
        _say(36, y + 10, str(view["tiles"][seat]), 13, "ink strong"),
        text(LABEL - 12, y + 10, pips, 13, loud, text_anchor="end"),
    )


def _line(view: View, yard: Yard, line: int, target: bool, last: Move | None) -> str:
    """Draw the last tiles of a line, as many as fit, its open end, and the penny."""
    laid = chain(view, line)
    middle, _, reach = yard.hub
    half, x, y = yard.half, middle + reach + 8, yard.level(line)
    widths = [half if a == b else 2 * half for a, b in laid]
    room = WIDTH - EDGE - x - half - 38  # the open end and a penny
    first = 0
    while sum(widths[first:]) + (40 if first else 0) > room:
        first += 1
    parts = []
    if first:
        parts.append(_earlier(laid[:first], x + 16, y))
        x += 40
    # A last move that ended a hand is no longer on its line.
    fresh = last and last.action // MOST_TILES == line == view["line"][last.action % MOST_TILES]
    for place in range(first, len(laid)):
        width, across = widths[place], widths[place] == half
        if place == len(laid) - 1 and fresh:
            box = _box(x + width / 2, y, width + 12, (2 if across else 1) * half + 12)
            parts.insert(0, halo("rect", **box))
        name = tag("title", "-".join(map(str, laid[place])))
        tile = _tile(laid[place], x + width / 2, y, half, 0 if across else -90)
        parts.append(tag("g", name, tile))
        x += width
    parts.append(_open_end(view, yard, line, x + half / 2 + 7, target))
    if line != SHARED and view["penny"][line]:
        if last and last.action == PASS and last.seat == line:
            parts.append(halo("circle", cx=x + half + 24, cy=y, r=19))
        parts.append(_coin(x + half + 24, y))
    return tag("g", *parts)


def _earlier(laid: list[tuple[int, int]], x: float, y: float) -> str:
    """Count the tiles for which there is no room; hovering lists them."""
    box = _box(x, y, 36, 20, 10)
    ground = tag("rect", class_="paper", **box) + tag("rect", class_="edge", **box)
    words = tag("title", " ".join(f"{a}-{b}" for a, b in laid))
    return tag("g", words, ground, text(x, y, f"+{len(laid)}", 12, "quiet strong"))


def _open_end(view: View, yard: Yard, line: int, x: float, target: bool) -> str:
    """Show the number that is open at the end of a line, dashed where a tile may go there now."""
    y = yard.level(line)
    box = _box(x, y, yard.half + 2, yard.half - 2, 5)
    return tag(
        "g",
        tag("rect", class_="paper", **box),
        tag("rect", class_=f"legal at{line}", **box) if target else "",
        text(x, y, str(view["end"][line]), 14, "ink strong" if target else "quiet"),
        data_line=line_name(line),
    )


# --- the hand ------------------------------------------------------------------------------------


def _title(view: View, y: float, actions: list[int], opinion: Mapping[int, float]) -> str:
    """Count the viewer's tiles; where nothing fits, offer to draw or to pass."""
    own = own_tiles(view)
    pips = sum(int(LOW[tile] + HIGH[tile]) for tile in own)
    hand = "Your hand" if view.is_you(view.seat) else f"{view.call(view.seat)}'s hand"
    words = f"{'Left over' if view.over else hand}: {len(own)} tiles, {pips} pips"
    parts = [_say(EDGE, y, words.replace(": 1 tiles", ": 1 tile"), 14, "ink")]
    if actions and actions[0] >= PASS:
        action = actions[0]
        inside = _ground(opinion.get(action), _box(WIDTH / 2, y, 120, 32, 16))
        if action in opinion:
            inside += figure(opinion[action], WIDTH / 2 + 84, y)
        inside += text(WIDTH / 2, y, "pass" if action == PASS else "draw a tile", 15, "ink strong")
        parts.append(text(WIDTH / 2 - 72, y, "nothing fits", 13, "quiet", text_anchor="end"))
        parts.append(button(view, action, inside))
    return tag("g", *parts)


def _ground(value: float | None, box: dict[str, float]) -> str:
    """Draw what a choice is written on: paper, what somebody thinks of it, a dashed outline."""
    thought = "" if value is None else shade(value, "rect", **box)
    return tag("rect", class_="paper", **box) + thought + legal("rect", **box)


@dataclass(frozen=True, slots=True)
class Rack:
    """How the viewer's tiles lie, and the tickets under them."""

    across: int  # tiles in a row
    pitch: float  # from tile to tile
    half: float
    columns: int  # of tickets
    wide: float  # a ticket


def _rack(view: View, held: int, opined: bool) -> Rack:
    """Make room for a whole hand as dealt, so that tiles do not spread while it gets smaller."""
    settings, room = view.game.settings, WIDTH - 2 * EDGE
    whole = (settings["highest"] + 1) * (settings["highest"] + 2) // 2
    dealt = settings["boneyard"] or -(-whole // view.game.players)
    pitch = min(max(room / max(dealt, held), 34), 62)
    columns = 1 if opined else int(pitch // 27)
    wide = min(WIDEST if opined else 30, (pitch - 2) / columns - 2)
    return Rack(int(room / pitch), pitch, min(30, pitch - 8), columns, wide)


def _hand(
    view: View, top: float, actions: list[int], opinion: Mapping[int, float]
) -> tuple[list[str], float]:
    """Draw the viewer's tiles, sorted, in rows; give where they end."""
    own = sorted(own_tiles(view), key=lambda tile: (LOW[tile], HIGH[tile]))
    rack = _rack(view, len(own), bool(opinion))
    parts = []
    for start in range(0, max(len(own), 1), rack.across):
        y = top + RAISED + rack.half + (12 if opinion else 0)
        rows = 0 if view.over else 1  # of tickets
        for index, tile in enumerate(own[start : start + rack.across]):
            here = [a for a in actions if a < PASS and a % MOST_TILES == tile]
            rows = max(rows, -(-len(here) // rack.columns))
            x = WIDTH / 2 + (index - (rack.across - 1) / 2) * rack.pitch
            parts.append(_own_tile(view, rack, tile, here, x, y, opinion))
        top = y + rack.half + rows * CHIP + 16
    return parts, top


def _own_tile(
    view: View, rack: Rack, tile: int, actions: list[int], x: float, y: float,
    opinion: Mapping[int, float],
) -> str:  # fmt: skip
    """Draw a tile of the hand with its tickets; where it has but one, it is part of the button."""
    picture = _tile((int(LOW[tile]), int(HIGH[tile])), x, y - RAISED * bool(actions), rack.half)
    values = [opinion[action] for action in actions if action in opinion]
    if values and rack.wide < ROOMY:
        picture += figure(max(values), x, y - rack.half - RAISED - 8, 11)
    tickets = []
    for i, action in enumerate(actions):
        aside = i % rack.columns - (min(rack.columns, len(actions)) - 1) / 2
        below = rack.half + 2 + (i // rack.columns + 0.5) * CHIP
        box = _box(x + aside * (rack.wide + 2), y + below, rack.wide, CHIP - 2, 6)
        with_it = picture if len(actions) == 1 else ""
        tickets.append(_ticket(view, action, with_it, box, opinion.get(action)))
    name = tag("title", tile_name(tile))
    inside = "" if len(actions) == 1 else picture
    return tag("g", name, inside, *tickets, data_tile=tile_name(tile))


def _ticket(
    view: View, action: int, picture: str, box: dict[str, float], value: float | None
) -> str:
    """Draw the button that lays a tile on a line: the line's mark, and what somebody thinks."""
    line, tile = divmod(action, MOST_TILES)
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    inside = picture + _ground(value, box)
    size = 13.0
    if value is not None and box["width"] >= ROOMY:
        wide = box["width"] >= WIDEST
        right = box["x"] + box["width"] - 3
        inside += figure(value, right, y, 10 if wide else 9, text_anchor="end")
        size = 13 if wide else 9
        x = box["x"] + (10 if wide else 7)
    inside += _mark(line, x, y, size)
    names = {"data_tile": tile_name(tile), "data_line": line_name(line)}
    return button(view, action, inside, class_=f"to{line}", **names)
