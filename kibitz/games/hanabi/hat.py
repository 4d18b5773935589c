"""The information strategy: hints that speak to everybody at once.

A hint can be given in many ways: to each of the others, by colour or by value, touching a certain
card or not. All see which way was taken, so a hint is a number below M, three for each other seat.
The one who gives it looks at every other hand and adds up, modulo M, a number for each: the answer
to questions about that hand which all know how to ask. Everybody sees all hands but their own, so
everybody finds their own number by subtraction (Cox, De Silva, Deorsey, Kenter, Retter and Tobin,
"How to make the perfect fireworks display: two strategies for Hanabi", Mathematics Magazine 88,
2015, after the puzzles of the hats).

What follows from hints is known to all, so everybody keeps the same notes: for every card in every
hand the identities that it can have for all to know, as bits (`memory`). Questions are made from
these notes alone. The first is which card is the first that can be played, in the order of how
likely that is; the rest of M tells cards apart, those that can be played before others, and lost
ones not at all.
"""

from __future__ import annotations

import os
import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, NOTICE, compiled
from kibitz.core.game import HIDDEN, PLIES, SEAT, SEATS, VIEWER
from kibitz.games.hanabi.cards import cards_held, count_unseen, reach_of
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOURS,
    COLOURS_USED,
    DECK,
    DISCARD,
    DISCARDED,
    DRAWN,
    EMPTY,
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
    TOLD,
    VALUE,
    VALUE_BITS,
    VALUES,
    VALUES_USED,
    cards_in_deck,
    copies_of,
    hand_size,
)

# Identities that have one of some colours, one of some values, as bits.
COLOUR_IDS = np.array(
    [
        sum(1 << (c * VALUES + v) for c in range(COLOURS) if bits >> c & 1 for v in range(VALUES))
        for bits in range(1 << COLOURS)
    ],
    np.int64,
)
VALUE_IDS = np.array(
    [
        sum(1 << (c * VALUES + v) for v in range(VALUES) if bits >> v & 1 for c in range(COLOURS))
        for bits in range(1 << VALUES)
    ],
    np.int64,
)

# Memory: how many plies are noted, plus 1; then the identities of each card for all to know.
DONE, NOTED = 0, 1
MEMORY = NOTED + MOST_SEATS * MOST_HAND

FEW_WAYS, MANY_WAYS = 4, int(os.environ.get('MW','6'))
# What all know about the table, as bits of identities.
PLAYABLE, DEAD, BOARD = 0, 1, 2
DQ = int(os.environ.get('DQ','1'))


@compiled()
def count_bits(bits):
    """Count set bits."""
    n = 0
    while bits:
        bits &= bits - 1
        n += 1
    return n


@compiled()
def read_board(view, board):
    """Write which identities can be played now, and which never again."""
    board[PLAYABLE] = board[DEAD] = 0
    values = int(view[VALUES_USED])
    for colour in range(view[COLOURS_USED]):
        height, reach = int(view[FIREWORK + colour]), reach_of(view, colour)
        for value in range(values):
            bit = 1 << (colour * VALUES + value)
            if value == height and height < reach:
                board[PLAYABLE] |= bit
            elif value < height or value >= reach:
                board[DEAD] |= bit


@compiled()
def allowed_by_hints(told):
    """Give the identities that hints allow, as bits."""
    return COLOUR_IDS[told & (1 << COLOURS) - 1] & VALUE_IDS[told >> VALUE_BITS & (1 << VALUES) - 1]


@compiled()
def public_left(view, memory, left):
    """Write how many of each card are not yet known by all to be somewhere."""
    values = int(view[VALUES_USED])
    for card in range(CARDS):
        left[card] = 0
    for colour in range(view[COLOURS_USED]):
        for value in range(values):
            card = colour * VALUES + value
            left[card] = copies_of(values, value) - view[DISCARDED + card]
            left[card] -= value < view[FIREWORK + colour]
    for seat in range(view[SEATS]):
        for place in range(cards_held(view, seat)):
            ids = memory[NOTED + seat * MOST_HAND + place]
            if ids & (ids - 1) == 0:
                left[single_bit(ids)] -= 1


@compiled()
def single_bit(bits):
    """Give the place of a single set bit."""
    place = 0
    while bits > 1:
        bits >>= 1
        place += 1
    return place


@compiled()
def refine(view, memory, left):
    """Strike out what hints exclude, and cards that all know to be elsewhere."""
    for _ in range(3):
        public_left(view, memory, left)
        gone = 0
        for card in range(CARDS):
            if left[card] <= 0:
                gone |= 1 << card
        changed = False
        for seat in range(view[SEATS]):
            for place in range(cards_held(view, seat)):
                at = NOTED + seat * MOST_HAND + place
                ids = memory[at]
                told = int(view[TOLD + view[SLOT + seat * MOST_HAND + place]])
                fewer = ids & allowed_by_hints(told)
                if fewer & (fewer - 1):
                    fewer &= ~gone
                if fewer != ids and fewer:
                    memory[at] = fewer
                    changed = True
        if not changed:
            break


# --- questions -----------------------------------------------------------------------------------


@compiled()
def chance_in(ids, some, left):
    """Give the chance that a card is one of some identities, by the cards that are left."""
    all_cards = part = 0
    for card in range(CARDS):
        if ids >> card & 1:
            all_cards += max(left[card], 0)
            if some >> card & 1:
                part += max(left[card], 0)
    return part / all_cards if all_cards else 0.0


@compiled()
def divide_identities(ids, board, capacity, classes):
    """Divide identities into classes: those that can be played, others, lost ones; give how many."""
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
    discards = DQ and not holds(view, memory, seat, board[DEAD])
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
def narrow(memory, at, ids):
    """Keep only some identities, unless that leaves none."""
    if memory[at] & ids:
        memory[at] &= ids


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
def fresh_ids(view):
    """Give all identities that the deck has."""
    colours, values = (1 << int(view[COLOURS_USED])) - 1, (1 << int(view[VALUES_USED])) - 1
    return COLOUR_IDS[colours] & VALUE_IDS[values]


@compiled()
def catch_up(view, memory):
    """Bring the notes up to date with the log."""
    seats = int(view[SEATS])
    plies = int(view[PLIES])
    left = np.empty(CARDS, np.int64)
    if memory[DONE] == 0:
        for i in range(MOST_SEATS * MOST_HAND):
            memory[NOTED + i] = fresh_ids(view)
        # Whoever joins later has missed what was said, and knows only what hints name.
        memory[DONE] = 1 if plies <= 1 else plies + 1
    while memory[DONE] <= plies:
        ply = memory[DONE] - 1
        memory[DONE] += 1
        action, outcome = int(view[LOG + ply]), int(view[OUTCOME + ply])
        actor = ply % seats
        if action < HINT:
            at = NOTED + actor * MOST_HAND
            for place in range(action % MOST_HAND, MOST_HAND - 1):
                memory[at + place] = memory[at + place + 1]
            if view[LAST] == 0 or view[LAST] == seats:  # a card was drawn
                memory[at + cards_held(view, actor) - 1] = fresh_ids(view)
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
    base = SLOT + target * MOST_HAND
    best = -1
    most = -1
    for hint in range(HINTS):
        touched = struck = 0
        named = COLOUR_IDS[1 << hint] if hint < VALUE else VALUE_IDS[1 << (hint - VALUE)]
        for place in range(cards_held(view, target)):
            ids = memory[NOTED + target * MOST_HAND + place]
            if named >> view[DECK + view[base + place]] & 1:
                touched |= 1 << place
                struck += count_bits(ids & ~named)
            else:
                struck += count_bits(ids & named)
        if touched and struck > most and way_of(view, memory, target, hint, touched, ways) == way:
            best = HINT + HINTS * onward + hint
            most = struck
    return best


@compiled()
def own_ids(view, memory, unseen, place):
    """Give the identities that an own card can have, by all that the viewer knows."""
    ids = memory[NOTED + view[VIEWER] * MOST_HAND + place]
    seen = 0
    for card in range(CARDS):
        if unseen[card] <= 0:
            seen |= 1 << card
    fewer = ids & ~seen
    return fewer if fewer else ids


@compiled()
def mean_value(ids, unseen):
    """Give the mean value of the identities that a card can have."""
    total = weight = 0.0
    for card in range(CARDS):
        if ids >> card & 1:
            total += unseen[card] * (card % VALUES)
            weight += unseen[card]
    return total / weight if weight > 0 else 0.0


@compiled()
def others_can_play(view, memory, board):
    """Count the others who know of a card that they can play."""
    n = 0
    for seat in range(view[SEATS]):
        if seat != view[VIEWER]:
            for place in range(cards_held(view, seat)):
                if memory[NOTED + seat * MOST_HAND + place] & ~board[PLAYABLE] == 0:
                    n += 1
                    break
    return n


@compiled()
def keeping(view, ids, board, unseen):
    """Say how much a card that may be one of these should be kept."""
    values = int(view[VALUES_USED])
    worth = weight = 0.0
    for card in range(CARDS):
        if ids >> card & 1 and unseen[card] > 0:
            weight += unseen[card]
            if board[DEAD] >> card & 1:
                continue
            colour, value = divmod(card, VALUES)
            left = copies_of(values, value) - view[DISCARDED + card]
            if left == 1:
                worth += unseen[card] * (20.0 - value)
            elif seen_elsewhere(view, card):
                worth += unseen[card] * 0.5
            else:
                worth += unseen[card] * (6.0 - (value - view[FIREWORK + colour]))
    return worth / weight if weight > 0 else 0.0


@compiled()
def seen_elsewhere(view, card):
    """Tell whether somebody else holds such a card."""
    for seat in range(view[SEATS]):
        if seat != view[VIEWER]:
            for place in range(cards_held(view, seat)):
                if view[DECK + view[SLOT + seat * MOST_HAND + place]] == card:
                    return True
    return False


@compiled()
def choose_hat(view, memory, weights):
    """Choose by the notes."""
    catch_up(view, memory)
    seats, seat = int(view[SEATS]), int(view[VIEWER])
    board = np.empty(BOARD, np.int64)
    left = np.empty(CARDS, np.int64)
    unseen = np.empty(CARDS, np.int64)
    read_board(view, board)
    public_left(view, memory, left)
    count_unseen(view, unseen)
    held = cards_held(view, seat)
    best = -1
    least = 0.0
    for place in range(held):
        ids = own_ids(view, memory, unseen, place)
        if ids & ~board[PLAYABLE] == 0:
            worth = mean_value(ids, unseen)
            if best < 0 or worth < least:
                best = place
                least = worth
    if best >= 0:
        return best
    total = cards_in_deck(view)
    if view[STORMS] + 1 < view[MAX_STORMS]:
        deck = total - int(view[DRAWN])
        least = weights[1]
        if view[LAST] > 0:
            least = weights[2]
        elif deck <= weights[3]:
            least = weights[4]
        for place in range(held):
            chance = chance_in(own_ids(view, memory, unseen, place), board[PLAYABLE], unseen)
            if chance > least:
                best = place
                least = chance
        if best >= 0:
            return best
    out = 0
    for card in range(CARDS):
        out += view[DISCARDED + card]
    spare = total - int(view[COLOURS_USED]) * int(view[VALUES_USED]) - seats * hand_size(view)
    dead = -1
    lowest = -1
    for place in range(held):
        ids = own_ids(view, memory, unseen, place)
        if ids & ~board[DEAD] == 0 and dead < 0:
            dead = place
        worth = keeping(view, ids, board, unseen)
        if lowest < 0 or worth < least:
            lowest = place
            least = worth
    may_discard = view[NOTES] < view[MAX_NOTES]
    if dead >= 0 and may_discard and out <= spare + weights[0]:
        return DISCARD + dead
    if view[NOTES] > 0 and (others_can_play(view, memory, board) > 0 or not may_discard or True):
        hint = find_hint(view, memory, board, left)
        if hint >= 0:
            return hint
    if may_discard:
        return DISCARD + (dead if dead >= 0 else lowest)
    return lowest  # no note to win back, and none that can be used


@compiled(CHOOSE)
def hat(rules, view, actions, n, weights, memory, rng):
    """Tell everybody about their hands with each hint, by a code that all share."""
    return choose_hat(view, memory, weights)


@compiled(NOTICE)
def notice_hat(view, actor, action, memory):
    """Follow the log."""
    catch_up(view, memory)
