// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

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

    void add(const std::string& parameter, count bytes, std::string_view type = {}) {
        total += bytes;
        if (parameter.empty()) return;
        stored_parameter& entry = parameters[parameter];
        entry.bytes += bytes;
        if (!type.empty() && entry.type.empty()) entry.type = std::string(type);
    }
    [[nodiscard]] count parameter_bytes(const std::string& parameter) const {
        const auto found = parameters.find(parameter);
        return found == parameters.end() ? count{} : found->second.bytes;
    }
    /// The type of a parameter; `unknown` if it was not found.
    [[nodiscard]] std::string type_of(const std::string& parameter) const {
        const auto found = parameters.find(parameter);
        return found == parameters.end() ? "unknown" : found->second.type;
    }
};

/// Finds the module of a parameter.
class module_finder {
public:
    explicit module_finder(const model_listing& listing) {
        for (std::size_t i = 0; i < listing.scopes.size(); ++i) places_.try_emplace(listing.scopes[i].path, i);
    }
    /// Index in the listing.
    [[nodiscard]] std::size_t operator()(std::string path) const {
        while (!path.empty()) {
            const std::size_t dot = path.rfind('.');
            path.resize(dot == std::string::npos ? 0 : dot);
            if (const auto found = places_.find(path); found != places_.end()) return found->second;
        }
        return 0;
    }

private:
    std::unordered_map<std::string, std::size_t> places_;
};

/// Stored bytes of each scope of a listing, including its children. The first is the total.
[[nodiscard]] inline std::vector<count> bytes_by_scope(const stored_bytes& stored, const model_listing& listing) {
    std::vector<count> out(listing.scopes.size());
    const module_finder module_of(listing);
    for (const tensor_shape& t : listing.tensors) {
        const count num_bytes = stored.parameter_bytes(t.name);
        for (auto at = static_cast<std::ptrdiff_t>(module_of(t.name)); at >= 0;
             at = listing.scopes[static_cast<std::size_t>(at)].parent)
            out[static_cast<std::size_t>(at)] += num_bytes;
    }
    if (!out.empty()) out.front() = stored.total;
    return out;
}

}  // namespace llmcost
