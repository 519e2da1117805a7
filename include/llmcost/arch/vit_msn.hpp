// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/vit.hpp>
#include <llmcost/walks/images.hpp>

namespace llmcost::arch {

namespace vit_msn_detail {

constexpr value classify(const site& here, trace& t, const value& x) { return classify_linear(here, t, t.select(x, 1)); }

}  // namespace vit_msn_detail

// transformers/models/vit_msn: configuration_vit_msn.py, modeling_vit_msn.py, a vision transformer without a pooler
inline constexpr architecture vit_msn = [](architecture a) {
    a.model_type = "vit_msn", a.prefix = "ViTMSN";
    a.describe = [](const site& here, trace& t) {
        return describe_image_model(here, t, here.row.names.base, describe_vit_states, vit_msn_detail::classify);
    };
    a.heads = {head_kind::none, head_kind::image_classification};
    return a;
}(vit);

}  // namespace llmcost::arch
