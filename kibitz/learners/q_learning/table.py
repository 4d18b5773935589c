"""The Q-table: a value and a count of visits for every move of every position; its files.

The native file is a safetensors model. Where the game's room orders its positions as rows (in a
module `rows` with `ROWS` and `row_of(state)`), or else in the order in which they are found, a
table can also be written as CSV and read again, bit for bit.
"""

from __future__ import annotations

import functools
import io
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.agent import CompiledAgent, Kind, Opinion, opinion
from kibitz.core.chance import draw_best
from kibitz.core.compiled import CHOOSE, VALUE, compiled
from kibitz.core.errors import BadModel, Misuse
from kibitz.core.files import check_can_save, save
from kibitz.core.game import Game
from kibitz.core.models import find_model, load_model, own_model, save_model
from kibitz.core.options import Text
from kibitz.core.table import Table, View
from kibitz.learners.q_learning.labels import column_labels, is_labelled, labelled, without_labels
from kibitz.play.graph import NONE, POSITIONS, Graph, chart, number_of, payload, unsolvable

MOST_POSITIONS = 2_000_000
OWN = "q-table"  # the name of the table that comes with a game
MOST_VISITS = 2**53  # beyond, a float cannot count
COUNTS = "data/count_"  # where the counts lie, seen from the values


@functools.lru_cache(maxsize=8)
def graph_of(game: Game) -> Graph:
    """Number the positions of a game, mirror images apart; kept for the next to ask."""
    return chart(game, folded=False, most=MOST_POSITIONS)


@dataclass(frozen=True, kw_only=True, eq=False)
class QTable:
    """What Q-learning knows about a game."""

    game: Game
    values: np.ndarray  # [edges], of every move for whoever makes it
    visits: np.ndarray  # [edges]
    # Cells of a CSV file that belong to no move, kept so that it can be written again as it was.
    beyond: Mapping[str, np.ndarray] | None = None

    @property
    def graph(self) -> Graph:
        """The positions and moves that the values belong to."""
        return graph_of(self.game)

    def __post_init__(self) -> None:
        wanted = (len(self.graph.children),)
        if self.values.shape != wanted or self.visits.shape != wanted:
            raise BadModel(f"A Q-table of {self.game.described()} has {wanted[0]:,} moves.")

    def of(self, view: View) -> dict[int, tuple[float, int]]:
        """Give value and visits of every legal action in a position."""
        index = self.graph.positions.find(view.cells)
        if index == NONE:
            return {}
        edges = range(self.graph.first[index], self.graph.first[index + 1])
        known = [(float(self.values[edge]), int(self.visits[edge])) for edge in edges]
        return dict(zip(view.legal, known, strict=True))

    def agent(self) -> CompiledAgent:
        """Give the agent that plays the best move of the table."""
        return table_kind(self)(self.game)

    # --- the native file -----------------------------------------------------------------------

    def arrays(self) -> dict[str, np.ndarray]:
        """Give what a model file holds."""
        beyond = {f"beyond {name}": array for name, array in (self.beyond or {}).items()}
        return {"values": self.values, "visits": self.visits, **beyond}

    def save(self, path: str | os.PathLike[str], about: Mapping[str, Any] | None = None) -> Path:
        """Write a model file, whole or not at all."""
        return save_model(path, "q-table", self.game, self.arrays(), about)

    @classmethod
    def load(cls, path: str | os.PathLike[str], game: Game) -> QTable:
        """Read a model that was made for this very game."""
        arrays, _ = load_model(path, "q-table", game)
        values, visits = arrays.get("values"), arrays.get("visits")
        if values is None or visits is None:
            raise BadModel(f"'{os.fspath(path)}' is a damaged model: values or visits are missing.")
        beyond = {n[7:]: array for n, array in arrays.items() if n.startswith("beyond ")}
        floats = [values, *beyond.values()]
        if (
            visits.dtype != np.int64
            or (visits < 0).any()
            or any(array.dtype != np.float64 or not np.isfinite(array).all() for array in floats)
            or any(array.shape != _shape(game) for array in beyond.values())
        ):
            raise BadModel(f"'{os.fspath(path)}' is a damaged model: its numbers are not right.")
        return cls(game=game, values=values, visits=visits, beyond=beyond or None)

    @property
    def has_rows(self) -> bool:
        """Whether every move has a cell of its own in a CSV file."""
        cells = _cells(self.game)
        return len(np.unique(cells)) == len(cells)

    # --- CSV -----------------------------------------------------------------------------------

    def save_csv(self, path: str | os.PathLike[str], labels: bool = False) -> tuple[Path, Path]:
        """Write values to a CSV file, and visits to `data/count_` and its name beside it.

        With labels, moves and positions are named, for spreadsheets and pandas.
        """
        cells = _checked_cells(self.game)
        paths = Path(path), _counts_beside(Path(path))
        for file in paths:  # both or neither
            try:
                file.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise Misuse(
                    f"Cannot make the folder '{file.parent}': {error.strerror}."
                ) from error
            check_can_save(file)
        kept = self.beyond or {}
        for file, name, array in zip(
            paths, ("values", "visits"), (self.values, self.visits), strict=True
        ):
            table = kept.get(name, np.zeros(_shape(self.game))).copy()
            table.flat[cells] = array
            if labels:
                write = repr if name == "values" else "{:.0f}".format
                names = _row_labels(self.game), column_labels(self.game)
                save(file, labelled(table, *names, write))
                continue
            text = io.StringIO()
            np.savetxt(text, table, delimiter=",")  # numbers as %.18e, which is exact
            save(file, text.getvalue())
        return paths

    @classmethod
    def load_csv(cls, path: str | os.PathLike[str], game: Game) -> QTable:
        """Read values from a CSV file, and visits from the file beside it if there is one."""
        path = Path(path)
        counts = _counts_beside(path)
        tables = {"values": _read_csv(path, game)}
        if counts.exists():
            visits = tables["visits"] = _read_csv(counts, game)
            wrong = np.argwhere((visits % 1 != 0) | (visits < 0) | (visits > MOST_VISITS))
            if len(wrong):
                row, column = wrong[0] + 1
                raise BadModel(f"Row {row}, column {column} of '{counts}' is not a count.")
        cells = _checked_cells(game)
        known = {name: table.flat[cells] for name, table in tables.items()}
        beyond = {}
        for name, table in tables.items():
            rest = table.copy()
            rest.flat[cells] = 0.0
            if rest.any() or np.signbit(rest).any():
                beyond[name] = rest
        return cls(
            game=game,
            values=known["values"],
            visits=known.get("visits", np.zeros(len(cells))).astype(np.int64),
            beyond=beyond or None,
        )


def read_table(path: str | os.PathLike[str], game: Game) -> QTable:
    """Read a table from a model file or from CSV, or one that comes with the game, by its name."""
    path = find_model(path, game)
    return (QTable.load_csv if path.suffix == ".csv" else QTable.load)(path, game)


def _shape(game: Game) -> tuple[int, int]:
    rows = game.rows.ROWS if game.rows is not None else len(graph_of(game).positions)
    return rows, game.bound("actions")


def _row_labels(game: Game) -> list[str]:
    """Name every row of a table."""
    if game.rows is not None and hasattr(game.rows, "label_of"):
        return [game.rows.label_of(row) for row in range(game.rows.ROWS)]
    views = (Table(game, state.copy()).view(0) for state in graph_of(game).positions.states)
    return [f"{row}: {view.brief()}" for row, view in enumerate(views)]


def _cells(game: Game) -> np.ndarray:
    """Give for every edge its place in the table, row after row."""
    graph = graph_of(game)
    states = graph.positions.states
    if game.rows is None:
        rows = np.arange(len(states))
    else:
        rows = np.array([-1 if done else game.rows.row_of(state)
                         for state, done in zip(states, graph.finished, strict=True)])  # fmt: skip
    owners = np.repeat(np.arange(len(states)), np.diff(graph.first))
    return rows[owners] * game.bound("actions") + graph.actions()


def _checked_cells(game: Game) -> np.ndarray:
    cells = _cells(game)
    if len(np.unique(cells)) < len(cells):
        raise Misuse(
            f"{game.described()} has several positions in one row of its table, so it cannot be "
            "written as CSV. Keep it as a .safetensors file."
        )
    return cells


def _counts_beside(path: Path) -> Path:
    return path.parent / f"{COUNTS}{path.name}"


def _read_csv(path: Path, game: Game) -> np.ndarray:
    shape = _shape(game)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except OSError as error:
        raise BadModel(f"Cannot read '{path}': {error.strerror}.") from error
    except UnicodeDecodeError as error:
        raise BadModel(f"Cannot read '{path}': it is no text.") from error
    if is_labelled(lines):
        rows = without_labels(lines, _row_labels(game), column_labels(game), path)
    else:
        rows = [line.split(",") for line in lines]
    wanted = f"A Q-table of {game.described()} has {shape[0]} rows of {shape[1]} numbers"
    if len(rows) != shape[0]:
        raise BadModel(f"{wanted}, and '{path}' has {len(rows)} rows.")
    table = np.empty(shape)
    for row, parts in enumerate(rows):
        if len(parts) != shape[1]:
            raise BadModel(f"{wanted}, and row {row + 1} of '{path}' has {len(parts)}.")
        for column, part in enumerate(parts):
            try:
                table[row, column] = float(part.replace("_", "no number"))
            except ValueError:
                raise BadModel(
                    f"'{part.strip()[:40]}' in row {row + 1}, column {column + 1} of '{path}' "
                    "is not a number."
                ) from None
    wrong = np.argwhere(~np.isfinite(table))
    if len(wrong):
        row, column = wrong[0] + 1
        raise BadModel(f"Row {row}, column {column} of '{path}' is not a finite number.")
    return table


# --- the agent ---------------------------------------------------------------------------------


@compiled(VALUE)
def value(rules, view, actions, n, weights, memory, out):
    """Give what the table holds for each option; nought where it does not know the position."""
    words = weights.view(np.int32)
    state = view.copy()
    index = number_of(rules, words, weights.view(np.int16), state)
    first = payload(words)
    values = (first + words[POSITIONS] + 2) // 2  # as 64-bit numbers, from an even place
    known = weights.view(np.float64)
    for i in range(n):
        out[i] = 0.0 if index == NONE else known[values + words[first + index] + i]


@compiled(CHOOSE)
def q_table(rules, view, actions, n, weights, memory, rng):
    """Play the best move of a table that Q-learning filled, by lot where several are."""
    values = np.empty(n)
    value(rules, view, actions, n, weights, memory, values)
    return actions[draw_best(rng, values, n)]


def table_kind(table: QTable) -> Kind:
    """Make the kind of agent that plays by a table."""

    def weights(*_: Any) -> np.ndarray:
        positions, first = table.graph.positions, table.graph.first.astype(np.int32)
        begins = len(positions.packed(first))
        gap = np.zeros(begins % 2, np.int32)  # values are 64-bit and begin at an even place
        return positions.packed(first, gap, table.values)

    def explain(agent: CompiledAgent, view: View) -> Opinion:
        known = table.of(view)
        action = agent.tried(view)
        if not known:
            return opinion(view, action, "It has never heard of this position.")
        value, visits = known[action]
        return opinion(
            view,
            action,
            f"Its table holds {value:+.3f} for this move, after {visits:,} visits.",
            {action: value for action, (value, _) in known.items()},
            {action: f"{visits:,} visits" for action, (_, visits) in known.items()},
        )

    return Kind(choose=q_table, value=value, weights=weights, explain=explain, name="q-table")


class QTableKind:
    """Play the best move of a table that Q-learning filled."""

    options = (
        Text(
            name="model", default=OWN,
            help="a file that q-learning made, or the name of a table that comes with the game",
        ),
    )  # fmt: skip

    def summary(self) -> str:
        """Say in a line who this is."""
        return str(self.__doc__)

    def unfit(self, game: Game) -> str | None:
        """Say why it cannot play a game without a model of yours, or None."""
        reason = unsolvable(game)
        # A table is for one choice of settings, and those that come with games for the defaults.
        if reason or (not game.changed() and own_model(game, OWN) is not None):
            return reason
        return f"no table comes with it; make one: kibitz train {game.typed()} q-learning"

    def __call__(self, game: Game, model: str = OWN) -> CompiledAgent:
        """Make the agent from a model file, or from a table that comes with the game."""
        return read_table(model, game).agent()


Q_TABLE = QTableKind()
