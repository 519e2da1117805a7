// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace radio_detail {

enum own : std::uint8_t { largest, summaries, registers, frames, swiglu, biased, drops, picked };
inline constexpr own_key keys[]{
    {"max_img_size", 2048},
    {"num_cls_tokens", 3, own_value::non_negative},
    {"num_registers", 7, own_value::non_negative},
    {"video_temporal_patch_size", 0, own_value::non_negative},  // 0: no videos
    {"use_swiglu_ffn", 0, own_value::boolean},
    {"qkv_bias", 1, own_value::boolean},
    {.value = own_value::computed},                  // whether blocks may be dropped in training
    {.otherwise = 2, .value = own_value::computed},  // summaries that are handed out
};
inline constexpr own_key keys_of_pairs[]{keys[0], keys[1], keys[2], {"video_temporal_patch_size", 2}, keys[4], keys[5],
                                         keys[6], keys[7]};

/// Attention within each image; probabilities of several images are laid out in one tensor besides, which nobody reads.
constexpr value attend(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(1), width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const std::int64_t d = here.dims.head_dim, images = t.load().batch, length = n / images;
    const bool bias = here.dims.own[biased] != 0;
    const auto split = [&](literal name) {
        return t.call(name, linear{width, heads * d, bias}, x).view({1, n, heads, d}).transpose(1, 2);
    };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const context all{.sequence = length, .causal = false};
    value found = trace::buffer({1});
    found.type = x.type;
    for (repetition each = t.steps(images, found); each.next();)
        found = eager_attention(t, q.slice(2, length), k.slice(2, length), v.slice(2, length), all, {.float_softmax = false});
    if (images > 1) {
        found = t.cat({side_by_side(found, 1, images)}, 1);
        (void)t.constant({1, heads, n, n}, x.type);
    }
    const value joined = t.contiguous(t.reshape(found, {1, n, heads * d}));
    return t.call("o_proj", linear{heads * d, width, true}, joined);
}

struct layer_scale {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("LayerScale"); }
    constexpr value describe(trace& t, const value& x) const {
        return t.mul(x, t.param("lambda1", {here.dims.hidden_size}));
    }
};

/// Norm, attention, scale, residual; norm, feed-forward, scale, residual; one module drops in both.
struct layer {
    site here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const norm<norm_kind::layer> layer_norm{here.dims.hidden_size};
        const drop_path_module dropped{here.row.prefix, here.dims.own[drops] != 0};
        value h = t.call("attention", attention_module{here}, t.call("norm1", layer_norm, x));
        const value middle = t.add(t.call("drop_path", dropped, t.call("layer_scale1", layer_scale{here}, h)), x);
        h = t.call("layer_scale2", layer_scale{here}, feed(t, t.call("norm2", layer_norm, middle)));
        const recorder::called_again_guard again{t};
        return t.add(t.call("drop_path", dropped, h), middle);
    }
    constexpr value feed(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, inner = here.dims.intermediate_size;
        if (here.dims.own[swiglu] != 0) {
            const std::int64_t kept = (static_cast<std::int64_t>(static_cast<double>(inner * 2) / 3.0) + 7) / 8 * 8;
            return t.call("mlp", mlp<mlp_kind::gated>{width, kept, activation::silu, here.type("SwiGLUFFN"), true}, x);
        }
        const mlp_names names{.up = "fc1", .down = "fc2", .act = "activation_fn"};
        return t.call("mlp", mlp<mlp_kind::plain>{width, inner, here.dims.hidden_act, here.type("MLP"), true, names}, x);
    }
};

/// Places of one image: a square as long as its longer side is resampled, and cut.
constexpr value places_of_image(const site& here, trace& t, const value& table, std::int64_t rows, std::int64_t columns) {
    const std::int64_t side = here.dims.own[largest] / here.dims.vision.patch_size, width = here.dims.hidden_size;
    const std::int64_t longer = rows > columns ? rows : columns;
    const value square = t.to(table.view({1, side, side, width}).permute({0, 3, 1, 2}), dtype::float32);
    const value resized = t.to(t.bilinear(square, longer, longer), table.type);
    return t.reshape(resized.slice(2, rows).slice(3, columns), {width, rows * columns}).transpose(0, 1);
}

/// Patches of all images in one row, summaries and registers in front of each image's: (1, length of all, width).
constexpr value embed(const site& here, trace& t, const packed_pictures& grid) {
    const vision_sizes& image = here.dims.vision;
    const own_sizes& own = here.dims.own;
    const std::int64_t width = here.dims.hidden_size, ahead = own[summaries] + own[registers];
    const std::int64_t values = image.num_channels * image.patch_size * image.patch_size, side = own[largest] / image.patch_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("PatchEmbeddings"), .what = role::embedding};
    const value pixels = t.call("input_conditioner", identity{"Identity"},
                                t.input({grid.patches(), image.num_channels, image.patch_size, image.patch_size}));
    t.enter(embeddings);
    const value table = t.param("position_embedding", {1, side * side, width});
    const value prefix = t.param("cls_register_token", {ahead, width});
    const value patches = t.call("patch_projection", linear{values, width}, pixels.view({-1, values}));
    if (own[frames] != 0) {
        const recorder::idle_guard no_videos{t};
        (void)t.call("video_patch_projection", linear{own[frames] * values, width}, trace::buffer({1, own[frames] * values}));
    }
    const value own_patches = patches.slice(0, grid.rows * grid.columns);
    value placed = trace::buffer({1});
    placed.type = patches.type;
    for (repetition each = t.steps(grid.frames, placed); each.next();)
        placed = t.add(own_patches, places_of_image(here, t, table, grid.rows, grid.columns));
    const value joined = t.cat({side_by_side(prefix, 0, grid.frames), side_by_side(placed, 0, grid.frames)}, 0);
    return t.leave(embeddings, joined.unsqueeze(0));
}

/// What stands for patches of all images: (patches, width).
constexpr value base(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const packed_pictures grid = packed_images(t.load(), here.dims.vision.patch_size);
    value x = embed(here, t, grid);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    const shared_values none{};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here.at(each, none)}, x);
    t.leave(encoder);
    const value row = x.squeeze(0);
    {
        const recorder::off_loss_guard unread{t};
        (void)t.gather(row, {grid.frames, own[picked], here.dims.hidden_size});
    }
    return t.gather(row, {grid.patches(), here.dims.hidden_size});
}

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 224, 16);
    share_among_heads(config, s, {"num_attention_heads"});
    s.intermediate_size = read_inner(config, s, "", "mlp_ratio", 4.0);
    s.own[drops] = config.real("drop_path_rate", 0.0) > 0;
    if (s.own[largest] < s.vision.patch_size) fail_value(config, "max_img_size", "at least patch_size");
    (void)checked_product(s.own[largest] / s.vision.patch_size, s.own[largest] / s.vision.patch_size);
    if (const auto listed = config.optional_array("summary_idxs")) s.own[picked] = static_cast<std::int64_t>(listed->size());
}

}  // namespace radio_detail

// transformers/models/radio: patches of images of any shape behind summaries and registers, which stands in other models
inline constexpr architecture radio = [](architecture a) {
    a.model_type = "radio", a.prefix = "Radio", a.base = radio_detail::base, a.read = radio_detail::read, a.heads = {};
    a.own = radio_detail::keys, a.attend = radio_detail::attend, a.names.model_type = "Model";
    a.keys[3] = {"intermediate_size", "", key_rule::absent};
    a.defaults.hidden_size = 1280, a.defaults.intermediate_size = 0, a.defaults.num_hidden_layers = 32;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

}  // namespace llmcost::arch
