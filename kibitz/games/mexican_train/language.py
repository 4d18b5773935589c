"""The language of Mexican train: its words, what a player sees, what comes of an action.

Topics: `table` is what lies there for all to see, `hand` what one's own tiles can do, `line` needs
a search for the line that gets most pips out (the plan, see sight.py), and `others` is what can be
known of the tiles one does not see.
"""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, JUDGE, SEE, compiled
from kibitz.core.game import SEAT
from kibitz.core.language import (
    COUNT,
    FLAG,
    Deed,
    Group,
    Language,
    Word,
    deed_table,
    facts_of,
    group_table,
)
from kibitz.core.matching import NONE, first_to_act, rows_in
from kibitz.core.rewards import Event
from kibitz.games.mexican_train.cells import DRAW, LINES, MOST_SEATS, PASS, TILES
from kibitz.games.mexican_train.sight import (
    MANY_LEFT,
    MANY_PIPS,
    MANY_TILES,
    MOST_MOVES,
    write_facts,
)
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_NUMBER, MOST_TILES, NUMBERS, PIPS

TABLE, HAND, LINE, OTHERS = "table", "hand", "line", "others"


def flag(name: str, help: str, topic: str) -> Word:
    """A word that is true or not."""
    return Word(name, FLAG, help, topic)


def count(name: str, high: float, help: str, topic: str, low: float = 0) -> Word:
    """A word for a number; what is more counts as the highest."""
    return Word(name, COUNT, help, topic, low, high)


GAME_WORDS = (
    count("boneyard", MANY_LEFT, "tiles left in the boneyard", TABLE),
    count("tiles", MANY_TILES, "own tiles", HAND),
    count("pips", MANY_PIPS, "pips of all own tiles", HAND),
    flag("must cover", "an open double must be answered", TABLE),
    flag("marked", "the penny on one's own train is up", TABLE),
    count("fewest", MANY_TILES, "fewest tiles that another player holds", TABLE),
    count("players", MOST_SEATS, "how many play", TABLE, 2),
    count("hands left", NUMBERS - 1, "hands to come after this one", TABLE),
    flag("train open", "the Mexican train is open", TABLE),
    flag("again", "one has just laid a double", TABLE),
)
PLAN_WORDS = (
    count("line tiles", MANY_TILES, "tiles of the plan", LINE),
    count("line pips", MANY_PIPS, "pips of the plan", LINE),
    count("line leaves", MANY_PIPS, "pips of all other own tiles", LINE),
)
RIVAL_WORDS = (
    count("onward", MOST_SEATS - 1, "turns until they move", TABLE, 1),
    count("tiles", MANY_TILES, "tiles that they hold", TABLE),
    flag("marked", "the penny on their train is up", TABLE),
    flag("started", "a tile lies on their train", TABLE),
    count("fitting", MOST_NUMBER, "own tiles that would fit on their train", HAND),
    count("lacking", NUMBERS, "numbers that they are known to lack", OTHERS),
    flag("stuck", "they are known to lack the number at the end of their train", OTHERS),
    flag("ahead", "they have fewer pips from the hands before", TABLE),
)
MOVE_WORDS = (
    count("pips", 2 * MOST_NUMBER, "pips of the tile, which it gets rid of", HAND),
    flag("double", "the tile is a double", HAND),
    count("opens", MOST_NUMBER, "the number that it leaves open", TABLE),
    flag("own train", "on one's own train", TABLE),
    flag("mexican train", "on the Mexican train", TABLE),
    flag("rival train", "on another player's train", TABLE),
    count("onward", MOST_SEATS - 1, "turns until that player moves, else 0", TABLE),
    count("owner tiles", MANY_TILES, "tiles that player holds, else 0", TABLE),
    flag("covers", "it lies on a double", TABLE),
    flag("clears mark", "it takes the penny off one's own train", TABLE),
    flag("followed", "another own tile fits on what it leaves open", HAND),
    count("followers", MOST_NUMBER, "own tiles that fit on what it leaves open", HAND),
    count("choices", MOST_NUMBER, "own tiles that can be laid where it is, itself too", HAND),
    count("places", LINES, "trains on which the tile can be laid", HAND),
    count("pips left", MANY_PIPS, "pips of all own tiles after it", HAND),
    flag("last", "it empties the hand", HAND),
    flag("planned", "the tile is in the plan", LINE),
    count("place", MANY_TILES, "its place there, from 1 on; 0 if it is not", LINE),
    count("line after", MANY_TILES, "tiles of the plan after it", LINE),
    count("stranded", MANY_PIPS, "pips of the tiles that are not in the plan after it", LINE),
    count("unseen", NUMBERS, "unseen tiles of the number that it leaves open", OTHERS),
    flag("dead end", "nobody has a tile of the number that it leaves open", OTHERS),
    flag("next lacks", "the next player is known to lack the number that it leaves open", OTHERS),
    flag("owner lacks", "so is that player, on whose train it is", OTHERS),
)

GROUPS = (
    Group("game", 1, "the game as a whole", GAME_WORDS),
    Group("plan", 1, "the line on one's own train that gets most pips out", PLAN_WORDS),
    Group("rival", MOST_SEATS - 1, "the other players", RIVAL_WORDS),
    Group("move", MOST_MOVES, "tiles that can be laid, and where", MOVE_WORDS),
)
DEEDS = (
    Deed("play", "move", "lay this tile there"),
    Deed("draw", "game", "draw a tile, where nothing fits"),
    Deed("pass", "game", "pass, where nothing fits nor can be drawn"),
)
GROUP_TABLE = group_table(GROUPS, DEEDS)
DEED_TABLE = deed_table(GROUPS, DEEDS)
FACTS = facts_of(GROUPS, DEEDS)

# --- what comes of an action ---------------------------------------------------------------------

OUT, LAYS_DOUBLE, PASSES, DRAWS, LAYS = range(5)
STEP = 5  # pips that are paid alike
# An event has one reward, so tiles are paid by how many pips they have, a tenth for each.
EVENTS = (
    Event("out", "a hand is emptied", 5.0),
    Event("double", "a double is laid, which gives another turn", 1.5),
    Event("passes", "nothing fits, and the penny goes up", -1.0),
    Event("draws", "nothing fits, and a tile is drawn", -0.5),
    *(
        Event(f"lays-{low}", f"a tile of {low} to {low + STEP - 1} pips is laid", low / 10 + 0.2)
        for low in range(0, 2 * MOST_NUMBER, STEP)
    ),
)


@compiled(JUDGE)
def judge(state, action):
    """Tell which event comes of an action."""
    if action == PASS:
        return PASSES
    if action == DRAW:
        return DRAWS
    if state[TILES + state[SEAT]] == 1:
        return OUT
    tile = action % MOST_TILES
    return LAYS_DOUBLE if LOW[tile] == HIGH[tile] else LAYS + int(PIPS[tile]) // STEP


# --- sight, and who plays by rules ---------------------------------------------------------------


@compiled(SEE)
def see(view, facts, wanted):
    """Write what the viewer sees of the groups that are wanted, given as bits."""
    write_facts(view, facts, wanted, GROUP_TABLE)


@compiled(CHOOSE)
def by_rules(rules, view, actions, n, weights, memory, rng):
    """Follow a list of rules: do what the first one says that holds and has a target."""
    if n == 1:
        return int(actions[0])
    facts = np.empty(FACTS, np.float32)
    see(view, facts, int(weights[0]))
    rows = rows_in(weights)
    _, action = first_to_act(facts, GROUP_TABLE, DEED_TABLE, rows, len(rows), NONE)
    return int(actions[below(rng, n)]) if action == NONE else action


LANGUAGE = Language(
    groups=GROUPS, deeds=DEEDS, see=see, choose=by_rules, judge=judge, events=EVENTS,
    vocabularies={"usual": ()},
    example="when fewest <= 3 and rival [marked]: play [rival train, most pips]",
)  # fmt: skip
