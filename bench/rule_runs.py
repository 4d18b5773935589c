"""The recorded trainings of the classifier system: `python -m bench.rule_runs [PART ..]`.

Parts are `best`, `population`, `plain` and `ablation`; all, if none is named. Every training has a
folder of its own in FOLDER (`--out`, or `runs/rules`), so whatever is done is not done again.
Prints a table, and draws all curves, the bad ones too, into FOLDER/curves.png.
"""

from __future__ import annotations

import csv
import json
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import kibitz
from kibitz.core.plots import COLOURS, QUIET, Canvas

# Seats and seeds of the recorded runs.
MEMBERS = [(2, 21), (2, 22), (2, 23), (3, 21), (4, 21), (5, 21)]
FULL: dict[str, dict[str, Any]] = {
    "best": {},
    "population": {"preset": "population", "games": 200_000},
    "plain": {"preset": "seed", "games": 200_000},
}
# A population, and the same with one thing otherwise.
MEANINGS = "+".join(
    [f"own {what} {how}" for what in ("playable", "dead") for how in ("as meant", "by chop")]
    + ["fellow playable as meant", "player can play as meant", "player errs as meant"]
    + ["player can play by chop", "tell focus as meant", "tell true by chop", "tell plays by chop"]
)
BASE = {"preset": "population", "games": 40_000, "compacted_on": 0, "cores": 1}
ABLATIONS: dict[str, dict[str, Any]] = {
    "as it is": {},
    "caution 1": {"caution": 1.0},
    "caution 0": {"caution": 0.0},
    "no covering": {"covering": False},
    "young rules act": {"young": 0.0},
    "young rules unprotected": {"protected": 0.0},
    "young rules crowd out others": {"crowd": 1.0},
    "no thanks to hints": {"thanks": 0.0},
    "final reward too": {"final": 0.05},
    "momentum 0.9": {"momentum": 0.9},
    "all who agree are paid": {"shared": True},
    "rules changed in place": {"in_place": True},
    "accuracy": {"fitness": "accuracy"},
    "niches": {"niches": True},
    "numerosity and subsumption": {"numerosity": True, "subsumption": True},
    "no words for what hints meant": {"without": MEANINGS},
    "no words for given hints": {"without": "given"},
}
ABLATION_SEEDS = (21, 22, 23)


def jobs(part: str) -> list[tuple[str, str, int, int, dict[str, Any]]]:
    """List the trainings of a part: folder, what it is, seats, seed, settings."""
    if part == "ablation":
        return [
            (f"ablation-{name.replace(' ', '-')}-{seed}", name, 2, seed, {**BASE, **settings})
            for seed in ABLATION_SEEDS
            for name, settings in ABLATIONS.items()
        ]
    return [(f"{part}-{n}-{seed}", part, n, seed, FULL[part]) for n, seed in MEMBERS]


def run(job: tuple[str, str, int, int, dict[str, Any]], folder: Path) -> None:
    """Train, unless that is done; note how long it took."""
    name, _, players, seed, settings = job
    mark = folder / name / "result.json"
    if mark.exists():
        return
    spent = folder / name / "seconds"  # of earlier parts, if it was interrupted
    earlier = float(spent.read_text()) if spent.exists() else 0.0
    began = time.monotonic() - earlier
    game = kibitz.game("hanabi", players=players)
    try:
        made = kibitz.train("classifier", game, seed=seed, folder=folder / name, **settings)
    except KeyboardInterrupt:
        spent.write_text(str(time.monotonic() - began))
        raise
    result = {**made.to_dict(), "seconds": time.monotonic() - began}
    mark.write_text(json.dumps(result, indent=1) + "\n", encoding="utf-8")


def rows(part: str, folder: Path) -> list[str]:
    """Write the table of a part."""
    lines = []
    for name, what, players, seed, _ in jobs(part):
        mark = folder / name / "result.json"
        if mark.exists():
            found = json.loads(mark.read_text(encoding="utf-8"))
            pile = ", ".join(f"{score:.2f}" for score in found["otherwise"].values())
            lines.append(
                f"| {what} | {players} | {seed} | {found['score']:.2f} ± {found['spread']:.2f} | "
                f"{pile} | {found['whole']:.2f} | {len(found['rules'])} | {found['games']:,} | "
                f"{found['seconds'] / 60:.1f} |"
            )
    return lines


def curve(path: Path) -> tuple[list[float], list[float], list[float]]:
    """Read the games, the seconds and the score of a run."""
    with path.open(encoding="utf-8") as file:
        read = list(csv.DictReader(file))
    games, seconds, score = (
        [float(row[column]) for row in read] for column in ("games", "seconds", "score")
    )
    return games, seconds, score


def draw(folder: Path, parts: list[str]) -> None:
    """Draw the curves of the full runs: score against games and against time."""
    canvas = Canvas(
        "Hanabi: rules learned from nothing",
        "score on 400 fresh games, three storms count nought; python -m bench.rule_runs",
        10.0, 3.2 * len(parts),
    )  # fmt: skip
    grid = canvas.figure.subplots(len(parts), 2, squeeze=False)
    for (left, right), part in zip(grid, parts, strict=True):
        for (name, _, players, seed, _), colour in zip(jobs(part), COLOURS, strict=True):
            path = folder / name / "curve.csv"
            if path.exists():
                games, seconds, score = curve(path)
                label = f"{players} seats, seed {seed}"
                left.plot(
                    [count / 1000 for count in games], score, color=colour, lw=1.3, label=label
                )
                right.plot([s / 60 for s in seconds], score, color=colour, lw=1.3)
        left.set(xlabel="thousand games", ylabel=f"{part}: score", ylim=(0, 25))
        right.set(xlabel="minutes", ylim=(0, 25))
        for axes in (left, right):
            axes.spines[["top", "right"]].set_visible(False)
            axes.grid(axis="y", color=QUIET, alpha=0.15)
    canvas.legend(grid[0][0], columns=3)
    canvas.save(folder / "curves.png")


def main(arguments: list[str]) -> None:
    """Train what is missing, then print and draw everything."""
    known = [*FULL, "ablation"]
    at = arguments.index("--out") if "--out" in arguments else len(arguments)
    folder = Path((arguments[at + 1 : at + 2] or ["runs/rules"])[0])
    named = arguments[:at] + arguments[at + 2 :]
    if set(named) - set(known):
        sys.exit(f"python -m bench.rule_runs [PART ..] [--out FOLDER]; parts: {', '.join(known)}.")
    parts = named or known
    folder.mkdir(parents=True, exist_ok=True)
    for part in parts:
        if part == "ablation":  # one core each
            with ProcessPoolExecutor(2) as pool:
                list(pool.map(run, jobs(part), [folder] * len(jobs(part))))
        else:
            for job in jobs(part):
                print(job[0], file=sys.stderr, flush=True)
                run(job, folder)
    head = (
        "| run | seats | seed | score | bomb=pile | before compaction | rules | games | minutes |"
    )
    print("\n".join([head, "|---|---|---|---|---|---|---|---|---|"]))
    for part in known:
        print("\n".join(rows(part, folder)))
    drawn = [
        part for part in FULL if any((folder / job[0] / "curve.csv").exists() for job in jobs(part))
    ]
    if drawn:
        draw(folder, drawn)


if __name__ == "__main__":
    main(sys.argv[1:])
