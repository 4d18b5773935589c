"""Conventions that people use: every hint means something, and no code is needed.

chop        the oldest card that no hint has touched: what its owner discards next
focus       the card that a hint is about: the chop if it is touched, else the newest card that is
            touched for the first time, else the newest that is touched
to play     the focus can be played now, or after cards that all know will be played before it
to save     where the focus is the chop, it may instead be the last of its kind
good touch  touched cards are wanted: not lost ones, and not twice the same

All know the conventions, so all know what a hint means to its owner: the notes of all stay alike.
The ideas are those of SmartBot (Arthur O'Dwyer) and of conventions that are common among players.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import compiled
from kibitz.core.game import PLIES, SEATS
from kibitz.games.hanabi.cards import cards_held, reach_of
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS_USED,
    DISCARDED,
    FIREWORK,
    HINT,
    HINTS,
    LOG,
    MAX_STORMS,
    MOST_HAND,
    MOST_SEATS,
    OUTCOME,
    STORMS,
    VALUES,
    VALUES_USED,
    copies_of,
)
from kibitz.games.hanabi.notes import (
    DEAD,
    DONE,
    NOTED,
    NOTES_END,
    PLAYABLE,
    begin_notes,
    follow_card,
    fresh_ids,
    named_by,
    narrow,
    refine,
)

# Memory: the notes, then whether each card has been touched.
TOUCHED = NOTES_END
MEMORY = TOUCHED + MOST_SEATS * MOST_HAND
BAD_TOUCH = 0.2  # how much likelier it is than other cards that a touched one is not wanted
DARING, DARING_LAST = 0.8, 0.95  # chances from which a card is played; the last storm is feared


@compiled()
def chop_of(view, memory, seat):
    """Give the place of the oldest untouched card, or -1."""
    for place in range(cards_held(view, seat)):
        if not memory[TOUCHED + seat * MOST_HAND + place]:
            return place
    return -1


@compiled()
def soon_playable(view, memory):
    """Give the identities that can be played after all cards that all know will be, as bits."""
    soon = 0
    for colour in range(view[COLOURS_USED]):
        height = int(view[FIREWORK + colour])
        reach = reach_of(view, colour)
        found = True
        while found and height < reach:
            found = False
            for seat in range(view[SEATS]):
                for place in range(cards_held(view, seat)):
                    if memory[NOTED + seat * MOST_HAND + place] == 1 << (colour * VALUES + height):
                        found = True
            if found:
                height += 1
        if height < reach:
            soon |= 1 << (colour * VALUES + height)
    return soon


@compiled()
def critical_ids(view):
    """Give the identities of which only one card is left, and wanted, as bits."""
    critical = 0
    values = int(view[VALUES_USED])
    for colour in range(view[COLOURS_USED]):
        for value in range(int(view[FIREWORK + colour]), reach_of(view, colour)):
            card = colour * VALUES + value
            if copies_of(values, value) - view[DISCARDED + card] == 1:
                critical |= 1 << card
    return critical


@compiled()
def focus_of(view, memory, seat, touched):
    """Give the place of the card that a hint is about."""
    chop = chop_of(view, memory, seat)
    if chop >= 0 and touched >> chop & 1:
        return chop
    newest = fresh = -1
    for place in range(cards_held(view, seat)):
        if touched >> place & 1:
            newest = place
            if not memory[TOUCHED + seat * MOST_HAND + place]:
                fresh = place
    return fresh if fresh >= 0 else newest


@compiled()
def take_hint(view, memory, seat, hint, touched):
    """Note what a hint means to its owner, and so to all."""
    named = named_by(hint)
    focus = focus_of(view, memory, seat, touched)
    chop = chop_of(view, memory, seat)
    was_known = memory[TOUCHED + seat * MOST_HAND + focus]
    soon = soon_playable(view, memory)
    for place in range(cards_held(view, seat)):
        at = NOTED + seat * MOST_HAND + place
        narrow(memory, at, named if touched >> place & 1 else ~named)
        if touched >> place & 1:
            memory[TOUCHED + seat * MOST_HAND + place] = 1
    at = NOTED + seat * MOST_HAND + focus
    meant = soon
    if focus == chop:
        meant |= critical_ids(view)
    if not was_known:
        narrow(memory, at, meant)


@compiled()
def promised_ids(view, memory):
    """Give the identities of touched cards that all know, as bits."""
    promised = 0
    for seat in range(view[SEATS]):
        for place in range(cards_held(view, seat)):
            i = seat * MOST_HAND + place
            ids = memory[NOTED + i]
            if memory[TOUCHED + i] and ids & (ids - 1) == 0:
                promised |= ids
    return promised


@compiled()
def play_chance(ids, touched, promised, board, left):
    """Give the chance that a card can be played; touched cards are hardly lost or there twice."""
    unlikely = (board[DEAD] | promised) if touched and ids & (ids - 1) else 0
    plays = rest = 0.0
    for card in range(CARDS):
        bit = 1 << card
        if ids & bit and left[card] > 0:
            weight = left[card] * (BAD_TOUCH if unlikely & bit else 1.0)
            if board[PLAYABLE] & bit:
                plays += weight
            else:
                rest += weight
    return plays / (plays + rest) if plays > 0.0 else 0.0


@compiled()
def dares(view, chance):
    """Tell whether a card with such a chance is played, by the storms there have been."""
    if view[STORMS] + 1 >= view[MAX_STORMS]:
        return chance > DARING_LAST
    return chance > DARING


@compiled()
def catch_up(view, memory):
    """Bring the notes up to date with the log."""
    seats, plies = int(view[SEATS]), int(view[PLIES])
    left = np.empty(CARDS, np.int64)
    begin_notes(view, memory)
    while memory[DONE] <= plies:
        ply = memory[DONE] - 1
        memory[DONE] += 1
        action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
        actor = ply % seats
        if action < HINT:
            follow_card(view, memory, NOTED, actor, action, fresh_ids(view))
            follow_card(view, memory, TOUCHED, actor, action, 0)
        else:
            onward, hint = divmod(action - HINT, HINTS)
            take_hint(view, memory, (actor + onward + 1) % seats, hint, outcome)
    refine(view, memory, left)
