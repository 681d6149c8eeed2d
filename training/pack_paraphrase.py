r"""Pack what paraphrase.py learns from, for a bare GPU machine: lessons and sentences of novels.

    PYTHONPATH=src python training/pack_paraphrase.py --films PAIRS --translations FOLDER \
        --verses FILE --corpus FOLDER --written training/adaptations --more-written LINES.tsv \
        --leave-out misers-warning --leave-out shakespeare_lamb_nesbit OUT

Every source is optional:

- PAIRS has a folder for each film and its book, as for `folioreel train encoder`.
- The folder of translations has one for each work, with two English versions, `a.txt` and `b.txt`.
- The table of verses has a reference (`Gen 1:1`) and then a column for each version of the Bible.
- The corpus has novels as text files. Written lines need it too.
- LINES.tsv has columns novel (its file in the corpus), line, sentences and text_of_sentences.

A preset aligns films and translations, and its posteriors are the targets. They stay in OUT/parts,
so that a stopped run goes on where it was; remove them if the preset or the texts change. Novels
whose adaptations are kept for testing are left out. Leave out whatever has the book of a judged
pair, too, or the judgements measure what was learned by heart.

Writes `lessons.json.xz`, `held-out.json.xz` (adaptations kept for testing) and `sentences.txt.xz`.
"""

from __future__ import annotations

import argparse
import csv
import json
import lzma
import random
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence, Set
from dataclasses import asdict
from fnmatch import fnmatchcase
from functools import partial
from pathlib import Path

import numpy as np

from folioreel.alignment.aligner import Aligner
from folioreel.errors import FolioReelError
from folioreel.files import make_folder, write_text, write_whole
from folioreel.ingest.book import load_book
from folioreel.train.lessons import (
    FilmAndBook,
    Targets,
    TextLesson,
    align_lesson,
    equal_shares,
    find_films_and_books,
    read_pair,
)
from folioreel.train.written import read_written
from folioreel.types import Book, Chapter, Film, Paragraph, Sentence, Subtitle

LEAST_MASS = 0.5
"""The least mean probability that a line of a translation is found in the other version. Below it
the two are too free, or the alignment has lost its way."""
LONGEST = 3600  # lines of one translation; more would let a few long novels dominate
CHUNK = 1200  # lines that are aligned at once: the aligner takes memory for lines times sentences
LEAD, MARGIN, TAIL = 200, 400, 150
"""Sentences before and after the place where a chunk should be; the lines at its end whose places
say where the next one begins."""
AROUND = 200  # sentences on each side of those that the written lines of a novel render
MOVED = 60  # how far the number of a sentence may be off, where another version split the novel
VERSIONS = (
    ("KJV", "YLT"),
    ("KJV", "NHEB"),
    ("YLT", "NHEB"),
    ("Darby", "YLT"),
    ("ASV", "YLT"),
    ("KJV", "TCNT"),
)
"""Versions of the Bible that differ enough to teach something; one of these pairs for each book."""
SENTENCES = 1_000_000
FEWEST_WORDS, MOST_WORDS = 2, 60  # of a sentence of a novel
TELLING_WORDS, SHARED = 8, 10  # ten equal sentences of eight words or more: it is the same novel
PASSAGE_MARK = re.compile(r"^\[\[\d+\]\]$", re.MULTILINE)


def main() -> None:
    """Read all sources and write the three files."""
    arguments = parse_arguments()
    parts, keep = arguments.out / "parts", partial(is_kept, patterns=arguments.leave_out)
    make_folder(parts)
    lessons: list[TextLesson] = []
    held_out: list[TextLesson] = []
    if arguments.films or arguments.translations:
        lessons += aligned(arguments, keep, parts)
    if arguments.written:
        written = read_written(arguments.written, arguments.corpus)
        counted = f"{len(written.lessons)} adaptations, {len(written.kept)} kept for testing"
        print(f"{arguments.written}: {counted}; {str(written) or 'none skipped'}", flush=True)
        lessons += [lesson for lesson in written.lessons if keep(lesson.name)]
        held_out += [lesson for lesson in written.kept if keep(lesson.name)]
    if arguments.more_written:
        lessons += read_lines(arguments.more_written, arguments.corpus, keep)
    if arguments.verses:
        lessons += read_verses(arguments.verses, random.Random(1))
    novels = sorted(arguments.corpus.glob("*.txt")) if arguments.corpus else []
    kept = {text for lesson in held_out for text in lesson.sentences if is_telling(text)}
    sentences = novel_sentences([path for path in novels if keep(path.stem)], kept)
    random.Random(3).shuffle(sentences)
    counts: Counter[str] = Counter()
    for lesson in lessons:
        counts[lesson.source] += len(lesson.lines)
    print(f"{len(lessons)} lessons, lines by source: {dict(counts)}; {len(held_out)} held out")
    pack_lessons(arguments.out / "lessons.json.xz", lessons)
    pack_lessons(arguments.out / "held-out.json.xz", held_out)
    pack(arguments.out / "sentences.txt.xz", "\n".join(sentences[:SENTENCES]))


def parse_arguments() -> argparse.Namespace:
    """What to pack."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in ("films", "translations", "verses", "corpus", "written", "more-written"):
        parser.add_argument(f"--{name}", type=Path)
    parser.add_argument("--preset", default="default", help="what aligns films and translations")
    parser.add_argument(
        "--leave-out",
        action="append",
        default=[],
        metavar="NAME",
        help="a pair, a translation, a novel or an adaptation, by the name of its folder or file;"
        " * stands for anything; may be repeated",
    )
    parser.add_argument("out", type=Path)
    arguments = parser.parse_args()
    if (arguments.written or arguments.more_written) and not arguments.corpus:
        parser.error("written lines need the texts of their novels; add --corpus")
    return arguments


def is_kept(name: str, patterns: Sequence[str]) -> bool:
    """Whether nothing says that it is to be left out."""
    return not any(fnmatchcase(name, pattern) for pattern in patterns)


def aligned(
    arguments: argparse.Namespace, keep: Callable[[str], bool], parts: Path
) -> list[TextLesson]:
    """The lessons of films and of translations."""
    aligner = Aligner.load(arguments.preset)
    films: list[Path] = []
    works: list[Path] = []
    if arguments.films:
        films = find_films_and_books(arguments.films)
    if arguments.translations:
        works = sorted(path.parent for path in arguments.translations.glob("*/a.txt"))
    lessons = []
    for source, folders, align in (
        ("films", films, align_film),
        ("translations", works, align_translation),
    ):
        for folder in filter(lambda path: keep(path.name), folders):
            part = parts / f"{source}-{folder.name}.json"
            try:
                lesson = keep_part(part, partial(align, folder, aligner))
            except FolioReelError as error:
                print(f"{part.stem}: skipped: {error}", flush=True)
                continue
            if source == "translations" and mean_mass(lesson) < LEAST_MASS:
                print(f"{part.stem}: skipped: mean mass {mean_mass(lesson):.3f}", flush=True)
            else:
                lessons.append(lesson)
    return lessons


def keep_part(path: Path, align: Callable[[], TextLesson]) -> TextLesson:
    """What an earlier run found, or what is found now."""
    if path.exists():
        return TextLesson(**json.loads(path.read_text(encoding="utf-8")))
    began = time.perf_counter()
    lesson = align()
    write_text(path, json.dumps(asdict(lesson)))
    print(
        f"{path.stem}: {len(lesson.lines):,} lines, {len(lesson.sentences):,} sentences, mean mass"
        f" {mean_mass(lesson):.2f}, {time.perf_counter() - began:.1f} s",
        flush=True,
    )
    return lesson


def mean_mass(lesson: TextLesson) -> float:
    """The mean probability that a line is in the book."""
    shares = [share for row in lesson.targets for _, share in row]
    return sum(shares) / max(1, len(lesson.lines))


def align_film(folder: Path, aligner: Aligner) -> TextLesson:
    """The posteriors of a film."""
    return align_lesson(read_pair(folder), aligner)


def align_translation(folder: Path, aligner: Aligner) -> TextLesson:
    """The posteriors of one version against the other, as if it were the film, chunk by chunk."""
    sentences, lines = read_version(folder / "a.txt"), read_version(folder / "b.txt")
    ratio = len(lines) / len(sentences)
    width = int(CHUNK / max(0.4, ratio) * 1.3) + MARGIN  # versions do not go at an even pace
    targets: list[Targets] = []
    place = 0  # where the next chunk should begin
    while len(targets) < min(len(lines), LONGEST):
        first = max(0, place - LEAD)
        window = sentences[first : first + width]
        if len(window) < 30:  # the other version has ended
            break
        chunk = lines[len(targets) : len(targets) + CHUNK]
        found = align_lesson(as_pair(folder.name, chunk, window), aligner).targets
        targets += [tuple((first + k, share) for k, share in row) for row in found]
        sure = [k for row in targets[-len(found) :][-TAIL:] for k, share in row if share > 0.5]
        place = int(np.median(sure)) + 30 if sure else int(len(targets) / ratio)
    end = place + MARGIN
    return TextLesson(
        name=folder.name,
        source="translations",
        lines=tuple(lines[: len(targets)]),
        sentences=tuple(sentences[:end]),
        targets=tuple(tuple(pair for pair in row if pair[0] < end) for row in targets),
        new=(False,) * len(targets),
    )


def read_version(path: Path) -> list[str]:
    """The sentences of a version, without the marks of passages, `[[1]]` and so on."""
    with tempfile.TemporaryDirectory() as folder:
        clean = Path(folder) / path.name
        clean.write_text(PASSAGE_MARK.sub("", path.read_text(encoding="utf-8")), encoding="utf-8")
        return read_sentences(clean)


def read_sentences(path: Path) -> list[str]:
    """The sentences of a book."""
    return [sentence.text for sentence in load_book(path).sentences]


def as_pair(name: str, lines: Sequence[str], sentences: Sequence[str]) -> FilmAndBook:
    """Two lists of sentences as a film and a book: a line every three seconds, no paragraphs."""
    subtitles = (
        Subtitle(index=k, start_s=3.0 * k, end_s=3.0 * k + 2.5, text=line)
        for k, line in enumerate(lines)
    )
    book = Book(
        title=name,
        sentences=tuple(Sentence(index=k, text=text) for k, text in enumerate(sentences)),
        paragraphs=tuple(
            Paragraph(index=k, sentences=range(k, k + 1)) for k in range(len(sentences))
        ),
        chapters=(Chapter(index=0, title="", paragraphs=range(len(sentences))),),
    )
    film = Film(title=name, duration_s=3.0 * len(lines) + 1, subtitles=tuple(subtitles))
    return FilmAndBook(name=name, film=film, book=book, judged=(), fixed={})


def read_lines(path: Path, corpus: Path, keep: Callable[[str], bool]) -> list[TextLesson]:
    """The lessons of a table of written lines, one for each novel."""
    novels: dict[str, list[dict[str, str]]] = defaultdict(list)
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE):
            novels[row["novel"]].append(row)
    lessons = []
    for novel, rows in novels.items():
        text = corpus / f"{novel}.txt"
        if keep(novel) and text.exists():
            lessons.append(lines_lesson(novel, rows, read_sentences(text)))
    used = sum(len(lesson.lines) for lesson in lessons)
    absent = sum(map(len, novels.values())) - used
    print(f"{path}: {used} lines of {len(lessons)} novels; {absent} lines skipped", flush=True)
    return lessons


def lines_lesson(
    novel: str, rows: Sequence[dict[str, str]], sentences: Sequence[str]
) -> TextLesson:
    """The lesson of one novel; lines are dropped if their sentences are not in the text."""
    lines: list[str] = []
    places: list[list[int]] = []
    for row in rows:
        numbers = [
            int(number) for number in row["sentences"].split(",") if number.strip().isdecimal()
        ]
        texts = row["text_of_sentences"].split(" ¶ ")[: len(numbers)]
        found = [find_near(sentences, *pair) for pair in zip(numbers, texts, strict=True)]
        if None not in found:
            lines.append(row["line"])
            places.append([place for place in found if place is not None])
    told = [place for row in places for place in row] or [0]
    begin = max(0, min(told) - AROUND)
    return TextLesson(
        name=novel,
        source="written",
        lines=tuple(lines),
        sentences=tuple(sentences[begin : max(told) + AROUND]),
        targets=tuple(equal_shares([place - begin for place in row]) for row in places),
        new=tuple(not row for row in places),
    )


def find_near(sentences: Sequence[str], number: int, text: str) -> int | None:
    """Where a sentence is: at its number, or else the first such one near it."""
    near = range(max(0, number - MOVED), min(len(sentences), number + MOVED))
    places = [place for place in near if sentences[place].strip() == text.strip()]
    return number if number in places else next(iter(places), None)


def read_verses(path: Path, generator: random.Random) -> list[TextLesson]:
    """The lessons of a table of verses, one for each book of the Bible; it may be packed (.xz)."""
    data = path.read_bytes()
    text = (lzma.decompress(data) if path.suffix == ".xz" else data).decode("utf-8")
    books: dict[str, list[dict[str, str]]] = defaultdict(list)
    for verse in csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE):
        books[verse["ref"].rsplit(" ", 1)[0]].append(verse)
    lessons = []
    for name, verses in books.items():
        both = {
            pair: [verse for verse in verses if all(verse.get(version) for version in pair)]
            for pair in VERSIONS
        }
        whole = [pair for pair, found in both.items() if len(found) > 0.9 * len(verses)]
        if not whole:
            continue
        ours, theirs = generator.choice(whole)
        chosen = both[ours, theirs]
        lessons.append(
            TextLesson(
                name=name,
                source="verses",
                lines=tuple(verse[ours] for verse in chosen),
                sentences=tuple(verse[theirs] for verse in chosen),
                targets=tuple(((k, 1.0),) for k in range(len(chosen))),
                new=(False,) * len(chosen),
            )
        )
    return lessons


def novel_sentences(paths: Sequence[Path], held_out: Set[str]) -> list[str]:
    """The sentences of novels that are neither too short nor too long; none twice.

    Novels that are kept for testing are left out: they have many of the sentences `held_out`.
    """
    found: dict[str, None] = {}
    for number, path in enumerate(paths, 1):
        try:
            sentences = read_sentences(path)
        except FolioReelError as error:
            print(f"skipped: {error}", flush=True)
            continue
        if len(held_out & set(sentences)) >= SHARED:
            print(f"{path.stem}: kept for testing", flush=True)
            continue
        found.update(dict.fromkeys(filter(is_fit, sentences)))
        if number % 50 == 0 or number == len(paths):
            print(f"{number} of {len(paths)} novels, {len(found):,} sentences", flush=True)
    return list(found)


def is_fit(sentence: str) -> bool:
    """Whether a sentence is neither too short, nor too long, nor a heading in capitals."""
    return FEWEST_WORDS <= len(sentence.split()) <= MOST_WORDS and not sentence.isupper()


def is_telling(sentence: str) -> bool:
    """Whether hardly another novel has the same sentence."""
    return len(sentence.split()) >= TELLING_WORDS


def pack_lessons(path: Path, lessons: Iterable[TextLesson]) -> None:
    """Write lessons as paraphrase.py reads them."""
    pack(path, json.dumps([asdict(lesson) for lesson in lessons]))


def pack(path: Path, text: str) -> None:
    """Write a packed file."""
    write_whole(path, lzma.compress(text.encode("utf-8"), preset=4))
    print(f"{path}: {path.stat().st_size / 2**20:.1f} MiB", flush=True)


if __name__ == "__main__":
    main()
