"""The models that come with kibitz are those that their recorded commands make."""

from __future__ import annotations

import pytest

from bench.models import MODELS, make, where
from kibitz.core.models import read_header
from kibitz.core.registry import ROOMS, find_game


@pytest.mark.parametrize("name", MODELS)
def test_it_is_made_anew_bit_for_bit(name, tmp_path):
    assert make(name, tmp_path).read_bytes() == where(name).read_bytes()


def test_every_model_is_recorded_small_and_for_its_room():
    rooms = where("nim/models/evolved").parents[2]
    assert rooms.parts[-2:] == tuple(ROOMS.split("."))
    shipped = {path.relative_to(rooms).with_suffix("").as_posix(): path
               for path in rooms.rglob("*.safetensors")}  # fmt: skip
    assert set(shipped) == set(MODELS)
    for name, path in shipped.items():
        assert path.stat().st_size < 1 << 20
        assert read_header(path)["game"] == name.split("/")[0] == find_game(MODELS[name][0]).name
