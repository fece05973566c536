"""Is everything refused or escaped that could reach other people's rows, or leave the folder?"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from urllib.parse import quote

import pytest

import amudai
from tests.web.places import HOSTILE, PORT, TOKEN, client, log_table

PAGES = [
    "/",
    "/totals",
    "/search?q=timeout",
    "/results?q=timeout",
    "/row?of=a.amudai.shard&position=0",
    "/download?format=csv",
    "/complete?q=ti",
    "/shard?name=a.amudai.shard",
    "/encodings?name=a.amudai.shard",
    "/column?name=a.amudai.shard&column=level",
    "/verify?name=a.amudai.shard",
    "/assets/page.js",
    "/nothing",
]


@pytest.mark.parametrize("host", ["evil.example", f"evil.example:{PORT}", f"127.0.0.1:{PORT + 1}", "127.0.0.1", ""])
def test_a_foreign_host_is_refused(folder: Path, host: str) -> None:
    found = client(folder).get("/", headers={"Host": host})
    assert found.status_code == 403
    assert "Host: expected a name of this machine" in found.text


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
def test_names_of_this_machine_are_hosts(folder: Path, host: str) -> None:
    assert client(folder).get("/", headers={"Host": f"{host}:{PORT}"}).status_code == 200


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("origin", ["https://evil.example", "null", f"https://127.0.0.1:{PORT}", "http://127.0.0.1:1"])
def test_a_foreign_origin_is_refused(folder: Path, page: str, origin: str) -> None:
    found = client(folder).get(page, headers={"Origin": origin})
    assert found.status_code == 403
    assert "Origin: expected this server" in found.text


def test_another_site_may_lead_here_but_load_nothing(folder: Path) -> None:
    made = client(folder)
    for site in ("cross-site", "same-site"):
        for mode in ("no-cors", "cors", "same-origin"):
            headers = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode}
            assert made.get("/results?q=x", headers=headers).status_code == 403
    assert made.get("/", headers={"Sec-Fetch-Site": "same-origin", "Sec-Fetch-Mode": "cors"}).status_code == 200


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("token", [None, "", "wrong", TOKEN[:-1], TOKEN + "x"])
def test_without_the_token_there_is_nothing(folder: Path, page: str, token: str | None) -> None:
    found = client(folder, token).get(page)
    assert found.status_code == 403
    assert "token" in found.text
    assert "amudai.shard" not in found.text


def test_the_token_of_the_address_becomes_a_cookie(folder: Path) -> None:
    made = client(folder, None)
    assert made.get("/?token=wrong").status_code == 403
    found = made.get(f"/search?q=timeout&token={TOKEN}")
    assert found.status_code == 200
    assert 'content="0;url=/search?q=timeout"' in found.text
    assert TOKEN not in found.text
    cookie = found.headers["set-cookie"]
    assert cookie.startswith(f"amudai-{PORT}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert made.get("/search?q=timeout").status_code == 200


def test_the_way_on_from_the_token_stays_on_this_server(folder: Path) -> None:
    found = client(folder, None).get(f"http://127.0.0.1:{PORT}//evil.example/x?token={TOKEN}")
    assert found.status_code == 200
    assert "//evil" not in found.text


@pytest.mark.parametrize("page", PAGES)
def test_every_answer_has_the_headers_of_safety(folder: Path, page: str) -> None:
    for token in (TOKEN, None):
        headers = client(folder, token).get(page).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert "frame-ancestors 'none'" in policy
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH", "OPTIONS"])
def test_nothing_is_ever_changed(folder: Path, method: str) -> None:
    before = {path: path.read_bytes() for path in folder.rglob("*.shard")}
    assert client(folder).request(method, "/").status_code == 405
    assert {path: path.read_bytes() for path in folder.rglob("*.shard")} == before


@pytest.mark.parametrize(
    "name", ["../outside.amudai.shard", "/etc/passwd", "a.amudai.shard/../../x", "..", "", "below/../../x", "%2e%2e/x"]
)
def test_no_name_leads_out_of_the_folder(tmp_path: Path, name: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    amudai.write(log_table(10), inside / "a.amudai.shard")
    amudai.write(log_table(10), tmp_path / "outside.amudai.shard")
    made = client(inside)
    for page in ("shard?name=", "verify?name=", "encodings?name=", "column?column=ts&name=", "row?position=0&of="):
        found = made.get(f"/{page}{quote(name, safe='')}")
        assert "request 0" not in found.text
        assert found.status_code == 404 or "expected one of the folder" in found.text
    found = made.get(f"/results?shard={quote(name, safe='')}")
    if name:
        assert "expected one of the folder" in found.text
    assert made.get(f"/assets/{quote('../app.py', safe='')}").status_code == 404


def test_links_out_of_the_folder_are_not_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    amudai.write(log_table(10), inside / "own.amudai.shard")
    amudai.write(log_table(1000, 100_000), outside / "secret.amudai.shard")
    os.symlink(outside / "secret.amudai.shard", inside / "link.amudai.shard")
    os.symlink(outside, inside / "folder")
    os.symlink(inside / "own.amudai.shard", inside / "again.amudai.shard")
    made = client(inside)
    page = made.get("/")
    assert "1 link to shards outside of the folder: not shown, not searched." in page.text
    assert "link.amudai.shard" not in page.text
    assert "again.amudai.shard" in page.text
    assert made.get("/shard?name=link.amudai.shard").status_code == 404
    assert made.get("/shard?name=folder/secret.amudai.shard").status_code == 404
    assert "20 rows" in made.get("/totals").text
    assert "request 100" not in made.get("/download?format=csv").text


def test_a_shard_with_a_file_behind_a_link_is_not_read(tmp_path: Path) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    amudai.write(log_table(100), inside / "two.amudai.shard", layout="two-level")
    (stripe,) = [path for path in inside.iterdir() if path.name != "two.amudai.shard"]
    shutil.move(stripe, outside / stripe.name)
    os.symlink(outside / stripe.name, stripe)
    made = client(inside)
    assert "cannot be read" in made.get("/").text
    assert "expected files inside of the folder, found a link to" in made.get("/shard?name=two.amudai.shard").text
    assert "request" not in made.get("/results").text


# ---- HTML in values ----


def test_html_in_values_is_escaped_everywhere(tmp_path: Path) -> None:
    evil = "<script>alert('x')</script>\"'&"
    table = {evil: [evil, "b"], "n": [1, 2], "text": [HOSTILE, "plain"]}
    name = "<b>'\"&.amudai.shard"
    amudai.write(table, tmp_path / name, indexes=[amudai.TermIndex("text")], properties={"note": evil})
    made = client(tmp_path)
    asked = f"name={quote(name)}"
    pages = [
        "/",
        f"/shard?{asked}",
        f"/column?{asked}&column={quote('`' + evil + '`')}",
        f"/search?q={quote(evil)}&is={quote('text:' + HOSTILE)}&shard={quote(name)}&from={quote(evil)}",
        f"/row?of={quote(name)}&position=0",
        f"/search?lang={quote(evil)}",
        f"/shard?name={quote(evil)}",
        f"/?sort={quote(evil)}",
    ]
    for page in pages:
        text = made.get(page).text
        assert "<script>alert" not in text
        assert "<script>document" not in text
        assert "<img" not in text
        assert "<b>'" not in text
    for query in (
        "",
        "q=script",
        f"q={quote(evil)}&lang=kql",
        f"q={quote(evil)}&lang=sql",
        f"q={quote(evil)}&lang=where",
    ):
        for line in made.get(f"/results?{query}").text.splitlines():
            html = str(json.loads(line)["html"])
            assert "<script" not in html
            assert "<img" not in html
    assert made.get("/results").text.count("&lt;script&gt;") >= 2


def test_no_page_loads_anything_from_elsewhere(folder: Path) -> None:
    made = client(folder)
    for page in (*PAGES, "/assets/style.css", "/assets/icon.svg"):
        text = made.get(page).text.replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text
        assert "style=" not in text
        assert "onclick" not in text


# ---- queries ----


@pytest.mark.parametrize(
    "text",
    [
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "FROM read_parquet('http://127.0.0.1:1/x.parquet')",
    ],
)
def test_a_query_reads_nothing_but_the_shards(folder: Path, text: str) -> None:
    found = client(folder).get("/results", params={"q": text, "lang": "sql"}).text
    assert "Not answered" in found
    assert "root:" not in found


@pytest.mark.parametrize(
    ("query", "said"),
    [
        ("lang=latin", "lang: expected auto, words, where, kql, sql"),
        ("page=0", "page: expected a number from 1"),
        ("page=x", "page: expected a number from 1"),
        ("page=99999999", "page: expected a number from 1"),
        (f"q={'x' * 30000}", "question: expected at most 20000 characters"),
        ("&".join([f"is=level:x{n}" for n in range(60)]), "question: expected at most"),
    ],
)
def test_questions_beyond_limits_are_refused(folder: Path, query: str, said: str) -> None:
    found = client(folder).get(f"/search?{query}")
    assert found.status_code == 400
    assert said in found.text


def test_a_query_beyond_its_memory_is_refused(folder: Path) -> None:
    text = "SELECT list(a.range || 'x' || message) AS l FROM range(200000) a, data"
    found = client(folder, memory=64 << 20).get("/results", params={"q": text})
    assert "Out of Memory" in found.text
    assert client(folder, memory=64 << 20).get("/results").text.count('"part": "end"') == 1


def test_a_query_beyond_its_time_is_stopped(folder: Path) -> None:
    text = "SELECT count(*) AS n FROM range(1000000000000) a, data WHERE hash(a.range) = status"
    found = client(folder, seconds=0.5).get("/results", params={"q": text})
    assert "the query took longer than 0.5 s" in found.text
