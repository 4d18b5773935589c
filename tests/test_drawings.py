"""Laws of every game's drawing: what a page, a report and a screen reader rely on."""

from __future__ import annotations

import re
from collections.abc import Iterator
from xml.etree import ElementTree

import pytest

from kibitz.core import svg
from kibitz.core.chance import Chance
from kibitz.core.game import MOST_SEATS
from kibitz.core.registry import find_game, game_names
from kibitz.core.table import Table, View
from tests.lengths import first_always

NAMESPACE = "http://www.w3.org/2000/svg"
SVG = f"{{{NAMESPACE}}}"
GAMES = 3
LOOKS = 60  # positions of a game that are drawn, at most


def positions(name: str, seed: int) -> Iterator[Table]:
    """Play by lot, and stop at the start, at the end and at a share of what is between."""
    game = find_game(name)
    rng = Chance(seed)
    table = game.deal(seed=seed)
    yield table
    while not table.over:
        table.play(rng.choice(table.legal))
        if table.over or table.plies <= LOOKS:
            yield table


def check(view: View, drawn: str) -> ElementTree.Element:
    root = ElementTree.fromstring(drawn)
    assert root.tag == f"{SVG}svg"
    left, top, width, height = map(float, root.attrib["viewBox"].split())
    assert (left, top) == (0, 0)
    assert width > 0
    assert height > 0
    assert not re.search(r"<script|\son\w+=|javascript:|@import|url\(", drawn)
    assert not re.search(r"(https?:)?//", drawn.replace(f'xmlns="{NAMESPACE}"', ""))
    assert " id=" not in drawn  # ids would clash where boards share a page
    assert all(element.tag.startswith(SVG) for element in root.iter())

    buttons = [element for element in root.iter() if "data-action" in element.attrib]
    actions = {int(element.attrib["data-action"]) for element in buttons}
    assert actions == (set(view.legal) if view.mover == view.seat else set())
    for element in buttons:
        assert element.tag == f"{SVG}g"
        assert element.attrib["role"] == "button"
        assert element.attrib["tabindex"] == "0"
        titles = [child.text for child in element if child.tag == f"{SVG}title"]
        assert titles == [view.say(int(element.attrib["data-action"]))]
        assert titles[0]
    return root


@pytest.mark.parametrize("name", game_names())
@pytest.mark.parametrize("seed", first_always(range(GAMES)))
def test_a_drawing_offers_the_legal_actions_and_nothing_else(name, seed):
    rng = Chance(seed, stream=1)
    for table in positions(name, seed):
        last = table.last_move()
        opinion = {action: rng.uniform() for action in table.legal}
        for seat in range(table.game.players):
            view = table.view(seat)
            check(view, view.svg())
            check(view, view.svg(last=last))
            check(view, view.svg(last=last, opinion=opinion))


@pytest.mark.parametrize("name", game_names())
def test_an_opinion_may_be_partial_extreme_or_stale(name):
    table = find_game(name).deal(seed=5)
    view = table.view()
    first = view.legal[0]
    every = range(table.game.bound("actions"))
    for opinion in ({}, {first: 0.0}, {first: 1.0}, {first: 1}, dict.fromkeys(every, 0.5)):
        check(view, view.svg(opinion=opinion))


@pytest.mark.parametrize("name", game_names())
def test_drawing_changes_nothing_and_repeats(name):
    for table in positions(name, 7):
        view = table.view()
        before = view.cells.copy()
        assert view.svg(last=table.last_move()) == view.svg(last=table.last_move())
        assert (view.cells == before).all()


@pytest.mark.parametrize("name", game_names())
def test_a_finished_game_says_so_to_every_seat(name):
    *_, table = positions(name, 11)
    assert table.over
    for seat in range(table.game.players):
        view = table.view(seat)
        assert not re.search("data-action|to move", table.svg(seat))
        check(view, table.svg(seat))


@pytest.mark.parametrize(
    "settings",
    [{"rows": (1,)}, {"rows": (63,) * 16}, {"rows": (9, 4), "k": 3}, {"rows": (2, 63), "k": 1}],
)
def test_nim_draws_any_rows_and_offers_no_more_than_the_cap(settings):
    table = find_game("nim").having(**settings).deal(seed=1)
    for _ in range(2):
        for seat in range(2):
            check(table.view(seat), table.svg(seat))
        if not table.over:
            table.play(table.legal[-1])


def test_nim_leaves_a_ghost_for_every_stick_just_taken():
    table = find_game("nim").having(rows=(1, 3, 5, 7)).deal(seed=1)
    assert table.svg(0).count('class="ghost"') == 0
    table.play("3 from 4")
    assert table.svg(0).count('class="ghost"') == 3
    assert table.svg(0).count('class="last"') == 1


def test_tapnswap_shows_the_fingers_of_every_hand():
    table = find_game("tapnswap").deal(seed=1).play("tap left on left").play("tap left on right")
    for seat in range(2):
        root = check(table.view(seat), table.svg(seat))
        shown = {
            element.attrib["data-hand"]: int(element.attrib["data-fingers"])
            for element in root.iter()
            if "data-fingers" in element.attrib
        }
        names = [f"{who}-{side}" for who in ("own", "other") for side in ("left", "right")]
        hands = table["hands"].tolist()
        assert [shown[name] for name in names] == hands[2 * seat :] + hands[: 2 * seat]


def test_words_are_escaped():
    assert ElementTree.fromstring(svg.text(0, 0, "<a> & 'b'")).text == "<a> & 'b'"
    assert ElementTree.fromstring(svg.tag("g", data_x='"<&>"')).attrib["data-x"] == '"<&>"'


def test_numbers_are_short_and_actions_exact():
    assert [svg.number(value) for value in (1.0, -0.001, 0.126, 1_234_567)] == [
        "1", "0", "0.13", "1234567",
    ]  # fmt: skip


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(name: str, variant: int) -> str:
    _, other, part = svg.MIXED[name]
    pairs = zip(
        bytes.fromhex(svg.PALETTE[other][variant][1:]),
        bytes.fromhex(svg.PALETTE["paper"][variant][1:]),
        strict=True,
    )
    return "#" + bytes(round((part * a + (100 - part) * b) / 100) for a, b in pairs).hex()


@pytest.mark.parametrize("variant", [0, 1], ids=["light", "dark"])
def test_words_can_be_read_on_their_ground(variant):
    paper, ink, accent = (svg.PALETTE[name][variant] for name in ("paper", "ink", "accent"))
    for words, ground in (
        (ink, paper), (accent, paper), (mixed("quiet", variant), paper),
        (ink, mixed("opinion", variant)),
    ):  # fmt: skip
        assert contrast(words, ground) >= 4.5
    assert all(map(lambda *pair: contrast(*pair) >= 4.5, svg.ON_SEAT, svg.SEAT_COLOURS))


def test_every_seat_has_its_own_mark():
    marks = {svg.seat_mark(seat, 10, 10) for seat in range(MOST_SEATS)}
    assert len(marks) == MOST_SEATS
    for mark in marks:
        ElementTree.fromstring(mark)
