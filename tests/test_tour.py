"""The notebook in the docs runs, and what it shows is what it says."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

TOUR = Path(__file__).parents[1] / "docs" / "tour.ipynb"


def shown(cell):
    """What a cell printed and its value, as text."""
    texts = (o.get("text") or o.get("data", {}).get("text/plain", "") for o in cell.outputs)
    return "".join(texts)


# Jupyter's own parts warn about each other.
@pytest.mark.filterwarnings("ignore")
def test_the_tour_runs():
    notebook = nbformat.read(TOUR, as_version=4)
    committed = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    outputs = [shown(cell) for cell in notebook.cells if cell.cell_type == "code"]
    assert "ear like a boot" in outputs[1]
    assert outputs[2].startswith("1426 An ear like a boot")
    assert "['sheet.html', 'sheet.pdf']" in outputs[3]
    first, second = outputs[5].splitlines()
    assert first.startswith("sixty-one-kilos.txt    100.0")
    assert second.startswith("the-keeper.txt")
    assert len(outputs[6].splitlines()) == 6
    assert "Of the whole Silver Band, four people were sitting down and playing." in outputs[7]
    # What the docs show is no older than the program, but for the last digits of numbers.
    assert [len(text.splitlines()) for text in committed] == [
        len(text.splitlines()) for text in outputs
    ]
