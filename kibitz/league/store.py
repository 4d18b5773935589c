"""Where leagues are kept: an SQLite file, or a PostgreSQL server that several machines share.

Every change is one transaction, so that a process may be killed at any moment. Who writes waits for
others who do. A connection lasts for one transaction: threads and processes never share one. The
tables are brought up to date when a store is opened.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import sqlite3
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.exc import DBAPIError, IntegrityError, SQLAlchemyError
from sqlalchemy.pool import NullPool

from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.game import Game

DEFAULT = "runs/leagues.sqlite"
VARIABLE = "KIBITZ_STORE"  # names another
WAIT = 60  # seconds for whoever writes just now
MIGRATIONS = Path(__file__).parent / "migrations"
ONE_AT_A_TIME = threading.Lock()
LOCK = 0x6B696269747A  # of PostgreSQL, while tables are made: "kibitz"


class StoreFailed(KibitzError):
    """A store could not be opened, read or written."""


def store_name(where: str | os.PathLike[str] | None = None) -> str:
    """Give the file or URL of a store, the usual one if none is named."""
    return os.fspath(where) if where is not None else os.environ.get(VARIABLE) or DEFAULT


def is_there(name: str) -> bool:
    """Tell whether a store has been made; of a server that is not known before it is asked."""
    return "://" in name or Path(name).exists()


def league_command(
    game: Game, store: str | os.PathLike[str] | None, name: str | None, action: str = ""
) -> str:
    """Write the command that does something with a league, in that store and of that name."""
    parts = ["kibitz league", game.typed()]
    parts += ["--name", shlex.quote(name)] if name and name != game.described() else []
    parts += ["--store", shlex.quote(os.fspath(store))] if store is not None else []
    return " ".join([*parts, action]).rstrip()


class Store:
    """An open store. `reading` and `writing` give connections in a transaction."""

    def __init__(
        self,
        where: str | os.PathLike[str] | None = None,
        make: bool = True,
        begin: str = "kibitz league GAME run",
    ) -> None:
        """Open a store, a file or a URL, and make it if need be and `make` allows that.

        `begin` is the command that would make one, for whoever is told that there is none.
        """
        text = store_name(where)
        self.name = text
        if not text.strip():
            raise Misuse("A store needs the name of a file, or an address; or leave it out.")
        if "://" not in text:
            if not make and not is_there(text):
                raise Misuse(f"There is no store '{text}' yet. To begin one: {begin}")
            _make_folder(text)
            url = sa.URL.create("sqlite", database=text)
        else:
            url = _url(text)
            self.name = url.render_as_string()  # a password is not shown
        self.given = None if where is None else self.name  # as typed, to find it again
        self.is_sqlite = url.get_backend_name() == "sqlite"
        self._engine = _engine(url)
        # SQLite has one writer at a time, and whoever waits for it looks again only now and then:
        # threads of one process wait here.
        self._turn = threading.Lock() if self.is_sqlite else contextlib.nullcontext()
        with self._telling():
            self._bring_up_to_date()

    @contextlib.contextmanager
    def writing(self) -> Iterator[sa.Connection]:
        """Give a connection whose changes are kept together when the block ends, or not at all."""
        with self._telling(), self._turn, self._engine.connect() as connection:
            connection = connection.execution_options(kibitz_writes=True)
            with connection.begin():
                yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sa.Connection]:
        """Give a connection for looking things up."""
        with self._telling(), self._engine.connect() as connection, connection.begin():
            yield connection

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        try:
            yield
        except IntegrityError:  # two wanted to write the same: whoever writes knows what to do
            raise
        except DBAPIError as error:
            reason = str(error.orig).strip().splitlines()[0]
            raise StoreFailed(
                f"The store {self.name} cannot be used: {reason}. "
                "Check that it is there, that you may write to it, and that there is space left."
            ) from error
        except SQLAlchemyError as error:
            raise StoreFailed(f"The store {self.name} cannot be used: {error}.") from error

    def _bring_up_to_date(self) -> None:
        from alembic import command, config
        from alembic.script import ScriptDirectory

        settings = config.Config(attributes={})
        # Alembic takes a per cent sign for the beginning of a variable.
        settings.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
        newest = ScriptDirectory.from_config(settings).get_current_head()
        if self._version() == newest:
            return
        # Alembic keeps what it works on in variables of its module: one thread at a time.
        with ONE_AT_A_TIME, self.writing() as connection:
            if not self.is_sqlite:  # SQLite has but one writer anyway
                connection.execute(sa.text(f"SELECT pg_advisory_xact_lock({LOCK})"))
            known = {
                step.revision for step in ScriptDirectory.from_config(settings).walk_revisions()
            }
            version = _version(connection)
            if version is not None and version not in known:
                raise StoreFailed(
                    f"The store {self.name} was made by a newer kibitz (its tables are of version "
                    f"{version}). Use that one, or another store."
                )
            settings.attributes["connection"] = connection
            command.upgrade(settings, "head")

    def _version(self) -> str | None:
        with self.reading() as connection:
            return _version(connection)


def _version(connection: sa.Connection) -> str | None:
    from alembic.migration import MigrationContext

    return MigrationContext.configure(connection).get_current_revision()


def _make_folder(path: str) -> None:
    try:
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreFailed(
            f"Cannot make the folder of the store '{path}': {error.strerror}. Choose another place."
        ) from error


def _url(text: str) -> sa.URL:
    try:
        url = sa.make_url(text)
        backend = url.get_backend_name()
    except (SQLAlchemyError, ValueError) as error:
        raise Misuse(f"'{text}' is no address of a store: {error}.") from error
    if backend not in ("sqlite", "postgresql"):
        raise Misuse(
            f"A store is an SQLite file or a PostgreSQL server, not {backend}: give a file's name, "
            "or postgresql://USER@HOST/DATABASE."
        )
    if backend == "sqlite" and url.database in (None, "", ":memory:"):
        raise Misuse("A store in memory would be forgotten at once: give the name of a file.")
    if backend == "postgresql" and url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url


def _let_read_while_written(connection: sqlite3.Connection) -> None:
    """Have SQLite serve readers and a writer at the same time.

    Where several make a store at once, it refuses this at once instead of waiting for its turn.
    """
    until = time.monotonic() + WAIT
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            is_busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not is_busy or time.monotonic() > until:
                raise
            time.sleep(0.01)
        else:
            return


def _engine(url: sa.URL) -> sa.Engine:
    try:
        if url.get_backend_name() == "postgresql":
            return sa.create_engine(url, poolclass=NullPool)
        engine = sa.create_engine(url, poolclass=NullPool, connect_args={"timeout": WAIT})
    except ModuleNotFoundError as error:
        raise Misuse(
            f"PostgreSQL needs the package '{error.name}': pip install 'kibitz[postgres]'."
        ) from error

    @event.listens_for(engine, "connect")
    def connected(connection: Any, _: Any) -> None:
        connection.isolation_level = None  # transactions begin when we say so, below
        _let_read_while_written(connection)
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def begun(connection: sa.Connection) -> None:
        # A transaction that reads first and then wants to write would fail if another one wrote.
        writes = connection.get_execution_options().get("kibitz_writes")
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    return engine
