"""The expert system: a short list of rules, tried in order, that never misses a win.

What a row is worth is its remainder: its sticks modulo k + 1 under a cap k, and simply its sticks
without one. A turn changes the remainder of one row, to any lower one, and to a higher one only in
a row of more than k sticks. The nim-sum is the exclusive or of the remainders; a row is long where
its remainder is over 1. Whoever is to move has lost

  normal   where the nim-sum is 0;
  misère   where some row is long and the nim-sum is 0, or no row is long and it is 1.

Why, in misère: from such a position every move leads out. It changes one remainder, so the nim-sum
changes too, and where it was 0 with long rows there were two of them, so one stays. From any other
position a move leads back. With two long rows it is the usual one: the row that holds the nim-sum's
highest digit becomes shorter. A single long row is cut to 0 or 1, whichever leaves an odd number of
ones. With none, one stick is taken from a row of remainder 1, or else k from any row.

Sources: C. L. Bouton, "Nim, a game with a complete mathematical theory", Annals of Mathematics 3
(1901), without a cap; T. S. Ferguson, "On sums of graph games with last player losing",
International Journal of Game Theory 3 (1974), for games of which k is one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.table import View
from kibitz.games.nim.rules import BITS, CAP, MISERE, MOST, MOST_ROWS, ROWS, START


class ExpertRule(NamedTuple):
    """One rule: its number, its name, and what it says."""

    number: int
    name: str
    sentence: str


ONLY, END_GAME, NIM_SUM_ZERO, LOST = 1, 2, 3, 4

EXPERT_RULES = (
    ExpertRule(ONLY, "only move", "Where there is only one move, take it."),
    ExpertRule(
        END_GAME,
        "misère end-game",
        "In misère play, if a move leaves no long row and an odd number of ones, take it.",
    ),
    ExpertRule(
        NIM_SUM_ZERO,
        "nim-sum",
        "If a move leaves nim-sum 0 (in misère play: and some long row), take it.",
    ),
    ExpertRule(
        LOST,
        "lost",
        "Otherwise all is lost against best play: take one stick from the longest row, "
        "to prolong the game.",
    ),
)


# --- the theory ----------------------------------------------------------------------------------


@compiled()
def row_of(action):
    """Give the row of an action: action // MOST, but faster, for it is never negative."""
    return action >> BITS


@compiled()
def taken_by(action):
    """Give how many sticks an action takes."""
    return (action & (MOST - 1)) + 1


@compiled()
def remainder(sticks, cap):
    """Give what a row is worth."""
    return int(sticks) % (int(cap) + 1) if cap > 0 else int(sticks)


@compiled()
def reckon(view):
    """Give the nim-sum, and how many rows are long."""
    nim_sum = 0
    long = 0
    for row in range(MOST_ROWS):
        if view[START + row] == 0:
            break
        worth = remainder(view[ROWS + row], view[CAP])
        nim_sum ^= worth
        long += worth > 1
    return nim_sum, long


@compiled()
def left_by(view, action, nim_sum, long):
    """Give the same two numbers for what an action leaves."""
    sticks = view[ROWS + row_of(action)]
    before = remainder(sticks, view[CAP])
    after = remainder(sticks - taken_by(action), view[CAP])
    return nim_sum ^ before ^ after, long - (before > 1) + (after > 1)


@compiled()
def rule_for(view, action, nim_sum, long):
    """Name the rule by which an action wins; LOST where it does not."""
    nim_sum, long = left_by(view, action, nim_sum, long)
    if view[MISERE] and long == 0:
        return END_GAME if nim_sum == 1 else LOST
    return NIM_SUM_ZERO if nim_sum == 0 else LOST


@compiled()
def longest(view):
    """Find the longest row, the first of equals."""
    best = 0
    for row in range(1, MOST_ROWS):
        if view[START + row] == 0:
            break
        if view[ROWS + row] > view[ROWS + best]:
            best = row
    return best


# --- the agent -----------------------------------------------------------------------------------


@compiled()
def fired(view, actions, n):
    """Give the first rule that applies, and the first action that follows it."""
    if n == 1:
        return ONLY, int(actions[0])
    nim_sum, long = reckon(view)
    first = LOST
    action = longest(view) * MOST
    for i in range(n):
        rule = rule_for(view, actions[i], nim_sum, long)
        if rule < first:
            first = rule
            action = int(actions[i])
    return first, action


@compiled(CHOOSE)
def expert(rules, view, actions, n, weights, memory, rng):
    """Follow the nim-sum and the misère end-game by rules; win whatever can be won."""
    return fired(view, actions, n)[1]


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """Give 1 to what wins by a rule, -1 to what loses."""
    nim_sum, long = reckon(view)
    for i in range(n):
        out[i] = -1.0 if rule_for(view, actions[i], nim_sum, long) == LOST else 1.0


# --- in words ------------------------------------------------------------------------------------


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say which rule fired, with the nim-sum in binary digits, and what each option leaves."""
    options = view.legal
    number, action = fired(view.cells, np.array(options, np.int32), len(options))
    nim_sum, long = reckon(view.cells)
    misere = view.game.settings["misere"]
    notes = {}
    for option in options:
        left, still_long = left_by(view.cells, option, nim_sum, long)
        notes[option] = (
            f"leaves nim-sum {left}{', no long row' if misere and not still_long else ''}"
        )
    if number == ONLY:
        then = "there is nothing else to take"
    elif number == LOST:
        then = "every move loses against best play, and one stick from the longest row prolongs it"
    else:
        then = f"{view.say(action)} {notes[action]}"
    reason = f"Rule {number}, {EXPERT_RULES[number - 1].name}: {_sum(view)}; {then}."
    values = dict(zip(options, agent.values(view, options), strict=True))
    return opinion(view, action, reason, values, notes)


def _sum(view: View) -> str:
    """Write the nim-sum out: 'rows 3, 5 (binary 011, 101) have nim-sum 6 (110)'."""
    cap = view.game.settings["k"]
    rows = [int(sticks) for sticks in view["rows"] if sticks]
    worths = [int(remainder(sticks, cap)) for sticks in rows]
    nim_sum = int(reckon(view.cells)[0])
    width = max(*worths, 1).bit_length()
    modulo = f"modulo {cap + 1}: {_listed(worths)}; " if cap else ""
    digits = _listed([f"{worth:0{width}b}" for worth in worths])
    what, have = ("rows", "have") if len(rows) > 1 else ("row", "has")
    return (
        f"{what} {_listed(rows)} ({modulo}binary {digits}) {have} "
        f"nim-sum {nim_sum} ({nim_sum:0{width}b})"
    )


def _listed(items: Sequence[object]) -> str:
    return ", ".join(map(str, items))


EXPERT = Kind(choose=expert, value=value, explain=_explain, games=("nim",))
