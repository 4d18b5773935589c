"""The agent that plays by a policy."""

from __future__ import annotations

import numpy as np

from kibitz.core.agent import CompiledAgent, Opinion, opinion
from kibitz.core.compiled import VALUE, compiled
from kibitz.core.table import View
from kibitz.neural.agent import CHANCES, Meaning, NetworkKind, thoughts_of
from kibitz.neural.inference import think, to_chances
from kibitz.neural.shape import TEMPERATURE


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """The chance with which the policy would take each option, at a temperature of 1 or more."""
    think(rules, view, actions, n, weights, out)
    to_chances(out, n, max(1.0, float(weights[TEMPERATURE])))


def chances_of(agent: CompiledAgent, view: View) -> tuple[np.ndarray, float]:
    """Give the chances of all legal actions, and what the position is worth to its viewer."""
    chances, worth = thoughts_of(agent, view)
    to_chances(chances, len(chances), max(1.0, float(agent.weights[TEMPERATURE])))
    return chances, worth


def explain(meaning: Meaning, agent: CompiledAgent, view: View) -> Opinion:
    """Say how likely the policy is to take each option, and what it thinks of the position."""
    chances, worth = chances_of(agent, view)
    action = agent.tried(view)
    legal = view.legal
    chance = float(chances[legal.index(action)])
    reason = f"Its policy takes this with {chance:.0%}; it expects {meaning.say(worth)}."
    notes = {option: f"{share:.1%}" for option, share in zip(legal, chances, strict=True)}
    return opinion(view, action, reason, dict(zip(legal, chances.tolist(), strict=True)), notes)


POLICY = NetworkKind(
    model="policy",
    learner="ppo",
    about="Play by a network that has learned from playing.",
    cooler="0 plays the likeliest move, 1 as likely as in training, more is weaker",
    value=value,
    unit=CHANCES,
    explain=explain,
)
