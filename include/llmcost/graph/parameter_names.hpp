// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

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
    declaration declared(const std::string& name, const tensor& v, bool tied);
    /// Registers a parameter of a repeated module call, matched by its name or else by its sizes.
    void on_reuse(const std::string& name, const tensor& v);
    /// The number of a tensor's parameter. Returns `none` if the tensor is no parameter.
    [[nodiscard]] std::int32_t number_of(const tensor& v) const noexcept;

private:
    struct parameter {
        std::vector<std::int64_t> sizes;
        bool awaited = false;  ///< declared as tied only
    };
    void is(const tensor& v, std::int32_t number);

    std::vector<parameter> parameters_;
    std::size_t num_awaited_ = 0;  ///< parameters that were declared as tied only
    std::unordered_map<std::string, std::int32_t> indices_by_name_;
    std::vector<std::int32_t> indices_by_storage_;
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/graph/impl/parameter_names.ipp>  // IWYU pragma: export
#endif
