"""TapnSwap in words."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Sequence

from kibitz.core.errors import AmbiguousMove, IllegalMove
from kibitz.core.reading import read_by_saying, unreadable
from kibitz.core.table import View
from kibitz.games.tapnswap.rules import MOST_FINGERS, TAPS

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
1-3). Hands have no sides: of the swaps that lead to one pair of hands or to its mirror image, such
as 1-4 and 4-1, the one that moves fewest fingers is listed, and the others mean it.

After max_plies turns (200 by default) the game is a draw.

Type a move as 'tap left on right' or 'swap 1 from left', or in short 'lr' (your left on their
right) and 'l1' (left gives 1). 'tap 3 on 2', by fingers, and 'swap to 1-4' will do as well.
"""

SIDES = ("left", "right")
MOST_GIVEN = 2  # a swap of more leads to what one of fewer leads to, or to its mirror image
TAP = re.compile(r"([lr]) ?([lr])")
GIVE = re.compile(r"([lr]) ?([1-4])")
CODE = re.compile(r"\[ ?([01]) ?, ?([01]) ?, ?([0-4]) ?\]")  # tap or swap, which hand, what
FINGERS = re.compile(r"\btap\w*(?: with)? (\d) on (\d)\b")
PAIRS = re.compile(r"(?:(\d) ?- ?(\d) (?:to|->) )?(\d) ?- ?(\d)")
SWAP = re.compile(
    r"\b(?:swap|exchang|giv|mov)\w* ([1-4])\b(?: fingers?)?(?: from)?(?: (?:the|my))?"
    r"(?: (left|right|l|r)\b)?"
)
HINT = "Hands have no sides: {}, so this is '{}'."


def say(view: View, action: int) -> str:
    """Put an action into words."""
    if action < TAPS:
        return f"tap {SIDES[action // 2]} on {SIDES[action % 2]}"
    giver, spare = divmod(action - TAPS, 2)
    return f"swap {spare + 1} from {SIDES[giver]}"


def read(view: View, text: str) -> int:
    """Find the action that words mean: 'tap left on right', 'swap 1 from left', 'lr', 'l1'.

    Also by fingers, 'tap 3 on 2', and by what a swap leads to, 'swap from 3-2 to 1-4'. A swap that
    is not offered means the one to its mirror image, if that is: see `remark`.
    """
    return _understood(view, text)[0]


def remark(view: View, text: str) -> str:
    """Explain which move was understood where it is not the one in the words; else return ''."""
    return _understood(view, text)[1]


def _understood(view: View, text: str) -> tuple[int, str]:
    wanted = " ".join(text.lower().split())
    tap, give = TAP.fullmatch(wanted), GIVE.fullmatch(wanted)
    if tap:
        return 2 * "lr".index(tap[1]) + "lr".index(tap[2]), ""
    if give:
        return _given(view, "lr".index(give[1]), int(give[2]))
    if code := CODE.fullmatch(wanted):
        kind, hand, number = map(int, code.groups())
        if kind and number:
            return _given(view, hand, number)
        if not kind and number < 2:
            return 2 * hand + number, ""
        raise unreadable(view, text)
    if fingers := FINGERS.search(wanted):
        return _tapped(view, int(fingers[1]), int(fingers[2])), ""
    if pairs := PAIRS.search(wanted):
        before = (pairs[1], pairs[2]) if pairs[1] else None
        return _to_pair(view, (int(pairs[3]), int(pairs[4])), before)
    if swap := SWAP.search(wanted):
        if swap[2]:
            return _given(view, "lr".index(swap[2][0]), int(swap[1]))
        return _given_by_either(view, text, int(swap[1]))
    every = {say(view, action): action for action in range(TAPS)}
    if wanted in every:
        return every[wanted], ""
    return read_by_saying(view, text, say), ""


def _hands(view: View) -> tuple[list[int], list[int]]:
    hands = view["hands"].tolist()
    return hands[2 * view.seat : 2 * view.seat + 2], hands[2 - 2 * view.seat : 4 - 2 * view.seat]


def _after(own: Sequence[int], giver: int, fingers: int) -> tuple[int, int]:
    after = list(own)
    after[giver] -= fingers
    after[1 - giver] += fingers
    return after[0], after[1]


def _offered(view: View) -> dict[int, tuple[int, int]]:
    """Give the swaps that are legal, and the hands that they lead to."""
    own, _ = _hands(view)
    swaps = (action for action in view.legal if action >= TAPS)
    return {action: _after(own, (action - TAPS) // 2, 1 + action % 2) for action in swaps}


def _given(view: View, giver: int, fingers: int) -> tuple[int, str]:
    """Find the swap of so many fingers from a hand, or the one to its mirror image."""
    action = TAPS + 2 * giver + fingers - 1
    if fingers <= MOST_GIVEN and action in view.legal:
        return action, ""
    own, _ = _hands(view)
    return _to_pair(view, _after(own, giver, fingers), None)


def _to_pair(
    view: View, wanted: tuple[int, ...], before: tuple[str, ...] | None
) -> tuple[int, str]:
    """Find the swap that leads to a pair of hands, or to its mirror image."""
    own, _ = _hands(view)
    now = f"{own[0]}-{own[1]}"
    if before and sorted(map(int, before)) != sorted(own):
        raise IllegalMove(f"tapnswap: your hands are {now}, not {'-'.join(before)}.")
    mirrored = before is not None and [int(hand) for hand in before] != own
    if mirrored:
        wanted = wanted[::-1]
    target = f"{wanted[0]}-{wanted[1]}"
    for action, pair in _offered(view).items():
        if pair == wanted:
            return action, HINT.format(f"{now} it is", say(view, action)) if mirrored else ""
    for action, pair in _offered(view).items():
        if pair == wanted[::-1]:
            return action, HINT.format(f"{target} is {pair[0]}-{pair[1]}", say(view, action))
    if sorted(wanted) == sorted(own):
        why = "that would leave your hands as they are, or merely mirror them"
    elif max(wanted) > MOST_FINGERS:
        why = f"a hand has at most {MOST_FINGERS} fingers"
    elif min(wanted) < 0:
        why = "that hand has not so many fingers"
    else:
        why = f"you have {sum(own)} fingers, and a swap keeps them all"
    raise IllegalMove(f"tapnswap: no swap from {now} to {target}: {why}.")


def _given_by_either(view: View, text: str, fingers: int) -> tuple[int, str]:
    """Find the swap of so many fingers where no hand is named."""
    found: dict[int, str] = {}
    for giver in range(2):
        with contextlib.suppress(IllegalMove):
            action, _ = _given(view, giver, fingers)
            found[action] = ""
    if len(found) > 1:
        pairs = _offered(view)
        ways = [f"'{say(view, a)}' (to {pairs[a][0]}-{pairs[a][1]})" for a in found]
        raise AmbiguousMove(f"tapnswap: '{text}' could mean {' or '.join(ways)}. Say which.")
    if not found:
        return _given(view, 0, fingers)  # which says why not
    return found.popitem()


def _tapped(view: View, fingers: int, target: int) -> int:
    """Find the tap with a hand of so many fingers on one of so many; which one makes no odds."""
    own, other = _hands(view)
    if fingers not in own or target not in other or not fingers or not target:
        raise IllegalMove(
            f"tapnswap: no tap with {fingers} on {target}: your hands are {own[0]}-{own[1]}, "
            f"the other's {other[0]}-{other[1]}."
        )
    return 2 * own.index(fingers) + other.index(target)


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
