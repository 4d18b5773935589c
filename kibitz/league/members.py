"""Members: agents that take part in a league."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kibitz.core import own_code
from kibitz.core.agent import Agent, CompiledAgent
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.registry import agent_kinds, find_agent

LONGEST_NAME = 200


def settings_of(agent: Agent) -> str:
    """Write how an agent is set, as JSON."""
    settings: Mapping[str, Any] = getattr(agent, "settings", {})
    return json.dumps({name: str(value) for name, value in settings.items()}, sort_keys=True)


def checked_name(name: str) -> str:
    """Give the name that a member has in tables and files, or raise."""
    if not 0 < len(name) <= LONGEST_NAME or not name.isprintable():
        raise Misuse(
            f"A name of at most {LONGEST_NAME} printable characters is needed, not {name[:40]!r}."
        )
    return name


def anywhere(text: str) -> str:
    """Return the name of an agent that means the same wherever the league goes on."""
    if Path(text).is_file():
        return os.path.abspath(text)
    named = own_code.parse(text)
    return named.absolute() if named is not None and Path(named.file).is_file() else text


def everybody(game: Game) -> list[str]:
    """List the agents that come with a game and need nothing else, searches left out.

    An agent that thinks about every move for long would make the others wait.
    """
    found = []
    for name in sorted(agent_kinds(game)):
        try:
            agent = find_agent(name, game)
        except KibitzError:
            continue  # it needs a model, rules or settings that somebody must give
        if isinstance(agent, CompiledAgent):
            found.append(name)
    return found
