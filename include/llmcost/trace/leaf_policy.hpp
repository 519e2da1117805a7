// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/value.hpp>

namespace llmcost {

class trace;

/// How a convolution goes over its input: in each dimension, or in all of them alike.
struct convolution_steps {
    std::int64_t groups = 1;
    extents stride{1}, dilation{1}, padding{0};
};

/// What changes where leaf modules are called, by their paths: adapters beside linear layers, parameters that are frozen.
///
/// A walk asks it in one place per kind of leaf; descriptions know nothing of it.
class leaf_policy {
public:
    /// A walk begins.
    virtual void begin() {}
    /// What a model is asked for that is asked for this: with tokens that nobody wrote, more of them.
    [[nodiscard]] virtual workload works_on(const workload& load) { return load; }
    virtual void enter(const module_info&) {}
    virtual void leave(const module_info&) {}
    /// Whether gradients train a parameter of the module that the walk is in.
    [[nodiscard]] virtual bool trains(literal /*name*/) const { return true; }
    /// Whether the module that the walk is in is trained as a copy, beside the one that stays as it was.
    [[nodiscard]] virtual bool copies() const { return false; }
    /// What the module reads in place of a parameter that it declares; `tied`: one that another module has named before.
    [[nodiscard]] virtual value weighs(trace&, literal /*name*/, const value& own, bool /*tied*/) { return own; }
    /// What a linear layer reads instead of x.
    [[nodiscard]] virtual value reads(trace&, const value& x) { return x; }
    /// What comes out of a linear layer with this weight, (out, in) or turned, that read x and made y.
    [[nodiscard]] virtual value gives(trace&, const value& /*x*/, const value& /*weight*/, bool /*turned*/,
                                      const value* /*bias*/, const value& y) {
        return y;
    }
    /// What comes out of a convolution with this weight, which read x and made y.
    [[nodiscard]] virtual value convolved(trace&, const value& /*x*/, const value& /*weight*/, const convolution_steps&,
                                          const value& y) {
        return y;
    }
    /// Whether it brings keys or values of these sizes for tokens that nobody wrote.
    [[nodiscard]] virtual bool remembers(trace&, const extents& /*sizes*/, value& /*past*/) { return false; }
    /// Integers that a table of so many rows is asked for, of those that the walk asks.
    [[nodiscard]] virtual extents looks_up(std::int64_t /*rows*/, const extents& ids) { return ids; }
    /// What comes out of a table that gave this for so many integers of each sequence; `scaled`: multiplied inside.
    [[nodiscard]] virtual value looked_up(trace&, const value& /*table*/, bool /*scaled*/, const value& found) {
        return found;
    }

protected:
    ~leaf_policy() = default;
};

}  // namespace llmcost
