// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/packed.hpp>

namespace llmcost::arch {

/// Heads share the width whatever `head_dim` says; a window only for layers from `max_window_layers` on.
constexpr void read_qwen2_vl(config_view config, sizes& s) {
    const std::int64_t given = s.head_dim;
    plan_qwen_window(config, s, 80);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.head_dim != given) fail_value(config, "head_dim", "hidden_size / num_attention_heads, or no such key");
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
    s.attention_bias = true;
    s.output_bias = false;
}

namespace qwen2_vl_detail {

enum own : std::uint8_t { patch, frames, channels, merge, width, mlp_ratio, window };
inline constexpr own_key keys[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3},
    {"spatial_merge_size", 2}, {"embed_dim", 1280},        {"mlp_ratio", 4},
};
// 2.5: as wide as `hidden_size`, onto `out_hidden_size`
inline constexpr own_key keys_2_5[]{
    {"patch_size", 14},        {"temporal_patch_size", 2},     {"in_channels", 3},   {"spatial_merge_size", 2},
    {"out_hidden_size", 3584}, {.value = own_value::computed}, {"window_size", 112},
};
constexpr std::uint8_t out_width = width;

inline constexpr own_key bound_keys[]{
    {.otherwise = 56 * 56, .value = own_value::computed},
    {.otherwise = 28 * 28 * 1280, .value = own_value::computed},
    {.value = own_value::computed},  // frames that are small are fed as they are
    {.otherwise = 28 * 28 * 768, .value = own_value::computed},
};

/// The grid of patches of all pictures that a tower is shown: images, or frames of a video in pairs.
[[nodiscard]] constexpr packed_pictures grid_of(const site& here, const trace& t) {
    const workload& load = t.load();
    const std::int64_t side = here.dims.own[patch];
    if (load.image_height == 0) return {1, here.dims.own[merge], here.dims.own[merge]};  // a tower that is declared only
    return {load.batch, load.image_height / side, load.image_width / side};
}

/// `nn.Conv3d` over patches that lie in rows: (S, channels · frames · side²) -> (S, width).
struct patch_embed {
    site here;
    class_name named;
    std::int64_t out;
    bool bias = false;

    static constexpr role what = role::embedding;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& pixels) const {
        const own_sizes& own = here.dims.own;
        const extents kernel{own[frames], own[patch], own[patch]};
        const value patches = pixels.view({-1, own[channels], own[frames], own[patch], own[patch]});
        return t.call("proj", convolution_3d{own[channels], out, kernel, kernel, bias}, patches).view({-1, out});
    }
};

/// Several patches as one: a norm, two layers with an activation; (S, in) -> (S / many, out).
struct patch_merger {
    class_name named;
    std::int64_t in;
    std::int64_t many;
    std::int64_t out;
    const char* norm_type;  ///< empty: `nn.LayerNorm`

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return named; }
    constexpr value describe(trace& t, const value& x) const {
        const value normed = is_empty(norm_type) ? t.call("ln_q", norm<norm_kind::layer>{in}, x)
                                                 : t.call("ln_q", norm<norm_kind::rms>{in, {"", norm_type}}, x);
        const module_info layers{.name = "mlp", .type = {"", "Sequential"}};
        t.enter(layers);
        value h = t.call("0", linear{many * in, many * in, true}, normed.view({-1, many * in}));
        h = t.call("1", gelu_module{}, h);
        return t.leave(layers, t.call("2", linear{many * in, out, true}, h));
    }
};

/// Patches that a processor hands on, in rows of channels · frames · side² values.
constexpr value patches_in(const site& here, trace& t, const packed_pictures& pictures) {
    const own_sizes& own = here.dims.own;
    return t.input({pictures.patches(), own[channels] * own[frames] * own[patch] * own[patch]});
}

/// A block: norm, attention, residual; norm, feed-forward, residual.
struct tower_block {
    site here;
    const packed_context& made;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {"Qwen2VL", "VisionBlock"}; }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t in = here.dims.own[width];
        const norm<norm_kind::layer> layer_norm{in};
        const packed_attention attention{
            {"", "VisionAttention"}, here.dims.num_attention_heads, made, made.pictures.whole()};
        const value middle = t.add(x, t.call("attn", attention, t.call("norm1", layer_norm, x)));
        const mlp<mlp_kind::plain> feed{in,
                                        in * here.dims.own[mlp_ratio],
                                        here.dims.hidden_act,
                                        {"", "VisionMlp"},
                                        true,
                                        {.up = "fc1", .down = "fc2", .act = "act"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", layer_norm, middle)));
    }
};

/// Patches of several frames, layers with rotary positions, a merger.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = own[width];
    packed_context made{.pictures = grid_of(here, t)};
    value x = t.call("patch_embed", patch_embed{here, {"", "PatchEmbed"}, in}, patches_in(here, t, made.pictures));
    const packed_table table{in / here.dims.num_attention_heads, {"Qwen2VL", "VisionRotaryEmbedding"}};
    const two_values turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first, made.sin = turns.second;
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"blocks", each.index()}, tower_block{here, made}, x);
    const patch_merger merger{{"", "PatchMerger"}, in, own[merge] * own[merge], here.dims.hidden_size, ""};
    return t.call("merger", merger, x);
}

/// What a layer's kind says of itself: it attends within windows.
constexpr std::uint8_t within_windows = 1;

/// The same with RMS norms and gated feed-forward blocks, most of them with attention within windows; `attention` makes that
/// of a place, what was made for all and its runs.
template <class Attention>
struct windowed_block {
    site here;
    const packed_context& made;
    literal prefix;
    const Attention& attention;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return {prefix, "VisionBlock"}; }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t in = here.dims.hidden_size;
        const norm<norm_kind::rms> rms_norm{in, {prefix, "RMSNorm"}};
        const bool all = here.kind.own != within_windows;
        const packed_runs runs =
            all ? made.pictures.whole() : made.pictures.windows(own[merge], own[window] / own[merge] / own[patch]);
        const value middle = t.add(x, t.call("attn", attention(here, made, runs), t.call("norm1", rms_norm, x)));
        const mlp<mlp_kind::gated> feed{
            in, here.dims.intermediate_size, here.dims.hidden_act, {prefix, "MLP"}, true, {.act = "act_fn"}};
        return t.add(middle, t.call("mlp", feed, t.call("norm2", rms_norm, middle)));
    }
};

/// What such a tower calls its parts.
struct window_names {
    class_name embed;
    literal prefix;
    const char* norm;
};

/// Patches of several frames in the order of their windows, layers, a merger, and back to their own order.
template <class Attention>
constexpr value see_in_windows(const site& here, trace& t, const window_names& names, std::int64_t head_dim,
                               const Attention& attention) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, unit = own[merge] * own[merge];
    packed_context made{.pictures = grid_of(here, t)};
    const std::int64_t rows = made.pictures.patches();
    const auto ordered = [&](const value& x) {
        return t.gather(x.view({rows / unit, unit, -1}), {rows / unit, unit, x.dim(-1)}).view({rows, -1});
    };
    value x = ordered(t.call("patch_embed", patch_embed{here, names.embed, in}, patches_in(here, t, made.pictures)));
    const packed_table table{head_dim, {names.prefix, "VisionRotaryEmbedding"}};
    const two_values turns = t.call("rotary_pos_emb", table, rows);
    made.cos = ordered(turns.first), made.sin = ordered(turns.second);
    const shared_values none{};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, here.dims.layers, x); each.next();)
        x = t.call({"blocks", each.index()}, windowed_block<Attention>{here.at(each, none), made, names.prefix, attention},
                   x);
    const patch_merger merger{{names.prefix, "PatchMerger"}, in, unit, own[out_width], names.norm};
    const value merged = t.call("merger", merger, x);
    return t.gather(merged, {merged.dim(0), merged.dim(1)});
}
constexpr value see_2_5(const site& here, trace& t) {
    constexpr window_names names{{"Qwen2_5_", "VisionPatchEmbed"}, "Qwen2_5_VL", "Qwen2_5_VLRMSNorm"};
    return see_in_windows(
        here, t, names, here.dims.hidden_size / here.dims.num_attention_heads,
        [](const site& at, const packed_context& made, const packed_runs& runs) {
            return packed_attention{{"Qwen2_5_VL", "VisionAttention"}, at.dims.num_attention_heads, made, runs};
        });
}

/// Layers of a tower: those that `fullatt_block_indexes` names attend to the whole picture.
constexpr void read_tower_2_5(config_view config, sizes& s) {
    const auto whole = config.find("fullatt_block_indexes");
    const auto is_whole = [&](std::int64_t layer) {
        if (!whole || whole->is_null()) return layer % 8 == 7 && layer < 32;
        for (const config_view each : *whole)
            if (each.as_non_negative() == layer) return true;
        return false;
    };
    for (std::int64_t i = 0; i < s.num_hidden_layers; ++i)
        (void)s.layers.set(i, {.own = is_whole(i) ? std::uint8_t{0} : within_windows});
    if (s.own[window] < s.own[merge] * s.own[patch])
        fail_value(config, "window_size", "at least spatial_merge_size * patch_size");
}

/// Bounds of an image's pixels, of patches as the tower has them.
constexpr void read_processor(config_view told, model& m) {
    const own_sizes& tower = m.beside[0].dims.own;
    expect_patches(told, tower[patch], tower[merge]);
    read_bounds_of_pixels(told, m.own, least_pixels, most_pixels);
}

/// The same where `min_pixels` and `max_pixels` are read by nobody.
constexpr void read_size_alone(config_view told, model& m) {
    const own_sizes& tower = m.beside[0].dims.own;
    expect_patches(told, tower[patch], tower[merge]);
    read_size_bounds(told, m.own, least_pixels, most_pixels);
}

/// For what bounds of pixels hold.
struct bounds_rule {
    bool all_frames = false;  ///< of a video: for its frames together
    bool of_pairs = false;    ///< of an image, too, which is a video of one pair
};

/// What a processor makes of images and videos: sides that are multiples of merged patches, pixels within bounds.
constexpr media_shapes show_within(const model& m, const workload& load, bounds_rule rule) {
    const own_sizes& tower = m.beside[0].dims.own;
    const std::int64_t factor = tower[patch] * tower[merge], pair = tower[frames];
    const auto merged = [&](const resized& size) { return size.height / factor * (size.width / factor); };
    media_shapes out;
    if (load.images > 0) {
        if (load.image_height == 0) report_description("this model reads images of any size: say --image WIDTHxHEIGHT");
        const resize_bounds to{factor, m.own[least_pixels], m.own[most_pixels], rule.of_pairs ? pair : 1, rule.of_pairs};
        const resized size = smart_resize(load.image_height, load.image_width, to);
        out.image = {.tokens = merged(size), .height = size.height, .width = size.width};
    }
    if (load.videos > 0) {
        const std::int64_t together = rule.all_frames ? nearest_multiple(load.video_frames, pair) : 1;
        const resize_bounds to{factor, m.own[least_video_pixels], m.own[most_video_pixels], together, rule.all_frames};
        const resized size = smart_resize(load.video_height, load.video_width, to);
        const std::int64_t grids = (load.video_frames + pair - 1) / pair;
        out.video = {.tokens = grids * merged(size), .tiles = grids, .height = size.height, .width = size.width};
    }
    return out;
}
constexpr media_shapes show(const model& m, const workload& load) { return show_within(m, load, {}); }

/// Positions in time are numbers times an interval of 1.0: one for each grid (`get_vision_position_ids`).
constexpr void place_in_time(const site& here, trace& t) {
    const workload& load = t.load();
    if (!sees(t)) return;
    const recorder::no_grad_guard constants{t};
    if (load.images > 0) (void)t.mul(trace::buffer({load.batch * load.images}));
    if (load.videos > 0)
        (void)t.mul(trace::buffer({load.batch * load.videos * here.row.media(here.whole, load).video.tiles}));
}

/// What sees, which a text does not call, and what reads; 2.5 takes whole seconds, which are no floating-point numbers.
template <bool WholeSeconds>
constexpr value see_and_read(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](value words) {
        words = place_pictures(here, t, words, [&] { return describe_tower(here, t, 0, "visual", role::vision); });
        if (!WholeSeconds) place_in_time(here, t);
        return words;
    });
}

}  // namespace qwen2_vl_detail

// transformers/models/qwen2_vl: the text model alone, positions of three axes
inline constexpr architecture qwen2_vl_text = [](architecture a) {
    a.model_type = "qwen2_vl_text", a.prefix = "Qwen2VL", a.read = read_qwen2_vl, a.heads = {head_kind::none};
    a.axes = rotary_axes::sections, a.names.model_type = "TextModel", a.names.mlp_prefix = "Qwen2";
    a.defaults.vocab_size = 152064, a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 29568;
    a.defaults.num_hidden_layers = 80, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.head = head_kind::none;
    return a;
}(qwen2);

// transformers/models/qwen2_5_vl: the same text model
inline constexpr architecture qwen2_5_vl_text = [](architecture a) {
    a.model_type = "qwen2_5_vl_text", a.prefix = "Qwen2_5_VL";
    return a;
}(qwen2_vl_text);

// transformers/models/qwen2_vl, Qwen2VLVisionConfig: `hidden_size` is the text model's
inline constexpr architecture qwen2_vl_vision{
    .model_type = "qwen2_vl_vision",
    .prefix = "Qwen2",
    .base = qwen2_vl_detail::see,
    .own = qwen2_vl_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionTransformerPretrainedModel"},
    .keys = {{"num_hidden_layers", "depth", key_rule::standard_first},
             {"num_attention_heads", "num_heads", key_rule::standard_first}},
    .defaults = {.hidden_size = 3584,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 16,
                 .hidden_act = activation::quick_gelu},
};
inline constexpr architecture qwen2_5_vl_vision = [](architecture a) {
    a.model_type = "qwen2_5_vl_vision", a.prefix = "Qwen2_5_", a.base = qwen2_vl_detail::see_2_5;
    a.own = qwen2_vl_detail::keys_2_5, a.read = qwen2_vl_detail::read_tower_2_5;
    a.kinds.own = qwen2_vl_detail::within_windows;
    a.defaults.intermediate_size = 3420, a.defaults.hidden_act = activation::silu;
    return a;
}(qwen2_vl_vision);

// transformers/models/qwen2_vl: the text model's keys stand at the root in older files
inline constexpr architecture qwen2_vl = [](architecture a) {
    a.model_type = "qwen2_vl", a.prefix = "Qwen2VL", a.base = qwen2_vl_detail::see_and_read<false>;
    a.media = qwen2_vl_detail::show, a.read_processor = qwen2_vl_detail::read_processor;
    a.reads.images = a.reads.videos = true, a.own = qwen2_vl_detail::bound_keys;
    a.text = {.key = "text_config", .otherwise = &qwen2_vl_text, .always = true, .ties = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &qwen2_vl_vision, .always = true};
    return a;
}(shared_composite);

// transformers/models/qwen2_5_vl
inline constexpr architecture qwen2_5_vl = [](architecture a) {
    a.model_type = "qwen2_5_vl", a.prefix = "Qwen2_5_VL";
    a.base = qwen2_vl_detail::see_and_read<true>;
    a.text.otherwise = &qwen2_5_vl_text, a.beside[0].otherwise = &qwen2_5_vl_vision;
    return a;
}(qwen2_vl);

}  // namespace llmcost::arch
