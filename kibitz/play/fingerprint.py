"""What makes an agent the agent it is."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import Any

from kibitz.core import own_code
from kibitz.core.agent import Agent, CompiledAgent, FunctionAgent
from kibitz.core.blunders import Blundering


def fingerprint(agent: Agent) -> str:
    """Give a short name of all that an agent plays by: what it is, how it is set, what it learned.

    Two agents with the same fingerprint play alike, as long as kibitz is the same.
    """
    found = hashlib.blake2b(digest_size=16)
    for part in _parts(agent):
        found.update(part)
    return found.hexdigest()


def _parts(agent: Agent) -> list[bytes]:
    if isinstance(agent, Blundering):
        return [*_parts(agent.inner), f"blunders={agent.share}".encode()]
    what: Any = type(agent)
    parts: list[bytes] = []
    if isinstance(agent, CompiledAgent):
        what = agent.kind.choose
        parts.append(agent.weights.tobytes())  # settings and models are all in there
    elif isinstance(agent, FunctionAgent):
        what = agent.function
        code = getattr(what, "__code__", None)
        if code is not None:
            constants = [repr(one) for one in code.co_consts if not hasattr(one, "co_code")]
            parts += [code.co_code, repr((code.co_names, constants)).encode()]
    module, name = (getattr(what, part, "") for part in ("__module__", "__qualname__"))
    # Code in a file of the user's is what the file holds, wherever it lies.
    parts.append(f"{own_code.digest_of(module) or module}.{name}".encode())
    for name, value in sorted(getattr(agent, "settings", {}).items()):
        content = _content(value)
        if content is not None:
            parts.append(content)
        elif not isinstance(agent, CompiledAgent):
            parts.append(f"{name}={value}".encode())
    return parts


def _content(value: Any) -> bytes | None:
    """Give the content of a model that a setting names, wherever it lies."""
    try:
        path = Path(os.fspath(value))
    except TypeError:
        return None
    if path.suffix != ".safetensors" or not path.is_file():
        return None
    return hashlib.blake2b(path.read_bytes(), digest_size=16).digest()
