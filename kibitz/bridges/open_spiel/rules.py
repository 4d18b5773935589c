"""The rules of an OpenSpiel game over the cells of a kibitz state; the cells are in cells.py.

Rules are methods of a `Rulebook`, plain Python around OpenSpiel's own states. A state's cells hold
all there is to know. Which OpenSpiel state its history leads to is remembered, so that playing on
costs one step; what is forgotten is played again.
"""

from __future__ import annotations

import functools
import hashlib
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pyspiel

from kibitz.bridges.open_spiel.cells import (
    BASE,
    CHANCE,
    DIGEST,
    FLOAT64,
    POSITION,
    STRIPPED,
    Plan,
    read_mask,
    read_text,
    write_mask,
    write_text,
)
from kibitz.bridges.open_spiel.known import MERGED
from kibitz.core.chance import Chance, below
from kibitz.core.compiled import Rules
from kibitz.core.errors import BrokenRules, KibitzError
from kibitz.core.game import HIDDEN, OVER, PLIES, SEAT, VIEWER
from kibitz.core.table import Table

REMEMBERED = 4096  # OpenSpiel states
MOST_EXPLORED = 1_000_000  # positions that are looked through for one that a file names


class Rulebook:
    """The rules of one OpenSpiel game."""

    def __init__(self, theirs: Any, name: str) -> None:
        kind = theirs.get_type()
        self.theirs = theirs
        self.name = name
        self.by_chance = kind.chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
        self.hides = kind.information != pyspiel.GameType.Information.PERFECT_INFORMATION
        self.merges = (
            kind.short_name in MERGED
            and not (self.hides or self.by_chance)
            and theirs.num_players() == 2
        )
        self.recalls = kind.provides_information_state_string
        if self.hides and not (self.recalls or kind.provides_observation_string):
            raise KibitzError(f"{name}: OpenSpiel does not say what a seat may know.")
        self.tensor = "observation_tensor" if kind.provides_observation_tensor else ""
        if not self.tensor and kind.provides_information_state_tensor:
            self.tensor = "information_state_tensor"
        self.plan = Plan(
            theirs, name, by_chance=self.by_chance, hides=self.hides, merges=self.merges
        )
        size = getattr(theirs, f"{self.tensor}_size")() if self.tensor else 1
        self.layout = self.plan.with_features(size, name)
        self._nodes: OrderedDict[bytes, Any] = OrderedDict()
        self.said: tuple[bytes, dict[int, str]] = b"", {}  # legal moves in words, of one view
        self._homes: dict[bytes, tuple[int, ...]] = {}  # of stripped positions: a way there

    def rules(self) -> Rules:
        """Give the rules in the order of the contract."""
        return Rules(
            self.deal, self.legal, self.play, self.score, self.look, self.redeal, self.observe,
            self.strip if self.merges else None,
        )  # fmt: skip

    # --- the contract --------------------------------------------------------------------------

    def deal(self, state: np.ndarray, rng: np.ndarray) -> None:
        """Draw the chance of the whole game, and go to where the first seat moves."""
        self._draw_chance(state, rng)
        self._settle(state, (), self.theirs.new_initial_state())

    def legal(self, state: np.ndarray, actions: np.ndarray) -> int:
        """List what the seat to move may do; nothing where that is hidden."""
        if state[SEAT] == OVER:
            return 0
        if not self.hides:
            found = self.node(state).legal_actions()
        elif state[VIEWER] in (HIDDEN, state[SEAT]):
            found = read_mask(self.part(state, int(state[SEAT]), "mask"))
        else:
            found = []
        actions[: len(found)] = found
        return len(found)

    def play(self, state: np.ndarray, action: int) -> None:
        """Play it, then let chance have its turns."""
        history, node = self.history(state), self.node(state)
        if self.merges:
            state[self.plan.own["position"]] = 0
        state[PLIES] += 1
        self._settle(state, history, node, int(action))

    def score(self, state: np.ndarray, points: np.ndarray) -> None:
        """Give what OpenSpiel calls returns; nought where a view does not show it."""
        if not self.hides:
            points[:] = self.node(state).returns()
            return
        cells = state[self.plan.own["points"]]
        points[:] = np.ascontiguousarray(cells).view(np.float64)
        if state[VIEWER] != HIDDEN and not self._open(state):
            points[np.arange(len(points)) != state[VIEWER]] = 0.0

    def look(self, state: np.ndarray, seat: int, out: np.ndarray) -> None:
        """Hide what is to be drawn and, where seats know different things, all but one's own."""
        own = self.plan.own
        out[:] = state
        out[VIEWER] = seat
        if self.by_chance:
            out[own["chance"]] = HIDDEN
        if not self.hides:
            return
        out[own["history"]] = HIDDEN
        out[own["length"]] = HIDDEN
        for other in range(self.plan.players):
            if other != seat:
                out[own[f"known {other}"]] = HIDDEN
                if not self._open(state):
                    at = own["points"].start + FLOAT64 * other
                    out[at : at + FLOAT64] = HIDDEN

    def redeal(self, view: np.ndarray, rng: np.ndarray) -> None:
        """Draw chance anew and, where there is more to guess, a history that fits what is seen."""
        if self.hides:
            from kibitz.bridges.open_spiel.worlds import world_for

            view[:] = world_for(self, view, Chance.over(rng))
        else:
            view[VIEWER] = HIDDEN
        self._draw_chance(view, rng)

    def observe(self, view: np.ndarray, features: np.ndarray) -> None:
        """Give OpenSpiel's tensor for the viewer; nought for a game that has none."""
        features[:] = 0.0
        if not self.tensor:
            return
        seat = int(view[VIEWER])
        if self.hides:
            cells = self.part(view, seat, "tensor")
            features[:] = np.ascontiguousarray(cells).view(np.float32)
        else:
            features[:] = getattr(self.node(view), self.tensor)(seat)

    def strip(self, state: np.ndarray) -> None:
        """Forget the way to a position; only for games in which it cannot matter."""
        own = self.plan.own
        if state[own["length"].start] == STRIPPED:
            return
        history = self.history(state)
        key = position_of(self.node(state))
        self._homes.setdefault(key, history)
        state[own["history"]] = 0
        state[own["length"]] = STRIPPED
        state[own["position"]] = np.frombuffer(key, np.int16)
        state[PLIES] = 0

    def flaw(self, table: Table) -> str | None:
        """Say what is wrong with a table, or None: its cells must be those of its history."""
        if table.cells[self.plan.own["length"].start] == STRIPPED:
            return "its history is missing"
        try:
            history = self.history(table.cells)
            state = self.written(history, table.cells)
        except (KibitzError, pyspiel.SpielError, ValueError) as error:
            return f"its history cannot be played ({error})"
        if state is None or not np.array_equal(state, table.cells):
            return "its cells are not those of its history"
        return None

    # --- histories and OpenSpiel's states --------------------------------------------------------

    def history(self, state: np.ndarray) -> tuple[int, ...]:
        """Read the actions so far, those of chance too."""
        own, width = self.plan.own, self.plan.width
        length = int(state[own["length"].start])
        if length == STRIPPED:
            return self._home(np.ascontiguousarray(state[own["position"]]).tobytes())
        start = own["history"].start
        cells = state[start : start + length * width]
        if width == 1:
            return tuple(cells.tolist())
        return tuple((cells[::2].astype(int) * BASE + cells[1::2]).tolist())

    def node(self, state: np.ndarray) -> Any:
        """Give OpenSpiel's state, which nobody may change."""
        return self.node_at(self.history(state))

    def node_at(self, history: Sequence[int]) -> Any:
        """Give the state that a history leads to, remembered or played again."""
        key = np.array(history, np.int32).tobytes()
        found = self._nodes.get(key)
        if found is None:
            found = self.theirs.new_initial_state()
            for action in history:
                found.apply_action(action)
            self._remember(key, found)
        else:
            self._nodes.move_to_end(key)
        return found

    @functools.cache  # noqa: B019  # a rulebook lives as long as its process
    def first_node(self) -> Any:
        """Give some state in which a seat is to move, for words that fit all of them."""
        node = self.theirs.new_initial_state()
        while node.is_chance_node():
            node.apply_action(node.legal_actions()[0])
        return node

    def _remember(self, key: bytes, node: Any) -> None:
        self._nodes[key] = node
        if len(self._nodes) > REMEMBERED:
            self._nodes.popitem(last=False)

    def _home(self, key: bytes) -> tuple[int, ...]:
        """Find a way to a stripped position; one that a file names is looked for from the start."""
        if key not in self._homes:
            for found, history in self._explored():
                self._homes.setdefault(found, history)
                if found == key:
                    break
            else:
                raise KibitzError(f"{self.name}: no such position can be reached.")
        return self._homes[key]

    def _explored(self) -> Iterator[tuple[bytes, tuple[int, ...]]]:
        seen: set[bytes] = set()
        waiting: list[tuple[tuple[int, ...], Any]] = [((), self.theirs.new_initial_state())]
        for history, node in waiting:
            key = position_of(node)
            if key in seen:
                continue
            seen.add(key)
            if len(seen) > MOST_EXPLORED:
                return
            yield key, history
            if not node.is_terminal():
                waiting += [((*history, a), node.child(a)) for a in node.legal_actions()]

    # --- writing states ------------------------------------------------------------------------

    def _draw_chance(self, state: np.ndarray, rng: np.ndarray) -> None:
        if self.by_chance:
            state[self.plan.own["chance"]] = [below(rng, BASE) for _ in range(CHANCE)]

    def _outcome(self, state: np.ndarray, node: Any, step: int) -> int:
        """Draw what chance does at a step of the history; the same bits always do the same."""
        seed = 0
        for word in state[self.plan.own["chance"]].tolist():
            seed = seed * BASE + word
        outcomes = node.chance_outcomes()
        left = Chance(seed, step, 0).uniform() * sum(weight for _, weight in outcomes)
        for outcome, weight in outcomes:
            left -= weight
            if left < 0:
                return outcome
        return outcomes[-1][0]

    def _settle(
        self,
        state: np.ndarray,
        history: Sequence[int],
        node: Any,
        action: int | None = None,
        fixed: Sequence[int] = (),
    ) -> None:
        """Play an action, then what chance does, drawn or `fixed`, and write where that leads."""
        steps = list(history)
        traces: list[list[bytes]] = [[] for _ in range(self.plan.players)]
        drawn = iter(fixed)
        while action is not None or node.is_chance_node():
            mover = OVER if action is None else int(node.current_player())
            if action is None:
                planned = next(drawn, None)
                action = self._outcome(state, node, len(steps)) if planned is None else planned
            after = node.child(action)
            if self.hides:
                for seat, trace in enumerate(traces):
                    texts = self.text_of(node, seat), self.text_of(after, seat)
                    trace += entries(*texts, action if seat == mover else None)
            steps.append(action)
            node, action = after, None
        self._write(state, steps, node)
        if self.hides:
            self._write_known(state, node, traces, fresh=not history)

    def _write(self, state: np.ndarray, steps: list[int], node: Any) -> None:
        plan = self.plan
        if len(steps) > plan.steps:
            raise BrokenRules(f"{self.name} ran past its {plan.steps} steps.")
        if not node.is_terminal() and int(node.current_player()) < 0:
            raise BrokenRules(f"{self.name}: nobody is to move, though the game is not over.")
        state[SEAT] = OVER if node.is_terminal() else int(node.current_player())
        cells = np.array(steps, np.int64)
        if plan.width == 2:
            cells = np.stack([cells // BASE, cells % BASE], axis=1).ravel()
        run = state[plan.own["history"]]
        run[: len(cells)] = cells
        run[len(cells) :] = 0
        state[plan.own["length"]] = len(steps)
        self._remember(np.array(steps, np.int32).tobytes(), node)

    # --- what seats know -----------------------------------------------------------------------

    def part(self, state: np.ndarray, seat: int, name: str) -> np.ndarray:
        """Give a part of what a seat knows."""
        return state[self.plan.own[f"known {seat}"]][self.plan.parts[name]]

    def text_of(self, node: Any, seat: int) -> str:
        """Give what a seat knows in OpenSpiel's words."""
        if self.recalls:
            return node.information_state_string(seat)
        return node.observation_string(seat)

    def trace(self, state: np.ndarray, seat: int) -> list[bytes]:
        """Read a seat's trace."""
        cells = self.part(state, seat, "trace")
        data = np.ascontiguousarray(cells[1 : 1 + DIGEST * int(cells[0])]).tobytes()
        return [data[at : at + 2 * DIGEST] for at in range(0, len(data), 2 * DIGEST)]

    def _write_known(
        self, state: np.ndarray, node: Any, traces: list[list[bytes]], fresh: bool
    ) -> None:
        points = np.array(node.returns(), np.float64)
        state[self.plan.own["points"]] = points.view(np.int16)
        for seat, added in enumerate(traces):
            cells = self.part(state, seat, "trace")
            if fresh:
                cells[:] = 0
            at = 1 + DIGEST * int(cells[0])
            new = np.frombuffer(b"".join(added), np.int16)
            cells[at : at + len(new)] = new
            cells[0] += len(added)
            legal = node.legal_actions() if seat == state[SEAT] else []
            write_mask(self.part(state, seat, "mask"), legal)
            if self.tensor:
                tensor = np.array(getattr(node, self.tensor)(seat), np.float32)
                self.part(state, seat, "tensor")[:] = tensor.view(np.int16)
            write_text(self.part(state, seat, "text"), self.text_of(node, seat))
            words = "\n".join(plain_words(node, seat, action) for action in legal)
            if not write_text(self.part(state, seat, "words"), words):
                write_text(self.part(state, seat, "words"), "")

    def words_in(self, view: np.ndarray) -> list[str]:
        """Read the viewer's legal moves in words, in their order; empty where they had no room."""
        text = read_text(self.part(view, int(view[VIEWER]), "words"))
        return text.split("\n") if text else []

    def _open(self, state: np.ndarray) -> bool:
        """Tell whether a seat knows the points of all: at the end, or if its own tell them."""
        kind = self.theirs.get_type().utility
        kinds = pyspiel.GameType.Utility
        return (
            state[SEAT] == OVER
            or kind == kinds.IDENTICAL
            or (kind == kinds.ZERO_SUM and self.plan.players == 2)
        )

    # --- whole states --------------------------------------------------------------------------

    def written(self, history: Sequence[int], like: np.ndarray) -> np.ndarray | None:
        """Write the state that a history leads to, with the chance to come of another; or None.

        None means that it ends where chance has yet to move, or that a step is not possible.
        """
        state = np.zeros_like(like)
        start = self.layout.first_own
        state[:start] = like[:start]
        state[PLIES] = 0
        state[VIEWER] = HIDDEN
        if self.by_chance:
            state[self.plan.own["chance"]] = like[self.plan.own["chance"]]
        node, at = self.theirs.new_initial_state(), 0
        played: tuple[int, ...] = ()
        action: int | None = None
        while True:
            run = self._run_of_chance(node, history, at, action)
            if run is None:
                return None
            self._settle(state, played, node, action, run)
            at += len(run) + (action is not None)
            played = tuple(history[:at])
            if at == len(history):
                return state
            node, action = self.node_at(played), history[at]
            state[PLIES] += 1

    def _run_of_chance(
        self, node: Any, history: Sequence[int], at: int, action: int | None
    ) -> list[int] | None:
        """Check an action and find the outcomes of chance after it; None if there is a fault."""
        run: list[int] = []
        if action is not None:
            if node.is_terminal() or action not in node.legal_actions():
                return None
            node, at = node.child(action), at + 1
        while node.is_chance_node():
            if at == len(history) or history[at] not in dict(node.chance_outcomes()):
                return None
            run.append(history[at])
            node, at = node.child(history[at]), at + 1
        return run


def entries(before: str, after: str, action: int | None) -> list[bytes]:
    """Give what a step adds to a seat's trace: one digest, or none if it sees no difference.

    The texts are what the seat knows before and after; the action is given if it is its own.
    """
    if action is None and before == after:
        return []
    made = hashlib.blake2b(f"{action} {after}".encode(), digest_size=2 * DIGEST)
    return [made.digest()]


def position_of(node: Any) -> bytes:
    """Give a digest of what is to come from here, for games whose strings say that."""
    mover = OVER if node.is_terminal() else int(node.current_player())
    ends = node.returns() if node.is_terminal() else ""
    text = f"{mover} {ends} {node}"
    return hashlib.blake2b(text.encode(), digest_size=2 * POSITION).digest()


def plain_words(node: Any, seat: int, action: int) -> str:
    """Put an action into OpenSpiel's words, on one line."""
    return " ".join(node.action_to_string(seat, action).split()) or f"action {action}"
