"""Search: the exact solver and the perfect agent."""
