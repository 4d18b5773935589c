"""What a player sees, in the words of vocabulary.py: `see` writes the facts of a view.

Facts are written in the order of the words; `put` writes one and gives the place of the next.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.compiled import SEE, compiled
from kibitz.core.game import HIDDEN, PLIES, SEATS, VIEWER
from kibitz.core.matching import NO_ACTION, START, STRIDE
from kibitz.games.hanabi.cards import ROUNDING, allowed_ids, cards_held, count_unseen, reach_of
from kibitz.games.hanabi.cells import (
    CARDS,
    COLOUR_NAMED_BIT,
    COLOURS,
    COLOURS_USED,
    DECK,
    DISCARD,
    DISCARDED,
    DRAWN,
    FIREWORK,
    HINT,
    HINTS,
    LAST,
    MARKS,
    MAX_NOTES,
    MOST_HAND,
    MOST_SEATS,
    NOTES,
    SLOT,
    STORMS,
    TOLD,
    VALUE,
    VALUE_NAMED_BIT,
    VALUES,
    VALUES_USED,
    cards_in_deck,
    copies_of,
)
from kibitz.games.hanabi.hint_history import (
    BY_CHOP,
    COUNT_OF,
    FOCUS,
    HINTED,
    HISTORY,
    MEANT,
    NEWEST,
    NEWEST_OF,
    OLDEST_OF,
    WAS_CHOP,
    WHEN,
    WITH_IT,
    byte_of,
    chop_focus_in,
    fits_next,
    focus_in,
    mark_of,
    read_history,
)
from kibitz.games.hanabi.tell_rules import is_known, narrowed
from kibitz.games.hanabi.vocabulary import (
    DISCARD_PILE,
    FELLOW,
    GAME_,
    GROUP_TABLE,
    NEVER,
    NEXT_CARD_,
    NEXT_EXACT,
    OWN,
    OWN_EXACT,
    PLAYER,
    TABLE,
    TELL,
)

# What all know of the table, as bits of identities.
FITS, DEAD, CRITICAL, GONE, BOARD = 0, 1, 2, 3, 4
# Of a hand, as bits of places: cards that fit, that are dead, that are critical; what their holder
# can know, also if it takes for granted that a card is not dead; those of which another is in sight
# in a hand, or hinted in another.
(
    H_FITS, H_DEAD, H_CRITICAL, H_SURE, H_SURE_DEAD, H_IF_WANTED, H_AS_MEANT, H_BY_CHOP,
    H_DOUBLE, H_TAKEN, HAND,
) = range(11)  # fmt: skip


@compiled(inline=True)
def put(facts, at, step, fact):
    """Write a fact of a thing; give the place of its next, as many on as its group has things."""
    facts[at] = fact
    return at + step


@compiled()
def read_board(view, board, left):
    """Write which identities fit, are dead, are critical, are all out; and how many are left.

    board [BOARD] as bits, left [CARDS]: copies neither played nor discarded.
    """
    values = int(view[VALUES_USED])
    fits = dead = critical = gone = 0
    for colour in range(view[COLOURS_USED]):
        height, reach = int(view[FIREWORK + colour]), reach_of(view, colour)
        for value in range(values):
            card = colour * VALUES + value
            left[card] = copies_of(values, value) - view[DISCARDED + card] - (value < height)
            if left[card] == 0:
                gone |= 1 << card
            if value < height or value >= reach:
                dead |= 1 << card
            elif view[DISCARDED + card] + 1 == copies_of(values, value):
                critical |= 1 << card
            if value == height:
                fits |= 1 << card
    board[FITS], board[DEAD], board[CRITICAL], board[GONE] = fits, dead, critical, gone


@compiled()
def may_be(told, gone):
    """Give the identities that hints allow and that are not all out, as bits."""
    return allowed_ids(told) & ~gone


@compiled()
def chance_of(ids, wanted, left):
    """Give the chance that a card is a wanted one, by the copies that are not out of play."""
    all_of, found = 0, 0
    for card in range(CARDS):
        if ids >> card & 1:
            all_of += left[card]
            found += left[card] * (wanted >> card & 1)
    return found / all_of if all_of > 0 else 0.0


@compiled()
def fits_if_wanted(ids, board):
    """Tell whether a card surely fits now, provided that it is not dead."""
    wanted = ids & ~board[DEAD]
    return wanted != 0 and wanted & ~board[FITS] == 0


@compiled()
def read_hand(view, seat, board, history, hand):
    """Write which cards of a hand are what, as bits of places; not yet the doubles. hand [HAND]"""
    fits = dead = critical = sure = sure_dead = if_wanted = as_meant = by_chop = 0
    for place in range(cards_held(view, seat)):
        serial = view[SLOT + seat * MOST_HAND + place]
        card = view[DECK + serial]
        fits |= (board[FITS] >> card & 1) << place
        dead |= (board[DEAD] >> card & 1) << place
        critical |= (board[CRITICAL] >> card & 1) << place
        ids = may_be(view[TOLD + serial], board[GONE])
        sure |= int(ids & ~board[FITS] == 0) << place
        sure_dead |= int(ids & ~board[DEAD] == 0) << place
        if_wanted |= int(fits_if_wanted(ids, board)) << place
        meant = ids & history[seat, MEANT + place]
        as_meant |= int(meant != 0 and meant & ~board[FITS] == 0) << place
        meant = ids & history[seat, BY_CHOP + place]
        by_chop |= int(meant != 0 and meant & ~board[FITS] == 0) << place
    hand[H_AS_MEANT], hand[H_BY_CHOP] = as_meant, by_chop
    hand[H_FITS], hand[H_DEAD], hand[H_CRITICAL] = fits, dead, critical
    hand[H_SURE], hand[H_SURE_DEAD], hand[H_IF_WANTED] = sure, sure_dead, if_wanted


@compiled()
def read_doubles(view, history, hands):
    """Write which cards are twice in sight in hands, and which are hinted in another hand."""
    viewer, seats = int(view[VIEWER]), int(view[SEATS])
    seen = twice = told = 0
    for seat in range(seats):
        for place in range(cards_held(view, seat) if seat != viewer else 0):
            card = int(view[DECK + view[SLOT + seat * MOST_HAND + place]])
            twice |= seen & 1 << card
            seen |= 1 << card
            told |= (mark_of(history, seat, HINTED) >> place & 1) << card
    for seat in range(seats):
        hands[seat, H_DOUBLE] = hands[seat, H_TAKEN] = 0
        for place in range(cards_held(view, seat) if seat != viewer else 0):
            card = int(view[DECK + view[SLOT + seat * MOST_HAND + place]])
            hands[seat, H_DOUBLE] |= (twice >> card & 1) << place
            hands[seat, H_TAKEN] |= (told >> card & 1) << place


# --- one sort of things after the other ----------------------------------------------------------


@compiled()
def put_game(view, facts):
    """Write the facts of the game as a whole."""
    pile = 0
    for colour in range(COLOURS):
        pile += view[FIREWORK + colour]
    facts[GROUP_TABLE[GAME_, START]] = 1
    at, step = GROUP_TABLE[GAME_, START] + 1, GROUP_TABLE[GAME_, STRIDE]
    at = put(facts, at, step, view[NOTES])
    at = put(facts, at, step, view[STORMS])
    at = put(facts, at, step, view[SEATS])
    at = put(facts, at, step, cards_in_deck(view) - view[DRAWN])
    at = put(facts, at, step, pile)
    put(facts, at, step, view[LAST])


@compiled()
def put_place(facts, at, step, place, held, hinted):
    """Write where a card stands in its hand."""
    at = put(facts, at, step, held - 1 - place)
    at = put(facts, at, step, place == held - 1)
    at = put(facts, at, step, place == 0)
    return put(facts, at, step, place == OLDEST_OF[(1 << held) - 1 & ~hinted])


@compiled()
def put_given(facts, at, step, view, seat, place, told, history):
    """Write what hints have said of a card, and when."""
    when = byte_of(history, seat, WHEN, place)
    at = put(facts, at, step, when > 0)
    at = put(facts, at, step, told >> COLOUR_NAMED_BIT & 1)
    at = put(facts, at, step, told >> VALUE_NAMED_BIT & 1)
    at = put(facts, at, step, min(NEVER, view[PLIES] + 1 - when) if when > 0 else NEVER)
    at = put(facts, at, step, mark_of(history, seat, NEWEST) >> place & 1)
    at = put(facts, at, step, mark_of(history, seat, FOCUS) >> place & 1)
    at = put(facts, at, step, mark_of(history, seat, WAS_CHOP) >> place & 1)
    return put(facts, at, step, byte_of(history, seat, WITH_IT, place))


@compiled()
def put_chances(facts, at, step, cards, left, ids, board):
    """Write the chances of a card from what is left of each: that it fits, is dead, is critical,
    fits if it is not dead, has each colour, each value, and both. Give the place of the next fact,
    and all that is left of it.

    left [CARDS]; the chances of both begin at `cards`
    """
    total = fits = dead = critical = 0.0
    colours, values = at + 4 * step, at + (4 + COLOURS) * step
    for value in range(VALUES):
        facts[values + value * step] = 0.0
    for colour in range(COLOURS):
        of_colour = 0.0
        for value in range(VALUES):
            card = colour * VALUES + value
            weight = left[card] if ids >> card & 1 else 0.0
            of_colour += weight
            fits += weight if board[FITS] >> card & 1 else 0.0
            dead += weight if board[DEAD] >> card & 1 else 0.0
            critical += weight if board[CRITICAL] >> card & 1 else 0.0
            facts[values + value * step] += weight
            facts[cards + card * step] = weight
        facts[colours + colour * step] = of_colour
        total += of_colour
    scale = 1.0 / total if total > 0.0 else 0.0
    for word in range(COLOURS + VALUES):
        facts[colours + word * step] *= scale
    # Divided, not multiplied: what is sure must be exactly 1.
    for card in range(CARDS):
        facts[cards + card * step] /= max(total, ROUNDING)
    at = put(facts, at, step, fits / total if total > 0.0 else 0.0)
    at = put(facts, at, step, dead / total if total > 0.0 else 0.0)
    at = put(facts, at, step, critical / total if total > 0.0 else 0.0)
    put(facts, at, step, fits / (total - dead) if total - dead > ROUNDING else 0.0)
    return values + VALUES * step, total


@compiled()
def chances_as_meant(left, ids, board):
    """Give the chances that a card fits and that it is dead, from the identities it was meant for.

    left [CARDS]
    """
    total = fits = dead = 0.0
    for card in range(CARDS if ids else 0):
        if ids >> card & 1:
            total += left[card]
            fits += left[card] if board[FITS] >> card & 1 else 0.0
            dead += left[card] if board[DEAD] >> card & 1 else 0.0
    if total <= ROUNDING:
        return 0.0, 0.0
    return fits / total, dead / total


@compiled()
def put_own(view, facts, board, history):
    """Write the facts of one's own cards, and of the next card of the deck.

    The chances are those of `deal_chances`, oldest card first: a card takes of each identity that
    it may have the same share of what is left.
    """
    seat = int(view[VIEWER])
    left = np.empty(CARDS)
    unseen = np.empty(CARDS, np.int64)
    count_unseen(view, unseen)
    for card in range(CARDS):
        left[card] = unseen[card]
    held = cards_held(view, seat)
    facts[GROUP_TABLE[OWN, START]] = held
    step = GROUP_TABLE[OWN, STRIDE]
    for place in range(held):
        at = GROUP_TABLE[OWN, START] + 1 + place
        cards = at + OWN_EXACT * step
        serial = view[SLOT + seat * MOST_HAND + place]
        told = view[TOLD + serial]
        if view[DECK + serial] == HIDDEN:
            ids = allowed_ids(told)
            at, total = put_chances(facts, at, step, cards, left, ids, board)
            share = 1.0 - 1.0 / total
            fits, dead = chances_as_meant(left, ids & history[seat, MEANT + place], board)
            by_chop, dead_by_chop = chances_as_meant(
                left, ids & history[seat, BY_CHOP + place], board
            )
            for card in range(CARDS):
                left[card] *= share if ids >> card & 1 else 1.0
        else:
            alone = np.ones(CARDS)
            ids = 1 << int(view[DECK + serial])
            at, _ = put_chances(facts, at, step, cards, alone, ids, board)
            fits, dead = chances_as_meant(alone, ids & history[seat, MEANT + place], board)
            by_chop, dead_by_chop = chances_as_meant(
                alone, ids & history[seat, BY_CHOP + place], board
            )
        at = put_place(facts, at, step, place, held, mark_of(history, seat, HINTED))
        at = put_given(facts, at, step, view, seat, place, told, history)
        at = put(facts, at, step, fits)
        at = put(facts, at, step, dead)
        at = put(facts, at, step, by_chop)
        at = put(facts, at, step, dead_by_chop)
        at = put(facts, at + CARDS * step, step, place)
        put(facts, at, step, DISCARD + place if view[NOTES] < view[MAX_NOTES] else NO_ACTION)
    facts[GROUP_TABLE[NEXT_CARD_, START]] = 1
    every = (1 << CARDS) - 1 if view[LAST] == 0 else 0
    at, step = GROUP_TABLE[NEXT_CARD_, START] + 1, GROUP_TABLE[NEXT_CARD_, STRIDE]
    put_chances(facts, at, step, at + NEXT_EXACT * step, left, every, board)


@compiled()
def put_fellows(view, facts, board, left, history, hands):
    """Write the facts of the cards in other hands."""
    step = GROUP_TABLE[FELLOW, STRIDE]
    seats = int(view[SEATS])
    count = 0
    for onward in range(1, seats):
        seat = (int(view[VIEWER]) + onward) % seats
        held = cards_held(view, seat)
        for place in range(held):
            serial = view[SLOT + seat * MOST_HAND + place]
            card = int(view[DECK + serial])
            colour, value = divmod(card, VALUES)
            at = GROUP_TABLE[FELLOW, START] + 1 + count
            at = put(facts, at, step, onward)
            at = put(facts, at, step, colour)
            at = put(facts, at, step, value + 1)
            at = put(facts, at, step, hands[seat, H_FITS] >> place & 1)
            at = put(facts, at, step, hands[seat, H_DEAD] >> place & 1)
            at = put(facts, at, step, hands[seat, H_CRITICAL] >> place & 1)
            told = view[TOLD + serial]
            at = put_place(facts, at, step, place, held, mark_of(history, seat, HINTED))
            at = put_given(facts, at, step, view, seat, place, told, history)
            ids = may_be(told, board[GONE])
            at = put(facts, at, step, chance_of(ids, board[FITS], left))
            at = put(facts, at, step, hands[seat, H_SURE] >> place & 1)
            at = put(facts, at, step, hands[seat, H_SURE_DEAD] >> place & 1)
            at = put(facts, at, step, hands[seat, H_DOUBLE] >> place & 1)
            at = put(facts, at, step, hands[seat, H_AS_MEANT] >> place & 1)
            hint = HINT + HINTS * (onward - 1)
            at = put(facts, at, step, hint + colour if view[NOTES] > 0 else NO_ACTION)
            put(facts, at, step, hint + VALUE + value if view[NOTES] > 0 else NO_ACTION)
            count += 1
    facts[GROUP_TABLE[FELLOW, START]] = count


@compiled()
def put_players(view, facts, history, hands):
    """Write the facts of the other players."""
    step = GROUP_TABLE[PLAYER, STRIDE]
    seats = int(view[SEATS])
    facts[GROUP_TABLE[PLAYER, START]] = seats - 1
    for onward in range(1, seats):
        seat = (int(view[VIEWER]) + onward) % seats
        held = cards_held(view, seat)
        hinted = mark_of(history, seat, HINTED)
        chop = OLDEST_OF[(1 << held) - 1 & ~hinted]
        chop = chop if chop >= 0 else MOST_HAND
        at = GROUP_TABLE[PLAYER, START] + 1 + (onward - 1)
        at = put(facts, at, step, onward)
        at = put(facts, at, step, hands[seat, H_SURE] != 0)
        at = put(facts, at, step, hands[seat, H_SURE_DEAD] != 0)
        at = put(facts, at, step, hands[seat, H_CRITICAL] >> chop & 1)
        at = put(facts, at, step, hands[seat, H_FITS] >> chop & 1)
        at = put(facts, at, step, hands[seat, H_DEAD] >> chop & 1)
        awaits = errs = False
        for place in range(held):
            # Its holder has moved since, if the hint is older than the holder's last turn.
            if (
                mark_of(history, seat, FOCUS) >> place & 1
                and view[PLIES] + 1 - byte_of(history, seat, WHEN, place) <= seats - onward
            ):
                awaits = awaits or hands[seat, H_FITS] >> place & 1 == 1
                errs = errs or hands[seat, H_FITS] >> place & 1 == 0
        at = put(facts, at, step, COUNT_OF[hands[seat, H_FITS]])
        at = put(facts, at, step, COUNT_OF[hinted])
        at = put(facts, at, step, awaits)
        at = put(facts, at, step, errs)
        told_so = hands[seat, H_IF_WANTED] & hinted
        at = put(facts, at, step, told_so & hands[seat, H_FITS] != 0)
        at = put(facts, at, step, told_so & ~hands[seat, H_FITS] != 0)
        at = put(facts, at, step, hands[seat, H_AS_MEANT] & hands[seat, H_FITS] != 0)
        at = put(facts, at, step, hands[seat, H_AS_MEANT] & ~hands[seat, H_FITS] != 0)
        put(facts, at, step, hands[seat, H_BY_CHOP] & hands[seat, H_FITS] != 0)


@compiled()
def put_tells(view, facts, board, left, history, serials, hands):
    """Write the facts of the hints that can be given."""
    seats = int(view[SEATS])
    count = 0
    for onward in range(1, seats if view[NOTES] > 0 else 1):
        seat = (int(view[VIEWER]) + onward) % seats
        viewer = int(view[VIEWER])
        meant = fits_next(view, history, serials, board[FITS], viewer, seat, MEANT)
        by_chop = fits_next(view, history, serials, board[FITS], viewer, seat, BY_CHOP)
        for hint in range(HINTS):
            touched = 0
            for place in range(cards_held(view, seat)):
                card = view[DECK + view[SLOT + seat * MOST_HAND + place]]
                touched |= (MARKS[card] >> hint & 1) << place
            if touched:
                at = GROUP_TABLE[TELL, START] + 1 + count
                hinted = mark_of(history, seat, HINTED)
                put_tell(
                    view, facts, at, onward, seat, hint, touched, hinted, board, left, meant,
                    by_chop, hands[seat],
                )  # fmt: skip
                count += 1
    facts[GROUP_TABLE[TELL, START]] = count


@compiled()
def put_tell(
    view, facts, at, onward, seat, hint, touched, hinted, board, left, meant, by_chop, hand
):
    """Write the facts of one hint. hand [HAND]"""
    step = GROUP_TABLE[TELL, STRIDE]
    held = cards_held(view, seat)
    fresh = touched & ~hinted
    newest = NEWEST_OF[touched]
    focus = focus_in(touched, hinted)
    chop = OLDEST_OF[(1 << held) - 1 & ~hinted]
    takes_chop = chop >= 0 and touched >> chop & 1
    informs = makes_playable = makes_dead = doubles = told_so = 0
    within = 0  # identities in this hint
    then_playable = 0.0
    focus_meant = true_by_chop = plays_by_chop = False
    chop_focus = chop_focus_in(touched, hinted, (1 << held) - 1)
    if chop_focus == chop:
        by_chop |= board[CRITICAL]
    for place in range(held):
        serial = view[SLOT + seat * MOST_HAND + place]
        told = int(view[TOLD + serial])
        points = touched >> place & 1
        informs += points == 1 and not is_known(told, hint)
        ids = may_be(narrowed(told, hint, points), board[GONE])
        if hand[H_SURE] >> place & 1 == 0:
            makes_playable += ids & ~board[FITS] == 0
        if hand[H_SURE_DEAD] >> place & 1 == 0:
            makes_dead += ids & ~board[DEAD] == 0
        if (hinted | touched) >> place & 1 and not (hinted & hand[H_IF_WANTED]) >> place & 1:
            told_so |= int(fits_if_wanted(ids, board)) << place
        if place == focus:
            then_playable = chance_of(ids, board[FITS], left)
            focus_meant = meant >> int(view[DECK + serial]) & 1
        if place == chop_focus:
            card = int(view[DECK + serial])
            true_by_chop = by_chop >> card & 1
            plays_by_chop = ids & by_chop & ~board[FITS] == 0 and true_by_chop
        if points:
            card = 1 << int(view[DECK + serial])
            doubles += fresh >> place & 1 and (
                within & card != 0 or hand[H_TAKEN] >> place & 1 == 1
            )
            within |= card
    at = put(facts, at, step, onward)
    at = put(facts, at, step, hint < VALUE)
    at = put(facts, at, step, hint - VALUE + 1 if hint >= VALUE else 0)
    at = put(facts, at, step, COUNT_OF[touched])
    at = put(facts, at, step, COUNT_OF[fresh])
    at = put(facts, at, step, COUNT_OF[touched & hand[H_FITS]])
    at = put(facts, at, step, COUNT_OF[fresh & hand[H_FITS]])
    at = put(facts, at, step, COUNT_OF[fresh & hand[H_CRITICAL]])
    at = put(facts, at, step, COUNT_OF[fresh & hand[H_DEAD]])
    at = put(facts, at, step, doubles)
    at = put(facts, at, step, hand[H_FITS] >> newest & 1)
    at = put(facts, at, step, hand[H_FITS] >> focus & 1)
    at = put(facts, at, step, hand[H_CRITICAL] >> focus & 1)
    at = put(facts, at, step, hand[H_DEAD] >> focus & 1)
    at = put(facts, at, step, fresh >> focus & 1)
    at = put(facts, at, step, takes_chop)
    at = put(facts, at, step, takes_chop and hand[H_CRITICAL] >> chop & 1)
    at = put(facts, at, step, informs)
    at = put(facts, at, step, makes_playable)
    at = put(facts, at, step, makes_dead)
    at = put(facts, at, step, then_playable)
    at = put(facts, at, step, COUNT_OF[told_so & hand[H_FITS]])
    at = put(facts, at, step, COUNT_OF[told_so & ~hand[H_FITS]])
    at = put(facts, at, step, focus_meant)
    at = put(facts, at, step, true_by_chop)
    at = put(facts, at, step, plays_by_chop)
    put(facts, at, step, HINT + HINTS * (onward - 1) + hint)


@compiled()
def put_piles(view, facts):
    """Write the cards in the fireworks and those out of play."""
    for group in (TABLE, DISCARD_PILE):
        start, step = GROUP_TABLE[group, START], GROUP_TABLE[group, STRIDE]
        count = 0
        for colour in range(view[COLOURS_USED]):
            for value in range(view[VALUES_USED]):
                copies = int(value < view[FIREWORK + colour])
                if group == DISCARD_PILE:
                    copies = int(view[DISCARDED + colour * VALUES + value])
                for _ in range(copies):
                    at = put(facts, start + 1 + count, step, colour)
                    put(facts, at, step, value + 1)
                    count += 1
        facts[start] = count


@compiled(SEE)
def see(view, facts, wanted):
    """Write what the viewer sees of the groups that are wanted, given as bits."""
    seats = int(view[SEATS])
    board = np.empty(BOARD, np.int64)
    left = np.zeros(CARDS, np.int64)
    history = np.empty((MOST_SEATS, HISTORY), np.int64)
    hands = np.zeros((MOST_SEATS, HAND), np.int64)
    read_board(view, board, left)
    serials = np.empty((MOST_SEATS, MOST_HAND), np.int64)
    read_history(view, history, serials)
    if wanted & (1 << FELLOW | 1 << PLAYER | 1 << TELL):
        for seat in range(seats):
            if seat != view[VIEWER]:
                read_hand(view, seat, board, history, hands[seat])
        read_doubles(view, history, hands)
    if wanted >> GAME_ & 1:
        put_game(view, facts)
    if wanted & (1 << OWN | 1 << NEXT_CARD_):
        put_own(view, facts, board, history)
    if wanted >> FELLOW & 1:
        put_fellows(view, facts, board, left, history, hands)
    if wanted >> PLAYER & 1:
        put_players(view, facts, history, hands)
    if wanted >> TELL & 1:
        put_tells(view, facts, board, left, history, serials, hands)
    if wanted & (1 << TABLE | 1 << DISCARD_PILE):
        put_piles(view, facts)
