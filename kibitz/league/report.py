"""The report of a league: one page that says everything, and needs nothing but a browser.

All figures stand in the page as text. The script beside this file only opens the films of sample
games in the player and brings an agent to the front; the page's policy lets nothing else run, and
loads nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from string import Template

from kibitz.core.film import Film, film
from kibitz.core.game import Game
from kibitz.core.markup import Markup, element, joined
from kibitz.core.pages import asset, page_style, policy
from kibitz.core.player import player_parts, player_style
from kibitz.core.record import Record
from kibitz.core.svg import SEAT_SIGNS
from kibitz.league.encounters import circles_section, matrix_section
from kibitz.league.heat import Door, heat_style
from kibitz.league.ladder import Ladder
from kibitz.league.samples import Records, best_first, samples_section
from kibitz.league.sections import history_section, ladder_section, seats_section

HERE = "kibitz.league"
FILMS = 60
MOST_BYTES = 8_000_000  # of the whole page
REST, EACH_CELL = 200_000, 400  # bytes of it that are no films, about
MOST_FRAMES = 10_000  # drawing takes some milliseconds each; a page should not take minutes


def report(ladder: Ladder, game: Game, records: Records, films: int = FILMS) -> str:
    """Write a league as one HTML page that works offline.

    ladder    how everybody stands, as `League.ladder` gives it
    game      the league's game, as it is set
    records   sample games: the names of the seats, and the record as JSON
    films     how many of them can be watched in the page at most, those of the best first
    """
    shown = _films(ladder, game, records, films)
    doors = {
        pair: Door({"data_film": at}, "Watch one.") for pair, at in _cells_with_films(shown).items()
    }
    sections = [
        _head(ladder, game),
        ladder_section(ladder),
        matrix_section(ladder, game, doors, "A cell with a corner opens a game."),
        circles_section(ladder),
        history_section(ladder),
        seats_section(ladder, game),
        samples_section(
            shown, len(records) - len(shown), game.cooperative, lambda at: {"data_film": at}
        ),
    ]
    data = [
        element("script", Markup(one.data), type="text/plain", id=f"film-{at}")
        for at, one in enumerate(shown)
    ]
    script = asset("player.js") + asset("report.js", HERE)
    return Template(asset("report.html", HERE)).substitute(
        policy=policy(script),
        title=joined(f"{ladder.league}: a league of {game.title}"),
        style=page_style() + asset("report.css", HERE) + figures_style() + player_style(),
        content=joined(*(part for section in sections for part in (section, Markup("\n")))),
        signs=SEAT_SIGNS,
        player=player_parts(game),
        data=joined(*(part for one in data for part in (one, Markup("\n")))),
        script=script,
    )


def figures_style(dark: str = "") -> str:
    """Write the style of all figures but the plot; `dark` says where dark colours hold."""
    return asset("figures.css", HERE) + (heat_style(dark) if dark else heat_style())


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


# --- sample games ------------------------------------------------------------------------------


def _films(ladder: Ladder, game: Game, records: Records, most: int) -> list[Film]:
    """Make films of sample games: first those among the best, as long as there is room."""
    made: list[Film] = []
    room, frames = MOST_BYTES - REST - EACH_CELL * len(ladder.cells), MOST_FRAMES
    for names, text in best_first(ladder, records)[:most]:
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
