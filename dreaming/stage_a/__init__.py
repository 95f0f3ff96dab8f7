"""Stage A: splits what was said in a channel into episodes. Source: DR-11 to DR-29.

`select` finds what a batch holds, `prompt` and `answer` are the question and its answer, `graph.rules.stage_a` decides,
`learner` runs the four under the lease of a job.
"""

from dreaming.stage_a.learner import dream_channel as dream_channel
