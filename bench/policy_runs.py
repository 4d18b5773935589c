"""The recorded trainings of PPO: `python -m bench.policy_runs [PART ..] [--out FOLDER]`.

Parts are `known`, `direct`, `seats`, `encodings`, `taught` and `cursor`; all, if none is named.
Every training has a folder of its own in FOLDER (`runs/policies`), so whatever is done is not done
again, and what was interrupted goes on. Prints a table of matches on fresh deals, and draws all
curves into FOLDER/PART.png.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kibitz
from kibitz.core.plots import COLOURS, QUIET, Canvas
from kibitz.search.agreement import grade

FRESH = 20_261_116  # the seed of the matches; no training has seen it
GAMES = 1000
SMALL = {"boards": 128, "buffer": 4096, "hidden": "128,128", "rate": 1e-3}
EXPLORING = {
    **SMALL, "hidden": "32", "option_hidden": "128,128", "entropy": 0.03, "evaluate_every": 20,
    "decisions": 600_000,
}  # fmt: skip
LARGE = {"hidden": "128,128", "evaluate_games": 100, "rivals": "random+greedy"}
CURSOR = {"hidden": "128,128", "evaluate_games": 40, "rivals": "random+greedy", "gamma": 0.998}
NO_COSTS = "step=0+boundary=0+misfit=0+meeple-step=0+meeple-refused=0"


@dataclass(frozen=True)
class Job:
    """One training: a game as it is set, the learner's settings, and whom to measure it against."""

    name: str
    game: str
    options: dict[str, Any]
    settings: dict[str, Any]
    seed: int = 21
    rivals: tuple[str, ...] = ()
    graded: bool = False
    games: int = GAMES
    learner: str = "ppo"
    beside: tuple[str, ...] = field(default=())  # whose scores to print, in cooperative games

    @property
    def typed(self) -> str:
        """The game as `bench.models` writes it: `carcassonne:encoding=vector,players=3`."""
        options = ",".join(f"{name}={value}" for name, value in self.options.items())
        return f"{self.game}:{options}" if options else self.game


def direct(name: str, options: dict[str, Any], seed: int = 21, **settings: Any) -> Job:
    """Describe a training of Carcassonne with direct control."""
    return Job(
        name, "carcassonne", {"encoding": "vector", **options}, {**LARGE, **settings}, seed,
        ("random", "greedy", "settler"),
    )  # fmt: skip


def cursor(name: str, options: dict[str, Any], **settings: Any) -> Job:
    """Describe a training of Carcassonne with a cursor."""
    chosen = {"control": "cursor", "encoding": "vector", **options}
    return Job(
        name, "carcassonne", chosen, {**CURSOR, **settings}, rivals=("random", "greedy"), games=200
    )


TWO_COLOURS = {"players": 2, "colours": 2}
PARTS: dict[str, list[Job]] = {
    "known": [
        *(
            Job(f"tapnswap-{seed}", "tapnswap", {}, {**EXPLORING, "opening": 40}, seed,
                ("random",), True)
            for seed in (21, 22, 23)
        ),
        *(
            Job(f"nim-{seed}", "nim", {}, {**EXPLORING, "opening": 8}, seed,
                ("random",), True)
            for seed in (21, 22, 23)
        ),
        *(
            Job(name, "hanabi", options, {**SMALL, "hidden": "256,256", "decisions": decisions,
                                          "evaluate_every": 100, "evaluate_games": 1000},
                beside=("smart", "hat", "piers"))
            for name, options, decisions in (
                ("hanabi-two-colours-21", TWO_COLOURS, 3_000_000),
                ("hanabi-tiny-21", {**TWO_COLOURS, "values": 3, "hand": 2}, 2_000_000),
                ("hanabi-small-21",
                 {**TWO_COLOURS, "hand": 2, "notes": 3, "storms": 1}, 3_000_000),
            )
        ),
    ],
    "direct": [direct(f"direct-{seed}", {}, seed, decisions=2_000_000) for seed in (21, 22, 23)],
    "seats": [
        direct("direct-3-seats-21", {"players": 3}, decisions=1_000_000),
        direct("direct-4-seats-21", {"players": 4}, decisions=1_000_000),
        direct("direct-5-seats-21", {"players": 5}, decisions=2_000_000),
        direct("direct-farmers-21", {"farmers": True}, decisions=1_000_000),
    ],
    "encodings": [
        direct("what-comes-of-it-21", {}, decisions=300_000),
        *(
            direct(f"only-what-it-is-{encoding}-21", {"prospects": False, "encoding": encoding},
                   decisions=300_000)
            for encoding in ("vector", "tiles", "packed", "geography", "features")
        ),
        direct("only-what-it-is-planes-21", {"prospects": False, "encoding": "planes"},
               decisions=60_000, boards=64, buffer=4096),
    ],
    "taught": [
        # The teacher presses what the columns of the buttons call best. One whose target they do
        # not show (`settler`) cannot be followed: 3 of 40 games against `greedy` after 650,000.
        Job("cursor-taught-21", "carcassonne", {"control": "cursor", "encoding": "vector"},
            {**CURSOR, "decisions": 147_456, "teacher": "reckoner", "lessons": 1.0, "rate": 1.5e-3,
             "entropy": 0.002, "boards": 128, "buffer": 8192, "hidden": "64,64",
             "rivals": "greedy", "evaluate_every": 1000, "evaluate_games": 4, "threads": 1},
            rivals=("greedy",)),
    ],
    "cursor": [
        cursor("cursor-21", {}, decisions=2_500_000, rate=6e-4, entropy=0.003, boards=64,
               aim="events", rewards=NO_COSTS, evaluate_every=15),
        cursor("cursor-margin-21", {}, decisions=1_500_000, rate=1e-3, entropy=0.002),
        cursor("cursor-exact-21", {"exact": True}, decisions=400_000),
        cursor("cursor-events-21", {}, decisions=400_000, aim="events"),
        cursor("cursor-events-no-step-cost-21", {}, decisions=400_000, aim="events",
               rewards=NO_COSTS),
        cursor("cursor-events-no-boundary-cost-21", {}, decisions=400_000, aim="events",
               rewards="boundary=0"),
        # As the seed has it: buttons known by number, events paid for.
        cursor("cursor-by-number-events-21", {"prospects": False}, decisions=1_500_000,
               hidden="256,256", rate=6e-4, entropy=0.003, boards=64, aim="events"),
        *(
            cursor(f"cursor-by-number-{encoding}-21", {"prospects": False, "encoding": encoding},
                   decisions=800_000, hidden="256,256")
            for encoding in ("vector", "tiles", "packed", "geography", "features")
        ),
        cursor("cursor-by-number-planes-21", {"prospects": False, "encoding": "planes"},
               decisions=60_000, boards=64, buffer=4096, hidden="256"),
    ],
}  # fmt: skip
JOBS = {job.name: job for jobs in PARTS.values() for job in jobs}


def run(
    job: Job, folder: Path, more: Callable[[Job, kibitz.Game, Path], dict[str, Any]]
) -> dict[str, Any]:
    """Train and measure, unless that is done."""
    mark = folder / job.name / "result.json"
    if mark.exists():
        return json.loads(mark.read_text(encoding="utf-8"))
    game = kibitz.game(job.game, **job.options)
    began = time.monotonic()
    last = [0.0]

    def tell(done: int, total: int, words: str) -> None:
        if time.monotonic() - last[0] > 30.0:
            last[0] = time.monotonic()
            print(f"  {job.name}: {done} of {total}, {words}", file=sys.stderr, flush=True)

    learned = kibitz.train(
        job.learner, game, seed=job.seed, folder=folder / job.name, progress=tell, **job.settings
    )
    result = {**learned.to_dict(), **measured(job, game, folder / job.name)}
    result |= more(job, game, folder / job.name)
    with (folder / job.name / "curve.csv").open(encoding="utf-8") as file:
        result["minutes"] = float(list(csv.DictReader(file))[-1]["seconds"]) / 60
    result["all minutes"] = (time.monotonic() - began) / 60
    mark.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")
    return result


def measured(job: Job, game: kibitz.Game, folder: Path) -> dict[str, Any]:
    """Measure the network, and the one that was best for sure, on fresh deals."""
    found: dict[str, Any] = {}
    for which in ("model", "best"):
        path = str(folder / f"{which}.safetensors")
        if job.graded:
            found[f"{which}: moves right"] = f"{grade(game, path).agreement:.1%}"
        if game.cooperative:
            result = kibitz.match(game, [path], job.games, seed=FRESH)
            found[f"{which}: score"] = result.agents[0].points.text()
        for rival in job.rivals:
            others = [rival] * (game.players - 1)
            mine = kibitz.match(game, [path, *others], job.games, seed=FRESH).agents[0]
            found[f"{which}: {rival}"] = f"{mine.share.text()}, {mine.margin.text(1)}"
    for agent in job.beside:
        result = kibitz.match(game, [agent], job.games, seed=FRESH)
        found[f"beside: {agent}"] = result.agents[0].points.text()
    return found


def draw(part: str, jobs: list[Job], folder: Path) -> None:
    """Draw what every training of a part did against its last rival, or its score."""
    canvas = Canvas(f"{jobs[0].learner}: {part}", f"python -m {command()} {part}", 10.0, 4.5)
    axes = canvas.axes(2)
    for place, job in enumerate(jobs):
        path = folder / job.name / "curve.csv"
        if not path.exists():
            continue
        with path.open(encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        shares = [name for name in rows[0] if name.startswith("share_")]
        name = "score" if not shares else shares[-2]  # of the last rival; its spread follows
        of = [float(row[name]) for row in rows]
        colour, dash = COLOURS[place % len(COLOURS)], ("-", "--", ":")[place // len(COLOURS)]
        for axis, column, unit in ((axes[0], "decisions", 1e6), (axes[1], "seconds", 60.0)):
            at = [float(row[column]) / unit for row in rows]
            label = job.name if axis is axes[0] else None
            axis.plot(at, of, color=colour, ls=dash, lw=1.3, label=label)
    against = jobs[-1].settings.get("rivals", "random").split("+")[-1]
    axes[0].set(xlabel="million decisions", ylabel=f"share of wins against {against}, or score")
    axes[1].set(xlabel="minutes")
    for axis in axes:
        axis.grid(axis="y", color=QUIET, alpha=0.15)
    canvas.legend(axes[0], columns=2)
    canvas.save(folder / f"{part}.png")


def command() -> str:
    """Give the module that was started."""
    return str(sys.modules["__main__"].__spec__.name)  # type: ignore[union-attr]


def main(
    arguments: list[str],
    parts: dict[str, list[Job]],
    usual: str,
    more: Callable[[Job, kibitz.Game, Path], dict[str, Any]] = lambda *_: {},
) -> None:
    """Train what is missing, then print and draw everything. more: further figures of a job."""
    at = arguments.index("--out") if "--out" in arguments else len(arguments)
    folder = Path((arguments[at + 1 : at + 2] or [usual])[0])
    named = arguments[:at] + arguments[at + 2 :]
    if set(named) - set(parts) - {job.name for jobs in parts.values() for job in jobs}:
        sys.exit(f"python -m {command()} [PART ..] [--out FOLDER]; parts: {', '.join(parts)}")
    folder.mkdir(parents=True, exist_ok=True)
    for part, jobs in parts.items():
        chosen = [job for job in jobs if not named or part in named or job.name in named]
        for job in chosen:
            result = run(job, folder, more)
            figures = {name: of for name, of in result.items() if ": " in name}
            print(f"{job.name}: {result['decisions']:,} decisions, {result['minutes']:.1f} minutes")
            for name, figure in figures.items():
                print(f"    {name:<24} {figure}")
            sys.stdout.flush()
        if chosen:
            draw(part, jobs, folder)


if __name__ == "__main__":
    main(sys.argv[1:], PARTS, "runs/policies")
