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
from kibitz.league.charts import (
    Axis,
    axis_over,
    history_plot,
    interval,
    interval_head,
    line_sample,
)
from kibitz.league.film import Film, film
from kibitz.league.heat import estimate_text, heat_map, heat_style
from kibitz.league.ladder import Ladder, Rung
from kibitz.league.markup import Markup, element, joined
from kibitz.play.result import SeatResult

FILMS = 60
MOST_BYTES = 8_000_000  # of the whole page
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
        _ladder(ladder),
        _matrix(ladder, game, watch),
        _circles(ladder),
        _history(ladder),
        _seats(ladder, game),
        _samples(shown, len(records) - len(shown)),
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


def _section(title: str, *inside: str, name: str) -> Markup:
    heading = element("h2", title, id=name)
    return element("section", heading, *inside, aria_labelledby=name)


def _box(inside: str, label: str) -> Markup:
    """Let something wide scroll by itself, so that the page need not."""
    return element("div", inside, class_="box", tabindex=0, role="region", aria_label=label)


def _table(columns: Sequence[str], rows: Sequence[Markup], class_: str) -> Markup:
    heads = [
        column if isinstance(column, Markup) else element("th", column, scope="col")
        for column in columns
    ]
    return element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *rows),
        class_=class_,
    )


def _number(words: str, **attributes: str | None) -> Markup:
    return element("td", words, **attributes)


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
            "p", f"A league of {game.title}, version {ladder.version}: {settings}.", class_="lead"
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


# --- the ladder --------------------------------------------------------------------------------


def _ladder(ladder: Ladder) -> Markup:
    rated = [rung.rating.strength for rung in ladder.rungs if rung.rating.strength]
    axis = axis_over(
        [strength.mean for strength in rated],
        [end for strength in rated for end in (strength.low, strength.high)],
    )
    what = "points with oneself" if ladder.cooperative else "rating"
    chart = element("th", interval_head(axis, f"axis of {what}"), scope="col", class_="chart")
    if ladder.cooperative:
        columns = ["", "agent", "with oneself", chart, "with others", "games"]
    else:
        skill = element("th", "OpenSkill", scope="col", title="mean ± spread (one sigma)")
        columns = ["", "agent", "rating", chart, "Elo", skill, "wins", "games"]
        if any(rung.lottery for rung in ladder.rungs):
            columns.append("lottery")
    rows = [_rung_row(ladder, rung, agent, axis) for agent, rung in enumerate(ladder.rungs)]
    notes = []
    if ladder.anchor:
        notes.append(f"{ladder.anchor} is put at its rating, and the others are compared with it.")
    if ladder.cooperative:
        notes.append(
            "All play together: what counts is the points of a game with copies of oneself."
        )
    else:
        notes.append(
            "Rating is fitted to all games at once; Elo and OpenSkill (mean ± spread) are brought "
            "up to date match by match. Wins are shares of games with others; a draw is divided."
        )
    notes.append("Point at an agent, or choose its name, to bring it to the front in all figures.")
    table = _table(columns, rows, "ladder together" if ladder.cooperative else "ladder")
    return _section(
        "The ladder",
        _box(table, "The ladder"),
        element("p", " ".join(notes), class_="quiet"),
        name="ladder",
    )


def _rung_row(ladder: Ladder, rung: Rung, agent: int, axis: Axis) -> Markup:
    strength = rung.rating.strength
    digits = 2 if ladder.cooperative else 0
    fixed = rung.name == ladder.anchor
    name = element(
        "button", line_sample(agent), element("span", rung.name, class_="name"), type="button",
        class_="pin", aria_pressed="false", data_agent=agent,
    )  # fmt: skip
    who = [name]
    if fixed:
        who.append(element("span", "fixed", class_="tag", title="its rating is given"))
    if rung.suspended:
        who.append(element("span", "suspended", class_="tag"))
        who.append(element("p", rung.suspended, class_="reason"))
    cells = [
        element("td", str(rung.place) if rung.place else "–", class_="place"),
        element("th", *who, scope="row", class_="who"),
    ]
    if strength is None:
        cells += [_number("none yet", class_="quiet"), element("td", class_="chart")]
    else:
        value = estimate_text(strength.mean, strength.plus_minus, digits)
        words = f"{strength.mean:.{digits}f}" if fixed else value
        ends = f"{strength.low:.{digits}f} to {strength.high:.{digits}f}"
        drawn = interval(axis, strength.mean, strength.low, strength.high, agent, ends)
        cells += [_number(words, title=ends, class_="rating"), element("td", drawn, class_="chart")]
    games = _number(f"{rung.games:,}")
    if ladder.cooperative:
        others = rung.with_others
        found = estimate_text(others.mean, others.plus_minus) if others else "–"
        cells += [_number(found), games]
    else:
        skill, played = rung.rating.skill, strength is not None
        cells += [
            _number(f"{rung.rating.elo:.0f}" if played else "–"),
            _number(f"{skill.mean:.1f} ± {skill.spread:.1f}" if played else "–"),
            _number(rung.share.text() if rung.share else "–"),
            games,
        ]
        if any(other.lottery for other in ladder.rungs):
            cells.append(_number(f"{100 * rung.lottery:.1f}%" if rung.lottery else "–"))
    return element(
        "tr", *cells, data_agent=agent, class_="suspended" if rung.suspended else None
    )  # fmt: skip


# --- who beats whom ----------------------------------------------------------------------------


def _matrix(ladder: Ladder, game: Game, watch: Mapping[tuple[str, str], int]) -> Markup:
    most = game.most_points(game.settings) if game.most_points is not None else None
    if ladder.cooperative:
        title = "Who plays with whom"
        words = "Mean points of the row's agent at a table with the column's; with itself on the "
        words += "diagonal. The more blue, the more points."
        ends = (element("span", "few", class_="h0"), element("span", "many points", class_="h20"))
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
        return _section(title, element("p", empty), name="matrix")
    key = [element("span", *ends, class_="key")]
    if watch:
        key.append(element("span", "A cell with a corner opens a game.", class_="quiet"))
    return _section(
        title,
        element("p", words, class_="quiet"),
        element("p", *key, class_="keys"),
        _box(heat_map(ladder, watch, most), title),
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
        none = "There are none: nobody surely beats somebody who is surely ahead of them in a ring."
        return _section("Circles", element("p", none, class_="quiet"), lottery, name="circles")
    told = []
    for circle in ladder.circles:
        steps: list[str] = [element("b", circle[0])]
        for one, two in zip(circle, (*circle[1:], circle[0]), strict=True):
            cell = ladder.cells.get((one, two))
            share = f" ({cell.share.text()})" if cell else ""
            steps += [" beats ", element("b", two), element("span", share, class_="quiet")]
        told.append(element("li", *steps))
    return _section("Circles", element("ul", *told, class_="circles"), lottery, name="circles")


# --- round by round ----------------------------------------------------------------------------


def _history(ladder: Ladder) -> Markup:
    unit = "points with oneself" if ladder.cooperative else "rating"
    title = f"{unit.capitalize()} over time"
    places = {rung.name: agent for agent, rung in enumerate(ladder.rungs)}
    agents = {
        member: (places[name], name) for member, name in ladder.names.items() if name in places
    }
    if not ladder.history:
        empty = "No round is over yet."
        return _section(title, element("p", empty, class_="quiet"), name="history")
    lines = len({row.member for row in ladder.history})
    wide = history_plot(ladder.history, agents, unit, 1120, min(max(360, 18 * lines + 72), 560))
    narrow = history_plot(ladder.history, agents, unit, 358, 300, labels=False)
    rated = {row.member for row in ladder.history}
    legend = [
        element(
            "button", line_sample(agent), element("span", name, class_="name"), type="button",
            class_="pin", aria_pressed="false", data_agent=agent,
        )
        for agent, name in sorted(agents[member] for member in rated if member in agents)
    ]  # fmt: skip
    many = "many" if lines > 6 else "few"
    caption = (
        f"After each of {ladder.rounds:,} rounds, from all games so far; the band is the interval. "
        f"{ladder.games:,} games in all, seed {ladder.seed}."
    )
    return _section(
        title,
        element(
            "figure",
            element("div", wide, class_="wide"),
            element("div", narrow, element("p", *legend, class_="legend"), class_="narrow"),
            element("figcaption", caption, class_="quiet"),
            class_=f"history {many}",
        ),
        name="history",
    )


# --- seats -------------------------------------------------------------------------------------


def _seats(ladder: Ladder, game: Game) -> Markup:
    if not ladder.seats:
        return Markup("")
    words = "How everybody together did at each seat; seat 0 is dealt first."
    if not ladder.cooperative:
        words += f" With no effect of seats, each would have {100 / game.players:.1f}% of wins."
    rows = [_seat_row(seat, ladder.cooperative) for seat in ladder.seats]
    columns = ["seat", *([] if ladder.cooperative else ["wins"]), "points", "games"]
    agents = [rung for rung in ladder.rungs if rung.seats]
    heads = ["agent", *(f"seat {seat.seat}" for seat in ladder.seats)]
    each = [
        element(
            "tr",
            element("th", rung.name, scope="row", class_="who"),
            *(
                _number(_at_seat(rung, seat.seat, ladder.cooperative), title=_games_at(rung, seat))
                for seat in ladder.seats
            ),
        )
        for rung in agents
    ]
    what = "points" if ladder.cooperative else "wins"
    return _section(
        "Seats",
        element("p", words, class_="quiet"),
        _box(_table(columns, rows, "seats"), "Seats"),
        element(
            "details",
            element("summary", f"Each agent's {what} by seat"),
            _box(_table(heads, each, "seats"), f"Each agent's {what} by seat"),
        ),
        name="seats",
    )


def _seat_row(seat: SeatResult, cooperative: bool) -> Markup:
    wins = [] if cooperative else [_number(seat.share.text())]
    points = estimate_text(seat.points.mean, seat.points.plus_minus)
    cells = [*wins, _number(points), _number(f"{seat.games:,}")]
    return element("tr", element("th", f"{seat.seat}", scope="row"), *cells)


def _found(rung: Rung, seat: int) -> SeatResult | None:
    return next((result for result in rung.seats if result.seat == seat), None)


def _at_seat(rung: Rung, seat: int, cooperative: bool) -> str:
    found = _found(rung, seat)
    if found is None:
        return "–"
    points = found.points
    return estimate_text(points.mean, points.plus_minus) if cooperative else found.share.text()


def _games_at(rung: Rung, seat: SeatResult) -> str:
    found = _found(rung, seat.seat)
    return f"{found.games if found else 0:,} games"


# --- sample games ------------------------------------------------------------------------------


def _films(ladder: Ladder, game: Game, records: Records, most: int) -> list[Film]:
    """Make films of sample games: first those among the best, as long as there is room."""
    places = {rung.name: agent for agent, rung in enumerate(ladder.rungs)}

    def order(sample: tuple[tuple[str, ...], str]) -> tuple[int, int]:
        seated = [places.get(name, len(places)) for name in sample[0]]
        return max(seated), sum(seated)

    # What is not films is some kilobytes for each agent; half a megabyte is kept for it.
    made: list[Film] = []
    room = MOST_BYTES - 500_000
    for names, text in sorted(records, key=order)[:most]:
        one = film(Record.from_json(text, lambda _: game), names)
        if len(one.data) > room:
            break
        room -= len(one.data)
        made.append(one)
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
    return "The board is as seat 0 sees it; what is hidden from it stays so." if game.hides else ""


def _samples(films: Sequence[Film], left_out: int) -> Markup:
    if not films:
        empty = "No games were kept move by move."
        return _section("Sample games", element("p", empty, class_="quiet"), name="samples")
    cards = [_card(at, one) for at, one in enumerate(films)]
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
    return _section("Sample games", element("p", words, class_="quiet"), *parts, name="samples")


def _card(at: int, one: Film) -> Markup:
    seats = [
        element(
            "span",
            element("span", name, class_="name"),
            element("span", number(points), class_="points"),
            class_="seat",
        )
        for name, points in zip(one.names, one.points, strict=True)
    ]
    moves = element("span", f"{one.plies} moves", class_="quiet")
    return element(
        "li", element("button", *seats, moves, type="button", data_film=at, class_="card")
    )  # fmt: skip
