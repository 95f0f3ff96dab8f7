"""What closing a session has to do for one layout, and how far it is; can be kept over the end of a process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from rootward.errors import MemoryLayoutClash
from rootward.models import ModelRef
from rootward.sandbox.layout import MemoryLayoutConfig
from rootward.sandbox.memory import Memory, MemoryGenerateConfig
from rootward.sandbox.report import (
    PhaseOneReport,
    PhaseTwoReport,
    phase_one_dict,
    phase_two_dict,
    read_phase_one,
    read_phase_two,
)


@dataclass(kw_only=True)
class LayoutWork:
    """One layout of one session.

    Attributes:
        generate: None where it came from an earlier process and named no models but held them: the next run gives it.
        recorded: conversations that got a segment in this session.
        phase_one: conversations that closing is done with, by id.
        phase_two: what became of the consolidation, once it is over.
    """

    layout: MemoryLayoutConfig
    generate: MemoryGenerateConfig | None
    recorded: set[str] = field(default_factory=set)
    phase_one: dict[str, PhaseOneReport] = field(default_factory=dict)
    phase_two: PhaseTwoReport | None = None

    @property
    def pending(self) -> list[str]:
        """Conversations to extract, in ascending order of file name. Source: SB-60."""
        return in_file_order(self.recorded - self.phase_one.keys())

    def add(self, rollout_id: str) -> None:
        """Note a new segment: its conversation is to be extracted, also if a close that was cut off did so before."""
        self.recorded.add(rollout_id)
        self.phase_one.pop(rollout_id, None)
        self.phase_two = None

    def as_dict(self) -> dict[str, object]:
        """Return the work as JSON. Model objects cannot be kept: a configuration that holds one is left out."""
        return {
            "memories_dir": self.layout.memories_dir,
            "sessions_dir": self.layout.sessions_dir,
            "generate": _generate_dict(self.generate),
            "recorded": sorted(self.recorded),
            "phase_one": [phase_one_dict(one) for one in self.phase_one.values()],
            "phase_two": phase_two_dict(self.phase_two) if self.phase_two else None,
        }

    @classmethod
    def from_dict(cls, value: Mapping[str, object]) -> LayoutWork:
        """Return the work that `as_dict` wrote."""
        done = [read_phase_one(one) for one in _objects(value["phase_one"])]
        second, recorded, generate = value["phase_two"], value["recorded"], value["generate"]
        return cls(
            layout=MemoryLayoutConfig(memories_dir=str(value["memories_dir"]), sessions_dir=str(value["sessions_dir"])),
            generate=MemoryGenerateConfig(**generate) if isinstance(generate, dict) else None,
            recorded={str(name) for name in recorded} if isinstance(recorded, list) else set(),
            phase_one={one.rollout_id: one for one in done},
            phase_two=read_phase_two(second) if isinstance(second, dict) else None,
        )


def claim(works: list[LayoutWork], memory: Memory) -> LayoutWork | None:
    """Reserve the layout of an agent among those of its session; None if it generates nothing. Source: SB-96.

    Raises:
        MemoryLayoutClash: another layout has one of the directories, or this one another configuration.
    """
    if memory.generate is None:
        return None
    if any(memory.layout.clashes_with(work.layout) for work in works):
        raise MemoryLayoutClash("another layout of this session has one of the two directories; share both or none")
    work = next((work for work in works if work.layout == memory.layout), None)
    if work is None:
        work = LayoutWork(layout=memory.layout, generate=memory.generate)
        works.append(work)
    if work.generate is None:
        work.generate = memory.generate
    if work.generate != memory.generate:
        raise MemoryLayoutClash("this layout already has another generate configuration in this session")
    return work


def in_file_order(rollout_ids: Iterable[str]) -> list[str]:
    """Return conversations in ascending order of file name.

    >>> in_file_order(["a", "a-b"])
    ['a-b', 'a']
    """
    return sorted(rollout_ids, key=lambda rollout_id: f"{rollout_id}.jsonl")


def _generate_dict(generate: MemoryGenerateConfig | None) -> dict[str, object] | None:
    if generate is None:
        return None
    models: dict[str, ModelRef] = {
        "phase_one_model": generate.phase_one_model,
        "phase_two_model": generate.phase_two_model,
    }
    if not all(isinstance(ref, str) for ref in models.values()):
        return None
    return {
        **models,
        "max_raw_memories_for_consolidation": generate.max_raw_memories_for_consolidation,
        "extra_prompt": generate.extra_prompt,
    }


def _objects(value: object) -> list[Mapping[str, object]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []
