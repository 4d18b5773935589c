"""kibitz: a workbench where agents learn tabletop games, rate one another, and play you.

import kibitz

game = kibitz.game("nim", rows="3,4,5")
table = game.deal(seed=7)
table.play("take 3 from row 2")
print(table)
kibitz.match(game, ["perfect", "random"], games=10_000, seed=1)
kibitz.solve(game).verdict
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from kibitz.core.agent import Agent, Kind, Opinion, Thought
    from kibitz.core.chance import Chance
    from kibitz.core.errors import KibitzError
    from kibitz.core.game import Game
    from kibitz.core.record import Record
    from kibitz.core.registry import game_names
    from kibitz.core.table import Move, Table, View
    from kibitz.core.training import Watcher
    from kibitz.learners import learner_names, train
    from kibitz.play.batch import Batch
    from kibitz.play.match import match
    from kibitz.play.result import MatchResult
    from kibitz.search.agreement import Grades, grade
    from kibitz.search.solve import Solution, solve

__all__ = [
    "Agent", "Batch", "Chance", "Game", "Grades", "KibitzError", "Kind", "MatchResult", "Move",
    "Opinion", "Record", "Solution", "Table", "Thought", "View", "Watcher", "agent", "agent_names",
    "analyse", "game", "game_names", "grade", "learner_names", "load", "match", "open_league",
    "serve", "solve", "train",
]  # fmt: skip
__version__ = "0.1.0"

# Where names are defined. They are imported when they are first used, so that `import kibitz` and
# short commands start at once.
_HOMES = {
    "Agent": "kibitz.core.agent",
    "Kind": "kibitz.core.agent",
    "Opinion": "kibitz.core.agent",
    "Thought": "kibitz.core.agent",
    "Chance": "kibitz.core.chance",
    "KibitzError": "kibitz.core.errors",
    "Game": "kibitz.core.game",
    "Record": "kibitz.core.record",
    "game_names": "kibitz.core.registry",
    "Move": "kibitz.core.table",
    "Table": "kibitz.core.table",
    "View": "kibitz.core.table",
    "Watcher": "kibitz.core.training",
    "learner_names": "kibitz.learners",
    "train": "kibitz.learners",
    "Batch": "kibitz.play.batch",
    "match": "kibitz.play.match",
    "MatchResult": "kibitz.play.result",
    "Grades": "kibitz.search.agreement",
    "grade": "kibitz.search.agreement",
    "Solution": "kibitz.search.solve",
    "solve": "kibitz.search.solve",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'kibitz' has no attribute {name!r}")
    value = getattr(importlib.import_module(_HOMES[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def game(name: str, **settings: Any) -> Game:
    """Find a game and set its options: `kibitz.game("nim", rows=(3, 4, 5), misere=False)`."""
    from kibitz.core.registry import find_game

    found = find_game(name)
    return found.having(**settings) if settings else found


def agent(who: str | os.PathLike[str] | Agent | Callable, game: Game, seed: int = 0) -> Agent:
    """Make an agent: a name, `name:setting=value`, a model file, an Agent class or a function.

    `FILE.py:NAME` is a class or function of a file of your own. The file is run; from then on this
    name means that agent in everything that this program does.
    """
    from kibitz.core import own_code
    from kibitz.core.chance import Chance
    from kibitz.core.registry import find_agent

    if isinstance(who, str):
        own_code.allow([who])

    made = find_agent(who, game)
    made.begin(0, Chance(seed, 0, 1))
    return made


def agent_names(game: Game) -> list[str]:
    """List the names of the agents that can play a game."""
    from kibitz.core.registry import agent_kinds

    return sorted(agent_kinds(game))


def analyse(record: Record, agent: str = "", **more: Any) -> Any:
    """Say what every move of a played game cost: see `kibitz.search.analysis.analyse`."""
    from kibitz.search.analysis import analyse

    return analyse(record, agent, **more)


def open_league(
    game: Game,
    store: str | os.PathLike[str] | None = None,
    name: str | None = None,
    seed: int | None = None,
) -> Any:
    """Open a league of a game, or begin one: see `kibitz.league.League`.

    `store` is an SQLite file or a PostgreSQL URL, `name` tells leagues of one game apart.
    """
    from kibitz.league import League

    return League(game, store, name, seed)


def serve(**settings: Any) -> None:
    """Open the browser workbench: see `kibitz.web.server.serve`. Needs `kibitz[web]`."""
    from kibitz.web.server import serve

    serve(**settings)


def load(path: str | os.PathLike[str]) -> Record:
    """Read a record file and check that it replays."""
    from kibitz.core.record import Record

    return Record.load(path)
