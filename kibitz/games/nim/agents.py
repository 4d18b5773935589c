"""Players of Nim: strategies that can vote, and the expert system.

A strategy has a wish. Where no legal action meets it, the strategy does what the last words of its
docstring say. Where several do, the docstring says which is taken; if it does not, they are drawn
by lot, each equally likely.
"""

from __future__ import annotations

import numpy as np
from numba import literal_unroll

from kibitz.core.agent import Kind
from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.voting import place_of
from kibitz.games.nim.expert import EXPERT, LOST, left_by, longest, reckon, rule_for
from kibitz.games.nim.rules import MISERE, MOST, MOST_ROWS, ROWS

NOTHING = -1  # no action


# --- what strategies share -----------------------------------------------------------------------


@compiled()
def left(view, action):
    """Count the sticks that an action leaves in its row."""
    return view[ROWS + action // MOST] - action % MOST - 1


@compiled()
def sticks_in_all(view):
    """Count the sticks of all rows."""
    sticks = 0
    for row in range(MOST_ROWS):
        sticks += view[ROWS + row]
    return sticks


@compiled()
def rows_with_sticks(view):
    """Count the rows that are not empty."""
    rows = 0
    for row in range(MOST_ROWS):
        rows += view[ROWS + row] > 0
    return rows


@compiled()
def take(actions, n, row, sticks):
    """Give the action that takes so many sticks from a row, or as many as it may."""
    best = actions[0]
    for i in range(n):
        if actions[i] // MOST == row and actions[i] % MOST < sticks:
            best = actions[i]
    return best


@compiled()
def drawn(wished, actions, n, rng):
    """Draw one of the actions that are wished for, or of all where none is."""
    wishes = 0
    for i in range(n):
        wishes += wished[i]
    if wishes == 0:
        return actions[below(rng, n)]
    skip = below(rng, wishes)
    for i in range(n):
        if wished[i]:
            if skip == 0:
                return actions[i]
            skip -= 1
    return actions[0]


@compiled()
def drawn_by_sticks(view, actions, n, rng, odd):
    """Draw an action that leaves an even or an odd number of sticks in all."""
    wished = np.empty(n, np.bool_)
    sticks = sticks_in_all(view)
    for i in range(n):
        wished[i] = (sticks - actions[i] % MOST - 1) % 2 == odd
    return drawn(wished, actions, n, rng)


@compiled()
def drawn_by_rows(view, actions, n, rng, odd):
    """Draw an action that leaves an even or an odd number of rows with sticks."""
    wished = np.empty(n, np.bool_)
    rows = rows_with_sticks(view)
    for i in range(n):
        wished[i] = (rows - (left(view, actions[i]) == 0)) % 2 == odd
    return drawn(wished, actions, n, rng)


# --- strategies that look at one row -------------------------------------------------------------


@compiled(CHOOSE)
def gabriele(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the first row that has sticks."""
    return take(actions, n, actions[0] // MOST, MOST)


@compiled(CHOOSE)
def random(rules, view, actions, n, weights, memory, rng):
    """Take any legal move, each equally likely."""
    return actions[below(rng, n)]


@compiled(CHOOSE)
def take_one(rules, view, actions, n, weights, memory, rng):
    """Take a single stick, from a row drawn by lot."""
    wished = np.empty(n, np.bool_)
    for i in range(n):
        wished[i] = actions[i] % MOST == 0
    return drawn(wished, actions, n, rng)


@compiled(CHOOSE)
def take_all_but_one(rules, view, actions, n, weights, memory, rng):
    """Leave one stick in the longest row where it may; else take one from the longest row."""
    best = NOTHING
    for i in range(n):
        if left(view, actions[i]) == 1 and (best == NOTHING or actions[i] % MOST > best % MOST):
            best = actions[i]
    return take(actions, n, longest(view), 1) if best == NOTHING else best


@compiled(CHOOSE)
def longest_row(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the longest row, the first of equals."""
    return take(actions, n, longest(view), MOST)


@compiled(CHOOSE)
def shortest_row(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the shortest row that has sticks, the first of equals."""
    shortest = actions[0] // MOST
    for i in range(n):
        if view[ROWS + actions[i] // MOST] < view[ROWS + shortest]:
            shortest = actions[i] // MOST
    return take(actions, n, shortest, MOST)


@compiled(CHOOSE)
def one_from_longest(rules, view, actions, n, weights, memory, rng):
    """Take a single stick from the longest row, the first of equals."""
    return take(actions, n, longest(view), 1)


@compiled(CHOOSE)
def thin_out(rules, view, actions, n, weights, memory, rng):
    """Take half of the longest row, rounded up, or as much of that as it may."""
    row = longest(view)
    return take(actions, n, row, (view[ROWS + row] + 1) // 2)


# --- strategies that look at the whole table -----------------------------------------------------


@compiled(CHOOSE)
def level(rules, view, actions, n, weights, memory, rng):
    """Make a row as long as another, at the most sticks; else take one from the longest row."""
    best = NOTHING
    for i in range(n):
        stay = left(view, actions[i])
        if stay == 0 or (best != NOTHING and stay <= left(view, best)):
            continue
        for row in range(MOST_ROWS):
            if view[ROWS + row] == stay:  # never its own row, which has more
                best = actions[i]
    return take(actions, n, longest(view), 1) if best == NOTHING else best


@compiled(CHOOSE)
def even(rules, view, actions, n, weights, memory, rng):
    """Leave an even number of sticks in all; else take any move by lot."""
    return drawn_by_sticks(view, actions, n, rng, 0)


@compiled(CHOOSE)
def odd(rules, view, actions, n, weights, memory, rng):
    """Leave an odd number of sticks in all; else take any move by lot."""
    return drawn_by_sticks(view, actions, n, rng, 1)


@compiled(CHOOSE)
def even_rows(rules, view, actions, n, weights, memory, rng):
    """Leave an even number of rows with sticks; else take any move by lot."""
    return drawn_by_rows(view, actions, n, rng, 0)


@compiled(CHOOSE)
def odd_rows(rules, view, actions, n, weights, memory, rng):
    """Leave an odd number of rows with sticks; else take any move by lot."""
    return drawn_by_rows(view, actions, n, rng, 1)


@compiled(CHOOSE)
def finish(rules, view, actions, n, weights, memory, rng):
    """Leave just the last stick in misère play, none in normal; else take any move by lot."""
    wished = np.empty(n, np.bool_)
    sticks = sticks_in_all(view)
    for i in range(n):
        wished[i] = sticks - actions[i] % MOST - 1 == view[MISERE]
    return drawn(wished, actions, n, rng)


# --- strategies that know the nim-sum ------------------------------------------------------------


@compiled(CHOOSE)
def nim_sum(rules, view, actions, n, weights, memory, rng):
    """Leave nim-sum 0, even at the end of misère play; else take any move by lot."""
    wished = np.empty(n, np.bool_)
    now, long = reckon(view)
    for i in range(n):
        wished[i] = left_by(view, actions[i], now, long)[0] == 0
    return drawn(wished, actions, n, rng)


@compiled(CHOOSE)
def nim_sum_misere(rules, view, actions, n, weights, memory, rng):
    """Leave nim-sum 0, or an odd number of ones at the end of misère play; else any move by lot."""
    wished = np.empty(n, np.bool_)
    now, long = reckon(view)
    for i in range(n):
        wished[i] = rule_for(view, actions[i], now, long) != LOST
    return drawn(wished, actions, n, rng)


@compiled(CHOOSE)
def spoil(rules, view, actions, n, weights, memory, rng):
    """Leave a nim-sum that is not 0, which is bad play; else take any move by lot."""
    wished = np.empty(n, np.bool_)
    now, long = reckon(view)
    for i in range(n):
        wished[i] = left_by(view, actions[i], now, long)[0] != 0
    return drawn(wished, actions, n, rng)


# --- the vote ------------------------------------------------------------------------------------

STRATEGIES = {
    "gabriele": Kind(choose=gabriele),
    "random": Kind(choose=random),
    "take-one": Kind(choose=take_one),
    "take-all-but-one": Kind(choose=take_all_but_one),
    "longest": Kind(choose=longest_row),
    "shortest": Kind(choose=shortest_row),
    "one-from-longest": Kind(choose=one_from_longest),
    "thin-out": Kind(choose=thin_out),
    "level": Kind(choose=level),
    "even": Kind(choose=even),
    "odd": Kind(choose=odd),
    "even-rows": Kind(choose=even_rows),
    "odd-rows": Kind(choose=odd_rows),
    "finish": Kind(choose=finish),
    "nim-sum": Kind(choose=nim_sum),
    "nim-sum-misere": Kind(choose=nim_sum_misere),
    "spoil": Kind(choose=spoil),
}
NIM_SUM = frozenset({"nim-sum", "nim-sum-misere", "spoil"})
VOTERS = tuple(kind.choose for kind in STRATEGIES.values())


@compiled(CHOOSE)
def ballot(rules, view, actions, n, weights, memory, rng):
    """Let every strategy vote with its weight, and take the move with the greatest sum."""
    votes = np.zeros(n)
    place = 0
    for voter in literal_unroll(VOTERS):
        if weights[place] > 0:
            chosen = voter(rules, view, actions, n, weights, memory, rng)
            votes[place_of(chosen, actions, n)] += weights[place]
        place += 1  # noqa: SIM113, for what is unrolled cannot be enumerated
    return actions[np.argmax(votes)]


AGENTS = {
    **{name: kind for name, kind in STRATEGIES.items() if name != "random"},
    "expert": EXPERT,
}
