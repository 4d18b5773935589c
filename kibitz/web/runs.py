"""Training runs of a server: each in a folder and a process of its own, so that nothing waits.

A run is waiting, at work, paused, stopped, done or failed. What it has learned so far lies in its
checkpoint: after a stop, or when the server was killed, it goes on from there. Its agent is named
`run:NAME` for the newest snapshot, `run:NAME@STEPS` for a certain one and `run:NAME@end` for what
it has learned in the end; nobody but the server knows where the models lie.
"""

from __future__ import annotations

import asyncio
import contextlib
import csv
import dataclasses
import io
import json
import re
import secrets
import shutil
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.files import save
from kibitz.core.game import Game
from kibitz.core.models import read_header
from kibitz.core.plain import as_json
from kibitz.core.training import CURVE, MODEL, SNAPSHOT
from kibitz.web.catalogue import Offer
from kibitz.web.plan import RUN, Plan
from kibitz.web.rows import Rows
from kibitz.web.trainer import FOLDER
from kibitz.web.training import Refused, State, Training

MOST_AT_WORK = 2
MOST_PAUSED = 4  # each still holds its memory
MOST_WAITING = 20
MOST_KEPT = 200
MOST_OF_ONE = 100  # runs of one person
MOST_SNAPSHOTS = 40  # of one run, that were played against
KEEP_SECONDS = 2.0  # between two looks for what has changed
SNAPSHOT_SECONDS = 30.0  # to wait for a snapshot
CLOSE_SECONDS = 5.0  # to wait for runs when the server ends; they go on to stop by themselves
PLAN, STATE, ROWS, SNAPSHOTS, GIVEN = "plan.json", "state.json", "rows.json", "snapshots", "given"
NAME = re.compile(r"run:([a-z0-9][a-z0-9-]{2,60})(?:@(\d{1,18}|end))?")
END = "end"
NO_RUN = "There is no such run. It may have been deleted."
NOTHING_YET = "There is nothing to play against yet. Come back when it has learned for a while."
SERVER_ENDED = "The server ended. Resume it to go on from where it was."


class Runs:
    """All runs of a server."""

    def __init__(
        self,
        folder: Path,
        *,
        most_at_work: int = MOST_AT_WORK,
        most_kept: int = MOST_KEPT,
        private: bool = True,
    ) -> None:
        self.folder = folder / "runs"
        self.folder.mkdir(parents=True, exist_ok=True)
        self.most_at_work, self.most_kept = most_at_work, most_kept
        self.private = private  # all who can reach the server are one person, at this machine
        self._runs: dict[str, Training] = {}
        self._saved: dict[str, int] = {}
        self._is_closing = False
        self._keeper: asyncio.Task[None] | None = None
        self._following: set[asyncio.Task[None]] = set()
        for path in self.folder.glob(f"*/{PLAN}"):
            run = _read(path.parent)
            if run is not None:
                self._runs[run.id] = run
                run.freed = self._fill

    async def start(self) -> None:
        """Begin to work."""
        self._keeper = asyncio.create_task(self._keep())

    async def close(self) -> None:
        """Stop all runs, with a checkpoint each, and keep everything."""
        self._is_closing = True
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        going = [run for run in self._runs.values() if run.state.is_alive or run.state.is_waiting]
        for run in going:
            run.hang_up()
        if self._following:
            await asyncio.wait(self._following, timeout=CLOSE_SECONDS)
        for run in going:
            if run.state in (State.WAITING, State.STOPPED):
                run.turn(State.STOPPED, SERVER_ENDED)
            with contextlib.suppress(KibitzError):
                self._save(run)

    # --- which ---------------------------------------------------------------------------------

    def all(self) -> list[Training]:
        """List all runs, the newest first."""
        return sorted(self._runs.values(), key=lambda run: -run.created)

    def get(self, id: object) -> Training:
        """Find a run."""
        if not isinstance(id, str) or id not in self._runs:
            raise Refused(NO_RUN)
        return self._runs[id]

    def may_change(self, run: Training, person: str) -> bool:
        """Tell whether a person may pause, stop or delete a run."""
        return self.private or (bool(person) and run.host == person)

    def _own(self, id: object, person: str) -> Training:
        run = self.get(id)
        if not self.may_change(run, person):
            raise Refused("Only whoever started this run may do that.")
        return run

    # --- what can be done ----------------------------------------------------------------------

    def open(self, plan: Plan, host: str) -> Training:
        """Start a run, or let it wait for its turn."""
        if len(self._runs) >= self.most_kept:
            raise Refused(f"There are {self.most_kept} runs already. Delete some first.")
        if sum(run.host == host for run in self._runs.values()) >= MOST_OF_ONE:
            raise Refused(f"You have {MOST_OF_ONE} runs already. Delete some first.")
        if sum(run.state.is_waiting for run in self._runs.values()) >= MOST_WAITING:
            raise Refused("Too many runs are waiting already. Try again when some are done.")
        id = f"{plan.learner}-{secrets.token_hex(3)}"
        while id in self._runs:
            id = f"{plan.learner}-{secrets.token_hex(3)}"
        plan = dataclasses.replace(plan, settings=plan.having_models(self.pinned))
        folder = self.folder / id
        try:
            (folder / GIVEN).mkdir(parents=True)
            for name in plan.models():
                shutil.copyfile(self.path_of(name), folder / given(name))
            run = Training(id, plan, host, folder)
            save(folder / PLAN, as_json({**plan.to_dict(), "host": host, "created": run.created}))
        except OSError as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise Refused(f"Cannot keep a run: {error.strerror}.") from error
        self._runs[id] = run
        run.freed = self._fill
        self._save(run)
        self._fill()
        return run

    def pause(self, id: object, person: str) -> None:
        """Let a run wait after the present step; it keeps its memory and goes on at once."""
        run = self._own(id, person)
        if run.state is not State.AT_WORK:
            raise Refused(f"This run is {run.state}, so it cannot be paused.")
        if sum(other.state.is_paused for other in self._runs.values()) >= MOST_PAUSED:
            raise Refused(f"{MOST_PAUSED} runs are paused already. Stop this one: it can go on.")
        run.turn(State.PAUSING)
        run.send("pause")
        self._save(run)

    def resume(self, id: object, person: str) -> None:
        """Let a run go on: from where it waits, or from its checkpoint."""
        run = self._own(id, person)
        if run.state is State.PAUSING:
            run.send("go on")
            run.turn(State.AT_WORK)
        elif run.state in (State.PAUSED, State.STOPPED, State.FAILED):
            run.turn(State.WAITING)
            self._fill()
        else:
            raise Refused(f"This run is {run.state}, so it cannot be resumed.")
        self._save(run)

    def stop(self, id: object, person: str) -> None:
        """Let a run keep its checkpoint and end."""
        run = self._own(id, person)
        if run.state.is_waiting and run.process is None:
            run.turn(State.STOPPED)
        elif run.state.is_alive or run.state.is_waiting:
            run.turn(State.STOPPING)
            run.send("stop")
        else:
            raise Refused(f"This run is {run.state}, so there is nothing to stop.")
        self._save(run)

    async def delete(self, id: object, person: str) -> None:
        """Forget a run and all that it has learned."""
        run = self._own(id, person)
        self._runs.pop(run.id)
        await run.kill()
        self._fill()
        await asyncio.to_thread(shutil.rmtree, run.folder, True)

    # --- processes -----------------------------------------------------------------------------

    def _fill(self) -> None:
        """Let waiting runs begin, or go on, while there is room: who waits longest comes first."""
        if self._is_closing:
            return
        waiting = [run for run in self._runs.values() if run.state.is_waiting]
        for run in sorted(waiting, key=lambda run: run.changed_at):
            if sum(other.state.is_busy for other in self._runs.values()) >= self.most_at_work:
                return
            if run.process is not None:
                run.send("go on")
                run.turn(State.AT_WORK)
            else:
                run.turn(State.AT_WORK)
                task = asyncio.get_running_loop().create_task(self._follow(run))
                self._following.add(task)
                task.add_done_callback(self._following.discard)

    async def _follow(self, run: Training) -> None:
        """Follow a run until its process ends, then let the next one begin."""
        try:
            await run.work({**run.plan.to_dict(), "settings": run.plan.having_models(given)})
        finally:
            if run.id in self._runs:
                with contextlib.suppress(KibitzError):
                    self._save(run)
                self._fill()

    # --- agents --------------------------------------------------------------------------------

    def offers(self, game: Game) -> tuple[Offer, ...]:
        """List the runs whose agents can play a game."""
        return tuple(
            Offer(f"{RUN}{run.id}", f"{run.plan.learner}, {run.how_far()}")
            for run in self.all()
            if run.has_model and run.plan.game.is_alike(game)
        )

    def checked(self, game: Game, who: str) -> str:
        """Give back the name of a run's agent that can play a game, or raise and say why not."""
        run, _ = self._named(who)
        if not run.plan.game.is_alike(game):
            raise Misuse(f"{who} has learned {run.plan.game.described()}, not {game.described()}.")
        self.latest_of(who)
        return who

    def _named(self, who: str) -> tuple[Training, str]:
        found = NAME.fullmatch(who)
        if not found:
            raise Misuse("That is no run's name.")
        return self.get(found[1]), found[2] or ""

    def pinned(self, who: str) -> str:
        """Name the agent as it is now, so that it stays the same whatever the run learns later."""
        run, which = self._named(who)
        if which:
            return who
        if run.state is State.DONE and (run.folder / FOLDER / MODEL).is_file():
            return f"{who}@{END}"
        source, kept = run.folder / FOLDER / SNAPSHOT, run.folder / SNAPSHOTS
        if not source.is_file():
            raise Refused(NOTHING_YET)
        kept.mkdir(exist_ok=True)
        draft = kept / f".{secrets.token_hex(6)}"
        try:
            shutil.copyfile(source, draft)  # another may take its place meanwhile
            steps = int(json.loads(read_header(draft)["about"])["done"])
            draft.replace(kept / f"{steps}.safetensors")
        except (OSError, ValueError, KeyError) as error:
            raise Refused(f"The snapshot of {who} cannot be read: {error}.") from error
        finally:
            draft.unlink(missing_ok=True)
        _prune(kept)
        return f"{who}@{steps}"

    def latest_of(self, who: str) -> Path:
        """Find the model of an agent, as it is now if it is not named for good; nothing is kept."""
        run, which = self._named(who)
        if which:
            return self.path_of(who)
        if run.state is State.DONE and (run.folder / FOLDER / MODEL).is_file():
            return run.folder / FOLDER / MODEL
        path = run.folder / FOLDER / SNAPSHOT
        if not path.is_file():
            raise Refused(NOTHING_YET)
        return path

    def path_of(self, who: str) -> Path:
        """Find the model of an agent that is named for good."""
        run, which = self._named(who)
        if which == END:
            path = run.folder / FOLDER / MODEL
        else:
            path = run.folder / SNAPSHOTS / f"{which}.safetensors"
        if not path.is_file():
            raise Refused(f"The model of {who} is no longer kept. Choose another agent.")
        return path

    def called(self, who: str) -> str:
        """Say who a run's agent is, shorter than by its name."""
        run, which = self._named(who)
        steps = f" after {int(which):,} steps" if which.isdecimal() else ""
        return f"{run.plan.learner}{steps}"

    async def snapshot(self, id: object) -> str:
        """Have the agent of a run as it is now, and name it for good."""
        run = self.get(id)
        if run.state is State.AT_WORK and run.process is not None:
            before = run.snapshots
            run.send("snapshot")
            end = time.monotonic() + SNAPSHOT_SECONDS
            while run.snapshots == before and run.process and time.monotonic() < end:
                if not run.has_model and not run.told:
                    raise Refused(NOTHING_YET)  # it still compiles
                await asyncio.sleep(0.05)
        return self.pinned(f"{RUN}{run.id}")

    def model_of(self, id: object) -> Path:
        """Find the model of a run: the last one, or the newest snapshot."""
        return self.latest_of(f"{RUN}{self.get(id).id}")

    def curve_of(self, id: object) -> str:
        """Give the curve of a run as CSV: all of it when it is done, else what is known so far."""
        run = self.get(id)
        path = run.folder / FOLDER / CURVE
        if run.state is State.DONE and path.is_file():
            return path.read_text(encoding="utf-8")
        rows = list(run.rows)
        if not rows:
            raise Refused("There is no curve yet.")
        text = io.StringIO()
        names = list(dict.fromkeys(name for row in rows for name in row))
        writer = csv.DictWriter(text, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        return text.getvalue()

    # --- keeping -------------------------------------------------------------------------------

    def _save(self, run: Training) -> None:
        self._saved[run.id] = run.version
        save(run.folder / STATE, as_json(run.to_dict()))
        save(run.folder / ROWS, as_json(run.rows.numbered(), indent=None))

    async def _keep(self) -> None:
        """Write what has changed, now and then."""
        while True:
            await asyncio.sleep(KEEP_SECONDS)
            for run in list(self._runs.values()):
                if self._saved.get(run.id) != run.version:
                    self._saved[run.id] = run.version
                    state, rows = as_json(run.to_dict()), as_json(run.rows.numbered(), indent=None)
                    with contextlib.suppress(KibitzError):  # a full disk: tried again
                        await asyncio.to_thread(save, run.folder / STATE, state)
                        await asyncio.to_thread(save, run.folder / ROWS, rows)


def given(name: str) -> str:
    """Say where a run finds the model of another one, in its own folder."""
    return f"{GIVEN}/{name.removeprefix(RUN)}.safetensors"


def _prune(folder: Path) -> None:
    """Leave the newest snapshots."""
    kept = sorted(folder.glob("*.safetensors"), key=lambda path: path.stat().st_mtime)
    for path in kept[:-MOST_SNAPSHOTS]:
        path.unlink(missing_ok=True)


def _read(folder: Path) -> Training | None:
    """Read a run from its folder; None if it is damaged."""
    try:
        plan = json.loads((folder / PLAN).read_text(encoding="utf-8"))
        run = Training(folder.name, Plan.from_dict(plan), plan["host"], folder, plan["created"])
    except (OSError, ValueError, LookupError, TypeError, KibitzError):
        return None
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        state: Mapping[str, Any] = json.loads((folder / STATE).read_text(encoding="utf-8"))
        run.take_up(state)
    if run.state.is_alive or run.state.is_waiting:
        run.turn(State.STOPPED, SERVER_ENDED)
    with contextlib.suppress(OSError, ValueError, LookupError, TypeError):
        rows = Rows()
        for number, row in json.loads((folder / ROWS).read_text(encoding="utf-8")):
            rows.add(number, dict(row))
        run.rows = rows
    return run
