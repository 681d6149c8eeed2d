"""Who may import whom: each layer only from those to its left (STYLE: the layers)."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "src" / "folioreel"
LAYERS = [
    {
        "types",
        "errors",
        "config",
        "claims",
        "files",
        "packages",
        "compiled",
        "json_input",
        "reading",
        "cache",
        "isolation",
        "progress",
        "text",
        "sentences",
        "language",
        "stems",
        "times",
        "engines",
        "folioreel",
    },
    {"ingest", "models"},
    {"similarity"},
    {"alignment"},
    {"export", "evaluate", "corpus"},
    {"train", "apps"},
    {"viewer"},
    {"cli"},
    {"__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def layer_of(module: str) -> str:
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else "folioreel"


def imports_of(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            found.add(node.module or "")
    return {name for name in found if name.split(".")[0] == "folioreel"}


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


MODULES = sorted(path for path in PACKAGE.rglob("*.py"))


@pytest.mark.parametrize("path", MODULES, ids=module_name)
def test_imports_go_left(path: Path) -> None:
    here = module_name(path)
    if here == "folioreel":
        return  # the front door points at everything, lazily
    for imported in imports_of(path):
        there = layer_of(imported)
        if there == layer_of(here):
            continue
        assert there in LEVEL, f"{here} imports {imported}: unknown layer"
        if LEVEL[layer_of(here)] == 0:
            assert LEVEL[there] == 0, f"{here} imports {imported}"
        else:
            assert LEVEL[there] < LEVEL[layer_of(here)], f"{here} imports {imported}"


def imports_torch(tree: ast.AST) -> bool:
    """Whether PyTorch is imported when the code runs; type checkers may import what they like."""
    if isinstance(tree, ast.If) and ast.unparse(tree.test) == "TYPE_CHECKING":
        return False
    names = [alias.name for alias in tree.names] if isinstance(tree, ast.Import) else []
    if isinstance(tree, ast.ImportFrom):
        names = [tree.module or ""]
    if any(name.split(".")[0] == "torch" for name in names):
        return True
    return any(map(imports_torch, ast.iter_child_nodes(tree)))


def test_pytorch_is_for_training_alone() -> None:
    found = {
        module_name(path)
        for path in MODULES
        if imports_torch(ast.parse(path.read_text(encoding="utf-8")))
    }
    # The optional shot detector is a PyTorch package by itself.
    others = {"folioreel.ingest.video.shot_detectors"}
    assert {name for name in found if layer_of(name) != "train"} == others


def test_every_module_is_in_a_layer() -> None:
    assert {layer_of(module_name(path)) for path in MODULES} <= set(LEVEL)


def test_importing_the_package_is_light() -> None:
    import subprocess
    import sys

    code = (
        "import sys, folioreel, folioreel.cli; "
        "heavy = ('numpy', 'numba', 'av', 'lxml', 'matplotlib', 'scipy', 'torch', 'tqdm'); "
        "print([name for name in heavy if name in sys.modules])"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "[]"
