// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/collective.hpp>
#include <llmcost/trace/function_call.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

class recorder;

/// The axes of a workload; `total` is past + sequence.
enum class workload_axis : std::uint8_t { batch, sequence, past, total };

/// Edges of the regions in which the figures of a model are polynomials of the workload.
///
/// Between `position − 1` and `position` on an axis, the polynomial may change.
struct region_edges {
    static constexpr int max_edges = 32;
    struct edge {
        workload_axis axis = workload_axis::batch;
        std::int64_t position = 0;
    };
    edge edges[max_edges]{};
    int num_edges = 0;
    std::int64_t chunk_size = 0;  ///< sequences are padded to a multiple of this; 0: no padding
    bool is_complete = true;      ///< false: the closed form is not valid, or there are more edges than `max_edges`

    constexpr void add(workload_axis axis, std::int64_t position) noexcept {
        for (int i = 0; i < num_edges; ++i)
            if (edges[i].axis == axis && edges[i].position == position) return;
        if (num_edges < max_edges)
            edges[num_edges++] = {axis, position};
        else
            is_complete = false;
    }
};

/// One executed operation, as reported to a listener.
struct operation {
    op kind;
    count work;
    count rows;
    const tensor* const* inputs;
    int input_count;
    const tensor& output;

    /// Elements read from memory, without reuse of caches or registers between operations.
    [[nodiscard]] constexpr count num_elements_read() const {
        const read_pattern pattern = op_cost_of(kind).read;
        count n;
        for (int i = 0; i < input_count && pattern != read_pattern::none; ++i)
            n += count(i == 0 && pattern == read_pattern::gathered ? output.numel : inputs[i]->unique_numel());
        return n;
    }
    /// Elements written: those of the output, also if the operation is in place.
    [[nodiscard]] constexpr count num_elements_written() const { return count(output.numel); }
};

/// Groups of operations that inference engines run as one kernel.
enum class fused_kernel_kind : std::uint8_t {
    attention,         ///< scores, softmax and weighted sum: from queries, keys and values to the context
    latent_attention,  ///< attention from queries and cached low-rank vectors (MLA), including their expansion
    /// attention with a decaying state per head (state-space duality, gated delta rule), per chunk or per token
    linear_attention,
    experts,          ///< the expert MLPs, from dispatch to combine
    index_selection,  ///< scores of an indexer and its selected tokens (sparse attention)
    cache             ///< appends new keys or values to the KV cache
};

/// Sizes of a fused kernel. Sizes that do not apply to its kind are 0.
struct fused_kernel {
    fused_kernel_kind kind;
    std::int64_t batch = 0;
    std::int64_t num_queries = 0;  ///< new tokens (queries)
    std::int64_t past_length = 0;  ///< past tokens; if not causal: number of keys minus number of queries
    std::int64_t window = 0;       ///< sliding window; 0: none
    bool is_causal = true;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;      ///< latent attention: dimensions without RoPE; linear attention: key dimensions
    std::int64_t rope_dim = 0;      ///< latent attention: dimensions with RoPE
    std::int64_t value_dim = 0;     ///< latent and linear attention: value dimensions
    std::int64_t latent_dim = 0;    ///< latent attention: rank
    std::int64_t chunk = 0;         ///< linear attention: tokens per chunk
    bool uses_delta_rule = false;   ///< linear attention: subtracts the state's prediction before it adds the value
    literal expansion_module = "";  ///< latent attention: name of the module that expands the cached vectors
    std::int64_t num_tokens = 0;
    std::int64_t hidden_size = 0;
    std::int64_t intermediate_size = 0;
    std::int64_t num_experts = 0;
    std::int64_t num_experts_per_tok = 0;
    bool is_gated = true;       ///< experts: true for three matrices per expert, false for two
    bool is_index_key = false;  ///< cache: keys of the indexer of sparse attention
};

/// A load-balancing loss: the number of routers, and the sizes of each one's logits (tokens, experts).
struct load_balancing_sizes {
    std::int64_t num_routers = 0;
    std::int64_t tokens = 0;
    std::int64_t num_experts = 0;
    std::int64_t num_experts_per_tok = 0;
};

/// Observer of a trace: receives modules, tensors and operations in the order of the forward pass.
///
/// With a listener, each layer is traced separately, so that each has its own path.
class listener {
public:
    virtual void on_module_enter(const recorder&, const module_info&) {}
    virtual void on_module_leave(const recorder&, const module_info&) {}
    /// A tensor that is passed to the current module.
    virtual void on_module_input(const recorder&, const tensor&) {}
    virtual void on_parameter(const recorder&, literal /*name*/, const tensor&, bool /*tied*/) {}
    /// A parameter of a module that is called again.
    virtual void on_parameter_reuse(const recorder&, literal /*name*/, const tensor&) {}
    /// A `torch.autograd.Function` with its own backward maps the gradient of `out` to gradients of `in`.
    virtual void on_autograd_function(const recorder&, const tensor& /*out*/, const tensor* const* /*in*/, int /*n*/) {}
    /// The next operation is a collective.
    virtual void on_collective(const recorder&, const collective_call&) {}
    /// A parameter that the next operation reads in addition to its inputs.
    virtual void on_parameter_read(const recorder&, const tensor&) {}
    /// The logits of a router, which a load-balancing loss reads after the layers.
    virtual void on_router_logits(const recorder&, const tensor&) {}
    /// Returns true if the load-balancing loss is computed after the loss over labels, of which it is a part.
    [[nodiscard]] virtual bool on_load_balancing_loss(const recorder&, const load_balancing_sizes&) { return false; }
    /// A buffer of a module: neither a parameter nor created by the pass.
    virtual void on_buffer(const recorder&, count /*bytes*/) {}
    virtual void on_op(const recorder&, const operation&) {}
    /// A tensor that the next operation saves for backward. `on_bytes_saved`: data that is not in a tensor.
    virtual void on_tensor_saved(const recorder&, const tensor&) {}
    virtual void on_bytes_saved(const recorder&, count /*bytes*/) {}
    /// Integers created by the pass that the next operation saves for backward.
    virtual void on_integers_saved(const recorder&, count /*bytes*/) {}
    /// Temporary bytes of the next operation's kernels, in its forward and its backward.
    virtual void on_temporary_bytes(const recorder&, count /*forward*/, count /*backward*/) {}
    /// A tensor that the backward of the next operation reads in addition to saved tensors: a parameter, complex
    /// numbers.
    virtual void on_backward_read(const recorder&, const tensor&) {}
    /// `part` was written into `destination`, so its gradient is a slice of the gradient of `destination`.
    virtual void on_slice_written(const recorder&, const tensor& /*destination*/, const tensor& /*part*/) {}
    /// Gradients of slices of `source` are padded with zeros and added.
    virtual void on_slice(const recorder&, const tensor& /*source*/) {}
    /// The tensors saved by the next operation are gradients.
    virtual void on_gradients_saved() {}
    virtual void on_cache_append(const recorder&, const tensor&) {}
    /// A layer has an empty entry in the cache.
    virtual void on_cache_entry_empty(const recorder&) {}
    virtual void on_cache_entry_begin(const recorder&) {}
    /// A storage that leaves a layer has a new id. Ids above it are invalid from here on.
    virtual void on_storage_renamed(const recorder&, std::int32_t /*before*/, std::int32_t /*now*/) {}
    /// The output of the last iteration of a loop in which no iteration saves its output.
    virtual void on_loop_output(const recorder&, const tensor&) {}
    virtual void on_fused_kernel_begin(const recorder&, const fused_kernel&) {}
    virtual void on_fused_kernel_end(const recorder&) {}
    /// The operations until `on_function_end` are the implementation of one call of a PyTorch function.
    virtual void on_function_begin(const recorder&, const function_call&) {}
    virtual void on_function_end(const recorder&) {}
    /// The output of a leaf module; of a pair, the first tensor.
    virtual void on_module_output(const recorder&, const tensor&) {}

protected:
    ~listener() = default;
};

}  // namespace llmcost
