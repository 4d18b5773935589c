"""Plots: one look for all. Matplotlib is imported when the first one is drawn."""

from __future__ import annotations

from pathlib import Path
from typing import Any

# Okabe and Ito's colours, which people who see few colours can tell apart.
BLUE, ORANGE, GREEN, PINK, YELLOW, SKY = (
    "#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
)  # fmt: skip
COLOURS = (BLUE, ORANGE, GREEN, PINK, YELLOW, SKY)
QUIET, FAINT = "#6B6B6B", "#D9D4C7"


class Canvas:
    """A figure with a title above it on the left and a caption below that says how it was made."""

    def __init__(self, title: str, caption: str, width: float = 8.0, height: float = 4.5) -> None:
        import matplotlib

        matplotlib.use("Agg", force=False)
        from matplotlib.figure import Figure

        self.figure: Any = Figure(figsize=(width, height), layout="constrained")
        self.figure.suptitle(title, x=0.02, ha="left", fontsize=11)
        self.figure.supxlabel(caption, x=0.02, ha="left", fontsize=8, color=QUIET)

    def axes(self, columns: int = 1) -> list[Any]:
        """Give so many sets of axes side by side."""
        made = self.figure.subplots(1, columns, squeeze=False)[0].tolist()
        for axes in made:
            axes.spines[["top", "right"]].set_visible(False)
        return made

    def legend(self, axes: Any = None, columns: int = 3) -> None:
        """Name the lines of some axes, or of all, above the picture on the right."""
        given = axes.get_legend_handles_labels() if axes is not None else ()
        self.figure.legend(
            *given, loc="outside upper right", ncols=columns, frameon=False, fontsize=9
        )

    def save(self, path: Path) -> None:
        """Write the picture."""
        self.figure.savefig(path, dpi=120)
