"""Which of the files that were made for a new root stay when its making ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress

from amudai.edit import Publication
from amudai.errors import AmudaiError
from amudai.storage import Store, remove_files

__all__ = ["Outcome"]


class Outcome:
    """What becomes of a new root: whether it is published, and which files it refers to.

    Who makes files for a root creates an outcome and passes it on to what makes the root. Files that the root does not
    refer to are removed at the end, and a root that was not published refers to none. An error says nothing about that:
    it may be raised after the root was published.
    """

    def __init__(self) -> None:
        self._publication: Publication | None = None

    def follow(self, publication: Publication) -> None:
        """Take note of the publication of the root, or of the next attempt at it."""
        self._publication = publication

    def used(self) -> frozenset[str]:
        """The URLs of the files that the published root refers to. An AmudaiError is raised if nobody knows."""
        return frozenset() if self._publication is None else self._publication.used()

    def uses(self, urls: Iterable[str]) -> bool:
        """Whether the published root refers to one of these files."""
        return not self.used().isdisjoint(urls)

    @contextmanager
    def clearing(self, remove: Callable[[Collection[str]], object]) -> Iterator[None]:
        """However the block ends, call `remove` with the URLs of the files that must stay, unless nobody knows them."""
        try:
            yield
        finally:
            with suppress(AmudaiError):
                remove(self.used())

    def removing(self, store: Store, urls: Sequence[str]) -> AbstractContextManager[None]:
        """However the block ends, remove those of these files that the root does not refer to.

        A store that cannot remove files keeps them.
        """
        return self.clearing(lambda used: remove_files(store, [url for url in urls if url not in used]))
