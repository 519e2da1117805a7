// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mixtral.hpp>
#include <llmcost/layers/causal_convolution.hpp>

namespace llmcost::arch {

namespace minimax_detail {

enum own : std::uint8_t { block_size };
inline constexpr own_key keys[]{
    {"block_size", 256},
};

/// Linear attention by blocks of a sequence, or token by token behind a cached state; every head decays by itself.
///
/// MULT per block of L tokens: B·heads·(2·L²·dim + 2·L·dim²) and what decay costs.
/// Source: transformers/models/minimax/modeling_minimax.py, `MiniMaxLightningAttention`.
struct lightning_attention {
    site here;

    static constexpr role what = role::mixer;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("LightningAttention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t heads = here.dims.num_attention_heads, dim = here.dims.head_dim, width = here.dims.hidden_size;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const value all = t.call("qkv_proj", linear{width, 3 * heads * dim}, x);
        const value qkv = t.call("act_fn", activation_module{here.dims.hidden_act}, all);
        const value part = t.reshape(qkv, {batch, sequence, heads, 3 * dim}).slice(3, dim).transpose(1, 2);
        value state = held(t, {batch, heads, dim, dim});
        const value found = looked_up(t, part, state);
        const value flat = t.reshape(found.transpose(1, 2), {batch, sequence, heads * dim});
        const value out = call_norm(t, "norm", here.row.norm, heads * dim, here.type("RMSNorm"), flat);
        const value gate = t.sigmoid(t.call("output_gate", linear{width, heads * dim}, x));
        if (!t.training()) t.cache(held(t, {batch, heads, dim, dim}));
        return t.call("out_proj", linear{heads * dim, width}, t.mul(gate, out));
    }

private:
    /// A buffer, which has the type of the model's parameters.
    static constexpr value held(const trace& t, const extents& sizes) {
        value v = trace::buffer(sizes);
        v.type = t.activation_type();
        return v;
    }
    /// Queries, keys and values are alike, each a `part`: (B, heads, S, dim).
    constexpr value looked_up(trace& t, const value& part, value& state) const {
        const std::int64_t heads = part.dim(1), sequence = part.dim(2), dim = part.dim(3), block = here.dims.own[block_size];
        const recorder::fused_guard fused{t,
                                          {.kind = fused_kind::linear_attention,
                                           .batch = part.dim(0),
                                           .sequence = sequence,
                                           .heads = heads,
                                           .kv_heads = heads,
                                           .head_dim = dim,
                                           .value_dim = dim,
                                           .chunk = block}};
        if (has_recurrent_state(t)) {
            const value ratio = t.exp(t.neg(held(t, {heads, 1, 1})));
            for (repetition each = t.steps(sequence, state); each.next();) token(t, part, ratio, state);
        } else {
            // figures bend where a block ends, and behind its first token, which lies otherwise in memory
            t.edge(axis::sequence, (sequence - 1) / block * block + 1);
            t.edge(axis::sequence, (sequence - 1) / block * block + 2);
            t.edge(axis::sequence, ((sequence - 1) / block + 1) * block + 1);
            const std::int64_t blocks = (sequence - 1) / block + 1, last = sequence - (blocks - 1) * block;
            state = t.constant({part.dim(0), heads, dim, dim}, part.type);
            // the first state asks for no gradient, the others do; nothing reads the last one
            run(t, part, blocks > 1 ? block : last, state, blocks > 1);
            for (repetition each = t.steps(blocks - 2, state); each.next();) run(t, part, block, state, true);
            if (blocks > 1) run(t, part, last, state, false);
        }
        value outputs = held(t, {part.dim(0), heads, sequence, dim});  // of all blocks or tokens, one behind the other
        outputs.requires_grad = part.requires_grad;
        return t.cat({outputs}, -2);
    }
    constexpr void run(trace& t, const value& part, std::int64_t length, value& state, bool read) const {
        const std::int64_t heads = part.dim(1), block = here.dims.own[block_size];
        const value q = t.slice(part, 2, length), k = t.slice(part, 2, length), v = t.slice(part, 2, length);
        const value rows = held(t, {heads, block, 1}).slice(1, length);
        const value pairs = held(t, {1, heads, block, block}).slice(2, length).slice(3, length);
        const value decay = t.exp(t.mul(t.neg(held(t, {heads, 1, 1}))));
        const value within = t.matmul(t.mul(t.matmul(q, k.transpose(-1, -2)), pairs), v);
        const value across = t.matmul(t.mul(q, rows), state);
        (void)t.add(across, within);
        const recorder::off_loss_guard unread{t, !read};
        const value fresh = t.matmul(t.mul(k, rows).transpose(-1, -2), v);
        state = t.add(t.mul(state, decay), fresh);
    }
    constexpr void token(trace& t, const value& part, const value& ratio, value& state) const {
        const value q = t.slice(part, 2, 1), k = t.slice(part, 2, 1), v = t.slice(part, 2, 1);
        const value fresh = t.matmul(k.transpose(-1, -2), v);
        state = t.add(t.mul(ratio, state), fresh);
        (void)t.matmul(q, state);
    }
};

constexpr value recur(const site& here, trace& t, const value& x) {
    return t.call(here.row.names.recurrent, lightning_attention{here}, x);
}

/// The cache's layers all grow, whatever the window; the mask is as long as the first of them, which has nothing where that
/// layer is none that attends.
constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c;
    c.full.where = context_of(t, 0);
    const std::int64_t window = here.dims.sliding_window;
    context masked = c.full.where;
    if (here.dims.layers[0].mixer == mixer_kind::recurrent) {  // such a mask broadcasts over one new token alone
        if (masked.past > 0 && masked.sequence > 1 && !t.idle()) report_positions(masked.sequence, masked.length());
        masked.past = 0;
    }
    c.full.mask = eager_mask(t, masked, t.load().batch);
    if (window > 0) {
        (void)context_of(t, window);  // tells where its figures bend
        c.full.where.window = window;
    }
    make_rotary_tables(here, t, c.full);
    return c;
}

constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of);
    heads_first(of);
    turn(here, t, of);
    context all = here.shared->where;
    all.window = 0;
    of.k = update_cache(t, of.k, all), of.v = update_cache(t, of.v, all);
    return join(here, t, look_up(here, t, of));
}

/// x · α + h · β.
constexpr value residual(const site&, trace& t, const value& around, const value& through) {
    const value kept = t.mul(around);
    return t.add(kept, t.mul(through));
}

/// What goes around a block is what goes into it, behind the norm.
constexpr value layer(const site& here, trace& t, const value& x) {
    const value first = normed(here, t, "input_layernorm", x);
    const value middle = residual(here, t, first, mixed(here, t, first));
    const value second = normed(here, t, "post_attention_layernorm", middle);
    return residual(here, t, second, here.row.feed(here, t, second));
}

constexpr void read(config_view config, sizes& s) {
    read_experts(config, s, config.contains("num_experts") ? "num_experts" : "num_local_experts");
    read_balance(config, s);
    check_experts(config, s);
    s.moe.intermediate_size = s.intermediate_size, s.moe.norm_topk_prob = true;
    const bool listed = read_layer_types(config, s, mixer_kind::recurrent);
    const layer_plan given = s.layers;
    plan_layers(config, s, [&](std::int64_t i) {
        const mixer_kind by_rule = i % 2 == 0 ? mixer_kind::full_attention : mixer_kind::recurrent;
        return layer_kind{listed ? given[i].mixer : by_rule, true};
    });
}

}  // namespace minimax_detail

// transformers/models/minimax: configuration_minimax.py, modeling_minimax.py; lightning attention between Mixtral's layers,
// residuals behind norms
inline constexpr architecture minimax = [](architecture a) {
    a.model_type = "minimax", a.prefix = "MiniMax", a.read = minimax_detail::read, a.own = minimax_detail::keys;
    a.prepare = minimax_detail::prepare, a.layer = minimax_detail::layer, a.residual = minimax_detail::residual;
    a.attend = minimax_detail::attend, a.recur = minimax_detail::recur;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.names.recurrent = "self_attn";
    a.keys[0] = no_attention_bias, a.keys[1] = no_mlp_bias;
    a.defaults.vocab_size = 32000, a.defaults.hidden_size = 4096, a.defaults.intermediate_size = 14336;
    a.defaults.num_hidden_layers = 32, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 131072;
    a.drops = noisy_router_dropout;
    return a;
}(mixtral);

}  // namespace llmcost::arch
