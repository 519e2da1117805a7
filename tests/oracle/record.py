#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what a Hugging Face Transformers model is and executes, from its config.json alone.

    record.py CONFIG.json -o tests/golden/ORG__NAME.golden    a golden, and the configuration beside it
    record.py --verify tests/golden/ORG__NAME.golden          record again and compare

The model is built without weights or memory (meta device), with eager attention, in evaluation mode; a forward that
reads values is executed on random weights instead. Every ATen call is priced by the table in primitives.py. README.md
beside this file says how to install what is needed, and what the lines of a golden mean.

Exit code: 0, or 1 where --verify found differences.
"""
import argparse
import json
import sys
import warnings
from pathlib import Path

import compact


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("config", nargs="?", type=Path, metavar="CONFIG.json",
                        help="the model's configuration; with --verify by default NAME.json beside the golden")
    parser.add_argument("-o", "--output", type=Path, metavar="OUT",
                        help="NAME.golden to write; CONFIG.json is copied to NAME.json beside it")
    parser.add_argument("--verify", type=Path, metavar="GOLDEN",
                        help="compare with a .golden, or with a record in JSON (.json, .json.gz); give the options "
                             "again that it was made with")
    parser.add_argument("--json", action="store_true", help="write the record as JSON, to OUT or standard output")
    parser.add_argument("--set", action="append", default=[], metavar="KEY=VALUE",
                        help="change the configuration: a dotted key and a JSON value; may be repeated")
    parser.add_argument("--architecture", metavar="CLASS", help="model class to build instead of the configuration's")
    parser.add_argument("--past", type=int, default=5000,
                        help="tokens in the cache of the long runs (default: %(default)s)")
    parser.add_argument("--longest", type=int, metavar="TOKENS",
                        help="go beyond the positions that the configuration names, up to so many")
    parser.add_argument("--light", action="store_true", help="two runs, a prefill and a decode, instead of six")
    parser.add_argument("--warm", action="store_true",
                        help="a pass before the runs: what a model makes once and keeps belongs to none of them")
    parser.add_argument("--no-training", action="store_true", help="leave the backward pass out")
    parser.add_argument("--parameters-only", action="store_true", help="tensors and classes, nothing is run")
    parser.add_argument("--device", choices=["meta", "cpu"], default="meta",
                        help="cpu: execute on random weights from the start")
    parser.add_argument("--frozen", action="store_true",
                        help="parameters want no gradient in forward passes, for modules called with their own (dbrx)")
    a = parser.parse_args()
    if bool(a.verify) == bool(a.output or a.json):
        parser.error("either --verify GOLDEN, or -o OUT (or --json)")
    if a.output and not a.json and a.output.suffix != ".golden":
        parser.error(f"{a.output}: expected a name that ends in .golden (or --json)")
    if not a.config and a.verify and a.verify.suffix == ".golden":
        a.config = a.verify.with_suffix(".json")
    if not a.config:
        parser.error("CONFIG.json is missing")
    return a


def changed(values, settings):
    """The configuration with every KEY=VALUE applied."""
    for setting in settings:
        key, separator, value = setting.partition("=")
        *parents, last = key.split(".")
        target = values
        for parent in parents:
            target = target.get(parent) if isinstance(target, dict) else None
        if not separator or not isinstance(target, dict):
            raise SystemExit(f"--set {setting}: expected KEY=VALUE with a key that the configuration can hold")
        try:
            target[last] = json.loads(value)
        except json.JSONDecodeError as e:
            raise SystemExit(f"--set {setting}: expected a JSON value: {e}") from e
    return values


def verify(golden, result):
    """Print where the golden and the fresh record differ; how many differences."""
    if golden.suffix == ".golden":
        expected = compact.read_file(golden)
        del expected["name"]
    else:
        expected = compact.canonical(compact.load(golden))
    differences = list(compact.differences(expected, compact.canonical(result)))
    for sentence in differences[:20]:
        print(sentence, file=sys.stderr)
    verdict = f"{len(differences)} differences" if differences else "equal"
    print(f"{golden.name}: {verdict} (transformers {result['transformers']}, torch {result['torch']})")
    return len(differences)


def main():
    a = arguments()
    warnings.filterwarnings("ignore")
    try:
        source = a.config.read_bytes()
        values = changed(json.loads(source), a.set)
    except (OSError, json.JSONDecodeError) as e:
        raise SystemExit(f"{a.config}: {e}") from e
    if not isinstance(values, dict) or not isinstance(values.get("model_type"), str):
        raise SystemExit(f"{a.config}: expected an object with a model_type")
    try:
        import workloads  # torch takes seconds to load: after the arguments are known to be good
    except ModuleNotFoundError as e:
        raise SystemExit(f"{e}; pip install torch transformers (README.md beside this file names versions)") from e
    options = workloads.Options(past=a.past, longest=a.longest, light=a.light, warm=a.warm,
                                training=not a.no_training, device=a.device, parameters_only=a.parameters_only,
                                architecture=a.architecture, frozen=a.frozen)
    result = workloads.record(values, options)
    if a.verify:
        return 1 if verify(a.verify, result) else 0
    for run in result["runs"]:
        if run.get("unknown"):
            print(f"not exact: {run['kind']} calls without a price: {run['unknown']}", file=sys.stderr)
    for kind, message in result.get("errors", {}).items():
        print(f"not recorded: {kind}: {message}", file=sys.stderr)
    if a.json:
        text = json.dumps(result, separators=(",", ":")) + "\n"
        if a.output:
            a.output.write_text(text, encoding="utf-8")
        else:
            sys.stdout.write(text)
        return 0
    a.output.write_text(compact.write(result, a.output.stem), encoding="utf-8")
    beside = a.output.with_suffix(".json")
    if a.set:
        beside.write_text(json.dumps(values, indent=2) + "\n", encoding="utf-8")
    elif not (beside.exists() and beside.samefile(a.config)):
        beside.write_bytes(source)
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (compact.FormatError, OSError, ImportError) as e:  # some models need further packages: the message says which
        sys.exit(f"record.py: {e}")
