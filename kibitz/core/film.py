"""Films: records as pictures of every ply that a page can step through.

The pictures of one game are very alike. So a film keeps each distinct piece of them, an SVG tag
with the text after it, once; a frame is a list of the numbers of its pieces. Written as JSON and
deflated, a film has about a hundredth of the size of its pictures. It shows what one seat may know
and holds nothing else: no deal, no seed, no points of hidden hands.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from kibitz.core.record import Record
from kibitz.core.svg import only_seen
from kibitz.core.table import Move

SEAT = 0  # whose view is shown, unless somebody asks for another

PIECES = re.compile(r"(?=<)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """A game that was kept: who played, how it ended, and how many moves it took."""

    names: tuple[str, ...]  # by seat
    points: tuple[float, ...]
    plies: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Film(Sample):
    """A game to step through: who played, how it ended, and all frames in `data`.

    `data` is base64 of deflated JSON: `pieces` of SVG; `frames`, lists of their numbers, the deal
    first; `moves` as seat and words; `names` and `points` by seat; whether the game is `over`, and
    whether all play `together`. `moves` and the picture of the `last` frame are there for those
    who cannot step through it.
    """

    data: str
    moves: tuple[tuple[int, str], ...]
    last: str


def film(record: Record, names: Sequence[str] = (), seat: int = SEAT) -> Film:
    """Make a film of a record, as a seat sees the board, with the last move marked in each frame.

    `names` are those of the seats, unless the record's own will do.
    """
    names = tuple(names) or tuple(record.name_of(seat) for seat in range(record.game.players))
    table = record.table(0)
    numbers: dict[str, int] = {}
    frames: list[list[int]] = []
    moves: list[tuple[int, str]] = []

    def expose(last: Move | None) -> str:
        drawn = only_seen(table.view(seat).svg(last=last))
        # A piece gets the next number when it is seen first.
        frames.append([numbers.setdefault(piece, len(numbers)) for piece in PIECES.split(drawn)])
        return drawn

    drawn = expose(None)
    for action in record.actions:
        move = table.as_seen(action, seat)
        moves.append((move.seat, move.words))
        shown = None if table.is_secret(seat) else move
        table.play(action)
        drawn = expose(shown)
    points = table.view(seat).points
    content = {
        "pieces": list(numbers), "frames": frames, "moves": moves, "names": names,
        "points": points, "over": table.over, "together": record.game.cooperative,
    }  # fmt: skip
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    return Film(
        names=names,
        points=tuple(points),
        plies=len(moves),
        data=base64.b64encode(zlib.compress(text, 9)).decode("ascii"),
        moves=tuple(moves),
        last=drawn,
    )
