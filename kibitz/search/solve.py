"""The exact solver: who wins from every position that can be reached, and in how many plies.

For two seats and nothing hidden. Forward, every reachable position is found once (play/graph.py).
Backward, wins and losses are carried from the ends of the game to where they are forced; what is
never decided is a draw, for either side can avoid losing for ever. A verdict is one number for the
seat to move: `+5` wins in 5 plies at the fastest, `-4` loses in 4 at the slowest, `0` is a draw.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.compiled import compiled, compiled_loop, plain_loops
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.game import OVER, SEAT, Game
from kibitz.core.markup import element
from kibitz.core.models import load_model, save_model
from kibitz.core.notebook import Shown, card, heading, listing, note
from kibitz.core.table import Table, View
from kibitz.play.graph import (
    DREW,
    LOST,
    MOST_BYTES,
    MOST_POSITIONS,
    NONE,
    SMALL,
    WON,
    Positions,
    chart,
    result_for,
)


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


@compiled_loop
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


class Solution(Shown):
    """A solved game: ask it about any position that can be reached."""

    def __init__(self, positions: Positions, finished: np.ndarray, verdicts: np.ndarray) -> None:
        self.game = positions.game
        self.positions = positions
        self.finished = finished  # [positions]
        self.verdicts = verdicts  # [positions]

    @property
    def folded(self) -> bool:
        """Whether mirror images are one position."""
        return self.positions.folded

    @property
    def states(self) -> np.ndarray:
        """The positions, [positions, cells], stripped and, if folded, folded."""
        return self.positions.states

    @property
    def verdict(self) -> int:
        """The verdict on the start of the game."""
        return int(self.verdicts[0])

    def ask(self, position: Table | View) -> int:
        """Give the verdict on a position for the seat to move."""
        if position.game != self.game:
            raise Misuse(f"This is the solution of {self.game.described()}, "
                         f"not of {position.game.described()}.")  # fmt: skip
        if position.over:
            raise Misuse(f"{self.game.name}: the game is over; see its points.")
        index = self.positions.find(position.cells)
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
                index = self.positions.find(child)
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

    def who_wins(self) -> str:
        """Say in a sentence how the game ends with best play."""
        if self.verdict == 0:
            return "with best play the game is a draw."
        seat = 0 if self.verdict > 0 else 1
        return (
            f"seat {seat}, who moves {'first' if seat == 0 else 'second'}, wins in "
            f"{abs(self.verdict)} plies with best play."
        )

    def __str__(self) -> str:
        tally = self.tally()
        return (
            f"{self.game.described()}: {self.who_wins()}\n{tally.positions:,} positions: "
            f"{tally.won:,} won, {tally.drawn:,} drawn, {tally.lost:,} lost; "
            f"{tally.finished:,} finished"
        )

    def _repr_html_(self) -> str:
        tally, start = self.tally(), self.start()
        counts = (tally.positions, tally.won, tally.drawn, tally.lost, tally.finished)
        options = self.options(start)
        # A win is the better the sooner, a loss the later.
        best = max(options, key=lambda action: 1 / options[action] if options[action] else 0.0)
        folded = "mirror images folded" if self.folded else "all"
        return card(
            heading(self.game.described(), "solved"),
            element("p", self.who_wins()[0].upper() + self.who_wins()[1:]),
            listing(
                ("reachable positions", "all", "won", "drawn", "lost", "finished"),
                [(folded, *(f"{count:,}" for count in counts))],
            ),
            note(
                f"Best first move: {start.say(best)} ({in_words(options[best])}). "
                "Won, drawn and lost are for the seat to move."
            ),
        )

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
        positions = Positions(game, bool(about.get("folded")), arrays["states"])
        return cls(positions, arrays["finished"], arrays["verdicts"])


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
    graph = chart(game, folded=folded, most=most, most_bytes=most_bytes, progress=progress)
    with plain_loops(len(graph.positions) <= SMALL):
        verdicts = carry_back(
            len(graph.positions), graph.finished, graph.first, graph.children, graph.flips
        )
    return Solution(graph.positions, graph.finished, verdicts)


def _brief(position: Table | View) -> str:
    return (position.view() if isinstance(position, Table) else position).brief()
