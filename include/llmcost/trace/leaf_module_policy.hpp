// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>

namespace llmcost {

class trace;

/// Options of a convolution, per dimension or one value for all dimensions.
struct convolution_options {
    std::int64_t groups = 1;
    shape stride{1}, dilation{1}, padding{0};
};

/// Changes what leaf modules compute, by module path: adapters on linear layers, frozen parameters.
///
/// The trace calls it in one place per kind of leaf module. Model specs do not depend on it.
class leaf_module_policy {
public:
    /// Called at the start of a trace.
    virtual void on_trace_begin() {}
    /// Returns the workload of the adapted model, for example with virtual tokens added.
    [[nodiscard]] virtual workload adapt_workload(const workload& load) { return load; }
    virtual void enter(const module_info&) {}
    virtual void leave(const module_info&) {}
    /// Whether a parameter of the current module is trainable.
    [[nodiscard]] virtual bool is_trainable(literal /*name*/) const { return true; }
    /// Whether training updates a copy of the current module and leaves the original unchanged.
    [[nodiscard]] virtual bool trains_copy() const { return false; }
    /// Returns the tensor that the module reads instead of its parameter. `tied`: another module declared it before.
    [[nodiscard]] virtual tensor transform_parameter(trace&, literal /*name*/, const tensor& parameter, bool /*tied*/) {
        return parameter;
    }
    /// Returns the sizes of the part of a parameter that the current module declares.
    [[nodiscard]] virtual shape shard_parameter(literal /*name*/, const shape& sizes) const { return sizes; }
    /// Returns the tokens and the weights that routed experts read instead of these.
    [[nodiscard]] virtual tensor_pair transform_expert_inputs(trace&, const tensor& tokens, const tensor& weights) {
        return {tokens, weights};
    }
    /// Returns the output of routed experts, which computed y.
    [[nodiscard]] virtual tensor transform_expert_output(trace&, const tensor& y) { return y; }
    /// Returns the tensor that a linear layer reads instead of x.
    [[nodiscard]] virtual tensor transform_linear_input(trace&, const tensor& x) { return x; }
    /// Returns the output of a linear layer with input x, output y and a weight (out, in), or its transpose.
    [[nodiscard]] virtual tensor transform_linear_output(trace&, const tensor& /*x*/, const tensor& /*weight*/,
                                                         bool /*is_transposed*/, const tensor* /*bias*/,
                                                         const tensor& y) {
        return y;
    }
    /// Returns the output of a convolution with input x, output y and this weight.
    [[nodiscard]] virtual tensor transform_convolution_output(trace&, const tensor& /*x*/, const tensor& /*weight*/,
                                                              const convolution_options&, const tensor& y) {
        return y;
    }
    /// Provides keys or values of these sizes for virtual tokens. Returns false if there are none.
    [[nodiscard]] virtual bool provide_past_key_values(trace&, const shape& /*sizes*/, tensor& /*past*/) {
        return false;
    }
    /// Returns the shape of the indices that an embedding table with `rows` rows is read with.
    [[nodiscard]] virtual shape transform_embedding_ids(std::int64_t /*rows*/, const shape& ids) { return ids; }
    /// Returns the output of an embedding table that produced `found`. `scaled`: the module multiplies it.
    [[nodiscard]] virtual tensor transform_embedding_output(trace&, const tensor& /*table*/, bool /*scaled*/,
                                                            const tensor& found) {
        return found;
    }

protected:
    ~leaf_module_policy() = default;
};

}  // namespace llmcost
