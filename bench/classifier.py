"""Classifier system: rules matched a second, games a second, and learning beside a peer.

`python -m bench classifier` takes some minutes, most of them for the peer, which is left out where
it is not installed: `pip install xcs`. Everything runs on one core and is timed by the processor's
time, so that what else runs on the machine is not measured.
"""

from __future__ import annotations

import importlib
import importlib.metadata
import importlib.util
import json
import operator
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

import kibitz
from bench.multiplexer import GAME as MULTIPLEXER
from bench.report import HERE, Row, spread
from kibitz.core.chance import WORDS, sow
from kibitz.core.compiled import compiled, pointer
from kibitz.core.game import Game
from kibitz.core.language import Language
from kibitz.core.matching import (
    AT_LEAST,
    AT_MOST,
    CONDITION,
    CONDITION_TESTS,
    DEED,
    FIRST_CONDITION,
    GROUP,
    IS,
    IS_NOT,
    LEAST,
    LEAST_COUNT,
    MOST,
    NONE,
    ROW,
    START,
    TARGET,
    TARGET_TESTS,
    TEST,
    TESTS,
    UNUSED,
    all_actions,
)
from kibitz.learners.classifier import Settings, words_for
from kibitz.learners.classifier.agent import kind_of
from kibitz.learners.classifier.breeding import new_rule
from kibitz.learners.classifier.colony import Colony
from kibitz.learners.classifier.islands import Arena
from kibitz.learners.classifier.lexicon import GENE
from kibitz.play.match import Runner

SEED = 1
ROUNDS = 5
RULES, VIEWS = 200, 500
REPEATS = 10  # of what is compiled, in one round
# What must hold in every run, as ratios: compiled rules against the same source uncompiled and
# against rules written by hand, and learning against the peer.
OVER_UNCOMPILED, OVER_BY_HAND, OVER_PEER = 100.0, 30.0, 20.0


def run() -> list[Row]:
    game = kibitz.game("hanabi")
    rows = random_rules(game)
    return [*_matching(game, rows), *_games(game, rows), *_multiplexers()]


def random_rules(game: Game) -> np.ndarray:
    """Draw random rules, and behind them one that always holds, so that chance never moves."""
    rng = np.zeros(WORDS, np.int64)
    sow(rng, SEED, 0, 0)
    genes = np.zeros((RULES, GENE), np.float32)
    for gene in genes:
        new_rule(rng, words_for(game.language, Settings()), gene)
    genes[-1, :ROW] = game.language.read("play")
    return np.ascontiguousarray(genes[:, :ROW])


# --- rules by hand: as one would write them without a compiler -----------------------------------

Thing = list[float]  # word by word, then the action of each deed that can be aimed at it
Seen = list[list[Thing]]  # of each group its things
PASSES: dict[int, Callable[[float, float], bool]] = {
    AT_LEAST: operator.ge, AT_MOST: operator.le, IS: operator.eq, IS_NOT: operator.ne,
}  # fmt: skip
ORDER = {AT_LEAST: 1.0, MOST: 1.0, AT_MOST: -1.0, LEAST: -1.0}


@dataclass(slots=True)
class Test:
    """A word, what it is compared with, and whether more or less of it comes first."""

    word: int
    passes: Callable[[float, float], bool] | None
    bound: float
    order: float


@dataclass(slots=True)
class Rule:
    """The deed's group and action, the tests on its target, and conditions on other groups."""

    group: int
    action: int
    tests: list[Test]
    conditions: list[tuple[int, int, list[Test]]]

    def call(self, seen: Seen) -> int:
        """Give the action that the rule calls for, or NONE."""
        for group, least, tests in self.conditions:
            found = sum(_fits(thing, tests) for thing in seen[group])
            if not (found >= least if least > 0 else found < -least):
                return NONE
        targets = [
            thing
            for thing in seen[self.group]
            if thing[self.action] >= 0 and _fits(thing, self.tests)
        ]
        if not targets:
            return NONE
        best = max(
            targets, key=lambda thing: [test.order * thing[test.word] for test in self.tests]
        )
        return int(best[self.action])


def _fits(thing: Thing, tests: list[Test]) -> bool:
    return all(t.passes is None or t.passes(thing[t.word], t.bound) for t in tests)


def _tests_in(row: np.ndarray, first: int, most: int) -> list[Test]:
    parts = row[first : first + TEST * most].reshape(-1, TEST).tolist()
    return [
        Test(int(word), PASSES.get(int(sense)), bound, ORDER.get(int(sense), 0.0))
        for sense, word, bound in parts
        if sense != UNUSED
    ]


def by_hand(language: Language, row: np.ndarray) -> Rule:
    """Write a rule as an object."""
    group, action = language.deed_table[int(row[DEED])].tolist()
    conditions = [
        (
            int(row[at + GROUP]) - 1,
            int(row[at + LEAST_COUNT]),
            _tests_in(row, at + TESTS, CONDITION_TESTS),
        )
        for at in range(FIRST_CONDITION, ROW, CONDITION)
        if row[at + GROUP]
    ]
    return Rule(group, action, _tests_in(row, TARGET, TARGET_TESTS), conditions)


def seen_in(language: Language, facts: np.ndarray) -> Seen:
    """Give facts as lists."""
    flat = facts.tolist()
    ends = [*language.group_table[1:, START].tolist(), len(flat)]
    return [
        [flat[start + 1 + thing : end : stride] for thing in range(int(flat[start]))]
        for (start, stride), end in zip(language.group_table.tolist(), ends, strict=True)
    ]


def first_call(rules: Sequence[Rule], seen: Seen) -> int:
    """Give what the first rule calls for that holds and has a target."""
    return next(call for rule in rules if (call := rule.call(seen)) != NONE)


# --- matching ------------------------------------------------------------------------------------


@compiled()
def match_views(facts, groups, deeds, rows, calls):
    """Write the action that every rule calls for in every view. calls [views, rules]"""
    order = np.arange(len(rows))
    for view in range(len(facts)):
        all_actions(facts[view], groups, deeds, rows, order, calls[view])


def _facts(game: Game, views: list[kibitz.View]) -> np.ndarray:
    """See everything in every view. [views, facts]"""
    facts = np.zeros((len(views), game.language.facts), np.float32)
    for view, out in zip(views, facts, strict=True):
        pointer(game.language.see)(view.cells, out, (1 << len(game.language.groups)) - 1)
    return facts


def _views(game: Game) -> list[kibitz.View]:
    """Collect what the player to move sees, in games by rules that are not random."""
    views: list[kibitz.View] = []
    agent, deal = kibitz.agent("iggi", game), 0
    while len(views) < VIEWS:
        table = game.deal(SEED, deal)
        deal += 1
        while not table.over:
            views.append(table.view())
            table.play(agent.choose(views[-1]))
    return views[:VIEWS]


def _matching(game: Game, rows: np.ndarray) -> Iterator[Row]:
    language = game.language
    views = _views(game)
    facts = _facts(game, views)
    seen = [seen_in(language, each) for each in facts]
    rules = [by_hand(language, row) for row in rows]
    calls = np.zeros((VIEWS, RULES), np.int64)
    few = 20  # views in a round by hand

    def ours(times: int = 1) -> None:
        for _ in range(times):
            match_views(facts, language.group_table, language.deed_table, rows, calls)

    def plain(first: int) -> list[list[int]]:
        return [[rule.call(each) for rule in rules] for each in seen[first : first + few]]

    ours()
    agent = kind_of(game, rows)(game)
    for place, view in enumerate(views):
        called = [rule.call(seen[place]) for rule in rules]
        assert called == calls[place].tolist()
        assert agent.choose(view) == first_call(rules, seen[place])
    paces: dict[str, list[float]] = {"ours": [], "plain": []}
    for place in range(ROUNDS):
        paces["ours"].append(_pace(REPEATS * VIEWS * RULES, ours, REPEATS))
        paces["plain"].append(_pace(few * RULES, plain, place * few))
    done = _uncompiled(rows=rows, facts=facts[:few])
    assert done["calls"] == calls[:few].tolist()
    fast = float(np.median(paces["ours"]))
    by_hand_times = fast / float(np.median(paces["plain"]))
    times = fast / float(np.median(done["paces"]))
    yield Row(
        what=f"hanabi, 2 seats, {RULES} random rules in {VIEWS} views, compiled",
        figure=f"{fast:,.0f} rules matched/s",
        spread=spread(paces["ours"]),
        compared=f"{times:,.0f} x the same source uncompiled, at least {OVER_UNCOMPILED:.0f} x; "
        f"{by_hand_times:.0f} x by hand, at least {OVER_BY_HAND:.0f} x; the same actions",
    )
    yield Row(
        what="the same, plain Python by hand (rules as objects, in bench/classifier.py)",
        figure=f"{np.median(paces['plain']):,.0f} rules matched/s",
        spread=spread(paces["plain"]),
    )
    yield Row(
        what="the same, our source uncompiled",
        figure=f"{np.median(done['paces']):,.0f} rules matched/s",
        spread=spread(done["paces"]),
    )
    assert times >= OVER_UNCOMPILED, f"only {times:.0f} times the same source uncompiled"
    assert by_hand_times >= OVER_BY_HAND, f"only {by_hand_times:.0f} times rules by hand"


def _pace(count: int, work: Callable[..., Any], *arguments: Any) -> float:
    """Tell how many a second are done."""
    began = time.process_time()
    work(*arguments)
    return count / (time.process_time() - began)


# --- whole games ---------------------------------------------------------------------------------

GAMES, FEW_GAMES, FEWEST_GAMES = 2000, 20, 2  # compiled, by hand, uncompiled


def _play(game: Game, rows: np.ndarray, games: int) -> np.ndarray:
    """Play games by the rules at all seats; give the points of each."""
    points = np.zeros((games, game.players))
    kind = kind_of(game, rows)
    runner = Runner(game, [kind(game) for _ in range(game.players)], SEED, False)
    runner.play(0, points, np.zeros(games, np.int32))
    return points[:, 0]


def _play_by_hand(game: Game, rules: list[Rule], games: int) -> list[float]:
    """Play games at tables, in Python: the rules of the game and what is seen stay compiled."""
    points = []
    for deal in range(games):
        table = game.deal(SEED, deal)
        while not table.over:
            seen = seen_in(game.language, _facts(game, [table.view()])[0])
            table.play(first_call(rules, seen))
        points.append(table.points[0])
    return points


def _games(game: Game, rows: np.ndarray) -> Iterator[Row]:
    rules = [by_hand(game.language, row) for row in rows]
    points = _play(game, rows, GAMES)
    assert _play_by_hand(game, rules, FEW_GAMES) == points[:FEW_GAMES].tolist()
    ours, plain = [], []
    for _ in range(ROUNDS):
        ours.append(_pace(GAMES, _play, game, rows, GAMES))
        plain.append(_pace(FEW_GAMES, _play_by_hand, game, rules, FEW_GAMES))
    done = _uncompiled(rows=rows)
    assert done["points"] == points[:FEWEST_GAMES].tolist()
    fast = float(np.median(ours))
    times = fast / float(np.median(done["paces"]))
    yield Row(
        what=f"hanabi, 2 seats, games by the same {RULES} rules, compiled",
        figure=f"{fast:,.0f} games/s",
        spread=spread(ours),
        compared=f"{times:,.0f} x our source uncompiled, at least {OVER_UNCOMPILED:.0f} x; "
        f"{fast / np.median(plain):.0f} x rules by hand; the same points",
    )
    yield Row(
        what="the same, rules by hand at tables in Python; the game and what is seen are compiled",
        figure=f"{np.median(plain):,.1f} games/s",
        spread=spread(plain),
    )
    yield Row(
        what="the same, our source uncompiled",
        figure=f"{np.median(done['paces']):,.1f} games/s",
        spread=spread(done["paces"]),
    )
    assert times >= OVER_UNCOMPILED, f"only {times:.0f} times the same source uncompiled"


# --- the same source uncompiled ------------------------------------------------------------------


def _uncompiled(**arrays: np.ndarray) -> dict[str, Any]:
    """Let a process in which nothing is compiled match rules in views, or play by them."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arrays.npz"
        np.savez(path, **arrays)  # type: ignore[arg-type]
        code = "import sys; from bench import classifier; classifier.work_uncompiled(sys.argv[1])"
        done = subprocess.run(
            [sys.executable, "-c", code, str(path)], cwd=HERE.parent, check=True, text=True,
            capture_output=True, env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        )  # fmt: skip
    return json.loads(done.stdout)


def work_uncompiled(path: str) -> None:
    """Print what came of it, and how fast it was, as JSON."""
    game = kibitz.game("hanabi")
    language = game.language
    with np.load(path) as arrays:
        rows = arrays["rows"]
        facts = arrays.get("facts")
    done: dict[str, Any] = {}
    if facts is None:
        paces = [_pace(FEWEST_GAMES, _play, game, rows, FEWEST_GAMES) for _ in range(ROUNDS)]
        done["points"] = _play(game, rows, FEWEST_GAMES).tolist()
    else:
        calls = np.zeros((len(facts), len(rows)), np.int64)
        work = facts, language.group_table, language.deed_table, rows, calls
        paces = [_pace(calls.size, match_views, *work) for _ in range(ROUNDS)]
        done["calls"] = calls.tolist()
    done["paces"] = paces
    print(json.dumps(done))


# --- learning the multiplexer --------------------------------------------------------------------

SEEDS = (11, 12, 13)
PEERS_SEEDS = SEEDS[:2]  # it takes minutes
FRESH = 4000  # inputs on which the learned is tested
SLACK = 0.002  # of the accuracy: what chance makes of as many fresh inputs
PEER = "xcs"


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A multiplexer, how long to learn it, and what is set besides."""

    address: int
    iterations: int
    ours: dict[str, Any]
    theirs: dict[str, Any] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How it is known."""
        return f"multiplexer of {self.address + (1 << self.address)} bits"


# Credit for all rules that agree, and many quick generations of few games: rules of the multiplexer
# are either right or not, so a few payments say which. Nobody is protected, or rules that never
# hold would crowd the others out. Bounds of flags cannot creep.
SETTINGS: dict[str, Any] = {
    "method": "population", "easy": 0.0, "cores": 1, "shared": True, "explore": 0.3, "young": 5.0,
    "protected": 0.0, "caution": 0.3, "generation": 1, "renewed": 0.02, "specialised": 0.3,
    "generalised": 0.05, "merged": 0.0, "crept": 0.0,
}  # fmt: skip
PROBLEMS = (
    Problem(address=2, iterations=100_000, ours={"population": 90, "lane_games": 200}),
    # The peer's own 200 rules are too few here; 800 are usual for this one (Wilson, 1995). Of ours,
    # new rules that were right by luck would act before proven ones: with momentum utility grows
    # with every payment, so they do not. More games of a round and fewer new rules help too.
    Problem(
        address=3,
        iterations=100_000,
        ours={"population": 400, "lane_games": 40, "specialised": 0.2, "momentum": 0.6},
        theirs={"max_population_size": 800},
    ),
)
SUBSUMES = {"do_ga_subsumption": True, "do_action_set_subsumption": True}


@dataclass(slots=True)
class Score:
    """What learning came to, seed by seed."""

    paces: list[float] = field(default_factory=list)
    accuracies: list[float] = field(default_factory=list)

    def add(self, pace: float, accuracy: float) -> None:
        """Add a seed."""
        self.paces.append(pace)
        self.accuracies.append(accuracy)

    def text(self) -> str:
        """Say how accurate it was."""
        low, high, n = min(self.accuracies), max(self.accuracies), len(self.accuracies)
        seeds = f", {low:.2%} to {high:.2%} over {n} seeds" if n > 1 else ", one seed"
        return f"right on {np.mean(self.accuracies):.2%} of fresh inputs{seeds}"


def colony_for(problem: Problem, seed: int) -> Colony:
    """Make the population that learns a multiplexer."""
    game = MULTIPLEXER.having(address=problem.address)
    settings = Settings(games=problem.iterations, **{**SETTINGS, **problem.ours})
    lexicon = words_for(game.language, settings)
    arena = Arena(game, lexicon, settings.population, settings.rival, seed, settings.cores)
    colony = Colony((arena, arena), settings, seed)
    colony.begin()
    return colony


def learn(problem: Problem, seed: int) -> tuple[float, float]:
    """Let ours learn: iterations a second, genetic steps included, and accuracy."""
    colony = colony_for(problem, seed)

    def work() -> None:
        while colony.games < problem.iterations:
            colony.round()

    return _pace(problem.iterations, work), colony.score(FRESH)


def peer_learns(problem: Problem, seed: int, **more: Any) -> tuple[float, float]:
    """Let the peer learn the same: iterations a second, and accuracy by its best action."""
    peer, scenarios = (importlib.import_module(name) for name in (PEER, f"{PEER}.scenarios"))
    random.seed(seed)  # the peer draws from Python's own chance
    algorithm = peer.XCSAlgorithm()
    for name, setting in {**problem.theirs, **more}.items():
        setattr(algorithm, name, setting)
    scenario = scenarios.MUXProblem(problem.iterations, problem.address)
    model = algorithm.new_model(scenario)
    pace = _pace(problem.iterations, model.run, scenario)
    fresh = scenarios.MUXProblem(FRESH, problem.address)
    right = 0.0
    for _ in range(FRESH):
        best = sorted(model.match(fresh.sense()).best_actions)
        right += fresh.execute(random.choice(best))
    return pace, right / FRESH


def _multiplexers() -> Iterator[Row]:
    there = importlib.util.find_spec(PEER) is not None
    for problem in PROBLEMS:
        learn(Problem(address=problem.address, iterations=2000, ours=problem.ours), 0)  # compiles
        ours, theirs, subsuming = Score(), Score(), Score()
        for seed in SEEDS:
            ours.add(*learn(problem, seed))
            if there and seed in PEERS_SEEDS:
                theirs.add(*peer_learns(problem, seed))
        if there:
            subsuming.add(*peer_learns(problem, 0, **SUBSUMES))
        yield from _learned(problem, ours, theirs, subsuming)


def _learned(problem: Problem, ours: Score, theirs: Score, subsuming: Score) -> Iterator[Row]:
    pace = float(np.median(ours.paces))
    times = pace / float(np.median(theirs.paces)) if theirs.paces else 0.0
    beside = f"{times:.0f} x {PEER}, at least {OVER_PEER:.0f} x" if theirs.paces else (
        f"{PEER} is not installed"
    )  # fmt: skip
    what = f"{problem.name}, {problem.iterations:,} iterations"
    yield Row(
        what=f"{what}, a population of {problem.ours['population']} rules",
        figure=f"{pace:,.0f} iterations/s",
        spread=spread(ours.paces),
        compared=f"{ours.text()}; {beside}",
    )
    if not theirs.paces:
        return
    version = importlib.metadata.version(PEER)
    for score, how in ((theirs, ""), (subsuming, ", with both kinds of subsumption")):
        yield Row(
            what=f"{what}, {PEER} {version}{how}",
            figure=f"{np.median(score.paces):,.0f} iterations/s",
            spread=spread(score.paces) if len(score.paces) > 1 else "",
            compared=f"{score.text()}; {pace / np.median(score.paces):.0f} x slower than ours",
        )
    assert np.mean(ours.accuracies) >= np.mean(theirs.accuracies) - SLACK, "less accurate"
    assert times >= OVER_PEER, f"{problem.name}: only {times:.1f} times {PEER}"
