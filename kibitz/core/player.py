"""The player: a record as one page that plays it, whole in itself.

The board and the moves stand in the page; the script beside this file steps through the film.
Where no script runs the page shows how the game ended. The report of a league has the same player.
"""

from __future__ import annotations

from string import Template

from kibitz.core.errors import Misuse
from kibitz.core.film import SEAT, Film, film
from kibitz.core.game import Game
from kibitz.core.markup import Markup, element, joined
from kibitz.core.pages import asset, frame_style, page_style, policy, seat_sign, seat_style
from kibitz.core.record import Record
from kibitz.core.svg import SEAT_SIGNS, number

STEPS = {  # what the buttons are called, their keys, and the paths of their pictures
    "first": ("First", "Home", "M4 3v10M12 3L6 8l6 5"),
    "back": ("Back", "left arrow", "M10 3L5 8l5 5"),
    "play": ("Play", "space", "M5 3l8 5-8 5z"),
    "forward": ("Forward", "right arrow", "M6 3l5 5-5 5"),
    "last": ("Last", "End", "M12 3v10M4 3l6 5-6 5"),
}
PAUSE = "M5 3v10M11 3v10"


def whose_view(game: Game, seat: int = SEAT) -> str:
    """Say for whom the board is drawn."""
    words = f"The board is drawn for seat {seat}, which it calls You."
    return words + " What is hidden from that seat stays so." if game.hides else words


def player_style() -> str:
    """Write the style of a player, for a page that has one."""
    return asset("player.css") + seat_style(".player")


def player_parts(game: Game, seat: int = SEAT, still: Film | None = None) -> Markup:
    """Write what a player consists of, below its head; a `still` is there before scripts run."""
    buttons = [
        _icon(name, f"{words} ({key})", words, path) for name, (words, key, path) in STEPS.items()
    ]
    slider = element(
        "input", type="range", class_="slider", min=0, max=0, value=0, step=1, aria_label="Move"
    )
    return joined(
        element(
            "div",
            element("div", Markup(still.last) if still else "", class_="board"),
            class_="stage",
        ),
        element(
            "div",
            element("div", *buttons, class_="controls", role="group", aria_label="Steps"),
            element("div", slider, element("output", class_="count"), class_="along"),
            element("p", _ending(still, game) if still else "", class_="now", aria_live="polite"),
            element("ol", *(_listed(still) if still else ()), class_="moves"),
            element("p", whose_view(game, seat), class_="quiet small"),
            class_="beside",
        ),
    )


def _icon(step: str, title: str, label: str, path: str) -> Markup:
    drawn = element("path", d=path)
    pictures = [drawn, element("path", d=PAUSE)] if step == "play" else [drawn]
    return element(
        "button",
        element("svg", *pictures, viewBox="0 0 16 16", aria_hidden="true"),
        type="button", class_="icon accent" if step == "play" else "icon", data_step=step,
        aria_label=label, title=title,
    )  # fmt: skip


def _ending(one: Film, game: Game) -> Markup:
    if game.cooperative:
        return element("span", f"Points: {number(one.points[0])}.", class_="end")
    pairs = zip(one.names, one.points, strict=True)
    each = ", ".join(f"{name} {number(points)}" for name, points in pairs)
    return element("span", f"Points: {each}.", class_="end")


def _listed(one: Film) -> list[Markup]:
    return [
        element("li", element("span", f"{at + 1}", class_="ply"), seat_sign(seat), words)
        for at, (seat, words) in enumerate(one.moves)
    ]


def page(record: Record, seat: int = SEAT, framed: bool = False) -> str:
    """Write a record as one HTML page that plays it offline, as a seat sees the board.

    A page that is `framed` has the colours of the card around it, not those that its reader likes.
    """
    game = record.game
    if not 0 <= seat < game.players:
        raise Misuse(f"{game.name}: there is no seat {seat}; 0 to {game.players - 1}.")
    made = film(record, seat=seat)
    who = [
        element("span", seat_sign(at), element("span", name), class_="who")
        for at, name in enumerate(made.names)
    ]
    script = asset("player.js") + asset("page.js")
    return Template(asset("page.html")).substitute(
        policy=policy(script),
        title=joined(f"{game.title}: {', '.join(made.names)}"),
        style=page_style() + (frame_style() if framed else "") + player_style() + asset("page.css"),
        signs=SEAT_SIGNS,
        game=joined(game.title),
        names=joined(*who),
        parts=player_parts(game, seat, made),
        data=made.data,
        script=script,
    )
