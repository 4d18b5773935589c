"""What environments are called, and telling their own settings from options of the game."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kibitz.core.game import Game
from kibitz.core.registry import find_game, game_names


def ids() -> dict[str, str]:
    """Give the ids of all environments with the game of each: `kibitz/nim-v1`."""
    return {f"kibitz/{name}-v{find_game(name).version}": name for name in game_names()}


def chosen(
    game: Game | str, how: Mapping[str, Any], own: Sequence[str]
) -> tuple[Game, dict[str, Any]]:
    """Give the game with its options set, and what is the environment's own."""
    about = {name: how[name] for name in own if name in how}
    settings = {name: value for name, value in how.items() if name not in about}
    found = find_game(game) if isinstance(game, str) else game
    return found.having(**settings) if settings else found, about
