"""Read the text of an HTML page: paragraphs parted by blank lines, headings marked as in Markdown.

Pure. Scripts, styles, forms and hidden elements are left out; if the page marks its main part, only that
is read. The tree is walked without recursion, so depth is harmless.
"""

import re
from collections.abc import Iterator

from lxml import etree, html

# fmt: off
_SKIP = frozenset((
    "script", "style", "noscript", "template", "svg", "math", "iframe", "object", "embed", "canvas",
    "audio", "video", "head", "select", "option", "button", "textarea", "dialog", "datalist", "nav",
))
_BLOCKS = frozenset((
    "address", "article", "aside", "blockquote", "body", "center", "dd", "details", "div", "dl", "dt",
    "fieldset", "figcaption", "figure", "footer", "form", "header", "hr", "html", "legend", "main", "ol",
    "p", "pre", "section", "summary", "table", "tbody", "tfoot", "thead", "ul", "h1", "h2", "h3", "h4",
    "h5", "h6",
))
# fmt: on
_LINES = frozenset(("br", "li", "tr"))
_HEADINGS = {f"h{n}": "#" * n + " " for n in range(1, 7)}
_SPACES = re.compile(r"[ \t\r\n\f\u00a0\u200b]+")
_TITLE_MAX = 200


def read_html(text: str) -> tuple[str, str | None]:
    r"""Return a page's text and its title (at most 200 characters, None if it has none).

    >>> read_html("<title>T</title><h1>Head</h1><p>One<br>two<p hidden>no<script>x</script>")
    ('# Head\n\nOne\ntwo', 'T')
    """
    root = _parse(text)
    if root is None:
        return "", None
    return _tidy("".join(_pieces(_main_part(root)))), _title(root)


def _parse(text: str) -> "html.HtmlElement | None":
    """Parse from bytes of a stated encoding, so that a charset in the page cannot interfere."""
    parser = html.HTMLParser(encoding="utf-8", no_network=True, remove_comments=True, remove_pis=True)
    try:
        return html.document_fromstring(text.encode("utf-8", "replace"), parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError):
        return None


def _main_part(root: "html.HtmlElement") -> "html.HtmlElement":
    """Return the one `main` or `article` of the page, else its body, else all of it."""
    for tag in ("main", "article", "body"):
        found = list(root.iter(tag))
        if len(found) == 1:
            return found[0]
    return root


def _pieces(part: "html.HtmlElement") -> Iterator[str]:
    hidden: html.HtmlElement | None = None
    for event, element in etree.iterwalk(part, events=("start", "end")):
        ends = event == "end"
        if hidden is None and not ends and _is_hidden(element):
            hidden = element
        if hidden is None:
            yield from _edge(element, ends)
        if ends:
            hidden = None if hidden is element else hidden
            if hidden is None and element is not part:
                yield _flat(element.tail)


def _edge(element: "html.HtmlElement", ends: bool) -> Iterator[str]:
    """Yield what stands at the start or the end of an element."""
    tag = element.tag
    if tag in _BLOCKS:
        yield "\n\n"
    elif tag in _LINES and not ends:
        yield "\n"
    elif tag in ("td", "th") and not ends and element.getprevious() is not None:
        yield " | "
    if not ends:
        yield _HEADINGS.get(tag, "- " if tag == "li" else "")
        yield _flat(element.text)


def _is_hidden(element: "html.HtmlElement") -> bool:
    return (
        element.tag in _SKIP
        or not isinstance(element.tag, str)
        or "hidden" in element.attrib
        or element.get("aria-hidden") == "true"
        or "display:none" in (element.get("style") or "").replace(" ", "").lower()
    )


def _flat(text: str | None) -> str:
    return _SPACES.sub(" ", text) if text else ""


def _tidy(text: str) -> str:
    """Drop white space at line ends and more than one blank line in a row."""
    lines = re.sub(r"(?m)^(?:#{1,6}|-)[ ]*$", "", re.sub(r" *\n *", "\n", text))
    return re.sub(r"\n{3,}", "\n\n", lines).strip()


def _title(root: "html.HtmlElement") -> str | None:
    for text in (root.findtext(".//title"), *root.xpath("//meta[@property='og:title']/@content")):
        title = _flat(text).strip()[:_TITLE_MAX].strip()
        if title:
            return title
    return None
