// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/adapter.hpp>
#include <llmcost/memory/adapter_policy.hpp>
#include <llmcost/memory/fused_loss.hpp>
#include <llmcost/memory/label_loss.hpp>
#include <llmcost/memory/quantization.hpp>
#include <llmcost/memory/quantized_base_model.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/timeline.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// The scalar at which backward starts.
///
/// `labels`: cross-entropy, as computed by the model class. `sum`: sum of the outputs. `fused`: head and cross-entropy
/// in one.
enum class training_loss : std::uint8_t { labels, sum, fused };

/// How a model is trained.
struct training_plan {
    training_loss loss = training_loss::labels;
    adapter adapter_config{};
    quantization base_quantization{};  ///< storage of frozen weights; without a method: like all others
    training_schedule schedule{};
    leaf_module_policy* parallel_policy = nullptr;  ///< divides layers over ranks; must outlive the plan
};

/// The computation and memory of a training step.
struct training_run {
    model_metrics pass_metrics{};  ///< metrics of the pass, without its loss
    memory_timeline memory{};
    std::vector<std::string> adapted_modules{};  ///< paths of the modules with an adapter
    std::uint64_t num_position_parameters = 0;   ///< parameters in position embedding tables
    bool has_attention_shape = false;
};

namespace detail {

/// The loss that the model class computes from labels.
[[nodiscard]] label_loss loss_of(const model& m) noexcept;

}  // namespace detail

/// The scalar loss of a model output.
constexpr tensor compute_loss(const model& m, trace& t, const tensor& scores, training_loss loss) {
    return loss == training_loss::labels ? t.call("loss", detail::loss_of(m), scores)
                                         : t.sum(t.reshape(t.to(scores, dtype::float32), {-1}), 0);
}

/// A recorded pass and the plan of its replay.
struct recorded_training {
    tape pass{};
    training_plan plan{};
    training_run run{};  ///< without its memory
};

/// Records the forward pass and loss of a training step. `records_operands`: with `tape::operands`.
[[nodiscard]] recorded_training record_training(const model& m, const workload& load, training_plan plan,
                                                bool records_operands = false);

/// Simulates training. The memory is exact for the tensors that PyTorch holds when it runs the reference.
[[nodiscard]] training_run train(const model& m, const workload& load, training_plan plan);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/training_step.ipp>  // IWYU pragma: export
#endif
