"""What was heard in a film, as subtitle files that players read."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pysubs2 import SSAEvent, SSAFile

from folioreel.files import write_text, writing_together
from folioreel.ingest.speech.transcribe import Transcript
from folioreel.text import wrap_lines

SUFFIXES = (".srt", ".vtt")
_LINE_WIDTH = 42  # characters: what most broadcasters ask for


def write_transcript(transcript: Transcript, stem: Path) -> list[Path]:
    """Write `STEM.srt` and `STEM.vtt`; a long sentence takes several cues."""
    subtitles = SSAFile()
    for sentence in transcript.sentences:
        for cue in sentence.cues():
            start_ms = round(1000 * cue.start_s)
            event = SSAEvent(start=start_ms, end=max(round(1000 * cue.end_s), start_ms + 1))
            # Players would take the characters for markup.
            text = re.sub(r"[<>{}]", "", cue.text)
            event.plaintext = "\n".join(wrap_lines(text, _LINE_WIDTH))
            subtitles.append(event)
    paths = [stem.with_name(stem.name + suffix) for suffix in SUFFIXES]
    with writing_together(stem.parent, [path.name for path in paths]):
        for path in paths:
            write_text(path, subtitles.to_string(path.suffix.removeprefix(".")))
    return paths


def transcript_to_dict(transcript: Transcript) -> dict[str, Any]:
    """The sentences and the words, for JSON."""
    return {
        "language": transcript.language,
        "model": transcript.model,
        "sentences": [
            {
                "start_s": sentence.start_s,
                "end_s": sentence.end_s,
                "text": sentence.text,
                "words": [[word.start_s, word.end_s, word.text.strip()] for word in sentence.words],
            }
            for sentence in transcript.sentences
        ],
    }
