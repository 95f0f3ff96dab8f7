"""The default store: SQLite in one file, owned by one process.

`store` puts it together; `session` is a connection with a thread; `tables` what is in the file; `audience`, `listing`,
`closure`, `search` answer questions; `nodes`, `links`, `filing`, `texts` write.
"""

from graph.store.embedded.store import EmbeddedStore

__all__ = ["EmbeddedStore"]
