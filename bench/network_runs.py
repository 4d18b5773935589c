"""Networks of TD(lambda) side by side: `python -m bench.network_runs [NAME ..] [--out FOLDER]`.

Each of NETWORKS learns Mexican train with the same settings and seeds, on one core. Then it plays
single hands on fresh deals, in duplicate, against three others. A row is printed for each training;
whatever is done already, in FOLDER (`runs/networks`), is not done again.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import kibitz
from bench.value_runs import by_agent, told

COMMON = {
    "hidden": "128", "option_hidden": "128,64", "rate": 1e-3, "threads": 1, "cores": 1,
    "evaluate_every": 10**6, "evaluate_games": 40, "rivals": "double",
}  # fmt: skip
# Which options of the game and which settings; the longer ones take as long as the transformers.
NETWORKS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "dense": ({}, {"decisions": 300_000}),
    "transformer": ({}, {"decisions": 300_000, "network": "transformer"}),
    "dense, longer": ({}, {"decisions": 1_200_000}),
    "dense, no lines": ({"lines": False}, {"decisions": 300_000}),
    "transformer, no lines": ({"lines": False}, {"decisions": 300_000, "network": "transformer"}),
    "dense, no lines, longer": ({"lines": False}, {"decisions": 1_200_000}),
}
SEEDS = (21, 22, 23)
RIVALS = ("greedy", "double", "best-line")
HANDS = 2_000


def measure(game: kibitz.Game, path: Path) -> dict[str, str]:
    """Return the share of single hands that a network wins against three of each rival."""
    found = {}
    for rival in RIVALS:
        agents = [str(path), *[rival] * (game.players - 1)]
        points = by_agent(game.having(hands=1), agents, HANDS)
        best = points == points.max(axis=1, keepdims=True)
        found[rival] = told((best / best.sum(axis=1, keepdims=True))[:, 0], game.players, 100.0)
    return found


def run(name: str, seed: int, folder: Path) -> dict[str, Any]:
    """Train and measure a network, unless that is done; return the figures."""
    options, settings = NETWORKS[name]
    folder = folder / f"{name.replace(', ', '-').replace(' ', '-')}-{seed}"
    figures = folder / "figures.json"
    if not figures.exists():
        game = kibitz.game("mexican_train", **options)
        began = time.process_time()
        made = kibitz.train(
            "td-lambda", game, seed=seed, folder=folder, plots=False, **COMMON, **settings
        )
        minutes = (time.process_time() - began) / 60
        found = {"minutes": minutes, **measure(game, made.path)}
        figures.write_text(json.dumps(found) + "\n", encoding="utf-8")
    return json.loads(figures.read_text(encoding="utf-8"))


def main(arguments: list[str]) -> None:
    """Train what is missing, seed by seed, and print a row of a table for each."""
    at = arguments.index("--out") if "--out" in arguments else len(arguments)
    folder = Path((arguments[at + 1 : at + 2] or ["runs/networks"])[0])
    named = arguments[:at] + arguments[at + 2 :]
    if set(named) - set(NETWORKS):
        sys.exit(f"There are {', '.join(map(repr, NETWORKS))}.")
    print("| network | seed | decisions | CPU-minutes | " + " | ".join(RIVALS) + " |")
    print("|---" * (4 + len(RIVALS)) + "|")
    for seed in SEEDS:
        for name in named or NETWORKS:
            found = run(name, seed, folder)
            shares = " | ".join(f"{found[rival]}%" for rival in RIVALS)
            decisions = NETWORKS[name][1]["decisions"]
            print(f"| {name} | {seed} | {decisions:,} | {found['minutes']:.1f} | {shares} |")
            sys.stdout.flush()


if __name__ == "__main__":
    main(sys.argv[1:])
