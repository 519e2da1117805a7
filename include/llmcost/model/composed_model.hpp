// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/base/string_ref.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/model/model_spec.hpp>

// Models that are composed in C++, for all functions that read a model: counts, evaluator, training, fit, server.
namespace llmcost {

/// The spec of a forward pass that is a function of the program.
///
/// The spec must outlive its models. `forward` reads the workload from the trace and the sizes from the context.
[[nodiscard]] constexpr model_spec composed_spec(literal class_of_model, forward_function forward) noexcept {
    model_spec spec;
    spec.model_type = "composed";
    spec.class_prefix = class_of_model;
    spec.forward = forward;
    spec.accepts_any_image_size = spec.is_fixed_trace = true;
    return spec;
}

/// A model of a composed spec. `config` has the sizes that the forward pass and analyses read, such as `vocab_size`.
[[nodiscard]] constexpr model composed_model(const model_spec& spec, const model_config& config = {}) noexcept {
    model m;
    m.spec = &spec;
    m.config = config;
    return m;
}

}  // namespace llmcost
