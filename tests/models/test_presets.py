"""Presets: what is saved is loaded again, and nothing but a preset is taken or replaced."""

import json
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from folioreel import Aligner
from folioreel.config import STEPS, AlignConfig, CalibrationConfig, ChainConfig, StepsConfig
from folioreel.errors import ConfigError, FolioReelError, InputError, ModelFolderError
from folioreel.models.presets import PRESETS, choose_preset, load_preset, save_preset

CONFIG = AlignConfig(
    weights={"rare": 1.5, "semantic": -0.25, "bleu2": 1 / 3},
    bias=-2.125,
    steps=StepsConfig(stay=0.5, anywhere=0.01, timeline=1.25, elsewhere=0.02),
    calibration=CalibrationConfig(link=1.25, evidence=0.25, around=0.75, bias=-0.5),
    semantic_encoder="minilm",
    prior_width=0.125,
    chain=ChainConfig(sigma=0.02),
    in_book_from=0.375,
)


@pytest.fixture
def preset(tmp_path) -> Path:
    save_preset(CONFIG, tmp_path / "preset", "# Mine — é\n", {"pairs": ["one", "zwölf"]})
    return tmp_path / "preset"


def change(preset: Path, **values) -> None:
    """Change what stands in a preset's file."""
    path = preset / "config.json"
    path.write_text(json.dumps(json.loads(path.read_text()) | values))


def change_config(preset: Path, **values) -> None:
    change(preset, config=json.loads((preset / "config.json").read_text())["config"] | values)


@pytest.mark.parametrize(
    "config",
    [CONFIG, AlignConfig(), replace(CONFIG, steps=None, context="somewhere/context")],
    ids=["positions", "the paper's chain", "a context model"],
)
def test_what_is_saved_is_loaded(config, tmp_path):
    save_preset(config, tmp_path / "new" / "preset", "# Card\n", {})
    found = load_preset(str(tmp_path / "new" / "preset"))
    assert found == config
    assert Aligner.load(str(tmp_path / "new" / "preset")).config == config


def test_the_files_of_a_preset(preset):
    assert {path.name for path in preset.iterdir()} == {"config.json", "README.md"}
    assert (preset / "README.md").read_text(encoding="utf-8") == "# Mine — é\n"
    found = json.loads((preset / "config.json").read_text(encoding="utf-8"))
    assert (found["format"], found["version"]) == ("folioreel-preset", 1)
    assert found["training"] == {"pairs": ["one", "zwölf"]}


@pytest.mark.parametrize("name", PRESETS)
def test_the_presets_that_come_with_the_package(name):
    config = load_preset(name)
    assert config.measures
    assert Aligner.load(name).name == name
    if not name.startswith("paper"):
        assert config.steps is not None
        assert sum(getattr(config.steps, step) for step in STEPS) == pytest.approx(1, abs=1e-3)
        assert config.calibration.link > 0
    else:
        assert config.steps is None
        assert config.chain.sigmoid == (config.chain.reach is not None) == (name != "paper")


def test_presets_from_before_other_evidence_have_a_slope_and_an_offset(preset):
    change_config(preset, calibration=[1.25, -0.5])
    assert load_preset(preset).calibration == CalibrationConfig(link=1.25, bias=-0.5)


def test_presets_from_before_quotes_have_none(preset):
    steps = {name: share for name, share in asdict(CONFIG.steps).items() if name != "elsewhere"}
    change_config(preset, steps=steps)
    assert load_preset(preset) == replace(CONFIG, steps=replace(CONFIG.steps, elsewhere=0.0))


def refuse(error, says, preset):
    with pytest.raises(error, match=says) as found:
        load_preset(str(preset))
    assert "\n" not in str(found.value)
    assert str(preset) in str(found.value)


@pytest.mark.parametrize("text", [None, "", "{", "[1, 2]", "null", "\xff\xfe"])
def test_a_file_that_cannot_be_read(text, preset):
    if text is None:
        (preset / "config.json").unlink()
    else:
        (preset / "config.json").write_bytes(text.encode("latin-1"))
    refuse(ModelFolderError, "config.json is (missing|damaged)|is not a preset", preset)


@pytest.mark.parametrize("found", [{"format": "folioreel-encoder"}, {"format": None}])
def test_something_else(found, preset):
    change(preset, **found)
    refuse(ModelFolderError, "is not a preset", preset)


@pytest.mark.parametrize("version", [2, 99])
def test_a_newer_version(version, preset):
    change(preset, version=version)
    refuse(ModelFolderError, "newer.*upgrade", preset)


@pytest.mark.parametrize("config", [None, [], {}, "text", {"weights": {"rare": 1.0}}])
def test_a_config_that_is_none(config, preset):
    change(preset, config=config)
    refuse(ModelFolderError, "damaged", preset)


@pytest.mark.parametrize(
    "values",
    [
        {"nonsense": 1},
        {"weights": {"nonsense": 1.0}},
        {"weights": {"rare": "much"}},
        {"weights": {}},
        {"weights": ["rare"]},
        {"weights": None},
        {"steps": {"stay": 1.0, "jump": 1.0}},
        {"steps": {"stay": -1.0}},
        {"steps": {"anywhere": 0.0}},
        {"steps": {"elsewhere": -0.1}},
        {"steps": {"elsewhere": 1.0}},
        {"steps": "many"},
        {"calibration": [1.0]},
        {"calibration": ["x", "y"]},
        {"calibration": None},
        {"calibration": {"slope": 1.0}},
        {"calibration": {"link": float("nan")}},
        {"chain": {"sigma": 0.0}},
        {"chain": None},
    ],
    ids=str,
)
def test_a_damaged_config(values, preset):
    change_config(preset, **values)
    refuse(ModelFolderError, "damaged", preset)


def test_a_preset_with_the_chains_retired_settings(preset):
    chain = {"unary": 3.0, "pace": 1.0, "stay": 1.0, "sigma": 0.5}
    change_config(preset, chain=chain | {"absent": False, "enter": 2.0, "leave": 2.0})
    assert load_preset(str(preset)).chain == ChainConfig(**chain)
    change_config(preset, chain=chain | {"absent": True})
    refuse(ModelFolderError, "absent.*no longer supported", preset)


def test_the_fast_preset_reads_with_the_student():
    config = load_preset("fast")
    assert config.semantic_encoder == "student"
    assert not any(name.startswith("window") for name in config.measures)


@pytest.mark.parametrize(
    ("spoken", "written", "chosen"),
    [
        ("en", "en", "default"),
        (None, None, "default"),
        ("en", None, "default"),
        ("fr", "fr", "multilingual"),
        (None, "fr", "multilingual"),
        ("ja", "ja", "multilingual"),
        ("fi", "fi", "words"),
        ("fi", None, "words"),
        ("no", "da", "words"),  # hard to tell apart, so it may be one language
        ("en", "fr", "across"),
        ("ru", "en", "across"),
        ("fi", "en", "across"),
    ],
)
def test_the_languages_choose_a_preset(spoken, written, chosen):
    assert chosen in PRESETS
    assert choose_preset(spoken, written) == chosen
    # An encoder of one's own is taken to know what ours does not.
    with_own = "multilingual" if chosen == "words" else chosen
    assert choose_preset(spoken, written, own_encoder=True) == with_own


def test_an_unknown_preset(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file").write_text("mine")
    for name in ("nonsense", "file", "../nothing/here"):
        with pytest.raises(ConfigError, match=r"auto, across, default, fast, .*, or give a folder"):
            load_preset(name)


def test_a_preset_is_replaced(preset):
    other = replace(CONFIG, bias=3.0)
    save_preset(other, preset, "# Other\n", {})
    assert load_preset(str(preset)) == other
    assert (preset / "README.md").read_text() == "# Other\n"


def test_an_empty_folder_is_filled(tmp_path):
    (tmp_path / "empty").mkdir()
    save_preset(CONFIG, tmp_path / "empty", "", {})
    assert load_preset(str(tmp_path / "empty")) == CONFIG


@pytest.mark.parametrize("name", ["mine", *PRESETS])
def test_nothing_else_is_replaced(name, tmp_path, monkeypatch):
    """Not even below the name of a preset that comes with the package."""
    monkeypatch.chdir(tmp_path)
    Path(name).mkdir()
    for file in ("README.md", "config.json"):
        (Path(name) / file).write_text('{"mine": true}')
    with pytest.raises(ModelFolderError):
        save_preset(CONFIG, Path(name), "# Card\n", {})
    for file in ("README.md", "config.json"):
        assert (Path(name) / file).read_text() == '{"mine": true}'
    assert len(list(Path(name).iterdir())) == 2


def test_a_newer_preset_is_not_replaced(preset):
    change(preset, version=2)
    before = (preset / "config.json").read_bytes()
    with pytest.raises(ModelFolderError, match="newer"):
        save_preset(CONFIG, preset, "", {})
    assert (preset / "config.json").read_bytes() == before


def test_a_file_in_the_way(tmp_path):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(FolioReelError) as error:
        save_preset(CONFIG, tmp_path / "file", "", {})
    assert isinstance(error.value, InputError)
    assert (tmp_path / "file").read_text() == "mine"
