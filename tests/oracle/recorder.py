# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""Watches a forward pass: every ATen call is priced and attributed to the module that executes it."""
from collections import Counter, defaultdict

import torch
from torch._decomp import decomposition_table
from torch.utils._python_dispatch import TorchDispatchMode

from primitives import price_of


def tensors_in(value):
    """Every tensor of an argument or result, lists and tuples opened."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (tuple, list)):
        for part in value:
            yield from tensors_in(part)


def floating_tensors(value):
    return [t for t in tensors_in(value) if t.is_floating_point() or t.is_complex()]


def storage_of(tensor):
    return tensor.untyped_storage()._cdata


class Recorder(TorchDispatchMode):
    """A mode to run one forward pass of `model` under, or one backward pass.

    counts   {module path: primitives, OUT and WRITTEN of its own work}
    unknown  calls with a floating-point result that the price table does not know
    """

    def __init__(self, model):
        super().__init__()
        self.counts = defaultdict(Counter)
        self.unknown = Counter()
        self._open_modules = [""]
        self._hooks = []
        for path, module in model.named_modules():
            if path:
                self._watch(path, module)

    def _watch(self, path, module):
        is_leaf = not any(True for _ in module.children())

        def enter(module, arguments):
            self._open_modules.append(path)

        def leave(module, arguments, output):
            self._open_modules.pop()
            if is_leaf:
                self.counts[path]["OUT"] += sum(t.numel() for t in floating_tensors(output))

        self._hooks += [module.register_forward_pre_hook(enter),
                        module.register_forward_hook(leave, always_call=True)]

    def __exit__(self, *exception):
        for hook in self._hooks:
            hook.remove()
        return super().__exit__(*exception)

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        result = function(*args, **kwargs)
        floating = floating_tensors(result)
        if not floating:
            return result
        name = function._schema.name.split("::")[1]
        own = self.counts[self._open_modules[-1]]
        # A result in a storage that came in is a view or an in-place write, not new memory.
        known = {storage_of(t) for t in tensors_in((*args, *kwargs.values()))}
        for tensor in floating:
            if storage_of(tensor) not in known:
                known.add(storage_of(tensor))
                own["WRITTEN"] += tensor.numel()
        price = price_of(name, args, kwargs, result)
        if price is None and name.endswith(("_backward", "_backward_data")):
            price = self._spelled_out(function, args, kwargs)
        if price is None:
            self.unknown[name] += 1
        else:
            own.update(price)
        return result

    def _spelled_out(self, function, args, kwargs):
        """The price of a fused kernel of backward: that of the calls that torch itself decomposes it into."""
        if function not in decomposition_table:
            return None
        parts = Recorder(torch.nn.Identity())
        with parts:
            decomposition_table[function](*args, **kwargs)
        own = parts.counts[""]
        del own["WRITTEN"]
        return None if parts.unknown else own

    def inclusive(self):
        """{module path: non-zero figures, children included}; the whole pass under the empty path."""
        sums = defaultdict(Counter)
        for path, own in self.counts.items():
            parts = path.split(".") if path else []
            for depth in range(len(parts) + 1):
                sums[".".join(parts[:depth])].update(own)
        return {path: {figure: n for figure, n in counts.items() if n} for path, counts in sums.items()}
