// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/forward/encoder_model.hpp>
#include <llmcost/layers/einsum.hpp>

// The inputs of a Funnel Transformer's attention, and how they are pooled with the tokens.
// Source: transformers/models/funnel/modeling_funnel.py, `FunnelAttentionStructure`, `FunnelRelMultiheadAttention`.
namespace llmcost::arch::funnel_detail {

inline constexpr std::size_t max_blocks = 8;
enum family_config_index : std::uint8_t {
    decoder_layers,
    separate,
    truncates,
    queries_only,
    factorized,
    uses_max_pooling,
    blocks,
    sizes_of_blocks,                                ///< `block_sizes`, one entry per block
    calls_of_layers = sizes_of_blocks + max_blocks  ///< `block_repeats`
};

/// Additional inputs of attention. Blocks pool them together with the tokens.
struct attention_inputs {
    tensor distances[max_blocks]{};  ///< relative positions with queries and keys of equal length
    tensor halving[max_blocks]{};    ///< relative positions between pooled queries and all keys
    tensor phi{}, pi{}, psi{}, omega{};
    tensor padding{};   ///< a mask of ones, (B, S)
    tensor from_cls{};  ///< zero for pairs with the class token, (S, S); empty: not separate
};

[[nodiscard]] constexpr std::int64_t halved(const layer_context& ctx, std::int64_t length) noexcept {
    const bool longer = ctx.config.family[separate] != 0 && ctx.config.family[truncates] == 0;
    return (length + (longer ? 1 : 0) + 1) / 2;
}
/// Slices `x[:, :length]`, or returns x if it has this length.
constexpr tensor cut_to(trace& t, const tensor& x, int dim, std::int64_t length) {
    return length == x.dim(dim) ? x : t.slice(x, dim, length);
}

/// Every other element along a dimension, with the first one separate (`stride_pool`).
constexpr tensor every_other(const layer_context& ctx, trace& t, const tensor& x, int dim) {
    const std::int64_t left = halved(ctx, x.dim(dim));
    return (ctx.config.family[separate] != 0 ? t.cat({x.slice(dim, 1), x}, dim) : x).slice(dim, left, 2);
}
/// Prepends the class token, so that it is pooled with itself.
constexpr tensor separate_cls_token(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.config.family[separate] == 0) return x;
    const tensor others = ctx.config.family[truncates] != 0 ? t.slice(x, 1, x.dim(1) - 1) : x;
    return t.cat({t.slice(x, 1, 1), others}, 1);
}
/// Pools pairs of tokens: (B, S, width) -> (B, S / 2, width).
constexpr tensor pooled(const layer_context& ctx, trace& t, const tensor& x) {
    const op kind = ctx.config.family[uses_max_pooling] != 0 ? op::max_pool : op::average_pool;
    return t.select(t.pool_rows(kind, separate_cls_token(ctx, t, x).unsqueeze(1), 2), 1);
}
/// Minimum over pairs of mask elements: (B, S) -> (B, S / 2).
constexpr tensor pooled_mask(const layer_context& ctx, trace& t, const tensor& mask) {
    const tensor x = separate_cls_token(ctx, t, mask).unsqueeze(1).unsqueeze(-1);
    return t.neg(t.pool_rows(op::max_pool, t.neg(x), 2)).select(1).select(-1);
}

/// Sines and cosines of position · frequency.
struct waves {
    tensor sines;
    tensor cosines;
};
constexpr waves make_waves(const layer_context& ctx, trace& t, std::int64_t positions) {
    const dtype type = t.activation_type();
    const std::int64_t half = ctx.config.hidden_size / 2;
    const tensor exponents = t.div_scalar(t.full({half}, type));
    tensor scalar = trace::buffer({});
    scalar.type = type;
    const tensor frequencies = t.mul_scalar(t.reciprocal(t.pow(scalar, exponents)));
    const tensor angles = t.mul(t.full({positions}, type).unsqueeze(1), frequencies.unsqueeze(0));
    return {t.sin(angles), t.cos(angles)};
}
/// Applies the dropouts of `attention_structure`, a module that is never called itself.
constexpr waves dropped(const layer_context& ctx, trace& t, const waves& input) {
    const module_info structure{.name = "attention_structure", .class_of_module = ctx.class_of("AttentionStructure")};
    t.enter(structure);
    const waves out{dropout(t, "sin_dropout", input.sines), dropout(t, "cos_dropout", input.cosines)};
    t.leave(structure);
    return out;
}

/// Relative positions of every block, gathered from one table (`get_position_embeds`).
constexpr void make_distances(const layer_context& ctx, trace& t, attention_inputs& in) {
    const std::int64_t width = ctx.config.hidden_size;
    std::int64_t length = t.load().sequence;
    const waves all = dropped(ctx, t, make_waves(ctx, t, 4 * length));
    const tensor table = t.cat({all.sines, all.cosines}, -1);
    for (std::int64_t b = 0; b < ctx.config.family[blocks]; ++b) {
        if (b > 0) {
            const std::int64_t previous_length = length;
            length = halved(ctx, previous_length);
            in.halving[b] = t.gather(table, {2 * length + previous_length, width});
        }
        in.distances[b] = t.gather(table, {2 * length, width});
    }
}
constexpr void make_factors(const layer_context& ctx, trace& t, attention_inputs& in) {
    const waves all = make_waves(ctx, t, t.load().sequence), dropped_waves = dropped(ctx, t, all);
    in.phi = t.cat({dropped_waves.sines, dropped_waves.sines}, -1);
    in.psi = t.cat({all.cosines, all.sines}, -1);
    in.pi = t.cat({dropped_waves.cosines, dropped_waves.cosines}, -1);
    in.omega = t.cat({t.neg(all.sines), all.cosines}, -1);
}
constexpr attention_inputs make_inputs(const layer_context& ctx, trace& t, const tensor& padding) {
    attention_inputs in{.padding = padding};
    const std::int64_t others = t.load().sequence - 1;
    if (ctx.config.family[factorized] != 0)
        make_factors(ctx, t, in);
    else
        make_distances(ctx, t, in);
    if (ctx.config.family[separate] != 0) in.from_cls = t.pad(t.full({others, others}, t.activation_type()), 0, 1, 1);
    return in;
}
/// Pools the query-side inputs before the first layer of a block. The key-side inputs are pooled after it.
constexpr void halve_queries(const layer_context& ctx, trace& t, attention_inputs& in) {
    if (ctx.config.family[factorized] != 0) {
        in.phi = every_other(ctx, t, in.phi, 0);
        in.pi = every_other(ctx, t, in.pi, 0);
    }
    if (in.from_cls.rank != 0) in.from_cls = every_other(ctx, t, in.from_cls, 0);
}
constexpr void halve_keys(const layer_context& ctx, trace& t, attention_inputs& in) {
    if (ctx.config.family[factorized] != 0) {
        in.psi = every_other(ctx, t, in.psi, 0);
        in.omega = every_other(ctx, t, in.omega, 0);
    }
    if (in.from_cls.rank != 0) in.from_cls = every_other(ctx, t, in.from_cls, 1);
    in.padding = pooled_mask(ctx, t, in.padding);
}

/// Relative attention of queries (B, S, width) to keys, which are also the values.
struct attention {
    const layer_context& ctx;
    const attention_inputs& in;
    std::int64_t block;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RelMultiheadAttention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& source_states) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                           d = ctx.config.head_dim;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), length = source_states.dim(1), inner = heads * d;
        const tensor at_contents = t.param("r_w_bias", {heads, d}), at_places = t.param("r_r_bias", {heads, d});
        const tensor kernel = t.param("r_kernel", {width, heads, d});
        const tensor at_segments = t.param("r_s_bias", {heads, d}), segments = t.param("seg_embed", {2, heads, d});
        const auto by_heads = [&](literal name, bool biased, const tensor& a) {
            return t.call(name, linear{width, inner, biased}, a).view({batch, a.dim(1), heads, d});
        };
        const tensor q_head = by_heads("q_head", false, x), k = by_heads("k_head", true, source_states);
        const tensor v = by_heads("v_head", true, source_states);
        const tensor q = t.mul_scalar(q_head);
        const bool by_factors = ctx.config.family[factorized] != 0, halves = sequence != length;
        tensor distances;
        if (!by_factors) distances = einsum(t, "td,dnh->tnh", halves ? in.halving[block] : in.distances[block], kernel);
        tensor mixed;
        {
            const recorder::fused_kernel_guard fused{
                t, fused_attention_kernel(q.transpose(1, 2), heads, full_pattern(sequence).pattern, length)};
            const tensor contents = einsum(t, "bind,bjnd->bnij", t.add(q, t.mul_scalar(at_contents)), k);
            const tensor biased_q = t.add(q, t.mul_scalar(at_places));
            tensor places = by_factors ? factors(t, biased_q, kernel) : shifted(t, biased_q, distances, length);
            if (in.from_cls.rank != 0) t.mul_(places, in.from_cls);
            const tensor sides = einsum(t, "bind,snd->bnis", t.add(q, t.mul_scalar(at_segments)), segments);
            const tensor diff_token_type = sides.slice(-1, 1).expand({batch, heads, sequence, length});
            tensor of_segments = t.where(diff_token_type, diff_token_type);
            if (in.from_cls.rank != 0) t.mul_(of_segments, in.from_cls);
            const tensor sum = t.add(t.add(contents, places), of_segments);
            const tensor float_sum = t.to(sum, dtype::float32);
            const tensor mask = t.to(in.padding.unsqueeze(1).unsqueeze(1), dtype::float32);
            const tensor scores = t.sub(float_sum, t.mul_scalar(t.add_scalar(mask)));
            const tensor features =
                dropout(t, "attention_dropout", t.softmax_method(t.to(scores, sum.type)), dropout_position::attention);
            mixed = t.reshape(einsum(t, "bnij,bjnd->bind", features, v), {batch, sequence, inner});
        }
        const tensor out = dropout(t, "hidden_dropout", t.call("post_proj", linear{inner, width, true}, mixed));
        return t.call("layer_norm", norm_module{norm_kind::layer, width}, t.add(x, out));
    }

private:
    /// Relative position scores, shifted so that each query starts at its own position.
    static constexpr tensor shifted(trace& t, const tensor& q, const tensor& distances, std::int64_t length) {
        const std::int64_t batch = q.dim(0), sequence = q.dim(1), heads = q.dim(2), all = distances.dim(0);
        const std::int64_t left = all - (sequence != length ? 2 : 1);
        const tensor scores = einsum(t, "binh,tnh->bnit", q, distances);
        tensor h = t.reshape(scores, {batch, heads, all, sequence});
        h = t.reshape(t.slice(h, 2, left), {batch, heads, sequence, left});
        return cut_to(t, h, -1, length < left ? length : left);
    }
    /// Relative position scores in factorized form: products of sines and cosines.
    [[nodiscard]] constexpr tensor factors(trace& t, const tensor& q, const tensor& kernel) const {
        const tensor all = einsum(t, "binh,dnh->bind", q, kernel);
        const tensor first = t.mul(all, in.phi.unsqueeze(1)), second = t.mul(all, in.pi.unsqueeze(1));
        const tensor of_first = einsum(t, "bind,jd->bnij", first, in.psi);
        return t.add(of_first, einsum(t, "bind,jd->bnij", second, in.omega));
    }
};

}  // namespace llmcost::arch::funnel_detail
