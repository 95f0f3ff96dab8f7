"""GraphQL types, one file a subject."""
