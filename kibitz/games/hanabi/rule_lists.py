"""Lists of rules: the vocabulary, how a list is written, and the interpreter that follows it.

A list is written `play-safe,tell-useful,discard-oldest`: the rules in the order in which they are
tried. A rule may have a number, as in `play-probably:0.6`, and conditions:

  play-probably:0.6@storms:2      while at least 2 storms are left to endure
  tell-dispensable@notes:3        while at most 3 notes are left
  play-probably:0@storms:2@deck:0   and once at most 0 cards are left in the deck

Where no rule applies, a hint is given by lot, or without notes any legal action taken by lot. As
weights, a list has WIDTH numbers for each rule.

The rules are those of J. Walton-Rivers, P. R. Williams, R. Bartle, D. Perez-Liebana, S. M. Lucas,
"Evaluating and modelling Hanabi-playing agents", IEEE CEC 2017, and of R. Canaan et al., "Evolving
agents for the Hanabi 2018 CIG competition", IEEE CIG 2018, where `known_as` gives their name.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import compiled
from kibitz.games.hanabi.card_rules import (
    FACTS,
    NONE,
    as_discard,
    discard_any,
    discard_duplicate,
    discard_expendable,
    discard_probably,
    discard_unhinted,
    know_own,
    may_discard,
    play_just_hinted,
    play_known,
    play_probably,
    play_safe,
)
from kibitz.games.hanabi.cells import (
    DRAWN,
    HINT,
    MAX_STORMS,
    MOST_HAND,
    NOTES,
    STORMS,
    cards_in_deck,
)
from kibitz.games.hanabi.tell_rules import (
    ANY_CARD,
    LAST_OF_KIND,
    PLAYABLE,
    USELESS,
    tell_anyone,
    tell_dispensable,
    tell_most,
    tell_next,
    tell_number,
    tell_sure,
)

# A rule as weights: its number, what it is set to, and its conditions.
RULE, SET_TO, LEAST_STORMS, MOST_NOTES_LEFT, MOST_DECK, WIDTH = 0, 1, 2, 3, 4, 5
MOST_RULES = 50
UNLIMITED = 99

(
    PLAY_KNOWN, PLAY_SAFE, PLAY_PROBABLY, PLAY_JUST_HINTED,
    TELL_PLAYABLE, TELL_PLAYABLE_NEW, TELL_USEFUL, TELL_SURE, TELL_USELESS, TELL_DISPENSABLE,
    TELL_CRITICAL, TELL_NUMBER, TELL_MOST, TELL_MOST_NEW, TELL_NEW, TELL_ANY,
    DISCARD_DEAD, DISCARD_PROBABLY, DISCARD_DUPLICATE, DISCARD_UNHINTED, DISCARD_EXPENDABLE,
    DISCARD_OLDEST, DISCARD_ANY, ANYTHING,
) = range(1, 25)  # fmt: skip


class CardRule(NamedTuple):
    """One rule: its number and name, what it says, and what others call it."""

    number: int
    name: str
    sentence: str
    known_as: str = ""
    takes: str = ""  # what may stand behind its name: "chance" or "value"
    default: float = 0.0


RULES = (
    CardRule(PLAY_KNOWN, "play-known", "Play a card that it knows exactly and that fits.",
             "PlayIfCertain"),
    CardRule(PLAY_SAFE, "play-safe", "Play a card that fits whatever it is.", "PlaySafeCard"),
    CardRule(PLAY_PROBABLY, "play-probably",
             "Play the card that is likeliest to fit, if that is at least so likely.",
             "PlayProbablySafeCard", "chance", 0.6),
    CardRule(PLAY_JUST_HINTED, "play-just-hinted",
             "Play the likeliest of the cards hinted since its last turn, if at least so likely.",
             "PlayJustHinted", "chance", 0.0),
    CardRule(TELL_PLAYABLE, "tell-playable",
             "Tell the next player, by lot, a fact about a card that can be played.",
             "TellPlayableCard"),
    CardRule(TELL_PLAYABLE_NEW, "tell-playable-new",
             "Tell the next player, by lot, a new fact about a card that can be played.",
             "TellPlayableCardOuter"),
    CardRule(TELL_USEFUL, "tell-useful",
             "Tell the nearest player with a card that can be played what it does not know of it.",
             "TellAnyoneAboutUsefulCard"),
    CardRule(TELL_SURE, "tell-sure",
             "Give the hint after which most cards are known to be playable.",
             "CompleteTellUseful"),
    CardRule(TELL_USELESS, "tell-useless",
             "Tell the nearest player with a dead card what it does not know of it.",
             "TellAnyoneAboutUselessCard"),
    CardRule(TELL_DISPENSABLE, "tell-dispensable",
             "Tell the nearest player the one fact by which it knows that a card is dead.",
             "TellDispensable"),
    CardRule(TELL_CRITICAL, "tell-critical",
             "Tell the nearest player with the last card of a kind what it does not know of it."),
    CardRule(TELL_NUMBER, "tell-number",
             "Tell the nearest player who does not know it about cards of this value.",
             "TellOnes, TellFives", "value", 1.0),
    CardRule(TELL_MOST, "tell-most", "Give the hint that points out most cards.",
             "TellMostInformation"),
    CardRule(TELL_MOST_NEW, "tell-most-new",
             "Give the hint that says something new about most cards.",
             "TellMostInformation(new)"),
    CardRule(TELL_NEW, "tell-new", "Tell the next player, by lot, a new fact about a card.",
             "TellUnknown"),
    CardRule(TELL_ANY, "tell-any", "Tell the next player, by lot, a fact about a card.",
             "TellRandomly"),
    CardRule(DISCARD_DEAD, "discard-dead", "Discard a card that can surely never be played.",
             "OsawaDiscard"),
    CardRule(DISCARD_PROBABLY, "discard-probably",
             "Discard the card that is likeliest to be dead, if that is at least so likely.",
             "DiscardProbablyUselessCard", "chance", 0.0),
    CardRule(DISCARD_DUPLICATE, "discard-duplicate",
             "Discard a card that it knows and sees in another hand too."),
    CardRule(DISCARD_UNHINTED, "discard-unhinted",
             "Discard the oldest card that no hint has pointed out."),
    CardRule(DISCARD_EXPENDABLE, "discard-expendable",
             "Discard the card that is least likely to be the last of its kind.",
             "DiscardLeastLikelyToBeNecessary"),
    CardRule(DISCARD_OLDEST, "discard-oldest", "Discard the oldest card.", "DiscardOldestFirst"),
    CardRule(DISCARD_ANY, "discard-any", "Discard a card by lot.", "DiscardRandomly"),
    CardRule(ANYTHING, "anything", "Take any legal action by lot.", "LegalRandom"),
)  # fmt: skip
BY_NAME = {rule.name: rule for rule in RULES}
BY_NUMBER = {rule.number: rule for rule in RULES}
CONDITIONS = {"storms": LEAST_STORMS, "notes": MOST_NOTES_LEFT, "deck": MOST_DECK}


# --- following a list ----------------------------------------------------------------------------


@compiled()
def try_own(view, rule, set_to, own, held, rng):
    """Try a rule about one's own cards."""
    if held == 0:
        return NONE
    if rule == PLAY_KNOWN:
        return play_known(own, held)
    if rule == PLAY_SAFE:
        return play_safe(own, held)
    if rule == PLAY_PROBABLY:
        return play_probably(own, held, np.float64(set_to))
    if rule == PLAY_JUST_HINTED:
        return play_just_hinted(view, own, held, set_to)
    if not may_discard(view):
        return NONE
    if rule == DISCARD_DEAD:
        return as_discard(discard_probably(own, held, 1.0))
    if rule == DISCARD_PROBABLY:
        return as_discard(discard_probably(own, held, np.float64(set_to)))
    if rule == DISCARD_DUPLICATE:
        return as_discard(discard_duplicate(view, own, held))
    if rule == DISCARD_UNHINTED:
        return as_discard(discard_unhinted(view, held))
    if rule == DISCARD_EXPENDABLE:
        return as_discard(discard_expendable(own, held))
    if rule == DISCARD_OLDEST:
        return as_discard(0)
    if rule == DISCARD_ANY:
        return as_discard(discard_any(held, rng))
    return NONE


@compiled()
def try_tell(view, rule, set_to, rng):
    """Try a rule about hints."""
    if view[NOTES] == 0:
        return NONE
    if rule == TELL_PLAYABLE:
        return tell_next(view, PLAYABLE, False, rng)
    if rule == TELL_PLAYABLE_NEW:
        return tell_next(view, PLAYABLE, True, rng)
    if rule == TELL_USEFUL:
        return tell_anyone(view, PLAYABLE)
    if rule == TELL_SURE:
        return tell_sure(view, PLAYABLE)
    if rule == TELL_USELESS:
        return tell_anyone(view, USELESS)
    if rule == TELL_DISPENSABLE:
        return tell_dispensable(view)
    if rule == TELL_CRITICAL:
        return tell_anyone(view, LAST_OF_KIND)
    if rule == TELL_NUMBER:
        return tell_number(view, int(set_to) - 1)
    if rule == TELL_MOST:
        return tell_most(view, False)
    if rule == TELL_MOST_NEW:
        return tell_most(view, True)
    if rule == TELL_NEW:
        return tell_next(view, ANY_CARD, True, rng)
    if rule == TELL_ANY:
        return tell_next(view, ANY_CARD, False, rng)
    return NONE


@compiled()
def holds(view, weights, at):
    """Tell whether the conditions of the rule that begins there hold."""
    return (
        view[MAX_STORMS] - view[STORMS] >= weights[at + LEAST_STORMS]
        and view[NOTES] <= weights[at + MOST_NOTES_LEFT]
        and cards_in_deck(view) - view[DRAWN] <= weights[at + MOST_DECK]
    )


@compiled()
def follow(view, actions, n, weights, rng):
    """Give the place in the list of the first rule that applies, or NONE, and its action."""
    own = np.empty((MOST_HAND, FACTS))
    held = know_own(view, own)
    for place in range(len(weights) // WIDTH):
        at = place * WIDTH
        if not holds(view, weights, at):
            continue
        rule = int(weights[at + RULE])
        set_to = float(weights[at + SET_TO])
        if rule == ANYTHING:
            return place, int(actions[below(rng, n)])
        action = int(try_own(view, rule, set_to, own, held, rng))
        if action == NONE:
            action = int(try_tell(view, rule, set_to, rng))
        if action != NONE:
            return place, action
    # What no rule covers must not blow up a game: a hint by lot, where there is one.
    first = 0
    while first < n and actions[first] < HINT:
        first += 1
    if first == n:
        first = 0
    return NONE, int(actions[first + below(rng, n - first)])
