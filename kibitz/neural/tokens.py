"""The layers of a transformer over the tokens that a game names, and how they are packed to play.

token   the thing's features and what is always known of it, through the layer of its kind; one
        more, `read`, is learned and gathers what the others hold
block   x + attention(normal(x)), then x + layers(normal(x)); a normal token has mean 0, variance 1
result  of `read`, and the mean of all others, for the trunk; of every token, for options about it

Tokens are not numbered, so their order changes nothing but rounding.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.core.errors import BadOption
from kibitz.core.game import Game

if TYPE_CHECKING:
    from kibitz.neural.shape import Shape

READ = "read.weight"
WIDER = 2  # how much wider than a token the layer between two of a block is
MOST_WIDTH, MOST_HEADS, MOST_BLOCKS = 256, 32, 8


def read_attention(game: Game, width: str, heads: str, blocks: str) -> dict[str, Any]:
    """Return the parts of a shape that a transformer has, or raise if the game names no tokens."""
    tokens = game.tokens(game.settings)
    if not tokens:
        raise BadOption(
            f"{game.described()} names no tokens that a transformer could see. Use network=dense, "
            "or let the rules name them: see `tokens` in docs/add-a-game.md."
        )
    sizes = {}
    limits = {"width": MOST_WIDTH, "heads": MOST_HEADS, "blocks": MOST_BLOCKS}
    for (name, most), text in zip(limits.items(), (width, heads, blocks), strict=True):
        sizes[name] = int(text) if text.isdecimal() and len(text) < 6 else 0
        if not 1 <= sizes[name] <= most:
            raise BadOption(f"{name} is 1 to {most}, not '{text}'.")
    if sizes["width"] % sizes["heads"]:
        raise BadOption(
            f"heads share the width evenly: {width} cannot be shared by {heads}. Choose a width "
            f"that is a multiple of the heads, as in width={8 * sizes['heads']}."
        )
    return {"tokens": tokens, **sizes}


def token_sizes(shape: Shape) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all weights of the transformer by name, in the order of their use."""
    width = shape.width
    layers = {
        f"embed.{kind.name}": (len(kind.columns[0]) + len(kind.known[0]), width)
        for kind in shape.tokens
    }
    for place in range(shape.blocks):
        layers |= {
            f"block.{place}.attend": (width, 3 * width),  # queries, keys, values
            f"block.{place}.mix": (width, width),
            f"block.{place}.up": (width, WIDER * width),
            f"block.{place}.down": (WIDER * width, width),
        }
    found: dict[str, tuple[int, ...]] = {READ: (1, width)}
    for name, size in layers.items():
        found[f"{name}.weight"], found[f"{name}.bias"] = size, size[-1:]
    return found


def token_gain(name: str) -> float:
    """Return how large weights begin: what is added to a token is smaller than the token."""
    return 0.5 if name.endswith(("mix.weight", "down.weight")) else 1.0


def is_packed(name: str) -> bool:
    """Whether a weight goes into what `pack_tokens` returns."""
    return name == READ or name.startswith("embed.")


def pack_tokens(shape: Shape, weights: Mapping[str, np.ndarray]) -> list[np.ndarray]:
    """Return what compiled inference needs to make the tokens.

    After `read`, for each kind of things: how many there are, how many columns they have, those
    columns, what each thing begins with [things, width], and the layer [columns, width].
    """
    packed = [weights[READ].ravel()]
    for kind in shape.tokens:
        layer, bias = weights[f"embed.{kind.name}.weight"], weights[f"embed.{kind.name}.bias"]
        things, columns = len(kind.columns), len(kind.columns[0])
        known = np.array(kind.known, np.float32).reshape(things, -1)
        packed += [
            np.array([things, columns], np.float32),
            np.array(kind.columns, np.float32).ravel(),
            (known @ layer[columns:] + bias).ravel(),
            layer[:columns].ravel(),
        ]
    return [array.astype(np.float32) for array in packed]
