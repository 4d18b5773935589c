"""A person at the terminal: prompts, hints, undo, several people, several games in a row."""

from __future__ import annotations

import itertools
import shlex
from collections.abc import Sequence
from pathlib import Path

from rich.columns import Columns
from rich.console import Console
from rich.markup import escape

from kibitz.cli.setup import Left, Player, agrees, read_line
from kibitz.cli.shared import Waiting, opinion_lines, prose, seat_name, seat_names
from kibitz.core.agent import Agent
from kibitz.core.errors import AmbiguousMove, IllegalMove, KibitzError, Misuse, UnreadableMove
from kibitz.core.game import Game
from kibitz.core.registry import find_agent
from kibitz.core.table import Table
from kibitz.play.seats import HUMAN, YOU, announce, ask, begin, guarded, join, outcome, winners

SEEDS = 1 << 63  # after the last comes the first
LISTED = 24  # moves shown before one must ask for all
HELP = """\
Type a move: its number in the list, or its words. Also:
  moves        list all legal moves        hint [AGENT]  what an agent would do
  board        show the board again        undo          take back your last move
  rules        explain the game            save FILE     keep the record
  help         this text                   quit          leave the game"""


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
        called: Sequence[str] | None = None,
    ) -> None:
        self.table = table
        self.names = list(names)  # for the record
        self.called = list(called or names)  # for the person
        self.agents = list(agents)
        self.adviser = adviser
        self.out = out
        self.plain = plain
        self.save_to = save
        self.people = [seat for seat, agent in enumerate(agents) if agent is None]
        self.last_person: int | None = None

    def play(self) -> bool:
        """Play to the end, or until the person leaves; tell whether the end was reached."""
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
                    with Waiting(f"{self.called[seat]} thinks"):
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
            self._say("\n" + outcome(self.table, self.called, seat_names(self.called, self.plain)))
        finally:  # whether left, interrupted, broken off by an agent or played to its end
            self._keep()
        return self.table.over

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
                    action = self._read(text)
                    self._remark(text)
                    return action
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

    def _remark(self, text: str) -> None:
        """Say how words were understood, where the game has something to say about that."""
        remark = getattr(self.table.game.words, "remark", None)
        said = remark(self.table.view(), text) if remark and not text.isdecimal() else ""
        if said:
            self._say(escape(said))

    def _is_move(self, text: str) -> bool:
        """Tell whether words that begin like a command are a move all the same, legal or not."""
        try:
            self.table.view().read(text)
        except AmbiguousMove:
            return " " in text  # a bare word is the command
        except UnreadableMove:
            return False
        except IllegalMove:
            return True
        return True

    # --- commands; a true answer means that the position has changed ---------------------------

    def _do_help(self, rest: str) -> None:
        self._say(escape(HELP))

    def _do_moves(self, rest: str) -> None:
        self._list_moves(len(self.table.legal))

    def _do_board(self, rest: str) -> None:
        self._board(self.table.seat)

    def _do_rules(self, rest: str) -> None:
        self._say(escape(prose(self.out, self.table.game.how_to_play)))

    def _do_hint(self, rest: str) -> None:
        with Waiting("thinking"):
            agent = find_agent(rest or self.adviser, self.table.game)
            join(agent, self.table, self.table.seat)
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
                begin(self.agents, back)
                self._say("Taken back.")
                return True
        raise Misuse("There is nothing of yours to take back.")

    def _do_save(self, rest: str) -> None:
        if not rest:
            raise Misuse("Say where: save FILE.")
        self._save(Path(rest))

    def _do_quit(self, rest: str) -> None:
        if self.save_to is None and self.table.actions:
            question = "Save the record? [y/N, or a file name] "
            while (path := self._where_to_save(question)) is not None:
                try:
                    self._save(path)
                    break
                except KibitzError as error:
                    self._say(escape(str(error)))
                    question = "Another file name, or Enter to discard the record: "
        raise Left

    def _where_to_save(self, question: str) -> Path | None:
        """Ask for yes, no or a file name; None discards the record."""
        text = self._input(escape(question)).strip()
        if text.lower() in ("", "n", "no", "quit"):
            return None
        if text.lower() in ("y", "yes"):
            first = Path(f"{self.table.game.name.replace(':', '-')}-{self.table.seed}.json")
            names = (numbered(first, number) for number in itertools.count(1))
            return next(path for path in names if not path.exists())
        return Path(text)

    # --- showing -------------------------------------------------------------------------------

    def _label(self, seat: int) -> str:
        return seat_name(seat, self.called[seat], self.plain)

    def _board(self, seat: int) -> None:
        self.out.print(f"\n{self.table.view(seat)}\n", markup=False)

    def _list_moves(self, most: int) -> None:
        legal = self.table.legal
        view = self.table.view()
        listed = [f"{place}. {view.say(a)}" for place, a in enumerate(legal[:most], start=1)]
        self.out.print(Columns(map(escape, listed), padding=(0, 3), column_first=True))
        if len(legal) > most:
            self._say(f"and {len(legal) - most} more: type moves")

    def _say(self, text: str, soft_wrap: bool | None = None) -> None:
        self.out.print(text, soft_wrap=soft_wrap)

    def _input(self, prompt: str) -> str:
        return read_line(self.out, prompt)

    def _save(self, path: Path) -> None:
        self.table.record(tuple(self.names)).save(path)
        self._say(f"Saved: kibitz replay {escape(shlex.quote(str(path)))}", soft_wrap=True)

    def _keep(self) -> None:
        if self.save_to is not None:
            self._save(self.save_to)


class Series:
    """Games in a row between the same players, who change seats from game to game."""

    def __init__(
        self,
        game: Game,
        players: Sequence[Player],
        adviser: str,
        out: Console,
        plain: bool,
        save: Path | None,
    ) -> None:
        self.game = game
        self.players = list(players)  # as they sit in the first game
        self.agents = [
            None if p.who == HUMAN else find_agent(p.agent or p.who, game) for p in players
        ]
        self.adviser = adviser
        self.out = out
        self.plain = plain
        self.save_to = save
        self.played = 0  # to the end
        self.wins = [0] * len(players)
        self.draws = 0
        self.points = 0.0  # won together, in a cooperative game

    def play(self, seed: int, games: int | None) -> None:
        """Play so many games, or for None as long as the person wishes; leaving one ends all."""
        for number in itertools.count(1):
            finished = self._play_one(seed, number, alone=games == 1)
            if games != 1 and self.played:
                self.out.print(escape(self.score()))
            if not finished or number == games or (games is None and not self._again()):
                break

    def _play_one(self, seed: int, number: int, alone: bool) -> bool:
        """Play a game of the series, counted from 1; tell whether its end was reached."""
        table = self.game.deal((seed + number - 1) % SEEDS)
        count = len(self.players)
        places = [(seat + number - 1) % count for seat in range(count)]  # the player at each seat
        names = [self.players[place].who for place in places]
        called = [self.players[place].called for place in places]
        agents = [self.agents[place] for place in places]
        begin(agents, table)
        if not alone:
            starter = called[table.seat]
            verb = "start" if starter == YOU else "starts"
            self.out.print(f"\n[bold]Game {number}:[/] {escape(starter)} {verb}.")
        save = self.save_to and numbered(self.save_to, number)
        sitting = Sitting(table, names, agents, self.adviser, self.out, self.plain, save, called)
        finished = sitting.play()
        if finished:
            self._count(sitting.table, places)
        return finished

    def _count(self, table: Table, places: Sequence[int]) -> None:
        self.played += 1
        if self.game.cooperative:
            self.points += table.points[0]
            return
        best = winners(table)
        self.draws += not best
        for seat in best:
            self.wins[places[seat]] += 1

    def score(self) -> str:
        """Say how the series stands, people first."""
        if self.game.cooperative:
            return f"Score: {self.points:g} points in {counted(self.played, 'game')}."
        standing = zip(self.players, self.wins, strict=True)
        people_first = sorted(standing, key=lambda pair: pair[0].who != HUMAN)
        parts = [f"{player.called} {wins}" for player, wins in people_first]
        if self.draws:
            parts.append(counted(self.draws, "draw"))
        return f"Score: {', '.join(parts)}."

    def _again(self) -> bool:
        try:
            return agrees(self.out, "Play again?")
        except Left:
            return False


def numbered(path: Path, number: int) -> Path:
    """Give the file of a game in a series: game.json, game-2.json, game-3.json."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")


def counted(count: int, thing: str) -> str:
    """Write `1 draw`, `2 draws`."""
    return f"{count} {thing}" + ("" if count == 1 else "s")
