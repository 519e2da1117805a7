// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/moon_vit.hpp>
#include <llmcost/forward/native_resolution.hpp>
#include <llmcost/forward/vision_encoder.hpp>

// Muse: images fitted to a grid of tokens, their adapter, and text attention with partial rotation.
namespace llmcost::fitted_images {

inline constexpr std::uint8_t unturned = 1;  // layer flag: queries and keys without RoPE

constexpr tensor without_scale(const layer_context& ctx, trace& t, literal name, std::int64_t width, const tensor& x) {
    return t.call(name, norm_module{norm_kind::rms_power, width, ctx.class_of("RMSNorm"), false}, x);
}

/// Projects queries, keys and values, applies one QK-norm, scales queries by a constant, applies RoPE in layers with
/// positions, and updates the KV cache.
constexpr query_key_value project_rotated_qkv(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t d = ctx.config.head_dim;
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    qkv.query = t.mul_scalar(without_scale(ctx, t, "qk_norm", d, qkv.query));
    {
        const recorder::shared_parameters_guard shared_parameters{t};
        qkv.key = without_scale(ctx, t, "qk_norm", d, qkv.key);
    }
    if (ctx.layer.family_tag != unturned) apply_rotary(ctx, t, qkv);
    update_kv_cache(ctx, t, qkv);
    return qkv;
}

/// Parses the text configuration. Without lists, every fourth layer, counted from the last one, has full attention and
/// no positions.
constexpr void parse_text_config(config_view json, model_config& config) {
    const bool listed = parse_layer_types(json, config);
    const layer_plan listed_layers = config.layers;
    const auto thetas = json.optional_array("layer_rope_theta");
    if (thetas && static_cast<std::int64_t>(thetas->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_rope_theta", "a list with one number per hidden layer");
    set_layers(json, config, [&](std::int64_t i) {
        const bool is_full_attention = (config.num_hidden_layers - 1 - i) % 4 == 0;
        layer_spec kind{.token_mixer =
                            is_full_attention ? token_mixer_kind::full_attention : token_mixer_kind::sliding_attention};
        if (listed) kind.token_mixer = listed_layers[i].token_mixer;
        const bool turns = thetas ? (*thetas)[static_cast<std::uint32_t>(i)].as_real() != 0 : !is_full_attention;
        kind.family_tag = turns ? std::uint8_t{} : unturned;
        return kind;
    });
    config.logits_soft_cap = true;
}

enum tower_config_index : std::uint8_t { table_rows, table_columns, merged, frames };

/// A grid of squares of patches.
struct grid {
    std::int64_t rows;
    std::int64_t columns;

    [[nodiscard]] constexpr bool operator==(const grid&) const noexcept = default;
    /// What CPython 3 makes of a tuple of two small integers, of 64 bits (Objects/tupleobject.c, `tuplehash`).
    [[nodiscard]] constexpr std::uint64_t hash() const noexcept {
        constexpr std::uint64_t p1 = 11400714785074694791ULL, p2 = 14029467366897019727ULL, p5 = 2870177450012600261ULL;
        std::uint64_t out = p5;
        for (const std::int64_t n : {rows, columns}) {
            out += static_cast<std::uint64_t>(n) * p2;
            out = (out << 31) | (out >> 33);
            out *= p1;
        }
        return out + (2 ^ (p5 ^ 3527539ULL));
    }
};

/// At most four distinct grids in the iteration order of a Python set (Objects/setobject.c). Of two equally good grids,
/// the first one is used.
class grid_set {
public:
    constexpr void insert(const grid& one) noexcept {
        std::uint64_t perturb = one.hash(), slot = perturb % places;
        while (is_occupied_[slot] && !(grids_[slot] == one)) {
            perturb >>= 5;
            slot = (slot * 5 + 1 + perturb) % places;
        }
        is_occupied_[slot] = true;
        grids_[slot] = one;
    }
    template <class Visit>
    constexpr void for_each(const Visit& visit) const {
        for (std::uint64_t i = 0; i < places; ++i)
            if (is_occupied_[i]) visit(grids_[i]);
    }

private:
    static constexpr std::uint64_t places = 8;
    grid grids_[places]{};
    bool is_occupied_[places]{};
};

/// The grid whose aspect is nearest to the image's, of at most so many squares.
///
/// Source: transformers/models/muse_glimmer/image_processing_muse_glimmer.py, `smart_resize`.
[[nodiscard]] constexpr grid fitted(image_size image, std::int64_t step, std::int64_t maximum) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto floor = [](double x) { return static_cast<std::int64_t>(x); };
    const auto ceil = [&](double x) { return floor(x) + (real(floor(x)) < x ? 1 : 0); };
    double rows = real(image.height) / real(step), columns = real(image.width) / real(step);
    const double ratio = columns / rows;
    if (rows * columns > real(maximum)) {
        rows = __builtin_sqrt(real(maximum) / ratio);
        columns = rows * ratio;
    }
    grid_set candidates;
    for (const std::int64_t down : {floor(rows), ceil(rows)})
        for (const std::int64_t num_columns : {floor(columns), ceil(columns)}) candidates.insert({down, num_columns});
    const double aspect = real(image.height) / real(image.width);
    grid best{};
    double minimum = -1;
    candidates.for_each([&](const grid& one) {
        if (one.rows < 1 || one.columns < 1 || one.rows * one.columns > maximum) return;
        const double difference = real(one.rows) / real(one.columns) - aspect,
                     distance = difference < 0 ? -difference : difference;
        if (minimum < 0 || distance < minimum) {
            minimum = distance;
            best = one;
        }
    });
    const auto rounded = [&](double x) {  // halves to even, and at least one
        const std::int64_t below = floor(x);
        const double rest = x - real(below);
        const std::int64_t n = below + (rest > 0.5 || (rest == 0.5 && below % 2 != 0) ? 1 : 0);
        return n < 1 ? 1 : n;
    };
    return minimum < 0 ? grid{rounded(rows), rounded(columns)} : best;
}

enum family_config_index : std::uint8_t { out_hidden_size, inner, act, max_image_tokens };

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const model_config& vision = m.components[0].config;
    const std::int64_t step = vision.vision.patch_size * vision.family[merged];
    const grid to = fitted({load.image_height, load.image_width}, step, m.family[max_image_tokens]);
    return {.image = {.num_tokens = to.rows * to.columns, .height = to.rows * step, .width = to.columns * step}};
}

/// Two projections, each followed by the activation module.
struct adapter {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionAdapter"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = ctx.model.family[out_hidden_size], expanded_width = ctx.model.family[inner];
        const activation_module act_fn{static_cast<activation>(ctx.model.family[act])};
        const tensor h = t.call("act", act_fn, t.call("fc1", linear{in, expanded_width}, x));
        const tensor out = t.call("fc2", linear{expanded_width, expanded_width}, h);
        const recorder::shared_parameters_guard shared_parameters{t};
        return t.call("act", act_fn, out);
    }
};

/// Inserts image features at the image token positions.
constexpr tensor place_images(const layer_context& ctx, trace& t, const tensor& token_embeddings) {
    const bool has_image_inputs = has_images(t);
    const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
    const model_config& vision = ctx.model.components[0].config;
    const media_shape shape =
        has_image_inputs ? ctx.model.spec->compute_media_shapes(ctx.model, t.load()).image : media_shape{};
    const recorder::workload_guard encoder_workload{
        t, packed_workload(t, shape, vision.vision.patch_size * vision.family[merged])};
    const std::int64_t width = ctx.config.hidden_size;
    const tensor encoded_features =
        t.call("vision_adapter", adapter{ctx}, forward_encoder_component(ctx, t, 0, "vision_tower", role::vision));
    const tensor features =
        t.call("vision_projection", projector_linear{ctx.model.family[inner], width}, encoded_features);
    const tensor normed = without_scale(ctx, t, "perception_emb_norm", width, features);
    return has_image_inputs ? t.masked_scatter(token_embeddings, t.cat({normed}, 0)) : token_embeddings;
}

constexpr void parse_config(config_view json, model& m) {
    const model_config& vision = m.components[0].config;
    if (vision.hidden_size * vision.family[merged] * vision.family[merged] != m.family[out_hidden_size])
        throw_invalid_value(json, "out_hidden_size", "the width of a square of patches");
    m.config.logits_soft_cap = true;
    if (const auto name = json.find("projector_hidden_act"))
        m.family[act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", name->as_string()));
}

}  // namespace llmcost::fitted_images
