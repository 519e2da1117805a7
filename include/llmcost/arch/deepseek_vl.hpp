// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/llama.hpp>
#include <llmcost/arch/siglip.hpp>
#include <llmcost/forward/multimodal.hpp>

namespace llmcost::arch {

namespace deepseek_vl_detail {

struct aligner {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Aligner"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const tensor h = t.call("activation", gelu_module{}, t.call("linear1", linear{x.dim(-1), width, true}, x));
        return t.call("linear2", linear{width, width, true}, h);
    }
};

constexpr tensor base(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor states = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
        return t.masked_scatter(token_embeddings, t.call("aligner", aligner{ctx}, states));
    });
}

}  // namespace deepseek_vl_detail

// DeepSeek-VL. SigLIP and Llama.
//
// Source: transformers/models/deepseek_vl
inline constexpr model_spec deepseek_vl = [](model_spec spec) {
    spec.model_type = "deepseek_vl";
    spec.class_prefix = "DeepseekVL";
    spec.base_model = deepseek_vl_detail::base;
    spec.compute_media_shapes = count_patch_tokens;
    spec.modalities.has_images = true;
    spec.text_model = {.key = "text_config", .default_spec = &llama};
    spec.components[0] = {.key = "vision_config", .default_spec = &siglip_vision_model};
    spec.defaults.tie_word_embeddings = true;
    spec.published_head = published_head_kind::untied_by_text_model;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
