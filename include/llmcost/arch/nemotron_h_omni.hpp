// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/nemotron_h.hpp>
#include <llmcost/arch/radio.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/radio_config.hpp>

namespace llmcost::arch {

namespace nemotron_h_omni_detail {

enum family_config_index : std::uint8_t { inner, vision_hidden_size, merged, normed, fewest_patches, max_patches };

inline constexpr family_key family_keys[]{
    {"projector_hidden_size", 4096},
    {"vision_hidden_size", 1280},
    {.default_value = 2, .type = family_key_type::computed},  // patches along a side that become one
    {.type = family_key_type::computed},  // norm after the vision encoder, for text models with multi-token prediction
    {.default_value = 1024, .type = family_key_type::computed},
    {.default_value = 13312, .type = family_key_type::computed},
};

/// Returns a grid of complete merge squares near the image's aspect ratio, within the bounds of the patch count.
///
/// Source: transformers/models/nemotron_h_omni/image_processing_nemotron_h_omni.py, `get_patch_grid_size`.
[[nodiscard]] constexpr image_size grid_of(image_size image, std::int64_t patch, std::int64_t merge,
                                           std::int64_t minimum, std::int64_t maximum) {
    const auto real = [](std::int64_t n) { return static_cast<double>(n); };
    const auto nearest = [&](std::int64_t side) {  // Python's round: halves to even
        const double wanted = real(side) / real(patch) + 0.5;
        const auto below = static_cast<std::int64_t>(wanted);
        const double above = wanted - real(below);
        return above > 0.5 || (above == 0.5 && below % 2 != 0) ? below + 1 : below;
    };
    std::int64_t rows = nearest(image.height), columns = nearest(image.width);
    if (rows < 1 || columns < 1) throw_description_error("the image is too small for one patch");
    const double shrink = __builtin_sqrt(real(maximum) / real(rows * columns)), factor = shrink < 1 ? shrink : 1.0;
    rows = static_cast<std::int64_t>(factor * real(rows));
    columns = static_cast<std::int64_t>(factor * real(columns));
    if (rows < 1 || columns < 1)
        throw_description_error("the aspect ratio of the image is too large for a grid of patches");
    if (maximum > minimum && rows * columns < minimum) {
        const double grow = __builtin_sqrt(real(minimum) / real(rows * columns));
        const auto up = [&](std::int64_t n) {
            const auto truncated = static_cast<std::int64_t>(grow * real(n));
            return real(truncated) < grow * real(n) ? truncated + 1 : truncated;
        };
        rows = up(rows);
        columns = up(columns);
    }
    const auto align_side = [&](std::int64_t& side, std::int64_t other_side) {
        const std::int64_t rest = side % merge;
        if (rest == 0) return;
        if ((side + merge - rest) * other_side <= maximum)
            side += merge - rest;
        else
            side = side - rest > merge ? side - rest : merge;
    };
    align_side(rows, columns);
    align_side(columns, rows);
    return {rows * patch, columns * patch};
}

/// A norm, two projections with a squared ReLU between them.
struct projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t expanded_width = ctx.model.family[inner], in = x.dim(-1);
        const norm_module scale{norm_kind::rms_float_weight, in, {"NemotronH_Omni_", "RMSNorm"}};
        const tensor h = t.call("linear_1", linear{in, expanded_width}, t.call("layer_norm", scale, x));
        return t.call("linear_2", linear{expanded_width, ctx.config.hidden_size},
                      t.call("act", activation_module{activation::relu2}, h));
    }
};

/// Squares of patches of one image side by side, by two copies: (patches, width) -> (squares, side² · width).
constexpr tensor shuffled(trace& t, const tensor& x, std::int64_t rows, std::int64_t columns, std::int64_t side) {
    const std::int64_t width = x.dim(-1);
    const tensor halves = x.view({1, rows, columns / side, width * side});
    const tensor transposed =
        t.contiguous(halves.transpose(1, 2)).view({1, columns / side, rows / side, width * side * side});
    return t.contiguous(transposed.transpose(1, 2)).view({-1, width * side * side});
}

constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    if (load.images == 0) return {};
    if (load.image_height == 0)
        throw_description_error("this model accepts images of any size; use --image WIDTHxHEIGHT");
    const std::int64_t patch = m.components[0].config.vision.patch_size, side = m.family[merged];
    if (side != 2)
        throw_description_error("unsupported merge size; the image processor expects squares of 2 x 2 patches");
    const image_size to =
        grid_of({load.image_height, load.image_width}, patch, side, m.family[fewest_patches], m.family[max_patches]);
    const std::int64_t step = patch * side;
    return {.image = {.num_tokens = (to.height / step) * (to.width / step), .height = to.height, .width = to.width}};
}

/// As many patches as fit into the length of a text, within bounds (`_preprocess`).
constexpr void parse_processor_config(config_view json, model& m) {
    const std::int64_t side = m.family[merged];
    expect_side(json, "patch_size", m.components[0].config.vision.patch_size,
                "the patch_size of the configuration's tower");
    if (json.real("downsample_ratio", 0.5) * static_cast<double>(side) != 1)
        throw_invalid_value(json, "downsample_ratio", "the downsample_ratio of the configuration");
    m.family[fewest_patches] = json.positive("min_num_patches", m.family[fewest_patches]);
    const auto maximum = json.find("max_num_patches");
    if (maximum && (maximum->is_null() || maximum->as_non_negative() == 0))
        throw_unsupported(json, "max_num_patches", "bounds that depend on the number of images are not supported");
    const std::int64_t max_num_patches = json.positive("max_num_patches", 13312);
    std::int64_t text = (json.positive("max_model_len", 16384) - 4) * side * side;
    text = text > m.family[fewest_patches] ? text : m.family[fewest_patches];
    text = text < max_num_patches ? text : max_num_patches;
    m.family[max_patches] = text > m.family[fewest_patches] ? text : m.family[fewest_patches];
}

/// What all images become: (tokens, width of the text).
constexpr tensor features(const layer_context& ctx, trace& t) {
    const bool has_image_inputs = has_images(t);
    const recorder::not_executed_guard no_pixels{t, !has_image_inputs};
    const std::int64_t patch = ctx.model.components[0].config.vision.patch_size, side = ctx.model.family[merged];
    const media_shape shape = has_image_inputs ? compute_media_shapes(ctx.model, t.load()).image : media_shape{};
    const recorder::workload_guard encoder_workload{t, packed_workload(t, shape, patch * side)};
    tensor x = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
    if (ctx.model.family[normed] != 0)
        x = t.call("vision_final_layernorm", norm_module{norm_kind::layer, ctx.model.family[vision_hidden_size]}, x);
    const packed_images grid = pack_images(t.load(), patch);
    const tensor image = x.slice(0, grid.rows * grid.columns);
    tensor squares = trace::buffer({1});
    squares.type = x.type;
    for (loop one = t.loop_time_steps(grid.frames, squares); one.next();)
        squares = shuffled(t, image, grid.rows, grid.columns, side);
    return t.cat({t.call("multi_modal_projector", projector{ctx}, t.cat({window_tiling(squares, 0, grid.frames)}, 0))},
                 0);
}

/// Runs the text model with its own head, which is a submodule of this class. With images, the token embeddings are
/// computed first.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const layer_context text = ctx.text_model();
    const module_info model_info{.class_of_module = ctx.class_of("")};
    const module_info head{.name = "language_model", .class_of_module = text.class_of(text.spec.names.causal_lm_class)};
    const module_info inner{.name = text.spec.names.base_model,
                            .class_of_module = text.class_of(text.spec.names.model_class)};
    model_spec placed = text.spec;
    attention_inputs inputs;
    t.enter(model_info);
    if (has_images(t)) {
        t.enter(head);
        t.enter(inner);
        inputs.family_tensors[0] = text.spec.embed_tokens(text, t);
        t.leave(inner);
        t.leave(head);
        placed.embed_tokens = embed_multimodal;
        inputs.family_tensors[0] = t.masked_scatter(inputs.family_tensors[0], features(ctx, t));
    } else {
        (void)features(ctx, t);
    }
    t.enter(head);
    const tensor x = forward_in_module(inner, placed.base_model, {text.model, placed, text.config, &inputs}, t);
    const tensor out = t.leave(head, t.select_model_output(x, forward_head(text, t, x)));
    return t.leave(model_info, out);
}

constexpr void parse_config(config_view json, model& m) {
    for (const literal older : {"llm_config", "sound_config", "vit_hidden_size"})
        if (json.contains(older)) throw_unsupported(json, older, "the legacy name of this component is not supported");
    if (const auto sound = json.find("audio_config"); sound && !sound->is_null())
        throw_unsupported(json, "audio_config", "an audio encoder is not supported by this model type");
    const double ratio = json.real("downsample_ratio", 0.5);
    if (!(ratio > 0 && ratio <= 1))
        throw_invalid_value(json, "downsample_ratio", "a part of a side above 0 and up to 1");
    m.family[merged] = static_cast<std::int64_t>(1 / ratio);
    if (m.family[vision_hidden_size] != m.components[0].config.hidden_size)
        throw_invalid_value(json, "vision_hidden_size", "the tower's hidden_size");
    (void)checked_size(json, "vision_hidden_size", checked_product(m.family[vision_hidden_size], m.family[merged]),
                       m.family[merged]);
    const std::int64_t pairs = json.positive("video_temporal_patch_size", 2);
    if (m.components[0].config.family[radio_config::frames] != pairs)
        throw_invalid_value(json, "video_temporal_patch_size", "the tower's video_temporal_patch_size");
    if (const auto text = json.optional_object("text_config"))
        m.family[normed] = text->non_negative("num_nextn_predict_layers", 0) > 0 ? 1 : 0;
}

/// Vision encoder configuration; frames are encoded in pairs where it does not specify them.
inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.family_keys = radio_config::keys_of_pairs;
    return spec;
}(radio);

}  // namespace nemotron_h_omni_detail

// transformers/models/nemotron_h_omni: RADIO before Nemotron-H under its head
inline constexpr model_spec nemotron_h_omni = [](model_spec spec) {
    spec.model_type = "nemotron_h_omni";
    spec.class_prefix = "NemotronH_Omni_Reasoning_V3";
    spec.family_keys = nemotron_h_omni_detail::family_keys;
    spec.forward = nemotron_h_omni_detail::forward;
    spec.parse_composite_config = nemotron_h_omni_detail::parse_config;
    spec.compute_media_shapes = nemotron_h_omni_detail::compute_media_shapes;
    spec.parse_image_processor = nemotron_h_omni_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.names.causal_lm_class = "";
    spec.supported_heads = {head_kind::causal_lm};
    spec.defaults.head = head_kind::causal_lm;
    spec.text_model = {
        .key = "text_config", .default_spec = &nemotron_h, .ignores_model_type = true, .ties_embeddings = true};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &nemotron_h_omni_detail::tower, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
