"""What an event of an external system becomes: a source whose text can be quoted. Pure. Source: MA-15 to MA-18."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Final

from graph.model.errors import BadInput, LimitExceeded
from graph.model.fields import Json
from graph.model.ids import NodeId
from graph.model.nodes.evidence import Source, SourceKind
from graph.model.nodes.learning import SignalSource
from graph.model.time import Millis
from graph.rules.ingest import content_hash

MAX_ID: Final = 512
MAX_TYPE: Final = 200
MAX_TEXT: Final = 200_000


@dataclass(frozen=True, kw_only=True, slots=True)
class IncomingSignal:
    """An event as its system reports it.

    Attributes:
        external_id: the system's own id of the event, unique in its signal source.
        type: what kind of event it is, such as ``order.cancelled``.
        payload: what it says, any JSON; a text is kept as it is.
        occurred_at: when it happened there.
    """

    external_id: str
    type: str
    payload: Json
    occurred_at: Millis


def check_signal(signal: IncomingSignal) -> None:
    """Refuse an event that cannot be taken.

    Raises:
        BadInput: its id or type is empty or too long, or it says nothing.
        LimitExceeded: it says too much.
    """
    if not 1 <= len(signal.external_id) <= MAX_ID:
        raise BadInput(f"a signal needs an external id of 1 to {MAX_ID} characters", field="externalId")
    if not signal.type.strip() or len(signal.type) > MAX_TYPE:
        raise BadInput(f"a signal needs a type of 1 to {MAX_TYPE} characters", field="type")
    if signal.payload in (None, "", {}, []):
        raise BadInput("the payload of the signal is empty", field="payload")
    if len(text_of(signal)) > MAX_TEXT:
        raise LimitExceeded(f"a signal has at most {MAX_TEXT} characters", field="payload", limit=MAX_TEXT)


def text_of(signal: IncomingSignal) -> str:
    r"""Return the words of an event: its type, then what it says, a field a line, so that each can be quoted.

    >>> text_of(IncomingSignal(external_id="1", type="deploy", payload={"to": "Berlin"}, occurred_at=Millis(0)))
    'deploy\n{\n "to": "Berlin"\n}'
    """
    payload = signal.payload
    said = payload if isinstance(payload, str) else json.dumps(payload, ensure_ascii=False, indent=1)
    return f"{signal.type.strip()}\n{said}"


def signal_as_source(signal: IncomingSignal, of: SignalSource, id_: NodeId, at: Millis) -> Source:
    """Return the source that an event becomes, in the base to which its signal source is routed now."""
    text = text_of(signal)
    return Source(
        id=id_,
        workspace=of.workspace,
        pool=of.pool,
        created_at=at,
        kind=SourceKind.SIGNAL,
        content_hash=content_hash(text),
        text=text,
        speaker=of.display_name,
        title=f"{of.display_name}: {signal.type.strip()}"[:MAX_TYPE],
        occurred_at=signal.occurred_at,
        recorded_at=at,
        series=id_,
        external_id=signal.external_id,
        meta={"signalSource": of.id, "type": signal.type.strip()},
    )
