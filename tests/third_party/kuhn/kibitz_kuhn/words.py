"""Kuhn poker in words."""

from __future__ import annotations

from kibitz.core.game import HIDDEN
from kibitz.core.reading import unreadable
from kibitz.core.table import View

RULES = """\
Everybody pays one chip and gets one card. The cards count from 1 up; there is one more than there
are players, and it stays face down.

In turn, check or bet one chip. Once somebody has bet, everybody else in turn calls for one chip or
folds, and that is the end of it. If nobody bets, everybody stays in.

The highest card among those still in takes all the chips. If two or more are still in, they show
their cards.

Type a move as 'check', 'bet', 'fold' or 'call', or its first letters.
"""

MOVES = ("check", "bet", "fold", "call")


def say(view: View, action: int) -> str:
    """Put an action into words."""
    return MOVES[action]


def read(view: View, text: str) -> int:
    """Find the action that words mean, from their first letters; a legal one where several fit."""
    wanted = text.strip().lower()
    fits = [action for action, move in enumerate(MOVES) if wanted and move.startswith(wanted)]
    legal = [action for action in fits if action in view.legal]
    if not fits:
        raise unreadable(view, text)
    return (legal or fits)[0]


def card_of(view: View, seat: int) -> str:
    """Name a seat's card, or put a question mark where the viewer may not look."""
    card = int(view["cards"][seat])
    return "?" if card == HIDDEN else str(card)


def brief(view: View) -> str:
    """Say in one short line how the game stands."""
    seats = range(view.game.players)
    cards = " ".join(card_of(view, seat) for seat in seats)
    paid = " ".join(str(view["paid"][seat]) for seat in seats)
    return f"cards {cards} paid {paid}"


def show(view: View) -> str:
    """List the seats with card, chips and whether they are in, then the pot."""
    lines = []
    for seat in range(view.game.players):
        who = f"seat {seat}{' (you)' if seat == view.seat else ''}"
        folded = "" if view["still_in"][seat] else "  folded"
        lines.append(f"  {who:<14} card {card_of(view, seat)}  {view['paid'][seat]} paid{folded}")
    lines.append(f"  pot {view['paid'].sum()}, one card face down")
    if view.over:
        lines.append(f"  seat {view['winner']} takes the pot")
    return "\n".join(lines)
