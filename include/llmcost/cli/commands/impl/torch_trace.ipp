// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/torch_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/commands/latency_text.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/chrome_trace.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/operators.hpp>
#include <llmcost/torch/step.hpp>
#include <llmcost/torch/timeline.hpp>

namespace llmcost::cli::detail {

/// The path of the module of a kernel; of a fused kernel, that of its largest part. The loss and the optimizer have no
/// module.
[[nodiscard]] LLMCOST_INLINE std::string module_path_of(const operator_graph& graph, const torch_kernel& k) {
    std::int32_t operation = k.operation;
    if (!k.shares.empty()) operation = std::ranges::max_element(k.shares, {}, &operation_share::share)->operation;
    const auto i = static_cast<std::size_t>(operation);
    if (operation < 0 || i >= graph.operations.size()) return {};
    return graph.modules[static_cast<std::size_t>(graph.operations[i].module)].path;
}

LLMCOST_INLINE std::string torch_step_trace(const deployment& p, const workload& load) {
    enum { device_stream, host_thread };
    const training_plan plan = training_plan_of(p, training_schedule{});
    const operator_graph graph = graph_of(p.model, load);
    const bool has_host = p.host_microseconds > 0;
    std::vector<trace_span> spans;
    for (const torch_launch& launch : timeline_of(list_torch_kernels(p, load, load.training ? &plan : nullptr),
                                                  *p.device, p.host_microseconds, p.tf32)) {
        const torch_kernel& k = launch.kernel;
        const auto times = static_cast<double>(k.num_repetitions);
        const std::string name = profile_name_of(k);
        std::vector<std::pair<std::string, std::string>> texts{{"operands", operands_label(k)},
                                                               {"dtype", std::string(name_of(k.type))}};
        if (std::string module_path = module_path_of(graph, k); !module_path.empty())
            texts.emplace_back("module", std::move(module_path));
        if (has_host)
            spans.push_back({name, "cpu_op", host_thread, launch.issue_begins, launch.issue_duration, {}, {}});
        spans.push_back({name,
                         std::string(step_phase_names[static_cast<std::size_t>(k.phase)]),
                         device_stream,
                         launch.begins,
                         launch.duration,
                         {{"runs", times},
                          {"flops", times * static_cast<double>(k.flops)},
                          {"bytes", times * static_cast<double>(k.bytes())}},
                         std::move(texts)});
    }
    std::vector<std::string> rows{"kernels"};
    if (has_host) rows.emplace_back("host");
    return chrome_trace(deployment_title(p), rows, spans);
}

}  // namespace llmcost::cli::detail
