"""Bot memory: one pool of entries a bot, in which everyone sees what each source allows (BM-1 to BM-189)."""
