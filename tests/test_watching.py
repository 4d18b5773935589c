"""Whoever watches a run sees every row and can have the agent as it is, and changes nothing."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import KibitzError
from kibitz.core.options import AGENTS, CODE, MODEL, Text, options_of
from kibitz.core.registry import game_names
from kibitz.core.training import Watcher
from kibitz.learners import find_learner, learner_names, unfit

NETWORK = {"decisions": 2048, "buffer": 512, "boards": 16, "batch": 64, "hidden": "16",
           "option_hidden": "8", "evaluate_every": 2, "evaluate_games": 8}  # fmt: skip
SMALL = [
    ("tapnswap", "q-learning", {"games": 300, "evaluate_every": 100}),
    ("nim", "evolution", {"budget": 32, "games": 34}),
    ("nim", "evolution", {"budget": 32, "games": 34, "method": "cma"}),
    ("nim", "td-lambda", NETWORK),
    pytest.param(
        "hanabi", "classifier",
        {"games": 4000, "tested_on": 100, "compacted_on": 0, "islands": 2, "colonies": 2,
         "colony_share": 0.3, "scouts": 10, "population": 40},
        marks=pytest.mark.long,
    ),
]  # fmt: skip


class Eager(Watcher):
    """Asks for a snapshot after every step and lets it choose a move."""

    def __init__(self, game) -> None:
        self.game = game
        self.rows: list[dict] = []
        self.steps: list[int] = []

    def row(self, figures):
        self.rows.append(dict(figures))

    def wants_snapshot(self):
        return True

    def snapshot(self, path, done):
        self.steps.append(done)
        agent = kibitz.agent(path, self.game)
        table = self.game.deal(seed=1)
        agent.begin(table.seat, Chance(1, 0, 0))
        assert agent.choose(table.view()) in table.legal


@pytest.mark.parametrize(("name", "learner", "settings"), SMALL)
def test_watching_changes_nothing_and_snapshots_play(tmp_path, name, learner, settings):
    game = kibitz.game(name)
    watcher = Eager(game)
    about = {"seed": 4, "plots": False, **settings}
    kibitz.train(learner, game, folder=tmp_path / "watched", watcher=watcher, **about)
    kibitz.train(learner, game, folder=tmp_path / "alone", **about)
    models = [(tmp_path / one / "model.safetensors").read_bytes() for one in ("watched", "alone")]
    assert models[0] == models[1]
    assert len(watcher.steps) > 1
    assert watcher.steps == sorted(watcher.steps)
    assert not (tmp_path / "alone" / "snapshot.safetensors").exists()
    with open(tmp_path / "watched" / "curve.csv", encoding="utf-8") as file:
        assert len(list(csv.DictReader(file))) == len(watcher.rows)


def test_a_resumed_run_tells_all_its_rows_again(tmp_path):
    game = kibitz.game("tapnswap")
    settings = {"seed": 4, "plots": False, "games": 300, "evaluate_every": 100}
    whole, parts = Eager(game), Eager(game)
    kibitz.train("q-learning", game, folder=tmp_path / "whole", watcher=whole, **settings)

    def stop(done, total, words):
        if done == 100:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kibitz.train("q-learning", game, folder=tmp_path / "parts", watcher=parts, progress=stop,
                     **settings)  # fmt: skip
    assert 0 < len(parts.rows) < len(whole.rows)
    assert parts.steps[-1] == 100, "what was learned before the stop can be played"
    again = Eager(game)
    kibitz.train("q-learning", game, folder=tmp_path / "parts", watcher=again, **settings)
    assert again.rows == whole.rows


def test_without_a_folder_there_are_rows_and_no_snapshots():
    game = kibitz.game("tapnswap")
    watcher = Eager(game)
    kibitz.train("q-learning", game, seed=1, games=50, watcher=watcher)
    assert watcher.rows
    assert not watcher.steps


def test_learners_say_what_they_cannot_learn():
    fits = {
        learner: [name for name in game_names() if unfit(learner, kibitz.game(name)) is None]
        for learner in learner_names()
    }
    assert fits["q_learning"] == fits["q_optimizer"] == ["nim", "tapnswap"]
    assert "tapnswap" not in fits["evolution"]
    assert "hanabi" in fits["classifier"]
    assert "nim" not in fits["classifier_optimizer"]
    for learner, games in fits.items():
        for name in set(game_names()) - set(games):
            with pytest.raises(KibitzError):
                kibitz.train(learner, kibitz.game(name), seed=1)


def test_settings_say_which_of_them_name_agents_or_a_model():
    for learner in learner_names():
        for option in options_of(find_learner(learner).Settings):
            names = option.names if isinstance(option, Text) else ""
            wanted = {"begin_with": MODEL, "strategies": CODE}.get(option.name, "")
            if option.name in ("opponents", "opponent", "rivals", "rival", "teacher"):
                wanted = AGENTS
            assert names == wanted, f"{learner} {option.name}"


def test_the_path_of_a_snapshot_is_told(tmp_path):
    told: list[tuple[Path, int]] = []

    class Listener(Watcher):
        def snapshot(self, path, done):
            told.append((path, done))

    game = kibitz.game("tapnswap")
    kibitz.train("q-learning", game, seed=1, games=20, folder=tmp_path, watcher=Listener())
    assert told == [(tmp_path / "snapshot.safetensors", 20)]
