"""Use cases of knowledge: conversations, evidence, operations, reads, audit and restore."""
