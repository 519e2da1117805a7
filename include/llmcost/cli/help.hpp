// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include <llmcost/base/version.hpp>
#include <llmcost/cli/options.hpp>
#include <llmcost/cli/text.hpp>
#include <llmcost/report/metrics.hpp>
#include <llmcost/trace/scope.hpp>

// What the program says of itself; all of it is made from the tables of options, metrics and roles.
namespace llmcost::cli {

namespace detail {

struct exit_row {
    std::string_view code;
    std::string_view meaning;
};
inline constexpr std::array<exit_row, 9> exit_rows{{
    {"0", "the answer was written"},
    {"1", "the answer could not be written"},
    {"2", "usage: an option, metric or scope that does not exist"},
    {"3", "configuration: missing, unreadable, wrong, or of a model that llmcost does not know"},
    {"4", "network: the hub could not be asked, or did not answer as agreed"},
    {"5", "overflow: a figure beyond 128 bits, more layers than a list holds, or no memory"},
    {"6", "input: rows on the standard input end with an error of reading"},
    {"7", "row: some rows of a table have no answer, and their column error says why; all others have one"},
    {"70", "a bug in llmcost"},
}};

struct example_row {
    std::string_view command;
    std::string_view meaning;
};
inline constexpr std::array<example_row, 5> example_rows{{
    {"llmcost --model meta-llama/Llama-3.2-1B", "the front page: parameters, bytes, counts"},
    {"llmcost --config config.json --batch 16 --sequence 200 mult attn", "multiplications of attention"},
    {"llmcost --model Qwen/Qwen3-0.6B --tree --depth 3 params flops", "the module tree with two columns"},
    {"llmcost --model google/gemma-2-2b --input 1000 --output 200", "a whole request"},
    {"llmcost --config - --set num_hidden_layers=2 --format json --scopes", "every module, for a script"},
}};

/// An option with its value, as the help writes it.
inline std::string spelled(const option_row& row) {
    return std::string(row.name) + (row.value.empty() ? "" : " " + std::string(row.value));
}

inline std::string words_of_metrics(std::string_view between) {
    std::string out;
    for (const metric& m : metrics) out += (out.empty() ? "" : std::string(between)) + std::string(m.name);
    return out;
}
inline std::string words_of_roles(std::string_view between) {
    std::string out;
    for (const std::string_view name : role_names)
        if (role_from(name) != role::none) out += (out.empty() ? "" : std::string(between)) + std::string(name);
    return out;
}

}  // namespace detail

/// The help: 80 columns, 40 lines.
[[nodiscard]] inline std::string help_text() {
    std::string out =
        "Usage: llmcost (--model NAME | --config FILE) [option]... [metric]... [scope]\n"
        "       llmcost models | devices                what is known\n"
        "       llmcost op | latency | serve --help     times: operators, a step, serving\n"
        "What a transformer costs, exactly, from its config.json. With neither metric\n"
        "nor scope: the front page. metric: add mult div sqrt exp ... flops params cache\n"
        "act; scope: attn mlp norm ... all, torch.nn.Linear, model.layers.*.mlp\n\n";
    for (const option_row& row : option_table)
        out += left(row.section, 9) + left(detail::spelled(row) + "  ", 28) + std::string(row.help) + '\n';
    out += "\nexit code: ";
    for (const detail::exit_row& row : detail::exit_rows)
        if (row.code.size() == 1 && row.code != "1")
            out += (row.code == "0" ? "0 " : ", " + std::string(row.code) + ' ') +
                   (row.code == "0" ? "ok" : std::string(row.meaning.substr(0, row.meaning.find(':'))));
    return out + '\n';
}

}  // namespace llmcost::cli
