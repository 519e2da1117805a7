// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/reading/reader.hpp>

namespace llmcost {

/// Configurations of the halves that older files write a second time, under keys of their own: those hold.
constexpr void read_written_twice(config_view config, model& m, literal text, literal images) {
    if (const auto again = config.optional_object(text)) {
        sizes dims = read_sizes(*m.text, *again, true);
        dims.head = m.dims.head, dims.num_labels = m.dims.num_labels;
        dims.type = m.dims.type, dims.quantized = m.dims.quantized;
        m.dims = dims;
    }
    if (const auto again = config.optional_object(images)) m.beside[0].dims = read_sizes(*m.beside[0].kind, *again, true);
}

}  // namespace llmcost
