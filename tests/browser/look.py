#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Opens a page of `llmcost report` in a headless Chromium, walks through it by keyboard and pointer, and takes pictures.

look.py LLMCOST FOLDER: exit code 77 where there is no Chromium.
"""
import base64
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile


class Browser:
    """Chromium behind two pipes, in its DevTools protocol: messages of JSON with a zero byte behind each."""

    def __init__(self, program, folder):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def pipes():  # the protocol wants them as 3 and 4
            high = os.dup(to_browser), os.dup(from_browser)
            os.dup2(high[0], 3), os.dup2(high[1], 4)
            os.set_inheritable(3, True), os.set_inheritable(4, True)

        self.process = subprocess.Popen(
            [program, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--remote-debugging-pipe",
             "--user-data-dir=" + folder, "about:blank"],
            preexec_fn=pipes, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser), os.close(from_browser)
        self.rest, self.number, self.attached, self.events = b"", 0, None, []

    def receive(self):
        while b"\0" not in self.rest:
            more = os.read(self.read_end, 1 << 16)
            if not more:
                raise RuntimeError("the browser is gone")
            self.rest += more
        message, self.rest = self.rest.split(b"\0", 1)
        return json.loads(message)

    def ask(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.attached:
            message["sessionId"] = self.attached
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError(f"{method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def wait(self, method):
        while not any(e.get("method") == method for e in self.events):
            self.events.append(self.receive())
        self.events = [e for e in self.events if e.get("method") != method or method == "Network.requestWillBeSent"]

    def of(self, expression):
        got = self.ask("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in got:
            raise RuntimeError(f"{expression}: {got['exceptionDetails']}")
        return got["result"].get("value")

    def press(self, key, code):
        text = {"Enter": "\r"}.get(key, "")
        self.ask("Input.dispatchKeyEvent", type="keyDown", key=key, code=key, windowsVirtualKeyCode=code, text=text)
        self.ask("Input.dispatchKeyEvent", type="keyUp", key=key, code=key, windowsVirtualKeyCode=code)
        self.of("new Promise(done => requestAnimationFrame(() => setTimeout(done)))")  # the page has answered

    def end(self):
        try:
            self.attached = None
            self.ask("Browser.close")
        except RuntimeError:
            pass
        self.process.wait(20)


def check(what, holds):
    if not holds:
        raise SystemExit("not so: " + what)


def open_page(browser, url):
    browser.ask("Page.navigate", url="about:blank")
    browser.wait("Page.loadEventFired")
    browser.ask("Page.navigate", url=url)
    browser.wait("Page.loadEventFired")


def walk(browser, url):
    """Tab into the icicle, Enter into a box, Escape out of it; the pointer; addresses."""
    current = "document.querySelector('#icicle [aria-current]').dataset.path || ''"
    focused = "document.activeElement.dataset.path || ''"
    fills = "(f => Math.abs(f.querySelector('[aria-current]').offsetWidth - f.clientWidth) < 3)(document.getElementById('icicle'))"
    open_page(browser, url)
    check("the whole model is shown first", browser.of(current) == "")
    browser.of("document.getElementById('icicle-out').previousElementSibling.querySelector('select').focus()")
    for _ in range(8):
        browser.press("Tab", 9)
        if browser.of(focused) == "model":
            break
    check("Tab reaches a box", browser.of(focused) == "model")
    outline = browser.of("(s => s.outlineStyle + s.outlineWidth)(getComputedStyle(document.activeElement))")
    check("the focus is seen: " + outline, outline == "solid3px")
    browser.press("Enter", 13)
    check("Enter goes into a box", browser.of(current) == "model" and browser.of("location.hash") == "#scope=model")
    check("the box is as wide as the picture", browser.of(fills))
    check("what is beside it is gone", browser.of("document.querySelector('#icicle [data-path=lm_head]').hidden"))
    browser.press("ArrowDown", 40)
    check("the arrow goes to a child", browser.of(focused).startswith("model."))
    browser.press("Escape", 27)
    check("Escape goes out", browser.of(current) == "" and not browser.of("document.querySelector('[data-path=lm_head]').hidden"))

    place = browser.of("(() => { const b = document.querySelector('[data-path$=mlp]'); b.scrollIntoView({block: 'center'});"
                       "const r = b.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()")
    for kind in ("mousePressed", "mouseReleased"):
        browser.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)
    check("a click goes into a box", browser.of(current).endswith("mlp"))
    browser.of("document.getElementById('icicle-out').click()")
    check("the button goes out", not browser.of(current).endswith("mlp"))

    open_page(browser, url + "#scope=model.layers.3.mlp&by=params")
    check("an address names a module of many", browser.of(current) == "model.layers.0-15.mlp")
    check("and a measure", browser.of("document.getElementById('icicle-measure').value") == "params")
    browser.of("location.hash = '#scope=model.layers.3.self_attn'")
    browser.of("new Promise(done => setTimeout(done, 50))")
    check("another address goes there", browser.of(current) == "model.layers.0-15.self_attn")
    browser.of("location.hash = '#scope=model.layers.3.self_attn&by=time'")
    browser.of("new Promise(done => setTimeout(done, 50))")
    check("a box is as wide by every measure", browser.of(fills))
    browser.of("location.hash = '#memory'")
    browser.of("new Promise(done => setTimeout(done, 50))")
    check("a section's address changes nothing", browser.of(current) == "model.layers.0-15.self_attn")
    check("tables are named and have heads",
          browser.of("[...document.querySelectorAll('table')].every(t => t.caption && t.querySelector('th[scope=row]'))"))
    check("pictures are named",
          browser.of("[...document.querySelectorAll('svg[role=img]')]"
                     ".every(s => s.querySelector('title') && s.querySelector('desc'))"))


def look(browser, url, folder):
    """Pictures at three widths, light and dark; nothing sticks out to the side."""
    for scheme in ("light", "dark"):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (375, 800, 1400):
            browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
            open_page(browser, url)
            sticks_out = browser.of("document.documentElement.scrollWidth - innerWidth")
            check(f"a page of {width} pixels does not stick out, {sticks_out}", sticks_out <= 0)
            picture = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
            (folder / f"report_{width}_{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
        paper = browser.of("getComputedStyle(document.body).backgroundColor")
        check(f"{scheme} is {paper}", (paper == "rgb(255, 255, 255)") == (scheme == "light"))
    open_page(browser, url + "#scope=model.layers.3.self_attn&by=time")
    picture = browser.ask("Page.captureScreenshot", format="png")
    (folder / "report_zoomed_dark.png").write_bytes(base64.b64decode(picture["data"]))
    printed = browser.ask("Page.printToPDF", printBackground=True, paperWidth=8.27, paperHeight=11.69)
    (folder / "report.pdf").write_bytes(base64.b64decode(printed["data"]))
    check("it prints", len(printed["data"]) > 10000)


def main():
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    if program is None:
        print("no Chromium (Debian: chromium)")
        return 77
    llmcost, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    page = (folder / "report.html").resolve()
    subprocess.run([llmcost, "report", "--model", "meta-llama/Llama-3.2-1B", "--offline", "--training", "--html", str(page)],
                   check=True, stdout=subprocess.DEVNULL)
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(program, profile)
        try:
            target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
            browser.attached = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log"):
                browser.ask(domain + ".enable")
            walk(browser, page.as_uri())
            look(browser, page.as_uri(), folder)
            fetched = {e["params"]["request"]["url"].split("#")[0] for e in browser.events
                       if e.get("method") == "Network.requestWillBeSent"}
            check(f"nothing but the page is fetched: {fetched}", fetched <= {page.as_uri(), "about:blank", "data:,"})
            errors = [e for e in browser.events if e.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded")]
            check(f"no errors: {errors}", not errors)
        finally:
            browser.end()
    print("pictures in", folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
