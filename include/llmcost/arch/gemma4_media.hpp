// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma4.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace gemma4_media_detail {

// ---- towers: what a text does not call, by names and classes

enum vision_own : std::uint8_t { patch_side, places };
inline constexpr own_key vision_keys[]{{"patch_size", 16}, {"position_embedding_size", 10240}};

enum audio_own : std::uint8_t { first_channels, second_channels, kernel, out_width };
inline constexpr own_key audio_keys[]{
    {.otherwise = 128, .value = own_value::computed},  // `subsampling_conv_channels`
    {.otherwise = 32, .value = own_value::computed},
    {"conv_kernel_size", 5},
    {"output_proj_dims", 1536},
};

/// A projection in a module that may clip what goes in and out.
constexpr void clippable(const site& here, idle_modules& m, literal name, std::int64_t in, std::int64_t out) {
    m.within({name}, here.type("ClippableLinear"), [&] { m.linear({"linear"}, in, out, false); });
}

constexpr void vision_layer(const site& here, idle_modules& m) {
    const sizes& dims = here.dims;
    const std::int64_t width = dims.hidden_size, d = dims.head_dim, inner = dims.intermediate_size;
    const class_name rms = here.type("RMSNorm");
    m.within(
        {"self_attn"}, here.type("VisionAttention"),
        [&] {
            clippable(here, m, "q_proj", width, dims.num_attention_heads * d);
            clippable(here, m, "k_proj", width, dims.num_key_value_heads * d);
            clippable(here, m, "v_proj", width, dims.num_key_value_heads * d);
            clippable(here, m, "o_proj", dims.num_attention_heads * d, width);
            m.norm({"q_norm"}, d, rms), m.norm({"k_norm"}, d, rms), m.plain({"v_norm"}, rms);
        },
        role::attn);
    m.within(
        {"mlp"}, here.type("VisionMLP"),
        [&] {
            clippable(here, m, "gate_proj", width, inner), clippable(here, m, "up_proj", width, inner);
            clippable(here, m, "down_proj", inner, width);
            m.act({"act_fn"}, dims.hidden_act);
        },
        role::mlp);
    for (const literal name :
         {"input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm", "post_feedforward_layernorm"})
        m.norm({name}, width, rms);
}

constexpr value vision_base(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t width = here.dims.hidden_size, side = here.dims.own[patch_side];
    m.within({"patch_embedder"}, here.type("VisionPatchEmbedder"), [&] {
        m.tensor("position_embedding_table", {2, here.dims.own[places], width});
        m.linear({"input_proj"}, 3 * side * side, width, false);
    });
    m.within({"encoder"}, here.type("VisionEncoder"), [&] {
        m.plain({"rotary_emb"}, here.type("VisionRotaryEmbedding"));
        m.list("layers", here.dims.num_hidden_layers, here.type("VisionEncoderLayer"), [&] { vision_layer(here, m); });
    });
    m.plain({"pooler"}, here.type("VisionPooler"));
    return trace::buffer({1});
}

constexpr void audio_feed_forward(const site& here, idle_modules& m, literal name) {
    const std::int64_t width = here.dims.hidden_size;
    m.within(
        {name}, here.type("AudioFeedForward"),
        [&] {
            clippable(here, m, "ffw_layer_1", width, 4 * width), clippable(here, m, "ffw_layer_2", 4 * width, width);
            m.norm({"pre_layer_norm"}, width, here.type("RMSNorm")),
                m.norm({"post_layer_norm"}, width, here.type("RMSNorm"));
            m.act({"act_fn"}, here.dims.hidden_act);
        },
        role::mlp);
}

/// A conformer's layer: half of a feed-forward block, chunked attention, a light convolution, the other half.
constexpr void audio_layer(const site& here, idle_modules& m) {
    const std::int64_t width = here.dims.hidden_size, d = here.dims.head_dim, heads = here.dims.num_attention_heads;
    const class_name rms = here.type("RMSNorm");
    audio_feed_forward(here, m, "feed_forward1"), audio_feed_forward(here, m, "feed_forward2");
    m.within(
        {"self_attn"}, here.type("AudioAttention"),
        [&] {
            m.tensor("per_dim_scale", {d});
            for (const literal name : {"q_proj", "k_proj", "v_proj"}) clippable(here, m, name, width, heads * d);
            clippable(here, m, "post", width, width);
            m.linear({"relative_k_proj"}, width, heads * d, false);
        },
        role::attn);
    m.within({"lconv1d"}, here.type("AudioLightConv1d"), [&] {
        clippable(here, m, "linear_start", width, 2 * width), clippable(here, m, "linear_end", width, width);
        m.weighted({"depthwise_conv1d"}, here.type("AudioCausalConv1d"), {width, 1, here.dims.own[kernel]}, false);
        m.norm({"pre_layer_norm"}, width, rms), m.norm({"conv_norm"}, width, rms);
        m.act({"act_fn"}, here.dims.hidden_act);
    });
    for (const literal name : {"norm_pre_attn", "norm_post_attn", "norm_out"}) m.norm({name}, width, rms);
}

constexpr value audio_base(const site& here, trace& t) {
    idle_modules m{t};
    const std::int64_t first = here.dims.own[first_channels], second = here.dims.own[second_channels];
    const auto sample = [&](literal name, std::int64_t in, std::int64_t out) {
        m.within({name}, here.type("AudioSubSampleConvProjectionLayer"), [&] {
            m.weighted({"conv"}, {"", "Conv2d"}, {out, in, 3, 3}, false);
            m.layer_norm({"norm"}, out, false);
            m.plain({"act"}, {"", "ReLU"});
        });
    };
    m.within({"subsample_conv_projection"}, here.type("AudioSubSampleConvProjection"), [&] {
        sample("layer0", 1, first), sample("layer1", first, second);
        m.linear({"input_proj_linear"}, first / 4 * second, here.dims.hidden_size, false);
    });
    m.plain({"rel_pos_enc"}, here.type("AudioRelPositionalEncoding"));
    m.list("layers", here.dims.num_hidden_layers, here.type("AudioLayer"), [&] { audio_layer(here, m); });
    m.linear({"output_proj"}, here.dims.hidden_size, here.dims.own[out_width]);
    return trace::buffer({1});
}

/// A norm without a weight, and a projection to the width of the text.
constexpr void media_embedder(const site& here, idle_modules& m, literal name, std::int64_t in) {
    m.within({name}, here.type("MultimodalEmbedder"), [&] {
        m.linear({"embedding_projection"}, in, here.dims.hidden_size, false);
        m.plain({"embedding_pre_projection_norm"}, here.type("RMSNorm"));
    });
}

// ---- the whole

/// The text model in parts, as the whole calls them: words and inputs of layers by themselves, then masks, then the rest.
///
/// Source: `Gemma4Model.forward`; embeddings without images' tokens are made beside the inputs of layers, and not read.
constexpr value language_model(const site& here, trace& t) {
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    const std::int64_t narrow = text.dims.own[gemma4_detail::input_width];
    t.enter(m);
    const value x = text.row.embed(text, t);
    value given;
    if (narrow != 0) given = gemma3n_detail::looked_up_inputs(text, t, text.dims.own[gemma4_detail::input_rows], narrow);
    t.leave(m);
    if (narrow != 0) {
        const recorder::off_loss_guard unread{t};
        (void)t.where(x, trace::buffer({1, 1, text.dims.hidden_size}));
    }
    const decoder_context made = gemma4_detail::make_masks(text, t);
    t.enter(m);
    const value inputs = narrow != 0 ? gemma3n_detail::projected_inputs(text, t, x, given, false) : value{};
    const decoder_context shared = gemma4_detail::with_tables_of_kinds(text, t, made);
    return t.leave(m, gemma4_detail::walk(text, t, x, inputs, shared));
}

enum own : std::uint8_t { seen_width, heard_width };
inline constexpr own_key keys[]{{.value = own_value::computed}, {.value = own_value::computed}};

/// Towers that the configuration has, around the text.
constexpr value base(const site& here, trace& t) {
    const bool sees = here.whole.own[seen_width] != 0, hears = here.whole.own[heard_width] != 0;
    if (sees) (void)describe_tower(here, t, 0, "vision_tower", role::vision);
    const value x = language_model(here, t);
    if (hears) (void)describe_tower(here, t, 1, "audio_tower", role::audio);
    idle_modules m{t};
    if (sees) media_embedder(here, m, "embed_vision", here.whole.own[seen_width]);
    if (hears) media_embedder(here, m, "embed_audio", here.whole.own[heard_width]);
    return x;
}

enum unified_own : std::uint8_t { patch_values, embedded_width, unified_places, unified_seen, unified_heard };
inline constexpr own_key unified_keys[]{
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed},
};

/// The same without towers: patches and sounds are projected as they are.
constexpr value unified_base(const site& here, trace& t) {
    const value x = language_model(here, t);
    idle_modules m{t};
    const own_sizes& of = here.whole.own;
    if (of[unified_seen] != 0)
        m.within(
            {"embed_vision"}, here.type("VisionEmbedder"),
            [&] {
                const std::int64_t width = of[embedded_width];
                m.tensor("pos_embedding", {of[unified_places], 2, width});
                m.layer_norm({"patch_ln1"}, of[patch_values]);
                m.linear({"patch_dense"}, of[patch_values], width);
                m.layer_norm({"patch_ln2"}, width), m.layer_norm({"pos_norm"}, width);
                media_embedder(here, m, "multimodal_embedder", of[unified_seen]);
            },
            role::vision);
    if (of[unified_heard] != 0) media_embedder(here, m, "embed_audio", of[unified_heard]);
    return x;
}

// ---- configurations

constexpr void read_vision(config_view config, sizes& s) {
    (void)checked_width(config, "patch_size", 3 * s.own[patch_side], s.own[patch_side]);
    const auto rope = config.optional_object("rope_parameters");
    const string_ref type = rope ? rope->string("rope_type", "axial") : string_ref("axial");
    if (type != "axial" && type != "default") fail_value(*rope, "rope_type", "\"axial\"");
}
constexpr void read_audio(config_view config, sizes& s) {
    if (const auto channels = config.optional_array("subsampling_conv_channels")) {
        if (channels->size() < 2) fail_value(config, "subsampling_conv_channels", "two numbers of channels");
        s.own[first_channels] = (*channels)[0].as_positive(), s.own[second_channels] = (*channels)[1].as_positive();
    }
    (void)checked_width(config, "hidden_size", 4, s.hidden_size);
}

inline constexpr architecture part = [](architecture a) {
    a.prefix = "Gemma4", a.rotated = rotation::none, a.heads = {};
    a.keys[0] = {"attention_bias", "", key_rule::absent};
    return a;
}(architecture{});
inline constexpr architecture vision = [](architecture a) {
    a.model_type = "gemma4_vision", a.base = vision_base, a.read = read_vision, a.own = vision_keys;
    a.names.model_type = "VisionModel";
    a.keys[1] = {"hidden_act", "hidden_activation", key_rule::written_only};
    a.defaults.hidden_size = 768, a.defaults.intermediate_size = 3072, a.defaults.num_hidden_layers = 16;
    a.defaults.num_attention_heads = a.defaults.num_key_value_heads = 12, a.defaults.head_dim = 64;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(part);
inline constexpr architecture audio = [](architecture a) {
    a.model_type = "gemma4_audio", a.base = audio_base, a.read = read_audio, a.own = audio_keys;
    a.names.model_type = "AudioModel";
    a.keys[1] = {"head_dim", "", key_rule::absent}, a.keys[2] = {"num_key_value_heads", "", key_rule::absent};
    a.defaults.hidden_size = 1024, a.defaults.num_hidden_layers = 12, a.defaults.num_attention_heads = 8;
    return a;
}(part);

/// The text model's cap is the whole's.
constexpr void read_cap(config_view config, model& m) {
    if (const auto text = config.optional_object("text_config"))
        m.dims.logits_soft_cap = text->optional_real("final_logit_softcapping").has_value();
}
/// Both towers may be absent.
constexpr void read(config_view config, model& m) {
    read_cap(config, m);
    if (const auto given = config.optional_object("vision_config")) {
        m.beside[0] = {&vision, read_sizes(vision, *given, true)};
        m.own[seen_width] = given->positive("output_proj_dims", m.beside[0].dims.hidden_size);
    }
    if (const auto given = config.optional_object("audio_config")) {
        m.beside[1] = {&audio, read_sizes(audio, *given, true)};
        m.own[heard_width] = m.beside[1].dims.own[out_width];
    }
}
constexpr void read_unified(config_view config, model& m) {
    read_cap(config, m);
    if (const auto given = config.optional_object("vision_config")) {
        const std::int64_t patch = given->positive("patch_size", 16), pool = given->positive("pooling_kernel_size", 3);
        const std::int64_t side = checked_width(*given, "patch_size", patch, pool);
        if (given->positive("model_patch_size", side) != side)
            fail_value(*given, "model_patch_size", "patch_size times pooling_kernel_size");
        m.own[patch_values] = checked_width(*given, "patch_size", checked_product(3, side), side);
        m.own[embedded_width] = given->positive("mm_embed_dim", 3840);
        m.own[unified_places] = given->positive("mm_posemb_size", 1120);
        m.own[unified_seen] = given->positive("output_proj_dims", 3840);
    }
    if (const auto given = config.optional_object("audio_config"))
        m.own[unified_heard] = given->positive("audio_embed_dim", 640);
}

/// Inside of a model that makes the masks of those kinds of layers that there are.
inline constexpr architecture text = [](architecture a) {
    a.masks = mask_rule::present;
    return a;
}(gemma4_text);
inline constexpr architecture unified_text = [](architecture a) {
    a.masks = mask_rule::present;
    return a;
}(gemma4_unified_text);

}  // namespace gemma4_media_detail

// transformers/models/gemma4: a tower for images and one for sound, each if there is one, beside Gemma 4
inline constexpr architecture gemma4 = [](architecture a) {
    a.model_type = "gemma4", a.prefix = "Gemma4", a.base = gemma4_media_detail::base;
    a.read_whole = gemma4_media_detail::read, a.own = gemma4_media_detail::keys;
    a.text = {.key = "text_config", .otherwise = &gemma4_media_detail::text, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

// transformers/models/gemma4_unified: no towers, patches and sounds as they are
inline constexpr architecture gemma4_unified = [](architecture a) {
    a.model_type = "gemma4_unified", a.prefix = "Gemma4Unified", a.base = gemma4_media_detail::unified_base;
    a.read_whole = gemma4_media_detail::read_unified, a.own = gemma4_media_detail::unified_keys;
    a.text.otherwise = &gemma4_media_detail::unified_text;
    return a;
}(gemma4);

}  // namespace llmcost::arch
