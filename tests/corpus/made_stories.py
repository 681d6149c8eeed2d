"""Three short tales with plain sentences, as a corpus that can be searched."""

from pathlib import Path

from folioreel.corpus.build import CorpusConfig, build_corpus

SMALL = CorpusConfig(min_words=20, workers=1)

SEA = """The Long Voyage

CHAPTER 1

The captain looked at the storm that was coming over the sea. "Take in the sails!" he shouted.

The sailors climbed the masts. Two of them fell into the waves and were never seen again.

CHAPTER 2

In the morning the ship was gone. A fisherman found one broken oar upon the beach.
"""

GHOST = """The Empty House

CHAPTER 1

Nobody had lived in the house for thirty years. At midnight a ghost walked along the gallery.

"Who is there?" cried the widow, and her candle went out. There was no answer but the wind.

CHAPTER 2

The old doctor did not believe in spirits. He bought the house, and he was dead by Christmas.
"""

MONEY = """A Matter of Business

CHAPTER 1

Mr. Pratt counted his money every evening before he went to bed. He had nine hundred guineas.

His nephew had none. The young man borrowed from everybody, and he paid nobody back.

CHAPTER 2

One night the strongbox was empty. "I have been robbed!" said Mr. Pratt to the constable.
"""

RUSSIAN = """Рассказ

Старый доктор не верил в привидения. Он купил дом на берегу моря и умер зимой в полном одиночестве.

Никто не приходил к нему. Ветер стучал в окна каждую ночь, и море шумело под самыми стенами дома.
"""

TALES = {"sea.txt": SEA, "ghost.txt": GHOST, "money.txt": MONEY}


def write_tales(folder: Path, *names: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name in names or TALES:
        (folder / name).write_text(TALES[name], encoding="utf-8")
    return folder


def build_tales(tmp_path: Path, *names: str) -> Path:
    """A corpus of some tales; of all if none is named."""
    build_corpus(write_tales(tmp_path / "library", *names), tmp_path / "corpus", SMALL)
    return tmp_path / "corpus"
