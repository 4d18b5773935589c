"""Games of kibitz as games of OpenSpiel.

All chance of kibitz lies in the deal. Where every deal is the same there is no chance node. Else
the number of the deal is drawn at the root: byte by byte in four chance nodes, or with `deals=N` in
one node with N outcomes, for algorithms that go through the whole tree. All of it is explicit. A
game whose chance OpenSpiel calls sampled would hide its generator in the game object; Python games
cannot hand its state over (`GetRNGState` is not theirs to give), so that no state could be saved,
and the same history would not lead to the same state. Drawn bytes have neither fault.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyspiel

from kibitz.bridges.open_spiel.observer import Observer
from kibitz.bridges.open_spiel.parameters import (
    AT_END,
    DEALS,
    MERGED,
    defaults_of,
    parameters_of,
    settings_from,
)
from kibitz.bridges.open_spiel.state import SpielState
from kibitz.core.errors import BadOption, KibitzError, Misuse
from kibitz.core.game import Game
from kibitz.core.registry import find_game, game_names

BYTES, BYTE = 4, 256  # of a deal's number
SEED = 0  # whose deals are numbered
SEEDS_TRIED = 64  # deals that must all be the same where there is to be no chance
MOST_DEALS = 1 << 24
PREFIX = "kibitz_"


class SpielGame(pyspiel.Game):
    """A game of kibitz, with its options set, as OpenSpiel has games."""

    def __init__(self, game: Game, plain: Game, ways: Mapping[str, Any]) -> None:
        self.kibitz = game
        self.merged = bool(ways[MERGED])
        self.at_end = bool(ways[AT_END])
        deals = int(ways[DEALS])
        if not 0 <= deals <= MOST_DEALS:
            raise BadOption(f"Parameter '{DEALS}' takes 0 to {MOST_DEALS:,}, not {deals}.")
        # How many outcomes each of the chance nodes at the root has.
        self.draws = () if is_same_deal(game) else (deals,) if deals else (BYTE,) * BYTES
        low, high = game.span(game.settings) if game.span else (-math.inf, math.inf)
        info = pyspiel.GameInfo(
            num_distinct_actions=game.bound("actions"),
            max_chance_outcomes=max(self.draws, default=0),
            num_players=game.players,
            min_utility=low,
            max_utility=high,
            utility_sum=0.0 if game.zero_sum else None,
            max_game_length=game.bound("most_plies"),
        )
        kind = game_type(game, by_chance=bool(self.draws), at_end=self.at_end)
        super().__init__(kind, info, parameters_of(game, plain, ways))

    @functools.cached_property
    def only_deal(self) -> np.ndarray:
        """The dealt state, where there is but one."""
        return self.dealt(0)

    def dealt(self, number: int) -> np.ndarray:
        """Give the dealt state of this number."""
        return self.kibitz.deal(SEED, number).cells

    def new_initial_state(self, state: Any = None) -> SpielState:
        """Begin a game."""
        if state is not None:
            raise Misuse(f"{self.kibitz.name}: a game begins with its deal, not with {state!r}.")
        return SpielState(self)

    def max_chance_nodes_in_history(self) -> int:
        """Tell how many chance nodes there are, all at the root."""
        return len(self.draws)

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer | None:
        """Return what observes states for a seat; None for a kind that the game does not have."""
        return Observer.make(self.kibitz, iig_obs_type, params)


def as_open_spiel(
    game: Game, *, deals: int = 0, merged: bool = False, at_end: bool | None = None
) -> SpielGame:
    """Give a game of kibitz as one of OpenSpiel.

    deals   so many equally likely deals, in one chance node; 0 for 2**32 of them, in four nodes
    merged  let positions that are equal for what is to come have equal strings, as the game's own
            `strip` has it; a guard on the length of games is then not part of a position
    at_end  give all points at the end, at once, as many algorithms demand; by default only where
            the points of all seats sum to 0
    """
    try:
        plain = find_game(game.name)
    except KibitzError:
        plain = game.having(**{option.name: option.default for option in game.all_options})
    if not is_registered(plain):
        _register(plain)
    late = game.zero_sum if at_end is None else at_end
    return SpielGame(game, plain, {DEALS: deals, MERGED: merged, AT_END: late})


def register_all() -> None:
    """Let OpenSpiel know all games that are there."""
    for name in game_names():
        game = find_game(name)
        if not is_registered(game):
            _register(game)


def is_registered(game: Game) -> bool:
    """Tell whether OpenSpiel knows the game."""
    return short_name(game) in pyspiel.registered_names()


def short_name(game: Game) -> str:
    """Give the game's name in OpenSpiel."""
    return PREFIX + game.name


def game_type(game: Game, *, by_chance: bool, at_end: bool) -> pyspiel.GameType:
    """Describe the game as OpenSpiel does."""
    kind = pyspiel.GameType
    utility = kind.Utility.ZERO_SUM if game.zero_sum else kind.Utility.GENERAL_SUM
    modes, rewards = kind.ChanceMode, kind.RewardModel
    return kind(
        short_name=short_name(game),
        long_name=f"{game.title} (kibitz)",
        dynamics=kind.Dynamics.SEQUENTIAL,
        chance_mode=modes.EXPLICIT_STOCHASTIC if by_chance else modes.DETERMINISTIC,
        information=kind.Information.IMPERFECT_INFORMATION
        if game.hides
        else kind.Information.PERFECT_INFORMATION,
        utility=kind.Utility.IDENTICAL if game.cooperative else utility,
        reward_model=rewards.TERMINAL if at_end else rewards.REWARDS,
        max_num_players=game.seats[1],
        min_num_players=game.seats[0],
        provides_information_state_string=True,
        provides_information_state_tensor=False,
        provides_observation_string=True,
        provides_observation_tensor=True,
        parameter_specification=defaults_of(game),
    )


@functools.lru_cache(maxsize=256)
def is_same_deal(game: Game) -> bool:
    """Tell whether a game is always dealt the same."""
    first = game.deal(SEED).cells
    return not game.hides and all(
        np.array_equal(game.deal(seed).cells, first) for seed in range(1, SEEDS_TRIED)
    )


def _register(game: Game) -> None:
    class Named(SpielGame):
        """One game by its name. A class, for OpenSpiel lets go of it after Python has ended.

        A function would be freed then, and the process would abort; a class refers to itself.
        """

        def __init__(self, parameters: Mapping[str, Any]) -> None:
            chosen = game.having(**settings_from(game, parameters))
            super().__init__(chosen, game, parameters)

    # What is known before the rules are loaded; a game that is made says itself what it is.
    kind = game_type(game, by_chance=game.hides, at_end=game.zero_sum)
    pyspiel.register_game(kind, Named)
