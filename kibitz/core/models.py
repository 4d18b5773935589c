"""Model files: safetensors with a header that says whose they are. Nothing in them is ever run."""

from __future__ import annotations

import glob
import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.errors import BadModel, unknown
from kibitz.core.files import save
from kibitz.core.game import Game

FORMAT = "1"


def save_model(
    path: str | os.PathLike[str],
    agent: str,
    game: Game,
    arrays: Mapping[str, np.ndarray],
    about: Mapping[str, Any] | None = None,
) -> Path:
    """Write what an agent has learned about a game, whole or not at all."""
    from safetensors.numpy import save as packed

    header = {
        "kibitz model": FORMAT,
        "agent": agent,
        "game": game.name,
        "version": str(game.version),
        "settings": json.dumps(dict(game.settings)),
        "about": json.dumps(dict(about or {})),
    }
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    return save(path, _sorted(packed(plain, metadata=header)))


def _sorted(data: bytes) -> bytes:
    """Put the header into one order, so that the same model is the same file, bit for bit."""
    size = int.from_bytes(data[:8], "little")
    header = json.dumps(json.loads(data[8 : 8 + size]), sort_keys=True, separators=(",", ":"))
    text = header.encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + data[8 + size :]


def read_header(path: str | os.PathLike[str]) -> dict[str, str]:
    """Read who made a model file and for which game; a foreign file raises BadModel."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(os.fspath(path), framework="np") as file:
            header = file.metadata() or {}
    except (OSError, SafetensorError) as error:
        raise BadModel(f"Cannot read the model '{os.fspath(path)}': {error}.") from error
    if header.get("kibitz model") != FORMAT:
        raise BadModel(f"'{os.fspath(path)}' is not a kibitz model, or one of another format.")
    return header


def load_model(
    path: str | os.PathLike[str],
    agent: str,
    game: Game,
    any_settings: bool = False,
    any_alike: bool = False,
) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read a model that fits an agent and a game: its arrays, and what was noted about it.

    `any_settings` takes one that was made for other settings of the same game, `any_alike` one
    that differs at most in what learners see and how many rounds there are (see `made_for`).
    """
    from safetensors import SafetensorError
    from safetensors.numpy import load_file

    header = read_header(path)
    named = (header.get("agent"), header.get("game"), header.get("version"))
    if named != (agent, game.name, str(game.version)):
        raise BadModel(
            f"'{os.fspath(path)}' is a model of {named[0]} for {named[1]} version "
            f"{named[2]}, not of {agent} for {game.name} version {game.version}."
        )
    try:
        settings = game.having(**json.loads(header["settings"])).settings
        about = json.loads(header["about"])
        arrays = load_file(os.fspath(path))
        if not isinstance(about, dict):
            raise ValueError("its notes are no table")
    except (OSError, SafetensorError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadModel(f"'{os.fspath(path)}' is a damaged model: {error}.") from error
    other = game.having(**settings)
    fits = game.is_alike(other) if any_alike else game == other
    if not any_settings and not fits:
        made = other.described()
        raise BadModel(
            f"'{os.fspath(path)}' was made for {made}, not for {game.described()}. "
            f"Set the game as it was: {other.typed()}"
        )
    return arrays, about


def made_for(path: str | os.PathLike[str], game: Game) -> Game:
    """Give the game with the settings that a model was made for."""
    try:
        return game.having(**json.loads(read_header(path)["settings"]))
    except (KeyError, TypeError, ValueError, RecursionError) as error:
        raise BadModel(f"'{os.fspath(path)}' is a damaged model: {error}.") from error


def own_models(game: Game, name: str) -> list[Path]:
    """List the models that come with a game's room and whose names begin so."""
    room = sys.modules.get(game.room)
    folders = [Path(folder) / "models" for folder in getattr(room, "__path__", ())]
    return sorted(
        path for folder in folders for path in folder.glob(f"{glob.escape(name)}*.safetensors")
    )


def find_model(given: str | os.PathLike[str], game: Game) -> Path:
    """Return the file that is meant: a path, or the name of a model that comes with the game.

    `policy` finds `policy-2` or `policy-3` where these are for as many seats as the game has.
    """
    text = os.fspath(given)
    if Path(text).suffix or os.path.basename(text) != text:
        return Path(text)
    exact = own_model(game, text)
    if exact is not None:
        return exact
    for path in own_models(game, f"{text}-"):
        if game.is_alike(made_for(path, game)):
            return path
    names = [path.stem for path in own_models(game, "")]
    missing = unknown(f"model of {game.described()}", text, names)
    raise BadModel(f"{missing} A file of your own ends in .safetensors.")


def own_model(game: Game, name: str) -> Path | None:
    """Find a model that comes with a game's room, or give None."""
    room = sys.modules.get(game.room)
    for folder in getattr(room, "__path__", ()):  # a room in a script has no folder
        path = Path(folder) / "models" / f"{name}.safetensors"
        if path.is_file():
            return path
    return None
