"""`train visual` and `train caption`: what is learned from pictures or clips and sentences."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from folioreel.cli import options, output
from folioreel.cli.train import ending_like_ctrl_c

if TYPE_CHECKING:
    from folioreel.train.runs import DeviceName


_shared_options = options.join(
    click.argument("data", type=options.FILE),
    options.out("Folder for the run.", required=True),
    click.option(
        "--frame-features",
        metavar="NAME",
        default="efficientnet-lite0",
        show_default=True,
        help="The network that looks at the pictures.",
    ),
    options.minutes,
    options.device,
    options.json,
)


@click.command()
@_shared_options
@click.option(
    "--features",
    type=click.Choice(["visual", "scene"]),
    default="visual",
    show_default=True,
    help="What of the pictures: objects, or places.",
)
@click.option(
    "--reader",
    type=click.Choice(["attention", "lstm"]),
    default="attention",
    show_default=True,
    help="What reads the sentences.",
)
@click.option("--paper", is_flag=True, help="The paper's own settings: LSTM, all contrasts, SGD.")
@click.option("--rounds", default=60, show_default=True, help="Times that each clip is seen.")
@click.option("--batch", default=512, show_default=True, help="Clips a step.")
def visual(
    data: Path,
    out: Path,
    frame_features: str,
    minutes: float | None,
    device: DeviceName,
    as_json: bool,
    features: str,
    reader: Literal["attention", "lstm"],
    paper: bool,
    rounds: int,
    batch: int,
) -> None:
    """Train an embedding of clips and sentences on DATA.

    DATA is the folder of Flickr8k, or a table (clip, tab, sentence) above its videos. Writes into
    FOLDER: checkpoint.pt, embedding/ and report.json. The same command goes on from the
    checkpoint. Needs PyTorch: pip install "folioreel[train]"

    \b
    folioreel train visual flickr8k/ --out embedding
    folioreel train visual clips/table.tsv --out embedding --features scene --minutes 30
    folioreel train visual flickr8k/ --out as-the-paper --paper
    """
    from folioreel.train.train_visual import TrainVisualConfig, train_visual

    settings = TrainVisualConfig(
        features=features,
        reader=reader,
        paper=paper,
        rounds=rounds,
        batch=batch,
        frame_features=frame_features,
        minutes=minutes,
        device=device,
    )
    with output.resumable(_KEPT), ending_like_ctrl_c(), output.ProgressBars() as progress:
        report = train_visual(data, out, settings, progress)
    _show(report, report["round"], rounds, out, as_json=as_json)


@click.command()
@_shared_options
@click.option("--passes", default=25, show_default=True, help="Times that each sentence is seen.")
@click.option("--batch", default=128, show_default=True, help="Sentences a step.")
def caption(
    data: Path,
    out: Path,
    frame_features: str,
    minutes: float | None,
    device: DeviceName,
    as_json: bool,
    passes: int,
    batch: int,
) -> None:
    """Train a captioner, which writes a sentence for a picture, on DATA.

    DATA is the folder of Flickr8k, or a table (clip, tab, sentence) above its videos. Writes into
    FOLDER: checkpoint.pt, captioner/ and report.json. The same command goes on from the
    checkpoint. Needs PyTorch: pip install "folioreel[train]"

    \b
    folioreel train caption flickr8k/ --out captioner
    folioreel train caption clips/table.tsv --out captioner --passes 10 --minutes 30
    """
    from folioreel.train.train_caption import TrainCaptionConfig, train_caption

    settings = TrainCaptionConfig(
        passes=passes, batch=batch, frame_features=frame_features, minutes=minutes, device=device
    )
    with output.resumable(_KEPT), ending_like_ctrl_c(), output.ProgressBars() as progress:
        report = train_caption(data, out, settings, progress)
    _show(report, report["passes"], passes, out, as_json=as_json)


_KEPT = "the pictures seen, and the rounds up to the last checkpoint,"


def _show(report: dict[str, Any], done: int, total: int, out: Path, *, as_json: bool) -> None:
    if as_json:
        output.show_json(report)
        return
    best = {name.replace("_", " "): round(value, 2) for name, value in report["best"].items()}
    output.show_figures({"rounds done": done, "rounds in all": total, **best})
    if done < total:
        output.show_line("\nnot finished; give the same command again to go on")
    output.show_line(f"\nwrote {out}")
