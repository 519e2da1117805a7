// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/layers/multihead_attention.hpp>
#include <llmcost/reading/image.hpp>
#include <llmcost/reading/reader.hpp>
#include <llmcost/walks/pairs.hpp>

namespace llmcost::arch {

namespace siglip_detail {

enum own : std::uint8_t { uses_head, num_patches };
inline constexpr own_key keys[]{
    {"vision_use_head", 1, own_value::boolean},        // a learned query pools the patches
    {.otherwise = 256, .value = own_value::computed},  // SigLIP 2: positions, which are resized to an image's patches
};

/// A learned query attends to all patches (`SiglipMultiheadAttentionPoolingHead`).
struct pooling_head {
    site here;
    bool hides = false;  ///< patches behind a mask of truth values

    static constexpr role what = role::none;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiheadAttentionPoolingHead"); }
    constexpr value describe(trace& t, const value& x, const value* mask) const {
        const std::int64_t width = here.dims.hidden_size;
        const value probe = t.param("probe", {1, 1, width});
        const value queries = t.copy(probe.expand({x.dim(0), 1, width}));
        const multihead_attention over{.width = width, .heads = here.dims.num_attention_heads, .hides = hides};
        const value h = t.call("attention", over, queries, x, mask);
        const value normed = t.call("layernorm", norm<norm_kind::layer>{width}, h);
        return t.select(t.add(h, t.call("mlp", tower_layer::feed_forward_of(here), normed)), 1);
    }
};

/// From embedded patches on: layers, a norm, and what a learned query finds beside them; of padded patches behind a mask.
constexpr two_values finish(const site& here, trace& t, const value& embedded, bool reads_pool, bool padded = false) {
    const std::int64_t batch = embedded.dim(0), n = embedded.dim(1), heads = here.dims.num_attention_heads;
    shared_values made{.where = all_positions(n).where};
    if (padded) made.mask = eager_mask(t, made.where, batch);
    value x = encode(here, t, embedded, "Encoder", made);
    const recorder::off_loss_guard unread_norm{t, reads_layers(here)};
    x = t.call("post_layernorm", norm<norm_kind::layer>{here.dims.hidden_size}, x);
    if (here.dims.own[uses_head] == 0) return {x, {}};
    const recorder::off_loss_guard unread{t, !reads_pool};
    const module_info head{.name = "head", .type = here.type("MultiheadAttentionPoolingHead")};
    t.enter(head);
    value mask;
    if (padded) {
        const value of_keys = eager_mask(t, {.sequence = 1, .past = n - 1}, batch);
        mask = t.copy(of_keys.expand({batch, heads, 1, n})).view({batch * heads, 1, n});
    }
    return {x, t.leave(head, pooling_head{here}.describe(t, x, padded ? &mask : nullptr))};
}

/// Patches with learned positions, without a class token.
constexpr two_values states_and_pool(const site& here, trace& t, bool reads_pool) {
    const value pixels = pixels_of(here, t);
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    t.enter(embeddings);
    const value patches = embed_patches(here, t, "patch_embedding", true, pixels);
    const value places = learned_positions(t, "position_embedding", patches_of(here.dims.vision), here.dims.hidden_size);
    return finish(here, t, t.leave(embeddings, t.add(patches, places)), reads_pool);
}
constexpr value base(const site& here, trace& t) { return states_and_pool(here, t, false).first; }

/// The same of patches that come cut out of images of any shape, padded to a length: positions are resized to each image.
///
/// Pixels are (batch, patches, channels · side²). Source: modeling_siglip2.py, `resize_positional_embeddings`.
constexpr two_values states_of_patches(const site& here, trace& t, std::int64_t rows, std::int64_t columns,
                                       std::int64_t length, bool reads_pool) {
    const vision_sizes& image = here.dims.vision;
    const std::int64_t width = here.dims.hidden_size, n = here.dims.own[num_patches], batch = t.load().batch;
    const std::int64_t values = image.num_channels * image.patch_size * image.patch_size;
    const std::int64_t side = image.image_height / image.patch_size;
    const value pixels = t.input({batch, length, values});
    const module_info embeddings{.name = "embeddings", .type = here.type("VisionEmbeddings"), .what = role::embedding};
    const embedding places{n, width};
    t.enter(embeddings);
    const value patches = t.call("patch_embedding", linear{values, width, true}, pixels);
    const module_info table{.name = "position_embedding", .type = places.type(), .what = role::embedding, .leaf = true};
    t.enter(table);
    const value weight = t.param("weight", {n, width});
    t.leave(table);
    const value grid = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    value resized = t.constant({batch, length, width});
    t.in_place(op::copy, resized, t.bilinear(grid.expand({batch, width, side, side}), rows, columns));
    const value x = t.leave(embeddings, t.add(patches, resized));
    return finish(here, t, x, reads_pool, rows * columns < length);
}

/// Patches of the images that the workload shows, padded to as many as there are positions.
constexpr two_values states_of_images(const site& here, trace& t, bool reads_pool) {
    const extents grid = patch_grid(here, t);
    const std::int64_t rows = grid.size[0], columns = grid.size[1];
    if (rows < 1 || columns < 1) report_description("an image is smaller than a patch");
    const std::int64_t n = rows * columns, least = here.dims.own[num_patches];
    return states_of_patches(here, t, rows, columns, n < least ? least : n, reads_pool);
}
constexpr value base_of_patches(const site& here, trace& t) { return states_of_images(here, t, false).first; }

constexpr void read(config_view config, sizes& s) {
    read_square_image(config, s, 224, 16);
    share_among_heads(config, s, {"num_attention_heads"});
}
constexpr void read_patches(config_view config, sizes& s) {
    const std::int64_t patch = config.positive("patch_size", 16), n = config.positive("num_patches", 256);
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) <= n) ++side;
    if (side * side != n) fail_value(config, "num_patches", "a square number");
    const std::int64_t pixels = checked_width(config, "patch_size", side, patch);
    s.vision = {pixels, pixels, patch, config.positive("num_channels", 3)};
    s.own[num_patches] = n;
    share_among_heads(config, s, {"num_attention_heads"});
}

/// A side after scaling, rounded up to whole patches.
[[nodiscard]] constexpr std::int64_t scaled_side(double scale, std::int64_t size, std::int64_t patch) noexcept {
    const double exact = static_cast<double>(size) * scale / static_cast<double>(patch);
    const std::int64_t whole = static_cast<std::int64_t>(exact);
    const std::int64_t sides = (static_cast<double>(whole) < exact ? whole + 1 : whole) * patch;
    return sides < patch ? patch : sides;
}

/// An image as large as at most so many patches are, its shape kept.
///
/// Source: image_processing_siglip2.py, `get_image_size_for_max_num_patches`, of 256 patches where nobody says how many.
constexpr media_shapes show_patches(const model& m, const workload& load) {
    constexpr std::int64_t most = 256;
    const vision_sizes& image = m.beside[0].dims.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height,
                       width = load.image_width > 0 ? load.image_width : image.image_width, patch = image.patch_size;
    const double eps = 1e-5;
    double least = eps / 10, greatest = 100.0;
    while (greatest - least >= eps) {
        const double scale = (least + greatest) / 2;
        const double rows = static_cast<double>(scaled_side(scale, height, patch)) / static_cast<double>(patch),
                     columns = static_cast<double>(scaled_side(scale, width, patch)) / static_cast<double>(patch);
        if (rows * columns <= static_cast<double>(most))
            least = scale;
        else
            greatest = scale;
    }
    return {.image = {.height = scaled_side(least, height, patch), .width = scaled_side(least, width, patch)}};
}
/// The images of a pair, as its processor hands them on.
constexpr two_values states_as_processed(const site& here, trace& t, bool reads_pool) {
    const media_shape image = show_patches(here.whole, t.load()).image;
    const std::int64_t patch = here.dims.vision.patch_size, rows = image.height / patch, columns = image.width / patch;
    return states_of_patches(here, t, rows, columns, 256, reads_pool);
}

enum text_own : std::uint8_t { projection };
inline constexpr own_key text_keys[]{{.value = own_value::computed}};

/// A text's tokens see each other; the last one's state is projected.
constexpr two_values read_text_half(const site& here, trace& t, bool reads_pool) {
    const value x = describe_words(here, t, text_mask::none);
    const recorder::off_loss_guard unread{t, !reads_pool};
    return {x, t.call("head", linear{here.dims.hidden_size, here.dims.own[projection], true}, t.select(x, 1))};
}
constexpr value text_base(const site& here, trace& t) { return read_text_half(here, t, false).first; }

constexpr void read_text(config_view config, sizes& s) {
    s.own[projection] = config.positive("projection_size", s.hidden_size);
    share_among_heads(config, s, {"num_attention_heads"});
}

constexpr void read_pair(config_view config, model& m) {
    const sizes &text = m.dims, &images = m.beside[0].dims;
    keep_image_half(m);
    if (m.dims.head != head_kind::none) return;
    if (images.own[uses_head] == 0)
        fail_unsupported(config, "vision_config", "no pair is made of images that nothing pools");
    if (text.own[projection] != images.hidden_size)
        fail_value(config, "text_config", "a projection_size as large as the hidden_size of vision_config");
}

constexpr value classify_mean(const site& here, trace& t, const value& x) { return classify_linear(here, t, t.mean(x, 1)); }
/// The same of those that are no padding, by a mask of integers.
constexpr value classify_kept(const site& here, trace& t, const value& x) {
    return classify_linear(here, t, t.div(t.sum(t.mul(x), 1)));
}

/// Scores of every text and image, from the directions of what pools each.
template <class Pool>
constexpr value describe_pair(const site& here, trace& t, const Pool& pool, layer_part classify) {
    if (here.dims.head == head_kind::image_classification) return describe_image_half(here, t, classify);
    const module_info whole{.type = here.type("Model")};
    const site text = here.text(), tower = here.component(0);
    t.enter(whole);
    const value scale = t.param("logit_scale", {1}), bias = t.param("logit_bias", {1});
    const value read = pool_text(here, t, [&] { return read_text_half(text, t, true).second; });
    const value seen = pool_images(here, t, [&] { return pool(tower, t, true).second; });
    return t.leave(whole, t.add(score_pairs(t, direction(t, read), direction(t, seen), scale), bias));
}

}  // namespace siglip_detail

// transformers/models/siglip: `SiglipVisionModel`, the images' half
inline constexpr architecture siglip_vision_model = [](architecture a) {
    a.model_type = "siglip_vision_model", a.prefix = "Siglip", a.base = siglip_detail::base, a.read = siglip_detail::read;
    a.own = siglip_detail::keys, a.defaults.hidden_act = activation::gelu_pytorch_tanh, a.drops = tower_dropout;
    return a;
}(shared_tower);

// transformers/models/siglip: `SiglipTextModel`, the texts' half
inline constexpr architecture siglip_text_model = [](architecture a) {
    a.model_type = "siglip_text_model", a.prefix = "Siglip", a.base = siglip_detail::text_base;
    a.read = siglip_detail::read_text, a.own = siglip_detail::text_keys;
    a.defaults.vocab_size = 32000, a.defaults.max_position_embeddings = 64;
    a.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return a;
}(text_tower);

// transformers/models/siglip: modeling_siglip.py, texts and images in one space, and the images' half under a classifier
inline constexpr architecture siglip = [](architecture a) {
    a.model_type = "siglip", a.prefix = "Siglip", a.read_whole = siglip_detail::read_pair;
    a.describe = [](const site& here, trace& t) {
        return siglip_detail::describe_pair(here, t, siglip_detail::states_and_pool, siglip_detail::classify_mean);
    };
    a.text.otherwise = &siglip_text_model, a.beside[0].otherwise = &siglip_vision_model;
    return a;
}(shared_pair);

// transformers/models/siglip2: the same over patches of images of any shape, to which positions are resized
inline constexpr architecture siglip2_vision_model = [](architecture a) {
    a.model_type = "siglip2_vision_model", a.prefix = "Siglip2", a.base = siglip_detail::base_of_patches;
    a.read = siglip_detail::read_patches, a.any_image = true, a.attend = attend_words, a.drops = {};
    return a;
}(siglip_vision_model);

// transformers/models/siglip2: `Siglip2TextModel`, the texts' half
inline constexpr architecture siglip2_text_model = [](architecture a) {
    a.model_type = "siglip2_text_model", a.prefix = "Siglip2";
    return a;
}(siglip_text_model);

// transformers/models/siglip2: modeling_siglip2.py
inline constexpr architecture siglip2 = [](architecture a) {
    a.model_type = "siglip2", a.prefix = "Siglip2", a.media = siglip_detail::show_patches, a.any_image = true;
    a.describe = [](const site& here, trace& t) {
        return siglip_detail::describe_pair(here, t, siglip_detail::states_as_processed, siglip_detail::classify_kept);
    };
    a.text.otherwise = &siglip2_text_model, a.beside[0].otherwise = &siglip2_vision_model;
    return a;
}(siglip);

}  // namespace llmcost::arch
