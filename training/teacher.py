"""A large pretrained sentence encoder as a teacher: its vectors for millions of sentences."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as functional
from numpy.typing import NDArray
from torch import Tensor

from folioreel.progress import Progress, ProgressCallback, ignore_progress

_ENDINGS = ("'s", "'ll", "'re", "'ve", "'d", "'m", "n't")


def join_tokens(tokens: Sequence[str]) -> str:
    """Words joined to a text: contractions attached to their word, spaces between all others.

    A space before punctuation does not matter: the teacher's tokenizer splits it off anyway.
    """
    text = ""
    for token in tokens:
        text += token if token in _ENDINGS or not text else f" {token}"
    return text


class Teacher:
    """A BERT-like model of Sentence-Transformers: the mean over its tokens, of unit length."""

    def __init__(self, folder: Path, device: torch.device, longest: int = 64) -> None:
        from tokenizers import Tokenizer
        from transformers import AutoModel

        self.device = device
        half = torch.float16 if device.type == "cuda" else torch.float32
        self.model: Any = AutoModel.from_pretrained(str(folder)).to(device, half).eval()
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_padding()
        self.tokenizer.enable_truncation(longest)

    def vectors(
        self,
        texts: Sequence[str],
        progress: ProgressCallback = ignore_progress,
        batch: int = 1024,
        block: int = 65_536,
    ) -> NDArray[np.float16]:
        """The unit vector of each text: (N, units)."""
        found = []
        for first in range(0, len(texts), block):
            found.append(self._block(texts[first : first + block], batch))
            done = min(first + block, len(texts))
            progress(Progress(stage="encoding with the teacher", done=done, total=len(texts)))
        return np.concatenate(found)

    @torch.inference_mode()
    def _block(self, texts: Sequence[str], batch: int) -> NDArray[np.float16]:
        pieces = [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts))]
        order = np.argsort([len(ids) for ids in pieces], kind="stable")
        found = torch.empty(len(texts), self.model.config.hidden_size, dtype=torch.float16)
        for first in range(0, len(order), batch):
            rows = order[first : first + batch]
            found[torch.from_numpy(rows)] = self._encode([pieces[row] for row in rows]).half().cpu()
        return found.numpy()

    def _encode(self, pieces: list[list[int]]) -> Tensor:
        lengths = np.array([len(ids) for ids in pieces])
        padded = np.zeros((len(pieces), lengths.max()), dtype=np.int64)
        padded[np.arange(lengths.max()) < lengths[:, None]] = list(chain.from_iterable(pieces))
        ids = torch.from_numpy(padded).to(self.device)
        real = (ids != 0).long()
        states = self.model(input_ids=ids, attention_mask=real).last_hidden_state
        mean = (states * real[:, :, None]).float().sum(dim=1) / real.sum(dim=1, keepdim=True)
        return functional.normalize(mean, dim=1)
