"""Matches, batches and the solver."""

from __future__ import annotations

import time

import numpy as np

import kibitz
from bench.report import Row, spread

ROUNDS = 5
GAMES = 100_000
FEWER = {"mexican_train": 1_000}  # games that take hundreds of moves


def run() -> list[Row]:
    return [*_matches(), *_batches(), *_solver()]


def _matches() -> list[Row]:
    rows = []
    for name in kibitz.game_names():
        game = kibitz.game(name)
        games = FEWER.get(name, GAMES)
        for agents in (["random"], ["perfect", "random"]):
            if not set(agents) <= set(kibitz.agent_names(game)):
                continue
            kibitz.match(game, agents, 1000, seed=1)
            results = {
                cores: [
                    kibitz.match(game, agents, games, seed=1, cores=cores) for _ in range(ROUNDS)
                ]
                for cores in (1, 2)
            }
            assert len({str(r.agents) for rs in results.values() for r in rs}) == 1
            seconds = {cores: [r.seconds for r in rs] for cores, rs in results.items()}
            alone = float(np.median(seconds[1]))
            for cores, spans in seconds.items():
                median = float(np.median(spans))
                rows.append(
                    Row(
                        what=f"{name}, match {' against '.join(agents)}, {games:,} games, "
                        f"{cores} core{'s' * (cores > 1)}",
                        figure=f"{median:.2f} s",
                        spread=spread(spans),
                        compared=f"{games / median:,.0f} games/s; {alone / median:.2f} x one core, "
                        "same result bit for bit",
                    )
                )
    return rows


def _batches() -> list[Row]:
    rows = []
    size, steps = 1024, 300
    for name in kibitz.game_names():
        batch = kibitz.Batch(kibitz.game(name), size, seed=1)
        rng = np.random.default_rng(1)
        places = np.arange(size)
        paces = []
        for _ in range(ROUNDS + 1):
            spent = 0.0
            for _ in range(steps):
                actions = batch.legal[places, (rng.random(size) * batch.counts).astype(int)]
                began = time.perf_counter()
                batch.step(actions)
                spent += time.perf_counter() - began
            paces.append(size * steps / spent)
        rows.append(
            Row(
                what=f"{name}, batch of {size:,} with features and masks, one core",
                figure=f"{np.median(paces[1:]):,.0f} steps/s",
                spread=spread(paces[1:]),
            )
        )
    return rows


def _solver() -> list[Row]:
    game = kibitz.game("nim", rows="7,9,11,13,15")
    kibitz.solve(kibitz.game("nim"))
    paces = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        tally = kibitz.solve(game, folded=False).tally()
        paces.append(tally.positions / (time.perf_counter() - began))
    return [
        Row(
            what=f"nim rows=7,9,11,13,15 solved unfolded, {tally.positions:,} positions",
            figure=f"{np.median(paces):,.0f} positions/s",
            spread=spread(paces),
        )
    ]
