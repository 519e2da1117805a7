// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace llmcost::cli {

/// The options of the command line; `option_table` has one row for each.
// clang-format off
enum class option : std::uint8_t {
    model, config, part, set, revision, offline,
    batch, sequence, past, encoder_sequence, requests, input, output, logits, attention,
    dtype, activation_dtype, cache_dtype, training,
    format, scopes, tensors, tree, depth, unused, color, no_color, completion, man, help, version,
    how_many
};
// clang-format on
inline constexpr std::size_t option_count = static_cast<std::size_t>(option::how_many);

/// What the value of an option may be; shells complete by it and the reader of the option checks it.
enum class value_kind : std::uint8_t { none, text, file, model, number, choice, dtype };

/// One option: its name, the word for its value in the help, a choice's words, and what it does.
struct option_row {
    option id;
    std::string_view name;
    value_kind kind;
    std::string_view value;  ///< how the help calls the value; for a choice the words, parted by `|`
    std::string_view help;
    std::string_view section;  ///< title of the section that begins here; empty: the section goes on
};

// clang-format off
inline constexpr std::array<option_row, option_count> option_table{{
    {option::model,            "--model",            value_kind::model,  "NAME",  "org/name[@rev]: file, cached, bundled, hub",             "Model"},
    {option::config,           "--config",           value_kind::file,   "FILE",  "config.json or its folder; - is stdin",                  ""},
    {option::part,             "--part",             value_kind::text,   "KEY",   "the model nested under a key: text_config",            ""},
    {option::set,              "--set",              value_kind::text,   "K=V",   "override a key, a.b=1 a nested one; repeat",            ""},
    {option::revision,         "--revision",         value_kind::text,   "REV",   "branch, tag or commit of --model",                      ""},
    {option::offline,          "--offline",          value_kind::none,   "",      "never use the network",                                 ""},
    {option::batch,            "--batch",            value_kind::number, "N",     "sequences, or images (1)",                              "Workload"},
    {option::sequence,         "--sequence",         value_kind::number, "N",     "new tokens per sequence (1024)",                        ""},
    {option::past,             "--past",             value_kind::number, "N",     "tokens already in the cache (0)",                       ""},
    {option::encoder_sequence, "--encoder-sequence", value_kind::number, "N",     "tokens of the encoder (as the decoder)",                ""},
    {option::requests,         "--requests",         value_kind::text,   "LIST",  "new@past x how many: 512@0x4,1@8000x60",                ""},
    {option::input,            "--input",            value_kind::number, "N",     "a whole request: N tokens read at once",                ""},
    {option::output,           "--output",           value_kind::number, "N",     "and N tokens written one by one",                       ""},
    {option::logits,           "--logits",           value_kind::choice, "all|last|none", "positions that the head computes",              ""},
    {option::attention,        "--attention",        value_kind::choice, "full|causal",   "all scores, or only visible ones",              ""},
    {option::dtype,            "--dtype",            value_kind::dtype,  "TYPE",  "of weights (as the configuration says)",                ""},
    {option::activation_dtype, "--activation-dtype", value_kind::dtype,  "TYPE",  "of activations (as the weights)",                       ""},
    {option::cache_dtype,      "--cache-dtype",      value_kind::dtype,  "TYPE",  "of the cache (as the activations)",                     ""},
    {option::training,         "--training",         value_kind::none,   "",      "add one training step: FLOPs, saved bytes",             ""},
    {option::format,           "--format",           value_kind::choice, "text|json|csv|markdown", "numbers outside of text are exact",    "Answer"},
    {option::scopes,           "--scopes",           value_kind::none,   "",      "every module by its path",                              ""},
    {option::tensors,          "--tensors",          value_kind::none,   "",      "every parameter with its shape",                        ""},
    {option::tree,             "--tree",             value_kind::none,   "",      "modules as a tree, like layers folded",                 ""},
    {option::depth,            "--depth",            value_kind::number, "N",     "levels of the tree",                                    ""},
    {option::unused,           "--unused",           value_kind::none,   "",      "keys of the configuration nothing reads",          ""},
    {option::color,            "--color",            value_kind::none,   "",      "colour even where no terminal is",                      ""},
    {option::no_color,         "--no-color",         value_kind::none,   "",      "no colour on a terminal",                               ""},
    {option::completion,       "--completion",       value_kind::choice, "bash|zsh|fish", "print completions for a shell",                 ""},
    {option::man,              "--man",              value_kind::none,   "",      "print the man page",                                    ""},
    {option::help,             "--help",             value_kind::none,   "",      "print this help",                                       ""},
    {option::version,          "--version",          value_kind::none,   "",      "print the version",                                     ""},
}};
// clang-format on

namespace detail {
consteval bool options_are_in_order() {
    for (std::size_t i = 0; i < option_count; ++i)
        if (option_table[i].id != static_cast<option>(i)) return false;
    return true;
}
static_assert(options_are_in_order());
consteval bool helps_have_no_quotes() {
    for (const option_row& row : option_table)
        if (row.help.find('\'') != std::string_view::npos) return false;
    return true;
}
static_assert(helps_have_no_quotes(), "completions of shells put the help in single quotes");
}  // namespace detail

/// The row of an option.
[[nodiscard]] constexpr const option_row& row_of(option id) noexcept { return option_table[static_cast<std::size_t>(id)]; }

/// Calls `visit` with each word of a choice.
template <class Visit>
constexpr void each_choice(std::string_view words, Visit visit) {
    while (!words.empty()) {
        const std::size_t bar = words.find('|');
        visit(words.substr(0, bar));
        words.remove_prefix(bar == std::string_view::npos ? words.size() : bar + 1);
    }
}

}  // namespace llmcost::cli
