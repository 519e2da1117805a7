#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Opens web/index.html in a headless Chromium, in a clone without a built page and in one with it.

start.py INDEX.html: exit code 77 where there is no Chromium.
"""
import pathlib
import shutil
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "browser"))
from look import Browser, check, open_page  # noqa: E402


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if chromium is None:
        print("no Chromium (Debian: chromium)")
        return 77
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as directory:
        clone = pathlib.Path(directory)
        (clone / "web").mkdir()
        shutil.copy(sys.argv[1], clone / "web/index.html")
        url = (clone / "web/index.html").as_uri()
        browser = Browser(chromium, str(clone / "profile"))
        try:
            target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
            browser.attached = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            browser.ask("Page.enable")
            open_page(browser, url)
            text = browser.of("document.body.innerText")
            check("the command is shown: " + text, "emcmake cmake --preset web && cmake --build --preset web" in text)
            check("the page stays", browser.of("location.href") == url)
            (clone / "build-web").mkdir()
            (clone / "build-web/index.html").write_text("<!DOCTYPE html><title>built</title>")
            (clone / "build-web/measurements.js").write_text("'use strict';")
            open_page(browser, url + "#batch=16")
            built = (clone / "build-web/index.html").as_uri() + "#batch=16"
            end = time.monotonic() + 60
            while browser.of("location.href") != built:
                check("the built page opens: " + browser.of("location.href"), time.monotonic() < end)
                time.sleep(0.02)
        finally:
            browser.end()
    return 0


if __name__ == "__main__":
    sys.exit(main())
