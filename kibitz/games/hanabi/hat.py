"""The information strategy: hints that speak to everybody at once.

A hint can be given in many ways: to each of the others, by colour or by value, touching a certain
card or not. All see which way was taken, so a hint is a number below M: four for each other seat,
and eight at two seats, where it may touch one of three cards first or none. The one who gives it
looks at every other hand and adds up, modulo M, a number for each: the answer to questions about
that hand which all know how to ask. Everybody sees all hands but their own, so everybody finds
their own number by subtraction (Cox, De Silva, Deorsey, Kenter, Retter and Tobin, "How to make the
perfect fireworks display: two strategies for Hanabi", Mathematics Magazine 88, 2015, after the
puzzles of the hats).

What follows from hints is known to all, so everybody keeps the same notes: for every card in every
hand the identities that it can have for all to know, as bits (`memory`). Questions are made from
these notes alone. The first is which card is the first that can be played, in the order of how
likely that is; the rest of M tells cards apart, those that can be played before others, and lost
ones not at all.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion
from kibitz.core.compiled import CHOOSE, NOTICE, compiled
from kibitz.core.game import PLIES, SEATS, VIEWER
from kibitz.core.table import View
from kibitz.games.hanabi.cards import cards_held
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS_USED,
    DECK,
    DISCARD,
    DISCARDED,
    HINT,
    HINTS,
    LAST,
    LOG,
    MAX_NOTES,
    MAX_STORMS,
    MOST_HAND,
    NOTES,
    OUTCOME,
    SLOT,
    STORMS,
    VALUE,
    VALUES_USED,
    cards_in_deck,
    hand_size,
)
from kibitz.games.hanabi.notes import (
    BOARD,
    DEAD,
    DONE,
    NOTED,
    NOTES_END,
    PLAYABLE,
    begin_notes,
    chance_in,
    count_bits,
    count_not_elsewhere,
    explained,
    follow_card,
    fresh_ids,
    least_kept,
    mean_value,
    named_by,
    narrow,
    own_ids,
    public_left,
    read_board,
    refine,
    touched_by,
)

FEW_WAYS, MANY_WAYS = 4, 8
RISK = 0.8  # chance to be playable from which a card is played, while a storm can be borne
MISPLAY = 10  # how much worse than a false note it is that the card will be played or discarded
SURE, LIKELY, LAST_CHANCE, LOST, SAID, KEPT_LEAST, CORNERED, MISLEADS = range(8)  # reasons


# --- questions -----------------------------------------------------------------------------------


@compiled()
def divide_identities(ids, board, capacity, classes):
    """Divide identities into classes, playable ones, others and lost ones; give how many."""
    playable, dead = ids & board[PLAYABLE], ids & board[DEAD]
    others = ids & ~playable & ~dead
    n_playable, n_others, n_dead = count_bits(playable), count_bits(others), int(dead != 0)
    total = n_playable + n_others + n_dead
    if total <= capacity:
        first, second = n_playable, n_others
    else:
        free = capacity - n_dead if capacity > 2 else capacity
        if capacity <= 2 or free < 1:
            n_dead = 0  # then lost ones are as the others that cannot be played
            free = capacity
        if n_playable == 0:
            first, second = 0, free
        elif n_others == 0 and n_dead:
            first, second = free, 0
        else:
            first = (free * n_playable + (n_playable + n_others) // 2) // (n_playable + n_others)
            first = min(n_playable, max(1, min(first, free - 1)))
            second = free - first
    a = b = 0
    for card in range(CARDS):
        classes[card] = 0  # for partners who do not keep to the code, a card may be none of these
        if playable >> card & 1:
            classes[card] = a % first
            a += 1
        elif others >> card & 1:
            classes[card] = first + b % second
            b += 1
        elif dead >> card & 1:
            classes[card] = first + second if n_dead else first
    return first + second + n_dead


@compiled()
def share_out(capacity, n, chances, parts):
    """Share numbers out among n answers: one each, and more to those that are likelier."""
    spent = 0
    best = 0
    for a in range(n):
        parts[a] = 1 + int((capacity - n) * chances[a])
        spent += parts[a]
        if chances[a] > chances[best]:
            best = a
    parts[best] += capacity - spent


@compiled()
def order_by(view, memory, seat, some, left, most, order, chances):
    """Order the cards that may be one of some identities, likeliest first; give how many."""
    held = cards_held(view, seat)
    taken = n = 0
    while n < min(held, most):
        best = -1
        greatest = 0.0
        for place in range(held):
            ids = memory[NOTED + seat * MOST_HAND + place]
            if taken >> place & 1 or ids & some == 0 or ids & ~some == 0:
                continue
            chance = chance_in(ids, some, left)
            if chance > greatest:
                best = place
                greatest = chance
        if best < 0:
            break
        taken |= 1 << best
        order[n] = best
        chances[n] = greatest
        n += 1
    through = 1.0  # to the chance that each is the first
    for i in range(n):
        one = chances[i]
        chances[i] = through * one
        through *= 1.0 - one
    chances[n] = through
    return n


@compiled()
def holds(view, memory, seat, some):
    """Tell whether all know that a seat holds a card of some identities."""
    for place in range(cards_held(view, seat)):
        if memory[NOTED + seat * MOST_HAND + place] & ~some == 0:
            return True
    return False


@compiled()
def best_to_tell(view, memory, seat, board, left):
    """Give the place of the card that is most worth telling apart, or -1."""
    best = -1
    most = 0.0
    for place in range(cards_held(view, seat)):
        ids = memory[NOTED + seat * MOST_HAND + place]
        if ids & (ids - 1) == 0 or ids & ~board[DEAD] == 0:
            continue
        worth = 1.0 - chance_in(ids, board[DEAD], left) + chance_in(ids, board[PLAYABLE], left)
        if worth > most:
            best = place
            most = worth
    return best


@compiled()
def converse(view, memory, seat, board, left, capacity, value):
    """Answer questions about a hand by a number below `capacity`, and note what it says.

    Give the number for a hand that is seen, with `value` below 0; or give a number, to learn. Each
    question depends on the answers before.
    """
    chances = np.empty(CARDS)
    parts = np.empty(CARDS, np.int64)
    order = np.empty(CARDS, np.int64)  # or classes
    base = NOTED + seat * MOST_HAND
    hand = SLOT + seat * MOST_HAND
    number = 0
    plays = not holds(view, memory, seat, board[PLAYABLE])
    discards = not holds(view, memory, seat, board[DEAD])
    while capacity > 1:
        n = answer = 0
        some = board[PLAYABLE]
        if plays:
            n = order_by(view, memory, seat, some, left, capacity - 1, order, chances)
            plays = False
        elif discards and not holds(view, memory, seat, board[PLAYABLE]):
            some = board[DEAD]
            n = order_by(view, memory, seat, some, left, capacity - 1, order, chances)
            discards = False
        if n > 0:
            share_out(capacity, n + 1, chances, parts)
            if value < 0:
                while answer < n and not some >> view[DECK + view[hand + order[answer]]] & 1:
                    answer += 1
            else:
                answer = part_of(value, parts)
            for i in range(min(answer + 1, n)):
                narrow(memory, base + order[i], some if i == answer else ~some)
        else:
            place = best_to_tell(view, memory, seat, board, left)
            if place < 0:
                break
            ids = memory[base + place]
            n = divide_identities(ids, board, capacity, order)
            for i in range(n):
                chances[i] = 0.0
            total = 0
            for card in range(CARDS):
                if ids >> card & 1:
                    chances[order[card]] += max(left[card], 0)
                    total += max(left[card], 0)
            for i in range(n):
                chances[i] = chances[i] / total if total else 1.0 / n
            share_out(capacity, n, chances, parts)
            answer = order[view[DECK + view[hand + place]]] if value < 0 else part_of(value, parts)
            told = 0
            for card in range(CARDS):
                if ids >> card & 1 and order[card] == answer:
                    told |= 1 << card
            narrow(memory, base + place, told)
            if n == 1:
                break
        for i in range(answer):
            number += parts[i]
            if value >= 0:
                value -= parts[i]
        capacity = parts[answer]
    return number


@compiled()
def part_of(value, parts):
    """Give the answer to which a number belongs."""
    answer = 0
    while value >= parts[answer]:
        value -= parts[answer]
        answer += 1
    return answer


@compiled()
def ways_of(view, notes):
    """Give in how many ways each other seat can be hinted, given the notes there were.

    Six are not always there in a hand; with all notes at hand a seat that cannot say what it wants
    could not discard instead, so then there are four, which nearly always are.
    """
    return FEW_WAYS if notes == view[MAX_NOTES] or view[SEATS] > 2 else MANY_WAYS


@compiled()
def way_of(view, memory, seat, hint, touched, ways):
    """Number a hint: by colour or by value, and which of some cards it touches first, or none.

    Those are the cards of which all know least.
    """
    way = 0 if hint < VALUE else 1
    passed = 0
    for _ in range(ways // 2 - 1):
        first = -1
        for place in range(cards_held(view, seat)):
            if passed >> place & 1:
                continue
            if first < 0 or count_bits(memory[NOTED + seat * MOST_HAND + place]) > count_bits(
                memory[NOTED + seat * MOST_HAND + first]
            ):
                first = place
        if first < 0 or touched >> first & 1:
            break
        passed |= 1 << first
        way += 2
    return way


# --- following the game --------------------------------------------------------------------------


@compiled()
def catch_up(view, memory):
    """Bring the notes up to date with the log."""
    seats = int(view[SEATS])
    plies = int(view[PLIES])
    left = np.empty(CARDS, np.int64)
    begin_notes(view, memory)
    while memory[DONE] <= plies:
        ply = memory[DONE] - 1
        memory[DONE] += 1
        action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
        actor = ply % seats
        if action < HINT:
            follow_card(view, memory, NOTED, actor, action, fresh_ids(view))
        else:
            follow_hint(view, memory, actor, action, outcome, left)
    refine(view, memory, left)


@compiled()
def follow_hint(view, memory, giver, action, outcome, left):
    """Note what a hint tells everybody."""
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    onward, hint = divmod(action - HINT, HINTS)
    target = (giver + onward + 1) % seats
    ways = ways_of(view, view[NOTES] + 1)
    way = way_of(view, memory, target, hint, outcome, ways)
    capacity = ways * (seats - 1)
    board = np.empty(BOARD, np.int64)
    read_board(view, board)
    public_left(view, memory, left)
    rest = ways * onward + way
    for seat in range(seats):
        if seat != giver and seat != viewer:
            rest -= converse(view, memory, seat, board, left, capacity, -1)
    if viewer != giver:
        converse(view, memory, viewer, board, left, capacity, rest % capacity)


# --- choosing ------------------------------------------------------------------------------------


@compiled()
def find_hint(view, memory, board, left):
    """Find the hint that tells everybody their answer; give the action, or -1 if there is none."""
    seats, seat = int(view[SEATS]), int(view[VIEWER])
    ways = ways_of(view, view[NOTES])
    capacity = ways * (seats - 1)
    notes = memory.copy()
    number = 0
    for other in range(seats):
        if other != seat:
            number += converse(view, notes, other, board, left, capacity, -1)
    onward, way = divmod(number % capacity, ways)
    target = (seat + onward + 1) % seats
    best = -1
    most = -1
    for hint in range(HINTS):
        touched = touched_by(view, target, hint)
        if touched == 0 or way_of(view, memory, target, hint, touched, ways) != way:
            continue
        named = named_by(hint)
        struck = 0
        for place in range(cards_held(view, target)):
            ids = memory[NOTED + target * MOST_HAND + place]
            struck += count_bits(ids & (~named if touched >> place & 1 else named))
        if struck > most:
            best = HINT + HINTS * onward + hint
            most = struck
    return best


@compiled()
def harm_of(view, memory, seat, board):
    """Say how bad notes on a hand are: false ones, and worse, those that cost a storm or a card."""
    harm = 0
    for place in range(cards_held(view, seat)):
        ids = memory[NOTED + seat * MOST_HAND + place]
        truth = 1 << int(view[DECK + view[SLOT + seat * MOST_HAND + place]])
        if ids & truth == 0:
            harm += 1
            for some in (board[PLAYABLE], board[DEAD]):
                if ids & ~some == 0 and not truth & some:
                    harm += MISPLAY
    return harm


@compiled()
def least_misleading(view, memory, board, left):
    """Find the hint that misleads least, where none says what it must; -1 where none is legal.

    Every other seat finds its own number wrong by the same difference.
    """
    seats, viewer = int(view[SEATS]), int(view[VIEWER])
    ways = ways_of(view, view[NOTES])
    capacity = ways * (seats - 1)
    numbers = np.zeros(seats, np.int64)
    trial = memory.copy()
    for seat in range(seats):
        if seat != viewer:
            numbers[seat] = converse(view, trial, seat, board, left, capacity, -1)
    best = -1
    least = 0
    for onward in range(seats - 1):
        target = (viewer + onward + 1) % seats
        for hint in range(HINTS):
            touched = touched_by(view, target, hint)
            if touched == 0:
                continue
            way = way_of(view, memory, target, hint, touched, ways)
            wrong_by = ways * onward + way - numbers.sum()
            trial = memory.copy()
            harm = 0
            for seat in range(seats):
                if seat != viewer:
                    number = (numbers[seat] + wrong_by) % capacity
                    converse(view, trial, seat, board, left, capacity, number)
                    harm += harm_of(view, trial, seat, board)
            if best < 0 or harm < least:
                best = HINT + HINTS * onward + hint
                least = harm
    return best


@compiled()
def sure_play(view, memory, board, unseen):
    """Give the place of the lowest own card that can surely be played, or -1."""
    best = -1
    least = 0.0
    for place in range(cards_held(view, view[VIEWER])):
        ids = own_ids(view, memory, unseen, place)
        if ids & ~board[PLAYABLE] == 0:
            value = mean_value(ids, unseen)
            if best < 0 or value < least:
                best = place
                least = value
    return best


@compiled()
def likely_play(view, memory, board, unseen):
    """Give the place of a card worth the risk, or -1.

    In the last turns any chance is: a storm does no harm, and discards do no good.
    """
    best = -1
    if view[STORMS] + 1 < view[MAX_STORMS]:
        least = 0.0 if view[LAST] > 0 else RISK
        for place in range(cards_held(view, view[VIEWER])):
            chance = chance_in(own_ids(view, memory, unseen, place), board[PLAYABLE], unseen)
            if chance > least:
                best = place
                least = chance
    return best


@compiled()
def lost_card(view, memory, board, unseen):
    """Give the place of an own card that is surely of no use, or -1."""
    for place in range(cards_held(view, view[VIEWER])):
        if own_ids(view, memory, unseen, place) & ~board[DEAD] == 0:
            return place
    return -1


@compiled()
def can_spare(view):
    """Tell whether as many cards may be lost as leave turns enough to build everything."""
    out = 0
    for card in range(CARDS):
        out += view[DISCARDED + card]
    needed = int(view[COLOURS_USED]) * int(view[VALUES_USED])
    return out <= cards_in_deck(view) - needed - int(view[SEATS]) * hand_size(view)


@compiled()
def decide(view, memory):
    """Choose by the notes, which must be up to date; give the action and why."""
    board = np.empty(BOARD, np.int64)
    left = np.empty(CARDS, np.int64)
    unseen = np.empty(CARDS, np.int64)
    read_board(view, board)
    public_left(view, memory, left)
    count_not_elsewhere(view, unseen)
    place = sure_play(view, memory, board, unseen)
    if place >= 0:
        return place, SURE
    place = likely_play(view, memory, board, unseen)
    if place >= 0:
        return place, LAST_CHANCE if view[LAST] > 0 else LIKELY
    lost = lost_card(view, memory, board, unseen)
    may_discard = view[NOTES] < view[MAX_NOTES]
    if lost >= 0 and may_discard and can_spare(view):
        return DISCARD + lost, LOST
    if view[NOTES] > 0:
        hint = find_hint(view, memory, board, left)
        if hint >= 0:
            return hint, SAID
    least = least_kept(view, memory, board, unseen)
    if may_discard:
        return (DISCARD + lost, LOST) if lost >= 0 else (DISCARD + least, KEPT_LEAST)
    # A hint that misleads spoils everybody's notes, which costs more points than a storm does.
    if view[STORMS] + 1 >= view[MAX_STORMS]:
        hint = least_misleading(view, memory, board, left)
        if hint >= 0:
            return hint, MISLEADS
    return least, CORNERED


@compiled(CHOOSE)
def hat(rules, view, actions, n, weights, memory, rng):
    """Tell everybody about their hands with every hint, by a code that all share."""
    catch_up(view, memory)
    return decide(view, memory)[0]


@compiled(NOTICE)
def notice_hat(view, actor, action, memory):
    """Follow the log."""
    catch_up(view, memory)


# --- in words ------------------------------------------------------------------------------------

REASONS = {
    SURE: "By what all hints have said, this card can be played.",
    LIKELY: "This card can very likely be played, and a storm would not be the last.",
    LAST_CHANCE: "The last turns: this card may fit, and a storm would not be the last.",
    LOST: "This card is of no use any more, and a note comes back.",
    SAID: "This hint, given just so, tells every other seat about its own hand.",
    KEPT_LEAST: "Of its cards this one is least likely to be needed.",
    CORNERED: "No hint says what it must, and no note can come back; this card is needed least.",
    MISLEADS: "No hint says what it must, no note can come back, and a storm would be the last; "
    "this hint misleads least.",
}


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say why, and what all know about each own card."""
    memory = agent.memory.copy()
    catch_up(view.cells, memory)
    action, why = decide(view.cells, memory)
    return explained(view, memory, int(action), REASONS[int(why)], "for all to know")


HAT = Kind(choose=hat, notice=notice_hat, memory=NOTES_END, explain=_explain, games=("hanabi",))
