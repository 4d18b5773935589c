"""The tiles: 72 of 24 kinds, what lies on each, and tables of that for every rotation.

side       0 north, 1 east, 2 south, 3 west; rotation r turns a tile r quarters clockwise
half       2 * side and 2 * side + 1: the two halves of a side, clockwise; fields meet at halves,
           because a road parts them
segment    a piece of one feature on one tile. Cities, roads and the cloister come first, from 0;
           fields from FIRST_FIELD.
"""

from __future__ import annotations

import re

import numpy as np

from kibitz.core.compiled import compiled

SIDES = 4
HALVES = 8
SEGMENTS = 8
FIRST_FIELD = 4
ROTATIONS = 4
NORTH, EAST, SOUTH, WEST = range(SIDES)
SIDE_NAMES = ("north", "east", "south", "west")
# What a side shows; UNKNOWN where no tile lies.
UNKNOWN, GRASS, ROAD, CITY = range(4)
CLOISTER, FIELD = 4, 5  # features that no side shows, or none alone
FEATURE_NAMES = {ROAD: "road", CITY: "city", CLOISTER: "cloister", FIELD: "field"}

# The published tiles with their usual letters: how many, cities, roads, fields. Sides are letters;
# a field is its halves, and the cities that it touches are those after the slash, by place. A
# shield is written after its city, as a plus; a cloister is C.
_PUBLISHED = """
A 2  -        C S      01234567
B 4  -        C        01234567
C 1  NESW+    -        -
D 4  N        EW       27/0 3456
E 5  N        -        234567/0
F 2  EW+      -        01/0 45/0
G 1  EW       -        01/0 45/0
H 3  E W      -        0145/01
I 2  N E      -        4567/01
J 3  N        ES       2567/0 34
K 3  N        SW       2347/0 56
L 3  N        E S W    27/0 34 56
M 2  NW+      -        2345/0
N 3  NW       -        2345/0
O 2  NW+      ES       25/0 34
P 3  NW       ES       25/0 34
Q 1  NEW+     -        45/0
R 3  NEW      -        45/0
S 2  NEW+     S        4/0 5/0
T 1  NEW      S        4/0 5/0
U 8  -        NS       1234 0567
V 9  -        SW       56 012347
W 4  -        E S W    0127 34 56
X 1  -        N E S W  12 34 56 07
"""
_LETTERS = "NESW"


def _read() -> list[tuple[str, int, list[list[str]]]]:
    """Read the letter, the number and the three columns of each kind."""
    rows = []
    for line in _PUBLISHED.strip().splitlines():
        head, *columns = re.split(r"  +", line)
        letter, count = head.split()
        rows.append((letter, int(count), [column.replace("-", "").split() for column in columns]))
    return rows


_KINDS = _read()
KINDS = len(_KINDS)
LETTERS = "".join(letter for letter, _, _ in _KINDS)
PUBLISHED = np.array([count for _, count, _ in _KINDS], np.int64)  # how many of each kind
ALL_TILES = int(PUBLISHED.sum())
START = LETTERS.index("D")

# [kind, segment]
FEATURE = np.zeros((KINDS, SEGMENTS), np.int64)  # what it is; 0 where there is none
SHIELD = np.zeros((KINDS, SEGMENTS), np.int64)
TOUCHES = np.zeros((KINDS, SEGMENTS), np.int64)  # cities that a field touches, as bits of segments
LANDS = np.zeros(KINDS, np.int64)  # cities, roads and cloisters of a kind
FIELDS = np.zeros(KINDS, np.int64)
_PARTS = np.zeros((KINDS, SEGMENTS), np.int64)  # unrotated: bits of sides, or of halves for fields

for _kind in range(KINDS):
    _cities, _roads, _fields = _KINDS[_kind][2]
    for _at, _text in enumerate(_cities + _roads):
        FEATURE[_kind, _at] = CITY if _at < len(_cities) else CLOISTER if _text == "C" else ROAD
        SHIELD[_kind, _at] = "+" in _text
        _PARTS[_kind, _at] = sum(1 << _LETTERS.index(side) for side in _text if side in _LETTERS)
    LANDS[_kind], FIELDS[_kind] = len(_cities + _roads), len(_fields)
    for _at, _text in enumerate(_fields):
        _halves, _, _touched = _text.partition("/")
        FEATURE[_kind, FIRST_FIELD + _at] = FIELD
        _PARTS[_kind, FIRST_FIELD + _at] = sum(1 << int(half) for half in _halves)
        TOUCHES[_kind, FIRST_FIELD + _at] = sum(1 << int(city) for city in _touched)


def _turned(bits: int, quarters: int, size: int) -> int:
    """Turn bits of sides or halves clockwise."""
    by = quarters * size // SIDES
    return ((bits << by) | (bits >> (size - by))) & ((1 << size) - 1)


# [kind, rotation, ..]
PARTS = np.zeros((KINDS, ROTATIONS, SEGMENTS), np.int64)  # bits of sides, or of halves for fields
AT_SIDE = np.full((KINDS, ROTATIONS, SIDES), -1, np.int64)  # segment: a city or road; else -1
AT_HALF = np.full((KINDS, ROTATIONS, HALVES), -1, np.int64)  # segment: a field; else -1
SHOWS = np.full((KINDS, ROTATIONS, SIDES), GRASS, np.int64)  # grass, road or city

for _kind in range(KINDS):
    for _rotation in range(ROTATIONS):
        for _segment in range(SEGMENTS):
            _size = SIDES if _segment < FIRST_FIELD else HALVES
            _bits = _turned(int(_PARTS[_kind, _segment]), _rotation, _size)
            PARTS[_kind, _rotation, _segment] = _bits
            for _place in range(_size):
                if _bits >> _place & 1 and _segment < FIRST_FIELD:
                    AT_SIDE[_kind, _rotation, _place] = _segment
                    SHOWS[_kind, _rotation, _place] = FEATURE[_kind, _segment]
                elif _bits >> _place & 1:
                    AT_HALF[_kind, _rotation, _place] = _segment

# How many rotations of a kind differ: the sides tell, since nothing else turns on a tile whose
# sides are alike.
TURNS = np.array(
    [
        next(r for r in (1, 2, 4) if (SHOWS[kind, r % ROTATIONS] == SHOWS[kind, 0]).all())
        for kind in range(KINDS)
    ],
    np.int64,
)


@compiled()
def demand_of(side, shown):
    """Give what a side of an empty cell demands of a tile there, as bits; see FITS."""
    return shown << (2 * side)


DEMANDS = 1 << (2 * SIDES)
DEMANDED = np.arange(DEMANDS)[:, None] >> (2 * np.arange(SIDES)) & 3  # [demand, side]
_matches = (DEMANDED == UNKNOWN) | (SHOWS[:, :, None] == DEMANDED)
# [kind, rotation, demand of a cell]: it fits, and is no rotation that looks like an earlier one.
FITS_TURNED = _matches.all(axis=3) & (np.arange(ROTATIONS) < TURNS[:, None])[:, :, None]
# [kind, demand of a cell]: bits of the rotations that fit.
FITS = (FITS_TURNED.astype(np.int64) << np.arange(ROTATIONS)[:, None]).sum(axis=1)


def _counts(tiles: int) -> list[int]:
    """Share out so many tiles over the kinds as the published set does, the start tile first."""
    rest = PUBLISHED.copy()
    rest[START] -= 1
    exact = rest * (tiles - 1) / rest.sum()
    counts = np.floor(exact).astype(np.int64)
    by_remainder = np.argsort(-(exact - counts), kind="stable")
    counts[by_remainder[: tiles - 1 - counts.sum()]] += 1
    counts[START] += 1
    return counts.tolist()


COUNTS = np.array([_counts(max(1, tiles)) for tiles in range(ALL_TILES + 1)])  # [tiles, kind]
