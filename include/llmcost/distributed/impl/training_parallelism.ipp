// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/distributed/training_parallelism.hpp>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/distributed/device_mesh.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost {

LLMCOST_INLINE device_mesh mesh_of(const training_parallelism& parallel) {
    std::vector<mesh_dimension> dimensions;
    const auto add = [&](mesh_axis axis, std::int64_t size) {
        if (size > 1) dimensions.push_back({axis, size});
    };
    add(mesh_axis::pipeline, parallel.pipeline);
    add(mesh_axis::data_replicate, parallel.data_replicate);
    add(mesh_axis::data, parallel.data);
    add(mesh_axis::context, parallel.context);
    add(mesh_axis::tensor, parallel.tensor);
    return device_mesh(std::move(dimensions));
}

LLMCOST_INLINE std::string parallelism_error(const training_parallelism& parallel, std::int64_t num_layers,
                                             std::int64_t num_experts) {
    const auto text = [](std::int64_t n) { return std::to_string(n); };
    const std::int64_t stages = parallel.pipeline * parallel.stages_per_rank;
    if (parallel.pipeline > 1 && stages > num_layers)
        return text(stages) + " pipeline stages, but the model has " + text(num_layers) + " layers";
    if (parallel.expert > 1 && num_experts < 2) return "the model has no routed experts to distribute";
    if (parallel.expert > 1 && num_experts % parallel.expert != 0)
        return text(parallel.expert) + " expert-parallel ranks do not divide " + text(num_experts) + " experts";
    const std::int64_t ranks = parallel.world_size() / parallel.pipeline;
    if (ranks % (parallel.expert * parallel.expert_tensor) != 0)
        return text(parallel.expert) + " expert-parallel times " + text(parallel.expert_tensor) +
               " expert-tensor-parallel ranks do not divide the " + text(ranks) + " ranks of a pipeline stage";
    return {};
}

}  // namespace llmcost
