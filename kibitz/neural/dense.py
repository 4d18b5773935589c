"""The arithmetic of single layers, compiled: what all networks are made of when they play."""

from __future__ import annotations

from kibitz.core.compiled import compiled


@compiled()
def add_product(x, inputs, weights, at, outputs, out):
    """Add x times the weights that begin at a place to what `out` holds; give where they end."""
    for i in range(inputs):
        factor = x[i]
        if factor != 0.0:
            row = at + i * outputs
            for j in range(outputs):
                out[j] += factor * weights[row + j]
    return at + inputs * outputs


@compiled()
def put_bias(weights, at, outputs, out):
    """Begin `out` with the bias at a place; give where it ends."""
    for j in range(outputs):
        out[j] = weights[at + j]
    return at + outputs


@compiled()
def rectify(out, outputs):
    """Keep what is above zero."""
    for j in range(outputs):
        if out[j] < 0.0:
            out[j] = 0.0


@compiled()
def dense(x, inputs, weights, at, outputs, out):
    """Apply a layer; give where its weights end."""
    end = put_bias(weights, at + inputs * outputs, outputs, out)
    add_product(x, inputs, weights, at, outputs, out)
    return end
