"""What every move of a played game cost, and what would have been better.

By the exact table where a game can be solved, otherwise by search, from what the mover could see:
the move that was played and the one that the search would have made are tried in the same worlds,
and the difference of what they bring is the cost.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

from kibitz.core.chance import Chance, checked_seed
from kibitz.core.errors import Misuse
from kibitz.core.markup import element
from kibitz.core.notebook import Shown, card, heading, listing, note, who
from kibitz.core.record import Record
from kibitz.core.registry import find_agent
from kibitz.core.table import Table
from kibitz.play.graph import unsolvable
from kibitz.search.mcts import Search
from kibitz.search.perfect import is_quickly_solved, solution_of
from kibitz.search.solve import Solution, in_words

Progress = Callable[[int, int], Any]
CHANCE_UNIT = "of a win"
EXACT = "exact"
AT_ONCE = 30  # moves that a notebook lists before they are folded away
UNITS = {"win": CHANCE_UNIT, "margin": "points", "points": "points"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A move of a game: what it cost beside the best one, in the unit of the analysis."""

    ply: int
    seat: int
    action: int
    words: str
    best: int
    best_words: str
    value: float
    best_value: float
    unsure: float  # half an interval of 95% of the cost; 0 where it is exact
    note: str = ""

    @property
    def cost(self) -> float:
        """What was lost by this move; nothing where that may be chance."""
        lost = self.best_value - self.value
        return lost if lost > self.unsure else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis(Shown):
    """A played game, move by move."""

    record: Record
    how: str  # `exact`, or the agent that searched
    unit: str
    moves: tuple[Judged, ...]

    def of(self, seat: int) -> list[Judged]:
        """Give the moves of a seat."""
        return [move for move in self.moves if move.seat == seat]

    def cost_of(self, seat: int) -> float:
        """Add up what a seat's moves cost."""
        return sum(move.cost for move in self.of(seat))

    def worst_of(self, seat: int) -> Judged | None:
        """Give the move that cost a seat most, if there is one such move."""
        most = max((move.cost for move in self.of(seat)), default=0.0)
        worst = [move for move in self.of(seat) if move.cost == most > 0.0]
        return worst[0] if len(worst) == 1 else None

    def agreement_of(self, seat: int) -> float:
        """Give the share of a seat's moves that cost nothing."""
        own = self.of(seat)
        return sum(move.cost == 0.0 for move in own) / len(own) if own else 1.0

    def cost_in_words(self, cost: float, unsure: float = 0.0) -> str:
        """Write a cost with its interval, or nothing."""
        if not cost:
            return ""
        if self.unit == CHANCE_UNIT and not unsure:
            return {0.5: "half a win", 1.0: "a win"}.get(cost, f"{cost:.1f} wins")
        if self.unit == CHANCE_UNIT:
            return f"{cost:.0%} ± {unsure:.0%} of a win"
        return f"{cost:.1f}" + (f" ± {unsure:.1f}" if unsure else "") + f" {self.unit}"

    def better(self, move: Judged) -> str:
        """Say what would have been better than a move, or nothing."""
        # Where it is exact a faster win or a slower loss is better, too.
        told = move.best != move.action and (move.cost or self.how == EXACT)
        return move.best_words if told else ""

    def how_in_words(self) -> str:
        """Say by whom the game was judged."""
        if self.how == EXACT:
            return "exact play."
        return f"{self.how}. What may be chance counts as nothing."

    def _sums(self) -> list[tuple[int, str, str]]:
        """Say of each seat who sat there, and what its moves cost together."""
        return [
            (seat, self.record.name_of(seat), self.cost_in_words(self.cost_of(seat)) or "nothing")
            for seat in range(self.record.game.players)
        ]

    def __str__(self) -> str:
        lines = [f"{self.record.game.described()}, judged by {self.how_in_words()}"]
        for seat, name, lost in self._sums():
            lines.append(f"  {name} lost {lost} in {len(self.of(seat))} moves")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        moves = [
            (
                f"{move.ply + 1}", who(move.seat, self.record.name_of(move.seat)), move.words,
                move.note, self.better(move),
                self.cost_in_words(move.cost, move.unsure) or "–",
            )
            for move in self.moves
        ]  # fmt: skip
        seats = [
            (who(seat, name), lost, f"{len(self.of(seat))}", f"{self.agreement_of(seat):.0%}")
            for seat, name, lost in self._sums()
        ]
        return card(
            heading(self.record.game.described(), "what every move cost"),
            listing(("seat", "lost", "moves", "cost nothing"), seats),
            element(
                "details",
                element("summary", f"{len(moves)} moves"),
                listing(("ply", "seat", "move", "outlook", "better", "cost"), moves, (1, 2, 3, 4)),
                open=len(moves) <= AT_ONCE,
            ),
            note(f"Judged by {self.how_in_words()}"),
        )

    def to_dict(self) -> dict[str, Any]:
        """Give it as plain data, for JSON."""
        seats = range(self.record.game.players)
        return {
            "game": self.record.game.name, "settings": dict(self.record.game.settings),
            "how": self.how, "unit": self.unit,
            "moves": [{**asdict(move), "cost": move.cost} for move in self.moves],
            "seats": [
                {"seat": seat, "name": self.record.name_of(seat), "cost": self.cost_of(seat),
                 "moves that cost nothing": self.agreement_of(seat)}
                for seat in seats
            ],
        }  # fmt: skip


def analyse(
    record: Record,
    agent: str = "",
    *,
    seed: int | None = 0,
    first: int = 0,
    progress: Progress | None = None,
    tell: Callable[[Judged], Any] | None = None,
) -> Analysis:
    """Say what every move of a game cost, and what was better.

    agent: a search such as `mcts:sims=5000`. Without one, the exact table is asked where the game
    can be solved quickly, and otherwise the search that the game recommends. Moves before ply
    `first` are not judged; `tell` hears of every move as soon as it is.
    """
    game = record.game
    exact = not agent and unsolvable(game) is None and is_quickly_solved(game)
    total = len(record.actions) - first
    moves: list[Judged] = []
    if exact:
        judged = _exactly(record, solution_of(game), first)
        how, unit = EXACT, CHANCE_UNIT
    else:
        how = agent or game.analyst
        searchers = [find_agent(how, game) for _ in range(game.players)]
        if not all(isinstance(one, Search) for one in searchers):
            raise Misuse(f"'{how}' does not search. Give an agent such as mcts:sims=2000.")
        unit = UNITS[searchers[0].aim]  # type: ignore[attr-defined]
        judged = _by_search(record, searchers, checked_seed(seed), first)  # type: ignore[arg-type]
    for move in judged:
        moves.append(move)
        if tell is not None:
            tell(move)
        if progress is not None:
            progress(len(moves), total)
    return Analysis(record=record, how=how, unit=unit, moves=tuple(moves))


def _exactly(record: Record, solution: Solution, first: int) -> Iterator[Judged]:
    for table, action in record.steps():
        if table.plies < first:
            continue
        options = solution.options(table)
        ranks = {option: _rank(verdict) for option, verdict in options.items()}
        best = max(ranks, key=lambda option, ranks=ranks: ranks[option])  # type: ignore[misc]
        if ranks[action] == ranks[best]:
            best = action
        yield _judged(
            table, action, best, ranks[action][0], ranks[best][0], 0.0, in_words(options[action])
        )


def _rank(verdict: int) -> tuple[float, float]:
    """Order verdicts: the fastest win, a draw, the slowest loss; the share of a win first."""
    return (0.5 if verdict == 0 else float(verdict > 0)), -verdict


def _by_search(record: Record, searchers: list[Search], seed: int, first: int) -> Iterator[Judged]:
    for seat, searcher in enumerate(searchers):
        searcher.begin(seat, Chance(seed, 0, 1 + seat))
    for table, action in record.steps():
        if table.plies >= first:
            yield _searched(table, action, searchers[table.seat])
        for seat, one in () if record.game.secret else enumerate(searchers):
            one.notice(table.view(seat), table.seat, action)


def _searched(table: Table, action: int, searcher: Search) -> Judged:
    """Judge a move by what the search of its seat finds."""
    view = table.view()
    if len(view.legal) == 1:
        return _judged(table, action, action, 0.0, 0.0, 0.0, note="the only move")
    found = searcher.search(view)
    best, mine = found.best, found.of(action)
    if best.action == action:
        return _judged(table, action, action, best.value, best.value, 0.0, searcher.in_words(best))
    if mine is not None and mine.proven and best.proven:
        return _judged(
            table, action, best.action, (mine.proof + 1) / 2, (best.proof + 1) / 2, 0.0,
            searcher.in_words(mine),
        )  # fmt: skip
    duel = searcher.duel(view, action, best.action, max(found.sims, searcher.settings["sims"]))
    return _judged(
        table, action, best.action, duel.one.value, duel.other.value, duel.unsure,
        searcher.in_words(duel.one),
    )  # fmt: skip


def _judged(
    table: Table, action: int, best: int, value: float, best_value: float, unsure: float, note: str
) -> Judged:
    return Judged(
        ply=table.plies, seat=table.seat, action=action, words=table.say(action), best=best,
        best_words=table.say(best), value=value, best_value=best_value, unsure=unsure, note=note,
    )  # fmt: skip
