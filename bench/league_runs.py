"""The recorded leagues: `python -m bench.league_runs [GAME ..] [--store FILE]`.

Every game with all agents that come with it, twice, with seeds that nobody chose. Prints the ladder
of the first as Markdown, and how many ratings of the two agree. What is played is kept in the store
(`runs/league_runs.sqlite`), so whatever is done is not done again.
"""

from __future__ import annotations

import math
import sys
import time
from typing import Any

import kibitz
from kibitz.league import League
from kibitz.league.ladder import Ladder
from kibitz.league.members import everybody

SEEDS = (21, 22)
# Games of each agent, and how the game is set.
GAMES: dict[str, tuple[int, dict[str, Any]]] = {
    "nim": (3_000, {}),
    "tapnswap": (10_000, {}),
    "mexican_train": (3_000, {"hands": 1}),
    "hanabi": (2_000, {}),
    "carcassonne": (4_000, {}),
}


def played(name: str, seed: int, store: str) -> tuple[Ladder, float]:
    """Play a league, or what is left of it; give its ladder and how long that took."""
    games, options = GAMES[name]
    game = kibitz.game(name, **options)
    league = League(game, store, f"{game.described()}, seed {seed}", seed)
    began = time.monotonic()
    league.add(*everybody(game))
    ladder = league.run(games=games)
    return ladder, time.monotonic() - began


def markdown(ladder: Ladder) -> str:
    """Write a ladder as a table."""
    if ladder.cooperative:
        lines = ["| | agent | points with itself | with others |", "|---|---|---|---|"]
        for rung in ladder.rungs:
            own = rung.points.text() if rung.points else ""
            others = rung.with_others.text() if rung.with_others else ""
            lines.append(f"| {rung.place} | `{rung.name}` | {own} | {others} |")
        return "\n".join(lines)
    lines = [
        "| | agent | rating | Elo | OpenSkill | wins | lottery |",
        "|---|---|---|---|---|---|---|",
    ]
    for rung in ladder.rungs:
        strength, skill = rung.rating.strength, rung.rating.skill
        assert strength is not None
        assert rung.share is not None
        lines.append(
            f"| {rung.place} | `{rung.name}` | {strength.mean:.0f} ± {strength.plus_minus:.0f} "
            f"| {rung.rating.elo:.0f} | {skill.mean:.1f} ± {skill.spread:.1f} "
            f"| {rung.share.text()} | {f'{rung.lottery:.0%}' if rung.lottery else ''} |"
        )
    return "\n".join(lines)


def agreement(one: Ladder, two: Ladder) -> str:
    """Say how many ratings of two leagues differ by no more than their intervals allow."""
    apart = []
    for rung in one.rungs:
        mine, theirs = rung.rating.strength, two.rung(rung.name).rating.strength
        assert mine is not None
        assert theirs is not None
        # The side of each interval that looks towards the other.
        low, high = (mine, theirs) if mine.mean < theirs.mean else (theirs, mine)
        allowed = math.hypot(low.high - low.mean, high.mean - high.low)
        apart.append((abs(mine.mean - theirs.mean) <= max(allowed, 1e-9), rung.name))
    beyond = [name for agrees, name in apart if not agrees]
    told = f", all but {', '.join(beyond)}" if beyond else ""
    return f"{sum(agrees for agrees, _ in apart)} of {len(apart)} ratings agree{told}"


def main(arguments: list[str]) -> None:
    at = arguments.index("--store") if "--store" in arguments else len(arguments)
    store = (arguments[at + 1 : at + 2] or ["runs/league_runs.sqlite"])[0]
    named = arguments[:at] + arguments[at + 2 :]
    if set(named) - set(GAMES):
        sys.exit(f"python -m bench.league_runs [GAME ..] [--store FILE]; games: {', '.join(GAMES)}")
    for name in named or GAMES:
        (first, seconds), (second, _) = (played(name, seed, store) for seed in SEEDS)
        print(
            f"\n## {first.league}: {first.games:,} games, {first.rounds} rounds, {seconds:.0f} s\n"
        )
        print(markdown(first))
        for circle in first.circles:
            print(f"\nA circle: {' beats '.join((*circle, circle[0]))}.")
        print(f"\nSeeds {SEEDS[0]} and {SEEDS[1]}: {agreement(first, second)}.", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
