"""Writing XML: text without what XML forbids, and whole files."""

from __future__ import annotations

import re
from pathlib import Path

from lxml import etree

from folioreel.files import write_whole

# All that XML 1.0 does not allow, escaped or not: control characters, halves of surrogate pairs.
_FORBIDDEN = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def xml_text(text: str) -> str:
    """Text that XML can hold."""
    return _FORBIDDEN.sub("\N{REPLACEMENT CHARACTER}", text)


def write_xml(root: etree._Element, path: Path) -> None:
    """Write a document, indented."""
    etree.indent(root, " ")
    write_whole(path, etree.tostring(root, encoding="UTF-8", xml_declaration=True) + b"\n")
