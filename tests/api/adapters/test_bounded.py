"""Files that strangers made to hurt: each ends within its limits, with a reason a person can read."""

from __future__ import annotations

import io
import resource
import zlib

import pytest
from pypdf import PdfWriter

from api.adapters.bounded import BoundedExtractor, Exceeded, Limits, run_bounded
from api.adapters.sniff import Kind
from graph.model.errors import UnsupportedType
from graph.ports import TextExtractor
from tests.api.adapters.files import docx, pdf, zipped

EXTRACTOR: TextExtractor = BoundedExtractor()
SMALL = BoundedExtractor(limits=Limits(memory_mib=256, cpu_s=5, wall_s=30))
MIB = 1024 * 1024


def reason_of(data: bytes, media_type: str = "", filename: str = "", by: BoundedExtractor = SMALL) -> str:
    with pytest.raises(UnsupportedType) as caught:
        by.extract(data, media_type=media_type, filename=filename)
    assert len(caught.value.message) > 20
    return str(caught.value.details["reason"])


@pytest.mark.req("MA-5")
@pytest.mark.parametrize(
    ("data", "kind", "words"),
    [
        (pdf("Page one.", title="Handbook"), Kind.PDF, "Page one."),
        (docx(), Kind.DOCX, "We ship on 3 June. 六月三日发布。"),
        (b"plain words", Kind.TEXT, "plain words"),
        (b"<html><body><p>few words</p>", Kind.HTML, "few words"),
    ],
)
def test_what_is_harmless_is_read_as_ever(data: bytes, kind: Kind, words: str) -> None:
    found = SMALL.extract(data)
    assert (found.kind, words in found.text) == (kind, True)


@pytest.mark.req("MA-5")
def test_a_file_that_lies_about_its_type_is_taken_for_what_it_is() -> None:
    assert SMALL.extract(pdf("x"), media_type="text/plain", filename="notes.txt").kind is Kind.PDF
    assert SMALL.extract(docx(), media_type="application/pdf", filename="a.pdf").kind is Kind.DOCX
    assert reason_of(b"\x89PNG\r\n\x1a\n\0\0", "application/pdf", "a.pdf") == "unknown"


def test_a_docx_that_unfolds_to_more_than_its_memory_is_refused() -> None:
    paragraphs = b"<w:p><w:r><w:t>x</w:t></w:r></w:p>" * (60 * MIB // 34)
    space = b'<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>'
    bomb = zipped(
        **{"word/document.xml": space + paragraphs + b"</w:body></w:document>", "[Content_Types].xml": b"<a/>"}
    )
    assert len(bomb) < MIB
    assert reason_of(bomb) in ("too_large", "too_slow", "damaged")
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < 1_500 * 1024


def test_a_pdf_whose_stream_unfolds_without_end_is_refused() -> None:
    stream = zlib.compress(b"BT /F1 12 Tf (words and words) Tj ET\n" * (MIB), 9)
    assert len(stream) < MIB
    head = (
        b"%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n"
        b"2 0 obj\n<< /Type /Pages /Kids [3 0 R] /Count 1 >>\nendobj\n"
        b"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R >>\nendobj\n"
        b"4 0 obj\n<< /Filter /FlateDecode /Length "
    )
    head += str(len(stream)).encode() + b" >>\nstream\n"
    bomb = head + stream + b"\nendstream\nendobj\ntrailer\n<< /Root 1 0 R /Size 5 >>\n%%EOF"
    assert reason_of(bomb) in ("too_large", "too_slow", "damaged")


@pytest.mark.req("MA-5")
def test_a_pdf_of_fifty_mebibytes_is_read() -> None:
    whole = pdf("The kiln is lit on 3 June.")
    writer = PdfWriter(clone_from=io.BytesIO(whole))
    writer.add_attachment("film.bin", bytes(range(256)) * (MIB // 256) * 49)
    buffer = io.BytesIO()
    writer.write(buffer)
    assert len(buffer.getvalue()) > 48 * MIB
    assert (
        EXTRACTOR.extract(buffer.getvalue(), media_type=None, filename="big.pdf").text == "The kiln is lit on 3 June."
    )


def test_what_the_service_itself_holds_does_not_make_a_damaged_file_a_large_one() -> None:
    held = b"x" * (200 * MIB)
    assert reason_of(pdf("x" * 50)[:120]) == "damaged"
    assert len(held) == 200 * MIB


def test_a_pdf_with_a_password_is_refused() -> None:
    writer = PdfWriter(clone_from=io.BytesIO(pdf("secret")))
    writer.encrypt("password", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    assert reason_of(buffer.getvalue()) == "encrypted"


def test_an_html_page_of_ten_mebibytes_is_read_or_refused_with_its_size() -> None:
    line = b"<p>One line of the long page. " + b"word " * 400 + b"</p>"
    page = b"<!doctype html><html><body>" + line * (8 * MIB // 2_000) + b"<!-- " + b"x" * (2 * MIB) + b" -->"
    assert len(page) > 10 * MIB
    found = EXTRACTOR.extract(page, media_type="text/html", filename=None)
    assert found.text.startswith("One line of the long page. word word")
    words = b"<html><body>" + b"<p>x" * (MIB // 2)
    assert reason_of(words, "text/html", by=BoundedExtractor(limits=Limits(memory_mib=128))) == "too_large"


@pytest.mark.parametrize(
    ("data", "reason"), [(b"", "no_text"), (b" \n\t", "no_text"), (bytes(range(256)) * 9, "unknown")]
)
def test_empty_and_unreadable_bytes_are_refused(data: bytes, reason: str) -> None:
    assert reason_of(data, "text/plain", "a.txt") == reason


def test_a_charset_that_nobody_knows_does_not_matter() -> None:
    text = "Größe und Maß".encode("latin-1")
    found = SMALL.extract(text, media_type="text/plain; charset=x-martian", filename="a.txt")
    assert found.text.startswith("Gr")


def test_what_takes_too_long_is_ended() -> None:
    assert reason_of(pdf("x"), by=BoundedExtractor(limits=Limits(wall_s=0.001))) == "too_slow"


def test_a_task_that_ends_without_an_answer_is_told_apart_from_one_that_answers() -> None:
    with pytest.raises(Exceeded):
        run_bounded("no such task", {}, b"", Limits(wall_s=20))
