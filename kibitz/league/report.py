"""The report of a league: one page that says everything, and needs nothing but a browser.

All figures stand in the page as text. The script beside this file only opens the films of sample
games and brings an agent to the front; the page's policy lets nothing else run, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping, Sequence
from importlib.resources import files
from itertools import permutations
from string import Template

from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.core.svg import FONT, PALETTE, number
from kibitz.league.film import Film, film
from kibitz.league.heat import heat_map, heat_style
from kibitz.league.ladder import Ladder
from kibitz.league.markup import Markup, element, joined
from kibitz.league.sections import box, history_section, ladder_section, seats_section, section

FILMS = 60
MOST_BYTES = 8_000_000  # of the whole page
REST, EACH_CELL = 200_000, 400  # bytes of it that are no films, about
MOST_FRAMES = 10_000  # drawing takes some milliseconds each; a page should not take minutes
AT_ONCE = 12  # films that are listed before the others are folded away

Records = Sequence[tuple[tuple[str, ...], str]]


def report(ladder: Ladder, game: Game, records: Records, films: int = FILMS) -> str:
    """Write a league as one HTML page that works offline.

    ladder    how everybody stands, as `League.ladder` gives it
    game      the league's game, as it is set
    records   sample games: the names of the seats, and the record as JSON
    films     how many of them can be watched in the page at most, those of the best first
    """
    shown = _films(ladder, game, records, films)
    watch = _cells_with_films(shown)
    sections = [
        _head(ladder, game),
        ladder_section(ladder),
        _matrix(ladder, game, watch),
        _circles(ladder),
        history_section(ladder),
        seats_section(ladder, game),
        _samples(shown, len(records) - len(shown), game.cooperative),
    ]
    data = [
        element("script", Markup(one.data), type="text/plain", id=f"film-{at}")
        for at, one in enumerate(shown)
    ]
    script = _asset("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_asset("report.html")).substitute(
        policy=f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        "base-uri 'none'; form-action 'none'",
        title=joined(f"{ladder.league}: a league of {game.title}"),
        style=_style(),
        content=joined(*(part for section in sections for part in (section, Markup("\n")))),
        seen=joined(_whose_view(game)),
        data=joined(*(part for one in data for part in (one, Markup("\n")))),
        script=script,
    )


def _asset(name: str) -> str:
    return files("kibitz.league").joinpath(name).read_text(encoding="utf-8")


def _style() -> str:
    light, dark = (
        ";".join(f"--{name}:{pair[variant]}" for name, pair in PALETTE.items())
        for variant in (0, 1)
    )
    return (
        f":root{{{light};--font:{FONT}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"{_asset('report.css')}{heat_style()}"
    )


# --- head --------------------------------------------------------------------------------------


def _head(ladder: Ladder, game: Game) -> Markup:
    known = {option.name: option for option in game.all_options}
    settings = ", ".join(f"{name} {known[name].say(v)}" for name, v in game.settings.items())
    facts = [
        (f"{ladder.games:,}", "games"),
        (f"{ladder.rounds:,}", "rounds"),
        (f"{len(ladder.rungs):,}", "agents"),
        (f"{ladder.moves:,}", "moves"),
        (str(ladder.seed), "seed"),
        (", ".join(ladder.versions) or "–", "kibitz"),
    ]
    return element(
        "header",
        element("h1", ladder.league),
        element(
            "p", f"A league of {game.title}, version {ladder.version}: {settings}.", class_="about"
        ),
        element(
            "dl",
            *(element("div", element("dt", what), element("dd", much)) for much, what in facts),
            class_="facts",
        ),
        element(
            "p",
            "Intervals are 95%. Every deal is played from every seat, so that luck and seats "
            "cancel out as far as they can.",
            class_="quiet",
        ),
        class_="top",
    )


# --- who beats whom ----------------------------------------------------------------------------


def _matrix(ladder: Ladder, game: Game, watch: Mapping[tuple[str, str], int]) -> Markup:
    most = game.most_points(game.settings) if game.most_points is not None else None
    if ladder.cooperative:
        title = "Who plays with whom"
        words = "Mean points of the row's agent at a table with the column's; with itself on the "
        words += "diagonal. The more blue, the more points."
        ends: tuple[Markup, ...] = (
            element("span", "few", class_="h0"),
            element("span", "many points", class_="h20"),
        )
    else:
        title = "Who beats whom"
        words = (
            "Per cent of games in which the row's agent is ahead of the column's; a tie is half."
        )
        ends = (
            element("span", "behind", class_="h-20"),
            element("span", "50", class_="h0"),
            element("span", "ahead", class_="h20"),
        )
    if not ladder.cells:
        empty = "Nobody has played yet. Let them: kibitz league GAME run."
        return section(title, element("p", empty), name="matrix")
    key = [element("span", *ends, class_="key")]
    if watch:
        key.append(element("span", "A cell with a corner opens a game.", class_="quiet"))
    return section(
        title,
        element("p", words, class_="quiet"),
        element("p", *key, class_="keys"),
        box(heat_map(ladder, watch, most), title, "box fit"),
        name="matrix",
    )


def _circles(ladder: Ladder) -> Markup:
    if ladder.cooperative:
        return Markup("")
    lottery = element(
        "p",
        "The lottery is the chance with which to send each agent so that no other choice can be "
        "expected to beat it. An agent that beats all others gets all of it.",
        class_="quiet",
    )
    if not ladder.circles:
        none = "There are none: no agents surely beat one another in a ring."
        return section("Circles", element("p", none, class_="quiet"), lottery, name="circles")
    told = []
    for circle in ladder.circles:
        steps: list[str] = [element("b", circle[0])]
        for one, two in zip(circle, (*circle[1:], circle[0]), strict=True):
            cell = ladder.cells.get((one, two))
            share = f" ({cell.share.text()})" if cell else ""
            steps += [" beats ", element("b", two), element("span", share, class_="quiet")]
        told.append(element("li", *steps))
    return section("Circles", element("ul", *told, class_="circles"), lottery, name="circles")


# --- sample games ------------------------------------------------------------------------------


def _films(ladder: Ladder, game: Game, records: Records, most: int) -> list[Film]:
    """Make films of sample games: first those among the best, as long as there is room."""
    places = {rung.name: agent for agent, rung in enumerate(ladder.rungs)}

    def order(sample: tuple[tuple[str, ...], str]) -> tuple[int, int]:
        seated = [places.get(name, len(places)) for name in sample[0]]
        return max(seated), sum(seated)

    made: list[Film] = []
    room, frames = MOST_BYTES - REST - EACH_CELL * len(ladder.cells), MOST_FRAMES
    for names, text in sorted(records, key=order)[:most]:
        one = film(Record.from_json(text, lambda _: game), names)
        room -= len(one.data)
        frames -= one.plies
        if room < 0:
            break
        made.append(one)
        if frames < 0:
            break
    return made


def _cells_with_films(films: Sequence[Film]) -> dict[tuple[str, str], int]:
    """Say which film to open for a cell: rather one of those two alone than one among others."""
    found: dict[tuple[str, str], int] = {}
    for at, one in sorted(enumerate(films), key=lambda pair: len(set(pair[1].names))):
        seated = sorted(set(one.names))
        pairs = permutations(seated, 2) if len(seated) > 1 else [(seated[0], seated[0])]
        for pair in pairs:
            found.setdefault(pair, at)
    return found


def _whose_view(game: Game) -> str:
    words = "The board is drawn for seat 0, which it calls You."
    return words + " What is hidden from that seat stays so." if game.hides else words


def _samples(films: Sequence[Film], left_out: int, together: bool) -> Markup:
    if not films:
        kept = f"{left_out:,} are in the store, and none of them in this page."
        empty = kept if left_out else "No games were kept move by move."
        return section("Sample games", element("p", empty, class_="quiet"), name="samples")
    cards = [_card(at, one, together) for at, one in enumerate(films)]
    words = "Choose a game to watch it move by move. Those of the best agents come first."
    if left_out:
        words += f" {left_out:,} more are in the store, and were left out to keep the page small."
    parts = [element("ul", *cards[:AT_ONCE], class_="games")]
    if len(cards) > AT_ONCE:
        parts.append(
            element(
                "details",
                element("summary", f"{len(cards) - AT_ONCE:,} more games"),
                element("ul", *cards[AT_ONCE:], class_="games"),
            )
        )
    return section("Sample games", element("p", words, class_="quiet"), *parts, name="samples")


def _card(at: int, one: Film, together: bool) -> Markup:
    seats = []
    for name, points in zip(one.names, one.points, strict=True):
        words = [element("span", name, class_="name")]
        if not together:  # else all have the same
            words.append(element("span", number(points), class_="points"))
        seats.append(element("span", *words, class_="seat"))
    about = (
        f"{number(one.points[0])} points, {one.plies} moves" if together else f"{one.plies} moves"
    )
    card = element(
        "button", *seats, element("span", about, class_="quiet"), type="button", data_film=at,
        class_="card",
    )  # fmt: skip
    return element("li", card)
