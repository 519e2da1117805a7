// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/deepseek_vl.hpp>
#include <llmcost/arch/sam.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/layer_types.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/sam_encoder.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/layers/einsum.hpp>

namespace llmcost::arch {

namespace deepseek_vl_hybrid_detail {

/// Projects each encoder's states to half of the text width.
struct hybrid_aligner {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("Aligner"); }
    constexpr tensor forward(trace& t, const tensor& x, const tensor& sharp) const {
        const std::int64_t width = ctx.config.hidden_size, half = width / 2;
        const tensor low = t.call("vision_proj", linear{x.dim(-1), half, true}, x);
        const tensor high = t.call("high_res_vision_proj", linear{sharp.dim(-1), half, true}, sharp);
        const tensor concatenated = t.call("act", gelu_module{}, t.cat({high, low}, -1));
        return t.call("proj", linear{width, width, true}, concatenated);
    }
};

/// Resizes SAM's states to four times SigLIP's grid. Two convolutions, called twice, halve them again.
struct narrowing {
    std::int64_t side;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"DeepseekVL", "SamVisionProj"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t channels = x.dim(1);
        const tensor resized = t.bilinear(x, 4 * side, 4 * side);
        const tensor h = t.call("conv1", convolution_2d{channels, 2 * channels, 3, 2, 1, 1, false}, resized);
        return t.call("conv2", convolution_2d{2 * channels, 4 * channels, 3, 2, 1, 1, false}, h);
    }
};

/// SAM's states of the last layer and of its first layer with full attention, each after a neck: (B, patches, width).
constexpr tensor sharp_states(const layer_context& ctx, trace& t) {
    const model_config& sam = ctx.model.components[1].config;
    const vision_config& image = ctx.model.components[0].config.vision;
    const narrowing high_res_proj{image.image_height / image.patch_size};
    const tensor alpha = t.param("high_res_vision_alpha", {1});
    const tensor last = forward_encoder_component(ctx, t, 1, "high_res_vision_model", role::vision);
    const tensor high = t.call("high_res_vision_proj", high_res_proj, last);
    tensor inner = trace::buffer({last.dim(0), last.dim(2), last.dim(3), sam.hidden_size});
    inner.type = last.type;
    inner.requires_grad = last.requires_grad;
    const tensor first =
        sam_encoder::forward_neck(t, "high_res_vision_neck", {"DeepseekVL", "SamVisionNeck"}, ctx.class_of("LayerNorm"),
                                  sam.family[sam_encoder::output_channels], inner);
    const recorder::shared_parameters_guard shared_parameters{t};
    const tensor concatenated = t.add(high, t.mul(t.call("high_res_vision_proj", high_res_proj, first), alpha));
    return t.reshape(concatenated.permute({0, 2, 3, 1}), {concatenated.dim(0), -1, concatenated.dim(1)});
}

constexpr tensor base_hybrid(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor plain = forward_encoder_component(ctx, t, 0, "vision_model", role::vision);
        const tensor sharp = sharp_states(ctx, t);
        return t.masked_scatter(token_embeddings, t.call("aligner", hybrid_aligner{ctx}, plain, sharp));
    });
}

/// Parses the hybrid model. The two halves of the width are concatenated before a projection.
constexpr void parse_hybrid(config_view json, model& m) {
    if (m.config.hidden_size % 2 != 0) throw_unsupported(json, "text_config", "an odd hidden_size is not supported");
}

}  // namespace deepseek_vl_hybrid_detail

// DeepSeek-VL Hybrid. Derived from DeepSeek-VL, with SAM's encoder in addition to SigLIP.
//
// Source: transformers/models/deepseek_vl_hybrid
inline constexpr model_spec deepseek_vl_hybrid = [](model_spec spec) {
    spec.model_type = "deepseek_vl_hybrid";
    spec.class_prefix = "DeepseekVLHybrid";
    spec.base_model = deepseek_vl_hybrid_detail::base_hybrid;
    spec.parse_composite_config = deepseek_vl_hybrid_detail::parse_hybrid;
    spec.components[1] = {.key = "high_res_vision_config", .default_spec = &sam_vision_model};
    return spec;
}(deepseek_vl);

}  // namespace llmcost::arch
