"""The language of rules: text, matching, and what Hanabi's words mean."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kibitz import match
from kibitz.core.chance import Chance
from kibitz.core.compiled import in_python, pointer
from kibitz.core.errors import KibitzError
from kibitz.core.game import HIDDEN
from kibitz.core.matching import (
    CONDITION,
    FIRST_CONDITION,
    NONE,
    ROW,
    action_of,
    first_to_act,
    targets_of,
)
from kibitz.core.registry import find_agent, find_game
from kibitz.games.hanabi.cards import allows, hand_chances, is_critical, is_dead, is_playable
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOUR_NAMED,
    DECK,
    DISCARD,
    DISCARDED,
    EMPTY,
    HINT,
    HINTS,
    MOST_HAND,
    SLOT,
    TOLD,
    VALUE,
    VALUE_NAMED,
    VALUES,
    copies_of,
)
from kibitz.games.hanabi.tell_rules import is_known
from kibitz.learners.classifier.agent import kind_of, read_rules
from kibitz.learners.classifier.breeding import new_rule
from kibitz.learners.classifier.lexicon import GENE, lexicon_of
from tests.lengths import long_but

HANABI = find_game("hanabi")
LANGUAGE = HANABI.language
LEXICON = lexicon_of(LANGUAGE)


def random_rule(seed: int) -> np.ndarray:
    gene = np.zeros(GENE, np.float32)
    new_rule(Chance(seed).words, LEXICON, gene)
    return gene[:ROW].copy()


def tables(players: int, deals: int = 4, who: str = "piers"):
    """Give a table at every turn of some games, as they are played."""
    game = HANABI.having(players=players)
    for deal in range(deals):
        table = game.deal(seed=7, deal=deal)
        agents = [find_agent(who, game) for _ in range(players)]
        for seat, agent in enumerate(agents):
            agent.begin(seat, Chance(deal, seat))
        while not table.over:
            yield table
            table.play(agents[table.seat].choose(table.view()))


class Seen:
    """The facts of a view, by name."""

    def __init__(self, view) -> None:
        self.facts = np.zeros(LANGUAGE.facts, np.float32)
        pointer(LANGUAGE.see)(view.cells, self.facts, (1 << len(LANGUAGE.groups)) - 1)

    def things(self, name: str) -> list[dict[str, float]]:
        place = [group.name for group in LANGUAGE.groups].index(name)
        group = LANGUAGE.groups[place]
        start, most = LANGUAGE.group_table[place]
        names = [word.name for word in group.words]
        names += [deed.name for deed in LANGUAGE.deeds if deed.group == name]
        return [
            {word: float(self.facts[start + 1 + i * most + thing]) for i, word in enumerate(names)}
            for thing in range(int(self.facts[start]))
        ]


# --- text ----------------------------------------------------------------------------------------


@given(st.integers(0, 2**40))
@settings(max_examples=300)
def test_a_rule_is_the_same_after_being_written_and_read(seed):
    row = random_rule(seed)
    text = LANGUAGE.write(row)
    assert np.array_equal(LANGUAGE.read(text), row), text


@pytest.mark.parametrize(
    "text",
    [
        "play [playable >= 60%]",
        "when notes <= 3 and 2+ own [hinted, playable >= 50%]: discard [dead >= 80%, most old]",
        "when no fellow [critical, chop, onward = 1]: hint [focus playable]",
        "when under 3 table [colour = red, value != 5]: play",
        "when not (storms >= 1): hint value [not value told, least onward]",
        "when drawn playable >= 12%: discard",
    ],
)
def test_text_that_people_would_write(text):
    assert LANGUAGE.write(LANGUAGE.read(text)) == text


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("plai [playable >= 60%]", "Did you mean 'play'"),
        ("play [playble >= 60%]", "Did you mean 'playable'"),
        ("play [playable >= 160%]", "between 0% and 100%"),
        ("play [playable]", "needs a comparison"),
        ("play [hinted >= 1]", "cannot be compared"),
        ("play [most hinted]", "no most of it"),
        ("when 9+ own [hinted]: play", "at most 5"),
        ("when note <= 3: play", "Did you mean 'notes'"),
        ("notes <= 3: play", "begins with 'when'"),
        ("play [newest, oldest, hinted, chop, focus, was chop, old = 1]", "At most 6"),
        ("when table [colour = pink]: play", "pink"),
        ("", "deed"),
    ],
)
def test_text_that_cannot_be_read_says_why(text, says):
    with pytest.raises(KibitzError, match="(?s).*" + says.replace("(", r"\(")):
        LANGUAGE.read(text)


# --- matching ------------------------------------------------------------------------------------


def holds_slowly(things: list[dict[str, float]], tests, group) -> list[int]:
    """Give which things pass, in plain words."""
    found = []
    for i, thing in enumerate(things):
        good = True
        for sense, word, bound in tests:
            value = thing[group.words[int(word)].name]
            good &= {
                1: value >= bound, 2: value <= bound, 3: value == bound, 4: value != bound,
            }.get(int(sense), True)  # fmt: skip
        if good:
            found.append(i)
    return found


def test_matching_is_what_the_text_says():
    rows = np.stack([random_rule(seed) for seed in range(400)])
    names = [group.name for group in LANGUAGE.groups]
    acted = 0
    for number, table in enumerate(tables(3, deals=2)):
        seen = Seen(table.view())
        legal = table.legal
        for rule in range(number % 5, len(rows), 5):
            row = rows[rule]
            deed = LANGUAGE.deeds[int(row[0])]
            conditions = True
            for at in range(FIRST_CONDITION, ROW, CONDITION):
                if row[at] == 0:
                    break
                group = LANGUAGE.groups[int(row[at]) - 1]
                tests = [t for t in row[at + 2 : at + CONDITION].reshape(-1, 3) if t[0]]
                n = len(holds_slowly(seen.things(group.name), tests, group))
                least = int(row[at + 1])
                conditions &= n >= least if least > 0 else n < -least
            group = LANGUAGE.groups[names.index(deed.group)]
            things = seen.things(deed.group)
            tests = [t for t in row[1:FIRST_CONDITION].reshape(-1, 3) if t[0]]
            able = [
                i for i in holds_slowly(things, tests, group) if things[i][deed.name] >= 0
            ]  # fmt: skip
            args = (seen.facts, LANGUAGE.group_table, LANGUAGE.deed_table, rows, rule)
            assert sum(1 << i for i in able) == targets_of(*args)

            def rank(i, tests=tests, things=things, group=group):
                signs = {1: -1, 5: -1, 2: 1, 6: 1}
                return [
                    signs.get(int(sense), 0) * things[i][group.words[int(word)].name]
                    for sense, word, _ in tests
                ] + [i]

            wanted = NONE
            if conditions and able:
                wanted = int(things[min(able, key=rank)][deed.name])
                assert wanted in legal
                acted += 1
            assert action_of(*args) == wanted == in_python(action_of)(*args)
    assert acted > 1000


def test_the_first_rule_that_acts_is_taken():
    table = HANABI.deal(seed=1)
    facts = Seen(table.view()).facts
    rows = LANGUAGE.read_all(["when storms >= 1: play", "discard", "hint", "play [most old]"])
    args = (facts, LANGUAGE.group_table, LANGUAGE.deed_table, rows, len(rows))
    place, action = first_to_act(*args, NONE)
    assert place == 2  # no storm yet, and with all notes there nothing may be discarded
    assert action >= HINT
    assert first_to_act(*args, 2) == (3, 0)
    assert first_to_act(*args, 3) == (NONE, NONE)


# --- Hanabi's words ------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3, 5])
def test_own_cards(players):
    for table in tables(players):
        view = table.view()
        chances = np.zeros((MOST_HAND, CARDS))
        held = hand_chances(view.cells, chances)
        own = Seen(view).things("own")
        assert len(own) == held
        for place, words in enumerate(own):
            for name, sort in (
                ("playable", is_playable), ("dead", is_dead), ("critical", is_critical),
            ):  # fmt: skip
                wanted = sum(chances[place, c] for c in range(CARDS) if sort(view.cells, c))
                assert words[name] == pytest.approx(wanted, abs=1e-6)
            wanted = [c for c in range(CARDS) if not is_dead(view.cells, c)]
            likely = sum(chances[place, c] for c in wanted)
            fitting = sum(chances[place, c] for c in wanted if is_playable(view.cells, c))
            assert words["playable if wanted"] == pytest.approx(
                fitting / likely if likely > 1e-9 else 0.0, abs=1e-6
            )
            assert words["green"] == pytest.approx(chances[place, 10:15].sum(), abs=1e-6)
            assert words["4"] == pytest.approx(chances[place, 3::5].sum(), abs=1e-6)
            told = int(view.cells[TOLD + view.cells[SLOT + view.seat * MOST_HAND + place]])
            assert words["colour told"] == bool(told & COLOUR_NAMED)
            assert words["value told"] == bool(told & VALUE_NAMED)
            assert words["hinted"] == bool(told & (COLOUR_NAMED | VALUE_NAMED))
            assert words["old"] == held - 1 - place
            assert (words["play"], words["discard"] in (NONE, DISCARD + place)) == (place, True)


@pytest.mark.parametrize("players", [2, 4])
def test_when_and_how_a_card_was_hinted(players):
    """Follow every card by its serial number, and compare with what is read off the log."""
    last: dict[int, tuple[int, bool, bool, bool, int]] = {}
    ply = 0
    before = HANABI.deal(seed=0)
    for table in tables(players):
        if table.plies == 0:
            last, ply = {}, 0
        seats = players
        while ply < table.plies:  # one more action has been played
            move = table.history[ply]
            if move.action >= HINT:
                onward, hint = divmod(move.action - HINT, HINTS)
                other = (move.seat + onward + 1) % seats
                cells = before.cells
                serials = [
                    int(s) for s in cells[SLOT + other * MOST_HAND : SLOT + (other + 1) * MOST_HAND]
                    if s < 50
                ]  # fmt: skip
                cards = [int(cells[DECK + s]) for s in serials]
                touched = [
                    s for s, c in zip(serials, cards, strict=True)
                    if hint in (c // VALUES, VALUE + c % VALUES)
                ]  # fmt: skip
                unhinted = [s for s in serials if s not in last]
                fresh = [s for s in touched if s not in last]
                focus = (fresh or touched)[-1]
                for s in touched:
                    chop = bool(unhinted) and s == unhinted[0]
                    last[s] = (ply, s == touched[-1], s == focus, chop, len(touched))
            ply += 1
        before = table.copy()
        seen = Seen(table.view())
        own = [
            int(s) for s in table.cells[SLOT + table.seat * MOST_HAND :][:MOST_HAND] if s < 50
        ]  # fmt: skip
        for serial, words in zip(own, seen.things("own"), strict=True):
            if serial in last:
                when, newest, focus, chop, together = last[serial]
                assert words["since hint"] == min(40, table.plies - when)
                assert words["newest of hint"] == newest
                assert words["focus"] == focus
                assert words["was chop"] == chop
                assert words["with it"] == together
            else:
                assert words["since hint"] == 40
                assert words["hinted"] == words["focus"] == words["with it"] == 0


def read_hints(table, by_chop: bool) -> dict[int, set[int]]:
    """Read what hints meant, as the seat to move can: the identities of cards by serial number.

    Done anew, with sets and whole tables, from what the words say.
    """
    known = table.view().cells
    meant: dict[int, set[int]] = {}
    for before, action in table.record().steps():
        if action >= HINT:
            giver = before.seat
            onward, hint = divmod(action - HINT, HINTS)
            taker = (giver + onward + 1) % before.game.players
            meant.update(read_hint(before, known, meant, giver, taker, hint, by_chop))
    return meant


def hand_of(cells, seat: int) -> list[int]:
    return [int(s) for s in cells[SLOT + seat * MOST_HAND :][:MOST_HAND] if s != EMPTY]


def read_hint(before, known, meant, giver, taker, hint, by_chop) -> dict[int, set[int]]:
    """Give the focus of a hint and what it can mean, from what is known by now."""
    cells = before.cells
    fits = {c for c in range(CARDS) if is_playable(cells, c)}
    promised: set[int] = set()
    for holder in range(before.game.players):
        for serial in hand_of(cells, holder):
            if serial in meant:
                ids = {c for c in meant[serial] if allows(known[TOLD + serial], c)}
                if holder not in (giver, taker) and known[DECK + serial] != HIDDEN:
                    promised.add(int(known[DECK + serial]))
                elif len(ids) == 1:
                    promised |= ids
    while fits & promised:
        fits = fits - promised | {c + 1 for c in fits & promised if c % VALUES + 1 < VALUES}
    hand = hand_of(cells, taker)
    hinted = {s for s in hand if cells[TOLD + s] & (COLOUR_NAMED | VALUE_NAMED)}
    touched = [s for s in hand if hint in (cells[DECK + s] // VALUES, VALUE + cells[DECK + s] % 5)]
    focus = ([s for s in touched if s not in hinted] or touched)[-1]
    chop = next((s for s in hand if s not in hinted), None)
    if by_chop and chop in touched:
        return {chop: fits | {c for c in range(CARDS) if is_critical(cells, c)}}
    return {focus: fits}


@pytest.mark.parametrize("players", [2, 3, 5])
def test_what_hints_meant(players):
    chances = np.zeros((MOST_HAND, CARDS))
    told = 0
    for number, table in enumerate(tables(players, deals=4)):
        if number % 2:
            continue
        view = table.view()
        hand_chances(view.cells, chances)
        seen = Seen(view)
        for word, by_chop in (("as meant", False), ("by chop", True)):
            meant = read_hints(table, by_chop)
            own = seen.things("own")
            for place, serial in enumerate(hand_of(view.cells, view.seat)):
                likely = {c: chances[place, c] for c in meant.get(serial, ())}
                total = sum(likely.values())
                fits = sum(p for c, p in likely.items() if is_playable(view.cells, c))
                dead = sum(p for c, p in likely.items() if is_dead(view.cells, c))
                chance = (fits / total, dead / total) if total > 1e-9 else (0.0, 0.0)
                found = own[place][f"playable {word}"], own[place][f"dead {word}"]
                assert found == pytest.approx(chance, abs=1e-6)
                told += total > 0.0
            for words in seen.things("tell"):
                onward, hint = divmod(int(words["hint"]) - HINT, HINTS)
                other = (view.seat + onward + 1) % players
                ((focus, ids),) = read_hint(
                    table, view.cells, meant, view.seat, other, hint, by_chop
                ).items()
                name = "true by chop" if by_chop else "focus as meant"
                assert words[name] == (int(view.cells[DECK + focus]) in ids)
    assert told > 100


def sure_if_wanted(cells, seat: int) -> set[int]:
    """Give the hinted cards of a hand that surely fit if they are not dead, for all to know."""
    found = set()
    for serial in cells[SLOT + seat * MOST_HAND :][:MOST_HAND]:
        if serial == EMPTY or not cells[TOLD + serial] & (COLOUR_NAMED | VALUE_NAMED):
            continue
        wanted = [
            c for c in range(CARDS)
            if allows(cells[TOLD + serial], c) and not is_dead(cells, c)
            and cells[DISCARDED + c] < copies_of(VALUES, c % VALUES)
        ]  # fmt: skip
        if wanted and all(is_playable(cells, c) for c in wanted):
            found.add(int(serial))
    return found


@pytest.mark.parametrize("players", [2, 5])
def test_hints_and_cards_of_others(players):
    for table in tables(players, deals=2):
        view, seen = table.view(), Seen(table.view())
        cells = view.cells
        hints = {int(words["hint"]): words for words in seen.things("tell")}
        assert sorted(hints) == [action for action in table.legal if action >= HINT]
        for action, words in hints.items():
            onward, hint = divmod(action - HINT, HINTS)
            other = (view.seat + onward + 1) % players
            hand = [
                (int(cells[DECK + s]), int(cells[TOLD + s]))
                for s in cells[SLOT + other * MOST_HAND :][:MOST_HAND] if s < 50
            ]  # fmt: skip
            touched = [
                (c, t) for c, t in hand if hint in (c // VALUES, VALUE + c % VALUES)
            ]  # fmt: skip
            fresh = [(c, t) for c, t in touched if not t & (COLOUR_NAMED | VALUE_NAMED)]
            focus = (fresh or touched)[-1][0]
            assert words["onward"] == onward + 1
            assert words["names colour"] == (hint < VALUE)
            assert words["cards"] == len(touched)
            assert words["new cards"] == len(fresh)
            assert words["playables"] == sum(is_playable(cells, c) for c, _ in touched)
            assert words["new playables"] == sum(is_playable(cells, c) for c, _ in fresh)
            assert words["new criticals"] == sum(is_critical(cells, c) for c, _ in fresh)
            assert words["new deads"] == sum(is_dead(cells, c) for c, _ in fresh)
            assert words["newest playable"] == is_playable(cells, touched[-1][0])
            assert words["focus playable"] == is_playable(cells, focus)
            assert words["focus critical"] == is_critical(cells, focus)
            then = sure_if_wanted(table.copy().play(action).cells, other)
            told_so = then - sure_if_wanted(table.cells, other)
            fitting = sum(is_playable(cells, int(cells[DECK + s])) for s in told_so)
            assert words["makes playable if wanted"] == fitting
            assert words["misleads if wanted"] == len(told_so) - fitting
            assert words["informs"] == sum(not is_known(t, hint) for _, t in touched)
        for words in seen.things("fellow"):
            card = int(words["colour"]) * VALUES + int(words["value"]) - 1
            assert words["playable"] == is_playable(cells, card)
            assert words["dead"] == is_dead(cells, card)
            assert words["critical"] == is_critical(cells, card)


def test_sight_is_the_same_compiled_and_not():
    for number, table in enumerate(tables(4, deals=1)):
        if number % 9 == 0:
            view = table.view()
            compiled, plain = (np.zeros(LANGUAGE.facts, np.float32) for _ in range(2))
            LANGUAGE.see(view.cells, compiled, 255)
            in_python(LANGUAGE.see)(view.cells, plain, 255)
            assert np.allclose(compiled, plain, atol=1e-6)


@pytest.mark.parametrize("name", ["iggi", "piers"])
@pytest.mark.parametrize("players", long_but([2, 5], range(2, 6)))
def test_the_language_suffices_for_published_players(name, players):
    """Written by hand, they score as the compiled ones do; the aim is half a point."""
    game = HANABI.having(players=players)
    kind = kind_of(game, read_rules(f"docs/rules/{name}.rules", game))
    written = match(game, [kind] * players, games=2000, seed=5).agents[0].points.mean
    compiled = match(game, [name] * players, games=2000, seed=5).agents[0].points.mean
    assert abs(written - compiled) < 0.5
