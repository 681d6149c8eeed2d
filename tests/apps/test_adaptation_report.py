"""Reports and comparisons as files: the same figures everywhere, nothing from elsewhere."""

import csv
import html
import json
import re
from dataclasses import replace

import pytest
from command_line import assert_one_line, run
from conftest import make_book, make_film
from lxml import etree
from lxml import html as lxml_html
from made_reports import SPOKEN_TEN, align_by_hand, make_long_book
from markdown_it import MarkdownIt

from folioreel.apps.compare import compare_alignments
from folioreel.apps.report import make_report
from folioreel.apps.report_pages import to_html, to_markdown, write_report_files
from folioreel.errors import AlignmentError, InputError
from folioreel.types import Alignment


@pytest.fixture
def alignment():
    film = make_film(SPOKEN_TEN, duration_s=100.0, shots=False)
    places, scores = [0, 0, 1, 2, 3, 6, 6, 7, 11, 11], [0.9] * 5 + [0.4] * 5
    return align_by_hand(replace(film, title="A <film> & more"), make_book(), places, scores)


def read_csv(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def test_the_files_agree(alignment, tmp_path):
    files = write_report_files(make_report(alignment), tmp_path / "out", "report", force=False)
    assert all(path.is_file() for path in files)
    shares = {row["figure"]: row for row in read_csv(tmp_path / "out" / "shares.csv")}
    lines = shares["share of lines of the film that are in the book"]
    assert float(lines["share"]) == 0.65
    assert float(lines["share_low"]) < 0.65 < float(lines["share_high"])
    shown = f"65 % ({100 * float(lines['share_low']):.0f}–{100 * float(lines['share_high']):.0f} %)"
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    text = (tmp_path / "out" / "report.md").read_text(encoding="utf-8")
    assert shown in page
    assert shown in text
    assert [row["chapter"] for row in read_csv(tmp_path / "out" / "chapters.csv")] == ["One", "Two"]
    with pytest.raises(InputError, match="--force"):
        write_report_files(make_report(alignment), tmp_path / "out", "report", force=False)


def test_the_page_needs_nothing_else(alignment):
    page = to_html(make_report(alignment))
    root = lxml_html.document_fromstring(page)
    assert "A <film> & more" in root.findtext("head/title")
    assert not root.xpath("//script | //link | //img | //@src | //@href[not(starts-with(., '#'))]")
    assert not re.search(r"url\(|@import", page)
    assert len(root.xpath("//table")) >= 4


def test_drawings_are_svg(alignment, tmp_path):
    write_report_files(make_report(alignment), tmp_path, "report", force=False)
    for name in ("chapters", "scenes", "order", "renderings"):
        root = etree.parse(tmp_path / f"{name}.svg").getroot()
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        assert root.findtext("{http://www.w3.org/2000/svg}title")
    lines = etree.parse(tmp_path / "order.svg").getroot().xpath("//*[@class='line']")
    assert len(lines) == 5  # one for each link that claims to be in the book


def test_markdown_has_the_tables_of_the_page(alignment):
    report = make_report(alignment)
    rendered = MarkdownIt("commonmark").enable("table").render(to_markdown(report))
    rows = [
        [html.unescape(cell.strip()) for cell in re.findall(r"<t[dh][^>]*>(.*?)</t[dh]>", row)]
        for row in re.findall(r"<tr>(.*?)</tr>", rendered, re.S)
    ]
    page = lxml_html.document_fromstring(to_html(report))
    shown = [[cell.text_content() for cell in row] for row in page.iter("tr")]
    assert rows == shown


def test_nothing_in_the_book(alignment, tmp_path):
    absent = replace(
        alignment, links=tuple(replace(k, score=0.01, in_book=False) for k in alignment.links)
    )
    report = make_report(absent)
    write_report_files(report, tmp_path, "report", force=False)
    assert "no line is in the book" in to_html(report)
    header = (tmp_path / "moved.csv").read_text(encoding="utf-8").strip()
    assert header == "film,lines,moved_by_paragraphs,chance,chapter,passage"


def test_a_film_in_which_nobody_speaks(tmp_path):
    film = make_film((), duration_s=20.0)
    alignment = align_by_hand(film, make_book(), [0, 2, 4, 8], [0.9] * 4)
    report = make_report(alignment)
    write_report_files(report, tmp_path, "report", force=False)
    assert "Too few lines are in the book" in to_html(report)


def test_a_chapter_with_hardly_any_time_has_no_rate(tmp_path):
    slow = [(10 * start_s, 10 * end_s, text) for start_s, end_s, text in SPOKEN_TEN]
    film = make_film(slow, duration_s=1000.0, shots=False)
    alignment = align_by_hand(film, make_book(), [0] * 9 + [8], [0.9] * 9 + [0.4])
    write_report_files(make_report(alignment), tmp_path, "report", force=False)
    first, second = read_csv(tmp_path / "chapters.csv")
    # 54 words in 15 minutes, nine tenths of which are expected to be in the chapter.
    assert float(first["words_a_minute"]) == pytest.approx(int(first["words"]) / 13.5, rel=1e-3)
    assert second["words_a_minute"] == second["words_a_minute_low"] == ""


def test_films_of_one_book(alignment):
    other = align_by_hand(
        replace(alignment.film, title="Other"), alignment.book, [8] * 10, [0.99] * 10
    )
    report = compare_alignments([alignment, other])
    tables = {s.table.name: s.table.rows for s in report.sections if s.table}
    assert [row["adaptation"] for row in tables["compare"]] == ["A <film> & more", "Other"]
    # As the index of align-many and the report say it: 100 s are two minutes.
    assert [row["minutes"] for row in tables["compare"]] == [2, 2]
    tau = tables["compare"][0]["Kendall’s_τ"]
    assert tau.low <= tau.value <= tau.high
    page = lxml_html.document_fromstring(to_html(report))
    cell = page.xpath("//td[contains(., ' to ')]")[0]
    assert cell.get("class") == "number"
    assert cell.text == f"{tau.value:.2f} ({tau.low:.2f} to {tau.high:.2f})"
    overlap = {row["kept_by"]: row["share"].value for row in tables["overlap"]}
    assert overlap["all"] == 0  # the other film has paragraph 4 alone, which this one has not
    assert sum(overlap.values()) == pytest.approx(1)
    first, second = tables["chapters"]
    assert first["kept by Other"].value == 0
    # 14 of the 54 words of the second chapter are in that paragraph.
    assert second["kept by Other"].value == pytest.approx(14 / 54)


def test_one_film_and_two_books(alignment):
    book = replace(make_book([f"Another sentence {k}." for k in range(20)]), title="Other book")
    other = align_by_hand(alignment.film, book, range(10), [0.8] * 10)
    report = compare_alignments([alignment, other])
    tables = {s.table.name: s.table.rows for s in report.sections if s.table}
    (scene,) = tables["scenes"]
    assert scene["kept from Sixty-One"].value == pytest.approx(0.65)
    assert scene["kept from Other book"].value == pytest.approx(0.8)
    overlap = {row["kept_by"]: row["share"].value for row in tables["overlap"]}
    assert overlap["all"] == pytest.approx(0.65 * 0.8)


def test_what_has_nothing_in_common(alignment):
    book = make_book([f"Another sentence {k}." for k in range(20)])
    film = make_film(SPOKEN_TEN[:5], duration_s=60.0, shots=False)
    with pytest.raises(AlignmentError, match="neither the same book nor the same film"):
        compare_alignments([alignment, align_by_hand(film, book, range(5), [0.8] * 5)])
    with pytest.raises(AlignmentError, match="two results or more"):
        compare_alignments([alignment])


def test_the_commands(result, tmp_path):
    found = run("report", result)
    assert found.exit_code == 0, found.output
    assert "of the film’s lines are in the book" in found.stdout
    assert (result / "report" / "report.html").is_file()
    assert_one_line(run("report", result), "--force")
    found = run("compare", result, result, "--out", tmp_path / "both", "--json")
    assert found.exit_code == 0, found.output
    assert (tmp_path / "both" / "compare.html").is_file()
    assert_one_line(run("compare", result, "--out", tmp_path / "one"), "two results or more")
    assert_one_line(run("report", tmp_path / "nothing"), "nothing")


def test_reports_need_no_film_and_pass_warnings_on(result, tmp_path):
    path = result / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["warnings"] = ["this does not look like the film of this book"]
    path.write_text(json.dumps(document), encoding="utf-8")
    whole = run("report", result, "--out", tmp_path / "whole")
    (result.parent / "film.mp4").unlink()
    found = run("report", result, "--out", tmp_path / "moved")
    assert found.exit_code == 0, found.output
    assert found.stderr == whole.stderr
    assert found.stderr == "folioreel: film: this does not look like the film of this book\n"
    page = (tmp_path / "moved" / "report.html").read_text(encoding="utf-8")
    assert page == (tmp_path / "whole" / "report.html").read_text(encoding="utf-8")
    both = run("compare", result, result, "--out", tmp_path / "both")
    assert both.exit_code == 0
    assert both.stderr.count("this does not look like the film") == 2
    page = (tmp_path / "both" / "compare.html").read_text(encoding="utf-8")
    assert "Warning: film (1): this does not look like the film of this book." in page
    # A table needs no pictures either; the page does, and says where to get them.
    assert run("export", result, "--as", "csv", "--as", "eaf").exit_code == 0
    assert_one_line(run("export", result, "--as", "page"), "film.mp4 is not there", "--film")


def test_who_speaks(alignment, tmp_path):
    assert "speakers" not in {s.table.name for s in make_report(alignment).sections if s.table}
    names = ["PETRA", "Petra", "petra", None, None, "Gus", "Gus", "GUS", "Gus", None]
    film = replace(
        alignment.film,
        subtitles=tuple(
            replace(said, speaker=name)
            for said, name in zip(alignment.film.subtitles, names, strict=True)
        ),
    )
    alignment = replace(alignment, film=film)
    write_report_files(make_report(alignment), tmp_path, "report", force=False)
    gus, petra = read_csv(tmp_path / "speakers.csv")
    assert (gus["speaker"], gus["lines"], petra["speaker"].lower(), petra["lines"]) == (
        "Gus",
        "4",
        "petra",
        "3",
    )
    # The probabilities of the first five lines are 0.9, of the others 0.4.
    assert float(petra["share_in_book"]) == pytest.approx(0.9)
    assert float(gus["share_in_book"]) == pytest.approx(0.4)
    assert gus["share_verbatim"] == ""  # none of the links claims to be right
    assert "name the speaker of 7 of 10 lines" in (tmp_path / "report.md").read_text("utf-8")


def test_speakers_are_kept_in_the_alignment(tmp_path):
    book = tmp_path / "book.txt"
    book.write_text("\n\n".join(make_book().sentences[k].text for k in range(12)), "utf-8")
    film = tmp_path / "film.srt"
    film.write_text(
        "1\n00:00:01,000 --> 00:00:02,000\nPETRA: Sixty-one kilos, she said.\n\n"
        "2\n00:00:05,000 --> 00:00:06,000\nThe band played in the malt-house.\n"
    )
    assert run("align", book, film, "--out", tmp_path / "result").exit_code == 0
    read = Alignment.load(tmp_path / "result")
    assert [said.speaker for said in read.film.subtitles] == ["PETRA", None]
    rows = read_csv(tmp_path / "result" / "alignment.csv")
    assert [row["speaker"] for row in rows] == ["PETRA", ""]


def test_numbers_and_drawings_are_printed_alike(alignment, tmp_path):
    far = align_by_hand(
        alignment.film, make_long_book(90), [80, 81, 82, 83, 84, 0, 85, 86, 87, 88], [0.9] * 10
    )
    report = make_report(far)
    text = to_markdown(report)
    assert "| −84 |" in text
    assert "| -84 |" not in text
    write_report_files(report, tmp_path, "report", force=False)
    assert read_csv(tmp_path / "moved.csv")[0]["moved_by_paragraphs"] == "-84"
    for path in tmp_path.glob("*.svg"):
        written = "".join(etree.parse(path).getroot().itertext())
        assert not re.search(r"\d%", written.partition("}\n\n")[2] or written), path
    order = [t.text for t in etree.parse(tmp_path / "order.svg").iter("{*}text")]
    assert [title for title in order if title in ("One", "Two")] == ["One", "Two"]
    scenes = [t.text for t in etree.parse(tmp_path / "scenes.svg").iter("{*}text")]
    assert scenes[-5:] == ["0 %", "25 %", "50 %", "75 %", "100 %"]


def test_what_is_quoted_has_its_language(alignment):
    assert "lang=" not in to_html(make_report(alignment)).partition("<main>")[2]
    book, film = replace(alignment.book, language="ar"), replace(alignment.film, language="fr")
    page = to_html(make_report(replace(alignment, book=book, film=film)))
    assert page.startswith('<!doctype html>\n<html lang="en">')
    assert '<td class="text" lang="ar" dir="rtl">' in page
    assert '<td class="text" lang="fr">' in page
