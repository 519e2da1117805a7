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

    void on_op(const recorder& r, const operation& o) override;

private:
    static bool is_norm(op kind) noexcept;
    static bool is_softmax(op kind) noexcept { return kind == op::softmax || kind == op::log_softmax; }

    void add_elementwise_kernel(const operation& o, std::int64_t rows, std::int64_t width, bool shared);
    void add_gemm_kernel(const operation& o);
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/serving/impl/eager_listener.ipp>  // IWYU pragma: export
#endif
