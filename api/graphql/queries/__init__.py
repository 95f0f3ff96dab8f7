"""GraphQL queries, one file a subject."""
