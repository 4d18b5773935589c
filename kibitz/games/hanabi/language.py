"""The language of Hanabi: its words, what a player sees, what comes of an action."""

from __future__ import annotations

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.language import Language
from kibitz.core.matching import NONE, first_to_act, rows_in
from kibitz.games.hanabi.events import EVENTS, judge, thank
from kibitz.games.hanabi.sight import see
from kibitz.games.hanabi.vocabulary import (
    CARDS_,
    CHANCES,
    DEED_TABLE,
    DEEDS,
    EXACT,
    FACTS,
    GIVEN,
    GROUP_TABLE,
    GROUPS,
    RELATION,
    TELLS,
)


@compiled(CHOOSE)
def by_rules(rules, view, actions, n, weights, memory, rng):
    """Follow a list of rules: do what the first one says that holds and has a target."""
    facts = np.empty(FACTS, np.float32)
    see(view, facts, int(weights[0]))
    rows = rows_in(weights)
    _, action = first_to_act(facts, GROUP_TABLE, DEED_TABLE, rows, len(rows), NONE)
    return int(actions[below(rng, n)]) if action == NONE else action


LANGUAGE = Language(
    groups=GROUPS, deeds=DEEDS, see=see, choose=by_rules, judge=judge, thank=thank, events=EVENTS,
    easier={"bomb": "pile"},
    vocabularies={
        "usual": (CARDS_, CHANCES, EXACT, "hint colour", "hint value"),
        "plain": (RELATION, GIVEN, TELLS, EXACT, "hint"),
        "patterns": (RELATION, GIVEN, TELLS, "hint"),
        "whole": (),
    },
    example="when notes <= 3 and no own [hinted]: discard [most dead]",
)  # fmt: skip
