"""Pure laws over those values: visibility, audience, provenance, scopes, restore, ranking, packing."""
