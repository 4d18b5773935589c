"""The optimizer of Q-learning: which epsilon, which opponents, and then longer and longer.

Every epsilon is trained against every opponent, and then once more with the opponents switched. All
that were trained meet in a round robin. The best are trained for longer, again and again; one that
loses to its former self is discarded. Every single training is a run of its own in the folder, so
whatever was stopped goes on where it was.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar, Literal

from kibitz.core.agent import CompiledAgent
from kibitz.core.errors import BadOption
from kibitz.core.files import save
from kibitz.core.game import Game
from kibitz.core.options import AGENTS
from kibitz.core.plots import COLOURS, Canvas
from kibitz.core.registry import find_agent
from kibitz.core.training import Run
from kibitz.learners import find_learner
from kibitz.learners import train as train_by_name
from kibitz.play.match import match
from kibitz.play.tournament import Tournament, round_robin

LEARNER = "q_learning"
SEEDS = 1 << 63
MOST_GAMES = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set about the search."""

    epsilons: Annotated[str, "shares of random moves to try, with commas between them"] = (
        "0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1"
    )
    opponents: Annotated[str, "opponents to try, with commas between them", AGENTS] = "random,self"
    base: Annotated[
        Literal["seed", "default"], "q-learning's other settings: its preset seed, or its defaults"
    ] = "seed"
    games: Annotated[int, "games of each training", 1, 10**9] = 20_000
    pair_games: Annotated[int, "games of each pair in a round robin", 2, 10**6] = 100
    keep: Annotated[float, "share of the top score that the best must have", 0.0, 1.0] = 0.8
    most_kept: Annotated[int, "how many of them at most", 1, 1000] = 8
    rounds: Annotated[int, "rounds of training the best for longer", 0, 100] = 3
    longer: Annotated[int, "how many times longer each round trains", 1, 1000] = 4


RENAMED = {"preset": "base"}  # in runs that were begun before
PRESETS: dict[str, dict[str, Any]] = {
    "quick": {"epsilons": "0.1,0.5,1", "games": 2000, "rounds": 1, "pair_games": 20},
}


def unfit(game: Game) -> str | None:
    """Say why Q-learning cannot learn a game, or None."""
    return find_learner(LEARNER).unfit(game)


@dataclass(slots=True, kw_only=True)
class Entry:
    """One trained agent of the search."""

    name: str
    epsilon: float
    opponents: str  # as q-learning takes them, with + between them
    round: int  # 0 for the grid
    games: int
    agent: CompiledAgent
    path: Path
    figures: Mapping[str, float]
    worst: tuple[str, str]
    score: float = math.nan
    against_former: float = math.nan


@dataclass(frozen=True, slots=True, kw_only=True)
class Searched:
    """What the search gives: everybody it trained, the winner and the last round robin."""

    entries: tuple[Entry, ...]
    best: Entry
    discarded: tuple[str, ...]
    tournament: Tournament
    agent: CompiledAgent
    path: Path | None

    columns: ClassVar[tuple[str, ...]] = (
        "agent", "round", "games", "score", "moves right", "first", "second", "worst second",
    )  # fmt: skip

    def rows(self) -> list[tuple[str, ...]]:
        """List the last round robin, and how good everybody is."""
        by_name = {entry.name: entry for entry in self.entries}
        return [
            (
                name, str(entry.round), f"{entry.games:,}", f"{score:.1%}",
                f"{entry.figures['agreement']:.1%}",
                f"{entry.figures['first_against_random']:.1%}",
                f"{entry.figures['second_against_random']:.1%}", entry.worst[1],
            )
            for name, score in self.tournament.scores.items()
            for entry in [by_name[name]]
        ]  # fmt: skip

    def summary(self) -> str:
        """Say in a line how it went."""
        gone = f"; discarded {', '.join(self.discarded)}" if self.discarded else ""
        return (
            f"best of {len(self.entries)}: {self.best.name}, which moves right in "
            f"{self.best.figures['agreement']:.1%} of the positions{gone}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            "best": self.best.name,
            "discarded": list(self.discarded),
            "agents": [_row(entry) for entry in self.entries],
        }


def _row(entry: Entry) -> dict[str, float | str]:
    return {
        "agent": entry.name, "round": entry.round, "epsilon": entry.epsilon,
        "opponents": entry.opponents, "games": entry.games, "score": entry.score,
        "against_former": entry.against_former, **{
            name: entry.figures[name]
            for name in ("agreement", "first_against_random", "second_against_random")
        },
    }  # fmt: skip


def train(game: Game, settings: Settings, seed: int, run: Run) -> Searched:
    """Search for the best way to train, and train the best for longer."""
    with TemporaryDirectory() as spare:
        return Search(game, settings, seed, run, Path(run.folder or spare)).search()


class Search:
    """A search under way."""

    def __init__(self, game: Game, settings: Settings, seed: int, run: Run, folder: Path) -> None:
        self.game = game
        self.settings = settings
        self.seed = seed
        self.run = run
        self.folder = folder
        self.epsilons = [_number(text) for text in settings.epsilons.split(",")]
        self.opponents = [name.strip() for name in settings.opponents.split(",")]
        for name, given in (("epsilons", self.epsilons), ("opponents", self.opponents)):
            if len(set(given)) < len(given):
                raise BadOption(f"Among the {name} one is there twice; leave it out.")
        if len(self.epsilons) * len(self.opponents) < 2:
            raise BadOption("A search needs at least two epsilons or two opponents to compare.")
        longest = settings.games * settings.longer**settings.rounds
        if longest > MOST_GAMES:
            raise BadOption(f"The last round would train for {longest:,} games; choose less.")
        for name in self.opponents:
            if name not in ("self", "random"):
                find_agent(name, game)
        self.entries: list[Entry] = []
        self.discarded: list[str] = []
        self.met: dict[tuple[str, str], tuple[float, float]] = {}  # shares of pairs
        grid = len(self.epsilons) * len(self.opponents)
        self.total = grid * len(self.opponents) + settings.rounds * settings.most_kept
        self.done = 0

    def search(self) -> Searched:
        """Go through the grid, the switch, and the rounds."""
        self.run.claim()
        grid = [self.trained(e, name, None, 0) for name in self.opponents for e in self.epsilons]
        everybody = list(grid)
        for entry in grid:
            for name in self.opponents:
                if name != entry.opponents:
                    everybody.append(self.trained(entry.epsilon, name, entry, 0))
        tournament = self.ranked(everybody)
        for number in range(1, self.settings.rounds + 1):
            best = self.best(everybody)
            for entry in best:
                last = entry.opponents.split("+")[-1]
                longer = self.trained(entry.epsilon, last, entry, number)
                pair = [longer.agent, entry.agent]
                result = match(self.game, pair, self.settings.pair_games, seed=self.seed)
                longer.against_former = result.agents[0].share.mean
                if longer.against_former < 0.5:
                    self.discarded.append(longer.name)
                else:
                    everybody.remove(entry)
                    everybody.append(longer)
            tournament = self.ranked(everybody)
        return self.finished(tournament, everybody)

    def trained(self, epsilon: float, opponent: str, before: Entry | None, number: int) -> Entry:
        """Train with an epsilon against an opponent, from nothing or from an earlier table."""
        chain = [*before.opponents.split("+"), opponent] if before else [opponent]
        if number and before:
            chain.pop()  # longer against whom it was trained last
        games = self.settings.games * self.settings.longer**number
        name = naming(epsilon, chain) + (f"_{number}" if number else "")
        self.run.tell(self.done, self.total, name)
        preset = None if self.settings.base == "default" else self.settings.base
        result = train_by_name(
            LEARNER, self.game, seed=(self.seed + len(self.entries)) % SEEDS,
            folder=self.folder / "runs" / name, plots=False, preset=preset,
            epsilon=f"{epsilon:g}", opponents=opponent, games=games,
            begin_with=str(before.path) if before else "", evaluate_every=max(1, games // 10),
            progress=lambda *told: self.run.tell(self.done, self.total, f"{name}: {told[2]}"),
        )  # fmt: skip
        self.done += 1
        entry = Entry(
            name=name, epsilon=epsilon, opponents="+".join(chain), round=number,
            games=games + (before.games if before else 0), agent=result.agent, path=result.path,
            figures=result.figures, worst=result.worst,
        )  # fmt: skip
        entry.agent.name = name
        self.entries.append(entry)
        return entry

    def ranked(self, entries: Sequence[Entry]) -> Tournament:
        """Let them all meet, and note their scores."""
        agents = {entry.name: entry.agent for entry in entries}
        tournament = round_robin(
            self.game, agents, self.settings.pair_games, self.seed,
            lambda done, pairs: self.run.tell(
                self.done, self.total, f"round robin of {len(agents)}: {done} of {pairs} pairs"
            ),
            self.met,
        )  # fmt: skip
        for entry in entries:
            entry.score = tournament.scores[entry.name]
        return tournament

    def best(self, entries: Sequence[Entry]) -> list[Entry]:
        """Give those that come near the top score, the best first."""
        ordered = sorted(entries, key=lambda entry: -entry.score)
        near = [e for e in ordered if e.score >= self.settings.keep * ordered[0].score]
        return near[: self.settings.most_kept]

    def finished(self, tournament: Tournament, entries: Sequence[Entry]) -> Searched:
        """Write the winner's model, the tables and the picture."""
        best = self.best(entries)[0]
        for entry in self.entries:
            self.run.log(**_row(entry))
        learner = find_learner(LEARNER)
        table = learner.read_table(best.path, self.game)
        about = {
            "against": learner.names_of(learner.Settings(opponents=best.opponents)),
            "best": best.name,
            "games": best.games,
            "agreement": best.figures["agreement"],
        }
        path = self.run.finish(
            "q-table", table.arrays(), about, lambda rows, to: plot(rows, to, self.run)
        )
        if self.run.folder is not None:
            if self.game.rows is not None and table.has_rows:
                called = naming(best.epsilon, best.opponents.split("+"))
                table.save_csv(self.run.folder / "Models" / f"{called}.csv")
            names = list(tournament.names)
            lines = [",".join(["", *names])]
            for name, shares in zip(names, tournament.shares.tolist(), strict=True):
                cells = ("" if math.isnan(share) else f"{share:.4f}" for share in shares)
                lines.append(",".join([name, *cells]))
            save(self.run.folder / "tournament.csv", "\n".join(lines) + "\n")
        self.run.tell(self.total, self.total, best.name)
        return Searched(
            entries=tuple(self.entries), best=best, discarded=tuple(self.discarded),
            tournament=tournament, agent=best.agent, path=path,
        )  # fmt: skip


def naming(epsilon: float, opponents: Sequence[str]) -> str:
    """Name an agent after how it was trained: greedy_0_2_vsRandomvsSelf."""
    learner = find_learner(LEARNER)
    return learner.csv_name(learner.Settings(epsilon=f"{epsilon:g}", opponents="+".join(opponents)))


def _number(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0.0 <= number <= 1.0:
        raise BadOption(f"Epsilons are numbers from 0 to 1 with commas between them, not '{text}'.")
    return number


def plot(rows: Sequence[Mapping[str, Any]], path: Path, run: Run) -> None:
    """Draw how good the grid is by epsilon, and what longer training brings."""
    name, seed = run.game.name, run.about["seed"]
    canvas = Canvas(
        f"{run.game.described()}: search", f"kibitz train {name} q-optimizer --seed {seed}", 10.0
    )
    left, middle, right = canvas.axes(3)
    chains = list(dict.fromkeys(row["opponents"] for row in rows))
    colours = dict(zip(chains, itertools.cycle(COLOURS), strict=False))
    for axes, column in ((left, "score"), (middle, "agreement")):
        for chain in chains:
            own = [row for row in rows if row["opponents"] == chain and row["round"] == 0]
            axes.plot(
                [row["epsilon"] for row in own], [row[column] for row in own], marker="o", ms=4,
                color=colours[chain], label="vs " + " then ".join(chain.split("+")),
            )  # fmt: skip
    left.set(xlabel="epsilon", ylabel="score in the round robin")
    middle.set(xlabel="epsilon", ylabel="moves right, of all positions")
    for chain, epsilon in dict.fromkeys((row["opponents"], row["epsilon"]) for row in rows):
        own = [r for r in rows if (r["opponents"], r["epsilon"]) == (chain, epsilon)]
        if len(own) > 1:
            right.plot(
                [row["games"] for row in own], [row["agreement"] for row in own], marker="o", ms=4,
                color=colours[chain],
            )  # fmt: skip
    right.set(xlabel="games", ylabel="moves right, of those trained longer", xscale="log")
    canvas.legend(left, columns=4)
    canvas.save(path)
