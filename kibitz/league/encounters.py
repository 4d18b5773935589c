"""Sections of a report: who beats whom, or plays with whom, and circles."""

from __future__ import annotations

from collections.abc import Mapping

from kibitz.core.game import Game
from kibitz.core.markup import Markup, element
from kibitz.league.heat import Door, heat_map
from kibitz.league.ladder import Ladder
from kibitz.league.sections import box, section


def matrix_section(
    ladder: Ladder, game: Game, doors: Mapping[tuple[str, str], Door], invites: str
) -> Markup:
    """Show the matrix; `doors` says which cells open something, `invites` says so in words."""
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
    if doors:
        key.append(element("span", invites, class_="quiet"))
    return section(
        title,
        element("p", words, class_="quiet"),
        element("p", *key, class_="keys"),
        box(heat_map(ladder, doors, most), title, "box fit"),
        name="matrix",
    )


def circles_section(ladder: Ladder) -> Markup:
    """Show who beats one another in a ring, and what the lottery is."""
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
