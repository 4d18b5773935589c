"""Carcassonne: tiles, laying, scoring, and pictures that score the same."""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Any

import numpy as np
import pytest

from kibitz.core.chance import Chance
from kibitz.core.compiled import JIT
from kibitz.core.errors import IllegalMove, UnreadableMove
from kibitz.core.game import OVER, PLIES, SEAT
from kibitz.core.table import Table
from kibitz.games.carcassonne.board import pending
from kibitz.games.carcassonne.cells import (
    DECIDING,
    LAYING,
    MEEPLES,
    MOST_SEATS,
)
from kibitz.games.carcassonne.rules import (
    MEEPLE_AT,
    NO_MEEPLE,
    place_of,
)
from kibitz.games.carcassonne.tiles import (
    ALL_TILES,
    AT_HALF,
    AT_SIDE,
    CITY,
    COUNTS,
    GRASS,
    LETTERS,
    PUBLISHED,
    ROAD,
    SEGMENTS,
    SHIELD,
    SHOWS,
    TOUCHES,
    TURNS,
)
from tests import carcassonne_pictures as pictures
from tests.carcassonne_boards import (
    RING,
    board_of,
    dealt,
    game_of,
    moves,
    placed,
    played,
    random_game,
    supply,
)
from tests.conftest import positions

GAMES, FARMED_GAMES = (2000, 1000) if JIT else (30, 15)  # scored by pictures

# --- the tiles -----------------------------------------------------------------------------------


def test_the_set_has_as_many_of_each_kind_as_published():
    assert dict(zip(LETTERS, PUBLISHED.tolist(), strict=True)) == pictures.HOW_MANY
    assert ALL_TILES == 72
    assert set(pictures.PICTURES) == set(LETTERS)
    shielded = {LETTERS[kind] for kind in np.flatnonzero(SHIELD.any(axis=1))}
    assert shielded == pictures.SHIELDED


def test_pictures_show_the_same_sides_as_the_tiles():
    shows = {"#.....#": GRASS, "#..r..#": ROAD, "#ccccc#": CITY}
    for kind, letter in enumerate(LETTERS):
        for turn, side in itertools.product(range(4), repeat=2):
            assert shows[pictures.shown((letter, turn), side)] == SHOWS[kind, turn, side]


def test_pictures_join_the_same_sides_and_halves_as_the_tiles():
    for kind, letter in enumerate(LETTERS):
        for turn in range(4):
            labels = pictures.pieces((letter, turn))
            chars = pictures.picture((letter, turn))
            at = [*AT_SIDE[kind, turn], 0, *AT_HALF[kind, turn]]
            pairs = set()
            for place, (pixel, segment) in enumerate(zip(pictures.PIXELS, at, strict=True)):
                wanted = "rc" if place < 4 else "m" if place == 4 else "."
                assert (chars[pixel] in wanted) == (segment >= 0 and (place != 4 or letter in "AB"))
                if chars[pixel] in wanted:
                    pairs.add((int(labels[pixel]), int(segment)))
            # One segment for every piece, and one piece for every segment.
            assert len({piece for piece, _ in pairs}) == len({s for _, s in pairs}) == len(pairs)
            assert len(pairs) == labels.max() + 1


def test_fields_touch_the_same_cities_in_pictures_as_on_the_tiles():
    for kind, letter in enumerate(LETTERS):
        labels = pictures.pieces((letter, 0))
        kinds, _, pairs = pictures.facts((letter, 0))
        segment_of = {
            int(labels[pixel]): int(segment)
            for pixel, segment in zip(
                pictures.PIXELS, [*AT_SIDE[kind, 0], -1, *AT_HALF[kind, 0]], strict=True
            )
            if segment >= 0
        }
        touching = {
            (segment_of[one], segment_of[other])
            for pair in pairs
            for one, other in (pair, pair[::-1])
            if kinds[one] + kinds[other] == ".c"
        }
        assert touching == {
            (field, city)
            for field, city in itertools.product(range(SEGMENTS), repeat=2)
            if TOUCHES[kind, field] >> city & 1
        }


def test_rotations_that_look_alike_are_one():
    for kind, letter in enumerate(LETTERS):
        looks = {tuple(pictures.picture((letter, turn)).ravel()) for turn in range(4)}
        assert len(looks) == TURNS[kind]


@pytest.mark.parametrize("tiles", [4, 10, 24, 36, 71, 72])
def test_smaller_sets_are_mixed_like_the_whole_one(tiles):
    counts = COUNTS[tiles]
    assert counts.sum() == tiles
    assert (counts <= PUBLISHED).all()
    assert counts[LETTERS.index("D")] >= 1
    share = (PUBLISHED - (np.arange(24) == LETTERS.index("D"))) * (tiles - 1) / 71
    assert abs(counts - (np.arange(24) == LETTERS.index("D")) - share).max() < 1
    table = game_of(tiles=tiles).deal(2)
    assert Counter(table["deck"][: tiles - 1].tolist()) == +Counter(
        dict(enumerate((counts - (np.arange(24) == LETTERS.index("D"))).tolist()))
    )


# --- laying tiles --------------------------------------------------------------------------------


def test_the_start_tile_lies_with_its_city_to_the_north():
    table = game_of().deal(3)
    assert board_of(table) == {(0, 0): ("D", 0)}
    assert table["drawn"] == 1
    assert table.seat == 0


def test_sides_must_match():
    """A curve beside city north, road east and west, and grass south."""
    assert moves(dealt("V")) == {
        "e1", "e1 turned 1", "w1 turned 2", "w1 turned 3", "s1", "s1 turned 3",
    }  # fmt: skip


def test_all_sides_must_match_where_several_tiles_lie():
    """At e1 n1 there is city to the west and road to the south: only a tile with both fits."""
    table = played("N: n1 turned 2", "W: e1 turned 2", "T")
    assert {move for move in moves(table) if move.startswith("e1 n1")} == {"e1 n1"}
    table = played("N: n1 turned 2", "W: e1 turned 2", "E")
    assert "e1 n1" not in {move.partition(" turned")[0] for move in moves(table)}


def test_what_does_not_fit_is_refused():
    table = dealt("B")
    for where in ("n1", "e1", "w1", "s2", "e1 s1", "e72"):
        with pytest.raises(IllegalMove):
            table.play(where)
    for words in ("up", "0"):
        with pytest.raises(UnreadableMove):
            table.play(words)
    assert table.actions == []


def test_a_tile_that_fits_nowhere_is_set_aside_and_another_drawn():
    """When the only city is closed, a tile of nothing but city fits nowhere."""
    table = played("E: n1 turned 2", "C", "U", whole=True)
    assert LETTERS[table["tile"] - 1] == "U"
    assert (table["aside"], table["drawn"], table["laid"]) == (1, 3, 2)
    assert table["left"][LETTERS.index("C")] == 0
    assert table.seat == 1  # it does not lose its turn
    assert table.game.flaw(table) is None


def test_several_tiles_may_be_set_aside_at_once():
    """Cloisters end the only road, so the crossing of four roads fits nowhere either."""
    turns = ("E: n1 turned 2", "A: e1 turned 1", "A: w1 turned 3", "C", "X", "B")
    table = played(*turns)
    assert LETTERS[table["tile"] - 1] == "B"
    assert table["aside"] == 71 - len(turns) + 2
    assert table.seat == 1


def test_the_game_ends_when_the_last_tile_fits_nowhere():
    table = played("E: n1 turned 2, city south", "C")
    assert table.over
    assert table.legal == []
    assert table["laid"] == 2
    assert table.points == [4, 0]


@pytest.mark.parametrize("farmers", [False, True])
def test_what_is_legal_is_what_matches_by_the_pictures(farmers):
    game = game_of(farmers=farmers, players=3)
    for deal in range(4):
        for table in positions(game, 5, deal):
            if table.over or table["phase"] != LAYING or Chance(1, table.plies).below(3):
                continue
            board = board_of(table)
            letter = LETTERS[table["tile"] - 1]
            edge = {beside for place in board for beside in pictures.around(place)} - set(board)
            looks = {
                (place, tuple(pictures.picture((letter, turn)).ravel()))
                for place, turn in itertools.product(edge, range(4))
                if pictures.match(board, place, (letter, turn))
            }
            found = {(place_of(table.cells, action // 4), action % 4) for action in table.legal}
            assert len(found) == len(table.legal)
            assert looks == {
                (place, tuple(pictures.picture((letter, turn)).ravel())) for place, turn in found
            }


@pytest.mark.parametrize(
    "settings", [{}, {"farmers": True}, {"control": "cursor", "farmers": True}]
)
def test_words_are_read_as_they_are_said_and_other_numbers_are_refused(settings):
    game = game_of(**settings, tiles=30)
    last = game.bound("actions")
    for table in itertools.islice(positions(game, 6), 0, None, 5):
        legal = table.legal
        assert [table.read(table.say(action)) for action in legal] == legal
        for action in {-1, *range(20), *range(last - 16, last + 1)} - set(legal):
            with pytest.raises(IllegalMove):
                table.play(action)


# --- cities --------------------------------------------------------------------------------------


def test_a_city_of_two_tiles_scores_four_and_the_meeple_returns():
    table = played("E: n1 turned 2, city south", "U")
    assert table.points == [4, 0]
    assert supply(table) == [7, 7]
    assert not table["meeple"].any()


def test_a_meeple_stands_until_its_city_is_complete():
    table = played("N: n1 turned 2, city east", "U: e1 turned 1", "E")
    assert table.points == [0, 0]
    assert supply(table) == [6, 7]
    table.play("e1 n1 turned 3")
    assert supply(table) == [7, 7]
    assert table.points == [6, 0]


def test_a_shield_in_a_complete_city_scores_two():
    table = played("M: n1 turned 2, city east", "U: e1 turned 1", "E: e1 n1 turned 3", "U")
    assert table.points == [8, 0]


def test_every_shield_counts():
    """Two of them, in a city of four tiles."""
    turns = (
        "F: n1 turned 1, city north",
        "U: e1 turned 1",
        "M: n2 turned 2",
        "U: e2",
        "E: e1 n2 turned 3",
    )
    assert played(*turns, "U").points == [2 * (4 + 2), 0]


def test_a_city_that_nobody_occupies_scores_for_nobody():
    assert played("E: n1 turned 2").points == [0, 0]


def test_a_meeple_may_be_set_on_what_the_same_tile_completes():
    turns = ("N: n1 turned 2", "U: e1 turned 1", "E: e1 n1 turned 3, city west", "U")
    assert played(*turns).points == [6, 0]


JOINING = (
    "U: w1 turned 1",
    "U: e1 turned 1",
    "E: w1 n1 turned 1, city east",
    "E: e1 n1 turned 3, city west",
)


def test_joined_cities_with_a_meeple_each_score_in_full_for_both():
    table = played(*JOINING, "R: n1 turned 2", "U")
    assert table.points == [8, 8]
    assert supply(table) == [7, 7]


def test_a_shield_on_the_tile_that_joins_counts_for_both():
    assert played(*JOINING, "Q: n1 turned 2", "U").points == [10, 10]


def test_two_meeples_against_one_score_alone():
    table = played(
        *JOINING, "U: e2 turned 1", "B: w1 n2", "E: n2 turned 2, city south", "C: n1", "U"
    )
    assert table.points == [2 * (5 + 1), 0]
    assert supply(table) == [7, 7]  # all meeples return, also those that did not score


def test_two_meeples_against_one_score_alone_at_the_end_too():
    """The city is still open in the north-east."""
    table = played(*JOINING, "U: e2 turned 1", "B: w1 n2", "N: n2 turned 2, city east", "C: n1")
    assert table.points == [5 + 1, 0]
    assert supply(table) == [5, 6]


def test_one_meeple_each_score_in_full_at_the_end_too():
    assert played(*JOINING, "C: n1").points == [4 + 1, 4 + 1]


def test_a_tile_with_two_sides_of_the_same_city_counts_once():
    """A ring of six tiles begins and ends at H, whose two cities are apart on the tile itself."""
    ring = (
        "H: s1, city east", "N: w1 s1 turned 2, city east", "N: w1 s2 turned 1", "G: s2",
        "M: e1 s2", "N: e1 s1 turned 3",
    )  # fmt: skip
    table = played(*ring, "U")
    assert table.points == [2 * (6 + 1), 2 * (6 + 1)]
    assert supply(table) == [7, 7]


def test_a_tile_with_two_sides_of_the_same_open_city_counts_once():
    """The same with a corner that leads on to the east, so that the city stays open."""
    ring = (
        "H: s1, city east", "N: w1 s1 turned 2", "N: w1 s2 turned 1", "G: s2",
        "R: e1 s2", "N: e1 s1 turned 3",
    )  # fmt: skip
    assert played(*ring).points == [6, 0]


# --- roads ---------------------------------------------------------------------------------------


def test_a_road_from_village_to_village_scores_one_a_tile():
    table = played("W: e1 turned 2, road west", "U: w1 turned 1", "X: w2", "U")
    assert table.points == [4, 0]
    assert supply(table) == [7, 7]


def test_a_road_ends_at_a_city_and_at_a_cloister():
    assert played("A: e1 turned 1, road west", "S: w1 turned 3", "B").points == [3, 0]


def test_a_ring_of_four_curves_is_a_complete_road():
    ring = ("V: s1 turned 3, road east", "V: e1 s1", "V: s2 turned 2", "V: e1 s2 turned 1")
    table = played(*ring, "U")
    assert table.points == [4, 0]
    assert supply(table) == [7, 7]


def test_a_road_that_begins_and_ends_at_one_crossing_counts_it_once():
    ring = ("W: s1, road east", "V: e1 s1", "V: s2 turned 2", "V: e1 s2 turned 1")
    assert played(*ring, "U").points == [4, 0]


def test_both_who_began_a_road_at_the_same_crossing_score_it():
    """One to the east of the village, the other to the south of it."""
    table = played(
        "W: s1, road east", "V: s2 turned 2, road north", "V: e1 s1", "V: e1 s2 turned 1", "U"
    )
    assert table.points == [4, 4]
    assert supply(table) == [7, 7]


def test_the_roads_of_a_crossing_are_different_features():
    table = dealt("X").play("e1")
    assert moves(table) == {"road north", "road east", "road south", "road west", "no meeple"}


# --- cloisters -----------------------------------------------------------------------------------


def test_a_complete_cloister_scores_nine_and_the_meeple_returns():
    table = played("B: s1, cloister", *RING, "U")
    assert table.points == [9, 0]
    assert supply(table) == [7, 7]


def test_a_cloister_may_be_claimed_by_the_tile_that_fills_the_hole():
    table = played(*RING, "B: s1, cloister", "U")
    assert table.points == [0, 9]
    assert supply(table) == [7, 7]


@pytest.mark.parametrize("around", range(8))
def test_an_unfinished_cloister_scores_itself_and_its_neighbours(around):
    table = played("B: s1, cloister", *RING[: max(0, around - 1)])
    assert table.over
    assert table.points == [1 + max(1, around), 0]


def test_cloisters_side_by_side_count_each_other():
    assert played("B: s1, cloister", "B: e1 s1, cloister").points == [3, 3]


def test_one_tile_may_complete_two_cloisters():
    table = played(
        "B: s1, cloister", "B: e1 s1, cloister", "U: w1 turned 1", "U: e1 turned 1",
        "U: e2 turned 1", "E: w1 s1 turned 3", "E: e2 s1 turned 1", "E: w1 s2 turned 2",
        "E: e1 s2 turned 2", "E: e2 s2 turned 2", "B: s2", "U",
    )  # fmt: skip
    assert table.points == [9, 9]
    assert supply(table) == [7, 7]


def test_a_road_to_a_cloister_is_a_feature_of_its_own():
    assert moves(dealt("A").play("s1")) == {"road south", "cloister", "no meeple"}


# --- meeples -------------------------------------------------------------------------------------


def test_no_meeple_on_an_occupied_feature():
    table = played("U: e1 turned 1, road east", "L", "U").play("w1")
    assert moves(table) == {"city north", "road south", "road west", "no meeple"}
    with pytest.raises((IllegalMove, UnreadableMove)):
        table.play("road east")


def test_no_meeple_on_a_feature_that_this_tile_joins_to_an_occupied_one():
    table = played(*JOINING, "S", "U").play("n1 turned 2")
    assert moves(table) == {"road north", "no meeple"}


def test_no_meeple_on_the_own_feature_either():
    table = played("U: e1 turned 1, road east", "B: s1", "L", "U").play("w1")
    assert "road east" not in moves(table)


def test_what_is_complete_and_paid_is_no_concern_of_the_next_tile():
    """The road through the start tile has scored; beyond the village another one begins."""
    table = played("W: e1 turned 2, road west", "A: w1 turned 3", "U", "U").play("e2 turned 1")
    assert table.points == [3, 0]
    assert moves(table) == {"road east", "no meeple"}


def test_a_turn_without_a_free_feature_has_no_meeple_ply():
    table = played("U: e1 turned 1, road east", "U", "U").play("w1 turned 1")
    assert table.seat == 0
    assert table["phase"] == LAYING


COLUMN = [turn for s in range(1, 8) for turn in (
    f"B: s{s}, cloister" if s < 5 else f"E: s{s} turned 3, city west", f"U: e{s} turned 1"
)]  # fmt: skip


def test_a_seat_without_meeples_has_no_meeple_ply():
    table = played(*COLUMN, "E", "U")
    assert supply(table) == [0, 7]
    assert table.seat == 0
    table.play("s8 turned 3")
    assert table.seat == 1
    assert table["phase"] == LAYING


def test_a_seat_without_meeples_has_none_either_with_a_cursor():
    table = played(*COLUMN, "E", "U")
    game = game_of(control="cursor")
    state = game.blank()
    first = game.layout.first_own
    state[first:] = table.cells[first:]
    state[PLIES] = table.plies
    cursor = Table(game, state)
    assert game.flaw(cursor) is None
    for move in (*["south"] * 8, *["turn"] * 3, "confirm"):
        cursor.play(move)
    assert cursor.seat == 1
    assert cursor["phase"] == LAYING


def test_unfinished_features_score_at_the_end_one_a_tile_and_one_a_shield():
    table = played("M: n1 turned 2, city east", "U: e1 turned 1, road east", "B: s1, cloister")
    assert table.over
    assert table.points == [(2 + 1) + 3, 2]
    assert supply(table) == [5, 6]  # these stand to the end


def test_what_is_pending_is_what_would_be_scored_now():
    table = played("M: n1 turned 2, city east", "U: e1 turned 1, road east", "B: s1, cloister", "U")
    more = np.zeros(MOST_SEATS)
    pending(table.cells, more)
    assert more.tolist() == [6, 2, 0, 0, 0]
    assert table.points == [0, 0]


# --- farmers -------------------------------------------------------------------------------------


def test_fields_are_for_farmers_alone():
    assert moves(dealt("B").play("s1")) == {"cloister", "no meeple"}
    farmed = {"cloister", "field nnw", "no meeple"}
    assert moves(dealt("B", farmers=True).play("s1")) == farmed


def test_a_farmer_scores_three_for_a_complete_city_and_stays():
    table = played("E: n1 turned 2, field", "B", farmers=True)
    assert table.points == [0, 0]
    assert supply(table) == [6, 7]
    assert table.play("s1").play("no meeple").points == [3, 0]


def test_a_farmer_scores_nothing_for_an_open_city():
    assert played("N: n1 turned 2, field", farmers=True).points == [0, 0]


def test_a_field_that_a_city_encloses_is_a_field():
    ring = (
        "G: s1", "N: w1 s1 turned 2", "F: s2, field nnw", "N: w1 s2 turned 1",
        "M: e1 s2", "N: e1 s1 turned 3",
    )  # fmt: skip
    table = played(*ring, farmers=True)
    assert table.points == [3, 0]


def test_a_field_that_touches_a_city_twice_scores_it_once():
    """Both tiles of the city, joined by two cloisters to the east."""
    table = played("E: s1 turned 2, field", "E: s2", "B: e1 s1", "B: e1 s2", farmers=True)
    assert table.points == [3, 0]


def test_a_field_scores_every_city_that_it_touches():
    table = played(
        "E: n1 turned 2, field", "U: e1 turned 1", "E: e1 n1 turned 1", "U: e2 turned 1",
        "E: e2 n1 turned 3", farmers=True,
    )  # fmt: skip
    assert table.points == [6, 0]


def test_a_road_parts_fields():
    """South of the road nothing is touched, north of it the city on the start tile."""
    table = played(
        "E: n1 turned 2, city south", "B: s1, field", "U: e1 turned 1, field nnw", farmers=True
    )
    assert table.points == [4 + 3, 0]


def test_fields_meet_behind_the_end_of_a_road():
    """A cloister ends the road; around it the two fields are one, which is occupied."""
    table = played("B: s1, field", "U: e1 turned 1", "A", "U", farmers=True).play("e2 turned 1")
    assert moves(table) == {"road west", "cloister", "no meeple"}


TIE = ("U: e1 turned 1, field nnw", "E: n1 turned 2, field")


def test_farmers_who_are_equally_many_all_score_in_full():
    assert played(*TIE, "B: e1 n1", farmers=True).points == [3, 3]


def test_two_farmers_against_one_score_alone():
    turns = (*TIE, "B: s1, field", "A: e2 turned 1", "B: e1 n1")
    assert played(*turns, farmers=True).points == [3, 0]
    assert played(*turns[:-1], farmers=True).points == [3, 3]  # before the fields have met


def test_a_city_may_serve_several_fields():
    """The strip along the road, and the field behind the city."""
    assert played(*TIE, farmers=True).points == [3, 3]


# --- pictures against whole games ----------------------------------------------------------------


def compare_with_pictures(games: int, farmers: bool) -> Counter[str]:
    """Score random games by pictures; count what was there."""
    seen: Counter[str] = Counter()
    for deal in range(games):
        game = game_of(
            players=2 + deal % 4, farmers=farmers, tiles=72 if deal % 3 else 4 + deal % 69
        )
        for state, meeples in random_game(game, 11, deal, tight=deal % 2 == 1):  # noqa: B007
            pass
        board, standing = placed(game, state, meeples)
        found = Table(game, state).points
        assert pictures.score(board, standing, game.players) == found, (farmers, deal)
        _, find = pictures.joined(board)
        on = Counter((find(at, pictures.PIXELS[where]), seat) for seat, at, where in standing)
        for _, counts in itertools.groupby(sorted(on), key=lambda pair: pair[0]):
            several = [on[pair] for pair in counts]
            if len(several) > 1:
                seen["shared" if len(set(several)) == 1 else "outvoted"] += 1
        seen["points"] += int(sum(found))
        seen["aside"] += int(state[game.cell("aside").start])
    return seen


@pytest.mark.long
def test_pictures_score_random_games_alike():
    seen = compare_with_pictures(GAMES, farmers=False)
    assert seen["points"] > 50 * GAMES
    if JIT:
        assert seen["aside"] > 10
        assert seen["shared"] > 500
        assert seen["outvoted"] > 50


def test_pictures_score_random_games_with_farmers_alike():
    seen = compare_with_pictures(FARMED_GAMES, farmers=True)
    assert seen["points"] > 20 * FARMED_GAMES
    if JIT:
        assert seen["shared"] > 500
        assert seen["outvoted"] > 100


@pytest.mark.parametrize("farmers", [False, True])
def test_pictures_agree_in_the_middle_of_games(farmers):
    """With what is complete so far, and with what is pending."""
    for deal in range(24):
        game = game_of(players=2 + deal % 4, farmers=farmers)
        for ply, (state, meeples) in enumerate(random_game(game, 12, deal, tight=deal % 2 == 1)):
            if ply % 10 or state[SEAT] == OVER or state[game.cell("phase").start] != LAYING:
                continue
            board, standing = placed(game, state, meeples)
            bank = state[game.cell("bank")][: game.players]
            assert pictures.score(board, standing, game.players, ended=False) == bank.tolist()
            more = np.zeros(MOST_SEATS)
            pending(state, more)
            both = (bank + more[: game.players]).tolist()
            assert pictures.score(board, standing, game.players) == both


def test_joining_pieces_is_the_same_as_one_big_picture():
    for deal in range(24):
        game = game_of(players=2 + deal % 4, farmers=True)
        *_, (state, meeples) = random_game(game, 13, deal, tight=deal % 2 == 1)
        board, standing = placed(game, state, meeples)
        ways = [
            pictures.score(board, standing, game.players, regions_of=way)
            for way in (pictures.joined, pictures.glued)
        ]
        assert ways[0] == ways[1] == state[game.cell("bank")][: game.players].tolist()
        one, other = (
            sorted(
                (region.char, sorted(region.tiles), sorted(region.open), len(region.beside))
                for region in way(board)[0].values()
            )
            for way in (pictures.joined, pictures.glued)
        )
        assert one == other


@pytest.mark.parametrize("farmers", [False, True])
def test_a_meeple_is_offered_wherever_nobody_stands_by_the_pictures(farmers):
    for deal in range(8):
        game = game_of(players=2 + deal % 4, farmers=farmers)
        for state, meeples in random_game(game, 14, deal):
            if state[game.cell("phase").start] != DECIDING:
                continue
            board, standing = placed(game, state, meeples)
            regions, find = pictures.joined(board)
            last = list(board)[-1]
            taken = {find(place, pictures.PIXELS[where]) for _, place, where in standing}
            free = set()
            for where in range(13 if farmers else 5):
                region = find(last, pictures.PIXELS[where])
                wanted = "rc" if where < 4 else "m" if where == 4 else "."
                if region >= 0 and regions[region].char in wanted and region not in taken:
                    free.add(region)
            legal = Table(game, state).legal
            offered = [find(last, pictures.PIXELS[a - MEEPLE_AT]) for a in legal[:-1]]
            assert legal[-1] == NO_MEEPLE
            assert set(offered) == free
            on_tile = [
                int(pictures.pieces(board[last])[pictures.PIXELS[a - MEEPLE_AT]])
                for a in legal[:-1]
            ]
            assert len(set(on_tile)) == len(on_tile)


# --- nothing is lost -----------------------------------------------------------------------------

CONTROLS: list[dict[str, Any]] = [
    {},
    {"farmers": True, "players": 5},
    {"tiles": 30, "players": 3},
    {"control": "cursor", "steps": 30, "tiles": 40},
    {"control": "cursor", "steps": 12, "farmers": True, "players": 4},
    {"control": "cursor", "steps": 20, "exact": True, "players": 3, "tiles": 50},
    {"control": "cursor", "steps": 16, "exact": True, "farmers": True, "players": 2},
]


@pytest.mark.parametrize("settings", CONTROLS, ids=str)
def test_no_tile_and_no_meeple_is_lost_at_any_ply(settings):
    game = game_of(**settings)
    tiles = game.settings["tiles"]
    for deal in range(2):
        deck = None
        for table in positions(game, 21, deal):
            if deck is None:
                deck = table["deck"][: tiles - 1].tolist()
            laid, drawn = table["laid"], table["drawn"]
            assert table["deck"][: tiles - 1].tolist() == deck  # what is drawn is drawn in order
            hand = [table["tile"] - 1] if table["tile"] else []
            board = table["kind"][1:laid].tolist()
            gone = Counter(deck[:drawn])
            gone.subtract([*board, *hand])
            assert min(gone.values()) >= 0
            assert sum(gone.values()) == table["aside"]
            assert table["left"].tolist() == [deck[drawn:].count(kind) for kind in range(24)]
            assert not hand or hand[0] == deck[drawn - 1]
            on_board = Counter(((table["meeple"][:laid] - 1) // SEGMENTS).tolist())
            for seat in range(game.players):
                assert table["supply"][seat] + on_board[seat] == MEEPLES
            assert game.flaw(table) is None
            assert len(board_of(table)) == laid
        assert table["drawn"] == tiles - 1
        assert table.plies <= game.bound("most_plies")


def test_bounds_hold_in_random_games():
    for settings in CONTROLS:
        game = game_of(**settings)
        for table in positions(game, 22):
            assert len(table.legal) <= game.bound("most_legal")
            assert all(0 <= action < game.bound("actions") for action in table.legal)


def test_meeples_return_only_when_something_scores():
    game = game_of(players=3)
    for deal in range(10):
        before = None
        for state, _ in random_game(game, 23, deal, tight=True):
            now = state[game.cell("bank")].copy(), state[game.cell("supply")].copy()
            if before is not None and state[SEAT] != OVER and (now[1] > before[1]).any():
                assert (now[0] > before[0]).any()
            before = now
