"""PettingZoo: every kibitz game as an environment in which seats take turns (AEC).

    from kibitz.bridges.pettingzoo import hanabi_v1
    env = hanabi_v1.env(players=3)

A game is there under its name and version: `nim_v1`, `mexican_train_v1` and so on, those of other
packages too. What a seat observes comes from its view, so nobody sees what they may not know.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from kibitz.bridges.board import Board
from kibitz.bridges.naming import chosen, ids
from kibitz.bridges.needs import need
from kibitz.bridges.rendering import FRAMES, MODES, Renderer
from kibitz.core.agent import Agent
from kibitz.core.chance import Chance, agents_seed, checked_seed
from kibitz.core.errors import Misuse, unknown
from kibitz.core.game import Game
from kibitz.core.record import Record
from kibitz.core.registry import find_agent, find_game, game_names
from kibitz.core.table import View
from kibitz.play.seats import check_apart, guarded

need("gymnasium")
need("pettingzoo")

import pettingzoo  # noqa: E402
from pettingzoo import AECEnv  # noqa: E402

from kibitz.bridges.spaces import Actions, features_of, masked  # noqa: E402

Observation = dict[str, np.ndarray] | np.ndarray
BOTH, IN_INFOS = "observation", "infos"  # where masks are: in both, or only there


class SeatsEnv(AECEnv):
    """A game in which every seat is an agent of PettingZoo: `seat_0`, `seat_1`, ..

    An observation is a dict of `observation`, the features of the seat's view, and `action_mask`;
    the mask is also in the seat's `infos` while it is to move. With `mask="infos"` it is only
    there, and observations are plain arrays. `scaled` brings all that seats see between -1 and 1;
    what is larger than usual is cut off. A reward is the change of what the
    seat has in hand, as `aim` counts it: `points`, `margin` or `win`; with `events`, what the
    game's events are paid that happen to the seat, as `rewards` says (`{"score": 1}`). An action
    that is not legal raises `IllegalMove` and changes nothing. The same seed deals the same games:
    the first by `reset(seed)`, further ones by `reset()`.
    """

    def __init__(
        self,
        game: Game,
        render_mode: str | None = None,
        aim: str = "points",
        rewards: str | Mapping[str, float] | None = None,
        max_cycles: int | None = None,
        mask: str = BOTH,
        scaled: bool = False,
    ) -> None:
        super().__init__()
        if mask not in (BOTH, IN_INFOS):
            raise unknown("place of the mask", str(mask), (BOTH, IN_INFOS))
        if max_cycles is not None and max_cycles < 1:
            raise Misuse(f"max_cycles must be at least 1, or None for no limit, not {max_cycles}.")
        self.game = game
        self.board = Board(game, aim, rewards, scaled)
        self.render_mode = render_mode
        self.metadata = {
            "name": name_of(game), "render_modes": list(MODES), "render_fps": FRAMES,
            "is_parallelizable": False,
        }  # fmt: skip
        self.possible_agents = [f"seat_{seat}" for seat in range(game.players)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self._plain = mask == IN_INFOS
        space = features_of if self._plain else masked
        self.observation_spaces: dict[str, Any] = {
            agent: space(game, scaled) for agent in self.possible_agents
        }
        self.action_spaces = {agent: Actions(game) for agent in self.possible_agents}
        self.agents: list[str] = []
        self._most = max_cycles and max_cycles * game.players
        self._renderer = Renderer(self.board, render_mode)
        self._sitters: list[Sitter] = []
        self._deals = 0
        self._seed: int | None = None

    def observation_space(self, agent: str) -> Any:
        """Give the space of what a seat observes."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> Actions:
        """Give the space of action numbers; a sample of whoever is to move is legal."""
        return self.action_spaces[agent]

    # --- playing -------------------------------------------------------------------------------

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal a game: the first of this seed, or the next one where none is given."""
        if seed is not None or self._seed is None:
            self._seed, self._deals = checked_seed(seed), 0
        self.board.deal(self._seed, self._deals)
        self._deals += 1
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self._skip_agent_selection = None
        for sitter in self._sitters:
            sitter.begin()
        self._turn_to(self.board.seat)

    def _turn_to(self, seat: int) -> None:
        """Look at the board with the eyes of the seat to move."""
        self.agent_selection = agent = self.possible_agents[seat]
        features, mask = self.board.observe(seat)
        self._seen = features, mask
        self._legal = mask.tobytes()  # nobody can change what is legal by writing on the mask
        self.infos[agent] = {"action_mask": mask}
        self.action_spaces[agent].legal = mask

    def observe(self, agent: str) -> Observation:
        """Give what a seat observes now; its mask is blank unless it is to move."""
        self._check_dealt()
        seat = self._seat_of[agent]
        features, mask = self._seen if seat == self.board.seat else self.board.observe(seat)
        return features if self._plain else {"observation": features, "action_mask": mask}

    def last(
        self, observe: bool = True
    ) -> tuple[Observation | None, float, bool, bool, dict[str, Any]]:
        """Give what the seat to move observes, its reward since it last moved, and so on."""
        self._check_dealt()
        agent = self.agent_selection
        return (
            self.observe(agent) if observe else None, self._cumulative_rewards[agent],
            self.terminations[agent], self.truncations[agent], self.infos[agent],
        )  # fmt: skip

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """Go through the seats as they come to move, until everybody's game is over."""
        self._check_dealt()
        return super().agent_iter(max_iter)

    def _check_dealt(self) -> None:
        if self._seed is None:
            raise Misuse("Nothing is dealt yet: call env.reset() first.")

    def step(self, action: Any) -> None:
        """Play an action of the seat to move; seats whose game is over step with None."""
        self._check_dealt()
        if not self.agents:
            raise Misuse("The game is over for everybody: call env.reset() for the next one.")
        agent = self.agent_selection
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        board = self.board
        number = board.checked(action, self._legal)
        for sitter in self._sitters:
            sitter.notice(board.seat, number)
        rewards, totals = self.rewards, self._cumulative_rewards
        totals[agent] = 0.0
        for other, reward in zip(self.possible_agents, board.play(number), strict=True):
            rewards[other] = reward
            totals[other] += reward
        self.infos[agent] = {}
        if board.over:
            self.terminations = dict.fromkeys(self.agents, True)
            self._end()
            return
        self._turn_to(board.seat)
        if self._most is not None and len(board.actions) >= self._most:
            self.truncations = dict.fromkeys(self.agents, True)
            self._end()

    def _end(self) -> None:
        self.infos = {agent: {"points": self.view(agent).points} for agent in self.agents}
        self.agent_selection = self.agents[0]

    # --- looking -------------------------------------------------------------------------------

    def render(self) -> Any:
        """Show the board as the seat to move sees it, in the mode that was asked for."""
        if self.render_mode is None:
            raise Misuse(f"Nothing to render: make the environment with render_mode, {MODES}.")
        self._check_dealt()
        return self._renderer.render(max(self.board.seat, 0))

    def close(self) -> None:
        """Close the window, if there is one."""
        self._renderer.close()

    def view(self, agent: str) -> View:
        """Give the view of a seat, in words and cells: what `observe` gives as features."""
        self._check_dealt()
        return self.board.view(self._seat_of[agent])

    def record(self) -> Record:
        """Give the game so far as a record, which kibitz can save, replay and analyse."""
        self._check_dealt()
        return self.board.record()


class Sitter:
    """A kibitz agent at a seat of an environment; call it when that seat is to move.

    It is shown its seat's view, and what everybody plays as that seat sees it, and nothing else.
    """

    def __init__(self, env: SeatsEnv, seat: str, agent: Agent) -> None:
        self.env, self.name, self.agent = env, seat, agent
        self.seat = env._seat_of[seat]

    def begin(self) -> None:
        """Take the seat, with chance of its own for every deal; see what was played so far."""
        board, agent = self.env.board, self.agent
        chance = Chance(agents_seed(self.env._seed or 0), self.env._deals - 1, 1 + self.seat)
        guarded(agent, agent.begin, self.seat, chance)
        for table, action in () if board.game.secret else board.record().steps():
            guarded(agent, agent.notice, table.view(self.seat), table.seat, action)

    def notice(self, actor: int, action: int) -> None:
        """See an action that is about to be played, unless moves are secret."""
        if self.env.game.secret:
            return
        view = self.env.board.view(self.seat)
        guarded(self.agent, self.agent.notice, view, actor, action)

    def __call__(self, observation: Any = None) -> int:
        """Choose an action; the observation is not needed, for the seat's view says more."""
        if self.env.board.seat != self.seat:
            raise Misuse(f"{self.name} is not to move; {self.env.agent_selection} is.")
        return int(guarded(self.agent, self.agent.choose, self.env.board.view(self.seat)))


def sit(env: AECEnv, seat: str, who: Any) -> Sitter:
    """Let a kibitz agent take a seat: `piers = sit(env, "seat_1", "piers")`, then `piers()`.

    `who` is a name, `name:setting=value`, a model file, a class or a function, as everywhere.
    """
    inner = env.unwrapped
    if not isinstance(inner, SeatsEnv):
        raise Misuse(f"{inner} is no environment of a kibitz game; make one with env() from here.")
    if seat not in inner._seat_of:
        raise unknown(f"seat of {inner.game.name}", str(seat), inner._seat_of)
    sitter = Sitter(inner, seat, find_agent(who, inner.game))
    sitting = [other for other in inner._sitters if other.name != seat] + [sitter]
    check_apart([other.agent for other in sitting])
    inner._sitters = sitting
    if inner.agents:
        sitter.begin()
    return sitter


# --- environments by name ------------------------------------------------------------------------


def name_of(game: Game) -> str:
    """Name the environment of a game: `nim_v1`."""
    return f"{re.sub(r'[^a-z0-9]+', '_', game.name)}_v{game.version}"


# All else are options of the game.
OWN = ("render_mode", "aim", "rewards", "max_cycles", "mask", "scaled")


def env(game: Game | str, **how: Any) -> SeatsEnv:
    """Make the environment of a game: `env("hanabi", players=3, render_mode="ansi")`.

    `render_mode` is None, ansi, rgb_array or human; `aim` says what rewards count: points, margin,
    win or events, and `rewards` what events are paid; with `max_cycles` a game is cut off
    when everybody has had so many turns; `mask="infos"` leaves masks out of the
    observations. All else sets options of the game.

    Of PettingZoo's usual wrappers none is needed: the environment itself refuses what is illegal
    or out of order, and says why.
    """
    found, about = chosen(game, how, OWN)
    return SeatsEnv(found, **about)


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment, called as PettingZoo's own modules are: `env(**settings)`."""

    game: str

    def env(self, **how: Any) -> SeatsEnv:
        """Make the environment; see `kibitz.bridges.pettingzoo.env`."""
        return env(self.game, **how)

    raw_env = env


def register() -> list[str]:
    """Make all games known to PettingZoo, which importing this module does; give their ids.

    Then `pettingzoo.make("aec", "kibitz/hanabi-v1", players=3)` works, where it has a registry.
    """
    registry = getattr(pettingzoo, "aec_registry", None)
    for id, name in ids().items():
        if registry is not None and id not in registry:
            pettingzoo.register("aec", id, Entry(name).env)
    return list(ids())


def entries() -> dict[str, Entry]:
    """Give all environments by name."""
    return {name_of(find_game(name)): Entry(name) for name in game_names()}


def __getattr__(name: str) -> Entry:
    if re.fullmatch(r"[a-z0-9_]+_v\d+", name):
        found = entries()
        if name in found:
            return found[name]
        raise AttributeError(f"No environment is called '{name}'. There are: {', '.join(found)}.")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *entries()])


register()
