#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes rows of include/llmcost/bundled/ from configurations and what a recording says of each.

    python3 tests/oracle/bundle.py --llmcost build/llmcost CONFIG=RECORDING...

A configuration is called ORG__NAME.json. Keys that no answer depends on are left out, and labels are
replaced by their number. A row is written only if all ANSWERS stay the same, and if the model as built
has as many parameters as the recorded one. The row has the parameters of the published checkpoint.
"""
import argparse
import gzip
import json
import pathlib
import subprocess
import sys
import tempfile

WIDTH = 118
# keys that only some answers read: --mtp
KEPT = {"num_nextn_predict_layers", "mtp_num_hidden_layers", "mtp_num_layers", "num_mtp_layers", "num_mtp_modules"}
# the first one has the parameters; those that fail must fail with one message
ANSWERS = ([], ["--mtp"], ["--training"], ["--quantization", "Q4_K_M"])


def asked(llmcost, document, *words):
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump(document, file)
        file.flush()
        for load in ([], ["--audio", "10"]):  # what reads sound alone says nothing without any
            said = subprocess.run([llmcost, "--config", file.name, "--format", "json", *words, *load], capture_output=True, text=True)
            if said.returncode == 0:
                return json.loads(said.stdout)
        problem = said.stderr.replace(file.name, "").replace(pathlib.Path(file.name).name, "")
    return {"error": problem}


def without(document, pointer):
    *path, last = [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
    for part in path:
        document = document[int(part) if isinstance(document, list) else part]
    if isinstance(document, dict):
        del document[last]


def stripped(llmcost, document):
    short = json.loads(json.dumps(document))
    for row in asked(llmcost, document, "--unused").get("unused", []):
        if row["key"] != "/architectures" and row["key"].rpartition("/")[2] not in KEPT:
            without(short, row["key"])
    short.pop("auto_map", None)  # only refuses unknown classes
    labels = short.get("id2label") or {}
    if len(labels) > 2:  # what they are called costs nothing
        short["num_labels"] = len(labels)
        del short["id2label"]
    return {"model_type": short.pop("model_type"), **short}


def figures(llmcost, document, *words):
    page = asked(llmcost, document, *words)
    return page.get("error") or {k: page[k] for k in ("totals", "scopes", "weights") if k in page}


def parameters_as_built(llmcost, document):
    """Parameters with a head that is tied as the class ties it, which recordings have."""
    page = asked(llmcost, document)
    if "head separate" in page["model"]["source"]:
        tied = json.loads(json.dumps(document))
        for part in (tied, tied.get("text_config")):
            if isinstance(part, dict):
                part["tie_word_embeddings"] = True
        page = asked(llmcost, tied)
    return int(page["totals"]["params"])


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
        whole = figures(options.llmcost, document)
        problem = whole.strip() if isinstance(whole, str) else ""
        for words in () if problem else ANSWERS:
            if figures(options.llmcost, document, *words) != figures(options.llmcost, short, *words):
                problem = " ".join(["differs without its unread keys:", *words])
        built = problem or parameters_as_built(options.llmcost, document)
        if not problem and built != parameters:
            problem = f"{built} parameters, recorded were {parameters}"
        if problem:
            print(f"{name}: {problem}", file=sys.stderr)
        else:
            rows[name.lower()] = text_of(name, short, int(whole["totals"]["params"]))
    print("\n".join(rows[name] for name in sorted(rows)))


if __name__ == "__main__":
    main()
