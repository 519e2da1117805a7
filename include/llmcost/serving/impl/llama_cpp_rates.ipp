// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/llama_cpp_rates.hpp>

#include <cstdint>
#include <iterator>
#include <string_view>

#include <llmcost/base/inline.hpp>
#include <llmcost/devices/cuda_capability.hpp>
#include <llmcost/devices/device.hpp>

namespace llmcost {

LLMCOST_INLINE const llama_cpp_rates& rates_of(llama_cpp_backend backend, const device& d) noexcept {
    const std::int32_t capability = cuda_capability_of(d);
    const std::string_view title(d.title);
    for (const llama_cpp_rates& rates : llama_cpp_rate_table)
        if (rates.backend == backend && capability >= rates.min_capability && title.starts_with(rates.title_prefix))
            return rates;
    return *std::rbegin(llama_cpp_rate_table);
}

}  // namespace llmcost
