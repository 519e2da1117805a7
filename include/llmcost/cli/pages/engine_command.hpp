// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

// Launch commands of engines. Source: vLLM 0.33.0 (engine/arg_utils.py), SGLang 0.5.23 (server_args.py),
// TensorRT-LLM 1.3.0 (commands/serve.py).
namespace llmcost::cli {

namespace detail {

/// The option that quantizes a checkpoint when it is loaded; only vLLM and SGLang have one.
[[nodiscard]] const char* load_time_quantization(const deployment& p, bool quantises);

}  // namespace detail

/// The launch command of a deployment with `stages` pipeline stages.
///
/// `quantises`: the weight type differs from that of the checkpoint.
[[nodiscard]] std::string launch_command(const deployment& p, std::int64_t stages, const scheduling_policy& policy,
                                         bool quantises = false);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/pages/impl/engine_command.ipp>  // IWYU pragma: export
#endif
