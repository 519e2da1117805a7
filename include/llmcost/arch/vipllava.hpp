// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/arch/llava.hpp>
#include <llmcost/config/image.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/config/reader.hpp>
#include <llmcost/forward/images.hpp>
#include <llmcost/forward/multimodal.hpp>
#include <llmcost/forward/vision_encoder.hpp>
#include <llmcost/forward/vision_features.hpp>

namespace llmcost::arch {

namespace vipllava_detail {

using vision_features::encode_images, vision_features::feature_layers, vision_features::layers_read,
    vision_features::projector_act, vision_features::side_by_side;

/// A norm followed by two projections with an activation between them (`VipLlavaMultiModalProjector`).
struct normed_projector {
    layer_context ctx;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("MultiModalProjector"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t width = ctx.config.hidden_size;
        const activation act = static_cast<activation>(ctx.model.family[projector_act]);
        const tensor normed = t.call("projector_layernorm", norm_module{norm_kind::layer, x.dim(-1)}, x);
        return projector{type_name(), x.dim(-1), width, width, true, act}.forward(t, normed);
    }
};

constexpr tensor base_of_layers(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](const tensor& token_embeddings) {
        const recorder::not_executed_guard no_pixels{t, !has_images(t)};
        const recorder::workload_guard encoder_workload{t, image_workload(t.load(), images_in(t), 0, 0)};
        const tensor selected_states = side_by_side(ctx, t, encode_images(ctx, t, "vision_tower"), false);
        return t.masked_scatter(token_embeddings,
                                t.call("multi_modal_projector", normed_projector{ctx}, selected_states));
    });
}

/// Parses the vision layers to read; the default is a list of five layers.
constexpr void parse_layers(config_view json, model& m) {
    if (const auto name = json.optional_string("projector_hidden_act"))
        m.family[projector_act] = static_cast<std::int64_t>(activation_named(json, "projector_hidden_act", *name));
    const literal key = json.contains("vision_feature_layer") ? "vision_feature_layer" : "vision_feature_layers";
    m.family[feature_layers] = json.contains(key) ? count_layers(json, key) : 5;
    m.family[layers_read] =
        parse_selected_layers(json, key, m.components[0].config.num_hidden_layers, {-2, -5, -8, -11, 6});
    if (m.family[feature_layers] > trace::max_cat_inputs) throw_invalid_value(json, key, "at most 64 layers");
}

}  // namespace vipllava_detail

// transformers/models/vipllava: several layers of the tower, a norm before the projections
inline constexpr model_spec vipllava = [](model_spec spec) {
    spec.model_type = "vipllava";
    spec.class_prefix = "VipLlava";
    spec.base_model = vipllava_detail::base_of_layers;
    spec.parse_composite_config = vipllava_detail::parse_layers;
    return spec;
}(llava);

}  // namespace llmcost::arch
