"""Do subtitles fit a video? What their times tell about another cut, rate or offset."""

from __future__ import annotations

from collections.abc import Iterator

from folioreel.times import format_clock as _clock

# Rates that subtitles are made for and faster ones that films run at. The end of the subtitles
# cannot tell 23.976 from 24.
_SLOWER_RATES = (
    (24000 / 1001, "23.976 or 24", 25.0),
    (24000 / 1001, "23.976", 24.0),
    (30000 / 1001, "29.97", 30.0),
    (25.0, "25", 30000 / 1001),
)
_MEND = "re-time them with ffsubsync or Subtitle Edit"
_SHORT_S = 300.0
"""Below this length, how much of a film is spoken tells nothing."""
_LATE_S = 900.0
_BROADCAST_S = 3600.0


def check_times(
    first_s: float, last_s: float, duration_s: float, frame_rate: float | None
) -> Iterator[str]:
    """Notes about subtitles whose times do not fit the video, most telling first.

    Args:
        first_s: When the first cue begins.
        last_s: When the last cue ends.
        duration_s: The length of the video.
        frame_rate: The video's frame rate, where known.
    """
    if duration_s <= 0:
        return
    tolerance_s = max(2.0, 0.0005 * duration_s)
    if first_s >= duration_s:
        yield _explain_outside(first_s, last_s, duration_s)
    elif last_s > duration_s + tolerance_s:
        yield _explain_long(last_s, duration_s, frame_rate)
    elif duration_s >= _SHORT_S:
        yield from _explain_short(first_s, last_s, duration_s, frame_rate)


def _explain_outside(first_s: float, last_s: float, duration_s: float) -> str:
    hours = int(first_s // _BROADCAST_S)
    rest_s = first_s - hours * _BROADCAST_S
    if hours and rest_s < _LATE_S and last_s - first_s + rest_s <= duration_s + 2.0:
        return (
            f"the subtitles begin at {_clock(first_s)}, as broadcasters count; take {hours} h off "
            "their times with Subtitle Edit"
        )
    return (
        f"the subtitles begin at {_clock(first_s)}, after the film's end at {_clock(duration_s)}; "
        "they belong to another film or another part of it"
    )


def _explain_long(last_s: float, duration_s: float, frame_rate: float | None) -> str:
    """The last cue lies behind the film's end."""
    over = f"the subtitles run until {_clock(last_s)}, past the film's end at {_clock(duration_s)}"
    for slower, words, runs_at in _SLOWER_RATES:
        is_rate = frame_rate is None or abs(runs_at - frame_rate) < 0.01
        # A film's last word is spoken in its last fifth.
        if is_rate and 0.8 * duration_s <= last_s * slower / runs_at <= duration_s:
            return (
                f"{over}; they are likely timed for {words} frames a second while the film runs at "
                f"{runs_at:.5g}, or they begin late: {_MEND}"
            )
    return f"{over}; they are likely for another cut, or begin late: {_MEND}, or find others"


def _explain_short(
    first_s: float, last_s: float, duration_s: float, frame_rate: float | None
) -> Iterator[str]:
    """The subtitles cover too little of the film, or begin late."""
    if last_s < 0.75 * duration_s:
        yield (
            f"the subtitles end at {_clock(last_s)} of {_clock(duration_s)}; they are likely for "
            "one part of the film or for a shorter cut: find the whole, or re-time them"
        )
    if first_s > max(_LATE_S, 0.15 * duration_s):
        yield (
            f"the first subtitle comes at {_clock(first_s)}; if somebody speaks before it, they "
            f"are late: {_MEND}"
        )
