"""The network in JAX, and how it takes steps of learning.

Only this file, `transformer.py`, `backend.py` and the losses of the learners know JAX.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import optax

from kibitz.neural.shape import Shape
from kibitz.neural.transformer import Layer, Transformer, transformer_from


class Network(eqx.Module):
    """All layers; see shape.py for how they hang together."""

    convolution: list[Layer]
    trunk: list[Layer]
    value: Layer
    option: list[Layer]
    policy: Layer
    transformer: Transformer | None
    shape: Shape = eqx.field(static=True)

    def state_of(self, features: jax.Array) -> tuple[jax.Array, jax.Array | None]:
        """Give what the trunk makes of features [n, features], and what is seen of every cell.

        Cells [n, channels, cells] are those of the planes, or tokens.
        """
        planes, cells = self.shape.planes, None
        if self.transformer is not None:
            features, cells = self.transformer.see(features)
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
        common = owned @ self._common(state)
        owner = jnp.argmax(owned, axis=1)[:, None]
        return self._weigh(state.shape[1], cells, options, owner, common[:, None])

    def number_of_one(
        self, state: jax.Array, cells: jax.Array | None, options: jax.Array
    ) -> jax.Array:
        """Give the policy's number for one option of each decision, [n, 1 + prospects]."""
        owner = jnp.arange(len(options))
        return self._weigh(state.shape[1], cells, options, owner, self._common(state))

    def _common(self, state: jax.Array) -> jax.Array:
        """Give what the first layer makes of the trunk: the same for all options of a decision."""
        return state @ self.option[0].weight[: state.shape[1]] + self.option[0].bias

    def _weigh(
        self, inputs: int, cells: jax.Array | None, options: jax.Array, owner: jax.Array,
        common: jax.Array,
    ) -> jax.Array:  # fmt: skip
        weight = self.option[0].weight
        out = options[..., 1:] @ weight[inputs + self.shape.seen :] + common
        if cells is not None:
            place = options[..., 0].astype(jnp.int32)
            at = jnp.maximum(place, 0)
            seen = jnp.swapaxes(cells, 1, 2)[owner, at]
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
        transformer_from(shape, layer, weights) if shape.tokens else None, shape,
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
    if network.transformer is not None:
        found |= network.transformer.weights()
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


def optimizer_of(max_norm: Any) -> optax.GradientTransformation:
    """Make the optimiser; the learning rate is given with every step."""
    return optax.chain(optax.clip_by_global_norm(max_norm), optax.scale_by_adam(eps=1e-5))


def first_memory(network: Network) -> Any:
    """Give what the optimiser remembers before the first step."""
    return optimizer_of(1.0).init(network)


def improver(loss_of: Callable[..., tuple[jax.Array, Any]], figures: Any) -> Any:
    """Make the function that takes steps of learning by a loss.

    loss_of(network, sample, *numbers) gives what is to be made small, and figures of that type.
    """

    @jax.jit
    def improve(
        network: Network, memory: Any, samples: Any, count: jax.Array, rate: jax.Array,
        max_norm: jax.Array, *numbers: jax.Array,
    ) -> tuple[Network, Any, Any]:  # fmt: skip
        """Take a step by each of the first `count` samples; give the sums of the figures.

        The samples are stacked: calling this once for many steps saves as much time as a small
        network takes for its arithmetic.
        """
        optimizer = optimizer_of(max_norm)

        def step(place: Any, so_far: tuple[Network, Any, Any]) -> Any:
            network, memory, sums = so_far
            sample = jax.tree.map(lambda array: array[place], samples)
            gradients, seen = jax.grad(loss_of, has_aux=True)(network, sample, *numbers)
            steps, memory = optimizer.update(gradients, memory)
            steps = jax.tree.map(lambda step: -rate * step, steps)
            network = eqx.apply_updates(network, steps)
            return network, memory, jax.tree.map(jnp.add, sums, seen)

        begin = network, memory, figures(*[jnp.float32(0.0)] * len(figures._fields))
        if len(samples.features) == 1:
            return step(0, begin)
        return jax.lax.fori_loop(0, count, step, begin)

    return improve
