"""x."""

from __future__ import annotations

from folioreel.errors import InputError
from folioreel.ingest.books.html_rules import tag_of
from folioreel.ingest.books.trees import parse_xml
from folioreel.ingest.source import Archive

_FONT_ALGORITHMS = ("http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC")
_LICENCES = {
    "META-INF/rights.xml": "Adobe DRM",
    "META-INF/sinf.xml": "Apple FairPlay",
    "META-INF/license.lcpl": "Readium LCP",
}


def refuse_protected(archive: Archive) -> None:
    """Say so if the publisher's protection (DRM) keeps the text from us.

    Obfuscated fonts are no protection of the text.

    Raises:
        InputError: The text is encrypted, or a licence of a known scheme is there.
    """
    schemes = [scheme for name, scheme in _LICENCES.items() if name in archive]
    if not schemes and not _encrypts_text(archive):
        return
    scheme = schemes[0] if schemes else "DRM"
    raise InputError(
        f"is protected ({scheme}); give a copy without protection, as some shops sell them",
        archive.path,
    )


def _encrypts_text(archive: Archive) -> bool:
    if "META-INF/encryption.xml" not in archive:
        return False
    tree = parse_xml(archive.read("META-INF/encryption.xml"), archive.path)
    for entry in tree.iter():
        if tag_of(entry) == "encrypteddata":
            methods = [node for node in entry.iter() if tag_of(node) == "encryptionmethod"]
            if not any(node.get("Algorithm") in _FONT_ALGORITHMS for node in methods):
                return True
    return False
