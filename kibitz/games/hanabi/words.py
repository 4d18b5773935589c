"""Hanabi in words. Places of a hand count from 1, the oldest card first; seats count from 0."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from kibitz.core.errors import AmbiguousMove, IllegalMove, UnreadableMove
from kibitz.core.game import HIDDEN
from kibitz.core.table import View
from kibitz.games.hanabi.cells import (
    COLOUR_NAMED,
    DECK,
    DISCARD,
    DISCARDED,
    EMPTY,
    FITTED,
    HINT,
    HINTS,
    LOG,
    MOST_HAND,
    NOTE_BACK,
    OUTCOME,
    SERIAL,
    SLOT,
    TOLD,
    VALUE,
    VALUE_BITS,
    VALUE_NAMED,
    VALUES,
    deck_size,
    full_hand,
)

COLOUR_NAMES = ("red", "yellow", "green", "white", "blue")
LETTERS = "RYGWB"
NUMBERS = ("one", "two", "three", "four", "five", "ones", "twos", "threes", "fours", "fives")
COUNTS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")

PLAYS, DISCARDS = {"p", "play"}, {"d", "discard"}
TELLS = {"t", "h", "tell", "hint", "clue", "give"}
SEAT_WORDS = {"player", "seat"}
PLACE_FILLERS = {"card", "place", "the"}
HINT_FILLERS = {"a", "about", "are", "card", "cards", "hint", "is", "its", "of", "the", "their",
                "to"}  # fmt: skip
ENDS = {"oldest": 0, "newest": -1}

CELL = 12  # columns for a card in the terminal
LOG_SHOWN = 4  # moves in the terminal; as many as there are seats if those are more
LINE = 99  # columns of the rules


# --- rules ---------------------------------------------------------------------------------------

GOAL = """
Build a firework of each colour together: {steps}. You see {seen}, and you win or lose as one.
"""
TURN = "On your turn do one of three things:"
CHOICES = {
    "play": """
a card. If it is the next of its colour, the firework grows; if not, it is lost and a storm comes
up. {storms} the game, and then {bomb}.
""",
    "discard": """
a card. It is out of play, and you win back a note. Not while you have {notes}.
""",
    "tell": """
somebody about a colour or a value: all cards of that hand which have it are pointed out, at least
one. This costs a note.
""",
}
COURSE = """
Whoever plays or discards draws a card; new cards come in at the right. Finishing a colour wins a
note back. Every colour has {copies}: look after the last of a kind. When the deck is empty
everybody, including whoever drew its last card, has one more turn. Every card in the fireworks is a
point; {most} perfect.
"""
WRITING = """
Cards are written R{value} for the red {value}; {colours}. A hint stays with its
card: r? is a card known to be red, ?{value} one known to be a {value}, ?? one about which no hint
is certain, and below is what hints have ruled out. Places of a hand count from 1, the oldest.
"""
TYPING = """
Type a move as 'play 2', 'discard 1', 'tell seat 1 red' or 'tell seat 1 {value}s', in short 'p2',
'd1', '1 r' or '1 {value}'. 'hint +1 red' tells the next seat, +2 the one after it. With two players
'red' and 'tell {value}' will do.
"""


# Beginnings of paragraphs that are not for pages, and what those say instead.
IN_A_TERMINAL = ("Cards are written", "Type a move")
IN_A_BROWSER = (
    "Click play or discard below one of your cards, or a colour or a value below somebody's hand "
    "to tell of it. What is known of your own cards is drawn on them."
)


def rules(settings: Mapping[str, Any]) -> str:
    """Explain the game to a person, as it is set."""
    values, colours, storms = settings["values"], settings["colours"], settings["storms"]
    most = colours * values
    named = _listed([name.title() for name in COLOUR_NAMES[:colours]])
    filled = {
        "steps": _steps(values),
        "seen": "all cards, your own too" if settings["open"] else "everybody's cards but your own",
        "storms": "The first ends" if storms == 1 else f"{COUNTS[storms].title()} storms end",
        "bomb": "all points are lost" if settings["bomb"] == "zero" else "the points so far count",
        "notes": "it" if settings["notes"] == 1 else f"all {COUNTS[settings['notes']]}",
        "copies": _copies(values),
        "most": f"{most} is" if most == 1 else f"{most} are",
        "value": min(values, 3),
        "colours": "the colour is Red" if colours == 1 else f"the colours are {named}",
    }
    turn = [TURN]
    for name, text in CHOICES.items():
        turn.append(_wrapped(text.format(**filled), first=f"  {name:<9}", rest=" " * 11))
    goal, *others = (_wrapped(text.format(**filled)) for text in (GOAL, COURSE, WRITING, TYPING))
    return "\n\n".join((goal, "\n".join(turn), *others)) + "\n"


def _wrapped(text: str, first: str = "", rest: str = "") -> str:
    words = " ".join(text.split())
    return textwrap.fill(words, LINE, initial_indent=first, subsequent_indent=rest)


def _steps(values: int) -> str:
    if values > 3:
        return f"a 1, then a 2, and so on up to {values}"
    return ", then ".join(f"a {value}" for value in range(1, values + 1))


def _copies(values: int) -> str:
    """Say how many cards there are of each value."""
    middle = [str(value) for value in range(2, values)]
    parts = ["three 1s"]
    if middle:
        parts.append(f"two each of {_listed(middle)}" if len(middle) > 1 else f"two {middle[0]}s")
    if values > 1:
        parts.append(f"a single {values}")
    return _listed(parts)


def _listed(parts: Sequence[str]) -> str:
    *others, last = parts
    comma = "," * (len(others) > 1 and " " in last)
    return f"{', '.join(others)}{comma} and {last}" if others else last


# --- moves ---------------------------------------------------------------------------------------


def card_name(card: int) -> str:
    """Write a card: R3."""
    return f"{LETTERS[card // VALUES]}{card % VALUES + 1}"


def hint_name(hint: int) -> str:
    """Write what a hint names: red, 3s."""
    return COLOUR_NAMES[hint] if hint < VALUE else f"{hint - VALUE + 1}s"


def say(view: View, action: int) -> str:
    """Put an action into words; who sees the card that is played or discarded is told its name."""
    mover = max(view.mover, 0)
    if action >= HINT:
        onward, hint = divmod(action - HINT, HINTS)
        return f"tell seat {(mover + onward + 1) % view.game.players} {hint_name(hint)}"
    place = action % DISCARD
    serial = int(view.cells[SLOT + mover * MOST_HAND + place])
    card = HIDDEN if serial == EMPTY else int(view.cells[DECK + serial])
    seen = "" if card == HIDDEN else f" ({card_name(card)})"
    return f"{'discard' if action >= DISCARD else 'play'} {place + 1}{seen}"


def read(view: View, text: str) -> int:
    """Find the action that words mean: 'play 2', 'd1', 'tell seat 1 red', '+1 red', '1 3'."""
    said = re.sub(r"\(.*\)", " ", text.lower().replace("'", ""))
    said = re.sub(r"\bs(?=\d)", "seat ", said)
    said = re.sub(r"(\b(seat|player)\s*)?\+\s*(\d)\b", lambda found: _onward(view, found[3]), said)
    words = re.findall(r"\d{1,2}s?\b|\d{1,2}|[^\W\d_]+", said)
    if not words or re.search(r"[^\w\s,.:;#-]|_|(?<!\w)-\s*\d", said):
        raise _unreadable(view, text)
    if words[0] not in PLAYS | DISCARDS:
        return _read_hint(view, text, words)
    rest = [word for word in words[1:] if word not in PLACE_FILLERS]
    if len(rest) != 1 or not (rest[0].isdecimal() or rest[0] in ENDS):
        raise _unreadable(view, text)
    return (DISCARD if words[0] in DISCARDS else 0) + _place(view, rest[0])


def _onward(view: View, number: str) -> str:
    """Name the seat that is so many onward from the mover."""
    seats = view.game.players
    if not 0 < int(number) < seats:
        most = f"+1 to +{seats - 1}" if seats > 2 else "+1 only"
        raise IllegalMove(f"hanabi: +{number} is nobody else; others are {most}.")
    return f"seat {(max(view.mover, 0) + int(number)) % seats}"


def _unreadable(view: View, text: str) -> UnreadableMove:
    other = (max(view.mover, 0) + 1) % view.game.players
    return UnreadableMove(
        f"hanabi: cannot read '{text}' as a move. "
        f"Write it like 'play 1', 'discard 1', 'tell seat {other} red' or 'tell seat {other} 1s'."
    )


def _place(view: View, word: str) -> int:
    held, most = len(hand_of(view, max(view.mover, 0))), full_hand(view.game.settings)
    if word in ENDS:
        return ENDS[word] % max(held, 1)
    if not 1 <= int(word) <= most:
        raise UnreadableMove(f"hanabi: there is no place {word}; places count from 1 to {most}.")
    return int(word) - 1


def _read_hint(view: View, text: str, words: list[str]) -> int:
    """Find the hint that words mean: somebody's seat, and a colour or a value."""
    told = words[0] in TELLS
    whom, what = _parts(words[told:])
    hint = _hint(view, what[0]) if len(what) == 1 else None
    if hint is None or len(whom) > 1 or not all(word.isdecimal() for word in whom):
        raise _unreadable(view, text)
    mover, seats = max(view.mover, 0), view.game.players
    others = [(mover + onward) % seats for onward in range(1, seats)]
    examples = [f"'tell seat {other} {hint_name(hint)}'" for other in others]
    if not whom:
        if what[0].isdecimal() and not told:
            raise AmbiguousMove(
                f"hanabi: '{text}' could be a place or a hint. "
                f"Say 'play {what[0]}', 'discard {what[0]}' or {examples[0]}."
            )
        if seats > 2:
            raise AmbiguousMove(f"hanabi: tell whom? Say {' or '.join(examples)}.")
        return HINT + hint
    seat = int(whom[0])
    if seat not in others:
        why = "cannot tell itself" if seat == mover else f"cannot tell {seat}, which is not there"
        raise IllegalMove(f"hanabi: seat {mover} {why}. Say {' or '.join(examples)}.")
    return HINT + HINTS * others.index(seat) + hint


def _parts(words: list[str]) -> tuple[list[str], list[str]]:
    """Divide words into whom to tell and what: by 'seat', by 'to', or the first of two is whom."""
    whom, what = [], []
    rest = iter(words)
    for word in rest:
        if word in SEAT_WORDS:
            whom.append(next(rest, ""))
        elif word not in HINT_FILLERS:
            what.append(word)
    if not whom and len(what) == 2:
        return (what[1:], what[:1]) if "to" in words else (what[:1], what[1:])
    return whom, what


def _hint(view: View, word: str) -> int | None:
    """Find the colour or value that a word names, or None for another word."""
    colours, values = view.game.settings["colours"], view.game.settings["values"]
    if word in NUMBERS:
        word = str(NUMBERS.index(word) % VALUES + 1)
    number = word.removesuffix("s")
    if number.isdecimal():
        if not 1 <= int(number) <= values:
            raise IllegalMove(f"hanabi: no card is a {number}; values go from 1 to {values}.")
        return VALUE + int(number) - 1
    for colour, name in enumerate(COLOUR_NAMES):
        if name.startswith(word) or word == f"{name}s":
            if colour >= colours:
                known = ", ".join(COLOUR_NAMES[:colours])
                raise IllegalMove(f"hanabi: no card is {name} here; there is {known}.")
            return colour
    return None


# --- what is known and what has happened ---------------------------------------------------------


def hand_of(view: View, seat: int) -> list[int]:
    """List the serial numbers of a hand, oldest first."""
    slots = view.cells[SLOT + seat * MOST_HAND : SLOT + (seat + 1) * MOST_HAND].tolist()
    return [serial for serial in slots if serial != EMPTY]


@dataclass(frozen=True, slots=True)
class Told:
    """What hints say about a card."""

    colours: tuple[int, ...]  # that it may have
    values: tuple[int, ...]
    no_colours: tuple[int, ...]  # that hints have ruled out
    no_values: tuple[int, ...]
    colour_named: bool  # by a hint that pointed it out
    value_named: bool

    @property
    def colour(self) -> int | None:
        """The colour, where only one is left."""
        return self.colours[0] if len(self.colours) == 1 else None

    @property
    def value(self) -> int | None:
        """The value, where only one is left."""
        return self.values[0] if len(self.values) == 1 else None

    @property
    def nothing(self) -> bool:
        """Whether no hint says anything."""
        return not (self.no_colours or self.no_values or self.colour_named or self.value_named)


def told_of(view: View, serial: int) -> Told:
    """Take apart what hints say about a card."""
    settings, bits = view.game.settings, int(view.cells[TOLD + serial])
    colours = [bits >> colour & 1 for colour in range(settings["colours"])]
    values = [bits >> (VALUE_BITS + value) & 1 for value in range(settings["values"])]
    return Told(
        colours=tuple(colour for colour, may in enumerate(colours) if may),
        values=tuple(value for value, may in enumerate(values) if may),
        no_colours=tuple(colour for colour, may in enumerate(colours) if not may),
        no_values=tuple(value for value, may in enumerate(values) if not may),
        colour_named=bool(bits & COLOUR_NAMED),
        value_named=bool(bits & VALUE_NAMED),
    )


@dataclass(frozen=True, slots=True)
class Event:
    """A ply with what came of it."""

    seat: int
    card: int | None = None  # played or discarded
    discarded: bool = False
    fitted: bool = False
    note_back: bool = False
    other: int = 0  # who was told
    hint: int | None = None
    places: tuple[int, ...] = ()  # that were pointed out, from 0

    def words(self) -> str:
        """Say what happened."""
        if self.hint is not None:
            places = ", ".join(str(place + 1) for place in self.places)
            return f"seat {self.seat} told seat {self.other} {hint_name(self.hint)}: {places}"
        name = card_name(self.card or 0)
        if self.discarded:
            return f"seat {self.seat} discarded {name}"
        if not self.fitted:
            return f"seat {self.seat} played {name}: a storm"
        return f"seat {self.seat} played {name}" + (", a note back" if self.note_back else "")


def event(view: View, ply: int) -> Event:
    """Tell what happened at a ply; seats move strictly in turn."""
    seats = view.game.players
    seat, action = ply % seats, int(view.cells[LOG + ply])
    outcome = int(view.cells[OUTCOME + ply])
    if action >= HINT:
        onward, hint = divmod(action - HINT, HINTS)
        places = tuple(place for place in range(MOST_HAND) if outcome >> place & 1)
        return Event(seat, other=(seat + onward + 1) % seats, hint=hint, places=places)
    return Event(
        seat,
        card=int(view.cells[DECK + (outcome & SERIAL)]),
        discarded=action >= DISCARD,
        fitted=bool(outcome & FITTED),
        note_back=bool(outcome & NOTE_BACK),
    )


def deck_left(view: View) -> int:
    """Count the cards that are still in the deck."""
    return deck_size(view.game.settings) - int(view["drawn"])


def discards_of(view: View, colour: int) -> list[int]:
    """List the values of a colour that are out of play, sorted."""
    run = DISCARDED + colour * VALUES
    return [value for value in range(VALUES) for _ in range(int(view.cells[run + value]))]


def ending(view: View) -> str:
    """Say why a game is over, and how good it was."""
    settings = view.game.settings
    most = settings["colours"] * settings["values"]
    if view["storms"] == settings["storms"]:
        count = settings["storms"]
        why = "the only storm has" if count == 1 else f"all {count} storms have"
        why += " struck"
    elif view["firework"][: settings["colours"]].sum() == most:
        why = "all fireworks are complete"
    else:
        why = "the deck is used up"
    return f"Game over: {why}. {view.points[0]:g} of {most} points."


# --- the board -----------------------------------------------------------------------------------


def brief(view: View) -> str:
    """Say in one short line how the game stands."""
    heights = view["firework"][: view.game.settings["colours"]].tolist()
    fireworks = " ".join(f"{letter}{high}" for letter, high in zip(LETTERS, heights, strict=False))
    return f"{fireworks} notes {view['notes']} storms {view['storms']} deck {deck_left(view)}"


def show(view: View) -> str:
    """List the fireworks and discards by colour, every hand with its hints, and the last moves."""
    settings = view.game.settings
    notes = f"notes {view['notes']} of {settings['notes']}"
    storms = f"storms {view['storms']} of {settings['storms']}"
    most = settings["colours"] * settings["values"]
    lines = [
        f"  {view.points[0]:g} of {most} points   {notes}   {storms}   {_deck(view)}",
        "",
        *_piles(view),
        "",
        *_hands(view),
        "",
    ]
    first = max(0, view.plies - max(view.game.players, LOG_SHOWN))
    lines += [f"  {event(view, ply).words()}" for ply in range(first, view.plies)]
    return "\n".join(line.rstrip() for line in lines).rstrip()


def _deck(view: View) -> str:
    if view.over:
        return "game over"
    left = deck_left(view)
    if left or not view["last"]:
        return f"deck {left}"
    return f"deck empty, last turns: {view['last']}"


def _piles(view: View) -> list[str]:
    """Show fireworks and discards, a column for each colour."""
    heads, fireworks, discards = [], [], []
    for colour in range(view.game.settings["colours"]):
        high = int(view["firework"][colour])
        heads.append(f"{LETTERS[colour]} {COLOUR_NAMES[colour]}")
        fireworks.append(" ".join(map(str, range(1, high + 1))) or "-")
        discards.append("".join(str(value + 1) for value in discards_of(view, colour)) or "-")
    rows = (("", heads), ("  fireworks", fireworks), ("  discards", discards))
    return [f"{name:<{CELL + 4}}{''.join(f'{cell:<{CELL}}' for cell in row)}" for name, row in rows]


def _hands(view: View) -> list[str]:
    """Show every hand from the next seat on, the viewer's last, with what has been told below."""
    seats, most = view.game.players, full_hand(view.game.settings)
    places = [str(place + 1) for place in range(most)]
    places[-1] += " newest"
    lines = ["".join([" " * (CELL + 4), *(f"{place:<{CELL}}" for place in places)])]
    for seat in ((view.seat + i) % seats for i in range(1, seats + 1)):
        who = f"{'>' if seat == view.mover else ' '} seat {seat}"
        cells, ruled_out = [], []
        for serial in hand_of(view, seat):
            card, told = int(view.cells[DECK + serial]), told_of(view, serial)
            colour = "?" if told.colour is None else LETTERS[told.colour].lower()
            value = "?" if told.value is None else str(told.value + 1)
            face = "" if card == HIDDEN else f"{card_name(card)} "
            cells.append(f"{face}{colour}{value}")
            no = [LETTERS[c].lower() for c in told.no_colours if told.colour is None]
            no += [str(v + 1) for v in told.no_values if told.value is None]
            ruled_out.append(f"not {''.join(no)}" if no else "")
        who += " (you)" if seat == view.seat else ""
        lines.append(f"{who:<{CELL + 4}}" + "".join(f"{cell:<{CELL}}" for cell in cells))
        if any(ruled_out):
            lines.append(" " * (CELL + 4) + "".join(f"{cell:<{CELL}}" for cell in ruled_out))
    return lines
