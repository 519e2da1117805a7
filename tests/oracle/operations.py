# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Small programs of tensor operations: how torch executes each line, and what it answers."""
from collections import Counter

import torch
import torch.nn.functional as F
from torch.utils._python_dispatch import _disable_current_modes
from torch.utils.flop_counter import FlopCounterMode

from recorder import Recorder

PRIMITIVES = "ADD MULT DIV SQRT EXP LOG TANH ERF TRIG POW NEG CMP".split()


class Watch(Recorder):
    """A recorder without the copies that autograd makes of what is overwritten in place: they are kept, not written."""

    overwrites = False

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        if self.overwrites and function._schema.name == "aten::clone":
            return function(*args, **(kwargs or {}))
        return super().__torch_dispatch__(function, types, args, kwargs)


class Machine:
    """Executes the lines of a program and remembers whose storages are nobody's activations."""

    def __init__(self, device):
        self.device, self.values, self.own = device, {}, []

    def leaf(self, sizes, gradient=True):
        with _disable_current_modes():  # no recorder sees the birth of a parameter
            tensor = torch.ones(sizes, device=self.device, requires_grad=gradient)
        self.own.append(tensor)
        return tensor

    # what a program declares
    def param(self, sizes):
        return self.leaf(sizes)

    def buffer(self, sizes):
        return self.leaf(sizes, False)

    def input(self, sizes):
        return torch.ones(sizes, device=self.device)

    def index(self, n):
        return torch.zeros(n, dtype=torch.int64, device=self.device)


def padded(x, dim, more):
    dims = [0] * (2 * x.dim())
    dims[2 * (x.dim() - 1 - dim) + 1] = more
    return F.pad(x, dims)


def convolved(call):
    def convolve(m, x, out, kernel, groups, stride, padding, bias):
        weight = m.leaf([out, x.shape[1] // groups] + [kernel] * (x.dim() - 2))
        return call(x, weight, m.leaf([out]) if bias else None, stride, padding, 1, groups)
    return convolve


def normed_by_channel(m, x, evaluates):
    """In evaluation by statistics that are given, with weight and bias; else by those of x itself."""
    if not evaluates:
        return F.batch_norm(x, None, None, training=True)
    given = [m.leaf([x.shape[1]], False) for _ in range(2)]
    return F.batch_norm(x, *given, *(m.leaf([x.shape[1]]) for _ in range(2)))


def normed_by_group(m, x, groups):
    return F.group_norm(x, groups, *(m.leaf([x.shape[1]]) for _ in range(2)))


def gathered_along(m, x, n):
    return x.gather(-1, torch.zeros([*x.shape[:-1], n], dtype=torch.int64, device=m.device))


def index_added(m, into, source):
    return into.index_add_(0, m.index(source.shape[0]), source)


def added_product(m, x, y, **scales):
    return torch.baddbmm(m.leaf([x.shape[0], 1, y.shape[2]], False), x, y, **scales)


# name: (kinds of arguments: t tensor, i integer, s sizes; function of the machine and the arguments)
OPERATIONS = {
    "transpose": ("tii", lambda m, x, a, b: x.transpose(a, b)),
    "permute": ("ts", lambda m, x, order: x.permute(order)),
    "unsqueeze": ("ti", lambda m, x, dim: x.unsqueeze(dim)),
    "squeeze": ("ti", lambda m, x, dim: x.squeeze(dim)),
    "slice": ("tiii", lambda m, x, dim, n, step: torch.ops.aten.slice(x, dim, 0, (n - 1) * step + 1, step)),
    "select": ("ti", lambda m, x, dim: x.select(dim, 0)),
    "expand": ("ts", lambda m, x, sizes: x.expand(sizes)),
    "reshape": ("ts", lambda m, x, sizes: x.reshape(sizes)),
    "contiguous": ("t", lambda m, x: x.contiguous()),
    "contiguous_format": ("t", lambda m, x: x.to(memory_format=torch.contiguous_format)),
    "clone": ("t", lambda m, x: x.clone()),
    "bfloat16": ("t", lambda m, x: x.to(torch.bfloat16)),
    "float32": ("t", lambda m, x: x.to(torch.float32)),
    "repeat_interleave": ("tii", lambda m, x, dim, n: x.repeat_interleave(n, dim)),
    "cat": ("tti", lambda m, x, y, dim: torch.cat((x, y), dim)),
    "pad": ("tii", lambda m, x, dim, more: padded(x, dim, more)),
    "gather_along": ("ti", gathered_along),
    "index_select": ("ti", lambda m, x, n: x.index_select(0, m.index(n))),
    "constant": ("s", lambda m, sizes: torch.ones(sizes, device=m.device)),
    "zeros_like": ("t", lambda m, x: torch.zeros_like(x)),
    "masked_fill": ("t", lambda m, x: x.masked_fill(torch.ones(x.shape, device=m.device, dtype=torch.bool), 0.0)),
    "top_k": ("ti", lambda m, x, k: x.topk(k, -1).values),
    "neg": ("t", lambda m, x: -x),
    "exp": ("t", lambda m, x: x.exp()),
    "expm1": ("t", lambda m, x: x.expm1()),
    "log": ("t", lambda m, x: x.log()),
    "log1p": ("t", lambda m, x: x.log1p()),
    "sin": ("t", lambda m, x: x.sin()),
    "cos": ("t", lambda m, x: x.cos()),
    "acos": ("t", lambda m, x: x.acos()),
    "tanh": ("t", lambda m, x: x.tanh()),
    "erf": ("t", lambda m, x: x.erf()),
    "sqrt": ("t", lambda m, x: x.sqrt()),
    "rsqrt": ("t", lambda m, x: x.rsqrt()),
    "reciprocal": ("t", lambda m, x: x.reciprocal()),
    "root_power": ("t", lambda m, x: x ** 0.5),
    "inverse_root_power": ("t", lambda m, x: x ** -0.5),
    "sigmoid": ("t", lambda m, x: x.sigmoid()),
    "log_sigmoid": ("t", lambda m, x: F.logsigmoid(x)),
    "silu": ("t", lambda m, x: F.silu(x)),
    "gelu": ("t", lambda m, x: F.gelu(x)),
    "gelu_tanh": ("t", lambda m, x: F.gelu(x, approximate="tanh")),
    "relu": ("t", lambda m, x: F.relu(x)),
    "hardswish": ("t", lambda m, x: F.hardswish(x)),
    "hardsigmoid": ("t", lambda m, x: F.hardsigmoid(x)),
    "softplus": ("t", lambda m, x: F.softplus(x)),
    "compare": ("t", lambda m, x: x.clamp(max=0.5)),
    "absolute": ("t", lambda m, x: x.abs()),
    "clamp": ("t", lambda m, x: x.clamp(0.25, 0.5)),
    "power": ("t", lambda m, x: x ** 2.5),
    "pow": ("ti", lambda m, x, exponent: x ** exponent),
    "add_scalar": ("t", lambda m, x: x + 3.0),
    "mul_scalar": ("t", lambda m, x: x * 3.0),
    "div_scalar": ("t", lambda m, x: x / 3.0),
    "add": ("tt", lambda m, x, y: x + y),
    "sub": ("tt", lambda m, x, y: x - y),
    "mul": ("tt", lambda m, x, y: x * y),
    "div": ("tt", lambda m, x, y: x / y),
    "maximum": ("tt", lambda m, x, y: torch.maximum(x, y)),
    "minimum": ("tt", lambda m, x, y: torch.minimum(x, y)),
    "where": ("tt", lambda m, x, y: torch.where(x == y, x, y)),
    "add_": ("tt", lambda m, x, y: x.add_(y)),
    "mul_": ("tt", lambda m, x, y: x.mul_(y)),
    "div_": ("tt", lambda m, x, y: x.div_(y)),
    "mul_scalar_": ("t", lambda m, x: x.mul_(3.0)),
    "div_scalar_": ("t", lambda m, x: x.div_(3.0)),
    "clamp_": ("t", lambda m, x: x.clamp_(0.25, 0.5)),
    "index_add_": ("tt", index_added),
    "sum": ("tii", lambda m, x, dim, keep: x.sum(dim, keepdim=bool(keep))),
    "mean": ("tii", lambda m, x, dim, keep: x.mean(dim, keepdim=bool(keep))),
    "std": ("tii", lambda m, x, dim, keep: x.std(dim, unbiased=False, keepdim=bool(keep))),
    "variance": ("tii", lambda m, x, dim, keep: x.var(dim, unbiased=False, keepdim=bool(keep))),
    "logsumexp": ("tii", lambda m, x, dim, keep: x.logsumexp(dim, keepdim=bool(keep))),
    "vector_norm": ("tii", lambda m, x, dim, keep: torch.linalg.vector_norm(x, dim=dim, keepdim=bool(keep))),
    "max": ("tii", lambda m, x, dim, keep: x.max(dim, keepdim=bool(keep)).values),
    "cumsum": ("ti", lambda m, x, dim: x.cumsum(dim)),
    "complex_mul": ("tt", lambda m, x, y: torch.view_as_real(torch.view_as_complex(x) * torch.view_as_complex(y))),
    "softmax": ("t", lambda m, x: x.softmax(-1)),
    "log_softmax": ("t", lambda m, x: x.log_softmax(-1)),
    "layer_norm": ("ti", lambda m, x, parts: F.layer_norm(x, x.shape[-1:], *(m.leaf(x.shape[-1:]) for _ in range(parts)))),
    "linear": ("tii", lambda m, x, out, bias: F.linear(x, m.leaf([out, x.shape[-1]]), m.leaf([out]) if bias else None)),
    "matmul": ("tt", lambda m, x, y: x @ y),
    "bmm": ("tt", lambda m, x, y: torch.bmm(x, y)),
    "addmm": ("tt", lambda m, x, y: torch.addmm(m.leaf([y.shape[1]]), x, y)),
    "baddbmm": ("tt", added_product),
    "baddbmm_scaled": ("tt", lambda m, x, y: added_product(m, x, y, alpha=0.5)),
    "bmm_scaled": ("tt", lambda m, x, y: added_product(m, x, y, alpha=0.5, beta=0)),
    "conv1d": ("tiiiiii", convolved(F.conv1d)),
    "conv2d": ("tiiiiii", convolved(F.conv2d)),
    "batch_norm": ("ti", normed_by_channel),
    "group_norm": ("ti", normed_by_group),
    "average_pool": ("tiii", lambda m, x, kernel, stride, padding: F.avg_pool2d(x, kernel, stride, padding)),
    "max_pool": ("tiii", lambda m, x, kernel, stride, padding: F.max_pool2d(x, kernel, stride, padding)),
    "bilinear": ("tii", lambda m, x, rows, columns: F.interpolate(x, size=(rows, columns), mode="bilinear")),
    "mean_of_images": ("t", lambda m, x: x.mean([-2, -1])),
    "norm_over_places": ("t", lambda m, x: torch.linalg.vector_norm(x, dim=(1, 2), keepdim=True)),
    "pad_images": ("tii", lambda m, x, rows, columns: F.pad(x, (0, columns, 0, rows))),
    "solve": ("tt", lambda m, x, y: torch.linalg.solve_triangular(x, y, upper=False, unitriangular=True)),
}
DECLARATIONS = ("param", "buffer", "input")
VIEWS = ["transpose", "permute", "unsqueeze", "squeeze", "slice", "select", "expand"]
OF_IMAGES = "mean_of_images", "norm_over_places"
GATES = "hardswish", "hardsigmoid"
UNARY = [name for name, (kinds, _) in OPERATIONS.items()
         if kinds == "t" and not name.endswith("_") and name not in OF_IMAGES + GATES]
ON_META_ONLY = ("batch_norm",)  # in evaluation the CPU's has no statistics to write and keep


def text_of(sizes):
    return "x".join(map(str, sizes)) or "scalar"


def sizes_of(word):
    return [] if word == "scalar" else [int(n) for n in word.split("x")]


def facts(tensor, is_new):
    flags = ("c" if tensor.is_contiguous() else "") + ("b" if tensor.dtype == torch.bfloat16 else "")
    flags += ("g" if tensor.requires_grad else "") + ("n" if is_new else "")
    return f"{text_of(tensor.shape)} {text_of(tensor.stride())} {flags or '-'}"


def run(lines, device, trains):
    """Behind every line of a program what torch answers, and the line that ends it."""
    machine, answers, results = Machine(device), [], []
    for line in lines:
        name, operation, *words = line.split()
        if operation in DECLARATIONS:
            machine.values[name] = getattr(machine, operation)(sizes_of(words[0]))
    saved, alive, written = Counter(), [], 0

    def pack(tensor):
        storage = tensor.untyped_storage()
        if tensor.is_floating_point() and all(storage._cdata != t.untyped_storage()._cdata for t in machine.own):
            alive.append(tensor)
            saved[storage._cdata] = max(saved[storage._cdata], storage.nbytes())
        return tensor

    recorder, forward, backward = Watch(torch.nn.Identity()), FlopCounterMode(display=False), FlopCounterMode(display=False)
    keeping = torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor)
    with torch.set_grad_enabled(trains), forward, recorder, keeping:
        for line in lines:
            name, operation, *words = line.split()
            if operation not in DECLARATIONS:
                kinds, function = OPERATIONS[operation]
                recorder.overwrites = operation.endswith("_")
                read = {"t": machine.values.__getitem__, "i": int, "s": sizes_of}
                machine.values[name] = function(machine, *(read[k](w) for k, w in zip(kinds, words, strict=True)))
            tensor, before = machine.values[name], written
            written = recorder.counts[""]["WRITTEN"]
            is_new = all(tensor.untyped_storage()._cdata != t.untyped_storage()._cdata for t in results)
            answers.append(f"{line} > {facts(tensor, is_new)} {written - before}")
            results.append(machine.values[name])
    loss = sum(t.float().sum() for t in results if t.requires_grad and trains)
    going_back = Recorder(torch.nn.Identity())
    with backward, going_back:
        if isinstance(loss, torch.Tensor):
            loss.backward()
    for unknown in (recorder.unknown, going_back.unknown):
        if unknown:
            raise ValueError(f"no price: {dict(unknown)}")
    both = [r.inclusive().get("", {}) for r in (recorder, going_back)]
    numbers = [counts.get(p, 0) for counts in both for p in PRIMITIVES]
    numbers += [forward.get_total_flops(), backward.get_total_flops(), saved.total()]
    answers.append(" ".join(map(str, ["end", *numbers])))
    return answers, machine.values


def agreed(lines, trains):
    """What meta tensors and the CPU answer alike; nothing where they differ, for that is no fact."""
    try:
        answers = run(lines, "meta", trains)[0]
        if any(line.split()[1] in ON_META_ONLY for line in lines):
            return answers
        return answers if lines and answers == run(lines, "cpu", trains)[0] else []
    except RuntimeError:
        return []
