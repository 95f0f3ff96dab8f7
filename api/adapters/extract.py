"""Read text from plain text, Markdown, HTML, CSV, JSON, PDF and DOCX: the port `TextExtractor`.

Extraction takes processor time, not input and output: call it in a thread. PDF and DOCX need the extra
`documents`. Source: MA-5.
"""

import csv
import io
import json
import logging
import zipfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from api.adapters.sniff import Kind, decode, load_json, sniff
from graph.model.errors import UnsupportedType
from graph.ports import Extracted
from graph.rules.unreadable import OTHER_TYPE, WHY
from graph.text.outside import whole

if TYPE_CHECKING:
    from docx.document import Document

MAX_TEXT = 10_000_000
"""Characters of extracted text; more is refused."""

_MAX_UNPACKED = 200 * 1024 * 1024
_MAX_PAGES = 5_000
_TITLE_MAX = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class ExtractedDocument(Extracted):
    """Text and title (1 to 200 characters, what the file calls itself), and the kind that was found."""

    kind: Kind


class DocumentExtractor:
    """Reads all supported kinds; holds nothing."""

    def extract(self, data: bytes, *, media_type: str | None = None, filename: str | None = None) -> ExtractedDocument:
        """Return the text of a file.

        Args:
            data: the whole file.
            media_type: as declared; may be wrong: the bytes decide. Its charset is tried for text that is
                not UTF-8.
            filename: as given; only its ending is used.

        Raises:
            UnsupportedType: `details["reason"]` is `unknown`, `damaged`, `encrypted`, `too_large`,
                `no_text` or `not_installed`.
        """
        essence, _, parameters = (media_type or "").partition(";")
        charset = parameters.partition("charset=")[2].strip() or None
        text = decode(data, charset=charset)
        kind = sniff(data, text, media_type=essence.strip(), filename=filename or "")
        if kind is None:
            raise unsupported(OTHER_TYPE)
        content, title = _read(kind, data, text or "")
        content, title = whole(content), whole(title or "")  # a charset and JSON can write what UTF-8 cannot hold
        if len(content) > MAX_TEXT:
            raise unsupported("too_large")
        if not content.strip():
            raise unsupported("no_text")
        return ExtractedDocument(text=content, title=_clean_title(title), kind=kind)


def unsupported(reason: str) -> UnsupportedType:
    """Return the error for one reason; it holds nothing of the file."""
    return UnsupportedType(WHY[reason], reason=reason)


def _clean_title(title: str) -> str | None:
    return " ".join(title.split())[:_TITLE_MAX].strip() or None


def _read(kind: Kind, data: bytes, text: str) -> tuple[str, str | None]:
    """Return text and title by the reader of the kind."""
    if kind is Kind.PDF:
        return _guarded(_read_pdf, data)
    if kind is Kind.DOCX:
        return _guarded(_read_docx, data)
    if kind is Kind.HTML:
        from api.adapters.html_text import read_html  # here: a server at rest does without lxml's 4 MiB

        return read_html(text)
    if kind is Kind.CSV:
        return _read_csv(text), None
    if kind is Kind.JSON:
        return json.dumps(load_json(text), ensure_ascii=False, indent=1), None
    return text, _markdown_title(text) if kind is Kind.MARKDOWN else None


def _markdown_title(text: str) -> str | None:
    first = next((line for line in text.splitlines() if line.strip()), "")
    return first[2:] if first.startswith("# ") else None


def _read_csv(text: str) -> str:
    """Return one paragraph a row: `column: value` joined by semicolons, so that a row can be quoted alone."""
    head = text.lstrip().partition("\n")[0]
    delimiter = max(",;\t|", key=head.count)
    try:
        rows = [row for row in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter) if any(row)]
    except csv.Error:
        raise unsupported("damaged") from None
    if len(rows) < 2:
        return text
    return "\n\n".join(_csv_row(rows[0], row) for row in rows[1:])


def _csv_row(header: list[str], row: list[str]) -> str:
    names = header + [f"column {n + 1}" for n in range(len(header), len(row))]
    return "; ".join(f"{name.strip()}: {cell.strip()}" for name, cell in zip(names, row, strict=False) if cell.strip())


# What the readers of foreign formats are known to raise over damaged bytes. RuntimeError covers too deep
# recursion and unknown features; lxml's own errors are syntax errors.
_DAMAGE = (
    ArithmeticError,
    AssertionError,
    AttributeError,
    EOFError,
    LookupError,
    OSError,
    RuntimeError,
    SyntaxError,
    TypeError,
    ValueError,
    zipfile.BadZipFile,
    zlib.error,
)


def _guarded(read: Callable[[bytes], tuple[str, str | None]], data: bytes) -> tuple[str, str | None]:
    """Run a reader of a foreign format; whatever it trips over means that the file is damaged.

    The cause is dropped: these libraries quote the file in their messages.
    """
    try:
        return read(data)
    except UnsupportedType:
        raise
    except ImportError as error:
        raise unsupported("not_installed") from error
    except _DAMAGE:
        raise unsupported("damaged") from None


def _read_pdf(data: bytes) -> tuple[str, str | None]:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError

    _keep_out_of_the_log("pypdf")
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise unsupported("encrypted")
        if len(reader.pages) > _MAX_PAGES:
            raise unsupported("too_large")
        pages = (page.extract_text() for page in reader.pages)
        text = "\n\n".join(_up_to_limit(pages))
        return text, reader.metadata.title if reader.metadata else None
    except PyPdfError:
        raise unsupported("damaged") from None


def _keep_out_of_the_log(library: str) -> None:
    """Silence a library that writes pieces of damaged files into its log. Source: AD-42."""
    logging.getLogger(library).setLevel(logging.CRITICAL + 1)


def _up_to_limit(parts: Iterator[str]) -> Iterator[str]:
    """Pass parts on, and stop the work as soon as they are too much."""
    total = 0
    for part in parts:
        total += len(part)
        if total > MAX_TEXT:
            raise unsupported("too_large")
        yield part


def _read_docx(data: bytes) -> tuple[str, str | None]:
    from docx import Document as open_document
    from docx.opc.exceptions import PackageNotFoundError

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        if sum(item.file_size for item in archive.infolist()) > _MAX_UNPACKED:
            raise unsupported("too_large")
    try:
        document = open_document(io.BytesIO(data))
    except PackageNotFoundError:
        raise unsupported("damaged") from None
    return "\n\n".join(_up_to_limit(_docx_parts(document))), document.core_properties.title


def _docx_parts(document: "Document") -> Iterator[str]:
    """Yield paragraphs and table rows in the order of the document."""
    from docx.table import Table

    for item in document.iter_inner_content():
        if isinstance(item, Table):
            rows = (" | ".join(cell.text.strip() for cell in row.cells) for row in item.rows)
            yield "\n".join(rows)
        elif item.text.strip():
            yield _docx_heading(item.style.name if item.style else None) + item.text.strip()


def _docx_heading(style: str | None) -> str:
    name, _, level = (style or "").rpartition(" ")
    if style == "Title":
        return "# "
    return "#" * int(level) + " " if name == "Heading" and level in set("123456") else ""
