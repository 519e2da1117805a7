#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Compares the time of training steps with published runs.

usage: compare_training_runs_time.py --llmcost PROGRAM --rows training_runs.csv [--configs DIR] [--source NAME]
                                     [--split fit|held-out] [--worst N] [--list]

Each row of the table is one `llmcost latency --training` command. Where a source does not state an option, `assumed`
names what was taken. A row belongs to "fit" if the CRC of its id is even: constants may only be chosen on those.
"""
import argparse
import collections
import concurrent.futures
import csv
import json
import os
import re
import statistics
import subprocess
import tempfile
import zlib

# names of a source, and names of configurations
MODELS = {
    "llama3_8b": "meta-llama/Llama-3.1-8B", "llama3_70b": "meta-llama/Llama-3.1-70B",
    "meta-llama/Meta-Llama-3-8B": "meta-llama/Llama-3.1-8B", "meta-llama/Meta-Llama-3-70B": "meta-llama/Llama-3.1-70B",
    "deepseekv3": "deepseek-ai/DeepSeek-V3", "gpt oss 120b": "openai/gpt-oss-120b",
    "qwen3_30b_a3b": "Qwen/Qwen3-30B-A3B", "Qwen/Qwen-7B": "Qwen/Qwen-7B-Chat", "Qwen/Qwen-14B": "Qwen/Qwen-14B-Chat",
    "Qwen/Qwen-7B-Chat-Int4": "Qwen/Qwen-7B-Chat", "Qwen/Qwen-14B-Chat-Int4": "Qwen/Qwen-14B-Chat",
}
RACK = {"gb200", "gb300"}  # NVL72: links reach 72 devices


def number(text, default=0.0):
    try:
        return float(text)
    except (TypeError, ValueError):
        return default


def model_arguments(name, configs, bundled):
    """The model of a row as arguments; raises KeyError without a configuration."""
    changes = []
    if name.startswith("{"):
        j = json.loads(name)
        if j.get("type") == "mpt":
            sizes = {"d_model": j["d_model"], "n_heads": j["n_heads"], "n_layers": j["n_layers"],
                     "vocab_size": j["vocab"], "max_seq_len": j["max_seq_len"]}
            return ["--model", "mosaicml/mpt-7b", "--offline"] + [a for k, v in sizes.items() for a in ("--set", f"{k}={v}")]
        if j.get("type") == "gpt":
            layers = j.get("layers")
            if not layers:  # from the published size: 12 h^2 per layer and the vocabulary
                size = float(str(j["size"]).rstrip("B")) * 1e9
                layers = round((size - j["vocab"] * j["hidden"]) / (12 * j["hidden"] ** 2))
            sizes = {"n_embd": j["hidden"], "n_head": j["heads"], "n_layer": layers, "vocab_size": j["vocab"],
                     "n_positions": 2048}
            return ["--model", "openai-community/gpt2", "--offline"] + [a for k, v in sizes.items() for a in ("--set", f"{k}={v}")]
        name = j["base"]
        changes = ["--set", f"num_hidden_layers={j['num_hidden_layers']}"]
    name = MODELS.get(name, MODELS.get(name.lower(), name))
    if name in bundled:
        return ["--model", name, "--offline"] + changes
    for directory in configs:
        path = os.path.join(directory, name.replace("/", "__") + ".json")
        if os.path.exists(path):
            return ["--config", path] + changes
    raise KeyError("no configuration of " + name)


def limited_h100():
    """The datasheet of an H100 with 96 GB of HBM2e, 2.4 TB/s and a power limit of 500 W: clock ~ power^(1/3)."""
    clock = (500 / 700) ** (1 / 3)
    path = os.path.join(tempfile.gettempdir(), f"h100_500w_{os.getuid()}.json")
    if not os.path.exists(path):
        sheet = {"name": "H100 96GB 500 W", "vendor": "NVIDIA",
                 "peak_tflops": {"fp32": 67 * clock, "tf32": 494.5 * clock, "bf16": 989.4 * clock,
                                 "fp16": 989.4 * clock, "fp8": 1979 * clock},
                 "memory": {"gigabytes": 96, "bandwidth_gbps": 2400, "cache_megabytes": 50}, "units": 132,
                 "links": {"bandwidth_gbps": 450, "pcie_gbps": 63}, "watts": 500}
        with open(path, "w") as file:
            json.dump(sheet, file)
    return path


def command_of(row, configs, bundled):
    """The arguments of a row, and what its source does not state; raises KeyError if a row cannot be asked."""
    assumed = []
    source, device = row["source"], row["device"]
    if not device:
        raise KeyError("the device is not stated")
    model = model_arguments(row["model"], configs, bundled)
    tp, pp, cp, ep = (int(number(row[k], 1)) or 1 for k in ("tp", "pp", "cp", "ep"))
    devices = int(number(row["devices"]))
    if not devices:
        raise KeyError("the number of devices is not stated")
    dp = int(number(row["dp"])) or max(1, devices // (tp * pp * cp))
    global_batch, batch = int(number(row["global_batch"])), number(row["microbatch"])
    if not global_batch:
        raise KeyError("the batch is not stated")
    if not batch:
        batch = 1
        assumed.append("layout: data parallel, one sample per pass")
    if "local batch 32 is cut into microbatches" in row["notes"]:
        batch = 1
        assumed.append("microbatches of 1 sample")
    elif pp > 1 and source == "torchtitan":
        batch = 1
        assumed.append("microbatches of 1 sample")
    batch = int(batch)
    while batch > 1 and global_batch % (batch * dp):
        batch -= 1
    microbatches = max(1, round(global_batch / (batch * dp)))
    if source == "torchtitan" and device == "h100_sxm":  # benchmarks/*.md of torchtitan, "Hardware"
        device = limited_h100()
    args = ["latency", "--training"] + model + ["--device", device, "--batch", str(batch), "--sequence", row["sequence"],
                                                "--microbatches", str(microbatches)]
    for option, size in (("--tp", tp), ("--pp", pp), ("--cp", cp), ("--dp", dp), ("--ep", ep)):
        if size > 1:
            args += [option, str(size)]
    vpp = row["vpp"]
    if pp > 1 and vpp not in ("", "1"):
        args += ["--stages-per-rank", "2" if vpp == "interleaved" else vpp, "--schedule", "interleaved"]
    if row["sp"] == "1" or (source in ("megatron-bridge", "mlperf-training-v5.1") and tp > 1):
        args += ["--sequence-parallel"]
    shard, dp_of_shards = row["shard"], dp * cp
    if shard.startswith("fsdp") and dp_of_shards > 1:
        args += ["--fsdp"]
        if source == "torchtitan" and pp > 1:  # torchtitan: no resharding with pipelines, reduction after the last microbatch
            args += ["--fsdp-reshard", "false", "--gradient-sync", "last"]
        if "grad_op" in shard:
            args += ["--fsdp-reshard", "false"]
        if "mixed default" in shard or shard in ("fsdp2", "fsdp"):
            args += ["--fsdp-reduce-dtype", "fp32"]
    elif shard.startswith("zero-") and dp_of_shards > 1:
        args += ["--zero", shard[5]]
    # GB/s per device: a port of 400 Gbit/s; of 200 Gbit/s with A100; Jean Zay: four of 100 Gbit/s for eight devices
    network = 6.25 if source == "bigscience" else 25 if device.startswith("a100") else 50
    if devices > (72 if device in RACK else 8):
        args += ["--network", f"{network:g}"]
    recompute = row["recompute"]
    if recompute in ("full",):
        args += ["--recompute", "full"]
    elif recompute == "full:every second layer":
        args += ["--recompute", "full:16"]
    elif recompute.startswith("selective operators") or recompute.startswith("selective (recipe"):
        args += ["--recompute", "selective:operators"]
    elif recompute == "selective core_attn":
        args += ["--recompute", "selective:core_attn"]
    elif recompute == "" and source.startswith("vtrain"):
        args += ["--recompute", "full"]
        assumed.append("full recomputation")
    elif recompute == "":
        assumed.append("no recomputation")
    precision = row["precision"].lower()
    if "nvfp4" in precision:
        args += ["--dtype", "nvfp4"]
    elif any(x in precision for x in ("fp8", "float8", "narrower")):
        args += ["--dtype", "fp8"]
    else:
        args += ["--dtype", "bfloat16" if "bf16" in precision else "float16"]
    if source == "llm-foundry":
        args += ["--execution", "eager", "--attention-kernel", "flash1"]
    elif source in ("vtrain-single", "vtrain-multi", "bigscience"):
        args += ["--execution", "stream", "--attention-kernel", "unfused", "--host-microseconds", "41", "--overlap", "none"]
    elif source in ("torchtitan", "torchao"):
        args += ["--attention-kernel", "flash2"]
    elif source == "qwen1":
        args += ["--execution", "eager", "--attention-kernel", "flash2", "--host-microseconds", "24"]
    else:
        args += ["--attention-kernel", "flash3"]
    if source in ("megatron-bridge", "mlperf-training-v5.1") and (tp > 1 or pp > 1 or ep > 1):
        args += ["--overlap", "dp,tp,pp"]
    elif source == "torchtitan" and "async tp" in row["notes"]:
        args += ["--overlap", "dp,tp"]
    if row["adapter"]:
        rank = re.search(r"r=(\d+)", row["adapter"])
        targets = ",targets=c_attn+c_proj+w1+w2" if "c_attn" in row["adapter"] else ""
        args += ["--adapter", f"lora:r={rank[1] if rank else 16}{targets}"]
    return args, assumed


def percentile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, -(-int(share * 100) * (len(ordered) - 1) // 100))]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--llmcost", required=True)
    parser.add_argument("--rows", required=True)
    parser.add_argument("--configs", nargs="*", default=[])
    parser.add_argument("--source")
    parser.add_argument("--split", choices=("fit", "held-out"))
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--commands", action="store_true")
    parser.add_argument("--sample", type=int, default=1, help="asks every Nth row")
    options = parser.parse_args()
    models = subprocess.run([options.llmcost, "models", "--format", "json"], capture_output=True, text=True).stdout
    bundled = {m["name"] for m in json.loads(models)["bundled"]}
    configs = [os.path.join(os.path.dirname(os.path.abspath(options.rows)), "configs")] + options.configs

    def run(row):
        try:
            args, assumed = command_of(row, configs, bundled)
        except KeyError as problem:
            return row, None, None, str(problem.args[0]), []
        done = subprocess.run([options.llmcost] + args + ["--format", "json"], capture_output=True, text=True)
        if not done.stdout.startswith("{"):
            return row, None, None, ((done.stderr.strip().splitlines() or [""])[0])[:150], args
        return row, json.loads(done.stdout), assumed, "", args

    rows = []
    for row in csv.DictReader(open(options.rows)):
        split = "fit" if zlib.crc32(row["id"].encode()) % 2 == 0 else "held-out"
        if row["step_seconds"] and options.source in (None, row["source"]) and options.split in (None, split):
            rows.append(row)
    rows = rows[::options.sample]
    errors, reasons = collections.defaultdict(list), collections.Counter()
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for row, answer, assumed, problem, args in pool.map(run, rows):
            if answer is None:
                reasons[(row["source"], problem)] += 1
                continue
            error = (answer["seconds"] / float(row["step_seconds"]) - 1) * 100
            errors[row["source"]].append((error, row, answer))
            if options.list:
                parts = {k: round(answer[k]["seconds"], 4) for k in ("forward", "backward", "recomputed", "optimizer")}
                parts |= {c["group"]: round(c["exposed_seconds"], 4) for c in answer.get("communication", [])}
                parts |= {k: round(answer.get(k, 0), 4) for k in ("bubble_seconds", "launch_seconds")}
                print(f"{row['id']} {answer['seconds']:.4g}/{row['step_seconds']} {error:+.1f} % {parts}")
                if options.commands:
                    print("   ", " ".join(args))
    print(f"{'source':24}{'rows':>6}{'asked':>7}{'median':>9}{'|median|':>10}{'p90':>8}")
    for source in sorted({row["source"] for row in rows}):
        found = [e for e, _, _ in errors[source]]
        total = sum(row["source"] == source for row in rows)
        if not found:
            print(f"{source:24}{total:6}{0:7}")
            continue
        sizes = [abs(e) for e in found]
        print(f"{source:24}{total:6}{len(found):7}{statistics.median(found):+8.1f}%{statistics.median(sizes):9.1f}%"
              f"{percentile(sizes, 0.9):7.1f}%")
        for error, row, answer in sorted(errors[source], key=lambda x: -abs(x[0]))[:options.worst]:
            print(f"    {error:+7.1f} %  {row['id']}")
    for (source, reason), n in reasons.most_common():
        print(f"not asked: {n:4} {source}: {reason}")


if __name__ == "__main__":
    main()
