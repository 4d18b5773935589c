"""Mexican train against positions set up by hand and a referee written from the rules alone."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import IllegalMove, UnreadableMove
from kibitz.core.game import HIDDEN, OVER, SEAT, Game
from kibitz.core.table import Table, View
from kibitz.games.mexican_train.cells import (
    ABSENT,
    BONEYARD,
    END,
    ENGINE,
    FUTURE,
    HOLDER,
    LEFT,
    LENGTH,
    LINE,
    LINES,
    MANY,
    MAY,
    MOST_SEATS,
    OPEN_DOUBLE,
    PASS,
    PENNY,
    PLACE,
    PLAYED,
    SEEDS,
    SHARED,
    TILES,
)
from kibitz.games.mexican_train.rules import mix
from kibitz.games.mexican_train.tiles import MOST_TILES, NUMBERS
from kibitz.play.loop import random_games, roll_out
from tests.lengths import long_but

Tile = tuple[int, int]

NAMES: list[Tile] = [(low, high) for high in range(NUMBERS) for low in range(high + 1)]
NUMBER_OF = {tile: number for number, tile in enumerate(NAMES)}
SETS = range(6, 16)
SEAT_COUNTS = range(2, 13)
GAMES = 16  # before the referee, of each kind
VARIANTS: list[dict] = [{}, {"cover": True}, {"boneyard": 3}, {"boneyard": 5, "cover": True}]


def game_of(**settings) -> Game:
    return kibitz.game("mexican_train", **settings)


def tiles_of(text: str) -> list[Tile]:
    """Read tiles as they lie: '6-5 5-5 5-1'."""
    return [(int(a), int(b)) for a, _, b in (tile.partition("-") for tile in text.split())]


def number(tile: Tile) -> int:
    return NUMBER_OF[min(tile), max(tile)]


def at(
    hands: Sequence[str],
    *lines: str,
    shared: str = "",
    seat: int = 0,
    pennies: Sequence[int] = (),
    boneyard: str = "",
    double: int | None = None,
    engine: int = 6,
    **settings,
) -> Table:
    """Set up a position: hands, each seat's line, and so on; tiles not named are out of the game.

    Lines begin at the engine. `double` is the line with a double that must be covered.
    """
    if boneyard:
        settings["boneyard"] = 3
    game = game_of(**{"highest": 6, "hands": 1, "players": len(hands), **settings})
    state = game.deal(0).cells.copy()
    state[HOLDER : HOLDER + MOST_TILES] = ABSENT
    for cells in (LINE, PLACE):
        state[cells : cells + MOST_TILES] = 0
    state[END : END + LINES] = engine
    state[LENGTH : LENGTH + LINES] = 0
    state[HOLDER + number((engine, engine))] = PLAYED
    state[LINE + number((engine, engine))] = ENGINE
    named = [tile for text in (*hands, *lines, shared, boneyard) for tile in tiles_of(text)]
    assert len(set(map(number, named))) == len(named), "a tile is there twice"
    for holder, text in [*enumerate(hands), (BONEYARD, boneyard)]:
        for tile in tiles_of(text):
            state[HOLDER + number(tile)] = holder
    state[TILES : TILES + len(hands)] = [len(tiles_of(text)) for text in hands]
    state[LEFT] = len(tiles_of(boneyard))
    for line, text in [*enumerate(lines), (SHARED, shared)]:
        laid = tiles_of(text)
        for place, tile in enumerate(laid):
            assert tile[0] == (laid[place - 1][1] if place else engine), "a line must hold together"
            state[HOLDER + number(tile)] = PLAYED
            state[LINE + number(tile)] = line
            state[PLACE + number(tile)] = place
            state[END + line] = tile[1]
        state[LENGTH + line] = len(laid)
    for up in pennies:
        state[PENNY + up] = 1
    state[OPEN_DOUBLE] = 0 if double is None else double + 1
    state[SEAT] = seat
    return Table(game, state)


def moves(table: Table) -> set[str]:
    return set(map(table.say, table.legal))


def pennies(table: Table) -> list[int]:
    return [seat for seat in range(table.game.players) if table["penny"][seat]]


def held(table: Table, holder: int) -> set[Tile]:
    return {NAMES[i] for i in np.flatnonzero(table["holder"] == holder).tolist()}


# --- the deal ------------------------------------------------------------------------------------


@pytest.mark.parametrize("highest", SETS)
@pytest.mark.parametrize("players", SEAT_COUNTS)
def test_all_tiles_are_dealt_evenly_and_the_engine_is_placed_for_its_holder(players, highest):
    whole = {(a, b) for a in range(highest + 1) for b in range(a, highest + 1)}
    for deal in range(5):
        table = game_of(players=players, highest=highest).deal(1, deal)
        hands = [held(table, seat) for seat in range(players)]
        assert held(table, PLAYED) == {(highest, highest)}
        assert set().union(*hands) == whole - {(highest, highest)}
        assert sum(map(len, hands)) == len(whole) - 1  # nothing twice, no boneyard
        dealt = [len(hand) + (seat == table.seat) for seat, hand in enumerate(hands)]
        assert max(dealt) - min(dealt) <= 1
        assert table["tiles"].tolist()[:players] == list(map(len, hands))
        assert table["end"].tolist()[:players] == [highest] * players
        assert pennies(table) == []


def test_every_tile_comes_to_every_seat_as_often_as_its_share():
    """Of 28 tiles seat 0 gets one more in the first hand, seat 1 in the second."""
    game = game_of(players=3, highest=6)
    deals = 3000
    tables = [game.deal(5, deal) for deal in range(deals)]
    share = np.array([10, 9, 9]) / 28
    holders = np.array([table["holder"][:27] for table in tables])
    found = np.array([(holders == seat).mean(axis=0) for seat in range(3)])
    assert abs(found - share[:, None]).max() < 5 * math.sqrt(0.25 / deals)
    firsts = np.bincount([table.seat for table in tables], minlength=3) / deals
    assert abs(firsts - share).max() < 5 * math.sqrt(0.25 / deals)


@pytest.mark.parametrize(("hands", "engines"), [(0, 7), (1, 1), (3, 3), (7, 7), (16, 7)])
def test_a_game_has_a_hand_for_every_double_or_fewer(hands, engines):
    table = game_of(players=3, highest=6, hands=hands).deal(4)
    rng = Chance(4)
    seen, deals = [], []
    while not table.over:
        if table["hand"] == len(seen):
            seen.append(int(table["end"][SHARED]))
            deals.append(tuple(table["holder"].tolist()))
            assert held(table, PLAYED) == {(seen[-1], seen[-1])}
        table.play(rng.choice(table.legal))
    assert seen == list(range(6, 6 - engines, -1))
    assert len(set(deals)) == engines


@pytest.mark.parametrize(("tiles", "players", "each"), [(5, 3, 5), (1, 12, 1), (20, 2, 13)])
def test_with_a_boneyard_each_gets_a_fixed_number_while_they_last(tiles, players, each):
    """Of 28 tiles one is the engine; 20 each for two are too many, so they get 13."""
    table = game_of(highest=6, players=players, boneyard=tiles).deal(3)
    assert [len(held(table, seat)) for seat in range(players)] == [each] * players
    assert len(held(table, BONEYARD)) == table["left"] == 27 - each * players
    assert held(table, PLAYED) == {(6, 6)}


def test_with_a_boneyard_hands_are_begun_in_turn():
    table = game_of(highest=6, players=3, boneyard=4).deal(3)
    rng = Chance(3)
    hand = -1
    while not table.over:
        if table["hand"] != hand:
            hand += 1
            assert table.seat == hand % 3
        table.play(rng.choice(table.legal))
    assert hand == 6


# --- lines ---------------------------------------------------------------------------------------


def test_every_line_begins_at_the_engine():
    table = at(["6-1 1-2", "5-5", "4-4"])
    assert moves(table) == {"1-6 on seat 0"}
    table.play("1-6 on own")
    assert table["end"].tolist()[:3] == [1, 6, 6]
    assert table["end"][SHARED] == 6
    assert table.seat == 1


def test_one_plays_on_the_own_line_and_no_other():
    table = at(["1-2 2-3 3-4", "5-5", "4-4"], "6-1", "6-2", "6-3")
    assert moves(table) == {"1-2 on seat 0"}
    with pytest.raises(IllegalMove):
        table.play("2-3 on seat 1")


def test_a_penny_opens_a_line_to_all():
    table = at(["1-2 2-3 3-4", "5-5", "4-4"], "6-1", "6-2", "6-3", pennies=[2])
    assert moves(table) == {"1-2 on seat 0", "2-3 on seat 2", "3-4 on seat 2"}


def test_a_penny_of_its_own_closes_nothing_to_a_seat():
    assert moves(at(["1-2", "5-5"], "6-1", pennies=[0])) == {"1-2 on seat 0"}


def test_a_tile_fits_by_either_half_and_lies_with_the_other_outwards():
    table = at(["3-5 0-0", "2-3 0-1"], "6-5", "6-4 4-3")
    assert table.play("35")["end"][0] == 3
    assert table.play("2-3")["end"][1] == 2


def test_a_double_may_begin_or_follow_and_leaves_the_same_end():
    table = at(["5-5 5-1 2-2", "0-0"], "6-5")
    assert table.play("5-5")["end"][0] == 5


def test_the_shared_line_opens_when_every_line_has_been_started():
    table = at(["6-1 0-1", "6-2 2-3", "6-3 6-4 0-0"], "6-5", "", "", seat=1)
    assert moves(table) == {"2-6 on seat 1"}
    table.play("26")
    assert moves(table) == {"3-6 on seat 2", "4-6 on seat 2"}  # not yet: its own is not started
    table.play("36")
    assert moves(table) == {"1-6 on shared"}
    table.play("1-6 on shared")
    assert table["length"][SHARED] == 1
    assert table["end"][SHARED] == 1
    assert pennies(table) == []


def test_whoever_starts_the_last_line_opens_the_shared_one():
    """Also somebody else, on a line whose penny is up, and also with a double."""
    table = at(["6-1 6-4 0-0", "6-2 3-3"], "6-5", "", pennies=[1])
    assert moves(table) == {"1-6 on seat 1", "4-6 on seat 1"}
    table.play("1-6 on seat 1")
    assert moves(table) == {"2-6 on shared"}


def test_the_shared_line_is_one_for_all_and_needs_no_penny():
    table = at(["2-1 4-4", "1-5 4-1", "5-5 0-0"], "6-3", "6-0", "6-4", shared="6-2")
    table.play("1-2")
    assert moves(table) == {"1-5 on shared", "1-4 on shared"}
    table.play("1-5")
    assert moves(table) == {"5-5 on shared"}


# --- passing and pennies -------------------------------------------------------------------------


def test_only_who_has_no_play_passes_and_puts_a_penny_up():
    table = at(["1-2 3-3", "3-4 5-5"], "6-1", "6-2")
    with pytest.raises(IllegalMove):
        table.play("pass")
    table.play("12")
    assert moves(table) == {"pass"}
    table.play("pass")
    assert pennies(table) == [1]
    assert table.seat == 0
    assert [len(held(table, seat)) for seat in (0, 1)] == [1, 2]


def test_a_penny_comes_off_by_a_tile_on_the_own_line():
    table = at(["1-2 3-3", "5-5", "4-4"], "6-1", "6-2", "6-3", pennies=[0, 1])
    table.play("1-2 on own")
    assert pennies(table) == [1]


def test_a_penny_stays_after_a_double_on_the_own_line():
    table = at(["1-1 1-2 3-3", "5-5"], "6-1", "6-2", pennies=[0])
    table.play("11")
    assert pennies(table) == [0]
    assert table.seat == 0
    table.play("1-2 on own")  # the tile after it takes the penny off
    assert pennies(table) == []


def test_a_penny_stays_after_a_tile_elsewhere():
    table = at(["2-3 4-5 0-0", "5-5", "1-5"], "6-1", "6-2", "6-0", shared="6-4", pennies=[0, 1])
    table.play("2-3 on seat 1")
    assert pennies(table) == [0, 1]
    table = at(["2-3 4-5 0-0", "5-5"], "6-1", "6-2", shared="6-4", pennies=[0])
    table.play("4-5 on shared")
    assert pennies(table) == [0]


def test_others_take_no_penny_off():
    table = at(["5-5 0-0", "1-3 2-2"], "6-1", "6-2", seat=1, pennies=[0])
    table.play("1-3 on seat 0")
    assert pennies(table) == [0]


def test_a_penny_does_not_go_down_by_passing_again():
    table = at(["5-5 0-0", "1-3 2-2"], "6-1", "6-2", pennies=[0])
    table.play("pass")
    assert pennies(table) == [0]
    assert table.seat == 1


# --- doubles -------------------------------------------------------------------------------------


def test_a_double_gives_another_turn_anywhere():
    table = at(["1-1 2-3 1-4 0-5", "5-5"], "6-1", "6-2", shared="6-0", pennies=[1])
    table.play("11")
    assert table.seat == 0
    assert moves(table) == {"1-4 on seat 0", "2-3 on seat 1", "0-5 on shared"}
    table.play("0-5 on shared")  # it need not be covered
    assert table.seat == 1
    assert table["end"][0] == 1


def test_a_double_after_a_double_gives_yet_another_turn():
    table = at(["1-1 2-2 1-4 0-5", "5-5"], "6-1", "6-2", pennies=[1])
    assert table.play("11").seat == 0
    assert table.play("22").seat == 0
    assert table.play("14").seat == 1


def test_who_is_stuck_after_a_double_puts_a_penny_up():
    table = at(["1-1 2-3", "1-5 4-4"], "6-1", "6-0")
    table.play("11")
    assert table.seat == 0
    assert pennies(table) == []
    assert moves(table) == {"pass"}
    table.play("pass")
    assert pennies(table) == [0]
    assert table.seat == 1
    assert moves(table) == {"1-5 on seat 0"}  # the double, now that the line is open


# --- the end of a hand ---------------------------------------------------------------------------


def test_a_hand_ends_when_somebody_is_out():
    table = at(["1-2", "5-6 3-4", "0-0 1-1"], "6-1", "6-2", "6-3")
    table.play("12")
    assert table.over
    assert table.points == [0, -18, -2]


def test_a_last_tile_may_be_a_double():
    table = at(["1-1", "5-6 3-4"], "6-1", "6-2")
    table.play("11")
    assert table.over
    assert table.points == [0, -18]


def test_a_last_double_need_not_be_covered_even_with_cover():
    table = at(["1-1", "5-6 1-4"], "6-1", "6-2", cover=True)
    assert table.play("11").over
    assert table.points == [0, -16]


def test_a_last_tile_on_the_line_of_another_ends_the_hand_too():
    table = at(["2-3", "5-6 3-4"], "6-1", "6-2", pennies=[1])
    assert table.play("23").over
    assert pennies(table) == [1]


def test_a_hand_ends_when_nobody_can_play():
    table = at(["5-5 0-0", "4-4", "3-3"], "6-1", "6-2", "6-0 0-1")
    passes = 0
    while not table.over:
        assert moves(table) == {"pass"}
        table.play("pass")
        passes += 1
    assert 3 <= passes <= 6
    assert table.points == [-10, -8, -6]
    assert pennies(table) == [0, 1, 2]


def test_a_hand_does_not_end_while_a_penny_may_still_help():
    """All pass once; but the last penny opens a line for which the first has a tile."""
    table = at(["2-3 5-5", "4-4 5-4", "0-0 0-4"], "6-1", "6-3 3-1", "6-2")
    table.play("pass").play("pass").play("pass")
    assert not table.over
    assert moves(table) == {"2-3 on seat 2"}
    table.play("23")
    assert table.seat == 1


def test_a_hand_does_not_end_before_the_last_penny_is_up():
    """Everybody has shown to lack 1 and 2, but the seat with the 3 on its line has yet to pass."""
    table = at(["4-4 0-0", "5-5", "3-4 4-5"], "6-1", "6-3", "6-2", pennies=[0, 2])
    for seat, half in itertools.product(range(3), (1, 2, 6)):
        table.cells[MAY + seat * NUMBERS + half] = 0
    table.cells[MAY + 1 * NUMBERS + 3] = 0
    table.play("pass")
    assert not table.over
    table.play("pass")
    assert moves(table) == {"3-4 on seat 1"}


def test_a_hand_is_not_over_while_the_boneyard_has_tiles():
    table = at(["5-5", "4-4"], "6-1", "6-2", boneyard="3-3 0-0 0-3")
    for left in (2, 1, 0):
        table.play("draw")
        assert table["left"] == left
        assert not table.over
        table.play("pass")
        assert table.over == (left == 0)  # everybody has shown to lack all ends
    assert sum(table.points) == -10 - 8 - 9


def test_pips_count_and_double_blank_counts_nothing():
    table = at(["1-2", "0-0", "5-6", "0-3"], "6-1")
    table.play("12")
    assert table.points == [0, 0, -11, -3]


def test_points_before_the_end_are_the_pips_so_far():
    table = at(["1-2 0-4", "0-0 3-3"], "6-1")
    assert table.points == [-7, -6]
    assert table.play("12").points == [-4, -6]


def test_fewest_pips_over_all_hands_win():
    table = game_of(players=3, highest=6).deal(11)
    rng = Chance(11)
    total = [0, 0, 0]
    while not table.over:
        before = table.copy()
        hands = [held(table, seat) for seat in range(3)]
        mover, hand = table.seat, table["hand"]
        action = rng.choice(table.legal)
        table.play(action)
        if table["hand"] != hand:
            if action < PASS:
                hands[mover].remove(NAMES[action % MOST_TILES])
            for seat in range(3):
                total[seat] += sum(a + b for a, b in hands[seat])
            assert table["pips"].tolist()[:3] == total
            assert before["pips"].tolist()[:3] != total
    assert table.points == [-pips for pips in total]
    assert table.points.index(max(table.points)) == total.index(min(total))


# --- options -------------------------------------------------------------------------------------


def test_who_is_stuck_draws_and_plays_what_fits():
    table = at(["5-5", "4-4"], "6-1", "6-2", boneyard="1-3")
    assert moves(table) == {"draw"}
    table.play("draw")
    assert table.seat == 0
    assert held(table, 0) == {(5, 5), (1, 3)}
    assert pennies(table) == []
    assert moves(table) == {"1-3 on seat 0"}
    table.play("13")
    assert table.seat == 1
    assert moves(table) == {"pass"}  # the boneyard is empty


def test_who_draws_in_vain_passes_and_puts_a_penny_up():
    table = at(["5-5", "4-4"], "6-1", "6-2", boneyard="3-3 0-3")
    table.play("draw")
    assert moves(table) == {"pass"}  # one tile, no more
    table.play("pass")
    assert pennies(table) == [0]
    assert table.seat == 1
    assert moves(table) == {"draw"}


def test_nobody_draws_who_can_play():
    table = at(["1-5", "4-4"], "6-1", "6-2", boneyard="3-3 0-3")
    assert moves(table) == {"1-5 on seat 0"}


def test_who_draws_a_double_that_fits_may_draw_again():
    table = at(["5-5", "4-4"], "6-1", "6-2", boneyard="1-1")
    table.play("draw").play("11")
    assert table.seat == 0
    assert moves(table) == {"pass"}
    # With another tile in the boneyard, the new turn has its own draw.
    table = at(["1-1 5-5", "4-4"], "6-1", "6-2", boneyard="0-3 3-3")
    table.play("11").play("draw")
    assert table.seat == 0
    assert moves(table) == {"pass"}
    assert table.play("pass").seat == 1


def test_every_tile_of_the_boneyard_is_drawn_equally_often():
    start = at(["5-5", "4-4"], "6-1", "6-2", boneyard="3-3 0-3 0-0 3-4")
    found: Counter = Counter()
    games = 2000
    for seed in range(games):
        table = start.copy()
        rng = Chance(seed)
        table.cells[FUTURE : FUTURE + SEEDS] = [rng.below(1 << 15) for _ in range(SEEDS)]
        found.update(held(table.play("draw"), 0) - {(5, 5)})
    assert len(found) == 4
    assert chi_square(list(found.values())) < 5


def test_an_open_double_must_be_answered_first():
    table = at(["1-1 2-3 1-4 0-5", "5-5"], "6-1", "6-2", shared="6-0", pennies=[1], cover=True)
    table.play("11")
    assert table.seat == 0
    assert moves(table) == {"1-4 on seat 0"}
    table.play("14")
    assert table["double"] == 0
    assert table.seat == 1
    assert moves(table) == {"pass"}  # as ever


def test_an_open_double_is_answered_by_whoever_can_first():
    """Seats 0 and 1 cannot; 2 must, on a line that is not its own and has no penny."""
    hands = ["2-2 3-4 1-5", "3-5 5-5", "2-4 0-3 4-4", "0-0 2-5"]
    table = at(hands, "6-1", "6-3", "6-0", "6-5", shared="6-2", cover=True)
    table.play("2-2 on shared")
    assert moves(table) == {"pass"}  # though 1-5 would fit on its own line
    table.play("pass")
    assert moves(table) == {"pass"}
    table.play("pass")
    assert pennies(table) == [0, 1]
    assert moves(table) == {"2-4 on shared"}
    table.play("24")
    assert table["double"] == 0
    # Now everything is open again, the lines with pennies too; 2-5 fits at its own 5 only.
    assert moves(table) == {"2-5 on seat 3"}


def test_a_double_on_the_line_of_another_must_be_answered_there():
    table = at(["2-2 1-5 0-0", "2-4 4-4"], "6-1", "6-2", pennies=[1], cover=True)
    table.play("22").play("pass")
    assert moves(table) == {"2-4 on seat 1"}
    assert pennies(table.play("24")) == [0]  # on its own line: the penny comes off


def test_a_double_need_not_be_covered_when_all_tiles_of_its_number_are_laid():
    table = at(["1-1 3-5", "2-4 0-0", "5-5"], "6-1", "6-2", "6-3", cover=True)
    table.play("11")  # there is no other one any more: seat 0 has another turn, and is stuck
    assert table["double"] == 0
    assert moves(table) == {"pass"}
    table.play("pass")
    assert moves(table) == {"2-4 on seat 1"}


def test_who_cannot_answer_a_double_draws_if_there_is_a_boneyard():
    table = at(["1-1 2-3", "2-4"], "6-1", "6-2", boneyard="1-5 1-0", cover=True)
    table.play("11")
    assert moves(table) == {"draw"}
    table.play("draw")
    assert moves(table) <= {"1-5 on seat 0", "0-1 on seat 0"}
    assert len(table.legal) == 1
    table.play(table.legal[0])
    assert table["double"] == 0
    assert moves(table) == {"2-4 on seat 1"}


def test_without_the_option_nothing_must_be_covered():
    table = at(["1-1 2-3", "2-4 0-0"], "6-1", "6-2")
    table.play("11").play("pass")
    assert moves(table) == {"2-4 on seat 1"}


# --- words ---------------------------------------------------------------------------------------


def test_moves_are_read_in_short_and_at_length():
    table = at(["1-2 3-4", "5-5 2-0"], "6-1", "6-2", shared="6-0", pennies=[1])
    for words in ("1-2 on seat 1", "2-1 on seat 1", "12 seat 1", "1 2 on 1", "play 1|2 on line 1"):
        assert table.say(table.read(words)) == "1-2 on seat 1"
    for words in ("1-2 on own", "2/1 mine", "12 on seat 0"):
        assert table.say(table.read(words)) == "1-2 on seat 0"
    with pytest.raises(UnreadableMove, match="several lines"):
        table.read("12")
    with pytest.raises(UnreadableMove, match="it ends at 6"):
        table.read("7-1")
    with pytest.raises(UnreadableMove, match="no line is called"):
        table.read("1-2 on seat 2")
    for words in ("", "1", "one", "1-2 on", "-", "take 1"):
        with pytest.raises(UnreadableMove):
            table.read(words)
    for words in ("3-4", "3-4 on own", "pass", "draw", "1-2 on shared"):
        with pytest.raises(IllegalMove, match="seat 0 may not"):
            table.read(words)


def test_large_numbers_are_read_too():
    table = at(["12-11 3-3", "0-0"], "15-12", engine=15, highest=15)
    for words in ("11-12", "12 11", "11-12 on own"):
        assert table.say(table.read(words)) == "11-12 on seat 0"


# --- the referee ---------------------------------------------------------------------------------


class Referee:
    """The rules once more, on lists of tiles; told only what is dealt and drawn."""

    def __init__(self, table: Table) -> None:
        self.players = table.game.players
        self.settings = table.game.settings
        self.pips = [0] * self.players
        self.hand = 0
        self.begin(table)

    def begin(self, table: Table) -> None:
        """Take up the tiles as they were dealt, and check that they were dealt as they should."""
        highest = self.settings["highest"]
        engine = highest - self.hand
        self.hands = [held(table, seat) for seat in range(self.players)]
        self.boneyard = held(table, BONEYARD)
        everything = sorted([*itertools.chain(*self.hands), *self.boneyard, (engine, engine)])
        assert everything == sorted((a, b) for b in range(highest + 1) for a in range(b + 1))
        sizes = [len(hand) for hand in self.hands]
        if self.settings["boneyard"]:
            assert set(sizes) == {
                min(self.settings["boneyard"], (len(everything) - 1) // self.players)
            }
            self.mover = self.hand % self.players
        else:
            assert not self.boneyard
            self.mover = table.seat
            sizes[self.mover] += 1  # the engine
            assert max(sizes) - min(sizes) <= 1
        self.engine = engine
        self.lines: list[list[int]] = [[engine] for _ in range(self.players + 1)]  # open ends
        self.pennies = [False] * self.players
        self.owed: int | None = None  # the line of a double that must be covered
        self.drew = False
        self.idle = 0  # passes since nobody could play

    def open_to(self, seat: int, pennies: Sequence[bool]) -> list[int]:
        """List the lines on which a seat may play; the last is the shared one."""
        if self.owed is not None:
            return [self.owed]
        found = [line for line in range(self.players) if line == seat or pennies[line]]
        if all(len(line) > 1 for line in self.lines[:-1]):
            found.append(self.players)
        return found

    def plays(self, seat: int, pennies: Sequence[bool]) -> set[tuple[int, Tile]]:
        return {
            (line, tile)
            for line in self.open_to(seat, pennies)
            for tile in self.hands[seat]
            if self.lines[line][-1] in tile
        }

    def moves(self) -> set:
        found: set = self.plays(self.mover, self.pennies)
        return found or {"draw" if self.boneyard and not self.drew else "pass"}

    def nobody_can_play(self) -> bool:
        """Tell whether nobody could play even if everybody's penny were up."""
        up = [True] * self.players
        return not self.boneyard and not any(self.plays(s, up) for s in range(self.players))

    def follow(self, move, table: Table) -> None:
        """Make a move, and look at the table only for a tile drawn, a block and the next deal."""
        seat = self.mover
        if move == "draw":
            (drawn,) = held(table, seat) - self.hands[seat]
            self.boneyard.remove(drawn)
            self.hands[seat].add(drawn)
            self.drew = True
            return
        self.drew = False
        over = False
        if move == "pass":
            self.pennies[seat] = True
            self.mover = (seat + 1) % self.players
            # Everybody must be able to know, so it may take until all have passed again.
            self.idle = self.idle + 1 if self.nobody_can_play() else 0
            over = table["hand"] != self.hand
            assert not over or self.idle
            assert over or self.idle < 2 * self.players
        else:
            line, tile = move
            self.hands[seat].remove(tile)
            one, two = tile
            end = self.lines[line][-1]
            self.lines[line].append(two if end == one else one)
            if one != two:
                if line == seat:
                    self.pennies[seat] = False
                self.mover = (seat + 1) % self.players
            unlaid = [*self.boneyard, *(tile for hand in self.hands for tile in hand)]
            coverable = any(one in tile for tile in unlaid)
            covers = one == two and coverable and self.settings["cover"]
            self.owed = line if covers else None
            over = not self.hands[seat]
        if over:
            for loser, hand in enumerate(self.hands):
                self.pips[loser] += sum(a + b for a, b in hand)
            self.hand += 1
            if self.hand == min(self.settings["hands"] or 99, self.settings["highest"] + 1):
                self.mover = OVER
            else:
                self.begin(table)

    def check(self, table: Table) -> None:
        """Compare everything."""
        assert table.seat == self.mover
        assert table["hand"] == self.hand
        assert table["pips"].tolist()[: self.players] == self.pips
        if self.mover == OVER:
            assert table.points == [-pips for pips in self.pips]
            return
        points = [
            -pips - sum(a + b for a, b in hand)
            for pips, hand in zip(self.pips, self.hands, strict=True)
        ]
        assert table.points == points
        assert table["penny"].tolist()[: self.players] == self.pennies
        assert table["tiles"].tolist()[: self.players] == list(map(len, self.hands))
        assert table["left"] == len(self.boneyard)
        ends = [line[-1] for line in self.lines]
        assert [*table["end"].tolist()[: self.players], table["end"][SHARED]] == ends
        legal, moves = list(map(self.read, table.legal)), self.moves()
        assert len(legal) == len(moves)
        assert set(legal) == moves

    def read(self, action: int):
        """Translate an action's number, as the rules document it."""
        line, tile = divmod(action, MOST_TILES)
        if line == LINES:
            return ("pass", "draw")[tile]
        return (self.players if line == SHARED else line), NAMES[tile]


def refereed(game: Game, seed: int, deal: int) -> Iterator[tuple[Table, Referee]]:
    """Play a random game before a referee; look at it at every ply."""
    table = game.deal(seed, deal)
    rng = Chance(seed, deal, 7)
    referee = Referee(table)
    referee.check(table)
    yield table, referee
    while not table.over:
        action = rng.choice(table.legal)
        game.rules.play(table.cells, action)
        referee.follow(referee.read(action), table)
        referee.check(table)
        yield table, referee


@pytest.mark.parametrize("highest", long_but([6, 12], SETS))
def test_a_referee_agrees_with_every_move(highest):
    for players, variant in itertools.product(SEAT_COUNTS, VARIANTS):
        game = game_of(players=players, highest=highest, hands=1, **variant)
        for deal in range(GAMES if highest < 10 else GAMES // 2):
            for table, _ in refereed(game, 1, deal):
                if deal == 0:
                    assert game.flaw(table) is None


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_referee_agrees_with_whole_games(variant):
    for players, highest, hands in ((2, 6, 0), (4, 9, 0), (5, 7, 3), (12, 6, 0), (3, 12, 2)):
        game = game_of(players=players, highest=highest, hands=hands, **variant)
        *_, (table, _) = refereed(game, 2, players)
        assert game.flaw(table) is None


@pytest.mark.parametrize("highest", long_but([6, 12], SETS))
def test_thousands_of_random_games_end_within_their_bound(highest):
    for players, variant in itertools.product(SEAT_COUNTS, VARIANTS):
        game = game_of(players=players, highest=highest, hands=1, **variant)
        games = 1000
        most = game.bound("most_plies")
        moves = random_games(game.rules, game.blank(), game.bound("most_legal"), 3, games)
        assert moves <= games * most
        actions = np.empty(game.bound("most_legal"), np.int32)
        for deal in range(5):
            table = game.deal(9, deal)
            plies = roll_out(game.rules, table.cells, actions, Chance(9, deal).words)
            assert plies == table.plies <= most
            assert table.over
            assert game.flaw(table) is None


# --- what is hidden ------------------------------------------------------------------------------


def chi_square(counts: Sequence[int]) -> float:
    """Say by how many standard deviations counts differ more than equally likely ones would."""
    mean = sum(counts) / len(counts)
    free = len(counts) - 1
    found = sum((count - mean) ** 2 for count in counts) / mean
    return (found - free) / math.sqrt(2 * free)


def worlds(view: View, lacks: Sequence[set[int]]) -> list[tuple[int, ...]]:
    """List by brute force who can have the hidden tiles: a holder for each, in their order."""
    hidden = [NAMES[i] for i in np.flatnonzero(view["holder"] == HIDDEN).tolist()]
    room = {s: int(view["tiles"][s]) for s in range(view.game.players) if s != view.seat}
    places = itertools.chain.from_iterable([seat] * count for seat, count in room.items())
    return [
        world
        for world in set(itertools.permutations(places))
        if not any(set(tile) & lacks[seat] for tile, seat in zip(hidden, world, strict=True))
    ]


def redealt(view: View, times: int, rng: Chance) -> Counter:
    """Count the worlds that are dealt."""
    hidden = view["holder"] == HIDDEN
    return Counter(tuple(view.redeal(rng)["holder"][hidden].tolist()) for _ in range(times))


def lacking(game: Game, seed: int, deal: int) -> Iterator[tuple[Table, list[set[int]]]]:
    """Play a hand and note by the referee's word which numbers each seat has shown to lack."""
    lacks: list[set[int]] = [set() for _ in range(game.players)]
    ends: list[list[int]] = []
    mover, passed = OVER, False
    for table, referee in refereed(game, seed, deal):
        if referee.mover == OVER:
            return
        if passed and mover != OVER:
            lacks[mover].update(ends)  # type: ignore[arg-type]
        yield table, lacks
        mover = referee.mover
        passed = referee.moves() == {"pass"}
        ends = [referee.lines[line][-1] for line in referee.open_to(mover, referee.pennies)]


def test_who_has_passed_is_dealt_no_tile_that_would_have_fitted():
    rng = Chance(8)
    checked = 0
    for players, highest, cover in ((3, 6, False), (4, 9, False), (6, 9, True), (12, 12, False)):
        game = game_of(players=players, highest=highest, cover=cover, hands=1)
        for deal in range(5):
            for table, lacks in lacking(game, 8, deal):
                viewer = rng.below(players)
                world = table.view(viewer).redeal(rng)
                assert held(world, viewer) == held(table, viewer)
                for seat in range(players):
                    assert len(held(world, seat)) == len(held(table, seat))
                    assert not any(lacks[seat] & set(tile) for tile in held(world, seat))
                checked += any(lacks)
    assert checked > 500


@pytest.mark.parametrize(("players", "cover"), [(2, False), (3, False), (3, True), (4, False)])
def test_every_world_is_dealt_equally_often(players, cover):
    """Late in a hand, where few tiles are hidden, all worlds can be listed."""
    game = game_of(players=players, highest=6, cover=cover, hands=1)
    rng = Chance(9)
    seen = 0
    for deal in range(400):
        for table, lacks in lacking(game, 9, deal):
            view = table.view(rng.below(players))
            if (view["holder"] == HIDDEN).sum() > 8 or not any(lacks) or rng.below(6):
                continue
            possible = worlds(view, lacks)
            if len(possible) > 60 or len(possible) < min(players, 3) - 1:
                continue
            found = redealt(view, 30 * len(possible), rng)
            assert set(found) <= set(possible)
            if len(possible) > 1:
                assert chi_square([found[world] for world in possible]) < 6, (deal, table.plies)
            seen += 1
        if seen >= 25:
            break
    assert seen >= 25


@pytest.mark.parametrize("seats", [2, 3, 4, 5])
def test_tiles_that_can_only_go_round_in_a_ring_do(seats):
    """Everybody can have but one tile and the next one's: there are two worlds, far apart."""
    ring = ["0-1", "2-3", "4-5", "6-7", "8-9"][:seats]
    start = at(["10-10", *ring], engine=12, highest=12)
    state = start.cells
    for seat, other in itertools.product(range(seats), repeat=2):
        if other not in (seat, (seat + 1) % seats):
            for half in tiles_of(ring[other])[0]:
                state[MAY + (1 + seat) * NUMBERS + half] = 0
    found = redealt(start.view(0), 2000, Chance(1))
    assert len(found) == 2
    assert chi_square(list(found.values())) < 5


def test_mixing_alone_reaches_every_world():
    """From wherever the deal begins, also where no two tiles can change places."""
    tiles = np.array([number(tile) for tile in ((0, 1), (2, 3), (4, 5))])
    view = at(["0-0", "0-1", "2-3", "4-5"]).view(0).cells
    for seat, half in ((1, 4), (2, 0), (3, 2)):
        view[MAY + seat * NUMBERS + half] = 0
    found: Counter = Counter()
    rng = Chance(2)
    for _ in range(2000):
        owners = np.array([1, 2, 3])
        have = np.zeros((MOST_SEATS, NUMBERS), np.int64)
        for seat, half in ((1, 0), (1, 1), (2, 2), (2, 3), (3, 4), (3, 5)):
            have[seat, half] = 1
        mix(view, tiles, owners, have, rng.words)
        found[tuple(owners.tolist())] += 1
    assert set(found) == {(1, 2, 3), (3, 1, 2)}
    assert 0.4 < found[1, 2, 3] / 2000 < 0.6


def test_what_drawing_shows_and_playing_takes_back():
    table = at(["5-5 0-0", "4-4 1-4"], "6-1", "6-2", boneyard="1-3 0-4 0-3")
    table.cells[HOLDER + number((0, 4))] = table.cells[HOLDER + number((0, 3))] = ABSENT
    table.cells[LEFT] = 1

    def may(seat: int) -> dict[int, int]:
        """Say of which numbers a seat can only have so many."""
        known = table["may"].reshape(MOST_SEATS, NUMBERS)[seat].tolist()
        return {half: most for half, most in enumerate(known) if most != MANY}

    table.play("draw")  # the ends are 1, and the shared line's 6: one of either, since then
    assert may(0) == {1: 1, 6: 1}
    assert may(1) == {}
    table.play("13")  # what else was drawn? Nothing.
    assert may(0) == {1: 0, 6: 0}
    table.play("pass")
    assert may(1) == {2: 0, 6: 0}


def test_who_draws_and_passes_may_have_drawn_anything_that_did_not_fit():
    table = at(["5-5 0-0", "4-4 1-4"], "6-1", "6-2", boneyard="3-3")
    may = table.cells[MAY : MAY + NUMBERS]
    may[5] = 0
    table.play("draw")
    assert may[[1, 5, 6]].tolist() == [1, 1, 1]
    table.play("pass")
    assert may[[1, 5, 6]].tolist() == [0, 1, 0]


@pytest.mark.parametrize("variant", VARIANTS)
def test_a_view_does_not_change_when_others_change_tiles(variant):
    """Nor with the boneyard, where everybody may have what it then has."""
    rng = Chance(6)
    changed = 0
    for players, highest in ((2, 6), (4, 9), (7, 12)):
        game = game_of(players=players, highest=highest, hands=2, **variant)
        for table, _ in refereed(game, 6, players):
            viewer = rng.below(players)
            view = table.view(viewer)
            hidden = np.flatnonzero(view["holder"] == HIDDEN).tolist()
            others = [seat for seat in (*range(players), BONEYARD) if seat != viewer]
            assert {NAMES[i] for i in hidden} == set().union(*(held(table, s) for s in others))
            assert {NAMES[i] for i in np.flatnonzero(view["holder"] == viewer)} == held(
                table, viewer
            )
            for _ in range(min(3, len(hidden))):
                other = table.copy()
                one, two = (HOLDER + rng.choice(hidden) for _ in range(2))
                other.cells[[one, two]] = other.cells[[two, one]]
                if game.flaw(other) is None:
                    assert other.view(viewer) == view
                    changed += other != table
    assert changed > 100


@pytest.mark.parametrize("variant", VARIANTS)
def test_nobody_sees_what_is_still_to_be_dealt_or_drawn(variant):
    game = game_of(players=3, highest=6, hands=2, **variant)
    rng = Chance(4)
    for table, _ in refereed(game, 4, 0):
        other = table.copy()
        other.cells[FUTURE : FUTURE + SEEDS] = [rng.below(1 << 15) for _ in range(SEEDS)]
        for seat in range(3):
            view = table.view(seat)
            assert (view["future"] == HIDDEN).all()
            assert other.view(seat) == view
            assert np.array_equal(other.view(seat).features(), view.features())
        worlds = [tuple(table.view(0).redeal(rng)["future"].tolist()) for _ in range(3)]
        assert len({*worlds, tuple(table["future"].tolist())}) == 4
