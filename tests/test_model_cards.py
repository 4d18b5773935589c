"""The models that come with kibitz: what is told of them, and that their names work as files do."""

from __future__ import annotations

import json
import shlex
from pathlib import Path

import numpy as np
import pytest

import kibitz
from kibitz.core.models import own_models
from kibitz.learners.q_learning import read_table
from tests.test_cli import ask


def test_every_model_that_comes_with_a_game_has_a_card(capsys):
    code, out, _ = ask(capsys, "models", "--json")
    assert code == 0
    cards = {card["title"]: card for card in json.loads(out)}
    games = [kibitz.game(name) for name in kibitz.game_names()]
    assert set(cards) == {f"{g.name}/{path.stem}" for g in games for path in own_models(g, "")}
    for title, card in cards.items():
        assert card["date"].startswith("20"), title
        assert all(": kibitz match " in result for result in card["results"]), title
        assert card["results"], title
        assert card["command"].startswith(f"kibitz train {card['game']} {card['learner']} --seed ")
        assert bool(card["layers"]) == (card["learner"] in ("ppo", "td-lambda"))
    assert cards["carcassonne/policy-2"]["encoding"] == (
        "233 features (encoding=vector prospects=yes)"
    )
    code, out, _ = ask(capsys, "models")
    assert code == 0
    assert all(title in out for title in cards)


def test_the_command_of_a_card_makes_the_model_again(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    out = ask(capsys, "models", "tapnswap/early", "--json")[1]
    (card,) = json.loads(out)
    assert ask(capsys, *shlex.split(card["command"])[1:], "--out", "again")[0] == 0
    from safetensors.numpy import load_file

    made, shipped = load_file("again/model.safetensors"), load_file(card["path"])
    assert set(made) == set(shipped)
    assert all(np.array_equal(made[name], shipped[name]) for name in made)


@pytest.mark.parametrize(
    ("name", "titles"),
    [
        ("nim", ["nim/evolved", "nim/policy", "nim/td"]),
        ("nim/td", ["nim/td"]),
        ("early", ["tapnswap/early"]),
        (
            "carcassonne/policy",
            [f"carcassonne/policy-{one}" for one in ("2", "3", "4", "5", "cursor", "farmers")],
        ),
    ],
)
def test_a_card_is_found_by_name(capsys, name, titles):
    code, out, error = ask(capsys, "models", name)
    assert code == 0, error
    assert [title for title in titles if title in out] == titles
    assert [card["title"] for card in json.loads(ask(capsys, "models", name, "--json")[1])] == (
        titles
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("models", "evolvd"), "No model or game is called 'evolvd'. Did you mean 'evolved'?"),
        (("models", "nim/early"), "No model of nim is called 'early'. There are: evolved, "),
        (("models", "none.safetensors"), "Cannot read the model 'none.safetensors'"),
        (("convert", "tapnswap", "q-tabel", "a.csv"), "Did you mean 'q-table'?"),
        (("match", "nim", "policy:model=td2", "random"), "No model of nim is called 'td2'."),
    ],
)
def test_a_name_that_is_none_is_told(capsys, arguments, says):
    code, _, error = ask(capsys, *arguments)
    assert code == 2
    assert says in " ".join(error.split("\n"))


def test_a_file_of_ones_own_has_a_card_too(capsys, tmp_path):
    made = kibitz.train("q-learning", kibitz.game("tapnswap"), seed=3, games=100, folder=tmp_path)
    code, out, _ = ask(capsys, "models", str(made.path))
    assert code == 0
    assert "kibitz train tapnswap q-learning --seed 3 --games 100" in out


def test_names_work_as_files_do(capsys, tmp_path):
    """In agents, in convert and in continued training."""
    game = kibitz.game("tapnswap")
    for source in ("q-table", own_models(game, "q-table")[0]):
        target = tmp_path / f"{Path(source).stem}{len(str(source))}.csv"
        assert ask(capsys, "convert", "tapnswap", str(source), str(target))[0] == 0
    one, two = sorted(path.read_text() for path in tmp_path.glob("*.csv"))
    assert one == two
    view = game.deal(1).view()
    for who in ("policy", "td", "q-table"):
        by_name = kibitz.agent(f"{who}:model={who}", game)
        assert by_name.choose(view) == kibitz.agent(who, game).choose(view)
    on = kibitz.train("q-learning", game, seed=1, games=1, begin_with="q-table")
    assert on.table.visits.sum() > read_table("q-table", game).visits.sum() > 100_000
    nim = kibitz.game("nim")
    assert np.array_equal(
        kibitz.agent("evolved:model=evolved", nim).weights, kibitz.agent("evolved", nim).weights
    )
    three = kibitz.game("carcassonne", players=3)
    kibitz.agent("policy:model=policy", three)  # the one for three seats


@pytest.mark.long
@pytest.mark.parametrize(
    ("game", "flags", "says"),
    [
        (("carcassonne", "--set", "encoding=vector"), ("--hidden", "64"),
         "its hidden is 128,128, not 64."),
        (("carcassonne", "--set", "encoding=vector"), ("--no-ahead",),
         "Give the layers that it has: --hidden 128,128"),
        (("carcassonne", "--set", "prospects=no", "--set", "encoding=vector"),
         ("--hidden", "128,128"), "To continue with what it saw: --set prospects=yes"),
        (("nim", "--set", "rows=1,3"), (), "was made for nim, not for nim rows=1,3."),
    ],
)  # fmt: skip
def test_a_refusal_to_continue_says_what_differs_and_what_to_type(
    capsys, tmp_path, monkeypatch, game, flags, says
):
    monkeypatch.chdir(tmp_path)
    command = ("train", *game, "ppo", "--begin-with", "policy", "--seed", "1", *flags)
    code, _, error = ask(capsys, *command)
    assert code == 2
    assert says in " ".join(error.split("\n")), error


def test_a_result_on_a_card_is_what_its_command_prints(capsys):
    (card,) = json.loads(ask(capsys, "models", "tapnswap/early", "--json")[1])
    told, _, command = card["results"][0].partition(": kibitz ")
    code, out, _ = ask(capsys, *shlex.split(command))
    assert code == 0
    assert told.removeprefix("wins ").partition(" against")[0] in out


def test_rules_of_a_model_are_found_by_its_name(capsys):
    code, out, error = ask(capsys, "rules-of", "classifier-3", "--json")
    assert code == 0, error
    assert out == ask(capsys, "rules-of", "hanabi", "--set", "players=3", "--json")[1]
