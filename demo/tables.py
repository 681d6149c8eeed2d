"""Writes what is known of the film as text: subtitles, sentences, judgements, shots."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from compile_text import Judgement, Shot, spoken


def srt_time(seconds: float) -> str:
    """Format seconds as SubRip does."""
    ms = round(seconds * 1000)
    return f"{ms // 3600000:02d}:{ms // 60000 % 60:02d}:{ms // 1000 % 60:02d},{ms % 1000:03d}"


def write_table(path: Path, header: str, rows: Iterable[Sequence[object]]) -> None:
    """Write a tab-separated table with Unix line ends."""
    lines = [header.replace(" ", "\t")]
    lines += ["\t".join(str(cell) for cell in row) for row in rows]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8", newline="\n")


def write_srt(path: Path, shots: Sequence[Shot]) -> int:
    """Write the subtitles; returns how many cues there are."""
    blocks: list[str] = []
    for shot in shots:
        for cue in shot.cues:
            times = f"{srt_time(cue.start_s)} --> {srt_time(cue.end_s)}"
            blocks.append("\n".join([str(len(blocks) + 1), times, *cue.lines]))
    path.write_text("\n\n".join(blocks) + "\n", encoding="utf-8", newline="\n")
    return len(blocks)


def write_sentences(folder: Path, shots: Sequence[Shot], found: dict[int, Judgement]) -> None:
    """Write film_sentences.tsv and gold.tsv, in the benchmark's format."""
    sentences: list[tuple[object, ...]] = []
    gold: list[tuple[object, ...]] = []
    speech, speaker = -1, None
    for number, (row, cue_from, cue_to, start_s, end_s) in enumerate(spoken(shots)):
        if row.speaker != speaker:
            speech, speaker = speech + 1, row.speaker
        sentences.append(
            (
                number,
                speech,
                row.speaker,
                f"{start_s:.3f}",
                f"{end_s:.3f}",
                cue_from,
                cue_to,
                row.text,
            )
        )
        where = found[row.line]
        others = ";".join(f"{a}-{b}" for a, b in where.alternates) or "-"
        gold.append((number, row.verdict, row.how, *(where.lines or ("-", "-")), others, row.note))
    write_table(
        folder / "film_sentences.tsv",
        "id speech speaker start_s end_s cue_from cue_to text",
        sentences,
    )
    write_table(folder / "gold.tsv", "id verdict how line_from line_to alternates note", gold)


def write_shots(path: Path, shots: Sequence[Shot], found: dict[int, Judgement], fps: int) -> None:
    """Write the true cuts, and what silent shots show of the book."""
    rows = []
    for number, shot in enumerate(shots):
        verdict, lines = "-", None
        if shot.silent:
            verdict = shot.rows[0].verdict
            lines = found[shot.rows[0].line].lines
        rows.append(
            (
                number,
                shot.scene,
                f"{shot.first_frame / fps:.3f}",
                f"{shot.end_frame / fps:.3f}",
                shot.picture,
                verdict,
                *(lines or ("-", "-")),
            )
        )
    write_table(path, "shot scene start_s end_s picture verdict line_from line_to", rows)
