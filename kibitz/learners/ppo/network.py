"""The network in JAX, and one step of learning. Only this file and `backend.py` know JAX."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from kibitz.learners.ppo.shape import Shape

FAR = -1e9  # of an option that is not there


class Layer(eqx.Module):
    """A weight [inputs, outputs], or [3, 3, inputs, outputs] of a convolution, and a bias."""

    weight: jax.Array
    bias: jax.Array


class Network(eqx.Module):
    """All layers; see shape.py for how they hang together."""

    convolution: list[Layer]
    trunk: list[Layer]
    value: Layer
    option: list[Layer]
    policy: Layer
    shape: Shape = eqx.field(static=True)

    def state_of(self, features: jax.Array) -> tuple[jax.Array, jax.Array | None]:
        """Give what the trunk makes of features [n, features], and what is seen of every cell."""
        planes, cells = self.shape.planes, None
        if planes is not None:
            n = features.shape[0]
            image = features[:, planes.first :].reshape(
                n, planes.count, planes.height, planes.width
            )
            for layer in self.convolution:
                image = jax.lax.conv_general_dilated(
                    image, layer.weight, (1, 1), "SAME", dimension_numbers=("NCHW", "HWIO", "NCHW")
                )
                image = jax.nn.relu(image + layer.bias[:, None, None])
            cells = image.reshape(n, image.shape[1], -1)
            parts = [features[:, : planes.first], cells.mean(2), cells.max(2)]
            features = jnp.concatenate(parts, axis=1)
        for layer in self.trunk:
            features = jax.nn.relu(features @ layer.weight + layer.bias)
        return features, cells

    def value_of(self, state: jax.Array) -> jax.Array:
        """Give what positions are worth, [n]."""
        return (state @ self.value.weight + self.value.bias)[:, 0]

    def numbers_of(self, state: jax.Array) -> jax.Array:
        """Give the policy's number for every action, [n, actions]."""
        return state @ self.policy.weight + self.policy.bias

    def numbers_of_options(
        self, state: jax.Array, cells: jax.Array | None, options: jax.Array, owned: jax.Array
    ) -> jax.Array:
        """Give the policy's number for options in chunks [chunks, CHUNK, 1 + prospects].

        owned [chunks, n]: 1 where a chunk belongs to a decision.
        """
        first, inputs = self.option[0], state.shape[1]
        weight = first.weight
        common = owned @ (state @ weight[:inputs] + first.bias)
        out = options[..., 1:] @ weight[inputs + self.shape.seen :] + common[:, None]
        if cells is not None:
            place = options[..., 0].astype(jnp.int32)
            owner = jnp.argmax(owned, axis=1)
            at = jnp.maximum(place, 0)
            seen = jnp.swapaxes(cells, 1, 2)[owner[:, None], at]
            seen = jnp.where((place >= 0)[..., None], seen, 0.0)
            out = out + seen @ weight[inputs : inputs + self.shape.seen]
        out = jax.nn.relu(out)
        for layer in self.option[1:]:
            out = jax.nn.relu(out @ layer.weight + layer.bias)
        return (out @ self.policy.weight + self.policy.bias)[..., 0]


def network_from(shape: Shape, weights: Mapping[str, np.ndarray]) -> Network:
    """Make the network from weights by name."""

    def layers(name: str) -> list[Layer]:
        count = sum(key.startswith(f"{name}.") and key.endswith("bias") for key in weights)
        return [layer(f"{name}.{place}") for place in range(count)]

    def layer(name: str) -> Layer:
        return Layer(jnp.asarray(weights[f"{name}.weight"]), jnp.asarray(weights[f"{name}.bias"]))

    return Network(
        layers("convolution"), layers("trunk"), layer("value"), layers("option"), layer("policy"),
        shape,
    )  # fmt: skip


def weights_of(network: Network) -> dict[str, np.ndarray]:
    """Give the weights by name."""
    found: dict[str, np.ndarray] = {}
    for name in ("convolution", "trunk", "option"):
        for place, layer in enumerate(getattr(network, name)):
            found[f"{name}.{place}.weight"] = np.asarray(layer.weight)
            found[f"{name}.{place}.bias"] = np.asarray(layer.bias)
    for name in ("value", "policy"):
        layer = getattr(network, name)
        found[f"{name}.weight"] = np.asarray(layer.weight)
        found[f"{name}.bias"] = np.asarray(layer.bias)
    return {name: found[name] for name in network.shape.sizes()}


@jax.jit
def think_by_number(network: Network, features: jax.Array) -> tuple[jax.Array, jax.Array]:
    """Give the policy's number for every action, and the value."""
    state, _ = network.state_of(features)
    return network.numbers_of(state), network.value_of(state)


@jax.jit
def think_of_options(
    network: Network, features: jax.Array, options: jax.Array, owner: jax.Array
) -> tuple[jax.Array, jax.Array]:
    """Give the policy's number for every option, in chunks, and the value."""
    state, cells = network.state_of(features)
    owned = owned_by(owner, len(features))
    return network.numbers_of_options(state, cells, options, owned), network.value_of(state)


def owned_by(owner: jax.Array, n: int) -> jax.Array:
    """Give a matrix [chunks, n] with 1 where a chunk belongs to a decision.

    Sums over chunks are products with it: faster than scattering, and always in the same order.
    """
    return (owner[:, None] == jnp.arange(n)[None]).astype(jnp.float32)


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


def optimizer_of(max_norm: Any) -> optax.GradientTransformation:
    """Make the optimiser; the learning rate is given with every step."""
    return optax.chain(optax.clip_by_global_norm(max_norm), optax.scale_by_adam(eps=1e-5))


def first_memory(network: Network) -> Any:
    """Give what the optimiser remembers before the first step."""
    return optimizer_of(1.0).init(network)


@jax.jit
def improve(
    network: Network, memory: Any, samples: Sample, count: jax.Array, rate: jax.Array,
    clip: jax.Array, entropy_weight: jax.Array, value_weight: jax.Array, max_norm: jax.Array,
) -> tuple[Network, Any, Figures]:  # fmt: skip
    """Take a step of learning by each of the first `count` samples; give the sums of the figures.

    The samples are stacked: calling this once for many steps saves as much time as a small network
    takes for its arithmetic.
    """
    optimizer = optimizer_of(max_norm)

    def step(place: Any, so_far: tuple[Network, Any, Figures]) -> Any:
        network, memory, sums = so_far
        sample = jax.tree.map(lambda array: array[place], samples)
        gradients, figures = jax.grad(loss_of, has_aux=True)(
            network, sample, clip, entropy_weight, value_weight
        )
        steps, memory = optimizer.update(gradients, memory)
        steps = jax.tree.map(lambda step: -rate * step, steps)
        network = eqx.apply_updates(network, steps)
        return network, memory, jax.tree.map(jnp.add, sums, figures)

    begin = network, memory, Figures(*[jnp.float32(0.0)] * len(Figures._fields))
    if len(samples.features) == 1:
        return step(0, begin)
    return jax.lax.fori_loop(0, count, step, begin)
