"""The exact solver: who wins from every position that can be reached, and in how many plies.

For two seats and nothing hidden. Forward, every reachable position is found once (a hash table
over the stripped and, if wanted, folded states). Backward, wins and losses are carried from the
ends of the game to where they are forced; what is never decided is a draw, for either side can
avoid losing for ever. A verdict is one number for the seat to move: `+5` wins in 5 plies at the
fastest, `-4` loses in 4 at the slowest, `0` is a draw.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.compiled import compiled, in_python
from kibitz.core.errors import BadModel, Misuse, NotSolvable
from kibitz.core.game import OVER, SEAT, VIEWER, Game
from kibitz.core.models import load_model, save_model
from kibitz.core.table import Table, View

MOST_POSITIONS = 20_000_000
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


@compiled()
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


@compiled()
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
            child[:] = states[index]
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


@compiled()
def parents_of(known, first, children):
    """Turn the edges round: for each position the edges that lead to it."""
    start = np.zeros(known + 1, np.int64)
    for edge in range(first[known]):
        if children[edge] >= 0:
            start[children[edge] + 1] += 1
    for index in range(known):
        start[index + 1] += start[index]
    edges = np.empty(start[known], np.int64)
    owners = np.empty(start[known], np.int32)
    at = start[:-1].copy()
    for index in range(known):
        for edge in range(first[index], first[index + 1]):
            child = children[edge]
            if child >= 0:
                edges[at[child]] = edge
                owners[at[child]] = index
                at[child] += 1
    return start, edges, owners


@compiled()
def carry_back(known, finished, first, children, flips):
    """Carry wins and losses back from the ends of the game, nearest first."""
    verdicts = np.zeros(known, np.int32)
    waiting = np.zeros(known, np.int32)  # moves of a position that are not yet known to lose
    queue = np.empty(known, np.int32)
    tail = 0
    for index in range(known):
        if finished[index]:
            continue
        waiting[index] = first[index + 1] - first[index]
        for edge in range(first[index], first[index + 1]):
            if children[edge] == WON:
                verdicts[index] = 1
            elif children[edge] == LOST:
                waiting[index] -= 1
        if verdicts[index] == 0 and waiting[index] == 0:
            verdicts[index] = -1
        if verdicts[index] != 0:
            queue[tail] = index
            tail += 1
    start, edges, owners = parents_of(known, first, children)
    head = 0
    while head < tail:
        child = queue[head]
        head += 1
        verdict = verdicts[child]
        plies = abs(verdict) + 1
        for at in range(start[child], start[child + 1]):
            parent = owners[at]
            if verdicts[parent] != 0:
                continue
            wins = (verdict < 0) == flips[edges[at]]
            if wins:
                verdicts[parent] = plies
            else:
                waiting[parent] -= 1
                if waiting[parent] > 0:
                    continue
                verdicts[parent] = -plies
            queue[tail] = parent
            tail += 1
    return verdicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Tally:
    """How many positions are won, drawn and lost for the seat to move, and how many are over."""

    won: int
    drawn: int
    lost: int
    finished: int

    @property
    def positions(self) -> int:
        """All positions in which somebody is to move."""
        return self.won + self.drawn + self.lost


class Solution:
    """A solved game: ask it about any position that can be reached."""

    def __init__(
        self, game: Game, folded: bool, states: np.ndarray, finished: np.ndarray,
        verdicts: np.ndarray,
    ) -> None:  # fmt: skip
        self.game = game
        self.folded = folded
        self.states = states  # [positions, cells], stripped and, if folded, folded
        self.finished = finished  # [positions]
        self.verdicts = verdicts  # [positions]
        self.slots = np.full(_power_of_two(2 * len(states) + 2), NONE, np.int32)
        self.skip = game.layout.first_own
        rehash(states, len(states), self.slots, self.skip)

    @property
    def verdict(self) -> int:
        """The verdict on the start of the game."""
        return int(self.verdicts[0])

    def _index(self, state: np.ndarray) -> int:
        key = state.copy()
        self.game.rules.strip(key)
        if self.folded:
            self.game.rules.fold(key)
        return int(self.slots[slot_of(self.states, self.slots, key, self.skip)])

    def ask(self, position: Table | View) -> int:
        """Give the verdict on a position for the seat to move."""
        if position.game != self.game:
            raise Misuse(f"This is the solution of {self.game.described()}, "
                         f"not of {position.game.described()}.")  # fmt: skip
        if position.over:
            raise Misuse(f"{self.game.name}: the game is over; see its points.")
        index = self._index(position.cells)
        if index == NONE:
            raise Misuse(f"{self.game.name}: {_brief(position)} cannot be reached in this game.")
        return int(self.verdicts[index])

    def options(self, position: Table | View) -> dict[int, int]:
        """Give for each legal action what it leads to, as a verdict for the seat that moves."""
        self.ask(position)
        rules = self.game.rules
        mover = int(position.cells[SEAT])
        found = {}
        for action in position.legal:
            child = position.cells.copy()
            rules.play(child, action)
            if child[SEAT] == OVER:
                points = np.zeros(2)
                rules.score(child, points)
                found[action] = int(result_for(points, mover)) - DREW
            else:
                index = self._index(child)
                if index == NONE:
                    raise BadModel(f"This table of {self.game.name} lacks positions.")
                found[action] = before(int(self.verdicts[index]), child[SEAT] != mover)
        return found

    def tally(self) -> Tally:
        """Count the positions by verdict."""
        live = self.verdicts[~self.finished]
        return Tally(
            won=int((live > 0).sum()), drawn=int((live == 0).sum()),
            lost=int((live < 0).sum()), finished=int(self.finished.sum()),
        )  # fmt: skip

    def start(self) -> Table:
        """Give a table at the start of the game."""
        return self.game.deal(seed=0)

    # --- files ---------------------------------------------------------------------------------

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the table to a safetensors file, whole or not at all."""
        arrays = {"states": self.states, "finished": self.finished, "verdicts": self.verdicts}
        return save_model(path, "perfect", self.game, arrays, {"folded": self.folded})

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: Game) -> Solution:
        """Read a table that was saved for this very game."""
        arrays, about = load_model(path, "perfect", game)
        wanted = {"states": (np.int16, 2), "finished": (np.bool_, 1), "verdicts": (np.int32, 1)}
        lengths = set()
        for name, (dtype, dimensions) in wanted.items():
            array = arrays.get(name)
            if array is None or array.dtype != dtype or array.ndim != dimensions:
                raise BadModel(f"'{os.fspath(path)}' is a damaged table: '{name}' is not right.")
            lengths.add(len(array))
        if len(lengths) != 1 or 0 in lengths or arrays["states"].shape[1] != game.layout.size:
            raise BadModel(f"'{os.fspath(path)}' is a damaged table: its sizes do not fit.")
        folded = bool(about.get("folded"))
        return cls(game, folded, arrays["states"], arrays["finished"], arrays["verdicts"])


def before(verdict: int, flipped: bool) -> int:
    """Give a verdict as it looks one ply earlier, to the other seat if the seat changed."""
    if verdict == 0:
        return 0
    further = verdict + (1 if verdict > 0 else -1)
    return -further if flipped else further


def in_words(verdict: int) -> str:
    """Say a verdict: 'wins in 5', 'draws', 'loses in 4'."""
    if verdict == 0:
        return "draws"
    return f"{'wins' if verdict > 0 else 'loses'} in {abs(verdict)}"


def unsolvable(game: Game) -> str | None:
    """Say why the solver cannot take a game, or None."""
    if game.players != 2:
        return f"the solver needs two seats, and this has {game.players}"
    if game.hides:
        return "the solver needs a game in which nothing is hidden"
    if game.cooperative:
        return "the solver needs seats that play against each other"
    return None


def solve(
    game: Game,
    *,
    folded: bool = True,
    most: int = MOST_POSITIONS,
    most_bytes: int = MOST_BYTES,
    progress: Callable[[int, int], Any] | None = None,
) -> Solution:
    """Solve a game exactly from its start.

    `folded` joins mirror images where the game says which positions are. `most` bounds the number
    of positions, `most_bytes` the memory for them and their moves. `progress(expanded, known)` is
    called now and then.
    """
    reason = unsolvable(game)
    if reason:
        raise NotSolvable(f"{game.described()} cannot be solved: {reason}.")
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

    known = int(counts[KNOWN])
    verdicts = carry_back(known, finished, first, children, flips)
    return Solution(game, folded, states[:known].copy(), finished[:known].copy(), verdicts)


def _power_of_two(n: int) -> int:
    return 1 << int(n - 1).bit_length()


def _brief(position: Table | View) -> str:
    return (position.view() if isinstance(position, Table) else position).brief()
