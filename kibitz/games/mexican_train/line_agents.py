"""Players who follow a best line: the seed's best-line and persistent-line.

Both lay every double at once; otherwise the first tile of the best line on their own line is worth
the value of the whole line (see `lines`), every other option its pips, and the greatest is taken.
best-line looks for the best line at every turn; persistent-line keeps the one it has until it is
disrupted. What is not needed for the choice is not searched for.

With smart updates, best-line begins its search with what is left of its last line, and need not
search at all where nothing came between and both discounts are equal: the rest of a best line is
then best again. Off, it begins anew at every turn, and takes as good a line. (The seed updates a
list of all lines instead; `lines.update_lines` is that.)

In a hand of over 20 tiles the best line is what the search in layers finds in about a millisecond,
and where that is longer than `max_line_length`, what a dive finds in as much again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.chance import draw_best, shuffle, uniform
from kibitz.core.compiled import CHOOSE, compiled, compiled_loop
from kibitz.core.game import VIEWER, Game
from kibitz.core.options import Choice, Flag, Option, Real, Whole
from kibitz.core.table import View
from kibitz.games.mexican_train.cells import END, HAND, HOLDER, LENGTH, PASS, TILES, tiles_in_set
from kibitz.games.mexican_train.dive import (
    DESK,
    NODES,
    NONE,
    TURNS,
    dive,
    lay_out,
    write_path,
)
from kibitz.games.mexican_train.dive import IN as IN_LINE
from kibitz.games.mexican_train.dive import OFF as OFF_LINE
from kibitz.games.mexican_train.greatest_value import greatest_value
from kibitz.games.mexican_train.lines import all_lines, line_value
from kibitz.games.mexican_train.simple_agents import (
    DOUBLE_WORTH,
    endless,
    is_double,
    pips_of,
)
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES
from kibitz.games.mexican_train.words import tile_name

# Weights: what was set.
IN_DISCOUNT, OFF_DISCOUNT, TEMPERATURE, LONGEST, SMART, SETTINGS = 0, 1, 2, 3, 4, 5

# Memory: of which hand, at which length of the own line and with how many tiles the line holds;
# whether it is known to be best then; how many tiles, and which.
OF_HAND, AT_LENGTH, WITH_TILES, IS_BEST, COUNT, LINE = 0, 1, 2, 3, 4, 5
MOST_IN_LINE = 80
MEMORY = LINE + MOST_IN_LINE

MOST_TO_DIVE = 20  # tiles of a hand; larger ones are searched in layers
DIVE_NODES = 20_000  # never needed for so few tiles, as far as we have seen
LAYER_NODES = 3_000  # about a millisecond, within one per cent of the best for 45 tiles
MOST_LINES = 4_096  # among which a line is drawn


@compiled()
def has_line(view, memory):
    """Tell whether the line in memory can still be played: nothing came between."""
    seat = view[VIEWER]
    if (
        memory[OF_HAND] != view[HAND] + 1
        or memory[AT_LENGTH] != view[LENGTH + seat]
        or memory[WITH_TILES] != view[TILES + seat]
    ):
        return False
    end = view[END + seat]  # to be sure, for an agent may be asked about any view
    for i in range(memory[COUNT]):
        tile = memory[LINE + i]
        low, high = LOW[tile], HIGH[tile]
        if view[HOLDER + tile] != seat or (low != end and high != end):
            return False
        end = low + high - end
    return True


@compiled()
def keep_place(view, memory):
    """Note to which position the line in memory belongs."""
    seat = view[VIEWER]
    memory[OF_HAND] = view[HAND] + 1
    memory[AT_LENGTH] = view[LENGTH + seat]
    memory[WITH_TILES] = view[TILES + seat]


@compiled()
def own_tiles(view, hand):
    """Write the viewer's tiles, and give how many."""
    n = 0
    for tile in range(tiles_in_set(view)):
        if view[HOLDER + tile] == view[VIEWER]:
            hand[n] = tile
            n += 1
    return n


@compiled()
def worth_of_line(view, weights, memory):
    """Give the value of the line in memory."""
    n = int(view[TILES + view[VIEWER]])
    hand = np.empty(n, np.int64)
    own_tiles(view, hand)
    line = memory[LINE:]
    in_discount, off_discount = np.float64(weights[IN_DISCOUNT]), np.float64(weights[OFF_DISCOUNT])
    return line_value(line, memory[COUNT], hand, n, in_discount, off_discount)


@compiled()
def search(view, weights, memory, rng):
    """Find the best line, or draw one at a temperature, and put it into memory."""
    seat = view[VIEWER]
    n = int(view[TILES + seat])
    end = int(view[END + seat])
    longest = int(weights[LONGEST])
    kept = weights[SMART] > 0.0 and weights[TEMPERATURE] == 0.0 and has_line(view, memory)
    if weights[TEMPERATURE] > 0.0:
        draw_line(view, end, longest, weights, memory, rng)
    elif n > MOST_TO_DIVE:
        search_layers(view, end, longest, weights, memory)
    else:
        search_deep(view, end, longest, weights, memory, kept)
    keep_place(view, memory)


@compiled()
def dive_for_line(view, end, longest, weights, memory, best):
    """Put a line that is worth more than `best` into memory; tell whether that was all."""
    desk = np.empty(DESK, np.int64)
    powers = np.empty((2, TURNS))
    inside, outside = 1.0, 1.0
    for turn in range(min(int(view[TILES + view[VIEWER]]) + 2, TURNS)):
        powers[IN_LINE, turn] = inside
        powers[OFF_LINE, turn] = outside
        inside *= weights[IN_DISCOUNT]
        outside *= weights[OFF_DISCOUNT]
    lay_out(view, desk)
    _, length = dive(desk, end, longest, powers, DIVE_NODES, best)
    if length > 0:
        memory[COUNT] = write_path(desk, length, memory[LINE:])
    return desk[NODES] <= DIVE_NODES


@compiled()
def search_deep(view, end, longest, weights, memory, kept):
    """Find the best line of a small hand; a line that is kept is replaced only by a better one."""
    n = int(view[TILES + view[VIEWER]])
    best = worth_of_line(view, weights, memory) if kept else -np.inf
    whole = dive_for_line(view, end, n, weights, memory, best)
    if memory[COUNT] > longest:
        dive_for_line(view, end, longest, weights, memory, -np.inf)
        whole = False
    memory[IS_BEST] = whole and weights[IN_DISCOUNT] == weights[OFF_DISCOUNT]


@compiled()
def search_layers(view, end, longest, weights, memory):
    """Find a good line of a large hand; where it is too long, look for a better short one."""
    hand = np.empty(int(view[TILES + view[VIEWER]]), np.int64)
    line = np.empty(len(hand), np.int64)
    result = np.empty(4)
    own_tiles(view, hand)
    length = greatest_value(
        hand, end, np.float64(weights[IN_DISCOUNT]), np.float64(weights[OFF_DISCOUNT]), LAYER_NODES,
        line, result,
    )  # fmt: skip
    memory[COUNT] = min(length, longest)
    memory[IS_BEST] = 0
    for i in range(memory[COUNT]):
        memory[LINE + i] = line[i]
    if length > longest:
        best = worth_of_line(view, weights, memory)
        dive_for_line(view, end, longest, weights, memory, best)


@compiled()
def draw_line(view, end, longest, weights, memory, rng):
    """Draw one of all lines, likelier the greater its value: by e to the value / temperature.

    A large hand has more lines than can be looked at; there it is the best one, as far as that can
    be found, and thousands of others by lot.
    """
    n = int(view[TILES + view[VIEWER]])
    hand = np.empty(n, np.int64)
    own_tiles(view, hand)
    shuffle(rng, hand)
    lines = np.empty((MOST_LINES, min(longest, n)), np.int64)
    lengths = np.empty(MOST_LINES, np.int64)
    count, complete = all_lines(hand, n, end, lines, lengths)
    best = -np.inf
    chosen = -1
    if not complete:
        if n > MOST_TO_DIVE:
            search_layers(view, end, longest, weights, memory)
        else:
            search_deep(view, end, longest, weights, memory, False)
        best = worth_of_line(view, weights, memory) + weights[TEMPERATURE] * gumbel(rng)
    in_discount, off_discount = np.float64(weights[IN_DISCOUNT]), np.float64(weights[OFF_DISCOUNT])
    for i in range(count):
        value = line_value(lines[i], lengths[i], hand, n, in_discount, off_discount)
        value += weights[TEMPERATURE] * gumbel(rng)
        if value > best:
            best = value
            chosen = i
    memory[IS_BEST] = 0
    if chosen >= 0:
        memory[COUNT] = lengths[chosen]
        for i in range(lengths[chosen]):
            memory[LINE + i] = lines[chosen, i]


@compiled()
def gumbel(rng):
    """Draw the noise whose addition makes the greatest value a draw by exponentials (Gumbel)."""
    return -math.log(-math.log(1.0 - uniform(rng) + 1e-300) + 1e-300)


@compiled()
def needs_line(view, actions, n):
    """Tell whether the best line matters: a choice with own-line options and no double."""
    own = False
    for i in range(n):
        if is_double(actions[i]):
            return False
        own |= actions[i] // MOST_TILES == view[VIEWER]
    return own and n > 1


@compiled()
def note_play(view, action, memory):
    """Bring the line in memory to where it will be after one's own play."""
    if not has_line(view, memory):
        memory[OF_HAND] = 0
        return
    memory[WITH_TILES] -= 1
    line, tile = divmod(action, MOST_TILES)
    if line == view[VIEWER]:
        memory[AT_LENGTH] += 1
        if memory[COUNT] > 0 and memory[LINE] == tile:
            memory[COUNT] -= 1
            for i in range(memory[COUNT]):
                memory[LINE + i] = memory[LINE + i + 1]
        else:
            memory[OF_HAND] = 0
        return
    memory[IS_BEST] = 0  # if the tile was in the line, has_line will see


@compiled_loop
def settle_line(view, actions, n, weights, memory, rng, persistent):
    """Bring a line that is fit to follow into memory, if one is needed; tell whether it is."""
    if not needs_line(view, actions, n):
        return False
    known = persistent or (weights[SMART] > 0.0 and memory[IS_BEST] != 0)
    if not (known and has_line(view, memory) and memory[COUNT] > 0):
        search(view, weights, memory, rng)
    return True


@compiled_loop
def value_options(view, actions, n, weights, memory, with_line, out):
    """Value the first tile of the line by the whole line, doubles above all, else by pips."""
    first = view[VIEWER] * MOST_TILES + memory[LINE] if with_line else NONE
    for i in range(n):
        out[i] = pips_of(actions[i])
        if is_double(actions[i]):
            out[i] += DOUBLE_WORTH
        elif actions[i] == first:
            out[i] = worth_of_line(view, weights, memory)


@compiled()
def choose_by_line(view, actions, n, weights, memory, rng, persistent):
    """Take the option of greatest value, and remember what it leaves of the line."""
    place = 0
    if n > 1:
        values = np.empty(n)
        with_line = settle_line(view, actions, n, weights, memory, rng, persistent)
        value_options(view, actions, n, weights, memory, with_line, values)
        place = draw_best(rng, values, n)
    if actions[place] < PASS:
        note_play(view, actions[place], memory)
    return actions[place]


@compiled(CHOOSE)
def best_line(rules, view, actions, n, weights, memory, rng):
    """Lay doubles at once, else follow the best line it can find at every turn."""
    return choose_by_line(view, actions, n, weights, memory, rng, False)


@compiled(CHOOSE)
def persistent_line(rules, view, actions, n, weights, memory, rng):
    """Lay doubles at once, else follow a best line until it is disrupted, then find another."""
    return choose_by_line(view, actions, n, weights, memory, rng, True)


# --- in words ------------------------------------------------------------------------------------


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say which line it follows, and what every option is worth."""
    options = view.legal
    actions, n = np.array(options, np.int32), len(options)
    memory, rng = agent.memory.copy(), agent.rng.words.copy()
    persistent = agent.kind.choose is persistent_line
    values = np.zeros(n)
    with_line = settle_line(view.cells, actions, n, agent.weights, memory, rng, persistent)
    value_options(view.cells, actions, n, agent.weights, memory, with_line, values)
    place = int(draw_best(rng, values, n)) if n > 1 else 0
    action, line = options[place], [int(tile) for tile in memory[LINE : LINE + memory[COUNT]]]
    notes = {option: "another turn" for option in options if is_double(option)}
    first = view.seat * MOST_TILES + line[0] if with_line else NONE
    if with_line:
        notes[first] = "begins the line"
    if n == 1:
        reason = "There is nothing else to do."
    elif is_double(action):
        reason = "A double gives another turn, so it is always worth laying."
    elif not with_line:
        reason = "Nothing fits on its own line; elsewhere the most pips are worth most."
    elif action == first:
        reason = f"It begins its best line, worth {values[place]:.1f}: {_listed(line)}."
    else:
        worth = values[options.index(first)]
        reason = f"The pips are worth more than its best line, {worth:.1f}: {_listed(line)}."
    shown = dict(zip(options, endless(values.tolist()), strict=True))
    return opinion(view, action, reason, shown, notes)


def _listed(tiles: list[int]) -> str:
    return ", ".join(map(tile_name, tiles))


def _weights(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    # persistent-line does not search while it has a line, so it has no smart updates to set.
    return np.array([settings.get(option.name, True) for option in OPTIONS], np.float32)


OPTIONS: tuple[Option, ...] = (
    Real(
        name="in_line_discount", default=0.9, low=0.0, high=1.0,
        help="what a pip in the line is worth for each turn that it must wait",
    ),
    Real(
        name="off_line_discount", default=0.9, low=0.0, high=1.0,
        help="what a pip outside the line costs for each turn of the line",
    ),
    Real(
        name="line_temperature", default=0.0, low=0.0, high=1000.0,
        help="draws a line by its value instead of taking the best; 0 takes the best",
    ),
    Whole(
        name="max_line_length", default=12, low=1, high=MOST_IN_LINE,
        help="tiles in a line, at most",
    ),
    Flag(
        name="smart_update", default=True,
        help="goes on from the last line instead of searching anew; as good, and faster",
    ),
)  # fmt: skip

# As the project that these players come from has them set. Its line temperature is left out: it
# has one, and takes the best line all the same.
SEED = {"in_line_discount": 0.9, "off_line_discount": 0.7, "max_line_length": 12}
PRESET = Choice(
    name="preset", default="usual", names=("usual", "seed"),
    help="seed sets off_line_discount to 0.7, as the project has it that they come from",
)  # fmt: skip

BEST_LINE = Kind(
    choose=best_line, name="best-line", memory=MEMORY, weights=_weights,
    options=(*OPTIONS, PRESET), presets={"seed": SEED}, explain=_explain,
    games=("mexican_train",), slow=True,
)  # fmt: skip
PERSISTENT_LINE = Kind(
    choose=persistent_line, name="persistent-line", memory=MEMORY, weights=_weights,
    options=(*OPTIONS[:SMART], PRESET), presets={"seed": SEED}, explain=_explain,
    games=("mexican_train",), slow=True,
)  # fmt: skip
