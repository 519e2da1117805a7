// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/trace/tensor.hpp>

namespace llmcost::detail {

/// Maps tensors of a trace to parameters, also if a module is called several times or a tensor has several names.
class parameter_names {
public:
    static constexpr std::int32_t none = -1;

    struct declaration {
        std::int32_t number;  ///< in order of first names
        bool fresh;           ///< the tensor had no name before
    };

    /// Registers a declared parameter. A tied one is matched by its sizes, and may be declared before its original.
    declaration declared(const std::string& name, const tensor& v, bool tied) {
        const auto match = std::ranges::find_if(all_, [&](const parameter& p) {
            return (tied || p.awaited) && p.sizes == std::vector(v.size, v.size + v.rank);
        });
        const bool fresh = match == all_.end();
        const auto number = static_cast<std::int32_t>(match - all_.begin());
        if (fresh)
            all_.push_back({{v.size, v.size + v.rank}, tied});
        else if (!tied)
            match->awaited = false;
        by_name_[name] = number;
        is(v, number);
        return {number, fresh};
    }
    /// Registers a parameter of a repeated module call, matched by its name or else by its sizes.
    void on_reuse(const std::string& name, const tensor& v) {
        if (const auto known = by_name_.find(name); known != by_name_.end()) return is(v, known->second);
        const auto match = std::ranges::find(all_, std::vector(v.size, v.size + v.rank), &parameter::sizes);
        is(v, match == all_.end() ? none : static_cast<std::int32_t>(match - all_.begin()));
    }
    /// The number of a tensor's parameter. Returns `none` if the tensor is no parameter.
    [[nodiscard]] std::int32_t number_of(const tensor& v) const noexcept {
        const auto at = static_cast<std::size_t>(tensor::no_storage_id - 1 - v.storage_id);
        return v.storage_id < tensor::no_storage_id && at < by_storage_.size() ? by_storage_[at] : none;
    }

private:
    struct parameter {
        std::vector<std::int64_t> sizes;
        bool awaited = false;  ///< declared as tied only
    };
    void is(const tensor& v, std::int32_t number) {
        const auto at = static_cast<std::size_t>(tensor::no_storage_id - 1 - v.storage_id);
        if (at >= by_storage_.size()) by_storage_.resize(at + 1, none);
        by_storage_[at] = number;
    }

    std::vector<parameter> all_;
    std::unordered_map<std::string, std::int32_t> by_name_;
    std::vector<std::int32_t> by_storage_;
};

}  // namespace llmcost::detail
