// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/conformer.hpp>
#include <llmcost/walks/idle.hpp>

// What hears and what speaks in SeamlessM4T, which a pass over text does not call.
namespace llmcost::arch::seamless_m4t_detail {

// ---- a conformer over features of sound

enum speech_own : std::uint8_t {
    features,
    adapter_layers,
    adapter_kernel,
    adapter_stride,
    depth_kernel,
    learned_left,
    learned_right,
    position_kind,
    chunks
};
enum places : std::uint8_t { relative, rotary, no_places, relative_key };
inline constexpr own_key speech_keys[]{
    {"feature_projection_input_dim", 160},
    {"num_adapter_layers", 1, own_value::non_negative},
    {"adaptor_kernel_size", 8},
    {"adaptor_stride", 8},
    {"conv_depthwise_kernel_size", 31},
    {"left_max_position_embeddings", 64, own_value::non_negative},
    {"right_max_position_embeddings", 8, own_value::non_negative},
    {.value = own_value::computed},  // `position_embeddings_type`
    {.value = own_value::computed},  // of the second version: places see a number of chunks
};

/// Two frames of a recording at a time; without one as many as ten seconds have, which declares a tower.
[[nodiscard]] constexpr std::int64_t places_of(const sound_settings& sound, const workload& load) {
    return load.audio_milliseconds == 0 ? 499 : stacked_frames(sound, samples_of(sound, load));
}
/// What adapters leave of them.
[[nodiscard]] constexpr std::int64_t states_of(const sizes& speech, const sound_settings& sound, const workload& load) {
    std::int64_t n = places_of(sound, load);
    const std::int64_t k = speech.own[adapter_kernel], stride = speech.own[adapter_stride];
    for (std::int64_t i = 0; i < speech.own[adapter_layers]; ++i) {
        if (n + stride / 2 * 2 < k) report_description("the recording is shorter than an adapter's kernel");
        n = (n + stride / 2 * 2 - k) / stride + 1;
    }
    return n;
}

[[nodiscard]] constexpr conformer_sizes conformer_of(const site& here) {
    const own_sizes& own = here.dims.own;
    const std::int64_t kind = own[position_kind];
    const bool second = here.row.defaults.own[position_kind] == relative_key;  // the second version
    return {here.dims.hidden_size,
            here.dims.num_attention_heads,
            here.dims.intermediate_size,
            here.dims.hidden_act,
            own[depth_kernel],
            kind == relative       ? distance_rule::relative
            : kind == relative_key ? distance_rule::relative_key
                                   : distance_rule::none,
            own[learned_left] + own[learned_right] + 1,
            second,
            here.row.names.mlp_prefix,
            true,
            own[chunks] != 0};
}

/// A conformer over pairs of frames, and adapters that leave every eighth place.
constexpr value speech_base(const site& here, trace& t) {
    const std::int64_t width = here.dims.hidden_size, in = here.dims.own[features], adapters = here.dims.own[adapter_layers];
    const conformer_sizes s = conformer_of(here);
    conformer_sizes by_relu = s, unplaced = s;
    by_relu.act = unplaced.act = activation::relu;
    unplaced.distances = distance_rule::none, unplaced.masked = false;
    if (here.dims.own[position_kind] == rotary && !t.idle())
        report_description("no row describes conformers with rotary positions");
    const norm<norm_kind::layer> normed{width};
    const module_info projection{.name = "feature_projection", .type = here.type("ConformerFeatureProjection")};
    t.enter(projection);
    value x = t.call("layer_norm", norm<norm_kind::layer>{in},
                     t.input({t.load().batch, places_of(here.whole.sound, t.load()), in}));
    x = t.leave(projection, dropout(t, "dropout", t.call("projection", linear{in, width, true}, x)));
    const module_info encoder{.name = "encoder", .type = here.type("ConformerEncoder")};
    t.enter(encoder);
    if (s.masked) (void)t.div(trace::buffer({x.dim(1)}));  // which chunk a place is in
    x = dropout(t, "dropout", x);
    const bool turns = here.dims.own[position_kind] == rotary;
    value table;
    if (turns || s.distances == distance_rule::relative) {
        const class_name named = here.type(turns ? "ConformerRotaryPositionalEmbedding" : "ConformerRelPositionalEmbedding");
        table = t.call("embed_positions", sines_of_distances{width, named}, x.dim(1));
    }
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, conformer_layer{s, table}, x);
    x = t.leave(encoder, t.call("layer_norm", normed, x));
    x = t.add(x, t.mul(t.call("intermediate_ffn", conformer_feed_forward{by_relu}, x)));
    const module_info adapter{.name = "adapter", .type = here.type("ConformerAdapter")};
    if (adapters > 0) t.enter(adapter);
    for (std::int64_t i = 0; i < adapters; ++i) {
        const own_sizes& own = here.dims.own;
        x = t.call({"layers", i}, conformer_adapter{unplaced, own[adapter_kernel], own[adapter_stride]}, x);
    }
    if (adapters > 0) (void)t.leave(adapter, x);
    return t.call("inner_layer_norm", normed, x);
}

constexpr void read_speech(config_view config, sizes& s) {
    if (!config.boolean("add_adapter", true))
        s.own[adapter_layers] = 0;
    else if (s.own[adapter_layers] == 0)
        fail_value(config, "num_adapter_layers", "at least 1 where there is an adapter");
    if (s.own[depth_kernel] % 2 == 0) fail_value(config, "conv_depthwise_kernel_size", "an odd number");
    if (s.own[adapter_layers] > 64) fail_unsupported(config, "num_adapter_layers", "no row describes more than 64");
    const string_ref kind = config.string("position_embeddings_type", "relative");
    s.own[position_kind] = kind == "relative" ? relative : kind == "rotary" ? rotary : no_places;
}
/// The second version: learned distances or none, and chunks.
constexpr void read_second_speech(config_view config, sizes& s) {
    read_speech(config, s);
    const string_ref kind = config.string("position_embeddings_type", "relative_key");
    s.own[position_kind] = kind == "relative_key" ? relative_key : no_places;
    const auto size = config.find("speech_encoder_chunk_size");
    s.own[chunks] = !size || !size->is_null();
}

inline constexpr architecture speech_encoder = [](architecture a) {
    a.model_type = "seamless_m4t_speech", a.prefix = "SeamlessM4T", a.base = speech_base, a.read = read_speech;
    a.own = speech_keys, a.rotated = rotation::none, a.heads = {}, a.names.model_type = "SpeechEncoder";
    a.names.mlp_prefix = "SeamlessM4TConformer";
    a.keys[0] = {"num_hidden_layers", "speech_encoder_layers", key_rule::written_only};
    a.keys[1] = {"num_attention_heads", "speech_encoder_attention_heads", key_rule::written_only};
    a.keys[2] = {"intermediate_size", "speech_encoder_intermediate_size", key_rule::written_only};
    a.keys[3] = {"hidden_act", "speech_encoder_hidden_act", key_rule::written_only};
    a.keys[4] = {"num_key_value_heads", "", key_rule::absent}, a.keys[5] = {"head_dim", "", key_rule::absent};
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::swish;
    return a;
}(architecture{});

inline constexpr architecture second_speech_encoder = [](architecture a) {
    a.prefix = "SeamlessM4Tv2", a.names.mlp_prefix = "SeamlessM4Tv2Conformer", a.read = read_second_speech;
    a.defaults.own[position_kind] = relative_key;
    return a;
}(speech_encoder);

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
