"""The server: pages, limits, and an orderly start and end.

It listens on this machine alone unless told otherwise. Everything that comes from a browser is
checked where it is used; here are the limits that hold for all of it.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kibitz.core.errors import KibitzError, Misuse
from kibitz.core.files import save

LOOPBACK = ("127.0.0.1", "localhost", "::1")
LARGEST_BODY = 4 << 20  # bytes of a request
SECRET = "secret"
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Content-Security-Policy": (
        "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; "
        "style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; font-src 'self' data:; "
        "connect-src 'self'; frame-ancestors 'none'; base-uri 'self'; form-action 'self'"
    ),
}


def serve(
    host: str = "127.0.0.1",
    port: int = 8080,
    folder: str | os.PathLike[str] | None = None,
    store: str | None = None,
    show: bool = True,
    agents: Mapping[str, str] | None = None,
    runs: str | os.PathLike[str] | None = "runs",
) -> None:
    """Open the workbench and serve it until it is interrupted.

    `folder` keeps tables and training runs (by default in your data folder), `store` names the
    leagues that are shown, as for `kibitz.open_league`.

    `agents` are agents of your own by name, as `kibitz.agent` takes them, or a CSV table or rules;
    they are offered at seats, to kibitz and in leagues, and so is what `kibitz train` has left in
    the folder `runs`.
    """
    from kibitz.web.own import OwnAgents, read_named

    own = OwnAgents(
        read_named(agents or {}),
        None if runs is None else Path(runs).absolute(),
    )
    home = data_folder(folder)
    check_free(host, port)
    os.environ["NICEGUI_STORAGE_PATH"] = str(home / "nicegui")  # read when it is imported
    try:
        from nicegui import app, ui
    except ImportError as error:
        raise Misuse(
            f"The workbench needs more packages ({error.name} is missing): "
            "pip install 'kibitz[web]'"
        ) from error
    from starlette.middleware.trustedhost import TrustedHostMiddleware

    from kibitz.web.pages import build

    build(home, store, private=host in LOOPBACK, own=own)
    app.add_middleware(Guard)
    if host in LOOPBACK:  # a page elsewhere must not talk to us under a name of its own
        app.add_middleware(TrustedHostMiddleware, allowed_hosts=[*LOOPBACK, "[::1]"])
    address = f"http://{'localhost' if host in LOOPBACK else host}:{port}"
    app.on_startup(lambda: print(f"kibitz is at {address}  (Ctrl-C ends it)", flush=True))
    with contextlib.suppress(KeyboardInterrupt):  # the usual way to end a server
        ui.run(
            host=host, port=port, title="kibitz", show=show, reload=False, dark=None,
            tailwind=False,
            show_welcome_message=False, storage_secret=secret_of(home), reconnect_timeout=10.0,
            favicon=Path(__file__).parent / "mark.svg", binding_refresh_interval=None,
            session_middleware_kwargs={"same_site": "lax", "max_age": 400 * 24 * 3600},
            ws_max_size=LARGEST_BODY, timeout_graceful_shutdown=3,
        )  # fmt: skip


def data_folder(folder: str | os.PathLike[str] | None) -> Path:
    """Give the folder of tables and runs, made if it is not there."""
    if folder is None:
        from platformdirs import user_data_path

        path = user_data_path("kibitz", appauthor=False)
    else:
        path = Path(folder)
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Misuse(f"Cannot make the folder '{path}': {error.strerror}. Name another.") from error
    return path


def secret_of(home: Path) -> str:
    """Give the key that signs cookies; with the same after a restart people keep their seats."""
    path = home / SECRET
    try:
        kept = path.read_text(encoding="utf-8").strip()
    except OSError:
        kept = ""
    if len(kept) < 32:
        kept = secrets.token_urlsafe(32)
        save(path, kept)
        path.chmod(0o600)
    return kept


def check_free(host: str, port: int) -> None:
    """Raise now if nobody can listen there."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as trial:
            trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            trial.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise KibitzError(
            f"Cannot listen on {host} port {port}: {reason}. Choose another with --port."
        ) from error


class Guard:
    """Refuses requests that are too large, and adds headers that keep pages to themselves."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Pass a request on, counting what comes with it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        seen, began = 0, False

        async def counted() -> Any:
            nonlocal seen
            message = await receive()
            seen += len(message.get("body", b""))
            if seen > LARGEST_BODY:
                raise _TooLarge
            return message

        async def with_headers(message: Any) -> None:
            nonlocal began
            if message["type"] == "http.response.start":
                began = True
                own = [(name.lower().encode(), of.encode()) for name, of in HEADERS.items()]
                message = {**message, "headers": [*message.get("headers", []), *own]}
            await send(message)

        try:
            await self.app(scope, counted, with_headers)
        except _TooLarge:
            if not began:
                await send({"type": "http.response.start", "status": 413,
                            "headers": [(b"content-type", b"text/plain")]})  # fmt: skip
                await send({"type": "http.response.body", "body": b"This is too large.\n"})


class _TooLarge(Exception):
    """A request had more to it than anybody needs."""
