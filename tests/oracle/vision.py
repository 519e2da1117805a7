#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what torchvision's classification models are and execute.

    vision.py -o tests/golden/torchvision.txt     all of them, a few lines each
    vision.py --against build/llmcost [NAME...]   where a built llmcost differs, module by module

Built without weights, in evaluation mode, on the meta device; two images of 3x224x224, then a training step of the sum of
all scores. What has one name per tensor or module is kept as a hash: `entries_hash` says of which lines.
"""
import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path

from compact import FIGURES, PRIMITIVES

BATCH, SIDE = 2, 224
HEAD = """# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
# Written by tests/oracle/vision.py: torchvision {torchvision}, torch {torch}.
"""


def build(name):
    import torch
    import torchvision

    named = getattr(torchvision.models, name)
    quick = {"init_weights": False} if name in ("googlenet", "inception_v3") else {}
    try:
        with torch.device("meta"):
            return named(weights=None, **quick).eval()
    except NotImplementedError:  # its constructor reads values (regnet)
        return named(weights=None).to("meta").eval()


def record(name):
    import torch

    return record_of(name, build(name), torch.empty(BATCH, 3, SIDE, SIDE, device="meta"))


def record_of(name, model, *inputs, **named):
    """Tensors, classes, figures by module, a training step of the sum of all that the model hands out."""
    import torch
    from recorder import Recorder
    from torch.utils.flop_counter import FlopCounterMode
    from workloads import kept_by_autograd

    recorder, flops = Recorder(model), FlopCounterMode(display=False)
    with torch.no_grad(), flops, recorder:
        model(*inputs, **named)
    backward_flops, backward = FlopCounterMode(display=False), Recorder(torch.nn.Identity())
    with kept_by_autograd(model) as saved:
        out = model(*inputs, **named)
        loss = (out[0] if isinstance(out, tuple) else out).sum()
    with backward_flops, backward:
        loss.backward()
    unknown = {*recorder.unknown, *backward.unknown}
    if unknown:
        raise SystemExit(f"{name}: calls without a price: {', '.join(sorted(unknown))}")
    modules = recorder.inclusive()
    return dict(name=name, type=type(model).__name__, parameters=sum(p.numel() for p in model.parameters()),
                tensors={n: list(p.shape) for n, p in model.named_parameters()},
                classes={path: type(m).__name__ for path, m in model.named_modules() if path},
                total=modules.pop("", {}), modules=modules, forward=flops.get_total_flops(),
                backward=backward_flops.get_total_flops(), saved=saved.total(), primitives=backward.inclusive().get("", {}))


def row(figures, columns):
    return " ".join(str(figures.get(c, 0)) for c in columns)


def entries_hash(entries):
    """FNV-1a, 64 bits, of `NAME VALUES` lines in the order of their bytes."""
    state = 0xCBF29CE484222325
    for byte in "".join(f"{line}\n" for line in sorted(entries)).encode():
        state = (state ^ byte) * 0x100000001B3 % (1 << 64)
    return f"{state:016x}"


def text_of(r):
    modules = [f"{path} {row(f, FIGURES)}" for path, f in r["modules"].items() if any(f.get(c) for c in FIGURES)]
    hashes = [entries_hash(entries) for entries in (
        (f"{n} {'x'.join(map(str, shape))}" for n, shape in r["tensors"].items()),
        (f"{path} {c}" for path, c in r["classes"].items()), modules)]
    return (f"model {r['name']} {r['type']} {r['parameters']}\n"
            f"hashes {' '.join(hashes)}\n"
            f"total {row(r['total'], FIGURES)}\n"
            f"torch {r['forward']} {r['backward']}\n"
            f"saved {r['saved']}\n"
            f"backward {row(r['primitives'], PRIMITIVES)}\n")


def answer(exe, name):
    """The same of a built llmcost."""
    asked = [exe, "--model", f"torchvision/{name}", "--batch", str(BATCH), "--image", f"{SIDE}x{SIDE}", "--dtype", "float32",
             "--training", "--scopes", "--tensors", "--format", "json"]
    done = subprocess.run(asked, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(done.stderr)
    out = json.loads(done.stdout)
    upper = lambda figures: {k.upper(): v for k, v in figures.items()}
    step = out["training"]
    return dict(type=out["scopes"][0]["class"], parameters=out["totals"]["params"],
                tensors={t["name"]: t["shape"] for t in out["tensors"]},
                classes={s["path"]: s["class"] for s in out["scopes"] if s["path"]},
                total=upper(out["totals"]), modules={s["path"]: upper(s) for s in out["scopes"] if s["path"]},
                forward=out["totals"]["torch_flops"], backward=step["torch_flops"]["backward"], saved=step["saved_bytes"])


def differences(expected, got):
    for key in ("type", "parameters", "forward", "backward", "saved"):
        if expected[key] != got[key]:
            yield f"{key}: expected {expected[key]}, got {got[key]}"
    for key in ("tensors", "classes"):
        for name in sorted(expected[key].keys() | got[key].keys()):
            if expected[key].get(name) != got[key].get(name):
                yield f"{name}: expected {expected[key].get(name)}, got {got[key].get(name)}"
    for path in ["", *sorted(expected["modules"].keys() | got["modules"].keys())]:
        left, right = (r["modules"].get(path, {}) if path else r["total"] for r in (expected, got))
        for figure in FIGURES:
            if left.get(figure, 0) != right.get(figure, 0):
                yield f"{path or 'all'} {figure}: expected {left.get(figure, 0)}, got {right.get(figure, 0)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("-o", "--output", type=Path)
    parser.add_argument("--against", metavar="EXE")
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    import torch
    import torchvision

    names = a.names or sorted(torchvision.models.list_models(module=torchvision.models))
    if a.against:
        found = 0
        for name in names:
            told = list(differences(record(name), answer(a.against, name)))
            print(f"{name}: {len(told)} differences", *told[:20], sep="\n  ")
            found += len(told)
        return 1 if found else 0
    versions = dict(torchvision=torchvision.__version__.partition("+")[0], torch=torch.__version__.partition("+")[0])
    text = HEAD.format(**versions) + "".join(text_of(record(name)) for name in names)
    (a.output.write_text(text, encoding="utf-8") if a.output else sys.stdout.write(text))
    return 0


if __name__ == "__main__":
    sys.exit(main())
