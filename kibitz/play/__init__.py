"""Playing: matches between agents, and batches of games for learners."""
