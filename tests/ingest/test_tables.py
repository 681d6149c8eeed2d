"""Tables as spreadsheets of several countries save them."""

import pytest

from folioreel.errors import InputError
from folioreel.ingest.tables import read_rows

EXPECTED = [("book", "film", "note"), ("Émile.txt", "a b.srt", "1,5"), ("c.txt", "d;e.srt", "")]


def rows_of(tmp_path, data: bytes, **how: bool):
    path = tmp_path / "table.csv"  # what it is called does not matter
    path.write_bytes(data)
    return [row.cells for row in read_rows(path, **how)]


@pytest.mark.parametrize(
    "text",
    [
        'book,film,note\nÉmile.txt,a b.srt,"1,5"\nc.txt,d;e.srt,\n',
        'book;film;note\r\nÉmile.txt;a b.srt;1,5\r\nc.txt;"d;e.srt";\r\n;;\r\n',
        'sep=;\r\nbook;film;note\r\nÉmile.txt;a b.srt;1,5\r\nc.txt;"d;e.srt";\r\n',
        'book\tfilm\tnote\nÉmile.txt\ta b.srt\t1,5\nc.txt\t"d;e.srt"\t\n',
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_one_table_in_many_forms(tmp_path, text, encoding):
    assert rows_of(tmp_path, text.encode(encoding)) == EXPECTED


def test_lines_are_those_of_the_file(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text('sep=;\na;b\n\n"two\nlines";c\n', encoding="utf-8")
    assert [row.line for row in read_rows(path)] == [2, 5]


def test_quotation_marks_of_dialogue(tmp_path):
    data = b'id\ttext\n0\t"Go!" he said.\n1\t"Yes."\n2\t"No\n'
    assert rows_of(tmp_path, data, quoted_tabs=False)[1:] == [
        ("0", '"Go!" he said.'),
        ("1", '"Yes."'),
        ("2", '"No'),
    ]


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"clip,text\na.mp4,He goes, slowly.\n", "table.csv:2: has 3 cells where the first row"),
        (b'a,b\n"' + b"x" * 200_000 + b'",c\n', "is not a table as spreadsheets write them"),
        (b'a,b\n1,2\n"3,4\n5,6\n7,8\n', "table.csv:3: is not a table.*quotation marks closed"),
        (b"\x7fELF" + bytes(range(256)) * 9, "table.csv: is not a text file"),
    ],
)
def test_what_is_no_table(tmp_path, data, says):
    with pytest.raises(InputError, match=says):
        rows_of(tmp_path, data)
