"""The page: film and book side by side, as one self-contained HTML document.

The front end (frontend/, built into page/) is inlined, and the content security policy admits these
two files alone. The data is JSON in a block that no browser executes, with every character escaped
that could end the block.
"""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib import resources
from pathlib import Path
from typing import Any

from folioreel.errors import FolioReelError
from folioreel.export.page_payload import make_payload
from folioreel.export.thumbnails import inline_thumbnails
from folioreel.files import write_text
from folioreel.progress import ProgressCallback, ignore_progress
from folioreel.types import Alignment

_TEMPLATE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="same-origin">
<title>{title}</title>
<link rel="icon" href="data:,">
<style>{style}</style>
</head>
<body>
<noscript>This page needs JavaScript, which your browser has switched off.</noscript>
<script type="application/json" id="payload">{payload}</script>
<script>{script}</script>
</body>
</html>
"""
_ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}


def write_page(
    alignment: Alignment, path: Path, progress: ProgressCallback = ignore_progress
) -> None:
    """Write the page as one file that works from disk, offline."""
    payload = make_payload(alignment, inline_thumbnails(alignment.film, progress))
    write_text(path, render_page(payload)[0])


def render_page(payload: dict[str, Any]) -> tuple[str, str]:
    """The page's HTML, and its content security policy for a header.

    Args:
        payload: What `make_payload` gives; with a server the page may talk to its own origin.
    """
    script, style = _front_end("page.js"), _front_end("page.css")
    own = " 'self'" if payload["server"] is not None else ""
    policy = "; ".join(
        (
            "default-src 'none'",
            f"script-src '{_hash(script)}'",
            f"style-src '{_hash(style)}'",
            f"img-src data: blob:{own}",
            f"media-src blob:{own}",
            "connect-src" + (own or " 'none'"),
            "base-uri 'none'",
            "form-action 'none'",
        )
    )
    text = _TEMPLATE.format(
        policy=policy,
        title=html.escape(f"{payload['book']['title']} – folioreel"),
        style=style,
        payload=escape_json(payload),
        script=script,
    )
    return text, policy


def escape_json(value: Any) -> str:
    """JSON that is safe inside a script element, whatever the texts contain."""
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    # Half of a surrogate pair, which a broken book may contain, cannot be encoded as UTF-8.
    whole = text.translate(_ESCAPES).encode("utf-8", errors="replace")
    return whole.decode("utf-8")


def _front_end(name: str) -> str:
    """A built file of the front end."""
    try:
        text = resources.files("folioreel.export").joinpath("page", name).read_text("utf-8")
    except OSError as error:
        raise FolioReelError(
            f"the page's {name} is missing from the installed package; install folioreel again"
        ) from error
    if "</script" in text.lower() or "</style" in text.lower() or "<!--" in text:
        raise ValueError(f"{name} cannot be inlined")
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode("utf-8")).digest()
    return "sha256-" + base64.b64encode(digest).decode("ascii")
