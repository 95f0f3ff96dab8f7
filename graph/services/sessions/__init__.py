"""Sessions: their turns, items and memory."""
