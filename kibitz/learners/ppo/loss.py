"""The loss of proximal policy optimisation, in JAX."""

from __future__ import annotations

from collections.abc import Callable
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


class Lesson(NamedTuple):
    """The same, and what a teacher would have done."""

    features: Any
    options: Any
    owner: Any
    known: Any
    chosen: Any
    chances: Any
    gains: Any
    returns: Any
    advised: Any  # [n], as chosen


def every_log(
    network: Network, sample: Sample | Lesson
) -> tuple[Callable[[Any], jax.Array], jax.Array, jax.Array]:
    """Give what looks up the logarithm of options' chances, the entropy, and the value.

    The last two are [n]; the first takes options as `chosen` names them, [n].
    """
    state, cells = network.state_of(sample.features)
    value = network.value_of(state)
    n = len(sample.features)
    if network.shape.actions:
        raw = jnp.where(sample.known, network.numbers_of(state), FAR)
        logs = jax.nn.log_softmax(raw, axis=1)
        entropy = -jnp.where(sample.known, jnp.exp(logs) * logs, 0.0).sum(1)
        return lambda which: jnp.take_along_axis(logs, which[:, None], 1)[:, 0], entropy, value
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
    return lambda which: logs.reshape(-1)[which], entropy, value


def logs_of(network: Network, sample: Sample) -> tuple[jax.Array, jax.Array, jax.Array]:
    """Give the logarithm of the chosen options' chances, the entropy, and the value, all [n]."""
    log_of, entropy, value = every_log(network, sample)
    return log_of(sample.chosen), entropy, value


class Figures(NamedTuple):
    """How a step of learning went."""

    policy_loss: Any
    value_loss: Any
    entropy: Any
    clipped: Any
    divergence: Any


class LessonFigures(NamedTuple):
    """The same, and how well it follows its teacher."""

    policy_loss: Any
    value_loss: Any
    entropy: Any
    clipped: Any
    divergence: Any
    lesson_loss: Any
    follows: Any  # the chance of what the teacher would have done


def judge(
    logs: jax.Array, entropy: jax.Array, value: jax.Array, sample: Sample | Lesson, clip: jax.Array
) -> Figures:
    """Give the clipped objective, errors of the value, the entropy, and how much has changed."""
    change = logs - sample.chances
    ratio = jnp.exp(change)
    gain = sample.gains
    policy = -jnp.minimum(ratio * gain, jnp.clip(ratio, 1 - clip, 1 + clip) * gain).mean()
    error = 0.5 * ((value - sample.returns) ** 2).mean()
    clipped = (jnp.abs(ratio - 1) > clip).mean()
    divergence = (ratio - 1 - change).mean()
    return Figures(policy, error, entropy.mean(), clipped, divergence)


def loss_of(
    network: Network, sample: Sample, clip: jax.Array, entropy_weight: jax.Array,
    value_weight: jax.Array,
) -> tuple[jax.Array, Figures]:  # fmt: skip
    """Give what is to be made small: the clipped objective, errors of the value, and certainty."""
    seen = judge(*logs_of(network, sample), sample, clip)
    total = seen.policy_loss + value_weight * seen.value_loss - entropy_weight * seen.entropy
    return total, seen


def lesson_loss_of(
    network: Network, sample: Lesson, clip: jax.Array, entropy_weight: jax.Array,
    value_weight: jax.Array, lesson_weight: jax.Array,
) -> tuple[jax.Array, LessonFigures]:  # fmt: skip
    """Give the same with a teacher: a share of the policy's loss is the cross entropy with it."""
    log_of, entropy, value = every_log(network, sample)
    seen = judge(log_of(sample.chosen), entropy, value, sample, clip)
    advised = log_of(sample.advised)
    lesson, own = -advised.mean(), 1.0 - lesson_weight
    total = (
        lesson_weight * lesson
        + own * (seen.policy_loss - entropy_weight * seen.entropy)
        + value_weight * seen.value_loss
    )
    return total, LessonFigures(*seen, lesson, jnp.exp(advised).mean())


improve = improver(loss_of, Figures)
improve_by_lesson = improver(lesson_loss_of, LessonFigures)
