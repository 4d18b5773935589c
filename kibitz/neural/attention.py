"""Playing by a transformer: attention over tokens, compiled. See tokens.py for the layers."""

from __future__ import annotations

import math

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.neural.dense import dense, rectify
from kibitz.neural.shape import BLOCKS, FIRST, HEADS, KINDS, THINGS, UNITS
from kibitz.neural.tokens import WIDER

SMALL = 1e-5  # added to the variance


@compiled()
def normalize(token, width, out):
    """Write the token with mean 0 and variance 1."""
    mean, square = 0.0, 0.0
    for i in range(width):
        mean += token[i]
    mean /= width
    for i in range(width):
        square += (token[i] - mean) ** 2
    factor = 1.0 / math.sqrt(square / width + SMALL)
    for i in range(width):
        out[i] = (token[i] - mean) * factor


@compiled()
def make_tokens(features, weights, width, tokens, things):
    """Write `read` and the token of each thing that is there; return their count, and the end.

    tokens [1 + things, width]. things: which one each token after `read` is.
    """
    at = FIRST
    for i in range(width):
        tokens[0, i] = weights[at + i]
    at += width
    n, first = 1, 0
    for _ in range(int(weights[KINDS])):
        count, columns = int(weights[at]), int(weights[at + 1])
        known = at + 2 + count * columns
        layer = known + count * width
        for thing in range(count):
            is_there = False
            token = tokens[n]
            for column in range(columns):
                place = int(weights[at + 2 + thing * columns + column])
                if place < 0 or features[place] == 0.0:
                    continue
                if not is_there:
                    is_there = True
                    for i in range(width):
                        token[i] = weights[known + thing * width + i]
                for i in range(width):
                    token[i] += features[place] * weights[layer + column * width + i]
            if is_there:
                things[n - 1] = first + thing
                n += 1
        first += count
        at = layer + columns * width
    return n, at


@compiled()
def mix_tokens(parts, n, width, heads, mixed):
    """Write what attention gives each token. parts [n, 3 * width]: queries, keys, values."""
    size = width // heads
    shares = np.empty(n)
    mixed[:n] = 0.0
    for head in range(heads):
        query, key, value = head * size, width + head * size, 2 * width + head * size
        for token in range(n):
            top = -np.inf
            for other in range(n):
                score = 0.0
                for i in range(size):
                    score += parts[token, query + i] * parts[other, key + i]
                shares[other] = score / math.sqrt(size)
                top = max(top, shares[other])
            total = 0.0
            for other in range(n):
                shares[other] = math.exp(shares[other] - top)
                total += shares[other]
            for other in range(n):
                share = shares[other] / total
                for i in range(size):
                    mixed[token, query + i] += share * parts[other, value + i]


@compiled()
def apply_block(tokens, n, width, heads, weights, at):
    """Apply a block to n tokens in place; return where its weights end."""
    normal = np.empty(width, np.float32)
    added = np.empty(width, np.float32)
    between = np.empty(WIDER * width, np.float32)
    parts = np.empty((n, 3 * width), np.float32)
    mixed = np.empty((n, width), np.float32)
    mix = at + (width + 1) * 3 * width
    up = mix + (width + 1) * width
    down = up + (width + 1) * WIDER * width
    for token in range(n):
        normalize(tokens[token], width, normal)
        dense(normal, width, weights, at, 3 * width, parts[token])
    mix_tokens(parts, n, width, heads, mixed)
    for token in range(n):
        dense(mixed[token], width, weights, mix, width, added)
        tokens[token] += added
        normalize(tokens[token], width, normal)
        dense(normal, width, weights, up, WIDER * width, between)
        rectify(between, WIDER * width)
        dense(between, WIDER * width, weights, down, width, added)
        tokens[token] += added
    return down + (WIDER * width + 1) * width


@compiled()
def see_tokens(features, weights, inputs):
    """Apply the transformer; write what `read` holds, and the mean of all others, into `inputs`.

    Returns what it makes of every thing, 0 of those that are not there, and where its weights end.
    """
    width, count = int(weights[UNITS]), int(weights[THINGS])
    tokens = np.empty((1 + count, width), np.float32)
    things = np.empty(count, np.int64)
    n, at = make_tokens(features, weights, width, tokens, things)
    for _ in range(int(weights[BLOCKS])):
        at = apply_block(tokens, n, width, int(weights[HEADS]), weights, at)
    cells = np.zeros((count, width), np.float32)
    normalize(tokens[0], width, inputs)
    for token in range(1, n):
        cell = cells[things[token - 1]]
        normalize(tokens[token], width, cell)
        for i in range(width):
            inputs[width + i] += cell[i] / (n - 1)
    return cells, at
