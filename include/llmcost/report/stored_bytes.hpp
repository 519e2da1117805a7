// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/report/listing.hpp>

// Stored bytes of weights with several element types, by module.
namespace llmcost {

/// The stored size of a parameter, with scales and zero points.
struct stored_parameter {
    count bytes{};
    std::string type{};  ///< name of the type in the format
};

/// Stored bytes of a model's weights by full parameter name. The total also includes tensors without a parameter.
struct stored_bytes {
    count total{};
    std::unordered_map<std::string, stored_parameter> parameters{};

    void add(const std::string& parameter, count bytes, std::string_view type = {});
    [[nodiscard]] count parameter_bytes(const std::string& parameter) const;
    /// The type of a parameter; `unknown` if it was not found.
    [[nodiscard]] std::string type_of(const std::string& parameter) const;
};

/// Finds the module of a parameter.
class module_finder {
public:
    explicit module_finder(const model_listing& listing) {
        for (std::size_t i = 0; i < listing.scopes.size(); ++i) module_indices_.try_emplace(listing.scopes[i].path, i);
    }
    /// Index in the listing.
    [[nodiscard]] std::size_t operator()(std::string path) const;

private:
    std::unordered_map<std::string, std::size_t> module_indices_;
};

/// Stored bytes of each scope of a listing, including its children. The first is the total.
[[nodiscard]] std::vector<count> bytes_by_scope(const stored_bytes& stored, const model_listing& listing);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/report/impl/stored_bytes.ipp>  // IWYU pragma: export
#endif
