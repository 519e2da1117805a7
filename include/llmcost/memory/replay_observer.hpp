// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <llmcost/base/dtype.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/collective.hpp>

namespace llmcost {

/// The part of a training step in which ranks communicate.
enum class training_phase : std::uint8_t { forward, backward, clip, optimizer };

/// A collective that a rank issues: bytes of its own buffers.
struct collective_event {
    collective_kind kind{};
    mesh_axis axis{};
    std::int64_t group_size = 1;
    std::uint64_t in_bytes = 0, out_bytes = 0;
    dtype type = dtype::float32;
    bool has_integers = false;  ///< elements are 64-bit integers, not of `type`
    training_phase phase{};
    std::string module{};    ///< path of the module, or of the FSDP unit
    std::int64_t tag = -1;   ///< of a message: a number that sender and receiver know
    std::int64_t peer = -1;  ///< of a message: the other rank
};

/// A sum of two gradients of a tensor or a parameter.
struct gradient_sum {
    std::int32_t tensor = -1;     ///< index in `tape::tensors`; -1: a parameter
    std::int32_t parameter = -1;  ///< index in `tape::parameters`; -1: a tensor
    std::uint64_t bytes = 0;
    std::uint64_t element_bits = 32;
    /// the first gradient is overwritten: nothing else refers to it (torch/csrc/autograd/input_buffer.cpp,
    /// `accumulate`)
    bool is_in_place = false;
};

/// Observer of the last replayed training step: receives the operations that PyTorch executes, in their order.
///
/// Nodes and their inputs are indices in `tape::nodes` and `tape_node::inputs`.
class replay_observer {
public:
    /// The forward of a node; `is_recomputed`: its second execution, in backward.
    virtual void on_forward(std::int32_t /*node*/, bool /*is_recomputed*/) {}
    /// The backward of a node begins. The gradients of its inputs follow.
    virtual void on_backward(std::int32_t /*node*/) {}
    /// Backward computes the gradient of an input, in `computed_bytes`, and sums it to `gradient_bytes` if it is larger
    /// than the input.
    virtual void on_gradient(std::int32_t /*node*/, std::size_t /*input*/, std::uint64_t /*computed_bytes*/,
                             std::uint64_t /*gradient_bytes*/) {}
    /// Two gradients are added.
    virtual void on_gradient_sum(const gradient_sum& /*sum*/) {}
    /// The gradients of the views of a tensor become its gradient: those of slices are padded with zeros and added,
    /// those of a `split`, `chunk` or `unbind` are concatenated.
    virtual void on_view_gradients(const std::vector<std::uint64_t>& /*view_bytes*/, std::uint64_t /*tensor_bytes*/,
                                   std::uint64_t /*element_bits*/, bool /*is_sliced*/) {}
    /// The gradient of a parameter is complete; `is_accumulated`: it is added to that of an earlier pass.
    virtual void on_parameter_gradient(std::int32_t /*parameter*/, bool /*is_accumulated*/) {}
    /// The rank communicates with others.
    virtual void on_collective(const collective_event& /*event*/) {}
    /// Whether the observer receives all passes of the last step, not the last one only.
    [[nodiscard]] virtual bool observes_all_passes() const { return false; }
    /// The optimizer updates parameters; their bytes are those of the master weights, if there are any.
    virtual void on_optimizer_step(const std::vector<tape_parameter>& /*parameters*/) {}

protected:
    ~replay_observer() = default;
};

}  // namespace llmcost
