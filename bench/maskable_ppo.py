"""Steps a second of a peer, MaskablePPO of sb3-contrib, that learns one of our games.

A program of its own, for any Python that has kibitz and the peer, so that ours need not have it:

    pip install sb3-contrib stable-baselines3 gymnasium
    PYTHONPATH=. python bench/maskable_ppo.py hanabi --set players=2 --hidden 64,64 --envs 128

It prints one line of JSON. A step is one decision of the learner. Where all seats win together the
policy decides for every seat, and the reward is the change of points. Elsewhere it sits at a random
seat, the others play any legal action, and the reward is the change of its margin from one decision
to the next. Per second of the processor means the time of this process in all its threads, which
says more on a busy machine, and less with `--processes`, since work elsewhere is left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

import kibitz
from kibitz.core.game import OVER, SEAT

try:
    import gymnasium
    import torch
    from sb3_contrib import MaskablePPO
    from sb3_contrib.common.maskable.utils import get_action_masks
    from stable_baselines3.common.vec_env import DummyVecEnv, SubprocVecEnv, VecEnv
except ImportError as error:
    sys.exit(f"{error}. Try: pip install sb3-contrib stable-baselines3 gymnasium")

PACKAGES = ("torch", "stable-baselines3", "sb3-contrib", "gymnasium", "numpy", "numba")
BUFFER, BATCH, EPOCHS = 10_240, 256, 3
ALONE = 20_000  # steps without a learner


class Seat(gymnasium.Env):
    """One seat of a game, or all of them where they win together.

    Calls the rules themselves: a table would check every action and keep a history.
    """

    def __init__(self, game: kibitz.Game) -> None:
        self.game = game
        self.rules = game.rules
        self.chance = kibitz.Chance(0)
        self.blank = game.blank()
        self.table = self.blank.copy()
        self.view = self.blank.copy()
        self.legal = np.zeros(game.bound("most_legal"), np.int32)
        self.points = np.zeros(game.players)
        self.mask = np.zeros(game.bound("actions"), np.bool_)
        self.seat = 0
        self.margin = 0.0
        features = game.bound("features")
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (features,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(len(self.mask))

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal until there is something to decide for the learner."""
        if seed is not None:
            self.chance = kibitz.Chance(seed)
        over = True
        while over:
            self.table[:] = self.blank
            self.rules.deal(self.table, self.chance.words)
            self.seat = self.chance.below(self.game.players)
            over = self._others_play()
        self.margin = self._margin()
        return self._look(), {}

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action, and answer it until the learner is to move again."""
        self.rules.play(self.table, action)
        over = self._others_play()
        before, self.margin = self.margin, self._margin()
        return self._look(), self.margin - before, over, False, {}

    def action_masks(self) -> np.ndarray:
        """Tell which actions are legal."""
        return self.mask

    def _others_play(self) -> bool:
        """Play at random for all seats but the learner's; tell whether the game is over."""
        rules, table, legal = self.rules, self.table, self.legal
        mover = table[SEAT]
        while mover != OVER and mover != self.seat and not self.game.cooperative:
            rules.play(table, int(legal[self.chance.below(rules.legal(table, legal))]))
            mover = table[SEAT]
        if self.game.cooperative:
            self.seat = max(int(mover), 0)
        return bool(mover == OVER)

    def _margin(self) -> float:
        """Own points less the mean of the others', or the points of all together."""
        self.rules.score(self.table, self.points)
        own = float(self.points[self.seat])
        if self.game.cooperative:
            return own
        return own - (float(self.points.sum()) - own) / (len(self.points) - 1)

    def _look(self) -> np.ndarray:
        self.rules.look(self.table, self.seat, self.view)
        self.mask[:] = False
        self.mask[self.legal[: self.rules.legal(self.view, self.legal)]] = True
        features = np.empty(self.observation_space.shape, np.float32)
        self.rules.observe(self.view, features)
        return features


def vector(name: str, settings: dict[str, str], envs: int, seed: int, processes: bool) -> VecEnv:
    """Seat many learners at once, in this process or in one each."""

    def make() -> Seat:
        return Seat(kibitz.game(name, **settings))

    made = SubprocVecEnv([make] * envs) if processes else DummyVecEnv([make] * envs)
    made.seed(seed)
    return made


def steps_alone(env: VecEnv, steps: int, seed: int) -> int:
    """Step without a learner: any legal action, drawn for all at once."""
    rng = np.random.default_rng(seed)
    env.reset()
    for _ in range(steps // env.num_envs):
        masks = get_action_masks(env)
        env.step((rng.random(masks.shape) * masks).argmax(axis=1))
    return steps // env.num_envs * env.num_envs


def learn(env: VecEnv, hidden: list[int], steps: int, buffer: int, seed: int) -> int:
    """Learn for whole buffers, at least so many steps; give how many there were."""
    model = MaskablePPO(
        "MlpPolicy", env, n_steps=buffer // env.num_envs, batch_size=BATCH, n_epochs=EPOCHS,
        policy_kwargs={"net_arch": hidden}, seed=seed, device="cpu",
    )  # fmt: skip
    model.learn(steps)
    return model.num_timesteps


def paces(work: Callable[[], int]) -> tuple[float, float]:
    """Give steps per second, and per second of the processor."""
    wall, cpu = time.perf_counter(), time.process_time()
    steps = work()
    return steps / (time.perf_counter() - wall), steps / (time.process_time() - cpu)


def versions() -> dict[str, str]:
    """Name what was measured with."""
    found = {"python": platform.python_version(), "kibitz": kibitz.__version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "unknown"
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("game")
    parser.add_argument("--set", action="append", default=[], metavar="OPTION=VALUE")
    parser.add_argument("--hidden", default="64,64", help="neurons of each layer")
    parser.add_argument("--envs", type=int, default=128, help="games at once")
    parser.add_argument("--steps", type=int, default=2 * BUFFER, help="decisions to learn from")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument(
        "--threads", type=int, default=1, help="of torch; they spin where cores are shared"
    )
    parser.add_argument("--processes", action="store_true", help="every game in its own process")
    asked = parser.parse_args()
    torch.set_num_threads(asked.threads)
    settings = dict(pair.split("=", 1) for pair in asked.set)
    hidden = [int(width) for width in asked.hidden.split(",")]
    env = vector(asked.game, settings, asked.envs, asked.seed, asked.processes)
    learn(env, hidden, 1, 4 * asked.envs, asked.seed)  # compiles, loads, warms up
    alone, alone_cpu = paces(lambda: steps_alone(env, ALONE, asked.seed))
    pace, pace_cpu = paces(lambda: learn(env, hidden, asked.steps, BUFFER, asked.seed))
    env.close()
    print(
        json.dumps(
            {
                "game": kibitz.game(asked.game, **settings).typed(),
                "hidden": hidden,
                "envs": asked.envs,
                "threads": asked.threads,
                "processes": asked.processes,
                "steps_per_second": round(pace, 1),
                "steps_per_cpu_second": round(pace_cpu, 1),
                "env_steps_per_second_alone": round(alone, 1),
                "env_steps_per_cpu_second_alone": round(alone_cpu, 1),
                "versions": versions(),
            }
        )
    )


if __name__ == "__main__":
    main()
