// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include "../unit/laws.hpp"
#include "unmeasured.hpp"

#include <llmcost/graph/levels.hpp>
#include <llmcost/serving/operator_times.hpp>
#include <llmcost/serving/timed_step.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <string>

using namespace llmcost;
using namespace llmcost::testing;

namespace {

/// What the rows of a table add up to, forwards.
operator_costs sum_of(const operator_table& t) {
    operator_costs all;
    for (const operator_row& row : t.rows)
        if (row.row_type != operator_row_kind::backward) all += row.costs;
    return all;
}
/// Whether some operation casts, which a model may ask for in any type.
bool reads_in_several_types(const operator_graph& g) {
    for (const graph_operation& o : g.operations)
        if (o.kind == op::copy && o.type != o.inputs[0].type) return true;
    return false;
}
operator_costs sum_of(const std::vector<operator_group>& groups) {
    operator_costs all;
    for (const operator_group& g : groups) all += g.costs;
    return all;
}

}  // namespace

TEST_CASE("rows of an operator table add up to the model, folded, expanded and in groups") {
    for_all(sample_workloads(), [](const model& m, const workload& load) {
        const operator_graph g = graph_of(m, load);
        const operator_table folded = operator_table_of(g, {.backward = load.training, .views = true}),
                             expanded = operator_table_of(g, {.expand = true});
        const operator_costs all = expanded.forward;
        for (const auto primitive : primitive_members<count>)
            CHECK(all.executes.*primitive == g.total_metrics.*primitive);
        CHECK(all.torch_flops == g.total_metrics.torch_flops);
        CHECK(all.saved_bytes == g.total_metrics.saved_bytes);
        CHECK(all.parameters + expanded.unread == g.total_metrics.params);
        CHECK(expanded.rows.size() == g.operations.size());
        for (const operator_costs& table_total :
             {sum_of(folded), sum_of(expanded), sum_of(operator_groups_of(g, row_group::kind)),
              sum_of(operator_groups_of(g, row_group::module)), sum_of(operator_groups_of(g, row_group::layer))})
            CHECK((table_total == all));
        if (load.training)
            for (const auto primitive : primitive_members<count>)
                CHECK(folded.backward.executes.*primitive == g.total_metrics.backward.*primitive);
        const model_levels levels = levels_of(g);
        CHECK(levels.largest_operation > count{});
        CHECK(levels.peak_activations > count{});
    });
}

TEST_CASE("operations of a table take together as long as a step that runs eagerly") {
    unmeasured no_measurements;
    execution execution_config;
    execution_config.launch = launch_mode::eager;
    for_all({{.batch = 2, .sequence = 9}, {.batch = 3, .sequence = 1, .past = 4}}, [&](const model& m, workload load) {
        const timed_step step = time_step(m, {load}, execution_config, h200, no_measurements);
        load.activations = dtype::bfloat16;
        const operator_times times = operator_times_of(m, load, execution_config, h200, no_measurements);
        double kernels = 0;
        for (const timed_kernel& k : step.kernels)
            kernels += static_cast<double>(k.kernel.kernel.num_runs) * k.estimate.seconds;
        CHECK(times.device_seconds == doctest::Approx(kernels).epsilon(1e-9));
        CHECK(static_cast<double>(times.kernels) == step.done.launches);
        CHECK(times.forward.size() == graph_of(m, load).operations.size());
        double total_seconds = 0;
        for (const double seconds : times.forward) total_seconds += seconds;
        CHECK(total_seconds == doctest::Approx(kernels).epsilon(1e-9));
        // in one type, where there are no casts, every operation is its own place
        load.activations = dtype::float32;
        const operator_graph g = graph_of(m, load);
        const operator_times plain = operator_times_of(m, load, execution_config, h200, no_measurements);
        std::string untimed;
        for (std::size_t i = 0; i < g.operations.size(); ++i)
            if (g.operations[i].bytes_written > 0 && g.operations[i].kind != op::constant && plain.forward[i] == 0)
                untimed = g.modules[static_cast<std::size_t>(g.operations[i].module)].path;
        if (g.modules.size() > 0 && !reads_in_several_types(g)) CHECK(untimed == "");
    });
}
