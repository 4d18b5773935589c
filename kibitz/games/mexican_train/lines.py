"""Lines: which tiles of a hand can follow one another on one's own line, and which are best.

Tiles are those of a double-N set, N up to 15. The tile (a, b), a <= b, has the number
b * (b + 1) // 2 + a, so that the first (N + 1)(N + 2) / 2 numbers are the double-N set. A hand is
an array of different tile numbers, up to 68. A line is a sequence of tiles of the hand: the first
fits on the open end, and each next one on the free end of the one before.

turns    A double gives another turn at once, so a line costs a turn for every tile that is no
         double, and one more if it ends with a double. Tile i is played in turn t(i) = how many
         tiles before it are no doubles, counted from 0; the line takes T = t(last) + 1 turns, and
         an empty line none.
value    sum over the line of pips * in_discount ** t(i), less the pips of all other tiles of the
         hand * off_discount ** T; 0 ** 0 is 1. A longer line is never worth less than what it
         begins with, for both discounts lie from 0 to 1.

`all_lines`, `update_lines` and `line_value` are what the seed describes. `best_line` finds the best
line of all lengths, most pips or greatest value, with a bound on what it may have missed; agents
call it compiled, and `find_line` is the same for people.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.errors import BadOption, Misuse

NUMBERS = 16  # 0 to 15
TILES = NUMBERS * (NUMBERS + 1) // 2
MOST_HAND = 68
NONE = -1

LOW = np.array([a for b in range(NUMBERS) for a in range(b + 1)], np.int64)
HIGH = np.array([b for b in range(NUMBERS) for a in range(b + 1)], np.int64)
PIPS = LOW + HIGH
IS_DOUBLE = LOW == HIGH
# Tiles that are no doubles, most pips first.
BY_PIPS = np.array(
    sorted(np.flatnonzero(~IS_DOUBLE), key=lambda tile: (-PIPS[tile], tile)), np.int64
)


@compiled()
def tile_of(a, b):
    """Give the number of the tile with these two ends."""
    low, high = min(a, b), max(a, b)
    return high * (high + 1) // 2 + low


@compiled()
def other_end(tile, number):
    """Give the free end of a tile that lies with this number on a line."""
    return PIPS[tile] - number


@compiled()
def fits(tile, number):
    """Tell whether a tile can be played on a number."""
    return LOW[tile] == number or HIGH[tile] == number


# --- all lines, as in the seed -------------------------------------------------------------------


@compiled()
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

    After a play on the own line those stay that begin with the tile, without it: the lines of the
    hand that is left, but cut one tile earlier than before. After a play elsewhere a line breaks
    off where the tile was; what is left of it stays, once, if no other tile could go there. Then
    the lines are just those that `all_lines` would find anew. 0 means that the lines were not all
    there and must be constructed anew.
    """
    return _advance(lines, lengths, count, tile) if on_own else _cut(lines, lengths, count, tile)


@compiled()
def _advance(lines, lengths, count, tile):
    kept = 0
    for i in range(count):
        if lengths[i] > 0 and lines[i, 0] == tile:
            for j in range(1, lengths[i]):
                lines[kept, j - 1] = lines[i, j]
            lengths[kept] = lengths[i] - 1
            kept += 1
    return kept


@compiled()
def _cut(lines, lengths, count, tile):
    kept = 0
    before = NONE  # the place of the tile in the line before, for lines that begin alike
    shared = 0  # how long the line begins like the one before it
    for i in range(count):
        at = NONE
        for j in range(lengths[i]):
            if lines[i, j] == tile:
                at = j
                break
        following = _alike(lines, lengths, i, i + 1) if i + 1 < count else NONE
        if at == NONE:
            stays = True
        elif before == at and shared > at:
            stays = False  # the line before was cut at the same place
        else:
            stays = not _branches(lines, lengths, count, i, at, shared)
        if stays:
            for j in range(lengths[i]):
                lines[kept, j] = lines[i, j]
            lengths[kept] = lengths[i] if at == NONE else at
            kept += 1
        before, shared = at, following
    return kept
