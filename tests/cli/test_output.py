"""What commands print: tables and passages, and Ctrl-C."""

import pytest

from folioreel.cli import output


def interrupt(kept):
    with output.show_progress(kept):
        raise KeyboardInterrupt


def test_work_that_can_be_resumed_says_so():
    with pytest.raises(output.StoppedError, match="the books read so far are kept"):
        interrupt("the books read so far")
    with pytest.raises(KeyboardInterrupt):
        interrupt(None)


def test_columns_are_aligned(capsys):
    output.show_table(
        [{"book": "a", "near_lines": 1234.56789}, {"book": "bb" * 30, "near_lines": 2}]
    )
    head, first, second = capsys.readouterr().out.splitlines()
    assert head == "book" + " " * 38 + "near lines"
    assert first == "a" + " " * 39 + "  1,234.5679"[-12:]
    assert second.startswith("bb" * 19 + "b…")
    assert second.endswith(" 2")


def test_passages_are_wrapped_behind_a_margin(capsys):
    output.show_passage("word " * 40 + "\nanother paragraph", "> ")
    lines = capsys.readouterr().out.splitlines()
    assert all(line.startswith("> ") and len(line) <= 90 for line in lines)
    assert lines[-1] == "> another paragraph"
