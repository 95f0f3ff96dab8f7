"""Who asks: callers, the facts about them, sessions of reading and of writing."""
