// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/function_call.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

class recorder;

/// What a workload can be moved along; `total` is past + sequence.
enum class workload_axis : std::uint8_t { batch, sequence, past, total };

/// Where the figures of a model bend: between `at − 1` and `at` on an axis they may follow another polynomial.
struct region_edges {
    static constexpr int max_edges = 32;
    struct edge {
        workload_axis axis = workload_axis::batch;
        std::int64_t position = 0;
    };
    edge edges[max_edges]{};
    int num_edges = 0;
    std::int64_t chunk_size = 0;  ///< sequences are padded to a multiple of this; 0: they are not
    bool is_complete = true;      ///< false where there were more than can be told

    constexpr void add(workload_axis axis, std::int64_t at) noexcept {
        for (int i = 0; i < num_edges; ++i)
            if (edges[i].axis == axis && edges[i].position == at) return;
        if (num_edges < max_edges)
            edges[num_edges++] = {axis, at};
        else
            is_complete = false;
    }
};

/// One executed operation, as a listener sees it.
struct operation {
    op kind;
    count work;
    count rows;
    const tensor* const* inputs;
    int input_count;
    const tensor& output;

    /// Elements that it reads from memory if nothing is kept in caches or registers from one operation to the next.
    [[nodiscard]] constexpr count num_elements_read() const {
        const read_pattern pattern = op_cost_of(kind).read;
        count n;
        for (int i = 0; i < input_count && pattern != read_pattern::none; ++i)
            n += count(i == 0 && pattern == read_pattern::gathered ? output.numel : inputs[i]->unique_numel());
        return n;
    }
    /// Elements that it writes: its output, also where that lies in a tensor that was there.
    [[nodiscard]] constexpr count num_elements_written() const { return count(output.numel); }
};

/// What engines run as one kernel, whatever eager executes of it.
enum class fused_kernel_kind : std::uint8_t {
    attention,         ///< scores, softmax and mixing, from queries, keys and values to the context
    latent_attention,  ///< the same from queries and cached low-rank vectors, their expansion included
    linear_attention,  ///< by a state per head that decays (state-space duality, the gated delta rule), by chunks or
                       ///< one token
    experts,  ///< what routed rows pass through, from all tokens back to all tokens
    cache     ///< new keys or values joining those that the cache holds
};

/// Sizes of a part of a forward pass that engines fuse; those of its kind, the others 0.
struct fused_kernel {
    fused_kernel_kind kind;
    std::int64_t batch = 0;
    std::int64_t num_queries = 0;  ///< queries
    std::int64_t past_length =
        0;                    ///< tokens before them; of a reach that is not causal, keys beyond the queries' number
    std::int64_t window = 0;  ///< 0: none
    bool is_causal = true;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;    ///< of latent attention, what no position turns; of linear attention, of keys
    std::int64_t rope_dim = 0;    ///< of latent attention, what positions turn
    std::int64_t value_dim = 0;   ///< of latent and linear attention
    std::int64_t latent_dim = 0;  ///< rank of latent attention
    std::int64_t chunk = 0;       ///< of linear attention: tokens that see each other directly
    bool uses_delta_rule =
        false;  ///< of linear attention: what the state has of a key is taken off before the value joins
    literal expansion_module = "";  ///< of latent attention, the module that expands what is cached
    std::int64_t num_tokens = 0;
    std::int64_t hidden_size = 0;
    std::int64_t intermediate_size = 0;
    std::int64_t num_experts = 0;
    std::int64_t num_experts_per_tok = 0;
    bool is_gated = true;  ///< of experts: three matrices each, else two
};

/// Whoever wants more of a walk than its sums: scopes, tensors, operations, in the order of the forward pass.
///
/// With a listener every layer is walked by itself, so that each has its own path.
class listener {
public:
    virtual void on_module_enter(const recorder&, const module_info&) {}
    virtual void on_module_leave(const recorder&, const module_info&) {}
    virtual void on_parameter(const recorder&, literal /*name*/, const tensor&, bool /*tied*/) {}
    /// A parameter of a module that is called once more.
    virtual void on_parameter_reuse(const recorder&, literal /*name*/, const tensor&) {}
    /// What was made without gradients goes back to these, by a backward of its own.
    virtual void on_autograd_function(const recorder&, const tensor& /*out*/, const tensor* const* /*in*/, int /*n*/) {}
    /// A parameter that the operation that is told next reads beside its inputs.
    virtual void on_parameter_read(const recorder&, const tensor&) {}
    /// Memory of a module that is neither parameter nor made by the pass.
    virtual void on_buffer(const recorder&, count /*bytes*/) {}
    virtual void on_op(const recorder&, const operation&) {}
    /// What the operation that is told next keeps until its backward: a tensor, and bytes beside tensors.
    virtual void on_tensor_saved(const recorder&, const tensor&) {}
    virtual void on_bytes_saved(const recorder&, count /*bytes*/) {}
    /// The same of integers that the pass made, which are no floating-point tensors.
    virtual void on_integers_saved(const recorder&, count /*bytes*/) {}
    /// What the backward of the operation that is told next reads beside: a parameter, complex numbers.
    virtual void on_backward_read(const recorder&, const tensor&) {}
    /// A part was written into a tensor, whose gradient is then the part's as well.
    virtual void on_slice_written(const recorder&, const tensor& /*whole*/, const tensor& /*part*/) {}
    /// What is saved for the backward that is told next are gradients.
    virtual void on_gradients_saved() {}
    virtual void on_cache_append(const recorder&, const tensor&) {}
    /// A layer has a place in the cache, and nothing in it.
    virtual void on_cache_entry_empty(const recorder&) {}
    virtual void on_cache_entry_begin(const recorder&) {}
    /// What layers hand on keeps its memory under another number; those that came after it mean nothing any more.
    virtual void on_storage_renamed(const recorder&, std::int32_t /*before*/, std::int32_t /*now*/) {}
    /// What the last of several steps hands on, where no step keeps what it makes.
    virtual void on_loop_output(const recorder&, const tensor&) {}
    virtual void on_fused_kernel_begin(const recorder&, const fused_kernel&) {}
    virtual void on_fused_kernel_end(const recorder&) {}
    /// What is executed until the call ends is the inside of one call of a function of PyTorch's.
    virtual void on_function_begin(const recorder&, const function_call&) {}
    virtual void on_function_end(const recorder&) {}
    /// What a module without children returned, the first of two tensors.
    virtual void on_module_output(const recorder&, const tensor&) {}

protected:
    ~listener() = default;
};

}  // namespace llmcost
