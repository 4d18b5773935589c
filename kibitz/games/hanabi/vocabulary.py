"""The words in which rules about Hanabi are written: sorts of things, and what is said of each.

Topics: `cards`, `chances`, `tokens` and `seats` are what the plain language has; `exact` adds the
chances of a card by colour and value at once; `relation` says how a card stands to the fireworks
and in its hand; `given` what hints have said of it, and when; `tells` what a hint would say.
"""

from __future__ import annotations

from kibitz.core.language import (
    CHANCE,
    COUNT,
    FLAG,
    NAME,
    Deed,
    Group,
    Word,
    deed_table,
    facts_of,
    group_table,
)
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS,
    HINTS,
    LOG_LENGTH,
    MOST_CARDS,
    MOST_HAND,
    MOST_NOTES,
    MOST_SEATS,
    MOST_STORMS,
    VALUES,
)
from kibitz.games.hanabi.words import COLOUR_NAMES

CARDS_, CHANCES, TOKENS, SEATS = "cards", "chances", "tokens", "seats"
RELATION, GIVEN, TELLS, EXACT = "relation", "given", "tells", "exact"
NEVER = 40.0  # plies since a hint that was never given, and the most that are told apart


def flag(name: str, help: str, topic: str) -> Word:
    """A word that is true or not."""
    return Word(name, FLAG, help, topic)


def chance(name: str, help: str, topic: str) -> Word:
    """A word for a chance."""
    return Word(name, CHANCE, help, topic)


def count(name: str, high: float, help: str, topic: str, low: float = 0) -> Word:
    """A word for a number."""
    return Word(name, COUNT, help, topic, low, high)


COLOUR = Word("colour", NAME, "its colour", CARDS_, 0, COLOURS - 1, COLOUR_NAMES[:COLOURS])
VALUE_ = count("value", VALUES, "its value", CARDS_, 1)
ONWARD = Word(
    "onward",
    COUNT,
    "turns until its holder moves; +1 is onward = 1",
    SEATS,
    1,
    MOST_SEATS - 1,
    (),
    "+",
)

CARD_NAMES = tuple(
    f"{name} {value + 1}" for name in COLOUR_NAMES[:COLOURS] for value in range(VALUES)
)

GAME_WORDS = (
    count("notes", MOST_NOTES, "notes left", TOKENS),
    count("storms", MOST_STORMS, "storms so far", TOKENS),
    count("players", MOST_SEATS, "how many play", SEATS, 2),
    count("deck", MOST_CARDS, "cards left in the deck", RELATION),
    count("pile", CARDS, "cards in the fireworks", RELATION),
    count("turns left", MOST_SEATS, "turns to come once the deck is empty, else 0", RELATION),
)
PATTERN = (COLOUR, VALUE_)
NEXT_CARD = (
    chance("drawn playable", "chance that the next card fits", RELATION),
    chance("drawn dead", "chance that the next card can never be played", RELATION),
    chance("drawn critical", "chance that the next card is the last of its kind", RELATION),
    chance("drawn playable if wanted", "chance that the next card fits, if not dead", RELATION),
    *(chance(f"drawn {name}", "chance that the next card has this colour", CHANCES)
      for name in COLOUR_NAMES[:COLOURS]),
    *(chance(f"drawn {value + 1}", "chance that the next card has this value", CHANCES)
      for value in range(VALUES)),
    *(chance(f"drawn {name}", "chance that the next card is this one", EXACT)
      for name in CARD_NAMES),
)  # fmt: skip
# What hints have said of a card, and when.
GIVEN_WORDS = (
    flag("hinted", "a hint has pointed it out", GIVEN),
    flag("colour told", "a hint has named its colour", GIVEN),
    flag("value told", "a hint has named its value", GIVEN),
    count("since hint", NEVER, "plies since the last hint that pointed it out", GIVEN, 1),
    flag("newest of hint", "the newest card that its last hint pointed out", GIVEN),
    flag("focus", "the newest card that its last hint pointed out for the first time", GIVEN),
    flag("was chop", "was the oldest unhinted card when its last hint came", GIVEN),
    count("with it", MOST_HAND, "cards that its last hint pointed out", GIVEN),
)
PLACE_WORDS = (
    count("old", MOST_HAND - 1, "newer cards in the hand", RELATION),
    flag("newest", "the newest card of the hand", RELATION),
    flag("oldest", "the oldest card of the hand", RELATION),
    flag("chop", "the oldest unhinted card of the hand", RELATION),
)
OWN_WORDS = (
    chance("playable", "chance that it fits now", RELATION),
    chance("dead", "chance that it can never be played", RELATION),
    chance("critical", "chance that it is the last of its kind, and wanted", RELATION),
    chance("playable if wanted", "chance that it fits now, provided that it is not dead", RELATION),
    *(chance(name, "chance of this colour", CHANCES) for name in COLOUR_NAMES[:COLOURS]),
    *(chance(str(value + 1), "chance of this value", CHANCES) for value in range(VALUES)),
    *PLACE_WORDS,
    *GIVEN_WORDS,
    chance("playable as meant", "chance that it fits now, provided that it did when a hint had it "
           "for its focus; 0 if none had", GIVEN),
    chance("dead as meant", "chance that it is dead, provided the same; 0 likewise", GIVEN),
    chance("playable by chop", "chance that it fits now, if hints that point out the oldest "
           "unhinted card are about that one, and mean that it fits or is critical", GIVEN),
    chance("dead by chop", "chance that it is dead, provided the same", GIVEN),
    # New words stand last: checkpoints keep places.
    *(chance(name, "chance of this colour and value", EXACT) for name in CARD_NAMES),
)  # fmt: skip
FELLOW_WORDS = (
    ONWARD,
    *PATTERN,
    flag("playable", "it fits now", RELATION),
    flag("dead", "it can never be played", RELATION),
    flag("critical", "the last of its kind, and wanted", RELATION),
    *PLACE_WORDS,
    *GIVEN_WORDS,
    chance("seems playable", "chance, to its holder, that it fits now", GIVEN),
    flag("known playable", "its holder can know that it fits now", GIVEN),
    flag("known dead", "its holder can know that it is dead", GIVEN),
    flag("double", "another such card is in sight in a hand", RELATION),
    flag("playable as meant", "its holder is sure that it fits, if it did when a hint had it for "
         "its focus", GIVEN),
)  # fmt: skip
PLAYER_WORDS = (
    ONWARD,
    flag("can play", "can know of a card that fits", GIVEN),
    flag("can discard", "can know of a dead card", GIVEN),
    flag("chop critical", "its oldest unhinted card is critical", RELATION),
    flag("chop playable", "its oldest unhinted card fits now", RELATION),
    flag("chop dead", "its oldest unhinted card is dead", RELATION),
    count("to play", MOST_HAND, "its cards that fit now", RELATION),
    count("told", MOST_HAND, "its cards that a hint has pointed out", GIVEN),
    flag("awaits", "the focus of a hint of the last round fits now", GIVEN),
    flag("errs", "the focus of a hint of the last round does not fit", GIVEN),
    flag("can play if wanted", "a hinted card fits, surely so if it is not dead", GIVEN),
    flag("errs if wanted", "a hinted card that is not dead would surely fit, and does not", GIVEN),
    flag("can play as meant", "a card fits that surely does as meant", GIVEN),
    flag("errs as meant", "a card does not fit that surely would as meant", GIVEN),
    flag("can play by chop", "a card fits that surely does, reading hints by the chop", GIVEN),
)
HINT_WORDS = (
    ONWARD,
    flag("names colour", "it names a colour", TELLS),
    count("names value", VALUES, "the value that it names, 0 for a colour", TELLS),
    count("cards", MOST_HAND, "cards that it points out", TELLS),
    count("new cards", MOST_HAND, "cards that it points out for the first time", TELLS),
    count("playables", MOST_HAND, "cards that fit among those", TELLS),
    count("new playables", MOST_HAND, "cards that fit, pointed out for the first time", TELLS),
    count("new criticals", MOST_HAND, "critical cards pointed out for the first time", TELLS),
    count("new deads", MOST_HAND, "dead cards pointed out for the first time", TELLS),
    count("new doubles", MOST_HAND, "new ones of which another is hinted or in the hint", TELLS),
    flag("newest playable", "the newest card that it points out fits", TELLS),
    flag("focus playable", "the newest it points out for the first time, or else at all, fits",
         TELLS),
    flag("focus critical", "that one is critical", TELLS),
    flag("focus dead", "that one is dead", TELLS),
    flag("focus new", "that one was never pointed out", TELLS),
    flag("takes chop", "it points out the oldest unhinted card", TELLS),
    flag("saves", "it points out the oldest unhinted card, which is critical", TELLS),
    count("informs", MOST_HAND, "cards of which it names what was not known", TELLS),
    count("makes playable", MOST_HAND, "cards known to fit through it", TELLS),
    count("makes dead", MOST_HAND, "cards known to be dead through it", TELLS),
    chance("then playable", "chance, to its holder, that the focus fits", TELLS),
    count("makes playable if wanted", MOST_HAND,
          "hinted cards that fit, and now surely do if they are not dead", TELLS),
    count("misleads if wanted", MOST_HAND,
          "hinted cards that do not fit, and now surely would if they were not dead", TELLS),
    flag("focus as meant", "the focus fits, or will when all cards that hints promised are played",
         TELLS),
    flag("true by chop", "the same of the oldest unhinted card if it is pointed out; or that one "
         "is critical", TELLS),
    flag("plays by chop", "the focus, reading hints by the chop, will then surely fit", TELLS),
)  # fmt: skip

GROUPS = (
    Group("game", 1, "the game as a whole", GAME_WORDS),
    Group("next card", 1, "the next card of the deck", NEXT_CARD),
    Group("own", MOST_HAND, "cards in one's own hand", OWN_WORDS),
    Group("fellow", MOST_HAND * (MOST_SEATS - 1), "cards in other hands", FELLOW_WORDS),
    Group("player", MOST_SEATS - 1, "the other players", PLAYER_WORDS),
    Group("tell", HINTS * (MOST_SEATS - 1), "hints that can be given", HINT_WORDS),
    Group("table", CARDS, "cards in the fireworks", PATTERN),
    Group("discard pile", MOST_CARDS, "cards out of play", PATTERN),
)
DEEDS = (
    Deed("play", "own", "play this card"),
    Deed("discard", "own", "discard this card"),
    Deed("hint colour", "fellow", "name the colour of this card"),
    Deed("hint value", "fellow", "name the value of this card"),
    Deed("hint", "tell", "give this hint"),
)
assert LOG_LENGTH > NEVER

GAME_, NEXT_CARD_, OWN, FELLOW, PLAYER, TELL, TABLE, DISCARD_PILE = range(len(GROUPS))
OWN_EXACT, NEXT_EXACT = len(OWN_WORDS) - CARDS, len(NEXT_CARD) - CARDS  # places of such words
GROUP_TABLE = group_table(GROUPS, DEEDS)
DEED_TABLE = deed_table(GROUPS, DEEDS)
FACTS = facts_of(GROUPS, DEEDS)
