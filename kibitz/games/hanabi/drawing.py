"""Hanabi as a picture: others' hands above, a night sky with the fireworks, one's own hand below.

Under a card lies a slip with what hints have said about it. Others' hands have a chip for every
hint they can be given, own cards a button to play and one to discard; the last moves stand beside.
Buttons also say in `data-place`, `data-seat` and `data-hint` what they do.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from kibitz.core.game import HIDDEN
from kibitz.core.svg import (
    board,
    button,
    figure,
    halo,
    legal,
    seat_chip,
    standing,
    tag,
    text,
    text_width,
)
from kibitz.core.svg import opinion as shade
from kibitz.core.table import Move, View
from kibitz.games.hanabi import drawing_cards, drawing_sky
from kibitz.games.hanabi.cells import DECK, DISCARD, HINT, HINTS, VALUE, full_hand
from kibitz.games.hanabi.drawing_cards import (
    TALL,
    WIDE,
    back,
    badges,
    box,
    face,
    hint_card,
    slip,
    slip_height,
)
from kibitz.games.hanabi.drawing_sides import log, score
from kibitz.games.hanabi.words import (
    COLOUR_NAMES,
    Event,
    Told,
    card_name,
    event,
    hand_of,
    hint_name,
    told_of,
)

WIDTH = 960
EDGE = 16
INNER = WIDTH - 2 * EDGE
HEAD = 60  # of a hand, above its cards
OWN = 84  # an own card is so wide
PILL = 26  # a button's height
CHIP, GAP = 43, 3  # a hint's width, and between hints

STYLE = drawing_cards.STYLE + drawing_sky.STYLE


@dataclass(frozen=True, slots=True)
class Shelf:
    """How others' hands stand side by side."""

    others: tuple[int, ...]
    block: float  # the width of one
    pitch: float  # from card to card
    card: float  # the width of one
    rows: int  # of chips

    @property
    def tall(self) -> float:
        """The height of a card."""
        return self.card * TALL / WIDE

    @property
    def slip(self) -> float:
        """The width of a slip."""
        return min(78, self.pitch - 3)

    @property
    def slips(self) -> float:
        """Where slips begin."""
        return HEAD + self.tall + 4

    @property
    def chips(self) -> float:
        """Where chips begin."""
        return self.slips + slip_height(self.slip) + 8

    @property
    def height(self) -> float:
        """Where the shelf ends."""
        return self.chips + self.rows * (PILL + 4) + 8


def _shelf(view: View) -> Shelf:
    seats, held = view.game.players, full_hand(view.game.settings)
    others = tuple((view.seat + i) % seats for i in range(1, seats))
    block = min(456, (INNER - 16 * (len(others) - 1)) / len(others))
    pitch = min(block / held, 86)
    return Shelf(others, block, pitch, pitch - 8, 1 if len(others) < 3 else 2)


def draw(view: View, last: Move | None = None, opinion: Mapping[int, float] | None = None) -> str:
    """Draw the table from the viewer's seat."""
    shelf, thoughts = _shelf(view), opinion or {}
    actions = view.legal if view.acts else []
    happened = event(view, last.ply) if last and last.ply < view.plies else None
    parts = []
    for i, seat in enumerate(shelf.others):
        middle = WIDTH / 2 + (i - (len(shelf.others) - 1) / 2) * (shelf.block + 16)
        parts.append(_other_hand(view, shelf, seat, middle, happened))
        parts.append(_chips(view, shelf, seat, middle, actions, thoughts))
    parts.append(drawing_sky.sky(view, EDGE, shelf.height, INNER, happened))
    top = shelf.height + drawing_sky.HEIGHT + 8
    tall = HEAD + OWN * TALL / WIDE + 2 * PILL + 24
    parts.append(score(view, EDGE + 8, top + 8))
    parts.append(log(view, WIDTH - EDGE - 204, top + 8))
    parts.append(_own_hand(view, top, actions, thoughts, happened))
    return board(view, WIDTH, top + tall, *parts, style=STYLE)


# --- hands ---------------------------------------------------------------------------------------


def _name(told: Told, card: int, place: int) -> str:
    """Describe a card in words, as a title."""
    what = "" if card == HIDDEN else f"{card_name(card)}, "
    colours = " or ".join(COLOUR_NAMES[colour] for colour in told.colours)
    values = " or ".join(str(value + 1) for value in told.values)
    known = "nothing told" if told.nothing else f"told to be {colours}, {values}"
    return tag("title", f"place {place + 1}: {what}{known}")


def _place(x: float, y: float, place: int, count: int) -> str:
    """Number a card, and mark the newest."""
    words = f"{place + 1} newest" if place == count - 1 else str(place + 1)
    return text(x, y, words, 11, "quiet")


def _pointed(happened: Event | None, seat: int, place: int) -> bool:
    """Tell whether the last move pointed a card out."""
    return (
        happened is not None
        and happened.hint is not None
        and happened.other == seat
        and place in happened.places
    )


def _chip_left(view: View, seat: int, middle: float, y: float) -> str:
    """Centre a seat's chip."""
    return seat_chip(view, seat, middle - text_width(standing(view, seat)) / 2 - 26, y)


def _other_hand(view: View, shelf: Shelf, seat: int, middle: float, happened: Event | None) -> str:
    """Draw somebody's cards, each with a slip if hints have said something."""
    serials, full = hand_of(view, seat), full_hand(view.game.settings)
    parts = [_chip_left(view, seat, middle, 24)]
    for place, serial in enumerate(serials):
        x, y = middle + (place - (full - 1) / 2) * shelf.pitch, HEAD + shelf.tall / 2
        card, told = int(view.cells[DECK + serial]), told_of(view, serial)
        inside = [_name(told, card, place), _place(x, HEAD - 9, place, len(serials))]
        if _pointed(happened, seat, place):
            inside.append(halo("rect", **box(x, y, shelf.card + 16, shelf.tall + 16, 14)) * 2)
        inside.append(face(card, x, y, shelf.card))
        if not told.nothing:
            middle_y = shelf.slips + slip_height(shelf.slip) / 2
            inside.append(slip(told, x, middle_y, shelf.slip))
        parts.append(tag("g", *inside, data_card=card_name(card)))
    return tag("g", *parts, data_hand=seat)


def _chips(
    view: View, shelf: Shelf, seat: int, middle: float, actions: list[int],
    thoughts: Mapping[int, float],
) -> str:  # fmt: skip
    """Draw a button for every hint that somebody can be given."""
    settings = view.game.settings
    first = HINT + HINTS * ((seat - view.seat) % view.game.players - 1)
    kinds = [
        [first + colour for colour in range(settings["colours"])],
        [first + VALUE + value for value in range(settings["values"])],
    ]
    kinds = [[action for action in kind if action in actions] for kind in kinds]
    if actions and not view["notes"]:
        return text(middle, shelf.chips + PILL / 2, "no note left to tell anything", 12, "quiet")
    rows = kinds if shelf.rows == 2 else [kinds[0] + kinds[1]]
    parts = []
    for row, choices in enumerate(rows):
        apart = 10 if shelf.rows == 1 else 0  # colours and values
        wide = len(choices) * (CHIP + GAP) - GAP + apart
        x, y = middle - wide / 2 + CHIP / 2, shelf.chips + PILL / 2 + row * (PILL + 4)
        if row == 0 and choices and wide + 72 <= shelf.block:
            parts.append(text(middle - wide / 2 - 8, y, "tell", 12, "quiet", text_anchor="end"))
        for action in choices:
            x += apart if action == kinds[1][0] else 0
            inside = _hint(action - first, box(x, y, CHIP, PILL, 6), thoughts.get(action))
            what = hint_name(action - first)
            parts.append(button(view, action, inside, data_seat=seat, data_hint=what))
            x += CHIP + GAP
    return tag("g", *parts)


def _ground(value: float | None, where: dict[str, float]) -> str:
    """Draw what a choice is written on: paper, what somebody thinks of it, a dashed outline."""
    thought = "" if value is None else shade(value, "rect", **where)
    return tag("rect", class_="paper", **where) + thought + legal("rect", **where)


def _hint(hint: int, where: dict[str, float], value: float | None) -> str:
    """Draw a hint, and what somebody thinks of it."""
    x, y = where["x"] + where["width"] / 2, where["y"] + PILL / 2
    inside = _ground(value, where)
    if value is None:
        return inside + hint_card(hint, x, y, 18)
    return inside + hint_card(hint, x, y - 6, 11) + figure(value, x, y + 7, 10)


# --- the viewer's hand ---------------------------------------------------------------------------


def _own_hand(
    view: View, top: float, actions: list[int], thoughts: Mapping[int, float],
    happened: Event | None,
) -> str:  # fmt: skip
    """Draw the viewer's cards, face down, with what hints say, and what can be done with each."""
    serials, full = hand_of(view, view.seat), full_hand(view.game.settings)
    tall = OWN * TALL / WIDE
    parts = [_chip_left(view, view.seat, WIDTH / 2, top + 24)]
    for place, serial in enumerate(serials):
        x, y = WIDTH / 2 + (place - (full - 1) / 2) * (OWN + 12), top + HEAD + tall / 2
        card, told = int(view.cells[DECK + serial]), told_of(view, serial)
        inside = [_name(told, card, place), _place(x, top + HEAD - 9, place, len(serials))]
        if _pointed(happened, view.seat, place):
            inside.append(halo("rect", **box(x, y, OWN + 16, tall + 16, 14)) * 2)
        inside.append(back(x, y, OWN) if card == HIDDEN else face(card, x, y, OWN))
        if card == HIDDEN:
            inside.append(badges(told, x, y - 28, 32))
            inside.append(slip(told, x, y + tall / 2 - slip_height(OWN - 10) / 2 - 6, OWN - 10))
        turned_up = None if card == HIDDEN else card_name(card)
        parts.append(tag("g", *inside, data_card=turned_up))
        for row, action in enumerate((place, DISCARD + place)):
            if action in actions:
                where = box(x, y + tall / 2 + 8 + (row + 0.5) * (PILL + 2), OWN, PILL, 6)
                parts.append(_act(view, action, where, thoughts.get(action)))
    if actions and view["notes"] == view.game.settings["notes"]:
        y = top + HEAD + tall + 8 + 1.5 * (PILL + 2)
        parts.append(text(WIDTH / 2, y, "no discarding while all notes are here", 12, "quiet"))
    return tag("g", *parts, data_hand=view.seat)


def _act(view: View, action: int, where: dict[str, float], value: float | None) -> str:
    """Draw the button that plays or discards a card."""
    x, y = where["x"] + OWN / 2, where["y"] + PILL / 2
    words = "play" if action < DISCARD else "discard"
    inside = _ground(value, where)
    if value is None:
        inside += text(x, y, words, 13, "ink strong")
    else:
        inside += text(where["x"] + 4, y, words, 11, "ink", text_anchor="start")
        inside += figure(value, where["x"] + OWN - 3, y, 10, text_anchor="end")
    return button(view, action, inside, data_place=action % DISCARD + 1)
