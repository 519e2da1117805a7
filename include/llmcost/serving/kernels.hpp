// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/layer_run.hpp>
#include <llmcost/model/architecture.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>

namespace llmcost {

/// What stands behind a pass, `f(model, trace, what it returned)`, or nothing; it looks at `f`, which must live on.
class loss_of_pass {
public:
    constexpr loss_of_pass() noexcept = default;
    template <class F>
    constexpr loss_of_pass(const F& f) noexcept
        : of_(&f),
          call_([](const void* of, const model& m, trace& t, const value& x) { (*static_cast<const F*>(of))(m, t, x); }) {}

    [[nodiscard]] constexpr explicit operator bool() const noexcept { return call_ != nullptr; }
    void operator()(const model& m, trace& t, const value& x) const { call_(of_, m, t, x); }

private:
    const void* of_ = nullptr;
    void (*call_)(const void*, const model&, trace&, const value&) = nullptr;
};

namespace detail {

/// Walks a part of a model with a listener that writes kernels down.
inline void walk_kernels(const model& part, const workload& load, listener& ear, const loss_of_pass& loss) {
    trace t{load, &ear};
    const value scores = part.forward(t);
    if (loss) loss(part, t, scores);
}

/// The kernels of a part of a model, equal ones together in the order of the first.
[[nodiscard]] inline std::vector<model_kernel> folded_kernels(const model& part, const workload& load, const execution& how,
                                                              const loss_of_pass& loss) {
    std::vector<model_kernel> all, folded;
    if (how.issued == issue::eager) {
        eager_listener ear(all, how);
        walk_kernels(part, load, ear, loss);
    } else {
        fused_listener ear(all, how);
        walk_kernels(part, load, ear, loss);
        ear.finish();
    }
    for (model_kernel& k : all) {
        const auto same = std::find(folded.begin(), folded.end(), k);
        if (same != folded.end())
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
/// Layers that come again and again are walked twice and three times, or where a run has several once and twice; what the
/// last time adds stands for the others. Where fewer are no model (stages of an image) or add nothing (layers that stacks
/// share), or where an adapter may name some of them, all are walked.
///
/// `loss`, where there is one, is walked behind the pass.
[[nodiscard]] inline std::vector<model_kernel> kernels_of(const model& whole, const workload& load, const execution& how,
                                                          const loss_of_pass& loss = {}) {
    constexpr std::int64_t most = 2;
    const model part = sharded(whole, how.shards);
    const layer_run run = longest_run(part.dims.layers, part.dims.num_hidden_layers, most + 1);
    // what stands between two times of a run is inside of one, too, where it has several layers: once and twice may do
    for (std::int64_t few = run.period > 1 ? 1 : most; whole.policy == nullptr && few <= most && run.times > few + 1;
         ++few) {
        std::vector<model_kernel> before, all;
        try {
            before = detail::folded_kernels(repeated(part, run, few), load, how, loss);
            all = detail::folded_kernels(repeated(part, run, few + 1), load, how, loss);
        } catch (const description_error&) {
            break;
        }
        bool alike = before.size() == all.size(), adds = false;
        for (std::size_t i = 0; alike && i < all.size(); ++i)
            alike = before[i] == all[i], adds = adds || all[i].times != before[i].times;
        if (!alike || !adds) continue;
        for (std::size_t i = 0; i < all.size(); ++i)
            all[i].times += (all[i].times - before[i].times) * (run.times - few - 1);
        return all;
    }
    return detail::folded_kernels(part, load, how, loss);
}

}  // namespace llmcost
