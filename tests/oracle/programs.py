# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Random programs of tensor operations, for operations.py to execute."""
import random
from itertools import cycle

import torch
from torch._prims_common import suggest_memory_format

from operations import DECLARATIONS, GATES, UNARY, VIEWS, run, text_of


BINARY = "add", "sub", "mul", "div", "maximum", "minimum", "where"
BATCHED = "bmm", "bmm_scaled", "baddbmm", "baddbmm_scaled"


class Author:
    """Random choices of sizes and views, the same for the same seed."""

    def __init__(self, seed):
        self.random, self.unary = random.Random(seed), cycle(UNARY)

    def pick(self, *choices):
        return self.random.choice(choices)

    def sizes(self, least=1, most=4):
        return [self.pick(1, 2, 3, 4) for _ in range(self.random.randint(least, most))]

    def view(self, x):
        """Arguments for a random view of x, or None."""
        operation, rank = self.random.choice(VIEWS), x.dim()
        dim = self.random.randrange(rank) if rank else 0
        if operation == "unsqueeze":
            return f"unsqueeze {{}} {self.random.randrange(rank + 1)}" if rank < 5 else None
        if rank == 0:
            return None
        if operation == "transpose":
            return f"transpose {{}} {dim} {self.random.randrange(rank)}"
        if operation == "permute":
            return f"permute {{}} {text_of(self.random.sample(range(rank), rank))}"
        if operation == "slice":
            step = self.pick(1, 1, 2)
            return f"slice {{}} {dim} {self.random.randint(1, (x.shape[dim] - 1) // step + 1)} {step}"
        if operation == "expand":
            lead = [self.pick(2, 3)] if rank < 5 and self.pick(True, False, False) else []
            return f"expand {{}} {text_of(lead + [self.pick(1, 2, 3) if n == 1 else n for n in x.shape])}"
        return f"{operation} {{}} {dim}"

    def regrouped(self, sizes):
        """Other sizes with as many elements: neighbours joined, dimensions split, ones put in."""
        sizes = list(sizes)
        for _ in range(self.random.randint(1, 3)):
            kind, at = self.pick("join", "join", "split", "one"), self.random.randrange(len(sizes)) if sizes else 0
            if kind == "join" and at + 1 < len(sizes):
                sizes[at:at + 2] = [sizes[at] * sizes[at + 1]]
            elif kind == "split" and sizes and len(sizes) < 6:
                divisors = [d for d in range(1, sizes[at] + 1) if sizes[at] % d == 0]
                d = self.random.choice(divisors)
                sizes[at:at + 1] = [d, sizes[at] // d]
            elif len(sizes) < 6:
                sizes.insert(at, 1)
        return sizes

    def broadcast_of(self, sizes):
        kept = [n if self.pick(True, True, False) else 1 for n in sizes]
        return kept[self.random.randrange(len(kept)):] if kept and self.pick(True, False, False) else kept


class Draft:
    """One program while it grows: lines are tried on meta tensors, and kept where they run."""

    def __init__(self, author):
        self.author, self.lines, self.values, self.trains = author, [], {}, author.pick(True, False)

    def is_left_out(self, text):
        """What no model's forward pass does, so that no description has to know it."""
        operation, x, *others = text.split()
        if operation in DECLARATIONS or x not in self.values:
            return False
        x, y = self.values[x], self.values.get(others[0]) if others else None
        if operation.endswith("_") and (x._base is not None or x.requires_grad != self.trains):
            return True  # writes into a view, a parameter, or what then begins to need a gradient
        if operation == "matmul" and y is not None and 3 in (x.dim(), y.dim()) and x.shape[:-2] != y.shape[:-2]:
            return min(x.dim(), y.dim()) > 2  # a batch of one against several, which ATen takes for a matrix
        if operation == "index_add_" and y is not None and y.requires_grad != self.trains:
            return True  # adds what needs no gradient
        if operation in ("linear", "softmax", "log_softmax", "layer_norm") and x.dim() < 2:
            return True  # one vector alone
        if operation == "cat" and suggest_memory_format(x) == torch.channels_last:
            return True  # images laid out channel by channel
        # parameters meet what needs no gradient
        learns = x.requires_grad or (y is not None and y.requires_grad)
        return operation in ("layer_norm", "addmm") and self.trains and not learns

    def add(self, text):
        name = chr(ord("a") + len(self.lines))
        if len(name) > 1 or not name.isalpha() or self.is_left_out(text):
            return None
        try:
            self.values = run([*self.lines, f"{name} {text}"], "meta", self.trains)[1]
        except (RuntimeError, IndexError, ValueError, TypeError):
            return None
        self.lines.append(f"{name} {text}")
        return name

    def fresh(self, sizes, *kinds):
        """A new tensor of these sizes and one of these kinds, laid out anyhow; mostly one that needs a gradient."""
        kind = self.author.pick(*(kinds or ("activation", "activation", "activation", "param", "input", "buffer")))
        layout, laid, view = self.author.pick("plain", "plain", "permuted", "sliced", "expanded"), list(sizes), None
        if layout == "permuted" and sizes:
            order = self.author.random.sample(range(len(sizes)), len(sizes))
            laid = [sizes[order.index(i)] for i in range(len(sizes))]
            view = f"permute {{}} {text_of(order)}"
        elif layout == "sliced" and sizes:
            at = self.author.random.randrange(len(sizes))
            laid[at], view = 2 * sizes[at], f"slice {{}} {at} {sizes[at]} {self.author.pick(1, 2)}"
        elif layout == "expanded" and sizes:
            laid[self.author.random.randrange(len(sizes))], view = 1, f"expand {{}} {text_of(sizes)}"
        name = self.add(f"{'param' if kind == 'activation' else kind} {text_of(laid)}")
        if kind == "activation" and name:
            name = self.add(f"mul_scalar {name}")
        return self.add(view.format(name)) if view and name else name

    def viewed(self, name, times):
        for _ in range(times):
            text = self.author.view(self.values[name])
            if text:
                name = self.add(text.format(name)) or name
        return name


def view_program(author):
    """Views of views, then reshapes: what is a view, what must be copied."""
    draft = Draft(author)
    name = draft.viewed(draft.add(f"buffer {text_of(author.sizes(2, 5))}"), author.random.randint(1, 4))
    for _ in range(3):
        draft.add(f"reshape {name} {text_of(author.regrouped(draft.values[name].shape))}")
    return draft


def elementwise_program(author):
    """Results of one and of two operands, laid out in every way."""
    draft = Draft(author)
    sizes = author.sizes(2, 4)
    name = draft.viewed(draft.fresh(sizes), author.random.randint(1, 3))
    draft.add(f"{author.random.choice(UNARY)} {name}")
    other = draft.fresh(author.broadcast_of(draft.values[name].shape))
    if other:
        other = draft.viewed(other, author.random.randint(0, 1))
        draft.add(f"{author.pick(*BINARY)} {name} {other}")
        draft.add(f"{author.pick(*BINARY)} {other} {name}")
    return draft


def single_program(author):
    """One operation of a part of a tensor, in training: does it keep what it reads or what it gives? All take turns."""
    draft = Draft(author)
    draft.trains = True
    whole = draft.add(f"mul_scalar {draft.add(f'param {text_of([4, *author.sizes(1, 2)])}')}")
    draft.add(f"{next(author.unary)} {draft.add(f'slice {whole} 0 2 1')}")
    return draft


def row_program(author):
    """Reductions, rows, copies of a tensor that may lie anyhow."""
    draft = Draft(author)
    name = draft.viewed(draft.fresh(author.sizes(2, 4)), author.random.randint(0, 2))
    for _ in range(3):
        x = draft.values[name]
        if x.dim() == 0:
            break
        dim, last = author.random.randrange(x.dim()), x.shape[-1]
        draft.add(author.pick(
            f"sum {name} {dim} {author.pick(0, 1)}", f"mean {name} {dim} {author.pick(0, 1)}",
            f"std {name} {dim} {author.pick(0, 1)}", f"variance {name} {dim} {author.pick(0, 1)}",
            f"logsumexp {name} {dim} {author.pick(0, 1)}", f"vector_norm {name} {dim} {author.pick(0, 1)}",
            f"max {name} {dim} {author.pick(0, 1)}", f"cumsum {name} {dim}", f"softmax {name}", f"log_softmax {name}",
            f"layer_norm {name} {author.pick(0, 1, 2)}", f"pow {name} {author.pick(2, 3, 5)}",
            f"repeat_interleave {name} {dim} {author.pick(1, 2, 3)}", f"pad {name} {dim} {author.pick(1, 2)}",
            f"top_k {name} {author.random.randint(1, last)}", f"cat {name} {name} {dim}",
            f"index_select {name} {author.pick(1, 4)}", f"gather_along {name} {author.pick(1, 4)}"))
    return draft


def image_program(author):
    """Norms of channels and of groups, pools, resampling: what convolutions stand between."""
    draft = Draft(author)
    groups, side = author.pick(1, 2, 3), author.pick(5, 6, 8)
    name = draft.add(f"param {text_of([author.pick(1, 2, 3), groups * author.pick(1, 2), side, author.pick(5, 6)])}")
    name = draft.add(f"mul_scalar {name}")
    for _ in range(3):
        kernel = author.pick(2, 3)
        draft.add(author.pick(
            f"batch_norm {name} 0", f"batch_norm {name} 1", f"group_norm {name} {groups}", f"mean_of_images {name}",
            f"norm_over_places {name}", f"bilinear {name} {author.pick(3, 4, 7)} {author.pick(4, 9)}",
            f"pad_images {name} {author.pick(0, 1)} {author.pick(1, 2)}",
            f"average_pool {name} {kernel} {author.pick(1, 2)} {author.pick(0, 1)}",
            f"max_pool {name} {kernel} {author.pick(1, 2)} {author.pick(0, 1)}"))
    return draft


def product_program(author):
    """Matrix products with their folding, behind views."""
    draft = Draft(author)
    kind = author.pick("linear", "linear", "matmul", "matmul", "matmul", "matmul", *BATCHED, "addmm", "conv1d", "conv2d",
                       "solve", "complex_mul")
    batch, (m, k, n) = author.sizes(0, 2), (author.pick(1, 2, 3, 5) for _ in range(3))
    if kind == "linear":
        x = draft.viewed(draft.fresh([*author.sizes(1, 3), k]), author.random.randint(0, 2))
        draft.add(f"linear {x} {n} {author.pick(0, 1)}")
    elif kind == "matmul":
        x = draft.fresh([*(batch if author.pick(True, True, False) else author.broadcast_of(batch)), m, k])
        others = author.pick(batch, batch, author.broadcast_of(batch), [])
        y = draft.fresh([*others, k, n])
        if x and y:
            draft.add(f"matmul {x} {y}")
    elif kind in (*BATCHED, "addmm"):
        lead = [author.pick(1, 2, 3)] if kind != "addmm" else []
        kinds = author.pick((), ("buffer", "activation"))
        draft.add(f"{kind} {draft.fresh([*lead, m, k], *kinds[:1])} {draft.fresh([*lead, k, n], *kinds[1:])}")
    elif kind == "complex_mul":
        draft.add(f"complex_mul {draft.fresh([*batch, m, 2])} {draft.fresh([*author.broadcast_of(batch), m, 2])}")
    elif kind == "solve":
        draft.add(f"solve {draft.fresh([*batch, k, k])} {draft.fresh([*batch, k, n])}")
    else:
        groups = author.pick(1, 1, 2)
        sizes = [author.pick(1, 2, 3), groups * author.pick(1, 2)] + [author.pick(5, 6, 8)] * int(kind[-2])
        out, kernel, stride = groups * author.pick(1, 3), author.pick(1, 2, 4), author.pick(1, 2)
        padding, bias = author.pick(0, 1, 3), author.pick(0, 1)
        draft.add(f"{kind} {draft.fresh(sizes)} {out} {kernel} {groups} {stride} {padding} {bias}")
    return draft


def saving_program(author):
    """Chains in which results are kept once, overwritten, or shared by views."""
    draft = Draft(author)
    sizes = author.sizes(2, 3)
    names = [draft.fresh(sizes)]
    for _ in range(author.random.randint(3, 7)):
        x = author.random.choice(names)
        shape = draft.values[x].shape
        same = [y for y in names if draft.values[y].shape == shape]
        y = author.random.choice(same) if author.pick(True, False) else draft.fresh(list(shape))
        pairs = [f"{o} {x} {y}" for o in (*BINARY, "add_", "mul_", "div_", "index_add_")]
        done = draft.add(author.pick(
            *pairs, *pairs, f"{author.random.choice(UNARY)} {x}", f"{author.random.choice(UNARY)} {x}", f"softmax {x}",
            f"layer_norm {x} 2", f"linear {x} {shape[-1] if shape else 1} {author.pick(0, 1)}", f"mul_scalar_ {x}",
            f"div_scalar_ {x}", f"clamp_ {x}", f"bfloat16 {x}", f"float32 {x}", f"transpose {x} 0 {len(shape) - 1}",
            f"unsqueeze {x} 0"))
        names += [done] if done else []
    return draft


def gate_program(author):
    """Activations with corners, of what somebody wrote, behind each other."""
    draft = Draft(author)
    name = draft.add(f"param {text_of(author.sizes())}")
    if author.pick(True, False):
        name = draft.add(f"mul_scalar {name}")
    for _ in range(author.pick(1, 2)):
        name = draft.add(f"{author.pick(*GATES)} {name}")
    return draft


KINDS = {"view": view_program, "single": single_program, "elementwise": elementwise_program, "row": row_program,
         "image": image_program, "product": product_program, "saving": saving_program, "gate": gate_program}
