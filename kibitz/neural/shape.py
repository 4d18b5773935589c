"""The shape of a network, and its weights by name: what training and playing have in common.

features --[planes: convolutions, or tokens: a transformer]--> trunk --> value
                                          \\--> a number for every action, or
prospects of an option, what is made of its cell or token, and the trunk --> a number for it

A layer is a weight [inputs, outputs] and a bias [outputs]; a convolution a weight [3, 3, inputs,
outputs]. All but the last ones are followed by max(0, x). For a transformer see tokens.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kibitz.core.errors import BadModel, BadOption, BrokenRules, Misuse
from kibitz.core.game import Game, Planes, Tokens
from kibitz.neural.tokens import is_packed, pack_tokens, read_attention, token_gain, token_sizes

MOST_LAYERS = 8
MOST_UNITS = 4096
MOST_ACTIONS = 20_000  # by number, without prospects
DENSE, TRANSFORMER = "dense", "transformer"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """What goes in, what comes out, and the layers between."""

    features: int
    actions: int  # 0 if options are told apart by their prospects
    prospects: int  # without the cell, which comes first
    ahead: bool  # prospects are what the position after the option shows
    planes: Planes | None
    channels: tuple[int, ...]
    hidden: tuple[int, ...]
    option_hidden: tuple[int, ...]
    tokens: tuple[Tokens, ...] = ()  # of a transformer; its layers follow
    width: int = 0
    heads: int = 0
    blocks: int = 0

    @property
    def vector(self) -> int:
        """How many features the trunk is given as they are."""
        if self.tokens:
            return 0
        planes = self.planes
        return self.features - (planes.count * planes.height * planes.width if planes else 0)

    @property
    def seen(self) -> int:
        """How many numbers there are for a cell or token."""
        if self.tokens:
            return self.width
        return self.channels[-1] if self.planes else 0

    def sizes(self) -> dict[str, tuple[int, ...]]:
        """Give the shape of every weight by name, in the order in which they are used."""
        found: dict[str, tuple[int, ...]] = {}

        def add(name: str, *size: int) -> None:
            found[f"{name}.weight"] = size
            found[f"{name}.bias"] = size[-1:]

        if self.planes:
            inputs = self.planes.count
            for place, outputs in enumerate(self.channels):
                add(f"convolution.{place}", 3, 3, inputs, outputs)
                inputs = outputs
        if self.tokens:
            found |= token_sizes(self)
        # With planes the mean over all cells, and the greatest; for tokens see tokens.py.
        inputs = self.vector + 2 * self.seen
        for place, outputs in enumerate(self.hidden):
            add(f"trunk.{place}", inputs, outputs)
            inputs = outputs
        add("value", inputs, 1)
        if self.actions:
            add("policy", inputs, self.actions)
            return found
        inputs += self.seen + self.prospects
        for place, outputs in enumerate(self.option_hidden):
            add(f"option.{place}", inputs, outputs)
            inputs = outputs
        add("policy", inputs, 1)
        return found

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data."""
        return asdict(self)


def looks_ahead(game: Game) -> bool:
    """Tell whether options can be described by playing them: where nothing is hidden."""
    return not game.hides and game.bound("prospects") == 0 and game.planes(game.settings) is None


def shape_of(
    game: Game, hidden: str, option_hidden: str, channels: str, ahead: str = "yes",
    network: str = DENSE, width: str = "32", heads: str = "4", blocks: str = "1",
) -> Shape:  # fmt: skip
    """Work out the shape for a game and the layers that were asked for."""
    if network not in (DENSE, TRANSFORMER):
        raise BadOption(f"network is {DENSE} or {TRANSFORMER}, not '{network}'.")
    is_ahead = ahead == "yes" and looks_ahead(game)
    prospects = 1 + game.bound("features") if is_ahead else game.bound("prospects")
    actions = 0 if prospects else game.bound("actions")
    if actions > MOST_ACTIONS:
        raise Misuse(
            f"{game.described()} has {actions:,} actions, too many to learn by number; rules that "
            "describe each option (`describe`) would make it possible."
        )
    attention = read_attention(game, width, heads, blocks) if network == TRANSFORMER else {}
    planes = None if attention else game.planes(game.settings)
    if planes and planes.first + planes.count * planes.height * planes.width != game.bound(
        "features"
    ):
        raise BrokenRules(f"{game.name}: the features must end with the planes.")
    return Shape(
        features=game.bound("features"),
        actions=actions,
        prospects=max(0, prospects - 1),
        ahead=is_ahead,
        planes=planes,
        channels=read_sizes("channels", channels),
        hidden=read_sizes("hidden", hidden),
        option_hidden=read_sizes("option_hidden", option_hidden),
        **attention,
    )


def read_sizes(name: str, text: str) -> tuple[int, ...]:
    """Read sizes of layers, as in `256,256`."""
    parts = [part.strip() for part in text.split(",")]
    sizes = tuple(int(part) if part.isdecimal() and len(part) < 6 else 0 for part in parts)
    if not all(1 <= size <= MOST_UNITS for size in sizes) or len(sizes) > MOST_LAYERS:
        raise BadOption(
            f"{name} is 1 to {MOST_LAYERS} sizes of layers, each up to {MOST_UNITS}, with commas "
            f"between them, as in 256,256; not '{text}'."
        )
    return sizes


def first_weights(shape: Shape, seed: int) -> dict[str, np.ndarray]:
    """Draw weights to begin with: orthogonal, small for the policy, so that all is about alike."""
    rng = np.random.default_rng(seed)
    weights: dict[str, np.ndarray] = {}
    for name, size in shape.sizes().items():
        if name.endswith("bias"):
            weights[name] = np.zeros(size, np.float32)
            continue
        rows, columns = int(np.prod(size[:-1])), size[-1]
        drawn = rng.standard_normal((max(rows, columns), min(rows, columns)))
        matrix = np.linalg.qr(drawn)[0]
        matrix = matrix if rows >= columns else matrix.T
        gain = token_gain(name) if shape.tokens and name in token_sizes(shape) else 2.0**0.5
        gain = {"policy.weight": 0.01, "value.weight": 1.0}.get(name, gain)
        weights[name] = (gain * matrix).reshape(size).astype(np.float32)
    return weights


def check_weights(weights: Mapping[str, np.ndarray], shape: Shape, what: str) -> None:
    """Refuse weights that are not of the shape."""
    for name, size in shape.sizes().items():
        array = weights.get(name)
        if array is None or array.shape != size or array.dtype != np.float32:
            raise BadModel(f"{what} does not fit: '{name}' is not {size} numbers.")
        if not np.isfinite(array).all():
            raise BadModel(f"{what} is damaged: '{name}' holds what is no number.")


def widened(
    weights: Mapping[str, np.ndarray], old: Shape, new: Shape, what: str, remedy: str = ""
) -> dict[str, np.ndarray]:
    """Pad the weights for extra inputs with zeros; outputs are unchanged.

    Features and prospects that are new must come behind those that were there. `remedy` is what
    to do beyond giving other layers, where they cannot be padded.
    """
    check_weights(weights, old, what)
    same = (
        "actions", "ahead", "planes", "channels", "hidden", "option_hidden", "tokens", "width",
        "heads", "blocks",
    )  # fmt: skip
    if any(getattr(old, name) != getattr(new, name) for name in same) or (
        old.vector > new.vector or old.prospects > new.prospects
    ):
        differ = [name for name in (*same, "features", "prospects")
                  if getattr(old, name) != getattr(new, name)]  # fmt: skip
        there = "; ".join(
            f"its {name.replace('_', '-')} is {_typed(getattr(old, name))}, "
            f"not {_typed(getattr(new, name))}"
            for name in differ
        )
        flags = [
            f"--{name.replace('_', '-')} {_typed(getattr(old, name))}"
            for name in differ
            if name in ("channels", "hidden", "option_hidden")
        ]
        if "ahead" in differ:
            flags.append("--ahead" if old.ahead else "--no-ahead")
        layers = f" Give the layers that it has: {' '.join(flags)}" if flags else ""
        raise Misuse(
            f"Cannot continue from {what}: {there}. Only features and prospects may be added."
            f"{layers}{remedy}"
        )
    made = {name: weights[name].copy() for name in new.sizes()}
    if new.vector > old.vector:
        first = weights["trunk.0.weight"]
        gap = np.zeros((new.vector - old.vector, first.shape[1]), np.float32)
        made["trunk.0.weight"] = np.concatenate([first[: old.vector], gap, first[old.vector :]])
    if new.prospects > old.prospects:
        first = weights["option.0.weight"]
        gap = np.zeros((new.prospects - old.prospects, first.shape[1]), np.float32)
        made["option.0.weight"] = np.concatenate([first, gap])
    return made


def _typed(value: object) -> str:
    """Write the size of a layer, or of several, as one types it."""
    if isinstance(value, tuple) and not hasattr(value, "_fields"):
        return ",".join(map(str, value))
    return {True: "yes", False: "no", None: "none"}.get(value, str(value))  # type: ignore[call-overload]


# --- for compiled inference ----------------------------------------------------------------------

# The weights of the agent begin with numbers that say what follows.
HEAD = (
    TEMPERATURE, FEATURES, ACTIONS, PROSPECTS, PLANES_FIRST, PLANES_COUNT, HEIGHT, WIDTH,
    CONVOLUTIONS, TRUNK, OPTION, SENSES, AHEAD, SCALE, UNITS, HEADS, BLOCKS, KINDS, THINGS,
) = range(19)  # fmt: skip
LAYERS = len(HEAD)  # then their sizes, MOST_LAYERS each: channels, hidden, option_hidden
SENSE_CELLS = LAYERS + 3 * MOST_LAYERS  # then cells of options, and what they are to hold
MOST_SENSES = 8
FIRST = SENSE_CELLS + 2 * MOST_SENSES


def flat(
    game: Game, shape: Shape, weights: Mapping[str, np.ndarray], temperature: float, scale: float
) -> np.ndarray:
    """Put everything that compiled inference needs into one array.

    That includes what the game was set to show learners: the agent sees that at any table.
    """
    head = np.zeros(FIRST, np.float32)
    head[[TEMPERATURE, FEATURES, ACTIONS, PROSPECTS]] = (
        temperature, shape.features, shape.actions, shape.prospects,
    )  # fmt: skip
    planes, channels = shape.planes, shape.channels if shape.planes else ()
    if planes:
        head[PLANES_FIRST : WIDTH + 1] = planes.first, planes.count, planes.height, planes.width
    option = () if shape.actions else shape.option_hidden
    for place, layers in enumerate((channels, shape.hidden, option)):
        head[CONVOLUTIONS + place] = len(layers)
        head[LAYERS + place * MOST_LAYERS :][: len(layers)] = layers
    blank = game.blank()
    cells = [
        cell
        for name in game.senses
        for cell in range(*game.layout.options[name].indices(len(blank)))
    ]
    if len(cells) > MOST_SENSES:
        raise BrokenRules(f"{game.name}: {len(cells)} cells of senses are too many.")
    head[SENSES], head[AHEAD], head[SCALE] = len(cells), shape.ahead, scale
    for place, cell in enumerate(cells):
        head[SENSE_CELLS + 2 * place :][:2] = cell, blank[cell]
    if not shape.tokens:
        return np.concatenate([head, *(weights[name].ravel() for name in shape.sizes())])
    things = sum(len(kind.columns) for kind in shape.tokens)
    head[UNITS : THINGS + 1] = (
        shape.width, shape.heads, shape.blocks, len(shape.tokens), things,
    )  # fmt: skip
    rest = [name for name in shape.sizes() if not is_packed(name)]
    return np.concatenate(
        [head, *pack_tokens(shape, weights), *(weights[name].ravel() for name in rest)]
    )
