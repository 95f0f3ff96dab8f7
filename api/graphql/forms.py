"""Upload forms: texts in them are UTF-8, whatever their headers say, as in bodies of JSON.

What reads forms takes the charset of the header, and Latin-1 where that does not fit. So it reads all as Latin-1, which
loses nothing, and what it read is taken for UTF-8, or refused.
"""

from __future__ import annotations

from python_multipart.multipart import parse_options_header
from starlette.datastructures import FormData, Headers, UploadFile
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import Request


async def form_of(request: Request, *, most_text: int) -> FormData:
    """Return the two texts and the one file of an upload.

    Args:
        request: whose body is read.
        most_text: bytes of the longest text.

    Raises:
        ValueError: it is no such form, or not in UTF-8.
    """
    parser = MultiPartParser(
        _latin(request.headers), request.stream(), max_files=1, max_fields=2, max_part_size=most_text
    )
    try:
        found = await parser.parse()
    except MultiPartException as error:
        raise ValueError(error.message) from error
    return FormData([(_utf8(name), _in_utf8(value)) for name, value in found.multi_items()])


def _latin(headers: Headers) -> Headers:
    _, given = parse_options_header(headers["content-type"])
    boundary = given.get(b"boundary", b"").decode("latin-1")
    if not boundary or not boundary.isascii() or '"' in boundary or "\\" in boundary:
        raise ValueError("boundary")
    return Headers({"content-type": f'multipart/form-data; boundary="{boundary}"; charset=latin-1'})


def _in_utf8(value: str | UploadFile) -> str | UploadFile:
    if isinstance(value, str):
        return _utf8(value)
    value.filename = _utf8(value.filename or "")
    return value


def _utf8(text: str) -> str:
    return text.encode("latin-1").decode("utf-8")
