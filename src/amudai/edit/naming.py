"""The names by which a new root refers to files."""

from __future__ import annotations

from dataclasses import dataclass, field

from amudai.errors import InvalidArgument
from amudai.storage import Allowed, Artifact, Store, TargetPlace, container, is_relative

__all__ = ["Naming"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """How a root names the files that it refers to: by relative paths below its folder, otherwise by absolute URLs.

    Attributes
    ----------
    url, store
        Where the root is.
    allow
        The absolute URLs that the root may refer to. A mapped prefix gives files of its store a URL.
    """

    url: str
    store: Store
    allow: Allowed = field(default_factory=Allowed)
    _place: TargetPlace = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_place", TargetPlace(self.store, self.url))

    @property
    def folder(self) -> str:
        """The folder of the root, with its slash."""
        return container(self.url)

    def replaces(self, file: Artifact) -> bool:
        """Whether the root takes the place of a file, so that nothing may refer to the bytes of that file."""
        return self._place.is_of(file)

    def of(self, file: Artifact) -> str:
        """The name of a file. Raises InvalidArgument if it is outside of the folder and not allowed."""
        return self.name(file.store, file.url)

    def name(self, store: Store, url: str) -> str:
        """The name of the file that `store` knows by `url`."""
        if url.startswith(self.folder) and (not is_relative(url) or store.same_files(self.store)):
            below = url[len(self.folder) :]
            if is_relative(below):
                return below
        absolute = self.allow.url_of(store, url)
        if absolute is None:
            message = "a file of a store without URLs: expected allow= to map a prefix of URLs to its store"
            raise InvalidArgument(message, url=url)
        if not self.allow(absolute):
            message = f"a file outside of {self.folder}, the folder of the new shard: expected allow= to permit it"
            raise InvalidArgument(message, url=absolute)
        return absolute
