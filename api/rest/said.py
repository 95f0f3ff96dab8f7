"""What the reference says of fields beyond their types. It refuses nothing: the core does, in words of its own."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Final

from pydantic import Field

from graph.rules.session_memory import MAX_CONTENT, MAX_KEY


def said(**schema: Any) -> Any:
    """Return what adds members to the JSON Schema of a field.

    >>> said(minLength=1).json_schema_extra
    {'minLength': 1}
    """
    return Field(json_schema_extra=schema)


def one_of(words: Iterable[str]) -> Any:
    """Return what lists the texts that a field takes."""
    return said(enum=sorted(str(word) for word in words))


NO_BLANK: Final = r"\S"
_KEY: Final = r"^[^\s\u0000-\u001f\u007f-\u009f]([^\u0000-\u001f\u007f-\u009f]*[^\s\u0000-\u001f\u007f-\u009f])?$"
"""No control character, no white space at its ends."""
SEGMENTS: Final = r"^(?!(.*/)?\.{0,2}(/|$))[^\\\u0000-\u001f\u007f-\u009f]+$"
"""No segment is empty, ``.`` or ``..``; no backslash, no control character."""

Key = Annotated[str, said(minLength=1, maxLength=MAX_KEY, pattern=_KEY)]
Content = Annotated[str, said(minLength=1, maxLength=MAX_CONTENT, pattern=NO_BLANK)]
Text = Annotated[str, Field(strict=True)]
Name = Annotated[Text, said(minLength=1, maxLength=200, pattern=NO_BLANK)]
FilePath = Annotated[Text, said(minLength=1, pattern=SEGMENTS)]
MountName = Annotated[Text, said(pattern="^[a-z][a-z0-9-]{0,62}$")]
