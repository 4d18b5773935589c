"""TapnSwap's positions as the rows of a table, in an order that other programs use too.

A pair of hands is (left, right). Pairs are numbered: first the 20 with two different hands, by
left, then by right; then the 5 with equal ones, from 0-0 to 4-4. A position is row 25 * own pair +
the other's pair, own meaning whoever is to move. Of these 625 rows 526 can occur with the
default settings. The others are those in which somebody's hands are 0-0, for then the game is over
(49 rows), and 50 that no line of play leads to.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.game import SEAT
from kibitz.games.tapnswap.rules import HANDS, MOST_FINGERS

FINGERS = range(MOST_FINGERS + 1)
PAIRS = [(a, b) for a in FINGERS for b in FINGERS if a != b] + [(a, a) for a in FINGERS]
ROWS = len(PAIRS) ** 2


def row_of(state: np.ndarray) -> int:
    """Give the row of a position for whoever is to move."""
    own = HANDS + 2 * int(state[SEAT])
    other = 2 * HANDS + 2 - own
    pairs = [PAIRS.index((int(state[hand]), int(state[hand + 1]))) for hand in (own, other)]
    return len(PAIRS) * pairs[0] + pairs[1]


def hands_of(row: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Give the own hands and the other's in a row."""
    own, other = divmod(row, len(PAIRS))
    return PAIRS[own], PAIRS[other]


def label_of(row: int) -> str:
    """Name a row: the hands of whoever is to move, left and right, and the other's."""
    (a, b), (c, d) = hands_of(row)
    return f"{a}-{b} against {c}-{d}"
