"""Consolidation of what an agent learns in all its sessions. Source: AM-20 to AM-37."""

from dreaming.agents.learner import learn_agent as learn_agent
