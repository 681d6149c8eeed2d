"""Judging over HTTP: links follow, nothing is lost, and the folder is a judged pair."""

import json
import os
import signal
import subprocess
import sys
from urllib.request import urlopen

import pytest
from made_pages import SILENT, Browser, make_alignment, open_session, serving

from folioreel.alignment.aligner import Aligner
from folioreel.errors import InputError
from folioreel.evaluate.dataset import find_pairs, load_pair, load_pair_film
from folioreel.evaluate.report import evaluate_system, make_rows, make_system
from folioreel.export.alignment_json import read_alignment, read_document
from folioreel.export.page_html import page_link
from folioreel.ingest.book import load_book
from folioreel.train.judged import judged_moments
from folioreel.viewer.judgements import judgements_folder
from folioreel.viewer.session import Session


def solved_whole(result, judged):
    """The links of all moments, solved again as a whole."""
    alignment = read_alignment(result)
    aligner = Aligner.load()
    scores = aligner.score(alignment.film, alignment.book)
    return aligner.link(alignment.film, alignment.book, scores, judged)[0]


def plain(link: dict) -> dict:
    return {name: value for name, value in link.items() if name != "alternatives"}


def test_links_follow_a_judgement(browser, result):
    status, answer = browser.judge(0, 2, 3)
    assert status == 200
    assert answer["revision"] == 1
    assert answer["judgements"] == [{"moment": 2, "verdict": "match", "sentence": 3}]
    changed = dict(answer["links"])
    assert plain(changed[2]) == {"sentence": 3, "score": 1.0, "in_book": True}
    # Its alternatives stay, for a reader who comes to think otherwise.
    assert changed[2]["alternatives"] == page_link(read_alignment(result).links[2])["alternatives"]
    after = browser.payload()
    assert (after["revision"], after["judgements"]) == (1, answer["judgements"])
    for link, whole in zip(after["links"], solved_whole(result, {2: 3}), strict=True):
        assert link["sentence"] == whole.sentence
        assert link["in_book"] == whole.in_book
        assert link["score"] == pytest.approx(whole.score, abs=3e-3)


def test_not_in_the_book(browser):
    status, answer = browser.judge(0, 0, None)
    assert status == 200
    link = dict(answer["links"])[0]
    assert (link["score"], link["in_book"]) == (0, False)
    assert answer["judgements"] == [{"moment": 0, "verdict": "none", "sentence": None}]


def test_undo_goes_back_step_by_step(browser):
    before = browser.payload()["links"]
    browser.judge(0, 2, 3)
    first = browser.payload()
    browser.judge(1, 2, 5)
    browser.judge(2, SILENT, 4)
    assert browser.undo(3)[0] == 200
    status, answer = browser.undo(4)
    assert (status, answer["revision"]) == (200, 5)
    assert answer["judgements"] == first["judgements"]
    assert close(browser.payload()["links"], first["links"])
    assert browser.undo(5)[0] == 200
    assert close(browser.payload()["links"], before)
    status, answer = browser.undo(6)
    assert (status, answer["error"]) == (400, "there is nothing to undo")


def test_undo_names_its_moment(browser):
    browser.judge(0, 2, 3)
    browser.judge(1, 0, None)
    browser.judge(2, 2, 5)
    assert [browser.undo(revision)[1]["undone"] for revision in (3, 4, 5)] == [2, 0, 2]


def test_a_judgement_that_holds_is_not_written_again(browser, result):
    browser.judge(0, 2, 3)
    journal = (result / "judged" / "journal.jsonl").read_bytes()
    status, answer = browser.judge(1, 2, 3)
    assert (status, answer["revision"], answer["links"]) == (200, 1, [])
    assert (result / "judged" / "journal.jsonl").read_bytes() == journal


def close(some, others):
    return all(
        a["sentence"] == b["sentence"] and a["score"] == pytest.approx(b["score"], abs=3e-3)
        for a, b in zip(some, others, strict=True)
    )


def test_a_window_that_was_left_behind(browser):
    browser.judge(0, 2, 3)
    for status, answer in (browser.judge(0, 0, None), browser.undo(0), browser.judge(7, 0, 1)):
        assert status == 409
        assert answer["revision"] == 1
        assert [moment for moment, _ in answer["links"]] == [0, 1, 2, 3]
        assert answer["judgements"] == [{"moment": 2, "verdict": "match", "sentence": 3}]
    assert browser.judge(1, 0, None)[0] == 200


def test_judgements_come_back_at_the_next_start(result):
    with serving(result) as browser:
        browser.judge(0, 2, 3)
        browser.judge(1, 0, None)
        before = browser.payload()
    with serving(result) as browser:
        after = browser.payload()
        assert after == before
        assert browser.undo(2)[0] == 200
        status, answer = browser.judge(3, 3, 10)
        assert (status, answer["revision"]) == (200, 4)
    links = read_document(result / "judged" / "alignment.json")["links"]
    judged = solved_whole(result, {2: 3, 3: 10})
    assert [link["sentence"] for link in links] == [link.sentence for link in judged]


def test_what_follows_from_the_journal_may_be_lost(result):
    with serving(result) as browser:
        browser.judge(0, 2, 3)
    kept = result / "judged" / "journal.jsonl"
    for path in (result / "judged").iterdir():
        if path != kept:
            path.unlink()
    with serving(result) as browser:
        payload = browser.payload()
        assert payload["revision"] == 1
        assert plain(payload["links"][2]) == {"sentence": 3, "score": 1.0, "in_book": True}
        browser.judge(1, 0, 0)
    assert len(load_pair(result / "judged").judgements) == 2


def test_stopped_before_the_scores_are_there_after_a_kill(result):
    written = result / "judged" / "alignment.json"
    with serving(result) as browser:
        browser.judge(0, 2, 3)
        before = written.read_bytes()
        browser.judge(1, 3, 10)
    written.write_bytes(before)  # killed between the journal and what follows from it
    Session(read_alignment(result), judgements_folder(result / "alignment.json")).close()
    assert written.read_bytes() == before
    session = open_session(result)
    session.judge(2, {"moment": 3, "verdict": "match", "sentence": 10})  # known, but waits
    session.close()
    links = read_document(written)["links"]
    judged = solved_whole(result, {2: 3, 3: 10})
    assert [link["sentence"] for link in links] == [link.sentence for link in judged]
    assert [link["score"] for link in links] == pytest.approx(
        [link.score for link in judged], abs=3e-3
    )


def test_a_corrected_link_has_no_alternatives_but_the_page_still_offers_them(result):
    written = result / "judged" / "alignment.json"
    with serving(result) as browser:
        browser.judge(0, 2, 3)
        assert read_document(written)["links"][2]["alternatives"] == []
        for offered in (browser.payload(), open_session(result).payload([], {})):
            first = page_link(read_alignment(result).links[2])
            assert first["alternatives"]
            assert offered["links"][2] == {**first, "sentence": 3, "score": 1.0, "in_book": True}
            # What it was before: the page tells a moved link from a confirmed one.
            assert offered["found"] == [[2, first]]
    folder = judgements_folder(result / "alignment.json")
    corrected = Session(read_alignment(result), folder).corrected()
    assert all(link.judged or link.alternatives for link in corrected.links)
    assert corrected.links[2].alternatives == ()


def test_links_that_a_killed_session_left_behind_stay_so_without_scores(result):
    """A judgement that changes its own link alone must not pass for all that follows."""
    written = result / "judged" / "alignment.json"
    with serving(result) as browser:
        browser.judge(0, 2, 3)
        before = written.read_bytes()
        browser.judge(1, 3, 10)
    written.write_bytes(before)
    session = Session(read_alignment(result), judgements_folder(result / "alignment.json"))
    session._prepared.set()  # as if the scores could not be computed
    session.judge(2, {"moment": 0, "verdict": "none"})
    session.close()
    assert session.is_behind
    assert written.read_bytes() == before
    # The judged pair does not need the links.
    assert len(load_pair(result / "judged").judgements) == 3
    assert Session(read_alignment(result), judgements_folder(result / "alignment.json")).is_behind


def test_a_line_cut_short_by_a_crash(result):
    with serving(result) as browser:
        browser.judge(0, 2, 3)
    journal = result / "judged" / "journal.jsonl"
    whole = journal.read_bytes()
    for torn in (b'{"revision": 2, "do": "ju', b"{", whole.splitlines()[-1]):
        journal.write_bytes(whole + torn)
        session = open_session(result)
        assert session.judgements.revision == 1
        assert session.judge(1, {"moment": 0, "verdict": "none"})["revision"] == 2
        lines = [json.loads(line) for line in journal.read_text().splitlines()]
        assert [line.get("revision") for line in lines] == [None, 1, 2]
        journal.write_bytes(whole)


def test_two_programs_do_not_write_over_each_other(result):
    first, second = open_session(result), open_session(result)
    first.judge(0, {"moment": 0, "verdict": "none"})
    with pytest.raises(InputError, match="another `folioreel view`"):
        second.judge(0, {"moment": 2, "verdict": "match", "sentence": 5})
    assert open_session(result).judgements.revision == 1


def test_an_alignment_made_anew_has_its_own_links(result):
    """The judgements hold for the same book and film; the corrected links were another preset's."""
    with serving(result) as browser:
        browser.judge(0, 2, 3)
    path = result / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["model"]["energy"] = 1.0
    document["links"][0]["sentence"] = 11
    path.write_text(json.dumps(document), encoding="utf-8")
    links = open_session(result).payload([], {})["links"]
    assert links[0]["sentence"] == 11
    assert plain(links[2]) == {"sentence": 3, "score": 1.0, "in_book": True}


def test_a_disk_that_is_full(result, monkeypatch):
    session = open_session(result)
    session.judge(0, {"moment": 0, "verdict": "none"})
    before = (result / "judged" / "journal.jsonl").read_bytes()

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", fail)
        with pytest.raises(InputError, match="No space left"):
            session.judge(1, {"moment": 2, "verdict": "none"})
    assert (result / "judged" / "journal.jsonl").read_bytes() == before
    assert session.judge(1, {"moment": 2, "verdict": "none"})["revision"] == 2


def test_a_folder_of_something_else_is_left_alone(result):
    (result / "judged").mkdir()
    (result / "judged" / "thesis.txt").write_text("mine")
    with pytest.raises(InputError, match="move it elsewhere"):
        open_session(result)
    assert [path.name for path in (result / "judged").iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("line", "says"),
    [
        (b'{"format": "folioreel-judgements", "version": 1, "book_sha256": "0"}', "another book"),
        (b"\xff\xfe", "cannot be read"),
        (b"[]", "another book"),
    ],
)
def test_a_journal_of_another_alignment(result, line, says):
    (result / "judged").mkdir()
    (result / "judged" / "journal.jsonl").write_bytes(line + b"\n")
    with pytest.raises(InputError, match=says):
        open_session(result)


def test_the_folder_is_a_judged_pair(browser, result):
    browser.judge(0, 2, 9)
    browser.judge(1, SILENT, 4)
    browser.judge(2, 3, None)
    folder = result / "judged"
    assert find_pairs(folder) == [folder]
    pair = load_pair(folder)
    alignment = read_alignment(result)
    assert load_pair_film(pair).moments == alignment.film.moments
    assert load_pair_film(pair).video.resolve() == (result.parent / "film.mp4").resolve()
    found = judged_moments(pair, load_pair_film(pair), load_book(pair.book))
    assert [(j.moment, j.verdict) for j in found] == [(1, "match"), (2, "match"), (3, "none")]
    assert 4 in found[0].sentences
    assert 9 in found[1].sentences
    (row,) = make_rows(evaluate_system(folder, make_system()))
    assert (row["match"], row["none"]) == (2, 1)
    assert set(row["kind"]) == {"dialogue", "visual"}


def test_a_book_without_lines(tmp_path):
    result = make_alignment(tmp_path / "library", "novel.html")
    with serving(result) as browser:
        sentences = browser.payload()["book"]["sentences"]
        for revision, (moment, sentence) in enumerate(((0, 3), (2, 7), (3, 11))):
            assert browser.judge(revision, moment, sentence)[0] == 200
    pair = load_pair(result / "judged")
    book = load_book(pair.book)
    found = judged_moments(pair, load_pair_film(pair), book)
    said = [" ".join(book.sentences[j].text for j in judged.sentences) for judged in found]
    for text, sentence in zip(said, (3, 7, 11), strict=True):
        assert sentences[sentence] in text


def saved(alignment, **values):
    """What the one-file page saves."""
    titles = {"book": alignment.book.title, "film": alignment.film.title}
    head = {"format": "folioreel-judgements", "version": 1, **titles}
    return json.dumps({**head, "judgements": [], **values})


def test_judgements_of_the_one_file_page(result, tmp_path):
    session = open_session(result)
    made = [
        {"moment": 0, "verdict": "none", "sentence": None},
        {"moment": 2, "verdict": "match", "sentence": 3},
    ]
    path = tmp_path / "judgements.json"
    path.write_text(saved(session.alignment, judgements=made), encoding="utf-8")
    session.judge(0, made[0])
    assert session.take(path) == 1
    assert session.take(path) == 0
    state = session.state()
    assert (state["revision"], state["judgements"]) == (2, made)
    for (_, link), whole in zip(state["links"], solved_whole(result, {0: -1, 2: 3}), strict=True):
        assert link["sentence"] == whole.sentence
        assert link["score"] == pytest.approx(whole.score, abs=5e-3)


@pytest.mark.parametrize(
    "others",
    [{"format": "x"}, {"version": 2}, {"book": "Other"}, {"film": "Other"}, {"judgements": [{}]}],
)
def test_a_file_of_other_judgements(result, tmp_path, others):
    session = open_session(result)
    path = tmp_path / "judgements.json"
    for text in (saved(session.alignment, **others), "{", "[]"):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match="not a file of judgements"):
            session.take(path)
    assert not (result / "judged").exists()


def test_a_judgement_survives_the_plug(result):
    """The server is killed right after its answer."""
    process, address = start_view(result)
    with urlopen(address) as response:
        assert response.status == 200
    status, answer = Browser(address).judge(0, 2, 3)
    process.kill()
    process.communicate()
    assert (status, answer["revision"]) == (200, 1)
    assert open_session(result).judgements.current[2].sentence == 3


def test_ctrl_c_ends_it_cleanly(result):
    process, address = start_view(result, "--port", "0")
    with urlopen(address) as response:
        assert b"payload" in response.read()
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    assert "Traceback" not in errors
    with pytest.raises(OSError, match="refused"):
        urlopen(address)


def start_view(result, *options):
    command = [sys.executable, "-m", "folioreel", "view", str(result), "--no-open", *options]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    address = process.stdout.readline().strip()
    assert address.startswith("http://127.0.0.1:")
    return process, address


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"config": {"something": "else"}}, "not of this version"),
        ({"pictures": True}, "can no longer be watched"),
    ],
)
def test_where_scores_cannot_be_had_again_a_judgement_changes_its_own_link(
    result, change, why, tmp_path, monkeypatch
):
    # Other tests watch this film: what they saw must not be recalled from the cache.
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))
    path = result / "alignment.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["model"] |= change
    document["film"]["is_video"] = False  # so that it cannot be watched
    path.write_text(json.dumps(document), encoding="utf-8")
    said = []
    session = Session(read_alignment(path), judgements_folder(path))
    session.prepare(said.append)
    answer = session.judge(0, {"moment": 2, "verdict": "match", "sentence": 1})
    [(moment, link)] = answer["links"]
    assert (moment, plain(link)) == (2, {"sentence": 1, "score": 1.0, "in_book": True})
    assert "will not change the links around them" in said[0]
    assert why in said[0]
    back = session.undo(1)
    assert back["links"] == [[2, page_link(session.alignment.links[2])]]
