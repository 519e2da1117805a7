#!/usr/bin/env python3
# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Writes a module of PyTorch as a description that llmcost reads (docs/own-models.md).

    import describe_module, torch
    text = describe_module.describe(module.eval(), (torch.randn(2, 3, 224, 224),))

The module is exported (torch.export), its first dimension being the batch. Layers that llmcost knows by their class become one
step each; what lies between them becomes functions. What has no function is an error that names it.

    python3 describe_module.py torchvision.models:resnet18 2,3,224,224 > resnet18.json
    python3 describe_module.py torchvision.models:resnet18 2,3,224,224 --check llmcost

`--check` holds parameters and FLOPs that PyTorch counts against those of llmcost.
"""
import argparse
import importlib
import json
import operator
import subprocess
import sys
import tempfile

import torch

# class -> the attributes that its constructor was given
CONV = ("in_channels", "out_channels", "kernel_size", "stride", "padding", "dilation", "groups", "bias")
POOL = ("kernel_size", "stride", "padding", "ceil_mode")
RECURRENT = ("input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional")
LAYERS = {
    "Linear": ("in_features", "out_features", "bias"), "Embedding": ("num_embeddings", "embedding_dim"),
    "Conv1d": CONV, "Conv2d": CONV, "Conv3d": CONV, "ConvTranspose1d": CONV + ("output_padding",),
    "ConvTranspose2d": CONV + ("output_padding",), "ConvTranspose3d": CONV + ("output_padding",),
    "BatchNorm1d": ("num_features", "affine"), "BatchNorm2d": ("num_features", "affine"), "BatchNorm3d": ("num_features", "affine"),
    "GroupNorm": ("num_groups", "num_channels"), "LayerNorm": ("normalized_shape", "elementwise_affine", "bias"),
    "LayerNorm2d": ("normalized_shape",),
    "MaxPool1d": POOL + ("dilation",), "MaxPool2d": POOL + ("dilation",), "MaxPool3d": POOL + ("dilation",),
    "AvgPool1d": POOL, "AvgPool2d": POOL, "AvgPool3d": POOL,
    "AdaptiveAvgPool1d": ("output_size",), "AdaptiveAvgPool2d": ("output_size",), "AdaptiveAvgPool3d": ("output_size",),
    "AdaptiveMaxPool2d": ("output_size",), "ReLU": ("inplace",), "ReLU6": ("inplace",), "Hardtanh": ("inplace",),
    "SiLU": ("inplace",), "Hardswish": ("inplace",), "Hardsigmoid": ("inplace",), "Sigmoid": (), "Tanh": (), "Softplus": (),
    "GELU": ("approximate",), "Softmax": ("dim",), "Dropout": ("p",), "Dropout2d": ("p",), "Identity": (),
    "StochasticDepth": (), "Flatten": ("start_dim", "end_dim"), "Permute": ("dims",), "PixelShuffle": ("upscale_factor",),
    "ChannelShuffle": ("groups",), "MultiheadAttention": ("embed_dim", "num_heads"),
    "LSTM": RECURRENT, "GRU": RECURRENT, "RNN": RECURRENT + ("nonlinearity",),
}
SAME = ("relu", "silu", "sigmoid", "tanh", "hardswish", "hardsigmoid", "softplus", "exp", "log", "sqrt", "rsqrt", "reciprocal", "neg",
        "abs", "sin", "cos", "erf", "matmul", "bmm", "contiguous", "clone", "maximum", "minimum")
SHAPED = ("view", "reshape", "expand", "_unsafe_view")
COMPARED = ("eq", "ne", "gt", "ge", "lt", "le")  # what makes a mask: no FLOPs
NOTHING = ("lift_fresh_copy", "detach", "alias", "to", "_to_copy", "dropout", "feature_dropout")


class Describer:
    def __init__(self, module, inputs):
        if type(module).__name__ in LAYERS and len(inputs) == 1:  # a layer by itself: the step needs a module around it
            module = torch.nn.Sequential(module).train(module.training)
        batch = torch.export.Dim("batch")
        shapes = tuple({0: batch} if isinstance(x, torch.Tensor) and x.dim() else None for x in inputs)
        self.module, self.program = module, torch.export.export(module, inputs, dynamic_shapes=shapes, strict=False)
        signature = self.program.graph_signature
        self.parameters = {**signature.inputs_to_parameters, **signature.inputs_to_buffers, **signature.inputs_to_lifted_tensor_constants}
        self.root = {"class": type(module).__name__, "inputs": {}, "layers": []}
        self.open = [("", self.root["layers"])]  # the modules that the place to write is in
        self.steps, self.leaf, self.symbol, self.layers = [], None, None, set()  # steps: (step, reads, made)

    # ---- numbers

    def number(self, n):
        if isinstance(n, torch.fx.Node):
            n = n.meta["val"]
        if isinstance(n, (int, bool)):
            return n
        text = str(n.node.expr if hasattr(n, "node") else n)
        return text.replace(self.symbol, "batch") if self.symbol else text

    def sizes(self, node):
        return [self.number(n) for n in node.meta["val"].shape]

    # ---- where a step is written

    @staticmethod
    def name(path):
        """A name in the module around: one of a ModuleList keeps its number."""
        head, _, last = path.rpartition(".")
        return f"{head.replace('.', '_')}.{last}" if head and last.isdigit() else path.replace(".", "_")

    def place(self, chain):
        """The list of steps of the module at the end of a chain of (path, class)."""
        keep = 1
        while keep < len(self.open) and keep <= len(chain) and self.open[keep][0] == chain[keep - 1][0]:
            keep += 1
        del self.open[keep:]
        for path, kind in chain[keep - 1:]:
            name = path[len(self.open[-1][0]):].lstrip(".")
            step = {"type": kind, "name": self.name(name), "layers": []}
            self.open[-1][1].append(step)
            self.open.append((path, step["layers"]))
        return self.open[-1][1]

    def write(self, chain, step, reads, made):
        self.place(chain).append(step)
        self.steps.append((step, list(reads), made))

    # ---- nodes

    def chain(self, node):
        stack = [(path, kind.split(".")[-1]) for path, kind in node.meta.get("nn_module_stack", {}).values()]
        return [(path, kind) for path, kind in stack if path and not path.startswith("_")]

    def run(self):
        for node in self.program.graph.nodes:
            if node.op == "placeholder":
                self.take(node)
            elif node.op == "call_function" and isinstance(node.meta.get("val"), (torch.Tensor, list, tuple)):
                self.call(node)
            elif node.op == "output":
                last = node.args[0][0]
                self.steps.append(({}, [last.name], None))
        self.declare_unread()
        self.connect()
        return self.root

    def declare_unread(self):
        """Parameters that the pass does not read exist all the same."""
        told = self.layers | {self.parameters[made] for step, _, made in self.steps if "parameter" in step}
        for path, parameter in self.module.named_parameters():
            owner, _, name = path.rpartition(".")
            if owner in told or path in told or any(owner.startswith(layer + ".") for layer in self.layers):
                continue
            parts = owner.split(".") if owner else []
            chain = [(".".join(parts[:i + 1]), self.module.get_submodule(".".join(parts[:i + 1]))) for i in range(len(parts))]
            chain = [(at, type(module).__name__) for at, module in chain if not isinstance(module, torch.nn.ModuleList)]
            self.place(chain).append({"parameter": name, "shape": list(parameter.shape), "output": path.replace(".", "_")})

    def take(self, node):
        if node.name in self.parameters:
            return
        value = node.meta["val"]
        if self.symbol is None and not isinstance(value.shape[0], int):
            self.symbol = str(value.shape[0].node.expr)
        shape = {"shape": self.sizes(node)}
        if not value.dtype.is_floating_point:
            shape["dtype"] = "int64"
        self.root["inputs"][node.name] = shape
        self.steps.append(({}, [], node.name))

    def call(self, node):
        chain = self.chain(node)
        for i, (path, kind) in enumerate(chain):
            module = self.module.get_submodule(path)
            known = next((c.__name__ for c in type(module).__mro__ if c.__name__ in LAYERS and c.forward is type(module).forward), None)
            if known is not None and LAYERS[known][:len(RECURRENT)] == RECURRENT:
                return self.recurrent(node, chain[:i], path, known, module)
            if known is not None:
                return self.layer(node, chain[:i], path, known, module)
        self.leaf = None
        self.function(node, chain)

    def layer(self, node, chain, path, kind, module):
        reads = [n.name for n in node.all_input_nodes if n.name not in self.parameters and isinstance(n.meta["val"], torch.Tensor)]
        attends = kind == "MultiheadAttention"  # reads queries, then keys
        # differs between calls of one module
        call = next(key for key, (at, _) in node.meta["nn_module_stack"].items() if at == path)
        if self.leaf and self.leaf[0] == call and (attends or any(r in self.leaf[1] for r in reads)):  # one more operation inside of it
            self.leaf[1].add(node.name)
            step, before, _ = self.steps[self.leaf[2]]
            if attends:
                before = before + [r for r in reads if r not in self.leaf[1] and r not in before]
            if kind == "MultiheadAttention" and "scaled_dot_product_attention" in str(node.target):
                step["need_weights"] = False
            self.steps[self.leaf[2]] = (step, before, node.name)
            return
        step = self.known(chain, path, kind, module)
        if type(module).__name__ != kind:
            step["class"] = type(module).__name__
        if kind == "LayerNorm2d":
            step["normalized_shape"] = step["normalized_shape"][0]
        if step.get("padding") == "same":
            step["padding"], step["same"] = 0, True
        step = {k: v for k, v in step.items() if v is not None}
        self.write(chain, step, reads[:1] if kind != "MultiheadAttention" else reads, node.name)
        self.leaf = (call, {node.name}, len(self.steps) - 1)

    def known(self, chain, path, kind, module):
        """The step of a layer, with the arguments of its constructor."""
        step = {"type": kind, "name": self.name(path[len(chain[-1][0]) if chain else 0:].lstrip("."))}
        for name in LAYERS[kind]:
            value = getattr(module, name)
            if name == "bias" and not isinstance(value, bool):
                value = value is not None
            step[name] = list(value) if isinstance(value, (tuple, torch.Size)) else value
        if path in self.layers:  # one more call: its parameters are there
            step["again"] = True
        self.layers.add(path)
        return step

    def recurrent(self, node, chain, path, kind, module):
        """One call of a recurrent layer; its zeros are part of it, its results are what `getitem` selects."""
        if node.target is operator.getitem:
            return self.function(node, chain)
        if getattr(module, "proj_size", 0):
            raise SystemExit(f"{path}: llmcost has no LSTM with proj_size")
        if str(node.target).split(".")[1] in ("lstm", "gru", "rnn_tanh", "rnn_relu"):
            self.write(chain, self.known(chain, path, kind, module), [node.args[0].name], node.name)
        self.leaf = None

    def tensors(self, node):
        """What a node reads, parameters declared where they are first read."""
        out = []
        for n in node.all_input_nodes:
            if not isinstance(n.meta.get("val"), (torch.Tensor, list, tuple)):
                continue
            if n.name in self.parameters and not any(made == n.name for _, _, made in self.steps):
                path = self.parameters[n.name]
                owner = path.rpartition(".")[0]
                chain = [c for c in self.chain(node) if owner == c[0] or owner.startswith(c[0] + ".")]
                kind = "parameter" if n.name in self.program.graph_signature.inputs_to_parameters else "buffer"
                self.write(chain, {kind: path.rpartition(".")[2], "shape": self.sizes(n)}, [], n.name)
            out.append(n.name)
        return out

    def function(self, node, chain):
        if node.target is operator.getitem:
            source, index = node.args
            step, _, made = next(s for s in self.steps if s[2] == source.name)
            step.setdefault("output", [])
            while len(step["output"]) <= index:
                step["output"].append(f"{source.name}_{len(step['output'])}")
            step["output"][index] = node.name
            self.steps.append(({}, [], node.name))
            return
        name = node.target.__name__.split(".")[0]
        plain, args = name.rstrip("_") or name, node.args
        if plain in ("fill", "copy", "zero") and not node.users:  # into a part of a tensor, which others read completely
            return
        reads = self.tensors(node)
        step = {"function": plain}
        number = self.number
        if plain == "einsum":
            return self.product(node, chain, reads)
        if plain in NOTHING or plain in COMPARED and len(reads) == 1:
            step = {"function": "dropout", "p": 0}
            reads = reads[:1]
        elif plain in ("add", "sub", "mul", "div"):
            if name.endswith("_"):
                step["inplace"] = True
            if len(reads) == 1 and len(args) > 1 and isinstance(args[1], torch.fx.Node):
                reads = reads * 2
        elif plain in SAME:
            if name.endswith("_"):
                step["inplace"] = True
        elif plain in SHAPED:
            step = {"function": "view" if plain == "_unsafe_view" else plain, "shape": self.sizes(node)}
        elif plain == "flatten":
            step.update(start_dim=args[1] if len(args) > 1 else 0, end_dim=args[2] if len(args) > 2 else -1)
        elif plain in ("transpose", "swapaxes"):
            step.update(function="transpose", dim0=args[1], dim1=args[2])
        elif plain == "permute":
            step["dims"] = list(args[1])
        elif plain in ("softmax", "unsqueeze", "squeeze"):
            step["dim"] = args[1] if len(args) > 1 else -1
        elif plain in ("mean", "sum", "amax"):
            step.update(dim=list(args[1]) if isinstance(args[1], (list, tuple)) else args[1], keepdim=len(args) > 2 and bool(args[2]))
        elif plain in ("cat", "stack"):
            step["dim"] = args[1] if len(args) > 1 else 0
        elif plain in ("chunk", "split", "split_with_sizes"):
            step = {"function": "split", "dim": args[2] if len(args) > 2 else 0,
                    "split_size": [number(v.shape[args[2] if len(args) > 2 else 0]) for v in node.meta["val"]]}
        elif plain == "slice":
            at, end = args[1], node.args[3] if len(args) > 3 else None
            step.update(dim=at, start=number(args[2] or 0), step=args[4] if len(args) > 4 else 1)
            step["end"] = number(args[0].meta["val"].shape[at]) if end is None or (isinstance(end, int) and end > 1 << 40) else number(end)
        elif plain == "select":
            step.update(dim=args[1])
        elif plain == "pow":
            step["exponent"] = args[1]
        elif plain == "gelu":
            step["approximate"] = node.kwargs.get("approximate", "none")
        elif plain == "adaptive_avg_pool2d":
            step["output_size"] = list(args[1])
        elif plain in ("max_pool2d", "avg_pool2d"):
            step.update(kernel_size=args[1], stride=args[2] if len(args) > 2 and args[2] else args[1], padding=args[3] if len(args) > 3 else 0)
        elif plain == "pad":
            step["pad"] = list(args[1])
        elif plain in ("roll", "linear"):
            pass
        elif plain == "masked_fill":
            reads = reads[:1]
        elif plain == "index" and len(args[1]) == 1:
            reads = [args[0].name, args[1][0].name]
        elif plain == "scaled_dot_product_attention":
            step["is_causal"] = bool(node.kwargs.get("is_causal", args[5] if len(args) > 5 else False))
        elif plain in ("zeros", "ones", "full", "new_zeros", "new_ones"):
            step, reads = {"function": "zeros", "size": self.sizes(node)}, []
        else:
            raise SystemExit(f"{chain[-1][0] if chain else 'the module'}: no function of llmcost does what {node.target} does")
        self.write(chain, step, reads, node.name)

    def product(self, node, chain, reads):
        """An einsum of two tensors that is one batched product, the contracted letter last in the first of them."""
        first, second, out = node.args[0].replace(" ", "").replace("->", ",").split(",")
        batch = out[:-2]
        if len(reads) != 2 or first[:-1] != out[:-1] or second[:-2] != batch or set(second[-2:]) != {first[-1], out[-1]}:
            raise SystemExit(f"{chain[-1][0] if chain else 'the module'}: einsum {node.args[0]} is no batched product")
        if second[-1] == first[-1]:
            self.write(chain, {"function": "transpose", "dim0": -2, "dim1": -1}, reads[1:], node.name + "_t")
            reads = [reads[0], node.name + "_t"]
        self.write(chain, {"function": "matmul"}, reads, node.name)

    def connect(self):
        """Names for tensors that somebody reads later; what the step before made needs none."""
        before, needed = None, set()
        for step, reads, made in self.steps:
            nothing = "parameter" in step or "buffer" in step
            if step and reads and reads != [before]:
                step["input"] = reads if len(reads) > 1 else reads[0]
                needed.update(reads)
            if not step and reads and reads[0] != before:
                self.root["output"] = reads[0]
                needed.update(reads)
            if step and made is not None and not nothing and step.get("function") != "zeros":
                before = step["output"][0] if "output" in step else made
            elif not step and made in self.root["inputs"] and before is None:
                before = made
        for step, _, made in self.steps:
            if step and "output" not in step and (made in needed or "parameter" in step or "buffer" in step):
                step["output"] = made


def describe(module, inputs):
    """A description of a module as text; `inputs` is what it is called with, the batch first and at least 2."""
    return json.dumps(Describer(module, inputs).run(), indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("module", help="package.module:callable that makes the module")
    parser.add_argument("shape", nargs="+", help="sizes of each input, the batch (at least 2) first: 2,3,224,224; of integers: int:2,128")
    parser.add_argument("--check", metavar="LLMCOST", help="hold the description against what PyTorch counts")
    options = parser.parse_args()
    package, _, name = options.module.partition(":")
    module = getattr(importlib.import_module(package), name)().eval()
    sizes = [(shape.startswith("int:"), [int(n) for n in shape.removeprefix("int:").split(",")]) for shape in options.shape]
    inputs = tuple(torch.zeros(size, dtype=torch.long) if integers else torch.randn(size) for integers, size in sizes)
    text = describe(module, inputs)
    if not options.check:
        return print(text)
    from torch.utils.flop_counter import FlopCounterMode
    torch.backends.mha.set_fastpath_enabled(False)  # one call that the counter knows nothing of; so is the fused attention of a CPU
    with FlopCounterMode(display=False) as counter, torch.device("meta"):
        module.to("meta")(*(x.to("meta") for x in inputs))
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(text)
        file.flush()
        said = subprocess.run([options.check, "--config", file.name, "--batch", str(sizes[0][1][0]), "--format", "json"],
                              capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(said.stderr)
    totals = json.loads(said.stdout)["totals"]
    ours, theirs = (totals["params"], totals["torch_flops"]), (sum(p.numel() for p in module.parameters()), counter.get_total_flops())
    print(f"parameters {ours[0]} of {theirs[0]}, FLOPs {ours[1]} of {theirs[1]}")
    return 0 if ours == theirs else sys.exit(1)


if __name__ == "__main__":
    main()
