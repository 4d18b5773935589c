"""Leagues: many matches between many agents, kept in a store, and what they say of each."""

from kibitz.league.league import League

__all__ = ["League"]
