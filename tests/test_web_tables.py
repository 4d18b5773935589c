"""Tables of the workbench without a browser: who may see and do what, and what is kept."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace

import pytest

import kibitz
from kibitz.core.errors import AgentFailed, BadRecord, KibitzError, Misuse
from kibitz.core.game import HIDDEN
from kibitz.core.registry import find_game
from kibitz.play.seats import HUMAN
from kibitz.web import catalogue
from kibitz.web.hall import LARGEST_RECORD, Hall
from kibitz.web.kibitzing import shades
from kibitz.web.sitting import RECORDED, Refused, Seat, Sitting
from kibitz.web.table import TablePage
from kibitz.web.thinker import sent
from kibitz.web.thinking import Thinkers
from tests.conftest import walk
from tests.web import contrast

ANN, BOB, EVE = "ann", "bob", "eve"


def two_people(name: str = "hanabi", count: int = 2) -> Sitting:
    """Ann sits at seat 0 and Bob at seat 1, agents elsewhere."""
    table = kibitz.game(name, players=count).deal(seed=5)
    who = [Seat(HUMAN), Seat(HUMAN), *(Seat("random") for _ in range(count - 2))]
    sitting = Sitting("t" * 12, table, who, host=ANN, helps=False)
    sitting.take(ANN, 0, "Ann")
    sitting.take(BOB, 1, "Bob")
    return sitting


# --- seeing --------------------------------------------------------------------------------------


def test_people_see_their_own_side_and_nobody_elses():
    sitting = two_people()
    assert sitting.eyes_of(ANN) == [0]
    assert sitting.eyes_of(BOB) == [1]
    assert sitting.eyes_of(EVE) == []
    assert sitting.usual_eyes(EVE) is None
    with pytest.raises(Refused, match="over"):
        sitting.record(ANN)
    assert not sitting.may_explore
    assert not sitting.may_ask(ANN, 0), "this table was opened without help"


def test_when_it_is_over_everybody_may_look():
    sitting = two_people()
    sitting.resign(BOB)
    assert sitting.over
    assert sitting.eyes_of(EVE) == [0, 1]
    assert sitting.record(EVE).actions == ()
    with pytest.raises(Refused, match="shown"):
        sitting.undo(BOB)


def test_what_all_players_see_those_who_watch_may_see():
    """The stack of Carcassonne is hidden from everybody alike: whoever watches sees the board."""
    assert two_people("carcassonne").eyes_of(EVE) == [0, 1]
    assert not two_people("carcassonne").may_explore
    assert two_people("nim").eyes_of(EVE) == [0, 1]
    assert two_people("mexican_train").eyes_of(EVE) == []


def test_moves_are_told_to_each_seat_in_its_own_words():
    sitting = two_people()
    table = sitting.table
    while not sitting.over and len(sitting.told) < 6:
        before = table.copy()
        action = table.legal[0]
        sitting.advance(action)
        assert sitting.told[-1].words == tuple(before.view(seat).say(action) for seat in range(2))


def test_what_a_person_is_shown_holds_no_card_of_their_own():
    sitting = two_people()
    for seat in range(2):
        drawn = sitting.at(0).view(seat)
        dealt = sitting.table.dealt
        deck = dealt[drawn.game.cell("deck")]
        seen = drawn["deck"]
        own = seen == HIDDEN
        assert own.sum() == len(deck) - 5, "only the five cards of the other are seen"
        assert (seen[~own] == deck[~own]).all()


def test_points_are_those_that_a_seat_may_know():
    """What a hidden hand would count is hidden too."""
    sitting = two_people("mexican_train", count=4)
    table = sitting.at(0)
    for person, seat in ((ANN, 0), (BOB, 1)):
        page = page_of(sitting, person)
        assert page.points_of(table) == table.view(seat).points != table.points
    assert page_of(sitting, EVE).points_of(table) == []
    sitting.resign(ANN)
    assert page_of(sitting, EVE).points_of(table) == table.points


def page_of(sitting: Sitting, person: str) -> TablePage:
    """Make what decides about a page, without a browser."""
    page = TablePage.__new__(TablePage)
    page.sitting, page.person, page.eyes, page.line = sitting, person, None, []
    page.exploring, page.revealed, page.ply = False, None, None
    page.review = SimpleNamespace(lesson=None)
    return page


def test_two_people_at_one_screen_take_turns_behind_a_curtain():
    sitting = Sitting("t" * 12, kibitz.game("hanabi").deal(5), [Seat(HUMAN), Seat(HUMAN)], host=ANN)
    sitting.take(ANN, 0)
    sitting.take(ANN, 1)
    page = page_of(sitting, ANN)
    assert page.needs_curtain()
    page.revealed = 0
    assert not page.needs_curtain()
    assert page.looking(sitting.table) == 0
    sitting.play(ANN, sitting.table.legal[-1], 0)
    assert page.needs_curtain(), "it is the other's turn"
    page.eyes = 0
    page.revealed = 1
    assert page.looking(sitting.table) == 1, "whoever moves sees their own side"
    sitting.undo(ANN)
    assert page.needs_curtain()
    public = Sitting("t" * 12, kibitz.game("nim").deal(5), [Seat(HUMAN), Seat(HUMAN)], host=ANN)
    public.take(ANN, 0)
    public.take(ANN, 1)
    assert not page_of(public, ANN).needs_curtain()


# --- doing ---------------------------------------------------------------------------------------


def test_only_whoever_is_to_move_may_move():
    sitting = two_people("nim")
    first = sitting.table.legal[0]
    for who, action, plies, why in (
        (BOB, first, 0, "not your turn"), (EVE, first, 0, "watch"), ("", first, 0, "watch"),
        (ANN, first, 3, "changed"), (ANN, 9999, 0, "may not"), (ANN, -1, 0, "may not"),
        (ANN, True, 0, "no move"), (ANN, "0", 0, "no move"), (ANN, None, 0, "no move"),
        (ANN, 1.0, 0, "no move"), (ANN, 10**30, 0, "may not"), (ANN, [first], 0, "no move"),
    ):  # fmt: skip
        with pytest.raises(KibitzError, match=why):
            sitting.play(who, action, plies)
    assert sitting.table.plies == 0
    sitting.play(ANN, first, 0)
    assert sitting.table.seat == 1


def test_a_seat_is_taken_once():
    sitting = two_people("nim")
    with pytest.raises(Refused, match="already"):
        sitting.take(EVE, 1)
    for seat in (2, -1, "0", None):
        with pytest.raises(Refused):
            sitting.take(EVE, seat)  # type: ignore[arg-type]
    sitting.rename(ANN, "<b>\x1b[31m" + "x" * 99)
    assert len(sitting.seats[0].name) <= 40
    assert "\x1b" not in sitting.seats[0].name


def test_others_must_agree_before_a_move_is_taken_back():
    sitting = two_people("nim")
    with pytest.raises(Refused, match="nothing of yours"):
        sitting.undo(ANN)
    sitting.play(ANN, sitting.table.legal[0], 0)
    sitting.undo(ANN)
    assert sitting.asking == 0
    assert sitting.table.plies == 1
    with pytest.raises(Refused):
        sitting.agree(ANN)
    with pytest.raises(Refused):
        sitting.agree(EVE)
    sitting.agree(BOB, False)
    assert sitting.table.plies == 1
    sitting.undo(ANN)
    sitting.agree(BOB)
    assert sitting.table.plies == 0


def test_nobody_looks_at_everything_and_plays_on():
    sitting = two_people()
    sitting.play(ANN, sitting.table.legal[-1], 0)
    sitting.undo(ANN)
    sitting.resign(BOB)
    assert sitting.asking is None
    sitting.asking = 0
    with pytest.raises(Refused, match="shown"):
        sitting.agree(BOB)


def test_nothing_is_tried_out_before_the_others_have_come():
    table = kibitz.game("hanabi").deal(seed=5)
    sitting = Sitting("t" * 12, table, [Seat(HUMAN), Seat(HUMAN)], host=ANN)
    sitting.take(ANN, 0)
    sitting.play(ANN, sitting.table.legal[0], 0)
    with pytest.raises(Refused, match="still to come"):
        sitting.undo(ANN)


def test_a_page_that_fails_does_not_stop_the_game_of_others():
    sitting = two_people("nim")
    heard = []

    def broken() -> None:
        raise RuntimeError

    sitting.listen(broken)
    sitting.listen(lambda: heard.append(1))
    sitting.play(ANN, sitting.table.legal[0], 0)
    assert heard == [1]


def test_undo_and_redo_against_an_agent():
    table = kibitz.game("tapnswap").deal(seed=1)
    sitting = Sitting("t" * 12, table, [Seat(HUMAN), Seat("random")], host=ANN)
    sitting.take(ANN, 0)
    played = [sitting.table.legal[0]]
    sitting.play(ANN, played[0], 0)
    played.append(sitting.table.legal[-1])
    sitting.advance(played[1])
    sitting.undo(ANN)
    assert sitting.table.actions == []
    sitting.redo(ANN)
    assert sitting.table.actions == played
    with pytest.raises(Refused, match="Nothing"):
        sitting.redo(ANN)
    sitting.undo(ANN)
    other = next(action for action in sitting.table.legal if action != played[0])
    sitting.play(ANN, other, 0)
    assert sitting.undone == [], "another course: what was taken back is gone"


@pytest.mark.parametrize("name", kibitz.game_names())
def test_a_table_is_the_same_after_it_was_written_and_read(name):
    table = walk(kibitz.game(name), 4)
    half = table.record().table(len(table.actions) // 2)
    who = [HUMAN, *["random"] * (table.game.players - 1)]
    sitting = Sitting("t" * 12, half, [Seat(one) for one in who], host=ANN)
    sitting.take(ANN, 0, "Ann")
    again = Sitting.from_json(sitting.to_json(), find_game)
    assert again.table == sitting.table
    assert again.told == sitting.told
    assert again.seats == sitting.seats
    with pytest.raises(BadRecord):
        Sitting.from_json(sitting.to_json().replace('"actions"', '"act"'), find_game)


# --- the hall ------------------------------------------------------------------------------------


def in_hall(folder: Path, work, **limits):
    """Run something in a hall that starts and stops around it."""

    async def run():
        hall = Hall(folder, **limits)
        try:
            return await work(hall)
        finally:
            await hall.stop()

    return asyncio.run(run())


async def settled(condition) -> None:
    """Wait until something is so."""
    for _ in range(3000):
        if condition():
            return
        await asyncio.sleep(0.02)
    raise AssertionError("it did not come about")


def test_agents_move_until_it_is_a_persons_turn(tmp_path):
    async def work(hall: Hall):
        sitting = hall.open(kibitz.game("nim"), ["random", HUMAN], ANN, sit_at=[1], pace="at once")
        await settled(lambda: sitting.table.seat == 1)
        assert len(sitting.table.actions) == 1
        watched = hall.open(kibitz.game("nim"), ["random", "random"], ANN, pace="at once")
        assert watched.paused, "whoever watches begins when they are ready"
        watched.paused = False
        watched.changed()
        await settled(lambda: watched.over)
        return sitting.id, sitting.table

    id, table = in_hall(tmp_path, work)

    async def look(hall: Hall):
        assert hall.of(ANN)[-1] == id
        assert hall.of(EVE) == []
        both = await asyncio.gather(hall.fetch(id), hall.fetch(id))
        assert both == [hall.get(id)] * 2, "one table, however many ask for it at once"
        return both[0].table

    assert in_hall(tmp_path, look) == table


def test_an_agent_that_fails_leaves_a_table_that_can_go_on(tmp_path):
    async def work(hall: Hall):
        sitting = hall.open(
            kibitz.game("nim"), [HUMAN, "no-such-agent"], ANN, sit_at=[0], pace="at once"
        )
        sitting.play(ANN, sitting.table.legal[0], 0)
        await settled(lambda: sitting.trouble)
        assert "no-such-agent" in sitting.trouble
        with pytest.raises(Refused):
            sitting.seat_agent(EVE, 1, "random")
        sitting.seat_agent(ANN, 1, "random")
        await settled(lambda: sitting.table.seat == 0)

    in_hall(tmp_path, work)


def test_thinkers_can_be_stopped_and_die_and_others_go_on():
    game = kibitz.game("nim")
    table, unsolved = sent(game.deal(1)), sent(kibitz.game("mexican_train").deal(1))

    async def work():
        thinkers = Thinkers(1)
        try:
            order = {"do": "choose", "key": "a", "who": "random", "table": table}
            assert await thinkers.ask(order) in game.deal(1).legal
            with pytest.raises(KibitzError, match="nobody-knows"):
                await thinkers.ask({**order, "who": "nobody-knows"})
            long = {**order, "who": "mcts:sims=100000000", "table": unsolved}
            with pytest.raises(AgentFailed, match="stopped"):
                await thinkers.ask(long, patience=0.5)
            task = asyncio.create_task(thinkers.ask(long))
            await asyncio.sleep(0.5)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            with pytest.raises(AgentFailed):
                await thinkers.ask({"do": "choose"})
            assert await thinkers.ask(order) in game.deal(1).legal
        finally:
            await thinkers.stop()

    asyncio.run(work())


def test_there_is_a_limit_to_tables(tmp_path):
    async def work(hall: Hall):
        opened = [
            hall.open(kibitz.game("nim"), [HUMAN, HUMAN], ANN, sit_at=[0, 1]) for _ in range(3)
        ]
        with pytest.raises(Refused, match="too many"):
            hall.open(kibitz.game("nim"), [HUMAN, HUMAN], ANN, sit_at=[0, 1])
        hall.open(kibitz.game("nim"), [HUMAN, HUMAN], BOB, sit_at=[0, 1])
        opened[0].resign(ANN)
        new = hall.open(kibitz.game("nim"), [HUMAN, HUMAN], ANN, sit_at=[0, 1])
        with pytest.raises(Refused, match="no such table"):
            hall.get(opened[0].id)
        assert hall.get(new.id) is new
        with pytest.raises(Refused, match="too many"):
            hall.open(kibitz.game("nim"), [HUMAN, HUMAN], EVE)

    in_hall(tmp_path, work, most_tables=4, most_of_one=3)


@pytest.mark.parametrize(
    "id", ["../../etc/passwd", "..", "", "a/b", "x" * 500, "%2e%2e", "\0", "nope-nope"]
)
def test_a_table_is_found_by_its_name_and_nothing_else(tmp_path, id):
    async def work(hall: Hall):
        with pytest.raises(Refused, match="no such table"):
            hall.get(id)
        with pytest.raises(Refused, match="no such table"):
            await hall.fetch(id)

    in_hall(tmp_path, work)


def test_records_from_strangers_are_tried_elsewhere_first(tmp_path):
    record = walk(kibitz.game("nim"), 4).record(("a", "b"))

    async def work(hall: Hall):
        sitting = await hall.read(record.to_json().encode(), ANN)
        assert sitting.over
        assert not sitting.is_played
        assert sitting.names() == ("a", "b")
        for data in (
            b"", b"\xff\xfe\x00", b"[]", b"{}", b"[" * 100_000, b" " * (LARGEST_RECORD + 1),
            record.to_json().replace('"dealt": [\n  0', '"dealt": [\n  77').encode(),
            record.to_json().replace('"nim"', '"../nim"').encode(),
            re.sub(r'"action": \d+', '"action": 999999', record.to_json()).encode(),
        ):  # fmt: skip
            with pytest.raises(KibitzError):
                await hall.read(data, ANN)
        assert (await hall.read(record.to_json().encode(), ANN)).over, "all is well after that"
        half = record.table(1).record(("human", "/etc/passwd"))
        sitting = await hall.read(half.to_json().encode(), ANN)
        assert {seat.who for seat in sitting.seats} == {RECORDED}, "names make no agents"
        assert sitting.thinking is None
        for work in (
            lambda: sitting.take(ANN, 0), lambda: sitting.play(ANN, sitting.table.legal[0], 1),
            lambda: sitting.resign(ANN), lambda: hall.again(sitting, ANN),
        ):  # fmt: skip
            with pytest.raises(Refused, match="record"):
                work()

    in_hall(tmp_path, work)


def test_the_same_deal_with_seats_exchanged(tmp_path):
    async def work(hall: Hall):
        sitting = hall.open(
            kibitz.game("hanabi"), [HUMAN, "random"], ANN, sit_at=[0], called=["", "easy"]
        )
        with pytest.raises(Refused, match="not over"):
            hall.again(sitting, ANN)
        sitting.resign(ANN)
        with pytest.raises(Refused, match="watch"):
            hall.again(sitting, EVE)
        new = hall.again(sitting, ANN)
        assert new.seats_of(ANN) == [1]
        assert new.name_of(0) == "easy"
        assert (new.table.dealt == sitting.table.dealt).all()

    in_hall(tmp_path, work)


def test_a_deal_that_was_seen_is_not_for_somebody_who_comes(tmp_path):
    async def work(hall: Hall):
        sitting = hall.open(kibitz.game("hanabi"), [HUMAN, HUMAN], ANN, sit_at=[0])
        sitting.resign(ANN)
        with pytest.raises(Refused, match="new table"):
            hall.again(sitting, ANN)

    in_hall(tmp_path, work)


def test_what_an_agent_answered_is_not_played_elsewhere(tmp_path):
    """While it thinks, a move is taken back and another played: it is asked again."""

    async def work(hall: Hall):
        asked = []

        async def choose(sitting):
            asked.append(list(sitting.table.actions))
            if len(asked) == 1:
                sitting.undo(ANN)
                sitting.play(ANN, sitting.table.legal[1], 0)
            return sitting.table.legal[0]

        hall.choose = choose  # type: ignore[method-assign]
        sitting = hall.open(kibitz.game("nim"), [HUMAN, "random"], ANN, sit_at=[0], pace="at once")
        sitting.play(ANN, sitting.table.legal[0], 0)
        await settled(lambda: sitting.table.seat == 0 and len(sitting.table.actions) == 2)
        assert len(asked) == 2
        assert asked[1] == sitting.table.actions[:1]

    in_hall(tmp_path, work)


# --- whom one may ask for ------------------------------------------------------------------------


@pytest.mark.parametrize("name", kibitz.game_names())
def test_everybody_who_is_offered_may_be_asked_for(name):
    game = kibitz.game(name)
    for offer in catalogue.offers(game):
        assert catalogue.checked(game, offer.who) == offer.who
        assert offer.about
    for who in game.levels.values():
        assert catalogue.checked(game, who) == who


@pytest.mark.parametrize(
    "who",
    [
        "/etc/passwd", "../x.safetensors", "model.safetensors", "q-table:model=/etc/passwd",
        "q-table:model=../../early", "mcts:model=x.safetensors", "mcts:rollout=/x.safetensors",
        "mcts:prior=random+../x", "mcts:sims=0", "mcts:nothing=1", "mcts:sims", "", "human", 7,
        None, ["random"], "random" * 99, "perfect:model=/tmp/x", "policy:model=https://example.org/x",
    ],
)  # fmt: skip
def test_nobody_else_may_be_asked_for(who):
    with pytest.raises(Misuse):
        catalogue.checked(kibitz.game("tapnswap"), who)


def test_values_become_shades():
    def thoughts(*values):
        return [{"action": place, "value": value} for place, value in enumerate(values)]

    assert shades(thoughts(0.25, 1.0), 1)[0] == {0: 0.25, 1: 1.0}
    assert shades(thoughts(-1.0, 0.0, 1.0), 2)[0] == {0: 0.0, 1: 0.5, 2: 1.0}
    assert shades(thoughts(-3.0, 5.0, 1.0), 1)[0] == {0: 0.0, 1: 1.0, 2: 0.5}
    assert shades(thoughts(7.0, 7.0), 1)[0] == {0: 0.0, 1: 0.0}
    assert shades(thoughts(None, None), 1)[0] == {1: 1.0}


# --- colours -------------------------------------------------------------------------------------


def test_words_can_be_read_on_light_and_on_dark():
    style = (Path(kibitz.__file__).parent / "web" / "style.css").read_text(encoding="utf-8")
    for block in (
        style.split(":root {")[1].split("}")[0],
        style.split("body.body--dark {")[1].split("}")[0],
    ):
        colours = dict(re.findall(r"--([a-z-]+): (#[0-9A-F]{6})", block))
        for words in ("ink", "quiet", "accent", "good", "bad"):
            for ground in ("paper", "card"):
                assert contrast(colours[words], colours[ground]) >= 4.5, (words, ground)
        assert contrast(colours["on-accent"], colours["accent"]) >= 4.5
