// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/args/command.hpp>
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

// The default command: front page, queries, lists, version, man page and completions.
namespace llmcost::cli {

inline constexpr std::array page_options = concatenate(
    with_section("Model", concatenate(model_options, std::array{option::mtp})),
    with_section("Workload",
                 concatenate(swept_options, std::array{option::ragged_batch, option::logits, option::attention})),
    with_section("Multimodal inputs", multimodal_options),
    with_section("Training", std::array{option::training, option::adapter}),
    with_section("Precision",
                 std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype}),
    with_section("Output",
                 std::array{option::format, option::plot, option::scopes, option::tensors, option::tree, option::depth,
                            option::unused, option::convention, option::color, option::no_color}),
    with_section("Program", std::array{option::completion, option::man, option::version}), help_option);

/// Whether to print colors. The first of these decides: `--color` or `--no-color`; NO_COLOR; FORCE_COLOR; a terminal
/// that is not dumb. Source: no-color.org, force-color.org.
[[nodiscard]] inline bool has_color_output(const arguments& args, const streams& io) {
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

/// The output of a request in its format.
[[nodiscard]] inline std::string answer(const request& q) {
    if (q.format == output_format::json) return json_answer(q);
    if (q.lists_tensors) return written(tensors_table(q), q.format);
    if (q.has_tree) return written(tree_table(q), q.format);
    if (q.lists_scopes) return written(scopes_table(q), q.format);
    const bool text = q.format == output_format::text;
    if (!q.metrics.empty()) return text ? query_block(q) : written(query_table(q), q.format);
    return text ? front_page(q) : written(front_table(q), q.format);
}

namespace detail {

/// The unused configuration keys as a table.
inline std::string unused_keys_text(const std::vector<unused_key>& keys, output_format format) {
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

}  // namespace detail

/// Runs the default command.
[[nodiscard]] inline command_output run_default(const arguments& args, const program& io) {
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
    q.disables_cache = read.declines_cache;
    q.mtp_layers = read.mtp_layers;
    if (counted_as != nullptr) return convention_page(q, read, *counted_as);
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

inline constexpr std::array<command_example, 7> page_examples{{
    {"llmcost --model meta-llama/Llama-3.2-1B", "the front page: parameters, bytes, counts"},
    {"llmcost --config config.json --batch 16 --sequence 200 mult attn", "multiplications of attention"},
    {"llmcost --model Qwen/Qwen3-0.6B --tree --depth 3 params flops", "the module tree with two columns"},
    {"llmcost --model google/gemma-2-2b --input 1000 --output 200", "prefill and decode of a request"},
    {"llmcost --model Qwen/Qwen3-0.6B --model google/gemma-2-2b params flops", "a table with one row per model"},
    {"llmcost --model Qwen/Qwen3-0.6B --batch 1,8 --sequence 1024..131072:x2 --format csv",
     "a table with one row per workload"},
    {"llmcost --config - --set num_hidden_layers=2 --format json --scopes", "all modules as JSON"},
}};

inline constexpr command page_command{
    .name = "",
    .summary = "Compute the exact cost of a transformer from its config.json",
    .usage = "(--model NAME | --config FILE)... [options] [METRIC...] [SCOPE]",
    .description =
        "Computes the exact cost of a forward pass: FLOPs, operations by type, parameters, KV cache and\n"
        "activations. Without METRIC and SCOPE, prints the front page of the model.\n"
        "\n"
        "METRIC: add, mult ... flops, params, cache, act. SCOPE: attn, mlp ... all, a class such as\n"
        "torch.nn.Linear, or a module path such as model.layers.*.mlp. LIST: 1,8,64..512:x2.\n",
    .options = page_options,
    .run = run_default,
    .examples = page_examples,
    .completions = query_completions};

}  // namespace llmcost::cli
