// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/layers/model_config.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Pairing of the elements of a head in rotary position embeddings (RoPE).
enum class rotary_style : std::uint8_t {
    none,
    rotate_half,          ///< element i with i + d/2 (Llama)
    rotate_half_float32,  ///< as `rotate_half`, with tables in float32 and a cast back (OLMo 2)
    interleaved,          ///< element 2i with 2i + 1, using stack and flatten (Cohere)
    rotate_half_split,    ///< halves as two tensors, with a table of size d/2 (gpt-oss)
    interleaved_split,    ///< even and odd elements as two tensors (DeepSeek V3)
    interleaved_complex   ///< pairs as complex numbers times unit complex numbers (DeepSeek V2)
};

/// Frequencies of a rotary table and their update in each forward pass.
///
/// Cost of dynamic scaling: POW dim/2 + 1, DIV dim + 1, MULT dim/2 + 2, ADD 1, for each new maximum length.
/// Source: transformers/modeling_rope_utils.py, `dynamic_rope_update` and `_compute_dynamic_ntk_parameters`.
struct rotary_frequencies {
    rope_scaling_kind rule = rope_scaling_kind::none;
    std::int64_t max_position_embeddings = 0;

    constexpr explicit rotary_frequencies(const model_config& config, bool sliding = false) noexcept
        : rule(sliding ? config.sliding_rope_scaling : config.rope_scaling),
          max_position_embeddings(config.max_position_embeddings) {}

    constexpr void update(trace& t, std::int64_t dim) const {
        if (rule == rope_scaling_kind::none) return;
        if (rule == rope_scaling_kind::longrope) {
            (void)t.masked_fill(trace::buffer({dim / 2}));
            return;
        }
        t.add_region_edge(workload_axis::total, max_position_embeddings + 1);
        if (t.load().past + t.load().sequence <= max_position_embeddings) return;
        tensor scale = trace::buffer({});
        if (rule == rope_scaling_kind::dynamic) scale = t.mul_scalar(scale);
        scale = t.add_scalar(t.div_scalar(scale));
        scale = dim == 4 ? t.pow(scale, 2) : t.pow_scalar(scale);  // exponent dim / (dim - 2)
        const tensor base = t.mul_scalar(scale), exponents = t.div_scalar(t.full({dim / 2}));
        (void)t.mul_scalar(t.reciprocal(t.pow(base, exponents)));
    }
};

/// Axes of a position: one, or three (time, height, width) that share the frequencies of a head.
enum class rotary_axis_layout : std::uint8_t {
    one,
    sections,    ///< a section of the frequencies per axis, concatenated (Qwen2-VL)
    interleaved  ///< every third frequency of each later axis, copied into the first axis (Qwen3-VL)
};

/// Cosines and sines of the new positions, computed once per forward pass: (1, sequence, dim) each.
///
/// Cost: MULT sequence·dim/2 for the angles and 2·sequence·dim for the scaling; TRIG 2·sequence·dim.
///
/// With several axes, text positions are expanded to all axes and sequences: (batch, sequence, dim). Angles, cosines,
/// sines and their scaling cost 3·batch·sequence·dim/2 each. The sections are concatenated, then doubled.
/// The cost does not depend on the section sizes.
struct rotary_table {
    std::int64_t dim;
    class_name named;
    rotary_frequencies frequencies;
    /// determines how angles are doubled: concatenated, repeated or not at all
    rotary_style form = rotary_style::rotate_half;
    rotary_axis_layout axes = rotary_axis_layout::one;
    bool copies_frequencies = true;  ///< a copy of `inv_freq` is the buffer `original_inv_freq`

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, std::int64_t sequence) const {
        const trace::no_grad_guard quiet{t};
        t.register_buffer({copies_frequencies ? 2 : 1, dim / 2}, dtype::float32);
        frequencies.update(t, dim);
        if (axes != rotary_axis_layout::one) return forward_multi_axis(t, t.load().batch, sequence);
        const tensor positions = t.full({1, sequence, 1});
        const tensor emb = doubled(t, t.mul(positions, trace::buffer({dim / 2})));
        const tensor cos = t.mul_scalar(t.cos(emb)), sin = t.mul_scalar(t.sin(emb));
        if (form == rotary_style::rotate_half_float32) return {cos, sin};
        return {t.to(cos, t.activation_type()), t.to(sin, t.activation_type())};
    }

private:
    constexpr tensor doubled(trace& t, const tensor& x) const {
        if (form == rotary_style::rotate_half_split) return x;
        return form == rotary_style::interleaved ? t.gather(x, {x.dim(0), x.dim(1), dim}) : t.cat({x, x}, -1);
    }
    /// Cosines and sines of positions with three axes: (batch, sequence, dim) each.
    ///
    /// Source: transformers/models/qwen2_vl, qwen3_5, `recomposition_frequencies`.
    constexpr tensor_pair forward_multi_axis(trace& t, std::int64_t batch, std::int64_t sequence) const {
        if (form != rotary_style::rotate_half && form != rotary_style::interleaved)
            throw_description_error("multi-axis rotary positions require rotate_half or interleaved");
        const tensor angles = t.mul(t.full({3, batch, sequence, 1}), trace::buffer({dim / 2}));
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        return {recomposed(t, cos), recomposed(t, sin)};
    }
    constexpr tensor recomposed(trace& t, const tensor& x) const {
        const tensor first = x.select(0);  // interleaved: the other axes are copied into it
        const tensor all = axes == rotary_axis_layout::sections ? t.cat({first}, -1) : first;
        return t.to(doubled(t, all), t.activation_type());
    }
};

/// Unit complex numbers of the new positions (DeepSeek V2): (1, sequence, dim / 2).
struct complex_rotary_table {
    std::int64_t dim;
    class_name named;
    rotary_frequencies frequencies;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t sequence) const {
        const trace::no_grad_guard quiet{t};
        t.register_buffer({2, dim / 2}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        frequencies.update(t, dim);
        const tensor angles = t.mul(t.full({1, sequence, 1}), trace::buffer({dim / 2}));
        const tensor ones = t.full({1, sequence, dim / 2});
        tensor unit = t.polar(ones, angles);
        unit.type = dtype::complex64;
        return t.complex_mul(unit);
    }
};

/// Multiplies pairs of elements as complex numbers: x (…, dim), unit (…, dim / 2), broadcast -> (…, dim).
constexpr tensor rotate_complex(trace& t, const tensor& x, const tensor& unit) {
    const shape pairs{x.dim(0), x.dim(1), x.dim(2), x.dim(3) / 2, 2};
    const tensor rotated = t.complex_mul(t.reshape(t.to(x, dtype::float32), pairs).view_as_complex(), unit);
    return t.to(rotated.view_as_real().view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)}), x.type);
}

/// Applies RoPE: x (batch, heads, sequence, dim); cos and sin (1, sequence, dim).
///
///     x · cos + rotate_half(x) · sin
constexpr tensor rotate(trace& t, rotary_style kind, const tensor& x, const tensor& cos, const tensor& sin) {
    if (kind == rotary_style::interleaved_complex) return rotate_complex(t, x, cos.unsqueeze(1));
    const std::int64_t half = x.dim(-1) / 2;
    if (kind == rotary_style::rotate_half_split || kind == rotary_style::interleaved_split) {
        const bool pairs = kind == rotary_style::interleaved_split;
        const tensor a = pairs ? t.slice(x, -1, half, 2) : x.slice(-1, half), b = pairs ? t.slice(x, -1, half, 2) : a;
        const tensor c = cos.slice(-1, half).unsqueeze(1), s = sin.slice(-1, half).unsqueeze(1);
        const tensor ac = t.mul(a, c), first = t.sub(ac, t.mul(b, s));
        const tensor bc = t.mul(b, c), second = t.add(bc, t.mul(a, s));
        return t.cat({first, second}, -1);
    }
    const tensor c = cos.unsqueeze(1), s = sin.unsqueeze(1);
    const tensor plain = t.mul(x, c);
    const int step = kind == rotary_style::interleaved ? 2 : 1;
    tensor negated_half = t.neg(t.slice(x, -1, half, step)), other_half = t.slice(x, -1, half, step);
    if (kind == rotary_style::interleaved) {
        negated_half = negated_half.unsqueeze(-1);
        other_half = other_half.unsqueeze(-1);
    }
    tensor rotated_half = t.cat({negated_half, other_half}, -1);
    if (kind == rotary_style::interleaved) {
        shape to;
        for (int i = 0; i < x.rank; ++i) to.size[to.rank++] = x.size[i];
        rotated_half = rotated_half.view(to);
    }
    const tensor out = t.add(plain, t.mul(rotated_half, s));
    return kind == rotary_style::rotate_half_float32 ? t.to(out, x.type) : out;
}

/// Applies RoPE in float32, on two copies of x (ModernBERT, ESM).
///
///     x · cos + rotate_half(x) · sin
/// Source: transformers/models/modernbert/modeling_modernbert.py, `apply_rotary_pos_emb`.
constexpr tensor rotate_in_float32(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    const tensor plain = t.mul(t.to(x, dtype::float32), cos), upcast = t.to(x, dtype::float32);
    const std::int64_t half = x.dim(-1) / 2;
    const tensor negated_half = t.neg(t.slice(upcast, -1, half));
    return t.to(t.add(plain, t.mul(t.cat({negated_half, t.slice(upcast, -1, half)}, -1), sin)), x.type);
}

/// Applies RoPE with a style known at compile time: `rotate<rotary_style::rotate_half>(t, q, cos, sin)`.
template <rotary_style Kind>
constexpr tensor rotate(trace& t, const tensor& x, const tensor& cos, const tensor& sin) {
    return rotate(t, Kind, x, cos, sin);
}

/// Converts a `rotate_half` table to an interleaved one: repeats each angle of the first half twice (GLM).
constexpr tensor repeat_for_pairs(trace& t, const tensor& table) {
    return t.repeat_interleave(table.slice(-1, table.dim(-1) / 2), -1, 2);
}

/// Applies RoPE to the first `dim` elements of every head (StableLM, Phi-3).
///
/// `concatenates_rest`: the rest is concatenated even if it is empty.
constexpr tensor rotate_partial(trace& t, rotary_style kind, const tensor& x, std::int64_t dim, const tensor& cos,
                                const tensor& sin, bool concatenates_rest) {
    if (dim == x.dim(-1) && !concatenates_rest) return rotate(t, kind, x, cos, sin);
    const tensor rotated = rotate(t, kind, t.slice(x, -1, dim), cos, sin);
    return t.cat({rotated, t.slice(x, -1, x.dim(-1) - dim)}, -1);
}

}  // namespace llmcost
