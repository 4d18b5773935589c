"""Bridges: kibitz games in the tools that people already use, and games of those tools here.

Each bridge is a module of its own and imports what it needs: `pip install 'kibitz[bridges]'`.
"""
