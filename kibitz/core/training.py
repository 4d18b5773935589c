"""Training runs: a folder with settings, checkpoint, curve and model; stopped and resumed at will.

A learner's `train(game, settings, seed, run)` tells the run how it goes; everything it must know to
go on lies in its checkpoint. The same command on the same folder resumes; whatever differs is
refused. A `Watcher` follows a run row by row and can have the agent as it is in the middle.
"""

from __future__ import annotations

import csv
import io
import json
import math
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from kibitz.core.agent import Agent
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.files import save
from kibitz.core.game import Game
from kibitz.core.models import load_model, save_model

CHECKPOINT, SNAPSHOT, MODEL, CURVE, PLOT, ABOUT = (
    "checkpoint.safetensors", "snapshot.safetensors", "model.safetensors", "curve.csv", "curve.png",
    "run.json",
)  # fmt: skip
MOST_STEPS = 4000  # between rows that are kept for a watcher
CHECKPOINT_SECONDS = 10.0

Progress = Callable[[int, int, str], Any]


@contextmanager
def in_one_piece() -> Iterator[None]:
    """Let Ctrl-C wait until a step is done, so that what is kept is never half a step."""
    kept = signal.getsignal(signal.SIGINT)
    if threading.current_thread() is not threading.main_thread() or not callable(kept):
        yield
        return
    came: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: came.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, kept)
    if came:
        kept(*came[0])


def seed_of(folder: str | os.PathLike[str]) -> int | None:
    """Give the seed of the run that a folder holds, or None."""
    try:
        seed = json.loads((Path(folder) / ABOUT).read_text(encoding="utf-8"))["seed"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    return seed if isinstance(seed, int) else None


# Settings that came later, and what they are where they are not used: they are then left out, so
# that earlier runs go on and earlier models are made again bit for bit.
LATER = {"strategies": ""}


class Watcher:
    """Somebody who follows a run while it goes on. Override what you need; nothing is learned.

    Whoever watches a run in a folder finds a snapshot there beside every checkpoint: the agent as
    it was then, a model that plays like any other.
    """

    def row(self, figures: Mapping[str, float | str]) -> None:
        """Hear of a row of the curve. A run that is resumed tells all of them again."""

    def step(self, figures: Mapping[str, float | str]) -> None:
        """Hear what is known of a step between two rows; resumed runs tell these again, too."""

    def wants_snapshot(self) -> bool:
        """Say whether to write a snapshot, and a checkpoint with it, after the present step."""
        return False

    def snapshot(self, path: Path, done: int) -> None:
        """Hear that a snapshot was written, of the agent after so many steps."""


class Run:
    """One training run. Without a folder nothing is written."""

    def __init__(
        self,
        learner: str,
        game: Game,
        settings: Mapping[str, Any],
        seed: int,
        folder: str | os.PathLike[str] | None = None,
        progress: Progress | None = None,
        visits: Mapping[int, Callable[[Agent], Any]] | None = None,
        plots: bool = True,
        watcher: Watcher | None = None,
        defaults: Mapping[str, Any] | None = None,
        renamed: Mapping[str, str] | None = None,  # new names of settings, by their old ones
    ) -> None:
        self.learner = learner
        self.game = game
        self.folder = None if folder is None else Path(folder)
        self.about = {
            "learner": learner, "game": game.name, "version": game.version,
            "game settings": dict(game.settings), "seed": seed,
            # The result is the same on any number of cores.
            "settings": {
                name: of
                for name, of in settings.items()
                if name != "cores" and LATER.get(name) != of
            },
        }  # fmt: skip
        self.rows: list[dict[str, Any]] = []
        self.unknown_at_first: Sequence[str] = ()  # figures that the first row only fills in
        self._steps: list[dict[str, float]] = []  # what a watcher was told between rows
        self._progress = progress
        self._visits = dict(visits or {})
        self._plots = plots
        self._watcher = watcher
        self._renamed = renamed or {}
        self._saved_at = time.monotonic()
        if self.folder is not None:
            self._look_into(self.folder, defaults or {})

    def claim(self) -> None:
        """Take the folder: from now on it is for this very run."""
        if self.folder is not None and not (self.folder / ABOUT).exists():
            save(self.folder / ABOUT, json.dumps(self.about, indent=1) + "\n")

    def _look_into(self, folder: Path, defaults: Mapping[str, Any]) -> None:
        """Begin in an empty folder, or go on in one that was begun with the very same command.

        A run may be older than a setting: then it was made with what is now the default.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise Misuse(f"Cannot make the folder '{folder}': {error.strerror}.") from error
        about = folder / ABOUT
        if about.exists():
            try:
                earlier = json.loads(about.read_text(encoding="utf-8"))
            except (OSError, ValueError) as error:
                raise BadModel(f"'{about}' is damaged: {error}. Choose another folder.") from error
            ours = json.loads(json.dumps(self.about))
            if isinstance(earlier, dict) and isinstance(earlier.get("settings"), dict):
                usual = {name: of for name, of in defaults.items() if name in ours["settings"]}
                before = {self._renamed.get(k, k): of for k, of in earlier["settings"].items()}
                earlier["settings"] = json.loads(json.dumps({**usual, **before}))
            if earlier != ours:
                changed = [key for key in ours if earlier.get(key) != ours[key]]
                raise Misuse(
                    f"'{folder}' holds a run that differs in its {' and '.join(changed)}. "
                    "Choose another folder, or give the same to go on with it."
                )

    def tell(self, done: int, total: int, words: str) -> None:
        """Say how far it is, for a progress bar."""
        if self._progress is not None:
            self._progress(done, total, words)

    def log(self, **figures: float | str) -> None:
        """Add a row to the curve."""
        self.rows.append(figures)
        self._show(len(self.rows) - 1)

    def report(self, **figures: float) -> None:
        """Tell a watcher what is known of a step that adds no row to the curve."""
        if self._watcher is not None:
            self._steps.append(figures)
            if len(self._steps) > MOST_STEPS:
                self._steps = self._steps[::2]
            self._watcher.step(figures)

    def _show(self, place: int) -> None:
        """Tell a watcher of a row."""
        if self._watcher is not None:
            row, unknown = self.rows[place], () if place else self.unknown_at_first
            self._watcher.row({name: of for name, of in row.items() if name not in unknown})

    # --- visits --------------------------------------------------------------------------------

    def next_visit(self, done: int) -> float:
        """Give after how many steps somebody next wants to see the agent; infinity if never."""
        return min((at for at in self._visits if at > done), default=math.inf)

    def check_visits(self, total: int) -> None:
        """Refuse visits after the end."""
        last = max(self._visits, default=0)
        if last > total:
            raise Misuse(f"Nobody can visit after {last:,} games, for there are only {total:,}.")

    def visit(self, done: int, agent: Callable[[], Agent]) -> None:
        """Show the agent as it is now to whoever wanted to see it here; nothing is learned."""
        if done in self._visits:
            self._visits[done](agent())

    # --- checkpoints ---------------------------------------------------------------------------

    @property
    def is_time(self) -> bool:
        """Whether the last checkpoint was long enough ago, or somebody asks for a snapshot."""
        if self._watcher is not None and self._watcher.wants_snapshot():
            return True
        return time.monotonic() - self._saved_at > CHECKPOINT_SECONDS

    def save_checkpoint(self, arrays: Mapping[str, np.ndarray]) -> None:
        """Keep what is needed to go on, whole or not at all; the first one takes the folder."""
        self._saved_at = time.monotonic()
        if self.folder is not None:
            self.claim()
            save_model(self.folder / CHECKPOINT, self.learner, self.game, arrays)

    def save_snapshot(
        self, done: int, agent: str,
        content: Callable[[], tuple[Mapping[str, np.ndarray], Mapping[str, Any]]],
    ) -> None:  # fmt: skip
        """Write the agent as it is after so many steps, if somebody watches this run.

        A learner calls this after `save_checkpoint`. `agent` and `content`, which gives arrays and
        notes, are what `finish` would be given now. It must change nothing, chance included.
        """
        if self._watcher is None or self.folder is None:
            return
        arrays, about = content()
        path = self.folder / SNAPSHOT
        save_model(path, agent, self.game, arrays, {**self.about, **about, "done": done})
        self._watcher.snapshot(path, done)

    def curve(self) -> np.ndarray:
        """Give the curve so far as an array, to be kept in a checkpoint."""
        return np.array([list(row.values()) for row in self.rows], np.float64)

    def steps(self, columns: Sequence[str]) -> np.ndarray:
        """Return what was reported between rows, to be kept in a checkpoint."""
        rows = [[step[name] for name in columns] for step in self._steps]
        return np.array(rows, np.float64).reshape(-1, len(columns))

    def restore(
        self, curve: np.ndarray, columns: Sequence[str], steps: np.ndarray | None = None
    ) -> None:
        """Take up the curve that a checkpoint kept, and steps: of its first columns."""
        self.rows = [dict(zip(columns, row, strict=True)) for row in curve.tolist()]
        if self._watcher is None:
            return
        self._steps = [
            dict(zip(columns, row, strict=False))
            for row in ([] if steps is None else steps.tolist())
        ]
        told = [(row[columns[0]], 0, place) for place, row in enumerate(self.rows)]
        told += [(step[columns[0]], 1, place) for place, step in enumerate(self._steps)]
        for _, is_step, place in sorted(told):
            if is_step:
                self._watcher.step(self._steps[place])
            else:
                self._show(place)

    def load_checkpoint(self) -> dict[str, np.ndarray] | None:
        """Give what was kept, or None at the beginning."""
        if self.folder is None or not (self.folder / CHECKPOINT).exists():
            return None
        return load_model(self.folder / CHECKPOINT, self.learner, self.game)[0]

    def check(self, kept: Mapping[str, np.ndarray], like: Mapping[str, np.ndarray]) -> None:
        """Refuse a checkpoint whose arrays are not of these types and shapes."""
        for name, wanted in like.items():
            array = kept.get(name)
            if (
                array is None
                or array.dtype != wanted.dtype
                or array.shape[1:] != wanted.shape[1:]
                or (name != "curve" and len(array) != len(wanted))
                or not np.isfinite(array).all()
            ):
                raise BadModel(
                    f"'{self.folder}' holds a damaged checkpoint: '{name}' is not right. "
                    "Begin again in another folder."
                )

    # --- results -------------------------------------------------------------------------------

    def finish(
        self, agent: str, arrays: Mapping[str, np.ndarray], about: Mapping[str, Any],
        plot: Callable[[list[dict[str, Any]], Path], None] | None = None,
    ) -> Path | None:  # fmt: skip
        """Write the model, the curve as CSV and, if a plot is given, as a picture."""
        if self.folder is None:
            return None
        self.claim()
        if self.rows:
            text = io.StringIO()
            writer = csv.DictWriter(text, list(self.rows[0]), lineterminator="\n")
            writer.writeheader()
            writer.writerows(self.rows)
            save(self.folder / CURVE, text.getvalue())
            if plot is not None and self._plots:
                plot(self.rows, self.folder / PLOT)
        return save_model(self.folder / MODEL, agent, self.game, arrays, {**self.about, **about})
