"""Records: a game is its dealt state and a list of actions, and can be replayed for ever."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from kibitz.core.errors import BadRecord, IllegalMove, KibitzError
from kibitz.core.files import save
from kibitz.core.game import HEADER, PLIES, SEATS, VIEWER, Game
from kibitz.core.notebook import Shown, record_card

if TYPE_CHECKING:
    from kibitz.core.table import Table

FORMAT = 1
LARGEST = 16 << 20  # bytes of a record file; a real one has a few kilobytes


@dataclass(frozen=True, kw_only=True)
class Record(Shown):
    """A played game, whole or so far."""

    game: Game
    dealt: tuple[int, ...]
    actions: tuple[int, ...]
    agents: tuple[str, ...] = ()
    seed: int | None = None

    def table(self, plies: int | None = None) -> Table:
        """Set up the table after so many plies (by default all), checking every action."""
        from kibitz.core.table import Table

        table = Table(self.game, np.array(self.dealt, np.int16), seed=self.seed)
        for action in self.actions[:plies]:
            table.play(action)
        return table

    def steps(self) -> Iterator[tuple[Table, int]]:
        """Go through the game: the table before each action, and the action."""
        table = self.table(0)
        for action in self.actions:
            yield table, action
            table.play(action)

    def name_of(self, seat: int) -> str:
        """Say who sat there."""
        name = self.agents[seat] if seat < len(self.agents) else f"seat {seat}"
        return "".join(sign if sign.isprintable() else "?" for sign in name)

    # --- text ----------------------------------------------------------------------------------

    def __str__(self) -> str:
        """Write the game so that a person can follow it."""
        lines = [f"{self.game.described()}, version {self.game.version}"]
        lines += [f"seat {seat}: {name}" for seat, name in enumerate(self.agents)]
        for table, action in self.steps():
            view = table.view()
            lines.append(
                f"{view.plies:>4}  seat {view.mover}  {view.brief()}  "
                f"({len(view.legal)} legal)  {view.say(action)}"
            )
        end = self.table()
        points = " ".join(f"{value:g}" for value in end.points)
        lines.append(f"{'over' if end.over else 'so far'}, points {points}")
        return "\n".join(lines) + "\n"

    def _repr_html_(self) -> str | None:
        return record_card(self)

    # --- files ---------------------------------------------------------------------------------

    def to_json(self) -> str:
        """Write the record as JSON: small, versioned, and with the moves in words for a reader."""
        steps = [
            {"seat": table.seat, "action": action, "move": table.say(action)}
            for table, action in self.steps()
        ]
        content = {
            "kibitz record": FORMAT,
            "game": self.game.name,
            "version": self.game.version,
            "settings": dict(self.game.settings),
            "agents": list(self.agents),
            "seed": self.seed,
            "dealt": list(self.dealt),
            "moves": steps,
            "points": self.table().points,
        }
        return json.dumps(content, indent=1) + "\n"

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the record to a file, whole or not at all."""
        return save(path, self.to_json())

    def to_html(self, seat: int = 0) -> str:
        """Write the game as a page that plays it in any browser, as a seat sees the board.

        The page is whole in itself, and holds nothing that this seat may not know.
        """
        from kibitz.core.player import page  # drawings are loaded when they are used

        return page(self, seat)

    def save_page(self, path: str | os.PathLike[str], seat: int = 0) -> Path:
        """Write the game to an HTML file that plays it; see `to_html`."""
        return save(path, self.to_html(seat))

    @classmethod
    def load(
        cls, path: str | os.PathLike[str], find: Callable[[str], Game] | None = None
    ) -> Record:
        """Read a record file and replay it; whatever does not fit raises BadRecord."""
        source = f"'{os.fspath(path)}'"
        try:
            with open(path, "rb") as file:
                data = file.read(LARGEST + 1)
        except OSError as error:
            raise BadRecord(f"Cannot read {source}: {error.strerror or error}.") from error
        if len(data) > LARGEST:
            raise BadRecord(f"{source} is too large for a record ({LARGEST >> 20} MiB at most).")
        return cls.from_json(data, find, source)

    @classmethod
    def from_json(
        cls,
        text: str | bytes,
        find: Callable[[str], Game] | None = None,
        source: str = "This text",
    ) -> Record:
        """Read a record from JSON and replay it; whatever does not fit raises BadRecord."""
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BadRecord(f"{source} is no kibitz record: it is not JSON ({error}).") from error
        if not isinstance(content, dict) or "kibitz record" not in content:
            raise BadRecord(f"{source} is no kibitz record: it lacks the mark 'kibitz record'.")
        if content["kibitz record"] != FORMAT:
            raise BadRecord(
                f"{source} is a record of format {content['kibitz record']!r}; this kibitz reads "
                f"format {FORMAT}. Try a newer kibitz."
            )
        try:
            return cls._checked(content, find, source)
        except BadRecord:
            raise
        except KibitzError as error:
            raise BadRecord(f"{source} does not replay: {error}") from error
        except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
            raise BadRecord(f"{source} is a damaged record: {error!r}.") from error
        except RecursionError as error:
            raise BadRecord(f"{source} is a damaged record: it is nested too deep.") from error

    @classmethod
    def _checked(
        cls, content: dict[str, Any], find: Callable[[str], Game] | None, source: str
    ) -> Record:
        from kibitz.core.registry import find_game

        game = (find or find_game)(str(content["game"])).having(**content["settings"])
        if content["version"] != game.version:
            raise BadRecord(
                f"{source} was played by version {content['version']} of {game.name}; "
                f"this kibitz has version {game.version}, whose rules may differ."
            )
        dealt = tuple(_whole(cell) for cell in content["dealt"])
        problem = flaw_of_cells(game, dealt)
        if problem:
            raise BadRecord(f"{source} is a damaged record: {problem}.")
        seed = content.get("seed")
        record = cls(
            game=game,
            dealt=dealt,
            actions=tuple(_whole(move["action"]) for move in content["moves"]),
            agents=tuple(_printable(name) for name in content.get("agents", ()))[: game.players],
            seed=None if seed is None else _whole(seed),
        )
        problem = game.flaw(record.table(0))
        if problem:
            raise BadRecord(f"{source} is a damaged record: {problem}.")
        try:
            end = record.table()
        except IllegalMove as error:
            raise BadRecord(f"{source} does not replay: {error}") from error
        if end.points != content["points"]:
            raise BadRecord(
                f"{source} does not replay: it claims points {content['points']}, "
                f"its moves give {end.points}."
            )
        return record


def flaw_of_cells(game: Game, dealt: Sequence[int], begun: bool = False) -> str | None:
    """Say which cell of a dealt state cannot be; compiled rules must never meet such a state.

    `begun` allows for moves that were played since the deal.
    """
    if len(dealt) != game.layout.size:
        return f"{game.name} has {game.layout.size} cells, not {len(dealt)}"
    blank = game.blank()
    fixed = [SEATS, VIEWER, *range(HEADER, game.layout.first_own), *[PLIES] * (not begun)]
    if any(dealt[cell] != blank[cell] for cell in fixed):
        return "its header does not fit its settings"
    if not 0 <= dealt[0] < game.players:
        return f"seat {dealt[0]} cannot begin"
    if not 0 <= dealt[PLIES] <= game.bound("most_plies"):
        return f"{dealt[PLIES]} moves are too many"
    for name, run in game.layout.own.items():
        cells = game.layout.cells[name]
        for value in dealt[run]:
            if not cells.low <= value <= cells.high:
                return f"{name} holds {value}, outside {cells.low} to {cells.high}"
    return None


def _whole(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError(f"{value!r} is no whole number")
    return value


def _printable(name: Any) -> str:
    """Keep what a terminal only prints: a name must not be able to command it."""
    return "".join(sign for sign in str(name) if sign.isprintable())[:80]
