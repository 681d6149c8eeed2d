"""A film → what is said in it, by listening: the door to speech recognition."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from folioreel.config import SpeechConfig
from folioreel.errors import ConfigError, InputError
from folioreel.ingest.speech import model_files, whisper
from folioreel.ingest.speech.listen import listen
from folioreel.ingest.speech.sentences import SpokenSentence, split_words
from folioreel.ingest.video.audio import choose_audio
from folioreel.ingest.video.container import OpenVideo
from folioreel.isolation import read_apart
from folioreel.language import language_name, parse_language
from folioreel.progress import ProgressCallback


@dataclass(frozen=True, kw_only=True)
class Transcript:
    """What is said in a film, and who heard it."""

    sentences: tuple[SpokenSentence, ...]
    language: str | None  # two letters; None if nobody speaks
    model: str

    def __str__(self) -> str:
        """For messages: `speech recognised by Whisper base (English)`."""
        spoken = f" ({language_name(self.language)})" if self.language else ""
        return f"speech recognised by {self.model}{spoken}"


def transcribe_file(
    path: Path, speech: SpeechConfig, progress: ProgressCallback | None = None
) -> Transcript:
    """As `transcribe`, for a file that may not be sound (isolation.py)."""
    return read_apart(_transcribe_file, path, speech, progress=progress)


def _transcribe_file(path: Path, speech: SpeechConfig, progress: ProgressCallback) -> Transcript:
    with OpenVideo(path) as video:
        return transcribe(video, speech, progress)


def transcribe(
    video: OpenVideo, speech: SpeechConfig, progress: ProgressCallback | None = None
) -> Transcript:
    """Listen to a film, or recall what was heard in it; a run that was stopped is continued.

    Raises:
        InputError: The video has no sound.
        ConfigError: faster-whisper or the model is missing, or does not know the language.
        ModelFolderError: The model is damaged.
    """
    name, folder = model_files.find_model(speech.model)
    language = None if speech.language is None else parse_language(speech.language)
    stream = choose_audio(video, language)
    if stream is None:
        raise InputError(
            "has no sound to listen to; give its subtitles, or a film with sound", video.path
        )
    recogniser = whisper.load_whisper(name, folder)
    if language == "nb":
        language = "no"  # Whisper's code for Bokmål; Nynorsk has its own
    if language is not None and language not in recogniser.languages:
        several = "choose a model for several languages, as in --speech-model base"
        advice = several if len(recogniser.languages) == 1 else "give subtitles with --subtitles"
        raise ConfigError(
            f"{recogniser.name} does not understand {language_name(language)}; {advice}"
        )
    heard = listen(video, stream.index, recogniser, language, progress)
    return Transcript(
        sentences=split_words(heard.words, heard.language),
        language=heard.language,
        model=recogniser.name,
    )


def can_listen(video: OpenVideo, speech: SpeechConfig) -> bool:
    """Whether the film has sound, and everything that is needed to listen to it is here.

    A model that the user named counts as here: it may be downloaded.
    """
    if choose_audio(video) is None or not model_files.is_installed():
        return False
    try:
        return speech.model is not None or bool(model_files.find_model())
    except ConfigError:
        return False
