"""Several files: the order in which a person would put them, and what they are called."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from folioreel.errors import InputError
from folioreel.ingest.file_order import are_numbered, natural_sort
from folioreel.ingest.several import check_distinct, check_order, list_files, share_title

NAMES = st.lists(st.from_regex(r"[a-cA-C ]{0,2}[0-9]{1,3}[a-c ]{0,2}", fullmatch=True), min_size=1)


@pytest.mark.parametrize(
    "names",
    [
        ["Show.S01E02.mkv", "Show.S01E10.mkv", "Show.S02E01.mkv"],
        ["Film CD1.avi", "film cd2.avi", "Film CD10.avi"],
        ["1x9.mp4", "1x10.mp4"],
        ["film.mkv", "film 2.mkv", "film 11.mkv"],
        ["Été 2.mkv", "E\u0301te\u0301 10.mkv"],
        ["Film Part One.mkv", "film part two.mkv", "Film Part Three.mkv", "Film Part 4.mkv"],
        [f"Volume {roman}.epub" for roman in "I II III IV V VI VII VIII IX X".split()],
        ["Vol.IX Dawn.txt", "Vol.X A Start.txt"],
        ["Part the First.txt", "Part the Second.txt", "Part the Fifth.txt", "Part the Last.txt"],
        ["Part Two.mkv", "Part Nineteen.mkv", "Part Twenty.mkv", "Part Twenty-One.mkv"],
        ["The Twenty Second.mkv", "The Twenty-Third.mkv", "The Thirtieth part 31.mkv"],
        ["Volume XIX.epub", "Volume XX.epub", "Volume XXI.epub", "Volume XXXIX.epub"],
        ["Première partie.mp4", "Deuxie\u0300me partie.mp4", "Troisieme partie.mp4"],
        ["Teil eins.mp4", "Teil zwei.mp4", "Teil fünf.mp4", "Teil zwölf.mp4"],
        ["Erster Teil.txt", "Zweiter Teil.txt", "Dritter Teil.txt"],
        ["Parte prima.txt", "Parte seconda.txt", "Parte terza.txt", "Parte quarta.txt"],
        ["Segunda parte.txt", "Tercera parte.txt", "Décima parte.txt"],
        ["Deel een.txt", "Deel twee.txt", "Deel drie.txt"],
        ["Part 1.mkv", "Part 2.mkv", "Part 10.mkv", "Finale.mkv"],
        ["Prologue.mkv", "S01E01.mkv", "S01E02.mkv", "Epilogue.mkv"],
        ["Season One Part Two.mkv", "Season One Part Three.mkv", "Season Two Part One.mkv"],
    ],
)
def test_files_are_sorted_as_a_person_would(names):
    paths = [Path(name) for name in names]
    assert natural_sort(reversed(paths)) == paths
    assert are_numbered(paths)


@pytest.mark.parametrize(
    "names",
    [
        ["The Fellowship.txt", "The Return.txt", "The Two Towers.txt"],
        ["Ensimmäinen osa.txt", "Toinen osa.txt"],  # Finnish for first and second
        ["Show 1 Arrival.mkv", "Show 1 Departure.mkv", "Show 2.mkv"],
        ["film.mkv", "film extended.mkv"],
    ],
)
def test_names_without_numbers_are_in_alphabetical_order(names):
    paths = [Path(name) for name in names]
    assert natural_sort(reversed(paths)) == paths
    assert not are_numbered(paths)


def test_a_folder_without_numbers_is_warned_of(tmp_path):
    for name in ("saga/Arrival.txt", "saga/Departure.txt", "numbered/1.txt", "numbered/2.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    saga, numbered = ([*sorted((tmp_path / n).iterdir())] for n in ("saga", "numbered"))
    assert check_order(tmp_path / "numbered", numbered) is None
    assert check_order(saga, saga) is None  # the user gave them in this order
    assert check_order([tmp_path / "numbered", saga[0]], [*numbered, saga[0]]) is None
    warning = check_order([tmp_path / "numbered", tmp_path / "saga"], [*numbered, *saga])
    assert "the files in saga have no numbers" in warning
    assert "give the files one by one" in warning


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.text("abc ._", max_size=4), st.data())
def test_numbers_decide_however_they_are_padded(a, b, before, data):
    before = "x" + before  # a name does not begin with a dot
    pad = data.draw(st.integers(1, 9))
    first, second = Path(f"{before}{a:0{pad}}.mkv"), Path(f"{before}{b}.mkv")
    if a != b:
        assert natural_sort([first, second]) == ([first, second] if a < b else [second, first])


@given(NAMES)
def test_the_order_does_not_depend_on_where_files_were(names):
    paths = [Path(name) for name in names]
    ordered = natural_sort(paths)
    assert natural_sort(reversed(paths)) == ordered
    assert natural_sort(ordered) == ordered


@pytest.mark.parametrize(
    ("names", "shared", "each"),
    [
        (["Alice CD1.avi", "Alice CD2.avi"], "Alice", ["CD1", "CD2"]),
        (["Show S01E01 Pilot", "Show S01E02"], "Show", ["S01E01 Pilot", "S01E02"]),
        (["War and Peace, Vol. 1", "War and Peace, Vol. 2"], "War and Peace", ["Vol. 1", "Vol. 2"]),
        (["Emma - Volume One", "Emma - Volume Two"], "Emma", ["Volume One", "Volume Two"]),
        (["film-cd1.srt", "film-cd2.srt"], "film", ["cd1", "cd2"]),
        (["film.mkv", "film 2.mkv"], "film", ["film", "2"]),
        (["Ferry/CD1.avi", "Ferry/CD2.avi"], "Ferry", ["CD1", "CD2"]),
        (["CD1/film.avi", "CD2/film.avi"], "film", ["CD1/film", "CD2/film"]),
        # No number tells them apart: what titles happen to begin with is no title.
        (["The Ring.epub", "The Towers.epub"], "The Ring and 1 other", ["The Ring", "The Towers"]),
    ],
)
def test_what_files_share_and_what_each_is_called(names, shared, each):
    paths = [Path(name) for name in names]
    titles = [path.name.split(".mkv")[0] if "Vol." in path.name else path.stem for path in paths]
    assert share_title(titles, paths) == (shared, each)


def test_a_year_hides_the_number_from_the_title_but_not_from_the_name():
    paths = [Path("Film (1999) CD1.avi"), Path("Film (1999) CD2.avi")]
    assert share_title(["Film", "Film"], paths) == ("Film (1999)", ["CD1", "CD2"])


def test_folders_are_replaced_by_their_files(tmp_path):
    for name in ("b/2.txt", "b/10.txt", "b/.hidden.txt", "b/deeper/1.txt", "a.txt"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(name)
    files = list_files([tmp_path / "a.txt", tmp_path / "b"], "text", list)
    assert [path.name for path in files] == ["a.txt", "2.txt", "10.txt"]
    with pytest.raises(InputError, match=r"2\.txt: is given twice"):
        list_files([tmp_path / "b", tmp_path / "b" / "2.txt"], "text", list)
    with pytest.raises(InputError, match="folder with no text in it"):
        list_files(tmp_path / "b", "text", lambda inside: [])
    with pytest.raises(InputError, match=r"holds both 1\.epub and 1\.pdf"):
        check_distinct([Path("1.epub"), Path("1.pdf")], lambda path: path.stem)
