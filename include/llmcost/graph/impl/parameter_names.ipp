// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/graph/parameter_names.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <llmcost/base/inline.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

LLMCOST_INLINE parameter_names::declaration parameter_names::declared(const std::string& name, const tensor& v,
                                                                      bool tied) {
    // models with many modules: search only if a tied parameter can match
    const auto match =
        !tied && num_awaited_ == 0 ? parameters_.end() : std::ranges::find_if(parameters_, [&](const parameter& p) {
            return (tied || p.awaited) &&
                   std::ranges::equal(p.sizes, std::span(v.size, static_cast<std::size_t>(v.rank)));
        });
    const bool fresh = match == parameters_.end();
    const auto number = static_cast<std::int32_t>(match - parameters_.begin());
    if (fresh) {
        parameters_.push_back({{v.size, v.size + v.rank}, tied});
        num_awaited_ += tied ? 1 : 0;
    } else if (!tied) {
        num_awaited_ -= match->awaited ? 1 : 0;
        match->awaited = false;
    }
    indices_by_name_[name] = number;
    is(v, number);
    return {number, fresh};
}

LLMCOST_INLINE void parameter_names::on_reuse(const std::string& name, const tensor& v) {
    if (const auto known = indices_by_name_.find(name); known != indices_by_name_.end()) return is(v, known->second);
    const auto match = std::ranges::find(parameters_, std::vector(v.size, v.size + v.rank), &parameter::sizes);
    is(v, match == parameters_.end() ? none : static_cast<std::int32_t>(match - parameters_.begin()));
}

LLMCOST_INLINE std::int32_t parameter_names::number_of(const tensor& v) const noexcept {
    const auto index = static_cast<std::size_t>(tensor::no_storage_id - 1 - v.storage_id);
    return v.storage_id < tensor::no_storage_id && index < indices_by_storage_.size() ? indices_by_storage_[index]
                                                                                      : none;
}

LLMCOST_INLINE void parameter_names::is(const tensor& v, std::int32_t number) {
    const auto index = static_cast<std::size_t>(tensor::no_storage_id - 1 - v.storage_id);
    if (index >= indices_by_storage_.size()) indices_by_storage_.resize(index + 1, none);
    indices_by_storage_[index] = number;
}

}  // namespace llmcost::detail
