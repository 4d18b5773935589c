"""What Hanabi's words say of other players, the next card and the piles.

Every position is replayed with lists and sets from the cards and the moves alone, and the words are
worked out anew from that; only what a hint meant is read as in `test_language`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import pytest

from kibitz.core.chance import Chance
from kibitz.core.game import Game
from kibitz.core.registry import find_agent
from kibitz.core.table import Table
from kibitz.games.hanabi.cells import COLOURS, DECK, DISCARD, HINT, HINTS, VALUE, VALUES
from kibitz.games.hanabi.vocabulary import NEXT_CARD, PLAYER_WORDS
from kibitz.games.hanabi.words import COLOUR_NAMES
from tests.test_language import HANABI, Seen, read_hints

Kind = tuple[int, int]  # colour and value, both from 0


@dataclass(slots=True)
class Card:
    """A card in a hand, and what hints have said of it."""

    serial: int
    kind: Kind
    may_be: set[Kind]
    hinted: bool = False
    focus: bool = False  # of the last hint that pointed it out
    when: int = -1  # the ply of that hint


@dataclass(slots=True)
class Replay:
    """A game up to now, from the deck and the moves."""

    table: Table
    deck: list[Card] = field(default_factory=list)
    hands: list[list[Card]] = field(default_factory=list)
    played: list[Kind] = field(default_factory=list)
    thrown: list[Kind] = field(default_factory=list)  # storms too
    notes: int = 0
    storms: int = 0
    turns_left: int = 0  # once the deck is empty

    def __post_init__(self) -> None:
        settings = self.table.game.settings
        kinds = set(self.copies())
        size = sum(self.copies().values())
        cards = self.table.cells[DECK : DECK + size]
        self.deck = [
            Card(serial, divmod(int(card), VALUES), set(kinds)) for serial, card in enumerate(cards)
        ]
        assert Counter(card.kind for card in self.deck) == self.copies()
        seats = settings["players"]
        self.notes = settings["notes"]
        held = settings["hand"] or (5 if seats < 4 else 4)
        self.hands = [[self.deck.pop(0) for _ in range(held)] for _ in range(seats)]
        for ply, move in enumerate(self.table.history):
            assert move.seat == ply % seats
            self.move(ply, move.seat, move.action)

    def move(self, ply: int, seat: int, action: int) -> None:
        """Play, discard or hint."""
        self.turns_left -= not self.deck
        if action >= HINT:
            onward, hint = divmod(action - HINT, HINTS)
            self.notes -= 1
            self.hint(ply, self.hands[(seat + onward + 1) % len(self.hands)], hint)
            return
        card = self.hands[seat].pop(action % DISCARD)
        fits = action < DISCARD and card.kind in self.fitting()
        self.storms += action < DISCARD and not fits
        (self.played if fits else self.thrown).append(card.kind)
        settings = self.table.game.settings
        if action >= DISCARD or (fits and card.kind[1] == settings["values"] - 1):
            self.notes = min(settings["notes"], self.notes + 1)
        if self.deck:
            self.hands[seat].append(self.deck.pop(0))
            self.turns_left = 0 if self.deck else len(self.hands)

    def hint(self, ply: int, hand: list[Card], hint: int) -> None:
        """Name a colour or a value."""

        def has(kind: Kind) -> bool:
            return hint in (kind[0], VALUE + kind[1])

        touched = [card for card in hand if has(card.kind)]
        focus = ([card for card in touched if not card.hinted] or touched)[-1]
        for card in hand:
            card.may_be = {kind for kind in card.may_be if has(kind) == has(card.kind)}
        for card in touched:
            card.hinted, card.focus, card.when = True, card is focus, ply

    def copies(self) -> Counter[Kind]:
        """Count the cards of the whole deck."""
        settings = self.table.game.settings
        return Counter(
            {
                (colour, value): 3 if value == 0 else 1 if value == settings["values"] - 1 else 2
                for colour in range(settings["colours"])
                for value in range(settings["values"])
            }
        )

    def left(self) -> Counter[Kind]:
        """Count the cards that are neither played nor out of play."""
        return self.copies() - Counter(self.played) - Counter(self.thrown)

    def fitting(self) -> set[Kind]:
        """Give what can be played: one on each unfinished firework."""
        heights = Counter(colour for colour, _ in self.played)
        return {kind for kind in self.copies() if kind[1] == heights[kind[0]]}

    def dead(self) -> set[Kind]:
        """Give what is of no use: played already, or above a value that is lost."""
        lost = {k for k, n in self.copies().items() if self.thrown.count(k) == n}
        return {
            (colour, value)
            for colour, value in self.copies()
            if (colour, value) in self.played
            or any((colour, below) in lost - {*self.played} for below in range(value + 1))
        }

    def critical(self) -> set[Kind]:
        """Give what is left once, and not dead."""
        left = self.left()
        return {kind for kind in left if left[kind] == 1} - self.dead()

    def unseen(self, seat: int) -> Counter[Kind]:
        """Count what a seat does not see: its own hand and the deck."""
        return Counter(card.kind for card in [*self.hands[seat], *self.deck])


def positions(players: int, deals: int = 3, **settings: Any) -> Iterator[Table]:
    """Give a table at every turn of some games; some moves are by lot, so that some are bad."""
    game: Game = HANABI.having(players=players, **settings)
    for deal in range(deals):
        table = game.deal(seed=29, deal=deal)
        chance = Chance(29, players, deal)
        agent = find_agent("piers", game)
        agent.begin(0, chance)
        while not table.over:
            yield table
            careless = [a for a in table.legal if a >= DISCARD] or table.legal
            if chance.below(20) == 0:  # now and then any card
                careless = table.legal
            by_lot = chance.below(4) == 0
            table.play(
                careless[chance.below(len(careless))] if by_lot else agent.choose(table.view())
            )


def check_range(found: dict[str, set[float]]) -> None:
    """See to it that more than one answer came up for every word; else nothing was tested."""
    assert [name for name, values in found.items() if len(values) < 2] == []


# --- other players -------------------------------------------------------------------------------


def player_words(replay: Replay, onward: int) -> dict[str, float]:
    """Work out the words about the player who moves after so many turns."""
    table = replay.table
    seats, ply = len(replay.hands), table.plies
    hand = replay.hands[(table.seat + onward) % seats]
    fitting, dead, left = replay.fitting(), replay.dead(), replay.left()

    def ids(card: Card) -> set[Kind]:
        """What its holder can think it is, from hints and what has left the game."""
        return {kind for kind in card.may_be if left[kind] > 0}

    def surely(card: Card, but_for: set[Kind]) -> bool:
        return bool(ids(card) - but_for) and ids(card) - but_for <= fitting

    def as_meant(by_chop: bool) -> list[Card]:
        meant = read_hints(table, by_chop)
        found = []
        for card in hand:
            could = {divmod(kind, VALUES) for kind in meant.get(card.serial, ())} & ids(card)
            if could and could <= fitting:
                found.append(card)
        return found

    def any_of(cards: list[Card], fit: bool) -> bool:
        return any((card.kind in fitting) == fit for card in cards)

    chop = next((card.kind for card in hand if not card.hinted), None)
    told = [card for card in hand if card.hinted]
    last_turn = ply + onward - seats  # of that player; below 0 if it has not moved
    spoken = [card for card in told if card.focus and card.when > last_turn]
    wanted = [card for card in told if surely(card, dead)]
    return {
        "onward": onward,
        "can play": any(ids(card) <= fitting for card in hand),
        "can discard": any(ids(card) <= dead for card in hand),
        "chop critical": chop in replay.critical(),
        "chop playable": chop in fitting,
        "chop dead": chop in dead,
        "to play": sum(card.kind in fitting for card in hand),
        "told": len(told),
        "awaits": any_of(spoken, True),
        "errs": any_of(spoken, False),
        "can play if wanted": any_of(wanted, True),
        "errs if wanted": any_of(wanted, False),
        "can play as meant": any_of(as_meant(False), True),
        "errs as meant": any_of(as_meant(False), False),
        "can play by chop": any_of(as_meant(True), True),
    }


@pytest.mark.parametrize("players", [2, 3, 4, 5])
def test_other_players(players):
    found: dict[str, set[float]] = {word.name: set() for word in PLAYER_WORDS}
    for number, table in enumerate(positions(players)):
        if number % 2 == 0:
            seen, replay = Seen(table.view()).things("player"), Replay(table)
            assert len(seen) == players - 1
            for onward, words in enumerate(seen, 1):
                assert words == player_words(replay, onward), f"deal {table.deal}, {table.plies}"
                for name, value in words.items():
                    found[name].add(value)
    if players == 2:  # nobody has spoken since the other moved
        assert found.pop("onward") == {1.0}
        assert found.pop("awaits") == found.pop("errs") == {0.0}
    check_range(found)


# --- the next card -------------------------------------------------------------------------------


def next_chances(own: list[set[Kind]], unseen: Counter[Kind]) -> dict[Kind, float]:
    """Count the worlds that fit the hints on one's own cards: the chances of the next card.

    Kinds that hints allow to the same places are alike, so pools of them are counted, not kinds.
    """

    def places(kind: Kind) -> tuple[bool, ...]:
        return tuple(kind in ids for ids in own)

    names = sorted({places(kind) for kind in unseen})
    pools = [sum(n for kind, n in unseen.items() if places(kind) == name) for name in names]

    @cache
    def worlds(place: int, pools: tuple[int, ...]) -> tuple[int, ...]:
        """The ways to deal to this place and all after it, times what each leaves in each pool."""
        if place == len(own):
            return pools
        total = [0] * len(pools)
        for at, name in enumerate(names):
            if name[place] and pools[at]:
                rest = worlds(place + 1, (*pools[:at], pools[at] - 1, *pools[at + 1 :]))
                total = [sum_ + pools[at] * n for sum_, n in zip(total, rest, strict=True)]
        return tuple(total)

    left = dict(zip(names, worlds(0, tuple(pools)), strict=True))
    size = dict(zip(names, pools, strict=True))
    everything = sum(left.values())
    return {
        kind: left[places(kind)] / everything * n / size[places(kind)] for kind, n in unseen.items()
    }


def next_words(replay: Replay) -> dict[str, float]:
    """Work out the words about the next card."""
    seat = replay.table.seat
    chances: dict[Kind, float] = {}
    if replay.deck:
        chances = next_chances([card.may_be for card in replay.hands[seat]], replay.unseen(seat))

    def sum_of(kinds: set[Kind]) -> float:
        return sum(chance for kind, chance in chances.items() if kind in kinds)

    fits, dead = sum_of(replay.fitting()), sum_of(replay.dead())
    return {
        "drawn playable": fits,
        "drawn dead": dead,
        "drawn critical": sum_of(replay.critical()),
        "drawn playable if wanted": fits / (1 - dead) if chances and dead < 1 - 1e-9 else 0.0,
        **{
            f"drawn {COLOUR_NAMES[colour]}": sum_of({(colour, value) for value in range(VALUES)})
            for colour in range(COLOURS)
        },
        **{
            f"drawn {value + 1}": sum_of({(colour, value) for colour in range(COLOURS)})
            for value in range(VALUES)
        },
        **{
            f"drawn {COLOUR_NAMES[colour]} {value + 1}": sum_of({(colour, value)})
            for colour in range(COLOURS)
            for value in range(VALUES)
        },
    }


@pytest.mark.parametrize(
    ("players", "settings"),
    [(2, {}), (3, {}), (4, {}), (5, {}), (2, {"colours": 3, "values": 4, "hand": 3})],
)
def test_the_next_card(players, settings):
    found: dict[str, set[float]] = {word.name: set() for word in NEXT_CARD}
    ended = told = 0
    for table in positions(players, **settings):
        replay = Replay(table)
        (words,) = Seen(table.view()).things("next card")
        assert words == pytest.approx(next_words(replay), abs=1e-6), f"{table.seed} {table.plies}"
        for name, value in words.items():
            found[name].add(value)
        ended += not replay.deck
        told += any(card.hinted for card in replay.hands[table.seat])
    assert ended
    assert told
    if settings:  # colours and values that are not in the game
        missing = (*COLOUR_NAMES[settings["colours"] : COLOURS], "5")
        for word in [word for word in found if set(word.split()) & set(missing)]:
            assert found.pop(word) == {0.0}
    check_range(found)


# --- the piles and the game ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("players", "settings"),
    [(2, {}), (3, {}), (4, {}), (5, {}), (3, {"colours": 4, "values": 4, "hand": 3, "notes": 3})],
)
def test_the_piles_and_the_game_as_a_whole(players, settings):
    most = {"table": 0, "discard pile": 0}
    found: dict[str, set[float]] = {}
    for table in positions(players, **settings):
        replay = Replay(table)
        seen = Seen(table.view())
        for group, cards in (("table", replay.played), ("discard pile", replay.thrown)):
            things = seen.things(group)
            kinds = [(int(words["colour"]), int(words["value"]) - 1) for words in things]
            assert sorted(kinds) == sorted(cards)
            assert all(words.keys() == {"colour", "value"} for words in things)
            most[group] = max(most[group], len(things))
        (words,) = seen.things("game")
        assert words == {
            "notes": replay.notes, "storms": replay.storms, "players": players,
            "deck": len(replay.deck), "pile": len(replay.played), "turns left": replay.turns_left,
        }  # fmt: skip
        for name, value in words.items():
            found.setdefault(name, set()).add(value)
    assert found.pop("players") == {players}
    check_range(found)
    assert min(most.values()) > 3
