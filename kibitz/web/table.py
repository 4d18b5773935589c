"""The page of a table: seats on the left, the board in the middle, the rest beside it."""

from __future__ import annotations

import asyncio
import html
from typing import Any

from nicegui import ui
from nicegui.events import KeyEventArguments

from kibitz.core.errors import KibitzError
from kibitz.core.names import named
from kibitz.core.table import Move, Table
from kibitz.web.about_table import AboutPanel
from kibitz.web.frame import button, frame, raw, tell, telling, words
from kibitz.web.hall import Hall
from kibitz.web.invitation import Invitation
from kibitz.web.kibitzing import KibitzPanel
from kibitz.web.parts import Board, Moves
from kibitz.web.reviewing import ReviewPanel
from kibitz.web.sitting import Refused, Sitting
from kibitz.web.status import SeatsPanel, StatusPanel

TABS = ("Moves", "Kibitz", "Review", "Table")
KEYS = (
    ("← →", "one move back or on"), ("Home End", "to the first or the last move"),
    ("h", "a hint"), ("k", "kibitz: what would others do?"), ("u", "take my move back"),
    ("r", "turn the tile that is held"), ("Enter", "confirm"), ("Esc", "let go"),
    ("Space", "go on or pause, when agents play"), ("?", "this list"),
)  # fmt: skip


class TablePage:
    """One browser's page of a table. Whatever it shows, the person may see."""

    def __init__(self, hall: Hall, sitting: Sitting, person: str, ply: int | None = None) -> None:
        self.hall = hall
        self.sitting = sitting
        self.person = person
        self.ply = ply  # None follows the game
        self.line: list[int] = []  # what-if moves, from the position that is shown
        self.exploring = False  # the board shows the side of whoever is to move
        self.eyes: int | None = None  # through whose eyes, if chosen
        self.opinion: dict[int, float] = {}  # what somebody thinks of the position shown
        self.tab = TABS[0]
        self.revealed: int | None = None  # the seat for which a curtain was drawn aside
        self.client = ui.context.client
        self.tasks: set[asyncio.Task[None]] = set()

    # --- what is shown -------------------------------------------------------------------------

    @property
    def at(self) -> int:
        """After how many moves of the game."""
        most = len(self.sitting.table.actions)
        return most if self.ply is None else min(self.ply, most)

    @property
    def called(self) -> tuple[str, ...]:
        """What the person who looks calls the seats."""
        return self.sitting.called(self.person)

    @property
    def is_there(self) -> bool:
        """Whether the browser still has this page."""
        return self.client.id in type(self.client).instances

    @property
    def is_live(self) -> bool:
        """Whether the newest position is shown, and not a what-if line."""
        return self.at == len(self.sitting.table.actions) and not self.line

    def shown(self) -> Table:
        """Give the table that is shown."""
        table = self.sitting.at(self.at)
        for action in self.line:
            table.play(action)
        return table

    def looking(self, table: Table) -> int | None:
        """Say through whose eyes the table is shown; None where this person may not look."""
        sitting = self.sitting
        chosen = self.eyes is not None and sitting.may_look(self.person, self.eyes)
        if chosen and not self.shares_screen():
            return self.eyes
        if self.review.lesson is not None or (
            (self.line or self.exploring) and sitting.may_explore
        ):
            return max(table.seat, 0)
        return sitting.usual_eyes(self.person)

    def points_of(self, table: Table) -> list[float]:
        """Give points as far as this person may know them: those of hidden hands are hidden."""
        if self.sitting.is_open:
            return table.points
        eyes = self.looking(table)
        return [] if eyes is None or self.needs_curtain() else table.view(eyes).points

    def shares_screen(self) -> bool:
        """Whether two players with secrets sit at this one screen."""
        sitting = self.sitting
        own = sitting.seats_of(self.person)
        return len(own) > 1 and not sitting.is_open and not sitting.is_public

    def needs_curtain(self) -> bool:
        """Whether the next person at this screen must say that nobody else looks."""
        return self.shares_screen() and self.revealed != self.sitting.table.seat

    # --- building ------------------------------------------------------------------------------

    def build(self) -> None:
        """Make all elements, then show the table."""
        sitting = self.sitting
        with frame(sitting.game.title, wide=True), ui.element("div").classes("kb-table"):
            with ui.element("aside").classes("kb-seats"):
                words(sitting.game.title, tag="h2")
                self.seats = SeatsPanel(self)
            with ui.element("section").classes("kb-middle"):
                self.status = StatusPanel(self)
                self.invitation = Invitation(self)
                self.board = Board(self.act)
                self.curtain = ui.element("div").classes("kb-curtain")
                self.controls()
            with ui.element("aside").classes("kb-side"):
                self.tabs()
        ui.keyboard(self.key, ignore=["input", "select", "textarea"])
        self.sitting.listen(self.refresh, self.show_stage)
        self.client.on_delete(self.leave)
        self.refresh()

    def leave(self) -> None:
        """Let go of everything when the browser has gone."""
        self.sitting.forget(self.refresh, self.show_stage)
        for task in self.tasks:
            task.cancel()

    def controls(self) -> None:
        """Make the row of buttons below the board."""
        with ui.element("div").classes("kb-controls"):
            button("first", lambda: self.go(0), title="To the first move (Home)")
            button("back", lambda: self.step(-1), title="One move back (left arrow)")
            self.count = words("", "kb-count")
            button("on", lambda: self.step(1), title="One move on (right arrow)")
            button("last", lambda: self.go(None), title="To the last move (End)")
            raw("", tag="span").classes("kb-space")
            self.what_if_button = button(
                "What if", self.what_if, title="Try other moves from here, for whoever is to move"
            )
            if self.sitting.people:
                self.undo_button = button("Undo", self.undo, title="Take my move back (u)")
                self.redo_button = button("Redo", self.redo, title="Play it again")
                self.hint_button = button(
                    "Hint", self.hint, title="What would a good player do? (h)"
                )
            else:
                self.run_button = button(
                    "Go on", self.run_or_pause, "main", "Go on or pause (Space)"
                )
                button("One move", self.one_move, title="Let one agent move")

    def tabs(self) -> None:
        """Make the side: tabs, and a panel for each."""
        with ui.element("div").classes("kb-tabs").props('role="tablist"'):
            self.tab_buttons = {}
            for name in TABS:
                made = ui.element("button").props('type="button" role="tab"')
                made.on("click", lambda name=name: self.turn_to(name))
                with made:
                    words(name, tag="span")
                self.tab_buttons[name] = made
        self.panels = {}
        for name in TABS:
            self.panels[name] = ui.element("div").classes("kb-panel").props('role="tabpanel"')
        with self.panels["Moves"].classes("kb-flush"):
            self.moves = Moves(self.sitting.game.players, self.go_checked)
        with self.panels["Kibitz"]:
            self.kibitz = KibitzPanel(self)
        with self.panels["Review"]:
            self.review = ReviewPanel(self)
        with self.panels["Table"]:
            self.about = AboutPanel(self)
        self.turn_to(TABS[0])

    def turn_to(self, name: str) -> None:
        """Show one of the panels."""
        self.tab = name
        for other, made in self.tab_buttons.items():
            made.classes(
                add="here" if other == name else None, remove=None if other == name else "here"
            )
            made.props(f'aria-selected="{str(other == name).lower()}"')
            self.panels[other].set_visibility(other == name)

    # --- showing -------------------------------------------------------------------------------

    def refresh(self) -> None:
        """Show how things stand. Called whenever the table has changed."""
        if not self.is_there:
            self.sitting.forget(self.refresh, self.show_stage)
            return
        table = self.shown()
        self.show_board(table)
        self.seats.show(table)
        self.status.show()
        self.invitation.show()
        self.show_moves()
        self.show_controls()
        self.kibitz.follow(table)
        self.review.refresh()
        self.about.refresh()

    def show_stage(self) -> None:
        """Show how far the agent is whose turn it is; nothing else has changed."""
        if self.is_there:
            self.status.show_stage()
            self.seats.show(self.shown())

    def show_board(self, table: Table) -> None:
        """Draw the board, or a curtain where this person may not look."""
        sitting = self.sitting
        eyes = self.looking(table)
        hidden = eyes is None or self.needs_curtain()
        self.board.set_visibility(not hidden)
        self.curtain.set_visibility(hidden)
        self.curtain.clear()
        if hidden:
            self.board.show("", table.plies, False, "hidden")
            with self.curtain:
                self.draw_curtain(eyes)
            return
        assert eyes is not None
        # What somebody thinks of options is drawn on what would be clicked.
        offers = self.may_click(table) or bool(self.opinion)
        is_end = sitting.over and self.is_live  # then cards are turned up
        seen = table.opened(eyes) if is_end else table.view(eyes)
        view = seen.shown_to(self.called, only_looks=not offers)
        svg = view.svg(last=self.last_move(table, eyes), opinion=self.opinion or None)
        self.board.show(
            svg, table.plies, self.may_click(table), f"{sitting.game.title}: {view.brief()}"
        )

    def draw_curtain(self, eyes: int | None) -> None:
        """Say why nothing is shown."""
        if eyes is None:
            words("Something is hidden in this game", tag="h2")
            words("Those who play see their own side. You can look when the game is over.")
            return
        words(f"{self.called[self.sitting.table.seat]} is to move", tag="h2")
        words("Only that player should look now.")
        button("Show my side", self.reveal, "main")

    def reveal(self) -> None:
        """Draw the curtain aside for the seat to move."""
        self.revealed = self.sitting.table.seat
        self.refresh()

    def last_move(self, table: Table, eyes: int) -> Move | None:
        """Give the last move in the words of whoever looks."""
        if self.line:
            before = self.sitting.at(self.at)
            for action in self.line[:-1]:
                before.play(action)
            return Move(
                before.plies, before.seat, self.line[-1], before.view(eyes).say(self.line[-1])
            )
        return self.sitting.told[self.at - 1].move(eyes) if self.at else None

    def may_click(self, table: Table) -> bool:
        """Tell whether a click on the board means something now."""
        if table.over:
            return False
        if self.review.lesson is not None:
            return True
        if self.is_live and not self.sitting.over and not self.exploring:
            return table.seat in self.sitting.seats_of(self.person)
        return self.sitting.may_explore

    def show_moves(self) -> None:
        """List the moves as this person may read them."""
        sitting = self.sitting
        eyes = sitting.usual_eyes(self.person)
        self.review.take_up()
        costs = self.review.costs()
        viewer = 0 if eyes is None else eyes
        told = [] if eyes is None or self.needs_curtain() else sitting.told
        if not sitting.game.hides or sitting.over or not sitting.people:
            listed = [(one, max(one.words, key=len)) for one in told]  # who sees most says most
        else:
            listed = [(one, one.words[viewer]) for one in told]
        names = self.called
        rows = [
            {"ply": one.ply + 1, "seat": one.seat, "words": named(sitting.game, text, names),
             **costs.get(one.ply, {})}
            for one, text in listed
        ]  # fmt: skip
        self.moves.show(rows, self.at)
        if rows and self.is_live:
            self.status.tell_move(rows[-1]["seat"], rows[-1]["words"])
        self.count.set_content(f"{self.at} / {len(sitting.table.actions)}")

    def show_controls(self) -> None:
        """Switch buttons off that would do nothing."""
        sitting = self.sitting
        self.what_if_button.set_visibility(sitting.may_explore)
        self.what_if_button.classes(
            add="on" if self.exploring else None, remove=None if self.exploring else "on"
        )
        if not sitting.people:
            with self.run_button:
                self.run_button.clear()
                words("Go on" if sitting.paused else "Pause", tag="span")
            self.run_button.set_visibility(sitting.is_played and not sitting.over)
            return
        own = sitting.seats_of(self.person)
        for made, able in (
            (self.undo_button, bool(own) and any(told.seat in own for told in sitting.told)),
            (self.redo_button, bool(own) and bool(sitting.undone)),
            (self.hint_button, sitting.may_ask(self.person, sitting.table.seat)
             and not sitting.over and sitting.table.seat in own),
        ):  # fmt: skip
            made.props(remove="disabled") if able else made.props("disabled")

    # --- doing ---------------------------------------------------------------------------------

    def act(self, action: Any, plies: Any) -> None:
        """Do what a click on the board means."""
        with self.client:
            try:
                self.act_checked(action, plies)
            except KibitzError as error:
                self.board.release()
                tell(str(error), bad=True)
                self.refresh()

    def act_checked(self, action: Any, plies: Any) -> None:
        """Play for a person, answer a lesson, or go on with a what-if line."""
        table = self.shown()
        if plies != table.plies:
            raise Refused("The table has changed since. Look again.")
        if self.review.lesson is not None:
            self.review.attempt(table.read(action))
        elif self.is_live and not self.sitting.over and not self.exploring:
            self.opinion = {}
            self.ply = None
            self.sitting.play(self.person, action, plies)
        elif self.sitting.may_explore:
            self.extend(table.read(action))
        else:
            raise Refused("Go back to the game to play on.")

    def extend(self, action: int) -> None:
        """Add a move to the what-if line; the game's own next move just steps on."""
        self.opinion = {}
        if not self.line and self.sitting.table.actions[self.at : self.at + 1] == [action]:
            self.go(self.at + 1)
            return
        if not self.line:
            self.ply = self.at
        self.line.append(action)
        self.refresh()

    def what_if(self) -> None:
        """Begin to try other moves, or end it."""
        if not self.sitting.may_explore:
            raise Refused("Other moves can be tried when the game is over.")
        if self.exploring or self.line:
            self.leave_line()
            return
        self.review.leave_lesson()
        self.exploring = True
        self.refresh()

    def shorten(self) -> None:
        """Take the last what-if move back."""
        self.line = self.line[:-1]
        self.opinion = {}
        self.refresh()

    async def answer(self) -> None:
        """Let the agent that kibitzes play the next what-if move."""
        table = self.shown()
        if not self.sitting.may_explore:
            raise Refused("Other moves can be tried when the game is over.")
        if table.over:
            raise Refused("The game is over on this line.")
        who = self.kibitz.first()
        before = list(self.line)
        said = await self.hall.explain(self.key_of_thoughts(), table, who)
        if self.line == before:
            self.extend(table.read(said["action"]))

    def leave_line(self) -> None:
        """Leave the what-if line."""
        self.line = []
        self.exploring = False
        self.opinion = {}
        self.go(None if not self.sitting.over else self.at)

    def key_of_thoughts(self) -> str:
        """Name what agents think here, apart from those who play."""
        return f"{self.sitting.id}/kibitz"

    def go(self, ply: int | None) -> None:
        """Show the position after so many moves; None follows the game."""
        most = len(self.sitting.table.actions)
        self.line = []
        self.opinion = {}
        self.ply = None if ply is None or ply >= most else max(0, ply)
        self.refresh()

    def go_checked(self, ply: Any) -> None:
        """Show a position that a browser names."""
        if isinstance(ply, int) and not isinstance(ply, bool):
            self.review.leave_lesson()
            self.go(ply)

    def step(self, plies: int) -> None:
        """Go back or on."""
        self.review.leave_lesson()
        if self.line and plies < 0:
            self.shorten()
        else:
            self.go(self.at + plies)

    def undo(self) -> None:
        """Take this person's last move back."""
        self.go(None)
        self.sitting.undo(self.person)

    def redo(self) -> None:
        """Play again what was taken back."""
        self.go(None)
        self.sitting.redo(self.person)

    async def hint(self) -> None:
        """Ask a good player what to do."""
        sitting = self.sitting
        if sitting.over or sitting.table.seat not in sitting.seats_of(self.person):
            raise Refused("A hint is for your own turn.")
        self.go(None)
        self.turn_to("Kibitz")
        await self.kibitz.ask_best()

    async def about_link(self) -> None:
        """Copy the link to this table, for a friend."""
        await self.about.copy_table()

    def stop_thinking(self) -> None:
        """Stop the agent whose turn it is."""
        self.sitting.check_concerns(self.person)
        self.hall.interrupt(self.sitting)

    def try_again(self) -> None:
        """Let an agent that failed try again."""
        self.sitting.check_concerns(self.person)
        self.sitting.trouble = ""
        self.sitting.changed()

    def run_or_pause(self) -> None:
        """Let agents play on, or let them wait."""
        self.sitting.check_concerns(self.person)
        self.go(None)
        self.sitting.paused = not self.sitting.paused
        self.sitting.changed()

    async def one_move(self) -> None:
        """Let one agent move, or step through what was played."""
        sitting = self.sitting
        if self.at < len(sitting.table.actions):
            self.step(1)
            return
        if sitting.over:
            return
        sitting.check_concerns(self.person)
        if not sitting.is_played:
            return
        sitting.paused = True
        before = list(sitting.table.actions)
        action = await self.hall.choose(sitting)
        if sitting.table.actions == before and sitting.paused:
            sitting.advance(action)

    async def key(self, event: KeyEventArguments) -> None:
        """Do what a key stands for."""
        modified = event.modifiers.ctrl or event.modifiers.meta or event.modifiers.alt
        if not event.action.keydown or modified:
            return
        done = {
            "ArrowLeft": lambda: self.step(-1), "ArrowRight": lambda: self.step(1),
            "Home": lambda: self.go(0), "End": lambda: self.go(None), "h": self.hint,
            "k": self.toggle_kibitz, "u": self.undo, "?": self.show_keys,
        }  # fmt: skip
        if not self.sitting.people:
            done[" "] = self.run_or_pause
        work = done.get(str(event.key))
        if work is not None:
            await telling(work)()

    async def toggle_kibitz(self) -> None:
        """Turn to what others would do."""
        self.turn_to("Kibitz")
        await self.kibitz.ask()

    def show_keys(self) -> None:
        """List the keys."""
        with ui.dialog() as dialog, ui.element("div").classes("kb-card"):
            words("Keys", tag="h2")
            rows = "".join(
                f"<kbd>{html.escape(k)}</kbd><span>{html.escape(w)}</span>" for k, w in KEYS
            )
            raw(rows).classes("kb-keys")
            button("Close", dialog.close, "main")
        dialog.open()

    def start_soon(self, work: Any) -> None:
        """Run something that takes time, in this page's name."""

        async def run() -> None:
            with self.client:
                await telling(lambda: work)()

        task = asyncio.create_task(run())
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
