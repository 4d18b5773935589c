"""How a state of an OpenSpiel game lies in the cells of a kibitz state.

history   the actions so far, those of chance too: in one cell each, or in two where numbers are
          large
length    how many actions that are; STRIPPED where `position` stands for all of them
chance    random bits, from which all chance to come is drawn; nobody sees them
position  a digest of the position, in a stripped state of a game whose positions can be merged

and where seats know different things, also:

points    of every seat, as the bits of a float64
known s   what seat s may know: its trace, which actions are legal, its tensor, its text, and its
          legal moves in words

A trace holds a digest of each of the seat's information states, one after another, and what it
played there; nothing is added while others do what the seat does not see.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.errors import Misuse
from kibitz.core.game import Cells, Layout

LARGEST = 32_767
BASE = LARGEST + 1
STRIPPED = -1
CHANCE = 4  # cells, 15 bits each
DIGEST = 4  # cells of one entry of a trace
POSITION = 8
FLOAT64 = 4  # cells
FLOAT32 = 2
BITS = 15  # of a cell that holds a mask
MOST_CELLS = 4_000_000
TEXT = 2048  # bytes of a seat's text
LONGEST_WORDS = 32  # bytes of a move in words, on average
MOST_WORDS = 8192
ANY = -BASE, LARGEST


class Plan:
    """Where things lie, for one OpenSpiel game."""

    def __init__(self, theirs: Any, name: str, *, by_chance: bool, hides: bool, merges: bool):
        self.players = theirs.num_players()
        self.actions = theirs.num_distinct_actions()
        self.steps = theirs.max_history_length()
        if max(self.steps, theirs.max_game_length()) > LARGEST:
            raise Misuse(
                f"{name} may last {self.steps:,} moves; kibitz counts {LARGEST:,} at most. "
                "Choose parameters that make it shorter, if it has such."
            )
        largest = max(self.actions, theirs.max_chance_outcomes())
        self.width = 1 if largest <= LARGEST else 2
        own = {
            "history": Cells(self.steps * self.width, 0, LARGEST),
            "length": Cells(1, STRIPPED, self.steps),
        }
        if by_chance:
            own["chance"] = Cells(CHANCE, 0, LARGEST)
        if merges:
            own["position"] = Cells(POSITION, *ANY)
        self.features = 1
        if hides:
            own["points"] = Cells(FLOAT64 * self.players, *ANY)
            own |= {f"known {seat}": Cells(0, *ANY) for seat in range(self.players)}
        self._own = own
        self.hides = hides

    def with_features(self, features: int, name: str) -> Layout:
        """Make the layout for tensors of this size."""
        self.features = features
        words = min(MOST_WORDS, LONGEST_WORDS * self.actions)
        sizes = {
            "trace": 1 + DIGEST * (self.steps + 1),
            "mask": -(-self.actions // BITS),
            "tensor": FLOAT32 * features,
            "text": 1 + TEXT // 2,
            "words": 1 + words // 2,
        }
        self.parts: dict[str, slice] = {}  # within what a seat knows
        at = 0
        for part, size in sizes.items():
            self.parts[part] = slice(at, at + size)
            at += size
        own = {
            cells: Cells(at, *ANY) if cells.startswith("known") else found
            for cells, found in self._own.items()
        }
        layout = Layout((), own)
        if layout.size > MOST_CELLS:
            raise Misuse(f"{name} needs {layout.size:,} cells; kibitz takes {MOST_CELLS:,}.")
        self.own: Mapping[str, slice] = layout.own
        return layout


def write_text(cells: np.ndarray, text: str) -> bool:
    """Write text, two bytes to a cell after its length; tell whether it had room."""
    data = text.encode()
    room = 2 * (len(cells) - 1)
    fits = len(data) <= room
    data = data[:room]
    cells[:] = 0
    cells[0] = len(data)
    padded = data + b"\0" * (len(data) % 2)
    cells[1 : 1 + len(padded) // 2] = np.frombuffer(padded, "<i2")
    return fits


def read_text(cells: np.ndarray) -> str:
    """Read it back; a letter that was cut off is left out."""
    count = max(int(cells[0]), 0)
    data = cells[1:].astype("<i2").tobytes()[:count]
    return data.decode(errors="ignore")


def write_mask(cells: np.ndarray, actions: list[int]) -> None:
    """Write a set of actions as bits."""
    cells[:] = 0
    for action in actions:
        cells[action // BITS] |= 1 << action % BITS


def read_mask(cells: np.ndarray) -> list[int]:
    """Read it back, ascending."""
    bits = (cells[:, None] >> np.arange(BITS)) & 1
    return np.flatnonzero(bits.ravel()).tolist()
