// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/training_levels.hpp>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/latency_text.hpp>
#include <llmcost/cli/commands/plotted_pass.hpp>
#include <llmcost/cli/commands/timed_operations.hpp>
#include <llmcost/cli/commands/torch_latency.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/graph/folded_path.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/torch/step.hpp>

namespace llmcost::cli::detail {

/// Device seconds of the modules of a step of PyTorch. Operations after those of the graph are the loss.
[[nodiscard]] LLMCOST_INLINE std::vector<module_training_seconds> modules_of(const deployment& p, workload load,
                                                                             const torch_step& step) {
    load.training = load.is_train_mode = load.keeps_float32_parameters = true;
    const operator_graph graph = graph_of(p.model, load);
    std::vector<module_training_seconds> modules;
    const auto seconds_at = [](const std::vector<double>& seconds, std::size_t i) {
        return i < seconds.size() ? seconds[i] : 0;
    };
    for (std::size_t i = 0; i < std::max(step.forward_seconds.size(), step.backward_seconds.size()); ++i) {
        std::string path = "loss";  // `compute_loss`
        if (i < graph.operations.size())
            path = fold_indices(graph.modules[static_cast<std::size_t>(graph.operations[i].module)].path);
        add_seconds(modules, path, seconds_at(step.forward_seconds, i), seconds_at(step.backward_seconds, i));
    }
    return modules;
}

LLMCOST_INLINE std::vector<training_level> training_levels_of(const deployment& p, const workload& load,
                                                              const latency_training_response& response) {
    std::vector<training_level> levels;
    const std::vector<module_training_seconds> modules =
        response.torch ? modules_of(p, load, *response.torch) : response.cost.modules;
    for (const module_training_seconds& m : modules)
        levels.push_back({.name = m.module_path, .forward = m.forward, .backward = m.backward});
    std::ranges::stable_sort(levels, std::ranges::greater{}, &training_level::seconds);
    if (response.cost.reduction.seconds > 0)
        levels.push_back({.name = "(all-reduce)", .backward = response.cost.reduction.seconds});
    if (response.cost.optimizer.seconds > 0)
        levels.push_back({.name = "(optimizer)", .optimizer = response.cost.optimizer.seconds});
    return levels;
}

[[nodiscard]] LLMCOST_INLINE std::string training_levels_json(const deployment& p, const workload& load,
                                                              const latency_training_response& response,
                                                              const std::vector<training_level>& levels) {
    json_writer json;
    json.object().member("seconds", response.cost.total.seconds).member("lower", response.cost.total.lower);
    json.member("upper", response.cost.total.upper);
    if (response.torch)
        json.member("device_seconds", response.torch->device_seconds)
            .member("host_seconds", response.torch->host_seconds);
    json.member("model", p.name_of_model.name).member("device", p.device->names[0]);
    json.member("dtype", p.execution.linear_type->name).member("batch", load.batch);
    if (unit_of(p.model, load) == input_unit::token) json.member("sequence", load.sequence);
    json.member("optimizer_name", response.plan.schedule.optimizer->name).key("modules").array();
    for (const training_level& l : levels) {
        json.object().member("name", l.name).member("forward_seconds", l.forward);
        json.member("backward_seconds", l.backward).member("optimizer_seconds", l.optimizer);
        json.member("seconds", l.seconds()).end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

[[nodiscard]] LLMCOST_INLINE table training_levels_table(const std::vector<training_level>& levels, double seconds,
                                                         bool is_text) {
    table t{{{"module"}}, {}};
    for (const char* name : {"forward", "backward", "optimizer"})
        t.columns.push_back({std::string(name) + (is_text ? " µs" : "_seconds"), true});
    t.columns.push_back({is_text ? "µs" : "seconds", true});
    if (is_text) t.columns.push_back({"share", true});
    const auto add = [&](const std::string& name, const training_level& l) {
        std::vector<std::string> row{name};
        for (const double s : {l.forward, l.backward, l.optimizer, l.seconds()})
            row.push_back(is_text ? formatted("%.1f", 1e6 * s) : exact(s));
        if (is_text) row.push_back(formatted("%.1f %%", 100 * l.seconds() / seconds));
        t.rows.push_back(std::move(row));
    };
    for (const training_level& l : levels) add(l.name.empty() ? "(root module)" : l.name, l);
    return t;
}

LLMCOST_INLINE command_output run_training_levels(const arguments& args, const program& io) {
    for (const option_spec& o : {option::activation_dtype, option::cache_dtype, option::past, option::attention})
        if (args.has(o)) throw_usage(o.name, "cannot be combined with --training");
    latency_request request = parse_latency_request(args);
    const deployment p = io.place(args, io);
    complete_latency_workload(request, args, p);
    validate(request, p);
    const training_plan plan = training_plan_of(p, request.schedule);
    request.plan = &plan;  // without other plans that are faster
    const latency_training_response response = compute_training(request, p);
    const workload& load = request.work.base_workload;
    print_warnings(p, load.sequence, io);
    std::vector<training_level> levels = training_levels_of(p, load, response);
    double seconds = 0;
    for (const training_level& l : levels) seconds += l.seconds();
    const auto maximum = static_cast<std::size_t>(args.number(option::largest, max_input));
    if (levels.size() > maximum) levels.resize(maximum);
    if (request.format == output_format::json) return {training_levels_json(p, load, response, levels)};
    const bool is_text = request.format == output_format::text;
    const table t = training_levels_table(levels, seconds, is_text);
    if (!is_text) return {written(t, request.format)};
    std::string out = deployment_title(p) + "\ntraining step of " + input_label(p.model, load) + ": " +
                      duration(response.cost.total.seconds) + '\n' +
                      training_phase_lines(response.cost, *plan.schedule.optimizer);
    if (response.torch) out += torch_method_line(*response.torch);
    return {out + '\n' + plain(t)};
}

}  // namespace llmcost::cli::detail
