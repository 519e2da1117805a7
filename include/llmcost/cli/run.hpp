// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <istream>
#include <new>
#include <ostream>
#include <span>
#include <string>
#include <string_view>

#include <llmcost/cli/answers.hpp>
#include <llmcost/cli/arguments.hpp>
#include <llmcost/cli/commands.hpp>
#include <llmcost/cli/devices.hpp>
#include <llmcost/cli/front_page.hpp>
#include <llmcost/cli/help.hpp>
#include <llmcost/cli/json_output.hpp>
#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/models.hpp>
#include <llmcost/cli/op.hpp>
#include <llmcost/cli/serve.hpp>
#include <llmcost/cli/shell.hpp>
#include <llmcost/cli/source.hpp>
#include <llmcost/cli/streams.hpp>
#include <llmcost/cli/tree.hpp>

// The program: arguments in, an answer and an exit code out.
namespace llmcost::cli {

/// The exit code of an error.
[[nodiscard]] constexpr exit_code exit_code_of(errc code) noexcept {
    switch (code) {
        case errc::usage: return exit_code::usage;
        case errc::input: return exit_code::input;
        case errc::network: return exit_code::network;
        case errc::overflow: return exit_code::overflow;
        case errc::unknown_model_type:
        case errc::missing_key:
        case errc::bad_value:
        case errc::unsupported:
        case errc::io:
        case errc::not_found: break;
    }
    return exit_code::configuration;
}

/// Whether an encoder reads the input of a whole request; throws `usage` where a model cannot write token by token.
[[nodiscard]] inline bool subject_encodes(const model& subject, const job& work) {
    if (work.kind != job_kind::generation) return false;
    if (work.output > 1 && count_model(subject, work.base).cache == count{})
        refuse(row_of(option::output).name, "this model keeps no cache: it does not write token by token");
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
[[nodiscard]] inline question understand(const arguments& args, const model& subject, model_identity who) {
    question q;
    q.subject = subject;
    q.who = std::move(who);
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
    for (const std::string_view change : args.overrides()) q.overrides.push_back(printable(change));
    q.phases = phases_of(q.work, subject_encodes(subject, q.work));
    q.asked = read_query(args.words(), subject, q.who.name, q.phases.front().parts.front().load);
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

inline std::string completion(const arguments& args) {
    const int shell = args.choice(option::completion);
    return shell == 0 ? bash_completion() : shell == 1 ? zsh_completion() : fish_completion();
}

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

/// What the program writes to `io.out`.
inline std::string output_of(const arguments& args, const streams& io) {
    if (args.has(option::help)) return help_text();
    if (args.has(option::version)) return "llmcost " + std::string(version) + '\n';
    if (args.has(option::man)) return man_page();
    if (args.has(option::completion)) return completion(args);
    const bool named = args.has(option::model) || args.has(option::config);
    const auto format = static_cast<output_format>(args.choice(option::format));
    if (!named && args.words().size() == 1 && args.words().front() == "models") return models_text(format);
    if (!named && args.words().size() == 1 && args.words().front() == "devices") return devices_text(format);
    if (!named && !args.words().empty() && (args.words().front() == "models" || args.words().front() == "devices"))
        refuse(args.words().front(), "takes no more words, found " + in_quotes(args.words()[1]));
    (void)read_job(args);  // what is wrong with the options is said before anything is read or downloaded
    const bool color = wants_color(args, io);
    const found_config found = find_config(args, io);
    const read_subject read = read_subject_of(found, args, io.err);
    if (args.has(option::unused)) return unused_keys_text(read.unused, format);
    question q = understand(args, read.subject, found.who);
    q.color = color;
    q.declines_cache = read.declines_cache;
    std::string text = answer(q);
    const bool page = q.format == output_format::text && q.asked.empty() && !q.tensors && !q.tree && !q.scopes;
    if (!page && !q.tensors) note_on_context(io.err, q.who.name, q.subject, longest_of(q.work, q.phases));  // a page says it
    if (found.remarkable && !q.asked.empty() && q.format == output_format::text)
        io.err << "llmcost: " << found.who.source << '\n';
    return text;
}

/// Says what went wrong, in one line that cannot steer a terminal.
inline int fail(const streams& io, std::string_view message, exit_code code) {
    io.err << "llmcost: " << printable(message) << '\n';
    io.err.flush();
    return static_cast<int>(code);
}

}  // namespace detail

/// Runs the program: reads arguments (without its own name), writes the answer to `io.out` at once, or an error to `io.err`.
///
/// Gives the exit code; throws nothing that is not thrown by the streams.
[[nodiscard]] inline int run(std::span<const std::string_view> args, const streams& io) {
    const std::string_view command = args.empty() ? std::string_view{} : args.front();
    answered got;
    try {
        got = command == "op"        ? op_answer(args.subspan(1), io)
              : command == "latency" ? latency_answer(args.subspan(1), io)
              : command == "serve"   ? serve_answer(args.subspan(1), io)
                                     : detail::output_of(arguments(args), io);
    } catch (const error& e) {
        const bool has_own_options = command == "op" || command == "latency" || command == "serve";
        const std::string hint = e.code() != errc::usage || has_own_options ? std::string{}
                                 : command.starts_with('-')                 ? command_of_option(args)
                                                                            : nearest_command(command);
        return detail::fail(io, e.what() + hint, exit_code_of(e.code()));
    } catch (const overflow_error& e) {
        return detail::fail(io, e.what(), exit_code::overflow);
    } catch (const workload_error& e) {
        return detail::fail(io,
                            "the workload needs " + std::to_string(e.asked()) + " positions and the model has " +
                                std::to_string(e.held()) +
                                (command == "serve" ? " (--input, --output)" : " (--sequence, --past, --encoder-sequence)"),
                            exit_code::usage);
    } catch (const description_error& e) {
        return detail::fail(io, std::string("the configuration cannot be described: ") + e.what(), exit_code::configuration);
    } catch (const std::bad_alloc&) {
        return detail::fail(io, "there is not enough memory for the answer", exit_code::overflow);
    } catch (const std::exception& e) {
        return detail::fail(io, std::string("a bug in llmcost: ") + e.what(), exit_code::internal);
    }
    io.out.write(got.text.data(), static_cast<std::streamsize>(got.text.size()));
    io.out.flush();
    return io.out ? static_cast<int>(got.code) : detail::fail(io, "the answer could not be written", exit_code::not_written);
}

}  // namespace llmcost::cli
