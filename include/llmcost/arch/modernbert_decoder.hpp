// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/prediction_head.hpp>

namespace llmcost::arch {

namespace modernbert_decoder_detail {

enum family_config_index : std::uint8_t { norm_bias, classifier_bias, classifier_activation };

inline constexpr family_key family_keys[]{
    {"norm_bias", 0, family_key_type::boolean},
    {"classifier_bias", 0, family_key_type::boolean},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
};

/// Layer flag: the first layer, whose attention reads normalized embeddings.
inline constexpr std::uint8_t first = 1;

constexpr tensor norm_named(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return t.call(
        name, norm_module{norm_kind::layer, ctx.config.hidden_size, {}, true, ctx.config.family[norm_bias] != 0}, x);
}

/// Words, normed: (B, S, hidden).
struct embeddings {
    layer_context ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Embeddings"); }
    constexpr tensor forward(trace& t, const shape& ids) const {
        const tensor x = t.call("tok_embeddings", embedding{ctx.config.vocab_size, ctx.config.hidden_size}, ids);
        return dropout(t, "drop", norm_named(ctx, t, "norm", x), dropout_position::embeddings);
    }
};

constexpr tensor embed(const layer_context& ctx, trace& t) {
    return t.call("embeddings", embeddings{ctx}, shape{t.load().batch, t.load().sequence});
}

/// Cosines and sines of the positions of every sequence, (batch, sequence, dim).
struct table_per_sequence {
    layer_context ctx;
    bool sliding;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("RotaryEmbedding"); }
    constexpr tensor_pair forward(trace& t) const {
        const trace::no_grad_guard quiet{t};
        rotary_frequencies{ctx.config, sliding}.update(t, ctx.config.rotary_dim);
        const std::int64_t half = ctx.config.rotary_dim / 2;
        t.register_buffer({2, half}, dtype::float32);  // `inv_freq` and `original_inv_freq`
        const tensor angles = t.mul(t.full({t.load().batch, t.load().sequence, 1}), trace::buffer({half}));
        const tensor doubled = t.cat({angles, angles}, -1);
        const tensor cos = t.mul_scalar(t.cos(doubled)), sin = t.mul_scalar(t.sin(doubled));
        return {t.to(cos, t.activation_type()), t.to(sin, t.activation_type())};
    }
};

/// Both masks, and a table for each kind of layers that there is.
constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    const auto make = [&](token_mixer_kind kind, attention_inputs& inputs) {
        if (!ctx.config.layers.contains(kind, ctx.config.num_hidden_layers)) return;
        const tensor_pair made =
            t.call("rotary_emb", table_per_sequence{ctx, kind == token_mixer_kind::sliding_attention});
        inputs.cos = made.first;
        inputs.sin = made.second;
    };
    make(token_mixer_kind::full_attention, c.full);
    make(token_mixer_kind::sliding_attention, c.sliding);
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor cos = ctx.inputs->cos.unsqueeze(1), sin = ctx.inputs->sin.unsqueeze(1);
    qkv.query = rotate_in_float32(t, qkv.query, cos, sin);
    qkv.key = rotate_in_float32(t, qkv.key, cos, sin);
    update_kv_cache(ctx, t, qkv);
    return dropout(t, "out_drop", output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv)),
                   dropout_position::attention);
}

/// Wo(act(half of Wi(x)) · other half).
struct mlp_block {
    layer_context ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MLP"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        const tensor half = t.call("Wi", linear{width, 2 * inner, ctx.config.mlp_bias}, x).slice(-1, inner);
        const tensor h = t.mul(t.call("act", activation_module{ctx.config.hidden_act}, half), half);
        return t.call("Wo", linear{inner, width, ctx.config.mlp_bias}, dropout(t, "drop", h, dropout_position::mlp));
    }
};

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) { return t.call("mlp", mlp_block{ctx}, x); }

constexpr tensor decoder_layer(const layer_context& ctx, trace& t, const tensor& x) {
    const bool plain = ctx.layer.family_tag == first;
    const tensor h = plain ? t.call("attn_norm", identity{"Identity"}, x) : norm_named(ctx, t, "attn_norm", x);
    const tensor middle = t.add(x, mix_tokens(ctx, t, h));
    return t.add(middle, ctx.spec.mlp(ctx, t, norm_named(ctx, t, "mlp_norm", middle)));
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return norm_named(ctx, t, "final_norm", forward_layers(ctx, t, shared, x));
}

constexpr tensor transform(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    const family_config& family = ctx.config.family;
    return modernbert_heads::transform_with(ctx, t, name, x, family[classifier_bias] != 0,
                                            static_cast<activation>(family[classifier_activation]),
                                            family[norm_bias] != 0);
}

constexpr tensor scores(const layer_context& ctx, trace& t, const tensor& x) {
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const model_config& config = ctx.config;
    if (config.head == head_kind::causal_lm) {
        const tensor h = transform(ctx, t, "lm_head", logits_to_keep(t, x));
        return t.call(
            "decoder",
            head_linear{{config.hidden_size, config.vocab_size, config.head_bias, config.tie_word_embeddings}}, h);
    }
    const tensor h = dropout(t, "drop", transform(ctx, t, "head", x), dropout_position::classifier);
    const linear classifier{config.hidden_size, config.num_labels, config.family[classifier_bias] != 0};
    return t.gather(t.call("classifier", head_linear{classifier}, h), {x.dim(0), config.num_labels});
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const class_name type = ctx.class_of("Model");
    if (ctx.config.head == head_kind::none)
        return forward_in_module({.class_of_module = type}, ctx.spec.base_model, ctx, t);
    const module_info model_info{.class_of_module = ctx.class_of(name_of(ctx.config.head))};
    t.enter(model_info);
    const tensor x = forward_in_module({.name = "model", .class_of_module = type}, ctx.spec.base_model, ctx, t);
    return t.leave(model_info, t.select_model_output(x, scores(ctx, t, x)));
}

/// Parses `config.json`. Sliding windows are half as wide as those of ModernBERT. The first layer and then one in every
/// `global_attn_every_n_layers` have full attention.
constexpr void parse_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_attention_heads"});
    config.rotary_dim = config.head_dim;
    config.head_bias = json.boolean("decoder_bias", true);
    const auto act = json.optional_string("classifier_activation");
    if (act)
        config.family[classifier_activation] =
            static_cast<std::int64_t>(activation_named(json, "classifier_activation", *act));
    if (!json.contains("sliding_window")) {
        const auto local_window = json.find("local_attention");
        config.sliding_window = !local_window ? 64 : local_window->is_null() ? 0 : local_window->as_non_negative() / 2;
    } else {
        require_sliding_window(json);
    }
    const std::int64_t step = json.positive("global_attn_every_n_layers", 3);
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    set_layers(json, config, [&](std::int64_t i) {
        const token_mixer_kind default_token_mixer =
            i % step == 0 ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention;
        return layer_spec{.token_mixer = listed ? listed_layers[i].token_mixer : default_token_mixer,
                          .family_tag = i == 0 ? first : std::uint8_t{}};
    });
}

}  // namespace modernbert_decoder_detail

// transformers/models/modernbert_decoder: ModernBERT's blocks, causal, with projections of their own for q, k and v
inline constexpr model_spec modernbert_decoder = [](model_spec spec) {
    namespace own = modernbert_decoder_detail;
    spec.supported_heads = classifying_decoder_heads;
    spec.has_rotary_per_token_mixer = true;
    spec.model_type = "modernbert-decoder";
    spec.class_prefix = "ModernBertDecoder";
    spec.parse_config = own::parse_config;
    spec.family_keys = own::family_keys;
    spec.forward = own::forward;
    spec.base_model = own::base;
    spec.embed_tokens = own::embed;
    spec.prepare_inputs = own::prepare_inputs;
    spec.decoder_layer = own::decoder_layer;
    spec.attention = own::attention;
    spec.mlp = own::mlp;
    spec.mask_policy = mask_kind::full_and_sliding;
    spec.supported_layers.max_family_tag = own::first;
    spec.norm = norm_kind::layer;
    spec.names.layer_class = "Layer";
    spec.names.attention = "attn";
    spec.names.o_proj = "Wo";
    spec.config_keys.add("hidden_act", "hidden_activation", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.defaults.vocab_size = 50368;
    spec.defaults.hidden_size = 768;
    spec.defaults.intermediate_size = 1152;
    spec.defaults.num_hidden_layers = 22;
    spec.defaults.num_attention_heads = 12;
    spec.defaults.max_position_embeddings = 8192;
    spec.defaults.hidden_act = activation::gelu;
    spec.defaults.tie_word_embeddings = true;
    spec.dropout_keys = modernbert_heads::dropout_rates;
    return spec;
}(default_decoder);

}  // namespace llmcost::arch
