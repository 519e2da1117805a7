// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/json.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/model/model_spec.hpp>

// The options that divide a model over devices in commands that compute memory.
namespace llmcost::cli {

namespace option {

inline constexpr option_spec enable_dp_attention{
    .name = "--enable-dp-attention",
    .help = "sglang: the ranks of --tp are --dp replicas of attention, and share MLPs and experts"};

}  // namespace option

/// Tensor, data, expert and pipeline parallelism of an inference step.
inline constexpr std::array rank_options{option::tp, option::pp, option::dp, option::ep, option::enable_dp_attention};

/// Parses `--tp`, `--pp`, `--dp`, `--ep` and `--enable-dp-attention`. Throws: `usage` if the model does not support
/// them.
///
/// With data-parallel attention, `--tp` is the number of devices of a stage, as in SGLang.
[[nodiscard]] inference_sharding parse_sharding(const arguments& args, const model& m);

/// The ranks of a model with the stored weights of its checkpoint.
[[nodiscard]] rank_memory ranks_of(const model& m, const stored_model_weights& stored, const workload& load,
                                   const engine_memory_profile& engine, const inference_sharding& sharding = {});

namespace detail {

/// Sets the sizes that SGLang reads from `vision_config`: without `num_hidden_layers`, such as a `depth`, 24 layers.
///
/// Source: sglang 0.5.23, srt/arg_groups/memory_hook.py, `adjust_mem_fraction_for_vlm`.
void set_vision_sizes(const config_document& document, sglang_options& options);

}  // namespace detail

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/request/impl/rank_options.ipp>  // IWYU pragma: export
#endif
