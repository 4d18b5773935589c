"""Sections of a report: the ladder, the ratings round by round, and the seats."""

from __future__ import annotations

from kibitz.core.game import Game
from kibitz.core.markup import Markup, element, table
from kibitz.league.charts import (
    Axis,
    axis_over,
    history_plot,
    interval,
    interval_head,
    line_sample,
)
from kibitz.league.heat import estimate_text
from kibitz.league.ladder import Ladder, Rung
from kibitz.play.result import SeatResult, interval_text


def section(title: str, *inside: str, name: str) -> Markup:
    """Make a section of the page under a heading; `name` is its address in the page."""
    heading = element("h2", title, id=name)
    return element("section", heading, *inside, aria_labelledby=name)


def box(inside: str, label: str, class_: str = "box") -> Markup:
    """Let something wide scroll by itself, so that the page need not."""
    return element("div", inside, class_=class_, tabindex=0, role="region", aria_label=label)


# --- the ladder --------------------------------------------------------------------------------


def ladder_table(ladder: Ladder, pins: bool = False) -> Markup:
    """Make the table of how everybody stands, with intervals drawn on one axis.

    With `pins`, names are buttons that bring an agent to the front; the page's script does that.
    """
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
        columns = ["", "agent", "rating", chart, "Elo", skill, "wins", "points", "games"]
        if any(rung.lottery for rung in ladder.rungs):
            columns.append("lottery")
    rows = [_rung_row(ladder, rung, agent, axis, pins) for agent, rung in enumerate(ladder.rungs)]
    return table(columns, rows, "ladder")


def ladder_notes(ladder: Ladder) -> list[str]:
    """Say what the figures of a ladder mean, in sentences."""
    notes = []
    if ladder.anchor:
        notes.append(f"The scale is such that {ladder.anchor} has {_given(ladder)}.")
    if ladder.cooperative:
        notes.append(
            "All play together, or alone: what counts is the points of a game with copies of "
            "oneself."
        )
    else:
        notes.append(
            "Rating is fitted to all games at once; Elo and OpenSkill (mean ± spread) are brought "
            "up to date match by match. Wins are shares of games with others; a draw is divided."
        )
    return notes


def ladder_section(ladder: Ladder, pins: bool = True) -> Markup:
    """Show how everybody stands; `pins` as for the table."""
    notes = ladder_notes(ladder)
    if pins:
        notes.append(
            "Point at an agent, or choose its name, to bring it to the front in all figures."
        )
    return section(
        "The ladder",
        box(ladder_table(ladder, pins), "The ladder"),
        element("p", " ".join(notes), class_="quiet"),
        name="ladder",
    )


def _given(ladder: Ladder) -> str:
    strength = ladder.rung(str(ladder.anchor)).rating.strength
    return f"{strength.mean:.0f}" if strength else "its rating"


def _rung_row(ladder: Ladder, rung: Rung, agent: int, axis: Axis, pins: bool) -> Markup:
    strength = rung.rating.strength
    digits = 2 if ladder.cooperative else 0
    shown = (line_sample(agent), element("span", rung.name, class_="name"))
    who = [_pin(agent, *shown) if pins else element("span", *shown, class_="pin")]
    if rung.name == ladder.anchor:
        who.append(
            element("span", "anchor", class_="tag", title="its rating says where the scale lies")
        )
    if rung.suspended:
        who.append(element("span", "suspended", class_="tag"))
        who.append(element("p", rung.suspended, class_="reason"))
    cells = [
        element("td", str(rung.place) if rung.place else "–", class_="place"),
        element("th", *who, scope="row", class_="who"),
    ]
    if strength is None:
        cells += [element("td", "none yet", class_="quiet"), element("td", class_="chart")]
    else:
        words = interval_text(strength.mean, strength.low, strength.high, digits)
        ends = f"{strength.low:.{digits}f} to {strength.high:.{digits}f}"
        drawn = interval(axis, strength.mean, strength.low, strength.high, agent, ends)
        cells += [
            element("td", words, title=ends, class_="rating"),
            element("td", drawn, class_="chart"),
        ]
    games = element("td", f"{rung.games:,}")
    if ladder.cooperative:
        others = rung.with_others
        found = estimate_text(others.mean, others.plus_minus) if others else "–"
        cells += [element("td", found), games]
    else:
        skill, played = rung.rating.skill, strength is not None
        own = rung.points
        points = estimate_text(own.mean, own.plus_minus) if own else "–"
        cells += [
            element("td", f"{rung.rating.elo:.0f}" if played else "–"),
            element("td", f"{skill.mean:.1f} ± {skill.spread:.1f}" if played else "–"),
            element("td", rung.share.text() if rung.share else "–"),
            element("td", points),
            games,
        ]
        if any(other.lottery for other in ladder.rungs):
            cells.append(element("td", f"{100 * rung.lottery:.1f}%" if rung.lottery else "–"))
    return element(
        "tr", *cells, data_agent=agent, class_="suspended" if rung.suspended else None
    )  # fmt: skip


def _pin(agent: int, *inside: str) -> Markup:
    return element(
        "button", *inside, type="button", class_="pin", aria_pressed="false", data_agent=agent
    )


# --- round by round ----------------------------------------------------------------------------


def history_section(ladder: Ladder) -> Markup:
    """Plot the ratings after every round, for wide screens and for narrow ones."""
    unit = "points with oneself" if ladder.cooperative else "rating"
    title = f"{unit.capitalize()} over time"
    places = {rung.name: agent for agent, rung in enumerate(ladder.rungs)}
    agents = {
        member: (places[name], name) for member, name in ladder.names.items() if name in places
    }
    if not ladder.history:
        empty = "No round is over yet."
        return section(title, element("p", empty, class_="quiet"), name="history")
    lines = len({row.member for row in ladder.history})
    wide = history_plot(ladder.history, agents, unit, 1120, min(max(360, 18 * lines + 72), 560))
    narrow = history_plot(ladder.history, agents, unit, 358, 300, labels=False)
    rated = {row.member for row in ladder.history}
    legend = [
        _pin(agent, line_sample(agent), element("span", name, class_="name"))
        for agent, name in sorted(agents[member] for member in rated if member in agents)
    ]
    many = "many" if lines > 6 else "few"
    caption = (
        f"After each of {ladder.rounds:,} rounds, from all games so far; the band is the interval. "
        f"{ladder.games:,} games in all, seed {ladder.seed}."
    )
    return section(
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


def seats_section(ladder: Ladder, game: Game) -> Markup:
    """Show how things went at each seat, for everybody and for each agent."""
    if not ladder.seats:
        return Markup("")
    words = "How everybody together did at each seat."
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
                element(
                    "td", _at_seat(rung, seat.seat, ladder.cooperative), title=_games_at(rung, seat)
                )
                for seat in ladder.seats
            ),
        )
        for rung in agents
    ]
    what = "points" if ladder.cooperative else "wins"
    return section(
        "Seats",
        element("p", words, class_="quiet"),
        box(table(columns, rows, "seats"), "Seats", "box fit"),
        element(
            "details",
            element("summary", f"Each agent's {what} by seat"),
            box(table(heads, each, "seats"), f"Each agent's {what} by seat", "box fit"),
        ),
        name="seats",
    )


def _seat_row(seat: SeatResult, cooperative: bool) -> Markup:
    wins = [] if cooperative else [element("td", seat.share.text())]
    points = estimate_text(seat.points.mean, seat.points.plus_minus)
    cells = [*wins, element("td", points), element("td", f"{seat.games:,}")]
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
