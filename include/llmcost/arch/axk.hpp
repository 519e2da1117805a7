// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek_v32.hpp>

namespace llmcost::arch {

namespace axk_detail {

/// Experts where `mlp_layer_types` says so, else behind the first dense layers in every so many-th layer.
constexpr void plan(config_view config, sizes& s) {
    const std::int64_t dense = config.non_negative("first_k_dense_replace", 1);
    const std::int64_t every = config.positive("moe_layer_freq", 1);
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{.experts = is_sparse(config, s, i, i >= dense && i % every == 0)};
    });
}

// ---- axk1

constexpr value mixture(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value weights = call_router(here, t, x);
    const value routed = call_experts(here, t, x.view({-1, width}), weights).view({x.dim(0), x.dim(1), width});
    const value out = t.add(routed, call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, x));
    return normed(here, t, "post_mlp_layernorm", out);
}

/// DeepSeek V3's mixture with a norm of what it gives out.
constexpr value feed(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture, x); }

constexpr void read_1(config_view config, sizes& s) {
    read_latent_attention(config, s);
    if (s.mla.q_lora_rank == 0) fail_value(config, "q_lora_rank", "a positive integer");
    s.rope_interleave = config.boolean("rope_interleave", true);
    read_grouped_experts(config, s, {.shared = 1});
    plan(config, s);
}

// ---- axk2

enum own : std::uint8_t { gate_rank = deepseek_v32_detail::index_top_k + 1 };
inline constexpr own_key keys[]{
    {"index_n_heads", 16},
    {"index_head_dim", 128},
    {"index_topk", 2048},
    {"gated_norm_rank", 16},
};

/// Through a narrow space and back.
struct gate_block {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("GateMLP"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, rank = here.dims.own[gate_rank];
        const value h = t.call("fc1", linear{width, rank}, x);
        return t.call("fc2", linear{rank, width}, t.call("activation_fn", activation_module{activation::swish}, h));
    }
};

/// A norm that a gate of its own scales, element by element.
struct gated_norm {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("GatedRMSNorm"); }
    constexpr value describe(trace& t, const value& x) const {
        const value y = normed(here, t, "norm", x);
        const value gate = t.sigmoid(t.to(t.call("mlp", gate_block{here}, y), dtype::float32));
        return t.to(t.mul(y, gate), y.type);
    }
};

/// Picks among all experts: sigmoids, corrected for the choice only.
constexpr two_values route(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const value tokens = x.view({-1, here.dims.hidden_size});
    const value weight = t.param("weight", {m.num_experts, here.dims.hidden_size});
    const value logits = t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32));
    const value scores = t.sigmoid(logits);
    {
        const recorder::off_loss_guard indices{t};
        (void)t.top_k(t.add(scores, trace::buffer({m.num_experts})), m.num_experts_per_tok);
    }
    value weights = t.gather(scores, {tokens.dim(0), m.num_experts_per_tok});
    if (m.norm_topk_prob) t.in_place(op::div, weights, t.add(t.sum(weights, -1, true)));
    return {logits, t.mul(weights)};
}

constexpr value mixture_2(const site& here, trace& t, const value& x) {
    const std::int64_t width = here.dims.hidden_size;
    const value weights = here.dims.moe.limits_groups ? call_router(here, t, x) : call_own_router(here, t, route, x);
    const value routed = call_experts(here, t, x.view({-1, width}), weights).view({x.dim(0), x.dim(1), width});
    return t.add(routed, call_mlp(here, t, "shared_experts", here.dims.moe.shared_intermediate_size, x));
}
constexpr value feed_2(const site& here, trace& t, const value& x) { return feed_by_mixture(here, t, mixture_2, x); }

/// Queries and gates of what they find by one projection, from low-rank vectors with and without a norm.
struct gated_attention {
    latent_attention base;
    sparse_indexer indexer;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return base.type(); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t rank = base.dims.q_lora_rank, values = base.dims.v_head_dim, heads = base.heads;
        const std::int64_t each = base.dims.qk_nope_head_dim + base.dims.qk_rope_head_dim;
        const value raw = t.call("q_a_proj", linear{base.width, rank, base.bias}, x);
        const value low = t.call("q_a_layernorm", norm<norm_kind::rms>{rank, {base.prefix, "RMSNorm"}}, raw);
        const value both = t.call("q_gate_proj", linear{2 * rank, heads * (each + values)}, t.cat({low, raw}, -1))
                               .view({x.dim(0), x.dim(1), heads, each + values});
        const value q = both.slice(-1, each).transpose(1, 2);
        const value gate = t.reshape(both.slice(-1, values), {x.dim(0), x.dim(1), -1});
        const latent_attention::parts p = base.remembered(t, x, q);
        (void)t.call("indexer", indexer, x, low);
        const value found = base.looked_up(t, p, t.where(base.mask));
        return base.joined(t, t.to(t.mul(found, t.sigmoid(t.to(gate, dtype::float32))), found.type));
    }
};

constexpr value mix_2(const site& here, trace& t, const value& x) {
    using namespace deepseek_v32_detail;
    const own_sizes& own = here.dims.own;
    const latent_attention base = latent_attention_of(here);
    const sparse_indexer indexer{own[index_heads], own[index_head_dim], own[index_top_k], rotation::half, base};
    return t.call(here.row.names.attention, gated_attention{base, indexer}, x);
}

/// Gated norms in front of attention, and of experts.
constexpr value layer_2(const site& here, trace& t, const value& x) {
    const value h = t.call("input_layernorm", gated_norm{here}, x);
    const value middle = t.add(x, here.row.mix(here, t, h));
    constexpr literal name = "post_attention_layernorm";
    const value after = here.kind.experts ? t.call(name, gated_norm{here}, middle) : normed(here, t, name, middle);
    return t.add(middle, here.row.feed(here, t, after));
}

constexpr void read_2(config_view config, sizes& s) {
    deepseek_v32_detail::read_indexed_attention(config, s);
    const auto given = [&](literal key) {
        const auto found = config.find(key);
        return found && !found->is_null();
    };
    if (given("n_group") != given("topk_group")) fail_value(config, "n_group", "null where topk_group is");
    if (given("n_group")) {
        read_grouped_experts(config, s, {.shared = 1});
    } else {
        read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
        check_experts(config, s);
        s.moe.shared_intermediate_size =
            checked_width(config, "n_shared_experts", config.positive("n_shared_experts", 1), s.moe.intermediate_size);
    }
    plan(config, s);
}

}  // namespace axk_detail

// transformers/models/axk1: DeepSeek V3 with a norm behind its experts
inline constexpr architecture axk1 = [](architecture a) {
    a.model_type = "axk1", a.predict = nullptr, a.prefix = "AXK1", a.read = axk_detail::read_1, a.feed = axk_detail::feed;
    a.defaults.vocab_size = 163840, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 64;
    a.defaults.max_position_embeddings = 32768, a.defaults.moe.num_experts = 192;
    a.defaults.mla = deepseek_v32.defaults.mla;
    return a;
}(deepseek_v3);

// transformers/models/axk2: DeepSeek V3.2 with gated norms and gated attention, perhaps without groups of experts
inline constexpr architecture axk2 = [](architecture a) {
    a.model_type = "axk2", a.predict = nullptr, a.prefix = "AXK2", a.heads = decoder_heads;
    a.read = axk_detail::read_2, a.own = axk_detail::keys;
    a.layer = axk_detail::layer_2, a.mix = axk_detail::mix_2, a.feed = axk_detail::feed_2;
    a.defaults.vocab_size = 163840, a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 5120;
    a.defaults.num_hidden_layers = 48, a.defaults.num_attention_heads = 32, a.defaults.num_key_value_heads = 32;
    a.defaults.max_position_embeddings = 131072;
    a.defaults.moe = {.num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 512, .norm_topk_prob = true};
    a.defaults.mla = {
        .q_lora_rank = 384, .kv_lora_rank = 128, .qk_nope_head_dim = 64, .qk_rope_head_dim = 32, .v_head_dim = 64};
    return a;
}(deepseek_v32);

}  // namespace llmcost::arch
