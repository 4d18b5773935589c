"""Steps a second of our environments beside PettingZoo's own Hanabi, in one run, turn about.

The peer is `hanabi_v5` of PettingZoo (OpenSpiel's Hanabi through Shimmy). All choose by lot among
what the mask allows, and get observation and mask at every step: `pip install 'kibitz[bench]'`.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
import pettingzoo

import kibitz.bridges.gymnasium
import kibitz.bridges.pettingzoo  # noqa: F401  both make our games known
from bench.report import FellShort, Row, spread

TURNS = 5
SECONDS = 2.0  # of each in each turn
ASKED, ASKED_OF_MANY = 10, 200
MANY = 4096


def run() -> list[Row]:
    cores = os.cpu_count() or 1
    runners: dict[str, Callable[[], float]] = {
        f"hanabi_v5 of PettingZoo {version('pettingzoo')}, 2 seats": taking_turns(
            pettingzoo.make("aec", "classic/hanabi-v5")
        ),
        "PettingZoo bridge, hanabi, the same loop": taking_turns(
            pettingzoo.make("aec", "kibitz/hanabi-v1")
        ),
        "Gymnasium bridge, hanabi against random": one_by_one(
            gymnasium.make("kibitz/hanabi-v1").unwrapped
        ),
        f"vector environment, {MANY:,} games of hanabi, all seats, one core": together(1),
        f"vector environment, {MANY:,} games of hanabi, all seats, {cores} cores": together(cores),
    }
    paces: dict[str, list[float]] = {what: [] for what in runners}
    for measure in runners.values():
        measure()  # loads or compiles
    for _ in range(TURNS):
        for what, measure in runners.items():
            paces[what].append(measure())
    peer, *ours = runners
    pace = f"{np.median(paces[peer]):,.0f} steps/s"
    rows = [Row(what=peer, figure=pace, spread=spread(paces[peer]))]
    short = []
    wanted = dict(zip(ours, (ASKED, None, None, ASKED_OF_MANY), strict=True))
    for what, least in wanted.items():
        ratio = float(np.median(np.divide(paces[what], paces[peer])))
        asked = f", at least {least}" if least else ""
        rows.append(
            Row(
                what=what,
                figure=f"{np.median(paces[what]):,.0f} steps/s",
                spread=spread(paces[what]),
                compared=f"{ratio:,.0f} times the peer{asked}",
            )
        )
        if least and ratio < least:
            short.append(f"{what}: {ratio:.1f} times instead of {least}")
    if short:
        raise FellShort(rows, short)
    return rows


def taking_turns(env: Any) -> Callable[[], float]:
    """Play random games as PettingZoo's own benchmark does; a step is that of one seat."""

    def measure() -> float:
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            env.reset(seed=steps)
            for _ in env.agent_iter():
                seen, _, terminated, truncated, _ = env.last()
                if terminated or truncated:
                    env.step(None)
                else:
                    env.step(random.choice(np.flatnonzero(seen["action_mask"]).tolist()))
                    steps += 1
        return steps / (time.perf_counter() - began)

    return measure


def one_by_one(env: Any) -> Callable[[], float]:
    def measure() -> float:
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            _, info = env.reset(seed=steps)
            over = False
            while not over:
                action = random.choice(np.flatnonzero(info["action_mask"]).tolist())
                _, _, over, _, info = env.step(action)
                steps += 1
        return steps / (time.perf_counter() - began)

    return measure


def together(cores: int) -> Callable[[], float]:
    """Step many games; what is given at every step is new, observations and masks of all."""
    env = gymnasium.make_vec("kibitz/hanabi-v1", num_envs=MANY, opponents="self", cores=cores)
    env.reset(seed=1)

    def measure() -> float:
        steps, began = 0, time.perf_counter()
        while time.perf_counter() - began < SECONDS:
            env.step(env.action_space.sample())
            steps += MANY
        return steps / (time.perf_counter() - began)

    return measure
