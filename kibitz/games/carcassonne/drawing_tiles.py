"""The tiles of Carcassonne as pictures, and meeples with the spots where they stand.

A tile reaches from -50 to 50 both ways. Land is drawn as it lies unturned and then turned, point
by point; houses, shields and cloisters only change their place, so that they always stand upright.
Nothing may have an id, so tiles cannot share a drawing: each is written out, in few bytes.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from kibitz.core.svg import ON_SEAT, number, seat_colour, seat_mark, tag
from kibitz.games.carcassonne.cells import CENTRE, FIRST_HALF
from kibitz.games.carcassonne.tiles import (
    AT_SIDE,
    CITY,
    CLOISTER,
    FEATURE,
    FIRST_FIELD,
    LANDS,
    LETTERS,
    ROAD,
    SHIELD,
    SIDES,
)

Point = tuple[float, float]

STYLE = """
& .land{fill:#B5CC79}
& .tuft{fill:none;stroke:#94B058;stroke-width:1.8;stroke-linecap:round}
& .bush{fill:#6F9148}
& .verge{fill:none;stroke:#FBF6E6;stroke-width:15}
& .road{fill:none;stroke:#C6AE83;stroke-width:8.5}
& .town{fill:#E0BC86}
& .wall{fill:none;stroke:#6A4A30;stroke-width:5}
& .stone{fill:none;stroke:#D9C7A8;stroke-width:2.2;stroke-dasharray:4 2.6}
& .house{fill:#FBEFD5;stroke:#6A4A30;stroke-width:.9;stroke-linejoin:round}
& .roof{fill:#AF5B40;stroke:#6A4A30;stroke-width:.9;stroke-linejoin:round}
& .yard{fill:#D5DF9F;stroke:#94B058;stroke-width:1.6}
& .chapel{fill:#C03A2E;stroke:#5B2A1C;stroke-width:1;stroke-linejoin:round}
& .dark{fill:#5B4330}
& .cross{fill:none;stroke:#5B2A1C;stroke-width:1.6}
& .shield{fill:#2458A6;stroke:#FFFFFF;stroke-width:2;stroke-linejoin:round}
& .arms{fill:#FFFFFF}
& .rim{fill:none;stroke:#3E3420;stroke-opacity:.32;stroke-width:1}
& .body{stroke:#FFFFFF;stroke-width:1.5;stroke-linejoin:round;paint-order:stroke}
& .shade{fill:none;stroke:#1F2328;stroke-width:3.2;stroke-opacity:.75;stroke-linejoin:round}
"""

MEEPLE = (
    "M0-12a5 5 0 0 1 3.6 8.2c3 1 8 2.6 8 5.2s-4 2-6.2 2c.8 2.6 3.6 5.6 3.6 7.4q0 1.2-1.4 1.2h-4.6"
    "c-1.4 0-1.6-2.6-3-2.6s-1.6 2.6-3 2.6h-4.6q-1.4 0-1.4-1.2c0-1.8 2.8-4.8 3.6-7.4c-2.2 0-6.2.6"
    "-6.2-2s5-4.2 8-5.2a5 5 0 0 1 3.6-8.2z"
)


# --- turning -------------------------------------------------------------------------------------

_PAIR = re.compile(r"(-?[\d.]+) (-?[\d.]+)")


def turned(point: Point, quarters: int) -> Point:
    """Turn a point clockwise around the middle of a tile."""
    x, y = point
    for _ in range(quarters % SIDES):
        x, y = -y, x
    return x, y


def _turned_path(path: str, quarters: int) -> str:
    """Turn a path, written in pairs that a space parts."""
    pairs = ((float(one), float(two)) for one, two in _PAIR.findall(path))
    written = (" ".join(map(number, turned(pair, quarters))) for pair in pairs)
    return _PAIR.sub(lambda _: next(written), path)


# --- cities --------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class City:
    """A city as it lies before turning. Walls end a little before corners: cities part there."""

    wall: str
    closing: str  # that makes a shape of the wall
    houses: tuple[Point, ...]
    meeple: Point
    shield: Point = (0, 0)


_GABLE = City(
    "M-45 -50C-28 -9 28 -9 45 -50", "Z",
    ((-23, -40), (-12, -33), (12, -33), (23, -40)), (0, -35),
)  # fmt: skip
_LOW_GABLE = City("M-43 -50C-14 -20 14 -20 43 -50", "Z", ((-19, -40), (19, -40)), (0, -39))
_CORNER = City(
    "M45 -50C24 -14 -14 24 -50 45", "L-50 -50Z",
    ((20, -39), (9, -27), (-39, 22), (-28, 12)), (-15, -15), (-35, -34),
)  # fmt: skip
_WAIST = City(
    "M-50 -45C-16 -20 16 -20 50 -45M-50 45C-16 20 16 20 50 45", "",
    ((-38, 20), (-26, 13), (38, -18), (27, -11), (39, 22)), (2, 0), (-34, -14),
)  # fmt: skip
_HORSESHOE = City(
    "M-50 45C-18 16 18 16 50 45", "L50 -50L-50 -50Z",
    ((-36, 18), (-25, 10), (36, 18), (25, 10), (32, -34), (14, -39)), (0, -10), (-34, -32),
)  # fmt: skip
_WHOLE = City(
    "", "M-50 -50L50 -50L50 50L-50 50Z",
    ((-34, 22), (-20, 34), (0, 37), (20, 34), (34, 22), (34, -26), (18, -37), (-34, 2)),
    (2, 0), (-32, -31),
)  # fmt: skip
_CITIES = {(3, 0): _CORNER, (1, 3): _WAIST, (3, 0, 1): _HORSESHOE, (0, 1, 2, 3): _WHOLE}


def _city(kind: int, segment: int) -> tuple[City, int]:
    """Give a city's shape, and by how many quarters it is turned on an unturned tile."""
    sides = sides_of(kind, segment)
    if len(sides) == 1:
        # Two in neighbouring sides need room between them.
        near = any(
            FEATURE[kind, other] == CITY and abs(sides_of(kind, other)[0] - sides[0]) % 2
            for other in range(FIRST_FIELD)
        )
        return (_LOW_GABLE if near else _GABLE), sides[0]
    return next(city for key, city in _CITIES.items() if set(key) == set(sides)), 0


def sides_of(kind: int, segment: int) -> list[int]:
    """Give the sides that a city or road reaches, on an unturned tile."""
    return [side for side in range(SIDES) if AT_SIDE[kind, 0, side] == segment]


def _fill(city: City) -> str:
    """Close a city's wall; where it has two, they are joined along the sides."""
    if city is _WAIST:
        return "M-50 -45C-16 -20 16 -20 50 -45L50 45C16 20 -16 20 -50 45Z"
    return city.wall + city.closing


# --- roads ---------------------------------------------------------------------------------------

# They meet sides at right angles, so that they go on smoothly.
_STRAIGHT = "M-50 0C-36 0 -30 4 -18 4C-6 4 6 -4 18 -4C30 -4 36 0 50 0"  # east to west
_BOW = "M-50 0C-30 0 -20 8 0 8C20 8 30 0 50 0"  # the same, below a city
_BEND = "M50 0C22 0 0 22 0 50"  # east to south


def _road(kind: int, segment: int) -> tuple[str, Point]:
    """Give a road's line on an unturned tile, and where a meeple stands on it."""
    sides = sides_of(kind, segment)
    if len(sides) == 1:
        end = 24 if _gated(kind) else 8
        return _turned_path(f"M0 50L0 {end}", sides[0] - 2), turned((0, 32), sides[0] - 2)
    if sides[1] - sides[0] == 2:
        line = _BOW if CITY in FEATURE[kind] else _STRAIGHT
        spot: Point = (0, 8) if line == _BOW else (0, 0)
        return _turned_path(line, sides[0] - 1), turned(spot, sides[0] - 1)
    return _turned_path(_BEND, sides[0] - 1), turned((15, 15), sides[0] - 1)


def _gated(kind: int) -> bool:
    """Tell whether the road of a kind ends at the gate of a city."""
    return CITY in FEATURE[kind] and (FEATURE[kind] == ROAD).sum() == 1 == len(sides_of(kind, 1))


def _junction(kind: int) -> bool:
    """Tell whether roads of a kind end in a village."""
    return int((FEATURE[kind] == ROAD).sum()) > 2


# --- fields --------------------------------------------------------------------------------------

# Where farmers lie, field by field; and where the grass of a kind grows long, or a bush stands.
_FARMERS: dict[str, tuple[Point, ...]] = {
    "A": ((-31, -33),), "B": ((-31, -33),), "D": ((36, -15), (0, 33)), "E": ((0, 20),),
    "F": ((0, -40), (0, 40)), "G": ((0, -40), (0, 40)), "H": ((0, 0),), "I": ((-14, 18),),
    "J": ((-22, 16), (33, 33)), "K": ((22, 16), (-33, 33)), "L": ((35, -15), (31, 31), (-31, 31)),
    "M": ((24, 25),), "N": ((24, 25),), "O": ((35, -19), (33, 35)), "P": ((35, -19), (33, 35)),
    "Q": ((0, 39),), "R": ((0, 39),), "S": ((34, 41), (-34, 41)), "T": ((34, 41), (-34, 41)),
    "U": ((28, 0), (-28, 0)), "V": ((-33, 33), (18, -20)),
    "W": ((0, -29), (32, 31), (-32, 31)),
    "X": ((32, -31), (32, 31), (-32, 31), (-32, -31)),
}  # fmt: skip
_TUFTS: tuple[Point, ...] = (
    (-38, -24), (-12, -34), (30, -38), (38, -12), (-26, 16), (-40, 40), (16, 22), (36, 40),
    (-8, 40), (22, -20),
)  # fmt: skip
_BUSHES: dict[str, tuple[Point, ...]] = {
    "A": ((34, -34), (-38, 30)), "B": ((36, 34), (38, -28)), "D": ((-34, 30), (26, 38)),
    "E": ((-32, 28), (28, 14), (34, 21)), "H": ((-6, -30), (4, 34)), "I": ((-32, 6), (6, 36)),
    "J": ((-34, 34), (30, 38)), "K": ((34, 34), (-36, 36)), "L": ((34, 38), (-36, 20)),
    "M": ((36, 10), (10, 38)), "N": ((30, 34), (38, 30)), "O": ((38, 38),), "P": ((38, -12),),
    "U": ((-34, -30), (30, 24), (36, 30)), "V": ((30, -30), (22, 34), (-38, 38)),
    "W": ((-30, -28), (36, 36)), "X": ((-34, -36), (36, 34)),
}  # fmt: skip


# --- spots ---------------------------------------------------------------------------------------


def spot(kind: int, turn: int, segment: int) -> Point:
    """Give where a meeple stands on a segment of a tile."""
    feature = FEATURE[kind, segment]
    if segment >= FIRST_FIELD:
        return turned(_FARMERS[LETTERS[kind]][segment - FIRST_FIELD], turn)
    if feature == CLOISTER:
        return 19, 12  # beside the door, which never turns
    if feature == CITY:
        city, quarters = _city(kind, segment)
        return turned(city.meeple, turn + quarters)
    return turned(_road(kind, segment)[1], turn)


def place_spot(place: int) -> Point:
    """Give where a place of a tile is that may have nothing to stand on."""
    if place == CENTRE:
        return 0, 0
    if place < CENTRE:
        return turned((0, -36), place)
    half = place - FIRST_HALF
    return turned((24 if half % 2 else -24, -38), half // 2)


# --- tiles ---------------------------------------------------------------------------------------


def _path(class_: str, line: str) -> str:
    return tag("path", class_=class_, d=line) if line else ""


def _at(points: list[Point], line: str) -> str:
    """Draw a relative line from each of the points."""
    return "".join(f"M{number(x)} {number(y)}{line}" for x, y in points)


def _houses(points: list[Point]) -> str:
    """Draw little houses, each around a point; those behind first."""
    points = sorted(points, key=lambda point: point[1])
    return _path("house", _at(points, "m-4.5-1h9v6h-9z")) + _path(
        "roof", _at(points, "m-6-1l3-5.5h6l3 5.5z")
    )


def _shield(point: Point) -> str:
    """Draw a shield, quartered blue and white."""
    return _path("shield", _at([point], "m-8-9h16v9c0 5-4 8-8 10c-4-2-8-5-8-10z")) + _path(
        "arms", _at([point], "m0-8h7v8h-7zv18c-3.5-1.8-7-4.5-7-9h7z")
    )


_CHAPEL = (
    tag("ellipse", class_="yard", cx=0, cy=6, rx=30, ry=22)
    + _path("house", "M-19-10h11v26h-11zM-8 1h23v15h-23z")
    + _path("chapel", "M-21-10l7.5-15l7.5 15zM-8 1v-10h19l7 10z")
    + _path("cross", "M-13.5-34v10m-3.5-6.5h7")
    + _path("dark", "M1 16v-6a3 3 0 0 1 6 0v6zM-15-4h3v6h-3z")
)


def _town(kind: int, turn: int, segment: int, rich: bool) -> str:
    """Draw a city: ground, houses, a wall where it ends, and its shield."""
    city, quarters = _city(kind, segment)
    turn += quarters
    wall = _turned_path(city.wall, turn)
    parts = [_path("town", _turned_path(_fill(city), turn))]
    if rich:
        parts.append(_houses([turned(house, turn) for house in city.houses]))
    parts.append(_path("wall", wall))
    if rich:
        parts.append(_path("stone", wall))
    if SHIELD[kind, segment]:
        parts.append(_shield(turned(city.shield, turn)))
    return "".join(parts)


def _grass(kind: int, turn: int) -> str:
    """Draw tufts and bushes, which stay upright."""
    tufts = [turned(tuft, turn) for tuft in _TUFTS[kind % 3 :: 3]]
    bushes = [turned(bush, turn) for bush in _BUSHES.get(LETTERS[kind], ())]
    return _path("tuft", _at(tufts, "l-3-5 3 5v-6v6l3-5")) + _path(
        "bush", _at(bushes, "m-6 3a3.5 3.5 0 0 1 2-6a4 4 0 0 1 8 0a3.5 3.5 0 0 1 2 6z")
    )


@cache
def art(kind: int, turn: int, rich: bool = True) -> str:
    """Draw a kind of tile, turned; small ones need not be rich in detail."""
    lands = range(int(LANDS[kind]))
    ways = "".join(
        _turned_path(_road(kind, segment)[0], turn)
        for segment in lands
        if FEATURE[kind, segment] == ROAD
    )
    parts = [tag("path", class_="land", d="M-50-50H50V50H-50z")]
    if rich:
        parts.append(_grass(kind, turn))
    parts += [_path("verge", ways), _path("road", ways)]
    parts += [_town(kind, turn, at, rich) for at in lands if FEATURE[kind, at] == CITY]
    if _gated(kind):
        parts.append(_gate(turn))
    if _junction(kind):
        parts.append(_village(turn))
    if FEATURE[kind, 0] == CLOISTER:
        parts.append(_CHAPEL)
    return "".join(parts) + (_path("rim", "M-50-50H50V50H-50z") if rich else "")


def _gate(turn: int) -> str:
    """Draw a gate in the wall of a city, where a road comes from the south."""
    x, y = turned((0, 23), turn)
    return _path("house", f"M{number(x - 7)} {number(y + 5)}v-12h3v3h2.5v-3h3v3h2.5v-3h3v12z") + (
        _path("dark", f"M{number(x - 3)} {number(y + 5)}v-4a3 3 0 0 1 6 0v4z")
    )


def _village(turn: int) -> str:
    """Draw the village where roads meet, and end."""
    middle = turned((0, 3), turn)
    around = [(middle[0] + x, middle[1] + y) for x, y in ((-7.5, -1), (7.5, -3), (0.5, 6))]
    green = tag("circle", class_="yard", cx=middle[0], cy=middle[1] + 1, r=15)
    return green + _houses(around)


# --- meeples -------------------------------------------------------------------------------------


def meeple(
    seat: int, x: float, y: float, tall: float, lying: bool = False, class_: str = ""
) -> str:
    """Draw a meeple of a seat around a point; farmers lie down. Its mark is never turned."""
    turn = "rotate(-90)" if lying else None
    chest: Point = (1.5, 0) if lying else (0, 1.5)
    return tag(
        "g",
        tag("path", class_="shade", d=MEEPLE, transform=turn),
        tag("path", class_="body", d=MEEPLE, transform=turn, fill=seat_colour(seat)),
        seat_mark(seat, *chest, 7.5, fill=ON_SEAT[seat]),
        transform=f"translate({number(x)} {number(y)}) scale({number(tall / 24)})",
        class_=class_ or None,
    )
