"""Strategies of one's own that join a vote: trained, kept by name, loaded and explained."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import compiled
from kibitz.core.errors import AgentFailed, BadModel, Misuse
from kibitz.core.voting import voters_of
from kibitz.learners.evolution import EVOLVED
from tests.test_cli import ask, shell

SMALL = {"budget": 12, "offspring": 4, "games": 40, "seed": 3}
FLAGS = ("--budget", "12", "--offspring", "4", "--games", "40", "--seed", "3")
OWN = '''
import pathlib

from kibitz.core.compiled import compiled

pathlib.Path(__file__).with_suffix(".ran").touch()


def take_two(view):
    """Take two sticks where it can."""
    return [action for action in view.legal if action % 64 == 1] or view.legal


@compiled()
def last(view, actions, n, wanted):
    """Take the last option."""
    wanted[0] = n - 1
    return 1


def far(view):
    return 9999


def breaks(view):
    return 1 // 0


def two(view, rng):
    return view.legal[0]
'''


def last_option(view):
    """Take the last option."""
    return view.legal[-1]


@compiled()
def last_place(view, actions, n, wanted):
    """Take the last option."""
    wanted[0] = n - 1
    return 1


last_place.__name__ = "last_option"


@pytest.fixture
def own(tmp_path: Path) -> Path:
    path = tmp_path / "mine.py"
    path.write_text(OWN)
    return path


def test_it_is_trained_kept_by_name_loaded_and_explained(own, tmp_path, capsys):
    strategies = f"{own}:take_two+{own}:last"
    run = tmp_path / "run"
    code, out, error = ask(
        capsys, "train", "nim", "evolution", "--strategies", strategies, *FLAGS, "--out", str(run)
    )
    assert code == 0, error
    assert "take_two" in out
    model = run / "model.safetensors"
    who = f"evolved:model={model},strategies={strategies}"
    assert who in out  # the command that it suggests names them
    code, out, error = ask(capsys, "watch", "nim", "--seats", f"{who},expert", "--seed", "1")
    assert code == 0, error
    assert "take_two" in out
    game = kibitz.game("nim")
    turned = f"evolved:model={model},strategies={own}:last+{own}:take_two"  # in another order
    agents = [kibitz.agent(name, game, seed=2) for name in (who, turned)]
    views = [game.deal(1).view()]
    assert [agent.explain(view) for agent in agents[:1] for view in views] == [
        agent.explain(view) for agent in agents[1:] for view in views
    ]
    # Nobody runs the file who has not named it: in another process, the model alone does not play.
    own.with_suffix(".ran").unlink()
    refused = shell("match", "nim", str(model), "random", "--games", "2")
    assert refused.returncode == 2
    assert "whose code is not in a model: take_two, last." in refused.stderr.replace("\n", " ")
    assert f"Name them: {who}" in refused.stderr.replace("\n", "")
    assert not own.with_suffix(".ran").exists()


def test_plain_and_compiled_ones_give_the_same(monkeypatch):
    """On numbered positions, and where every move is played."""
    game = kibitz.game("nim", rows="1,2,3")
    for more in ({}, {"opponent": "expert", "budget": 2, "offspring": 2, "games": 10}):
        settings = {**SMALL, **more}
        plain, fast = (
            kibitz.train("evolution", game, strategies=one, **settings)
            for one in ([last_option], [last_place])
        )
        assert plain.weights == fast.weights
        assert plain.weights.keys() == {*game.strategies, "last_option"}
    for agent in (plain.agent, fast.agent):
        assert kibitz.match(game, [agent, "random"], games=20, seed=1).games == 20


def test_the_vote_counts_it_and_the_explanation_is_what_is_played():
    game = kibitz.game("nim")
    names = [*game.strategies, "last_option"]
    weights = np.zeros(len(names), np.float32)
    weights[-1], weights[names.index("random")] = 1.0, 0.9
    for one in (last_option, last_place):
        agent = voters_of(game, {"last_option": one}).kind(weights)(game)
        agent.begin(0, Chance(1))
        for deal in range(10):
            table, rng = game.deal(deal), Chance(deal)
            while not table.over:
                view = table.view()
                opinion = agent.explain(view)
                assert opinion.action == agent.choose(view) == view.legal[-1]
                assert "last_option" in opinion.reason
                table.play(rng.choice(table.legal))


@pytest.mark.parametrize(
    ("strategy", "says"),
    [
        ("{own}:far", "The strategy far answered 9999; it must return a legal action"),
        ("{own}:breaks", "The strategy breaks raised ZeroDivisionError"),
        ("{own}:two", "is no strategy: a function that takes a view"),
        ("{own}:take_tow", "No class or function of '{own}' is called 'take_tow'. Did you mean"),
        ("{own}:last+{own}:last", "Two strategies are called 'last'."),
        ("spoil", "'spoil' is no strategy of your own: name a function, as FILE.py:NAME."),
    ],
)
def test_what_is_wrong_is_told(own, tmp_path, capsys, strategy, says):
    given = strategy.format(own=own)
    command = ("train", "nim", "evolution", "--strategies", given, *FLAGS)
    code, _, error = ask(capsys, *command, "--out", str(tmp_path / "run"))
    assert code in (1, 2)
    assert says.format(own=own) in " ".join(error.split("\n")), error


def test_a_name_of_the_game_or_a_game_without_votes_is_refused():
    def spoil(view):
        return view.legal[0]

    with pytest.raises(Misuse, match="nim has a strategy called 'spoil' already"):
        kibitz.train("evolution", kibitz.game("nim"), strategies=[spoil], **SMALL)
    with pytest.raises(Misuse, match="carcassonne has no strategies that vote"):
        kibitz.train("evolution", kibitz.game("carcassonne"), strategies=[spoil], **SMALL)


def test_a_model_finds_functions_of_a_program_again(tmp_path):
    game = kibitz.game("nim")
    made = kibitz.train("evolution", game, strategies=last_option, folder=tmp_path, **SMALL)
    agent = EVOLVED(game, model=str(made.path), strategies=[last_option])
    assert np.array_equal(agent.weights, made.agent.weights)
    with pytest.raises(BadModel, match=r"strategies=FILE\.py:last_option"):
        kibitz.agent(str(made.path), game)

    def another(view):
        return view.legal[0]

    with pytest.raises(BadModel, match="made with strategies from outside"):
        EVOLVED(game, model=str(made.path), strategies=[another])
    with pytest.raises(AgentFailed, match="it must return a legal action"):
        kibitz.train("evolution", game, strategies=lambda view: [], **SMALL)


def test_a_run_of_before_goes_on(tmp_path):
    """What could not be set when a run was begun, and is not set now, is not noted either."""
    game = kibitz.game("nim")
    first = kibitz.train("evolution", game, folder=tmp_path, **SMALL)
    assert "strategies" not in json.loads((tmp_path / "run.json").read_text())["settings"]
    assert kibitz.train("evolution", game, folder=tmp_path, **SMALL).weights == first.weights
    with pytest.raises(Misuse, match="differs in its settings"):
        kibitz.train("evolution", game, folder=tmp_path, strategies=last_option, **SMALL)
