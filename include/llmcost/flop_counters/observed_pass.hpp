// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>

// A forward pass as FLOP counters observe it: PyTorch functions with their Python names, and module classes.
namespace llmcost {

/// Amounts that counters multiply by coefficients, summed over calls.
struct call_amounts {
    count calls{};
    count products{};          ///< multiplications of matrix products and convolutions: M · K · N
    count by_columns{};        ///< elements of the first matrix times columns of the second, without broadcasting
    count inputs{};            ///< elements of the first input
    count outputs{};           ///< elements of the result
    count added{};             ///< elements of the bias, once per call
    count biased_outputs{};    ///< elements of results with a bias
    count addmm_outputs{};     ///< of these, results of ATen's addmm: the input is contiguous
    count affine_inputs{};     ///< input elements of norms with a weight
    count unfused_products{};  ///< of attention with different key and value sizes, which has no fused CPU kernel
    count places{};            ///< elements of one channel of the result
    count rows{};              ///< softmax reductions
    count path_flops{};        ///< FLOPs in numpy's `einsum_path`: 2 per product, four significant digits

    call_amounts& operator+=(const call_amounts& o) {
        calls += o.calls;
        products += o.products;
        by_columns += o.by_columns;
        inputs += o.inputs;
        outputs += o.outputs;
        added += o.added;
        biased_outputs += o.biased_outputs;
        addmm_outputs += o.addmm_outputs;
        affine_inputs += o.affine_inputs;
        path_flops += o.path_flops;
        rows += o.rows;
        places += o.places;
        unfused_products += o.unfused_products;
        return *this;
    }
};

/// Calls of one function inside leaf modules of one class, or outside of leaf modules.
struct observed_call {
    std::string_view name;     ///< `F.linear`; other operations have their own names
    std::string module_class;  ///< class of the leaf module; empty: not in a leaf module
    call_amounts amounts{};
    count flops{};            ///< ADD and MULT of the executed operations
    count torch_flops{};      ///< FLOPs in FlopCounterMode
    bool has_weight = false;  ///< a product with weights, by a function with weight arguments
};

/// Calls of leaf modules of one class with parameters.
struct observed_module {
    std::string type;
    count calls{};
    count outputs{};                          ///< elements of their outputs
    count weight_elements_times_batch{};      ///< elements of `weight` and `bias` · output size 0
    count weight_elements_times_positions{};  ///< elements of `weight` and `bias` · output sizes except 1
    count other_elements_times_positions{};   ///< elements of parameters with such a word in the name · sizes 0, 1
};

/// A module of the model: its parameters, and whether the pass calls it.
struct module_node {
    struct owned_parameter {
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
    bool is_leaf = false;
    bool called = false;
    std::vector<owned_parameter> parameters{};
};

/// Everything that FLOP counters observe in a pass.
struct observed_pass {
    std::vector<observed_call> calls;
    std::vector<observed_module> modules;
    std::vector<module_node> places;  ///< parents before children; the first is the model
    count parameters{};               ///< elements, tied tensors once
    count trainable{};
    model_metrics total{};  ///< llmcost's results for the same pass
};

namespace detail {

/// The value of numpy's `f"{n:.3e}"` as an integer.
[[nodiscard]] constexpr count to_four_digits(count n) {
    count unit(1);
    while (n / unit >= count(10000)) unit = unit * count(10);
    const count head = n / unit, rest = n - head * unit;
    const count twice = rest + rest;
    const bool odd = (head - head / count(2) * count(2)) != count{};
    return (head + count(twice > unit || (twice == unit && odd) ? 1 : 0)) * unit;
}

/// The Python name of the function of an operation, if it is in `torch.nn.functional`, otherwise the operation's name.
[[nodiscard]] constexpr std::string_view python_name_of(op kind) noexcept {
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
        default: return op_cost_of(kind).name;
    }
}
[[nodiscard]] constexpr std::string_view python_name_of(torch_function function) noexcept {
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
    return names[static_cast<std::size_t>(function)];
}
/// The decomposition of ATen's addmm for tensors without values.
///
/// Source: torch/_decomp/decompositions.py, `addmm`.
inline constexpr std::string_view decomposed_addmm = "torch.mm inside addmm";

[[nodiscard]] inline count flops_of(op kind, count work, count rows) {
    const op_cost& p = op_cost_of(kind);
    count plus, minus;
    for (const int coefficient : {p.per_work.add, p.per_work.mult}) add_cost(plus, minus, coefficient, work);
    for (const int coefficient : {p.per_row.add, p.per_row.mult}) add_cost(plus, minus, coefficient, rows);
    // The negative cost per row never exceeds the cost of a row.
    return plus - minus;
}

/// Names of the parameters that torchinfo multiplies by module outputs.
///
/// Source: torchinfo/layer_info.py, `calculate_macs`.
inline constexpr std::string_view weights_by_name[]{"weight", "bias"};

/// Records the calls and modules of a pass.
class call_observer final : public listener {
public:
    explicit call_observer(observed_pass& out) : out_(out) {
        out_.places.push_back({.called = true});
        children_.emplace_back();
    }

    void on_module_enter(const recorder& r, const module_info& m) override {
        const bool called = !m.is_leaf && !r.is_not_executed();
        std::vector<std::int32_t>& siblings = children_[static_cast<std::size_t>(at_)];
        for (std::size_t i = siblings.size(); i-- > 0;) {
            module_node& known = out_.places[static_cast<std::size_t>(siblings[i])];
            if (known.index != m.index || known.name != std::string_view(m.name)) continue;
            known.called = known.called || called;
            at_ = siblings[i];
            return;
        }
        module_node place{.parent = at_, .name = m.name, .index = m.index, .is_leaf = m.is_leaf, .called = called};
        place.type.append(m.class_of_module.prefix).append(m.class_of_module.suffix);
        at_ = static_cast<std::int32_t>(out_.places.size());
        siblings.push_back(at_);
        out_.places.push_back(std::move(place));
        children_.emplace_back();
    }
    void on_module_leave(const recorder&, const module_info&) override { at_ = current_module().parent; }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override {
        add_parameter(name, v, tied);
        if (tied) return;
        out_.parameters += count(v.numel);
        if (v.requires_grad) out_.trainable += count(v.numel);
    }
    void on_module_output(const recorder& r, const tensor& v) override {
        module_node& m = current_module();
        m.called = true;
        if (m.parameters.empty()) return;
        observed_module& row = find_or_add_module(m.type);
        const count times = r.multiplier();
        count plain, other_elements;
        for (const module_node::owned_parameter& p : m.parameters) {
            bool is_exact_match = false, part = false;
            for (const std::string_view name : weights_by_name) {
                is_exact_match = is_exact_match || p.name == name;
                part = part || p.name.find(name) != p.name.npos;
            }
            if (is_exact_match) plain += p.elements;
            if (part && !is_exact_match) other_elements += p.elements;
        }
        const auto dim = [&](int i) { return i < v.rank ? count(v.size[i]) : count(1); };
        row.calls += times;
        row.outputs += count(v.numel) * times;
        row.weight_elements_times_batch += plain * dim(0) * times;
        count places = dim(0);
        for (int i = 2; i < v.rank; ++i) places = places * dim(i);
        row.weight_elements_times_positions += plain * places * times;
        row.other_elements_times_positions += other_elements * dim(0) * dim(1) * times;
    }
    void on_function_begin(const recorder& r, const function_call& call) override {
        if (depth_++ > 0) return;
        function_ = call.function;
        amounts_ = {};
        inside_flops_ = {};
        inside_torch_ = {};
        muls_ = {};
        amounts_.inputs = count(call.inputs[0]->numel);
        if (call.input_count > 1) amounts_.by_columns = amounts_.inputs * count(call.inputs[1]->dim(-1));
        if (call.bias != nullptr) amounts_.added = count(call.bias->numel);
        biased_ = call.bias != nullptr;
        if (function_ != torch_function::scaled_dot_product_attention) return;
        const tensor &q = *call.inputs[0], &k = *call.inputs[1], &v = *call.inputs[2];
        amounts_.products = count(q.numel) * count(k.dim(-2)) + count(q.numel / static_cast<std::uint64_t>(q.dim(-1))) *
                                                                    count(k.dim(-2)) * count(v.dim(-1));
        if (q.dim(-1) != v.dim(-1)) amounts_.unfused_products = amounts_.products;
        previous_sums_ = r.totals();
    }
    void on_function_end(const recorder& r) override {
        if (--depth_ > 0) return;
        observed_call& row = find_or_add_call(python_name_of(function_));
        row.has_weight = function_ == torch_function::linear || function_ == torch_function::addmm;
        const count times = r.multiplier();
        if (function_ == torch_function::scaled_dot_product_attention) {
            const trace_totals call_sums = r.totals().difference_from(previous_sums_);
            const primitives<count> executed = primitives_of(call_sums);
            row.flops += executed.add + executed.mult;
            row.torch_flops += llmcost::torch_flops(call_sums);
        }
        const bool adds = function_ == torch_function::baddbmm || function_ == torch_function::baddbmm_beta_zero;
        // The added tensor has the size of the result.
        if (adds && !biased_) amounts_.added = amounts_.outputs;
        if (function_ == torch_function::einsum)
            amounts_.path_flops = to_four_digits(amounts_.products == count{} ? muls_ : amounts_.products * count(2));
        amounts_.calls = count(1);
        row.flops += inside_flops_ * times;
        row.torch_flops += inside_torch_ * times;
        row.amounts += scaled(amounts_, times);
    }
    void on_op(const recorder& r, const operation& o) override {
        const op_cost& p = op_cost_of(o.kind);
        const count done = flops_of(o.kind, o.work, o.rows), torch = o.work * count(p.torch_flops);
        const count times = r.multiplier();
        if (o.kind == op::matmul_bias)
            find_or_add_call(decomposed_addmm).amounts += scaled({.calls = count(1), .products = o.work}, times);
        const bool multiplies = p.torch_flops != 0;
        if (depth_ > 0) {
            inside_flops_ += done;
            inside_torch_ += torch;
            if (function_ == torch_function::scaled_dot_product_attention) return;
            if (multiplies) amounts_.products += o.work;
            if (o.kind == op::mul) muls_ += o.work;
            amounts_.outputs = count(o.output.numel);
            if (biased_) amounts_.biased_outputs = amounts_.outputs;
            if (o.kind == op::matmul_bias || o.kind == op::convolution_bias) amounts_.addmm_outputs += o.rows;
            if (o.kind == op::convolution_bias) amounts_.biased_outputs = o.rows;
            return;
        }
        call_amounts a{.calls = count(1), .outputs = count(o.output.numel)};
        if (o.input_count > 0) a.inputs = count(o.inputs[0]->numel);
        if (multiplies) a.products = o.work;
        if (o.kind == op::convolution_bias) a.biased_outputs = a.addmm_outputs = o.rows;
        if (o.kind == op::layer_norm_weight || o.kind == op::layer_norm_affine || o.kind == op::group_norm_affine ||
            o.kind == op::batch_norm_affine)
            a.affine_inputs = a.inputs;
        if (o.kind == op::softmax) a.rows = o.rows;
        if (o.kind == op::bilinear) a.places = count(o.output.dim(2)) * count(o.output.dim(3));
        observed_call& row = find_or_add_call(python_name_of(o.kind));
        row.has_weight = o.kind == op::convolution || o.kind == op::convolution_bias;
        row.amounts += scaled(a, times);
        row.flops += done * times;
        row.torch_flops += torch * times;
    }

private:
    [[nodiscard]] module_node& current_module() { return out_.places[static_cast<std::size_t>(at_)]; }
    [[nodiscard]] static call_amounts scaled(call_amounts a, count times) {
        if (times == count(1)) return a;
        for (count* amount :
             {&a.calls, &a.products, &a.by_columns, &a.inputs, &a.outputs, &a.added, &a.biased_outputs,
              &a.addmm_outputs, &a.affine_inputs, &a.unfused_products, &a.rows, &a.places, &a.path_flops})
            *amount = *amount * times;
        return a;
    }
    void add_parameter(literal name, const tensor& v, bool tied) {
        module_node& m = current_module();
        for (const module_node::owned_parameter& p : m.parameters)
            if (p.name == std::string_view(name)) return;
        std::vector<std::int64_t> sizes;
        for (int i = 0; i < v.rank; ++i) sizes.push_back(v.size[i]);
        m.parameters.push_back({name, count(v.numel), std::move(sizes), tied, v.requires_grad});
    }
    observed_call& find_or_add_call(std::string_view name) {
        const module_node& m = current_module();
        const std::string_view module_class = m.is_leaf ? std::string_view(m.type) : std::string_view{};
        for (observed_call& row : out_.calls)
            if (row.name == name && row.module_class == module_class) return row;
        return out_.calls.emplace_back(observed_call{name, std::string(module_class)});
    }
    observed_module& find_or_add_module(std::string_view type) {
        for (observed_module& row : out_.modules)
            if (row.type == type) return row;
        return out_.modules.emplace_back(observed_module{std::string(type)});
    }

    observed_pass& out_;
    std::int32_t at_ = 0;
    std::vector<std::vector<std::int32_t>> children_{};  ///< of each module
    int depth_ = 0;
    torch_function function_{};
    bool biased_ = false;
    call_amounts amounts_{};
    count inside_flops_{}, inside_torch_{}, muls_{};
    trace_totals previous_sums_{};
};

}  // namespace detail

/// A forward pass of a model as FLOP counters observe it. All scores count, because counters ignore causality.
[[nodiscard]] inline observed_pass observe(const model& m, workload load) {
    load.attention = attention_scores::full;
    observed_pass out;
    detail::call_observer listener(out);
    trace t{load, &listener};
    m.trace_with_loss(t);
    out.total = full_model_metrics_of(t.totals());
    return out;
}

}  // namespace llmcost
