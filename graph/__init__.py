"""The knowledge model: what was said, what is believed because of it, and who may see either."""
