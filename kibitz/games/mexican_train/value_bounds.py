"""A bound on the value of every line that goes on from a state of the search for the greatest.

The pips still to come count in the best order, whether tiles fit in that order or not, and what
must be left over at the loose numbers is taken off where it counts least.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.tiles import (
    HIGH,
    IS_DOUBLE,
    LOW,
    MOST_TILES,
    NUMBERS,
    PIPS,
    pips_of,
)
from kibitz.games.mexican_train.trails import NONE, loose_numbers, reach_of

MOST_SINGLES = MOST_TILES - NUMBERS  # tiles that are no doubles
# Those, most pips first.
BY_PIPS = np.array(
    sorted(np.flatnonzero(~IS_DOUBLE), key=lambda tile: (-PIPS[tile], tile)), np.int64
)

START, DOUBLES, TOTAL, LOOSE, MOST, SINGLES, PAIRS = 0, 1, 2, 3, 4, 5, 6  # facts of a hand
FACTS = PAIRS + MOST_SINGLES
IN, OFF, POWERS = 0, 1, MOST_TILES + 2  # powers of the two discounts


@compiled()
def describe(tiles, n, start, rows, doubles, facts):
    """Write the facts of a hand, and the pairs of numbers on tiles in reach, most pips first."""
    reach = reach_of(rows, start)
    facts[START] = start
    facts[DOUBLES] = doubles & reach
    facts[TOTAL] = facts[MOST] = pips_of(tiles, n)
    facts[LOOSE] = loose_numbers(rows, reach, start)
    facts[SINGLES] = 0
    for i in range(len(BY_PIPS)):
        low, high = LOW[BY_PIPS[i]], HIGH[BY_PIPS[i]]
        if rows[high] >> low & 1 and reach >> low & 1:
            facts[PAIRS + facts[SINGLES]] = low | high << 4
            facts[SINGLES] += 1


@compiled(inline=True)
def least_left(rows, loose, held):
    """Bound the pips, and the number of tiles, that any trail from here leaves over.

    Every loose number but the end of the trail is joined to another by tiles that are left: by one,
    if another is next to it; else over a third number, whose pips count twice, once for each end.
    """
    pips = spared = count = detours = 0
    ends_loose = held != NONE and loose >> held & 1
    for number in range(NUMBERS):
        if loose >> number & 1:
            least = number
            if rows[number] & loose == 0:
                near = 0
                while not rows[number] >> near & 1:
                    near += 1
                least += near
                detours += 1
            pips += least
            count += 1
            if number == held or (least > spared and not ends_loose):
                spared = least
    return pips - spared, (count - 1 + detours) // 2


@compiled(inline=True)
def pips_ahead(rows, pairs, n, played, end, area, queue):
    """Write the pips of the tiles to come, in the order that is best at most; give sum and count.

    The next tile lies at the end; the others follow at best by their pips.
    """
    high = NUMBERS - 1
    while not rows[end] >> high & 1:
        high -= 1
    following = min(end, high) | max(end, high) << 4
    pips = queue[0] = end + high
    count = 1
    for i in range(n):
        pair = pairs[i] & 255
        if i != played and pair != following and area >> (pair & 15) & 1:
            queue[count] = (pair & 15) + (pair >> 4)
            pips += queue[count]
            count += 1
    return pips, count


@compiled(inline=True)
def doubles_ahead(waiting, near, turn, powers):
    """Bound the worth of doubles whose numbers were not passed yet; give pips and last turn too."""
    worth = 0.0
    pips = 0
    late = turn + (waiting & near == 0)
    if waiting:
        for number in range(NUMBERS - 1, -1, -1):
            if waiting >> number & 1:
                late += 1
                worth += 2 * number * powers[IN, late]
                pips += 2 * number
    return worth, pips, late


@compiled(inline=True)
def value_ahead(
    rows, pairs, n, played, to, area, waiting, held, value, pips, turn, facts, powers, queue
):
    """Bound the value of every line that goes on from here.

    Pips that must be left count least at the end of the queue, or as the last double.
    """
    lost, lost_tiles = least_left(rows, facts[LOOSE] & area, held)
    ahead, count = pips_ahead(rows, pairs, n, played, to, area, queue)
    worth, more, late = doubles_ahead(waiting, rows[to], turn, powers)
    last = turn + count - lost_tiles + (waiting != 0 or held != NONE)
    if held != NONE:
        worth += 2 * held * powers[IN, turn + 1]
        more += 2 * held
    out = min(pips + ahead + more - lost, facts[MOST])
    surplus = pips + ahead + more - out
    while count > 0 and (lost_tiles > 0 or (surplus >= queue[count - 1] and turn + count > late)):
        count -= 1
        lost_tiles -= 1
        surplus -= queue[count]
    for i in range(count):
        worth += queue[i] * powers[IN, turn + i]
    if surplus > 0:
        worth -= surplus * powers[IN, max(turn + count - 1, late)]
    return value + worth - (facts[TOTAL] - out) * powers[OFF, last]


@compiled(inline=True)
def value_if_ended(value, left, to, held, holds, plays, turn, powers):
    """Give the value of the line if it ends here; -inf where a double is held back elsewhere."""
    ended = -np.inf
    if held == NONE:
        ended = value - left * powers[OFF, turn + plays]
    elif held == to and not holds:
        ended = value + 2 * to * powers[IN, turn] - (left - 2 * to) * powers[OFF, turn + 1]
    return ended
