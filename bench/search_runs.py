"""The recorded matches of search: `python -m bench.search_runs [PART ..] [--out FOLDER]`.

Parts are `carcassonne`, `budget`, `mexican_train` and `hanabi`; all, if none is named. Every match
has a file in FOLDER (`runs/search`), so whatever is done is not done again. Matches are in
duplicate, on deals that nothing was chosen on.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kibitz
from kibitz.core.files import save

FRESH = 20_261_117  # the seed of the matches


@dataclass(frozen=True)
class Job:
    """One match: a game as it is set, who plays, and how many games."""

    name: str
    game: str
    agents: tuple[str, ...]
    games: int
    options: dict[str, Any] = field(default_factory=dict)


CARCASSONNE = "mcts:sims={sims},prior=settler,rollout=settler,depth=4,judge=settler"
PLAIN = "mcts:sims={sims}"
RULES = "piers+iggi+outer+internal+van-den-bergh"
PARTS: dict[str, list[Job]] = {
    "carcassonne": [
        Job(f"{rival}-{sims}", "carcassonne", (CARCASSONNE.format(sims=sims), rival), 200)
        for rival, sims in (("greedy", 400), ("settler", 400))
    ],
    "budget": [
        Job(f"budget-{sims}", "carcassonne", (PLAIN.format(sims=sims), "greedy"), games)
        for sims, games in (
            (50, 200), (200, 200), (1000, 100), (3000, 60), (10_000, 40),
        )
    ],
    "mexican_train": [
        Job(f"{rival}-{sims}", "mexican_train",
            (f"mcts:sims={sims},rollout=planner", rival, rival, rival), 400, {"hands": 1})
        for rival, sims in (("planner", 200), ("persistent-line", 200))
    ],
    "hanabi": [
        Job(f"rules-{sims}", "hanabi", (f"mcts:sims={sims},moves={RULES},rollout=piers",), 100,
            {"players": 2})
        for sims in (100, 1000)
    ],
}  # fmt: skip


def played(job: Job, folder: Path) -> dict[str, Any]:
    """Play a match, unless that is done."""
    file = folder / f"{job.game}-{job.name}.json"
    if file.exists():
        return json.loads(file.read_text(encoding="utf-8"))
    game = kibitz.game(job.game, **job.options)
    began = time.monotonic()
    result = kibitz.match(game, job.agents, job.games, seed=FRESH)
    found = {**result.to_dict(), "minutes": (time.monotonic() - began) / 60}
    save(file, json.dumps(found, indent=1) + "\n")
    return found


def told(job: Job, result: dict[str, Any]) -> str:
    """Write a result in a line."""
    mine = result["agents"][0]
    against = "" if len(job.agents) < 2 else f" against {' and '.join(job.agents[1:])}"
    figures = f"points {mine['points']}"
    if not result["cooperative"]:
        figures = f"wins {mine['share']}, margin {mine['margin']}, {figures}"
    return (
        f"{job.game} {job.agents[0]}{against}: {figures}; {result['games']} games in "
        f"{result['minutes']:.1f} minutes"
    )


def main(arguments: list[str]) -> None:
    at = arguments.index("--out") if "--out" in arguments else len(arguments)
    folder = Path((arguments[at + 1 : at + 2] or ["runs/search"])[0])
    named = arguments[:at] + arguments[at + 2 :]
    if set(named) - set(PARTS):
        sys.exit(f"python -m bench.search_runs [PART ..] [--out FOLDER]; parts: {', '.join(PARTS)}")
    folder.mkdir(parents=True, exist_ok=True)
    for part in named or PARTS:
        for job in PARTS[part]:
            print(told(job, played(job, folder)), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
