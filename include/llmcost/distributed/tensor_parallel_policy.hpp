// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/distributed/tensor_parallel_plan.hpp>
#include <llmcost/distributed/training_parallelism.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/leaf_module_policy.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace.hpp>

namespace llmcost {

/// Divides the layers of a model among tensor-parallel ranks: the sizes of one rank's modules, and the collectives at
/// their boundaries.
///
///     colwise:   input x,           backward: all-reduce of its gradient
///     rowwise:   output y,          forward: all-reduce
///     embedding: output y,          forward: all-reduce (a part of the vocabulary on each rank)
///     head:      output y,          forward: all-gather of the vocabulary
///     experts:   inputs and output, as colwise and rowwise
///
/// Distributed experts are complete: a rank has some of them. Each tensor-parallel rank sends its part of the tokens to
/// the ranks that have their experts and receives the results, by all-to-all, and the parts are gathered. Routing is
/// balanced.
///
/// With sequence parallelism, the outputs of embedding and rowwise layers are reduce-scattered along the sequence, and
/// the inputs of attention, MLP and head are gathered. With loss parallelism, logits stay divided.
///
/// Source: transformers/distributed/tensor_parallel.py, expert_parallel.py (`AllToAllEP`);
/// torch/distributed/tensor/parallel/style.py, loss.py.
class tensor_parallel_policy final : public leaf_module_policy {
public:
    tensor_parallel_policy(const model& m, const training_parallelism& parallel, std::int64_t rank);

    /// The model of the rank: its heads and its intermediate features.
    [[nodiscard]] model shard(model m) const;
    /// Marks the parameters of a recorded pass: distributed experts, and gradients that ranks sum or that are whole.
    ///
    /// The gradient of an embedding that no head is tied to is whole on each rank, unless FSDP reduces it.
    void mark_parameters(tape& pass, bool has_fsdp) const;
    [[nodiscard]] bool has_divided_logits() const noexcept { return parallel_.has_loss_parallel; }

    void on_trace_begin() override;
    void enter(const module_info& m) override;
    void leave(const module_info& m) override;
    [[nodiscard]] shape shard_parameter(literal name, const shape& sizes) const override;
    [[nodiscard]] tensor transform_linear_input(trace& t, const tensor& x) override;
    [[nodiscard]] tensor transform_linear_output(trace& t, const tensor& x, const tensor& weight, bool is_transposed,
                                                 const tensor* bias, const tensor& y) override;
    [[nodiscard]] tensor transform_embedding_output(trace& t, const tensor& table, bool scaled,
                                                    const tensor& found) override;
    [[nodiscard]] tensor_pair transform_expert_inputs(trace& t, const tensor& tokens, const tensor& weights) override;
    [[nodiscard]] tensor transform_expert_output(trace& t, const tensor& y) override;

private:
    /// Whether tensor-parallel ranks sum the gradient of a parameter after its backward.
    [[nodiscard]] bool sums_gradient(std::string_view parameter) const;
    /// Whether a parameter is read along the divided sequence, so that its gradient is a partial sum.
    [[nodiscard]] bool is_read_along_sequence(std::string_view parameter) const;
    /// Whether a parameter belongs to experts of which each rank has some.
    [[nodiscard]] bool is_distributed_expert(std::string_view parameter) const;
    /// The part of a size that the rank has.
    [[nodiscard]] std::int64_t part_of(std::int64_t size) const noexcept;
    [[nodiscard]] bool is_torch() const noexcept { return parallel_.rules == split_rules::torch; }
    [[nodiscard]] bool is_in_distributed_experts() const noexcept { return parallel_.expert > 1 && experts_depth_ > 0; }
    /// The part of the tokens that the rank sends to experts.
    [[nodiscard]] tensor slice_tokens(trace& t, const tensor& x) const;
    /// An exchange of `elements` with the ranks that have the other experts.
    [[nodiscard]] tensor exchange(trace& t, const tensor& x, std::int64_t elements, bool has_integers,
                                  collective_kind backward) const;
    [[nodiscard]] tensor combine(trace& t, const tensor& y) const;
    /// The input of a column-wise layer, whose gradient is summed.
    [[nodiscard]] tensor sum_gradient(trace& t, const tensor& x) const;
    [[nodiscard]] tensor gather_sequence(trace& t, const tensor& x, bool is_in_parent);
    [[nodiscard]] tensor sum_output(trace& t, const tensor& y) const;
    [[nodiscard]] tensor gather_features(trace& t, const tensor& y, std::int64_t features) const;

    tensor_parallel_plan plan_;  ///< without rules for one tensor-parallel rank
    training_parallelism parallel_;
    std::int64_t rank_;
    std::int64_t vocabulary_;
    std::int64_t rope_features_;  ///< of keys that bypass the up-projection of latent attention
    std::int64_t num_experts_, num_experts_per_tok_;
    std::string path_;
    std::size_t experts_depth_ = 0;  ///< number of modules around and including the current experts; 0: none
    std::vector<std::string> expert_paths_{};
    std::int64_t num_sent_tokens_ = 0, num_tokens_ = 0;
    std::vector<std::size_t> parent_lengths_;
    tensor gathered_{};                  ///< the last gathered input, which several modules read
    std::int32_t gathered_source_ = -1;  ///< its storage before gathering
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/distributed/impl/tensor_parallel_policy.ipp>  // IWYU pragma: export
#endif
