"""Readers of other programs' chat exports; each yields `ImportedMessage` and stores nothing."""
