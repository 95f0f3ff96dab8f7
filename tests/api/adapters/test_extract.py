import io
import random
import traceback
import zipfile

import pytest
from pypdf import PdfWriter

from api.adapters import extract as module
from api.adapters.extract import DocumentExtractor, ExtractedDocument
from api.adapters.sniff import Kind
from graph.model.errors import UnsupportedType
from graph.ports import TextExtractor
from tests.api.adapters.files import docx, pdf, zipped

EXTRACTOR: TextExtractor = DocumentExtractor()


def extract(data: bytes, media_type: str = "", filename: str = "") -> ExtractedDocument:
    found = EXTRACTOR.extract(data, media_type=media_type, filename=filename)
    assert isinstance(found, ExtractedDocument)
    return found


def reason_of(data: bytes, media_type: str = "", filename: str = "") -> str:
    with pytest.raises(UnsupportedType) as caught:
        extract(data, media_type, filename)
    assert caught.value.code == "UNSUPPORTED_TYPE"
    return str(caught.value.details["reason"])


@pytest.mark.req("MA-5")
def test_plain_text_and_markdown_are_taken_as_they_are() -> None:
    assert extract(b"One.\n\nTwo.", "text/plain", "a.txt") == ExtractedDocument(
        text="One.\n\nTwo.", title=None, kind=Kind.TEXT
    )
    assert extract(b"\n# Plan  B\n\nText", "text/plain", "a.MD") == ExtractedDocument(
        text="\n# Plan  B\n\nText", title="Plan B", kind=Kind.MARKDOWN
    )


PAGE = """<!DOCTYPE html><html><head><title> The
  plan </title><style>p{}</style></head><body><nav><a>Home</a></nav><header>Top</header>
<main><h2>Dates</h2><p>We ship <b>soon</b>.<br>Really.</p><!-- no --><p hidden>secret</p>
<p style="display: none">also secret</p><ul><li>one</li><li>two</li></ul>
<table><tr><th>Owner</th><td>Ines</td></tr></table><script>alert(1)</script><form>Say <input>it</form>
</main><footer>bottom</footer></body></html>"""


@pytest.mark.req("MA-5", "MA-12")
def test_html_gives_the_text_of_its_main_part_and_its_title() -> None:
    found = extract(PAGE.encode(), "text/html", "page.html")
    assert found.title == "The plan"
    assert found.text == ("## Dates\n\nWe ship soon.\nReally.\n\n- one\n- two\n\nOwner | Ines\n\nSay it")


def test_an_html_fragment_without_title_has_none() -> None:
    assert extract(b"<p>Hello<p>you", "text/html") == ExtractedDocument(text="Hello\n\nyou", title=None, kind=Kind.HTML)


def test_html_of_great_depth_is_read_or_refused_but_harmless() -> None:
    found = extract(b"<html><body>top " + b"<div>" * 100_000 + b"deep", "text/html")
    assert found.text.startswith("top")


@pytest.mark.req("MA-5")
def test_csv_becomes_one_sentence_a_row_with_the_names_of_the_columns() -> None:
    table = "name;city\nAna;Berlin\n\n李娜;上海;extra\n".encode()
    assert extract(table, "text/csv").text == "name: Ana; city: Berlin\n\nname: 李娜; city: 上海; column 3: extra"
    assert extract(b"a\tb\n1\t2\n", "", "x.tsv").text == "a: 1; b: 2"
    assert extract(b"only one line", "text/csv").text == "only one line"


@pytest.mark.req("MA-5")
def test_json_is_written_out_readably() -> None:
    found = extract('{"城市":["上海",1]}'.encode(), "application/json")
    assert (found.kind, found.text) == (Kind.JSON, '{\n "城市": [\n  "上海",\n  1\n ]\n}')


def test_what_only_calls_itself_json_is_text() -> None:
    assert extract(b"{not json", "application/json", "x.json").kind is Kind.TEXT
    assert extract(b"[" * 200_000, "application/json").kind is Kind.TEXT


@pytest.mark.req("MA-5")
def test_pdf_gives_the_text_of_its_pages_and_its_title() -> None:
    found = extract(pdf("Page one.", "Page two.", title="Handbook"), "application/pdf", "a.pdf")
    assert found == ExtractedDocument(text="Page one.\n\nPage two.", title="Handbook", kind=Kind.PDF)


@pytest.mark.req("MA-5")
def test_docx_gives_headings_paragraphs_and_tables_in_order() -> None:
    found = extract(docx(), "", "a.docx")
    assert found == ExtractedDocument(
        text="## Dates\n\nWe ship on 3 June. 六月三日发布。\n\nOwner | Ines", title="Release plan", kind=Kind.DOCX
    )


@pytest.mark.req("MA-5")
@pytest.mark.parametrize(
    ("data", "media_type", "filename", "kind"),
    [
        (pdf("x"), "text/plain", "notes.txt", Kind.PDF),
        (docx(), "application/pdf", "a.pdf", Kind.DOCX),
        (b"<html><p>hi</html>", "text/plain", "a.txt", Kind.HTML),
        (b"plain words", "application/pdf", "a.pdf", Kind.TEXT),
        (b"plain words", "text/html", "a.html", Kind.TEXT),
        (b'{"a": 1}', "text/plain", "a.txt", Kind.JSON),
        (b"<?xml version='1.0'?><html xmlns='x'><body>hi</body></html>", "text/xml", "a.xml", Kind.HTML),
    ],
)
def test_the_bytes_decide_and_not_the_declared_type(data: bytes, media_type: str, filename: str, kind: Kind) -> None:
    assert extract(data, media_type, filename).kind is kind


@pytest.mark.req("MA-5")
@pytest.mark.parametrize(
    "data",
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        b"\x7fELF\x02\x01\x01\0",
        b"GIF89a\x01\0\x01\0\x80",
        zipped(a__txt=b"x"),
        b"PK\x03\x04broken",
        b"<?xml version='1.0'?><feed/>",
        b"<svg xmlns='x'/>",
        b"{\\rtf1 hi}",
        b"text with a \x07 bell and \x00 nothing",
        bytes(range(256)) * 4,
    ],
)
def test_other_kinds_are_refused_whatever_they_call_themselves(data: bytes) -> None:
    assert reason_of(data, "text/plain", "a.txt") == "unknown"


@pytest.mark.parametrize("data", [pdf("x" * 50)[:120], b"%PDF-1.7\ngarbage", zipped(word__document__xml=b"<a")])
def test_a_damaged_file_is_refused(data: bytes) -> None:
    member = zipped(**{"word/document.xml": b"<a"}) if data.startswith(b"PK") else data
    assert reason_of(member) == "damaged"


def test_a_pdf_with_a_password_is_refused() -> None:
    writer = PdfWriter(clone_from=io.BytesIO(pdf("secret")))
    writer.encrypt("password", algorithm="RC4-128")
    buffer = io.BytesIO()
    writer.write(buffer)
    assert reason_of(buffer.getvalue()) == "encrypted"


def test_a_docx_that_unfolds_without_end_is_refused() -> None:
    buffer = io.BytesIO(docx())
    with zipfile.ZipFile(buffer, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("word/bomb.bin", b"\0" * (210 * 1024 * 1024))
    assert reason_of(buffer.getvalue()) == "too_large"


def test_too_much_text_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MAX_TEXT", 20)
    assert reason_of(b"x" * 21) == "too_large"
    assert reason_of(pdf("x" * 15, "y" * 15)) == "too_large"
    assert extract(b"x" * 20).text == "x" * 20


@pytest.mark.parametrize("data", [b"", b" \n ", pdf(""), b"<html><body><script>x</script></body></html>"])
def test_a_file_without_text_says_so(data: bytes) -> None:
    assert reason_of(data) == "no_text"


@pytest.mark.parametrize(
    ("data", "charset"),
    [
        ("中文网页，内容是这样的。".encode("utf-16"), None),
        ("\ufeff中文网页，内容是这样的。".encode(), None),
        ("中文网页，内容是这样的。".encode("gbk"), "gb2312"),
        ("今天我们开会讨论了发布日期，大家都同意推迟到六月三日。".encode("gb18030"), None),
    ],
)
def test_text_of_other_encodings_is_read(data: bytes, charset: str | None) -> None:
    text = extract(data, f"text/plain; charset={charset}" if charset else "text/plain").text
    assert "，" in text
    assert "\ufeff" not in text
    assert "\ufffd" not in text


def test_a_page_may_state_its_own_encoding() -> None:
    page = '<html><head><meta charset="gbk"><title>标题</title></head><body><p>正文</p></body></html>'.encode("gbk")
    assert extract(page, "text/html") == ExtractedDocument(text="正文", title="标题", kind=Kind.HTML)


def test_errors_hold_nothing_of_the_file() -> None:
    with pytest.raises(UnsupportedType) as caught:
        extract(b"%PDF-canary-in-the-file", "application/canary", "canary.pdf")
    assert "canary" not in str(caught.value) + repr(dict(caught.value.details))


@pytest.mark.req("AD-42")
@pytest.mark.parametrize("whole", [pdf("canary words", "more canary"), docx(), PAGE.encode()])
def test_a_file_with_flipped_bytes_is_read_or_refused_and_never_logged(
    whole: bytes, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random(14)
    refusals: list[str] = []
    for _ in range(300):
        damaged = bytearray(whole)
        for _ in range(chance.randint(1, 12)):
            damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        try:
            assert extract(bytes(damaged)).text.strip()
        except UnsupportedType as error:
            refusals.append("".join(traceback.format_exception(error)))
    assert len(refusals) > 10
    assert "canary" not in "".join(refusals)
    assert caplog.records == []
    assert capfd.readouterr().err == ""


@pytest.mark.req("MA-5")
@pytest.mark.parametrize(
    ("data", "media_type", "name"),
    [
        (b'{"\\ud800": "\\udfff"}', "application/json", "a.json"),
        (b"caf\xe9 \\ud800", "text/plain; charset=unicode_escape", "a.txt"),
        (b"# caf\xe9 \\ud800", "text/markdown; charset=unicode_escape", "a.md"),
    ],
)
def test_text_and_title_can_be_kept_whatever_a_file_writes(data: bytes, media_type: str, name: str) -> None:
    found = extract(data, media_type, name)
    assert "\ufffd" in found.text
    assert (found.text + (found.title or "")).encode()
