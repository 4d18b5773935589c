"""The longest line of a small hand: most tiles, whatever their pips."""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.dive import DOUBLES, LEVELS, ROWS, TOP, reach_on
from kibitz.games.mexican_train.tiles import NUMBERS


@compiled()
def bits_in(word):
    """Count the bits that are set."""
    count = 0
    while word:
        word &= word - 1
        count += 1
    return count


@compiled()
def longest_line(desk, start, most_nodes):
    """Give how many tiles the longest line from an open end has, and how many of them are doubles.

    As far as so many tiles tried can tell. Doubles count where their number is first passed.
    """
    rows = np.empty(NUMBERS, np.int64)
    singles = 0
    reach = reach_on(desk, start)
    for number in range(NUMBERS):
        rows[number] = desk[ROWS + number] if reach >> number & 1 else 0
        singles += bits_in(rows[number])
    singles //= 2
    doubles = desk[DOUBLES] & reach
    most = singles + bits_in(doubles)
    ends, tries = np.empty(LEVELS, np.int64), np.empty(LEVELS, np.int64)
    seen = np.empty(LEVELS, np.int64)
    depth, nodes = 0, 0
    ends[0], tries[0], seen[0] = start, rows[start], 1 << start
    best = best_doubles = bits_in(doubles & seen[0])
    while depth >= 0 and best < most and nodes < most_nodes:
        end = ends[depth]
        if tries[depth] == 0:
            depth -= 1
            if depth >= 0:  # the tile goes back
                rows[ends[depth]] |= 1 << end
                rows[end] |= 1 << ends[depth]
            continue
        to = int(TOP[tries[depth]])
        tries[depth] ^= 1 << to
        nodes += 1
        rows[end] &= ~(1 << to)
        rows[to] &= ~(1 << end)
        depth += 1
        ends[depth], tries[depth] = to, rows[to]
        seen[depth] = seen[depth - 1] | 1 << to
        extra = bits_in(doubles & seen[depth])
        if depth + extra > best:
            best, best_doubles = depth + extra, extra
    return best, best_doubles
