"""The first click: a server of its own for each game, with nothing compiled yet.

A table with the opponents that the form suggests lies in the server's folder. A player without a
screen (web_players.py) loads its page as soon as the server answers and clicks at once.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import aiohttp
import numpy as np

from bench.report import FellShort, Row, spread
from bench.web_players import ACTION, Player
from kibitz.core.registry import find_game, game_names
from kibitz.play.seats import HUMAN
from kibitz.web.catalogue import levels_of, takes_time
from kibitz.web.new_table import usual_level
from kibitz.web.sitting import Seat, Sitting
from tests.web import Server, cookie_of, lay

MOST = 2.0  # seconds from the click to the new board
LONGEST = 300.0  # seconds for the agent's answer
PERSON = "bench"
TABLE = "first-table"
PAUSE = 0.002  # seconds between two looks


@dataclass(frozen=True, slots=True)
class Measured:
    """Seconds of one game: from the start of the server, and from the click."""

    answers: float  # HTTP, from the start
    page: float  # of the table, from the start
    board: float  # with one's own move, from the click
    answer: float  # of the agent, from the click
    cpu: float  # of the server and its processes, from the start to the board
    prepared: bool  # whether the agent had to be compiled first


def cpu_seconds(pid: int) -> float:
    """Return the CPU time of a process with all that it started and that is still there."""
    parents, spent = {}, {}
    for one in Path("/proc").iterdir():
        if one.name.isdigit():
            try:
                fields = (one / "stat").read_text().rpartition(")")[2].split()
            except OSError:  # it has ended
                continue
            parents[int(one.name)] = int(fields[1])
            spent[int(one.name)] = sum(map(int, fields[11:15]))  # with children that have ended
    family, grown = {pid}, True
    while grown:
        found = {one for one, parent in parents.items() if parent in family} - family
        family |= found
        grown = bool(found)
    return sum(spent.get(one, 0) for one in family) / os.sysconf("SC_CLK_TCK")


def lay_table(folder: Path, name: str) -> bool:
    """Lay a table with the usual opponents; tell whether they have to be prepared."""
    game = find_game(name)
    who = levels_of(game)[usual_level(game)]
    table = game.deal(1)
    seats = [Seat(HUMAN if seat == table.seat else who) for seat in range(game.players)]
    sitting = Sitting(TABLE, table, seats, host=PERSON, pace="at once")
    sitting.take(PERSON, table.seat)
    lay(folder, sitting)
    return takes_time(game, who)


async def measured(name: str, folder: Path) -> Measured:
    """Start a server, open the table, click, and wait for the answer."""
    prepared = lay_table(folder, name)
    server = Server(folder)
    began = time.perf_counter()
    server.start()
    answers = time.perf_counter() - began
    assert server.process is not None
    try:
        cookie = cookie_of(server, PERSON)["value"]
        player = Player(server.url, cookie, TABLE)
        async with aiohttp.ClientSession(cookies={"session": cookie}) as session:
            await player.open(session)
        page = time.perf_counter() - began
        await player.click(int(ACTION.findall(player.props["svg"])[0]))
        clicked = player.clicked
        while player.clicked:
            await asyncio.sleep(PAUSE)
        board = time.perf_counter() - clicked
        cpu = cpu_seconds(server.process.pid)
        while not player.props["live"]:
            assert time.perf_counter() - clicked < LONGEST, f"{name}: the agent does not answer"
            await asyncio.sleep(PAUSE)
        answer = time.perf_counter() - clicked
        await player.socket.disconnect()
    finally:
        server.stop()
    return Measured(answers, page, board, answer, cpu, prepared)


def run() -> list[Row]:
    found: dict[str, Measured] = {}
    kept = {name: os.environ.get(name) for name in ("KIBITZ_CACHE", "KIBITZ_COMPILE")}
    for name in game_names():
        with tempfile.TemporaryDirectory() as home:
            cache = Path(home) / "cache"
            cache.mkdir(mode=0o700)
            os.environ["KIBITZ_CACHE"] = str(cache)
            os.environ.pop("KIBITZ_COMPILE", None)
            try:
                found[name] = asyncio.run(measured(name, Path(home)))
            finally:
                for variable, value in kept.items():
                    if value is None:
                        os.environ.pop(variable, None)
                    else:
                        os.environ[variable] = value
    return judged(found)


def judged(found: dict[str, Measured]) -> list[Row]:
    """Make rows of what was measured."""
    starts = [one.answers for one in found.values()]
    pages = [one.page for one in found.values()]
    rows = [
        Row(what="`kibitz serve`, start to the first answer", figure=f"{np.median(starts):.2f} s",
            spread=spread(starts), compared="nothing compiled yet"),
        Row(what="the same, to the page of a table", figure=f"{np.median(pages):.2f} s",
            spread=spread(pages)),
    ]  # fmt: skip
    for name, one in found.items():
        agent = "compiled first" if one.prepared else "as Python"
        rows.append(
            Row(
                what=f"{name}, first click to the new board, nothing compiled yet",
                figure=f"{one.board:.2f} s",
                compared=f"at most {MOST:g} s; the agent, {agent}, answers after "
                f"{one.answer:.1f} s; CPU {one.cpu:.1f} s from the start to the board",
            )
        )
    late = [f"{name}: {one.board:.2f} s" for name, one in found.items() if one.board > MOST]
    if late:
        raise FellShort(rows, late)
    return rows


if __name__ == "__main__":
    from bench.report import table

    print(table(run()))
