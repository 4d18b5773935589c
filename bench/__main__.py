"""Run the benchmarks: `python -m bench [NAME ...] [--record]`; `--record` adds to results.md."""

from __future__ import annotations

import datetime
import importlib
import sys

from bench.report import RESULTS, FellShort, commit, machine, table

ALL = (
    "random_play", "matches", "start_up", "evolution", "q_learning", "lines", "mexican_train",
    "hanabi", "classifier", "carcassonne", "ppo", "search", "league", "web", "bridges",
)  # fmt: skip


def main(arguments: list[str]) -> None:
    names = [name for name in arguments if not name.startswith("-")] or list(ALL)
    unknown = set(names) - set(ALL)
    if unknown or set(arguments) - set(names) - {"--record"}:
        sys.exit(f"python -m bench [NAME ...] [--record], with NAME one of {', '.join(ALL)}.")
    command = " ".join(["python -m bench", *arguments])
    day = datetime.date.today().isoformat()
    text = f"\n## {day}, commit {commit()}\n\n`{command}` on {machine()}.\n"
    print(text)
    fell_short: list[str] = []
    for name in names:
        print(f"measuring {name} ...", file=sys.stderr)
        try:
            rows = table(importlib.import_module(f"bench.{name}").run())
        except FellShort as error:
            rows = f"{table(error.rows)}\n\nFell short: {error}."
            fell_short.append(str(error))
        print(rows + "\n", flush=True)
        text += f"\n{rows}\n"
    if "--record" in arguments:
        with RESULTS.open("a", encoding="utf-8") as file:
            file.write(text)
    if fell_short:
        sys.exit("Fell short: " + "; ".join(fell_short))


if __name__ == "__main__":
    main(sys.argv[1:])
