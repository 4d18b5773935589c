"""Compiling functions: one form each, kept on disk by key.

Whatever integers a caller has, a helper takes `int64`: a cell of a state, an action and a counter
would otherwise each compile it anew. Arrays are taken as they are.
"""

from __future__ import annotations

import pickle
import types as types_of_python
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
from numba import types
from numba.core import compiler, config
from numba.core.caching import _Cache
from numba.core.compiler import CompileResult
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import CPUDispatcher
from numba.core.runtime.nrt import rtsys
from numba.core.serialize import dumps

from kibitz.core.compiled import Compilable, literal_unroll
from kibitz.core.jit import cache, work
from kibitz.core.jit.keys import key_of
from kibitz.core.jit.library import KEYED, deferring
from kibitz.core.jit.types import describe, signature_of

Watch = Callable[[str], None]
compiled_here: list[str] = []  # names of functions that this process has compiled, in order
made: list[Any] = []  # the compiled form of every function that is in use; each should have one
watching: list[Watch] = []  # told the name of each function before it is compiled
finished: list[Watch] = []  # told the name of each function that others call, once it is there


class Pipeline(compiler.Compiler):
    """Numba's pipeline; names in machine code carry a function's key, not a running number."""

    def compile_extra(self, function: Any) -> Any:
        """Compile a function from its bytecode."""
        from numba.core import bytecode
        from numba.core.untyped_passes import ExtractByteCode

        key = key_of(function.compiled)
        identity = bytecode.FunctionIdentity.from_function(_with_numbas_names(function))
        identity.unique_id = f"{KEYED}{key}"
        identity.unique_name = f"{identity.func_qualname}${identity.unique_id}"
        self.state.func_id = identity
        ExtractByteCode().run_pass(self.state)
        self.state.lifted = ()
        self.state.lifted_from = None
        return self._compile_bytecode()


def _with_numbas_names(function: Any) -> Any:
    """Return a function that refers to Numba's `literal_unroll` where it refers to ours."""
    if function.__globals__.get("literal_unroll") is not literal_unroll:
        return function
    outer = {**function.__globals__, "literal_unroll": numba.literal_unroll}
    named = types_of_python.FunctionType(
        function.__code__, outer, function.__name__, function.__defaults__, function.__closure__
    )
    named.__module__, named.__qualname__ = function.__module__, function.__qualname__
    return named


class Kept(_Cache):
    """What Numba asks before it compiles a function that others call."""

    def __init__(self, known: Compilable) -> None:
        self.known = known

    @property
    def cache_path(self) -> str:
        """The folder, for Numba's messages."""
        return str(cache.folder())

    def _path(self, signature: Any) -> Any:
        return cache.path_of(self.known, _types(signature), cache.LINK)

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Load what was compiled for these types, or return None."""
        return _load(self._path(signature), target_context)

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what was compiled."""
        path = self._path(signature)
        if path is not None:
            data = result.library.name, "linkable", result.library.linkable_bitcode()
            cache.write(path, _dump(result, data))

    def enable(self) -> None:
        """Do nothing: it is always used."""

    def disable(self) -> None:
        """Do nothing: it is always used."""

    def flush(self) -> None:
        """Do nothing: keys name what is right."""


class Dispatcher(CPUDispatcher):
    """A compiled function as other compiled functions see it; Python never calls it."""

    def __init__(self, known: Compilable, **options: Any) -> None:
        flags = {"nopython": True, "nogil": True, "boundscheck": None, **options}
        super().__init__(known.function, targetoptions=flags, pipeline_class=Pipeline)
        self.known = known
        self.signature = known.signature and signature_of(known.signature)
        self._cache = Kept(known)
        made.append(self)

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Resolve a call from compiled code."""
        return super().get_call_template(tuple(map(widened, args)), kws)

    def add_overload(self, result: Any) -> None:
        """Note what was compiled."""
        self.overloads[tuple(result.signature.args)] = result  # not where Python would find it

    def compile(self, signature: Any) -> Any:
        """Compile for these types, or load what was."""
        arguments = tuple(getattr(signature, "args", signature))
        # Numba would infer the return type (an int32 action, say), and there is only one compiled
        # form for the same arguments.
        if self.signature is not None and arguments == self.signature.args:
            signature = self.signature
        with deferring(), global_compiler_lock:
            made = super().compile(signature)
        for watch in list(finished):
            watch(self.known.name)
        return made


class LoopDispatcher(CPUDispatcher):
    """A loop as Python calls it."""

    def __init__(self, known: Compilable) -> None:
        options = {"nopython": True, "nogil": True, "boundscheck": None, "no_cfunc_wrapper": True}
        super().__init__(known.function, targetoptions=options, pipeline_class=Pipeline)
        self.known = known
        made.append(self)

    def compile(self, signature: Any) -> Any:
        """Compile for these types, or load what was."""
        arguments = tuple(getattr(signature, "args", signature))
        with global_compiler_lock:
            known = self.overloads.get(arguments)
            if known is not None:
                return known.entry_point
            path = cache.path_of(self.known, f"loop {_types(arguments)}", cache.RUN)
            result = _load(path, self.targetctx)
            if result is None:
                with deferring(), work.told([self.known]) as progress:
                    told(self.known)
                    progress.begin(self.known)
                    result = self._compiler.compile(arguments, None)
                    progress.end(self.known)
                keep(path, result)
            self.targetctx.insert_user_function(result.entry_point, result.fndesc, [result.library])
            self.add_overload(result)
            return result.entry_point


def dispatcher_of(known: Compilable) -> Dispatcher:
    """Return a function as other compiled functions call it."""
    if known.dispatcher is None:
        options: dict[str, Any] = {"no_cpython_wrapper": True}
        if known.signature is None:
            options["no_cfunc_wrapper"] = True
        if known.inline:
            options["inline"] = "always"
        known.dispatcher = Dispatcher(known, **options)
    return known.dispatcher


def widened(kind: Any) -> Any:
    """Return the type that stands for all of its kind: `int64` for every integer."""
    kind = types.unliteral(kind)
    if isinstance(kind, types.Integer) and kind != types.uint64:
        return types.int64
    return kind


def kept_at(known: Compilable) -> Path | None:
    """Return where the machine code of a rule is kept."""
    signature = signature_of(known.signature)
    return cache.path_of(known, f"rule {signature.return_type} {_types(signature)}", cache.RUN)


def address_of(known: Compilable) -> int:
    """Return the address of a rule's machine code, compiled or loaded."""
    with global_compiler_lock:
        if known.runnable is None:
            path = kept_at(known)
            dispatcher = dispatcher_of(known)
            known.runnable = _load(path, dispatcher.targetctx) or _compiled(known, path)
        kept = known.runnable
        return kept.library.get_pointer_to_function(kept.fndesc.llvm_cfunc_wrapper_name)


def _compiled(known: Compilable, path: Path | None) -> Any:
    told(known)
    signature, dispatcher = signature_of(known.signature), dispatcher_of(known)
    dispatcher.compile(signature)
    result = dispatcher.overloads[tuple(signature.args)]
    result.library.get_pointer_to_function(result.fndesc.llvm_cfunc_wrapper_name)
    keep(path, result)
    return result


def told(known: Compilable) -> None:
    """Note that a function is about to be compiled."""
    for watch in watching:  # one of them may refuse
        watch(known.name)
    compiled_here.append(known.name)


def keep(path: Any, result: Any) -> None:
    """Write machine code that is ready to run; what cannot be written is compiled each time."""
    if path is not None and not config.DEBUG_JIT:
        cache.write(path, _dump(result, result.library.runnable()))


def _types(arguments: Any) -> str:
    return ", ".join(map(describe, getattr(arguments, "args", arguments)))


def _dump(result: Any, library: Any) -> bytes:
    """Reduce a result to bytes, as Numba's own cache does, with a library of our form."""
    descriptor = result.fndesc
    descriptor.typemap = descriptor.calltypes = None
    environments = tuple(result._find_referenced_environments())
    return dumps(
        (library, descriptor, result.environment, result.signature, result.objectmode,
         result.lifted, "", result.reload_init, environments)
    )  # fmt: skip


def _load(path: Any, target_context: Any) -> Any:
    data = cache.read(path)
    if data is None:
        return None
    try:
        rtsys.initialize(target_context)  # all that machine code needs of Numba to run
        # Numba's own cache is a pickle, too. The folder is private to this user (see cache.py),
        # and what lies in it is machine code in any case.
        library, descriptor, environment, *rest, environments = pickle.loads(data)
        result = CompileResult._rebuild(target_context, library, descriptor, environment, *rest, ())
        result.library.add_environments(environments)
        return result
    except Exception:  # cut short by a full disk, say: compile it again
        return None
