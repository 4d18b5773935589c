"""What stands beside the viewer's hand: the points on its left, the last moves on its right."""

from __future__ import annotations

from kibitz.core.markup import escape
from kibitz.core.names import named
from kibitz.core.svg import seat_mark, tag, text, text_width
from kibitz.core.table import View
from kibitz.games.hanabi.cards import reach_of
from kibitz.games.hanabi.drawing_cards import hint_card, mini
from kibitz.games.hanabi.words import Event, event

LINES = 9  # of the log
LINE = 23
# What the audience says, by fifths of the most points there are: as in the printed rules.
VERDICTS = ("The crowd boos.", "Mediocre.", "An honourable attempt.", "Excellent!", "Amazing!")


def _say(x: float, y: float, words: str, size: float = 13, class_: str = "quiet") -> str:
    """Write words from x on."""
    return text(x, y, words, size, class_, text_anchor="start")


def score(view: View, x: float, y: float) -> str:
    """Write the points, how many can still be reached, and that the end is near or there."""
    settings = view.game.settings
    most = settings["colours"] * settings["values"]
    reach = sum(int(reach_of(view.cells, colour)) for colour in range(settings["colours"]))
    points = f"{view.points[0]:g}"
    possible = f", {reach} still possible" if reach < most and not view.over else ""
    parts = [
        _say(x, y + 40, points, 52, "ink strong"),
        _say(x + text_width(points, 52) + 14, y + 48, f"of {most}", 18),
        _say(x, y + 82, f"points{possible}", 14),
    ]
    if view.over:
        parts += [_say(x, y + 122, "Game over", 16, "ink strong")]
        parts += [_say(x, y + 144, _verdict(view, most), 14)]
    elif view["last"]:
        turns = view["last"]
        parts += [_say(x, y + 122, "Last round", 16, "ink strong")]
        parts += [_say(x, y + 144, f"{turns} more turn{'s' if turns > 1 else ''}", 14)]
    return tag("g", *parts)


def _verdict(view: View, most: int) -> str:
    """Say how the game has ended."""
    if view["storms"] == view.game.settings["storms"]:
        return "The storms have struck."
    share = view.points[0] / most
    return "Legendary!" if share == 1 else VERDICTS[int(share * len(VERDICTS))]


def log(view: View, x: float, y: float) -> str:
    """List the last moves, the newest first, older ones paler."""
    parts = []
    for row, ply in enumerate(reversed(range(max(0, view.plies - LINES), view.plies))):
        happened = event(view, ply)
        line = _told if happened.hint is not None else _moved
        title = tag("title", escape(named(view.game, happened.words(), view.names)))
        drawn = line(happened, x, y + 16 + LINE * row)
        parts.append(tag("g", title, drawn, opacity=1 - 0.06 * row))
    return tag("g", *parts)


def _moved(happened: Event, x: float, y: float) -> str:
    """Draw who played or discarded which card, and what came of it."""
    verb, after = ("discards", "") if happened.discarded else ("plays", "a storm")
    if happened.fitted:
        after = "a note back" if happened.note_back else ""
    at = x + 38 + text_width(verb, 13)
    return tag(
        "g",
        seat_mark(happened.seat, x + 7, y, 12),
        _say(x + 20, y, verb, 13, "ink"),
        mini(happened.card or 0, at, y, 28, 18),
        _say(at + 22, y, after) if after else "",
    )


def _told(happened: Event, x: float, y: float) -> str:
    """Draw who told whom what, and at which places."""
    places = ", ".join(str(place + 1) for place in happened.places)
    return tag(
        "g",
        seat_mark(happened.seat, x + 7, y, 12),
        _say(x + 20, y, "tells", 13, "ink"),
        seat_mark(happened.other, x + 60, y, 12),
        hint_card(happened.hint or 0, x + 80, y, 15),
        _say(x + 96, y, f"at {places}"),
    )
