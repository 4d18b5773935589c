"""Hanabi: every rule on positions set up by hand, what seats may know, and stochastic cards.

Truth comes from outside the room's own shortcuts: what hints have told is read again from the
log, and chances are counted over all worlds that fit. `test_hanabi_peers.py` follows whole games.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT
from kibitz.core.errors import AmbiguousMove, IllegalMove, UnreadableMove
from kibitz.core.game import HIDDEN, SEAT, Game
from kibitz.core.table import Table
from kibitz.games.hanabi.cards import (
    card_chances,
    cards_held,
    count_unseen,
    deck_chances,
    hand_chances,
    is_critical,
    is_dead,
    is_playable,
    reach_of,
)
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS,
    DECK,
    DISCARD,
    DISCARDED,
    DRAWN,
    EMPTY,
    FIREWORK,
    HINT,
    HINTS,
    LAST,
    LOG,
    LOG_LENGTH,
    MOST_CARDS,
    MOST_HAND,
    MOST_SEATS,
    NOTES,
    OUTCOME,
    SLOT,
    STORMS,
    TOLD,
    VALUE,
    VALUES,
    deck_size,
    full_hand,
)
from kibitz.games.hanabi.features import encode_board, encode_hands, encode_last_action

LETTERS = "rygwb"
SEAT_COUNTS = range(2, 6)
COPIES = (3, 2, 2, 2, 1)
PERFECT = "r5 y5 g5 w5 b5"
Pick = Callable[[np.ndarray, list[int], Chance], int]


def game_of(**settings: Any) -> Game:
    return kibitz.game("hanabi", **settings)


# --- positions and moves -------------------------------------------------------------------------


def cards_of(text: str) -> list[int]:
    """Read cards: 'r1 b5'."""
    return [LETTERS.index(word[0]) * VALUES + int(word[1]) - 1 for word in text.split()]


def names_of(cards: Any) -> str:
    return " ".join(f"{LETTERS[card // VALUES]}{card % VALUES + 1}" for card in cards)


def whole_deck(game: Game) -> Counter[int]:
    values = game.settings["values"]
    copies = (3,) if values == 1 else (*COPIES[: values - 1], 1)
    return Counter(
        {
            colour * VALUES + value: copies[value]
            for colour in range(game.settings["colours"])
            for value in range(values)
        }
    )


def at(
    *hands: str,
    deck: str | None = None,
    fireworks: str = "",
    discards: str = "",
    notes: int | None = None,
    storms: int = 0,
    last: int = 0,
    options: Mapping[str, Any] = {},
) -> Table:
    """Set up a position with seat 0 to move: hands from the oldest card, heights as in 'r2 b5'.

    All cards that are not named are in the deck, or discarded where `deck` says what is in it.
    """
    game = game_of(**{"players": len(hands), **options})
    held = [cards_of(hand) for hand in hands]
    tops = cards_of(fireworks)
    fired = [card for top in tops for card in range(top // VALUES * VALUES, top + 1)]
    rest = whole_deck(game)
    rest.subtract([*itertools.chain(*held), *fired, *cards_of(discards), *cards_of(deck or "")])
    assert min(rest.values()) >= 0, "a card is named too often"
    others = sorted(rest.elements())
    to_draw = others if deck is None else cards_of(deck)
    gone = cards_of(discards) + ([] if deck is None else others)
    state = game.deal(0).cells.copy()
    total = deck_size(game.settings)
    state[DECK : DECK + total] = [*itertools.chain(*held), *fired, *gone, *to_draw]
    state[SLOT : SLOT + MOST_SEATS * MOST_HAND] = EMPTY
    serial = 0
    for seat, hand in enumerate(held):
        for place in range(len(hand)):
            state[SLOT + seat * MOST_HAND + place] = serial
            serial += 1
    for top in tops:
        state[FIREWORK + top // VALUES] = top % VALUES + 1
    for card in gone:
        state[DISCARDED + card] += 1
    state[DRAWN] = total - len(to_draw)
    state[NOTES] = game.settings["notes"] if notes is None else notes
    state[STORMS] = storms
    state[LAST] = last
    table = Table(game, state)
    assert game.flaw(table) is None
    return table


def discard(place: int) -> int:
    return DISCARD + place


def hint(what: str, onward: int = 1) -> int:
    """Name a colour 'r' or a value '3' to somebody so many seats onward."""
    which = LETTERS.index(what) if what in LETTERS else VALUE + int(what) - 1
    return HINT + HINTS * (onward - 1) + which


def hand(table: Table, seat: int) -> str:
    slots = table.cells[SLOT + seat * MOST_HAND :][:MOST_HAND]
    return names_of(table.cells[DECK + serial] for serial in slots if serial != EMPTY)


def allowed(table: Table, seat: int, place: int) -> str:
    """Say what hints allow a card to be, colours and values, capitals where a hint named it."""
    told = int(table.cells[TOLD + table.cells[SLOT + seat * MOST_HAND + place]])
    colours = "".join(LETTERS[i] for i in range(COLOURS) if told >> i & 1)
    values = "".join(str(i + 1) for i in range(VALUES) if told >> (COLOURS + i) & 1)
    return (colours.upper() if told >> 10 & 1 else colours) + values + "!" * (told >> 11 & 1)


# --- ways to play --------------------------------------------------------------------------------


def any_move(state: np.ndarray, legal: list[int], rng: Chance) -> int:
    return legal[rng.below(len(legal))]


def careful(state: np.ndarray, legal: list[int], rng: Chance) -> int:
    """Peek at one's own cards: play what fits and nothing else, discard what is missed least."""
    cells = state.tolist()
    heights = cells[FIREWORK : FIREWORK + COLOURS]
    out = cells[DISCARDED : DISCARDED + CARDS]
    slots = cells[SLOT + MOST_HAND * cells[SEAT] :][:MOST_HAND]
    own = [cells[DECK + serial] for serial in slots if serial != EMPTY]
    fits = [place for place, card in enumerate(own) if heights[card // VALUES] == card % VALUES]
    spare = [action for action in legal if action >= DISCARD]
    if rng.below(30) == 0 and spare:
        return any_move(state, spare, rng)
    if fits:
        return min(fits, key=lambda place: own[place] % VALUES)

    def loss(place: int) -> int:
        card = own[place]
        if heights[card // VALUES] > card % VALUES or own.count(card) > 1:
            return 0
        return 9 - card % VALUES if COPIES[card % VALUES] - out[card] > 1 else 99 - card % VALUES

    discards = [action - DISCARD for action in legal if DISCARD <= action < HINT]
    hints = [action for action in legal if action >= HINT]
    best = min(discards, key=loss, default=None)
    if best is not None and (loss(best) == 0 or not hints):
        return DISCARD + best
    return any_move(state, hints or legal, rng)


def talkative(state: np.ndarray, legal: list[int], rng: Chance) -> int:
    """Hint whenever possible, otherwise discard: no game is longer."""
    spare = [action for action in legal if action >= DISCARD]
    hints = [action for action in spare if action >= HINT]
    return any_move(state, hints or spare or legal, rng)


def through(game: Game, pick: Pick, seed: int, deal: int = 0) -> Iterator[Table]:
    """Go through all positions of a game, the last included."""
    table = game.deal(seed, deal)
    rng = Chance(seed, deal, 7)
    yield table
    while not table.over:
        action = pick(table.cells, table.legal, rng)
        game.rules.play(table.cells, action)
        table.actions.append(action)
        yield table


# --- the deal ------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_fifty_cards_three_two_two_two_one_and_hands_of_five_or_four(players):
    game = game_of(players=players)
    orders = set()
    for deal in range(50):
        table = game.deal(1, deal)
        deck = table["deck"].tolist()
        assert len(deck) == MOST_CARDS
        assert Counter(deck) == {c * VALUES + v: COPIES[v] for c in range(5) for v in range(5)}
        orders.add(tuple(deck))
        for seat in range(players):
            assert len(hand(table, seat).split()) == (5 if players < 4 else 4)
        assert (table["notes"], table["storms"], table["last"]) == (8, 0, 0)
        assert table["drawn"] == players * (5 if players < 4 else 4)
        assert table["firework"].tolist() == [0] * 5
        assert table.seat == 0
        assert table.points == [0.0] * players
    assert len(orders) == 50


def test_every_card_is_as_likely_everywhere_in_the_deck():
    deals = 4000 if JIT else 200
    game = game_of()
    decks = np.array([game.deal(3, deal)["deck"] for deal in range(deals)])
    for value, copies in enumerate(COPIES):
        ones = (decks % VALUES == value).mean(axis=0)
        share = copies / 10
        assert (abs(ones - share) < 4.5 * math.sqrt(share * (1 - share) / deals)).all()


@pytest.mark.parametrize("players", [0, 1, 6])
def test_two_to_five_play(players):
    with pytest.raises(kibitz.KibitzError):
        game_of(players=players)


# --- hints ---------------------------------------------------------------------------------------


def test_a_hint_names_what_somebody_else_has_and_costs_a_note():
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4", "b1 b1 b2 b2 g5")
    hints = {action for action in table.legal if action >= HINT}
    first = {hint(what) for what in "yw1234"}
    second = {hint(what, 2) for what in "bg125"}
    assert hints == first | second  # none of red, that only the mover holds; none to oneself
    table.play(hint("w"))
    assert table["notes"] == 7
    assert table.seat == 1
    assert table.cells[OUTCOME] == 0b01100
    assert {action for action in table.legal if action >= HINT} == {
        *(hint(what) for what in "bg125"),
        *(hint(what, 2) for what in "rgb12345"),
    }


def test_a_hint_tells_of_all_cards_of_the_hand_whether_they_have_it():
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4")
    table.play(hint("w"))
    assert [allowed(table, 1, place) for place in range(5)] == [
        "rygb12345", "rygb12345", "W12345", "W12345", "rygb12345",
    ]  # fmt: skip
    table.play(hint("5"))
    assert [allowed(table, 0, place) for place in range(5)] == [*["rygwb1234"] * 4, "rygwb5!"]
    table.play(hint("1"))
    table.play(hint("g"))
    table.play(hint("3"))
    assert [allowed(table, 1, place) for place in range(5)] == [
        "rygb1!", "rygb245", "W3!", "W3!", "rygb245",
    ]  # fmt: skip
    assert [allowed(table, 0, place) for place in range(5)] == [
        "rywb1234", "rywb1234", "G1234", "G1234", "rywb5!",
    ]  # fmt: skip
    assert table["notes"] == 3


def test_a_new_card_has_been_told_nothing():
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4", deck="w4 w1 w5", notes=7)
    table.play(hint("y"))
    table.play(discard(0))
    assert hand(table, 1) == "y2 w3 w3 y4 w4"
    assert [allowed(table, 1, place) for place in range(5)] == [
        "Y12345", "rgwb12345", "rgwb12345", "Y12345", "rygwb12345",
    ]  # fmt: skip


def test_without_a_note_nobody_can_hint():
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4", notes=0)
    assert table.legal == [*range(5), *(discard(place) for place in range(5))]
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4", notes=1)
    table.play(hint("y"))
    assert max(table.legal) < HINT


# --- discards ------------------------------------------------------------------------------------


def test_a_discard_needs_a_note_that_was_used_and_wins_it_back():
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4", deck="g1 g2 g5")
    assert not any(DISCARD <= action < HINT for action in table.legal)
    table.play(hint("1"))
    assert [a for a in table.legal if DISCARD <= a < HINT] == [discard(i) for i in range(5)]
    before = table["discarded"]
    table.play(discard(2))
    assert table["notes"] == 8
    assert hand(table, 1) == "y1 y2 w3 y4 g1"
    gone = np.flatnonzero(table["discarded"] - before)
    assert names_of(gone) == "w3"
    assert table.points == [0.0, 0.0]
    assert table["storms"] == 0
    assert not any(DISCARD <= action < HINT for action in table.legal)


# --- playing cards -------------------------------------------------------------------------------


def test_a_card_that_fits_raises_its_firework():
    table = at("g3 r1 y2 g4 b5", "y1 y3 w3 w3 y4", fireworks="g2 y1", deck="w1 w2 w5")
    table.play(0)
    assert table["firework"].tolist() == [0, 1, 3, 0, 0]
    assert hand(table, 0) == "r1 y2 g4 b5 w1"
    assert table["storms"] == 0
    assert table["notes"] == 8
    assert table.points == [4.0, 4.0]
    assert table.seat == 1


@pytest.mark.parametrize(("card", "why"), [("g2", "played"), ("g4", "too high"), ("r2", "no one")])
def test_a_card_that_does_not_fit_brings_a_storm_and_is_gone(card, why):
    table = at(f"y5 {card} w1 w2 b1", "y1 y3 w3 w3 y4", fireworks="g2", deck="b2 b3", notes=3)
    before = table["discarded"]
    table.play(1)
    assert table["storms"] == 1
    assert table["firework"].tolist() == [0, 0, 2, 0, 0]
    assert names_of(np.flatnonzero(table["discarded"] - before)) == card
    assert hand(table, 0) == "y5 w1 w2 b1 b2"
    assert table["notes"] == 3
    assert not table.over


def test_completing_a_firework_wins_a_note_back_but_not_more_than_there_are():
    for notes, after in ((0, 1), (7, 8), (8, 8)):
        table = at("g5 r1 y2 w1 b5", "y1 y3 w3 w3 y4", fireworks="g4", notes=notes)
        table.play(0)
        assert table["firework"].tolist() == [0, 0, 5, 0, 0]
        assert table["notes"] == after
    table = at("g4 r1 y2 w1 b5", "y1 y3 w3 w3 y4", fireworks="g3", notes=3)
    table.play(0)
    assert table["notes"] == 3  # a four wins nothing


def test_with_fewer_values_the_highest_completes():
    table = at("g3 r1 y2", "y1 y3 w3", fireworks="g2", notes=3, options={"values": 3, "hand": 3})
    table.play(0)
    assert table["notes"] == 4


@pytest.mark.parametrize("place", range(5))
@pytest.mark.parametrize("first", [0, DISCARD])
def test_new_cards_come_in_at_the_newest_end_and_others_move_up(first, place):
    table = at("r1 r2 g3 g4 b4", "y1 y2 w3 w3 y4", deck="w1 w2", notes=2)
    serials = table.cells[SLOT : SLOT + 5].tolist()
    newest = int(table.cells[DRAWN])
    table.play(first + place)
    assert table.cells[SLOT : SLOT + 5].tolist() == [
        *serials[:place], *serials[place + 1 :], newest,
    ]  # fmt: skip
    assert hand(table, 0).endswith("w1")
    assert hand(table, 1) == "y1 y2 w3 w3 y4"
    assert table["drawn"] == newest + 1


# --- the end -------------------------------------------------------------------------------------


@pytest.mark.parametrize("first", [0, DISCARD])
@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_after_the_last_card_everybody_has_exactly_one_more_turn(players, first):
    hands = ["r1 y1 g1 w1", "r1 y1 g1 w1", "r2 y2 g2 w2", "r2 y2 g2 w2", "r3 y3 g3 w3"][:players]
    table = at(*hands, deck="b2 b1", notes=4, options={"hand": 4})
    table.play(hint("y"))
    table.play(discard(0))
    assert table["last"] == 0
    for _ in range(players - 2):
        table.play(hint("g"))
        assert table["last"] == 0
    drawer = table.seat
    table.play(first)
    assert hand(table, drawer).endswith("b1")
    assert table["drawn"] == MOST_CARDS
    turns = []
    while not table.over:
        assert table["last"] == players - len(turns)
        turns.append(table.seat)
        table.play(discard(0) if len(turns) % 2 else max(table.legal))
        assert game_of(players=players, hand=4).flaw(table) is None
    assert turns == [(drawer + 1 + i) % players for i in range(players)]
    assert table.legal == []


def test_in_the_last_turns_hands_get_shorter():
    table = at("r1 y1 g1 w1 b1", "r1 y1 g1 w1 b1", deck="b2", notes=4)
    table.play(1)
    table.play(discard(4))
    assert hand(table, 1) == "r1 y1 g1 w1"
    assert len([a for a in table.legal if a < DISCARD]) == 5
    table.play(0)
    assert hand(table, 0) == "g1 w1 b1 b2"
    assert table.over
    assert table.points == [2.0, 2.0]


@pytest.mark.parametrize(("bomb", "points"), [("zero", 0.0), ("pile", 7.0)])
@pytest.mark.parametrize("most", [1, 2, 3])
def test_too_many_storms_end_the_game(most, bomb, points):
    hands = "g5 r2 y2 w2 b5", "y1 y3 w3 w3 y4"
    table = at(*hands, fireworks="g4 b3", options={"storms": most, "bomb": bomb})
    for storm in range(1, most + 1):
        assert table.points == [7.0, 7.0]
        table.play(1)  # r2, y3, w2: none has a one
        assert table["storms"] == storm
        assert table.over == (storm == most)
    assert table.points == [points, points]
    assert table.legal == []


def test_storms_end_the_last_turns_too():
    table = at("r2 r1 y1", "r2 r1 y1", deck="g1", storms=2, notes=1, options={"hand": 3})
    table.play(discard(2))
    table.play(0)
    assert table.over
    assert table.points == [0.0, 0.0]


def test_a_perfect_score_ends_the_game_at_once():
    table = at("b5 r1 y1 w1 g1", "y1 r1 w1 g1 b1", fireworks="r5 y5 g5 w5 b4", storms=2, notes=0)
    assert table["drawn"] < MOST_CARDS
    table.play(0)
    assert table.over
    assert table.points == [25.0, 25.0]


def test_the_last_turn_of_all_can_make_it_perfect():
    table = at(
        "r1 y1", "r1 w1", "b5 y1", fireworks="r5 y5 g5 w5 b4", deck="", last=3, notes=2,
        options={"hand": 2},
    )  # fmt: skip
    table.play(hint("r"))
    table.play(hint("b"))
    table.play(0)
    assert table.over
    assert table.points == [25.0] * 3


@pytest.mark.parametrize("players", [4, 5])
@pytest.mark.parametrize("values", [1, 2])
@pytest.mark.parametrize("notes", [1, 8])
def test_a_deck_that_does_not_reach_everybody_still_makes_a_game(players, values, notes):
    """Three or four cards among five: the game ends before a seat that holds nothing."""
    game = game_of(players=players, colours=1, values=values, notes=notes, bomb="pile")
    ends = set()
    for deal, pick in itertools.product(range(50), (any_move, careful, talkative)):
        for table in through(game, pick, 1, deal):
            assert bool(table.legal) != table.over
        ends.add((table.plies, table.points[0]))
    assert len(ends) > 1


# --- laws of whole games -------------------------------------------------------------------------


def all_settings() -> Iterator[dict[str, Any]]:
    for players, colours, values, size, notes, storms in itertools.product(
        SEAT_COUNTS, range(1, 6), range(1, 6), range(6), (1, 4, 8), (1, 3)
    ):
        yield {
            "players": players, "colours": colours, "values": values, "hand": size,
            "notes": notes, "storms": storms,
        }  # fmt: skip


@pytest.mark.parametrize("pick", [any_move, careful, talkative])
def test_nothing_is_created_or_lost_with_any_options(pick):
    """Every ply of a game with each of all settings; the rest of the options take turns."""
    for seed, settings in enumerate(all_settings()):
        if seed % (7 if JIT else 201):
            continue
        bomb = ("zero", "pile")[seed % 2]
        game = game_of(**settings, bomb=bomb, open=seed % 4 == 0)
        for table in through(game, pick, seed):
            assert game.flaw(table) is None
            assert bool(table.legal) != table.over
            assert len(table.legal) < game.bound("most_legal")
        pile = int(table["firework"].sum())
        lost = table["storms"] == settings["storms"]
        assert table.points == [0.0 if lost and bomb == "zero" else pile] * game.players
        assert table.plies <= game.bound("most_plies")


def test_no_log_is_ever_full():
    """Cells behind the log belong to something else: its length must bound every game."""
    assert max(game_of(**settings).bound("most_plies") for settings in all_settings()) == LOG_LENGTH


def test_talkative_games_reach_the_bound_on_plies_exactly():
    for seed, settings in enumerate(all_settings()):
        game = game_of(**settings)
        if seed % (5 if JIT else 101) or deck_size(settings) < game.players:
            continue
        *_, table = through(game, talkative, seed)
        assert table.plies == game.bound("most_plies")
        assert table["outcome"].max() < 256


def test_careful_games_end_in_every_way():
    ends: Counter[str] = Counter()
    for players, deal in itertools.product(SEAT_COUNTS, range(50)):
        *_, table = through(game_of(players=players), careful, 5, deal)
        ends["perfect"] += table.points[0] == 25
        ends["last turns"] += table["drawn"] == MOST_CARDS and table["last"] == 0
        assert table["storms"] == 0
    assert min(ends["perfect"], ends["last turns"]) > 10


# --- what a seat knows ---------------------------------------------------------------------------


def sampled(game: Game, games: int, seed: int, every: int = 5) -> Iterator[Table]:
    """Give positions of random and of careful games."""
    for deal, pick in itertools.product(range(games), (any_move, careful)):
        for table in through(game, pick, seed, deal):
            if table.plies % every == deal % every:
                yield table


@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_a_view_does_not_depend_on_own_cards_or_the_order_of_the_deck(players):
    game = game_of(players=players)
    rng = np.random.default_rng(players)
    for table in sampled(game, 10, players):
        for seat in range(players):
            view = table.view(seat)
            slots = table.cells[SLOT + seat * MOST_HAND :][:MOST_HAND]
            own = slots[slots != EMPTY].tolist()
            unseen = [*own, *range(table["drawn"], MOST_CARDS)]
            assert (view["deck"][unseen] == HIDDEN).all()
            seen = np.setdiff1d(np.arange(MOST_CARDS), unseen)
            assert (view["deck"][seen] == table["deck"][seen]).all()
            other = table.copy()
            cells = [DECK + serial for serial in unseen]
            other.cells[cells] = rng.permutation(other.cells[cells])
            assert other.view(seat) == view
            assert np.array_equal(other.view(seat).features(), view.features())
            if seat == table.seat:
                assert view.legal == other.legal == table.legal


def test_the_open_game_shows_own_cards_and_hides_the_deck():
    game = game_of(open=True)
    closed = game_of()
    for table in sampled(game, 5, 1):
        for seat in range(2):
            view = table.view(seat)
            drawn = table["drawn"]
            assert (view["deck"][:drawn] == table["deck"][:drawn]).all()
            assert (view["deck"][drawn:] == HIDDEN).all()
            chances = np.zeros((MOST_HAND, CARDS))
            n = hand_chances(view.cells, chances)
            assert names_of(chances[:n].argmax(axis=1)) == hand(table, seat)
            assert (chances[:n].max(axis=1) == 1.0).all()
            world = view.redeal(Chance(1))
            assert (world["deck"][:drawn] == table["deck"][:drawn]).all()
    assert (closed.deal(1).view(0)["deck"][:5] == HIDDEN).all()


def hints_on_own(table: Table, seat: int) -> dict[int, list[tuple[int, bool]]]:
    """Read again from the log what a seat was told of each card it holds: (hint, has it)."""
    game = table.game
    size = full_hand(game.settings)
    hands = [list(range(size * i, size * i + size)) for i in range(game.players)]
    newest, told = size * game.players, {}
    for ply in range(table.plies):
        action, outcome = int(table.cells[LOG + ply]), int(table.cells[OUTCOME + ply])
        actor = ply % game.players
        if action >= HINT:
            onward, what = divmod(action - HINT, HINTS)
            if (actor + onward + 1) % game.players == seat:
                for place, serial in enumerate(hands[seat]):
                    told.setdefault(serial, []).append((what, bool(outcome >> place & 1)))
        else:
            del hands[actor][action % DISCARD]
            if newest < deck_size(game.settings):
                hands[actor].append(newest)
                newest += 1
    return {serial: told.get(serial, []) for serial in hands[seat]}


def has(card: int, what: int) -> bool:
    return card // VALUES == what if what < VALUE else card % VALUES == what - VALUE


def fits(card: int, hints: list[tuple[int, bool]]) -> bool:
    return all(has(card, what) == there for what, there in hints)


def unseen_by(table: Table, seat: int) -> list[int]:
    own = hints_on_own(table, seat)
    return [
        int(table.cells[DECK + serial])
        for serial in range(deck_size(table.game.settings))
        if serial in own or serial >= table["drawn"]
    ]


def small_positions(least: int, most: int, count: int) -> Iterator[tuple[Table, int]]:
    """Give positions of small games in which a seat does not see so many cards."""
    found = 0
    for deal in itertools.count():
        colours, values, size = [(2, 2, 2), (1, 5, 3), (2, 3, 3), (3, 2, 2), (3, 3, 3)][deal % 5]
        game = game_of(
            players=2 + deal % 2, colours=colours, values=values, hand=size, notes=4, bomb="pile"
        )
        pick = (any_move, careful, talkative)[deal % 3]
        for table in through(game, pick, 11, deal):
            seat = (table.plies + deal) % game.players
            own = hints_on_own(table, seat)
            if any(own.values()) and least <= len(unseen_by(table, seat)) <= most:
                yield table, seat
                found += 1
                if found == count:
                    return


def test_the_log_says_what_the_cells_say_of_hints():
    for table in sampled(game_of(players=3, bomb="pile"), 20, 3):
        for seat in range(3):
            for serial, hints in hints_on_own(table, seat).items():
                told = int(table.cells[TOLD + serial])
                for card in range(CARDS):
                    allows = told >> (card // VALUES) & told >> (COLOURS + card % VALUES) & 1
                    assert allows == fits(card, hints)


def test_what_hints_allow_two_cards_is_apart_or_the_newer_is_allowed_more():
    """Redeals and chances of cards rest on this."""
    inside = apart = 0
    for table in sampled(game_of(players=3, bomb="pile"), 30, 4):
        for seat in range(3):
            sets = [
                {card for card in range(CARDS) if fits(card, hints)}
                for hints in hints_on_own(table, seat).values()
            ]
            for older, newer in itertools.combinations(sets, 2):
                assert older <= newer or not older & newer
                inside += older < newer
                apart += not older & newer
    assert min(inside, apart) > 100


def test_redealt_worlds_are_all_that_fit_each_as_likely():
    draws = 150 if JIT else 5  # for every world
    rng = Chance(2)
    several = 0
    for table, seat in small_positions(5, 8, 12):
        own = hints_on_own(table, seat)
        places = [*own, *range(table["drawn"], deck_size(table.game.settings))]
        worlds = {
            world
            for world in set(itertools.permutations(unseen_by(table, seat)))
            if all(fits(card, own[s]) for card, s in zip(world, places, strict=True) if s in own)
        }
        if len(worlds) > 3000:
            continue
        several += len(worlds) > 10
        view = table.view(seat)
        cells = [DECK + serial for serial in places]
        counts: Counter[tuple[int, ...]] = Counter()
        for _ in range(draws * len(worlds)):
            counts[tuple(view.redeal(rng).cells[cells].tolist())] += 1
        assert set(counts) <= worlds
        if JIT:
            assert set(counts) == worlds
        free = len(worlds) - 1
        squares = sum((counts[world] - draws) ** 2 / draws for world in worlds)
        assert squares < free + 4.5 * math.sqrt(2 * free) + 10
    assert several >= 5


@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_a_redealt_world_is_one_that_the_same_moves_could_have_led_to(players):
    game = game_of(players=players, bomb="pile")
    rng = Chance(players)
    for table in sampled(game, 5, players, every=9):
        for seat in range(players):
            world = table.view(seat).redeal(rng)
            assert game.flaw(world) is None
            assert world.view(seat) == table.view(seat)
            for serial, hints in hints_on_own(table, seat).items():
                assert fits(int(world.cells[DECK + serial]), hints)
            again = table.dealt.copy()
            again[DECK : DECK + MOST_CARDS] = world["deck"]
            for ply in range(table.plies):
                game.rules.play(again, int(table.cells[LOG + ply]))
            assert np.array_equal(again, world.cells)


# --- stochastic cards ----------------------------------------------------------------------------


def counted(table: Table, seat: int, *, joint: bool = True) -> dict[Any, list[Fraction]]:
    """Count the chances of each own card, and of the next of the deck, over all worlds that fit.

    Unless joint, only the hints on the card itself restrict it.
    """
    own = hints_on_own(table, seat)
    unseen = unseen_by(table, seat)
    more = len(unseen) > len(own)
    tallies: dict[Any, Counter[int]] = {place: Counter() for place in range(len(own))}
    tallies["deck"] = Counter()
    for world in itertools.permutations(unseen, len(own) + more):
        suits = [fits(card, hints) for card, hints in zip(world, own.values(), strict=False)]
        for place, card in enumerate(world[: len(own)]):
            if all(suits) if joint else suits[place]:
                tallies[place][card] += 1
        if more and all(suits):
            tallies["deck"][world[-1]] += 1
    return {
        of: [Fraction(tally[card], tally.total() or 1) for card in range(CARDS)]
        for of, tally in tallies.items()
    }


def check_chances(table: Table, seat: int) -> bool:
    """Compare all chances with a count over all worlds; tell whether other cards' hints matter."""
    view = table.view(seat).cells
    truth, alone = counted(table, seat), counted(table, seat, joint=False)
    chances = np.full((MOST_HAND, CARDS), np.nan)
    n = hand_chances(view, chances)
    assert n == cards_held(view, seat)
    unseen, out = np.zeros(CARDS, np.int64), np.zeros(CARDS)
    assert count_unseen(view, unseen) == len(unseen_by(table, seat))
    for place in range(n):
        assert np.allclose(chances[place], [float(share) for share in truth[place]], atol=1e-12)
        card_chances(unseen, int(view[TOLD + view[SLOT + seat * MOST_HAND + place]]), out)
        assert np.allclose(out, [float(share) for share in alone[place]], atol=1e-12)
    deck_chances(view, out)
    assert np.allclose(out, [float(share) for share in truth["deck"]], atol=1e-12)
    return any(truth[place] != alone[place] for place in range(n))


def test_chances_of_cards_are_those_of_all_worlds_that_fit():
    matters = [
        check_chances(table, seat) for table, seat in small_positions(3, 9, 150 if JIT else 15)
    ]
    assert sum(matters) > len(matters) // 10


@pytest.mark.parametrize("players", [2, 3])
def test_chances_of_five_cards_are_those_of_all_worlds_that_fit(players):
    """Late in full games, where few cards are unseen."""
    game = game_of(players=players)
    checked = 0
    for deal in range(24 if JIT else 3):
        for table in through(game, careful, 23, deal):
            if not table.over and 5 <= len(unseen_by(table, table.seat)) <= 7:
                check_chances(table, table.seat)
                checked += 1
                break
    assert checked >= 8 or not JIT


@pytest.mark.parametrize("players", [2, 5])
def test_chances_of_cards_are_those_of_redealt_worlds(players):
    game = game_of(players=players)
    draws = 4000 if JIT else 20
    rng = Chance(players)
    worst = 0.0
    for table in sampled(game, 3, 40 + players, every=11):
        seat = max(table.seat, 0)
        view = table.view(seat)
        n = cards_held(view.cells, seat)
        slots = table.cells[SLOT + seat * MOST_HAND :][:n].tolist()
        left = table["drawn"] < MOST_CARDS
        cells = [DECK + serial for serial in [*slots, *[table["drawn"]] * left]]
        found = np.zeros((n + left, CARDS))
        world = np.empty_like(view.cells)
        for _ in range(draws):
            world[:] = view.cells
            game.rules.redeal(world, rng.words)
            found[range(n + left), world[cells]] += 1
        chances = np.zeros((MOST_HAND + 1, CARDS))
        hand_chances(view.cells, chances)
        chances[n] = 0.0
        deck_chances(view.cells, chances[n])
        share = chances[: n + left]
        assert np.allclose(share.sum(axis=1), 1.0)
        assert (found[share == 0.0] == 0).all()
        spread = np.sqrt(share * (1 - share) / draws)
        off = abs(found / draws - share)
        worst = max(worst, float((off[spread > 0] / spread[spread > 0]).max(initial=0.0)))
        assert (off[spread == 0] == 0).all()
    assert worst < 6 or not JIT


def test_a_hint_that_does_not_point_to_a_card_tells_something_too():
    table = at("g1 g2", "r1 y2", options={"hand": 2})
    table.play(hint("r"))
    chances, out = np.zeros((MOST_HAND, CARDS)), np.zeros(CARDS)
    hand_chances(table.view(1).cells, chances)
    red = slice(0, VALUES)
    assert chances[0, red].sum() == pytest.approx(1.0)
    assert chances[1, red].sum() == 0.0
    assert chances[1, VALUES] == pytest.approx(3 / 38)  # y1 among all that are not red, less g1, g2
    deck_chances(table.view(1).cells, out)
    assert out[red].sum() == pytest.approx(9 / 46)


def test_hints_on_one_card_tell_of_another():
    """Two fives are left, red and blue; the old one is not red, so the new one must be."""
    table = at("g1 g1 w2", "b5 r1 y1", discards="y5 g5 w5", deck="r5 b1 b1", options={"hand": 3})
    table.play(hint("r"))
    table.play(discard(1))
    table.play(hint("5"))
    assert hand(table, 1) == "b5 y1 r5"
    view = table.view(1).cells
    chances, unseen, alone = np.zeros((MOST_HAND, CARDS)), np.zeros(CARDS, int), np.zeros(CARDS)
    red, blue = cards_of("r5 b5")
    count_unseen(view, unseen)
    card_chances(unseen, int(view[TOLD + view[SLOT + MOST_HAND + 2]]), alone)
    assert alone[red] == alone[blue] == 0.5
    hand_chances(view, chances)
    assert chances[0, blue] == chances[2, red] == 1.0
    deck_chances(view, alone)
    assert alone[red] == alone[blue] == 0.0


# --- facts about the table -----------------------------------------------------------------------


def test_playable_dead_and_critical_cards():
    table = at("r1 r2 g3 g4 b5", "y1 y2 w3 w3 y4", fireworks="g2", discards="r3 r3 r4 b4 w1 w1")
    view = table.view(0).cells

    def which(rule: Callable[[np.ndarray, int], bool]) -> set[str]:
        return {names_of([card]) for card in range(CARDS) if rule(view, card)}

    assert which(is_playable) == {"r1", "y1", "g3", "w1", "b1"}
    assert which(is_dead) == {"g1", "g2", "r3", "r4", "r5"}
    assert which(is_critical) == {"w1", "b4", "y5", "g5", "w5", "b5"}
    assert [reach_of(view, colour) for colour in range(COLOURS)] == [2, 5, 5, 5, 5]


# --- features of tiny decks ----------------------------------------------------------------------


@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_no_field_of_features_lies_over_another(players):
    for colours, values, size in itertools.product((1, 2), (1, 2, 3), (1, 2)):
        game = game_of(players=players, colours=colours, values=values, hand=size, bomb="pile")
        length, held = game.bound("features"), full_hand(game.settings)
        for table in through(game, any_move, 31):
            start = 0
            for encode in (encode_hands, encode_board, encode_last_action):
                written = np.full(length, np.nan, np.float32)
                at = () if encode is encode_hands else (start,)
                end = encode(table.view(0).cells, written, *at, players, held, colours, values)
                used = np.flatnonzero(~np.isnan(written))
                assert ((used >= start) & (used < end)).all()
                start = end
            knowledge = players * held * (colours * values + colours + values)
            assert start == length - knowledge


# --- words ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "meant"),
    [
        ("hint +1 red", "tell seat 2 red"),
        ("+2 3s", "tell seat 0 3s"),
        ("tell seat +1 1s", "tell seat 2 1s"),
        ("tell 3 seat 0", "tell seat 0 3s"),
        ("give 2s to player 2", "tell seat 2 2s"),
        ("s2 r", "tell seat 2 red"),
        ("2 3", "tell seat 2 3s"),
        ("play the card 2", "play 2"),
        ("d oldest", "discard 1"),
    ],
)
def test_words_mean_what_they_say(words, meant):
    view = game_of(players=3).deal(1).play("tell seat 1 1s").view()
    assert view.say(view.read(words)) == meant


@pytest.mark.parametrize(
    ("words", "error"),
    [
        ("play -1", UnreadableMove),
        ("discard seat 2", UnreadableMove),
        ("play seat 1", UnreadableMove),
        ("play +1", UnreadableMove),
        ("tell seat 2 seat 2", UnreadableMove),
        ("tell seat 2", UnreadableMove),
        ("play 6", UnreadableMove),
        ("1s", AmbiguousMove),
        ("hint red", AmbiguousMove),
        ("hint +3 red", IllegalMove),
        ("hint +0 red", IllegalMove),
        ("tell seat 1 red", IllegalMove),
        ("tell seat 7 red", IllegalMove),
        ("tell seat 2 9s", IllegalMove),
    ],
)
def test_words_that_mean_nothing_are_refused(words, error):
    view = game_of(players=3).deal(1).play("tell seat 1 1s").view()
    with pytest.raises(error):
        view.read(words)


def test_a_value_with_an_s_is_a_hint_and_a_bare_number_could_be_either():
    view = game_of(players=2).deal(1).view()
    assert view.say(view.read("1s")) == "tell seat 1 1s"
    with pytest.raises(AmbiguousMove, match="a place or a hint"):
        view.read("1")


def test_the_rules_are_told_as_the_game_is_set():
    usual = game_of().how_to_play
    for words in ("up to 5", "Three storms end", "all points are lost", "all eight", "25 are"):
        assert words in usual
    other = game_of(values=2, colours=3, notes=4, storms=1, bomb="pile", open=True).how_to_play
    for words in (
        "a 1, then a 2.", "The first ends", "the points so far count", "all four",
        "three 1s and a single 2", "6 are", "Red, Yellow and Green", "your own too",
    ):  # fmt: skip
        assert words in other
    for settings in ({"values": 1, "colours": 1, "notes": 1}, {"values": 3}, {"values": 4}):
        assert "{" not in game_of(**settings).how_to_play
    assert max(map(len, usual.splitlines())) < 100
