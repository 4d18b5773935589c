"""What can be done about a table: links, pace, records, another game, resigning, the rules."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from kibitz.web.frame import button, raw, tell, words
from kibitz.web.rules_text import rules_markup
from kibitz.web.sitting import PACES, Refused

if TYPE_CHECKING:
    from kibitz.web.table import TablePage

# Some browsers refuse, for instance where a page does not come over a safe connection.
COPY = """
const link = new URL("{path}", location.href).href;
try {{ await navigator.clipboard.writeText(link); return ""; }} catch {{ return link; }}
"""
COPY_SECONDS = 60.0  # a browser may ask whether it may


class AboutPanel:
    """The panel that says what this table is and offers what one may do about it."""

    def __init__(self, page: TablePage) -> None:
        self.page = page
        sitting = page.sitting
        words(sitting.game.described(), "kb-quiet kb-small")
        with ui.element("div").classes("kb-row"):
            button("Copy link to the table", self.copy_table, "small")
            button("Copy link to this position", self.copy_position, "small")
        if (sitting.people and len(sitting.people) < sitting.game.players) or not sitting.people:
            with ui.element("div").classes("kb-row"):
                words("Agents move")
                pace = ui.select(list(PACES), value=sitting.pace, on_change=self.set_pace)
                pace.props('outlined dense aria-label="pace of agents"')
        self.eyes = ui.element("div").classes("kb-row")
        self.actions = ui.element("div").classes("kb-row")
        with ui.element("details"):
            words("How to play", "kb-quiet", tag="summary").style("cursor: pointer")
            raw(rules_markup(sitting.game)).classes("kb-rules")
        self.state: Any = None

    def refresh(self) -> None:
        """Offer what can be done now."""
        page, sitting = self.page, self.page.sitting
        own = sitting.seats_of(page.person)
        eyes = sitting.eyes_of(page.person)
        state = (sitting.over, tuple(own), tuple(eyes), page.eyes, bool(sitting.table.actions),
                 sitting.called(page.person))  # fmt: skip
        if state == self.state:
            return
        self.state = state
        self.eyes.clear()
        if len(eyes) > 1:
            with self.eyes:
                names = sitting.called(page.person)
                options = {-1: "usual", **{seat: names[seat] for seat in eyes}}
                words("Seen by")
                chosen = -1 if page.eyes is None else page.eyes
                box = ui.select(options, value=chosen, on_change=lambda e: self.look(e.value))
                box.props('outlined dense aria-label="through whose eyes"')
        self.actions.clear()
        with self.actions:
            if own and not sitting.over:
                button("Resign", self.resign)
            if sitting.is_open and sitting.table.actions:
                button("Save the record", self.download)
            if sitting.over or not sitting.people:
                alone = sitting.game.players == 1
                button("Same deal again" if alone else "Rematch, seats exchanged", self.again)
            button("New game", self.new_game)

    def look(self, seat: Any) -> None:
        """Look through the eyes of a seat."""
        self.page.eyes = seat if isinstance(seat, int) and seat >= 0 else None
        self.page.refresh()

    def set_pace(self, event: Any) -> None:
        """Let agents move faster or slower."""
        sitting = self.page.sitting
        if event.value in PACES and sitting.concerns(self.page.person):
            sitting.pace = event.value
            sitting.changed()

    async def copy_table(self) -> None:
        """Put the table's address on the clipboard."""
        await self.copy(f"/table/{self.page.sitting.id}")

    async def copy_position(self) -> None:
        """Put the position's address on the clipboard."""
        await self.copy(f"/table/{self.page.sitting.id}?ply={self.page.at}")

    async def copy(self, path: str) -> None:
        """Put an address on the clipboard, or show it for those who copy by hand."""
        by_hand = await ui.run_javascript(COPY.format(path=path), timeout=COPY_SECONDS)
        tell(f"Copy this link: {by_hand}" if by_hand else "Link copied")

    def download(self) -> None:
        """Give the record to the browser."""
        record = self.page.sitting.record(self.page.person)
        ui.download.content(record.to_json(), f"{record.game.name}-{self.page.sitting.id}.json")

    def again(self) -> None:
        """Play the same deal once more, everybody one seat further."""
        new = self.page.hall.again(self.page.sitting, self.page.person)
        ui.navigate.to(f"/table/{new.id}")

    def new_game(self) -> None:
        """Set up another game of this kind."""
        ui.navigate.to(f"/new/{self.page.sitting.game.name}")

    async def resign(self) -> None:
        """Give up, after a second thought."""
        with ui.dialog() as dialog, ui.element("div").classes("kb-card"):
            words("Resign this game?", tag="h2")
            with ui.element("div").classes("kb-row end"):
                button("Play on", lambda: dialog.submit(False))
                button("Resign", lambda: dialog.submit(True), "main")
        if await dialog:
            if self.page.sitting.over:
                raise Refused("The game is over.")
            self.page.sitting.resign(self.page.person)
