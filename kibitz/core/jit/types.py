"""The contract's signatures as Numba types, and rules as values that compiled loops take."""

from __future__ import annotations

import ctypes
import functools
import os
import sys
import types as types_of_python
import warnings
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir
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

from kibitz.core.compiled import (
    RULES,
    SIGNATURES,
    ArrayOf,
    Loop,
    Pointers,
    Rule,
    Rules,
    Signature,
    cells_at,
    compilable,
)

# The pointers this module is built on carry that label in Numba; the pinned version is tested.
warnings.filterwarnings(
    "ignore", message="First-class function type", category=NumbaExperimentalFeatureWarning
)


class RuleType(FunctionType):
    """The type of a pointer. It is Numba's own, but costs next to nothing to hand over."""


register_model(RuleType)(FunctionModel)


MISSING = "kibitz_missing_rule"


@ctypes.CFUNCTYPE(None)
def _end_process() -> None:
    """End the process: compiled code has called a rule that `Compilable.needs` did not name."""
    print("kibitz: compiled code asked for a rule that was not compiled.", file=sys.stderr)
    os.abort()


llvm.add_symbol(MISSING, ctypes.cast(_end_process, ctypes.c_void_p).value)


@unbox(RuleType)
def _take_pointer(kind, value, c):
    # Numba would import two modules and unpickle the signature for each: 10 µs, and a loop over
    # boards takes more than thirty.
    function = cgutils.create_struct_proxy(kind)(c.context, c.builder)
    address = c.pyapi.object_getattr_string(value, "address")
    found = c.pyapi.long_as_voidptr(address)
    c.pyapi.decref(address)
    nothing = ir.FunctionType(ir.VoidType(), [])
    missing = cgutils.get_or_insert_function(c.builder.module, nothing, MISSING)
    is_missing = cgutils.is_null(c.builder, found)
    function.c_addr = c.builder.select(is_missing, c.builder.bitcast(missing, found.type), found)
    function.py_addr = c.builder.ptrtoint(value, c.context.get_value_type(types.voidptr))
    function.jit_addr = c.context.get_constant_null(types.voidptr)
    return NativeValue(function._getvalue())


@functools.cache
def type_of(described: Any) -> Any:
    """Translate the description of a type."""
    if isinstance(described, ArrayOf):
        return types.Array(getattr(types, described.dtype), described.dimensions, "C")
    if described == RULES:
        return types.NamedTuple([rule_type(one) for one in SIGNATURES], Rules)
    return getattr(types, described)


@functools.cache
def signature_of(signature: Signature) -> Any:
    """Translate a signature of the contract."""
    return type_of(signature.returns)(*map(type_of, signature.takes))


def describe(kind: Any) -> str:
    """Return all that compiled code depends on of a type, as text.

    Numba's own text leaves out what the fields of a named tuple are called.
    """
    named: Any = types.BaseNamedTuple  # Numba's classes do not declare their attributes
    several: Any = types.BaseTuple
    if isinstance(kind, named):
        fields = zip(kind.fields, kind.types, strict=True)
        inner = ", ".join(f"{name}: {describe(one)}" for name, one in fields)
        return f"{kind.instance_class.__module__}.{kind.instance_class.__qualname__}({inner})"
    if isinstance(kind, several):
        return f"({', '.join(map(describe, kind.types))})"
    return str(kind)


@functools.cache
def rule_type(signature: Signature) -> RuleType:
    """Return the type of a pointer to a function with this signature."""
    return RuleType(signature_of(signature))


@typeof_impl.register(Rule)
def _type_of_rule(value: Rule, context: Any) -> Any:
    # Numba would work it out anew for every rule at every call from Python: 0.1 ms.
    if value.type is None:
        value.type = rule_type(value.signature)
    return value.type


@typeof_impl.register(Rules)
def _type_of_rules(value: Rules, context: Any) -> Any:
    # Those of games in plain Python have another type, but compiled code never gets them.
    return type_of(RULES)


@typeof_impl.register(Pointers)
def _type_of_pointers(value: Pointers, context: Any) -> Any:
    kind = value.__dict__.get("type")
    if kind is None:
        kind = value.__dict__["type"] = types.UniTuple(_type_of_rule(value[0], None), len(value))
    return kind


@typeof_impl.register(types_of_python.FunctionType)
@typeof_impl.register(Loop)
def _type_of_function(value: Any, context: Any) -> Any:
    # Functions that other compiled functions refer to stay plain Python; here is what they mean.
    if compilable(value) is None:
        return None
    from kibitz.core.jit.dispatch import dispatcher_of

    return types.Dispatcher(dispatcher_of(value.compiled))


@intrinsic
def _data_of(typing_context, array):
    def lower(context, builder, signature, arguments):
        return context.make_array(signature.args[0])(context, builder, arguments[0]).data

    return types.CPointer(array.dtype)(array), lower


@overload(cells_at)
def _cells_at(array):
    return lambda array: _data_of(array)  # type: ignore[call-arg]
