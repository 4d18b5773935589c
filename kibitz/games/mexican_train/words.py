"""Mexican train in words."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Sequence

from kibitz.core.errors import UnreadableMove
from kibitz.core.names import owner
from kibitz.core.names import with_names as names_for_seats
from kibitz.core.reading import unreadable
from kibitz.core.table import View
from kibitz.games.mexican_train.cells import DRAW, ENGINE, PASS, PLAYED, SHARED
from kibitz.games.mexican_train.tiles import HIGH, LOW, MOST_TILES, TILE

IN_A_TERMINAL = ("Type a move",)  # beginnings of paragraphs that are not for pages
IN_A_BROWSER = "Click a tile of your hand that is raised, then the line on which to lay it."
RULES = """\
Dominoes are laid in lines that all begin at one double, the engine. Everybody has a line of their
own, and there is one for all, the Mexican train, which opens when every line has been started.

On your turn lay one tile, with the same number as the open end: on your own line, on the Mexican
train once it is open, or on the line of somebody whose penny is up. If nothing fits, you pass, and
your penny goes up on your line; it comes off when you lay a tile there that is not a double. A
double gives you another turn, anywhere.

All tiles are dealt. A hand ends when somebody has no tile left, or when nobody can play; what you
then hold counts its pips against you. The next hand begins from the next lower double. Fewest pips
over all hands win.

With boneyard=7, each gets 7 tiles and whoever is stuck draws one, and passes if it does not fit.
With cover=yes, a double must be covered by the next tile that anybody lays, unless all tiles of its
number have been laid.

Type a move as '3-4 on own', '3-4 on shared' or '3-4 on seat 2', in short '3-4' where it fits on one
line only; or 'pass', 'draw'.
"""

SHOWN = 7  # tiles of a line in the terminal; the earlier ones are counted
MOVE = re.compile(
    r"(?:play\s+)?(\d{1,2})\s*[-|:/,\s]\s*(\d{1,2})(?:\s+(?:on\s+)?(.+))?"
    r"|(?:play\s+)?(\d)(\d)(?:\s+(?:on\s+)?(.+))?"
)
SEAT_NAME = re.compile(r"(?:seat|line|s)?\s*(\d{1,2})(?:'s line)?")


def tile_name(tile: int) -> str:
    """Write a tile, its lower number first."""
    return f"{LOW[tile]}-{HIGH[tile]}"


def line_name(line: int) -> str:
    """Name a line."""
    return "shared" if line == SHARED else f"seat {line}"


def with_names(words: str, names: Sequence[str]) -> str:
    """Return words for those who know the seats by name, and the shared line by its own."""

    def line(found: re.Match[str]) -> str:
        return f"on {owner(names[int(found[1])])} line"

    words = re.sub(r"\bon seat (\d+)\b", line, words)
    return names_for_seats(re.sub(r"\bon shared\b", "on the Mexican train", words), names)


def say(view: View, action: int) -> str:
    """Put an action into words."""
    if action >= PASS:
        return "pass" if action == PASS else "draw"
    line, tile = divmod(action, MOST_TILES)
    return f"{tile_name(tile)} on {line_name(line)}"


def read(view: View, text: str) -> int:
    """Find the action that words mean: '3-4 on own', '34 shared', '3 4 seat 2', 'pass'."""
    words = " ".join(text.strip().lower().split())
    if words and "pass".startswith(words):
        return PASS
    if words and "draw".startswith(words):
        return DRAW
    found = MOVE.fullmatch(words)
    if found is None:
        raise unreadable(view, text)
    one, two, where = found.groups()[:3] if found[1] else found.groups()[3:]
    highest = view.game.settings["highest"]
    if max(int(one), int(two)) > highest:
        raise UnreadableMove(f"Mexican train: this set has no {one}-{two}; it ends at {highest}.")
    tile = int(TILE[int(one), int(two)])
    if where is not None:
        return _line(view, where) * MOST_TILES + tile
    fits = [action for action in view.legal if action < PASS and action % MOST_TILES == tile]
    if len(fits) == 1:
        return fits[0]
    if not fits:
        return max(view.mover, 0) * MOST_TILES + tile
    names = " or ".join(f"'{say(view, action)}'" for action in fits)
    raise UnreadableMove(f"Mexican train: {tile_name(tile)} fits on several lines; say {names}.")


def _line(view: View, where: str) -> int:
    """Find the line that words name."""
    if where in ("own", "mine", "my line", "own line", "my own line", "me"):
        return max(view.mover, 0)
    if where in ("shared", "mexican", "train", "the train", "mexican train", "shared line"):
        return SHARED
    found = SEAT_NAME.fullmatch(where)
    if found is None or int(found[1]) >= view.game.players:
        seats = view.game.players - 1
        raise UnreadableMove(
            f"Mexican train: no line is called '{where}'; say own, shared, or seat 0 to {seats}."
        )
    return int(found[1])


# --- scores --------------------------------------------------------------------------------------


def tally(view: View) -> tuple[str, list[int]]:
    """Return what everybody has on the sheet, and its unit: pips of the hands that are over."""
    return "pips", view["pips"][: view.game.players].tolist()


def hand_winners(before: View, after: View) -> list[int]:
    """Return who won the hand that ended between two positions: whoever has fewest pips left."""
    if not after.over and after["hand"] == before["hand"]:
        return []
    left = (after["pips"] - before["pips"])[: after.game.players].tolist()
    return [seat for seat, pips in enumerate(left) if pips == min(left)]


# --- the board -----------------------------------------------------------------------------------


def own_tiles(view: View) -> list[int]:
    """List the viewer's tiles."""
    return [tile for tile, holder in enumerate(view["holder"].tolist()) if holder == view.seat]


def chain(view: View, line: int) -> list[tuple[int, int]]:
    """List the halves of a line's tiles as they lie, from the engine on."""
    holder, on, place = view["holder"], view["line"], view["place"]
    tiles = [t for t in range(MOST_TILES) if holder[t] == PLAYED and on[t] == line]
    tiles.sort(key=lambda tile: int(place[tile]))
    end = engine(view)
    laid = []
    for tile in tiles:
        other = int(LOW[tile] + HIGH[tile]) - end
        laid.append((end, other))
        end = other
    return laid


def engine(view: View) -> int:
    """Give the number of the engine."""
    on = view["line"].tolist()
    return int(LOW[on.index(ENGINE)])


def brief(view: View) -> str:
    """Say in one short line how the game stands."""
    seats = view.game.players
    held = " ".join(map(str, view["tiles"][:seats].tolist()))
    ends = " ".join(map(str, [*view["end"][:seats].tolist(), view["end"][SHARED]]))
    pips = " ".join(map(str, view["pips"][:seats].tolist()))
    return f"engine {engine(view)} ends {ends} tiles {held} pips {pips}"


def show(view: View) -> str:
    """List the lines with pennies, tiles held and pips so far, then the viewer's hand."""
    hands = min(view.game.settings["hands"] or 99, view.game.settings["highest"] + 1)
    rest = f", {view['left']} in the boneyard" if view.game.settings["boneyard"] else ""
    hand = min(view["hand"] + 1, hands)
    lines = [f"  hand {hand} of {hands}, engine {engine(view)}-{engine(view)}{rest}"]
    if view["hand"]:
        left = ", ".join(map(str, view["before"][: view.game.players]))
        lines.append(f"  pips left in hand {view['hand']}: {left}")
    for seat in range(view.game.players):
        you = " (you)" if seat == view.seat else ""
        mark = ">" if seat == view.mover else " "
        penny = "penny" if view["penny"][seat] else ""
        held, pips = int(view["tiles"][seat]), int(view["pips"][seat])
        who = f"{mark} seat {seat}{you}"
        tiles = f"{held:>3} {'tile ' if held == 1 else 'tiles'}"
        lines.append(f"{who:<14}{tiles} {pips:>4} pips  {penny:<6} {_laid(view, seat)}")
    shut = "" if view["length"][: view.game.players].all() else "not open yet"
    lines.append(f"  {'shared':<33}{_laid(view, SHARED)}{shut}")
    own = " ".join(map(tile_name, own_tiles(view))) or "none"
    lines += textwrap.wrap(f"  your tiles: {own}", 78, subsequent_indent=" " * 14)
    return "\n".join(line.rstrip() for line in lines)


def _laid(view: View, line: int) -> str:
    laid = chain(view, line)
    shown: Sequence[tuple[int, int]] = laid[-SHOWN:]
    before = f"({len(laid) - len(shown)} more) " if len(laid) > len(shown) else ""
    return before + " ".join(f"{a}-{b}" for a, b in shown)
