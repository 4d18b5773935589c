"""The learner: plays a buffer full of decisions, then improves its network by them."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.chance import Chance
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.learners.ppo.agent import Meaning, kind_of, load_policy
from kibitz.learners.ppo.backend import network_module
from kibitz.learners.ppo.boards import EARNED, GAMES, MOVES, RIVAL_GAMES, SHARE
from kibitz.learners.ppo.rollout import Boards
from kibitz.learners.ppo.settings import Settings
from kibitz.learners.ppo.shape import check_weights, first_weights, shape_of, widened

SNAPSHOTS = "past"
STACKED = 2048  # decisions that are handed to the network at once, if a batch is smaller
Weights = dict[str, np.ndarray]


def extends(new: Game, old: Game, positions: int = 20) -> bool:
    """Tell whether learners see of a game what they saw of another, and maybe more behind it."""
    if old == new:
        return True
    features, earlier = (np.zeros(game.bound("features"), np.float32) for game in (new, old))
    for deal in range(positions):
        table, same = new.deal(0, deal), old.deal(0, deal)
        rng = Chance(0, deal, 1)
        for _ in range(2 * deal):
            if not table.over:
                action = rng.choice(table.legal)
                table.play(action)
                same.play(action)
        features[:], earlier[:] = 0.0, 0.0
        new.rules.observe(table.view(0).cells, features)
        old.rules.observe(same.view(0).cells, earlier)
        if len(earlier) > len(features) or (features[: len(earlier)] != earlier).any():
            return False
    return True


class Diverged(KibitzError):
    """Training has run away: the network gives no numbers any more."""


class Learner:
    """A network that plays against itself, its past, or others, and learns from it."""

    def __init__(self, game: Game, settings: Settings, seed: int) -> None:
        self.game, self.settings, self.seed = game, settings, seed
        self.nets: Any = network_module(settings.threads)
        self.shape = shape_of(game, **settings.layers)
        usual = "self" if game.cooperative else "self+self+self+past"
        self.aim = settings.aim
        if game.cooperative and self.aim in ("win", "margin"):
            self.aim = "points"  # all seats have the same: there is nobody to be ahead of
        weights, deviation = self._begin()
        self.network = self.nets.network_from(self.shape, weights)
        self.memory = self.nets.first_memory(self.network)
        self.boards = Boards(
            game, boards=settings.boards, steps=settings.steps, seed=seed,
            opponents=settings.opponents or usual, aim=self.aim, rewards=settings.rewards,
            opening=settings.opening, ahead=self.shape.ahead, cores=settings.cores or None,
        )  # fmt: skip
        self.boards.deviation[0] = deviation
        self.past: deque[Weights] = deque(maxlen=settings.window)
        self.updates = 0
        self.decisions = 0
        self.seconds = {"engine": 0.0, "network": 0.0, "update": 0.0}

    def _begin(self) -> tuple[Weights, float]:
        """Give the weights to begin with, and how much is earned by a decision, if that is known.

        Values are learned in units of that.
        """
        if not self.settings.begin_with:
            return first_weights(self.shape, self.seed), 0.0
        path = self.settings.begin_with
        trained_on, shape, weights, about = load_policy(path, self.game)
        if not extends(self.game, trained_on):
            raise Misuse(
                f"'{path}' cannot be gone on with: it was trained on {trained_on.described()}, and "
                f"what it saw is not the first part of what {self.game.described()} shows."
            )
        made = widened(weights, shape, self.shape, f"'{path}'")
        return made, 1.0 / about["scale"] if about["aim"] == self.aim else 0.0

    @property
    def total(self) -> int:
        """How many updates there will be."""
        return max(1, -(-self.settings.decisions // (self.settings.boards * self.settings.steps)))

    def weights(self) -> Weights:
        """Give the weights as they are now."""
        return self.nets.weights_of(self.network)

    def agent(
        self, weights: Mapping[str, np.ndarray] | None = None, scale: float | None = None
    ) -> CompiledAgent:
        """Give the agent that plays by the weights as they are now, or by others."""
        meaning = Meaning(self.aim, scale or self.boards.scale, self.game.players)
        weights = self.weights() if weights is None else weights
        return kind_of(self.game, self.shape, weights, meaning)(self.game)

    # --- playing -------------------------------------------------------------------------------

    def _thinking(self, network: Any) -> Any:
        if self.shape.actions:

            def think(features, options, owner):
                numbers, value = self.nets.think_by_number(network, features)
                return np.asarray(numbers), np.asarray(value)
        else:

            def think(features, options, owner):
                numbers, value = self.nets.think_of_options(network, features, options, owner)
                return np.asarray(numbers), np.asarray(value)

        return think

    def play(self) -> None:
        """Fill the buffer."""
        boards = self.boards
        past_boards = boards.opponents.past_boards
        think_past = None
        if past_boards and self.past:
            drawn = Chance(self.seed, self.updates, 3).below(len(self.past))
            think_past = self._thinking(self.nets.network_from(self.shape, self.past[drawn]))
        boards.roll(self._thinking(self.network), think_past, past_boards)
        for part, seconds in boards.seconds.items():
            self.seconds[part] += seconds
            boards.seconds[part] = 0.0

    # --- learning ------------------------------------------------------------------------------

    def update(self) -> dict[str, float]:
        """Play, learn from it, and say how it went."""
        settings, boards, nets = self.settings, self.boards, self.nets
        if boards.opponents.past_boards and self.updates % settings.past_every == 0:
            self.past.append(self.weights())
        self.play()
        began = time.perf_counter()
        rows = boards.judge(settings.gamma, settings.lam)
        if len(rows) < settings.batch:
            raise Misuse(
                f"A buffer holds {len(rows)} decisions that can be learned from, fewer than a "
                f"batch of {settings.batch}. Give a larger buffer or a smaller batch."
            )
        gains = boards.gains.ravel()[rows]
        returns = (boards.gains + boards.values).ravel()[rows].astype(np.float32)
        explained = 1.0 - float(np.var(gains)) / max(float(np.var(returns)), 1e-12)
        gains = ((gains - gains.mean()) / (gains.std() + 1e-8)).astype(np.float32)
        chances = boards.chances.ravel()[rows]
        left = 1.0 - self.updates / self.total
        numbers = [
            np.float32(number)
            for number in (settings.rate * left, settings.clip, settings.entropy,
                           settings.value_weight, settings.max_norm)
        ]  # fmt: skip
        rng = np.random.default_rng((self.seed, self.updates))
        # In loops of XLA, convolutions take four times as long.
        room = 1 if self.shape.planes else max(1, STACKED // settings.batch)
        batches = len(rows) // settings.batch
        figures: list[Any] = []
        for _ in range(settings.epochs):
            order = rng.permutation(len(rows))[: batches * settings.batch]
            order = order.reshape(batches, settings.batch)
            for first in range(0, batches, room):
                part = order[first : first + room]
                # With room for as many samples as ever, since each size is compiled for.
                judged = (
                    np.resize(array[part], (room, settings.batch))
                    for array in (chances, gains, returns)
                )
                samples = nets.Sample(*boards.samples(rows[part], room), *judged)
                self.network, self.memory, seen = nets.improve(
                    self.network, self.memory, samples, len(part), *numbers
                )
                figures.append(seen)
        steps = settings.epochs * batches
        means = {
            name: sum(float(getattr(seen, name)) for seen in figures) / steps
            for name in figures[0]._fields
        }
        if not np.isfinite(list(means.values())).all():
            raise Diverged(
                f"After {self.updates} updates the network gives no numbers any more. Try a lower "
                "rate, or go on from the last checkpoint with other settings (begin_with)."
            )
        self.seconds["update"] += time.perf_counter() - began
        self.updates += 1
        self.decisions += settings.boards * settings.steps
        tally = boards.tally.sum(axis=0)
        games = max(1.0, tally[GAMES])
        return {
            **means,
            "explained": explained,
            "rate": float(numbers[0]),
            "games": float(tally[GAMES]),
            "length": float(tally[MOVES] / games),
            "points": float(tally[EARNED] / games),
            "rivals_beaten": float(tally[SHARE] / max(1.0, tally[RIVAL_GAMES])),
        }

    # --- checkpoints ---------------------------------------------------------------------------

    def kept(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        leaves = self.nets.jax.tree.leaves(self.memory)
        found = {f"network.{name}": array for name, array in self.weights().items()}
        found |= {f"optimizer.{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
        for place, weights in enumerate(self.past):
            found |= {f"{SNAPSHOTS}.{place}.{name}": array for name, array in weights.items()}
        progress = np.array([self.updates, self.decisions, len(self.past)])
        return {**found, **self.boards.kept(), "progress": progress}

    def like(self) -> dict[str, np.ndarray]:
        """Give arrays of the types and shapes that a checkpoint must hold."""
        return {name: np.atleast_1d(array) for name, array in self.kept().items()}

    def take_up(self, kept: dict[str, np.ndarray]) -> None:
        """Go on from a checkpoint."""
        nets = self.nets

        def named(prefix: str) -> Weights:
            return {
                name: kept[f"{prefix}.{name}"]
                for name in self.shape.sizes()
                if f"{prefix}.{name}" in kept
            }

        self.updates, self.decisions, snapshots = (int(number) for number in kept["progress"])
        weights = named("network")
        check_weights(weights, self.shape, "The checkpoint")
        self.network = nets.network_from(self.shape, weights)
        leaves, structure = nets.jax.tree.flatten(self.memory)
        kept_leaves = [
            # A file has no arrays without dimensions; with one more, other code would be compiled.
            nets.jnp.asarray(kept[f"optimizer.{place}"].reshape(leaf.shape), leaf.dtype)
            for place, leaf in enumerate(leaves)
        ]
        self.memory = nets.jax.tree.unflatten(structure, kept_leaves)
        self.past.clear()
        for place in range(snapshots):
            self.past.append(named(f"{SNAPSHOTS}.{place}"))
            check_weights(self.past[-1], self.shape, "The checkpoint")
        self.boards.take_up(kept)
