#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Fits the power of devices (include/llmcost/serving/power.hpp) to measured serving runs.

    fit_power.py --program build/llmcost --runs RUNS.csv

RUNS.csv has one row for each metric of a run: `model`, `device`, `metric` (`watts_a_device`, `itl_median_ms`), `measured`,
`note` and `command`, which estimates the run with `llmcost serve`. Rows whose note contains "doubtful" are left out.

watts = design power · (active + Σ fraction · utilization). Utilizations are those of the estimate in the measured time of a
step, so that errors of the estimated time do not enter the fractions. The fractions are not negative. They minimize the
squared relative error, each model with equal weight. The errors are those of models outside of the fit, and for other devices
those of a device outside of the fit.
"""

import argparse
import csv
import json
import math
import shlex
import statistics
import subprocess
from collections import defaultdict

NUM_TERMS = 4  # active, compute, memory, links
# Power of units of at most 8 bits at their peak, relative to units of 16 bits at theirs. Few runs are bound by units of 8 bits,
# so that it is that of operators on an H200: 0.19 pJ per FLOP at 1979 TFLOP/s, 0.46 pJ per FLOP at 989 TFLOP/s.
LOW_PRECISION_SHARE = 0.83
MEMBERS = ("compute_utilization", "low_precision_compute_utilization", "memory_utilization", "link_utilization")


def estimate(program: str, command: str, cache: dict) -> dict:
    if command not in cache:
        done = subprocess.run([program, *shlex.split(command)[1:], "--format", "json"], capture_output=True, text=True, check=False)
        cache[command] = json.loads(done.stdout) if done.returncode == 0 else None
    return cache[command]


def read_runs(program: str, path: str, design_watts: dict) -> list:
    """Runs with utilizations in the estimated and in the measured time, and with fractions of the design power."""
    metrics = defaultdict(dict)
    with open(path, encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if row["metric"] in ("watts_a_device", "itl_median_ms") and "doubtful" not in row["note"]:
                metrics[row["command"]][row["metric"]] = row
    runs, cache = [], {}
    for command, of_run in metrics.items():
        result = estimate(program, command, cache)
        if len(of_run) < 2 or not result or "memory_utilization" not in result:
            continue
        watts = of_run["watts_a_device"]
        ratio = 1e3 * result["tpot_seconds"] / float(of_run["itl_median_ms"]["measured"])
        compute, low_precision_compute, memory, links = (result[name] for name in MEMBERS)
        estimated = [1.0, compute + LOW_PRECISION_SHARE * low_precision_compute, memory, links]
        runs.append({"model": watts["model"], "device": watts["device"], "share": float(watts["measured"]) / design_watts[watts["device"]],
                     "estimated": estimated, "measured": [1.0] + [u * ratio for u in estimated[1:]]})
    return runs


def fit(runs: list) -> list:
    """Fractions that are not negative, by coordinate descent."""
    of_model = defaultdict(int)
    for run in runs:
        of_model[run["device"], run["model"]] += 1
    rows = []
    for run in runs:
        weight = math.sqrt(1 / of_model[run["device"], run["model"]])
        rows.append(([u * weight / run["share"] for u in run["measured"]], weight))
    squares = [[sum(x[i] * x[j] for x, _ in rows) for j in range(NUM_TERMS)] for i in range(NUM_TERMS)]
    products = [sum(x[i] * y for x, y in rows) for i in range(NUM_TERMS)]
    fractions = [0.0] * NUM_TERMS
    for _ in range(20000):
        for i, row in enumerate(squares):
            if row[i] > 1e-12:
                fractions[i] = max(0.0, fractions[i] + (products[i] - sum(f * g for f, g in zip(fractions, row))) / row[i])
    return fractions


def log_errors(runs: list, fractions: list, utilization: str) -> list:
    return [math.log2(run["share"] / min(1, sum(f * u for f, u in zip(fractions, run[utilization])))) for run in runs]


def print_fit(name: str, fractions: list, groups: list) -> None:
    """Prints the fractions, and the errors of (runs, fractions fitted without them)."""
    values = [("active", fractions[0]), ("compute", fractions[1]), ("low_precision_compute", LOW_PRECISION_SHARE * fractions[1]),
              ("memory", fractions[2]), ("links", fractions[3])]
    print(f"{name}: " + ", ".join(f".{term} = {value:.3g}" for term, value in values))
    for utilization in ("estimated", "measured"):
        errors = sorted(e for runs, of_others in groups for e in log_errors(runs, of_others, utilization))
        low, high = errors[int(0.05 * len(errors))], errors[min(len(errors) - 1, int(0.95 * len(errors)))]
        median = statistics.median(abs(2**-e - 1) for e in errors)
        print(f"  {len(errors)} runs held out, {utilization} times: median error {100 * median:.1f} %, log2 from {low:.2f} to {high:.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True)
    parser.add_argument("--runs", required=True)
    parser.add_argument("--design-watts", default="h100=700,b200=1000", help="DEVICE=WATTS,...: thermal design power")
    options = parser.parse_args()
    design_watts = {device: float(watts) for device, watts in (item.split("=") for item in options.design_watts.split(","))}
    runs = read_runs(options.program, options.runs, design_watts)
    for device in design_watts:
        own = [run for run in runs if run["device"] == device]
        groups = []
        for model in sorted({run["model"] for run in own}):
            groups.append(([run for run in own if run["model"] == model], fit([run for run in own if run["model"] != model])))
        print_fit(device, fit(own), groups)
    groups = [([run for run in runs if run["device"] == device], fit([run for run in runs if run["device"] != device]))
              for device in design_watts]
    print_fit("other devices", fit(runs), groups)


if __name__ == "__main__":
    main()
