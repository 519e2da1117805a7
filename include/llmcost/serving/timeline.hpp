// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/operator_types.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/serving/eager_listener.hpp>
#include <llmcost/serving/fused_listener.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/serving/module_listener.hpp>
#include <llmcost/serving/step.hpp>
#include <llmcost/serving/timed_step.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>

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
    void on_storage_renamed(const recorder& r, std::int32_t old_storage, std::int32_t new_storage) override {
        inner_.on_storage_renamed(r, old_storage, new_storage);
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

}  // namespace detail

/// The kernels of a step one after the other. A kernel starts after its launch.
[[nodiscard]] std::vector<timeline_kernel> timeline_of(const model& full_model, const workload& load,
                                                       const execution& execution, const device& device,
                                                       kernel_source& kernels);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/timeline.ipp>  // IWYU pragma: export
#endif
