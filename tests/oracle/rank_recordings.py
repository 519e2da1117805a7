#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes tests/cli/rank_recordings.txt from recordings of the ranks of PyTorch jobs.

usage: rank_recordings.py FOLDER > tests/cli/rank_recordings.txt

A recording is gzipped JSON: a configuration, options, and for some ranks the parts of parameters, the optimizer state and
the collectives of a step, as PyTorch's fake process group had them. Lines of the output:

    recording NAME
    options WORDS            of `llmcost train`
    config JSON              the configuration
    rank N PARAMETERS OPTIMIZER GRADIENTS [forward FLOPS backward FLOPS] [saved BYTES] [peak BYTES]
    OP GROUP SIZE IN OUT TYPE PHASE MODULE [peer N]     a collective; MODULE is `-` for the model
    same N                   the collectives of another rank
"""
import glob
import gzip
import json
import os
import sys

MESH = {"dp": "--dp", "fsdp": "--dp", "dp_replicate": "--dp-replicate", "tp": "--tp", "pp": "--pp", "cp": "--cp"}
KIND = {"ddp": ["--ddp"], "fsdp2": ["--fsdp"], "transformers": ["--split", "transformers"], "tp": ["--split", "torch"],
        "tp+fsdp2": ["--split", "torch", "--fsdp"], "cp": ["--split", "torch"], "pipeline": []}
OPTIONS = {
    "batch": lambda v: ["--batch", v],
    "sequence": lambda v: ["--sequence", v],
    "dtype": lambda v: ["--precision", v],
    "attention": lambda v: ["--attention-implementation", {"ring": "sdpa"}.get(v, v)],
    "optimizer": lambda v: ["--optimizer", v + ":single"],
    "mp": lambda v: ["--fsdp-parameter-dtype", v.split("/")[0], "--fsdp-reduce-dtype", v.split("/")[1]],
    "reshard": lambda v: ["--fsdp-reshard", str(v).lower()],
    "wrap": lambda v: ["--fsdp-wrap", v],
    "style": lambda v: ["--tp-plan", v],
    "lora": lambda v: ["--adapter", f"lora:r={v['r']},targets={'+'.join(v['target_modules'])}"],
    "freeze": lambda v: [word for name in v for word in ("--freeze", name)],
    "transformers": lambda v: (["--ep", v["ep_size"]] if "ep_size" in v else []) + (
        ["--fsdp-parameter-dtype", "bf16", "--fsdp-reduce-dtype", "fp32"] if v.get("fsdp_mixed_precision") else []),
    "recompute": lambda v: ["--recompute", "full"],
    "accumulate": lambda v: ["--gradient-accumulation", v],
    "sharding": lambda v: {"fsdp": ["--fsdp"], "ddp": ["--ddp"]}[v],
    "sync": lambda v: ["--gradient-sync", v],
    "clip": lambda v: ["--clip", v],
    "bucket_cap_mb": lambda v: ["--bucket-mb", v],
    "rotate": lambda v: ["--cp-rotate", v],
    "schedule": lambda v: ["--schedule", v.removeprefix("Schedule")],
    "stages_per_rank": lambda v: ["--stages-per-rank", v],
    "microbatches": lambda v: ["--microbatches", v],
    "tensors": lambda v: [],
}
UNREAD = {"_name_or_path", "architectures", "chunk_size_feed_forward", "id2label", "label2id", "initializer_range",
          "output_attentions", "output_hidden_states", "problem_type", "return_dict", "transformers_version", "use_cache",
          "is_encoder_decoder", "bos_token_id", "eos_token_id", "pretraining_tp", "qk_head_dim", "_sliding_window_pattern"}


def main():
    out = []
    for path in sorted(glob.glob(os.path.join(sys.argv[1], "*.json.gz"))):
        with gzip.open(path) as text:
            recording = json.load(text)
        if recording["kind"] == "schedule":
            continue
        words = [w for n, size in recording["mesh"].items() for w in (MESH[n], size)] + KIND[recording["kind"]]
        for key, value in recording["options"].items():
            words += OPTIONS[key](value)
        config = {k: v for k, v in recording["config"].items() if k not in UNREAD and v is not None}
        out += ["recording " + recording["name"], "options " + " ".join(map(str, words)),
                "config " + json.dumps(config, separators=(",", ":"))]
        written = {}
        for rank, r in recording["ranks"].items():
            line = f"rank {rank} {r['parameters_bytes']} {r['optimizer_bytes']} {r['gradients_bytes']}"
            if "forward" in r.get("flops", {}):
                line += f" forward {r['flops']['forward']} backward {r['flops']['backward']}"
            if "saved_bytes" in r:
                line += f" saved {r['saved_bytes']}"
            if rank == "0" and recording["kind"] == "fsdp2" and "memory" in r:
                line += f" peak {r['memory']['peak']['Total']}"
            out.append(line)
            lines = [" ".join(str(c[k]) for k in ("op", "group", "group_size", "in_bytes", "out_bytes", "dtype", "phase"))
                     + " " + (c["module"].replace(" ", "_") or "-") + (f" peer {c['peer']}" if "peer" in c else "")
                     for c in r["collectives"]]
            key = "\n".join(lines)
            out += [f"same {written[key]}"] if key in written else lines
            written.setdefault(key, rank)
    print("\n".join(out))


if __name__ == "__main__":
    main()
