"""What a judged pair may look like, and what is said of one that is broken."""

import pytest

from folioreel.errors import InputError
from folioreel.evaluate.dataset import find_pairs, load_pair, load_pair_film
from folioreel.evaluate.metrics import (
    PlacedLink,
    ShotScores,
    judge_links,
    score_by_kind,
    score_links,
    score_shots,
)

BOOK = "\n\n".join(f"Paragraph {n} of the book tells of a ferry." for n in range(30)) + "\n"
HEAD = "id\tverdict\thow\tline_from\tline_to\talternates\tnote"


def stamp(second):
    return f"00:{second // 60:02}:{second % 60:02},000"


def write_judged(folder, gold, sentences=None, head=HEAD):
    folder.mkdir(exist_ok=True)
    (folder / "book.txt").write_text(BOOK)
    lines = [f"{k}\t{k}.0\t{k}.9\tLine {k}." for k in range(20)] if sentences is None else sentences
    (folder / "film_sentences.tsv").write_text("\n".join(["id\tstart_s\tend_s\ttext", *lines]))
    (folder / "gold.tsv").write_text("\n".join([head, *gold]) + "\n")
    return folder


def write_annotated(folder, table, name="annotations.tsv"):
    """A film that says a sentence every ten seconds, and annotations."""
    folder.mkdir(exist_ok=True)
    (folder / "book.txt").write_text(BOOK)
    cues = [
        f"{k + 1}\n{stamp(10 * k)} --> {stamp(10 * k + 4)}\nThis is what number {k} says.\n"
        for k in range(20)
    ]
    (folder / "film.srt").write_text("\n".join(cues))
    (folder / name).write_text(table)
    return folder


def test_a_judged_pair(tmp_path):
    pair = load_pair(
        write_judged(
            tmp_path / "pair",
            [
                "3\tmatch\treported\t3\t5\t9-9;-; 11-13\tnote",
                "",
                "4\tnone\t-\t-\t-",
                "5\tscene\t-\t1\t1",
            ],
        )
    )
    match, none, scene = pair.judgements
    assert (match.line, match.verdict, match.how, match.kind) == (
        3,
        "match",
        "reported",
        "dialogue",
    )
    assert match.passages == ((3, 5), (9, 9), (11, 13))
    assert (none.verdict, none.passages) == ("none", ())
    assert (scene.verdict, scene.how, scene.times_s) == ("scene", "-", None)
    assert pair.film.name == "film.srt"


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("0\tperhaps\t-\t1\t1\t-\t", "perhaps"),
        ("x\tmatch\t-\t1\t1\t-\t", "id 'x'"),
        ("20\tmatch\t-\t1\t1\t-\t", "sentences 0 to 19"),
        ("-1\tnone", "sentences 0 to 19"),
        ("0\tmatch\t-\tone\t1\t-\t", "line 'one'"),
        ("0\tmatch", "line ''"),
        ("0\tmatch\t-\t5\t1\t-\t", "lines 5 to 1"),
        ("0\tmatch\t-\t1\t500\t-\t", "lines 1 to 500"),
        ("0\tmatch\t-\t1\t1\t3-x\t", "line 'x'"),
        ("0", "verdict ''"),
    ],
)
def test_a_bad_judgement_is_named(tmp_path, row, says):
    folder = write_judged(tmp_path / "pair", ["1\tnone", "", row])  # the blank line counts
    with pytest.raises(InputError, match=says) as error:
        load_pair(folder)
    assert str(error.value).startswith(f"{folder / 'gold.tsv'}:4: ")


@pytest.mark.parametrize(
    ("rows", "says"),
    [
        (["0\t0\t1\tOne.", "1\tsoon\t2\tTwo."], ":3: .*'soon'"),
        (["0\t0\t1\tOne.", "one\t1\t2\tTwo."], ":3: .*'one'"),
        (["0\t0\t1\tOne.", "2\t1\t2\tTwo."], "sentence 2 where 1 is expected"),
        ([], "no rows"),
    ],
)
def test_a_bad_sentence_is_named(tmp_path, rows, says):
    folder = write_judged(tmp_path / "pair", ["0\tnone"], sentences=rows)
    with pytest.raises(InputError, match=rf"film_sentences\.tsv.*{says}"):
        load_pair(folder)


def test_a_missing_column_is_named(tmp_path):
    folder = write_judged(tmp_path / "pair", ["0\tnone"], head="id\tverdict")
    with pytest.raises(InputError, match="no column line_from, line_to"):
        load_pair(folder)


def test_what_is_no_dataset(tmp_path):
    with pytest.raises(InputError, match="no judged pair"):
        find_pairs(tmp_path)
    with pytest.raises(InputError, match="not a folder"):
        find_pairs(tmp_path / "none")
    (tmp_path / "gold.tsv").write_text("id\tverdict\n")
    with pytest.raises(InputError, match=r"film_sentences\.tsv"):
        load_pair(tmp_path)


@pytest.mark.parametrize("film", ["film.srt", "film.mp4"])
def test_a_pair_without_judgements_is_named(tmp_path, film):
    judged = write_judged(tmp_path / "judged", ["0\tnone"])
    other = tmp_path / "other"
    other.mkdir()
    (other / "book.txt").write_text("A book without a film is no pair.\n")
    assert find_pairs(tmp_path) == [judged]
    (other / film).write_text("")
    with pytest.raises(InputError, match="no judgements") as error:
        find_pairs(tmp_path)
    assert error.value.path == other


def test_a_video_that_is_text(tmp_path):
    """Such as a page that says that the download failed: there are no subtitles to be dropped."""
    folder = write_judged(tmp_path / "pair", ["0\tnone"])
    (folder / "film.srt").write_text("1\n00:00:01,000 --> 00:00:03,000\nThe ferry is late.\n")
    (folder / "film.mp4").write_text("Not found\n")
    with pytest.raises(InputError, match="plain text without times; give a video") as error:
        load_pair_film(load_pair(folder))
    assert error.value.path == folder / "film.mp4"
    (folder / "film.mp4").write_text((folder / "film.srt").read_text())
    with pytest.raises(InputError, match="itself a subtitle file; drop"):
        load_pair_film(load_pair(folder))


def test_times_and_lines_alone(tmp_path):
    folder = write_annotated(tmp_path / "pair", "21.5\t11\n0:01:07\t31\n")
    assert find_pairs(tmp_path) == [folder]
    pair = load_pair(folder)
    assert len(pair.spoken) == 20
    first, second = pair.judgements
    assert (first.line, first.times_s, first.passages) == (2, (21.5, 21.5), ((11, 11),))
    # 67 s lies between the lines at 60–64 s and 70–74 s: 3 s from both, the first is taken.
    assert (second.line, second.times_s, second.passages) == (6, (67.0, 67.0), ((31, 31),))
    assert {j.verdict for j in pair.judgements} == {"match"}


def test_a_full_table_of_annotations(tmp_path):
    folder = write_annotated(
        tmp_path / "pair",
        "time_s,end_s,line,line_to,kind\n20,24,11,13,dialogue\n68,,31,,visual\n120,,41,-,Audio\n",
        "annotations.csv",
    )
    pair = load_pair(folder)
    semicolons = (folder / "annotations.csv").read_text().replace(",", ";").replace("20;", "20,0;")
    (folder / "annotations.csv").write_text(semicolons, encoding="utf-8-sig")
    assert load_pair(folder).judgements == pair.judgements
    assert [j.kind for j in pair.judgements] == ["dialogue", "visual", "audio"]
    assert pair.judgements[0].times_s == (20.0, 24.0)
    assert pair.judgements[0].passages == ((11, 13),)
    links = [
        PlacedLink(start_s=20, end_s=24, line=13, score=0.9),  # in the passage itself
        PlacedLink(start_s=60, end_s=64, line=1, score=0.5),  # far from the book's line 31
        PlacedLink(start_s=70, end_s=74, line=33, score=0.4),  # nearest to 68 s: one off
    ]
    scores = score_links(pair, links)
    assert (scores.match, scores.none, scores.auroc) == (3, 0, None)
    # The link nearest to 120 s is that of 70 s, on line 33: four paragraphs from 41.
    assert (scores.near, scores.strict, scores.recall) == (66.67, 33.33, 66.67)
    apart = score_by_kind(judge_links(pair, links))
    assert [apart[kind].near for kind in ("audio", "dialogue", "visual")] == [0.0, 100.0, 100.0]


def test_recall_counts_five_sentences_around_an_annotated_time(tmp_path):
    pair = load_pair(write_annotated(tmp_path / "pair", "100\t41\n"))

    def recall(sentence):
        far = PlacedLink(start_s=100, end_s=104, line=1, score=0.9)
        right = PlacedLink(start_s=10 * sentence, end_s=10 * sentence + 4, line=35, score=0.1)
        return score_links(pair, [far, right]).recall

    assert [recall(k) for k in (4, 5, 9, 15, 16)] == [0.0, 100.0, 100.0, 100.0, 0.0]


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("soon\t11", "'soon'"),
        ("20\televen", "'eleven'"),
        ("20\t900", "lines 1 to"),
        ("20\t0", "lines 1 to"),
        ("20", "line ''"),
    ],
)
def test_a_bad_annotation_is_named(tmp_path, row, says):
    folder = write_annotated(tmp_path / "pair", f"time_s\tline\n20\t11\n{row}\n")
    with pytest.raises(InputError, match=says) as error:
        load_pair(folder)
    assert "annotations.tsv:3" in str(error.value)


@pytest.mark.parametrize(
    ("row", "says"), [("20\t10\t11\tvisual", "before its start"), ("20\t\t11\tsmell", "smell")]
)
def test_a_bad_end_or_kind_is_named(tmp_path, row, says):
    folder = write_annotated(tmp_path / "pair", f"time_s\tend_s\tline\tkind\n{row}\n")
    with pytest.raises(InputError, match=says):
        load_pair(folder)


def test_the_benchmark_can_be_read(shared):
    for folder in find_pairs(shared / "benchmark"):
        pair = load_pair(folder)
        assert {j.how for j in pair.judgements if j.verdict == "match"} <= {
            "verbatim",
            "paraphrase",
            "reported",
        }
        assert len(pair.judgements) == 110


def write_shots(folder, *rows, head="shot\tstart_s\tend_s\tverdict\tline_from\tline_to"):
    (folder / "shots.tsv").write_text("\n".join([head, *rows]) + "\n")
    return folder


def test_judged_silent_shots(tmp_path):
    folder = write_judged(tmp_path / "pair", ["0\tnone"])
    assert load_pair(folder).shots == ()
    write_shots(
        folder,
        "0\t0.0\t5.0\tnone\t-\t-",
        "1\t5.0\t9.5\tmatch\t11\t13",
        "2\t9.5\t0:00:20\t-\t-\t-",
        "3\t20\t30\tmatch\t41\t41",
    )
    pair = load_pair(folder)
    none, first, second = pair.shots
    assert (none.verdict, none.passages, none.times_s) == ("none", (), (0.0, 5.0))
    assert (first.line, first.passages, first.kind) == (1, ((11, 13),), "visual")
    assert second.times_s == (20.0, 30.0)
    links = [
        PlacedLink(start_s=0, end_s=5, line=1, score=0.9),  # claims what is not in the book
        PlacedLink(start_s=5, end_s=9, line=13, score=0.9),  # in the passage itself
        PlacedLink(start_s=21, end_s=24, line=1, score=0.1, in_book=False),  # far away
    ]
    assert score_shots(pair, links) == ShotScores(
        match=2, none=1, near=50.0, strict=50.0, claimed=50.0, false_claims=1
    )
    # A shot at whose time there is no link is missed, not taken from its neighbour.
    assert score_shots(pair, links[:1]).near == 0.0
    write_shots(folder, "0\t0\t5\tnone\t-\t-")
    assert score_shots(load_pair(folder), links).near is None
    assert score_links(pair, links).none == 1  # the lines are counted as before


@pytest.mark.parametrize(
    ("row", "says"),
    [
        ("0\t5\t0\tnone\t-\t-", "before its start"),
        ("0\t0\t5\tmaybe\t-\t-", "unknown verdict 'maybe'"),
        ("0\t0\t5\tmatch\t-\t-", "line '-'"),
        ("0\t0\t5\tmatch\t1\t900", "lines 1 to 900"),
    ],
)
def test_a_bad_shot_is_named(tmp_path, row, says):
    folder = write_shots(write_judged(tmp_path / "pair", ["0\tnone"]), row)
    with pytest.raises(InputError, match=says) as error:
        load_pair(folder)
    assert str(error.value).startswith(f"{folder / 'shots.tsv'}:2: ")


def test_which_file_is_the_film(tmp_path):
    folder = write_judged(tmp_path / "pair", ["0\tnone"])
    assert (load_pair(folder).film.name, load_pair(folder).subtitles) == ("film.srt", None)
    (folder / "film.mkv").touch()
    assert (load_pair(folder).film.name, load_pair(folder).subtitles) == ("film.mkv", None)
    (folder / "film.srt").touch()
    assert load_pair(folder).subtitles == folder / "film.srt"
    (folder / "film.json").touch()
    assert (load_pair(folder).film.name, load_pair(folder).subtitles) == ("film.json", None)


def test_the_demo_has_judged_shots():
    from folioreel.apps.demo import demo_folder

    shots = load_pair(demo_folder()).shots
    assert [sum(s.verdict == v for s in shots) for v in ("match", "none")] == [52, 8]
