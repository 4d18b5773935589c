"""Playing by a trained network: compiled inference, which needs nothing but NumPy."""

from __future__ import annotations

import math

import numpy as np

from kibitz.core.chance import draw_best, uniform
from kibitz.core.compiled import CHOOSE, compiled, compiled_loop
from kibitz.core.game import copy_cells
from kibitz.neural.attention import see_tokens
from kibitz.neural.boards import describe_options
from kibitz.neural.dense import add_product, dense, put_bias, rectify
from kibitz.neural.shape import (
    ACTIONS,
    AHEAD,
    BLOCKS,
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
    UNITS,
    WIDTH,
)


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


@compiled_loop
def think(rules, view, actions, n, weights, logits):
    """Write what the policy gives each option, before they become chances; give the value."""
    view = as_trained(view, weights)
    count = int(weights[FEATURES])
    features = np.zeros(count, np.float32)
    rules.observe(view, features)
    convolutions, blocks = int(weights[CONVOLUTIONS]), int(weights[BLOCKS])
    vector, seen = count, 0
    if convolutions > 0:
        vector = int(weights[PLANES_FIRST])
        seen = int(weights[LAYERS + convolutions - 1])
    if blocks > 0:
        vector, seen = 0, int(weights[UNITS])
    x = np.zeros(vector + 2 * seen, np.float32)
    for feature in range(vector):
        x[feature] = features[feature]
    at = FIRST
    cells = np.zeros((0, 0), np.float32)
    if convolutions > 0:
        cells, at = see_planes(features, weights, x)
    if blocks > 0:
        cells, at = see_tokens(features, weights, x)
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


@compiled_loop
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
    """Take what the network gives most; with a temperature, now and then another."""
    if n == 1:
        return actions[0]
    chances = np.empty(n)
    think(rules, view, actions, n, weights, chances)
    temperature = float(weights[TEMPERATURE])
    if temperature <= 0.0:
        return actions[draw_best(rng, chances, n)]
    to_chances(chances, n, np.float64(temperature))
    drawn = uniform(rng)
    for i in range(n):
        drawn -= chances[i]
        if drawn < 0.0:
            return actions[i]
    return actions[draw_best(rng, chances, n)]
