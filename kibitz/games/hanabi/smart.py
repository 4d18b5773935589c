"""A strong player by conventions that people use (see conventions.py).

Before it gives a hint, it reckons what its owner will make of it. How good a hint is depends on the
plays that follow, on cards it saves, and on what it touches in vain; one that leads astray is given
only where all do, and all notes are there.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion
from kibitz.core.compiled import CHOOSE, NOTICE, compiled
from kibitz.core.game import SEATS, VIEWER
from kibitz.core.table import View
from kibitz.games.hanabi.cards import cards_held
from kibitz.games.hanabi.cells import (
    CARDS,
    DECK,
    DISCARD,
    HINT,
    HINTS,
    LAST,
    MAX_NOTES,
    MAX_STORMS,
    MOST_HAND,
    NOTES,
    SLOT,
    STORMS,
    VALUES,
)
from kibitz.games.hanabi.conventions import (
    MEMORY,
    TOUCHED,
    catch_up,
    chop_of,
    critical_ids,
    dares,
    play_chance,
    promised_ids,
    soon_playable,
    take_hint,
)
from kibitz.games.hanabi.notes import (
    BOARD,
    DEAD,
    NOTED,
    PLAYABLE,
    count_bits,
    count_not_elsewhere,
    explained,
    least_kept,
    mean_value,
    own_ids,
    public_left,
    read_board,
    touched_by,
)

# What makes a hint good: a play that follows, one that will, a card saved; and bad: a touched card
# that is not wanted, a wrong belief. A little for every identity struck out. Found by trial. A card
# that is played and does not fit outweighs everything.
PLAY_WORTH, SOON_WORTH, SAVE_WORTH = 10.0, 5.0, 8.0
BAD_TOUCH_COST, WRONG_COST, MISFIT_COST = 5.0, 30.0, 1000.0
BIT_WORTH = 0.05
LEAST_WORTH = 3.0  # of a hint that is given rather than discarding
# Reasons.
RESCUE, PLAY, LAST_CHANCE, TELL, STALL, MISLEADS, LOST, CHOP, KEPT_LEAST, CORNERED = range(10)


# --- hints ---------------------------------------------------------------------------------------


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
def rate_hint(view, memory, trial, board, left, seat, hint):
    """Say how good a hint is, from what its owner will make of it; -inf if it touches nothing."""
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
        card = int(view[DECK + view[SLOT + i]])
        truth = 1 << card
        before, after = memory[NOTED + i], trial[NOTED + i]
        chance = play_chance(before, memory[TOUCHED + i], promised, board, left)
        played = dares(view, chance)
        chance = play_chance(after, trial[TOUCHED + i], promised_now, board, left)
        plays = dares(view, chance)
        if plays and not truth & board[PLAYABLE] and not played:
            rating -= MISFIT_COST
        twice = is_promised(view, memory, card, seat, place)
        if plays and not played:
            if not twice:
                rating += PLAY_WORTH - 0.3 * (card % VALUES)
        elif after & ~soon == 0 and before & ~soon and truth & soon and not twice:
            rating += SOON_WORTH
        if played and not plays and not truth & board[PLAYABLE]:
            rating += PLAY_WORTH  # it was about to be played, and must not be
        if touched >> place & 1 and not memory[TOUCHED + i] and (truth & board[DEAD] or twice):
            rating -= BAD_TOUCH_COST
        if truth & before and not truth & after:
            rating -= WRONG_COST
        if place == chop and touched >> place & 1 and truth & critical:
            rating += SAVE_WORTH
        if not truth & board[DEAD]:
            rating += BIT_WORTH * (count_bits(before) - count_bits(after))
    return rating


@compiled()
def best_hint(view, memory, board, left):
    """Give the best hint and how good it is; -1 where none is legal."""
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    trial = np.empty_like(memory)
    best = -1
    most = -np.inf
    for onward in range(seats - 1):
        seat = (viewer + onward + 1) % seats
        for hint in range(HINTS):
            rating = rate_hint(view, memory, trial, board, left, seat, hint)
            if rating > most:
                best = HINT + HINTS * onward + hint
                most = rating
    return best, most


@compiled()
def knows_a_play(view, memory, board, left, seat):
    """Tell whether a seat knows a card that it will play."""
    promised = promised_ids(view, memory)
    for i in range(seat * MOST_HAND, seat * MOST_HAND + cards_held(view, seat)):
        chance = play_chance(memory[NOTED + i], memory[TOUCHED + i], promised, board, left)
        if dares(view, chance):
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
def is_in_danger(view, memory, board, left, seat):
    """Tell whether a seat is about to discard a card that is the last of its kind."""
    chop = chop_of(view, memory, seat)
    if chop < 0 or knows_a_play(view, memory, board, left, seat):
        return False
    if knows_a_loss(view, memory, board, seat):
        return False
    return critical_ids(view) >> int(view[DECK + view[SLOT + seat * MOST_HAND + chop]]) & 1


# --- choosing ------------------------------------------------------------------------------------


@compiled()
def find_play(view, memory, board, unseen):
    """Give the place of the card that is best to play, and why; -1 where none is likely enough."""
    viewer = int(view[VIEWER])
    promised = promised_ids(view, memory)
    nothing_to_lose = view[LAST] > 0 and view[STORMS] + 1 < view[MAX_STORMS]
    best = -1
    why = PLAY
    most = 0.0
    for place in range(cards_held(view, viewer)):
        ids = own_ids(view, memory, unseen, place)
        touched = memory[TOUCHED + viewer * MOST_HAND + place]
        chance = play_chance(ids, touched, promised, board, unseen)
        if chance > 0.0 and (nothing_to_lose or dares(view, chance)):
            worth = chance * 10.0 - mean_value(ids, unseen)
            if best < 0 or worth > most:
                best = place
                why = PLAY if dares(view, chance) else LAST_CHANCE
                most = worth
    return best, why


@compiled()
def find_rescue(view, memory, board, left, seat):
    """Give the best hint for the next seat, or -1 where it is in no danger or none is good."""
    best = -1
    if is_in_danger(view, memory, board, left, seat):
        trial = np.empty_like(memory)
        most = 0.0
        for hint in range(HINTS):
            rating = rate_hint(view, memory, trial, board, left, seat, hint)
            if rating > most:
                best = HINT + hint
                most = rating
    return best


@compiled()
def find_discard(view, memory, board, unseen):
    """Give the place of the card to discard, and why: lost, the chop, or least worth keeping."""
    viewer = int(view[VIEWER])
    held = cards_held(view, viewer)
    for place in range(held):
        if own_ids(view, memory, unseen, place) & ~board[DEAD] == 0:
            return place, LOST
    chop = chop_of(view, memory, viewer)
    if chop >= 0:
        return chop, CHOP
    return least_kept(view, memory, board, unseen), KEPT_LEAST


@compiled()
def decide(view, memory):
    """Choose by the notes, which must be up to date; give the action and why."""
    board = np.empty(BOARD, np.int64)
    unseen = np.empty(CARDS, np.int64)
    left = np.empty(CARDS, np.int64)
    read_board(view, board)
    count_not_elsewhere(view, unseen)
    public_left(view, memory, left)
    if view[NOTES] > 0 and view[LAST] == 0:
        following = (int(view[VIEWER]) + 1) % int(view[SEATS])
        rescue = find_rescue(view, memory, board, left, following)
        if rescue >= 0:
            return rescue, RESCUE
    place, why = find_play(view, memory, board, unseen)
    if place >= 0:
        return place, why
    may_discard = view[NOTES] < view[MAX_NOTES]
    if view[NOTES] > 0:
        hint, rating = best_hint(view, memory, board, left)
        if hint >= 0 and rating >= LEAST_WORTH:
            return hint, TELL
        if hint >= 0 and not may_discard:
            return hint, (STALL if rating >= 0.0 else MISLEADS)
    place, why = find_discard(view, memory, board, unseen)
    return (DISCARD + place, why) if may_discard else (place, CORNERED)


@compiled(CHOOSE)
def smart(rules, view, actions, n, weights, memory, rng):
    """Play, save and discard by conventions that people use, reckoning what a hint will mean."""
    catch_up(view, memory)
    return decide(view, memory)[0]


@compiled(NOTICE)
def notice_smart(view, actor, action, memory):
    """Follow the log."""
    catch_up(view, memory)


# --- in words ------------------------------------------------------------------------------------

REASONS = {
    RESCUE: "The next seat may lose a card that is the last of its kind; this hint is best for it.",
    PLAY: "By what hints meant and by the cards that it sees, this card very likely fits.",
    LAST_CHANCE: "The last turns: this card may fit, and a storm would not be the last.",
    TELL: "This hint leads to a play, saves a card, or is worth knowing.",
    STALL: "No hint does much, but all notes are there; this one does most.",
    MISLEADS: "All notes are there, and every hint does harm; this one least.",
    LOST: "This card is of no use any more.",
    CHOP: "The oldest card that no hint has touched goes first.",
    KEPT_LEAST: "All cards have been touched; this one is least likely to be needed.",
    CORNERED: "No hint can be given, and no note can come back.",
}


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say why, and what each own card can be by the conventions."""
    memory = agent.memory.copy()
    catch_up(view.cells, memory)
    action, why = decide(view.cells, memory)
    return explained(view, memory, int(action), REASONS[int(why)], "by what was meant")


SMART = Kind(choose=smart, notice=notice_smart, memory=MEMORY, explain=_explain, games=("hanabi",))
