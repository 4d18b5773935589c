"""How far a player agrees with exact play: does it keep what every position is worth?

A player is described by the moves it may make: for every move of every position that can be
reached, whether it might be chosen. A position is kept where every such move leads to the verdict
that the position has. The worst that can happen is found by following all of the player's moves
and all of the other's: a bound, not a match. It is exact where the moves are known, as they are
from a table of values; an agent that draws lots is asked many times, and might once do otherwise.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.core.agent import Agent, CompiledAgent
from kibitz.core.chance import Chance, sow
from kibitz.core.compiled import compiled_loop, is_compiled, pointer
from kibitz.core.errors import AgentFailed
from kibitz.core.game import VIEWER, Game
from kibitz.core.notebook import Shown, card, heading, listing, note
from kibitz.core.registry import find_agent
from kibitz.core.table import View
from kibitz.core.voting import place_of
from kibitz.play.graph import DREW, WON, Graph, chart
from kibitz.search.solve import carry_back

ASKED = 30  # times, of an agent that draws lots


@compiled_loop
def keeping(finished, first, children, flips, verdicts, out):
    """Write for every move whether it keeps what its position is worth; out [edges]."""
    for index in range(len(finished)):
        now = np.sign(verdicts[index])
        for edge in range(first[index], first[index + 1]):
            child = children[edge]
            if child < 0:
                after = child - DREW
            else:
                after = -np.sign(verdicts[child]) if flips[edge] else np.sign(verdicts[child])
            out[edge] = after == now


@compiled_loop
def best_moves(first, values, out):
    """Mark the moves of greatest value in every position; values and out [edges]."""
    for index in range(len(first) - 1):
        begin = first[index]
        end = first[index + 1]
        if begin < end:
            best = values[begin:end].max()
            for edge in range(begin, end):
                out[edge] = values[edge] == best


@compiled_loop
def kept_positions(first, chosen, keeps, out):
    """Mark the positions in which every chosen move keeps the value; out [positions]."""
    for index in range(len(first) - 1):
        out[index] = True
        for edge in range(first[index], first[index + 1]):
            if chosen[edge] and not keeps[edge]:
                out[index] = False


@compiled_loop
def ask_all(rules, choose, weights, memory_size, states, finished, first, most, times, out):
    """Mark the moves that a compiled agent chooses when asked so many times; out [edges].

    Gives the first position in which it chose what is not legal, or -1.
    """
    rng = np.zeros(4, np.int64)
    memory = np.zeros(memory_size, np.int64)
    view = np.empty_like(states[0])
    actions = np.empty(most, np.int32)
    for index in range(len(states)):
        if finished[index]:
            continue
        for time in range(times):
            rules.look(states[index], int(states[index, 0]), view)
            n = rules.legal(view, actions)
            sow(rng, 1 + time, index, 0)
            memory[:] = 0
            place = place_of(choose(rules, view, actions, n, weights, memory, rng), actions, n)
            if place < 0:
                return index
            out[first[index] + place] = True
    return -1


LOSES, DRAWS, WINS = -1, 0, 1
NEW, OPEN, DONE = 0, 1, 2


@compiled_loop
def worst_of(first, children, flips, chosen, begins):
    """Find the worst that can happen from the start to a player that makes chosen moves.

    Every line is followed, depth first. Gives -1, 0 or 1, and the longest line where it wins.
    A line that comes back to where it was never ends, which is a draw.
    """
    positions = len(first) - 1
    # Node 2 * position + 1 where the player is to move, without the 1 where the other is.
    mark = np.zeros(2 * positions, np.int8)
    longest = np.zeros(2 * positions, np.int32)
    stack = np.empty(2 * positions, np.int64)
    at = np.empty(2 * positions, np.int64)
    worst = WINS
    top = 0
    stack[0] = int(begins)  # position 0 is the start
    at[0] = first[0]
    mark[stack[0]] = OPEN
    while top >= 0:
        node = stack[top]
        index = node >> 1
        ours = node & 1 == 1
        edge = at[top]
        if edge == first[index + 1]:
            mark[node] = DONE
            top -= 1
            if top >= 0:
                parent = stack[top]
                longest[parent] = max(longest[parent], longest[node] + 1)
            continue
        at[top] += 1
        if ours and not chosen[edge]:
            continue
        child = children[edge]
        if child < 0:
            result = 0 if child == DREW else 1 if (child == WON) == ours else -1
            worst = min(worst, result)
            longest[node] = max(longest[node], 1)
            continue
        after = 2 * child + int(ours != flips[edge])
        if mark[after] == OPEN:
            worst = min(worst, DRAWS)
        elif mark[after] == DONE:
            longest[node] = max(longest[node], longest[after] + 1)
        else:
            mark[after] = OPEN
            top += 1
            stack[top] = after
            at[top] = first[child]
    return worst, longest[int(begins)]


@dataclass(frozen=True, slots=True)
class Worst:
    """The worst that can happen to a player from one seat."""

    result: int  # -1, 0 or 1
    plies: int  # the longest line, where it always wins

    def __str__(self) -> str:
        if self.result == WINS:
            return f"wins within {self.plies}"
        return "loses" if self.result == LOSES else "draws"


class Judge:
    """The exact verdicts on a game's positions, to judge players by; not folded."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        game = graph.positions.game
        self.verdicts = carry_back(
            len(graph.positions), graph.finished, graph.first, graph.children, graph.flips
        )
        self.keeps = np.zeros(len(graph.children), np.bool_)
        keeping(graph.finished, graph.first, graph.children, graph.flips, self.verdicts, self.keeps)
        states = graph.positions.states.copy()
        for state in states:
            game.rules.fold(state)
        _, mirror = np.unique(states, axis=0, return_inverse=True)
        self.mirror = mirror.reshape(-1)  # positions that are mirror images have one number
        self.live = np.unique(self.mirror[~graph.finished])

    def chosen_by(self, values: np.ndarray) -> np.ndarray:
        """Mark the moves of greatest value in every position."""
        chosen = np.zeros(len(values), np.bool_)
        best_moves(self.graph.first, values, chosen)
        return chosen

    def kept(self, chosen: np.ndarray) -> np.ndarray:
        """Mark the positions in which every chosen move keeps the value."""
        kept = np.zeros(len(self.graph.positions), np.bool_)
        kept_positions(self.graph.first, chosen, self.keeps, kept)
        return kept

    def agreement(self, chosen: np.ndarray, verdict: int | None = None) -> float:
        """Give the share of positions that are kept; of those with one verdict (its sign) if asked.

        Mirror images count as one position, which is kept if all of them are. Of none it is NaN.
        """
        kept = np.ones(int(self.mirror.max()) + 1, np.bool_)
        np.logical_and.at(kept, self.mirror, self.kept(chosen))
        which = self.live
        if verdict is not None:
            signs = np.zeros(len(kept), np.int8)
            signs[self.mirror] = np.sign(self.verdicts)
            which = which[signs[which] == verdict]
        return float(kept[which].mean()) if len(which) else math.nan

    def worst(self, chosen: np.ndarray) -> tuple[Worst, Worst]:
        """Give the worst that can happen moving first and moving second."""
        graph = self.graph
        first, second = (
            worst_of(graph.first, graph.children, graph.flips, chosen, begins)
            for begins in (True, False)
        )
        return Worst(*map(int, first)), Worst(*map(int, second))


def moves_of(agent: Agent, graph: Graph, times: int = ASKED) -> np.ndarray:
    """Ask an agent in every position, so many times each; mark the moves that it chose."""
    game, states = graph.positions.game, graph.positions.states
    chosen = np.zeros(len(graph.children), np.bool_)
    if isinstance(agent, CompiledAgent) and game.is_compiled and is_compiled(agent.kind.choose):
        wrong = ask_all(
            game.rules, pointer(agent.kind.choose), agent.weights, max(1, agent.kind.memory),
            states, graph.finished, graph.first, game.bound("most_legal"), times,
            chosen,
        )  # fmt: skip
        if wrong >= 0:
            raise AgentFailed(f"{agent.name} chose a move that is not legal.")
        return chosen
    for index in np.flatnonzero(~graph.finished):
        view = View(game, states[index].copy())
        view.cells[VIEWER] = states[index, 0]
        legal = view.legal
        for time in range(times):
            agent.begin(view.seat, Chance(1 + time, int(index)))
            action = agent.choose(view)
            if action not in legal:
                raise AgentFailed(f"{agent.name} chose {action!r}, which is not legal.")
            chosen[graph.first[index] + legal.index(action)] = True
    return chosen


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades(Shown):
    """How far a player agrees with exact play, mirror images folded."""

    game: Game
    agent: str
    positions: int
    agreement: float
    won: float  # of the positions that are won, NaN if there are none
    drawn: float
    first: Worst
    second: Worst

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            "game": self.game.name, "agent": self.agent, "positions": self.positions,
            "agreement": self.agreement, "won": self.won, "drawn": self.drawn,
            "worst_first": str(self.first), "worst_second": str(self.second),
        }  # fmt: skip

    def shares(self) -> tuple[str, str, str]:
        """Write in how many positions it is right: of all, of the won, of the drawn."""
        all_of_them, won, drawn = (
            "none" if math.isnan(share) else f"{share:.1%}"
            for share in (self.agreement, self.won, self.drawn)
        )
        return all_of_them, won, drawn

    def __str__(self) -> str:
        every, won, drawn = self.shares()
        return (
            f"{self.agent} at {self.game.described()}: right in {every} of {self.positions:,} "
            f"positions ({won} of the won, {drawn} of the drawn); moving first it {self.first} at "
            f"worst, moving second it {self.second}"
        )

    def _repr_html_(self) -> str:
        columns = ("moves right in", "all", "won", "drawn", "moving first", "moving second")
        return card(
            heading(self.game.described(), "graded by exact play"),
            listing(columns, [(self.agent, *self.shares(), str(self.first), str(self.second))]),
            note(
                f"{self.positions:,} positions, mirror images folded. The last two columns: the "
                "worst that can happen, whatever the other does."
            ),
        )


def grade(game: Game, who: Any, times: int = ASKED, **bounds: Any) -> Grades:
    """Grade an agent by exact play in a game that can be solved.

    Agents that draw lots are asked `times` in every position, and all that they choose counts.
    """
    agent = find_agent(who, game)
    graph = chart(game, folded=False, **bounds)
    judge = Judge(graph)
    chosen = moves_of(agent, graph, times)
    first, second = judge.worst(chosen)
    return Grades(
        game=game, agent=agent.name, positions=len(judge.live),
        agreement=judge.agreement(chosen), won=judge.agreement(chosen, 1),
        drawn=judge.agreement(chosen, 0), first=first, second=second,
    )  # fmt: skip
