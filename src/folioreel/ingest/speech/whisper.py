"""Whisper through faster-whisper: how windows of sound become words."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from functools import cache, cached_property
from pathlib import Path
from typing import Any

import numpy as np

from folioreel.engines.batch import count_cores
from folioreel.errors import ModelFolderError
from folioreel.files import file_sha256
from folioreel.ingest.speech.listen import RATE, WINDOW_S, Word
from folioreel.ingest.speech.model_files import NEEDED
from folioreel.ingest.video.audio import Samples

# Whisper's own rules (Radford et al. 2022, section 4.5): text that compresses better repeats
# itself, and an improbable window is silence if the model thinks so, or else misheard. What still
# is after the last attempt is left out here: mostly it was no speech, but music or cries.
_REPETITIVE = 2.4
_IMPROBABLE = -1.0
_SILENT = 0.6
_WARMER = (0.2, 0.4, 0.6, 0.8, 1.0)  # temperatures of the further attempts, as in faster-whisper


@cache
def load_whisper(name: str, folder: Path) -> Whisper:
    """The model in a folder; once loaded, it is kept."""
    return Whisper(name, folder)


class Whisper:
    """A Whisper model on the processor, in 8-bit arithmetic."""

    def __init__(self, name: str, folder: Path) -> None:
        """Know the model; it is loaded when it is first needed, as cached words do not need it."""
        self.name = f"Whisper {name}"
        self._folder = folder
        hashes = "".join(file_sha256(folder / file) for file in NEEDED)
        self.fingerprint = hashlib.sha256(hashes.encode()).hexdigest()

    @cached_property
    def _model(self) -> Any:
        from faster_whisper import WhisperModel

        try:
            return WhisperModel(
                str(self._folder),
                device="cpu",
                compute_type="int8",
                cpu_threads=count_cores(),
                local_files_only=True,
            )
        except Exception as error:  # of CTranslate2, of the tokenizer, or of reading JSON
            message = f"{self._folder}: cannot be read as a speech model ({error})"
            raise ModelFolderError(message) from error

    @cached_property
    def _batched(self) -> Any:
        from faster_whisper import BatchedInferencePipeline

        return BatchedInferencePipeline(self._model)

    @property
    def languages(self) -> list[str]:
        """The two-letter codes of the languages that it understands."""
        return list(self._model.supported_languages)

    def find_speech(self, samples: Samples) -> list[tuple[int, int]]:
        """Where somebody speaks, by Silero's voice detector."""
        from faster_whisper.vad import VadOptions, get_speech_timestamps

        # The settings of faster-whisper for windows that are recognised side by side.
        options = VadOptions(max_speech_duration_s=WINDOW_S, min_silence_duration_ms=160)
        return [(piece["start"], piece["end"]) for piece in get_speech_timestamps(samples, options)]

    def detect_language(self, windows: Sequence[Samples]) -> str:
        """The language of the first window that makes it clear, or else of most of them."""
        if len(self.languages) == 1:
            return self.languages[0]  # such a model cannot tell languages apart
        language, _, _ = self._model.detect_language(
            np.concatenate(windows), language_detection_segments=len(windows)
        )
        return str(language)

    def recognise(self, windows: Sequence[Samples], language: str) -> list[list[Word]]:
        """The words of each window; one that went wrong is tried again, at random."""
        # Each window begins at a multiple of 30 s, so that the times of its words tell it.
        size = round(WINDOW_S * RATE)
        sound = np.concatenate([np.pad(window, (0, size - len(window))) for window in windows])
        clips = [
            {"start": k * WINDOW_S, "end": k * WINDOW_S + len(window) / RATE}
            for k, window in enumerate(windows)
        ]
        segments, _ = self._batched.transcribe(
            sound,
            language=language,
            clip_timestamps=clips,
            batch_size=len(windows),
            word_timestamps=True,
        )
        found: list[list[Word]] = [[] for _ in windows]
        for segment in segments:
            k = min(int(segment.seek / 100 // WINDOW_S), len(windows) - 1)
            if _is_silence(segment):
                continue
            if _is_misheard(segment):
                found[k] = self._try_again(windows[k], language)
            else:
                found[k] += _words(segment, k * WINDOW_S)
        return found

    def _try_again(self, window: Samples, language: str) -> list[Word]:
        segments, _ = self._model.transcribe(
            window,
            language=language,
            temperature=_WARMER,
            condition_on_previous_text=False,
            word_timestamps=True,
        )
        right = (segment for segment in segments if not _is_misheard(segment))
        return [word for segment in right for word in _words(segment, 0.0)]


def _is_silence(segment: Any) -> bool:
    return bool(segment.no_speech_prob > _SILENT and segment.avg_logprob < _IMPROBABLE)


def _is_misheard(segment: Any) -> bool:
    return bool(segment.compression_ratio > _REPETITIVE or segment.avg_logprob < _IMPROBABLE)


def _words(segment: Any, begin_s: float) -> list[Word]:
    return [
        Word(float(word.start) - begin_s, float(word.end) - begin_s, word.word)
        for word in segment.words or ()
    ]
