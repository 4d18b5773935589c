"""Leagues: who may join, what is kept, who is suspended, and that all of it can be repeated."""

from __future__ import annotations

import json
import math
import os
import shutil
import sqlite3
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import sqlalchemy as sa
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext

import kibitz
from kibitz.core.errors import BrokenRules, KibitzError, Misuse
from kibitz.core.record import Record
from kibitz.league import League
from kibitz.league.book import Book
from kibitz.league.claims import LEASE
from kibitz.league.store import Store, StoreFailed
from kibitz.league.tables import MATCHES, METADATA, RESULTS, WORKERS

NIM = kibitz.game("nim", rows="1,2,3")
FOUR = ("expert", "random", "take-one", "gabriele")


def all_results(league: League) -> list[tuple]:
    """Everything that was played: round, who, and the points of every game."""
    names = {member.id: member.name for member in league.members}
    return [
        (match.round, [names[member] for member in match.lineup], match.points.tolist())
        for _, match in league.book.played()
    ]


def four(store: str, **more) -> League:
    league = League(NIM, store, seed=5, **more)
    league.add(*FOUR)
    return league


# --- playing -----------------------------------------------------------------------------------


def test_a_league_is_played_rated_and_gone_on_with(store_url):
    league = four(store_url)
    ladder = league.run(games=120)
    assert {rung.games for rung in ladder.rungs} == {120}
    assert ladder.games == 240
    assert ladder.rounds == 10
    assert ladder.rungs[0].name == "expert"
    assert [rung.place for rung in ladder.rungs] == [1, 2, 3, 4]
    assert len(league.book.records()) == 6  # one of each pair
    again = League(NIM, store_url, make=False)
    assert again.ladder() == ladder
    # The same command has nothing to do; a higher number goes on; a newcomer plays alone.
    assert again.run(games=120).games == 240
    assert again.run(games=180).games >= 360
    again.add("level")
    before = again.ladder().games
    later = again.run(games=120)
    assert later.rung("level").games >= 120
    assert later.games == before + later.rung("level").games


@pytest.mark.long
def test_the_same_seed_gives_the_same_league_on_any_number_of_cores(tmp_path):
    one, two, other = (four(str(tmp_path / f"{name}.sqlite")) for name in ("one", "two", "other"))
    one.run(games=60, cores=1, pairing="swiss")
    for games in (20, 40, 60):
        two.run(games=games, cores=2, pairing="swiss", each=6)
    other.run(games=60, cores=2, pairing="swiss", each=6)
    assert all_results(one) == all_results(two) == all_results(other)
    assert one.ladder() == other.ladder()


def test_points_of_a_match_are_those_of_match(tmp_path):
    """A league plays what `kibitz.match` plays, and its samples are games of it."""
    league = four(str(tmp_path / "s.sqlite"))
    league.run(games=60)
    with league.store.reading() as connection:
        seed = int(connection.execute(sa.select(MATCHES.c.seed).order_by(MATCHES.c.id)).scalar())
    _, match = league.book.played()[0]
    names = {member.id: member.name for member in league.members}
    pair = [names[member] for member in match.lineup]
    result = kibitz.match(NIM, pair, match.games, seed=seed)
    assert result.agents[0].points.mean == match.points[:, 0].mean()
    _, text = league.book.records()[0]
    record = Record.from_json(text)
    assert list(record.agents) == pair
    assert record.table().points == match.points[0].tolist()


@pytest.mark.long
def test_more_seats_copies_and_random_tables(tmp_path):
    game = kibitz.game("mexican_train", players=3, hands=1, highest=6)
    league = League(game, str(tmp_path / "s.sqlite"), seed=1)
    league.add("planner", "greedy", "stupid", "random")
    ladder = league.run(games=36, pairing="tables")
    assert min(rung.games for rung in ladder.rungs) >= 36
    assert len(ladder.seats) == 3
    assert sum(seat.share.mean for seat in ladder.seats) == pytest.approx(1)
    robin = League(game, str(tmp_path / "s.sqlite"), "robin", seed=1)
    robin.add("planner", "stupid")
    ladder = robin.run(games=24)
    assert ladder.rungs[0].name == "planner"
    assert {match.lineup for _, match in robin.book.played()} == {(5, 6, 5), (6, 5, 6)}


def test_where_all_play_together_points_count(tmp_path):
    game = kibitz.game("hanabi", players=2, colours=2, values=3, hand=2)
    league = League(game, str(tmp_path / "s.sqlite"), seed=1)
    league.add("smart", "iggi", "random")
    ladder = league.run(games=80)
    assert ladder.rungs[-1].name == "random"
    best = ladder.rungs[0]
    assert best.points == ladder.cells[best.name, best.name].points
    assert best.rating.strength.mean == best.points.mean
    assert best.with_others.mean < best.points.mean
    assert ladder.circles == ()
    assert all(rung.lottery == 0 for rung in ladder.rungs)


def test_precision_ends_a_run(tmp_path):
    league = League(NIM, str(tmp_path / "s.sqlite"), seed=1)
    league.add("random", "take-one")
    ladder = league.run(precision=20, each=200)
    assert max(rung.rating.strength.plus_minus for rung in ladder.rungs) <= 20
    assert ladder.games < 100_000
    assert ladder.history[0].high - ladder.history[0].low > 40


@pytest.mark.long
def test_two_seeds_agree_within_their_intervals(tmp_path):
    ladders = []
    for seed in (1, 2):
        league = League(kibitz.game("nim"), str(tmp_path / f"{seed}.sqlite"), seed=seed)
        league.add("random", "take-one", "level", "odd")
        ladders.append(league.run(games=3000))
    for rung in ladders[0].rungs:
        one, two = rung.rating.strength, ladders[1].rung(rung.name).rating.strength
        # Four ratings: one beyond its interval of 95% would be bad luck, twice as far a mistake.
        assert abs(one.mean - two.mean) < 2 * math.hypot(one.plus_minus, two.plus_minus)


def test_perfect_play_anchors_the_scale(tmp_path):
    league = four(str(tmp_path / "s.sqlite"))
    league.add("perfect")
    ladder = league.run(games=80)
    assert ladder.anchor == "perfect"
    assert ladder.rung("perfect").rating.strength.mean == 2000.0
    assert ladder.rung("random").rating.strength.high < 2000


# --- who takes part ----------------------------------------------------------------------------


class Stick(kibitz.Agent):
    """Takes the first thing that is allowed."""

    def values(self, view, options):
        """Prefer the first."""
        return [-place for place in range(len(options))]


def last_stick(view):
    """Take the last thing that is allowed."""
    return view.legal[-1]


@pytest.mark.long
def test_objects_play_in_the_process_that_added_them(tmp_path):
    path = str(tmp_path / "s.sqlite")
    league = League(NIM, path, seed=1)
    league.add("random", Stick, last_stick, "mcts:sims=20")
    ladder = league.run(games=12)
    assert {rung.name for rung in ladder.rungs} == {"random", "Stick", "last_stick", "mcts:sims=20"}
    elsewhere = League(NIM, path)
    with pytest.raises(Misuse, match=r"cannot play here: Stick \(an object of another process\)"):
        elsewhere.run(games=24)
    elsewhere.suspend("last_stick")  # as the error says, that is a way to go on
    elsewhere.add(Stick)
    ladder = elsewhere.run(games=24)
    assert ladder.rung("Stick").games >= 24
    assert ladder.rung("last_stick").games == 12
    with pytest.raises(Misuse, match="Another 'Stick' has joined"):
        league.add(type("Stick", (Stick,), {"__module__": Stick.__module__}))
    with pytest.raises(Misuse, match="Give the class"):
        league.add(kibitz.agent("random", NIM))


def learn(path: Path, seed: int) -> None:
    kibitz.train("q-learning", kibitz.game("tapnswap"), seed=seed, games=200, folder=path.parent)


@pytest.mark.long
def test_an_agent_that_has_changed_is_another_agent(tmp_path):
    path = tmp_path / "one" / "model.safetensors"
    learn(path, seed=1)
    league = League(kibitz.game("tapnswap"), str(tmp_path / "s.sqlite"), seed=1)
    (member,) = league.add(str(path))
    assert league.add(str(path)) == [member]
    learn(tmp_path / "two" / path.name, seed=2)
    shutil.copy(tmp_path / "two" / path.name, path)
    with pytest.raises(Misuse, match="is another agent"):
        league.add(str(path))
    league.add("random", "tapper")
    ladder = league.run(games=20)
    assert "changed since it joined" in ladder.rung(str(path)).suspended
    league.add(str(path), name="later")
    assert league.run(games=20).rung("later").games >= 20
    path.unlink()  # then it can play nowhere, which is not its fault
    with pytest.raises(Misuse, match="cannot play here: later"):
        league.run(games=40)
    league.suspend("later")
    assert league.run(games=40).rung("random").games >= 40


@pytest.mark.long
def test_a_model_that_changes_while_the_league_plays_is_noticed(tmp_path):
    for number in (1, 2):
        learn(tmp_path / str(number) / "model.safetensors", seed=number)
    path = tmp_path / "1" / "model.safetensors"
    league = League(kibitz.game("tapnswap"), str(tmp_path / "s.sqlite"), seed=1)
    league.add(str(path), "random", "tapper")

    def overwrite(*_) -> None:
        copied = shutil.copy(tmp_path / "2" / path.name, path.with_suffix(".new"))
        Path(copied).replace(path)  # at once: half a file could not be read

    ladder = league.run(games=200, each=2, cores=1, progress=overwrite)
    assert "has changed since it joined" in ladder.rung(str(path)).suspended
    assert ladder.rung("random").games >= 200


def test_who_joins_during_a_run_plays_in_it(tmp_path):
    path = str(tmp_path / "s.sqlite")
    league = four(path)
    joined = []

    def join(*_) -> None:
        if not joined:
            joined.append(League(NIM, path).add("level"))

    assert league.run(games=60, progress=join).rung("level").games >= 60


def test_functions_are_told_apart(tmp_path):
    league = League(NIM, str(tmp_path / "s.sqlite"), seed=1)
    league.add(lambda view: view.legal[0])
    with pytest.raises(Misuse, match="is another agent"):
        league.add(lambda view: view.legal[-1])


def test_an_object_may_not_end_the_program(tmp_path):
    def leaves(view):
        raise SystemExit(3)

    def breaks(view):
        raise BrokenRules("I have searched beyond all bounds.")

    league = League(NIM, str(tmp_path / "s.sqlite"), seed=1)
    league.add("random", "expert", leaves, breaks)
    ladder = league.run(games=10)
    assert "raised SystemExit(3)" in ladder.rung("leaves").suspended
    assert "beyond all bounds" in ladder.rung("breaks").suspended


@pytest.mark.long
def test_who_is_suspended_plays_no_more_until_readmitted(tmp_path):
    league = four(str(tmp_path / "s.sqlite"))
    league.suspend("random", "it bores us")
    ladder = league.run(games=40)
    assert (ladder.rung("random").games, ladder.rung("random").place) == (0, 0)
    assert ladder.rung("random").suspended == "it bores us"
    league.readmit("random")
    assert league.run(games=40).rung("random").games >= 40


def test_names_are_checked(tmp_path):
    league = League(NIM, str(tmp_path / "s.sqlite"), seed=1)
    with pytest.raises(KibitzError, match="No agent for nim is called 'nobody'"):
        league.add("nobody")
    with pytest.raises(Misuse, match="printable"):
        league.add("random", name="a\x1bb")
    with pytest.raises(Misuse, match="one by one"):
        league.add("random", "expert", name="x")
    with pytest.raises(Misuse, match="two agents"):
        league.run(games=10)
    league.add("random", name="me")
    with pytest.raises(Misuse, match="another agent"):
        league.add("expert", name="me")
    with pytest.raises(Misuse, match="No pairing is called 'round'"):
        league.run(pairing="round")
    with pytest.raises(Misuse, match="games must be at least 1"):
        league.run(games=0)


RASCALS = """
    import os
    import time

    import kibitz
    from kibitz.core.chance import below
    from kibitz.core.compiled import CHOOSE, compiled


    class Raises(kibitz.Agent):
        def choose(self, view):
            raise RuntimeError("no more")


    class Illegal(kibitz.Agent):
        def choose(self, view):
            return 10_000


    class Sleeps(kibitz.Agent):
        def choose(self, view):
            time.sleep(1000)


    class Exits(kibitz.Agent):
        def choose(self, view):
            os._exit(3)


    class Unmade(kibitz.Agent):
        def __init__(self, game, **settings):
            super().__init__(game, **settings)
            if os.environ.get("RASCAL") == "unmade":
                raise RuntimeError("not today")


    @compiled(CHOOSE)
    def endless(rules, view, actions, n, weights, memory, rng):
        \"\"\"Think for ever, now and then.\"\"\"
        if below(rng, 40) > 0:
            return actions[0]
        turns = 1
        while turns > 0:  # what it works on changes, or the compiler would make short work of it
            turns = (turns * 5 + view[1]) & 1023
            memory[0] += turns
            turns |= 1
        return actions[0]


    @compiled(CHOOSE)
    def cheats(rules, view, actions, n, weights, memory, rng):
        \"\"\"Take what is not there.\"\"\"
        return 9_999


    ENDLESS = kibitz.Kind(choose=endless, memory=1)
    CHEATS = kibitz.Kind(choose=cheats)
"""
NAMES = {
    "raises": "Raises", "illegal": "Illegal", "sleeps": "Sleeps", "exits": "Exits",
    "endless": "ENDLESS", "cheats": "CHEATS", "unmade": "Unmade",
}  # fmt: skip


@pytest.mark.long  # waits for agents that stall
def test_who_fails_is_suspended_and_the_league_goes_on(tmp_path):
    """Agents of another package that raise, stall, cheat, or bring their process down."""
    (tmp_path / "rascals.py").write_text(textwrap.dedent(RASCALS))
    about = tmp_path / "rascals-1.dist-info"
    about.mkdir()
    (about / "METADATA").write_text("Metadata-Version: 2.1\nName: rascals\nVersion: 1\n")
    points = "\n".join(f"{name} = rascals:{what}" for name, what in NAMES.items())
    (about / "entry_points.txt").write_text(f"[kibitz.agents]\n{points}\n")
    environment = {
        **os.environ, "PYTHONPATH": str(tmp_path), "KIBITZ_STORE": str(tmp_path / "s.sqlite"),
    }  # fmt: skip
    kibitz_of = [sys.executable, "-c", "from kibitz.cli import main; main()", "league", "nim"]

    def command(*words: str, **more: str) -> str:
        done = subprocess.run(
            [*kibitz_of, *words, "--set", "rows=1,2,3"], env={**environment, **more},
            capture_output=True, text=True, timeout=300, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    command("add", "expert", "random", *NAMES)
    said = command(
        "run", "--games", "160", "--each", "160", "--patience", "1", "--json", RASCAL="unmade"
    )
    ladder = {rung["name"]: rung for rung in json.loads(said)["ladder"]}
    why = {name: ladder[name]["suspended"] for name in NAMES}
    assert "raised RuntimeError('no more')" in why["raises"]
    assert "not legal" in why["illegal"]
    assert "not legal" in why["cheats"]
    assert "took more than" in why["sleeps"]
    assert "took more than" in why["endless"]
    assert "ended its process" in why["exits"]
    assert "not today" in why["unmade"]
    for name in ("expert", "random"):
        assert ladder[name]["suspended"] is None
        assert ladder[name]["games"] >= 160
    assert all(ladder[name]["games"] == 0 for name in NAMES)
    assert "is suspended: exits ended its process" in command("show")


def test_an_object_that_stalls_is_left_behind(tmp_path):
    def stalls(view):
        while True:
            time.sleep(0.01)

    league = League(NIM, str(tmp_path / "s.sqlite"), seed=1)
    league.add("random", "expert", stalls)
    ladder = league.run(games=10, patience=0.2)
    assert "took more than" in ladder.rung("stalls").suspended
    assert ladder.rung("random").games >= 10


# --- the store ---------------------------------------------------------------------------------


def test_tables_are_what_the_migrations_make(store_url):
    store = Store(store_url)
    with store.reading() as connection:
        assert compare_metadata(MigrationContext.configure(connection), METADATA) == []


def test_a_store_of_a_newer_kibitz_is_left_alone(store_url):
    store = Store(store_url)
    with store.writing() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(StoreFailed, match="made by a newer kibitz"):
        Store(store_url)


def test_a_store_waits_for_whoever_is_making_it(tmp_path):
    path = tmp_path / "leagues.sqlite"
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("CREATE TABLE beginning (number)")
    other.execute("BEGIN IMMEDIATE")  # SQLite refuses at once to change its journal now
    done = threading.Timer(0.3, other.execute, ["COMMIT"])
    done.start()
    assert four(path).members
    done.join()
    other.close()


def test_a_store_can_be_opened_by_many_at_once(store_url):
    failed = []

    def begin(number: int) -> None:
        try:
            four(store_url)
        except Exception as error:
            failed.append(error)

    threads = [threading.Thread(target=begin, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert [member.name for member in four(store_url).members] == list(FOUR)


def test_what_is_no_store_is_told(tmp_path):
    (tmp_path / "text.sqlite").write_text("this is no database, whatever its name says " * 50)
    with pytest.raises(StoreFailed, match="cannot be used"):
        Store(str(tmp_path / "text.sqlite"))
    with pytest.raises(Misuse, match="SQLite file or a PostgreSQL"):
        Store("mysql://me@here/db")
    for forgotten in ("", "sqlite://", "sqlite:///:memory:"):
        with pytest.raises(Misuse, match="name of a file"):
            Store(forgotten)
    with pytest.raises(Misuse, match="no address"):
        Store("postgresql://[::1/x")
    with pytest.raises(Misuse, match="To begin one: kibitz league GAME run"):
        Store(str(tmp_path / "none.sqlite"), make=False)
    with pytest.raises(StoreFailed, match="cannot be used"):
        Store(f"postgresql://kibitz:secret@/x?host={tmp_path}")
    with pytest.raises(StoreFailed) as told:
        Store(f"postgresql://kibitz:secret@/x?host={tmp_path}")
    assert "secret" not in str(told.value)


def test_another_version_of_a_game_never_mixes_in(tmp_path, monkeypatch):
    path = str(tmp_path / "s.sqlite")
    four(path)
    newer = kibitz.game("nim", rows="1,2,3")
    object.__setattr__(newer, "version", newer.version + 1)
    with pytest.raises(Misuse, match="results of two versions do not compare"):
        League(newer, path)
    with pytest.raises(Misuse, match="has the seed 5, not 6"):
        League(NIM, path, seed=6)
    with pytest.raises(Misuse, match="is one of nim with"):
        League(kibitz.game("nim"), path, NIM.described())
    assert League(kibitz.game("nim"), path).name == "nim"


# --- several workers ---------------------------------------------------------------------------


def planned(store: str) -> tuple[Book, int]:
    league = four(store)
    ids = [member.id for member in league.members]
    assert league.book.plan(1, "robin", [((ids[0], ids[1]), 1, 2, 0), ((ids[2], ids[3]), 2, 2, 0)])
    last = league.book.last_round()
    return league.book, last.id


def test_a_match_is_claimed_by_one(store_url):
    book, round_id = planned(store_url)
    other = four(store_url).book
    first, second = book.claim(round_id), other.claim(round_id)
    assert first.id != second.id
    assert book.claim(round_id) is None
    assert not book.plan(1, "robin", [])  # somebody has
    points = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert book.finish(first, points, 8, 0.1, "0")
    assert not book.finish(first, points, 8, 0.1, "0")  # it counts once
    assert not book.finish(second, points, 8, 0.1, "0")  # it is the other's
    other.give_back()
    assert book.claim(round_id).id == second.id
    assert book.states(round_id) == {"played": 1, "claimed": 1}


def test_matches_of_a_worker_that_is_gone_go_to_others(store_url, monkeypatch):
    book, round_id = planned(store_url)
    other = four(store_url).book
    lost = other.claim(round_id)
    kept = book.claim(round_id)
    assert book.claim(round_id) is None  # the other may well be playing
    with book.store.writing() as connection:  # its last sign of life was long ago
        long_ago = LEASE + 1
        connection.execute(
            sa.update(WORKERS)
            .where(WORKERS.c.name == other.worker)
            .values(seen_at=WORKERS.c.seen_at - long_ago)
        )
    taken = book.claim(round_id)
    assert taken.id == lost.id != kept.id
    points = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert not other.finish(lost, points, 8, 0.1, "0")  # too late
    assert book.finish(taken, points, 8, 0.1, "0")


def test_a_process_that_is_no_more_is_noticed_at_once(store_url):
    book, round_id = planned(store_url)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    other = four(store_url).book
    lost = other.claim(round_id)
    with book.store.writing() as connection:
        connection.execute(
            sa.update(WORKERS).where(WORKERS.c.name == other.worker).values(process=gone.pid)
        )
    assert {book.claim(round_id).id, book.claim(round_id).id} >= {lost.id}


def test_matches_of_the_round_in_which_somebody_failed_do_not_count(store_url):
    book, round_id = planned(store_url)
    first = book.claim(round_id)
    points = np.array([[1.0, -1.0], [-1.0, 1.0]])
    assert book.finish(first, points, 8, 0.1, "0")
    second = book.claim(round_id)
    book.suspend(first.lineup[0], "it failed")
    assert book.fail(second, 0, "it failed")
    assert not book.fail(second, 1, "it failed")  # that match does not count any more
    assert not book.finish(second, points, 8, 0.1, "0")
    assert book.states(round_id) == {"void": 2}
    with book.store.reading() as connection:
        assert connection.execute(sa.select(sa.func.count()).select_from(RESULTS)).scalar() == 0
