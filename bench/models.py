"""The models that come with kibitz, and how each is made; `python -m bench.models` does it anew."""

from __future__ import annotations

import importlib
import shutil
import tempfile
from pathlib import Path
from typing import Any

import kibitz

# file -> learner and settings; as commands: kibitz train GAME LEARNER --seed 1 --games ..
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nim/models/evolved": ("nim", "evolution", {"seed": 1}),
    "tapnswap/models/q-table": ("tapnswap", "q-learning", {"seed": 1}),
    "tapnswap/models/early": ("tapnswap", "q-learning", {"seed": 1, "games": 200}),
}


def where(name: str) -> Path:
    """Give the file of a model that comes with kibitz."""
    games = Path(str(importlib.import_module("kibitz.games").__file__)).parent
    return games / f"{name}.safetensors"


def make(name: str, folder: Path) -> Path:
    """Train a model anew in a folder."""
    game, learner, settings = MODELS[name]
    made = kibitz.train(learner, kibitz.game(game), folder=folder, plots=False, **settings)
    return made.path


if __name__ == "__main__":
    for name in MODELS:
        with tempfile.TemporaryDirectory() as folder:
            where(name).parent.mkdir(exist_ok=True)
            shutil.copyfile(make(name, Path(folder)), where(name))
            print(where(name))
