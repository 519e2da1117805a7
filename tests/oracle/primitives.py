# SPDX-FileCopyrightText: 2026 The llmcost authors
# SPDX-License-Identifier: Apache-2.0
"""The price table: which primitive operations one ATen call executes.

`price_of` is the only entry. A call is priced by its name without the in-place underscore, from the shapes of its
arguments and of its result. Three answers are possible: counts, nothing (views, copies, gathers, masks), or None for a
call that the table does not know, which makes the run inexact and must be reported, never guessed.
"""
from collections import Counter
from math import prod

import torch

# One result element costs what stands here; "MULT*3" is three of them.
PER_ELEMENT = {
    # arithmetic
    "div": "DIV", "true_divide": "DIV", "reciprocal": "DIV", "remainder": "DIV", "fmod": "DIV", "floor_divide": "DIV",
    "sqrt": "SQRT", "rsqrt": "SQRT DIV", "square": "MULT", "neg": "NEG",
    "lerp": "ADD*2 MULT", "addcmul": "MULT ADD", "addcdiv": "DIV ADD",
    # transcendental
    "exp": "EXP", "exp2": "EXP", "expm1": "EXP ADD", "log": "LOG", "log2": "LOG", "log10": "LOG", "log1p": "LOG ADD",
    "sin": "TRIG", "cos": "TRIG", "tan": "TRIG", "asin": "TRIG", "acos": "TRIG", "atan": "TRIG", "atan2": "TRIG",
    "sinh": "TRIG", "cosh": "TRIG", "polar": "TRIG*2 MULT*2",
    "tanh": "TANH", "erf": "ERF", "erfc": "ERF", "erfinv": "ERF",
    # one comparison
    "abs": "CMP", "sign": "CMP", "sgn": "CMP", "floor": "CMP", "ceil": "CMP", "round": "CMP", "trunc": "CMP",
    "frac": "CMP", "nan_to_num": "CMP", "relu": "CMP", "threshold": "CMP", "maximum": "CMP", "minimum": "CMP",
    "clamp_min": "CMP", "clamp_max": "CMP", "relu6": "CMP*2", "hardtanh": "CMP*2",
    # activations
    "sigmoid": "NEG EXP ADD DIV", "silu": "NEG EXP ADD DIV MULT", "glu": "NEG EXP ADD DIV MULT",
    "softplus": "EXP ADD LOG", "log_sigmoid": "NEG EXP ADD LOG", "log_sigmoid_forward": "NEG EXP ADD LOG",
    "mish": "EXP ADD LOG TANH MULT", "elu": "EXP ADD CMP", "leaky_relu": "CMP MULT", "prelu": "CMP MULT",
    "_prelu_kernel": "CMP MULT", "hardswish": "ADD CMP*2 MULT DIV", "hardsigmoid": "ADD CMP*2 DIV",
}

# Calls that move, select or create elements.
FREE = frozenset("""
    view _unsafe_view _reshape_alias reshape flatten expand permute transpose t swapaxes movedim slice select narrow
    as_strided unsqueeze squeeze alias detach diagonal view_as_real view_as_complex real imag conj _conj conj_physical lift_fresh
    requires_grad set split split_with_sizes unsafe_split chunk unsafe_chunk unbind unfold
    clone copy _to_copy to contiguous cat stack expand_copy view_copy diagonal_copy lift_fresh_copy tile repeat
    repeat_interleave roll flip rot90 im2col pixel_shuffle pixel_unshuffle meshgrid cartesian_prod
    index gather embedding index_select masked_select scatter masked_scatter masked_scatter_backward slice_scatter
    select_scatter masked_fill where tril triu topk sort unique unique_consecutive _unique2 _local_scalar_dense
    zeros ones empty full arange linspace eye scalar_tensor zeros_like ones_like empty_like full_like new_zeros new_ones
    new_empty new_full empty_strided new_empty_strided empty_permuted resize fill zero one_hot affine_grid_generator
    rand randn randint randperm rand_like randn_like bernoulli normal uniform random multinomial dropout native_dropout
    upsample_nearest1d upsample_nearest2d upsample_nearest3d channel_shuffle
    pad constant_pad_nd _pad_circular reflection_pad1d reflection_pad2d replication_pad1d replication_pad2d
""".split())

FUNCTIONS = {}


def priced(*names):
    """Enter a function of a call, returning a Counter, for these names."""
    def enter(function):
        FUNCTIONS.update(dict.fromkeys(names, function))
        return function
    return enter


class Call:
    """One ATen call: its arguments and its first result."""

    def __init__(self, name, args, kwargs, result):
        self.name, self.args, self.kwargs = name, args, kwargs
        self.result = result[0] if isinstance(result, (tuple, list)) else result

    @property
    def elements(self):
        return self.result.numel()

    def argument(self, i, keyword=None, default=None):
        return self.args[i] if len(self.args) > i else self.kwargs.get(keyword, default)

    def rows(self, dims):
        """How many elements are reduced per result, and how many results; all of them where no dimension is named."""
        tensor = self.args[0]
        if dims is None or dims == []:
            return tensor.numel(), 1
        length = prod(tensor.shape[d] for d in ([dims] if isinstance(dims, int) else dims)) if tensor.dim() else 1
        return length, tensor.numel() // length if length else 0


def scaled(words, n):
    """ "MULT*3 ADD" for n elements. """
    counts = Counter()
    for word in words.split():
        primitive, _, times = word.partition("*")
        counts[primitive] += int(times or 1) * n
    return counts


def matrix_product(m, k, n, batch=1, bias=False):
    return Counter(MULT=batch * m * k * n, ADD=batch * m * (k - 1) * n + (batch * m * n if bias else 0))


def softmax_rows(k, rows):
    return Counter(CMP=(k - 1) * rows, ADD=(2 * k - 1) * rows, EXP=k * rows, DIV=k * rows)


# --- products ------------------------------------------------------------------------------------------------------

@priced("mm", "mv", "_grouped_mm", "grouped_mm")
def _(call):
    left, right = call.args[:2]
    # A grouped product multiplies every row by the matrix of its own group.
    return matrix_product(left.shape[-2], left.shape[-1], 1 if call.name == "mv" else right.shape[-1])


@priced("addmm", "addmv")
def _(call):
    _, left, right = call.args[:3]
    return matrix_product(*left.shape, 1 if call.name == "addmv" else right.shape[1], bias=True)


@priced("bmm")
def _(call):
    batch, m, k = call.args[0].shape
    return matrix_product(m, k, call.args[1].shape[2], batch)


@priced("baddbmm")
def _(call):
    batch, m, k = call.args[1].shape
    counts = matrix_product(m, k, call.args[2].shape[2], batch, bias=call.kwargs.get("beta", 1) != 0)
    if call.kwargs.get("alpha", 1) != 1:
        counts["MULT"] += call.elements
    return counts


@priced("dot", "vdot")
def _(call):
    return matrix_product(1, call.args[0].numel(), 1)


@priced("convolution", "_convolution", "convolution_overrideable")
def _(call):
    source, weight, bias, transposed = *call.args[:3], call.args[6]
    if transposed:  # every input element meets every kernel element of its group
        products = source.numel() * prod(weight.shape[1:])
    else:
        products = call.elements * prod(weight.shape[1:])
    return Counter(MULT=products, ADD=products - call.elements + (call.elements if bias is not None else 0))


@priced("convolution_backward")
def _(call):
    """The input's gradient is a convolution the other way round, the weight's sums over every place, the bias's plain sums."""
    gradient, source, weight, transposed, wanted = *call.args[:3], call.args[7], call.args[10]
    products = (source if transposed else gradient).numel() * prod(weight.shape[1:])
    channels = gradient.shape[1]
    sums = [products - source.numel(), products - weight.numel(), gradient.numel() - channels]
    return Counter(MULT=products * sum(wanted[:2]), ADD=sum(n for n, want in zip(sums, wanted, strict=True) if want))


@priced("linalg_solve_triangular", "triangular_solve")
def _(call):
    matrix, right = call.args[:2]
    k = matrix.shape[-1]
    pairs = right.numel() // k * k * (k - 1) // 2
    return Counter(MULT=pairs, ADD=pairs, DIV=0 if call.kwargs.get("unitriangular", False) else right.numel())


def attention(call):
    """Fused attention at the price of the eager one: scores, scale, softmax, context."""
    (batch, heads, s, d), t, e = call.args[0].shape, call.args[1].shape[-2], call.args[2].shape[-1]
    rows = batch * heads * s
    return (matrix_product(s, d, t, batch * heads) + Counter(MULT=rows * t) + softmax_rows(t, rows)
            + matrix_product(s, t, e, batch * heads))


def attention_backward(call):
    """The same, with scores made again and no probabilities kept (Dao 2023, FlashAttention-2, algorithm 2)."""
    gradient, query, key, value = call.args[:4]
    (batch, heads, s, d), t, e = query.shape, key.shape[-2], value.shape[-1]
    n, rows = batch * heads, batch * heads * s
    pairs = Counter({"MULT": rows * t, "ADD": rows * t, "EXP": rows * t})  # scale, less the sum, exp
    return (matrix_product(s, d, t, n) + pairs
            + matrix_product(t, s, e, n) + matrix_product(s, e, t, n)  # of the values, of the probabilities
            + matrix_product(1, e, 1, rows)  # each row's gradient times its result
            + Counter(ADD=rows * t, MULT=2 * rows * t)  # of the scores, scale
            + matrix_product(s, t, d, n) + matrix_product(t, s, d, n))  # of the queries, of the keys


# --- elementwise, where arguments decide -----------------------------------------------------------------------------

@priced("add", "sub", "rsub")
def _(call):
    scale = call.elements if call.kwargs.get("alpha", 1) != 1 else 0
    return Counter(ADD=call.elements * (2 if call.result.is_complex() else 1), MULT=scale)


@priced("mul")
def _(call):
    return scaled("MULT*4 ADD*2" if call.result.is_complex() else "MULT", call.elements)


@priced("pow", "float_power")
def _(call):
    exponent = call.argument(1)
    special = {0.5: "SQRT", -0.5: "SQRT DIV", -1: "DIV"}
    if not isinstance(exponent, (int, float)):
        return scaled("POW", call.elements)
    if exponent in special:
        return scaled(special[exponent], call.elements)
    if exponent == int(exponent) and 0 <= exponent <= 16:  # square and multiply
        squarings, ones = int(exponent).bit_length() - 1, int(exponent).bit_count()
        return Counter(MULT=max(0, squarings + ones - 1) * call.elements)
    return scaled("POW", call.elements)


@priced("clamp")
def _(call):
    bounds = sum(bound is not None for bound in (call.argument(1, "min"), call.argument(2, "max")))
    return Counter(CMP=bounds * call.elements)


@priced("gelu")
def _(call):
    exact = (call.kwargs.get("approximate") or "none") == "none"
    return scaled("MULT*3 ADD ERF" if exact else "MULT*6 ADD*2 TANH", call.elements)


@priced("index_add", "index_reduce", "scatter_add", "scatter_reduce")
def _(call):
    return Counter(ADD=call.argument(3, "source").numel())


@priced("index_put", "_index_put_impl", "_unsafe_index_put")
def _(call):
    return Counter(ADD=call.args[2].numel() if call.argument(3, "accumulate", False) else 0)


@priced("embedding_dense_backward")
def _(call):
    return Counter(ADD=call.args[0].numel())


# --- reductions ------------------------------------------------------------------------------------------------------

@priced("sum", "nansum", "cumsum")
def _(call):
    k, rows = call.rows(call.argument(1, "dim"))
    return Counter(ADD=(k - 1) * rows * (2 if call.result.is_complex() else 1))


@priced("mean")
def _(call):
    k, rows = call.rows(call.argument(1, "dim"))
    return Counter(ADD=(k - 1) * rows, DIV=rows)


@priced("prod", "cumprod")
def _(call):
    k, rows = call.rows(call.argument(1, "dim"))
    return Counter(MULT=(k - 1) * rows)


@priced("var", "std", "var_mean", "std_mean")
def _(call):
    dims = call.argument(1, "dim")
    k, rows = call.rows(None if isinstance(dims, bool) else dims)
    root = rows if call.name.startswith("std") else 0
    return Counter(ADD=(3 * k - 2) * rows, MULT=k * rows, DIV=2 * rows, SQRT=root)


@priced("linalg_vector_norm", "norm")
def _(call):
    k, rows = call.rows(call.argument(2, "dim"))
    return Counter(MULT=k * rows, ADD=(k - 1) * rows, SQRT=rows)


@priced("amax", "amin", "max", "min", "aminmax", "cummax", "cummin", "logcumsumexp")
def _(call):
    if isinstance(call.argument(1), torch.Tensor):
        return scaled("CMP", call.elements)
    k, rows = call.rows(call.argument(1, "dim"))
    return Counter(CMP=(k - 1) * rows)


@priced("logsumexp")
def _(call):
    k, rows = call.rows(call.argument(1, "dim"))
    return Counter(CMP=(k - 1) * rows, ADD=2 * k * rows, EXP=k * rows, LOG=rows)


@priced("_softmax", "softmax", "_safe_softmax")
def _(call):
    return softmax_rows(*call.rows(call.argument(1, "dim")))


@priced("_log_softmax", "log_softmax")
def _(call):
    k, rows = call.rows(call.argument(1, "dim"))
    return Counter(CMP=(k - 1) * rows, ADD=(3 * k - 1) * rows, EXP=k * rows, LOG=rows)


@priced("avg_pool1d", "avg_pool2d", "avg_pool3d", "_adaptive_avg_pool2d", "adaptive_avg_pool2d", "_adaptive_avg_pool3d")
def _(call):
    if "adaptive" in call.name:
        k = call.args[0].numel() // max(call.elements, 1)
    else:
        k = prod(call.args[1]) if isinstance(call.args[1], (list, tuple)) else call.args[1]
    return Counter(ADD=(k - 1) * call.elements, DIV=call.elements)


@priced("avg_pool2d_backward", "avg_pool3d_backward")
def _(call):
    """Every gradient is divided and added to all that its window holds."""
    k = prod(call.args[2])
    return Counter(ADD=call.args[0].numel() * k, DIV=call.args[0].numel())


@priced("_adaptive_avg_pool2d_backward", "_adaptive_avg_pool3d_backward")
def _(call):
    """The same, whose window is the input's share."""
    return Counter(ADD=call.args[1].numel(), DIV=call.args[0].numel())


@priced("max_pool1d", "max_pool2d", "max_pool2d_with_indices", "max_pool3d_with_indices")
def _(call):
    return Counter(CMP=(prod(call.args[1]) - 1) * call.elements)


@priced("adaptive_max_pool2d", "adaptive_max_pool3d")
def _(call):
    """The same, whose window is the input's share."""
    return Counter(CMP=(call.args[0].numel() // max(call.elements, 1) - 1) * call.elements)


@priced("adaptive_max_pool2d_backward", "adaptive_max_pool3d_backward", "max_pool3d_with_indices_backward")
def _(call):
    """Every gradient is added to the element that was the largest."""
    return Counter(ADD=call.args[0].numel())


@priced("upsample_nearest1d_backward", "upsample_nearest2d_backward", "upsample_nearest3d_backward")
def _(call):
    """Every gradient is added to the element that was copied."""
    return Counter(ADD=call.args[0].numel())


# Resampling: a result is a sum of so many products, and its gradient goes back to as many.
TAPS = {"upsample_linear1d": 2, "upsample_bilinear2d": 4, "upsample_trilinear3d": 8, "upsample_bicubic2d": 16,
        "_upsample_bilinear2d_aa": 4, "_upsample_bicubic2d_aa": 16, "grid_sampler_2d": 4, "grid_sampler_3d": 8}


@priced(*TAPS)
def _(call):
    taps = TAPS[call.name]
    return Counter(MULT=taps * call.elements, ADD=(taps - 1) * call.elements)


@priced(*(f"{name}_backward" for name in TAPS if "upsample" in name))
def _(call):
    n = TAPS[call.name.removesuffix("_backward")] * call.args[0].numel()
    return Counter(MULT=n, ADD=n)


# --- normalisation ---------------------------------------------------------------------------------------------------

def centred_rows(k, rows, weight, bias):
    """Mean, centred squares, their mean, epsilon and root; then scale and shift."""
    return Counter(ADD=rows * (3 * k - 1 + (k if bias is not None else 0)),
                   MULT=rows * (2 * k + (k if weight is not None else 0)), DIV=3 * rows, SQRT=rows)


@priced("native_layer_norm", "layer_norm")
def _(call):
    k = prod(call.args[1])
    return centred_rows(k, call.args[0].numel() // k, call.argument(2, "weight"), call.argument(3, "bias"))


@priced("native_group_norm")
def _(call):
    rows = call.args[3] * call.args[6]
    return centred_rows(call.args[0].numel() // rows, rows, call.args[1], call.args[2])


@priced("_fused_rms_norm", "rms_norm")
def _(call):
    k = prod(call.args[1])
    rows = call.args[0].numel() // k
    factors = 3 if call.argument(2, "weight") is not None else 2
    return Counter(MULT=factors * k * rows, ADD=k * rows, DIV=2 * rows, SQRT=rows)


@priced("upsample_bilinear2d")
def _(call):
    return Counter(MULT=4 * call.elements, ADD=3 * call.elements)


@priced("upsample_bilinear2d_backward")
def _(call):
    return Counter(MULT=4 * call.args[0].numel(), ADD=4 * call.args[0].numel())


@priced("native_batch_norm", "_native_batch_norm_legit", "_native_batch_norm_legit_no_training", "cudnn_batch_norm",
        "batch_norm")
def _(call):
    channels, n = call.args[0].shape[1], call.elements
    weight, bias = call.argument(1, "weight"), call.argument(2, "bias")
    return Counter(ADD=channels + n + (n if bias is not None else 0), MULT=n + (n if weight is not None else 0),
                   SQRT=channels, DIV=channels)


def price_of(name, args, kwargs, result):
    """Counter of primitives, empty for a call that moves elements only, None for one that the table does not know."""
    base = name.rstrip("_")
    call = Call(base, args, kwargs, result)
    if base.startswith("_scaled_dot_product"):
        return (attention_backward if base.endswith("_backward") else attention)(call)
    if base in PER_ELEMENT:
        return scaled(PER_ELEMENT[base], call.elements)
    if base in FUNCTIONS:
        return FUNCTIONS[base](call)
    return Counter() if base in FREE else None
