"""Evolution strategies over weights: of a game's strategies, which vote on every move, or of an
agent that weighs what it sees.

Where a room has strategies, a genome is one weight for each. At its turn each strategy chooses a
move and votes for it with its weight (weights are shifted so that none is negative); the move with
the greatest sum is played. Where a room has an evaluation, a genome says how far its weights are
from those it starts with. Fitness is the share of games won. Methods: (1+λ) with Gaussian mutation
and the 1/5 success rule (Rechenberg, 1973), (1,λ), (μ/μ,λ) with intermediate recombination, and
CMA-ES (Hansen, 2001; from the package `cmaes`).

Everything but the games is decided by the seed, so a checkpoint is the list of all fitnesses so
far: a resumed run asks the same questions again and is given the known answers.
"""

from __future__ import annotations

import functools
import math
import os
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np

from kibitz.core import own_code
from kibitz.core.agent import CompiledAgent, Kind
from kibitz.core.compiled import compiled_loop, in_python
from kibitz.core.errors import BadModel, BadOption, Misuse
from kibitz.core.game import Game
from kibitz.core.models import find_model, load_model, own_model
from kibitz.core.options import AGENTS, CODE, Functions, Text
from kibitz.core.plots import BLUE, FAINT, ORANGE, Canvas
from kibitz.core.registry import find_agent
from kibitz.core.training import Run
from kibitz.core.voting import own_strategies, shifted, voters_of
from kibitz.play.loop import WHAT, play_games
from kibitz.play.match import Runner
from kibitz.play.votes import wishes_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set about an evolution. The defaults are what works best."""

    method: Annotated[
        Literal["plus", "comma", "recombine", "cma"],
        "(1+λ), (1,λ), (μ/μ,λ) or CMA-ES",
    ] = "recombine"
    offspring: Annotated[int, "λ, children in each generation", 1, 10_000] = 16
    budget: Annotated[int, "children in all: generations are budget / offspring", 1, 10**9] = 2400
    games: Annotated[int, "games that decide a fitness", 1, 10**6] = 400
    opponent: Annotated[str, "an agent, or all: every strategy, or the usual rivals", AGENTS] = (
        "all"
    )
    without: Annotated[str, "strategies or weights left out, with + between them"] = ""
    strategies: Annotated[str, "strategies of your own that vote, too: FILE.py:NAME, or several "
                          "with + between them", CODE] = ""  # fmt: skip
    sigma: Annotated[float, "spread of the first mutations", 1e-9, 1e9] = 1.0
    adapt_every: Annotated[int, "generations between two looks at the success", 1, 10**9] = 10
    adapt_by: Annotated[float, "factor by which sigma then falls or rises", 0.01, 1.0] = 0.85
    reevaluate: Annotated[bool, "play the parent again each generation and average"] = True
    cores: Annotated[int, "how many cores to use; 0 for all", 0, 1024] = 0


# The settings of the project this comes from: 100 games, the 1/5 rule every 100 generations.
PRESETS: dict[str, dict[str, Any]] = {
    "seed": {
        "method": "plus", "offspring": 10, "budget": 10_000, "games": 100, "opponent": "gabriele",
        "sigma": 1.0, "adapt_every": 100, "adapt_by": 0.9, "reevaluate": False,
    },
}  # fmt: skip


@compiled_loop
def play_genomes(
    rules, chooses, notices, listens, weights, starts, memory, blank, seed, agents_seed, first,
    most_legal, most_plies, genomes, points, plies, trouble,
):  # fmt: skip
    """Play as many games with each genome as there are rows in points[genome].

    genomes [genomes, weights], points [genomes, games, seats], plies [games].
    """
    own = weights.copy()
    games = points.shape[1]
    for genome in range(len(genomes)):
        own[: genomes.shape[1]] = genomes[genome]
        play_games(
            rules, chooses, notices, listens, own, starts, memory, blank, seed, agents_seed,
            first + genome * games, True, most_legal, most_plies, points[genome], plies, trouble,
        )  # fmt: skip
        if trouble[WHAT]:
            return


class Votes:
    """What evolves where a room has strategies: the weight of each one's vote."""

    what = "strategy"
    spread = 1.0  # of the first parent

    def __init__(self, game: Game, own: Mapping[str, Any] | None = None) -> None:
        self.voters = voters_of(game, own)
        self.names = list(self.voters.names)
        self.rivals = self.names
        self.kinds = self.voters.kinds

    def weights(self, genome: np.ndarray, pool: np.ndarray) -> np.ndarray:
        """Turn a genome into weights of votes: none negative, nought outside the pool."""
        return votes_of(genome, pool)

    def kind(self, weights: np.ndarray) -> Kind:
        """Make the kind of agent that plays with such weights."""
        return self.voters.kind(weights)


class Weighing:
    """What evolves where a room has an evaluation: how far each weight is from where it starts."""

    what = "weight"
    spread = 0.0  # it begins with the weights as they are

    def __init__(self, game: Game) -> None:
        self.evaluation = game.evaluation
        self.names = list(self.evaluation.start)
        self.rivals = list(self.evaluation.rivals)
        self.kinds: Mapping[str, Kind] = game.strategies
        self.start = np.array(list(self.evaluation.start.values()))

    def weights(self, genome: np.ndarray, pool: np.ndarray) -> np.ndarray:
        """Move the weights by a share of their size; those outside the pool are nought."""
        weights = np.zeros(len(pool), np.float32)
        start = self.start[pool]
        weights[pool] = start + SHARE * np.maximum(np.abs(start), LEAST) * genome
        return weights

    def kind(self, weights: np.ndarray) -> Kind:
        """Make the kind of agent that plays with such weights."""
        return self.evaluation.having(weights)


# How far a step of one moves a weight of an evaluation: so much of its size, at least of LEAST.
SHARE, LEAST = 0.25, 0.4


def unfit(game: Game) -> str | None:
    """Say why nothing can evolve in a game, or None."""
    if game.players == 1:
        return "with one seat there is nobody to win against"
    return without_subject(game)


def without_subject(game: Game) -> str | None:
    """Say why a game has nothing that could evolve, or None."""
    if (game.strategies and game.ballot is not None) or game.evaluation is not None:
        return None
    return "the game offers neither strategies that could vote nor an evaluation to tune"


def subject_of(game: Game, own: Mapping[str, Any] | None = None) -> Votes | Weighing:
    """Return what can evolve in a game; `own` are strategies from outside, which vote as well."""
    if without_subject(game):
        raise Misuse(
            f"{game.name} offers neither strategies that could vote nor an evaluation to tune; "
            "evolution needs one of them."
        )
    if game.strategies and game.ballot is not None:
        return Votes(game, own)
    if own:
        raise Misuse(f"{game.name} has no strategies that vote, so {', '.join(own)} cannot join.")
    return Weighing(game)


class Arena:
    """Fitness: the share of games that a genome wins against its opponents."""

    def __init__(
        self, game: Game, settings: Settings, seed: int, subject: Votes | Weighing | None = None
    ) -> None:
        self.game = game
        self.seed = seed
        subject = subject or subject_of(game)
        self.kinds = subject.kinds
        rivals = subject.rivals if settings.opponent == "all" else [settings.opponent]
        seats = game.players
        # An equal number of games against each, in whole rounds of the seats.
        self.games = -(-settings.games // (len(rivals) * seats)) * seats
        names = subject.names if isinstance(subject, Votes) else []
        self.wishes = None
        if isinstance(subject, Votes) and set(rivals) <= set(names):
            self.wishes = wishes_of(game, subject.voters)
        self.runners: list[Runner] = []
        if self.wishes is None:  # play every move
            player = subject.kind(np.zeros(len(subject.names), np.float32))(game)
            self.runners = [
                Runner(game, [player, *self._rivals(rival)], seed, True) for rival in rivals
            ]
        # Who plays a genome's games against each rival: (genomes, first game) -> shares.
        self.players = [functools.partial(self._play, runner) for runner in self.runners] or [
            functools.partial(self._play_numbered, names.index(rival)) for rival in rivals
        ]
        self.cores = settings.cores or os.cpu_count() or 1
        self.pool = ThreadPoolExecutor(self.cores)
        self.played = 0  # games so far: each has a stream of chance of its own

    def _rivals(self, name: str) -> list[Any]:
        return [
            self.kinds[name](self.game) if name in self.kinds else find_agent(name, self.game)
            for _ in range(self.game.players - 1)
        ]

    def fitness(self, genomes: np.ndarray) -> np.ndarray:
        """Play with all weights ([genomes, weights]); give the shares of games they won."""
        shares = np.zeros(len(genomes))
        parts = np.array_split(np.arange(len(genomes)), min(self.cores, len(genomes)))
        for play in self.players:
            first = self.played
            self.played += self.games * len(genomes)

            def work(part: np.ndarray, play: Any = play, first: int = first) -> np.ndarray:
                return play(genomes[part], first + int(part[0]) * self.games)

            shares += np.concatenate(list(self.pool.map(work, parts)))
        return shares / len(self.players)

    def skip(self, genomes: int) -> None:
        """Pass over the chance of so many genomes, whose fitness is known already."""
        self.played += self.games * genomes * len(self.players)

    def _play_numbered(self, rival: int, genomes: np.ndarray, first: int) -> np.ndarray:
        assert self.wishes is not None
        return self.wishes.play(genomes, rival, self.seed, first // self.games, self.games)

    def _play(self, runner: Runner, genomes: np.ndarray, first: int) -> np.ndarray:
        points = np.empty((len(genomes), self.games, self.game.players))
        plies = np.empty(self.games, np.int32)
        trouble = np.zeros(4, np.int64)
        loop = play_genomes if runner.is_compiled else in_python(play_genomes)
        loop(
            self.game.rules, runner.chooses, runner.notices, runner.listens, runner.weights,
            runner.starts, runner.fresh_memory(), runner.blank, self.seed, runner.agents_seed,
            first, *runner.bounds, genomes, points, plies, trouble,
        )  # fmt: skip
        runner.check(trouble)
        on_top = points == points.max(axis=2, keepdims=True)
        return (on_top[:, :, 0] / on_top.sum(axis=2)).mean(axis=1)


class Answers:
    """Fitnesses in the order in which they were asked for; those known already are not played."""

    def __init__(
        self, arena: Arena, subject: Votes | Weighing, pool: np.ndarray, known: np.ndarray
    ) -> None:
        self.arena = arena
        self.subject = subject
        self.pool = pool  # [weights], True for those that may differ from nought
        self.known = known.tolist()
        self.asked = 0

    def ask(self, genomes: np.ndarray) -> np.ndarray:
        """Give the fitness of each genome."""
        count = len(genomes)
        if self.asked + count <= len(self.known):
            fitness = np.array(self.known[self.asked : self.asked + count])
            self.arena.skip(count)
        else:
            del self.known[self.asked :]  # a generation that was cut short is played again
            fitness = self.arena.fitness(
                np.stack([self.subject.weights(genome, self.pool) for genome in genomes])
            )
            self.known += fitness.tolist()
        self.asked += count
        return fitness


def votes_of(genome: np.ndarray, pool: np.ndarray) -> np.ndarray:
    """Turn a genome into weights of votes: none negative, nought outside the pool."""
    weights = np.zeros(len(pool), np.float32)
    weights[pool] = shifted(genome)
    return weights


@dataclass(frozen=True, slots=True, kw_only=True)
class Evolved:
    """What an evolution gives: weights by name, and the agent that plays with them."""

    weights: dict[str, float]
    fitness: float  # of the last parent: the mean of all its evaluations
    evaluations: int
    agent: CompiledAgent
    path: Path | None

    what: str = "strategy"  # that has a weight
    strategies: str = ""  # from outside, as they were named

    @property
    def who(self) -> str:
        """The name of the agent, as one types it."""
        return named_with(str(self.path), self.strategies) if self.strategies else str(self.path)

    @property
    def columns(self) -> tuple[str, ...]:
        """Name the columns of `rows`."""
        return (self.what, "value" if self.what == "weight" else "weight")

    def rows(self) -> list[tuple[str, str]]:
        """List the names by weight."""
        by_weight = sorted(self.weights.items(), key=lambda pair: -pair[1])
        return [(name, f"{weight:.3f}") for name, weight in by_weight]

    def summary(self) -> str:
        """Say in a line how it went."""
        return f"fitness {self.fitness:.3f} after {self.evaluations:,} evaluations"

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            "weights": self.weights, "fitness": self.fitness, "evaluations": self.evaluations,
        }  # fmt: skip


def train(game: Game, settings: Settings, seed: int, run: Run) -> Evolved:
    """Evolve the weights of a game's strategies, or of its evaluation."""
    own = own_strategies(settings.strategies)
    subject = subject_of(game, own)
    if game.players == 1:
        raise Misuse(f"Evolution cannot learn {game.described()}: {unfit(game)}.")
    pool = pool_of(game, subject.names, settings.without)
    kept = run.load_checkpoint()
    known = np.zeros(0) if kept is None else kept["fitness"]
    answers = Answers(Arena(game, settings, seed, subject), subject, pool, known)
    generations = max(1, settings.budget // settings.offspring)
    method = METHODS[settings.method](settings, int(pool.sum()), seed, subject.spread)

    def keep() -> None:
        run.save_checkpoint({"fitness": np.array(answers.known)})
        # What is known from before is gone through again first.
        if run.rows and answers.asked >= len(known):
            run.save_snapshot(len(run.rows), "evolved", model)

    def model() -> tuple[dict[str, np.ndarray], dict[str, Any]]:
        about: dict[str, Any] = {"strategies": subject.names, "fitness": method.fitness}
        if own:
            about["own"] = dict(zip(own, settings.strategies.split("+"), strict=True))
        return {"weights": subject.weights(method.parent, pool)}, about

    try:
        keep()
        for generation in range(generations):
            method.step(answers)
            run.log(
                generation=generation + 1, evaluations=answers.asked, fitness=method.fitness,
                best_child=method.best_child, sigma=method.sigma,
            )  # fmt: skip
            words = f"fitness {method.fitness:.3f}, sigma {method.sigma:.3g}"
            run.tell(generation + 1, generations, words)
            if run.is_time:
                keep()
    finally:
        keep()
        answers.arena.pool.shutdown()
    arrays, about = model()
    found = arrays["weights"]
    weights = {name: float(weight) for name, weight in zip(subject.names, found, strict=True)}
    path = run.finish("evolved", arrays, about, lambda rows, to: plot(rows, to, run))
    return Evolved(
        weights=weights, fitness=method.fitness, evaluations=answers.asked,
        agent=subject.kind(found)(game), path=path, what=subject.what,
        strategies=settings.strategies,
    )  # fmt: skip


def pool_of(game: Game, names: Sequence[str], without: str) -> np.ndarray:
    """Give which strategies may vote, or which weights count."""
    left_out = {name for name in without.split("+") if name}
    wrong = left_out - set(names)
    if wrong:
        raise BadOption(
            f"{', '.join(sorted(wrong))}: {game.name} has nothing of that name to leave out. "
            f"There are: {', '.join(names)}."
        )
    pool = np.array([name not in left_out for name in names])
    if not pool.any():
        raise BadOption("Everything is left out; something must decide.")
    return pool


# --- methods -----------------------------------------------------------------------------------


class Plus:
    """(1+λ): the parent stays unless a child is at least as fit; sigma by the 1/5 rule."""

    keeps_parent = True

    def __init__(self, settings: Settings, size: int, seed: int, spread: float = 1.0) -> None:
        self.settings = settings
        self.rng = np.random.default_rng(seed)
        self.parent = spread * self.rng.normal(size=size)
        self.fitness = math.nan  # the mean of the parent's evaluations
        self.evaluations = 0  # of the parent
        self.best_child = math.nan
        self.sigma = settings.sigma
        self.better = self.generation = 0

    def children(self) -> np.ndarray:
        """Mutate the parent."""
        steps = self.rng.normal(size=(self.settings.offspring, len(self.parent)))
        return self.parent + self.sigma * steps

    def step(self, answers: Answers) -> None:
        """Go through one generation."""
        children = self.children()
        if self.evaluations == 0 or (self.settings.reevaluate and self.keeps_parent):
            again, *rest = answers.ask(np.vstack([self.parent, children]))
            total = again if self.evaluations == 0 else self.fitness * self.evaluations + again
            self.evaluations += 1
            self.fitness = float(total / self.evaluations)
            fitness = np.array(rest)
        else:
            fitness = answers.ask(children)
        self.best_child = float(fitness.max())
        self.better += int((fitness > self.fitness).sum())
        self.select(children, fitness)
        self.generation += 1
        if self.generation % self.settings.adapt_every == 0:
            rate = self.better / (self.settings.offspring * self.settings.adapt_every)
            if rate < 1 / 5:
                self.sigma *= self.settings.adapt_by
            elif rate > 1 / 5:
                self.sigma /= self.settings.adapt_by
            self.better = 0

    def select(self, children: np.ndarray, fitness: np.ndarray) -> None:
        """Let the best child replace the parent if it is fitter."""
        best = int(fitness.argmax())
        if fitness[best] > self.fitness:
            self.adopt(children[best], float(fitness[best]))

    def adopt(self, genome: np.ndarray, fitness: float) -> None:
        """Take a new parent."""
        self.parent, self.fitness, self.evaluations = genome, fitness, 1


class Comma(Plus):
    """(1,λ): the best child always replaces the parent."""

    keeps_parent = False

    def select(self, children: np.ndarray, fitness: np.ndarray) -> None:
        """Take the best child."""
        best = int(fitness.argmax())
        self.adopt(children[best], float(fitness[best]))


class Recombine(Comma):
    """(μ/μ,λ): the mean of the best quarter of the children is the next parent."""

    def select(self, children: np.ndarray, fitness: np.ndarray) -> None:
        """Take the mean of the best."""
        best = np.argsort(-fitness, kind="stable")[: max(1, len(children) // 4)]
        self.adopt(children[best].mean(axis=0), float(fitness[best].mean()))


class Cma(Plus):
    """CMA-ES: the whole distribution of the children is learned."""

    keeps_parent = False

    def __init__(self, settings: Settings, size: int, seed: int, spread: float = 1.0) -> None:
        super().__init__(settings, size, seed, spread)
        from cmaes import CMA

        if settings.offspring < 3 or size < 2:
            raise BadOption("CMA-ES needs at least 3 offspring and 2 weights in the pool.")
        self.cma = CMA(
            mean=np.zeros(size), sigma=settings.sigma, seed=seed % 2**32,
            population_size=settings.offspring,
        )  # fmt: skip

    def step(self, answers: Answers) -> None:
        """Ask for children, play them, tell their fitness."""
        children = np.stack([self.cma.ask() for _ in range(self.settings.offspring)])
        fitness = answers.ask(children)
        self.cma.tell([(child, -f) for child, f in zip(children, fitness, strict=True)])
        self.best_child = float(fitness.max())
        self.sigma = float(self.cma._sigma)
        self.adopt(self.cma.mean, float(answers.ask(self.cma.mean[None])[0]))


METHODS = {"plus": Plus, "comma": Comma, "recombine": Recombine, "cma": Cma}


# --- the agent ---------------------------------------------------------------------------------


def voting_kind(game: Game, weights: np.ndarray) -> Kind:
    """Make the kind of agent that plays what the game's strategies vote for."""
    return voters_of(game).kind(weights)


class EvolvedKind:
    """Play what the game's strategies vote for, or its evaluation says, with evolved weights."""

    options = (
        Text(name="model", default="", help="a model that evolution made; the game's own if none"),
        Text(
            name="strategies", default="", names=CODE,
            help="strategies of your own that the model was made with: FILE.py:NAME",
        ),
    )  # fmt: skip

    def summary(self) -> str:
        """Say in a line who this is."""
        return str(self.__doc__)

    def unfit(self, game: Game) -> str | None:
        """Say why it cannot play a game, or None."""
        return without_subject(game)

    def __call__(self, game: Game, model: str = "", strategies: Any = "") -> CompiledAgent:
        """Make the agent from its model, or from the one that comes with the game."""
        strategies = strategies if isinstance(strategies, str) else Functions.of(strategies)
        if not model:
            own = own_model(game, "evolved")
            if own is None:
                raise Misuse(
                    f"No model comes with {game.name}; make one: kibitz train {game.name} evolution"
                )
            model = str(own)
        model = str(find_model(model, game))
        # Weights mean the same whatever the settings of the game.
        arrays, about = load_model(model, "evolved", game, any_settings=True)
        subject = subject_of(game, _in_order(own_strategies(strategies), about))
        if about.get("strategies") != subject.names:
            raise BadModel(_what_differs(model, about, subject.names))
        weights = arrays.get("weights")
        if weights is None or weights.shape != (len(subject.names),) or weights.dtype != np.float32:
            raise BadModel(f"'{model}' is a damaged model: its weights do not fit.")
        return subject.kind(weights)(game)


def _in_order(own: Mapping[str, Any], about: Mapping[str, Any]) -> dict[str, Any]:
    """Return strategies in the order in which a model has their weights."""
    names = about.get("strategies")
    known = [name for name in names if name in own] if isinstance(names, list) else []
    return {name: own[name] for name in dict.fromkeys([*known, *own])}


def _what_differs(model: str, about: Mapping[str, Any], names: Sequence[str]) -> str:
    """Say why a model does not fit the strategies that are there, and what to do."""
    own, made_with = about.get("own"), about.get("strategies")
    own = own if isinstance(own, dict) and isinstance(made_with, list) else {}
    missing = [name for name in own if name not in names]
    if missing:
        texts = [
            text if own_code.parse(text) else f"FILE.py:{text}" for text in map(str, own.values())
        ]
        return (
            f"'{model}' was made with strategies from outside, whose code is not in a model: "
            f"{', '.join(missing)}. Name them: {named_with(model, '+'.join(texts))}"
        )
    return f"'{model}' was made with other strategies or weights; train it again."


def named_with(model: str, strategies: str) -> str:
    """Write the agent that plays by a model with strategies of the user's own."""
    return f"evolved:model={model},strategies={strategies}"


EVOLVED = EvolvedKind()


def plot(rows: Sequence[Mapping[str, float]], path: Path, run: Run) -> None:
    """Draw the curve of fitness and sigma."""
    about: dict[str, Any] = run.about
    settings = about["settings"]
    canvas = Canvas(
        f"{run.game.described()}: evolution, seed {about['seed']}",
        f"{settings['method']}, {settings['games']} games a fitness, opponent "
        f"{settings['opponent']}; kibitz train {run.game.name} evolution --seed {about['seed']}",
    )
    [left] = canvas.axes()
    at = [row["evaluations"] for row in rows]
    left.plot(at, [row["best_child"] for row in rows], color=FAINT, label="best child")
    left.plot(at, [row["fitness"] for row in rows], color=BLUE, label="parent")
    left.set(xlabel="fitness evaluations", ylabel="share of games won", ylim=(-0.02, 1.02))
    right = left.twinx()
    right.spines["top"].set_visible(False)
    right.plot(at, [row["sigma"] for row in rows], color=ORANGE, ls="--", label="sigma")
    right.set(ylabel="sigma", yscale="log")
    canvas.legend()
    canvas.save(path)
