"""Lines: which tiles of a hand can follow one another on one's own line, and which are best.

A hand is an array of different tile numbers, see `tiles`. A line is a sequence of tiles of the
hand: the first fits on the open end, and each next one on the free end of the one before. What
its turns and its value are, see `worth`.

`all_lines`, `update_lines` and `line_value` are what the seed describes. `best_line` finds the best
line of all lengths, most pips or greatest value, with a bound on what it may have missed, for
compiled callers; `find_line` is the same for people. Agents, who are always in a hurry, use `dive`
for small hands.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.errors import BadOption, Misuse
from kibitz.games.mexican_train.greatest_value import greatest_value
from kibitz.games.mexican_train.most_pips import most_pips_line
from kibitz.games.mexican_train.tiles import MOST_TILES, NUMBERS, fits, other_end, tile_of
from kibitz.games.mexican_train.trails import NONE, copy
from kibitz.games.mexican_train.worth import (
    BOUND,
    EXACT,
    NODES,
    RESULTS,
    VALUE,
    line_value,
    line_values,
    turns_of,
)

__all__ = [
    "AIMS",
    "AIM_PIPS",
    "AIM_VALUE",
    "BOUND",
    "EXACT",
    "MAX_NODES",
    "NODES",
    "NONE",
    "RESULTS",
    "VALUE",
    "Line",
    "all_lines",
    "best_line",
    "check_hand",
    "find_line",
    "line_value",
    "line_values",
    "list_lines",
    "tile_of",
    "turns_of",
    "update_lines",
]

AIM_PIPS, AIM_VALUE = 0, 1
AIMS = {"pips": AIM_PIPS, "value": AIM_VALUE}
MAX_NODES = 2_000_000


# --- all lines, as in the seed -------------------------------------------------------------------


@compiled_loop
def all_lines(tiles, n, end, lines, lengths):
    """Write every line from an open end; give how many, and whether that is all of them.

    lines [most lines, longest line], lengths [most lines]. Those are the sequences that nothing in
    the hand can follow, and those cut at the longest line; where no tile fits, that is one empty
    line. They come in the order of the hand: lines that begin alike lie together. When the array is
    full the construction stops, and what it found stands: lines that begin with late tiles of the
    hand are then missing.
    """
    longest = lines.shape[1]
    place = np.full(longest + 1, NONE, np.int64)  # of the tile now tried, at each depth
    ends = np.empty(longest + 1, np.int64)
    used = np.zeros(n, np.bool_)
    count = depth = 0
    ends[0] = end
    stuck = True
    while depth >= 0:
        i = place[depth]
        if i != NONE:
            used[i] = False
        i += 1
        while i < n and (depth == longest or used[i] or not fits(tiles[i], ends[depth])):
            i += 1
        if i < n:
            used[i] = True
            place[depth] = i
            ends[depth + 1] = other_end(tiles[i], ends[depth])
            depth += 1
            place[depth] = NONE
            stuck = True
            continue
        if stuck:  # nothing followed the last tile
            if count == len(lines):
                return count, False
            for j in range(depth):
                lines[count, j] = tiles[place[j]]
            lengths[count] = depth
            count += 1
        stuck = False
        depth -= 1
    return count, True


@compiled()
def update_lines(lines, lengths, count, tile, on_own):
    """Bring all lines up to date after a tile of the hand was played; give how many there are now.

    After a play on the own line those stay that begin with the tile, without it. They are what
    `all_lines` would find anew with a longest line one shorter: lines that were cut do not grow
    again, so construct them anew when they have become too short. After a play elsewhere a line
    breaks off where the tile was; what is left of it stays, once, if no other tile can go there.
    The lines are then just those that `all_lines` would find anew.

    Only if the lines were not complete may some be missing afterwards, or none be left; 0 means
    that they must be constructed anew.
    """
    if on_own:
        return advance_lines(lines, lengths, count, tile)
    return cut_lines(lines, lengths, count, tile)


@compiled()
def advance_lines(lines, lengths, count, tile):
    """Keep what follows the tile in the lines that begin with it; give how many those are."""
    kept = 0
    for i in range(count):
        if lengths[i] > 0 and lines[i, 0] == tile:
            for j in range(1, lengths[i]):
                lines[kept, j - 1] = lines[i, j]
            lengths[kept] = lengths[i] - 1
            kept += 1
    return kept


@compiled()
def cut_lines(lines, lengths, count, tile):
    """Take a tile out of all lines; give how many are left."""
    # Lines that have the tile at the same place after the same beginning lie together. Only their
    # neighbours can have another tile there, for lines that begin alike lie together too.
    kept = first = 0
    before = NONE  # how long the first of them begins like the line before it
    while first < count:
        at = place_in(lines, lengths, first, tile)
        last = first
        after = alike(lines, lengths, count, last)
        while at != NONE and after > at:
            last += 1
            after = alike(lines, lengths, count, last)
        if at == NONE or (before < at and after < at):
            for j in range(lengths[first]):
                lines[kept, j] = lines[first, j]
            lengths[kept] = lengths[first] if at == NONE else at
            kept += 1
        before, first = after, last + 1
    return kept


@compiled()
def place_in(lines, lengths, which, tile):
    """Give the place of a tile in a line, or NONE."""
    for j in range(lengths[which]):
        if lines[which, j] == tile:
            return j
    return NONE


@compiled()
def alike(lines, lengths, count, which):
    """Count the tiles with which a line begins like the next; NONE if there is no next."""
    if which + 1 >= count:
        return NONE
    same = 0
    while (
        same < min(lengths[which], lengths[which + 1])
        and lines[which, same] == lines[which + 1, same]
    ):
        same += 1
    return same


# --- the best line -------------------------------------------------------------------------------


@compiled_loop
def best_line(tiles, n, end, aim, in_discount, off_discount, max_nodes, line, result):
    """Write the best line that a hand can play on an open end, and give its length.

    tiles [n or more], line [n or more], result [RESULTS]: value, a proven bound on the value of
    every line, nodes used, and 1 if the line is proven best, else 0. It is if value = bound, up to
    rounding, and nothing is better by the order among equals.

    AIM_PIPS: most pips, then the double blank out, then fewest turns; the value is the pips, and
    the discounts do not matter. AIM_VALUE: the greatest value; where several lines have it, one of
    them. max_nodes, at least 1, bounds the work: a node takes some 5 to 500 microseconds for pips,
    where few are ever needed, and 0.2 microseconds for the value.
    """
    hand = np.empty(n, np.int64)
    found = np.empty(n, np.int64)
    copy(tiles, hand, n)
    if aim == AIM_PIPS:
        length = most_pips_line(hand, end, max_nodes, found, result)
    else:
        length = greatest_value(hand, end, in_discount, off_discount, max_nodes, found, result)
    copy(found, line, length)
    return length


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A line: its tiles in order, its value, what no line exceeds, and whether it is the best."""

    tiles: tuple[int, ...]
    value: float
    bound: float
    exact: bool


def find_line(
    tiles: Sequence[int],
    end: int,
    aim: str = "value",
    *,
    in_discount: float = 0.9,
    off_discount: float = 1.0,
    max_nodes: int = MAX_NODES,
) -> Line:
    """Find the best line of a hand on an open end, for the aim "pips" or "value".

    >>> find_line([tile_of(3, 5), tile_of(5, 5), tile_of(0, 5)], 3, "pips").tiles
    (18, 20, 15)
    """
    check_hand(tiles, end)
    if aim not in AIMS:
        raise BadOption(f"No aim is called {aim!r}: choose one of {', '.join(AIMS)}.")
    for discount in (in_discount, off_discount):
        if not 0 <= discount <= 1:
            raise BadOption(f"A discount of {discount} must lie from 0 to 1.")
    if max_nodes < 1:
        raise BadOption(f"max_nodes is {max_nodes}, and must be at least 1.")
    hand = np.array(tiles, np.int64)
    line = np.empty(len(hand), np.int64)
    result = np.empty(RESULTS)
    length = best_line(
        hand, len(hand), end, AIMS[aim], float(in_discount), float(off_discount), max_nodes,
        line, result,
    )  # fmt: skip
    return Line(
        tiles=tuple(int(tile) for tile in line[:length]),
        value=float(result[VALUE]),
        bound=float(result[BOUND]),
        exact=bool(result[EXACT]),
    )


def list_lines(
    tiles: Sequence[int], end: int, max_line_length: int, most: int = 1_000_000
) -> list[tuple[int, ...]]:
    """List every line of a hand on an open end, as `all_lines` does.

    >>> list_lines([tile_of(3, 5), tile_of(5, 5), tile_of(0, 5)], 3, 2)
    [(18, 20), (18, 15)]
    """
    check_hand(tiles, end)
    if max_line_length < 1:
        raise BadOption(f"max_line_length is {max_line_length}, and must be at least 1.")
    hand = np.array(tiles, np.int64)
    lines = np.empty((most, min(max_line_length, max(len(hand), 1))), np.int64)
    lengths = np.empty(most, np.int64)
    count, complete = all_lines(hand, len(hand), end, lines, lengths)
    if not complete:
        raise Misuse(f"There are more than {most:,} lines. Ask for shorter ones, or raise `most`.")
    return [tuple(lines[i, : lengths[i]].tolist()) for i in range(count)]


def check_hand(tiles: Sequence[int], end: int) -> None:
    """Refuse what is no hand and open end."""
    if len(set(tiles)) < len(tiles) or any(not 0 <= tile < MOST_TILES for tile in tiles):
        raise Misuse(f"A hand has different tiles, numbered 0 to {MOST_TILES - 1}; see tile_of.")
    if not 0 <= end < NUMBERS:
        raise Misuse(f"The open end is {end}, and must be from 0 to {NUMBERS - 1}.")
