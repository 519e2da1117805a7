// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>

namespace llmcost::cli {

namespace detail {

struct short_size {
    std::string_view name;
    std::string_view shorter;
};
inline constexpr std::array<short_size, 16> short_sizes{{
    {"batch_size", "batch"},
    {"isl", "tokens"},
    {"step", "cached"},
    {"num_heads", "heads"},
    {"num_key_value_heads", "kv_heads"},
    {"num_key_heads", "key_heads"},
    {"head_dim", "dim"},
    {"window_size", "window"},
    {"num_tokens", "tokens"},
    {"hidden_size", "hidden"},
    {"inter_size", "inner"},
    {"num_experts", "experts"},
    {"moe_tp_size", "tp"},
    {"moe_ep_size", "ep"},
    {"message_size", "elements"},
    {"num_gpus", "gpus"},
}};

}  // namespace detail

/// The short name of an operator size in text output: `kv_heads` for `num_key_value_heads`.
[[nodiscard]] std::string short_size_name(std::string_view name);

}  // namespace llmcost::cli

#ifndef LLMCOST_COMPILED
#include <llmcost/cli/args/impl/size_names.ipp>  // IWYU pragma: export
#endif
