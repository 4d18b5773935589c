"""Games of OpenSpiel as games of kibitz: `open_spiel:nim(pile_sizes=1;3;5)`."""

from __future__ import annotations

import difflib
import re
from typing import Any

import pyspiel

from kibitz.bridges.open_spiel.known import PUBLIC
from kibitz.bridges.open_spiel.rules import Rulebook
from kibitz.core.errors import Misuse, UnknownName
from kibitz.core.game import MOST_SEATS, Game

CATALOGUE = "open_spiel"
ROOM = f"{__package__}.room"
TURNS = "turn_based_simultaneous_game"

KEPT = 64
_games: dict[str, Game] = {}  # by canonical name, the latest few


class Foreign(Game):
    """A game whose rules OpenSpiel keeps."""

    @property
    def book(self) -> Rulebook:
        """The rules, and what they remember."""
        return self.functions.legal.__self__

    @property
    def how_to_play(self) -> str:
        """What OpenSpiel says about the game."""
        return self.words.explained(self)


def find(name: str) -> Game:
    """Find a game of OpenSpiel by its name and parameters, as `pyspiel.load_game` reads them."""
    theirs = _loaded(name)
    called = str(theirs).removesuffix("()")
    if called not in _games:
        while len(_games) >= KEPT:
            _games.pop(next(iter(_games)))
        _games[called] = _game(theirs, f"{CATALOGUE}:{called}")
    return _games[called]


def _loaded(name: str) -> Any:
    """Load a game of OpenSpiel, or say what is wrong with its name."""
    short = name.partition("(")[0].strip()
    if short.startswith("python_"):
        import open_spiel.python.games  # noqa: F401  # importing registers them
    if short not in pyspiel.registered_names():
        near = difflib.get_close_matches(short.lower(), pyspiel.registered_names(), 5, 0.5)
        hint = f" Did you mean {' or '.join(near)}?" if near else ""
        raise UnknownName(
            f"No game of OpenSpiel is called '{short}'.{hint} pyspiel.registered_names() lists all."
        )
    if re.search(r"\w*file\w*\s*=", name, re.I):
        raise Misuse(
            f"{CATALOGUE}: games that are read from files are not taken, for a record that names "
            "one would read it too."
        )
    try:
        return pyspiel.load_game(name)
    except Exception as error:  # OpenSpiel lets errors of all its libraries through
        said = " ".join(str(error).split()).rstrip(".")
        raise Misuse(
            f"OpenSpiel cannot load '{name}': {said}. "
            f"Parameters are written like {CATALOGUE}:nim(pile_sizes=1;3;5)."
        ) from error


def _game(theirs: Any, name: str) -> Game:
    kind = theirs.get_type()
    _check(theirs, kind, name)
    book = Rulebook(theirs, name)
    players = theirs.num_players()
    utility = pyspiel.GameType.Utility
    return Foreign(
        name=name,
        title=kind.long_name,
        summary=f"OpenSpiel's {kind.short_name}.",
        version=1,
        room=ROOM,
        seats=(players, players),
        default_seats=players,
        layout=book.layout,
        functions=book.rules(),
        actions=book.plan.actions,
        most_legal=book.plan.actions,
        most_plies=theirs.max_game_length(),
        features=book.plan.features,
        hides=book.by_chance or book.hides,
        secret=book.hides and kind.short_name not in PUBLIC,
        cooperative=players > 1 and kind.utility == utility.IDENTICAL,
        zero_sum=kind.utility == utility.ZERO_SUM,
        span=lambda settings: (theirs.min_utility(), theirs.max_utility()),
        flaw=book.flaw,
        open_spiel=lambda settings: name.partition(":")[2],
    )


def _check(theirs: Any, kind: Any, name: str) -> None:
    """Refuse what cannot be played seat by seat, or not twice alike."""
    dynamics, modes = pyspiel.GameType.Dynamics, pyspiel.GameType.ChanceMode
    inner = str(theirs)
    if kind.dynamics == dynamics.SIMULTANEOUS:
        raise Misuse(
            f"In {name} seats move at the same time. OpenSpiel can let them move in turn without "
            f"seeing each other's choice: {CATALOGUE}:{TURNS}(game={inner})."
        )
    if kind.dynamics != dynamics.SEQUENTIAL:
        raise Misuse(f"{name} is a mean-field game: it has no seats that kibitz could fill.")
    if kind.chance_mode == modes.SAMPLED_STOCHASTIC:
        raise Misuse(
            f"{name} draws its chance inside OpenSpiel, so that no game could be replayed. "
            "Choose a game whose chance OpenSpiel makes explicit."
        )
    if not 1 <= theirs.num_players() <= MOST_SEATS:
        raise Misuse(f"{name} has {theirs.num_players()} seats; kibitz has 1 to {MOST_SEATS}.")
    if theirs.num_distinct_actions() < 1:
        raise Misuse(f"{name} does not say which actions there are, so that none can be numbered.")
