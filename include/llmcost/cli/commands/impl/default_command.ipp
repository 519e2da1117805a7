// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/default_command.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/metric_query.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/shell.hpp>
#include <llmcost/cli/pages/convention_page.hpp>
#include <llmcost/cli/pages/front_page.hpp>
#include <llmcost/cli/pages/json_output.hpp>
#include <llmcost/cli/pages/model_table.hpp>
#include <llmcost/cli/pages/response.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/pages/tree.hpp>
#include <llmcost/cli/request/adapter_option.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/parse_request.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/flop_counters/flop_counter.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/read_adapter.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/report/unused_keys.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli {

/// Whether to print colors. The first of these decides: `--color` or `--no-color`; NO_COLOR; FORCE_COLOR; a terminal
/// that is not dumb. Source: no-color.org, force-color.org.
[[nodiscard]] LLMCOST_INLINE bool has_color_output(const arguments& args, const streams& io) {
    if (args.has(option::color) && args.has(option::no_color))
        throw_usage("--color", "cannot be combined with --no-color");
    if (args.has(option::color) || args.has(option::no_color)) return args.has(option::color);
    const auto is_set = [&](const char* name) {
        const char* const text = io.get(name);
        return text != nullptr && *text != '\0';
    };
    if (is_set("NO_COLOR")) return false;
    if (is_set("FORCE_COLOR")) return true;
    const char* const terminal = io.get("TERM");
    return io.out_is_terminal && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

LLMCOST_INLINE std::string answer(const request& q) {
    if (q.format == output_format::json) return json_answer(q);
    if (q.lists_tensors) return written(tensors_table(q), q.format);
    if (q.has_tree) return written(tree_table(q), q.format);
    if (q.lists_scopes) return written(scopes_table(q), q.format);
    const bool text = q.format == output_format::text;
    if (!q.metrics.empty()) return text ? query_block(q) : written(query_table(q), q.format);
    return text ? front_page(q) : written(front_table(q), q.format);
}

}  // namespace llmcost::cli

namespace llmcost::cli::detail {

/// The unused configuration keys as a table.
LLMCOST_INLINE std::string unused_keys_text(const std::vector<unused_key>& keys, output_format format) {
    if (format == output_format::json) {
        json_writer json;
        json.object().key("unused").array();
        for (const unused_key& key : keys) {
            json.object().member("key", key.pointer).member("value", key.value).key("nearest");
            if (key.nearest.empty())
                json.null().end_object();
            else
                json.value(key.nearest).end_object();
        }
        json.end_array().end_object();
        return json.text() + "\n";
    }
    table t{{{"key"}, {"value"}, {"nearest"}}, {}};
    for (const unused_key& key : keys) t.rows.push_back({printable(key.pointer), printable(key.value), key.nearest});
    return written(t, format);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_default(const arguments& args, const program& io) {
    if (args.has(option::version)) return "llmcost " + std::string(version) + '\n';
    if (args.has(option::man)) return man_page(io);
    if (args.has(option::completion)) return completion(static_cast<shell>(args.choice(option::completion)), io);
    if (!args.has(option::model) && !args.has(option::config))
        for (const std::string_view name : args.positional()) reject_misplaced_command(io.commands, name);
    const workload_sweep work(args, swept_options);
    check_plot(args, work.has_axes(), "requires a list of workloads, e.g. --sequence 1024..131072:x2");
    (void)parse_workload(work.at(0));  // reports errors of the options before files are read or downloaded
    const llmcost::flop_counter* const counted_as =
        args.has(option::convention) ? &require_counter("--convention", args.text(option::convention)) : nullptr;
    if (counted_as != nullptr && work.has_axes())
        throw_usage("--convention", "supports only one workload, found a list");
    requested_adapter adapter = read_adapter(args);
    const bool color = has_color_output(args, io);
    model_table several(work, args, io, understand);
    if (io.read_each(args, io, several)) {
        if (counted_as != nullptr) throw_usage("--convention", "supports only one model");
        return answered_with_plot(args, work, several);
    }
    parsed_model read = io.read(args, io);
    std::optional<adapter_policy> policy;
    const auto adapt = [&] {
        resolve_adapter(adapter, args, read.subject, io.err);
        if (!adapter.none()) read.subject.policy = &policy.emplace(adapter.file.adapts, read.subject);
    };
    if (work.has_axes()) {
        adapt();
        several.add(read);
        return answered_with_plot(args, work, several);
    }
    const located_config& found = read.found;
    if (args.has(option::unused))
        return detail::unused_keys_text(read.unused, static_cast<output_format>(args.choice(option::format)));
    if (!read.stored.mismatch_warning.empty()) io.err << "llmcost: warning: " << read.stored.mismatch_warning << '\n';
    adapt();
    request q = understand(args, read, io.commands);
    if (policy) q.adapter = adapter.label;
    q.has_color = color;
    q.columns = args.output_columns();
    q.disables_cache = read.declines_cache;
    q.mtp_layers = read.mtp_layers;
    if (counted_as != nullptr) return convention_page(q, read, *counted_as);
    if (includes_weight_bytes(q.metrics)) require_known_layout(read);
    std::string text = answer(q);
    const bool page =
        q.format == output_format::text && q.metrics.empty() && !q.lists_tensors && !q.has_tree && !q.lists_scopes;
    if (!page && !q.lists_tensors)
        warn_if_context_exceeded(io.err, q.name_of_model.name, q.model,
                                 longest_sequence(q.workload, q.phases));  // the front page has this warning
    if (found.has_unexpected_source && !q.metrics.empty() && q.format == output_format::text)
        io.err << "llmcost: " << found.name_of_model.source << '\n';
    return text;
}

}  // namespace llmcost::cli
