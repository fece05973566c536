"""Does a person get along with it? A real browser: Chromium, driven by Playwright."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

import amudai
from amudai.web.workers import Workers
from tests.web.places import HOSTILE, log_table, make_folder, serving

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed: pip install playwright")
NAMES = ("chromium", "chromium-browser", "google-chrome")
pytestmark = pytest.mark.slow
ENDLESS = "SELECT count(*) AS n FROM range(1000000000000) a, data WHERE hash(a.range) = status"


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    with playwright.sync_playwright() as started:
        # The system's browser, or the one that Playwright installs.
        path = next(filter(None, map(shutil.which, NAMES)), started.chromium.executable_path)
        if not Path(path).exists():
            pytest.skip("no browser is installed: apt-get install chromium, or playwright install chromium")
        found = started.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield found
        found.close()


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    folder = make_folder(tmp_path_factory.mktemp("looked-at"))
    # One more shard, which cannot be opened.
    (folder / "gone.amudai.shard").write_bytes((folder / "a.amudai.shard").read_bytes()[:-50])
    with serving(folder) as url:
        yield url


class Looking:
    """A page of the browser, and what its console said."""

    def __init__(self, browser: Any, address: str, **options: Any) -> None:
        self.context = browser.new_context(viewport={"width": 1200, "height": 800}, **options)
        self.page = self.context.new_page()
        self.page.set_default_timeout(120_000)  # milliseconds: a busy machine takes its time
        self.said: list[str] = []
        self.page.on("console", lambda message: self.said.append(message.text))
        self.page.on("pageerror", lambda error: self.said.append(str(error)))
        self.base = address.split("?")[0]
        self.page.goto(address)
        self.page.wait_for_selector("#q")
        self.painted()

    def go(self, path: str) -> None:
        self.page.goto(self.base + path)
        self.done()

    def done(self) -> None:
        self.page.wait_for_selector("body[data-state]:not([data-state=asking])")
        self.painted()

    def painted(self) -> None:
        # Chromium drops keys that are pressed before the first paint, when a person sees nothing yet.
        self.until(lambda: self.page.evaluate("performance.getEntriesByName('first-contentful-paint').length") > 0)

    def ask(self, text: str) -> None:
        self.page.fill("#q", text)
        with self.page.expect_navigation():
            self.page.press("#q", "Enter")
        self.done()

    def until(self, condition: Callable[[], bool]) -> None:
        for _ in range(2400):
            if condition():
                return
            self.page.wait_for_timeout(50)
        pytest.fail("expected the condition within two minutes")

    @property
    def params(self) -> dict[str, list[str]]:
        return parse_qs(urlsplit(self.page.url).query)

    @property
    def count(self) -> str:
        return str(self.page.inner_text("#count"))


@pytest.fixture
def looking(browser: Any, address: str) -> Iterator[Looking]:
    found = Looking(browser, address)
    yield found
    assert found.said == []
    found.context.close()


def test_the_token_leaves_the_address(looking: Looking) -> None:
    assert looking.page.url == looking.base
    assert looking.page.evaluate("document.cookie") == ""
    looking.done()
    assert "4 shards · 3,000 rows" in looking.page.inner_text("#totals")
    assert "1 shard cannot be read" in looking.page.inner_text("#totals")


def test_searching(looking: Looking) -> None:
    looking.ask("timeout")
    assert looking.params == {"q": ["timeout"]}
    assert looking.count.startswith("300 rows")
    assert looking.page.locator("#rows tbody tr").count() == 100
    assert looking.page.locator("#rows mark").count() == 100
    assert "asked as words" in looking.page.inner_text(".chips")
    looking.ask("where message has 'timeout' | summarize count() by level")
    assert looking.count.startswith("1 row")
    assert looking.page.inner_text("#rows tbody td >> nth=1") == "300"


def test_a_link_is_a_question(looking: Looking, browser: Any, address: str) -> None:
    looking.ask("status >= 502")
    other = Looking(browser, address)
    other.page.goto(looking.page.url)
    other.done()
    assert other.count == looking.count
    assert other.page.input_value("#q") == "status >= 502"
    other.context.close()


def test_brushing_narrows_the_time(looking: Looking, tmp_path: Path) -> None:
    looking.go("search?q=timeout")
    picture = looking.page.locator("svg.histogram")
    box = picture.bounding_box()
    begin = box["x"] + box["width"] * 0.25
    looking.page.mouse.move(begin, box["y"] + 40)
    looking.page.mouse.down()
    looking.page.mouse.move(box["x"] + box["width"] * 0.4, box["y"] + 40, steps=5)
    assert " to " in looking.page.inner_text(".stretch")
    with looking.page.expect_navigation():
        looking.page.mouse.up()
    looking.done()
    since, until = looking.params["from"][0], looking.params["to"][0]
    assert "2026-01-01T00:10:00" <= since < until <= "2026-01-01T00:23:00"
    condition = f"message has 'timeout' and ts >= datetime({since}Z) and ts < datetime({until}Z)"
    rows = amudai.write(log_table(), tmp_path / "all.amudai.shard").count(condition)
    assert looking.count.startswith(f"{rows} rows")
    looking.page.click(".chip a.remove")
    looking.done()
    assert looking.count.startswith("300 rows")


def test_brushing_by_keys(looking: Looking) -> None:
    looking.go("search?q=timeout")
    looking.page.keyboard.press("h")
    for key in ("ArrowRight", "ArrowRight", "Shift+ArrowRight"):
        looking.page.keyboard.press(key)
    with looking.page.expect_navigation():
        looking.page.keyboard.press("Enter")
    looking.done()
    assert looking.params["from"] == ["2026-01-01T00:01:00"]
    assert looking.params["to"] == ["2026-01-01T00:03:00"]
    assert looking.count.startswith("12 rows")


def test_a_click_on_a_value_filters_by_it(looking: Looking) -> None:
    looking.go("search")
    with looking.page.expect_navigation():
        looking.page.click("#rows tbody tr:nth-child(1) td:nth-child(3)")
    looking.done()
    assert looking.params["is"] == ["level:ERROR"]
    assert looking.count.startswith("300 rows")
    with looking.page.expect_navigation():
        looking.page.click("#rows tbody tr:nth-child(2) td:nth-child(4)", modifiers=["Alt"])
    looking.done()
    assert looking.params["not"] == ["status:502"]
    assert looking.count.startswith("150 rows")
    looking.page.click(".chip a.remove >> nth=0")
    looking.done()
    assert "is" not in looking.params


def test_a_click_on_null_asks_for_nulls(looking: Looking) -> None:
    looking.go("search")
    with looking.page.expect_navigation():
        looking.page.click("#rows td.null >> nth=0")
    looking.done()
    assert looking.params["is"] == ["status"]
    assert looking.count.startswith("30 rows")


def test_paging_by_link_and_by_key(looking: Looking) -> None:
    looking.go("search?q=timeout")
    first = looking.page.inner_text("#rows tbody tr:nth-child(1)")
    looking.page.click("#pages a[rel=next]")
    looking.done()
    assert looking.params["page"] == ["2"]
    assert "101-200 shown" in looking.count
    assert looking.page.inner_text("#rows tbody tr:nth-child(1) th") == "101"
    with looking.page.expect_navigation():
        looking.page.keyboard.press("p")
    looking.done()
    assert looking.page.inner_text("#rows tbody tr:nth-child(1)") == first


def test_a_row_in_full_by_keys(looking: Looking) -> None:
    looking.go("search?q=timeout")
    for key in ("j", "j", "k", "j"):
        looking.page.keyboard.press(key)
    assert looking.page.locator("#rows tr.here th").inner_text() == "2"
    looking.page.keyboard.press("Enter")
    looking.page.wait_for_selector("#row dl")
    assert "request 10 ended with timeout" in looking.page.inner_text("#row")
    looking.page.keyboard.press("Escape")
    assert not looking.page.is_visible("#row")
    looking.page.keyboard.press("o")
    looking.page.wait_for_selector("#row dl")
    with looking.page.expect_navigation():
        looking.page.click("#row .filters a:has-text('without') >> nth=1")
    looking.done()
    assert looking.params["not"] == ["level:ERROR"]


def test_columns_are_chosen(looking: Looking) -> None:
    looking.go("search?q=timeout")
    looking.page.keyboard.press("c")
    for name in ("took", "status", "ts"):
        looking.page.uncheck(f"#choose input[value={name}]")
    with looking.page.expect_navigation():
        looking.page.click("#choose button")
    looking.done()
    assert looking.params["col"] == ["level", "message"]
    assert looking.page.locator("#rows thead th").count() == 3


def test_the_receipt(looking: Looking) -> None:
    looking.go("search?q=message+has+%27timeout%27")
    looking.page.keyboard.press("r")
    said = looking.page.inner_text("#receipt")
    assert "What became of 3,000 rows" in said
    assert "ruled out by term index" in said
    assert "2,700" in said
    assert "blocks decoded" in said
    assert looking.page.locator("#receipt svg.stacked").count() >= 3


def test_offers_by_keys(looking: Looking) -> None:
    looking.page.keyboard.press("/")
    looking.page.keyboard.type("where lev")
    looking.page.wait_for_selector("#offers:not([hidden]) li")
    looking.page.keyboard.press("ArrowDown")
    looking.page.keyboard.press("Tab")
    assert looking.page.input_value("#q") == "where level"
    looking.page.keyboard.type(' == "ER')
    looking.page.wait_for_selector("#offers:not([hidden]) li:has-text('ERROR')")
    looking.page.keyboard.press("ArrowDown")
    looking.page.keyboard.press("Enter")
    assert looking.page.input_value("#q") == 'where level == "ERROR'
    looking.page.keyboard.type('"')
    with looking.page.expect_navigation():
        looking.page.keyboard.press("Enter")
    looking.done()
    assert looking.count.startswith("300 rows")


def test_keys_alone_reach_everything(looking: Looking) -> None:
    looking.go("search?q=timeout")
    seen = set()
    for _ in range(40):
        looking.page.keyboard.press("Tab")
        seen.add(
            looking.page.evaluate("(document.activeElement.id || document.activeElement.textContent).slice(0, 12)")
        )
    assert {"q", "theme", "help", "Ask", "Copy", "Download"} <= seen
    looking.page.keyboard.press("?")
    assert "Shortcuts" in looking.page.inner_text("dialog[open]")
    looking.page.keyboard.press("Escape")
    for right in ("light", "dark", None):
        looking.page.keyboard.press("t")
        assert looking.page.evaluate("document.documentElement.dataset.theme ?? null") == right
    with looking.page.expect_navigation():
        looking.page.keyboard.press("g")
    looking.done()
    assert looking.page.url == looking.base


def test_a_query_that_is_cancelled_stops(browser: Any, tmp_path: Path, workers: list[Workers]) -> None:
    make_folder(tmp_path)
    with serving(tmp_path, queries=1, seconds=3600) as address:
        looking = Looking(browser, address)
        looking.page.fill("#q", ENDLESS)
        looking.page.press("#q", "Enter")
        looking.page.wait_for_selector("#stop:not([hidden])")
        looking.until(lambda: workers[0].running == 1)
        looking.page.click("#stop")
        looking.page.wait_for_selector("body[data-state=stopped]")
        assert "Stopped. What is shown is not all." in looking.page.inner_text("#problem")
        # The only place is free again, long before the limit of time.
        looking.until(lambda: workers[0].running == 0)
        looking.go("search?q=timeout")
        assert looking.count.startswith("300 rows")
        looking.context.close()


def test_a_busy_server_says_so(browser: Any, tmp_path: Path, workers: list[Workers]) -> None:
    make_folder(tmp_path)
    with serving(tmp_path, queries=1, seconds=3600) as address:
        first, second = Looking(browser, address), Looking(browser, address)
        first.page.fill("#q", ENDLESS)
        first.page.press("#q", "Enter")
        first.page.wait_for_selector("#stop:not([hidden])")
        first.until(lambda: workers[0].running == 1)
        second.go("search?q=timeout")
        assert "expected at most 1 queries at once" in second.page.inner_text("#problem")
        first.page.keyboard.press("Escape")
        first.page.wait_for_selector("body[data-state=stopped]")
        first.context.close()
        second.context.close()


def test_a_shard_and_a_column(looking: Looking) -> None:
    looking.go("shard?name=a.amudai.shard")
    assert "in 2 blocks" in looking.page.inner_text("td.storage[data-path=took]")
    looking.page.click("a.more:has-text('level')")
    looking.page.wait_for_selector(".column")
    assert "Top values of all 1,000 rows" in looking.page.inner_text(".column")
    looking.page.click("#verify")
    looking.page.wait_for_selector("#verify-result .good")
    assert "Sound" in looking.page.inner_text("#verify-result")
    with looking.page.expect_navigation():
        looking.page.click(".column a:has-text('ERROR')")
    looking.done()
    assert looking.count.startswith("100 rows")


def test_a_damaged_shard(browser: Any, tmp_path: Path) -> None:
    path = tmp_path / "d.amudai.shard"
    amudai.write(log_table(20_000), path, indexes=[amudai.TermIndex("message")])
    content = bytearray(path.read_bytes())
    shard = amudai.open(path)
    (stripe,) = shard.inspect(["message"]).stripes
    shard.close()
    buffer = stripe.fields[0].buffers[0]
    at = buffer.start + buffer.bytes // 2
    content[at : at + 32] = bytes(32)
    path.write_bytes(content)
    with serving(tmp_path) as address:
        looking = Looking(browser, address)
        looking.go("search?q=message+contains+%27is+f%27&page=150")
        assert "Not answered" in looking.page.inner_text("#problem")
        assert "message" in looking.page.inner_text("#problem")
        looking.go("shard?name=d.amudai.shard")
        looking.page.click("#verify")
        looking.page.wait_for_selector("#verify-result .problem")
        assert "problem" in looking.page.inner_text("#verify-result")
        looking.context.close()


def test_html_in_a_value_stays_text(looking: Looking) -> None:
    looking.go("search?q=took+>%3D+0")
    cell = looking.page.locator("#rows tbody tr:nth-child(43) td:nth-child(5)")
    assert cell.inner_text() == HOSTILE
    assert looking.page.title() == "took >= 0 · amudai"
    assert looking.page.locator("#rows img").count() == 0
    with looking.page.expect_navigation():
        cell.click()
    looking.done()
    assert looking.params["is"] == [f"message:{HOSTILE}"]
    assert looking.count.startswith("1 row")


def test_downloading(looking: Looking, tmp_path: Path) -> None:
    looking.go("search?q=timeout")
    looking.page.click("#download summary")
    with looking.page.expect_download() as download:
        looking.page.click("#download a:has-text('CSV')")
    download.value.save_as(tmp_path / "rows.csv")
    assert (tmp_path / "rows.csv").read_text().count("timeout") == 300


def test_copying(browser: Any, address: str) -> None:
    looking = Looking(browser, address, permissions=["clipboard-read", "clipboard-write"])
    looking.go("search?q=timeout")
    looking.page.click("#copy summary")
    looking.page.click("#copies button >> nth=2")
    looking.page.wait_for_selector("#copies button:has-text('Copied')")
    assert looking.page.evaluate("navigator.clipboard.readText()") == 'search "timeout"'
    looking.context.close()


@pytest.mark.parametrize("path", ["", "search?q=timeout", "shard?name=a.amudai.shard"])
def test_no_page_is_wider_than_its_window(looking: Looking, path: str) -> None:
    looking.go(path)
    for width, height in ((1400, 900), (768, 1024), (360, 740)):
        looking.page.set_viewport_size({"width": width, "height": height})
        assert looking.page.evaluate("document.documentElement.scrollWidth") <= width
