"""The layers of the search for the greatest value: states, each once, the most promising of them.

A state is packed into words: bits for the tiles left, and marks for all else that what follows
depends on. A layer is an array of states with a hash table.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.games.mexican_train.tiles import NUMBERS
from kibitz.games.mexican_train.value_bounds import PAIRS, SINGLES

WORD, HALF = 60, (1 << 30) - 1  # tiles in a word: so no step can overflow, compiled or not

LEFT, MORE, MARKS, FROM, STATE_CELLS = 0, 1, 2, 3, 4  # a state: tiles left, marks, where it is from
SO_FAR, CAN_BE, WORTH_CELLS = 0, 1, 2  # its value so far, and a bound on what it can become
KNOWN, DONE, COUNT, AGE, DEPTH, BUDGET = 0, 1, 2, 3, 4, 5  # tallies of a search
BEST_FROM, BEST_END, BEST_HELD, TALLIES = 6, 7, 8, 9
BEST, DROPPED, SCORES = 0, 1, 2  # the best value so far, the greatest bound of what was dropped


@compiled(inline=True)
def marks_of(end, held, seen, reach, out):
    """Pack what a state knows: open end, number held back or NONE, bits of numbers, pips out."""
    return end | (held + 1) << 4 | seen << 9 | reach << 25 | out << 41


@compiled(inline=True)
def tiles_left(left, more, reach, facts, rows, pairs):
    """Write rows and pairs of the tiles left that can be reached; give how many.

    pairs [MOST_SINGLES]: two numbers and the place among the facts, most pips first.
    """
    for number in range(NUMBERS):
        rows[number] = 0
    n = 0
    for place in range(facts[SINGLES]):
        there = left >> place if place < WORD else more >> (place - WORD)
        low, high = facts[PAIRS + place] & 15, facts[PAIRS + place] >> 4
        if there & 1 and reach >> low & 1:
            rows[low] |= 1 << high
            rows[high] |= 1 << low
            pairs[n] = low | high << 4 | place << 8
            n += 1
    return n


@compiled(inline=True)
def slot_for(left, more, marks, layer, slots, stamp):
    """Find the slot that holds a state of the next layer, or the free one where it belongs."""
    mixed = 2166136261
    for word in (left & HALF, left >> 30, more & HALF, more >> 30, marks & 0x1FF):
        mixed = ((mixed ^ word) * 16777619) & 0xFFFFFFFF
        mixed ^= mixed >> 15
    slot = mixed & (len(slots) - 1)
    while slots[slot] >= stamp:
        at = slots[slot] - stamp
        if layer[at, LEFT] == left and layer[at, MARKS] == marks and layer[at, MORE] == more:
            break
        slot = (slot + 1) & (len(slots) - 1)
    return slot


@compiled(inline=True)
def put(left, more, marks, origin, value, bound, layer, worth, slots, tally):
    """Put a state into the next layer, unless it is there with no less value."""
    stamp = tally[AGE] << 32
    slot = slot_for(left, more, marks, layer, slots, stamp)
    at = slots[slot] - stamp
    fresh = at < 0
    if fresh:
        at = tally[COUNT]
        tally[COUNT] += 1
        slots[slot] = stamp + at
        layer[at, LEFT] = left
        layer[at, MORE] = more
        layer[at, MARKS] = marks
    if fresh or value > worth[at, SO_FAR]:
        layer[at, FROM] = origin
        worth[at, SO_FAR] = value
        worth[at, CAN_BE] = bound


@compiled()
def nth_greatest(values, n):
    """Give the n-th greatest value, reordering all (Hoare, Algorithm 65: Find, CACM 4, 1961)."""
    low, high = 0, len(values) - 1
    while low < high:
        pivot = values[(low + high) // 2]
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if n - 1 <= j:
            high = j
        elif n - 1 >= i:
            low = i
        else:
            break
    return values[n - 1]


@compiled()
def narrow(layer, worth, slots, width, tally, scores):
    """Drop all but the most promising states of the next layer, and note what they promised."""
    bounds = np.empty(tally[COUNT])
    for i in range(tally[COUNT]):
        bounds[i] = worth[i, CAN_BE]
    least = nth_greatest(bounds, width)
    equals = width
    for i in range(tally[COUNT]):
        equals -= worth[i, CAN_BE] > least
    tally[AGE] += 1
    kept = 0
    for i in range(tally[COUNT]):
        bound = worth[i, CAN_BE]
        if bound < least or (bound == least and equals == 0):
            scores[DROPPED] = max(scores[DROPPED], bound)
            continue
        equals -= bound == least
        for cell in range(STATE_CELLS):
            layer[kept, cell] = layer[i, cell]
        for cell in range(WORTH_CELLS):
            worth[kept, cell] = worth[i, cell]
        stamp = tally[AGE] << 32
        left, more, marks = layer[kept, LEFT], layer[kept, MORE], layer[kept, MARKS]
        slots[slot_for(left, more, marks, layer, slots, stamp)] = stamp + kept
        kept += 1
    tally[COUNT] = kept
