"""The games, one room each. A folder here is a game."""
