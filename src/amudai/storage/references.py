"""Which file does a reference mean?

Files of a shard name each other by reference: a path relative to the folder of the root file, or an absolute URL. What
a reference says is not trusted: it never leads out of the root file's folder unless the caller allows the place.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import quote, unquote

from amudai.errors import CorruptedData

__all__ = ["check_reference", "container", "file_url", "is_relative", "resolve"]

# An absolute path of names that need no escape and are no steps back.
_SIMPLE: Final = re.compile(r"(?:/[A-Za-z0-9_][A-Za-z0-9_.\-]*)+")
_SCHEME: Final = re.compile(r"[A-Za-z][A-Za-z0-9+.\-]*:")
_ABSOLUTE: Final = re.compile(r"[a-z][a-z0-9+.\-]*://([^/]*)/(.*)", re.DOTALL)
# Control characters and lone surrogates are no text; the rest means something else to somebody who parses URLs.
_FORBIDDEN: Final = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\\?#]")
# Names that change when they are decoded: a slash, a backslash, NUL.
_HIDDEN: Final = re.compile(r"%(2f|5c|00)", re.IGNORECASE)
# What a canonical URL holds only in escaped form.
_UNESCAPED: Final = re.compile(r"[^!-~]|[\"<>`{}]")
# What the URL rules leave unescaped in a path, so that our URL of a file is the one that others write.
_PLAIN: Final = "/!$&'()*+,;=:@[]"


def file_url(path: str | os.PathLike[str]) -> str:
    """The `file://` URL of a local path, absolute and escaped.

    >>> file_url("/data/our logs/a.amudai.shard")
    'file:///data/our%20logs/a.amudai.shard'
    """
    if isinstance(path, str) and _SIMPLE.fullmatch(path):
        return f"file://{path}"  # as most are: nothing to resolve, nothing to escape
    folder, name = os.path.split(os.fsdecode(path))
    if ".." in folder.split(os.sep):
        folder = os.path.realpath(folder)  # only the system knows what lies above a link
    whole = os.path.abspath(os.path.join(folder, name))
    return f"file:///{quote(os.fsencode(whole.lstrip('/')), safe=_PLAIN)}"


def container(url: str) -> str:
    """The folder of a file, with its slash: a URL's or key's part up to the last slash.

    >>> container("s3://bucket/dir/a.amudai.shard"), container("dir/a.amudai.shard"), container("a.amudai.shard")
    ('s3://bucket/dir/', 'dir/', '')
    """
    _, mark, path = url.partition("://")
    if mark and "/" not in path:
        return f"{url}/"  # a host alone: the slash in front of it is not a folder's
    return url[: url.rfind("/") + 1]


def is_relative(reference: str) -> bool:
    """Whether a reference has the form of a path, not of a URL. It may still be a bad one: see `check_reference`."""
    return _SCHEME.match(reference) is None


def check_reference(reference: str) -> None:
    """Refuse what can be no sound reference to a file: `CorruptedData` that names it.

    Sound are relative paths and canonical absolute URLs, without dot segments in any spelling, backslashes, control
    characters, credentials, query or fragment, and with a name at the end.
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
    # Stripped: some parsers drop the spaces around a URL, and a dot segment would be left.
    if any(unquote(segment).strip() in (".", "..") for segment in segments):
        raise _bad(reference, "no dot segments")
    if not segments[-1]:
        raise _bad(reference, "the name of a file at the end")


def resolve(reference: str, root: str, allow: Callable[[str], bool] | Sequence[str] = ()) -> str:
    """The URL that `reference` means in the shard whose root file is `root`.

    The empty reference, a file's reference to itself, is the caller's matter.

    Parameters
    ----------
    reference
        As a file of the shard spells it. A path is joined to the root's folder. An absolute URL that ends with the
        root's own name is the root: somebody moved the shard. Another absolute URL is used as it is inside the root's
        folder and where `allow` says so; everywhere else its last segment names a file beside the root.
    root
        The URL of the root file, or its key in a store.
    allow
        Beginnings of URLs that may be followed, or a function that is asked.

    Examples
    --------
    >>> resolve("1f.amudai.stripe", "file:///data/logs.amudai.shard")
    'file:///data/1f.amudai.stripe'
    >>> resolve("file:///old/1f.amudai.stripe", "file:///data/logs.amudai.shard")
    'file:///data/1f.amudai.stripe'
    >>> resolve("s3://cold/1f.amudai.stripe", "file:///data/logs.amudai.shard", allow=["s3://cold/"])
    's3://cold/1f.amudai.stripe'
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
    if _same_name(name, root):
        return root
    inside = not is_relative(root) and reference.startswith(folder)
    if inside or _allowed(reference, allow):
        return reference
    return _beside(folder, name)


def _beside(folder: str, path: str) -> str:
    if not folder and path.startswith("~"):
        raise _bad(path, "no path that begins with a home folder")  # fsspec would follow it
    return folder + path


def _same_name(name: str, root: str) -> bool:
    # A name that needs escapes is spelt in three ways: escaped in URLs, plain in keys, and escaped twice where the
    # reference implementation stored the escaped name as the file's.
    own = root[root.rfind("/") + 1 :]
    return not {name, unquote(name)}.isdisjoint((own, unquote(own)))


def _allowed(url: str, allow: Callable[[str], bool] | Sequence[str]) -> bool:
    if callable(allow):
        return bool(allow(url))
    beginnings = [allow] if isinstance(allow, str) else allow
    # With its slash: https://a.com must not allow https://a.com.evil.org/.
    return any(url.startswith(f"{beginning.removesuffix('/')}/") for beginning in beginnings if beginning)


def _bad(reference: str, expected: str) -> CorruptedData:
    shown = re.sub(r"//[^/]*@", "//***@", reference.partition("?")[0])  # no secrets in messages
    shown = shown if len(shown) <= 200 else f"{shown[:200]}..."
    return CorruptedData(f"reference: expected {expected}, found {shown!r}{' and a query' * ('?' in reference)}")
