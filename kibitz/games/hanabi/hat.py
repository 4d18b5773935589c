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

WAYS = 4  # of hinting each other seat: by colour or value, touching a certain card or not
# What all know about the table, as bits of identities.
PLAYABLE, DEAD, BOARD = 0, 1, 2
# Questions about one hand.
MOST_QUESTIONS = 8
FIRST_PLAYABLE, IDENTITY = 0, 1
KIND, PLACE, RADIX, ORDER = 0, 1, 2, 3  # then places in order, or the class of each identity
QUESTION = ORDER + CARDS


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
def ask_identity(ids, board, capacity, left, question):
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
            question[ORDER + card] = a % first
            a += 1
        elif others >> card & 1:
            question[ORDER + card] = first + b % second
            b += 1
        elif dead >> card & 1:
            question[ORDER + card] = first + second if n_dead else first
    return first + second + n_dead


@compiled()
def ask(view, memory, seat, board, left, capacity, questions):
    """Write the questions about a hand, as many as a number below `capacity` answers; give how many.

    questions [MOST_QUESTIONS, QUESTION]
    """
    base = NOTED + seat * MOST_HAND
    held = cards_held(view, seat)
    n = 0
    sure = False
    chances = np.empty(MOST_HAND)
    asked = 0
    for place in range(held):
        ids = memory[base + place]
        chances[place] = chance_in(ids, board[PLAYABLE], left)
        if ids & ~board[PLAYABLE] == 0:
            sure = True
    if not sure:
        count = 0
        while count < held and count + 2 <= capacity:
            best = -1
            for place in range(held):
                if not asked >> place & 1 and 0.0 < chances[place] < 1.0:
                    if best < 0 or chances[place] > chances[best]:
                        best = place
            if best < 0:
                break
            asked |= 1 << best
            questions[n, ORDER + count] = best
            count += 1
        if count:
            questions[n, KIND] = FIRST_PLAYABLE
            questions[n, RADIX] = count + 1
            capacity //= count + 1
            n += 1
    done = 0
    while capacity >= 2 and n < MOST_QUESTIONS:
        best = -1
        most = 0.0
        for place in range(held):
            ids = memory[base + place]
            if done >> place & 1 or ids & (ids - 1) == 0 or ids & ~board[DEAD] == 0:
                continue
            worth = 1.0 - chance_in(ids, board[DEAD], left) + chances[place]
            if best < 0 or worth > most:
                best = place
                most = worth
        if best < 0:
            break
        done |= 1 << best
        questions[n, KIND] = IDENTITY
        questions[n, PLACE] = best
        radix = ask_identity(memory[base + best], board, capacity, left, questions[n])
        questions[n, RADIX] = radix
        if radix >= 2:
            capacity //= radix
            n += 1
    return n


@compiled()
def answer(view, seat, board, questions, n):
    """Give the answer to the questions about a hand that is seen."""
    value, unit = 0, 1
    for q in range(n):
        found = 0
        if questions[q, KIND] == FIRST_PLAYABLE:
            found = questions[q, RADIX] - 1
            for i in range(questions[q, RADIX] - 1):
                serial = view[SLOT + seat * MOST_HAND + questions[q, ORDER + i]]
                if board[PLAYABLE] >> view[DECK + serial] & 1:
                    found = i
                    break
        else:
            serial = view[SLOT + seat * MOST_HAND + questions[q, PLACE]]
            found = questions[q, ORDER + view[DECK + serial]]
        value += unit * found
        unit *= questions[q, RADIX]
    return value


@compiled()
def learn(memory, seat, board, questions, n, value):
    """Note what an answer says about a hand."""
    base = NOTED + seat * MOST_HAND
    for q in range(n):
        found = value % questions[q, RADIX]
        value //= questions[q, RADIX]
        if questions[q, KIND] == FIRST_PLAYABLE:
            for i in range(min(found + 1, questions[q, RADIX] - 1)):
                at = base + questions[q, ORDER + i]
                if i == found:
                    narrow(memory, at, board[PLAYABLE])
                else:
                    narrow(memory, at, ~board[PLAYABLE])
        else:
            at = base + questions[q, PLACE]
            ids = 0
            for card in range(CARDS):
                if memory[at] >> card & 1 and questions[q, ORDER + card] == found:
                    ids |= 1 << card
            narrow(memory, at, ids)


@compiled()
def narrow(memory, at, ids):
    """Keep only some identities, unless that leaves none."""
    if memory[at] & ids:
        memory[at] &= ids


@compiled()
def anchor_of(view, memory, seat):
    """Give the place that a hint may or may not touch: the one of which least is known."""
    best = 0
    for place in range(1, cards_held(view, seat)):
        if count_bits(memory[NOTED + seat * MOST_HAND + place]) > count_bits(
            memory[NOTED + seat * MOST_HAND + best]
        ):
            best = place
    return best


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
    way = 0 if hint < VALUE else 1
    if not outcome >> anchor_of(view, memory, target) & 1:
        way += 2
    capacity = WAYS * (seats - 1)
    questions = np.empty((MOST_SEATS, MOST_QUESTIONS, QUESTION), np.int64)
    asked = np.zeros(MOST_SEATS, np.int64)
    values = np.zeros(MOST_SEATS, np.int64)
    board = np.empty(BOARD, np.int64)
    read_board(view, board)
    public_left(view, memory, left)
    rest = WAYS * onward + way
    for seat in range(seats):
        if seat != giver:
            asked[seat] = ask(view, memory, seat, board, left, capacity, questions[seat])
            if seat != viewer:
                values[seat] = answer(view, seat, board, questions[seat], asked[seat])
                rest -= values[seat]
    if viewer != giver:
        values[viewer] = rest % capacity
    for seat in range(seats):
        if seat != giver:
            learn(memory, seat, board, questions[seat], asked[seat], values[seat])


# --- choosing ------------------------------------------------------------------------------------


@compiled()
def find_hint(view, memory, board, left):
    """Find the hint that tells everybody their answer; give the action, or -1 if there is none."""
    seats, seat = int(view[SEATS]), int(view[VIEWER])
    capacity = WAYS * (seats - 1)
    questions = np.empty((MOST_QUESTIONS, QUESTION), np.int64)
    number = 0
    for other in range(seats):
        if other != seat:
            n = ask(view, memory, other, board, left, capacity, questions)
            number += answer(view, other, board, questions, n)
    onward, way = divmod(number % capacity, WAYS)
    target = (seat + onward + 1) % seats
    base = SLOT + target * MOST_HAND
    anchor = anchor_of(view, memory, target)
    colour, value = divmod(view[DECK + view[base + anchor]], VALUES)
    first = HINT + HINTS * onward
    if way == 0:
        return first + colour
    if way == 1:
        return first + VALUE + value
    best = -1
    most = -1
    for hint in range(HINTS):
        if hint in (colour, VALUE + value) or (hint < VALUE) != (way == 2):
            continue
        touched = struck = 0
        for place in range(cards_held(view, target)):
            c, v = divmod(view[DECK + view[base + place]], VALUES)
            ids = memory[NOTED + target * MOST_HAND + place]
            named = COLOUR_IDS[1 << hint] if hint < VALUE else VALUE_IDS[1 << (hint - VALUE)]
            has = c == hint if hint < VALUE else v == hint - VALUE
            touched += has
            struck += count_bits(ids & ~named) if has else count_bits(ids & named)
        if touched and struck > most:
            best = first + hint
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
