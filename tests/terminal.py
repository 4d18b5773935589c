"""Commands on a terminal of a given width, or in a pipe, and the tables that they print."""

from __future__ import annotations

import fcntl
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from dataclasses import dataclass
from pathlib import Path

# Runs commands one after another in one process; writes which tables each one has made.
WALK = """
import json, sys
from kibitz.cli import run, shared
from kibitz.cli.tables import Grid

made = []

class Kept(Grid):
    def __init__(self, title, columns, rows, left, text, keys):
        rows = [list(row) for row in rows]
        made.append({"columns": list(columns), "rows": rows, "text": list(text), "keys": keys})
        super().__init__(title, columns, rows, left, text, keys)

shared.Grid = Kept
found = []
for place, command in enumerate(json.load(open(sys.argv[1]))):
    made.clear()
    print(f"<<<{place}>>>", flush=True)
    code = run(command)
    found.append({"code": code, "tables": list(made)})
print("<<<end>>>", flush=True)
json.dump(found, open(sys.argv[2], "w"))
"""


@dataclass(frozen=True)
class Said:
    """What a command has printed, and the tables that are in it."""

    command: list[str]
    code: int
    out: str
    tables: list[dict]


def on_terminal(arguments: list[str], width: int, cwd: Path) -> str:
    """Run a program on a terminal of so many columns, and return what it prints there."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 50, width, 0, 0))
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "1"}
    environment.pop("COLUMNS", None)
    with subprocess.Popen(
        arguments, stdin=slave, stdout=slave, stderr=subprocess.DEVNULL, env=environment, cwd=cwd
    ) as process:
        os.close(slave)
        parts = []
        while True:
            try:
                part = os.read(master, 1 << 16)
            except OSError:  # the program has gone
                break
            if not part:
                break
            parts.append(part)
        process.wait(timeout=120)
    os.close(master)
    text = b"".join(parts).decode().replace("\r\n", "\n")
    return re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text)


def walk(commands: list[list[str]], width: int | None, folder: Path) -> list[Said]:
    """Run commands at a width, or in a pipe for None."""
    asked, told = folder / "asked.json", folder / "told.json"
    asked.write_text(json.dumps(commands))
    arguments = [sys.executable, "-c", WALK, str(asked), str(told)]
    if width is None:
        out = subprocess.run(
            arguments, cwd=folder, capture_output=True, text=True, check=False
        ).stdout
    else:
        out = on_terminal(arguments, width, folder)
    parts = re.split(r"<<<(?:\d+|end)>>>\n", out)[1:-1]
    found = json.loads(told.read_text())
    return [
        Said(command, one["code"], part, one["tables"])
        for command, part, one in zip(commands, parts, found, strict=True)
    ]
