// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include <llmcost/memory/category.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/replay_observer.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/trace/ops.hpp>

namespace llmcost::detail {

/// Bytes of the workspace of a cuBLAS handle.
///
/// Source: aten/src/ATen/cuda/CublasHandlePool.cpp, `parseChosenWorkspaceSize`; cuBLASLt shares the workspace.
[[nodiscard]] std::uint64_t cublas_workspace_bytes(std::int32_t cuda_capability) noexcept;

/// Replays the forward of a tape, completely or for a recomputed region.
class forward_replay {
public:
    forward_replay(const forward_replay&) = delete;
    forward_replay& operator=(const forward_replay&) = delete;

protected:
    using category = memory_category;

    struct tensor_state {
        bool is_live = false;
        bool is_leaf = false;  ///< a leaf of autograd's graph, with the lifetime of the graph
        category category_of_tensor = category::activations;
        std::size_t block = memory_tracker::no_block;  ///< block of the caching allocator
        std::int32_t num_saved_by = 0;                 ///< nodes whose backward still needs the tensor
        std::int32_t gradient = -1;                    ///< gradient in backward
        std::vector<std::int32_t> view_gradients{};    ///< gradients of views that will be concatenated
    };
    /// A checkpointed region: its nodes, the last node that saves a tensor, and its arguments.
    struct recompute_region {
        std::int32_t first_node = -1, last_node = -1, early_stop_node = -1;
        bool is_recomputed = false;
        std::vector<std::int32_t> arguments{};
        std::vector<std::int32_t> offloaded_arguments{};  ///< arguments that are stored in host memory
    };

    forward_replay(const tape& tape, const training_schedule& plan, memory_timeline& out, replay_observer* observer);
    ~forward_replay() = default;

    /// Records a snapshot at the end of a layer.
    void record_snapshot(std::int32_t layer, bool ends);
    [[nodiscard]] std::uint64_t bytes_of(std::int32_t t) const {
        return tensor_state_of(t).bytes * tensor_state_of(t).num_time_steps;
    }
    [[nodiscard]] const tape_node& node(std::int32_t i) const { return tape_.nodes[static_cast<std::size_t>(i)]; }
    [[nodiscard]] const tape_tensor& tensor_state_of(std::int32_t t) const {
        return tape_.tensors[static_cast<std::size_t>(t)];
    }
    tensor_state& state_of(std::int32_t t) { return tensor_states_[static_cast<std::size_t>(t)]; }

    void allocate(std::int32_t t, category is = category::activations);
    void free(std::int32_t t);
    void forward();
    void save_for_backward(const tape_node& n);
    /// Copies saved tensors to the host. Integers stay on the device.
    std::uint64_t offload_saved(const tape_node& n);
    void release_saved(const tape_node& n);
    /// Frees a tensor that neither a later node nor backward reads.
    void free_if_unused(std::int32_t t, std::size_t node);
    [[nodiscard]] std::uint64_t saved();
    /// Allocates the workspace of the cuBLAS handle of this thread before its first product.
    ///
    /// Forward and backward run in different threads.
    void allocate_cublas_workspace(const tape_node& n, bool& is_allocated);

    // ---- recomputation

    /// The checkpointed region of a node; -1: none.
    [[nodiscard]] std::int32_t region_index(const tape_node& n) const noexcept;
    [[nodiscard]] bool is_recomputed(const tape_node& n) const noexcept { return region_index(n) >= 0; }
    /// Whether the saved tensors of a node are stored in host memory. Recomputed regions are excluded.
    [[nodiscard]] bool is_offloaded(const tape_node& n) const noexcept {
        return plan_.offloads_activations && !is_recomputed(n);
    }
    [[nodiscard]] recompute_region& region_of(const tape_node& n) {
        return regions_[static_cast<std::size_t>(region_index(n))];
    }
    /// Saves the arguments of each region until its backward, and returns the bytes that are stored in host memory.
    ///
    /// Only arguments with gradients are offloaded; others are captured variables.
    ///
    /// Source: torch/utils/checkpoint.py, `_NoopSaveInputs`.
    std::uint64_t save_region_arguments();
    /// Saves the outputs of operators of recomputed layers until their recomputation.
    ///
    /// Source: torch/utils/checkpoint.py, `create_selective_checkpoint_contexts`.
    void save_operators();
    [[nodiscard]] bool is_saved_operator(std::int32_t node) const {
        return !is_saved_operator_.empty() && is_saved_operator_[static_cast<std::size_t>(node)];
    }
    /// Whether autograd saves a tensor of the node, including weights.
    [[nodiscard]] static bool saves_anything(const tape_node& n) noexcept {
        return n.has_backward && (!n.saved.empty() || n.saved_extra_bytes > 0 || n.saved_integer_bytes > 0 ||
                                  op_cost_of(n.kind).torch_flops != 0);
    }
    /// Recomputes a region up to the last tensor that its backward needs (`early_stop`).
    void recompute(recompute_region& r);
    void free_region_arguments(const recompute_region& r);

    /// The observer in the passes of the last step that it receives; otherwise null.
    [[nodiscard]] replay_observer* observer() const noexcept {
        return step_ == plan_.num_steps && observer_ != nullptr && (is_last_pass_ || observer_->observes_all_passes())
                   ? observer_
                   : nullptr;
    }
    /// Reports the collective of a node, in its forward or its backward.
    void report_collective(const tape_node& n, bool is_backward, training_phase phase);
    [[nodiscard]] std::int32_t index_of(const tape_node& n) const noexcept {
        return static_cast<std::int32_t>(&n - tape_.nodes.data());
    }

    const tape& tape_;
    const training_schedule& plan_;
    memory_timeline& out_;
    replay_observer* observer_;
    memory_tracker tracker_;
    std::unique_ptr<parameter_sharding> parameters_;
    std::vector<tensor_state> tensor_states_;
    std::vector<recompute_region> regions_;
    std::vector<bool> is_saved_operator_{};  ///< by node: a recomputed layer saves its output (`saves_operators`)
    std::vector<bool> has_backward_;         ///< per tensor: whether an operation that writes it has a backward
    int step_ = 0;
    bool has_forward_workspace_ = false, has_backward_workspace_ = false;
    bool is_first_pass_ = false;  ///< the first pass of all steps
    bool is_last_pass_ = false;   ///< the last pass of a step
};

}  // namespace llmcost::detail

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/forward_replay.ipp>  // IWYU pragma: export
#endif
