"""The Python library's client against the real application."""
