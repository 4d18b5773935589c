"""Evolution: it learns, repeats, resumes, and its models play everywhere."""

from __future__ import annotations

import csv
from dataclasses import asdict

import numpy as np
import pytest

import kibitz
from kibitz.core.errors import BadModel, BadOption, Misuse, UnknownName
from kibitz.core.training import Run
from kibitz.games.nim.agents import NIM_SUM
from kibitz.learners import evolution
from kibitz.learners.evolution import Arena, Settings, votes_of, voting_kind
from kibitz.play.votes import play_votes

SMALL = {"budget": 160, "games": 100}


@pytest.fixture(scope="module")
def nim():
    return kibitz.game("nim")


def share(game, weights, opponent):
    """Play games that were not trained on."""
    return float(Arena(game, Settings(games=6800, opponent=opponent), 77).fitness(weights[None])[0])


@pytest.mark.parametrize(("opponent", "best"), [("gabriele", 1.0), ("all", 16.5 / 17)])
def test_it_finds_the_best_that_exact_play_allows(nim, opponent, best):
    """Against all, one of the seventeen plays as well as can be, and so wins half."""
    evolved = kibitz.train("evolution", nim, seed=4, opponent=opponent)
    assert share(nim, evolved.agent.weights, opponent) > best - 0.003
    strongest = max(evolved.weights, key=evolved.weights.__getitem__)
    assert opponent == "gabriele" or strongest == "nim-sum-misere"


def test_without_the_nim_sum_it_still_beats_random(nim):
    evolved = kibitz.train(
        "evolution", nim, seed=1, without="+".join(NIM_SUM), opponent="random", budget=800
    )
    assert all(evolved.weights[name] == 0 for name in NIM_SUM)
    assert share(nim, evolved.agent.weights, "random") > 0.8


@pytest.mark.parametrize("method", ["plus", "comma", "recombine", "cma"])
def test_every_method_improves_and_repeats(nim, method):
    evolved = [
        kibitz.train("evolution", nim, seed=3, method=method, cores=cores, **SMALL)
        for cores in (1, 2)
    ]
    assert evolved[0].weights == evolved[1].weights
    assert evolved[0].fitness == evolved[1].fitness
    flat = np.ones(len(nim.strategies), np.float32)
    assert share(nim, evolved[0].agent.weights, "all") > share(nim, flat, "all")


@pytest.mark.parametrize("method", ["plus", "cma"])
def test_a_run_that_was_stopped_ends_as_if_it_had_not_been(nim, tmp_path, method):
    whole = kibitz.train(
        "evolution", nim, seed=3, method=method, folder=tmp_path / "whole", **SMALL
    )

    class Stopped(Exception):
        pass

    def stop(done, total, words):
        assert "fitness" in words
        assert "sigma" in words
        stop.calls += 1
        if stop.calls in (3, 5):
            raise Stopped

    stop.calls = 0
    for _ in range(2):
        with pytest.raises(Stopped):
            kibitz.train(
                "evolution", nim, seed=3, method=method, folder=tmp_path / "part",
                progress=stop, **SMALL,
            )  # fmt: skip
    again = kibitz.train("evolution", nim, seed=3, method=method, folder=tmp_path / "part", **SMALL)
    assert again.weights == whole.weights
    for name in ("curve.csv", "model.safetensors"):
        files = [(tmp_path / folder / name).read_bytes() for folder in ("whole", "part")]
        assert files[0] == files[1]


def test_a_run_leaves_a_curve_a_picture_and_a_model_that_plays(nim, tmp_path):
    folder = tmp_path / "run"
    evolved = kibitz.train("evolution", nim, seed=3, folder=folder, **SMALL)
    with open(folder / "curve.csv", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 10
    assert float(rows[-1]["fitness"]) == evolved.fitness
    assert (folder / "curve.png").read_bytes().startswith(b"\x89PNG")
    by_file = kibitz.agent(evolved.path, nim)
    assert np.array_equal(by_file.weights, evolved.agent.weights)
    result = kibitz.match(nim, [str(evolved.path), "random"], 200, seed=1)
    assert result.agents[0].wins > 120
    opinion = by_file.explain(nim.deal(1).view())
    assert "% of the votes: " in opinion.reason
    assert sum(thought.value for thought in opinion.thoughts) == pytest.approx(1)
    other = kibitz.game("nim", rows="3,4,5", k=2)  # votes mean the same with other settings
    assert kibitz.match(other, [str(evolved.path), "random"], 20, seed=1).games == 20


def test_numbered_games_and_games_asked_turn_by_turn_have_the_same_chances(nim, monkeypatch):
    """Ten thousand games of each pairing: shares differ by chance alone (4 standard errors)."""
    rng = np.random.default_rng(5)
    size = len(nim.strategies)
    genomes = np.stack([rng.random(size), rng.random(size) ** 4, np.eye(size)[4], np.eye(size)[1]])
    genomes = genomes.astype(np.float32)
    for game in (nim, kibitz.game("nim", rows="2,3,4", k=2, misere=False)):
        for opponent in ("gabriele", "random", "nim-sum"):
            settings = Settings(games=10_000, opponent=opponent)
            numbered = Arena(game, settings, 5)
            assert numbered.wishes is not None
            with monkeypatch.context() as patch:
                patch.setattr(evolution, "wishes_of", lambda *_: None)
                asked = Arena(game, settings, 6)
            assert asked.wishes is None
            apart = numbered.fitness(genomes) - asked.fitness(genomes)
            assert np.abs(apart).max() < 4 * np.sqrt(2 * 0.25 / 10_000)


def test_a_numbered_game_that_goes_round_in_circles_is_a_draw():
    """One position, whose only move leads back to it."""
    graph = [np.array(part) for part in ([0, 1], [0], [True], [0, 1], [0])]
    shares = np.zeros(2)
    play_votes(*graph, 1, 50, np.ones((2, 1), np.float32), 0, 1, 0, 10, shares)
    assert shares.tolist() == [0.5, 0.5]


def test_opponents_that_are_no_strategies_and_large_games_are_played_too(nim):
    weights = np.eye(len(nim.strategies), dtype=np.float32)[-2:-1]  # nim-sum-misere
    against = Arena(nim, Settings(games=200, opponent="expert"), 1)
    assert against.wishes is None
    assert against.fitness(weights)[0] == 0.5  # both perfect: whoever moves second wins
    large = Arena(nim.having(rows="15,15,15,15,15"), Settings(games=34, opponent="gabriele"), 1)
    assert large.wishes is None
    assert 0 <= large.fitness(weights)[0] <= 1


def test_a_folder_belongs_to_one_run(nim, tmp_path):
    kibitz.train("evolution", nim, seed=3, folder=tmp_path, budget=16, games=34)
    with pytest.raises(Misuse, match="differs in its seed"):
        kibitz.train("evolution", nim, seed=4, folder=tmp_path, budget=16, games=34)
    with pytest.raises(Misuse, match="differs in its settings"):
        kibitz.train("evolution", nim, seed=3, folder=tmp_path, budget=32, games=34)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(BadModel, match="damaged"):
        kibitz.train("evolution", nim, seed=3, folder=tmp_path, budget=16, games=34)
    (tmp_path / "file").write_text("")
    with pytest.raises(Misuse, match="Cannot make the folder"):
        kibitz.train("evolution", nim, seed=3, folder=tmp_path / "file" / "x")


def test_the_one_fifth_rule(nim):
    class Told:
        def __init__(self, fitness):
            self.fitness = fitness

        def ask(self, genomes):
            return np.array([0.5, *[self.fitness] * (len(genomes) - 1)])

    settings = Settings(method="plus", offspring=4, adapt_every=3, adapt_by=0.5, sigma=1.0)
    worse = evolution.Plus(settings, 5, 1)
    better = evolution.Plus(settings, 5, 1)
    for _ in range(3):
        worse.step(Told(0.1))
        better.step(Told(0.9))
    assert worse.sigma == 0.5
    assert worse.evaluations == 3  # the parent was played again each time
    assert worse.fitness == 0.5
    assert better.sigma == 2.0
    assert better.fitness == 0.9
    assert better.evaluations == 1  # a child took the parent's place


def test_a_lucky_parent_does_not_rule_for_ever():
    """Played again each generation, its fitness falls to what it is worth; otherwise it stays."""

    class Unlucky:
        first = True

        def ask(self, genomes):
            lucky, self.first = self.first, False
            return np.array([1.0 if lucky else 0.2, *[0.6] * (len(genomes) - 1)])

    for again in (True, False):
        settings = Settings(method="plus", offspring=4, reevaluate=again)
        method, answers = evolution.Plus(settings, 5, 1), Unlucky()
        answers.ask = answers.ask if again else (
            lambda genomes, a=answers: np.array([1.0, *[0.6] * 4])
            if len(genomes) == 5 else np.full(len(genomes), 0.6)
        )  # fmt: skip
        for _ in range(6):
            method.step(answers)
        assert (method.fitness < 1.0) == again


def test_the_number_of_generations_falls_as_offspring_rises(nim):
    counts = {}
    for offspring in (4, 8):
        run = Run("evolution", nim, {}, 1)
        settings = Settings(offspring=offspring, budget=64, games=34)
        evolution.train(nim, settings, 1, run)
        counts[offspring] = len(run.rows)
    assert counts == {4: 16, 8: 8}


def test_votes_are_never_negative_and_nought_outside_the_pool():
    pool = np.array([True, False, True])
    assert votes_of(np.array([-2.0, 1.0]), pool).tolist() == [0, 0, 3]
    assert votes_of(np.array([2.0, 1.0]), pool).tolist() == [2, 0, 1]


def test_an_equal_number_of_games_against_every_strategy(nim):
    arena = Arena(nim, Settings(games=100, opponent="all"), 1)
    assert len(arena.players) == len(nim.strategies)
    assert arena.games == 6  # the fewest whole rounds of two that make up a hundred
    assert Arena(nim, Settings(games=100, opponent="gabriele"), 1).games == 100


def test_presets_and_misuse(nim):
    seed = evolution.PRESETS["seed"]
    assert (seed["games"], seed["adapt_every"], seed["method"]) == (100, 100, "plus")
    evolved = kibitz.train("evolution", nim, seed=1, preset="seed", budget=50)
    assert evolved.evaluations == 51  # the parent once, then fifty children
    with pytest.raises(UnknownName, match="preset of evolution"):
        kibitz.train("evolution", nim, preset="best")
    with pytest.raises(UnknownName, match="No learner is called 'revolution'"):
        kibitz.train("revolution", nim)
    with pytest.raises(UnknownName, match="Did you mean 'games'"):
        kibitz.train("evolution", nim, gamess=3)
    with pytest.raises(BadOption, match="one of plus, comma"):
        kibitz.train("evolution", nim, method="minus")
    with pytest.raises(BadOption, match="nothing of that name to leave out"):
        kibitz.train("evolution", nim, without="gabrielle")
    with pytest.raises(BadOption, match="something must decide"):
        kibitz.train("evolution", nim, without="+".join(nim.strategies))
    with pytest.raises(BadOption, match="CMA-ES needs"):
        kibitz.train("evolution", nim, method="cma", offspring=2)
    with pytest.raises(Misuse, match="offers neither strategies"):
        kibitz.train("evolution", kibitz.game("tapnswap"))
    assert "method" in asdict(Settings())


def test_the_model_that_comes_with_nim(nim):
    """`evolved` needs no file of one's own, and plays as well as its page says."""
    agent = kibitz.agent("evolved", nim)
    assert share(nim, agent.weights, "all") > 16.5 / 17 - 0.003
    assert (
        kibitz.match(nim, ["evolved", "perfect"], 1000, seed=1).agents[0].seats[1].share.mean == 1
    )


def test_a_model_made_with_other_strategies_is_refused(nim, tmp_path):
    from kibitz.core.models import save_model

    path = tmp_path / "m.safetensors"
    weights = np.ones(3, np.float32)
    save_model(path, "evolved", nim, {"weights": weights}, {"strategies": ["a", "b", "c"]})
    with pytest.raises(BadModel, match="other strategies"):
        kibitz.agent(path, nim)
    save_model(path, "evolved", nim, {"weights": weights}, {"strategies": list(nim.strategies)})
    with pytest.raises(BadModel, match="do not fit"):
        kibitz.agent(path, nim)


def test_nobody_votes(nim):
    agent = voting_kind(nim, np.zeros(len(nim.strategies), np.float32))(nim)
    view = nim.deal(1).view()
    assert agent.choose(view) in view.legal
    assert "nobody votes" in agent.explain(view).reason
