"""Does a reference mean the file it should, and never one outside of the shard's folder?"""

from __future__ import annotations

import os
from pathlib import Path
from urllib.parse import unquote

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from amudai.errors import CorruptedData
from amudai.storage import check_reference, container, file_url, is_relative, resolve

ROOT = "file:///data/logs.amudai.shard"

SOUND = [
    "https://foo.com/aaa/bcde",
    "file:///test/bcde",
    "file://host/test/x",
    "s3://bucket/dir/f",
    "https://foo.com/aaa/%d1%81",
    "https://foo.com:8080/a",
    "https://foo.com/a:b@c",
    "1f2e.amudai.stripe",
    "sub/1f2e.amudai.stripe",
    "a/b/c",
    "a b",
    "ü",
    "a%20b",
    "...",
    ".hidden",
    "a..b/c..",
    "1a:b",
    "a/b:c",
    "%252e%252e/x",
]
UNSOUND = [
    # Not canonical, or not hierarchical.
    "https://foo.com",
    "file:test",
    "file:/test",
    "C:\\Windows\\x",
    "C:x",
    "FILE:///test",
    "mailto:a@b.c",
    "javascript:alert(1)",
    "https://foo.com/a b",
    "https://foo.com/ü",
    "https://foo.com/a\nb",
    # Containers: no file is named.
    "",
    "https://foo.com/",
    "file://host/test/",
    "sub/",
    # Dot segments, however spelt.
    ".",
    "..",
    "../x",
    "./x",
    "a/../b",
    "a/./b",
    "a/..",
    "%2e%2e/x",
    "%2E%2e/x",
    ".%2e/x",
    "%2e./x",
    "a/%2e/b",
    "a/%2E%2E",
    " ../x",
    "..%20/x",
    ".. /x",
    ".\t./x",
    "https://foo.com/a/../b",
    "https://foo.com/a/./b",
    "https://foo.com/a/%2e%2e/b",
    "file:///data/../etc/passwd",
    # Slashes and what becomes one.
    "/etc/passwd",
    "//host/share/x",
    "..\\x",
    "a\\..\\b",
    "a%2f..%2fb",
    "..%2Fx",
    "..%5cx",
    "file:///data/%2F..%2Fetc",
    # Bytes that end or split a name.
    "a\0b",
    "a%00b",
    "a\x7fb",
    "a\nb",
    "\udcff",
    # Credentials, query, fragment.
    "https://user:pass@foo.com/a",
    "https://user@foo.com/a",
    "https://foo.com/a?b",
    "https://foo.com/a#b",
    "a?b",
    "a#b",
]


@pytest.mark.parametrize("reference", SOUND)
def test_sound(reference: str) -> None:
    check_reference(reference)


@pytest.mark.parametrize("reference", UNSOUND)
def test_unsound(reference: str) -> None:
    with pytest.raises(CorruptedData, match=r"reference: expected .*, found "):
        check_reference(reference)
    with pytest.raises(CorruptedData):
        resolve(reference, ROOT, allow=lambda _: True)


def test_the_reference_is_named_but_no_secret() -> None:
    with pytest.raises(CorruptedData, match=r"found 'a/\.\./b'"):
        check_reference("a/../b")
    with pytest.raises(CorruptedData) as caught:
        check_reference("https://user:hunter2@foo.com/a?sig=hunter3")
    assert "hunter" not in str(caught.value)
    assert "foo.com/a" in str(caught.value)
    with pytest.raises(CorruptedData) as caught:
        check_reference("../" * 10_000)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("reference", "relative"),
    [("a", True), ("a/b:c", True), ("/a", True), ("1:a", True), ("s3://a/b", False), ("file:x", False), ("C:x", False)],
)
def test_is_relative(reference: str, relative: bool) -> None:
    assert is_relative(reference) is relative


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("file:///data/x", "file:///data/"),
        ("file:///x", "file:///"),
        ("https://foo.com/a/b/", "https://foo.com/a/b/"),
        ("https://foo.com/", "https://foo.com/"),
        ("https://foo.com", "https://foo.com/"),
        ("dir/x", "dir/"),
        ("/dir/x", "/dir/"),
        ("x", ""),
    ],
)
def test_container(url: str, expected: str) -> None:
    assert container(url) == expected


@pytest.mark.parametrize(
    ("reference", "root", "expected"),
    [
        # Relative: joined to the root's folder.
        ("1f.amudai.stripe", ROOT, "file:///data/1f.amudai.stripe"),
        ("sub/1f", ROOT, "file:///data/sub/1f"),
        ("1f", "s3://bucket/dir/x", "s3://bucket/dir/1f"),
        ("1f", "dir/x", "dir/1f"),
        ("1f", "/dir/x", "/dir/1f"),
        ("1f", "x", "1f"),
        # The root by its own name, moved or not.
        (ROOT, ROOT, ROOT),
        ("file:///golden/case/logs.amudai.shard", ROOT, ROOT),
        ("s3://elsewhere/logs.amudai.shard", ROOT, ROOT),
        ("s3://elsewhere/logs.amudai.shard", "dir/logs.amudai.shard", "dir/logs.amudai.shard"),
        ("file:///old/our%20logs", "dir/our logs", "dir/our logs"),
        ("file:///old/our%20logs", "file:///new/our%2520logs", "file:///new/our%2520logs"),
        # An absolute URL inside of the root's folder is kept unchanged.
        ("file:///data/1f", ROOT, "file:///data/1f"),
        ("file:///data/sub/1f", ROOT, "file:///data/sub/1f"),
        # Absolute elsewhere: beside the root, by its last segment.
        ("file:///golden/case/1f.amudai.stripe", ROOT, "file:///data/1f.amudai.stripe"),
        ("file:///database/1f", ROOT, "file:///data/1f"),
        ("file:///etc/passwd", ROOT, "file:///data/passwd"),
        ("https://evil.org/1f", "dir/x", "dir/1f"),
        ("https://evil.org/1f", "x", "1f"),
        ("s3://bucket/dir/1f", "dir/x", "dir/1f"),
        ("s3://other/1f", "s3://bucket", "s3://bucket/1f"),
    ],
)
def test_resolve(reference: str, root: str, expected: str) -> None:
    assert resolve(reference, root) == expected


@pytest.mark.parametrize(
    ("reference", "allow", "expected"),
    [
        ("s3://cold/a/1f", ["s3://cold/"], "s3://cold/a/1f"),
        ("s3://cold/a/1f", ["s3://cold"], "s3://cold/a/1f"),
        ("s3://cold/a/1f", "s3://cold", "s3://cold/a/1f"),
        ("s3://cold/a/1f", ["https://x/", "s3://cold/a/"], "s3://cold/a/1f"),
        ("s3://cold/a/1f", lambda url: url.startswith("s3:"), "s3://cold/a/1f"),
        ("s3://cold/a/1f", lambda url: False, "file:///data/1f"),
        ("s3://cold.evil/1f", ["s3://cold"], "file:///data/1f"),
        ("s3://cold/ab/1f", ["s3://cold/a"], "file:///data/1f"),
        ("s3://cold/a/1f", [""], "file:///data/1f"),
        ("s3://cold/a/1f", "", "file:///data/1f"),
        ("s3://cold/a/1f", [], "file:///data/1f"),
    ],
)
def test_allow(reference: str, allow: object, expected: str) -> None:
    assert resolve(reference, ROOT, allow) == expected  # type: ignore[arg-type]


def test_a_home_folder_is_not_followed() -> None:
    for reference in ("~/secret", "~root/secret", "https://evil.org/~root"):
        with pytest.raises(CorruptedData, match="home folder"):
            resolve(reference, "x.amudai.shard")
    assert resolve("~a", "dir/x") == "dir/~a"


bits = st.sampled_from(
    [
        *("..", ".", "%2e", "%2E", "%2f", "%5c", "%00", "%25", "/", "//", "\\", ":", "://", "@", "?", "#", "~", "\0"),
        *("file:", "s3://", "file:///", "file:///data/", "https://evil.org/", "etc", "data", "logs.amudai.shard"),
        *("a", " ", "\t"),
    ]
)
hostile = st.lists(bits, max_size=8).map("".join) | st.text()
roots = st.sampled_from([ROOT, "file:///data/sub/x", "s3://bucket/dir/x", "s3://bucket/x", "dir/x", "/data/x", "x"])


@given(reference=hostile, root=roots)
@example("file:///data/..%2f..%2fetc/passwd", ROOT)
@example("s3://bucket/dir/%2e%2e/%2e%2e/x", "s3://bucket/dir/x")
def test_nothing_leaves_the_folder(reference: str, root: str) -> None:
    try:
        found = resolve(reference, root)
    except CorruptedData:
        return
    folder = container(root)
    assert found.startswith(folder)
    # Neither as it is nor decoded, once or twice, does a path climb.
    path = found.removeprefix(folder)
    for _ in range(2):
        steps = os.path.normpath(os.path.join("/folder", path))
        assert steps.startswith("/folder/")
        assert "\\" not in path
        assert "\0" not in path
        path = unquote(path) if "%25" not in path else path


@given(reference=hostile, root=roots)
def test_allowed_urls_are_as_they_were_or_inside(reference: str, root: str) -> None:
    try:
        found = resolve(reference, root, allow=["https://evil.org/"])
    except CorruptedData:
        return
    assert found.startswith(container(root)) or (found == reference and found.startswith("https://evil.org/"))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/data/logs.amudai.shard", ROOT),
        ("/data/./sub/../logs.amudai.shard", ROOT),
        ("//data//logs.amudai.shard", ROOT),
        ("/data/a b", "file:///data/a%20b"),
        ("/data/100%", "file:///data/100%25"),
        ("/data/a#b?c", "file:///data/a%23b%3Fc"),
        ("/data/a\\b", "file:///data/a%5Cb"),
        ("/data/ü", "file:///data/%C3%BC"),
        ("/data/a+b,c=d;e(f)!", "file:///data/a+b,c=d;e(f)!"),
        ("/x", "file:///x"),
    ],
)
def test_file_url(path: str, expected: str) -> None:
    assert file_url(path) == expected
    assert file_url(Path(path)) == expected


def test_file_url_of_a_relative_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert file_url("logs") == f"{file_url(tmp_path)}/logs"
    assert file_url("./logs") == f"{file_url(tmp_path)}/logs"


def test_above_a_link_is_where_the_system_says(tmp_path: Path) -> None:
    (tmp_path / "far" / "away").mkdir(parents=True)
    (tmp_path / "link").symlink_to(tmp_path / "far" / "away")
    (tmp_path / "far" / "x").write_bytes(b"")
    assert file_url(tmp_path / "link" / ".." / "x") == file_url(os.path.realpath(tmp_path / "far" / "x"))
    # Without dots a link stays: the files beside it are meant.
    assert file_url(tmp_path / "link" / "x") == f"{file_url(tmp_path)}/link/x"


@given(st.text(st.characters(exclude_characters="\0/", exclude_categories=["Cs"]), min_size=1))
def test_every_file_url_is_a_sound_reference_to_itself(name: str) -> None:
    if name in (".", ".."):
        return
    url = file_url(f"/data/{name}")
    assert url.startswith("file:///data/")
    assert url.isascii()
    assert resolve(url, url) == url
