"""Networks that learn from playing: what the learners who train one have in common."""
