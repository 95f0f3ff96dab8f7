"""Learning's bookkeeping inside the core: jobs, spending, model profiles, model calls, pending items, runs."""
