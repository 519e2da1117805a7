// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <llmcost/cli/args/command.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>

// The tools of `llmcost mcp`: commands with a part of their options, as JSON schemas.
namespace llmcost::cli {

/// The positional arguments of a tool's command.
enum class mcp_positional : std::uint8_t {
    none,
    query,         ///< `metrics` and `scope`
    models_query,  ///< `models`, `metrics` and `scope`
    name           ///< `name`, a part of a name
};

/// A tool: a command, and the options of the command that it offers.
struct mcp_tool {
    std::string_view name;
    std::string_view command;        ///< of `llmcost COMMAND`; empty: the front page
    std::string_view alternative{};  ///< the command that the boolean argument of this name selects
    mcp_positional positional = mcp_positional::none;
    bool has_model = true;       ///< whether the tool has the arguments `model` and `config`
    std::string_view options{};  ///< names without `--`, separated by `|`
};

// clang-format off
inline constexpr std::array<mcp_tool, 8> mcp_tools{{
    {"count", "", "", mcp_positional::query, true,
     "batch|sequence|past|input|output|encoder-sequence|ragged|logits|attention|image|images|video|videos|audio|training|"
     "adapter|dtype|quantization|activation-dtype|cache-dtype|scopes|tensors|unused|convention|part|as|set"},
    {"memory", "memory", "", mcp_positional::none, true,
     "batch|sequence|past|encoder-sequence|image|images|video|videos|audio|device|memory|engine|engine-version|"
     "gpu-memory-utilization|max-num-batched-tokens|max-num-seqs|tp|pp|dp|ep|mem-fraction-static|gpu-layers|tensor-split|"
     "cache-type-k|cache-type-v|dtype|quantization|activation-dtype|cache-dtype|price|part|as|set"},
    {"fit", "fit", "", mcp_positional::none, true,
     "batch|sequence|past|encoder-sequence|image|images|video|videos|audio|training|optimizer|adapter|lora|qlora|"
     "precision|recompute|devices|device|memory|engine|engine-version|gpu-memory-utilization|max-num-seqs|network|price|"
     "dtype|quantization|activation-dtype|cache-dtype|part|as|set"},
    {"train", "train", "", mcp_positional::none, true,
     "batch|sequence|encoder-sequence|image|images|video|videos|audio|optimizer|adapter|lora|qlora|precision|"
     "attention-implementation|loss|dropout|on|recompute|gradient-accumulation|master-weights|gradient-dtype|offload|"
     "shards|zero|fsdp|device|memory|host|network|step-seconds|tokens|price|part|as|set"},
    {"latency", "latency", "", mcp_positional::none, true,
     "batch|sequence|past|encoder-sequence|ragged|logits|image|images|video|videos|audio|training|optimizer|adapter|"
     "lora|qlora|recompute|precision|tp|dp|ep|device|engine|engine-version|execution|network|host|dtype|experts-dtype|"
     "cache-dtype|quantization|routing|price|carbon|part|as|set"},
    {"serve", "serve", "plan", mcp_positional::none, true,
     "input|output|concurrency|rate|slo|slo-at|sweep|prefix-hit|image|images|video|videos|audio|tp|pp|dp|ep|chunk|draft|"
     "acceptance|draft-model|memory-share|device|engine|engine-version|execution|network|dtype|experts-dtype|cache-dtype|"
     "quantization|routing|adapter|lora|price|carbon|keep|requests|burstiness|turns|pause|seed|devices|no-separate|top|"
     "part|as|set"},
    {"compare", "compare", "", mcp_positional::models_query, false,
     "batch|sequence|past|input|output|encoder-sequence|ragged|logits|attention|image|images|video|videos|audio|engine|"
     "dtype|quantization|activation-dtype|cache-dtype|part|as|set"},
    {"models", "models", "devices", mcp_positional::name, false, "layers"},
}};
// clang-format on

/// An option of a tool: that of its command, and that of its alternative; null if one does not have it.
struct mcp_option {
    std::string name;  ///< of the argument: `cache_dtype` for `--cache-dtype`
    const option_spec* option = nullptr;
    const option_spec* alternative = nullptr;
};

/// The tool with a name; null if there is none.
[[nodiscard]] const mcp_tool* find_mcp_tool(std::string_view name) noexcept;

/// The options of a tool, in order, from the tables of its commands.
[[nodiscard]] std::vector<mcp_option> options_of(const mcp_tool& tool, const program& io);

/// A tool as an element of the answer to `tools/list`, as JSON.
///
/// `has_output_schema`: whether the protocol version has structured results, which is so from 2025-06-18.
/// Source: Model Context Protocol, schema 2025-06-18, `Tool`.
[[nodiscard]] std::string tool_json(const mcp_tool& tool, const program& io, bool has_output_schema);

/// A command line and its standard input.
struct mcp_command_line {
    std::vector<std::string> options;     ///< with the command
    std::vector<std::string> positional;  ///< follow `--`
    std::string input{};                  ///< the configuration of `--config -`
    bool uses_alternative = false;        ///< whether the command is `mcp_tool::alternative`

    /// The arguments of the program with an output format.
    [[nodiscard]] std::vector<std::string_view> with_format(std::string_view format_option) const;
};

/// The command line of a tool call. Names of arguments may have `-` for `_`, and aliases of the options are accepted.
///
/// Throws: `usage` for an unknown argument, with the nearest names, and for a value of another type.
[[nodiscard]] mcp_command_line command_line_of(const mcp_tool& tool, const nlohmann::ordered_json& arguments,
                                               const program& io);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/mcp_tool.ipp>  // IWYU pragma: export
#endif
