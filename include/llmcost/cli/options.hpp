// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/cli/streams.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/memory/quantization_words.hpp>

namespace llmcost::cli {

/// What the value of an option may be: the reader of a command line checks a choice, a dtype and the ending of a picture's
/// file, which may be left out; shells complete by it.
enum class value_kind : std::uint8_t { none, text, file, folder, number, choice, dtype, picture };

/// Words that may stand where a value does, of what a program knows.
using word_list = std::vector<std::string_view> (*)(const program&);

/// One option of a command: its name, the word for its value in the help, and what it does.
struct option_row {
    std::string_view name;
    value_kind kind;
    std::string_view value;  ///< how the help calls the value; for a choice the words, parted by `|`
    std::string_view help;
    std::string_view section{};  ///< title of the section that begins here; empty: the section goes on
    word_list words = nullptr;   ///< what shells complete beside files and a choice's words
    bool repeats = false;        ///< may be given again and again

    /// Two commands may have an option of one name; it is the same one where its values are of one kind.
    [[nodiscard]] constexpr bool is(const option_row& other) const noexcept {
        return name == other.name && kind == other.kind;
    }
};

/// The arrays of options one behind the other.
template <std::size_t... Sizes>
[[nodiscard]] consteval std::array<option_row, (Sizes + ...)> joined(const std::array<option_row, Sizes>&... parts) {
    std::array<option_row, (Sizes + ...)> all{};
    std::size_t at = 0;
    const auto append = [&](const auto& part) {
        for (const option_row& row : part) all[at++] = row;
    };
    (append(parts), ...);
    return all;
}

/// The same options, below a title.
template <std::size_t Size>
[[nodiscard]] consteval std::array<option_row, Size> titled(std::string_view title, std::array<option_row, Size> rows) {
    rows.front().section = title;
    return rows;
}

/// Calls `visit` with each word of a choice.
template <class Visit>
constexpr void each_choice(std::string_view words, Visit visit) {
    while (!words.empty()) {
        const std::size_t bar = words.find('|');
        visit(words.substr(0, bar));
        words.remove_prefix(bar == std::string_view::npos ? words.size() : bar + 1);
    }
}

/// Names of the configurations that are compiled in.
[[nodiscard]] inline std::vector<std::string_view> bundled_names(const program& io) {
    std::vector<std::string_view> names;
    for (const bundled_config& b : io.bundled) names.push_back(b.name);
    return names;
}

/// Names of the model types that are known.
[[nodiscard]] inline std::vector<std::string_view> type_names(const program& io) {
    std::vector<std::string_view> names;
    for (const architecture* a : io.models) names.emplace_back(a->model_type);
    return names;
}

/// What `--quantization` may be.
[[nodiscard]] inline std::vector<std::string_view> quantization_names(const program&) {
    std::vector<std::string_view> names;
    for (const quantization_word& word : quantization_words) names.push_back(word.name);
    for (const llmcost::detail::gguf_mix_row& mix : llmcost::detail::gguf_mixes) names.push_back(mix.name);
    return names;
}

/// The options that several commands have.
namespace option {

// clang-format off
inline constexpr option_row
    model           {"--model",            value_kind::file,   "NAME", "org/name[@rev]: file, cached, bundled, hub", "Model", bundled_names, true},
    config          {"--config",           value_kind::file,   "FILE", "config.json or its folder; - is stdin", {}, nullptr, true},
    gguf            {"--gguf",             value_kind::file,   "FILE", "a GGUF file: its model, its weights"},
    safetensors     {"--safetensors",      value_kind::file,   "FILE|DIR", "weights beside a config.json, or of --model"},
    part            {"--part",             value_kind::text,   "KEY",  "a nested model's key"},
    as              {"--as",               value_kind::text,   "TYPE", "read as another type", {}, type_names},
    set             {"--set",              value_kind::text,   "K=V",  "override a key, a.b=1 a nested one; repeat", {}, nullptr, true},
    revision        {"--revision",         value_kind::text,   "REV",  "branch, tag or commit of --model"},
    offline         {"--offline",          value_kind::none,   "",     "never use the network"},
    mtp             {"--mtp",              value_kind::none,   "",     "MTP layers, too"},
    batch           {"--batch",            value_kind::number, "N",    "sequences, or images (1)", "Workload"},
    sequence        {"--sequence",         value_kind::number, "N",    "new tokens per sequence (1024)"},
    past            {"--past",             value_kind::number, "N",    "tokens already in the cache (0)"},
    encoder_sequence{"--encoder-sequence", value_kind::number, "N",    "tokens of the encoder (as the decoder)"},
    image           {"--image",            value_kind::text,   "WxH", "size of images (the model's own)"},
    images          {"--images",           value_kind::number, "N",    "how many"},
    video           {"--video",            value_kind::text,   "FxWxH", "frames, size of videos"},
    videos          {"--videos",           value_kind::number, "N",    "how many"},
    audio           {"--audio",            value_kind::text,   "SEC", "a recording per sequence"},
    requests        {"--requests",         value_kind::text,   "LIST", "new+image@past x many: 512@0x4,64+640x480"},
    input           {"--input",            value_kind::number, "N",    "a whole request: N tokens read at once"},
    output          {"--output",           value_kind::number, "N",    "and N tokens written one by one"},
    logits          {"--logits",           value_kind::choice, "all|last|none", "positions that the head computes"},
    attention       {"--attention",        value_kind::choice, "full|causal",   "all scores, or only visible ones"},
    dtype           {"--dtype",            value_kind::dtype,  "TYPE", "of weights (as the configuration says)"},
    quantization    {"--quantization",     value_kind::text,   "WORD", "weights as q4_k_m, awq, fp8, nf4, none ...", {}, quantization_names},
    activation_dtype{"--activation-dtype", value_kind::dtype,  "TYPE", "of activations (as the weights)"},
    cache_dtype     {"--cache-dtype",      value_kind::dtype,  "TYPE", "of the cache (as the activations)"},
    training        {"--training",         value_kind::none,   "",     "add one training step"},
    format          {"--format",           value_kind::choice, "text|json|csv|markdown|latex", "exact numbers outside of text", "Answer"},
    plot            {"--plot",             value_kind::picture, "FILE.svg", "draw it; without a file in the terminal"},
    plain_or_json   {"--format",           value_kind::choice, "text|json", "of the answer"},
    scopes          {"--scopes",           value_kind::none,   "",     "modules by path"},
    tensors         {"--tensors",          value_kind::none,   "",     "parameters and shapes"},
    tree            {"--tree",             value_kind::none,   "",     "modules as a tree"},
    depth           {"--depth",            value_kind::number, "N",    "levels of the tree"},
    unused          {"--unused",           value_kind::none,   "",     "keys that nothing reads"},
    color           {"--color",            value_kind::none,   "",     "colour always"},
    no_color        {"--no-color",         value_kind::none,   "",     "colour never"},
    completion      {"--completion",       value_kind::choice, "bash|zsh|fish", "print completions for a shell"},
    man             {"--man",              value_kind::none,   "",     "the man page"},
    help            {"--help",             value_kind::none,   "",     "print this help"},
    version         {"--version",          value_kind::none,   "",     "the version"};
// clang-format on

}  // namespace option

/// Of every command.
inline constexpr std::array help_option{option::help};
/// Which model: of every command that reads one.
inline constexpr std::array model_options{option::model, option::config, option::gguf,     option::safetensors, option::part,
                                          option::as,    option::set,    option::revision, option::offline};

}  // namespace llmcost::cli
