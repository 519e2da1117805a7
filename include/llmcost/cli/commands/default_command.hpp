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

// The command without a name: the front page, queries, lists, and what the program says of itself.
namespace llmcost::cli {

inline constexpr std::array page_options = concatenate(model_options, std::array{option::mtp}, swept_options,
                                                       std::array{option::image,
                                                                  option::images,
                                                                  option::video,
                                                                  option::videos,
                                                                  option::audio,
                                                                  option::ragged_batch,
                                                                  option::logits,
                                                                  option::attention,
                                                                  option::dtype,
                                                                  option::quantization,
                                                                  option::activation_dtype,
                                                                  option::cache_dtype,
                                                                  option::training,
                                                                  option::adapter,
                                                                  option::format,
                                                                  option::plot,
                                                                  option::scopes,
                                                                  option::tensors,
                                                                  option::tree,
                                                                  option::unused,
                                                                  option::depth,
                                                                  option::convention,
                                                                  option::color,
                                                                  option::no_color,
                                                                  option::completion,
                                                                  option::man,
                                                                  option::help,
                                                                  option::version});

/// Whether to colour: as `--color` or `--no-color` says, else never with NO_COLOR, always with FORCE_COLOR, else on a
/// terminal that is not dumb (no-color.org, force-color.org).
[[nodiscard]] inline bool has_color_output(const arguments& args, const streams& io) {
    if (args.has(option::color) && args.has(option::no_color))
        throw_usage("--color", "cannot stand together with --no-color");
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

/// The answer to a question, in its format.
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

/// The keys that nothing reads, in a table.
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

/// The front page, or what is asked instead of it.
[[nodiscard]] inline command_output run_default(const arguments& args, const program& io) {
    if (args.has(option::version)) return "llmcost " + std::string(version) + '\n';
    if (args.has(option::man)) return man_page(io);
    if (args.has(option::completion)) return completion(static_cast<shell>(args.choice(option::completion)), io);
    if (!args.has(option::model) && !args.has(option::config))
        for (const std::string_view name : args.positional()) reject_misplaced_command(io.commands, name);
    const workload_sweep work(args, swept_options);
    check_plot(args, work.has_axes(), "needs a list of workloads, as --sequence 1024..131072:x2");
    (void)parse_workload(work.at(0));  // what is wrong with the options is said before anything is read or downloaded
    const llmcost::flop_counter* const counted_as =
        args.has(option::convention) ? &require_counter("--convention", args.text(option::convention)) : nullptr;
    if (counted_as != nullptr && work.has_axes()) throw_usage("--convention", "takes one workload: leave out lists");
    requested_adapter adapter = read_adapter(args);
    const bool color = has_color_output(args, io);
    model_table several(work, args, io, understand);
    if (io.read_each(args, io, several)) {
        if (counted_as != nullptr) throw_usage("--convention", "takes one model");
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
    if (!read.stored.mismatch_warning.empty()) io.err << "llmcost: " << read.stored.mismatch_warning << '\n';
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
                                 longest_sequence(q.workload, q.phases));  // a page says it
    if (found.has_unexpected_source && !q.metrics.empty() && q.format == output_format::text)
        io.err << "llmcost: " << found.name_of_model.source << '\n';
    return text;
}

inline constexpr std::array<command_example, 7> page_examples{{
    {"llmcost --model meta-llama/Llama-3.2-1B", "the front page: parameters, bytes, counts"},
    {"llmcost --config config.json --batch 16 --sequence 200 mult attn", "multiplications of attention"},
    {"llmcost --model Qwen/Qwen3-0.6B --tree --depth 3 params flops", "the module tree with two columns"},
    {"llmcost --model google/gemma-2-2b --input 1000 --output 200", "a whole request"},
    {"llmcost --model Qwen/Qwen3-0.6B --model google/gemma-2-2b params flops", "a table, a row for each model"},
    {"llmcost --model Qwen/Qwen3-0.6B --batch 1,8 --sequence 1024..131072:x2 --format csv", "a row for each workload"},
    {"llmcost --config - --set num_hidden_layers=2 --format json --scopes", "every module, for a script"},
}};

inline constexpr command page_command{
    .name = "",
    .summary = "what a transformer costs, exactly, from its config.json",
    .usage = "(--model NAME | --config FILE)... [option]... [metric]... [scope]",
    .description =
        "Without words: the front page; LIST: 1,8,64..512:x2. metric: add mult ... flops\n"
        "params cache act; scope: attn mlp ... all, torch.nn.Linear, model.layers.*.mlp\n",
    .options = page_options,
    .run = run_default,
    .examples = page_examples,
    .completions = query_completions};

}  // namespace llmcost::cli
