# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""check.py LLMCOST [--record]: compares examples/describe_module.py with PyTorch and with the recorded descriptions.

`--record` writes the descriptions and `counts.csv`: parameters and FLOPs that PyTorch counts. The test of tests/described reads
both without PyTorch. Exit code 77: PyTorch is missing.
"""
import contextlib
import io
import json
import pathlib
import re
import sys

try:
    import torch
except ImportError:
    sys.exit(77)

FOLDER = pathlib.Path(__file__).parent
RECORDED_VERSION = "2.15."  # of PyTorch; others may export other names
sys.path[:0] = [str(FOLDER), str(FOLDER.parents[1] / "examples")]
import describe_module  # noqa: E402
import modules  # noqa: E402


def export(name, *options):
    """Runs the exporter with these arguments; returns its output and the text of its error, if there is one."""
    sys.argv = ["describe_module.py", f"modules:{name}", *options]
    out, error = io.StringIO(), ""
    with contextlib.redirect_stdout(out):
        try:
            describe_module.main()
        except SystemExit as end:
            error = str(end)
    return out.getvalue(), error


def fail(text):
    print("check.py:", text)
    sys.exit(1)


def main():
    llmcost, record = sys.argv[1], "--record" in sys.argv[2:]
    rows = ["module,batch,params,torch_flops"]
    for name, shapes in modules.SHAPES.items():
        (described, problem), (checked, difference) = export(name, *shapes), export(name, *shapes, "--check", llmcost)
        if problem or difference:
            fail(f"{name}: {problem} {checked} {difference}")
        ours, params, own_flops, flops = re.fullmatch(r"parameters (\d+) of (\d+), FLOPs (\d+) of (\d+)\n", checked).groups()
        if (ours, own_flops) != (params, flops):
            fail(f"{name}: {checked}")
        rows.append(f"{name},{shapes[0].removeprefix('int:').split(',')[0]},{params},{flops}")
        file = FOLDER / f"{name}.json"
        if record:
            file.write_text(described)
        elif torch.__version__.startswith(RECORDED_VERSION) and json.loads(file.read_text()) != json.loads(described):
            fail(f"{name}: the description differs from {file.name}: {described}")
    counts = FOLDER / "counts.csv"
    text = "\n".join(rows) + "\n"
    if record:
        counts.write_text(text)
    elif counts.read_text() != text:
        fail(f"counts.csv differs: {text}")
    out, error = export("Unsupported", "2,4")
    if out or "no function of llmcost does what aten.cumsum" not in error:
        fail(f"an operation without a function must be an error: {out}{error}")


main()
