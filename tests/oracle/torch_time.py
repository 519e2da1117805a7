# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Compare the device time of `llmcost latency --engine torch` with recorded steps of PyTorch, and print the table of
docs/latency-pytorch.md.

    python tests/oracle/torch_time.py LLMCOST [--steps] [--operators] [--rows FILE]
    python tests/oracle/torch_time.py --sample > tests/cli/torch_operators.jsonl

--steps: one line per step. --operators: the operators with the largest differences. --rows: steps that
examples/record_torch.py recorded, instead of those of this repository. --sample: the rows of some steps that
tests/cli/torch_operators_test.cpp compares one by one.

Recordings: tests/torch/h200_steps.jsonl.gz (the constants are fitted to its training steps) and
tests/memory/h100_runs.jsonl.gz (not fitted). `device_ms`: sum of the durations of all kernels under PyTorch's profiler.
"""
import argparse
import collections
import gzip
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

TESTS = pathlib.Path(__file__).resolve().parent.parent
OPTIMIZERS = {"adamw": "adamw", "sgd": "sgd", "fused": "adamw:fused", "adafactor": "adafactor",
              "adafactor_transformers": "adafactor:transformers"}
CLASSES = {"llama": "LlamaForCausalLM", "qwen3": "Qwen3ForCausalLM", "gpt2": "GPT2LMHeadModel", "opt": "OPTForCausalLM",
           "vit": "ViTForImageClassification", "bert": "BertForMaskedLM", "gemma2": "Gemma2ForCausalLM"}
# parts of the reference that the kernel list does not contain (docs/latency-pytorch.md, "Limits")
LIMITS = ("mamba2", "recurrent_gemma")
# steps of the sample: kind, name, batch
SAMPLE = (("train", "bert-base fp32 eager", 8), ("train", "gpt2-medium bf16 eager", 4), ("train", "qwen3-0.6b fp32 eager", 1),
          ("train", "vit-base fp32 eager", 16), ("train", "alexnet B64 fp32", 64), ("infer", "qwen3-0.6b sdpa", 16),
          ("infer", "gemma2-2b eager", 1), ("infer", "opt-1.3b eager", 4), ("vision", "resnet50 B128", 128))
SAMPLE_SHARE = 0.003  # of the device time of a step, of the smallest row


def records(path):
    with (gzip.open if path.suffix == ".gz" else open)(path, "rt") as lines:
        return [json.loads(line) for line in lines]


def arguments(row, device, folder):
    """The command line of a recorded step."""
    config = row.get("config")
    if config:
        config = dict(config)
        config.setdefault("architectures", [CLASSES.get(config["model_type"], "")])
        path = pathlib.Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        args = ["--config", str(path)]
    else:
        args = ["--model", "torchvision/" + row["name"].split()[0]]
    args += ["--batch", str(row["batch"]), "--device", device, "--engine", "torch", "--format", "json"]
    task = row.get("task", "lm" if config and not row.get("image") else "image")
    if task == "image":
        side = row.get("sequence") or 224
        args += ["--image", f"{side}x{side}"]
    elif task == "speech":
        args += ["--sequence", str(row["target"])]
    elif task == "seq2seq":
        args += ["--sequence", str(row["target"]), "--encoder-sequence", str(row["sequence"])]
    else:
        args += ["--sequence", str(row["sequence"])] + (["--past", str(row["past"])] if row.get("past") else [])
    if row.get("attn") in ("eager", "sdpa"):
        args += ["--attention-implementation", row["attn"]]
    is_half = "bfloat16" in row.get("dtype", "float32")
    args += ["--precision", "bf16-mixed" if row.get("mixed") else "bf16" if is_half else "fp32"]
    if row["kind"] == "infer" and not row.get("keeps_last_logits", True):
        args += ["--logits", "all"]
    if row["kind"] == "train":
        args += ["--training", "--optimizer", OPTIMIZERS[row.get("optim") or "adamw"]]
        args += ["--recompute", "full"] if row.get("recompute") else []
        args += ["--adapter", f"lora:r={row['lora']},targets=all-linear"] if row.get("lora") else []
    return args, task


def print_sample():
    """A line per step: arguments, configuration, device time, and its rows [operator, sizes, calls, microseconds]."""
    for row in records(TESTS / "torch/h200_steps.jsonl.gz"):
        if (row["kind"], row["name"], row["batch"]) not in SAMPLE:
            continue
        with tempfile.TemporaryDirectory() as folder:
            args, _ = arguments(row, "h200", folder)
            config = json.loads(pathlib.Path(args[1]).read_text()) if args[0] == "--config" else None
        smallest = 1e3 * SAMPLE_SHARE * row["device_ms"]
        rows = [[name, [s for s in sizes if s], calls, microseconds]
                for name, sizes, calls, microseconds in row["ops"] if microseconds >= smallest]
        print(json.dumps({"name": row["name"], "args": args[2:] if config else args, "config": config,
                          "device_ms": round(row["device_ms"], 3), "rows": rows}))


def group_of(row, device, task):
    name = device.split("_")[0].upper()
    pass_name = "training" if row["kind"] == "train" else "forward pass"
    kind = f"{pass_name} of {'image' if task == 'image' else 'language'} models"
    return f"{name}, {kind}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("llmcost", nargs="?")
    parser.add_argument("--steps", action="store_true")
    parser.add_argument("--operators", action="store_true")
    parser.add_argument("--rows", type=pathlib.Path)
    parser.add_argument("--sample", action="store_true")
    options = parser.parse_args()
    if options.sample:
        return print_sample()
    groups, operators = collections.defaultdict(list), collections.defaultdict(lambda: [0.0, 0.0])
    files = [("h200", TESTS / "torch/h200_steps.jsonl.gz"), ("h100_sxm", TESTS / "memory/h100_runs.jsonl.gz")]
    for device, path in [("", options.rows)] if options.rows else files:
        for row in records(path):
            device = row.get("device", device)
            if row.get("kind") not in ("train", "infer", "vision"):
                continue
            with tempfile.TemporaryDirectory() as folder:
                args, task = arguments(row, device, folder)
                run = subprocess.run([options.llmcost, "latency", *args], capture_output=True, text=True)
            try:
                step = json.loads(run.stdout)
            except ValueError:
                print(f"no answer: {row['name']}: {run.stderr.strip().splitlines()[-1]}")
                continue
            error = 1e3 * step["device_seconds"] / row["device_ms"] - 1
            if not row["name"].startswith(LIMITS):
                groups[group_of(row, device, task)].append(abs(error))
            if options.steps:
                print(f"{row['kind']:6s} {row['name']:58s} recorded {row['device_ms']:8.2f} ms  "
                      f"predicted {1e3 * step['device_seconds']:8.2f} ms  {error:+6.1%}")
            for name, _, _, microseconds in row["ops"]:
                operators[name][0] += microseconds
            for kernel in step["kernels"]:
                operators[kernel["operator"]][1] += 1e6 * kernel["calls"] * kernel["seconds"]
    if options.operators:
        for name, (recorded, predicted) in sorted(operators.items(), key=lambda o: -abs(o[1][0] - o[1][1]))[:30]:
            print(f"{name:46s} recorded {recorded / 1e3:9.1f} ms  predicted {predicted / 1e3:9.1f} ms")
    print("| group | steps | median error | 90th percentile |\n|---|---|---|---|")
    for group, errors in groups.items():
        nearest_rank = sorted(errors)[math.ceil(.9 * len(errors)) - 1]
        print(f"| {group} | {len(errors)} | {100 * statistics.median(errors):.1f} % | {100 * nearest_rank:.1f} % |")


if __name__ == "__main__":
    main()
