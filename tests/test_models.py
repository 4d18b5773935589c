"""The models that come with kibitz are those that their recorded commands make."""

from __future__ import annotations

import pytest

import kibitz
from bench.models import LONG, MODELS, make, where
from kibitz.core.models import load_model, read_header
from kibitz.core.registry import ROOMS, find_game


@pytest.mark.parametrize("name", MODELS)
def test_it_is_made_anew_bit_for_bit(name, tmp_path):
    assert make(name, tmp_path).read_bytes() == where(name).read_bytes()


def test_every_model_is_recorded_small_and_for_its_room():
    rooms = where("nim/models/evolved").parents[2]
    assert rooms.parts[-2:] == tuple(ROOMS.split("."))
    shipped = {path.relative_to(rooms).with_suffix("").as_posix(): path
               for path in rooms.rglob("*.safetensors")}  # fmt: skip
    assert set(shipped) == {*MODELS, *LONG}
    for name, path in shipped.items():
        game = {**MODELS, **LONG}[name][0].partition(":")[0]
        assert path.stat().st_size < 1 << 20
        assert read_header(path)["game"] == name.split("/")[0] == find_game(game).name


@pytest.mark.parametrize("name", [name for name in LONG if name.startswith("hanabi")])
def test_rules_that_took_long_to_make_play_as_is_noted(name):
    """Making it anew takes too long here; but it is as good as it says, on games it never saw."""
    game = kibitz.game("hanabi", players=int(name[-1]))
    _, about = load_model(where(name), "classifier", game)
    result = kibitz.match(game, ["classifier"] * game.players, games=4000, seed=77)
    points = result.agents[0].points
    assert about["score"] == pytest.approx(points.mean, abs=0.25)
    assert about["rules"]
    assert points.mean > (19.0 if game.players == 5 else 20.5)


def test_weights_that_took_long_to_find_win_as_is_noted():
    game = kibitz.game("carcassonne")
    arrays, about = load_model(where("carcassonne/models/evolved"), "evolved", game)
    result = kibitz.match(game, ["evolved", "greedy"], games=200, seed=77)
    assert about["fitness"] == pytest.approx(result.agents[0].share.mean, abs=0.06)
    settler = kibitz.agent("settler", game.having(players=4, farmers=True))
    assert settler.weights.tolist() == arrays["weights"].tolist()
