// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "laws.hpp"

#include <llmcost/graph/graph_cuts.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// Sums of what operations execute and keep.
llmcost::model_metrics sum_of(const operator_graph& g) {
    llmcost::model_metrics all;
    for (const graph_operation& o : g.operations) {
        for (const auto primitive : primitive_members<count>) all.*primitive += o.metrics_of_op.*primitive;
        all.torch_flops += o.metrics_of_op.torch_flops;
        all.written_elements += o.metrics_of_op.written_elements;
        all.backward_torch_flops += o.metrics_of_op.backward_torch_flops;
        for (const auto primitive : primitive_members<count>)
            all.backward.*primitive += o.metrics_of_op.backward.*primitive;
    }
    return all;
}

std::uint64_t elements_of(const std::vector<std::int64_t>& sizes) {
    std::uint64_t n = 1;
    for (const std::int64_t size : sizes) n *= static_cast<std::uint64_t>(size);
    return n;
}

}  // namespace

TEST_CASE("operations of a graph execute what the model does, and every tensor that they read is known") {
    for_all(sample_workloads(), [](const model& m, const workload& load) {
        const operator_graph g = graph_of(m, load);
        const llmcost::model_metrics all = sum_of(g);
        for (const auto primitive : primitive_members<count>) CHECK(all.*primitive == g.total_metrics.*primitive);
        CHECK(all.torch_flops == g.total_metrics.torch_flops);
        CHECK(all.written_elements == g.total_metrics.written_elements);
        CHECK(all.backward_torch_flops == g.total_metrics.backward_torch_flops);
        CHECK(unequal(g.total_metrics, count_model(m, load)) == "");
        for (const auto primitive : primitive_members<count>)
            if (primitive != &primitives<count>::add)
                CHECK(all.backward.*primitive == g.total_metrics.backward.*primitive);
        CHECK(all.backward.add <= g.total_metrics.backward.add);  // gradients of a tensor meet
        std::uint64_t parameters = 0;
        for (const graph_module& submodule : g.modules) parameters += submodule.parameters;
        CHECK(count(parameters) == g.total_metrics.params);
        std::string unknown;
        for (std::size_t i = 0; i < g.operations.size(); ++i)
            for (const graph_input& in : g.operations[i].inputs) {
                const bool known = in.tensor >= 0 && in.producer < static_cast<std::int32_t>(i) &&
                                   (in.producer >= 0 ||
                                    g.tensors[static_cast<std::size_t>(in.tensor)].source != tensor_origin::operation);
                if (!known) unknown = g.modules[static_cast<std::size_t>(g.operations[i].module)].path;
            }
        CHECK(unknown == "");
        CHECK(g.output >= 0);
    });
}

TEST_CASE("parts of every size execute what the model does, and what they read is an edge or a parameter") {
    for_all({sample_workloads().front(), sample_workloads()[1]}, [](const model& m, const workload& load) {
        const operator_graph g = graph_of(m, load);
        for (const graph_granularity grain :
             {graph_granularity{graph_level::layer}, graph_granularity{graph_level::module},
              graph_granularity{graph_level::operation}, graph_granularity{graph_level::layer, 2}}) {
            const node_graph p = parts_of(g, grain);
            llmcost::count flops, parameters;
            std::int32_t next = 0;
            bool in_order = true;
            std::vector<bool> is_covered(g.tensors.size());
            for (const graph_node& part : p.parts) {
                in_order = in_order && part.first == next;
                next = part.end;
                flops += part.done.torch_flops;
                for (const std::int32_t t : part.parameters) is_covered[static_cast<std::size_t>(t)] = true;
            }
            CHECK(in_order);
            CHECK(next == static_cast<std::int32_t>(g.operations.size()));
            CHECK(flops == g.total_metrics.torch_flops);
            for (std::size_t t = 0; t < is_covered.size(); ++t)
                if (is_covered[t]) parameters += llmcost::count(elements_of(g.tensors[t].sizes));
            CHECK(parameters == g.total_metrics.params);
            std::vector<std::set<std::int32_t>> reads(p.parts.size());
            bool forward = true;
            for (const graph_edge& e : p.edges) {
                forward = forward && e.source < e.to;
                reads[static_cast<std::size_t>(e.to)].insert(e.tensor);
            }
            CHECK(forward);
            bool complete = true;
            for (std::size_t i = 0; i < p.parts.size(); ++i)
                for (std::int32_t o = p.parts[i].first; o < p.parts[i].end; ++o)
                    for (const graph_input& in : g.operations[static_cast<std::size_t>(o)].inputs) {
                        const bool is_internal = in.producer >= p.parts[i].first && in.producer < p.parts[i].end;
                        const bool parameter =
                            g.tensors[static_cast<std::size_t>(in.tensor)].source == tensor_origin::parameter;
                        complete = complete && (is_internal || parameter || reads[i].contains(in.tensor));
                    }
            CHECK(complete);
        }
    });
}
