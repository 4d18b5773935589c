"""The line with most pips: leave the cheapest tiles so that the rest is one trail from the start.

All but two of its numbers (or all, if it ends where it starts) must have an even number of tiles:
what is left is a T-join, and the cheapest is a matching of the loose numbers along shortest paths
(Edmonds and Johnson, Matching, Euler tours and the Chinese postman, Mathematical Programming 5,
1973). One loose number stays free: the end. There are at most 15, so the matching is found by
dynamic programming over their subsets. Where the rest falls apart, the search branches over the
tiles around a part that was cut off: leave them all, or play this one.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.tiles import MOST_TILES, NUMBERS, pips_of
from kibitz.games.mexican_train.trails import (
    NONE,
    copy,
    is_odd,
    loose_numbers,
    lowest,
    reach_of,
    rows_of,
    walk,
    write_line,
)
from kibitz.games.mexican_train.worth import BOUND, EXACT, NODES, VALUE

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
    trail = np.empty(MOST_TILES, np.int64)
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
    path = np.empty(MOST_TILES, np.int64)
    found = np.empty(FOUND_CELLS, np.int64)
    doubles = rows_of(tiles, n, rows)
    steps = most_pips(rows, doubles, start, max_nodes, path, found)
    result[VALUE] = pips_in(found[WEIGHT])
    result[BOUND] = min(pips_in(found[WEIGHT_BOUND]), pips_of(tiles, n))
    result[NODES] = found[PROBLEMS]
    result[EXACT] = found[WEIGHT] == found[WEIGHT_BOUND]
    return write_line(path, steps, doubles, NONE, line)
