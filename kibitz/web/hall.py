"""The hall: all tables of a server, kept in a folder so that they outlive it, and agents at work.

Limits keep a server sound: so many tables in all and for each person, and records of a size.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import re
import secrets
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

from kibitz.core.errors import BadRecord, KibitzError
from kibitz.core.files import save
from kibitz.core.game import AT_A_TABLE, Game
from kibitz.core.record import Record
from kibitz.core.registry import find_listed_game, game_names
from kibitz.core.table import Table
from kibitz.core.tiers import prepare
from kibitz.play.seats import HUMAN
from kibitz.web.catalogue import OWN, RUN, WITH_FILES, Offer, checked, offers, takes_time
from kibitz.web.own import OwnAgents
from kibitz.web.runs import Runs
from kibitz.web.sitting import PACE, PACES, RECORDED, Refused, Seat, Sitting
from kibitz.web.thinker import picture, sent
from kibitz.web.thinking import LOW, THINKS, Stage, Thinkers, Told

MOST_TABLES = 2000  # in the folder
MOST_OF_ONE = 200  # that one person has opened
LARGEST_RECORD = 2 << 20  # bytes of a record that somebody brings
SAVE_SECONDS = 0.25  # between two looks for tables that have changed
IDLE_SECONDS = 1800.0  # after which a table that nobody looks at leaves the memory
ID = re.compile(r"[A-Za-z0-9_-]{8,32}")
KEPT_LEVELS = 64
KEPT_PREPARATIONS = 64
BEST = "who plays best"  # what is found out, beside agents that are prepared
log = logging.getLogger(__name__)
NO_TABLE = "There is no such table. It may have been closed long ago."


async def _whatever_comes(work: Awaitable[Any]) -> None:
    """Wait for something; those who need it are told if it fails, and somebody may stop it."""
    task = asyncio.current_task()
    assert task is not None
    try:
        await work
    except KibitzError:
        return
    except asyncio.CancelledError:
        if task.cancelling():  # it is we who are to stop
            raise


class Preparation:
    """An agent that is being compiled, or a game that is being solved, for all who wait for it."""

    def __init__(self) -> None:
        self.task: asyncio.Task[Any] | None = None
        self.stage = THINKS
        self.waiting: list[Told] = []

    def told(self, stage: Stage) -> None:
        """Tell all who wait how far it is."""
        self.stage = stage
        for told in list(self.waiting):
            told(stage)


@dataclass(frozen=True, slots=True)
class Card:
    """What must be known of a table that is only on disk."""

    id: str
    game: str
    host: str
    people: frozenset[str]
    changed: float
    done: bool


class Hall:
    """All tables, and the processes in which agents think."""

    def __init__(
        self, folder: Path, most_tables: int = MOST_TABLES, most_of_one: int = MOST_OF_ONE,
        private: bool = True, own: OwnAgents | None = None,
    ) -> None:  # fmt: skip
        self.folder = folder / "tables"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.most_tables, self.most_of_one = most_tables, most_of_one
        self.runs = Runs(folder, private=private)
        self.own = own or OwnAgents()
        self.players = Thinkers(1)  # agents that answer soon
        self.searchers = Thinkers(2, nice=LOW)  # agents that are compiled, or search for long
        self.analysts = Thinkers(1, nice=LOW)  # whole games
        self.readers = Thinkers(1, nice=LOW)  # records from strangers
        self._sittings: dict[str, Sitting] = {}
        self._cards = {
            card.id: card for card in map(_card_of_file, self.folder.glob("*.json")) if card
        }
        self._saved: dict[str, int] = {}  # the version that is on disk
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._drawing: dict[str, asyncio.Task[str]] = {}
        self._warming: asyncio.Task[None] | None = None
        self._stopping = False
        self._levels: dict[Game, dict[str, Any]] = {}
        self._preparing: dict[tuple[Game, str], Preparation] = {}
        self._readying: dict[Game, asyncio.Task[None]] = {}
        self._keeper: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Begin to work: agents may think, and what changes is kept."""
        self._keeper = asyncio.create_task(self._keep())
        self._warming = asyncio.create_task(self._warm_up())
        await self.runs.start()
        await self.players.start()

    async def stop(self) -> None:
        """Keep everything and end all processes."""
        self._stopping = True
        preparing = (one.task for one in self._preparing.values())
        tasks = [self._keeper, self._warming, *self._driving.values(), *self._drawing.values()]
        tasks += [*self._readying.values(), *preparing]
        known = [task for task in tasks if task is not None]
        for task in known:
            task.cancel()
        await asyncio.gather(*known, return_exceptions=True)
        self.save()
        await self.runs.close()
        for thinkers in (self.players, self.searchers, self.analysts, self.readers):
            await thinkers.stop()

    # --- tables --------------------------------------------------------------------------------

    def open(
        self,
        game: Game,
        who: Sequence[str],
        host: str,
        *,
        seed: int | None = None,
        sit_at: Sequence[int] = (),
        name: str = "",
        called: Sequence[str] = (),
        pace: str = PACE,
        helps: bool = True,
        table: Table | None = None,
    ) -> Sitting:
        """Open a table; the host sits down at the seats `sit_at`.

        `called` says what agents are called, if not by their names, such as easy or hard.
        """
        if len(who) != game.players:
            raise Refused(f"{game.title} has {game.players} seats here, not {len(who)}.")
        self._make_room(host)
        # Whoever is learning plays a whole game as it was at its beginning.
        who = [self.pinned(one) for one in who]
        sitting = Sitting(
            secrets.token_urlsafe(9), table or game.deal(seed),
            [Seat(one, name=call) for one, call in zip_longest(who, called, fillvalue="")],
            host=host, pace=pace if pace in PACES else PACE, helps=helps,
        )  # fmt: skip
        for seat in sit_at:
            sitting.take(host, seat, name)
        return self._lay(sitting)

    def _lay(self, sitting: Sitting) -> Sitting:
        """Take a table into the hall, where agents move as soon as it is their turn."""

        def changed() -> None:
            if sitting.id not in self._sittings:  # it was removed
                return
            self._cards[sitting.id] = _card_of(sitting)
            self.drive(sitting)

        self._sittings[sitting.id] = sitting
        sitting.listen(changed)
        changed()
        return sitting

    def again(self, sitting: Sitting, person: str, exchanged: bool = True) -> Sitting:
        """Open the same deal once more, everybody one seat further; others are told.

        Where somebody else did so already, that table is returned.
        """
        sitting.check_concerns(person)
        if not sitting.is_played:
            raise Refused("This is a record. Open a new table to play yourself.")
        if not sitting.over and sitting.people:
            raise Refused("This game is not over yet.")
        if sitting.game.hides and sitting.free:
            raise Refused("You have seen this deal, and whoever comes has not. Open a new table.")
        if sitting.rematch and sitting.rematch_by != person and sitting.seats_of(person):
            with contextlib.suppress(KibitzError):  # it may have been closed
                return self.get(sitting.rematch)
        seats = sitting.seats
        count = len(seats)
        moved = [seats[(place - exchanged) % count] for place in range(count)]
        new = self.open(
            sitting.game, [seat.who for seat in moved], person, pace=sitting.pace,
            called=["" if seat.who == HUMAN else seat.name for seat in moved],
            helps=sitting.helps,
            table=Table(sitting.game, sitting.table.dealt, seed=sitting.table.seed),
        )  # fmt: skip
        for place, seat in enumerate(moved):
            if seat.person:
                new.take(seat.person, place, seat.name)
        sitting.rematch, sitting.rematch_by = new.id, person
        sitting.changed()
        return new

    def bring(self, record: Record, host: str) -> Sitting:
        """Lay a record on a table of its own, to be looked at."""
        self._make_room(host)
        return self._lay(_recorded(record, host))

    async def read(self, data: bytes, host: str) -> Sitting:
        """Bring a record that a stranger sent; another process tries it first."""
        if len(data) > LARGEST_RECORD:
            raise BadRecord(f"This file is too large: {LARGEST_RECORD >> 20} MiB at most.")
        try:
            text = data.decode()
        except UnicodeDecodeError:
            raise BadRecord("This file is no kibitz record: it is not text.") from None
        await self.readers.ask({"do": "check", "text": text})

        def replayed() -> Sitting:
            return _recorded(Record.from_json(text, find_listed_game, "This file"), host)

        self._make_room(host)
        return self._lay(await asyncio.to_thread(replayed))

    def get(self, id: str) -> Sitting:
        """Find a table, in memory or in the folder."""
        if id in self._sittings:
            return self._sittings[id]
        return self._came(id, self._load(id))

    async def fetch(self, id: str) -> Sitting:
        """Find a table without keeping others waiting: a long game takes time to replay."""
        if id in self._sittings:
            return self._sittings[id]
        loaded = await asyncio.to_thread(self._load, id)
        return self._sittings.get(id) or self._came(id, loaded)  # others may have been faster

    def _load(self, id: str) -> Sitting:
        path = self.folder / f"{id}.json"
        if not ID.fullmatch(id) or not path.is_file():
            raise Refused(NO_TABLE)
        return Sitting.from_json(path.read_text(encoding="utf-8"), find_listed_game)

    def _came(self, id: str, sitting: Sitting) -> Sitting:
        self._saved[id] = sitting.version
        return self._lay(sitting)

    def of(self, person: str) -> list[str]:
        """Name the tables at which a person sits, or that they opened, the latest first."""
        mine = [card for card in self._cards.values() if person and person in card.people]
        return [card.id for card in sorted(mine, key=lambda card: -card.changed)]

    def remove(self, id: str, person: str) -> None:
        """Close a table for good, if the person opened it and nobody else still plays there."""
        card = self._cards.get(id)
        if card is None:
            raise Refused(NO_TABLE)
        if not person or card.host != person:
            raise Refused("Only whoever opened this table may remove it.")
        if not card.done and card.people - {person, ""}:
            raise Refused("Somebody else plays at this table. Finish the game first, or resign.")
        task = self._driving.pop(id, None)
        if task is not None:
            task.cancel()
        self._close(id)

    def _make_room(self, host: str) -> None:
        """Refuse what is too much; tables that ended long ago make room first."""
        known = list(self._cards.values())
        mine = [card for card in known if card.host == host]
        for some, most in ((mine, self.most_of_one), (known, self.most_tables)):
            if len(some) < most:
                continue
            done = [card for card in some if card.done and not self._is_looked_at(card.id)]
            if not done:
                raise Refused("There are too many tables. Finish some games first.")
            self._close(min(done, key=lambda card: card.changed).id)

    def _close(self, id: str) -> None:
        for known in (self._sittings, self._saved, self._cards):
            known.pop(id, None)
        (self.folder / f"{id}.json").unlink(missing_ok=True)

    def _is_looked_at(self, id: str) -> bool:
        """Tell whether a page shows a table; the hall itself always listens."""
        return id in self._sittings and self._sittings[id].listeners > 1

    # --- agents --------------------------------------------------------------------------------

    def drive(self, sitting: Sitting) -> None:
        """Let agents move, if it is their turn and nobody does so yet."""
        busy = sitting.id in self._driving or sitting.id not in self._sittings
        if self._stopping or busy or sitting.thinking is None:
            return

        def done(_: object) -> None:
            self._driving.pop(sitting.id, None)
            self.drive(sitting)  # something may have changed while it was ending

        task = asyncio.get_running_loop().create_task(self._drive(sitting))
        self._driving[sitting.id] = task
        task.add_done_callback(done)

    async def _drive(self, sitting: Sitting) -> None:
        try:
            while sitting.thinking is not None:
                began, before = time.monotonic(), list(sitting.table.actions)
                action = await self.choose(sitting)
                rest = PACES[sitting.pace] - (time.monotonic() - began)
                await asyncio.sleep(max(0.0, rest))
                if sitting.table.actions == before and sitting.thinking is not None:
                    sitting.advance(action)
        except KibitzError as error:
            sitting.trouble = str(error)
            sitting.changed()
        except Exception as error:  # whatever it is, those who play must not wait for ever
            log.exception("an agent's move")
            sitting.trouble = f"This went wrong: {error!r}."
            sitting.changed()

    async def choose(self, sitting: Sitting) -> int:
        """Ask the agent whose turn it is; the table is told how far it is."""
        who = sitting.seats[sitting.table.seat].who
        order = {"do": "choose", "key": sitting.id, "who": who, "table": sent(sitting.table)}
        try:
            return await self._ask(sitting.game, who, order, sitting.is_at)
        finally:
            sitting.is_at(THINKS)

    async def explain(
        self, key: str, table: Table, who: str, told: Told | None = None
    ) -> dict[str, Any]:
        """Ask an agent what it would do for the seat to move, and why."""
        order = {"do": "explain", "key": key, "who": who, "table": sent(table)}
        return await self._ask(table.game, who, order, told)

    async def _ask(self, game: Game, who: str, order: dict[str, Any], told: Told | None) -> Any:
        """Give an order to the process for an agent, after preparing it where that takes time."""
        if not takes_time(game, who):
            return await self._ask_agent(self.players, order, told, game.name)
        await self.prepare(game, who, told)
        return await self._ask_agent(self.searchers, order, told, (game, who))

    async def _ask_agent(
        self, thinkers: Thinkers, order: dict[str, Any], told: Told | None, near: object
    ) -> Any:
        """Give an order; where it names the agent of a run or a file, say where that lies."""
        who = order["who"]
        if not who.startswith(WITH_FILES):
            return await thinkers.ask(order, told=told, near=near)
        path = self.found(who)
        try:
            return await thinkers.ask({**order, "who": path}, told=told, near=near)
        except KibitzError as error:
            raise type(error)(str(error).replace(path, who)) from error

    # --- preparing -----------------------------------------------------------------------------

    async def prepare(self, game: Game, who: str, told: Told | None = None) -> None:
        """Have an agent compiled, or the game solved for it: once, for all who wait."""
        order = {"do": "prepare", "who": who, "game": game.name, "settings": dict(game.settings)}
        await self._prepare(
            game, who, told, lambda told: self._ask_agent(self.searchers, order, told, (game, who))
        )

    async def _prepare(
        self, game: Game, what: str, told: Told | None, work: Callable[[Told], Any]
    ) -> Any:
        """Do something once, however many ask for it; if it fails or is stopped, once more."""
        known = self._preparing.get((game, what))
        if known is None:
            known = self._preparing[game, what] = Preparation()
            known.task = asyncio.create_task(work(known.told))
            while len(self._preparing) > KEPT_PREPARATIONS:
                old = next(iter(self._preparing))
                if not self._is_done(old):
                    break
                self._preparing.pop(old)
        assert known.task is not None
        if told is not None:
            known.waiting.append(told)
            if not known.task.done():
                told(known.stage)
        try:
            return await asyncio.shield(known.task)
        except BaseException:
            others = [one for one in known.waiting if one is not told]
            if known.task.done() or (told is not None and not others):  # stopped, and for all
                known.task.cancel()
                if self._preparing.get((game, what)) is known:
                    self._preparing.pop((game, what))
            raise
        finally:
            if told is not None:
                known.waiting.remove(told)

    def _is_done(self, key: tuple[Game, str]) -> bool:
        task = self._preparing[key].task
        return task is not None and task.done()

    def make_ready(self, sitting: Sitting) -> None:
        """Prepare what a table will ask for, while people look at it.

        Agents that take time come first, then whoever gives hints. The rules run as Python until
        their compiled forms are there; these come last, so that nothing is compiled twice.
        """
        game = sitting.game
        if self._stopping or game in self._readying or not sitting.is_played:
            return
        agents = dict.fromkeys(seat.who for seat in sitting.seats if seat.who != HUMAN)

        async def ready() -> None:
            for who in agents:
                if takes_time(game, who):
                    await _whatever_comes(self.prepare(game, who))
            await _whatever_comes(self.levels(game))
            if game.is_compiled:
                prepare([getattr(game.rules, name) for name in AT_A_TABLE])

        while len(self._readying) >= KEPT_PREPARATIONS:
            self._readying.pop(next(iter(self._readying))).cancel()
        self._readying[game] = asyncio.create_task(ready())

    async def expect(self) -> None:
        """Start processes that will soon be needed."""
        await self.players.start()
        await self.searchers.start()

    async def analyse(
        self, table: Table, heard: Callable[[Any], None], first: int = 0, who: str = "",
        told: Told | None = None,
    ) -> dict[str, Any]:  # fmt: skip
        """Judge the moves of a game from ply `first` on; every judgement is heard as it comes."""
        order = {"do": "analyse", "table": sent(table), "first": first, "who": who}
        return await self.analysts.ask(order, heard, told=told)

    async def levels(self, game: Game, told: Told | None = None) -> dict[str, Any]:
        """Say who plays a game best (`best`), and at which levels (`levels`)."""
        if game not in self._levels:
            order = {"do": "levels", "game": game.name, "settings": dict(game.settings)}
            found = await self._prepare(
                game, BEST, told,
                lambda told: self.searchers.ask(order, told=told, near=(game, "perfect")),
            )  # fmt: skip
            while len(self._levels) >= KEPT_LEVELS:
                self._levels.pop(next(iter(self._levels)))
            self._levels[game] = found
        return self._levels[game]

    async def picture(self, game: Game) -> str:
        """Draw a game, once."""
        if game.name not in self._drawing:
            self._drawing[game.name] = asyncio.create_task(asyncio.to_thread(picture, game))
        return await asyncio.shield(self._drawing[game.name])

    def drawn(self, game: Game) -> str:
        """Give the picture of a game if it is there."""
        task = self._drawing.get(game.name)
        return task.result() if task and task.done() and not task.cancelled() else ""

    async def _warm_up(self) -> None:
        """Load and draw all games before somebody asks for them."""
        for name in game_names():
            with contextlib.suppress(KibitzError):
                await self.picture(find_listed_game(name))

    def pinned(self, who: str) -> str:
        """Return the name for good of an agent that may still learn."""
        return self.runs.pinned(who) if who.startswith(RUN) else who

    def found(self, who: str) -> str:
        """Return an agent as the registry takes it: whoever has a file, by where that lies."""
        if who.startswith(OWN):
            return self.own.who(who)
        return str(self.runs.latest_of(who)) if who.startswith(RUN) else who

    def offers(self, game: Game) -> tuple[Offer, ...]:
        """List the agents that can be asked for."""
        return (*self.own.offers(game), *offers(game), *self.runs.offers(game))

    def checked(self, game: Game, who: object) -> str:
        """Give back the name of an agent that a browser may ask for, or raise and say why not."""
        if isinstance(who, str) and who.startswith(RUN):
            return self.runs.checked(game, who)
        if isinstance(who, str) and who.startswith(OWN):
            return self.own.checked(game, who)
        return checked(game, who)

    def interrupt(self, sitting: Sitting) -> None:
        """Stop whoever thinks at a table."""
        task = self._driving.get(sitting.id)
        if task is not None:
            task.cancel()
            sitting.trouble = "You stopped it."
            sitting.changed()

    # --- keeping -------------------------------------------------------------------------------

    def save(self) -> None:
        """Write all tables that have changed."""
        for sitting in list(self._sittings.values()):
            self._save(sitting.id, sitting.version, sitting.to_json)

    def _save(self, id: str, version: int, text: Any) -> None:
        if self._saved.get(id) != version and id in self._sittings:  # not closed meanwhile
            save(self.folder / f"{id}.json", text())
            self._saved[id] = version

    async def _keep(self) -> None:
        """Write what has changed, now and then, and forget what nobody looks at."""
        while True:
            await asyncio.sleep(SAVE_SECONDS)
            for sitting in list(self._sittings.values()):
                if self._saved.get(sitting.id) != sitting.version:
                    text, version = sitting.to_json(), sitting.version
                    with contextlib.suppress(KibitzError):  # a full disk: tried again
                        await asyncio.to_thread(
                            self._save, sitting.id, version, lambda text=text: text
                        )
                elif (
                    not self._is_looked_at(sitting.id) and sitting.id not in self._driving
                    and time.time() - sitting.changed_at > IDLE_SECONDS
                ):  # fmt: skip
                    self._sittings.pop(sitting.id)
                    self._saved.pop(sitting.id)


def _recorded(record: Record, host: str) -> Sitting:
    """Set up the table of a record, at which nobody moves."""
    seats = range(record.game.players)
    return Sitting(
        # A name in a file makes no agent of anything.
        secrets.token_urlsafe(9), record.table(),
        [Seat(RECORDED, name=_recorded_name(record, seat)) for seat in seats],
        host=host, played=False,
    )  # fmt: skip


def _recorded_name(record: Record, seat: int) -> str:
    """Return what a record calls a seat, or nothing where it names nobody."""
    return record.name_of(seat) if seat < len(record.agents) else ""


def _card_of(sitting: Sitting) -> Card:
    people = frozenset({sitting.host, *(seat.person for seat in sitting.seats)})
    done = sitting.over or not sitting.is_played
    return Card(sitting.id, sitting.game.name, sitting.host, people, sitting.changed_at, done)


def _card_of_file(path: Path) -> Card | None:
    """Read what a file says about a table, without setting it up; None if it is damaged."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        people = frozenset({content["host"], *(seat["person"] for seat in content["seats"])})
        done = content["over"] or not content["played"]
        return Card(path.stem, content["game"], content["host"], people, content["changed"], done)
    except (OSError, ValueError, LookupError, TypeError):
        return None
