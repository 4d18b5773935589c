"""Search: how often it finds the right move, and how fast it is, beside OpenSpiel in the same run.

`python -m bench search` takes some minutes. Moves are judged by the exact table, in every position
that is won and not trivially so: in which some moves win and others do not.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kibitz
from bench.report import Row, spread
from kibitz.core.chance import Chance
from kibitz.core.game import VIEWER, Game
from kibitz.core.table import View
from kibitz.search.mcts import Search
from kibitz.search.solve import solve

SEED = 1
ROUNDS = 5
SPEED_SIMS = 20_000
PEER_C, PEER_SIMS, PYTHON_SIMS = 2.0, 20_000, 500
# What must hold in every run: right moves, and simulations a second as a ratio to the peers'.
NIM_RIGHT, TAPNSWAP_RIGHT, OVER_CPP, OVER_PYTHON = 0.99, 0.90, 1.5, 50.0
BUDGETS = (100, 300, 1000, 3000, 5000, 10_000, 30_000, 100_000)
# Games with nothing to set, and with what they are searched best.
SPEEDS: dict[str, tuple[str, str]] = {
    "nim": ("nim", ""),
    "tapnswap": ("tapnswap", ""),
    "mexican train, one hand, random": ("mexican_train", "hands=1"),
    "mexican train, one hand, planner plays on": ("mexican_train", "hands=1"),
    "hanabi, two seats, random": ("hanabi", ""),
    "hanabi, two seats, piers plays on": ("hanabi", ""),
    "carcassonne, two seats, random": ("carcassonne", ""),
    "carcassonne, two seats, greedy plays 4 turns": ("carcassonne", ""),
}
WITH = {
    "mexican train, one hand, planner plays on": "rollout=planner",
    "hanabi, two seats, piers plays on": "rollout=piers",
    "carcassonne, two seats, greedy plays 4 turns": "rollout=greedy,depth=4,judge=greedy",
}


def run() -> list[Row]:
    return [*_right(), *_beside(), *_paces()]


# --- right moves ---------------------------------------------------------------------------------


def won_positions(game: Game) -> list[tuple[View, set[int]]]:
    """Give the positions in which some moves win and others do not, and those that do."""
    solution = solve(game, folded=True)
    found = []
    for state, verdict in zip(solution.states, solution.verdicts, strict=True):
        if verdict <= 0:
            continue
        cells = state.copy()
        cells[VIEWER] = 0
        view = View(game, cells)
        options = solution.options(view)
        winning = {action for action, of in options.items() if of > 0}
        if len(winning) < len(options):
            found.append((view, winning))
    return found


def share_right(game: Game, positions: list[tuple[View, set[int]]], settings: str) -> float:
    """Give the share of positions in which the search makes a winning move."""
    agent = kibitz.agent(f"mcts:{settings}", game)
    right = 0
    for place, (view, winning) in enumerate(positions):
        agent.begin(0, Chance(SEED, place, 1))
        right += agent.choose(view) in winning
    return right / len(positions)


def _right() -> Iterator[Row]:
    for name, least in (("nim", NIM_RIGHT), ("tapnswap", TAPNSWAP_RIGHT)):
        game = kibitz.game(name)
        positions = won_positions(game)
        for proves in ("yes", "no"):
            shares = {
                sims: share_right(game, positions, f"sims={sims},prove={proves}")
                for sims in BUDGETS
            }
            reached = [str(sims) for sims, share in shares.items() if share >= 0.99]
            yield Row(
                what=f"{name}, {len(positions)} won positions, proofs {proves}: a winning move",
                figure=f"{shares[5000]:.1%} with 5,000 simulations",
                compared="; ".join(f"{sims:,}: {share:.1%}" for sims, share in shares.items())
                + f"; 99% from {reached[0] if reached else 'more'} on",
            )
            assert shares[5000] >= least or proves == "no", f"{name}: {shares[5000]:.1%} right"


# --- speed ---------------------------------------------------------------------------------------


def pace_of(sims: int, work: Callable[..., Any], *arguments: Any) -> float:
    """Time some work; give simulations a second."""
    began = time.perf_counter()
    work(*arguments)
    return sims / (time.perf_counter() - began)


def pace_from(agent: Search, view: View, sims: int) -> float:
    """Search; give simulations a second."""
    return pace_of(sims, lambda: agent.search(view, sims=sims))


def _beside() -> Iterator[Row]:
    import pyspiel
    from open_spiel.python.algorithms import mcts

    game = kibitz.game("nim")
    name = game.open_spiel(game.settings)
    theirs = pyspiel.load_game(name)
    state = theirs.new_initial_state()
    view = game.deal(SEED).view()
    # As the peer has it: a plain tree, without proofs, grown anew each time.
    agent = kibitz.agent(f"mcts:sims={SPEED_SIMS},prove=no,merge=no,reuse=no", game)
    assert isinstance(agent, Search)
    agent.search(view)
    paces: dict[str, list[float]] = {"kibitz": [], "OpenSpiel, C++": [], "OpenSpiel, Python": []}
    for turn in range(ROUNDS):
        paces["kibitz"].append(pace_from(agent, view, SPEED_SIMS))
        bot = pyspiel.MCTSBot(
            theirs, pyspiel.RandomRolloutEvaluator(1, turn), PEER_C, PEER_SIMS, 1000, False, turn,
            False,
        )  # fmt: skip
        paces["OpenSpiel, C++"].append(pace_of(PEER_SIMS, bot.step, state))
        rng = np.random.RandomState(turn)
        python = mcts.MCTSBot(
            theirs, PEER_C, PYTHON_SIMS, mcts.RandomRolloutEvaluator(1, rng), solve=False,
            random_state=rng,
        )  # fmt: skip
        paces["OpenSpiel, Python"].append(pace_of(PYTHON_SIMS, python.step, state))
    ours = statistics.median(paces["kibitz"])
    for who, least in (("kibitz", None), ("OpenSpiel, C++", OVER_CPP),
                       ("OpenSpiel, Python", OVER_PYTHON)):  # fmt: skip
        ratio = ours / statistics.median(paces[who])
        yield Row(
            what=f"{name}, search from the start, one core, {who}",
            figure=f"{statistics.median(paces[who]):,.0f} simulations/s",
            spread=spread(paces[who]),
            compared="" if least is None else f"kibitz is {ratio:.1f} x (at least {least:g})",
        )
        assert least is None or ratio >= least, f"only {ratio:.1f} times {who}"


def _paces() -> Iterator[Row]:
    for what, (name, settings) in SPEEDS.items():
        options = dict(part.split("=") for part in settings.split(",") if part)
        game = kibitz.game(name, **options)
        table = game.deal(SEED)
        view = table.view()
        figures = {}
        for trees in (1, 2):
            helpers = f",{WITH[what]}" if what in WITH else ""
            agent = kibitz.agent(f"mcts:sims=64,trees={trees},reuse=no,prove=no{helpers}", game)
            assert isinstance(agent, Search)
            agent.search(view)
            sims = int(max(64, 0.5 * pace_from(agent, view, 64)))
            figures[trees] = [pace_from(agent, view, sims) for _ in range(ROUNDS)]
        one, two = (statistics.median(figures[trees]) for trees in (1, 2))
        yield Row(
            what=f"search from the start, {what}",
            figure=f"{one:,.0f} simulations/s",
            spread=spread(figures[1]),
            compared=f"two trees on two cores: {two:,.0f}, {two / one:.1f} x",
        )
