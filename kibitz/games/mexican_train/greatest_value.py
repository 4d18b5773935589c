"""The line of greatest value: dynamic programming over (tiles left, open end), turn by turn.

There is one layer of states for each turn, for the value of what follows depends on nothing else; a
bound on it discards what cannot beat the best line so far (Morin and Marsten, Branch-and-bound
strategies for dynamic programming, Operations Research 24, 1976). Only the most promising states of
a layer are kept, and where some were dropped the search begins anew with wider layers (Zhang,
Complete anytime beam search, AAAI 1998). The bounds of what was dropped bound what was missed.

A double is best played when its number is first passed, with one exception: where off_discount < 1,
to end the line with it may be better, for the line then takes a turn more. So a state may hold one
double back, and must then end with it.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.most_pips import (
    FOUND_CELLS,
    PROBLEMS,
    WEIGHT_BOUND,
    most_pips,
    pips_in,
)
from kibitz.games.mexican_train.tiles import MOST_TILES, NUMBERS
from kibitz.games.mexican_train.trails import NONE, copy, reverse, rows_of, write_line
from kibitz.games.mexican_train.value_bounds import (
    DOUBLES,
    FACTS,
    IN,
    MOST,
    MOST_SINGLES,
    OFF,
    PAIRS,
    POWERS,
    SINGLES,
    START,
    TOTAL,
    describe,
    value_ahead,
    value_if_ended,
)
from kibitz.games.mexican_train.value_layers import (
    AGE,
    BEST,
    BEST_END,
    BEST_FROM,
    BEST_HELD,
    BUDGET,
    CAN_BE,
    COUNT,
    DEPTH,
    DONE,
    DROPPED,
    FROM,
    KNOWN,
    LEFT,
    MARKS,
    MORE,
    SCORES,
    SO_FAR,
    STATE_CELLS,
    TALLIES,
    WORD,
    WORTH_CELLS,
    marks_of,
    narrow,
    put,
    tiles_left,
)
from kibitz.games.mexican_train.worth import BOUND, EXACT, NODES, VALUE, line_value

FIRST_WIDTH, WIDER, MOST_WIDTH = 8, 16, 131_072
PIPS_NODES = 1000  # of the search for most pips that helps this one
TINY = 1e-9  # differences that come from rounding


@compiled(inline=True)
def reach_after(rows, reach, before, end):
    """Give what can be reached from the end, where at most the way back to `before` has gone."""
    if rows[before] == 0:
        area = reach & ~(1 << before)
    else:
        area = 0
        fresh = 1 << end
        while fresh and not fresh >> before & 1:
            area |= fresh
            grown = 0
            for number in range(NUMBERS):
                if fresh >> number & 1:
                    grown |= rows[number]
            fresh = grown & ~area
        if fresh:
            area = reach
    return area


@compiled()
def expand(now, now_worth, then, then_worth, slots, facts, powers, tally, scores):
    """Go on from the states of a layer in every way, until all are done or the next is full.

    now, then [room, STATE_CELLS], what they are worth [room, WORTH_CELLS], slots [power of two]:
    the next layer's hash table; facts [FACTS], powers [2, POWERS], tally [TALLIES], scores [SCORES]
    """
    rows = np.empty(NUMBERS, np.int64)
    pairs = np.empty(MOST_SINGLES, np.int64)
    queue = np.empty(MOST_SINGLES, np.int64)
    doubles, total = facts[DOUBLES], facts[TOTAL]
    turn = tally[DEPTH] + 1
    may_hold = powers[OFF, 1] < 1.0
    while tally[DONE] < tally[KNOWN] and tally[BUDGET] > 0:
        if tally[COUNT] + 2 * NUMBERS > len(then):
            break
        i = tally[DONE]
        tally[DONE] += 1
        if now_worth[i, CAN_BE] <= scores[BEST] + TINY:
            continue
        left, more, marks = now[i, LEFT], now[i, MORE], now[i, MARKS]
        end, held = marks & 15, (marks >> 4 & 31) - 1
        seen, reach, out = marks >> 9 & 0xFFFF, marks >> 25 & 0xFFFF, marks >> 41
        n = tiles_left(left, more, reach, facts, rows, pairs)
        for k in range(n):
            low, high, place = pairs[k] & 15, pairs[k] >> 4 & 15, pairs[k] >> 8
            if low != end and high != end:
                continue
            tally[BUDGET] -= 1
            to = low + high - end
            rows[end] ^= 1 << to
            rows[to] ^= 1 << end
            area = reach_after(rows, reach, end, to)
            double = (doubles & ~seen) >> to & 1
            again = rows[to] & (rows[to] - 1) != 0  # one can leave and come back
            for holds in range(1 + (may_hold and double and held == NONE and again)):
                kept = to if holds else held
                plays = double - holds
                pips = out + low + high + 2 * to * plays
                value = now_worth[i, SO_FAR] + (low + high) * powers[IN, turn - 1]
                value += 2 * to * plays * powers[IN, turn]
                ended = value_if_ended(value, total - pips, to, kept, holds, plays, turn, powers)
                if ended > scores[BEST] + TINY:
                    scores[BEST] = ended
                    tally[BEST_FROM] = now[i, FROM]
                    tally[BEST_END] = to
                    tally[BEST_HELD] = kept
                if rows[to] == 0 or (kept != NONE and not area >> kept & 1):
                    continue
                waiting = doubles & area & ~seen & ~(1 << to)
                bound = value_ahead(
                    rows, pairs, n, k, to, area, waiting, kept,
                    value, pips, turn, facts, powers, queue,
                )  # fmt: skip
                if bound > scores[BEST] + TINY:
                    put(
                        left ^ 1 << place if place < WORD else left,
                        more if place < WORD else more ^ 1 << (place - WORD),
                        marks_of(to, kept, seen | 1 << to, area, pips),
                        now[i, FROM], value, bound, then, then_worth, slots, tally,
                    )  # fmt: skip
            rows[end] ^= 1 << to
            rows[to] ^= 1 << end


@compiled()
def begin(facts, powers, layer, worth):
    """Write the states before the first tile, and give how many.

    The double of the start is played at once, or held back.
    """
    start, singles = facts[START], facts[SINGLES]
    double = facts[DOUBLES] >> start & 1
    reach = 0
    for place in range(singles):
        reach |= 1 << (facts[PAIRS + place] & 15) | 1 << (facts[PAIRS + place] >> 4)
    ways = 1 + (double and powers[OFF, 1] < 1.0)
    for holds in range(ways):
        pips = 2 * start * (double - holds)
        layer[holds, LEFT] = (1 << min(singles, WORD)) - 1
        layer[holds, MORE] = (1 << max(singles - WORD, 0)) - 1
        layer[holds, MARKS] = marks_of(start, start if holds else NONE, 1 << start, reach, pips)
        layer[holds, FROM] = NONE
        worth[holds, SO_FAR] = pips
        worth[holds, CAN_BE] = facts[TOTAL]
    return ways


@compiled(inline=True)
def finish_layer(now, now_worth, then, then_worth, slots, width, facts, powers, tally, scores):
    """Find the whole next layer, as wide as it may be, or note what was not followed."""
    tally[COUNT] = tally[DONE] = 0
    tally[AGE] += 1
    while tally[DONE] < tally[KNOWN] and tally[BUDGET] > 0:
        expand(now, now_worth, then, then_worth, slots, facts, powers, tally, scores)
        if tally[COUNT] > width:
            narrow(then, then_worth, slots, width, tally, scores)
    for i in range(tally[DONE], tally[KNOWN]):
        scores[DROPPED] = max(scores[DROPPED], now_worth[i, CAN_BE])
    if tally[BUDGET] <= 0:
        for i in range(tally[COUNT]):
            scores[DROPPED] = max(scores[DROPPED], then_worth[i, CAN_BE])
        tally[COUNT] = 0
    tally[KNOWN] = tally[COUNT]
    tally[DEPTH] += 1


@compiled()
def beam(width, facts, powers, tally, scores, path):
    """Search with layers of one width; give the length of a better path, or 0.

    Raises scores[BEST] to the value it found, and scores[DROPPED] to the greatest bound of what it
    did not follow; tally[BUDGET] counts nodes down.
    """
    room = 4 * width + 2 * NUMBERS
    size = 1
    while size < 2 * room:
        size *= 2
    slots = np.zeros(size, np.int64)
    now, now_worth = np.empty((room, STATE_CELLS), np.int64), np.empty((room, WORTH_CELLS))
    then, then_worth = np.empty((room, STATE_CELLS), np.int64), np.empty((room, WORTH_CELLS))
    trace = np.empty(width * (facts[SINGLES] + 1) + 2, np.int64)  # where from, and open end
    traced = 0
    tally[AGE] = tally[DEPTH] = 0
    tally[BEST_FROM] = NONE
    tally[KNOWN] = begin(facts, powers, now, now_worth)
    while tally[KNOWN]:
        for i in range(tally[KNOWN]):
            trace[traced] = now[i, FROM] << 4 | now[i, MARKS] & 15
            now[i, FROM] = traced
            traced += 1
        finish_layer(now, now_worth, then, then_worth, slots, width, facts, powers, tally, scores)
        now, then = then, now
        now_worth, then_worth = then_worth, now_worth
    return path_back(trace, tally, path)


@compiled()
def path_back(trace, tally, path):
    """Write the path to the best end that was found, and give its length; 0 if there is none."""
    if tally[BEST_FROM] == NONE:
        return 0
    path[0] = tally[BEST_END]
    length = 1
    at = tally[BEST_FROM]
    while at != NONE:
        path[length] = trace[at] & 15
        length += 1
        at = trace[at] >> 4
    reverse(path, length)
    return length


@compiled(inline=True)
def try_most_pips(tiles, n, rows, doubles, powers, facts, tally, scores, line, length):
    """Learn how many pips can be out at most; take the line for that if it is better.

    Gives the length of the line. This helps most where the discounts are near 1, for then the order
    of the tiles matters little.
    """
    path = np.empty(MOST_TILES, np.int64)
    found = np.empty(FOUND_CELLS, np.int64)
    other = np.empty(n, np.int64)
    steps = most_pips(rows, doubles, facts[START], min(tally[BUDGET], PIPS_NODES), path, found)
    tally[BUDGET] -= found[PROBLEMS]
    facts[MOST] = pips_in(found[WEIGHT_BOUND])
    count = write_line(path, steps, doubles, NONE, other)
    value = line_value(other, count, tiles, n, powers[IN, 1], powers[OFF, 1])
    if value > scores[BEST] + TINY:
        scores[BEST] = value
        length = count
        copy(other, line, count)
    return length


@compiled()
def greatest_value(tiles, start, in_discount, off_discount, max_nodes, line, result):
    """Write the line of greatest value, and give its length; the arguments are `best_line`'s."""
    n = len(tiles)
    rows = np.empty(NUMBERS, np.int64)
    doubles = rows_of(tiles, n, rows)
    facts = np.empty(FACTS, np.int64)
    describe(tiles, n, start, rows, doubles, facts)
    powers = np.ones((2, POWERS))
    for k in range(1, POWERS):
        powers[IN, k] = powers[IN, k - 1] * in_discount
        powers[OFF, k] = powers[OFF, k - 1] * off_discount
    tally = np.zeros(TALLIES, np.int64)
    tally[BUDGET] = max_nodes
    path = np.empty(MOST_TILES, np.int64)
    path[0] = start
    length = write_line(path, 1, doubles, NONE, line)
    scores = np.empty(SCORES)
    scores[BEST] = line_value(line, length, tiles, n, in_discount, off_discount)
    bound = float(facts[TOTAL]) if rows[start] else scores[BEST]
    width = 0
    while bound > scores[BEST] + TINY and tally[BUDGET] > 0 and width < MOST_WIDTH:
        width = min(max(width * WIDER, FIRST_WIDTH), MOST_WIDTH)
        scores[DROPPED] = -np.inf
        steps = beam(width, facts, powers, tally, scores, path)
        if steps:
            length = write_line(path, steps, doubles, tally[BEST_HELD], line)
        bound = min(bound, scores[DROPPED])
        if width == FIRST_WIDTH and bound > scores[BEST] + TINY and tally[BUDGET] > 0:
            length = try_most_pips(
                tiles, n, rows, doubles, powers, facts, tally, scores, line, length
            )
    result[VALUE] = line_value(line, length, tiles, n, in_discount, off_discount)
    result[EXACT] = bound <= scores[BEST] + TINY
    result[BOUND] = result[VALUE] if result[EXACT] else bound
    result[NODES] = max_nodes - tally[BUDGET]
    return length
