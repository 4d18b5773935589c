"""Run where kibitz-kuhn is installed: `python inside.py NAME` prints a check's findings as JSON."""

from __future__ import annotations

import json
import sys
from collections import Counter
from typing import Any

import numpy as np

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.game import HIDDEN
from kibitz.core.table import Table, View
from kibitz.play.match import Runner, seated
from kibitz.play.workers import in_workers

EACH = 200  # random games for each number of seats
WORLDS = 6000  # redeals of one view


def walks(players: int, count: int):
    """Go through random games, position by position."""
    game = kibitz.game("kuhn", players=players)
    for seed in range(count):
        table = game.deal(seed)
        rng = Chance(seed, 0, 9)
        yield table
        while not table.over:
            table.play(rng.choice(table.legal))
            yield table


def views() -> Any:
    """Look from every seat: what is hidden, and does a redealt world look the same?"""
    seen: Counter[str] = Counter()
    rng = Chance(1)
    for players in (2, 3, 4):
        for table in walks(players, EACH):
            staying = int(table["still_in"].sum())
            for seat in range(players):
                view = table.view(seat)
                seen["views"] += 1
                seen["face-down card seen"] += view["face_down"] != HIDDEN
                seen["own card not seen"] += view["cards"][seat] != table["cards"][seat]
                for other in range(players):
                    on_show = table.over and staying > 1 and table["still_in"][other]
                    hidden = view["cards"][other] == HIDDEN
                    seen["wrongly seen"] += other != seat and hidden == on_show
                world = view.redeal(rng)
                seen["redealt otherwise"] += world.view(seat) != view
                deck = sorted([*world["cards"][:players].tolist(), world["face_down"]])
                seen["deck broken"] += deck != list(range(1, players + 2))
                seen["points differ"] += view.points != table.points
    return {name: int(count) for name, count in seen.items()}


def _spread(view: View) -> dict[str, float]:
    """Count how often each world is dealt to a view; give the chi-square statistic."""
    rng = Chance(5, stream=view.plies)
    found: Counter[bytes] = Counter()
    for _ in range(WORLDS):
        world = view.redeal(rng)
        found[world.cells.tobytes()] += 1
    expected = WORLDS / len(found)
    statistic = sum((count - expected) ** 2 / expected for count in found.values())
    return {"hidden": int((view["cards"] == HIDDEN).sum()) + 1, "worlds": len(found),
            "statistic": statistic}  # fmt: skip


def uniform() -> Any:
    """Redeal what 2, 3 and 4 seats see at the start, and a showdown after somebody folded."""
    found = [
        _spread(kibitz.game("kuhn", players=players).deal(seed=3).view(1)) for players in (2, 3, 4)
    ]
    table = kibitz.game("kuhn", players=4).deal(seed=3)
    for move in ("check", "bet", "fold", "call", "fold"):
        table.play(move)
    assert table.over
    return [*found, _spread(table.view(1))]


def tree() -> Any:
    """Play every history of the two-seat game: cards, moves, points."""
    game = kibitz.game("kuhn")
    deals: dict[tuple[int, ...], Table] = {}
    for seed in range(100):
        table = game.deal(seed)
        deals.setdefault(tuple(table["cards"][:2].tolist()), table)

    def ends(table: Table):
        if table.over:
            yield [move.words for move in table.history], table.points
        for action in table.legal:
            yield from ends(table.copy().play(action))

    return [[cards, *end] for cards, table in deals.items() for end in ends(table)]


def games() -> Any:
    """Play random games and keep all that can be seen of them."""
    return {
        "compiled": kibitz.game("kuhn").is_compiled,
        "games": [
            [
                table.cells.tolist(), table.legal, table.points,
                table.view(players - 1).cells.tolist(),
                np.round(table.view(0).features(), 6).tolist(),
                table.view(0).redeal(Chance(table.plies)).cells.tolist(),
            ]
            for players in (2, 3, 4)
            for table in walks(players, 20)
        ],
    }  # fmt: skip


def workers() -> Any:
    """Play the same games here and in two worker processes, which must find the package too."""
    game = kibitz.game("kuhn", players=3)
    names = ["bluffer", "honest", "bluffer:bluff=0.9"]
    here, there = np.zeros((2, 60, 3))
    plies = np.zeros((2, 60), np.int32)
    Runner(game, seated(game, names), 1, True).play(0, here, plies[0])
    in_workers(game, names, 1, True, 0, there, plies[1], 2, None)
    return bool((here == there).all() and (plies[0] == plies[1]).all() and here.any())


def searches() -> Any:
    """Change the truth behind a searcher's back; and say what it does with the best and worst."""
    seen: Counter[str] = Counter()
    for players in (2, 3, 4):
        for table in walks(players, 20):
            if table.over:
                continue
            rng = Chance(table.plies, stream=players)
            view = other = table.view()
            while other.cells.tobytes() == table.cells.tobytes() or other is view:
                other = view.redeal(rng)
            looks = [view, other.view(table.seat)]
            for settings in ("sims=60", "sims=60,nodes=views", "sims=60,rollout=honest"):
                agents = [kibitz.agent(f"mcts:{settings}", table.game) for _ in looks]
                for agent in agents:
                    agent.begin(table.seat, Chance(7))
                found = [
                    agent.search(look).moves for agent, look in zip(agents, looks, strict=True)
                ]
                seen["searches"] += 1
                seen["found otherwise"] += found[0] != found[1]
            if players == 2 and "fold" in map(table.say, table.legal):
                move = table.say(kibitz.agent("mcts:sims=500", table.game).choose(view))
                card = int(view["cards"][table.seat])
                seen["bad answers to a bet"] += (card, move) in ((1, "call"), (3, "fold"))
                seen["bets"] += 1
    return {name: int(count) for name, count in seen.items()}


if __name__ == "__main__":
    checks = {
        "views": views, "uniform": uniform, "tree": tree, "games": games, "workers": workers,
        "searches": searches,
    }  # fmt: skip
    print(json.dumps(checks[sys.argv[1]]()))
