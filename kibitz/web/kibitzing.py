"""Kibitz: what would this agent do here, and why? Several side by side, and on the board."""

from __future__ import annotations

import asyncio
import html
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from nicegui import ui

from kibitz.core.agent import CHANCE, POINTS
from kibitz.core.errors import KibitzError
from kibitz.core.table import Table
from kibitz.web.agent_settings import AgentSettings, add_choice
from kibitz.web.frame import button, raw, words
from kibitz.web.sitting import Refused
from kibitz.web.status import SPIN, bar_of
from kibitz.web.thinking import THINKS, Stage

if TYPE_CHECKING:
    from kibitz.web.table import TablePage

MOST_ASKED = 4  # agents side by side
LISTED = 8  # options of each
FINDING = "Finding out who plays this game best"
CHANCES = "Shading on the board: the chance, as the first of them sees it."
VERDICTS = "Shading on the board: from a sure loss, 0%, to a sure win, 100%."
RELATIVE = "Shading on the board: from the worst option, 0%, to the best, 100%."
CHOICE = "Shading on the board: what the first of them would do."


def shades(thoughts: Sequence[Mapping[str, Any]], action: int) -> tuple[dict[int, float], str]:
    """Turn what an agent thinks into opacities from 0 to 1, and say what they mean."""
    values = {t["action"]: t["value"] for t in thoughts if t["value"] is not None}
    if not values:
        return {action: 1.0}, CHOICE
    low, high = min(values.values()), max(values.values())
    if low >= 0.0 and high <= 1.0:
        return values, CHANCES
    if low >= -1.0 and high <= 1.0:
        return {option: (value + 1) / 2 for option, value in values.items()}, VERDICTS
    span = high - low or 1.0
    return {option: (value - low) / span for option, value in values.items()}, RELATIVE


def in_unit(value: float | None, unit: str) -> str:
    """Write a value as people read it."""
    if value is None:
        return ""
    if unit == CHANCE:
        return f"{value:.0%}"
    return f"{value:+.1f} points" if unit == POINTS else f"{value:+.3f}"


class KibitzPanel:
    """The panel: whom to ask, and what they say."""

    def __init__(self, page: TablePage) -> None:
        self.page = page
        self.hall = page.hall
        game = page.sitting.game
        self.said: dict[str, dict[str, Any]] = {}
        self.asked_for: tuple[int, ...] | None = None  # the moves that led to the position
        self.asking = 0
        self.following = False
        self.stages: dict[str, ui.html] = {}  # of those who have not answered yet
        self.reached: dict[str, Stage] = {}  # what these show
        options = {offer.who: offer.who for offer in self.hall.offers(game)}
        self.chosen = (
            ui.select(options, multiple=True, value=[], label="Whom to ask")
            .props('outlined dense use-chips max-values="4" options-dense')
            .style("width: 100%")
        )
        with ui.element("div").classes("kb-row"):
            button("Ask", self.ask, "main", "What would they do here? (k)")
            button("Settings", self.set_agent, "plain")
            self.always = ui.checkbox("at every move", on_change=lambda: self.follow(None))
        self.list = ui.element("div").classes("kb-stack")
        page.start_soon(self.choose_best())
        self.show()

    async def choose_best(self) -> None:
        """Ask the strongest player unless somebody else was chosen."""
        best = (await self.hall.levels(self.page.sitting.game))["best"]
        if not self.chosen.value:
            self.chosen.value = [best]

    def set_agent(self) -> None:
        """Ask an agent with settings of its own."""
        who = next(iter(self.chosen.value), "")
        AgentSettings(
            self.hall, self.page.sitting.game, who, lambda who: add_choice(self.chosen, who)
        )

    def first(self) -> str:
        """Name the agent that is asked first."""
        who = self.chosen.value
        return self.hall.checked(self.page.sitting.game, who[0]) if who else "random"

    def follow(self, table: Table | None) -> None:
        """Forget what was said of another position; ask again if that is wished."""
        table = table or self.page.shown()
        now = tuple(table.actions)
        if self.asked_for is not None and now != self.asked_for:
            self.said, self.asked_for = {}, None
            self.show()
        may = self.page.sitting.may_ask(self.page.person, max(table.seat, 0))
        wanted = self.always.value and self.chosen.value and self.asked_for != now
        able = may and not table.over and not self.page.needs_curtain()
        if wanted and able and not self.following:  # one at a time; then the newest is next
            self.following = True
            self.page.start_soon(self.keep_asking())

    async def keep_asking(self) -> None:
        """Ask about the position that is shown, and go on until it is the one that was asked of."""
        try:
            await self.ask()
        finally:
            self.following = False
        if self.page.is_there:
            self.follow(None)

    async def ask_best(self) -> None:
        """Ask the strongest player alone: a hint."""
        self.list.clear()
        with self.list:
            waiting = raw(f"{SPIN} {FINDING} …")

        def told(stage: Stage) -> None:
            if stage.is_preparing:
                waiting.set_content(f"{SPIN} {FINDING}: {stage.counted()}{bar_of(stage)}")

        try:
            best = (await self.hall.levels(self.page.sitting.game, told))["best"]
        finally:
            self.show()
        await self.ask([best])

    async def ask(self, whom: Sequence[str] | None = None) -> None:
        """Ask all who were chosen about the position that is shown."""
        page, game = self.page, self.page.sitting.game
        table = page.shown()
        if table.over:
            raise Refused("The game is over here. Go back to a position to ask about it.")
        if not page.sitting.may_ask(page.person, table.seat) or page.needs_curtain():
            raise Refused(
                "No help here: somebody else is to move, or this table was opened without help."
            )
        names = [self.hall.checked(game, who) for who in (whom or self.chosen.value)[:MOST_ASKED]]
        if not names:
            raise Refused("Choose whom to ask first.")
        now = tuple(table.actions)
        self.said, self.asked_for = {}, now
        self.asking += 1
        mine = self.asking
        self.reached = {}
        self.show(names)

        async def ask_one(who: str) -> None:
            try:
                said = await self.hall.explain(
                    page.key_of_thoughts(), table, who, partial(self.show_stage, mine, who)
                )
            except KibitzError as error:
                said = {"error": str(error)}
            if self.asking != mine or self.asked_for != now:
                return  # the position has changed meanwhile
            self.said[who] = said
            self.show(names)
            if who == names[0] and "error" not in said:
                page.opinion, self.caption = shades(said["thoughts"], said["action"])
                page.show_board(table)

        # The quick do not wait for the slow.
        await asyncio.gather(*map(ask_one, dict.fromkeys(names)))

    def show(self, names: Sequence[str] = ()) -> None:
        """Show what was said so far."""
        self.list.clear()
        self.stages = {}
        with self.list:
            if not self.said and not names:
                words(
                    "Ask agents what they would do in the position that is shown: their values, "
                    "and their reasons in words.", "kb-quiet kb-small",
                )  # fmt: skip
            for who in names or self.said:
                with ui.element("div").classes("kb-opinion"):
                    words(who, "who")
                    if who not in self.said:
                        self.stages[who] = raw("")
                        self.show_stage(self.asking, who, self.reached.get(who, THINKS))
                    elif "error" in self.said[who]:
                        words(self.said[who]["error"], "kb-bad")
                    else:
                        self.show_opinion(self.said[who])
            if "error" not in self.said.get(next(iter(names), ""), {"error": ""}):
                words(getattr(self, "caption", ""), "kb-quiet kb-small")

    def show_stage(self, asking: int, who: str, stage: Stage) -> None:
        """Show how far an agent is that was asked."""
        if asking != self.asking:
            return
        self.reached[who] = stage
        if who in self.stages and self.page.is_there:
            far = f": {stage.counted()}{bar_of(stage)}" if stage.is_preparing else ""
            self.stages[who].set_content(f"{SPIN} {stage.words()}{far}")

    def show_opinion(self, said: Mapping[str, Any]) -> None:
        """Show a choice, its reason, and what was thought of each option."""

        def in_names(text: str) -> str:
            return self.page.sitting.in_names(text, self.page.person)

        words(in_names(f"{said['words']}. {said['reason']}"))
        thoughts = [t for t in said["thoughts"] if t["value"] is not None or t["note"]]
        levels, _ = shades(said["thoughts"], said["action"])
        rows = []
        for thought in thoughts[:LISTED]:
            wide = 100 * levels.get(thought["action"], 0.0)
            value = in_unit(thought["value"], said["unit"])
            note = (
                f'<span class="note">{html.escape(in_names(thought["note"]))}</span>'
                if thought["note"]
                else ""
            )
            best = " best" if thought["action"] == said["action"] else ""
            rows.append(
                f'<div class="kb-thought{best}"><div class="bar" style="width:{wide:.0f}%"></div>'
                f"<span>{html.escape(in_names(thought['words']))}</span><span>{value}</span>{note}</div>"
            )
        raw("".join(rows))
        if len(thoughts) > LISTED:
            words(f"and {len(thoughts) - LISTED} more options", "kb-quiet kb-small")
