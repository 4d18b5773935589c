"""Strategies for Nim: `kibitz train nim evolution --strategies docs/strategies.py:take_two`."""

from __future__ import annotations

from kibitz.core.compiled import compiled


def take_two(view):
    """Take two sticks from any row that has them; else take any move."""
    return [action for action in view.legal if action % 64 == 1] or view.legal


@compiled()
def last(view, actions, n, wanted):
    """Take as much as it may from the last row."""
    wanted[0] = n - 1  # the place of what it would take; several may be written
    return 1  # how many there are
