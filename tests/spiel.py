"""What the tests of the bridge to OpenSpiel share."""

from __future__ import annotations

import importlib.util
import sys
from unittest import mock

# OpenSpiel's value iteration imports a solver that only games of simultaneous moves need.
if importlib.util.find_spec("cvxpy") is None:
    sys.modules["cvxpy"] = mock.MagicMock()
    from open_spiel.python.algorithms.value_iteration import value_iteration

    del sys.modules["cvxpy"]
else:
    from open_spiel.python.algorithms.value_iteration import value_iteration

__all__ = ["value_iteration"]
