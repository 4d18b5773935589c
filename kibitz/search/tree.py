"""The search tree: nodes, the edges that leave them, choosing among those, and adding up.

A tree is a few arrays; `Runs` are the same as flat runs of numbers, for the compiled loop. A column
of a node is `nodes[node * NODE + VISITS]`. The edges of a node lie together, with their actions
ascending, or in any order where they come one at a time.

Behind an edge there may be several nodes, twins, told apart by a key: who is to move, or a number
for all that the searcher would see. Where nothing is hidden there is one. It may lie behind other
edges too, for positions that are equal once stripped are one node, found by its key in `slots`. And
moves that surely win or lose are proven as such (Winands, Bjornsson and Saito, 2008). Proofs count
seats from the one to move, as stripped positions do.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from kibitz.core.chance import below
from kibitz.core.compiled import cells_at, compiled, compiled_loop

ROOT = 0
NO_NODE = NO_EDGES = -1

# Columns of the nodes, of the edges, and of what edges are worth to those who take them.
# STAMP: the simulation that was last here. ONWARD: how many seats on the next one to move sits.
# MOVES counts the edges there are, ROOM those that there may be, from FIRST on; where edges come
# one at a time, AHEAD says with which of the legal actions they begin.
VISITS, FIRST, MOVES, ROOM, AHEAD, KEY, TWIN, PROOF, STAMP, NODE = range(10)
ACTION, CHILD, TRIES, OFFERED, ONWARD, EDGE = range(6)
# KNOWN: what it brought on average. UNSURE: how much the unknown counts for it. Both are kept, for
# they are read for every edge of a node, and change only for the one that was taken.
TOTAL, PRIOR, KNOWN, UNSURE, WORTH = range(5)
NODES_USED, EDGES_USED, USED = range(3)
SIMS, SUM, SQUARES, RETURNS = range(4)  # what simulations brought the searcher

UNKNOWN, DRAWN, WINNER = 0, 1, 2  # proofs; WINNER + n: the seat n on from the mover wins
NO_ACTION = 1 << 60  # behind all others
UNTRIED = 1e12  # beyond anything that can be known
UCT_GROWTH = np.sqrt(np.log(np.maximum(1, np.arange(4096))))  # kept: logarithms take long


class Tree(NamedTuple):
    """Nodes, their edges, how much of both is used, and what came of the simulations."""

    nodes: np.ndarray  # [nodes, NODE]
    edges: np.ndarray  # [edges, EDGE]
    worth: np.ndarray  # [edges, WORTH]
    slots: np.ndarray  # [a power of two]: nodes by their keys, NO_NODE where there is none
    used: np.ndarray  # [USED]
    returns: np.ndarray  # [RETURNS]


class Runs(NamedTuple):
    """A tree as flat runs of numbers."""

    nodes: Any
    edges: Any
    worth: Any
    slots: Any
    used: Any


class Rule(NamedTuple):
    """How moves are chosen in the tree."""

    hides: bool  # not every move is offered each time
    prove: bool
    puct: bool
    explore: float
    bias: float


def new_tree(nodes: int, edges: int) -> Tree:
    """Make a tree with nothing but its root."""
    tree = Tree(
        np.empty((nodes, NODE), np.int64), np.empty((edges, EDGE), np.int32),
        np.empty((edges, WORTH)), slots_for(nodes), np.zeros(USED, np.int64), np.zeros(RETURNS),
    )  # fmt: skip
    return emptied(tree)


def emptied(tree: Tree) -> Tree:
    """Take all but the root out of a tree. Getting memory anew takes a quarter of the time."""
    tree.nodes[ROOT] = 0
    tree.nodes[ROOT, [FIRST, TWIN]] = NO_EDGES, NO_NODE
    tree.slots[:] = NO_NODE
    tree.used[:] = 0
    tree.used[NODES_USED] = 1
    tree.returns[:] = 0.0
    return tree


def slots_for(nodes: int) -> np.ndarray:
    """Make room to find so many nodes by their keys."""
    return np.full(2 << max(4, nodes.bit_length()), NO_NODE)


def enlarged(tree: Tree, nodes: int) -> Tree:
    """Give the same tree with room for so many nodes, at least."""
    known = len(tree.nodes)
    if known >= nodes:
        return tree
    made = np.empty((max(nodes, 2 * known), NODE), np.int64)
    made[:known] = tree.nodes
    tree = tree._replace(nodes=made, slots=slots_for(len(made)))
    fill_slots(tree)
    return tree


@compiled()
def runs_of(tree):
    """Give a tree as flat runs of numbers."""
    return Runs(
        cells_at(tree.nodes), cells_at(tree.edges), cells_at(tree.worth), cells_at(tree.slots),
        cells_at(tree.used),
    )  # fmt: skip


@compiled()
def runs_with(runs, edges, worth):
    """Give the runs of a tree whose edges lie elsewhere now."""
    return Runs(runs.nodes, cells_at(edges), cells_at(worth), runs.slots, runs.used)


@compiled()
def more_edges(edges, worth, needed):
    """Give the same edges with room for twice as many, and for those that are needed."""
    room = 2 * len(edges) + needed
    larger, more = np.empty((room, EDGE), np.int32), np.empty((room, WORTH))
    larger[: len(edges)] = edges
    more[: len(worth)] = worth
    return larger, more


# --- nodes and edges -----------------------------------------------------------------------------


@compiled()
def slot_of(runs, mask, key):
    """Find the slot of the node with this key, or the empty one where it belongs."""
    slot = key & mask
    while runs.slots[slot] != NO_NODE and runs.nodes[runs.slots[slot] * NODE + KEY] != key:
        slot = (slot + 1) & mask
    return slot


@compiled_loop
def fill_slots(tree):
    """Enter all nodes that have a key in their slots."""
    runs = runs_of(tree)
    for node in range(runs.used[NODES_USED]):
        if runs.nodes[node * NODE + KEY] > 0:
            runs.slots[slot_of(runs, len(tree.slots) - 1, runs.nodes[node * NODE + KEY])] = node


@compiled()
def child_of(runs, edge, key):
    """Find the node behind an edge with this key, or NO_NODE."""
    node = runs.edges[edge * EDGE + CHILD]
    while node != NO_NODE and runs.nodes[node * NODE + KEY] != key:
        node = runs.nodes[node * NODE + TWIN]
    return node


@compiled()
def new_node(runs, edge, key):
    """Add a node behind an edge."""
    node = runs.used[NODES_USED]
    runs.used[NODES_USED] = node + 1
    at = node * NODE
    for column in range(NODE):
        runs.nodes[at + column] = 0
    runs.nodes[at + FIRST] = NO_EDGES
    runs.nodes[at + KEY] = key
    runs.nodes[at + TWIN] = runs.edges[edge * EDGE + CHILD]
    runs.edges[edge * EDGE + CHILD] = node
    return node


@compiled()
def merged_node(runs, mask, edge, key):
    """Give the node of a position, which may have been found by other moves, behind an edge."""
    slot = slot_of(runs, mask, key)
    node = runs.slots[slot]
    if node == NO_NODE:
        node = new_node(runs, edge, key)
        runs.slots[slot] = node
    else:
        runs.edges[edge * EDGE + CHILD] = node
    return node


@compiled()
def missing(runs, node, actions, n):
    """Count the actions, ascending, that have no edge yet."""
    first, count = runs.nodes[node * NODE + FIRST], runs.nodes[node * NODE + MOVES]
    at = first
    lacking = 0
    for i in range(n):
        while at < first + count and runs.edges[at * EDGE + ACTION] < actions[i]:
            at += 1
        if at >= first + count or runs.edges[at * EDGE + ACTION] != actions[i]:
            lacking += 1
    return lacking


@compiled()
def add_edges(runs, node, actions, n, priors, puct):
    """Give a node edges for all actions, keeping those that it has.

    They go behind all others, and what the node had before is not used again.
    """
    first, count = runs.nodes[node * NODE + FIRST], runs.nodes[node * NODE + MOVES]
    total = count + missing(runs, node, actions, n)
    start = runs.used[EDGES_USED]
    old = first
    i = 0
    for at in range(start, start + total):
        kept = runs.edges[old * EDGE + ACTION] if old < first + count else NO_ACTION
        if i < n and actions[i] < kept:
            new_edge(runs, at, actions[i], priors[i], puct)
            i += 1
        else:
            copy_edge(runs, old, runs, at)
            if i < n and actions[i] == kept:
                i += 1
            old += 1
    runs.nodes[node * NODE + FIRST] = start
    runs.nodes[node * NODE + MOVES] = total
    runs.nodes[node * NODE + ROOM] = total
    runs.used[EDGES_USED] = start + total


@compiled()
def set_room_aside(runs, node, n, rng):
    """Set room for so many edges aside, to be added one at a time.

    Most nodes are seldom visited: writing all their edges would take longer.
    """
    start = runs.used[EDGES_USED]
    runs.nodes[node * NODE + FIRST] = start
    runs.nodes[node * NODE + ROOM] = n
    runs.nodes[node * NODE + AHEAD] = below(rng, n)
    runs.used[EDGES_USED] = start + n


@compiled()
def add_edge(runs, node, actions, n):
    """Add the next edge of a node, of one of the legal actions, and give it."""
    moves = runs.nodes[node * NODE + MOVES]
    edge = runs.nodes[node * NODE + FIRST] + moves
    runs.nodes[node * NODE + MOVES] = moves + 1
    new_edge(runs, edge, actions[(runs.nodes[node * NODE + AHEAD] + moves) % n], 1.0 / n, False)
    return edge


@compiled()
def new_edge(runs, edge, action, prior, puct):
    """Write an edge that was never tried."""
    at = edge * EDGE
    runs.edges[at + ACTION] = action
    runs.edges[at + CHILD] = NO_NODE
    runs.edges[at + TRIES] = 0
    runs.edges[at + OFFERED] = 0
    runs.edges[at + ONWARD] = 0
    runs.worth[edge * WORTH + TOTAL] = 0.0
    runs.worth[edge * WORTH + PRIOR] = prior
    weigh_edge(runs, edge, puct)


@compiled()
def copy_edge(source, old, target, new):
    """Copy an edge with what it is worth."""
    for column in range(EDGE):
        target.edges[new * EDGE + column] = source.edges[old * EDGE + column]
    for column in range(WORTH):
        target.worth[new * WORTH + column] = source.worth[old * WORTH + column]


@compiled()
def offer(runs, node, actions, n, offered):
    """Write the edges of all actions, and count that they were offered."""
    at = runs.nodes[node * NODE + FIRST]
    for i in range(n):
        while runs.edges[at * EDGE + ACTION] < actions[i]:
            at += 1
        offered[i] = at
        runs.edges[at * EDGE + OFFERED] += 1


# --- choosing ------------------------------------------------------------------------------------


@compiled()
def weigh_edge(runs, edge, puct):
    """Keep what an edge has brought on average, and how much the unknown counts for it.

    By UCT each is tried once first, the likeliest before others (Kocsis and Szepesvari, 2006); by
    PUCT those that were not tried are taken to bring what others did (Silver and others, 2017).
    """
    tries, at = runs.edges[edge * EDGE + TRIES], edge * WORTH
    if puct:
        runs.worth[at + UNSURE] = runs.worth[at + PRIOR] / (1.0 + tries)
        runs.worth[at + KNOWN] = runs.worth[at + TOTAL] / max(1, tries)
    elif tries == 0:
        runs.worth[at + UNSURE] = 0.0
        runs.worth[at + KNOWN] = UNTRIED * (1.0 + runs.worth[at + PRIOR])
    else:
        share = 1.0 / tries
        runs.worth[at + UNSURE] = math.sqrt(share)
        runs.worth[at + KNOWN] = runs.worth[at + TOTAL] * share


@compiled()
def eagerness(rule, spread, times):
    """Give how much the unknown counts after so many choices: by UCT, or by PUCT."""
    if rule.puct:
        return rule.explore * spread * math.sqrt(times)
    if times < len(UCT_GROWTH):
        return rule.explore * spread * UCT_GROWTH[times]
    return rule.explore * spread * math.sqrt(math.log(times))


@compiled()
def mean_of(runs, first, offered, n, hides):
    """Give what the edges have brought on average."""
    tries = total = 0.0
    for i in range(n):
        edge = offered[i] if hides else first + i
        tries += runs.edges[edge * EDGE + TRIES]
        total += runs.worth[edge * WORTH + TOTAL]
    return total / tries if tries > 0.0 else 0.0


@compiled()
def proof_by(runs, edge, seats):
    """Give what is proven of an edge, with seats counted from whoever takes it."""
    child = runs.edges[edge * EDGE + CHILD]
    if child == NO_NODE:
        return UNKNOWN
    proof = runs.nodes[child * NODE + PROOF]
    if proof < WINNER:
        return proof
    return WINNER + (proof - WINNER + runs.edges[edge * EDGE + ONWARD]) % seats


@compiled_loop
def proven(tree, edge, seats):
    """Give what is proven of an edge of a tree."""
    return proof_by(runs_of(tree), edge, seats)


@compiled()
def pick(runs, node, seats, offered, n, rule, spread, rng):
    """Choose an edge: what is best so far, or too little known to leave out.

    offered: the edges to choose from where not all are, [n]
    """
    first = runs.nodes[node * NODE + FIRST]
    eager = eagerness(rule, spread, max(1, runs.nodes[node * NODE + VISITS]))
    base = mean_of(runs, first, offered, n, rule.hides) if rule.puct else 0.0
    best, most, ties = NO_EDGES, -math.inf, 0
    for i in range(n):
        edge = first + i
        if rule.hides:
            edge = offered[i]
            # how often it could have been tried
            eager = eagerness(rule, spread, max(1, runs.edges[edge * EDGE + OFFERED]))
        if rule.prove:
            proof = proof_by(runs, edge, seats)
            if proof == WINNER:
                return edge
            if proof > WINNER:
                continue
        value = runs.worth[edge * WORTH + KNOWN] + eager * runs.worth[edge * WORTH + UNSURE]
        if rule.puct and runs.edges[edge * EDGE + TRIES] == 0:
            value += base
        if rule.bias > 0.0:
            prior = runs.worth[edge * WORTH + PRIOR]
            value += rule.bias * spread * prior / (1.0 + runs.edges[edge * EDGE + TRIES])
        if value > most:
            best, most, ties = edge, value, 1
        elif value == most:
            ties += 1
            if below(rng, ties) == 0:
                best = edge
    if best == NO_EDGES:  # all are lost
        return offered[0] if rule.hides else first
    return best


@compiled()
def pick_evenly(runs, node, offered, n, hides):
    """Choose the edge that was tried least."""
    first = runs.nodes[node * NODE + FIRST]
    best = offered[0] if hides else first
    for i in range(1, n):
        edge = offered[i] if hides else first + i
        if runs.edges[edge * EDGE + TRIES] < runs.edges[best * EDGE + TRIES]:
            best = edge
    return best


# --- going back ----------------------------------------------------------------------------------


@compiled()
def back_up(runs, path, movers, length, leaf, rewards, puct):
    """Add up on every edge of a path what it brought to whoever took it. path [steps, 2]"""
    for step in range(length):
        edge = path[step, 1]
        runs.nodes[path[step, 0] * NODE + VISITS] += 1
        runs.edges[edge * EDGE + TRIES] += 1
        runs.worth[edge * WORTH + TOTAL] += rewards[movers[step]]
        weigh_edge(runs, edge, puct)
    runs.nodes[leaf * NODE + VISITS] += 1


@compiled()
def proof_of(runs, node, seats):
    """Give what the proofs behind a node's edges say of it: a move wins, or nothing is left."""
    first = runs.nodes[node * NODE + FIRST]
    one = UNKNOWN
    still_open = runs.nodes[node * NODE + MOVES] < runs.nodes[node * NODE + ROOM]
    mixed = False
    for edge in range(first, first + runs.nodes[node * NODE + MOVES]):
        proof = proof_by(runs, edge, seats)
        if proof == WINNER:
            return proof
        if proof == UNKNOWN:
            still_open = True
        elif one == UNKNOWN:
            one = proof
        elif one != proof:
            one = DRAWN  # of two seats: whoever would lose otherwise takes the draw
            mixed = seats > 2
    return UNKNOWN if still_open or mixed else one


@compiled()
def prove(runs, path, length, seats):
    """Carry what is proven up a path, as far as it goes."""
    for step in range(length - 1, -1, -1):
        proof = proof_of(runs, path[step, 0], seats)
        if proof == UNKNOWN:
            return
        runs.nodes[path[step, 0] * NODE + PROOF] = proof


@compiled_loop
def replant(tree, node, into):
    """Copy what lies below a node into an empty tree, where that node is the root."""
    source, target = runs_of(tree), runs_of(into)
    known = tree.used[NODES_USED]
    olds = np.empty(known, np.int64)  # old numbers, by new
    news = np.full(known, NO_NODE)  # new numbers, by old
    olds[ROOT], news[node] = node, ROOT
    total = 1
    at = 0
    while at < total:
        old = olds[at] * NODE
        for column in range(NODE):
            target.nodes[at * NODE + column] = source.nodes[old + column]
        target.nodes[at * NODE + STAMP] = 0
        first, moves = source.nodes[old + FIRST], source.nodes[old + MOVES]
        room = source.nodes[old + ROOM]
        twin = source.nodes[old + TWIN]
        if at == ROOT:
            target.nodes[at * NODE + TWIN] = NO_NODE
        elif twin != NO_NODE:
            total = numbered(twin, olds, news, total)
            target.nodes[at * NODE + TWIN] = news[twin]
        if first != NO_EDGES:
            start = target.used[EDGES_USED]
            target.nodes[at * NODE + FIRST] = start
            target.used[EDGES_USED] = start + room
            for i in range(moves):
                copy_edge(source, first + i, target, start + i)
                child = source.edges[(first + i) * EDGE + CHILD]
                if child != NO_NODE:
                    total = numbered(child, olds, news, total)
                    target.edges[(start + i) * EDGE + CHILD] = news[child]
        at += 1
    target.used[NODES_USED] = total
    fill_slots(into)


@compiled()
def numbered(old, olds, news, total):
    """Give an old node a new number if it has none; give how many have one."""
    if news[old] == NO_NODE:
        news[old] = total
        olds[total] = old
        total += 1
    return total
