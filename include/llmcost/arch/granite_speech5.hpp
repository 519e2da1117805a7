// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/parakeet.hpp>
#include <llmcost/config/feature_extractor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/forward/audio.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/heads.hpp>
#include <llmcost/layers/mlp.hpp>

// Granite Speech 5: a conformer whose first layers halve the positions, with labels fed back in the middle.
namespace llmcost::arch {

namespace granite_speech5_detail {

enum family_config_index : std::uint8_t { mels, block, kernel, conv_times, halving };
inline constexpr family_key family_keys[]{
    {"num_mel_bins", 80},
    {"context_size", 128},
    {"conv_kernel_size", 7},
    {"conv_expansion_factor", 2},
    {.default_value = 3, .type = family_key_type::computed},  // bit mask of the layers that halve the positions
};
inline constexpr std::int64_t max_layers = 62;

/// Number of positions: two complete frames each, with their differences. Samples are padded to the last position.
[[nodiscard]] constexpr std::int64_t places_of(const audio_preprocessing_config& sound, const workload& load) {
    const std::int64_t samples = num_audio_samples(sound, load), places = (samples / sound.hop_length + 1) / 2;
    const std::int64_t needed = (2 * places - 1) * sound.hop_length + 1;
    if (places < 1 || (samples > needed ? samples : needed) <= sound.n_fft / 2)
        throw_description_error("the audio is shorter than one spectrum window");
    return places;
}
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return {.audio = {.num_samples = num_audio_samples(m.audio_preprocessing, load),
                      .num_frames = places_of(m.audio_preprocessing, load)}};
}
/// Parses the feature extractor's configuration.
///
/// Source: transformers/models/granite_speech5/feature_extraction_granite_speech5.py.
constexpr void parse_audio_config(config_view json, model& m) {
    const auto nested_json = find_feature_extractor_config(json);
    if (!nested_json) return;
    expect_extractor(*nested_json, "GraniteSpeech5FeatureExtractor");
    expect_bands(*nested_json, {"num_mel_bins"},
                 m.components[0].spec != nullptr ? m.components[0].config.family[mels] : m.config.family[mels]);
    m.audio_preprocessing.sampling_rate = nested_json->positive("sampling_rate", m.audio_preprocessing.sampling_rate);
    parse_frames(*nested_json, m.audio_preprocessing);
}

/// Block-local attention with learned relative positions (Shaw). The last block is padded with zeros, which a mask
/// excludes.
struct block_attention {
    const layer_context& ctx;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderAttention"); }
    constexpr tensor forward(trace& t, const tensor& states) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads,
                           d = ctx.config.head_dim;
        const std::int64_t batch = states.dim(0), places = states.dim(1), size = ctx.config.family[block];
        const std::int64_t blocks = (places + size - 1) / size, all = batch * blocks;
        const bool fills = places % size != 0;
        const tensor x = fills ? t.pad(states, 1, blocks * size - places) : states;
        const auto split = [&](literal name) {
            return t.reshape(t.call(name, linear{width, heads * d}, x), {all, size, heads, d}).transpose(1, 2);
        };
        const tensor q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
        const embedding table{2 * ctx.config.max_position_embeddings + 1, d};
        const tensor rows = t.mul_scalar(t.call("rel_pos_emb", table, shape{size, size}));
        const tensor query_rows = t.reshape(q.permute({2, 0, 1, 3}), {size, all * heads, d});
        const tensor found = t.matmul(query_rows, rows.transpose(1, 2)).view({size, all, heads, size});
        tensor bias = t.contiguous(found.permute({1, 2, 0, 3}));
        if (fills) bias = t.masked_fill(bias);
        const tensor mixed = attention_forward(t, q, k, v, {.query_length = size, .is_causal = false}, {.mask = &bias});
        const tensor attention_output = t.reshape(mixed, {batch, blocks * size, heads * d});
        return t.call("o_proj", linear{heads * d, width, true}, t.slice(attention_output, 1, places));
    }
};

/// The batch norm of a convolution, whose parameters `from_pretrained` keeps in float32.
constexpr tensor float32_batch_norm(trace& t, std::int64_t channels, const tensor& x) {
    const trace::float32_parameters_guard typed{t};
    return t.call("norm", batch_norm_2d{channels, "BatchNorm1d"}, x);
}

struct convolution_module {
    const layer_context& ctx;
    std::int64_t stride;

    static constexpr role module_role = role::mixer;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("EncoderConvolutionModule"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size, inner = width * ctx.config.family[conv_times];
        const std::int64_t k = ctx.config.family[kernel];
        const tensor gated = t.glu(t.call("pointwise_lin1", linear{width, 2 * inner, true}, x), -1);
        const convolution_1d by_channel{inner, inner, k, stride, (k - 1) / 2, inner, false};
        const tensor convolved = t.call("depthwise_conv", by_channel, gated.transpose(1, 2));
        const tensor normed = t.silu(float32_batch_norm(t, inner, convolved));
        return t.call("pointwise_lin2", linear{inner, width, true}, normed.transpose(1, 2));
    }
};

/// Conformer block. A block that halves the positions adds a strided convolution to the means of neighbours.
struct encoder_block {
    layer_context ctx;
    bool halves;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const {
        return ctx.class_of(halves ? literal("EncoderSubsamplingBlock") : literal("EncoderBlock"));
    }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const norm_module normed{norm_kind::layer, ctx.config.hidden_size};
        const mlp_module block{mlp_kind::plain,
                               ctx.config.hidden_size,
                               ctx.config.intermediate_size,
                               ctx.config.hidden_act,
                               ctx.class_of("EncoderFeedForward"),
                               ctx.config.attention_bias,
                               {.up = "linear1", .down = "linear2", .act = "activation"}};
        tensor h = t.add(x, t.mul_scalar(t.call("feed_forward1", block, t.call("norm_feed_forward1", normed, x))));
        h = t.add(h, t.call("self_attn", block_attention{ctx}, t.call("norm_self_att", normed, h)));
        const tensor convolved =
            t.call("conv", convolution_module{ctx, halves ? 2 : 1}, t.call("norm_conv", normed, h));
        const tensor residual = halves ? means(t, h) : h;
        h = t.add(residual, halves ? t.slice(convolved, 1, h.dim(1) / 2) : convolved);
        h = t.add(h, t.mul_scalar(t.call("feed_forward2", block, t.call("norm_feed_forward2", normed, h))));
        return t.call("norm_out", normed, h);
    }

private:
    /// Means of pairs, `unfold(1, 2, 2).mean(-1)`. A last element without a neighbour is dropped.
    static constexpr tensor means(trace& t, const tensor& x) {
        const std::int64_t half = x.dim(1) / 2;
        if (half < 1) throw_description_error("the audio is too short for the layers that halve the positions");
        return t.mean(t.slice(x, 1, 2 * half).view({x.dim(0), half, 2, x.dim(2)}).transpose(2, 3), -1);
    }
};

constexpr tensor encode_audio(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t width = ctx.config.hidden_size, layers = ctx.config.num_hidden_layers,
                       labels = ctx.config.vocab_size;
    t.register_buffer(count(8) * count(family[block]) * count(family[block]));  // `attention_dists`
    const tensor sound =
        t.input({t.load().batch, places_of(ctx.model.audio_preprocessing, t.load()), 4 * family[mels]});
    tensor x = t.call("input_linear", linear{4 * family[mels], width, true}, sound);
    const attention_inputs no_inputs;
    const auto halves = [&](std::int64_t i) { return (family[halving] >> i & 1) != 0; };
    const auto run = [&](std::int64_t first, std::int64_t end) {
        for (std::int64_t i = first, n = 1; i < end; i += n, n = 1) {
            while (!halves(i) && i + n < end && !halves(i + n)) ++n;
            for (loop layer_loop = t.loop_modules(n, x, i); layer_loop.next();)
                x = t.call({"layers", layer_loop.index()},
                           encoder_block{ctx.for_layer(layer_loop, no_inputs), halves(i)}, x);
        }
    };
    run(0, layers / 2);
    {
        const recorder::not_executed_guard no_middle{t, layers / 2 == 0};
        const tensor scores = t.call("out", linear{width, labels, true}, x);
        x = t.add(x, t.call("out_mid", linear{labels, width, true}, t.softmax(scores)));
    }
    run(layers / 2, layers);
    return x;
}

constexpr void parse_encoder_config(config_view json, model_config& config) {
    if (config.family[block] > config.max_position_embeddings)
        throw_invalid_value(json, "context_size", "at most max_position_embeddings");
    if (config.family[kernel] % 2 == 0) throw_invalid_value(json, "conv_kernel_size", "an odd number");
    if (config.num_key_value_heads != config.num_attention_heads)
        throw_invalid_value(json, "num_key_value_heads", "num_attention_heads");
    if (config.num_hidden_layers > max_layers)
        throw_unsupported(json, "num_hidden_layers", "unsupported number of layers");
    if (const auto list = json.optional_array("subsample_layers")) {
        config.family[halving] = 0;
        for (const config_view layer : *list) {
            const std::int64_t i = layer.as_non_negative();
            if (i < config.num_hidden_layers) config.family[halving] |= std::int64_t{1} << i;
        }
    }
    set_single_mask(json, config);
}

constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    t.enter(model_info);
    const tensor x = forward_encoder_component(ctx, t, 0, "encoder", role::encoder);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    const bool tied = ctx.config.tie_word_embeddings;
    const linear head{x.dim(-1), ctx.config.vocab_size, true, tied, tied};
    return t.leave(model_info, t.select_model_output(x, t.call("ctc_head", head_linear{head}, x)));
}

constexpr void check(config_view json, model& m) {
    if (m.config.tie_word_embeddings && m.components[0].config.vocab_size != m.config.vocab_size)
        throw_invalid_value(json, "vocab_size", "the vocab_size of encoder_config, which the head is tied to");
}

}  // namespace granite_speech5_detail

// The encoder (`GraniteSpeech5EncoderConfig`), with the defaults of Parakeet.
//
// Source: transformers/models/granite_speech5
inline constexpr model_spec granite_speech5_encoder = [](model_spec spec) {
    spec.model_type = "granite_speech5_encoder";
    spec.class_prefix = "GraniteSpeech5";
    spec.base_model = granite_speech5_detail::encode_audio;
    spec.parse_config = granite_speech5_detail::parse_encoder_config;
    spec.parse_feature_extractor = granite_speech5_detail::parse_audio_config;
    spec.family_keys = granite_speech5_detail::family_keys;
    spec.compute_media_shapes = granite_speech5_detail::compute_media_shapes;
    spec.defaults.vocab_size = 16384;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.max_position_embeddings = 512;
    return spec;
}(parakeet_encoder);

// The CTC model (`GraniteSpeech5CTCConfig`): labels at every position of the encoder.
//
// Source: transformers/models/granite_speech5
inline constexpr model_spec granite_speech5_ctc = [](model_spec spec) {
    spec.model_type = "granite_speech5_ctc";
    spec.class_prefix = "GraniteSpeech5";
    spec.forward = granite_speech5_detail::forward;
    spec.compute_media_shapes = granite_speech5_detail::compute_media_shapes;
    spec.parse_feature_extractor = granite_speech5_detail::parse_audio_config;
    spec.components[0].default_spec = &granite_speech5_encoder;
    spec.parse_composite_config = granite_speech5_detail::check;
    spec.defaults.vocab_size = 16384;
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(parakeet_ctc);

}  // namespace llmcost::arch
