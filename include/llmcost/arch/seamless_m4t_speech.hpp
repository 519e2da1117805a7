// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>
#include <llmcost/forward/composite.hpp>
#include <llmcost/forward/conformer.hpp>
#include <llmcost/forward/not_executed.hpp>
#include <llmcost/forward/seamless_speech.hpp>

// Speech encoder and speech synthesis of SeamlessM4T, which a pass over text does not execute.
namespace llmcost::arch {

namespace seamless_m4t_detail {

using seamless_speech::adapter_kernel, seamless_speech::adapter_layers, seamless_speech::adapter_stride,
    seamless_speech::chunks, seamless_speech::depth_kernel, seamless_speech::features, seamless_speech::learned_left,
    seamless_speech::learned_right, seamless_speech::max_positions, seamless_speech::position_kind,
    seamless_speech::relative, seamless_speech::relative_key, seamless_speech::rotary;

// ---- a conformer over features of sound

inline constexpr family_key speech_keys[]{
    {"feature_projection_input_dim", 160},
    {"num_adapter_layers", 1, family_key_type::non_negative},
    {"adaptor_kernel_size", 8},
    {"adaptor_stride", 8},
    {"conv_depthwise_kernel_size", 31},
    {"left_max_position_embeddings", 64, family_key_type::non_negative},
    {"right_max_position_embeddings", 8, family_key_type::non_negative},
    {.type = family_key_type::computed},  // `position_embeddings_type`
    {.type = family_key_type::computed},  // of the second version: places see a number of chunks
    {"max_source_positions", 4096},
};

/// Two frames of a recording at a time; without one as many as ten seconds have, which declares a tower.
[[nodiscard]] constexpr std::int64_t places_of(const audio_preprocessing_config& sound, const workload& load) {
    return load.audio_milliseconds == 0 ? 499 : stacked_frames(sound, num_audio_samples(sound, load));
}

/// What adapters leave of them.
[[nodiscard]] constexpr std::int64_t states_of(const model_config& speech, const audio_preprocessing_config& sound,
                                               const workload& load) {
    std::int64_t n = places_of(sound, load);
    const std::int64_t k = speech.family[adapter_kernel], stride = speech.family[adapter_stride];
    for (std::int64_t i = 0; i < speech.family[adapter_layers]; ++i) {
        if (n + stride / 2 * 2 < k) throw_description_error("the recording is shorter than an adapter's kernel");
        n = (n + stride / 2 * 2 - k) / stride + 1;
    }
    return n;
}

[[nodiscard]] constexpr conformer_sizes conformer_of(const layer_context& ctx) {
    const family_config& family = ctx.config.family;
    const std::int64_t kind = family[position_kind];
    const bool second = ctx.spec.defaults.family[position_kind] == relative_key;  // the second version
    return {ctx.config.hidden_size,
            ctx.config.num_attention_heads,
            ctx.config.intermediate_size,
            ctx.config.hidden_act,
            family[depth_kernel],
            kind == relative       ? distance_rule::relative
            : kind == relative_key ? distance_rule::relative_key
                                   : distance_rule::none,
            family[learned_left] + family[learned_right] + 1,
            second,
            ctx.spec.names.mlp_class_prefix,
            true,
            family[chunks] != 0};
}

/// A conformer over pairs of frames, and adapters that leave every eighth place.
constexpr tensor speech_base(const layer_context& ctx, trace& t) {
    const std::int64_t width = ctx.config.hidden_size, in = ctx.config.family[features],
                       adapters = ctx.config.family[adapter_layers];
    const conformer_sizes s = conformer_of(ctx);
    conformer_sizes by_relu = s, unplaced = s;
    by_relu.act = unplaced.act = activation::relu;
    unplaced.distances = distance_rule::none;
    unplaced.masked = false;
    if (ctx.config.family[position_kind] == rotary && !t.is_not_executed())
        throw_description_error("rotary positions of a conformer are not supported");
    const norm_module normed{norm_kind::layer, width};
    const module_info projection{.name = "feature_projection",
                                 .class_of_module = ctx.class_of("ConformerFeatureProjection")};
    t.enter(projection);
    tensor x = t.call("layer_norm", norm_module{norm_kind::layer, in},
                      t.input({t.load().batch, places_of(ctx.model.audio_preprocessing, t.load()), in}));
    x = t.leave(projection, dropout(t, "dropout", t.call("projection", linear{in, width, true}, x)));
    const module_info encoder{.name = "encoder", .class_of_module = ctx.class_of("ConformerEncoder")};
    t.enter(encoder);
    if (s.masked) (void)t.div_scalar(trace::buffer({x.dim(1)}));  // which chunk a place is in
    x = dropout(t, "dropout", x);
    const bool turns = ctx.config.family[position_kind] == rotary;
    tensor table;
    if (turns || s.distances == distance_rule::relative) {
        const class_name named =
            ctx.class_of(turns ? "ConformerRotaryPositionalEmbedding" : "ConformerRelPositionalEmbedding");
        if (turns) t.register_buffer({s.width / s.heads / 2}, t.activation_type());  // `inv_freq`
        const std::int64_t rows = turns ? 0 : ctx.config.family[max_positions];
        table = t.call("embed_positions", sines_of_distances{width, named, rows}, x.dim(1));
    }
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, conformer_layer{s, table}, x);
    x = t.leave(encoder, t.call("layer_norm", normed, x));
    x = t.add(x, t.mul_scalar(t.call("intermediate_ffn", conformer_feed_forward{by_relu}, x)));
    const module_info adapter{.name = "adapter", .class_of_module = ctx.class_of("ConformerAdapter")};
    if (adapters > 0) t.enter(adapter);
    for (std::int64_t i = 0; i < adapters; ++i) {
        const family_config& family = ctx.config.family;
        x = t.call({"layers", i}, conformer_adapter{unplaced, family[adapter_kernel], family[adapter_stride]}, x);
    }
    if (adapters > 0) (void)t.leave(adapter, x);
    return t.call("inner_layer_norm", normed, x);
}

}  // namespace seamless_m4t_detail

inline constexpr submodel_spec seamless_m4t_speech_encoder = [](model_spec spec) {
    spec.model_type = "seamless_m4t_speech";
    spec.class_prefix = "SeamlessM4T";
    spec.base_model = seamless_m4t_detail::speech_base;
    spec.parse_config = seamless_speech::parse_speech;
    spec.family_keys = seamless_m4t_detail::speech_keys;
    spec.rotary = rotary_style::none;
    spec.supported_heads = {};
    spec.names.model_class = "SpeechEncoder";
    spec.names.mlp_class_prefix = "SeamlessM4TConformer";
    spec.config_keys.add("num_hidden_layers", "speech_encoder_layers", key_rule::family_name_only);
    spec.config_keys.add("num_attention_heads", "speech_encoder_attention_heads", key_rule::family_name_only);
    spec.config_keys.add("intermediate_size", "speech_encoder_intermediate_size", key_rule::family_name_only);
    spec.config_keys.add("hidden_act", "speech_encoder_hidden_act", key_rule::family_name_only);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.hidden_act = activation::swish;
    return spec;
}(model_spec{});

namespace seamless_m4t_detail {

using seamless_speech::position_kind, seamless_speech::relative_key;

// ---- waves from units

inline constexpr std::int64_t max_in_list = 7;

enum vocoder_config_index : std::uint8_t {
    first_channels,
    unit_hifi_gan_vocab_size,
    unit_width,
    language_width,
    speaker_width,
    languages,
    speakers,
    predictor_kernel,
    steps_up,
    kinds_of_block,
    step_kernels,                               ///< from here on, one of each step
    block_kernels = step_kernels + max_in_list  ///< one of each kind of block, separate from the number of convolutions
};

inline constexpr std::int64_t kernel_multiplier = 4096;  ///< a kernel times this, plus how many convolutions

inline constexpr family_key vocoder_keys[]{
    {"upsample_initial_channel", 512},
    {"unit_hifi_gan_vocab_size", 10000},
    {"unit_embed_dim", 1280},
    {"lang_embed_dim", 256},
    {"spkr_embed_dim", 256},
    {"vocoder_num_langs", 36},
    {"vocoder_num_spkrs", 200},
    {"variance_predictor_kernel_size", 3},
    {.default_value = 5, .type = family_key_type::computed},
    {.default_value = 3, .type = family_key_type::computed},
    {.default_value = 11, .type = family_key_type::computed},
    {.default_value = 8, .type = family_key_type::computed},
    {.default_value = 8, .type = family_key_type::computed},
    {.default_value = 4, .type = family_key_type::computed},
    {.default_value = 4, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.default_value = 3 * kernel_multiplier + 3, .type = family_key_type::computed},
    {.default_value = 7 * kernel_multiplier + 3, .type = family_key_type::computed},
    {.default_value = 11 * kernel_multiplier + 3, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// Each step up halves the channels, and has one block of each kind (`SeamlessM4THifiGan`).
constexpr void waves(const layer_context& ctx, not_executed_modules& m) {
    const family_config& family = ctx.config.family;
    const class_name conv{"", "Conv1d"};
    const std::int64_t width = family[unit_width] + family[language_width] + family[speaker_width],
                       first = family[first_channels];
    const auto value_of = [&](std::size_t offset, std::int64_t i) {
        return family[offset + static_cast<std::size_t>(i)];
    };
    m.module_with_weight({"conv_pre"}, conv, {first, width, 7});
    for (std::int64_t i = 0; i < family[steps_up]; ++i)
        m.module({"upsampler", i}, {"", "ConvTranspose1d"}, [&] {
            m.parameter("weight", {first >> i, first >> (i + 1), value_of(step_kernels, i)});
            m.parameter("bias", {first >> (i + 1)});
        });
    for (std::int64_t i = 0; i < family[steps_up] * family[kinds_of_block]; ++i) {
        const std::int64_t channels = first >> (i / family[kinds_of_block] + 1);
        const std::int64_t kind = value_of(block_kernels, i % family[kinds_of_block]);
        const shape kernel{channels, channels, kind / kernel_multiplier};
        m.module({"resblocks", i}, {"", "HifiGanResidualBlock"}, [&] {
            for (std::int64_t j = 0; j < kind % kernel_multiplier; ++j)
                m.module_with_weight({"convs1", j}, conv, kernel);
            for (std::int64_t j = 0; j < kind % kernel_multiplier; ++j)
                m.module_with_weight({"convs2", j}, conv, kernel);
        });
    }
    m.module_with_weight({"conv_post"}, conv, {1, first >> family[steps_up], 7});
}

constexpr tensor vocoder_base(const layer_context& ctx, trace& t) {
    not_executed_modules m{t};
    const family_config& family = ctx.config.family;
    const std::int64_t width = family[unit_width];
    const shape kernel{width, width, family[predictor_kernel]};
    m.module({"dur_predictor"}, ctx.class_of("VariancePredictor"), [&] {
        m.module_with_weight({"conv1"}, {"", "Conv1d"}, kernel);
        m.module_without_parameters({"activation_function"}, {"", "ReLU"});
        m.layer_norm({"ln1"}, width);
        m.module_without_parameters({"dropout_module"}, {"", "Dropout"});
        m.module_with_weight({"conv2"}, {"", "Conv1d"}, kernel);
        m.layer_norm({"ln2"}, width);
        m.linear({"proj"}, width, 1);
    });
    m.embedding({"unit_embedding"}, family[unit_hifi_gan_vocab_size], width);
    m.embedding({"speaker_embedding"}, family[speakers], family[speaker_width]);
    m.embedding({"language_embedding"}, family[languages], family[language_width]);
    m.module({"hifi_gan"}, ctx.class_of("HifiGan"), [&] { waves(ctx, m); });
    return trace::buffer({1});
}

/// A list's length, or what it is without one; lists that are read side by side end with the shorter one.
constexpr std::int64_t length_of(config_view json, literal key, std::int64_t default_value) {
    const auto list = json.optional_array(key);
    return list ? static_cast<std::int64_t>(list->size()) : default_value;
}

constexpr std::int64_t shorter(config_view json, literal one, literal other_key, std::int64_t default_value) {
    const std::int64_t a = length_of(json, one, default_value), b = length_of(json, other_key, default_value),
                       n = a < b ? a : b;
    if (n < 1 || n > max_in_list) throw_unsupported(json, one, "unsupported number of vocoder stages; expected 1 to 7");
    return n;
}

constexpr void parse_vocoder(config_view json, model_config& config) {
    family_config& family = config.family;
    family[steps_up] = shorter(json, "upsample_rates", "upsample_kernel_sizes", family[steps_up]);
    family[kinds_of_block] = shorter(json, "resblock_kernel_sizes", "resblock_dilation_sizes", family[kinds_of_block]);
    if (const auto kernels = json.optional_array("upsample_kernel_sizes"))
        for (std::size_t i = 0; i < static_cast<std::size_t>(family[steps_up]); ++i)
            family[step_kernels + i] = (*kernels)[static_cast<std::uint32_t>(i)].as_positive();
    const auto kernels = json.optional_array("resblock_kernel_sizes");
    const auto dilations = json.optional_array("resblock_dilation_sizes");
    for (std::size_t i = 0; i < static_cast<std::size_t>(family[kinds_of_block]); ++i) {
        std::int64_t& packed = family[block_kernels + i];
        const auto index = static_cast<std::uint32_t>(i);
        const std::int64_t kernel = kernels ? (*kernels)[index].as_positive() : packed / kernel_multiplier;
        const std::int64_t count =
            dilations ? static_cast<std::int64_t>((*dilations)[index].as_array().size()) : packed % kernel_multiplier;
        if (count >= kernel_multiplier)
            throw_unsupported(json, "resblock_dilation_sizes", "unsupported number of dilations");
        packed = kernel * kernel_multiplier + count;
    }
    if (family[first_channels] >> family[steps_up] == 0)
        throw_invalid_value(json, "upsample_initial_channel", "a number that can be halved in each step");
}

inline constexpr submodel_spec vocoder = [](model_spec spec) {
    spec.model_type = "seamless_m4t_vocoder";
    spec.class_prefix = "SeamlessM4T";
    spec.base_model = vocoder_base;
    spec.parse_config = parse_vocoder;
    spec.family_keys = vocoder_keys;
    spec.rotary = rotary_style::none;
    spec.supported_heads = {};
    spec.names.model_class = "CodeHifiGan";
    spec.config_keys.add("num_attention_heads", key_rule::absent);
    spec.config_keys.add("hidden_act", key_rule::absent);
    spec.config_keys.add("num_key_value_heads", key_rule::absent);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.defaults.hidden_size = 1024;
    spec.defaults.num_hidden_layers = 1;
    return spec;
}(model_spec{});

}  // namespace seamless_m4t_detail

}  // namespace llmcost::arch
