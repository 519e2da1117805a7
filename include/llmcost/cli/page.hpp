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
#include <llmcost/cli/front_page.hpp>
#include <llmcost/cli/json_output.hpp>
#include <llmcost/cli/several.hpp>
#include <llmcost/cli/shell.hpp>
#include <llmcost/cli/subject.hpp>
#include <llmcost/cli/tree.hpp>

// The command without a name: the front page, queries, lists, and what the program says of itself.
namespace llmcost::cli {

inline constexpr std::array page_options =
    joined(model_options, std::array{option::batch,       option::sequence, option::past,         option::encoder_sequence,
                                     option::requests,    option::input,    option::output,       option::logits,
                                     option::attention,   option::dtype,    option::quantization, option::activation_dtype,
                                     option::cache_dtype, option::training, option::adapter,    option::format,       option::scopes,
                                     option::tensors,     option::tree,     option::depth,        option::unused,
                                     option::color,       option::no_color, option::completion,   option::man,
                                     option::help,        option::version});

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

/// Whether an encoder reads the input of a whole request; throws `usage` where a model cannot write token by token.
[[nodiscard]] inline bool subject_encodes(const model& subject, const job& work) {
    if (work.kind != job_kind::generation) return false;
    if (work.output > 1 && count_model(subject, work.base).cache == count{})
        refuse(option::output.name, "this model keeps no cache: it does not write token by token");
    return has_encoder(subject);
}

namespace detail {

/// The default number of tokens, or as many as a model with a table of positions has room for.
[[nodiscard]] inline std::int64_t fitting_sequence(const model& m, const workload& load) {
    try {
        (void)count_model(m, load);
    } catch (const workload_error& e) {
        if (e.held() > load.past) return e.held() - load.past;
    }
    return load.sequence;
}

}  // namespace detail

/// Understands a command line that asks something of a model that has been read.
[[nodiscard]] inline question understand(const arguments& args, const read_subject& read,
                                         std::span<const command* const> commands = {}) {
    question q;
    const model& subject = q.subject = read.subject;
    q.who = read.found.who;
    q.stored = read.stored;
    q.work = read_job(args);
    check_encoder(subject, q.work);
    if (!args.has(option::sequence) && !args.has(option::input) && !args.has(option::requests))
        q.work.base.sequence = detail::fitting_sequence(subject, q.work.base);
    q.format = static_cast<output_format>(args.choice(option::format));
    q.scopes = args.has(option::scopes);
    q.tensors = args.has(option::tensors);
    q.tree = args.has(option::tree);
    q.depth = args.number(option::depth, -1, 0);
    if (q.depth >= 0 && !q.tree) refuse("--depth", "needs --tree");
    if (q.format != output_format::json && q.tensors && (q.tree || q.scopes))
        refuse("--tensors", "is a table of its own: leave out --tree and --scopes, or say --format json");
    for (const std::string_view change : args.all(option::set)) q.overrides.push_back(printable(change));
    q.phases = phases_of(q.work, subject_encodes(subject, q.work));
    q.asked = read_query(args.words(), subject, q.who.name, q.phases.front().parts.front().load, commands);
    return q;
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
    (void)read_job(args);  // what is wrong with the options is said before anything is read or downloaded
    asked_adapter adapter = read_adapter(args);
    const bool color = wants_color(args, io);
    several_table several(args, io, understand);
    if (io.read_each(args, io, several)) return several.answer();
    read_subject read = io.read(args, io);
    const found_config& found = read.found;
    if (args.has(option::unused))
        return detail::unused_keys_text(read.unused, static_cast<output_format>(args.choice(option::format)));
    if (!read.stored.note.empty()) io.err << "llmcost: " << read.stored.note << '\n';
    settle_adapter(adapter, args, read.subject, io.err);
    std::optional<adapter_policy> policy;
    if (!adapter.none()) read.subject.policy = &policy.emplace(adapter.file.adapts, read.subject);
    question q = understand(args, read, io.commands);
    if (policy) q.adapter = adapter.words;
    q.color = color;
    q.declines_cache = read.declines_cache;
    q.mtp_layers = read.mtp_layers;
    std::string text = answer(q);
    const bool page = q.format == output_format::text && q.asked.empty() && !q.tensors && !q.tree && !q.scopes;
    if (!page && !q.tensors) note_on_context(io.err, q.who.name, q.subject, longest_of(q.work, q.phases));  // a page says it
    if (found.remarkable && !q.asked.empty() && q.format == output_format::text)
        io.err << "llmcost: " << found.who.source << '\n';
    return text;
}

inline constexpr std::array<example_row, 6> page_examples{{
    {"llmcost --model meta-llama/Llama-3.2-1B", "the front page: parameters, bytes, counts"},
    {"llmcost --config config.json --batch 16 --sequence 200 mult attn", "multiplications of attention"},
    {"llmcost --model Qwen/Qwen3-0.6B --tree --depth 3 params flops", "the module tree with two columns"},
    {"llmcost --model google/gemma-2-2b --input 1000 --output 200", "a whole request"},
    {"llmcost --model Qwen/Qwen3-0.6B --model google/gemma-2-2b params flops", "a table, a row for each model"},
    {"llmcost --config - --set num_hidden_layers=2 --format json --scopes", "every module, for a script"},
}};

inline constexpr command page_command{.name = "",
                                      .meaning = "what a transformer costs, exactly, from its config.json",
                                      .usage = "(--model NAME | --config FILE)... [option]... [metric]... [scope]",
                                      .about =
                                          "What a transformer costs, exactly, from its config.json. With neither metric\n"
                                          "nor scope: the front page. metric: add mult div sqrt exp ... flops params cache\n"
                                          "act; scope: attn mlp norm ... all, torch.nn.Linear, model.layers.*.mlp\n",
                                      .options = page_options,
                                      .answer = page_answer,
                                      .examples = page_examples,
                                      .words = query_words};

}  // namespace llmcost::cli
