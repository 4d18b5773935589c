"""OpenSpiel, in both directions.

Importing this package registers every game of kibitz with OpenSpiel, as `kibitz_nim` and so on, so
that `pyspiel.load_game("kibitz_nim(rows=1;3;5)")` works; `as_open_spiel` does so with a `Game` that
one has. The other way round, `kibitz.game("open_spiel:chess")` finds OpenSpiel's games: see
catalogue.py.
"""

from __future__ import annotations

from kibitz.bridges.needs import need

need("pyspiel")

from kibitz.bridges.open_spiel.theirs import as_open_spiel, register_all  # noqa: E402

__all__ = ["as_open_spiel"]

register_all()
