"""Described pictures and clips: a made folder like Flickr8k's, and tables."""

import tarfile
import time

import pytest
from made_flickr8k import TOLD, write_flickr8k

from folioreel.errors import InputError
from folioreel.ingest.descriptions import (
    find_names,
    is_flickr8k,
    read_clip_table,
    read_flickr8k,
    read_pictures,
    replace_names,
)


def test_the_parts_of_the_split_with_their_captions(tmp_path):
    write_flickr8k(tmp_path)
    assert is_flickr8k(tmp_path)
    assert not is_flickr8k(tmp_path / "images")
    dev = read_flickr8k(tmp_path, "dev")
    assert [picture.clip for picture in dev] == ["dev0", "dev1", "dev2", "dev3"]
    assert dev[0].texts == TOLD["red"]
    assert dev[1].texts == TOLD["blue"]
    assert len(read_flickr8k(tmp_path, "train")) == 8


def test_pictures_from_a_folder_or_from_archives(tmp_path):
    names = write_flickr8k(tmp_path)
    loose = dict(read_pictures(tmp_path))
    assert sorted(loose) == sorted(names)
    for number in (0, 1):
        with tarfile.open(tmp_path / f"images-{number}.tar", "w") as archive:
            for path in sorted((tmp_path / "images").iterdir())[number::2]:
                archive.add(path, path.name)
    for path in (tmp_path / "images").iterdir():
        path.unlink()
    assert dict(read_pictures(tmp_path)) == loose
    whole = (tmp_path / "images-1.tar").read_bytes()
    (tmp_path / "images-1.tar").write_bytes(whole[: len(whole) // 2 - 700])
    with pytest.raises(InputError, match=r"images-1\.tar.*damaged; copy it again"):
        dict(read_pictures(tmp_path))


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("captions.tsv", None, "captions.tsv: is missing; give the folder of Flickr8k"),
        (
            "captions.tsv",
            "test0 A dog.\n",
            "captions.tsv:1: should be a name, a tab and a sentence",
        ),
        ("captions.tsv", b"test0\t\xff\n", "is not UTF-8 text"),
        ("test.txt", "test0\nnobody\n", "names nobody, which has no caption"),
        ("test.txt", "\n", "is empty"),
    ],
)
def test_a_broken_folder_is_told_as_such(tmp_path, name, content, says):
    write_flickr8k(tmp_path)
    if content is None:
        (tmp_path / name).unlink()
    else:
        data = content if isinstance(content, bytes) else content.encode()
        (tmp_path / name).write_bytes(data)
    with pytest.raises(InputError) as error:
        read_flickr8k(tmp_path, "test")
    assert says in str(error.value)


def test_a_folder_without_pictures(tmp_path):
    with pytest.raises(InputError, match="neither images"):
        next(read_pictures(tmp_path))


def test_a_table_of_clips_as_of_lsmdc(tmp_path):
    table = tmp_path / "clips.csv"
    rows = (
        "film_1\t00:01\t00:03\tSomeone opens a door.",
        "film_2\t00:04\t00:05\tRain.",
        "film_1\tx\ty\tHe goes in.",
    )
    table.write_text("\n".join(rows), encoding="utf-8")
    first, second = read_clip_table(table)
    assert (first.clip, first.texts) == ("film_1", ("Someone opens a door.", "He goes in."))
    assert (second.clip, second.texts) == ("film_2", ("Rain.",))
    table.write_text('film_1;"Rain; wind."\n', encoding="utf-8-sig")
    assert read_clip_table(table)[0].texts == ("Rain; wind.",)
    table.write_text("\n", encoding="utf-8")
    with pytest.raises(InputError, match="holds no clips"):
        read_clip_table(table)


def test_names_in_an_endless_text_are_found_soon():
    begin = time.process_time()
    text = "he saw Anna - " * 10_000
    assert find_names([text]) == {"anna"}
    assert replace_names(text, frozenset({"anna"})) == "he saw someone - " * 10_000
    assert time.process_time() - begin < 5
