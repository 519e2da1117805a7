#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Opens the web page in a headless Chromium from a file and without a network, types, clicks, and takes pictures.

page.py PAGE LLMCOST FOLDER: exit code 77 where there is no page or no Chromium.
"""
import base64
import json
import math
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "browser"))
from look import Browser, check, open_page  # noqa: E402

LLAMA = "meta-llama/Llama-3.2-1B"


def program_json(llmcost, *arguments):
    done = subprocess.run([llmcost, *arguments, "--format", "json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(done.stdout)


def wait_until(browser, condition, seconds=60):
    end = time.monotonic() + seconds
    while not browser.of(condition):
        check(f"{condition} within {seconds} s; status: " + browser.of("document.getElementById('status').innerText"),
              time.monotonic() < end)
        time.sleep(0.02)


def settle(browser):
    """Waits until all sections belong to the form as it is."""
    time.sleep(0.3)
    wait_until(browser, "document.body.dataset.ready === 'all' && !document.getElementById('results').hasAttribute('aria-busy')")


def load(browser, url):
    open_page(browser, url)
    wait_until(browser, "document.body.dataset.ready === 'first' || document.body.dataset.ready === 'all'")
    first = browser.of("performance.now()")
    settle(browser)
    return first


def text_of(browser, section):
    return browser.of(f"document.getElementById('{section}').innerText")


def set_field(browser, name, value):
    browser.of(f"(f => {{ f.value = {json.dumps(value)}; f.dispatchEvent(new Event('input', {{bubbles: true}}));"
               f"f.dispatchEvent(new Event('change', {{bubbles: true}})); }})(document.getElementById('{name}'))")
    settle(browser)


def type_text(browser, text):
    for letter in text:
        browser.ask("Input.dispatchKeyEvent", type="char", text=letter)


def click(browser, selector):
    place = browser.of(f"(e => {{ e.scrollIntoView({{block: 'center', behavior: 'instant'}}); const r = e.getBoundingClientRect();"
                       f"return [r.x + r.width / 2, r.y + r.height / 2]; }})(document.querySelector({json.dumps(selector)}))")
    for kind in ("mousePressed", "mouseReleased"):
        browser.ask("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)


def exact(number):
    return f"{number:,}"


def check_first_page(browser, llmcost, url):
    first = load(browser, url)
    print(f"first answer after {first:.0f} ms")
    front = program_json(llmcost, "--model", LLAMA)["totals"]
    summary = text_of(browser, "summary")
    for metric in ("params", "flops", "weight_bytes", "cache_bytes"):
        check(f"the summary has {metric} {front[metric]}: {summary}", exact(front[metric]) in summary)
    memory = program_json(llmcost, "memory", "--model", LLAMA, "--device", "h100_sxm")
    for part in ("weights", "activations_peak", "total"):
        check(f"memory has {part}", exact(memory[part]) in text_of(browser, "memory"))
    fit = program_json(llmcost, "fit", "--model", LLAMA, "--device", "h100_sxm")
    check("what fits", exact(fit["max_context"]) in text_of(browser, "fit") and exact(fit["max_batch"]) in text_of(browser, "fit"))
    for section in ("latency", "counts", "roofline", "charts"):
        check(f"section {section} has content", len(text_of(browser, section)) > 40)
    check("charts are drawn", browser.of("document.querySelectorAll('#roofline svg, #charts svg, #memory svg').length") >= 6)


def milliseconds(seconds):
    places = max(0, 2 - math.floor(math.log10(seconds * 1e3)))
    return f"{seconds * 1e3:.{places}f} ms"


def check_measurements(browser, llmcost, url):
    load(browser, url)
    command = ("latency", "--model", LLAMA, "--device", "h100_sxm", "--sequence", "1024")
    roofline = program_json(llmcost, *command, "--calibration", "none")["seconds"]
    measured = program_json(llmcost, *command)["seconds"]
    check("measurements change the time", milliseconds(roofline) != milliseconds(measured))
    check("a roofline without them", milliseconds(roofline) in text_of(browser, "latency"))
    click(browser, "#measurements")
    settle(browser)
    check("the file next to the page is loaded", milliseconds(measured) in text_of(browser, "latency"))


def check_other_inputs(browser, llmcost, url):
    model = "google/vit-base-patch16-224"
    load(browser, url + f"#model={model}&batch=8")
    check("images are the input", "Forward pass, 8 images" in text_of(browser, "summary"))
    step = program_json(llmcost, "latency", "--model", model, "--batch", "8", "--device", "h100_sxm", "--calibration", "none")
    check("the time of a forward pass", milliseconds(step["seconds"]) in text_of(browser, "latency").replace(" µs", "e-3 ms"))
    load(browser, url + f"#model={model}&task=training")
    check("images per second", "images/s" in text_of(browser, "latency"))
    load(browser, url + "#model=google-bert/bert-base-uncased")
    check("the longest input of the model", "sequence 512" in text_of(browser, "summary") and "512 tokens" in text_of(browser, "latency"))
    check("sections have no error", browser.of("document.querySelector('.error') === null"))


def check_large_counts(browser, llmcost, url):
    workload = {"batch": "1000003", "sequence": "100001"}
    load(browser, url + "#batch=1000003&sequence=100001")
    flops = program_json(llmcost, "--model", LLAMA, "--batch", workload["batch"], "--sequence", workload["sequence"])["totals"]["flops"]
    check("the count has more than 53 bits", flops > 2**53)
    check(f"a large count is exact: {flops}", exact(flops) in text_of(browser, "summary"))


def check_fetch(browser, url, llmcost, folder):
    config = json.dumps({"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"], "n_layer": 3})
    (folder / "gpt2.json").write_text(config)
    params = program_json(llmcost, "--config", str(folder / "gpt2.json"))["totals"]["params"]
    load(browser, url)
    set_field(browser, "model", "some-org/small.model_2")
    browser.ask("Fetch.enable", patterns=[{"urlPattern": "https://*"}])
    browser.events.clear()
    browser.of("document.getElementById('fetch').click()")
    while not any(e.get("method") == "Fetch.requestPaused" for e in browser.events):
        browser.events.append(browser.receive())
    paused = next(e["params"] for e in browser.events if e.get("method") == "Fetch.requestPaused")
    check("the address of the file", paused["request"]["url"] == "https://huggingface.co/some-org/small.model_2/resolve/main/config.json")
    check("no referrer", "Referer" not in paused["request"]["headers"])
    browser.ask("Fetch.fulfillRequest", requestId=paused["requestId"], responseCode=200, body=base64.b64encode(config.encode()).decode(),
                responseHeaders=[{"name": "Access-Control-Allow-Origin", "value": "*"}])
    settle(browser)
    check("a fetched configuration", exact(params) in text_of(browser, "summary"))
    browser.ask("Fetch.disable")


def check_form(browser, llmcost):
    # search by name with the keyboard
    browser.of("document.getElementById('model').focus()")
    type_text(browser, "qwen3-32b")
    check("the list is open", browser.of("document.getElementById('model').getAttribute('aria-expanded')") == "true")
    browser.press("ArrowDown", 40)
    check("an option is selected",
          browser.of("document.getElementById(document.getElementById('model').getAttribute('aria-activedescendant')).dataset.name")
          == "Qwen/Qwen3-32B")
    browser.press("Enter", 13)
    settle(browser)
    front = program_json(llmcost, "--model", "Qwen/Qwen3-32B")["totals"]
    check("another model", exact(front["params"]) in text_of(browser, "summary"))
    check("the address has the model", browser.of("location.hash") == "#model=Qwen/Qwen3-32B")

    # search by name with the pointer
    browser.of("document.getElementById('model').focus()")
    type_text(browser, "gemma 2 2b")
    click(browser, "#model-list [role=option]")
    settle(browser)
    check("a click selects a model", "gemma-2-2b" in browser.of("document.getElementById('model').value"))

    set_field(browser, "model", LLAMA)
    set_field(browser, "device", "rtx_4090")
    set_field(browser, "batch", "16")
    set_field(browser, "sequence", "2048")
    line = ("--model", LLAMA, "--batch", "16", "--sequence", "2048", "--device", "rtx_4090")
    check("another workload and device", exact(program_json(llmcost, "memory", *line)["total"]) in text_of(browser, "memory"))

    click(browser, "input[value=training] + span")
    settle(browser)
    set_field(browser, "recompute", "full")
    train = program_json(llmcost, "train", *line, "--recompute", "full")
    check("training memory", f"operation {train['peak_at']['operation']}" in text_of(browser, "memory"))
    check("its chart over a step", "training step" in browser.of("document.getElementById('charts').textContent"))
    check("a command is shown", "llmcost train --model " + LLAMA + " --batch 16" in
          browser.of("document.querySelector('#memory .lines pre').textContent"))
    click(browser, "input[value=inference] + span")
    settle(browser)

    set_field(browser, "other-model", "Qwen/Qwen3-0.6B")
    set_field(browser, "other-device", "h200_sxm")
    compared = program_json(llmcost, "compare", LLAMA, "Qwen/Qwen3-0.6B", "--batch", "16", "--sequence", "2048")
    flops = next(f for f in compared["comparisons"][0]["figures"] if f["name"] == "flops")
    comparison = text_of(browser, "comparison")
    check("models are compared", all(exact(value) in comparison for value in flops["values"]))
    check("devices are compared", "h200_sxm" in comparison and "rtx_4090" in comparison)


def check_share_link(browser, url):
    fragment = browser.of("location.hash")
    check("the address has the whole form: " + fragment, fragment ==
          "#model=meta-llama/Llama-3.2-1B&device=rtx_4090&batch=16&sequence=2048&recompute=full&other-model=Qwen/Qwen3-0.6B&other-device=h200_sxm")
    before = text_of(browser, "memory")
    load(browser, url + fragment)
    check("a link restores the page", text_of(browser, "memory") == before and
          browser.of("document.getElementById('other-device').value") == "h200_sxm")


def check_configuration(browser, llmcost, url, folder):
    config = {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1024, "intermediate_size": 2816,
              "num_hidden_layers": 7, "num_attention_heads": 16, "num_key_value_heads": 4, "vocab_size": 32003}
    text = json.dumps(config)
    path = folder / "config.json"
    path.write_text(text)
    params = program_json(llmcost, "--config", str(path))["totals"]["params"]
    load(browser, url)
    browser.of("(data => { data.items.add(new File([" + json.dumps(text) + "], 'config.json'));"
               "document.body.dispatchEvent(new DragEvent('drop', {bubbles: true, cancelable: true, dataTransfer: data})); })(new DataTransfer())")
    settle(browser)
    check("a dropped configuration", exact(params) in text_of(browser, "summary"))
    fragment = browser.of("location.hash")
    load(browser, "about:blank" if not fragment else url + fragment)
    check("a link contains the configuration", exact(params) in text_of(browser, "summary"))
    set_field(browser, "config", text.replace("32003", "32004"))
    check("a typed configuration", exact(params + 2 * 1024) in text_of(browser, "summary"))
    set_field(browser, "config", '{"model_type": "lama"}')
    check("an error names the nearest type", "llama" in browser.of("document.querySelector('#summary [role=alert]').innerText"))
    check("only the error is shown", browser.of("[...document.querySelectorAll('#sections > section')].filter(s => !s.hidden).length") == 1)
    click(browser, "#clear-config")
    settle(browser)
    check("Clear returns to the name", "1,235,814,400" in text_of(browser, "summary"))
    set_field(browser, "model", "meta-llama/Llama-3.2-1C")
    check("an unknown name", LLAMA in browser.of("document.querySelector('#summary [role=alert]').innerText"))
    check("may be fetched", not browser.of("document.getElementById('fetch').hidden"))
    browser.of("document.getElementById('fetch').click()")
    wait_until(browser, "document.querySelector('#status [role=alert]') !== null")


def check_command_line(browser, url, llmcost):
    load(browser, url)
    browser.of("document.getElementById('command-line').select()")
    type_text(browser, f"mult --model {LLAMA} attn --batch 3")
    browser.press("Enter", 13)
    wait_until(browser, "!document.getElementById('command-output').hidden")
    expected = subprocess.run([llmcost, "mult", "--model", LLAMA, "attn", "--batch", "3"], stdout=subprocess.PIPE).stdout.decode()
    check("a typed command", browser.of("document.getElementById('command-output').textContent") == expected)
    set_line = "document.getElementById('command-line').value = 'report --model openai-community/gpt2 --svg /drawn';"
    browser.of(set_line + "document.getElementById('command-form').requestSubmit()")
    wait_until(browser, "document.querySelectorAll('#command-charts svg').length > 3")


def check_report(browser, url, llmcost, folder):
    saved = folder / "llmcost-report.html"
    saved.unlink(missing_ok=True)
    browser.ask("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(folder.resolve()))
    load(browser, url)
    click(browser, "#save")
    end = time.monotonic() + 30
    while not saved.exists() and time.monotonic() < end:
        time.sleep(0.05)
    expected = subprocess.run([llmcost, "report", "--model", LLAMA, "--device", "h100_sxm", "--calibration", "none"],
                              stdout=subprocess.PIPE).stdout
    check("a report is saved, as the program writes it", saved.exists() and saved.read_bytes() == expected)


def check_accessibility(browser, url):
    load(browser, url)
    nodes = browser.ask("Accessibility.getFullAXTree")["nodes"]
    for node in nodes:
        properties = {p["name"]: p["value"].get("value") for p in node.get("properties", [])}
        role = node.get("role", {}).get("value")
        if properties.get("focusable") and not node.get("ignored") and role not in ("RootWebArea",):
            check(f"a {role} has a name", node.get("name", {}).get("value"))
    check("each field has a label", browser.of("[...document.querySelectorAll('input, select, textarea')].every(f => f.labels.length > 0)"))
    check("identifiers are unique", browser.of("(all => new Set(all).size === all.length)([...document.querySelectorAll('[id]')].map(e => e.id))"))
    check("each section has a heading", browser.of("[...document.querySelectorAll('section')].every(s => s.querySelector('h2'))"))
    check("tables have captions and heads", browser.of("[...document.querySelectorAll('main table')].every(t => t.caption && t.querySelector('th[scope=col]'))"))
    check("charts have names", browser.of("[...document.querySelectorAll('svg[role=img]')].every(s => s.querySelector('title'))"))
    browser.of("document.activeElement.blur()")
    reached = []
    for _ in range(6):
        browser.press("Tab", 9)
        reached.append(browser.of("document.activeElement.id || document.activeElement.className"))
    check(f"Tab reaches the skip link, tools and the model: {reached}", reached[:5] == ["skip", "save", "share", "theme", "model"])


def check_appearance(browser, url, folder):
    for scheme in ("light", "dark"):
        browser.ask("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])
        for width in (375, 800, 1400):
            browser.ask("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 500)
            load(browser, url + "#other-model=Qwen/Qwen3-0.6B&other-device=rtx_4090")
            check(f"nothing sticks out at {width} pixels", browser.of("document.documentElement.scrollWidth <= innerWidth"))
            picture = browser.ask("Page.captureScreenshot", format="png", captureBeyondViewport=True)
            (folder / f"page_{width}_{scheme}.png").write_bytes(base64.b64decode(picture["data"]))
        paper = browser.of("getComputedStyle(document.body).backgroundColor")
        check(f"{scheme} is {paper}", (paper == "rgb(255, 255, 255)") == (scheme == "light"))
        chart = browser.of("getComputedStyle(document.querySelector('.lc-paper')).fill")
        check(f"charts have the same paper: {chart}", chart == paper)
    set_field(browser, "theme", "light")
    check("the scheme can be chosen", browser.of("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)")


def main():
    chromium = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    page, llmcost, folder = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], pathlib.Path(sys.argv[3])
    if chromium is None or not page.exists():
        print("no Chromium (Debian: chromium) or no page", page)
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    url = page.as_uri()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = Browser(chromium, profile)
        try:
            target = browser.ask("Target.createTarget", url="about:blank")["targetId"]
            browser.attached = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
                browser.ask(domain + ".enable")
            browser.ask("Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=0, uploadThroughput=0)
            check_first_page(browser, llmcost, url)
            check_form(browser, llmcost)
            check_share_link(browser, url)
            check_accessibility(browser, url)
            check_command_line(browser, url, llmcost)
            check_report(browser, url, llmcost, folder)
            check_measurements(browser, llmcost, url)
            check_other_inputs(browser, llmcost, url)
            check_large_counts(browser, llmcost, url)
            check_appearance(browser, url, folder)
            messages = [e for e in browser.events if e.get("method") in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")]
            check(f"no console messages: {messages}", not messages)
            fetched = {e["params"]["request"]["url"].split("#")[0][:40] for e in browser.events if e.get("method") == "Network.requestWillBeSent"}
            remote = {u for u in fetched if not u.startswith(("file:", "data:", "blob:", "about:"))}
            check(f"nothing is fetched: {remote}", not remote)
            # steps that use the network, which is not there; then the answer of a hub
            check_configuration(browser, llmcost, url, folder)
            browser.ask("Network.emulateNetworkConditions", offline=False, latency=0, downloadThroughput=-1, uploadThroughput=-1)
            check_fetch(browser, url, llmcost, folder)
        finally:
            browser.end()
    print("pictures in", folder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
