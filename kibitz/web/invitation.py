"""Seats that wait for a player: an invitation for the host, and a seat for whoever comes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from nicegui import ui

from kibitz.web.frame import button, words
from kibitz.web.sitting import LONGEST_NAME

if TYPE_CHECKING:
    from kibitz.web.table import TablePage


class Invitation:
    """A banner above the board. It is made once, so that a name being typed survives moves."""

    def __init__(self, page: TablePage) -> None:
        self.page = page
        self.waiting = ui.element("div").classes("kb-banner kb-invite")
        with self.waiting:
            self.missing = words("")
            button("Copy invitation", page.about_link, "small main")
        self.coming = ui.element("div").classes("kb-banner kb-invite")
        with self.coming:
            self.asks = words("")
            self.name = ui.input("Your name").props("outlined dense")
            self.name.props(f'maxlength="{LONGEST_NAME}" autocomplete="nickname"')
            self.name.on("keydown.enter", lambda: self.sit_first())
            button("Sit down", self.sit_first, "small main")

    @property
    def is_guest(self) -> bool:
        """Whether the person has come by a link and could sit down."""
        sitting, person = self.page.sitting, self.page.person
        return bool(sitting.free) and not sitting.over and not sitting.concerns(person)

    def show(self) -> None:
        """Show what concerns this person, if anything."""
        sitting, person = self.page.sitting, self.page.person
        free = 0 if sitting.over else len(sitting.free)
        invites = free > 0 and sitting.concerns(person)
        self.waiting.set_visibility(invites)
        self.coming.set_visibility(self.is_guest)
        many = "a player" if free == 1 else f"{free} players"
        self.missing.set_content(f"Waiting for {many}. Send the invitation to a friend.")
        self.asks.set_content(f"You are invited to play. {free} seat{'s' * (free > 1)} free.")

    def sit_first(self) -> None:
        """Sit down at the first free seat."""
        if self.page.sitting.free:
            self.sit(self.page.sitting.free[0])

    def sit(self, seat: int) -> None:
        """Sit down, under the name that was typed."""
        self.page.sitting.take(self.page.person, seat, str(self.name.value or ""))
