"""Bridges to other people's workbenches. Each needs `pip install 'kibitz[bridges]'`."""
