"""Finding games and agents by name: our own rooms, and those of other packages.

A folder in `kibitz/games` with `rules.py` in it is a game. Other packages join through the
entry-point groups `kibitz.games` (a `Game`) and `kibitz.agents` (a `Kind` or an `Agent` class).
`kibitz.catalogues` brings games by the many: what stands after the colon of `open_spiel:chess` is
for the catalogue of that name, a function from there to a `Game`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import os
import warnings
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from kibitz.core import own_code
from kibitz.core.agent import Agent, FunctionAgent, Kind
from kibitz.core.blunders import Blundering, part_blunders
from kibitz.core.compiled import is_compiled
from kibitz.core.errors import AgentFailed, BadModel, KibitzError, Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.options import split

ROOMS = f"{__name__.partition('.')[0]}.games"
RULES = ".rules"  # a text file of rules
PLAYED_BY = {".csv": "q-table", RULES: "classifier"}  # files that do not say whose they are


def game_names() -> list[str]:
    """List the games that are there, our own first."""
    own = _rooms()
    joined = set(_joined("kibitz.games")) - set(own)
    return [*own, *sorted(name for name in joined if _is_sound(_joined("kibitz.games")[name]))]


def find_game(name: str) -> Game:
    """Find a game by name, with its default settings."""
    catalogue, colon, rest = name.strip().partition(":")
    if colon:
        return _from_catalogue(catalogue, rest)
    name = name.strip().lower().replace("-", "_")
    if name in _rooms():
        return importlib.import_module(f"{ROOMS}.{name}.rules").GAME
    joined = _joined("kibitz.games")
    if name not in joined:
        raise unknown("game", name, game_names())
    game = _load(joined[name])
    if not isinstance(game, Game):
        raise Misuse(f"The entry point '{name}' of kibitz.games gives {game!r}, not a Game.")
    return game


def find_listed_game(name: str) -> Game:
    """Find a game that `game_names` lists, for those who ask from outside.

    Names of a catalogue are commands to somebody else's program, which strangers must not give.
    """
    if ":" in name:
        raise unknown("game", name, game_names())
    return find_game(name)


def catalogue_names() -> list[str]:
    """List the catalogues of games, whose games are called `catalogue:name`."""
    return sorted(_joined("kibitz.catalogues"))


def _from_catalogue(catalogue: str, name: str) -> Game:
    known = _joined("kibitz.catalogues")
    catalogue = catalogue.strip().lower().replace("-", "_")
    if catalogue not in known:
        raise unknown("catalogue of games", catalogue, known)
    game = _load(known[catalogue])(name.strip())
    if not isinstance(game, Game):
        raise Misuse(f"The catalogue '{catalogue}' gives {game!r} for '{name}', not a Game.")
    return game


def agent_kinds(game: Game) -> dict[str, Any]:
    """Give the kinds of agents that can play a game, by name: the room's own and everybody's."""
    kinds: dict[str, Any] = {}
    for name, point in sorted(_joined("kibitz.agents").items()):
        if _is_sound(point) and _load(point).unfit(game) is None:
            kinds[name] = _load(point)
    own = {name: kind for name, kind in game.agents.items() if kind.unfit(game) is None}
    return {**kinds, **own}


def find_agent(who: Any, game: Game) -> Agent:
    """Make an agent from `name`, `name:setting=value,..`, a model, rules, a class or a function.

    `FILE.py:NAME` is a class or function of a file, where the user has named it: see `own_code`.
    """
    if isinstance(who, Agent):
        if who.game != game:
            raise Misuse(f"{who.name} was made for {who.game.described()}, not {game.described()}.")
        return who
    if isinstance(who, type) and issubclass(who, Agent):
        return _made(who, game, {}, "")
    if isinstance(who, Kind):
        return _made(who, game, {}, "")
    if callable(who):
        return FunctionAgent(who, game)
    try:
        text = os.fspath(who)
    except TypeError:
        raise Misuse(
            f"{who!r} is no agent: give a name, a model file, a class or a function."
        ) from None
    name, colon, settings = text.partition(":")
    named = colon and (name in agent_kinds(game) or name in game.agents)
    if Path(text).suffix == ".safetensors" and not named:
        return _from_model(Path(text), game)
    if Path(text).suffix in PLAYED_BY and not named:
        kind = _brought(PLAYED_BY[Path(text).suffix], game, text)
        return _made(kind, game, {"model": text}, text)
    in_file = None if named else own_code.parse(text)
    if in_file is not None:
        return _from_file(in_file, game, text)
    given = split(settings) if settings else {}
    return _made(_kind(name, game), game, given, text)


def _kind(name: str, game: Game) -> Any:
    """Find a kind by name, fit or not: whoever makes an agent of it says why it is not."""
    kinds = agent_kinds(game)
    if name in kinds:
        return kinds[name]
    if name in game.agents:
        return game.agents[name]
    joined = _joined("kibitz.agents")
    if name in joined:
        return _load(joined[name])
    raise unknown(f"agent for {game.name}", name, kinds)


def _made(kind: Any, game: Game, settings: Mapping[str, Any], called: str) -> Agent:
    # Whether a model fits a game is for the model to say.
    reason = None if settings.get("model") else kind.unfit(game)
    if reason:
        name = called or getattr(kind, "__name__", None) or kind.choose.__name__
        raise Misuse(f"'{name}' cannot play {game.described()}: {reason}.")
    try:
        own, share = part_blunders(kind, settings)
        agent = kind(game, **own)
    except KibitzError:
        raise
    except Exception as error:
        raise AgentFailed(f"Making {called or kind} raised {error!r}.") from error
    if share:
        agent = Blundering(agent, share)
    if called:
        agent.name = called
    return agent


def _from_model(path: Path, game: Game) -> Agent:
    """Let the kind of agent that a model file names load it."""
    from kibitz.core.models import read_header

    header = read_header(path)
    kind = _brought(header.get("agent", ""), game, path)
    return _made(kind, game, {"model": str(path)}, str(path))


def _brought(name: str, game: Game, path: str | Path) -> Any:
    """Find the kind of agent that a file needs."""
    if name in game.agents:
        return game.agents[name]
    joined = _joined("kibitz.agents")
    if name in joined:
        return _load(joined[name])
    raise BadModel(f"'{path}' needs an agent called '{name}', and none is installed.")


def _from_file(named: own_code.Named, game: Game, called: str) -> Agent:
    """Make an agent of a class, a kind or a function in a file."""
    found = own_code.load(named)
    is_kind = isinstance(found, Kind) or (isinstance(found, type) and issubclass(found, Agent))
    if is_kind or (hasattr(found, "unfit") and not isinstance(found, type | Agent)):
        return _made(found, game, split(named.settings) if named.settings else {}, called)
    wrong = _why_no_function(found)
    if wrong:
        raise Misuse(
            f"'{named.file}:{named.name}' is no agent: {wrong}. An agent is a class that derives "
            "from kibitz.Agent, a kibitz.Kind, or a function from a view to an action."
        )
    if named.settings:
        raise Misuse(f"'{called}' is a function, which has no settings. Write a class for them.")
    agent = FunctionAgent(found, game)
    agent.name = called
    return agent


def _why_no_function(found: Any) -> str:
    """Say why something is no function from a view to an action; nothing if it is one."""
    if isinstance(found, Agent):
        return "it is an object, and every seat needs its own: name the class"
    if isinstance(found, type):
        return "it is a class that does not derive from kibitz.Agent"
    if not callable(found):
        return f"it is {found!r}"
    if is_compiled(found):
        return "it is a compiled function: make a kibitz.Kind of it"
    try:
        inspect.signature(found).bind(None)
    except TypeError:
        return "the function must take one argument, the view"
    except ValueError:  # a function that is not written in Python says nothing of its arguments
        return ""
    return ""


def _rooms() -> list[str]:
    """List the folders of our own games."""
    package = importlib.import_module(ROOMS)
    folders = (Path(folder) for folder in package.__path__)
    return sorted(rules.parent.name for folder in folders for rules in folder.glob("*/rules.py"))


@functools.cache
def _joined(group: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=group)}


@functools.cache
def _load(point: EntryPoint) -> Any:
    try:
        return point.load()
    except KibitzError:
        raise
    except Exception as error:
        raise KibitzError(
            f"'{point.name}' of {point.group} ({point.value}) cannot be loaded: {error!r}. "
            "Mend or remove the package that brings it."
        ) from error


@functools.cache
def _is_sound(point: EntryPoint) -> bool:
    """Tell whether what another package brings can be loaded; warn, once, where it cannot."""
    try:
        _load(point)
    except KibitzError as error:
        warnings.warn(str(error), stacklevel=2)
        return False
    return True
