"""Records a person can read: they show when the course of a game changes."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.conftest import walk

FOLDER = Path(__file__).parent / "records"
SEEDS = range(3)


def test_the_course_of_games_has_not_changed(any_game, request):
    if not any_game.room.startswith("kibitz."):
        pytest.skip("a game of another package keeps its own records")
    path = FOLDER / f"{any_game.name}-v{any_game.version}.txt"
    text = "\n".join(str(walk(any_game, seed).record()) for seed in SEEDS)
    if request.config.getoption("--update-records"):
        FOLDER.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert path.read_text(encoding="utf-8") == text, (
        f"{any_game.name} plays otherwise than before. If that is meant, raise its version and run "
        "pytest --update-records."
    )
