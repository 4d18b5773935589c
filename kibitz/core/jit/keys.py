"""Keys: compiled code is named by the contents of all that it was made from.

The key of a function is a hash of its bytecode, of the constants that it refers to, and of the keys
of the functions that it calls. Editing a comment, moving the package to another folder or changing
another game leaves it the same; changing a constant in another file does not.
"""

from __future__ import annotations

import enum
import functools
import hashlib
import inspect
import types
from pathlib import Path
from typing import Any

import numpy as np

from kibitz.core.compiled import SIGNATURES, Compilable, Rule, compilable

WITHOUT_EFFECT = ("inspect.py", "work.py")  # files of this package on which no result depends
LIBRARIES = ("builtins", "llvmlite", "math", "numba", "numpy", "operator")  # known by their version
COMPREHENSIONS = ("<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>")
# Set where a function has a docstring, from Python 3.14 on.
HAS_DOCSTRING: int | None = getattr(inspect, "CO_HAS_DOCSTRING", None)


def digest(text: str) -> str:
    """Return a short hash."""
    return hashlib.blake2b(text.encode(), digest_size=10).hexdigest()


@functools.cache
def compiler_key() -> str:
    """Return a hash of what all compiled code depends on: this package and the contract."""
    files = sorted(Path(__file__).parent.glob("*.py"))
    sources = [file for file in files if file.name not in WITHOUT_EFFECT]
    texts = [source.read_text(encoding="utf-8") for source in sources]
    return digest("".join([*texts, repr(SIGNATURES)]))


def key_of(known: Compilable) -> str:
    """Return the key of a function."""
    return _key(known, (), [])


def _key(known: Compilable, within: tuple[Compilable, ...], circles: list[Compilable]) -> str:
    """Return the key of a function that others, `within`, call; note which of them it calls."""
    if known.key is not None:
        return known.key
    if known in within:
        circles.append(known)
        return f"<{len(within) - within.index(known)} up>"
    here, own = (*within, known), []  # type: tuple[Compilable, ...], list[Compilable]
    parts = [_code(known.function.__code__), str(known.signature), str(known.inline)]
    parts += [str(known.function.__defaults__), str(known.function.__kwdefaults__)]
    parts += [f"{name}={_token(value, here, own)}" for name, value in known.references]
    key = digest("\n".join(parts))
    above = [one for one in own if one is not known]
    circles += above
    if not above:  # the key is the same whoever calls it
        known.key = key
    return key


def _code(code: types.CodeType) -> str:
    """Describe bytecode without line numbers, file names and docstrings."""
    constants = [
        _code(one) if isinstance(one, types.CodeType) else repr(one) for one in code.co_consts
    ]
    if _begins_with_docstring(code):
        constants[0] = ""
    parts = (code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars)
    return repr(parts)


def _begins_with_docstring(code: types.CodeType) -> bool:
    """Whether the first constant is the docstring, or the None that stands for it."""
    if HAS_DOCSTRING is not None:
        return bool(code.co_flags & HAS_DOCSTRING)
    if code.co_name in COMPREHENSIONS:
        return False
    return bool(code.co_consts) and isinstance(code.co_consts[0], str | None)


def _token(value: Any, within: tuple[Compilable, ...], circles: list[Compilable]) -> str:
    """Describe a value that a function refers to."""
    known = compilable(value) or (compilable(value.function) if isinstance(value, Rule) else None)
    if known is not None:
        return _key(known, within, circles)
    if isinstance(value, np.ndarray):
        bytes_ = hashlib.blake2b(np.ascontiguousarray(value).tobytes(), digest_size=10)
        return f"array {value.dtype} {value.shape} {bytes_.hexdigest()}"
    if isinstance(value, tuple):
        parts = ", ".join(_token(one, within, circles) for one in value)
        return f"{_class(type(value))}({parts})"
    if isinstance(value, types.ModuleType):
        return f"module {value.__name__}"
    if isinstance(value, type):
        return _class(value)
    package = str(getattr(value, "__module__", None) or "").partition(".")[0]
    if package in LIBRARIES:
        return f"{value.__module__}.{getattr(value, '__qualname__', repr(value))}"
    if isinstance(value, types.FunctionType):
        return _code(value.__code__)
    return f"{type(value).__name__} {value!r}"


def _class(kind: type) -> str:
    """Describe a class as far as compiled code depends on it."""
    parts = [f"class {kind.__module__}.{kind.__qualname__}"]
    if issubclass(kind, enum.Enum):
        parts += [f"{one.name}={one.value!r}" for one in kind]
    parts += [str(getattr(kind, name, "")) for name in ("_fields", "_field_defaults")]
    return " ".join(parts)
