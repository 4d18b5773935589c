"""What players say of each option: how likely a card fits or is dead, whom a hint serves."""

from __future__ import annotations

import numpy as np

from kibitz.core.table import View
from kibitz.games.hanabi.card_rules import CRITICAL, DEAD, FACTS, FITS, know_own
from kibitz.games.hanabi.cards import cards_held, is_dead, is_playable
from kibitz.games.hanabi.cells import DECK, DISCARD, HINT, HINTS, MOST_HAND, TOLD
from kibitz.games.hanabi.tell_rules import has, is_known, seat_onward, serial_at


def notes_on(view: View) -> dict[int, str]:
    """Say in a few words what is known of every legal option."""
    own = np.zeros((MOST_HAND, FACTS))
    know_own(view.cells, own)
    return {option: _note(view, option, own) for option in view.legal}


def _note(view: View, action: int, own: np.ndarray) -> str:
    if action >= HINT:
        return _hint_note(view, action)
    if action >= DISCARD:
        return _discard_note(*own[action - DISCARD, (DEAD, CRITICAL)])
    if own[action, FITS] in (0.0, 1.0):
        return "surely fits" if own[action, FITS] else "cannot fit"
    return f"fits with a chance of {_chance(own[action, FITS])}"


def _discard_note(dead: float, critical: float) -> str:
    if dead == 1.0:
        return "surely dead"
    parts = [f"dead with a chance of {_chance(dead)}"] if dead else []
    if critical == 1.0:
        parts += ["surely the last of its kind"]
    elif critical:
        parts += [f"the last of its kind with a chance of {_chance(critical)}"]
    return ", ".join(parts) or "still wanted, but not the last of its kind"


def _hint_note(view: View, action: int) -> str:
    onward, hint = divmod(action - HINT, HINTS)
    cells = view.cells
    pointed = playable = dead = new = 0
    for place in range(cards_held(cells, seat_onward(cells, onward + 1))):
        serial = serial_at(cells, onward + 1, place)
        card = cells[DECK + serial]
        if has(card, hint):
            pointed += 1
            playable += bool(is_playable(cells, card))
            dead += bool(is_dead(cells, card))
            new += not is_known(cells[TOLD + serial], hint)
    cards = "1 card" if pointed == 1 else f"{pointed} cards"
    return f"points out {cards}: {playable} playable, {dead} dead, new to {new}"


def _chance(chance: float) -> str:
    return f"{chance:.0%}" if 0.005 <= chance < 0.995 else f"{chance:.1%}"
