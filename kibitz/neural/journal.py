"""Curves of a training for TensorBoard, and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kibitz.core.plots import BLUE, COLOURS, GREEN, QUIET, Canvas
from kibitz.core.training import Run

EVENTS = "tensorboard"


class Journal:
    """Writes figures as event files that TensorBoard shows while the training goes on."""

    def __init__(self, run: Run, update: int) -> None:
        self._writer: Any = None
        if run.folder is not None:
            from tensorboardX import SummaryWriter

            # What was written after the checkpoint is taken back.
            self._writer = SummaryWriter(str(run.folder / EVENTS), purge_step=update)

    def write(self, update: int, figures: Mapping[str, float]) -> None:
        """Write the figures of an update."""
        if self._writer is not None:
            for name, figure in figures.items():
                if name not in ("update", "seconds"):
                    self._writer.add_scalar(name, figure, update)

    def close(self) -> None:
        """Write what is left."""
        if self._writer is not None:
            self._writer.close()


def plot(
    rows: Sequence[Mapping[str, Any]], path: Path, run: Run, learner: str, doubts: Mapping[str, str]
) -> None:
    """Draw strength, and how unsure the network is, over the decisions.

    doubts: the figures that say so, with their labels.
    """
    settings: Any = run.about["settings"]
    canvas = Canvas(
        f"{run.game.described()}: {learner}",
        f"aim {settings['aim']}, layers {settings['hidden']}, rate {settings['rate']:g}; "
        f"seed {run.about['seed']}",
    )
    strength, doubt = canvas.axes(2)
    at = [row["decisions"] / 1e6 for row in rows]
    if "score" in rows[0]:
        strength.plot(at, [row["score"] for row in rows], color=BLUE, label="points")
        strength.set(ylabel="score", ylim=(0, None))
    else:
        names = [name[13:] for name in rows[0] if name.startswith("share_spread_")]
        for name, colour in zip(names, COLOURS, strict=False):
            share = [row[f"share_{name}"] for row in rows]
            spread = [row[f"share_spread_{name}"] for row in rows]
            strength.plot(at, share, color=colour, label=f"wins against {name}")
            low = [a - b for a, b in zip(share, spread, strict=True)]
            high = [a + b for a, b in zip(share, spread, strict=True)]
            strength.fill_between(at, low, high, color=colour, alpha=0.12, lw=0)
        strength.axhline(1.0 / run.game.players, color=QUIET, lw=0.8, ls=":")
        strength.set(ylabel="share", ylim=(-0.02, 1.02))
    strength.set(xlabel="million decisions")
    learned = rows[1:]  # before the first update nothing is known of these
    at = at[1:]
    for (name, label), colour, dash in zip(doubts.items(), (GREEN, QUIET), "-:", strict=False):
        doubt.plot(at, [row[name] for row in learned], color=colour, ls=dash, label=label)
    doubt.set(xlabel="million decisions", xlim=strength.get_xlim(), ylim=(-0.05, None))
    for axes in (strength, doubt):
        axes.legend(frameon=False, fontsize=9)
    canvas.save(path)
