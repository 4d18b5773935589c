"""Evolution on Nim: does it find the best there is, how good is it without the nim-sum, how fast?

`python -m bench evolution` takes about three minutes on two cores.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import time

import numpy as np

import kibitz
from bench import plain_nim
from bench.report import Row, spread
from kibitz.core.agent import CompiledAgent
from kibitz.games.nim.agents import NIM_SUM
from kibitz.learners.evolution import Arena, Settings, voting_kind

SEEDS = range(10)
FRESH = 34_000  # games for the figures below, not those that were trained on
ROUNDS = 5


def run() -> list[Row]:
    game = kibitz.game("nim")
    return [*_reached(game), *_without_nim_sum(game), *_speed(game)]


def _fresh(game: kibitz.Game, opponent: str) -> Arena:
    return Arena(game, Settings(games=FRESH, opponent=opponent), seed=99)


def _best(game: kibitz.Game, opponent: str) -> float:
    """Give the share that exact play wins: the expert's, in as many games."""
    rivals = list(game.strategies) if opponent == "all" else [opponent]
    shares = [
        kibitz.match(game, ["expert", game.strategies[rival]], FRESH // len(rivals), seed=98)
        for rival in rivals
    ]
    return float(np.mean([result.agents[0].share.mean for result in shares]))


def _reached(game: kibitz.Game) -> list[Row]:
    rows = []
    for opponent in ("gabriele", "all"):
        best = _best(game, opponent)
        for method in ("default", "plus", "comma", "cma", "preset seed"):
            seeds = SEEDS if method in ("default", "preset seed") else SEEDS[:3]
            arena = _fresh(game, opponent)
            settings = {"opponent": opponent}
            if method == "preset seed":
                settings["preset"] = "seed"
            elif method != "default":
                settings["method"] = method
            shares, seconds = [], []
            for seed in seeds:
                began = time.perf_counter()
                evolved = kibitz.train("evolution", game, seed=seed, **settings)
                seconds.append(time.perf_counter() - began)
                shares.append(float(arena.fitness(evolved.agent.weights[None])[0]))
            rows.append(
                Row(
                    what=f"nim, evolution against {opponent}, {method}, {len(seeds)} seeds",
                    figure=f"{np.mean(shares):.4f}",
                    spread=f"{min(shares):.4f} to {max(shares):.4f}",
                    compared=f"exact play wins {best:.4f}; {np.median(seconds):.1f} s a run",
                )
            )
            if method == "default":
                assert min(shares) > best - 0.002, f"{opponent}: {min(shares)} of {best}"
    return rows


def moves_right(game: kibitz.Game, agent: CompiledAgent) -> float:
    """Give the share of won positions in which an agent makes a winning move."""
    solution = kibitz.solve(game, folded=False)
    won = solution.states[(solution.verdicts > 0) & ~solution.finished]
    right = 0
    for state in won:
        table = kibitz.Table(game, state)
        right += solution.options(table)[agent.choose(table.view())] > 0
    return right / len(won)


def _without_nim_sum(game: kibitz.Game) -> list[Row]:
    rows = []
    without = "+".join(sorted(NIM_SUM))
    for opponent in ("all", "expert"):
        found: dict[str, list[float]] = {}
        for seed in SEEDS:
            evolved = kibitz.train(
                "evolution", game, seed=seed, opponent=opponent, without=without
            ).agent
            kind = voting_kind(game, evolved.weights)
            random_match = kibitz.match(game, [kind, "random"], FRESH, seed=97)
            expert_match = kibitz.match(game, [kind, "expert"], FRESH, seed=96)
            figures = {
                "against random": random_match.agents[0].share.mean,
                "against all strategies": _fresh(game, "all").fitness(evolved.weights[None])[0],
                "against the expert, moving first": expert_match.agents[0].seats[0].share.mean,
                "against the expert, moving second": expert_match.agents[0].seats[1].share.mean,
                "won positions moved right": moves_right(game, evolved),
            }
            for name, figure in figures.items():
                found.setdefault(name, []).append(float(figure))
        rows += [
            Row(
                what=f"nim, without the nim-sum, evolved against {opponent}: {name}, 10 seeds",
                figure=f"{np.mean(shares):.3f}",
                spread=f"{min(shares):.3f} to {max(shares):.3f}",
            )
            for name, shares in found.items()
        ]
    return rows


def _speed(game: kibitz.Game) -> list[Row]:
    """Measure fitness evaluations of 100 games against gabriele, all strategies voting."""
    rng = random.Random(1)
    genomes = np.array([[rng.random() for _ in game.strategies] for _ in range(64)], np.float32)
    ours: dict[int, list[float]] = {1: [], 2: []}
    plain: list[float] = []
    uncompiled: list[float] = []
    arenas = {c: Arena(game, Settings(games=100, opponent="gabriele", cores=c), 1) for c in ours}
    for arena in arenas.values():
        arena.fitness(genomes[:2])
    compiled_shares, plain_shares = [], []
    for place in range(ROUNDS):
        for cores, arena in arenas.items():
            began = time.perf_counter()
            compiled_shares.append(arena.fitness(genomes)[:8])
            ours[cores].append(len(genomes) / (time.perf_counter() - began))
        began = time.perf_counter()
        plain_shares.append(
            [
                plain_nim.fitness(genome.tolist(), plain_nim.gabriele, 100, place)
                for genome in genomes[:8]
            ]
        )
        plain.append(8 / (time.perf_counter() - began))
        uncompiled.append(_uncompiled())
    apart = abs(float(np.mean(plain_shares)) - float(np.mean(compiled_shares)))
    assert apart < 0.03, "the two loops do not play the same game"
    by_hand, same_source = float(np.median(plain)), float(np.median(uncompiled))
    faster = float(np.median(ours[1])) / by_hand
    assert faster > 200, f"only {faster:.0f} times plain Python"
    rows = [
        Row(
            what=f"nim, fitness of 100 games, 17 strategies vote, kibitz, {cores} core"
            f"{'s' * (cores > 1)}",
            figure=f"{np.median(paces):,.0f} evaluations/s",
            spread=spread(paces),
            compared=f"{np.median(paces) / same_source:,.0f} x the same source uncompiled, "
            f"{np.median(paces) / by_hand:,.0f} x plain Python written by hand",
        )
        for cores, paces in ours.items()
    ]
    return [
        *rows,
        Row(
            what="nim, the same source as plain Python (`NUMBA_DISABLE_JIT=1`), 1 core",
            figure=f"{same_source:,.2f} evaluations/s",
            spread=spread(uncompiled),
        ),
        Row(
            what="nim, plain Python written by hand (bench/plain_nim.py), 1 core",
            figure=f"{by_hand:,.1f} evaluations/s",
            spread=spread(plain),
        ),
    ]


UNCOMPILED = """
import time, numpy as np, kibitz
from kibitz.learners.evolution import Arena, Settings
game = kibitz.game("nim")
arena = Arena(game, Settings(games=100, opponent="gabriele", cores=1), 1)
began = time.perf_counter()
arena.fitness(np.ones((2, len(game.strategies)), np.float32))
print(2 / (time.perf_counter() - began))
"""


def _uncompiled() -> float:
    """Run the very same loop and strategies without the compiler."""
    done = subprocess.run(
        [sys.executable, "-c", UNCOMPILED], capture_output=True, text=True, check=True,
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
    )  # fmt: skip
    return float(done.stdout)
