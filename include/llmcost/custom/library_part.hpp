// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include <llmcost/base/config_view.hpp>
#include <llmcost/config/model_registry.hpp>
#include <llmcost/custom/program.hpp>
#include <llmcost/custom/read_expression.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

// Modules of built-in models in custom models, with Transformers' class names: `LlamaAttention`, `Qwen3DecoderLayer`.
namespace llmcost::custom {

/// The model spec and the kind of a built-in module.
struct library_module {
    const model_spec* row = nullptr;
    part_kind kind = part_kind::attention;
};

/// The built-in module with this class name, or null.
[[nodiscard]] library_module find_library_class(const model_registry& known, std::string_view name);

/// The model of a built-in module. String values that are names of sizes are replaced by these sizes.
[[nodiscard]] library_part parse_library_part(const model_registry& known, const library_module& module_class,
                                              config_view json, const name_table& names);

/// Traces a built-in module as the module `module`. `shared`: inputs that its model computes once.
[[nodiscard]] tensor forward_library_module(const library_part& part, const decoder_inputs& shared,
                                            const module_info& module, trace& t, const tensor& x);

}  // namespace llmcost::custom

#ifndef LLMCOST_COMPILED
#include <llmcost/custom/impl/library_part.ipp>  // IWYU pragma: export
#endif
