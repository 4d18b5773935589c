"""Agents that play by a trained network, from a model or from what comes with a game."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion
from kibitz.core.errors import BadModel, BadOption, Misuse
from kibitz.core.game import Game
from kibitz.core.models import find_model, load_model, made_for, own_models
from kibitz.core.options import Option, Real, Text, settle
from kibitz.core.table import View
from kibitz.neural.inference import choose, think
from kibitz.neural.shape import Shape, check_weights, flat, shape_of

POINTS, CHANCES = "points", "chances"


@dataclass(frozen=True, slots=True)
class Meaning:
    """What the value of a position stands for: the aim of the training, the scale of rewards."""

    aim: str
    scale: float
    seats: int

    def say(self, worth: float) -> str:
        """Put a value into words."""
        amount = worth / self.scale
        if self.aim == "win":
            chance = min(1.0, max(0.0, amount + 1.0 / self.seats))
            return f"a chance of {chance:.0%} to win"
        unit = {"points": "points to come", "margin": "points to gain on the best other"}
        return f"{amount:+.1f} {unit.get(self.aim, 'rewards to come')}"


def thoughts_of(agent: CompiledAgent, view: View) -> tuple[np.ndarray, float]:
    """Give the network's number for each legal action, and what the position is worth."""
    actions = np.array(view.legal, np.int32)
    numbers = np.empty(len(actions))
    worth = think(agent.game.rules, view.cells, actions, len(actions), agent.weights, numbers)
    return numbers, float(worth)


@dataclass(frozen=True, kw_only=True)
class NetworkKind:
    """Those who play by a network that a learner has trained; `model` is what its files say."""

    model: str
    learner: str
    about: str  # in a sentence
    cooler: str  # what its temperature does
    value: Any  # compiled with VALUE
    unit: str  # of its values, if it was trained for points
    explain: Callable[[Meaning, CompiledAgent, View], Opinion]
    slow: ClassVar[bool] = True  # as Python: it is compiled before it plays, see `Kind`

    @property
    def options(self) -> tuple[Option, ...]:
        """What can be set."""
        return (
            Text(
                name="model",
                default="",
                help=f"a model that {self.learner} made, or one that comes with the game",
            ),
            Real(name="temperature", default=0.0, low=0.0, high=100.0, help=self.cooler),
        )

    def summary(self) -> str:
        """Say in a line who this is."""
        return self.about

    def kind(
        self, game: Game, shape: Shape, weights: Mapping[str, np.ndarray], meaning: Meaning,
        temperature: float = 0.0,
    ) -> Kind:  # fmt: skip
        """Make the kind of agent that plays by these weights. game: as it was in training."""
        packed = flat(game, shape, weights, temperature, meaning.scale)
        unit = "" if self.unit == POINTS and meaning.aim not in ("points", "margin") else self.unit
        return Kind(
            choose=choose, value=self.value, unit=unit, weights=lambda *_: packed, name=self.model,
            slow=True,
            explain=lambda agent, view: self.explain(meaning, agent, view),
        )  # fmt: skip

    def load(
        self, path: str | Path, game: Game
    ) -> tuple[Game, Shape, dict[str, np.ndarray], dict[str, Any]]:
        """Read a model: the game as it was in training, the network, and what was noted of it."""
        weights, about = load_model(path, self.model, game, any_alike=True)
        trained_on = made_for(path, game)
        layers = about.get("layers")
        if not isinstance(layers, dict) or not all(isinstance(of, str) for of in layers.values()):
            raise BadModel(f"'{path}' is a damaged model: it does not say which layers it has.")
        try:
            shape = shape_of(trained_on, **layers)
        except (BadOption, TypeError) as error:
            raise BadModel(f"'{path}' is a damaged model: {error}") from error
        check_weights(weights, shape, f"'{path}'")
        scale = about.get("scale")
        if not isinstance(scale, float | int) or not 0.0 < scale < math.inf or "aim" not in about:
            raise BadModel(f"'{path}' is a damaged model: it does not say what its values mean.")
        return trained_on, shape, weights, about

    def own(self, game: Game) -> Path | None:
        """Find the model that comes with a game as it is set."""
        fitting = (
            path for path in own_models(game, self.model) if game.is_alike(made_for(path, game))
        )
        return next(fitting, None)

    def unfit(self, game: Game) -> str | None:
        """Say why it cannot play a game, or None."""
        if self.own(game) is None:
            return f"no network comes with it; train one: {self._command(game)}"
        return None

    def __call__(self, game: Game, **settings: Any) -> CompiledAgent:
        """Make the agent from a model, or from what comes with the game."""
        chosen = settle(self.options, settings, self.model)
        path = find_model(chosen["model"], game) if chosen["model"] else self.own(game)
        if not path:
            raise Misuse(
                f"No network comes with {game.described()}; train one: {self._command(game)}"
            )
        trained_on, shape, weights, about = self.load(path, game)
        meaning = Meaning(str(about["aim"]), float(about["scale"]), game.players)
        return self.kind(trained_on, shape, weights, meaning, chosen["temperature"])(game)

    def _command(self, game: Game) -> str:
        return f"kibitz train {game.typed()} {self.learner}"
