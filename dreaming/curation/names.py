"""Short names by which a model speaks of what it is shown; whatever else it names is not there for it (DR-36, DR-45).

Names are given in the order of showing, so that the same material makes the same prompt.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from graph.model.ids import NodeId, prefix_of
from graph.model.nodes.evidence import Episode, Source
from graph.model.nodes.knowledge import Block, Entry, Relation
from graph.model.nodes.learning import Lesson
from graph.model.nodes.people import Principal

_LETTERS: Mapping[str, str] = {
    Source.PREFIX: "s",
    Episode.PREFIX: "ep",
    Entry.PREFIX: "e",
    Block.PREFIX: "b",
    Relation.PREFIX: "r",
    Lesson.PREFIX: "l",
    Principal.PREFIX: "p",
}


@dataclass(kw_only=True, slots=True)
class Names:
    """The names of one prompt, both ways.

    >>> names = Names()
    >>> names.of(NodeId("src_x")), names.of(NodeId("ent_y")), names.of(NodeId("src_z")), names.id_of("s2")
    ('s1', 'e1', 's2', 'src_z')
    """

    ids: dict[str, NodeId] = field(default_factory=dict)
    _names: dict[NodeId, str] = field(default_factory=dict)
    _counts: dict[str, int] = field(default_factory=dict)

    def of(self, id_: NodeId) -> str:
        """Return the name of a node, given now if it has none yet."""
        if id_ not in self._names:
            letter = _LETTERS.get(prefix_of(id_), "n")
            self._counts[letter] = self._counts.get(letter, 0) + 1
            self._names[id_] = f"{letter}{self._counts[letter]}"
            self.ids[self._names[id_]] = id_
        return self._names[id_]

    def id_of(self, name: str) -> str:
        """Return what a name stands for; what is no name of this prompt stays as it is: a `ref`, or nothing at all."""
        return self.ids.get(name, name)

    def __contains__(self, name: str) -> bool:
        return name in self.ids

    def named(self, kind: type[Source | Episode | Entry]) -> frozenset[str]:
        """Return the names of one kind."""
        return frozenset(name for name, id_ in self.ids.items() if prefix_of(id_) == kind.PREFIX)
