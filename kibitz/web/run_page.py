"""The page of a run: its curve as it grows, what can be done, and a game against it."""

from __future__ import annotations

import html
from collections.abc import Callable
from typing import Any

from nicegui import ui

from kibitz.core.game import Game
from kibitz.play.seats import HUMAN
from kibitz.web.curve import (
    chart,
    colour_of,
    counts_of,
    figures_of,
    is_steep,
    name_of,
    newest,
    usual,
)
from kibitz.web.frame import button, frame, link, raw, words
from kibitz.web.hall import Hall
from kibitz.web.plan import learner_options
from kibitz.web.reviewing import table_of
from kibitz.web.train_page import LOOK_SECONDS, badge, bar, figure, how_far
from kibitz.web.training import State, Training

NOT_YET = "There is no agent yet: it takes a moment, with some learners until the end"
NO_ROWS_YET = "The first figures come when it has learned a little."
NO_ROWS = "It ended before there were any figures."
HELD = "Stopped runs go on from their checkpoint, after a restart of the server too."


class RunPage:
    """One browser's page of a run."""

    def __init__(self, hall: Hall, run: Training, person: str) -> None:
        self.hall, self.run, self.person = hall, run, person
        self.shown: list[str] | None = None  # figures, if somebody has chosen
        self.over = ""
        self.log: bool | None = None  # whether by orders of magnitude, if somebody has chosen
        self.seen: Any = None
        self.seen_rows: Any = None
        self.look: Any = None

    def build(self) -> None:
        """Make the page."""
        run, plan = self.run, self.run.plan
        with frame(plan.title, "/train"):
            with ui.element("div").classes("kb-stack kb-tight"):
                raw('<a class="kb-small" href="/train">All runs</a>')
                with ui.element("div").classes("kb-spread"):
                    words(plan.title, tag="h1")
                    self.badge = raw(badge(run.state)).props('role="status" aria-live="polite"')
                words(plan.game.described() + f", seed {plan.seed}", "kb-quiet kb-small")
            with ui.element("section").classes("kb-card"):
                self.bar = raw(bar(run))
                with ui.element("div").classes("kb-spread"):
                    self.far = words("", "kb-far")
                    self.said = words("", "kb-quiet")
                self.reason = ui.element("div")
                self.make_buttons()
            with ui.element("section").classes("kb-card"):
                with ui.element("div").classes("kb-spread"):
                    words("Curve", tag="h2")
                    self.across = ui.element("div").classes("kb-row")
                self.empty = words("", "kb-quiet")
                self.chips = ui.element("div").classes("kb-row kb-legend").props('role="group"')
                self.chips.props["aria-label"] = "figures to show"
                self.chart = ui.echart(chart([], "", []), renderer="svg").classes("kb-curve")
                self.chart.props["aria-label"] = "how the run went"
            self.result = ui.element("section").classes("kb-card")
            with ui.element("details").classes("kb-card"):
                words("Settings", tag="summary").style("cursor: pointer; font-weight: 650")
                self.show_settings()
        self.refresh()
        ui.timer(LOOK_SECONDS, self.refresh)

    def show_settings(self) -> None:
        """List the settings, and the command that does the same."""
        plan = self.run.plan
        changed = plan.changed()
        rows = [
            (("* " if option.name in changed else "") + option.name.replace("_", " "),
             option.say(plan.settings[option.name]) or "none")
            for option in learner_options(plan.learner) if option.name in plan.settings
        ]  # fmt: skip
        with ui.element("div").classes("kb-scroll"):
            table_of(("setting", "value"), rows)
        if changed:
            words("* differs from the usual value", "kb-quiet kb-small")
        words("The same in a terminal:", "kb-quiet kb-small")
        raw(f"<code>{html.escape(plan.command())}</code>").classes("kb-scroll")
        link("New run like this", f"/train/new?like={self.run.id}")

    # --- showing -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show how the run stands, if that has changed."""
        run = self.run
        if run.id not in {other.id for other in self.hall.runs.all()}:
            ui.navigate.to("/train")
            return
        now = run.version, run.state is State.AT_WORK and int(run.seconds)
        if now == self.seen:
            return
        self.seen = now
        self.badge.set_content(badge(run.state))
        self.bar.set_content(bar(run))
        self.far.set_content(how_far(run))
        self.said.set_content(html.escape(self.saying()))
        look = run.state, run.has_model, bool(run.rows.count), run.reason
        if look != self.look:
            self.look = look
            self.show_reason()
            self.show_buttons()
            self.show_result()
        self.show_curve()

    def saying(self) -> str:
        """Say what it is doing."""
        if self.run.state.is_waiting:
            return "It begins as soon as another run makes room."
        if self.run.state is State.AT_WORK and not self.run.told:
            return "Getting ready. The first time it compiles."
        return self.run.words

    def show_reason(self) -> None:
        """Say why it does not go on."""
        self.reason.clear()
        if self.run.reason:
            bad = " bad" if self.run.state is State.FAILED else ""
            with self.reason, ui.element("div").classes(f"kb-banner{bad}"):
                words(self.run.reason)
                if bad:
                    link("Change the settings", f"/train/new?like={self.run.id}", "small")

    def make_buttons(self) -> None:
        """Make all buttons once: whoever goes by keyboard stays where they are."""
        id, runs = self.run.id, self.hall.runs
        made: dict[str, ui.element] = {}
        self.buttons = made
        with ui.element("div").classes("kb-actions"):
            with ui.element("div").classes("kb-row"):
                made["play"] = button("Play against it", self.play)
                made["watch"] = button("Watch it play", self.watch)
            with ui.element("div").classes("kb-row"):
                made["pause"] = button("Pause", self.doing(runs.pause))
                made["resume"] = button("Resume", self.doing(runs.resume))
                made["stop"] = button("Stop", self.doing(runs.stop))
                made["stop"].props["title"] = HELD
            with ui.element("div").classes("kb-row"):
                made["model"] = link("Model", f"/train/{id}/model", "small")
                made["curve"] = link("Curve as CSV", f"/train/{id}/curve", "small")
                made["delete"] = button("Delete", self.delete, "small")

    def show_buttons(self) -> None:
        """Offer what can be done now."""
        run, state = self.run, self.run.state
        own = self.hall.runs.may_change(run, self.person)
        able = run.has_model
        goes = (state.is_alive or state.is_waiting) and state is not State.STOPPING
        waits = state.is_paused or state in (State.STOPPED, State.FAILED)
        offered = {
            "play": able or state.is_alive, "watch": able, "pause": own and state is State.AT_WORK,
            "resume": own and waits, "stop": own and goes, "model": able,
            "curve": bool(run.rows.count), "delete": own,
        }  # fmt: skip
        for name, made in self.buttons.items():
            made.set_visibility(offered[name])
        for name, is_main in (("play", able), ("resume", not able)):
            self.buttons[name].classes(
                add="main" if is_main else None, remove=None if is_main else "main"
            )
        self.buttons["play"].props["title"] = "" if able else NOT_YET

    def doing(self, work: Callable[[str, str], None]) -> Callable[[], None]:
        """Make what a button does."""

        def done() -> None:
            work(self.run.id, self.person)
            self.refresh()

        return done

    def show_result(self) -> None:
        """Show what the learner says in the end."""
        result = self.run.result
        shown = self.run.state is State.DONE and bool(result)
        self.result.set_visibility(shown)
        self.result.clear()
        if not shown:
            return
        with self.result:
            words("Result", tag="h2")
            words(str(result.get("summary", "")), tag="p")
            rows = [tuple(row) for row in result.get("rows", [])]
            if rows:
                with ui.element("div").classes("kb-scroll"):
                    table_of(tuple(result.get("columns", ())), rows)

    def show_curve(self) -> None:
        """Draw what is known so far."""
        rows = list(self.run.rows)
        figures = figures_of(rows)
        counts = counts_of(rows)
        self.empty.set_visibility(not rows)
        busy = self.run.state.is_alive or self.run.state.is_waiting
        self.empty.set_content(NO_ROWS_YET if busy else NO_ROWS)
        self.chart.set_visibility(bool(rows))
        if not rows:
            return
        if self.over not in counts:
            self.over = counts[0] if counts else next(iter(rows[0]))
        shown = [name for name in self.chosen(figures) if name in figures]
        log = is_steep(rows, self.over) if self.log is None else self.log
        now = self.run.rows.count, self.over, log, shown, figures, counts
        if now == self.seen_rows:
            return
        if self.seen_rows is None or now[1:] != self.seen_rows[1:]:
            self.show_chips(figures, shown, counts)
            self.show_across(counts, log)
        self.seen_rows = now
        for name, value in zip(self.values, figures, strict=True):
            name.set_content(figure(newest(rows, value)))
        self.chart.options.clear()
        self.chart.options.update(chart(rows, self.over, shown, log))
        self.chart.update()

    def chosen(self, figures: list[str]) -> list[str]:
        """Give the figures that are to be shown."""
        return usual(figures) if self.shown is None else self.shown

    def show_chips(self, figures: list[str], shown: list[str], counts: list[str]) -> None:
        """Make a button for every figure: its colour, its name, what it is now."""
        self.chips.clear()
        self.values = []
        with self.chips:
            for name in figures:
                on = name in shown
                made = ui.element("button").classes("kb-button small kb-figure")
                made.classes("on" if on else "")
                made.props(f'type="button" aria-pressed="{str(on).lower()}"')
                made.on("click", lambda name=name: self.toggle(name))
                with made:
                    raw(f'<i style="background:{colour_of(name, figures)}"></i>', tag="span")
                    words(name_of(name), tag="span")
                    self.values.append(words("", "kb-quiet", tag="span"))

    def show_across(self, counts: list[str], log: bool) -> None:
        """Offer over what the figures are shown."""
        self.across.clear()
        with self.across:
            words("over", "kb-quiet")
            options = {name: name_of(name) for name in counts or [self.over]}
            box = ui.select(options, value=self.over, on_change=self.choose_over)
            box.props('outlined dense aria-label="over"')
            made = button("log", lambda: self.choose_log(not log), "small" + (" on" if log else ""))
            made.props(f'aria-pressed="{str(log).lower()}" title="By orders of magnitude"')

    def toggle(self, name: str) -> None:
        """Show a figure, or hide it."""
        figures = figures_of(list(self.run.rows))
        chosen = set(self.chosen(figures)) ^ {name}
        self.shown = [one for one in figures if one in chosen]
        self.show_curve()

    def choose_over(self, event: Any) -> None:
        """Show the figures over something else."""
        if event.value in counts_of(list(self.run.rows)):
            self.over = event.value
            self.show_curve()

    def choose_log(self, log: bool) -> None:
        """Show the beginning as wide as the rest, or not."""
        self.log = log
        self.show_curve()

    # --- doing ---------------------------------------------------------------------------------

    async def play(self) -> None:
        """Open a table against the agent as it is now."""
        game = self.run.plan.game
        await self.open([HUMAN, *[""] * (game.players - 1)], [0])

    async def watch(self) -> None:
        """Open a table at which the agent plays all seats."""
        await self.open([""] * self.run.plan.game.players, [])

    async def open(self, seats: list[str], mine: list[int]) -> None:
        """Open a table; the agent takes all seats that are not for people."""
        game: Game = self.run.plan.game
        runs = self.hall.runs
        agent = await runs.snapshot(self.run.id)
        who = [seat or agent for seat in seats]
        called = ["" if one == HUMAN else runs.called(one) for one in who]
        sitting = self.hall.open(game, who, self.person, sit_at=mine, called=called)
        ui.navigate.to(f"/table/{sitting.id}")

    async def delete(self) -> None:
        """Delete the run, after a second thought."""
        with ui.dialog() as dialog, ui.element("div").classes("kb-card"):
            words("Delete this run?", tag="h2")
            words("What it has learned is gone then, and tables against it cannot go on.")
            with ui.element("div").classes("kb-row end"):
                button("Keep it", lambda: dialog.submit(False))
                button("Delete it", lambda: dialog.submit(True), "main")
        if await dialog:
            await self.hall.runs.delete(self.run.id, self.person)
            ui.navigate.to("/train")
