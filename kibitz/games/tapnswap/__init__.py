"""TapnSwap."""
