"""Consolidation: what is worth keeping of a session is remembered. Source: SM-95 to SM-122.

`learner` does it under the lease of a job after a turn; `refresh` does the same at once for who asks and waits.
"""

from dreaming.sessions.learner import learn_session as learn_session
