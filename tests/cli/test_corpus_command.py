"""`corpus build`, `stats`, `index` and `search` as a user types them."""

import gzip
import json
import os
import re
import shutil
import signal
import statistics
import subprocess
import sys
import time
from pathlib import Path

import pytest
from command_line import assert_one_line, run
from corpus.made_books import edit_words, make_novel, write_library, write_novels
from corpus.made_stories import build_tales

from folioreel.corpus.manifest import locked

SHORT = ["--min-words", "1500", "--workers", "1"]


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    folder = write_library(tmp_path_factory.mktemp("books") / "library")
    edition = edit_words(make_novel(1), 0.05)
    (folder / "z-edition.txt").write_text(edition, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def built(library, tmp_path_factory):
    out = tmp_path_factory.mktemp("built") / "corpus"
    return out, run("corpus", "build", library, "--out", out, *SHORT)


def test_the_summary_names_what_was_left_out(built):
    out, result = built
    assert result.exit_code == 0, result.output
    lines = [line.rsplit(maxsplit=1) for line in result.stdout.splitlines()[:7]]
    figures = {name.strip(): int(count) for name, count in lines}
    assert figures == {
        "books kept": 8,  # three novels, two pages, an EPUB, a text in a tar, one in a ZIP
        "too short": 1,
        "near-duplicates": 1,
        "excluded": 0,
        "unreadable": 2,
        "other files": 1,  # those in archives are not counted
        "files read now": 12,
    }
    assert "  z-edition.txt: like shelf/novel-01.txt (" in result.stdout
    assert "  empty.txt: the file is empty" in result.stdout
    assert "  kindle.mobi: is a Kindle book" in result.stdout
    assert "short.txt" not in result.stdout
    assert result.stdout.endswith(f"\nwrote {out}\n")
    assert result.stderr == ""


def test_the_summary_as_json_and_nothing_read_twice(built, library):
    out, _ = built
    result = run("corpus", "build", library, "--out", out, *SHORT, "--json")
    report = json.loads(result.stdout)
    assert (report["kept"], report["files_read"]) == (8, 0)
    assert (report["short"], report["duplicate"], report["held_out"]) == (1, 1, 0)
    statuses = {book["path"]: book["status"] for book in report["left_out"]}
    assert statuses == {
        "empty.txt": "unreadable",
        "kindle.mobi": "unreadable",
        "short.txt": "short",
        "z-edition.txt": "duplicate",
    }


def test_excluded_books_stay_out(library, tmp_path):
    write_novels(tmp_path / "judged", range(2, 3))
    (tmp_path / "judged" / "broken.pdf").write_bytes(b"%PDF-1.7 cut short")
    result = run(
        *("corpus", "build", library, "--out", tmp_path / "out", *SHORT),
        *("--exclude", tmp_path / "judged"),
    )
    assert result.exit_code == 0, result.output
    assert "  shelf/novel-02.txt: like judged/novel-02.txt (" in result.stdout
    assert "judged/broken.pdf: could not be excluded" in result.stderr


def test_stats_are_the_papers_table(built):
    """Counted here by hand from the corpus's own files: all words are of letters and blanks."""
    out, _ = built
    lengths, words, unique = [], 0, set()
    for path in (out / "books").glob("*.tsv.gz"):
        for line in gzip.decompress(path.read_bytes()).decode().splitlines()[1:]:
            found = re.findall(r"[a-z0-9]+", line.split("\t")[2].lower())
            lengths.append(len(found))
            words += len(found)
            unique |= set(found)
    result = run("corpus", "stats", out, "--json")
    assert result.exit_code == 0, result.output
    table = json.loads(result.stdout)
    assert (table["books"], table["sentences"]) == (8, len(lengths))
    assert (table["words"], table["unique_words"]) == (words, len(unique))
    assert table["mean_sentence_words"] == pytest.approx(words / len(lengths))
    assert table["median_sentence_words"] == statistics.median(lengths)
    text = run("corpus", "stats", out).stdout
    assert re.search(rf"^words +{words:,}$", text, re.MULTILINE)
    assert re.search(rf"^median words per sentence +{statistics.median(lengths):g}$", text, re.M)


def test_missing_and_empty_folders(tmp_path):
    out = tmp_path / "out"
    assert_one_line(run("corpus", "build", tmp_path / "nothing", "--out", out), "is not a folder")
    (tmp_path / "empty").mkdir()
    assert_one_line(run("corpus", "build", tmp_path / "empty", "--out", out), "holds no books")
    assert not out.exists()


def test_out_is_something_else(library, tmp_path):
    mine = tmp_path / "photographs"
    mine.mkdir()
    (mine / "books").write_text("mine", encoding="utf-8")
    assert_one_line(run("corpus", "build", library, "--out", mine), "not a corpus")
    assert (mine / "books").read_text(encoding="utf-8") == "mine"


def test_out_inside_the_books(library):
    inside = library / "shelf" / "corpus"
    assert_one_line(run("corpus", "build", library, "--out", inside), "is inside", "--out")
    assert not inside.exists()
    assert_one_line(run("corpus", "build", library, "--out", library), "is inside")


def test_out_cannot_be_written(library, tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    under_a_file = tmp_path / "file" / "corpus"
    assert_one_line(run("corpus", "build", library, "--out", under_a_file), "cannot be created")
    assert_one_line(run("corpus", "build", library, "--out", tmp_path / "file"), "file")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write all")
def test_out_is_protected(library, tmp_path):
    protected = tmp_path / "protected"
    protected.mkdir(mode=0o500)
    result = run("corpus", "build", library, "--out", protected / "corpus")
    assert_one_line(result, "cannot be created", "Permission denied")


def test_a_second_build_at_once_is_one_line(library, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    says = f"another process is writing to {out}; wait until it has finished"
    with locked(out):
        assert_one_line(run("corpus", "build", library, "--out", out, *SHORT), says)
    assert run("corpus", "build", library, "--out", out, *SHORT).exit_code == 0


def test_settings_out_of_range(library, tmp_path):
    out = tmp_path / "out"
    assert_one_line(run("corpus", "build", library, "--out", out, "--workers", 0), "workers")
    assert_one_line(run("corpus", "build", library, "--out", out, "--min-words", -1), "min_words")
    assert run("corpus", "build", library, "--out", out, "--workers", "x").exit_code == 2
    assert run("corpus", "build", library).exit_code == 2


def test_stats_of_what_is_no_corpus(library, tmp_path):
    assert_one_line(run("corpus", "stats", tmp_path / "nothing"), "is not a corpus")
    assert_one_line(run("corpus", "stats", library), "is not a corpus")


def test_damaged_corpora(built, tmp_path):
    copy = tmp_path / "copy"
    shutil.copytree(built[0], copy)
    book = next((copy / "books").glob("*.tsv.gz"))
    book.write_bytes(book.read_bytes()[:-20])
    assert_one_line(run("corpus", "stats", copy), book.name, "build the corpus again")
    book.unlink()
    assert_one_line(run("corpus", "stats", copy), book.name)
    (copy / "corpus.json").write_bytes((copy / "corpus.json").read_bytes()[:300])
    assert_one_line(run("corpus", "stats", copy), "corpus.json", "damaged")


@pytest.mark.skipif(os.name != "posix", reason="file names are bytes on POSIX alone")
def test_a_name_that_is_no_text_can_be_printed(tmp_path):
    write_novels(tmp_path / "books", range(1))
    try:
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/books/caf\xe9.txt")).write_bytes(b"")
    except OSError:
        pytest.skip("this file system takes UTF-8 names alone")
    command = ["corpus", "build", tmp_path / "books", "--out", tmp_path / "out", *SHORT]
    result = subprocess.run(
        [sys.executable, "-m", "folioreel", *map(str, command)], capture_output=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert b"the file is empty" in result.stdout


@pytest.mark.skipif(os.name != "posix", reason="sends signals as POSIX does")
@pytest.mark.parametrize("workers", [1, 2])
def test_ctrl_c_is_one_line_and_the_next_run_takes_up(tmp_path, workers):
    books, out = tmp_path / "books", tmp_path / "out"
    write_novels(books, range(40), words=4000)
    command = ["corpus", "build", books, "--out", out, "--min-words", 1500, "--workers", workers]
    arguments = [sys.executable, "-m", "folioreel", *map(str, command)]
    # As a terminal does, the signal is sent to the command and to all that it has started.
    process = subprocess.Popen(
        arguments, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, process_group=0
    )
    for _ in range(600):
        if len(list(out.glob("readings/[!.]*.json"))) >= 3 or process.poll() is not None:
            break
        time.sleep(0.05)
    os.killpg(process.pid, signal.SIGINT)
    printed, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert printed == ""
    # A slow machine reports progress before.
    stopped = r"(reading books: [^\n]+\n)*folioreel: stopped; [^\n]*same command again[^\n]*\n"
    assert re.fullmatch(stopped, said), said
    assert_one_line(run("corpus", "stats", out), "is not a corpus")
    known = len(list(out.glob("readings/[!.]*.json")))
    assert 3 <= known < 40
    report = json.loads(run(*command, "--json").stdout)
    assert (report["kept"], report["files_read"]) == (40, 40 - known)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    folder = build_tales(tmp_path_factory.mktemp("tales"))
    result = run("corpus", "index", folder, "--workers", 1)
    assert result.exit_code == 0, result.output
    figures = dict(line.rsplit(maxsplit=1) for line in result.stdout.splitlines())
    assert {name.strip(): int(count) for name, count in figures.items()} == {
        "books": 3,
        "sentences": 18,
        "books added": 3,
        "books removed": 0,
    }
    return folder


def test_the_words_need_no_quotes(corpus):
    result = run("corpus", "search", "who", "has", "been", "robbed", "--corpus", corpus)
    assert result.exit_code == 0, result.output
    first, second = result.stdout.splitlines()[:2]
    assert re.fullmatch(r"1\.000  A Matter of Business: CHAPTER 2", first)
    assert second.strip().startswith("One night the strongbox was empty.")


def test_words_of_another_language_are_named(corpus):
    result = run("corpus", "search", "le fantôme of the gallery", "--corpus", corpus)
    assert result.exit_code == 0
    assert result.stderr.startswith("not found in any book: le, fantôme; check spelling")
    assert run("corpus", "search", "the gallery", "--corpus", corpus).stderr == ""


def test_json(corpus):
    result = run("corpus", "search", "a ghost", "--corpus", corpus, "--count", 2, "--json")
    rows = json.loads(result.stdout)
    assert [set(row) for row in rows] == 2 * [
        {
            *("score", "meaning", "words", "book", "book_id", "path", "chapter"),
            *("chapter_title", "paragraph", "sentence", "text", "passage"),
        }
    ]
    assert rows[0]["text"] == "At midnight a ghost walked along the gallery."
    words = run("corpus", "search", "ghost", "--corpus", corpus, "--by", "words", "--json")
    assert [row["sentence"] for row in json.loads(words.stdout)] == [1]


def test_a_damaged_book_is_listed_at_the_end(tmp_path):
    folder = build_tales(tmp_path)
    book = next((folder / "books").glob("*.tsv.gz"))
    book.write_bytes(b"junk")
    result = run("corpus", "index", folder, "--workers", 1)
    assert result.exit_code == 0, result.output
    assert re.search(r"not indexed:\n  \w+\.txt: .*build the corpus again", result.stdout)
    report = json.loads(run("corpus", "index", folder, "--workers", 1, "--json").stdout)
    assert (report["books"], len(report["failures"])) == (2, 1)
    searched = run("corpus", "search", "night", "--corpus", folder)
    assert searched.exit_code == 0
    assert "not indexed yet: 1;" in searched.stderr


def test_wrong_input_is_one_line(corpus, tmp_path):
    assert_one_line(run("corpus", "search", "x", "--corpus", tmp_path), "is not a corpus")
    assert_one_line(run("corpus", "index", tmp_path), "is not a corpus")
    assert_one_line(
        run("corpus", "search", "Кто там?", "--corpus", corpus), "Cyrillic", "language of the books"
    )
    assert_one_line(run("corpus", "search", "…", "--corpus", corpus), "has no words")
    assert_one_line(run("corpus", "search", "x", "--corpus", corpus, "--count", 0), "at least 1")
    assert_one_line(run("corpus", "index", corpus, "--workers", 0), "at least 1")
    assert_one_line(run("corpus", "index", corpus, "--encoder", "no-such"), "unknown sentence")
    assert run("corpus", "search", "--corpus", corpus).exit_code == 2
    assert run("corpus", "index", corpus, "--engine", "spark").exit_code == 2


def test_books_without_vectors_are_told_once(tmp_path):
    tale = "Vanha seppä takoi hevosenkenkiä koko talvi-illan. Tyttö juoksi metsän läpi rantaan.\n\n"
    (tmp_path / "library").mkdir()
    for name in ("one", "two"):
        (tmp_path / "library" / f"{name}.txt").write_text(f"{name}. {5 * tale}", encoding="utf-8")
    folder = tmp_path / "corpus"
    run("corpus", "build", tmp_path / "library", "--out", folder, "--min-words", 1)
    told = run("corpus", "index", folder, "--workers", 1).stderr
    assert told.count("books in Finnish are found by their words alone") == 1
    told = run("corpus", "search", "seppä takoi talvella", "--corpus", folder).stderr
    assert "searched by words alone: use-multilingual does not know the query's language" in told
    told = run("corpus", "search", "a blacksmith", "--corpus", folder, "--by", "meaning").stderr
    assert told.count("books in Finnish are found by their words alone") == 1
    words = run("corpus", "search", "seppä", "--corpus", folder, "--by", "words")
    assert (words.exit_code, words.stderr) == (0, "")
