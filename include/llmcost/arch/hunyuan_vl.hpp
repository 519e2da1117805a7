// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/hunyuan.hpp>
#include <llmcost/reading/processor.hpp>
#include <llmcost/walks/native_patches.hpp>
#include <llmcost/walks/tower.hpp>

namespace llmcost::arch {

namespace hunyuan_vl_detail {

// ---- the text: positions of several axes

enum text_own : std::uint8_t { axes };
inline constexpr own_key text_keys[]{{.otherwise = 4, .value = own_value::computed}};

/// Cosines and sines of each axis, of which runs of elements are joined: (B, S, head) twice.
struct rotary {
    site here;

    static constexpr role what = role::rotary;
    static constexpr bool leaf = true;
    [[nodiscard]] constexpr class_name type() const { return here.type("RotaryEmbedding"); }
    constexpr two_values describe(trace& t) const {
        const trace::no_grad_guard quiet{t};
        const std::int64_t half = here.dims.head_dim / 2;
        t.owns_buffer(count(half * 2 * 4));
        const extents places{here.dims.own[axes], t.load().batch, t.load().sequence, 1};
        const value angles = t.mul(t.constant(places), trace::buffer({half}));
        const value cos = t.mul(t.unary(op::cos, angles)), sin = t.mul(t.unary(op::sin, angles));
        const auto joined = [&](const value& x) { return t.to(t.cat({t.cat({x, x}, -1).select(0)}, -1), t.activation_type()); };
        const value second = joined(sin);
        return {joined(cos), second};
    }
};

constexpr decoder_context prepare(const site& here, trace& t) {
    decoder_context c = masks(here, t);
    const two_values tables = t.call("rotary_emb", rotary{here});
    c.full.cos = tables.first, c.full.sin = tables.second;
    return c;
}

/// Queries and keys turned in float32, then normed.
constexpr value attend(const site& here, trace& t, const value& x) {
    qkv of = project_qkv(here, t, x);
    split_heads(here, of), heads_first(of);
    const value cos = t.to(here.shared->cos, dtype::float32), sin = t.to(here.shared->sin, dtype::float32);
    const auto turned = [&](const value& from) {
        return t.to(rotate<rotation::half>(t, t.to(from, dtype::float32), cos, sin), from.type);
    };
    of.q = turned(of.q), of.k = turned(of.k);
    norm_queries_and_keys(here, t, of, here.dims.head_dim, here.dims.head_dim);
    remember(here, t, of);
    return join(here, t, look_up(here, t, of));
}

constexpr void read_text(config_view config, sizes& s) {
    plan_one_mask(config, s);
    s.frequencies = frequency_rule::kept;
    const auto rope = detail::rope_parameters(config);
    if (!rope) fail_missing(config, "rope_parameters", "an object with the sections of positions");
    const literal key = rope->contains("xdrope_section") ? "xdrope_section" : "mrope_section";
    const auto sections = rope->optional_array(key);
    if (!sections || sections->size() == 0) fail_missing(*rope, key, "elements of half a head for each axis");
    s.own[axes] = static_cast<std::int64_t>(sections->size());
}

// ---- the tower

enum own : std::uint8_t { fewest_pixels, largest };
inline constexpr own_key whole_keys[]{{.otherwise = 512 * 512, .value = own_value::computed},
                                      {.otherwise = 2048 * 2048, .value = own_value::computed}};

enum tower_own : std::uint8_t { merged, longest, seen_width };
inline constexpr own_key tower_keys[]{{"spatial_merge_size", 2}, {"max_image_size", 2048}, {"text_hidden_size", 3072}};

/// Attention within images: (1, patches, width) -> the same.
constexpr value attend_images(const site& here, trace& t, const value& x) {
    const std::int64_t n = x.dim(1), width = here.dims.hidden_size, heads = here.dims.num_attention_heads;
    const std::int64_t d = here.dims.head_dim;
    const auto split = [&](literal name) { return t.call(name, linear{width, heads * d, true}, x).view({n, heads, d}); };
    const value q = split("q_proj"), k = split("k_proj"), v = split("v_proj");
    const value found = attend_packed(t, q, k, v, packed_images(t.load(), here.dims.vision.patch_size).whole());
    return t.call("o_proj", linear{heads * d, width, true}, found.unsqueeze(0));
}

/// Squares of patches of one image become one, a learned token behind each row, one in front of all and one behind.
struct patch_merger {
    site here;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("VisionPatchMerger"); }
    constexpr value describe(trace& t, const value& x) const {
        const own_sizes& own = here.dims.own;
        const std::int64_t width = here.dims.hidden_size, side = own[merged], to = own[seen_width];
        const std::int64_t rows = t.load().image_height / here.dims.vision.patch_size, columns = x.dim(1) / rows;
        const value newline = t.param("image_newline", {4 * width}), begin = t.param("image_begin", {to});
        const value end = t.param("image_end", {to});
        (void)t.param("image_sep", {to});
        const value even = t.call("before_rms", norm<norm_kind::rms>{width, here.type("RMSNorm")}, x);
        value h = t.reshape(even.permute({0, 2, 1}), {1, width, rows, columns});
        h = t.call("proj_act", activation_module{here.dims.hidden_act},
                   t.call("proj_conv", convolution_2d{width, 2 * width, side, side}, h));
        h = t.call("proj_out", convolution_2d{2 * width, 4 * width}, h);
        h = t.cat({h, newline.view({1, 4 * width, 1, 1}).expand({1, 4 * width, h.dim(2), 1})}, -1);
        h = t.call("mlp", linear{4 * width, to, true}, h.view({1, 4 * width, -1}).permute({0, 2, 1}));
        h = t.cat({begin.view({1, 1, to}), h, end.view({1, 1, to})}, 1);
        return t.call("after_rms", norm<norm_kind::rms>{to, here.type("RMSNorm")}, h);
    }
};

/// Places of one image, resampled from a square: (patches, width).
constexpr value places_of_image(const site& here, trace& t, const value& table) {
    const std::int64_t patch = here.dims.vision.patch_size, edge = here.dims.own[longest] / patch;
    const std::int64_t width = here.dims.hidden_size;
    const value grid = t.slice(table, 0, edge * edge).view({1, edge, edge, width}).permute({0, 3, 1, 2});
    const value resized =
        t.bilinear(t.to(grid, dtype::float32), t.load().image_height / patch, t.load().image_width / patch);
    return t.copy(t.to(t.reshape(resized.permute({0, 2, 3, 1}), {-1, width}), table.type));  // `repeat` for each frame
}

constexpr value tower_base(const site& here, trace& t) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, side = image.patch_size, images = t.load().batch;
    const std::int64_t n = packed_images(t.load(), side).patches(), edge = here.dims.own[longest] / side;
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionPatchEmbed"), .what = role::embedding};
    t.enter(embeddings);
    const convolution_2d projection{image.num_channels, width, side, side};
    const value patches = t.call("patch_embedding", projection, t.input({n, image.num_channels, side, side})).view({n, width});
    const module_info positions{.name = "position_embedding", .type = {"", "Embedding"}, .leaf = true};
    t.enter(positions);
    const value table = t.param("weight", {edge * edge + 1, width});
    t.leave(positions);
    value places = trace::buffer({n / images, width});
    places.type = table.type;
    for (repetition each = t.steps(images, places); each.next();) places = places_of_image(here, t, table);
    const value all = t.cat({side_by_side(places, 0, images)}, 0);
    value x = t.leave(embeddings, t.add(patches, all).unsqueeze(0));
    const shared_values none{};
    for (repetition each = t.repeat(here.dims.num_hidden_layers, x); each.next();)
        x = t.call({"layers", each.index()}, tower_layer{here.at(each, none)}, x);
    const value item = x.slice(1, n / images);
    value out = trace::buffer({1});
    out.type = x.type;
    for (repetition each = t.again(images, out); each.next();) out = t.call("patch_merger", patch_merger{here}, item);
    return t.cat({side_by_side(out, 1, images)}, 1);
}

constexpr void read_tower(config_view config, sizes& s) {
    s.vision.patch_size = config.positive("patch_size", 16), s.vision.num_channels = config.positive("num_channels", 3);
    const string_ref mode = config.string("interpolate_mode", "bilinear");
    if (mode != "bilinear") fail_unsupported(config, "interpolate_mode", "no row describes another way to resample places");
    if (s.own[longest] < s.vision.patch_size) fail_value(config, "max_image_size", "at least patch_size");
    (void)checked_product(s.own[longest] / s.vision.patch_size, s.own[longest] / s.vision.patch_size);
}

inline constexpr architecture tower = [](architecture a) {
    a.model_type = "hunyuan_vl_vision", a.prefix = "HunYuanVL", a.base = tower_base, a.read = read_tower;
    a.own = tower_keys, a.heads = {}, a.attend = attend_images;
    a.names.model_type = "VisionTransformer", a.names.attention_type = "VisionAttention";
    a.names.layer_type = "VisionBlock", a.names.mlp_type = "VisionMLP";
    a.keys[0] = {}, a.keys[1] = {};
    a.defaults.hidden_size = 1152, a.defaults.intermediate_size = 4304, a.defaults.num_hidden_layers = 27;
    a.defaults.num_attention_heads = 16, a.defaults.hidden_act = activation::gelu;
    return a;
}(shared_tower);

// ---- the whole

constexpr media_shapes show(const model& m, const workload& load) {
    if (load.images == 0) return {};
    const sizes& vision = m.beside[0].dims;
    const std::int64_t patch = vision.vision.patch_size, side = vision.own[merged];
    media_shape image = resized_to_patches(load, patch, side, m.own[fewest_pixels], m.own[largest]);
    const std::int64_t rows = image.height / (patch * side), columns = image.width / (patch * side);
    image.tokens = rows * (columns + 1) + 2;
    return {.image = image};
}

constexpr void read_processor(config_view told, model& m) {
    expect_patches(told, m.beside[0].dims.vision.patch_size, m.beside[0].dims.own[merged]);
    expect_side(told, "spatial_patch_size", 1, "1, as patches are not put together twice");
    read_bounds_of_pixels(told, m.own, fewest_pixels, largest);
}

constexpr value base(const site& here, trace& t) {
    return describe_text_after(here, t, "language_model", [&](const value& words) {
        const bool sees = sees_images(t);
        const recorder::idle_guard no_pixels{t, !sees};
        const sizes& vision = here.whole.beside[0].dims;
        const media_shape each = sees ? show(here.whole, t.load()).image : media_shape{};
        const recorder::workload_guard shown{t, packed_workload(t, each, vision.vision.patch_size * vision.own[merged])};
        const value features = describe_tower(here, t, 0, "vision_tower", role::vision);
        return scatter_counted(t, words, features.squeeze(0));
    });
}

constexpr void read(config_view config, model& m) {
    if (m.beside[0].dims.own[seen_width] != m.dims.hidden_size)
        fail_value(config, "vision_config", "a text_hidden_size of the text's hidden_size");
}

}  // namespace hunyuan_vl_detail

// transformers/models/hunyuan_vl: the text model
inline constexpr architecture hunyuan_vl_text = [](architecture a) {
    a.drops = {}, a.model_type = "hunyuan_vl_text", a.prefix = "HunYuanVL", a.read = hunyuan_vl_detail::read_text, a.heads = {};
    a.own = hunyuan_vl_detail::text_keys, a.prepare = hunyuan_vl_detail::prepare, a.attend = hunyuan_vl_detail::attend;
    a.names.model_type = "TextModel", a.names.layer_type = "DenseV1DecoderLayer";
    a.names.attention_type = "DenseV1Attention";
    a.defaults.intermediate_size = 11008, a.defaults.max_position_embeddings = 2048;
    return a;
}(hunyuan_v1_dense);

// transformers/models/hunyuan_vl: patches of images in front of a dense HunYuan with positions of several axes
inline constexpr architecture hunyuan_vl = [](architecture a) {
    a.model_type = "hunyuan_vl", a.prefix = "HunYuanVL", a.base = hunyuan_vl_detail::base;
    a.read_whole = hunyuan_vl_detail::read, a.media = hunyuan_vl_detail::show,
    a.read_processor = hunyuan_vl_detail::read_processor, a.own = hunyuan_vl_detail::whole_keys, a.reads.images = true;
    a.text = {.key = "text_config", .otherwise = &hunyuan_vl_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &hunyuan_vl_detail::tower, .always = true};
    a.defaults.tie_word_embeddings = true;
    return a;
}(shared_composite);

}  // namespace llmcost::arch
