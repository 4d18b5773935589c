"""Policies for Mexican train, as `kibitz match mexican_train docs/policies.py:Timid double`."""

from __future__ import annotations

import kibitz
from kibitz.core.options import Real
from kibitz.games.mexican_train.tiles import MOST_TILES, PIPS


class Timid(kibitz.Agent):
    """Lay most pips, on its own line if it can."""

    games = ("mexican_train",)
    options = (Real(name="own", default=100, help="pips its own line is worth", low=0, high=1000),)

    def values(self, view, options):
        """Return what each option is worth."""
        own = self.settings["own"]
        return [own * (o // MOST_TILES == view.seat) + PIPS[o % MOST_TILES] for o in options]


class Moody(Timid):
    """The same, and now and then anything."""

    def pick(self, values, rng):
        """Return the place of the option to take."""
        return rng.below(len(values)) if rng.uniform() < 0.1 else super().pick(values, rng)


def first(view):
    """Take the first option."""
    return view.legal[0]
