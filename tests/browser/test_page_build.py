"""The built page in the package is the one that its sources make."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FRONTEND = ROOT / "frontend"
PAGE = ROOT / "src" / "folioreel" / "export" / "page"

needs_sources = pytest.mark.skipif(
    not FRONTEND.is_dir(), reason="the page's sources are not in this tree"
)
needs_node = pytest.mark.skipif(
    shutil.which("node") is None or not (FRONTEND / "node_modules").is_dir(),
    reason="needs Node.js and `npm ci` in frontend/",
)


def source_hash() -> str:
    """As in frontend/build.mjs."""
    names = [f"src/{path.name}" for path in sorted((FRONTEND / "src").iterdir())]
    digest = hashlib.sha256()
    for name in [*names, "build.mjs", "package-lock.json"]:
        digest.update(f"{name}\n".encode() + (FRONTEND / name).read_bytes())
    return digest.hexdigest()


@needs_sources
@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_built_files_name_the_sources_they_were_made_from(name):
    recorded = re.search(r"Sources sha256 ([0-9a-f]{64})", (PAGE / name).read_text("utf-8"))
    assert recorded
    assert recorded[1] == source_hash(), "run `npm run build` in frontend/ and commit the result"


@pytest.mark.parametrize("name", ["page.js", "page.css"])
def test_built_files_can_stand_inside_a_page(name):
    text = (PAGE / name).read_text("utf-8")
    assert "</script" not in text.lower()
    assert "</style" not in text.lower()
    assert "innerHTML" not in text
    # Nothing is fetched from anywhere; this one address only names what SVG is.
    assert set(re.findall(r"https?://[^\"'` )]+", text)) <= {"http://www.w3.org/2000/svg"}


@needs_sources
@needs_node
def test_a_new_build_gives_the_same_bytes(tmp_path):
    subprocess.run(["node", "build.mjs", str(tmp_path)], cwd=FRONTEND, check=True)
    for name in ("page.js", "page.css"):
        assert (tmp_path / name).read_bytes() == (PAGE / name).read_bytes()


@needs_sources
@needs_node
@pytest.mark.parametrize("script", ["check", "test"])
def test_the_page_s_types_and_unit_tests(script):
    result = subprocess.run(
        ["npm", "run", "--silent", script],
        cwd=FRONTEND,
        capture_output=True,
        text=True,
        env=os.environ | {"NO_COLOR": "1"},
    )
    assert result.returncode == 0, result.stdout + result.stderr
