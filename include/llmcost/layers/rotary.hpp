// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/model/sizes.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Which elements of a head are rotated together.
enum class rotation : std::uint8_t {
    none,
    half,           ///< element i with i + d/2 (Llama)
    half_in_float,  ///< the same with tables in float32, cast back afterwards (OLMo 2)
    interleaved,    ///< element 2i with 2i + 1, written with stack and flatten (Cohere)
    split,          ///< halves rotated as two tensors, a table of dim/2 (gpt-oss)
    split_pairs,    ///< even and odd elements rotated as two tensors (DeepSeek V3)
    complex_pairs   ///< pairs as complex numbers times unit complex numbers (DeepSeek V2)
};

/// The frequencies of a rotary table, and what each pass does to them.
///
/// Source: transformers/modeling_rope_utils.py, `dynamic_rope_update` and `_compute_dynamic_ntk_parameters`. Rescaling costs
/// POW dim/2 + 1, DIV dim + 1, MULT dim/2 + 2 and an ADD, in every pass that is longer than all before.
struct rotary_frequencies {
    frequency_rule rule = frequency_rule::kept;
    std::int64_t max_position_embeddings = 0;

    constexpr explicit rotary_frequencies(const sizes& s, bool sliding = false) noexcept
        : rule(sliding ? s.sliding_frequencies : s.frequencies), max_position_embeddings(s.max_position_embeddings) {}

    constexpr void update(trace& t, std::int64_t dim) const {
        if (rule == frequency_rule::kept) return;
        if (rule == frequency_rule::picked) {
            (void)t.where(trace::buffer({dim / 2}));
            return;
        }
        t.edge(axis::total, max_position_embeddings + 1);
        if (t.load().past + t.load().sequence <= max_position_embeddings) return;
        value scale = trace::buffer({});
        if (rule == frequency_rule::rescaled) scale = t.mul(scale);
        scale = t.add(t.div(scale));
        scale = dim == 4 ? t.pow(scale, 2) : t.unary(op::power, scale);  // to the power of dim / (dim - 2)
        const value base = t.mul(scale), exponents = t.div(t.constant({dim / 2}));
        (void)t.mul(t.unary(op::reciprocal, t.binary(op::power, base, exponents)));
    }
};

/// What a position is made of: a text's place, or three axes (time, height, width) that share a head's frequencies.
enum class rotary_axes : std::uint8_t {
    one,
    sections,    ///< a run of frequencies per axis, joined (Qwen2-VL)
    interleaved  ///< every third frequency of the later axes, written over the first one's (Qwen3-VL)
};

/// Cosines and sines of every position, (1, sequence, dim) each, as Llama's rotary embedding makes them once a pass.
///
/// MULT sequence·dim/2 for the angles and 2·sequence·dim for the scaling; TRIG 2·sequence·dim. With several axes, text's
/// positions are expanded to all of them and to every sequence, (batch, sequence, dim): angles, cosines, sines and their
/// scaling are 3·batch·sequence·dim/2 each, of which the axes' parts are joined and then doubled; how long each part is
/// changes no figure.
struct rotary_table {
    std::int64_t dim;
    class_name named;
    rotary_frequencies frequencies;
    rotation form = rotation::half;  ///< decides how angles are doubled: joined, repeated, or not at all
    rotary_axes axes = rotary_axes::one;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr two_values describe(trace& t, std::int64_t sequence) const {
        const trace::no_grad_guard quiet{t};
        t.owns_buffer(count(dim / 2 * 2 * 4));  // `inv_freq` and `original_inv_freq`, always in float32
        frequencies.update(t, dim);
        if (axes != rotary_axes::one) return of_several_axes(t, t.load().batch, sequence);
        const value positions = t.constant({1, sequence, 1});
        const value both = doubled(t, t.mul(positions, trace::buffer({dim / 2})));
        const value cos = t.mul(t.unary(op::cos, both)), sin = t.mul(t.unary(op::sin, both));
        if (form == rotation::half_in_float) return {cos, sin};
        return {t.to(cos, t.activation_type()), t.to(sin, t.activation_type())};
    }

private:
    constexpr value doubled(trace& t, const value& x) const {
        if (form == rotation::split) return x;
        return form == rotation::interleaved ? t.gather(x, {x.dim(0), x.dim(1), dim}) : t.cat({x, x}, -1);
    }
    /// Source: transformers/models/qwen2_vl, qwen3_5, `recomposition_frequencies`.
    constexpr two_values of_several_axes(trace& t, std::int64_t batch, std::int64_t sequence) const {
        if (form != rotation::half && form != rotation::interleaved)
            report_description("positions of several axes rotate halves or neighbours only");
        const value angles = t.mul(t.constant({3, batch, sequence, 1}), trace::buffer({dim / 2}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        return {recomposed(t, cos), recomposed(t, sin)};
    }
    constexpr value recomposed(trace& t, const value& x) const {
        const value first = x.select(0);  // interleaved: the other axes' parts are copied into their places
        const value all = axes == rotary_axes::sections ? t.cat({first}, -1) : first;
        return t.to(doubled(t, all), t.activation_type());
    }
};

/// Unit complex numbers of every position, (1, sequence, dim / 2), as DeepSeek V2's rotary embedding makes them.
struct complex_rotary_table {
    std::int64_t dim;
    class_name named;
    rotary_frequencies frequencies;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, std::int64_t sequence) const {
        const trace::no_grad_guard quiet{t};
        frequencies.update(t, dim);
        const value angles = t.mul(t.constant({1, sequence, 1}), trace::buffer({dim / 2}));
        const value ones = t.constant({1, sequence, dim / 2});
        value unit = t.binary(op::polar, ones, angles);
        unit.type = dtype::complex64;
        return t.unary(op::complex_mul, unit);
    }
};

/// Pairs of elements of x (…, dim) as complex numbers times unit ones that broadcast to (…, dim / 2).
constexpr value rotate_pairs(trace& t, const value& x, const value& unit) {
    const extents pairs{x.dim(0), x.dim(1), x.dim(2), x.dim(3) / 2, 2};
    const value turned = t.binary(op::complex_mul, t.reshape(t.to(x, dtype::float32), pairs).as_complex(), unit);
    return t.to(turned.as_real().view({x.dim(0), x.dim(1), x.dim(2), x.dim(3)}), x.type);
}

/// q · cos + rotate_half(q) · sin for x (batch, heads, sequence, dim); cos and sin (1, sequence, dim).
constexpr value rotate(trace& t, rotation kind, const value& x, const value& cos, const value& sin) {
    if (kind == rotation::complex_pairs) return rotate_pairs(t, x, cos.unsqueeze(1));
    const std::int64_t half = x.dim(-1) / 2;
    if (kind == rotation::split || kind == rotation::split_pairs) {
        const bool pairs = kind == rotation::split_pairs;
        const value a = pairs ? t.slice(x, -1, half, 2) : x.slice(-1, half), b = pairs ? t.slice(x, -1, half, 2) : a;
        const value c = cos.slice(-1, half).unsqueeze(1), s = sin.slice(-1, half).unsqueeze(1);
        const value first = t.sub(t.mul(a, c), t.mul(b, s)), second = t.add(t.mul(b, c), t.mul(a, s));
        return t.cat({first, second}, -1);
    }
    const value c = cos.unsqueeze(1), s = sin.unsqueeze(1);
    const value plain = t.mul(x, c);
    const int step = kind == rotation::interleaved ? 2 : 1;
    value turned = t.neg(t.slice(x, -1, half, step)), other = t.slice(x, -1, half, step);
    if (kind == rotation::interleaved) turned = turned.unsqueeze(-1), other = other.unsqueeze(-1);
    value joined = t.cat({turned, other}, -1);
    if (kind == rotation::interleaved) {
        extents to;
        for (int i = 0; i < x.rank; ++i) to.size[to.rank++] = x.size[i];
        joined = joined.view(to);
    }
    const value out = t.add(plain, t.mul(joined, s));
    return kind == rotation::half_in_float ? t.to(out, x.type) : out;
}

/// The same with a rotation that is known where it is written: `rotate<rotation::half>(t, q, cos, sin)`.
template <rotation Kind>
constexpr value rotate(trace& t, const value& x, const value& cos, const value& sin) {
    return rotate(t, Kind, x, cos, sin);
}

/// A table of halves as pairs of elements want it: each angle of its first half twice, side by side (GLM).
constexpr value spread_to_pairs(trace& t, const value& table) {
    return t.repeat_interleave(table.slice(-1, table.dim(-1) / 2), -1, 2);
}

/// Rotates the first `dim` elements of every head and leaves the rest (StableLM, Phi-3); `joins` joins them with nothing,
/// too.
constexpr value rotate_part(trace& t, rotation kind, const value& x, std::int64_t dim, const value& cos, const value& sin,
                            bool joins) {
    if (dim == x.dim(-1) && !joins) return rotate(t, kind, x, cos, sin);
    const value turned = rotate(t, kind, t.slice(x, -1, dim), cos, sin);
    return t.cat({turned, t.slice(x, -1, x.dim(-1) - dim)}, -1);
}

}  // namespace llmcost
