"""A buffer full of decisions: boards played by the policy, on all cores."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kibitz.core.chance import WORDS, agents_seed
from kibitz.core.errors import AgentFailed, BadModel, BrokenRules, Misuse
from kibitz.core.game import Game
from kibitz.core.record import flaw_of_cells
from kibitz.core.table import Table
from kibitz.neural.backend import aligned
from kibitz.neural.boards import (
    CHUNK,
    ENDLESS,
    ILLEGAL,
    LATEST,
    NO_ROUNDS,
    NONE,
    PAST,
    TALLY,
    advantages,
    best_numbers,
    deal_boards,
    describe_at,
    gather,
    gather_chosen,
    lambda_returns,
    look_at,
    pick,
    play_boards,
)
from kibitz.neural.teacher import Teacher
from kibitz.play.aims import payment_of
from kibitz.play.rivals import Rivals

WORTH_THREADS = 2e-3  # seconds of work; less is done sooner by one thread
ADAPT = 0.05  # how fast the scale of rewards follows

# What thinks: features [n, features], options [chunks, CHUNK, ..], owner [chunks]; it gives numbers
# and values.
Think = Callable[[np.ndarray, np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def bucket(count: int) -> int:
    """Round a number of chunks up to one of few sizes, since each is compiled for."""
    step = max(32, 1 << max(0, count.bit_length() - 3))
    return -(-count // step) * step


class Opponents(Rivals):
    """Who sits at the other seats, board by board: `self`, `past`, or names of agents."""

    def __init__(self, game: Game, text: str, boards: int) -> None:
        names = [name.strip() for name in text.split("+")]
        named = [name for name in names if name not in ("self", "past")]
        super().__init__(game, named)
        numbers = iter(range(len(named)))
        selves = {"self": LATEST, "past": PAST}
        codes = [selves[name] if name in selves else next(numbers) for name in names]
        if len(names) > boards:
            raise Misuse(
                f"{text} are {len(names)} shares, which need at least as many boards, not {boards}."
            )
        # Boards where an earlier self may be to move come first.
        shares = np.array(sorted(codes, key=lambda code: (code != PAST, code)), np.int64)
        self.rivals = np.repeat(shares, -(-boards // len(shares)))[:boards]
        if boards % len(shares):
            edges = np.linspace(0, boards, len(shares) + 1).astype(int)
            self.rivals = np.concatenate(
                [np.full(b - a, code) for code, a, b in zip(shares, edges, edges[1:], strict=False)]
            )
        self.past_boards = int((self.rivals == PAST).sum())


class Boards:
    """Many games at once, and the decisions of the last rollout.

    Decisions lie in arrays [steps + 1, boards]; the last step is only looked at, for what the
    positions there are worth. Options lie in chunks, `begins` says where those of a decision do.
    """

    def __init__(
        self, game: Game, *, boards: int, steps: int, seed: int, opponents: str, aim: str,
        rewards: str, rounds: bool = False, opening: int = 0, ahead: bool = False,
        cores: int | None = None, teacher: str = "",
    ) -> None:  # fmt: skip
        if not game.is_compiled:
            raise Misuse(f"{game.name} is not compiled, and boards are; see docs/add-a-game.md.")
        self.game = game
        self.seed, self.own_seed = seed, agents_seed(seed)
        self.size, self.steps, self.opening = boards, steps, opening
        self.opponents = Opponents(game, opponents, boards)
        payment = payment_of(game, aim, rewards)
        self.aim, self.count, self.amounts = payment.aim, payment.count, payment.amounts
        self.rounds = NO_ROUNDS
        if rounds and game.rounds is not None:
            named = (game.rounds.number, game.rounds.points)
            self.rounds = np.array([*map(game.layout.start, named), game.rounds.sign])
        self.cores = min(cores or os.cpu_count() or 1, boards)
        self._pool = ThreadPoolExecutor(self.cores) if self.cores > 1 else None
        self._took: dict[str, float] = {}  # seconds of each kind of work on one core
        # Threads must not share these: slicing counts references.
        self._weights = [self.opponents.weights.copy() for _ in range(self.cores)]
        most, seats, rows = game.bound("most_legal"), game.players, (steps + 1, boards)
        self.ahead = ahead
        self.prospects = 1 + game.bound("features") if ahead else game.bound("prospects")
        self.by_number = 0 if self.prospects else game.bound("actions")
        self.blank = game.blank()
        self.states = np.zeros((boards, game.layout.size), np.int16)
        self.views = np.zeros_like(self.states)
        self.deals = np.zeros(boards, np.int64)
        self.rngs = np.zeros((boards, WORDS), np.int64)
        self.who = np.zeros((boards, seats), np.int64)
        self.memory = np.zeros((boards, seats, self.opponents.memory), np.int64)
        self.held = np.zeros((boards, seats))
        self.last = np.full((boards, seats), NONE)
        self.tally = np.zeros((boards, len(TALLY)))
        self.features = aligned((*rows, game.bound("features")), np.float32)
        self.features[:] = 0.0
        self.legal = np.zeros((*rows, most), np.int32)
        self.counts = np.zeros(rows, np.int64)
        self.begins = np.zeros(rows, np.int64)
        self.options = np.zeros((0, self.prospects), np.float32)
        self.seat_of = np.zeros(rows, np.int64)
        self.mine = np.zeros(rows, np.bool_)
        self.follow = np.zeros(rows, np.int64)
        self.places = np.zeros(rows, np.int64)
        self.chances = np.zeros(rows, np.float32)
        self.values = np.zeros(rows, np.float32)
        self.rewards = np.zeros(rows)
        self.ended = np.zeros(rows, np.bool_)
        self.taken = np.zeros(rows, np.float32)  # the network's number for what was chosen
        self.best = np.zeros(rows, np.float32)  # and its greatest
        self.gains = np.zeros(rows)
        self.usable = np.zeros(rows, np.bool_)
        self.chosen = np.full(boards, NONE)
        self.teacher = None
        if teacher:
            self.teacher = Teacher(
                game, teacher, boards=boards, steps=steps, seed=self.own_seed, cores=self.cores
            )
        self.deviation = np.zeros(1)  # of what is earned from a decision on
        self.seconds = {"engine": 0.0, "network": 0.0}
        deal_boards(
            game.rules, self.states, self.blank, opening, most, self.seed, self.own_seed,
            self.deals, self.rngs, self.opponents.rivals, self.who, self.memory, self.last,
            self.rounds, self.aim, self.held,
        )  # fmt: skip
        self._step()  # named opponents who begin have moved now

    # --- what a checkpoint keeps ---------------------------------------------------------------

    KEPT = ("states", "deals", "rngs", "who", "memory", "held", "deviation")

    def kept(self) -> dict[str, np.ndarray]:
        """Give all that is needed to go on with the same games."""
        found = {f"boards.{name}": getattr(self, name) for name in self.KEPT}
        if self.teacher is not None:
            found |= {f"teacher.{name}": getattr(self.teacher, name) for name in Teacher.KEPT}
        return found

    def take_up(self, kept: Mapping[str, np.ndarray]) -> None:
        """Go on with games that were kept, if they can be."""
        who, rivals = kept["boards.who"], self.opponents.rivals[:, None]
        found = (
            ((who == LATEST) | (who == rivals)).all()
            and (who == LATEST).any(axis=1).all()
            and (kept["boards.deals"] >= 0).all()
            and (kept["boards.deviation"] >= 0.0).all()
        )
        for state in kept["boards.states"] if found else ():
            table = Table(self.game, state)
            # Compiled rules must never meet a state that cannot be.
            if flaw_of_cells(self.game, state.tolist(), begun=True) or self.game.flaw(table):
                found = False
        if not found:
            raise BadModel("The checkpoint is damaged: its games cannot be. Begin another run.")
        for name in self.KEPT:
            getattr(self, name)[:] = kept[f"boards.{name}"]
        if self.teacher is not None:
            for name in Teacher.KEPT:
                getattr(self.teacher, name)[:] = kept[f"teacher.{name}"]

    # --- playing -------------------------------------------------------------------------------

    def roll(
        self, think: Think, think_past: Think | None, past_boards: int, epsilon: float = 0.0,
        temperature: float = 1.0,
    ) -> None:  # fmt: skip
        """Fill the buffer with the policy's decisions and what came of them.

        epsilon: the share that is made by lot. temperature: of the others; 0 takes the best.
        """
        self.last[:] = NONE
        self.tally[:] = 0.0
        self.rewards[:] = 0.0
        self.ended[:] = False
        chunks = 0
        for t in range(self.steps + 1):
            began = time.perf_counter()
            self._look_at(t)
            if self.teacher is not None and t < self.steps:
                self._advise(self.teacher, t)
            chunks = self._lay_out(t, chunks)
            self.seconds["engine"] += time.perf_counter() - began
            began = time.perf_counter()
            owner, options = self._chunks(t, self.size, chunks)
            numbers, value = think(self.features[t], options, owner)
            self.values[t] = value
            past = numbers
            if think_past is not None and past_boards and t < self.steps:
                owner, options = self._chunks(t, past_boards, chunks)
                past, _ = think_past(self.features[t, :past_boards], options, owner)
            self.seconds["network"] += time.perf_counter() - began
            if t == self.steps:
                best_numbers(
                    t, numbers.ravel(), self.by_number, self.legal, self.counts, self.begins,
                    self.best,
                )  # fmt: skip
                break
            began = time.perf_counter()
            pick(
                t, 0, self.size, numbers.ravel(), past.ravel(), self.by_number, epsilon,
                temperature, self.mine, self.legal, self.counts, self.begins, self.rngs,
                self.chosen, self.places, self.chances, self.taken, self.best,
            )  # fmt: skip
            self._step()
            self.seconds["engine"] += time.perf_counter() - began

    def _look_at(self, t: int) -> None:
        self._spread(
            "look",
            lambda first, last, _: look_at(
                self.game.rules, t, first, last, self.states, self.views, self.features,
                self.legal, self.counts, self.seat_of, self.mine, self.follow, self.who, self.last,
            )
        )  # fmt: skip

    def _advise(self, teacher: Teacher, t: int) -> None:
        self._spread(
            "advise", lambda first, last, worker: teacher.advise(self, t, first, last, worker)
        )
        teacher.check()

    def _lay_out(self, t: int, chunks: int) -> int:
        """Describe all options of a step, behind those of earlier steps; give where they end."""
        if self.by_number:
            return 0
        ends = chunks + np.cumsum(-(-self.counts[t] // CHUNK))
        self.begins[t, 0], self.begins[t, 1:] = chunks, ends[:-1]
        if ends[-1] * CHUNK > len(self.options):
            room = np.zeros((int(ends[-1] * CHUNK * 1.5) + 4096, self.prospects), np.float32)
            room[: chunks * CHUNK] = self.options[: chunks * CHUNK]
            self.options = room
        self._spread(
            "describe",
            lambda first, last, _: describe_at(
                self.game.rules, t, first, last, self.views, self.legal, self.counts, self.begins,
                self.ahead, self.options,
            )
        )  # fmt: skip
        return int(ends[-1])

    def _chunks(self, t: int, boards: int, end: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the owners and options of the first boards' chunks at a step, padded."""
        if self.by_number:
            return np.zeros(0, np.int32), np.zeros((0, CHUNK, 0), np.float32)
        begin = int(self.begins[t, 0])
        if boards < self.size:
            end = int(self.begins[t, boards])
        padded = bucket(end - begin)
        owner = np.full(padded, boards, np.int32)
        owner[: end - begin] = np.repeat(
            np.arange(boards, dtype=np.int32), -(-self.counts[t, :boards] // CHUNK)
        )
        options = np.zeros((padded, CHUNK, self.prospects), np.float32)
        options[: end - begin] = self.options[begin * CHUNK : end * CHUNK].reshape(
            -1, CHUNK, self.prospects
        )
        return owner, options

    def _step(self) -> None:
        opponents, trouble = self.opponents, np.zeros((self.cores, 3), np.int64)
        most, most_plies = self.legal.shape[2], self.game.bound("most_plies")

        def play(first: int, last: int, worker: int) -> None:
            play_boards(
                self.game.rules, opponents.chooses, opponents.notices, opponents.listens,
                self._weights[worker], opponents.starts, self.count, self.amounts, self.aim,
                first, last, self.chosen, self.states, self.blank, self.opening, most, self.seed,
                self.own_seed, self.deals, self.rngs, opponents.rivals, self.who, self.memory,
                self.last, self.rounds, self.held, self.rewards, self.ended, self.tally, most_plies,
                trouble[worker],
            )  # fmt: skip

        self._spread("play", play)
        for what, agent, action in trouble.tolist():
            if what == ENDLESS:
                raise BrokenRules(f"{self.game.described()} ran past its {most_plies} plies.")
            if what == ILLEGAL:
                raise AgentFailed(f"{opponents.names[agent]} chose {action}, which is not legal.")

    def _spread(self, kind: str, work: Callable[[int, int, int], None]) -> None:
        """Do the work for all boards, in as many threads as there are cores, if that is worth it.

        The result is the same either way.
        """
        if self._pool is None or self._took.get(kind, 0.0) < WORTH_THREADS:
            began = time.perf_counter()
            work(0, self.size, 0)
            self._took[kind] = time.perf_counter() - began
            return
        edges = np.linspace(0, self.size, self.cores + 1).astype(int).tolist()
        list(self._pool.map(work, edges[:-1], edges[1:], range(self.cores)))

    # --- learning from it ----------------------------------------------------------------------

    @property
    def scale(self) -> float:
        """What rewards are multiplied by, so that what is earned from a decision on is about 1."""
        return 1.0 / float(self.deviation[0]) if self.deviation[0] else 1.0

    def judge(self, gamma: float, lam: float, by_options: bool = False) -> np.ndarray:
        """Work out advantages and what was earned; give the rows to learn from.

        by_options: go by the value of the best option, not by that of the position.
        """
        if not self.deviation[0]:  # nothing is known of the rewards: look at them alone
            self.deviation[0] = self._earned(gamma, 1.0, np.zeros_like(self.values), False)
        seen = self._earned(gamma, lam, self.values, by_options) / self.scale
        if self.deviation[0] and self.rewards.any():  # else it would follow the values alone
            self.deviation[0] += ADAPT * (seen - self.deviation[0])
        return np.flatnonzero(self.usable)

    def _earned(self, gamma: float, lam: float, values: np.ndarray, by_options: bool) -> float:
        """Work out advantages; give how much what is earned differs between decisions."""
        known = (self.mine, self.follow, self.ended, self.gains, self.usable)
        settings = (gamma, lam, self.steps, self.scale, self.rewards, values)
        if by_options:
            lambda_returns(*settings, self.taken, self.best, *known)
        else:
            advantages(*settings, *known)
        return float(np.std((self.gains + values)[self.usable])) if self.usable.any() else 0.0

    def samples(self, rows: np.ndarray, room: int) -> tuple[np.ndarray, ...]:
        """Give features, options, owners, known and chosen of rows [samples, n].

        All are stacked, in arrays with room for so many samples and padded to few sizes.
        """
        n = rows.shape[1]
        features = aligned((room, n, self.features.shape[2]), np.float32)
        chosen = aligned((room, n), np.int32)
        if self.by_number:
            padded, known = 0, aligned((room, n, self.by_number), np.bool_)
        else:
            chunks = -(-self.counts.ravel()[rows] // CHUNK)
            padded = bucket(int(chunks.sum(axis=1).max()))
            known = aligned((room, padded, CHUNK), np.bool_)
        options = aligned((room, padded, CHUNK, self.prospects), np.float32)
        owner = aligned((room, padded), np.int32)
        for place, of in enumerate(rows):
            gather(
                of, self.features, self.counts, self.begins, self.options, self.legal, self.places,
                features[place], options[place], owner[place], known[place], chosen[place],
            )  # fmt: skip
        return features, options, owner, known, chosen

    def advised(self, rows: np.ndarray, chosen: np.ndarray) -> np.ndarray:
        """Give what the teacher would have chosen in rows [samples, n], in the form of `chosen`."""
        assert self.teacher is not None
        advised = self.teacher.advised.ravel()[rows]
        if self.by_number:
            legal = self.legal.reshape(-1, self.legal.shape[2])
            return legal[rows, advised].astype(np.int32)
        return (chosen + advised - self.places.ravel()[rows]).astype(np.int32)

    def taken_options(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Give the features, the option that was taken and its number, of some rows."""
        n = len(rows)
        features = np.empty((n, self.features.shape[2]), np.float32)
        options = np.zeros((n, self.prospects), np.float32)
        actions = np.empty(n, np.int32)
        gather_chosen(
            rows, self.features, self.begins, self.options, self.legal, self.places,
            self.by_number, features, options, actions,
        )  # fmt: skip
        return features, options, actions
