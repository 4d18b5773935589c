"""Parts of a tree that only compiled code can be handed."""

from __future__ import annotations

from kibitz.core.compiled import compiled
from kibitz.search.tree import ROOT, add_edges, runs_of


@compiled()
def add_to_root(tree, actions, priors):
    add_edges(runs_of(tree), ROOT, actions, len(actions), priors, True)
