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


CARCASSONNE = "mcts:sims={sims},prior=settler,rollout=settler,judge=settler,depth=6"
RULES = "piers+iggi+outer+internal+van-den-bergh"
PARTS: dict[str, list[Job]] = {
    "carcassonne": [
        Job(f"{rival}-{sims}", "carcassonne", (CARCASSONNE.format(sims=sims), rival), games)
        for rival, sims, games in (
            ("greedy", 200, 200), ("settler", 200, 200), ("settler", 50, 100),
            ("settler", 1000, 40),
        )
    ],
    "budget": [
        Job(f"random-{sims}", "carcassonne", (f"mcts:sims={sims}", "greedy"), games)
        for sims, games in ((50, 100), (200, 100), (1000, 60), (3000, 40), (10_000, 20))
    ],
    "mexican_train": [
        Job(f"{rival}-{sims}", "mexican_train",
            (f"mcts:sims={sims},rollout=planner", rival, rival, rival), games, {"hands": 1})
        for rival, sims, games in (
            ("planner", 100, 400), ("persistent-line", 100, 400),
        )
    ],
    "hanabi": [
        Job(name, "hanabi", (f"mcts:sims={sims}{more}",), games, {"players": players})
        for name, sims, more, games, players in (
            ("plain-400", 400, "", 40, 2),
            ("played-on-400", 400, ",rollout=piers", 40, 2),
            ("rules-100", 100, f",moves={RULES},rollout=piers", 200, 2),
            ("rules-1000", 1000, f",moves={RULES},rollout=piers", 100, 2),
            ("rules-400-4-seats", 400, f",moves={RULES},rollout=piers", 60, 4),
            ("smart-200", 200, f",moves=smart+{RULES},rollout=smart", 30, 2),
        )
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


def interval(of: dict[str, float]) -> str:
    """Write a mean with its interval of 95%."""
    return f"{of['mean']:.2f} ± {of['plus_minus']:.2f}"


def told(job: Job, result: dict[str, Any]) -> str:
    """Write a result in a line."""
    mine = result["agents"][0]
    against = "" if len(job.agents) < 2 else f" against {' and '.join(job.agents[1:])}"
    figures = f"{interval(mine['points'])} points"
    if not result["cooperative"]:
        share = mine["share"]
        figures = (
            f"wins {share['mean']:.1%} ({share['low']:.1%} to {share['high']:.1%}), "
            f"margin {interval(mine['margin'])}, {figures}"
        )
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
