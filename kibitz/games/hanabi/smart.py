"""A strong player by conventions that people use: every hint means something, and no code is needed.

chop        the oldest card that no hint has touched: what its owner discards next
focus       the card that a hint is about: the chop if it is touched, else the newest card that is
            touched for the first time, else the newest that is touched
to play     the focus can be played now, or after cards that all know will be played before it
to save     where the focus is the chop, it may instead be the last of its kind
good touch  touched cards are wanted: not lost ones, and not twice the same

Whoever gives a hint first reckons what its owner will make of it, and gives none that would lead
astray. The ideas are those of SmartBot (Arthur O'Dwyer) and of the conventions that are common
among players.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import CHOOSE, NOTICE, compiled
from kibitz.core.game import PLIES, SEATS, VIEWER
from kibitz.games.hanabi.cards import cards_held, count_unseen, reach_of
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS_USED,
    DECK,
    DISCARD,
    DISCARDED,
    FIREWORK,
    HINT,
    HINTS,
    LAST,
    LOG,
    MAX_NOTES,
    MAX_STORMS,
    MOST_HAND,
    MOST_SEATS,
    NOTES,
    OUTCOME,
    SLOT,
    STORMS,
    VALUE,
    VALUES,
    VALUES_USED,
    copies_of,
)
from kibitz.games.hanabi.notes import (
    BOARD,
    COLOUR_IDS,
    DEAD,
    DONE,
    NOTED,
    NOTES_END,
    PLAYABLE,
    VALUE_IDS,
    count_bits,
    fresh_ids,
    keeping,
    mean_value,
    narrow,
    own_ids,
    public_left,
    read_board,
    refine,
)

# Memory: the notes, then whether each card has been touched.
TOUCHED = NOTES_END
MEMORY = TOUCHED + MOST_SEATS * MOST_HAND

W_PLAY, W_SOON, W_SAVE, W_BAD, W_WRONG, W_BIT, W_MIN, W_RISK, W_LAST = 0, 1, 2, 3, 4, 5, 6, 7, 8
BAD_TOUCH = 0.2


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
    named = COLOUR_IDS[1 << hint] if hint < VALUE else VALUE_IDS[1 << (hint - VALUE)]
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
def dares(view, chance, weights):
    """Tell whether a card with such a chance is played, by the storms there have been."""
    if view[STORMS] + 1 >= view[MAX_STORMS]:
        return chance > weights[W_LAST]
    return chance > weights[W_RISK]


@compiled()
def catch_up(view, memory):
    """Bring the notes up to date with the log."""
    seats, plies = int(view[SEATS]), int(view[PLIES])
    left = np.empty(CARDS, np.int64)
    if memory[DONE] == 0:
        for i in range(MOST_SEATS * MOST_HAND):
            memory[NOTED + i] = fresh_ids(view)
        # Whoever joins later has missed what was meant, and knows only what hints name.
        memory[DONE] = 1 if plies <= 1 else plies + 1
    while memory[DONE] <= plies:
        ply = memory[DONE] - 1
        memory[DONE] += 1
        action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
        actor = ply % seats
        if action < HINT:
            first = actor * MOST_HAND
            for i in range(first + action % MOST_HAND, first + MOST_HAND - 1):
                memory[NOTED + i] = memory[NOTED + i + 1]
                memory[TOUCHED + i] = memory[TOUCHED + i + 1]
            if view[LAST] == 0 or view[LAST] == seats:  # a card was drawn
                newest = first + cards_held(view, actor) - 1
                memory[NOTED + newest] = fresh_ids(view)
                memory[TOUCHED + newest] = 0
        else:
            onward, hint = divmod(action - HINT, HINTS)
            take_hint(view, memory, (actor + onward + 1) % seats, hint, outcome)
    refine(view, memory, left)


# --- hints ---------------------------------------------------------------------------------------


@compiled()
def touched_by(view, seat, hint):
    """Give which cards of a hand a hint touches, as bits."""
    named = COLOUR_IDS[1 << hint] if hint < VALUE else VALUE_IDS[1 << (hint - VALUE)]
    touched = 0
    for place in range(cards_held(view, seat)):
        if named >> view[DECK + view[SLOT + seat * MOST_HAND + place]] & 1:
            touched |= 1 << place
    return touched


@compiled()
def is_promised(view, memory, card, seat, place):
    """Tell whether such a card is touched elsewhere, as far as the viewer sees."""
    for other in range(view[SEATS]):
        for where in range(cards_held(view, other)):
            if other == seat and where == place:
                continue
            i = other * MOST_HAND + where
            if not memory[TOUCHED + i]:
                continue
            if other == view[VIEWER]:
                if memory[NOTED + i] == 1 << card:
                    return True
            elif view[DECK + view[SLOT + i]] == card:
                return True
    return False


@compiled()
def rate_hint(view, memory, trial, board, left, seat, hint, weights):
    """Say how good a hint is, from what its owner will make of it; -inf where that is harmful."""
    touched = touched_by(view, seat, hint)
    if touched == 0:
        return -np.inf
    for i in range(len(memory)):
        trial[i] = memory[i]
    chop = chop_of(view, memory, seat)
    take_hint(view, trial, seat, hint, touched)
    soon = soon_playable(view, memory)
    critical = critical_ids(view)
    promised, promised_now = promised_ids(view, memory), promised_ids(view, trial)
    rating = 0.0
    for place in range(cards_held(view, seat)):
        i = seat * MOST_HAND + place
        card = view[DECK + view[SLOT + i]]
        truth = 1 << card
        before, after = memory[NOTED + i], trial[NOTED + i]
        played = dares(view, play_chance(before, memory[TOUCHED + i], promised, board, left), weights)
        plays = dares(view, play_chance(after, trial[TOUCHED + i], promised_now, board, left), weights)
        if plays and not truth & board[PLAYABLE] and not played:
            return -np.inf
        twice = is_promised(view, memory, card, seat, place)
        if plays and not played:
            if not twice:
                rating += weights[W_PLAY] - 0.3 * (card % VALUES)
        elif after & ~soon == 0 and before & ~soon and truth & soon and not twice:
            rating += weights[W_SOON]
        if played and not plays and not truth & board[PLAYABLE]:
            rating += weights[W_PLAY]  # it was about to be played, and must not be
        if touched >> place & 1 and not memory[TOUCHED + i] and (truth & board[DEAD] or twice):
            rating -= weights[W_BAD]
        if truth & before and not truth & after:
            rating -= weights[W_WRONG]
        if place == chop and touched >> place & 1 and truth & critical:
            rating += weights[W_SAVE]
        if not truth & board[DEAD]:
            rating += weights[W_BIT] * (count_bits(before) - count_bits(after))
    return rating


@compiled()
def best_hint(view, memory, board, left, weights):
    """Give the best hint and how good it is; -1 where all are harmful."""
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    trial = np.empty_like(memory)
    best = -1
    most = -np.inf
    for onward in range(seats - 1):
        seat = (viewer + onward + 1) % seats
        for hint in range(HINTS):
            rating = rate_hint(view, memory, trial, board, left, seat, hint, weights)
            if rating > most:
                best = HINT + HINTS * onward + hint
                most = rating
    return best, most


@compiled()
def knows_a_play(view, memory, board, left, seat, weights):
    """Tell whether a seat knows a card that it will play."""
    promised = promised_ids(view, memory)
    for i in range(seat * MOST_HAND, seat * MOST_HAND + cards_held(view, seat)):
        chance = play_chance(memory[NOTED + i], memory[TOUCHED + i], promised, board, left)
        if dares(view, chance, weights):
            return True
    return False


@compiled()
def knows_a_loss(view, memory, board, seat):
    """Tell whether a seat knows a card that it can discard without harm."""
    for place in range(cards_held(view, seat)):
        if memory[NOTED + seat * MOST_HAND + place] & ~board[DEAD] == 0:
            return True
    return False


@compiled()
def is_in_danger(view, memory, board, left, seat, weights):
    """Tell whether a seat is about to discard a card that is the last of its kind."""
    chop = chop_of(view, memory, seat)
    if chop < 0 or knows_a_play(view, memory, board, left, seat, weights):
        return False
    if knows_a_loss(view, memory, board, seat):
        return False
    return critical_ids(view) >> view[DECK + view[SLOT + seat * MOST_HAND + chop]] & 1


# --- choosing ------------------------------------------------------------------------------------


@compiled()
def decide(view, memory, weights):
    """Choose by the notes, which must be up to date."""
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    board = np.empty(BOARD, np.int64)
    unseen = np.empty(CARDS, np.int64)
    read_board(view, board)
    count_unseen(view, unseen)
    held = cards_held(view, viewer)
    left = np.empty(CARDS, np.int64)
    public_left(view, memory, left)
    promised = promised_ids(view, memory)
    play = -1
    most = 0.0
    for place in range(held):
        ids = own_ids(view, memory, unseen, place)
        i = viewer * MOST_HAND + place
        chance = play_chance(ids, memory[TOUCHED + i], promised, board, unseen)
        if dares(view, chance, weights) or (view[LAST] > 0 and view[STORMS] + 1 < view[MAX_STORMS]):
            worth = chance * 10.0 - mean_value(ids, unseen)
            if chance > 0.0 and (play < 0 or worth > most):
                play = place
                most = worth
    following = (viewer + 1) % seats
    hint = -1
    rating = -np.inf
    if view[NOTES] > 0:
        hint, rating = best_hint(view, memory, board, left, weights)
        if is_in_danger(view, memory, board, left, following, weights) and view[LAST] == 0:
            trial = np.empty_like(memory)
            best = -1
            most = 0.0
            for h in range(HINTS):
                r = rate_hint(view, memory, trial, board, left, following, h, weights)
                if r > most:
                    best = h
                    most = r
            if best >= 0:
                return HINT + best
    if play >= 0:
        return play
    may_discard = view[NOTES] < view[MAX_NOTES]
    if hint >= 0 and (rating >= weights[W_MIN] or not may_discard):
        return hint
    if not may_discard:
        return 0
    for place in range(held):
        if own_ids(view, memory, unseen, place) & ~board[DEAD] == 0:
            return DISCARD + place
    chop = chop_of(view, memory, viewer)
    if chop >= 0:
        return DISCARD + chop
    best = 0
    least = np.inf
    for place in range(held):
        worth = keeping(view, own_ids(view, memory, unseen, place), board, unseen)
        if worth < least:
            best = place
            least = worth
    return DISCARD + best


@compiled(CHOOSE)
def smart(rules, view, actions, n, weights, memory, rng):
    """Play, save and discard by conventions that people use, reckoning what a hint will mean."""
    catch_up(view, memory)
    return decide(view, memory, weights)


@compiled(NOTICE)
def notice_smart(view, actor, action, memory):
    """Follow the log."""
    catch_up(view, memory)
