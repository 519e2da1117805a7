// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/serving/module_listener.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>

namespace llmcost::detail {

/// Records each operation as a separate kernel.
///
/// Products, norms and softmax have operator types. All others are elementwise kernels over their inputs and outputs in
/// the activation type.
class eager_listener final : public module_listener {
public:
    using module_listener::module_listener;

    void on_fused_kernel_begin(const recorder& r, const fused_kernel& part) override;
    void on_fused_kernel_end(const recorder&) override {
        if (fused_depth_ > 0) --fused_depth_;
    }
    void on_op(const recorder& r, const operation& o) override;

private:
    static bool is_norm(op kind) noexcept;
    static bool is_softmax(op kind) noexcept { return kind == op::softmax || kind == op::log_softmax; }

    void add_elementwise_kernel(const operation& o, std::int64_t rows, std::int64_t width, bool shared);
    void add_gemm_kernel(const operation& o);

    int fused_depth_ = 0;  ///< of fused attention, whose operations are not recorded
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/eager_listener.ipp>  // IWYU pragma: export
#endif
