"""Gymnasium's vector environments on the batch engine: thousands of games, compiled, on all cores.

A game that ends is followed by the next at once (`AutoresetMode.SAME_STEP`): the observation is
then the first of the new game, and the info has `final_obs` and `final_info` of the old one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from gymnasium import spaces
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space

from kibitz.bridges.board import bring_within
from kibitz.bridges.gymnasium import ILLEGAL, RAISE, RANDOM
from kibitz.bridges.spaces import features_of
from kibitz.core.errors import IllegalMove, unknown
from kibitz.core.game import Game
from kibitz.play.sparring import Sparring

# All else are options of the game.
OWN = ("opponents", "seat", "aim", "rewards", "illegal", "cores", "copy", "scaled")
MOST_SEED = 2**63 - 1


class ManyActions(spaces.MultiDiscrete):
    """An action number for each game. A sample without a mask has only legal ones."""

    def __init__(self, sparring: Sparring) -> None:
        super().__init__(np.full(sparring.size, sparring.game.bound("actions")))
        self.sparring = sparring

    def sample(self, mask: Any = None, probability: Any = None) -> np.ndarray:
        """Draw an action for each game: as is asked for, or else a legal one."""
        if mask is not None or probability is not None:
            return super().sample(mask, probability)
        return self.sparring.draw(self.np_random)

    def __reduce__(self) -> Any:
        """Copy or save it as a plain space, which knows of no games."""
        return spaces.MultiDiscrete, (self.nvec,)


class SeatsVector(VectorEnv):
    """Many games at once, in each of which one seat is yours; see `SeatEnv` for what is the same.

    opponents   names of compiled agents, or `self` where all win together
    cores       threads that play; results do not depend on it
    copy        False gives arrays that the next step overwrites, which saves time

    The info has `action_mask` [num_envs, actions] and `seat`; where a game has ended, `final_obs`,
    and in `final_info` the `points` of every seat.
    """

    def __init__(
        self,
        game: Game,
        num_envs: int,
        opponents: Sequence[str] | str = "random",
        seat: int | None = None,
        aim: str = "points",
        rewards: str | Mapping[str, float] | None = None,
        illegal: str = RANDOM,
        cores: int = 1,
        copy: bool = True,
        scaled: bool = False,
    ) -> None:
        if illegal not in ILLEGAL:
            raise unknown("way with illegal actions", str(illegal), ILLEGAL)
        self.game = game
        self.num_envs = num_envs
        self.metadata = {"autoreset_mode": AutoresetMode.SAME_STEP}
        self._illegal = illegal
        self.copies = copy
        self._scale = game.scale_of_features() if scaled else None
        self.sparring = Sparring(
            game, num_envs, 0, opponents=opponents, seat=seat, aim=aim, rewards=rewards,
            cores=cores,
        )  # fmt: skip
        self.single_observation_space = features_of(game, scaled)
        self.single_action_space = spaces.Discrete(game.bound("actions"))
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = ManyActions(self.sparring)

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal every game anew, by the seed, or by another one."""
        super().reset(seed=seed)
        self.sparring.reset(int(self.np_random.integers(MOST_SEED)) if seed is None else seed)
        return self._seen(), self._infos()

    def step(
        self, actions: Any
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Take one action in each game."""
        chosen = np.array(actions)
        if chosen.dtype.kind not in "iu":  # fractions, truth values and words are mistakes
            raise IllegalMove(
                f"{self.game.name}: actions are whole numbers, one for each of {self.num_envs} "
                f"games, not {chosen.dtype}."
            )
        chosen = chosen.astype(np.int64)
        wrong = np.zeros(0, np.int64)
        if self._illegal != RAISE and chosen.shape == (self.num_envs,):
            inside = (chosen >= 0) & (chosen < self.sparring.masks.shape[1])
            rows = np.flatnonzero(inside)
            wrong = rows[~self.sparring.masks[rows, chosen[rows]]]
            if len(wrong):
                chosen[wrong] = self.sparring.draw(self.np_random)[wrong]
        sparring = self.sparring
        sparring.step(chosen)
        infos = self._infos()
        if len(wrong):
            infos["illegal"] = np.isin(np.arange(self.num_envs), wrong)
        done = sparring.done.copy()
        if done.any():
            infos |= self._final(done)
        rewards = sparring.rewards.copy()
        return self._seen(), rewards, done, np.zeros(self.num_envs, np.bool_), infos

    def _final(self, done: np.ndarray) -> dict[str, Any]:
        final = np.full(self.num_envs, None, object)
        rows = np.flatnonzero(done)
        for board, seen in zip(rows, self._scaled(self.sparring.final_features[rows]), strict=True):
            final[board] = seen
        points = np.where(done[:, None], self.sparring.final, 0.0)
        return {
            "final_obs": final, "_final_obs": done.copy(),
            "final_info": {"points": points, "_points": done.copy()}, "_final_info": done.copy(),
        }  # fmt: skip

    def _scaled(self, seen: np.ndarray) -> np.ndarray:
        return seen if self._scale is None else bring_within(seen, self._scale)

    def _seen(self) -> np.ndarray:
        if self._scale is not None:
            return self._scaled(self.sparring.features)
        return self.sparring.features.copy() if self.copies else self.sparring.features

    def _infos(self) -> dict[str, Any]:
        masks = self.sparring.masks.view(np.int8)
        return {
            "action_mask": masks.copy() if self.copies else masks,
            "seat": self.sparring.seat.copy(),
        }

    def close_extras(self, **_: Any) -> None:
        """Let the threads go."""
        self.sparring.close()
