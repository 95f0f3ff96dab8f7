"""Transports and wiring; only ``api.bootstrap`` picks adapters."""
