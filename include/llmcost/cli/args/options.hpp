// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/cli/args/streams.hpp>
#include <llmcost/files/gguf_mix.hpp>
#include <llmcost/memory/quantization_names.hpp>

namespace llmcost::cli {

/// What the value of an option may be: the reader of a command line checks a choice, a dtype and the ending of a
/// picture's file, which may be left out; shells complete by it.
enum class value_type : std::uint8_t { none, text, file, directory, number, choice, dtype, image };

/// Words that may stand where a value does, of what a program knows.
using completion_list = std::vector<std::string_view> (*)(const program&);

/// One option of a command: its name, the word for its value in the help, and what it does.
struct option_spec {
    std::string_view name;
    value_type type;
    std::string_view value;  ///< how the help calls the value; for a choice the words, parted by `|`
    std::string_view help;
    std::string_view section{};             ///< title of the section that begins here; empty: the section goes on
    completion_list completions = nullptr;  ///< what shells complete beside files and a choice's words
    bool is_repeatable = false;             ///< may be given again and again

    /// Two commands may have an option of one name; it is the same one where its values are of one kind.
    [[nodiscard]] constexpr bool is(const option_spec& other_option) const noexcept {
        return name == other_option.name && type == other_option.type;
    }
};

/// The arrays of options one behind the other.
template <std::size_t... Sizes>
[[nodiscard]] consteval std::array<option_spec, (Sizes + ...)> concatenate(
    const std::array<option_spec, Sizes>&... parts) {
    std::array<option_spec, (Sizes + ...)> all{};
    std::size_t at = 0;
    const auto append = [&](const auto& part) {
        for (const option_spec& row : part) all[at++] = row;
    };
    (append(parts), ...);
    return all;
}

/// The same options, below a title.
template <std::size_t Size>
[[nodiscard]] consteval std::array<option_spec, Size> with_section(std::string_view title,
                                                                   std::array<option_spec, Size> rows) {
    rows.front().section = title;
    return rows;
}

/// Calls `visit` with each word of a choice.
template <class Visit>
constexpr void for_each_choice(std::string_view choices, Visit visit) {
    while (!choices.empty()) {
        const std::size_t bar = choices.find('|');
        visit(choices.substr(0, bar));
        choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
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
    for (const model_spec* spec : io.models) names.emplace_back(spec->model_type);
    return names;
}

/// What `--quantization` may be.
[[nodiscard]] inline std::vector<std::string_view> quantization_names(const program&) {
    std::vector<std::string_view> names;
    for (const quantization_preset& method : quantization_presets) names.push_back(method.name);
    for (const llmcost::detail::gguf_mix_entry& gguf_mix : llmcost::detail::gguf_mixes) names.push_back(gguf_mix.name);
    return names;
}

/// The options that several commands have.
namespace option {

// clang-format off
inline constexpr option_spec
    model           {"--model",            value_type::file,   "NAME", "org/name[@rev]: file, cached, bundled, hub", "Model", bundled_names, true},
    config          {"--config",           value_type::file,   "FILE", "config.json or its folder; - is stdin", {}, nullptr, true},
    gguf            {"--gguf",             value_type::file,   "FILE", "a GGUF file: its model, its weights"},
    safetensors     {"--safetensors",      value_type::file,   "FILE|DIR", "weights beside a config.json, or of --model"},
    nested_config            {"--part",             value_type::text,   "KEY",  "a nested model's key"},
    read_as_type              {"--as",               value_type::text,   "TYPE", "read as another type", {}, type_names},
    set             {"--set",              value_type::text,   "K=V",  "override a key, a.b=1 a nested one; repeat", {}, nullptr, true},
    revision        {"--revision",         value_type::text,   "REV",  "branch, tag or commit of --model"},
    offline         {"--offline",          value_type::none,   "",     "never use the network"},
    mtp             {"--mtp",              value_type::none,   "",     "MTP layers, too"},
    batch           {"--batch",            value_type::number, "N",    "sequences, or images (1)", "Workload"},
    sequence        {"--sequence",         value_type::number, "N",    "new tokens per sequence (1024)"},
    past            {"--past",             value_type::number, "N",    "tokens already in the cache (0)"},
    encoder_sequence{"--encoder-sequence", value_type::number, "N",    "tokens of the encoder (as the decoder)"},
    image           {"--image",            value_type::text,   "WxH", "size of images (the model's own)"},
    images          {"--images",           value_type::number, "N",    "how many"},
    video           {"--video",            value_type::text,   "FxWxH", "frames, size of videos"},
    videos          {"--videos",           value_type::number, "N",    "how many"},
    audio           {"--audio",            value_type::text,   "SEC", "a recording per sequence"},
    ragged_batch        {"--requests",         value_type::text,   "LIST", "new+image@past x many: 512@0x4,64+640x480"},
    input           {"--input",            value_type::number, "N",    "a whole request: N tokens read at once"},
    output          {"--output",           value_type::number, "N",    "and N tokens written one by one"},
    logits          {"--logits",           value_type::choice, "all|last|none", "positions that the head computes"},
    attention       {"--attention",        value_type::choice, "full|causal",   "all scores, or only visible ones"},
    dtype           {"--dtype",            value_type::dtype,  "TYPE", "of weights (as the configuration says)"},
    quantization    {"--quantization",     value_type::text,   "WORD", "weights as q4_k_m, awq, fp8, nf4, none ...", {}, quantization_names},
    activation_dtype{"--activation-dtype", value_type::dtype,  "TYPE", "of activations (as the weights)"},
    cache_dtype     {"--cache-dtype",      value_type::dtype,  "TYPE", "of the cache (as the activations)"},
    training        {"--training",         value_type::none,   "",     "add one training step"},
    format          {"--format",           value_type::choice, "text|json|csv|markdown|latex", "exact numbers outside of text", "Answer"},
    plot            {"--plot",             value_type::image, "FILE.svg", "draw it; without a file in the terminal"},
    text_or_json_format   {"--format",           value_type::choice, "text|json", "of the answer"},
    scopes          {"--scopes",           value_type::none,   "",     "modules by path"},
    tensors         {"--tensors",          value_type::none,   "",     "parameters and shapes"},
    tree            {"--tree",             value_type::none,   "",     "modules as a tree"},
    depth           {"--depth",            value_type::number, "N",    "levels of the tree"},
    unused          {"--unused",           value_type::none,   "",     "keys that nothing reads"},
    color           {"--color",            value_type::none,   "",     "colour always"},
    no_color        {"--no-color",         value_type::none,   "",     "colour never"},
    completion      {"--completion",       value_type::choice, "bash|zsh|fish", "print completions for a shell"},
    man             {"--man",              value_type::none,   "",     "the man page"},
    help            {"--help",             value_type::none,   "",     "print this help"},
    version         {"--version",          value_type::none,   "",     "the version"};
// clang-format on

}  // namespace option

/// Of every command.
inline constexpr std::array help_option{option::help};
/// Which model: of every command that reads one.
inline constexpr std::array model_options{option::model,       option::config,        option::gguf,
                                          option::safetensors, option::nested_config, option::read_as_type,
                                          option::set,         option::revision,      option::offline};

}  // namespace llmcost::cli
