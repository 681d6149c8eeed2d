"""One reader and one alignment: the page's data, the judgements, and the revised links."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from folioreel.errors import FolioReelError, InputError
from folioreel.export.alignment_json import write_alignment
from folioreel.export.page_html import make_payload, page_link
from folioreel.ingest.film import watch_film
from folioreel.ingest.source import read_bytes
from folioreel.json_input import parse_json
from folioreel.models.presets import config_from_dict
from folioreel.progress import Progress
from folioreel.types import Alignment, Alternative, Link
from folioreel.viewer.judgement import MOST_MOMENTS, ReaderJudgement
from folioreel.viewer.judgement_files import read_judgements
from folioreel.viewer.judgements import Judgements

if TYPE_CHECKING:
    from folioreel.alignment.aligner import Aligner
    from folioreel.alignment.revise import Reviser

_log = logging.getLogger(__name__)

REVISED = "alignment.json"  # the corrected alignment, in the folder of the judgements

_NOISE = 0.002
"""Smaller changes of a score are not reported: solving only a window shifts scores by this much."""


class StaleError(FolioReelError):
    """The judgement came from a window that had not seen the latest one."""


class _ClosedError(Exception):
    """The session was closed while scores were being computed."""


@dataclass(frozen=True, kw_only=True)
class _RevisedLink:
    sentence: int
    score: float
    in_book: bool
    alternatives: tuple[Alternative, ...] = ()


@dataclass(frozen=True, kw_only=True)
class _Revised:
    """What a session needs of the corrected alignment of the last one."""

    model: dict[str, Any]
    links: list[_RevisedLink]


class Session:
    """An alignment that is being read; safe to call from several threads."""

    def __init__(self, alignment: Alignment, folder: Path) -> None:
        """Restore the judgements in a folder."""
        self.alignment = alignment
        self.judgements = Judgements(alignment, folder)
        self._links = list(alignment.links)
        # Whether the links around judgements are older than the journal, after a kill.
        self._links_are_behind = self._take_up()
        # Whether files could not be written, as on a full disk.
        self._files_are_behind = False
        self._trouble = ""  # why they could not be written
        self._unsent: list[int] = []  # moments whose links have changed without a judgement
        self._lock = threading.Lock()
        self._reviser: Reviser | None = None
        self._prepared = threading.Event()
        self._closing = threading.Event()
        self._scoring: threading.Thread | None = None

    def prepare(self, complain: Callable[[str], None]) -> None:
        """Compute in the background the scores that revising links needs."""
        current = self.judgements.current
        judged = {moment: self._place(current[moment], moment) for moment in current}

        def work() -> None:
            # Slow to import, and not needed to show the page.
            from folioreel.alignment.revise import Reviser

            try:
                film, book = self.alignment.film, self.alignment.book
                aligner = _aligner_of(self.alignment)
                network = aligner.frame_features()
                if self.alignment.signature.get("pictures") and network is not None:
                    options = self.alignment.signature.get("options", {})
                    detector = options.get("detector", "adaptive")
                    film = watch_film(film, network, detector=detector, progress=self._go_on)
                    if film.features is None:
                        raise InputError("the film can no longer be watched; align it again")
                scores = aligner.score(film, book, self._go_on)
                self._reviser = Reviser(aligner, film, book, scores, judged)
                if self._links_are_behind:
                    self._catch_up(aligner.link(film, book, scores, judged)[0])
            except FolioReelError as error:
                complain(f"judgements will not change the links around them: {error}")
            except _ClosedError:
                pass
            finally:
                self._prepared.set()

        self._scoring = threading.Thread(target=work, name="scores", daemon=True)
        self._scoring.start()

    def close(self) -> None:
        """Stop computing scores, so that the thread does not outlive the program."""
        self._closing.set()
        if self._scoring is not None:
            self._scoring.join()
        with self._lock:
            if self._files_are_behind:
                self._write_files()

    def _go_on(self, progress: Progress) -> None:
        if self._closing.is_set():
            raise _ClosedError

    def corrected(self) -> Alignment:
        """The alignment with the judgements and the links that follow from them.

        Waits for the links that the last session did not get to write, if `prepare` was called.
        """
        if self._scoring is not None:
            self._prepared.wait()
        with self._lock:
            return self._corrected()

    @property
    def is_behind(self) -> bool:
        """Whether the links around some judgements have not been revised yet."""
        return self._links_are_behind

    def payload(
        self, thumbnails: list[str | None], server: dict[str, str | None]
    ) -> dict[str, Any]:
        """The page's current data."""
        with self._lock:
            links = [self._page_link(moment) for moment in range(len(self._links))]
            judgements, revision = self._judgement_dicts(), self.judgements.revision
            judged = sorted(self.judgements.current)
        payload = make_payload(self.alignment, thumbnails, judgements, revision, server)
        found = [[moment, payload["links"][moment]] for moment in judged]
        return payload | {"links": links, "found": found}

    def judge(self, revision: object, *values: Any) -> dict[str, Any]:
        """Save judgements that one undo takes back; return what they changed, in the page's form.

        Raises:
            StaleError: Another window has saved a judgement since.
            ValueError: One of them is not a judgement of this alignment, or they are too many.
        """
        judgements = [ReaderJudgement.from_dict(one, self.alignment) for one in values]
        if sum(len(judgement.moments) for judgement in judgements) > MOST_MOMENTS:
            raise ValueError(f"at most {MOST_MOMENTS} moments can be judged at once")
        self._prepared.wait()
        with self._lock:
            self._check_revision(revision)
            changed = self._add(*judgements)
            return self._answer(changed) if changed else self._revised([])

    def undo(self, revision: object) -> dict[str, Any]:
        """Undo the last step; return what that changed, and its first moment as `undone`.

        Raises:
            StaleError: Another window has saved a judgement since.
            ValueError: There is nothing to undo.
        """
        self._prepared.wait()
        with self._lock:
            self._check_revision(revision)
            moments = self.judgements.undo()
            answer = self._answer(self._revise(moments))
            return {**answer, "undone": moments[0] if moments else None}

    def take(self, path: Path) -> int:
        """Import corrections from a file (judgement_files.py); returns how many were new.

        Raises:
            InputError: The file is damaged, or belongs to another book or film.
        """
        found = read_judgements(path, self.alignment)
        self._prepared.wait()
        count = 0
        with self._lock:
            try:
                for judgement in found:
                    count += bool(self._add(judgement))
            finally:  # the files are large: written once, also after an error in between
                if count:
                    self._write_files()
        return count

    def state(self) -> dict[str, Any]:
        """All links and judgements, for a window that has fallen behind."""
        with self._lock:
            return self._revised(range(len(self._links)))

    def _check_revision(self, revision: object) -> None:
        # `True` equals 1, and 1.0 does.
        if type(revision) is not int or revision != self.judgements.revision:
            raise StaleError("another window has saved a judgement since")

    def _add(self, *judgements: ReaderJudgement) -> set[int]:
        """Save judgements; returns the moments whose links changed, none if they already hold."""
        new = self.judgements.add(*judgements)
        return self._revise([moment for judgement in new for moment in judgement.moments])

    def _revise(self, moments: Iterable[int]) -> set[int]:
        """Revise the links around moments whose judgement has changed.

        Returns:
            The moments whose links changed, these among them.
        """
        changed: set[int] = set()
        current = self.judgements.current
        for moment in moments:
            judgement = current.get(moment)
            if self._reviser is not None:
                place = None if judgement is None else self._place(judgement, moment)
                new = self._reviser.judge(moment, place)
            else:
                new = (self._judged_link(self.alignment.links[moment], judgement),)
                # Without scores no other link changes. If they were merely not there yet when the
                # program was stopped, the next session computes the others.
                self._links_are_behind |= self._closing.is_set()
            for link in new:
                if link.moment == moment or _is_other(link, self._links[link.moment]):
                    self._links[link.moment] = link
                    changed.add(link.moment)
        return changed

    def _answer(self, changed: set[int]) -> dict[str, Any]:
        """Write the files, and tell the page which links have changed."""
        self._write_files()
        moments = sorted(changed.union(self._unsent))
        self._unsent = []
        return self._revised(moments)

    def _sentence(self, judgement: ReaderJudgement, moment: int) -> int | None:
        """The sentence of a judged moment; None if it is not in the book."""
        return judgement.sentence_at(moment, self.alignment.links[moment].sentence)

    def _place(self, judgement: ReaderJudgement, moment: int) -> int:
        """The sentence of a judged moment, or ABSENT."""
        from folioreel.models.chain import ABSENT

        sentence = self._sentence(judgement, moment)
        return ABSENT if sentence is None else sentence

    def _judged_link(self, link: Link, judgement: ReaderJudgement | None) -> Link:
        """The link after a judgement, which has no alternatives; unchanged without one."""
        if judgement is None:
            return link
        sentence = self._sentence(judgement, link.moment)
        if sentence is None:
            return replace(link, score=0.0, in_book=False, alternatives=())
        return replace(link, sentence=sentence, score=1.0, in_book=True, alternatives=())

    def _catch_up(self, links: tuple[Link, ...]) -> None:
        """Take the links that the last session did not get to write."""
        with self._lock:
            pairs = zip(links, self._links, strict=True)
            self._unsent = [new.moment for new, old in pairs if _is_other(new, old)]
            for moment in self._unsent:
                self._links[moment] = links[moment]
            self._links_are_behind = False
            self._write_files()

    def _page_link(self, moment: int) -> dict[str, Any]:
        """A link in the page's form.

        A judged link has no alternatives of its own, but the reader may come to think otherwise:
        the page still offers those that the alignment found.
        """
        link = self._links[moment]
        offered = link.alternatives or self.alignment.links[moment].alternatives
        return page_link(replace(link, alternatives=offered))

    def _revised(self, moments: Any) -> dict[str, Any]:
        return {
            "revision": self.judgements.revision,
            "judgements": self._judgement_dicts(),
            "links": [[moment, self._page_link(moment)] for moment in moments],
            **({"trouble": self._trouble} if self._trouble else {}),
        }

    def _judgement_dicts(self) -> list[dict[str, Any]]:
        current = self.judgements.current.items()
        return [judgement.to_dict() for moment, judgement in current if moment == judgement.moment]

    def _signature(self) -> dict[str, Any]:
        """The settings and the judgements that the corrected alignment is derived from."""
        return {**self.alignment.signature, "revision": self.judgements.revision}

    def _corrected(self) -> Alignment:
        links, judged = list(self._links), self.judgements.current
        for moment, judgement in judged.items():
            annotation = judgement.annotation(self.alignment.film)
            links[moment] = replace(links[moment], judged=judgement.verdict, annotation=annotation)
        signature = self._signature() if self.judgements.revision else self.alignment.signature
        return replace(self.alignment, links=tuple(links), signature=signature)

    def _write_files(self) -> None:
        """Write what follows from the journal, the corrected alignment last.

        The judgement is saved even if this fails: the files are written again with the next one,
        at the end, or at the next start.
        """
        if not self.judgements.is_latest():
            return  # another `folioreel view` is ahead, and writes them
        try:
            self.judgements.write_pair()
            # Links that are behind, the next session would take for what follows from the journal.
            if not self._links_are_behind:
                write_alignment(self._corrected(), self.judgements.folder / REVISED)
        except InputError as error:
            if not self._trouble:  # once, not with every judgement
                _log.warning("%s; your corrections are safe in journal.jsonl", error)
            self._files_are_behind, self._trouble = True, str(error)
        else:
            self._files_are_behind, self._trouble = False, ""

    def _take_up(self) -> bool:
        """Restore the links of the last session; failing that, at least the judged ones.

        Returns:
            Whether the last session could not write them.
        """
        is_behind = self.judgements.revision > 0
        try:
            document = parse_json(read_bytes(self.judgements.folder / REVISED), _Revised)
            found = document.model
            # They may also be of another alignment of the same files.
            is_known = found == self._signature() and len(document.links) == len(self._links)
            is_behind = is_behind and not is_known
            if is_known:
                for k, link in enumerate(document.links):
                    named = [link.sentence, *(other.sentence for other in link.alternatives)]
                    if not (min(named) >= 0 and max(named) < len(self.alignment.book.sentences)):
                        raise ValueError("a link beyond the book")
                    self._links[k] = replace(
                        self._links[k],
                        sentence=link.sentence,
                        score=link.score,
                        in_book=link.in_book,
                        alternatives=link.alternatives,
                    )
        except (InputError, ValueError, LookupError):
            pass  # derived from the journal, and rewritten by the next judgement
        for moment, judgement in self.judgements.current.items():
            self._links[moment] = self._judged_link(self._links[moment], judgement)
        return is_behind


def _is_other(link: Link, before: Link) -> bool:
    """Whether a link has changed by more than noise."""
    moved = (link.sentence, link.in_book) != (before.sentence, before.in_book)
    return moved or abs(link.score - before.score) > _NOISE


def _aligner_of(alignment: Alignment) -> Aligner:
    """The aligner that made an alignment, by its signature.

    Raises:
        InputError: The signature does not say how it was made.
    """
    from folioreel.alignment.aligner import Aligner

    try:
        config = config_from_dict(alignment.signature["config"])
    except (LookupError, TypeError, ValueError, AttributeError, FolioReelError) as error:
        raise InputError(f"its signature is not of this version ({error})") from error
    return Aligner(config, str(alignment.signature["preset"]))
