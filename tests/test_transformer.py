"""The transformer over the hand and the lines: the same trained and played, whatever the order."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import kibitz
from kibitz.core.compiled import JIT
from kibitz.learners.td_lambda.agent import TD
from kibitz.neural.agent import Meaning
from kibitz.neural.backend import module_with_jax
from kibitz.neural.shape import first_weights, shape_of
from tests.networks import positions_of

pytestmark = pytest.mark.skipif(not JIT, reason="networks are compiled")

GAMES = {
    "usual": kibitz.game("mexican_train", hands=2),
    "boneyard": kibitz.game("mexican_train", players=2, highest=6, boneyard=7, hands=2),
    "no lines": kibitz.game("mexican_train", players=3, highest=12, lines=False, hands=1),
}
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
