"""Background learning: jobs, workers, budgets, models and the learners."""
