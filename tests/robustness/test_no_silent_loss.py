"""Every word of a book or a film is read, or a note says which were left out.

The truth is the words themselves: each passage is made of words that occur nowhere else, so what
was read is told from what was lost without knowing how it should be laid out.
"""

from __future__ import annotations

import re
import zipfile
from pathlib import Path

import pytest

from folioreel.ingest.book import load_book
from folioreel.ingest.subtitles.dialogue import read_subtitles

_MARKED = re.compile(r"zq\w+")


def passage(name: str) -> str:
    return f"The old ferryman laughed beside the river while zq{name} was speaking of nothing."


def rest(name: str = "rest") -> str:
    """Enough of a story that what is left out of it is not most of it."""
    return "".join(f"<p>{' '.join(passage(f'{name}{k}x{n}') for n in 'abc')}</p>" for k in range(9))


def page(body: str, *, is_xml: bool = True) -> str:
    space = ' xmlns="http://www.w3.org/1999/xhtml" xmlns:epub="http://www.idpf.org/2007/ops"'
    return f"<html{space * is_xml}><head><title>T</title></head><body>{body}</body></html>"


def epub(path: Path, pages: dict[str, str], spine: str, types: dict[str, str]) -> Path:
    items = ""
    for name in pages:
        kind = types.get(name, "application/xhtml+xml")
        role = ' properties="nav"' if name == "nav.xhtml" else ""
        items += f'<item id="{name}" href="{name}" media-type="{kind}"{role}/>'
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr(
            "META-INF/container.xml",
            '<container><rootfiles><rootfile full-path="p.opf"/></rootfiles></container>',
        )
        package = f"<package><manifest>{items}</manifest><spine>{spine}</spine></package>"
        archive.writestr("p.opf", package)
        for name, text in pages.items():
            archive.writestr(name, text)
    return path


def read_words(path: Path) -> tuple[set[str], str]:
    """The marked words of a book, and its notes."""
    book = load_book(path)
    said = [sentence.text for sentence in book.sentences]
    said += [chapter.title for chapter in book.chapters]
    return set(_MARKED.findall(" ".join(said))), "; ".join(book.notes)


A, B, C = (passage(name) for name in "abc")

KEPT = {
    "a mark that opens a paragraph": f'<p><a href="#fn1">[1]</a> {A}</p>'
    '<div id="fn1"><p><a href="#r1">[1]</a> A note.</p></div>',
    "marks that open verses": "".join(
        f'<p><a epub:type="noteref" href="#fn{k}">[{k}]</a> {passage(f"v{k}")}</p>' for k in "123"
    ),
    "a reference of words": f'<p>{A} Call me <a epub:type="noteref" href="#n">zqishmael</a>.</p>',
    "literal text": f"<p><![CDATA[{A} 1 < 2]]></p>",
    "a page joined to another": f"<p>{A}</p></body></html><html><body><p>{B}</p>",
    "text after the end": f"<p>{A}</p></body></html><p>{B}</p>",
    "a comment that is never closed": f"<p>{A}</p><!-- <p>{B}</p>",
    "nested sections": f"<section><h2>A</h2>{A}<section><p>{B}</p></section></section>{C}",
    "a definition list": f"<dl><dt>{A}</dt><dd>{B}</dd></dl><details>{C}</details>",
    "a custom element": f"<my-book><my-page>{A}</my-page></my-book>",
    "closed at once": f'<div class="footnote"/><script src="x"/><p>{A}</p>',
}


@pytest.mark.parametrize("is_xml", [True, False])
@pytest.mark.parametrize("name", KEPT)
def test_words_of_pages_are_kept(tmp_path: Path, name: str, is_xml: bool) -> None:
    text = page(rest() + KEPT[name], is_xml=is_xml)
    file = tmp_path / "book.html"
    file.write_text(text)
    assert read_words(file)[0] == set(_MARKED.findall(text))


REPORTED = {
    "notes": f'<p><a id="n1"></a><a href="#r1">[1]</a> {A}</p>',
    "captions": f'<figure><img src="a.png"/><figcaption>{A}</figcaption></figure>',
    "hidden text": f'<p style="display: none">{A}</p>',
    "<svg>": f"<svg><text>{A}</text></svg>",
    "<noscript>": f"<noscript><p>{A}</p></noscript>",
    "dedication": f'<section epub:type="dedication"><p>{A}</p></section>',
    "contents": "".join(f'<p><a href="#c{n}">{passage(n)}</a></p>' for n in "abcd"),
}


@pytest.mark.parametrize("kind", REPORTED)
def test_words_that_are_left_out_are_reported(tmp_path: Path, kind: str) -> None:
    words = len(passage("a").split()) * REPORTED[kind].count("ferryman")
    file = tmp_path / "book.html"
    file.write_text(page(f'<p>x<a id="r1"></a>.</p>{rest()}{REPORTED[kind]}'))
    found, notes = read_words(file)
    assert found == set(_MARKED.findall(rest()))
    said = re.search(rf"{re.escape(kind)} \((\d+) words\)", notes)
    assert said is not None
    assert abs(int(said[1]) - words) <= 1  # with its mark


@pytest.mark.parametrize(
    ("spine", "types", "note"),
    [
        ('<itemref idref="a"/><itemref idref="b"/>', {"b": "text/xml"}, ""),
        (
            '<itemref idref="a"/><itemref idref="b" linear="no"/>',
            {},
            "outside the reading order: b",
        ),
        ('<itemref idref="a"/>', {}, "outside the reading order: b"),
        ('<itemref idref="a"/><itemref idref="b"/>', {"b": "image/svg+xml"}, "order: b"),
    ],
)
def test_documents_of_an_epub(tmp_path: Path, spine: str, types: dict[str, str], note: str) -> None:
    pages = {"a": page(rest("first")), "b": page(rest("second"))}
    found, notes = read_words(epub(tmp_path / "book.epub", pages, spine, types))
    read = pages["a"] + pages["b"] * (not note)
    assert found == set(_MARKED.findall(read))
    assert note in notes


def test_a_story_in_the_document_of_the_contents(tmp_path: Path) -> None:
    nav = '<nav epub:type="toc"><ol><li><a href="a">One</a></li></ol></nav>'
    pages = {"nav.xhtml": page(nav + rest("first")), "a": page(rest("second"))}
    spine = '<itemref idref="nav.xhtml"/><itemref idref="a"/>'
    found, _ = read_words(epub(tmp_path / "book.epub", pages, spine, {}))
    assert found == set(_MARKED.findall("".join(pages.values())))


@pytest.mark.parametrize("declarations", ["<!DOCTYPE html [ >", "<!-- <!DOCTYPE html [ -->"])
def test_a_document_type_hides_no_text(tmp_path: Path, declarations: str) -> None:
    file = tmp_path / "book.html"
    file.write_text(f"<html><body>{declarations}<p>{A}</p>{rest()}<p>x[1]> {B}</p></body></html>")
    assert read_words(file)[0] == set(_MARKED.findall(file.read_text()))


@pytest.mark.parametrize("suffix", [".txt", ".md", ".srt"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_wide_encodings_without_a_mark(tmp_path: Path, suffix: str, encoding: str) -> None:
    file = tmp_path / f"book{suffix}"
    times = ("00:00:0{k},000 --> 00:00:0{k},900\n" if suffix == ".srt" else "").format
    text = "".join(f"{times(k=k)}Café: {passage(f'w{k}')}\n\n" for k in range(9))
    file.write_bytes(text.encode(encoding))
    found = read_subtitles(file).subtitles if suffix == ".srt" else load_book(file).sentences
    said = " ".join(one.text for one in found)
    assert set(_MARKED.findall(said)) == set(_MARKED.findall(text))


def test_an_old_page_with_typewriter_letters_is_a_book(tmp_path: Path) -> None:
    file = tmp_path / "book.html"
    file.write_text(f"<html><body><p><tt>{A}</tt></p>{rest()}</body></html>")
    assert read_words(file)[0] >= {"zqa"}


def test_markdown(tmp_path: Path) -> None:
    file = tmp_path / "book.md"
    story = re.sub("</?p>", "\n\n", rest())
    file.write_text(f"---\n{A}\n\nJOHN: {B}\n\n---\n\n{story}\n\n[^1]: {C}\n")
    found, notes = read_words(file)
    assert found == set(_MARKED.findall(file.read_text())) - {"zqc"}
    assert f"notes ({1 + len(C.split())} words)" in notes


TIMES = [f"00:00:{k:02}.000 --> 00:00:{k:02}.900" for k in range(9)]
SAID = [f"We heard zqs{k} by the river." for k in range(9)]
PAIRS = list(zip(TIMES, SAID, strict=True))
SUBTITLES = {
    "angle brackets.srt": "".join(f"{t}\n< {s} >\n\n" for t, s in PAIRS),
    "braces.srt": "".join(f"{t}\n{{{s}}}\n\n" for t, s in PAIRS),
    "a label beside the times.srt": "".join(f"{t} JOHN: zqj{k}\n{s}\n\n"
                                            for k, (t, s) in enumerate(PAIRS)),
    "no blank lines.srt": "".join(f"{k}\n{t}\n{s}\n" for k, (t, s) in enumerate(PAIRS)),
    "a blank line inside.vtt": "WEBVTT\n\n" + "".join(
        f"cue {k}\n{t}\nFirst zqf{k} came.\n\n{s}\n\n" for k, (t, s) in enumerate(PAIRS)),
    "names like comments.vtt": "WEBVTT\n\n" + "".join(f"STYLE-1\n{t}\n{s}\n\n" for t, s in PAIRS),
    "comments above times.vtt": "WEBVTT\n\n" + "".join(f"NOTE x\n{t}\n{s}\n\n" for t, s in PAIRS),
    "a style without a blank line.vtt": "WEBVTT\nSTYLE\n::cue{}\n" + "".join(
        f"{t}\n{s}\n\n" for t, s in PAIRS),
    "tabs.ass": "[Script Info]\n[Events]\n" + "".join(
        f"\tdialogue : 0,0:00:0{k}.00,0:00:0{k}.90,D,,0,0,0,,{s}\n" for k, s in enumerate(SAID)),
    "two lines.sub": "".join(
        f"{{{k}00}}{{{k}90}}{s}\nAnd zqt{k}, too.\n" for k, s in enumerate(SAID)),
    "two lines.mpl": "".join(f"[{k}0][{k}9]{s}\nAnd zqt{k}, too.\n" for k, s in enumerate(SAID)),
    "two lines.tmp": "".join(f"00:00:0{k}:{s}\nAnd zqt{k}, too.\n" for k, s in enumerate(SAID)),
    "an early end.smi": "<SAMI><BODY>" + "".join(
        f"<SYNC Start={k}000><P>{s}{'</BODY>' * (k == 4)}" for k, s in enumerate(SAID)),
    "words around a timed span.ttml": "<tt><body>" + "".join(
        f'<p begin="{k}s" end="{k}.9s">zqb{k} was <span begin="0.1s" end="0.5s">{s}</span> zqe{k}'
        "</p>" for k, s in enumerate(SAID)) + "</body></tt>",
    "timed spans without ends.ttml": "<tt><body>" + "".join(
        f'<p begin="{k}s"><span begin="0.1s">{s}</span></p>' for k, s in enumerate(SAID))
        + "</body></tt>",
}  # fmt: skip


@pytest.mark.parametrize("name", SUBTITLES)
def test_words_of_subtitles_are_kept(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    file.write_text(SUBTITLES[name])
    said = " ".join(subtitle.text for subtitle in read_subtitles(file).subtitles)
    assert set(_MARKED.findall(said)) == set(_MARKED.findall(SUBTITLES[name]))


@pytest.mark.parametrize(
    ("name", "text", "note"),
    [
        (
            "a.srt",
            "1\n00:00:xx,0 --> 0:1\nCome in.\n\n" + SUBTITLES["no blank lines.srt"],
            "words above the first time were left out",
        ),
        (
            "a.smi",
            SUBTITLES["an early end.smi"].replace("Start=5000", "Begin=5000"),
            "1 cue without a time left out",
        ),
        (
            "a.smi",
            SUBTITLES["an early end.smi"]
            .replace("<P>", "<P Class=ENCC>")
            .replace("<SYNC", "<P Class=FRCC>Non.<SYNC"),
            "read ENCC, left out FRCC",
        ),
        (
            "a.json",
            '{"segments": [{"text": "Lost."}, {"start": 1, "end": 2, "text": "Found it."}]}',
            "1 cue without a time left out",
        ),
    ],
)
def test_words_of_subtitles_that_are_left_out_are_reported(
    tmp_path: Path, name: str, text: str, note: str
) -> None:
    file = tmp_path / name
    file.write_text(text)
    assert note in "; ".join(read_subtitles(file).notes)
