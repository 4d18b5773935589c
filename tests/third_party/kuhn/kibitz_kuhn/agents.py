"""Players of Kuhn poker: one compiled, one in plain Python."""

from __future__ import annotations

from collections.abc import Sequence

from kibitz.core.agent import Agent, Kind
from kibitz.core.chance import Chance
from kibitz.core.compiled import CHOOSE, compiled
from kibitz.core.game import SEATS, VIEWER
from kibitz.core.options import Real
from kibitz.core.table import View

from .rules import BET, CALL, CARDS


@compiled(CHOOSE)
def honest(rules, view, actions, n, weights, memory, rng):
    """Bet or call with the upper half of the cards, never otherwise."""
    card = view[CARDS + view[VIEWER]]
    return actions[1] if 2 * card > view[SEATS] + 2 else actions[0]


class Bluffer(Agent):
    """Bet the highest card and, now and then, the lowest; call with doubt."""

    options = (
        Real(
            name="bluff",
            default=0.33,
            help="how often it bets or calls with a poor card",
            low=0,
            high=1,
        ),
    )
    games = ("kuhn",)

    def values(self, view: View, options: Sequence[int]) -> list[float]:
        """Say how likely each option is to be taken."""
        card, highest = int(view["cards"][view.seat]), view.game.players + 1
        bluff = self.settings["bluff"]
        if card == highest:
            pay = 1.0
        elif card == 1:
            pay = bluff if BET in options else 0.0
        else:
            pay = bluff if CALL in options else 0.0
        return [pay if option in (BET, CALL) else 1 - pay for option in options]

    def pick(self, values: Sequence[float], rng: Chance) -> int:
        """Take each option as often as it is likely."""
        return int(rng.uniform() >= values[0])


AGENTS = {"honest": Kind(choose=honest)}  # Bluffer joins by its entry point
