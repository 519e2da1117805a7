// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/bart.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/media.hpp>
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
    shapes = depths + most_stages,
    normed_first = shapes + most_stages,
    in_channels,
    qkv_bias,
    projection_width,
    positions,
    drops,
    window
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
    {.value = own_value::computed},  // kernel, stride and padding of 10 bits, heads and groups of 16
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.otherwise = 0b1110, .value = own_value::computed},  // `patch_prenorm`, bit by bit
    {"in_channels", 3},
    {"qkv_bias", 1, own_value::boolean},
    {"projection_dim", 1024},
    {"max_position_embeddings", 50},
    {.value = own_value::computed},  // whether paths are dropped in training: modules that do nothing here
    {"window_size", 12},
};

constexpr std::int64_t of_stage(const own_sizes& own, tower_own first, std::int64_t i) {
    return own[static_cast<std::size_t>(first + i)];
}

/// What shrinks images in front of a stage, and how its blocks attend.
struct stage_shape {
    std::int64_t kernel, stride, padding, heads, groups;

    [[nodiscard]] constexpr std::int64_t word() const noexcept {
        return (((kernel << 10 | stride) << 10 | padding) << 16 | heads) << 16 | groups;
    }
    [[nodiscard]] static constexpr stage_shape of(const own_sizes& own, std::int64_t i) {
        const std::int64_t w = of_stage(own, shapes, i), ten = 0x3ff, half = 0xffff;
        return {w >> 52 & ten, w >> 42 & ten, w >> 32 & ten, w >> 16 & half, w & half};
    }
    /// Places along a side that its convolution leaves.
    [[nodiscard]] constexpr std::int64_t left_of(std::int64_t side) const {
        if (side + 2 * padding < kernel) report_description("nothing is left of the images");
        return (side + 2 * padding - kernel) / stride + 1;
    }
};

/// A convolution with a norm over channels in front of it or behind it: (B, channels, H, W) -> (B, width, H', W').
constexpr value embed_stage(const site& here, trace& t, std::int64_t i, const value& x) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = x.dim(1), width = of_stage(own, widths, i);
    const stage_shape shape = stage_shape::of(own, i);
    const bool before = (own[normed_first] >> i & 1) != 0;
    const module_info stage{.name = "convs", .index = i, .type = here.type("VisionConvEmbed"), .what = role::embedding};
    const auto normed = [&](const value& image) {
        const norm<norm_kind::layer> over_channels{image.dim(1)};
        return t.call("norm", over_channels, image.permute({0, 2, 3, 1})).permute({0, 3, 1, 2});
    };
    t.enter(stage);
    const convolution_2d shrinks{in, width, shape.kernel, shape.stride, shape.padding};
    const value h = t.call("conv", shrinks, before ? normed(x) : x);
    return t.leave(stage, before ? h : normed(h));
}

/// Attention of patches in windows: (B, H, W, width) -> (B, H · W, width).
constexpr value attend_in_windows(const site& here, trace& t, std::int64_t heads, const value& x) {
    const std::int64_t batch = x.dim(0), rows = x.dim(1), columns = x.dim(2), width = x.dim(3), side = here.dims.own[window];
    const std::int64_t below = (side - rows % side) % side, right = (side - columns % side) % side;
    const std::int64_t down = (rows + below) / side, across = (columns + right) / side, places = side * side;
    value h = t.pad(x, 1, below, right).view({batch, down, side, across, side, width});
    h = t.contiguous(h.permute({0, 1, 3, 2, 4, 5})).view({batch * down * across, places, width});
    const value all = t.call("qkv", linear{width, 3 * width, here.dims.own[qkv_bias] != 0}, h);
    const value part = t.reshape(all, {h.dim(0), places, 3, heads, width / heads}).permute({2, 0, 3, 1, 4}).select(0);
    h = eager_attention(t, part, part, part, all_positions(places).where, {.float_softmax = false});
    h = t.call("proj", linear{width, width, true}, h.view({h.dim(0), places, width}));
    h = t.contiguous(h.view({batch, down, across, side, side, width}).permute({0, 1, 3, 2, 4, 5}));
    h = h.view({batch, rows + below, columns + right, width});
    if (below > 0) h = t.slice(h, 1, rows);
    if (right > 0) h = t.slice(h, 2, columns);
    return t.contiguous(h).view({batch, rows * columns, width});
}

/// Attention of channels in groups: (B, H · W, width) -> the same.
constexpr value attend_in_groups(const site& here, trace& t, std::int64_t groups, const value& x) {
    const std::int64_t batch = x.dim(0), places = x.dim(1), width = x.dim(2), d = width / groups;
    const value all = t.call("qkv", linear{width, 3 * width, here.dims.own[qkv_bias] != 0}, x);
    const value part = t.reshape(all, {batch, places, 3, groups, d}).permute({2, 0, 3, 4, 1}).select(0);
    const value h = eager_attention(t, part, part, part, all_positions(d).where, {.float_softmax = false});
    return t.call("proj", linear{width, width, true}, t.reshape(h.permute({0, 3, 2, 1}), {batch, places, width}));
}

/// Attention of patches in windows, or of channels in groups, and two projections.
constexpr value describe_block(const site& here, trace& t, literal name, bool channels, bool dropped, std::int64_t i,
                               value x) {
    const std::int64_t width = x.dim(1), rows = x.dim(2), columns = x.dim(3), inner = of_stage(here.dims.own, inners, i);
    const stage_shape shape = stage_shape::of(here.dims.own, i);
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
    const auto convolve = [&](literal called, const value& image) {
        const value h = t.add(t.call(called, convolution_2d{width, width, 3, 1, 1, width}, image), image);
        return t.reshape(h, {h.dim(0), width, rows * columns}).transpose(1, 2);
    };
    const auto as_image = [&](const value& tokens) {
        return tokens.transpose(1, 2).view({tokens.dim(0), width, rows, columns});
    };
    const norm<norm_kind::layer> layer_norm{width};
    t.enter(block);
    x = convolve("conv1", x);
    value h = t.call("norm1", layer_norm, x);
    t.enter(attention);
    h = channels ? attend_in_groups(here, t, shape.groups, h)
                 : attend_in_windows(here, t, shape.heads, h.view({h.dim(0), rows, columns, width}));
    t.leave(attention, h);
    x = convolve("conv2", as_image(t.add(x, pass("drop_path1", h))));
    const mlp<mlp_kind::plain> feed{width,
                                    inner,
                                    here.dims.hidden_act,
                                    here.type("VisionMLP"),
                                    true,
                                    {.up = "fc1", .down = "fc2", .act = "activation_fn"}};
    const value fed = pass("drop_path2", t.call("ffn", feed, t.call("norm2", layer_norm, x)));
    return t.leave(block, as_image(t.add(x, fed)));
}

/// Every image is made a square of so many pixels; the published checkpoints' processors say so, configurations do not.
inline constexpr std::int64_t image_side = 768;
constexpr std::int64_t places_along(const own_sizes& own) {
    std::int64_t side = image_side;
    for (std::int64_t i = 0; i < own[stages]; ++i) side = stage_shape::of(own, i).left_of(side);
    return side;
}

/// Every place, and their mean in front of them, as tokens of the encoder.
constexpr media_shapes show(const model& m, const workload&) {
    const own_sizes& own = m.beside[0].dims.own;
    const std::int64_t side = places_along(own);
    if (side > own[positions]) report_description("images have more patches along a side than there are positions");
    return {.image = {.tokens = side * side + 1, .height = image_side, .width = image_side}};
}

constexpr void read_processor(config_view told, model& m) {
    const std::int64_t side = places_along(m.beside[0].dims.own);
    expect_resized(told), expect_picture(told, image_side);
    expect_side(told, "image_seq_length", side * side + 1, "the number of places and one more");
}

/// DaViT: stages of convolutions and blocks.
constexpr value tower_base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    value x = t.input({t.load().batch, own[in_channels], image_side, image_side});
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
    if (s.own[stages] != most_stages)
        for (const literal key :
             {"depths", "patch_size", "patch_prenorm", "patch_stride", "patch_padding", "num_heads", "num_groups"})
            if (!config.optional_array(key)) fail_missing(config, key, "a list with one entry per stage");
    const auto entry = [&](literal key, const std::int64_t(&otherwise)[most_stages], std::int64_t i, std::int64_t most,
                           std::int64_t least) {
        const auto given = config.optional_array(key);
        if (!given) return otherwise[i];
        if (static_cast<std::int64_t>(given->size()) != s.own[stages])
            fail_value(config, key, "a list with one entry per stage");
        const std::int64_t n = (*given)[static_cast<std::size_t>(i)].as_non_negative();
        if (n < least || n > most) fail_value(config, key, "numbers in the range that a row describes");
        return n;
    };
    for (std::int64_t i = 0; i < s.own[stages]; ++i) {
        constexpr std::int64_t sizes_of[]{7, 3, 3, 3}, steps[]{4, 2, 2, 2}, around[]{3, 1, 1, 1}, parts[]{4, 8, 16, 32};
        const stage_shape shape{entry("patch_size", sizes_of, i, 0x3ff, 1), entry("patch_stride", steps, i, 0x3ff, 1),
                                entry("patch_padding", around, i, 0x3ff, 0), entry("num_heads", parts, i, 0xffff, 1),
                                entry("num_groups", parts, i, 0xffff, 1)};
        const std::int64_t width = of_stage(s.own, widths, i);
        if (width % shape.heads != 0) fail_value(config, "num_heads", "divisors of embed_dim");
        if (width % shape.groups != 0) fail_value(config, "num_groups", "divisors of embed_dim");
        s.own[static_cast<std::size_t>(shapes + i)] = shape.word();
    }
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

/// Places with learned rows and columns, behind their mean, projected to a width of the tower's own and normed.
struct feature_projector {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.whole.beside[0].dims.own;
        const std::int64_t batch = x.dim(0), width = x.dim(1), rows = x.dim(2), columns = x.dim(3), half = width / 2;
        const module_info places{.name = "image_position_embed",
                                 .type = here.type("VisionLearnedAbsolutePositionEmbedding2D"),
                                 .what = role::embedding};
        const module_info frames{
            .name = "visual_temporal_embed", .type = here.type("VisionPositionalEmbeddingCosine1D"), .leaf = true};
        t.enter(places);
        const value row = t.call("row_embeddings", embedding{own[positions], half}, extents{rows});
        const value column = t.call("column_embeddings", embedding{own[positions], width - half}, extents{columns});
        const value across = t.copy(column.unsqueeze(0).expand({rows, columns, width - half}));
        const value down = t.copy(row.unsqueeze(1).expand({rows, columns, half}));
        const value both = t.cat({across, down}, -1).permute({2, 0, 1}).unsqueeze(0);
        const value table = t.leave(places, t.copy(both.expand({batch, width, rows, columns})));
        const value tokens = t.reshape(t.add(x, table), {batch, width, rows * columns}).transpose(1, 2);
        t.enter(frames);
        const value first = t.leave(frames, trace::buffer({1, width}));
        const value all = t.add(tokens, first.unsqueeze(1)).unsqueeze(1);
        const value joined = t.cat({t.mean(all, 2), t.mean(all, 1)}, 1);
        const value projected = t.call("image_projection", linear{width, own[projection_width]}, joined);
        return t.call("image_proj_norm", norm<norm_kind::layer>{own[projection_width]}, projected);
    }
};

enum own : std::uint8_t { text_ties };
inline constexpr own_key keys[]{{.otherwise = 1, .value = own_value::computed}};

/// Words of the encoder, looked up in the table that both stacks may share.
constexpr value look_up_words(const site& text, trace& t) {
    const workload& load = t.load();
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const embedding words{text.dims.vocab_size, text.dims.hidden_size, true, words_type(text, bart_detail::style)};
    return t.call("shared", words, extents{load.batch, encoder_length(load)});
}

/// BART's encoder over words that the model in front of it looks up.
constexpr value encode_words(const site& text, trace& t, const value& words) {
    const workload& load = t.load();
    const std::int64_t length = encoder_length(load), width = text.dims.hidden_size;
    const stack_style& style = bart_detail::style;
    const recorder::idle_guard done{t, encoder_is_done(load)};
    const module_info encoder{.name = "encoder", .type = text.type("Encoder"), .what = role::encoder};
    t.enter(encoder);
    {
        const recorder::idle_guard looked_up{t};
        (void)words_of_stack(text, t, style, text.dims.vocab_size, length, shares_words(text, style));
    }
    value x = stack_norm(t, style.norm_embedding, t.add(words, style.positions(text, t, length, false)));
    const shared_values made;
    const stack_sizes stack = encoder_stack_of(text);
    for (repetition layer = t.repeat(text.dims.encoder.num_hidden_layers, x); layer.next();)
        x = t.call({"layers", layer.index()}, stack_layer{text.at(layer, made), style, stack, nullptr}, x);
    t.leave(encoder);
    return encoder_is_done(load) ? t.input({load.batch, length, width}) : x;
}

constexpr value describe_text_stacks(const site& text, trace& t) {
    const value encoded = encode_words(text, t, look_up_words(text, t));
    return describe_decoder_module(text, t, bart_detail::style, &encoded, text.dims.vocab_size);
}

inline constexpr architecture text = [](architecture a) {
    a.base = describe_text_stacks;
    return a;
}(bart);

/// The tower's features among the words of the encoder; tables are tied as the text's own configuration says.
constexpr value base(const site& here, trace& t) {
    sizes inner = here.whole.dims;
    inner.tie_word_embeddings = here.whole.own[text_ties] != 0;
    const site both{here.whole, *here.whole.text, inner};
    const module_info stacks{.name = "language_model", .type = both.type("Model")};
    t.enter(stacks);
    value words = look_up_words(both, t);
    t.leave(stacks, words);
    {
        const recorder::idle_guard no_pixels{t, !sees_images(t)};
        const recorder::workload_guard shown{t, pictures(t.load(), images_in(t), 0, 0)};
        const value seen = describe_tower(here, t, 0, "vision_tower", role::vision);
        const value features = t.call("multi_modal_projector", feature_projector{here}, seen);
        words = t.masked_scatter(words, features);
    }
    t.enter(stacks);
    const value encoded = encode_words(both, t, words);
    return t.leave(stacks, describe_decoder_module(both, t, bart_detail::style, &encoded, both.dims.vocab_size));
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
    a.media = florence2_detail::show, a.read_processor = florence2_detail::read_processor,
    a.reads.images = a.shows_encoder = true;
    a.text = {.key = "text_config", .otherwise = &florence2_detail::text};
    a.beside[0] = {.key = "vision_config", .otherwise = &florence2_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
