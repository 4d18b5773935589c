"""The recorded trainings of TD(lambda): `python -m bench.value_runs [PART ..] [--out FOLDER]`.

Parts are `known`, `train`, `lines` and `others`; all, if none is named. Folders, tables and curves
are as with `bench.policy_runs`, in `runs/values`. At Mexican train the network also plays in pairs,
two against two, and single hands; its pairwise chance is that of fewer pips than one of the others.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

import kibitz
from bench.policy_runs import EXPLORING, FRESH, Job, main
from kibitz.play.match import Runner, seated

KNOWN = {name: of for name, of in EXPLORING.items() if name != "entropy"}
TRAIN = {
    "hidden": "128", "option_hidden": "128,64", "rate": 1e-3, "rivals": "persistent-line+planner",
    "evaluate_games": 200, "evaluate_every": 20,
}  # fmt: skip
HANDS, GAMES = 10_000, 2_000
CHUNK = 100  # games at a time
RIVALS = ("persistent-line", "planner", "double")


def td(name: str, game: str, options: dict[str, Any], settings: dict[str, Any], **more: Any) -> Job:
    """Describe a training by temporal differences."""
    return Job(name, game, options, settings, learner="td_lambda", **more)


PARTS: dict[str, list[Job]] = {
    "known": [
        *(
            td(f"nim-{seed}", "nim", {}, {**KNOWN, "opening": 8}, seed=seed, rivals=("random",),
               graded=True)
            for seed in (21, 22, 23)
        ),
        *(
            # A win is worth more the sooner it comes, or winning moves would all be worth the same.
            td(f"tapnswap-{seed}", "tapnswap", {},
               {**KNOWN, "opening": 40, "gamma": 0.95, "decisions": 3_000_000}, seed=seed,
               rivals=("random",), graded=True)
            for seed in (21, 22, 23)
        ),
    ],
    "train": [td("train-21", "mexican_train", {}, {**TRAIN, "decisions": 4_000_000})],
    "lines": [
        td("lines-21", "mexican_train", {}, {**TRAIN, "decisions": 1_000_000}),
        td("no-lines-21", "mexican_train", {"lines": False}, {**TRAIN, "decisions": 1_000_000}),
    ],
    "others": [
        td("carcassonne-21", "carcassonne", {"encoding": "vector"},
           {"hidden": "128", "rate": 1e-3, "decisions": 1_000_000, "gamma": 0.99,
            "rivals": "random+greedy", "evaluate_games": 100},
           rivals=("random", "greedy", "settler")),
        td("hanabi-21", "hanabi", {"players": 2},
           {"hidden": "256,256", "rate": 1e-3, "decisions": 2_000_000, "gamma": 0.99,
            "evaluate_every": 50, "evaluate_games": 1000}, beside=("smart", "hat", "piers")),
    ],
}  # fmt: skip
JOBS = {job.name: job for jobs in PARTS.values() for job in jobs}


def by_agent(game: kibitz.Game, agents: list[Any], games: int) -> np.ndarray:
    """Play a match in duplicate; give the points [games, agents], all of a deal together."""
    runner = Runner(game, seated(game, agents), FRESH, True)
    points, plies = np.zeros((games, game.players)), np.zeros(games, np.int32)

    def play(first: int) -> None:
        rows = slice(first, first + CHUNK)
        runner.play(first, points[rows], plies[rows])

    with ThreadPoolExecutor() as pool:
        list(pool.map(play, range(0, games, CHUNK)))
    return points


def told(values: np.ndarray, seats: int, scale: float = 1.0) -> str:
    """Give a mean over games with its interval of 95%; a deal is one observation."""
    deals = values.reshape(-1, seats).mean(axis=1) * scale
    return f"{deals.mean():.2f} ± {1.96 * deals.std(ddof=1) / len(deals) ** 0.5:.2f}"


def dominoes(job: Job, game: kibitz.Game, folder: Path) -> dict[str, Any]:
    """Measure a player of Mexican train: one against three, and two against two."""
    if job.game != "mexican_train":
        return {}
    path = str(folder / "model.safetensors")
    found = {}
    for rival in RIVALS:
        for mine in (1, 2):
            agents = [path] * mine + [rival] * (game.players - mine)
            if mine == 2:
                agents = [path, rival, path, rival]
            ours = [place for place, agent in enumerate(agents) if agent == path]
            theirs = [place for place, agent in enumerate(agents) if agent != path]
            for table, count, what in (
                (game.having(hands=1), HANDS, "hands"), (game, GAMES, "games"),
            ):  # fmt: skip
                points = by_agent(table, agents, count)
                best = points.max(axis=1, keepdims=True)
                shares = (points == best) / (points == best).sum(axis=1, keepdims=True)
                against = points[:, ours][:, :, None], points[:, theirs][:, None, :]
                ahead = (against[0] > against[1]) + 0.5 * (against[0] == against[1])
                hands = 1 if what == "hands" else 10
                found[f"{what}: {mine} against {rival}"] = (
                    f"won {told(shares[:, ours].sum(axis=1), game.players, 100)}%, "
                    f"pairwise {told(ahead.mean(axis=(1, 2)), game.players, 100)}%, pips a hand "
                    f"{told(-points[:, ours].mean(axis=1), game.players, 1 / hands)} to "
                    f"{told(-points[:, theirs].mean(axis=1), game.players, 1 / hands)}"
                )
    return found


if __name__ == "__main__":
    main(sys.argv[1:], PARTS, "runs/values", dominoes)
