// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/sglang_options.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_writer.hpp>

// The memory of `--engine sglang`: options, pools and their text.
namespace llmcost::cli::detail {

/// Parses `0.5.9`, `v0.5.9.post1`. An empty or a development version is the newest.
///
/// Throws: `usage` if the text does not begin with a number.
[[nodiscard]] engine_version_number parse_sglang_version(std::string_view text);

/// Parses the options of SGLang. Throws: `usage` for an invalid value, or if the engine is another one.
[[nodiscard]] sglang_options parse_sglang_options(const arguments& args, const engine_memory_profile& profile);

/// The pools as the log of SGLang lists them. `GB` are 2^30 bytes, as there.
///
///     Load weight end. mem usage=15.28 GB
///     KV Cache is allocated. #tokens: 992896, KV size: 136.36 GB
[[nodiscard]] std::string sglang_log(const inference_memory& memory, const sglang_pools& pools,
                                     const sglang_defaults& defaults, std::int64_t context_length);

/// Writes the member `pools`.
void write_sglang_pools(json_writer& json, const sglang_pools& pools, const sglang_defaults& defaults);

}  // namespace llmcost::cli::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/commands/impl/sglang_request.ipp>  // IWYU pragma: export
#endif
