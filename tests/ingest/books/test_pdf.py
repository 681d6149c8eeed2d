"""PDF → blocks, on pages drawn here with exactly known text."""

import contextlib
import io
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import pypdfium2.raw as pdfium_c
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reportlab.lib.pdfencrypt import StandardEncryption
from reportlab.pdfbase.pdfmetrics import stringWidth
from reportlab.pdfgen.canvas import Canvas

from folioreel.errors import FolioReelError, InputError
from folioreel.ingest.books import pdf
from folioreel.ingest.books.blocks import Manuscript
from folioreel.ingest.books.pdf import Joiner
from folioreel.ingest.source import open_source


def read_pdf(path: Path) -> Manuscript:
    return pdf.read_pdf(open_source(path))


P, H, V, B = "paragraph", "heading", "verse", "break"
WIDTH, HEIGHT, LEFT, TOP, SIZE, PITCH = 380.0, 560.0, 60.0, 480.0, 11, 14.0
MEASURE = WIDTH - 2 * LEFT
LINES_A_PAGE = 28


@dataclass
class Setter:
    """Sets a book page by page, as a simple typesetter would."""

    indent: float = 16.0
    space: float = 0.0
    head: str | None = "THE FERRY"
    numbers: bool = True
    buffer: io.BytesIO = field(default_factory=io.BytesIO)
    row: float = 0.0
    page: int = 0

    def __post_init__(self) -> None:
        self.canvas = Canvas(self.buffer, pagesize=(WIDTH, HEIGHT), pageCompression=0)
        self._open_page()

    def _open_page(self) -> None:
        self.page += 1
        self.row = 0.0
        self.canvas.setFont("Times-Roman", 9)
        if self.head and self.page > 1:
            self.canvas.drawCentredString(WIDTH / 2, HEIGHT - 40, self.head)
        if self.numbers:
            self.canvas.drawCentredString(WIDTH / 2, 30, str(self.page))

    def new_page(self) -> None:
        self.canvas.showPage()
        self._open_page()

    def line(
        self, text: str, x: float = LEFT, *, font: str = "Times-Roman", size: int = SIZE
    ) -> None:
        if self.row >= LINES_A_PAGE:
            self.new_page()
        self.canvas.setFont(font, size)
        self.canvas.drawString(x, TOP - PITCH * self.row, text)
        self.row += 1

    def centred(self, text: str, *, font: str = "Times-Roman", size: int = SIZE) -> None:
        self.line(text, (WIDTH - stringWidth(text, font, size)) / 2, font=font, size=size)

    def heading(self, text: str, *, font: str = "Times-Bold", size: int = 16) -> None:
        self.new_page()
        self.row = 3
        self.centred(text, font=font, size=size)
        self.row += 2

    def paragraph(self, text: str) -> None:
        """Fill lines; `|` marks where a word may be parted with a hyphen."""
        x = LEFT + self.indent
        line = ""
        for word in text.split():
            room = LEFT + MEASURE - x
            plain = word.replace("|", "")
            if stringWidth(f"{line} {plain}".strip(), "Times-Roman", SIZE) <= room:
                line = f"{line} {plain}".strip()
                continue
            first, bar, rest = word.partition("|")
            if bar and stringWidth(f"{line} {first}-".strip(), "Times-Roman", SIZE) <= room:
                line, plain = f"{line} {first}-".strip(), rest.replace("|", "")
            self.line(line, x)
            x, line = LEFT, plain
        self.line(line, x)
        self.row += self.space

    def save(self, folder: Path, name: str = "book.pdf") -> Path:
        self.canvas.save()
        (folder / name).write_bytes(self.buffer.getvalue())
        return folder / name


def prose(number: int, sentences: int = 6) -> str:
    parts = [
        f"The ferry number {number} crossed the river at dawn and came back in the evening.",
        f"Petra read the dial, wrote {number} down, and said nothing at all about it.",
        f"“Kilos, {number},” she told the old ferryman, who looked at the water instead of her.",
        f"Somebody dropped bolt {number} on the stones, and the band played in the malt house.",
    ]
    return " ".join(parts[(number + k) % 4] for k in range(sentences))


def said(book: Manuscript) -> list[tuple[str, str]]:
    return [(block.kind, block.text) for block in book.blocks]


@pytest.mark.parametrize(("indent", "space"), [(16.0, 0.0), (0.0, 0.8), (16.0, 0.5)])
def test_a_book_with_running_heads_and_page_numbers(tmp_path, indent: float, space: float) -> None:
    book = Setter(indent=indent, space=space)
    expected = []
    for number, chapter in enumerate(("CHAPTER I", "CHAPTER II", "CHAPTER III")):
        book.heading(chapter)
        expected.append((H, chapter))
        for k in range(14):
            text = prose(100 * number + k, sentences=5 + k % 3) + " So it ended."
            book.paragraph(text)
            expected.append((P, text))
    read = read_pdf(book.save(tmp_path))
    assert said(read) == expected
    assert book.page > 6


def test_places(tmp_path: Path) -> None:
    book = Setter()
    for k in range(12):
        book.paragraph(prose(k))
    read = read_pdf(book.save(tmp_path))
    pages = {block.href for block in read.blocks}
    assert pages >= {"#page=1", "#page=2"}
    for page in pages:
        blocks = [block for block in read.blocks if block.href == page]
        whole = "\n".join(block.text for block in blocks)
        assert all(whole[b.offset :].startswith(b.text) for b in blocks)
        assert blocks[0].offset == 0


def test_hyphens_at_line_ends(tmp_path: Path) -> None:
    text = (
        "It was for example a well|-known inter|rup|tion of the con|ver|sa|tion, the kind of inter|"
        "rup|tion that every con|ver|sa|tion by the river suf|fered from in those days. "
    )
    book = Setter()
    for k in range(24):  # the words move along the lines, and are parted in many places
        book.paragraph("x " * k + text.replace("|-", "-") * 2)
    blocks = said(read_pdf(book.save(tmp_path)))
    wanted = (text.replace("|-", "-").replace("|", "") * 2).strip()
    assert blocks == [(P, ("x " * k + wanted).strip()) for k in range(24)]


@pytest.mark.parametrize(
    ("lines", "joined"),
    [
        (["an exam-", "ple of it", "the example"], "an example of it the example"),
        (["a well-", "known man", "was well-known"], "a well-known man was well-known"),
        (["so sweet-", "scented", "a sweet one"], "so sweet-scented a sweet one"),
        (["the Anglo-", "Saxon"], "the Anglo-Saxon"),
        (["half-", "hearted"], "half-hearted"),
        (["watch-", "fulness", "the watch"], "watchfulness the watch"),
        (["incompre-", "hensible"], "incomprehensible"),
        (["self-posses-", "sion", "possession"], "self-possession possession"),
        (["he stopped—", "and went"], "he stopped—and went"),
        (["he stopped--", "and went"], "he stopped--and went"),
        (["pages 12-", "15"], "pages 12- 15"),
        (["soft\u00ad", "ly"], "softly"),
        (["two", "words"], "two words"),
    ],
)
def test_joining_lines(lines: list[str], joined: str) -> None:
    assert Joiner(lines).join(lines) == joined


def test_breaks_centred_lines_and_verse(tmp_path: Path) -> None:
    book = Setter()
    for k in range(8):
        book.paragraph(prose(k))
    book.row += 1
    book.centred("* * *")
    book.row += 1
    book.paragraph(prose(9))
    for line in (
        "The river runs, the river turns,",
        "And so do I,",
        "The candle in the window burns,",
    ):
        book.line(line, LEFT + 40)
    book.paragraph(prose(10))
    manuscript = read_pdf(book.save(tmp_path))
    (verse,) = (block for block in manuscript.blocks if block.kind == V)
    assert [verse.text[at:].split()[0] for at in verse.verse_lines] == ["The", "And", "The"]
    blocks = said(manuscript)
    assert blocks[8:] == [
        (B, "* * *"),
        (P, prose(9)),
        (V, "The river runs, the river turns, And so do I, The candle in the window burns,"),
        (P, prose(10)),
    ]


def test_an_empty_line_parts_sections(tmp_path: Path) -> None:
    book = Setter()
    for k in range(3):
        book.paragraph(prose(k, 3))
    book.row += 1
    book.paragraph(prose(4, 3))
    assert [kind for kind, _ in said(read_pdf(book.save(tmp_path)))] == [P, P, P, B, P]


def test_dialogue_of_single_lines(tmp_path: Path) -> None:
    lines = [f"“Number {k}?” asked Petra." if k % 2 else f"“{k},” said he." for k in range(70)]
    book = Setter()
    book.paragraph(prose(1))
    for line in lines:
        book.paragraph(line)
    book.paragraph(prose(2))
    blocks = said(read_pdf(book.save(tmp_path)))
    assert blocks == [(P, text) for text in (prose(1), *lines, prose(2))]


@pytest.mark.parametrize(
    ("draw", "expected"),
    [
        (lambda book: book.heading("The Ferry Leaves"), [(H, "The Ferry Leaves")]),
        (lambda book: book.heading("IV", font="Times-Roman", size=SIZE), [(H, "IV")]),
        (lambda book: book.heading("CHAPTER V", font="Times-Roman", size=SIZE), [(H, "CHAPTER V")]),
        (lambda book: book.heading("The Ferry", font="Times-Roman", size=SIZE), [(H, "The Ferry")]),
    ],
)
def test_headings_by_size_by_words_and_by_the_papers_rule(tmp_path, draw, expected) -> None:
    book = Setter()
    for k in range(5):
        book.paragraph(prose(k))
    draw(book)
    book.paragraph(prose(7))
    blocks = said(read_pdf(book.save(tmp_path)))
    assert blocks[5:] == [*expected, (P, prose(7))]


@pytest.mark.parametrize("size", [16, SIZE])
def test_chapter_numbers_on_pages_in_a_row_are_no_page_numbers(tmp_path: Path, size: int) -> None:
    numerals = ["I", "II", "III", "IV", "V", "VI"]
    book = Setter()
    for number, numeral in enumerate(numerals):
        book.new_page()
        book.centred(numeral, size=size)
        book.row += 2
        book.paragraph(prose(number))
    blocks = read_pdf(book.save(tmp_path)).blocks
    assert [block.text for block in blocks if block.kind == "heading"] == numerals
    assert len(blocks) == 2 * len(numerals)


def test_large_and_bold_lines_are_headings(tmp_path: Path) -> None:
    book = Setter()
    for chapter in "ABCD":
        book.heading(f"The {chapter} Tale", size=20)
        book.paragraph(prose(1))
        book.row += 1
        book.centred("Later", font="Times-Bold", size=14)
        book.row += 1
        book.paragraph(prose(2))
    blocks = read_pdf(book.save(tmp_path)).blocks
    heads = [block.text for block in blocks if block.kind == "heading"]
    assert heads == [text for c in "ABCD" for text in (f"The {c} Tale", "Later")]


def test_bookmarks_head_chapters_that_have_no_heading(tmp_path: Path) -> None:
    book = Setter()
    for k, title in enumerate(["Morning", "Noon", "Night"]):
        if k:
            book.new_page()
        book.canvas.bookmarkPage(title)
        book.canvas.addOutlineEntry(title, title)
        if title == "Noon":
            book.line("Noon", LEFT + 16)
        for n in range(4):
            book.paragraph(prose(n + k, 3))
    blocks = read_pdf(book.save(tmp_path)).blocks
    heads = [(b.text, b.href) for b in blocks if b.kind == "heading"]
    assert heads == [("Morning", "#page=1"), ("Noon", "#page=2"), ("Night", "#page=3")]
    assert sum(b.text == "Noon" for b in blocks) == 1


def test_two_columns(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "book.pdf"), pagesize=(500, HEIGHT))
    left = [f"Left column line {n} runs on." for n in range(20)]
    right = [f"Right column line {n} runs on." for n in range(20)]
    canvas.setFont("Times-Roman", SIZE)
    for n in range(20):  # drawn across, row by row
        canvas.drawString(50, TOP - PITCH * n, left[n])
        canvas.drawString(270, TOP - PITCH * n, right[n])
    canvas.save()
    text = " ".join(block.text for block in read_pdf(tmp_path / "book.pdf").blocks)
    assert text == " ".join(left + right)


def test_an_initial_is_set_before_its_line(tmp_path: Path) -> None:
    book = Setter(head=None)
    for k in range(4):
        book.paragraph(prose(k))
    book.new_page()
    book.canvas.setFont("Times-Roman", 34)
    book.canvas.drawString(LEFT, TOP - 18, "T")
    book.line("he water rose all night, and in the morning", LEFT + 24)
    book.line("there was no ferry any more at all, nor", LEFT + 24)
    book.line("a landing stage, nor anybody who asked for one.")
    blocks = said(read_pdf(book.save(tmp_path)))
    assert blocks[-1] == (
        P,
        "The water rose all night, and in the morning there was no ferry any more at all, nor "
        "a landing stage, nor anybody who asked for one.",
    )


def test_notes_at_the_foot_are_left_out(tmp_path: Path) -> None:
    book = Setter()
    book.paragraph(prose(1, 3))
    book.line("He went", LEFT + 16)
    x = LEFT + 16 + stringWidth("He went", "Times-Roman", SIZE)
    book.canvas.setFont("Times-Roman", 6)
    book.canvas.drawString(x, TOP - PITCH * (book.row - 1) + 4, "1")
    book.canvas.setFont("Times-Roman", SIZE)
    book.canvas.drawString(x + 4, TOP - PITCH * (book.row - 1), " on to the other side.")
    book.paragraph(prose(2, 3))
    book.canvas.setFont("Times-Roman", 8)
    book.canvas.drawString(LEFT, 80, "1 A note that nobody reads, set in small type.")
    book.canvas.drawString(LEFT, 70, "It has two lines.")
    blocks = said(read_pdf(book.save(tmp_path)))
    assert blocks == [
        (P, prose(1, 3)),
        (P, "He went on to the other side."),
        (P, prose(2, 3)),
    ]


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ("The Ferry", "The Ferry"),
        ("Microsoft Word - a.doc", "book"),
        ("a.indd", "book"),
        ("", "book"),
    ],
)
def test_title(tmp_path: Path, title: str, expected: str) -> None:
    book = Setter()
    book.paragraph(prose(1))
    book.canvas.setTitle(title)
    assert read_pdf(book.save(tmp_path)).title == expected


@pytest.mark.skipif(
    not hasattr(pdfium_c, "FPDFCatalog_GetLanguage"), reason="this PDFium does not tell languages"
)
def test_language(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), lang="en-GB")
    canvas.drawString(100, 100, "Everybody reads this.")
    canvas.save()
    assert read_pdf(tmp_path / "a.pdf").language == "en-GB"


# --- what is wrong with a file ------------------------------------------------------------------


def test_a_scan_needs_ocr(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "scan.pdf"), pagesize=(WIDTH, HEIGHT))
    for number in range(5):
        canvas.rect(50, 50, 200, 300, fill=1)
        canvas.drawString(100, 30, str(number))
        canvas.showPage()
    canvas.save()
    with pytest.raises(InputError, match=r"no text layer.*ocrmypdf"):
        read_pdf(tmp_path / "scan.pdf")


def test_a_password_is_named(tmp_path: Path) -> None:
    canvas = Canvas(str(tmp_path / "a.pdf"), encrypt=StandardEncryption("secret", canPrint=0))
    canvas.drawString(100, 100, "Nobody reads this.")
    canvas.save()
    with pytest.raises(InputError, match="behind a password"):
        read_pdf(tmp_path / "a.pdf")


def test_an_owners_password_does_not_keep_readers_out(tmp_path: Path) -> None:
    lock = StandardEncryption("", ownerPassword="secret", canPrint=0)
    canvas = Canvas(str(tmp_path / "a.pdf"), encrypt=lock)
    canvas.drawString(100, 100, "Everybody reads this.")
    canvas.save()
    assert said(read_pdf(tmp_path / "a.pdf")) == [(P, "Everybody reads this.")]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"plain text", "not a PDF"),
        (b"%PDF-1.7\n%garbage and nothing else", "cut short or damaged"),
    ],
)
def test_broken_files(tmp_path: Path, data: bytes, message: str) -> None:
    (tmp_path / "a.pdf").write_bytes(data)
    with pytest.raises(InputError, match=message):
        read_pdf(tmp_path / "a.pdf")


@pytest.fixture(scope="module")
def sound() -> bytes:
    book = Setter()
    for k in range(12):
        book.paragraph(prose(k))
    with tempfile.TemporaryDirectory() as folder:
        return book.save(Path(folder)).read_bytes()


@pytest.mark.parametrize("share", [0.05, 0.2, 0.5, 0.9])
def test_a_truncated_file_is_an_error(tmp_path: Path, sound: bytes, share: float) -> None:
    (tmp_path / "a.pdf").write_bytes(sound[: int(share * len(sound))])
    with pytest.raises(InputError, match=r"cut short|damaged"):
        read_pdf(tmp_path / "a.pdf")


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=1, max_size=200), st.integers(0, 20_000))
def test_any_bytes_give_blocks_or_our_error(sound: bytes, data: bytes, at: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "a.pdf"
        for damaged in (data, b"%PDF-1.4\n" + data, sound[:at] + data + sound[at + len(data) :]):
            path.write_bytes(damaged)
            with contextlib.suppress(FolioReelError):
                read_pdf(path)
