// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2_audio.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/encoder.hpp>

// Encoders of raw samples: convolutions that shorten them, layers of text encoders, and a head.
namespace llmcost::arch {

namespace wav2vec2_detail {

// ---- layers

constexpr tensor layer_norm(const layer_context& ctx, trace& t, literal name, const tensor& x) {
    return t.call(name, norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

struct feed_forward {
    const layer_context& ctx;

    static constexpr role module_role = role::mlp;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("FeedForward"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.intermediate_size;
        tensor h = t.call("intermediate_dense", linear{width, inner, true}, x);
        h = t.call("intermediate_act_fn", activation_module{ctx.config.hidden_act}, h);
        h = dropout(t, "intermediate_dropout", h, dropout_position::mlp);
        return dropout(t, "output_dropout", t.call("output_dense", linear{inner, width, true}, h));
    }
};

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size;
    const tensor mixed = bidirectional_attention(t, x, width, ctx.config.num_attention_heads, true,
                                                 {"q_proj", "k_proj", "v_proj"}, false, full_pattern(x.dim(1)));
    return t.call("out_proj", linear{width, width, true}, mixed);
}

/// A language-specific bottleneck adapter after a layer.
struct attention_adapter {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AttnAdapterLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, adapter_dim = ctx.config.family[extra_size];
        const tensor h = t.call("linear_1", linear{width, adapter_dim, true}, layer_norm(ctx, t, "norm", x));
        return t.call("linear_2", linear{adapter_dim, width, true},
                      t.call("act_fn", activation_module{activation::relu}, h));
    }
};

/// Attention and a feed-forward block, with norms before or after them.
template <class Attention>
struct layer_with {
    layer_context ctx;
    Attention attention;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(is(ctx, stable) ? "EncoderLayerStableLayerNorm" : "EncoderLayer");
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const bool first = is(ctx, stable);
        tensor h = first ? layer_norm(ctx, t, "layer_norm", x) : x;
        h = t.add(x, dropout(t, "dropout", t.call("attention", attention, h)));
        if (!first) {
            h = layer_norm(ctx, t, "layer_norm", h);
            return layer_norm(ctx, t, "final_layer_norm", t.add(h, t.call("feed_forward", feed_forward{ctx}, h)));
        }
        h = t.add(h, t.call("feed_forward", feed_forward{ctx}, layer_norm(ctx, t, "final_layer_norm", h)));
        if (!is(ctx, attention_adapters)) return h;
        return t.add(h, t.call("adapter_layer", attention_adapter{ctx}, h));
    }
};

/// Positions by a family's own convolutions, or as above; layers.
constexpr tensor encode_with(const layer_context& ctx, trace& t, tensor x, layer_forward_function embed_positions) {
    const module_info encoder{.name = "encoder",
                              .class_of_module = ctx.class_of(is(ctx, stable) ? "EncoderStableLayerNorm" : "Encoder"),
                              .module_role = role::encoder};
    t.enter(encoder);
    x = t.add(x, embed_positions(ctx, t, x));
    if (!is(ctx, stable)) x = layer_norm(ctx, t, "layer_norm", x);
    x = dropout(t, "dropout", x);
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();) {
        const layer_context at = ctx.for_layer(layer_loop, no_inputs);
        x = t.call({"layers", layer_loop.index()}, layer_with<attention_module>{at, {at}}, x);
    }
    return t.leave(encoder, is(ctx, stable) ? layer_norm(ctx, t, "layer_norm", x) : x);
}
constexpr tensor encode(const layer_context& ctx, trace& t, const tensor& x) {
    return encode_with(ctx, t, x, positions);
}

// ---- after the layers

struct adapter_step {
    const layer_context& ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("AdapterLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const convolution_1d conv{family[adapter_width], 2 * family[adapter_width], family[adapter_kernel],
                                  family[adapter_stride], 1};
        return t.glu(t.call("conv", conv, x), 1);
    }
};

/// Convolutions that halve the places again.
constexpr tensor adapt(const layer_context& ctx, trace& t, tensor x) {
    const std::int64_t width = ctx.config.family[adapter_width], steps = ctx.config.family[adapter_layers];
    if (steps == 0) return x;
    const module_info adapter{.name = "adapter", .class_of_module = ctx.class_of("Adapter")};
    t.enter(adapter);
    if (width != ctx.config.hidden_size)
        x = t.call("proj_layer_norm", norm_module{norm_kind::layer, width},
                   t.call("proj", linear{x.dim(-1), width, true}, x));
    x = x.transpose(1, 2);
    for (std::int64_t i = 0; i < steps; ++i) x = t.call({"layers", i}, adapter_step{ctx}, x);
    return t.leave(adapter, x.transpose(1, 2));
}

constexpr void declare_mask(const layer_context& ctx, trace& t) {
    const recorder::not_executed_guard unused{t};
    if (is(ctx, masks)) (void)t.param("masked_spec_embed", {ctx.config.hidden_size});
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    declare_mask(ctx, t);
    const tensor x = project(ctx, t, extract(ctx, t));
    return adapt(ctx, t, ctx.spec.decoder_layer(ctx, t, x));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_audio_encoder(ctx, t, is(ctx, weighs_layers), ctx.config.family[summary_width]);
}

// ---- configurations

constexpr void parse_convolutions(config_view json, model_config& config, std::int64_t default_of_all) {
    const auto widths = json.optional_array("conv_dim"), kernels = json.optional_array("conv_kernel"),
               strides = json.optional_array("conv_stride");
    const auto otherwise = [&](std::int64_t i) -> sample_step {
        if (default_of_all == max_convolutions) {  // SEW
            const std::int64_t width = i == 0 ? 64 : i < 5 ? 128 : i < 9 ? 256 : 512;
            return {width, i == 0 ? 10 : i % 2 == 0 ? 1 : i < 9 ? 3 : 2, i == 0 ? 5 : i % 2 == 0 ? 1 : 2};
        }
        return {512, i == 0 ? 10 : i < 5 ? 3 : 2, i == 0 ? 5 : 2};
    };
    const auto size = [&](const maybe<config_view>& list) {
        return list ? static_cast<std::int64_t>(list->size()) : default_of_all;
    };
    const std::int64_t n = size(widths);
    if (n < 1 || n > max_convolutions) throw_unsupported(json, "conv_dim", "unsupported number of convolutions");
    if (size(kernels) != n) throw_invalid_value(json, "conv_kernel", "as many as conv_dim");
    if (size(strides) != n) throw_invalid_value(json, "conv_stride", "as many as conv_dim");
    config.family[convolutions] = n;
    for (std::int64_t i = 0; i < n; ++i) {
        sample_step step = otherwise(i);
        const auto at = static_cast<std::size_t>(i);
        if (widths) step.width = (*widths)[at].as_positive();
        if (kernels) step.kernel = (*kernels)[at].as_positive();
        if (strides) step.stride = (*strides)[at].as_positive();
        if (step.width > 0xffffff) throw_invalid_value((*widths)[at], "a width up to 16777215");
        if (step.kernel > 0xffff) throw_invalid_value((*kernels)[at], "a kernel up to 65535");
        if (step.stride > 0xffff) throw_invalid_value((*strides)[at], "a stride up to 65535");
        config.family[static_cast<std::size_t>(first_convolution + i)] = step.packed();
    }
}

constexpr void set_flag(model_config& config, std::int64_t flag, bool is_enabled) {
    if (is_enabled) config.family[switches] |= flag;
}

/// What all of these families read.
constexpr void parse_shared(config_view json, model_config& config, std::int64_t default_of_all = 7) {
    parse_convolutions(json, config, default_of_all);
    const string_ref norms = json.string("feat_extract_norm", "group");
    if (norms != "group" && norms != "layer") throw_invalid_value(json, "feat_extract_norm", "group or layer");
    set_flag(config, groups_norm, norms == "group");
    set_flag(config, biased, json.boolean("conv_bias", false));
    set_flag(config, stable, json.boolean("do_stable_layer_norm", false));
    set_flag(config, masks, json.real("mask_time_prob", 0.05) > 0 || json.real("mask_feature_prob", 0) > 0);
    set_flag(config, weighs_layers, json.boolean("use_weighted_layer_sum", false));
    set_flag(config, norms_features, true);
    if (const auto name = json.optional_string("feat_extract_activation"))
        config.family[feature_act] =
            static_cast<std::int64_t>(activation_named(json, "feat_extract_activation", *name));
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "num_attention_heads", "a divisor of hidden_size");
    if (config.hidden_size % config.family[position_groups] != 0)
        throw_invalid_value(json, "num_conv_pos_embedding_groups", "a divisor of hidden_size");
    config.family[adapter_width] = config.hidden_size;
}

/// Parses the adapter layers of families with adapters after the encoder layers.
constexpr void parse_adapter_layers(config_view json, model_config& config) {
    if (!json.boolean("add_adapter", false)) return;
    if (config.head == head_kind::sequence_classification)
        throw_unsupported(json, "add_adapter", "adapters are not supported by the reference's classifier");
    config.family[adapter_layers] = json.positive("num_adapter_layers", 3);
    if (config.family[adapter_layers] > 64)
        throw_unsupported(json, "num_adapter_layers", "more than 64 are not supported");
    config.family[adapter_width] = json.positive("output_hidden_size", config.hidden_size);
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config);
    parse_adapter_layers(json, config);
    const auto adapter_attn_dim = json.optional_positive("adapter_attn_dim");
    set_flag(config, attention_adapters, adapter_attn_dim.has_value());
    if (!adapter_attn_dim) return;
    if ((config.family[switches] & stable) == 0) config.family[switches] &= ~attention_adapters;
    config.family[extra_size] = *adapter_attn_dim;
}

constexpr void parse_without_adapters(config_view json, model_config& config) { parse_shared(json, config); }

constexpr void parse_hubert(config_view json, model_config& config) {
    parse_shared(json, config);
    if (json.boolean("conv_pos_batch_norm", false))
        throw_unsupported(json, "conv_pos_batch_norm", "a norm before the convolutional positions is not supported");
    if (!json.boolean("feat_proj_layer_norm", true)) config.family[switches] &= ~norms_features;
}

}  // namespace wav2vec2_detail

// transformers/models/wav2vec2
inline constexpr model_spec wav2vec2{
    .model_type = "wav2vec2",
    .class_prefix = "Wav2Vec2",
    .forward = wav2vec2_detail::forward,
    .base_model = wav2vec2_detail::base,
    .decoder_layer = wav2vec2_detail::encode,
    .attention = wav2vec2_detail::attention,
    .parse_config = wav2vec2_detail::parse_config,
    .parse_feature_extractor = parse_samples<of_wav2vec2>,
    .family_keys = wav2vec2_detail::family_keys,
    .compute_media_shapes = wav2vec2_detail::show,
    .modalities = {.has_text = false, .has_audio = true},
    .rotary = rotary_style::none,
    .supported_heads = {head_kind::none, head_kind::ctc, head_kind::sequence_classification},
    .names = {.base_model = "wav2vec2"},
    .config_keys = {absent_num_key_value_heads,
                    {"head_dim", "", key_rule::absent},
                    absent_attention_bias,
                    absent_mlp_bias,
                    {"sliding_window", "", key_rule::absent},
                    {"tie_word_embeddings", "", key_rule::absent},
                    {"max_position_embeddings", "", key_rule::absent}},
    .defaults = {.vocab_size = 32,
                 .hidden_size = 768,
                 .intermediate_size = 3072,
                 .num_hidden_layers = 12,
                 .num_attention_heads = 12,
                 .hidden_act = activation::gelu,
                 .head = head_kind::none},
};

// transformers/models/hubert: without adapters
inline constexpr model_spec hubert = [](model_spec spec) {
    spec.model_type = "hubert";
    spec.class_prefix = "Hubert";
    spec.names.base_model = "hubert";
    spec.parse_config = wav2vec2_detail::parse_hubert;
    return spec;
}(wav2vec2);

// transformers/models/unispeech
inline constexpr model_spec unispeech = [](model_spec spec) {
    spec.model_type = "unispeech";
    spec.class_prefix = "UniSpeech";
    spec.names.base_model = "unispeech";
    spec.parse_config = wav2vec2_detail::parse_without_adapters;
    return spec;
}(wav2vec2);

// transformers/models/unispeech_sat
inline constexpr model_spec unispeech_sat = [](model_spec spec) {
    spec.model_type = "unispeech-sat";
    spec.class_prefix = "UniSpeechSat";
    spec.names.base_model = "unispeech_sat";
    return spec;
}(unispeech);

}  // namespace llmcost::arch
