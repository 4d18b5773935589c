"""The folders are the architecture: who may import whom, read from the sources themselves."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from pathlib import Path

import kibitz

ROOT = Path(kibitz.__file__).parent

# Layer -> the layers of ours that it may import.
MAY_IMPORT = {
    "core": {"core"},
    "games": {"core"},
    "play": {"core", "play"},
    "search": {"core", "play", "search"},
    "neural": {"core", "play", "neural"},
    "learners": {"core", "play", "search", "neural", "learners"},
    "league": {"core", "play", "league"},
    "bridges": {"core", "play", "bridges"},
    "cli": {"", "core", "play", "search", "learners", "league", "bridges", "cli"},
    "web": {"", "core", "play", "search", "learners", "league", "bridges", "web"},
    "": {"core", "play", "search", "learners", "league", "web", ""},  # kibitz/__init__.py
}


def imports(path: Path) -> list[str]:
    """List the modules of ours that a file imports, wherever in the file it does."""
    found = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found += [f"{node.module}.{alias.name}" for alias in node.names]
    return [name for name in found if name.split(".")[0] == "kibitz"]


def layer_of(name: str) -> str:
    parts = name.split(".")
    return parts[1] if len(parts) > 1 and (ROOT / parts[1]).is_dir() else ""


def test_imports_follow_the_arrows():
    seen = set()
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).parts
        layer = parts[0] if len(parts) > 1 else ""
        seen.add(layer)
        assert layer in MAY_IMPORT, f"{path} stands in a room that the house does not have"
        for name in imports(path):
            if layer == "games":
                room = ".".join(("kibitz", *parts[:2]))
                allowed = layer_of(name) == "core" or name.startswith(room + ".")
            elif layer == "learners":
                # A learner may train by name, but knows no other learner.
                own = ".".join(("kibitz", *parts[:-1]))
                by_name = name in {"kibitz.learners.train", "kibitz.learners.find_learner"}
                allowed = layer_of(name) in MAY_IMPORT[layer] - {"learners"} or by_name
                allowed = allowed or (len(parts) > 2 and name.startswith(own + "."))
            else:
                allowed = layer_of(name) in MAY_IMPORT[layer]
            assert allowed, f"{path.relative_to(ROOT)} may not import {name}"
    assert {"core", "games", "play", "search", "cli"} <= seen


def test_only_rooms_name_games():
    """Play, search, learners and league are handed a game and never name one."""
    names = kibitz.game_names()
    for layer in ("core", "play", "search", "neural", "learners", "league"):
        for path in (ROOT / layer).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.Constant) and isinstance(node.value, str):
                    assert node.value not in names, f"{path} names {node.value}"


def test_importing_kibitz_is_light():
    """Neither the neural nor the web stack, nor plots, nor the faces come with the library."""
    code = "import sys, json, kibitz; print(json.dumps(sorted(sys.modules)))"
    loaded = set(
        json.loads(
            subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout
        )
    )
    heavy = {"jax", "equinox", "optax", "nicegui", "fastapi", "matplotlib", "ray", "pyspiel",
             "sqlalchemy", "pandas", "torch", "typer", "rich", "kibitz.cli"}  # fmt: skip
    assert heavy & loaded == set()


def test_everything_public_has_a_docstring_a_user_can_act_on():
    for name in kibitz.__all__:
        assert (getattr(kibitz, name).__doc__ or "").strip(), name


def test_every_game_is_furnished_the_same_way():
    for name in kibitz.game_names():
        room = ROOT / "games" / name
        if room.is_dir():
            for file in ("rules.py", "words.py", "drawing.py", "agents.py"):
                assert (room / file).exists(), f"{name} has no {file}"
            assert f"v{kibitz.game(name).version}  " in (room / "rules.py").read_text()
