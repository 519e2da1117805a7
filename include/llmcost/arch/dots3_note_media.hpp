// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dots3_note.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace dots3_note_media_detail {

// ---- the tower for images: the later a layer, the more experts

enum vision_own : std::uint8_t { patch_side, image_channels, merged_side, expert_width, seen_width };
inline constexpr own_key vision_keys[]{
    {"patch_size", 14},        {"num_channels", 3}, {"spatial_merge_size", 2}, {"moe_intermediate_size", 2112},
    {"adapter_out_dim", 5120},
};

constexpr void vision_experts(const site& here, idle_modules& m, std::int64_t experts) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.own[expert_width];
    m.within(
        {"mlp"}, here.type("VisionMoE"),
        [&] {
            m.within(
                {"experts"}, here.type("Experts"),
                [&] {
                    m.tensor("gate_up_proj", {experts, 2 * inner, width});
                    m.tensor("down_proj", {experts, width, inner});
                    m.act({"act_fn"}, here.dims.hidden_act);
                },
                role::experts);
            m.weighted({"gate"}, here.type("VisionTopKRouter"), {experts, width}, false);
        },
        role::mlp);
}

constexpr void vision_feed_forward(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    m.within(
        {"mlp"}, here.type("VisionMLP"),
        [&] {
            m.linear({"gate_proj"}, width, inner, here.dims.mlp_bias),
                m.linear({"up_proj"}, width, inner, here.dims.mlp_bias);
            m.linear({"down_proj"}, inner, width, here.dims.mlp_bias);
            m.act({"act_fn"}, here.dims.hidden_act);
        },
        role::mlp);
}

constexpr void vision_layer(const site& here, idle_modules& m, std::int64_t i) {
    const std::int64_t width = here.dims.hidden_size;
    const class_name rms = here.type("RMSNorm");
    const layer_kind& kind = here.dims.layers[i];
    m.within({"blocks", i}, here.type("VisionBlock"), [&] {
        m.norm({"norm1"}, width, rms), m.norm({"norm2"}, width, rms);
        m.within(
            {"attn"}, here.type("VisionAttention"),
            [&] {
                m.linear({"qkv"}, width, 3 * width, here.dims.attention_bias);
                m.linear({"proj"}, width, width, here.dims.attention_bias);
                m.norm({"q_norm"}, here.dims.head_dim, rms), m.norm({"k_norm"}, here.dims.head_dim, rms);
            },
            role::attn);
        kind.experts ? vision_experts(here, m, kind.inner) : vision_feed_forward(here, m);
    });
}

constexpr value vision_base(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t width = here.dims.hidden_size, side = here.dims.own[patch_side], merged = here.dims.own[merged_side];
    m.within({"patch_embed"}, here.type("VisionPatchEmbed"), [&] {
        m.weighted({"proj"}, {"", "Conv2d"}, {width, here.dims.own[image_channels], side, side});
        m.norm({"norm"}, width, here.type("RMSNorm"));
    });
    m.plain({"rotary_pos_emb"}, here.type("VisionRotaryEmbedding"));
    for (std::int64_t i = 0; i < here.dims.num_hidden_layers; ++i) vision_layer(here, m, i);
    m.within({"merger"}, here.type("VisionMerger"), [&] {
        const std::int64_t wide = width * merged * merged;
        m.layer_norm({"ln_q"}, width);
        m.within({"mlp"}, {"", "Sequential"}, [&] {
            m.linear(module_place::item(0), wide, wide);
            m.plain(module_place::item(1), {"", "GELU"});
            m.linear(module_place::item(2), wide, here.dims.own[seen_width]);
        });
    });
    m.norm({"norm"}, width, here.type("RMSNorm"));
    return trace::buffer({1});
}

// ---- the tower for sound

enum audio_own : std::uint8_t { features, stem_channels, heard_width };
inline constexpr own_key audio_keys[]{
    {"feature_size", 128},
    {"downsample_hidden_size", 480},
    {"adapter_out_dim", 5120},
};

constexpr void audio_layer(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
    m.within(
        {"self_attn"}, here.type("AudioAttention"),
        [&] {
            for (const literal name : {"q_proj", "v_proj", "o_proj"})
                m.linear({name}, width, width, here.dims.attention_bias);
            m.linear({"k_proj"}, width, width, false);
        },
        role::attn);
    m.within(
        {"mlp"}, here.type("AudioMLP"),
        [&] {
            m.linear({"gate_up_proj"}, width, 2 * inner), m.linear({"down_proj"}, inner, width);
            m.act({"activation_fn"}, here.dims.hidden_act);
        },
        role::mlp);
    for (const literal name : {"input_layernorm", "post_attention_layernorm"}) m.norm({name}, width, here.type("RMSNorm"));
    for (const literal name : {"resid_attn_dropout", "resid_mlp_dropout"}) m.plain({name}, {"", "Dropout"});
}

constexpr value audio_base(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t width = here.dims.hidden_size, out = here.dims.own[heard_width];
    const std::int64_t channels = here.dims.own[stem_channels];
    m.within({"conv_stem"}, here.type("AudioConvStem"), [&] {
        for (std::int64_t i = 0; i < 3; ++i)
            m.weighted({"convs", i}, {"", "Conv2d"}, {channels, i == 0 ? 1 : channels, 3, 3});
        m.linear({"conv_out"}, channels * ((here.dims.own[features] + 7) / 8), width, false);
    });
    m.plain({"rotary_embedding"}, here.type("AudioRotaryEmbedding"));
    m.list("layers", here.dims.num_hidden_layers, here.type("AudioLayer"), [&] { audio_layer(here, m); });
    m.norm({"layer_norm"}, width, here.type("RMSNorm"));
    m.within({"adapter"}, here.type("AudioAdapter"), [&] {
        m.layer_norm({"norm"}, width);
        m.linear({"fc1"}, width, out);
        m.act({"activation"}, activation::gelu);
        m.linear({"fc2"}, out, out);
    });
    return trace::buffer({1});
}

constexpr value base(const site& here, trace& t) {
    const value x = describe_text(here, t, "language_model");
    (void)describe_tower(here, t, 0, "vision_tower", role::vision);
    (void)describe_tower(here, t, 1, "audio_tower", role::audio);
    return x;
}

// ---- configurations

/// How many experts a layer has; 0: none.
///
/// Source: `Dots3NoteVisionConfig.__post_init__`: a list of numbers, or of words and what single layers say.
class expert_numbers {
public:
    constexpr expert_numbers(config_view config, const sizes& s)
        : config_(config),
          numbers_(config.optional_array("pyramid_num_routed")),
          words_(numbers_ ? maybe<config_view>{} : config.optional_array("mlp_layer_types")),
          single_(config.optional_object("per_layer_config")),
          otherwise_(config.positive("num_local_experts", 64)) {
        const std::int64_t layers = s.num_hidden_layers;
        const auto covers = [&](const maybe<config_view>& list) {
            return static_cast<std::int64_t>(list->size()) >= layers;
        };
        if (numbers_ && !covers(numbers_)) fail_value(config, "pyramid_num_routed", "a list with one number per layer");
        if (words_ && !covers(words_)) fail_value(config, "mlp_layer_types", "a list with one kind per layer");
        if (!numbers_ && !words_ && layers > described)
            fail_value(config, "num_hidden_layers", "at most 42 layers without a list of their experts");
        if (single_)
            for (const config_view entry : *single_)
                if (number_of(entry) >= layers) fail_value(entry, "an entry of one of the layers");
        if (!single_ && !words_)
            for (std::int64_t i = layers; i < (numbers_ ? static_cast<std::int64_t>(numbers_->size()) : described); ++i)
                if (listed(i) > 0) fail_value(config, "num_hidden_layers", "as many layers as have numbers of experts");
    }
    [[nodiscard]] constexpr std::int64_t of(std::int64_t layer) const {
        const bool sparse = words_ ? is_sparse(*words_, layer) : listed(layer) > 0;
        if (!sparse) return 0;
        if (!single_) return words_ ? otherwise_ : listed(layer);
        for (const config_view entry : *single_)
            if (number_of(entry) == layer) return entry.positive("num_local_experts", otherwise_);
        return otherwise_;
    }

private:
    static constexpr std::int64_t described = 42;

    [[nodiscard]] static constexpr bool is_sparse(config_view words, std::int64_t layer) {
        const string_ref word = words[static_cast<std::size_t>(layer)].as_string();
        if (word != "sparse" && word != "dense") fail_value(words, "a list of dense and sparse");
        return word == "sparse";
    }
    [[nodiscard]] constexpr std::int64_t listed(std::int64_t layer) const {
        if (numbers_) return (*numbers_)[static_cast<std::size_t>(layer)].as_integer();
        return layer < 25 ? 0 : layer < 41 ? 4 * (layer - 24) : 64;
    }
    [[nodiscard]] constexpr std::int64_t number_of(config_view entry) const {
        std::int64_t number = 0;
        for (const char c : entry.key()) {
            if (c < '0' || c > '9' || number > largest_input / 10)
                fail_unsupported(config_, "per_layer_config", "its keys are numbers of layers");
            number = number * 10 + (c - '0');
        }
        for (const config_view changed : entry.as_object())
            if (changed.key() != "num_local_experts" && changed.key() != "num_experts_per_tok")
                fail_unsupported(entry, "changes what no row describes by layer");
        return number;
    }

    config_view config_;
    maybe<config_view> numbers_, words_, single_;
    std::int64_t otherwise_;
};

constexpr void read_vision(config_view config, sizes& s) {
    share_among_heads(config, s, {"num_heads", "num_attention_heads"});
    if (config.positive("adapter_in_dim", 1536) != s.hidden_size) fail_value(config, "adapter_in_dim", "hidden_size");
    if (config.positive("adapter_merge_size", 2) != s.own[merged_side])
        fail_value(config, "adapter_merge_size", "spatial_merge_size");
    (void)checked_width(config, "spatial_merge_size", checked_product(s.hidden_size, s.own[merged_side]),
                        s.own[merged_side]);
    (void)checked_width(config, "patch_size", s.own[patch_side], s.own[patch_side]);
    (void)checked_width(config, "hidden_size", 3, s.hidden_size);
    (void)checked_width(config, "moe_intermediate_size", 2, s.own[expert_width]);
    const auto rope = config.optional_object("rope_parameters");
    const string_ref type = rope ? rope->string("rope_type", "axial") : string_ref("axial");
    if (type != "axial" && type != "default") fail_value(*rope, "rope_type", "\"axial\"");
    const expert_numbers experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) {
        const std::int64_t n = experts.of(i);
        if (n > largest_input) fail_value(config, "pyramid_num_routed", "numbers of experts");
        if (n > 0 && s.mlp_bias) fail_value(config, "mlp_bias", "false, as experts have none");
        return layer_kind{.experts = n > 0, .inner = static_cast<std::int32_t>(n)};
    });
}

/// Released files name sizes as Whisper does, in an object of their own.
constexpr void read_audio(config_view config, sizes& s) {
    if (const auto whisper = config.optional_object("whisper_config")) {
        s.hidden_size = whisper->positive("d_model", s.hidden_size);
        s.num_attention_heads = whisper->positive("encoder_attention_heads", s.num_attention_heads);
        s.num_hidden_layers = whisper->positive("encoder_layers", s.num_hidden_layers);
        s.intermediate_size = whisper->positive("encoder_ffn_dim", s.intermediate_size);
        s.own[features] = whisper->positive("num_mel_bins", s.own[features]);
    }
    share_among_heads(config, s, {"num_attention_heads"});
    const std::int64_t in = config.positive("adapter_input_size", 1280);
    if (config.positive("whisper_adapter_in_dim", in) != s.hidden_size)
        fail_value(config, "adapter_input_size", "hidden_size");
    s.own[heard_width] = config.positive("adapter_output_size", s.own[heard_width]);
    s.own[heard_width] = config.positive("whisper_adapter_out_dim", s.own[heard_width]);
    (void)checked_width(config, "intermediate_size", 2, s.intermediate_size);
    (void)checked_width(config, "downsample_hidden_size", s.own[stem_channels], s.own[features] / 8 + 1);
    s.layers.set_all({});
}

/// Both towers end as wide as the text.
constexpr void read(config_view config, model& m) {
    if (m.beside[0].dims.own[seen_width] != m.dims.hidden_size)
        fail_value(config, "vision_config", "an adapter_out_dim of the text's hidden_size");
    if (m.beside[1].dims.own[heard_width] != m.dims.hidden_size)
        fail_value(config, "audio_config", "an adapter_out_dim of the text's hidden_size");
}

inline constexpr architecture part = [](architecture a) {
    a.prefix = "Dots3Note", a.rotated = rotation::none, a.heads = {};
    a.keys[0] = {"head_dim", "", key_rule::absent}, a.keys[1] = no_key_value_heads;
    return a;
}(architecture{});
inline constexpr architecture vision = [](architecture a) {
    a.model_type = "dots3_note_vision_encoder", a.base = vision_base, a.read = read_vision, a.own = vision_keys;
    a.names.model_type = "VisionModel", a.kinds.experts = a.kinds.inner = true;
    a.keys[2] = {"hidden_size", "embed_dim"}, a.keys[3] = {"num_attention_heads", "num_heads"};
    a.keys[4] = {"attention_bias", "use_bias"};
    a.defaults.hidden_size = 1536, a.defaults.intermediate_size = 4224, a.defaults.num_hidden_layers = 42;
    a.defaults.num_attention_heads = 24;
    return a;
}(part);
inline constexpr architecture audio = [](architecture a) {
    a.model_type = "dots3_note_audio_encoder", a.base = audio_base, a.read = read_audio, a.own = audio_keys;
    a.names.model_type = "AudioModel";
    a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 5120, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 20, a.defaults.attention_bias = true;
    return a;
}(part);

}  // namespace dots3_note_media_detail

// transformers/models/dots3_note: towers for images and sound beside the text model
inline constexpr architecture dots3_note = [](architecture a) {
    a.model_type = "dots3_note", a.prefix = "Dots3Note", a.base = dots3_note_media_detail::base;
    a.read_whole = dots3_note_media_detail::read;
    a.text = {.key = "text_config", .otherwise = &dots3_note_text, .always = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &dots3_note_media_detail::vision, .always = true};
    a.beside[1] = {.key = "audio_config", .otherwise = &dots3_note_media_detail::audio, .always = true};
    return a;
}(shared_composite);

}  // namespace llmcost::arch
