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

/// How a convolution goes over its input: in each dimension, or in all of them alike.
struct convolution_options {
    std::int64_t groups = 1;
    shape stride{1}, dilation{1}, padding{0};
};

/// What changes where leaf modules are called, by their paths: adapters beside linear layers, parameters that are
/// frozen.
///
/// A walk asks it in one place per kind of leaf; descriptions know nothing of it.
class leaf_module_policy {
public:
    /// A walk begins.
    virtual void on_trace_begin() {}
    /// What a model is asked for that is asked for this: with tokens that nobody wrote, more of them.
    [[nodiscard]] virtual workload adapt_workload(const workload& load) { return load; }
    virtual void enter(const module_info&) {}
    virtual void leave(const module_info&) {}
    /// Whether gradients train a parameter of the module that the walk is in.
    [[nodiscard]] virtual bool is_trainable(literal /*name*/) const { return true; }
    /// Whether the module that the walk is in is trained as a copy, beside the one that stays as it was.
    [[nodiscard]] virtual bool trains_copy() const { return false; }
    /// What the module reads in place of a parameter that it declares; `tied`: one that another module has named
    /// before.
    [[nodiscard]] virtual tensor transform_parameter(trace&, literal /*name*/, const tensor& parameter, bool /*tied*/) {
        return parameter;
    }
    /// What a linear layer reads instead of x.
    [[nodiscard]] virtual tensor transform_linear_input(trace&, const tensor& x) { return x; }
    /// What comes out of a linear layer with this weight, (out, in) or turned, that read x and made y.
    [[nodiscard]] virtual tensor transform_linear_output(trace&, const tensor& /*x*/, const tensor& /*weight*/,
                                                         bool /*turned*/, const tensor* /*bias*/, const tensor& y) {
        return y;
    }
    /// What comes out of a convolution with this weight, which read x and made y.
    [[nodiscard]] virtual tensor transform_convolution_output(trace&, const tensor& /*x*/, const tensor& /*weight*/,
                                                              const convolution_options&, const tensor& y) {
        return y;
    }
    /// Whether it brings keys or values of these sizes for tokens that nobody wrote.
    [[nodiscard]] virtual bool provide_past_key_values(trace&, const shape& /*sizes*/, tensor& /*past*/) {
        return false;
    }
    /// Integers that a table of so many rows is asked for, of those that the walk asks.
    [[nodiscard]] virtual shape transform_embedding_ids(std::int64_t /*rows*/, const shape& ids) { return ids; }
    /// What comes out of a table that gave this for so many integers of each sequence; `scaled`: multiplied inside.
    [[nodiscard]] virtual tensor transform_embedding_output(trace&, const tensor& /*table*/, bool /*scaled*/,
                                                            const tensor& found) {
        return found;
    }

protected:
    ~leaf_module_policy() = default;
};

}  // namespace llmcost
