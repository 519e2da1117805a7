// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/idefics3.hpp>
#include <llmcost/arch/mistral.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/bucketed_positions.hpp>
#include <llmcost/forward/dual_encoder.hpp>

namespace llmcost::arch {

namespace idefics2_detail {

enum resampler_config_index : std::uint8_t { latents };

inline constexpr family_key resampler_keys[]{{"resampler_n_latents", 64}};

/// A gated block (`Idefics2MLP`).
[[nodiscard]] constexpr mlp_module gated_block(std::int64_t in, std::int64_t inner, activation act) {
    return {mlp_kind::gated, in, inner, act, {"Idefics2", "MLP"}};
}

/// Latents attend to an image's states and to themselves: (images, latents, width) -> the same.
struct perceiver_attention {
    const layer_context& ctx;
    const tensor& mask;

    static constexpr role module_role = role::attn;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Idefics2", "PerceiverAttention"}; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& states) const {
        const std::int64_t width = ctx.config.hidden_size, heads = ctx.config.num_attention_heads;
        const std::int64_t num_kv_heads = ctx.config.num_key_value_heads, d = ctx.config.head_dim;
        const tensor all = t.cat({states, x}, 1);
        const auto split = [&](literal name, std::int64_t n, const tensor& input) {
            return t.call(name, linear{width, n * d}, input).view({input.dim(0), input.dim(1), n, d}).transpose(1, 2);
        };
        const tensor q = split("q_proj", heads, x), k = split("k_proj", num_kv_heads, all),
                     v = split("v_proj", num_kv_heads, all);
        const attention_pattern pattern{.query_length = x.dim(1), .cached_length = states.dim(1), .is_causal = false};
        const tensor* const hidden = mask.rank > 0 ? &mask : nullptr;
        const tensor mixed =
            attention_forward(t, q, k, v, pattern, {.mask = hidden}).view({x.dim(0), x.dim(1), heads * d});
        return t.call("o_proj", linear{heads * d, width}, mixed);
    }
};

struct perceiver_layer {
    const layer_context& ctx;
    const tensor& mask;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Idefics2", "PerceiverLayer"}; }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& states) const {
        const std::int64_t width = ctx.config.hidden_size;
        const norm_module rms_norm{norm_kind::rms, width, {"Idefics2", "RMSNorm"}};
        const tensor queries = t.call("input_latents_norm", rms_norm, x);
        const tensor family_keys = t.call("input_context_norm", rms_norm, states);
        const tensor middle = t.add(x, t.call("self_attn", perceiver_attention{ctx, mask}, queries, family_keys));
        const tensor normed = t.call("post_attention_layernorm", rms_norm, middle);
        return t.add(middle, t.call("mlp", gated_block(width, 4 * width, ctx.config.hidden_act), normed));
    }
};

/// Learned latents read an image's states in some layers; a mask hides those of padding.
constexpr tensor resample(const layer_context& ctx, trace& t, const tensor& states, bool padded) {
    const std::int64_t width = ctx.config.hidden_size, n = ctx.config.family[latents];
    tensor mask;
    if (padded)
        mask = eager_mask(t, {.query_length = n, .cached_length = states.dim(1), .is_causal = false}, states.dim(0));
    tensor x = t.param("latents", {n, width}).unsqueeze(0).expand({states.dim(0), n, width});
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"layers", layer_loop.index()}, perceiver_layer{ctx, mask}, x, states);
    return t.call("norm", norm_module{norm_kind::rms, width, {"Idefics2", "RMSNorm"}}, x);
}

/// States brought to the width of the text, then resampled.
constexpr tensor connect(const layer_context& ctx, trace& t, const tensor& states, bool padded) {
    const module_info connector{
        .name = "connector", .class_of_module = ctx.class_of("Connector"), .module_role = role::projector};
    const module_info resampler{.name = "perceiver_resampler", .class_of_module = ctx.class_of("PerceiverResampler")};
    const model_config& text = ctx.model.config;
    t.enter(connector);
    const module_info block{
        .name = "modality_projection", .class_of_module = ctx.class_of("MLP"), .module_role = role::mlp};
    const std::int64_t in = states.dim(2), inner = text.intermediate_size;
    t.enter(block);
    const tensor gate =
        t.call("act_fn", activation_module{text.hidden_act}, t.call("gate_proj", linear{in, inner}, states));
    const tensor up = t.mul(gate, t.call("up_proj", linear{in, inner}, states));
    const tensor projected = t.leave(block, t.call("down_proj", linear{inner, text.hidden_size}, up));
    t.enter(resampler);
    return t.leave(connector, t.leave(resampler, resample(ctx.component(1), t, projected, padded)));
}

enum family_config_index : std::uint8_t { shortest_side, longest_side, quarters };

inline constexpr family_key family_keys[]{
    {.default_value = 378, .type = family_key_type::computed},
    {.default_value = 980, .type = family_key_type::computed},
    {.type = family_key_type::computed},  // split each image into four crops plus the full image
};

/// Returns the image size within the configured bounds (default: 378 and 980 pixels). The upper bound limits the
/// longest side.
///
/// Source: transformers/models/idefics2/image_processing_idefics2.py, `get_resize_output_image_size`.
[[nodiscard]] constexpr image_size resized(const family_config& family, std::int64_t height, std::int64_t width) {
    const std::int64_t minimum = family[shortest_side], maximum = family[longest_side];
    const double ratio = static_cast<double>(width) / static_cast<double>(height);
    if (width >= height && width > maximum) {
        width = maximum;
        height = static_cast<std::int64_t>(static_cast<double>(width) / ratio);
    } else if (height > width && height > maximum) {
        height = maximum;
        width = static_cast<std::int64_t>(static_cast<double>(height) * ratio);
    }
    return {height < minimum ? minimum : height, width < minimum ? minimum : width};
}

/// An image, or its quarters and itself.
struct parts {
    image_size tile_sizes[5]{};
    int n = 1;

    constexpr parts(const model& m, const workload& load) {
        const image_size original = image_size_of(load, m.components[0].config.vision);
        tile_sizes[0] = resized(m.family, original.height, original.width);
        if (m.family[quarters] == 0) return;
        if (original.height < 2 || original.width < 2)
            throw_description_error("the image is too small to be split into four crops");
        for (const std::int64_t high : {original.height / 2, original.height - original.height / 2})
            for (const std::int64_t expanded_width : {original.width / 2, original.width - original.width / 2})
                tile_sizes[n++] = resized(m.family, high, expanded_width);
    }
    /// The sides that all are padded to.
    [[nodiscard]] constexpr image_size largest() const noexcept {
        image_size to = tile_sizes[0];
        for (int i = 1; i < n; ++i)
            to = {tile_sizes[i].height > to.height ? tile_sizes[i].height : to.height,
                  tile_sizes[i].width > to.width ? tile_sizes[i].width : to.width};
        return to;
    }
    /// True if some images have fewer complete patches than others, which requires a mask.
    [[nodiscard]] constexpr bool padded(std::int64_t patch) const noexcept {
        const image_size to = largest();
        for (int i = 0; i < n; ++i)
            if (tile_sizes[i].height / patch < to.height / patch || tile_sizes[i].width / patch < to.width / patch)
                return true;
        return false;
    }
};

/// All parts are padded to the largest of them (`split_images`, `pad`).
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    const parts image_parts(m, load);
    const image_size to = image_parts.largest();
    const std::int64_t latent = m.components[1].config.family[latents];
    return {
        .image = {
            .num_tokens = image_parts.n * latent, .num_tiles = image_parts.n, .height = to.height, .width = to.width}};
}

/// Embedded patches, layers, a norm; a mask hides padding (transformers/masking_utils.py, `create_bidirectional_mask`).
constexpr tensor encode_images(const layer_context& ctx, trace& t, bool padded) {
    tensor x = bucketed_positions::embed(ctx, t, image_input(ctx, t));
    attention_inputs inputs{.pattern = full_pattern(x.dim(1)).pattern};
    if (padded) inputs.mask = eager_mask(t, inputs.pattern, x.dim(0));
    x = encode(ctx, t, x, "Encoder", inputs);
    return t.call("post_layernorm", norm_module{norm_kind::layer, ctx.config.hidden_size}, x);
}

constexpr tensor encode_unpadded_images(const layer_context& ctx, trace& t) { return encode_images(ctx, t, false); }

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    if (const auto size = json.optional_object("size")) {
        m.family[shortest_side] = size->positive("shortest_edge");
        m.family[longest_side] = size->positive("longest_edge");
    }
    m.family[quarters] = json.boolean("do_image_splitting", false) ? 1 : 0;
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "text_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const parts image_parts(ctx.model, t.load());
        const image_size image_shape = image_parts.largest();
        const layer_context tower = ctx.component(0);
        const bool padded = image_parts.padded(tower.config.vision.patch_size);
        const std::int64_t images = images_in(t) * image_parts.n;
        const shape pixels{images, tower.config.vision.num_channels, image_shape.height, image_shape.width};
        (void)t.gather(t.input(pixels), pixels);  // `pixel_values[real_images_inds]`
        const recorder::workload_guard pictured{
            t, image_workload(t.load(), images, image_shape.height, image_shape.width)};
        const module_info m{.name = "vision_model",
                            .class_of_module = tower.class_of(tower.spec.names.model_class),
                            .module_role = role::vision};
        t.enter(m);
        const tensor states = t.leave(m, encode_images(tower, t, padded));
        const tensor features = connect(ctx, t, states, padded);
        return t.masked_scatter(token_embeddings, t.cat({features.view({-1, ctx.config.hidden_size})}, 0));
    });
}

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "Idefics2";
    spec.defaults.hidden_size = 768;
    spec.defaults.num_attention_heads = 12;
    spec.base_model = idefics2_detail::encode_unpadded_images;
    spec.attention = text_attention;
    return spec;
}(idefics3_vision_encoder);

inline constexpr submodel_spec resampler = [](model_spec spec) {
    spec.model_type = "idefics2_perceiver";
    spec.class_prefix = "Idefics2";
    spec.family_keys = resampler_keys;
    spec.rotary = rotary_style::none;
    spec.parse_config = [](config_view json, model_config& config) {
        config.num_key_value_heads = json.positive("num_key_value_heads", 4);
        config.head_dim = json.positive("resampler_head_dim", 96);
        if (config.num_attention_heads % config.num_key_value_heads != 0)
            throw_invalid_value(json, "num_key_value_heads", "a divisor of resampler_n_heads");
    };
    spec.config_keys.add("num_hidden_layers", "resampler_depth", key_rule::family_name_only);
    spec.config_keys.add("num_attention_heads", "resampler_n_heads", key_rule::family_name_only);
    spec.config_keys.add("head_dim", key_rule::absent);
    spec.supported_heads = {};
    spec.defaults.hidden_size = 4096;
    spec.defaults.num_hidden_layers = 3;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.intermediate_size = 16384;
    return spec;
}(model_spec{});

constexpr void parse_config(config_view json, model& m) {
    if (m.components[1].config.hidden_size != m.config.hidden_size)
        throw_invalid_value(json, "perceiver_config", "a hidden_size as large as the text model's");
}

}  // namespace idefics2_detail

// transformers/models/idefics2: Idefics 3's tower over images of any shape, resampled by latents before Mistral
inline constexpr model_spec idefics2 = [](model_spec spec) {
    spec.model_type = "idefics2";
    spec.class_prefix = "Idefics2";
    spec.base_model = idefics2_detail::base;
    spec.parse_composite_config = idefics2_detail::parse_config;
    spec.compute_media_shapes = idefics2_detail::compute_media_shapes;
    spec.family_keys = idefics2_detail::family_keys;
    spec.parse_image_processor = idefics2_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &mistral};
    spec.components[0] = {.key = "vision_config", .default_spec = &idefics2_detail::tower, .ignores_model_type = true};
    spec.components[1] = {
        .key = "perceiver_config", .default_spec = &idefics2_detail::resampler, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
