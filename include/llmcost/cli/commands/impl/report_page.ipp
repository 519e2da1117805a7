// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/report_page.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/bundled/verified_type.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/commands/graph_devices.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/commands/report_data.hpp>
#include <llmcost/cli/commands/report_pictures.hpp>
#include <llmcost/cli/commands/report_sweeps.hpp>
#include <llmcost/cli/pages/front_page.hpp>
#include <llmcost/cli/pages/front_page_model.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/role_totals.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/padded_vocabulary.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/totals.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/operator_table.hpp>
#include <llmcost/kernels/kernel_library.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/html.hpp>
#include <llmcost/report/icicle.hpp>
#include <llmcost/report/icicle_script.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/report/svg.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::cli {

LLMCOST_INLINE report_pictures pictures_of(const reported& r) {
    report_pictures out{detail::memory_picture_of(r), {}, detail::scopes_of(r), {}, detail::layer_picture(r),
                        detail::sweep_pictures(r)};
    if (r.step) out.training = detail::training_pictures(*r.step);
    if (r.pass.timed() && detail::has_roofs(*r.pass.device.target_device))
        out.roofline.push_back(detail::roofline_picture(r));
    return out;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string report_writer::write() {
    page_.markup("<svg width=\"0\" height=\"0\" style=\"position:absolute\" aria-hidden=\"true\">")
        .markup(svg_patterns())
        .markup("</svg>\n");
    header();
    page_.open("main");
    summary();
    memory();
    scopes();
    roofline();
    layer();
    sweeps();
    assumptions();
    page_.close();
    page_.open("footer").open("p").text("Written by llmcost " + std::string(version) + ": ");
    page_.element("code", report_.command).close().close();
    return html_page(report_.request.name_of_model.name + ": cost report", html_style() + icicle_style() + svg_style(),
                     page_, icicle_script);
}

LLMCOST_INLINE void report_writer::header() {
    page_.open("header").element("h1", report_.request.name_of_model.name);
    page_.element(
        "p", work_title(report_.request, total()) + ". Operations, memory and time, computed from the configuration.");
    page_.open("nav", {{"aria-label", "Sections"}}).open("ol");
    for (const auto& [id, title] : {std::pair{"summary", "Summary"},
                                    {"memory", "Memory"},
                                    {"scopes", "Counts by module"},
                                    {"roofline", "Roofline"},
                                    {"layer", "One layer"},
                                    {"sweeps", "Sweeps"},
                                    {"assumptions", "Assumptions"}})
        page_.open("li").element("a", title, {{"href", "#" + std::string(id)}}).close();
    page_.close().close().close();
}

LLMCOST_INLINE void report_writer::section(std::string_view id, std::string_view title) {
    const std::string heading = std::string(id) + "-title";
    page_.open("section", {{"id", id}, {"aria-labelledby", heading}}).element("h2", title, {{"id", heading}});
}

LLMCOST_INLINE void report_writer::add_table(const table& t, const std::string& caption, std::string_view of_class) {
    page_.open("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", caption}});
    page_.open("table", {{"class", of_class}}).element("caption", caption);
    std::size_t named = 0;
    while (named < t.columns.size() && t.columns[named].number) ++named;
    if (named == t.columns.size()) named = 0;
    if (!t.columns.front().title.empty()) {
        page_.open("thead").open("tr");
        for (const table::column& c : t.columns)
            page_.element("th", c.title, {{"scope", "col"}, {"class", c.number ? "n" : ""}});
        page_.close().close();
    }
    page_.open("tbody");
    for (const std::vector<std::string>& row : t.rows) {
        page_.open("tr");
        for (std::size_t i = 0; i < row.size(); ++i) {
            const bool digits = row[i].find_first_not_of("0123456789") == std::string::npos;
            const std::string kind = t.columns[i].number ? "n" : "";
            i == named ? page_.open("th", {{"scope", "row"}, {"class", kind}}) : page_.open("td", {{"class", kind}});
            if (t.columns[i].number || of_class.find("paths") == std::string_view::npos)
                page_.text(t.columns[i].number && digits ? grouped(row[i]) : row[i]);
            else
                add_path(row[i]);
            page_.close();
        }
        page_.close();
    }
    page_.close().close().close();
}

LLMCOST_INLINE void report_writer::add_path(std::string_view path) {
    for (std::size_t dot = path.find('.'); dot != std::string_view::npos; dot = path.find('.')) {
        page_.text(path.substr(0, dot + 1));
        page_.markup("<wbr>");
        path.remove_prefix(dot + 1);
    }
    page_.text(path);
}

LLMCOST_INLINE void report_writer::add_folded_table(const table& t, const std::string& caption,
                                                    std::string_view of_class) {
    page_.open("details").element("summary", "Table: " + caption);
    add_table(t, caption, of_class);
    page_.close();
}

LLMCOST_INLINE void report_writer::add_picture(const report_picture& p, std::string_view of_class) {
    page_.open("figure");
    page_.open("div", {{"class", "scroll " + std::string(of_class)},
                       {"tabindex", "0"},
                       {"role", "region"},
                       {"aria-label", p.drawn.title}});
    page_.markup(p.drawn.figure()).close().element("figcaption", p.caption).close();
}

LLMCOST_INLINE void report_writer::summary() {
    section("summary", "Summary");
    const model_config& config = report_.request.model.config;
    table model{{{}, {}}, {}};
    model.rows = {{"model", report_.request.name_of_model.name},
                  {"source", report_.request.name_of_model.source},
                  {"type", std::string(report_.request.model.spec->model_type) + ", " + report_.roles.root},
                  {"sizes", join_inline(size_labels(config, report_.load()))},
                  {"parameters", grouped(total().params) + " (" + scaled(total().params) + ")"}};
    if (total().active_params != total().params)
        model.rows.push_back({"active parameters", grouped(total().active_params)});
    const storage_types types = storage_types_of(report_.request.model, report_.load());
    const storage_types timed = storage_types_of(report_.request.model, report_.pass.load);
    std::string types_label = types_text(types);
    if (types_text(timed) != types_label)
        types_label += "; times, roofline and layer: " + types_text(timed) + ", the engines' default (--dtype)";
    model.rows.push_back({"element types", std::move(types_label)});
    for (const memory_line& m : memory_lines(report_.request, total()))
        model.rows.push_back({std::string(m.name), m.value + (m.note.empty() ? "" : " (" + m.note + ")")});
    table work{{{}, {}}, {}};
    work.rows = {{"work", work_title(report_.request, total())},
                 {"FLOPs per " + std::string(one_input_name(report_.request.model, report_.load())),
                  scaled((total().flops() + tokens_of(report_.request) / count(2)) / tokens_of(report_.request))},
                 {"memory", in_bytes(report_.memory.total_bytes())}};
    if (report_.pass.timed()) {
        double seconds = 0;
        for (const double s : report_.pass.seconds.forward) seconds += s;
        const std::string label = report_.pass.torch ? "device time of PyTorch on " : "time of separate operations on ";
        work.rows.push_back({label + report_.pass.device_title(), duration(seconds)});
        if (report_.pass.torch && report_.pass.torch->host_seconds > 0)
            work.rows.push_back({"host time of PyTorch", duration(report_.pass.torch->host_seconds)});
    }
    if (report_.step && report_.step->estimate && report_.step->estimate->problem.empty())
        work.rows.push_back({"time of a training step of PyTorch on " + report_.pass.device_title(),
                             duration(report_.step->estimate->seconds)});
    if (report_.step) work.rows.push_back({"peak memory of a training step", in_bytes(report_.step->needed())});
    if (!report_.limit.label.empty()) work.rows.push_back({"fits", memory_fit_line(needed())});
    table by_role{{{"scope"}}, {}};
    std::vector<const metric*> list;
    for (const metric& m : metrics)
        if (m.name != "out" && m.value_of(total()) != count{} &&
            (m.name != "active_flops" || total().unrouted_flops != count{}))
            list.push_back(&m);
    table all{{{"figure"}, {"model", true}, {"rounded", true}, {"meaning"}}, {}};
    for (const metric* m : list)
        all.rows.push_back({std::string(m->name), digits(m->value_of(total())),
                            is_bytes(*m) ? in_bytes(m->value_of(total())) : scaled(m->value_of(total())),
                            std::string(m->meaning)});
    page_.open("div", {{"class", "columns"}});
    page_.open("div");
    add_table(model, "The model", "keys");
    add_table(work, "The workload", "keys");
    page_.close();
    page_.open("div");
    add_table(all, "Metrics of the pass");
    page_.close();
    page_.close();
    for (const std::string_view name : {"flops", "add", "mult", "exp", "params", "act"})
        by_role.columns.push_back({std::string(name), true});
    by_role.columns.insert(by_role.columns.begin() + 2, table::column{"share", true});
    const auto add = [&](const std::string& scope, const model_metrics& f) {
        by_role.rows.push_back({scope, digits(f.flops()), percent(f.flops(), total().flops()), digits(f.add),
                                digits(f.mult), digits(f.exp), digits(f.params), digits(f.module_output_elements)});
    };
    const metric_list& sums = report_.roles.sums.total;
    add("all", total());
    for (const role_line& line : report_.roles.lines(sums))
        add(std::string(2 * line.depth + 2, ' ') + line.name, line.metrics);
    add_table(by_role, "Figures by role", "wide short");
    page_.close();
}

LLMCOST_INLINE void report_writer::memory() {
    section("memory", "Memory");
    if (report_.limit.is_set()) page_.element("p", memory_fit_line(report_.memory.total_bytes()), {{"class", "fits"}});
    page_.open("div", {{"class", "columns"}});
    add_picture(pictures_.memory);
    page_.open("div");
    add_table(pictures_.memory.figures, "Memory of an inference step");
    page_.close();
    page_.close();
    if (report_.step) {
        page_.element("h3", "A training step");
        if (report_.limit.is_set()) page_.element("p", memory_fit_line(report_.step->needed()), {{"class", "fits"}});
        page_.open("div", {{"class", "columns"}});
        add_picture(pictures_.training.front());
        page_.open("div");
        add_picture(pictures_.training.back());
        add_table(pictures_.training.back().figures, "Memory of a training step at its peak");
        page_.close();
        page_.close();
        add_folded_table(pictures_.training.front().figures, "Memory of a training step over time");
    }
    page_.close();
}

LLMCOST_INLINE void report_writer::scopes() {
    section("scopes", "Counts by module");
    page_.element("p",
                  "Each box is a module, or several equal modules. Its width is its share of the box above. Tab moves "
                  "between boxes, arrow keys to neighbors, Enter zooms in, Escape zooms out. The address contains the "
                  "position, e.g. #scope=model.layers.3.mlp.");
    page_.open("figure");
    write_icicle(page_, pictures_.scopes.boxes);
    page_.element("figcaption", "Colors are roles. Free space below a box is work of the module itself.").close();
    add_folded_table(pictures_.scopes.figures, "Counts by module", "wide");
    page_.close();
}

LLMCOST_INLINE void report_writer::roofline() {
    section("roofline", "Roofline");
    if (pictures_.roofline.empty()) {
        page_.element("p", report_.pass.timed() ? "The datasheet of " + report_.pass.device_title() +
                                                      " has no bandwidth or no peak FLOP/s."
                                                : "No times: " + report_.pass.problem);
    } else {
        const report_picture& p = pictures_.roofline.front();
        page_.element("p", device_description());
        if (const std::string advice = padding_advice(report_.request.model); !advice.empty())
            page_.element("p", advice);
        table first{{{"#", true}, {"operator"}, {"times", true}, {"time", true}, {"share", true}}, {}};
        for (const std::vector<std::string>& row : p.figures.rows)
            if (first.rows.size() < 12) first.rows.push_back({row[0], row[1], row[2], row[6], row[7]});
        page_.open("div", {{"class", "columns"}});
        add_picture(p);
        page_.open("div");
        add_table(first, "The slowest operators", "paths short");
        page_.close();
        page_.close();
        add_folded_table(p.figures, "Operators, slowest first", "paths");
    }
    page_.close();
}

LLMCOST_INLINE void report_writer::layer() {
    section("layer", "One layer");
    if (pictures_.layer.drawn.height > 0)
        add_picture(pictures_.layer, "picture own");
    else
        page_.element("p", pictures_.layer.caption);
    if (!pictures_.layer.figures.rows.empty())
        add_folded_table(pictures_.layer.figures, "Parts of the layer, as executed", "paths");
    page_.close();
}

LLMCOST_INLINE void report_writer::sweeps() {
    section("sweeps", "Sweeps");
    page_.open("div", {{"class", "columns"}});
    for (const report_picture& p : pictures_.sweeps) {
        page_.open("div");
        add_picture(p);
        add_folded_table(p.figures, p.drawn.title);
        page_.close();
    }
    page_.close().close();
}

LLMCOST_INLINE void report_writer::assumptions() {
    section("assumptions", "Assumptions and conventions");
    table t{{{"subject"}, {"value"}, {"source"}}, {}};
    const auto add_row = [&](const char* topic, std::string value, std::string source) {
        t.rows.push_back({topic, std::move(value), std::move(source)});
    };
    const workload& load = report_.load();
    add_row("configuration", join_inline(overrides()), report_.request.name_of_model.source);
    add_row("counted operations", "ATen calls of PyTorch in eval() mode and float32",
            std::string(verified_.reference.empty() ? "the reference" : verified_.reference) + "; docs/counting.md");
    if (const verified_type* const v = find_verified(verified_, report_.request.model.spec->model_type))
        add_row("verification",
                v->configurations.empty() ? "this type is not verified"
                                          : "exact for recorded runs of " + std::string(v->configurations) +
                                                (v->exceptions.empty() ? "" : "; except " + std::string(v->exceptions)),
                "recorded runs of the reference; docs/models.md");
    add_row("FLOPs", "ADD + MULT; torch_flops: 2 per multiply-add of matrix products; macs: half of torch_flops",
            "docs/counting.md; torch.utils.flop_counter");
    if (report_.roles.has_attention())
        add_row("attention", load.attention == attention_scores::full ? "eager, all scores" : "visible scores only",
                "--attention; docs/counting.md");
    if (const input_unit unit = input_unit_of(report_.request); unit == input_unit::token || unit == input_unit::sound)
        add_row("logits",
                load.head == logits::all    ? "all positions"
                : load.head == logits::last ? "last position"
                                            : "none",
                "--logits");
    const bool assumed =
        load.weights == dtype::unspecified && report_.request.model.config.dtype_of_weights == dtype::unspecified;
    add_row(
        "element types",
        types_text(storage_types_of(report_.request.model, load)) + (assumed ? " (the configuration has no type)" : ""),
        load.weights != dtype::unspecified ? "--dtype"
        : assumed                          ? "PyTorch default"
                                           : "the configuration");
    if (report_.read.stored.is_applied) add_row("stored weights", report_.read.stored.label, "docs/memory.md");
    if (report_.request.model.config.quantized && !report_.read.stored.is_applied)
        add_row("quantization_config", "not applied", "docs/counting.md");
    if (report_.request.disables_cache && total().cache_elements != count{})
        add_row("KV cache", "counted, although use_cache is false", "the configuration");
    if (report_.request.mtp_layers > 0)
        add_row("multi-token prediction",
                std::to_string(report_.request.mtp_layers) + " layers of the checkpoint are not counted",
                "the reference does not execute them");
    if (exceeds_context(report_.request.model, longest_sequence(report_.request.workload, report_.request.phases)))
        add_row("length", "exceeds the context length of the model", "the configuration");
    add_row("memory",
            report_.memory_profile.name == "none" ? "weights, KV cache and activations, without an engine"
                                                  : "allocated as in " + std::string(report_.memory_profile.name) +
                                                        (report_.roles.has_attention() ? "; fused attention" : ""),
            "--engine; docs/memory.md");
    if (report_.step)
        add_row("training", join_inline({train_title(*report_.step)}) + "; categories of PyTorch's memory tracker",
                "torch.distributed._tools.mem_tracker; docs/memory.md");
    if (report_.pass.timed()) {
        add_row("device", device_description(), "its datasheet; docs/devices.md");
        add_row("times", measurement_description(), "docs/latency.md");
    }
    add_table(t, "Assumptions", "");
    page_.close();
}

LLMCOST_INLINE std::vector<std::string> report_writer::overrides() const {
    std::vector<std::string> out;
    for (const std::string& set : report_.request.overrides) out.push_back("with " + set);
    if (out.empty()) out.emplace_back("unchanged");
    return out;
}

LLMCOST_INLINE std::string report_writer::device_description() const {
    const device& target_device = *report_.pass.device.target_device;
    const operand_type& products = *report_.pass.device.execution_config.linear_type;
    std::string out = report_.pass.device_title();
    if (!report_.command_names_device) out += " (default device)";
    out += ": " + formatted("%.4g GB/s", target_device.memory_bandwidth);
    if (const double peak = target_device.*products.unit; peak > 0)
        out += formatted(", %.4g TFLOP/s", peak) + " of " + std::string(products.name);
    return out + ". Each operation is a separate kernel; kernels run one after another.";
}

LLMCOST_INLINE std::string report_writer::measurement_description() const {
    if (report_.pass.torch) return "kernels of PyTorch 2.11, as in llmcost latency --engine torch";
    if (report_.pass.device.kernels->has_no_matches()) return "estimated from the datasheet: no kernel was measured";
    const auto unmeasured = report_.pass.device.kernels->unmeasured_kernels();
    if (unmeasured.empty()) return "kernels measured on this device";
    return "kernels measured on this device, except " + std::to_string(unmeasured.size()) +
           (unmeasured.size() == 1 ? " operator type" : " operator types") +
           " (estimated from another device or the datasheet)";
}

}  // namespace llmcost::cli::detail
