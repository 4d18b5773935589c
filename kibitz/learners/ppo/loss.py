"""The loss of proximal policy optimisation, in JAX."""

from __future__ import annotations

from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from kibitz.neural.network import Network, improver, owned_by

FAR = -1e9  # of an option that is not there


class Sample(NamedTuple):
    """Decisions to learn from, and what came of them."""

    features: Any  # [n, features]
    options: Any  # [chunks, CHUNK, 1 + prospects], or empty
    owner: Any  # [chunks]
    known: Any  # [chunks, CHUNK], or [n, actions] by number
    chosen: Any  # [n]: among all chunks, or the action's number
    chances: Any  # [n]: the logarithm of the chance it had
    gains: Any  # [n]: advantages
    returns: Any  # [n]


def logs_of(network: Network, sample: Sample) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Give the logarithm of the chosen options' chances, the entropy, and the value, all [n]."""
    state, cells = network.state_of(sample.features)
    value = network.value_of(state)
    n = len(sample.features)
    if network.shape.actions:
        raw = jnp.where(sample.known, network.numbers_of(state), FAR)
        logs = jax.nn.log_softmax(raw, axis=1)
        entropy = -jnp.where(sample.known, jnp.exp(logs) * logs, 0.0).sum(1)
        return jnp.take_along_axis(logs, sample.chosen[:, None], 1)[:, 0], entropy, value
    owned = owned_by(sample.owner, n)
    raw = network.numbers_of_options(state, cells, sample.options, owned)
    raw = jnp.where(sample.known, raw, FAR)
    tops = jax.lax.stop_gradient(
        jnp.where(owned > 0, raw.max(1, keepdims=True), FAR).max(0)  # [n]
    )
    raised = jnp.where(sample.known, jnp.exp(raw - (owned @ tops)[:, None]), 0.0)
    total = raised.sum(1) @ owned
    logs = raw - (owned @ (jnp.log(total) + tops))[:, None]
    entropy = -(jnp.where(sample.known, jnp.exp(logs) * logs, 0.0).sum(1) @ owned)
    return logs.reshape(-1)[sample.chosen], entropy, value


class Figures(NamedTuple):
    """How a step of learning went."""

    policy_loss: Any
    value_loss: Any
    entropy: Any
    clipped: Any
    divergence: Any


def loss_of(
    network: Network, sample: Sample, clip: jax.Array, entropy_weight: jax.Array,
    value_weight: jax.Array,
) -> tuple[jax.Array, Figures]:  # fmt: skip
    """Give what is to be made small: the clipped objective, errors of the value, and certainty."""
    logs, entropy, value = logs_of(network, sample)
    change = logs - sample.chances
    ratio = jnp.exp(change)
    gain = sample.gains
    policy = -jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - clip, 1 + clip) * gain).mean()
    error = 0.5 * ((value - sample.returns) ** 2).mean()
    uncertainty = entropy.mean()
    clipped = (jnp.abs(ratio - 1) > clip).mean()
    divergence = (ratio - 1 - change).mean()
    total = policy + value_weight * error - entropy_weight * uncertainty
    return total, Figures(policy, error, uncertainty, clipped, divergence)


improve = improver(loss_of, Figures)
