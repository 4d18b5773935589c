"""Rendering for environments: text, pictures made of the game's own drawing, and a window."""

from __future__ import annotations

import functools
import io
from typing import Any

import numpy as np

from kibitz.bridges.board import Board
from kibitz.bridges.needs import need
from kibitz.core.errors import unknown
from kibitz.core.svg import PALETTE, in_plain_colours

MODES = ("human", "ansi", "rgb_array")
WIDTH = 720  # pixels
FRAMES = 4  # a second, in a window


def pixels(svg: str, width: int = WIDTH) -> np.ndarray:
    """Turn a drawing into a picture, [height, width, 3], with bytes for red, green and blue."""
    from PIL import Image

    # The font comes with Matplotlib: the picture is the same on every machine.
    data = need("resvg_py").svg_to_bytes(
        svg_string=in_plain_colours(svg), width=width, background=PALETTE["paper"][0],
        skip_system_fonts=True, font_files=list(_fonts()), font_family="DejaVu Sans",
        sans_serif_family="DejaVu Sans",
    )  # fmt: skip
    return np.array(Image.open(io.BytesIO(bytes(data))).convert("RGB"))


@functools.cache
def _fonts() -> tuple[str, ...]:
    from matplotlib import font_manager

    return tuple(
        font_manager.findfont(font_manager.FontProperties(family="DejaVu Sans", weight=weight))
        for weight in ("normal", "bold")
    )


class Renderer:
    """Shows a board as an environment was asked to."""

    def __init__(self, board: Board, mode: str | None) -> None:
        if mode is not None and mode not in MODES:
            raise unknown("render mode", str(mode), MODES)
        self.board = board
        self.mode = mode
        self._window: Any = None

    def render(self, seat: int) -> str | np.ndarray | None:
        """Give text or a picture of what a seat sees, or show the picture in a window."""
        view = self.board.view(seat)
        if self.mode == "ansi":
            return str(view)
        picture = pixels(view.svg(last=self.board.last_move(seat)))
        if self.mode == "rgb_array":
            return picture
        self._show(picture)
        return None

    def _show(self, picture: np.ndarray) -> None:
        pygame = need("pygame")
        size = picture.shape[1], picture.shape[0]
        if self._window is None or self._window.get_size() != size:
            pygame.display.init()
            self._window = pygame.display.set_mode(size)
            pygame.display.set_caption(self.board.game.title)
            self._clock = pygame.time.Clock()
        pygame.event.pump()
        self._window.blit(pygame.surfarray.make_surface(picture.swapaxes(0, 1)), (0, 0))
        pygame.display.flip()
        self._clock.tick(FRAMES)

    def close(self) -> None:
        """Close the window, if there is one."""
        if self._window is not None:
            need("pygame").display.quit()
            self._window = None
