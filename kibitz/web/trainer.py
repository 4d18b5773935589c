"""A process in which one run trains: `python -m kibitz.web.trainer`, in the run's own folder.

The first JSON line on standard input says what to train, further ones to pause, go on, stop or take
a snapshot. What happens goes as JSON lines to standard output. When the server is gone, so is its
end of the pipe: the run then stops as if it had been asked to, with a checkpoint.
"""

from __future__ import annotations

import _thread
import contextlib
import json
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from kibitz.core.errors import KibitzError
from kibitz.core.plain import as_json
from kibitz.core.registry import find_listed_game
from kibitz.core.training import Watcher
from kibitz.learners import train
from kibitz.web.rows import Rows

FOLDER, LOCK = "training", "lock"  # in the run's own folder
TELL_SECONDS = 0.2  # between two words to the server
STOP_SECONDS = 60.0  # that a run may take to stop before it is ended
NICE = 5  # pages and agents come first
EXPENDABLE = 700  # where memory runs out, this goes before the server
LISTED = 60  # rows of a result
Say = Callable[..., None]


class Reporter(Watcher):
    """Tells the server how a run goes, and lets it wait while it is paused."""

    def __init__(self, say: Say) -> None:
        self._say = say
        self._lock = threading.Lock()
        self._rows = Rows()
        self._fresh: list[tuple[int, dict[str, Any]]] = []
        self._told: tuple[int, int, str] | None = None
        self._count = self._sent = 0
        self._wanted = True  # soon there is somebody to play against
        self._paused = self._is_last_step = False

    # --- in the thread that trains -------------------------------------------------------------

    def progress(self, done: int, total: int, words: str) -> None:
        """Note how far it is; wait here while the run is paused."""
        with self._lock:
            self._told = done, total, words
        if not self._paused:
            return
        if self._is_last_step and self._wanted:
            self._is_last_step = False  # the learner writes what is wanted, and comes back
            return
        self.flush()
        self._say(paused=True)
        while self._paused:
            time.sleep(0.05)
        self._say(paused=False)

    def row(self, figures: Mapping[str, float | str]) -> None:
        """Note a row; of very many, some."""
        with self._lock:
            row = {name: _plain(value) for name, value in figures.items()}
            if self._rows.add(self._count, row):
                self._fresh.append((self._count, row))
            self._count += 1

    step = row

    def wants_snapshot(self) -> bool:
        """Say whether the server has asked for one."""
        return self._wanted

    def snapshot(self, path: Path, done: int) -> None:
        """Tell that there is one."""
        self._wanted = False
        self._say(snapshot=done)

    # --- in other threads ----------------------------------------------------------------------

    def order(self, what: str) -> None:
        """Do what the server wants, but for stopping."""
        if what == "snapshot":
            self._wanted = True
        elif what == "pause":
            self._wanted = self._is_last_step = True  # so that nothing is lost meanwhile
            self._paused = True
        elif what == "go on":
            self._paused = False

    def flush(self) -> None:
        """Tell what is new."""
        with self._lock:
            told, self._told = self._told, None
            rows, self._fresh = self._fresh, []
            if self._count > self._sent:
                self._sent = self._count
                last = (self._count - 1, self._rows.last)
                rows += [last] if last not in rows[-1:] else []
        if told or rows:
            self._say(told=told, rows=rows)

    def keep_telling(self) -> None:
        """Tell what is new, again and again."""
        while True:
            time.sleep(TELL_SECONDS)
            self.flush()


def _plain(value: Any) -> float | int | str:
    return value if isinstance(value, str | int | float) else float(value)


def listen(reporter: Reporter) -> None:
    """Hear orders until the last one: to stop, or that there is nobody to give any more."""
    for line in sys.stdin:
        what = json.loads(line)["do"]
        if what == "stop":
            break
        reporter.order(what)
    reporter.order("go on")  # where it waits it could not stop
    _thread.interrupt_main()  # as Ctrl-C does, once
    time.sleep(STOP_SECONDS)
    os._exit(1)


def step_back() -> None:
    """Let pages and agents come first."""
    with contextlib.suppress(OSError, AttributeError):
        os.nice(NICE)
    with contextlib.suppress(OSError):
        Path("/proc/self/oom_score_adj").write_text(str(EXPENDABLE), encoding="ascii")


def lock() -> Any:
    """Wait for whoever still works in this folder: the process of a server that was killed."""
    file = open(LOCK, "w", encoding="ascii")  # noqa: SIM115  held until the process ends
    with contextlib.suppress(ImportError):
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX)
    return file


def result_of(result: Any) -> dict[str, Any]:
    """Give what a learner says of its result: any learner may say it in its own way."""
    found: dict[str, Any] = {}
    with contextlib.suppress(Exception):
        found["summary"] = str(result.summary())
        found["columns"] = [str(name) for name in result.columns]
        found["rows"] = [[str(cell) for cell in row] for row in result.rows()[:LISTED]]
    return found


def main() -> None:
    """Train what the first order says."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    out = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what a learner prints is no news
    talking = threading.Lock()

    def say(**words: Any) -> None:
        # Nobody may be there any more; the run then stops anyway.
        with talking, contextlib.suppress(BrokenPipeError):
            out.write(as_json(words, indent=None) + "\n")
            out.flush()

    order = json.loads(sys.stdin.readline())
    reporter = Reporter(say)
    step_back()
    try:
        threading.Thread(target=listen, args=(reporter,), daemon=True).start()
        held = lock()
        threading.Thread(target=reporter.keep_telling, daemon=True).start()
        game = find_listed_game(order["game"]).having(**order["game settings"])
        result = train(
            order["learner"], game, seed=order["seed"], folder=FOLDER, watcher=reporter,
            progress=reporter.progress, **order["settings"],
        )  # fmt: skip
        reporter.flush()
        say(done=result_of(result))
        held.close()
    except KeyboardInterrupt:
        reporter.flush()
        say(stopped=True)
    except KibitzError as error:
        say(failed=str(error))
    except MemoryError:
        say(failed="There is not enough memory for these settings. Choose smaller ones.")
    except Exception as error:
        traceback.print_exc()
        say(failed=f"This went wrong: {error!r}.")
    finally:
        out.flush()
        os._exit(0)  # whatever threads still do


if __name__ == "__main__":
    main()
