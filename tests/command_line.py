"""Running the command line in a test: a pair to align, and what every error must look like."""

import re

from click.testing import CliRunner
from conftest import SENTENCES, SPOKEN

from folioreel.cli import main


def write_pair(folder):
    """A small book and the subtitles of its film."""
    book, film = folder / "book.txt", folder / "film.srt"
    book.write_text("\n\n".join(SENTENCES) + "\n", encoding="utf-8")
    cues = [
        f"{k}\n00:00:{a:06.3f} --> 00:00:{b:06.3f}\n{text}\n".replace(".", ",", 2)
        for k, (a, b, text) in enumerate(SPOKEN, 1)
    ]
    film.write_text("\n".join(cues), encoding="utf-8")
    return book, film


def run(*arguments):
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def assert_one_line(result, *says, code=1):
    """The command failed with an exit code and one line that says certain things."""
    assert result.exit_code == code, result.output
    assert isinstance(result.exception, SystemExit), "no other exception"
    assert result.stdout == ""
    assert re.fullmatch(r"folioreel: [^\n]+\n", result.stderr), result.stderr
    for words in says:
        assert words in result.stderr
