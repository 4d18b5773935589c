"""What the tests of the bridge to OpenSpiel share."""

from __future__ import annotations

from typing import Any

from kibitz.learners import find_learner
from kibitz.neural.backend import module_with_jax


def value_iteration(game: Any, *how: Any, **more: Any) -> dict[str, float]:
    """Run OpenSpiel's value iteration, whose solver starts JAX where that is there.

    Tests of learners may follow in the same process, and they settle its threads first.
    """
    module_with_jax("jax", find_learner("ppo").Settings().threads)
    from open_spiel.python.algorithms.value_iteration import value_iteration as theirs

    return theirs(game, *how, **more)
