"""Starting JAX: only training needs it, and the number of its threads is part of the result."""

from __future__ import annotations

import importlib
import importlib.util
import math
import os
import sys
from types import ModuleType
from typing import Any

import numpy as np

from kibitz.core.errors import Misuse
from kibitz.core.game import Game

ALIGNED = 64  # bytes; what begins at a multiple of them JAX reads where it lies

_threads: int | None = None


def unfit(game: Game) -> str | None:
    """Say why no network can learn a game here, or None."""
    if importlib.util.find_spec("jax") is None:
        return "training a network needs JAX: pip install 'kibitz[neural]'"
    return None


def module_with_jax(name: str, threads: int) -> ModuleType:
    """Give a module of ours that needs JAX, with that on so many threads.

    Sums are split by the number of threads, not by the number of cores: with the same threads the
    result is the same on any number of cores of one kind. JAX reads it once, when it starts.
    """
    global _threads
    if _threads is None and "jax" not in sys.modules:
        os.environ["NPROC"] = str(threads)
        os.environ.setdefault("JAX_PLATFORMS", "cpu")
        _threads = threads
    if _threads is None:
        raise Misuse(
            "JAX was started before kibitz, so its threads are not known, and they are part of the "
            "result. Train in a process that has not imported it."
        )
    if threads != _threads:
        raise Misuse(
            f"JAX runs on {_threads} threads in this process; train with threads={threads} in "
            "another one."
        )
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        raise Misuse(
            f"Training a network needs {error.name}, which is not installed. "
            "Try: pip install 'kibitz[neural]'"
        ) from error


def aligned(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """Make an array that JAX takes without a copy, which costs as much as a small network does.

    Whatever is in it at first is left over. Do not write to it once it was handed over.
    """
    dtype = np.dtype(dtype)
    size = math.prod(shape) * dtype.itemsize
    cells = np.empty(size + ALIGNED, np.uint8)
    first = -cells.ctypes.data % ALIGNED
    return cells[first : first + size].view(dtype).reshape(shape)
