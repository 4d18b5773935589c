"""The leagues of a store, as the pages see them: lists, figures, and runs, all of other processes.

Reading a store and rating a league may take seconds, so a clerk does it; what it found is kept
until the league has changed. A run has a process of its own, which ends when it is stopped or the
server ends; what it has played by then is kept.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import re
import time
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from kibitz.core.errors import KibitzError
from kibitz.core.game import Game
from kibitz.core.registry import find_game
from kibitz.web.catalogue import WITH_FILES, checked
from kibitz.web.sitting import Refused
from kibitz.web.thinking import THINKS, Stage, Thinkers

MOST_RUNS = 2  # at once
MOST_GAMES = 100_000  # that can be asked for at once
MOST_AGENTS = 64  # that can be asked for at once
LONGEST_NAME = 80
KEPT_VIEWS = 16
SLOW = 900.0  # seconds for what a large league takes
LISTED_SECONDS = 20.0  # after which a list is read again
ENOUGH = 200  # games, before it is said who plays best
ENDINGS = {".html": "text/html", ".csv": "text/csv", ".json": "application/json"}
NO_LEAGUE = "There is no such league in this store. Begin it, or look at the others."

View = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A league in the list."""

    key: str  # its name in addresses
    name: str
    game: str
    version: int
    settings: dict[str, Any]
    games: int = 0
    members: int = 0
    made_at: float = 0.0
    leaders: Sequence[dict[str, Any]] = ()

    def find(self) -> Game:
        """Give its game as it is set; raises where there is none like it here."""
        return find_game(self.game).having(**self.settings)


@dataclass(slots=True)
class Run:
    """A league that is being played, or was."""

    wanted: int  # games of every member
    done: int = 0
    total: int = 0
    over: bool = False
    failed: bool = False
    said: str = ""  # how it ended
    stage: Stage = THINKS  # whether agents are being compiled
    task: asyncio.Task[None] | None = None

    @property
    def part(self) -> float:
        """How much of it is done, 0 to 1."""
        return self.done / self.total if self.total else 0.0


def key_of(name: str) -> str:
    """Give a league's name for addresses: readable, and different for different names."""
    plain = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40]
    digest = hashlib.blake2b(name.encode(), digest_size=4).hexdigest()
    return f"{plain}-{digest}" if plain else digest


class Agents(Protocol):
    """Who may be asked for, and where their files lie: see `Hall`."""

    def checked(self, game: Game, who: object) -> str:
        """Return the name of an agent that a browser may ask for, or raise."""

    def pinned(self, who: str) -> str:
        """Return the name for good of an agent that may still learn."""

    def found(self, who: str) -> str:
        """Return an agent as the registry takes it."""


class OurAgents:
    """Agents that come with kibitz; none has a file of its own."""

    def checked(self, game: Game, who: object) -> str:
        """Return the name of an agent that a browser may ask for, or raise."""
        return checked(game, who)

    def pinned(self, who: str) -> str:
        """Return the same name."""
        return who

    found = pinned


class Leagues:
    """All leagues of a store."""

    def __init__(
        self, folder: Path, store: str | None = None, agents: Agents | None = None
    ) -> None:
        self.agents = agents or OurAgents()
        self.folder = folder / "leagues"  # reports and exports that were written
        self.store = store
        self._clerk = Thinkers(1)  # lists and ladders
        self._writer = Thinkers(1)  # reports and exports
        self._entries: dict[str, Entry] = {}
        self._listed_at = float("-inf")
        self._listing: asyncio.Task[None] | None = None
        self._views: OrderedDict[str, View] = OrderedDict()
        self._looking: dict[str, asyncio.Task[View]] = {}
        self._writing: dict[tuple[str, str], asyncio.Task[Path]] = {}
        self._beginning = 0
        self.runs: dict[str, Run] = {}
        self._listeners: dict[str, list[Callable[[], None]]] = {}

    async def stop(self) -> None:
        """End all runs and processes."""
        tasks: list[asyncio.Task[Any] | None] = [run.task for run in self.runs.values()]
        tasks += [self._listing, *self._looking.values(), *self._writing.values()]
        for task in tasks:
            if task is not None and not task.done():
                task.cancel()
                with contextlib.suppress(asyncio.CancelledError, KibitzError):
                    await task
        for thinkers in (self._clerk, self._writer):
            await thinkers.stop()

    # --- looking -------------------------------------------------------------------------------

    async def entries(self) -> list[Entry]:
        """List all leagues, as they are now."""
        if self._listing is None or self._listing.done():
            self._listing = asyncio.create_task(self._list())
        await asyncio.shield(self._listing)
        return list(self._entries.values())

    async def _list(self) -> None:
        order = {"do": "league", "what": "list", "store": self.store}
        found = await self._clerk.ask(order)
        self._entries = {
            key_of(one["name"]): Entry(key=key_of(one["name"]), **one) for one in found
        }
        self._listed_at = time.monotonic()

    def listed(self, key: str) -> Entry | None:
        """Find a league in the list that was read last."""
        return self._entries.get(key)

    async def entry(self, key: str) -> Entry:
        """Find a league by its name in addresses."""
        if key not in self._entries:
            await self.entries()
        if key not in self._entries:
            raise Refused(NO_LEAGUE)
        return self._entries[key]

    def known(self, key: str) -> View | None:
        """Give the figures that were drawn last, if any."""
        return self._views.get(key)

    async def view(self, key: str) -> View:
        """Draw the figures of a league, or give those that are there if nothing has changed."""
        if key not in self._looking:
            task = asyncio.create_task(self._look(key))
            self._looking[key] = task
            task.add_done_callback(lambda _: self._looking.pop(key, None))
        return await asyncio.shield(self._looking[key])

    async def _look(self, key: str) -> View:
        before = self._views.get(key)
        order = self._order(await self.entry(key), "view", known=before and before["stamp"])
        view = await self._clerk.ask(order, patience=SLOW) or before
        assert view is not None
        self._views.pop(key, None)
        self._views[key] = view
        while len(self._views) > KEPT_VIEWS:
            self._views.popitem(last=False)
        return view

    def _order(self, entry: Entry, what: str, **more: Any) -> dict[str, Any]:
        return {
            "do": "league", "what": what, "store": self.store, "name": entry.name,
            "game": entry.game, "settings": entry.settings, **more,
        }  # fmt: skip

    def best_in_league(self, game: Game) -> str | None:
        """Say who leads the league of a game as it is set, if enough games were played.

        This never waits: it goes by the list that was read last, and has it read again if need be.
        """
        stale = time.monotonic() - self._listed_at > LISTED_SECONDS
        if stale and (self._listing is None or self._listing.done()):
            with contextlib.suppress(RuntimeError):  # nobody serves yet
                self._listing = asyncio.get_running_loop().create_task(self._list())
                self._listing.add_done_callback(_heard)
        settings = json.loads(json.dumps(dict(game.settings)))
        found = [
            entry
            for entry in self._entries.values()
            if (entry.game, entry.version, entry.settings) == (game.name, game.version, settings)
            and entry.members > 1 and entry.leaders and entry.leaders[0]["games"] >= ENOUGH
        ]  # fmt: skip
        best = max(found, key=lambda entry: entry.games, default=None)
        return str(best.leaders[0]["name"]) if best else None

    async def record(self, key: str, number: object) -> bytes:
        """Give a game that was kept, by the number that the figures give it."""
        if isinstance(number, bool) or not isinstance(number, int) or number < 0:
            raise Refused("That is no game of this league.")
        order = self._order(await self.entry(key), "record", number=number)
        text: str = await self._clerk.ask(order)
        return text.encode()

    def pair(self, view: View, game: Game, choice: object) -> list[str]:
        """Say who sits where when two members meet that a browser names, as in `3-5`; or raise."""
        members = {str(member["id"]): member for member in view["members"]}
        ids = str(choice)[:40].split("-")
        if len(ids) != 2 or not all(id in members for id in ids):
            raise Refused("That is no pair of this league. Load the page again.")
        for id in ids:
            if members[id]["why"]:
                raise Refused(members[id]["why"])
        who = [self._seated(game, members[id]) for id in ids]
        return [who[seat % 2] for seat in range(game.players)]

    def _seated(self, game: Game, member: Mapping[str, Any]) -> str:
        """Return a member as tables know it: one with a file by its name, if it is the same."""
        if not str(member.get("member", "")).startswith(WITH_FILES):
            return checked(game, member["who"])
        who = self.agents.checked(game, member["member"])
        if self.agents.found(who) != member["who"]:
            raise Refused(f"{who} is another agent here than in this league.")
        return who

    def _chosen(self, game: Game, agents: Sequence[object]) -> dict[str, str]:
        """Return agents that a browser may ask for, by what they are called in a league."""
        names = map(self.agents.pinned, checked_agents(game, agents, self.agents))
        return {name: self.agents.found(name) for name in names}

    async def written(self, key: str, ending: str) -> Path:
        """Give the file of a report (`.html`) or an export, written anew if something changed."""
        if ending not in ENDINGS:
            raise Refused(f"A league is written as {', '.join(ENDINGS)}.")
        if (key, ending) not in self._writing:
            task = asyncio.create_task(self._write(key, ending))
            self._writing[key, ending] = task
            task.add_done_callback(lambda _: self._writing.pop((key, ending), None))
        return await asyncio.shield(self._writing[key, ending])

    async def _write(self, key: str, ending: str) -> Path:
        view, entry = await self.view(key), await self.entry(key)
        digest = hashlib.blake2b(view["stamp"].encode(), digest_size=6).hexdigest()
        path = self.folder / f"{key}-{digest}{ending}"
        if not path.is_file():
            self.folder.mkdir(parents=True, exist_ok=True)
            order = self._order(entry, "write", ending=ending, path=str(path.absolute()))
            await self._writer.ask(order, patience=SLOW)
            for other in self.folder.glob(f"{key}-*{ending}"):  # of before
                if other != path:
                    other.unlink(missing_ok=True)
        return path

    # --- changing ------------------------------------------------------------------------------

    async def begin(self, game: Game, name: str, agents: Sequence[object], games: object) -> str:
        """Begin a league of some agents, or of all that come with the game, and let them play.

        Give the name that it has in addresses.
        """
        wanted = checked_games(games)
        called = checked_name(name)
        chosen = self._chosen(game, agents)
        if not game.cooperative and len(chosen) == 1:
            raise Refused("A league needs two agents at least. Choose another one too.")
        self._check_room()
        order = {
            "do": "league", "what": "begin", "store": self.store, "name": called,
            "game": game.name, "settings": dict(game.settings), "agents": chosen,
        }  # fmt: skip
        thinkers = Thinkers(1)
        self._beginning += 1
        try:
            begun = await thinkers.ask(order, patience=SLOW)
            entry = Entry(
                key=key_of(begun), name=begun, game=game.name, version=game.version,
                settings=json.loads(json.dumps(dict(game.settings))),
            )  # fmt: skip
            self._entries[entry.key] = entry
        except BaseException:
            await thinkers.stop()
            raise
        finally:
            self._beginning -= 1
        self._start(entry, wanted, thinkers)
        return entry.key

    async def play(self, key: str, more: object) -> Run:
        """Let everybody play so many more games, in a process of its own."""
        count = checked_games(more)
        entry, view = await self.entry(key), await self.view(key)
        if self.is_running(key):
            raise Refused("This league is being played already.")
        self._check_room()
        playing = [member["games"] for member in view["members"] if not member["suspended"]]
        return self._start(entry, min(playing, default=0) + count, Thinkers(1))

    def is_running(self, key: str) -> bool:
        """Tell whether a league is being played by this server."""
        return key in self.runs and not self.runs[key].over

    def _check_room(self) -> None:
        busy = sum(not run.over for run in self.runs.values()) + self._beginning
        if busy >= MOST_RUNS:
            raise Refused(
                f"{MOST_RUNS} leagues are being played already. Wait for one of them, or stop it."
            )

    def _start(self, entry: Entry, wanted: int, thinkers: Thinkers) -> Run:
        run = self.runs[entry.key] = Run(wanted)
        run.task = asyncio.create_task(self._run(entry, run, thinkers))
        self._changed(entry.key)
        return run

    async def _run(self, entry: Entry, run: Run, thinkers: Thinkers) -> None:
        def heard(part: dict[str, int]) -> None:
            run.done, run.total = part["done"], part["total"]
            self._changed(entry.key)

        def told(stage: Stage) -> None:
            run.stage = stage
            self._changed(entry.key)

        cores = max(1, (os.cpu_count() or 1) - 1)  # pages and agents at tables want one too
        order = self._order(entry, "run", games=run.wanted, cores=cores)
        try:
            await thinkers.ask(order, heard, patience=None, told=told)
            run.said = f"Everybody has {run.wanted:,} games."
        except asyncio.CancelledError:
            run.said = "Stopped. Every match that was finished is kept."
        except KibitzError as error:
            run.said, run.failed = str(error), True
        finally:
            run.over = True
            await thinkers.stop()
            self._changed(entry.key)

    async def halt(self, key: str) -> None:
        """Stop a run; what was played is kept."""
        run = self.runs.get(key)
        if run is None or run.over or run.task is None:
            raise Refused("This league is not being played.")
        run.task.cancel()
        await asyncio.wait([run.task])

    async def add(self, key: str, agents: Sequence[object]) -> None:
        """Let agents join."""
        entry = await self.entry(key)
        chosen = self._chosen(entry.find(), agents)
        if not chosen:
            raise Refused("Choose who shall join.")
        await self._clerk.ask(self._order(entry, "add", agents=chosen), patience=SLOW)
        self._changed(key)

    async def suspend(self, key: str, id: int, suspended: bool) -> None:
        """Let a member play no more, or again."""
        view = await self.view(key)
        member = next((one for one in view["members"] if one["id"] == id), None)
        if member is None:
            raise Refused("There is no such agent in this league. Load the page again.")
        what = "suspend" if suspended else "readmit"
        order = self._order(await self.entry(key), what, member=member["member"])
        await self._clerk.ask(order)
        self._changed(key)

    # --- telling -------------------------------------------------------------------------------

    def listen(self, key: str, listener: Callable[[], None]) -> None:
        """Call somebody whenever something happens to a league here."""
        self._listeners.setdefault(key, []).append(listener)

    def forget(self, key: str, listener: Callable[[], None]) -> None:
        """Stop that."""
        if listener in self._listeners.get(key, []):
            self._listeners[key].remove(listener)

    def _changed(self, key: str) -> None:
        for listener in list(self._listeners.get(key, [])):
            listener()


def _heard(task: asyncio.Task[None]) -> None:
    """Take note of how a task ended that nobody waits for."""
    if not task.cancelled():
        task.exception()


# --- what comes from a browser -----------------------------------------------------------------


def checked_games(games: object) -> int:
    """Give a number of games that can be asked for, or raise."""
    try:
        count = int(str(games).replace(",", "").removesuffix(".0"))
    except ValueError:
        raise Refused(f"Say how many games, as a whole number, not '{str(games)[:20]}'.") from None
    if not 1 <= count <= MOST_GAMES:
        raise Refused(f"From 1 to {MOST_GAMES:,} games at once, please.")
    return count


def checked_name(name: object) -> str:
    """Give a name for a league, or nothing for the usual one."""
    text = str(name or "").strip()
    if len(text) > LONGEST_NAME or not text.isprintable():
        raise Refused(f"A name has up to {LONGEST_NAME} printable signs.")
    return text


def checked_agents(game: Game, agents: Sequence[object], known: Agents | None = None) -> list[str]:
    """Return agents that a browser may ask for, or raise."""
    if len(agents) > MOST_AGENTS:
        raise Refused(f"At most {MOST_AGENTS} agents at once, please.")
    known = known or OurAgents()
    return list(dict.fromkeys(known.checked(game, who) for who in agents))


_here: Leagues | None = None


def make(folder: Path, store: str | None, agents: Agents) -> Leagues:
    """Make the leagues that this server shows."""
    global _here
    _here = Leagues(folder, store, agents)
    return _here


def best_in_league(game: Game) -> str | None:
    """Say who leads the league of a game, if there is one with enough games; this never waits."""
    return _here.best_in_league(game) if _here else None
