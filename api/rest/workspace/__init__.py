"""The routes under /api/v1: workspace memory and sandbox memory."""
