// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>

namespace llmcost::cli {

/// A group of equal requests in a ragged batch.
struct request_group {
    std::int64_t sequence = 0;  ///< new tokens per request
    std::int64_t past = 0;      ///< tokens per request in the KV cache
    std::int64_t num_requests = 1;
    std::int64_t image_width = 0;  ///< of the image of each request; 0: no image
    std::int64_t image_height = 0;
    std::int64_t media_tokens = 0;  ///< tokens of the image

    /// The workload of the group; `load` contains what all groups have in common.
    [[nodiscard]] workload to_workload(workload load) const noexcept;
};

/// Consecutive forward passes; each has one more token in the KV cache than the previous one.
struct repeated_step {
    workload load;
    std::int64_t steps = 1;
};

/// A phase of a workload, e.g. prefill or decode.
struct workload_phase {
    std::string name;
    std::vector<repeated_step> parts;
    bool is_sequential = false;  ///< parts are executed one after another on one KV cache, not as one batch
};

enum class workload_kind : std::uint8_t { forward_pass, ragged_batch, generation };

/// The workload of a command line.
struct workload_request {
    workload_kind kind = workload_kind::forward_pass;
    workload base_workload{};  ///< the pass; of a generation the prefill; of a ragged batch the common part
    std::vector<request_group> request_groups{};
    std::int64_t input_tokens = 0;
    std::int64_t output_tokens = 0;
    bool is_training = false;
    bool has_no_text = false;           ///< `--sequence 0`, for models without text input
    std::int64_t num_media_tokens = 0;  ///< tokens of the multimodal inputs per sequence
};

/// Parses a ragged batch `512@0x4,1@8000x60,64+1024x768@0x2`: groups of `TOKENS[+WxH][@PAST][xCOUNT]`.
///
/// Defaults: past 0, count 1. Throws: `usage`.
[[nodiscard]] std::vector<request_group> parse_ragged_batch(std::string_view list);

/// Parses the multimodal inputs of a sequence: `--image WIDTHxHEIGHT`, `--video FRAMESxWIDTHxHEIGHT`, `--audio
/// SECONDS`. Throws: `usage`.
void parse_multimodal_inputs(const arguments& args, workload& load);

/// Parses the workload of a command line. Throws: `usage` for options that cannot be combined.
[[nodiscard]] workload_request parse_workload(const arguments& args);

/// The phases of a workload: one pass, one step of a ragged batch, or prefill and decode of a request.
///
/// If an encoder reads the input (`encodes`), the prefill of the decoder is one token.
[[nodiscard]] std::vector<workload_phase> phases_of(const workload_request& j, bool encodes = false);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/workload_request.ipp>  // IWYU pragma: export
#endif
