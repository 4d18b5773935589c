"""The command line. A command parses, calls the library and prints."""

from __future__ import annotations

import importlib
import inspect
import os
import re
import shutil
import sys
from typing import Annotated, Any

import typer

import kibitz
from kibitz.cli.shared import complain
from kibitz.core import own_code
from kibitz.core.errors import KibitzError, Misuse

# Typer carries its own copy of click, older ones use click itself: ask it for the class.
USAGE_ERROR: Any = typer.BadParameter.__base__
SUCCESS, FAILURE, MISUSE, INTERRUPTED = 0, 1, 2, 130
ROOM_FOR_BOXES = 80  # columns; in fewer, Typer's boxes cut the names of options
STDOUT = 1  # the file behind standard output, whatever sys.stdout has become


def _tell_version(wanted: bool) -> None:
    if wanted:
        print(f"kibitz {kibitz.__version__}")
        raise typer.Exit


# Commands by name and the module that has them, in the order of the help.
COMMANDS = {
    "games": "catalogue", "rules": "catalogue", "agents": "catalogue", "play": "playing",
    "watch": "playing", "match": "arena", "solve": "arena", "grade": "arena", "replay": "playing",
    "demo": "demo", "bench": "arena", "analyse": "analysing", "league": "leagues",
    "export": "exporting", "serve": "serving", "learners": "training", "models": "catalogue",
    "convert": "training",
    "words": "languages", "rules-of": "languages", "train": "training",
    "warm": "upkeep", "doctor": "upkeep",
}  # fmt: skip
# A learner's own settings are flags that only the learner knows.
OPEN = {"allow_extra_args": True, "ignore_unknown_options": True}


def build(wanted: str = "") -> typer.Typer:
    """Put the commands together: the one that is wanted, or all, if that is none of them."""
    app = typer.Typer(
        name="kibitz",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode="rich" if shutil.get_terminal_size().columns >= ROOM_FOR_BOXES else None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    for name in [wanted] if wanted in COMMANDS else COMMANDS:
        module = importlib.import_module(f"kibitz.cli.{COMMANDS[name]}")
        command = getattr(module, name.replace("-", "_"))
        text = re.sub(r"(?<!\n)\n(?!\n)", " ", inspect.cleandoc(command.__doc__))  # wraps anew
        app.command(name, help=text, context_settings=OPEN if name == "train" else None)(command)
    app.callback()(about)
    return app


def about(
    version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_tell_version, help="Say which.")
    ] = False,
) -> None:
    """A workbench where agents learn tabletop games, rate one another, and play you."""


def run(arguments: list[str] | None = None) -> int:
    """Run one command and give its exit code: 0 success, 1 failure, 2 misuse."""
    given = sys.argv[1:] if arguments is None else arguments
    own_code.allow(given)  # what somebody types here is their own
    try:
        code = build(given[0] if given else "")(
            args=arguments, prog_name="kibitz", standalone_mode=False
        )
        sys.stdout.flush()
    except USAGE_ERROR as error:
        message = error.format_message().rstrip(".")
        if message.startswith("Usage:"):  # nothing was asked for: the help, in plain letters
            print(message)
        elif message:  # without one, Typer has shown the help instead
            complain(f"{message}. See kibitz --help.")
        return MISUSE
    except KibitzError as error:
        complain(str(error))
        return MISUSE if isinstance(error, Misuse) else FAILURE
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    except BrokenPipeError:
        return _without_reader()
    except SystemExit as leaving:  # what Typer makes of a broken pipe
        if not isinstance(leaving.__context__, BrokenPipeError):
            raise
        return _without_reader()
    except OSError as error:  # the disk behind standard output is full, for one
        _without_reader()
        complain(f"Could not write the output: {error.strerror or error}.")
        return FAILURE
    if code == INTERRUPTED:  # Typer gives Ctrl-C back as this code
        complain("Interrupted.")
    return code if isinstance(code, int) else SUCCESS


def _without_reader() -> int:
    """Whoever read our output has gone (`| head`): let nothing more be written there."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), STDOUT)
    return SUCCESS


def main() -> None:
    """Run kibitz as a program."""
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:  # what a terminal cannot show becomes a question mark
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    sys.exit(run())
