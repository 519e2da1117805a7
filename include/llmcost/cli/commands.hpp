// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/latency.hpp>
#include <llmcost/cli/named_options.hpp>
#include <llmcost/cli/op.hpp>
#include <llmcost/cli/options.hpp>
#include <llmcost/cli/roles.hpp>
#include <llmcost/cli/serve.hpp>
#include <llmcost/detail/nearest.hpp>

// The commands beside the front page and queries, for what the program says of itself.
namespace llmcost::cli {

/// A word that the command line may begin with, and the options that belong to it.
struct command_row {
    std::string_view name;
    std::string_view meaning;
    std::vector<named_option> options;
};

namespace detail {

/// A command's own options with those that it has in common with the front page.
inline std::vector<named_option> with_options(std::vector<named_option> own, std::initializer_list<option> more) {
    const auto add = [&](const option_row& row) {
        own.push_back({std::string(row.name), std::string(row.value), std::string(row.help)});
    };
    for (const option_row& row : option_table)
        if (row.id <= option::offline) add(row);
    for (const option id : more) add(row_of(id));
    return own;
}

}  // namespace detail

/// All commands.
[[nodiscard]] inline std::vector<command_row> commands() {
    const option_row& format = row_of(option::format);
    const std::vector<named_option> of_lists{
        {std::string(format.name), std::string(format.value), std::string(format.help)}};
    return {
        {"models", "types and configurations that are known", of_lists},
        {"devices", "datasheets that are known", of_lists},
        {"op", "how long an operator takes; its sizes are options, too (llmcost op --help)", detail::op_options(nullptr)},
        {"latency", "how long a step takes, kernel by kernel",
         detail::with_options(detail::execution_options(), latency_workload_options)},
        {"serve", "how many tokens a second a server gives, and how soon",
         detail::with_options(detail::serve_options(), {})}};
}

/// `; --device is an option of llmcost op, latency, serve` of the first argument that only other commands know, else
/// nothing.
[[nodiscard]] inline std::string command_of_option(std::span<const std::string_view> args) {
    for (const std::string_view arg : args) {
        const std::string_view name = arg.substr(0, arg.find('='));
        const auto is_it = [&](const auto& row) { return row.name == name; };
        if (!arg.starts_with("--") || std::any_of(option_table.begin(), option_table.end(), is_it)) continue;
        std::string out;
        for (const command_row& row : commands())
            if (std::any_of(row.options.begin(), row.options.end(), is_it))
                out += (out.empty() ? "; " + std::string(name) + " is an option of llmcost " : ", ") + std::string(row.name);
        return out;
    }
    return {};
}

/// `; nearest command: serve` where a first word that means nothing else is nearly one, else nothing.
[[nodiscard]] inline std::string nearest_command(std::string_view word) {
    if (word.empty() || word.starts_with('-') || find_metric(word) != nullptr || role_from(word) != role::none) return {};
    const nearest_names near(word);
    std::string out;
    for (const command_row& row : commands()) {
        const int distance = near.distance(row.name);
        if (distance == 0) return {};
        if (distance <= 2 && distance < static_cast<int>(row.name.size()))
            out += (out.empty() ? "; nearest command: " : ", ") + std::string(row.name);
    }
    return out;
}

}  // namespace llmcost::cli
