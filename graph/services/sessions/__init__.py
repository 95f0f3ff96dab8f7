"""Sessions of agents: what hosts report of them, their turns, and what is remembered of one."""
