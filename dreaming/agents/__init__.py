"""Consolidation of what an agent learns in all its sessions. Source: AM-20 to AM-37."""
