"""A table with the people and agents who sit at it: who may do what, and who may see what.

Everything a page asks for is checked here, by the person who asks: what comes from a browser is
never believed. A person is known by the key that their browser was given.
"""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from kibitz.core.errors import BadRecord, Misuse
from kibitz.core.game import VIEWER
from kibitz.core.names import YOU, named, told_apart
from kibitz.core.record import Record, flaw_of_cells
from kibitz.core.table import Move, Table
from kibitz.play.seats import HUMAN, outcome
from kibitz.web.thinking import THINKS, Stage

FORMAT = 1
LONGEST_NAME = 40
PACES = {"at once": 0.0, "quick": 0.3, "calm": 0.8, "slow": 2.0}  # seconds for an agent's move
PACE = "calm"
RECORDED = "recorded"  # sits at the table of a record, where nobody moves
log = logging.getLogger(__name__)


class Refused(Misuse):
    """What a person at a table asked for may not be done."""


@dataclass(slots=True)
class Seat:
    """A seat: an agent, or a place for a person, who may have come or not."""

    who: str  # human, or an agent with its settings
    person: str = ""  # the key of whoever has taken it
    name: str = ""  # what whoever sits there is called, if not by `who`


@dataclass(frozen=True, slots=True)
class Told:
    """A move, and what it is in the words of each seat: the mover's own might tell too much."""

    ply: int
    seat: int
    action: int
    words: tuple[str, ...]

    def move(self, viewer: int) -> Move:
        """Give the move as one seat is told of it."""
        return Move(self.ply, self.seat, self.action, self.words[viewer])


@dataclass(slots=True)
class Judgement:
    """What every move of a game cost, as somebody had it judged; kept for all who may look."""

    actions: list[int]  # of the game as it was then
    moves: list[dict[str, Any]]
    unit: str
    how: str

    def fits(self, actions: Sequence[int]) -> bool:
        """Whether it is of just this game."""
        return self.actions == list(actions)

    @classmethod
    def read(cls, content: Any) -> Judgement | None:
        """Read what a file has, or nothing: it can be had again."""
        try:
            found = cls(**content)
            plies = {int(move["ply"]) for move in found.moves}
            return found if plies == set(range(len(found.actions))) else None
        except (TypeError, ValueError, LookupError):
            return None


class Sitting:
    """A table, who sits there, and what has happened."""

    def __init__(
        self,
        id: str,
        table: Table,
        seats: list[Seat],
        *,
        host: str = "",
        pace: str = PACE,
        helps: bool = True,
        played: bool = True,
    ) -> None:
        self.id = id
        self.table = Table(table.game, table.dealt, seed=table.seed)
        self.game = table.game
        self.seats = seats
        self.host = host  # the person who opened the table
        self.pace = pace
        self.helps = helps  # whether hints may be asked for while it is played
        self.is_played = played  # not a record that somebody looks at
        self.resigned: int | None = None
        self.asking: int | None = None  # the seat that asks others to take its move back
        self.rematch = self.rematch_by = ""  # the table of the rematch, and who opened it
        self.judgement: Judgement | None = None
        self.trouble = ""  # why an agent does not move
        self.stage = THINKS  # how far the agent is whose turn it is
        self.paused = not self.people  # those who watch begin when they are ready
        self.told: list[Told] = []
        self.hands_won: list[list[int]] = []  # after each ply, in games of several hands
        self.undone: list[int] = []  # actions taken back, the latest first
        self.changed_at = time.time()
        self.version = 0
        self._listeners: list[Callable[[], None]] = []
        self._waiting: list[Callable[[], None]] = []
        self.is_public = self._all_see_the_same()  # so far: what is hidden, is from everybody
        for action in table.actions:
            self._tell_and_play(action)

    # --- who ---------------------------------------------------------------------------------

    @property
    def people(self) -> list[int]:
        """The seats that are for people."""
        return [place for place, seat in enumerate(self.seats) if seat.who == HUMAN]

    def seats_of(self, person: str) -> list[int]:
        """List the seats that a person has taken."""
        return [place for place, seat in enumerate(self.seats) if person and seat.person == person]

    @property
    def free(self) -> list[int]:
        """The seats that wait for somebody."""
        return [place for place in self.people if not self.seats[place].person]

    @property
    def several(self) -> bool:
        """Whether more than one person sits here."""
        return len({self.seats[place].person or str(place) for place in self.people}) > 1

    def called(self, person: str = "") -> tuple[str, ...]:
        """Return what one person calls the seats; no two of them are called the same."""
        own = self.seats_of(person)
        names = []
        for number, place in enumerate(self.seats):
            if place.who not in (HUMAN, RECORDED):
                names.append(place.name or place.who)
            else:
                name = "" if place.name.lower() == YOU else place.name
                names.append(YOU if own == [number] else name or f"Player {number + 1}")
        return told_apart(names)

    def name_of(self, seat: int, person: str = "") -> str:
        """Return who sits there, as one person would say it."""
        return self.called(person)[seat]

    def in_names(self, words: str, person: str = "") -> str:
        """Return words about this table as one person reads them: names for seats."""
        return named(self.game, words, self.called(person))

    def names(self) -> tuple[str, ...]:
        """Who sits where, for a record."""
        named = (HUMAN, RECORDED)  # others are who they are, whatever they are called here
        return tuple(
            seat.name or seat.who if seat.who in named else seat.who for seat in self.seats
        )

    def take(self, person: str, seat: int, name: str = "") -> None:
        """Let a person sit down where nobody sits yet."""
        self._check_played()
        if not isinstance(seat, int) or seat not in self.people:
            raise Refused("There is no seat for a person there.")
        if self.seats[seat].person not in ("", person):
            raise Refused("Somebody else sits there already.")
        self.seats[seat].person = person
        self.rename(person, name or self._known_as(person))
        self.changed()

    def rename(self, person: str, name: str) -> None:
        """Call a person something, at all their seats."""
        clean = "".join(sign for sign in str(name) if sign.isprintable()).strip()[:LONGEST_NAME]
        for seat in self.seats_of(person):
            self.seats[seat].name = clean
        self.changed()

    def concerns(self, person: str) -> bool:
        """Tell whether a person opened this table or sits at it."""
        return bool(person) and person in (self.host, *(seat.person for seat in self.seats))

    def check_concerns(self, person: str) -> None:
        """Refuse whoever only watches."""
        if not self.concerns(person):
            raise Refused("You only watch. Those who play here, or opened the table, may do that.")

    def _known_as(self, person: str) -> str:
        return next((self.seats[seat].name for seat in self.seats_of(person)), "")

    # --- seeing --------------------------------------------------------------------------------

    @property
    def over(self) -> bool:
        """Whether nobody is to move any more."""
        return self.table.over or self.resigned is not None

    @property
    def is_open(self) -> bool:
        """Whether anybody may see everything: nothing is hidden, it is over, or nobody plays."""
        return not self.game.hides or self.over or not self.people

    def eyes_of(self, person: str) -> list[int]:
        """List the seats through whose eyes a person may look."""
        if self.is_open or self.is_public:
            return list(range(self.game.players))
        return self.seats_of(person)

    def may_look(self, person: str, seat: int) -> bool:
        """Tell whether a person may see what a seat sees."""
        return seat in self.eyes_of(person)

    def usual_eyes(self, person: str) -> int | None:
        """Say through whose eyes a person looks unless they choose; None where they may not."""
        own = self.seats_of(person)
        if self.table.seat in own and not self.over:
            return self.table.seat
        eyes = self.eyes_of(person)
        return own[0] if own else eyes[0] if eyes else None

    @property
    def may_explore(self) -> bool:
        """Whether other moves may be tried: not while that would show what is hidden, or help."""
        return self.is_open and self.may_help

    def may_ask(self, person: str, seat: int) -> bool:
        """Tell whether a person may ask what an agent would do for a seat."""
        return self.may_help and self.may_look(person, seat)

    @property
    def may_help(self) -> bool:
        """Whether those who play may be helped, or nobody plays any more."""
        return self.helps or self.over or not self.people

    def at(self, ply: int) -> Table:
        """Give the table as it was after so many plies."""
        if not 0 <= ply <= len(self.table.actions):
            raise Refused(f"This game has {len(self.table.actions)} moves so far.")
        if ply == len(self.table.actions):
            return self.table.copy()
        table = Table(self.game, self.table.dealt, seed=self.table.seed)
        for action in self.table.actions[:ply]:
            self.game.rules.play(table.cells, action)
        table.actions = self.table.actions[:ply]
        return table

    def record(self, person: str) -> Record:
        """Give the record, which tells everything, to whoever may know that."""
        if not self.is_open:
            raise Refused("This game hides something. Its record can be had when it is over.")
        return self.table.record(self.names())

    def outcome(self, person: str = "") -> str:
        """Say how it ended, or nothing yet."""
        names = self.called(person)
        if self.resigned is not None:
            who = names[self.resigned]
            return "You have resigned." if who == YOU else f"{who} has resigned."
        if not self.table.over:
            return ""
        said = outcome(self.table, names)
        if not self.game.cooperative:
            unit, values = self.tally(self.table) or ("points", self.table.points)
            listed = zip(names, values, strict=True)
            points = ", ".join(f"{name} {value:g}" for name, value in listed)
            said = f"{said.partition(' Points: ')[0]} {unit.capitalize()}: {points}."
        return said if not said.startswith(YOU) else YOU.capitalize() + said[len(YOU) :]

    def tally(self, table: Table) -> tuple[str, list[float]] | None:
        """Return what is on the score sheet, known to all, where a game keeps one; and its unit."""
        found = getattr(self.game.words, "tally", None)
        return found(table.view(0)) if found else None

    def count_hands(self, seat: int, ply: int) -> int:
        """Return how many hands a seat has won after so many plies."""
        return sum(seat in winners for winners in self.hands_won[:ply])

    # --- doing ---------------------------------------------------------------------------------

    def play(self, person: str, action: int, plies: int) -> None:
        """Play an action for a person, who saw the table after so many plies."""
        self._check_played()
        if self.over:
            raise Refused("The game is over.")
        mover = self.table.seat
        if mover not in self.seats_of(person):
            raise Refused("It is not your turn." if self.seats_of(person) else "You only watch.")
        if isinstance(action, bool) or not isinstance(action, int):
            raise Refused("That is no move.")
        if plies != self.table.plies:
            raise Refused("The table has changed since. Look again.")
        self.advance(action)

    def advance(self, action: int) -> None:
        """Play an action of whoever is to move, which is checked."""
        action = self.table.read(action)
        self._tell_and_play(action)
        if self.undone and self.undone[-1] == action:
            self.undone.pop()
        else:
            self.undone.clear()
        self.asking = None
        self.trouble = ""
        self.changed()

    def _tell_and_play(self, action: int) -> None:
        table = self.table
        words = tuple(table.view(seat).say(action) for seat in range(self.game.players))
        self.told.append(Told(table.plies, table.seat, action, words))
        winners = getattr(self.game.words, "hand_winners", None)
        before = table.view(0) if winners else None
        table.play(action)
        if winners:
            self.hands_won.append(winners(before, table.view(0)))
        self.is_public = self.is_public and self._all_see_the_same()

    def _all_see_the_same(self) -> bool:
        """Tell whether all seats know just the same now; then those who watch may know it too."""
        views = [self.table.view(seat).cells for seat in range(self.game.players)]
        for cells in views:
            cells[VIEWER] = 0
        return all(np.array_equal(cells, views[0]) for cells in views)

    def undo(self, person: str) -> None:
        """Take a person's last move back, with what followed; others who play must agree."""
        seat = self._own_seat(person)
        if self.over and self.game.hides:
            raise Refused("The game is over and everything has been shown.")
        if self.game.hides and self.free:
            raise Refused("Somebody is still to come. Wait, and ask them.")
        if self._last_of(person) is None:
            raise Refused("There is nothing of yours to take back.")
        others = {self.seats[place].person for place in self.people} - {person, ""}
        if others:
            if self.asking is not None and self.asking not in self.seats_of(person):
                self.agree(person)
                return
            self.asking = seat
            self.changed()
            return
        self._take_back(person)

    def agree(self, person: str, agreed: bool = True) -> None:
        """Answer somebody who asks to take a move back."""
        self._own_seat(person)
        if self.asking is None or self.asking in self.seats_of(person):
            raise Refused("Nobody asks you to take a move back.")
        if self.over and self.game.hides:
            raise Refused("The game is over and everything has been shown.")
        asked_by = self.seats[self.asking].person
        self.asking = None
        if agreed:
            self._take_back(asked_by)
        else:
            self.changed()

    def redo(self, person: str) -> None:
        """Play again what was taken back, up to the person's next turn."""
        self._own_seat(person)
        if not self.undone or self.several:
            raise Refused("Nothing was taken back.")
        while self.undone and not self.over:
            self.advance(self.undone[-1])
            if self.table.seat in self.seats_of(person):
                break

    def resign(self, person: str) -> None:
        """Give up."""
        seat = self._own_seat(person)
        if self.over:
            raise Refused("The game is over.")
        self.resigned = self.table.seat if self.table.seat in self.seats_of(person) else seat
        self.asking = None
        self.changed()

    def seat_agent(self, person: str, seat: int, who: str) -> None:
        """Let another agent take the place of one, mostly of one that failed."""
        self.check_concerns(person)
        if seat in self.people:
            raise Refused("A person sits there.")
        self.seats[seat].who, self.seats[seat].name = who, ""
        self.trouble = ""
        self.changed()

    def _check_played(self) -> None:
        if not self.is_played:
            raise Refused("This is a record. Open a new table to play yourself.")

    def _own_seat(self, person: str) -> int:
        self._check_played()
        own = self.seats_of(person)
        if not own:
            raise Refused("You only watch.")
        return own[0]

    def _last_of(self, person: str) -> int | None:
        """Find the ply at which a person decided last."""
        own = self.seats_of(person)
        return next((told.ply for told in reversed(self.told) if told.seat in own), None)

    def _take_back(self, person: str) -> None:
        ply = self._last_of(person)
        if ply is None:
            return
        gone = self.table.actions[ply:]
        self.undone += reversed(gone)
        self.table.undo(len(gone))
        del self.told[ply:], self.hands_won[ply:]
        self.resigned = None
        self.trouble = ""
        self.changed()

    # --- telling -------------------------------------------------------------------------------

    def changed(self) -> None:
        """Tell all who look at this table that it has changed."""
        self.version += 1
        self.changed_at = time.time()
        self._call(self._listeners)

    def is_at(self, stage: Stage) -> None:
        """Tell all who look at this table how far the agent is whose turn it is."""
        if stage != self.stage:
            self.stage = stage
            self._call(self._waiting)

    def _call(self, listeners: list[Callable[[], None]]) -> None:
        for listener in list(listeners):
            try:
                listener()
            except Exception:  # what goes wrong on one page must not stop the game of others
                log.exception("a page of a table")

    def listen(self, listener: Callable[[], None], waits: Callable[[], None] | None = None) -> None:
        """Call `listener` whenever this table has changed, `waits` when an agent's stage has."""
        self._listeners.append(listener)
        self._waiting += [waits] if waits else []

    def forget(self, *listeners: Callable[[], None]) -> None:
        """Stop that."""
        for listener in listeners:
            for known in (self._listeners, self._waiting):
                if listener in known:
                    known.remove(listener)

    @property
    def listeners(self) -> int:
        """How many want to know of changes."""
        return len(self._listeners)

    @property
    def thinking(self) -> int | None:
        """The seat of the agent that is about to move, if one is."""
        mover = self.table.seat
        waits = self.over or self.paused or self.trouble or self.asking is not None
        if waits or not self.is_played or self.seats[mover].who == HUMAN:
            return None
        return mover

    # --- files ---------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Write all of it, to go on after a restart."""
        content = {
            "kibitz sitting": FORMAT, "id": self.id, "game": self.game.name,
            "version": self.game.version, "settings": dict(self.game.settings),
            "seed": self.table.seed, "dealt": self.table.dealt.tolist(),
            "actions": self.table.actions, "undone": self.undone,
            "seats": [asdict(seat) for seat in self.seats], "host": self.host, "pace": self.pace,
            "helps": self.helps, "played": self.is_played, "resigned": self.resigned,
            "paused": self.paused, "changed": self.changed_at, "over": self.over,
            "rematch": self.rematch, "rematch by": self.rematch_by,
            "judgement": asdict(self.judgement) if self.judgement else None,
        }  # fmt: skip
        return json.dumps(content) + "\n"

    @classmethod
    def from_json(cls, text: str, find: Callable[[str], Any]) -> Sitting:
        """Read what `to_json` wrote; what does not fit raises BadRecord."""
        try:
            content: Mapping[str, Any] = json.loads(text)
            game = find(content["game"]).having(**content["settings"])
            if content["kibitz sitting"] != FORMAT or content["version"] != game.version:
                raise BadRecord("This table is of another version of kibitz or of the game.")
            problem = flaw_of_cells(game, content["dealt"])
            if problem or len(content["seats"]) != game.players or content["pace"] not in PACES:
                raise BadRecord(f"This table is damaged: {problem or 'its seats or its pace'}.")
            table = Table(game, np.array(content["dealt"], np.int16), seed=content["seed"])
            for action in content["actions"]:
                table.play(action)
            sitting = cls(
                content["id"], table, [Seat(**seat) for seat in content["seats"]],
                host=content["host"], pace=content["pace"], helps=content["helps"],
                played=content["played"],
            )  # fmt: skip
            sitting.undone = list(content["undone"])
            sitting.resigned = content["resigned"]
            sitting.paused = content["paused"]
            sitting.changed_at = content["changed"]
            # Tables from before have none of these.
            sitting.rematch = str(content.get("rematch", ""))
            sitting.rematch_by = str(content.get("rematch by", ""))
            sitting.judgement = Judgement.read(content.get("judgement"))
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise BadRecord(f"This table is damaged: {error!r}.") from error
        return sitting
