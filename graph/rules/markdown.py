r"""Foreign words inside Markdown that is ours: they show as they are, and can never pass for its layout.

Every bracket, heading, list mark, footnote and quotation mark that is not escaped was written by the service.
"""

from __future__ import annotations

import re
from typing import Final

_SPACES: Final = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_TURNING: Final = re.compile("[\u202a-\u202e\u2066-\u2069]")
_ACTIVE: Final = re.compile(r"[\\\[\]<`]|&(?=#?\w+;)")
_AT_START: Final = re.compile(r"^(?:(\d{1,9})(?=[.)])|(?=[#>+\-*~_]))")
_CLOSING_HASHES: Final = re.compile(r"(?:^|(?<=\s))(?=#+$)")


def inline(text: str) -> str:
    r"""Return a text on one line in which nothing is Markdown of the kind that makes layout.

    Line breaks and control characters become a space; marks that turn the direction of what follows are dropped.

    >>> inline("see [^1]\n\n## Sources <b>")
    'see \\[^1\\] ## Sources \\<b>'
    """
    return _ACTIVE.sub(r"\\\g<0>", _SPACES.sub(" ", _TURNING.sub("", text)).strip())


def paragraph(text: str) -> str:
    r"""Return a text as one paragraph: it cannot be a heading, list, quotation, fence or rule.

    >>> paragraph("# 1"), paragraph("1. first"), paragraph("- item")
    ('\\# 1', '1\\. first', '\\- item')
    """
    return _AT_START.sub(lambda found: f"{found[1] or ''}\\", inline(text), count=1)


def heading(text: str, level: int = 1) -> str:
    r"""Return a heading; hash marks at the end of the text stay part of it.

    >>> heading("C #")
    '# C \\#'
    """
    return f"{'#' * level} {_CLOSING_HASHES.sub(lambda _: chr(92), inline(text), count=1)}"


def quoted(text: str) -> str:
    r"""Return a text in quotation marks; its own are escaped.

    >>> quoted('a "b" c')
    '"a \\"b\\" c"'
    """
    return '"' + inline(text).replace('"', '\\"') + '"'
