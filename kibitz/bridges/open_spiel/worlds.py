"""Worlds that fit what a seat of an OpenSpiel game knows.

A view does not show the history, but the seat's trace. Histories are built step by step from the
start, and one is given up as soon as it would have left another trace. Where all that fit can be
found within a bound, one is drawn with its exact chance, as if the others had moved by lot. Else
the first that a search in random order finds is taken.
"""

from __future__ import annotations

import math
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from kibitz.bridges.open_spiel.rules import Rulebook, entries
from kibitz.core.chance import Chance
from kibitz.core.errors import KibitzError
from kibitz.core.game import OVER, PLIES, SEAT, VIEWER

ALL = 3_000  # steps tried to find all worlds
SOME = 30_000  # and to find any
KEPT = 256  # views whose worlds are remembered, in all games

Found = tuple[tuple[int, ...], float]  # a history and its chance
_found: OrderedDict[tuple[str, bytes], list[Found]] = OrderedDict()


class TooMany(Exception):
    """The bound on steps was reached."""


@dataclass
class Step:
    """A history on its way: where it leads, how much of the trace it explains, its chance."""

    history: tuple[int, ...]
    node: Any
    text: str  # what the seat knows
    explained: int
    plies: int
    chance: float


@dataclass
class Search:
    """Looks for histories that fit a view."""

    book: Rulebook
    view: np.ndarray
    most: int
    order: Callable[[list[Step]], list[Step]] = lambda steps: steps
    tried: int = 0
    trace: list[bytes] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.seat = int(self.view[VIEWER])
        self.trace = self.book.trace(self.view, self.seat)

    def histories(self) -> Iterator[Found]:
        """Give all histories that leave this trace and end as the view says."""
        root = self.book.theirs.new_initial_state()
        waiting = [Step((), root, self.book.text_of(root, self.seat), 0, 0, 1.0)]
        while waiting:
            step = waiting.pop()
            chance = step.node.is_chance_node()
            if not chance and step.plies == self.view[PLIES]:
                mover = OVER if step.node.is_terminal() else int(step.node.current_player())
                if mover == self.view[SEAT] and step.explained == len(self.trace):
                    yield step.history, step.chance
            elif not step.node.is_terminal():
                waiting += self.order(list(self._after(step, chance)))

    def _after(self, step: Step, chance: bool) -> Iterator[Step]:
        """Give the next steps that fit the trace so far."""
        node = step.node
        if chance:
            outcomes = node.chance_outcomes()
        else:
            legal = node.legal_actions()
            outcomes = [(action, 1.0 / len(legal)) for action in legal]
        own = not chance and int(node.current_player()) == self.seat
        for action, weight in outcomes:
            self.tried += 1
            if self.tried > self.most:
                raise TooMany
            after = node.child(action)
            text = self.book.text_of(after, self.seat)
            added = entries(step.text, text, action if own else None)
            explained = step.explained + len(added)
            if self.trace[step.explained : explained] != added:
                continue
            yield Step(
                (*step.history, action), after, text, explained, step.plies + (not chance),
                step.chance * (1.0 if own else weight),
            )  # fmt: skip


def world_for(book: Rulebook, view: np.ndarray, rng: Chance) -> np.ndarray:
    """Draw a state that looks like this view to its viewer; its chance to come is not drawn."""
    for history in _candidates(book, view, rng):
        world = book.written(history, view)
        if world is None:
            continue
        seen = np.empty_like(view)
        book.look(world, int(view[VIEWER]), seen)
        if np.array_equal(seen, view):
            return world
    raise KibitzError(
        f"{book.name}: no world was found in {SOME:,} steps that fits what seat "
        f"{int(view[VIEWER])} knows. Agents that redeal cannot play this game from here."
    )


def _candidates(book: Rulebook, view: np.ndarray, rng: Chance) -> Iterator[tuple[int, ...]]:
    worlds = _all_worlds(book, view)
    if worlds is None:

        def shuffled(steps: list[Step]) -> list[Step]:
            # Exponential clocks: each is first as often as it is likely. The last is tried first.
            clocks = [math.log(1.0 - rng.uniform()) / step.chance for step in steps]
            return [steps[place] for place in np.argsort(clocks)]

        try:
            for history, _ in Search(book, view, SOME, shuffled).histories():
                yield history
        except TooMany:
            pass
        return
    left = list(worlds)
    while left:
        mark = rng.uniform() * sum(chance for _, chance in left)
        for place, (_, chance) in enumerate(left):
            mark -= chance
            if mark < 0 or place == len(left) - 1:
                yield left.pop(place)[0]
                break


def _all_worlds(book: Rulebook, view: np.ndarray) -> list[Found] | None:
    """Give all histories that fit, or None if there are too many steps to try."""
    key = book.name, view.tobytes()
    if key not in _found:
        try:
            worlds = list(Search(book, view, ALL).histories())
        except TooMany:
            return None
        _found[key] = worlds
        if len(_found) > KEPT:
            _found.popitem(last=False)
    return _found[key]
