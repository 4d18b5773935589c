"""Beside and above the board: who sits where, how things stand, and what needs an answer."""

from __future__ import annotations

import html
from functools import partial
from typing import TYPE_CHECKING

from nicegui import ui

from kibitz.core.svg import seat_colour, seat_mark
from kibitz.core.table import Table
from kibitz.play.seats import HUMAN
from kibitz.web.frame import button, raw, words
from kibitz.web.thinking import THINKS, Stage

if TYPE_CHECKING:
    from kibitz.web.table import TablePage

ANYBODY = "random"  # plays on where an agent fails
SPIN = '<span class="kb-spin"></span>'


def bar_of(stage: Stage) -> str:
    """Draw how far an agent is prepared."""
    share = 100 * stage.done / max(stage.total, 1)
    return (
        f'<div class="kb-bar" role="progressbar" aria-label="prepared" aria-valuenow="{share:.0f}">'
        f'<div style="width:{share:.0f}%"></div></div>'
    )


class SeatsPanel:
    """Who sits where, with points and whose turn it is."""

    def __init__(self, page: TablePage) -> None:
        self.page = page
        self.area = ui.element("div").classes("kb-stack kb-tight").style("width: 100%")

    def show(self, table: Table) -> None:
        """Show how the seats stand at the table that is shown."""
        page, sitting = self.page, self.page.sitting
        points = page.points_of(table)
        sheet = sitting.tally(table)
        self.area.clear()
        with self.area:
            for seat in range(sitting.game.players):
                turn = seat == table.seat and not (page.is_live and sitting.over)
                mark = f'<svg viewBox="0 0 16 16">{seat_mark(seat, 8, 8, 14)}</svg>'
                name = html.escape(sitting.name_of(seat, page.person))
                figure = self.figure_of(seat, points, sheet)
                raw(
                    f'{mark}<span class="name" title="{name}">{name}</span>'
                    f'<span class="points">{figure}</span>'
                    f'<span class="what">{self.what_of(seat, turn)}</span>'
                ).classes("kb-seat turn" if turn else "kb-seat").style(
                    f"--seat: {seat_colour(seat)}"
                )
                if seat in sitting.free and not sitting.over:
                    button("Sit here", partial(page.invitation.sit, seat), "plain small")
            if sitting.game.cooperative and sitting.game.players > 1 and points:
                words(f"Together {points[0]:g} points", "kb-quiet")

    def figure_of(
        self, seat: int, points: list[float], sheet: tuple[str, list[float]] | None
    ) -> str:
        """Return in markup what stands beside a name: the score sheet, or points."""
        game = self.page.sitting.game
        if game.cooperative and game.players > 1:
            return ""
        if sheet:
            unit, values = sheet
            return f'{values[seat]:g} <span class="unit">{html.escape(unit)}</span>'
        return f"{points[seat]:g}" if points else ""

    def what_of(self, seat: int, turn: bool) -> str:
        """Return in markup what a seat is doing, and the hands that it has won."""
        page = self.page
        won = page.sitting.count_hands(seat, page.at)
        more = f" · {won} hand{'s' * (won > 1)} won" if won else ""
        return self.doing(seat, turn) + more

    def doing(self, seat: int, turn: bool) -> str:
        """Return in markup what a seat is doing."""
        page, sitting = self.page, self.page.sitting
        place = sitting.seats[seat]
        if page.is_live and sitting.thinking == seat:
            stage = sitting.stage
            doing = "waits" if stage.waits else "preparing" if stage.is_preparing else "thinks"
            return f"{SPIN} {doing}"
        if turn and page.is_live:
            return "to move"
        if place.who == HUMAN:
            return "person" if place.person else "waiting for a player"
        return html.escape(place.who) if place.name else "agent"


class StatusPanel:
    """A line that says what is to be done, and banners for what is special."""

    def __init__(self, page: TablePage) -> None:
        self.page = page
        self.line = ui.element("div").classes("kb-status")
        self.line.props('role="status" aria-live="polite"')
        self.heard = words("", "kb-unseen").props('aria-live="polite"')
        self.banner = ui.element("div").style("display: contents")

    def show(self) -> None:
        """Show how things stand."""
        page, sitting = self.page, self.page.sitting
        self.line.clear()
        self.banner.clear()
        with self.line:
            self.say = raw("").classes("say")
            self.show_stage()
            if sitting.thinking is not None and page.is_live and sitting.people:
                button("Stop", page.stop_thinking, "small", "Stop the agent that thinks")
            if sitting.over and sitting.is_played and page.is_live:
                button("Review", lambda: page.turn_to("Review"), "small")
                alone = sitting.game.players == 1
                button(
                    "Same deal again" if alone else "Rematch", page.about.again, "small",
                    "The same deal once more" if alone
                    else "Rematch: the same deal, everybody one seat further",
                )  # fmt: skip
                button("New game", page.about.new_game, "small main")
        with self.banner:
            self.what_if()
            self.trouble()
            self.asking()
            self.rematch()
            page.review.banner()

    def tell_move(self, seat: int, said: str) -> None:
        """Tell those who hear the page what somebody else has played."""
        sitting = self.page.sitting
        if seat not in sitting.seats_of(self.page.person):
            name = sitting.name_of(seat, self.page.person)
            self.heard.set_content(html.escape(f"{name}: {said}."))

    def show_stage(self) -> None:
        """Show in the line how far an agent is, without making the line anew."""
        stage = self.page.sitting.stage
        text = html.escape(self.says())
        if self.is_told and stage.is_preparing:
            # Those who hear the page are told once that it is so, and may ask the bar how far.
            far = f'<span class="kb-quiet" aria-hidden="true">: {stage.counted()}</span>'
            text = f"{text}{far}{bar_of(stage)}"
        self.say.set_content(text)

    @property
    def is_told(self) -> bool:
        """Whether the line says what an agent does."""
        page, sitting = self.page, self.page.sitting
        mover = sitting.table.seat
        if not page.is_live or mover in sitting.people:  # it may go on after an undo
            return False
        return sitting.thinking is not None or sitting.stage != THINKS

    def says(self) -> str:
        """Say in a line how things stand."""
        page, sitting = self.page, self.page.sitting
        if page.line:
            return "What if"
        if not page.is_live:
            return f"After {page.at} of {len(sitting.table.actions)} moves"
        if sitting.over:
            return sitting.outcome(page.person)
        if not sitting.is_played:
            return "This record ends here; the game was not over."
        if sitting.trouble:
            return "An agent does not move."
        mover = sitting.table.seat
        if mover in sitting.free:
            return "Waiting for a player"
        own = sitting.seats_of(page.person)
        if mover in own:
            return (
                "Your turn"
                if len(own) == 1
                else f"{sitting.name_of(mover, page.person)}, your turn"
            )
        name = sitting.name_of(mover, page.person)
        if not self.is_told:
            return f"{name} is to move"
        return f"{name} {sitting.stage.words()}{'' if sitting.stage.is_preparing else ' …'}"

    def what_if(self) -> None:
        """Say that this is not the game itself, or not where it stands."""
        page, sitting = self.page, self.page.sitting
        if page.line or page.exploring:
            with ui.element("div").classes("kb-banner"):
                moves = f"{len(page.line)} move{'' if len(page.line) == 1 else 's'}"
                words(f"What if: {moves} of your own, from move {page.at}. Click the board.")
                if page.line:
                    button("One back", page.shorten, "small")
                button("Let an agent move", page.answer, "small")
                button("Back to the game", page.leave_line, "small main")
        elif not page.is_live and not sitting.over and sitting.seats_of(page.person):
            with ui.element("div").classes("kb-banner"):
                words("You look at an earlier position.")
                button("Back to the game", lambda: page.go(None), "small main")

    def trouble(self) -> None:
        """Say why an agent does not move, and how to go on."""
        page, sitting = self.page, self.page.sitting
        if sitting.trouble:
            with ui.element("div").classes("kb-banner bad"):
                words(sitting.trouble)
                if sitting.concerns(page.person):
                    button("Try again", page.try_again, "small main")
                    replace = partial(sitting.seat_agent, page.person, sitting.table.seat, ANYBODY)
                    button(f"Let {ANYBODY} play on", replace, "small")

    def rematch(self) -> None:
        """Offer to follow whoever has opened the same deal once more."""
        sitting, person = self.page.sitting, self.page.person
        if not sitting.rematch or sitting.rematch_by == person:
            return
        who = next(iter(sitting.seats_of(sitting.rematch_by)), None)
        name = "Somebody" if who is None else sitting.name_of(who, person)
        with ui.element("div").classes("kb-banner kb-next"):
            words(f"{name} has opened a rematch.")
            plays = bool(sitting.seats_of(person))
            to = f"/table/{sitting.rematch}"
            button("Play" if plays else "Watch", lambda: ui.navigate.to(to), "small main")

    def asking(self) -> None:
        """Ask whether a move may be taken back."""
        page, sitting = self.page, self.page.sitting
        own = sitting.seats_of(page.person)
        if sitting.asking is None or not own:
            return
        with ui.element("div").classes("kb-banner"):
            if sitting.asking in own:
                words("You asked to take your move back. The others are to agree.")
            else:
                words(f"{sitting.name_of(sitting.asking)} asks to take a move back.")
                button("Agree", lambda: sitting.agree(page.person), "small main")
                button("No", lambda: sitting.agree(page.person, False), "small")
