"""Mexican train."""
