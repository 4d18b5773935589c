"""One worker process; see workers.py. `python -m kibitz.play.worker MARKER`."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from typing import Any

import numpy as np

from kibitz.core import own_code
from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.core.jit.work import end_with
from kibitz.core.registry import find_game
from kibitz.play.fingerprint import fingerprint
from kibitz.play.match import Runner, seated
from kibitz.play.recorded import recorded
from kibitz.play.workers import CHANGED, EVERYBODY, NOBODY, Marker

CHUNK_SECONDS = 0.2  # how long compiled games go on before the marker moves


def main() -> None:
    """Answer orders until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the match itself decides when to stop
    marker = Marker(sys.argv[1])
    marker.remove()  # nothing is left behind, however this ends
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what an agent prints must not mix with the answers
    kept: tuple[Any, Runner | None] = None, None
    pace = 0.0  # games a second of the runner that is kept; 0 if nothing is known
    for line in sys.stdin.buffer:
        order = json.loads(line)
        first, count, wants_record = (order.pop(name) for name in ("first", "count", "record"))
        try:
            runner = kept[1] if kept[0] == order else None
            if runner is None:
                runner, pace = made(order, marker), 0.0
            kept = order, runner
            if wants_record:
                marker.begin(NOBODY, first)
                answer = json.dumps({"record": recorded(runner, first).to_json()}).encode() + b"\n"
            else:
                points = np.zeros((count, runner.game.players))
                plies = np.zeros(count, np.int32)
                pace = play(runner, first, points, plies, marker, order["one_by_one"], pace)
                head = json.dumps({"compiled": runner.is_compiled}).encode() + b"\n"
                answer = head + points.tobytes() + plies.tobytes()
        except KibitzError as error:
            kept = None, None
            said = {"error": type(error).__name__, "message": str(error), "place": error.place}
            answer = json.dumps(said).encode() + b"\n"
        try:
            out.write(answer)
            out.flush()
        except BrokenPipeError:  # whoever asked is gone
            os._exit(1)
        marker.idle()


def made(order: dict[str, Any], marker: Marker) -> Runner:
    """Seat the agents of an order."""
    own_code.allow_all(order["own_code"])
    game = find_game(order["game"]).having(**order["settings"])
    agents = seated(game, order["agents"], marker.note)
    marker.note(NOBODY)
    for place, expected in enumerate(order["fingerprints"]):
        if fingerprint(agents[place]) != expected:
            raise AgentFailed(f"{agents[place].name}: {CHANGED}").of(place)
    about = game, agents, order["seed"], order["duplicate"]
    runner = Runner(*about)
    if order["watched"] or not runner.could_be_compiled:
        runner = Runner(*about, note=marker.note)
    runner.play(0, np.zeros((0, game.players)), np.zeros(0, np.int32))  # loads what is compiled
    return runner


def play(
    runner: Runner,
    first: int,
    points: np.ndarray,
    plies: np.ndarray,
    marker: Marker,
    one_by_one: bool,
    pace: float,
) -> float:
    """Play games, marking where they are; those of agents in Python one by one in any case.

    Takes and gives how many games a second there are, as far as that is known.
    """
    done, spent = 0, 0.0
    most = 1 if one_by_one or not runner.is_compiled else max(len(points), 1)
    size = min(max(1, int(pace * CHUNK_SECONDS)), most)
    while done < len(points):
        marker.begin(EVERYBODY if runner.is_compiled else NOBODY, first + done)
        began = time.perf_counter()
        rows = slice(done, done + size)
        runner.play(first + done, points[rows], plies[rows])
        spent += time.perf_counter() - began
        done += len(points[rows])
        pace = done / max(spent, 1e-6)
        size = min(max(1, int(pace * CHUNK_SECONDS)), 4 * size, most)
    return pace


if __name__ == "__main__":
    main()
