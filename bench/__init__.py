"""Benchmarks: numbers with their origin. Run all with `python -m bench`."""
