"""Agents that the server's user brings: files that the command line names, and runs of a terminal.

A browser asks for `own:NAME`; which file that is, nobody but the server knows. What was not named
at the command line, or does not lie in the folder of runs, cannot be asked for.
"""

from __future__ import annotations

import functools
import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from kibitz.core.errors import KibitzError, Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.models import read_header
from kibitz.core.registry import find_agent, find_listed_game, game_names
from kibitz.core.training import ABOUT, MODEL
from kibitz.web.catalogue import OWN, Offer

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,60}")
MOST_RUNS = 200  # folders that are offered
# Files that an agent reads as a setting; a model names its own agent.
READERS = {".csv": "q-table", ".rules": "classifier", ".txt": "classifier"}


class OwnAgents:
    """Agents by the names under which pages offer them."""

    def __init__(self, named: Mapping[str, str] | None = None, runs: Path | None = None) -> None:
        self.named = dict(named or {})
        self.runs = runs

    def offers(self, game: Game) -> tuple[Offer, ...]:
        """List those that can play a game, as it is set."""
        return tuple(
            Offer(f"{OWN}{name}", about)
            for name, (who, about) in self._all().items()
            if why_not(who, game, _changed(who)) == ""
        )

    def checked(self, game: Game, who: str) -> str:
        """Return the name of an agent that can play a game, or raise and say why it cannot."""
        path = self.who(who)
        reason = why_not(path, game, _changed(path))
        if reason:
            raise Misuse(reason.replace(path, who))
        return who

    def who(self, name: str) -> str:
        """Return what an agent is to the registry: a file, or a name with settings."""
        known = self._all()
        name = name.removeprefix(OWN)
        if name not in known:
            raise unknown("agent of your own", name, known)
        return known[name][0]

    def name_of(self, who: str | None) -> str:
        """Return the name under which pages know an agent, or nothing."""
        return next((f"{OWN}{name}" for name, (own, _) in self._all().items() if own == who), "")

    def _all(self) -> dict[str, tuple[str, str]]:
        """Return who each of them is, and a line about it."""
        found = {name: (who, "Your own agent.") for name, who in self.named.items()}
        for folder in _folders(self.runs):
            if folder.name not in found:
                found[folder.name] = (str(folder / MODEL), _about(folder))
        return found


def read_named(agents: Mapping[str, str]) -> dict[str, str]:
    """Return agents as the registry takes them; one that can play no game raises."""
    for name in agents:
        if not NAME.fullmatch(name):
            raise Misuse(f"'{name}' is no name for an agent: use letters, digits, dots and dashes.")
    return {name: _playing(name, os.fspath(what)) for name, what in agents.items()}


def _playing(name: str, what: str) -> str:
    """Return an agent as the registry takes it, after making it once for a game that it plays."""
    path = Path(what)
    script, colon, called = what.rpartition(":")
    if script.endswith(".py"):
        what = f"{Path(script).absolute()}{colon}{called}"
    elif path.suffix in READERS:
        if not path.is_file():
            raise Misuse(f"There is no file '{what}' for the agent '{name}'.")
        what = f"{READERS[path.suffix]}:model={path.absolute()}"
    elif path.is_file():
        what = str(path.absolute())
    reasons = []
    for game in _games_for(path):
        reasons.append(why_not(what, game))
        if not reasons[-1]:
            return what
    raise Misuse(f"The agent '{name}' can play no game as it usually is. {reasons[0]}")


def _games_for(path: Path) -> list[Game]:
    """List the games that an agent may be for: that of a model, else all as they usually are."""
    if path.suffix == ".safetensors":
        header = read_header(path)
        try:
            settings = json.loads(header["settings"])
        except (KeyError, ValueError):
            settings = {}
        return [find_listed_game(header.get("game", "")).having(**settings)]
    return [find_listed_game(name) for name in game_names()]


def _changed(who: str) -> float:
    """Return when the file of an agent changed, for those who remember what it could do."""
    path = who.partition(":model=")[2] or who
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


@functools.lru_cache(maxsize=1024)
def why_not(who: str, game: Game, changed: float = 0.0) -> str:
    """Return why an agent cannot play a game as it is set, or nothing."""
    try:
        find_agent(who, game)
    except KibitzError as error:
        return str(error)
    return ""


def _folders(runs: Path | None) -> list[Path]:
    """List the folders of training runs that have a model, the newest first."""
    if runs is None or not runs.is_dir():
        return []
    found = [
        path.parent for path in runs.glob(f"*/{MODEL}")
        if NAME.fullmatch(path.parent.name) and (path.parent / ABOUT).is_file()
    ]  # fmt: skip
    return sorted(found, key=lambda folder: -(folder / MODEL).stat().st_mtime)[:MOST_RUNS]


def _about(folder: Path) -> str:
    """Say in a line what a run has learned."""
    try:
        about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
        return f"{str(about['learner'])[:40]}, trained in a terminal (seed {int(about['seed'])})"
    except (OSError, ValueError, KeyError, TypeError):
        return "Trained in a terminal."
