// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/layers/state_space_dual.hpp>
#include <llmcost/reading/experts.hpp>

namespace llmcost::arch {

namespace nemotron_h_detail {

enum own : std::uint8_t { mixer_act, latent };
inline constexpr own_key keys[]{
    {.value = own_value::computed},  // `mamba_hidden_act`, an `activation`
    {.value = own_value::computed},  // `moe_latent_size`, the width that experts work in; 0: hidden_size
};

/// Words for layers that mix no tokens; their `mixer` says nothing.
inline constexpr std::uint8_t dense_only = 1, experts_only = 2;

/// An RMS norm whose weight is cast to float32 and multiplied there.
struct norm_in_float {
    site here;

    static constexpr role what = role::norm;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RMSNorm"); }
    constexpr value describe(trace& t, const value& x) const {
        const value w = t.param("weight", {here.dims.hidden_size}), h = t.to(x, dtype::float32);
        const value out = t.mul(h, t.rsqrt(t.add(t.mean(t.pow(h, 2), -1, true))));
        return t.to(t.mul(t.to(w, dtype::float32), out), x.type);
    }
};

/// Experts of two matrices each: x (tokens, width), weights (tokens, k) -> (tokens, width).
struct plain_experts : routed_rows {
    static constexpr bool leaf = false;
    constexpr value describe(trace& t, const value& x, const value& weights) const {
        fused_part whole = part(x.dim(0));
        whole.gated = false;
        const recorder::fused_guard fused{t, whole};
        const value rows = picked(t, x), up = param(t, "up_proj", {num_experts, inner, width}),
                    down = param(t, "down_proj", {num_experts, width, inner});
        const value h = t.call("act_fn", activation_module{act}, t.linear(rows, t.select(up, 0)));
        return summed(t, x, weights, t.linear(h, t.select(down, 0)));
    }
};

/// Router, experts in a narrower space where there is one, and a block that all tokens pass.
struct routed_block {
    site here;

    static constexpr role what = role::mlp;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MoE"); }
    constexpr value describe(trace& t, const value& x) const {
        const moe_sizes& m = here.dims.moe;
        const std::int64_t width = here.dims.hidden_size, narrow = here.dims.own[latent];
        const value weights = call_router(here, t, x);
        value tokens = x.view({-1, width});
        tokens = projected(t, "fc1_latent_proj", width, narrow, tokens);
        const routed_rows all{narrow != 0 ? narrow : width, m.intermediate_size,  m.num_experts,
                              m.num_experts_per_tok,        here.dims.hidden_act, here.type("Experts")};
        tokens = t.call("experts", plain_experts{all}, tokens, weights);
        tokens = projected(t, "fc2_latent_proj", narrow, width, tokens).view({x.dim(0), x.dim(1), width});
        return t.add(tokens, call_mlp(here, t, "shared_experts", m.shared_intermediate_size, x));
    }

private:
    constexpr value projected(trace& t, literal name, std::int64_t from, std::int64_t to, const value& x) const {
        if (here.dims.own[latent] == 0) return t.call(name, identity{"Identity"}, x);
        return t.call(name, linear{from, to, here.dims.mlp_bias}, x);
    }
};

constexpr value mixed_by_kind(const site& here, trace& t, const value& x) {
    if (here.kind.own == dense_only || here.kind.own == experts_only) t.cache_nothing();
    if (here.kind.own == dense_only) return call_mlp(here, t, "mixer", here.dims.intermediate_size, x);
    if (here.kind.own == experts_only) return t.call("mixer", routed_block{here}, x);
    if (here.kind.mixer == mixer_kind::full_attention) return mix_by_attention(here, t, x);
    const auto act = static_cast<activation>(here.dims.own[mixer_act]);
    const dual_state_space scan{here.dims.hidden_size, here.dims.ssm, act, here.type("Mamba2Mixer"),
                                here.type("RMSNormGated")};
    return t.call("mixer", scan, x);
}

/// One norm and one mixer, which attends, scans, or feeds forward.
constexpr value layer(const site& here, trace& t, const value& x) {
    return t.add(x, mixed_by_kind(here, t, t.call("norm", norm_in_float{here}, x)));
}

constexpr value base(const site& here, trace& t) {
    const value x = here.row.embed(here, t);
    const decoder_context shared = here.row.prepare(here, t);
    return t.call(here.row.names.norm, norm_in_float{here}, describe_layers(here, t, shared, x));
}

constexpr value logits_in_float(const site&, trace& t, const value& logits) { return t.to(logits, dtype::float32); }

/// A layer by its word in a list, or by its letter in `hybrid_override_pattern`.
constexpr layer_kind kind_of(config_view config, literal key, string_ref word) {
    if (word == "linear_attention" || word == "mamba" || word == "M") return {mixer_kind::recurrent};
    if (word == "full_attention" || word == "attention" || word == "*") return {mixer_kind::full_attention};
    if (word == "mlp" || word == "-") return {.mixer = mixer_kind::recurrent, .own = dense_only};
    if (word == "moe" || word == "E") return {.mixer = mixer_kind::recurrent, .experts = true, .own = experts_only};
    fail_unsupported(config, key, "no layer describes one of these kinds");
}

/// As many layers as the list or the pattern has; `num_hidden_layers` means nothing.
constexpr void read_plan(config_view config, sizes& s) {
    for (const literal key : {"layer_types", "layers_block_type"}) {
        const auto list = config.optional_array(key);
        if (!list) continue;
        s.num_hidden_layers = static_cast<std::int64_t>(list->size());
        return plan_layers(config, s, [&](std::int64_t i) {
            return kind_of(config, key, (*list)[static_cast<std::size_t>(i)].as_string());
        });
    }
    constexpr literal key = "hybrid_override_pattern";
    const string_ref pattern = config.string(key, "ME*-");
    s.num_hidden_layers = static_cast<std::int64_t>(pattern.size());
    if (s.num_hidden_layers == 0) fail_value(config, key, "a letter for each layer");
    plan_layers(config, s,
                [&](std::int64_t i) { return kind_of(config, key, pattern.substr(static_cast<std::size_t>(i), 1)); });
}

constexpr void read_mixers(config_view config, sizes& s) {
    const auto either = [&](literal older, literal key) { return config.contains(older) ? older : key; };
    state_space_sizes& m = s.ssm;
    m.state_size = config.positive("ssm_state_size", 128);
    m.conv_kernel = config.positive(either("mamba_d_conv", "conv_kernel"), 4);
    m.num_heads = config.positive("mamba_num_heads", 128);
    m.head_dim = config.positive("mamba_head_dim", 64);
    m.intermediate_size = checked_width(config, "mamba_head_dim", m.num_heads, m.head_dim);
    m.n_groups = config.positive(either("mamba_n_groups", "n_groups"), 8);
    m.chunk_size = config.positive(either("mamba_chunk_size", "chunk_size"), 128);
    m.use_bias = config.boolean("use_bias", false);
    m.use_conv_bias = config.boolean(either("mamba_conv_bias", "use_conv_bias"), true);
    if (m.num_heads % m.n_groups != 0)
        fail_value(config, either("mamba_n_groups", "n_groups"), "a divisor of mamba_num_heads");
    (void)checked_width(config, "ssm_state_size", m.n_groups, m.state_size);
    s.own[mixer_act] =
        static_cast<std::int64_t>(activation_named(config, "mamba_hidden_act", config.string("mamba_hidden_act", "silu")));
}

constexpr void read(config_view config, sizes& s) {
    read_mixers(config, s);
    read_plan(config, s);
    s.sliding_window = 0;
    s.tie_word_embeddings = false;             // `_tied_weights_keys` is empty
    s.attention_bias = s.output_bias = false;  // whatever `attention_bias` says
    s.moe.norm_topk_prob = true;
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    s.moe.shared_intermediate_size = config.non_negative("moe_shared_expert_intermediate_size", 7688);
    if (s.moe.shared_intermediate_size == 0) s.moe.shared_intermediate_size = s.intermediate_size;
    s.moe.n_group = config.positive("n_group", 1), s.moe.topk_group = config.positive("topk_group", 1);
    s.moe.limits_groups = true;
    const auto narrow = config.find("moe_latent_size");
    s.own[latent] = narrow && !narrow->is_null() ? narrow->as_positive() : 0;
    if (s.layers.with_experts(s.num_hidden_layers) == 0) return;
    if (s.moe.num_experts % s.moe.n_group != 0) fail_value(config, "n_group", "a divisor of n_routed_experts");
    if (s.moe.topk_group > s.moe.n_group) fail_value(config, "topk_group", "at most n_group");
    if (s.moe.num_experts / s.moe.n_group < 2) fail_value(config, "n_group", "at most half as many groups as experts");
}

}  // namespace nemotron_h_detail

// transformers/models/nemotron_h: configuration_nemotron_h.py, modeling_nemotron_h.py; every layer does one thing, experts
// are not gated, attention knows of no positions
inline constexpr architecture nemotron_h = [](architecture a) {
    a.model_type = "nemotron_h", a.prefix = "NemotronH", a.read = nemotron_h_detail::read, a.heads = language_heads;
    a.own = nemotron_h_detail::keys, a.base = nemotron_h_detail::base, a.layer = nemotron_h_detail::layer;
    a.finish = nemotron_h_detail::logits_in_float, a.router = router_kind::sigmoid_grouped;
    a.rotated = rotation::none, a.masks = mask_rule::full_and_present, a.feed_forward = mlp_kind::plain;
    a.kinds = attention_kinds | mixer_kind::recurrent, a.kinds.own = nemotron_h_detail::experts_only;
    a.names.embed_tokens = "embeddings", a.names.norm = "norm_f", a.names.attention = "mixer";
    a.names.layer_type = a.names.recurrent_layer_type = "Block", a.names.router_type = "TopkRouter";
    a.keys[0] = {"hidden_act", "mlp_hidden_act", key_rule::written_only};
    a.keys[1] = no_attention_bias;
    a.defaults = sizes{.vocab_size = 131072,
                       .hidden_size = 4096,
                       .intermediate_size = 21504,
                       .num_hidden_layers = 4,
                       .num_attention_heads = 32,
                       .num_key_value_heads = 8,
                       .head_dim = 128,
                       .max_position_embeddings = 4096,
                       .hidden_act = activation::relu2,
                       .moe = {.num_experts = 8, .num_experts_per_tok = 2, .intermediate_size = 7688}};
    return a;
}(llama);

}  // namespace llmcost::arch
