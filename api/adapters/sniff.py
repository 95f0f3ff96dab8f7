"""Tell what kind of file some bytes are, from the bytes; the declared type only settles ties.

Pure. A file that lies about its type is taken for what it is. Source: MA-5.
"""

import codecs
import io
import json
import re
import zipfile
from enum import StrEnum
from typing import Any

from charset_normalizer import from_bytes


class Kind(StrEnum):
    """The kinds whose text can be read."""

    TEXT = "text/plain"
    MARKDOWN = "text/markdown"
    HTML = "text/html"
    CSV = "text/csv"
    JSON = "application/json"
    PDF = "application/pdf"
    DOCX = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"


_BY_SUFFIX = {
    ".md": Kind.MARKDOWN,
    ".markdown": Kind.MARKDOWN,
    ".htm": Kind.HTML,
    ".html": Kind.HTML,
    ".xhtml": Kind.HTML,
    ".csv": Kind.CSV,
    ".tsv": Kind.CSV,
    ".json": Kind.JSON,
}
_BY_MEDIA_TYPE = {
    "text/markdown": Kind.MARKDOWN,
    "text/html": Kind.HTML,
    "application/xhtml+xml": Kind.HTML,
    "text/csv": Kind.CSV,
    "text/tab-separated-values": Kind.CSV,
    "application/json": Kind.JSON,
}
_HTML_START = re.compile(
    r"\s*(?:<!--.*?-->\s*)*<(?:!doctype\s+html|html|head|title|body|script|style|h1|div|p|table|article|main)\b",
    re.IGNORECASE | re.DOTALL,
)
_HTML_TAG = re.compile(r"<(?:html|body|p|div|h[1-6]|br|span|table|ul|ol|a|article|main)\b[^>]*>", re.IGNORECASE)
_OTHER_MARKUP = re.compile(r"\s*(?:<\?xml|<svg\b|<!doctype\s+(?!html)|\{\\rtf)", re.IGNORECASE)
_XHTML = re.compile(r"<html\b", re.IGNORECASE)
_BOMS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_META_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([A-Za-z0-9_:.-]{2,40})", re.IGNORECASE)
_GUESS_BYTES = 262_144
_CONTROLS = re.compile(r"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f]")


def sniff(data: bytes, text: str | None, *, media_type: str = "", filename: str = "") -> Kind | None:
    """Return the kind of a file, or None if it is none that can be read.

    Args:
        data: the whole file.
        text: the file as `decode` read it.
        media_type: as declared, without parameters; may be empty or wrong.
        filename: as given; only its ending is looked at.
    """
    if b"%PDF-" in data[:1024]:
        return Kind.PDF
    if data.startswith(b"PK\x03\x04"):
        return Kind.DOCX if _is_docx(data) else None
    if text is None:
        return None
    declared = _BY_SUFFIX.get(_suffix(filename)) or _BY_MEDIA_TYPE.get(media_type.lower())
    return _sniff_text(text, declared)


def _sniff_text(text: str, declared: Kind | None) -> Kind | None:
    if _HTML_START.match(text) or (declared is Kind.HTML and _HTML_TAG.search(text)):
        return Kind.HTML
    if _OTHER_MARKUP.match(text):
        return Kind.HTML if _XHTML.search(text[:4096]) else None
    if declared in (Kind.MARKDOWN, Kind.CSV):
        return declared
    if text.lstrip()[:1] in ("{", "[") and load_json(text) is not None:
        return Kind.JSON
    return Kind.TEXT


def load_json(text: str) -> Any:
    """Return the value of a JSON text; None if it is not JSON, too deep, or null."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def decode(data: bytes, *, charset: str | None = None) -> str | None:
    """Return the text of bytes, or None if they are not text.

    Order: byte order mark, UTF-8, the declared charset (of the transport, then of an HTML head), a guess
    from the bytes. Control characters beyond tab, line ends, form feed and escape mean that it is no text.
    """
    text = _decode(data, charset)
    if text is None or _CONTROLS.search(text):
        return None
    return text


def _decode(data: bytes, charset: str | None) -> str | None:
    for mark, codec in _BOMS:
        if data.startswith(mark):
            return _try(data, codec)
    if (text := _try(data, "utf-8")) is not None:
        return text
    if b"\x00" in data:
        return None
    meta = _META_CHARSET.search(data[:4096])
    for name in (charset, meta[1].decode("ascii") if meta else None):
        if name and (text := _try(data, _WIDER.get(name.lower(), name))) is not None:
            return text
    guess = from_bytes(data[:_GUESS_BYTES]).best()
    return _try(data, guess.encoding) if guess is not None else None


# What a page calls by these names is, by the Encoding standard, the wider set.
_WIDER = {"gb2312": "gb18030", "gbk": "gb18030", "iso-8859-1": "cp1252", "latin-1": "cp1252", "ascii": "cp1252"}


def _try(data: bytes, codec: str) -> str | None:
    try:
        found = codecs.lookup(codec)
        return data.decode(codec) if found._is_text_encoding else None
    except (LookupError, UnicodeError, ValueError):
        return None


def _is_docx(data: bytes) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            return "word/document.xml" in archive.namelist()
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError):
        return False


def _suffix(filename: str) -> str:
    dot = filename.rfind(".")
    return filename[dot:].lower() if dot >= 0 else ""
