// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/args/input_labels.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <string>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/model/multimodal_inputs.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost::cli {

LLMCOST_INLINE input_unit unit_of(const model& m, const workload& load) {
    if (reads_pixels(m)) return input_unit::image;
    const bool silent = m.spec->modalities.has_text && m.config.head != head_kind::audio_classification;
    if (!silent && load.audio_milliseconds > 0) return input_unit::sound;
    if (!m.spec->is_fixed_trace) return input_unit::token;
    workload one = load, two = load;
    one.sequence = 1;
    two.sequence = 2;
    const model_metrics figures_of_one = count_model(m, one), figures_of_two = count_model(m, two);
    return figures_of_one.flops() == figures_of_two.flops() &&
                   figures_of_one.written_elements == figures_of_two.written_elements
               ? input_unit::sample
               : input_unit::token;
}

LLMCOST_INLINE bool has_attention(const model& m, const workload& load) {
    for (const role module_role : {role::attn, role::cross_attn}) {
        trace t{with_storage_types(load, storage_types_of(m, load)), nullptr, scope_query(module_role)};
        m.trace_with_loss(t);
        if (t.has_match()) return true;
    }
    return false;
}

LLMCOST_INLINE std::string audio_label(std::int64_t milliseconds) {
    std::array<char, 40> text{};
    std::snprintf(text.data(), text.size(), "%g s of sound", static_cast<double>(milliseconds) / 1000);
    return text.data();
}

LLMCOST_INLINE std::string input_label(const model& m, const workload& load) {
    const std::string batch = std::to_string(load.batch);
    switch (unit_of(m, load)) {
        case input_unit::image: return batch + (load.batch == 1 ? " image" : " images");
        case input_unit::sample: return batch + (load.batch == 1 ? " sample" : " samples");
        case input_unit::sound: return batch + " x " + audio_label(load.audio_milliseconds);
        case input_unit::token: break;
    }
    return batch + " x " + grouped(count(load.sequence)) + (load.sequence == 1 ? " token" : " tokens");
}

}  // namespace llmcost::cli
