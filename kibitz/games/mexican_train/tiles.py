"""The tiles of a set of dominoes, and which of them can lie next to each other.

The tile (a, b), a <= b, has the number b * (b + 1) // 2 + a, so that the first (N + 1)(N + 2) / 2
numbers are the double-N set, N up to 15.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled

MOST_NUMBER = 15
NUMBERS = MOST_NUMBER + 1
MOST_TILES = NUMBERS * (NUMBERS + 1) // 2

LOW = np.array([a for b in range(NUMBERS) for a in range(b + 1)], np.int64)
HIGH = np.array([b for b in range(NUMBERS) for _ in range(b + 1)], np.int64)
PIPS = LOW + HIGH
IS_DOUBLE = LOW == HIGH
TILE = np.empty((NUMBERS, NUMBERS), np.int64)  # [number, number]
TILE[LOW, HIGH] = TILE[HIGH, LOW] = np.arange(MOST_TILES)


@compiled()
def tile_of(a, b):
    """Give the number of the tile with these two ends."""
    return TILE[a, b]


@compiled()
def other_end(tile, number):
    """Give the free end of a tile that lies with this number on a line."""
    return PIPS[tile] - number


@compiled()
def fits(tile, number):
    """Tell whether a tile can be played on a number."""
    return LOW[tile] == number or HIGH[tile] == number


@compiled()
def pips_of(tiles, n):
    """Add up the pips of some tiles."""
    pips = 0
    for i in range(n):
        pips += PIPS[tiles[i]]
    return pips
