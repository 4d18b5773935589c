"""Leagues beside bare matches: what keeping, rating and sharing results costs."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

import numpy as np

import kibitz
from bench.report import FellShort, Row, spread
from kibitz.league import League
from kibitz.league.elo import elo
from kibitz.league.played import Played
from kibitz.league.skill import skills
from kibitz.league.strength import strengths, tally

ROUNDS = 2
TURNS = 3  # of bare matches and leagues, one after the other: a busy machine slows both
# Of the pace of bare matches, by the longest league. Like is held against like: all that one waits
# for, loading, play and what is worked out from it. Beside it stands the share of play alone.
ASKED = 0.8
# Games of each agent. What short leagues lack is what ten rounds cost whatever they hold.
LEAGUES = (
    ("nim", ("random", "take-one", "level", "gabriele"), (3_000, 300_000, 3_000_000)),
    ("tapnswap", ("random", "tapper", "q-table", "perfect"), (3_000, 150_000, 1_500_000)),
    ("carcassonne", ("random", "greedy", "settler", "evolved"), (60, 600, 3_000)),
)


def run() -> list[Row]:
    rows, short = [], []
    for name, agents, sizes in LEAGUES:
        game = kibitz.game(name)
        matches(game, agents, game.players, 0)  # loads or compiles
        bare, whole, begun, kept = [], [], [], []
        for turn in range(TURNS):
            only, all_of_it = matches(game, agents, sizes[-1] // (len(agents) - 1), turn)
            bare.append(only)
            whole.append(all_of_it)
            first, paces = leagues(game, agents, sizes, turn)
            begun.append(first)
            kept.append(paces)
        rows += [
            Row(
                what=f"{name}, bare matches, every pair of {len(agents)}, two cores",
                figure=f"{np.median(bare):,.0f} games/s",
                spread=spread(bare),
                compared=f"{np.median(whole):,.0f} with loading and summaries",
            ),
            Row(
                what=f"{name}, a league begins: processes start, one round of few games",
                figure=f"{np.median(begun):.2f} s",
                spread=spread(begun),
            ),
        ]
        for size, paces in zip(sizes, zip(*kept, strict=True), strict=True):
            ratio = float(np.median(np.divide(paces, whole)))
            of_play = float(np.median(np.divide(paces, bare)))
            asked = f", at least {ASKED:.0%}" if size == sizes[-1] else ""
            rows.append(
                Row(
                    what=f"{name}, a league of the same agents goes on, {size:,} games of each",
                    figure=f"{np.median(paces):,.0f} games/s",
                    spread=spread(paces),
                    compared=f"{ratio:.0%} of the bare matches{asked}; {of_play:.0%} of their play",
                )
            )
        if ratio < ASKED:
            short.append(f"{name}: {ratio:.0%} instead of {ASKED:.0%}")
    rows += ratings()
    if short:
        raise FellShort(rows, short)
    return rows


def pairs(agents: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(one, two) for place, two in enumerate(agents) for one in agents[:place]]


def matches(
    game: kibitz.Game, agents: tuple[str, ...], games: int, seed: int
) -> tuple[float, float]:
    """Play every pair as bare matches; give games a second of play, and of all one waits for."""
    began = time.perf_counter()
    results = [kibitz.match(game, pair, games, seed=seed) for pair in pairs(agents)]
    seconds = time.perf_counter() - began
    played = sum(result.games for result in results)
    return played / sum(result.seconds for result in results), played / seconds


def leagues(
    game: kibitz.Game, agents: tuple[str, ...], sizes: tuple[int, ...], seed: int
) -> tuple[float, list[float]]:
    """Begin leagues and go on with them; give seconds of beginning one, and games a second.

    All that one waits for in a league that goes on counts: plans, store, ratings and the ladder.
    """
    paces = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            opened = League(game, str(Path(folder) / "s.sqlite"), seed=seed)
            opened.add(*agents)
            began = time.perf_counter()
            opened.run(games=game.players)
            first = time.perf_counter() - began
            ready = opened.book.games_played()
            began = time.perf_counter()
            opened.run(games=size)
            seconds = time.perf_counter() - began
            paces.append((opened.book.games_played() - ready) / seconds)
    return first, paces


def ratings() -> list[Row]:
    """Time the ratings alone."""
    rng = np.random.default_rng(1)
    rows = []
    for seats in (2, 4):
        played = [
            Played(tuple(rng.permutation(8)[:seats].tolist()), rng.normal(size=(5_000, seats)))
            for _ in range(40)
        ]
        games = sum(match.games for match in played)
        for what, work, count in (
            ("Elo", lambda: elo(played, 8), games),  # noqa: B023
            ("counting for strengths", lambda: [tally(m) for m in played], games),  # noqa: B023
            ("OpenSkill", lambda: skills(played, 8, seen=25), 40 * 25),  # noqa: B023
        ):
            work()
            paces = []
            for _ in range(ROUNDS):
                began = time.perf_counter()
                work()
                paces.append(count / (time.perf_counter() - began))
            rows.append(
                Row(
                    what=f"{what}, {seats} seats, one core",
                    figure=f"{np.median(paces):,.0f} games/s",
                    spread=spread(paces),
                )
            )
        tallies = [tally(match) for match in played]
        spans = []
        for _ in range(ROUNDS):
            began = time.perf_counter()
            strengths(tallies, 8)
            spans.append(time.perf_counter() - began)
        rows.append(
            Row(
                what=f"strengths of 8 with intervals, {games:,} games of {seats} seats",
                figure=f"{np.median(spans):.2f} s",
                spread=spread(spans),
            )
        )
    return rows
