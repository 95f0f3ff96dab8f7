"""GraphQL mutations, one file a subject."""
