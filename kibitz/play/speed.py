"""How fast a game is: random play on one core, beside a peer that has the same game."""

from __future__ import annotations

import importlib.util
import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from kibitz.core.compiled import in_python
from kibitz.core.game import Game
from kibitz.play.loop import random_games

ROUNDS = 5  # the median of so many takes out the noise of a busy machine


@dataclass(frozen=True, slots=True, kw_only=True)
class Speed:
    """Moves of random play per second, on one core: the median of several rounds, and all."""

    game: str
    who: str
    per_second: float
    rounds: tuple[float, ...]


def measure(game: Game, seconds: float = 2.0) -> list[Speed]:
    """Measure kibitz and, where it is installed and has the game, OpenSpiel, turn about."""
    contenders: dict[str, Callable[[float], float]] = {"kibitz": lambda span: _ours(game, span)}
    name = game.open_spiel(game.settings)
    if name is not None and importlib.util.find_spec("pyspiel"):
        if _can_be_rolled_out(name):
            contenders["OpenSpiel, C++ rollouts"] = lambda span: _their_rollouts(name, span)
        contenders["OpenSpiel, Python loop"] = lambda span: _their_loop(name, span)
    taken: dict[str, list[float]] = {who: [] for who in contenders}
    for who in contenders:
        contenders[who](0.01)  # compile, load, warm up
    for _ in range(ROUNDS):
        for who, run in contenders.items():
            taken[who].append(run(seconds / ROUNDS))
    return [
        Speed(game=game.name, who=who, per_second=sorted(paces)[ROUNDS // 2], rounds=tuple(paces))
        for who, paces in taken.items()
    ]


def _ours(game: Game, seconds: float) -> float:
    run = random_games if game.is_compiled else in_python(random_games)
    rules, blank, most_legal = game.rules, game.blank(), game.bound("most_legal")
    moves = seed = 0
    games = 20_000 if game.is_compiled else 10
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or not moves:
        moves += int(run(rules, blank, most_legal, seed, games))
        seed += 1
    return moves / spent


def _their_loop(name: str, seconds: float) -> float:
    """Play in Python, as a user of pyspiel would write it."""
    import pyspiel

    game = pyspiel.load_game(name)
    rng = random.Random(1)
    moves = 0
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or not moves:
        moves += _their_game(game, rng)
    return moves / spent


def _their_game(game: Any, rng: random.Random) -> int:
    """Play a random game in Python; give how many moves players made, those of chance aside."""
    import pyspiel

    has_chance = game.get_type().chance_mode != pyspiel.GameType.ChanceMode.DETERMINISTIC
    state = game.new_initial_state()
    moves = 0
    while not state.is_terminal():
        if has_chance and state.is_chance_node():
            state.apply_action(_drawn(state.chance_outcomes(), rng))
        else:
            state.apply_action(rng.choice(state.legal_actions()))
            moves += 1
    return moves


def _drawn(outcomes: list[tuple[int, float]], rng: random.Random) -> int:
    """Draw what chance does, in half the time of `random.choices`."""
    left = rng.random()
    for action, chance in outcomes:
        left -= chance
        if left < 0.0:
            return action
    return outcomes[-1][0]


def _can_be_rolled_out(name: str) -> bool:
    """Tell whether OpenSpiel's tree search takes the game: points at the end alone, no chance."""
    import pyspiel

    kind = pyspiel.load_game(name).get_type()
    return (
        kind.chance_mode == pyspiel.GameType.ChanceMode.DETERMINISTIC
        and kind.reward_model == pyspiel.GameType.RewardModel.TERMINAL
    )


def _their_rollouts(name: str, seconds: float) -> float:
    """Let a tree search of one simulation evaluate the root by random rollouts, all in C++."""
    import pyspiel

    game = pyspiel.load_game(name)
    state = game.new_initial_state()
    length = _mean_length(name)
    rollouts = 5000
    moves, seed = 0.0, 1
    began = time.perf_counter()
    while (spent := time.perf_counter() - began) < seconds or not moves:
        evaluator = pyspiel.RandomRolloutEvaluator(rollouts, seed)
        pyspiel.MCTSBot(game, evaluator, 1.0, 1, 100, False, seed, False).step(state)
        moves += rollouts * length
        seed += 1
    return moves / spent


def _mean_length(name: str, games: int = 5000) -> float:
    """Measure how many moves a random game has; the rollouts themselves are not counted in C++."""
    import pyspiel

    game = pyspiel.load_game(name)
    rng = random.Random(1)
    return sum(_their_game(game, rng) for _ in range(games)) / games
