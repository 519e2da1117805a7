// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/sam_encoder.hpp>

namespace llmcost::arch {

namespace got_ocr2_detail {

/// Projector: two strided convolutions and a linear layer.
struct convolving_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t channels = x.dim(1), width = ctx.config.hidden_size;
        tensor h = t.call("conv_upsampler1", convolution_2d{channels, 2 * channels, 3, 2, 1, 1, false}, x);
        h = t.call("conv_upsampler2", convolution_2d{2 * channels, width, 3, 2, 1, 1, false}, h);
        return t.call("multimodal_projector", linear{width, width, true}, as_tokens(h));
    }
};

/// Image shapes: images are resized to the encoder's size; two convolutions halve the patch grid twice.
constexpr media_shapes compute_media_shapes(const model& m, const workload&) {
    const vision_config& image = m.components[0].config.vision;
    const auto halved = [](std::int64_t side) { return (side - 1) / 2 + 1; };
    const std::int64_t side = halved(halved(image.image_height / image.patch_size));
    return {.image = {.num_tokens = side * side, .height = image.image_height, .width = image.image_width}};
}

constexpr void parse_processor_config(config_view json, model& m) {
    expect_resized(json);
    expect_picture(json, m.components[0].config.vision.image_height);
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
        return t.masked_scatter(token_embeddings, t.call("multi_modal_projector", convolving_projector{ctx}, states));
    });
}

// the defaults without a text configuration (configuration_got_ocr2.py, `sub_configs_defaults`)
inline constexpr submodel_spec text = [](model_spec spec) {
    spec.defaults.vocab_size = 151860;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 2816;
    spec.defaults.num_hidden_layers = 24;
    spec.defaults.num_attention_heads = spec.defaults.num_key_value_heads = 16;
    return spec;
}(qwen2);

/// `GotOcr2VisionEncoder`: SAM's encoder without an outer module, with another default MLP size.
inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.class_prefix = "GotOcr2";
    spec.base_model = sam_encoder::forward_vision_encoder;
    spec.names.model_class = "VisionEncoder";
    spec.defaults.intermediate_size = 3072;
    spec.parse_config = sam_encoder::parse_windows;
    spec.config_keys.remove("intermediate_size");
    spec.config_keys.add("intermediate_size", "mlp_dim", key_rule::family_name_only);
    return spec;
}(sam_vision_encoder);

}  // namespace got_ocr2_detail

// GOT-OCR 2. SAM's encoder before Qwen2.
//
// Source: transformers/models/got_ocr2
inline constexpr model_spec got_ocr2 = [](model_spec spec) {
    spec.model_type = "got_ocr2";
    spec.class_prefix = "GotOcr2";
    spec.base_model = got_ocr2_detail::base;
    spec.compute_media_shapes = got_ocr2_detail::compute_media_shapes;
    spec.parse_image_processor = got_ocr2_detail::parse_processor_config;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &qwen2, .spec_if_absent = &got_ocr2_detail::text};
    spec.components[0] = {.key = "vision_config", .default_spec = &got_ocr2_detail::tower, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
