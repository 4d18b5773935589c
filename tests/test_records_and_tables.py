"""Tables and record files: what goes wrong is said clearly, and nothing is harmed by it."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kibitz
from kibitz.core.errors import (
    BadRecord,
    IllegalMove,
    KibitzError,
    Misuse,
    SaveFailed,
    UnknownName,
    UnreadableMove,
)
from kibitz.core.files import save
from tests.conftest import walk


def played():
    return walk(kibitz.game("nim"), 3).record(("ann", "bob"))


def test_a_refused_move_changes_nothing(any_game):
    table = any_game.deal(1)
    before = table.cells.copy()
    for move in (-1, 10**9, any_game.bound("actions"), "gibberish", "", None, 1.5, True):
        with pytest.raises((IllegalMove, UnreadableMove)):
            table.play(move)
        assert np.array_equal(table.cells, before)
        assert table.actions == []


def test_an_illegal_move_is_named_with_what_is_legal():
    table = kibitz.game("nim", rows="3,5,7").deal(1)
    with pytest.raises(
        IllegalMove,
        match=r"nim: seat 0 may not 'take 7 from row 1' with rows 3 5 7\. "
        r"It has 15 legal moves: see table\.legal\.",
    ):
        table.play("take 7 from row 1")


def test_a_finished_game_takes_no_more_moves(any_game):
    table = walk(any_game, 1)
    with pytest.raises(IllegalMove, match="over"):
        table.play(0)
    with pytest.raises(IllegalMove, match="over"):
        table.play("anything")


def test_undo_and_copy(any_game):
    table = walk(any_game, 1)
    whole = table.copy()
    table.undo(3)
    assert len(table.actions) == len(whole.actions) - 3
    assert whole.over
    for action in whole.actions[-3:]:
        table.play(action)
    assert table == whole
    with pytest.raises(Misuse):
        table.undo(10_000)
    assert table == whole


def test_names_that_do_not_exist():
    with pytest.raises(UnknownName, match=r"No game is called 'nimm'\. Did you mean 'nim'"):
        kibitz.game("nimm")
    with pytest.raises(UnknownName, match=r"No cell of nim is called 'row'\. Did you mean 'rows'"):
        kibitz.game("nim").deal(1)["row"]
    with pytest.raises(Misuse, match="no seat 2"):
        kibitz.game("nim").deal(1).view(2)
    with pytest.raises(UnknownName):
        kibitz.agent("nobody", kibitz.game("nim"))


def test_history_tells_who_played_what():
    table = kibitz.game("nim").deal(1).play("3 4").play("2 3")
    assert [(move.seat, move.words) for move in table.history] == [
        (0, "take 3 from row 4"), (1, "take 2 from row 3"),
    ]  # fmt: skip
    assert table["rows"][:4].tolist() == [1, 3, 3, 4]
    assert table.view(1)["seat"] == 0


def test_a_record_comes_back_from_its_file(tmp_path, any_game):
    record = walk(any_game, 4).record(("a", "b"))
    path = record.save(tmp_path / "game.json")
    loaded = kibitz.load(path)
    assert loaded == record
    assert str(loaded) == str(record)
    assert loaded.table() == walk(any_game, 4)


def damaged(change) -> str:
    content = json.loads(played().to_json())
    change(content)
    return json.dumps(content)


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda c: c.pop("kibitz record"), "no kibitz record"),
        (lambda c: c.update({"kibitz record": 99}), "format 99"),
        (lambda c: c.update(game="chess"), "No game is called 'chess'"),
        (lambda c: c.update(version=2), "version 2 of nim"),
        (lambda c: c["settings"].update(rows=[1, 2, 3]), "header does not fit"),
        (lambda c: c["settings"].update(rows="x"), "takes 1 to 16 whole numbers"),
        (lambda c: c["settings"].update(colour="red"), "No option of nim"),
        (lambda c: c.update(settings=7), "damaged"),
        (lambda c: c["dealt"].pop(), "cells"),
        (lambda c: c["dealt"].__setitem__(-2, 30_000), "damaged"),
        (lambda c: c["dealt"].__setitem__(22, 5), "more sticks"),
        (lambda c: c["dealt"].__setitem__(0, 5), "seat 5"),
        (lambda c: c["dealt"].__setitem__(0, 1.5), "no whole number"),
        (lambda c: c["dealt"].__setitem__(0, 10**30), "cannot begin"),
        (lambda c: c["moves"][0].update(action=9999), "does not replay"),
        (lambda c: c["moves"][0].update(action="x"), "damaged"),
        (lambda c: c["moves"].pop(0), "does not replay"),
        (lambda c: c["moves"].append(c["moves"][0]), "does not replay"),
        (lambda c: c.update(moves=None), "damaged"),
        (lambda c: c.update(points=[1, 1]), "claims points"),
        (lambda c: c.pop("points"), "damaged"),
    ],
)
def test_a_damaged_record_is_refused(change, complaint):
    with pytest.raises(BadRecord, match=complaint):
        kibitz.Record.from_json(damaged(change))


@pytest.mark.parametrize("text", ["", "nonsense", "[]", "null", "[" * 100_000, "\x00\xff", "1e999"])
def test_text_that_is_no_record_is_refused(text):
    with pytest.raises(BadRecord, match="no kibitz record"):
        kibitz.Record.from_json(text)


@given(st.data())
@settings(max_examples=300)
def test_no_change_of_a_record_file_can_do_more_than_be_refused(data):
    """Whatever is written into the cells and actions, rules never meet a state that cannot be."""
    content = json.loads(played().to_json())
    for _ in range(data.draw(st.integers(1, 3))):
        values = (
            st.integers(-(2**40), 2**40) | st.integers(-5, 70) | st.none() | st.text(max_size=3)
        )
        if data.draw(st.booleans()):
            place = data.draw(st.integers(0, len(content["dealt"]) - 1))
            content["dealt"][place] = data.draw(values)
        else:
            place = data.draw(st.integers(0, len(content["moves"]) - 1))
            content["moves"][place]["action"] = data.draw(values)
    try:
        record = kibitz.Record.from_json(json.dumps(content))
    except BadRecord:
        return
    assert record.table().points == content["points"]


def test_files_that_cannot_be_read(tmp_path):
    with pytest.raises(BadRecord, match="No such file"):
        kibitz.load(tmp_path / "none.json")
    with pytest.raises(BadRecord, match="directory"):
        kibitz.load(tmp_path)
    (tmp_path / "bytes.json").write_bytes(os.urandom(2000))
    with pytest.raises(BadRecord):
        kibitz.load(tmp_path / "bytes.json")


def test_a_file_is_saved_whole_or_not_at_all(tmp_path):
    """The disk is full, for this process: what stood there before stays, and no draft is left."""
    path = tmp_path / "game.json"
    path.write_text("what stood there before")
    code = f"""
import resource, signal
from kibitz.core.files import save
from kibitz.core.errors import SaveFailed
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))
try:
    save({str(path)!r}, "x" * 100_000)
except SaveFailed as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert f"Could not write '{path}'" in done.stdout
    assert "Nothing was changed" in done.stdout
    assert path.read_text() == "what stood there before"
    assert os.listdir(tmp_path) == ["game.json"]


def test_a_really_full_disk(tmp_path):
    """The same on a file system without room, where this machine lets us make one."""
    small = tmp_path / "small"
    small.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", str(small)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("needs the right to mount a file system")
    try:
        path = played().save(small / "game.json")
        whole = path.read_text()
        with pytest.raises(SaveFailed, match="No space left"):
            save(path, "x" * 100_000)
        assert path.read_text() == whole
        assert os.listdir(small) == ["game.json"]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_saving_where_nothing_can_be_saved(tmp_path):
    with pytest.raises(SaveFailed, match="No such file or directory"):
        played().save(tmp_path / "no" / "such" / "folder.json")
    with pytest.raises(SaveFailed, match="directory"):
        played().save(tmp_path)


def test_every_error_of_ours_is_a_kibitz_error():
    from kibitz.core import errors

    kinds = [kind for kind in vars(errors).values() if isinstance(kind, type)]
    ours = [kind for kind in kinds if kind.__module__ == errors.__name__]
    assert len(ours) > 10
    assert all(issubclass(kind, KibitzError) for kind in ours)


def test_names_in_a_record_cannot_command_a_terminal():
    content = json.loads(played().to_json())
    content["agents"] = ["\x1b[31mred\x07", "\ud800 b"]
    assert kibitz.Record.from_json(json.dumps(content)).agents == ("[31mred", " b")
    content["agents"] = ["only one"]
    record = kibitz.Record.from_json(json.dumps(content))
    assert [record.name_of(seat) for seat in (0, 1)] == ["only one", "seat 1"]


def test_a_record_nested_too_deep_is_refused():
    deep = "[" * 900 + "]" * 900
    text = played().to_json().replace('"rows": [', f'"rows": [{deep},', 1)
    with pytest.raises(BadRecord):
        kibitz.Record.from_json(text)


def test_saving_follows_links_keeps_modes_and_refuses_devices(tmp_path):
    real, link = tmp_path / "real.json", tmp_path / "link.json"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    save(link, "new")
    assert link.is_symlink()
    assert real.read_text() == "new"
    assert real.stat().st_mode & 0o777 == 0o640
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(SaveFailed, match="no ordinary file"):
        save(tmp_path / "pipe", "new")
    with pytest.raises(SaveFailed, match="null"):
        save(str(tmp_path / "a\0b"), "new")
