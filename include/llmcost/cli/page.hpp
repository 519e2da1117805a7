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
#include <llmcost/cli/adapter_option.hpp>
#include <llmcost/cli/answers.hpp>
#include <llmcost/cli/command.hpp>
#include <llmcost/cli/convention_page.hpp>
#include <llmcost/cli/front_page.hpp>
#include <llmcost/cli/json_output.hpp>
#include <llmcost/cli/several.hpp>
#include <llmcost/cli/shell.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/sweep_plot.hpp>
#include <llmcost/cli/tree.hpp>
#include <llmcost/cli/understand.hpp>

// The command without a name: the front page, queries, lists, and what the program says of itself.
namespace llmcost::cli {

inline constexpr std::array page_options = joined(model_options, std::array{option::mtp}, swept_options,
                                                  std::array{option::image, option::images, option::video, option::videos, option::audio,
                                                             option::requests,
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
[[nodiscard]] inline bool wants_color(const arguments& args, const streams& io) {
    if (args.has(option::color) && args.has(option::no_color)) refuse("--color", "cannot stand together with --no-color");
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
[[nodiscard]] inline std::string answer(const question& q) {
    if (q.format == output_format::json) return json_answer(q);
    if (q.tensors) return written(tensors_table(q), q.format);
    if (q.tree) return written(tree_table(q), q.format);
    if (q.scopes) return written(scopes_table(q), q.format);
    const bool text = q.format == output_format::text;
    if (!q.asked.empty()) return text ? query_block(q) : written(query_table(q), q.format);
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
[[nodiscard]] inline answered page_answer(const arguments& args, const program& io) {
    if (args.has(option::version)) return "llmcost " + std::string(version) + '\n';
    if (args.has(option::man)) return man_page(io);
    if (args.has(option::completion)) return completion(static_cast<shell>(args.choice(option::completion)), io);
    if (!args.has(option::model) && !args.has(option::config))
        for (const std::string_view word : args.words()) refuse_command(io.commands, word);
    const sweep work(args, swept_options);
    check_plot(args, work.any(), "needs a list of workloads, as --sequence 1024..131072:x2");
    (void)read_job(work.at(0));  // what is wrong with the options is said before anything is read or downloaded
    const llmcost::convention* const counted_as =
        args.has(option::convention) ? &convention_named("--convention", args.text(option::convention)) : nullptr;
    if (counted_as != nullptr && work.any()) refuse("--convention", "takes one workload: leave out lists");
    asked_adapter adapter = read_adapter(args);
    const bool color = wants_color(args, io);
    several_table several(work, args, io, understand);
    if (io.read_each(args, io, several)) {
        if (counted_as != nullptr) refuse("--convention", "takes one model");
        return answered_with_plot(args, work, several);
    }
    read_subject read = io.read(args, io);
    std::optional<adapter_policy> policy;
    const auto adapt = [&] {
        settle_adapter(adapter, args, read.subject, io.err);
        if (!adapter.none()) read.subject.policy = &policy.emplace(adapter.file.adapts, read.subject);
    };
    if (work.any()) {
        adapt();
        several.put(read);
        return answered_with_plot(args, work, several);
    }
    const found_config& found = read.found;
    if (args.has(option::unused))
        return detail::unused_keys_text(read.unused, static_cast<output_format>(args.choice(option::format)));
    if (!read.stored.note.empty()) io.err << "llmcost: " << read.stored.note << '\n';
    adapt();
    question q = understand(args, read, io.commands);
    if (policy) q.adapter = adapter.words;
    q.color = color;
    q.declines_cache = read.declines_cache;
    q.mtp_layers = read.mtp_layers;
    if (counted_as != nullptr) return convention_page(q, read, *counted_as);
    std::string text = answer(q);
    const bool page = q.format == output_format::text && q.asked.empty() && !q.tensors && !q.tree && !q.scopes;
    if (!page && !q.tensors) note_on_context(io.err, q.who.name, q.subject, longest_of(q.work, q.phases));  // a page says it
    if (found.remarkable && !q.asked.empty() && q.format == output_format::text)
        io.err << "llmcost: " << found.who.source << '\n';
    return text;
}

inline constexpr std::array<example_row, 7> page_examples{{
    {"llmcost --model meta-llama/Llama-3.2-1B", "the front page: parameters, bytes, counts"},
    {"llmcost --config config.json --batch 16 --sequence 200 mult attn", "multiplications of attention"},
    {"llmcost --model Qwen/Qwen3-0.6B --tree --depth 3 params flops", "the module tree with two columns"},
    {"llmcost --model google/gemma-2-2b --input 1000 --output 200", "a whole request"},
    {"llmcost --model Qwen/Qwen3-0.6B --model google/gemma-2-2b params flops", "a table, a row for each model"},
    {"llmcost --model Qwen/Qwen3-0.6B --batch 1,8 --sequence 1024..131072:x2 --format csv", "a row for each workload"},
    {"llmcost --config - --set num_hidden_layers=2 --format json --scopes", "every module, for a script"},
}};

inline constexpr command page_command{.name = "",
                                      .meaning = "what a transformer costs, exactly, from its config.json",
                                      .usage = "(--model NAME | --config FILE)... [option]... [metric]... [scope]",
                                      .about =
                                          "Without words: the front page; LIST: 1,8,64..512:x2. metric: add mult ... flops\n"
                                          "params cache act; scope: attn mlp ... all, torch.nn.Linear, model.layers.*.mlp\n",
                                      .options = page_options,
                                      .answer = page_answer,
                                      .examples = page_examples,
                                      .words = query_words};

}  // namespace llmcost::cli
