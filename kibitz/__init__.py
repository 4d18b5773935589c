"""kibitz: a workbench where agents learn tabletop games, rate one another, and play you."""
from kibitz.core.errors import KibitzError
from kibitz.core.table import View, Table
from kibitz.core.registry import find_game, find_agent
def game(name, **s): return find_game(name).having(**s)
agent = find_agent
