"""A league: who takes part, the rounds they play, and the ladder that comes of it.

league = kibitz.open_league(kibitz.game("nim"), store="runs/leagues.sqlite", seed=1)
league.add("perfect", "expert", "random")
print(league.run(games=1000))
"""

from __future__ import annotations

import os
import time
import weakref
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

from kibitz.core.agent import Agent
from kibitz.core.chance import checked_seed
from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.notebook import Shown
from kibitz.core.registry import find_agent
from kibitz.league.book import Book, Member, Round
from kibitz.league.exporting import export
from kibitz.league.ladder import Ladder
from kibitz.league.members import anywhere, checked_name, settings_of
from kibitz.league.pairings import pairing_of
from kibitz.league.planning import Planner, Wish
from kibitz.league.rating import Rater
from kibitz.league.running import Playing
from kibitz.league.store import Store, league_command
from kibitz.league.tables import CLAIMED, PLANNED
from kibitz.play.fingerprint import fingerprint
from kibitz.play.workers import CHANGED, Worker

GAMES, GAMES_FOR_PRECISION = 1_000, 100_000  # of everybody, unless told otherwise
PATIENCE = 30.0  # seconds for a move
WAIT_SECONDS = 0.2  # while others finish a round

Progress = Callable[[int, int], Any]


class League(Shown):
    """A league of one game, as it is set, in a store. Several processes may play in it at once.

    `store` is a file for SQLite or a URL of PostgreSQL, `name` tells leagues of one game apart,
    `seed` names all chance of a new league. With `make` off, only a league that is there is opened.
    """

    def __init__(
        self,
        game: Game,
        store: Store | str | os.PathLike[str] | None = None,
        name: str | None = None,
        seed: int | None = None,
        make: bool = True,
    ) -> None:
        self.kibitz = version("kibitz")
        self.game = game
        if isinstance(store, Store):
            self.store = store
        else:
            self.store = Store(store, make, league_command(game, store, name, "run"))
        called = checked_name(name or game.described())
        fresh = checked_seed(seed) if make else None
        self.book = Book.open(self.store, game, called, fresh, self.kibitz)
        if seed is not None and seed != self.book.seed:
            raise Misuse(
                f"The league '{called}' has the seed {self.book.seed}, not {seed}. "
                "Leave the seed out to go on with it, or begin another with --name."
            )
        self.command = self.book.command
        self._present: dict[int, Any] = {}
        self._planner = Planner(self.book)
        self._rater = Rater(self.book)
        self._idle: list[Worker] = []
        weakref.finalize(self, _end, self._idle)

    @property
    def name(self) -> str:
        """What the league is called."""
        return self.book.name

    @property
    def members(self) -> list[Member]:
        """Everybody who takes part, in the order in which they joined."""
        return self.book.members()

    # --- who takes part ------------------------------------------------------------------------

    def add(self, *agents: Any, name: str | None = None) -> list[Member]:
        """Let agents join: names, model files, classes of agents, or functions from a view.

        A class or function plays only while the process that added it takes part, and so does
        `FILE.py:NAME`; add it again to go on another day. Who has joined before is left as it is.
        """
        if name is not None and len(agents) != 1:
            raise Misuse("A name is for one agent: add several one by one.")
        return [self._add(agent, name) for agent in agents]

    def _add(self, who: Any, name: str | None) -> Member:
        if isinstance(who, Agent):
            raise Misuse(f"Give the class of {who.name}, so that it can sit at several tables.")
        made = find_agent(who, self.game)
        by_name = isinstance(who, str | os.PathLike)
        text = os.fspath(who) if by_name else None
        called = checked_name(name or (text if text is not None else made.name))
        if text is not None:
            text = anywhere(text)
        member = self.book.add(called, text, settings_of(made), fingerprint(made), self.kibitz)
        if (member.who is None) != (text is None):
            raise Misuse(f"'{called}' is the name of another agent here. Give this one its own.")
        if text is None and self._present.setdefault(member.id, who) is not who:
            raise Misuse(f"Another '{called}' has joined already. Give this one its own name.")
        return member

    def suspend(self, name: str, reason: str = "by hand") -> None:
        """Let a member play no more; what it has played stays."""
        self.book.suspend(self.book.member(name).id, reason)

    def readmit(self, name: str) -> None:
        """Let a suspended member play again."""
        self.book.readmit(self.book.member(name).id)

    # --- playing -------------------------------------------------------------------------------

    def run(
        self,
        games: int | None = None,
        *,
        precision: float | None = None,
        pairing: str = "robin",
        each: int | None = None,
        cores: int | None = None,
        patience: float = PATIENCE,
        progress: Progress | None = None,
    ) -> Ladder:
        """Play until everybody has so many games, or is rated as precisely as asked.

        games       of every member (1,000, or at most 100,000 with a precision)
        precision   half the width of every interval, in the unit of the ladder
        pairing     `robin`, `swiss`, `tables` or `ladder`; whoever has enough is left out
        each        games of a match; usually a tenth of what is wanted of everybody
        patience    seconds for a move; whoever takes longer is suspended
        """
        pairing_of(pairing)
        for what, number in (("games", games), ("each", each), ("cores", cores)):
            if number is not None and number < 1:
                raise Misuse(f"{what} must be at least 1, not {number}.")
        if not patience > 0 or (precision is not None and not precision > 0):
            raise Misuse("Patience and precision must be more than 0.")
        wanted = games or (GAMES if precision is None else GAMES_FOR_PRECISION)
        wish = Wish(pairing=pairing, games=wanted, precision=precision, each=each)
        self._check_changes()
        members = [member.id for member in self.members if not member.suspended]
        if len(members) < (1 if self.game.cooperative else 2):
            out = "".join(
                f" {member.name} is suspended: {member.suspended}"
                for member in self.members
                if member.suspended
            )
            raise Misuse(
                f"A league needs two agents who can play.{out} "
                f"Add some: {self.command('add AGENT')}"
            )
        done = [0]

        def tell(games_more: int) -> None:
            done[0] += games_more * self.game.players
            if progress is not None:
                total = max(wanted * len(members), 1)
                progress(min(done[0], total), total)

        done[0] = sum(min(wanted, count) for count in self._planner.games(members).values())
        with (
            Playing(
                self.book, self._present, cores or os.cpu_count() or 1, patience, self.kibitz,
                tell, self._idle,
            ) as playing,
            ThreadPoolExecutor(1) as behind,
        ):  # fmt: skip
            self._play_rounds(wish, playing, behind)
        return self.ladder()

    def _play_rounds(self, wish: Wish, playing: Playing, behind: ThreadPoolExecutor) -> None:
        """Plan and play rounds as long as anybody lacks something.

        Where plans do not need them, ratings are worked out while the next round is played.
        """
        rating = behind.submit(self._rate, 0)
        more = True
        while more:
            last = self.book.last_round()
            number = last.number if last else 0
            if last is not None and not last.rated:
                self._finish(last, playing)
            rating.result()  # never more than one round behind
            if wish.needs_ratings:
                self._rate(number)
            members = [member.id for member in self.members if not member.suspended]
            matches = self._planner.plan(number, members, wish)
            if matches:  # from then on nothing changes in the rounds before
                self.book.plan(number + 1, wish.pairing, matches)
            rating = behind.submit(self._rate, number)
            more = bool(matches)
        rating.result()

    def _check_changes(self) -> None:
        """Suspend those who are no longer who they were."""
        for member in self.members:
            if member.suspended or member.who is None:
                continue
            try:
                now = fingerprint(find_agent(member.who, self.game))
            except KibitzError:
                continue  # whoever plays it will say why it cannot be made
            if now != member.fingerprint:
                self.book.suspend(member.id, f"{CHANGED} Add it under another name.")

    def _finish(self, last: Round, playing: Playing) -> None:
        """Play a round to its end, together with whoever else does."""
        stuck = False
        while True:
            played = playing.play(last.id)
            states = self.book.states(last.id)
            if not states.get(CLAIMED) and not states.get(PLANNED):
                return
            if played:
                continue
            if not states.get(CLAIMED) and playing.absent and stuck:
                who = [
                    f"{playing.members[id].name} ({why.removesuffix('.')})"
                    for id, why in playing.absent.items()
                ]
                raise Misuse(
                    f"What is left of round {last.number} needs agents that cannot play here: "
                    f"{', '.join(who)}. Go on where they can, or suspend them: "
                    f"{self.command('suspend AGENT')}"
                )
            # Others are playing, or have just given something back: look again.
            stuck = not states.get(CLAIMED)
            time.sleep(WAIT_SECONDS)

    def _rate(self, to: int) -> None:
        """Rate the rounds that are over, up to this one."""
        for one in self.book.unrated():
            if one.number <= to:
                self.book.rate(one.id, self._rater.close(one.number))

    # --- looking -------------------------------------------------------------------------------

    def ladder(self) -> Ladder:
        """Say how everybody stands, how sure that is, and who beats whom."""
        return self._rater.ladder(self.members)

    def __str__(self) -> str:
        return str(self.ladder())

    def _repr_html_(self) -> str:
        return self.ladder()._repr_html_()

    def export(self, ending: str = ".csv") -> str:
        """Write all games as `.csv`, a row for each seat of each game, or the ladder as `.json`."""
        return export(self.book, self.ladder(), ending)

    def report(self) -> str:
        """Write a page for the browser, whole in itself: ladder, matrix, history, sample games."""
        from kibitz.league.report import report  # drawings are loaded when they are used

        names = {member.id: member.name for member in self.members}
        records = [
            (tuple(names[member] for member in lineup), text)
            for lineup, text in self.book.records()
        ]
        return report(self.ladder(), self.game, records)


def _end(workers: list[Worker]) -> None:
    """End processes that nobody needs any more."""
    for worker in workers:
        worker.kill()
