"""Carcassonne: games a second, what a copy and the legal moves cost, and how good players are.

`python -m bench carcassonne` takes about three minutes, and two more to compile.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

import kibitz
from bench.report import Row, spread
from kibitz.core.compiled import compiled
from kibitz.core.game import Game, copy_cells

SEED = 1
ROUNDS = 5
# Settings, random games in a round, and games a second on one core that must be reached.
PACES = [
    ({}, 4_000, 3_000),
    ({"farmers": True}, 2_000, 1_500),
    ({"players": 5}, 4_000, None),
    ({"control": "cursor"}, 200, None),
]
DUELS = [
    # agents, settings, pairs of games with exchanged seats, the least share of games won
    (("greedy", "random"), {}, 1_000, 0.97),
    (("settler", "greedy"), {}, 1_000, 0.70),
    (("settler", "greedy"), {"farmers": True}, 1_000, 0.60),
    (("settler", "greedy", "greedy"), {"players": 3}, 1_000, None),
]
REPEATS = 20_000


def run() -> list[Row]:
    game = kibitz.game("carcassonne")
    return [*_paces(game), *_costs(game), *_duels(game)]


def _paces(game: Game) -> list[Row]:
    rows = []
    for settings, games, least in PACES:
        table = game.having(**settings)
        kibitz.match(table, ["random"], 20, seed=SEED, cores=1)
        results = [
            kibitz.match(table, ["random"], games, seed=SEED + i, cores=1) for i in range(ROUNDS)
        ]
        paces = [result.games_per_second for result in results]
        pace = float(np.median(paces))
        moves = results[0].moves / games
        rows.append(
            Row(
                what=f"{table.described()}, {table.players} random players, one core",
                figure=f"{pace:,.0f} games/s",
                spread=spread(paces),
                compared=f"{moves:,.0f} moves a game"
                + ("" if least is None else f"; at least {least:,} games/s"),
            )
        )
        assert least is None or pace >= least, f"{table.described()}: only {pace:,.0f} games/s"
    return rows


@compiled()
def copy_often(state, other, times):
    """Copy a state many times."""
    for _ in range(times):
        copy_cells(state, other)


@compiled()
def list_often(rules, state, actions, times):
    """List the legal moves many times."""
    n = 0
    for _ in range(times):
        n += rules.legal(state, actions)
    return n


def _costs(game: Game) -> list[Row]:
    """Time a copy and the legal moves, in the middle of a game."""
    table = game.deal(SEED)
    rng = kibitz.Chance(SEED)
    while table["laid"] < 36 or table["tile"] == 0:
        table.play(rng.choice(table.legal))
    other = np.empty_like(table.cells)
    actions = np.empty(game.bound("most_legal"), np.int32)
    return [
        _cost("copy a state", lambda: copy_often(table.cells, other, REPEATS)),
        _cost(
            f"list the legal moves, {len(table.legal)} of them with 36 tiles laid",
            lambda: list_often(game.rules, table.cells, actions, REPEATS),
        ),
    ]


def _cost(what: str, work: Callable[[], object]) -> Row:
    work()
    times = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        work()
        times.append((time.perf_counter() - began) / REPEATS * 1e9)
    return Row(what=what, figure=f"{np.median(times):,.0f} ns", spread=spread(times), compared="")


def _duels(game: Game) -> list[Row]:
    rows = []
    for names, settings, pairs, least in DUELS:
        table = game.having(**settings)
        result = kibitz.match(table, list(names), pairs * table.players, seed=SEED)
        first = result.agents[0]
        others = ", ".join(f"{agent.points.mean:.1f}" for agent in result.agents[1:])
        rows.append(
            Row(
                what=f"{table.described()}: {names[0]} against {' and '.join(names[1:])}, "
                f"{pairs:,} deals in every order of seats",
                figure=f"wins {first.share.text()}",
                spread="",
                compared=f"{first.points.text(1)} points against {others}, more by "
                f"{first.margin.text(1)}"
                + ("" if least is None else f"; at least {least:.0%} won"),
            )
        )
        assert least is None or first.share.mean >= least, f"{names[0]} wins {first.share.text()}"
    return rows
