// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

// What hears and what speaks in SeamlessM4T: modules that a pass over text does not call, by their tensors and classes.
namespace llmcost::arch::seamless_m4t_detail {

// ---- a conformer over features of sound

enum speech_own : std::uint8_t { features, adapter_layers, adapter_kernel, depth_kernel, position_kind };
enum places : std::uint8_t { relative, rotary, no_places };
inline constexpr own_key speech_keys[]{
    {"feature_projection_input_dim", 160},
    {"num_adapter_layers", 1, own_value::non_negative},
    {"adaptor_kernel_size", 8},
    {"conv_depthwise_kernel_size", 31},
    {.value = own_value::computed},  // `position_embeddings_type`
};

constexpr void speech_feed_forward(const site& here, idle_modules& m, module_place at, activation act) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    m.within(
        at, here.type("ConformerFeedForward"),
        [&] {
            m.plain({"intermediate_dropout"}, {"", "Dropout"});
            m.linear({"intermediate_dense"}, width, inner);
            m.act({"intermediate_act_fn"}, act);
            m.linear({"output_dense"}, inner, width);
            m.plain({"output_dropout"}, {"", "Dropout"});
        },
        role::mlp);
}

constexpr void speech_attention(const site& here, idle_modules& m, bool turns) {
    const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    m.within(
        {"self_attn"}, here.type("ConformerSelfAttention"),
        [&] {
            const bool biased = turns && here.dims.own[position_kind] == relative;
            if (biased) m.tensor("pos_bias_u", {heads, width / heads}), m.tensor("pos_bias_v", {heads, width / heads});
            for (const literal name : {"linear_q", "linear_k", "linear_v", "linear_out"}) m.linear({name}, width, width);
            m.plain({"dropout"}, {"", "Dropout"});
            if (biased) m.linear({"linear_pos"}, width, width, false);
        },
        role::attn);
}

constexpr void speech_convolution(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size;
    m.within({"conv_module"}, here.type("ConformerConvolutionModule"), [&] {
        m.layer_norm({"layer_norm"}, width);
        m.weighted({"pointwise_conv1"}, {"", "Conv1d"}, {2 * width, width, 1}, false);
        m.plain({"glu"}, {"", "GLU"});
        m.weighted({"depthwise_conv"}, {"", "Conv1d"}, {width, 1, here.dims.own[depth_kernel]}, false);
        m.batch_norm({"batch_norm"}, width);
        m.act({"activation"}, here.dims.hidden_act);
        m.weighted({"pointwise_conv2"}, {"", "Conv1d"}, {width, width, 1}, false);
        m.plain({"dropout"}, {"", "Dropout"});
    });
}

constexpr void speech_layer(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size;
    m.layer_norm({"ffn1_layer_norm"}, width);
    speech_feed_forward(here, m, {"ffn1"}, here.dims.hidden_act);
    m.layer_norm({"self_attn_layer_norm"}, width);
    m.plain({"self_attn_dropout"}, {"", "Dropout"});
    speech_attention(here, m, true);
    speech_convolution(here, m);
    m.layer_norm({"ffn2_layer_norm"}, width);
    speech_feed_forward(here, m, {"ffn2"}, here.dims.hidden_act);
    m.layer_norm({"final_layer_norm"}, width);
}

/// A layer that makes fewer states of many.
constexpr void adapter_layer(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size;
    const extents kernel{2 * width, width, here.dims.own[adapter_kernel]};
    m.layer_norm({"residual_layer_norm"}, width);
    m.weighted({"residual_conv"}, {"", "Conv1d"}, kernel);
    m.plain({"activation"}, {"", "GLU"});
    m.layer_norm({"self_attn_layer_norm"}, width);
    m.weighted({"self_attn_conv"}, {"", "Conv1d"}, kernel);
    speech_attention(here, m, false);
    m.plain({"self_attn_dropout"}, {"", "Dropout"});
    m.layer_norm({"ffn_layer_norm"}, width);
    speech_feed_forward(here, m, {"ffn"}, activation::relu);
}

constexpr value speech_base(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t width = here.dims.hidden_size, in = here.dims.own[features], adapters = here.dims.own[adapter_layers];
    m.within({"feature_projection"}, here.type("ConformerFeatureProjection"), [&] {
        m.layer_norm({"layer_norm"}, in);
        m.linear({"projection"}, in, width);
        m.plain({"dropout"}, {"", "Dropout"});
    });
    m.within({"encoder"}, here.type("ConformerEncoder"), [&] {
        const std::int64_t kind = here.dims.own[position_kind];
        if (kind == relative) m.plain({"embed_positions"}, here.type("ConformerRelPositionalEmbedding"));
        if (kind == rotary) m.plain({"embed_positions"}, here.type("ConformerRotaryPositionalEmbedding"));
        m.plain({"dropout"}, {"", "Dropout"});
        m.list("layers", here.dims.num_hidden_layers, here.type("ConformerEncoderLayer"), [&] { speech_layer(here, m); });
        m.layer_norm({"layer_norm"}, width);
    });
    speech_feed_forward(here, m, {"intermediate_ffn"}, activation::relu);
    if (adapters > 0)
        m.within({"adapter"}, here.type("ConformerAdapter"),
                 [&] { m.list("layers", adapters, here.type("ConformerAdapterLayer"), [&] { adapter_layer(here, m); }); });
    m.layer_norm({"inner_layer_norm"}, width);
    return trace::buffer({1});
}

constexpr void read_speech(config_view config, sizes& s) {
    if (!config.boolean("add_adapter", true))
        s.own[adapter_layers] = 0;
    else if (s.own[adapter_layers] == 0)
        fail_value(config, "num_adapter_layers", "at least 1 where there is an adapter");
    if (s.own[depth_kernel] % 2 == 0) fail_value(config, "conv_depthwise_kernel_size", "an odd number");
    const string_ref kind = config.string("position_embeddings_type", "relative");
    s.own[position_kind] = kind == "relative" ? relative : kind == "rotary" ? rotary : no_places;
}

inline constexpr architecture speech_encoder = [](architecture a) {
    a.model_type = "seamless_m4t_speech", a.prefix = "SeamlessM4T", a.base = speech_base, a.read = read_speech;
    a.own = speech_keys, a.rotated = rotation::none, a.heads = {}, a.names.model_type = "SpeechEncoder";
    a.keys[0] = {"num_hidden_layers", "speech_encoder_layers", key_rule::written_only};
    a.keys[1] = {"num_attention_heads", "speech_encoder_attention_heads", key_rule::written_only};
    a.keys[2] = {"intermediate_size", "speech_encoder_intermediate_size", key_rule::written_only};
    a.keys[3] = {"hidden_act", "speech_encoder_hidden_act", key_rule::written_only};
    a.keys[4] = {"num_key_value_heads", "", key_rule::absent}, a.keys[5] = {"head_dim", "", key_rule::absent};
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::swish;
    return a;
}(architecture{});

// ---- waves from units

inline constexpr std::int64_t most_in_list = 7;
enum vocoder_own : std::uint8_t {
    first_channels,
    unit_words,
    unit_width,
    language_width,
    speaker_width,
    languages,
    speakers,
    predictor_kernel,
    steps_up,
    kinds_of_block,
    step_kernels,                                ///< from here on, one of each step
    block_kernels = step_kernels + most_in_list  ///< one of each kind of block, beside how many convolutions it has
};
inline constexpr std::int64_t beside = 4096;  ///< a kernel times this, plus how many convolutions
inline constexpr own_key vocoder_keys[]{
    {"upsample_initial_channel", 512},
    {"unit_hifi_gan_vocab_size", 10000},
    {"unit_embed_dim", 1280},
    {"lang_embed_dim", 256},
    {"spkr_embed_dim", 256},
    {"vocoder_num_langs", 36},
    {"vocoder_num_spkrs", 200},
    {"variance_predictor_kernel_size", 3},
    {.otherwise = 5, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 11, .value = own_value::computed},
    {.otherwise = 8, .value = own_value::computed},
    {.otherwise = 8, .value = own_value::computed},
    {.otherwise = 4, .value = own_value::computed},
    {.otherwise = 4, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.otherwise = 3 * beside + 3, .value = own_value::computed},
    {.otherwise = 7 * beside + 3, .value = own_value::computed},
    {.otherwise = 11 * beside + 3, .value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
};

/// Each step up halves the channels, and has one block of each kind (`SeamlessM4THifiGan`).
constexpr void waves(const site& here, idle_modules& m) {
    const own_sizes& of = here.dims.own;
    const class_name conv{"", "Conv1d"};
    const std::int64_t width = of[unit_width] + of[language_width] + of[speaker_width], first = of[first_channels];
    const auto at = [&](std::size_t from, std::int64_t i) { return of[from + static_cast<std::size_t>(i)]; };
    m.weighted({"conv_pre"}, conv, {first, width, 7});
    for (std::int64_t i = 0; i < of[steps_up]; ++i)
        m.within({"upsampler", i}, {"", "ConvTranspose1d"}, [&] {
            m.tensor("weight", {first >> i, first >> (i + 1), at(step_kernels, i)});
            m.tensor("bias", {first >> (i + 1)});
        });
    for (std::int64_t i = 0; i < of[steps_up] * of[kinds_of_block]; ++i) {
        const std::int64_t channels = first >> (i / of[kinds_of_block] + 1);
        const std::int64_t kind = at(block_kernels, i % of[kinds_of_block]);
        const extents kernel{channels, channels, kind / beside};
        m.within({"resblocks", i}, {"", "HifiGanResidualBlock"}, [&] {
            for (std::int64_t j = 0; j < kind % beside; ++j) m.weighted({"convs1", j}, conv, kernel);
            for (std::int64_t j = 0; j < kind % beside; ++j) m.weighted({"convs2", j}, conv, kernel);
        });
    }
    m.weighted({"conv_post"}, conv, {1, first >> of[steps_up], 7});
}

constexpr value vocoder_base(const site& here, trace& t) {
    idle_modules m{t};
    const own_sizes& of = here.dims.own;
    const std::int64_t width = of[unit_width];
    const extents kernel{width, width, of[predictor_kernel]};
    m.within({"dur_predictor"}, here.type("VariancePredictor"), [&] {
        m.weighted({"conv1"}, {"", "Conv1d"}, kernel);
        m.plain({"activation_function"}, {"", "ReLU"});
        m.layer_norm({"ln1"}, width);
        m.plain({"dropout_module"}, {"", "Dropout"});
        m.weighted({"conv2"}, {"", "Conv1d"}, kernel);
        m.layer_norm({"ln2"}, width);
        m.linear({"proj"}, width, 1);
    });
    m.embedding({"unit_embedding"}, of[unit_words], width);
    m.embedding({"speaker_embedding"}, of[speakers], of[speaker_width]);
    m.embedding({"language_embedding"}, of[languages], of[language_width]);
    m.within({"hifi_gan"}, here.type("HifiGan"), [&] { waves(here, m); });
    return trace::buffer({1});
}

/// A list's length, or what it is without one; lists that are read side by side end with the shorter one.
constexpr std::int64_t length_of(config_view config, literal key, std::int64_t otherwise) {
    const auto list = config.optional_array(key);
    return list ? static_cast<std::int64_t>(list->size()) : otherwise;
}
constexpr std::int64_t shorter(config_view config, literal one, literal other, std::int64_t otherwise) {
    const std::int64_t a = length_of(config, one, otherwise), b = length_of(config, other, otherwise), n = a < b ? a : b;
    if (n < 1 || n > most_in_list) fail_unsupported(config, one, "no row describes a vocoder with none or more than 7");
    return n;
}

constexpr void read_vocoder(config_view config, sizes& s) {
    own_sizes& of = s.own;
    of[steps_up] = shorter(config, "upsample_rates", "upsample_kernel_sizes", of[steps_up]);
    of[kinds_of_block] = shorter(config, "resblock_kernel_sizes", "resblock_dilation_sizes", of[kinds_of_block]);
    if (const auto kernels = config.optional_array("upsample_kernel_sizes"))
        for (std::size_t i = 0; i < static_cast<std::size_t>(of[steps_up]); ++i)
            of[step_kernels + i] = (*kernels)[static_cast<std::uint32_t>(i)].as_positive();
    const auto kernels = config.optional_array("resblock_kernel_sizes");
    const auto dilations = config.optional_array("resblock_dilation_sizes");
    for (std::size_t i = 0; i < static_cast<std::size_t>(of[kinds_of_block]); ++i) {
        std::int64_t& packed = of[block_kernels + i];
        const auto at = static_cast<std::uint32_t>(i);
        const std::int64_t kernel = kernels ? (*kernels)[at].as_positive() : packed / beside;
        const std::int64_t count =
            dilations ? static_cast<std::int64_t>((*dilations)[at].as_array().size()) : packed % beside;
        if (count >= beside) fail_unsupported(config, "resblock_dilation_sizes", "no row describes so many");
        packed = kernel * beside + count;
    }
    if (of[first_channels] >> of[steps_up] == 0)
        fail_value(config, "upsample_initial_channel", "a number that can be halved in each step");
}

inline constexpr architecture vocoder = [](architecture a) {
    a.model_type = "seamless_m4t_vocoder", a.prefix = "SeamlessM4T", a.base = vocoder_base, a.read = read_vocoder;
    a.own = vocoder_keys, a.rotated = rotation::none, a.heads = {}, a.names.model_type = "CodeHifiGan";
    a.keys[0] = {"num_attention_heads", "", key_rule::absent}, a.keys[1] = {"hidden_act", "", key_rule::absent};
    a.keys[2] = {"num_key_value_heads", "", key_rule::absent}, a.keys[3] = {"head_dim", "", key_rule::absent};
    a.defaults.hidden_size = 1024, a.defaults.num_hidden_layers = 1;
    return a;
}(architecture{});

}  // namespace llmcost::arch::seamless_m4t_detail
