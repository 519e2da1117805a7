// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/decoder.hpp>
#include <llmcost/forward/encoder_decoder.hpp>

// An encoder of raw samples whose length is the recording's, and a decoder of words; both turn pairs of a part of each
// head.
namespace llmcost::arch {

namespace moonshine_detail {

enum family_config_index : std::uint8_t { padded_to, encoder_act };
inline constexpr family_key family_keys[]{
    {"pad_head_dim_to_multiple_of", 0},
    {.default_value = static_cast<std::int64_t>(activation::gelu), .type = family_key_type::computed},
};

struct sample_convolution {
    std::int64_t kernel;
    std::int64_t stride;
};
/// Three of them, without padding.
inline constexpr sample_convolution convolutions[]{{127, 64}, {7, 3}, {3, 2}};

constexpr std::int64_t states_of(const audio_preprocessing_config& sound, const workload& load) {
    std::int64_t places = num_audio_samples(sound, load);
    for (const sample_convolution& conv : convolutions) {
        if (places < conv.kernel) throw_description_error("the recording is shorter than a convolution kernel");
        places = (places - conv.kernel) / conv.stride + 1;
    }
    return places;
}

/// Attention within a sequence, or of words to the encoder's states; heads are filled up with zeros around the
/// products.
template <role What>
struct attention {
    layer_context ctx;
    const tensor* source = nullptr;
    bool remembers = false;

    static constexpr role module_role = What;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = ctx.config.num_attention_heads, d = ctx.config.head_dim,
                           width = ctx.config.hidden_size;
        const auto split = [&](literal name, const tensor& input) {
            const tensor all = t.call(name, linear{width, heads * d, ctx.config.attention_bias}, input);
            return all.view({input.dim(0), input.dim(1), heads, d}).transpose(1, 2);
        };
        query_key_value qkv;
        qkv.query = split("q_proj", x);
        const tensor& kv_input = source != nullptr ? *source : x;
        const bool from_cache = source != nullptr && is_encoder_cached(t.load());
        {
            const recorder::not_executed_guard unused{t, from_cache};
            qkv.key = split("k_proj", kv_input);
            qkv.value = split("v_proj", kv_input);
        }
        const attention_pattern pattern = source != nullptr
                                              ? attention_pattern{.query_length = kv_input.dim(1), .is_causal = false}
                                              : ctx.inputs->pattern;
        if (from_cache) {
            qkv.key = qkv.value = trace::buffer({x.dim(0), heads, kv_input.dim(1), d});
            t.add_to_cache(qkv.key);
            t.add_to_cache(qkv.value);
        } else {
            if (source == nullptr) apply_rotary(t, qkv);
            if (remembers) {
                qkv.key = update_kv_cache(t, qkv.key, pattern);
                qkv.value = update_kv_cache(t, qkv.value, pattern);
            }
        }
        const std::int64_t multiple = ctx.config.family[padded_to];
        const std::int64_t padding = multiple == 0 ? 0 : (d + multiple - 1) / multiple * multiple - d;
        const bool hides = source == nullptr && ctx.inputs->mask.rank > 0;
        if (padding > 0)
            for (tensor* const operand : {&qkv.query, &qkv.key, &qkv.value}) *operand = t.pad(*operand, -1, padding);
        tensor mixed =
            attention_forward(t, qkv.query, qkv.key, qkv.value, pattern, {.mask = hides ? &ctx.inputs->mask : nullptr});
        if (padding > 0) mixed = mixed.slice(-1, d);
        mixed = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), -1}));
        return t.call("o_proj", linear{heads * d, width}, mixed);
    }

private:
    /// Tables of halves, spread anew in every layer.
    constexpr void apply_rotary(trace& t, query_key_value& qkv) const {
        const tensor cos = repeat_for_pairs(t, ctx.inputs->cos), sin = repeat_for_pairs(t, ctx.inputs->sin);
        for (tensor* const x : {&qkv.query, &qkv.key})
            *x = rotate_partial(t, rotary_style::interleaved, *x, ctx.config.rotary_dim, cos, sin, true);
    }
};

constexpr norm_module norm_over(const layer_context& ctx) {
    return {.kind = norm_kind::layer, .width = ctx.config.hidden_size, .bias = false};
}

struct encoder_layer {
    layer_context ctx;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed = norm_over(ctx);
        const tensor h =
            t.add(x, t.call("self_attn", attention<role::attn>{ctx}, t.call("input_layernorm", normed, x)));
        const mlp_module block{mlp_kind::plain,
                               ctx.config.hidden_size,
                               ctx.config.encoder.intermediate_size,
                               static_cast<activation>(ctx.config.family[encoder_act]),
                               ctx.class_of("EncoderMLP"),
                               true,
                               {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("post_attention_layernorm", normed, h)));
    }
};

struct decoder_layer {
    layer_context ctx;
    const tensor& states;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed = norm_over(ctx);
        tensor h = t.add(
            x, t.call("self_attn", attention<role::attn>{ctx, nullptr, true}, t.call("input_layernorm", normed, x)));
        const tensor query_states = t.call("post_attention_layernorm", normed, h);
        h = t.add(h, t.call("encoder_attn", attention<role::cross_attn>{ctx, &states, true}, query_states));
        const mlp_module block{mlp_kind::fused_gated,
                               ctx.config.hidden_size,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               ctx.class_of("DecoderMLP"),
                               true,
                               {.gate = "fc1", .down = "fc2", .act = "activation_fn"}};
        return t.add(h, t.call("mlp", block, t.call("final_layernorm", normed, h)));
    }
};

constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size, states = states_of(ctx.model.audio_preprocessing, load);
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        const module_info encoder{
            .name = "encoder", .class_of_module = ctx.class_of("Encoder"), .module_role = role::encoder};
        t.enter(encoder);
        const auto& [first, second, third] = convolutions;
        const convolution_1d begin{1, width, first.kernel, first.stride, 0, 1, false};
        tensor x = t.tanh(
            t.call("conv1", begin, t.input({load.batch, 1, num_audio_samples(ctx.model.audio_preprocessing, load)})));
        x = t.call("groupnorm", group_norm_module{width, 1}, x);
        x = t.gelu(t.call("conv2", convolution_1d{width, 2 * width, second.kernel, second.stride}, x));
        x = t.gelu(t.call("conv3", convolution_1d{2 * width, width, third.kernel, third.stride}, x)).permute({0, 2, 1});
        attention_inputs inputs;
        inputs.pattern = {.query_length = states, .is_causal = false};
        const rotary_table table{ctx.config.rotary_dim, ctx.class_of("RotaryEmbedding"),
                                 rotary_frequencies{ctx.config}};
        const tensor_pair tables = t.call("rotary_emb", table, states);
        inputs.cos = tables.first;
        inputs.sin = tables.second;
        for (loop layer_loop = t.loop_modules(ctx.config.encoder.num_hidden_layers, x); layer_loop.next();)
            x = t.call({"layers", layer_loop.index()}, encoder_layer{ctx.for_layer(layer_loop, inputs)}, x);
        x = t.leave(encoder, t.call("layer_norm", norm_over(ctx), x));
        if (!is_encoder_cached(load)) return x;
    }
    return t.input({load.batch, states, width});
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const tensor states = encode_audio(ctx, t);
    const module_info decoder{
        .name = "decoder", .class_of_module = ctx.class_of("Decoder"), .module_role = role::decoder};
    t.enter(decoder);
    tensor x = embed_tokens(ctx, t);
    attention_inputs inputs;
    inputs.pattern = attention_pattern_of(t, 0);
    inputs.mask = eager_mask(t, inputs.pattern, load.batch);
    compute_rotary_embeddings(ctx, t, inputs);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, decoder_layer{ctx.for_layer(layer_loop, inputs), states}, x);
    return t.leave(decoder, t.call("norm", norm_over(ctx), x));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    return forward_with_logits(ctx, t, [&](const tensor& x) { return lm_head_logits(ctx, t, x); });
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return {.audio = {.num_samples = num_audio_samples(m.audio_preprocessing, load)}};
}

constexpr void parse_config(config_view json, model_config& config) {
    config.output_bias = false;
    config.rotary_dim = round_rotary_dim(config.head_dim, detail::parse_partial_rotary_factor(json, 0.9));
    config.encoder = {json.positive("encoder_num_hidden_layers", 6), json.positive("encoder_num_attention_heads", 8),
                      config.intermediate_size};
    if (const auto act = json.optional_string("encoder_hidden_act"))
        config.family[encoder_act] = static_cast<std::int64_t>(activation_named(json, "encoder_hidden_act", *act));
    // both halves view their projections by the heads that the last attention has put into the configuration
    if (config.encoder.num_attention_heads != config.num_attention_heads)
        throw_invalid_value(json, "encoder_num_attention_heads", "as many as the decoder's");
    if (config.num_key_value_heads != config.num_attention_heads)
        throw_invalid_value(json, "decoder_num_key_value_heads",
                            "as many as attention heads, since queries are viewed by them");
    const auto of_encoder = json.optional_positive("encoder_num_key_value_heads");
    if (of_encoder && *of_encoder != config.num_attention_heads)
        throw_invalid_value(json, "encoder_num_key_value_heads",
                            "as many as attention heads, since queries are viewed by them");
    set_single_mask(json, config);
}

}  // namespace moonshine_detail

// transformers/models/moonshine
inline constexpr model_spec moonshine = [](model_spec spec) {
    spec.model_type = "moonshine";
    spec.class_prefix = "Moonshine";
    spec.forward = moonshine_detail::forward;
    spec.base_model = moonshine_detail::base;
    spec.parse_config = moonshine_detail::parse_config;
    spec.family_keys = moonshine_detail::family_keys;
    spec.compute_media_shapes = moonshine_detail::compute_media_shapes;
    spec.parse_feature_extractor = parse_samples<wav2vec2_extractor>;
    spec.modalities.has_audio = true;
    spec.has_partial_rotary = true;
    spec.supported_heads = {head_kind::none, head_kind::conditional_generation};
    spec.names.lm_head = "proj_out";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("num_hidden_layers", "decoder_num_hidden_layers", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "decoder_num_attention_heads", key_rule::standard_name_first);
    spec.config_keys.add("num_key_value_heads", "decoder_num_key_value_heads", key_rule::standard_name_first);
    spec.config_keys.add("hidden_act", "decoder_hidden_act", key_rule::standard_name_first);
    spec.defaults.head = head_kind::conditional_generation;
    spec.defaults.vocab_size = 32768;
    spec.defaults.hidden_size = 288;
    spec.defaults.intermediate_size = 1152;
    spec.defaults.num_hidden_layers = 6;
    spec.defaults.num_attention_heads = 8;
    spec.defaults.max_position_embeddings = 512;
    spec.defaults.hidden_act = activation::silu;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(model_spec{});

}  // namespace llmcost::arch
