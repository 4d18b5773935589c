"""Playing the matches of a round: claims, workers, and what becomes of those who fail.

Agents that have a name play in processes of their own, one for each core, so that one who stalls or
brings its process down harms nobody. Agents that are objects of this process play here.
"""

from __future__ import annotations

import ctypes
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from kibitz.core.errors import AgentFailed, BrokenRules, KibitzError
from kibitz.league.book import Book, Claim, Member
from kibitz.play.match import Runner, seated
from kibitz.play.recorded import recorded
from kibitz.play.workers import NEW, NOBODY, Stalled, Worker, about_match

SIGN_SECONDS = 10.0  # between two signs of life
WATCHED = 200  # compiled games that are played again, move by move, to see who stalls


class Playing:
    """This process's part in a round: a thread for each core claims matches and plays them."""

    def __init__(
        self,
        book: Book,
        members: Mapping[int, Member],
        present: Mapping[int, Any],
        cores: int,
        patience: float,
        kibitz: str,
        progress: Callable[[int], Any],
    ) -> None:
        self.book = book
        self.members = members
        self.present = present  # objects of this process, by member
        self.absent = [id for id, one in members.items() if one.who is None and id not in present]
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
        futures = [self._pool.submit(self._serve, round_id) for _ in range(self.cores)]
        return sum(future.result() for future in futures)

    def _serve(self, round_id: int) -> int:
        done = 0
        while not self._stop.is_set():
            claim = self.book.claim(round_id, self.absent)
            if claim is None:
                break
            try:
                self._play(claim)
            except BrokenRules:
                raise  # the game is to blame, and nobody who plays it
            except KibitzError as error:
                if self._stop.is_set():
                    break
                if error.place is None:
                    raise
                self.book.suspend(claim.lineup[error.place], str(error), round_id)
            done += 1
        return done

    def _give_signs(self) -> None:
        while not self._stop.wait(SIGN_SECONDS):
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
        names = [str(self.members[member].who) for member in claim.lineup]
        match = self.book.game, names, claim.seed, True
        about = about_match(*match)
        try:
            self._worker().play(about, 0, points, plies, self.patience)
        except Stalled as stalled:
            # Again, as far as it matters, with every move watched: then we know who it was.
            rows = slice(stalled.game, stalled.game + WATCHED)
            watched = about_match(*match, watched=True)
            self._worker().play(watched, stalled.game, points[rows], plies[rows], self.patience)
            self._worker().play(about, 0, points, plies)  # nobody: they are just slow
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
        thinking: list[tuple[int, float]] = [(NOBODY, 0.0)]
        done: list[Any] = []

        def note(place: int) -> None:
            thinking[0] = place, time.monotonic()

        def work() -> None:
            try:
                runner = Runner(
                    self.book.game, seated(self.book.game, agents), claim.seed, True, note
                )
                runner.play(0, points, plies)
                done.append([recorded(runner, game).to_json() for game in range(claim.sampled)])
            except BaseException as error:
                done.append(error)

        thread = threading.Thread(target=work, daemon=True)
        thread.start()
        while thread.is_alive() and not self._stop.is_set():
            thread.join(min(0.1, self.patience / 4))
            place, since = thinking[0]
            # The first moves may compile, here as elsewhere.
            if place != NOBODY and time.monotonic() - since > self.patience * NEW:
                _interrupt(thread)
                name = self.members[claim.lineup[place]].name
                raise AgentFailed(f"{name} took more than {self.patience * NEW:g} s.").of(place)
        if not done:
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
