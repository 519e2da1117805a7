// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/layers/state_space_dual.hpp>

namespace llmcost::arch {

namespace nemotron_h_detail {

enum family_config_index : std::uint8_t { mixer_act, latent };
inline constexpr family_key family_keys[]{
    {.type = family_key_type::computed},  // `mamba_hidden_act`, an `activation`
    {.type = family_key_type::computed},  // `moe_latent_size`, the width that experts work in; 0: hidden_size
};

/// Layer flags of layers without a token mixer; their `mixer` is undefined.
inline constexpr std::uint8_t dense_only = 1, experts_only = 2;

/// An RMS norm whose weight is cast to float32 and multiplied there.
struct norm_in_float {
    layer_context ctx;

    static constexpr role module_role = role::norm;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RMSNorm"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor w = t.param("weight", {ctx.config.hidden_size}), h = t.to(x, dtype::float32);
        const tensor out = t.mul(h, t.rsqrt(t.add_scalar(t.mean(t.pow(h, 2), -1, true))));
        return t.to(t.mul(t.to(w, dtype::float32), out), x.type);
    }
};

/// Experts of two matrices each: x (tokens, width), weights (tokens, k) -> (tokens, width).
struct plain_experts : routed_experts_base {
    static constexpr bool is_leaf = false;
    constexpr tensor forward(trace& t, const tensor& inputs, const tensor& routing) const {
        const auto [x, weights] = adapt_inputs(t, inputs, routing);
        fused_kernel experts_kernel = make_fused_kernel(x.dim(0));
        experts_kernel.is_gated = false;
        const recorder::fused_kernel_guard fused{t, experts_kernel};
        const tensor rows = dispatch_tokens(t, x),
                     up = param(t, "up_proj", {num_experts, intermediate_size, hidden_size}),
                     down = param(t, "down_proj", {num_experts, hidden_size, intermediate_size});
        const tensor h = t.call("act_fn", activation_module{act}, t.linear(rows, t.select(up, 0)));
        return combine_expert_outputs(t, x, weights, t.linear(h, t.select(down, 0)));
    }
};

/// Router, experts in a narrower space where there is one, and a block that all tokens pass.
struct routed_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MoE"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const std::int64_t width = ctx.config.hidden_size, latent_size = ctx.config.family[latent];
        const tensor weights = call_router(ctx, t, x);
        tensor tokens = x.view({-1, width});
        tokens = projected(t, "fc1_latent_proj", width, latent_size, tokens);
        const routed_experts_base all{latent_size != 0 ? latent_size : width,
                                      moe.intermediate_size,
                                      moe.num_experts,
                                      moe.num_experts_per_tok,
                                      ctx.config.hidden_act,
                                      ctx.class_of("Experts")};
        tokens = t.call("experts", plain_experts{all}, tokens, weights);
        tokens = projected(t, "fc2_latent_proj", latent_size, width, tokens).view({x.dim(0), x.dim(1), width});
        return t.add(tokens, call_mlp(ctx, t, "shared_experts", moe.shared_intermediate_size, x));
    }

private:
    constexpr tensor projected(trace& t, literal name, std::int64_t in_features, std::int64_t to,
                               const tensor& x) const {
        if (ctx.config.family[latent] == 0) return t.call(name, identity{"Identity"}, x);
        return t.call(name, linear{in_features, to, ctx.config.mlp_bias}, x);
    }
};

constexpr tensor mixed_by_kind(const layer_context& ctx, trace& t, const tensor& x) {
    if (ctx.layer.family_tag == dense_only || ctx.layer.family_tag == experts_only) t.add_empty_cache_entry();
    if (ctx.layer.family_tag == dense_only) return call_mlp(ctx, t, "mixer", ctx.config.intermediate_size, x);
    if (ctx.layer.family_tag == experts_only) return t.call("mixer", routed_block{ctx}, x);
    if (ctx.layer.token_mixer == token_mixer_kind::full_attention) return attention_token_mixer(ctx, t, x);
    const auto act = static_cast<activation>(ctx.config.family[mixer_act]);
    const dual_state_space scan{ctx.config.hidden_size, ctx.config.ssm, act, ctx.class_of("Mamba2Mixer"),
                                ctx.class_of("RMSNormGated")};
    return t.call("mixer", scan, x);
}

/// One norm and one mixer, which attends, scans, or feeds forward.
constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    return t.add(x, mixed_by_kind(ctx, t, t.call("norm", norm_in_float{ctx}, x)));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return t.call(ctx.spec.names.norm, norm_in_float{ctx}, forward_layers(ctx, t, shared, x));
}

constexpr tensor logits_in_float(const layer_context&, trace& t, const tensor& logits) {
    return t.to(logits, dtype::float32);
}

/// Returns the kind of a layer from its name in a list, or its letter in `hybrid_override_pattern`.
constexpr layer_spec kind_of(config_view json, literal key, string_ref name) {
    if (name == "linear_attention" || name == "mamba" || name == "M") return {token_mixer_kind::recurrent};
    if (name == "full_attention" || name == "attention" || name == "*") return {token_mixer_kind::full_attention};
    if (name == "mlp" || name == "-") return {.token_mixer = token_mixer_kind::recurrent, .family_tag = dense_only};
    if (name == "moe" || name == "E")
        return {.token_mixer = token_mixer_kind::recurrent, .has_experts = true, .family_tag = experts_only};
    throw_unsupported(json, key, "unsupported layer type");
}

/// As many layers as the list or the pattern has; `num_hidden_layers` means nothing.
constexpr void parse_plan(config_view json, model_config& config) {
    for (const literal key : {"layer_types", "layers_block_type"}) {
        const auto list = json.optional_array(key);
        if (!list) continue;
        config.num_hidden_layers = static_cast<std::int64_t>(list->size());
        return set_layers(json, config, [&](std::int64_t i) {
            return kind_of(json, key, (*list)[static_cast<std::size_t>(i)].as_string());
        });
    }
    constexpr literal key = "hybrid_override_pattern";
    const string_ref pattern = json.string(key, "ME*-");
    config.num_hidden_layers = static_cast<std::int64_t>(pattern.size());
    if (config.num_hidden_layers == 0) throw_invalid_value(json, key, "a letter for each layer");
    set_layers(json, config,
               [&](std::int64_t i) { return kind_of(json, key, pattern.substr(static_cast<std::size_t>(i), 1)); });
}

constexpr void parse_mixers(config_view json, model_config& config) {
    const auto select_key = [&](literal older, literal key) { return json.contains(older) ? older : key; };
    state_space_config& m = config.ssm;
    m.state_size = json.positive("ssm_state_size", 128);
    m.conv_kernel = json.positive(select_key("mamba_d_conv", "conv_kernel"), 4);
    m.num_heads = json.positive("mamba_num_heads", 128);
    m.head_dim = json.positive("mamba_head_dim", 64);
    m.intermediate_size = checked_size(json, "mamba_head_dim", m.num_heads, m.head_dim);
    m.n_groups = json.positive(select_key("mamba_n_groups", "n_groups"), 8);
    m.chunk_size = json.positive(select_key("mamba_chunk_size", "chunk_size"), 128);
    m.use_bias = json.boolean("use_bias", false);
    m.use_conv_bias = json.boolean(select_key("mamba_conv_bias", "use_conv_bias"), true);
    if (m.num_heads % m.n_groups != 0)
        throw_invalid_value(json, select_key("mamba_n_groups", "n_groups"), "a divisor of mamba_num_heads");
    (void)checked_size(json, "ssm_state_size", m.n_groups, m.state_size);
    config.family[mixer_act] =
        static_cast<std::int64_t>(activation_named(json, "mamba_hidden_act", json.string("mamba_hidden_act", "silu")));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_mixers(json, config);
    parse_plan(json, config);
    config.sliding_window = 0;
    config.tie_word_embeddings = false;                  // `_tied_weights_keys` is empty
    config.attention_bias = config.output_bias = false;  // `attention_bias` is ignored
    config.moe.norm_topk_prob = true;
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    config.moe.shared_intermediate_size = json.non_negative("moe_shared_expert_intermediate_size", 7688);
    if (config.moe.shared_intermediate_size == 0) config.moe.shared_intermediate_size = config.intermediate_size;
    config.moe.n_group = json.positive("n_group", 1);
    config.moe.topk_group = json.positive("topk_group", 1);
    config.moe.has_group_limit = true;
    const auto latent_size = json.find("moe_latent_size");
    config.family[latent] = latent_size && !latent_size->is_null() ? latent_size->as_positive() : 0;
    if (config.layers.num_layers_with_experts(config.num_hidden_layers) == 0) return;
    if (config.moe.num_experts % config.moe.n_group != 0)
        throw_invalid_value(json, "n_group", "a divisor of n_routed_experts");
    if (config.moe.topk_group > config.moe.n_group) throw_invalid_value(json, "topk_group", "at most n_group");
    if (config.moe.num_experts / config.moe.n_group < 2)
        throw_invalid_value(json, "n_group", "at most half as many groups as experts");
}

}  // namespace nemotron_h_detail

// transformers/models/nemotron_h: configuration_nemotron_h.py, modeling_nemotron_h.py; one block per layer, experts
// without gates, attention without positions
inline constexpr model_spec nemotron_h = [](model_spec spec) {
    spec.model_type = "nemotron_h";
    spec.class_prefix = "NemotronH";
    spec.parse_config = nemotron_h_detail::parse_config;
    spec.supported_heads = language_heads;
    spec.family_keys = nemotron_h_detail::family_keys;
    spec.base_model = nemotron_h_detail::base;
    spec.decoder_layer = nemotron_h_detail::decoder_layer;
    spec.process_logits = nemotron_h_detail::logits_in_float;
    spec.router = router_kind::sigmoid_grouped;
    spec.rotary = rotary_style::none;
    spec.mask_policy = mask_kind::full_and_present;
    spec.dense_mlp = mlp_kind::plain;
    spec.supported_layers = attention_layers | token_mixer_kind::recurrent;
    spec.supported_layers.max_family_tag = nemotron_h_detail::experts_only;
    spec.names.embed_tokens = "embeddings";
    spec.names.norm = "norm_f";
    spec.names.attention = "mixer";
    spec.names.layer_class = spec.names.recurrent_layer_class = "Block";
    spec.names.router_class = "TopkRouter";
    spec.config_keys.add("hidden_act", "mlp_hidden_act", key_rule::family_name_only);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults = model_config{.vocab_size = 131072,
                                 .hidden_size = 4096,
                                 .intermediate_size = 21504,
                                 .num_hidden_layers = 4,
                                 .num_attention_heads = 32,
                                 .num_key_value_heads = 8,
                                 .head_dim = 128,
                                 .max_position_embeddings = 4096,
                                 .hidden_act = activation::relu2,
                                 .moe = {.num_experts = 8, .num_experts_per_tok = 2, .intermediate_size = 7688}};
    return spec;
}(llama);

}  // namespace llmcost::arch
