"""Figures of a league on a page: markup of our own whose parts can be chosen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui


class Choices(ui.element, component="choices.js"):
    """Markup that we have written; `on_choose(choice)` hears which part of it was pressed."""

    def __init__(self, html: str = "", on_choose: Callable[[Any], Any] | None = None) -> None:
        super().__init__()
        self._props["html"] = html
        if on_choose is not None:
            self.on("choose", lambda event: on_choose(event.args))

    def show(self, html: str) -> None:
        """Show other markup; the focus stays where it is, if that is still there."""
        if self._props["html"] != html:
            self._props["html"] = html
            self.update()
