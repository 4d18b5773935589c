"""Learners: one file or folder each, trained by name: `kibitz.train("evolution", game)`.

A learner in another package joins through the entry-point group `kibitz.learners`, whose entries
are modules with the same names: `Settings`, `PRESETS` and `train`; `CAN_BE_VISITED = True` if its
`train` calls `run.visit` after the games that `run.next_visit` names; and `unfit(game)`, which says
why it cannot learn a game, or None. `RENAMED` has the new name of every setting that was renamed,
by its old one, so that earlier runs can be resumed. One that calls `run.save_snapshot` beside
`run.save_checkpoint` can be played against while it learns.
"""

from __future__ import annotations

import importlib
import os
import pkgutil
from collections.abc import Callable, Mapping
from importlib.metadata import entry_points
from types import ModuleType
from typing import Any

from kibitz.core.agent import Agent
from kibitz.core.chance import checked_seed
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.options import options_of, settle
from kibitz.core.training import Progress, Run, Watcher


def learner_names() -> list[str]:
    """List the learners that are there."""
    return sorted(_found())


def _found() -> dict[str, Any]:
    own = {module.name: f"{__name__}.{module.name}" for module in pkgutil.iter_modules(__path__)}
    joined = {point.name: point for point in entry_points(group="kibitz.learners")}
    return {**joined, **own}


def find_learner(name: str) -> ModuleType:
    """Find a learner by name."""
    found = _found()
    name = name.replace("-", "_")
    if name not in found:
        raise unknown("learner", name, found)
    where = found[name]
    return importlib.import_module(where) if isinstance(where, str) else where.load()


def unfit(learner: str, game: Game) -> str | None:
    """Say why a learner cannot learn a game, or None."""
    reason = getattr(find_learner(learner), "unfit", None)
    return None if reason is None else reason(game)


def renamed(module: ModuleType) -> Mapping[str, str]:
    """Return the settings of a learner that had another name before, by that name."""
    return getattr(module, "RENAMED", {})


def train(
    learner: str,
    game: Game,
    *,
    seed: int | None = None,
    preset: str | None = None,
    folder: str | os.PathLike[str] | None = None,
    progress: Progress | None = None,
    visits: Mapping[int, Callable[[Agent], Any]] | None = None,
    plots: bool = True,
    watcher: Watcher | None = None,
    **settings: Any,
) -> Any:
    """Train an agent and give what the learner gives; with a folder, also its files.

    `preset` names a set of settings (`seed` is that of the project it comes from); `settings`
    change single ones. Training in a folder can be interrupted; the same call goes on with it.
    `visits` are shown the agent as it is after so many games, where a learner counts those. A
    `watcher` hears of every row of the curve as it comes, and gets snapshots that can be played.
    """
    module = find_learner(learner)
    learner = learner.replace("_", "-")
    options = options_of(module.Settings)
    if preset is not None:
        if preset not in module.PRESETS:
            raise unknown(f"preset of {learner}", preset, module.PRESETS)
        settings = {**module.PRESETS[preset], **settings}
    if visits and not getattr(module, "CAN_BE_VISITED", False):
        raise Misuse(f"{learner} cannot be visited while it learns.")
    chosen = settle(options, settings, learner)
    seed = checked_seed(seed)
    usual = {option.name: option.default for option in options}
    run = Run(
        learner, game, chosen, seed, folder, progress, visits, plots, watcher, usual,
        renamed(module),
    )  # fmt: skip
    return module.train(game, module.Settings(**chosen), seed, run)
