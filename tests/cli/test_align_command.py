"""`align`, `demo` and `inspect` as a user types them: results, errors, nothing overwritten."""

import json

import pytest
from command_line import assert_one_line, run, write_pair

from folioreel.export.alignment_json import read_document


@pytest.fixture
def pair(tmp_path):
    return write_pair(tmp_path)


def test_align_writes_every_format(pair, tmp_path):
    result = run("align", *pair, "--out", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert "12 sentences, 12 paragraphs, 1 chapter\n" in result.stdout
    names = {path.name for path in (tmp_path / "out").iterdir()}
    assert names == {
        "alignment.json",
        "alignment.csv",
        "alignment.vtt",
        "book.srt",
        "alignment.png",
        "page.html",
    }
    document = read_document(tmp_path / "out" / "alignment.json")
    hoarding = next(x for x in document["links"] if x["text"] == "Who opened the hoarding?")
    assert hoarding["line"] == 17


def test_align_prints_json_and_nothing_else(pair):
    result = run("align", *pair, "--json")
    assert result.exit_code == 0
    assert json.loads(result.stdout)["format"] == "folioreel-alignment"


def test_results_are_kept_unless_forced(pair, tmp_path):
    out = tmp_path / "out"
    assert run("align", *pair, "--out", out).exit_code == 0
    before = (out / "alignment.json").read_bytes()
    again = run("align", *pair, "--out", out)
    assert again.exit_code == 1
    assert "--force" in again.stderr
    assert run("align", *pair, "--out", out, "--force").exit_code == 0
    assert (out / "alignment.json").read_bytes() == before


def test_inspect_counts_a_book_and_a_film(pair):
    result = run("inspect", *pair, "--json")
    assert result.exit_code == 0, result.output
    book, film = json.loads(result.stdout)
    assert (book["kind"], book["sentences"], book["paragraphs"]) == ("book", 12, 12)
    assert book["longest_sentence_words"] == 13
    assert (film["kind"], film["subtitle_sentences"], film["shots"]) == ("film", 5, 0)
    table = run("inspect", *pair)
    assert "unique words" in table.stdout
    assert "subtitle sentences" in table.stdout


def test_inspect_says_what_was_skipped(tmp_path):
    book = tmp_path / "book.html"
    book.write_text(
        "<p>The ferry crossed the river.</p><figcaption>A map of the river.</figcaption>"
    )
    assert "book.html: skipped inside the text: captions (5 words)" in run("inspect", book).stderr


def test_inspect_goes_on_after_a_bad_file(pair, tmp_path):
    (tmp_path / "bad.epub").write_bytes(b"PK\x03\x04 no archive")
    result = run("inspect", pair[0], tmp_path / "bad.epub", "nowhere.mkv", pair[1], "--json")
    assert result.exit_code == 1
    assert [row["kind"] for row in json.loads(result.stdout)] == ["book", "film"]
    bad, nowhere, count = result.stderr.splitlines()[-3:]
    assert "bad.epub: is cut short or damaged" in bad
    assert "nowhere.mkv: no such file" in nowhere
    assert count == "folioreel: 2 of 4 files could not be read"
    assert_one_line(run("inspect", "nowhere.mkv"), "no such file")


@pytest.mark.parametrize("swapped", ["film book", "film film book", "folder book"])
def test_a_film_before_its_book_is_told(pair, tmp_path, swapped):
    book, film = pair
    folder = tmp_path / "parts"
    folder.mkdir()
    (folder / "film.srt").write_bytes(film.read_bytes())
    given = {"book": book, "film": film, "folder": folder}
    result = run("align", *(given[name] for name in swapped.split()))
    assert_one_line(result, "is a film and book.txt is not; give the book first, then the film")


def test_a_folder_of_other_files(pair, tmp_path):
    (tmp_path / "deep" / "deeper").mkdir(parents=True)
    says = "is a folder with no {} in it (subfolders are not searched)"
    book = "book (EPUB, PDF, FB2, HTML, Markdown or plain text)"
    assert_one_line(run("align", tmp_path / "deep", pair[1]), says.format(book))
    film = run("align", pair[0], tmp_path / "deep")
    assert_one_line(film, says.format("video or subtitle file"))


def test_a_wrong_offset_is_told_as_one(pair):
    assert_one_line(run("align", *pair, "--offset", "nan"), "an offset of nan s", "such as -2.4")


@pytest.mark.parametrize("option", ["--language", "--book-language"])
def test_a_folder_of_pairs_takes_no_language(option):
    from folioreel.apps.demo import demo_folder

    refused = run("inspect", demo_folder(), option, "fr")
    assert refused.exit_code == 2
    assert "not for a folder of pairs" in refused.stderr


def test_evaluate_the_demo():
    from folioreel.apps.demo import demo_folder

    result = run("evaluate", demo_folder(), "--json")
    assert result.exit_code == 0, result.output
    (row,) = json.loads(result.stdout)
    assert (row["match"], row["none"]) == (391, 86)
    assert row["near"] > 80


@pytest.mark.slow
def test_demo_sees_the_film_and_scores_itself(tmp_path):
    result = run("demo", "--out", tmp_path / "demo", "--json")
    assert result.exit_code == 0, result.output
    printed = json.loads(result.stdout)
    assert printed["scores"]["near"] > 80
    assert printed["scores"]["ap"] > 90
    assert (printed["shots"]["match"], printed["shots"]["none"]) == (52, 8)
    assert printed["shots"]["near"] > 70
    document = read_document(tmp_path / "demo" / "alignment.json")
    assert document["film"]["shots"] > 80
    assert document["model"]["pictures"] is True
    assert document["book"]["chapters"] == 10
    kinds = {link["kind"] for link in document["links"]}
    assert kinds == {"dialogue", "visual"}


BAD = [
    ("missing.txt", None, "no such file"),
    ("empty.txt", b"", "empty"),
    ("picture.txt", b"\xff\xd8\xff\xe0" + b"\0" * 400, "JPEG"),
    ("binary.txt", bytes(range(256)) * 9, "binary"),
    ("broken.epub", b"PK\x03\x04 cut short", "EPUB"),
    ("broken.pdf", b"%PDF-1.7 cut short", "PDF"),
    ("film.srt", b"1\n00:00:01,000 --> 00:00:02,000\nYes.\n", "subtitle file"),
    ("data.json", b'{"a": 1}', "data"),
]


@pytest.mark.parametrize(("name", "content", "says"), BAD, ids=[name for name, _, _ in BAD])
def test_a_bad_book_is_one_line_and_exit_1(pair, tmp_path, name, content, says):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    result = run("align", path, pair[1], "--out", tmp_path / "out")
    assert result.exit_code == 1
    last = result.stderr.strip().split("\n")[-1]
    assert last.startswith("folioreel: ")
    assert says.lower() in last.lower()
    assert "Traceback" not in result.output
    assert not (tmp_path / "out").exists()


BAD_FILMS = [
    ("missing.mkv", None, "no such file"),
    ("empty.srt", b"", "empty"),
    ("nocue.srt", b"just some words\n\nand more", "subtitle"),
    ("songs.srt", "1\n00:00:01,000 --> 00:00:02,000\n♪ la la ♪\n".encode(), "no speech"),
    ("noise.mkv", bytes(range(256)) * 40, "video"),
]


@pytest.mark.parametrize(("name", "content", "says"), BAD_FILMS, ids=[n for n, _, _ in BAD_FILMS])
def test_a_bad_film_is_one_line_and_exit_1(pair, tmp_path, name, content, says):
    path = tmp_path / name
    if content is not None:
        path.write_bytes(content)
    result = run("align", pair[0], path)
    assert result.exit_code == 1
    last = result.stderr.strip().split("\n")[-1]
    assert last.startswith("folioreel: ")
    assert says.lower() in last.lower()


def test_subtitles_for_a_subtitle_file_make_no_sense(pair):
    result = run("align", *pair, "--subtitles", "nonsense")
    assert result.exit_code == 1
    assert "--subtitles" in result.stderr


def test_wrong_usage_is_exit_2(pair):
    assert run("align", pair[0]).exit_code == 2
    assert run("nonsense").exit_code == 2


def test_an_unknown_preset_names_the_known(pair):
    result = run("align", *pair, "--preset", "magic")
    assert result.exit_code == 1
    assert "paper" in result.stderr


def test_subtitles_are_shifted_and_stretched(pair):
    times = json.loads(run("align", *pair, "--preset", "fast", "--json").stdout)["film"]
    moved = run(
        *("align", *pair, "--preset", "fast", "--offset", "-0.5", "--fps", "25:24", "--json")
    )
    assert moved.exit_code == 0, moved.output
    document = json.loads(moved.stdout)
    for before, after in zip(
        times["subtitle_times_s"], document["film"]["subtitle_times_s"], strict=True
    ):
        assert after == pytest.approx([time_s * 25 / 24 - 0.5 for time_s in before])
    assert document["model"]["options"]["timing"] == {
        "offset_s": -0.5,
        "stretch": pytest.approx(25 / 24),
        "sync": True,
    }


def test_impossible_timing_is_refused(pair):
    for wrong in (("--fps", "25"), ("--stretch", "40"), ("--offset", "nan")):
        assert_one_line(run("align", *pair, *wrong))
    assert run("align", *pair, "--fps", "25:24", "--stretch", "1.04").exit_code == 2


def test_an_empty_name_is_not_the_current_folder():
    result = run("align", "book.txt", "")
    assert result.exit_code == 2
    assert "the name of a file is empty" in result.stderr


def test_a_language_that_does_not_exist(pair, tmp_path):
    for option in ("--language", "--book-language"):
        result = run("align", *pair, option, "Klingon", "--out", tmp_path / "out")
        assert_one_line(result, "'Klingon' is not a language")
        # Before any file is read.
        assert_one_line(run("align", "no.txt", "no.srt", option, "Klingon"), "not a language")
    assert not (tmp_path / "out").exists()


def test_given_languages_are_recorded(pair):
    result = run("align", *pair, "--language", "fr", "--book-language", "German", "--json")
    document = json.loads(result.stdout)
    assert (document["film"]["language"], document["book"]["language"]) == ("fr", "de")
    assert document["model"]["options"]["book_language"] == "German"
