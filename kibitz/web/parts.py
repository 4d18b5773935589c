"""Elements of our own: the board and the list of moves."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui
from nicegui.events import GenericEventArguments

from kibitz.core.svg import seat_mark


class Board(ui.element, component="board.js"):
    """A drawing whose parts can be clicked; `on_act(action, plies)` hears what was."""

    def __init__(self, on_act: Callable[[Any, Any], Any]) -> None:
        super().__init__()
        self._props.update(svg="", plies=0, live=False, label="board")

        def heard(event: GenericEventArguments) -> Any:
            said = event.args if isinstance(event.args, dict) else {}
            return on_act(said.get("action"), said.get("plies"))

        self.on("act", heard)

    def show(self, svg: str, plies: int, live: bool, label: str) -> None:
        """Show a drawing; `live` says whether it may be clicked."""
        new = {"svg": svg, "plies": plies, "live": live, "label": label}
        if any(self._props[name] != value for name, value in new.items()):
            self._props.update(new)
            self.update()

    def release(self) -> None:
        """Let the person try again after a move that was refused."""
        self.run_method("release")


class Moves(ui.element, component="moves.js"):
    """The moves of a game; `on_go(ply)` hears which of them is to be shown."""

    def __init__(self, seats: int, on_go: Callable[[Any], Any]) -> None:
        super().__init__()
        marks = [seat_mark(seat, 8, 8, 12) for seat in range(seats)]
        self._listed: list[dict[str, Any]] = []
        self._props.update(moves="[]", marks=marks, at=0, empty="No moves yet.")
        self.on("go", lambda event: on_go(event.args))

    def show(self, moves: Sequence[dict[str, Any]], at: int) -> None:
        """Show moves (ply, seat, words, and maybe cost, grade and better), one of them marked."""
        before, new = self._listed, list(moves)
        same = 0
        while same < min(len(before), len(new)) and before[same] == new[same]:
            same += 1
        if same < max(len(before), len(new)) or self._props["at"] != at:
            self._listed = new
            with self._props.suspend_updates():  # these are for whoever loads the page anew
                self._props.update(moves=json.dumps(new), at=at)
            self.run_method("patch", same, new[same:], at)
