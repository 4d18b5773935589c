"""Sample games: which of them come first, and how they are listed on a page."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from kibitz.core.film import Sample
from kibitz.core.markup import Markup, element
from kibitz.core.svg import number
from kibitz.league.ladder import Ladder
from kibitz.league.sections import section

AT_ONCE = 12  # games that are listed before the others are folded away

Records = Sequence[tuple[tuple[str, ...], str]]  # the names of the seats, and a record as JSON


def best_first(ladder: Ladder, records: Records) -> list[tuple[tuple[str, ...], str]]:
    """Put sample games into order, those among the best first."""
    places = {rung.name: agent for agent, rung in enumerate(ladder.rungs)}

    def order(sample: tuple[tuple[str, ...], str]) -> tuple[int, int]:
        seated = [places.get(name, len(places)) for name in sample[0]]
        return max(seated), sum(seated)

    return sorted(records, key=order)


def samples_section(
    samples: Sequence[Sample],
    left_out: int,
    together: bool,
    button: Callable[[int], Mapping[str, str | int]],
) -> Markup:
    """List sample games as buttons; `button` gives the attributes of each by its number."""
    if not samples:
        kept = f"{left_out:,} are in the store, and none of them in this page."
        empty = kept if left_out else "No games were kept move by move."
        return section("Sample games", element("p", empty, class_="quiet"), name="samples")
    cards = [_card(one, together, button(at)) for at, one in enumerate(samples)]
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


def _card(one: Sample, together: bool, attributes: Mapping[str, str | int]) -> Markup:
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
        "button", *seats, element("span", about, class_="quiet"), type="button", **attributes,
        class_="card",
    )  # fmt: skip
    return element("li", card)
