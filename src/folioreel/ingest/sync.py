"""Whether subtitles are on time: the cues against the voices in the film's sound.

Subtitles from a file may begin late or early, because they were made for a release with another
opening, and may drift, because they were made for another frame rate. As ffsubsync does, we look
for the shift and the frame rates at which there is a voice while a cue is on screen, and silence
otherwise: the correlation of the two over all shifts, by FFT.

Nothing is changed without clear evidence: the correlation must stand out from that of all other
shifts, must be clearly better than that of the times as they are, and better in most parts of the
film. Subtitles of another cut, which one shift cannot mend, are therefore left alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError
from folioreel.ingest.subtitles.dialogue import Dialogue
from folioreel.ingest.video.voice import FRAMES_PER_S
from folioreel.types import Subtitle

Signal = NDArray[np.float32]

_RATES = {"23.976": 24000 / 1001, "24": 24.0, "25": 25.0}
"""Frame rates that films are released in. 29.97 and 30 stand in the same ratio as 23.976 and 24,
and films keep their time when they are shown at 29.97."""
_LARGEST_OFFSET_S = 120.0
# Smaller shifts are not mended: cues begin and end some tenths of a second off the voice anyway.
_SMALLEST_OFFSET_S = 0.5
# A frame rate that moves no cue by more than this makes no difference.
_SMALLEST_DRIFT_S = 1.0
# Fewer cues fit somewhere by chance.
_FEWEST_CUES = 20
# The peak in standard deviations of the correlation at all shifts. The largest of the 84,000 shifts
# and rates that are tried has 4 where there is only music. With speech, 40 minutes of film have 13
# to 20 (docs/explanation/warnings.md).
_CLEAR = 7.0
# What another frame rate must have more than a shift alone: a simple reason is likelier.
_SIMPLER = 1.5
# How much better each cue must fit than it does now: Student's t over the cues, …
_BETTER = 5.0
# … and in how many parts of the film, by number of cues, they must fit better on average.
_PARTS, _BETTER_PARTS = 4, 3
# Sound is compared with its surroundings, so that long music or noise counts little.
_SURROUNDINGS_S = 30.0
# Cues stay on screen after the last word. A voice needs about this long for a letter.
_S_PER_LETTER = 0.065


@dataclass(frozen=True, kw_only=True)
class Timing:
    """How the times of subtitles are changed: stretched, and then shifted."""

    offset_s: float = 0.0  # added to all times; negative if the subtitles are late
    stretch: float = 1.0  # all times are multiplied by it: 25/23.976 for 25 fps at 23.976
    sync: bool = True  # whether to find both by the sound, unless one of them is given

    def __post_init__(self) -> None:
        if not abs(self.offset_s) < 1e6:  # so of NaN, too
            raise ConfigError(
                f"an offset of {self.offset_s:g} s makes no sense for subtitles; give seconds, "
                "such as -2.4 if they are 2.4 s late"
            )
        if not 0.5 <= self.stretch <= 2.0:
            raise ConfigError(
                f"a stretch of {self.stretch:g} makes no sense for subtitles; it is near 1, such "
                "as 1.0427 for 25 to 23.976 fps"
            )

    @property
    def is_given(self) -> bool:
        """Whether the user chose a shift or a stretch."""
        return bool(self.offset_s) or self.stretch != 1.0


def parse_rates(text: str) -> float:
    """The stretch for `FROM:TO`, two frame rates: what subtitles were timed for, and the film's."""
    try:
        made, shown = (_exact_rate(float(rate)) for rate in text.split(":"))
    except (ValueError, OverflowError):  # the latter for `inf`
        raise ConfigError(
            f"{text!r} are not two frame rates; write for example 25:23.976"
        ) from None
    if not (made > 0 and shown > 0):
        raise ConfigError(f"{text!r}: frame rates are above 0")
    return made / shown


def _exact_rate(rate: float) -> float:
    """23.976, 29.97 and 59.94 stand for fractions of 1001."""
    whole = round(rate * 1.001)
    return whole / 1.001 if abs(whole / 1.001 - rate) < 0.002 else rate


def retime(dialogue: Dialogue, timing: Timing) -> Dialogue:
    """The dialogue with other times; what would end before the film begins is left out."""
    if not timing.is_given:
        return dialogue

    def move(time_s: float) -> float:
        return max(0.0, time_s * timing.stretch + timing.offset_s)

    moved = [
        replace(said, start_s=move(said.start_s), end_s=move(said.end_s))
        for said in dialogue.subtitles
    ]
    kept = [said for said in moved if said.end_s > 0]
    lost = len(moved) - len(kept)
    notes = [f"{lost} sentences left out, which would come before the film begins"] if lost else []
    return replace(
        dialogue,
        subtitles=tuple(replace(said, index=k) for k, said in enumerate(kept)),
        first_cue_s=move(dialogue.first_cue_s),
        last_cue_s=move(dialogue.last_cue_s),
        notes=(*dialogue.notes, *notes),
    )


def find_timing(subtitles: Sequence[Subtitle], voice: NDArray[np.bool_]) -> Timing | None:
    """How to mend the times of subtitles, or None if they are right or nothing is clear.

    Args:
        subtitles: What is said.
        voice: Whether there is a voice, `FRAMES_PER_S` times per second from time zero.
    """
    if len(subtitles) < _FEWEST_CUES or not voice.any():
        return None
    lags = round(_LARGEST_OFFSET_S * FRAMES_PER_S)
    # Long enough for the last cue at the slowest rate, and no shift wraps around.
    # Cues far beyond the sound cannot be compared, and their times may be absurd.
    end_s = min(subtitles[-1].end_s * 1.05, 2 * len(voice) / FRAMES_PER_S)
    length = max(len(voice), round(end_s * FRAMES_PER_S)) + lags
    sound = _contrast(voice.astype(np.float32), length)
    best = max(
        (_best_shift(subtitles, stretch, sound, lags) for stretch in _stretches(subtitles)),
        key=lambda found: found.height - _SIMPLER * (found.stretch != 1.0),
    )
    is_moved = best.stretch != 1.0 or abs(best.offset_s) >= _SMALLEST_OFFSET_S
    timing = Timing(offset_s=best.offset_s, stretch=best.stretch)
    if is_moved and best.height >= _CLEAR and _is_better(subtitles, timing, sound):
        return timing
    return None


def describe_timing(timing: Timing, end_s: float) -> str:
    """What was wrong with the times and was mended, for the user.

    `end_s` is when the last cue ends.
    """
    said = []
    if timing.stretch != 1.0:
        made, shown = min(
            ((made, shown) for made in _RATES for shown in _RATES),
            key=lambda pair: abs(_RATES[pair[0]] / _RATES[pair[1]] - timing.stretch),
        )
        share, pace = abs(timing.stretch - 1), "faster" if timing.stretch > 1 else "slower"
        said.append(
            f"the subtitles run {share:.1%} {pace} than the film (the ratio of {made} to {shown} "
            f"frames per second): stretched by {timing.stretch:.4f} (up to {share * end_s:.0f} s)"
        )
    if abs(timing.offset_s) >= _SMALLEST_OFFSET_S:
        late = "late" if timing.offset_s < 0 else "early"
        subject = "they" if said else "the subtitles"
        said.append(f"{subject} are {abs(timing.offset_s):.1f} s {late}: shifted")
    return "; ".join(said)


@dataclass(frozen=True, kw_only=True)
class _Peak:
    """The best shift at one stretch."""

    stretch: float
    offset_s: float
    height: float  # the correlation, in standard deviations of that at all shifts


def _stretches(subtitles: Sequence[Subtitle]) -> list[float]:
    rates = _RATES.values()
    found = sorted({made / shown for made in rates for shown in rates if made != shown})
    end_s = subtitles[-1].end_s
    return [1.0, *(ratio for ratio in found if abs(ratio - 1) * end_s >= _SMALLEST_DRIFT_S)]


def _best_shift(subtitles: Sequence[Subtitle], stretch: float, sound: Signal, lags: int) -> _Peak:
    length = len(sound)
    cues = _contrast(_draw(subtitles, stretch, length), length)
    product = np.fft.rfft(sound) * np.conj(np.fft.rfft(cues))
    correlation = np.fft.irfft(product, length)
    shifts = np.arange(-lags, lags + 1)
    near = correlation[shifts]  # negative shifts are at the end
    best = int(near.argmax())
    return _Peak(
        stretch=stretch,
        offset_s=float(shifts[best]) / FRAMES_PER_S,
        height=float(near[best]) / max(float(correlation.std()), 1e-9),
    )


def _span(said: Subtitle, timing: Timing) -> tuple[int, int]:
    """The first frame in which somebody should speak, and the one after the last."""
    spoken_s = min(said.end_s - said.start_s, _S_PER_LETTER * len(said.text) + 0.2)
    start_s = said.start_s * timing.stretch + timing.offset_s
    first = max(0, round(start_s * FRAMES_PER_S))
    return first, max(first + 1, round((start_s + spoken_s) * FRAMES_PER_S))


def _draw(subtitles: Sequence[Subtitle], stretch: float, length: int) -> Signal:
    """1 while somebody should speak, 0 otherwise."""
    drawn = np.zeros(length, np.float32)
    timing = Timing(stretch=stretch)
    for said in subtitles:
        drawn[slice(*_span(said, timing))] = 1.0
    return drawn


def _contrast(signal: Signal, length: int) -> Signal:
    """A signal minus its mean over the surroundings, scaled to length 1, padded with zeros."""
    window = round(_SURROUNDINGS_S * FRAMES_PER_S)
    sums = np.concatenate([[0.0], np.cumsum(signal, dtype=np.float64)])
    first = np.maximum(np.arange(len(signal)) - window, 0)
    last = np.minimum(np.arange(len(signal)) + window + 1, len(signal))
    local = signal - (sums[last] - sums[first]) / (last - first)
    out = np.zeros(length, np.float32)
    out[: len(local)] = local
    norm = float(np.linalg.norm(out))
    return out / np.float32(norm) if norm > 0 else out


def _is_better(subtitles: Sequence[Subtitle], timing: Timing, sound: Signal) -> bool:
    """Whether the cues fit the sound clearly better, and in most parts of the film."""
    now = Timing()
    gains = np.array([_mean(sound, said, timing) - _mean(sound, said, now) for said in subtitles])
    error = gains.std(ddof=1) / np.sqrt(len(gains))
    better = sum(float(part.mean()) > 0 for part in np.array_split(gains, _PARTS))
    return bool(gains.mean() >= _BETTER * error) and better >= _BETTER_PARTS


def _mean(sound: Signal, said: Subtitle, timing: Timing) -> float:
    heard = sound[slice(*_span(said, timing))]
    return float(heard.mean()) if len(heard) else 0.0
