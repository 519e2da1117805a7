// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/forward/vision_transformer.hpp>

// Source: transformers/models/deit: configuration_deit.py, modeling_deit.py

namespace llmcost::arch {

namespace deit_detail {

inline constexpr family_key family_keys[]{
    vit_config::family_keys[0], vit_config::family_keys[1], {.default_value = 2, .type = family_key_type::computed}};

/// Mean of two classifiers, of the class token and of the distillation token.
constexpr tensor classify_twice(const layer_context& ctx, trace& t, const tensor& x) {
    const auto classify = [&](literal name, const tensor& token) {
        if (ctx.config.num_labels == 0) return t.call(name, identity{"Identity"}, token);
        return t.call(name, head_linear{{ctx.config.hidden_size, ctx.config.num_labels, true}}, token);
    };
    const tensor first = classify("cls_classifier", t.select(x, 1));
    return t.div_scalar(t.add(first, classify("distillation_classifier", t.select(x, 1))));
}

}  // namespace deit_detail

/// Traces DeiT: a vision transformer with a distillation token.
///
/// Source: transformers/models/deit/modeling_deit.py.
constexpr tensor forward_deit(const layer_context& ctx, trace& t) {
    if (ctx.config.head != head_kind::image_classification_with_teacher) return forward_vit(ctx, t);
    const module_info model_info{.class_of_module = {ctx.spec.class_prefix, name_of(ctx.config.head)}};
    const module_info base{.name = ctx.spec.names.base_model, .class_of_module = ctx.class_of("Model")};
    t.enter(model_info);
    const tensor x = forward_in_module(base, forward_vit_base, ctx, t);
    const recorder::not_executed_guard unused{t, t.load().head == logits::none};
    return t.leave(model_info, t.select_model_output(x, deit_detail::classify_twice(ctx, t, x)));
}

inline constexpr model_spec deit = [](model_spec spec) {
    spec.model_type = "deit";
    spec.class_prefix = "DeiT";
    spec.forward = forward_deit;
    spec.family_keys = deit_detail::family_keys;
    spec.supported_heads = {head_kind::none, head_kind::image_classification,
                            head_kind::image_classification_with_teacher, head_kind::masked_image};
    spec.names.base_model = "deit";
    return spec;
}(vit);

}  // namespace llmcost::arch
