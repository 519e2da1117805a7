// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace llmcost::cli {

/// The parallel sizes of a benchmark run, and the concurrent requests of each data-parallel rank.
struct run_layout {
    std::int64_t tensor_parallel_size = 1;
    std::int64_t data_parallel_size = 1;
    std::int64_t expert_tensor_parallel_size = 1;
    std::int64_t expert_parallel_size = 1;
    std::int64_t requests_per_rank = 1;

    friend constexpr bool operator==(const run_layout&, const run_layout&) = default;
};

/// Whether a run is of InferenceX: its id begins with a date, or with `dsr1`.
[[nodiscard]] bool is_inferencex_run(std::string_view id);

/// The layout of a run whose columns may contradict its id.
///
/// - In InferenceX runs on n devices with expert parallelism, the columns multiply the devices by the expert-parallel
///   size: 64 devices and eight per expert for `…_tp8_ep8_…`. An id without `_tp`, of DeepSeek-R1, has complete experts
///   on each device. One such run is twice in the table, once with its original columns
///   (2026_03_25_gpt_oss_120b_b200_sxm_…_c256_tp2_0_ep2_0_1009 and 2026_04_06_…_c256_tp2_ep2_1741: equal times).
/// - If the id has as many times the requests of the columns as devices (`…_c192_tp4_…` of 48), each device has
///   attention for requests of its own.
///
/// Source: ai-dynamo/aiconfigurator @095f58a5, systems/silicon_sample.csv.
[[nodiscard]] run_layout layout_of_run(std::string_view id, const run_layout& columns);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/run_layout.ipp>  // IWYU pragma: export
#endif
