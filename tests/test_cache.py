"""The compile cache: where it lies, whose it is, and that it is never stale."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import kibitz

ROOT = Path(kibitz.__file__).parent
TINY = """
from {package}.sizes import SIZE
from kibitz.core.compiled import compiled, PLAY, pointer
import numpy as np

@compiled(PLAY)
def play(state, action):
    state[0] = SIZE

state = np.zeros(1, np.int16)
pointer(play)(state, 0)
print(int(state[0]), int(sum(play.stats.cache_hits.values())))
"""


def run(code: str, **environment: str) -> str:
    """Run Python code in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True,
        env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def make_package(folder: Path, size: int) -> None:
    package = folder / "tiny"
    package.mkdir(exist_ok=True)
    (package / "__init__.py").write_text("")
    (package / "sizes.py").write_text(f"SIZE = {size}\n")
    (package / "rules.py").write_text(TINY.format(package="tiny"))


def test_a_constant_changed_in_another_file_is_noticed(tmp_path):
    make_package(tmp_path, 3)
    where = {"PYTHONPATH": str(tmp_path), "KIBITZ_CACHE": str(tmp_path / "cache")}
    assert run("import tiny.rules", **where) == "3 0"
    assert run("import tiny.rules", **where) == "3 1"  # from the cache
    make_package(tmp_path, 4)
    assert run("import tiny.rules", **where) == "4 0"  # compiled anew


def test_the_users_own_numba_settings_are_left_alone(tmp_path):
    code = "import numba, kibitz; print(numba.config.CACHE_DIR)"
    assert run(code, KIBITZ_CACHE=str(tmp_path / "a"), NUMBA_CACHE_DIR="") == ""
    other = str(tmp_path / "b")
    assert run(code, NUMBA_CACHE_DIR=other, KIBITZ_CACHE="") == other
    assert any(Path(other).glob("kibitz-*"))


def test_a_read_only_package_and_no_home_still_compile_and_cache(tmp_path):
    """Run as a user who may write neither the package nor a home folder."""
    site = tmp_path / "site"
    shutil.copytree(ROOT, site / "kibitz", ignore=shutil.ignore_patterns("__pycache__"))
    for path in [site, *site.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o777)
    code = (
        "import kibitz, kibitz.core.compiled as c; "
        f"assert kibitz.__file__.startswith({str(site)!r}); "
        "t = kibitz.game('nim').deal(1); print(t.play('3 4').plies, c.cache_home())"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        capture_output=True, text=True, check=False, cwd="/",
        env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(temporary),
             "XDG_CACHE_HOME": "/proc/nowhere", "PYTHONPATH": str(site)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    plies, home = done.stdout.split()
    assert plies == "1"
    assert Path(home).parent == temporary
    assert stat.S_IMODE(Path(home).stat().st_mode) == 0o700
    assert any(Path(home).rglob("*.nbi"))
    assert not list(site.rglob("*.nbi"))


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path):
    """What lies in a cache is run as code, so a folder open to others must not be used."""
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    code = "import kibitz.core.compiled as c; print(c.cache_home())"
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    home = run(code, KIBITZ_CACHE=str(open_to_all), TMPDIR=str(temporary))
    assert Path(home).parent == temporary


def test_folders_of_old_sources_are_dropped_and_nothing_else(tmp_path):
    cache = tmp_path / "cache"
    cache.mkdir(mode=0o700)
    old, recent, foreign = cache / "kibitz-0123", cache / "kibitz-4567", cache / "my-thesis"
    for folder in (old, recent, foreign):
        folder.mkdir()
    for folder in (old, recent):
        (folder / ".made-by-kibitz").touch()
    for folder in (old, foreign):
        os.utime(folder, (1, 1))
    run("import kibitz", KIBITZ_CACHE=str(cache))
    assert not old.exists()
    assert recent.exists()
    assert foreign.exists()
    (mine,) = set(cache.glob("kibitz-*")) - {recent}
    assert stat.S_IMODE(mine.stat().st_mode) == 0o700
    for number in range(30):  # whoever edits sources all day keeps the newest few only
        (cache / f"kibitz-{number}").mkdir()
        (cache / f"kibitz-{number}" / ".made-by-kibitz").touch()
    run("import kibitz", KIBITZ_CACHE=str(cache))
    assert len(list(cache.glob("kibitz-*"))) == 12
    assert mine.exists()


def test_a_link_is_not_trusted(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "tmp").mkdir()
    code = "import kibitz.core.compiled as c; print(c.cache_home())"
    home = run(code, KIBITZ_CACHE=str(tmp_path / "link"), TMPDIR=str(tmp_path / "tmp"))
    assert Path(home).parent == tmp_path / "tmp"


def test_modules_without_a_package_are_not_stale_either(tmp_path):
    for size in (3, 4):
        (tmp_path / "sizes.py").write_text(f"SIZE = {size}\n")
        (tmp_path / "alone.py").write_text(TINY.replace("{package}.sizes", "sizes"))
        said = run("import alone", PYTHONPATH=str(tmp_path), KIBITZ_CACHE=str(tmp_path / "cache"))
        assert said == f"{size} 0"
    names = tmp_path / "spread"  # a namespace package has no __init__.py
    names.mkdir()
    (names / "rules.py").write_text(TINY.format(package="spread"))
    for size in (5, 6):
        (names / "sizes.py").write_text(f"SIZE = {size}\n")
        where = {"PYTHONPATH": str(tmp_path), "KIBITZ_CACHE": str(tmp_path / "cache")}
        assert run("import spread.rules", **where) == f"{size} 0"


def test_a_function_typed_at_a_prompt_compiles():
    code = """
from kibitz.core.compiled import compiled
@compiled()
def double(x):
    return 2 * x
print(double(4))
"""
    done = subprocess.run([sys.executable, "-"], input=code, capture_output=True, text=True)
    assert done.stdout == "8\n", done.stderr
