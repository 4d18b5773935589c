"""Train: all runs, how far they are, and the way to a new one."""

from __future__ import annotations

import html
from typing import Any

from nicegui import ui

from kibitz.core.registry import find_listed_game
from kibitz.web.curve import columns_of, figures_of, name_of, newest, usual
from kibitz.web.frame import frame, link, raw, words
from kibitz.web.runs import Runs
from kibitz.web.training import State, Training

FIRST_STEPS = (("tapnswap", "q-learning"), ("nim", "evolution"))
LOOK_SECONDS = 1.0  # between two looks at what has changed
MARKS = {  # never colour alone
    State.WAITING: ("…", "quiet"), State.AT_WORK: ("▶", "work"), State.PAUSING: ("‖", "quiet"),
    State.PAUSED: ("‖", "quiet"), State.STOPPING: ("■", "quiet"), State.STOPPED: ("■", "quiet"),
    State.DONE: ("✓", "good"), State.FAILED: ("!", "bad"),
}  # fmt: skip


def badge(state: State) -> str:
    """Say in markup how a run stands."""
    mark, kind = MARKS[state]
    return f'<span class="kb-state {kind}"><span aria-hidden="true">{mark}</span> {state}</span>'


def bar(run: Training) -> str:
    """Show in markup how much of a run is done."""
    share = 100 * run.share
    return (
        f'<div class="kb-bar" role="progressbar" aria-label="done" aria-valuenow="{share:.0f}">'
        f'<div style="width:{share:.2f}%"></div></div>'
    )


def in_words(seconds: float) -> str:
    """Say how long something takes."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h"


def figure(value: Any) -> str:
    """Write a number of a curve."""
    if isinstance(value, float) and not value.is_integer():
        return f"{value:.3g}"
    return f"{value:,.0f}" if isinstance(value, int | float) else str(value)


def last_figures(run: Training) -> str:
    """Say in a line what the curve has come to."""
    rows = list(run.rows)
    names = usual(figures_of(rows)) if columns_of(rows) else []
    return ", ".join(f"{name_of(name)} {figure(newest(rows, name))}" for name in names)


def how_far(run: Training) -> str:
    """Say how far a run is, in what time, and how long it will take."""
    spent = f" in {in_words(run.seconds)}" if run.total else ""
    left = f", about {in_words(run.left)} left" if run.left is not None else ""
    return f"{run.how_far()}{spent}{left}"


class TrainPage:
    """The list of runs, shown anew whenever something has changed."""

    def __init__(self, runs: Runs) -> None:
        self.runs = runs
        self.shown: dict[str, tuple[int | None, ui.html]] = {}

    def build(self) -> None:
        """Make the page."""
        with frame("Train", "/train"):
            with ui.element("div").classes("kb-spread"):
                with ui.element("div").classes("kb-stack kb-tight"):
                    words("Train", tag="h1")
                    words(
                        "Let an agent learn a game, watch it get better, and play against it on "
                        "the way.", "kb-quiet",
                    )  # fmt: skip
                link("New run", "/train/new", "main")
            self.list = ui.element("div").classes("kb-runs")
        self.show_all(self.runs.all())
        self.refresh()
        ui.timer(LOOK_SECONDS, self.refresh)

    def refresh(self) -> None:
        """Show what has changed; whoever goes by keyboard stays where they are."""
        runs = self.runs.all()
        if [run.id for run in runs] != list(self.shown):
            self.show_all(runs)
        for run in runs:
            version, shown = self.shown[run.id]
            if version != run.version:
                shown.set_content(self.card(run))
                self.shown[run.id] = run.version, shown

    def show_all(self, runs: list[Training]) -> None:
        """Make the list."""
        self.shown = {}
        self.list.clear()
        with self.list:
            if not runs:
                self.show_none()
            for run in runs:
                with ui.element("article").classes("kb-run"):
                    to = ui.element("a")
                    to.props["href"] = f"/train/{run.id}"
                    with to:
                        self.shown[run.id] = None, raw("").style("display: contents")

    def show_none(self) -> None:
        """Say what to begin with."""
        with ui.element("div").classes("kb-card"):
            words("Nothing is being trained yet", tag="h2")
            words(
                "Begin with something small: q-learning on TapnSwap learns to play perfectly in "
                "seconds, evolution on Nim in a minute.", tag="p",
            )  # fmt: skip
            with ui.element("div").classes("kb-row"):
                for game, learner in FIRST_STEPS:
                    address = f"/train/new?game={game}&learner={learner}"
                    link(f"{learner} on {find_listed_game(game).title}", address)

    def card(self, run: Training) -> str:
        """Show a run in the list."""
        said = run.reason or last_figures(run) or run.words
        kind = " kb-bad" if run.state is State.FAILED else ""
        game = run.plan.game
        name = f"{run.id}, {game.described()}" if game.changed() else run.id
        return (
            f'<span class="what"><b>{html.escape(run.plan.title)}</b>'
            f'<span class="kb-quiet kb-small">{html.escape(name)}</span></span>{badge(run.state)}'
            f'{bar(run)}<span class="kb-small kb-quiet">{how_far(run)}</span>'
            f'<span class="kb-small said{kind}">{html.escape(said[:160])}</span>'
        )
