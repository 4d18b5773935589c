"""Playing the matches of a round: claims, workers, and what becomes of those who fail.

Agents that have a name play in processes of their own, one for each core, so that one who stalls or
brings its process down harms nobody. Agents that are objects of this process play here. Results are
written by a thread of its own while the next match is played.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

import numpy as np

from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.registry import find_agent
from kibitz.league.book import Book, Member
from kibitz.league.claims import Claim
from kibitz.league.ongoing import Ongoing
from kibitz.league.store import StoreFailed
from kibitz.play.match import Runner, seated
from kibitz.play.recorded import recorded
from kibitz.play.workers import NEW, NOBODY, Stalled, Worker, WorkerEnded, about_match

SIGN_SECONDS = 10.0  # between two signs of life

T = TypeVar("T")


class Playing:
    """This process's part in a round: a thread for each core claims matches and plays them."""

    def __init__(
        self,
        book: Book,
        present: Mapping[int, Any],
        cores: int,
        patience: float,
        kibitz: str,
        progress: Callable[[int], Any],
        idle: list[Worker],
    ) -> None:
        """Get ready. `idle` holds processes of an earlier run, and gets those of this one."""
        self.book = book
        self.members: dict[int, Member] = {}
        self.present = present  # objects of this process, by member
        self.absent: dict[int, str] = {}  # who cannot play here, and why
        self._makeable: dict[int, str] = {}
        self.cores = cores
        self.patience = patience
        self.kibitz = kibitz
        self.progress = progress
        self.idle = idle
        self._stop = threading.Event()
        self._own = threading.local()
        self._workers: list[Worker] = []
        self._lock = threading.Lock()
        self._here = threading.Lock()  # objects play one match at a time
        self._change = threading.Condition()  # of the three below
        self._ongoing: list[Ongoing] = []
        self._paces: dict[tuple[int, ...], float] = {}  # of lineups whose games are compiled
        self._busy = 0  # threads that claim matches or play their own
        self._pool = ThreadPoolExecutor(cores)
        self._scribe = ThreadPoolExecutor(1)
        self._written: list[Future[None]] = []
        self._unwritten: Exception | None = None  # why a result could not be written

    def __enter__(self) -> Playing:
        threading.Thread(target=self._give_signs, daemon=True).start()
        return self

    def __exit__(self, failed: object, *_: object) -> None:
        self._stop.set()
        with self._change:
            self._change.notify_all()
        if failed:
            with self._lock:
                for worker in self._workers:
                    worker.process.kill()  # whoever waits for an answer gets none
        self._pool.shutdown(cancel_futures=True)
        self._scribe.shutdown()
        for worker in self._workers:
            if (
                not failed and worker.is_usable()
            ):  # starting one takes a second: it waits for the next run
                self.idle.append(worker)
            else:
                worker.kill()
        self.book.give_back()

    def play(self, round_id: int) -> int:
        """Play what is left of a round, as far as others do not; give how many matches it was."""
        self._look_around()
        futures = [self._pool.submit(self._serve, round_id) for _ in range(self.cores)]
        done = sum(future.result() for future in futures)
        for written in self._written:
            written.result()
        self._written.clear()
        return done

    def _look_around(self) -> None:
        """See who has joined meanwhile, and who of them can be made in this process."""
        self.members = {member.id: member for member in self.book.members()}
        for id, member in self.members.items():
            if id in self._makeable:
                continue
            self._makeable[id] = ""
            if member.who is None:
                if id not in self.present:
                    self._makeable[id] = "an object of another process"
                continue
            try:
                find_agent(member.who, self.book.game)
            except AgentFailed:
                pass  # it is there, and whoever plays it will find that it fails
            except KibitzError as error:
                self._makeable[id] = str(error)
        self.absent = {
            id: why for id, why in self._makeable.items() if why and not self.members[id].suspended
        }

    def _serve(self, round_id: int) -> int:
        """Claim matches and play them; when there are no more, help others of this process."""
        done = 0
        with self._change:
            self._busy += 1
        try:
            while not self._stop.is_set():
                if self._unwritten is not None:
                    raise self._unwritten
                claim = self.book.claim(round_id, self.absent)
                if claim is None:
                    break
                try:
                    self._play(claim)
                except KibitzError as error:
                    if self._stop.is_set():
                        break
                    if error.place is None:  # it is the game's fault, or the machine's
                        raise
                    self.book.fail(claim, error.place, str(error))
                done += 1
        finally:
            with self._change:
                self._busy -= 1
                self._change.notify_all()
        while (found := self._part_of_others()) is not None:
            self._play_part(*found)
        return done

    def _part_of_others(self) -> tuple[Ongoing, slice] | None:
        """Find games of a match that another thread has claimed; wait for some if need be."""
        with self._change:
            while self._busy and not self._stop.is_set():
                for match in self._ongoing:
                    part = match.take(helping=True)
                    if part is not None:
                        return match, part
                self._change.wait()
        return None

    def _give_signs(self) -> None:
        while not self._stop.wait(SIGN_SECONDS):
            with contextlib.suppress(StoreFailed):  # a server may be away for a moment
                self.book.sign()

    # --- one match -----------------------------------------------------------------------------

    def _play(self, claim: Claim) -> None:
        pace = self._paces.get(claim.lineup, 0.0)
        match = Ongoing(claim, self.book.game.players, self.cores, pace)
        if set(claim.lineup) & set(self.present):
            began = time.perf_counter()
            with self._here:
                records = self._play_here(claim, match.points, match.plies)
            match.seconds = time.perf_counter() - began
        else:
            records = self._play_there(match)
        self._written.append(self._scribe.submit(self._write, match, records))

    def _write(self, match: Ongoing, records: list[str]) -> None:
        moves = int(match.plies.sum(dtype=np.int64))
        about = moves, match.seconds, self.kibitz, records
        try:
            if self.book.finish(match.claim, match.points, *about):
                self.progress(match.claim.games)
        except Exception as error:
            self._unwritten = error
            raise

    def _play_there(self, match: Ongoing) -> list[str]:
        """Play a match in processes of its own: this thread's, and those of others who help."""
        with self._change:
            self._ongoing.append(match)
            part = match.take()
        while part is not None:
            self._play_part(match, part)
            with self._change:
                part = match.take()
        with self._change:
            self._change.wait_for(lambda: match.is_over)
            self._ongoing.remove(match)
            self._paces[match.claim.lineup] = match.pace
            match.check()
        about = self._about(match.claim)
        began = time.perf_counter()
        records = []
        for game in range(match.claim.sampled):
            records.append(self._ask(lambda w: w.record(about, game, self.patience)))  # noqa: B023
        match.seconds += time.perf_counter() - began
        return records

    def _play_part(self, match: Ongoing, part: slice) -> None:
        began = time.perf_counter()
        try:
            compiled = self._play_games(match, part)
        except BaseException as error:  # whoever has claimed the match raises it
            with self._change:
                match.fail(part, error)
                self._change.notify_all()
        else:
            with self._change:
                match.bring(part, time.perf_counter() - began, compiled)
                self._change.notify_all()

    def _play_games(self, match: Ongoing, part: slice) -> bool:
        """Play some games of a match; tell whether they ran compiled."""

        def play(first: int, to: int, **how: bool) -> bool:
            about, rows = self._about(match.claim, **how), slice(first, to)
            return self._ask(
                lambda worker: worker.play(
                    about, first, match.points[rows], match.plies[rows], self.patience
                )
            )

        try:
            return play(part.start, part.stop)
        except Stalled as stalled:
            # Some of many compiled games stalled. One by one they show which it was, and with
            # every move of that one watched we know who.
            try:
                play(stalled.game, part.stop, one_by_one=True)
            except Stalled as again:
                play(again.game, part.stop, watched=True)
                play(stalled.game, again.game, one_by_one=True)
            return play(part.start, stalled.game)

    def _about(self, claim: Claim, **how: bool) -> dict[str, Any]:
        members = [self.members[member] for member in claim.lineup]
        names = [str(member.who) for member in members]
        prints = [member.fingerprint for member in members]
        return about_match(self.book.game, names, claim.seed, True, fingerprints=prints, **how)

    def _ask(self, ask: Callable[[Worker], T]) -> T:
        """Ask this thread's worker; one that ends while nobody thinks gets one more chance."""
        try:
            return ask(self._worker())
        except WorkerEnded:
            return ask(self._worker())

    def _worker(self) -> Worker:
        """Give this thread's worker, another one if the last has ended."""
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is not None and worker.process.poll() is None:
            return worker
        with self._lock:
            if self._stop.is_set():
                raise AgentFailed("The league was stopped.")
            if worker is not None:
                worker.kill()
                self._workers.remove(worker)
            while self.idle and not self.idle[-1].is_usable():
                self.idle.pop().kill()
            worker = self._own.worker = self.idle.pop() if self.idle else Worker()
            self._workers.append(worker)
        return worker

    def _play_here(self, claim: Claim, points: np.ndarray, plies: np.ndarray) -> list[str]:
        """Play a match in a thread of this process, which is left behind if an agent stalls."""
        agents = [self.present.get(member, self.members[member].who) for member in claim.lineup]
        thinking = [(NOBODY, 0)]
        done: list[Any] = []

        def note(place: int) -> None:
            thinking[0] = place, thinking[0][1] + 1

        def work() -> None:
            try:
                made = seated(self.book.game, agents, note)
                runner = Runner(self.book.game, made, claim.seed, True, note)
                runner.play(0, points, plies)
                done.append([recorded(runner, game).to_json() for game in range(claim.sampled)])
            except KibitzError as error:
                done.append(error)
            except BaseException as error:  # an agent may want to end the program
                place = max(thinking[0][0], 0)
                done.append(AgentFailed(f"{names[place]} raised {error!r}.").of(place))

        names = [self.members[member].name for member in claim.lineup]
        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        tick = min(0.1, self.patience / 4)
        waited, last = 0.0, thinking[0]
        while thread.is_alive() and not self._stop.is_set():
            thread.join(tick)
            seen = thinking[0]
            waited = waited + tick if seen == last and seen[0] != NOBODY else 0.0
            last = seen
            if waited > self.patience * NEW:  # any move may be the first, which compiles
                _interrupt(thread)
                told = f"{names[seen[0]]} took more than {self.patience * NEW:g} s."
                raise AgentFailed(told).of(seen[0])
        if not done:
            _interrupt(thread)
            raise AgentFailed("The league was stopped.")
        if isinstance(done[0], BaseException):
            raise done[0]
        return done[0]


class Interrupted(BaseException):
    """Ends an agent's thread; nobody is meant to catch it."""


def _interrupt(thread: threading.Thread) -> None:
    """End a thread that runs Python; one that waits for something else is left to itself."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(
        ctypes.c_ulong(thread.ident or 0), ctypes.py_object(Interrupted)
    )
