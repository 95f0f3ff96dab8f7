"""Learning from a file, a pasted text or a page: part after part, each topic into its entry (MA-7 to MA-10).

`parts` cuts a long text, `topics` finds the entries that a part may be about, `learner` asks what to write
(`dreaming.curation`) and commits each part with its progress under the lease of a job.
"""

from dreaming.materials.learner import learn_material

__all__ = ["learn_material"]
