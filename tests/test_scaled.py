"""Environments can bring what seats see between -1 and 1; without that nothing has changed."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from tests.lengths import first_always

gymnasium = pytest.importorskip("gymnasium")

from kibitz.bridges import gymnasium as bridge  # noqa: E402
from kibitz.games.carcassonne.cells import ENCODINGS  # noqa: E402
from kibitz.games.mexican_train.cells import LINES  # noqa: E402

ENCODED = ["features", *(name for name in ENCODINGS if name != "features")]


def seen_by(agent, game, deals):
    """Play games with an agent at every seat; give what the movers see."""
    for deal in range(deals):
        table, player = game.deal(3, deal), kibitz.agent(agent, game)
        rng = Chance(3, deal, 1)
        while not table.over:
            view = table.view(table.seat)
            features = np.zeros(game.bound("features"), np.float32)
            game.rules.observe(view.cells, features)
            yield features
            table.play(rng.choice(table.legal) if rng.below(5) == 0 else player.choose(view))


@pytest.mark.parametrize("encoding", first_always(ENCODED))
def test_hardly_anything_is_cut_off(encoding):
    game = kibitz.game("carcassonne", encoding=encoding, farmers=True)
    scale = game.scale_of_features()
    rows = np.array(list(seen_by("greedy", game, 2)))
    assert rows.max() > 1.0  # as learners see it
    assert (np.abs(rows / scale) > 1.0).mean() < 1e-4
    assert (np.abs(rows / scale) >= np.abs(rows) / 5.01).all()  # nothing becomes too small to see


def test_pips_are_scaled_by_what_many_hands_bring():
    game = kibitz.game("mexican_train")
    scale = game.scale_of_features()
    rows = np.array(list(seen_by("stupid", game, 2)))
    assert rows.max() > 1.0
    assert (rows / scale > 1.0).mean() < 1e-4
    assert (rows / scale).max() > 0.5  # nothing becomes too small to see
    assert (scale != 1.0).sum() == LINES  # the pips of each line's owner


@pytest.mark.parametrize("name", kibitz.game_names())
def test_what_is_seen_lies_between_minus_one_and_one(name):
    env = bridge.make(name, scaled=True)
    assert env.observation_space.low.min() >= -1.0
    assert env.observation_space.high.max() == 1.0
    for seed in range(3):
        seen, info = env.reset(seed=seed)
        over = False
        while not over:
            assert env.observation_space.contains(seen)
            seen, _, over, _, info = env.step(int(np.flatnonzero(info["action_mask"])[-1]))
        assert env.observation_space.contains(seen)


def test_only_points_and_sizes_change():
    plain, scaled = (bridge.make("carcassonne", tiles=12, scaled=how) for how in (False, True))
    assert plain.observation_space.low.min() == -1.0
    differ = np.zeros(plain.observation_space.shape, bool)
    first, info = plain.reset(seed=1)
    second, _ = scaled.reset(seed=1)
    over = False
    while not over:
        differ |= first != second
        np.testing.assert_array_equal(np.sign(first), np.sign(second))
        action = int(np.flatnonzero(info["action_mask"])[0])
        first, _, over, _, info = plain.step(action)
        second, *_ = scaled.step(action)
    assert 0 < differ.sum() < 0.1 * len(differ)


def test_many_games_at_once_see_the_same():
    many = bridge.make_vec("carcassonne", 3, tiles=6, scaled=True, seat=0)
    plain = bridge.make_vec("carcassonne", 3, tiles=6, seat=0)
    seen, info = many.reset(seed=4)
    raw, _ = plain.reset(seed=4)
    scale, ended = many.game.scale_of_features(), 0
    for _ in range(40):
        np.testing.assert_allclose(seen, np.clip(raw / scale, -1, 1))
        actions = info["action_mask"].argmax(axis=1)
        seen, _, done, _, info = many.step(actions)
        raw, *_, other = plain.step(actions)
        for board in np.flatnonzero(done):
            ended += 1
            wanted = np.clip(other["final_obs"][board] / scale, -1, 1)
            np.testing.assert_allclose(info["final_obs"][board], wanted)
    assert ended


def test_pettingzoo_too():
    pytest.importorskip("pettingzoo")
    from kibitz.bridges.pettingzoo import env

    made = env("carcassonne", tiles=6, scaled=True)
    made.reset(seed=1)
    for agent in made.agent_iter():
        seen, _, over, cut, _ = made.last()
        assert made.observation_space(agent).contains(seen)
        made.step(None if over or cut else int(seen["action_mask"].argmax()))
