"""Run whatever is compiled, once, with small settings: `python -m tests.every_loop`.

It prints as JSON how many functions of kibitz were compiled or loaded, and which of them in more
than one form: for arguments of other types, which compiles them again and again.
"""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path

import gymnasium
import numpy as np

import kibitz
import kibitz.bridges.gymnasium
from kibitz.core.jit import dispatch
from kibitz.core.jit.library import KEYED

assert kibitz.bridges.gymnasium
SHORTER = {"mexican_train": {"hands": 1, "players": 3}, "carcassonne": {"tiles": 8}}
QUICKLY = {"mcts": "mcts:sims=20"}
NETWORK = {"decisions": 512, "buffer": 256, "boards": 16, "batch": 64, "hidden": "16",
           "option_hidden": "8", "evaluate_every": 1, "evaluate_games": 8}  # fmt: skip
LEARNERS = [
    ("tapnswap", "q-learning", {"games": 100, "evaluate_every": 50}),
    ("tapnswap", "q-learning", {"games": 100, "opponents": "random"}),
    ("nim", "evolution", {"budget": 16, "games": 34}),
    ("nim", "evolution", {"budget": 16, "games": 34, "method": "cma"}),
    ("carcassonne", "evolution", {"budget": 8, "games": 4}),
    ("nim", "td-lambda", NETWORK),
    ("nim", "ppo", NETWORK),
    ("nim", "ppo", {**NETWORK, "teacher": "expert"}),
    ("hanabi", "classifier", {"games": 2000, "tested_on": 100, "compacted_on": 0, "islands": 2,
                              "colonies": 2, "colony_share": 0.3, "scouts": 10,
                              "population": 40}),
    ("hanabi", "classifier", {"games": 2000, "tested_on": 100, "population": 40,
                              "fitness": "accuracy", "niches": True}),
    ("hanabi", "classifier", {"games": 2000, "tested_on": 100, "population": 40,
                              "numerosity": True, "subsumption": True}),
]  # fmt: skip


def small(name: str) -> kibitz.Game:
    return kibitz.game(name, **SHORTER.get(name, {}))


def play_matches() -> None:
    for name in kibitz.game_names():
        game = small(name)
        for who in kibitz.agent_names(game):
            agents = [QUICKLY.get(who, who), "random"]
            result = kibitz.match(game, agents, 1, seed=1)
            assert result.games >= 1
            agent, table = kibitz.agent(agents[0], game), game.deal(1)
            agent.begin(table.seat, kibitz.Chance(1))
            agent.explain(table.view())


def search() -> None:
    for game in (kibitz.game("nim", rows="1,3,4"), kibitz.game("tapnswap")):
        kibitz.solve(game)
        kibitz.solve(game, folded=False)
        kibitz.grade(game, "random")
    record = kibitz.game("nim").deal(1).play("3 4").record()
    kibitz.analyse(record)


def learn(folder: Path) -> None:
    for number, (name, learner, settings) in enumerate(LEARNERS):
        where = folder / str(number)
        kibitz.train(learner, small(name), seed=1, folder=where, plots=False, **settings)


def step_many() -> None:
    for name in kibitz.game_names():
        batch = kibitz.Batch(small(name), 4, 1)
        many = gymnasium.make_vec(f"kibitz/{name}-v1", num_envs=2)
        _, info = many.reset(seed=1)
        for _ in range(3):
            batch.step(batch.legal[np.arange(4), 0].astype(np.int64))
            _, _, _, _, info = many.step(info["action_mask"].argmax(axis=1))
        many.close()


def play_league(folder: Path) -> None:
    league = kibitz.open_league(kibitz.game("nim"), str(folder / "league.sqlite"), seed=1)
    league.add("expert", "random", "take-one", "gabriele")
    league.run(games=24)
    league.ladder()
    league.report()


def forms() -> dict[str, set[str]]:
    """List the argument types for which each function of kibitz was compiled or loaded.

    Compiled code names what it is made of, also where it was loaded.
    """
    pattern = re.compile(rf"_ZN08NumbaEnv(6kibitz.*?)B\d+v{KEYED}([0-9a-f]{{20}})B(\d+)(.*)$")
    found: dict[str, set[str]] = {}
    for one in dispatch.made:
        libraries = [result.library for result in one.overloads.values()]
        if one.known.runnable is not None:
            libraries.append(one.known.runnable.library)
        for library in libraries:
            for match in map(pattern.match, library.environments):
                if match is not None:
                    name, key, flags, rest = match.groups()
                    found.setdefault(f"{name} {key}", set()).add(rest[int(flags) :])
    return found


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        for part in (play_matches, search, step_many):
            part()
            print(part.__name__, file=sys.stderr, flush=True)
        learn(Path(folder))
        play_league(Path(folder))
    found = forms()
    callers = "4core3jit5calls"  # a function for each signature, see `overloads`
    several = {
        name: sorted(types)
        for name, types in found.items()
        if len(types) > 1 and callers not in name
    }
    overloads = {
        one.known.name: len(one.overloads)
        for one in dispatch.made
        if len(one.overloads) > 1 and one.known.name.startswith("kibitz.")
    }
    print(json.dumps({"functions": len(found), "several": several, "overloads": overloads}))


if __name__ == "__main__":
    main()
