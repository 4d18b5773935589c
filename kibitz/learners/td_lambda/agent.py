"""The agent that plays by the values of the positions after its moves."""

from __future__ import annotations

from kibitz.core.agent import CompiledAgent, Opinion, opinion
from kibitz.core.compiled import VALUE, compiled
from kibitz.core.table import View
from kibitz.neural.agent import POINTS, Meaning, NetworkKind, thoughts_of
from kibitz.neural.inference import think
from kibitz.neural.shape import SCALE


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """What each option brings, in points or as its aim counts."""
    worth = think(rules, view, actions, n, weights, out)
    for i in range(n):
        out[i] = (worth + out[i]) / weights[SCALE]


def explain(meaning: Meaning, agent: CompiledAgent, view: View) -> Opinion:
    """Say what each option is worth."""
    numbers, worth = thoughts_of(agent, view)
    values = dict(zip(view.legal, ((worth + numbers) / meaning.scale).tolist(), strict=True))
    action = agent.tried(view)
    notes = {option: meaning.say(of * meaning.scale) for option, of in values.items()}
    reason = f"After this it expects {notes[action]}."
    if len(values) > 1 and action == max(values, key=values.__getitem__):
        reason = f"After this it expects most: {notes[action]}."
    return opinion(view, action, reason, values, notes)


TD = NetworkKind(
    model="td",
    learner="td_lambda",
    about="Play for the best position, by values learned from how games went on.",
    cooler="0 plays the best move, more draws moves by their values and is weaker",
    value=value,
    unit=POINTS,
    explain=explain,
)
