"""Adapters of the ports for files, web pages and texts; `api.bootstrap` picks among them."""
