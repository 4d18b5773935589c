"""The agent that plays by a trained network: compiled inference, which needs nothing but NumPy."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.chance import draw_best, uniform
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.errors import BadModel, BadOption, Misuse
from kibitz.core.game import Game, copy_cells
from kibitz.core.models import load_model, made_for, own_models
from kibitz.core.options import Real, Text, settle
from kibitz.core.table import View
from kibitz.learners.ppo.boards import describe_options
from kibitz.learners.ppo.shape import (
    ACTIONS,
    AHEAD,
    CONVOLUTIONS,
    FEATURES,
    FIRST,
    HEIGHT,
    LAYERS,
    MOST_LAYERS,
    OPTION,
    PLANES_COUNT,
    PLANES_FIRST,
    PROSPECTS,
    SENSE_CELLS,
    SENSES,
    TEMPERATURE,
    TRUNK,
    WIDTH,
    Shape,
    check_weights,
    flat,
    shape_of,
)

MODEL = "policy"


@compiled()
def add_product(x, inputs, weights, at, outputs, out):
    """Add x times the weights that begin at a place to what `out` holds; give where they end."""
    for i in range(inputs):
        factor = x[i]
        if factor != 0.0:
            row = at + i * outputs
            for j in range(outputs):
                out[j] += factor * weights[row + j]
    return at + inputs * outputs


@compiled()
def put_bias(weights, at, outputs, out):
    """Begin `out` with the bias at a place; give where it ends."""
    for j in range(outputs):
        out[j] = weights[at + j]
    return at + outputs


@compiled()
def rectify(out, outputs):
    """Keep what is above zero."""
    for j in range(outputs):
        if out[j] < 0.0:
            out[j] = 0.0


@compiled()
def dense(x, inputs, weights, at, outputs, out):
    """Apply a layer; give where its weights end."""
    end = put_bias(weights, at + inputs * outputs, outputs, out)
    add_product(x, inputs, weights, at, outputs, out)
    return end


@compiled()
def convolve(cells, inputs, height, width, weights, at, outputs, out):
    """Apply a convolution of 3 x 3 to cells [area, inputs]; give where its weights end."""
    bias = at + 9 * inputs * outputs
    for row in range(height):
        for column in range(width):
            target = out[row * width + column]
            put_bias(weights, bias, outputs, target)
            for down in range(-1, 2):
                for right in range(-1, 2):
                    y, x = row + down, column + right
                    if 0 <= y < height and 0 <= x < width:
                        place = at + (3 * (down + 1) + right + 1) * inputs * outputs
                        add_product(cells[y * width + x], inputs, weights, place, outputs, target)
            rectify(target, outputs)
    return bias + outputs


@compiled()
def see_planes(features, weights, inputs):
    """Apply all convolutions; write mean and greatest over all cells behind the vector.

    Gives what they make of every cell, and where their weights end.
    """
    first, count = int(weights[PLANES_FIRST]), int(weights[PLANES_COUNT])
    height, width = int(weights[HEIGHT]), int(weights[WIDTH])
    area = height * width
    cells = np.zeros((area, max(1, count)), np.float32)
    for plane in range(count):
        for cell in range(area):
            cells[cell, plane] = features[first + plane * area + cell]
    at = FIRST
    outputs = 0
    for layer in range(int(weights[CONVOLUTIONS])):
        outputs = int(weights[LAYERS + layer])
        out = np.empty((area, outputs), np.float32)
        at = convolve(cells, cells.shape[1], height, width, weights, at, outputs, out)
        cells = out
    for channel in range(outputs):
        total, greatest = 0.0, -np.inf
        for cell in range(area):
            total += cells[cell, channel]
            greatest = max(greatest, cells[cell, channel])
        inputs[first + channel] = total / area
        inputs[first + outputs + channel] = greatest
    return cells, at


@compiled()
def as_trained(view, weights):
    """Copy a view, and set what learners see as it was in training."""
    own = np.empty_like(view)
    copy_cells(view, own)
    for place in range(int(weights[SENSES])):
        cell = int(weights[SENSE_CELLS + 2 * place])
        own[cell] = int(weights[SENSE_CELLS + 2 * place + 1])
    return own


@compiled()
def think(rules, view, actions, n, weights, logits):
    """Write what the policy gives each option, before they become chances; give the value."""
    view = as_trained(view, weights)
    count = int(weights[FEATURES])
    features = np.zeros(count, np.float32)
    rules.observe(view, features)
    convolutions = int(weights[CONVOLUTIONS])
    vector, seen = count, 0
    if convolutions > 0:
        vector = int(weights[PLANES_FIRST])
        seen = int(weights[LAYERS + convolutions - 1])
    x = np.zeros(vector + 2 * seen, np.float32)
    for feature in range(vector):
        x[feature] = features[feature]
    at = FIRST
    cells = np.zeros((0, 0), np.float32)
    if convolutions > 0:
        cells, at = see_planes(features, weights, x)
    inputs = len(x)
    for layer in range(int(weights[TRUNK])):
        outputs = int(weights[LAYERS + MOST_LAYERS + layer])
        out = np.empty(outputs, np.float32)
        at = dense(x, inputs, weights, at, outputs, out)
        rectify(out, outputs)
        x, inputs = out, outputs
    value = np.empty(1, np.float32)
    at = dense(x, inputs, weights, at, 1, value)
    numbered = int(weights[ACTIONS])
    if numbered > 0:
        out = np.empty(numbered, np.float32)
        dense(x, inputs, weights, at, numbered, out)
        for i in range(n):
            logits[i] = out[actions[i]]
    else:
        weigh_options(rules, view, actions, n, weights, at, x, cells, seen, logits)
    return float(value[0])


@compiled()
def weigh_options(rules, view, actions, n, weights, at, x, cells, seen, logits):
    """Write what the policy gives each option, by its prospects."""
    count = int(weights[PROSPECTS])
    prospects = np.zeros((n, 1 + count), np.float32)
    describe_options(rules, view, actions, n, weights[AHEAD] > 0.0, prospects)
    layers = int(weights[OPTION])
    first = int(weights[LAYERS + 2 * MOST_LAYERS])
    # What the first layer makes of the trunk is the same for all options.
    common = np.empty(first, np.float32)
    put_bias(weights, at + (len(x) + seen + count) * first, first, common)
    of_cell = add_product(x, len(x), weights, at, first, common)
    of_prospects = of_cell + seen * first
    after = of_prospects + (count + 1) * first
    for i in range(n):
        out = common.copy()
        place = int(prospects[i, 0])
        if seen > 0 and place >= 0:
            add_product(cells[place], seen, weights, of_cell, first, out)
        add_product(prospects[i, 1:], count, weights, of_prospects, first, out)
        rectify(out, first)
        at, inputs = after, first
        for layer in range(1, layers):
            outputs = int(weights[LAYERS + 2 * MOST_LAYERS + layer])
            fresh = np.empty(outputs, np.float32)
            at = dense(out, inputs, weights, at, outputs, fresh)
            rectify(fresh, outputs)
            out, inputs = fresh, outputs
        answer = np.empty(1, np.float32)
        dense(out, inputs, weights, at, 1, answer)
        logits[i] = answer[0]


@compiled()
def to_chances(logits, n, temperature):
    """Turn what the policy gives into chances; a low temperature makes the best one likelier."""
    top = logits[0]
    for i in range(1, n):
        top = max(top, logits[i])
    total = 0.0
    for i in range(n):
        logits[i] = math.exp((logits[i] - top) / temperature)
        total += logits[i]
    for i in range(n):
        logits[i] /= total


@compiled(CHOOSE)
def choose(rules, view, actions, n, weights, memory, rng):
    """Play by a network that has learned from playing: `kibitz train GAME ppo`."""
    if n == 1:
        return actions[0]
    chances = np.empty(n)
    think(rules, view, actions, n, weights, chances)
    temperature = float(weights[TEMPERATURE])
    if temperature <= 0.0:
        return actions[draw_best(rng, chances, n)]
    to_chances(chances, n, temperature)
    drawn = uniform(rng)
    for i in range(n):
        drawn -= chances[i]
        if drawn < 0.0:
            return actions[i]
    return actions[draw_best(rng, chances, n)]


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """The chance with which the policy would take each option, at a temperature of 1 or more."""
    think(rules, view, actions, n, weights, out)
    to_chances(out, n, max(1.0, float(weights[TEMPERATURE])))


def thoughts_of(agent: CompiledAgent, view: View) -> tuple[np.ndarray, float]:
    """Give the chances of all legal actions, and what the position is worth to its viewer."""
    actions = np.array(view.legal, np.int32)
    chances = np.empty(len(actions))
    worth = float(
        think(agent.game.rules, view.cells, actions, len(actions), agent.weights, chances)
    )
    to_chances(chances, len(actions), max(1.0, float(agent.weights[TEMPERATURE])))
    return chances, worth


class Meaning:
    """What the value of a position stands for: the aim of the training, the scale of rewards."""

    def __init__(self, aim: str, scale: float, seats: int) -> None:
        self.aim, self.scale, self.seats = aim, scale, seats

    def say(self, worth: float) -> str:
        """Put a value into words."""
        amount = worth / self.scale
        if self.aim == "win":
            chance = min(1.0, max(0.0, amount + 1.0 / self.seats))
            return f"a chance of {chance:.0%} to win"
        unit = {"points": "points to come", "margin": "points to gain on the best other"}
        return f"{amount:+.1f} {unit.get(self.aim, 'rewards to come')}"

    def explain(self, agent: CompiledAgent, view: View) -> Opinion:
        """Say how likely the policy is to take each option, and what it thinks of the position."""
        chances, worth = thoughts_of(agent, view)
        action = agent.tried(view)
        legal = view.legal
        chance = float(chances[legal.index(action)])
        reason = f"Its policy takes this with {chance:.0%}; it expects {self.say(worth)}."
        notes = {option: f"{share:.1%}" for option, share in zip(legal, chances, strict=True)}
        return opinion(view, action, reason, dict(zip(legal, chances.tolist(), strict=True)), notes)


def kind_of(
    game: Game, shape: Shape, weights: Mapping[str, np.ndarray], meaning: Meaning,
    temperature: float = 0.0,
) -> Kind:  # fmt: skip
    """Make the kind of agent that plays by these weights. game: as it was in training."""
    packed = flat(game, shape, weights, temperature)
    return Kind(
        choose=choose, value=value, weights=lambda *_: packed, name=MODEL, explain=meaning.explain
    )


def load_policy(
    path: str | Path, game: Game
) -> tuple[Game, Shape, dict[str, np.ndarray], dict[str, Any]]:
    """Read a model: the game as it was in training, the network, and what was noted about it."""
    weights, about = load_model(path, MODEL, game, any_senses=True)
    trained_on = made_for(path, game)
    layers = about.get("layers")
    if not isinstance(layers, dict) or not all(isinstance(of, str) for of in layers.values()):
        raise BadModel(f"'{path}' is a damaged model: it does not say which layers it has.")
    try:
        shape = shape_of(trained_on, **layers)
    except (BadOption, TypeError) as error:
        raise BadModel(f"'{path}' is a damaged model: {error}") from error
    check_weights(weights, shape, f"'{path}'")
    scale = about.get("scale")
    if not isinstance(scale, float | int) or not 0.0 < scale < math.inf or "aim" not in about:
        raise BadModel(f"'{path}' is a damaged model: it does not say what its values mean.")
    return trained_on, shape, weights, about


class PolicyKind:
    """Play by a network that has learned from playing."""

    options = (
        Text(name="model", default="", help="a model that ppo made"),
        Real(
            name="temperature", default=0.0, low=0.0, high=100.0,
            help="0 plays the likeliest move, 1 as likely as in training, more is weaker",
        ),
    )  # fmt: skip

    def summary(self) -> str:
        """Say in a line who this is."""
        return str(self.__doc__)

    def unfit(self, game: Game) -> str | None:
        """Say why it cannot play a game, or None."""
        if own_policy(game) is None:
            return f"no network comes with it; train one: kibitz train {game.typed()} ppo"
        return None

    def __call__(self, game: Game, **settings: Any) -> CompiledAgent:
        """Make the agent from a model, or from what comes with the game."""
        chosen = settle(self.options, settings, MODEL)
        path = chosen["model"] or own_policy(game)
        if not path:
            raise Misuse(
                f"No network comes with {game.described()}; train one: "
                f"kibitz train {game.typed()} ppo"
            )
        trained_on, shape, weights, about = load_policy(path, game)
        meaning = Meaning(str(about["aim"]), float(about["scale"]), game.players)
        return kind_of(trained_on, shape, weights, meaning, chosen["temperature"])(game)


def own_policy(game: Game) -> Path | None:
    """Find the model that comes with a game as it is set."""
    fitting = (
        path
        for path in own_models(game, MODEL)
        if game.is_same_but_for_senses(made_for(path, game))
    )
    return next(fitting, None)


POLICY = PolicyKind()
