"""Names of languages: `en`, `eng`, `en-US` and `English` are the same."""

from __future__ import annotations

# ISO 639-1, then the codes of ISO 639-2 (both where they differ), then the English name.
_TABLE = """
    af afr Afrikaans; ar ara Arabic; bg bul Bulgarian; bn ben Bengali; bs bos Bosnian; ca cat
    Catalan; cs cze ces Czech; cy wel cym Welsh; da dan Danish; de ger deu German; el gre ell
    Greek; en eng English; es spa Spanish; et est Estonian; eu baq eus Basque; fa per fas Persian;
    fi fin Finnish; fr fre fra French; ga gle Irish; gl glg Galician; he heb Hebrew; hi hin Hindi;
    hr hrv Croatian; hu hun Hungarian; hy arm hye Armenian; id ind Indonesian; is ice isl
    Icelandic; it ita Italian; ja jpn Japanese; ka geo kat Georgian; ko kor Korean; la lat Latin;
    lt lit Lithuanian; lv lav Latvian; mk mac mkd Macedonian; ms may msa Malay; nl dut nld Dutch;
    no nor Norwegian; nb nob Bokmål; nn nno Nynorsk; pl pol Polish; pt por Portuguese; ro rum ron
    Romanian; ru rus Russian; sk slo slk Slovak; sl slv Slovenian; sq alb sqi Albanian; sr srp
    Serbian; sv swe Swedish; ta tam Tamil; te tel Telugu; th tha Thai; tl tgl Tagalog; tr tur
    Turkish; uk ukr Ukrainian; ur urd Urdu; vi vie Vietnamese; yi yid Yiddish; zh chi zho Chinese
"""
_ROWS = [row.split() for row in _TABLE.split(";")]
_CODES = {name.casefold(): row[0] for row in _ROWS for name in row}
_NAMES = {row[0]: row[-1] for row in _ROWS}


def language_code(text: str | None) -> str | None:
    """The two-letter code of a language given in any way; None for `und` and unknown words."""
    if not text:
        return None
    word = text.strip().casefold().replace("_", "-").split("-")[0]
    return _CODES.get(word)


def language_name(code: str | None) -> str:
    """The English name of a two-letter code."""
    return _NAMES.get(code or "", "unknown language")
