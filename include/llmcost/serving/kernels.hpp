// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/architecture.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>

namespace llmcost {

namespace detail {

/// The kernels of a part of a model, equal ones together in the order of the first.
[[nodiscard]] inline std::vector<model_kernel> folded_kernels(const model& part, const workload& load,
                                                              const execution& how) {
    std::vector<model_kernel> all, folded;
    const auto walk = [&](listener& ear) {
        trace t{load, &ear};
        part.describe(t);
    };
    if (how.issued == issue::eager) {
        eager_listener ear(all, how);
        walk(ear);
    } else {
        fused_listener ear(all, how);
        walk(ear);
        ear.finish();
    }
    for (model_kernel& k : all) {
        model_kernel* same = nullptr;
        for (model_kernel& known : folded)
            if (known == k) same = &known;
        if (same != nullptr)
            same->times += k.times;
        else
            folded.push_back(std::move(k));
    }
    return folded;
}

}  // namespace detail

/// The kernels of one forward pass on one device, as an engine runs them or each operation by itself, equal ones together in
/// the order of the first; of a model that is split, those of each device.
///
/// Layers that are all alike are walked three and four times, and what the fourth adds stands for the others.
[[nodiscard]] inline std::vector<model_kernel> kernels_of(const model& whole, const workload& load, const execution& how) {
    constexpr std::int64_t few = 3;
    const model part = sharded(whole, how.shards);
    if (part.dims.layers.mixed || part.dims.num_hidden_layers <= few + 1) return detail::folded_kernels(part, load, how);
    model shallow = part;
    shallow.dims.num_hidden_layers = few;
    const std::vector<model_kernel> before = detail::folded_kernels(shallow, load, how);
    shallow.dims.num_hidden_layers = few + 1;
    std::vector<model_kernel> all = detail::folded_kernels(shallow, load, how);
    bool alike = before.size() == all.size();
    for (std::size_t i = 0; alike && i < all.size(); ++i) alike = before[i] == all[i];
    if (!alike) return detail::folded_kernels(part, load, how);
    for (std::size_t i = 0; i < all.size(); ++i)
        all[i].times += (all[i].times - before[i].times) * (part.dims.num_hidden_layers - few - 1);
    return all;
}

}  // namespace llmcost
