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

/// Which parameter a value of a walk is, whose module may be called several times and whose tensor may have several
/// names.
class parameter_names {
public:
    static constexpr std::int32_t none = -1;

    struct declaration {
        std::int32_t number;  ///< in order of first names
        bool fresh;           ///< nobody has named its tensor before
    };

    /// A parameter that is declared; a tied one is that of the same sizes, which may be named later.
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
    /// A parameter of a module that is called once more: the same, by its name or, where the module has several, its
    /// sizes.
    void on_reuse(const std::string& name, const tensor& v) {
        if (const auto known = by_name_.find(name); known != by_name_.end()) return is(v, known->second);
        const auto match = std::ranges::find(all_, std::vector(v.size, v.size + v.rank), &parameter::sizes);
        is(v, match == all_.end() ? none : static_cast<std::int32_t>(match - all_.begin()));
    }
    /// The number of a value's parameter; `none` of one that is no parameter.
    [[nodiscard]] std::int32_t number_of(const tensor& v) const noexcept {
        const auto at = static_cast<std::size_t>(tensor::no_storage_id - 1 - v.storage_id);
        return v.storage_id < tensor::no_storage_id && at < by_storage_.size() ? by_storage_[at] : none;
    }

private:
    struct parameter {
        std::vector<std::int64_t> sizes;
        bool awaited = false;  ///< named as a tied one alone
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
