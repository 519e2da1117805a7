// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/report/stored_bytes.hpp>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/report/listing.hpp>

namespace llmcost {

LLMCOST_INLINE void stored_bytes::add(const std::string& parameter, count bytes, std::string_view type) {
    total += bytes;
    if (parameter.empty()) return;
    stored_parameter& entry = parameters[parameter];
    entry.bytes += bytes;
    if (!type.empty() && entry.type.empty()) entry.type = std::string(type);
}

LLMCOST_INLINE count stored_bytes::parameter_bytes(const std::string& parameter) const {
    const auto found = parameters.find(parameter);
    return found == parameters.end() ? count{} : found->second.bytes;
}

LLMCOST_INLINE std::string stored_bytes::type_of(const std::string& parameter) const {
    const auto found = parameters.find(parameter);
    return found == parameters.end() ? "unknown" : found->second.type;
}

LLMCOST_INLINE std::size_t module_finder::operator()(std::string path) const {
    while (!path.empty()) {
        const std::size_t dot = path.rfind('.');
        path.resize(dot == std::string::npos ? 0 : dot);
        if (const auto found = module_indices_.find(path); found != module_indices_.end()) return found->second;
    }
    return 0;
}

LLMCOST_INLINE std::vector<count> bytes_by_scope(const stored_bytes& stored, const model_listing& listing) {
    std::vector<count> out(listing.scopes.size());
    const module_finder module_of(listing);
    for (const tensor_shape& t : listing.tensors) {
        const count num_bytes = stored.parameter_bytes(t.name);
        for (auto scope = static_cast<std::ptrdiff_t>(module_of(t.name)); scope >= 0;
             scope = listing.scopes[static_cast<std::size_t>(scope)].parent)
            out[static_cast<std::size_t>(scope)] += num_bytes;
    }
    if (!out.empty()) out.front() = stored.total;
    return out;
}

}  // namespace llmcost
