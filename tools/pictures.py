"""Make the pictures of the documentation, from the real thing: a browser that looks at `amudai serve`.

python tools/pictures.py            # all pictures, into docs/pictures
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

import amudai  # noqa: E402
from examples.demo.logs import make_logs  # noqa: E402
from tests.web.places import serving  # noqa: E402

OUT = ROOT / "docs" / "pictures"
SIZE = {"width": 1100, "height": 640}


def main() -> None:
    """Write a small shard of the demo's logs, serve it, and photograph its pages."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    OUT.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        shard = Path(folder) / "logs" / "web.amudai.shard"
        shard.parent.mkdir()
        indexes = [amudai.TermIndex("message"), amudai.HashIndex("trace_id")]
        amudai.write(make_logs(200_000), shard, indexes=indexes).close()
        with serving(shard.parent) as url, sync_playwright() as started:
            browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
            page = browser.new_page(viewport=SIZE, color_scheme="light")
            page.goto(url)
            page.wait_for_selector("#q")
            base = url.split("?")[0]
            columns = "&".join(f"col={name}" for name in ("timestamp", "level", "service", "status", "message"))
            photograph(page, f"{base}search?q=timeout&{columns}", "search")
            photograph(page, f"{base}shard?name=web.amudai.shard", "shard")
            photograph(page, f"{base}search?q=message+has+%22timeout%22+and+status+%3E%3D+500", "receipt", keys="r")
            browser.close()


def photograph(page: Page, url: str, name: str, keys: str = "") -> None:
    page.goto(url)
    page.wait_for_selector("body[data-state=done]")
    for key in keys:
        page.keyboard.press(key)
    page.wait_for_timeout(400)
    page.screenshot(path=OUT / f"serve-{name}.png", type="png")
    _smaller(OUT / f"serve-{name}.png")


def _smaller(path: Path) -> None:
    """A palette of 64 colours is enough for pages, and a third of the bytes."""
    try:
        from PIL import Image
    except ImportError:
        return
    with Image.open(path) as image:
        image.convert("RGB").quantize(64, dither=Image.Dither.NONE).save(path, optimize=True)


if __name__ == "__main__":
    main()
