// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/einsum.hpp>
#include <llmcost/walks/encoder_model.hpp>

// What a Funnel Transformer's attention reads, and how it is halved with the tokens.
// Source: transformers/models/funnel/modeling_funnel.py, `FunnelAttentionStructure`, `FunnelRelMultiheadAttention`.
namespace llmcost::arch::funnel_detail {

inline constexpr std::size_t most_blocks = 8;
enum own : std::uint8_t {
    decoder_layers,
    separate,
    truncates,
    queries_only,
    factorized,
    takes_largest,
    blocks,
    sizes_of_blocks,                                 ///< `block_sizes`, one after the other
    calls_of_layers = sizes_of_blocks + most_blocks  ///< `block_repeats`
};

/// What attention reads beside tokens; blocks halve it as they halve the tokens.
struct attention_inputs {
    value distances[most_blocks]{};  ///< positions relative to as many
    value halving[most_blocks]{};    ///< the same between halved queries and all keys
    value phi{}, pi{}, psi{}, omega{};
    value padding{};   ///< a mask of ones, (B, S)
    value from_cls{};  ///< zero where the first token is met, (S, S); none: it is like the others
};

[[nodiscard]] constexpr std::int64_t halved(const site& here, std::int64_t length) noexcept {
    const bool longer = here.dims.own[separate] != 0 && here.dims.own[truncates] == 0;
    return (length + (longer ? 1 : 0) + 1) / 2;
}
/// `x[:, :length]` and its like: nothing happens where that is all.
constexpr value cut_to(trace& t, const value& x, int along, std::int64_t length) {
    return length == x.dim(along) ? x : t.slice(x, along, length);
}

/// Every other element along a dimension, the first one apart (`stride_pool`).
constexpr value every_other(const site& here, trace& t, const value& x, int along) {
    const std::int64_t left = halved(here, x.dim(along));
    return (here.dims.own[separate] != 0 ? t.cat({x.slice(along, 1), x}, along) : x).slice(along, left, 2);
}
/// The first token, which is pooled with itself, in front of the others.
constexpr value with_first_apart(const site& here, trace& t, const value& x) {
    if (here.dims.own[separate] == 0) return x;
    const value others = here.dims.own[truncates] != 0 ? t.slice(x, 1, x.dim(1) - 1) : x;
    return t.cat({t.slice(x, 1, 1), others}, 1);
}
/// Pairs of tokens as one, (B, S, width) -> (B, S / 2, width).
constexpr value pooled(const site& here, trace& t, const value& x) {
    const op kind = here.dims.own[takes_largest] != 0 ? op::max_pool : op::average_pool;
    return t.select(t.pool_rows(kind, with_first_apart(here, t, x).unsqueeze(1), 2), 1);
}
/// The least of each pair of a mask, (B, S) -> (B, S / 2).
constexpr value pooled_mask(const site& here, trace& t, const value& mask) {
    const value x = with_first_apart(here, t, mask).unsqueeze(1).unsqueeze(-1);
    return t.neg(t.pool_rows(op::max_pool, t.neg(x), 2)).select(1).select(-1);
}

/// Sines and cosines of so many positions times frequencies.
struct waves {
    value sines;
    value cosines;
};
constexpr waves make_waves(const site& here, trace& t, std::int64_t positions) {
    const dtype type = t.activation_type();
    const std::int64_t half = here.dims.hidden_size / 2;
    const value exponents = t.div(t.constant({half}, type));
    value scalar = trace::buffer({});
    scalar.type = type;
    const value frequencies = t.mul(t.unary(op::reciprocal, t.binary(op::power, scalar, exponents)));
    const value angles = t.mul(t.constant({positions}, type).unsqueeze(1), frequencies.unsqueeze(0));
    return {t.unary(op::sin, angles), t.unary(op::cos, angles)};
}
/// The module that attention's inputs come from is never called; its dropouts are.
constexpr waves dropped(const site& here, trace& t, const waves& of) {
    const module_info structure{.name = "attention_structure", .type = here.type("AttentionStructure")};
    t.enter(structure);
    const waves out{dropout(t, "sin_dropout", of.sines), dropout(t, "cos_dropout", of.cosines)};
    t.leave(structure);
    return out;
}

/// Positions of every block relative to each other, looked up in one table (`get_position_embeds`).
constexpr void make_distances(const site& here, trace& t, attention_inputs& in) {
    const std::int64_t width = here.dims.hidden_size;
    std::int64_t length = t.load().sequence;
    const waves all = dropped(here, t, make_waves(here, t, 4 * length));
    const value table = t.cat({all.sines, all.cosines}, -1);
    for (std::int64_t b = 0; b < here.dims.own[blocks]; ++b) {
        if (b > 0) {
            const std::int64_t before = length;
            length = halved(here, before);
            in.halving[b] = t.gather(table, {2 * length + before, width});
        }
        in.distances[b] = t.gather(table, {2 * length, width});
    }
}
constexpr void make_factors(const site& here, trace& t, attention_inputs& in) {
    const waves all = make_waves(here, t, t.load().sequence), kept = dropped(here, t, all);
    in.phi = t.cat({kept.sines, kept.sines}, -1);
    in.psi = t.cat({all.cosines, all.sines}, -1);
    in.pi = t.cat({kept.cosines, kept.cosines}, -1);
    in.omega = t.cat({t.neg(all.sines), all.cosines}, -1);
}
constexpr attention_inputs make_inputs(const site& here, trace& t, const value& padding) {
    attention_inputs in{.padding = padding};
    const std::int64_t others = t.load().sequence - 1;
    if (here.dims.own[factorized] != 0)
        make_factors(here, t, in);
    else
        make_distances(here, t, in);
    if (here.dims.own[separate] != 0) in.from_cls = t.pad(t.constant({others, others}, t.activation_type()), 0, 1, 1);
    return in;
}
/// What belongs to queries is halved in front of the first layer of a block, where keys are not behind it.
constexpr void halve_queries(const site& here, trace& t, attention_inputs& in) {
    if (here.dims.own[factorized] != 0) in.phi = every_other(here, t, in.phi, 0), in.pi = every_other(here, t, in.pi, 0);
    if (in.from_cls.rank != 0) in.from_cls = every_other(here, t, in.from_cls, 0);
}
constexpr void halve_keys(const site& here, trace& t, attention_inputs& in) {
    if (here.dims.own[factorized] != 0)
        in.psi = every_other(here, t, in.psi, 0), in.omega = every_other(here, t, in.omega, 0);
    if (in.from_cls.rank != 0) in.from_cls = every_other(here, t, in.from_cls, 1);
    in.padding = pooled_mask(here, t, in.padding);
}

/// Queries (B, S, width) over keys, which are the values, with their distances and segments.
struct attention {
    const site& here;
    const attention_inputs& in;
    std::int64_t block;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("RelMultiheadAttention"); }
    constexpr value describe(trace& t, const value& x, const value& from) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = here.dims.head_dim;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), length = from.dim(1), inner = heads * d;
        const value at_contents = t.param("r_w_bias", {heads, d}), at_places = t.param("r_r_bias", {heads, d});
        const value kernel = t.param("r_kernel", {width, heads, d});
        const value at_segments = t.param("r_s_bias", {heads, d}), segments = t.param("seg_embed", {2, heads, d});
        const auto by_heads = [&](literal name, bool biased, const value& a) {
            return t.call(name, linear{width, inner, biased}, a).view({batch, a.dim(1), heads, d});
        };
        const value asked = by_heads("q_head", false, x), k = by_heads("k_head", true, from);
        const value v = by_heads("v_head", true, from);
        const value q = t.mul(asked);
        const bool by_factors = here.dims.own[factorized] != 0, halves = sequence != length;
        value distances;
        if (!by_factors) distances = einsum(t, "td,dnh->tnh", halves ? in.halving[block] : in.distances[block], kernel);
        value mixed;
        {
            const recorder::fused_guard fused{
                t, fused_attention(q.transpose(1, 2), heads, all_positions(sequence).where, length)};
            const value contents = einsum(t, "bind,bjnd->bnij", t.add(q, t.mul(at_contents)), k);
            const value biased_q = t.add(q, t.mul(at_places));
            value places = by_factors ? factors(t, biased_q, kernel) : shifted(t, biased_q, distances, length);
            if (in.from_cls.rank != 0) t.in_place(op::mul, places, in.from_cls);
            const value sides = einsum(t, "bind,snd->bnis", t.add(q, t.mul(at_segments)), segments);
            const value other = sides.slice(-1, 1).expand({batch, heads, sequence, length});
            value of_segments = t.where(other, other);
            if (in.from_cls.rank != 0) t.in_place(op::mul, of_segments, in.from_cls);
            const value sum = t.add(t.add(contents, places), of_segments);
            const value mask = t.to(in.padding.unsqueeze(1).unsqueeze(1), dtype::float32);
            const value scores = t.sub(t.to(sum, dtype::float32), t.mul(t.add(mask)));
            const value seen =
                dropout(t, "attention_dropout", t.softmax_method(t.to(scores, sum.type)), dropout_of::attention);
            mixed = t.reshape(einsum(t, "bnij,bjnd->bind", seen, v), {batch, sequence, inner});
        }
        const value out = dropout(t, "hidden_dropout", t.call("post_proj", linear{inner, width, true}, mixed));
        return t.call("layer_norm", norm<norm_kind::layer>{width}, t.add(x, out));
    }

private:
    /// Scores by distance, shifted so that each query's begin at its own place.
    static constexpr value shifted(trace& t, const value& q, const value& distances, std::int64_t length) {
        const std::int64_t batch = q.dim(0), sequence = q.dim(1), heads = q.dim(2), all = distances.dim(0);
        const std::int64_t left = all - (sequence != length ? 2 : 1);
        const value scores = einsum(t, "binh,tnh->bnit", q, distances);
        value h = t.reshape(scores, {batch, heads, all, sequence});
        h = t.reshape(t.slice(h, 2, left), {batch, heads, sequence, left});
        return cut_to(t, h, -1, length < left ? length : left);
    }
    /// The same as products of sines and cosines.
    [[nodiscard]] constexpr value factors(trace& t, const value& q, const value& kernel) const {
        const value all = einsum(t, "binh,dnh->bind", q, kernel);
        const value first = t.mul(all, in.phi.unsqueeze(1)), second = t.mul(all, in.pi.unsqueeze(1));
        const value of_first = einsum(t, "bind,jd->bnij", first, in.psi);
        return t.add(of_first, einsum(t, "bind,jd->bnij", second, in.omega));
    }
};

}  // namespace llmcost::arch::funnel_detail
