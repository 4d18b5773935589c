"""A process in which agents think, so that pages never wait: `python -m kibitz.web.thinker`.

Orders come as JSON lines on standard input, answers go as JSON lines to standard output: any number
of parts and of reports how far compiling is, then an answer or an error. Agents get views, made
here from the table that is sent along.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import asdict
from typing import Any, TextIO

import numpy as np

from kibitz.core.agent import Agent
from kibitz.core.chance import Chance
from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.game import Game
from kibitz.core.plain import as_json
from kibitz.core.record import Record
from kibitz.core.registry import find_agent, find_listed_game
from kibitz.core.table import Table
from kibitz.core.tiers import reports
from kibitz.play.seats import ask, guarded, join
from kibitz.play.worker import end_with
from kibitz.search.analysis import analyse
from kibitz.search.opponents import playable_levels, strongest

PICTURE_SEED, PICTURE_AFTER = 3, 0.35  # of a game's moves
SEATED = 256  # agents that are kept with all they have noticed
REPORT_SECONDS = 0.2  # between two reports how far compiling is
Tell = Callable[[Any], None]


class Seated:
    """An agent at a seat of somebody's table, and how far it has followed the game."""

    def __init__(self, who: str, table: Table, seat: int) -> None:
        self.agent: Agent = find_agent(who, table.game)
        self.seat = seat
        self.table = Table(table.game, table.dealt, seed=table.seed)
        join(self.agent, self.table, seat)

    def follow(self, table: Table) -> bool:
        """See what was played since; False where the game has taken another course."""
        seen = len(self.table.actions)
        if (
            self.table.game != table.game
            or table.actions[:seen] != self.table.actions
            or not np.array_equal(table.dealt, self.table.dealt)
        ):
            return False
        for action in table.actions[seen:]:
            view, mover = self.table.view(self.seat), self.table.seat
            if not table.game.secret:
                guarded(self.agent, self.agent.notice, view, mover, action)
            self.table.play(action)
        return True


class Thinker:
    """Answers orders; agents that think about the same table again remember it."""

    def __init__(self) -> None:
        self._seated: OrderedDict[tuple[str, int, str], Seated] = OrderedDict()
        self._leagues: Any = None

    def answer(self, order: dict[str, Any], tell: Tell) -> Any:
        """Do what an order says."""
        return getattr(self, f"do_{order['do']}")(order, tell)

    def do_choose(self, order: dict[str, Any], tell: Tell) -> int:
        """Let an agent choose for the seat to move."""
        table = table_of(order["table"])
        return ask(self._at(order, table).agent, table)

    def do_prepare(self, order: dict[str, Any], tell: Tell) -> None:
        """Compile what an agent needs, unless that is done, and load it."""
        game = find_listed_game(order["game"]).having(**order["settings"])
        agent = find_agent(order["who"], game)
        guarded(agent, agent.prepare)

    def do_explain(self, order: dict[str, Any], tell: Tell) -> dict[str, Any]:
        """Let an agent say what it would do for the seat to move, and why."""
        table = table_of(order["table"])
        agent = self._at(order, table).agent
        return asdict(guarded(agent, agent.explain, table.view()))

    def do_analyse(self, order: dict[str, Any], tell: Tell) -> dict[str, Any]:
        """Judge the moves of a game, one part each."""
        record = table_of(order["table"]).record()
        found = analyse(
            record, order.get("who", ""), first=order.get("first", 0),
            tell=lambda move: tell({**asdict(move), "cost": move.cost}),
        )  # fmt: skip
        return {"how": found.how, "unit": found.unit}

    def do_levels(self, order: dict[str, Any], tell: Tell) -> dict[str, Any]:
        """Say who plays a game best, and at which levels; that may mean to solve it."""
        game = find_listed_game(order["game"]).having(**order["settings"])
        best = strongest(game)
        return {"best": best, "levels": playable_levels(game, best)}

    def do_league(self, order: dict[str, Any], tell: Tell) -> Any:
        """Do something with a league, of which the rest of the order tells."""
        if self._leagues is None:  # the store takes half a second to import
            from kibitz.web.league_orders import LeagueOrders

            self._leagues = LeagueOrders()
        return self._leagues.answer(order, tell)

    def do_check(self, order: dict[str, Any], tell: Tell) -> None:
        """Replay a record from a stranger: what compiled rules cannot bear must not be ours."""
        Record.from_json(order["text"], find_listed_game, "This file")

    def _at(self, order: dict[str, Any], table: Table) -> Seated:
        key = (order["key"], table.seat, order["who"])
        kept = self._seated.pop(key, None)
        if kept is None or not kept.follow(table):
            kept = Seated(order["who"], table, table.seat)
            kept.follow(table)
        self._seated[key] = kept
        while len(self._seated) > SEATED:
            self._seated.popitem(last=False)
        return kept


def picture(game: Game) -> str:
    """Play a game by chance, and draw it where its board looks like something."""
    table = game.deal(PICTURE_SEED)
    rng = Chance(PICTURE_SEED, 0, 1)
    while not table.over:
        action = rng.choice(table.legal)
        game.rules.play(table.cells, action)  # not as a player's move: see Game.notice_move
        table.actions.append(action)
    early = table.copy().undo(len(table.actions) - max(1, int(len(table.actions) * PICTURE_AFTER)))
    early.view().redeal(rng)
    # To those who are not to move it offers nothing to click: a calm picture.
    return early.view((max(early.seat, 0) + 1) % game.players).svg()


def sent(table: Table) -> dict[str, Any]:
    """Write a table for an order."""
    return {
        "game": table.game.name, "settings": dict(table.game.settings), "seed": table.seed,
        "dealt": table.dealt.tolist(), "actions": list(table.actions),
    }  # fmt: skip


def table_of(order: dict[str, Any]) -> Table:
    """Set up the table that was sent."""
    game: Game = find_listed_game(order["game"]).having(**order["settings"])
    table = Table(game, np.array(order["dealt"], np.int16), seed=order["seed"])
    for action in order["actions"]:
        game.rules.play(table.cells, action)  # the sender has checked them
    table.actions = list(order["actions"])
    return table


class Voice:
    """Writes lines of answers, from whichever thread."""

    def __init__(self, out: TextIO) -> None:
        self._out = out
        self._lock = threading.Lock()
        self._is_asked = False  # whether an order is being answered
        self._reported = 0.0

    def say(self, **words: Any) -> None:
        """Write a line."""
        with self._lock:
            self._out.write(as_json(words, indent=None) + "\n")
            self._out.flush()

    def asked(self, is_asked: bool) -> None:
        """Begin an answer, or end it: nothing is reported in between."""
        self._is_asked, self._reported = is_asked, 0.0

    def report(self, done: int, total: int, name: str) -> None:
        """Write how far compiling is, now and then."""
        now = time.monotonic()
        if self._is_asked and (done >= total or now - self._reported > REPORT_SECONDS):
            self._reported = now
            self.say(preparing=done, of=total)


def main() -> None:
    """Answer orders until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the server decides when to stop
    if hasattr(os, "nice"):
        os.nice(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what an agent prints is no answer
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    thinker, voice = Thinker(), Voice(out)
    reports.append(voice.report)
    for line in sys.stdin:
        try:
            voice.asked(True)
            answer = thinker.answer(json.loads(line), lambda part: voice.say(part=part))
            voice.asked(False)
            voice.say(answer=answer)
        except BrokenPipeError:
            return
        except KibitzError as error:
            voice.asked(False)
            voice.say(error=type(error).__name__, message=str(error))
        except Exception as error:
            voice.asked(False)
            voice.say(error=AgentFailed.__name__, message=f"This went wrong: {error!r}.")


if __name__ == "__main__":
    main()
