"""Code libraries that turn into machine code once, as a whole, when something runs them.

Numba optimizes every function by itself, generates machine code for it, and does the same again in
every function that calls it. Within `deferring()` a library only keeps its LLVM code; a loop or
rule that is to run collects what it calls into one module, hides everything but its entry points,
and is optimized once.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import threading
from collections.abc import Iterator
from typing import Any

import llvmlite.binding as llvm
from numba import _dynfunc
from numba.core import codegen as numba_codegen
from numba.core.cpu import CPUContext

_here = threading.local()


@contextlib.contextmanager
def deferring() -> Iterator[None]:
    """Compile without generating machine code for what is only called by other compiled code."""
    if getattr(_here, "deferring", False):
        yield
        return
    _here.deferring = True
    collecting = gc.isenabled()
    gc.disable()  # the compiler makes many objects that stay: 6% of its time
    try:
        yield
    finally:
        _here.deferring = False
        if collecting:
            gc.enable()


class Library(numba_codegen.JITCodeLibrary):
    """A library that may wait with optimization and machine code until a pointer is wanted."""

    def __init__(self, codegen: Any, name: str) -> None:
        super().__init__(codegen, name)
        # Numba's runtime is needed as machine code by whatever runs.
        self.deferred = getattr(_here, "deferring", False) and name != "nrt"
        self.emitted = False
        self.environments: dict[str, Any] = {}

    def _optimize_functions(self, module: Any) -> None:
        if self.deferred:
            module.data_layout = self._codegen._data_layout
            return
        super()._optimize_functions(module)

    def finalize(self) -> None:
        """Take no more code."""
        if not self.deferred:
            super().finalize()
            return
        self._raise_if_finalized()
        for library in self._linking_libraries:
            self._reload_init.update(library._reload_init)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """Return the address of a function, once there is machine code."""
        if not self.deferred:
            return super().get_pointer_to_function(name)
        self._ensure_finalized()
        if not self.emitted:
            if not self._defines(name):
                return 0
            self._emit()
        return super().get_pointer_to_function(name)

    def _defines(self, name: str) -> bool:
        return any(
            one.name == name for one in self._final_module.functions if not one.is_declaration
        )

    def callees(self) -> list[Any]:
        """List the libraries that this one calls, directly or not."""
        found: dict[int, Any] = {}
        waiting = list(self._linking_libraries)
        while waiting:
            library = waiting.pop()
            if id(library) not in found:
                found[id(library)] = library
                if getattr(library, "deferred", False):
                    waiting.extend(library._linking_libraries)
        return list(found.values())

    def _own_for_linking(self) -> Any:
        if self._shared_module is None:
            module = self._final_module.clone()
            for one in module.functions:
                if not one.is_declaration and one.linkage == llvm.Linkage.external:
                    one.linkage = "linkonce_odr"
            self._shared_module = module
        return self._shared_module

    def _get_module_for_linking(self) -> Any:
        if not self.deferred:
            return super()._get_module_for_linking()
        # Asked by a library that does not wait: it needs all that is called, too.
        module = self._own_for_linking().clone()
        for library in self.callees():
            module.link_in(_includable(library), preserve=True)
        return module

    def _emit(self) -> None:
        """Link, optimize and generate machine code."""
        callees = self.callees()
        entries = {
            one.name
            for one in self._final_module.functions
            if not one.is_declaration and _is_entry(one.name)
        }
        self._own_for_linking()
        for library in callees:
            self._final_module.link_in(_includable(library), preserve=True)
        hide(self._final_module, entries)
        for name in entries:  # what was loaded for linking would be dropped as unused
            self._final_module.get_function(name).linkage = "external"
        self._optimize()
        self._final_module.verify()
        self._finalized = False
        self._finalize_final_module()
        self.emitted = True
        for library in callees:
            self.environments.update(getattr(library, "environments", {}))
        self._set_environments()

    def _optimize(self) -> None:
        """Optimize each function, then all of them together.

        Numba would run all passes over the module twice. The passes over single functions make them
        short enough to be inlined, for faster code in the same compile time.
        """
        super()._optimize_functions(self._final_module)
        passes, builder = self._codegen._module_pass_manager()
        passes.run(self._final_module, builder)

    def _set_environments(self) -> None:
        for name, environment in self.environments.items():
            if self._codegen._engine.get_global_value_address(name):
                self._codegen.set_env(name, environment)

    def add_environments(self, environments: Any) -> None:
        """Take over what loaded code needs of Python: constants of the functions in it."""
        self.environments.update({one.env_name: one for one in environments})
        if not self.deferred:
            self._set_environments()

    def linkable_bitcode(self) -> bytes:
        """Return the code of this library and all that it calls, for other libraries to include."""
        module = self._own_for_linking().clone()
        own = {one.name for one in module.functions if not one.is_declaration}
        for library in self.callees():
            module.link_in(_includable(library), preserve=True)
        hide(module, own, only_foreign=True)
        return module.as_bitcode()

    @classmethod
    def _unserialize(cls, codegen: Any, state: Any) -> Any:
        name, kind, data = state
        if kind == "linkable":
            self = codegen.create_library(name)
            self.deferred = True
            self.enable_object_caching()  # it may become something that runs, and is then kept
            self._final_module = llvm.parse_bitcode(data)
            self._finalized = True
            return self
        if kind == "runnable":
            self = codegen.create_library(name)
            self.deferred = False
            code, symbols = data
            self.enable_object_caching()
            self._set_compiled_object(code)
            self._finalize_final_module()
            codegen._engine._defined_symbols.update(symbols)
            return self
        return super()._unserialize(codegen, state)

    def runnable(self) -> Any:
        """Return the machine code in a form that can be kept."""
        symbols = [
            one.name
            for one in self._final_module.functions
            if not one.is_declaration and one.linkage == llvm.Linkage.external
        ]
        return self.name, "runnable", (self._get_compiled_object(), symbols)


def _includable(library: Any) -> Any:
    if isinstance(library, Library) and library.deferred:
        return library._own_for_linking()
    return library._get_module_for_linking()


def _is_entry(name: str) -> bool:
    return name.startswith(("cfunc.", "_ZN7cpython"))


def hide(module: Any, entries: set[str], only_foreign: bool = False) -> None:
    """Make functions private to a module, so that they cannot be mistaken for others' of the name.

    With `only_foreign` functions of kibitz stay visible: their names carry their keys.
    """
    for one in module.functions:
        if not one.is_declaration and one.name not in entries:
            if only_foreign and KEYED in one.name:
                continue
            one.linkage = "internal"


KEYED = "kibitzkey"  # in the names of functions that are named by key, see dispatch.py


def _get_executable(self, library, fndesc, env):
    if not (isinstance(library, Library) and library.deferred):
        return _numbas_get_executable(self, library, fndesc, env)
    library.environments[self.get_env_name(fndesc)] = env
    if library._defines(fndesc.llvm_cpython_wrapper_name):
        return _numbas_get_executable(self, library, fndesc, env)

    # Numba wants something that Python could call. Nothing does; were it called, it would raise.
    return _dynfunc.make_function(
        fndesc.lookup_module(), fndesc.qualname.split(".")[-1], "", _RAISES, env, (library,)
    )


_RAISES = ctypes.cast(ctypes.pythonapi.PyErr_NoMemory, ctypes.c_void_p).value
_numbas_get_executable = CPUContext.get_executable
CPUContext.get_executable = _get_executable
numba_codegen.JITCPUCodegen._library_class = Library
