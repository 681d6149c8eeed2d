"""Small files that are as nasty as we could think of: what they are called, and their bytes.

Each must be read, or refused with one clear line, in about a second. A name ends with the suffix
that decides by which reader it goes. Those that made an earlier version hang, crash or fill the
memory are marked by the test that reads them all, `test_nasty.py`.
"""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Iterator

PROSE = "The ferry crossed the river at dawn, and nobody spoke of it in the morning. "
CUE = "1\n00:00:01,000 --> 00:00:02,000\n"
XHTML = (
    '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>T</title></head><body>{}</body></html>'
)
CONTAINER = '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>'
TTML = '<tt xmlns="http://www.w3.org/ns/ttml"><body><div>{}</div></body></tt>'
FB2 = (
    '<FictionBook xmlns="http://www.gribuser.ru/xml/fictionbook/2.0"><description><title-info>'
    "<book-title>{title}</book-title></title-info></description><body><section>{body}</section>"
    "</body></FictionBook>"
)
HUGE = "9" * 5000  # Python refuses to convert more than 4,300 digits
LONG = "9" * 310  # and turns this into an infinite float
DEEP = 1500


def make_epub(documents: dict[str, str], title: str = "The Ferry", toc: str = "") -> bytes:
    """An EPUB of documents by name, read in order."""
    items = "".join(
        f'<item id="i{k}" href="{name}" media-type="application/xhtml+xml"/>'
        for k, name in enumerate(documents)
    )
    refs = "".join(f'<itemref idref="i{k}"/>' for k in range(len(documents)))
    if toc:
        items += '<item id="ncx" href="toc.ncx" media-type="application/x-dtbncx+xml"/>'
    package = (
        f"<package><metadata><title>{title}</title></metadata><manifest>{items}</manifest>"
        f"<spine>{refs}</spine></package>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("p.opf", package)
        if toc:
            archive.writestr("toc.ncx", toc)
        for name, text in documents.items():
            archive.writestr(name, text)
    return buffer.getvalue()


def make_pdf(page: bytes, pages: int = 1) -> bytes:
    """A PDF whose pages all show the same compressed content."""
    packed = zlib.compress(page, 9)
    kids = " ".join(f"{5 + k} 0 R" for k in range(pages))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {pages} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Times-Roman >>",
        b"<< /Length %d /Filter /FlateDecode >>\nstream\n%s\nendstream" % (len(packed), packed),
    ]
    objects += [
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 400 600] /Contents 4 0 R "
        b"/Resources << /Font << /F1 3 0 R >> >> >>"
    ] * pages
    data, places = b"%PDF-1.4\n", []
    for number, content in enumerate(objects, 1):
        places.append(len(data))
        data += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    end = b"xref\n0 %d\n0000000000 65535 f \n%strailer\n<< /Size %d /Root 1 0 R >>\n" % (
        len(objects) + 1,
        table,
        len(objects) + 1,
    )
    return data + end + b"startxref\n%d\n%%%%EOF\n" % len(data)


def clock(second: int) -> str:
    """A time of SubRip."""
    return f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02},000"


def _zip(members: dict[str, bytes]) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def books() -> Iterator[tuple[str, str | bytes]]:
    """Nasty books."""
    yield "spaces.txt", PROSE + "\n\n" + " " * 100_000 + "x\n\n" + PROSE
    yield "lines of spaces.txt", (" " * 1000 + "x\n") * 200 + PROSE
    yield "one long line.txt", PROSE * 12_000
    yield "no full stop.txt", "word " * 150_000
    yield "dots.txt", "... " * 100_000
    yield "dots and words.txt", "Well... " * 50_000
    yield "ellipses.txt", "… " * 100_000
    yield "stops.txt", ". " * 150_000
    yield "quotes.txt", '"' * 200_000
    yield "opening quotes.txt", "“Oh” " * 60_000
    yield "speech.txt", '"Oh!" he said. ' * 30_000
    yield "small letters after stops.txt", "Oh! my. " * 50_000
    yield "one word.txt", "a" * 500_000
    yield "bodies.fb2", FB2.format(title="", body="x</section></body>" + "<body/>" * 20_000)
    yield "leaders.txt", PROSE + "\n\n" + ("I" + "." * 18_000 + "x\n") * 3 + "\n" + PROSE
    yield "dashes.txt", "-" * 500_000 + "\n" + PROSE
    yield "dashes and words.txt", "a--b" * 100_000
    yield "blank lines.txt", PROSE + "\n" * 300_000 + PROSE
    yield "headings.txt", "CHAPTER I\n\n" * 30_000 + PROSE
    yield "contents.txt", "CONTENTS\n\n" * 30_000 + PROSE
    yield "contents and chapters.txt", "CONTENTS\n\nCHAPTER I\n\n" * 2_500 + PROSE
    yield "notes.txt", "NOTES\n\nx\n\n" * 30_000 + PROSE
    yield "prefaces.txt", ("PREFACE\n\n" + PROSE + "\n\n") * 5_000
    yield "numbers.txt", "\n\n".join(map(str, range(1, 30_000))) + "\n\n" + PROSE
    yield "form feeds.txt", "\f" * 200_000 + PROSE
    yield "stars.txt", "* * *\n\n" * 50_000 + PROSE
    yield "combining marks.txt", "a" + "\u0301" * 200_000
    yield "two combining marks.txt", "a" + "\u0301\u0316" * 300_000 + " and " + PROSE
    yield "underscores.txt", "_" * 200_000
    yield "note marks.txt", "x[1]" * 100_000
    yield "brackets.txt", "[" * 300_000
    yield "title.txt", "Title:" + " " * 100_000 + "\n" + PROSE
    yield "numeral.txt", "I" * 100_000 + "\n\n" + PROSE
    yield "PK.txt", "PK was what they called Peter Kay. " + PROSE * 3
    yield "MZ.txt", "MZ was what they called Max Zorn. " + PROSE * 3
    yield "RIFF.txt", "RIFF raff, they said. " + PROSE * 3
    yield "PG.txt", "PG Wodehouse was at table. " + PROSE * 3
    yield "nul.txt", b"\x00" * 500_000
    yield "utf-16.txt", PROSE.encode("utf-16") * 50
    yield "utf-32.txt", PROSE.encode("utf-32") * 50
    yield "lone surrogates.txt", PROSE.encode() + b"\xed\xa0\xbd\xed\xb8\x80" * 1000
    yield "escapes.txt", "\x1b]0;owned\x07\x1b[2J" + PROSE
    yield "blank lines.md", PROSE + "\n" * 100_000 + PROSE
    yield "rules.md", "---\n" * 20_000 + PROSE
    yield "spaced rules.md", "---\n\n" * 20_000 + PROSE
    yield "quotes.md", ">" * 20_000 + PROSE
    yield "nested lists.md", "".join("  " * k + "- x\n" for k in range(1000))
    yield "brackets.md", "[" * 50_000 + PROSE
    yield "link brackets.md", "[a](" * 20_000
    yield "image brackets.md", "![" * 20_000
    yield "closed brackets.md", "[a]" * 50_000
    yield "backticks.md", "".join("`" * k + "a" for k in range(400))
    yield "stars.md", "*a " * 50_000
    yield "double stars.md", "**a" * 50_000
    yield "underscores.md", "_a " * 50_000
    yield "tags.md", "<" * 50_000
    yield "comments.md", "<!-- " * 20_000
    yield "scripts.md", "<script>" * 20_000
    yield "scripts one by one.md", "<script>\n\n" * 10_000
    yield "html lines.md", "<div>\n" * 30_000 + PROSE
    yield "html blocks.md", "<div>x</div>\n\n" * 20_000 + PROSE
    yield "entities.md", "&amp;" * 50_000
    yield "notes.md", "[^1]: a\n\n" * 20_000
    yield "note lines.md", "[^1]: a\n" + "    b\n\n" * 30_000
    yield "note breaks.md", "[^1]:" + "\n" * 100_000
    yield "note marks.md", "[^" * 30_000
    yield "inline notes.md", "^[" * 30_000
    yield "references.md", "[a]: b\n" * 20_000
    yield "tables.md", "|" * 5_000 + "\n" + "|-" * 5_000 + "\n" + ("|" * 5_000 + "\n") * 20
    yield "hard breaks.md", "a  \n" * 40_000
    yield "inline code.md", "`a`\n" * 40_000
    yield "links over lines.md", "[a](b)\n" * 40_000
    yield "front matter.md", "---\n" + "a: " * 100_000
    yield "front lines.md", "---\n" + "a:   \n" * 50_000
    yield "title block.md", "%\n" * 100_000
    yield "attributes.md", "# a" + " {" * 50_000
    yield "fences.md", "```\n" * 30_000
    yield "fenced divs.md", ":::" * 100_000
    yield "spaces.md", PROSE + " " * 100_000 + "x"
    yield "heading.html", "<h1>" + '<img alt="x">' * 20_000 + "</h1><p>" + PROSE
    yield "doctypes.html", "<html><!DOCTYPE[" * 1 + "<!DOCTYPE[" * 100_000 + PROSE
    yield "doctype.html", "<!DOCTYPE html [" + "]" * 100_000 + "<html><p>" + PROSE
    yield "divs.html", "<html><body>" + "<div>" * 50_000 + PROSE
    yield "spans.html", "<html><body>" + "<span>" * 50_000 + PROSE
    yield "closed divs.html", "<html><body>" + "<div>x</div>" * 50_000
    yield "paragraphs.html", "<html><body>" + "<p>x" * 60_000
    yield "nested paragraphs.html", "<html><body>" + "<p><b>" * 5_000 + PROSE
    yield "lists.html", "<html><body>" + "<ul><li>" * 10_000 + PROSE
    yield "linked heading.html", "<h1>" + '<a href="#f1">1</a>' * 3_000 + "</h1><p>" + PROSE
    yield "links.html", "<html><body>" + '<a href="#n1">1</a>' * 30_000 + PROSE
    yield "linked paragraphs.html", "<html><body>" + '<p><a href="#n1">[1]</a> x</p>' * 10_000
    yield "anchors.html", "<html><body>" + '<a id="x"></a>' * 40_000 + f"<p>{PROSE}"
    yield "anchored paragraphs.html", "<html><body>" + '<p id="x"></p>' * 30_000 + f"<p>{PROSE}"
    yield "bracketed marks.html", "<html><body><p>" + '[<a href="#f1">1</a>]' * 20_000 + PROSE
    yield (
        "empty anchors.html",
        ("<html><body><p>[" + "<a></a>" * 20_000 + '<a href="#f">1</a>]' * 300 + PROSE),
    )
    yield "breaks.html", "<html><body><p>" + "<br>" * 60_000 + PROSE
    yield "lines.html", "<html><body><p>" + "x<br>" * 60_000
    yield "pre.html", "<html><body><pre>" + "\n" * 100_000 + PROSE
    yield "pre spaces.html", "<html><body><pre>" + "\n " * 60_000 + PROSE
    yield "spaces.html", "<html><body><p>" + " " * 400_000 + "x" + PROSE
    yield "tables.html", "<html><body>" + "<table><tr><td>" * 2_000 + PROSE
    yield "cells.html", "<html><body><table><tr>" + "<td>x" * 50_000
    yield (
        "sections.html",
        XHTML.format('<section class="figure">' * 200 + PROSE + "</section>" * 200),
    )
    yield "figures.html", XHTML.format('<div class="figure">' * 200 + PROSE + "</div>" * 200)
    yield "matter.html", XHTML.format('<div role="doc-preface">' * 200 + PROSE + "</div>" * 200)
    yield "headings.html", "<html><body>" + "<h2>I</h2>" * 20_000 + f"<p>{PROSE}"
    yield "nested headings.html", "<html><body>" + "<h2><p>" * 5_000 + PROSE
    yield "verse.html", XHTML.format('<div class="poem">' + "<p>x</p>" * 30_000 + "</div>")
    yield "italics.html", XHTML.format("<p>" + "<i>Aa</i> bb. " * 50_000 + "</p>")
    yield "entities.html", "<html><body><p>" + "&amp;" * 100_000
    yield "references.html", "<html><body><p>&#55357;&#56832; &#xD83D; &#99999999999;" + PROSE
    yield "attributes.html", "<html><body><p " + "a=b " * 50_000 + ">" + PROSE
    yield "one attribute.html", '<html><body><p class="' + "x " * 100_000 + '">' + PROSE
    yield "style.html", '<html><body><p style="' + "display " * 50_000 + '">' + PROSE
    yield "comments.html", "<html><body>" + "<!--" * 100_000 + PROSE
    yield "meta.html", "<html>" + "<meta " * 50_000 + PROSE
    yield "declaration.html", "<?xml" + " " * 100_000 + "<html><p>" + PROSE
    yield "title.html", f"<html><title>{'Project Gutenberg ' * 5_000}</title><p>{PROSE}"
    yield "deep.html", XHTML.format("<div>" * 240 + PROSE + "</div>" * 240)
    yield "bold.html", "<html><body>" + "<p>" + "<b>" * 200 + PROSE
    yield "surrogates.fb2", FB2.format(title="&#55357;&#56832;", body=f"<p>&#55357;{PROSE}</p>")
    yield "deep.fb2", FB2.format(title="t", body="<section>" * 5_000 + f"<p>{PROSE}</p>")
    yield "deep quotations.fb2", FB2.format(title="t", body="<cite>" * 200 + f"<p>{PROSE}</p>")
    yield "sections.fb2", FB2.format(title="t", body="<section/>" * 40_000 + f"<p>{PROSE}</p>")
    yield "paragraphs.fb2", FB2.format(title="t", body="<p>x</p>" * 40_000)
    yield (
        "binaries.fb2",
        FB2.format(title="t", body=f"<p>{PROSE}</p>").replace(
            "</FictionBook>", "<binary>AAAA</binary>" * 20_000 + "</FictionBook>"
        ),
    )
    attributes = " ".join(f"a{k}=1" for k in range(200_000))
    yield "attributes.html", f"<html><body><p {attributes}>{PROSE}</p></body></html>"
    yield "a file of digits.epub", make_epub({"1" * 30_000 + ".xhtml": f"<p>{PROSE}</p>"})
    yield "document types.html", "<!DOCTYPE " * 90_000 + f"<html><body><p>{PROSE}</p></body></html>"
    heading = "<h2>" + "<img>" * 40_000 + "</h2>"
    yield "pictures in a heading.html", f"<html><body>{heading}<p>{PROSE}</p></body></html>"
    yield (
        "entities.fb2",
        (
            '<!DOCTYPE f [<!ENTITY a "aaaaaaaaaa">'
            + "".join(
                f'<!ENTITY {b} "{f"&{a};" * 10}">'
                for a, b in zip("abcdefgh", "bcdefghi", strict=True)
            )
            + "]>"
            + FB2.format(title="t", body=f"<p>&i;{PROSE}</p>")
        ),
    )
    page = XHTML.format(f"<p>{PROSE}</p>")
    yield "documents.epub", make_epub({f"{k}.xhtml": page for k in range(20_000)})
    yield (
        "contents.epub",
        make_epub(
            {f"{k}.xhtml": page for k in range(500)},
            toc="<ncx><navMap>"
            + "".join(
                f"<navPoint><navLabel><text>Part {k}</text></navLabel><content "
                f'src="{k % 500}.xhtml#a"/>'
                "</navPoint>"
                for k in range(20_000)
            )
            + "</navMap></ncx>",
        ),
    )
    yield (
        "deep contents.epub",
        make_epub(
            {"a.xhtml": page},
            toc="<ncx><navMap>" + "<navPoint><navLabel><text>x</text></navLabel>" * 240,
        ),
    )
    yield "surrogates.epub", make_epub({"a.xhtml": page}, title="&#55357;&#56832;")
    yield "escapes.epub", make_epub({"a.xhtml": page}, title="\x1b]0;owned\x07 &#155;31m")
    yield "missing documents.epub", make_epub({"a.xhtml": page}).replace(b"a.xhtml", b"b.xhtml")
    yield "bomb.epub", make_epub({"a.xhtml": XHTML.format(f"<p>{PROSE}</p>" * 700_000)})
    yield "bomb of spaces.epub", make_epub({"a.xhtml": XHTML.format(" " * 60_000_000)})
    yield (
        "bomb of members.epub",
        make_epub({f"{k}.xhtml": XHTML.format(f"<p>{PROSE}</p>" * 12_000) for k in range(60)}),
    )
    yield (
        "bomb.fb2.zip",
        _zip({"a.fb2": FB2.format(title="t", body=f"<p>{PROSE}</p>" * 400_000).encode()}),
    )
    shown = b"BT /F1 10 Tf 50 500 Td (%s) Tj ET\n" % PROSE.encode()
    line = b"(%s) Tj T* " % PROSE.encode()
    yield "bomb.pdf", make_pdf(b"BT /F1 10 Tf 12 TL 50 500 Td " + line * 300_000 + b"ET")
    yield "lines.pdf", make_pdf(b"BT /F1 10 Tf 12 TL 50 500 Td " + line * 2_000 + b"ET")
    mark = b"/F1 5 Tf 5 Ts (1) Tj 0 Ts /F1 10 Tf (x) Tj T* "
    yield "marks.pdf", make_pdf(b"BT /F1 10 Tf 12 TL 50 500 Td " + mark * 5_000 + b"ET")
    yield "pages.pdf", make_pdf(shown * 20, pages=5_000)
    yield "one line.pdf", make_pdf(b"BT /F1 10 Tf 5 500 Td (" + b"x" * 300_000 + b") Tj ET")
    yield "at one place.pdf", make_pdf(b"BT /F1 10 Tf 5 500 Td (a b) Tj ET " * 30_000)
    yield "nested forms.pdf", make_pdf(b"q " * 200_000 + shown)
    yield "huge numbers.pdf", make_pdf(b"BT /F1 1e38 Tf 1e38 500 Td (Hello there) Tj ET")
    yield "brackets.pdf", make_pdf(b"[" * 200_000)


def subtitles() -> Iterator[tuple[str, str | bytes]]:
    """Nasty subtitles."""
    yield "spaces.srt", CUE + "Hello.\n\n" + " " * 1000 + "\n" + " " * 100_000 + "x"
    first, last = (
        "1\n00:00:00,000 --> 00:00:01,000\nOne.\n\n",
        "\n\n3\n00:00:02,000 --> 00:00:03,000\nTwo.",
    )
    middle = "2\n00:00:01,000 --> 00:00:02,000\n"
    yield "lines in a cue.srt", first + middle + "<br>a" * 50_000 + last
    yield "dashes in a cue.srt", first + middle + "a" + "-" * 100_000 + "x" + last
    touching = (f"{k}\n{clock(k)} --> {clock(k + 1)}\n... and so {k} ...\n\n" for k in range(8000))
    yield "a sentence without an end.srt", "".join(touching)
    yield "dots in lines.sub", "{0}{50}" + "... " * 30_000 + "\n{50}{100}" + "...|" * 30_000
    yield "a voice of blanks.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v" + " " * 90_000 + "x"
    yield "a voice of tabs.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v" + "\x0b" * 90_000 + "x"
    yield "spaces before a time.srt", (" " * 1000 + "\n") * 300 + CUE + "Hello."
    yield "spaces in a time.srt", "0" + " " * 50_000 + ":" + " " * 50_000 + "x\n" + CUE + "Hello."
    yield "settings.srt", CUE.rstrip("\n") + " a:b" * 22 + " x!\nHello."
    yield "settings without blanks.srt", CUE.rstrip("\n") + " " + "a:b" * 2000 + " !\nHello."
    yield "hours.srt", f"1\n{LONG}:00:01,000 --> {LONG}:00:02,000\nHello.\n\n" + CUE + "Hello."
    yield "digits.srt", f"1\n{HUGE}:00:01,000 --> {HUGE}:00:02,000\nHello.\n\n" + CUE + "Hello."
    yield "numbered.srt", f"{HUGE}\n00:00:01,000 --> 00:00:02,000\nHello."
    yield "fraction.srt", f"1\n00:00:01,{HUGE} --> 00:00:02,{HUGE}\nHello."
    yield "fullwidth digits.srt", "1\n００:００:０１,０００ --> ００:００:０２,０００\nHello."
    yield "less-than.srt", CUE + "<" + " " * 50_000
    yield "less-thans.srt", CUE + "<" * 100_000
    yield "open tags.srt", CUE + "<i" * 50_000
    yield "open tags and spaces.srt", CUE + "< " * 50_000
    yield "ruby.srt", CUE + "<rt>" * 50_000
    yield "braces.srt", CUE + "{" * 100_000
    yield "overrides.srt", CUE + "{\\" * 50_000
    yield "brackets.srt", CUE + "[" * 50_000
    yield "brackets and stops.srt", CUE + "[." * 50_000
    yield "parentheses.srt", CUE + "(" * 100_000
    yield "closed parentheses.srt", CUE + "(a)" * 50_000
    yield "closed brackets.srt", CUE + "[a]" * 50_000
    yield "names in brackets.srt", CUE + "[Man] A" * 20_000
    yield "dots.srt", CUE + "... " * 100_000
    yield "spaced dots.srt", CUE + ". " * 100_000
    yield "marks.srt", CUE + " ," * 100_000
    yield "spaces in a cue.srt", CUE + "a" + " " * 200_000 + "b"
    yield "notes.srt", CUE + "♪ la " * 30_000
    yield "hashes.srt", CUE + "# " * 50_000
    yield "stars.srt", CUE + "*" * 100_000
    yield "arrows.srt", CUE + ">" * 100_000
    yield "arrows and spaces.srt", CUE + "a" + " " * 50_000 + ">"
    yield "dashes.srt", CUE + "-" * 100_000
    yield "dashed lines.srt", CUE + "- a\n" * 20_000
    yield "continued lines.srt", CUE + "a\n" * 50_000
    yield "labels.srt", CUE + "A " * 50_000 + ":"
    yield "labels and dots.srt", CUE + "A." * 50_000
    yield "numbered labels.srt", CUE + "1 " * 50_000 + ":"
    yield "ampersands.srt", CUE + "&" * 100_000
    yield "entities.srt", CUE + "&amp;" * 50_000
    yield "references.srt", CUE + "&#55357;&#56832; &#9999999; hello."
    yield "one cue.srt", CUE + "hello there " * 50_000
    yield (
        "unpunctuated.srt",
        "".join(
            f"{k}\n00:{k // 60 % 60:02}:{k % 60:02},000 --> 00:{k // 60 % 60:02}:{k % 60:02},900\n"
            f"hello there\n\n"
            for k in range(3500)
        ),
    )
    yield "all at one time.srt", "".join(CUE + f"Line {k}.\n\n" for k in range(20_000))
    yield (
        "all at one time without length.srt",
        "".join(f"1\n00:00:01,000 --> 00:00:01,000\nLine {k}.\n\n" for k in range(20_000)),
    )
    yield "times only.srt", CUE * 20_000
    yield (
        "rolling.srt",
        "".join(
            f"{k}\n00:00:{k:02},000 --> 00:00:{k + 1:02},000\n" + "word\n" * 3000 + "\n"
            for k in range(1, 30)
        ),
    )
    yield "blank lines.srt", CUE + "Hello." + "\n" * 300_000 + CUE.replace("01", "05") + "Bye."
    yield "numbers.srt", CUE + "1\n" * 100_000
    yield "one long word.srt", CUE + "a" * 500_000
    yield "quotes.srt", CUE + '"a" ' * 50_000
    yield "speech.srt", CUE + '"Oh!" he said. ' * 30_000
    yield "escapes.srt", CUE + "\x1b]0;owned\x07Hello there, you."
    yield "PG.srt", "PG-13, they said.\n\n" + CUE + "Hello there."
    yield "cues of credits.srt", CUE + "subtitles by " * 20_000
    yield "credits.srt", CUE + "directed" + " " * 50_000 + "by"
    yield "voices.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "<v>" * 100_000
    yield "named voices.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "<v A>a " * 30_000
    yield "open voices.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "<v " * 100_000
    yield "voice of spaces.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n<v" + " " * 100_000
    yield "classes.vtt", "WEBVTT\n\n00:01.000 --> 00:02.000\n" + "<v." * 100_000
    yield (
        "map.vtt",
        (
            f"WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:{HUGE},LOCAL:{HUGE}:00:00\n\n"
            "00:01.000 --> 00:02.000\nHello."
        ),
    )
    yield "map of spaces.vtt", "WEBVTT\nX-TIMESTAMP-MAP=MPEGTS:1,LOCAL:" + "-" + " " * 100_000
    yield "hours.vtt", f"WEBVTT\n\n{LONG}:00:01.000 --> {LONG}:00:02.000\nHello."
    yield "notes.vtt", "WEBVTT\n\n" + "NOTE\n\n" * 50_000 + "00:01.000 --> 00:02.000\nHello."
    ass = "[Script Info]\n\n[Events]\n"
    yield "text.ass", ass + "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,," + "{\\b1}a" * 30_000
    yield "open codes.ass", ass + "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,," + "{" * 50_000
    yield (
        "codes.ass",
        ass + "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{" + "\\p1" * 30_000 + "}a",
    )
    yield (
        "drawing.ass",
        (ass + "Dialogue: 0,0:00:01.00,0:00:02.00,D,,0,0,0,,{\\p" + HUGE + "}a{\\p0}Hello."),
    )
    yield "digits.ass", ass + f"Dialogue: {HUGE},0:00:01.00,0:00:02.00,D,,{HUGE},0,0,,Hello."
    yield "commas.ass", ass + "Dialogue: " + "," * 200_000
    yield "spaces.ass", ass + "Dialogue: 0," + " " * 100_000 + "x"
    yield "styles.ass", "[V4+ Styles]\n" * 30_000
    yield "digits.sub", f"{{{HUGE}}}{{{HUGE}}}Hello.\n{{1}}{{20}}Hello there."
    yield "long digits.sub", f"{{{LONG}}}{{{LONG}}}Hello.\n{{1}}{{20}}Hello there."
    yield "spaces.sub", "{" + " " * 50_000 + "1\n" + "{1}{20}Hello there."
    yield "rate.sub", "{1}{1}000\n{1}{20}Hello there."
    yield "fraction of a rate.sub", f"{{1}}{{1}}23.{HUGE}\n{{1}}{{20}}Hello there."
    yield "digits.mpl", f"[{HUGE}][{HUGE}]Hello.\n[1][20]Hello there."
    yield "long digits.mpl", f"[{LONG}][{LONG}]Hello.\n[1][20]Hello there."
    yield "pipes.mpl", "[1][20]" + "|" * 100_000 + "Hello"
    yield "digits.tmp", f"00:00:01:Hello.\n{HUGE}:00:02:Hello there."
    yield (
        "deep.ttml",
        TTML.format("<div>" * DEEP + '<p begin="1s" end="2s">Hello.</p>' + "</div>" * DEEP),
    )
    yield (
        "deep spans.ttml",
        TTML.format(
            '<p begin="1s" end="2s">' + "<span>" * DEEP + "Hello." + "</span>" * DEEP + "</p>"
        ),
    )
    yield "deeper.ttml", TTML.format("<div>" * 100_000 + '<p begin="1s" end="2s">Hello.</p>')
    yield "digits.ttml", TTML.format(f'<p begin="{HUGE}s" end="{HUGE}s">Hello.</p>')
    yield "long digits.ttml", TTML.format(f'<p begin="{LONG}:00:01" end="{LONG}h">Hello.</p>')
    yield "fractions.ttml", TTML.format(f'<p begin="1.{HUGE}s" end="00:00:02.{HUGE}">Hello.</p>')
    yield (
        "frame rate.ttml",
        TTML.format('<p begin="1f" end="50f">Hello.</p>').replace(
            "<tt ", f'<tt frameRate="{HUGE}" tickRate="{HUGE}" frameRateMultiplier="{HUGE} 0" '
        ),
    )
    yield (
        "no frames.ttml",
        TTML.format('<p begin="1f" end="50f">Hello.</p>').replace(
            "<tt ", '<tt frameRate="0" tickRate="0" subFrameRate="0" frameRateMultiplier="0 0" '
        ),
    )
    yield "surrogates.ttml", TTML.format('<p begin="1s" end="2s">&#55357;&#56832; Hello.</p>')
    yield "spans.ttml", TTML.format('<p begin="1s" end="2s">' + "<span>a </span>" * 30_000 + "</p>")
    yield "paragraphs.ttml", TTML.format('<p begin="1s" end="2s">Hello.</p>' * 20_000)
    yield "nested paragraphs.ttml", TTML.format("<p>" * 200 + '<span begin="1s" end="2s">a</span>')
    yield "breaks.ttml", TTML.format('<p begin="1s" end="2s">Hello.' + "<br/>" * 60_000 + "</p>")
    yield (
        "entities.ttml",
        (
            '<!DOCTYPE tt [<!ENTITY a "'
            + "a" * 10_000
            + '">]>'
            + TTML.format('<p begin="1s" end="2s">' + "&a;" * 10_000 + "</p>")
        ),
    )
    yield "digits.smi", f"<SAMI><BODY><SYNC Start={HUGE}><P>Hello.<SYNC Start=1000><P>Hello."
    yield "long digits.smi", f"<SAMI><BODY><SYNC Start={LONG}><P>Hello.<SYNC Start=1000><P>Hello."
    yield "backwards.smi", "<SAMI><BODY><SYNC Start=5000><P>Hello.<SYNC Start=1000><P>Hello."
    yield "syncs.smi", "<SAMI><BODY>" + "<SYNC " * 50_000
    yield "starts.smi", "<SAMI><BODY><SYNC " + "Start=" * 30_000
    yield "comments.smi", "<SAMI><BODY>" + "<!--" * 50_000
    yield "bodies.smi", "<SAMI>" + "</body" * 50_000
    yield "paragraphs.smi", "<SAMI><BODY><SYNC Start=1000>" + "<P>a" * 50_000
    yield "open paragraphs.smi", "<SAMI><BODY><SYNC Start=1000>" + "<P " * 50_000
    yield "blanks.smi", "<SAMI><BODY><SYNC Start=1000><P>" + "&nbsp;" * 50_000
    yield "deep.json", '{"events": ' + "[" * 100_000
    yield "brackets.json", "[" * 1100 + "]" * 1100
    yield "deep events.json", '{"segments": ' + "[" * 1100 + "]" * 1100 + "}"
    yield "words.json", '{"segments": [1, "a", null, {"start": "x", "end": [], "text": {}}]}'
    for name, value in _wrong_values():
        segment = {"start": 1, "end": 2, "text": "Hello."}
        yield f"segments of {name}.json", json.dumps({"segments": [segment]}).replace("1", value)
        event = {"tStartMs": 1, "dDurationMs": 2000, "segs": [{"utf8": "Hello."}]}
        yield f"events of {name}.json", json.dumps({"events": [event]}).replace("1", value)
        yield (
            f"pieces of {name}.json",
            json.dumps({"events": [event]}).replace('[{"utf8": "Hello."}]', value),
        )
        yield (
            f"lists of {name}.json",
            json.dumps({"events": [event, 0]}).replace(" 0]", f"{value}]"),
        )
        saved = {"start": 1, "end": 2000, "text": "Hello.", "type": "Dialogue", "style": "D"}
        yield (
            f"saved {name}.json",
            json.dumps({"info": {}, "styles": {}, "events": [saved]}).replace("1", value),
        )
        yield (
            f"saved as {name}.json",
            json.dumps({"info": {}, "styles": {}, "events": [saved]}).replace("{}", value),
        )


def _wrong_values() -> Iterator[tuple[str, str]]:
    yield "digits", HUGE
    yield "infinity", "1e999"
    yield "a constant", "NaN"
    yield "a negative infinity", "-Infinity"
    yield "text", '"x"'
    yield "a list", "[]"
    yield "an object", '{"a": 0}'
    yield "nothing", "null"
    yield "truth", "true"
    yield "minus", "-5"
    yield "much", "1e300"
