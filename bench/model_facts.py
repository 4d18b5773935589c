"""How well the models that come with kibitz play: writes `facts.json` beside them.

`python -m bench.model_facts [GAME ..]`. The date of a model is that of the commit that brought it.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import kibitz
from kibitz.core.game import Game
from kibitz.core.models import made_for, own_models, read_header
from kibitz.model_cards import FACTS

# Against whom, and in how many games.
OPPONENTS: dict[str, tuple[int, tuple[str, ...]]] = {
    "carcassonne": (400, ("greedy", "random")),
    "hanabi": (10_000, ()),
    "mexican_train": (400, ("persistent-line", "planner")),
    "nim": (10_000, ("nim-sum", "random")),
    "tapnswap": (10_000, ("random",)),
}
SEED = 1


def facts_of(path: Path, game: Game) -> dict[str, Any]:
    """Return the date and the results of a model."""
    table = made_for(path, game)
    who = f"{read_header(path)['agent']}:model={path.stem}"
    games, opponents = OPPONENTS[game.name]
    results = []
    for other in opponents or ("",):
        lineup = [who, *[other] * (table.players - 1)] if other else [who]
        found = kibitz.match(table, lineup, games=games, seed=SEED)
        if other:
            won = f"wins {found.agents[0].share.text()} against {other}"
            won += f" at the other {table.players - 1} seats" if table.players > 2 else ""
        else:
            won = f"{found.agents[0].points.text()} points with itself"
        command = f"kibitz match {table.typed()} {' '.join(lineup)} --games {games} --seed {SEED}"
        results.append(f"{won}: {command}")
    command = ["git", "log", "-1", "--format=%as", "--", str(path)]
    date = subprocess.run(command, capture_output=True, text=True, check=True, cwd=path.parent)
    return {"date": date.stdout.strip(), "results": results}


if __name__ == "__main__":
    for name in sys.argv[1:] or OPPONENTS:
        game = kibitz.game(name)
        paths = own_models(game, "")
        facts = {path.stem: facts_of(path, game) for path in paths}
        file = paths[0].with_name(FACTS)
        file.write_text(json.dumps(facts, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
        print(file)
