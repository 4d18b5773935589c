"""What tests of learners with networks share: small settings, games of all sorts, boards."""

from __future__ import annotations

import numpy as np

import kibitz
from kibitz.core.chance import Chance
from kibitz.neural.rollout import Boards
from kibitz.neural.shape import first_weights, looks_ahead, shape_of

SMALL = {
    "boards": 16, "buffer": 256, "batch": 64, "epochs": 2, "hidden": "16,16",
    "option_hidden": "12,12", "channels": "4,5", "evaluate_every": 2, "evaluate_games": 20,
}  # fmt: skip
GAMES = {
    "nim": kibitz.game("nim", rows=(1, 3, 5)),
    "hanabi": kibitz.game("hanabi", players=3),
    "options": kibitz.game("carcassonne", tiles=12, encoding="vector"),
    "planes": kibitz.game("carcassonne", tiles=12, encoding="planes", prospects=False),
    "cursor": kibitz.game(
        "carcassonne", tiles=6, control="cursor", encoding="planes", prospects=False
    ),
    "buttons": kibitz.game("carcassonne", tiles=6, control="cursor", encoding="vector"),
    "three": kibitz.game("carcassonne", tiles=10, players=3, encoding="vector"),
}


def loud(game, seed=0):
    """Make weights with opinions: those to begin with are about indifferent."""
    shape = shape_of(game, SMALL["hidden"], SMALL["option_hidden"], SMALL["channels"])
    rng = np.random.default_rng(seed)
    weights = {
        name: (array + 0.3 * rng.standard_normal(array.shape)).astype(np.float32)
        for name, array in first_weights(shape, seed).items()
    }
    return shape, weights


def some_boards(game, **changed):
    settings = {
        "boards": 8, "steps": 40, "seed": 3, "opponents": "self", "aim": "margin", "rewards": "",
        "cores": 1, "ahead": looks_ahead(game),
    }  # fmt: skip
    return Boards(game, **{**settings, **changed})


def by_lot(boards, seed=0):
    """Make something that thinks at random."""
    rng = np.random.default_rng(seed)

    def think(features, options, owner):
        if boards.by_number:
            numbers = rng.standard_normal((len(features), boards.by_number))
        else:
            numbers = rng.standard_normal(options.shape[:2])
        return numbers.astype(np.float32), rng.standard_normal(len(features)).astype(np.float32)

    return think


def positions_of(game, count=12):
    for deal in range(count):
        table = game.deal(9, deal)
        rng = Chance(9, deal, 1)
        for _ in range(rng.below(game.bound("most_plies") // 4)):
            table.play(rng.choice(table.legal))
            if table.over:
                break
        if not table.over:
            yield table.view(table.seat)


def curve_without_time(folder):
    lines = (folder / "curve.csv").read_text().splitlines()
    at = lines[0].split(",").index("seconds")
    return [line.split(",")[:at] + line.split(",")[at + 1 :] for line in lines]
