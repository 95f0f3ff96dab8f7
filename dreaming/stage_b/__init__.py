"""Stage B: curates what an agent knows from new episodes, task results, signals and documents. Source: DR-30 to DR-83.

`select` finds what a batch holds, `browse` asks what to open, `dreaming.curation` opens it, asks what to do and applies
the answer, `batch` takes one batch through all of this, `learner` runs base after base under the lease of a job.
"""

from dreaming.stage_b.learner import dream_agent as dream_agent
