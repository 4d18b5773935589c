"""The loss of learning by temporal differences, in JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kibitz.neural.network import Network, improver


class Sample(NamedTuple):
    """Decisions to learn from, and what came of them."""

    features: Any  # [n, features]
    options: Any  # [n, 1 + prospects]: of the option that was taken; or [n, 0]
    actions: Any  # [n]: its number
    targets: Any  # [n]


class Figures(NamedTuple):
    """How a step of learning went."""

    value_loss: Any


def values_of(network: Network, sample: Sample) -> jax.Array:
    """Give what the positions after the moves are worth."""
    state, cells = network.state_of(sample.features)
    if network.shape.actions:
        numbers = network.numbers_of(state)
        number = jnp.take_along_axis(numbers, sample.actions[:, None], 1)[:, 0]
    else:
        number = network.number_of_one(state, cells, sample.options)
    return network.value_of(state) + number


def loss_of(network: Network, sample: Sample) -> tuple[jax.Array, Figures]:
    """Give half the mean square of how far the values are off."""
    error = 0.5 * ((values_of(network, sample) - sample.targets) ** 2).mean()
    return error, Figures(error)


improve = improver(loss_of, Figures)
