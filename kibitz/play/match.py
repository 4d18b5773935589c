"""Matches: many games between the same agents, fairly seated, with honest intervals."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import Any, TypeVar

import numpy as np

from kibitz.core.agent import Agent, CompiledAgent, callable_in
from kibitz.core.chance import Chance, agents_seed, checked_seed
from kibitz.core.compiled import Pointers, in_python, is_compiled
from kibitz.core.errors import AgentFailed, BrokenRules, KibitzError, Misuse
from kibitz.core.game import MOST_SEATS, Game
from kibitz.core.registry import find_agent
from kibitz.core.table import View
from kibitz.play.loop import (
    ACTION,
    ENDLESS,
    GAME,
    ILLEGAL,
    SEAT_OF,
    WHAT,
    play_games,
)
from kibitz.play.result import MatchResult, summarise
from kibitz.play.seats import check_apart
from kibitz.play.workers import NOBODY, in_workers

MOST_RESULTS = 100_000_000  # points kept for the intervals: games times seats
CHUNK_SECONDS = 0.1  # how long a thread plays before it reports
WORTH_WAITING = 1.0  # seconds to play before guessing how long the rest will take
WORTH_WORKERS = 3.0  # seconds that must remain before starting further processes pays

Progress = Callable[[int, int], Any]
T = TypeVar("T")


def match(
    game: Game,
    agents: Sequence[Any],
    games: int = 1000,
    *,
    seed: int | None = None,
    duplicate: bool = True,
    cores: int | None = None,
    progress: Progress | None = None,
) -> MatchResult:
    """Play many games between agents and say who is better, by how much, and how sure that is.

    Give an agent for each seat, as names (`"random"`, `"mcts:sims=100"`), model files, `Agent`
    objects or classes, or functions from a view to an action; fewer than seats are repeated in
    turn. Seats rotate; with `duplicate` every deal is played once in each rotation, which takes
    luck out of the difference, and `games` is rounded up to whole rounds. The same seed gives the
    same result on any number of cores.
    """
    table = seated(game, agents)
    if not 1 <= games <= MOST_RESULTS // game.players:
        raise Misuse(
            f"A match has 1 to {MOST_RESULTS // game.players:,} games, not {games:,}. "
            "For more, play several with different seeds."
        )
    if cores is not None and cores < 1:
        raise Misuse(f"A match needs at least 1 core, not {cores}.")
    seed = checked_seed(seed)
    seats = game.players
    games = -(-games // seats) * seats
    points = np.zeros((games, seats))
    plies = np.zeros(games, np.int32)
    runner = Runner(game, table, seed, duplicate)
    runner.play(0, points[:0], plies[:0])  # loads what is compiled: speed is that of playing
    began = time.perf_counter()
    if runner.is_compiled:
        _in_threads(runner, points, plies, cores or os.cpu_count() or 1, progress)
    else:
        _in_turn(runner, agents, points, plies, cores or os.cpu_count() or 1, progress)
    seconds = time.perf_counter() - began
    names = [agent.name for agent in table]
    return summarise(game, names, seed, duplicate, points, plies, seconds)


def seated(
    game: Game, agents: Sequence[Any], note: Callable[[int], None] | None = None
) -> list[Agent]:
    """Make the agents for every seat; fewer than seats are repeated in turn.

    `note` is told which of them is being made.
    """
    if isinstance(agents, str) or not agents:
        raise Misuse("A match needs a list of agents, one for each seat.")
    if len(agents) > game.players:
        if game.players == 1:
            raise Misuse(
                f"{game.described()} has one seat; {len(agents)} agents are too many. Match them "
                "one at a time: with the same seed they get the same deals."
            )
        raise Misuse(
            f"{game.described()} has {game.players} seats; {len(agents)} agents are too many."
        )
    made = []
    for seat in range(game.players):
        if note is not None:
            note(seat % len(agents))
        try:
            made.append(find_agent(agents[seat % len(agents)], game))
        except KibitzError as error:
            error.place = seat % len(agents)
            raise
    # What compiled agents remember lies in the loop, by seat.
    check_apart([agent for agent in made if not isinstance(agent, CompiledAgent)])
    return made


class Runner:
    """Agents at their seats, ready to play any of a match's games.

    `note` is told whose turn it is to think, by place, and `NOBODY` when that is over. Nothing then
    runs compiled as a whole, so that whoever watches knows at every moment whom to blame.
    """

    def __init__(
        self,
        game: Game,
        agents: Sequence[Agent],
        seed: int,
        duplicate: bool,
        note: Callable[[int], None] | None = None,
    ) -> None:
        self.game = game
        self.note = note
        self.agents = list(agents)
        self.seed = seed
        self.duplicate = duplicate
        compiled = [agent for agent in agents if isinstance(agent, CompiledAgent)]
        self.could_be_compiled = game.is_compiled and all(
            isinstance(agent, CompiledAgent)
            and is_compiled(agent.kind.choose)
            and is_compiled(agent.kind.notice)
            for agent in agents
        )
        self.is_compiled = self.could_be_compiled and note is None
        own = [agent.weights if agent in compiled else np.zeros(0, np.float32) for agent in agents]
        self.weights = np.concatenate([*own, np.zeros(1, np.float32)])
        self.starts = np.cumsum([0, *map(len, own)])
        self.memory = max([1, *(agent.kind.memory for agent in compiled)])
        self.listens = np.array([listens(agent) and not game.secret for agent in agents])
        places = [*range(len(agents)), *[0] * (MOST_SEATS - len(agents))]
        self.chooses = Pointers(map(self._choose, places))
        self.notices = Pointers(map(self._notice, places))
        self.agents_seed = agents_seed(seed)
        self.bounds = game.bound("most_legal"), game.bound("most_plies")
        self._own = threading.local()
        self.blank = game.blank()
        self.rules = game.rules

    def _noted(self, ask: Any, place: int) -> Any:
        note = self.note
        if note is None:
            return ask

        def asked(*given):
            note(place)
            answer = ask(*given)
            note(NOBODY)
            return answer

        return asked

    def _choose(self, place: int) -> Any:
        agent = self.agents[place]
        if isinstance(agent, CompiledAgent):
            return self._noted(callable_in(self.game, agent.kind.choose), place)

        def choose(rules, view, actions, n, weights, memory, rng):
            # The agent gets a copy: whatever it does to its view is its own affair.
            answer = self.asking(place, agent.choose, View(self.game, view.copy()))
            if isinstance(answer, bool) or not isinstance(answer, int | np.integer):
                said = f"{agent.name} answered {answer!r}, which is no action number."
                raise AgentFailed(said).of(place)
            return int(answer)

        return choose

    def _notice(self, place: int) -> Any:
        agent = self.agents[place]
        if isinstance(agent, CompiledAgent):
            return self._noted(callable_in(self.game, agent.kind.notice), place)

        def notice(view, actor, action, memory):
            seen = View(self.game, view.copy())
            self.asking(place, agent.notice, seen, int(actor), int(action))

        return notice

    def play(self, first: int, points: np.ndarray, plies: np.ndarray) -> None:
        """Play as many games as there are rows, from game number `first`."""
        if self.is_compiled:
            self._run(play_games, first, points, plies)
            return
        seats = self.game.players
        for place in range(len(points)):
            game = first + place
            for place_of_agent, agent in enumerate(self.agents):
                seat = (place_of_agent + game) % seats
                rng = Chance(self.agents_seed, game, 1 + seat)
                self.asking(place_of_agent, agent.begin, seat, rng)
            rows = slice(place, place + 1)
            try:
                self._run(in_python(play_games), game, points[rows], plies[rows])
            except AgentFailed as error:
                where = f"game {game} of seed {self.seed}"
                told = AgentFailed(f"{error} This was in {where}.")
                told.place = error.place
                raise told from error

    def asking(self, place: int, ask: Callable[..., T], *given: Any) -> T:
        """Ask an agent something, noting that it thinks; whatever it raises becomes its failure."""
        try:
            return self._noted(ask, place)(*given)
        except KibitzError as error:
            error.place = place
            raise
        except Exception as error:
            raise AgentFailed(f"{self.agents[place].name} raised {error!r}.").of(place) from error

    def _run(self, loop: Any, first: int, points: np.ndarray, plies: np.ndarray) -> None:
        trouble = np.zeros(4, np.int64)
        loop(
            self.rules, self.chooses, self.notices, self.listens, self.own_weights(), self.starts,
            self.fresh_memory(), self.blank, self.seed, self.agents_seed, first, self.duplicate,
            *self.bounds, points, plies, trouble,
        )  # fmt: skip
        self.check(trouble)

    def own_weights(self) -> np.ndarray:
        """Give the weights of all agents, a copy for each thread."""
        if not hasattr(self._own, "weights"):
            self._own.weights = self.weights.copy()
        return self._own.weights

    def fresh_memory(self) -> np.ndarray:
        """Make the memory of all agents, [seats, numbers], for one thread."""
        return np.zeros((len(self.agents), self.memory), np.int64)

    def check(self, trouble: np.ndarray) -> None:
        """Raise what a loop has reported, if anything."""
        if trouble[WHAT]:
            raise self._trouble(trouble)

    def _trouble(self, trouble: np.ndarray) -> KibitzError:
        game, seat = int(trouble[GAME]), int(trouble[SEAT_OF])
        where = f"in game {game} of seed {self.seed}"
        place = (seat - game) % self.game.players
        if trouble[WHAT] == ILLEGAL:
            return AgentFailed(
                f"{self.agents[place].name} at seat {seat} answered with action "
                f"{int(trouble[ACTION])}, which is not legal, {where} of {self.game.described()}."
            ).of(place)
        if trouble[WHAT] == ENDLESS:
            return BrokenRules(
                f"{self.game.described()} ran past its {self.bounds[1]} plies {where}."
            )
        return BrokenRules(f"{self.game.described()}: seat {seat} has no legal move {where}.")


def listens(agent: Agent) -> bool:
    """Tell whether an agent follows what others do."""
    if isinstance(agent, CompiledAgent):
        from kibitz.core.agent import notice_nothing

        return agent.kind.notice is not notice_nothing
    return type(agent).notice is not Agent.notice


def _in_threads(
    runner: Runner, points: np.ndarray, plies: np.ndarray, cores: int, progress: Progress | None
) -> None:
    """Play compiled games on all cores: compiled loops hold no interpreter lock."""
    total = len(points)
    began = time.perf_counter()
    pace = 0.0  # games a second on one core; nothing is known of it yet
    done = next_game = 0
    with ThreadPoolExecutor(cores) as pool:
        running: dict[Future[None], int] = {}
        try:
            while done < total:
                while next_game < total and len(running) < 2 * cores:
                    size = min(total - next_game, max(8, int(pace * CHUNK_SECONDS)))
                    rows = slice(next_game, next_game + size)
                    future = pool.submit(runner.play, next_game, points[rows], plies[rows])
                    running[future] = size
                    next_game += size
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    done += running.pop(future)
                    future.result()
                pace = done / cores / max(time.perf_counter() - began, 1e-6)
                if progress is not None:
                    progress(done, total)
        finally:
            pool.shutdown(cancel_futures=True)


def _in_turn(
    runner: Runner,
    agents: Sequence[Any],
    points: np.ndarray,
    plies: np.ndarray,
    cores: int,
    progress: Progress | None,
) -> None:
    """Play games with Python agents here, or in further processes where names can be passed on."""
    total = len(points)
    began = time.perf_counter()
    for done in range(total):
        runner.play(done, points[done : done + 1], plies[done : done + 1])
        if progress is not None:
            progress(done + 1, total)
        spent = time.perf_counter() - began
        left = spent / (done + 1) * (total - done - 1)
        by_name = all(isinstance(who, str | os.PathLike) for who in agents)
        if cores > 1 and by_name and spent > WORTH_WAITING and left > WORTH_WORKERS:
            names = [os.fspath(who) for who in agents]
            in_workers(
                runner.game, names, runner.seed, runner.duplicate, done + 1, points, plies,
                cores, progress,
            )  # fmt: skip
            return
