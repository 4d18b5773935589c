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
    # Lines that have the tile at the same place after the same beginning lie together. Only their
    # neighbours can have another tile there, for lines that begin alike lie together too.
    kept = first = 0
    before = NONE  # how long the first of them begins like the line before it
    while first < count:
        at = _place_in(lines, lengths, first, tile)
        last = first
        after = _alike(lines, lengths, count, last)
        while at != NONE and after > at:
            last += 1
            after = _alike(lines, lengths, count, last)
        if at == NONE or (before < at and after < at):
            for j in range(lengths[first]):
                lines[kept, j] = lines[first, j]
            lengths[kept] = lengths[first] if at == NONE else at
            kept += 1
        before, first = after, last + 1
    return kept


@compiled()
def _place_in(lines, lengths, which, tile):
    """Give the place of a tile in a line, or NONE."""
    for j in range(lengths[which]):
        if lines[which, j] == tile:
            return j
    return NONE


@compiled()
def _alike(lines, lengths, count, which):
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


# --- what a line is worth ------------------------------------------------------------------------


@compiled()
def pips_of(tiles, n):
    """Add up the pips of some tiles."""
    pips = 0
    for i in range(n):
        pips += PIPS[tiles[i]]
    return pips


@compiled()
def turns_of(line, length):
    """Count the turns that a line takes."""
    turns = 0
    for i in range(length):
        turns += not IS_DOUBLE[line[i]]
    return turns + (length > 0 and IS_DOUBLE[line[length - 1]])


@compiled()
def line_value(line, length, tiles, n, in_discount, off_discount):
    """Give the value of a line of a hand, as the module describes it."""
    value = 0.0
    factor = 1.0
    for i in range(length):
        value += PIPS[line[i]] * factor
        if not IS_DOUBLE[line[i]]:
            factor *= in_discount
    left = pips_of(tiles, n) - pips_of(line, length)
    return value - left * float(off_discount) ** turns_of(line, length)


@compiled()
def line_values(lines, lengths, count, tiles, n, in_discount, off_discount, values):
    """Write the value of each of many lines of a hand; values [most lines]."""
    for i in range(count):
        values[i] = line_value(lines[i], lengths[i], tiles, n, in_discount, off_discount)


# --- hands as graphs -----------------------------------------------------------------------------

# Numbers are the vertices, tiles the edges, and a line is a trail. Doubles are loops: wherever a
# trail passes their number they can be played, and best at once. So the searches walk over the
# other tiles only, and a line is a path of numbers. rows [NUMBERS] holds, as bits, the numbers to
# which the tiles of a hand lead from each number.


@compiled()
def rows_of(tiles, n, rows):
    """Write the rows of a hand, without its doubles; give those as bits."""
    doubles = 0
    rows[:] = 0
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
def size_of(bits):
    """Count bits."""
    size = 0
    while bits:
        bits &= bits - 1
        size += 1
    return size


@compiled()
def loose_numbers(rows, reach, start):
    """Give the numbers where tiles must be left over, except at the end of the line, as bits.

    A trail leaves a number as often as it comes there, but for its start and its end.
    """
    loose = 1 << start
    for number in range(NUMBERS):
        if reach >> number & 1 and size_of(rows[number]) & 1:
            loose ^= 1 << number
    return loose


@compiled()
def write_line(path, length, doubles, held, line):
    """Write the tiles along a path of numbers, with every double on the way; give how many.

    The double of the number `held`, unless that is NONE, is kept for the end of the line.
    """
    seen = tiles = 0
    for i in range(length):
        number = path[i]
        if i > 0:
            line[tiles] = tile_of(path[i - 1], number)
            tiles += 1
        if doubles >> number & 1 and not seen >> number & 1 and number != held:
            line[tiles] = tile_of(number, number)
            tiles += 1
        seen |= 1 << number
    if held != NONE:
        line[tiles] = tile_of(held, held)
        tiles += 1
    return tiles


# --- most pips -----------------------------------------------------------------------------------

# Leave the cheapest tiles so that the rest is one trail from the start. All but two of its numbers
# (or all, if it ends where it starts) must have an even number of tiles: what is left over is a
# T-join, and the cheapest is a matching of the loose numbers along shortest paths (Edmonds and
# Johnson, Matching, Euler tours and the Chinese postman, Mathematical Programming 5, 1973). There
# are at most 15 loose numbers, so the matching is found by dynamic programming over their subsets.
# Where the rest falls apart, the search branches over the tiles around a part that was cut off:
# leave them all, or play this one.

# What a tile weighs: pips decide first, then to be rid of the double blank, then fewer turns.
PIP, BLANK, TURN = 256, 128, 1
FAR = 1 << 40
HAVE, KEEP, CEILING, CELLS = 0, NUMBERS, 2 * NUMBERS, 2 * NUMBERS + 1  # of a subproblem
MOST_OPEN = 4096


@compiled()
def double_weight(number):
    """Give the weight of a double that is played on the way."""
    return 2 * number * PIP if number > 0 else BLANK


@compiled()
def path_weight(path, length, doubles):
    """Give the weight of the line along a path of numbers."""
    weight = seen = 0
    for i in range(length):
        if i > 0:
            weight += (path[i - 1] + path[i]) * PIP - TURN
        fresh = doubles >> path[i] & 1 and not seen >> path[i] & 1
        if fresh:
            weight += double_weight(path[i])
        if i == length - 1 and fresh:
            weight -= TURN  # it ends with this double
        seen |= 1 << path[i]
    return weight


@compiled()
def pips_in(weight):
    """Give the pips in a weight."""
    return (weight + BLANK - 1) // PIP


@compiled()
def is_pendant(have, doubles, number, start):
    """Tell whether a double can only be played together with one other tile, as the last two."""
    row = have[number]
    return number != start and doubles >> number & 1 and row != 0 and row & (row - 1) == 0


@compiled()
def shortest_paths(open_, numbers, count, have, doubles, start, far, via):
    """Write what it costs at least to leave tiles from one number to another, and the next number.

    open_ [NUMBERS] rows of tiles that may be left, far and via [NUMBERS, NUMBERS].
    """
    for i in range(count):
        a = numbers[i]
        for j in range(count):
            b = numbers[j]
            via[a, b] = b
            far[a, b] = FAR
            if open_[a] >> b & 1:
                far[a, b] = (a + b) * PIP - TURN
                for pendant in (a, b):
                    if is_pendant(have, doubles, pendant, start):
                        far[a, b] += double_weight(pendant) - TURN
    for k in range(count):
        middle = numbers[k]
        for i in range(count):
            a = numbers[i]
            if far[a, middle] < FAR:
                for j in range(count):
                    b = numbers[j]
                    if far[a, middle] + far[middle, b] < far[a, b]:
                        far[a, b] = far[a, middle] + far[middle, b]
                        via[a, b] = via[a, middle]


@compiled()
def match(loose, count, far, costs):
    """Write the least cost of matching each subset of the loose numbers, one free if it is odd."""
    costs[0] = 0
    for subset in range(1, 1 << count):
        low = 0
        while not subset >> low & 1:
            low += 1
        rest = subset & (subset - 1)
        least = costs[rest] if size_of(rest) & 1 == 0 else FAR
        for other in range(low + 1, count):
            if rest >> other & 1:
                cost = far[loose[low], loose[other]] + costs[rest ^ (1 << other)]
                least = min(least, cost)
        costs[subset] = least


@compiled()
def leave_matched(loose, count, far, via, costs, left):
    """Write into the rows `left` the tiles that the cheapest matching leaves."""
    left[:] = 0
    subset = (1 << count) - 1
    while subset:
        low = 0
        while not subset >> low & 1:
            low += 1
        rest = subset & (subset - 1)
        if size_of(rest) & 1 == 0 and costs[subset] == costs[rest]:
            subset = rest
            continue
        other = low + 1
        while not (
            rest >> other & 1
            and costs[subset] == far[loose[low], loose[other]] + costs[rest ^ (1 << other)]
        ):
            other += 1
        a = loose[low]
        while a != loose[other]:
            b = via[a, loose[other]]
            left[a] ^= 1 << b
            left[b] ^= 1 << a
            a = b
        subset = rest ^ (1 << other)


@compiled()
def relax(problem, doubles, start, costs, left):
    """Find the cheapest tiles to leave, connected or not; give the weight of the rest, or NONE.

    problem [CELLS]: rows of tiles that are there, rows of those that must be played.
    """
    have, keep = problem[HAVE:KEEP], problem[KEEP:CEILING]
    reach = reach_of(have, start)
    numbers = np.empty(NUMBERS, np.int64)
    loose = np.empty(NUMBERS, np.int64)
    open_ = np.empty(NUMBERS, np.int64)
    far = np.empty((NUMBERS, NUMBERS), np.int64)
    via = np.empty((NUMBERS, NUMBERS), np.int64)
    bits = loose_numbers(have, reach, start)
    count = odd = weight = 0
    for a in range(NUMBERS):
        if not reach >> a & 1:
            if keep[a]:
                return NONE
            continue
        numbers[count] = a
        count += 1
        if bits >> a & 1:
            loose[odd] = a
            odd += 1
        open_[a] = have[a] & ~keep[a]
        if doubles >> a & 1:
            weight += double_weight(a) - TURN * is_pendant(have, doubles, a, start)
        for b in range(a):
            if have[a] >> b & 1:
                weight += (a + b) * PIP - TURN
    shortest_paths(open_, numbers, count, have, doubles, start, far, via)
    match(loose, odd, far, costs)
    least = costs[(1 << odd) - 1]
    if least >= FAR:
        return NONE
    leave_matched(loose, odd, far, via, costs, left)
    return weight - least


@compiled()
def walk(rows, start, path):
    """Write a path over all tiles that can be reached, each once, and give its length.

    The rows are used up (Hierholzer's algorithm). There must be such a path.
    """
    stack = np.empty(TILES, np.int64)
    stack[0] = start
    depth, length = 1, 0
    while depth:
        a = stack[depth - 1]
        if rows[a] == 0:
            path[length] = a
            length += 1
            depth -= 1
            continue
        b = 0
        while not rows[a] >> b & 1:
            b += 1
        rows[a] ^= 1 << b
        rows[b] ^= 1 << a
        stack[depth] = b
        depth += 1
    for i in range(length // 2):  # it was found from its end
        path[i], path[length - 1 - i] = path[length - 1 - i], path[i]
    return length


@compiled()
def part_to_branch_on(problem, left, doubles, start, end):
    """Give the numbers of a part that was cut off, or just the end of the line, as bits."""
    have = problem[HAVE:KEEP]
    played = have & ~left
    walked = reach_of(played, start)
    missing = reach_of(have, start) & ~walked
    for a in range(NUMBERS - 1, -1, -1):
        worth = doubles >> a & 1 and not is_pendant(have, doubles, a, start)
        if missing >> a & 1 and (played[a] or worth):
            return reach_of(played, a)
    return 1 << end


@compiled()
def branch(problem, part, left, open_problems, count):
    """Put the subproblems of leaving all, or playing one, of the tiles left around a part."""
    child = problem.copy()
    for a in range(NUMBERS):
        for b in range(NUMBERS):
            if part >> a & 1 and not part >> b & 1 and left[a] >> b & 1:
                open_problems[count] = child
                for x, y in ((a, b), (b, a)):
                    open_problems[count, KEEP + x] |= 1 << y
                    child[HAVE + x] &= ~(1 << y)
                count += 1
    open_problems[count] = child
    return count + 1


@compiled()
def most_pips(rows, doubles, start, max_nodes, path, found):
    """Write the path of the line with most pips, fewest turns among equals; give its length.

    found [3]: its weight, a bound on the weight of every line, and the subproblems looked at.
    """
    problems = np.empty((MOST_OPEN, CELLS), np.int64)
    costs = np.empty(1 << (NUMBERS - 1), np.int64)
    left = np.empty(NUMBERS, np.int64)
    trail = np.empty(TILES, np.int64)
    problems[0, HAVE:KEEP] = rows
    problems[0, KEEP:CEILING] = 0
    problems[0, CEILING] = FAR
    path[0] = start
    length, nodes = 1, 0
    count = 1 if rows[start] else 0
    best = path_weight(path, 1, doubles)
    while count and nodes < max_nodes:
        problem = problems[count - 1].copy()
        count -= 1
        if problem[CEILING] <= best:
            continue
        nodes += 1
        ceiling = relax(problem, doubles, start, costs, left)
        if ceiling <= best:
            continue
        steps = walk(problem[HAVE:KEEP] & ~left, start, trail)
        weight = path_weight(trail, steps, doubles)
        if weight > best:
            best, length = weight, steps
            path[:steps] = trail[:steps]
        if weight < ceiling:
            problem[CEILING] = ceiling
            part = part_to_branch_on(problem, left, doubles, start, trail[steps - 1])
            count = branch(problem, part, left, problems, count)
    found[0] = found[1] = best
    found[2] = nodes
    for i in range(count):
        found[1] = max(found[1], problems[i, CEILING])
    return length


# --- greatest value ------------------------------------------------------------------------------

# Dynamic programming over (tiles left, open end), one layer for each turn, for the value of what
# follows depends on nothing else; a bound on it discards what cannot beat the best line so far
# (Morin and Marsten, Branch-and-bound strategies for dynamic programming, Operations Research 24,
# 1976). Only the most promising of each layer are kept; where any were dropped, wider layers are
# tried (Zhang, Complete anytime beam search, AAAI 1998). The bounds of the dropped are a bound on
# what was missed.
#
# A double is best played when its number is first passed, with one exception: where
# off_discount < 1, ending the line with it may be better, for the line then takes a turn more. So a
# state may hold one double back, and then must end with it.

FIRST_WIDTH, WIDER = 16, 16
WORD = 60  # bits of tiles in one word
TINY = 1e-9  # differences that come from rounding

LEFT, MORE, MARKS, FROM, STATE_CELLS = 0, 1, 2, 3, 4  # cells of a state
SO_FAR, BOUND = 0, 1  # what a state is worth
START, DOUBLES, TOTAL, LOOSE, MOST, SINGLES, PAIRS = 0, 1, 2, 3, 4, 5, 6  # facts of a hand
COUNT, STAMP, NODES, BEST_FROM, BEST_END, BEST_HELD, TALLIES = 0, 1, 2, 3, 4, 5, 6
BEST, DROPPED, SCORES = 0, 1, 2
TRACE_END = 4  # bits


@compiled(inline=True)
def marks_of(end, held, seen, reach, out):
    """Pack what a state knows: open end, number held back or NONE, bits of numbers, pips out."""
    return end | (held + 1) << 4 | seen << 9 | reach << 25 | out << 41


@compiled()
def describe(rows, doubles, start, total, facts):
    """Write the facts of a hand: tiles that can be reached and are no doubles, most pips first."""
    reach = reach_of(rows, start)
    facts[START] = start
    facts[DOUBLES] = doubles & reach
    facts[TOTAL] = facts[MOST] = total
    facts[LOOSE] = loose_numbers(rows, reach, start)
    count = 0
    for tile in BY_PIPS:
        if rows[HIGH[tile]] >> LOW[tile] & 1 and reach >> LOW[tile] & 1:
            facts[PAIRS + count] = LOW[tile] | HIGH[tile] << 4
            count += 1
    facts[SINGLES] = count


@compiled(inline=True)
def reach_after(rows, reach, before, end):
    """Give what can be reached from the end, when only the way back to `before` may have gone."""
    if rows[before] == 0:
        return reach & ~(1 << before)
    found = 0
    fresh = 1 << end
    while fresh and not fresh >> before & 1:
        found |= fresh
        grown = 0
        for number in range(NUMBERS):
            if fresh >> number & 1:
                grown |= rows[number]
        fresh = grown & ~found
    return reach if fresh else found


@compiled(inline=True)
def least_left(rows, loose, held):
    """Bound the pips, and the number of tiles, that any trail from here leaves over.

    Every loose number but the end of the trail is joined to another by tiles that are left: by one
    tile, if another is next to it; else over a third number, whose pips count twice.
    """
    pips = spared = count = detours = 0
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
            if held == number or (least > spared and not (held != NONE and loose >> held & 1)):
                spared = least
    return pips - spared, (count - 1 + detours) // 2


@compiled(inline=True)
def slot_for(left, more, marks, layer, slots, stamp):
    """Find the slot that holds a state of the next layer, or the free one where it belongs."""
    mixed = 2166136261
    for word in (left & 0x3FFFFFFF, left >> 30, more, marks & 0x1FF):
        mixed = ((mixed ^ word) * 16777619) & 0xFFFFFFFF
        mixed ^= mixed >> 15
    slot = mixed & (len(slots) - 1)
    while slots[slot] >= stamp:
        at = slots[slot] - stamp
        if layer[at, LEFT] == left and layer[at, MARKS] == marks and layer[at, MORE] == more:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@compiled()
def expand(now, now_worth, known, turn, then, then_worth, slots, facts, powers, tally, scores, room):
    """Find the next layer: every way to go on from the states of this one.

    powers [2, ..]: of the in-line and of the off-line discount. Stops where the next layer might
    not have room for a whole state more, or nodes run out; gives how many states are done.
    """
    rows = np.empty(NUMBERS, np.int64)
    pairs = np.empty(MOST_HAND, np.int64)
    places = np.empty(MOST_HAND, np.int64)
    sums = np.zeros(MOST_HAND + 1)
    doubles, total, loose_ever, most = facts[DOUBLES], facts[TOTAL], facts[LOOSE], facts[MOST]
    singles = facts[SINGLES]
    patient = powers[1, 1] < 1.0
    for i in range(known):
        if tally[COUNT] + 2 * NUMBERS > room or tally[NODES] <= 0:
            return i
        if now_worth[i, BOUND] <= scores[BEST] + TINY:
            continue
        marks = now[i, MARKS]
        end, held = marks & 15, (marks >> 4 & 31) - 1
        seen, reach, out = marks >> 9 & 0xFFFF, marks >> 25 & 0xFFFF, marks >> 41
        rows[:] = 0
        n = 0
        for j in range(singles):
            word = now[i, LEFT] >> j if j < WORD else now[i, MORE] >> (j - WORD)
            pair = facts[PAIRS + j]
            low, high = pair & 15, pair >> 4
            if word & 1 and reach >> low & 1:
                rows[low] |= 1 << high
                rows[high] |= 1 << low
                pairs[n] = pair
                places[n] = j
                n += 1
        for k in range(n):
            low, high = pairs[k] & 15, pairs[k] >> 4
            if low != end and high != end:
                continue
            tally[NODES] -= 1
            to = low + high - end
            value = now_worth[i, SO_FAR] + (low + high) * powers[0, turn]
            pips = out + low + high
            rows[end] ^= 1 << to
            rows[to] ^= 1 << end
            fresh = doubles >> to & 1 and not seen >> to & 1
            # Play the double, or hold it back if one can return to its number.
            ways = 1 + (patient and fresh and held == NONE and rows[to] & (rows[to] - 1) != 0)
            for way in range(ways):
                kept = to if way == 1 else held
                if fresh and way == 0:
                    value += 2 * to * powers[0, turn + 1]
                    pips += 2 * to
                elif way == 1:
                    value -= 2 * to * powers[0, turn + 1]
                    pips -= 2 * to
                if kept == NONE:
                    ended = value - (total - pips) * powers[1, turn + 1 + fresh]
                elif kept == to and not fresh:
                    ended = (
                        value
                        + 2 * to * powers[0, turn + 1]
                        - (total - pips - 2 * to) * powers[1, turn + 2]
                    )
                else:
                    ended = scores[BEST]
                if ended > scores[BEST] + TINY:
                    scores[BEST] = ended
                    tally[BEST_FROM] = now[i, FROM]
                    tally[BEST_END] = to
                    tally[BEST_HELD] = kept
                if rows[to] == 0:
                    continue
                area = reach_after(rows, reach, end, to)
                if kept != NONE and not area >> kept & 1:
                    continue
                highest = NUMBERS - 1
                while not rows[to] >> highest & 1:
                    highest -= 1
                more_pips = to + highest
                sums[1] = more_pips * powers[0, turn + 1]
                tiles = 1
                next_pair = min(to, highest) | max(to, highest) << 4
                for other in range(n):
                    if other != k and area >> (pairs[other] & 15) & 1 and pairs[other] != next_pair:
                        worth = (pairs[other] & 15) + (pairs[other] >> 4)
                        more_pips += worth
                        sums[tiles + 1] = sums[tiles] + worth * powers[0, turn + 1 + tiles]
                        tiles += 1
                lost, lost_tiles = least_left(rows, loose_ever & area, kept)
                tiles -= lost_tiles
                more_pips -= lost
                bound = value + sums[tiles]
                waiting = doubles & area & ~(seen | 1 << to)
                late = turn + 2 + (waiting & rows[to] == 0)
                last = turn + 1 + tiles + (waiting != 0 or kept != NONE)
                if waiting:
                    for number in range(NUMBERS - 1, -1, -1):
                        if waiting >> number & 1:
                            bound += 2 * number * powers[0, late]
                            more_pips += 2 * number
                            late += 1
                if kept != NONE:
                    bound += 2 * kept * powers[0, turn + 2]
                    more_pips += 2 * kept
                left_over = total - min(pips + more_pips, most)
                bound -= left_over * powers[1, last]
                if bound <= scores[BEST] + TINY:
                    continue
                left, more = now[i, LEFT], now[i, MORE]
                if places[k] < WORD:
                    left ^= 1 << places[k]
                else:
                    more ^= 1 << (places[k] - WORD)
                onward = marks_of(to, kept, seen | 1 << to, area, pips)
                stamp = tally[STAMP] << 32
                slot = slot_for(left, more, onward, then, slots, stamp)
                at = slots[slot] - stamp
                if at < 0:
                    at = tally[COUNT]
                    tally[COUNT] += 1
                    slots[slot] = stamp + at
                    then[at, LEFT] = left
                    then[at, MORE] = more
                    then[at, MARKS] = onward
                elif value <= then_worth[at, SO_FAR]:
                    continue
                then[at, FROM] = now[i, FROM]
                then_worth[at, SO_FAR] = value
                then_worth[at, BOUND] = bound
            rows[end] ^= 1 << to
            rows[to] ^= 1 << end
    return known


@compiled()
def narrow(layer, worth, count, width, scores):
    """Keep the states with the greatest bounds, so many as the width says, and note the best lost."""
    line = np.partition(worth[:count, BOUND].copy(), count - width)[count - width]
    equals = width
    for i in range(count):
        equals -= worth[i, BOUND] > line
    kept = 0
    for i in range(count):
        bound = worth[i, BOUND]
        if bound < line or (bound == line and equals == 0):
            scores[DROPPED] = max(scores[DROPPED], bound)
            continue
        equals -= bound == line
        layer[kept] = layer[i]
        worth[kept] = worth[i]
        kept += 1
    return kept


@compiled()
def beam(width, facts, powers, nodes, path, scores):
    """Search with layers of one width; give the path's length, who was held back, and nodes left.

    Length 0 means: nothing better than scores[BEST] was found. scores[DROPPED] is raised to the
    greatest bound of all states that were not followed.
    """
    room = 4 * width + 2 * NUMBERS
    size = 64
    while size < 2 * room:
        size *= 2
    slots = np.zeros(size, np.int64)
    now, now_worth = np.empty((room, STATE_CELLS), np.int64), np.empty((room, 2))
    then, then_worth = np.empty((room, STATE_CELLS), np.int64), np.empty((room, 2))
    trace = np.empty(width * (facts[SINGLES] + 1) + 2, np.int64)
    tally = np.zeros(TALLIES, np.int64)
    tally[NODES] = nodes
    tally[BEST_FROM] = NONE
    known = begin(facts, powers, now, now_worth)
    traced = 0
    turn = 0
    while known:
        for i in range(known):
            trace[traced] = now[i, FROM] << TRACE_END | now[i, MARKS] & 15
            now[i, FROM] = traced
            traced += 1
        tally[COUNT] = 0
        tally[STAMP] += 1
        done = 0
        while done < known and tally[NODES] > 0:
            done += expand(
                now[done:], now_worth[done:], known - done, turn,
                then, then_worth, slots, facts, powers, tally, scores, room,
            )
            if tally[COUNT] > width:
                tally[COUNT] = narrow(then, then_worth, tally[COUNT], width, scores)
                tally[STAMP] += 1
                for i in range(tally[COUNT]):
                    stamp = tally[STAMP] << 32
                    slot = slot_for(then[i, LEFT], then[i, MORE], then[i, MARKS], then, slots, stamp)
                    slots[slot] = stamp + i
        for i in range(done, known):
            scores[DROPPED] = max(scores[DROPPED], now_worth[i, BOUND])
        if tally[NODES] <= 0:
            for i in range(tally[COUNT]):
                scores[DROPPED] = max(scores[DROPPED], then_worth[i, BOUND])
            break
        now, then = then, now
        now_worth, then_worth = then_worth, now_worth
        known = tally[COUNT]
        turn += 1
    return path_back(trace, tally, path), tally[BEST_HELD], tally[NODES]


@compiled()
def begin(facts, powers, layer, worth):
    """Write the states before the first tile: the start's double is played, or held back."""
    start, doubles, total = facts[START], facts[DOUBLES], facts[TOTAL]
    own = doubles >> start & 1
    reach = 1 << start
    everything = (1 << min(facts[SINGLES], WORD)) - 1
    more = (1 << max(facts[SINGLES] - WORD, 0)) - 1
    for j in range(facts[SINGLES]):
        reach |= 1 << (facts[PAIRS + j] & 15) | 1 << (facts[PAIRS + j] >> 4)
    count = 0
    for held in (NONE, start):
        if held == NONE or (own and powers[1, 1] < 1.0):
            pips = 2 * start * (own and held == NONE)
            layer[count, LEFT] = everything
            layer[count, MORE] = more
            layer[count, MARKS] = marks_of(start, held, 1 << start, reach, pips)
            layer[count, FROM] = NONE
            worth[count, SO_FAR] = pips
            worth[count, BOUND] = 2.0 * total
            count += 1
    return count


@compiled()
def path_back(trace, tally, path):
    """Write the path to the best end that a pass has found, and give its length."""
    if tally[BEST_FROM] == NONE:
        return 0
    length = 1
    path[0] = tally[BEST_END]
    at = tally[BEST_FROM]
    while at != NONE:
        path[length] = trace[at] & 15
        length += 1
        at = trace[at] >> TRACE_END
    for i in range(length // 2):
        path[i], path[length - 1 - i] = path[length - 1 - i], path[i]
    return length


VALUE, CEIL, USED, EXACT, RESULTS = 0, 1, 2, 3, 4
AIM_PIPS, AIM_VALUE = 0, 1
MOST_WIDTH = 65536
PIPS_NODES = 1000


@compiled()
def best_line(tiles, n, end, aim, in_discount, off_discount, max_nodes, line, result):
    """Write the best line."""
    rows = np.empty(NUMBERS, np.int64)
    path = np.empty(TILES, np.int64)
    found = np.empty(3, np.int64)
    doubles = rows_of(tiles, n, rows)
    if aim == AIM_PIPS:
        length = most_pips(rows, doubles, end, max_nodes, path, found)
        count = write_line(path, length, doubles, NONE, line)
        result[VALUE] = pips_in(found[0])
        result[CEIL] = pips_in(found[1])
        result[USED] = found[2]
        result[EXACT] = found[0] == found[1]
        return count
    total = pips_of(tiles, n)
    facts = np.empty(PAIRS + MOST_HAND, np.int64)
    describe(rows, doubles, end, total, facts)
    powers = np.empty((2, MOST_HAND + 4))
    powers[:, 0] = 1.0
    for k in range(1, MOST_HAND + 4):
        powers[0, k] = powers[0, k - 1] * in_discount
        powers[1, k] = powers[1, k - 1] * off_discount
    scores = np.empty(SCORES)
    path[0] = end
    count = write_line(path, 1, doubles, NONE, line)
    scores[BEST] = line_value(line, count, tiles, n, in_discount, off_discount)
    bound = float(total)
    nodes = max_nodes
    width = FIRST_WIDTH
    while rows[end] and nodes > 0:
        scores[DROPPED] = -np.inf
        length, held, nodes = beam(width, facts, powers, nodes, path, scores)
        if length:
            count = write_line(path, length, doubles, held, line)
        bound = min(bound, max(scores[BEST], scores[DROPPED]))
        if scores[DROPPED] <= scores[BEST] + TINY or width >= MOST_WIDTH:
            break
        if width == FIRST_WIDTH:
            steps = most_pips(rows, doubles, end, PIPS_NODES, path, found)
            facts[MOST] = pips_in(found[1])
            other = np.empty(MOST_HAND, np.int64)
            size = write_line(path, steps, doubles, NONE, other)
            value = line_value(other, size, tiles, n, in_discount, off_discount)
            if value > scores[BEST]:
                scores[BEST] = value
                count = size
                line[:count] = other[:count]
        width *= WIDER
    value = line_value(line, count, tiles, n, in_discount, off_discount)
    result[VALUE] = value
    result[EXACT] = rows[end] == 0 or scores[DROPPED] <= scores[BEST] + TINY
    result[CEIL] = value if result[EXACT] else max(value, bound)
    result[USED] = max_nodes - nodes
    return count
