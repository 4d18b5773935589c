"""Q-learning: a table of what every move of every position is worth, learned by playing.

For games whose positions can be numbered: two seats, nothing hidden, not too many positions. The
learner plays both seats in turn; rewards come only at the end of a game (+1, 0 or -1). It moves at
random with probability epsilon and takes its best move otherwise. After each move its value goes a
step of the learning rate towards what the next position promises: its greatest value over legal
moves, times gamma. See loop.py for the two ways to look ahead.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.chance import WORD, WORDS, agents_seed, sow
from kibitz.core.compiled import JIT, in_python, is_compiled, pointer
from kibitz.core.errors import AgentFailed, BadOption, Misuse
from kibitz.core.game import Game
from kibitz.core.models import find_model, read_header
from kibitz.core.options import AGENTS, MODEL
from kibitz.core.plots import BLUE, ORANGE, QUIET, Canvas
from kibitz.core.registry import find_agent
from kibitz.core.training import Run, in_one_piece
from kibitz.learners.q_learning.loop import (
    AGENT,
    RANDOM,
    SELF,
    VISITS,
    WORTH,
    evaluate,
    find_tops,
    learn_against,
    learn_minimax,
    learn_played,
)
from kibitz.learners.q_learning.table import QTable, graph_of, read_table
from kibitz.play.agents import RANDOM as RANDOM_KIND
from kibitz.play.graph import WON, Graph, chart, unsolvable
from kibitz.search.agreement import Judge

CAN_BE_VISITED = True
COLUMNS = ("games", "first_against_random", "second_against_random", "agreement")
CHUNK = 20_000  # games between two looks at the progress bar


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set about Q-learning. The defaults are what learns best."""

    games: Annotated[int, "games against each opponent", 1, 10**10] = 100_000
    opponents: Annotated[
        str, "one after another, with + between them: self, random, an agent, a model", AGENTS
    ] = "self"
    epsilon: Annotated[str, "share of random moves: a number, or 1..0.1 to go from 1 to 0.1"] = "1"
    rate: Annotated[str, "learning rate: a number, 0.5..0.1, or 1/visits"] = "1"
    gamma: Annotated[float, "what a reward is worth one turn earlier", 0.0, 1.0] = 0.95
    look_ahead: Annotated[
        Literal["minimax", "played"], "to the other's best answer, or to the answer that was played"
    ] = "minimax"
    exploring_starts: Annotated[bool, "begin in any position, not only with the deal"] = True
    fold: Annotated[bool, "learn about mirror images together"] = True
    evaluate_every: Annotated[int, "games between two evaluations", 1, 10**10] = 1000
    evaluate_games: Annotated[int, "games against random from each seat, not learned from",
                              1, 10**7] = 200  # fmt: skip
    begin_with: Annotated[str, "go on from this model or CSV file", MODEL] = ""


# As the project this comes from trained: epsilon 0.2, first against random, then against itself,
# a learning rate of 1 / visits, no discount.
PRESETS: dict[str, dict[str, Any]] = {
    "seed": {
        "games": 20_000, "opponents": "random+self", "epsilon": "0.2", "rate": "1/visits",
        "gamma": 1.0, "look_ahead": "played", "exploring_starts": False, "fold": False,
    },
}  # fmt: skip


def unfit(game: Game) -> str | None:
    """Say why the positions of a game cannot be numbered, or None."""
    return unsolvable(game)


def way(text: str, what: str) -> tuple[float, float]:
    """Read a number, or two with .. between them: from the first to the second."""
    start, dots, end = text.partition("..")
    try:
        if end.startswith("."):
            raise ValueError
        ends = float(start), float(end if dots else start)
    except ValueError:
        ends = -1.0, -1.0
    if not all(0.0 <= number <= 1.0 for number in ends):
        raise BadOption(f"{what} is a number from 0 to 1, or two as in 1..0.1, not '{text}'.")
    return ends


class Opponent:
    """Somebody to learn against."""

    def __init__(self, name: str, game: Game) -> None:
        self.name = name
        self.code = {"self": SELF, "random": RANDOM}.get(name, AGENT)
        agent = find_agent(name, game) if self.code == AGENT else RANDOM_KIND(game)
        if not isinstance(agent, CompiledAgent) or not (
            (is_compiled(agent.kind.choose) and is_compiled(agent.kind.notice)) or not JIT
        ):
            raise Misuse(f"Q-learning needs compiled opponents, and {name} is not compiled.")
        self.agent = agent
        self.memory = np.zeros(max(1, agent.kind.memory), np.int64)


class Learner:
    """A table that learns: values and visits of moves, mirror images together if folded."""

    def __init__(self, game: Game, settings: Settings, seed: int) -> None:
        reason = unfit(game)
        if reason:
            raise Misuse(f"Q-learning cannot number the positions of {game.described()}: {reason}.")
        self.game = game
        self.settings = settings
        self.seed = seed
        self.epsilons = np.array(way(settings.epsilon, "epsilon"))
        visits = settings.rate.replace(" ", "") == "1/visits"
        self.rates = np.array([VISITS] * 2 if visits else way(settings.rate, "rate"))
        self.opponents = [Opponent(name.strip(), game) for name in settings.opponents.split("+")]
        self.whole = graph_of(game)
        self.judge = Judge(self.whole)
        self.graph, self.share, self.groups = views_of(game, settings.fold)
        graph, ends = self.graph, len(self.graph.positions)
        # Ends of the game stand behind the positions, in the order of WORTH.
        self.children = np.where(graph.children < 0, ends + WON - graph.children, graph.children)
        self.carry = np.where(
            graph.children < 0, 1.0, np.where(graph.flips, -settings.gamma, settings.gamma)
        )
        self.values = np.zeros(len(graph.children))
        self.visits = np.zeros(len(graph.children), np.int64)
        self.tops = np.concatenate([np.zeros(ends), WORTH])
        self.rngs = np.zeros((2, WORDS), np.int64)
        self.beyond: Mapping[str, np.ndarray] | None = None
        before = ""
        if settings.begin_with:
            self.take(read_table(settings.begin_with, game))
            before = trained_against(find_model(settings.begin_with, game))
        self.against = names_of(settings, before)
        self.starts, self.whole_starts = (
            live if settings.exploring_starts else live[:1]
            for live in (np.flatnonzero(~graph.finished), np.flatnonzero(~self.whole.finished))
        )

    def settle(self, values: np.ndarray, visits: np.ndarray) -> None:
        """Take over what is known of every move."""
        self.values[:], self.visits[:] = values, visits
        find_tops(self.graph.first, self.values, self.tops)

    def take(self, table: QTable) -> None:
        """Go on from a table; of mirror images the one that was visited most speaks for all."""
        self.beyond = table.beyond
        order = np.argsort(table.visits, kind="stable")
        values, visits = self.values.copy(), self.visits.copy()
        values[self.share[order]] = table.values[order]
        visits[self.share[order]] = table.visits[order]
        self.settle(values, visits)

    def table(self) -> QTable:
        """Give what has been learned so far."""
        return QTable(
            game=self.game, values=self.values[self.share], visits=self.visits[self.share],
            beyond=self.beyond,
        )  # fmt: skip

    def play(self, phase: int, begin: int, end: int) -> int:
        """Learn from games `begin` to `end` of a phase; give the updates made."""
        opponent = self.opponents[phase]
        if begin == 0:
            sow(self.rngs[0], self.seed, 0, 1 + phase)
            sow(self.rngs[1], agents_seed(self.seed), 0, 1 + phase)
        settings, graph, whole = self.settings, self.graph, self.whole
        minimax = settings.look_ahead == "minimax"
        known = (self.values, self.visits, self.tops)
        span = (begin, end, settings.games)
        bounds = self.game.bound("most_legal"), self.game.bound("most_plies")
        if opponent.code == AGENT:
            kind = opponent.agent.kind
            run = learn_against if self.game.is_compiled else in_python(learn_against)
            updates = run(
                self.game.rules, pointer(kind.choose), pointer(kind.notice),
                opponent.agent.weights, opponent.memory, self.rngs[1], whole.positions.states,
                whole.first, whole.children, self.share, self.groups, graph.first, self.children,
                self.carry, graph.flips, settings.gamma, minimax, self.whole_starts, *known,
                self.epsilons, self.rates, self.rngs[0], *span, *bounds,
            )  # fmt: skip
        else:
            learn, ahead = (
                (learn_minimax, self.carry) if minimax else (learn_played, settings.gamma)
            )
            updates = learn(
                graph.first, self.children, ahead, graph.flips, self.starts, *known,
                opponent.code, self.epsilons, self.rates, self.rngs[0], *span, bounds[1],
            )  # fmt: skip
        if updates < 0:
            raise AgentFailed(f"{opponent.name} chose {-1 - updates}, which is not legal.")
        return int(updates)

    def figures(self, games: int) -> dict[str, float]:
        """Measure how good the table is, without learning."""
        shares = np.zeros(2)
        graph = self.graph
        evaluate(
            graph.first, self.children, graph.flips, self.values, self.tops, self.seed,
            games & WORD, self.settings.evaluate_games, self.game.bound("most_plies"), shares,
        )  # fmt: skip
        agreement = self.judge.agreement(self.judge.chosen_by(self.values[self.share]))
        return dict(zip(COLUMNS, (games, *shares.tolist(), agreement), strict=True))


@functools.lru_cache(maxsize=8)
def views_of(game: Game, fold: bool) -> tuple[Graph, np.ndarray, np.ndarray]:
    """Give the graph to learn on, and the move and position there of every real one."""
    whole = graph_of(game)
    if not fold:
        return whole, np.arange(len(whole.children)), np.arange(len(whole.positions))
    folded = chart(game, folded=True)
    groups = np.array([folded.positions.find(state) for state in whole.positions.states])
    share = np.empty(len(whole.children), np.int64)
    for index, group in enumerate(groups):
        # Moves that lead to mirror images of one position are matched in their order.
        free: dict[int, list[int]] = {}
        for move in range(folded.first[group], folded.first[group + 1]):
            free.setdefault(int(folded.children[move]), []).append(move)
        for edge in range(whole.first[index], whole.first[index + 1]):
            child = int(whole.children[edge])
            moves = free[child if child < 0 else int(groups[child])]
            share[edge] = moves.pop(0) if len(moves) > 1 else moves[0]
    return folded, share, groups


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What Q-learning gives: the table, the agent that plays by it, and how good it is."""

    table: QTable
    agent: CompiledAgent
    figures: Mapping[str, float]
    worst: tuple[str, str]
    updates: int
    path: Path | None

    columns: ClassVar[tuple[str, ...]] = ("", "moving first", "moving second")

    def rows(self) -> list[tuple[str, str, str]]:
        """List how it does from each seat."""
        first, second = (self.figures[f"{seat}_against_random"] for seat in ("first", "second"))
        return [
            ("share of wins against random", f"{first:.1%}", f"{second:.1%}"),
            ("the worst that can happen to it", *self.worst),
        ]

    def summary(self) -> str:
        """Say in a line how it went."""
        return (
            f"moves right in {self.figures['agreement']:.1%} of the positions that can be reached, "
            f"mirror images folded, after {self.figures['games']:,.0f} games"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {**self.figures, "worst_first": self.worst[0], "worst_second": self.worst[1]}


def train(game: Game, settings: Settings, seed: int, run: Run) -> Learned:
    """Fill a Q-table by playing."""
    learner = Learner(game, settings, seed)
    total = settings.games * len(learner.opponents)
    run.check_visits(total)
    at = updates = 0
    kept = run.load_checkpoint()
    if kept is None:
        run.log(**learner.figures(0))
    else:
        like = {
            "values": learner.values, "visits": learner.visits, "chance": learner.rngs,
            "progress": np.zeros(2, np.int64), "curve": np.zeros((1, len(COLUMNS))),
        }  # fmt: skip
        run.check(kept, like)
        learner.settle(kept["values"], kept["visits"])
        learner.rngs[:] = kept["chance"]
        at, updates = (int(number) for number in kept["progress"])
        run.restore(kept["curve"], COLUMNS)
        for row in run.rows:
            row["games"] = int(row["games"])
    try:
        while at < total:
            phase, inside = divmod(at, settings.games)
            evaluation = next_evaluation(at, settings.evaluate_every)
            until = min(at + CHUNK, evaluation, (phase + 1) * settings.games, run.next_visit(at))
            with in_one_piece():
                updates += learner.play(phase, inside, inside + int(until) - at)
                at = int(until)
                if at in (evaluation, total):
                    run.log(**learner.figures(at))
            last = run.rows[-1]
            run.tell(at, total, f"agreement {last['agreement']:.1%} against "
                                f"{learner.opponents[phase].name}")  # fmt: skip
            run.visit(at, lambda: learner.table().agent())
            if run.is_time:
                _keep(run, learner, at, updates)
    finally:
        _keep(run, learner, at, updates)
    table = learner.table()
    first, second = learner.judge.worst(learner.judge.chosen_by(table.values))
    figures = run.rows[-1]
    about = {"games": total, "agreement": figures["agreement"], "against": learner.against}
    path = run.finish("q-table", table.arrays(), about, lambda rows, to: plot(rows, to, run))
    if run.folder is not None and game.rows is not None and table.has_rows:
        table.save_csv(run.folder / "Models" / f"{csv_name(settings, learner.against)}.csv")
    return Learned(
        table=table, agent=table.agent(), figures=figures, worst=(str(first), str(second)),
        updates=updates, path=path,
    )  # fmt: skip


def next_evaluation(done: int, every: int) -> int:
    """Give after how many games to evaluate next: 1, 2, 5, 10, 20, 50 and so on, then regularly."""
    first = (step * 10**power for power in range(11) for step in (1, 2, 5))
    early = next(games for games in first if games > done)
    return early if early < every else done - done % every + every


def _keep(run: Run, learner: Learner, at: int, updates: int) -> None:
    run.save_checkpoint(
        {
            "values": learner.values, "visits": learner.visits, "chance": learner.rngs,
            "progress": np.array([at, updates]), "curve": run.curve(),
        }
    )  # fmt: skip
    run.save_snapshot(at, "q-table", lambda: (learner.table().arrays(), {"games": at}))


def csv_name(settings: Settings, against: str = "") -> str:
    """Name a table's CSV file after how it was trained: greedy_0_2_vsRandomvsSelf.

    `against` are the names of all its opponents, where there were some before these settings.
    """
    epsilon = settings.epsilon.replace("..", "_to_").replace(".", "_")
    return f"greedy_{epsilon}_{against or names_of(settings)}"


def names_of(settings: Settings, before: str = "") -> str:
    """Name the opponents after those before: vsRandom, then vsRandomvsSelf."""
    names = [re.sub(r"\W+", "_", name.strip()) for name in settings.opponents.split("+")]
    new = [f"vs{name[:1].upper()}{name[1:]}" for name in names]
    if before.endswith(new[0]):  # longer against the same one
        new = new[1:]
    return before + "".join(new)


def trained_against(path: str | os.PathLike[str]) -> str:
    """Return the names of the opponents of a table that was trained before; empty if not known."""
    if not os.fspath(path):
        return ""
    if Path(path).suffix == ".csv":
        named = re.fullmatch(r"greedy_.*?_(vs.+)", Path(path).stem)
        return named[1] if named else ""
    try:
        about = json.loads(read_header(path)["about"])
        known = about.get("against")
        if known is None:  # made by an earlier version
            known = names_of(Settings(opponents=about["settings"]["opponents"]))
    except (AttributeError, KeyError, TypeError, ValueError):
        return ""
    return known if re.fullmatch(r"(vs\w+)?", str(known)) else ""


def plot(rows: Sequence[Mapping[str, float]], path: Path, run: Run) -> None:
    """Draw agreement with exact play, and the shares against random, over the games."""
    settings: Any = run.about["settings"]
    canvas = Canvas(
        f"{run.game.described()}: Q-learning",
        f"epsilon {settings['epsilon']}, rate {settings['rate']}, gamma {settings['gamma']}, "
        f"against {settings['opponents']}, look-ahead {settings['look_ahead']}; "
        f"seed {run.about['seed']}",
    )
    [axes] = canvas.axes()
    at = [row["games"] for row in rows]
    lines = {
        "first_against_random": ("wins first against random", QUIET, ":"),
        "second_against_random": ("wins second against random", ORANGE, "--"),
        "agreement": ("moves right", BLUE, "-"),
    }
    for column, (label, colour, dash) in lines.items():
        axes.plot(at, [row[column] for row in rows], color=colour, ls=dash, label=label)
    axes.set(xlabel="games", ylabel="share", ylim=(-0.02, 1.02), xlim=(0, at[-1]))
    axes.set_xscale("symlog", linthresh=10)
    canvas.legend()
    canvas.save(path)
