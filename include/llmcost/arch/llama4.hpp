// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/experts.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>

namespace llmcost::arch {

namespace llama4_detail {

enum family_config_index : std::uint8_t { tunes_temperature };
inline constexpr family_key family_keys[]{
    {"attn_temperature_tuning", 1, family_key_type::boolean},  // queries without RoPE are scaled by token position
};

/// Layer flag: attention without positions.
inline constexpr std::uint8_t unrotated = 1;

/// log(1 + floor((position + 1) / floor_scale)) · attn_scale + 1, (1, sequence, 1, 1).
constexpr tensor temperatures(trace& t, std::int64_t sequence) {
    const tensor steps = t.floor(t.div_scalar(t.add_scalar(t.full({sequence}))));
    return t.add_scalar(t.mul_scalar(t.log1p(steps))).view({1, sequence, 1, 1});
}

/// Attention with complex rotation and weightless norms of queries and keys, or with neither.
constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t batch = x.dim(0), sequence = x.dim(1);
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    if (ctx.layer.family_tag != unrotated) {
        const tensor unit = ctx.inputs->cos.unsqueeze(2);
        const norm_module plain{norm_kind::rms, ctx.config.head_dim, ctx.class_of("TextL2Norm"), false};
        for (tensor* const operand : {&qkv.query, &qkv.key}) *operand = rotate_complex(t, *operand, unit);
        for (tensor* const operand : {&qkv.query, &qkv.key})  // one module, called twice
            if (ctx.config.qk_norm) *operand = t.call("qk_norm", plain, *operand);
    } else if (ctx.config.family[tunes_temperature]) {
        qkv.query = t.to(t.mul(qkv.query, temperatures(t, sequence).expand({batch, sequence, 1, 1})), qkv.query.type);
    }
    transpose_heads(qkv);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv, {.has_float32_softmax = false}));
}

/// Logits of the experts, and the sigmoids of the largest k of them: 0 for the others.
struct top_k_router {
    layer_context ctx;

    static constexpr role module_role = role::router;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Router"); }
    constexpr tensor_pair forward(trace& t, const tensor& tokens) const {
        const tensor logits = t.linear(tokens, t.param("weight", {ctx.config.moe.num_experts, ctx.config.hidden_size}));
        const tensor largest = t.topk(logits, ctx.config.moe.num_experts_per_tok);
        tensor scores = t.full({tokens.dim(0), ctx.config.moe.num_experts}, logits.type);
        t.scatter_(scores, largest);
        return {t.to(t.sigmoid(t.to(scores, dtype::float32)), logits.type), logits};
    }
};

/// Every expert runs over every token in one batch of products: x (experts · tokens, width) -> the same.
struct experts {
    layer_context ctx;

    static constexpr role module_role = role::experts;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextExperts"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const moe_config& moe = ctx.config.moe;
        const std::int64_t width = ctx.config.hidden_size, inner = moe.intermediate_size, k = moe.num_experts_per_tok;
        const tensor in = t.param("gate_up_proj", {moe.num_experts, width, 2 * inner}, k, moe.num_experts);
        const tensor out = t.param("down_proj", {moe.num_experts, inner, width}, k, moe.num_experts);
        const tensor half = t.bmm(x.view({moe.num_experts, -1, width}), in).slice(-1, inner);
        const tensor gated = t.mul(half, t.call("act_fn", activation_module{ctx.config.hidden_act}, half));
        return t.bmm(gated, out).view({-1, width});
    }
};

/// What all experts make of all tokens: (experts · tokens, width).
constexpr tensor expert_outputs(const layer_context& ctx, trace& t, const tensor& tokens, const tensor& scores) {
    const std::int64_t n = ctx.config.moe.num_experts, width = ctx.config.hidden_size;
    const recorder::fused_kernel_guard fused{t,
                                             {.kind = fused_kernel_kind::experts,
                                              .num_tokens = tokens.dim(0),
                                              .hidden_size = width,
                                              .intermediate_size = ctx.config.moe.intermediate_size,
                                              .num_experts = n,
                                              .num_experts_per_tok = ctx.config.moe.num_experts_per_tok}};
    const recorder::dense_experts_guard all_experts{t, ctx.config.moe.num_experts_per_tok, n};
    const tensor copies = t.copy(tokens.unsqueeze(0).expand({n, tokens.dim(0), width})).view({-1, width});
    const tensor scaled = t.mul(copies, t.reshape(scores.transpose(0, 1), {-1, 1}));
    return t.call("experts", experts{ctx}, scaled);
}

/// Each expert gets all tokens, scaled by its scores; a shared expert gets them as they are.
struct mixture {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("TextMoe"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor tokens = t.reshape(x, {-1, width});
        const tensor scores = t.call("router", top_k_router{ctx}, tokens).first;
        const tensor routed = expert_outputs(ctx, t, tokens, scores);
        tensor out = call_mlp(ctx, t, "shared_expert", ctx.config.moe.shared_intermediate_size, tokens);
        t.add_(out, t.sum(t.reshape(routed, {ctx.config.moe.num_experts, -1, width}), 0));
        return out.view({x.dim(0), x.dim(1), width});
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return ctx.layer.has_experts ? t.call("feed_forward", mixture{ctx}, x) : default_mlp(ctx, t, x);
}

/// Which layers rotate queries and keys: a list, else all but every so many-th (configuration_llama4.py,
/// `__post_init__`).
class rotary_places {
public:
    constexpr rotary_places(config_view json, const model_config& config, bool listed_types)
        : interval_(json.positive("no_rope_layer_interval", 4)), list_(json.optional_array("no_rope_layers")) {
        if (list_ && list_->size() == 0) list_ = {};
        if (!list_) return;
        const auto num_listed = static_cast<std::int64_t>(list_->size());
        if (num_listed < config.num_hidden_layers || (num_listed > config.num_hidden_layers && !listed_types))
            throw_invalid_value(json, "no_rope_layers", "a list with one number per hidden layer");
    }
    [[nodiscard]] constexpr bool has(std::int64_t layer) const {
        return list_ ? (*list_)[static_cast<std::uint32_t>(layer)].as_integer() != 0 : (layer + 1) % interval_ != 0;
    }

private:
    std::int64_t interval_;
    maybe<config_view> list_;
};

/// Parses `config.json`. Without `layer_types`, layers with RoPE use chunked attention and the others full attention.
/// `moe_layers` lists the layers with experts; without it, one in every `interleave_moe_layer_step` layers has experts.
constexpr void parse_config(config_view json, model_config& config) {
    config.moe.num_experts = json.positive("num_local_experts", config.moe.num_experts);
    config.moe.num_experts_per_tok = json.positive("num_experts_per_tok", config.moe.num_experts_per_tok);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, "num_experts_per_tok", "at most the number of experts");
    config.moe.intermediate_size = config.moe.shared_intermediate_size = config.intermediate_size;
    config.intermediate_size = json.positive("intermediate_size_mlp", 16384);
    (void)checked_size(json, "num_local_experts", config.moe.num_experts, config.hidden_size);
    config.qk_norm = json.boolean("use_qk_norm", config.qk_norm);
    const bool listed = parse_layer_types(json, config, token_mixer_kind::chunked_attention);
    const layer_plan listed_layers = config.layers;
    const rotary_places rotates(json, config, listed);
    const std::int64_t step = json.positive("interleave_moe_layer_step", 1);
    const auto list = json.optional_array("moe_layers");
    const layer_set several = list ? layer_set(*list) : layer_set{};
    set_layers(json, config, [&](std::int64_t i) {
        const bool turns = rotates.has(i);
        const token_mixer_kind default_token_mixer =
            turns ? token_mixer_kind::chunked_attention : token_mixer_kind::full_attention;
        return layer_spec{listed ? listed_layers[i].token_mixer : default_token_mixer,
                          list ? several.has(i) : (i + 1) % step == 0, turns ? std::uint8_t{} : unrotated};
    });
    // a mask of chunks is made in any case; of one token the reference's cache would keep everything
    const auto chunk = json.find("attention_chunk_size");
    config.sliding_window = chunk ? chunk->as_positive() : 8192;
    if (config.sliding_window < 2 &&
        config.layers.contains(token_mixer_kind::chunked_attention, config.num_hidden_layers))
        throw_invalid_value(json, "attention_chunk_size", "at least 2 tokens");
}

}  // namespace llama4_detail

// transformers/models/llama4: chunks with complex rotation, full attention without, every expert over every token
inline constexpr model_spec llama4_text = [](model_spec spec) {
    spec.model_type = "llama4_text";
    spec.class_prefix = "Llama4";
    spec.parse_config = llama4_detail::parse_config;
    spec.family_keys = llama4_detail::family_keys;
    spec.attention = llama4_detail::attention;
    spec.mlp = llama4_detail::mlp;
    spec.supported_layers = attention_layers | token_mixer_kind::chunked_attention;
    spec.supported_layers.max_family_tag = llama4_detail::unrotated;
    spec.rotary = rotary_style::interleaved_complex;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_heads = language_heads;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextRMSNorm";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.names.mlp_class = "TextMLP";
    spec.names.mlp = "feed_forward";
    spec.names.mlp_modules.act = "activation_fn";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("sliding_window", key_rule::absent);
    spec.defaults.vocab_size = 202048;
    spec.defaults.hidden_size = 5120;
    spec.defaults.intermediate_size = 8192;
    spec.defaults.num_hidden_layers = 48;
    spec.defaults.num_attention_heads = 40;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 131072;
    spec.defaults.qk_norm = true;
    spec.defaults.moe.num_experts = 16;
    spec.defaults.moe.num_experts_per_tok = 1;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
