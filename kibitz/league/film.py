"""Films: records as pictures of every ply that a page can step through.

The pictures of one game are very alike. So a film keeps each distinct piece of them, an SVG tag
with the text after it, once; a frame is a list of the numbers of its pieces. Written as JSON and
deflated, a film has about a hundredth of the size of its pictures.
"""

from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Sequence
from dataclasses import dataclass

from kibitz.core.record import Record
from kibitz.core.table import Move
from kibitz.league.samples import Sample

SEAT = 0  # whose view is shown

# What only a board that can be clicked needs.
BUTTONS = re.compile(r' data-action="\d+"| role="button"| tabindex="0"')
PIECES = re.compile(r"(?=<)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Film(Sample):
    """A game to step through: who played, how it ended, and all frames in `data`.

    `data` is base64 of deflated JSON: `pieces` of SVG; `frames`, lists of their numbers, the deal
    first; `moves` as seat and words; `names` and `points` by seat; whether the game is `over`, and
    whether all play `together`.
    """

    data: str


def film(record: Record, names: Sequence[str] = ()) -> Film:
    """Make a film of a record, as seat 0 sees the board, with the last move marked in each frame.

    `names` are those of the seats, unless the record's own will do.
    """
    names = tuple(names) or tuple(record.name_of(seat) for seat in range(record.game.players))
    table = record.table(0)
    numbers: dict[str, int] = {}
    frames: list[list[int]] = []
    moves: list[tuple[int, str]] = []

    def expose(last: Move | None) -> None:
        drawn = BUTTONS.sub("", table.view(SEAT).svg(last=last))
        # A piece gets the next number when it is seen first.
        frames.append([numbers.setdefault(piece, len(numbers)) for piece in PIECES.split(drawn)])

    expose(None)
    for action in record.actions:
        move = Move(table.plies, table.seat, action, table.say(action))
        moves.append((move.seat, move.words))
        table.play(action)
        expose(move)
    content = {
        "pieces": list(numbers), "frames": frames, "moves": moves, "names": names,
        "points": table.points, "over": table.over, "together": record.game.cooperative,
    }  # fmt: skip
    text = json.dumps(content, separators=(",", ":"), ensure_ascii=False).encode()
    return Film(
        names=names,
        points=tuple(table.points),
        plies=len(moves),
        data=base64.b64encode(zlib.compress(text, 9)).decode("ascii"),
    )
