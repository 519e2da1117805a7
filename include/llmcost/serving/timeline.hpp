// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <llmcost/serving/timed_step.hpp>

// The kernels of a step in the order of execution.
namespace llmcost {

/// A kernel of a step with its start time. Its name contains the layer index.
struct timeline_kernel {
    timed_kernel timed;
    double begins = 0;    ///< s
    double duration = 0;  ///< s, of all runs
    double issued = 0;    ///< s, when the host has launched it
    double host = 0;      ///< s, host time of its launches

    /// Whether the kernel uses links between devices.
    [[nodiscard]] bool uses_links() const { return timed.kernel.kernel.shape.work().uses_links; }
};

namespace detail {

/// Forwards a trace to a listener that records kernels, and inserts the layer index into their names.
template <class Inner>
class kernel_order_listener final : public listener {
public:
    kernel_order_listener(std::vector<model_kernel>& kernels, Inner& inner) : kernels_(kernels), inner_(inner) {}

    void on_module_enter(const recorder& r, const module_info& m) override {
        depth_ += 1;
        if (m.index >= 0 && layer_depth_ == 0) {
            layer_depth_ = depth_;
            layer_ = m.index;
        }
        emit_kernel([&] { inner_.on_module_enter(r, m); });
    }
    void on_module_leave(const recorder& r, const module_info& m) override {
        emit_kernel([&] { inner_.on_module_leave(r, m); });
        if (depth_ == layer_depth_) layer_depth_ = 0;
        depth_ -= 1;
    }
    void on_storage_renamed(const recorder& r, std::int32_t old_storage, std::int32_t now) override {
        inner_.on_storage_renamed(r, old_storage, now);
    }
    void on_op(const recorder& r, const operation& o) override {
        emit_kernel([&] { inner_.on_op(r, o); });
    }
    void on_fused_kernel_begin(const recorder& r, const fused_kernel& p) override {
        emit_kernel([&] { inner_.on_fused_kernel_begin(r, p); });
    }
    void on_fused_kernel_end(const recorder& r) override {
        emit_kernel([&] { inner_.on_fused_kernel_end(r); });
    }
    template <class Call>
    void emit_kernel(Call call) {
        const std::size_t num_kernels = kernels_.size();
        call();
        for (std::size_t i = num_kernels; i < kernels_.size(); ++i)
            if (const std::size_t star = kernels_[i].module_path.find('*'); star != std::string::npos && layer_ >= 0)
                kernels_[i].module_path.replace(star, 1, std::to_string(layer_));
    }

private:
    std::vector<model_kernel>& kernels_;
    Inner& inner_;
    int depth_ = 0, layer_depth_ = 0;
    std::int64_t layer_ = -1;
};

/// The kernels of one forward pass on one device, layer by layer.
[[nodiscard]] inline std::vector<model_kernel> kernels_in_execution_order(const model& full_model, const workload& load,
                                                                          const execution& execution) {
    std::vector<model_kernel> all;
    const model part = shard_model(full_model, execution.parallel);
    const auto run_trace = [&](auto& inner) {
        kernel_order_listener listener(all, inner);
        trace_kernels(part, load, listener, {});
        return listener;
    };
    if (execution.launch == launch_mode::eager) {
        eager_listener inner(all, execution);
        (void)run_trace(inner);
    } else {
        fused_listener inner(all, execution);
        run_trace(inner).emit_kernel([&] { inner.finish(); });
    }
    return all;
}

}  // namespace detail

/// The kernels of a step one after the other. A kernel starts after its launch.
[[nodiscard]] inline std::vector<timeline_kernel> timeline_of(const model& full_model, const workload& load,
                                                              const execution& execution, const device& device,
                                                              kernel_source& kernels) {
    std::vector<known_kernel> known =
        match_kernels(detail::kernels_in_execution_order(full_model, load, execution), execution, kernels);
    const std::vector<latency_estimate> estimates = estimates_of(device, known);
    const double per_launch = seconds_per_launch(execution, device, kernels);
    std::vector<timeline_kernel> out;
    double free = 0, issued = 0;
    for (std::size_t i = 0; i < known.size(); ++i) {
        const auto times = static_cast<double>(known[i].kernel.num_runs);
        timeline_kernel k{{std::move(known[i]), estimates[i]}};
        k.host = times * per_launch;
        k.issued = issued += k.host;
        k.begins = free > issued ? free : issued;
        k.duration = times * estimates[i].seconds;
        free = k.begins + k.duration;
        out.push_back(std::move(k));
    }
    return out;
}

}  // namespace llmcost
