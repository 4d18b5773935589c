"""Carcassonne scored from pictures of its tiles, by nothing but neighbouring pixels.

Every kind is a picture of 7 by 7: '.' field, 'c' city, 'r' road, 'm' cloister, '#' nothing (the
corners, and villages that end roads). Features are what hangs together by 4-neighbours, so nothing
here knows of segments or halves. The score comes from the last board and all meeples ever set.
"""

from __future__ import annotations

import functools
import itertools
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

SIZE = 7
# How many of each there are, as published; the start tile is one of the four D.
HOW_MANY = {
    "A": 2, "B": 4, "C": 1, "D": 4, "E": 5, "F": 2, "G": 1, "H": 3, "I": 2, "J": 3, "K": 3, "L": 3,
    "M": 2, "N": 3, "O": 2, "P": 3, "Q": 1, "R": 3, "S": 2, "T": 1, "U": 8, "V": 9, "W": 4, "X": 1,
}  # fmt: skip
SHIELDED = set("CFMOQS")

_DRAWN = """
A       B       C       D       E       F/G
#.....# #.....# #ccccc# #ccccc# #ccccc# #.....#
....... ....... ccccccc ..ccc.. ..ccc.. c.....c
..mmm.. ..mmm.. ccccccc ....... ....... ccccccc
..mmm.. ..mmm.. ccccccc rrrrrrr ....... ccccccc
..mmm.. ..mmm.. ccccccc ....... ....... ccccccc
...r... ....... ccccccc ....... ....... c.....c
#..r..# #.....# #ccccc# #.....# #.....# #.....#

H       I       J       K       L       M/N
#.....# #ccccc# #ccccc# #ccccc# #ccccc# #ccccc#
c.....c ..ccc#c ..ccc.. ..ccc.. ..ccc.. ccccc..
cc...cc .....cc ....... ....... ....... cccc...
cc...cc .....cc ...rrrr rrrr... rrr#rrr ccc....
cc...cc .....cc ...r... ...r... ...r... cc.....
c.....c ......c ...r... ...r... ...r... c......
#.....# #.....# #..r..# #..r..# #..r..# #.....#

O/P     Q/R     S/T     U       V       W
#ccccc# #ccccc# #ccccc# #..r..# #.....# #.....#
ccccc.. ccccccc ccccccc ...r... ....... .......
cc..... ccccccc ccccccc ...r... ....... .......
cc.rrrr ccccccc ccccccc ...r... rrrr... rrr#rrr
cc.r... cc...cc cc.r.cc ...r... ...r... ...r...
c..r... c.....c c..r..c ...r... ...r... ...r...
#..r..# #.....# #..r..# #..r..# #..r..# #..r..#

X
#..r..#
...r...
...r...
rrr#rrr
...r...
...r...
#..r..#
"""

Place = tuple[int, int]  # x to the east, y to the south
Tile = tuple[str, int]  # its letter, and by how many quarters it is turned clockwise
Board = Mapping[Place, Tile]
Meeple = tuple[int, Place, int]  # whose, on which tile, and where on it

STEPS = ((0, -1), (1, 0), (0, 1), (-1, 0))  # north, east, south, west
# Row and column of where a meeple may be set: sides, centre, then halves of sides clockwise.
PIXELS = (
    (0, 3), (3, 6), (6, 3), (3, 0), (3, 3),
    (0, 2), (0, 4), (2, 6), (4, 6), (6, 4), (6, 2), (4, 0), (2, 0),
)  # fmt: skip


def _read() -> dict[str, np.ndarray]:
    pictures = {}
    for block in _DRAWN.strip().split("\n\n"):
        head, *rows = (line.split() for line in block.splitlines())
        for names, *drawn in zip(head, *rows, strict=True):
            for letter in names.split("/"):
                pictures[letter] = np.array([list(row) for row in drawn])
    return pictures


PICTURES = _read()


@functools.cache
def picture(tile: Tile) -> np.ndarray:
    letter, quarters = tile
    return np.rot90(PICTURES[letter], -quarters)


@functools.cache
def border(tile: Tile, side: int) -> list[tuple[int, int]]:
    """List the pixels of a side, from the west or the north on."""
    return [((0, i), (i, SIZE - 1), (SIZE - 1, i), (i, 0))[side] for i in range(SIZE)]


@functools.cache
def shown(tile: Tile, side: int) -> str:
    """Give what a side shows, as a row of pixels."""
    return "".join(picture(tile)[pixel] for pixel in border(tile, side))


def match(board: Board, place: Place, tile: Tile) -> bool:
    """Tell whether a tile would match all that lie beside it."""
    return all(
        shown(tile, side) == shown(board[beside], (side + 2) % 4)
        for side, beside in enumerate(around(place))
        if beside in board
    )


def around(place: Place) -> list[Place]:
    return [(place[0] + x, place[1] + y) for x, y in STEPS]


def eight_around(place: Place) -> list[Place]:
    return [
        (place[0] + x, place[1] + y)
        for x, y in itertools.product((-1, 0, 1), repeat=2)
        if (x, y) != (0, 0)
    ]


# --- what hangs together -------------------------------------------------------------------------


@dataclass
class Region:
    """Pixels that hang together: their character, tiles, open sides, and regions beside them."""

    char: str
    tiles: set[Place] = field(default_factory=set)
    open: set[tuple[Place, int]] = field(default_factory=set)
    beside: set[int] = field(default_factory=set)


Regions = dict[int, Region]
Find = Callable[[Place, tuple[int, int]], int]  # the region of a pixel of a tile, or -1


def flooded(chars: np.ndarray) -> np.ndarray:
    """Number what hangs together in a picture; -1 where there is nothing."""
    labels = np.full(chars.shape, -1)
    rows, columns = chars.shape
    count = 0
    for start in zip(*np.nonzero(chars != "#"), strict=True):
        if labels[start] >= 0:
            continue
        labels[start] = count
        todo = [start]
        while todo:
            row, column = todo.pop()
            for x, y in STEPS:
                pixel = (row + y, column + x)
                if (
                    0 <= pixel[0] < rows
                    and 0 <= pixel[1] < columns
                    and labels[pixel] < 0
                    and chars[pixel] == chars[start]
                ):
                    labels[pixel] = count
                    todo.append(pixel)
        count += 1
    return labels


def glued(board: Board) -> tuple[Regions, Find]:
    """Find all regions in one big picture of the board."""
    west, north = (min(place[i] for place in board) for i in (0, 1))
    east, south = (max(place[i] for place in board) for i in (0, 1))
    chars = np.full(((south - north + 1) * SIZE, (east - west + 1) * SIZE), "#")

    def pixel_of(place: Place, pixel: tuple[int, int]) -> tuple[int, int]:
        return (place[1] - north) * SIZE + pixel[0], (place[0] - west) * SIZE + pixel[1]

    for place, tile in board.items():
        row, column = pixel_of(place, (0, 0))
        chars[row : row + SIZE, column : column + SIZE] = picture(tile)
    labels = flooded(chars)
    regions: Regions = {}
    for place, tile in board.items():
        for pixel in np.ndindex(SIZE, SIZE):
            at = pixel_of(place, pixel)
            if labels[at] >= 0:
                regions.setdefault(int(labels[at]), Region(str(chars[at]))).tiles.add(place)
        for side, beside in enumerate(around(place)):
            for pixel in border(tile, side):
                label = int(labels[pixel_of(place, pixel)])
                if beside not in board and label >= 0:
                    regions[label].open.add((place, side))
    for one, other in ((labels[1:], labels[:-1]), (labels[:, 1:], labels[:, :-1])):
        for a, b in set(zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)):
            if a != b and min(a, b) >= 0:
                regions[a].beside.add(b)
                regions[b].beside.add(a)
    return regions, lambda place, pixel: int(labels[pixel_of(place, pixel)])


@functools.cache
def pieces(tile: Tile) -> np.ndarray:
    """Number what hangs together on one tile."""
    return flooded(picture(tile))


@functools.cache
def facts(tile: Tile) -> tuple[list[str], list[set[int]], list[tuple[int, int]]]:
    """Give the characters of the pieces of a tile, those at each side, and pairs side by side."""
    labels, chars = pieces(tile), picture(tile)
    kinds = [str(chars[labels == label][0]) for label in range(labels.max() + 1)]
    at_sides = [{int(labels[pixel]) for pixel in border(tile, side)} - {-1} for side in range(4)]
    pairs = {
        (int(labels[pixel]), int(labels[other]))
        for pixel in np.ndindex(SIZE, SIZE)
        for other in [(pixel[0] + 1, pixel[1]), (pixel[0], pixel[1] + 1)]
        if max(other) < SIZE and min(labels[pixel], labels[other]) >= 0
    }
    return kinds, at_sides, [(a, b) for a, b in pairs if a != b]


@functools.cache
def seam(tile: Tile, side: int, beside: Tile) -> list[tuple[int, int]]:
    """Pair the pieces of two neighbours that meet at a side."""
    opposite = (side + 2) % 4
    assert shown(tile, side) == shown(beside, opposite)
    ours, theirs = (
        [int(pieces(which)[pixel]) for pixel in border(which, its)]
        for which, its in ((tile, side), (beside, opposite))
    )
    return sorted({(a, b) for a, b in zip(ours, theirs, strict=True) if a >= 0})


def joined(board: Board) -> tuple[Regions, Find]:
    """Find all regions by joining the pieces of tiles at their seams: the same, but faster."""
    numbers = {place: SIZE * SIZE * i for i, place in enumerate(board)}
    parent: dict[int, int] = {}

    def root(number: int) -> int:
        while number in parent:
            number = parent[number]
        return number

    for place, tile in board.items():
        for side in (1, 2):
            beside = (place[0] + STEPS[side][0], place[1] + STEPS[side][1])
            if beside in board:
                for a, b in seam(tile, side, board[beside]):
                    one, other = root(numbers[place] + a), root(numbers[beside] + b)
                    if one != other:
                        parent[one] = other
    regions: Regions = {}
    for place, tile in board.items():
        kinds, at_sides, pairs = facts(tile)
        roots = [root(numbers[place] + piece) for piece in range(len(kinds))]
        for number, char in zip(roots, kinds, strict=True):
            regions.setdefault(number, Region(char)).tiles.add(place)
        for side, beside in enumerate(around(place)):
            if beside not in board:
                for piece in at_sides[side]:
                    regions[roots[piece]].open.add((place, side))
        for a, b in pairs:
            regions[roots[a]].beside.add(roots[b])
            regions[roots[b]].beside.add(roots[a])

    def find(place: Place, pixel: tuple[int, int]) -> int:
        piece = int(pieces(board[place])[pixel])
        return root(numbers[place] + piece) if piece >= 0 else -1

    return regions, find


# --- points --------------------------------------------------------------------------------------


def worth(board: Board, regions: Regions, region: Region, ended: bool) -> int:
    """Give what those who have most meeples on a region score; 0 before it is complete."""
    tiles = len(region.tiles)
    if region.char == ".":
        cities = [regions[beside] for beside in region.beside if regions[beside].char == "c"]
        return 3 * sum(not city.open for city in cities) if ended else 0
    if region.char == "m":
        (place,) = region.tiles
        neighbours = sum(beside in board for beside in eight_around(place))
        return 1 + neighbours if ended or neighbours == 8 else 0
    if region.open and not ended:
        return 0
    if region.char == "r":
        return tiles
    shields = sum(board[place][0] in SHIELDED for place in region.tiles)
    return (1 if region.open else 2) * (tiles + shields)


def score(
    board: Board,
    meeples: Iterable[Meeple],
    seats: int,
    ended: bool = True,
    regions_of: Callable[[Board], tuple[Regions, Find]] = joined,
) -> list[int]:
    """Score a board with all meeples ever set; before the end, what is complete alone."""
    regions, find = regions_of(board)
    on: dict[int, Counter[int]] = defaultdict(Counter)
    for seat, place, where in meeples:
        region = find(place, PIXELS[where])
        assert region >= 0
        on[region][seat] += 1
    points = [0] * seats
    for number, counts in on.items():
        for seat, count in counts.items():
            if count == max(counts.values()):
                points[seat] += worth(board, regions, regions[number], ended)
    return points
