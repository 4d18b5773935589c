"""The optimizer of the classifier system: which of its many settings learn best, by Optuna.

Every trial is a training run of its own in the folder, so whatever was stopped goes on where it
was. Optuna's tree-structured Parzen estimator proposes what to try next from all that was tried. It
is seeded anew for every trial: what it proposes follows from the seed and the trials so far.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated, Any, ClassVar, Literal

from kibitz.core.agent import CompiledAgent
from kibitz.core.errors import Misuse, NothingLearned
from kibitz.core.files import save
from kibitz.core.game import Game
from kibitz.core.plots import BLUE, Canvas
from kibitz.core.training import Progress, Run
from kibitz.learners import find_learner
from kibitz.learners import train as train_by_name
from kibitz.learners.classifier_optimizer.space import as_settings, space_of
from kibitz.play.match import match

LEARNER = "classifier"
SEEDS = 1 << 63
AFRESH = 1_000_003  # added to the seed for games that chose nothing


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be set about the search."""

    vary: Annotated[
        str,
        "settings to vary, with + between them; wages.EVENT, likely.WORD and "
        "bands.SCORE are some too",
    ] = (  # fmt: skip
        "population+generation+explore+caution+young+renewed+specialised+generalised+merged+crept"
    )
    trials: Annotated[int, "settings to try", 2, 10_000] = 30
    seeds: Annotated[int, "trainings of each, with seeds of their own", 1, 100] = 2
    games: Annotated[int, "games of each training", 1000, 10**9] = 40_000
    tested_on: Annotated[int, "fresh games that tell how good the rules are", 100, 10**7] = 1000
    method: Annotated[Literal["population", "both"], "as of the classifier system"] = "population"
    cores: Annotated[int, "how many cores to use; 0 for all", 0, 1024] = 0


PRESETS: dict[str, dict[str, Any]] = {"quick": {"trials": 8, "seeds": 1, "games": 10_000}}


def unfit(game: Game) -> str | None:
    """Say why the classifier system cannot learn a game, or None."""
    return find_learner(LEARNER).unfit(game)


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """What the search gives: all that was tried, the best of it and its agent."""

    tried: list[dict[str, Any]]  # settings of each trial, and its mean score over all seeds
    best: dict[str, Any]
    score: float  # of the best; the best of many is partly luck, so see also the next
    afresh: float  # what the agent scores on games that chose nothing
    agent: CompiledAgent
    path: Path | None

    columns: ClassVar[tuple[str, ...]] = ("trial", "score", "settings")

    def rows(self) -> list[tuple[str, str, str]]:
        """List the trials, the best first."""
        order = sorted(enumerate(self.tried), key=lambda pair: -pair[1]["score"])
        return [
            (str(number), f"{trial['score']:.2f}", in_words(trial["settings"]))
            for number, trial in order
        ]

    def summary(self) -> str:
        """Say in a line how it went."""
        return (
            f"best of {len(self.tried)}: mean score {self.score:.2f} with {in_words(self.best)}; "
            f"its rules score {self.afresh:.2f} on fresh games"
        )

    def to_dict(self) -> dict[str, Any]:
        """Give the figures as plain data."""
        return {
            "tried": self.tried, "best": self.best, "score": self.score, "afresh": self.afresh,
        }  # fmt: skip


def in_words(settings: Mapping[str, Any]) -> str:
    """Write settings as the command line takes them."""
    parts = []
    for name, value in settings.items():
        option = name.replace("_", "-")
        if isinstance(value, bool):
            parts.append(f"--{option}" if value else f"--no-{option}")
        else:
            shown = f"{value:.4g}" if isinstance(value, float) else value
            parts.append(f"--{option} {shown}")
    return " ".join(parts)


def train(game: Game, settings: Settings, seed: int, run: Run) -> Tuned:
    """Try settings until all trials are done; give the best, and what it has learned."""
    try:
        import optuna
    except ImportError:
        raise Misuse(
            "The search needs Optuna: pip install 'kibitz[tuning]', or pip install optuna."
        ) from None
    varied = space_of(game, settings.vary)
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    space = {name: distribution(optuna, choices) for name, choices in varied.items()}
    run.claim()
    tried: list[dict[str, Any]] = []
    study = optuna.create_study(direction="maximize")
    with TemporaryDirectory() as spare:
        folder = Path(run.folder or spare) / "trials"
        for number in range(settings.trials):
            study.sampler = optuna.samplers.TPESampler(
                seed=(seed + number) % (1 << 32), n_startup_trials=min(10, settings.trials // 3)
            )
            trial = study.ask(space)
            chosen = as_settings(trial.params)
            score = score_of(game, settings, seed, chosen, folder / str(number), run, number)
            study.tell(trial, score)
            tried.append({"settings": chosen, "score": score})
            best = max(entry["score"] for entry in tried)
            run.log(trial=number, score=score, best=best, **as_figures(trial.params))
            run.tell(number + 1, settings.trials, f"best {best:.2f}")
        at = max(range(len(tried)), key=lambda i: tried[i]["score"])
        model = first_trained(game, settings, seed, tried[at]["settings"], folder / str(at))
    about = {**model.to_dict(), "best": tried[at]["settings"], "mean score": tried[at]["score"]}
    path = run.finish(
        LEARNER, {"rows": rows_of(game, model.rules)}, about, lambda rows, to: plot(rows, to, run)
    )
    if run.folder is not None:
        save(run.folder / "trials.json", json.dumps(tried, indent=1) + "\n")
    return Tuned(
        tried=tried, best=tried[at]["settings"], score=tried[at]["score"],
        afresh=score_afresh(game, model.agent, settings.tested_on, seed), agent=model.agent,
        path=path,
    )  # fmt: skip


def distribution(optuna: Any, choices: tuple[Any, ...]) -> Any:
    """Return what Optuna draws a setting from."""
    if isinstance(choices[-1], bool) and len(choices) == 3:
        low, high, by_magnitude = choices
        whole = isinstance(low, int)
        kind = optuna.distributions.IntDistribution if whole else (
            optuna.distributions.FloatDistribution
        )  # fmt: skip
        return kind(low, high, log=by_magnitude)
    return optuna.distributions.CategoricalDistribution(choices)


def score_of(
    game: Game, settings: Settings, seed: int, params: Mapping[str, Any], folder: Path, run: Run,
    number: int,
) -> float:  # fmt: skip
    """Train with some settings and every seed; give the mean score."""
    total = 0.0
    for i in range(settings.seeds):
        where = f"trial {number + 1}, seed {i + 1}"
        run.tell(number, settings.trials, where)

        def told(done: int, games: int, words: str, where: str = where) -> None:
            run.tell(number, settings.trials, f"{where}: {words}")

        try:
            total += trained(game, settings, seed + i, params, folder / str(i), told).score
        except NothingLearned as error:
            total += error.score
    return total / settings.seeds


def first_trained(
    game: Game, settings: Settings, seed: int, params: Mapping[str, Any], folder: Path
) -> Any:
    """Return what the first training with some settings has learned that has learned anything."""
    for i in range(settings.seeds):
        try:
            return trained(game, settings, seed + i, params, folder / str(i))
        except NothingLearned as error:
            nothing = error
    raise nothing


def trained(
    game: Game, settings: Settings, seed: int, params: Mapping[str, Any], folder: Path,
    progress: Progress | None = None,
) -> Any:  # fmt: skip
    """Train with some settings, or take what was trained before."""
    return train_by_name(
        LEARNER, game, seed=seed % SEEDS, folder=folder, plots=False, progress=progress,
        **{
            "method": settings.method, "games": settings.games, "easy": 0.0,
            "tested_on": settings.tested_on, "compacted_on": 0, "cores": settings.cores, **params,
        },
    )  # fmt: skip


def score_afresh(game: Game, agent: CompiledAgent, games: int, seed: int) -> float:
    """Let the agent play games by which nothing was chosen; give its points, less its rivals'."""
    rivals = [agent if game.cooperative else "random"] * (game.players - 1)
    result = match(game, [agent, *rivals], games=games, seed=(seed + AFRESH) % SEEDS)
    own, *others = (entry.points.mean for entry in result.agents)
    return float(own if game.cooperative or not others else own - sum(others) / len(others))


def as_figures(params: Mapping[str, Any]) -> dict[str, float | str]:
    """Give settings as cells of the table of trials."""
    return {
        name: value if isinstance(value, str) else float(value) for name, value in params.items()
    }


def rows_of(game: Game, rules: Sequence[str]) -> Any:
    """Give rules as the array that a model keeps."""
    return game.language.read_all("\n".join(rules))


def plot(rows: Sequence[Mapping[str, Any]], path: Path, run: Run) -> None:
    """Draw what every trial scored, and the best so far."""
    canvas = Canvas(
        f"{run.game.described()}: settings of the classifier system",
        f"kibitz train {run.game.name} classifier-optimizer --seed {run.about['seed']}",
    )
    (axes,) = canvas.axes(1)
    numbers = [row["trial"] for row in rows]
    axes.plot(numbers, [row["score"] for row in rows], "o", ms=4, color=BLUE, label="a trial")
    axes.step(numbers, [row["best"] for row in rows], where="post", color=BLUE, label="the best")
    axes.set(xlabel="trial", ylabel="score")
    canvas.legend(axes, columns=2)
    canvas.save(path)
