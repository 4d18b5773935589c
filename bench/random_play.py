"""Random play on one core, beside OpenSpiel in the same run."""

from __future__ import annotations

import kibitz
from bench.report import Row, spread
from kibitz.play.speed import measure

SECONDS = 10.0
# What must hold in every run: kibitz against the other, as a ratio.
AT_LEAST = {"OpenSpiel, Python loop": 15.0, "OpenSpiel, C++ rollouts": 2.0}


def run() -> list[Row]:
    rows = []
    for name in kibitz.game_names():
        speeds = measure(kibitz.game(name), SECONDS)
        ours = speeds[0].per_second
        for speed in speeds:
            ratio = ours / speed.per_second
            least = AT_LEAST.get(speed.who)
            compared = "" if least is None else f"kibitz is {ratio:.1f} x (at least {least:.0f})"
            rows.append(
                Row(
                    what=f"{name}, random play, {speed.who}",
                    figure=f"{speed.per_second:,.0f} moves/s",
                    spread=spread(speed.rounds),
                    compared=compared,
                )
            )
            assert least is None or ratio >= least, f"{name}: only {ratio:.1f} x {speed.who}"
    return rows
