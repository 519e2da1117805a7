// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>

namespace llmcost::arch {

namespace deit_detail {

inline constexpr own_key keys[]{vit_detail::keys[0], vit_detail::keys[1], {.otherwise = 2, .value = own_value::computed}};

/// Two classifiers, of the class token and of the distilled one, and their mean.
constexpr value classify_twice(const site& here, trace& t, const value& x) {
    const auto classify = [&](literal name, const value& token) {
        if (here.dims.num_labels == 0) return t.call(name, identity{"Identity"}, token);
        return t.call(name, head_linear{{here.dims.hidden_size, here.dims.num_labels, true}}, token);
    };
    const value first = classify("cls_classifier", t.select(x, 1));
    return t.div(t.add(first, classify("distillation_classifier", t.select(x, 1))));
}

}  // namespace deit_detail

/// A vision transformer with a second token, which learns from another model.
///
/// Source: transformers/models/deit/modeling_deit.py.
constexpr value describe_deit(const site& here, trace& t) {
    if (here.dims.head != head_kind::image_classification_with_teacher) return describe_vit(here, t);
    const module_info whole{.type = {here.row.prefix, name_of(here.dims.head)}};
    const module_info base{.name = here.row.names.base, .type = here.type("Model")};
    t.enter(whole);
    const value x = describe_within(base, describe_vit_base, here, t);
    const recorder::idle_guard unused{t, t.load().head == logits::none};
    return t.leave(whole, t.returns(x, deit_detail::classify_twice(here, t, x)));
}

// transformers/models/deit: configuration_deit.py, modeling_deit.py
inline constexpr architecture deit = [](architecture a) {
    a.model_type = "deit", a.prefix = "DeiT", a.describe = describe_deit, a.own = deit_detail::keys;
    a.heads = {head_kind::none, head_kind::image_classification, head_kind::image_classification_with_teacher,
               head_kind::masked_image};
    a.names.base = "deit";
    return a;
}(vit);

}  // namespace llmcost::arch
