"""Rows of results, and where they were measured."""

from __future__ import annotations

import os
import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numba
import numpy as np

HERE = Path(__file__).parent
RESULTS = HERE / "results.md"


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One measured figure: the median of some rounds, their spread, and how it compares."""

    what: str
    figure: str
    spread: str = ""
    compared: str = ""


class FellShort(AssertionError):
    """Something that must hold did not. The rows are printed and recorded all the same."""

    def __init__(self, rows: list[Row], what: list[str]) -> None:
        super().__init__("; ".join(what))
        self.rows = rows


def spread(values: tuple[float, ...] | list[float]) -> str:
    """Say how far rounds lay apart, as the standard deviation in per cent of the mean."""
    return f"± {100 * np.std(values) / np.mean(values):.0f}%"


def machine() -> str:
    """Describe the machine and the versions."""
    model = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        lines = [line for line in cpuinfo.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].partition(":")[2].strip() if lines else model
    return (
        f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"Numba {numba.__version__}, NumPy {np.__version__}"
    )


def commit() -> str:
    """Name the commit, and whether something was changed since."""

    def git(*arguments: str) -> str:
        done = subprocess.run(
            ["git", *arguments], capture_output=True, text=True, cwd=HERE, check=False
        )
        return done.stdout.strip()

    changed = " with changes" if git("status", "--porcelain", "--", "../kibitz") else ""
    return (git("rev-parse", "--short", "HEAD") or "unknown") + changed


def table(rows: list[Row]) -> str:
    """Write rows as a Markdown table."""
    lines = ["| what | figure | spread | compared |", "|---|---:|---:|---|"]
    lines += [f"| {row.what} | {row.figure} | {row.spread} | {row.compared} |" for row in rows]
    return "\n".join(lines)
