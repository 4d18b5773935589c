"""The page that the demo leaves: boards, a replay, learning curves, a ladder, and figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

from kibitz.cli.demo.charts import curve_chart
from kibitz.cli.demo.words import BEFORE, SHIPPED, change, pace
from kibitz.core.film import Film
from kibitz.core.markup import Markup, element, joined, table
from kibitz.core.pages import asset, page_style, policy, seat_sign
from kibitz.core.player import player_parts, player_style
from kibitz.core.registry import find_game
from kibitz.core.svg import SEAT_SIGNS
from kibitz.league.report import figures_style
from kibitz.league.sections import box, section

HERE = "kibitz.cli.demo"
WIDE = {"mexican_train", "hanabi"}  # boards that need two columns

Results = Mapping[str, Mapping[str, Any]]


def page(results: Results, problems: Mapping[str, str], seed: int) -> str:
    """Write the demo as one HTML page that works offline.

    results    what the parts found, by key
    problems   why parts found nothing, by key
    """
    sections = [
        _head(seed),
        _boards(results),
        _replay(results),
        _lessons(results, problems),
        _league(results),
        _figures(results),
    ]
    record = results.get("record")
    data = Markup(record["film"]) if record else Markup("")
    script = asset("player.js") + asset("demo.js", HERE)
    return Template(asset("demo.html", HERE)).substitute(
        policy=policy(script),
        style=page_style()
        + asset("report.css", "kibitz.league")
        + figures_style()
        + player_style()
        + asset("demo.css", HERE),
        content=joined(*(part for one in sections for part in (one, Markup("\n")))),
        film=element("script", data, type="text/plain", class_="film"),
        script=script,
    )


def _head(seed: int) -> Markup:
    return element(
        "header",
        element("h1", "kibitz"),
        element(
            "p",
            "A workbench where agents learn tabletop games, rate one another, and play you.",
            class_="about",
        ),
        element(
            "p", "Made by ", element("code", f"kibitz demo --seed {seed}"),
            ". Training is short on purpose; intervals are 95%.", class_="quiet",
        ),
    )  # fmt: skip


def _boards(results: Results) -> Markup:
    figures = [
        element(
            "figure",
            element("div", Markup(one["svg"]), class_="board"),
            element("figcaption", element("b", one["title"]), element("span", one["about"])),
            class_="wide" if key.partition(":")[2] in WIDE else None,
        )
        for key, one in results.items()
        if key.startswith("board:")
    ]
    return section("Five games", element("div", *figures, class_="boards"), name="games")


def _replay(results: Results) -> Markup:
    record = results.get("record")
    if record is None:
        return Markup("")
    still = Film(
        names=tuple(record["names"]), points=tuple(record["points"]), plies=record["plies"],
        data=record["film"], moves=tuple((seat, words) for seat, words in record["moves"]),
        last=record["last"],
    )  # fmt: skip
    who = [
        element("span", seat_sign(seat), name, class_="who")
        for seat, name in enumerate(record["names"])
    ]
    player = element(
        "div",
        element("header", element("div", *who, class_="title")),
        player_parts(find_game(record["name"]), 0, still),
        class_="player still",
        data_signs=SEAT_SIGNS,
    )
    return section(f"A recorded game of {record['game']}", player, name="replay")


def _lessons(results: Results, problems: Mapping[str, str]) -> Markup:
    cards = [_lesson(one) for key, one in results.items() if key.startswith("learn:")]
    cards += [
        element(
            "figure",
            element("figcaption", element("b", key.partition(":")[2]), element("span", why)),
            class_="missing",
        )
        for key, why in problems.items()
        if key.startswith("learn:")
    ]
    note = element("p", BEFORE, class_="quiet")
    return section("Every learner", element("div", *cards, class_="lessons"), note, name="learners")


def _lesson(one: Mapping[str, Any]) -> Markup:
    curve = one["curve"]
    drawn = (
        (
            curve_chart(curve),
            element("figcaption", element("span", f"{curve['y']} over {curve['x']}")),
        )
        if curve["points"]
        else (element("p", SHIPPED, class_="quiet"),)
    )
    return element(
        "figure",
        element(
            "figcaption",
            element("b", one["learner"]),
            element("span", f"{one['game']}, {one['effort']}"),
        ),
        element("p", change(one), " ", element("span", one["figure"]), class_="figures"),
        *drawn,
    )


def _league(results: Results) -> Markup:
    league = results.get("league")
    if league is None:
        return Markup("")
    return section(
        f"A league of {league['game']}",
        box(Markup(league["html"]), "The ladder"),
        element("p", f"{league['games']:,} games. {league['notes']}", class_="quiet"),
        name="league",
    )


def _figures(results: Results) -> Markup:
    matches = [
        (one["game"], one["who"], f"{one['games']:,}", one["figure"])
        for key, one in results.items()
        if key.startswith("match:")
    ]
    solutions = [
        (one["game"], one["outcome"], *(f"{one[name]:,}" for name in COUNTS))
        for key, one in results.items()
        if key.startswith("solve:")
    ]
    speeds = [element("li", pace(row)) for row in results.get("speed", {}).get("rows", ())]
    return joined(
        section("Matches", _table(("game", "agents", "games", "result"), matches), name="matches"),
        section("Solved exactly", _table(("game", "best play", *COUNTS), solutions), name="solved"),
        section("Speed", element("ul", *speeds), name="speed") if speeds else Markup(""),
    )


COUNTS = ("positions", "won", "drawn", "lost")


def _table(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> Markup:
    """Make a table whose first two columns hold words."""

    def cells(kind: str, row: Sequence[str], **more: str) -> list[Markup]:
        return [
            element(kind, cell, class_="number" if at > 1 else None, **more)
            for at, cell in enumerate(row)
        ]

    body = [element("tr", *cells("td", row)) for row in rows]
    return box(table(cells("th", columns, scope="col"), body, "seats results"), "", "box fit")
