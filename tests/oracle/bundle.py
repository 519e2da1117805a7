#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes rows of include/llmcost/bundled/ from configurations and what a recording says of each.

    python3 tests/oracle/bundle.py --llmcost build/llmcost CONFIG=RECORDING...

A configuration is called ORG__NAME.json. Keys that nothing reads are left out, labels are told by
their number; a row is written only where the library answers
the same without them, and has as many parameters as the recorded model.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

WIDTH = 118


def asked(llmcost, document, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        for load in ([], ["--audio", "10"]):  # what reads sound alone says nothing without any
            said = subprocess.run([llmcost, "--config", file.name, "--format", "json", *words, *load], capture_output=True, text=True)
            if said.returncode == 0:
                return json.loads(said.stdout)
    return {"error": said.stderr}


def without(document, pointer):
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in path:
        document = document[int(part) if isinstance(document, list) else part]
    if isinstance(document, dict):
        del document[last]


def stripped(llmcost, document):
    short = json.loads(json.dumps(document))
    for row in asked(llmcost, document, "--unused").get("unused", []):
        if row["key"] != "/architectures":
            without(short, row["key"])
    labels = short.get("id2label") or {}
    if len(labels) > 2:  # what they are called costs nothing
        short["num_labels"] = len(labels)
        del short["id2label"]
    return {"model_type": short.pop("model_type"), **short}


def figures(llmcost, document):
    page = asked(llmcost, document)
    return page.get("error") or {k: page[k] for k in ("totals", "scopes") if k in page}


def text_of(name, document, parameters):
    whole = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    lines = [f'    {{"{name}"sv, "its own config.json"sv,']
    while whole:
        end = WIDTH if len(whole) > WIDTH else len(whole)
        if end < len(whole):
            end = max(whole.rfind(",", 0, end) + 1, 1) or end
        lines.append(f'     R"({whole[:end]})"')
        whole = whole[end:]
    lines[-1] += f"sv, {parameters}}},"
    return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmcost", required=True)
    parser.add_argument("pairs", nargs="+", metavar="CONFIG=RECORDING")
    options = parser.parse_args()
    rows = {}
    for pair in options.pairs:
        config, _, recording = pair.partition("=")
        name = pathlib.Path(config).stem.replace("__", "/", 1)
        document = json.loads(pathlib.Path(config).read_text())
        with gzip.open(recording) as file:
            parameters = json.load(file)["total"]
        short = stripped(options.llmcost, document)
        whole, rest = figures(options.llmcost, document), figures(options.llmcost, short)
        problem = whole.strip() if isinstance(whole, str) else "" if whole == rest else "differs without its unread keys"
        if not problem and int(whole["totals"]["params"]) != parameters:
            problem = f"{whole['totals']['params']} parameters, recorded were {parameters}"
        if problem:
            print(f"{name}: {problem}", file=sys.stderr)
        else:
            rows[name.lower()] = text_of(name, short, parameters)
    print("\n".join(rows[name] for name in sorted(rows)))


if __name__ == "__main__":
    main()
