"""The GraphQL transport: the whole product."""
