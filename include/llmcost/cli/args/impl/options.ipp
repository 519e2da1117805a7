// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/options.hpp>

#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/bundled/bundled_config.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/memory/quantization_names.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::vector<std::string_view> bundled_names(const program& program) {
    std::vector<std::string_view> names;
    for (const bundled_config& b : program.bundled) names.push_back(b.name);
    return names;
}

LLMCOST_INLINE std::vector<std::string_view> type_names(const program& program) {
    std::vector<std::string_view> names;
    for (const model_spec* spec : program.models) names.emplace_back(spec->model_type);
    return names;
}

LLMCOST_INLINE std::vector<std::string_view> quantization_names(const program&) {
    std::vector<std::string_view> names;
    for (const quantization_preset& method : quantization_presets) names.push_back(method.name);
    for (const llmcost::detail::gguf_mix_entry& gguf_mix : llmcost::detail::gguf_mixes) names.push_back(gguf_mix.name);
    return names;
}

}  // namespace llmcost::cli
