"""Judgements of several moments and sentences, with a kind and a note: saved, exported, carried."""

import csv
import json
from dataclasses import replace

import pytest
from command_line import run
from hypothesis import given
from hypothesis import strategies as st
from lxml import etree
from made_pages import PARAGRAPHS, SILENT, make_alignment, open_session, serving

from folioreel.alignment.aligner import Aligner
from folioreel.errors import InputError
from folioreel.evaluate.dataset import load_pair, load_pair_film
from folioreel.evaluate.judged_tables import read_annotations
from folioreel.evaluate.statistics import describe_dataset
from folioreel.export.alignment_json import alignment_to_dict, read_alignment, write_alignment
from folioreel.export.results import write_format
from folioreel.ingest.book import load_book
from folioreel.ingest.film import load_film
from folioreel.train.judged import judged_moments
from folioreel.viewer.judgement import ReaderJudgement
from folioreel.viewer.judgements import Judgements

SPAN = {
    "moment": 0,
    "moment_to": 2,
    "verdict": "match",
    "sentence": 2,
    "sentence_to": 5,
    "kind": "visual",
    "note": "the weighing, without words",
}


@pytest.fixture
def spanned(result):
    """A result in which three moments were judged together, and the last one on its own."""
    session = open_session(result)
    session.judge(0, SPAN)
    session.judge(1, {"moment": 3, "verdict": "none", "note": "invented"})
    session.close()
    return result


def table(path, delimiter="\t"):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter=delimiter))


def test_a_span_links_all_its_moments_and_is_undone_at_once(browser):
    before = browser.payload()["links"]
    status, answer = browser.post("judge", {"revision": 0, "judgement": SPAN})
    assert (status, answer["revision"]) == (200, 1)
    assert answer["judgements"] == [SPAN]
    links = dict(answer["links"])
    for moment in (0, 1, 2):
        assert 2 <= links[moment]["sentence"] <= 5
        assert (links[moment]["score"], links[moment]["in_book"]) == (1, True)
    status, answer = browser.undo(1)
    assert (status, answer["undone"], answer["judgements"]) == (200, 0, [])
    after = browser.payload()["links"]
    assert [link["sentence"] for link in after] == [link["sentence"] for link in before]


def test_judgements_made_at_once_are_undone_at_once(result):
    """Also in the next session, and each is a judgement of its own."""
    session = open_session(result)
    session.judge(0, {"moment": 3, "verdict": "none"})
    several = [
        {"moment": i, "verdict": "match", "sentence": j} for i, j in ((0, 2), (1, 9), (2, 4))
    ]
    answer = session.judge(1, *several)
    assert answer["judgements"] == [{"moment": 3, "verdict": "none", "sentence": None}, *several]
    links = dict(answer["links"])
    assert [links[i]["sentence"] for i in range(3)] == [2, 9, 4]
    rows = table(result / "judged" / "annotations.tsv")
    assert [row["line"] for row in rows] == ["3", "9", "5"]
    session.close()
    session = open_session(result)
    assert session.judgements.current[1].to_dict() == several[1]
    answer = session.undo(answer["revision"])
    assert (answer["undone"], [j["moment"] for j in answer["judgements"]]) == (0, [3])
    session.close()
    session = open_session(result)
    assert list(session.judgements.current) == [3]
    assert session.undo(session.judgements.revision)["judgements"] == []
    session.close()


def test_of_several_judgements_all_are_kept_or_none(browser):
    right, wrong = ({"moment": i, "verdict": "match", "sentence": 2} for i in (0, 99))
    body = {"revision": 0, "judgements": [right, wrong]}
    status, answer = browser.post("judge", body)
    assert (status, "no moment 99" in answer["error"]) == (400, True)
    assert browser.payload()["judgements"] == []
    body["judgements"] = [right] * 201
    status, answer = browser.post("judge", body)
    assert (status, "at most 200 moments" in answer["error"]) == (400, True)
    body["judgements"] = [right, {**right, "moment": 2}]
    assert browser.post("judge", body)[1]["judgements"] == body["judgements"]


@given(st.integers(0, 30), st.integers(0, 30), st.integers(0, 40), st.integers(0, 40), st.data())
def test_moments_of_a_span_lie_in_its_passage_in_order(first, more, sentence, further, data):
    judgement = ReaderJudgement(
        moment=first,
        moment_to=first + more,
        verdict="match",
        sentence=sentence,
        sentence_to=sentence + further,
    )
    dealt = [judgement.sentence_at(i, -1) for i in judgement.moments]
    assert dealt == sorted(dealt)
    assert dealt[0] == sentence
    assert all(sentence <= j <= sentence + further for j in dealt)
    assert not more or dealt[-1] == sentence + further
    found = data.draw(st.integers(sentence, sentence + further))
    assert judgement.sentence_at(first, found) == found


def test_a_later_judgement_takes_a_moment_out_of_a_span_until_it_is_undone(result):
    session = open_session(result)
    session.judge(0, SPAN)
    answer = session.judge(1, {"moment": 1, "verdict": "none"})
    assert [(j["moment"], j.get("moment_to"), j["verdict"]) for j in answer["judgements"]] == [
        (0, None, "match"),
        (2, None, "match"),
        (1, None, "none"),
    ]
    rows = table(result / "judged" / "annotations.tsv")
    assert [(row["time_s"], row["end_s"]) for row in rows] == [
        ("0.200", "0.900"),
        ("2.200", "2.900"),
    ]
    assert session.undo(2)["judgements"] == [SPAN]
    session.close()


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"moment_to": 4}, "no moment 4"),
        ({"moment": 2, "moment_to": 1}, "comes before"),
        ({"sentence_to": 99}, "no sentence 99"),
        ({"sentence": 5, "sentence_to": 4}, "comes before"),
        ({"sentence_to": True}, "no sentence True"),
        ({"kind": "smell"}, "dialogue, visual or audio"),
        ({"note": ["x"]}, "a note is a text"),
        ({"note": "x" * 1001}, "at most 1000"),
    ],
)
def test_spans_that_cannot_be(browser, result, change, says):
    status, answer = browser.post("judge", {"revision": 0, "judgement": SPAN | change})
    assert status == 400
    assert says in answer["error"]
    assert not (result / "judged").exists()


def test_the_folder_has_spans_in_both_forms(spanned):
    folder = spanned / "judged"
    (row,) = table(folder / "annotations.tsv")
    assert row == {
        "time_s": "0.200",
        "end_s": "2.900",
        "line": "3",
        "line_to": "5",
        "kind": "visual",
        "note": "the weighing, without words",
    }
    gold = table(folder / "gold.tsv")
    assert [(r["id"], r["verdict"], r["line_from"], r["line_to"], r["kind"]) for r in gold] == [
        *((str(i), "match", "3", "5", "visual") for i in range(3)),
        ("3", "none", "-", "-", "dialogue"),
    ]
    pair = load_pair(folder)
    found = judged_moments(pair, load_pair_film(pair), load_book(pair.book))
    assert [set(judged.sentences) >= {2, 3, 4, 5} for judged in found[:3]] == [True] * 3
    (counted,) = describe_dataset(folder)
    assert (counted["dialogue"], counted["visual"]) == (0, 1)  # as rows of annotations.tsv
    # Without the judged lines, the folder is a pair as the paper's annotators made theirs.
    (folder / "gold.tsv").unlink()
    (judged,) = load_pair(folder).judgements
    assert (judged.times_s, judged.passages) == ((0.2, 2.9), ((3, 5),))
    assert (judged.kind, judged.note) == ("visual", "the weighing, without words")


def test_the_kind_and_the_note_are_in_every_export(spanned, tmp_path):
    session = open_session(spanned)
    alignment = session.corrected()
    session.close()
    link = alignment_to_dict(alignment)["links"][1]
    assert (link["kind"], link["judged"]) == ("visual", "match")
    said = {"moments": [0, 2], "sentences": [2, 5], "kind": "visual"}
    assert link["annotation"] == said | {"note": "the weighing, without words"}
    for name in ("json", "csv", "eaf", "tei", "web-annotation", "page"):
        write_format(alignment, name, tmp_path / name)
    write_alignment(alignment, spanned / "alignment.json")
    assert read_alignment(spanned).links == alignment.links  # it satisfies the schema
    rows = table(tmp_path / "csv", ",")
    assert [row["judged_kind"] for row in rows] == ["visual"] * 3 + [""]
    assert [row["note"] for row in rows] == ["the weighing, without words"] * 3 + ["invented"]
    tei = etree.parse(tmp_path / "tei").getroot()
    name = {"t": "http://www.tei-c.org/ns/1.0"}
    assert [link.get("type") for link in tei.iterfind(".//t:link", name)] == ["visual"] * 3
    assert [note.get("target") for note in tei.iterfind(".//t:note", name)] == [
        "#moment-0 #moment-1 #moment-2",
        "#moment-3",
    ]
    first = json.loads((tmp_path / "web-annotation").read_text("utf-8"))["first"]["items"][0]
    assert (first["folioreel:kind"], first["folioreel:moments"]) == ("visual", [0, 2])
    assert first["body"][1]["value"] == "the weighing, without words"
    assert b"the weighing, without words" in (tmp_path / "eaf").read_bytes()
    assert '"moment_to":2' in (tmp_path / "page").read_text("utf-8")


@pytest.mark.parametrize("form", ["csv", "annotations"])
def test_tables_bring_spans_back(spanned, tmp_path, form):
    corrections = spanned / "judged" / "annotations.tsv"
    if form == "csv":
        corrections = tmp_path / "corrected.csv"
        assert run("export", spanned, "--as", "csv", "--out", corrections).exit_code == 0
    assert json.loads(run("import", spanned, corrections, "--json").stdout)["new"] == 0
    fresh = make_alignment(tmp_path / "fresh")
    assert run("import", fresh, corrections).exit_code == 0
    current = Judgements(read_alignment(fresh), fresh / "judged").current
    assert current[0].to_dict() == SPAN
    assert current[2] == current[0]
    assert (3 in current) == (form == "csv")


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("0.2\t4\tvisual\t", "which has no text"),
        ("0.2\t400\tvisual\t", "lines 1 to"),
        ("soon\t3\tvisual\t", "cannot be read"),
        (f"0.2\t3\tvisual\t{'x' * 1001}", "at most 1000"),
    ],
)
def test_annotations_that_cannot_be_used(result, tmp_path, line, says):
    path = tmp_path / "annotations.tsv"
    path.write_text(f"time_s\tline\tkind\tnote\n{line}\n", encoding="utf-8")
    with pytest.raises(InputError, match=says):
        open_session(result).take(path)
    assert not (result / "judged").exists()


@pytest.mark.parametrize(
    "note", ['"Humbug" is sung here', '"Humbug"', "=1+1", "'=1+1", "it's", '"']
)
def test_notes_of_any_kind_come_back_from_annotations(result, tmp_path, note):
    session = open_session(result)
    session.judge(0, {**SPAN, "note": note})
    session.judge(1, {"moment": 3, "verdict": "match", "sentence": 5, "note": 'so "they" say'})
    session.close()
    path = result / "judged" / "annotations.tsv"
    rows = table(path)  # as a spreadsheet reads it, in which nothing may be a formula
    assert len(rows) == 2
    assert not rows[0]["note"].startswith("=")
    assert [read.note for read in read_annotations(path, (), 100)] == [note, 'so "they" say']
    fresh = make_alignment(tmp_path / "fresh")
    assert open_session(fresh).take(path) == 2
    current = Judgements(read_alignment(fresh), fresh / "judged").current
    assert [current[0].note, current[3].note] == [note, 'so "they" say']


def test_notes_have_no_control_characters(result):
    session = open_session(result)
    session.judge(0, {**SPAN, "note": "nothing\0 and \x1b[31mred\ud800"})
    session.close()
    for name in ("annotations.tsv", "gold.tsv"):
        text = (result / "judged" / name).read_text(encoding="utf-8")
        assert "nothing\ufffd and \ufffd[31mred\ufffd" in text


@pytest.mark.parametrize("note", ['"Humbug" is sung here', "=1+1", '"Oh', "it's"])
def test_annotations_of_older_versions_were_not_quoted(result, tmp_path, note):
    path = tmp_path / "annotations.tsv"
    rows = [f"0.2\t0.9\t3\t5\tvisual\t{note}", '3.1\t3.9\t11\t11\tdialogue\tand that is "all"']
    path.write_text("\n".join(["time_s\tend_s\tline\tline_to\tkind\tnote", *rows, ""]))
    session = open_session(result)
    assert session.take(path) == 2
    notes = [judgement.note for judgement in session.judgements.current.values()]
    assert notes == [note, 'and that is "all"']


def test_an_import_writes_the_files_once(spanned, tmp_path, monkeypatch):
    corrections = tmp_path / "corrected.csv"
    assert run("export", spanned, "--as", "csv", "--out", corrections).exit_code == 0
    fresh = make_alignment(tmp_path / "fresh")
    session = open_session(fresh)
    written = []
    monkeypatch.setattr(
        "folioreel.viewer.session.write_alignment",
        lambda alignment, path: (written.append(path), write_alignment(alignment, path)),
    )
    assert session.take(corrections) == 2
    assert written == [fresh / "judged" / "alignment.json"]
    links = read_alignment(fresh / "judged" / "alignment.json").links
    assert [link.judged for link in links] == ["match"] * 3 + ["none"]


def test_a_row_that_contradicts_its_span(spanned, tmp_path):
    path = tmp_path / "corrected.csv"
    run("export", spanned, "--as", "csv", "--out", path)
    rows = table(path, ",")
    rows[1]["sentence"] = "9"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    with pytest.raises(InputError, match="sentence 9 is not among sentences 2 to 5"):
        open_session(spanned).take(path)


def align_again(result, **options):
    """Align the pair of a result anew, with other moments."""
    folder = result.parent
    film, book = load_film(folder / "film.mp4", **options), load_book(folder / "novel.txt")
    write_alignment(Aligner.load("fast").align(film, book), result / "alignment.json")


def test_judgements_survive_an_alignment_with_other_moments(spanned):
    before = (spanned / "judged" / "journal.jsonl").read_bytes()
    original = (spanned / "alignment.json").read_bytes()
    align_again(spanned, shots=False)
    session = open_session(spanned)
    assert len(session.alignment.film.moments) == 3  # the silent shot is gone
    assert session.judgements.unplaced == 0
    held = session.judgements.current
    assert held[0].to_dict() == SPAN | {"moment_to": 1}
    assert (held[2].verdict, held[2].note) == ("none", "invented")
    assert (spanned / "judged" / "journal.jsonl").read_bytes() == before
    session.judge(2, {"moment": 2, "verdict": "match", "sentence": 9})
    session.close()
    assert (spanned / "judged" / "journal.jsonl").read_bytes().startswith(before)
    assert load_pair_film(load_pair(spanned / "judged")).moments == session.alignment.film.moments
    # And back again: what was judged in either alignment is there.
    (spanned / "alignment.json").write_bytes(original)
    held = open_session(spanned).judgements.current
    assert held[0].to_dict() == SPAN
    assert (held[3].verdict, held[3].sentence) == ("match", 9)


def test_a_judged_shot_without_shots_stays_in_the_journal(result):
    session = open_session(result)
    session.judge(0, {"moment": SILENT, "verdict": "match", "sentence": 4})
    session.close()
    original = (result / "alignment.json").read_bytes()
    align_again(result, shots=False)
    session = open_session(result)
    assert (session.judgements.current, session.judgements.unplaced) == ({}, 1)
    answer = run("export", result, "--as", "csv", "--out", result / "x.csv")
    assert "1 judgement has no place in this alignment" in answer.stderr
    assert session.undo(1)["undone"] is None
    session.close()
    (result / "alignment.json").write_bytes(original)
    assert open_session(result).judgements.current == {}


def test_a_book_with_a_preface_more_keeps_the_judged_sentences(spanned):
    novel = spanned.parent / "novel.txt"
    text = "A word before the story. It was added later.\n\n" + "\n\n".join(PARAGRAPHS) + "\n"
    novel.write_text(text, encoding="utf-8")
    align_again(spanned)
    held = open_session(spanned).judgements.current
    assert (held[0].sentence, held[0].sentence_to) == (4, 7)


def test_align_keeps_judgements_and_says_so(spanned):
    folder = spanned.parent
    files = (folder / "novel.txt", folder / "film.mp4")
    answer = run("align", *files, "--no-shots", "--preset", "fast", "--out", spanned, "--force")
    assert answer.exit_code == 0, answer.output
    assert f"kept 3 judged moments in {spanned / 'judged'}" in answer.stderr
    exported = run("export", spanned, "--as", "csv", "--out", spanned / "x.csv")
    assert "3 of 3 links were judged" in exported.stdout
    assert [row["judged"] for row in table(spanned / "x.csv", ",")] == ["match", "match", "none"]


def test_the_page_hears_that_the_files_could_not_be_written(result, monkeypatch):
    """The journal is what counts; a full disk may still keep the files made from it away."""
    with serving(result) as browser:
        full = OSError(28, "No space left on device")

        def fail(*_):
            raise InputError(f"cannot be written ({full.strerror})", result / "judged" / "gold.tsv")

        with monkeypatch.context() as patch:
            patch.setattr("folioreel.viewer.judgements.write_text", fail)
            status, answer = browser.judge(0, 0, None)
        assert (status, answer["revision"]) == (200, 1)
        assert "No space left on device" in answer["trouble"]
        status, answer = browser.judge(1, 2, 5)
        assert (status, answer["revision"]) == (200, 2)
        assert "trouble" not in answer
    assert len(load_pair(result / "judged").judgements) == 2


def test_an_annotation_of_what_is_not_there(spanned):
    session = open_session(spanned)
    alignment = session.corrected()
    session.close()
    said = replace(alignment.links[0].annotation, moments=(0, 99))
    links = (replace(alignment.links[0], annotation=said), *alignment.links[1:])
    write_alignment(replace(alignment, links=links), spanned / "alignment.json")
    with pytest.raises(InputError, match="a judgement of what is not there"):
        read_alignment(spanned)
