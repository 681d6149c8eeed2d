"""Files: hashes, whole or not at all, and nothing overwritten by accident."""

import hashlib
from contextlib import suppress

import pytest

from folioreel.errors import InputError
from folioreel.files import (
    check_output_file,
    check_output_folder,
    file_sha256,
    make_folder,
    replacing,
    write_text,
)


def test_the_hash_is_of_the_content(tmp_path):
    (tmp_path / "a").write_bytes(b"content")
    assert file_sha256(tmp_path / "a") == hashlib.sha256(b"content").hexdigest()
    with pytest.raises(InputError, match="gone: no such file"):
        file_sha256(tmp_path / "gone")


def test_a_failed_write_leaves_the_old_file(tmp_path):
    path = tmp_path / "notes.txt"
    write_text(path, "old")
    with suppress(RuntimeError), replacing(path) as unfinished:
        unfinished.write_text("half", encoding="utf-8")
        raise RuntimeError
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_folders_that_cannot_be_created(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot be created"):
        make_folder(tmp_path / "file" / "folder")


def test_a_file_is_overwritten_only_with_force(tmp_path):
    path = tmp_path / "page.html"
    check_output_file(path, force=False)
    path.touch()
    with pytest.raises(InputError, match=r"already exists; .* --force"):
        check_output_file(path, force=False)
    check_output_file(path, force=True)


def test_a_command_without_force_does_not_advise_it(tmp_path):
    (tmp_path / "link").symlink_to(tmp_path / "nowhere")
    with pytest.raises(InputError, match=r"link: already exists; choose another path$"):
        check_output_file(tmp_path / "link")


def test_a_folder_may_hold_other_files(tmp_path):
    check_output_folder(tmp_path / "new", ["a.json"])
    (tmp_path / "film.mkv").touch()
    check_output_folder(tmp_path, ["a.json"])
    with pytest.raises(InputError, match=r"already holds film\.mkv; .* --force"):
        check_output_folder(tmp_path)
    check_output_folder(tmp_path, force=True)
    with pytest.raises(InputError, match="is a file"):
        check_output_folder(tmp_path / "film.mkv", ["a.json"], force=True)
