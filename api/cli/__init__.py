"""The command line ``rootward``."""
