"""Stable-Baselines3: the vector environment in the form that its learners take.

    many = gymnasium.make_vec("kibitz/tapnswap-v1", num_envs=64, opponents="tapper")
    model = MaskablePPO("MlpPolicy", vec_env(many))

Without this each game would be an environment of its own, stepped one after another.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from kibitz.bridges.needs import need
from kibitz.bridges.vector import SeatsVector
from kibitz.core.errors import Misuse

need("stable_baselines3", "sb3")

from stable_baselines3.common.vec_env.base_vec_env import VecEnv  # noqa: E402

MASKS = "action_masks"


class SeatsVecEnv(VecEnv):
    """Many games as Stable-Baselines3 steps them; sb3-contrib finds the masks."""

    def __init__(self, many: SeatsVector) -> None:
        self.many = many
        self._chosen = np.zeros(many.num_envs, np.int64)
        self._returns = np.zeros(many.num_envs)
        self._lengths = np.zeros(many.num_envs, np.int64)
        self._began = time.time()
        self.render_mode = None
        super().__init__(many.num_envs, many.single_observation_space, many.single_action_space)

    def reset(self) -> np.ndarray:
        """Deal every game, by the seed that was set, if one was."""
        seed = self._seeds[0]
        self._reset_seeds()
        self._returns[:] = 0.0
        self._lengths[:] = 0
        return self.many.reset(seed=seed)[0]

    def step_async(self, actions: np.ndarray) -> None:
        """Take note of the actions."""
        self._chosen = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, Any]]]:
        """Play them. The infos of games that ended have the last observation and the return."""
        seen, rewards, over, _, more = self.many.step(self._chosen)
        self._returns += rewards
        self._lengths += 1
        infos: list[dict[str, Any]] = [{} for _ in range(self.num_envs)]
        for board in np.flatnonzero(over):
            episode = {
                "r": float(self._returns[board]), "l": int(self._lengths[board]),
                "t": round(time.time() - self._began, 6),
            }  # fmt: skip
            last = more["final_obs"][board]
            infos[board] = {
                "terminal_observation": last, "episode": episode, "TimeLimit.truncated": False,
            }  # fmt: skip
        self._returns[over] = 0.0
        self._lengths[over] = 0
        return seen, rewards.astype(np.float32), over, infos

    def action_masks(self) -> list[np.ndarray]:
        """Give a mask of the legal actions of each game."""
        return list(self.many.sparring.masks.copy())

    def env_method(
        self, method_name: str, *arguments: Any, indices: Any = None, **named: Any
    ) -> list[Any]:
        """Answer what learners ask of every game: its mask."""
        if method_name != MASKS:
            raise Misuse(f"Games that are stepped together have no '{method_name}', only {MASKS}.")
        masks = self.action_masks()
        return [masks[place] for place in self._get_indices(indices)]

    def get_attr(self, attr_name: str, indices: Any = None) -> list[Any]:
        """Give something of every game, the same for all."""
        value = getattr(self.many if attr_name != MASKS else self, attr_name)
        return [value for _ in self._get_indices(indices)]

    def set_attr(self, attr_name: str, value: Any, indices: Any = None) -> None:
        """Refuse: games that are stepped together have no settings of their own."""
        raise Misuse(f"'{attr_name}' cannot be set; make the vector environment with it.")

    def env_is_wrapped(self, wrapper_class: type, indices: Any = None) -> list[bool]:
        """Tell that returns are kept, as a Monitor would; nothing else is wrapped."""
        kept = wrapper_class.__name__ == "Monitor"
        return [kept for _ in self._get_indices(indices)]

    def get_images(self) -> Sequence[np.ndarray | None]:
        """Give no pictures: there is one game too many for them."""
        return [None] * self.num_envs

    def close(self) -> None:
        """Let the threads go."""
        self.many.close()


def vec_env(many: Any) -> SeatsVecEnv:
    """Give a vector environment, as `gymnasium.make_vec` makes it, to Stable-Baselines3."""
    if not isinstance(many, SeatsVector):
        raise Misuse(
            f"{many} is no vector environment of a kibitz game, or is wrapped: "
            'gymnasium.make_vec("kibitz/tapnswap-v1", num_envs=64).'
        )
    if not many.copies:  # learners keep what they have seen until after the next step
        raise Misuse("Stable-Baselines3 needs observations of their own: leave out copy=False.")
    return SeatsVecEnv(many)
