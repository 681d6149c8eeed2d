"""Many pairs by a table: each by itself, taken up again, and failures at the end."""

import csv
import json
import re
from dataclasses import replace
from pathlib import Path
from urllib.parse import unquote

import pytest
from click.testing import CliRunner
from lxml import html as lxml_html
from made_pairs import write_pair

from folioreel import align
from folioreel.alignment import aligner
from folioreel.apps import align_many as many
from folioreel.apps.align_many import ManyConfig, align_many, align_pair, read_table
from folioreel.cli import main
from folioreel.errors import ConfigError, InputError
from folioreel.export.estimates import spoken_lines
from folioreel.export.results import write_results
from folioreel.progress import Progress
from folioreel.types import Alignment

HERE = ManyConfig(workers=1)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    write_pair(tmp_path / "ferry", seed=1)
    write_pair(tmp_path / "garden", seed=2)
    path = tmp_path / "pairs.csv"
    path.write_text(
        "name,book,film\n"
        "ferry,ferry/book.txt,ferry/film.srt\n"
        "lost,nowhere/book.txt,garden/film.srt\n"
        "garden,garden/book.txt,garden/film.srt\n",
        encoding="utf-8",
    )
    return path


def test_each_row_is_aligned_as_align_does(table: Path, tmp_path: Path) -> None:
    results = align_many(table, tmp_path / "out", HERE)
    assert [(result.name, result.status) for result in results] == [
        ("ferry", "aligned"),
        ("lost", "failed"),
        ("garden", "aligned"),
    ]
    assert "nowhere/book.txt" in results[1].reason
    assert not (tmp_path / "out" / "lost").exists()
    alignment = align(tmp_path / "ferry/book.txt", tmp_path / "ferry/film.srt")
    alignment = replace(alignment, film=replace(alignment.film, title="ferry"))
    for path in write_results(alignment, tmp_path / "alone"):
        assert (tmp_path / "out/ferry" / path.name).read_bytes() == path.read_bytes()
    assert (results[0].moments, results[0].in_book) == (
        len(alignment.links),
        sum(link.in_book for link in alignment.links),
    )


def test_a_summary_lists_all_and_links_the_pages(table: Path, tmp_path: Path) -> None:
    text = table.read_text(encoding="utf-8").replace("garden,", '"A & B, 1 #2",', 1)
    table.write_text(text, encoding="utf-8")
    out = tmp_path / "out"
    results = align_many(table, out, HERE)
    with (out / "summary.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["name"], row["status"]) for row in rows] == [
        ("ferry", "aligned"),
        ("lost", "failed"),
        ("A & B, 1 #2", "aligned"),
    ]
    assert "nowhere/book.txt" in rows[1]["remarks"]
    for row in (rows[0], rows[2]):
        share = spoken_lines(Alignment.load(out / row["name"])).share()
        assert share is not None
        assert float(row["share_of_lines_in_book"]) == pytest.approx(share.value, abs=1e-4)
        assert float(row["share_of_lines_in_book_high"]) == pytest.approx(share.high, abs=1e-4)
    page = lxml_html.parse(out / "index.html")
    links = [unquote(href) for href in page.xpath("//td/a/@href")]
    assert links == ["ferry/page.html", "A & B, 1 #2/page.html"]
    assert all((out / link).is_file() for link in links)
    assert "A & B, 1 #2" in page.xpath("//td/a/text()")
    before = {path: path.read_bytes() for path in (out / "index.html", out / "summary.csv")}
    assert [result.status for result in align_many(table, out, HERE)] == ["kept", "failed", "kept"]
    assert {path: path.read_bytes() for path in before} == before
    assert results[0].share is not None


@pytest.mark.parametrize("name", ["index.html", "summary.csv"])
def test_a_file_that_is_not_ours_is_not_replaced(table: Path, tmp_path: Path, name: str) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).write_text("mine", encoding="utf-8")
    with pytest.raises(InputError, match="is not a summary of align-many"):
        align_many(table, tmp_path / "out", HERE)
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]
    align_many(table, tmp_path / "out", ManyConfig(workers=1, force=True))
    assert (tmp_path / "out" / name).read_text(encoding="utf-8") != "mine"


def test_the_pairs_that_run_are_named(table: Path, tmp_path: Path) -> None:
    told: list[Progress] = []
    align_many(table, tmp_path / "out", HERE, told.append)
    assert [(each.done, each.name) for each in told] == [
        (0, "ferry"),
        (1, "lost"),
        (2, "garden"),
        (3, ""),
    ]
    many._report(["ferry", "lost", "garden"], 9, ManyConfig(workers=2), told.append)
    assert (told[-1].done, told[-1].total, told[-1].name) == (6, 9, "ferry, lost")


def test_what_is_done_is_kept(table: Path, tmp_path: Path, monkeypatch) -> None:
    out = tmp_path / "out"
    first = align_many(table, out, HERE)
    (out / "garden" / "alignment.json").unlink()  # as after a kill: it is written last
    for path in (out / "garden").iterdir():
        path.unlink()
    write_pair(tmp_path / "third", seed=3)
    with table.open("a", encoding="utf-8") as file:
        file.write("third,third/book.txt,third/film.srt\n")
    aligned = []

    def note(task):
        aligned.append(task.name)
        return align_pair(task)

    monkeypatch.setattr(many, "align_pair", note)
    second = align_many(table, out, HERE)
    assert aligned == ["lost", "garden", "third"]
    assert [result.status for result in second] == ["kept", "failed", "aligned", "aligned"]
    assert (second[0].moments, second[0].in_book) == (first[0].moments, first[0].in_book)


def test_other_results_are_not_overwritten(table: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    align_many(table, out, HERE)
    before = (out / "ferry" / "alignment.json").read_bytes()
    book = tmp_path / "ferry" / "book.txt"
    book.write_text(book.read_text() + "\nOne more sentence at the end.\n")
    (result, *_) = align_many(table, out, HERE)
    assert result.status == "failed"
    assert "--force" in result.reason
    assert (out / "ferry" / "alignment.json").read_bytes() == before
    (result, *_) = align_many(table, out, ManyConfig(workers=1, force=True))
    assert result.status == "aligned"
    assert (out / "ferry" / "alignment.json").read_bytes() != before
    (out / "ferry" / "alignment.json").write_text("{", encoding="utf-8")
    (result, *_) = align_many(table, out, HERE)
    assert "is damaged" in result.reason
    (result, *_) = align_many(table, out, ManyConfig(workers=1, force=True))
    assert result.status == "aligned"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "the file is empty"),
        ("book,name\na,b\n", "has no column film"),
        ("book,film,colour\na,b,c\n", "unknown column 'colour'"),
        ("book,film\n", "has no rows"),
        ("book,film\na.txt,\n", "pairs.csv:2: has no film in this row"),
        ("book,film\na.txt,x/film.srt\nb.txt,y/film.srt\n", "two rows .* with a column `name`"),
        ("book,film,name\na.txt,b.srt,x\nb.txt,c.srt,x\n", "3: two rows .* in the column `name`"),
        ("book,film,name\na.txt,b.srt,../out\n", "cannot be the name of a folder"),
        ("book,film,name\na.txt,b.srt,Index.html\n", "cannot be the name of a folder"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "pairs.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_table(path, HERE)


@pytest.mark.parametrize(
    ("cell", "wanted"),
    [
        ("", None),
        ("fr", "fr"),
        ("3", "3"),
        ("a.srt", "TABLE/a.srt"),
        ("a.srt||c.srt", ["TABLE/a.srt", None, "TABLE/c.srt"]),
        ("|b.srt | none", [None, "TABLE/b.srt", "none"]),
        ("words", "TABLE/words"),  # there is such a file
    ],
)
def test_subtitles_of_the_parts(
    tmp_path: Path, cell: str, wanted: str | list[str | None] | None
) -> None:
    (tmp_path / "words").write_text("x")
    path = tmp_path / "pairs.csv"
    path.write_text(f"book,film,subtitles\na.txt,A 1.mkv|A 2.mkv|A 3.mkv,{cell}\n")
    (task,) = read_table(path, HERE)
    expected = json.loads(json.dumps(wanted).replace("TABLE", str(tmp_path)))
    assert task.subtitles == expected


def test_tabs_and_optional_columns(tmp_path: Path) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes("\ufefffilm\tbook\tsubtitles\nb, c.mkv\ta.txt\tfr\n".encode())
    (task,) = read_table(path, ManyConfig(shots=False))
    assert (task.name, task.subtitles, task.config.shots) == ("b, c", "fr", False)
    assert (task.book, task.film) == ((tmp_path / "a.txt",), (tmp_path / "b, c.mkv",))
    path.write_bytes("Book;Film\r\nÉmile.txt;a,b.srt\r\n".encode("utf-8-sig"))  # European Excel
    (task,) = read_table(path, HERE)
    assert (task.book[0].name, task.film[0].name) == ("Émile.txt", "a,b.srt")
    path.write_bytes(bytes(range(256)))
    with pytest.raises(InputError, match=r"pairs\.tsv"):
        read_table(path, HERE)


def test_the_command(table: Path, tmp_path: Path) -> None:
    arguments = ["align-many", str(table), "--out", str(tmp_path / "out"), "--workers", "1"]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 1
    assert [line.split()[:2] for line in result.stdout.splitlines()[1:]] == [
        ["ferry", "aligned"],
        ["lost", "failed"],
        ["garden", "aligned"],
        ["wrote", str(tmp_path / "out" / "index.html")],
        ["wrote", str(tmp_path / "out" / "summary.csv")],
    ]
    # The share of lines, as in the index, not a number of moments.
    index = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    shares = re.findall(r"\d+ % \(\d+–\d+ %\)", result.stdout)
    assert len(shares) == 2
    assert all(share in index for share in shares)
    assert "\nlost: " in result.stderr
    assert result.stderr.count("only 12 sentences are said in the film") == 2
    for name in ("ferry", "garden"):
        assert f"{name}: only 12 sentences are said in the film" in result.stderr
    assert "folioreel: 1 of 3 pairs failed; the others are in" in result.stderr
    lines = table.read_text(encoding="utf-8").splitlines(keepends=True)
    table.write_text("".join(line for line in lines if "lost" not in line), encoding="utf-8")
    result = CliRunner().invoke(main, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    assert [row["status"] for row in json.loads(result.stdout)] == ["kept", "kept"]
    result = CliRunner().invoke(main, ["align-many", str(tmp_path / "no.csv"), "--out", "x"])
    assert result.exit_code == 1
    assert "no.csv" in result.stderr


def test_warnings_of_a_pair_name_it_once(table: Path, tmp_path: Path, caplog) -> None:
    tasks = {task.name: task for task in read_table(table, HERE)}
    encoder = replace(tasks["ferry"], config=ManyConfig(encoder="skip-thought", shots=False))
    aligner._warn_of_encoder.cache_clear()
    align_pair(encoder)
    (warning,) = (record.getMessage() for record in caplog.records)  # the outcome tells the other
    assert warning.startswith("ferry: the preset default was not trained with the encoder")
    caplog.clear()
    saga = tmp_path / "saga"
    saga.mkdir()
    for name in ("Arrival.srt", "Departure.srt"):
        (saga / name).write_text((tmp_path / "ferry/film.srt").read_text())
    missing = replace(tasks["lost"], film=(saga,), book=(tmp_path / "garden/book.txt",))
    broken = replace(missing, subtitles=["a.srt", "b.srt"])
    with pytest.raises(InputError, match="itself a subtitle file"):
        align_pair(broken)
    (warning,) = (record.getMessage() for record in caplog.records)
    assert warning.startswith("lost: the names of the files in saga have no numbers")


def test_parts_and_volumes_share_a_cell(table: Path, tmp_path: Path) -> None:
    """A row of several files is aligned like a list of them, and kept by the next run."""
    folder = tmp_path / "ferry"
    lines = (folder / "book.txt").read_text().split("\n\n")
    for number, some in enumerate((lines[:30], lines[30:]), 1):
        (folder / f"Vol {number}.txt").write_text("\n\n".join(some))
    for number in (1, 2):
        (folder / f"Ferry CD{number}.srt").write_text((folder / "film.srt").read_text())
    table.write_text(
        "book,film\nferry/Vol 1.txt | ferry/Vol 2.txt,ferry/Ferry CD1.srt|ferry/Ferry CD2.srt\n"
    )
    (result,) = align_many(table, tmp_path / "out", HERE)
    assert (result.name, result.status, result.moments) == ("Ferry", "aligned", 24)
    alignment = align(
        [folder / "Vol 1.txt", folder / "Vol 2.txt"],
        [folder / "Ferry CD1.srt", folder / "Ferry CD2.srt"],
    )
    for path in write_results(alignment, tmp_path / "alone"):
        there = tmp_path / "out" / "Ferry" / path.relative_to(tmp_path / "alone")
        assert there.read_bytes() == path.read_bytes()
    assert align_many(table, tmp_path / "out", HERE)[0].status == "kept"
    with (folder / "Ferry CD2.srt").open("a") as file:
        file.write("\n")
    again = align_many(table, tmp_path / "out", HERE)[0]
    assert again.status == "failed"  # another film: not overwritten without force


def test_languages_by_row_or_for_all(tmp_path: Path) -> None:
    write_pair(tmp_path / "ferry", seed=1)
    write_pair(tmp_path / "garden", seed=2)
    table = tmp_path / "pairs.csv"
    table.write_text(
        "name,book,film,book_language\n"
        "ferry,ferry/book.txt,ferry/film.srt,German\n"
        "garden,garden/book.txt,garden/film.srt,\n",
        encoding="utf-8",
    )
    config = ManyConfig(workers=1, preset="fast", language="fr")
    assert {result.status for result in align_many(table, tmp_path / "out", config)} == {"aligned"}
    for name, book in [("ferry", "de"), ("garden", "en")]:
        found = json.loads((tmp_path / "out" / name / "alignment.json").read_text("utf-8"))
        assert (found["book"]["language"], found["film"]["language"]) == (book, "fr")
    assert {result.status for result in align_many(table, tmp_path / "out", config)} == {"kept"}
    other = ManyConfig(workers=1, preset="fast", force=True)
    assert {result.status for result in align_many(table, tmp_path / "out", other)} == {"aligned"}


def test_a_language_that_does_not_exist_is_refused_at_once(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="not a language"):
        align_many(tmp_path / "none.csv", tmp_path / "out", ManyConfig(language="Klingon"))
