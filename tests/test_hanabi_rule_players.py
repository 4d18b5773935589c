"""Hanabi's rule players: every rule by hand, lists, the literature's players, the cheater."""

import numpy as np
import pytest

import kibitz
from kibitz.core.chance import Chance
from kibitz.core.errors import BadOption, KibitzError, Misuse, UnknownName
from kibitz.core.table import Table
from kibitz.games.hanabi.card_rules import (
    CRITICAL,
    DEAD,
    FACTS,
    FITS,
    KINDS,
    know_own,
)
from kibitz.games.hanabi.cards import (
    card_chances,
    count_unseen,
    is_critical,
    is_dead,
    is_playable,
)
from kibitz.games.hanabi.cells import (
    CARDS,
    DECK,
    DISCARD,
    DISCARDED,
    DRAWN,
    EMPTY,
    FIREWORK,
    HINT,
    LAST,
    MOST_HAND,
    NOTES,
    SLOT,
    STORMS,
    TOLD,
    VALUE,
    VALUES,
    copies_of,
)
from kibitz.games.hanabi.cheater import deck_left
from kibitz.games.hanabi.end_game import ALL, DESK, lay_out, points_to_come
from kibitz.games.hanabi.rule_lists import RULES, follow
from kibitz.games.hanabi.rule_players import (
    LISTS,
    RULE_LIST,
    RULE_PLAYERS,
    read_rules,
    write_rules,
)
from kibitz.games.hanabi.rules import flaw, give_hint
from kibitz.games.hanabi.simple import MOST_CARDS, recall

RED, YELLOW, GREEN, WHITE, BLUE = range(5)
SMALL = (
    {"colours": 2}, {"values": 2}, {"hand": 1}, {"notes": 1}, {"storms": 1},
    {"colours": 1, "values": 1}, {"colours": 2, "values": 2, "hand": 1, "notes": 1, "storms": 1},
)  # fmt: skip


def cards(text):
    return ["RYGWB".index(card[0]) * VALUES + int(card[1]) - 1 for card in text.split()]


def position(*hands, piles="", thrown="", notes=8, storms=0, **settings):
    """Set up a table: hands and thrown cards such as `R1 B5`, piles by their highest card."""
    game = kibitz.game("hanabi", players=len(hands), **settings)
    table = game.deal(seed=1)
    state = table.cells
    state[DISCARDED : DISCARDED + CARDS] = 0
    state[SLOT : SLOT + 5 * MOST_HAND] = EMPTY
    order = []
    for seat, hand in enumerate(hands):
        for place, card in enumerate(cards(hand)):
            state[SLOT + seat * MOST_HAND + place] = len(order)
            order.append(card)
    for top in cards(piles):
        state[FIREWORK + top // VALUES] = top % VALUES + 1
        order += [top - below for below in range(top % VALUES + 1)]
    for card in cards(thrown):
        state[DISCARDED + card] += 1
        order.append(card)
    state[DRAWN] = len(order)
    values = game.settings["values"]
    for colour in range(game.settings["colours"]):
        for value in range(values):
            card = colour * VALUES + value
            rest = copies_of(values, value) - order[: state[DRAWN]].count(card)
            assert rest >= 0
            order += [card] * rest
    state[DECK : DECK + len(order)] = order
    state[NOTES], state[STORMS] = notes, storms
    state[LAST] = len(hands) if state[DRAWN] == len(order) else 0
    assert flaw(table) is None
    return Table(game, state)


def hint(onward, what):
    return HINT + 10 * (onward - 1) + what


def fires(table, rules, seed=1):
    """Give the action that a list of rules takes, or None where no rule applies."""
    view = table.view()
    actions = np.array(view.legal, np.int32)
    place, action = follow(view.cells, actions, len(actions), read_rules(rules), Chance(seed).words)
    assert action in view.legal
    return None if place < 0 else int(action)


def all_fired(table, rules):
    return {fires(table, rules, seed) for seed in range(40)}


# --- rules about one's own cards -----------------------------------------------------------------


def test_what_is_known_of_own_cards_is_what_the_stochastic_cards_say():
    for seed in range(6):
        table = kibitz.game("hanabi", players=2 + seed % 4).deal(seed=seed)
        piers = RULE_PLAYERS["piers"](table.game)
        while not table.over:
            view = table.view().cells
            own, unseen, chances = np.zeros((5, FACTS)), np.zeros(CARDS, int), np.zeros(CARDS)
            count_unseen(view, unseen)
            for place in range(know_own(view, own)):
                serial = view[SLOT + table.seat * MOST_HAND + place]
                card_chances(unseen, view[TOLD + serial], chances)
                for fact, rule in ((FITS, is_playable), (DEAD, is_dead), (CRITICAL, is_critical)):
                    expected = sum(chances[card] for card in range(CARDS) if rule(view, card))
                    assert own[place, fact] == pytest.approx(expected)
                assert own[place, KINDS] == np.count_nonzero(chances)
            table.play(piers.choose(table.view()))


def test_play_safe_needs_all_identities_to_fit_and_play_known_a_single_one():
    table = position("B5 R1 G2", "Y4 Y3 W2", hand=3)
    assert fires(table, "play-safe") is None
    give_hint(table.cells, 0, VALUE + 0)
    assert fires(table, "play-safe") == 1
    assert fires(table, "play-known") is None
    give_hint(table.cells, 0, RED)
    assert fires(table, "play-known") == 1
    assert fires(position("R1 R2", "Y4 Y3", hand=2, open=True), "play-known") == 0


def test_play_probably_takes_the_likeliest_card_that_reaches_the_threshold():
    table = position("B5 R1 G2", "Y1 W1 G4", piles="R2 Y1", hand=3)
    give_hint(table.cells, 0, VALUE + 0)
    own = np.zeros((5, FACTS))
    know_own(table.view().cells, own)
    assert own[1, FITS] == pytest.approx(8 / 11)  # 3 G1, 2 W1, 3 B1 would fit; 2 R1, 1 Y1 not
    assert fires(table, "play-probably:0.72") == 1
    assert fires(table, "play-probably:0.73") is None
    assert fires(table, "play-probably:0") == 1


def test_play_just_hinted_heeds_hints_since_the_last_turn_only():
    table = position("B5 R1 G2", "Y4 R3 W2", "Y1 G1 W1", hand=3)
    assert fires(table, "play-just-hinted:0") is None
    table.play(hint(1, RED))
    assert fires(table, "play-just-hinted:0") == 1  # seat 1 is told of its R3
    table.play(hint(2, GREEN))  # from seat 1 to seat 0
    assert fires(table, "play-just-hinted:0") is None  # seat 2 heard nothing
    table.play(hint(1, VALUE + 4))  # seat 2 tells seat 0 of its five
    assert fires(table, "play-just-hinted:0.01") == 2  # G2 may be a one, B5 cannot fit
    table.play(hint(1, VALUE + 3)).play(hint(1, VALUE + 0)).play(0)
    assert fires(table, "play-just-hinted:0") is None


def test_discards_choose_as_they_say():
    table = position("G3 R1 B5", "Y4 G3 W2", piles="R2", thrown="Y4", hand=3, notes=4)
    assert fires(table, "discard-dead") is None
    assert fires(table, "discard-oldest") == DISCARD
    assert fires(table, "discard-unhinted") == DISCARD
    assert all_fired(table, "discard-any") == {DISCARD, DISCARD + 1, DISCARD + 2}
    give_hint(table.cells, 0, VALUE + 2)
    assert fires(table, "discard-unhinted") == DISCARD + 1
    assert fires(table, "discard-duplicate") is None
    give_hint(table.cells, 0, GREEN)
    assert fires(table, "discard-duplicate") == DISCARD  # G3, which seat 1 has too
    give_hint(table.cells, 0, RED)
    give_hint(table.cells, 0, VALUE + 0)
    assert fires(table, "discard-dead") == DISCARD + 1
    assert fires(table, "discard-probably:1") == DISCARD + 1
    give_hint(table.cells, 0, VALUE + 4)
    assert fires(table, "discard-expendable") == DISCARD
    for rule in RULES:
        if rule.name.startswith("discard"):
            table.cells[NOTES] = 8
            assert fires(table, rule.name) is None  # all notes are there


def test_discard_probably_takes_the_likeliest_to_be_dead():
    table = position("G3 R1 B5", "Y4 G3 W2", piles="R2 Y1 G1 W1", hand=3, notes=4)
    give_hint(table.cells, 0, VALUE + 0)
    assert fires(table, "discard-probably:0.6") == DISCARD + 1
    assert fires(table, "discard-probably:0.9") is None  # it may be B1


# --- rules about hints ---------------------------------------------------------------------------


def test_tell_playable_draws_any_fact_and_tell_playable_new_a_new_one():
    table = position("G3 R1 B5", "Y4 G1 W2", hand=3)
    assert all_fired(table, "tell-playable") == {hint(1, GREEN), hint(1, VALUE)}
    give_hint(table.cells, 1, GREEN)
    assert all_fired(table, "tell-playable") == {hint(1, GREEN), hint(1, VALUE)}
    assert all_fired(table, "tell-playable-new") == {hint(1, VALUE)}
    give_hint(table.cells, 1, VALUE)
    assert fires(table, "tell-playable-new") is None
    table = position("G3 R1 B5", "Y4 G2 W2", "R1 B1 G1", hand=3)
    assert fires(table, "tell-playable") is None  # the next player only


def test_tell_useful_gives_the_value_then_the_colour_to_the_nearest():
    table = position("G3 R1 B5", "Y4 G2 W2", "Y3 B1 G1", hand=3)
    assert fires(table, "tell-useful") == hint(2, VALUE)
    give_hint(table.cells, 2, VALUE)
    assert fires(table, "tell-useful") == hint(2, BLUE)
    give_hint(table.cells, 2, BLUE)
    assert fires(table, "tell-useful") == hint(2, GREEN)
    table.cells[NOTES] = 0
    assert fires(table, "tell-useful") is None


def test_tell_sure_makes_most_cards_surely_playable():
    table = position("G3 R1 B5", "Y1 G2 W2", "Y1 B1 R4", hand=3)
    assert fires(table, "tell-sure") == hint(2, VALUE)  # two ones, where seat 1 has one
    give_hint(table.cells, 2, VALUE)
    assert fires(table, "tell-sure") == hint(1, VALUE)
    give_hint(table.cells, 1, VALUE)
    assert fires(table, "tell-sure") is None  # no second hint can add anything


def test_tell_useless_and_tell_dispensable():
    table = position("G3 R1 B5", "Y1 G2 W2", piles="G2 Y1", hand=3)
    assert fires(table, "tell-useless") == hint(1, VALUE)
    assert fires(table, "tell-dispensable") is None  # one fact is not enough
    give_hint(table.cells, 1, GREEN)
    assert fires(table, "tell-dispensable") == hint(1, VALUE + 1)
    give_hint(table.cells, 1, VALUE + 1)
    assert fires(table, "tell-dispensable") is None
    table = position("G3 R1 B5", "Y1 G2 W2", piles="R1 Y1 G1 W1 B1", hand=3)
    assert fires(table, "tell-dispensable") == hint(1, VALUE)


def test_tell_critical_and_tell_number():
    table = position("G3 R1 B5", "Y1 G2 W5", thrown="G2", hand=3)
    assert fires(table, "tell-critical") == hint(1, VALUE + 1)
    assert fires(table, "tell-number:5") == hint(1, VALUE + 4)
    give_hint(table.cells, 1, VALUE + 4)
    assert fires(table, "tell-number:5") is None
    assert fires(table, "tell-number:4") is None


def test_tell_most_counts_cards_and_tell_most_new_what_is_new():
    table = position("G3 R1 B5", "Y1 Y2 W5", "B1 B3 B4", hand=3)
    assert fires(table, "tell-most") == fires(table, "tell-most-new") == hint(2, BLUE)
    give_hint(table.cells, 2, BLUE)
    assert fires(table, "tell-most") == hint(2, BLUE)
    assert fires(table, "tell-most-new") == hint(1, YELLOW)


def test_tell_any_and_tell_new():
    table = position("G3 R1", "Y1 Y2", "B1 B3", hand=2)
    everything = {hint(1, YELLOW), hint(1, VALUE), hint(1, VALUE + 1)}
    assert all_fired(table, "tell-any") == all_fired(table, "tell-new") == everything
    give_hint(table.cells, 1, YELLOW)
    assert all_fired(table, "tell-any") == everything
    assert all_fired(table, "tell-new") == everything - {hint(1, YELLOW)}


# --- lists ---------------------------------------------------------------------------------------


def test_rules_are_tried_in_order_under_their_conditions():
    table = position("B5 R1 G2", "Y4 Y3 W2", hand=3, notes=3)
    assert fires(table, "play-safe,tell-useful,discard-oldest") == DISCARD
    assert fires(table, "tell-most,discard-oldest") == hint(1, YELLOW)
    assert fires(table, "tell-most@notes:2,discard-oldest") == DISCARD
    assert fires(table, "tell-most@notes:3,discard-oldest") == hint(1, YELLOW)
    assert fires(table, "play-probably:0@storms:3,discard-oldest") == 0
    table.cells[STORMS] = 1
    assert fires(table, "play-probably:0@storms:3,discard-oldest") == DISCARD
    assert fires(table, "play-probably:0@deck:40,discard-oldest") == DISCARD
    assert fires(table, "play-probably:0@deck:44@storms:2,discard-oldest") == 0


def test_what_no_rule_covers_is_a_hint_by_lot_or_anything():
    table = position("B5 R1 G2", "Y4 Y3 W2", hand=3)
    view = table.view()
    weights, options = read_rules("play-safe"), np.array(view.legal, np.int32)
    drawn = [
        follow(view.cells, options, len(options), weights, Chance(seed).words) for seed in range(40)
    ]
    assert {place for place, _ in drawn} == {-1}
    assert {action for _, action in drawn} == {action for action in view.legal if action >= HINT}
    assert all_fired(table, "anything") == set(view.legal)


@pytest.mark.parametrize("name", LISTS)
def test_lists_are_written_as_they_are_read(name):
    assert ",".join(write_rules(read_rules(LISTS[name]))) == LISTS[name]


def test_bad_lists_say_what_is_valid():
    game = kibitz.game("hanabi")
    with pytest.raises(UnknownName, match=r"Did you mean 'play-safe'.*discard-oldest"):
        RULE_LIST(game, rules="play-saef")
    with pytest.raises(UnknownName, match=r"condition.*deck, notes, storms"):
        RULE_LIST(game, rules="play-safe@lives:2")
    for bad in ("", " , ", "play-safe:0.5", "play-probably:2", "play-probably:x", "tell-number:1.5",
                "tell-number:0", "play-safe@notes", ",".join(["play-safe"] * 51)):  # fmt: skip
        with pytest.raises(BadOption):
            RULE_LIST(game, rules=bad)
    assert issubclass(BadOption, KibitzError)


def test_a_list_of_ones_own_plays():
    game = kibitz.game("hanabi", players=3)
    agents = [RULE_LIST(game, rules="play-safe, tell-sure, discard-oldest") for _ in range(3)]
    assert kibitz.match(game, agents, games=50, seed=1).agents[0].points.mean > 10


# --- players -------------------------------------------------------------------------------------


def made(name, **settings):
    return kibitz.game("hanabi", **settings, open=name == "cheater")


def play_match(name, games, **settings):
    game = made(name, **settings)
    agents = [RULE_PLAYERS[name](game) for _ in range(game.players)]
    return kibitz.match(game, agents, games=games, seed=1).agents[0].points.mean


@pytest.mark.parametrize("name", RULE_PLAYERS)
def test_players_play_legal_moves_at_all_tables(name):
    for players in range(2, 6):
        for settings in ({}, *SMALL):
            play_match(name, 4, players=players, **settings)  # a match refuses illegal moves


@pytest.mark.parametrize("name", RULE_PLAYERS)
def test_players_explain_what_they_do_and_change_nothing(name):
    game = made(name, players=4)
    agent, table = RULE_PLAYERS[name](game), game.deal(seed=4)
    while not table.over:
        view = table.view()
        cells, words = view.cells.copy(), agent.rng.words.copy()
        opinion = agent.explain(view)
        assert (view.cells == cells).all()
        assert (agent.rng.words == words).all()
        assert sorted(thought.action for thought in opinion.thoughts) == view.legal
        assert opinion.action == agent.choose(view)
        assert opinion.reason.endswith(".")
        table.play(opinion.action)


def test_the_rule_that_fired_is_named():
    table = position("B5 R1 G2", "Y4 Y3 W2", hand=3, notes=3)
    piers = RULE_PLAYERS["piers"](table.game)
    assert "Rule 7 of 9, discard-oldest" in piers.explain(table.view()).reason
    give_hint(table.cells, 0, VALUE)
    reason = piers.explain(table.view()).reason
    assert "Rule 2 of 9, play-safe" in reason
    assert "Play 2: surely fits." in reason
    none = RULE_LIST(table.game, rules="play-known")
    assert "None of its 1 rules" in none.explain(table.view()).reason


# Self-play of 2,000 games, 2 to 5 seats, less a little more than three standard errors at 300.
@pytest.mark.parametrize(
    ("name", "least"),
    [
        ("iggi", (17.1, 16.6, 15.8, 14.5)),
        ("internal", (10.6, 10.5, 9.5, 9.3)),
        ("outer", (13.4, 13.4, 12.0, 11.5)),
        ("piers", (17.0, 16.9, 16.4, 15.3)),
        ("van-den-bergh", (13.1, 16.7, 16.2, 15.3)),
        ("simple", (17.2, 17.9, 18.7, 18.5)),
    ],
)
def test_players_are_as_good_as_they_should_be(name, least):
    for players, points in enumerate(least, 2):
        assert play_match(name, 300, players=players) > points


# --- simple --------------------------------------------------------------------------------------


def test_a_hint_promises_what_could_fit_when_it_was_given():
    table = position("B5 R2 G2", "Y1 Y5 W2", hand=3)
    promised = np.zeros(MOST_CARDS, np.bool_)
    table.play(hint(1, VALUE + 4))  # nothing at 4: the five is merely kept
    recall(table.view().cells, promised)
    assert not promised.any()
    table.undo().play(hint(1, YELLOW))
    recall(table.view().cells, promised)
    assert np.flatnonzero(promised).tolist() == [3, 4]


def test_simple_promises_nothing_false_and_plays_what_is_promised():
    table = position("B5 R2 G2", "Y1 Y5 W2", hand=3)
    simple = RULE_PLAYERS["simple"](table.game)
    assert simple.choose(table.view()) == hint(1, VALUE)  # yellow would promise the five
    table.play(hint(1, VALUE))
    assert simple.choose(table.view()) == 0
    assert "surely fits" in simple.explain(table.view()).reason
    table.undo().play(hint(1, YELLOW))
    assert simple.choose(table.view()) == 0
    assert "means: play it" in simple.explain(table.view()).reason


def test_simple_never_promises_two_of_a_kind():
    table = position("B5 R2 G2", "Y1 Y1 W2", hand=3, notes=7)
    simple = RULE_PLAYERS["simple"](table.game)
    assert simple.choose(table.view()) == DISCARD
    table.cells[NOTES] = 8
    assert simple.choose(table.view()) == hint(1, VALUE + 1)  # no 2 fits, so it promises nothing
    assert "misleads least" in simple.explain(table.view()).reason


# --- cheater -------------------------------------------------------------------------------------


def test_the_cheater_needs_the_open_game():
    game = kibitz.game("hanabi")
    assert "--set open=yes" in RULE_PLAYERS["cheater"].unfit(game)
    assert RULE_PLAYERS["cheater"].unfit(kibitz.game("hanabi", open=True)) is None
    for who in (RULE_PLAYERS["cheater"], "cheater"):
        with pytest.raises(Misuse, match=r"cannot play hanabi.*open=yes"):
            kibitz.match(game, [who], games=1)


def test_the_cheater_plays_low_spares_dead_cards_and_passes_the_turn():
    def chosen(*hands, **settings):
        table = position(*hands, hand=3, open=True, **settings)
        return RULE_PLAYERS["cheater"](table.game).choose(table.view())

    assert chosen("R2 Y1 B4", "G4 G3 W2", piles="R1") == 1
    assert chosen("R1 Y4 B4", "G4 G3 W2", piles="R1", notes=5) == DISCARD  # dead
    assert chosen("R3 Y4 R3", "G4 G3 W2", notes=5) in (DISCARD, DISCARD + 2)  # held twice
    assert chosen("R3 Y4 G3", "G4 G3 W2", notes=5) == DISCARD + 2  # seat 1 has it too
    assert chosen("R3 Y4 G3", "G4 W3 W2", notes=5) >= HINT
    assert chosen("B5 Y4 G3", "G4 W3 W2", thrown="Y4", notes=0) == DISCARD + 2  # not the last ones


def best_possible(table, idle=0):
    """Find the most points that can be made from here by trying everything; the deck is known."""
    if table.over:
        return table.points[0]
    best = 0.0
    hinted = False
    for action in table.legal:
        if action >= HINT:
            if hinted or (not table["last"] and idle + 1 == table.game.players):
                continue
            hinted = True
        after = table.copy().play(action)
        best = max(best, best_possible(after, idle + 1 if action >= HINT else 0))
    return best


def test_the_end_is_searched_as_well_as_by_trying_everything():
    game = kibitz.game(
        "hanabi", players=3, colours=2, values=3, hand=2, notes=2, open=True, bomb="pile"
    )
    random, searched = kibitz.agent("random", game), 0
    for seed in range(60):
        table = game.deal(seed=seed)
        while not table.over and deck_left(table.cells) > 1:
            table.play(random.choose(table.view()))
        if table.over or table["storms"]:
            continue
        searched += 1
        desk = np.zeros(DESK, np.int64)
        lay_out(table.view().cells, desk)
        more = points_to_come(
            desk, table.seat, table["notes"], deck_left(table.cells), table["last"], 0, ALL
        )
        assert table["firework"].sum() + more == best_possible(table)
    assert searched > 5


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_the_cheater_is_a_ceiling(players):
    assert play_match("cheater", 1_000, players=players) > (24.76 if players == 2 else 24.92)
