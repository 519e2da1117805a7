// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/trace/function_call.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/value.hpp>

namespace llmcost {

class recorder;

/// What a workload can be moved along; `total` is past + sequence.
enum class axis : std::uint8_t { batch, sequence, past, total };

/// Where the figures of a model bend: between `at − 1` and `at` on an axis they may follow another polynomial.
struct region_edges {
    static constexpr int most = 32;
    struct edge {
        axis along = axis::batch;
        std::int64_t at = 0;
    };
    edge of[most]{};
    int n = 0;
    std::int64_t chunk = 0;  ///< sequences are padded to a multiple of this; 0: they are not
    bool complete = true;    ///< false where there were more than can be told

    constexpr void add(axis along, std::int64_t at) noexcept {
        for (int i = 0; i < n; ++i)
            if (of[i].along == along && of[i].at == at) return;
        if (n < most)
            of[n++] = {along, at};
        else
            complete = false;
    }
};

/// One executed operation, as a listener sees it.
struct operation {
    op kind;
    count work;
    count rows;
    const value* const* inputs;
    int input_count;
    const value& output;

    /// Elements that it reads from memory if nothing is kept in caches or registers from one operation to the next.
    [[nodiscard]] constexpr count elements_read() const {
        const reads what = price_of(kind).read;
        count n;
        for (int i = 0; i < input_count && what != reads::nothing; ++i)
            n += count(i == 0 && what == reads::picked ? output.elements : inputs[i]->distinct_elements());
        return n;
    }
    /// Elements that it writes: its output, also where that lies in a tensor that was there.
    [[nodiscard]] constexpr count elements_written() const { return count(output.elements); }
};

/// What engines run as one kernel, whatever eager executes of it.
enum class fused_kind : std::uint8_t {
    attention,         ///< scores, softmax and mixing, from queries, keys and values to the context
    latent_attention,  ///< the same from queries and cached low-rank vectors, their expansion included
    linear_attention,  ///< by a state per head that decays (state-space duality, the gated delta rule), by chunks or one
                       ///< token
    experts,           ///< what routed rows pass through, from all tokens back to all tokens
    cache              ///< new keys or values joining those that the cache holds
};

/// Sizes of a part of a forward pass that engines fuse; those of its kind, the others 0.
struct fused_part {
    fused_kind kind;
    std::int64_t batch = 0;
    std::int64_t sequence = 0;  ///< queries
    std::int64_t past = 0;      ///< tokens before them; of a reach that is not causal, keys beyond the queries' number
    std::int64_t window = 0;    ///< 0: none
    bool causal = true;
    std::int64_t heads = 0;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;    ///< of latent attention, what no position turns; of linear attention, of keys
    std::int64_t rope_dim = 0;    ///< of latent attention, what positions turn
    std::int64_t value_dim = 0;   ///< of latent and linear attention
    std::int64_t latent_dim = 0;  ///< rank of latent attention
    std::int64_t chunk = 0;       ///< of linear attention: tokens that see each other directly
    bool corrects = false;        ///< of linear attention: what the state has of a key is taken off before the value joins
    literal expansion = "";       ///< of latent attention, the module that expands what is cached
    std::int64_t tokens = 0;
    std::int64_t width = 0;
    std::int64_t inner = 0;
    std::int64_t num_experts = 0;
    std::int64_t num_experts_per_tok = 0;
    bool gated = true;  ///< of experts: three matrices each, else two
};

/// Whoever wants more of a walk than its sums: scopes, tensors, operations, in the order of the forward pass.
///
/// With a listener every layer is walked by itself, so that each has its own path.
class listener {
public:
    virtual void enter(const recorder&, const module_info&) {}
    virtual void leave(const recorder&, const module_info&) {}
    virtual void parameter(const recorder&, literal /*name*/, const value&, bool /*tied*/) {}
    /// A parameter of a module that is called once more.
    virtual void parameter_again(const recorder&, literal /*name*/, const value&) {}
    /// What was made without gradients goes back to these, by a backward of its own.
    virtual void goes_through(const recorder&, const value& /*out*/, const value* const* /*in*/, int /*n*/) {}
    /// A parameter that the operation that is told next reads beside its inputs.
    virtual void read_beside(const recorder&, const value&) {}
    /// Memory of a module that is neither parameter nor made by the pass.
    virtual void buffer(const recorder&, count /*bytes*/) {}
    virtual void executed(const recorder&, const operation&) {}
    /// What the operation that is told next keeps until its backward: a tensor, and bytes beside tensors.
    virtual void saved(const recorder&, const value&) {}
    virtual void saved_besides(const recorder&, count /*bytes*/) {}
    /// The same of integers that the pass made, which are no floating-point tensors.
    virtual void saved_integers(const recorder&, count /*bytes*/) {}
    /// What the backward of the operation that is told next reads beside: a parameter, complex numbers.
    virtual void read_in_backward(const recorder&, const value&) {}
    /// A part was written into a tensor, whose gradient is then the part's as well.
    virtual void written_into(const recorder&, const value& /*whole*/, const value& /*part*/) {}
    /// What is saved for the backward that is told next are gradients.
    virtual void saves_gradients() {}
    virtual void cached(const recorder&, const value&) {}
    /// A layer has a place in the cache, and nothing in it.
    virtual void cached_nothing(const recorder&) {}
    virtual void cached_apart(const recorder&) {}
    /// What layers hand on keeps its memory under another number; those that came after it mean nothing any more.
    virtual void renamed(const recorder&, std::int32_t /*before*/, std::int32_t /*now*/) {}
    /// What the last of several steps hands on, where no step keeps what it makes.
    virtual void came_last(const recorder&, const value&) {}
    virtual void fused_begins(const recorder&, const fused_part&) {}
    virtual void fused_ends(const recorder&) {}
    /// What is executed until the call ends is the inside of one call of a function of PyTorch's.
    virtual void call_begins(const recorder&, const function_call&) {}
    virtual void call_ends(const recorder&) {}
    /// What a module without children returned, the first of two tensors.
    virtual void returned(const recorder&, const value&) {}

protected:
    ~listener() = default;
};

}  // namespace llmcost
