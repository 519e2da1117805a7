#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Record what other counters print of the configurations among the goldens.

    conventions.py tests/golden -o tests/golden/conventions.txt
    conventions.py tests/golden --peers FOLDER -o tests/golden/conventions.txt   records of others first

Of each model type the configuration with the fewest parameters is built on the meta device, with eager attention and with
scaled_dot_product_attention, and every tool is asked about a pass over 3 x 67 tokens; small ones are executed on random weights
as well, because Python makes some operations of meta tensors out of others that tools have patched. The lines:

    model NAME TYPE BATCH SEQUENCE ENCODER
    DEVICES ATTENTIONS TOOL FIGURE N …
    DEVICES ATTENTIONS TOOL error MESSAGE

NAME.json is the configuration; DEVICES are meta or cpu or both, ATTENTIONS eager or sdpa or both, of which the rest of the line is
true; ENCODER is the length of an encoder's text or 0. A
folder of peers holds JSON files with `config`, `batch`, `sequence` and `TOOL/ATTENTION` objects.

    pip install deepspeed calflops ptflops fvcore thop torchinfo --no-deps
"""
import argparse
import contextlib
import io
import json
import sys
import warnings
from collections import defaultdict
from pathlib import Path

import torch
import torch.nn.functional as F
import transformers

import models
import workloads

BATCH, SEQUENCE = 3, 67
MOST_EXECUTED = 30_000_000  # parameters of a model that is executed on the CPU


class Positional(torch.nn.Module):
    """A model whose arguments stand in an order, and which gives all its tensors in one tuple, for tools that want it so."""

    def __init__(self, model, names):
        super().__init__()
        self.model, self.names = model, names

    def forward(self, *values):
        output = self.model(**dict(zip(self.names, values)))
        return tuple(tensors_in(output.to_tuple() if hasattr(output, "to_tuple") else output))


def tensors_in(value):
    """All tensors of nested tuples."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from tensors_in(part)


def flop_counter(model, arguments):
    from torch.utils.flop_counter import FlopCounterMode
    with torch.no_grad(), FlopCounterMode(display=False) as counter:
        model(**arguments)
    return {"flops": counter.get_total_flops()}


def deepspeed(model, arguments):
    from deepspeed.profiling.flops_profiler import get_model_profile
    with torch.no_grad():
        flops, macs, params = get_model_profile(model, kwargs=arguments, print_profile=False, as_string=False, warm_up=1)
    return {"flops": flops, "macs": macs, "params": params}


def calflops(model, arguments):
    from calflops import calculate_flops
    with torch.no_grad():
        flops, macs, params = calculate_flops(model, kwargs=dict(arguments), print_results=False, output_as_string=False)
    return {"flops": flops, "macs": macs, "params": params}


def ptflops(backend):
    def ask(model, arguments):
        from ptflops import get_model_complexity_info
        text = io.StringIO()
        with torch.no_grad(), contextlib.redirect_stdout(text):
            macs, params = get_model_complexity_info(model, (1,), input_constructor=lambda _: arguments, as_strings=False,
                                                     print_per_layer_stat=False, backend=backend, ost=text)
        if macs is None:
            raise RuntimeError(text.getvalue())
        return {"macs": macs, "params": params}
    return ask


def fvcore(model, arguments):
    from fvcore.nn import FlopCountAnalysis
    with torch.no_grad():
        analysis = FlopCountAnalysis(Positional(model, list(arguments)), tuple(arguments.values()))
        analysis.unsupported_ops_warnings(False).uncalled_modules_warnings(False)
        return {"flops": analysis.total(), **{name: int(n) for name, n in sorted(analysis.by_operator().items())}}


def thop(model, arguments):
    from thop import profile
    macs, params = profile(Positional(model, list(arguments)), tuple(arguments.values()), verbose=False)
    return {"macs": macs, "params": params}


def torchinfo(model, arguments):
    from torchinfo import summary
    found = summary(model, input_data=arguments, verbose=0)
    return {"mult_adds": found.total_mult_adds, "params": found.total_params, "trainable": found.trainable_params,
            "output_bytes": found.total_output_bytes, "param_bytes": found.total_param_bytes, "input_bytes": found.total_input}


TOOLS = {"flop_counter": flop_counter, "deepspeed": deepspeed, "calflops": calflops, "ptflops_aten": ptflops("aten"),
         "ptflops_pytorch": ptflops("pytorch"), "fvcore": fvcore, "thop": thop, "torchinfo": torchinfo}


@contextlib.contextmanager
def unpatched_afterwards():
    """Whatever a tool left in PyTorch's modules is undone: some restore other functions than they replaced."""
    places = (torch, torch.Tensor, F)
    before = [dict(vars(place)) for place in places]
    try:
        yield
    finally:
        for place, held in zip(places, before):
            for name, value in list(vars(place).items()):
                if name not in held:
                    delattr(place, name)
                elif value is not held[name]:
                    setattr(place, name, held[name])


def built(values, attention, device):
    config = models.read_configuration(values)
    model = models.build(config)
    if device == "cpu":
        model = models.with_random_weights(model)
    if attention != "eager":
        model.set_attn_implementation(attention)
    return model, config


def numbers_of(found):
    return [word for name, n in found.items() for word in (name, int(n))]


def recorded(values, attention, device, sequence, tool):
    """The words of a line: figures, or why there are none."""
    try:
        model, config = built(values, attention, device)
        config.get_text_config().use_cache = True
        subject = workloads.Subject(model, config, device)
        arguments = subject.inputs(BATCH, sequence, subject.encoder_length(sequence))
        with unpatched_afterwards(), contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            return numbers_of(TOOLS[tool](model, arguments))
    except Exception as e:  # the model's or the tool's own code
        while e.__cause__ is not None:
            e = e.__cause__
        return ["error", " ".join(f"{type(e).__name__}: {e}".split())[:110]]


def merged(lines):
    """The lines of a model, those of one tool that say the same as one."""
    def joined(lines, column):
        found = {}
        for line in lines:
            rest = (*line[:column], *line[column + 1:])
            found.setdefault(tuple(map(str, rest)), []).append(line)
        return [[*same[0][:column], ",".join(line[column] for line in same), *same[0][column + 1:]] for same in found.values()]
    return sorted(joined(joined(lines, 1), 0), key=lambda line: list(TOOLS).index(line[2]))


def lines_of(path, values):
    model, config = built(values, "eager", "meta")
    subject = workloads.Subject(model, config, "meta")
    sequence = min(SEQUENCE, subject.longest)
    executed = sum(p.numel() for p in model.parameters()) < MOST_EXECUTED
    yield ["model", path.stem, values["model_type"], BATCH, sequence, subject.encoder_length(sequence)]
    yield from merged([device, attention, tool, *recorded(values, attention, device, sequence, tool)]
                      for device in (["meta", "cpu"] if executed else ["meta"]) for attention in ("eager", "sdpa")
                      for tool in TOOLS)


def peers(folder, kept):
    """Lines of records that others made."""
    names = {"flopcounter": "flop_counter"}
    for path in sorted(folder.glob("*.json")):
        record = json.loads(path.read_bytes())
        name = Path(record["config"]).stem
        if not (kept / f"{name}.json").exists():
            raise SystemExit(f"{path}: {name}.json is not among the goldens")
        model_type = json.loads((kept / f"{name}.json").read_bytes())["model_type"]
        yield ["model", name, model_type, record["batch"], record["sequence"], 0]
        lines = []
        for key, found in list(record.items()):
            if "/" in key:
                tool, attention = key.split("/")
                by_operator = found.pop("by_operator", {})
                figures = numbers_of({**found, **dict(sorted(by_operator.items()))})
                lines.append(["meta", attention, names.get(tool, tool), *figures])
        yield from merged(lines)


def preference(golden):
    """Goldens that were recorded without values first, then those with the fewest parameters."""
    with golden.open(encoding="utf-8") as lines:
        facts = dict(line.split()[:2] for line in lines if line.startswith(("device ", "parameters ")))
    return facts.get("device") != "meta", int(facts.get("parameters", 1 << 60)), golden.stem


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the configurations and goldens lie")
    parser.add_argument("--peers", type=Path, help="a folder of records that others made")
    parser.add_argument("--types", nargs="*", help="only these model types")
    parser.add_argument("-o", "--output", type=Path, required=True)
    a = parser.parse_args()
    warnings.filterwarnings("ignore")
    torch.set_num_threads(1)
    models.prepare_transformers()
    smallest = defaultdict(list)
    for golden in sorted(a.folder.glob("*.golden")):
        path = golden.with_suffix(".json")
        smallest[json.loads(path.read_bytes())["model_type"]].append((preference(golden), path))
    lines = [["#", "SPDX-FileCopyrightText: 2026 The llmcost authors"], ["#", "SPDX-License-Identifier: Apache-2.0"],
             ["#", f"recorded with torch {torch.__version__.partition('+')[0]}, transformers {transformers.__version__}: "
                   "tests/oracle/conventions.py"]]
    if a.peers:
        lines += peers(a.peers, a.folder)
    with a.output.open("w", encoding="utf-8") as out:
        def write(line):
            out.write(" ".join(map(str, line)) + "\n")
            out.flush()
        for line in lines:
            write(line)
        for model_type, known in sorted(smallest.items()):
            if a.types and model_type not in a.types:
                continue
            path = min(known)[1]
            print(model_type, path.stem, file=sys.stderr)
            try:
                for line in lines_of(path, json.loads(path.read_bytes())):
                    write(line)
            except Exception as e:
                print(f"  left out: {type(e).__name__}: {e}", file=sys.stderr)


if __name__ == "__main__":
    main()
