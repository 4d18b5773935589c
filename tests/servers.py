"""Real servers for the tests: PostgreSQL, started for them alone, reached by a socket in a folder.

Where it is not installed these tests are left out, with the reason; where CI runs they fail.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

MISSING = "PostgreSQL is not installed (Debian: apt-get install postgresql)"


def missing(reason: str) -> None:
    """Leave a test out for a reason; where CI runs nothing may be missing."""
    if os.environ.get("CI"):
        pytest.fail(reason)
    pytest.skip(reason)


def program(name: str) -> str | None:
    """Find a program of PostgreSQL; Debian does not put them on the path."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), reverse=True)
    return shutil.which(name, path=os.pathsep.join([*map(str, folders), os.environ["PATH"]]))


@contextlib.contextmanager
def postgres() -> Iterator[str]:
    """Run a server; give the URL of an empty database without the name at its end."""
    initdb, server, createdb = (program(name) for name in ("initdb", "postgres", "createdb"))
    if not (initdb and server and createdb):
        missing(MISSING)
        return
    folder = tempfile.mkdtemp(prefix="kibitz-postgres-")
    who: dict[str, str | int] = {}
    if os.geteuid() == 0:  # it refuses to be run by root
        user = next((one for one in pwd.getpwall() if one.pw_name in ("postgres", "nobody")), None)
        assert user is not None
        os.chown(folder, user.pw_uid, user.pw_gid)
        who = {"user": user.pw_name, "group": user.pw_gid}
    data = f"{folder}/data"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "cwd": folder, **who}
    running = None
    try:
        subprocess.run(
            [initdb, "-D", data, "-U", "kibitz", "-A", "trust", "-E", "UTF8", "--no-sync"],
            check=True, timeout=120, **quiet,  # type: ignore[call-overload]
        )  # fmt: skip
        running = subprocess.Popen(
            [server, "-D", data, "-k", folder, "-c", "listen_addresses=", "-c", "fsync=off"],
            **quiet,  # type: ignore[call-overload]
        )
        wait_for(folder)
        yield f"postgresql://kibitz@/{{}}?host={folder}"
    finally:
        if running is not None:
            running.terminate()
            running.wait(60)
        shutil.rmtree(folder, ignore_errors=True)


def wait_for(folder: str) -> None:
    """Wait until the server answers."""
    ready = program("pg_isready")
    assert ready is not None
    for _ in range(300):
        if subprocess.run([ready, "-q", "-h", folder], check=False).returncode == 0:
            return
        subprocess.run(["sleep", "0.1"], check=True)
    raise AssertionError("PostgreSQL did not start")


def new_database(url: str, name: str) -> str:
    """Make a database and give its URL."""
    import psycopg

    with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return url.format(name)


def drop_database(url: str, name: str) -> None:
    """Drop a database, whoever is still connected."""
    import psycopg

    with psycopg.connect(url.format("postgres"), autocommit=True) as connection:
        connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
