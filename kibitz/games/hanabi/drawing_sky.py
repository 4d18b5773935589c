"""The middle of the table: a night sky with the fireworks, the deck, the tokens and the discards.

Its colours are fixed: it is night on light paper and on dark.
"""

from __future__ import annotations

from kibitz.core.svg import halo, tag, text
from kibitz.core.table import View
from kibitz.games.hanabi.cards import reach_of
from kibitz.games.hanabi.cells import VALUES, copies_of
from kibitz.games.hanabi.drawing_cards import SUITS, TALL, WIDE, back, box, edge, face, mini, rays
from kibitz.games.hanabi.words import COLOUR_NAMES, Event, card_name, deck_left, discards_of

HEIGHT = 232
CARD = 56  # a firework's cards are so wide
RISE = 19  # and each lies so much higher than the one before
COLUMN = 78
TOKEN = 27  # from token to token
SLOT_WIDE, SLOT_TALL, SLOT_ROW = 18, 25, 36

STYLE = """
& .sky{fill:#141D3B}
& .dusk{fill:#1D2A52}
& .stars{fill:none;stroke:#FFFFFF;stroke-linecap:round;stroke-width:1.6;stroke-opacity:.55}
& .pale{fill:#C3CDEB}
& .bright{fill:#FFFFFF;font-weight:600}
& .ghost{fill:#FFFFFF;fill-opacity:.05;stroke:#C3CDEB;stroke-opacity:.4;stroke-dasharray:3 3}
& .empty{fill:#FFFFFF;fill-opacity:.05;stroke:#C3CDEB;stroke-opacity:.22}
& .burst{stroke-opacity:.8}
& .note{fill:#FFF6DC;stroke:#8A6A00;stroke-width:1}
& .written{fill:none;stroke:#6E5A22;stroke-width:1.5;stroke-linecap:round}
& .cloud{fill:#8B93A8;stroke:#E6EAF5;stroke-width:1}
& .bolt{fill:#FFD23F;stroke:#5A3B00;stroke-width:.8;stroke-linejoin:round}
"""

STARS = (
    (0.03, 0.12), (0.09, 0.93), (0.17, 0.05), (0.235, 0.5), (0.26, 0.16), (0.275, 0.8),
    (0.36, 0.07), (0.43, 0.19), (0.485, 0.06), (0.55, 0.14), (0.63, 0.05), (0.695, 0.22),
    (0.715, 0.62), (0.73, 0.06), (0.86, 0.04), (0.975, 0.1), (0.985, 0.55), (0.21, 0.3),
)  # fmt: skip


def sky(view: View, x: float, y: float, wide: float, happened: Event | None) -> str:
    """Draw the middle of the table; what just happened there has a halo."""
    spots = "".join(f"M{round(x + a * wide)} {round(y + b * HEIGHT)}h.01" for a, b in STARS)
    ground = {"x": x, "width": wide, "rx": 12}
    return tag(
        "g",
        tag("rect", class_="sky", y=y, height=HEIGHT, **ground),
        tag("path", d=spots, class_="stars"),
        _deck(view, x + 16, y + 16),
        _tokens(view, x + 16, y + 124, happened),
        _fireworks(view, x + wide / 2 - 8, y + HEIGHT - 40, happened),
        _discards(view, x + wide - 16, y + 22, happened),
    )


def _label(x: float, y: float, words: str, loud: str = "") -> str:
    """Name a part of the table, with what matters of it in white."""
    strong = tag("tspan", loud, class_="bright") if loud else ""
    return tag("text", strong, words, x=x, y=y, font_size=13, class_="pale")


# --- the left: deck and tokens -------------------------------------------------------------------


def _deck(view: View, x: float, y: float) -> str:
    """Draw what is left of the deck, the thicker the more."""
    left, wide = deck_left(view), 56
    tall = wide * TALL / WIDE
    if not left:
        words = f"last turns: {view['last']}" if view["last"] and not view.over else "deck empty"
        return tag("rect", class_="ghost", **box(x + wide / 2, y + tall / 2, wide, tall)) + _label(
            x + 72, y + tall / 2 + 4, words
        )
    layers = range(min(3, (left - 1) // 6), 0, -1)
    cards = [
        tag("rect", class_="back", **box(x + wide / 2 + 3 * i, y + tall / 2 - 2 * i, wide, tall, 6))
        for i in layers
    ]
    return tag(
        "g",
        tag("title", f"{left} in the deck"),
        *cards,
        back(x + wide / 2, y + tall / 2, wide),
        tag("circle", cx=x + wide / 2, cy=y + tall / 2, r=17, class_="sky"),
        text(x + wide / 2, y + tall / 2, str(left), 17, "bright"),
        _label(x + 78, y + tall / 2 + 4, "in the deck"),
    )


def _tokens(view: View, x: float, y: float, happened: Event | None) -> str:
    """Draw the notes that are left, and the storms so far."""
    notes, most = view["notes"], view.game.settings["notes"]
    storms, worst = view["storms"], view.game.settings["storms"]
    parts = [_label(x, y, f" of {most} notes", str(notes))]
    for i in range(most):
        parts.append(_note(x + 10 + TOKEN * i * 0.92, y + 20, i < notes))
    parts.append(_label(x, y + 58, f" of {worst} storms", str(storms)))
    for i in range(worst):
        px, py = x + 14 + 34 * i, y + 79
        if happened and i == storms - 1 and _stormy(happened):
            parts.append(halo("circle", cx=px, cy=py, r=20))
        parts.append(_storm(px, py, i < storms))
    return tag("g", *parts)


def _stormy(happened: Event) -> bool:
    return happened.card is not None and not (happened.fitted or happened.discarded)


def _note(x: float, y: float, there: bool) -> str:
    """Draw a note, or where one was."""
    if not there:
        return tag("rect", class_="empty", **box(x, y, 18, 22, 3))
    lines = f"M{x - 5} {y - 5}h10m-10 5h10m-10 5h6"
    return tag("rect", class_="note", **box(x, y, 18, 22, 3)) + tag(
        "path", d=lines, class_="written"
    )


def _storm(x: float, y: float, there: bool) -> str:
    """Draw a cloud with a bolt, or where one may come up."""
    cloud = f"M{x - 9} {y + 5}a6 6 0 0 1 0-11.5a8 8 0 0 1 15-2a6.8 6.8 0 0 1 3 13.5z"
    if not there:
        return tag("path", d=cloud, class_="empty")
    bolt = f"M{x + 1} {y - 2}l-6 8h4l-2 7l7-9h-4l3-6z"
    return tag("path", d=cloud, class_="cloud") + tag("path", d=bolt, class_="bolt")


# --- the middle: fireworks -----------------------------------------------------------------------


def _fireworks(view: View, middle: float, bottom: float, happened: Event | None) -> str:
    """Draw a stack of each colour; bursts behind them grow as they do."""
    colours = view.game.settings["colours"]
    bursts, stacks = [], []
    for colour in range(colours):
        x = middle + (colour - (colours - 1) / 2) * COLUMN
        high = int(view["firework"][colour])
        fresh = happened is not None and happened.fitted and happened.card == top(colour, high)
        bursts.append(_burst(view, colour, high, x, _level(bottom, high)))
        stacks.append(_stack(view, colour, high, x, bottom, fresh))
    return tag("g", *bursts, *stacks)


def top(colour: int, high: int) -> int:
    """Give the topmost card of a firework."""
    return colour * VALUES + high - 1


def _level(bottom: float, high: int) -> float:
    """Give the height of the middle of a stack's top card."""
    return bottom - CARD * TALL / WIDE / 2 - RISE * max(0, high - 1)


def _burst(view: View, colour: int, high: int, x: float, y: float) -> str:
    """Draw the sparks of a firework."""
    if high == 0:
        return ""
    spark, complete = SUITS[colour].spark, high == view.game.settings["values"]
    far, count = 37 + 3 * high, 14 + 2 * high
    parts = [rays(x, y, 24, far, count, 2, class_="burst", stroke=spark)]
    for ring in range(1 + complete):
        reach, dot = far + 5 + 6 * ring, 3 - 0.5 * ring
        parts.append(rays(x, y, reach, reach, count, dot, class_="burst", stroke=spark))
    return tag("g", *parts)


def _stack(view: View, colour: int, high: int, x: float, bottom: float, fresh: bool) -> str:
    """Draw the cards of a firework, the last of them whole, and how high it can still become."""
    suit, name = SUITS[colour], COLOUR_NAMES[colour]
    tall = CARD * TALL / WIDE
    parts = [tag("title", f"{name}: {high}")]
    if high == 0:
        parts.append(tag("rect", class_="ghost", **box(x, _level(bottom, 1), CARD, tall)))
        parts.append(tag("g", suit.mark(x, _level(bottom, 1), 24, suit.spark), opacity=0.6))
    if fresh:
        around = box(x, _level(bottom, high), CARD + 20, tall + 20, 12)
        parts.append(halo("rect", **around) * 2)
    for value in range(high - 1):
        card = top(colour, value + 1)
        parts.append(edge(card, x, _level(bottom, value + 1), CARD))
    if high:
        parts.append(face(top(colour, high), x, _level(bottom, high), CARD))
    parts.append(text(x, bottom + 14, name, 13, "bright"))
    reach = reach_of(view.cells, colour)
    if reach < view.game.settings["values"]:
        words = f"only to {reach}" if reach > high else "ends here"
        parts.append(text(x, bottom + 29, words, 11, "pale"))
    return tag("g", *parts, data_firework=f"{name} {high}")


# --- the right: discards -------------------------------------------------------------------------


def _discards(view: View, right: float, y: float, happened: Event | None) -> str:
    """Draw a row for each colour with a slot for every card of it; discarded ones are filled in."""
    settings = view.game.settings
    values = settings["values"]
    copies = [copies_of(values, value) for value in range(values)]
    wide = sum(copies) * (SLOT_WIDE + 1) + 5 * (values - 1)
    left = right - wide
    gone = 0
    parts = []
    for colour in range(settings["colours"]):
        row = y + 26 + SLOT_ROW * colour
        out = discards_of(view, colour)
        gone += len(out)
        parts.append(SUITS[colour].mark(left - 14, row, 14, SUITS[colour].spark))
        x = left + SLOT_WIDE / 2
        for value in range(values):
            card, count = colour * VALUES + value, out.count(value)
            for copy in range(copies[value]):
                fresh = happened is not None and happened.card == card and not happened.fitted
                if fresh and copy == count - 1:
                    parts.append(halo("rect", **box(x, row, SLOT_WIDE + 16, SLOT_TALL + 16)))
                parts.append(_slot(card, x, row, copy < count))
                x += SLOT_WIDE + 1
            x += 5
    return tag("g", _label(left - 22, y, " discarded", str(gone)), *parts)


def _slot(card: int, x: float, y: float, filled: bool) -> str:
    """Draw a discarded card, or a place for one."""
    if not filled:
        where = box(x, y, SLOT_WIDE, SLOT_TALL, 3)
        return tag("rect", class_="empty", **where) + text(
            x, y, str(card % VALUES + 1), 11, "pale", opacity=0.55
        )
    return tag(
        "g",
        tag("title", f"{card_name(card)} discarded"),
        mini(card, x, y, SLOT_WIDE, SLOT_TALL),
    )
