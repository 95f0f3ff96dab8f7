"""The form of the sample story, and how its symbolic names become ids while it is loaded.

In an operation, things are named by kind and key: `message:t017`, `document:lab-report`, `person:mei`,
`entry:wan`, `block:by-rail`, `relation:wan-supplies`. `entry:…` is also the operation's own `ref`, so a list can
name what it creates itself (DR-42). Blocks and relations are named only by later batches. Source: AD-43, AD-44.
"""

from collections.abc import Mapping
from importlib.resources import files
from pathlib import PurePosixPath
from typing import Annotated, Any, Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from api.importers.dates import Dates
from api.importers.json_lines import read_json_lines
from api.importers.model import ImportedMessage, ImportTally

Key = Annotated[str, Field(pattern=r"^[a-z0-9]+(-[a-z0-9]+)*$")]
Ref = Annotated[str, Field(pattern=r"^(message|document|person|entry|block|relation):[a-z0-9-]+$")]
SHARED = "shared"
"""The pool of the Agent's shared knowledge; every other pool has the key of its channel."""


class Part(BaseModel):
    """A part of the story; unknown fields are refused."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Person(Part):
    """Somebody in the story; `role` is the right on the one agent (KN-58)."""

    key: Key
    name: str
    kind: Literal["human", "agent"]
    role: Literal["reader", "curator", "auditor"] | None = None
    prints_token: bool = False


class Channel(Part):
    """A channel; `memory_scope` and `isolated` are its routing rule, which a private chat has not (KN-46)."""

    key: Key
    kind: Literal["shared_channel", "private_chat"]
    memory_scope: Literal["shared", "channel"] | None = None
    isolated: bool = False
    members: tuple[Key, ...]

    @property
    def pool(self) -> str:
        """The pool that its conversations write to. Source: KN-42, KN-44, KN-45."""
        return SHARED if self.memory_scope == "shared" else self.key


class Document(Part):
    """A file handed in; `file` is relative to the story."""

    key: Key
    pool: Key
    kind: Literal["file", "text"]
    file: str
    media_type: str
    title: str
    submitted_by: Key
    submitted_at: AwareDatetime


class Skill(Part):
    """A Skill that the agent has."""

    key: Key
    name: str
    text: str


class _OperationPart(Part):
    """A part of an operation of DR-43, in the spelling of the contract."""

    model_config = ConfigDict(extra="forbid", frozen=True, alias_generator=to_camel)


class Citation(_OperationPart):
    """Words of a source that a statement rests on (KN-70)."""

    source: Ref
    quote: str = Field(min_length=4, max_length=500)
    role: Literal["supports", "contradicts", "corrects"]


class Deduction(_OperationPart):
    """A conditional judgement (DR-58)."""

    condition: str = Field(min_length=1)
    conclusion: str = Field(min_length=1)
    basis: tuple[Ref, ...] = Field(min_length=1)
    date: str = Field(pattern=r"^\d{4}-\d\d-\d\d$")


class _BlockFields(_OperationPart):
    text: str | None = Field(default=None, min_length=1, max_length=2_000)
    deduction: Deduction | None = None
    basis: Literal["stated", "deduced", "induced", "authored"]
    standing: Literal["settled", "corrected", "disputed", "unconfirmed", "inferred"]
    change: Literal["addition", "evolution", "correction", "dispute", "rumour", "inference"]
    durability: Literal["lasting"]
    citations: tuple[Citation, ...] = Field(min_length=1)
    valid_from: str | None = None
    from_precision: Literal["year", "month", "day"] | None = None
    supersedes: tuple[Ref, ...] = ()


class Block(_BlockFields):
    """A block of a new entry."""

    label: Ref


class CreateEntry(_OperationPart):
    """A new entry with its first blocks."""

    op: Literal["createEntry"]
    ref: Ref
    name: str = Field(min_length=1, max_length=200)
    type: str
    summary: str = Field(max_length=600)
    aliases: tuple[str, ...] = ()
    principal: Ref | None = None
    same_as: Ref | None = None
    blocks: tuple[Block, ...] = Field(min_length=1)


class AddBlock(_BlockFields):
    """A new block of an entry that exists, or is created in the same list."""

    op: Literal["addBlock"]
    entry: Ref
    label: Ref


class EditBlock(_BlockFields):
    """A new version of a block."""

    op: Literal["editBlock"]
    block: Ref


class SetSummary(_OperationPart):
    """A new summary made from blocks."""

    op: Literal["setSummary"]
    entry: Ref
    summary: str = Field(max_length=600)
    from_blocks: tuple[Ref, ...] = Field(min_length=1)


class AddRelation(_OperationPart):
    """A relation between two entries, with its words."""

    op: Literal["addRelation"]
    label: Ref
    subject: Ref
    type: str = Field(pattern=r"^[a-z][a-z0-9_]{1,63}$")
    object: Ref
    source: Ref
    quote: str = Field(min_length=4, max_length=500)
    valid_from: str | None = None
    from_precision: Literal["year", "month", "day"] | None = None


Operation = Annotated[CreateEntry | AddBlock | EditBlock | SetSummary | AddRelation, Field(discriminator="op")]


class Batch(Part):
    """One list of operations as it was committed: by whom, when, into which pool."""

    key: Key
    pool: Key
    actor: Key
    at: AwareDatetime
    reason: str
    operations: tuple[Operation, ...] = Field(min_length=1)


class Trace(Part):
    """Ask a question and trace the answer to the message behind it; part of it was learned while dreaming."""

    viewer: Key
    question: str
    block: Ref
    source: Ref
    learned: str


class Compare(Part):
    """Ask the same as two people; the second sees less."""

    question: str
    sees_more: Key
    sees_less: Key
    both_see: tuple[Ref, ...]
    only_more: tuple[Ref, ...] = Field(min_length=1)


class Withdraw(Part):
    """Withdraw a source: what it hides, and which relation stays by which other evidence."""

    source: Ref
    hides: tuple[Ref, ...] = Field(min_length=1)
    keeps: Ref
    keeps_by: Ref


class ThingsToTry(Part):
    """The three commands that a first start prints (AD-44)."""

    trace: Trace
    compare: Compare
    withdraw: Withdraw


class Story(Part):
    """The whole story but for its messages and the text of its documents."""

    version: Literal[1]
    title: str
    workspace: Key
    people: tuple[Person, ...]
    channels: tuple[Channel, ...]
    messages: str
    skills: tuple[Skill, ...]
    documents: tuple[Document, ...]
    batches: tuple[Batch, ...]
    things_to_try: ThingsToTry

    @property
    def agent(self) -> Person:
        return next(person for person in self.people if person.kind == "agent")


def load_story() -> Story:
    """Read and check the story that comes with the package."""
    return Story.model_validate_json(read_file("story.json"))


def load_messages(story: Story) -> list[ImportedMessage]:
    """Return the messages of all channels, oldest first."""
    dates = Dates(zone=None, tally=ImportTally())
    lines = read_file(story.messages).decode().splitlines()
    return list(read_json_lines(lines, file=story.messages, dates=dates))


def read_file(name: str) -> bytes:
    """Return the bytes of a file of the story, such as a document's."""
    return files("api.sample").joinpath(*PurePosixPath(name).parts).read_bytes()


def labels(operation: Operation) -> tuple[str, ...]:
    """Return the names of what an operation creates: the entry before its blocks in order."""
    match operation:
        case CreateEntry():
            return (operation.ref, *(block.label for block in operation.blocks))
        case AddBlock() | AddRelation():
            return (operation.label,)
        case _:
            return ()


def resolve(operation: Operation, ids: Mapping[str, str], versions: Mapping[str, int]) -> dict[str, Any]:
    """Return an operation as `applyOperations` takes it.

    Args:
        operation: as it stands in the story.
        ids: real ids by symbolic name; a name that is missing stays, as the `ref` of the same list.
        versions: the current version by the name of each entry and block that exists already.

    >>> story = load_story()
    >>> correction = next(b for b in story.batches if b.key == "humidity-corrected").operations[0]
    >>> found = resolve(correction, {"block:humidity": "B1"}, {"block:humidity": 1})
    >>> found["op"], found["block"], found["expectedVersion"]
    ('editBlock', 'B1', 1)
    """
    found = _replaced(operation.model_dump(mode="json", by_alias=True, exclude_unset=True), ids)
    assert isinstance(found, dict)
    if isinstance(operation, EditBlock):
        found["expectedVersion"] = versions[operation.block]
    elif isinstance(operation, SetSummary):
        found["expectedVersion"] = versions[operation.entry]
    return found


def _replaced(value: Any, ids: Mapping[str, str]) -> Any:
    """Put ids for names, and leave labels out; a text is never a bare name."""
    if isinstance(value, dict):
        return {key: _replaced(item, ids) for key, item in value.items() if key != "label"}
    if isinstance(value, list):
        return [_replaced(item, ids) for item in value]
    return ids.get(value, value) if isinstance(value, str) else value
