"""The Boolean multiplexer as a game of one move: on it classifier systems are compared.

Some address bits are dealt at random, and a data bit for every number that they can make. The one
player says 0 or 1, and is right if that is the data bit which the address bits name. With two,
three and four address bits it has 6, 11 and 20 bits in all (Wilson, 1995). Nothing but the address
tells which of the data bits matter, so a rule that is always right must test all of the address
and the one bit it names: that makes the multiplexer hard to learn from examples.

state    bits    address bits, the highest first, then the data bits; 0 where there are fewer
         right   1 once the player has said what the named bit says
action   0, 1    what the player says
points   1 for the right answer, 0 for the wrong one

Its language knows one group of one thing, the bits, each a flag; and the deeds `say 0`, `say 1`:

  say 1 [a0, not a1, d2]
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import (
    CHOOSE,
    DEAL,
    JUDGE,
    LEGAL,
    LOOK,
    OBSERVE,
    PLAY,
    REDEAL,
    SCORE,
    SEE,
    Rules,
    compiled,
)
from kibitz.core.game import OVER, PLIES, SEAT, VIEWER, Cells, Game, Layout, copy_cells
from kibitz.core.language import (
    FLAG,
    Deed,
    Group,
    Language,
    Word,
    deed_table,
    group_table,
)
from kibitz.core.matching import NONE, first_to_act, rows_in
from kibitz.core.options import Whole
from kibitz.core.rewards import Event

FEWEST, MOST = 2, 4  # address bits
MOST_BITS = MOST + (1 << MOST)
ANSWERS = 2

OPTIONS = (Whole(name="address", default=FEWEST, help="address bits", low=FEWEST, high=MOST),)
LAYOUT = Layout(OPTIONS, {"bits": Cells(MOST_BITS, 0, 1), "right": Cells(1, 0, 1)})
ADDRESS = LAYOUT.option("address")
BITS = LAYOUT.start("bits")
RIGHT = LAYOUT.start("right")

# --- the game ------------------------------------------------------------------------------------


@compiled()
def count_bits(address):
    """Count the bits of a game, address and data."""
    return address + (1 << address)


@compiled()
def named_bit(state):
    """Give the data bit that the address bits name."""
    address = int(state[ADDRESS])
    number = 0
    for bit in range(address):
        number = 2 * number + int(state[BITS + bit])
    return int(state[BITS + address + number])


@compiled(DEAL)
def deal(state, rng):
    """Every bit is 0 or 1 by lot."""
    for bit in range(count_bits(int(state[ADDRESS]))):
        state[BITS + bit] = below(rng, 2)


@compiled(LEGAL)
def legal(state, actions):
    """Both answers, until one is given."""
    if state[SEAT] == OVER:
        return 0
    for answer in range(ANSWERS):
        actions[answer] = answer
    return ANSWERS


@compiled(PLAY)
def play(state, action):
    """Say 0 or 1; that ends the game."""
    state[RIGHT] = int(action == named_bit(state))
    state[PLIES] += 1
    state[SEAT] = OVER


@compiled(SCORE)
def score(state, points):
    """One point for the right answer."""
    points[0] = state[RIGHT]


@compiled(LOOK)
def look(state, seat, out):
    """Nothing is hidden."""
    copy_cells(state, out)
    out[VIEWER] = seat


@compiled(REDEAL)
def redeal(view, rng):
    """Nothing was hidden, so the world is the one that was seen."""
    view[VIEWER] = -1


@compiled(OBSERVE)
def observe(view, features):
    """All bits."""
    for bit in range(len(features)):
        features[bit] = view[BITS + bit]


# --- the language --------------------------------------------------------------------------------


def words_for(address: int) -> tuple[Word, ...]:
    """Give the words for as many bits: a0, a1 .. of the address, d0, d1 .. of the data."""
    return (
        *(Word(f"a{i}", FLAG, "this bit of the address is 1", "address") for i in range(address)),
        *(Word(f"d{i}", FLAG, "this data bit is 1", "data") for i in range(1 << address)),
    )


DEEDS = tuple(Deed(f"say {answer}", "bits", f"answer {answer}") for answer in range(ANSWERS))
EVENTS = (Event("wrong", "the other bit was meant", 0.0), Event("right", "so it is", 1.0))
GROUPS = {n: (Group("bits", 1, "the bits", words_for(n)),) for n in range(FEWEST, MOST + 1)}
# Actions stand behind the words, so each number of address bits has its own places for them.
GROUP_TABLE = group_table(GROUPS[FEWEST], DEEDS)
DEED_TABLES = np.stack([deed_table(groups, DEEDS) for groups in GROUPS.values()])


@compiled(SEE)
def see(view, facts, wanted):
    """Write the bits and both answers; there is only one group to want."""
    bits = count_bits(int(view[ADDRESS]))
    facts[0] = 1.0  # one thing
    for bit in range(bits):
        facts[1 + bit] = view[BITS + bit]
    for answer in range(ANSWERS):
        facts[1 + bits + answer] = answer


@compiled(JUDGE)
def judge(state, action):
    """Tell whether an answer is right: the place of the event."""
    return int(action == named_bit(state))


@compiled(CHOOSE)
def by_rules(rules, view, actions, n, weights, memory, rng):
    """Follow a list of rules: do what the first one says that holds."""
    address = int(view[ADDRESS])
    facts = np.empty(1 + count_bits(address) + ANSWERS, np.float32)
    see(view, facts, 1)
    rows = rows_in(weights)
    deeds = DEED_TABLES[address - FEWEST]
    _, action = first_to_act(facts, GROUP_TABLE, deeds, rows, len(rows), NONE)
    return int(actions[below(rng, n)]) if action == NONE else action


LANGUAGES = {
    address: Language(
        groups=groups, deeds=DEEDS, see=see, choose=by_rules, judge=judge, events=EVENTS
    )
    for address, groups in GROUPS.items()
}


class Multiplexer(Game):
    """A game in one file, so that its language need not be looked for beside the rules."""

    @property
    def language(self) -> Language:
        """The language with as many words as there are bits."""
        return LANGUAGES[self.settings["address"]]


GAME = Multiplexer(
    name="multiplexer",
    title="Multiplexer",
    summary="Say which bit the address names.",
    version=1,
    room="",
    seats=(1, 1),
    default_seats=1,
    options=OPTIONS,
    layout=LAYOUT,
    functions=Rules(deal, legal, play, score, look, redeal, observe),
    actions=ANSWERS,
    most_legal=ANSWERS,
    most_plies=1,
    features=lambda settings: settings["address"] + (1 << settings["address"]),
    cooperative=True,
    most_points=lambda settings: 1.0,
)
