// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>

namespace llmcost::arch {

namespace longcat_flash_detail {

enum own : std::uint8_t { zero_experts, router_bias };
inline constexpr own_key keys[]{
    {"zero_expert_num", 256, own_value::non_negative},  // experts that hand on what they are given
    {"router_bias", 0, own_value::boolean},
};

/// Latent attention whose queries and latents are multiplied by what their low ranks take away.
struct attention : latent_attention {
    [[nodiscard]] constexpr class_name type() const { return {prefix, "MLA"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t nope = dims.qk_nope_head_dim, rope = dims.qk_rope_head_dim, rank = dims.kv_lora_rank;
        const std::int64_t batch = x.dim(0), sequence = x.dim(1);
        const value all = queries(t, x);
        const value compressed = t.call("kv_a_proj_with_mqa", linear{width, rank + rope, bias}, x);
        const norm<norm_kind::rms> normed{rank, {prefix, "RMSNorm"}};
        const value kept = t.call("kv_a_layernorm", normed, compressed.slice(-1, rank));
        const value q_pass = t.mul(all.slice(-1, nope)), q_turned = t.mul(all.slice(-1, rope));
        parts p;
        p.latent = t.mul(kept).view({batch, 1, sequence, rank});
        p.k_rope = compressed.slice(-1, rope).view({batch, 1, sequence, rope});
        const value q_rope = rotate(t, rotated, q_turned, cos, sin);
        p.k_rope = rotate(t, rotated, p.k_rope, cos, sin);
        p.latent = update_cache(t, p.latent, where);
        p.k_rope = update_cache(t, p.k_rope, where);
        p.q = t.cat({q_pass, q_rope}, -1);
        return joined(t, looked_up(t, p, mask));
    }
};

/// A softmax over all experts, the largest k by corrected scores, times a constant.
struct router {
    const site& here;

    static constexpr role what = role::router;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("TopkRouter"); }
    constexpr value describe(trace& t, const value& tokens) const {
        const moe_sizes& m = here.dims.moe;
        const std::int64_t all = m.num_experts + here.dims.own[zero_experts];
        const module_info classifier{.name = "classifier", .type = {"", "Linear"}, .leaf = true};
        t.enter(classifier);  // a matrix that the router multiplies by itself, a bias that nobody reads
        const value weight = t.param("weight", {all, here.dims.hidden_size});
        if (here.dims.own[router_bias] != 0) {
            const recorder::idle_guard unread{t};
            (void)t.param("bias", {all});
        }
        t.leave(classifier);
        const value scores = t.softmax_method(t.linear(t.to(tokens, dtype::float32), t.to(weight, dtype::float32)));
        return t.mul(pick_corrected(t, scores, trace::buffer({1, all}), m.num_experts_per_tok));
    }
};

/// Experts called one by one; all that tokens pick are taken for such that compute, and backward's sums for those where
/// all tokens pick the same ones.
struct routed_experts : routed_rows {
    std::int64_t all;

    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        const recorder::fused_guard fused{t, part(x.dim(0))};
        const std::int64_t hit = num_experts_per_tok;
        const value up = param(t, "gate_up_proj", {all, 2 * inner, width});
        const value down = param(t, "down_proj", {num_experts, width, inner});
        const value rows = picked(t, t.cut_apart(x, hit));
        const value half = t.linear(rows, one_of(t, up, hit)).slice(-1, inner);
        const value h = t.mul(t.call("act_fn", activation_module{act}, half), half);
        const module_info identity{.name = "identity_expert", .type = {"", "Identity"}, .leaf = true};
        t.enter(identity), t.leave(identity);
        return summed(t, x, t.cut_apart(weights, hit), t.linear(h, one_of(t, down, hit)));
    }

private:
    /// One expert's matrix, which each expert that is hit cuts out.
    static constexpr value one_of(trace& t, const value& from, std::int64_t hit) {
        value one;
        for (std::int64_t i = 0; i < hit; ++i) one = t.select(from, 0);
        return one;
    }
};

constexpr value mixture(const site& here, trace& t, const value& x) {
    const moe_sizes& m = here.dims.moe;
    const value tokens = t.reshape(x, {-1, here.dims.hidden_size});
    const value weights = t.call("router", router{here}, tokens);
    const routed_rows sizes{here.dims.hidden_size, m.intermediate_size,  m.num_experts,
                            m.num_experts_per_tok, here.dims.hidden_act, here.type("Experts")};
    const routed_experts block{sizes, m.num_experts + here.dims.own[zero_experts]};
    return t.call("experts", block, tokens, weights).view({x.dim(0), x.dim(1), x.dim(2)});
}

/// Two layers in one: experts beside both, which read what the first feed-forward block reads.
constexpr value layer(const site& here, trace& t, const value& x) {
    const norm<norm_kind::rms> normed{here.dims.hidden_size, here.type("RMSNorm")};
    const any_mlp block{here.row.feed_forward, here.dims.hidden_size, here.dims.intermediate_size,
                        here.dims.hidden_act,  here.type("MLP"),      false,
                        here.row.names.mlp};
    const attention attends{latent_attention_of(here)};
    value shortcut, out = x;
    for (const std::int64_t i : {0, 1}) {
        t.cache_apart();
        const value h = t.call({"self_attn", i}, attends, t.call({"input_layernorm", i}, normed, out));
        const value middle = t.add(out, h);
        const value ready = t.call({"post_attention_layernorm", i}, normed, middle);
        if (i == 0) shortcut = t.call("mlp", mixture_module{here, mixture}, ready);
        out = t.add(middle, t.call({"mlps", i}, block, ready));
    }
    return t.add(out, shortcut);
}

constexpr void read_mixture(config_view config, sizes& s) {
    const auto either = [&](literal first, literal second, std::int64_t otherwise) {
        return config.positive(config.contains(first) ? first : second, otherwise);
    };
    s.moe.num_experts = either("n_routed_experts", "num_local_experts", 512);
    s.moe.num_experts_per_tok = either("moe_topk", "num_experts_per_tok", 12);
    s.moe.intermediate_size = either("expert_ffn_hidden_size", "moe_intermediate_size", 2048);
    if (s.moe.num_experts_per_tok > s.moe.num_experts) fail_value(config, "moe_topk", "at most n_routed_experts");
    (void)checked_width(config, "expert_ffn_hidden_size", 2 * (s.moe.num_experts + s.own[zero_experts]),
                        s.moe.intermediate_size);
}

constexpr void read(config_view config, sizes& s) {
    // `num_hidden_layers` of the configuration counts attentions
    if (const auto attentions = config.optional_positive("num_hidden_layers")) {
        s.num_hidden_layers = *attentions / 2;
        if (s.num_hidden_layers < 1) fail_value(config, "num_hidden_layers", "at least 2, as a layer has two attentions");
    }
    s.mla.q_lora_rank = config.positive("q_lora_rank", 1536);
    s.mla.kv_lora_rank = config.positive("kv_lora_rank", 512);
    s.mla.qk_nope_head_dim = config.positive("qk_nope_head_dim", 128);
    s.mla.qk_rope_head_dim = config.positive("qk_rope_head_dim", 64);
    s.mla.v_head_dim = config.positive("v_head_dim", 128);
    const std::int64_t both = s.mla.qk_nope_head_dim + s.mla.qk_rope_head_dim;
    const auto whole = config.optional_positive("qk_head_dim");
    if (whole && *whole != both) fail_value(config, "qk_head_dim", "qk_nope_head_dim + qk_rope_head_dim");
    if (s.head_dim != s.mla.qk_rope_head_dim) fail_value(config, "head_dim", "qk_rope_head_dim, as tables are that wide");
    if (s.head_dim % 2 != 0) fail_value(config, "qk_rope_head_dim", "an even number");
    if (s.num_key_value_heads != s.num_attention_heads) fail_value(config, "num_key_value_heads", "num_attention_heads");
    (void)checked_width(config, "qk_nope_head_dim", s.num_attention_heads, both);
    (void)checked_width(config, "v_head_dim", s.num_attention_heads, s.mla.v_head_dim);
    s.rope_interleave = true;
    read_mixture(config, s);
    plan_one_mask(config, s);
    s.layers.set_all({s.layers[0].mixer, true});
}

}  // namespace longcat_flash_detail

// transformers/models/longcat_flash: configuration_longcat_flash.py, modeling_longcat_flash.py; two attentions in a layer,
// experts beside both blocks. Experts that hand on what they are given are parameters of the router alone: every pick
// counts as one that computes.
inline constexpr architecture longcat_flash = [](architecture a) {
    a.model_type = "longcat_flash", a.prefix = "LongcatFlash", a.heads = language_heads;
    a.read = longcat_flash_detail::read, a.own = longcat_flash_detail::keys, a.layer = longcat_flash_detail::layer;
    a.names.moe_type = "MoE";
    a.keys[0] = {"num_hidden_layers", "num_layers", key_rule::written_only};
    a.keys[1] = {"intermediate_size", "ffn_hidden_size", key_rule::standard_first};
    a.keys[2] = no_mlp_bias;
    a.defaults.vocab_size = 131072, a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 0;
    a.defaults.head_dim = 64, a.defaults.max_position_embeddings = 131072;
    return a;
}(llama);

}  // namespace llmcost::arch
