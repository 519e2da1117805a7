// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost {

/// The path of the module in which a forward pass fails, e.g. `model.layers.0.mlp.down_proj`; empty if it does not.
///
/// Call it after an error, for its message: the pass is traced again.
[[nodiscard]] std::string failing_module(const model& m, const workload& load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/failing_module.ipp>  // IWYU pragma: export
#endif
