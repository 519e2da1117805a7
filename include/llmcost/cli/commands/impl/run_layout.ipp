// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/run_layout.hpp>

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include <llmcost/base/inline.hpp>

namespace llmcost::cli {

namespace detail {

/// The number after a mark in a run's id; 0 if there is none.
[[nodiscard]] LLMCOST_INLINE std::int64_t number_after(std::string_view id, std::string_view mark) {
    std::int64_t n = 0;
    if (const std::size_t position = id.find(mark); position != std::string_view::npos)
        std::from_chars(id.data() + position + mark.size(), id.data() + id.size(), n);
    return n;
}

}  // namespace detail

LLMCOST_INLINE bool is_inferencex_run(std::string_view id) { return id.starts_with("20") || id.starts_with("dsr1"); }

LLMCOST_INLINE run_layout layout_of_run(std::string_view id, const run_layout& columns) {
    run_layout layout = columns;
    const std::int64_t ep = columns.expert_parallel_size, expert_tensor = columns.expert_tensor_parallel_size;
    const std::int64_t columns_devices = columns.tensor_parallel_size * columns.data_parallel_size;
    const std::int64_t id_devices = detail::number_after(id, "_tp");
    const std::int64_t devices = id_devices > 0 ? id_devices : ep;
    if (is_inferencex_run(id) && ep > 1 && expert_tensor == devices && devices % ep == 0 &&
        columns_devices == devices * ep) {
        layout.expert_tensor_parallel_size = devices / ep;
        if (columns.data_parallel_size > 1) {
            layout.data_parallel_size = devices;
            layout.tensor_parallel_size = 1;
            layout.requests_per_rank = columns.requests_per_rank * columns.data_parallel_size / devices;
        } else {
            layout.tensor_parallel_size = devices;
        }
    } else if (columns.data_parallel_size == 1 && id_devices > 1 && id_devices == columns.tensor_parallel_size &&
               detail::number_after(id, "_c") == columns.requests_per_rank * id_devices) {
        layout.data_parallel_size = id_devices;
        layout.tensor_parallel_size = 1;
    }
    return layout;
}

}  // namespace llmcost::cli
