"""The memory of agents: what they learned in all their sessions. Source: AM-1 to AM-53."""
