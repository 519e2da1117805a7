// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/forward_replay.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>

namespace llmcost::detail {

/// Replays the backward of a tape: allocates and frees the gradients of tensors.
class backward_replay : public forward_replay {
protected:
    backward_replay(const tape& tape, const training_schedule& plan, memory_timeline& out, replay_observer* observer)
        : forward_replay(tape, plan, out, observer), uses_(tape.parameters.size()) {}
    ~backward_replay() = default;

    /// Frees saved tensors of nodes that no gradient reaches, together with the model outputs.
    void free_unreached_outputs();
    void backward();
    void free_loss_and_leaves();

private:
    /// The memory of a gradient. Several tensors may share it temporarily.
    struct gradient_buffer {
        std::uint64_t bytes = 0;
        int num_references = 0;
        bool is_view = false;  ///< a view of a product's result; sums are not written into it
        category gradient_category = category::temporaries;
        std::size_t block = memory_tracker::no_block;  ///< block of the caching allocator
    };
    /// The gradient of a parameter, accumulated over the nodes that read it.
    struct parameter_gradient {
        int num_pending = 0;
        std::int32_t gradient = -1;
    };

    void run_backward(const tape_node& n);
    /// Whether backward passes the gradient on unchanged.
    [[nodiscard]] bool passes_gradient_of(const tape_node& n, const tape_edge& e) const;
    /// Allocates the gradient that a node computes. A broadcast input's gradient is summed.
    std::int32_t compute_gradient(const tape_node& n, const tape_edge& e, std::string_view name);
    /// Bytes of the temporaries of a gradient's formula.
    ///
    /// A power multiplies by a power times its exponent. On a CUDA device, softmax multiplies the gradient by its
    /// result, and the gradient of an embedding table with more than 3,072 indices sorts them and sums in float32:
    ///
    ///     16 · indices + 4 · width · (indices / 10 + min(indices, rows))
    ///
    /// Source: torch/csrc/autograd/FunctionsManual.cpp, `pow_backward`; aten/src/ATen/native/cuda/SoftMax.cu,
    /// `softmax_backward_cuda_out`; cuda/Embedding.cu, `embedding_dense_backward_cuda`;
    /// cuda/EmbeddingBackwardKernel.cu, `embedding_backward_cuda_kernel`.
    [[nodiscard]] std::uint64_t formula_bytes(const tape_node& n, const tape_edge& e) const;
    /// Bytes of the buffer that sums the gradient of a product's bias on a CUDA device; 0 for other inputs.
    [[nodiscard]] std::uint64_t bias_sum_bytes(const tape_node& n, const tape_edge& e) const;
    /// Stores the gradient of a view until those of the other views arrive.
    void store_view_gradient(tensor_state& state, std::int32_t g);
    void combine_view_gradients(tensor_state& state, const tape_tensor& source, std::uint64_t element_bits);
    void free_view_gradients(tensor_state& state);
    /// Adds two gradients of one tensor, in place if the first one has no other references.
    /// Adds a gradient to that of `sum`, whose bytes and place it sets.
    void accumulate(std::int32_t& place, std::int32_t g, gradient_sum sum);
    void accumulate_parameter_gradient(std::int32_t parameter, std::int32_t g);
    /// A gradient that forward computed and saved. Its memory is released when it is passed on.
    std::int32_t saved_gradient(const tape_edge& e) { return allocate_gradient(e.bytes, category::activations); }
    std::int32_t allocate_gradient(std::uint64_t bytes, category gradient_category = category::temporaries);
    std::int32_t add_reference(std::int32_t g);
    void release_gradient(std::int32_t g);

    std::vector<parameter_gradient> uses_;
    std::vector<gradient_buffer> gradients_;
    std::vector<std::int32_t> input_gradients_;  ///< gradients of the inputs of the current node
    std::vector<char> is_reached_;               ///< per node: whether a gradient reaches it
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/backward_replay.ipp>  // IWYU pragma: export
#endif
