"""The transformer in JAX; see tokens.py for its layers, attention.py for the same without JAX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

from kibitz.core.game import Tokens
from kibitz.neural.shape import Shape
from kibitz.neural.tokens import READ

SMALL = 1e-5  # added to the variance, as in attention.py


class Layer(eqx.Module):
    """A weight [inputs, outputs], or [3, 3, inputs, outputs] of a convolution, and a bias."""

    weight: jax.Array
    bias: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        """Apply it."""
        return x @ self.weight + self.bias


class Block(eqx.Module):
    """Attention and two layers, each added to the tokens."""

    attend: Layer
    mix: Layer
    up: Layer
    down: Layer

    def __call__(self, tokens: jax.Array, there: jax.Array, heads: int) -> jax.Array:
        """Apply it to tokens [n, tokens, width], of which those count that are there."""
        n, count, width = tokens.shape
        parts = self.attend(normal(tokens)).reshape(n, count, 3, heads, width // heads)
        queries, keys, values = parts[:, :, 0], parts[:, :, 1], parts[:, :, 2]
        scores = jnp.einsum("nthd,nshd->nhts", queries, keys) / (width // heads) ** 0.5
        shares = jax.nn.softmax(jnp.where(there[:, None, None], scores, -jnp.inf), axis=-1)
        mixed = jnp.einsum("nhts,nshd->nthd", shares, values).reshape(n, count, width)
        tokens = tokens + self.mix(mixed)
        return tokens + self.down(jax.nn.relu(self.up(normal(tokens))))


class Transformer(eqx.Module):
    """What reads, the layer of each kind of things, and the blocks."""

    read: jax.Array
    embed: list[Layer]
    blocks: list[Block]
    kinds: tuple[Tokens, ...] = eqx.field(static=True)
    heads: int = eqx.field(static=True)

    def see(self, features: jax.Array) -> tuple[jax.Array, jax.Array]:
        """Return what the trunk is given of features [n, features], and what is made of each thing.

        Things [n, width, things] are those of all kinds; 0 where one is not there.
        """
        n = len(features)
        none = jnp.zeros((n, 1), features.dtype)
        known = jnp.concatenate([features, none], axis=1)  # the last for what a thing lacks
        first = jnp.broadcast_to(self.read, (n, *self.read.shape))
        made = [tokens_of(kind, by, known) for kind, by in zip(self.kinds, self.embed, strict=True)]
        tokens = jnp.concatenate([first, *(of for of, _, _ in made)], axis=1)
        here = jnp.concatenate([jnp.ones((n, 1), bool), *(of for _, of, _ in made)], axis=1)
        for block in self.blocks:
            tokens = block(tokens, here, self.heads)
        tokens = normal(tokens)
        others = jnp.where(here[:, 1:, None], tokens[:, 1:], 0.0)
        mean = others.sum(1) / jnp.maximum(here[:, 1:].sum(1), 1)[:, None]
        things, at = [], 0
        for of, _, places in made:
            rows = others[:, at : at + of.shape[1]]
            things.append(rows if places is None else jnp.einsum("nmt,nmw->ntw", places, rows))
            at += of.shape[1]
        seen = jnp.swapaxes(jnp.concatenate(things, axis=1), 1, 2)
        return jnp.concatenate([tokens[:, 0], mean], axis=1), seen

    def weights(self) -> dict[str, np.ndarray]:
        """Return the weights by name."""
        layers = {f"embed.{kind.name}": of for kind, of in zip(self.kinds, self.embed, strict=True)}
        for place, block in enumerate(self.blocks):
            for name in ("attend", "mix", "up", "down"):
                layers[f"block.{place}.{name}"] = getattr(block, name)
        found = {READ: np.asarray(self.read)}
        for name, layer in layers.items():
            found[f"{name}.weight"] = np.asarray(layer.weight)
            found[f"{name}.bias"] = np.asarray(layer.bias)
        return found


def normal(tokens: jax.Array) -> jax.Array:
    """Return tokens with mean 0 and variance 1."""
    centred = tokens - tokens.mean(-1, keepdims=True)
    return centred * jax.lax.rsqrt((centred**2).mean(-1, keepdims=True) + SMALL)


def tokens_of(
    kind: Tokens, layer: Layer, features: jax.Array
) -> tuple[jax.Array, jax.Array, jax.Array | None]:
    """Return the tokens of a kind of things, which of them are there, and which thing each is.

    Where only some can be there at once they are moved together, [n, most, ..]: places [n, most,
    things] is 1 where a token is of a thing. Products with it are faster than sorting.
    """
    columns = len(kind.columns[0])
    rows = features[:, np.array(kind.columns)]  # [n, things, columns]
    there = (rows != 0.0).any(-1)
    known = np.array(kind.known, np.float32).reshape(len(kind.known), -1)
    begin = known @ layer.weight[columns:] + layer.bias  # [things, width]
    if kind.most >= len(kind.columns):
        return rows @ layer.weight[:columns] + begin, there, None
    slots = jnp.cumsum(there, axis=1) - 1
    wanted = jnp.arange(kind.most)[None, :, None]
    places = ((slots[:, None] == wanted) & there[:, None]).astype(jnp.float32)
    shown = jnp.einsum("nmt,ntc->nmc", places, rows) @ layer.weight[:columns]
    return shown + places @ begin, places.any(-1), places


def transformer_from(
    shape: Shape, layer: Callable[[str], Layer], weights: Mapping[str, Any]
) -> Transformer:
    """Make the transformer from weights by name."""
    blocks = [
        Block(*(layer(f"block.{place}.{name}") for name in ("attend", "mix", "up", "down")))
        for place in range(shape.blocks)
    ]
    embed = [layer(f"embed.{kind.name}") for kind in shape.tokens]
    return Transformer(jnp.asarray(weights[READ]), embed, blocks, shape.tokens, shape.heads)
