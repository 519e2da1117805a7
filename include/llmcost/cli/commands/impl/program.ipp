// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/program.hpp>

#include <algorithm>
#include <exception>
#include <filesystem>
#include <new>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/device_options.hpp>
#include <llmcost/cli/args/find_metric.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/output_file.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/pages/help.hpp>
#include <llmcost/cli/request/model_name.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/hub/signals.hpp>
#include <llmcost/text/error.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>
#include <llmcost/trace/scope.hpp>

namespace llmcost::cli::detail {

/// Prints an error in one line without control characters; returns the exit code.
LLMCOST_INLINE int fail(const streams& io, std::string_view message, exit_code code) {
    io.err << "llmcost: " << printable(message) << '\n';
    io.err.flush();
    return static_cast<int>(code);
}

/// Whether the arguments contain `--help`. All other arguments are then ignored.
LLMCOST_INLINE bool has_help_option(std::span<const std::string_view> args) {
    const auto end = std::find(args.begin(), args.end(), "--");
    return std::any_of(args.begin(), end, [](std::string_view arg) { return option::help.is_named(arg); });
}

/// Whether the locale has UTF-8: the first variable of LC_ALL, LC_CTYPE and LANG decides. Without any, only a terminal
/// has the C locale. Source: POSIX, Environment Variables.
LLMCOST_INLINE bool supports_utf8(const streams& io) {
    for (const char* const name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const text = io.get(name);
        if (text == nullptr || *text == '\0') continue;
        const std::string locale = lower(text);
        return locale.find("utf-8") != std::string::npos || locale.find("utf8") != std::string::npos;
    }
    return !io.out_is_terminal;
}

/// `; the command comes first: llmcost memory Qwen3-8B` for `llmcost Qwen3-8B memory --device h100`, else an empty
/// text.
LLMCOST_INLINE std::string place_of_command(const program& io, std::span<const std::string_view> args) {
    if (args.size() < 2 || !is_model_argument(args.front(), io)) return {};
    const command* const misplaced = find_command(io.commands, args[1]);
    if (misplaced == nullptr) return {};
    return "; the command comes first: llmcost " + std::string(misplaced->name) + ' ' + printable(args.front());
}

/// Whether the arguments ask for JSON: `--format json` or `--format=json`.
LLMCOST_INLINE bool has_json_format(std::span<const std::string_view> args) {
    for (std::size_t i = 0; i < args.size(); ++i)
        if (args[i] == "--format=json" || (args[i] == "--format" && i + 1 < args.size() && args[i + 1] == "json"))
            return true;
    return false;
}

/// `; use --device h100` for an argument that is the value of an option of the command, else an empty text.
LLMCOST_INLINE std::string option_of_argument(const command& c, std::string_view argument) {
    const auto use = [&](const option_spec& o) {
        return has_option(c.options, o.name) ? "; use " + std::string(o.name) + ' ' + printable(argument)
                                             : std::string();
    };
    if (argument.ends_with(".safetensors")) return use(option::safetensors);
    if (argument.ends_with(".gguf")) return use(option::gguf);
    return find_device(argument) != nullptr ? use(option::device) : std::string();
}

LLMCOST_INLINE command_output answer_of(const command& c, std::span<const std::string_view> args, const program& io) {
    if (has_help_option(args) && has_json_format(args)) return c.name.empty() ? help_json(io) : help_json(c);
    if (has_help_option(args)) return c.name.empty() ? help_text(io) : help_text(c, help_columns(io));
    arguments parsed_args(c.name, options_of(c, args), args);
    move_models_to_option(c, parsed_args, io);
    reject_device_count(parsed_args);
    parsed_args.set_output_columns(io.out_is_terminal ? io.columns : 0);
    for (const option_spec& row : parsed_args.options())
        for (const std::string_view value : parsed_args.all(row))
            if (const std::string warning = thousands_warning(row, value); !warning.empty())
                io.err << "llmcost: warning: " << warning << '\n';
    if (c.completions == nullptr && !parsed_args.positional().empty()) {
        const std::string_view first = parsed_args.positional().front();
        const bool reads_model = has_option(c.options, option::model.name) && find_metric(first) == nullptr &&
                                 role_from(first) == role::none;
        const std::string use = option_of_argument(c, first);
        const bool names_model = reads_model && use.empty();
        throw_usage(c.name, "expected only options, found " + quote(first) + use +
                                (names_model ? similar_bundled_names(io.bundled, first) : std::string()));
    }
    command_output out = c.run(parsed_args, io);
    const bool is_text = parsed_args.text(option::format, "text") == "text";
    if (is_text && !supports_utf8(io)) out.text = ascii_text(out.text);
    return out;
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE int report_current_exception(const program& io, const command& c,
                                            std::span<const std::string_view> args) {
    const std::string_view first = args.empty() ? std::string_view{} : args.front();
    try {
        throw;
    } catch (const error& e) {
        std::string hint;
        const bool is_placed = std::string_view(e.what()).find("must come first") == std::string_view::npos;
        if (e.code() == errc::usage && c.name.empty()) {
            if (is_placed) hint = detail::place_of_command(io, args);
            if (hint.empty()) hint = suggest_command(io.commands, first);
        }
        if (e.code() == errc::usage && hint.empty()) hint = suggest_command_for_option(io.commands, c, args);
        return detail::fail(io, e.what() + hint, exit_code_of(e.code()));
    } catch (const overflow_error& e) {
        return detail::fail(io, e.what(), exit_code::overflow);
    } catch (const workload_error& e) {
        const bool sequence = has_option(c.options, option::sequence.name);
        return detail::fail(
            io, positions_text(e) + (sequence ? " (--sequence, --past, --encoder-sequence)" : " (--input, --output)"),
            exit_code::usage);
    } catch (const description_error& e) {
        return detail::fail(io, std::string("the configuration is not supported: ") + e.what(),
                            exit_code::configuration);
    } catch (const std::bad_alloc&) {
        return detail::fail(io, "out of host memory", exit_code::overflow);
    } catch (const std::exception& e) {
        return detail::fail(io, std::string("internal error (a bug in llmcost): ") + e.what(), exit_code::internal);
    }
}

LLMCOST_INLINE int run_commands(std::span<const std::string_view> args, const program& io) {
    constexpr std::string_view help_word = "help";  // `llmcost help` and `llmcost help COMMAND`
    std::vector<std::string_view> help_args;
    if (!args.empty() && args.front() == help_word) {
        help_args.assign(args.begin() + 1, args.end());
        help_args.push_back(option::help.name);
        args = help_args;
    }
    const std::string_view first = args.empty() ? std::string_view{} : args.front();
    const command* const named = find_command(io.commands, first);
    const command& selected_command = named == nullptr ? *io.commands.front() : *named;
    if (named != nullptr) args = args.subspan(1);
    command_output got;
    try {
        got = detail::answer_of(selected_command, args, io);
    } catch (...) {
        return report_current_exception(io, selected_command, args);
    }
    try {
        if (!got.file.name.empty()) write_output_file(got.file.name, got.file.text);
        for (const output_file& f : got.files) {
            std::error_code problem;
            std::filesystem::create_directories(std::filesystem::path(f.name).parent_path(), problem);
            write_output_file(f.name, f.text);
        }
    } catch (const error& e) {
        return detail::fail(io, e.what(), exit_code_of(e.code()));
    }
    const llmcost::detail::hub::write_signal_guard guard({llmcost::detail::hub::file_size_signal});
    io.out.write(got.text.data(), static_cast<std::streamsize>(got.text.size()));
    io.out.flush();
    return io.out ? static_cast<int>(got.exit_status)
                  : detail::fail(io, "the output cannot be written", exit_code::write_error);
}

}  // namespace llmcost::cli
