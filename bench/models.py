"""The models that come with kibitz, and how each is made.

`python -m bench.models [NAME ..]` makes them anew.
"""

from __future__ import annotations

import importlib
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

import kibitz
from bench.policy_runs import JOBS
from bench.value_runs import JOBS as VALUE_JOBS
from kibitz.core.options import split

# file -> game, learner and settings; as commands: kibitz train GAME LEARNER --seed 1 --games ..
MODELS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nim/models/evolved": ("nim", "evolution", {"seed": 1}),
    "tapnswap/models/q-table": ("tapnswap", "q-learning", {"seed": 1}),
    "tapnswap/models/early": ("tapnswap", "q-learning", {"seed": 1, "games": 200}),
}
# Those that take minutes each; the game as it is typed: kibitz train hanabi --set players=3 ..
LONG: dict[str, tuple[str, str, dict[str, Any]]] = {
    f"hanabi/models/classifier-{n}": (f"hanabi:players={n}", "classifier", {"seed": 21})
    for n in (2, 3, 4, 5)
} | {
    "carcassonne/models/evolved": (
        "carcassonne", "evolution",
        {"seed": 5, "method": "cma", "offspring": 12, "games": 120, "budget": 480},
    ),
}  # fmt: skip
# Networks; each is one of the recorded trainings.
POLICIES = {
    "carcassonne/models/policy-2": "direct-21",
    "carcassonne/models/policy-3": "direct-3-seats-21",
    "carcassonne/models/policy-4": "direct-4-seats-21",
    "carcassonne/models/policy-5": "direct-5-seats-21",
    "carcassonne/models/policy-farmers": "direct-farmers-21",
    "carcassonne/models/policy-cursor": "cursor-taught-21",
    "nim/models/policy": "nim-21",
    "tapnswap/models/policy": "tapnswap-21",
}
VALUES = {
    "mexican_train/models/td": "train-21",
    "nim/models/td": "nim-21",
    "tapnswap/models/td": "tapnswap-21",
}
LONG |= {
    name: (job.typed, job.learner, {"seed": job.seed, **job.settings})
    for name, job in [
        *((name, JOBS[job]) for name, job in POLICIES.items()),
        *((name, VALUE_JOBS[job]) for name, job in VALUES.items()),
    ]
}


def where(name: str) -> Path:
    """Give the file of a model that comes with kibitz."""
    games = Path(str(importlib.import_module("kibitz.games").__file__)).parent
    return games / f"{name}.safetensors"


def make(name: str, folder: Path) -> Path:
    """Train a model anew in a folder."""
    typed, learner, settings = {**MODELS, **LONG}[name]
    game, _, options = typed.partition(":")
    table = kibitz.game(game, **split(options)) if options else kibitz.game(game)
    made = kibitz.train(learner, table, folder=folder, plots=False, **settings)
    return made.path


if __name__ == "__main__":
    for name in sys.argv[1:] or [*MODELS, *LONG]:
        with tempfile.TemporaryDirectory() as folder:
            where(name).parent.mkdir(exist_ok=True)
            shutil.copyfile(make(name, Path(folder)), where(name))
            print(where(name))
