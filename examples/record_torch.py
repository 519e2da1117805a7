#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Compares a step of PyTorch on this machine's GPU with `llmcost ops --engine torch`, operator by operator.

    python3 record_torch.py Qwen/Qwen3-0.6B --training --batch 4 --sequence 1024
    python3 record_torch.py path/to/config.json --sequence 2048 --precision bf16 --out rows.jsonl

The model has random weights of its configuration: only config.json is read. The step runs under torch.profiler. The output
lists calls and device time of each ATen operator next to those of llmcost. `--out` appends the recorded step as a line that
`tests/oracle/torch_time.py --rows` reads.

`--dry-run` needs no GPU: the step runs on the meta device, which has shapes but no data, and `--device` names the GPU that
llmcost estimates. It compares calls and shapes of products.
"""
import argparse
import collections
import contextlib
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import torch
import transformers
from torch.utils._python_dispatch import TorchDispatchMode

DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "bf16-mixed": torch.float32}
OPTIMIZERS = {"adamw": lambda p: torch.optim.AdamW(p, lr=1e-5), "sgd": lambda p: torch.optim.SGD(p, lr=1e-5),
              "adamw:fused": lambda p: torch.optim.AdamW(p, lr=1e-5, fused=True)}
RECORDED_OPTIMIZERS = {"adamw:fused": "fused"}  # their names in recorded rows
PRODUCTS = ("aten::mm", "aten::addmm", "aten::bmm", "aten::baddbmm")
# operators of the meta device -> those whose kernels a GPU runs; none: no kernel
META_NAMES = {"aten::_to_copy": "aten::copy_", "aten::clone": "aten::copy_", "aten::embedding": "aten::gather",
              "aten::zeros": "aten::fill_", "aten::zeros_like": "aten::fill_", "aten::ones": "aten::fill_",
              "aten::ones_like": "aten::fill_", "aten::_unsafe_view": None, "aten::scalar_tensor": None,
              "aten::_local_scalar_dense": None}
WARM_STEPS = 3


class OperatorCounter(TorchDispatchMode):
    """Calls of ATen operators by name and sizes of their tensors. Views launch no kernel and are left out."""

    def __init__(self):
        super().__init__()
        self.calls = collections.Counter()

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        result = func(*args, **(kwargs or {}))
        is_view = any(r.alias_info is not None and not r.alias_info.is_write for r in func._schema.returns)
        name = META_NAMES.get(func._schema.name, func._schema.name)
        if not is_view and name and func.namespace == "aten":
            shapes = [list(a.shape) if isinstance(a, torch.Tensor) else [] for a in args]
            self.calls[name, json.dumps(shapes)] += 1
        return result


def read_config(source):
    """The configuration of a file or a name, without dropout."""
    config = transformers.AutoConfig.from_pretrained(source)
    for key, value in config.to_dict().items():
        if "drop" in key and isinstance(value, float):
            setattr(config, key, 0.0)
    return config


def build_model(config, options, device):
    """The first of the configuration's `architectures` with random weights."""
    name = (config.architectures or ["AutoModelForCausalLM"])[0]
    kind = getattr(transformers, name)
    implementation = {} if options.attention == "auto" else {"attn_implementation": options.attention}
    build = kind.from_config if name.startswith("Auto") else kind._from_config
    torch.set_default_dtype(DTYPES[options.precision])
    try:
        with torch.device(device):
            model = build(config, **implementation)
    finally:
        torch.set_default_dtype(torch.float32)
    model = model.to(DTYPES[options.precision])
    return model.train() if options.training else model.eval()


def build_inputs(model, options, device):
    if not hasattr(model.config, "vocab_size"):
        side = model.config.image_size
        channels = getattr(model.config, "num_channels", 3)
        inputs = {"pixel_values": torch.zeros(options.batch, channels, side, side, device=device,
                                              dtype=DTYPES[options.precision])}
        labels = torch.zeros(options.batch, dtype=torch.int64, device=device)
    else:
        labels = torch.ones(options.batch, options.sequence, dtype=torch.int64, device=device)
        inputs = {"input_ids": labels}
    return {**inputs, "labels": labels} if options.training else inputs


def step_of(model, inputs, options, device):
    """A function that runs a training step or a forward pass. The meta device has no foreach kernels: no optimizer."""
    autocast = torch.autocast(device, torch.bfloat16) if options.precision == "bf16-mixed" else contextlib.nullcontext()
    if not options.training:
        def forward():
            with torch.no_grad(), autocast:
                model(**inputs)
        return forward
    optimizer = OPTIMIZERS[options.optimizer](model.parameters())

    def train():
        with autocast:
            loss = model(**inputs).loss
        loss.backward()
        if device != "meta":
            optimizer.step()
        optimizer.zero_grad(set_to_none=True)
    return train


def profile_step(step):
    """Device time and operators `[name, shapes, calls, microseconds]` of a step on the GPU."""
    from torch.profiler import ProfilerActivity, profile
    for _ in range(WARM_STEPS):
        step()
    torch.cuda.synchronize()
    began = time.perf_counter()
    step()
    torch.cuda.synchronize()
    wall = time.perf_counter() - began
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as profiler:
        began = time.perf_counter()
        step()
        host = time.perf_counter() - began
        torch.cuda.synchronize()
    kernels = [e for e in profiler.events()
               if e.device_type == torch.autograd.DeviceType.CUDA and not getattr(e, "is_user_annotation", False)]
    operators = [[e.key, e.input_shapes, e.count, round(e.self_device_time_total, 2)]
                 for e in profiler.key_averages(group_by_input_shape=True)
                 if e.self_device_time_total > 0 and (e.key.startswith("aten::") or e.input_shapes)]
    return {"device_ms": sum(e.time_range.elapsed_us() for e in kernels) / 1e3, "host_ms": 1e3 * host, "wall_ms": 1e3 * wall,
            "kernels": len(kernels), "ops": operators}


def count_step(step):
    """The operators of a step on the meta device, without times."""
    with OperatorCounter() as counter:
        step()
    return {"device_ms": 0, "ops": [[name, json.loads(shapes), n, 0] for (name, shapes), n in counter.calls.items()]}


def estimated_operators(options, config):
    """The rows of `llmcost ops --engine torch`."""
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "config.json"
        path.write_text(json.dumps(config))
        command = [options.llmcost, "ops", "--config", str(path), "--batch", str(options.batch), "--engine", "torch",
                   "--device", options.device, "--precision", options.precision, "--attention-implementation",
                   options.attention, "--format", "json"]
        if "vocab_size" in config:
            command += ["--sequence", str(options.sequence)]
        if options.training:
            command += ["--training", "--optimizer", options.optimizer]
        run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr.strip())
    sys.stderr.write(run.stderr)
    return json.loads(run.stdout)


def print_operators(measured, estimated):
    """One line per operator, the largest device time first."""
    rows = collections.defaultdict(lambda: [0, 0.0, 0, 0.0])
    for name, _, calls, microseconds in measured["ops"]:
        rows[name][0] += calls
        rows[name][1] += microseconds / 1e3
    for row in estimated["rows"]:
        rows[row["operator"]][2] += round(row["calls"])
        rows[row["operator"]][3] += 1e3 * row["seconds"]
    print(f"{'operator':44s} {'calls':>7s} {'ms':>9s}   {'llmcost':>7s} {'ms':>9s} {'error':>8s}")
    for name, (calls, ms, other_calls, other_ms) in sorted(rows.items(), key=lambda r: -max(r[1][1], r[1][3])):
        error = f"{other_ms / ms - 1:+8.0%}" if ms > 0 and other_ms > 0 else f"{'':8s}"
        print(f"{name:44s} {calls:7d} {ms:9.3f}   {other_calls:7d} {other_ms:9.3f} {error}")
    total = 1e3 * estimated["seconds"]
    if measured["device_ms"] > 0:
        print(f"device time {measured['device_ms']:.3f} ms, llmcost {total:.3f} ms ({total / measured['device_ms'] - 1:+.1%})")


def different_products(measured, estimated, has_fused_attention):
    """Products whose number differs: (name, sizes) -> (calls, calls of llmcost).

    The meta device computes fused attention with batched products, which are not compared.
    """
    compared = PRODUCTS[:2] if has_fused_attention else PRODUCTS
    counts = collections.defaultdict(lambda: [0, 0])
    for name, shapes, calls, _ in measured["ops"]:
        if name in compared:
            counts[name, str([s for s in shapes if s])][0] += calls
    for row in estimated["rows"]:
        if row["operator"] in compared and row["phase"] != "optimizer":
            counts[row["operator"], str(row["operands"])][1] += round(row["calls"])
    return {key: tuple(n) for key, n in counts.items() if n[0] != n[1]}


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", help="a name on the Hugging Face Hub, or a config.json")
    parser.add_argument("--training", action="store_true", help="a training step instead of a forward pass")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--sequence", type=int, default=1024)
    parser.add_argument("--precision", choices=list(DTYPES), default="bf16")
    parser.add_argument("--attention-implementation", dest="attention", choices=["auto", "sdpa", "eager"], default="auto")
    parser.add_argument("--optimizer", choices=list(OPTIMIZERS), default="adamw")
    parser.add_argument("--device", help="device of llmcost (default: this GPU)")
    parser.add_argument("--llmcost", default="llmcost", metavar="PROGRAM")
    parser.add_argument("--out", metavar="FILE", help="append the recorded step as a line of JSON")
    parser.add_argument("--dry-run", action="store_true", help="shapes and calls only, without a GPU")
    options = parser.parse_args(arguments)
    if not options.dry_run and not torch.cuda.is_available():
        parser.error("no CUDA device; use --dry-run --device NAME")
    if options.dry_run and not options.device:
        parser.error("--dry-run requires --device")
    if options.dry_run and options.precision == "bf16-mixed":
        parser.error("--dry-run: the meta device has no autocast; use fp32 or bf16")
    options.device = options.device or torch.cuda.get_device_name()
    place = "meta" if options.dry_run else "cuda"
    config = read_config(options.model)
    model = build_model(config, options, place)
    described = {k: v for k, v in model.config.to_dict().items()
                 if v is not None and k not in ("id2label", "label2id", "transformers_version", "_name_or_path")}
    described["architectures"] = [type(model).__name__]
    step = step_of(model, build_inputs(model, options, place), options, place)
    measured = count_step(step) if options.dry_run else profile_step(step)
    estimated = estimated_operators(options, described)
    print_operators(measured, estimated)
    if options.out:
        is_image = "vocab_size" not in described
        row = {"kind": "train" if options.training else "infer", "name": options.model, "config": described,
               "task": "image" if is_image else "lm", "batch": options.batch,
               "sequence": described["image_size"] if is_image else options.sequence,
               "dtype": str(DTYPES[options.precision]), "mixed": options.precision == "bf16-mixed", "attn": options.attention,
               "optim": RECORDED_OPTIMIZERS.get(options.optimizer, options.optimizer), "device": options.device,
               "keeps_last_logits": False, **measured}
        with open(options.out, "a") as out:
            out.write(json.dumps(row) + "\n")
    if not options.dry_run:
        return 0
    differences = different_products(measured, estimated, model.config._attn_implementation == "sdpa")
    for (name, shapes), (calls, other_calls) in differences.items():
        print(f"{name} {shapes}: {calls} calls, llmcost {other_calls}")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
