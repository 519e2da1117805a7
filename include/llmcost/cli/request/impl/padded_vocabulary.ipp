// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/request/padded_vocabulary.hpp>

#include <cstdint>
#include <optional>
#include <string>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::cli {

LLMCOST_INLINE std::optional<model> model_with_padded_vocabulary(const model& m) {
    constexpr std::int64_t alignment = 8, padding = 64;
    if (m.config.vocab_size % alignment == 0) return std::nullopt;
    model padded = m;
    padded.config.vocab_size = (m.config.vocab_size + padding - 1) / padding * padding;
    return padded;
}

LLMCOST_INLINE std::string padding_label(const model& padded) {
    return "--set vocab_size=" + std::to_string(padded.config.vocab_size) + " (padded vocabulary)";
}

LLMCOST_INLINE std::string padding_advice(const model& m) {
    const std::optional<model> padded = model_with_padded_vocabulary(m);
    if (!padded) return {};
    return "The vocabulary of " + grouped(count(m.config.vocab_size)) +
           " tokens is not a multiple of 8: in 16 bits, GPUs multiply the head with slower kernels. Pad it to " +
           grouped(count(padded->config.vocab_size)) +
           " (--set vocab_size=" + std::to_string(padded->config.vocab_size) + ").";
}

}  // namespace llmcost::cli
