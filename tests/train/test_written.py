"""Written adaptations: read with their novels, and what is skipped or refused."""

from pathlib import Path

import pytest
from made_adaptations import ROWS, write_adaptation, write_novel

from folioreel.errors import InputError
from folioreel.train.written import HOW, read_written

DATA = Path(__file__).parents[2] / "training" / "adaptations"


@pytest.mark.parametrize("name", ["77", "pg77", "77-0", "doe_the-carts", "the-carts-a-tale"])
def test_a_novel_is_found_by_number_or_title(name, tmp_path):
    sentences = write_novel(tmp_path / "novels" / f"{name}.txt")
    write_adaptation(tmp_path / "written" / "77-1.tsv", sentences)
    found = read_written(tmp_path / "written", tmp_path / "novels")
    (lesson,) = found.lessons
    assert lesson.source == "written"
    assert lesson.lines == ("It was red.", "Go on.", "Good night.")
    assert lesson.sentences == tuple(sentences)
    assert lesson.targets == (((3, 0.5), (4, 0.5)), ((5, 1.0),), ())
    assert lesson.new == (False, True, True)
    assert str(found) == ""


def test_what_is_kept_and_what_is_skipped(tmp_path):
    novels, written = tmp_path / "novels", tmp_path / "written"
    sentences = write_novel(novels / "77.txt")
    write_adaptation(written / "77-1.tsv", sentences, end="; kept for testing")
    write_adaptation(written / "77-2.tsv", sentences[1:])
    write_adaptation(written / "78-1.tsv", sentences, number=78)
    found = read_written(written, novels)
    assert (found.lessons, len(found.kept)) == ((), 1)
    assert str(found) == "passages skipped: 1 of absent novels, 1 of another edition"


@pytest.mark.parametrize(
    "row",
    ["No tabs", "A line.\tsung\t3", "A line.\tparaphrase\t", "A line.\tnew\t3", "A.\tscene\t8"],
)
def test_a_broken_row_is_named(row, tmp_path):
    sentences = write_novel(tmp_path / "novels" / "77.txt")
    write_adaptation(tmp_path / "written" / "77-1.tsv", sentences, rows=(*ROWS, row))
    with pytest.raises(InputError, match="separated by tabs") as caught:
        read_written(tmp_path / "written", tmp_path / "novels")
    assert caught.value.line == 5


def test_folders_without_files(tmp_path):
    write_novel(tmp_path / "novels" / "77.txt")
    with pytest.raises(InputError, match="no written adaptations"):
        read_written(tmp_path / "novels", tmp_path / "novels")
    (tmp_path / "written").mkdir()
    (tmp_path / "written" / "77-1.tsv").write_text("A line.\tnew\t\n")
    with pytest.raises(InputError, match="no texts of novels"):
        read_written(tmp_path / "written", tmp_path / "written")
    with pytest.raises(InputError, match="line that names the novel"):
        read_written(tmp_path / "written", tmp_path / "novels")


@pytest.mark.skipif(not DATA.is_dir(), reason="the data is in the repository alone")
def test_the_adaptations_of_the_repository_are_in_the_format(tmp_path):
    write_novel(tmp_path / "1.txt")
    found = read_written(DATA, tmp_path)
    assert (found.absent, found.changed) == (1296, 0)
    heads = [path.read_text("utf-8").split("\n", 1)[0] for path in DATA.glob("*.tsv")]
    assert sum(head.endswith("; kept for testing") for head in heads) == 24
    rows = [row for path in DATA.glob("*.tsv") for row in path.read_text("utf-8").splitlines()[1:]]
    counts = {how: sum(row.split("\t")[1] == how for row in rows) for how in HOW}
    card = (DATA / "README.md").read_text("utf-8")
    for how, count in counts.items():
        assert f"{count:,} |" in next(
            row for row in card.splitlines() if row.startswith(f"| `{how}")
        )
