// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/images.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace internvl_vision_detail {

enum own : std::uint8_t { qk_norms, masks, places, mean_pooling, rms_norms, projection_drops, path_drops };
inline constexpr own_key keys[]{
    {"use_qk_norm", 0, own_value::boolean},
    {"use_mask_token", 0, own_value::boolean},
    {"use_absolute_position_embeddings", 1, own_value::boolean},
    {"use_mean_pooling", 1, own_value::boolean},  // no norm behind the layers
    {.value = own_value::computed},
    {.value = own_value::computed},
    {.value = own_value::computed},  // drops a block of some images in training, from the second layer on
};
inline constexpr dropout_key dropout_rates[]{{dropout_of::hidden, "hidden_dropout_prob"},
                                             {dropout_of::attention, "attention_dropout"}};

constexpr value norm_by_kind(const site& here, trace& t, literal name, const value& x) {
    const bool rms = here.dims.own[rms_norms] != 0;
    return call_norm(t, name, rms ? norm_kind::rms : norm_kind::layer, here.dims.hidden_size, here.type("RMSNorm"), x);
}

struct attention {
    const site& here;

    static constexpr role what = role::attn;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Attention"); }
    constexpr value describe(trace& t, const value& x) const {
        const std::int64_t width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
        const auto project = [&](literal name) { return t.call(name, linear{width, width, here.dims.attention_bias}, x); };
        const auto normed = [&](literal name, const value& all) {
            if (here.dims.own[qk_norms] == 0) return t.call(name, identity{"Identity"}, all);
            return call_norm(t, name, norm_kind::rms, width, here.type("RMSNorm"), all);
        };
        const auto split = [&](const value& all) {
            return all.view({x.dim(0), x.dim(1), heads, width / heads}).transpose(1, 2);
        };
        const value q = project("q_proj"), k = project("k_proj"), v = project("v_proj");
        const value nq = normed("q_norm", q), nk = normed("k_norm", k);
        const value mixed = eager_attention(t, split(nq), split(nk), split(v), all_positions(x.dim(1)).where, {});
        const value joined = t.contiguous(t.reshape(mixed, {x.dim(0), x.dim(1), width}));
        const value out = t.call("projection_layer", linear{width, width, true}, joined);
        return t.call("projection_dropout", identity{here.dims.own[projection_drops] != 0 ? "Dropout" : "Identity"}, out);
    }
};

/// Norm, attention, norm, two projections; what each block adds is scaled by learned factors.
struct layer {
    const site& here;

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("Layer"); }
    constexpr value describe(trace& t, const value& x) const {
        const value first = t.param("lambda_1", {here.dims.hidden_size}), second = t.param("lambda_2", {here.dims.hidden_size});
        value h = t.call("attention", attention{here}, norm_by_kind(here, t, "layernorm_before", x));
        const value middle = t.add(t.mul(first, h), x);
        h = t.call("mlp", tower_layer::feed_forward_of(here), norm_by_kind(here, t, "layernorm_after", middle));
        return t.add(t.mul(second, dropout(t, "dropout", h)), middle);
    }
};

/// Learned positions, resampled to patches of an image of another size (`interpolate_pos_encoding`).
constexpr value positions_for(const site& here, trace& t, const value& table, std::int64_t rows, std::int64_t columns,
                              bool square) {
    const std::int64_t n = patches_of(here.dims.vision), width = here.dims.hidden_size;
    if (rows * columns == n && square) return table;
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) <= n) ++side;
    if (side * side != n) report_description("positions that are no square are not resampled");
    const value first = t.slice(table, 1, 1), rest = t.slice(table, 1, n);
    const value grid = rest.view({1, side, side, width}).permute({0, 3, 1, 2});
    const value resized = t.resample(op::bicubic, grid, {rows, columns}).permute({0, 2, 3, 1}).view({1, -1, width});
    return t.cat({first, resized}, 1);
}

/// Patches behind a class token, with learned positions.
constexpr value embed(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const value pixels = images_of(here, t);
    const std::int64_t width = here.dims.hidden_size;
    const std::int64_t rows = pixels.dim(2) / image.patch_size, columns = pixels.dim(3) / image.patch_size;
    const module_info embeddings{.name = "embeddings", .type = here.type("Embeddings"), .what = role::embedding};
    const module_info patches{.name = "patch_embeddings", .type = here.type("PatchEmbeddings")};
    t.enter(embeddings);
    const value token = t.param("cls_token", {1, 1, width});
    if (here.dims.own[masks] != 0) {
        const recorder::idle_guard nothing_is_masked{t};
        (void)t.param("mask_token", {1, 1, width});
    }
    const bool has_places = here.dims.own[places] != 0;
    const value table = has_places ? t.param("position_embeddings", {1, patches_of(image) + 1, width}) : value{};
    t.enter(patches);
    value x = t.leave(patches, embed_patches(here, t, "projection", true, pixels));
    x = t.cat({token.expand({pixels.dim(0), 1, width}), x}, 1);
    if (has_places) x = t.add(x, positions_for(here, t, table, rows, columns, pixels.dim(2) == pixels.dim(3)));
    return t.leave(embeddings, dropout(t, "dropout", x));
}

constexpr value finish(const site& here, trace& t, const value& x) {
    if (here.dims.own[mean_pooling] != 0) return t.call("layernorm", identity{"Identity"}, x);
    return t.call("layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
}

constexpr value base(const site& here, trace& t) {
    value x = embed(here, t);
    const module_info encoder{.name = "encoder", .type = here.type("Encoder")};
    t.enter(encoder);
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layer", each.index()}, layer{here}, x);
    return finish(here, t, t.leave(encoder, x));
}

constexpr void read(config_view config, sizes& s) {
    const auto side = [&](literal key, std::int64_t otherwise, std::uint32_t which) {
        const auto found = config.find(key);
        if (!found || found->is_null()) return otherwise;
        if (!found->is_array()) return found->as_positive();
        if (found->size() != 2) fail_value(config, key, "a size or a pair of sizes");
        return (*found)[which].as_positive();
    };
    s.vision = {side("image_size", 448, 0), side("image_size", 448, 1), side("patch_size", 14, 0),
                config.positive("num_channels", 3)};
    if (side("patch_size", 14, 1) != s.vision.patch_size)
        fail_unsupported(config, "patch_size", "no row describes oblong patches");
    if (s.vision.image_height < s.vision.patch_size || s.vision.image_width < s.vision.patch_size)
        fail_value(config, "patch_size", "at most the image's size");
    share_among_heads(config, s, {"num_attention_heads"});
    const string_ref kind = config.string("norm_type", "layer_norm");
    if (kind != "layer_norm" && kind != "rms_norm") fail_value(config, "norm_type", "layer_norm or rms_norm");
    s.own[rms_norms] = kind == "rms_norm" ? 1 : 0;
    s.own[projection_drops] = config.real("projection_dropout", 0) > 0 ? 1 : 0;
}

}  // namespace internvl_vision_detail

// transformers/models/internvl: `InternVLVisionModel`, layers whose blocks are scaled
inline constexpr architecture internvl_vision_model = [](architecture a) {
    a.model_type = "internvl_vision", a.prefix = "InternVLVision", a.base = internvl_vision_detail::base;
    a.read = internvl_vision_detail::read, a.own = internvl_vision_detail::keys, a.any_image = true, a.tokens_ahead = 1;
    a.drops = internvl_vision_detail::dropout_rates;
    a.names.model_type = "Model", a.keys[2] = {};
    a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 4096, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu, a.defaults.attention_bias = false;
    return a;
}(shared_tower);

}  // namespace llmcost::arch
