// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace florence2_detail {

inline constexpr std::int64_t most_stages = 4, most_blocks = 24;

/// Children of a list in a list, by their numbers.
inline constexpr literal numbers[]{"0",  "1",  "2",  "3",  "4",  "5",  "6",  "7",  "8",  "9",  "10", "11",
                                   "12", "13", "14", "15", "16", "17", "18", "19", "20", "21", "22", "23"};

enum tower_own : std::uint8_t {
    stages,
    widths,
    inners = widths + most_stages,
    depths = inners + most_stages,
    kernels = depths + most_stages,
    normed_first = kernels + most_stages,
    in_channels,
    qkv_bias,
    projection_width,
    positions,
    drops
};
inline constexpr own_key tower_keys[]{
    {.otherwise = 4, .value = own_value::computed},
    {.otherwise = 128, .value = own_value::computed},  // `embed_dim` of the stages
    {.otherwise = 256, .value = own_value::computed},
    {.otherwise = 512, .value = own_value::computed},
    {.otherwise = 1024, .value = own_value::computed},
    {.value = own_value::computed},  // so many times `mlp_ratio`
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},  // `depths`
    {.otherwise = 1, .value = own_value::computed},
    {.otherwise = 9, .value = own_value::computed},
    {.otherwise = 1, .value = own_value::computed},
    {.otherwise = 7, .value = own_value::computed},  // `patch_size`
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 3, .value = own_value::computed},
    {.otherwise = 0b1110, .value = own_value::computed},  // `patch_prenorm`, bit by bit
    {"in_channels", 3},
    {"qkv_bias", 1, own_value::boolean},
    {"projection_dim", 1024},
    {"max_position_embeddings", 50},
    {.value = own_value::computed},  // whether paths are dropped in training: modules that do nothing here
};

constexpr std::int64_t of_stage(const own_sizes& own, tower_own first, std::int64_t i) {
    return own[static_cast<std::size_t>(first + i)];
}

/// A convolution with a norm over channels in front of it or behind it: (B, H, W, channels) -> (B, H, W, width).
constexpr value embed_stage(const site& here, trace& t, std::int64_t i, const value& x) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = i == 0 ? own[in_channels] : of_stage(own, widths, i - 1), width = of_stage(own, widths, i);
    const std::int64_t kernel = of_stage(own, kernels, i);
    const bool before = (own[normed_first] >> i & 1) != 0;
    const module_info stage{.name = "convs", .index = i, .type = here.type("VisionConvEmbed"), .what = role::embedding};
    t.enter(stage);
    value h = before ? t.call("norm", norm<norm_kind::layer>{in}, x) : x;
    h = t.call("conv", convolution_2d{in, width, kernel, 1, kernel / 2}, h.permute({0, 3, 1, 2})).permute({0, 2, 3, 1});
    return t.leave(stage, before ? h : t.call("norm", norm<norm_kind::layer>{width}, h));
}

/// A depthwise convolution beside its input.
constexpr value convolve(trace& t, literal name, const value& x) {
    const std::int64_t width = x.dim(3);
    const value h = t.call(name, convolution_2d{width, width, 3, 1, 1, width}, x.permute({0, 3, 1, 2}));
    return t.add(h.permute({0, 2, 3, 1}), x);
}

/// Attention of patches in windows, or of channels in groups, and two projections.
constexpr value describe_block(const site& here, trace& t, literal name, bool channels, bool dropped, std::int64_t i,
                               value x) {
    const std::int64_t width = x.dim(3), inner = of_stage(here.dims.own, inners, i), n = x.dim(1) * x.dim(2);
    const module_info block{.name = name, .type = here.type(channels ? "VisionChannelBlock" : "VisionSpatialBlock")};
    const module_info attention{.name = channels ? "channel_attn" : "window_attn",
                                .type = here.type(channels ? "VisionChannelAttention" : "VisionWindowAttention"),
                                .what = role::attn};
    const module_info path{.name = "", .type = dropped ? here.type("DropPath") : class_name{"", "Identity"}, .leaf = true};
    const auto pass = [&](literal called, const value& v) {
        module_info one = path;
        one.name = called;
        t.enter(one);
        return t.leave(one, v);
    };
    const norm<norm_kind::layer> layer_norm{width};
    t.enter(block);
    x = convolve(t, "conv1", x);
    const value h = t.call("norm1", layer_norm, x);
    t.enter(attention);
    const value all = t.call("qkv", linear{width, 3 * width, here.dims.own[qkv_bias] != 0}, h);
    const value part = t.slice(t.reshape(all, {x.dim(0), n, 3 * width}), -1, width);
    const value seen =
        channels ? t.softmax(t.matmul(part.transpose(1, 2), part)) : t.softmax(t.matmul(part, part.transpose(1, 2)));
    const value mixed = channels ? t.matmul(part, seen.transpose(1, 2)) : t.matmul(seen, part);
    const value out = t.leave(attention, t.call("proj", linear{width, width, true}, mixed));
    x = t.add(x, pass("drop_path1", t.reshape(out, {x.dim(0), x.dim(1), x.dim(2), width})));
    x = convolve(t, "conv2", x);
    const mlp<mlp_kind::plain> feed{width,
                                    inner,
                                    here.dims.hidden_act,
                                    here.type("VisionMLP"),
                                    true,
                                    {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
    const value fed = pass("drop_path2", t.call("ffn", feed, t.call("norm2", layer_norm, x)));
    return t.leave(block, t.add(x, fed));
}

/// DaViT: stages of convolutions and blocks, here without windows and strides.
constexpr value tower_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    constexpr std::int64_t side = 4;
    value x = t.input({t.load().batch, side, side, own[in_channels]});
    bool first = true;
    for (std::int64_t i = 0; i < own[stages]; ++i) {
        x = embed_stage(here, t, i, x);
        const module_info blocks{.name = "blocks", .index = i, .type = {"", "ModuleList"}};
        t.enter(blocks);
        for (std::int64_t n = 0; n < of_stage(own, depths, i); ++n) {
            const module_info both{.name = numbers[n], .type = here.type("VisionBlock")};
            t.enter(both);
            const bool drop = own[drops] != 0;
            x = describe_block(here, t, "spatial_block", false, drop && !first, i, x);
            x = t.leave(both, describe_block(here, t, "channel_block", true, drop, i, x));
            first = false;
        }
        t.leave(blocks);
    }
    return x;
}

/// A list with one entry per stage.
constexpr void read_stages(config_view config, sizes& s, literal key, tower_own into) {
    const auto list = config.optional_array(key);
    if (!list) return;
    if (static_cast<std::int64_t>(list->size()) != s.own[stages]) fail_value(config, key, "a list with one entry per stage");
    for (std::uint32_t i = 0; i < list->size(); ++i) s.own[into + i] = (*list)[i].as_positive();
}

constexpr void read_tower(config_view config, sizes& s) {
    const auto list = config.optional_array("embed_dim");
    if (list) {
        if (list->size() < 1 || list->size() > most_stages)
            fail_unsupported(config, "embed_dim", "no row describes more than 4 stages");
        s.own[stages] = static_cast<std::int64_t>(list->size());
    }
    read_stages(config, s, "embed_dim", widths), read_stages(config, s, "depths", depths);
    read_stages(config, s, "patch_size", kernels);
    if (s.own[stages] != most_stages)
        for (const literal key : {"depths", "patch_size", "patch_prenorm"})
            if (!config.optional_array(key)) fail_missing(config, key, "a list with one entry per stage");
    for (std::int64_t i = 0; i < s.own[stages]; ++i) {
        const auto at = static_cast<std::size_t>(i);
        s.hidden_size = s.own[widths + at];
        s.own[inners + at] = read_inner(config, s, "", "mlp_ratio", 4.0);
        if (s.own[depths + at] > most_blocks)
            fail_unsupported(config, "depths", "no row names more than 24 blocks of a stage");
    }
    if (const auto flags = config.optional_array("patch_prenorm")) {
        if (static_cast<std::int64_t>(flags->size()) != s.own[stages])
            fail_value(config, "patch_prenorm", "a list with one entry per stage");
        s.own[normed_first] = 0;
        for (std::uint32_t i = 0; i < flags->size(); ++i)
            if ((*flags)[i].as_boolean()) s.own[normed_first] |= std::int64_t{1} << i;
    }
    s.own[drops] = config.real("drop_path_rate", 0.1) > 0;
}

inline constexpr architecture tower = [](architecture a) {
    a.prefix = "Florence2", a.base = tower_base, a.read = read_tower, a.own = tower_keys, a.heads = {};
    a.names.model_type = "VisionBackbone", a.defaults.num_hidden_layers = 1, a.defaults.hidden_act = activation::gelu;
    for (int i = 0; i < 3; ++i) a.keys[3 + i] = {};
    a.keys[3] = {"hidden_act", "activation_function", key_rule::written_only};
    a.keys[4] = {"hidden_size", "", key_rule::absent}, a.keys[5] = {"num_attention_heads", "", key_rule::absent};
    return a;
}(shared_tower);

/// Features projected to a width of the tower's own, normed, with learned rows and columns.
struct feature_projector {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.whole.beside[0].dims.own;
        const std::int64_t width = x.dim(3), rows = x.dim(1);
        const module_info places{.name = "image_position_embed",
                                 .type = here.type("VisionLearnedAbsolutePositionEmbedding2D"),
                                 .what = role::embedding};
        t.enter(places);
        const value row = t.call("row_embeddings", embedding{own[positions], width / 2}, extents{rows});
        const value column = t.call("column_embeddings", embedding{own[positions], width - width / 2}, extents{rows});
        const value all = t.cat(
            {row.unsqueeze(0).expand({rows, rows, width / 2}), column.unsqueeze(1).expand({rows, rows, width - width / 2})},
            -1);
        const value h = t.add(x, t.leave(places, all).unsqueeze(0));
        const module_info frames{
            .name = "visual_temporal_embed", .type = here.type("VisionPositionalEmbeddingCosine1D"), .leaf = true};
        t.enter(frames), t.leave(frames);
        const value projected = t.call("image_projection", linear{width, own[projection_width]}, h);
        return t.call("image_proj_norm", norm<norm_kind::layer>{own[projection_width]}, projected);
    }
};

enum own : std::uint8_t { text_ties };
inline constexpr own_key keys[]{{.otherwise = 1, .value = own_value::computed}};

/// BART's encoder over words that the model in front of it looks up, in the table that both stacks may share.
constexpr value encode_words(const site& text, trace& t) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = text.dims.hidden_size;
    const stack_style& style = bart_detail::style;
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const embedding words{text.dims.vocab_size, width, true, words_type(text, style)};
    value x = t.call("shared", words, extents{load.batch, length});
    const module_info encoder{.name = "encoder", .type = text.type("Encoder"), .what = role::encoder};
    t.enter(encoder);
    {
        const recorder::idle_guard looked_up{t};
        (void)words_of_stack(text, t, style, text.dims.vocab_size, length, shares_words(text, style));
    }
    x = stack_norm(t, style.norm_embedding, t.add(x, style.positions(text, t, length, false)));
    const shared_values made;
    const stack_sizes stack = encoder_stack_of(text);
    for (repetition layer = t.repeat(text.dims.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{text.at(layer, made), style, stack, nullptr}, x);
    t.leave(encoder);
    return encoder_is_done(load) ? t.input({load.batch, length, width}) : x;
}

constexpr value describe_text_stacks(const site& text, trace& t) {
    const value encoded = encode_words(text, t);
    return describe_decoder_module(text, t, bart_detail::style, &encoded, text.dims.vocab_size);
}

inline constexpr architecture text = [](architecture a) {
    a.base = describe_text_stacks;
    return a;
}(bart);

/// The tower in front of both stacks, whose tables are tied as the text's own configuration says.
constexpr value base(const site& here, trace& t) {
    {
        const recorder::idle_guard no_pixels{t};
        (void)t.call("multi_modal_projector", feature_projector{here},
                     describe_tower(here, t, 0, "vision_tower", role::vision));
    }
    sizes inner = here.whole.dims;
    inner.tie_word_embeddings = here.whole.own[text_ties] != 0;
    const site both{here.whole, *here.whole.text, inner};
    return describe_within({.name = "language_model", .type = both.type("Model")}, both.row.base, both, t);
}

constexpr void read_whole(config_view config, model& m) {
    if (m.text != &text) fail_unsupported(config, "text_config", "no row describes another text model under this one");
    if (const auto part = config.optional_object("text_config"))
        m.own[text_ties] = part->boolean("tie_word_embeddings", true);
}

}  // namespace florence2_detail

// transformers/models/florence2: DaViT in front of BART
inline constexpr architecture florence2 = [](architecture a) {
    a.model_type = "florence2", a.prefix = "Florence2", a.base = florence2_detail::base;
    a.read_whole = florence2_detail::read_whole, a.own = florence2_detail::keys;
    a.text = {.key = "text_config", .otherwise = &florence2_detail::text};
    a.beside[0] = {.key = "vision_config", .otherwise = &florence2_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
