// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/serving/timed_step.hpp>

// A step in the order in which its kernels run.
namespace llmcost {

/// A kernel of a step at its time; its name has the number of its layer.
struct timeline_kernel {
    timed_kernel what;
    double begins = 0;  ///< seconds
    double takes = 0;   ///< of all its runs
    double issued = 0;  ///< when the host has issued it
    double host = 0;    ///< seconds of the host for that

    /// Whether it goes over links between devices.
    [[nodiscard]] bool uses_links() const { return what.kernel.what.shape.work().between_devices; }
};

namespace detail {

/// Hands a walk on to a listener that writes kernels down, and puts the number of the layer into their names.
template <class Inner>
class layered_listener final : public listener {
public:
    layered_listener(std::vector<model_kernel>& kernels, Inner& inner) : kernels_(kernels), inner_(inner) {}

    void enter(const recorder& r, const module_info& m) override {
        depth_ += 1;
        if (m.index >= 0 && layer_depth_ == 0) layer_depth_ = depth_, layer_ = m.index;
        tell([&] { inner_.enter(r, m); });
    }
    void leave(const recorder& r, const module_info& m) override {
        tell([&] { inner_.leave(r, m); });
        if (depth_ == layer_depth_) layer_depth_ = 0;
        depth_ -= 1;
    }
    void renamed(const recorder& r, std::int32_t before, std::int32_t now) override { inner_.renamed(r, before, now); }
    void executed(const recorder& r, const operation& o) override {
        tell([&] { inner_.executed(r, o); });
    }
    void fused_begins(const recorder& r, const fused_part& p) override {
        tell([&] { inner_.fused_begins(r, p); });
    }
    void fused_ends(const recorder& r) override {
        tell([&] { inner_.fused_ends(r); });
    }
    template <class Call>
    void tell(Call call) {
        const std::size_t before = kernels_.size();
        call();
        for (std::size_t i = before; i < kernels_.size(); ++i)
            if (const std::size_t star = kernels_[i].name.find('*'); star != std::string::npos && layer_ >= 0)
                kernels_[i].name.replace(star, 1, std::to_string(layer_));
    }

private:
    std::vector<model_kernel>& kernels_;
    Inner& inner_;
    int depth_ = 0, layer_depth_ = 0;
    std::int64_t layer_ = -1;
};

/// The kernels of one pass on one device, layer by layer.
[[nodiscard]] inline std::vector<model_kernel> kernels_in_order(const model& whole, const workload& load,
                                                                const execution& how) {
    std::vector<model_kernel> all;
    const model part = sharded(whole, how.shards);
    const auto walk = [&](auto& inner) {
        layered_listener ear(all, inner);
        walk_kernels(part, load, ear, {});
        return ear;
    };
    if (how.issued == issue::eager) {
        eager_listener inner(all, how);
        (void)walk(inner);
    } else {
        fused_listener inner(all, how);
        walk(inner).tell([&] { inner.finish(); });
    }
    return all;
}

}  // namespace detail

/// The kernels of a step, one after the other, none before the host has issued it.
[[nodiscard]] inline std::vector<timeline_kernel> timeline_of(const model& whole, const workload& load, const execution& how,
                                                              const device& on, kernel_source& from) {
    std::vector<known_kernel> known = with_measurements(detail::kernels_in_order(whole, load, how), how, from);
    const std::vector<latency_estimate> each = estimates_of(on, known);
    const double per_launch = seconds_per_launch(how, on, from);
    std::vector<timeline_kernel> out;
    double free = 0, issued = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto times = static_cast<double>(known[i].what.times);
        timeline_kernel k{{std::move(known[i]), each[i]}};
        k.host = times * per_launch;
        k.issued = issued += k.host;
        k.begins = free > issued ? free : issued;
        k.takes = times * each[i].seconds;
        free = k.begins + k.takes;
        out.push_back(std::move(k));
    }
    return out;
}

}  // namespace llmcost
