"""Hands as graphs: numbers are the vertices, tiles the edges, and a line is a trail.

Doubles are loops: wherever a trail passes their number they can be played, and best at once. So the
searches walk over the other tiles only, and a line is a path of numbers. rows [NUMBERS] holds, as
bits, the numbers to which the tiles of a hand lead from each number.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, NUMBERS, tile_of

NONE = -1  # no number, place or tile


@compiled()
def copy(source, target, n):
    """Copy the first cells of an array to another."""
    # By hand, for Numba takes a second to compile target[:n] = source[:n].
    for i in range(n):
        target[i] = source[i]


@compiled()
def reverse(path, length):
    """Turn a path round."""
    for i in range(length // 2):
        path[i], path[length - 1 - i] = path[length - 1 - i], path[i]


@compiled()
def is_odd(bits):
    """Tell whether the number of set bits, out of 16, is odd."""
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    return (bits ^ bits >> 1) & 1


@compiled()
def lowest(bits):
    """Give the place of the lowest set bit."""
    place = 0
    while not bits >> place & 1:
        place += 1
    return place


@compiled()
def rows_of(tiles, n, rows):
    """Write the rows of a hand, without its doubles; give those as bits."""
    doubles = 0
    for number in range(NUMBERS):
        rows[number] = 0
    for i in range(n):
        low, high = LOW[tiles[i]], HIGH[tiles[i]]
        if low == high:
            doubles |= 1 << low
        else:
            rows[low] |= 1 << high
            rows[high] |= 1 << low
    return doubles


@compiled()
def reach_of(rows, start):
    """Give the numbers that tiles connect with a number, itself too, as bits."""
    reach = 0
    fresh = 1 << start
    while fresh:
        reach |= fresh
        grown = 0
        for number in range(NUMBERS):
            if fresh >> number & 1:
                grown |= rows[number]
        fresh = grown & ~reach
    return reach


@compiled()
def loose_numbers(rows, reach, start):
    """Give the numbers where a tile must be left over, except at the end of the line, as bits.

    A trail leaves a number as often as it comes there, but for its start and its end.
    """
    loose = 1 << start
    for number in range(NUMBERS):
        if reach >> number & 1 and is_odd(rows[number]):
            loose ^= 1 << number
    return loose


@compiled()
def walk(rows, start, path):
    """Write a path over all tiles that can be reached, each once, and give its length.

    There must be such a path; the rows are used up (Hierholzer, Mathematische Annalen 6, 1873).
    """
    stack = np.empty(MOST_TILES, np.int64)
    stack[0] = start
    depth, length = 1, 0
    while depth:
        a = stack[depth - 1]
        if rows[a] == 0:
            path[length] = a
            length += 1
            depth -= 1
            continue
        b = lowest(rows[a])
        rows[a] ^= 1 << b
        rows[b] ^= 1 << a
        stack[depth] = b
        depth += 1
    reverse(path, length)
    return length


@compiled()
def write_line(path, length, doubles, held, line):
    """Write the tiles along a path of numbers, with every double on the way; give how many.

    The double of the number `held`, unless that is NONE, is kept for the end of the line.
    """
    seen = count = 0
    for i in range(length):
        number = path[i]
        if i > 0:
            line[count] = tile_of(path[i - 1], number)
            count += 1
        if doubles >> number & 1 and not seen >> number & 1 and number != held:
            line[count] = tile_of(number, number)
            count += 1
        seen |= 1 << number
    if held != NONE:
        line[count] = tile_of(held, held)
        count += 1
    return count
