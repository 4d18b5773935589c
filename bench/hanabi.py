"""Hanabi: moves a second beside its peers, and how good the players are, alone and together.

`python -m bench hanabi` takes a minute for the speed, and for the players what they take. Peers
that are not installed are left out: `pip install open_spiel hanabi-learning-environment`.
"""

from __future__ import annotations

import importlib.util
import itertools
import random
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import kibitz
from bench.report import Row, spread
from kibitz.core.chance import below, sow
from kibitz.core.compiled import compiled
from kibitz.core.game import OVER, SEAT, Game, copy_cells
from kibitz.games.hanabi.cells import VALUES, copies_of
from kibitz.play.loop import random_games
from kibitz.play.result import Estimate, MatchResult

SEED = 1
SEAT_COUNTS = (2, 3, 4, 5)
ROUNDS = 5
SECONDS = 0.4  # of one round of one contender
# What must hold in every run: kibitz against the faster peer, by seats, as a ratio.
AT_LEAST = {2: 30.0, 3: 20.0, 4: 20.0, 5: 20.0}
AT_LEAST_WITH_FEATURES = 12.0

GAMES = 10_000  # of every cell of the tables of players
# Those who follow conventions meet in pairs; everybody plays with copies of itself.
CONVENTIONAL = (
    "internal", "outer", "iggi", "piers", "flawed", "van-den-bergh", "simple", "smart", "hat",
)  # fmt: skip
PLAYERS = ("random", *CONVENTIONAL)
CHEATER = "cheater"  # who needs the open game
BOMBS = ("zero", "pile")


def run() -> list[Row]:
    return [*_paces(), *_self_play(), *_cross_play()]


# --- speed ---------------------------------------------------------------------------------------

Pace = Callable[[float], float]  # seconds to play for; moves a second


def _paces() -> Iterator[Row]:
    """Random play on one core, turn about, without and with what learners see of each position."""
    for players, looks in itertools.product(SEAT_COUNTS, (False, True)):
        game = kibitz.game("hanabi", players=players)
        contenders: dict[str, Pace] = {"kibitz": _ours(game, looks)}
        if importlib.util.find_spec("pyspiel"):
            contenders["OpenSpiel"] = _open_spiel(game, looks)
        if importlib.util.find_spec("hanabi_learning_environment"):
            contenders["HLE"] = _hle(game, looks)
        taken: dict[str, list[float]] = {who: [] for who in contenders}
        for pace in contenders.values():
            pace(0.01)  # compile, load, warm up
        for _ in range(ROUNDS):
            for who, pace in contenders.items():
                taken[who].append(pace(SECONDS))
        medians = {who: float(np.median(paces)) for who, paces in taken.items()}
        ours = medians.pop("kibitz")
        least = AT_LEAST_WITH_FEATURES if looks else AT_LEAST[players]
        beside = [
            f"{ours / theirs:.0f} x {who}'s {theirs:,.0f} in Python"
            for who, theirs in medians.items()
        ]
        yield Row(
            what=f"{players} seats, random play, one core{', features of the mover' * looks}",
            figure=f"{ours:,.0f} moves/s",
            spread=spread(taken["kibitz"]),
            compared="; ".join([*beside, f"at least {least:.0f} x"] if beside else []),
        )
        for who, theirs in medians.items():
            assert ours >= least * theirs, f"{players} seats: only {ours / theirs:.1f} x {who}"


@compiled()
def _observed_games(rules, blank, most_legal, features, seed, games):
    """Play random games, and at every move encode the view of the mover; give how many moves."""
    state = np.empty_like(blank)
    view = np.empty_like(blank)
    actions = np.empty(most_legal, np.int32)
    rng = np.zeros(4, np.int64)
    sow(rng, seed, 0, 0)
    moves = 0
    for _ in range(games):
        copy_cells(blank, state)
        rules.deal(state, rng)
        while state[SEAT] != OVER:
            rules.look(state, state[SEAT], view)
            rules.observe(view, features)
            n = rules.legal(view, actions)
            rules.play(state, actions[below(rng, n)])
            moves += 1
    return moves


def _ours(game: Game, looks: bool) -> Pace:
    fixed = game.rules, game.blank(), game.bound("most_legal")
    features = np.zeros(game.bound("features"), np.float32)

    def pace(seconds: float) -> float:
        moves, seed = 0, SEED
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            if looks:
                moves += int(_observed_games(*fixed, features, seed, 2_000))
            else:
                moves += int(random_games(*fixed, seed, 2_000))
            seed += 1
        return moves / spent

    return pace


def _open_spiel(game: Game, looks: bool) -> Pace:
    """Play in Python. Cards come from a shuffled list: to draw from the outcomes takes longer."""
    import pyspiel
    from open_spiel.python.observation import make_observation

    theirs = pyspiel.load_game(game.open_spiel(game.settings))
    observation = make_observation(theirs)  # into an array: much faster than a list
    cards = [
        colour * VALUES + value
        for colour, value in itertools.product(range(5), range(VALUES))
        for _ in range(copies_of(VALUES, value))
    ]
    rng = random.Random(SEED)

    def pace(seconds: float) -> float:
        moves = 0
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            rng.shuffle(cards)
            deck = iter(cards)
            state = theirs.new_initial_state()
            while not state.is_terminal():
                if state.is_chance_node():
                    state.apply_action(next(deck))
                else:
                    if looks:
                        observation.set_from(state, state.current_player())
                    state.apply_action(rng.choice(state.legal_actions()))
                    moves += 1
        return moves / spent

    return pace


def _hle(game: Game, looks: bool) -> Pace:
    """Play in Python; cards are dealt in C++."""
    from hanabi_learning_environment import pyhanabi

    theirs = pyhanabi.HanabiGame({"players": game.players, "seed": SEED})
    encoder = pyhanabi.ObservationEncoder(theirs)
    rng = random.Random(SEED)

    def pace(seconds: float) -> float:
        moves = 0
        began = time.perf_counter()
        while (spent := time.perf_counter() - began) < seconds:
            state = theirs.new_initial_state()
            while not state.is_terminal():
                seat = state.cur_player()
                if seat == pyhanabi.CHANCE_PLAYER_ID:
                    state.deal_random_card()
                else:
                    if looks:
                        encoder.encode(state.observation(seat))
                    state.apply_move(rng.choice(state.legal_moves()))
                    moves += 1
        return moves / spent

    return pace


# --- players -------------------------------------------------------------------------------------


def _self_play() -> Iterator[Row]:
    """Everybody with copies of itself: the same deals with each value of the last storm."""
    for players, name in itertools.product(SEAT_COUNTS, (*PLAYERS, CHEATER)):
        table = {"players": players, "open": name == CHEATER}
        zero = _match([name], **table)
        pile = _match([name], **table, bomb="pile")
        perfect = zero.agents[0].perfect
        assert perfect is not None
        points = zero.agents[0].points
        yield Row(
            what=f"{players} seats of {name}, {GAMES:,} games",
            figure=f"{points.mean:.2f} points",
            spread=f"± {points.plus_minus:.2f}",
            compared=f"{pile.agents[0].points.text()} with bomb=pile; "
            f"{perfect.text()} perfect; {zero.games_per_second:,.0f} games/s",
        )


def _cross_play() -> Iterator[Row]:
    """Every pair of those who follow conventions, at two seats, by both ways to count points."""
    found: dict[frozenset[str], tuple[Estimate, Estimate]] = {}
    for one, other in itertools.combinations_with_replacement(CONVENTIONAL, 2):
        zero, pile = (_match([one, other], bomb=bomb).agents[0].points for bomb in BOMBS)
        found[frozenset((one, other))] = zero, pile
    for one in CONVENTIONAL:
        own, own_pile = found[frozenset((one,))]
        others = [who for who in CONVENTIONAL if who != one]
        yield Row(
            what=f"2 seats, {one} with itself and others, {GAMES:,} games each; bomb=zero / pile",
            figure=f"{own.mean:.2f} / {own_pile.mean:.2f} points",
            spread=f"± {own.plus_minus:.2f}",
            compared="; ".join(
                f"{' / '.join(points.text() for points in found[frozenset((one, who))])} with {who}"
                for who in others
            ),
        )


def _match(agents: list[str], **settings: Any) -> MatchResult:
    """Play a match of different deals: copies of one agent would only play a deal again."""
    game = kibitz.game("hanabi", **settings)
    return kibitz.match(game, agents, GAMES, seed=SEED, duplicate=False)
