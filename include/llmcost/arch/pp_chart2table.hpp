// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/got_ocr2.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::arch {

// PP-Chart2Table. The classes of GOT-OCR 2. The reference's model mapping does not contain its base model.
//
// Source: transformers/models/pp_chart2table
inline constexpr model_spec pp_chart2table = [](model_spec spec) {
    spec.model_type = "pp_chart2table";
    spec.supported_heads = {head_kind::conditional_generation};
    return spec;
}(got_ocr2);

}  // namespace llmcost::arch
