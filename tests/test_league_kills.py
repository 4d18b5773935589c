"""A league is killed again and again, and shared by several processes: nothing is lost or doubled.

Each league must come out bit for bit as one that was left in peace.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sqlalchemy as sa

import kibitz
from kibitz.league import League
from kibitz.league.store import Store
from kibitz.league.tables import MATCHES, RESULTS, WORKERS
from tests import servers
from tests.test_league import all_results

pytestmark = pytest.mark.long
KILLS = 20 if os.environ.get("CI") else 6  # each takes some seconds
SCRIPT = """
import sys
import kibitz
from kibitz.league import League
league = League(kibitz.game("nim"), sys.argv[1], seed=3)
league.add("expert", "random", "take-one", "gabriele", "mcts:sims=40")
league.run(games=320, each=8, cores=int(sys.argv[2]))
"""


def player(store: str, cores: int = 2) -> subprocess.Popen:
    return subprocess.Popen([sys.executable, "-c", SCRIPT, store, str(cores)])


def finished(store: str) -> League:
    for process in [player(store)]:
        assert process.wait(300) == 0
    return League(kibitz.game("nim"), store, make=False)


def all_ratings(league: League) -> list[tuple]:
    """Give the ladders after all rounds."""
    names = {member.id: member.name for member in league.members}
    return [
        (names[row.member], *(getattr(row, name) for name in row.__slots__ if name != "member"))
        for row in league.book.history()
    ]


def check(league: League, peaceful: list[tuple], ratings: list[tuple]) -> None:
    """Every match that was planned was played once, and no claim is left."""
    assert all_results(league) == peaceful
    assert all_ratings(league) == ratings
    with league.store.reading() as connection:
        states = connection.execute(sa.select(MATCHES.c.state)).scalars().all()
        results = connection.execute(sa.select(RESULTS.c.match)).scalars().all()
    assert states == ["played"] * len(peaceful)
    assert len(results) == len(set(results)) == len(peaceful)


@pytest.fixture(scope="module")
def peaceful(tmp_path_factory) -> tuple[list[tuple], list[tuple]]:
    league = finished(str(tmp_path_factory.mktemp("peaceful") / "s.sqlite"))
    results = all_results(league)
    assert len(results) == 100
    return results, all_ratings(league)


def played(store: Store) -> int:
    with store.reading() as connection:
        return connection.execute(sa.select(sa.func.count()).select_from(RESULTS)).scalar_one()


def no_workers_of(parent: int) -> bool:
    """Tell whether all processes that a league had started are gone, soon after it is."""
    for _ in range(100):
        found = subprocess.run(["pgrep", "-f", f"kibitz-{parent}-"], check=False, text=True)
        if found.returncode:
            return True
        time.sleep(0.1)
    return False


def killed_again_and_again(url: str, seed: int) -> int:
    """Kill a league at random moments, most of them while it plays; give how often it played."""
    chance = random.Random(seed)
    store = Store(url)
    useful = 0
    for _ in range(KILLS):
        process = player(url, cores=1)
        before = played(store)
        more, late = chance.randrange(5), chance.uniform(0, 0.3)  # 0: while it is starting
        while played(store) < before + more:
            assert process.poll() is None
            time.sleep(0.02)
        time.sleep(late)
        process.send_signal(signal.SIGKILL)
        process.wait()
        assert no_workers_of(process.pid)
        useful += played(store) > before
    return useful


def test_killed_at_random_moments(tmp_path, postgres_server, peaceful):
    name = "kibitz_killed"
    urls = [str(tmp_path / "s.sqlite"), servers.new_database(postgres_server, name)]
    try:
        with ThreadPoolExecutor() as pool:
            useful = list(pool.map(killed_again_and_again, urls, (1, 2)))
        assert min(useful) >= KILLS // 2  # most lives got somewhere
        for url in urls:
            check(finished(url), *peaceful)
    finally:
        servers.drop_database(postgres_server, name)


def test_four_processes_at_once(postgres_server, peaceful):
    name = "kibitz_four"
    url = servers.new_database(postgres_server, name)
    try:
        Store(url)
        processes = [player(url, cores=1) for _ in range(4)]
        assert [process.wait(300) for process in processes] == [0, 0, 0, 0]
        league = League(kibitz.game("nim"), url, make=False)
        check(league, *peaceful)
        with league.store.reading() as connection:
            assert connection.execute(sa.select(WORKERS)).all() == []  # all have signed off
    finally:
        servers.drop_database(postgres_server, name)
