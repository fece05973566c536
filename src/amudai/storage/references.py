"""Resolving references between the files of a shard.

A reference is a path relative to the folder of the root file, or an absolute URL. References are not trusted: a
reference never leads out of the root file's folder unless the caller allows that.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final
from urllib.parse import quote, unquote

from amudai.errors import CorruptedData, RefusedAccess

__all__ = ["check_reference", "container", "file_url", "is_relative", "resolve"]

# An absolute path whose names need no escapes and are not dot segments.
_SIMPLE: Final = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9_.\-]*)+")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ABSOLUTE: Final = re.compile(r"[a-z][a-z0-9+.\-]*://([^/]*)/(.*)", re.DOTALL)
# Control characters and lone surrogates are not text. The other characters have a special meaning in some URL parsers.
_FORBIDDEN: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\\?#]")
# Escapes that change the meaning of a name when they are decoded: slash, backslash, NUL.
_HIDDEN: Final = re.compile(r"%(2f|5c|00)", re.IGNORECASE)
# Characters that must be escaped in a canonical URL.
_UNESCAPED: Final = re.compile(r"[^!-~]|[\"<>`{}]")
# Characters that need no escape in a path by the rules for URLs, so that our URL of a file is the same as everyone's.
_PLAIN: Final = "/!$&'()*+,;=:@[]"


def file_url(path: str | os.PathLike[str]) -> str:
    """The `file://` URL of a local path, absolute and escaped.

    >>> file_url("/data/our logs/a.amudai.shard")
    'file:///data/our%20logs/a.amudai.shard'
    """
    if isinstance(path, str):
        whole = path if path.startswith("/") else f"{os.getcwd()}/{path}"
        if _SIMPLE.fullmatch(whole):
            return f"file://{whole}"  # the usual case: nothing to resolve, nothing to escape
    folder, name = os.path.split(os.fsdecode(path))
    if ".." in folder.split(os.sep):
        folder = os.path.realpath(folder)  # only the system knows the parent folder of a link's target
    whole = os.path.abspath(os.path.join(folder, name))
    return f"file:///{quote(os.fsencode(whole.lstrip('/')), safe=_PLAIN)}"


def container(url: str) -> str:
    """The folder of a file: its URL or key up to and including the last slash.

    >>> container("s3://bucket/dir/a.amudai.shard"), container("dir/a.amudai.shard"), container("a.amudai.shard")
    ('s3://bucket/dir/', 'dir/', '')
    """
    _, mark, path = url.partition("://")
    if mark and "/" not in path:
        return f"{url}/"  # only a host: the last slash belongs to the scheme
    return url[: url.rfind("/") + 1]


def is_relative(reference: str) -> bool:
    """Whether a reference is a path rather than a URL. It may still be invalid: see `check_reference`."""
    return _SCHEME.match(reference) is None


@lru_cache(maxsize=256)  # the fields of a stripe refer to the same few files
def check_reference(reference: str) -> None:
    """Raise `CorruptedData` if `reference` is not a valid reference to a file.

    Valid references are relative paths and canonical absolute URLs that end with a name. They contain no dot segments
    in any spelling, no backslashes, control characters or credentials, no query and no fragment.
    """
    if is_relative(reference):
        path = reference
        if path.startswith("/"):
            raise _bad(reference, "a path below the folder of the root file")
    else:
        match = _ABSOLUTE.fullmatch(reference)
        if match is None:
            raise _bad(reference, "an absolute URL like scheme://host/path")
        authority, path = match.groups()
        if "@" in authority:
            raise _bad(reference, "a URL without credentials")
        if _UNESCAPED.search(reference):
            raise _bad(reference, "a URL with escapes for all that is not plain ASCII")
    if _FORBIDDEN.search(reference):
        raise _bad(reference, "no backslash, query, fragment or control character")
    if _HIDDEN.search(reference):
        raise _bad(reference, "no escaped slash, backslash or NUL")
    segments = path.split("/")
    # Stripped, because some parsers drop spaces around a URL, which would leave a dot segment.
    if any(unquote(segment).strip() in (".", "..") for segment in segments):
        raise _bad(reference, "no dot segments")
    if not segments[-1]:
        raise _bad(reference, "the name of a file at the end")


def resolve(
    reference: str, root: str, allow: Callable[[str], bool] | Sequence[str] = (), *, exact: bool = False
) -> str:
    """The URL of the file that `reference` names in the shard whose root file is `root`.

    `reference` is not empty: the caller handles empty references, by which a file refers to itself.

    Parameters
    ----------
    reference
        The reference as stored in a file of the shard. A path is joined to the root's folder. An absolute URL is used
        unchanged if it lies in the root's folder or `allow` permits it.
    root
        The URL of the root file, or its key in a store.
    allow
        URL prefixes that are permitted, or a function that decides for a URL.
    exact
        Whether any other absolute URL raises `RefusedAccess`. Otherwise the shard may have been moved: a URL that ends
        with the root's own name is the root, and the last segment of others names a file beside the root.

    Examples
    --------
    >>> resolve("1f.amudai.stripe", "file:///data/logs.amudai.shard")
    'file:///data/1f.amudai.stripe'
    >>> resolve("file:///old/1f.amudai.stripe", "file:///data/logs.amudai.shard")
    'file:///data/1f.amudai.stripe'
    >>> resolve("s3://cold/1f.amudai.stripe", "file:///data/logs.amudai.shard", allow=["s3://cold/"])
    's3://cold/1f.amudai.stripe'
    >>> resolve("s3://cold/logs.amudai.shard", "file:///data/logs.amudai.shard", exact=True)
    Traceback (most recent call last):
    amudai.errors.RefusedAccess: reference: expected a file in the folder of the root, or one that allow= permits,
    found s3://cold/logs.amudai.shard
    >>> resolve("../secret", "file:///data/logs.amudai.shard")
    Traceback (most recent call last):
    amudai.errors.CorruptedData: reference: expected no dot segments, found '../secret'
    """
    if reference == root:
        return root
    check_reference(reference)
    folder = container(root)
    if is_relative(reference):
        return _beside(folder, reference)
    name = reference[reference.rfind("/") + 1 :]
    if not exact and _same_name(name, root):
        return root
    inside = not is_relative(root) and reference.startswith(folder)
    if inside or _allowed(reference, allow):
        return reference
    if exact:
        expected = "reference: expected a file in the folder of the root, or one that allow= permits"
        raise RefusedAccess(f"{expected}, found {reference}")
    return _beside(folder, name)


def _beside(folder: str, path: str) -> str:
    if not folder and path.startswith("~"):
        raise _bad(path, "no path that begins with a home folder")  # fsspec would follow it
    return folder + path


def _same_name(name: str, root: str) -> bool:
    # A name that needs escapes has three spellings: escaped in URLs, plain in keys, and escaped twice if the reference
    # implementation used the escaped name as the file's name.
    own = root[root.rfind("/") + 1 :]
    return not {name, unquote(name)}.isdisjoint((own, unquote(own)))


def _allowed(url: str, allow: Callable[[str], bool] | Sequence[str]) -> bool:
    if callable(allow):
        return bool(allow(url))
    beginnings = [allow] if isinstance(allow, str) else allow
    # With a slash: https://a.com must not allow https://a.com.evil.org/.
    return any(url.startswith(f"{beginning.removesuffix('/')}/") for beginning in beginnings if beginning)


def _bad(reference: str, expected: str) -> CorruptedData:
    shown = re.sub(r"//[^/]*@", "//***@", reference.partition("?")[0])  # no secrets in messages
    shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
    return CorruptedData(f"reference: expected {expected}, found {shown!r}{' and a query' * ('?' in reference)}")
