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
ASKED = 0.8  # of the pace of bare matches
# Games of each agent: enough that starting processes does not count.
LEAGUES = (
    ("nim", ("random", "take-one", "level", "gabriele"), 3_000_000),
    ("tapnswap", ("random", "tapper", "q-table", "perfect"), 1_500_000),
)


def run() -> list[Row]:
    rows, short = [], []
    for name, agents, games in LEAGUES:
        bare, kept = [], []
        for turn in range(ROUNDS):
            bare.append(matches(kibitz.game(name), agents, games // 3, turn))
            kept.append(league(kibitz.game(name), agents, games, turn))
        ratio = float(np.median(kept) / np.median(bare))
        rows += [
            Row(
                what=f"{name}, bare matches, every pair of {len(agents)}, two cores",
                figure=f"{np.median(bare):,.0f} games/s",
                spread=spread(bare),
            ),
            Row(
                what=f"{name}, a league of the same agents, {games:,} games of each",
                figure=f"{np.median(kept):,.0f} games/s",
                spread=spread(kept),
                compared=f"{ratio:.0%} of the bare matches, at least {ASKED:.0%}",
            ),
        ]
        if ratio < ASKED:
            short.append(f"{name}: {ratio:.0%} instead of {ASKED:.0%}")
    rows += ratings()
    if short:
        raise FellShort(rows, short)
    return rows


def pairs(agents: tuple[str, ...]) -> list[tuple[str, str]]:
    return [(one, two) for place, two in enumerate(agents) for one in agents[:place]]


def matches(game: kibitz.Game, agents: tuple[str, ...], games: int, seed: int) -> float:
    """Play every pair as bare matches; give games a second, loading left out."""
    results = [kibitz.match(game, pair, games, seed=seed) for pair in pairs(agents)]
    return sum(result.games for result in results) / sum(result.seconds for result in results)


def league(game: kibitz.Game, agents: tuple[str, ...], games: int, seed: int) -> float:
    """Run a league; give games a second from its second round on, all of rating included."""
    with tempfile.TemporaryDirectory() as folder:
        opened = League(game, str(Path(folder) / "s.sqlite"), seed=seed)
        opened.add(*agents)
        opened.run(games=game.players)  # starts, compiles and rates a first round
        ready = opened.book.games_played()
        began = time.perf_counter()
        opened.run(games=games)
        return (opened.book.games_played() - ready) / (time.perf_counter() - began)


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
