"""A network that plays on many boards and learns from it. How it learns, learners say."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.chance import WORD, Chance
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.models import find_model
from kibitz.neural.agent import Meaning, NetworkKind
from kibitz.neural.backend import module_with_jax
from kibitz.neural.boards import EARNED, GAMES, MOVES, RIVAL_GAMES, SHARE
from kibitz.neural.rollout import Boards, Opponents
from kibitz.neural.settings import Playing
from kibitz.neural.shape import check_weights, first_weights, shape_of, widened

SNAPSHOTS = "past"
STAGE_SEEDS = 1_000_003  # between the seeds of two stages
STACKED = 2048  # decisions that are handed to the network at once, if a batch is smaller
COUNTED = ("rate", "games", "length", "points", "rivals_beaten")
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


def _encoding_of(old: Game, new: Game) -> str:
    """Say which settings make the difference, and what to type to have the earlier ones."""
    known = {option.name: option for option in new.all_options}
    differ = [name for name in known if old.settings[name] != new.settings[name]]
    if not differ:
        return ""
    was, now = (
        {name: known[name].say(game.settings[name]) for name in differ} for game in (old, new)
    )
    there = ", ".join(f"{name} was {was[name]}, not {now[name]}" for name in differ)
    typed = " ".join(f"--set {name}={was[name]}" for name in differ)
    return f" There, {there}. To continue with what it saw: {typed}"


class Diverged(KibitzError):
    """Training has run away: the network gives no numbers any more."""


class Learner:
    """A network that plays against itself, its past, or others, and learns from it."""

    KIND: ClassVar[NetworkKind]  # who plays by it
    LOSS: ClassVar[str]  # the module with `improve`, which takes steps of learning
    FIGURES: ClassVar[tuple[str, ...]]  # that `learn` gives in any case

    def __init__(self, game: Game, settings: Playing, seed: int) -> None:
        self.game, self.settings, self.seed = game, settings, seed
        self.nets: Any = module_with_jax("kibitz.neural.network", settings.threads)
        self.loss: Any = module_with_jax(self.LOSS, settings.threads)
        self.shape = shape_of(game, **settings.layers)
        self.aim = settings.aim
        if game.cooperative and self.aim in ("win", "margin"):
            self.aim = "points"  # all seats have the same: there is nobody to be ahead of
        self._check_stages()
        weights, deviation = self._begin()
        self.network = self.nets.network_from(self.shape, weights)
        self.memory = self.nets.first_memory(self.network)
        self._enter(0)
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
        path = find_model(self.settings.begin_with, self.game)
        trained_on, shape, weights, about = self.KIND.load(path, self.game)
        remedy = _encoding_of(trained_on, self.game)
        if not extends(self.game, trained_on):
            raise Misuse(
                f"Cannot continue from '{path}': it was trained on {trained_on.described()}, whose "
                f"observation is not a prefix of that of {self.game.described()}.{remedy}"
            )
        made = widened(weights, shape, self.shape, f"'{path}'", remedy)
        return made, 1.0 / about["scale"] if about["aim"] == self.aim else 0.0

    def _check_stages(self) -> None:
        """Refuse opponents of later stages now, and not when their time has come."""
        stages = self.settings.stages
        if len(stages) > 1 and not all(stages):
            raise Misuse(f"'{self.settings.opponents}' has a stage with nobody in it.")
        for stage in stages[1:]:
            Opponents(self.game, stage, self.settings.boards)

    def _enter(self, stage: int) -> None:
        """Set up the boards of a stage, with its opponents."""
        settings, game = self.settings, self.game
        usual = "self" if game.cooperative else "self+self+self+past"
        self.stage = stage
        self.boards = Boards(
            game, boards=settings.boards, steps=settings.steps,
            seed=(self.seed + stage * STAGE_SEEDS) & WORD,
            opponents=settings.stages[stage] or usual, aim=self.aim, rewards=settings.rewards,
            rounds=settings.rounds, opening=settings.opening, ahead=self.shape.ahead,
            cores=settings.cores or None, teacher=self.teacher,
        )  # fmt: skip

    @property
    def told(self) -> tuple[str, ...]:
        """The names of the figures that `learn` gives."""
        return self.FIGURES

    @property
    def teacher(self) -> str:
        """The agent whose choices are imitated, or nothing."""
        return ""

    @property
    def total(self) -> int:
        """How many updates there will be."""
        return max(1, -(-self.settings.decisions // (self.settings.boards * self.settings.steps)))

    @property
    def left(self) -> float:
        """How much of the training is still to come: 1 at first, 0 at the end."""
        return 1.0 - self.updates / self.total

    def weights(self) -> Weights:
        """Give the weights as they are now."""
        return self.nets.weights_of(self.network)

    def agent(
        self, weights: Mapping[str, np.ndarray] | None = None, scale: float | None = None
    ) -> CompiledAgent:
        """Give the agent that plays by the weights as they are now, or by others."""
        meaning = Meaning(self.aim, scale or self.boards.scale, self.game.players)
        weights = self.weights() if weights is None else weights
        return self.KIND.kind(self.game, self.shape, weights, meaning)(self.game)

    # --- playing -------------------------------------------------------------------------------

    def exploring(self) -> tuple[float, float]:
        """Give the share of moves that are made by lot, and the temperature of the others."""
        return 0.0, 1.0

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
        boards.roll(self._thinking(self.network), think_past, past_boards, *self.exploring())
        for part, seconds in boards.seconds.items():
            self.seconds[part] += seconds
            boards.seconds[part] = 0.0

    # --- learning ------------------------------------------------------------------------------

    def update(self) -> dict[str, float]:
        """Play, learn from it, and say how it went."""
        settings = self.settings
        stage = self.updates * len(settings.stages) // self.total
        if stage != self.stage:
            deviation = self.boards.deviation[0]
            self._enter(stage)
            self.boards.deviation[0] = deviation
        if self.boards.opponents.past_boards and self.updates % settings.past_every == 0:
            self.past.append(self.weights())
        self.play()
        began = time.perf_counter()
        rate = settings.rate * self.left
        figures = self.learn(rate)
        if not np.isfinite(list(figures.values())).all():
            raise Diverged(
                f"After {self.updates} updates the network gives no numbers any more. Try a lower "
                "rate, or go on from the last checkpoint with other settings (begin_with)."
            )
        self.seconds["update"] += time.perf_counter() - began
        self.updates += 1
        self.decisions += settings.boards * settings.steps
        tally = self.boards.tally.sum(axis=0)
        games = max(1.0, tally[GAMES])
        counted = (
            rate, tally[GAMES], tally[MOVES] / games, tally[EARNED] / games,
            tally[SHARE] / max(1.0, tally[RIVAL_GAMES]),
        )  # fmt: skip
        return figures | {
            name: float(number) for name, number in zip(COUNTED, counted, strict=True)
        }

    def learn(self, rate: float) -> dict[str, float]:
        """Improve the network by what lies in the buffer; give what `told` names."""
        raise NotImplementedError

    def check_enough(self, count: int) -> None:
        """Refuse to learn from less than a batch."""
        if count < self.settings.batch:
            raise Misuse(
                f"A buffer holds {count} decisions that can be learned from, fewer than a "
                f"batch of {self.settings.batch}. Give a larger buffer or a smaller batch."
            )

    def steps_by(
        self, count: int, samples: Callable[[np.ndarray, int], Any], rate: float, *numbers: float,
        improve: Any = None,
    ) -> dict[str, float]:  # fmt: skip
        """Take steps of learning by `count` decisions, in another order each epoch.

        samples(part, room): the samples of decisions [samples, batch], stacked, with room for so
        many. improve: by another loss. Gives the means of the figures.
        """
        improve = improve or self.loss.improve
        settings = self.settings
        given = [np.float32(number) for number in (rate, settings.max_norm, *numbers)]
        rng = np.random.default_rng((self.seed, self.updates))
        # In loops of XLA, convolutions take four times as long.
        room = 1 if self.shape.planes else max(1, STACKED // settings.batch)
        batches = count // settings.batch
        sums: list[Any] = []
        for _ in range(settings.epochs):
            order = rng.permutation(count)[: batches * settings.batch]
            order = order.reshape(batches, settings.batch)
            for first in range(0, batches, room):
                part = order[first : first + room]
                self.network, self.memory, seen = improve(
                    self.network, self.memory, samples(part, room), len(part), *given
                )
                sums.append(seen)
        steps = settings.epochs * batches
        return {
            name: sum(float(getattr(seen, name)) for seen in sums) / steps
            for name in sums[0]._fields
        }

    # --- checkpoints ---------------------------------------------------------------------------

    def kept(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on."""
        leaves = self.nets.jax.tree.leaves(self.memory)
        found = {f"network.{name}": array for name, array in self.weights().items()}
        found |= {f"optimizer.{place}": np.asarray(leaf) for place, leaf in enumerate(leaves)}
        for place, weights in enumerate(self.past):
            found |= {f"{SNAPSHOTS}.{place}.{name}": array for name, array in weights.items()}
        progress = np.array([self.updates, self.decisions, len(self.past), self.stage])
        return {**found, **self.boards.kept(), "progress": progress}

    def like(self) -> dict[str, np.ndarray]:
        """Give arrays of the types and shapes that a checkpoint must hold."""
        return {name: np.atleast_1d(array) for name, array in self.kept().items()}

    def enter_stage_of(self, kept: Mapping[str, np.ndarray]) -> None:
        """Seat the opponents of the stage that a checkpoint was made in."""
        progress = kept.get("progress", np.zeros(0))
        if len(progress) == 4 and 0 < progress[3] < len(self.settings.stages):
            self._enter(int(progress[3]))

    def take_up(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on from a checkpoint, whose stage was entered."""
        nets = self.nets

        def named(prefix: str) -> Weights:
            return {
                name: kept[f"{prefix}.{name}"]
                for name in self.shape.sizes()
                if f"{prefix}.{name}" in kept
            }

        self.updates, self.decisions, snapshots, _ = (int(number) for number in kept["progress"])
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
