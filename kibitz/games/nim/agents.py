"""Players of Nim: strategies that can vote, and the expert system.

A strategy has a wish: it writes the places of the legal actions that it would take, one as soon as
another, and gives how many; one of them is drawn by lot. Where no action meets its first wish, it
wishes what the last words of its docstring say.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, WISH, compiled, literal_unroll
from kibitz.core.voting import place_of, strategy_kinds
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
def just(view, row, sticks, actions, n, wanted):
    """Wish to take so many sticks from a row, or as many as one may."""
    most = view[ROWS + row]
    if 0 < view[CAP] < most:
        most = view[CAP]
    wanted[0] = place_of(row * MOST + min(int(sticks), int(most)) - 1, actions, n)
    return 1


@compiled()
def or_any(wishes, n, wanted):
    """Keep the wishes, or wish everything where there are none."""
    if wishes == 0:
        for i in range(n):
            wanted[i] = i
        return n
    return wishes


@compiled()
def by_sticks(view, actions, n, wanted, odd):
    """Wish to leave an even or an odd number of sticks in all."""
    sticks = sticks_in_all(view)
    wishes = 0
    for i in range(n):
        if (sticks - taken_by(actions[i])) & 1 == odd:
            wanted[wishes] = i
            wishes += 1
    return or_any(wishes, n, wanted)


@compiled()
def by_rows(view, actions, n, wanted, odd):
    """Wish to leave an even or an odd number of rows with sticks."""
    rows = rows_with_sticks(view)
    wishes = 0
    for i in range(n):
        if (rows - (left(view, actions[i]) == 0)) & 1 == odd:
            wanted[wishes] = i
            wishes += 1
    return or_any(wishes, n, wanted)


@compiled()
def by_nim_sum(view, actions, n, wanted, zero):
    """Wish to leave nim-sum 0, or not to."""
    now, long = reckon(view)
    wishes = 0
    for i in range(n):
        if (left_by(view, actions[i], now, long)[0] == 0) == zero:
            wanted[wishes] = i
            wishes += 1
    return or_any(wishes, n, wanted)


# --- strategies that look at one row -------------------------------------------------------------


@compiled()
def gabriele(view, actions, n, wanted):
    """Take as much as it may from the first row that has sticks."""
    return just(view, row_of(actions[0]), MOST, actions, n, wanted)


@compiled()
def random(view, actions, n, wanted):
    """Take any legal move, each equally likely."""
    return or_any(0, n, wanted)


@compiled()
def take_one(view, actions, n, wanted):
    """Take a single stick, from a row drawn by lot."""
    wishes = 0
    for i in range(n):
        if taken_by(actions[i]) == 1:
            wanted[wishes] = i
            wishes += 1
    return wishes


@compiled()
def take_all_but_one(view, actions, n, wanted):
    """Leave one stick in the longest row where it may; else take one from the longest row."""
    most = 0
    for i in range(n):
        if left(view, actions[i]) == 1 and taken_by(actions[i]) > most:
            most = taken_by(actions[i])
            wanted[0] = i
    return 1 if most > 0 else just(view, longest(view), 1, actions, n, wanted)


@compiled()
def longest_row(view, actions, n, wanted):
    """Take as much as it may from the longest row, the first of equals."""
    return just(view, longest(view), MOST, actions, n, wanted)


@compiled()
def shortest_row(view, actions, n, wanted):
    """Take as much as it may from the shortest row that has sticks, the first of equals."""
    shortest = row_of(actions[0])
    for row in range(shortest + 1, MOST_ROWS):
        if view[START + row] == 0:
            break
        if 0 < view[ROWS + row] < view[ROWS + shortest]:
            shortest = row
    return just(view, shortest, MOST, actions, n, wanted)


@compiled()
def one_from_longest(view, actions, n, wanted):
    """Take a single stick from the longest row, the first of equals."""
    return just(view, longest(view), 1, actions, n, wanted)


@compiled()
def thin_out(view, actions, n, wanted):
    """Take half of the longest row, rounded up, or as much of that as it may."""
    row = longest(view)
    return just(view, row, (view[ROWS + row] + 1) // 2, actions, n, wanted)


# --- strategies that look at the whole table -----------------------------------------------------


@compiled()
def level(view, actions, n, wanted):
    """Make a row as long as another, at the most sticks; else take one from the longest row."""
    most = 0
    for i in range(n):
        stay = left(view, actions[i])
        if stay <= most:
            continue
        for row in range(MOST_ROWS):
            if view[START + row] == 0:
                break
            if view[ROWS + row] == stay:  # never its own row, which has more
                wanted[0] = i
                most = stay
                break
    return 1 if most > 0 else just(view, longest(view), 1, actions, n, wanted)


@compiled()
def even(view, actions, n, wanted):
    """Leave an even number of sticks in all; else take any move by lot."""
    return by_sticks(view, actions, n, wanted, 0)


@compiled()
def odd(view, actions, n, wanted):
    """Leave an odd number of sticks in all; else take any move by lot."""
    return by_sticks(view, actions, n, wanted, 1)


@compiled()
def even_rows(view, actions, n, wanted):
    """Leave an even number of rows with sticks; else take any move by lot."""
    return by_rows(view, actions, n, wanted, 0)


@compiled()
def odd_rows(view, actions, n, wanted):
    """Leave an odd number of rows with sticks; else take any move by lot."""
    return by_rows(view, actions, n, wanted, 1)


@compiled()
def finish(view, actions, n, wanted):
    """Leave just the last stick in misère play, none in normal; else take any move by lot."""
    sticks = sticks_in_all(view)
    wishes = 0
    for i in range(n):
        if sticks - taken_by(actions[i]) == view[MISERE]:
            wanted[wishes] = i
            wishes += 1
    return or_any(wishes, n, wanted)


# --- strategies that know the nim-sum ------------------------------------------------------------


@compiled()
def nim_sum(view, actions, n, wanted):
    """Leave nim-sum 0, even at the end of misère play; else take any move by lot."""
    return by_nim_sum(view, actions, n, wanted, True)


@compiled()
def nim_sum_misere(view, actions, n, wanted):
    """Leave nim-sum 0, or odd ones at the misère end; else take one from the longest row."""
    now, long = reckon(view)
    wishes = 0
    for i in range(n):
        if rule_for(view, actions[i], now, long) != LOST:
            wanted[wishes] = i
            wishes += 1
    return wishes if wishes > 0 else just(view, longest(view), 1, actions, n, wanted)


@compiled()
def spoil(view, actions, n, wanted):
    """Leave a nim-sum that is not 0, which is bad play; else take any move by lot."""
    return by_nim_sum(view, actions, n, wanted, False)


# --- the vote ------------------------------------------------------------------------------------

WISHES = {
    "gabriele": gabriele,
    "random": random,
    "take-one": take_one,
    "take-all-but-one": take_all_but_one,
    "longest": longest_row,
    "shortest": shortest_row,
    "one-from-longest": one_from_longest,
    "thin-out": thin_out,
    "level": level,
    "even": even,
    "odd": odd,
    "even-rows": even_rows,
    "odd-rows": odd_rows,
    "finish": finish,
    "nim-sum": nim_sum,
    "nim-sum-misere": nim_sum_misere,
    "spoil": spoil,
}
NIM_SUM = frozenset({"nim-sum", "nim-sum-misere", "spoil"})
VOTERS = tuple(WISHES.values())


@compiled(WISH)
def wish(which, view, actions, n, wanted):
    """Write the places of the actions that a strategy would take; give how many."""
    wishes = 0
    place = 0
    for voter in literal_unroll(VOTERS):
        if place == which:
            wishes = voter(view, actions, n, wanted)
        place += 1  # noqa: SIM113, for what is unrolled cannot be enumerated
    return wishes


@compiled(CHOOSE)
def ballot(rules, view, actions, n, weights, memory, rng):
    """Let every strategy vote with its weight, and take the move with the greatest sum."""
    votes = np.zeros(n)
    wanted = np.empty(n, np.int32)
    for which in range(len(weights)):
        if weights[which] > 0:
            wishes = wish(which, view, actions, n, wanted)
            votes[wanted[below(rng, wishes) if wishes > 1 else 0]] += weights[which]
    return actions[np.argmax(votes)]


STRATEGIES = strategy_kinds(WISHES)
AGENTS = {
    **{name: kind for name, kind in STRATEGIES.items() if name != "random"},
    "expert": EXPERT,
}
# For people: each beats the one below, however the game is set; docs/levels.md says how often.
LEVELS = {
    "easy": "random",
    "medium": "expert:blunders=40%",
    "hard": "expert:blunders=15%",
    "perfect": "perfect",
}
