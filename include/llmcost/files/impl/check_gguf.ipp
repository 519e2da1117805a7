// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/check_gguf.hpp>

#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/files/check_tensors.hpp>
#include <llmcost/files/gguf_names.hpp>
#include <llmcost/files/stored_tensor.hpp>
#include <llmcost/report/stored_bytes.hpp>

namespace llmcost {

LLMCOST_INLINE tensor_check check_gguf(const std::vector<gguf_tensor>& predicted, const stored_tensors& stored) {
    std::unordered_map<std::string, const gguf_tensor*> names;
    for (const gguf_tensor& p : predicted) names.emplace(p.name, &p);
    std::unordered_set<std::string> stored_names;
    tensor_check out;
    for (const stored_tensor& t : stored.tensors) {
        stored_names.insert(t.name);
        const auto named = names.find(t.name);
        out.parameters.push_back(named == names.end() ? std::string() : named->second->parameter);
        if (named == names.end())
            (t.name.starts_with("rope_") ? out.buffers : out.not_predicted).push_back(t.name);
        else if (named->second->sizes == t.sizes)
            ++out.agree;
        else
            out.other_sizes.push_back({t.name, named->second->sizes, t.sizes});
    }
    for (const gguf_tensor& p : predicted)
        if (stored_names.count(p.name) == 0) out.absent.push_back(p.name);
    return out;
}

LLMCOST_INLINE stored_bytes stored_bytes_of(const std::vector<stored_tensor>& stored, const tensor_check& found) {
    stored_bytes out;
    for (std::size_t i = 0; i < stored.size(); ++i)
        out.add(i < found.parameters.size() ? found.parameters[i] : std::string(), count(stored[i].bytes),
                stored[i].type);
    return out;
}

}  // namespace llmcost
