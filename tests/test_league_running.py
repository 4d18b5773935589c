"""How a league keeps its pace: warm processes, shared matches, ratings that come later."""

from __future__ import annotations

import gc
import os
import signal
import time
from pathlib import Path

import pytest
import sqlalchemy as sa

from kibitz.core.errors import AgentFailed, KibitzError
from kibitz.league import League
from kibitz.league.claims import Claim
from kibitz.league.ongoing import Ongoing
from kibitz.league.tables import RATINGS, ROUNDS
from kibitz.play.workers import Worker, WorkerEnded
from tests.lengths import first_always
from tests.test_league import NIM, all_results, four


def begun(folder: Path, name: str = "s", *agents: str) -> League:
    league = League(NIM, str(folder / f"{name}.sqlite"), seed=5)
    league.add(*(agents or ("random", "take-one", "expert")))
    return league


@pytest.mark.long
def test_processes_wait_for_the_next_run_and_end_with_the_league(tmp_path, monkeypatch):
    league = begun(tmp_path)
    league.run(games=20, cores=2)
    first = [worker.process for worker in league._idle]
    assert 1 <= len(first) <= 2
    league.run(games=40, cores=1)
    assert {worker.process.pid for worker in league._idle} == {one.pid for one in first}
    monkeypatch.setenv("KIBITZ_ELSEWHERE", "1")  # a process that was started now would see it
    league.run(games=60, cores=1)
    assert league._idle[-1].process not in first
    second = [worker.process for worker in league._idle]
    del league
    gc.collect()
    assert all(process.poll() is not None for process in [*first, *second])


@pytest.mark.long
def test_who_waits_and_is_killed_is_replaced(tmp_path):
    league = begun(tmp_path)
    league.run(games=20, cores=1)
    (waiting,) = league._idle
    os.kill(waiting.process.pid, signal.SIGKILL)
    assert league.run(games=40, cores=1).rung("random").games >= 40


@pytest.mark.long
def test_all_cores_play_the_last_match_of_a_round(tmp_path, monkeypatch):
    """One match a round: with several cores its games are shared, and stay the same games."""
    where: list[int] = []
    play = Worker.play

    def played(worker: Worker, *given) -> bool:
        where.append(worker.process.pid)
        return play(worker, *given)

    monkeypatch.setattr(Worker, "play", played)
    leagues = [begun(tmp_path, name, "random", "take-one") for name in ("one", "three")]
    ladders = [
        league.run(games=400_000, each=200_000, cores=cores)
        for league, cores in zip(leagues, (1, 3), strict=True)
    ]
    assert all_results(leagues[0]) == all_results(leagues[1])
    assert ladders[0] == ladders[1]
    assert len(set(where)) == 4


def test_agents_in_python_are_not_shared(tmp_path, monkeypatch):
    """They may remember earlier games of a match, so one process plays them in order."""
    parts: list[tuple[int, int, int]] = []
    play = Worker.play

    def played(worker: Worker, about, first, points, *given) -> bool:
        parts.append((worker.process.pid, first, len(points)))
        return play(worker, about, first, points, *given)

    monkeypatch.setattr(Worker, "play", played)
    league = begun(tmp_path, "s", "random", "mcts:sims=2")
    league.run(games=40, each=40, cores=3)
    assert [part[1:] for part in parts] == [(0, 2), (2, 38)]
    assert len({pid for pid, *_ in parts}) == 1


def test_the_earliest_failure_counts():
    """Somebody who helps may find one of another agent first; on one core it would be the other."""
    claim = Claim(id=1, seed=1, games=1000, sampled=0, lineup=(1, 2))
    match = Ongoing(claim, seats=2, cores=2, pace=1000.0)
    first, second = match.take(), match.take(helping=True)
    assert (first.start, first.stop) == (0, 250)
    assert second.start == first.stop
    match.fail(second, AgentFailed("the second").of(1))
    assert match.take() is None
    assert not match.is_over
    match.fail(first, AgentFailed("the first").of(0))
    assert match.is_over
    with pytest.raises(AgentFailed, match="the first"):
        match.check()


def test_parts_are_all_games_once_and_small_at_the_end():
    claim = Claim(id=1, seed=1, games=10_000, sampled=0, lineup=(1, 2))
    match = Ongoing(claim, seats=2, cores=2)
    probe = match.take()
    assert probe.stop == 2  # a deal
    assert match.take(helping=True) is None  # nobody knows yet whether games are compiled
    match.bring(probe, 0.001, compiled=True)
    parts = [probe]
    while (part := match.take(helping=True)) is not None:
        match.bring(part, (part.stop - part.start) / 10_000, compiled=True)
        parts.append(part)
    assert [part.start for part in parts[1:]] == [part.stop for part in parts[:-1]]
    assert parts[-1].stop == 10_000
    assert parts[-1].stop - parts[-1].start <= 400
    assert match.is_over


@pytest.mark.long
def test_a_process_that_ends_while_nobody_thinks_gets_one_more_chance(tmp_path, monkeypatch):
    ask, kills = Worker._ask, [1]

    def asked(worker: Worker, *given):
        if kills and kills.pop():
            worker.process.kill()
            worker.process.wait()
        return ask(worker, *given)

    monkeypatch.setattr(Worker, "_ask", asked)
    league, peaceful = begun(tmp_path), begun(tmp_path, "peaceful")
    assert league.run(games=20, cores=1) == peaceful.run(games=20, cores=1)
    kills += [1, 1]
    with pytest.raises(WorkerEnded, match=r"ended without an answer \(exit code -9\)"):
        league.run(games=40, cores=1)
    assert league.run(games=40) == peaceful.run(games=40)


def forget_ratings(league: League, after: int) -> None:
    """Leave a league as one that was killed before the rounds after this one were rated."""
    with league.store.writing() as connection:
        rounds = sa.select(ROUNDS.c.id).where(ROUNDS.c.number > after)
        connection.execute(sa.delete(RATINGS).where(RATINGS.c.round.in_(rounds)))
        connection.execute(sa.update(ROUNDS).where(ROUNDS.c.number > after).values(rated_at=None))


@pytest.mark.parametrize("pairing", first_always(["swiss", "robin"]))
def test_rounds_that_were_not_rated_are_rated_later(store_url, pairing):
    league = four(store_url)
    ladder = league.run(games=60, each=6, pairing=pairing)
    forget_ratings(league, ladder.rounds - 2)
    again = four(store_url)
    assert again.ladder().rounds == ladder.rounds - 2
    assert again.ladder().games == ladder.games  # what is not rated yet counts for the ladder
    assert again.run(games=60, each=6, pairing=pairing) == ladder


def test_a_ladder_can_be_had_while_a_round_is_rated(tmp_path):
    league, games = four(str(tmp_path / "s.sqlite")), []
    done = league.run(games=60, each=6, progress=lambda *_: games.append(league.ladder().games))
    assert games == sorted(games)
    assert games[-1] == done.games


def test_what_a_store_refuses_stops_the_run(tmp_path, monkeypatch):
    league = begun(tmp_path)
    finish = type(league.book).finish

    def refused(book, *given) -> bool:
        raise KibitzError("The disk is full.")

    monkeypatch.setattr(type(league.book), "finish", refused)
    began = time.monotonic()
    with pytest.raises(KibitzError, match="The disk is full"):
        league.run(games=20)
    assert time.monotonic() - began < 60
    monkeypatch.setattr(type(league.book), "finish", finish)
    assert league.run(games=20).rung("random").games >= 20
