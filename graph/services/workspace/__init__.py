"""Workspace memory: file and record memories, and the threads and runs that use them."""
