"""Opens a report page in headless Chromium: filters are clicked, and no error may be logged.

    python page.py report.html [picture.png]

Needs `pip install playwright` and a Chromium: its own, or the program that CHROMIUM names.
"""

import os
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright


def photograph(page, picture):
    """The matrix, without the columns of our own other faces."""
    own = [box for box in page.locator("#runtimes label").all() if "-p" in (text := box.inner_text()) or "-s" in text]
    for box in own:
        box.locator("input").uncheck()
    page.screenshot(path=picture, full_page=True, clip={"x": 0, "y": 620, "width": 1280, "height": 760})
    for box in own:
        box.locator("input").check()


def main():
    page_file, picture = Path(sys.argv[1]).resolve(), sys.argv[2] if len(sys.argv) > 2 else None
    errors = []
    with sync_playwright() as play:
        browser = play.chromium.launch(executable_path=os.environ.get("CHROMIUM"), args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 860})
        page.on("console", lambda message: errors.append(message.text) if message.type == "error" else None)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith("file:") else errors.append(request.url))
        page.goto(page_file.as_uri())
        rules = page.locator("#matrix tr.rule").count()
        groups = page.locator(".group").count()
        assert rules > 40, rules
        if picture:
            photograph(page, picture)
        page.locator("#matrix tr.rule").first.click()
        assert page.locator("#matrix tr.type").count() > 0
        page.locator("#split").click()
        types = page.locator("#matrix tr.type").count()
        assert types > rules, types
        page.locator("#split").click()
        page.locator("#broken").check()
        broken = page.locator("#matrix tr.rule").count()
        assert broken < rules, broken
        page.locator("#broken").uncheck()
        page.locator("#operator").select_option("ReverseSequence")
        assert 0 < page.locator("#matrix tr.rule").count() < rules
        page.locator("#type").select_option("i64")
        assert page.locator(".group").count() <= groups
        page.locator("#operator").select_option("")
        page.locator("#type").select_option("")
        columns = page.locator("#matrix thead th").count()
        page.locator("#runtimes input").first.uncheck()
        assert page.locator("#matrix thead th").count() == columns - 1
        browser.close()
    assert not errors, errors
    print(f"{rules} rules, {broken} of them broken by somebody, {groups} groups of failures, no error")


if __name__ == "__main__":
    main()
