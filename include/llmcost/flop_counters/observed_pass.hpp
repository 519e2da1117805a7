// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/function_call.hpp>
#include <llmcost/trace/listener.hpp>
#include <llmcost/trace/ops.hpp>
#include <llmcost/trace/recorder.hpp>
#include <llmcost/trace/scope.hpp>
#include <llmcost/trace/tensor.hpp>
#include <llmcost/trace/trace_totals.hpp>

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

    call_amounts& operator+=(const call_amounts& o);
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

/// Names of the parameters that torchinfo multiplies by module outputs.
///
/// Source: torchinfo/layer_info.py, `calculate_macs`.
inline constexpr std::string_view weights_by_name[]{"weight", "bias"};

/// Records the calls and modules of a pass.
class call_observer final : public listener {
public:
    explicit call_observer(observed_pass& out);

    void on_module_enter(const recorder& r, const module_info& m) override;
    void on_module_leave(const recorder&, const module_info&) override { module_index_ = current_module().parent; }
    void on_parameter(const recorder&, literal name, const tensor& v, bool tied) override;
    void on_module_output(const recorder& r, const tensor& v) override;
    void on_function_begin(const recorder& r, const function_call& call) override;
    void on_function_end(const recorder& r) override;
    void on_op(const recorder& r, const operation& o) override;

private:
    [[nodiscard]] module_node& current_module() { return out_.places[static_cast<std::size_t>(module_index_)]; }
    [[nodiscard]] static call_amounts scaled(call_amounts a, count times);
    void add_parameter(literal name, const tensor& v, bool tied);
    observed_call& find_or_add_call(std::string_view name);
    observed_module& find_or_add_module(std::string_view type);

    observed_pass& out_;
    std::int32_t module_index_ = 0;
    std::vector<std::vector<std::int32_t>> children_{};  ///< of each module
    int depth_ = 0;
    torch_function function_{};
    bool has_bias_ = false;
    call_amounts amounts_{};
    count nested_flops_{}, nested_torch_flops_{}, multiplications_{};
    trace_totals previous_sums_{};
};

}  // namespace detail

/// A forward pass of a model as FLOP counters observe it. All scores count, because counters ignore causality.
[[nodiscard]] observed_pass observe(const model& m, workload load);

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/flop_counters/impl/observed_pass.ipp>  // IWYU pragma: export
#endif
