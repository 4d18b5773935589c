"""Sparring: many games at once in which one seat is yours and agents have the others.

    sparring = Sparring(kibitz.game("tapnswap"), size=512, opponents=["tapper"], seed=1)
    while learning:
        actions = policy(sparring.features, sparring.masks)
        sparring.step(actions)
        learn(sparring.rewards, sparring.done)

Every step asks for one decision in each game; the others move on until the next one is due. All
arrays are made once and filled anew by every step.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from kibitz.core.chance import WORD, WORDS, agents_seed, below, checked_seed, sow
from kibitz.core.compiled import JIT, compiled, compiled_loop
from kibitz.core.errors import AgentFailed, BrokenRules, IllegalMove, Misuse
from kibitz.core.game import OVER, PLIES, SEAT, Game, copy_cells
from kibitz.core.voting import place_of
from kibitz.play.aims import EVENTS, payment_of, worth
from kibitz.play.batch import fill, first_illegal
from kibitz.play.rivals import Rivals

MINE = -1  # who sits at a seat, or else the number of a rival
NONE = -1  # no action: a game is to be dealt
ALONE = "self"  # in place of opponents: every seat is yours
NAMED = "random"  # the opponent, if none is named; with one seat it stands for nobody
ANY_SEAT = -1

# Places in `trouble`, filled when a game cannot go on.
WHAT, WHO, ACTION = range(3)
ILLEGAL, ENDLESS, IDLE, STUCK = 1, 2, 3, 4
MOST_IDLE = 10_000  # games in a row without a decision to take


@compiled()
def deal_game(
    rules, board, states, blank, seed, own_seed, deals, fixed, named, rngs, mine, who, memory
):
    """Deal the next game of a board, and say who sits where."""
    stream = (deals[board] * len(states) + board) & WORD
    deals[board] += 1
    rng = np.zeros(WORDS, np.int64)
    sow(rng, seed, stream, 0)
    copy_cells(blank, states[board])
    rules.deal(states[board], rng)
    seats = who.shape[1]
    sow(rng, own_seed, stream, 0)
    own = below(rng, seats) if fixed == ANY_SEAT else fixed
    mine[board] = own
    for step in range(seats):
        seat = (own + step) % seats
        who[board, seat] = MINE if step == 0 or named == 0 else (step - 1) % named
        sow(rngs[board, seat], own_seed, stream, 1 + seat)
        for number in range(memory.shape[2]):
            memory[board, seat, number] = 0


@compiled()
def play_seen(
    rules, notices, listens, action, board, state, view, who, memory, count, amounts, own, before,
    earned,
):  # fmt: skip
    """Play an action while those who listen look on; add what its events earn the seat `own`.

    earned: its first number is the sum, the others are for counting.
    """
    for seat in range(who.shape[1]):
        rival = who[board, seat]
        if rival >= 0 and listens[rival]:
            rules.look(state, seat, view)
            notices[rival](view, state[SEAT], action, memory[board, seat])
    if len(amounts) == 0:
        rules.play(state, action)
        return
    copy_cells(state, before)
    rules.play(state, action)
    counts = earned[1:]
    count(before, action, state, own, counts)
    for event in range(len(amounts)):
        earned[0] += counts[event] * amounts[event]


@compiled()
def until_mine(
    rules, chooses, notices, listens, weights, starts, board, state, view, actions, who, memory,
    rngs, most_plies, trouble, count, amounts, own_seat, before, earned,
):  # fmt: skip
    """Let the others move until the game is over or the next decision is due."""
    while state[SEAT] != OVER and who[board, state[SEAT]] != MINE:
        seat = state[SEAT]
        rival = who[board, seat]
        if state[PLIES] > most_plies:
            trouble[WHAT] = ENDLESS
            return
        rules.look(state, seat, view)
        n = rules.legal(view, actions)
        if n == 0:
            trouble[WHAT], trouble[WHO] = STUCK, seat
            return
        own = weights[starts[rival] : starts[rival + 1]]
        action = chooses[rival](
            rules, view, actions, n, own, memory[board, seat], rngs[board, seat]
        )
        if place_of(action, actions, n) < 0:
            trouble[WHAT], trouble[WHO], trouble[ACTION] = ILLEGAL, rival, action
            return
        play_seen(
            rules, notices, listens, action, board, state, view, who, memory, count, amounts,
            own_seat, before, earned,
        )  # fmt: skip


@compiled_loop
def spar(
    rules, chooses, notices, listens, weights, starts, first, last, chosen, states, blank, seed,
    own_seed, deals, fixed, named, rngs, mine, who, memory, most_legal, most_plies, aim, count,
    amounts, held, rewards, done, final, final_features, trouble, views, legal, counts, masks,
    features, mover,
):  # fmt: skip
    """Play the chosen action of each game and the others' until the next decision; look at that.

    One loop does it all: to be called from Python with this many agents costs more than some steps.
    """
    view = np.empty_like(blank)
    actions = np.empty(most_legal, np.int32)
    points = np.zeros(who.shape[1])
    before, earned = np.empty_like(blank), np.zeros(1 + len(amounts))
    for board in range(first, last):
        state = states[board]
        rewards[board] = 0.0
        done[board] = False
        if chosen[board] != NONE:
            own = mine[board]
            earned[0] = 0.0
            play_seen(
                rules, notices, listens, chosen[board], board, state, view, who, memory, count,
                amounts, own, before, earned,
            )  # fmt: skip
            until_mine(
                rules, chooses, notices, listens, weights, starts, board, state, view, actions,
                who, memory, rngs, most_plies, trouble, count, amounts, own, before, earned,
            )  # fmt: skip
            if trouble[WHAT]:
                return
            rules.score(state, points)
            if aim == EVENTS:
                rewards[board] = earned[0]
            else:
                now = worth(points, own, aim, state[SEAT] == OVER)
                rewards[board] = now - held[board]
                held[board] = now
            if state[SEAT] != OVER:
                continue
            done[board] = True
            final[board] = points
            rules.look(state, own, view)
            rules.observe(view, final_features[board])
        idle = 0
        while True:
            deal_game(
                rules, board, states, blank, seed, own_seed, deals, fixed, named, rngs, mine, who,
                memory,
            )  # fmt: skip
            rules.score(state, points)
            held[board] = worth(points, mine[board], aim, False)
            until_mine(
                rules, chooses, notices, listens, weights, starts, board, state, view, actions,
                who, memory, rngs, most_plies, trouble, count, amounts, mine[board], before, earned,
            )  # fmt: skip
            if trouble[WHAT]:
                return
            if state[SEAT] != OVER:
                break
            idle += 1  # it ended before there was anything to decide
            if idle == MOST_IDLE:
                trouble[WHAT] = IDLE
                return
    fill(rules, first, last, states, views, legal, counts, masks, features, mover)


class Sparring:
    """Many games of one kind, in each of which one seat is yours; one decision in each at a time.

    What says which actions are legal cannot be written on: compiled rules trust it.

    `opponents` names compiled agents for the seats after yours, in turn; `self` means that all
    seats are yours, where everybody wins together. `seat` is yours, or drawn for every game. `aim`
    says what rewards count: `points`, `margin` or `win`; with `events`, what the game's events that
    happen to you are paid, from your first decision on, as `rewards` says.

    Arrays, for games in rows:
    seat [size]                   your seat: the one to move
    features [size, features]     what it sees, for learners
    legal [size, most legal]      its legal actions, the first `counts[game]` of them
    masks [size, actions]         True where an action is legal (`masks=False` leaves them out)
    views [size, cells]           its view
    rewards [size]                change of what you have in hand since your last decision
    done [size]                   that game has ended; a new one has been dealt
    final [size, seats]           points of every seat at the end, where done
    final_features [size, ..]     what you saw at the end, where done
    """

    def __init__(
        self,
        game: Game,
        size: int,
        seed: int | None = None,
        *,
        opponents: Sequence[str] | str = ("random",),
        seat: int | None = None,
        aim: str = "points",
        rewards: str | Mapping[str, float] | None = None,
        masks: bool = True,
        cores: int = 1,
    ) -> None:
        if size < 1 or cores < 1:
            raise Misuse(f"Sparring needs at least 1 game and 1 core, not {size} and {cores}.")
        if JIT and not game.is_compiled:
            raise Misuse(f"{game.described()}: sparring needs rules that are compiled.")
        self.game, self.size = game, size
        self.fixed = seat_of(game, seat)
        self.rivals = Rivals(game, rivals_of(game, opponents))
        self._payment = payment_of(game, aim, rewards)
        self.aim = self._payment.aim
        self._cores = min(cores, size)
        self._pool = ThreadPoolExecutor(self._cores) if self._cores > 1 else None
        # Threads that share weights would wait for each other: slicing counts references.
        self._weights = [self.rivals.weights.copy() for _ in range(self._cores)]
        seats, features = game.players, game.bound("features")
        self._blank = game.blank()
        self._states = np.zeros((size, game.layout.size), np.int16)
        self._deals = np.zeros(size, np.int64)
        self._rngs = np.zeros((size, seats, WORDS), np.int64)
        self._mine = np.zeros(size, np.int64)
        self._who = np.zeros((size, seats), np.int64)
        self._memory = np.zeros((size, seats, self.rivals.memory), np.int64)
        self._held = np.zeros(size)
        self._seat = np.zeros(size, np.int64)
        self._views = np.zeros_like(self._states)
        self._legal = np.zeros((size, game.bound("most_legal")), np.int32)
        self._counts = np.zeros(size, np.int64)
        self._masks = np.zeros((size, game.bound("actions") if masks else 0), np.bool_)
        self.seat, self.views = read_only(self._seat), read_only(self._views)
        self.legal, self.counts = read_only(self._legal), read_only(self._counts)
        self.masks = read_only(self._masks)
        self.features = np.zeros((size, features), np.float32)
        self.rewards = np.zeros(size)
        self.done = np.zeros(size, np.bool_)
        self.final = np.zeros((size, seats))
        self.final_features = np.zeros((size, features), np.float32)
        self.reset(seed)

    def reset(self, seed: int | None = None) -> None:
        """Deal every game anew, by another seed."""
        self.seed = checked_seed(seed)
        self.own_seed = agents_seed(self.seed)
        self._deals[:] = 0
        self._advance(np.full(self.size, NONE))

    def step(self, actions: np.ndarray) -> None:
        """Take one legal action in each game; an illegal one raises and nothing is changed."""
        if self._halfway:
            raise Misuse("A step was left halfway: call reset() to deal the games anew.")
        chosen = np.ascontiguousarray(actions, np.int64)
        if chosen.shape != (self.size,):
            raise Misuse(f"This takes {self.size} actions, not an array of {chosen.shape}.")
        wrong = int(first_illegal(chosen, self._legal, self._counts))
        if wrong >= 0:
            raise IllegalMove(
                f"{self.game.name}: action {int(chosen[wrong])} is not legal in game {wrong}; "
                f"see the mask, or legal[{wrong}, :{int(self.counts[wrong])}]."
            )
        self._advance(chosen)

    def _advance(self, chosen: np.ndarray) -> None:
        self._halfway = True
        troubles = np.zeros((self._cores, 3), np.int64)
        rivals = self.rivals

        def work(part: int, first: int, last: int) -> None:
            spar(
                self.game.rules, rivals.chooses, rivals.notices, rivals.listens,
                self._weights[part], rivals.starts, first, last, chosen, self._states,
                self._blank, self.seed, self.own_seed, self._deals, self.fixed,
                len(rivals.names), self._rngs, self._mine, self._who, self._memory,
                self.game.bound("most_legal"), self.game.bound("most_plies"), self.aim,
                self._payment.count, self._payment.amounts, self._held, self.rewards, self.done,
                self.final, self.final_features, troubles[part], self._views, self._legal,
                self._counts, self._masks, self.features, self._seat,
            )  # fmt: skip

        self._spread(work)
        for trouble in troubles:
            if trouble[WHAT]:
                raise self._trouble(trouble)
        self._halfway = False

    def _spread(self, work: Callable[[int, int, int], None]) -> None:
        """Do the work for all games, in as many threads as there are cores for it."""
        if self._pool is None:
            work(0, 0, self.size)
            return
        edges = np.linspace(0, self.size, self._cores + 1).astype(int).tolist()
        list(self._pool.map(work, range(self._cores), edges[:-1], edges[1:]))

    def _trouble(self, trouble: np.ndarray) -> AgentFailed | BrokenRules | Misuse:
        if trouble[WHAT] == ILLEGAL:
            return AgentFailed(
                f"{self.rivals.names[trouble[WHO]]} answered with action {int(trouble[ACTION])}, "
                f"which is not legal, in {self.game.described()}."
            )
        if trouble[WHAT] == IDLE:
            return nothing_to_decide(self.game, self.fixed)
        if trouble[WHAT] == STUCK:
            return BrokenRules(
                f"{self.game.described()}: seat {int(trouble[WHO])} has no legal move."
            )
        return BrokenRules(f"{self.game.described()} ran past its most plies.")

    def draw(self, rng: np.random.Generator) -> np.ndarray:
        """Draw a legal action for each game, each equally likely."""
        places = (rng.random(self.size) * self.counts).astype(np.int64)
        return self.legal[np.arange(self.size), places].astype(np.int64)

    @property
    def deals(self) -> int:
        """How many games have been dealt so far."""
        return int(self._deals.sum())

    def close(self) -> None:
        """Let the threads go."""
        if self._pool is not None:
            self._pool.shutdown()
            self._pool = None
            self._cores = 1


def read_only(array: np.ndarray) -> np.ndarray:
    """Give the same array to those who may only look at it."""
    shown = array.view()
    shown.flags.writeable = False
    return shown


def nothing_to_decide(game: Game, fixed: int) -> Misuse:
    """Build the error for games that end before it is one's turn."""
    who = "the seat that was drawn" if fixed == ANY_SEAT else f"seat {fixed}"
    return Misuse(
        f"{game.described()}: {who} had nothing to decide in {MOST_IDLE:,} games; "
        "choose another seat or other settings."
    )


def seat_of(game: Game, seat: int | None) -> int:
    """Check which seat is yours; None is any, drawn for every game."""
    if seat is None:
        return ANY_SEAT
    if isinstance(seat, bool) or not isinstance(seat, int) or not 0 <= seat < game.players:
        raise Misuse(
            f"{game.described()}: there is no seat {seat!r}; 0 to {game.players - 1}, or None for "
            "one drawn anew in every game."
        )
    return seat


def rivals_of(game: Game, opponents: Sequence[str] | str) -> list[str]:
    """List the names of those at the other seats; none where all seats are yours."""
    if isinstance(opponents, str):
        opponents = [opponents]
    if game.players == 1:
        if list(opponents) not in ([ALONE], [NAMED], []):
            raise Misuse(f"{game.described()} has one seat: there is nobody to play against.")
        return []
    if list(opponents) == [ALONE]:
        if not game.cooperative:
            raise Misuse(
                f"{game.described()}: all seats can be yours only where they win together. Name "
                "opponents, or use the PettingZoo environment for learning from all seats."
            )
        return []
    if not 1 <= len(opponents) < game.players:
        raise Misuse(
            f"{game.described()} has {game.players - 1} other seats; {len(opponents)} opponents "
            "do not fit."
        )
    return list(opponents)
