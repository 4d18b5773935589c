"""Weaker opponents from strong agents: a share of their moves is random.

Every agent takes the setting `blunders`, as in `settler:blunders=30%`. Levels for people are made
of it: an agent that plays well most of the time is a better opponent to learn from than a bad one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from kibitz.core.agent import Agent, Opinion
from kibitz.core.chance import Chance
from kibitz.core.compiled import Rule
from kibitz.core.errors import BadOption
from kibitz.core.options import Option, Real
from kibitz.core.table import View


class Share(Real):
    """A share of the whole, as in 30% or 0.3."""

    def parse(self, value: Any) -> float:
        """Read a share; more than 1 only as a percentage."""
        text = str(value).strip()
        try:
            return super().parse(float(text[:-1]) / 100 if text.endswith("%") else text)
        except (BadOption, ValueError):
            raise self.refuse(value) from None

    def takes(self) -> str:
        """Say the range."""
        return "a share from 0% to 100%, as in 30%"

    def say(self, value: float) -> str:
        """Write it as a percentage."""
        return f"{100 * value:g}%"


BLUNDERS = Share(
    name="blunders", default=0.0, low=0.0, high=1.0, help="the share of moves that are random"
)


def settings_of(kind: Any) -> tuple[Option, ...]:
    """Return all settings that an agent of this kind takes: its own, and its blunders."""
    own = tuple(kind.options)
    return own if any(option.name == BLUNDERS.name for option in own) else (*own, BLUNDERS)


def part_blunders(kind: Any, given: Mapping[str, Any]) -> tuple[dict[str, Any], float]:
    """Return the kind's own settings of those that were given, and the share of blunders."""
    own = dict(given)
    if BLUNDERS.name not in own or BLUNDERS not in settings_of(kind):
        return own, 0.0
    return own, BLUNDERS.parse(own.pop(BLUNDERS.name))


class Blundering(Agent):
    """An agent that takes any legal move, each equally likely, for a share of its moves."""

    def __init__(self, inner: Agent, share: float) -> None:
        self.inner, self.share = inner, share
        self.game, self.name, self.rng = inner.game, inner.name, inner.rng
        self.settings = {**inner.settings, BLUNDERS.name: share}

    def begin(self, seat: int, rng: Chance) -> None:
        """Take a seat at a new table."""
        self.rng = rng
        self.inner.begin(seat, rng)

    def compiled_parts(self) -> list[Rule]:
        """List what the strong agent runs."""
        return self.inner.compiled_parts()

    def prepare(self) -> None:
        """Compile what the strong agent needs."""
        self.inner.prepare()

    def choose(self, view: View) -> int:
        """Answer with the strong agent's move, or with a random one."""
        if self.rng.uniform() < self.share:
            return self.rng.choice(view.legal)
        return self.inner.choose(view)

    def values(self, view: View, options: Sequence[int]) -> Sequence[float]:
        """Return what the strong agent thinks of the options."""
        return self.inner.values(view, options)

    def notice(self, view: View, actor: int, action: int) -> None:
        """Let the strong agent see an action."""
        self.inner.notice(view, actor, action)

    def explain(self, view: View) -> Opinion:
        """Explain the move that it makes when it does not blunder."""
        opinion = self.inner.explain(view)
        often = f"It plays this {100 * (1 - self.share):g}% of the time, else any move."
        return replace(opinion, reason=f"{opinion.reason} {often}")
