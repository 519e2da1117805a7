// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/step.hpp>

// The time of every operation of a pass by itself, in the order of a graph's operations.
namespace llmcost {

namespace detail {

/// Writes down which kernel each operation is; -1: it needs none.
class numbering_listener final : public listener {
public:
    numbering_listener(std::vector<model_kernel>& kernels, std::vector<std::int32_t>& kernel_of, const execution& how)
        : kernels_(kernels), kernel_of_(kernel_of), inner_(kernels, how) {}

    void enter(const recorder& r, const module_info& m) override { inner_.enter(r, m); }
    void leave(const recorder& r, const module_info& m) override { inner_.leave(r, m); }
    void renamed(const recorder& r, std::int32_t before, std::int32_t now) override { inner_.renamed(r, before, now); }
    void executed(const recorder& r, const operation& o) override {
        const std::size_t before = kernels_.size();
        inner_.executed(r, o);
        kernel_of_.push_back(kernels_.size() > before ? static_cast<std::int32_t>(before) : -1);
    }

private:
    std::vector<model_kernel>& kernels_;
    std::vector<std::int32_t>& kernel_of_;
    eager_listener inner_;
};

}  // namespace detail

/// Seconds of a device for every operation of a pass, as a framework executes them one by one, in the order in which
/// `graph_of` has them; 0 of one that needs no kernel. `how` splits no model.
[[nodiscard]] inline std::vector<double> operation_seconds(const model& m, workload load, const execution& how,
                                                           const device& on, kernel_source& from) {
    const storage_types types = types_of(m, load);
    load.typed = true;
    std::vector<model_kernel> kernels;
    std::vector<std::int32_t> kernel_of;
    detail::numbering_listener ear{kernels, kernel_of, how};
    trace t{resolved(load, types), &ear};
    (void)m.forward(t);
    const auto same = [](const operator_shape& a, const operator_shape& b) {
        return a.family == b.family && a.operand == b.operand && a.variant == b.variant &&
               std::equal(a.sizes, a.sizes + a.family->size_count, b.sizes);
    };
    std::vector<std::pair<operator_shape, double>> known;  // layers repeat a few dozen kernels
    std::vector<double> seconds;
    for (const std::int32_t k : kernel_of) {
        if (k < 0) {
            seconds.push_back(0);
            continue;
        }
        const model_kernel& kernel = kernels[static_cast<std::size_t>(k)];
        auto found =
            std::find_if(known.begin(), known.end(), [&](const auto& other) { return same(other.first, kernel.shape); });
        if (found == known.end()) {
            const std::vector<known_kernel> one = with_measurements({kernel}, how, from);
            found = known.insert(known.end(), {kernel.shape, predicted_seconds(on, one.front())});
        }
        seconds.push_back(static_cast<double>(kernel.times) * found->second);
    }
    return seconds;
}

}  // namespace llmcost
