"""Further processes for matches with Python agents; each plays its share of the games.

A worker is `python -m kibitz.play.worker`: it reads its orders as JSON lines and answers with
plain arrays, so nothing is pickled and the caller's script is not run again.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from typing import IO, Any

import numpy as np

from kibitz.core import errors
from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.game import Game

ENDED = "A worker process of the match ended without an answer; see what it printed."
SHARES = 20  # orders per worker: small enough to balance and to show progress


def in_workers(
    game: Game,
    agents: Sequence[str],
    seed: int,
    duplicate: bool,
    first: int,
    points: np.ndarray,
    plies: np.ndarray,
    cores: int,
    progress: Callable[[int, int], Any] | None,
) -> None:
    """Play the games from `first` on in as many processes as there are cores."""
    total = len(points)
    size = max(1, (total - first) // (cores * SHARES))
    orders = [(at, min(size, total - at)) for at in range(first, total, size)]
    about = {
        "game": game.name, "settings": dict(game.settings), "agents": list(agents),
        "seed": seed, "duplicate": duplicate,
    }  # fmt: skip
    workers = [
        subprocess.Popen(
            # -P: what lies in the current folder must not stand in for a library.
            [sys.executable, "-P", "-m", "kibitz.play.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        for _ in range(cores)
    ]
    free = list(workers)
    done = first

    def play(at: int, count: int) -> int:
        worker = free.pop()
        assert worker.stdin is not None
        assert worker.stdout is not None
        try:
            worker.stdin.write(json.dumps({**about, "first": at, "count": count}).encode() + b"\n")
            worker.stdin.flush()
            _receive(worker.stdout, points[at : at + count], plies[at : at + count])
        except BrokenPipeError as error:
            raise AgentFailed(ENDED) from error
        finally:
            free.append(worker)
        return count

    try:
        with ThreadPoolExecutor(cores) as pool:
            futures = [pool.submit(play, at, count) for at, count in orders]
            try:
                for future in as_completed(futures):
                    done += future.result()
                    if progress is not None:
                        progress(done, total)
            finally:
                for future in futures:
                    future.cancel()
                if done < total:  # an error or an interrupt: do not wait for the others
                    for worker in workers:
                        worker.kill()
    finally:
        for worker in workers:
            worker.kill()
            worker.communicate()


def _receive(answer: IO[bytes], points: np.ndarray, plies: np.ndarray) -> None:
    head = answer.readline()
    if not head:
        raise AgentFailed(ENDED)
    said = json.loads(head)
    if "error" in said:
        kind = getattr(errors, said["error"], KibitzError)
        raise kind(said["message"])
    data = answer.read(points.nbytes + plies.nbytes)
    if len(data) < points.nbytes + plies.nbytes:
        raise AgentFailed(ENDED)
    points[:] = np.frombuffer(data[: points.nbytes]).reshape(points.shape)
    plies[:] = np.frombuffer(data[points.nbytes :], np.int32)
