"""Levels for people: how often each wins against the one below, in settings that forms offer.

`python -m bench.levels` prints the tables of docs/levels.md. Where two levels share a table of more
than two seats, they sit in turn, and the share is that of all seats of the higher level. In Hanabi
every seat has the same level, and the mean of the points is printed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import kibitz
from kibitz.core.game import Game

SETTINGS: dict[str, tuple[tuple[dict[str, Any], int], ...]] = {  # and how many games
    "nim": (
        ({}, 2000), ({"misere": "no"}, 2000), ({"k": 3}, 2000), ({"k": 3, "misere": "no"}, 2000),
        ({"rows": "3,4,5"}, 2000), ({"rows": "3,4,5,6,7"}, 2000),
    ),
    "tapnswap": (({}, 2000), ({"max_plies": 40}, 2000)),
    "mexican_train": (
        ({}, 100), ({"players": 2}, 100), ({"players": 6}, 60), ({"hands": 1}, 400),
        ({"highest": 12, "hands": 3}, 60), ({"cover": "yes"}, 100),
    ),
    "hanabi": (
        *(({"players": players}, 1000) for players in (2, 3, 4, 5)),
        ({"colours": 3}, 1000), ({"storms": 1}, 1000), ({"notes": 4}, 1000),
        ({"bomb": "pile"}, 1000), ({"open": "yes"}, 1000),
    ),
    "carcassonne": (
        ({}, 200), ({"farmers": "yes"}, 200), ({"players": 3}, 201), ({"players": 4}, 200),
        ({"players": 5, "farmers": "yes"}, 200), ({"tiles": 24}, 400), ({"control": "cursor"}, 100),
    ),
}  # fmt: skip


def steps(game: Game, games: int, seed: int = 1) -> Iterator[tuple[str, str, float]]:
    """Measure each level against the one below: the higher, the lower, the higher's share of wins.

    In a game that is played together: the level, its agent, and its mean of points.
    """
    levels = dict(game.levels)
    if game.cooperative:
        for level, who in levels.items():
            yield level, who, kibitz.match(game, [who], games, seed=seed).agents[0].points.mean
        return
    names = list(levels)
    for low, high in pairwise(names):
        yield high, low, share(game, levels[high], levels[low], games, seed)


def share(game: Game, high: str, low: str, games: int, seed: int) -> float:
    """Return the higher agent's share of wins; with an odd number of seats each has the odd one."""
    lineups = [0] if game.players % 2 == 0 else [0, 1]  # which agent has the even places
    won = 0.0
    for even in lineups:
        found = kibitz.match(
            game, [(low if (place + even) % 2 else high) for place in range(game.players)],
            games, seed=seed,
        )  # fmt: skip
        won += sum(one.share.mean for one in found.agents[even::2])
    return won / len(lineups)


def main() -> None:
    """Print a table for every game, or for those that are named."""
    for name in sys.argv[1:] or SETTINGS:
        plain = kibitz.game(name)
        levels = ", ".join(f"{level} is `{who}`" for level, who in plain.levels.items())
        print(f"\n## {plain.title}\n\n{levels[0].upper()}{levels[1:]}.\n")
        for place, (settings, games) in enumerate(SETTINGS[name]):
            game = kibitz.game(name, **settings)
            found = list(steps(game, games))
            if place == 0:
                heads = [
                    high if plain.cooperative else f"{high} against {low}" for high, low, _ in found
                ]
                print(f"| setting | games | {' | '.join(heads)} |")
                print(f"|---|---{'|---' * len(heads)}|")
            cells = [f"{x:.1f}" if plain.cooperative else f"{100 * x:.0f}%" for *_, x in found]
            called = ", ".join(f"{key}={value}" for key, value in settings.items()) or "defaults"
            print(f"| {called} | {games:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    os.environ.setdefault("KIBITZ_COMPILE", "first")
    main()
