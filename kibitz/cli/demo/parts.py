"""What the demo computes: a part for each result, in lanes that run side by side.

A part takes the seed and returns plain data. The parts of a lane share a process, so that what one
of them compiles or imports serves the next. The lane `plain` runs the rules uncompiled: a few games
of Carcassonne take less time than compiling it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from kibitz.cli.demo.lessons import (
    LONG,
    SHORT,
    classifier,
    classifier_optimizer,
    evolution,
    learn,
    network,
    q_learning,
    q_optimizer,
)
from kibitz.core.errors import Misuse
from kibitz.core.film import film
from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.core.registry import find_game
from kibitz.core.svg import only_seen
from kibitz.core.table import Table
from kibitz.play.match import match
from kibitz.play.result import interval_text
from kibitz.play.seats import ask, at_seats
from kibitz.play.speed import measure
from kibitz.search.solve import in_words, solve

Result = dict[str, Any]

# Who plays the opening that a board shows, and for how many plies.
OPENINGS: dict[str, tuple[tuple[str, ...], int]] = {
    "nim": (("take-one", "take-one"), 3),
    "tapnswap": (("tapper", "tapper"), 4),
    "mexican_train": (("double", "greedy", "double", "greedy"), 24),
    "hanabi": (("smart", "smart"), 20),
    "carcassonne": (("greedy", "settler"), 32),
}
MATCHES: dict[str, tuple[tuple[str, ...], int]] = {  # who plays, and how many games
    "nim": (("perfect", "random"), 20_000),
    "tapnswap": (("tapper", "random"), 20_000),
    "mexican_train": (("double", "greedy", "stupid", "random"), 24),
    "hanabi": (("smart",), 24),
    "carcassonne": (("greedy", "random"), 8),
}
BY_MARGIN = ("carcassonne",)  # of few games, the margin says more than the wins
SOLVED = ("nim", "tapnswap")
FAST = ("nim", "tapnswap")
RECORDED = ("carcassonne", ("greedy", "settler"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One result: its key, what to say while it is computed, and the function that does it."""

    key: str
    doing: str
    run: Callable[[int], Result]


# --- games -------------------------------------------------------------------------------------


def play_out(game: Game, names: Iterable[str], seed: int, plies: int | None = None) -> Table:
    """Deal a game and let agents play it, to its end or for a number of plies."""
    table = game.deal(seed=seed)
    agents = at_seats(game, tuple(names), table)
    while not table.over and (plies is None or len(table.actions) < plies):
        agent = agents[table.seat]
        if agent is None:
            raise Misuse("The demo has no seat for a person.")
        action = ask(agent, table)
        mover = table.seat
        for seat, other in enumerate(agents):
            if other is not None and not game.secret:
                other.notice(table.view(seat), mover, action)
        table.play(action)
    return table


def board(name: str, seed: int) -> Result:
    """Draw a game some moves after its deal, as text and as SVG."""
    names, plies = OPENINGS[name]
    game = find_game(name)
    view = play_out(game, names, seed, plies).view(0)
    return {
        "title": game.title, "about": about(game), "text": str(view), "brief": view.brief(),
        "svg": only_seen(view.svg()),
    }  # fmt: skip


def about(game: Game) -> str:
    """Describe a kind of game in a few words."""
    seats = next((option for option in game.all_options if option.name == "players"), None)
    low, high = (getattr(seats, end, game.players) for end in ("low", "high"))
    words = [f"{low} players" if low == high else f"{low} to {high} players"]
    words.append("hidden information" if game.hides else "perfect information")
    if game.cooperative:
        words.append("cooperative")
    return ", ".join(words)


def solved(name: str, seed: int) -> Result:
    """Solve a game exactly."""
    game = find_game(name)
    solution = solve(game)
    tally = solution.tally()
    winner = f"seat {0 if solution.verdict > 0 else 1} {in_words(abs(solution.verdict))} plies"
    return {
        "game": game.title, "outcome": "a draw" if solution.verdict == 0 else winner,
        "positions": tally.positions, "won": tally.won, "drawn": tally.drawn, "lost": tally.lost,
    }  # fmt: skip


def matched(name: str, seed: int) -> Result:
    """Play a match."""
    game = find_game(name)
    names, games = MATCHES[name]
    result = match(game, names, games, seed=seed, cores=1)
    first = result.agents[0]
    if result.cooperative:
        who, figure = f"{names[0]} with itself", f"{first.points.text(1)} points"
    else:
        who, figure = f"{names[0]} v. {', '.join(names[1:])}", f"{first.share.text()} wins"
    if name in BY_MARGIN:
        figure = f"{first.margin.text(0)} ahead"
    return {"game": game.title, "who": who, "games": result.games, "figure": figure}


def speed(seed: int) -> Result:
    """Measure random play on one core."""
    rows = []
    for name in FAST:
        game = find_game(name)
        ours, *peers = measure(game, 0.4)
        rows.append({
            "game": game.title, "moves": ours.per_second,
            "peers": {peer.who: peer.per_second for peer in peers},
        })  # fmt: skip
    return {"rows": rows}


def record(seed: int) -> Result:
    """Play a game, save its record, load it, and film it."""
    name, names = RECORDED
    table = play_out(find_game(name), names, seed)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "game.json"
        table.record(names).save(path)
        loaded = Record.load(path)
    made = film(loaded)
    return {
        "name": name, "game": loaded.game.title, "names": list(names), "points": table.points,
        "moves": [[seat, words] for seat, words in made.moves],
        "film": made.data, "last": made.last, "plies": made.plies,
    }  # fmt: skip


# --- the league --------------------------------------------------------------------------------


def league(seed: int) -> Result:
    """Rate agents of TapnSwap, among them two tables filled by Q-learning, one of them briefly."""
    from kibitz.league import League  # the store takes half a second to import
    from kibitz.league.sections import ladder_notes, ladder_table

    game = find_game("tapnswap")
    with TemporaryDirectory() as folder:
        opened = League(game, Path(folder) / "demo.sqlite", "demo", seed)
        opened.add("perfect", "tapper", "random")
        for games in (SHORT, LONG):
            run = Path(folder) / str(games)
            learned, _ = learn("q-learning", game, seed, games=games, folder=run)
            opened.add(learned.path, name=f"q-learning, {games:,} games")
        ladder = opened.run(400, each=100, cores=1)
        rows = []
        for rung in ladder.rungs:
            strength = rung.rating.strength
            rows.append({
                "place": rung.place, "name": rung.name,
                "rating": interval_text(strength.mean, strength.low, strength.high)
                if strength
                else "",
                "share": rung.share.text() if rung.share else "",
            })  # fmt: skip
        return {
            "game": game.title, "games": ladder.games, "rows": rows,
            "html": ladder_table(ladder), "notes": " ".join(ladder_notes(ladder)),
        }  # fmt: skip


# --- lanes -------------------------------------------------------------------------------------


def _each(
    kind: str, doing: str, run: Callable[[str, int], Result], names: Iterable[str]
) -> list[Part]:
    return [
        Part(
            key=f"{kind}:{name}",
            doing=f"{doing} {name.replace('_', ' ')}",
            run=partial(run, name),
        )
        for name in names
    ]


UNCOMPILED = ("mexican_train", "hanabi", "carcassonne")
LANES: dict[str, list[Part]] = {
    "plain": [
        *_each("board", "dealing", board, OPENINGS),
        *_each("match", "playing", matched, UNCOMPILED),
        Part(key="record", doing="recording a game", run=record),
    ],
    "tables": [
        *_each("solve", "solving", solved, SOLVED),
        *_each("match", "playing", matched, [n for n in MATCHES if n not in UNCOMPILED]),
        Part(key="learn:evolution", doing="training evolution", run=evolution),
        Part(key="learn:q-learning", doing="training q-learning", run=q_learning),
        Part(key="learn:q-optimizer", doing="training q-optimizer", run=q_optimizer),
        Part(key="league", doing="running a league", run=league),
        Part(key="speed", doing="measuring the speed", run=speed),
    ],
    "rules": [
        Part(key="learn:classifier", doing="training classifier", run=classifier),
        Part(
            key="learn:classifier-optimizer",
            doing="training classifier-optimizer",
            run=classifier_optimizer,
        ),
    ],
    "networks": [
        Part(key="learn:ppo", doing="training ppo", run=partial(network, "ppo", 3e-3)),
        Part(
            key="learn:td-lambda",
            doing="training td-lambda",
            run=partial(network, "td-lambda", 1e-2),
        ),
    ],
}
PLAIN = {"plain"}  # lanes whose rules run uncompiled
# In the order in which they are shown: what takes longest comes last.
LEARNERS = (
    "evolution", "q-learning", "q-optimizer", "ppo", "td-lambda", "classifier",
    "classifier-optimizer",
)  # fmt: skip
