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

/// The kind of value that an option takes.
///
/// The parser checks choices, element types and the extension of image files; shells complete values by it. The value
/// of an `image` may be absent.
enum class value_type : std::uint8_t { none, text, file, directory, number, choice, dtype, image };

/// A function that lists completions of a value, e.g. the model types of a program.
using completion_list = std::vector<std::string_view> (*)(const program&);

/// One option of a command.
struct option_spec {
    std::string_view name;                      ///< primary name, `--model`
    std::array<std::string_view, 4> aliases{};  ///< other accepted names: `-m`, or names of other tools
    std::string_view value{};                   ///< placeholder of the value in the help: `NAME`
    value_type type = value_type::none;
    std::string_view choices{};             ///< of a `choice`: the accepted values, separated by `|`
    std::string_view help{};                ///< noun phrase that is complete without the name of the option
    std::string_view section{};             ///< title of the section that begins here; empty: no new section
    completion_list completions = nullptr;  ///< completions in addition to files and choices
    bool is_repeatable = false;             ///< may be given more than once

    /// Whether two rows are one option: options of two commands are one if their names and value types are equal.
    [[nodiscard]] constexpr bool is(const option_spec& other_option) const noexcept {
        return name == other_option.name && type == other_option.type;
    }
    /// Calls `visit` with each alias.
    template <class Visit>
    constexpr void for_each_alias(Visit visit) const {
        for (const std::string_view alias : aliases)
            if (!alias.empty()) visit(alias);
    }
    /// Whether an argument is the name or an alias; `-` and `_` inside names are equal.
    [[nodiscard]] constexpr bool is_named(std::string_view argument) const noexcept {
        bool found = is_equal_name(argument, name);
        for_each_alias([&](std::string_view alias) { found = found || is_equal_name(argument, alias); });
        return found;
    }

private:
    [[nodiscard]] static constexpr bool is_equal_name(std::string_view argument, std::string_view known) noexcept {
        if (known.size() != argument.size()) return false;
        for (std::size_t k = 0; k < known.size(); ++k) {
            const bool dash =
                k > 1 && (argument[k] == '-' || argument[k] == '_') && (known[k] == '-' || known[k] == '_');
            if (argument[k] != known[k] && !dash) return false;
        }
        return true;
    }
};

/// Concatenates arrays of options.
template <std::size_t... Sizes>
[[nodiscard]] consteval std::array<option_spec, (Sizes + ...)> concatenate(
    const std::array<option_spec, Sizes>&... parts) {
    std::array<option_spec, (Sizes + ...)> all{};
    std::size_t position = 0;
    const auto append = [&](const auto& part) {
        for (const option_spec& row : part) all[position++] = row;
    };
    (append(parts), ...);
    return all;
}

/// Options with a section title above the first one.
template <std::size_t Size>
[[nodiscard]] consteval std::array<option_spec, Size> with_section(std::string_view title,
                                                                   std::array<option_spec, Size> rows) {
    rows.front().section = title;
    return rows;
}

/// Options without the section title above the first one.
template <std::size_t Size>
[[nodiscard]] consteval std::array<option_spec, Size> without_first_section(std::array<option_spec, Size> rows) {
    return with_section({}, rows);
}

/// An option with another help text, for a command in which its meaning or its default differs.
[[nodiscard]] consteval option_spec with_help(option_spec row, std::string_view help) {
    row.help = help;
    return row;
}

/// Calls `visit` with each value of a list that is separated by `|`.
template <class Visit>
constexpr void for_each_choice(std::string_view choices, Visit visit) {
    while (!choices.empty()) {
        const std::size_t bar = choices.find('|');
        visit(choices.substr(0, bar));
        choices.remove_prefix(bar == std::string_view::npos ? choices.size() : bar + 1);
    }
}

/// The names of the bundled configurations.
[[nodiscard]] std::vector<std::string_view> bundled_names(const program& program);

/// The names of the supported model types.
[[nodiscard]] std::vector<std::string_view> type_names(const program& program);

/// The accepted values of `--quantization`.
[[nodiscard]] std::vector<std::string_view> quantization_names(const program&);

/// The options that several commands have.
namespace option {

inline constexpr option_spec model{.name = "--model",
                                   .aliases = {"-m"},
                                   .value = "NAME",
                                   .type = value_type::file,
                                   .help =
                                       "org/name[@revision]; lookup order: local file, Hugging Face cache, "
                                       "bundled configurations, Hub",
                                   .completions = bundled_names,
                                   .is_repeatable = true};
inline constexpr option_spec config{.name = "--config",
                                    .value = "FILE",
                                    .type = value_type::file,
                                    .help = "config.json or its directory; - reads standard input",
                                    .is_repeatable = true};
inline constexpr option_spec gguf{
    .name = "--gguf", .value = "FILE", .type = value_type::file, .help = "GGUF file: configuration and weights"};
inline constexpr option_spec safetensors{.name = "--safetensors",
                                         .value = "FILE|DIR",
                                         .type = value_type::file,
                                         .help = "safetensors weights, with config.json next to them or --model"};
inline constexpr option_spec nested_config{.name = "--part",
                                           .value = "KEY",
                                           .type = value_type::text,
                                           .help = "use the nested configuration KEY, e.g. text_config"};
inline constexpr option_spec read_as_type{.name = "--as",
                                          .value = "TYPE",
                                          .type = value_type::text,
                                          .help = "use the implementation of another model_type",
                                          .completions = type_names};
inline constexpr option_spec read_as_class{.name = "--as-class",
                                           .value = "NAME",
                                           .type = value_type::text,
                                           .help = "use another class of the model type, e.g. Qwen3ForCausalLM"};
inline constexpr option_spec set{.name = "--set",
                                 .value = "KEY=VALUE",
                                 .type = value_type::text,
                                 .help = "override a configuration key; nested: a.b=1; repeatable",
                                 .is_repeatable = true};
inline constexpr option_spec revision{
    .name = "--revision", .value = "REV", .type = value_type::text, .help = "branch, tag or commit of --model"};
inline constexpr option_spec offline{.name = "--offline", .help = "do not use the network"};
inline constexpr option_spec mtp{.name = "--mtp", .help = "include multi-token prediction (MTP) layers"};

inline constexpr option_spec batch{.name = "--batch",
                                   .aliases = {"-b"},
                                   .value = "N",
                                   .type = value_type::number,
                                   .help = "sequences (or images) per step (default 1)"};
inline constexpr option_spec sequence{.name = "--sequence",
                                      .aliases = {"-s", "--seq-len", "--seqlen"},
                                      .value = "N",
                                      .type = value_type::number,
                                      .help = "new tokens per sequence (default 1024)"};
inline constexpr option_spec past{.name = "--past",
                                  .value = "N",
                                  .type = value_type::number,
                                  .help = "tokens per sequence that are already in the KV cache (default 0)"};
inline constexpr option_spec encoder_sequence{.name = "--encoder-sequence",
                                              .value = "N",
                                              .type = value_type::number,
                                              .help = "encoder tokens per sequence (default: as --sequence)"};
inline constexpr option_spec ragged_batch{
    .name = "--ragged",
    .value = "LIST",
    .type = value_type::text,
    .help = "ragged batch: groups of TOKENS[+WxH][@PAST][xCOUNT], e.g. 512@0x4,1@8000x60 or 64+640x480"};
inline constexpr option_spec input{.name = "--input",
                                   .aliases = {"--isl", "--input-len"},
                                   .value = "N",
                                   .type = value_type::number,
                                   .help = "input tokens per request; computes prefill and decode"};
inline constexpr option_spec output{.name = "--output",
                                    .aliases = {"--osl", "--output-len"},
                                    .value = "N",
                                    .type = value_type::number,
                                    .help = "output tokens per request, with --input (default 1)"};
inline constexpr option_spec logits{.name = "--logits",
                                    .value = "POSITIONS",
                                    .type = value_type::choice,
                                    .choices = "all|last|none",
                                    .help =
                                        "positions for which the head computes logits: all, last or none "
                                        "(default all; last with --input)"};
inline constexpr option_spec attention{.name = "--attention",
                                       .value = "TYPE",
                                       .type = value_type::choice,
                                       .choices = "full|causal",
                                       .help =
                                           "attention scores to count: full (all), or causal (visible ones only) "
                                           "(default full)"};
inline constexpr option_spec training{.name = "--training",
                                      .help = "include a training step: backward pass and gradients"};

inline constexpr option_spec image{.name = "--image",
                                   .value = "WxH",
                                   .type = value_type::text,
                                   .help = "image size in pixels (default: the model's image size)"};
inline constexpr option_spec images{.name = "--images",
                                    .value = "N",
                                    .type = value_type::number,
                                    .help = "images per sequence (default 1 with --image)"};
inline constexpr option_spec video{
    .name = "--video", .value = "FxWxH", .type = value_type::text, .help = "frames and frame size in pixels"};
inline constexpr option_spec videos{.name = "--videos",
                                    .value = "N",
                                    .type = value_type::number,
                                    .help = "videos per sequence (default 1 with --video)"};
inline constexpr option_spec audio{
    .name = "--audio", .value = "SECONDS", .type = value_type::text, .help = "audio per sequence, in seconds"};

inline constexpr option_spec dtype{
    .name = "--dtype",
    .value = "TYPE",
    .type = value_type::dtype,
    .help = "weight type: bfloat16, float16, float32, float8_e4m3fn ... (default: as the configuration)"};
inline constexpr option_spec activation_dtype{.name = "--activation-dtype",
                                              .value = "TYPE",
                                              .type = value_type::dtype,
                                              .help = "activation type (default: as the weights)"};
inline constexpr option_spec cache_dtype{.name = "--cache-dtype",
                                         .aliases = {"--kv-cache-dtype"},
                                         .value = "TYPE",
                                         .type = value_type::dtype,
                                         .help = "KV cache type (default: as the activations)"};
inline constexpr option_spec quantization{.name = "--quantization",
                                          .value = "NAME",
                                          .type = value_type::text,
                                          .help =
                                              "weight quantization: q4_k_m, awq, fp8, nf4, none ... "
                                              "(default: as the configuration)",
                                          .completions = quantization_names};

inline constexpr option_spec format{.name = "--format",
                                    .value = "FORMAT",
                                    .type = value_type::choice,
                                    .choices = "text|json|csv|markdown|latex",
                                    .help =
                                        "text, json, csv, markdown or latex (default text); all except text print "
                                        "exact numbers"};
inline constexpr option_spec text_or_json_format{.name = "--format",
                                                 .value = "FORMAT",
                                                 .type = value_type::choice,
                                                 .choices = "text|json",
                                                 .help = "text or json (default text); json prints exact numbers"};
inline constexpr option_spec text_json_or_csv_format{
    .name = "--format",
    .value = "FORMAT",
    .type = value_type::choice,
    .choices = "text|json|csv",
    .help = "text, json or csv (default text); json and csv print exact numbers"};
inline constexpr option_spec plot{.name = "--plot",
                                  .value = "FILE.svg",
                                  .type = value_type::image,
                                  .help = "write a chart; without FILE, draw it in the terminal"};
inline constexpr option_spec scopes{.name = "--scopes", .help = "list modules by path"};
inline constexpr option_spec tensors{.name = "--tensors", .help = "list parameters and their shapes"};
inline constexpr option_spec tree{.name = "--tree", .help = "print modules as a tree; equal layers are one line"};
inline constexpr option_spec depth{
    .name = "--depth", .value = "N", .type = value_type::number, .help = "levels of --tree (default: all)"};
inline constexpr option_spec unused{.name = "--unused", .help = "list configuration keys that have no effect"};
inline constexpr option_spec color{.name = "--color", .help = "always use color"};
inline constexpr option_spec no_color{.name = "--no-color", .help = "never use color"};
inline constexpr option_spec completion{.name = "--completion",
                                        .value = "SHELL",
                                        .type = value_type::choice,
                                        .choices = "bash|zsh|fish",
                                        .help = "print completions for bash, zsh or fish"};
inline constexpr option_spec man{.name = "--man", .help = "print the man page"};
inline constexpr option_spec help{.name = "--help", .aliases = {"-h"}, .help = "print this help"};
inline constexpr option_spec version{.name = "--version", .help = "print the version of llmcost"};

}  // namespace option

/// The option of every command.
inline constexpr std::array help_option{option::help};
/// The options that choose a model.
inline constexpr std::array model_options{
    option::model,        option::config,        option::gguf, option::safetensors, option::nested_config,
    option::read_as_type, option::read_as_class, option::set,  option::revision,    option::offline};
/// The images, videos and audio of each sequence of a batch.
inline constexpr std::array multimodal_options{option::image, option::images, option::video, option::videos,
                                               option::audio};
/// The images, videos and audio of each request of a server.
inline constexpr std::array request_multimodal_options{
    option::image, with_help(option::images, "images per request (default 1 with --image)"), option::video,
    with_help(option::videos, "videos per request (default 1 with --video)"),
    with_help(option::audio, "audio per request, in seconds")};

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/options.ipp>  // IWYU pragma: export
#endif
