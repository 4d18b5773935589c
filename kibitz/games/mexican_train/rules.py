"""Mexican train: a domino game of lines that grow from a common engine.

A set of double-N dominoes is dealt out whole, as evenly as possible. A game is N + 1 hands; hand h
begins with double N - h as the engine, which is placed for whoever holds it, and that seat moves
first. Every seat has a line of its own that begins at the engine, and there is one shared line, the
Mexican train, which opens when every seat's line has been started. A turn is one tile: on one's own
line, on the shared line once open, or on the line of a seat whose penny is up. Whoever has no legal
play passes, and their penny goes up; it comes off when they play a tile that is no double on their
own line. A double gives another turn, anywhere; it need not be covered. The hand ends when somebody
is out, also with a double, or when nobody can play. What is left in a hand counts its pips; double
blank counts 0. Fewest pips over all hands win.

boneyard   deals so many tiles to each, and the rest is drawn from: who is stuck draws one, plays it
           if it fits, and otherwise passes. The engine is taken out before the deal; hand h is
           begun by seat h, and on in turn.
cover      an open double must be answered before anything else may be played, by whoever can; not
           where all tiles of its number have been laid.

state     see cells.py
action    LINE * MOST_TILES + tile for a tile on a line; then PASS, DRAW
points    pips in all hands so far and in this one, negative

v1  first release
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.chance import below, shuffle, sow
from kibitz.core.compiled import (
    DEAL,
    DESCRIBE,
    LEGAL,
    LOOK,
    OBSERVE,
    PLAY,
    REDEAL,
    SCORE,
    Rules,
    compiled,
)
from kibitz.core.game import (
    HIDDEN,
    OVER,
    PLIES,
    SEAT,
    SEATS,
    VIEWER,
    Game,
    Rounds,
    copy_cells,
    fill_cells,
)
from kibitz.core.table import Table
from kibitz.games.mexican_train.cells import (
    ABSENT,
    AGAIN,
    BEFORE,
    BITS,
    BONEYARD,
    COVER,
    DEALT,
    DOUBLE,
    DRAW,
    DREW,
    END,
    ENGINE,
    FUTURE,
    HAND,
    HIGHEST,
    HOLDER,
    LAYOUT,
    LEFT,
    LENGTH,
    LINE,
    LINES,
    MANY,
    MAY,
    MIXED,
    MOST_PLIES,
    MOST_SEATS,
    OPEN_DOUBLE,
    OPTIONS,
    PASS,
    PENNY,
    PIPS,
    PLACE,
    PLAYED,
    SEEDS,
    SHARED,
    TILES,
    hands_to_play,
    is_open,
    is_shared_open,
    tiles_in_set,
)
from kibitz.games.mexican_train.encoding import (
    FEATURES,
    FEATURES_OF_LINE,
    LINE_FEATURES,
    PIPS_UNIT,
    count_tiles,
    feature_scale,
    most_in_hand,
    tokens,
)
from kibitz.games.mexican_train.prospects import COLUMNS, PLAIN, describe_options
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, NUMBERS, TILE


@compiled()
def begin_chance(state, lane, rng):
    """Begin a stream of chance from the hidden cells, for this hand's deal or one of its draws."""
    seed = 0
    for cell in range(SEEDS):
        seed = (seed << BITS) | int(state[FUTURE + cell])
    sow(rng, seed, int(state[HAND]), lane)


@compiled()
def begin_hand(state):
    """Deal the tiles and place the engine."""
    seats = int(state[SEATS])
    count = tiles_in_set(state)
    number = int(state[HIGHEST]) - int(state[HAND])
    engine = int(TILE[number, number])
    fill_cells(state, HOLDER, MOST_TILES, ABSENT)
    fill_cells(state, LINE, MOST_TILES, 0)
    fill_cells(state, PLACE, MOST_TILES, 0)
    fill_cells(state, END, LINES, number)
    fill_cells(state, LENGTH, LINES, 0)
    fill_cells(state, PENNY, MOST_SEATS, 0)
    fill_cells(state, TILES, MOST_SEATS, 0)
    fill_cells(state, MAY, MOST_SEATS * NUMBERS, MANY)
    state[LEFT] = 0
    state[OPEN_DOUBLE] = 0
    state[AGAIN] = 0

    rng = np.zeros(4, np.int64)
    begin_chance(state, 0, rng)
    order = np.arange(count)
    shuffle(rng, order)
    first = int(state[HAND]) % seats
    most = count  # tiles that are dealt in all
    if state[DEALT] > 0:
        most = min(int(state[DEALT]), (count - 1) // seats) * seats
    dealt = 0
    for tile in order:
        if state[DEALT] > 0 and tile == engine:
            continue
        if dealt < most:
            seat = (first + dealt) % seats
            state[HOLDER + tile] = seat
            state[TILES + seat] += 1
            dealt += 1
        else:
            state[HOLDER + tile] = BONEYARD
            state[LEFT] += 1
    state[SEAT] = first
    if state[DEALT] == 0:
        state[SEAT] = state[HOLDER + engine]
        state[TILES + state[SEAT]] -= 1
    state[HOLDER + engine] = PLAYED
    state[LINE + engine] = ENGINE


@compiled(DEAL)
def deal(state, rng):
    """Draw what all deals are made of, and deal the first hand."""
    for cell in range(SEEDS):
        state[FUTURE + cell] = below(rng, 1 << BITS)
    begin_hand(state)


# --- moves ---------------------------------------------------------------------------------------


@compiled(LEGAL)
def legal(state, actions):
    """Tiles on open lines; drawing, or passing, where there is none."""
    seat = int(state[SEAT])
    if seat == OVER:
        return 0
    shared = is_shared_open(state)
    highest = int(state[HIGHEST])
    seats = int(state[SEATS])
    n = 0
    for i in range(seats + 1):
        line = i if i < seats else SHARED
        if not is_open(state, seat, line, shared):
            continue
        end = int(state[END + line])
        tile = end * (end + 1) // 2
        for number in range(highest + 1):
            # Written first and kept if it is one's own: no branch that could be guessed wrong.
            actions[n] = line * MOST_TILES + tile
            n += state[HOLDER + tile] == seat
            tile += 1 if number < end else number + 1
    if n == 0:
        actions[0] = DRAW if state[LEFT] > 0 and state[AGAIN] != DREW else PASS
        n = 1
    return n


@compiled()
def show_lack(state, seat):
    """Note that a seat has no tile for the lines that are open to it."""
    shared = is_shared_open(state)
    for line in range(LINES):
        if is_open(state, seat, line, shared):
            state[MAY + seat * NUMBERS + state[END + line]] = 0


@compiled()
def is_blocked(state):
    """Tell whether everybody knows that nobody can play, nor could if all pennies were up.

    A penny that is not up yet goes up when its seat passes, and may help the others.
    """
    if state[LEFT] > 0:
        return False
    shared = is_shared_open(state)
    for line in range(LINES):
        if state[OPEN_DOUBLE] > 0 and line != state[OPEN_DOUBLE] - 1:
            continue
        if line >= state[SEATS] and not (line == SHARED and shared):
            continue
        for seat in range(state[SEATS]):
            if state[MAY + seat * NUMBERS + state[END + line]] > 0:
                return False
    return True


@compiled()
def end_hand(state):
    """Count what is left, and begin the next hand or end the game."""
    for seat in range(MOST_SEATS):
        state[BEFORE + seat] = 0
    for tile in range(tiles_in_set(state)):
        holder = state[HOLDER + tile]
        if holder < MOST_SEATS:
            state[BEFORE + holder] += LOW[tile] + HIGH[tile]
    for seat in range(MOST_SEATS):
        state[PIPS + seat] += state[BEFORE + seat]
    state[HAND] += 1
    if state[HAND] >= hands_to_play(state):
        state[SEAT] = OVER
    else:
        begin_hand(state)


@compiled()
def draw_tile(state, seat):
    """Move a random tile from the boneyard to a seat."""
    rng = np.zeros(4, np.int64)
    begin_chance(state, int(state[LEFT]), rng)
    wanted = below(rng, int(state[LEFT]))
    for tile in range(tiles_in_set(state)):
        if state[HOLDER + tile] == BONEYARD:
            if wanted == 0:
                state[HOLDER + tile] = seat
                break
            wanted -= 1
    state[LEFT] -= 1
    state[TILES + seat] += 1
    for number in range(NUMBERS):
        if state[MAY + seat * NUMBERS + number] < MANY:
            state[MAY + seat * NUMBERS + number] += 1


@compiled()
def use_up(state, seat, number):
    """Note that a seat has one tile less that can have a number."""
    may = MAY + seat * NUMBERS + number
    if 0 < state[may] < MANY:
        state[may] -= 1


@compiled()
def can_be_covered(state, number):
    """Tell whether a tile of a number is still to be laid."""
    for other in range(state[HIGHEST] + 1):
        if state[HOLDER + TILE[number, other]] < PLAYED:
            return True
    return False


@compiled(PLAY)
def play(state, action):
    """Place a tile, draw or pass; a hand that is over is counted, and the next one is dealt."""
    seat = int(state[SEAT])
    state[PLIES] += 1
    if action == DRAW:
        show_lack(state, seat)
        draw_tile(state, seat)
        state[AGAIN] = DREW
        return
    if action == PASS:
        show_lack(state, seat)
        state[PENNY + seat] = 1
        state[AGAIN] = 0
        if is_blocked(state):
            end_hand(state)
        else:
            state[SEAT] = (seat + 1) % state[SEATS]
        return
    line, tile = divmod(action, MOST_TILES)
    low, high = int(LOW[tile]), int(HIGH[tile])
    state[HOLDER + tile] = PLAYED
    state[LINE + tile] = line
    state[PLACE + tile] = state[LENGTH + line]
    state[LENGTH + line] += 1
    state[END + line] = low + high - state[END + line]
    state[TILES + seat] -= 1
    if state[AGAIN] == DREW:  # then nothing else fits, and what it allowed for is gone again
        for number in range(NUMBERS):
            use_up(state, seat, number)
    else:
        use_up(state, seat, low)
        if low != high:
            use_up(state, seat, high)
    if line == seat and low != high:
        state[PENNY + seat] = 0
    covers = low == high and state[COVER] and can_be_covered(state, low)
    state[OPEN_DOUBLE] = line + 1 if covers else 0
    if state[TILES + seat] == 0:
        end_hand(state)
    elif low == high:
        state[AGAIN] = DOUBLE
    else:
        state[AGAIN] = 0
        state[SEAT] = (seat + 1) % state[SEATS]


@compiled(SCORE)
def score(state, points):
    """Pips of all hands, this one included, negative: fewest are best."""
    for seat in range(state[SEATS]):
        points[seat] = 0.0 - state[PIPS + seat]  # and not -0.0
    if state[SEAT] != OVER:
        for tile in range(tiles_in_set(state)):
            holder = state[HOLDER + tile]
            if 0 <= holder < MOST_SEATS:
                points[holder] -= LOW[tile] + HIGH[tile]


# --- what a seat knows ---------------------------------------------------------------------------


@compiled(LOOK)
def look(state, seat, out):
    """Hide the tiles of others and of the boneyard, and what later deals are made of."""
    copy_cells(state, out)
    out[VIEWER] = seat
    for cell in range(HOLDER, HOLDER + MOST_TILES):  # all, and no branch: four times as fast
        holder = out[cell]
        out[cell] = holder if (holder == seat) | (holder > BONEYARD) else HIDDEN
    fill_cells(out, FUTURE, SEEDS, HIDDEN)


@compiled()
def count_tile(have, view, seat, tile, more):
    """Count a tile to a seat's numbers, or off them; give by how much more it then has too much.

    The boneyard may have anything.
    """
    if seat >= MOST_SEATS:
        return 0
    change = 0
    for half in range(1 if LOW[tile] == HIGH[tile] else 2):
        number = LOW[tile] if half == 0 else HIGH[tile]
        may = view[MAY + seat * NUMBERS + number]
        change -= max(0, have[seat, number] - may)
        have[seat, number] += more
        change += max(0, have[seat, number] - may)
    return change


@compiled()
def is_wrong(have, view, seat, tile):
    """Tell whether a seat has more tiles with one of a tile's numbers than it may have."""
    if seat >= MOST_SEATS:
        return False
    may = MAY + seat * NUMBERS
    low, high = LOW[tile], HIGH[tile]
    return have[seat, low] > view[may + low] or have[seat, high] > view[may + high]


@compiled()
def swap_tiles(have, view, tiles, owners, i, j):
    """Exchange the owners of two tiles; give by how much more there is too much after it."""
    one, two = owners[i], owners[j]
    change = count_tile(have, view, one, tiles[i], -1) + count_tile(have, view, two, tiles[j], -1)
    change += count_tile(have, view, two, tiles[i], 1) + count_tile(have, view, one, tiles[j], 1)
    owners[i], owners[j] = two, one
    return change


@compiled()
def may_take(have, view, room, holder, tile):
    """Tell whether a holder has room for a tile and can have it, beside what it has been given."""
    if holder == MOST_SEATS:
        return room[holder] > 0
    may = MAY + holder * NUMBERS
    low, high = LOW[tile], HIGH[tile]
    return (
        room[holder] > 0
        and have[holder, low] < view[may + low]
        and have[holder, high] < view[may + high]
    )


@compiled()
def hand_out(view, tiles, owners, have, room, rng):
    """Give each hidden tile to somebody who may have it, those with fewest takers first.

    room [seats and the boneyard] counts the places that are free.
    """
    takers = np.zeros(len(tiles), np.int64)
    for i in range(len(tiles)):
        for holder in range(len(room)):
            takers[i] += may_take(have, view, room, holder, tiles[i])
    for fewest in range(len(room) + 1):
        for i in range(len(tiles)):
            if takers[i] != fewest:
                continue
            # By lot among the free places of those who may have it, or of all if there are none.
            places = 0
            chosen = -1
            for strict in (True, False):
                for holder in range(len(room)):
                    free = room[holder]
                    if strict and not may_take(have, view, room, holder, tiles[i]):
                        free = 0
                    places += free
                    if free > 0 and below(rng, places) < free:
                        chosen = holder
                if chosen >= 0:
                    break
            room[chosen] -= 1
            owners[i] = BONEYARD if chosen == MOST_SEATS else chosen
            count_tile(have, view, owners[i], tiles[i], 1)


@compiled()
def repair(view, tiles, owners, have, rng):
    """Exchange tiles until nobody has what it cannot have."""
    while True:
        wrong = 0
        worst = -1
        for i in range(len(tiles)):
            if is_wrong(have, view, owners[i], tiles[i]):
                wrong += 1
                if below(rng, wrong) == 0:
                    worst = i
        if worst < 0:
            return
        best = -1
        least = 1 << 30
        ties = 0
        for j in range(len(tiles)):
            if owners[j] == owners[worst]:
                continue
            change = swap_tiles(have, view, tiles, owners, worst, j)
            swap_tiles(have, view, tiles, owners, worst, j)
            if below(rng, 16) == 0:
                change -= 1  # now and then a worse one, so as not to go in circles
            if change < least:
                least = change
                ties = 0
            if change == least:
                ties += 1
                if below(rng, ties) == 0:
                    best = j
        swap_tiles(have, view, tiles, owners, worst, best)


@compiled()
def mix(view, tiles, owners, have, rng):
    """Move tiles in circles by lot, wherever all may be where they come to.

    A tile changes places with another, then perhaps with one more, and so on; the whole is taken
    back if somebody then has what it cannot have. Two would not do: three seats may only be able to
    pass tiles on in a ring. A circle is as likely as its reverse, so that in the end every world
    is equally likely.
    """
    hidden = len(tiles)
    others = np.empty(MOST_SEATS, np.int64)
    for _ in range(MIXED * hidden):
        i = below(rng, hidden)
        change = 0
        n = 0
        while n == 0 or (n < MOST_SEATS and below(rng, 2) == 0):
            others[n] = below(rng, hidden)
            if owners[others[n]] != owners[i]:
                change += swap_tiles(have, view, tiles, owners, i, others[n])
            n += 1
        if change > 0:
            for back in range(n - 1, -1, -1):
                swap_tiles(have, view, tiles, owners, i, others[back])


@compiled(REDEAL)
def redeal(view, rng):
    """Deal the hidden tiles anew: to each seat as many as it holds, none that it cannot have.

    A random hand-out is repaired where it must be, then mixed, so that every world is about equally
    likely.
    """
    count = tiles_in_set(view)
    hidden = 0
    for tile in range(count):
        hidden += view[HOLDER + tile] == HIDDEN
    tiles = np.empty(hidden, np.int64)
    at = 0
    for tile in range(count):
        if view[HOLDER + tile] == HIDDEN:
            tiles[at] = tile
            at += 1
    shuffle(rng, tiles)
    room = np.zeros(MOST_SEATS + 1, np.int64)
    for seat in range(view[SEATS]):
        if seat != view[VIEWER]:
            room[seat] = view[TILES + seat]
    room[MOST_SEATS] = view[LEFT]
    have = np.zeros((MOST_SEATS, NUMBERS), np.int64)
    owners = np.full(hidden, -1)
    hand_out(view, tiles, owners, have, room, rng)
    repair(view, tiles, owners, have, rng)
    mix(view, tiles, owners, have, rng)
    for i in range(hidden):
        view[HOLDER + tiles[i]] = owners[i]
    for cell in range(SEEDS):
        view[FUTURE + cell] = below(rng, 1 << BITS)
    view[VIEWER] = HIDDEN


@compiled(OBSERVE)
def observe(view, features):
    """Own tiles, played tiles, every line from the viewer's on, what others cannot have, the rest.

    For each tile whether it is one's own and whether it is played; for each line, the viewer's
    first and the shared one last, the open number (one of 16 cells is 1), its length, whether it is
    open to the viewer, how many tiles its owner holds, whether the penny is up, and the owner's
    pips from the hands before, over 100; for each seat, in the same order, the numbers it cannot
    have; then hands to go, the boneyard, an open double, and whether the mover has another turn.
    """
    features[:] = 0.0
    seats = int(view[SEATS])
    viewer = int(view[VIEWER])
    count = tiles_in_set(view)
    for tile in range(count):
        features[tile] = view[HOLDER + tile] == viewer
        features[MOST_TILES + tile] = view[HOLDER + tile] == PLAYED
    at = LINE_FEATURES
    shared = is_shared_open(view)
    for i in range(LINES):
        line = SHARED if i == MOST_SEATS else (viewer + i) % seats
        if i < seats or i == MOST_SEATS:
            features[at + view[END + line]] = 1.0
            features[at + NUMBERS] = view[LENGTH + line] / count
            features[at + NUMBERS + 1] = is_open(view, viewer, line, shared)
            if line < MOST_SEATS:
                features[at + NUMBERS + 2] = view[TILES + line] / count
                features[at + NUMBERS + 3] = view[PENNY + line]
                features[at + NUMBERS + 4] = view[PIPS + line] / PIPS_UNIT
        at += FEATURES_OF_LINE
    for i in range(seats):
        seat = (viewer + i) % seats
        for number in range(NUMBERS):
            features[at + i * NUMBERS + number] = view[MAY + seat * NUMBERS + number] == 0
    at += MOST_SEATS * NUMBERS
    features[at] = 1.0 - view[HAND] / hands_to_play(view)
    features[at + 1] = view[LEFT] / count
    features[at + 2] = view[OPEN_DOUBLE] > 0
    features[at + 3] = view[AGAIN] == DOUBLE


@compiled(DESCRIBE)
def describe(view, actions, n, prospects):
    """Write what comes of each option, see prospects.py."""
    describe_options(view, actions, n, prospects)


# --- bounds and checks ---------------------------------------------------------------------------


def most_legal(settings: Mapping[str, Any]) -> int:
    """Bound the legal actions: every tile of a hand on every line, and one to spare for `legal`."""
    return most_in_hand(settings) * (settings["players"] + 1) + 1


def most_plies(settings: Mapping[str, Any]) -> int:
    """Bound the plies: in each hand every tile, two rounds of passes after each, and the draws.

    After a round of passes all pennies are up; after another everybody has shown to lack all ends.
    A pass that does not count to these comes after a draw. Of the largest games that is more than a
    cell can count, and than they ever take.
    """
    seats, tiles = settings["players"], count_tiles(settings)
    hands = min(settings["hands"] or NUMBERS, settings["highest"] + 1)
    each = tiles * (2 * seats + 1) + (2 * tiles if settings["boneyard"] else 0)
    return min(MOST_PLIES, hands * each)


def prospects(settings: Mapping[str, Any]) -> int:
    """Count the features of each option."""
    return COLUMNS if settings["lines"] else PLAIN


def flaw(table: Table) -> str | None:
    """Say what is wrong with a table as it stands, or None."""
    state, seats = table.cells, table.game.players
    count = tiles_in_set(state)
    holders = state[HOLDER : HOLDER + MOST_TILES]
    if (holders[count:] != ABSENT).any():
        return "there are tiles that the set does not have"
    in_hand = (holders >= 0) & (holders < seats)
    if not (in_hand | (holders == PLAYED) | (holders == BONEYARD))[:count].all():
        return "a tile is nowhere"
    held = np.flatnonzero(in_hand)
    counts = np.bincount(holders[held], minlength=seats)
    for seat in range(seats):
        if counts[seat] != state[TILES + seat]:
            return f"seat {seat} holds {counts[seat]} tiles, not {state[TILES + seat]}"
    singles = held[LOW[held] != HIGH[held]]
    have = np.zeros((seats, NUMBERS), np.int64)
    np.add.at(have, (holders[held], LOW[held]), 1)
    np.add.at(have, (holders[singles], HIGH[singles]), 1)
    wrong = (have > state[MAY : MAY + seats * NUMBERS].reshape(seats, NUMBERS)).any(axis=1)
    if wrong.any():
        return f"seat {wrong.argmax()} has a tile that it had not when it passed"
    if (holders == BONEYARD).sum() != state[LEFT]:
        return "the boneyard is miscounted"
    hand = min(int(state[HAND]), hands_to_play(state) - 1)  # the last one lies there to the end
    return _line_flaw(state, count, int(state[HIGHEST]) - hand)


def _line_flaw(state: np.ndarray, count: int, engine: int) -> str | None:
    """Say which line does not hold together."""
    played = np.flatnonzero(state[HOLDER : HOLDER + count] == PLAYED)
    columns = (state[LINE + played], state[PLACE + played], LOW[played], HIGH[played])
    chains: list[list[tuple[int, int, int]]] = [[] for _ in range(LINES + 1)]  # the engine's last
    for line, *tile in zip(*(column.tolist() for column in columns), strict=True):
        chains[line].append(tuple(tile))
    if chains.pop() != [(0, engine, engine)]:
        return "the engine is missing"
    lengths, ends = state[LENGTH : LENGTH + LINES].tolist(), state[END : END + LINES].tolist()
    for line, chain in enumerate(chains):
        end = engine
        for place, (where, low, high) in enumerate(sorted(chain)):
            if where != place or end not in (low, high):
                return f"line {line} does not hold together at tile {place + 1}"
            end = low + high - end
        if len(chain) != lengths[line] or end != ends[line]:
            return f"line {line} is miscounted"
    return None


def span(settings: Mapping[str, Any]) -> tuple[float, float]:
    """Bound a seat's points: at worst it is left with the whole set in every hand."""
    highest = settings["highest"]
    hands = min(settings["hands"] or NUMBERS, highest + 1)
    return -hands * highest * (highest + 1) * (highest + 2) / 2, 0.0


GAME = Game(
    name="mexican_train",
    title="Mexican train",
    summary="Lay dominoes in lines from a common engine; be left with the fewest pips.",
    version=1,
    room=__package__,
    seats=(2, MOST_SEATS),
    default_seats=4,
    options=OPTIONS,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe, describe=describe),
    actions=DRAW + 1,
    most_legal=most_legal,
    most_plies=most_plies,
    features=FEATURES,
    feature_range=(0.0, 328.0),  # pips are cells, in hundreds
    feature_scale=feature_scale,
    hides=True,
    span=span,
    flaw=flaw,
    prospects=prospects,
    tokens=tokens,
    senses=("lines",),
    rounds=Rounds("hand", "pips", -1, "hands"),
)
