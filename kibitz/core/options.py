"""Options: what can be set about a game or an agent, with type, range, default and a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, get_args, get_type_hints

from kibitz.core.errors import BadOption, unknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One setting. Subclasses say which values it takes and how they lie in a state's cells."""

    name: str
    default: Any
    help: str
    cells: int = 1

    def parse(self, value: Any) -> Any:
        """Turn text or a Python value into a checked value, or raise BadOption."""
        raise NotImplementedError

    def encode(self, value: Any) -> Sequence[int]:
        """Give the cells that hold a checked value."""
        raise NotImplementedError

    def takes(self) -> str:
        """Say in a few words which values are valid."""
        raise NotImplementedError

    def say(self, value: Any) -> str:
        """Write a value as `parse` reads it."""
        return str(value)

    def refuse(self, value: Any) -> BadOption:
        """Build the error for a value that is not valid."""
        try:
            given = repr(value)
        except ValueError:  # Python will not write out a number of thousands of digits
            given = "that"
        given = given if len(given) <= 60 else f"{given[:57]}..."
        return BadOption(f"Option '{self.name}' takes {self.takes()}, not {given}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Option):
    """A whole number. With `none` set, the word none (stored as that number) is a value too."""

    low: int
    high: int
    none: int | None = None

    def parse(self, value: Any) -> int:
        """Read a whole number in range."""
        if self.none is not None and (value is None or str(value).lower() == "none"):
            return self.none
        try:
            number = _whole(value)
        except ValueError:
            raise self.refuse(value) from None
        if not (self.low <= number <= self.high or number == self.none):
            raise self.refuse(value)
        return number

    def encode(self, value: int) -> Sequence[int]:
        """Give the number itself."""
        return (value,)

    def takes(self) -> str:
        """Say the range."""
        none = "" if self.none is None else " or none"
        if self.low == self.high:
            return f"{self.low} only{none}"
        return f"a whole number from {self.low} to {self.high}{none}"

    def say(self, value: int) -> str:
        """Write the number, or none."""
        return "none" if value == self.none else str(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wholes(Option):
    """A list of whole numbers, at least one and at most `cells`."""

    low: int
    high: int

    def parse(self, value: Any) -> tuple[int, ...]:
        """Read a list, or text such as `1,3,5,7` or `1-3-5-7`."""
        parts: Iterable[Any]
        if isinstance(value, str):
            parts = value.replace("-", ",").replace(" ", ",").split(",")
        elif isinstance(value, Iterable):
            parts = value
        else:
            parts = (value,)
        try:
            numbers = tuple(_whole(part) for part in parts)
        except ValueError:
            raise self.refuse(value) from None
        if not 1 <= len(numbers) <= self.cells or not all(
            self.low <= number <= self.high for number in numbers
        ):
            raise self.refuse(value)
        return numbers

    def encode(self, value: Sequence[int]) -> Sequence[int]:
        """Give the numbers, filled up with zeros."""
        return (*value, *(0,) * (self.cells - len(value)))

    def takes(self) -> str:
        """Say how many numbers, and their range."""
        return f"1 to {self.cells} whole numbers from {self.low} to {self.high}, as in 1,3,5"

    def say(self, value: Sequence[int]) -> str:
        """Write the numbers with commas."""
        return ",".join(map(str, value))


@dataclass(frozen=True, slots=True, kw_only=True)
class Flag(Option):
    """Yes or no."""

    def parse(self, value: Any) -> bool:
        """Read a truth value or one of its usual words."""
        word = str(value).lower()
        if word in ("1", "true", "yes", "on"):
            return True
        if word in ("0", "false", "no", "off"):
            return False
        raise self.refuse(value)

    def encode(self, value: bool) -> Sequence[int]:
        """Give 1 for yes and 0 for no."""
        return (int(value),)

    def takes(self) -> str:
        """Say the two words."""
        return "yes or no"

    def say(self, value: bool) -> str:
        """Write yes or no."""
        return "yes" if value else "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Option):
    """One of a few names, stored as its place among them."""

    names: tuple[str, ...]

    def parse(self, value: Any) -> str:
        """Read one of the names."""
        if value not in self.names:
            raise self.refuse(value)
        return str(value)

    def encode(self, value: str) -> Sequence[int]:
        """Give the place of the name."""
        return (self.names.index(value),)

    def takes(self) -> str:
        """Say the names."""
        return f"one of {', '.join(self.names)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Real(Option):
    """A number with a fraction; for agents and learners, since a state holds whole numbers."""

    low: float
    high: float

    def parse(self, value: Any) -> float:
        """Read a number in range."""
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise self.refuse(value) from None
        if isinstance(value, bool) or not self.low <= number <= self.high:
            raise self.refuse(value)
        return number

    def takes(self) -> str:
        """Say the range."""
        return f"a number from {self.low:g} to {self.high:g}"


AGENTS, MODEL, CODE = "agents", "model", "code"  # what a text may name


class Functions(str):
    """Names with + between them, as text; `found` holds the functions that came with them."""

    found: Mapping[str, Any]

    @classmethod
    def of(cls, given: Any) -> Functions:
        """Take names, functions, or several of both."""
        several = given if isinstance(given, list | tuple) else [given]
        named = [one if isinstance(one, str) else getattr(one, "__name__", "") for one in several]
        made = cls("+".join(named))
        made.found = {
            name: one for name, one in zip(named, several, strict=True) if not isinstance(one, str)
        }
        return made


@dataclass(frozen=True, slots=True, kw_only=True)
class Text(Option):
    """Any text, such as a path; for agents and learners. `names` says what it names, if that."""

    names: str = ""

    def parse(self, value: Any) -> str:
        """Take the text as it is; where it names code, functions will do as well."""
        if self.names == CODE and not isinstance(value, str):
            return Functions.of(value)
        return value if isinstance(value, Functions) else str(value)

    def takes(self) -> str:
        """Say what it names, or that any text will do."""
        words = {AGENTS: "names of agents", MODEL: "a model", CODE: "FILE.py:NAME, + between them"}
        return words.get(self.names, "text")


def settle(options: Iterable[Option], given: Mapping[str, Any], whose: str) -> dict[str, Any]:
    """Check what was given and fill in the defaults; unknown names and bad values raise."""
    known = {option.name: option for option in options}
    for name in given:
        if name not in known:
            raise unknown(f"option of {whose}", name, known)
    return {
        name: option.parse(given[name]) if name in given else option.default
        for name, option in known.items()
    }


def split(text: str) -> dict[str, str]:
    """Read `rows=1,3,5,misere=no`: a part without an equals sign continues the list before it."""
    found: dict[str, str] = {}
    name = ""
    for part in text.split(","):
        head, equals, tail = part.partition("=")
        if equals:
            name = head.strip().replace("-", "_")
            if not name:
                raise BadOption(f"Cannot read '{text}': write name=value, as in rows=1,3,5.")
            found[name] = tail.strip()
        elif name:
            found[name] += "," + part.strip()
        else:
            raise BadOption(f"Cannot read '{text}': write name=value, as in rows=1,3,5.")
    return found


def _whole(value: Any) -> int:
    if isinstance(value, bool) or (isinstance(value, float) and not value.is_integer()):
        raise ValueError
    try:
        return int(value)
    except (TypeError, OverflowError):
        raise ValueError from None


def options_of(settings: type) -> tuple[Option, ...]:
    """Read the options of a learner from its `Settings`, a dataclass whose fields are annotated.

    `Annotated[int, "children in each generation", 1, 10_000]`: the type, a sentence, and the range
    of a number; a `Literal` of names is a choice, a str is any text, or names what comes after its
    sentence: `AGENTS`, a `MODEL`, or `CODE` of the user's own.
    """
    hints = get_type_hints(settings, include_extras=True)
    found: list[Option] = []
    for field in fields(settings):
        kind, help_text, *span = get_args(hints[field.name])
        about: dict[str, Any] = {
            "name": field.name, "default": field.default, "help": help_text,
        }  # fmt: skip
        if kind is bool:
            found.append(Flag(**about))
        elif kind is str:
            found.append(Text(**about, names=span[0] if span else ""))
        elif kind in (int, float):
            number = Whole if kind is int else Real
            found.append(number(**about, low=span[0], high=span[1]))
        else:
            found.append(Choice(**about, names=get_args(kind)))
    return tuple(found)
