"""Sandbox memory of the service: the engine of the library `rootward` over the files of the graph.

Source: ADR 0037, SB-104 to SB-121.
"""
