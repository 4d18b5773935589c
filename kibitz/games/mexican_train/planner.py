"""A player who reckons with the turns that are left.

What best-line and persistent-line miss, the seed names itself: what counts is to be rid of pips
before the hand ends, and that depends on how soon somebody else will be out. In play, the chance
that a hand still goes on at one's turn t from now stays near 1 for almost as many turns as the
seat with fewest tiles has tiles, and then falls steeply; a geometric discount is nothing like it.

So the planner values an option by the pips that it expects to get out: those of the tile itself,
and of the best line that is then left, each weighted by the chance that its turn still comes. Tiles
that fit only elsewhere are laid while they can be, for one's own line waits: only its owner can
play there, unless their penny is up.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.compiled import CHOOSE, VALUE, compiled, compiled_loop
from kibitz.core.game import SEATS, VIEWER, Game
from kibitz.core.options import Option, Real
from kibitz.core.table import View
from kibitz.games.mexican_train.cells import END, PASS, PENNY, TILES
from kibitz.games.mexican_train.dive import (
    DESK,
    IN,
    ROWS,
    TURNS,
    dive,
    lay_out,
    toggle,
    write_path,
)
from kibitz.games.mexican_train.simple_agents import DOUBLE_WORTH, is_double
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES
from kibitz.games.mexican_train.words import tile_name

# Weights: what was set.
TURNS_PER_TILE, SPARE_TURNS, SPREAD, OPEN_RISK = 0, 1, 2, 3
NODES = 3_000  # tiles to try for each option: far more than are needed for 20 tiles
NOW, NEXT = 0, 1  # whether the line after an option begins in this turn or in the next


@compiled_loop
def turns_left(view, weights):
    """Guess how many more turns there will be, from the fewest tiles that another holds."""
    fewest = MOST_TILES
    for seat in range(view[SEATS]):
        if seat != view[VIEWER]:
            fewest = min(fewest, int(view[TILES + seat]))
    return weights[TURNS_PER_TILE] * fewest + weights[SPARE_TURNS]


@compiled_loop
def weigh_turns(view, weights, chances):
    """Write the chance that the hand goes on till each turn; chances [2, 2, TURNS].

    Lines that begin now, and those that begin with the next turn, each with what a pip is worth
    that goes out, and what one costs that is left: nothing more.
    """
    centre = turns_left(view, weights)
    scale = 1.0 + math.exp(-centre / weights[SPREAD])
    chances[:] = 0.0
    for turn in range(int(view[TILES + view[VIEWER]]) + 3):
        chance = scale / (1.0 + math.exp(min(50.0, (turn - centre) / weights[SPREAD])))
        chances[NOW, IN, turn] = chance
        if turn > 0:
            chances[NEXT, IN, turn - 1] = chance


@compiled_loop
def value_option(view, action, weights, chances, desk, least):
    """Give the pips that an option can be expected to bring out, and the length of the path.

    Where those are less than `least`, minus infinity.
    """
    seat = int(view[VIEWER])
    line, tile = divmod(action, MOST_TILES)
    low, high = int(LOW[tile]), int(HIGH[tile])
    end = int(view[END + seat])
    if line == seat:
        end = low + high - end
    sure = 1.0  # that the own line is still as it is
    if line != seat and low != high and view[PENNY + seat] == 1:
        sure -= weights[OPEN_RISK]
    there = low == high or desk[ROWS + low] >> high & 1  # of huge hands, not all tiles are
    if there:
        toggle(desk, low, high, -1)
    when = NOW if low == high else NEXT
    worth, length = dive(desk, end, TURNS, chances[when], NODES, (least - low - high) / sure)
    if there:
        toggle(desk, low, high, 1)
    return (low + high + sure * worth if length > 0 else -np.inf), length


@compiled(CHOOSE)
def planner(rules, view, actions, n, weights, memory, rng):
    """Get most pips out in the turns that are likely left, on all lines; doubles at once."""
    if n == 1:
        return actions[0]
    desk = np.empty(DESK, np.int64)
    chances = np.empty((2, 2, TURNS))
    weigh_turns(view, weights, chances)
    lay_out(view, desk)
    doubles = False
    for i in range(n):
        doubles |= is_double(actions[i])
    best = -1.0
    place = 0
    for i in range(n):
        if is_double(actions[i]) == doubles:
            value, _ = value_option(view, actions[i], weights, chances, desk, best)
            if value > best:
                best = value
                place = i
    return actions[place]


@compiled(VALUE)
def planned_values(rules, view, actions, n, weights, memory, out):
    """Give the pips that every option can be expected to bring out; doubles count above all."""
    desk = np.empty(DESK, np.int64)
    chances = np.empty((2, 2, TURNS))
    weigh_turns(view, weights, chances)
    lay_out(view, desk)
    for i in range(n):
        out[i] = 0.0
        if actions[i] < PASS:
            out[i], _ = value_option(view, actions[i], weights, chances, desk, -1.0)
            if is_double(actions[i]):
                out[i] += DOUBLE_WORTH


# --- in words ------------------------------------------------------------------------------------


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say what it plans after each option, and with how many turns it reckons."""
    options = view.legal
    action = agent.tried(view)
    notes = {option: _plan(agent, view, option) for option in options if option < PASS}
    if len(options) == 1:
        reason = "There is nothing else to do."
    else:
        turns = max(1.0, turns_left(view.cells, agent.weights))
        ahead = f"about {turns:.0f} more {'turn' if turns < 1.5 else 'turns'} to come"
        if is_double(action):
            reason = f"A double comes first: it gives another turn. With {ahead}, {notes[action]}."
        else:
            reason = f"With {ahead}, this should bring most pips out; {notes[action]}."
    values = {
        option: value if value < DOUBLE_WORTH else value - DOUBLE_WORTH
        for option, value in zip(options, agent.values(view, options), strict=True)
    }
    return opinion(view, action, reason, values, notes)


def _plan(agent: CompiledAgent, view: View, option: int) -> str:
    """Say which line an option leaves."""
    desk = np.empty(DESK, np.int64)
    chances = np.empty((2, 2, TURNS))
    line = np.empty(TURNS, np.int64)
    weigh_turns(view.cells, agent.weights, chances)
    lay_out(view.cells, desk)
    _, length = value_option(view.cells, option, agent.weights, chances, desk, -1.0)
    tile = option % MOST_TILES
    if is_double(option):
        toggle(desk, int(LOW[tile]), int(HIGH[tile]), -1)
    count = write_path(desk, length, line)
    if count == 0:
        return "then nothing fits on its own line"
    return f"then {', '.join(tile_name(int(tile)) for tile in line[:count])} on its own line"


def _weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    return np.array([settings[option.name] for option in OPTIONS], np.float32)


OPTIONS: tuple[Option, ...] = (
    Real(
        name="turns_per_tile", default=0.9, low=0.0, high=10.0,
        help="turns left for each tile of the seat with fewest",
    ),
    Real(
        name="spare_turns", default=0.2, low=-10.0, high=10.0,
        help="turns left besides",
    ),
    Real(
        name="spread", default=1.2, low=0.1, high=100.0,
        help="how unsure it is of the turns left, in turns",
    ),
    Real(
        name="open_risk", default=0.2, low=0.0, high=0.9,
        help="chance that others spoil its line while its penny is up",
    ),
)  # fmt: skip

PLANNER = Kind(
    choose=planner, value=planned_values, weights=_weights, options=OPTIONS, explain=_explain,
    games=("mexican_train",), slow=True,
)  # fmt: skip
