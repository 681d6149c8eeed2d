"""The order of the files in a folder: as a person would put them, by the numbers in their names."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

COUNTED = frozenset(
    "act band bd book buch capitolo capítulo cd chapter deel disc disk dvd e ep episode épisode "
    "episodio folge libro livre part parte partie pt reel s season series staffel teil tome tomo "
    "vol volume".split()
)
"""Words before or after a number (`CD 1`, `Vol. 2`, `S01E02`, `Erster Teil`)."""
# English numbers are also joined, as in `Twenty-One`.
_UNITS = "one two three four five six seven eight nine".split()
_UNITS_TH = "first second third fourth fifth sixth seventh eighth ninth".split()
_TEENS = "ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen nineteen".split()
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety".split()
_ROMAN_UNITS = ("", *"i ii iii iv v vi vii viii ix".split())
# Counted from 1, without accents: Roman, English, French, German, Spanish, Italian, Portuguese and
# Dutch. Names in other languages are in alphabetical order, with a warning.
_FROM_ONE = (
    " ".join(tens + unit for tens in ("", "x", "xx", "xxx") for unit in _ROMAN_UNITS).split(),
    [*_UNITS, *_TEENS],
    [*_UNITS_TH, "tenth", "eleventh", "twelfth", *(teen + "th" for teen in _TEENS[3:])],
    "un deux trois quatre cinq six sept huit neuf dix onze douze".split(),
    "premiere deuxieme troisieme quatrieme cinquieme sixieme septieme huitieme neuvieme "
    "dixieme".split(),
    "premier second".split(),
    "premiere seconde".split(),
    "eins zwei drei vier funf sechs sieben acht neun zehn elf zwolf".split(),
    "erste zweite dritte vierte funfte sechste siebte achte neunte zehnte elfte".split(),
    "erster zweiter dritter vierter funfter sechster siebter achter neunter zehnter".split(),
    "erstes zweites drittes viertes funftes sechstes siebtes achtes neuntes zehntes".split(),
    "uno dos tres cuatro cinco seis siete ocho nueve diez once doce".split(),
    "primera segunda tercera cuarta quinta sexta septima octava novena decima".split(),
    "primero segundo tercero cuarto quinto sexto septimo octavo noveno decimo".split(),
    "uno due tre quattro cinque sei sette otto nove dieci undici dodici".split(),
    "prima seconda terza quarta quinta sesta settima ottava nona decima".split(),
    "primo secondo terzo quarto quinto sesto settimo ottavo nono decimo".split(),
    "um dois tres quatro cinco seis sete oito nove dez onze doze".split(),
    "primeira segunda terceira quarta quinta sexta setima oitava nona decima".split(),
    "primeiro segundo terceiro quarto quinto sexto setimo oitavo nono decimo".split(),
    "een twee drie vier vijf zes zeven acht negen tien elf twaalf".split(),
    "eerste tweede derde vierde vijfde zesde zevende achtste negende tiende".split(),
)
_NUMBERS = {word: number for words in _FROM_ONE for number, word in enumerate(words, 1)}
_NUMBERS |= {ten: 10 * number for number, ten in enumerate(_TENS, 2)}
_NUMBERS |= {f"{ten[:-1]}ieth": 10 * number for number, ten in enumerate(_TENS, 2)}
_NUMBERS |= {
    ten + unit: _NUMBERS[ten] + number
    for ten, units in product(_TENS, (_UNITS, _UNITS_TH))
    for number, unit in enumerate(units, 1)
}
# What has no number but its place: `Prologue`, `Part the Last`, `Finale`.
_NUMBERS |= dict.fromkeys("prologue prelude pilot prolog".split(), 0)
_NUMBERS |= dict.fromkeys("last final finale ending conclusion epilogue epilog".split(), 1000)

_JOINED = f"(?:{'|'.join(_TENS)})[ _.-]?(?:{'|'.join(_UNITS + _UNITS_TH)})(?![^\\W\\d_])"
_TOKEN = re.compile(rf"{_JOINED}|[^\W\d_]+|[0-9]+")


def natural_sort(paths: Iterable[Path]) -> list[Path]:
    """Sort files as a person would: by the numbers in their names, whatever the capitals.

    Where all names differ by such a word, `Three`, `III` and `Finale` are numbers, too. The ending
    of a name comes last, so that `film.mkv` stands before `film 2.mkv`.
    """
    return _order([(path, _tokens(path)) for path in paths], 0)[0]


def are_numbered(paths: Iterable[Path]) -> bool:
    """Whether numbers in the names of files say in which order they come."""
    return _order([(path, _tokens(path)) for path in paths], 0)[1]


def read_number(word: str) -> int | None:
    """The number that a word of a file name stands for, in digits, Roman or in words."""
    if word.isdecimal():
        return int(word)
    plain = unicodedata.normalize("NFKD", word.casefold())
    return _NUMBERS.get("".join(letter for letter in plain if letter.isalpha()))


def _tokens(path: Path) -> list[str]:
    return [token for token in _TOKEN.findall(_folded(path.stem)) if token not in COUNTED]


def _order(rows: Sequence[tuple[Path, list[str]]], first: int) -> tuple[list[Path], bool]:
    """The paths in order, by their tokens from the first on, and whether numbers decided."""
    for k in range(first, max((len(tokens) for _, tokens in rows), default=0)):
        column = ["".join(tokens[k : k + 1]) for _, tokens in rows]
        if len(set(column)) == 1:
            continue
        groups: dict[int, list[tuple[Path, list[str]]]] = {}
        for token, row in zip(column, rows, strict=True):
            number = read_number(token) if token else 0  # `film` comes before `film 2`
            if number is None:
                return sorted((path for path, _ in rows), key=_natural_key), False
            groups.setdefault(number, []).append(row)
        ordered = [_order(groups[number], k + 1) for number in sorted(groups)]
        return [path for paths, _ in ordered for path in paths], all(sure for _, sure in ordered)
    return sorted((path for path, _ in rows), key=_natural_key), True


def _natural_key(path: Path) -> tuple[list[str | int], str]:
    # Texts and numbers alternate, so that no text is ever compared with a number.
    pieces = re.split(r"([0-9]+)", _folded(path.stem))
    return [int(piece) if k % 2 else piece for k, piece in enumerate(pieces)], path.name


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
