"""One process of the demo; see lanes.py. `python -m kibitz.cli.demo.lane LANE SEED`."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from typing import Any

from kibitz.cli.demo.parts import LANES
from kibitz.core.errors import KibitzError
from kibitz.play.worker import end_with


def main() -> None:
    """Compute the parts of a lane and write each result as a line of JSON."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the demo itself decides when to stop
    threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    out = sys.stdout
    sys.stdout = sys.stderr  # what a library prints must not mix with the results
    lane, seed = sys.argv[1], int(sys.argv[2])
    for part in LANES[lane]:
        print(json.dumps({"key": part.key, "doing": part.doing}), file=out, flush=True)
        try:
            answer: dict[str, Any] = {"key": part.key, "result": part.run(seed)}
        except KibitzError as error:  # an extra that is not installed, for one
            answer = {"key": part.key, "problem": str(error), "refusal": True}
        print(json.dumps(answer), file=out, flush=True)


if __name__ == "__main__":
    main()
