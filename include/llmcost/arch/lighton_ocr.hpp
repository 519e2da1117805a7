// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral3.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/merged_patches.hpp>

namespace llmcost::arch {

namespace lighton_ocr_detail {

/// A norm, the merger, two projections without biases.
struct merging_projector {
    layer_context ctx;
    std::int64_t images;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& states) const {
        const std::int64_t in = states.dim(-1), width = ctx.config.hidden_size;
        const norm_module scale{norm_kind::rms, in, ctx.class_of("RMSNorm")};
        const merged_patches::patch_merger merger{ctx, ctx.model.family[merged_patches::merged_side], images};
        const tensor merged = t.call("patch_merger", merger, t.call("norm", scale, states));
        const tensor h = t.call("act", gelu_module{}, t.call("linear_1", linear{in, width}, merged));
        return t.call("linear_2", linear{width, width}, h);
    }
};

/// Sides are multiples of what the file calls a patch.
constexpr void parse_processor_config(config_view json, model& m) {
    using namespace merged_patches;
    merged_patches::parse_processor_config(json, m);
    const auto found = json.find("patch_size");
    if (!found || found->is_null()) return;
    const std::int64_t patch = m.components[0].config.vision.patch_size;
    m.family[step] = found->is_object() ? found->positive("height") : found->as_positive();
    expect_side(json, "patch_size", m.family[step], "a height as large as the width");
    if (m.family[step] % patch != 0) throw_invalid_value(json, "patch_size", "a multiple of the tower's patch_size");
}

constexpr tensor base(const layer_context& ctx, trace& t) {
    return merged_patches::base_with<merging_projector>(ctx, t, "vision_encoder", "vision_projection");
}

// what it takes where it names no text model and no tower (configuration_lighton_ocr.py, `sub_configs_defaults`)
inline constexpr submodel_spec text = [](model_spec spec) {
    spec.defaults.vocab_size = 151936;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 3072;
    spec.defaults.num_hidden_layers = 28;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.head_dim = 128;
    spec.defaults.max_position_embeddings = 40960;
    spec.defaults.sliding_window = 0;
    return spec;
}(qwen3);

inline constexpr submodel_spec tower = [](model_spec spec) {
    spec.defaults.hidden_act = activation::silu;
    return spec;
}(mistral3_vision_encoder);

}  // namespace lighton_ocr_detail

// transformers/models/lighton_ocr: Mistral 3's merging tower before Qwen3
inline constexpr model_spec lighton_ocr = [](model_spec spec) {
    spec.model_type = "lighton_ocr";
    spec.class_prefix = "LightOnOcr";
    spec.alternative_classes = "";
    spec.published_head = published_head_kind::as_built;
    spec.base_model = lighton_ocr_detail::base;
    spec.parse_composite_config = nullptr;
    spec.parse_image_processor = lighton_ocr_detail::parse_processor_config;
    spec.text_model = {.key = "text_config", .default_spec = &qwen3, .spec_if_absent = &lighton_ocr_detail::text};
    spec.components[0] = {
        .key = "vision_config", .default_spec = &pixtral, .spec_if_absent = &lighton_ocr_detail::tower};
    return spec;
}(mistral3);

}  // namespace llmcost::arch
