"""The REST transport: the routes existing clients expect."""
