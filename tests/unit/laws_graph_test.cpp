// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <llmcost/graph/operator_graph.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// Sums of what operations execute and keep.
llmcost::figures sum_of(const operator_graph& g) {
    llmcost::figures all;
    for (const graph_operation& o : g.operations) {
        for (const auto primitive : primitive_members<count>) all.*primitive += o.done.*primitive;
        all.torch_flops += o.done.torch_flops, all.written += o.done.written;
        all.backward_torch_flops += o.done.backward_torch_flops;
    }
    return all;
}

}  // namespace

TEST_CASE("operations of a graph execute what the model does, and every tensor that they read is known") {
    for_all(few_workloads(), [](const model& m, const workload& load) {
        const operator_graph g = graph_of(m, load);
        const llmcost::figures all = sum_of(g);
        for (const auto primitive : primitive_members<count>) CHECK(all.*primitive == g.total.*primitive);
        CHECK(all.torch_flops == g.total.torch_flops);
        CHECK(all.written == g.total.written);
        CHECK(all.backward_torch_flops == g.total.backward_torch_flops);
        std::uint64_t parameters = 0;
        for (const graph_module& each : g.modules) parameters += each.parameters;
        CHECK(count(parameters) == g.total.params);
        std::string unknown;
        for (std::size_t i = 0; i < g.operations.size(); ++i)
            for (const graph_input& in : g.operations[i].inputs) {
                const bool known = in.tensor >= 0 && in.producer < static_cast<std::int32_t>(i) &&
                                   (in.producer >= 0 || g.tensors[static_cast<std::size_t>(in.tensor)].origin !=
                                                            tensor_origin::operation);
                if (!known) unknown = g.modules[static_cast<std::size_t>(g.operations[i].module)].path;
            }
        CHECK(unknown == "");
        CHECK(g.returned >= 0);
    });
}
