"""Novels made up by a seed, as text, HTML, EPUB and archives, for the tests of the corpus."""

import io
import random
import tarfile
import zipfile
from functools import cache
from pathlib import Path

from folioreel.corpus.build import CorpusConfig, build_corpus

MIN_WORDS = 1500
ALONE = CorpusConfig(min_words=MIN_WORDS, workers=1)
SYLLABLES = "ba de ki lo mu ra se ti vo na pel gor fin tas wun".split()
FUNCTION_WORDS = "the a of and to in was he she it that had with his her for on as at by".split()


@cache
def author_words(author: int, count: int = 700) -> list[str]:
    """The words of one author: all novels of one share them."""
    rng = random.Random(author)
    made = {"".join(rng.choices(SYLLABLES, k=rng.randint(1, 4))) for _ in range(3 * count)}
    return sorted(made)[:count]


def make_paragraphs(seed: int, words: int, author: int = 1) -> list[str]:
    """The paragraphs of a novel with about so many words."""
    rng = random.Random(1000 * author + seed)
    own = author_words(author)
    paragraphs, written = [], 0
    while written < words:
        sentences = []
        for _ in range(rng.randint(2, 6)):
            length = rng.randint(5, 18)
            chosen = [
                rng.choice(FUNCTION_WORDS) if rng.random() < 0.45 else rng.choice(own)
                for _ in range(length)
            ]
            sentences.append(" ".join(chosen).capitalize() + ".")
            written += length
        paragraphs.append(" ".join(sentences))
    return paragraphs


def wrap(paragraph: str, width: int) -> str:
    lines, line = [], ""
    for word in paragraph.split():
        if line and len(line) + len(word) + 1 > width:
            lines.append(line)
            line = word
        else:
            line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


def make_novel(
    seed: int, words: int = 3000, author: int = 1, width: int = 70, preface: str = ""
) -> str:
    """A novel as plain text: title, perhaps a preface, and chapters."""
    return lay_out(
        make_paragraphs(seed, words, author), f"Novel {seed} of {author}", width, preface
    )


def lay_out(paragraphs: list[str], title: str, width: int = 70, preface: str = "") -> str:
    parts = [title]
    if preface:
        parts += ["\nPREFACE\n", wrap(preface, width)]
    third = max(1, len(paragraphs) // 3)
    for chapter, first in enumerate(range(0, len(paragraphs), third), 1):
        parts.append(f"\n\nCHAPTER {chapter}\n")
        parts += [wrap(paragraph, width) + "\n" for paragraph in paragraphs[first : first + third]]
    return "\n".join(parts)


def edit_words(text: str, share: float, seed: int = 5) -> str:
    """Another edition: a share of the small words is another word."""
    rng = random.Random(seed)
    edited = [
        rng.choice(author_words(9)) if word.islower() and rng.random() < share else word
        for word in text.split(" ")
    ]
    return " ".join(edited)


def make_html(seed: int, words: int = 3000) -> str:
    body = "".join(f"<p>{paragraph}</p>" for paragraph in make_paragraphs(seed, words))
    return (
        f"<!DOCTYPE html><html><head><title>Page {seed}</title></head>"
        f"<body><h2>Chapter 1</h2>{body}</body></html>"
    )


def make_epub(seed: int, words: int = 3000) -> bytes:
    container = (
        '<?xml version="1.0"?><container version="1.0" '
        'xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles><rootfile '
        'full-path="book.opf" media-type="application/oebps-package+xml"/></rootfiles></container>'
    )
    package = (
        '<?xml version="1.0"?><package xmlns="http://www.idpf.org/2007/opf" version="3.0">'
        '<metadata xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<dc:title>Electronic {seed}</dc:title><dc:language>en</dc:language></metadata>"
        '<manifest><item id="a" href="a.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="a"/></spine></package>'
    )
    body = "".join(f"<p>{paragraph}</p>" for paragraph in make_paragraphs(seed, words))
    page = (
        '<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title>x</title>'
        f"</head><body><h1>Chapter 1</h1>{body}</body></html>"
    )
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("mimetype", "application/epub+zip")
        archive.writestr("META-INF/container.xml", container)
        archive.writestr("book.opf", package)
        archive.writestr("a.xhtml", page)
    return buffer.getvalue()


def write_novels(folder: Path, seeds: range, words: int = 3000) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for seed in seeds:
        (folder / f"novel-{seed:02d}.txt").write_text(make_novel(seed, words), encoding="utf-8")


def write_tar(path: Path, members: dict[str, bytes]) -> None:
    kind = {".xz": "xz", ".gz": "gz"}.get(path.suffix, "")
    with tarfile.open(path, f"w:{kind}") as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))


def write_zip(path: Path, members: dict[str, bytes]) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def write_library(books: Path) -> Path:
    """Books of several kinds, loose and in archives, good and bad."""
    write_novels(books / "shelf", range(3))
    (books / "page.html").write_text(make_html(10), encoding="utf-8")
    (books / "short.txt").write_text(make_novel(20, words=400), encoding="utf-8")
    (books / "empty.txt").write_bytes(b"")
    (books / "kindle.mobi").write_bytes(b"\0" * 60 + b"BOOKMOBI" + b"\0" * 100)
    (books / "index.tsv").write_text("no\tbook\n", encoding="utf-8")
    (books / ".hidden.txt").write_text("nobody looks here", encoding="utf-8")
    write_tar(
        books / "more.tar.xz",
        {
            "z/electronic.epub": make_epub(30),
            "a/page.html": make_html(31).encode(),
            "notes.csv": b"1,2\n",
            "._page.html": b"junk of another system",
        },
    )
    write_tar(books / "plain.tar", {"novel.txt": make_novel(40).encode()})
    write_zip(books / "packed.zip", {"novel.md": b"# One\n\n" + make_novel(50).encode()})
    return books


def snapshot(folder: Path) -> dict[str, bytes]:
    """Every file below a folder, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def snapshot_of_fresh_build(
    books: Path, tmp_path: Path, config: CorpusConfig = ALONE
) -> dict[str, bytes]:
    """What a corpus of some books must look like, byte for byte."""
    fresh = tmp_path / "fresh"
    build_corpus(books, fresh, config)
    return snapshot(fresh)
