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
from kibitz.games.nim.expert import (
    EXPERT,
    LOST,
    left_by,
    longest,
    reckon,
    row_of,
    rule_for,
    taken_by,
)
from kibitz.games.nim.rules import CAP, MISERE, MOST, MOST_ROWS, ROWS, START

NOTHING = -1  # no action


# --- what strategies share -----------------------------------------------------------------------


@compiled()
def left(view, action):
    """Count the sticks that an action leaves in its row."""
    return view[ROWS + row_of(action)] - taken_by(action)


@compiled()
def sticks_in_all(view):
    """Count the sticks of all rows."""
    sticks = 0
    for row in range(MOST_ROWS):
        if view[START + row] == 0:
            break
        sticks += view[ROWS + row]
    return sticks


@compiled()
def rows_with_sticks(view):
    """Count the rows that are not empty."""
    rows = 0
    for row in range(MOST_ROWS):
        if view[START + row] == 0:
            break
        rows += view[ROWS + row] > 0
    return rows


@compiled()
def take(view, row, sticks):
    """Give the action that takes so many sticks from a row, or as many as it may."""
    most = view[ROWS + row]
    if 0 < view[CAP] < most:
        most = view[CAP]
    return row * MOST + min(int(sticks), int(most)) - 1


@compiled()
def is_drawn(rng, wishes):
    """Tell whether the latest of so many wishes takes the place of the one drawn before.

    Asked of each wish in turn, the last to be told so is one of them, each equally likely.
    """
    return wishes == 1 or below(rng, wishes) == 0


@compiled()
def or_any(best, actions, n, rng):
    """Give the action that was found, or draw one of all."""
    return actions[below(rng, n)] if best == NOTHING else best


@compiled()
def drawn_by_sticks(view, actions, n, rng, odd):
    """Draw an action that leaves an even or an odd number of sticks in all."""
    sticks = sticks_in_all(view)
    best = NOTHING
    wishes = 0
    for i in range(n):
        if (sticks - taken_by(actions[i])) & 1 == odd:
            wishes += 1
            if is_drawn(rng, wishes):
                best = actions[i]
    return or_any(best, actions, n, rng)


@compiled()
def drawn_by_rows(view, actions, n, rng, odd):
    """Draw an action that leaves an even or an odd number of rows with sticks."""
    rows = rows_with_sticks(view)
    best = NOTHING
    wishes = 0
    for i in range(n):
        if (rows - (left(view, actions[i]) == 0)) & 1 == odd:
            wishes += 1
            if is_drawn(rng, wishes):
                best = actions[i]
    return or_any(best, actions, n, rng)


@compiled()
def drawn_by_nim_sum(view, actions, n, rng, zero):
    """Draw an action that leaves nim-sum 0, or one that does not."""
    now, long = reckon(view)
    best = NOTHING
    wishes = 0
    for i in range(n):
        if (left_by(view, actions[i], now, long)[0] == 0) == zero:
            wishes += 1
            if is_drawn(rng, wishes):
                best = actions[i]
    return or_any(best, actions, n, rng)


# --- strategies that look at one row -------------------------------------------------------------


@compiled(CHOOSE)
def gabriele(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the first row that has sticks."""
    return take(view, row_of(actions[0]), MOST)


@compiled(CHOOSE)
def random(rules, view, actions, n, weights, memory, rng):
    """Take any legal move, each equally likely."""
    return actions[below(rng, n)]


@compiled(CHOOSE)
def take_one(rules, view, actions, n, weights, memory, rng):
    """Take a single stick, from a row drawn by lot."""
    best = NOTHING
    wishes = 0
    for i in range(n):
        if taken_by(actions[i]) == 1:
            wishes += 1
            if is_drawn(rng, wishes):
                best = actions[i]
    return or_any(best, actions, n, rng)


@compiled(CHOOSE)
def take_all_but_one(rules, view, actions, n, weights, memory, rng):
    """Leave one stick in the longest row where it may; else take one from the longest row."""
    best = NOTHING
    for i in range(n):
        if left(view, actions[i]) == 1 and (
            best == NOTHING or taken_by(actions[i]) > taken_by(best)
        ):
            best = actions[i]
    return take(view, longest(view), 1) if best == NOTHING else best


@compiled(CHOOSE)
def longest_row(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the longest row, the first of equals."""
    return take(view, longest(view), MOST)


@compiled(CHOOSE)
def shortest_row(rules, view, actions, n, weights, memory, rng):
    """Take as much as it may from the shortest row that has sticks, the first of equals."""
    shortest = row_of(actions[0])
    for row in range(shortest + 1, MOST_ROWS):
        if view[START + row] == 0:
            break
        if 0 < view[ROWS + row] < view[ROWS + shortest]:
            shortest = row
    return take(view, shortest, MOST)


@compiled(CHOOSE)
def one_from_longest(rules, view, actions, n, weights, memory, rng):
    """Take a single stick from the longest row, the first of equals."""
    return take(view, longest(view), 1)


@compiled(CHOOSE)
def thin_out(rules, view, actions, n, weights, memory, rng):
    """Take half of the longest row, rounded up, or as much of that as it may."""
    row = longest(view)
    return take(view, row, (view[ROWS + row] + 1) // 2)


# --- strategies that look at the whole table -----------------------------------------------------


@compiled(CHOOSE)
def level(rules, view, actions, n, weights, memory, rng):
    """Make a row as long as another, at the most sticks; else take one from the longest row."""
    best = NOTHING
    most = 0
    for i in range(n):
        stay = left(view, actions[i])
        if stay <= most:
            continue
        for row in range(MOST_ROWS):
            if view[START + row] == 0:
                break
            if view[ROWS + row] == stay:  # never its own row, which has more
                best = actions[i]
                most = stay
                break
    return take(view, longest(view), 1) if best == NOTHING else best


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
    sticks = sticks_in_all(view)
    best = NOTHING
    wishes = 0
    for i in range(n):
        if sticks - taken_by(actions[i]) == view[MISERE]:
            wishes += 1
            if is_drawn(rng, wishes):
                best = actions[i]
    return or_any(best, actions, n, rng)


# --- strategies that know the nim-sum ------------------------------------------------------------


@compiled(CHOOSE)
def nim_sum(rules, view, actions, n, weights, memory, rng):
    """Leave nim-sum 0, even at the end of misère play; else take any move by lot."""
    return drawn_by_nim_sum(view, actions, n, rng, True)


@compiled(CHOOSE)
def nim_sum_misere(rules, view, actions, n, weights, memory, rng):
    """Leave nim-sum 0, or odd ones at the misère end; else take one from the longest row."""
    now, long = reckon(view)
    best = NOTHING
    wishes = 0
    for i in range(n):
        if rule_for(view, actions[i], now, long) != LOST:
            wishes += 1
            if is_drawn(rng, wishes):
                best = actions[i]
    return take(view, longest(view), 1) if best == NOTHING else best


@compiled(CHOOSE)
def spoil(rules, view, actions, n, weights, memory, rng):
    """Leave a nim-sum that is not 0, which is bad play; else take any move by lot."""
    return drawn_by_nim_sum(view, actions, n, rng, False)


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
