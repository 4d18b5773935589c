"""The compile cache: where it lies, whose it is, what is kept, and that it is never stale."""

from __future__ import annotations

import os
import shutil
import stat
import subprocess
import sys
from pathlib import Path

import pytest

import kibitz

ROOT = Path(kibitz.__file__).parent
SIZES = "SIZE = {size}\nSTEP = 1\n"
TINY = '''
from {package}sizes import SIZE, STEP
from kibitz.core.compiled import PLAY, compiled, compiled_loop, pointer
import numpy as np

@compiled()
def step(n):
    """Take a step."""
    return n + STEP

@compiled(PLAY)
def play(state, action):
    """Play."""
    state[0] = SIZE

@compiled_loop
def through(play, state):
    """Play, and go on."""
    play(state, 0)
    return step(state[0])

state = np.zeros(1, np.int16)
after = int(through(pointer(play), state))
from kibitz.core.jit.dispatch import compiled_here
print(int(state[0]), after, *(name.rpartition(".")[2] for name in compiled_here))
'''
# What a loop is given, and what it refers to, as classes.
CLASSES = """
import enum
from typing import NamedTuple
from kibitz.core.compiled import compiled_loop

class Colour(enum.IntEnum):
    RED = 3

class Plan(NamedTuple):
    merge: bool
    prove: bool

@compiled_loop
def tell(plan):
    return (10 if plan.merge else 0) + Colour.RED

from kibitz.core.jit.dispatch import compiled_here
print(tell(Plan(merge=True, prove=False)), len(compiled_here))
"""
HOME = "from kibitz.core.jit.cache import home; print(home())"
# Rules, an agent, the loop over games, and what Python calls move by move.
NIM = """
import kibitz
from kibitz.core.jit.calls import enable_all
from kibitz.core.jit.dispatch import compiled_here
game = kibitz.game("nim")
kibitz.match(game, ["random"], 2, seed=1)
enable_all(game.rules[:5])
game.deal(1).play("3 4")
print(kibitz.__file__, len(compiled_here), *compiled_here)
"""


# A match, and whether what Numba compiles with was loaded for it.
LIGHT = """
import sys
import kibitz
kibitz.match(kibitz.game("nim"), ["random"], 2, seed=1)
print("numba" in sys.modules, "numba.np.arraymath" in sys.modules)
"""


def run(code: str, *options: str, **environment: str) -> str:
    """Run Python code in a process of its own."""
    done = subprocess.run(
        [sys.executable, *options, "-c", code], capture_output=True, text=True,
        env={**os.environ, **environment}, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


class Tiny:
    """A package with one rule, one helper and one loop, and a cache of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.package, self.cache = folder, folder / "tiny", folder / "cache"
        self.package.mkdir()
        (self.package / "__init__.py").write_text("")
        (self.package / "rules.py").write_text(TINY.format(package="tiny."))
        self.set(3)

    def set(self, size: int) -> None:
        (self.package / "sizes.py").write_text(SIZES.format(size=size))

    def edit(self, file: str, old: str, new: str) -> None:
        path = self.package / file
        text = path.read_text()
        assert text.count(old) == 1, old
        path.write_text(text.replace(old, new))

    def run(self) -> str:
        """Say what came out, and the names of all that was compiled for it."""
        return run("import tiny.rules", **self.where)

    @property
    def where(self) -> dict[str, str]:
        return {
            "PYTHONPATH": os.pathsep.join([str(self.folder), str(ROOT.parent)]),
            "KIBITZ_CACHE": str(self.cache),
        }

    def files(self, kind: str) -> list[Path]:
        return sorted(self.cache.glob(f"*/tiny.rules/*.{kind}"))


@pytest.fixture
def tiny(tmp_path: Path) -> Tiny:
    return Tiny(tmp_path)


@pytest.mark.long
def test_a_constant_changed_in_another_file_is_noticed(tiny):
    assert tiny.run() == "3 4 play through"
    assert tiny.run() == "3 4"  # from the cache
    tiny.set(4)
    assert tiny.run() == "4 5 play"  # the loop takes any rule, and stays
    tiny.edit("sizes.py", "STEP = 1", "STEP = 2")
    assert tiny.run() == "4 6 through"  # by way of a helper
    tiny.set(3)
    assert tiny.run() == "3 4"  # as it was at first: that is still there


@pytest.mark.long
def test_names_of_fields_and_values_of_enumerations_are_part_of_the_key(tiny):
    (tiny.package / "rules.py").write_text(CLASSES)
    assert tiny.run() == "13 1"
    assert tiny.run() == "13 0"
    fields = "merge: bool\n    prove: bool"
    tiny.edit("rules.py", fields, "prove: bool\n    merge: bool")  # the same types in order
    assert tiny.run() == "13 1"
    tiny.edit("rules.py", "RED = 3", "RED = 4")
    assert tiny.run() == "14 1"


READ_ONLY = """
import os, pathlib, tempfile  # root may write anywhere: here nobody may

def refuse(*given, **more):
    raise PermissionError(13, "read only")

os.utime = pathlib.Path.write_bytes = tempfile.TemporaryFile = refuse
import tiny.rules
"""


@pytest.mark.long
def test_a_cache_that_cannot_be_written_is_read(tiny):
    assert tiny.run() == "3 4 play through"
    assert run(READ_ONLY, **tiny.where) == "3 4"
    tiny.set(5)
    assert run(READ_ONLY, **tiny.where) == "5 6 play"


@pytest.mark.long
def test_edits_that_mean_nothing_compile_nothing(tiny):
    assert tiny.run() == "3 4 play through"
    tiny.edit("rules.py", '"""Take a step."""', '"""Take one step.\n\n    Or two."""  # not three')
    tiny.edit("rules.py", '"""Play."""', '"""Play, whatever the action."""')
    tiny.edit("rules.py", '    """Play, and go on."""\n', "    # Play.\n\n")
    tiny.edit("rules.py", "@compiled()\n", "\n\nOTHER = 7\n\n\n@compiled()\n")
    assert tiny.run() == "3 4"
    tiny.edit("rules.py", "return n + STEP", "return n + 2 * STEP")
    assert tiny.run() == "3 5 through"


def test_another_folder_and_another_games_rules_compile_nothing(tmp_path):
    """A clone of the package uses what was compiled for the first, whatever else was edited."""
    run(NIM, PYTHONPATH=str(ROOT.parent))
    site = tmp_path / "elsewhere"
    shutil.copytree(ROOT, site / "kibitz", ignore=shutil.ignore_patterns("__pycache__"))
    for path in (site / "kibitz" / "games" / "tapnswap").glob("*.py"):
        path.write_text(path.read_text().replace("1", "0 + 1"))
    rules = site / "kibitz" / "games" / "nim" / "rules.py"
    rules.write_text("# A comment more.\n\n" + rules.read_text())
    where, count, *names = run(NIM, "-P", PYTHONPATH=str(site)).split()
    assert Path(where).is_relative_to(site)
    assert (int(count), names) == (0, [])


@pytest.mark.long
def test_a_file_cut_short_is_compiled_anew(tiny):
    assert tiny.run() == "3 4 play through"

    def cut(kind: str, *shares: float) -> None:
        for path, share in zip(tiny.files(kind), shares, strict=True):
            data = path.read_bytes()
            path.write_bytes(data[: int(share * len(data))])

    cut("run", 0, 0.5)
    assert tiny.run() == "3 4 play through"
    assert tiny.run() == "3 4"  # mended
    cut("run", 0.999, 0.1)
    cut("link", 0.5, 0.9)
    assert tiny.run() == "3 4 play through"
    assert tiny.run() == "3 4"


@pytest.mark.long
def test_two_processes_at_once_share_a_cache(tiny):
    both = [
        subprocess.Popen(
            [sys.executable, "-c", "import tiny.rules"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, **tiny.where},
        )
        for _ in range(2)
    ]  # fmt: skip
    for one in both:
        said, complained = one.communicate()
        assert one.returncode == 0, complained
        assert said.split()[:2] == ["3", "4"]
    assert tiny.run() == "3 4"
    assert len(tiny.files("run")) == 2
    assert not [path for path in tiny.cache.glob("*/*/.*") if path.is_file()]  # nothing half done


@pytest.mark.long
def test_the_users_own_numba_settings_are_left_alone(tiny):
    code = "import numba; before = numba.config.CACHE_DIR; import tiny.rules; " + (
        "from kibitz.core.jit.cache import home; print(before == numba.config.CACHE_DIR, home())"
    )
    where = {**tiny.where, "NUMBA_CACHE_DIR": ""}
    assert run(code, **where).splitlines()[-1] == f"True {tiny.cache}"
    other = tiny.folder / "other"
    where = {**tiny.where, "KIBITZ_CACHE": "", "NUMBA_CACHE_DIR": str(other)}
    assert run(code, **where).splitlines()[-1] == f"True {other}"
    assert any(other.glob("*/tiny.rules/*.run"))


@pytest.mark.long
def test_a_read_only_package_and_no_home_still_compile_and_cache(tmp_path):
    """Run as a user who may write neither the package nor a home folder."""
    site = tmp_path / "site"
    shutil.copytree(ROOT, site / "kibitz", ignore=shutil.ignore_patterns("__pycache__"))
    (site / "tiny.py").write_text(TINY.format(package=""))
    (site / "sizes.py").write_text(SIZES.format(size=3))
    for path in [site, *site.rglob("*")]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    temporary = tmp_path / "tmp"
    temporary.mkdir(mode=0o777)
    code = (
        "import kibitz, tiny; from kibitz.core.jit.cache import home; "
        f"assert kibitz.__file__.startswith({str(site)!r}); "
        "print(kibitz.game('nim').deal(1).play('3 4').plies, home())"
    )
    for compiled in (["play", "through"], []):
        done = subprocess.run(
            [sys.executable, "-P", "-c", code],
            capture_output=True, text=True, check=False, cwd="/",
            env={"PATH": os.environ["PATH"], "HOME": "/nonexistent", "TMPDIR": str(temporary),
                 "XDG_CACHE_HOME": "/proc/nowhere", "PYTHONPATH": str(site)},
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        first, second = done.stdout.splitlines()
        assert first.split() == ["3", "4", *compiled]
        plies, home = second.split()
        assert plies == "1"
        assert Path(home).parent == temporary
        assert stat.S_IMODE(Path(home).stat().st_mode) == 0o700
        assert any(Path(home).rglob("*.run"))
        assert not [*site.rglob("*.run"), *site.rglob("*.link")]


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path):
    """What lies in a cache is run as code, so a folder open to others must not be used."""
    open_to_all = tmp_path / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    home = run(HOME, KIBITZ_CACHE=str(open_to_all), TMPDIR=str(temporary))
    assert Path(home).parent == temporary


def test_a_link_is_not_trusted(tmp_path):
    (tmp_path / "real").mkdir(mode=0o700)
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "tmp").mkdir()
    home = run(HOME, KIBITZ_CACHE=str(tmp_path / "link"), TMPDIR=str(tmp_path / "tmp"))
    assert Path(home).parent == tmp_path / "tmp"


def test_without_any_folder_everything_is_compiled_anew(tiny):
    open_to_all = tiny.folder / "open"
    open_to_all.mkdir()
    open_to_all.chmod(0o777)
    shared = open_to_all / f"kibitz-{os.getuid()}"
    shared.mkdir()
    shared.chmod(0o777)
    where = {**tiny.where, "KIBITZ_CACHE": str(shared), "TMPDIR": str(open_to_all)}
    for _ in range(2):
        assert run("import tiny.rules", **where) == "3 4 play through"
    assert not list(shared.rglob("*"))


def test_what_is_not_used_is_dropped_and_nothing_else(tiny):
    tiny.cache.mkdir(mode=0o700)
    old, recent, foreign = (tiny.cache / name for name in ("x86-old", "x86-recent", "my-thesis"))
    for folder in (old, recent, foreign):
        (folder / "some.module").mkdir(parents=True)
        for name in ("forgotten-1.run", "forgotten-2.link", ".forgotten-3.run.77", "notes.txt"):
            path = folder / "some.module" / name
            path.touch()
            os.utime(path, (1, 1))
        (folder / "some.module" / "used-1.run").touch()
    for folder in (old, recent):
        (folder / ".made-by-kibitz").touch()
    for folder in (old, foreign):
        os.utime(folder, (1, 1))
    assert tiny.run() == "3 4 play through"
    assert not old.exists()
    left = sorted(path.name for path in (recent / "some.module").iterdir())
    assert left == ["notes.txt", "used-1.run"]
    assert len(list((foreign / "some.module").iterdir())) == 5
    mine = {path for path in tiny.cache.iterdir() if path.is_dir()} - {recent, foreign}
    assert [stat.S_IMODE(path.stat().st_mode) for path in mine] == [0o700]


@pytest.mark.long
def test_a_cache_that_has_grown_too_large_keeps_what_was_used_last(tiny):
    assert tiny.run() == "3 4 play through"
    kept = [path for kind in ("run", "link") for path in tiny.files(kind)]
    for age, path in enumerate(kept):
        os.utime(path, (path.stat().st_atime, path.stat().st_mtime - 1000 * age))
    bound = sum(path.stat().st_size for path in kept[:2])
    code = f"import kibitz.core.jit.cache as c; c.MOST_BYTES = {bound}; c.folder()"
    run(code, **tiny.where)
    assert all(path.exists() for path in kept)  # it is tidied once a day
    (tiny.cache / ".tidied").unlink()
    run(code, **tiny.where)
    assert [path for path in kept if path.exists()] == kept[:2]


@pytest.mark.long
def test_modules_without_a_package_are_not_stale_either(tmp_path):
    where = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT.parent)])}
    where["KIBITZ_CACHE"] = str(tmp_path / "cache")
    (tmp_path / "alone.py").write_text(TINY.format(package=""))
    for size, compiled in ((3, " play through"), (4, " play"), (4, "")):
        (tmp_path / "sizes.py").write_text(SIZES.format(size=size))
        assert run("import alone", **where) == f"{size} {size + 1}{compiled}"
    names = tmp_path / "spread"  # a namespace package has no __init__.py
    names.mkdir()
    (names / "rules.py").write_text(TINY.format(package="spread."))
    for size, compiled in ((5, " play through"), (6, " play")):
        (names / "sizes.py").write_text(SIZES.format(size=size))
        assert run("import spread.rules", **where) == f"{size} {size + 1}{compiled}"


def test_functions_typed_at_a_prompt_compile(tiny):
    code = """
from kibitz.core.compiled import compiled, compiled_loop
@compiled()
def double(x):
    return 2 * x
@compiled_loop
def twice(x):
    return double(double(x))
print(double(4), twice(4))
from kibitz.core.jit.dispatch import compiled_here
print(*compiled_here)
"""
    done = subprocess.run(
        [sys.executable, "-"], input=code, capture_output=True, text=True, check=True,
        env={**os.environ, **tiny.where},
    )  # fmt: skip
    assert done.stdout == "8 16\n__main__.twice\n", done.stderr


def test_what_is_compiled_runs_without_what_compiles():
    run(LIGHT)  # from here on it is on disk
    assert run(LIGHT) == "True False"
