// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nystromformer.hpp>

namespace llmcost::arch {

namespace yoso_detail {

enum own : std::uint8_t { code, window };
inline constexpr own_key keys[]{{"hash_code_len", 9}, {.value = own_value::computed}};

/// `F.normalize`: each row over its length, which is at least the smallest difference.
constexpr value normalize(trace& t, const value& x) {
    return t.div(x, t.unary(op::compare, t.vector_norm(x, -1, true)).expand({x.dim(0), x.dim(1), x.dim(2)}));
}

/// (1 - acos(q · k) / π) to the power of the code's length, times values: `YosoCumulation`, whose backward keeps the shares
/// and makes four products of its own.
constexpr value cumulate(const site& here, trace& t, const value& q, const value& k, const value& v) {
    value out;
    const count pairs = count(q.elements / static_cast<std::uint64_t>(q.dim(2))) * count(k.dim(1));
    value shares;
    {
        const recorder::no_grad_guard own_backward{t};
        const value turns = t.div(t.unary(op::acos, t.matmul(q, k.transpose(-1, -2))));
        shares = t.pow(t.unary(op::sub, turns), static_cast<unsigned>(here.dims.own[code]));
        const value seen = trace::buffer({q.dim(0), q.dim(1)});
        shares = t.mul(t.mul(shares, seen.unsqueeze(2)), seen.unsqueeze(1));
        out = t.matmul(shares, v);
    }
    if (!q.requires_grad) return out;
    shares.requires_grad = true;
    t.save_for_backward(shares);
    const value* const read[]{&q, &k, &v};
    for (const value* const each : read) t.save_for_backward(*each);
    t.goes_through(out, read, 3);
    // weighted = grad · vᵀ * shares; its products with constant · k and constant · q; sharesᵀ · grad
    const count work = pairs * count(q.dim(2));
    const count rows = pairs + count(q.elements) + count(k.elements) + count(v.elements);
    t.backward({.add = work * count(4) - rows, .mult = work * count(4) + pairs + count(q.elements) + count(k.elements)});
    t.backward_torch_flops(work * count(8));
    return out;
}

constexpr value embed(const site& here, trace& t) { return embed_within(here, t, nystromformer_detail::sum_embeddings); }
/// A mask of ones, which layers read.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = all_or_before(here, t);
    c.full.own[0] = t.constant({t.load().batch, t.load().sequence});
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads, d = width / heads;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), k = here.dims.own[window];
    const value& mask = here.shared->own[0];
    const extents rows{batch * heads, sequence, d};
    qkv of;
    project_in_heads(t, x, width, heads, {}, of.q, of.k, of.v);
    {
        const recorder::idle_guard not_called{t};
        (void)dropout(t, "dropout", x);
    }
    value convolved;
    if (k != 0) {
        const module_info conv{.name = "conv", .type = {"", "Conv2d"}, .leaf = true};
        const value seen = t.mul(of.v, mask.unsqueeze(1).unsqueeze(3));
        t.enter(conv);
        const value weight = t.param("weight", {heads, 1, k, 1});
        convolved = t.leave(conv, t.convolution(seen, weight, false, {.groups = heads, .padding = {k / 2, 0}}));
    }
    const recorder::fused_guard fused{t, fused_attention(of.q, heads, here.shared->where, sequence)};
    of.q = t.reshape(of.q, rows), of.k = t.reshape(of.k, rows), of.v = t.reshape(of.v, rows);
    const value ones = t.add(t.div(mask));
    (void)t.repeat_interleave(ones.unsqueeze(1), 1, heads);  // integers from then on
    const value q = normalize(t, of.q), key = normalize(t, of.k);
    value mixed = normalize(t, cumulate(here, t, q, key, of.v)).view({batch, heads, sequence, d});
    if (k != 0) t.in_place(op::add, mixed, convolved);
    return t.contiguous(mixed.permute({0, 2, 1, 3})).view({batch, sequence, width});
}

constexpr void read(config_view config, sizes& s) {
    read_encoder_alone(config, s);
    if (!config.boolean("use_expectation", true))
        fail_unsupported(config, "use_expectation", "no row describes hashing, which runs in a kernel of its own");
    if (config.boolean("add_cross_attention", false))
        fail_unsupported(config, "add_cross_attention", "the reference has no such layer");
    if (s.own[code] > 16) fail_unsupported(config, "hash_code_len", "no row describes powers beyond 16");
    s.own[window] = config.optional_positive("conv_window").value_or(0);
    if (s.own[window] != 0 && s.own[window] % 2 == 0) fail_value(config, "conv_window", "an odd number");
    s.max_position_embeddings += 2, s.first_position = 2;
}

}  // namespace yoso_detail

// transformers/models/yoso: Nystromformer's frame around shares by the angle of queries and keys
inline constexpr architecture yoso = [](architecture a) {
    a.model_type = "yoso", a.prefix = "Yoso", a.read = yoso_detail::read, a.own = yoso_detail::keys;
    a.attend = yoso_detail::attend, a.embed = yoso_detail::embed, a.prepare = yoso_detail::prepare, a.names.base = "yoso";
    a.defaults.vocab_size = 50265, a.defaults.max_position_embeddings = 4096, a.defaults.type_vocab_size = 1;
    a.defaults.hidden_act = activation::gelu;
    a.drops = headless_encoder_dropout;
    return a;
}(nystromformer);

}  // namespace llmcost::arch
