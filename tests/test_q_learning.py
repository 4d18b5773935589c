"""Q-learning: what it learns is exactly right, repeats, resumes, and is kept in files whole."""

from __future__ import annotations

import csv as csv_module
import functools
import io
import itertools
import json
import signal
import sys
from collections import Counter, defaultdict
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz.cli import run
from kibitz.core.agent import Kind
from kibitz.core.compiled import Rules, in_python
from kibitz.core.errors import BadModel, BadOption, KibitzError, Misuse, UnknownName
from kibitz.core.models import load_model, save_model
from kibitz.games.tapnswap import rows as tapnswap_rows
from kibitz.games.tapnswap.agents import tapper
from kibitz.learners import q_learning
from kibitz.learners.q_learning import (
    Learner,
    Settings,
    csv_name,
    table,
    trained_against,
    views_of,
    way,
)
from kibitz.learners.q_learning.table import Q_TABLE, QTable, graph_of
from kibitz.search.agreement import grade
from tests import toys

TAPNSWAP = kibitz.game("tapnswap")
TWO = kibitz.game("nim", rows="2")
NIM = kibitz.game("nim", rows="1,2,3")
PLAIN = {"exploring_starts": False, "fold": False}


def learned(game=TAPNSWAP, *, seed=1, **settings):
    return kibitz.train("q-learning", game, seed=seed, **settings)


def moves(game):
    """Go through all moves of all positions: a table there, the action, and its place in tables."""
    graph = graph_of(game)
    actions = graph.actions()
    for index in np.flatnonzero(~graph.finished):
        table = kibitz.Table(game, graph.positions.states[index])
        for edge in range(graph.first[index], graph.first[index + 1]):
            yield table, int(actions[edge]), edge


# --- it learns ---------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_defaults_learn_tapnswap_whole(seed):
    result = learned(seed=seed)
    assert result.figures["agreement"] == 1.0
    assert result.worst == ("loses", "wins within 26")
    if seed < 3:
        against = {who: kibitz.match(TAPNSWAP, [result.agent, who], 1000, seed=seed).agents[0]
                   for who in ("perfect", "random")}  # fmt: skip
        assert [one.seats[1].share.mean for one in against.values()] == [1, 1]
        assert against["random"].seats[0].share.mean >= 0.99


@pytest.mark.parametrize(("rows", "winner"), [("1,3,5", 0), ("1,3,5,7", 1)])
@pytest.mark.parametrize("seed", [1, 2])
def test_the_defaults_learn_nim_whole(rows, winner, seed):
    game = kibitz.game("nim", rows=rows)
    result = learned(game, seed=seed)
    assert result.figures["agreement"] == 1.0
    assert result.worst[winner].startswith("wins within")
    match = kibitz.match(game, [result.agent, "perfect"], 400, seed=seed)
    assert match.agents[0].seats[winner].share.mean == 1


@pytest.mark.parametrize("fold", [True, False])
@pytest.mark.parametrize(("game", "gamma"), [(TAPNSWAP, 0.95), (NIM, 0.5), (toys.RING, 0.9)])
def test_at_full_rate_every_value_becomes_what_exact_play_says(game, gamma, fold):
    """A win in d plies is worth gamma to the power of d - 1, a loss as much less than nothing."""
    table = learned(game, gamma=gamma, fold=fold, games=200_000, evaluate_every=200_000).table
    solution = kibitz.solve(game, folded=False)
    signs = Counter()
    for at, action, edge in moves(game):
        verdict = solution.options(at)[action]
        worth = functools.reduce(lambda product, _: product * gamma, range(abs(verdict) - 1), 1.0)
        assert table.values[edge] == np.sign(verdict) * worth
        signs[np.sign(verdict)] += 1
    assert signs[1]
    assert signs[-1]
    assert signs[0] or game is NIM


def test_the_best_of_a_lost_position_is_negative():
    """The greatest value is sought among legal moves: those that do not exist are not worth 0."""
    learner = Learner(TAPNSWAP, Settings(fold=False), 1)
    learner.play(0, 0, 100_000)
    solution = kibitz.solve(TAPNSWAP, folded=False)
    tops = [learner.tops[solution.positions.find(at.cells)] for at, _, _ in moves(TAPNSWAP)
            if solution.ask(at) < 0 and len(at.legal) < 8]  # fmt: skip
    assert len(tops) > 100
    assert max(tops) < 0


# --- one update at a time ----------------------------------------------------------------------


@pytest.mark.parametrize("look_ahead", ["minimax", "played"])
@pytest.mark.parametrize("rate", ["1", "0.5", "1/visits"])
def test_two_sticks_by_hand(rate, look_ahead):
    """Taking both loses. Taking one leaves one, which loses for the other.

    Looking ahead by minimax, taking one is worth gamma times what the last stick was held to lose
    so far, so nothing at first; looking at what was played it is worth the whole win at once.
    """
    gamma = 0.9
    graph = graph_of(TWO)
    one_of_two, both, last = 0, 1, 2
    assert graph.children.tolist() == [1, -3, -3]  # the next position, lost, lost
    assert graph.actions().tolist() == [0, 1, 0]
    for games in (1, 2, 3, 10):
        table = learned(
            TWO, seed=games, games=games, rate=rate, gamma=gamma, look_ahead=look_ahead, **PLAIN
        ).table
        ones, boths = table.visits[one_of_two], table.visits[both]
        assert ones + boths == games
        assert table.visits[last] == ones

        def after(targets):
            """Go towards one target after another from nothing."""
            if rate == "1/visits":
                return np.mean(targets) if len(targets) else 0.0
            value = 0.0
            for target in targets:
                value = (1 - float(rate)) * value + float(rate) * target
            return value

        looks = [1.0] * ones
        if look_ahead == "minimax":
            looks = [-gamma * after([-1.0] * n) for n in range(ones)]
        assert table.values[one_of_two] == pytest.approx(after(looks))
        assert table.values[both] == pytest.approx(after([-1.0] * boths))
        assert table.values[last] == pytest.approx(after([-1.0] * ones))


class Textbook:
    """Q-learning of misère Nim in plain Python, told which moves were made."""

    def __init__(self, settings):
        self.settings = settings
        self.values = defaultdict(float)
        self.visits = Counter()
        self.strayed = Counter()  # moves that were not the best known, by learner and by the other

    def best(self, rows):
        return max(self.values[rows, action] for action in legal_nim(rows))

    def improve(self, move, target, done):
        self.visits[move] += 1
        start, _, end = self.settings.rate.partition("..")
        if start == "1/visits":
            rate = 1 / self.visits[move]
        else:
            rate = float(start) + (float(end or start) - float(start)) * done
        self.values[move] = (1 - rate) * self.values[move] + rate * target

    def note(self, move, by_learner):
        self.strayed[by_learner] += self.values[move] < self.best(move[0])

    def minimax(self, line, game, learner_begins):
        for ply, (rows, action) in enumerate(line):
            self.note((rows, action), (ply % 2 == 0) == learner_begins)
            left = after_nim(rows, action)
            target = -self.settings.gamma * self.best(left) if any(left) else -1.0
            self.improve((rows, action), target, game / self.settings.games)

    def played(self, line, game, learner_begins):
        """Against itself every move is in the line; against others the learner's alone."""
        done = game / self.settings.games
        apart = 2 if self.settings.opponents == "self" else 1
        for ply, (rows, action) in enumerate(line):
            if ply >= apart:
                target = self.settings.gamma * self.best(rows)
                self.improve(line[ply - apart], target, done)
            self.note((rows, action), True)
        ended = not any(after_nim(*line[-1]))
        self.improve(line[-1], -1.0 if ended else 1.0, done)
        if apart == 2 and len(line) > 1:
            self.improve(line[-2], 1.0, done)


def legal_nim(rows):
    return [64 * row + taken for row, sticks in enumerate(rows) for taken in range(sticks)]


def after_nim(rows, action):
    row, taken = divmod(action, 64)
    return tuple(sticks - (taken + 1) * (at == row) for at, sticks in enumerate(rows))


def lines(learner, games, phase=0):
    """Play games one by one; give the moves that each was learned from, in their order."""
    keys = [(tuple(at["rows"][:3].tolist()), action) for at, action, _ in moves(NIM)]
    for game in range(games):
        before = learner.visits.copy()
        learner.play(phase, game, game + 1)
        made = np.flatnonzero(learner.visits - before)
        assert learner.visits.sum() - before.sum() == len(made)
        yield keys, sorted((keys[edge] for edge in made), key=lambda move: -sum(move[0]))


@pytest.mark.parametrize("look_ahead", ["minimax", "played"])
@pytest.mark.parametrize("opponents", ["self", "random", "gabriele"])
@pytest.mark.parametrize(
    ("epsilon", "rate", "starts"),
    [("0", "0.5..0.1", True), ("1", "1/visits", False), ("0.3", "1", True), ("0", "0.4", False)],
)
def test_every_game_is_learned_from_as_the_textbook_says(
    look_ahead, opponents, epsilon, rate, starts
):
    games = 150
    settings = Settings(games=games, opponents=opponents, look_ahead=look_ahead, epsilon=epsilon,
                        rate=rate, gamma=0.8, exploring_starts=starts, fold=False)  # fmt: skip
    learner, textbook = Learner(NIM, settings, 1), Textbook(settings)
    begun = Counter()
    for game, (keys, line) in enumerate(lines(learner, games)):
        if line:  # a game can be over before the learner moves
            getattr(textbook, look_ahead)(line, game, game % 2 == 0)
            begun[line[0][0], game % 2] += 1
        assert learner.values == pytest.approx([textbook.values[key] for key in keys], abs=1e-12)
        assert learner.visits.tolist() == [textbook.visits[key] for key in keys]
        tops = [textbook.best(rows) for rows, _ in keys]
        owners = [learner.whole.positions.find(at.cells) for at, _, _ in moves(NIM)]
        assert learner.tops[owners] == pytest.approx(tops, abs=1e-12)
    assert (textbook.strayed[True] == 0) == (epsilon == "0")  # greedy, or not
    if look_ahead == "minimax":
        assert (textbook.strayed[False] == 0) == (epsilon == "0" and opponents == "self")
    if not starts:
        assert begun[(1, 2, 3), 0] == games / 2  # the learner begins every other game
        told_of_both = opponents == "self" or look_ahead == "minimax"
        assert begun[(1, 2, 3), 1] == (games / 2 if told_of_both else 0)


@pytest.mark.parametrize(
    ("opponents", "look_ahead"), [("self", "minimax"), ("self", "played"), ("gabriele", "played")]
)
def test_epsilon_is_the_share_of_random_moves(opponents, look_ahead):
    """Half of the random moves from two sticks take both; within 4 standard errors."""
    settings = Settings(games=40_000, epsilon="0.3", opponents=opponents, look_ahead=look_ahead,
                        **PLAIN)  # fmt: skip
    learner = Learner(TWO, settings, 3)
    learner.play(0, 0, 40_000)
    ones, boths, _ = learner.visits
    assert boths / (ones + boths) == pytest.approx(0.15, abs=4 * np.sqrt(0.15 * 0.85 / 20_000))


@pytest.mark.parametrize("look_ahead", ["minimax", "played"])
def test_epsilon_falls_during_every_phase_anew(look_ahead):
    settings = Settings(games=1000, epsilon="1..0", opponents="self+self", gamma=0.8, fold=False,
                        look_ahead=look_ahead)  # fmt: skip
    learner, textbook = Learner(NIM, settings, 1), Textbook(replace(settings, opponents="self"))
    for phase in range(2):
        strayed = []
        for game, (_, line) in enumerate(lines(learner, 1000, phase)):
            getattr(textbook, look_ahead)(line, game, True)
            strayed.append(textbook.strayed.total())
        first, last = strayed[200] - strayed[0], strayed[-1] - strayed[-200]
        assert first > 4 * last


def test_games_begin_in_every_position_alike():
    settings = Settings(games=8000, fold=False)
    begun = Counter(line[0][0] for _, line in lines(Learner(NIM, settings, 1), 8000))
    live = [rows for rows in itertools.product(range(2), range(3), range(4)) if any(rows)]
    assert begun.keys() == set(live)
    each = 8000 / len(live)
    assert max(abs(count - each) for count in begun.values()) < 4.5 * np.sqrt(each)


@pytest.mark.parametrize(
    ("opponents", "look_ahead"), [("self", "minimax"), ("self", "played"), ("gabriele", "played")]
)
@pytest.mark.parametrize("epsilon", ["0", "0.5", "1"])
def test_lots_are_fair_among_random_moves_and_among_the_best(opponents, look_ahead, epsilon):
    """Nothing is learned at a rate of 0, so that all six moves are always the best."""
    settings = Settings(games=12_000, opponents=opponents, look_ahead=look_ahead, epsilon=epsilon,
                        rate="0", **PLAIN)  # fmt: skip
    learner = Learner(NIM, settings, 1)
    learner.play(0, 0, 12_000)
    assert not learner.values.any()
    counts = learner.visits[: learner.graph.first[1]]
    each = (12_000 if opponents == "self" else 6000) / 6
    assert counts.sum() == 6 * each
    assert np.abs(counts - each).max() < 4 * np.sqrt(each)


def test_against_random_values_become_what_moves_are_worth_against_random():
    gamma = 0.9
    game = kibitz.game("nim", rows="1,2")

    @functools.cache
    def worth(rows, action):
        left = after_nim(rows, action)
        if not any(left):
            return -1.0
        answers = [after_nim(left, answer) for answer in legal_nim(left)]
        return np.mean([gamma * max(worth(rows, a) for a in legal_nim(rows)) if any(rows) else 1.0
                        for rows in answers])  # fmt: skip

    table = learned(game, opponents="random", look_ahead="played", rate="1/visits", gamma=gamma,
                    games=200_000, evaluate_every=200_000).table  # fmt: skip
    exact = [worth(tuple(at["rows"][:2].tolist()), action) for at, action, _ in moves(game)]
    assert table.values == pytest.approx(exact, abs=0.02)


@pytest.mark.parametrize("games", [0, 400])
def test_the_shares_against_random_are_what_chance_makes_them(games):
    """A recount over all lines, greedy moves by lot where several are best; 4 standard errors."""
    game = kibitz.game("nim", rows="1,3")
    learner = Learner(game, Settings(evaluate_games=20_000, games=400), 5)
    if games:
        learner.play(0, 0, games)
    values = {(tuple(at["rows"][:2].tolist()), action): learner.table().values[edge]
              for at, action, edge in moves(game)}  # fmt: skip

    @functools.cache
    def wins(rows, greedy):
        """Give the chance that the greedy side wins."""
        if not any(rows):
            return float(greedy)
        options = legal_nim(rows)
        if greedy:
            most = max(values[rows, action] for action in options)
            options = [action for action in options if values[rows, action] == most]
        return np.mean([wins(after_nim(rows, action), not greedy) for action in options])

    found = learner.figures(games)
    assert found["games"] == games
    assert found["first_against_random"] == pytest.approx(wins((1, 3), True), abs=0.0145)
    assert found["second_against_random"] == pytest.approx(wins((1, 3), False), abs=0.0145)
    assert (wins((1, 3), True) == 1) == (games > 0)


@pytest.mark.parametrize("game", [kibitz.game("tapnswap", max_plies=2), toys.LONG], ids=str)
def test_a_draw_is_half_a_win_also_where_nobody_gets_anywhere(game):
    """Two turns are too few to win; in the corridor chance does not lead to the end in time."""
    found = Learner(game, Settings(evaluate_games=2), 1).figures(0)
    assert (found["first_against_random"], found["second_against_random"]) == (0.5, 0.5)


@pytest.mark.parametrize("look_ahead", ["minimax", "played"])
@pytest.mark.parametrize("opponents", ["self", "random", "tapper"])
def test_compiled_or_not_the_loops_do_the_same(opponents, look_ahead, monkeypatch):
    settings = Settings(games=30, epsilon="0.8..0.2", rate="0.9..0.3", opponents=opponents,
                        look_ahead=look_ahead, evaluate_games=5)  # fmt: skip
    learners = []
    for plain in (False, True):
        learner = Learner(TAPNSWAP, settings, 7)
        if plain:
            for loop in ("learn_minimax", "learn_played", "learn_against", "evaluate"):
                monkeypatch.setattr(q_learning, loop, in_python(getattr(q_learning, loop)))
        learner.updates = learner.play(0, 0, 11) + learner.play(0, 11, 30)
        learners.append(learner)
    for name in ("values", "visits", "tops", "rngs", "updates"):
        assert np.array_equal(*(getattr(learner, name) for learner in learners)), name
    assert learners[0].figures(30) == learners[1].figures(30)
    assert learners[0].visits.any()


def test_rules_in_plain_python_are_learned_too():
    plain = replace(NIM, name="plain", functions=Rules(*map(in_python, NIM.functions)))
    for opponents in ("self", "random"):
        tables = [learned(game, games=200, opponents=opponents).table for game in (NIM, plain)]
        assert np.array_equal(tables[0].values, tables[1].values)


@pytest.mark.parametrize("game", [TAPNSWAP, NIM], ids=str)
def test_mirror_images_share_their_moves_one_to_one(game):
    whole = graph_of(game)
    folded, share, groups = views_of(game, True)
    for index in range(len(whole.positions)):
        edges = range(whole.first[index], whole.first[index + 1])
        group = groups[index]
        assert sorted(share[edges]) == list(range(folded.first[group], folded.first[group + 1]))
        for edge in edges:
            child, shared = whole.children[edge], folded.children[share[edge]]
            assert shared == (child if child < 0 else groups[child])


# --- runs --------------------------------------------------------------------------------------


def test_the_same_seed_gives_the_same_table_and_another_seed_another():
    for opponents in ("self", "random", "tapper"):
        one, same, other = (
            learned(seed=seed, games=300, opponents=opponents) for seed in (1, 1, 2)
        )
        assert np.array_equal(one.table.values, same.table.values)
        assert np.array_equal(one.table.visits, same.table.visits)
        assert not np.array_equal(one.table.visits, other.table.visits)
        assert (one.figures, one.updates) == (same.figures, same.updates)


class Stopped(Exception):
    pass


WAYS = [
    {"games": 5000},
    {"games": 1500, "opponents": "random+tapper+self", "look_ahead": "played", "fold": False,
     "epsilon": "1..0.1", "rate": "0.5..0.1"},
    {"games": 1500, "opponents": "tapper+self", "rate": "1/visits", "exploring_starts": False},
]  # fmt: skip


@pytest.fixture(scope="module", params=range(len(WAYS)))
def runs(request, tmp_path_factory):
    """The folders of a run that was never stopped and of the same one stopped over and over."""
    settings = {"evaluate_every": 700, **WAYS[request.param]}
    folder = tmp_path_factory.mktemp("runs")
    learned(folder=folder / "whole", **settings)

    def stop(done, total, words):
        assert "agreement" in words
        if done >= min(stop.at, total):
            raise Stopped

    for stop.at in (3, 700, 2100, 9999):  # the last one at the very end
        with pytest.raises(Stopped):
            learned(folder=folder / "part", progress=stop, **settings)
        assert not (folder / "part" / "model.safetensors").exists()
    learned(folder=folder / "part", **settings)
    return folder / "whole", folder / "part"


def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(runs):
    whole, part = runs
    tables = sorted(path.relative_to(whole) for path in (whole / "Models").rglob("*.csv"))
    assert len(tables) == 2
    for name in ("model.safetensors", *tables):
        assert (whole / name).read_bytes() == (part / name).read_bytes(), name


def test_the_curve_of_a_run_that_was_stopped_is_the_same_too(runs):
    whole, part = ((folder / "curve.csv").read_text() for folder in runs)
    assert whole.splitlines()[0] == "games,first_against_random,second_against_random,agreement"
    at = [float(line.split(",")[0]) for line in whole.splitlines()[1:]]
    assert at[:13] == [0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 700, 1400, 2100]
    assert part == whole


@pytest.mark.parametrize("loop", ["learn_minimax", "evaluate"])
def test_ctrl_c_loses_and_repeats_nothing(loop, tmp_path, monkeypatch):
    whole = learned(games=3000, folder=tmp_path / "whole")
    run = getattr(q_learning, loop)
    calls = itertools.count()

    def interrupted(*arguments):
        result = run(*arguments)
        if next(calls) == 2:
            signal.raise_signal(signal.SIGINT)
        return result

    kept = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        monkeypatch.setattr(q_learning, loop, interrupted)
        with pytest.raises(KeyboardInterrupt):
            learned(games=3000, folder=tmp_path / "part")
    finally:
        signal.signal(signal.SIGINT, kept)
        monkeypatch.undo()
    again = learned(games=3000, folder=tmp_path / "part")
    assert again.updates == whole.updates
    assert np.array_equal(again.table.visits, whole.table.visits)
    assert np.array_equal(again.table.values, whole.table.values)
    rows = [
        len((tmp_path / name / "curve.csv").read_text().splitlines()) for name in ("whole", "part")
    ]
    assert rows[0] == rows[1]


def test_a_finished_run_gives_the_same_again_and_other_settings_are_refused(tmp_path):
    first = learned(games=500, folder=tmp_path)
    again = learned(games=500, folder=tmp_path)
    assert np.array_equal(first.table.values, again.table.values)
    assert (first.figures, first.updates, first.worst) == (
        again.figures, again.updates, again.worst
    )  # fmt: skip
    assert (tmp_path / "curve.png").read_bytes().startswith(b"\x89PNG")
    with pytest.raises(Misuse, match="differs in its settings"):
        learned(games=500, folder=tmp_path, epsilon="0.5")


def test_visitors_see_the_agent_and_change_nothing():
    """At odd times too; the agent is what a training of that length alone would have given."""
    seen = {}

    def visitor(done):
        def visit(agent):
            result = kibitz.match(TAPNSWAP, [agent, "random"], 20, seed=1)
            seen[done] = (agent.weights.tobytes(), result.games)

        return visit

    times = (1, 7, 333, 1999)
    whole = learned(games=2000, evaluate_every=500)
    visited = learned(games=2000, evaluate_every=500, visits={n: visitor(n) for n in times})
    assert np.array_equal(whole.table.values, visited.table.values)
    assert np.array_equal(whole.table.visits, visited.table.visits)
    assert whole.figures == visited.figures
    assert sorted(seen) == list(times)
    for done, (weights, games) in seen.items():
        assert games == 20
        assert weights == learned(games=done).agent.weights.tobytes()
    with pytest.raises(Misuse, match="only 2,000"):
        learned(games=2000, visits={2001: visitor(2001)})


# --- settings ----------------------------------------------------------------------------------


def test_opponents_may_be_anybody_who_is_compiled_one_after_another(tmp_path):
    model = str(learned(games=50, folder=tmp_path / "opponent").path)
    tables = {}
    for name in ("self", "random", "perfect", "tapper", model, "q-table:model=early",
                 "random+self", "random + tapper", f"{model}+self"):  # fmt: skip
        for look_ahead in ("minimax", "played"):
            result = learned(games=200, opponents=name, look_ahead=look_ahead, epsilon="0.5")
            assert result.figures["games"] == 200 * (1 + name.count("+"))
            assert result.updates > 200
            assert result.figures["agreement"] > 0.5
            tables[name, look_ahead] = result.table.values.tobytes()
    assert len(set(tables.values())) == len(tables)


def test_the_second_opponent_comes_after_the_first():
    seen = []
    learned(games=300, opponents="random+tapper", visits={300: seen.append})
    alone = learned(games=300, opponents="random").agent
    assert seen[0].weights.tobytes() == alone.weights.tobytes()


def test_every_phase_has_games_of_its_own():
    once, twice = (learned(games=300, opponents=name).table for name in ("self", "self+self"))
    assert once.visits.sum() < twice.visits.sum()
    assert not np.array_equal(2 * once.visits, twice.visits)


def test_against_a_weak_player_it_learns_to_win():
    result = learned(games=20_000, opponents="tapper", look_ahead="played", epsilon="0.2",
                     rate="1/visits")  # fmt: skip
    match = kibitz.match(TAPNSWAP, [result.agent, "tapper"], 1000, seed=5)
    assert match.agents[0].share.mean > 0.95


class Slow(kibitz.Agent):
    """Play in plain Python."""


def heard(view, actor, action, memory):
    memory[0] += 1


@pytest.mark.parametrize("kind", [Slow, Kind(choose=tapper, notice=heard, memory=1)])
def test_opponents_in_plain_python_are_refused(kind, monkeypatch):
    monkeypatch.setitem(TAPNSWAP.agents, "slow", kind)
    with pytest.raises(Misuse, match="needs compiled opponents, and slow is not compiled"):
        learned(games=10, opponents="random+slow")


def test_unknown_opponents_and_models_are_refused(tmp_path):
    with pytest.raises(UnknownName, match="Did you mean 'tapper'"):
        learned(opponents="self+taper")
    for name in ("", "random+", str(tmp_path / "no.safetensors"), "q-table:model=late"):
        with pytest.raises(KibitzError):
            learned(opponents=name)


@pytest.mark.parametrize(
    "text", ["2", "-0.1", "x", "", "nan", "inf", "1..", "..1", "0.1..2", "1..0.5..0", "0.1...2"]
)
def test_numbers_that_are_none_are_refused(text):
    for name in ("epsilon", "rate"):
        with pytest.raises(BadOption, match=f"{name} is a number from 0 to 1, or two as in"):
            learned(**{name: text})


def test_numbers_and_ways_from_one_to_another():
    assert way("0.2", "epsilon") == (0.2, 0.2)
    assert way("1..0.1", "epsilon") == (1.0, 0.1)
    assert way(" 0.5 .. 0.1 ", "rate") == (0.5, 0.1)
    tables = [learned(games=100, rate=rate).table.values for rate in ("1/visits", "1 / visits")]
    assert np.array_equal(*tables)
    for name, value in (("gamma", 1.5), ("gamma", -0.1), ("games", 0), ("look_ahead", "both")):
        with pytest.raises(BadOption, match=name):
            learned(**{name: value})


def test_games_that_cannot_be_numbered_are_refused(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parent / "third_party" / "kuhn")
    try:
        from kibitz_kuhn.rules import GAME as KUHN

        with pytest.raises(
            Misuse, match="kuhn: the solver needs a game in which nothing is hidden"
        ):
            learned(KUHN)
    finally:
        for name in [name for name in sys.modules if name.startswith("kibitz_kuhn")]:
            del sys.modules[name]
    with pytest.raises(Misuse, match="needs two seats, and this has 3"):
        learned(toys.RING.having(players=3))
    with pytest.raises(Misuse, match="left to chance"):
        learned(toys.SHUFFLED)
    monkeypatch.setattr(table, "MOST_POSITIONS", 1000)
    with pytest.raises(Misuse, match="more than 1,000 positions"):
        learned(kibitz.game("nim", rows="9,9,9,9"))


# --- going on ----------------------------------------------------------------------------------


def test_visits_go_on_counting_from_a_model_or_a_csv(tmp_path):
    """The value of taking one of two stays the mean of all targets: 0, then gamma each time."""
    how = {"games": 20, "rate": "1/visits", "gamma": 0.5, **PLAIN}
    first = learned(TWO, seed=1, folder=tmp_path / "run", **how)
    csv, _ = first.table.save_csv(tmp_path / "table.csv")
    for file in (first.path, csv):
        on = learned(TWO, seed=2, begin_with=str(file), **how)
        assert on.table.visits[:2].sum() == 40
        assert (on.table.visits > first.table.visits).all()
        ones = on.table.visits[0]
        assert on.table.values == pytest.approx([0.5 * (ones - 1) / ones, -1, -1])


def test_a_table_goes_on_folded_or_not(tmp_path):
    """Mirror images know the same; where they do not, the one that was visited most speaks."""
    folded = learned(games=300, rate="1/visits", folder=tmp_path)
    apart = Learner(TAPNSWAP, Settings(fold=False, begin_with=str(folded.path)), 1)
    for name in ("values", "visits"):
        assert np.array_equal(getattr(apart, name), getattr(folded.table, name))
    apart.play(0, 0, 300)
    path = apart.table().save(tmp_path / "apart.safetensors")
    together = Learner(TAPNSWAP, Settings(begin_with=str(path)), 1)
    _, share, _ = views_of(TAPNSWAP, True)
    for move in range(len(together.values)):
        images = np.flatnonzero(share == move)
        assert together.visits[move] == apart.visits[images].max()
        most = images[apart.visits[images] == together.visits[move]]
        assert together.values[move] in apart.values[most]
    for learner in (apart, together):
        tops = np.maximum.reduceat(
            learner.values, learner.graph.first[:-1][~learner.graph.finished]
        )
        assert np.array_equal(learner.tops[:-3][~learner.graph.finished], tops)


def test_going_on_is_part_of_the_run_and_can_be_stopped_too(tmp_path):
    csv, _ = learned(games=100).table.save_csv(tmp_path / "begin.csv")
    how = {"games": 500, "evaluate_every": 100, "rate": "0.5", "begin_with": str(csv)}

    def stop(done, total, words):
        if done == 200:
            raise Stopped

    whole = learned(**how)
    with pytest.raises(Stopped):
        learned(folder=tmp_path / "part", progress=stop, **how)
    assert np.array_equal(learned(folder=tmp_path / "part", **how).table.values, whole.table.values)


# --- CSV ---------------------------------------------------------------------------------------

PAIRS = [*itertools.permutations(range(5), 2), *((hand, hand) for hand in range(5))]


def test_rows_of_tapnswap_are_in_the_documented_order():
    assert PAIRS[:5] == [(0, 1), (0, 2), (0, 3), (0, 4), (1, 0)]
    assert PAIRS[19:] == [(4, 3), (0, 0), (1, 1), (2, 2), (3, 3), (4, 4)]
    rows = list(itertools.product(PAIRS, PAIRS))
    assert tapnswap_rows.ROWS == len(rows) == 625
    for row, (own, other) in enumerate(rows):
        assert tapnswap_rows.hands_of(row) == (own, other)
        for seat, hands in enumerate(([*own, *other], [*other, *own])):
            state = TAPNSWAP.deal(1).cells
            state[TAPNSWAP.cell("hands")] = hands
            state[TAPNSWAP.cell("seat")] = seat
            assert tapnswap_rows.row_of(state) == row


def test_of_625_rows_526_can_occur():
    """Found by playing every move on tables."""
    seen, waiting = set(), [TAPNSWAP.deal(1)]
    while waiting:
        table = waiting.pop(0)
        row = tapnswap_rows.row_of(table.cells)
        if row not in seen:
            seen.add(row)
            after = (table.copy().play(action) for action in table.legal)
            waiting += [one for one in after if not one.over]
    over = {row for row in range(625) if (0, 0) in tapnswap_rows.hands_of(row)}
    assert (len(seen), len(over), len(seen & over)) == (526, 49, 0)
    assert 625 - len(seen | over) == 50


def test_a_csv_holds_values_by_row_and_action_and_counts_beside_it(tmp_path):
    table = learned(games=1000, rate="1/visits").table
    files = table.save_csv(tmp_path / "Models" / "t.csv")
    assert files == (
        tmp_path / "Models" / "t.csv", tmp_path / "Models" / "data" / "count_t.csv"
    )  # fmt: skip
    cells = []
    for file in files:
        lines = file.read_text().splitlines()
        assert len(lines) == 625
        for line in lines:
            assert [f"{float(number):.18e}" for number in line.split(",")] == line.split(",")
        cells.append(np.loadtxt(file, delimiter=","))
        assert cells[-1].shape == (625, 8)
    values, counts = cells
    known = {(tapnswap_rows.row_of(at.cells), action): edge for at, action, edge in moves(TAPNSWAP)}
    for place, edge in known.items():
        assert (values[place], counts[place]) == (table.values[edge], table.visits[edge])
    for row, action in itertools.product(range(625), range(8)):
        assert (row, action) in known or values[row, action] == counts[row, action] == 0


def doubles(shape):
    """Make numbers of all sizes that a double can have."""
    bits = np.random.default_rng(1).integers(-(2**63), 2**63, shape, np.int64).view(np.float64)
    return np.where(np.isfinite(bits), bits, 1 / 3)


def write_csv(path, values, counts):
    path.parent.joinpath("data").mkdir(parents=True, exist_ok=True)
    np.savetxt(path, values, delimiter=",")
    np.savetxt(path.parent / "data" / f"count_{path.name}", counts, delimiter=",")
    return [path, path.parent / "data" / f"count_{path.name}"]


def test_a_csv_comes_back_bit_for_bit_also_where_there_is_no_move(tmp_path):
    values = doubles((625, 8))
    counts = np.random.default_rng(2).integers(0, 2**53, (625, 8))
    given = write_csv(tmp_path / "given" / "t.csv", values, counts)
    table = QTable.load_csv(given[0], TAPNSWAP)
    for at, action, edge in moves(TAPNSWAP):
        place = tapnswap_rows.row_of(at.cells), action
        assert (table.values[edge], table.visits[edge]) == (values[place], counts[place])
    by_model = QTable.load(table.save(tmp_path / "t.safetensors"), TAPNSWAP)
    for one in (table, by_model):
        again = one.save_csv(tmp_path / "again" / "t.csv")
        assert [file.read_bytes() for file in again] == [file.read_bytes() for file in given]


def test_what_belongs_to_no_move_outlives_training(tmp_path):
    values = np.random.default_rng(3).standard_normal((625, 8))
    given = write_csv(tmp_path / "t.csv", values, np.abs(values).round())
    learned(games=10, begin_with=str(given[0]), folder=tmp_path / "run")
    beyond = np.ones((625, 8), bool)
    for at, action, _ in moves(TAPNSWAP):
        beyond[tapnswap_rows.row_of(at.cells), action] = False
    assert beyond.sum() == 625 * 8 - len(graph_of(TAPNSWAP).children)
    for file, name in zip(
        given, ("greedy_1_vsSelf.csv", "data/count_greedy_1_vsSelf.csv"), strict=True
    ):
        before, after = (
            np.loadtxt(path, delimiter=",") for path in (file, tmp_path / "run" / "Models" / name)
        )
        assert np.array_equal(after[beyond], before[beyond])
        assert not np.array_equal(after, before)


def test_a_csv_without_counts_begins_with_none(tmp_path):
    _, counts = learned(games=10).table.save_csv(tmp_path / "t.csv")
    counts.unlink()
    assert not QTable.load_csv(tmp_path / "t.csv", TAPNSWAP).visits.any()


@pytest.mark.parametrize("game", [NIM, toys.RING], ids=str)
def test_games_without_rows_of_their_own_have_csv_too(game, tmp_path):
    table = learned(game, games=100, rate="1/visits").table
    again = QTable.load_csv(table.save_csv(tmp_path / "t.csv")[0], game)
    assert np.array_equal(again.values, table.values)
    assert np.array_equal(again.visits, table.visits)


def test_a_csv_is_exact_or_refused_where_turns_count(tmp_path):
    game = kibitz.game("tapnswap", max_plies=12)
    table = learned(game, games=2000).table
    try:
        file, _ = table.save_csv(tmp_path / "t.csv")
    except Misuse:
        return
    assert np.array_equal(QTable.load_csv(file, game).values, table.values)


def spoil(lines, row, column, text):
    parts = lines[row - 1].split(",")
    parts[column - 1] = text
    return [*lines[: row - 1], ",".join(parts), *lines[row:]]


BROKEN = {
    "a row less": (0, lambda lines: lines[1:], "has 625 rows of 8 numbers, and '.*' has 624 rows"),
    "a row more": (0, lambda lines: [*lines, lines[0]], "has 626 rows"),
    "a number less": (
        0,
        lambda lines: [*lines[:2], lines[2][:-26], *lines[3:]],
        "row 3 of .* has 7",
    ),
    "a number more": (0, lambda lines: [*lines[:-1], lines[-1] + ",1"], "row 625 of .* has 9"),
    "text": (0, lambda lines: spoil(lines, 5, 2, "seven"), "'seven' in row 5, column 2 of"),
    "nothing": (0, lambda lines: spoil(lines, 5, 8, ""), "'' in row 5, column 8 of"),
    "a header": (0, lambda lines: ["a,b,c,d,e,f,g,h", *lines[1:]], "'a' in row 1, column 1 of"),
    "no number": (0, lambda lines: spoil(lines, 7, 8, "nan"), "Row 7, column 8 of"),
    "infinity": (0, lambda lines: spoil(lines, 1, 3, "-inf"), "Row 1, column 3 of"),
    "too much": (0, lambda lines: spoil(lines, 1, 3, "1e999"), "Row 1, column 3 of"),
    "an empty file": (0, lambda lines: [], "has 0 rows"),
    "counts of text": (1, lambda lines: spoil(lines, 9, 1, "x"), "'x' in row 9, column 1 of"),
    "counts less": (1, lambda lines: lines[:-1], "has 624 rows"),
    "negative counts": (1, lambda lines: spoil(lines, 9, 2, "-1"), "(?i)row 9, column 2 of"),
    "fractions": (1, lambda lines: spoil(lines, 9, 2, "0.5"), "(?i)row 9, column 2 of"),
    "endless counts": (1, lambda lines: spoil(lines, 20, 1, "1e300"), "(?i)row 20, column 1 of"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_csv_is_refused_and_changes_nothing(name, tmp_path):
    which, change, message = BROKEN[name]
    files = learned(games=10).table.save_csv(tmp_path / "t.csv")
    whole = [file.read_bytes() for file in files]
    files[which].write_text("\n".join(change(files[which].read_text().splitlines())))
    broken = [file.read_bytes() for file in files]
    how = {"begin_with": str(files[0]), "games": 10, "folder": tmp_path / "run"}
    with pytest.raises(BadModel, match=message) as caught:
        learned(**how)
    assert str(files[which]) in str(caught.value)
    with pytest.raises(BadModel, match=message):
        kibitz.agent(f"q-table:model={files[0]}", TAPNSWAP)
    assert [file.read_bytes() for file in files] == broken
    assert not (tmp_path / "run" / "model.safetensors").exists()
    for file, content in zip(files, whole, strict=True):
        file.write_bytes(content)
    assert learned(**how).figures["games"] == 10  # mended, the same command goes through


def test_a_csv_that_is_none_is_refused(tmp_path):
    with pytest.raises(BadModel, match=r"Cannot read '.*no\.csv'"):
        QTable.load_csv(tmp_path / "no.csv", TAPNSWAP)
    with pytest.raises(BadModel, match="Cannot read"):
        QTable.load_csv(tmp_path, TAPNSWAP)
    binary = tmp_path / "b.csv"
    binary.write_bytes(bytes(range(256)) * 100)
    with pytest.raises(BadModel, match=r"Cannot read '.*b\.csv'"):
        learned(begin_with=str(binary))
    binary.write_bytes(bytes(5000))
    with pytest.raises(BadModel, match=r"'.*b\.csv' has 1 rows"):
        learned(begin_with=str(binary))


def test_files_are_named_as_the_seed_names_them(tmp_path):
    names = {
        ("0.2", "random"): "greedy_0_2_vsRandom",
        ("0.2", "random+self"): "greedy_0_2_vsRandomvsSelf",
        ("1", "self"): "greedy_1_vsSelf",
        ("1..0.1", "self + tapper"): "greedy_1_to_0_1_vsSelfvsTapper",
    }
    for (epsilon, opponents), name in names.items():
        assert csv_name(Settings(epsilon=epsilon, opponents=opponents)) == name
    learned(preset="seed", games=100, folder=tmp_path)
    learned(preset="seed", games=100, opponents="random", folder=tmp_path / "b")
    for file in (
        "Models/greedy_0_2_vsRandomvsSelf.csv", "Models/data/count_greedy_0_2_vsRandomvsSelf.csv",
        "b/Models/greedy_0_2_vsRandom.csv", "b/Models/data/count_greedy_0_2_vsRandom.csv",
    ):  # fmt: skip
        assert np.loadtxt(tmp_path / file, delimiter=",").shape == (625, 8)


def test_a_table_that_was_trained_on_is_named_after_all_its_opponents(tmp_path):
    first = learned(games=50, epsilon="0.5", folder=tmp_path / "a")
    csv = tmp_path / "a/Models/greedy_0_5_vsSelf.csv"
    tables = []
    for place, begin in enumerate((first.path, csv)):
        folder = tmp_path / f"b{place}"
        how = {"games": 50, "epsilon": "0.5", "opponents": "random", "begin_with": str(begin)}
        second = learned(**how, folder=folder)
        name = "greedy_0_5_vsSelfvsRandom.csv"
        assert [file.name for file in (folder / "Models").glob("*.csv")] == [name]
        tables.append((folder / "Models" / "data" / f"count_{name}").read_bytes())
    assert tables[0] == tables[1]
    longer = learned(
        games=50, opponents="random", begin_with=str(second.path), folder=tmp_path / "c"
    )
    assert (tmp_path / "c/Models/greedy_1_vsSelfvsRandom.csv").exists()
    assert trained_against(longer.path) == "vsSelfvsRandom"


def test_what_a_table_was_trained_against_is_known_of_earlier_models_too(tmp_path):
    table = learned(games=10).table
    for about, known in (
        ({"settings": {"opponents": "random+self"}}, "vsRandomvsSelf"), ({}, ""),
        ({"settings": 3}, ""), ({"against": "../../etc"}, ""), ({"against": 7}, ""),
    ):  # fmt: skip
        assert trained_against(table.save(tmp_path / "m.safetensors", about)) == known
    assert trained_against("values.csv") == ""


def test_a_csv_with_labels_opens_elsewhere_and_comes_back(tmp_path, capsys):
    result = learned(games=200, folder=tmp_path)
    plain, labels, again = (str(tmp_path / f"{name}.csv") for name in ("plain", "labels", "again"))
    convert = ["convert", "tapnswap"]
    assert run([*convert, str(result.path), plain]) == 0
    assert run([*convert, plain, labels, "--labels"]) == 0
    with open(labels, encoding="utf-8", newline="") as file:
        rows = list(csv_module.DictReader(file))
    start = next(row for row in rows if row["position"] == "1-1 against 1-1")
    at = TAPNSWAP.deal(1)
    known = result.table.of(at.view())
    for action in at.legal:
        assert float(start[at.say(action)]) == known[action][0]
    assert len({row["position"] for row in rows}) == 625
    # A spreadsheet may have sorted rows and columns.
    lines = Path(labels).read_text().splitlines()
    Path(labels).write_text("\n".join([lines[0], *sorted(lines[1:], reverse=True)]) + "\n")
    assert run([*convert, labels, again]) == 0
    assert Path(again).read_bytes() == Path(plain).read_bytes()
    counts = (tmp_path / "data" / f"count_{name}.csv" for name in ("again", "plain"))
    assert next(counts).read_bytes() == next(counts).read_bytes()
    assert run([*convert, plain, str(tmp_path / "x.safetensors"), "--labels"]) == 2
    Path(labels).write_text("\n".join(lines[:-1]))
    with pytest.raises(BadModel, match="4-4 against 4-4"):
        QTable.load_csv(labels, TAPNSWAP)
    Path(labels).write_text("\n".join([lines[0].replace("tap left on left", "x"), *lines[1:]]))
    with pytest.raises(BadModel, match="moves of the game: x"):
        QTable.load_csv(labels, TAPNSWAP)


def test_labels_of_a_game_without_rows_of_its_own(tmp_path):
    game = kibitz.game("nim", rows="1,2")
    table = kibitz.train("q-learning", game, seed=1, games=20).table
    file, _ = table.save_csv(tmp_path / "t.csv", labels=True)
    assert "take 2 from row 2" in file.read_text().splitlines()[0]
    assert np.array_equal(QTable.load_csv(file, game).values, table.values)


def test_a_csv_sits_down_by_its_name(tmp_path, capsys, monkeypatch):
    result = learned(games=200, folder=tmp_path)
    file = str(tmp_path / "Models" / "greedy_1_vsSelf.csv")
    agent = kibitz.agent(file, TAPNSWAP)
    assert agent.weights.tobytes() == result.agent.weights.tobytes()
    assert run(["grade", "tapnswap", file, str(result.path), "--json"]) == 0
    by_csv, by_model = json.loads(capsys.readouterr().out)
    assert by_csv.pop("agent") == file
    assert by_model.pop("agent") == str(result.path)
    assert by_csv == by_model
    monkeypatch.setattr("sys.stdin", io.StringIO("lr\nquit\nn\n"))
    assert run(["play", "tapnswap", "--seats", f"human,{file}", "--seed", "1"]) == 0
    assert "seat 1 " in capsys.readouterr().out
    assert run(["grade", "tapnswap", "no.csv"]) == 2
    assert "Cannot read 'no.csv'" in capsys.readouterr().err


# --- models and the agent ----------------------------------------------------------------------


def test_a_model_plays_as_the_table_it_came_from(tmp_path):
    result = learned(games=500, rate="0.7", folder=tmp_path)
    loaded = QTable.load(result.path, TAPNSWAP)
    assert loaded.values.tobytes() == result.table.values.tobytes()
    assert np.array_equal(loaded.visits, result.table.visits)
    by_file = kibitz.agent(result.path, TAPNSWAP)
    csv = kibitz.agent(f"q-table:model={tmp_path / 'Models' / 'greedy_1_vsSelf.csv'}", TAPNSWAP)
    for agent in (by_file, csv):
        assert agent.weights.tobytes() == result.agent.weights.tobytes()
    for at, action, edge in moves(TAPNSWAP):
        view = at.view()
        assert result.table.of(view)[action] == (loaded.values[edge], loaded.visits[edge])
        place = at.legal.index(action)
        assert by_file.values(view, at.legal)[place] == np.float32(loaded.values[edge])
    match = kibitz.match(TAPNSWAP, [str(result.path), "random"], 200, seed=1)
    assert match.agents[0].share.mean > 0.9


@pytest.mark.parametrize("gamma", [0.95, 0.01])
def test_the_agent_is_as_good_as_its_figures(gamma):
    result = learned(gamma=gamma)
    grades = grade(TAPNSWAP, result.agent)
    assert grades.agreement == result.figures["agreement"] == 1.0
    assert (str(grades.first), str(grades.second)) == result.worst


def test_it_explains_itself_by_values_and_visits():
    result = learned(games=3000)
    view = TAPNSWAP.deal(1).play("tap left on left").view()
    opinion = result.agent.explain(view)
    known = result.table.of(view)
    value, visits = known[opinion.action]
    assert opinion.reason == f"Its table holds {value:+.3f} for this move, after {visits:,} visits."
    assert value == max(v for v, _ in known.values())
    for thought in opinion.thoughts:
        assert (thought.value, thought.note) == (
            known[thought.action][0], f"{known[thought.action][1]:,} visits"
        )  # fmt: skip
    strange = TAPNSWAP.deal(1)
    strange.cells[TAPNSWAP.cell("hands")] = [1, 1, 4, 4]  # no line of play leads there
    assert "never heard of this position" in result.agent.explain(strange.view()).reason
    assert result.table.of(strange.view()) == {}


def test_it_says_how_it_went():
    result = learned(games=2000)
    assert result.to_dict() == {
        **result.figures, "worst_first": result.worst[0], "worst_second": result.worst[1]
    }  # fmt: skip
    shares, worst = result.rows()
    assert worst[1:] == result.worst
    assert shares[1] == f"{result.figures['first_against_random']:.1%}"
    assert f"{result.figures['agreement']:.1%}" in result.summary()
    assert "2,000 games" in result.summary()


def test_tables_that_come_with_tapnswap():
    early, late = (grade(TAPNSWAP, who) for who in ("q-table:model=early", "q-table"))
    assert early.agreement < late.agreement == 1.0
    assert str(late.second) == "wins within 26"
    match = kibitz.match(TAPNSWAP, ["q-table", "q-table:model=early"], 1000, seed=1)
    assert match.agents[0].seats[1].share.mean == 1
    with pytest.raises(Misuse, match=r"No model of tapnswap is called 'late'\. There are: early, "):
        kibitz.agent("q-table:model=late", TAPNSWAP)
    with pytest.raises(Misuse, match="no table comes with it; make one: kibitz train nim"):
        kibitz.agent("q-table", kibitz.game("nim"))
    with pytest.raises(Misuse, match="no table comes with it"):
        kibitz.agent("q-table", kibitz.game("tapnswap", max_plies=50))


@pytest.mark.parametrize("room", ["tests.toys", "__main__"])
def test_games_whose_room_is_one_file_have_their_agents(room):
    game = replace(toys.RING, room=room)
    assert "no table comes with it" in Q_TABLE.unfit(game)
    assert kibitz.agent("random", game).name == "random"


def test_models_of_others_are_refused(tmp_path):
    near = kibitz.game("tapnswap", max_plies=10)
    other = learned(near, games=10, folder=tmp_path / "near").path
    nim = learned(NIM, games=10, folder=tmp_path / "nim").path
    solved = kibitz.solve(TAPNSWAP).save(tmp_path / "solved.safetensors")
    junk = tmp_path / "junk.safetensors"
    junk.write_bytes(b"junk" * 100)
    whole = learned(games=10, folder=tmp_path / "whole").path
    cut = tmp_path / "cut.safetensors"
    cut.write_bytes(whole.read_bytes()[:-10])
    for path, message in (
        (other, "made for tapnswap max_plies=10, not for tapnswap"), (nim, "for nim version 1"),
        (solved, "is a model of perfect"), (junk, "Cannot read"), (cut, "Cannot read"),
        (tmp_path / "no.safetensors", "Cannot read"),
    ):  # fmt: skip
        with pytest.raises(BadModel, match=message):
            QTable.load(path, TAPNSWAP)
        with pytest.raises(BadModel, match=message):
            learned(games=10, begin_with=str(path))
        if path != solved:
            with pytest.raises(BadModel, match=message):
                kibitz.agent(path, TAPNSWAP)


CRAFTED = {
    "no values": lambda values, visits: {"visits": visits},
    "no visits": lambda values, visits: {"values": values},
    "single precision": lambda values, visits: {"values": values.astype("f4"), "visits": visits},
    "fractions": lambda values, visits: {"values": values, "visits": visits * 1.0},
    "no numbers": lambda values, visits: {"values": values * np.nan, "visits": visits},
    "too few": lambda values, visits: {"values": values[1:], "visits": visits[1:]},
    "not the same": lambda values, visits: {"values": values, "visits": visits[1:]},
    "a square": lambda values, visits: {"values": values[:, None], "visits": visits[:, None]},
    "negative": lambda values, visits: {"values": values, "visits": -1 - visits},
    "strange cells": lambda values, visits: {
        "values": values, "visits": visits, "beyond values": np.ones((3, 3)),
    },
}  # fmt: skip


@pytest.mark.parametrize("name", CRAFTED)
def test_crafted_models_are_refused(name, tmp_path):
    path, table = tmp_path / "m.safetensors", learned(games=50).table
    save_model(path, "q-table", TAPNSWAP, CRAFTED[name](table.values, table.visits))
    with pytest.raises(BadModel):
        learned(games=100, rate="1/visits", begin_with=str(path), folder=tmp_path / "run")


DAMAGED = {
    "nothing there": lambda kept: kept.pop("values"),
    "too short": lambda kept: kept.update(visits=kept["visits"][1:]),
    "no number": lambda kept: kept["values"].fill(np.nan),
    "other numbers": lambda kept: kept.update(progress=kept["progress"] * 1.0),
    "another curve": lambda kept: kept.update(curve=kept["curve"][:, 1:]),
}


@pytest.mark.parametrize("damage", DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_checkpoint_is_refused(damage, tmp_path):
    learned(games=100, folder=tmp_path)
    path = tmp_path / "checkpoint.safetensors"
    kept, _ = load_model(path, "q-learning", TAPNSWAP)
    damage(kept)
    save_model(path, "q-learning", TAPNSWAP, kept)
    with pytest.raises(BadModel, match="damaged checkpoint"):
        learned(games=100, folder=tmp_path)


def test_a_command_that_was_refused_does_not_take_the_folder(tmp_path):
    for wrong in ({"epsilon": "5"}, {"opponents": "nobody"}, {"begin_with": "no.csv"}):
        with pytest.raises(KibitzError):
            learned(games=10, folder=tmp_path, **wrong)
    assert list(tmp_path.iterdir()) == []
    assert learned(games=10, folder=tmp_path).path == tmp_path / "model.safetensors"


def test_a_csv_is_written_with_its_counts_or_not_at_all(tmp_path):
    (tmp_path / "data").write_text("in the way")
    with pytest.raises(Misuse, match=r"Cannot make the folder '.*data'"):
        learned(games=10).table.save_csv(tmp_path / "t.csv")
    assert not (tmp_path / "t.csv").exists()


def test_numbers_with_underscores_and_minus_nought_in_a_csv(tmp_path):
    file, _ = learned(games=10).table.save_csv(tmp_path / "t.csv")
    text = file.read_text()
    file.write_text("-" + text)  # the first cell belongs to no move
    again = QTable.load_csv(file, TAPNSWAP).save_csv(tmp_path / "u.csv")[0]
    assert again.read_text() == "-" + text
    file.write_text(text.replace("0.0", "1_0.0", 1))
    with pytest.raises(BadModel, match="is not a number"):
        QTable.load_csv(file, TAPNSWAP)
