"""What the demo trains: each learner once, briefly, with figures before and after, and a curve."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from kibitz.core.errors import Misuse
from kibitz.core.game import Game
from kibitz.core.registry import find_game
from kibitz.core.training import Watcher
from kibitz.learners import train, unfit
from kibitz.play.match import match

GENERATION, CHILDREN = 16, 320  # of evolution: the first generation, and all of them
SHORT, LONG = 100, 5_000  # games of Q-learning
SMALL_HANABI = {"colours": 2, "bomb": "pile"}  # rules for it are learned within seconds
CLASSIFIER = {
    "method": "population", "games": 4_000, "young": 5, "protected": 5, "caution": 1,
    "generation": 1, "easy": 0, "tested_on": 400, "compacted_on": 0, "cores": 1,
}  # fmt: skip
SEARCH = {"trials": 6, "seeds": 1, "games": 2_000, "tested_on": 400, "cores": 1,
          "vary": "population+generation+explore+caution+young+renewed"}  # fmt: skip
NETWORK = {
    "decisions": 24_576, "buffer": 4_096, "boards": 64, "hidden": "32", "option_hidden": "16",
    "rivals": "random", "evaluate_every": 1, "evaluate_games": 200, "threads": 1, "cores": 1,
}  # fmt: skip


SHIPPED = {"ppo": "policy", "td-lambda": "td"}  # agents whose networks come with kibitz


class Curve(Watcher):
    """Collects the rows of a training run."""

    def __init__(self) -> None:
        self.rows: list[Mapping[str, Any]] = []

    def row(self, figures: Mapping[str, Any]) -> None:
        """Keep a row."""
        self.rows.append(dict(figures))

    def points(self, x: str, y: str) -> list[tuple[float, float]]:
        """Return one figure over another."""
        return [(float(row[x]), float(row[y])) for row in self.rows]


def learn(learner: str, game: Game, seed: int, **settings: Any) -> tuple[Any, Curve]:
    """Train and return what the learner returns, and its curve."""
    reason = unfit(learner, game)
    if reason:
        raise Misuse(f"{reason[0].upper()}{reason[1:]}")
    curve = Curve()
    return train(learner, game, seed=seed, plots=False, watcher=curve, **settings), curve


def lesson(
    learner: str, game: str, before: float, after: float, figure: str, effort: str, began: float,
    curve: list[tuple[float, float]], x: str, y: str, **look: Any,
) -> dict[str, Any]:  # fmt: skip
    """Describe what was learned; `look` says how the curve is drawn, see charts.py."""
    return {
        "learner": learner, "game": game, "before": before, "after": after, "figure": figure,
        "effort": effort, "seconds": time.perf_counter() - began,
        "curve": {"points": curve, "x": x, "y": y, **look},
    }  # fmt: skip


def evolution(seed: int) -> dict[str, Any]:
    """Evolve the weights with which Nim's strategies vote."""
    began = time.perf_counter()
    game = find_game("nim")
    first, _ = learn("evolution", game, seed, budget=GENERATION, cores=1)
    last, curve = learn("evolution", game, seed, budget=CHILDREN, cores=1)
    before, after = (
        match(game, [it.agent, "random"], 2_000, seed=seed, cores=1).agents[0].share.mean
        for it in (first, last)
    )
    return lesson(
        "evolution", game.title, before, after, "wins against random",
        f"{GENERATION} and {CHILDREN} children", began, curve.points("evaluations", "fitness"),
        "evaluations", "wins against 17 strategies", percent=True,
    )  # fmt: skip


def q_learning(seed: int) -> dict[str, Any]:
    """Fill a Q-table and compare it with exact play."""
    began = time.perf_counter()
    game = find_game("tapnswap")
    learned, curve = learn("q-learning", game, seed, games=LONG)
    points = curve.points("games", "agreement")
    return lesson(
        "q-learning", game.title, points[0][1], learned.figures["agreement"],
        "right moves", f"{LONG:,} games", began, points, "games", "right moves",
        percent=True, log=True,
    )  # fmt: skip


def q_optimizer(seed: int) -> dict[str, Any]:
    """Search for settings of Q-learning."""
    began = time.perf_counter()
    game = find_game("tapnswap")
    found, _ = learn("q-optimizer", game, seed, epsilons="0.1,0.5,1", games=2_000, rounds=0)
    tried = [entry.figures["agreement"] for entry in found.entries]
    return lesson(
        "q-optimizer", game.title, sum(tried) / len(tried), found.best.figures["agreement"],
        "right moves, mean → best", f"{len(tried)} settings", began,
        [(at + 1.0, value) for at, value in enumerate(tried)], "settings", "right moves",
        percent=True, trials=True,
    )  # fmt: skip


def classifier(seed: int) -> dict[str, Any]:
    """Learn rules for a small Hanabi."""
    began = time.perf_counter()
    game = find_game("hanabi").having(**SMALL_HANABI)
    learned, curve = learn("classifier", game, seed, **CLASSIFIER)
    before = match(game, ["random"], 400, seed=seed, cores=1).agents[0].points.mean
    return lesson(
        "classifier", "Hanabi", before, learned.score, "points of 10, 2 colours",
        f"{CLASSIFIER['games']:,} games", began, curve.points("games", "score"), "games",
        "points of 10, two colours",
    )  # fmt: skip


def classifier_optimizer(seed: int) -> dict[str, Any]:
    """Search for settings of the classifier system."""
    began = time.perf_counter()
    game = find_game("hanabi").having(**SMALL_HANABI)
    _, curve = learn("classifier-optimizer", game, seed, **SEARCH)
    tried = curve.points("trial", "score")
    scores = [score for _, score in tried]
    return lesson(
        "classifier-optimizer", "Hanabi", sum(scores) / len(scores), max(scores),
        "points, mean → best", f"{len(tried)} settings", began,
        [(at + 1.0, score) for at, score in enumerate(scores)], "settings",
        "points of 10, two colours", trials=True,
    )  # fmt: skip


def network(learner: str, rate: float, seed: int) -> dict[str, Any]:
    """Train a network on TapnSwap; without JAX, show the one that comes with kibitz."""
    began = time.perf_counter()
    game = find_game("tapnswap")
    if unfit(learner, game):
        before, after = (
            match(game, [who, "random"], 400, seed=seed, cores=1).agents[0].share.mean
            for who in ("random", SHIPPED[learner])
        )
        return lesson(
            learner, game.title, before, after, "wins against random *", "trained earlier", began,
            [], "", "", percent=True,
        )  # fmt: skip
    learned, curve = learn(learner, game, seed, **NETWORK, rate=rate)
    points = curve.points("decisions", "share_random")
    return lesson(
        learner, game.title, points[0][1], learned.figures["share_random"], "wins against random",
        f"{NETWORK['decisions']:,} decisions", began, points, "decisions", "wins against random",
        percent=True,
    )  # fmt: skip
