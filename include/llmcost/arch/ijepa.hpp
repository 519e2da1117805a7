// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace ijepa_detail {

inline constexpr own_key keys[]{vit_detail::keys[0], vit_detail::keys[1], {.value = own_value::computed}};

constexpr value classify(const site& here, trace& t, const value& x) { return classify_linear(here, t, t.mean(x, 1)); }

}  // namespace ijepa_detail

/// A vision transformer of patches alone, bare or under a classifier of their mean.
///
/// Source: transformers/models/ijepa/modeling_ijepa.py.
constexpr value describe_ijepa(const site& here, trace& t) {
    return describe_image_model(here, t, here.row.names.base, describe_vit_base, ijepa_detail::classify);
}

// transformers/models/ijepa: configuration_ijepa.py, modeling_ijepa.py
inline constexpr architecture ijepa = [](architecture a) {
    a.model_type = "ijepa", a.prefix = "IJepa", a.describe = describe_ijepa, a.own = ijepa_detail::keys;
    a.heads = {head_kind::none, head_kind::image_classification};
    a.names.base = "ijepa";
    return a;
}(vit);

}  // namespace llmcost::arch
