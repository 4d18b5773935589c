"""What a match showed: results with intervals, computed from the points of every game."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from kibitz.core.game import Game
from kibitz.core.notebook import Shown, card, heading, listing, note

Z = 1.959964  # two-sided 95%
LOPSIDED = 1.25  # how much longer one side of an interval may be where one width is written


def interval_text(mean: float, low: float, high: float, digits: int = 0) -> str:
    """Write `1480 ± 30`, or `2000 (1928 to 2140)` where one side is clearly longer."""
    below, above = mean - low, high - mean
    if not math.isfinite(below) or not math.isfinite(above):
        return f"{mean:.{digits}f} ± ?"
    if max(below, above) > LOPSIDED * min(below, above):
        return f"{mean:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"
    return f"{mean:.{digits}f} ± {max(below, above):.{digits}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A mean with the half-width of its 95% interval."""

    mean: float
    plus_minus: float

    def text(self, digits: int = 2, scale: float = 1.0) -> str:
        """Write it as `12.3 ± 0.4`."""
        return f"{self.mean * scale:.{digits}f} ± {self.plus_minus * scale:.{digits}f}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """A share between 0 and 1 with its 95% interval (Wilson's, sound near 0 and 1 too)."""

    mean: float
    low: float
    high: float

    def text(self) -> str:
        """Write it in per cent as `62.1 ± 0.9%`; near 0 and 100 as `98.0% (93.0 to 99.4)`."""
        wider = max(self.high - self.mean, self.mean - self.low)
        low, high = f"{100 * self.low:.1f}", f"{100 * self.high:.1f}"
        if low != high and not wider <= self.mean <= 1.0 - wider:
            return f"{100 * self.mean:.1f}% ({low} to {high})"
        return f"{100 * self.mean:.1f} ± {100 * wider:.1f}%"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatResult:
    """How things went at one seat: for one agent, or for everybody who sat there."""

    seat: int
    games: int
    share: Share
    points: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResult:
    """How one agent did. `share` counts a win as 1 and divides a draw among those who share it.

    `perfect` is the share of games with as many points as there can be, where that is known.
    """

    name: str
    wins: int
    draws: int
    losses: int
    share: Share
    points: Estimate
    margin: Estimate  # own points less the mean of the others'
    seats: tuple[SeatResult, ...]
    perfect: Share | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MatchResult(Shown):
    """What a match showed. Two results are equal when the games were; time does not count."""

    game: str
    settings: dict[str, Any]
    version: int
    cooperative: bool
    games: int
    seed: int
    duplicate: bool
    agents: tuple[AgentResult, ...]
    seats: tuple[SeatResult, ...]
    moves: int
    longest: int  # plies of the longest game
    seconds: float = field(compare=False)

    @property
    def games_per_second(self) -> float:
        """How fast the games were played, on all cores together."""
        return self.games / self.seconds

    @property
    def moves_per_second(self) -> float:
        """How fast the moves were played, on all cores together."""
        return self.moves / self.seconds

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain data, for JSON."""
        rates = {
            "games_per_second": self.games_per_second,
            "moves_per_second": self.moves_per_second,
        }
        return {**asdict(self), **rates}

    def __str__(self) -> str:
        lines = [f"{self.game}, {self.games:,} games, seed {self.seed}"]
        for agent in self.agents:
            row = f"  {agent.name:<24} points {agent.points.text()}"
            if not self.cooperative:
                row += (
                    f"  share {agent.share.text()}"
                    f"  +{agent.wins:,} ={agent.draws:,} -{agent.losses:,}"
                )
            lines.append(row)
        lines.append(
            f"  {self.games_per_second:,.0f} games and {self.moves_per_second:,.0f} moves a second"
        )
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self.cooperative:
            columns = ["agent", "points"]
            rows = [[agent.name, agent.points.text()] for agent in self.agents]
            if all(agent.perfect is not None for agent in self.agents):
                columns.append("perfect games")
                for row, agent in zip(rows, self.agents, strict=True):
                    row.append(agent.perfect.text() if agent.perfect else "")
        else:
            columns = ["agent", "share", "won", "drawn", "lost", "points", "margin"]
            rows = [
                [
                    agent.name, agent.share.text(), f"{agent.wins:,}", f"{agent.draws:,}",
                    f"{agent.losses:,}", agent.points.text(), agent.margin.text(),
                ]
                for agent in self.agents
            ]  # fmt: skip
        return card(
            heading(self.game, f"{self.games:,} games, seed {self.seed}"),
            listing(columns, rows),
            note(
                f"{'Duplicate deals. ' if self.duplicate else ''}Intervals are 95%. "
                f"{self.moves / self.games:.1f} moves a game; {self.games_per_second:,.0f} games "
                f"and {self.moves_per_second:,.0f} moves a second."
            ),
        )


def summarise(
    game: Game,
    names: list[str],
    seed: int,
    duplicate: bool,
    points: np.ndarray,
    plies: np.ndarray,
    seconds: float,
) -> MatchResult:
    """Turn points by game and agent ([games, seats]) into results with intervals."""
    games, seats = points.shape
    best = points.max(axis=1, keepdims=True)
    on_top = points == best
    shares = on_top / on_top.sum(axis=1, keepdims=True)
    alone = on_top.sum(axis=1) == 1
    margins = points - (points.sum(axis=1, keepdims=True) - points) / max(seats - 1, 1)
    rotation = np.arange(games) % seats
    # Games of one deal are not independent of each other: the deal is the unit.
    unit = seats if duplicate else 1
    most = game.most_points(game.settings) if game.most_points is not None else None
    agents = []
    for agent, name in enumerate(_told_apart(names)):
        wins = int((on_top[:, agent] & alone).sum())
        draws = int((on_top[:, agent] & ~alone).sum())
        at_seat = (agent + rotation) % seats
        agents.append(
            AgentResult(
                name=name,
                wins=wins,
                draws=draws,
                losses=games - wins - draws,
                share=share_of(shares[:, agent], unit),
                points=estimate_of(points[:, agent], unit),
                margin=estimate_of(margins[:, agent], unit),
                seats=tuple(
                    _seat(seat, shares[at_seat == seat, agent], points[at_seat == seat, agent])
                    for seat in range(seats)
                ),
                perfect=None if most is None else share_of(points[:, agent] >= most, unit),
            )
        )
    everybody = []
    for seat in range(seats):
        agent_there = (seat - rotation) % seats
        rows = np.arange(games)
        everybody.append(_seat(seat, shares[rows, agent_there], points[rows, agent_there], unit))
    return MatchResult(
        game=game.name,
        settings=dict(game.settings),
        version=game.version,
        cooperative=game.cooperative,
        games=games,
        seed=seed,
        duplicate=duplicate,
        agents=tuple(agents),
        seats=tuple(everybody),
        moves=int(plies.sum(dtype=np.int64)),
        longest=int(plies.max()),
        seconds=seconds,
    )


def _seat(seat: int, shares: np.ndarray, points: np.ndarray, unit: int = 1) -> SeatResult:
    return SeatResult(
        seat=seat, games=len(shares), share=share_of(shares, unit), points=estimate_of(points, unit)
    )


def estimate_of(values: np.ndarray, unit: int = 1) -> Estimate:
    """Student's interval of a mean; so many values in a row are one observation."""
    return estimate_from(*_observed(values, unit))


def share_of(values: np.ndarray, unit: int = 1) -> Share:
    """Wilson's interval of a share; so many values in a row are one observation."""
    return share_from(*_observed(values, unit))


def _observed(values: np.ndarray, unit: int) -> tuple[int, float, float]:
    means = values.reshape(-1, unit).mean(axis=1)
    variance = float(means.var(ddof=1)) if len(means) > 1 else 0.0
    return len(means), float(means.mean()), variance


def estimate_from(number: int, mean: float, variance: float) -> Estimate:
    """Student's interval of the mean of so many observations."""
    if number < 2:
        return Estimate(mean=mean, plus_minus=math.inf)
    free = number - 1
    t = Z + (Z**3 + Z) / (4 * free) + (5 * Z**5 + 16 * Z**3 + 3 * Z) / (96 * free**2)  # Student's
    return Estimate(mean=mean, plus_minus=t * math.sqrt(variance / number))


def share_from(number: int, mean: float, variance: float) -> Share:
    """Wilson's interval, for as many independent games as would vary as much as these did."""
    n = float(number)
    if variance > 0 and 0 < mean < 1:
        n = max(1.0, n * mean * (1 - mean) / variance)
    middle = (mean + Z * Z / (2 * n)) / (1 + Z * Z / n)
    half = Z / (1 + Z * Z / n) * math.sqrt(mean * (1 - mean) / n + Z * Z / (4 * n * n))
    # Rounding must not push the mean itself out of its interval.
    return Share(
        mean=mean, low=min(mean, max(0.0, middle - half)), high=max(mean, min(1.0, middle + half))
    )


def _told_apart(names: list[str]) -> list[str]:
    """Number the copies of an agent that sits at several seats."""
    seen: dict[str, int] = {}
    told = []
    for name in names:
        seen[name] = seen.get(name, 0) + 1
        told.append(name if seen[name] == 1 else f"{name} #{seen[name]}")
    return told
