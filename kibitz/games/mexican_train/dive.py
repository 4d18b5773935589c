"""The best line of a small hand, depth first: what agents ask for at every turn.

`lines.best_line` proves more and serves hands of any size; this one answers in a few microseconds
for hands of up to some twenty tiles, and for larger ones as well as a budget allows. It looks ahead
along every line, most pips first, and turns back where a bound says that nothing better can follow.
It takes any weights for the turns, so that an agent may reckon with the turns that it expects.

A desk holds what a search works on: an array of DESK whole numbers, which `lay_out` fills from a
view and `dive` uses as its stack. Weights are an array [2, TURNS]: what a pip is worth that goes
out in each turn, and what a pip costs that is left after a line of so many turns; neither may
increase.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled, compiled_loop
from kibitz.core.game import VIEWER
from kibitz.games.mexican_train.cells import HIGHEST, HOLDER
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, NUMBERS, TILE

# The tiles of each double-N set that are no doubles, most pips first.
RANKED = np.zeros((NUMBERS, MOST_TILES - NUMBERS), np.int16)
for highest in range(NUMBERS):
    singles = [t for t in range(MOST_TILES) if LOW[t] < HIGH[t] <= highest]
    singles.sort(key=lambda t: (-LOW[t] - HIGH[t], t))
    RANKED[highest, : len(singles)] = singles
# The highest set bit of 16.
TOP = np.maximum(np.frexp(np.arange(1 << NUMBERS))[1] - 1, 0).astype(np.int64)

LEVELS = 96
TURNS = LEVELS  # more than a line can take
MOST_RANKED = 60  # tiles that a dive can tell apart; of larger hands it leaves the fewest pips
IN, OFF = 0, 1

# A desk: the hand as rows of bits, its doubles, how many other tiles, the pips of all; those tiles
# in order and each one's place; the best path, the number whose double ends it, and whether
# the other doubles are played where their numbers are first passed, or as the path says.
ROWS = 0
DOUBLES = ROWS + NUMBERS
SINGLES = DOUBLES + 1
TOTAL = SINGLES + 1
HELD = TOTAL + 1
EAGER = HELD + 1
NODES = EAGER + 1
PIPS = NODES + 1
PLACE = PIPS + MOST_RANKED
FIRST = PLACE + NUMBERS * NUMBERS
PATH = FIRST + NUMBERS
# The stack: open end, numbers still to try, pips left, doubles played, tiles played, tiles left.
END = PATH + LEVELS
TRY = END + LEVELS
LEFT = TRY + LEVELS
SEEN = LEFT + LEVELS
COUNT = SEEN + LEVELS
REST = COUNT + LEVELS
DESK = REST + LEVELS
NONE = -1
TINY = 1e-9


@compiled_loop
def lay_out(view, desk):
    """Write the viewer's hand on a desk; where there is no room, without the fewest pips."""
    seat = view[VIEWER]
    highest = view[HIGHEST]
    for number in range(NUMBERS):
        desk[ROWS + number] = 0
    doubles = total = n = 0
    for number in range(highest + 1):
        if view[HOLDER + number * (number + 3) // 2] == seat:
            doubles |= 1 << number
            total += 2 * number
    ranked = RANKED[highest]
    for i in range(highest * (highest + 1) // 2):
        tile = ranked[i]
        if view[HOLDER + tile] == seat:
            low, high = LOW[tile], HIGH[tile]
            total += low + high
            if n == MOST_RANKED:
                continue
            desk[ROWS + low] |= 1 << high
            desk[ROWS + high] |= 1 << low
            desk[PIPS + n] = low + high
            desk[PLACE + low * NUMBERS + high] = n
            desk[PLACE + high * NUMBERS + low] = n
            n += 1
    desk[DOUBLES] = doubles
    desk[SINGLES] = n
    desk[TOTAL] = total


@compiled()
def toggle(desk, low, high, sign):
    """Take a tile off a desk, or put it back."""
    if low == high:
        desk[DOUBLES] ^= 1 << low
    else:
        desk[ROWS + low] ^= 1 << high
        desk[ROWS + high] ^= 1 << low
    desk[TOTAL] += sign * (low + high)


@compiled()
def reach_on(desk, start):
    """Give the numbers that tiles connect with a number, itself too, as bits."""
    reach = 0
    fresh = 1 << start
    while fresh:
        number = TOP[fresh]
        fresh ^= 1 << number
        reach |= 1 << number
        fresh |= desk[ROWS + number] & ~reach
    return reach


@compiled()
def survey(desk, start):
    """Give the tiles in reach as bits, the doubles in reach, and pips that must be left over.

    Of those in reach, and of all. A line leaves a number as often as it comes there, but for its
    start and its end: where tiles are odd in number, one is left over.
    """
    reach = reach_on(desk, start)
    beyond = desk[TOTAL]
    rest = loose = most = 0
    for number in range(NUMBERS):
        if reach >> number & 1:
            row = desk[ROWS + number]
            odd = number == start
            while row:
                other = TOP[row]
                row ^= 1 << other
                odd ^= 1
                beyond -= number  # each tile is seen from both sides
                rest |= 1 << desk[PLACE + number * NUMBERS + other]
            if desk[DOUBLES] >> number & 1:
                beyond -= 2 * number
            if odd:
                loose += number
                most = max(most, number)
    return rest, desk[DOUBLES] & reach, loose - most, beyond + loose - most


@compiled()
def dive(desk, start, longest, weights, budget, best):
    """Find a line that is worth more than `best`; give its worth, and the length of its path.

    The path of numbers lies on the desk at PATH, and at HELD the number whose double is kept for
    the end, or NONE. The length is 0 where nothing better was found, and NODES tells how many tiles
    were tried: fewer than the budget mean that there is nothing better. A line has at most
    `longest` tiles; where that is no limit, a double is played when its number is first passed.
    """
    singles = desk[SINGLES]
    rest, doubles, lost, lost_in_all = survey(desk, start)
    eager = True
    everything = singles
    number = doubles
    while number:
        everything += 1
        number &= number - 1
    if everything > longest:
        eager = False
        for number in range(NUMBERS):
            desk[ROWS + number] |= doubles & 1 << number
    desk[EAGER] = eager
    fine = lost_in_all * weights[OFF, min(singles + 1, TURNS - 1)]
    length = nodes = 0
    worth = np.empty(LEVELS)
    turns = np.empty(LEVELS, np.int64)
    depth = 0
    played = doubles >> start & 1 if eager else 0
    desk[END] = start
    desk[TRY] = desk[ROWS + start]
    desk[LEFT] = desk[TOTAL] - 2 * start * played
    desk[SEEN] = played << start
    desk[COUNT] = played
    desk[REST] = rest
    desk[FIRST + start] = 0
    worth[0] = 2 * start * played * weights[IN, 0]
    turns[0] = 0
    ended = worth[0] - desk[LEFT] * weights[OFF, played]
    if ended > best + TINY:
        best = ended
        length = 1
        desk[PATH] = start
        desk[HELD] = NONE
    while True:
        end = desk[END + depth]
        choices = desk[TRY + depth]
        if choices == 0:
            if depth == 0:
                break
            depth -= 1
            before = desk[END + depth]
            desk[ROWS + before] |= 1 << end
            desk[ROWS + end] |= 1 << before
            continue
        to = int(TOP[choices])
        if not eager and choices >> end & 1:
            to = end
        desk[TRY + depth] = choices ^ 1 << to
        nodes += 1
        if nodes > budget:
            while depth > 0:
                depth -= 1
                before = desk[END + depth]
                desk[ROWS + before] |= 1 << end
                desk[ROWS + end] |= 1 << before
                end = before
            break
        turn = turns[depth]
        seen = desk[SEEN + depth]
        rest = desk[REST + depth]
        count = desk[COUNT + depth] + 1
        value = worth[depth] + (end + to) * weights[IN, turn]
        left = desk[LEFT + depth] - end - to
        played = 0
        if to == end:
            seen |= 1 << to
            played = 1
        else:
            turn += 1
            rest ^= 1 << desk[PLACE + end * NUMBERS + to]
            if eager and (doubles & ~seen) >> to & 1:
                value += 2 * to * weights[IN, turn]
                left -= 2 * to
                count += 1
                seen |= 1 << to
                played = 1
                desk[FIRST + to] = turn
        ended = value - left * weights[OFF, turn + played]
        held = NONE
        if eager and not played and seen >> to & 1:  # that double might as well come last
            other = value - left * weights[OFF, turn + 1]
            other -= 2 * to * (weights[IN, desk[FIRST + to]] - weights[IN, turn])
            if other > ended + TINY:
                ended = other
                held = to
        if ended > best + TINY:
            best = ended
            length = depth + 2
            for i in range(depth + 1):
                desk[PATH + i] = desk[END + i]
            desk[PATH + depth + 1] = to
            desk[HELD] = held
        ahead = desk[ROWS + to] & ~(1 << end if to == end else 0)
        if to != end:
            ahead &= ~(1 << end)
        if ahead == 0 or count >= longest:
            continue
        # What can follow at best: all tiles that are left, in the order of their pips, and doubles
        # one by one; but some pips must be left, and count least at the end.
        bound = value - fine
        later = turn + (1 if eager else 0)
        waiting = doubles & ~seen
        while waiting:
            number = int(TOP[waiting])
            waiting ^= 1 << number
            bound += 2 * number * weights[IN, later]
            later += 1
        k = turn
        last = turn + longest - count
        for i in range(singles):
            if rest >> i & 1:
                bound += desk[PIPS + i] * weights[IN, k]
                k += 1
                if k >= last:
                    break
        if eager:
            bound -= lost * weights[IN, max(k, later)]
        if bound <= best + TINY:
            continue
        desk[ROWS + end] ^= 1 << to
        if to != end:
            desk[ROWS + to] ^= 1 << end
        depth += 1
        desk[END + depth] = to
        desk[TRY + depth] = desk[ROWS + to]
        desk[LEFT + depth] = left
        desk[SEEN + depth] = seen
        desk[COUNT + depth] = count
        desk[REST + depth] = rest
        worth[depth] = value
        turns[depth] = turn
    if not eager:
        for number in range(NUMBERS):
            desk[ROWS + number] &= ~(1 << number)
    desk[NODES] = nodes
    return best, length


@compiled()
def write_path(desk, length, line):
    """Write the tiles along the path that a dive has found, and give how many."""
    count = seen = 0
    held = desk[HELD]
    for i in range(length):
        number = desk[PATH + i]
        if i > 0:
            line[count] = TILE[desk[PATH + i - 1], number]
            count += 1
        if desk[EAGER] and (desk[DOUBLES] & ~seen) >> number & 1 and number != held:
            line[count] = TILE[number, number]
            count += 1
        seen |= 1 << number
    if held != NONE:
        line[count] = TILE[held, held]
        count += 1
    return count
