"""TapnSwap in words."""

from __future__ import annotations

import re

from kibitz.core.reading import read_by_saying
from kibitz.core.table import View
from kibitz.games.tapnswap.rules import TAPS

IN_A_TERMINAL = ("Type a move",)  # beginnings of paragraphs that are not for pages
IN_A_BROWSER = (
    "Click one of your hands, then a hand of the other player to tap it, or your own other hand to "
    "swap."
)
RULES = """\
Each of the two players starts with one finger up on each hand. A hand with more than four
fingers dies. Kill both hands of the other player to win.

On your turn either tap or swap.

Tap: touch one of the other's live hands with one of your live hands. Your fingers are added to
that hand; yours do not change. Above four, it dies.

Swap: move one or two fingers from one of your hands to the other. You may empty a hand or bring a
dead one back to life. You may not push a hand above four, nor merely mirror your hands (from 3-1 to
1-3). Where two swaps come to the same pair of hands, the one that moves fewer fingers is offered.

After max_plies turns (200 by default) the game is a draw.

Type a move as 'tap left on right' or 'swap 1 from left', or in short 'lr' (your left on their
right) and 'l1' (left gives 1).
"""

SIDES = ("left", "right")
TAP = re.compile(r"([lr])\s*([lr])")
SWAP = re.compile(r"([lr])\s*([12])")


def say(view: View, action: int) -> str:
    """Put an action into words."""
    if action < TAPS:
        return f"tap {SIDES[action // 2]} on {SIDES[action % 2]}"
    giver, spare = divmod(action - TAPS, 2)
    return f"swap {spare + 1} from {SIDES[giver]}"


def read(view: View, text: str) -> int:
    """Find the action that words mean: 'tap left on right', 'lr', 'swap 1 from left', 'l1'."""
    short = text.strip().lower()
    tap, swap = TAP.fullmatch(short), SWAP.fullmatch(short)
    if tap:
        return 2 * "lr".index(tap[1]) + "lr".index(tap[2])
    if swap:
        return TAPS + 2 * "lr".index(swap[1]) + int(swap[2]) - 1
    every = {say(view, action): action for action in range(view.game.bound("actions"))}
    wanted = " ".join(short.split())
    return every[wanted] if wanted in every else read_by_saying(view, text, say)


def brief(view: View) -> str:
    """Say in one short line how the game stands, seat 0 first."""
    a, b, c, d = view["hands"].tolist()
    return f"hands {a}-{b} against {c}-{d}"


def show(view: View) -> str:
    """Draw the four hands with fingers as bars, the viewer's below, left and right as marked."""
    hands = view["hands"].tolist()
    own = hands[2 * view.seat : 2 * view.seat + 2]
    other = hands[2 - 2 * view.seat : 4 - 2 * view.seat]
    middle = "|"

    def row(pair: list[int]) -> str:
        left, right = ("|" * fingers if fingers else "x" for fingers in pair)
        return f"{left:>14}   {middle}   {right}"

    names = [
        f"seat {seat}" + (" to move" if seat == view.mover else "")
        for seat in (1 - view.seat, view.seat)
    ]
    bar = f"{'':>17}{middle}"
    return "\n".join(
        [
            f"{names[0]:^35}".rstrip(), bar, row(other), bar,
            "      L -------------------- R", bar, row(own), bar, f"{names[1]:^35}".rstrip(),
        ]
    )  # fmt: skip
