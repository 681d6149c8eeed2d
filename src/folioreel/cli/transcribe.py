"""`transcribe`: subtitles of a film by listening to it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from folioreel.cli import options, output
from folioreel.errors import InputError

if TYPE_CHECKING:
    from folioreel.config import SpeechConfig


@click.command()
@click.argument("film", type=options.FILE)
@options.speech
@options.results("Folder for the subtitles (default: beside the film, where align finds them).")
def transcribe(film: Path, speech: SpeechConfig, out: Path | None, force: bool) -> None:
    """Write subtitles of a film by listening to it.

    FILM is a video. The subtitles are written as SRT and VTT, under the film's name. A run that was
    stopped continues where it was. Needs folioreel[speech].

    \b
    Examples:
      folioreel transcribe film.mkv
      folioreel transcribe film.mkv --speech-model small --speech-language fr --out subtitles
    """
    from folioreel.export.transcript import SUFFIXES, transcript_to_dict, write_transcript
    from folioreel.files import check_output_file
    from folioreel.ingest.speech.transcribe import transcribe_file

    stem = (out or film.parent) / film.stem
    for suffix in SUFFIXES:  # before the work, which takes minutes
        check_output_file(stem.with_name(stem.name + suffix), force=force)
    with output.show_progress("the minutes heard so far") as progress:
        transcript = transcribe_file(film, speech, progress)
    if not transcript.sentences:
        raise InputError(f"{transcript.model} hears nobody speak; no subtitles were written", film)
    output.show_json(transcript_to_dict(transcript))
    files = write_transcript(transcript, stem)
    output.show_line(f"{len(transcript.sentences):,} sentences: {transcript}")
    output.show_written(*files)
