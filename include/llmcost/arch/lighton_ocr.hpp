// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/mistral3.hpp>
#include <llmcost/arch/qwen3.hpp>
#include <llmcost/reading/processor.hpp>

namespace llmcost::arch {

namespace lighton_ocr_detail {

/// A norm, the merger, two projections without biases.
struct merging_projector {
    site here;
    std::int64_t images;

    static constexpr role what = role::projector;
    static constexpr bool leaf = false;
    [[nodiscard]] constexpr class_name type() const { return here.type("MultiModalProjector"); }
    constexpr value describe(trace& t, const value& states) const {
        const std::int64_t in = states.dim(-1), width = here.dims.hidden_size;
        const norm<norm_kind::rms> scale{in, here.type("RMSNorm")};
        const mistral3_detail::patch_merger merger{here, here.whole.own[mistral3_detail::merged_side], images};
        const value merged = t.call("patch_merger", merger, t.call("norm", scale, states));
        const value h = t.call("act", gelu_module{}, t.call("linear_1", linear{in, width}, merged));
        return t.call("linear_2", linear{width, width}, h);
    }
};

/// Sides are multiples of what the file calls a patch.
constexpr void read_processor(config_view told, model& m) {
    using namespace mistral3_detail;
    mistral3_detail::read_processor(told, m);
    const auto found = told.find("patch_size");
    if (!found || found->is_null()) return;
    const std::int64_t patch = m.beside[0].dims.vision.patch_size;
    m.own[step] = found->is_object() ? found->positive("height") : found->as_positive();
    expect_side(told, "patch_size", m.own[step], "a height as large as the width");
    if (m.own[step] % patch != 0) fail_value(told, "patch_size", "a multiple of the tower's patch_size");
}

constexpr value base(const site& here, trace& t) {
    return mistral3_detail::base_with<merging_projector>(here, t, "vision_encoder", "vision_projection");
}

// what it takes where it names no text model and no tower (configuration_lighton_ocr.py, `sub_configs_defaults`)
inline constexpr architecture text = [](architecture a) {
    a.defaults.vocab_size = 151936, a.defaults.hidden_size = 1024, a.defaults.intermediate_size = 3072;
    a.defaults.num_hidden_layers = 28, a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 8;
    a.defaults.head_dim = 128, a.defaults.max_position_embeddings = 40960, a.defaults.sliding_window = 0;
    return a;
}(qwen3);
inline constexpr architecture tower = [](architecture a) {
    a.defaults.hidden_act = activation::silu;
    return a;
}(mistral3_detail::tower);

}  // namespace lighton_ocr_detail

// transformers/models/lighton_ocr: Mistral 3's merging tower in front of Qwen3
inline constexpr architecture lighton_ocr = [](architecture a) {
    a.model_type = "lighton_ocr", a.prefix = "LightOnOcr", a.base = lighton_ocr_detail::base, a.read_whole = nullptr;
    a.read_processor = lighton_ocr_detail::read_processor;
    a.text = {.key = "text_config", .otherwise = &qwen3, .missing = &lighton_ocr_detail::text};
    a.beside[0] = {.key = "vision_config", .otherwise = &pixtral, .missing = &lighton_ocr_detail::tower};
    return a;
}(mistral3);

}  // namespace llmcost::arch
