"""A league's games for other programs: every game a row, or everything that is known."""

from __future__ import annotations

import csv
import io

from kibitz.core.errors import Misuse
from kibitz.core.plain import as_json
from kibitz.league.book import Book
from kibitz.league.ladder import Ladder
from kibitz.league.played import ranked


def check_ending(ending: str) -> None:
    """Raise if a league cannot be written to a file with such an ending."""
    if ending not in (".csv", ".json"):
        raise Misuse(f"A league is written as .csv (games) or .json (ladder), not as '{ending}'.")


def export(book: Book, ladder: Ladder, ending: str) -> str:
    """Write a league as `.csv`, a row for each seat of each game, or its ladder as `.json`."""
    check_ending(ending)
    if ending == ".json":
        return as_json(ladder.to_dict()) + "\n"
    names = {member.id: member.name for member in book.members()}
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(["round", "match", "game", "deal", "seat", "agent", "points", "rank"])
    for match_id, match in book.played():
        _, ranks = ranked(match.points)
        for game in range(match.games):
            for place, member in enumerate(match.lineup):
                rows.writerow(
                    [
                        match.round, match_id, game, game // match.seats,
                        (place + game) % match.seats, names[member],
                        f"{match.points[game, place]:g}", int(ranks[game, place]) + 1,
                    ]
                )  # fmt: skip
    return out.getvalue()
