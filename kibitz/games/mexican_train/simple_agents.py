"""Players of Mexican train.

Each gives a value to every option and takes the greatest, or the least; an agent in plain Python
does the same by `values` and `pick` of `kibitz.Agent`. Passing and drawing are never a choice.
"""

from __future__ import annotations

import math

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.chance import draw_best, uniform
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.table import View
from kibitz.games.mexican_train.cells import PASS
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES

DOUBLE_WORTH = 1e9  # what a double is worth to those who lay every double at once


@compiled()
def pips_of(action):
    """Count the pips of the tile that an action lays; 0 for passing and drawing."""
    return 0.0 if action >= PASS else float(LOW[action % MOST_TILES] + HIGH[action % MOST_TILES])


@compiled()
def is_double(action):
    """Tell whether an action lays a double."""
    return action < PASS and LOW[action % MOST_TILES] == HIGH[action % MOST_TILES]


@compiled(VALUE)
def equal_values(rules, view, actions, n, weights, memory, out):
    """Every option is worth the same."""
    for i in range(n):
        out[i] = 1.0


@compiled(CHOOSE)
def default(rules, view, actions, n, weights, memory, rng):
    """Take an option by lot, as likely as its value (Thompson sampling); all are worth the same."""
    values = np.empty(n)
    equal_values(rules, view, actions, n, weights, memory, values)
    point = uniform(rng) * values.sum()
    for i in range(n):
        point -= values[i]
        if point < 0.0:
            return actions[i]
    return actions[n - 1]


@compiled(VALUE)
def pips_values(rules, view, actions, n, weights, memory, out):
    """An option is worth the pips of its tile."""
    for i in range(n):
        out[i] = pips_of(actions[i])


@compiled(CHOOSE)
def greedy(rules, view, actions, n, weights, memory, rng):
    """Lay the tile with most pips."""
    values = np.empty(n)
    pips_values(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, values, n)]


@compiled(CHOOSE)
def stupid(rules, view, actions, n, weights, memory, rng):
    """Lay the tile with fewest pips."""
    values = np.empty(n)
    pips_values(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, -values, n)]


@compiled(VALUE)
def double_values(rules, view, actions, n, weights, memory, out):
    """A double is worth more than anything, another tile its pips."""
    for i in range(n):
        out[i] = pips_of(actions[i]) + (DOUBLE_WORTH if is_double(actions[i]) else 0.0)


@compiled(CHOOSE)
def double(rules, view, actions, n, weights, memory, rng):
    """Lay a double if it can, for another turn; otherwise the tile with most pips."""
    values = np.empty(n)
    double_values(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, values, n)]


def endless(values):
    """Show what counts above all as infinite."""
    return [math.inf if value >= DOUBLE_WORTH else value for value in values]


def _explain_double(agent: CompiledAgent, view: View) -> Opinion:
    options = view.legal
    action = agent.tried(view)
    reason = (
        "A double gives another turn." if is_double(action) else "Most pips, for no double fits."
    )
    if len(options) == 1:
        reason = "There is nothing else to do."
    values = dict(zip(options, endless(agent.values(view, options)), strict=True))
    return opinion(view, action, reason, values)


SIMPLE = {
    "default": Kind(choose=default, value=equal_values),
    "greedy": Kind(choose=greedy, value=pips_values),
    "stupid": Kind(choose=stupid, value=pips_values),
    "double": Kind(choose=double, value=double_values, explain=_explain_double),
}
