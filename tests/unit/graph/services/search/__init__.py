"""Search through the services."""
