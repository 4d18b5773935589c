"""The page of a league: play on, the ladder, who beats whom, ratings over time, sample games."""

from __future__ import annotations

import asyncio
import functools
import html
import time
from collections.abc import Coroutine
from typing import Any

from nicegui import ui

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.web.choices import Choices
from kibitz.web.frame import button, frame, raw, telling, words
from kibitz.web.hall import Hall
from kibitz.web.leagues import Entry, Leagues, View
from kibitz.web.rating_chart import rating_chart, rating_options

SECTIONS = ("ladder", "matrix", "history", "circles", "seats", "samples")
LOOK_SECONDS = 15.0  # between two looks whether others have played
RATE_SECONDS = 1.5  # between two ladders while it is played here, at least
MORE = 400  # games of everybody that are offered
WORKING = '<span class="kb-spin"></span> Rating. A large league takes some seconds.'


class LeaguePage:
    """One browser's page of a league."""

    def __init__(self, hall: Hall, leagues: Leagues, entry: Entry, game: Game, person: str) -> None:
        self.hall = hall
        self.leagues = leagues
        self.entry = entry
        self.game = game
        self.person = person
        self.view: View | None = None
        self.client = ui.context.client
        self.cards: dict[str, ui.element] = {}
        self.figures: dict[str, Choices] = {}
        self.chart: ui.echart | None = None
        self.next_look = 0.0
        self.looking = False
        self.was_running = False
        self._tasks: set[asyncio.Task[None]] = set()

    # --- building ------------------------------------------------------------------------------

    def build(self) -> None:
        """Make all elements, then show what is known."""
        key = self.entry.key
        with frame(self.entry.name, "/league"):
            with ui.element("div").classes("kb-stack kb-tight"):
                raw('<a href="/league">All leagues</a>').classes("kb-small")
                words(self.entry.name, "kb-breaks", tag="h1")
                self.about = words(self.game.title, "kb-quiet")
            with ui.element("section").classes("kb-card"):
                self.controls()
            self.waiting = raw(WORKING).classes("kb-quiet").props('role="status"')
            for name in SECTIONS:
                self.cards[name] = ui.element("div").classes("kb-card")
                self.cards[name].set_visibility(False)
            for name, choose in (("matrix", self.watch), ("samples", self.replay)):
                with self.cards[name]:
                    self.figures[name] = Choices(on_choose=choose)
            for name in ("ladder", "circles", "seats"):
                with self.cards[name]:
                    self.figures[name] = Choices()
            files = (("report", "Report"), ("games.csv", "Games (CSV)"), ("ladder.json", "JSON"))
            self.files = raw(
                "".join(
                    f'<a class="kb-button" href="/league/{key}/{name}" target="_blank">{word}</a>'
                    for name, word in files
                )
            ).classes("kb-row")
            self.files.set_visibility(False)
        self.leagues.listen(key, self.heard)
        self.client.on_delete(lambda: self.leagues.forget(key, self.heard))
        self.client.on_connect(self.look)
        ui.timer(LOOK_SECONDS, self.look, immediate=False)
        known = self.leagues.known(key)
        if known is not None:
            self.show(known)
        self.show_run()

    def controls(self) -> None:
        """Make what lets agents play, and join."""
        self.run_box = ui.element("div").classes("kb-row")
        with self.run_box:
            self.more = ui.input(value=str(MORE)).style("width: 112px")
            self.more.props('outlined dense inputmode="numeric" aria-label="more games of each"')
            words("more games of each agent", tag="span")
            self.play_button = button("Play", self.play, "main")
        self.progress = ui.element("div").classes("kb-stack kb-tight")
        with self.progress:
            with ui.element("div").classes("kb-spread"):
                self.far = words("").props('role="status"')
                button("Stop", self.stop, title="Stop playing; what was played is kept")
            self.bar = raw("").classes("kb-bar").props('role="progressbar" aria-label="played"')
        self.said = words("").props('role="status"')
        with ui.element("details").classes("kb-more"):
            words("Agents who take part", tag="summary")
            self.members = ui.element("div").classes("kb-list")
            with ui.element("div").classes("kb-row").style("margin-top: 12px"):
                choices = {
                    one.who: f"{one.who}: {one.about}" for one in self.hall.offers(self.game)
                }
                self.newcomers = ui.select(choices, multiple=True, value=[], with_input=True)
                self.newcomers.props(
                    'outlined dense use-chips options-dense label="who shall join" '
                    'aria-label="who shall join"'
                ).classes("kb-grow")
                button("Add", self.add)

    # --- showing -------------------------------------------------------------------------------

    async def look(self) -> None:
        """See whether the league has changed, and show it."""
        if self.looking or self.is_gone():
            return
        self.looking = True
        began = time.monotonic()
        try:
            view = await self.leagues.view(self.entry.key)
        except KibitzError as error:
            self.waiting.set_content(html.escape(str(error)))
            self.waiting.set_visibility(True)
        else:
            self.show(view)
        finally:
            self.looking = False
            spent = time.monotonic() - began
            self.next_look = time.monotonic() + max(RATE_SECONDS, 4 * spent)

    def show(self, view: View) -> None:
        """Show all figures."""
        self.waiting.set_visibility(False)
        if self.view is not None and self.view["stamp"] == view["stamp"]:
            return
        self.view = view
        changed = self.game.described().removeprefix(self.game.name).strip()
        settings = f" ({changed})" if changed else ""
        self.about.set_content(
            html.escape(
                f"{self.game.title}{settings}: {view['games']:,} games, {view['moves']:,} moves, "
                f"rounds: {view['rounds']:,}, seed {view['seed']}."
            )
        )
        for name, figure in self.figures.items():
            figure.show(view[name])
            self.cards[name].set_visibility(bool(view[name]))
        self.show_history(view)
        self.show_members(view)
        self.files.set_visibility(view["games"] > 0)

    def show_history(self, view: View) -> None:
        """Draw the ratings over time."""
        history, together = view["history"], view["cooperative"]
        several = len(history["rounds"]) > 1  # one round is no course of time
        self.cards["history"].set_visibility(several)
        unit = "points with oneself" if together else "rating"
        digits = 2 if together else 0
        if not several:
            return
        if self.chart is None:
            with self.cards["history"]:
                words(f"{unit.capitalize()} over time", tag="h2")
                self.chart = rating_chart(history, unit, digits)
                words(
                    "After each round, from all games so far; the band is the interval. Point at a "
                    "name to bring it to the front, choose it to take it away.",
                    "kb-quiet kb-small",
                )  # fmt: skip
        else:
            self.chart.options.clear()
            self.chart.options.update(rating_options(history, unit, digits))
            self.chart.update()

    def show_members(self, view: View) -> None:
        """List who takes part."""
        self.members.clear()
        with self.members:
            for member in view["members"]:
                out = member["suspended"]
                change = functools.partial(self.suspend, member["id"], not out)
                with ui.element("div").classes("kb-item"):
                    state = f"suspended: {out}" if out else f"{member['games']:,} games"
                    raw(
                        f"<b>{html.escape(member['name'])}</b> "
                        f'<span class="kb-quiet kb-small">{html.escape(state)}</span>'
                    ).classes("kb-breaks")
                    button(
                        "Readmit" if out else "Suspend", change, "small",
                        f"{'Readmit' if out else 'Suspend'} {member['name']}",
                    )  # fmt: skip

    def show_run(self) -> None:
        """Show how far a run is, or how it ended."""
        run = self.leagues.runs.get(self.entry.key)
        running = run is not None and not run.over
        self.run_box.set_visibility(not running)
        self.progress.set_visibility(running)
        self.said.set_visibility(bool(run and run.over))
        if run is None:
            return
        percent = int(100 * run.part)
        told = f"{percent}%, until everybody has {run.wanted:,} games" if run.total else "starting"
        far = f"Playing: {told}"
        if run.stage.is_preparing:
            far = f"Preparing agents: {run.stage.counted()}"
        self.far.set_content(f'<span class="kb-spin"></span> {far}')
        self.bar.set_content(f'<div style="width: {percent}%"></div>')
        self.bar.props["aria-valuenow"] = percent
        self.said.set_content(html.escape(run.said))
        self.said.classes(replace="kb-bad" if run.failed else "kb-quiet")

    def is_gone(self) -> bool:
        """Tell whether the browser has left this page."""
        return self.client.id not in type(self.client).instances

    def heard(self) -> None:
        """Take note of what happens to the league; called often while it is played."""
        if self.is_gone():
            self.leagues.forget(self.entry.key, self.heard)
            return
        self.show_run()
        running = self.leagues.is_running(self.entry.key)
        if not running or time.monotonic() >= self.next_look:
            self.soon(self.look_again() if not running else self.look())

    async def look_again(self) -> None:
        """Look once more when nobody looks, so that the last games are shown too."""
        while self.looking:
            await asyncio.sleep(0.05)
        await self.look()

    def soon(self, work: Coroutine[Any, Any, None]) -> None:
        """Do something in this page's name, without waiting for it."""

        async def run() -> None:
            with self.client:
                await work

        task = asyncio.create_task(run())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # --- doing ---------------------------------------------------------------------------------

    async def play(self) -> None:
        """Let everybody play so many more games."""
        await self.leagues.play(self.entry.key, self.more.value)

    async def stop(self) -> None:
        """Stop that."""
        await self.leagues.halt(self.entry.key)

    async def add(self) -> None:
        """Let the agents that are chosen join."""
        await self.leagues.add(self.entry.key, list(self.newcomers.value or []))
        self.newcomers.set_value([])

    async def suspend(self, id: int, suspended: bool) -> None:
        """Let a member play no more, or again."""
        await self.leagues.suspend(self.entry.key, id, suspended)

    async def watch(self, choice: object) -> None:
        """Open a table at which the two of a cell play, and go there."""

        async def work() -> None:
            view = self.view or await self.leagues.view(self.entry.key)
            who = self.leagues.pair(view, self.game, choice)
            sitting = self.hall.open(self.game, who, self.person)
            sitting.paused = False
            sitting.changed()
            ui.navigate.to(f"/table/{sitting.id}")

        await telling(work)()

    async def replay(self, choice: object) -> None:
        """Lay a sample game on a table, and go there."""

        async def work() -> None:
            said = str(choice)
            number = int(said) if said.isdecimal() and len(said) < 10 else -1
            data = await self.leagues.record(self.entry.key, number)
            sitting = await self.hall.read(data, self.person)
            ui.navigate.to(f"/table/{sitting.id}?ply=0")

        await telling(work)()
