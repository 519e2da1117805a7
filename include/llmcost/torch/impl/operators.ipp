// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/operators.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/torch/kernel.hpp>
#include <llmcost/torch/step.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

LLMCOST_INLINE std::string profile_name_of(const torch_kernel& k) {
    constexpr std::size_t max_length = 72;
    std::string out(k.name);
    if (!k.operators.empty()) out.append("_").append(k.operators);
    if (out.size() > max_length) out.resize(max_length);
    return out;
}

LLMCOST_INLINE std::string operands_label(const torch_kernel& k) {
    std::string out;
    for (int i = 0; i < k.num_operands; ++i) {
        out += i == 0 ? "[" : " [";
        for (int d = 0; d < k.operands[i].rank; ++d) {
            if (d > 0) out += ", ";
            out += std::to_string(k.operands[i].size[d]);
        }
        out += ']';
    }
    return out;
}

LLMCOST_INLINE std::vector<torch_operator> torch_operators_of(const torch_step& step, torch_operator_key key) {
    std::vector<torch_operator> rows;
    std::unordered_map<std::string, std::size_t> places;
    for (const timed_torch_kernel& row : step.kernels) {
        const torch_kernel& k = row.kernel;
        std::string name = profile_name_of(k);
        if (key == torch_operator_key::shapes)
            name += ' ' + std::to_string(static_cast<int>(k.phase)) + ' ' + std::string(name_of(k.type)) + ' ' +
                    operands_label(k);
        const auto [place, is_new] = places.try_emplace(std::move(name), rows.size());
        if (is_new) rows.emplace_back().kernel = k;
        torch_operator& out = rows[place->second];
        if (!k.is_continuation) out.calls += row.launches;
        out.launches += row.launches;
        out.seconds += row.launches * row.seconds;
        const count launches(static_cast<std::uint64_t>(row.launches));
        out.flops += count(k.flops) * launches;
        out.bytes += count(k.bytes()) * launches;
    }
    return rows;
}

}  // namespace llmcost
