// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/detail/messages.hpp>
#include <llmcost/memory/quantized_weights.hpp>
#include <llmcost/memory/read_quantization.hpp>

// What a checkpoint's weights take where its configuration says that they are quantised.
namespace llmcost::cli {

/// Bytes of quantised weights, and what to say of them.
struct stored_subject {
    bool quantized = false;
    count bytes{};
    std::string words{};    ///< `weights as fp8 (99.8 % of them)`
    std::string problem{};  ///< why the configuration's is not applied
};

/// The weights as `quantization_config` says; nothing where there is none, or `--dtype` says otherwise.
[[nodiscard]] inline stored_subject stored_weights_of(const read_subject& read, bool dtype_given) {
    if (dtype_given || !read.subject.dims.quantized) return {};
    try {
        const quantization how = read.found.document.read_with([](config_view root) { return read_quantization(root); });
        if (how.none()) return {};
        const stored_weights all = quantized_weights(read.subject, how);
        return {true,
                count(all.bytes),
                "weights as quantization_config says (" + percent(count(all.quantized), count(all.elements)) +
                    " of them quantised)",
                {}};
    } catch (const error& e) {
        return {.problem = printable(e.what())};
    }
}

/// The model as it is run: what is not quantised of a checkpoint that names no type is kept in bfloat16.
[[nodiscard]] inline model run_subject(const read_subject& read, const stored_subject& stored) {
    model m = read.subject;
    if (stored.quantized && m.dims.type == dtype::unspecified) m.dims.type = dtype::bfloat16;
    return m;
}

}  // namespace llmcost::cli
