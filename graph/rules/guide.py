"""The Curation Guide: Markdown by people, with front matter that the service enforces. Source: KN-104 to KN-108."""

from __future__ import annotations

import re
import unicodedata
from typing import Any, Final

import yaml

from graph.model.errors import BadInput
from graph.rules.operations.state import GuideLimits

MAX_GUIDE_CHARACTERS: Final = 8_000
_FENCE: Final = "---"
_TYPE: Final = re.compile(r"[a-z][a-z0-9_-]{0,63}")
_MAX_TYPES: Final = 100


def limits_of(text: str) -> GuideLimits:
    """Return what a stored guide enforces; one whose front matter cannot be read enforces nothing."""
    try:
        return parse_guide(text)
    except BadInput:
        return GuideLimits()


def parse_guide(text: str) -> GuideLimits:
    r"""Return what the front matter of a guide enforces.

    Raises:
        BadInput: the guide is too long or its front matter malformed; details: `line`, from 1, if it is known.

    >>> sorted(parse_guide("---\ntypes: [vendor]\nminEvidence: 2\n---\n# Guide").types)
    ['vendor']
    """
    if len(unicodedata.normalize("NFC", text)) > MAX_GUIDE_CHARACTERS:
        raise BadInput(f"a guide has at most {MAX_GUIDE_CHARACTERS} characters", field="text")
    lines = text.replace("\r\n", "\n").split("\n")
    if lines[0].rstrip() != _FENCE:
        return GuideLimits()
    ends = [place for place, line in enumerate(lines[1:], start=1) if line.rstrip() == _FENCE]
    if not ends:
        raise _malformed("close the front matter with a line of three dashes", 1)
    return _checked(_loaded("\n".join(lines[1 : ends[0]])), lines)


def _loaded(front: str) -> Any:
    try:
        return yaml.safe_load(front)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise _malformed("the front matter is not YAML", mark.line + 2 if mark else 1) from None
    except (yaml.YAMLError, ValueError, RecursionError):
        raise _malformed("the front matter is not YAML", 1) from None


def _checked(front: Any, lines: list[str]) -> GuideLimits:
    if front is None:
        return GuideLimits()
    if not isinstance(front, dict):
        raise _malformed("the front matter holds types and minEvidence", 2)
    unknown = sorted(str(key) for key in front if key not in ("types", "minEvidence"))
    if unknown:
        raise _malformed("the front matter holds types and minEvidence alone", _line_of(lines, unknown[0]))
    return GuideLimits(types=_types(front, lines), min_evidence=_min_evidence(front, lines))


def _types(front: dict[Any, Any], lines: list[str]) -> frozenset[str]:
    types = front.get("types", [])
    fits = isinstance(types, list) and len(types) <= _MAX_TYPES
    if not fits or not all(isinstance(type_, str) and _TYPE.fullmatch(type_) for type_ in types):
        raise _malformed("types is a list of words of a-z, 0-9, - and _, a letter first", _line_of(lines, "types"))
    return frozenset(types)


def _min_evidence(front: dict[Any, Any], lines: list[str]) -> int:
    least = front.get("minEvidence", 1)
    if not isinstance(least, int) or isinstance(least, bool) or not 1 <= least <= 10:
        raise _malformed("minEvidence is a whole number from 1 to 10", _line_of(lines, "minEvidence"))
    return least


def _line_of(lines: list[str], key: str) -> int:
    return next((place for place, line in enumerate(lines, start=1) if line.lstrip().startswith(key)), 1)


def _malformed(message: str, line: int) -> BadInput:
    return BadInput(f"{message} (line {line})", field="text", line=line)
