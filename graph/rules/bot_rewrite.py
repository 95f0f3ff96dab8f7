"""The input of a turn, and when a rewrite of it may take its place. Pure.

An input has parts: what the person said, and notifications, which nobody said. A rewrite stands in the place of the
person's words; notifications stay as and where they are. Source: BM-99 to BM-105, BM-115.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from enum import StrEnum

from graph.model.errors import InvalidRequest
from graph.text.outside import is_storable

MAX_PARTS = 100
_BETWEEN = "\n\n"


class PartKind(StrEnum):
    """Who speaks in a part of an input."""

    PERSON = "person"
    NOTIFICATION = "notification"


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnPart:
    """One part of an input."""

    kind: PartKind
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnInput:
    """What a host gives when a turn begins; a plain text is one part of a person."""

    parts: tuple[TurnPart, ...]

    @classmethod
    def of(cls, given: str | TurnInput) -> TurnInput:
        """Return the input that a text or an input stands for.

        Raises:
            InvalidRequest: no part, too many, or a text that cannot be kept; `path` names the part.
        """
        made = given if isinstance(given, TurnInput) else cls(parts=(TurnPart(kind=PartKind.PERSON, text=given),))
        if not 1 <= len(made.parts) <= MAX_PARTS:
            raise InvalidRequest(f"an input has 1 to {MAX_PARTS} parts", path="input")
        for index, part in enumerate(made.parts):
            if not is_storable(part.text):
                raise InvalidRequest("a text has no U+0000 and no lone surrogates", path=f"input.{index}.text")
        return made

    @property
    def said(self) -> str:
        """What the person said, part after part; empty if he said nothing (BM-99)."""
        return _BETWEEN.join(part.text for part in self.parts if part.kind is PartKind.PERSON)

    def for_model(self, rewrite: str | None = None) -> str:
        r"""Return the input as the bot's model gets it: with `rewrite` where the person's first words stood.

        >>> person, told = PartKind.PERSON, PartKind.NOTIFICATION
        >>> parts = (TurnPart(kind=told, text="n"), TurnPart(kind=person, text="a"), TurnPart(kind=person, text="b"))
        >>> TurnInput(parts=parts).for_model("c")
        'n\n\nc'
        """
        if rewrite is None:
            return _BETWEEN.join(part.text for part in self.parts)
        return _BETWEEN.join(self._replaced(rewrite))

    def _replaced(self, rewrite: str) -> Iterator[str]:
        replaced = False
        for part in self.parts:
            if part.kind is PartKind.NOTIFICATION:
                yield part.text
            elif not replaced:
                replaced = True
                yield rewrite

    def dump(self) -> str:
        """Return the text in which it is kept; `load` reads it back."""
        return json.dumps([[str(part.kind), part.text] for part in self.parts], ensure_ascii=False)

    @classmethod
    def load(cls, text: str) -> TurnInput:
        """Return the input that `dump` wrote."""
        return cls(parts=tuple(TurnPart(kind=PartKind(kind), text=said) for kind, said in json.loads(text)))


def may_replace(original: str, rewrite: str, *, ids: Collection[str] = ()) -> bool:
    """Return whether a rewrite may stand for what the person said.

    It has words, is storable, keeps every number, URL, quoted and code passage as often as it was said, and shows no
    id of an entry that the person did not name himself.

    Args:
        original: what the person said.
        rewrite: what the model made of it.
        ids: of the entries that were offered.

    Source: BM-101, BM-105.

    >>> may_replace("Plan release 4.2", "Plan release 4.2, changelog first"), may_replace("Plan 4.2", "Plan 14.2")
    (True, False)
    """
    if not rewrite.strip() or not is_storable(rewrite):
        return False
    if any(id_ in rewrite and id_ not in original for id_ in ids):
        return False
    return not any(Counter(find(original)) - Counter(find(rewrite)) for find in (_code, _urls, _quoted, _numbers))


_FENCED = re.compile(r"```.*?```|~~~.*?~~~", re.DOTALL)
_INLINE = re.compile(r"`[^`\n]+`")
_URL = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]*://[^\s<>\"“”«»]+|\bwww\.[^\s<>\"“”«»]+|\bmailto:[^\s<>\"]+")
_TRAILING = ".,;:!?)]}'"
_QUOTED = re.compile(
    r"\"[^\"\n]+\"|“[^”]+”|„[^“”]+[“”]|«[^»]+»|»[^«]+«|‹[^›]+›|「[^」]+」|『[^』]+』|《[^》]+》"
    r"|(?<!\w)'[^'\n]+'(?!\w)|‘[^’\n]+’(?!\w)"
)
_NUMBER = re.compile(r"(?:(?<![\w.])[-+−])?\d+(?:[.,:/\-·٫٬]\d+)*%?")


def _code(text: str) -> Iterator[str]:
    yield from _FENCED.findall(text)
    yield from _INLINE.findall(_FENCED.sub(" ", text))


def _urls(text: str) -> Iterator[str]:
    """Yield every URL, without the marks of the sentence behind it."""
    return (url.rstrip(_TRAILING) for url in _URL.findall(text))


def _quoted(text: str) -> Iterator[str]:
    """Yield what stands in quotation marks; which marks does not matter."""
    return (quoted[1:-1] for quoted in _QUOTED.findall(_FENCED.sub(" ", text)))


def _numbers(text: str) -> Iterator[str]:
    yield from _NUMBER.findall(text)
