"""Every position that can be reached in a game, numbered, and where each move leads.

For two seats and nothing left to chance. A position is found once, whatever way leads to it: a hash
table over the stripped and, if wanted, folded states. The solver walks this graph backwards;
learners play on it, for following an edge costs next to nothing.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.core.compiled import compiled, compiled_loop, in_python, plain_loops
from kibitz.core.errors import NotSolvable
from kibitz.core.game import OVER, SEAT, VIEWER, Game, copy_cells

MOST_POSITIONS = 20_000_000
SMALL = 1_000  # positions that Python finds within half a second, before a compiler has started
MOST_BYTES = 6 << 30
BYTES_PER_EDGE = 5 + 12  # forward, and turned round
SEEDS_TRIED = 64  # deals that must all be the same
CHUNK = 20_000  # positions between two looks at the progress bar
NONE = -1
KEYED_HEADER = 3  # SEAT, SEATS and PLIES tell positions apart; VIEWER does not

# What an edge holds instead of a child when the game ends there, seen by whoever moved.
LOST, DREW, WON = -3, -2, -1

KNOWN, EXPANDED, EDGES = 0, 1, 2  # places in `counts`


@compiled()
def hashed(state, skip):
    """Mix the cells that tell positions apart (FNV-1a over 16-bit words)."""
    mixed = 2166136261
    for cell in range(KEYED_HEADER):
        mixed = ((mixed ^ (int(state[cell]) & 0xFFFF)) * 16777619) & 0xFFFFFFFF
    for cell in range(skip, len(state)):
        mixed = ((mixed ^ (int(state[cell]) & 0xFFFF)) * 16777619) & 0xFFFFFFFF
    return mixed ^ (mixed >> 15)


@compiled()
def same(states, index, state, skip):
    """Tell whether a stored position is this one."""
    for cell in range(KEYED_HEADER):
        if states[index, cell] != state[cell]:
            return False
    for cell in range(skip, len(state)):
        if states[index, cell] != state[cell]:
            return False
    return True


@compiled()
def slot_of(states, slots, state, skip):
    """Find the slot that holds a position, or the empty one where it belongs."""
    mask = len(slots) - 1
    slot = hashed(state, skip) & mask
    while slots[slot] != NONE and not same(states, slots[slot], state, skip):
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def rehash(states, known, slots, skip):
    """Enter all known positions into an empty, larger table."""
    for index in range(known):
        slots[slot_of(states, slots, states[index], skip)] = index


@compiled()
def result_for(points, seat):
    """Tell whether a finished game was won, drawn or lost by a seat."""
    if points[seat] > points[1 - seat]:
        return WON
    if points[seat] < points[1 - seat]:
        return LOST
    return DREW


@compiled_loop
def expand(rules, folded, skip, states, finished, slots, first, children, flips, counts, actions):
    """Find the children of known positions until the chunk is done or an array is full.

    states [capacity, cells], finished [capacity], slots [power of two], first [capacity + 1],
    children and flips [edges]: the child's index or how the game ended; whether the seat changed.
    """
    child = np.empty(states.shape[1], np.int16)
    points = np.zeros(2)
    done = 0
    while counts[EXPANDED] < counts[KNOWN] and done < CHUNK:
        index = counts[EXPANDED]
        room = counts[KNOWN] + len(actions) <= len(states)
        if not room or counts[EDGES] + len(actions) > len(children):
            break
        if 2 * (counts[KNOWN] + len(actions)) > len(slots):
            break
        first[index] = counts[EDGES]
        n = 0
        if not finished[index]:
            n = rules.legal(states[index], actions)
        mover = states[index, SEAT]
        for i in range(n):
            copy_cells(states[index], child)
            rules.play(child, actions[i])
            over = child[SEAT] == OVER
            edge = counts[EDGES]
            flips[edge] = child[SEAT] != mover
            if over:
                rules.score(child, points)
                children[edge] = result_for(points, mover)
            rules.strip(child)
            if folded:
                rules.fold(child)
            slot = slot_of(states, slots, child, skip)
            if slots[slot] == NONE:
                slots[slot] = counts[KNOWN]
                states[counts[KNOWN]] = child
                finished[counts[KNOWN]] = over
                counts[KNOWN] += 1
            if not over:
                children[edge] = slots[slot]
            counts[EDGES] += 1
        counts[EXPANDED] += 1
        first[counts[EXPANDED]] = counts[EDGES]
        done += 1


# Positions as one array of 32-bit words, as compiled agents carry them: this header, the slots,
# the states with two cells to a word, then whatever the agent knows about each position.
SLOTS, POSITIONS, CELLS, SKIP, FOLDED, HEAD = 0, 1, 2, 3, 4, 5


@compiled()
def payload(words):
    """Give where the agent's own words begin."""
    return HEAD + int(words[SLOTS]) + (int(words[POSITIONS]) * int(words[CELLS]) + 1) // 2


@compiled()
def number_of(rules, words, cells, state):
    """Find the number of a state, which it may spoil; NONE where it is not known.

    words and cells are the same packed array, seen as int32 and as int16.
    """
    rules.strip(state)
    if words[FOLDED]:
        rules.fold(state)
    skip = words[SKIP]
    mask = int(words[SLOTS]) - 1
    states = 2 * (HEAD + int(words[SLOTS]))
    slot = hashed(state, skip) & mask
    while words[HEAD + slot] != NONE:
        index = words[HEAD + slot]
        start = states + index * words[CELLS]
        equal = True
        for cell in range(KEYED_HEADER):
            equal = equal and cells[start + cell] == state[cell]
        for cell in range(skip, len(state)):
            equal = equal and cells[start + cell] == state[cell]
        if equal:
            return int(index)
        slot = (slot + 1) & mask
    return NONE


@compiled_loop
def label(rules, states, finished, first, actions, labels):
    """Write the action of every edge."""
    for index in range(len(states)):
        if not finished[index]:
            n = rules.legal(states[index], actions)
            labels[first[index] : first[index] + n] = actions[:n]


class Positions:
    """Numbered positions of a game: `find` gives the number of any state."""

    def __init__(self, game: Game, folded: bool, states: np.ndarray) -> None:
        self.game = game
        self.folded = folded
        self.states = states  # [positions, cells], stripped and, if folded, folded
        self.slots = np.full(_power_of_two(2 * len(states) + 2), NONE, np.int32)
        self.skip = game.layout.first_own
        rehash(states, len(states), self.slots, self.skip)

    def __len__(self) -> int:
        return len(self.states)

    def find(self, state: np.ndarray) -> int:
        """Give the number of the position that a state is, or NONE."""
        key = state.copy()
        self.game.rules.strip(key)
        if self.folded:
            self.game.rules.fold(key)
        return int(self.slots[slot_of(self.states, self.slots, key, self.skip)])

    def packed(self, *known: np.ndarray) -> np.ndarray:
        """Put the positions, and arrays of 32 or 64 bits a number after them, into one array."""
        count, cells = self.states.shape
        head = [len(self.slots), count, cells, self.skip, int(self.folded)]
        states = np.zeros(count * cells + 1 & ~1, np.int16)
        states[: count * cells] = self.states.ravel()
        parts = [np.array(head, np.int32), self.slots, states.view(np.int32)]
        words = np.concatenate([*parts, *(array.view(np.int32) for array in known)])
        return words.view(np.float32)


@dataclass(frozen=True, slots=True, kw_only=True)
class Graph:
    """Positions and the moves between them; the first position is the start of the game.

    The moves of position p are the edges from first[p] to first[p + 1], in the order of the legal
    actions. An edge leads to children[edge], or holds LOST, DREW or WON where the game ends, seen
    by whoever moved; flips[edge] says whether the other seat is to move then.
    """

    positions: Positions
    finished: np.ndarray  # [positions]
    first: np.ndarray  # [positions + 1]
    children: np.ndarray  # [edges]
    flips: np.ndarray  # [edges]

    def actions(self) -> np.ndarray:
        """Give the action of every edge, as the stored position names it."""
        game = self.positions.game
        labels = np.empty(len(self.children), np.int32)
        legal = np.empty(game.bound("most_legal"), np.int32)
        run = label if game.is_compiled else in_python(label)
        run(game.rules, self.positions.states, self.finished, self.first, legal, labels)
        return labels


def unsolvable(game: Game) -> str | None:
    """Say why the positions of a game cannot be numbered and solved, or None."""
    if game.players != 2:
        return f"the solver needs two seats, and this has {game.players}"
    if game.hides:
        return "the solver needs a game in which nothing is hidden"
    if game.cooperative:
        return "the solver needs seats that play against each other"
    return None


def chart(
    game: Game,
    *,
    folded: bool = True,
    most: int = MOST_POSITIONS,
    most_bytes: int = MOST_BYTES,
    progress: Callable[[int, int], Any] | None = None,
) -> Graph:
    """Find every position that can be reached from the start of a game.

    `folded` joins mirror images where the game says which positions are. `most` bounds the number
    of positions, `most_bytes` the memory for them and their moves. `progress(expanded, known)` is
    called now and then.
    """
    reason = unsolvable(game)
    if reason:
        raise NotSolvable(f"{game.described()} cannot be solved: {reason}.")
    if game.is_compiled and not expand.is_loaded and most > SMALL:
        with contextlib.suppress(NotSolvable), plain_loops():
            return chart(game, folded=folded, most=SMALL, most_bytes=most_bytes)
    rules, skip = game.rules, game.layout.first_own
    run = expand if game.is_compiled else in_python(expand)
    start = game.deal(seed=0).cells
    if any(not np.array_equal(game.deal(seed=seed).cells, start) for seed in range(1, SEEDS_TRIED)):
        raise NotSolvable(f"{game.described()} cannot be solved: its deal is left to chance.")
    rules.strip(start)
    if folded:
        rules.fold(start)
    start[VIEWER] = NONE
    actions = np.empty(game.bound("most_legal"), np.int32)

    capacity = 1024 + 2 * len(actions)
    states = np.empty((capacity, len(start)), np.int16)
    finished = np.zeros(capacity, np.bool_)
    first = np.zeros(capacity + 1, np.int64)
    children = np.empty(8 * capacity, np.int32)
    flips = np.empty(8 * capacity, np.bool_)
    slots = np.full(_power_of_two(2 * capacity), NONE, np.int32)
    counts = np.array([1, 0, 0])
    states[0] = start
    rehash(states, 1, slots, skip)

    while counts[EXPANDED] < counts[KNOWN]:
        before_chunk = counts[EXPANDED]
        run(rules, folded, skip, states, finished, slots, first, children, flips, counts, actions)
        used = counts[KNOWN] * (2 * len(start) + 30) + counts[EDGES] * BYTES_PER_EDGE
        if counts[KNOWN] > most or used > most_bytes:
            raise NotSolvable(
                f"{game.described()} has more than {min(most, int(counts[KNOWN])):,} positions, "
                f"with {int(counts[EDGES]):,} moves. Choose smaller settings, or allow more if "
                "there is memory for them (most=, --most, --gigabytes)."
            )
        if progress is not None:
            progress(int(counts[EXPANDED]), int(counts[KNOWN]))
        if counts[EXPANDED] - before_chunk == CHUNK or counts[EXPANDED] == counts[KNOWN]:
            continue
        try:  # something was full: double what is
            if counts[KNOWN] + len(actions) > len(states):
                more = len(states) + len(actions)
                states = np.concatenate([states, np.empty((more, len(start)), np.int16)])
                finished = np.concatenate([finished, np.zeros(more, np.bool_)])
                first = np.concatenate([first, np.zeros(more, np.int64)])
            if counts[EDGES] + len(actions) > len(children):
                more = len(children) + len(actions)
                children = np.concatenate([children, np.empty(more, np.int32)])
                flips = np.concatenate([flips, np.empty(more, np.bool_)])
            if 2 * (counts[KNOWN] + len(actions)) > len(slots):
                size = _power_of_two(4 * (counts[KNOWN] + len(actions)))
                slots = np.full(size, NONE, np.int32)
                rehash(states, counts[KNOWN], slots, skip)
        except MemoryError:
            raise NotSolvable(
                f"{game.described()} does not fit in memory: {counts[KNOWN]:,} positions were "
                "found so far. Choose smaller settings."
            ) from None

    known, edges = int(counts[KNOWN]), int(counts[EDGES])
    return Graph(
        positions=Positions(game, folded, states[:known].copy()),
        finished=finished[:known].copy(),
        first=first[: known + 1],
        children=children[:edges],
        flips=flips[:edges],
    )


def _power_of_two(n: int) -> int:
    return 1 << int(n - 1).bit_length()
