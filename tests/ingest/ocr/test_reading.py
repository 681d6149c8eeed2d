"""Bitmap subtitles become the dialogue of a film: order, cache, progress and what is mended."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
from av.stream import Disposition
from drawn_films import DrawnTrack, draw_film, shots_of
from drawn_subtitles import Lettering, add_bitmaps, write_sup, write_vobsub

from folioreel.errors import InputError, UnreadableWordsError
from folioreel.evaluate.statistics import inspect_file
from folioreel.ingest import dialogue_source
from folioreel.ingest.film import load_film
from folioreel.ingest.ocr import burned, reading, recognisers
from folioreel.ingest.ocr.bitmaps import Ink
from folioreel.ingest.ocr.reading import mend
from folioreel.ingest.ocr.recognisers import Reading
from folioreel.ingest.subtitles.dialogue import Dialogue
from folioreel.progress import Progress

CUES = [
    (500, 1500, "Mr. Catchpole, have you\nsold all your bread?"),
    (1700, 2500, "- Down to the last roll.\n- I'll be waiting."),
    (2700, 3500, '"Whatever," said Will.'),
]
SPOKEN = [
    "Mr. Catchpole, have you sold all your bread?",
    "Down to the last roll.",
    "I'll be waiting.",
    '"Whatever," said Will.',
]
SMALL = Lettering(size=28, outline=1)


class Counting:
    """A recogniser that numbers the lines it is shown, and may stop after some."""

    name = "counting 1"

    def __init__(self, limit: int = 10_000) -> None:
        self.limit, self.lines = limit, 0

    def read(self, lines: Sequence[Ink], height: int) -> list[Reading]:
        if self.lines + len(lines) > self.limit:
            raise KeyboardInterrupt
        self.lines += len(lines)
        return [Reading(text=f"Width {line.shape[1]}.", confidence=1.0) for line in lines]


@pytest.fixture
def film(tmp_path: Path) -> Path:
    return draw_film(tmp_path / "plain.mkv", shots_of([50, 50]))


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOLIOREEL_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def counting(monkeypatch: pytest.MonkeyPatch, cache: None) -> Counting:
    recogniser = Counting()
    monkeypatch.setattr(reading, "choose_recogniser", lambda language: recogniser)
    return recogniser


@pytest.fixture
def without_ocr(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (recognisers, burned):
        monkeypatch.setattr(module, "has_rapidocr", lambda: False)
    monkeypatch.setattr(recognisers, "_tesseract_languages", frozenset)


def spoken(path: Path, **settings: object) -> list[str]:
    found = load_film(path, shots=False, **settings)  # type: ignore[arg-type]
    return [subtitle.text for subtitle in found.subtitles]


@pytest.mark.parametrize("codec", ["pgssub", "dvdsub", "dvbsub"])
def test_each_codec_is_read_exactly(tmp_path: Path, film: Path, codec: str) -> None:
    pytest.importorskip("rapidocr", reason="needs RapidOCR: pip install 'folioreel[ocr]'")
    assert spoken(add_bitmaps(tmp_path / "film.mkv", film, CUES, codec, SMALL)) == SPOKEN


@pytest.mark.parametrize("name", ["pgs", "vobsub"])
def test_real_tracks(shared: Path, name: str) -> None:
    pytest.importorskip("rapidocr", reason="needs RapidOCR: pip install 'folioreel[ocr]'")
    texts = spoken(shared / "video" / f"popeye-{name}.mkv")
    wanted = {"pgs": "Don't drop me now!", "vobsub": "How do you like that?"}[name]
    assert wanted in texts
    if name == "pgs":
        # The text of the whole film; the track lacks three of its cues.
        known = set(spoken(shared / "video" / "popeye-3.srt"))
        assert len(set(texts) - known) <= 1


def test_files_of_their_own(tmp_path: Path, film: Path, counting: Counting) -> None:
    sup = write_sup(tmp_path / "a.sup", CUES, SMALL)
    idx = write_vobsub(tmp_path / "b.idx", film, CUES, SMALL)
    for path in (sup, idx, idx.with_suffix(".sub")):
        found = load_film(path)
        assert found.subtitles[0].start_s == pytest.approx(0.5)
        assert found.subtitles[-1].end_s == pytest.approx(3.5, abs=0.02)
        assert len(spoken(film, subtitles=path)) == len(found.subtitles) == 5
    idx.with_suffix(".sub").unlink()
    with pytest.raises(InputError, match=r"put the \.sub file beside it"):
        load_film(idx)
    sup.write_bytes(sup.read_bytes()[:20])
    with pytest.raises(InputError, match=r"no cues|cut short"):
        load_film(sup)


def test_pictures_beside_the_video_come_last(
    tmp_path: Path, film: Path, counting: Counting
) -> None:
    write_sup(film.with_suffix(".sup"), CUES, SMALL)
    assert load_film(film, shots=False).notes[0].startswith("subtitles: plain.sup, found beside")
    film.with_suffix(".srt").write_text("1\n00:00:01,000 --> 00:00:02,000\nText.\n")
    assert spoken(film) == ["Text."]


@pytest.mark.parametrize("text", ["", "1\n00:00:01,000 --> 00:00:02,000\n\n"])
def test_a_file_beside_the_video_that_cannot_be_read_does_not_hide_its_pictures(
    tmp_path: Path, film: Path, counting: Counting, text: str
) -> None:
    video = add_bitmaps(tmp_path / "film.mkv", film, CUES, how=SMALL)
    video.with_suffix(".srt").write_text(text)
    found = load_film(video, shots=False)
    assert found.source == "ocr"
    assert found.notes[0].startswith("subtitles: track")
    assert "film.srt: " in found.notes[-1]


def test_pictures_beside_the_video_where_those_inside_cannot_be_read(
    tmp_path: Path, film: Path, counting: Counting, monkeypatch: pytest.MonkeyPatch
) -> None:
    video = add_bitmaps(tmp_path / "film.mkv", film, CUES, how=SMALL)
    write_sup(tmp_path / "film.sup", CUES[:1], SMALL)
    monkeypatch.setattr(dialogue_source, "read_bitmap_track", refuse)
    found = load_film(video, shots=False)
    assert found.notes[0].startswith("subtitles: film.sup")
    assert "cannot be read" in found.notes


def refuse(*_: object) -> Dialogue:
    raise InputError("cannot be read")


@pytest.mark.parametrize(
    ("disposition", "source"), [(0, "SubRip"), (Disposition.forced, "PGS pictures")]
)
def test_text_before_pictures_before_forced_text(
    tmp_path: Path, counting: Counting, disposition: int, source: str
) -> None:
    text = DrawnTrack(cues=[(500, 1500, "Text.")], disposition=disposition)
    film = draw_film(tmp_path / "text.mkv", shots_of([100]), tracks=[text])
    both = add_bitmaps(tmp_path / "both.mkv", film, CUES, how=SMALL)
    first = load_film(both, shots=False).notes[0]
    assert source in first.partition("; also")[0]
    assert "PGS" in load_film(both, subtitles=2, shots=False).notes[0]


def test_without_ocr_the_error_says_how_to_install_it(
    tmp_path: Path, film: Path, without_ocr: None, caplog: pytest.LogCaptureFixture
) -> None:
    video = add_bitmaps(tmp_path / "film.mkv", film, CUES, how=SMALL)
    with pytest.raises(UnreadableWordsError, match=r'PGS pictures.*"folioreel\[ocr\]"'):
        load_film(video)
    row = inspect_file(video)
    assert (row["shots"], row["subtitle_sentences"]) == (2, 0)
    assert "folioreel[ocr]" in caplog.text
    with pytest.raises(UnreadableWordsError, match="pip install"):
        inspect_file(write_sup(tmp_path / "a.sup", CUES, SMALL))
    with pytest.raises(UnreadableWordsError, match="pip install"):
        load_film(video, subtitles="burned")


def test_forced_text_is_better_than_nothing(tmp_path: Path, without_ocr: None) -> None:
    text = DrawnTrack(cues=[(500, 1500, "Text.")], disposition=Disposition.forced)
    film = draw_film(tmp_path / "text.mkv", shots_of([100]), tracks=[text])
    both = load_film(add_bitmaps(tmp_path / "both.mkv", film, CUES, how=SMALL), shots=False)
    assert [subtitle.text for subtitle in both.subtitles] == ["Text."]
    assert any("folioreel[ocr]" in note for note in both.notes)


def test_a_stopped_run_goes_on_and_a_finished_one_is_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: None
) -> None:
    monkeypatch.setattr(reading, "_CUES_A_CHUNK", 4)
    cues = [(k * 300, k * 300 + 200, f"Line {'x' * k}.") for k in range(10)]
    sup = write_sup(tmp_path / "a.sup", cues, SMALL)
    runs = [Counting(limit=9), Counting(), Counting()]
    for recogniser in runs:
        monkeypatch.setattr(reading, "choose_recogniser", lambda _, chosen=recogniser: chosen)
        if recogniser.limit == 9:
            with pytest.raises(KeyboardInterrupt):
                load_film(sup)
        else:
            assert len(load_film(sup).subtitles) == 10
    assert [recogniser.lines for recogniser in runs] == [8, 2, 0]


def test_progress_counts_cues(tmp_path: Path, film: Path, counting: Counting) -> None:
    seen: list[Progress] = []
    video = add_bitmaps(tmp_path / "film.mkv", film, CUES, how=SMALL)
    load_film(video, shots=False, progress=seen.append)
    steps = [(p.done, p.total) for p in seen if p.stage == "reading pictures of text"]
    assert steps == [(0, 3), (1, 3), (2, 3), (3, 3)]


def test_what_cannot_be_read_is_left_out_and_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, cache: None
) -> None:
    class Unsure(Counting):
        def read(self, lines: Sequence[Ink], height: int) -> list[Reading]:
            sure = iter([1.0, 0.2])
            return [Reading(text="Word.", confidence=next(sure)) for _ in lines]

    monkeypatch.setattr(reading, "choose_recogniser", lambda language: Unsure())
    cues = [(0, 1000, "First."), (2000, 3000, "Ornament")]
    film = load_film(write_sup(tmp_path / "a.sup", cues, SMALL))
    assert len(film.subtitles) == 1
    assert "1 of 2 pictures could not be read" in film.notes


@pytest.mark.parametrize(
    ("read", "meant"),
    [
        ("You wiII aIl see", "You will all see"),
        ("you'II be, l'Il go", "you'll be, l'll go"),
        ("WlLL YOU", "WILL YOU"),
        ("lLL", "ILL"),
        ("McIntyre and MacInnes met Al", "McIntyre and MacInnes met Al"),
        ("In Ill TV WiFi XIII", "In Ill TV WiFi XIII"),
        ("Well.. and ….no…", "Well... and ...no..."),
        ("<>He spread</>", "He spread"),
        ("A. B? C!", "A. B? C!"),
    ],
)
def test_only_what_no_word_can_be_is_mended(read: str, meant: str) -> None:
    assert mend(read) == meant


@pytest.mark.parametrize(
    ("language", "read", "meant"),
    [
        ("de", "LehrerInnen, die LehrerIn, wiII", "LehrerInnen, die LehrerIn, will"),
        ("fr", "qu'Il soit", "qu'Il soit"),
        ("en", "HenryII, RichardIII, TeII Bob, kiIn", "HenryII, RichardIII, Tell Bob, kiln"),
    ],
)
def test_what_is_a_word_depends_on_the_language(language: str, read: str, meant: str) -> None:
    assert mend(read, language) == meant
