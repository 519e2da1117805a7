// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/measurement_comparison.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/latency.hpp>
#include <llmcost/cli/commands/op.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/calibration.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/serving/kernels.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/training.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

LLMCOST_INLINE profiled_model::sums profiled_model::total() const {
    sums s;
    for (const profiled_kernel& k : kernels) {
        const auto times = static_cast<double>(k.kernel.num_runs);
        if (!k.forward) {
            s.left_out += k.kernel.num_runs;
            continue;
        }
        s.forward += times * *k.forward;
        s.predicted += times * k.predicted.seconds;
        s.backward += times * k.backward.value_or(0);
    }
    return s;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string key_of(const operator_shape& shape) {
    std::string key =
        std::string(shape.type->name) + ' ' + std::string(shape.operand->name) + ' ' + std::string(shape.variant);
    for (std::size_t i = 0; i < shape.type->size_count; ++i) key += ' ' + std::to_string(shape.sizes[i]);
    return key;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

/// Measures the kernels of a step one after another, so that only the tensors of one operator are allocated.
[[nodiscard]] LLMCOST_INLINE profiled_model measured_on(const deployment& p, const std::vector<model_kernel>& kernels,
                                                        const operator_timer& run) {
    profiled_model m;
    std::map<std::string, std::optional<timed_operator>> known;
    const auto run_once = [&](const operator_shape& shape) -> const std::optional<timed_operator>& {
        const auto [entry, fresh] = known.try_emplace(detail::key_of(shape));
        if (fresh) {
            entry->second = run(shape);
            if (entry->second) {
                ++m.distinct;
                m.memory_bytes = std::max(m.memory_bytes, entry->second->memory_bytes);
            }
        }
        return entry->second;
    };
    for (const known_kernel& k : match_kernels(kernels, p.execution, *p.kernels)) {
        profiled_kernel row{.kernel = k.kernel, .predicted = estimate(*p.device, k)};
        if (const std::optional<timed_operator> forward = run_once(k.kernel.shape)) {
            row.forward = forward->seconds;
            row.target = forward->target;
            const backward_rule rule = k.kernel.shape.type->backward;
            row.backward_was_run = rule == backward_rule::products;
            if (row.backward_was_run) {
                double sum = 0;
                for (const model_kernel& backward_kernel : products_of_backward(k.kernel)) {
                    const std::optional<timed_operator> part = run_once(backward_kernel.shape);
                    row.backward_was_run = row.backward_was_run && part.has_value();
                    sum += part ? part->seconds : forward->seconds;
                }
                row.backward = sum;
            } else {
                row.backward = backward_factor(rule) * forward->seconds;
            }
        }
        m.kernels.push_back(std::move(row));
    }
    return m;
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

LLMCOST_INLINE std::string microseconds(double seconds) { return formatted("%.1f", 1e6 * seconds); }

LLMCOST_INLINE table measured_rows(const profiled_model& m, bool exact) {
    table t;
    t.columns = {{"name"},
                 {"op"},
                 {"target"},
                 {"input"},
                 {"runs", true},
                 {"forward_us", true},
                 {"backward_us", true},
                 {"predicted_us", true},
                 {"off", true}};
    for (const profiled_kernel& k : m.kernels) {
        const operator_shape& shape = k.kernel.shape;
        const bool maps = shape.type == find_operator_type("elementwise");
        std::string sizes;
        for (std::size_t i = 0; i < shape.type->size_count; ++i) {
            const operator_size& size = shape.type->sizes[i];
            if (!size.required && (size.role == size_role::work_only || shape.sizes[i] == size.default_value)) continue;
            sizes += (sizes.empty() ? "" : " x ") + std::to_string(shape.sizes[i]);
        }
        const double relative_error = k.forward ? k.predicted.seconds / *k.forward - 1 : 0;
        t.rows.push_back({exact ? k.kernel.module_path : short_name(k.kernel),
                          std::string(maps ? shape.variant : shape.type->name), k.target.empty() ? "-" : k.target,
                          sizes, std::to_string(k.kernel.num_runs), k.forward ? microseconds(*k.forward) : "-",
                          k.backward ? (exact || k.backward_was_run ? "" : "~") + microseconds(*k.backward) : "-",
                          microseconds(k.predicted.seconds),
                          k.forward ? formatted("%+.1f %%", 100 * relative_error) : "-"});
    }
    return t;
}

LLMCOST_INLINE std::string measured_text(const deployment& p, const std::string& step_description,
                                         const profiled_model& m) {
    const table t = measured_rows(m, false);
    const profiled_model::sums s = m.total();
    std::string out = deployment_title(p) + ", measured\n" + step_description + "\n\n";
    std::vector<std::size_t> widths;
    for (std::size_t c = 0; c < t.columns.size(); ++c) {
        std::size_t widest = t.columns[c].title.size();
        for (const auto& row : t.rows) widest = std::max(widest, row[c].size());
        widths.push_back(widest);
    }
    const auto line = [&](auto text_of) {
        std::string text;
        for (std::size_t c = 0; c < t.columns.size(); ++c)
            text += (c == 0 ? "" : "  ") +
                    (t.columns[c].number ? right(text_of(c), widths[c]) : left(text_of(c), widths[c]));
        out += text + '\n';
    };
    line([&](std::size_t c) { return t.columns[c].title; });
    for (const auto& row : t.rows) line([&](std::size_t c) { return row[c]; });
    out += "\nforward " + duration(s.forward) + ", predicted " + duration(s.predicted) +
           formatted(" (%+.1f %%)", s.forward > 0 ? 100 * (s.predicted / s.forward - 1) : 0) + "; backward " +
           duration(s.backward) + "\n" + std::to_string(m.distinct) + " distinct operators measured separately";
    if (s.left_out > 0)
        out += "; " + std::to_string(s.left_out) + " kernels not supported here, excluded from both sums";
    out += formatted("; peak device memory %.2f GB", static_cast<double>(m.memory_bytes) / 1e9);
    return out +
           "\n~ Not measured: estimated as 2 x the forward time, 2.5 x for fused attention, 1 x for collectives\n";
}

LLMCOST_INLINE std::string measured_json(const deployment& p, const workload& load, const profiled_model& m) {
    const profiled_model::sums s = m.total();
    json_writer json;
    json.object()
        .member("seconds", s.forward)
        .member("predicted_seconds", s.predicted)
        .member("backward_seconds", s.backward);
    json.member("left_out", s.left_out).member("distinct", static_cast<std::int64_t>(m.distinct));
    json.member("memory_bytes", m.memory_bytes);
    write_model(json, p);
    json.member("device", p.device->names[0]);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past).key("ops").array();
    for (const profiled_kernel& k : m.kernels) {
        json.object()
            .member("name", k.kernel.module_path)
            .member("kind", k.kernel.shape.type->name)
            .member("target", k.target);
        json.member("times", k.kernel.num_runs);
        if (k.forward) json.member("forward_seconds", *k.forward).member("backward_seconds", *k.backward);
        json.member("backward_was_run", k.backward_was_run).member("predicted_seconds", k.predicted.seconds);
        json.member("lower", k.predicted.lower).member("upper", k.predicted.upper).key("sizes").object();
        for (std::size_t i = 0; i < k.kernel.shape.type->size_count; ++i)
            json.member(k.kernel.shape.type->sizes[i].name, k.kernel.shape.sizes[i]);
        json.end_object().end_object();
    }
    return json.end_array().end_object().text() + '\n';
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string run_measured(std::span<const std::string_view> args, const operator_timer& run,
                                        const program& io) {
    const arguments parsed_args("llmcost-calibrate", measured_options, args);
    if (!parsed_args.positional().empty())
        throw_usage("llmcost-calibrate", "expected options, found " + quote(parsed_args.positional().front()));
    const std::string_view format = parsed_args.text(option::format, "text");
    const workload_request work = parse_workload(parsed_args);
    workload load = work.base_workload;
    load.head = static_cast<logits>(parsed_args.choice(option::logits, static_cast<int>(logits::all)));
    deployment p = io.place(parsed_args, io);
    require_supported_workload(p.model, parsed_args, work);
    if (!parsed_args.has(option::execution)) p.execution.launch = launch_mode::eager;
    if (p.execution.parallel.world_size() > 1) throw_usage("--tp", "supports only one device; expected --tp 1 --dp 1");
    const profiled_model m = measured_on(p, kernels_of(p.model, load, p.execution), run);
    print_warnings(p, load.past + load.sequence, io);
    if (format == "json") return detail::measured_json(p, load, m);
    if (format == "csv") return csv(detail::measured_rows(m, true));
    return detail::measured_text(p,
                                 std::to_string(load.batch) + " x " + grouped(count(load.sequence)) + " tokens after " +
                                     grouped(count(load.past)) + " cached tokens",
                                 m);
}

}  // namespace llmcost::cli
