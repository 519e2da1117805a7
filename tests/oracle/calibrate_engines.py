# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Measures what `llmcost calibrate` changes on measured serving runs.

    python calibrate_engines.py LLMCOST RUNS.csv CONFIGS [--rows 10] [--seed 1] [--calibration DIR]

LLMCOST is the program. RUNS.csv has the columns of `llmcost serve --configs`, with `silicon_ttft_ms` and
`silicon_tpot_ms`; CONFIGS has org__name.json for each model_path. For each model, device and engine, ten random runs are
the calibration, and all others are predicted with it (`same model`). For each pair of models on one device and engine,
ten random runs of one are the calibration for all runs of the other (`other model`). Prints tables in Markdown.
"""
import argparse
import csv
import gzip
import io
import json
import math
import pathlib
import random
import re
import statistics
import subprocess
import sys
import tempfile


def number_after(text, mark):
    found = re.search(re.escape(mark) + r"(\d+)", text)
    return int(found.group(1)) if found else 0


def by_id(row):
    """Reads a row by its id where its columns contradict it, as bench/serving_runs.hpp does (`as_ids_mean`, `read_run`)."""
    identifier = row.get("id", "")
    is_inferencex = identifier.startswith("20") or identifier.startswith("dsr1")
    size = {key: int(float(row[key] or 1)) for key in
            ("tp_size", "attention_dp_size", "moe_tp_size", "moe_ep_size", "batch_size")}
    tp, dp, ep = size["tp_size"], size["attention_dp_size"], size["moe_ep_size"]
    requests, devices = size["batch_size"] * dp, number_after(identifier, "_tp")
    if is_inferencex and ep > 1 and size["moe_tp_size"] == ep and tp * dp == ep * ep:
        row["moe_tp_size"] = "1"
        if dp > 1:
            row["attention_dp_size"], row["batch_size"] = str(ep), str(requests // ep)
        else:
            row["tp_size"] = str(ep)
    elif dp == 1 and devices > 1 and devices == tp and number_after(identifier, "_c") == requests * devices:
        row["attention_dp_size"], row["tp_size"] = str(devices), "1"
    waits = ("_llama_3_1_70b_" in identifier and "_trtllm_" in identifier and row["isl"] == "1024" and
             row["osl"] == "1024" and int(float(row["tp_size"])) * int(float(row["attention_dp_size"] or 1)) < 8)
    row["batch_wait_timeout_iters"] = "20" if waits else ""
    if is_inferencex:  # lengths are drawn between four fifths and all of it
        for key in ("isl", "osl"):
            row[key] = str(max(1, int(row[key]) * 9 // 10))
    return row


def text_of(rows):
    out = io.StringIO()
    writer = csv.DictWriter(out, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return out.getvalue()


def run(command, text=""):
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    if done.returncode not in (0, 7):
        sys.exit(f"{' '.join(command)}: {done.stderr}")
    return done.stdout


class Program:
    def __init__(self, program, configs, calibration):
        self.serve = [program, "serve", "--configs", configs]
        self.calibrate = [program, "calibrate", "--configs", configs]
        self.kernels = ["--calibration", calibration] if calibration else []

    def predict(self, rows, calibration=None):
        """log2(measured / predicted) of TTFT and TPOT, by the index of the row; no entry without a prediction."""
        options = ["--calibration", calibration] if calibration else self.kernels
        errors = {}
        for i, row in enumerate(csv.DictReader(io.StringIO(run(self.serve + options, text_of(rows))))):
            if row["predicted_ttft_ms"]:
                errors[i] = tuple(math.log2(float(row[f"silicon_{name}_ms"]) / float(row[f"predicted_{name}_ms"]))
                                  for name in ("ttft", "tpot"))
        return errors

    def fit(self, rows, folder):
        runs, out = pathlib.Path(folder) / "runs.csv", pathlib.Path(folder) / "engine.json"
        runs.write_text(text_of(rows))
        run(self.calibrate + self.kernels + ["--engine", rows[0]["backend"], "--from", str(runs), "--out", str(out)])
        return str(out), json.loads(out.read_text())["held_out"]


def median_error(errors, metric):
    return statistics.median(abs(2 ** -e[metric] - 1) for e in errors)


def inside(errors, metric, interval):
    return sum(interval["low"] <= e[metric] <= interval["high"] for e in errors) / len(errors)


def percent(share):
    return f"{100 * share:.1f} %"


def compare(program, fitted, others, folder, shipped):
    """The cells of a row: number of runs, TPOT and TTFT before and after, and the share inside of the interval."""
    path, held_out = program.fit(fitted, folder)
    after = program.predict(others, path)
    both = [i for i in after if i in shipped]
    before, calibrated = [shipped[i] for i in both], [after[i] for i in both]
    if not both:
        return None
    cells = [str(len(both))]
    for metric, name in ((1, "tpot"), (0, "ttft")):
        cells += [percent(median_error(before, metric)), percent(median_error(calibrated, metric)),
                  f"{100 * inside(calibrated, metric, held_out[name]):.0f} %"]
    return cells, before, calibrated


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("program")
    parser.add_argument("runs")
    parser.add_argument("configs")
    parser.add_argument("--rows", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calibration", help="kernel calibrations (default: those of the program)")
    args = parser.parse_args()
    opened = gzip.open(args.runs, "rt") if args.runs.endswith(".gz") else open(args.runs)
    with opened as file:
        rows = [by_id(row) for row in csv.DictReader(file)]
    groups = {}
    for row in rows:
        groups.setdefault((row["backend"], row["system"], row["model_path"]), []).append(row)
    program = Program(args.program, args.configs, args.calibration)
    head = ("runs | TPOT, shipped | calibrated | inside | TTFT, shipped | calibrated | inside |\n" + "|---" * 10 + "|")
    samples, all_before, all_after = {}, [], []
    with tempfile.TemporaryDirectory() as folder:
        print(f"| engine | device | model | {head}")
        for key in sorted(groups):
            shipped = program.predict(groups[key])
            usable = [groups[key][i] for i in sorted(shipped)]  # the others do not fit, or are not supported
            if len(usable) < args.rows + 5:
                continue
            chosen = set(random.Random(args.seed).sample(range(len(usable)), args.rows))
            fitted = [row for i, row in enumerate(usable) if i in chosen]
            others = [row for i, row in enumerate(usable) if i not in chosen]
            samples[key] = (fitted, usable)
            result = compare(program, fitted, others, folder, program.predict(others))
            if result is None:
                continue
            cells, before, after = result
            all_before += before
            all_after += after
            print(f"| {' | '.join(key)} | {' | '.join(cells)} |", flush=True)
        cells = [str(len(all_before))]
        for metric in (1, 0):
            cells += [percent(median_error(all_before, metric)), percent(median_error(all_after, metric)), ""]
        print(f"| all | all | all | {' | '.join(cells)} |\n")
        print("| engine | device | fitted model | predicted model | " + head + "---|")
        for key, (fitted, _) in sorted(samples.items()):
            for other, (_, usable) in sorted(samples.items()):
                if other[:2] == key[:2] and other != key:
                    result = compare(program, fitted, usable, folder, program.predict(usable))
                    if result is not None:
                        print(f"| {key[0]} | {key[1]} | {key[2]} | {other[2]} | {' | '.join(result[0])} |", flush=True)


if __name__ == "__main__":
    main()
