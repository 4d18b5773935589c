"""A person at the terminal: prompts, hints, undo, and several people at one keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rich.columns import Columns
from rich.console import Console
from rich.markup import escape

from kibitz.cli.seating import announce, ask, begin, guarded, outcome
from kibitz.cli.shared import Waiting, opinion_lines, seat_name
from kibitz.core.agent import Agent
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.registry import find_agent
from kibitz.core.table import Table

LISTED = 24  # moves shown before one must ask for all
HELP = """\
Type a move: its number in the list, or its words. Also:
  moves        list all legal moves        hint [AGENT]  what an agent would do
  board        show the board again        undo          take back your last move
  rules        explain the game            save FILE     keep the record
  help         this text                   quit          leave the game"""


class Left(Exception):
    """The person has left the table."""


class Sitting:
    """A game with at least one person at the terminal."""

    def __init__(
        self,
        table: Table,
        names: Sequence[str],
        agents: Sequence[Agent | None],
        adviser: str,
        out: Console,
        plain: bool,
        save: Path | None,
    ) -> None:
        self.table = table
        self.names = list(names)
        self.agents = list(agents)
        self.adviser = adviser
        self.out = out
        self.plain = plain
        self.save_to = save
        self.people = [seat for seat, agent in enumerate(agents) if agent is None]
        self.last_person: int | None = None

    def play(self) -> None:
        """Play to the end, or until the person leaves."""
        game = self.table.game
        self.out.print(f"[bold]{game.title}[/], seed {self.table.seed}. Type help for help.")
        try:
            while not self.table.over:
                seat = self.table.seat
                agent = self.agents[seat]
                if agent is None:
                    action = self._ask_person(seat)
                    if action is None:
                        continue  # something was taken back
                else:
                    with Waiting(f"{self.names[seat]} thinks"):
                        action = ask(agent, self.table)
                # In the words of whoever watches: the mover's own might tell too much.
                watcher = self.people[0] if len(self.people) == 1 else seat
                words = self.table.view(watcher).say(action)
                self._say(f"{self._label(seat)}: {escape(words)}")
                announce(self.agents, self.table, action)
                self.table.play(action)
        except (Left, EOFError):
            self._say("You left the game.")
        else:
            self._board(self.people[0])
            self._say("\n" + outcome(self.table, self.names, self.plain))
        finally:  # whether left, interrupted, broken off by an agent or played to its end
            self._keep()

    # --- asking --------------------------------------------------------------------------------

    def _ask_person(self, seat: int) -> int | None:
        """Ask until there is a legal move; None means that the position has changed."""
        if self.table.game.hides and len(self.people) > 1 and self.last_person != seat:
            self.out.clear()
            self._input(f"{self._label(seat)}, press Enter when only you can see this. ")
        self.last_person = seat
        self._board(seat)
        self._list_moves(LISTED)
        while True:
            text = self._input(f"\n{self._label(seat)}> ").strip()
            word, _, rest = text.partition(" ")
            command = getattr(self, f"_do_{word.lower()}", None) if word.isalpha() else None
            try:
                if not text:
                    self._say("Type a move, or help.")
                elif command is not None and not self._is_move(text):
                    if command(rest.strip()):
                        return None
                else:
                    return self._read(text)
            except KibitzError as error:
                self._say(escape(str(error).replace("see table.legal", "type moves")))

    def _read(self, text: str) -> int:
        legal = self.table.legal
        if text.isdecimal():
            place = int(text[:9])  # nobody needs more digits, and Python refuses thousands
            if not 1 <= place <= len(legal):
                raise Misuse(f"Moves are numbered 1 to {len(legal)}.")
            return legal[place - 1]
        return self.table.read(text)

    def _is_move(self, text: str) -> bool:
        """Tell whether words that begin like a command are a legal move all the same."""
        try:
            self.table.read(text)
        except KibitzError:
            return False
        return True

    # --- commands; a true answer means that the position has changed ---------------------------

    def _do_help(self, rest: str) -> None:
        self._say(escape(HELP))

    def _do_moves(self, rest: str) -> None:
        self._list_moves(len(self.table.legal))

    def _do_board(self, rest: str) -> None:
        self._board(self.table.seat)

    def _do_rules(self, rest: str) -> None:
        self._say(escape(self.table.game.words.RULES))

    def _do_hint(self, rest: str) -> None:
        with Waiting("thinking"):
            agent = find_agent(rest or self.adviser, self.table.game)
            opinion = guarded(agent, agent.explain, self.table.view())
        self._say(escape(f"{rest or self.adviser} would " + "\n".join(opinion_lines(opinion))))

    def _do_undo(self, rest: str) -> bool:
        """Go back to this person's last decision."""
        back = self.table.copy()
        seat = self.table.seat
        while back.actions:
            back.undo()
            if back.seat == seat:
                self.table = back
                self._remind_agents()
                self._say("Taken back.")
                return True
        raise Misuse("There is nothing of yours to take back.")

    def _remind_agents(self) -> None:
        """Let the agents begin again and see what is left of the game."""
        begin(self.agents, self.table)
        for table, action in self.table.record().steps():
            announce(self.agents, table, action)

    def _do_save(self, rest: str) -> None:
        if not rest:
            raise Misuse("Say where: save FILE.")
        self._save(Path(rest))

    def _do_quit(self, rest: str) -> None:
        if self.save_to is None and self.table.actions:
            name = self._input("Save the record? A file name, or Enter to discard it: ").strip()
            while name:
                try:
                    self._save(Path(name))
                    break
                except KibitzError as error:
                    self._say(escape(str(error)))
                    name = self._input("Another file name, or Enter to discard it: ").strip()
        raise Left

    # --- showing -------------------------------------------------------------------------------

    def _label(self, seat: int) -> str:
        return seat_name(seat, self.names[seat], self.plain)

    def _board(self, seat: int) -> None:
        self.out.print(f"\n{self.table.view(seat)}\n", markup=False)

    def _list_moves(self, most: int) -> None:
        legal = self.table.legal
        view = self.table.view()
        listed = [f"{place}. {view.say(a)}" for place, a in enumerate(legal[:most], start=1)]
        self.out.print(Columns(map(escape, listed), padding=(0, 3), column_first=True))
        if len(legal) > most:
            self._say(f"and {len(legal) - most} more: type moves")

    def _say(self, text: str) -> None:
        self.out.print(text)

    def _input(self, prompt: str) -> str:
        try:
            return self.out.input(prompt)
        except UnicodeDecodeError:
            return "\ufffd"  # not text; whoever reads it will say so
        except RuntimeError as error:  # standard input is closed
            raise EOFError from error

    def _save(self, path: Path) -> None:
        self.table.record(tuple(self.names)).save(path)
        self._say(f"Saved: kibitz replay {escape(str(path))}")

    def _keep(self) -> None:
        if self.save_to is not None:
            self._save(self.save_to)
