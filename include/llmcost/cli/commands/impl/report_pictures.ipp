// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/report_pictures.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/memory.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/pages/memory_pictures.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/pages/tree.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/module_graph.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/graph/pass_graph.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/report/icicle.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/layer_drawing.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/roofline_plot.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string join_inline(const std::vector<std::string>& texts) {
    std::string out;
    for (const std::string& w : texts) out += (out.empty() ? "" : " · ") + w;
    while (out.ends_with('\n')) out.pop_back();
    std::replace(out.begin(), out.end(), '\n', ' ');
    return out;
}

/// The seconds of every module by path, including its children. Module lists, which are not in a graph, are included.
LLMCOST_INLINE std::unordered_map<std::string, double> seconds_by_path(const reported_pass& p) {
    std::vector<double> self_seconds(p.graph.modules.size());
    for (std::size_t i = 0; i < p.graph.operations.size(); ++i)
        at_place(self_seconds, p.graph.operations[i].module) += p.seconds.forward[i];
    std::unordered_map<std::string, double> out;
    for (std::size_t m = 0; m < self_seconds.size(); ++m) {
        if (!(self_seconds[m] > 0)) continue;
        const std::string& path = p.graph.modules[m].path;
        for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.', dot + 1))
            out[path.substr(0, dot)] += self_seconds[m];
        out[path] += self_seconds[m];
        if (!path.empty()) out[{}] += self_seconds[m];
    }
    return out;
}

/// The metrics of the icicle chart: all that are not 0 for the model.
LLMCOST_INLINE std::vector<const metric*> icicle_metrics(const model_metrics& all) {
    std::vector<const metric*> list{find_metric("flops"), find_metric("params"), find_metric("act")};
    for (const metric& m : metrics) {
        const bool is_duplicate =
            m.name == "out" || m.name == "active_flops" || m.name == "macs" || m.name == "saved_bytes";
        if (!is_duplicate && m.value_of(all) != count{} && std::find(list.begin(), list.end(), &m) == list.end())
            list.push_back(&m);
    }
    return list;
}

LLMCOST_INLINE scope_pictures scopes_of(const reported& r) {
    scope_pictures out;
    icicle& all = out.boxes;
    const std::vector<const metric*> list = icicle_metrics(r.roles.sums.total.front());
    for (const metric* m : list) all.measures.push_back({std::string(m->name), is_bytes(*m) ? "B" : ""});
    std::unordered_map<std::string, double> seconds;
    if (r.pass.timed()) {
        seconds = seconds_by_path(r.pass);
        all.measures.push_back({"time", "s"});
        out.figures.columns.push_back({"time", true});
    }
    const scope_results scopes = compute_scopes(r.request);
    std::vector<std::int32_t> open;  // current box of each depth
    std::vector<role> roles;
    all.kinds.resize(svg_kinds);
    all.kinds.back() = "other";
    for (const tree_line& line : tree_builder(r.request, scopes, list).build()) {
        icicle_box b;
        open.resize(static_cast<std::size_t>(line.depth));
        b.parent = open.empty() ? -1 : open.back();
        const std::string above = b.parent >= 0 ? at_place(all.boxes, b.parent).path : std::string();
        b.name = line.depth == 0 ? r.roles.root : line.name;
        b.type = line.type;
        b.depth = line.depth;
        if (line.depth > 0) b.path = above.empty() ? line.name : above + '.' + line.name;
        b.times = static_cast<std::uint64_t>(line.modules);
        b.kind = b.parent >= 0 ? at_place(all.boxes, b.parent).kind : svg_kinds - 1;
        if (line.module_role != role::none) {
            const auto known = std::find(roles.begin(), roles.end(), line.module_role);
            b.kind = static_cast<std::size_t>(known - roles.begin()) % (svg_kinds - 1);
            if (known == roles.end()) {
                roles.push_back(line.module_role);
                all.kinds[b.kind].append(all.kinds[b.kind].empty() ? "" : ", ").append(name_of(line.module_role));
            }
        }
        const count times(line.modules);
        for (const count n : line.figures) b.sizes.push_back(static_cast<double>(n * times));
        std::vector<std::string> row{std::string(static_cast<std::size_t>(line.depth) * 2, ' ') + b.name,
                                     b.type,
                                     digits(times),
                                     digits(line.figures[0] * times),
                                     percent(line.figures[0] * times, r.roles.sums.total.front().flops()),
                                     digits(line.figures[1] * times),
                                     digits(line.figures[2] * times)};
        if (r.pass.timed()) {
            b.sizes.push_back(static_cast<double>(times) * seconds[line.path]);
            row.push_back(duration(b.sizes.back()));
        }
        out.figures.rows.push_back(std::move(row));
        open.push_back(length_of(all.boxes));
        all.boxes.push_back(std::move(b));
    }
    all.title = r.request.name_of_model.name + ", FLOPs by module";
    all.description = "The model at the top, its modules below; the width of a box is its share of the FLOPs";
    return out;
}

LLMCOST_INLINE report_picture roofline_picture(const reported& r) {
    constexpr std::size_t labels = 12, max_rows = 300;
    const device& target_device = *r.pass.device.target_device;
    const operand_type& products = *r.pass.device.execution_config.linear_type;
    operator_table all = operator_table_of(r.pass.graph, {}, r.pass.seconds);
    std::stable_sort(all.rows.begin(), all.rows.end(),
                     [](const operator_row& a, const operator_row& b) { return a.costs.seconds > b.costs.seconds; });
    roofline_points points;
    points.kinds = {"products", "other arithmetic", "no FLOPs"};
    points.bytes_per_second = target_device.memory_bandwidth * 1e9;
    points.bandwidth_name = formatted("%.4g TB/s", points.bytes_per_second / 1e12);
    for (const operand_type* type :
         {&products, r.pass.device.execution_config.unquantized_type(), find_operand_type("float32")}) {
        const double peak = target_device.*type->unit;
        const bool known = std::any_of(points.roofs.begin(), points.roofs.end(),
                                       [&](const roofline_roof& roof) { return roof.flops_per_second == peak * 1e12; });
        if (peak > 0 && !known)
            points.roofs.push_back({std::string(type->name) + formatted(" %.4g TFLOP/s", peak), peak * 1e12});
    }
    table t{{{"#", true},
             {"operator"},
             {"times", true},
             {"FLOPs", true},
             {"bytes", true},
             {"FLOPs/byte", true},
             {"time", true},
             {"share", true}},
            {}};
    std::size_t timed = 0;
    for (const operator_row& row : all.rows) {
        const operator_costs& c = row.costs;
        if (!(c.seconds > 0)) continue;
        const std::string number = std::to_string(++timed);
        points.points.push_back({number + ". " + row.name + ": " + duration(c.seconds) + ", " + scaled(c.flops()) +
                                     " FLOPs, " + in_bytes(c.bytes()),
                                 static_cast<double>(c.flops()), static_cast<double>(c.bytes()), c.seconds,
                                 c.torch_flops != count{} ? 0U
                                 : c.flops() != count{}   ? 1U
                                                          : 2U,
                                 timed <= labels ? number : std::string()});
        if (timed > max_rows) continue;
        t.rows.push_back({number, row.name, std::to_string(row.times), digits(c.flops()), digits(c.bytes()),
                          formatted("%.2f", c.intensity()), duration(c.seconds),
                          formatted("%.1f %%", 100 * c.seconds / all.forward.seconds)});
    }
    const std::string title = r.request.name_of_model.name + " on " + r.pass.device_title();
    const std::string step = input_label(r.request.model, r.pass.load) +
                             (r.load().past > 0 ? " after " + grouped(count(r.load().past)) : "") + ", " +
                             std::string(products.name);
    return {
        "roofline",
        roofline_plot({title, std::to_string(timed) + " operators of " + step +
                                  " by arithmetic intensity (FLOPs/byte) and FLOP/s"},
                      points),
        step + ": " + std::to_string(timed) + " operators, equal layers combined, " + duration(all.forward.seconds) +
            " in total. The numbers refer to the table below, slowest first. Operators without FLOPs are at the left; "
            "their distance to the roof is that of their bytes/s to the memory bandwidth. " +
            (r.pass.torch ? std::string()
                          : "Times assume one element type for all tensors, so that casts take no time. ") +
            "Operators with float32 operands may exceed the roof, as may operators with cached data.",
        std::move(t)};
}

/// The outermost list item in a module with the most FLOPs; the module if it contains no list item.
LLMCOST_INLINE std::int32_t largest_layer_in(const operator_graph& g, std::int32_t module) {
    std::int32_t best = module;
    count maximum;
    for (std::int32_t m = module + 1; m < length_of(g.modules); ++m) {
        const graph_module& candidate = at_place(g.modules, m);
        if (candidate.index < 0) continue;
        std::int32_t above = candidate.parent;
        while (above >= 0 && above != module && at_place(g.modules, above).index < 0)
            above = at_place(g.modules, above).parent;
        if (above != module) continue;
        count flops;
        for (std::int32_t i = candidate.first; i < candidate.end; ++i)
            flops += at_place(g.operations, i).metrics_of_op.flops();
        if (best == module || flops > maximum) {
            best = m;
            maximum = flops;
        }
    }
    return best;
}

LLMCOST_INLINE report_picture layer_picture(const reported& r) {
    constexpr std::int32_t maximum = 120;
    const operator_graph& g = r.pass.graph;
    node_graph parts = parts_of(g, {graph_level::module});
    std::int32_t layer = largest_layer_in(g, 0);
    layer_parts chosen = layer_parts_of(g, parts, layer);
    for (std::int32_t child = largest_layer_in(g, layer); chosen.boxes() > maximum && child != layer;
         layer = child, child = largest_layer_in(g, layer))
        chosen = layer_parts_of(g, parts, child);
    const graph_module& module = at_place(g.modules, layer);
    if (chosen.boxes() > maximum) {
        parts = parts_of(g, {graph_level::module, module.depth + 1});
        chosen = layer_parts_of(g, parts, layer);
    }
    const std::string path = module.path.empty() ? r.roles.root : module.path;
    const std::string title = path + ", " + module.type;
    report_picture out{"layer", {}, title + ". ", {}};
    if (chosen.boxes() > maximum) {
        out.caption += "The layer has too many parts for this page; use llmcost graph --format dot.";
        return out;
    }
    if (r.pass.timed()) set_times(parts, r.pass.seconds.forward);
    table t{{{"part"}, {"type"}, {"parameters", true}, {"FLOPs", true}, {"output"}, {"reads"}}, {}};
    if (r.pass.timed()) t.columns.insert(t.columns.begin() + 4, table::column{"time", true});
    const std::int32_t num_inside = length_of(chosen.internal_nodes);
    const auto name_of_box = [&](std::int32_t box) {
        return name_in(chosen.path,
                       box < num_inside
                           ? at_place(parts.parts, at_place(chosen.internal_nodes, box)).name
                           : at_place(parts.parts, at_place(chosen.external_nodes, box - num_inside)).name);
    };
    for (std::int32_t i = 0; i < num_inside; ++i) {
        const graph_node& p = at_place(parts.parts, at_place(chosen.internal_nodes, i));
        std::string outputs, reads;
        for (const graph_edge& e : chosen.edges) {
            if (e.source == i && outputs.empty()) outputs = tensor_label(e);
            if (e.to == i) reads += (reads.empty() ? "" : ", ") + name_of_box(e.source);
        }
        std::vector<std::string> row{name_of_box(i),
                                     p.kind == part_kind::module ? p.type : std::string("operation"),
                                     std::to_string(p.parameter_elements),
                                     digits(p.done.flops()),
                                     outputs,
                                     reads};
        if (r.pass.timed()) row.insert(row.begin() + 4, duration(p.seconds));
        t.rows.push_back(std::move(row));
    }
    out.caption +=
        "Boxes are modules; blue boxes have parameters. Rounded boxes are operations outside of modules. Dashed "
        "boxes are outside of the layer. An arrow is a tensor.";
    out.drawn = layer_drawing({path, "The parts of " + path + " and the tensors between them"}, parts, chosen);
    out.figures = std::move(t);
    return out;
}

LLMCOST_INLINE report_picture memory_picture_of(const reported& r) {
    table t{{{"part"}, {"memory", true}, {"share", true}, {"bytes", true}}, {}};
    for (const memory_component& p : memory_components(r.memory))
        t.rows.push_back(
            {std::string(p.label), in_bytes(p.bytes), percent(p.bytes, r.memory.total_bytes()), digits(p.bytes)});
    t.rows.push_back({"total", in_bytes(r.memory.total_bytes()), "100.0 %", digits(r.memory.total_bytes())});
    std::string caption = "An inference step with the memory management of " + std::string(r.memory_profile.name) + '.';
    if (r.memory_profile.name == "none") caption = "An inference step without an engine.";
    if (r.memory.kv_cache_bytes != r.memory.kv_cache_allocated_bytes)
        caption += " The KV cache has " + in_bytes(r.memory.kv_cache_bytes) +
                   "; the engine allocates more for entire blocks and for tokens outside of sliding windows.";
    return {"memory", memory_picture(r.read, r.memory_load, r.memory, r.limit), caption, std::move(t)};
}

LLMCOST_INLINE std::vector<report_picture> training_pictures(const training_response& t) {
    const memory_timeline& m = t.run.memory;
    table peak{{{"category"}, {"memory", true}, {"share", true}, {"bytes", true}}, {}};
    for (std::size_t i = 0; i < num_memory_categories; ++i)
        if (m.peak.bytes.category_bytes[i] != 0)
            peak.rows.push_back({std::string(memory_category_names[i]) + ", " + std::string(category_labels[i]),
                                 in_bytes(count(m.peak.bytes.category_bytes[i])),
                                 percent(count(m.peak.bytes.category_bytes[i]), t.needed()),
                                 std::to_string(m.peak.bytes.category_bytes[i])});
    peak.rows.push_back({"total", in_bytes(t.needed()), "100.0 %", digits(t.needed())});
    table moments{{{"phase"}, {"part"}, {"memory", true}, {"peak", true}}, {}};
    for (const memory_snapshot& s : m.snapshots)
        moments.rows.push_back({std::string(s.phase), s.path.empty() ? "outside of layers" : std::string(s.path),
                                in_bytes(count(s.bytes.total)), in_bytes(count(s.peak_bytes))});
    const std::string title = join_inline({train_title(t)});
    return {{"timeline", timeline_picture({t.read.found.name_of_model.name + ", a training step", title}, m, t.limit),
             title + ".", std::move(moments)},
            {"peak", peak_picture(t),
             "The peak of " + in_bytes(t.needed()) + " is in " + std::string(m.peak.phase) + " at " +
                 std::string(m.peak.operation) + (m.peak.step > 1 ? ", from the second step on." : "."),
             std::move(peak)}};
}

}  // namespace llmcost::cli::detail
