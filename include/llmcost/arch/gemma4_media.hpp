// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/gemma4.hpp>
#include <llmcost/arch/gemma4_vision.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

namespace gemma4_media_detail {

// ---- the tower for sound: what a text does not call, by names and classes

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

/// What brings the states of a tower that does not run to the width of the text.
constexpr void declare_embedder(const site& here, trace& t, literal name, std::int64_t in) {
    const recorder::idle_guard silent{t};
    (void)t.call(name, media_embedder{here}, trace::buffer({1, in}));
}

// ---- the whole

/// The text model in parts, as the whole calls them: words and inputs of layers by themselves, then masks, then the rest.
///
/// Source: `Gemma4Model.forward`; embeddings without images' tokens are made beside the inputs of layers, and not read.
/// `place` puts media into the words.
template <class Place>
constexpr value language_model(const site& here, trace& t, const Place& place) {
    const site text = here.text();
    const module_info m{.name = "language_model", .type = text.type(text.row.names.model_type)};
    const std::int64_t narrow = text.dims.own[gemma4_detail::input_width];
    t.enter(m);
    value x = text.row.embed(text, t);
    value given;
    if (narrow != 0) given = gemma3n_detail::looked_up_inputs(text, t, text.dims.own[gemma4_detail::input_rows], narrow);
    t.leave(m);
    if (narrow != 0) {
        const recorder::off_loss_guard unread{t};
        (void)t.where(x, trace::buffer({1, 1, text.dims.hidden_size}));
    }
    x = place(x);
    const decoder_context made = gemma4_detail::make_masks(text, t);
    t.enter(m);
    const value inputs = narrow != 0 ? gemma3n_detail::projected_inputs(text, t, x, given, false) : value{};
    const decoder_context shared = gemma4_detail::with_tables_of_kinds(text, t, made);
    return t.leave(m, gemma4_detail::walk(text, t, x, inputs, shared));
}

enum own : std::uint8_t { seen_width, heard_width };
inline constexpr own_key keys[]{{.value = own_value::computed}, {.value = own_value::computed}};

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (m.own[seen_width] == 0) report_description("this configuration has no tower for images");
    const own_sizes& own = m.beside[0].dims.own;
    const std::int64_t step = own[patch_side] * own[pooled_side], side = load.image_height;
    if (side == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const image_sides to =
        within_tokens({side, load.image_width}, own[patch_side], own[pooled_side], own[soft_tokens]);
    const std::int64_t longest = to.height > to.width ? to.height : to.width;
    if (longest / own[patch_side] > own[places]) report_description("an image has more rows or columns than places");
    return {.image = {.tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width}};
}

/// Towers that the configuration has, around the text.
constexpr value base(const site& here, trace& t) {
    const bool has_eyes = here.whole.own[seen_width] != 0, hears = here.whole.own[heard_width] != 0;
    const value x = language_model(here, t, [&](const value& words) {
        if (!has_eyes) return words;
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const recorder::workload_guard shown{t, pictures(t.load(), sees ? images_in(t) : 1, each.height, each.width)};
        const value states = describe_tower(here, t, 0, "vision_tower", role::vision);
        return scatter_counted(t, words, t.call("embed_vision", media_embedder{here}, states));
    });
    if (hears) (void)describe_tower(here, t, 1, "audio_tower", role::audio);
    if (hears) declare_embedder(here, t, "embed_audio", here.whole.own[heard_width]);
    return x;
}

enum unified_own : std::uint8_t {
    patch_values,
    embedded_width,
    unified_places,
    unified_seen,
    unified_heard,
    unified_patch,
    unified_pooled,
    unified_tokens
};
inline constexpr own_key unified_keys[]{
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.value = own_value::computed}, {.value = own_value::computed},
    {.value = own_value::computed}, {.otherwise = 280, .value = own_value::computed},
};

/// Patches as they are, normed and projected, with a learned place for each column and row.
struct patch_embedder {
    site here;

    static constexpr role what = role::vision;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionEmbedder"); }
    constexpr value describe(trace& t, const value& pixels) const {
        const own_sizes& of = here.whole.own;
        const std::int64_t width = of[embedded_width], images = pixels.dim(0), patches = pixels.dim(1);
        const value table = t.param("pos_embedding", {of[unified_places], 2, width});
        const norm<norm_kind::layer> scale{width};
        const value even = t.call("patch_ln1", norm<norm_kind::layer>{of[patch_values]}, pixels);
        const value x = t.call("patch_ln2", scale, t.call("patch_dense", linear{of[patch_values], width, true}, even));
        const value valid = t.constant({images, patches, 2, 1}, t.activation_type());
        const value place = t.sum(t.mul(t.gather(table, {images, patches, 2, width}), valid), -2);
        const value h = t.call("pos_norm", scale, t.add(x, place));
        const std::int64_t expected = of[unified_seen];
        if (width != expected && sees_images(t)) report_description("vision_config.mm_embed_dim is not output_proj_dims");
        return t.call("multimodal_embedder", media_embedder{here},
                      width == expected ? h : trace::buffer({images, patches, expected}));
    }
};

constexpr media_shapes show_unified(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (m.own[unified_seen] == 0) report_description("this configuration has no sizes of images");
    if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
    const std::int64_t patch = m.own[unified_patch], pooled = m.own[unified_pooled], step = patch * pooled;
    const image_sides to = within_tokens({load.image_height, load.image_width}, patch, pooled, m.own[unified_tokens]);
    const std::int64_t rows = to.height / step, columns = to.width / step;
    if ((rows > columns ? rows : columns) > m.own[unified_places])
        report_description("an image has more rows or columns than places");
    return {.image = {.tokens = rows * columns, .height = to.height, .width = to.width}};
}

/// The same without towers: patches and sounds are projected as they are.
constexpr value unified_base(const site& here, trace& t) {
    const own_sizes& of = here.whole.own;
    const value x = language_model(here, t, [&](const value& words) {
        if (of[unified_seen] == 0) return words;
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const std::int64_t images = sees ? images_in(t) : 1;
        const std::int64_t tokens = sees ? show_unified(here.whole, t.load()).image.tokens : 1;
        const value pixels = t.input({images, of[unified_tokens], of[patch_values]});
        const value states = t.call("embed_vision", patch_embedder{here}, pixels);
        return scatter_counted(t, words, t.gather(states, {images * tokens, here.dims.hidden_size}));
    });
    if (of[unified_heard] != 0) declare_embedder(here, t, "embed_audio", of[unified_heard]);
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
        m.beside[0].dims.own[soft_tokens] =
            config.positive("vision_soft_tokens_per_image", m.beside[0].dims.own[soft_tokens]);
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
        m.own[unified_patch] = patch, m.own[unified_pooled] = pool;
        m.own[unified_tokens] = given->positive("num_soft_tokens", 280);
    }
    if (const auto given = config.optional_object("audio_config"))
        m.own[unified_heard] = given->positive("audio_embed_dim", 640);
}

/// So many tokens at most for an image.
constexpr void read_processor(config_view told, model& m) {
    if (m.own[seen_width] == 0) return;
    own_sizes& tower = m.beside[0].dims.own;
    expect_patches(told, tower[patch_side], 1);
    expect_side(told, "pooling_kernel_size", tower[pooled_side], "the pooling_kernel_size of the configuration's tower");
    tower[soft_tokens] = told.positive("max_soft_tokens", tower[soft_tokens]);
}
constexpr void read_unified_processor(config_view told, model& m) {
    if (m.own[unified_seen] == 0) return;
    expect_patches(told, m.own[unified_patch], 1);
    expect_side(told, "pooling_kernel_size", m.own[unified_pooled], "the pooling_kernel_size of the configuration");
    m.own[unified_tokens] = told.positive("max_soft_tokens", m.own[unified_tokens]);
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
    a.media = gemma4_media_detail::show, a.read_processor = gemma4_media_detail::read_processor, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &gemma4_media_detail::text, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

// transformers/models/gemma4_unified: no towers, patches and sounds as they are
inline constexpr architecture gemma4_unified = [](architecture a) {
    a.model_type = "gemma4_unified", a.prefix = "Gemma4Unified", a.base = gemma4_media_detail::unified_base;
    a.read_whole = gemma4_media_detail::read_unified, a.own = gemma4_media_detail::unified_keys;
    a.media = gemma4_media_detail::show_unified;
    a.read_processor = gemma4_media_detail::read_unified_processor;
    a.text.otherwise = &gemma4_media_detail::unified_text;
    return a;
}(gemma4);

}  // namespace llmcost::arch
