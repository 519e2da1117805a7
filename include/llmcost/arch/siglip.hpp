// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/image.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/dual_encoder.hpp>
#include <llmcost/layers/multihead_attention.hpp>

namespace llmcost::arch {

namespace siglip_detail {

enum family_config_index : std::uint8_t { uses_head, num_patches };
inline constexpr family_key family_keys[]{
    {"vision_use_head", 1, family_key_type::boolean},  // a learned query pools the patches
    {.default_value = 256,
     .type = family_key_type::computed},  // SigLIP 2: positions, which are resized to an image's patches
};

/// A learned query attends to all patches (`SiglipMultiheadAttentionPoolingHead`).
struct pooling_head {
    layer_context ctx;
    bool hides = false;  ///< patches with a boolean mask

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiheadAttentionPoolingHead"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor* mask) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor probe = t.param("probe", {1, 1, width});
        const tensor queries = t.copy(probe.expand({x.dim(0), 1, width}));
        const multihead_attention pooling_attention{
            .width = width, .heads = ctx.config.num_attention_heads, .hides = hides};
        const tensor h = t.call("attention", pooling_attention, queries, x, mask);
        const tensor normed = t.call("layernorm", norm_module{norm_kind::layer, width}, h);
        return t.select(t.add(h, t.call("mlp", vision_encoder_layer::vision_mlp_of(ctx), normed)), 1);
    }
};

/// Runs the layers, the final norm, and pooling by a learned query on embedded patches; padded patches need a mask.
constexpr tensor_pair process_logits(const layer_context& ctx, trace& t, const tensor& embedded, bool reads_pool,
                                     bool padded = false) {
    const std::int64_t batch = embedded.dim(0), n = embedded.dim(1), heads = ctx.config.num_attention_heads;
    attention_inputs inputs{.pattern = full_pattern(n).pattern};
    if (padded) inputs.mask = eager_mask(t, inputs.pattern, batch);
    tensor x = encode(ctx, t, embedded, "Encoder", inputs);
    const recorder::detach_guard unread_norm{t, needs_hidden_states(ctx)};
    x = t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
    if (ctx.config.family[uses_head] == 0) return {x, {}};
    const recorder::detach_guard unread{t, !reads_pool};
    const module_info head{.name = "head", .class_of_module = ctx.class_of("MultiheadAttentionPoolingHead")};
    t.enter(head);
    tensor mask;
    if (padded) {
        const tensor of_keys = eager_mask(t, {.query_length = 1, .cached_length = n - 1}, batch);
        mask = t.copy(of_keys.expand({batch, heads, 1, n})).view({batch * heads, 1, n});
    }
    return {x, t.leave(head, pooling_head{ctx}.forward(t, x, padded ? &mask : nullptr))};
}

/// Patches with learned positions, without a class token.
constexpr tensor_pair states_and_pool(const layer_context& ctx, trace& t, bool reads_pool) {
    const tensor pixels = pixel_values(ctx, t);
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    t.enter(embeddings);
    const tensor patches = embed_patches(ctx, t, "patch_embedding", true, pixels);
    const tensor places =
        learned_positions(t, "position_embedding", patches_of(ctx.config.vision), ctx.config.hidden_size);
    return process_logits(ctx, t, t.leave(embeddings, t.add(patches, places)), reads_pool);
}
constexpr tensor base(const layer_context& ctx, trace& t) { return states_and_pool(ctx, t, false).first; }

/// Runs the model on pre-cut patches of images of any shape, padded to a length. Positions are resized for each image.
///
/// Pixels are (batch, patches, channels · side²). Source: modeling_siglip2.py, `resize_positional_embeddings`.
constexpr tensor_pair states_of_patches(const layer_context& ctx, trace& t, std::int64_t rows, std::int64_t columns,
                                        std::int64_t length, bool reads_pool) {
    const vision_config& image = ctx.config.vision;
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[num_patches], batch = t.load().batch;
    const std::int64_t values = image.num_channels * image.patch_size * image.patch_size;
    const std::int64_t side = image.image_height / image.patch_size;
    const tensor pixels = t.input({batch, length, values});
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("VisionEmbeddings"), .module_role = role::embedding};
    const embedding places{n, width};
    t.enter(embeddings);
    const tensor patches = t.call("patch_embedding", linear{values, width, true}, pixels);
    const module_info table{.name = "position_embedding",
                            .class_of_module = places.type_name(),
                            .module_role = role::embedding,
                            .is_leaf = true};
    t.enter(table);
    const tensor weight = t.param("weight", {n, width});
    t.leave(table);
    const tensor grid = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
    tensor resized = t.full({batch, length, width});
    t.copy_(resized, t.bilinear(grid.expand({batch, width, side, side}), rows, columns));
    const tensor x = t.leave(embeddings, t.add(patches, resized));
    return process_logits(ctx, t, x, reads_pool, rows * columns < length);
}

/// Returns the patches of the workload's images, padded to the number of positions.
constexpr tensor_pair states_of_images(const layer_context& ctx, trace& t, bool reads_pool) {
    const shape grid = patch_grid(ctx, t);
    const std::int64_t rows = grid.size[0], columns = grid.size[1];
    if (rows < 1 || columns < 1) throw_description_error("the image is too small for one patch");
    const std::int64_t n = rows * columns, minimum = ctx.config.family[num_patches];
    return states_of_patches(ctx, t, rows, columns, n < minimum ? minimum : n, reads_pool);
}
constexpr tensor base_of_patches(const layer_context& ctx, trace& t) { return states_of_images(ctx, t, false).first; }

constexpr void parse_config(config_view json, model_config& config) {
    parse_square_image(json, config, 224, 16);
    divide_by_heads(json, config, {"num_attention_heads"});
}
constexpr void parse_patches(config_view json, model_config& config) {
    const std::int64_t patch = json.positive("patch_size", 16), n = json.positive("num_patches", 256);
    std::int64_t side = 1;
    while ((side + 1) * (side + 1) <= n) ++side;
    if (side * side != n) throw_invalid_value(json, "num_patches", "a square number");
    const std::int64_t pixels = checked_size(json, "patch_size", side, patch);
    config.vision = {pixels, pixels, patch, json.positive("num_channels", 3)};
    config.family[num_patches] = n;
    divide_by_heads(json, config, {"num_attention_heads"});
}

/// Returns a side after scaling, rounded up to complete patches.
[[nodiscard]] constexpr std::int64_t scaled_side(double scale, std::int64_t size, std::int64_t patch) noexcept {
    const double exact = static_cast<double>(size) * scale / static_cast<double>(patch);
    const std::int64_t truncated = static_cast<std::int64_t>(exact);
    const std::int64_t sides = (static_cast<double>(truncated) < exact ? truncated + 1 : truncated) * patch;
    return sides < patch ? patch : sides;
}

/// Returns the image size for a maximum number of patches (default 256), with the aspect ratio preserved.
///
/// Source: image_processing_siglip2.py, `get_image_size_for_max_num_patches`.
constexpr media_shapes show_patches(const model& m, const workload& load) {
    constexpr std::int64_t maximum = 256;
    const vision_config& image = m.components[0].config.vision;
    const std::int64_t height = load.image_height > 0 ? load.image_height : image.image_height,
                       width = load.image_width > 0 ? load.image_width : image.image_width, patch = image.patch_size;
    const double eps = 1e-5;
    double minimum = eps / 10, greatest = 100.0;
    while (greatest - minimum >= eps) {
        const double scale = (minimum + greatest) / 2;
        const double rows = static_cast<double>(scaled_side(scale, height, patch)) / static_cast<double>(patch),
                     columns = static_cast<double>(scaled_side(scale, width, patch)) / static_cast<double>(patch);
        if (rows * columns <= static_cast<double>(maximum))
            minimum = scale;
        else
            greatest = scale;
    }
    return {.image = {.height = scaled_side(minimum, height, patch), .width = scaled_side(minimum, width, patch)}};
}
/// The images of a pair, as its processor hands them on.
constexpr tensor_pair states_as_processed(const layer_context& ctx, trace& t, bool reads_pool) {
    const media_shape image = show_patches(ctx.model, t.load()).image;
    const std::int64_t patch = ctx.config.vision.patch_size, rows = image.height / patch, columns = image.width / patch;
    return states_of_patches(ctx, t, rows, columns, 256, reads_pool);
}

enum text_config_index : std::uint8_t { projection };
inline constexpr family_key text_keys[]{{.type = family_key_type::computed}};

/// A text's tokens see each other; the last one's state is projected.
constexpr tensor_pair read_text_half(const layer_context& ctx, trace& t, bool reads_pool) {
    const tensor x = forward_text_encoder(ctx, t, text_mask::none);
    const recorder::detach_guard unread{t, !reads_pool};
    return {x, t.call("head", linear{ctx.config.hidden_size, ctx.config.family[projection], true}, t.select(x, 1))};
}
constexpr tensor text_base(const layer_context& ctx, trace& t) { return read_text_half(ctx, t, false).first; }

constexpr void parse_text_config(config_view json, model_config& config) {
    config.family[projection] = json.positive("projection_size", config.hidden_size);
    divide_by_heads(json, config, {"num_attention_heads"});
}

constexpr void parse_pair(config_view json, model& m) {
    const model_config &text = m.config, &images = m.components[0].config;
    select_image_encoder(m);
    if (m.config.head != head_kind::none) return;
    if (images.family[uses_head] == 0)
        throw_unsupported(json, "vision_config", "a vision model without a pooling head is not supported");
    if (text.family[projection] != images.hidden_size)
        throw_invalid_value(json, "text_config", "a projection_size as large as the hidden_size of vision_config");
}

constexpr tensor classify_mean(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.mean(x, 1));
}
/// Classifies the mean of the unpadded states, with an integer mask.
constexpr tensor classify_masked_mean(const layer_context& ctx, trace& t, const tensor& x) {
    return classify_linear(ctx, t, t.div_scalar(t.sum(t.mul_scalar(x), 1)));
}

/// Scores of every text and image, from the directions of what pools each.
template <class Pool>
constexpr tensor forward_dual_encoder(const layer_context& ctx, trace& t, const Pool& pool,
                                      layer_forward_function classify) {
    if (ctx.config.head == head_kind::image_classification) return forward_image_encoder(ctx, t, classify);
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const layer_context text = ctx.text_model(), tower = ctx.component(0);
    t.enter(model_info);
    const tensor scale = t.param("logit_scale", {1}), bias = t.param("logit_bias", {1});
    const tensor read = forward_pooled_text(ctx, t, [&] { return read_text_half(text, t, true).second; });
    const tensor features = forward_pooled_images(ctx, t, [&] { return pool(tower, t, true).second; });
    return t.leave(model_info,
                   t.add(similarity_logits(t, normalize_l2(t, read), normalize_l2(t, features), scale), bias));
}

}  // namespace siglip_detail

// transformers/models/siglip: `SiglipVisionModel`, the images' half
inline constexpr model_spec siglip_vision_model = [](model_spec spec) {
    spec.model_type = "siglip_vision_model";
    spec.class_prefix = "Siglip";
    spec.base_model = siglip_detail::base;
    spec.parse_config = siglip_detail::parse_config;
    spec.family_keys = siglip_detail::family_keys;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    spec.dropout_keys = tower_dropout;
    return spec;
}(shared_tower);

// transformers/models/siglip: `SiglipTextModel`, the texts' half
inline constexpr submodel_spec siglip_text_model = [](model_spec spec) {
    spec.model_type = "siglip_text_model";
    spec.class_prefix = "Siglip";
    spec.base_model = siglip_detail::text_base;
    spec.parse_config = siglip_detail::parse_text_config;
    spec.family_keys = siglip_detail::text_keys;
    spec.defaults.vocab_size = 32000;
    spec.defaults.max_position_embeddings = 64;
    spec.defaults.hidden_act = activation::gelu_pytorch_tanh;
    return spec;
}(text_tower);

// transformers/models/siglip: modeling_siglip.py, texts and images in one space, and the images' half under a
// classifier
inline constexpr model_spec siglip = [](model_spec spec) {
    spec.model_type = "siglip";
    spec.class_prefix = "Siglip";
    spec.parse_composite_config = siglip_detail::parse_pair;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return siglip_detail::forward_dual_encoder(ctx, t, siglip_detail::states_and_pool,
                                                   siglip_detail::classify_mean);
    };
    spec.text_model.default_spec = &siglip_text_model;
    spec.components[0].default_spec = &siglip_vision_model;
    return spec;
}(shared_pair);

// transformers/models/siglip2: the same over patches of images of any shape, to which positions are resized
inline constexpr model_spec siglip2_vision_model = [](model_spec spec) {
    spec.model_type = "siglip2_vision_model";
    spec.class_prefix = "Siglip2";
    spec.base_model = siglip_detail::base_of_patches;
    spec.parse_config = siglip_detail::parse_patches;
    spec.accepts_any_image_size = true;
    spec.attention = text_attention;
    spec.dropout_keys = {};
    return spec;
}(siglip_vision_model);

// transformers/models/siglip2: `Siglip2TextModel`, the texts' half
inline constexpr submodel_spec siglip2_text_model = [](model_spec spec) {
    spec.model_type = "siglip2_text_model";
    spec.class_prefix = "Siglip2";
    return spec;
}(siglip_text_model);

// transformers/models/siglip2: modeling_siglip2.py
inline constexpr model_spec siglip2 = [](model_spec spec) {
    spec.model_type = "siglip2";
    spec.class_prefix = "Siglip2";
    spec.compute_media_shapes = siglip_detail::show_patches;
    spec.accepts_any_image_size = true;
    spec.forward = [](const layer_context& ctx, trace& t) {
        return siglip_detail::forward_dual_encoder(ctx, t, siglip_detail::states_as_processed,
                                                   siglip_detail::classify_masked_mean);
    };
    spec.text_model.default_spec = &siglip2_text_model;
    spec.components[0].default_spec = &siglip2_vision_model;
    return spec;
}(siglip);

}  // namespace llmcost::arch
