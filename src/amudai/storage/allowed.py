"""Files outside of the folder of a shard: which URLs references may lead to, and which stores serve them."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self, TypeAlias

from amudai.arguments import path_text, sequence
from amudai.errors import InvalidArgument
from amudai.storage.contract import Store
from amudai.storage.opening import adapted, open_store
from amudai.storage.portable import PortableStore, portable_store
from amudai.storage.references import file_url, is_relative

__all__ = ["Allow", "Allowed", "PortableAllowed"]

# What a caller passes as `allow`: prefixes, prefixes with their stores, or a function that decides.
Allow: TypeAlias = Callable[[str], bool] | Sequence[str] | Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PortableAllowed:
    """The same prefixes and stores in another process. It can be pickled."""

    prefixes: tuple[tuple[str, PortableStore | None], ...] = ()

    def open(self) -> Allowed:
        """What is allowed, with stores that are opened anew."""
        return Allowed(tuple((prefix, None if how is None else how.open()) for prefix, how in self.prefixes))


@dataclass(frozen=True, slots=True, eq=False)
class Allowed:
    """The URLs outside of a shard's folder that its references may lead to.

    Attributes
    ----------
    prefixes
        Beginnings of URLs, each with a slash at its end, and the store that serves such URLs. The store knows a file by
        the rest of the URL after the prefix. None: the file is opened by its whole URL.
    decide
        A function that says whether any other URL is allowed, or None.

    Examples
    --------
    >>> allowed = Allowed.of(["s3://cold"])
    >>> allowed("s3://cold/1f.amudai.stripe"), allowed("s3://colder/1f.amudai.stripe")
    (True, False)
    """

    prefixes: tuple[tuple[str, Store | None], ...] = ()
    decide: Callable[[str], bool] | None = None

    @classmethod
    def of(cls, allow: Allow | Allowed) -> Self | Allowed:
        """What a caller allows: prefixes or local folders, a mapping of them to stores, or a function."""
        if isinstance(allow, tuple) and not allow:
            return cls()
        if isinstance(allow, Allowed):
            return allow
        if callable(allow):
            return cls(decide=allow)
        named: Mapping[str, object]
        if isinstance(allow, Mapping):
            named = allow
        elif isinstance(allow, str | os.PathLike):
            named = {path_text(allow, "allow"): None}
        else:
            named = dict.fromkeys(path_text(each, "allow") for each in sequence(allow, "allow"))
        return cls(
            tuple((_prefix(each), None if store is None else adapted(store)) for each, store in named.items() if each)
        )

    def __call__(self, url: str) -> bool:
        """Whether references may lead to `url`."""
        if any(url.startswith(prefix) for prefix, _ in self.prefixes):
            return True
        return self.decide is not None and bool(self.decide(url))

    def place(self, url: str, store: Store) -> tuple[Store, str]:
        """The store that serves an allowed URL, and the URL there. `store` is that of the root."""
        for prefix, mapped in self._mapped():
            if url.startswith(prefix):
                return mapped, url[len(prefix) :]
        return (store, url) if store.serves(url) else open_store(url)

    def url_in(self, store: Store, url: str) -> str | None:
        """The URL of a file in `store`, if an absolute URL leads there by a prefix that is mapped to this store."""
        for prefix, mapped in self._mapped():
            if url.startswith(prefix):
                return url[len(prefix) :] if mapped.same_files(store) else None
        return None

    def url_of(self, store: Store, url: str) -> str | None:
        """The absolute URL by which references name the file `url` of `store`; None if there is none."""
        if not is_relative(url):
            return url
        for prefix, mapped in self.prefixes:
            if mapped is not None and mapped.same_files(store):
                return prefix + url.removeprefix("/")
        return None

    def _mapped(self) -> list[tuple[str, Store]]:
        """The prefixes with stores. The longest comes first: it is the most specific one."""
        found = [(prefix, store) for prefix, store in self.prefixes if store is not None]
        return sorted(found, key=lambda each: -len(each[0]))

    def portable(self) -> PortableAllowed:
        """The same in another process. Raises InvalidArgument if a store cannot be opened there."""
        if self.decide is not None:
            message = "allow: expected beginnings of URLs, found a callable: another process cannot be handed one"
            raise InvalidArgument(message)
        return PortableAllowed(
            tuple((prefix, None if store is None else portable_store(store)) for prefix, store in self.prefixes)
        )


def _prefix(given: str | os.PathLike[str]) -> str:
    """A prefix as references spell it. With a slash: https://a.com must not allow https://a.com.evil.org/."""
    text = path_text(given, "allow")
    if is_relative(text):
        text = file_url(text)  # a local folder
    return text if text.endswith("/") else f"{text}/"
