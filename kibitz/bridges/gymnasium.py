"""Gymnasium: every kibitz game with one seat for the learner and agents at the others.

    import gymnasium, kibitz.bridges.gymnasium
    env = gymnasium.make("kibitz/tapnswap-v1", opponents="tapper")
    many = gymnasium.make_vec("kibitz/tapnswap-v1", num_envs=512, opponents="tapper")

The second is compiled (see `kibitz.bridges.vector`): hundreds of games at once, and no slower for
it. What the learner observes comes from its seat's view, so it sees what it may know.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from kibitz.bridges.board import Board
from kibitz.bridges.naming import chosen, ids
from kibitz.bridges.needs import need
from kibitz.bridges.rendering import FRAMES, MODES, Renderer
from kibitz.core.chance import Chance, agents_seed, checked_seed
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.core.registry import find_agent
from kibitz.play.match import listens
from kibitz.play.seats import check_apart, guarded
from kibitz.play.sparring import ANY_SEAT, MOST_IDLE, nothing_to_decide, rivals_of, seat_of

need("gymnasium")

import gymnasium  # noqa: E402

from kibitz.bridges.spaces import Actions, features_of  # noqa: E402

RANDOM, RAISE = "random", "raise"  # what becomes of an action that is not legal
ILLEGAL = (RANDOM, RAISE)


class SeatEnv(gymnasium.Env):
    """One seat of a game is yours; named agents have the others.

    opponents   names of agents (or classes, functions, model files) for the seats after yours, in
                turn; `self` means that every seat is yours, where all win together
    seat        which is yours; None draws one for every game
    aim         what rewards count: `points`, `margin`, `win`, or `events` that happen to you
    rewards     with `aim="events"`: what the game's events are paid, as in `{"score": 1}` or
                `score=1+step=-0.01`, the rest as usual; what comes before your first decision is
                not, as in learning
    illegal     what becomes of an action that is not legal: `random` plays a legal one by lot, and
                the info says so (`illegal`); `raise` raises. Learners that mask actions want that
    scaled      bring all that you see between -1 and 1; what is larger than usual is cut off

    An observation is the features of your view. The info has `action_mask` and `seat`, and at the
    end of the game the `points` of every seat. `action_masks()` is what sb3-contrib asks for. The
    same seed deals the same games: the first by `reset(seed)`, further ones by `reset()`.
    """

    def __init__(
        self,
        game: Game,
        opponents: Any = "random",
        seat: int | None = None,
        aim: str = "points",
        rewards: str | Mapping[str, float] | None = None,
        illegal: str = RANDOM,
        render_mode: str | None = None,
        scaled: bool = False,
    ) -> None:
        if illegal not in ILLEGAL:
            raise unknown("way with illegal actions", str(illegal), ILLEGAL)
        self.game = game
        self.board = Board(game, aim, rewards, scaled)
        self.metadata = {"render_modes": list(MODES), "render_fps": FRAMES}
        self.render_mode = render_mode
        self.action_space: Actions = Actions(game)
        self.observation_space = features_of(game, scaled)
        self._any = b"\1" * self.board.numbers
        self._fixed = seat_of(game, seat)
        one = isinstance(opponents, str) or not isinstance(opponents, Sequence)
        names = rivals_of(game, [opponents] if one else opponents)
        others = range(game.players - 1) if names else ()
        self._rivals = [find_agent(names[place % len(names)], game) for place in others]
        check_apart(self._rivals)
        self._illegal = illegal
        self._renderer = Renderer(self.board, render_mode)
        self._deals = 0
        self._seed: int | None = None
        self._legal: np.ndarray | None = None  # of the decision that is due, if one is

    # --- playing -------------------------------------------------------------------------------

    def reset(
        self, *, seed: int | None = None, options: dict[str, Any] | None = None
    ) -> tuple[np.ndarray, dict[str, Any]]:
        """Deal a game and let the others move until it is your turn."""
        super().reset(seed=seed)
        self._legal = None
        if seed is not None:
            self._seed, self._deals = checked_seed(seed), 0
        elif self._seed is None:
            self._seed = int(self.np_random.integers(2**63 - 1))
        for _ in range(MOST_IDLE):
            self._earned = 0.0
            self._deal()
            self._let_others_move()
            if self.board.pays_events:
                self._earned = 0.0  # an event is paid to a decision that came before it
            if not self.board.over:  # or else it ended before there was anything to decide
                return self._look()
        raise nothing_to_decide(self.game, self._fixed)

    def _deal(self) -> None:
        assert self._seed is not None
        seats, own = self.game.players, agents_seed(self._seed)
        self.board.deal(self._seed, self._deals)
        lot = Chance(own, self._deals, 0).below(seats)
        self._mine = lot if self._fixed == ANY_SEAT else self._fixed
        self._chance = Chance(own, self._deals, 1 + seats)
        self._sitting = {}
        for place, agent in enumerate(self._rivals):
            seat = (self._mine + 1 + place) % seats
            guarded(agent, agent.begin, seat, Chance(own, self._deals, 1 + seat))
            self._sitting[seat] = agent
        self._listening = {
            seat: one
            for seat, one in self._sitting.items()
            if listens(one) and not self.game.secret
        }
        self._deals += 1

    def _let_others_move(self) -> None:
        board = self.board
        while not board.over and board.seat in self._sitting:
            agent = self._sitting[board.seat]
            _, mask = board.observe(board.seat)
            action = guarded(agent, agent.choose, board.view(board.seat))
            self._play(guarded(agent, board.checked, action, mask))

    def _play(self, action: int) -> None:
        for seat, agent in self._listening.items():
            guarded(agent, agent.notice, self.board.view(seat), self.board.seat, action)
        self._earned += self.board.play(action)[self._mine]

    @property
    def _eyes(self) -> int:
        """Your seat; the one to move, where all are yours."""
        return self.board.seat if not self._rivals and not self.board.over else self._mine

    def _look(self) -> tuple[np.ndarray, dict[str, Any]]:
        seat = self._eyes
        features, mask = self.board.observe(seat)
        self.action_space.legal = self._legal = mask.copy()
        if self.render_mode == "human":
            self.render()
        return features, {"action_mask": mask, "seat": seat}

    def step(self, action: Any) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Play an action; the others move on until it is your turn again or the game is over."""
        mask = self._due()
        if self.board.over:
            raise Misuse("The game is over: call env.reset() for the next one.")
        number = self.board.checked(action, mask if self._illegal == RAISE else self._any)
        legal = bool(mask[number])
        if not legal:
            number = self._chance.choice(np.flatnonzero(mask).tolist())
        self._legal = None  # until the next decision is due, should somebody fail meanwhile
        self._play(number)
        self._let_others_move()
        reward, self._earned = self._earned, 0.0
        features, info = self._look()
        if not legal:
            info["illegal"] = True
        if self.board.over:
            info["points"] = self.board.points
        return features, reward, self.board.over, False, info

    def action_masks(self) -> np.ndarray:
        """Give a mask of the legal actions, as MaskablePPO of sb3-contrib asks for it."""
        return self._due().astype(bool)

    def _due(self) -> np.ndarray:
        """Give the mask of the decision that is due."""
        if self._seed is None:
            raise Misuse("Nothing is dealt yet: call env.reset() first.")
        if self._legal is None:
            raise Misuse("A step was left halfway: call env.reset() for a new game.")
        return self._legal

    # --- looking -------------------------------------------------------------------------------

    def render(self) -> Any:
        """Show the board as your seat sees it, in the mode that was asked for."""
        if self.render_mode is None:
            raise Misuse(f"Nothing to render: make the environment with render_mode, {MODES}.")
        self._due()
        return self._renderer.render(self._eyes)

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def record(self) -> Record:
        """Give the game so far as a record, which kibitz can save, replay and analyse."""
        if self._seed is None:
            raise Misuse("Nothing is dealt yet: call env.reset() first.")
        names = ["learner"] * self.game.players
        for seat, agent in self._sitting.items():
            names[seat] = agent.name
        return self.board.table().record(tuple(names))


# --- environments by name ------------------------------------------------------------------------

# All else are options of the game.
OWN = ("opponents", "seat", "aim", "rewards", "illegal", "render_mode", "scaled")


def make(game: Game | str, **how: Any) -> SeatEnv:
    """Make the environment of a game: `make("hanabi", players=3, opponents="piers")`.

    What `SeatEnv` takes is said there; all else sets options of the game.
    """
    found, about = chosen(game, how, OWN)
    return SeatEnv(found, **about)


def make_vec(game: Game | str, num_envs: int, **how: Any) -> Any:
    """Make the vector environment of a game; see `kibitz.bridges.vector.SeatsVector`."""
    from kibitz.bridges.vector import OWN, SeatsVector

    found, about = chosen(game, how, OWN)
    return SeatsVector(found, num_envs, **about)


def register() -> list[str]:
    """Make all games known to Gymnasium, which importing this module does; give their ids."""
    for id, name in ids().items():
        if id not in gymnasium.registry:
            gymnasium.register(
                id, entry_point=f"{__name__}:make", vector_entry_point=f"{__name__}:make_vec",
                kwargs={"game": name},
            )  # fmt: skip
    return list(ids())


register()
