"""How long it takes until something happens, with a warm compile cache."""

from __future__ import annotations

import subprocess
import sys
import time

import numpy as np

from bench.report import Row, spread

ROUNDS = 7
COMMANDS = {
    "import kibitz": ["-c", "import kibitz"],
    "kibitz games": ["-c", "from kibitz.cli import main; main()", "games"],
    "kibitz solve tapnswap": ["-c", "from kibitz.cli import main; main()", "solve", "tapnswap"],
}


def run() -> list[Row]:
    rows = []
    for what, arguments in COMMANDS.items():
        spans = []
        for _ in range(ROUNDS + 1):
            began = time.perf_counter()
            subprocess.run([sys.executable, *arguments], check=True, stdout=subprocess.DEVNULL)
            spans.append(time.perf_counter() - began)
        figure = f"{np.median(spans[1:]):.2f} s"
        rows.append(Row(what=f"`{what}`, start to end", figure=figure, spread=spread(spans[1:])))
    return rows
