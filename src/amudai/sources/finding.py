"""Finding the input files that paths, folders, patterns, URLs and archives mean."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Final, NamedTuple, TypeAlias

from amudai.arguments import path_text
from amudai.errors import InvalidArgument, MissingFile
from amudai.sources.archives import Archives, is_archive
from amudai.sources.content import Content, LocalContent, Workspace
from amudai.sources.files import InputFile, shown, translated
from amudai.sources.remote import check_url, file_at, files_in
from amudai.sources.streams import spooled
from amudai.storage import LocalStore

__all__ = ["Finder", "FoundFile", "PathLike", "SkippedFile"]

PathLike: TypeAlias = str | os.PathLike[str]

_URL: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]+)://")


class SkippedFile(NamedTuple):
    """A file of a folder or archive that was not read, and why."""

    path: str
    reason: str


class FoundFile(NamedTuple):
    """A file to read. `asked` says whether the caller named it, rather than its folder or archive."""

    file: InputFile
    asked: bool


class Finder:
    """Finds files. What it opens for them is closed with `stack`.

    Attributes
    ----------
    skipped
        Files of folders and archives that cannot be read.
    """

    def __init__(self, workspace: Workspace, stack: ExitStack) -> None:
        self._archives = Archives(workspace, stack)
        self._workspace = workspace
        self.skipped: list[SkippedFile] = []

    def find(self, paths: Sequence[PathLike | InputFile]) -> list[FoundFile]:
        """The files in the given order: those of a folder or pattern by name, those of an archive in its order."""
        if not paths:
            raise InvalidArgument("paths: expected at least one, found none")
        found: list[FoundFile] = []
        for path in paths:
            if isinstance(path, InputFile):
                found.append(FoundFile(path, True))
            elif isinstance(path, (str, os.PathLike)):
                found.extend(self._expanded(path))
            else:
                raise InvalidArgument(f"paths: expected names of files, found {type(path).__name__}")
        return found

    def _expanded(self, path: PathLike) -> list[FoundFile]:
        text = path_text(path, "paths")
        scheme = _URL.match(text)
        if isinstance(path, str) and scheme is not None:
            if scheme[1].lower() != "file":
                return list(self._at_url(text))
            text = LocalStore().local_path(text)
        return list(self._local(text))

    # ---- local files ----

    def _local(self, path: str) -> Iterator[FoundFile]:
        # The name of a file may look like a pattern.
        if os.path.isdir(path):
            files = list(_below(path, self.skipped))
            if not files:
                raise MissingFile("folder: expected files, found none", file=shown(path))
            for each in files:
                reason = _why_not(each)
                if reason is None:
                    yield from self._file(each, LocalContent(each), asked=False)
                else:
                    self.skipped.append(SkippedFile(shown(each), reason))
        elif os.path.isfile(path):
            yield from self._file(path, LocalContent(path), asked=True)
        elif os.path.exists(path):
            # A pipe, such as the <(command) of a shell, can be read once.
            with translated(InputFile(shown(path), "")), open(path, "rb", buffering=0) as stream:
                yield FoundFile(spooled(stream, self._workspace), True)
        elif (archive := _archive_above(path)) is not None:
            yield from self._inside(archive, LocalContent(archive), path[len(archive) + 1 :])
        elif not glob.has_magic(path):
            raise MissingFile("file: expected one that can be read, found none", file=shown(path))
        else:
            matches = sorted(match for match in glob.glob(path, recursive=True) if not os.path.isdir(match))
            if not matches:
                raise MissingFile("pattern: expected some file to match, found none", file=shown(path))
            for each in matches:
                yield from self._file(each, LocalContent(each), asked=True)

    # ---- files in stores ----

    def _at_url(self, url: str) -> Iterator[FoundFile]:
        check_url(url)
        if glob.has_magic(url):
            first = re.search(r"[*?\[]", url)
            matches = _matcher(url)
            folder = url[: first.start() if first else None].rpartition("/")[0]
            found = [(each, content) for each, content in _visible(folder) if matches.fullmatch(each)]
            if not found:
                raise MissingFile("pattern: expected some file to match, found none", file=url)
            for each, content in found:
                yield from self._file(each, content, asked=True)
        elif (file := None if url.endswith("/") else file_at(url)) is not None:
            yield from self._file(url, file, asked=True)
        elif (archive := _archive_in(url)) is not None and (stored := file_at(archive)) is not None:
            yield from self._inside(archive, stored, url[len(archive) + 1 :])
        else:
            files = list(_visible(url))
            if not files:
                raise MissingFile("file or folder: expected one that can be read, found none", file=url)
            for each, content in files:
                yield from self._file(each, content, asked=False)

    # ---- archives ----

    def _file(self, path: str, content: Content, *, asked: bool) -> Iterator[FoundFile]:
        """A file, or the members of an archive."""
        if not is_archive(path):
            yield FoundFile(InputFile.named(path, content), asked)
            return
        for name, member in self._members(path, content):
            yield FoundFile(InputFile.named(f"{path}/{name}", member), False)

    def _inside(self, archive: str, content: Content, wanted: str) -> Iterator[FoundFile]:
        """The member `wanted` of an archive, or the members in the folder `wanted` or that match the pattern."""
        members = dict(self._members(archive, content))
        prefix = f"{wanted.rstrip('/')}/"
        if wanted in members:
            yield FoundFile(InputFile.named(f"{archive}/{wanted}", members[wanted]), True)
            return
        below = [name for name in members if name.startswith(prefix)]
        matcher = _matcher(wanted)
        chosen = below or [name for name in members if matcher.fullmatch(name)]
        if not chosen:
            where = f"{shown(archive)}/{shown(wanted)}"
            raise MissingFile("archive: expected a member of this name, found none", file=where)
        for name in chosen:
            yield FoundFile(InputFile.named(f"{archive}/{name}", members[name]), not below)

    def _members(self, path: str, content: Content) -> Iterator[tuple[str, Content]]:
        with translated(InputFile(shown(path), "", None, content)):
            members = list(self._archives.members(path, content))
        for name, member in members:
            if _is_hidden(name):
                continue
            if isinstance(member, str):
                self.skipped.append(SkippedFile(shown(f"{path}/{name}"), member))
            elif is_archive(name):
                self.skipped.append(SkippedFile(shown(f"{path}/{name}"), "it is an archive inside an archive"))
            else:
                yield name, member


def _below(folder: str, skipped: list[SkippedFile]) -> Iterator[str]:
    """The visible files below a folder. Folders that cannot be listed, and links to folders, are added to `skipped`."""

    def refused(error: OSError) -> None:
        skipped.append(SkippedFile(shown(str(error.filename)), f"it cannot be read: {error.strerror}"))

    for root, folders, names in os.walk(folder, onerror=refused):
        folders[:] = sorted(name for name in folders if name[0] not in "._")
        links = [path for path in (os.path.join(root, name) for name in folders) if os.path.islink(path)]
        skipped.extend(SkippedFile(shown(path), "it is a link to a folder") for path in links)
        yield from (os.path.join(root, name) for name in sorted(names) if name[0] not in "._")


def _why_not(path: str) -> str | None:
    """Why a file in a folder cannot be read; None if it can."""
    try:
        mode = os.stat(path).st_mode
    except OSError as error:
        return f"it cannot be read: {error.strerror}"
    if not stat.S_ISREG(mode):
        return "it is no regular file"
    return None if os.access(path, os.R_OK) else "it cannot be read: Permission denied"


def _is_hidden(path: str) -> bool:
    return any(part[:1] in (".", "_") and part not in (".", "..") for part in path.split("/"))


def _visible(url: str) -> list[tuple[str, Content]]:
    """The files below a folder in a store, without hidden ones, by name."""
    start = len(url.rstrip("/")) + 1
    return [(name, content) for name, content in files_in(url) if not _is_hidden(name[start:])]


def _archive_above(path: str) -> str | None:
    """The archive that a path leads into: `logs.zip` for `logs.zip/app.log`."""
    folder = os.path.dirname(path)
    while folder and folder != os.path.dirname(folder):
        if os.path.isfile(folder):
            return folder if is_archive(folder) else None
        folder = os.path.dirname(folder)
    return None


def _archive_in(url: str) -> str | None:
    parts = url.split("/")
    return next(
        ("/".join(parts[:count]) for count in range(len(parts) - 1, 3, -1) if is_archive(parts[count - 1])), None
    )


def _matcher(pattern: str) -> re.Pattern[str]:
    """A pattern of names as a regular expression: `*` stays within a folder, `**` does not.

    >>> bool(_matcher("logs/**/*.json").fullmatch("logs/2024/05/a.json"))
    True
    """
    parts = re.split(r"(\*\*/|\*\*|\*|\?|\[[^\]]+\])", pattern)
    known = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
    return re.compile("".join(_translated(part, known) for part in parts), re.DOTALL)


def _translated(part: str, known: dict[str, str]) -> str:
    if part in known:
        return known[part]
    if part.startswith("[") and part.endswith("]") and len(part) > 2:
        return f"[{'^' if part[1] == '!' else ''}{re.escape(part[1:-1].removeprefix('!')).replace(chr(92) + '-', '-')}]"
    return re.escape(part)
