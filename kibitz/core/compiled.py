"""Compiling: the fixed signatures of the contract, and a compile cache that is never stale.

Rules and agents are ordinary Python functions under `@compiled(SIGNATURE)`. Loops that serve every
game receive them as `Rules`, a tuple of typed function pointers, so that one compiled loop is
loaded from the disk cache whatever the game. With `NUMBA_DISABLE_JIT=1` the same functions run
uncompiled: breakpoints and coverage work, and reading past the end of an array raises.
"""

from __future__ import annotations

import functools
import hashlib
import os
import shutil
import stat
import sys
import tempfile
import time
import types as types_of_functions  # Numba has `types` of its own
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numba
from numba import types
from numba.core import cgutils
from numba.core.errors import NumbaExperimentalFeatureWarning
from numba.core.types import FunctionType
from numba.experimental.function_type import FunctionModel
from numba.extending import (
    NativeValue,
    intrinsic,
    overload,
    register_model,
    typeof_impl,
    unbox,
)

# The pointers this module is built on carry that label in Numba; the pinned version is tested.
warnings.filterwarnings(
    "ignore", message="First-class function type", category=NumbaExperimentalFeatureWarning
)

config: Any = numba.config  # Numba fills it when it is imported
JIT = not config.DISABLE_JIT

STATE = types.Array(types.int16, 1, "C")  # [cells], a state or a view
ACTIONS = types.Array(types.int32, 1, "C")  # [most legal]
POINTS = types.Array(types.float64, 1, "C")  # [seats]
FEATURES = types.Array(types.float32, 1, "C")  # [features]
WEIGHTS = types.Array(types.float32, 1, "C")  # what an agent has learned or was set to
MEMORY = types.Array(types.int64, 1, "C")  # what an agent remembers within one game
RNG = types.Array(types.int64, 1, "C")  # [4], see chance.py
VALUES = types.Array(types.float64, 1, "C")  # [most legal], what each legal action is worth
PROSPECTS = types.Array(types.float32, 2, "C")  # [most legal, prospects], see `describe`


class RuleType(FunctionType):
    """The type of a pointer. It is Numba's own, but costs next to nothing to hand over."""


register_model(RuleType)(FunctionModel)


@unbox(RuleType)
def _take_pointer(kind, value, c):
    # Numba would import two modules and unpickle the signature for each: 10 µs, and a loop over
    # boards takes more than thirty.
    function = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    address = c.pyapi.object_getattr_string(value, "_address")
    function.c_addr = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    function.py_addr = c.builder.ptrtoint(value, c.context.get_value_type(types.voidptr))
    function.jit_addr = c.context.get_constant_null(types.voidptr)
    return NativeValue(function._getvalue())


DEAL = types.void(STATE, RNG)
LEGAL = types.int64(STATE, ACTIONS)
PLAY = types.void(STATE, types.int64)
SCORE = types.void(STATE, POINTS)
LOOK = types.void(STATE, types.int64, STATE)
REDEAL = types.void(STATE, RNG)
OBSERVE = types.void(STATE, FEATURES)
STRIP = types.void(STATE)
FOLD = types.void(STATE)
DESCRIBE = types.void(STATE, ACTIONS, types.int64, PROSPECTS)


class Rules(NamedTuple):
    """The rules of one game as compiled loops receive them: `rules.play(state, action)`.

    deal(state, rng)        seats and options are set; fill the rest
    legal(state, actions)   write the legal action numbers, ascending; give how many
    play(state, action)     apply it; trusts its caller
    score(state, points)    points per seat, higher is better, at any time
    look(state, seat, out)  write the view: every cell that the seat may not know is `HIDDEN`
    redeal(view, rng)       fill the blanks with a random world that fits all its viewer knows
    observe(view, features) features for learners, from a view, so that they cannot leak
    strip(state)            optional: blank what does not matter to what is to come, and name the
                            seats from the one to move, so that equal positions become equal;
                            legal actions stay the same
    fold(state)             optional: rewrite mirror images to one of them
    describe(view, actions, n, prospects)
                            optional: features of each legal action, for learners, from a view; the
                            first is the cell of the planes that it is about, or -1
    """

    deal: Any
    legal: Any
    play: Any
    score: Any
    look: Any
    redeal: Any
    observe: Any
    strip: Any = None
    fold: Any = None
    describe: Any = None


SIGNATURES = Rules(DEAL, LEGAL, PLAY, SCORE, LOOK, REDEAL, OBSERVE, STRIP, FOLD, DESCRIBE)
RULES = types.NamedTuple([RuleType(signature) for signature in SIGNATURES], Rules)

# An agent gets the rules too, so that one compiled agent can look ahead in every game; it gets
# them with a view, never with the state.
CHOOSE = types.int64(RULES, STATE, ACTIONS, types.int64, WEIGHTS, MEMORY, RNG)
VALUE = types.void(RULES, STATE, ACTIONS, types.int64, WEIGHTS, MEMORY, VALUES)
# What one of a room's strategies would play, see voting.py: places among the legal actions.
WISH = types.int64(types.int64, STATE, ACTIONS, types.int64, ACTIONS)
NOTICE = types.void(STATE, types.int64, types.int64, MEMORY)

# Languages of rules, see language.py: what a view shows of some groups of things, given as bits;
# which event comes of an action; which earlier ply deserves credit for it.
SEE = types.void(STATE, FEATURES, types.int64)
JUDGE = types.int64(STATE, types.int64)
THANK = types.int64(STATE, types.int64)
# What happened to a seat, as counts of events, see rewards.py: before, action, after, seat.
HAPPEN = types.void(STATE, types.int64, STATE, types.int64, VALUES)


def compiled(signature: Any = None, *, inline: bool = False) -> Callable[[Callable], Any]:
    """Compile a function when it is first needed, and keep the result on disk.

    Give the signature of the contract that the function fulfils (`PLAY`, `CHOOSE`, ..). A helper
    that is only called by other compiled functions needs none: `@compiled()`. With `inline` its
    lines are copied to where it is called: worth it in the hottest loops alone, where handing over
    many arrays costs more than the work.
    """

    flags: Any = {"nogil": True, "inline": "always" if inline else "never"}

    def decorate(function: Callable) -> Any:
        if not JIT:
            made: Any = function
        else:
            folder = _cache_folder(function.__module__.partition(".")[0])
            kept, config.CACHE_DIR = config.CACHE_DIR, str(folder or "")
            try:
                made = numba.njit(cache=folder is not None, **flags)(function)
            except RuntimeError:  # typed at a prompt: there is no file to keep it beside
                made = numba.njit(**flags)(function)
            finally:
                config.CACHE_DIR = kept
            if signature is not None:
                made.compile = _with_return_type(made.compile, signature)
        made.signature = signature
        return made

    return decorate


def _with_return_type(compile_for: Callable, signature: Any) -> Callable:
    """Keep to the signature also when another compiled function calls this one first.

    Numba would then infer the return type (an int32 action, say), and there is only one compiled
    form for the same arguments.
    """

    def compile(wanted: Any) -> Any:
        return compile_for(signature if wanted == signature.args else wanted)

    return compile


class Pointer(types.WrapperAddressProtocol):
    """A compiled function as a value: its address for compiled loops, and callable from Python."""

    def __init__(self, function: Any) -> None:
        self.function = function
        self._signature = function.signature
        self.type = RuleType(self._signature)
        function.compile(self._signature)
        result = function.get_compile_result(self._signature)
        self._address = result.library.get_pointer_to_function(
            result.fndesc.llvm_cfunc_wrapper_name
        )

    def __wrapper_address__(self) -> int:
        return self._address

    def signature(self) -> Any:
        """Tell Numba the type of the function behind the address."""
        return self._signature

    def __call__(self, *arguments: Any) -> Any:
        """Run the function from Python."""
        return self.function(*arguments)


@typeof_impl.register(Pointer)
def _type_of_pointer(value: Pointer, context: Any) -> Any:
    # Numba would work it out anew for every rule at every call from Python: 0.1 ms.
    return value.type


@typeof_impl.register(Rules)
def _type_of_rules(value: Rules, context: Any) -> Any:
    # Those of games in plain Python have another type, but compiled code never gets them.
    return RULES


class Pointers(tuple):
    """Pointers of one type, which is worked out once; plain functions where nothing is compiled."""

    @functools.cached_property
    def type(self) -> Any:
        """The type that loops take."""
        return types.UniTuple(self[0].type, len(self))


@typeof_impl.register(Pointers)
def _type_of_pointers(value: Pointers, context: Any) -> Any:
    return value.type


@functools.cache
def pointer(function: Any) -> Any:
    """Give the form in which a compiled loop takes this function; plain Python stays as it is."""
    return Pointer(function) if is_compiled(function) else function


def cells_at(array: Any) -> Any:
    """Give the numbers of an array as one flat run, for the hottest loops.

    Numba counts references whenever an array is handed on, by instructions that cost more than a
    test of a rule; nobody counts those of a run. The array itself must stay in use.
    """
    return array.reshape(-1)


@intrinsic
def _data_of(typing_context, array):
    def lower(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), lower


@overload(cells_at)
def _cells_at(array):
    return lambda array: _data_of(array)  # type: ignore[call-arg]


def is_compiled(function: Any) -> bool:
    """Tell whether a function can be called from compiled code."""
    return isinstance(function, Pointer) or hasattr(function, "py_func")


def in_python(loop: Any) -> Any:
    """Give the same loop as plain Python, for games and agents that are not compiled.

    What it hands the rules on to becomes plain Python too: compiled code cannot take them.
    """
    return _in_python(loop) if hasattr(loop, "py_func") else loop


@functools.cache
def _in_python(loop: Any) -> Any:
    plain = loop.py_func
    called = {name: plain.__globals__.get(name) for name in plain.__code__.co_names}
    handed_on = {
        name: in_python(function)
        for name, function in called.items()
        if hasattr(function, "py_func") and "rules" in parameters_of(function.py_func)
    }
    if not handed_on:
        return plain
    return types_of_functions.FunctionType(
        plain.__code__, {**plain.__globals__, **handed_on}, plain.__name__, plain.__defaults__
    )


def parameters_of(function: Any) -> tuple[str, ...]:
    """Name the parameters of a function."""
    return function.__code__.co_varnames[: function.__code__.co_argcount]


# --- the cache ---------------------------------------------------------------------------------

FACES = {"bridges", "cli", "web"}  # hold no compiled code: changing them recompiles no game
MARK = ".made-by-kibitz"
UNUSED_DAYS = 30
NEWEST = 12  # of one package: whoever edits sources makes a new folder each time


@functools.cache
def _cache_folder(package: str) -> Path | None:
    """Find the folder for what is compiled from one top-level package, or None.

    Numba does not notice a constant that changed in another file, so the folder's name carries a
    hash of all sources of the package, and of kibitz's own.
    """
    home = cache_home()
    if home is None:
        return None
    digest = hashlib.blake2b(digest_size=8)
    for name in sorted({package, __name__.partition(".")[0]}):
        for path in _sources(name):
            digest.update(str(path.name).encode() + path.read_bytes())
    folder = home / f"{package.strip('_') or 'code'}-{digest.hexdigest()}"
    try:
        folder.mkdir(exist_ok=True, mode=0o700)
        (folder / MARK).touch()
        os.utime(folder)
    except OSError:
        return None
    _forget_unused(home)
    return folder


def _sources(package: str) -> list[Path]:
    module = sys.modules.get(package)
    folders = [Path(folder) for folder in getattr(module, "__path__", ())]
    if not folders:
        file = Path(getattr(module, "__file__", None) or "")
        # A module on its own may import its neighbours.
        return sorted(file.parent.glob("*.py")) if file.suffix == ".py" else []
    own = package == __name__.partition(".")[0]
    return sorted(
        source
        for folder in folders
        for source in folder.rglob("*.py")
        if not (own and source.relative_to(folder).parts[0] in FACES)
    )


@functools.cache
def cache_home() -> Path | None:
    """Find a folder for compiled code that this user may write and nobody else.

    `KIBITZ_CACHE` or `NUMBA_CACHE_DIR` name it; otherwise it is the user's cache folder, or a
    private folder among the temporary files. None means: compile anew in every process.
    """
    import platformdirs

    named = os.environ.get("KIBITZ_CACHE") or os.environ.get("NUMBA_CACHE_DIR")
    user = getattr(os, "getuid", lambda: "user")()
    choices = [
        Path(named) if named else platformdirs.user_cache_path("kibitz"),
        Path(tempfile.gettempdir()) / f"kibitz-{user}",
    ]
    return next((choice for choice in choices if _private(choice)), None)


def _private(folder: Path) -> bool:
    """Tell whether a folder is ours alone, and no link; what lies in a cache is run as code."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        facts = folder.lstat()
        if not stat.S_ISDIR(facts.st_mode) or (
            hasattr(os, "getuid")
            and (facts.st_uid != os.getuid() or facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH))
        ):
            return False
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _forget_unused(home: Path) -> None:
    """Drop what nobody has used for a month, and all but the newest few of each package.

    Only folders that this module has made and marked are touched.
    """
    oldest = time.time() - UNUSED_DAYS * 86_400
    seen: dict[str, int] = {}
    try:
        ours = [folder for folder in home.iterdir() if (folder / MARK).is_file()]
        for folder in sorted(ours, key=lambda folder: -folder.stat().st_mtime):
            package = folder.name.rpartition("-")[0]
            seen[package] = seen.get(package, 0) + 1
            if seen[package] > NEWEST or folder.stat().st_mtime < oldest:
                shutil.rmtree(folder, ignore_errors=True)
    except OSError:
        return
