"""One worker process of a match; see workers.py."""

from __future__ import annotations

import json
import signal
import sys

import numpy as np

from kibitz.core.errors import KibitzError
from kibitz.core.registry import find_game
from kibitz.play.match import Runner, seated


def main() -> None:
    """Answer orders until there are no more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the match itself decides when to stop
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # what an agent prints must not mix with the answers
    for line in sys.stdin.buffer:
        order = json.loads(line)
        try:
            game = find_game(order["game"]).having(**order["settings"])
            runner = Runner(game, seated(game, order["agents"]), order["seed"], order["duplicate"])
            points = np.zeros((order["count"], game.players))
            plies = np.zeros(order["count"], np.int32)
            runner.play(order["first"], points, plies)
        except KibitzError as error:
            said = {"error": type(error).__name__, "message": str(error)}
            out.write(json.dumps(said).encode() + b"\n")
        else:
            out.write(b"{}\n" + points.tobytes() + plies.tobytes())
        out.flush()


if __name__ == "__main__":
    main()
