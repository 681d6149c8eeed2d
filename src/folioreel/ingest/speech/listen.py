"""Listening to a film: sound → words with their times, resumable and cached by content.

    sound → blocks of a minute      video/audio.py
    blocks → pieces of speech       the voice detector of the recogniser
    pieces → windows                this module: full windows, as the recogniser hears 30 s at once
    windows → words                 whisper.py
    words → sentences               sentences.py

After each pair of windows, which is at most a minute of speech, the words so far are stored in the
cache; a run that was stopped goes on from there.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import NamedTuple, Protocol

import numpy as np

from folioreel.cache import find_json, store_json
from folioreel.ingest.video.audio import BLOCK_S, Samples, read_blocks
from folioreel.ingest.video.container import OpenVideo
from folioreel.progress import Progress, ProgressCallback, ignore_progress
from folioreel.times import check_spans

RATE = 16_000  # samples per second: what Whisper and its voice detector were trained on
WINDOW_S = 30.0  # what Whisper hears at once; a shorter window takes as long
_WINDOWS_AT_ONCE = 2
_STAGE = "listening"
# Speech that ends less than this before the end of a block may go on in the next one. It is longer
# than the silence that ends a piece.
_OPEN_END = round(0.5 * RATE)
# Part of the cache key. Add one when other words would be heard in the same film.
_CACHE_VERSION = 1


class Word(NamedTuple):
    """A recognised word."""

    start_s: float
    end_s: float
    text: str  # with its punctuation, and the space before it in languages that write one


class Recogniser(Protocol):
    """What turns speech into words."""

    name: str
    fingerprint: str  # equal for two recognisers only if they hear the same words

    def find_speech(self, samples: Samples) -> list[tuple[int, int]]:
        """Where somebody speaks, as ranges of samples of at most `WINDOW_S`, in order."""

    def detect_language(self, windows: Sequence[Samples]) -> str:
        """The two-letter code of the language that is spoken."""

    def recognise(self, windows: Sequence[Samples], language: str) -> list[list[Word]]:
        """The words of each window, with times from its beginning."""


@dataclass(frozen=True, kw_only=True)
class Heard:
    """What was heard so far."""

    words: tuple[Word, ...] = ()
    language: str | None = None  # None as long as nobody has spoken
    until_s: float = 0.0  # how much of the film has been heard
    finished: bool = False


@dataclass(frozen=True, kw_only=True, eq=False)
class Piece:
    """A stretch of sound in which somebody speaks."""

    start_s: float
    samples: Samples


def listen(
    video: OpenVideo,
    stream: int,
    recogniser: Recogniser,
    language: str | None = None,
    progress: ProgressCallback | None = None,
) -> Heard:
    """The words of one audio stream; the language is detected if it is not given."""
    progress = progress or ignore_progress
    key = _cache_key(video.sha256, stream, recogniser, language)
    heard = _recall(key)
    if heard.finished:
        return heard
    blocks = read_blocks(video, stream, RATE, heard.until_s)
    blocks = _reported(blocks, heard.until_s, video.file_length_s, progress)
    pieces = find_pieces(blocks, heard.until_s, recogniser)
    for windows, until_s in pack_windows(pieces):
        samples = [np.concatenate([piece.samples for piece in window]) for window in windows]
        spoken = language or heard.language or recogniser.detect_language(samples)
        words = recogniser.recognise(samples, spoken)
        new = [word for window, said in zip(windows, words, strict=True)
               for word in _on_film_time(window, said)]  # fmt: skip
        # Where no word is found the language was a guess; the next windows may tell it.
        known = spoken if new else heard.language
        heard = Heard(words=(*heard.words, *new), language=known, until_s=until_s)
        _store(key, heard)
    heard = replace(heard, finished=True)
    _store(key, heard)
    return heard


def _reported(
    blocks: Iterable[Samples], start_s: float, total_s: float, progress: ProgressCallback
) -> Iterator[Samples]:
    """The blocks, each reported when the next one is asked for."""
    progress(Progress(stage=_STAGE, done=start_s, total=max(start_s, total_s)))
    for block in blocks:
        yield block
        start_s += len(block) / RATE
        progress(Progress(stage=_STAGE, done=start_s, total=max(start_s, total_s)))


def find_pieces(
    blocks: Iterable[Samples], start_s: float, recogniser: Recogniser
) -> Iterator[Piece]:
    """The pieces of sound in which somebody speaks; none is cut at the end of a block."""
    held = np.zeros(0, np.float32)
    for block in blocks:
        held = np.concatenate([held, block])
        is_last = len(block) < BLOCK_S * RATE
        speech = recogniser.find_speech(held) if held.any() else []
        kept = len(held) if is_last else len(held) - _OPEN_END
        if speech and not is_last and speech[-1][1] > kept:
            kept = speech.pop()[0]
        yield from _cut(held, speech, start_s)
        start_s += kept / RATE
        held = held[kept:].copy()
    if held.any():
        yield from _cut(held, recogniser.find_speech(held), start_s)


def _cut(held: Samples, speech: Iterable[tuple[int, int]], start_s: float) -> Iterator[Piece]:
    for begin, end in speech:
        # A copy: with a view, a film of few words would be held in memory as a whole.
        yield Piece(start_s=start_s + begin / RATE, samples=held[begin:end].copy())


def pack_windows(pieces: Iterable[Piece]) -> Iterator[tuple[list[list[Piece]], float]]:
    """Pieces in windows of at most `WINDOW_S`, a few at once, and where in the film to go on."""
    windows: list[list[Piece]] = []
    filled = 0
    end_s = 0.0
    for piece in pieces:
        if windows and filled + len(piece.samples) <= WINDOW_S * RATE:
            windows[-1].append(piece)
            filled += len(piece.samples)
        else:
            if len(windows) == _WINDOWS_AT_ONCE:
                yield windows, piece.start_s
                windows = []
            windows.append([piece])
            filled = len(piece.samples)
        end_s = piece.start_s + len(piece.samples) / RATE
    if windows:
        yield windows, end_s


def _on_film_time(window: Sequence[Piece], words: Iterable[Word]) -> Iterator[Word]:
    """Words with times of the film; the silence between the pieces of the window was cut out."""
    begins = np.cumsum([0, *(len(piece.samples) for piece in window)]) / RATE
    for word in words:
        # A word belongs to one piece, the one that its middle is in.
        middle_s = (word.start_s + word.end_s) / 2
        k = min(int(np.searchsorted(begins, middle_s, side="right")) - 1, len(window) - 1)
        low_s, length_s = window[k].start_s, float(begins[k + 1] - begins[k])
        start_s, end_s = (
            round(low_s + min(max(time_s - float(begins[k]), 0.0), length_s), 3)
            for time_s in (word.start_s, word.end_s)
        )
        yield Word(start_s, end_s, word.text)


def _cache_key(sha256: str, stream: int, recogniser: Recogniser, language: str | None) -> str:
    settings = [_CACHE_VERSION, sha256, stream, recogniser.fingerprint, language]
    return hashlib.sha256(json.dumps(settings).encode()).hexdigest()


def _store(key: str, heard: Heard) -> None:
    store_json(key, asdict(heard))


def _recall(key: str) -> Heard:
    """What an earlier run heard; nothing, if what it stored makes no sense."""
    found = find_json(key, Heard) or Heard()
    try:
        check_spans([(0.0, found.until_s), *(word[:2] for word in found.words)])
    except ValueError:
        return Heard()
    return found
