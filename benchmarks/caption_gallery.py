"""A gallery of Flickr8k's test pictures, each told with a passage of books.

python benchmarks/caption_gallery.py FLICKR8K BOOKS OUT [--count 20] [--style-shift]

The pictures are copied into OUT, and the page is OUT/gallery.html. Flickr's pictures are their
photographers' own: keep the folder to yourself.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from folioreel.apps.caption import CaptionConfig, find_passages
from folioreel.apps.contact_sheet import write_gallery
from folioreel.files import make_folder, write_whole
from folioreel.ingest.descriptions import read_flickr8k, read_pictures


def main() -> None:
    """Copy the pictures, tell them, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("flickr8k", type=Path)
    parser.add_argument("books", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--count", type=int, default=20)
    parser.add_argument("--encoder")
    parser.add_argument("--style-shift", action="store_true")
    options = parser.parse_args()
    described = read_flickr8k(options.flickr8k, "test")
    # Evenly out of the whole split, so that it is nobody's choice.
    names = [picture.clip for picture in described[:: len(described) // options.count]]
    names = names[: options.count]
    make_folder(options.out)
    files = {name: options.out / f"{name}.jpg" for name in names}
    for name, data in read_pictures(options.flickr8k):
        if name in files:
            write_whole(files[name], data)
    config = CaptionConfig(encoder=options.encoder, style_shift=options.style_shift)
    found = find_passages([files[name] for name in names], options.books, config)
    page = options.out / "gallery.html"
    write_gallery(found, page, title="Flickr8k, told by books", force=True)
    print(f"wrote {page}: {len(found.stories)} of {len(names)} pictures")


if __name__ == "__main__":
    main()
