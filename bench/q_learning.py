"""Q-learning: does it find exact play, how does the seed's way compare, how fast is it?

`python -m bench q_learning` takes about a minute.
"""

from __future__ import annotations

import time

import numpy as np

import kibitz
from bench import plain_tapnswap
from bench.report import Row, spread
from kibitz.learners.q_learning import Learner, Settings

SEEDS = range(10)
ROUNDS = 5
FRESH = 10_000
WAYS = {
    "defaults": {},
    "seed's settings": {"preset": "seed"},
    "seed's settings, 1,000,000 games each": {"preset": "seed", "games": 1_000_000},
    "seed's settings, 1,000,000 games each, exploring starts": {
        "preset": "seed", "games": 1_000_000, "exploring_starts": True,
    },
    "seed's settings, minimax": {"preset": "seed", "look_ahead": "minimax"},
    "defaults, 3,000 games": {"games": 3000},
    "defaults, 3,000 games, no exploring starts": {"games": 3000, "exploring_starts": False},
    "defaults, 3,000 games, mirror images apart": {"games": 3000, "fold": False},
    "defaults, 3,000 games, look-ahead to the answer played": {
        "games": 3000, "look_ahead": "played",
    },
    "defaults, look-ahead to the answer played": {"look_ahead": "played"},
}  # fmt: skip


def run() -> list[Row]:
    game = kibitz.game("tapnswap")
    return [*_ways(game), *_matches(game), *_nim(), *_plain(game), *_peer()]


def _ways(game: kibitz.Game) -> list[Row]:
    rows = []
    kibitz.train("q_learning", game, seed=0, games=10)  # compiles
    kibitz.train("q_learning", game, seed=0, games=10, preset="seed")
    for name, settings in WAYS.items():
        agreements, seconds, worst = [], [], 0
        for seed in SEEDS:
            began = time.perf_counter()
            learned = kibitz.train("q_learning", game, seed=seed, **settings)
            seconds.append(time.perf_counter() - began)
            agreements.append(learned.figures["agreement"])
            worst += learned.worst[1].startswith("wins")
        if name == "defaults":
            assert min(agreements) == 1.0
            assert max(seconds) < 10
        rows.append(
            Row(
                what=f"tapnswap, {name}: positions moved right, 10 seeds",
                figure=f"{np.mean(agreements):.1%}",
                spread=f"{min(agreements):.1%} to {max(agreements):.1%}",
                compared=f"{np.median(seconds):.2f} s a run on one core; moving second, "
                f"{worst} of 10 win whatever the other does",
            )
        )
    return rows


def _matches(game: kibitz.Game) -> list[Row]:
    rows = []
    shares: dict[str, list[float]] = {}
    for seed in SEEDS:
        agent = kibitz.train("q_learning", game, seed=seed).agent
        for rival in ("perfect", "random"):
            seats = kibitz.match(game, [agent, rival], FRESH, seed=seed).agents[0].seats
            for name, seat in zip(("first", "second"), seats, strict=True):
                shares.setdefault(f"moving {name}, against {rival}", []).append(seat.share.mean)
    assert min(shares["moving second, against perfect"]) == 1.0
    assert min(shares["moving second, against random"]) == 1.0
    assert min(shares["moving first, against random"]) > 0.99
    for name, found in shares.items():
        rows.append(
            Row(
                what=f"tapnswap, trained by default, {name}: share of wins, 10 seeds",
                figure=f"{np.mean(found):.2%}",
                spread=f"{min(found):.2%} to {max(found):.2%}",
            )
        )
    return rows


def _nim() -> list[Row]:
    rows = []
    for sticks in ("1,3,5", "1,3,5,7"):
        game = kibitz.game("nim", rows=sticks)
        for name, settings in (("defaults", {}), ("seed's settings", {"preset": "seed"})):
            won = [
                kibitz.grade(game, kibitz.train("q_learning", game, seed=s, **settings).agent).won
                for s in SEEDS
            ]
            rows.append(
                Row(
                    what=f"nim {sticks}, {name}: won positions with a winning move, 10 seeds",
                    figure=f"{np.mean(won):.1%}",
                    spread=f"{min(won):.1%} to {max(won):.1%}",
                )
            )
    return rows


def _plain(game: kibitz.Game) -> list[Row]:
    """Compare with the same algorithm in plain Python, on one core each."""
    rows = []
    for epsilon in (1.0, 0.2):
        ours, plain = [], []
        learner = Learner(game, Settings(epsilon=f"{epsilon:g}", games=10**9, fold=False), 1)
        by_hand = plain_tapnswap.Learner(epsilon, 1.0, 0.95, 1)
        learner.play(0, 0, 100_000)
        for _ in range(3000):
            by_hand.game()
        for place in range(ROUNDS):
            began = time.perf_counter()
            learner.play(0, 1_000_000 * (place + 1), 1_000_000 * (place + 2))
            ours.append(1_000_000 / (time.perf_counter() - began))
            began = time.perf_counter()
            for _ in range(5000):
                by_hand.game()
            plain.append(5000 / (time.perf_counter() - began))
        times = float(np.median(ours) / np.median(plain))
        if epsilon == 1.0:
            assert times > 500, f"only {times:.0f} times plain Python"
        rows += [
            Row(
                what=f"tapnswap, Q-learning, epsilon {epsilon:g}, mirror images apart, kibitz, "
                "1 core",
                figure=f"{np.median(ours):,.0f} games/s",
                spread=spread(ours),
                compared=f"{times:,.0f} x plain Python",
            ),
            Row(
                what=f"tapnswap, Q-learning, epsilon {epsilon:g}, plain Python "
                "(bench/plain_tapnswap.py), 1 core",
                figure=f"{np.median(plain):,.0f} games/s",
                spread=spread(plain),
            ),
        ]
    return rows


def _peer() -> list[Row]:
    """Compare updates a second with OpenSpiel's tabular Q-learner, on Nim in self-play."""
    from open_spiel.python import rl_environment
    from open_spiel.python.algorithms.tabular_qlearner import QLearner

    environment = rl_environment.Environment("nim", pile_sizes="1;3;5;7")
    actions = environment.action_spec()["num_actions"]
    agents = [
        QLearner(player_id=seat, num_actions=actions, step_size=0.5, discount_factor=0.95)
        for seat in range(2)
    ]
    game = kibitz.game("nim")
    learner = Learner(game, Settings(rate="0.5", epsilon="0.2", exploring_starts=False), 1)
    learner.play(0, 0, 10_000)
    ours, theirs = [], []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        updates = learner.play(0, 0, 100_000)
        ours.append(updates / (time.perf_counter() - began))
        updates = 0
        began = time.perf_counter()
        for _ in range(150):
            step = environment.reset()
            moves = 0
            while not step.last():
                chosen = agents[step.observations["current_player"]].step(step)
                step = environment.step([chosen.action])
                moves += 1
            for agent in agents:
                agent.step(step)
            updates += moves  # each learns from every move of its own
        theirs.append(updates / (time.perf_counter() - began))
    times = float(np.median(ours) / np.median(theirs))
    assert times > 100, f"only {times:.0f} times OpenSpiel"
    return [
        Row(
            what="nim, Q-learning against itself, epsilon 0.2, kibitz, 1 core",
            figure=f"{np.median(ours):,.0f} updates/s",
            spread=spread(ours),
            compared=f"{times:,.0f} x OpenSpiel",
        ),
        Row(
            what="nim, Q-learning against itself, epsilon 0.2, OpenSpiel's tabular Q-learner",
            figure=f"{np.median(theirs):,.0f} updates/s",
            spread=spread(theirs),
        ),
    ]
