"""The recorded matches of search: `python -m bench.search_runs [PART ..] [--out FOLDER]`.

Parts are `carcassonne`, `budget`, `mexican_train` and `hanabi`; all, if none is named. Every match
has a file in FOLDER (`runs/search`), so whatever is done is not done again. Matches are in
duplicate, on deals that nothing was chosen on. Strength at Carcassonne against simulations is drawn
into FOLDER/search.png, from whatever is done.
"""

from __future__ import annotations

import json
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.files import save
from kibitz.core.plots import COLOURS, QUIET, Canvas

FRESH = 20_261_117  # the seed of the matches
STRIDE = 12  # plies between two moves that are timed


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
            ("greedy", 50, 20), ("greedy", 200, 200), ("greedy", 1000, 6), ("greedy", 3000, 4),
            ("greedy", 10_000, 2), ("settler", 50, 100), ("settler", 200, 200),
            ("settler", 1000, 12), ("settler", 3000, 6), ("settler", 10_000, 2),
        )
    ],
    "budget": [
        Job(f"random-{sims}", "carcassonne", (f"mcts:sims={sims}", "greedy"), games)
        for sims, games in ((50, 100), (200, 100), (1000, 60), (3000, 16), (10_000, 6))
    ],
    "mexican_train": [
        Job(f"{rival}-{sims}{'-prior' * bool(more)}", "mexican_train",
            (f"mcts:sims={sims},rollout=planner{more}", rival, rival, rival), games, {"hands": 1})
        for rival, sims, more, games in (
            ("planner", 100, "", 400), ("persistent-line", 100, "", 400),
            ("planner", 400, ",prior=planner", 400),
            ("persistent-line", 400, ",prior=planner", 100),
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
            ("smart-200", 200, f",moves=smart+{RULES},rollout=smart", 20, 2),
        )
    ],
}  # fmt: skip
BUDGETS = (50, 200, 1000, 3000, 10_000)
CURVES = {
    "random play, against greedy": PARTS["budget"],
    **{
        f"settler helps, against {rival}": [
            job for job in PARTS["carcassonne"] if job.agents[1] == rival
        ]
        for rival in ("greedy", "settler")
    },
}
MARKS = "so^"
SHIFT, EDGES = 1.06, (40, 12_500)


def file_of(job: Job, folder: Path) -> Path:
    """Give where the result of a match is kept."""
    return folder / f"{job.game}-{job.name}.json"


def played(job: Job, folder: Path) -> dict[str, Any]:
    """Play a match, unless that is done."""
    file = file_of(job, folder)
    if file.exists():
        return json.loads(file.read_text(encoding="utf-8"))
    game = kibitz.game(job.game, **job.options)
    began = time.monotonic()
    result = kibitz.match(game, job.agents, job.games, seed=FRESH)
    minutes = (time.monotonic() - began) / 60
    found = {**result.to_dict(), "minutes": minutes, "seconds a move": seconds(game, job)}
    save(file, json.dumps(found, indent=1) + "\n")
    return found


def seconds(game: kibitz.Game, job: Job) -> float:
    """Give how long one core thinks about a move, on average over one game of the others."""
    searcher = kibitz.agent(job.agents[0], game)
    others = [kibitz.agent(job.agents[-1], game) for _ in range(game.players)]
    table = game.deal(seed=FRESH)
    rng = Chance(FRESH)
    taken = []
    for seat, agent in enumerate(others):
        agent.begin(seat, rng)
    while not table.over:
        if table.plies % STRIDE == 0 and len(table.legal) > 1:
            searcher.begin(table.seat, rng)
            began = time.process_time()  # what else the machine does is left out
            searcher.choose(table.view())
            taken.append(time.process_time() - began)
        table.play(others[table.seat].choose(table.view()))
    return sum(taken) / max(1, len(taken))


def interval(of: dict[str, float]) -> str:
    """Write a mean with its interval of 95%."""
    return f"{of['mean']:.2f} ± {of['plus_minus']:.2f}"


def draw(folder: Path) -> None:
    """Draw what simulations buy at Carcassonne."""
    canvas = Canvas(
        "Carcassonne, two seats: what simulations buy; bars are intervals of 95%",
        "python -m bench.search_runs carcassonne budget", 10.0, 4.5,
    )  # fmt: skip
    wins, margins = canvas.axes(2)
    for place, (label, jobs) in enumerate(CURVES.items()):
        found = [
            (int(job.name.rpartition("-")[2]), json.loads(file.read_text(encoding="utf-8")))
            for job in jobs
            if (file := file_of(job, folder)).exists()
        ]
        if not found:
            continue
        sims = [at * SHIFT ** (place - 1) for at, _ in found]  # so that bars can be told apart
        ours = [result["agents"][0] for _, result in found]
        shares = [100.0 * one["share"]["mean"] for one in ours]
        below = [100.0 * (one["share"]["mean"] - one["share"]["low"]) for one in ours]
        above = [100.0 * (one["share"]["high"] - one["share"]["mean"]) for one in ours]
        means = [one["margin"]["mean"] for one in ours]
        bars = [one["margin"]["plus_minus"] for one in ours]
        look = {"color": COLOURS[place], "marker": MARKS[place], "capsize": 3, "lw": 1.4}
        wins.errorbar(sims, shares, yerr=[below, above], label=label, **look)
        margins.errorbar(sims, means, yerr=bars, **look)
    for axes, level, name in ((wins, 50, "games won, %"), (margins, 0, "margin, points a game")):
        axes.set(xscale="log", xlim=EDGES, xlabel="simulations for a move", ylabel=name)
        axes.set_xticks(BUDGETS, [f"{sims:,}" for sims in BUDGETS])
        axes.minorticks_off()
        axes.axhline(level, color=QUIET, lw=0.8, ls=":")
        axes.grid(axis="y", color=QUIET, alpha=0.15)
    wins.set_ylim(-2, 102)
    wins.legend(loc="lower right", frameon=False, fontsize=9)
    canvas.save(folder / "search.png")


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
        f"{result['minutes']:.1f} minutes, {result['seconds a move']:.3f} s a move"
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
    draw(folder)


if __name__ == "__main__":
    main(sys.argv[1:])
