#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Compares `llmcost latency --engine llama.cpp` with measured speeds, by backend and device.

    python3 tests/oracle/compare_local_inference.py --llmcost build/llmcost ROWS.csv [--configs DIR] [--list] [--markdown]

ROWS.csv has the columns backend, device, devices, model, quant, fa, ubatch, test (`pp512`, `tg128`), depth,
tokens_per_second and source of llama-bench. Figures of writing without a length are asked after 64 tokens. DIR has
configurations ORG__NAME.json of models that are not bundled.
"""
import argparse
import collections
import csv
import json
import pathlib
import re
import statistics
import subprocess

MODELS = [
    (r"Meta-Llama-3-8B", "meta-llama/Llama-3.1-8B"), (r"Meta-Llama-3-70B", "meta-llama/Llama-3.3-70B-Instruct"),
    (r"llama3\.2:3b", "meta-llama/Llama-3.2-3B"), (r"llama3\.1:70b", "meta-llama/Llama-3.3-70B-Instruct"),
    (r"llama3\.1:405b", "meta-llama/Llama-3.1-405B"), (r"gpt-oss[:-]20b", "openai/gpt-oss-20b"),
    (r"gpt-oss-120b", "openai/gpt-oss-120b"), (r"deepseek-r1:14b", "deepseek-ai/DeepSeek-R1-Distill-Qwen-14B"),
    (r"deepseek-r1:671b", "deepseek-ai/DeepSeek-R1"), (r"llama-2-7b", "meta-llama/Llama-2-7b-hf"),
    (r"gemma-4-26B", "google/gemma-4-26B-A4B-it"), (r"gemma-4-31B", "google/gemma-4-31B-it"),
    (r"GLM-4\.7-Flash", "zai-org/GLM-4.7-Flash"), (r"MiniMax-M2\.7", "MiniMaxAI/MiniMax-M2.7"),
    (r"Qwen3\.6-27B", "Qwen/Qwen3.6-27B"), (r"Qwen3\.6-35B", "Qwen/Qwen3.6-35B-A3B"),
    (r"Qwen3\.5-122B", "Qwen/Qwen3.5-122B-A10B"),
]
# the device that a row names: first of all the card in parentheses
DEVICES = [
    (r"4090", "rtx_4090"), (r"3090 Ti", "rtx_3090_ti"), (r"3090", "rtx_3090"), (r"5090", "rtx_5090"),
    (r"3080 Ti", "rtx_3080_ti"), (r"3080", "rtx_3080"), (r"3070 Ti", "rtx_3070_ti"), (r"3070", "rtx_3070"),
    (r"3060", "rtx_3060"), (r"2080 Ti", "rtx_2080_ti"), (r"4080", "rtx_4080"), (r"4070 Ti", "rtx_4070_ti"),
    (r"4070", "rtx_4070"), (r"4060", "rtx_4060"), (r"A2000", "rtx_a2000"), (r"RTX A4000", "rtx_a4000"),
    (r"4000 Ada", "rtx_4000_ada"), (r"5000 Ada", "rtx_5000_ada"), (r"6000 Ada", "rtx_6000_ada"),
    (r"A6000", "rtx_a6000"), (r"A40\b", "a40"), (r"L40S", "l40s"), (r"A100 PCIe", "a100_pcie_80gb"),
    (r"A100 SXM", "a100_sxm_80gb"), (r"H100 PCIe", "h100_pcie"), (r"RX 580", "rx_580"), (r"7900 XTX", "rx_7900_xtx"),
    (r"M1 7-Core", "apple_m1_7c"), (r"M1 Max", "apple_m1_max"), (r"M1 Ultra \(48", "apple_m1_ultra_48c"),
    (r"M1 Ultra", "apple_m1_ultra"), (r"M2 Ultra", "apple_m2_ultra"), (r"M3 Max", "apple_m3_max_40c"),
    (r"M4 Mac mini", "apple_m4"), (r"^M1 \d", "apple_m1"), (r"8060S|Framework Desktop Mainboard", "strix_halo"),
    (r"Framework Mainboard \(128GB\)", "strix_halo"), (r"AI 5 340", "ryzen_ai_5_340"), (r"A192", "ampereone_a192"),
    (r"MS-R1|Orion O6", "cix_p1"), (r"Pi 400", "raspberry_pi_4"), (r"Raspberry Pi 5", "raspberry_pi_5"),
]


def first(table, text):
    return next((value for pattern, value in table if re.search(pattern, text)), None)


def question(row, configs):
    """The options that ask for a row, and its tokens; or the reason why it cannot be asked."""
    model, device = first(MODELS, row["model"]), first(DEVICES, row["device"])
    if not model or not device:
        return None, None, "no entry for " + (row["device"] if model else row["model"])
    kind, length = re.match(r"(pp|tg)(\d*)", row["test"]).groups()
    length = int(length or 128)
    depth = int(float(row["depth"] or 0))
    tokens, past = (length, depth) if kind == "pp" else (1, depth + length // 2)
    on_cpu = "CPU" in row["backend"] and "GPU" not in row["backend"]
    if on_cpu and device == "strix_halo":
        device = "ryzen_ai_max_395_cpu"
    file = configs / (model.replace("/", "__") + ".json") if configs else None
    options = ["--config", str(file)] if file and file.exists() else ["--model", model]
    quantization = re.sub(r" .*", "", row["quant"]).lower()
    if quantization == "q8_k_xl" and row["size_gib"]:  # a mix of BF16 and Q8_0
        quantization = f"{float(row['size_gib']) * 8 * 2**30 / (float(row['params_b']) * 1e9):.2f}bpw"
    options += ["--device", device, "--sequence", str(tokens), "--past", str(past), "--quantization", quantization]
    if int(row["devices"]) > 1:
        options += ["--tensor-split", ",".join(["1"] * int(row["devices"]))]
    if row["fa"] == "0":
        options += ["--flash-attn", "off"]
    ubatch = row["ubatch"]
    # kyuz0/amd-strix-halo-toolboxes, benchmark/run_benchmarks.sh: -ub 2048 for long contexts, except with Vulkan
    if not ubatch and depth > 0 and "kyuz0" in row["source"] and row["backend"] == "ROCm":
        ubatch = "2048"
    if ubatch:
        options += ["--ubatch-size", ubatch]
    backend = next((b for b in ("cuda", "rocm", "vulkan", "metal") if b in row["backend"].lower()), None)
    if backend:
        options += ["--backend", backend]
    return options, tokens, device


def summary(errors):
    sizes = sorted(map(abs, errors))
    return len(sizes), statistics.median(sizes), sizes[min(len(sizes) - 1, -(-9 * len(sizes) // 10) - 1)], sizes[-1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--llmcost", required=True)
    parser.add_argument("--configs", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="one line per row")
    parser.add_argument("--markdown", action="store_true", help="print the table of docs/local-machines.md only")
    parser.add_argument("rows")
    args = parser.parse_args()
    answers, refusals, errors, inside = {}, collections.Counter(), collections.defaultdict(list), collections.Counter()
    with open(args.rows, encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["tokens_per_second"]]
    for row in rows:
        options, tokens, device = question(row, args.configs)
        if options is None:
            refusals[device] += 1
            continue
        key = tuple(options)
        if key not in answers:
            run = subprocess.run([args.llmcost, "latency", "--engine", "llama.cpp", "--offline", "--format", "json",
                                  *options], capture_output=True, text=True, check=False)
            answers[key] = json.loads(run.stdout) if run.stdout.startswith("{") else run.stderr.strip()[:120]
        answer = answers[key]
        if isinstance(answer, str):
            refusals[answer] += 1
            continue
        speed = float(row["tokens_per_second"])
        error = (tokens / answer["seconds"] / speed - 1) * 100
        kind = "prompt" if tokens > 1 else "generation"
        groups = [answer["backend"] + (" several devices" if int(row["devices"]) > 1 else "")]
        if "amdvlk" in row["notes"]:
            groups = ["vulkan AMDVLK"]
        if re.search(r"UD-|_XL", row["model"]):
            groups = [groups[0] + ", UD files"]
        for group in groups + ["all"]:
            errors[group, kind].append(error)
            inside[group, kind] += tokens / answer["upper"] <= speed <= tokens / answer["lower"]
        if args.list:
            print(f"{error:+7.1f} % {tokens / answer['seconds']:9.1f} {speed:9.1f} {row['backend']}, {row['devices']} x "
                  f"{row['device']}, {row['model']} {row['quant']} {row['test']}@{row['depth']} {row['notes']}")
    if not args.markdown:
        print(f"{len(rows)} rows, {len(errors['all', 'prompt']) + len(errors['all', 'generation'])} answered")
        for reason, number in refusals.most_common():
            print(f"  {number:4d}  {reason}")
    print("| backend | phase | rows | median error | p90 | worst | inside the interval |\n|---|---|---|---|---|---|---|")
    for (group, kind), values in sorted(errors.items(), key=lambda entry: (entry[0][0] == "all", entry[0])):
        number, median, p90, worst = summary(values)
        print(f"| {group} | {kind} | {number} | {median:.1f} % | {p90:.1f} % | {worst:.0f} % "
              f"| {100 * inside[group, kind] / number:.0f} % |")


if __name__ == "__main__":
    main()
