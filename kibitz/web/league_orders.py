"""What a process does with leagues for the pages: list, rate, draw, play, write. See thinker.py.

Names of members that are paths are shown short: pages need not know where files lie.
"""

from __future__ import annotations

import re
import threading
import time
import zlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.files import save
from kibitz.core.film import Sample
from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.core.registry import find_agent, find_game
from kibitz.league.book import Member, league_names
from kibitz.league.charts import axis_over, dash_of
from kibitz.league.encounters import circles_section, matrix_section
from kibitz.league.heat import Door
from kibitz.league.ladder import Ladder
from kibitz.league.league import League
from kibitz.league.listing import listing
from kibitz.league.members import everybody
from kibitz.league.samples import best_first, samples_section
from kibitz.league.sections import ladder_section, seats_section
from kibitz.league.store import Store, is_there, store_name
from kibitz.web.catalogue import WITH_FILES, checked

KEPT = 8  # leagues that stay open, with what was read of them
SAMPLES = 60  # games that a page lists
TELL_SECONDS = 0.2  # between two words on how far a run is
WATCH = "Watch them play."
PATH = re.compile(r"[/\\]")

Tell = Callable[[Any], None]
Order = dict[str, Any]


class LeagueOrders:
    """Answers orders about leagues; those that were asked for lately stay open."""

    def __init__(self) -> None:
        self._open: OrderedDict[tuple[str, str], League] = OrderedDict()

    def answer(self, order: Order, tell: Tell) -> Any:
        """Do what an order says."""
        return getattr(self, f"do_{order['what']}")(order, tell)

    def _league(self, order: Order) -> League:
        key = (store_name(order["store"]), order["name"])
        league = self._open.pop(key, None)
        if league is None:
            game = find_game(order["game"]).having(**order["settings"])
            league = League(game, order["store"], order["name"], make=False)
        self._open[key] = league
        while len(self._open) > KEPT:
            self._open.popitem(last=False)
        return league

    # --- looking -------------------------------------------------------------------------------

    def do_list(self, order: Order, tell: Tell) -> list[dict[str, Any]]:
        """List the leagues of the store; a store that nobody has made yet holds none."""
        if not is_there(store_name(order["store"])):
            return []
        found = [asdict(one) for one in listing(Store(order["store"], make=False))]
        for league in found:
            for leader in league["leaders"]:
                leader["name"] = short([leader["name"]])[leader["name"]]
        return found

    def do_view(self, order: Order, tell: Tell) -> dict[str, Any] | None:
        """Draw all figures of a league; nothing if it is still as the order knows it."""
        league = self._league(order)
        stamp = stamp_of(league)
        if stamp == order.get("known"):
            return None
        members, full = league.members, league.ladder()
        called = short(member.name for member in members)
        ladder = renamed(full, called)
        doors = doors_of(ladder, members, called, league.game)
        samples, kept = self._samples(league, ladder, called)
        return {
            "stamp": stamp, "games": ladder.games, "rounds": ladder.rounds, "seed": ladder.seed,
            "moves": ladder.moves, "cooperative": ladder.cooperative,
            "members": [_about(one, called, ladder, league.game) for one in members],
            "history": history_of(ladder),
            "ladder": ladder_section(ladder, pins=False),
            "matrix": matrix_section(
                ladder, league.game, doors, "Choose a cell, and those two play."
            ) if ladder.cells else "",
            "circles": circles_section(ladder) if ladder.games else "",
            "seats": seats_section(ladder, league.game),
            "samples": samples_section(
                [sample for sample, _ in samples], kept - len(samples), ladder.cooperative,
                lambda at: {"data_choice": samples[at][1]},
            ) if kept else "",
        }  # fmt: skip

    def _samples(
        self, league: League, ladder: Ladder, called: Mapping[str, str]
    ) -> tuple[list[tuple[Sample, int]], int]:
        """Give some kept games, the best first, each with its number; and how many there are."""
        names = {member.id: called[member.name] for member in league.members}
        records = league.book.records()
        numbered = [
            (tuple(names[member] for member in lineup), str(number))
            for number, (lineup, _) in enumerate(records)
        ]
        found = []
        for seats, number in best_first(ladder, numbered)[:SAMPLES]:
            record = Record.from_json(records[int(number)][1], lambda _: league.game)
            points = tuple(record.table().points)
            sample = Sample(names=seats, points=points, plies=len(record.actions))
            found.append((sample, int(number)))
        return found, len(records)

    def do_record(self, order: Order, tell: Tell) -> str:
        """Give a game that was kept, by its number, with the members' names at the seats."""
        league = self._league(order)
        names = {member.id: member.name for member in league.members}
        called = short(names.values())
        records = league.book.records()
        if not 0 <= order["number"] < len(records):
            raise Misuse("This game is no longer kept. Choose another.")
        lineup, text = records[order["number"]]
        record = Record.from_json(text, lambda _: league.game)
        return replace(record, agents=tuple(called[names[id]] for id in lineup)).to_json()

    def do_write(self, order: Order, tell: Tell) -> None:
        """Write the report, or an export, to the file that the server names."""
        league, ending = self._league(order), order["ending"]
        save(order["path"], league.report() if ending == ".html" else league.export(ending))

    # --- changing ------------------------------------------------------------------------------

    def do_begin(self, order: Order, tell: Tell) -> str:
        """Begin a league with some agents, or with all that come with the game; give its name."""
        game = find_game(order["game"]).having(**order["settings"])
        name = order["name"] or game.described()
        names = order["agents"] or {who: who for who in everybody(game)}
        for who in names.values():  # nothing is begun with somebody who cannot play
            find_agent(who, game)
        if is_there(store_name(order["store"])):
            known = league_names(Store(order["store"], make=False))
            if any(other == name for other, *_ in known):
                raise Misuse(f"There is a league '{name}' already. Give this one another name.")
        league = League(game, order["store"], name)
        join(league, names)
        return league.name

    def do_add(self, order: Order, tell: Tell) -> None:
        """Let agents join."""
        join(self._league(order), order["agents"])

    def do_suspend(self, order: Order, tell: Tell) -> None:
        """Let a member play no more."""
        self._league(order).suspend(order["member"])

    def do_readmit(self, order: Order, tell: Tell) -> None:
        """Let a member play again."""
        self._league(order).readmit(order["member"])

    def do_run(self, order: Order, tell: Tell) -> dict[str, Any]:
        """Play until everybody has so many games; parts say how far it is."""
        lock, told = threading.Lock(), [0.0]

        def progress(done: int, total: int) -> None:
            with lock:  # several threads play
                now = time.monotonic()
                if now - told[0] >= TELL_SECONDS or done >= total:
                    told[0] = now
                    tell({"done": done, "total": total})

        league = self._league(order)
        ladder = league.run(order["games"], cores=order["cores"], progress=progress)
        return {"games": ladder.games}


def join(league: League, agents: Mapping[str, str]) -> None:
    """Let agents join by the names that the pages have for them."""
    for name, who in agents.items():
        league.add(who, name=name)


# --- what a view is made of --------------------------------------------------------------------


def stamp_of(league: League) -> str:
    """Name the state of a league: it changes when somebody has played, joined or was suspended."""
    last = league.book.last_round()
    who = repr([(member.name, member.suspended) for member in league.members]).encode()
    rounds = (last.number, last.rated) if last else ()
    return f"{league.book.games_played()} {rounds} {zlib.crc32(who)}"


def short(names: Iterable[str]) -> dict[str, str]:
    """Give what to call members: of a path the end, as long as that tells them apart."""
    names = list(names)
    called: dict[str, str] = {}
    for name in names:
        parts = PATH.split(name)
        ends = ("/".join(parts[-count:]) for count in range(1, len(parts)))
        others = [other for other in names if other != name]
        alone = (end for end in ends if end and not any(other.endswith(end) for other in others))
        called[name] = next(alone, name)
    return called


def renamed(ladder: Ladder, called: Mapping[str, str]) -> Ladder:
    """Give the same ladder with other names."""
    return replace(
        ladder,
        rungs=tuple(replace(rung, name=called[rung.name]) for rung in ladder.rungs),
        cells={(called[one], called[two]): cell for (one, two), cell in ladder.cells.items()},
        circles=tuple(tuple(called[one] for one in circle) for circle in ladder.circles),
        names={id: called[name] for id, name in ladder.names.items()},
        anchor=called[ladder.anchor] if ladder.anchor else None,
    )


def why_not(game: Game, name: str, who: str | None) -> str:
    """Say why a member cannot sit down at a table of the pages; nothing if it can."""
    if who is None:
        return f"{name} is an object of a Python program, which is not here."
    if name.startswith(WITH_FILES):
        return ""  # the server knows where it lies, or says that it does not
    try:
        checked(game, who)
    except KibitzError:
        if PATH.search(who) or Path(who).suffix:
            return f"{name} plays from a file, which pages do not open. Try kibitz watch."
        return f"{name} is not among the agents that pages may ask for. Try kibitz watch."
    return ""


def doors_of(
    ladder: Ladder, members: Iterable[Member], called: Mapping[str, str], game: Game
) -> dict[tuple[str, str], Door]:
    """Say what each cell of the matrix opens: a table, or the reason why there can be none."""
    known = {called[member.name]: member for member in members}
    reasons = {name: why_not(game, name, member.who) for name, member in known.items()}

    def door(one: str, two: str) -> Door:
        choice = {"data_choice": f"{known[one].id}-{known[two].id}"}
        reason = reasons[one] or reasons[two]
        return Door({**choice, "data_closed": 1}, reason) if reason else Door(choice, WATCH)

    return {(one, two): door(one, two) for one in known for two in known}


def _about(member: Member, called: Mapping[str, str], ladder: Ladder, game: Game) -> dict[str, Any]:
    name = called[member.name]
    return {
        "id": member.id, "name": name, "member": member.name, "who": member.who,
        "suspended": member.suspended, "games": ladder.rung(name).games,
        "why": why_not(game, name, member.who),
    }  # fmt: skip


def history_of(ladder: Ladder) -> dict[str, Any]:
    """Give the ratings after every round, one line for each member, in the order of the ladder."""
    places = {rung.name: place for place, rung in enumerate(ladder.rungs)}
    rounds = sorted({row.round for row in ladder.history})
    lines: dict[int, dict[str, Any]] = {}
    for row in ladder.history:
        name = ladder.names[row.member]
        agent = places[name]
        new = {"name": name, "agent": agent, "dash": dash_of(agent), "rows": []}
        line = lines.setdefault(row.member, new)
        line["rows"].append([row.round, row.strength, row.low, row.high])
    last = [line["rows"][-1] for line in lines.values()]
    axis = axis_over(
        [row[1] for line in lines.values() for row in line["rows"]],
        [end for row in last for end in row[2:]],
    )
    return {
        "rounds": rounds, "low": axis.low, "high": axis.high,
        "lines": sorted(lines.values(), key=lambda line: line["agent"]),
    }  # fmt: skip
