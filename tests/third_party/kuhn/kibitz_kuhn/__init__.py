"""Kuhn poker, a game for kibitz from another package."""
