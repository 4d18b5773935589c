"""The training of a network from beginning to end: play, learn, measure, keep the best."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from kibitz.core.agent import CompiledAgent
from kibitz.core.game import Game
from kibitz.core.models import save_model
from kibitz.core.training import Run, in_one_piece
from kibitz.neural.evaluation import Judge, main_figure
from kibitz.neural.journal import Journal, plot
from kibitz.neural.learner import COUNTED, Learner
from kibitz.neural.settings import Playing
from kibitz.neural.shape import check_weights

BEST, LAST = "best.safetensors", "last.safetensors"


@dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """What training gives: the agent, how good it is, and which of the networks it plays by."""

    agent: CompiledAgent
    figures: Mapping[str, float]
    update: int  # after which it was as it is
    promoted_at: int  # when a network was last better than the best before, for sure
    updates: int
    decisions: int
    seconds: Mapping[str, float]
    path: Path | None

    columns: ClassVar[tuple[str, ...]] = ("", "wins", "margin")

    def rows(self) -> list[tuple[str, ...]]:
        """List how the network does."""
        if "score" in self.figures:
            spread = self.figures["score_spread"]
            return [("score", f"{self.figures['score']:.2f} ± {spread:.2f}", "")]
        names = [name[13:] for name in self.figures if name.startswith("share_spread_")]
        return [
            (
                f"against {name}",
                f"{self.figures[f'share_{name}']:.1%} ± {self.figures[f'share_spread_{name}']:.1%}",
                f"{self.figures[f'margin_{name}']:+.1f}",
            )
            for name in names
        ]

    def summary(self) -> str:
        """Say in a line how it went."""
        total = sum(self.seconds.values()) or 1.0
        parts = ", ".join(f"{part} {s / total:.0%}" for part, s in self.seconds.items())
        pace = self.decisions / total
        return (
            f"{self.decisions:,} decisions at {pace:,.0f} a second ({parts}); "
            f"the network of update {self.update}; promoted last at {self.promoted_at}"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            **self.figures, "update": self.update, "promoted_at": self.promoted_at,
            "updates": self.updates, "decisions": self.decisions, "seconds": dict(self.seconds),
        }  # fmt: skip


@dataclass(slots=True)
class Snapshot:
    """A network as it was at one time, and how good it was then."""

    weights: dict[str, np.ndarray] = field(default_factory=dict)
    figures: dict[str, float] = field(default_factory=dict)
    update: int = 0
    scale: float = 1.0  # of rewards, and so of its values

    def about(self) -> dict[str, Any]:
        """Give what is noted beside its weights."""
        return {"update": self.update, "figures": self.figures, "scale": self.scale}

    def kept(self) -> dict[str, np.ndarray]:
        """Give what a checkpoint keeps of it."""
        figures = np.array([self.update, self.scale, *self.figures.values()], np.float64)
        return {"best.figures": figures, **{f"best.{n}": a for n, a in self.weights.items()}}

    def take_up(self, kept: Mapping[str, np.ndarray], names: list[str], columns: list[str]) -> None:
        """Take it from a checkpoint."""
        self.weights = {name: kept[f"best.{name}"] for name in names if f"best.{name}" in kept}
        update, self.scale, *figures = kept["best.figures"].tolist()
        self.update = int(update)
        self.figures = dict(zip(columns, figures, strict=True))


def train_network(
    kind: type[Learner], game: Game, settings: Playing, seed: int, run: Run,
    doubts: Mapping[str, str],
) -> Learned:  # fmt: skip
    """Let a learner train its network. doubts: figures to plot beside its strength, and labels."""
    judge = Judge(game, settings.rivals, settings.evaluate_games, seed, settings.cores or None)
    learner = kind(game, settings, seed)
    causes_told = (*learner.told, *COUNTED)
    known_always = ["update", "decisions", "seconds", *causes_told]
    columns = [*known_always, *judge.columns]
    run.unknown_at_first = causes_told  # before the first update
    best = Snapshot()  # another takes its place only if it is better beyond chance

    def evaluate() -> dict[str, float]:
        agent = learner.agent()
        figures = judge.measure(agent, learner.updates)
        if not best.weights or judge.is_better(agent, learner.agent(best.weights), learner.updates):
            best.weights, best.figures = learner.weights(), figures
            best.update, best.scale = learner.updates, learner.boards.scale
        return figures

    kept = run.load_checkpoint()
    spent = 0.0
    if kept is None:
        nothing = dict.fromkeys(causes_told, 0.0)
        run.log(update=0, decisions=0, seconds=0.0, **nothing, **evaluate())
    else:
        _resume(run, learner, best, kept, columns, judge)
        spent = float(kept["seconds"][0])
    began = time.monotonic() - spent
    journal = Journal(run, learner.updates + 1)

    def keep() -> None:
        seconds = np.array([time.monotonic() - began])
        parts = np.array(list(learner.seconds.values()))
        run.save_checkpoint(
            {**learner.kept(), **best.kept(), "curve": run.curve(), "seconds": seconds,
             "parts": parts, "steps": run.steps(known_always)}
        )  # fmt: skip
        now = latest()
        run.save_snapshot(learner.updates, model, lambda: (now.weights, {**about, **now.about()}))

    def latest() -> Snapshot:
        figures = {name: run.rows[-1][name] for name in judge.columns}
        return Snapshot(learner.weights(), figures, learner.updates, learner.boards.scale)

    model = learner.KIND.model
    about = {"layers": settings.layers, "aim": learner.aim}
    doubt, label = next(iter(doubts.items()))
    whole = True  # a step that failed halfway must not be kept
    try:
        while learner.updates < learner.total:
            with in_one_piece():
                whole = False
                causes = learner.update()
                at = learner.updates
                told = dict(causes)
                counts = {"update": at, "decisions": learner.decisions}
                if at % settings.evaluate_every == 0 or at == learner.total:
                    figures = evaluate()
                    told |= figures
                    run.log(**counts, seconds=time.monotonic() - began, **causes, **figures)
                else:
                    run.report(**counts, seconds=time.monotonic() - began, **causes)
                journal.write(at, told)
                whole = True
            name, figure = main_figure({k: run.rows[-1][k] for k in judge.columns})
            run.tell(
                at, learner.total,
                f"{name.replace('_', ' ')} {figure:.3g}, {label} {causes[doubt]:.2f}",
            )  # fmt: skip
            if run.is_time:
                keep()
    finally:
        if whole:
            keep()
        journal.close()
    last = latest()
    # The last one has learned longest; it stays behind only if the best so far is better for sure.
    chosen = last
    if judge.is_better(learner.agent(best.weights), learner.agent(last.weights), last.update + 1):
        chosen = best
    path = run.finish(
        model, chosen.weights, {**about, **chosen.about()},
        lambda rows, to: plot(rows, to, run, learner.KIND.learner, doubts),
    )  # fmt: skip
    if run.folder is not None:
        for file, network in ((BEST, best), (LAST, last)):
            noted = {**run.about, **about, **network.about()}
            save_model(run.folder / file, model, game, network.weights, noted)
    return Learned(
        agent=learner.agent(chosen.weights, chosen.scale), figures=chosen.figures,
        update=chosen.update, promoted_at=best.update, updates=learner.updates,
        decisions=learner.decisions,
        seconds=learner.seconds, path=path,
    )  # fmt: skip


def _resume(
    run: Run,
    learner: Learner,
    best: Snapshot,
    kept: dict[str, np.ndarray],
    columns: list[str],
    judge: Judge,
) -> None:
    """Go on from a checkpoint, if it is whole."""
    learner.enter_stage_of(kept)
    like = {name: array for name, array in learner.like().items() if name != "progress"}
    like |= {"progress": np.zeros(4, np.int64), "curve": np.zeros((1, len(columns)))}
    like |= {"seconds": np.zeros(1), "parts": np.zeros(len(learner.seconds))}
    like |= {"best.figures": np.zeros(2 + len(judge.columns))}
    run.check({name: np.atleast_1d(array) for name, array in kept.items()}, like)
    learner.take_up(kept)
    best.take_up(kept, list(learner.shape.sizes()), judge.columns)
    check_weights(best.weights, learner.shape, "The checkpoint")
    learner.seconds = dict(zip(learner.seconds, kept["parts"].tolist(), strict=True))
    steps = kept.get("steps")  # earlier checkpoints have none
    if steps is not None and steps.shape[1:] != (len(columns) - len(judge.columns),):
        steps = None
    run.restore(kept["curve"], columns, steps)
    for row in run.rows:
        row["update"], row["decisions"] = int(row["update"]), int(row["decisions"])
