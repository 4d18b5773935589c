"""Playing the matches of a round: claims, workers, and what becomes of those who fail.

Agents that have a name play in processes of their own, one for each core, so that one who stalls or
brings its process down harms nobody. Agents that are objects of this process play here.
"""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.registry import find_agent
from kibitz.league.book import Book, Claim, Member
from kibitz.league.store import StoreFailed
from kibitz.play.match import Runner, seated
from kibitz.play.recorded import recorded
from kibitz.play.workers import NEW, NOBODY, Stalled, Worker, about_match

SIGN_SECONDS = 10.0  # between two signs of life


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
    ) -> None:
        self.book = book
        self.members: dict[int, Member] = {}
        self.present = present  # objects of this process, by member
        self.absent: dict[int, str] = {}  # who cannot play here, and why
        self._makeable: dict[int, str] = {}
        self.cores = cores
        self.patience = patience
        self.kibitz = kibitz
        self.progress = progress
        self._stop = threading.Event()
        self._own = threading.local()
        self._workers: list[Worker] = []
        self._lock = threading.Lock()
        self._here = threading.Lock()  # objects play one match at a time
        self._pool = ThreadPoolExecutor(cores)

    def __enter__(self) -> Playing:
        threading.Thread(target=self._give_signs, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        with self._lock:
            for worker in self._workers:
                worker.process.kill()  # whoever waits for an answer gets none
        self._pool.shutdown(cancel_futures=True)
        for worker in self._workers:
            worker.kill()
        self.book.give_back()

    def play(self, round_id: int) -> int:
        """Play what is left of a round, as far as others do not; give how many matches it was."""
        self._look_around()
        futures = [self._pool.submit(self._serve, round_id) for _ in range(self.cores)]
        return sum(future.result() for future in futures)

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
        done = 0
        while not self._stop.is_set():
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
        return done

    def _give_signs(self) -> None:
        while not self._stop.wait(SIGN_SECONDS):
            with contextlib.suppress(StoreFailed):  # a server may be away for a moment
                self.book.sign()

    # --- one match -----------------------------------------------------------------------------

    def _play(self, claim: Claim) -> None:
        points = np.zeros((claim.games, self.book.game.players))
        plies = np.zeros(claim.games, np.int32)
        began = time.perf_counter()
        if set(claim.lineup) & set(self.present):
            with self._here:
                records = self._play_here(claim, points, plies)
        else:
            records = self._play_there(claim, points, plies)
        seconds = time.perf_counter() - began
        moves = int(plies.sum(dtype=np.int64))
        if self.book.finish(claim, points, moves, seconds, self.kibitz, records):
            self.progress(claim.games)

    def _play_there(self, claim: Claim, points: np.ndarray, plies: np.ndarray) -> list[str]:
        """Play a match in a process of its own."""
        members = [self.members[member] for member in claim.lineup]
        names = [str(member.who) for member in members]
        prints = [member.fingerprint for member in members]

        def play(first: int, to: int, **how: bool) -> None:
            about = about_match(self.book.game, names, claim.seed, True, fingerprints=prints, **how)
            rows = slice(first, to)
            self._worker().play(about, first, points[rows], plies[rows], self.patience)

        try:
            play(0, claim.games)
        except Stalled as stalled:
            # Some of many compiled games stalled. One by one they show which it was, and with
            # every move of that one watched we know who.
            try:
                play(stalled.game, claim.games, one_by_one=True)
            except Stalled as again:
                play(again.game, claim.games, watched=True)
                play(stalled.game, again.game, one_by_one=True)
            play(0, stalled.game)
        about = about_match(self.book.game, names, claim.seed, True, fingerprints=prints)
        return [self._worker().record(about, game, self.patience) for game in range(claim.sampled)]

    def _worker(self) -> Worker:
        """Give this thread's worker, a new one if the last has ended."""
        worker: Worker | None = getattr(self._own, "worker", None)
        if worker is None or worker.process.poll() is not None:
            if worker is not None:
                worker.kill()
            with self._lock:
                if self._stop.is_set():
                    raise AgentFailed("The league was stopped.")
                worker = self._own.worker = Worker()
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
