// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/torch/compiled_memory.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/memory/category.hpp>
#include <llmcost/memory/forward_replay.hpp>
#include <llmcost/memory/memory_tracker.hpp>
#include <llmcost/memory/parameter_sharding.hpp>
#include <llmcost/memory/schedule.hpp>
#include <llmcost/memory/tape.hpp>
#include <llmcost/memory/training_step.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/torch/compiled_step.hpp>
#include <llmcost/torch/fusion.hpp>
#include <llmcost/torch/joint_graph.hpp>

namespace llmcost::detail {

/// The memory of the steps of a compiled model. The members of `parameter_sharding` are those of the eager replay.
class compiled_replay {
public:
    compiled_replay(const compiled_model& compiled, const tape& pass, const training_schedule& plan,
                    memory_timeline& out)
        : compiled_(compiled),
          tape_(pass),
          plan_(plan),
          out_(out),
          tracker_(out, plan.cuda_capability > 0 && plan.data_parallel_size == 1),
          parameters_(pass, plan, out, tracker_) {
        tracker_.allocate(memory_category::buffers, pass.buffer_bytes);
        tracker_.allocate(memory_category::others, plan.input_bytes);
        for (const tape_tensor& t : pass.tensors)
            if (t.producer < 0) tracker_.allocate(memory_category::others, t.bytes);
        parameters_.allocate_parameters();
    }

    void replay();

private:
    struct buffer {
        memory_category category;
        std::uint64_t bytes;
        std::size_t block;
    };

    [[nodiscard]] const fx_node& node(std::int32_t i) const {
        return compiled_.graph.nodes[static_cast<std::size_t>(i)];
    }
    void allocate(std::int32_t i, memory_category category);
    void free(std::int32_t i);
    /// Runs the kernels of a graph. `retained`: storages that exist after it.
    void run(const std::vector<fusion_group>& groups, const std::set<std::int32_t>& retained, memory_category category,
             bool& has_workspace);
    void forward();
    void backward();

    const compiled_model& compiled_;
    const tape& tape_;
    const training_schedule& plan_;
    memory_timeline& out_;
    memory_tracker tracker_;
    parameter_sharding parameters_;
    std::map<std::int32_t, buffer> buffers_;  ///< by storage
    int step_ = 0;
    bool has_forward_workspace_ = false, has_backward_workspace_ = false;
};

LLMCOST_INLINE void compiled_replay::allocate(std::int32_t i, memory_category category) {
    if (buffers_.contains(i)) return;
    const std::uint64_t bytes = node(i).bytes;
    buffers_[i] = {category, bytes, tracker_.allocate_block(category, bytes)};
}

LLMCOST_INLINE void compiled_replay::free(std::int32_t i) {
    const auto place = buffers_.find(i);
    if (place == buffers_.end()) return;
    tracker_.free_block(place->second.category, place->second.bytes, place->second.block);
    buffers_.erase(place);
}

LLMCOST_INLINE void compiled_replay::run(const std::vector<fusion_group>& groups,
                                         const std::set<std::int32_t>& retained, memory_category category,
                                         bool& has_workspace) {
    std::map<std::int32_t, std::size_t> last_use;
    for (std::size_t k = 0; k < groups.size(); ++k) {
        for (const std::int32_t i : groups[k].read) last_use[storage_of(compiled_.graph, i)] = k;
        for (const std::int32_t i : groups[k].written) last_use.try_emplace(storage_of(compiled_.graph, i), k);
    }
    std::vector<std::vector<std::int32_t>> freed(groups.size());
    for (const auto& [storage, k] : last_use)
        if (!retained.contains(storage)) freed[k].push_back(storage);
    for (std::size_t k = 0; k < groups.size(); ++k) {
        const fusion_group& group = groups[k];
        const fx_node& first = node(group.nodes.front());
        tracker_.set_operation(first.name);
        for (const std::int32_t i : group.written) allocate(storage_of(compiled_.graph, i), category);
        const bool uses_cublas = std::string_view(first.name).find("mm") != std::string_view::npos;
        if (group.is_external && uses_cublas && !has_workspace && tracker_.has_caching_allocator()) {
            tracker_.allocate_library_workspace(cublas_workspace_bytes(plan_.cuda_capability));
            has_workspace = true;
        }
        if (group.is_external && first.tape_node >= 0 && category == memory_category::temporaries)
            tracker_.allocate_temporary(
                category, tape_.nodes[static_cast<std::size_t>(first.tape_node)].backward_temporary_bytes, first.name);
        tracker_.update_peak(first.name);
        for (const std::int32_t storage : freed[k]) free(storage);
    }
}

LLMCOST_INLINE void compiled_replay::forward() {
    tracker_.begin(step_, "forward");
    std::set<std::int32_t> retained;
    for (const std::int32_t i : compiled_.partition.saved) retained.insert(storage_of(compiled_.graph, i));
    const std::set<std::int32_t> saved = retained;
    for (const std::int32_t i : compiled_.graph.forward_outputs) retained.insert(storage_of(compiled_.graph, i));
    run(compiled_.forward, retained, memory_category::activations, has_forward_workspace_);
    if (step_ == plan_.num_steps) tracker_.record_snapshot({});
    if (step_ == 1)
        for (const std::int32_t storage : saved) {
            const auto place = buffers_.find(storage);
            if (place != buffers_.end()) out_.saved_bytes += node(storage).bytes;
        }
    out_.after_forward = tracker_.now();
    for (const std::int32_t i : compiled_.graph.forward_outputs) {
        const std::int32_t storage = storage_of(compiled_.graph, i);
        if (!saved.contains(storage)) free(storage);
    }
}

LLMCOST_INLINE void compiled_replay::backward() {
    tracker_.begin("backward");
    for (const std::int32_t i : compiled_.partition.backward)
        if (node(i).kind == fx_node_kind::tangent) allocate(i, memory_category::temporaries);
    std::set<std::int32_t> gradients;
    for (const std::int32_t i : compiled_.graph.backward_outputs) gradients.insert(storage_of(compiled_.graph, i));
    run(compiled_.backward, gradients, memory_category::temporaries, has_backward_workspace_);
    for (std::size_t k = 0; k < compiled_.graph.parameters.size(); ++k) {
        const std::int32_t storage = storage_of(compiled_.graph, compiled_.graph.backward_outputs[k]);
        parameters_.before_gradient();
        free(storage);
        parameters_.on_parameter_gradient(compiled_.graph.parameters[k]);
    }
    while (!buffers_.empty()) free(buffers_.begin()->first);
    if (step_ == plan_.num_steps) tracker_.record_snapshot({});
    out_.after_backward = tracker_.now();
}

LLMCOST_INLINE void compiled_replay::replay() {
    const auto passes = static_cast<int>(std::min<std::int64_t>(plan_.gradient_accumulation_steps, 2));
    for (step_ = 1; step_ <= plan_.num_steps; ++step_) {
        for (int pass = 0; pass < passes; ++pass) {
            forward();
            backward();
        }
        parameters_.optimizer_step();
        if (step_ == plan_.num_steps) tracker_.record_snapshot({});
        out_.after_step = tracker_.now();
        parameters_.zero_gradients();
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE memory_timeline replay_compiled(const compiled_model& compiled, const tape& pass,
                                               const training_schedule& plan) {
    memory_timeline out;
    detail::compiled_replay(compiled, pass, plan, out).replay();
    return out;
}

LLMCOST_INLINE training_run train_compiled(const model& m, const workload& load, training_plan plan) {
    if (!is_empty(compile_conflict(plan)))
        throw_description_error("torch.compile: not supported with the options of the training plan");
    recorded_training recorded = record_training(m, load, std::move(plan), true);
    inductor_device device;
    if (recorded.plan.schedule.num_multiprocessors > 0)
        device.num_multiprocessors = recorded.plan.schedule.num_multiprocessors;
    recorded.run.memory =
        replay_compiled(compile_training(recorded.pass, device), recorded.pass, recorded.plan.schedule);
    return std::move(recorded.run);
}

}  // namespace llmcost
