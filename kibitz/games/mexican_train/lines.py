"""Lines: which tiles of a hand can follow one another on one's own line, and which are best.

Tiles are those of a double-N set, N up to 15. The tile (a, b), a <= b, has the number
b * (b + 1) // 2 + a, so that the first (N + 1)(N + 2) / 2 numbers are the double-N set. A hand is
an array of different tile numbers. A line is a sequence of tiles of the hand: the first
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
MOST_SINGLES = TILES - NUMBERS  # tiles that are no doubles
NONE = -1

LOW = np.array([a for b in range(NUMBERS) for a in range(b + 1)], np.int64)
HIGH = np.array([b for b in range(NUMBERS) for a in range(b + 1)], np.int64)
PIPS = LOW + HIGH
IS_DOUBLE = LOW == HIGH
# Tiles that are no doubles, most pips first.
BY_PIPS = np.array(
    sorted(np.flatnonzero(~IS_DOUBLE), key=lambda tile: (-PIPS[tile], tile)), np.int64
)


AIM_PIPS, AIM_VALUE = 0, 1
AIMS = {"pips": AIM_PIPS, "value": AIM_VALUE}
MAX_NODES = 2_000_000
VALUE, BOUND, NODES, EXACT, RESULTS = 0, 1, 2, 3, 4  # what is known of the best line


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
def is_odd(bits):
    """Tell whether the number of set bits, out of 16, is odd."""
    bits ^= bits >> 8
    bits ^= bits >> 4
    bits ^= bits >> 2
    return (bits ^ bits >> 1) & 1


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


# --- most pips -----------------------------------------------------------------------------------

# Leave the cheapest tiles so that the rest is one trail from the start. All but two of its numbers
# (or all, if it ends where it starts) must have an even number of tiles: what is left is a T-join,
# and the cheapest is a matching of the loose numbers along shortest paths (Edmonds and Johnson,
# Matching, Euler tours and the Chinese postman, Mathematical Programming 5, 1973). One loose number
# stays free: the end. There are at most 15, so the matching is found by dynamic programming over
# their subsets. Where the rest falls apart, the search branches over the tiles around a part that
# was cut off: leave them all, or play this one.

# What a tile weighs: pips decide, then to be rid of the double blank, then to take fewer turns, of
# which there are at most 121.
PIP, BLANK, TURN = 256, 128, 1
FAR = 1 << 40

# A subproblem: rows of tiles that are there, rows of those that must be played, and a bound.
HAVE, KEEP, CEILING, PROBLEM_CELLS = 0, NUMBERS, 2 * NUMBERS, 2 * NUMBERS + 1
WEIGHT, WEIGHT_BOUND, PROBLEMS, FOUND_CELLS = 0, 1, 2, 3  # what the search has found


@compiled()
def double_weight(number):
    """Give the weight of a double that is played on the way."""
    return 2 * number * PIP if number > 0 else BLANK


@compiled()
def pips_in(weight):
    """Give the pips in a weight: it is at most BLANK above them, and less than BLANK below."""
    return (weight + BLANK - 1) // PIP


@compiled()
def path_weight(path, length, doubles):
    """Give the weight of the line along a path of numbers."""
    weight = seen = 0
    fresh = False
    for i in range(length):
        number = path[i]
        if i > 0:
            weight += (path[i - 1] + number) * PIP - TURN
        fresh = (doubles & ~seen) >> number & 1 != 0
        if fresh:
            weight += double_weight(number)
        seen |= 1 << number
    return weight - TURN if fresh else weight  # the line ends with that double


@compiled()
def is_pendant(have, doubles, number, start):
    """Tell whether a double can only be played after one certain tile, at the end of the line."""
    row = have[number]
    return doubles >> number & 1 and number != start and row != 0 and row & (row - 1) == 0


@compiled()
def edge_weight(have, doubles, start, a, b):
    """Give what is lost when a tile is left, with the double that can only follow on it."""
    weight = (a + b) * PIP - TURN
    if is_pendant(have, doubles, a, start):
        weight += double_weight(a) - TURN
    if is_pendant(have, doubles, b, start):
        weight += double_weight(b) - TURN
    return weight


@compiled()
def shortest_paths(problem, reach, doubles, start, far, via):
    """Write the least that is lost by leaving tiles all the way between two numbers (Floyd 1962).

    far and via [NUMBERS, NUMBERS]: the weight, and the next number on the way.
    """
    have = problem[HAVE:KEEP]
    for a in range(NUMBERS):
        for b in range(NUMBERS):
            via[a, b] = b
            far[a, b] = FAR
            if (have[a] & ~problem[KEEP + a]) >> b & 1 and reach >> a & 1:
                far[a, b] = edge_weight(have, doubles, start, a, b)
    for middle in range(NUMBERS):
        if reach >> middle & 1:
            for a in range(NUMBERS):
                if far[a, middle] < FAR:
                    for b in range(NUMBERS):
                        if far[a, middle] + far[middle, b] < far[a, b]:
                            far[a, b] = far[a, middle] + far[middle, b]
                            via[a, b] = via[a, middle]


@compiled()
def lowest(bits):
    """Give the place of the lowest set bit."""
    place = 0
    while not bits >> place & 1:
        place += 1
    return place


@compiled()
def match(loose, count, far, costs):
    """Write the least loss by matching each subset of the loose numbers, one free if it is odd."""
    costs[0] = 0
    for subset in range(1, 1 << count[0]):
        low = lowest(subset)
        rest = subset & (subset - 1)
        least = FAR if is_odd(rest) else costs[rest]
        for other in range(low + 1, count[0]):
            if rest >> other & 1:
                least = min(least, far[loose[low], loose[other]] + costs[rest ^ 1 << other])
        costs[subset] = least


@compiled()
def leave_matched(loose, count, far, via, costs, left):
    """Write into the rows `left` the tiles that the best matching leaves."""
    for number in range(NUMBERS):
        left[number] = 0
    subset = (1 << count[0]) - 1
    while subset:
        low = lowest(subset)
        rest = subset & (subset - 1)
        if not is_odd(rest) and costs[subset] == costs[rest]:
            subset = rest  # that one is free
            continue
        other = low + 1
        while not (
            rest >> other & 1
            and costs[subset] == far[loose[low], loose[other]] + costs[rest ^ 1 << other]
        ):
            other += 1
        leave_path(loose[low], loose[other], via, left)
        subset = rest ^ 1 << other


@compiled()
def leave_path(a, b, via, left):
    """Turn over, in the rows `left`, the tiles of the shortest path between two numbers."""
    while a != b:
        step = via[a, b]
        left[a] ^= 1 << step
        left[step] ^= 1 << a
        a = step


@compiled()
def weight_within(problem, reach, doubles, start):
    """Give the weight of everything that can be reached; NONE if a tile to be played is not."""
    have = problem[HAVE:KEEP]
    weight = 0
    for a in range(NUMBERS):
        if not reach >> a & 1:
            if problem[KEEP + a]:
                return NONE
            continue
        if doubles >> a & 1:
            weight += double_weight(a) - TURN * is_pendant(have, doubles, a, start)
        for b in range(a):
            if have[a] >> b & 1:
                weight += (a + b) * PIP - TURN
    return weight


@compiled()
def relax(problem, doubles, start, costs, left):
    """Find the tiles to leave, even if the rest falls apart; give its weight, or NONE.

    problem [PROBLEM_CELLS], costs [2 ** 15], left [NUMBERS] rows of the tiles to leave.
    """
    reach = reach_of(problem[HAVE:KEEP], start)
    weight = weight_within(problem, reach, doubles, start)
    if weight == NONE:
        return NONE
    far = np.empty((NUMBERS, NUMBERS), np.int64)
    via = np.empty((NUMBERS, NUMBERS), np.int64)
    shortest_paths(problem, reach, doubles, start, far, via)
    bits = loose_numbers(problem[HAVE:KEEP], reach, start)
    loose = np.empty(NUMBERS, np.int64)
    count = np.zeros(1, np.int64)
    for number in range(NUMBERS):
        if bits >> number & 1:
            loose[count[0]] = number
            count[0] += 1
    match(loose, count, far, costs)
    least = costs[(1 << count[0]) - 1]
    if least >= FAR:
        return NONE
    leave_matched(loose, count, far, via, costs, left)
    return weight - least


@compiled()
def walk(rows, start, path):
    """Write a path over all tiles that can be reached, each once, and give its length.

    There must be such a path; the rows are used up (Hierholzer, Mathematische Annalen 6, 1873).
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
        b = lowest(rows[a])
        rows[a] ^= 1 << b
        rows[b] ^= 1 << a
        stack[depth] = b
        depth += 1
    reverse(path, length)
    return length


@compiled()
def part_to_branch_on(problem, played, doubles, start, end):
    """Give the numbers of a part that was cut off, or else just the end of the line, as bits.

    The end, because a line that ends with a double on its first visit takes a turn more than the
    bound allows for, unless no other tile leads there.
    """
    have = problem[HAVE:KEEP]
    missing = reach_of(have, start) & ~reach_of(played, start)
    for number in range(NUMBERS - 1, -1, -1):
        if missing >> number & 1:
            alone = doubles >> number & 1 and not is_pendant(have, doubles, number, start)
            if played[number] or alone:
                return reach_of(played, number)
    return 1 << end


@compiled()
def branch(problem, part, left, problems, count):
    """Add the subproblems of playing one, or leaving all, of the tiles left around a part."""
    for a in range(NUMBERS):
        for b in range(NUMBERS):
            if part >> a & 1 and not part >> b & 1 and left[a] >> b & 1:
                copy(problem, problems[count], PROBLEM_CELLS)
                problems[count, KEEP + a] |= 1 << b
                problems[count, KEEP + b] |= 1 << a
                problem[HAVE + a] ^= 1 << b
                problem[HAVE + b] ^= 1 << a
                count += 1
    copy(problem, problems[count], PROBLEM_CELLS)
    return count + 1


@compiled()
def most_open(rows):
    """Bound the number of subproblems that wait at the same time.

    Every branching decides a tile, and adds a subproblem for each undecided tile and one more.
    """
    singles = 0
    for a in range(NUMBERS):
        for b in range(a):
            singles += rows[a] >> b & 1
    return (singles + 1) * (singles + 2) // 2


@compiled()
def most_pips(rows, doubles, start, max_nodes, path, found):
    """Write the path of the line with most pips, fewest turns among equals; give its length.

    found [FOUND_CELLS]: its weight, a bound on the weight of every line, subproblems looked at.
    """
    problems = np.empty((most_open(rows), PROBLEM_CELLS), np.int64)
    problem = np.zeros(PROBLEM_CELLS, np.int64)
    costs = np.empty(1 << (NUMBERS - 1), np.int64)
    left = np.empty(NUMBERS, np.int64)
    played = np.empty(NUMBERS, np.int64)
    trail = np.empty(TILES, np.int64)
    copy(rows, problem[HAVE:KEEP], NUMBERS)
    problem[CEILING] = FAR
    copy(problem, problems[0], PROBLEM_CELLS)
    path[0] = start
    length = 1
    best = path_weight(path, length, doubles)
    count = 1 if rows[start] else 0
    nodes = 0
    while count and nodes < max_nodes:
        count -= 1
        if problems[count, CEILING] <= best:
            continue
        nodes += 1
        copy(problems[count], problem, PROBLEM_CELLS)
        ceiling = relax(problem, doubles, start, costs, left)
        if ceiling <= best:
            continue
        for number in range(NUMBERS):
            played[number] = problem[HAVE + number] & ~left[number]
        steps = walk(played, start, trail)
        weight = path_weight(trail, steps, doubles)
        if weight > best:
            best, length = weight, steps
            copy(trail, path, steps)
        if weight < ceiling:
            problem[CEILING] = ceiling
            for number in range(NUMBERS):
                played[number] = problem[HAVE + number] & ~left[number]
            part = part_to_branch_on(problem, played, doubles, start, trail[steps - 1])
            count = branch(problem, part, left, problems, count)
    found[WEIGHT] = found[WEIGHT_BOUND] = best
    found[PROBLEMS] = nodes
    for i in range(count):
        found[WEIGHT_BOUND] = max(found[WEIGHT_BOUND], problems[i, CEILING])
    return length


@compiled()
def most_pips_line(tiles, start, max_nodes, line, result):
    """Write the line with most pips, and give its length; the arguments are `best_line`'s."""
    n = len(tiles)
    rows = np.empty(NUMBERS, np.int64)
    path = np.empty(TILES, np.int64)
    found = np.empty(FOUND_CELLS, np.int64)
    doubles = rows_of(tiles, n, rows)
    steps = most_pips(rows, doubles, start, max_nodes, path, found)
    result[VALUE] = pips_in(found[WEIGHT])
    result[BOUND] = min(pips_in(found[WEIGHT_BOUND]), pips_of(tiles, n))
    result[NODES] = found[PROBLEMS]
    result[EXACT] = found[WEIGHT] == found[WEIGHT_BOUND]
    return write_line(path, steps, doubles, NONE, line)


# --- greatest value ------------------------------------------------------------------------------

# Dynamic programming over (tiles left, open end), one layer for each turn, for the value of what
# follows depends on nothing else; a bound on it discards what cannot beat the best line so far
# (Morin and Marsten, Branch-and-bound strategies for dynamic programming, Operations Research 24,
# 1976). Only the most promising states of a layer are kept, and where some were dropped the search
# begins anew with wider layers (Zhang, Complete anytime beam search, AAAI 1998). The bounds of what
# was dropped bound what was missed.
#
# A double is best played when its number is first passed, with one exception: where
# off_discount < 1, to end the line with it may be better, for the line then takes a turn more. So a
# state may hold one double back, and must then end with it.

FIRST_WIDTH, WIDER, MOST_WIDTH = 8, 16, 131_072
PIPS_NODES = 1000  # of the search for most pips that helps this one
TINY = 1e-9  # differences that come from rounding
WORD, HALF = 60, (1 << 30) - 1  # tiles in a word: so no step can overflow, compiled or not

LEFT, MORE, MARKS, FROM, STATE_CELLS = 0, 1, 2, 3, 4  # a state: tiles left, marks, where it is from
SO_FAR, CAN_BE, WORTH_CELLS = 0, 1, 2  # its value so far, and a bound on what it can become
START, DOUBLES, TOTAL, LOOSE, MOST, SINGLES, PAIRS = 0, 1, 2, 3, 4, 5, 6  # facts of a hand
FACTS = PAIRS + MOST_SINGLES
KNOWN, DONE, COUNT, AGE, DEPTH, BUDGET = 0, 1, 2, 3, 4, 5  # tallies of a search
BEST_FROM, BEST_END, BEST_HELD, TALLIES = 6, 7, 8, 9
BEST, DROPPED, SCORES = 0, 1, 2  # the best value so far, the greatest bound of what was dropped
IN, OFF, POWERS = 0, 1, TILES + 2  # powers of the two discounts


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
def marks_of(end, held, seen, reach, out):
    """Pack what a state knows: open end, number held back or NONE, bits of numbers, pips out."""
    return end | (held + 1) << 4 | seen << 9 | reach << 25 | out << 41


@compiled(inline=True)
def tiles_left(left, more, reach, facts, rows, pairs):
    """Write rows and pairs of the tiles left that can be reached; give how many.

    pairs [MOST_SINGLES]: two numbers and the place among the facts, most pips first.
    """
    for number in range(NUMBERS):
        rows[number] = 0
    n = 0
    for place in range(facts[SINGLES]):
        there = left >> place if place < WORD else more >> (place - WORD)
        low, high = facts[PAIRS + place] & 15, facts[PAIRS + place] >> 4
        if there & 1 and reach >> low & 1:
            rows[low] |= 1 << high
            rows[high] |= 1 << low
            pairs[n] = low | high << 4 | place << 8
            n += 1
    return n


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
def slot_for(left, more, marks, layer, slots, stamp):
    """Find the slot that holds a state of the next layer, or the free one where it belongs."""
    mixed = 2166136261
    for word in (left & HALF, left >> 30, more & HALF, more >> 30, marks & 0x1FF):
        mixed = ((mixed ^ word) * 16777619) & 0xFFFFFFFF
        mixed ^= mixed >> 15
    slot = mixed & (len(slots) - 1)
    while slots[slot] >= stamp:
        at = slots[slot] - stamp
        if layer[at, LEFT] == left and layer[at, MARKS] == marks and layer[at, MORE] == more:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@compiled(inline=True)
def value_if_ended(value, left, to, held, holds, plays, turn, powers):
    """Give the value of the line if it ends here; -inf where a double is held back elsewhere."""
    ended = -np.inf
    if held == NONE:
        ended = value - left * powers[OFF, turn + plays]
    elif held == to and not holds:
        ended = value + 2 * to * powers[IN, turn] - (left - 2 * to) * powers[OFF, turn + 1]
    return ended


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
def put(left, more, marks, origin, value, bound, layer, worth, slots, tally):
    """Put a state into the next layer, unless it is there with no less value."""
    stamp = tally[AGE] << 32
    slot = slot_for(left, more, marks, layer, slots, stamp)
    at = slots[slot] - stamp
    fresh = at < 0
    if fresh:
        at = tally[COUNT]
        tally[COUNT] += 1
        slots[slot] = stamp + at
        layer[at, LEFT] = left
        layer[at, MORE] = more
        layer[at, MARKS] = marks
    if fresh or value > worth[at, SO_FAR]:
        layer[at, FROM] = origin
        worth[at, SO_FAR] = value
        worth[at, CAN_BE] = bound


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
def nth_greatest(values, n):
    """Give the n-th greatest value, reordering all (Hoare, Algorithm 65: Find, CACM 4, 1961)."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n - 1 <= j:
            high = j
        elif n - 1 >= i:
            low = i
        else:
            break
    return values[n - 1]


@compiled()
def narrow(layer, worth, slots, width, tally, scores):
    """Drop all but the most promising states of the next layer, and note what they promised."""
    bounds = np.empty(tally[COUNT])
    for i in range(tally[COUNT]):
        bounds[i] = worth[i, CAN_BE]
    least = nth_greatest(bounds, width)
    equals = width
    for i in range(tally[COUNT]):
        equals -= worth[i, CAN_BE] > least
    tally[AGE] += 1
    kept = 0
    for i in range(tally[COUNT]):
        bound = worth[i, CAN_BE]
        if bound < least or (bound == least and equals == 0):
            scores[DROPPED] = max(scores[DROPPED], bound)
            continue
        equals -= bound == least
        for cell in range(STATE_CELLS):
            layer[kept, cell] = layer[i, cell]
        for cell in range(WORTH_CELLS):
            worth[kept, cell] = worth[i, cell]
        stamp = tally[AGE] << 32
        left, more, marks = layer[kept, LEFT], layer[kept, MORE], layer[kept, MARKS]
        slots[slot_for(left, more, marks, layer, slots, stamp)] = stamp + kept
        kept += 1
    tally[COUNT] = kept


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
    path = np.empty(TILES, np.int64)
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
    path = np.empty(TILES, np.int64)
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


# --- the best line -------------------------------------------------------------------------------


@compiled()
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
    if len(set(tiles)) < len(tiles) or any(not 0 <= tile < TILES for tile in tiles):
        raise Misuse(f"A hand has different tiles, numbered 0 to {TILES - 1}; see tile_of.")
    if not 0 <= end < NUMBERS:
        raise Misuse(f"The open end is {end}, and must be from 0 to {NUMBERS - 1}.")
