// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/config/reader.hpp>

namespace llmcost {

/// Parses the second copy of the text and image configurations in older files, which takes precedence.
constexpr void parse_written_twice(config_view json, model& m, literal text, literal images) {
    if (const auto nested_json = json.optional_object(text)) {
        model_config config = parse_sizes(*m.text_spec, *nested_json, true);
        config.head = m.config.head;
        config.num_labels = m.config.num_labels;
        config.dtype_of_weights = m.config.dtype_of_weights;
        config.quantized = m.config.quantized;
        m.config = config;
    }
    if (const auto nested_json = json.optional_object(images))
        m.components[0].config = parse_sizes(*m.components[0].spec, *nested_json, true);
}

}  // namespace llmcost
