"""PPO: decisions a second of the whole training, where the time goes, and beside a peer.

`python -m bench ppo` takes some minutes, on all cores. The peer is MaskablePPO of sb3-contrib, in a
program of its own (`maskable_ppo.py`): with this Python if it has the package, or with the one that
KIBITZ_PEER_PYTHON names; it is left out where neither has. Both sides learn the same game by action
numbers, with the same layers, buffer, batch and epochs, turn about; each on as many boards as suit
it, 512 and 128. The peer keeps two networks, one for the policy and one for the value; ours is one
with two ends.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import kibitz
from bench.report import HERE, FellShort, Row, spread
from kibitz.core.game import Game
from kibitz.learners.ppo.agent import POLICY
from kibitz.learners.ppo.learning import PolicyLearner
from kibitz.learners.ppo.settings import Settings
from kibitz.neural.agent import Meaning
from kibitz.neural.shape import first_weights, shape_of

SEED = 1
ROUNDS = 3
UPDATES = 2  # in a round
WARM = 4  # before: they compile, and games that began together come apart
OVER_PEER, MOST_MS = 5.0, 5.0  # what must hold in every run
SETTINGS = Settings(boards=256, buffer=10_240, batch=256, epochs=3, opponents="self")
WHOLE: dict[str, tuple[Game, dict[str, Any]]] = {
    "carcassonne, direct, vector, options 64,64": (
        kibitz.game("carcassonne", encoding="vector"), {"hidden": "128,128"},
    ),
    "carcassonne, cursor, vector, 256,256": (
        kibitz.game("carcassonne", encoding="vector", control="cursor", prospects=False), {},
    ),
    "carcassonne, cursor, planes, 32,32 and 256": (
        kibitz.game("carcassonne", encoding="planes", control="cursor", prospects=False),
        {"hidden": "256", "boards": 64, "buffer": 1024},
    ),
    "hanabi, two seats, 512,512": (kibitz.game("hanabi", players=2), {"hidden": "512,512"}),
}  # fmt: skip
BESIDE: list[tuple[str, dict[str, Any], str]] = [
    ("hanabi", {"players": 2}, "64,64"),
    ("tapnswap", {}, "64,64"),
    ("carcassonne", {"control": "cursor", "encoding": "vector", "prospects": "no"}, "64,64"),
    ("hanabi", {"players": 2}, "256,256"),
]


def run() -> list[Row]:
    short: list[str] = []
    rows = [*_moves(), *_whole(), *_beside(short)]
    if short:
        raise FellShort(rows, short)
    return rows


def _moves() -> Iterator[Row]:
    """Time a single move of the agent, from Python, in positions of random games."""
    for name, (game, changed) in WHOLE.items():
        settings = replace(SETTINGS, **changed)
        shape = shape_of(game, **settings.layers)
        meaning = Meaning("margin", 1.0, game.players)
        agent = POLICY.kind(game, shape, first_weights(shape, SEED), meaning)(game)
        views = _views(game)
        agent.choose(views[0])
        took = []
        for view in views:
            began = time.perf_counter()
            agent.choose(view)
            took.append(1e3 * (time.perf_counter() - began))
        median = statistics.median(took)
        yield Row(
            what=f"PPO: one move, {name}",
            figure=f"{median:.2f} ms",
            compared=f"the slowest of {len(took)}: {max(took):.2f} ms",
        )
        assert median < MOST_MS, f"{name}: a move takes {median:.1f} ms"


def _views(game: Game) -> list[kibitz.View]:
    """Collect what the player to move sees in random games, where there is something to choose."""
    views: list[kibitz.View] = []
    for deal in range(4):
        table, rng = game.deal(SEED, deal), kibitz.Chance(SEED, deal, 1)
        while not table.over and len(views) < 60 * (deal + 1):
            if len(table.legal) > 1:
                views.append(table.view())
            table.play(rng.choice(table.legal))
    return views


def _pace(learner: PolicyLearner, updates: int = UPDATES) -> tuple[float, dict[str, float]]:
    """Train for a while; give the decisions a second and the seconds of every part."""
    before, decisions = dict(learner.seconds), learner.decisions
    for _ in range(updates):
        learner.update()
    parts = {name: learner.seconds[name] - before[name] for name in before}
    return (learner.decisions - decisions) / sum(parts.values()), parts


def _whole() -> Iterator[Row]:
    for name, (game, changed) in WHOLE.items():
        learner = PolicyLearner(game, replace(SETTINGS, **changed), SEED)
        _pace(learner, WARM)
        paces, parts = zip(*(_pace(learner) for _ in range(ROUNDS)), strict=True)
        total = {part: sum(each[part] for each in parts) for part in parts[0]}
        spent = sum(total.values())
        shares = ", ".join(f"{part} {seconds / spent:.0%}" for part, seconds in total.items())
        yield Row(
            what=f"PPO: {name}",
            figure=f"{statistics.median(paces):,.0f} decisions/s",
            spread=spread(paces),
            compared=shares,
        )


def peer_python() -> str | None:
    """Find a Python that has the peer."""
    for python in (os.environ.get("KIBITZ_PEER_PYTHON"), sys.executable):
        if python is None:
            continue
        found = subprocess.run([python, "-c", "import sb3_contrib"], capture_output=True)
        if found.returncode == 0:
            return python
    return None


def _peer(python: str, name: str, options: dict[str, Any], hidden: str) -> dict[str, Any]:
    """Let the peer learn in its own process; of one thread and two, the faster."""
    best: dict[str, Any] = {"steps_per_second": 0.0}
    for threads in (1, 2):
        command = [python, str(HERE / "maskable_ppo.py"), name, "--hidden", hidden]
        command += ["--envs", "128", "--steps", "20480", "--threads", str(threads)]
        for option, chosen in options.items():
            command += ["--set", f"{option}={chosen}"]
        environment = {**os.environ, "PYTHONPATH": str(HERE.parent)}
        found = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        result = json.loads(found.stdout.strip().splitlines()[-1])
        if result["steps_per_second"] > best["steps_per_second"]:
            best = {**result, "threads": threads}
    return best


def _beside(short: list[str]) -> Iterator[Row]:
    """Measure beside the peer; what falls short is noted, and the others are measured too."""
    python = peer_python()
    if python is None:
        print("  the peer is left out: sb3-contrib is not installed", file=sys.stderr)
        return
    for name, options, hidden in BESIDE:
        game = kibitz.game(name, **options)
        # The peer's learner has one seat of several, and rivals who move at random.
        opponents = "self" if game.cooperative else "random"
        # By number, as the peer does.
        settings = replace(SETTINGS, hidden=hidden, opponents=opponents, boards=512, ahead=False)
        learner = PolicyLearner(game, settings, SEED)
        _pace(learner, WARM)
        ours, theirs = [], []
        for _ in range(ROUNDS):
            ours.append(_pace(learner)[0])
            theirs.append(_peer(python, name, options, hidden))
        peer = statistics.median(each["steps_per_second"] for each in theirs)
        ratio = statistics.median(ours) / peer
        print(f"  {game.described()}, {hidden}: {ratio:.1f} times the peer", file=sys.stderr)
        label = f"PPO: {game.described()}, {hidden}, beside MaskablePPO"
        yield Row(
            what=label,
            figure=f"{statistics.median(ours):,.0f} decisions/s",
            spread=spread(ours),
            compared=f"{ratio:.1f} times the peer's {peer:,.0f}, its best of one and two threads",
        )
        if ratio < OVER_PEER:
            short.append(f"{label}: {ratio:.1f} times instead of {OVER_PEER:.0f}")
