"""Members: agents that take part in a league, and what makes them the agents they are."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kibitz.core.agent import Agent, CompiledAgent
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.registry import agent_kinds, find_agent

LONGEST_NAME = 200


def fingerprint(agent: Agent) -> str:
    """Give a short name of all that an agent plays by: what it is, how it is set, what it learned.

    Two agents with the same fingerprint play alike, as long as kibitz is the same.
    """
    found = hashlib.blake2b(digest_size=16)
    kind = agent.kind.choose if isinstance(agent, CompiledAgent) else type(agent)
    found.update(f"{kind.__module__}.{kind.__qualname__}".encode())
    settings = dict(getattr(agent, "settings", {}))
    if isinstance(agent, CompiledAgent):
        found.update(agent.weights.tobytes())  # settings and models are all in there
    for name, value in sorted(settings.items()):
        content = _content(value)
        if content is not None:
            found.update(content)
        elif not isinstance(agent, CompiledAgent):
            found.update(f"{name}={value}".encode())
    return found.hexdigest()


def _content(value: Any) -> bytes | None:
    """Give the content of a model that a setting names, wherever it lies."""
    try:
        path = Path(os.fspath(value))
    except TypeError:
        return None
    if path.suffix != ".safetensors" or not path.is_file():
        return None
    return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()


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
