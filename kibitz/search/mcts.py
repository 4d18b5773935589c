"""Monte Carlo tree search for every game: try moves in simulations, and those that do well more.

`mcts:sims=2000`, `mcts:ms=100,rollout=greedy,depth=10`, `mcts:prior=policy,judge=td`. The tree and
its compiled loop are in tree.py; here are the settings, the helpers and the opinion.
"""

from __future__ import annotations

import functools
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from kibitz.core.agent import (
    CHANCE,
    POINTS,
    Agent,
    CompiledAgent,
    Opinion,
    notice_nothing,
    opinion,
)
from kibitz.core.chance import WORDS, Chance, sow
from kibitz.core.compiled import JIT, is_compiled, pointer
from kibitz.core.errors import Misuse
from kibitz.core.game import OVER, SEAT, Game
from kibitz.core.options import Choice, Flag, Option, Real, Text, Whole
from kibitz.core.registry import find_agent
from kibitz.core.table import View
from kibitz.search.simulation import (
    JUDGES,
    MOST_HELPERS,
    MOST_MOVERS,
    MOVERS,
    PLAYS,
    TO_THE_END,
    WEIGHS,
    Helpers,
    Plan,
    grow,
    key_of,
    take_first,
    worth_nothing,
)
from kibitz.search.tree import (
    ACTION,
    CHILD,
    DRAWN,
    EDGES_USED,
    FIRST,
    KEY,
    MOVES,
    NO_EDGES,
    NO_NODE,
    NODES_USED,
    PRIOR,
    PROOF,
    RETURNS,
    ROOT,
    SIMS,
    SQUARES,
    SUM,
    TOTAL,
    TRIES,
    TWIN,
    UNKNOWN,
    WINNER,
    Rule,
    Tree,
    emptied,
    enlarged,
    new_tree,
    proven,
    replant,
)

AIMS = ("win", "margin", "points")
FIRST_CHUNK = 32  # simulations before the first look at the clock
CHUNK_SECONDS = 0.05  # between two looks at the clock, so that Ctrl-C is heard too
MOST_CHUNK = 1 << 16
MOST_TREES = 64
EDGES = 16  # to begin with, for each node
RANDOM = "random"
MODEL_DEPTH = 2  # turns after which a model judges
NOBODY = "none"
PARTS = 20  # of a duel, whose differences say how sure it is
SURE = 2.09  # standard errors of so many parts: 95% (Student)
LONGEST_LINE = 8  # moves of an expected line of play
UCT_EXPLORE, PUCT_EXPLORE = 2.0, 2.0  # in units of the usual spread of what simulations bring


@dataclass(frozen=True, slots=True, kw_only=True)
class Tried:
    """What the search found out about one move."""

    action: int
    tries: int
    value: float  # mean of what it brought, in the unit of the aim
    prior: float
    proof: int  # for whoever moves: 1 surely wins, 0 draws, -1 loses; None where nothing is proven
    proven: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a search came to: every move at the root, most tried first."""

    moves: tuple[Tried, ...]
    sims: int
    aim: str
    spread: float  # of what single simulations bring
    tree: Tree  # until the next search, which uses its memory

    @property
    def best(self) -> Tried:
        """The move to make: one that surely wins, else the one most tried that is not lost."""
        return self.moves[0]

    def of(self, action: int) -> Tried | None:
        """Give what was found about an action, if it was looked at."""
        return next((tried for tried in self.moves if tried.action == action), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Duel:
    """Two moves beside each other, tried equally often: what each brought."""

    one: Tried
    other: Tried
    unsure: float  # half an interval of 95% of the difference


class Search(Agent):
    """Search: try moves in simulated games, and those that do well more often."""

    name = "mcts"
    slow: ClassVar[bool] = True  # as Python: it is compiled before it plays, see `Kind`
    options: ClassVar[tuple[Option, ...]] = (
        Whole(name="sims", default=1000, help="simulations for a move", low=1, high=10**8),
        Whole(name="ms", default=0, help="or milliseconds for a move", low=0, high=3_600_000),
        Text(name="rollout", default=RANDOM,
             help="who plays simulations on: an agent, or random"),
        Whole(name="depth", default=-1, none=-1, low=0, high=1_000_000,
              help="turns after which simulations end, or none to play on to the end"),
        Text(name="judge", default=NOBODY,
             help="an agent whose values, added to the points, judge where simulations end"),
        Text(name="prior", default=NOBODY, help="an agent whose values say what to try first"),
        Text(name="model", default="", help="a trained model, as prior and as judge"),
        Text(name="moves", default="", help="agents; only moves that one of them would make are "
             "looked at: piers+iggi"),
        Choice(name="rule", default="usual", names=("usual", "uct", "puct"),
               help="how moves are chosen in the tree; puct where there is a prior, else uct"),
        Real(name="explore", default=-1.0, low=-1.0, high=1000.0,
             help="how eagerly little-known moves are tried; -1 is the usual"),
        Real(name="bias", default=0.0, low=0.0, high=1000.0,
             help="with uct, what the prior adds to moves that were seldom tried"),
        Choice(name="aim", default="usual", names=("usual", *AIMS),
               help="what to play for; usually the win where nothing is hidden, else the margin"),
        Choice(name="nodes", default="actions", names=("actions", "views"),
               help="positions are told apart by the moves, or by all that is seen too"),
        Flag(name="rounds", default=True, help="look no further than the round"),
        Flag(name="merge", default=True, help="equal positions are one, by whatever moves they "
             "came about, where nothing is hidden"),
        Flag(name="prove", default=True, help="notice moves that surely win or lose"),
        Flag(name="reuse", default=True, help="go on with the tree of the move before, where "
             "nothing is hidden"),
        Whole(name="trees", default=1, help="trees, each on a core of its own, whose tries are "
              "added up", low=1, high=MOST_TREES),
    )  # fmt: skip

    def __init__(self, game: Game, **settings: Any) -> None:
        super().__init__(game, **settings)
        chosen = self.settings
        aim = chosen["aim"]
        if aim == "usual":
            aim = "points" if game.cooperative else "margin" if game.hides else "win"
        self.aim = aim
        self.agents = self._agents()
        weighed = WEIGHS in self.agents
        rule = chosen["rule"]
        puct = weighed and chosen["bias"] == 0.0 if rule == "usual" else rule == "puct"
        explore = chosen["explore"]
        proves = chosen["prove"] and not game.hides and not game.cooperative and aim == "win"
        self.rule = Rule(
            hides=game.hides, prove=proves, puct=puct,
            explore=explore if explore >= 0.0 else PUCT_EXPLORE if puct else UCT_EXPLORE,
            bias=chosen["bias"],
        )  # fmt: skip
        rounds = game.rounds if chosen["rounds"] else None
        self.plan = Plan(
            hides=game.hides, by_views=chosen["nodes"] == "views" and game.hides,
            merge=chosen["merge"] and not game.hides, prove=proves,
            one_by_one=not (game.hides or puct or weighed or chosen["moves"]), even=False,
            aim=AIMS.index(aim), cooperative=game.cooperative,
            plays=PLAYS in self.agents, weighs=weighed, judges=JUDGES in self.agents,
            movers=sum(place >= MOVERS for place in self.agents),
            depth=self._depth(),
            round_cell=game.cell(rounds.number).start if rounds else -1,
            round_points=game.cell(rounds.points).start if rounds else -1,
            round_sign=rounds.sign if rounds else 1,
            most_legal=game.bound("most_legal"), worlds=-1,
        )  # fmt: skip
        self._grown: tuple[np.ndarray, Tree] | None = None  # what was searched last, and its tree
        self._since: list[int] = []  # actions since then
        self._free: list[Tree] = []  # whose memory may be used again

    def _depth(self) -> int:
        """Give the turns after which simulations end; a model judges early, unless told when."""
        if self.settings["depth"] >= 0:
            return self.settings["depth"]
        return MODEL_DEPTH if self.settings["model"] and JUDGES in self.agents else TO_THE_END

    @classmethod
    def unfit(cls, game: Game) -> str | None:
        """Say why it cannot play a game, or None."""
        return None if game.is_compiled or not JIT else "its rules are not compiled"

    # --- helpers -------------------------------------------------------------------------------

    def _agents(self) -> dict[int, CompiledAgent]:
        """Make the agents that help, by their place."""
        chosen = self.settings
        found: dict[int, CompiledAgent] = {}
        if chosen["rollout"] != RANDOM:
            found[PLAYS] = self._helper(chosen["rollout"], "rollout")
        for place, name in ((WEIGHS, "prior"), (JUDGES, "judge")):
            if chosen[name] != NOBODY:
                found[place] = self._helper(chosen[name], name)
        if chosen["model"]:
            helper = self._helper(chosen["model"], "model")
            found.setdefault(WEIGHS, helper)
            if helper.kind.unit == POINTS:
                found.setdefault(JUDGES, helper)
        if WEIGHS in found and found[WEIGHS].kind.value is None:
            name = found[WEIGHS].name
            raise Misuse(f"'{name}' gives its options no values, so it cannot be the prior.")
        if JUDGES in found and (found[JUDGES].kind.value is None or not self._is_in_points(found)):
            name = found[JUDGES].name
            raise Misuse(
                f"What '{name}' thinks of its options is not in points to come (unit='points' in "
                "its Kind), so it cannot be the judge."
            )
        if JUDGES in found and chosen["depth"] < 0 and not chosen["model"]:
            raise Misuse("A judge is asked where simulations end: set depth too, as in depth=4.")
        names = [name for name in chosen["moves"].split("+") if name]
        if len(names) > MOST_MOVERS:
            raise Misuse(f"At most {MOST_MOVERS} agents can say which moves to look at.")
        for place, name in enumerate(names):
            found[MOVERS + place] = self._helper(name, "moves")
        return found

    def _is_in_points(self, found: Mapping[int, CompiledAgent]) -> bool:
        return found[JUDGES].kind.unit == POINTS and self.aim != "win"

    def _helper(self, who: str, what: str) -> CompiledAgent:
        agent = find_agent(who.replace(";", ","), self.game)
        plain = JIT and not is_compiled(getattr(agent, "kind", agent).choose)
        if not isinstance(agent, CompiledAgent) or plain:
            raise Misuse(f"{what}={who}: only compiled agents can help a search.")
        return agent

    @functools.cached_property
    def helpers(self) -> Helpers:
        """Give the helpers as the compiled loop takes them."""
        agents = [self.agents.get(place) for place in range(MOST_HELPERS)]
        own = [np.zeros(0, np.float32) if agent is None else agent.weights for agent in agents]
        kinds = [None if agent is None else agent.kind for agent in agents]
        chooses = [pointer(kind.choose if kind else take_first) for kind in kinds]
        values = [pointer((kind and kind.value) or worth_nothing) for kind in kinds]
        notices = [kind.notice if kind else notice_nothing for kind in kinds]
        numbers = max([1, *(kind.memory for kind in kinds if kind)])
        return Helpers(
            play=chooses[PLAYS], weigh=values[WEIGHS], judge=values[JUDGES],
            movers=tuple(chooses[MOVERS:]), notices=tuple(map(pointer, notices)),
            weights=np.concatenate([*own, np.zeros(1, np.float32)]),
            starts=np.cumsum([0, *map(len, own)]),
            listens=np.array([notice is not notice_nothing for notice in notices]),
            remembers=np.array([bool(kind and kind.memory) for kind in kinds]),
            memory=np.zeros((MOST_HELPERS, numbers), np.int64),
        )  # fmt: skip

    def begin(self, seat: int, rng: Chance) -> None:
        """Take a seat at a new table, remembering nothing."""
        super().begin(seat, rng)
        self.helpers.memory[:] = 0
        self._free += [self._grown[1]] if self._grown else []
        self._grown, self._since = None, []

    def notice(self, view: View, actor: int, action: int) -> None:
        """Follow what is played, for the tree of the next move and for helpers that listen."""
        self._since.append(action)
        helpers = self.helpers
        for place in np.flatnonzero(helpers.listens):
            helpers.notices[place](view.cells, actor, action, helpers.memory[place])

    def prepare(self) -> None:
        """Compile what a search needs, if that is not done yet, by trying one move."""
        kept, self.rng = self.rng, Chance(0)
        try:
            self.search(self.game.deal(0).view(), sims=1)
        finally:
            self.rng = kept

    # --- searching -----------------------------------------------------------------------------

    def search(self, view: View, sims: int | None = None, keep: bool = False) -> Found:
        """Search from a view. keep: go on with this tree when the next move is searched for."""
        chosen = self.settings
        seed = self.rng.below(1 << 31)
        share = -(-(sims or chosen["sims"]) // chosen["trees"])
        allowed = np.zeros(0, np.int32)  # all
        ends = time.perf_counter() + chosen["ms"] / 1e3 if chosen["ms"] else None
        trees = [self._kept_tree(view) or self._empty_tree(share)]
        trees += [self._empty_tree(share) for _ in range(1, chosen["trees"])]

        def grown(number: int) -> Tree:
            rng = np.zeros(WORDS, np.int64)
            sow(rng, seed, number, 0)
            helpers = self.helpers
            if number:  # slicing counts references, and threads would wait for each other there
                weights, memory = helpers.weights.copy(), helpers.memory.copy()
                helpers = helpers._replace(weights=weights, memory=memory)
            return self._grow(trees[number], view, self.plan, helpers, allowed, rng, share, ends)

        if len(trees) == 1:
            trees = [grown(0)]
        else:
            with ThreadPoolExecutor(len(trees)) as pool:
                trees = list(pool.map(grown, range(len(trees))))
        if keep and self._can_reuse:
            self._free += [self._grown[1]] if self._grown else []
            self._free += trees[1:]
            self._grown, self._since = (view.cells.copy(), trees[0]), []
        else:
            self._free += trees
        return self._summed(view, trees)

    def duel(self, view: View, one: int, other: int, sims: int) -> Duel:
        """Try two moves by turns, each time both in the same world."""
        seed = self.rng.below(1 << 31)
        plan = self.plan._replace(even=True, prove=False, worlds=seed if self.game.hides else -1)
        allowed = np.array(sorted((one, other)), np.int32)
        rng = np.zeros(WORDS, np.int64)
        sow(rng, seed, 0, 1)
        share = 2 * -(-sims // (2 * PARTS))
        tree = self._empty_tree(share * PARTS)
        gaps = np.zeros(PARTS + 1)  # what the one has brought more than the other
        for part in range(1, PARTS + 1):
            tree = self._grow(tree, view, plan, self.helpers, allowed, rng, share, None)
            mine, its = (edge_of(tree, ROOT, move) for move in (one, other))
            gaps[part] = tree.worth[mine, TOTAL] - tree.worth[its, TOTAL]
        self._free.append(tree)
        found = self._summed(view, [tree], (one, other))
        first, second = found.of(one), found.of(other)
        assert first is not None
        assert second is not None
        error = np.diff(gaps).std(ddof=1) * PARTS**0.5 / first.tries  # of the mean difference
        return Duel(one=first, other=second, unsure=SURE * float(error))

    @property
    def _can_reuse(self) -> bool:
        return self.settings["reuse"] and not self.game.hides

    def _empty_tree(self, sims: int) -> Tree:
        """Give a tree to grow, in the memory of one that nobody needs."""
        if self._free:
            return emptied(self._free.pop())
        return new_tree(min(sims, MOST_CHUNK) + 2, EDGES * 64 + 2 * self.plan.most_legal)

    def _grow(
        self, tree: Tree, view: View, plan: Plan, helpers: Helpers, allowed: np.ndarray,
        rng: np.ndarray, sims: int, ends: float | None,
    ) -> Tree:  # fmt: skip
        """Grow a tree until it has had its simulations, or its time."""
        rules = self.game.rules
        chunk = FIRST_CHUNK
        done = 0
        while ends is not None or done < sims:
            wanted = chunk if ends is not None else min(chunk, sims - done)
            tree = enlarged(tree, int(tree.used[NODES_USED]) + wanted + 1)
            began = time.perf_counter()
            ran, edges, worth = grow(
                rules, helpers, plan, self.rule, tree, view.cells, allowed, rng, wanted
            )
            tree = tree._replace(edges=edges, worth=worth)
            now = time.perf_counter()
            done += ran
            if tree.nodes[ROOT, PROOF] != UNKNOWN or (ends is not None and now >= ends):
                break
            pace = ran / max(now - began, 1e-6)
            left = CHUNK_SECONDS if ends is None else min(CHUNK_SECONDS, ends - now)
            chunk = int(min(MOST_CHUNK, max(1.0, pace * left)))
        return tree

    def _kept_tree(self, view: View) -> Tree | None:
        """Give what was found out about this position while searching for the move before."""
        if not self._can_reuse or self._grown is None:
            return None
        before, tree = self._grown
        state = before.copy()
        rules = self.game.rules
        rules.redeal(state, np.ones(WORDS, np.int64))
        node = ROOT
        for action in self._since:
            edge = edge_of(tree, node, action)
            if edge is None:
                return None
            rules.play(state, action)
            node = int(tree.edges[edge, CHILD])
            if node == NO_NODE or state[SEAT] == OVER:
                return None
        seen = np.empty_like(state)
        rules.look(state, view.mover, seen)
        if not np.array_equal(seen, view.cells) or tree.nodes[node, PROOF] != UNKNOWN:
            return None
        into = self._empty_tree(1)
        if len(into.edges) < tree.used[EDGES_USED]:
            into = new_tree(len(tree.nodes), len(tree.edges))
        into = enlarged(into, int(tree.used[NODES_USED]))
        replant(tree, node, into)
        return into

    def _summed(self, view: View, trees: Sequence[Tree], only: Sequence[int] = ()) -> Found:
        """Add up what the trees found out about the moves at the root."""
        found: dict[int, list[Any]] = {}
        if self.plan.one_by_one and not only:
            found = {action: [0, 0.0, 0.0, UNKNOWN] for action in view.legal}
        returns = np.zeros(RETURNS)
        for tree in trees:
            returns += tree.returns
            first = tree.nodes[ROOT, FIRST]
            for edge in range(first, first + tree.nodes[ROOT, MOVES]):
                row = found.setdefault(int(tree.edges[edge, ACTION]), [0, 0.0, 0.0, UNKNOWN])
                row[0] += int(tree.edges[edge, TRIES])
                row[1] += tree.worth[edge, TOTAL]
                row[2] = tree.worth[edge, PRIOR]
                if self.plan.prove:
                    row[3] = max(row[3], int(proven(tree, edge, self.game.players)))
        moves = [
            Tried(
                action=action, tries=tries, value=total / tries if tries else 0.0, prior=prior,
                proof=0 if proof <= DRAWN else 1 if proof == WINNER else -1,
                proven=proof != UNKNOWN,
            )
            for action, (tries, total, prior, proof) in found.items()
        ]  # fmt: skip
        moves.sort(key=lambda move: (-move.proof, -move.tries, -move.value, move.action))
        sims, mean = max(1.0, returns[SIMS]), returns[SUM] / max(1.0, returns[SIMS])
        return Found(
            moves=tuple(moves), sims=int(returns[SIMS]), aim=self.aim, tree=trees[0],
            spread=float(np.sqrt(max(0.0, returns[SQUARES] / sims - mean**2))),
        )  # fmt: skip

    # --- the agent -----------------------------------------------------------------------------

    def choose(self, view: View) -> int:
        """Answer a view with an action."""
        legal = view.legal
        if len(legal) == 1:
            return legal[0]
        return self.search(view, keep=True).best.action

    def values(self, view: View, options: Sequence[int]) -> Sequence[float]:
        """Give the share of the simulations in which each option was tried."""
        found = self.search(view)
        total = max(1, sum(move.tries for move in found.moves))
        shares = {move.action: move.tries / total + move.proof for move in found.moves}
        return [shares.get(option, 0.0) for option in options]

    def explain(self, view: View) -> Opinion:
        """Say what was tried how often, what it brought, and how the game would go on."""
        kept = self.rng
        try:  # giving an opinion must not use up the chance that is for playing
            self.rng = Chance.over(kept.words.copy())
            found = self.search(view)
        finally:
            self.rng = kept
        best = found.best
        total = max(1, sum(move.tries for move in found.moves))
        notes = {
            move.action: f"{self.in_words(move)}, {move.tries:,} tries" for move in found.moves
        }
        line = self.line(view, found)
        reason = f"Tried in {best.tries:,} of {total:,} simulations: {self.in_words(best)}."
        if len(line) > 1:
            reason += f" It expects: {', '.join(line)}."
        values = {
            move.action: self.worth(move) for move in found.moves if move.tries or move.proven
        }
        said = opinion(view, best.action, reason, values, notes)
        # As the search ranks them: what was tried once may have been lucky.
        rank = {move.action: place for place, move in enumerate(found.moves)}
        thoughts = sorted(said.thoughts, key=lambda one: rank.get(one.action, len(rank)))
        unit = CHANCE if self.aim == "win" else POINTS
        return replace(said, thoughts=tuple(thoughts), unit=unit)

    def worth(self, move: Tried) -> float:
        """Return what a move brings: the chance to win, or points."""
        if move.proven and self.aim == "win":
            return (0.0, 0.5, 1.0)[move.proof + 1]
        return move.value

    def in_words(self, move: Tried) -> str:
        """Say what a move brings."""
        if move.proven:
            return ("surely loses", "surely draws", "surely wins")[move.proof + 1]
        if not move.tries:
            return "not tried"
        if self.aim == "win":
            return f"wins {move.value:.0%}"
        if self.aim == "margin":
            points = f"{abs(move.value):.1f}"
            if points == "0.0":
                return "level"
            return f"{points} points {'ahead' if move.value > 0.0 else 'behind'}"
        return f"{move.value:.1f} points"

    def line(self, view: View, found: Found) -> list[str]:
        """Give the moves that the search expects, in words, in one world that it can imagine."""
        table = view.redeal(Chance(0))
        tree, node = found.tree, ROOT
        action: int | None = found.best.action
        words: list[str] = []
        while action is not None and len(words) < LONGEST_LINE:
            edge = edge_of(tree, node, action)
            if edge is None:
                break
            words.append(f"seat {table.seat} {table.say(action)}" if words else table.say(action))
            table.play(action)
            key = table.seat
            if self.plan.by_views:
                key = int(key_of(table.view(view.mover).cells))
            node = node_behind(tree, edge, key if self.plan.hides else None)
            if node == NO_NODE or table.over:
                break
            action = most_tried(tree, node, table.legal)
        return words


def edge_of(tree: Tree, node: int, action: int) -> int | None:
    """Find the edge of an action, if a node has one."""
    first, count = tree.nodes[node, [FIRST, MOVES]]
    found = np.flatnonzero(tree.edges[first : first + count, ACTION] == action)
    return int(first + found[0]) if first != NO_EDGES and len(found) else None


def node_behind(tree: Tree, edge: int, key: int | None) -> int:
    """Find the node behind an edge with this key, or whatever its key; or NO_NODE."""
    node = int(tree.edges[edge, CHILD])
    while node != NO_NODE and key is not None and tree.nodes[node, KEY] != key:
        node = int(tree.nodes[node, TWIN])
    return node


def most_tried(tree: Tree, node: int, legal: Sequence[int]) -> int | None:
    """Give the legal move that was tried most, if any was."""
    first, count = tree.nodes[node, [FIRST, MOVES]]
    edges = tree.edges[first : first + count] if first != NO_EDGES else tree.edges[:0]
    tried = [(int(row[TRIES]), int(row[ACTION])) for row in edges if row[ACTION] in legal]
    return max(tried)[1] if tried and max(tried)[0] > 0 else None
