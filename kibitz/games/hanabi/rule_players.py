"""Players who follow a list of rules: those of the literature, and lists of one's own.

iggi, internal, outer, flawed, piers and van-den-bergh have the lists that J. Walton-Rivers et al.
published ("Evaluating and modelling Hanabi-playing agents", IEEE CEC 2017); internal and outer go
back to H. Osawa, "Solving Hanabi" (AAAI workshop, 2015), van-den-bergh to M. van den Bergh et al.,
"Aspects of the cooperative card game Hanabi" (BNAIC, 2016). How lists are written is told in
rule_lists.py.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.errors import BadOption, unknown
from kibitz.core.game import Game
from kibitz.core.options import Text
from kibitz.core.table import View
from kibitz.games.hanabi.card_rules import NONE
from kibitz.games.hanabi.cells import VALUES
from kibitz.games.hanabi.cheater import CHEATER
from kibitz.games.hanabi.reasons import notes_on
from kibitz.games.hanabi.rule_lists import (
    BY_NAME,
    BY_NUMBER,
    CONDITIONS,
    LEAST_STORMS,
    MOST_DECK,
    MOST_NOTES_LEFT,
    MOST_RULES,
    RULE,
    SET_TO,
    UNLIMITED,
    WIDTH,
    follow,
)
from kibitz.games.hanabi.simple import SIMPLE

# --- lists as text and as weights ----------------------------------------------------------------


def read_rules(text: str) -> np.ndarray:
    """Turn a list of rules as text into weights; what cannot be read raises a KibitzError."""
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if not 1 <= len(parts) <= MOST_RULES:
        raise BadOption(
            f"A list has 1 to {MOST_RULES} rules, as in play-safe,tell-useful,discard-oldest; "
            f"this one has {len(parts)}. There are: {', '.join(BY_NAME)}."
        )
    return np.concatenate([_read_rule(part) for part in parts]).astype(np.float32)


def _read_rule(text: str) -> np.ndarray:
    """Read one rule: `play-probably:0.6@storms:2`."""
    head, *conditions = text.split("@")
    name, colon, number = head.partition(":")
    if name.strip() not in BY_NAME:
        raise unknown("rule", name.strip(), BY_NAME)
    rule = BY_NAME[name.strip()]
    if colon and not rule.takes:
        raise BadOption(f"The rule '{rule.name}' takes no number; '{text}' gives it one.")
    low, high = (0.0, 1.0) if rule.takes == "chance" else (1.0, float(VALUES))
    line = np.zeros(WIDTH)
    line[RULE] = rule.number
    line[SET_TO] = _number(number, low, high, rule.name) if colon else rule.default
    if rule.takes == "value" and line[SET_TO] % 1:
        raise BadOption(f"'{rule.name}' takes a whole number, not '{number}'.")
    line[MOST_NOTES_LEFT] = line[MOST_DECK] = UNLIMITED
    for condition in conditions:
        name, _, number = condition.partition(":")
        if name.strip() not in CONDITIONS:
            raise unknown("condition of a rule", name.strip(), CONDITIONS)
        line[CONDITIONS[name.strip()]] = _number(number, 0, UNLIMITED, f"@{name.strip()}")
    return line


def _number(text: str, low: float, high: float, whose: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = np.nan
    if not low <= number <= high:
        raise BadOption(f"'{whose}' takes a number from {low:g} to {high:g}, not '{text}'.")
    return number


def write_rules(weights: np.ndarray) -> list[str]:
    """Write each rule of a list as text, as `read_rules` reads it."""
    return [_write_rule(line) for line in weights.reshape(-1, WIDTH)]


def _write_rule(line: np.ndarray) -> str:
    rule = BY_NUMBER[int(line[RULE])]
    text = rule.name + (f":{line[SET_TO]:g}" if rule.takes else "")
    for name, cell in CONDITIONS.items():
        if line[cell] != (0 if cell == LEAST_STORMS else UNLIMITED):
            text += f"@{name}:{line[cell]:g}"
    return text


# --- the players ---------------------------------------------------------------------------------


@compiled(CHOOSE)
def rule_list(rules, view, actions, n, weights, memory, rng):
    """Try a list of rules in order, and do what the first that applies says."""
    return follow(view, actions, n, weights, rng)[1]


def _explain(agent: CompiledAgent, view: View) -> Opinion:
    """Say which rule of the list applied, and what is known of every option."""
    options = view.legal
    place, action = follow(
        view.cells, np.array(options, np.int32), len(options), agent.weights, agent.rng.words.copy()
    )
    texts = write_rules(agent.weights)
    notes = notes_on(view)
    if place == NONE:
        reason = f"None of its {len(texts)} rules applies, so it draws a lot."
    else:
        rule = BY_NUMBER[int(agent.weights[place * WIDTH + RULE])]
        reason = f"Rule {place + 1} of {len(texts)}, {texts[place]}: {rule.sentence}"
    words = view.say(action)
    reason += f" {words[0].upper()}{words[1:]}: {notes[action]}."
    return opinion(view, action, reason, {action: 1.0}, notes)


def _from_setting(game: Game, settings: Mapping[str, Any]) -> np.ndarray:
    return read_rules(settings["rules"])


def follower(name: str, rules: str, about: str) -> Kind:
    """Make a kind of player from a list of rules."""
    return Kind(
        choose=rule_list, name=name, about=about, games=("hanabi",), explain=_explain,
        weights=lambda game, settings: read_rules(rules),
    )  # fmt: skip


LISTS = {
    "iggi": "play-known,play-safe,tell-useful,discard-dead,discard-oldest",
    "internal": "play-safe,discard-dead,tell-playable,tell-any,discard-any",
    "outer": "play-safe,discard-dead,tell-playable-new,tell-new,discard-any",
    "flawed": "play-safe,play-probably:0.25,tell-any,discard-dead,discard-oldest,discard-any",
    "piers": "play-probably:0@storms:2@deck:0,play-safe,play-probably:0.6@storms:2,tell-useful,"
    "tell-dispensable@notes:3,discard-dead,discard-oldest,tell-any,discard-any",
    "van-den-bergh": "play-probably:0.6@storms:2,play-safe,discard-probably:1,tell-useful,"
    "tell-useless,tell-most,discard-probably:0",
}
ABOUT = {
    "iggi": "Play what is safe, tell of playable cards, discard the oldest.",
    "internal": "Play what is safe, tell the next player of playable cards by lot, discard by lot.",
    "outer": "Like internal, but tell only what is new.",
    "flawed": "Play at a chance of a quarter: a bad partner, made to be modelled.",
    "piers": "Like iggi, with risks while storms can be endured, and a last gamble.",
    "van-den-bergh": "Play at a chance of 0.6, hint as long as there are notes.",
}

RULE_LIST = Kind(
    choose=rule_list, name="rule-list", games=("hanabi",), explain=_explain, weights=_from_setting,
    options=(
        Text(
            name="rules", default=LISTS["piers"],
            help="the rules in order, as in play-probably:0.6@storms:2,tell-useful,discard-oldest",
        ),
    ),
)  # fmt: skip

RULE_PLAYERS: dict[str, Kind] = {
    **{name: follower(name, rules, ABOUT[name]) for name, rules in LISTS.items()},
    "rule-list": RULE_LIST,
    "simple": SIMPLE,
    "cheater": CHEATER,
}
