// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/wav2vec2.hpp>
#include <llmcost/forward/conformer.hpp>
#include <llmcost/forward/encoder_decoder_stacks.hpp>
#include <llmcost/forward/sinusoidal_positions.hpp>
#include <llmcost/forward/wav2vec2_encoder.hpp>

// Features of wav2vec 2.0 before an encoder with relative positions, and a text decoder.
namespace llmcost::arch {

namespace speecht5_detail {

using namespace wav2vec2_encoder;

enum family_config_index : std::uint8_t {
    reach = summary_width,
    decoder_layers = adapter_layers,
    decoder_heads = adapter_kernel,
    decoder_inner = adapter_stride,
    encoder_inner = adapter_width,
    max_frames
};

struct config_key_table {
    family_key family_keys[max_frames + 1];

    constexpr config_key_table() {
        for (std::size_t i = 0; i <= adapter_width; ++i) family_keys[i] = wav2vec2_encoder::family_keys[i];
        family_keys[reach] = {"encoder_max_relative_position", 160};
        family_keys[decoder_layers] = {"decoder_layers", 6};
        family_keys[decoder_heads] = {"decoder_attention_heads", 12};
        family_keys[decoder_inner] = {"decoder_ffn_dim", 3072};
        family_keys[encoder_inner] = {"encoder_ffn_dim", 3072};
        family_keys[max_frames] = {"max_speech_positions", 4000};
        family_keys[extra_size] = {"pad_token_id", 1, family_key_type::non_negative};
    }
};

inline constexpr config_key_table table{};

inline constexpr literal extractor = "SpeechT5FeatureExtractor";

/// Scaled queries over keys of all heads in one batch, with a bias that queries and distances make, added in place.
struct speech_attention {
    const layer_context& ctx;
    std::int64_t heads;
    bool caches = false;
    bool crosses = false;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Attention"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& source, const attention_pattern& pattern,
                             const tensor* mask, const tensor* distances) const {
        const std::int64_t width = ctx.config.hidden_size, d = width / heads, batch = x.dim(0), places = x.dim(1);
        const linear square{width, width, true};
        const auto split = [&](const tensor& v) { return v.view({batch, -1, heads, d}).transpose(1, 2); };
        const auto fold_heads = [&](const tensor& v) { return t.reshape(v, {batch * heads, -1, d}); };
        const tensor scaled = t.mul_scalar(t.call("q_proj", square, x));
        const bool from_cache = crosses && is_encoder_cached(t.load());
        tensor k, v;
        {
            const recorder::not_executed_guard unused{t, from_cache};
            k = split(t.call("k_proj", square, source));
            v = split(t.call("v_proj", square, source));
        }
        if (from_cache) {
            k = v = trace::buffer({batch, heads, source.dim(1), d});
            t.add_to_cache(k);
            t.add_to_cache(v);
        } else if (caches) {
            k = update_kv_cache(t, k, pattern);
            v = update_kv_cache(t, v, pattern);
        }
        const tensor q = fold_heads(split(scaled)), family_keys = fold_heads(k), values = fold_heads(v);
        const std::int64_t length = family_keys.dim(1);
        const bool sparse = pattern.is_causal && t.load().attention == attention_scores::causal;
        tensor scores = t.bmm(op::batched_matmul, q, family_keys.transpose(1, 2), sparse ? pattern.visible_pairs() : 0);
        if (distances != nullptr) {
            const tensor by_place = t.contiguous(q).transpose(0, 1);
            const tensor bias = t.matmul(by_place, distances->transpose(1, 2)).transpose(0, 1);
            t.add_(scores, bias);
        }
        if (mask != nullptr && !sparse)
            scores = t.add(scores.view({batch, heads, places, length}), *mask).view({batch * heads, places, length});
        const tensor mixed = t.bmm(t.softmax(scores), values).view({batch, heads, places, d}).transpose(1, 2);
        return t.call("out_proj", square, t.reshape(mixed, {batch, places, width}));
    }
};

struct speech_cross_attention : speech_attention {
    static constexpr role module_role = role::cross_attn;
};

constexpr conformer_feed_forward mlp(const layer_context& ctx, std::int64_t inner) {
    return {{.width = ctx.config.hidden_size,
             .heads = 1,
             .inner = inner,
             .act = ctx.config.hidden_act,
             .kernel = 1,
             .prefix = ctx.spec.class_prefix}};
}

struct speech_encoder_layer {
    layer_context ctx;
    const tensor& distances;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const encoder_config& e = ctx.config.encoder;
        const attention_pattern all{.query_length = x.dim(1), .is_causal = false};
        const tensor *const no_mask = nullptr, *const places = &distances;
        const speech_attention attention{ctx, e.num_attention_heads};
        const tensor found = dropout(t, "dropout", t.call("attention", attention, x, x, all, no_mask, places));
        const tensor h = layer_norm(ctx, t, "layer_norm", t.add(x, found));
        return layer_norm(ctx, t, "final_layer_norm",
                          t.add(h, t.call("feed_forward", mlp(ctx, e.intermediate_size), h)));
    }
};

struct speech_decoder_layer {
    layer_context ctx;
    const tensor& source;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("DecoderLayer"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t heads = ctx.config.num_attention_heads;
        const attention_pattern cross_pattern{.query_length = source.dim(1), .is_causal = false};
        const tensor *const no_bias = nullptr, *const mask = &ctx.inputs->mask;
        const speech_attention self{ctx, heads, true};
        const speech_cross_attention cross{{ctx, heads, true, true}};
        tensor h = dropout(t, "dropout", t.call("self_attn", self, x, x, ctx.inputs->pattern, mask, no_bias));
        h = layer_norm(ctx, t, "self_attn_layer_norm", t.add(x, h));
        const tensor found =
            dropout(t, "dropout", t.call("encoder_attn", cross, h, source, cross_pattern, no_bias, no_bias));
        h = layer_norm(ctx, t, "encoder_attn_layer_norm", t.add(h, found));
        const tensor fed = t.call("feed_forward", mlp(ctx, ctx.config.intermediate_size), h);
        return layer_norm(ctx, t, "final_layer_norm", t.add(h, fed));
    }
};

constexpr tensor sines(const layer_context& ctx, trace& t, literal name, std::int64_t length,
                       std::int64_t max_positions) {
    const sinusoidal_positions rows{max_positions + ctx.config.family[extra_size] + 3, ctx.config.hidden_size,
                                    ctx.class_of("SinusoidalPositionalEmbedding")};
    return t.call(name, rows, t.load().batch, length);
}

/// Projects features, then adds convolutional and sinusoidal positions.
constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const module_info prenet{.name = "prenet", .class_of_module = ctx.class_of("SpeechEncoderPrenet")};
    t.enter(prenet);
    declare_mask(ctx, t);
    tensor x = project(ctx, t, extract(ctx, t, "feature_encoder"));
    x = t.add(x, positions(ctx, t, x));
    return t.leave(prenet, t.add(x, sines(ctx, t, "pos_sinusoidal_embed", x.dim(1), ctx.config.family[max_frames])));
}

constexpr tensor encode(const layer_context& ctx, trace& t) {
    const module_info model_info{
        .name = "encoder", .class_of_module = ctx.class_of("EncoderWithSpeechPrenet"), .module_role = role::encoder};
    const module_info wrapped{.name = "wrapped_encoder", .class_of_module = ctx.class_of("Encoder")};
    const module_info places{.name = "embed_positions", .class_of_module = ctx.class_of("RelativePositionalEncoding")};
    const std::int64_t d = ctx.config.hidden_size / ctx.config.encoder.num_attention_heads;
    t.enter(model_info);
    tensor x = encode_audio(ctx, t);
    t.enter(wrapped);
    x = dropout(t, "dropout", layer_norm(ctx, t, "layer_norm", x));
    t.enter(places);
    const embedding rows{.num_embeddings = 2 * ctx.config.family[reach], .embedding_dim = d, .creates_indices = true};
    const tensor distances = t.leave(places, t.call("pe_k", rows, shape{x.dim(1), x.dim(1)}));
    const attention_inputs no_inputs;
    for (loop layer_loop = t.loop_modules(ctx.config.encoder.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()},
                   speech_encoder_layer{ctx.for_layer(layer_loop, no_inputs), distances}, x);
    return t.leave(model_info, t.leave(wrapped, x));
}

constexpr tensor decode(const layer_context& ctx, trace& t, const tensor& source) {
    const workload& load = t.load();
    const module_info model_info{
        .name = "decoder", .class_of_module = ctx.class_of("DecoderWithTextPrenet"), .module_role = role::decoder};
    const module_info prenet{.name = "prenet", .class_of_module = ctx.class_of("TextDecoderPrenet")};
    const module_info wrapped{.name = "wrapped_decoder", .class_of_module = ctx.class_of("Decoder")};
    t.enter(model_info);
    t.enter(prenet);
    const tensor places = sines(ctx, t, "embed_positions", load.sequence, ctx.config.max_position_embeddings);
    const embedding token_embedding{ctx.config.vocab_size, ctx.config.hidden_size};
    tensor x = t.mul_scalar(t.call("embed_tokens", token_embedding, shape{load.batch, load.sequence}));
    t.add_(x, places);
    x = t.leave(prenet, dropout(t, "dropout", x));
    t.enter(wrapped);
    attention_inputs inputs;
    inputs.pattern = attention_pattern_of(t, 0);
    inputs.mask = eager_mask(t, inputs.pattern, load.batch);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, speech_decoder_layer{ctx.for_layer(layer_loop, inputs), source}, x);
    return t.leave(model_info, t.leave(wrapped, x));
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const workload& load = t.load();
    const module_info model_info{.class_of_module = ctx.class_of("ForSpeechToText")},
        base{.name = "speecht5", .class_of_module = ctx.class_of("Model")};
    const module_info postnet{.name = "text_decoder_postnet", .class_of_module = ctx.class_of("TextDecoderPostnet")};
    const std::int64_t places = places_of(ctx.config, ctx.model.audio_preprocessing, load);
    t.enter(model_info);
    t.enter(base);
    tensor source;
    {
        const recorder::not_executed_guard done{t, is_encoder_cached(load)};
        source = speecht5_detail::encode(ctx, t);
    }
    if (is_encoder_cached(load)) source = t.input({load.batch, places, ctx.config.hidden_size});
    const tensor x = t.leave(base, decode(ctx, t, source));
    const recorder::not_executed_guard unused{t, load.head == logits::none};
    t.enter(postnet);
    const tensor scores = t.leave(postnet, stack_lm_head_logits(ctx, t, x, ctx.config.vocab_size, false));
    return t.leave(model_info, t.select_model_output(x, scores));
}

constexpr void parse_config(config_view json, model_config& config) {
    parse_shared(json, config);
    config.family[encoder_inner] = json.positive("encoder_ffn_dim", 3072);
    config.encoder = {config.num_hidden_layers, config.num_attention_heads, config.family[encoder_inner]};
    config.num_hidden_layers = config.family[decoder_layers];
    config.intermediate_size = config.family[decoder_inner];
    config.num_attention_heads = config.num_key_value_heads = config.family[decoder_heads];
    config.family[switches] &= ~stable;
    config.max_position_embeddings = json.positive("max_text_positions", 450);
    if (config.hidden_size % config.num_attention_heads != 0)
        throw_invalid_value(json, "decoder_attention_heads", "a divisor of hidden_size");
}

}  // namespace speecht5_detail

// transformers/models/speecht5: the speech-to-text class
inline constexpr model_spec speecht5 = [](model_spec spec) {
    spec.model_type = "speecht5";
    spec.class_prefix = "SpeechT5";
    spec.forward = speecht5_detail::forward;
    spec.parse_config = speecht5_detail::parse_config;
    spec.family_keys = speecht5_detail::table.family_keys;
    spec.modalities = {.has_text = true, .has_audio = true};
    spec.parse_feature_extractor = parse_samples<speecht5_detail::extractor>;
    spec.base_model = nullptr;
    spec.decoder_layer = nullptr;
    spec.attention = nullptr;
    spec.supported_heads = {head_kind::conditional_generation};
    spec.config_keys.remove("max_position_embeddings");
    spec.config_keys.add("num_hidden_layers", "encoder_layers", key_rule::standard_name_first);
    spec.config_keys.add("num_attention_heads", "encoder_attention_heads", key_rule::standard_name_first);
    spec.config_keys.remove("tie_word_embeddings");
    spec.defaults.vocab_size = 81;
    spec.defaults.head = head_kind::conditional_generation;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(wav2vec2);

}  // namespace llmcost::arch
