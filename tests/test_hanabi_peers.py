"""Hanabi followed move by move against its peers: OpenSpiel and the Hanabi Learning Environment.

Both must agree with us, before every move and at the end, about everything that they can be asked:
whose turn it is, the legal moves, notes, storms, fireworks, the deck, the points, and for every
seat the whole canonical encoding, which holds all hands, all discards and all that hints have told.
"""

from __future__ import annotations

import importlib.util
import itertools
from collections import Counter
from typing import Any, Protocol

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT
from kibitz.core.game import OVER, SEAT, Game
from kibitz.games.hanabi.cells import (
    DECK,
    DISCARD,
    DRAWN,
    FIREWORK,
    HINT,
    HINTS,
    LAST,
    MAX_NOTES,
    NOTES,
    STORMS,
    VALUE,
    VALUES,
    deck_size,
    full_hand,
)
from tests.lengths import first_always
from tests.test_hanabi import Pick, any_move, careful

SEED = 1
SEAT_COUNTS = range(2, 6)
# Rules as plain Python are some hundred times slower.
RANDOM_GAMES = 10_000 if JIT else 100
CAREFUL_GAMES = 400 if JIT else 10
VARIANT_GAMES = 20 if JIT else 3
HLE_GAMES = 200 if JIT else 3
SHARES = [pytest.param(0.05, id="some"), pytest.param(1.0, id="all", marks=pytest.mark.long)]
VARIANTS: list[dict[str, Any]] = [
    {"players": players, "colours": colours, "values": values, "hand": hand}
    for players, colours, values, hand in itertools.product(
        SEAT_COUNTS, range(1, 6), range(2, 6), (0, 1, 3, 5)
    )
    if 2 * colours * values >= players
] + [
    {"players": players, "notes": notes, "storms": storms}
    for players, notes, storms in itertools.product(SEAT_COUNTS, (1, 2, 5, 8), (1, 2, 3))
]


class Peer(Protocol):
    """Somebody else's Hanabi, asked for what ours says too."""

    @property
    def seat(self) -> int: ...
    @property
    def facts(self) -> dict[str, Any]: ...
    def owes_a_card(self) -> bool: ...
    def begin(self, state: np.ndarray) -> None: ...
    def legal(self) -> list[int]: ...
    def play(self, action: int, state: np.ndarray) -> None: ...
    def look(self, seat: int) -> np.ndarray: ...


def number_at_peers(game: Game) -> dict[int, int]:
    """Give every action's number with the peers: discards, plays, hints of colours, of values."""
    size, others = full_hand(game.settings), game.players - 1
    colours, values = game.settings["colours"], game.settings["values"]
    numbers = {}
    for place in range(size):
        numbers[DISCARD + place] = place
        numbers[place] = size + place
    for onward in range(others):
        ours, theirs = HINT + HINTS * onward, 2 * size
        for colour in range(colours):
            numbers[ours + colour] = theirs + onward * colours + colour
        for value in range(values):
            numbers[ours + VALUE + value] = theirs + others * colours + onward * values + value
    return numbers


def facts_of(state: np.ndarray, game: Game, points: np.ndarray, owed: bool) -> dict[str, Any]:
    game.rules.score(state, points)
    colours = game.settings["colours"]
    return {
        "notes": state[NOTES],
        "storms": state[STORMS],
        "fireworks": state[FIREWORK : FIREWORK + colours].tolist(),
        "deck": deck_size(game.settings) - state[DRAWN] + owed,
        "points": points.tolist(),
    }


def follow(game: Game, peer: Peer, games: int, pick: Pick, seed: int = SEED) -> Counter[str]:
    """Play games side by side; count what has occurred in them.

    Random games are many, and seats take turns to look there.
    """
    rules, blank = game.rules, game.blank()
    seats, colours, values = game.players, game.settings["colours"], game.settings["values"]
    actions = np.zeros(game.bound("most_legal"), np.int32)
    features = np.zeros(game.bound("features"), np.float32)
    points, view = np.zeros(seats), np.empty_like(blank)
    numbers = number_at_peers(game)
    seen: Counter[str] = Counter()
    turn = 0
    for deal in range(games):
        rng = Chance(seed, deal)
        state = blank.copy()
        rules.deal(state, rng.words)
        peer.begin(state)
        while True:
            seat = int(state[SEAT])
            assert seat == peer.seat
            legal = actions[: rules.legal(state, actions)].tolist()
            assert sorted(map(numbers.__getitem__, legal)) == peer.legal()
            owed = peer.owes_a_card()
            assert not owed or seat == OVER
            assert facts_of(state, game, points, owed) == peer.facts
            viewers = [turn := (turn + 1) % seats] if pick is any_move else range(seats)
            for viewer in [] if owed else viewers:
                rules.look(state, viewer, view)
                rules.observe(view, features)
                assert (features == peer.look(viewer)).all()
            if seat == OVER:
                break
            action = pick(state, legal, rng)
            full, before = state[NOTES] == state[MAX_NOTES], int(state[FIREWORK:][:colours].sum())
            rules.play(state, action)
            peer.play(numbers[action], state)
            seen["moves"] += 1
            seen["hints"] += action >= HINT
            if int(state[FIREWORK:][:colours].sum()) > before and action < DISCARD:
                top = (state[FIREWORK:][:colours] == values).any()
                seen["plays with all notes there and a complete firework"] += full and top
        seen["games"] += 1
        seen["storms ended it"] += state[STORMS] == game.settings["storms"]
        seen["the deck ran out"] += state[DRAWN] == deck_size(game.settings)
        seen["last turns ended it"] += state[DRAWN] == deck_size(game.settings) and state[LAST] == 0
        seen["complete fireworks"] += int((state[FIREWORK:][:colours] == values).sum())
        seen["perfect"] += int(state[FIREWORK:][:colours].sum()) == colours * values
        assert points[0] == points[-1]
    return seen


# --- OpenSpiel -----------------------------------------------------------------------------------

needs_open_spiel = pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None,
    reason="OpenSpiel is not installed: pip install open_spiel",
)


class OpenSpiel:
    """OpenSpiel's Hanabi, dealt the cards of our deck."""

    def __init__(self, game: Game) -> None:
        import pyspiel
        from open_spiel.python.observation import make_observation

        name = game.open_spiel(game.settings)
        assert name is not None
        self.values = game.settings["values"]
        self.storms = game.settings["storms"]
        self.game = pyspiel.load_game(name)
        self.observation = make_observation(self.game)

    def begin(self, state: np.ndarray) -> None:
        self.state = self.game.new_initial_state()
        self.dealt = 0
        self._deal(state)

    def play(self, action: int, state: np.ndarray) -> None:
        self.state.apply_action(action)
        self._deal(state)

    def _deal(self, state: np.ndarray) -> None:
        while self.state.is_chance_node():
            colour, value = divmod(int(state[DECK + self.dealt]), VALUES)
            self.state.apply_action(colour * self.values + value)
            self.dealt += 1

    def owes_a_card(self) -> bool:
        """Tell whether the game ended before a card that was due was dealt; we do deal it."""
        return self.state.is_terminal() and "Deck size: 0" not in str(self.state)

    @property
    def seat(self) -> int:
        return OVER if self.state.is_terminal() else self.state.current_player()

    def legal(self) -> list[int]:
        return self.state.legal_actions()

    @property
    def facts(self) -> dict[str, Any]:
        said = dict(
            line.split(": ", 1) for line in str(self.state).splitlines() if line.count(": ")
        )
        return {
            "notes": int(said["Info tokens"]),
            "storms": self.storms - int(said["Life tokens"]),
            "fireworks": [int(firework[1:]) for firework in said["Fireworks"].split()],
            "deck": int(said["Deck size"]),
            "points": self.state.returns(),
        }

    def look(self, seat: int) -> np.ndarray:
        self.observation.set_from(self.state, seat)
        return self.observation.tensor


@needs_open_spiel
@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_random_games_are_the_same_at_open_spiel(players, share):
    game, games = kibitz.game("hanabi", players=players), int(share * RANDOM_GAMES)
    seen = follow(game, OpenSpiel(game), games, any_move)
    assert seen["games"] == games
    assert seen["storms ended it"] > 0.9 * games
    assert seen["hints"] > 3 * games


@needs_open_spiel
@pytest.mark.long
@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_careful_games_are_the_same_at_open_spiel_to_the_last_card(players):
    game = kibitz.game("hanabi", players=players)
    seen = follow(game, OpenSpiel(game), CAREFUL_GAMES, careful)
    assert seen["last turns ended it"] > 0.05 * CAREFUL_GAMES
    assert seen["complete fireworks"] > 2 * CAREFUL_GAMES
    assert seen["perfect"] > 0.05 * CAREFUL_GAMES
    if JIT:
        assert seen["plays with all notes there and a complete firework"]


@needs_open_spiel
@pytest.mark.parametrize("players", first_always(SEAT_COUNTS))
def test_small_variants_are_the_same_at_open_spiel(players):
    seen: Counter[str] = Counter()
    for place, settings in enumerate(VARIANTS):
        if settings["players"] == players:
            game = kibitz.game("hanabi", **settings)
            seen += follow(game, OpenSpiel(game), VARIANT_GAMES // 2, any_move, SEED + place)
            seen += follow(game, OpenSpiel(game), VARIANT_GAMES // 2, careful, SEED + place)
    for what in ("storms ended it", "last turns ended it", "perfect"):
        assert seen[what] > 0.02 * seen["games"], what


@pytest.mark.parametrize(
    "settings",
    [{"open": True}, {"bomb": "pile"}, {"values": 1}, {"players": 5, "colours": 1, "values": 2}],
)
def test_what_open_spiel_does_not_have_is_not_named(settings):
    game = kibitz.game("hanabi", **settings)
    assert game.open_spiel(game.settings) is None


# --- the Hanabi Learning Environment -------------------------------------------------------------

# Its header file is left for Python to close.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
needs_hle = pytest.mark.skipif(
    importlib.util.find_spec("hanabi_learning_environment") is None,
    reason="HLE is not installed: pip install hanabi-learning-environment",
)


class HLE:
    """The Hanabi Learning Environment: it deals by its own chance, and we are dealt the same."""

    def __init__(self, game: Game) -> None:
        from hanabi_learning_environment import pyhanabi

        settings = game.settings
        names = {
            "players": game.players, "colors": settings["colours"], "ranks": settings["values"],
            "hand_size": full_hand(settings), "max_information_tokens": settings["notes"],
            "max_life_tokens": settings["storms"], "seed": SEED, "random_start_player": False,
        }  # fmt: skip
        self.players, self.storms = game.players, settings["storms"]
        self.game = pyhanabi.HanabiGame(names)
        self.encoder = pyhanabi.ObservationEncoder(self.game)

    def begin(self, state: np.ndarray) -> None:
        self.state = self.game.new_initial_state()
        self._deal()
        dealt = itertools.chain(*self.state.player_hands())
        for serial, card in enumerate(dealt):
            state[DECK + serial] = card.color() * VALUES + card.rank()

    def play(self, action: int, state: np.ndarray) -> None:
        seat = self.state.cur_player()
        self.state.apply_move(self.game.get_move(action))
        if self._deal():
            card = self.state.player_hands()[seat][-1]
            state[DECK + int(state[DRAWN]) - 1] = card.color() * VALUES + card.rank()

    def _deal(self) -> bool:
        began = self.state.deck_size()
        while self.state.cur_player() == -1:
            self.state.deal_random_card()
        return self.state.deck_size() < began

    def owes_a_card(self) -> bool:
        return False

    @property
    def seat(self) -> int:
        return OVER if self.state.is_terminal() else self.state.cur_player()

    def legal(self) -> list[int]:
        # It lists moves even when the game is over.
        if self.state.is_terminal():
            return []
        return sorted(map(self.game.get_move_uid, self.state.legal_moves()))

    @property
    def facts(self) -> dict[str, Any]:
        return {
            "notes": self.state.information_tokens(),
            "storms": self.storms - self.state.life_tokens(),
            "fireworks": self.state.fireworks(),
            "deck": self.state.deck_size(),
            "points": [float(self.state.score())] * self.players,
        }

    def look(self, seat: int) -> np.ndarray:
        return np.array(self.encoder.encode(self.state.observation(seat)), np.float32)


@needs_hle
@pytest.mark.long
@pytest.mark.parametrize("pick", [any_move, careful])
@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_games_are_the_same_at_the_hanabi_learning_environment(players, pick):
    game = kibitz.game("hanabi", players=players)
    games = HLE_GAMES // 2 if pick is careful else HLE_GAMES
    seen = follow(game, HLE(game), games, pick)
    assert seen["games"] == games
    if pick is careful and JIT:
        assert seen["last turns ended it"] > 0
        assert seen["complete fireworks"] > games


@needs_hle
def test_small_variants_are_the_same_at_the_hanabi_learning_environment():
    for place, settings in enumerate(VARIANTS[::11]):
        game = kibitz.game("hanabi", **settings)
        follow(game, HLE(game), 3, any_move, SEED + place)
        follow(game, HLE(game), 3, careful, SEED + place)
