// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace hy_v4_detail {

enum own : std::uint8_t { streams, index_heads, index_width, index_picks };
inline constexpr own_key keys[]{
    {"hc_mult", 4},
    {"index_n_heads", 16},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

/// The word of layers that see what a layer in front picked.
inline constexpr std::uint8_t shares_picks = 1;

/// The reciprocal of each row's length, (…, width) -> (…, 1).
struct reciprocal_length {
    class_name named;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value squares = t.pow(t.to(x, dtype::float32), 2);
        return t.to(t.rsqrt(t.add(t.mean(squares, -1, true))), x.type);
    }
};

/// Logits of all streams together, (B, S, logits): a product, then the norm of what was multiplied.
constexpr value mixes(const site& here, trace& t, const value& all, const value& weight) {
    const value flat = t.to(all.view({all.dim(0), all.dim(1), -1}), dtype::float32);
    const value product = t.linear(flat, t.to(weight, dtype::float32));
    return t.mul(product, t.call("input_norm", reciprocal_length{here.type("UnweightedRMSNorm")}, flat));
}

/// The sum of streams (B, S, streams, width), each weighed by its gate (B, S, streams).
constexpr value weighed(trace& t, const value& gates, const value& all) {
    return t.to(t.sum(t.mul(gates.unsqueeze(-1), all), 2), all.type);
}

/// How a block writes to each stream, (B, S, streams), and what it reads of them, (B, S, width).
struct connection {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("HyperConnection"); }
    constexpr two_values describe(trace& t, const value& all) const {
        const std::int64_t n = here.dims.own[streams];
        const value weight = t.param("fn", {2 * n, n * here.dims.hidden_size});
        const value base = t.param("base", {2 * n}), scale = t.param("scale", {2});
        const value half = mixes(here, t, all, weight).slice(-1, n);
        const auto gate = [&] { return t.sigmoid(t.add(t.mul(half, scale.select(0)), base.slice(-1, n))); };
        const value reads = t.add(gate());
        const value writes = t.add(t.mul(gate()));
        return {writes, weighed(t, reads, all)};
    }
};

/// What the head reads of all streams.
struct last_connection {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("HyperHead"); }
    constexpr value describe(trace& t, const value& all) const {
        const std::int64_t n = here.dims.own[streams];
        const value weight = t.param("hc_fn", {n, n * here.dims.hidden_size});
        const value base = t.param("hc_base", {n}), scale = t.param("hc_scale", {1});
        const value logits = t.mul(mixes(here, t, all, weight), t.to(scale, dtype::float32));
        return weighed(t, t.add(t.sigmoid(t.add(logits, t.to(base, dtype::float32)))), all);
    }
};

/// Which keys each token sees: the best by a small attention of its own, whose keys the cache holds too.
struct indexer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Indexer"); }
    constexpr value describe(trace& t, const value& x, const value& latent) const {
        const trace::no_grad_guard quiet{t};
        const sizes& dims = here.dims;
        const shared_values& s = *here.shared;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = dims.own[index_heads];
        const std::int64_t d = dims.own[index_width], rope = dims.mla.qk_rope_head_dim, length = s.where.length();
        const value cos = s.cos.unsqueeze(1).transpose(1, 2), sin = s.sin.unsqueeze(1).transpose(1, 2);
        const auto turned = [&](const value& h) {
            const value part = h.slice(-1, rope), plain = t.mul(part, cos);
            const value joined = t.cat({t.neg(part.slice(-1, rope / 2)), part.slice(-1, rope / 2)}, -1);
            return t.add(plain, t.mul(joined, sin));
        };
        const value q = t.call("wq_b", linear{dims.mla.q_lora_rank, heads * d}, latent).view({batch, sequence, heads, d});
        value k = t.call("wk", linear{dims.hidden_size, d}, x);
        k = t.call("k_norm", norm<norm_kind::layer>{d}, k).unsqueeze(2);
        const value q_turned = turned(q), k_turned = turned(k);
        const value queries = t.cat({q.slice(-1, d - rope), q_turned}, -1);
        k = t.cat({k.slice(-1, d - rope), k_turned}, -1).squeeze(2);
        if (!t.training()) {
            k = s.where.past > 0 ? t.cat({trace::buffer({batch, s.where.past, d}), k}, 1) : t.cat({k}, 1);
            t.cache(k);
        }
        const value scores = t.unary(op::relu, t.matmul(queries, k.transpose(-1, -2).unsqueeze(1)));
        const value weights = t.mul(t.mul(t.call("weights_proj", linear{dims.hidden_size, heads}, x)));
        value found = t.matmul(weights.unsqueeze(-2), scores).squeeze(-2);
        found = t.add(found, s.mask.view({batch, sequence, length}));
        const std::int64_t picks = dims.own[index_picks];
        t.edge(axis::total, picks + 1);
        return t.top_k(found, length < picks ? length : picks);
    }
};

/// What queries find in the picked keys, expanded from latents (B, 1, T, rank) and turned parts (B, 1, T, rope).
constexpr value look_up_picked(const site& here, trace& t, const value& q, const value& latent, const value& k_rope,
                               const value& sinks) {
    const mla_sizes& m = here.dims.mla;
    const context& where = here.shared->where;
    const std::int64_t batch = q.dim(0), heads = q.dim(1), length = where.length();
    const std::int64_t nope = m.qk_nope_head_dim, rope = m.qk_rope_head_dim;
    const linear expansion{m.kv_lora_rank, heads * (nope + m.v_head_dim)};
    const value both = t.call("kv_b_proj", expansion, latent).view({batch, length, heads, -1}).transpose(1, 2);
    value k = t.constant({batch, heads, length, nope + rope}, q.type);
    t.copy_into(k, both.slice(-1, nope));
    t.copy_into(k, k_rope.expand({batch, heads, length, rope}));
    const bool sparse = t.load().attention == attention_scores::causal;
    const value mask = sparse ? here.shared->mask : t.where(here.shared->mask);
    return eager_attention(t, q, k, both.slice(-1, m.v_head_dim), where, {.mask = &mask, .sinks = &sinks});
}

/// Attention with a low-rank cache, to keys that an indexer picks, with sinks and a gate.
constexpr value attend(const site& here, trace& t, const value& x) {
    const sizes& dims = here.dims;
    const mla_sizes& m = dims.mla;
    const shared_values& s = *here.shared;
    const std::int64_t batch = x.dim(0), sequence = x.dim(1), heads = dims.num_attention_heads;
    const std::int64_t nope = m.qk_nope_head_dim, rope = m.qk_rope_head_dim, rank = m.kv_lora_rank, v = m.v_head_dim;
    const value sinks = t.param("sinks", {heads});
    const value gate = t.call("gate_proj", linear{dims.hidden_size, heads * v}, x).view({batch, sequence, heads, v});
    const value narrow = norm_of(here, t, "q_a_layernorm", m.q_lora_rank, project(here, t, "q_a_proj", m.q_lora_rank, x));
    value q = t.call("q_b_proj", linear{m.q_lora_rank, heads * (nope + rope)}, narrow);
    q = q.view({batch, sequence, heads, nope + rope}).transpose(1, 2);
    const value compressed = project(here, t, "kv_a_proj_with_mqa", rank + rope, x);
    value latent = norm_of(here, t, "kv_a_layernorm", rank, compressed.slice(-1, rank)).view({batch, 1, sequence, rank});
    value k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
    const value q_rope = rotate(t, rotation::half, q.slice(-1, rope), s.cos, s.sin);
    k_rope = rotate(t, rotation::half, k_rope, s.cos, s.sin);
    latent = update_cache(t, latent, s.where), k_rope = update_cache(t, k_rope, s.where);
    q = t.cat({q.slice(-1, nope), q_rope}, -1);
    if (here.kind.own != shares_picks) (void)t.call("indexer", indexer{here}, x, narrow);
    const value found = look_up_picked(here, t, q, latent, k_rope, sinks);
    const value gated = t.mul(found, t.sigmoid(gate));
    return join(here, t, t.contiguous(t.reshape(gated, {batch, sequence, heads * v})));
}

/// Experts whose gate and up are clamped; their activation is a function.
struct clamped_experts : routed_rows {
    static constexpr bool leaf = true;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const value rows = picked(t, x), up = param(t, "gate_up_proj", {num_experts, 2 * inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value half = t.linear(rows, t.select(up, 0)).slice(-1, inner);
        const value gate = t.unary(op::compare, half), limited = t.unary(op::clamp, half);
        return summed(t, x, weights, t.linear(t.mul(t.silu(gate), limited), t.select(down, 0)));
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const value tokens = x.view({-1, here.dims.hidden_size});
    const value weights = call_router(here, t, tokens);
    const routed_rows all{here.dims.hidden_size, m.intermediate_size, m.num_experts,
                          m.num_experts_per_tok, activation::silu,    here.type("Experts")};
    const value routed = t.call("experts", clamped_experts{all}, tokens, weights);
    return t.add(routed.view({x.dim(0), x.dim(1), here.dims.hidden_size}),
                 call_mlp(here, t, "shared_experts", m.shared_intermediate_size, x));
}

constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

/// Each block reads a sum of the streams (B, S, streams, width) and writes to all of them.
constexpr value layer(const site& here, trace& t, const value& x) {
    const auto joined = [&](const value& writes, const value& h, const value& around) {
        const value spread = t.mul(t.to(writes, dtype::float32).unsqueeze(-1), t.to(h, dtype::float32).unsqueeze(-2));
        return t.to(t.add(spread, t.to(around, dtype::float32)), around.type);
    };
    two_values of = t.call("attn_hc", connection{here}, x);
    value h = mixed(here, t, normed(here, t, "input_layernorm", of.second));
    const value middle = joined(of.first, h, x);
    of = t.call("ffn_hc", connection{here}, middle);
    h = here.row.feed(here, t, normed(here, t, "post_attention_layernorm", of.second));
    return joined(of.first, h, middle);
}

/// Every stream begins as a copy of the words.
constexpr value base(const site& here, trace& t) {
    const value words = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    const extents all{words.dim(0), words.dim(1), here.dims.own[streams], words.dim(2)};
    const value x = describe_layers(here, t, shared, t.contiguous(words.unsqueeze(2).expand(all)));
    return normed(here, t, "norm", t.call("hc_head", last_connection{here}, x));
}

constexpr void check_words(config_view config, literal key, std::int64_t layers) {
    const auto list = config.optional_array(key);
    if (list && static_cast<std::int64_t>(list->size()) < layers)
        fail_value(config, key, "a list with one kind per hidden layer");
}

constexpr void read(config_view config, sizes& s) {
    s.mla = {config.positive("q_lora_rank", 1536), config.positive("kv_lora_rank", 512),
             config.positive("qk_nope_head_dim", 192), config.positive("qk_rope_head_dim", 64),
             config.positive("v_head_dim", 256)};
    s.head_dim = s.rotary_dim = s.mla.qk_rope_head_dim;
    s.num_key_value_heads = s.num_attention_heads;
    if (s.rotary_dim % 2 != 0) fail_value(config, "qk_rope_head_dim", "an even number");
    if (s.own[index_width] < s.rotary_dim) fail_value(config, "index_head_dim", "at least qk_rope_head_dim");
    (void)checked_width(config, "qk_nope_head_dim", s.num_attention_heads, s.mla.qk_nope_head_dim);
    (void)checked_width(config, "v_head_dim", s.num_attention_heads, s.mla.v_head_dim);
    (void)checked_width(config, "index_head_dim", s.own[index_heads], s.own[index_width]);
    (void)checked_width(config, "hc_mult", s.own[streams], s.hidden_size);
    read_grouped_experts(config, s, {.shared = 1});
    check_words(config, "layer_types", s.num_hidden_layers), check_words(config, "indexer_types", s.num_hidden_layers);
    if (const auto types = config.optional_array("layer_types"))
        for (const config_view word : *types)
            if (word.as_string() != "indexed_attention")
                fail_unsupported(config, "layer_types", "no layer describes one of these kinds");
    const auto picks = config.optional_array("indexer_types");
    const sparse_places experts(config, s, 1);
    s.sliding_window = 0;
    plan_layers(config, s, [&](std::int64_t i) {
        const bool shares =
            picks ? (*picks)[static_cast<std::uint32_t>(i)].as_string() == "shared" : i != 0 && (i - 1) % 4 != 0;
        if (shares && i == 0) fail_value(config, "indexer_types", "a list that begins with a layer that picks keys");
        return layer_kind{mixer_kind::full_attention, experts.has(i), shares ? shares_picks : std::uint8_t{}};
    });
}

}  // namespace hy_v4_detail

// transformers/models/hy_v4: several streams around every block, keys picked by an indexer, DeepSeek V3's router
inline constexpr architecture hy_v4 = [](architecture a) {
    a.model_type = "hy_v4", a.prefix = "HYV4", a.read = hy_v4_detail::read, a.own = hy_v4_detail::keys;
    a.base = hy_v4_detail::base, a.layer = hy_v4_detail::layer, a.attend = hy_v4_detail::attend;
    a.feed = hy_v4_detail::feed, a.router = router_kind::sigmoid_grouped, a.heads = language_heads;
    a.kinds.own = hy_v4_detail::shares_picks;
    a.names.moe_type = "MoE", a.names.router_type = "TopkRouter";
    a.keys[0] = no_mlp_bias, a.keys[1] = {"head_dim", "", key_rule::absent};
    a.keys[2] = {"num_key_value_heads", "", key_rule::absent}, a.keys[3] = {"sliding_window", "", key_rule::absent};
    a.defaults.vocab_size = 120832, a.defaults.hidden_size = 2816, a.defaults.intermediate_size = 6912;
    a.defaults.num_hidden_layers = 34, a.defaults.num_attention_heads = 32;
    a.defaults.max_position_embeddings = 262144;
    a.defaults.moe = {.num_experts = 256, .num_experts_per_tok = 8, .intermediate_size = 768, .norm_topk_prob = true};
    return a;
}(llama);

}  // namespace llmcost::arch
