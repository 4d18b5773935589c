"""Mexican train: hands a second, and how good the hand-crafted players are.

`python -m bench mexican_train` takes about two minutes, and a minute more to compile.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

import kibitz
from bench.report import Row, spread
from kibitz.core.game import Game

SEED = 1
ROUNDS = 5
HANDS = 10  # in a game of double-9
LEAGUE_GAMES = 10_000
# Pips in a hand that the seed's author has published, in a mixed league of his own.
PUBLISHED = {
    "stupid": 30.5, "default": 22.7, "greedy": 13.7, "double": 11.5, "persistent-line": 10.0,
}  # fmt: skip
SEEDS = ("stupid", "default", "greedy", "double", "best-line", "persistent-line")
# Hands a second on one core that must be reached, and what the author's program does.
PACES = {
    "random": (40_000, 279),
    "best-line:max_line_length=12": (10_000, 13),
    "persistent-line:max_line_length=12": (10_000, None),
    "planner": (None, None),
}


def run() -> list[Row]:
    game = kibitz.game("mexican_train")
    return [
        *_paces(game),
        *_league(game, SEEDS),
        *_league(game, (*SEEDS, "planner")),
        *_duel(game),
        *_survival(game.having(hands=1)),
    ]


def _paces(game: Game) -> list[Row]:
    rows = []
    for name, (least, authors) in PACES.items():
        games = 400 if least is None else 2_000
        kibitz.match(game, [name], 40, seed=SEED, cores=1)
        paces = [
            HANDS * kibitz.match(game, [name], games, seed=SEED + i, cores=1).games_per_second
            for i in range(ROUNDS)
        ]
        pace = float(np.median(paces))
        compared = "" if least is None else f"at least {least:,}"
        if authors is not None:
            compared += f"; the seed author's program {authors}"
        rows.append(
            Row(
                what=f"double-9, four seats of {name}, one core",
                figure=f"{pace:,.0f} hands/s",
                spread=spread(paces),
                compared=compared,
            )
        )
        assert least is None or pace >= least, f"{name}: only {pace:,.0f} hands a second"
    return rows


@dataclass(slots=True)
class Standing:
    """Results of one player over several matches: pips in a hand, and shares of games."""

    pips: list[float]
    plus_minus: list[float]
    shares: list[float]

    def mean(self) -> float:
        return float(np.mean(self.pips))

    def interval(self) -> float:
        return math.sqrt(sum(half**2 for half in self.plus_minus)) / len(self.plus_minus)


def _league(game: Game, names: tuple[str, ...]) -> list[Row]:
    """Let every four meet, in as many games each, every deal in each rotation."""
    fours = list(itertools.combinations(names, game.players))
    games = -(-LEAGUE_GAMES // len(fours))
    games = -(-games // game.players) * game.players
    standings = {name: Standing([], [], []) for name in names}
    for place, four in enumerate(fours):
        result = kibitz.match(game, list(four), games, seed=SEED + place)
        for name, agent in zip(four, result.agents, strict=True):
            standings[name].pips.append(-agent.points.mean / HANDS)
            standings[name].plus_minus.append(agent.points.plus_minus / HANDS)
            standings[name].shares.append(agent.share.mean)
    rows = []
    for name in sorted(names, key=lambda name: -standings[name].mean()):
        standing = standings[name]
        known = f"; published {PUBLISHED[name]}" if name in PUBLISHED else ""
        rows.append(
            Row(
                what=f"league of {len(names)}, every four of them, {games * len(fours):,} games: "
                f"{name}",
                figure=f"{standing.mean():.2f} pips a hand",
                spread=f"± {standing.interval():.2f}",
                compared=f"wins {100 * np.mean(standing.shares):.1f}% of its games{known}",
            )
        )
    order = [row.what.rpartition(" ")[2] for row in rows]
    assert order[:4] == ["stupid", "default", "greedy", "double"], order
    return rows


def _duel(game: Game) -> list[Row]:
    """The planner against three persistent-line agents: games, and hands alone."""
    rows = []
    for hands, games in ((HANDS, 10_000), (1, 40_000)):
        table = game.having(hands=hands)
        result = kibitz.match(table, ["planner", *["persistent-line"] * 3], games, seed=SEED)
        planner, *others = result.agents
        theirs = np.mean([agent.points.mean for agent in others])
        what = "games" if hands > 1 else "single hands, each from double 9"
        rows.append(
            Row(
                what=f"planner against three persistent-line, {games:,} {what}",
                figure=f"wins {planner.share.text()}",
                spread="",
                compared=f"{-planner.points.mean / hands:.2f} ± "
                f"{planner.points.plus_minus / hands:.2f} pips a hand against "
                f"{-theirs / hands:.2f}; fewer by {planner.margin.text(2, 1 / hands)}",
            )
        )
        assert planner.share.low > 0.25, "the planner does not win more than its share"
    return rows


def _survival(game: Game) -> list[Row]:
    """How often a hand goes on till one's turn t from now, by the fewest tiles that another has."""
    most = 13
    turns: dict[int, list[int]] = {fewest: [] for fewest in (1, 2, 4, 6, 9, 12)}
    agents = [kibitz.agent("persistent-line", game, seed=seat) for seat in range(game.players)]
    for deal in range(1_500):
        table = game.deal(SEED, deal)
        met: list[list[int]] = [[] for _ in agents]  # of each seat, the fewest at each of its turns
        mover = -1
        while not table.over:
            held = table["tiles"][: game.players]
            if table.seat != mover:
                mover = table.seat
                met[mover].append(int(np.delete(held, mover).min()))
            table.play(agents[mover].choose(table.view()))
        for fewest in met:
            for at, tiles in enumerate(fewest):
                if tiles in turns:
                    turns[tiles].append(len(fewest) - 1 - at)
    return [
        Row(
            what=f"double-9, four persistent-line, {fewest} tiles are the fewest: a hand goes on",
            figure=" ".join(f"{np.mean(np.array(more) >= t):.2f}" for t in range(1, most)),
            compared="at one's turn 1, 2, 3 ... from now",
        )
        for fewest, more in turns.items()
    ]
