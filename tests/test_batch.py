"""Batches beyond the laws: rewards that come and go, misuse, threads."""

from __future__ import annotations

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import IllegalMove, Misuse
from tests import toys


def random_actions(batch: kibitz.Batch, rng: Chance) -> np.ndarray:
    return np.array([batch.legal[g, rng.below(int(batch.counts[g]))] for g in range(batch.size)])


def test_rewards_are_the_change_of_points_and_add_up_to_the_final_ones():
    game = toys.SHUFFLED.having(players=3)
    batch = kibitz.Batch(game, 5, seed=1)
    start = batch.views[:, toys.PLACE].copy()
    total = np.zeros((5, 3))
    rng = Chance(2)
    finished = 0
    for _ in range(300):
        batch.step(random_actions(batch, rng))
        total += batch.rewards
        for place in np.flatnonzero(batch.done):
            gained = batch.final[place] - start[place] * np.arange(1, 4)
            assert total[place].tolist() == gained.tolist()
            total[place] = 0
            start[place] = batch.views[place, toys.PLACE]
            finished += 1
    assert finished > 10
    assert batch.deals == 5 + finished


def test_an_illegal_action_is_refused_and_nothing_is_changed():
    batch = kibitz.Batch(kibitz.game("nim"), 4, seed=1)
    before = batch.views.copy()
    actions = random_actions(batch, Chance(1))
    actions[2] = 63  # 64 sticks from the row of one
    with pytest.raises(IllegalMove, match="action 63 is not legal in game 2 of the batch"):
        batch.step(actions)
    with pytest.raises(Misuse, match="takes 4 actions"):
        batch.step(actions[:3])
    assert np.array_equal(batch.views, before)
    assert (batch.views[:, 2] == 0).all()


def test_masks_can_be_left_out():
    batch = kibitz.Batch(kibitz.game("nim"), 4, seed=1, masks=False)
    assert batch.masks.shape == (4, 0)
    batch.step(random_actions(batch, Chance(1)))


def test_the_same_seed_gives_the_same_games_on_any_number_of_cores(any_game):
    batches = [kibitz.Batch(any_game, 37, seed=5, cores=cores) for cores in (1, 2, 64)]
    rngs = [Chance(1) for _ in batches]
    for _ in range(60):
        for batch, rng in zip(batches, rngs, strict=True):
            batch.step(random_actions(batch, rng))
        for batch in batches[1:]:
            for name in ("views", "features", "masks", "rewards", "done", "final", "seat"):
                assert np.array_equal(getattr(batch, name), getattr(batches[0], name))


def test_sizes_are_checked():
    with pytest.raises(Misuse, match="at least 1 game"):
        kibitz.Batch(kibitz.game("nim"), 0)
