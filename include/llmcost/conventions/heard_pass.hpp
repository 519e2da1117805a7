// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>

// A forward pass as counters hear it: functions of PyTorch's by the names that Python calls them, modules by their classes.
namespace llmcost {

/// What counters multiply their coefficients by, summed over calls.
struct heard_amounts {
    count calls{};
    count products{};        ///< multiplications of matrices and convolutions: rows · inner · columns
    count by_columns{};      ///< elements of the first matrix times the columns of the second, whatever a broadcast repeats
    count inputs{};          ///< elements of the first input
    count outputs{};         ///< elements of the result
    count added{};           ///< elements of the bias, once a call
    count biased_outputs{};  ///< elements of results that a bias is added to
    count addmm_outputs{};   ///< of these, those of ATen's addmm: where the input is contiguous
    count affine_inputs{};   ///< inputs of norms that have a weight
    count unfused_products{};  ///< of attention whose values are of another width than its keys: no kernel of the CPU's
                               ///< takes it
    count places{};            ///< elements of one channel of the result
    count rows{};              ///< rows that a softmax goes over
    count path_flops{};        ///< what numpy's `einsum_path` prints of a call: 2 a product, four digits of it

    heard_amounts& operator+=(const heard_amounts& o) {
        calls += o.calls, products += o.products, by_columns += o.by_columns, inputs += o.inputs, outputs += o.outputs,
            added += o.added;
        biased_outputs += o.biased_outputs, addmm_outputs += o.addmm_outputs, affine_inputs += o.affine_inputs;
        path_flops += o.path_flops, rows += o.rows, places += o.places, unfused_products += o.unfused_products;
        return *this;
    }
};

/// Calls of one function inside modules of one class that have no children, or outside of such.
struct heard_call {
    std::string_view name;  ///< `F.linear`; what is no function of that kind by the operation's name
    std::string within;     ///< class of the module; empty: one with children
    heard_amounts amounts{};
    count flops{};          ///< ADD and MULT that it executes
    count torch_flops{};    ///< what FlopCounterMode says of it
    bool weighted = false;  ///< a product with weights: by a function that takes them
};

/// Calls of modules of one class that have no children but parameters.
struct heard_module {
    std::string type;
    count calls{};
    count outputs{};            ///< elements that they return
    count weights_by_batch{};   ///< elements of `weight` and `bias` times the first dimension of what is returned
    count weights_by_places{};  ///< the same times all of its dimensions but the second
    count
        parts_by_positions{};  ///< elements of other parameters whose names have such a word, times its first two dimensions
};

/// A module of the tree: what it owns, and whether the pass calls it.
struct heard_place {
    struct owned {
        std::string_view name{};
        count elements{};
        std::vector<std::int64_t> sizes{};
        bool tied = false;
        bool trained = false;
    };
    std::int32_t parent = -1;
    std::string_view name{};
    std::int64_t index = -1;
    std::string type{};
    bool leaf = false;
    bool called = false;
    std::vector<owned> parameters{};
};

/// Everything that counters hear of a pass.
struct heard_pass {
    std::vector<heard_call> calls;
    std::vector<heard_module> modules;
    std::vector<heard_place> places;  ///< parents before their children; the first is the model
    count parameters{};               ///< elements, a tied tensor once
    count trainable{};
    figures total{};  ///< llmcost's own of the same pass
};

namespace detail {

/// numpy's `f"{n:.3e}"` read again as an integer.
[[nodiscard]] constexpr count to_four_digits(count n) {
    count unit(1);
    while (n / unit >= count(10000)) unit = unit * count(10);
    const count head = n / unit, rest = n - head * unit;
    const count twice = rest + rest;
    const bool odd = (head - head / count(2) * count(2)) != count{};
    return (head + count(twice > unit || (twice == unit && odd) ? 1 : 0)) * unit;
}

/// The name by which Python calls what an operation executes, where it is a function of `torch.nn.functional`; else the
/// operation's own.
[[nodiscard]] constexpr std::string_view spelling_of(op kind) noexcept {
    switch (kind) {
        case op::softmax: return "F.softmax";
        case op::log_softmax: return "F.log_softmax";
        case op::layer_norm:
        case op::layer_norm_weight:
        case op::layer_norm_affine: return "F.layer_norm";
        case op::group_norm_affine: return "F.group_norm";
        case op::batch_norm: return "F.batch_norm of a batch";
        case op::batch_norm_affine: return "F.batch_norm";
        case op::silu: return "F.silu";
        case op::gelu:
        case op::gelu_tanh: return "F.gelu";
        case op::relu: return "F.relu";
        case op::average_pool: return "F.avg_pool";
        case op::max_pool: return "F.max_pool";
        case op::bilinear: return "F.interpolate";
        case op::convolution:
        case op::convolution_bias: return "F.conv";
        case op::add: return "operator +";
        case op::sub: return "operator -";
        case op::mul: return "operator *";
        case op::div: return "operator /";
        default: return price_of(kind).name;
    }
}
[[nodiscard]] constexpr std::string_view spelling_of(torch_function what) noexcept {
    constexpr std::string_view names[]{"F.linear",
                                       "torch.matmul",
                                       "torch.bmm",
                                       "torch.addmm",
                                       "torch.baddbmm",
                                       "torch.einsum",
                                       "F.scaled_dot_product_attention",
                                       "F.conv_transpose",
                                       "operator @",
                                       "torch.mul",
                                       "Tensor.softmax",
                                       "torch.baddbmm, beta 0",
                                       "Tensor.baddbmm",
                                       "activations.gelu",
                                       "torch.relu",
                                       "F.relu, kept"};
    return names[static_cast<std::size_t>(what)];
}
/// What Python makes of ATen's addmm where tensors have no values: torch/_decomp/decompositions.py, `addmm`.
inline constexpr std::string_view decomposed_addmm = "torch.mm inside addmm";

[[nodiscard]] inline count flops_of(op kind, count work, count rows) {
    const op_price& p = price_of(kind);
    count plus, minus;
    for (const int each : {p.per_work.add, p.per_work.mult}) add_charge(plus, minus, each, work);
    for (const int each : {p.per_row.add, p.per_row.mult}) add_charge(plus, minus, each, rows);
    // a row's addition less may outweigh the work of rows of one element: never more than it
    return plus - minus;
}

/// Parameters that torchinfo multiplies by what a module returns, by their names (torchinfo/layer_info.py,
/// `calculate_macs`).
inline constexpr std::string_view weights_by_name[]{"weight", "bias"};

/// Hears a pass.
class hearing final : public listener {
public:
    explicit hearing(heard_pass& out) : out_(out) {
        out_.places.push_back({.called = true});
        children_.emplace_back();
    }

    void enter(const recorder& r, const module_info& m) override {
        const bool called = !m.leaf && !r.idle();
        std::vector<std::int32_t>& siblings = children_[static_cast<std::size_t>(at_)];
        for (std::size_t i = siblings.size(); i-- > 0;) {
            heard_place& known = out_.places[static_cast<std::size_t>(siblings[i])];
            if (known.index != m.index || known.name != std::string_view(m.name)) continue;
            known.called = known.called || called;
            at_ = siblings[i];
            return;
        }
        heard_place place{.parent = at_, .name = m.name, .index = m.index, .leaf = m.leaf, .called = called};
        place.type.append(m.type.prefix).append(m.type.base);
        at_ = static_cast<std::int32_t>(out_.places.size());
        siblings.push_back(at_);
        out_.places.push_back(std::move(place));
        children_.emplace_back();
    }
    void leave(const recorder&, const module_info&) override { at_ = here().parent; }
    void parameter(const recorder&, literal name, const value& v, bool tied) override {
        own(name, v, tied);
        if (tied) return;
        out_.parameters += count(v.elements);
        if (v.requires_grad) out_.trainable += count(v.elements);
    }
    void returned(const recorder& r, const value& v) override {
        heard_place& m = here();
        m.called = true;
        if (m.parameters.empty()) return;
        heard_module& row = module_row(m.type);
        const count times = r.times();
        count plain, other;
        for (const heard_place::owned& p : m.parameters) {
            bool whole = false, part = false;
            for (const std::string_view word : weights_by_name)
                whole = whole || p.name == word, part = part || p.name.find(word) != p.name.npos;
            if (whole) plain += p.elements;
            if (part && !whole) other += p.elements;
        }
        const auto dim = [&](int i) { return i < v.rank ? count(v.size[i]) : count(1); };
        row.calls += times, row.outputs += count(v.elements) * times;
        row.weights_by_batch += plain * dim(0) * times;
        count places = dim(0);
        for (int i = 2; i < v.rank; ++i) places = places * dim(i);
        row.weights_by_places += plain * places * times;
        row.parts_by_positions += other * dim(0) * dim(1) * times;
    }
    void call_begins(const recorder& r, const function_call& call) override {
        if (depth_++ > 0) return;
        what_ = call.what, inside_ = {}, inside_flops_ = {}, inside_torch_ = {}, muls_ = {};
        inside_.inputs = count(call.inputs[0]->elements);
        if (call.input_count > 1) inside_.by_columns = inside_.inputs * count(call.inputs[1]->dim(-1));
        if (call.bias != nullptr) inside_.added = count(call.bias->elements);
        biased_ = call.bias != nullptr;
        if (what_ != torch_function::attention) return;
        const value &q = *call.inputs[0], &k = *call.inputs[1], &v = *call.inputs[2];
        inside_.products = count(q.elements) * count(k.dim(-2)) +
                           count(q.elements / static_cast<std::uint64_t>(q.dim(-1))) * count(k.dim(-2)) * count(v.dim(-1));
        if (q.dim(-1) != v.dim(-1)) inside_.unfused_products = inside_.products;
        before_ = r.sums();
    }
    void call_ends(const recorder& r) override {
        if (--depth_ > 0) return;
        heard_call& row = call_row(spelling_of(what_));
        row.weighted = what_ == torch_function::linear || what_ == torch_function::addmm;
        const count times = r.times();
        if (what_ == torch_function::attention) {
            const ledger inside = r.sums().since(before_);
            const primitives<count> executed = price(inside);
            row.flops += executed.add + executed.mult;
            row.torch_flops += llmcost::torch_flops(inside);
        }
        const bool adds = what_ == torch_function::baddbmm || what_ == torch_function::baddbmm_alone;
        if (adds && !biased_) inside_.added = inside_.outputs;  // to a tensor as large as the result
        if (what_ == torch_function::einsum)
            inside_.path_flops = to_four_digits(inside_.products == count{} ? muls_ : inside_.products * count(2));
        inside_.calls = count(1);
        row.flops += inside_flops_ * times, row.torch_flops += inside_torch_ * times;
        row.amounts += scaled(inside_, times);
    }
    void executed(const recorder& r, const operation& o) override {
        const op_price& p = price_of(o.kind);
        const count done = flops_of(o.kind, o.work, o.rows), torch = o.work * count(p.torch_flops);
        const count times = r.times();
        if (o.kind == op::matmul_bias)
            call_row(decomposed_addmm).amounts += scaled({.calls = count(1), .products = o.work}, times);
        const bool multiplies = p.torch_flops != 0;
        if (depth_ > 0) {
            inside_flops_ += done, inside_torch_ += torch;
            if (what_ == torch_function::attention) return;
            if (multiplies) inside_.products += o.work;
            if (o.kind == op::mul) muls_ += o.work;
            inside_.outputs = count(o.output.elements);
            if (biased_) inside_.biased_outputs = inside_.outputs;
            if (o.kind == op::matmul_bias || o.kind == op::convolution_bias) inside_.addmm_outputs += o.rows;
            if (o.kind == op::convolution_bias) inside_.biased_outputs = o.rows;
            return;
        }
        heard_amounts a{.calls = count(1), .outputs = count(o.output.elements)};
        if (o.input_count > 0) a.inputs = count(o.inputs[0]->elements);
        if (multiplies) a.products = o.work;
        if (o.kind == op::convolution_bias) a.biased_outputs = a.addmm_outputs = o.rows;
        if (o.kind == op::layer_norm_weight || o.kind == op::layer_norm_affine || o.kind == op::group_norm_affine ||
            o.kind == op::batch_norm_affine)
            a.affine_inputs = a.inputs;
        if (o.kind == op::softmax) a.rows = o.rows;
        if (o.kind == op::bilinear) a.places = count(o.output.dim(2)) * count(o.output.dim(3));
        heard_call& row = call_row(spelling_of(o.kind));
        row.weighted = o.kind == op::convolution || o.kind == op::convolution_bias;
        row.amounts += scaled(a, times);
        row.flops += done * times, row.torch_flops += torch * times;
    }

private:
    [[nodiscard]] heard_place& here() { return out_.places[static_cast<std::size_t>(at_)]; }
    [[nodiscard]] static heard_amounts scaled(heard_amounts a, count times) {
        if (times == count(1)) return a;
        for (count* each : {&a.calls, &a.products, &a.by_columns, &a.inputs, &a.outputs, &a.added, &a.biased_outputs,
                            &a.addmm_outputs, &a.affine_inputs, &a.unfused_products, &a.rows, &a.places, &a.path_flops})
            *each = *each * times;
        return a;
    }
    void own(literal name, const value& v, bool tied) {
        heard_place& m = here();
        for (const heard_place::owned& p : m.parameters)
            if (p.name == std::string_view(name)) return;
        std::vector<std::int64_t> sizes;
        for (int i = 0; i < v.rank; ++i) sizes.push_back(v.size[i]);
        m.parameters.push_back({name, count(v.elements), std::move(sizes), tied, v.requires_grad});
    }
    heard_call& call_row(std::string_view name) {
        const heard_place& m = here();
        const std::string_view within = m.leaf ? std::string_view(m.type) : std::string_view{};
        for (heard_call& row : out_.calls)
            if (row.name == name && row.within == within) return row;
        return out_.calls.emplace_back(heard_call{name, std::string(within)});
    }
    heard_module& module_row(std::string_view type) {
        for (heard_module& row : out_.modules)
            if (row.type == type) return row;
        return out_.modules.emplace_back(heard_module{std::string(type)});
    }

    heard_pass& out_;
    std::int32_t at_ = 0;
    std::vector<std::vector<std::int32_t>> children_{};  ///< of each place
    int depth_ = 0;
    torch_function what_{};
    bool biased_ = false;
    heard_amounts inside_{};
    count inside_flops_{}, inside_torch_{}, muls_{};
    ledger before_{};
};

}  // namespace detail

/// A forward pass of a model as counters hear it; they know no causal scores, so that all pairs count.
[[nodiscard]] inline heard_pass hear(const model& m, workload load) {
    load.attention = attention_scores::full;
    heard_pass out;
    detail::hearing ear(out);
    trace t{load, &ear};
    m.describe(t);
    out.total = whole_figures_of(t.sums());
    return out;
}

}  // namespace llmcost
