"""The transformer over the hand and the lines: the same trained and played, whatever the order."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

import kibitz
from kibitz.core.compiled import JIT
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.models import load_model, save_model
from kibitz.games.mexican_train.cells import HOLDER
from kibitz.learners import train
from kibitz.learners.td_lambda.agent import TD
from kibitz.neural.agent import Meaning, thoughts_of
from kibitz.neural.attention import see_tokens
from kibitz.neural.backend import module_with_jax
from kibitz.neural.shape import first_weights, shape_of
from tests.networks import SMALL, curve_without_time, positions_of
from tests.test_cli import ask

pytestmark = pytest.mark.skipif(not JIT, reason="networks are compiled")

GAMES = {
    "usual": kibitz.game("mexican_train", hands=2),
    "boneyard": kibitz.game("mexican_train", players=2, highest=6, boneyard=7, hands=2),
    "no lines": kibitz.game("mexican_train", players=3, highest=12, lines=False, hands=1),
}
TINY = kibitz.game("mexican_train", players=2, highest=6, hands=1)
LEARNING = {**SMALL, "network": "transformer", "width": 8, "heads": 2, "rivals": "greedy"}
LAYERS = {
    "hidden": "16", "option_hidden": "12,12", "channels": "4", "network": "transformer",
    "width": "12", "heads": "3", "blocks": "2",
}  # fmt: skip


def loud(game, seed=0):
    """Make weights with opinions: those to begin with are about indifferent."""
    shape = shape_of(game, **LAYERS)
    rng = np.random.default_rng(seed)
    weights = {
        name: (array + 0.3 * rng.standard_normal(array.shape)).astype(np.float32)
        for name, array in first_weights(shape, seed).items()
    }
    return shape, weights


def agent_by(game, shape, weights):
    return TD.kind(game, shape, weights, Meaning("points", 0.25, game.players))(game)


def values_in_training(game, shape, weights, view):
    """Return the values of all options as the loss works them out, in JAX."""
    nets = module_with_jax("kibitz.neural.network", 2)
    loss = module_with_jax("kibitz.learners.td_lambda.loss", 2)
    legal = np.array(view.legal, np.int32)
    n = len(legal)
    features = np.zeros((n, game.bound("features")), np.float32)
    game.rules.observe(view.cells, features[0])
    features[:] = features[0]
    options = np.zeros((n, game.bound("prospects")), np.float32)
    game.rules.describe(view.cells, legal, n, options)
    sample = loss.Sample(features, options, legal, np.zeros(n, np.float32))
    return np.asarray(loss.values_of(nets.network_from(shape, weights), sample)) / 0.25


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_playing_and_training_value_the_same(name):
    game = GAMES[name]
    shape, weights = loud(game)
    agent = agent_by(game, shape, weights)
    most = 0
    for view in positions_of(game):
        values = values_in_training(game, shape, weights, view)
        np.testing.assert_allclose(agent.values(view, view.legal), values, rtol=1e-4, atol=1e-3)
        told = agent.explain(view)
        assert told.action == view.legal[int(np.argmax(values))]
        assert "points to come" in told.reason
        most = max(most, np.ptp(values))
    assert most > 0.5  # not all the same


# --- tokens --------------------------------------------------------------------------------------


def features_of(game, view):
    features = np.zeros(game.bound("features"), np.float32)
    game.rules.observe(view.cells, features)
    return features


@pytest.mark.parametrize("name", GAMES)
def test_tokens_are_the_hand_the_lines_and_the_table(name):
    game = GAMES[name]
    tiles, lines, table = game.tokens(game.settings)
    for view in positions_of(game):
        features = np.append(features_of(game, view), 0.0)  # the last for -1
        hand = np.flatnonzero(features[np.array(tiles.columns)].any(axis=1))
        assert hand.tolist() == np.flatnonzero(view.cells[HOLDER:][:136] == view.seat).tolist()
        assert len(hand) <= tiles.most
        assert features[np.array(lines.columns)].any(axis=1).all()
        assert len(lines.columns) == lines.most == game.players + 1
        assert features[np.array(table.columns)].any(axis=1).all()
        shown = np.concatenate([np.array(kind.columns).ravel() for kind in (tiles, lines, table)])
        shown = shown[shown >= 0]
        assert len(set(shown)) == len(shown)
        assert set(np.flatnonzero(features)) <= set(shown)  # nothing is left out


@pytest.mark.long
@pytest.mark.parametrize("name", GAMES)
def test_the_order_of_the_tiles_changes_nothing(name):
    """Tokens listed in another order: the same values, in training and at a table."""
    game = GAMES[name]
    order = np.random.default_rng(4).permutation(len(game.tokens(game.settings)[0].columns))

    def shuffled(settings):
        tiles, *rest = game.tokens(settings)
        columns, known = (tuple(of[i] for i in order) for of in (tiles.columns, tiles.known))
        return (replace(tiles, columns=columns, known=known), *rest)

    other = replace(game, tokens=shuffled)
    shape, weights = loud(game)
    mixed = replace(shape, tokens=shuffled(game.settings))
    agents = agent_by(game, shape, weights), agent_by(other, mixed, weights)
    nets = module_with_jax("kibitz.neural.network", 2)
    networks = [nets.network_from(of, weights) for of in (shape, mixed)]
    for view in positions_of(game):
        assert thoughts_of(agents[0], view)[1] == pytest.approx(thoughts_of(agents[1], view)[1],
                                                                abs=1e-4)  # fmt: skip
        features = features_of(game, view)
        inputs, cells = zip(*(tokens_seen(agent, features) for agent in agents), strict=True)
        np.testing.assert_allclose(*inputs, atol=1e-4)
        np.testing.assert_allclose(cells[0][order], cells[1][: len(order)], atol=1e-4)
        assert np.ptp(inputs[0]) > 0.5
        states, trained = zip(*(of.state_of(features[None]) for of in networks), strict=True)
        np.testing.assert_allclose(*states, atol=1e-3)
        seen = [np.asarray(of)[0].T for of in trained]
        np.testing.assert_allclose(seen[0][order], seen[1][: len(order)], atol=1e-3)
        np.testing.assert_allclose(seen[0], cells[0], atol=1e-3)


def tokens_seen(agent, features):
    """Return what the trunk is given and what is made of every thing, as they are at a table."""
    inputs = np.zeros(2 * int(LAYERS["width"]), np.float32)
    cells, _ = see_tokens(features, agent.weights, inputs)
    return inputs, cells


# --- training ------------------------------------------------------------------------------------


@pytest.mark.long
def test_an_interrupted_run_goes_on_as_if_it_had_not_been(tmp_path):
    settings = {**LEARNING, "decisions": 5 * 256}

    def stop(done, total, words):
        if done == 3:
            raise KeyboardInterrupt

    whole = train("td_lambda", TINY, seed=5, folder=tmp_path / "a", cores=2, **settings)
    with pytest.raises(KeyboardInterrupt):
        train("td_lambda", TINY, seed=5, folder=tmp_path / "b", progress=stop, cores=1, **settings)
    parts = train("td_lambda", TINY, seed=5, folder=tmp_path / "b", cores=1, **settings)
    assert whole.figures == parts.figures
    for file in ("model.safetensors", "last.safetensors"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()
    assert curve_without_time(tmp_path / "a") == curve_without_time(tmp_path / "b")


@pytest.mark.long
def test_a_model_is_played_explained_and_continued(tmp_path, capsys):
    plain = TINY.having(lines=False)
    train("td_lambda", plain, seed=1, folder=tmp_path / "a", decisions=512, **LEARNING)
    model = str(tmp_path / "a" / "last.safetensors")
    weights, about = load_model(model, "td", plain)
    assert about["layers"]["network"] == "transformer"
    assert weights["block.0.attend.weight"].shape == (8, 24)
    table = TINY.deal(3, 0)  # it sees what it was trained to see, at any table
    told = kibitz.agent(model, TINY).explain(table.view())
    assert told.action in table.legal
    assert "After this it expects" in told.reason
    code, out, _ = ask(
        capsys, "match", "mexican_train", model, "random", "--set", "players=2", "--set",
        "highest=6", "--set", "hands=1", "--games", "20", "--seed", "1",
    )  # fmt: skip
    assert code == 0
    assert "last" in out
    begun = train(
        "td_lambda", TINY, seed=2, decisions=256, begin_with=model, **{**LEARNING, "rate": 0.0}
    )
    np.testing.assert_allclose(  # with lines, which change nothing at first
        thoughts_of(kibitz.agent(model, TINY), table.view())[0],
        thoughts_of(begun.agent, table.view())[0], atol=1e-5,
    )  # fmt: skip
    with pytest.raises(Misuse, match="blocks"):
        train("td_lambda", TINY, seed=2, decisions=256, begin_with=model, blocks=2, **LEARNING)
    with pytest.raises(Misuse, match="tokens"):
        train(
            "td_lambda", TINY, decisions=256, begin_with=model, **{**LEARNING, "network": "dense"}
        )


@pytest.mark.long
def test_policies_learn_with_it_too():
    made = train("ppo", TINY, seed=1, decisions=512, **LEARNING)
    assert made.agent.choose(TINY.deal(1, 1).view()) in TINY.deal(1, 1).legal


@pytest.mark.long
def test_it_learns_to_get_rid_of_pips():
    made = train(
        "td_lambda", TINY, seed=1, decisions=40_000, boards=64, buffer=4096, hidden="32",
        option_hidden="32,32", rate=2e-3, rivals="greedy", evaluate_games=20,
        network="transformer", width=16, heads=2,
    )  # fmt: skip
    result = kibitz.match(TINY, [made.agent, "greedy"], 400, seed=2)
    assert result.agents[0].share.low > 0.6


@pytest.mark.parametrize(
    ("game", "settings", "words"),
    [
        ("nim", (), "names no tokens.*network=dense"),
        ("mexican_train", ("--heads", "5"), "width=40"),
        ("mexican_train", ("--width", "0"), "width"),
        ("mexican_train", ("--blocks", "9"), "blocks"),
    ],
)
def test_what_cannot_be_is_told(game, settings, words, capsys):
    code, _, err = ask(capsys, "train", game, "td-lambda", "--network", "transformer", *settings)
    assert code != 0
    assert "Traceback" not in err
    assert re.search(words, " ".join(err.split()))


@pytest.mark.long
def test_a_run_from_before_the_transformer_goes_on(tmp_path):
    """Settings that a run does not name, since kibitz had none such, were at their defaults."""
    game, settings = kibitz.game("nim", rows=(1, 3, 5)), {**SMALL, "decisions": 3 * 256}

    def stop(done, total, words):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train("td_lambda", game, seed=5, folder=tmp_path, progress=stop, **settings)
    about = json.loads((tmp_path / "run.json").read_text())
    for name in ("network", "width", "heads", "blocks"):
        del about["settings"][name]
    (tmp_path / "run.json").write_text(json.dumps(about))
    with pytest.raises(Misuse, match="settings"):
        train("td_lambda", game, seed=5, folder=tmp_path, width=8, **settings)
    assert train("td_lambda", game, seed=5, folder=tmp_path, **settings).updates == 3


@pytest.mark.parametrize(
    "changed",
    [
        {"width": "-4"}, {"heads": "x"}, {"heads": "5"}, {"blocks": "99"}, {"blocks": "2"},
        {"network": "recurrent"}, {"network": "dense"}, {"depth": "3"},
    ],
)  # fmt: skip
def test_damaged_models_are_refused(changed, tmp_path):
    path = tmp_path / "m.safetensors"
    good = {**LAYERS, "blocks": "1"}
    shape = shape_of(TINY, **good)
    weights = first_weights(shape, 1)
    save_model(path, "td", TINY, weights, {"layers": good, "aim": "win", "scale": 0.1})
    assert TD.load(path, TINY)[1] == shape
    layers = {**good, **changed}
    save_model(path, "td", TINY, weights, {"layers": layers, "aim": "win", "scale": 0.1})
    with pytest.raises(BadModel, match=r"m\.safetensors"):
        kibitz.agent(str(path), TINY)


def test_a_model_for_a_game_without_tokens_is_damaged(tmp_path):
    game, path = kibitz.game("nim"), tmp_path / "m.safetensors"
    save_model(path, "td", game, {}, {"layers": LAYERS, "aim": "win", "scale": 0.1})
    with pytest.raises(BadModel, match="names no tokens"):
        kibitz.agent(str(path), game)
