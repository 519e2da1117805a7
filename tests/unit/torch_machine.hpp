// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "torch_programs.hpp"

#include <llmcost/trace/trace.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace llmcost::testing {

/// Executes the lines of a program in inference or in a training step.
class machine {
public:
    explicit machine(bool trains, listener* listener = nullptr)
        : t_(workload{.activations = dtype::float32, .training = trains}, listener) {}
    [[nodiscard]] const trace& get_trace() const { return t_; }

    /// The loss is the sum of all results.
    void go_back() {
        for (const auto& [name, result] : values_) t_.accumulate_gradient(result);
    }
    const tensor& execute(const statement& s) {
        arguments_ = &s.arguments;
        tensor& result = values_[s.name];
        result = operation(s.operation);
        return result;
    }

private:
    [[nodiscard]] tensor& operand(std::size_t i) { return values_.at(arguments_->at(i)); }
    [[nodiscard]] std::int64_t integer(std::size_t i) const { return std::stoll(arguments_->at(i)); }
    [[nodiscard]] int dimension(std::size_t i) const { return static_cast<int>(integer(i)); }
    [[nodiscard]] shape sizes(std::size_t i) const { return extents_from(arguments_->at(i)); }
    [[nodiscard]] tensor vector(std::int64_t n) { return t_.param("bias", {n}); }

    tensor operation(const std::string& name) {
        static const std::map<std::string, op> unary{{"neg", op::neg},
                                                     {"exp", op::exp},
                                                     {"expm1", op::expm1},
                                                     {"log", op::log},
                                                     {"log1p", op::log1p},
                                                     {"sin", op::sin},
                                                     {"cos", op::cos},
                                                     {"tanh", op::tanh},
                                                     {"erf", op::erf},
                                                     {"sqrt", op::sqrt},
                                                     {"rsqrt", op::rsqrt},
                                                     {"root_power", op::root_power},
                                                     {"inverse_root_power", op::inverse_root_power},
                                                     {"sigmoid", op::sigmoid},
                                                     {"silu", op::silu},
                                                     {"gelu", op::gelu},
                                                     {"gelu_tanh", op::gelu_tanh},
                                                     {"relu", op::relu},
                                                     {"absolute", op::absolute},
                                                     {"clamp", op::clamp},
                                                     {"softplus", op::softplus},
                                                     {"hardswish", op::hardswish},
                                                     {"hardsigmoid", op::hardsigmoid},
                                                     {"compare", op::compare},
                                                     {"power", op::power},
                                                     {"add_scalar", op::add},
                                                     {"mul_scalar", op::mul},
                                                     {"div_scalar", op::div},
                                                     {"reciprocal", op::reciprocal}};
        static const std::map<std::string, op> binary{
            {"add", op::add},         {"sub", op::sub},         {"mul", op::mul},    {"div", op::div},
            {"maximum", op::maximum}, {"minimum", op::minimum}, {"where", op::where}};
        if (const auto known = unary.find(name); known != unary.end()) return t_.unary(known->second, operand(0));
        if (const auto known = binary.find(name); known != binary.end())
            return t_.binary(known->second, operand(0), operand(1));
        static const std::map<std::string, std::function<tensor(machine&)>> others = table();
        return others.at(name)(*this);
    }

    tensor in_place(op kind) {
        t_.apply_inplace(kind, operand(0), operand(1));
        return operand(0);
    }
    tensor in_place_scalar(op kind) {
        t_.apply_inplace(kind, operand(0));
        return operand(0);
    }
    tensor permuted() {
        const std::vector<std::int64_t> order = sizes_from(arguments_->at(1));
        const tensor& x = operand(0);
        tensor v = x;
        for (int i = 0; i < v.rank; ++i) {
            v.size[i] = x.dim(static_cast<int>(order[static_cast<std::size_t>(i)]));
            v.stride[i] = x.stride[order[static_cast<std::size_t>(i)]];
        }
        return v;
    }
    tensor convolved() {
        const tensor& x = operand(0);
        const std::int64_t out = integer(1), kernel = integer(2), groups = integer(3);
        shape weight{out, x.dim(1) / groups};
        while (weight.rank < x.rank) weight.size[weight.rank++] = kernel;
        const bool bias = integer(6) != 0;
        if (bias) (void)vector(out);
        return t_.conv(x, t_.param("weight", weight), bias, groups, integer(4), integer(5));
    }
    tensor projected() {
        const tensor& x = operand(0);
        const tensor weight = t_.param("weight", {integer(1), x.dim(-1)});
        if (integer(2) == 0) return t_.linear(x, weight);
        const tensor bias = vector(integer(1));
        return t_.linear(x, weight, &bias);
    }
    tensor normed() {
        for (int i = 0; i < dimension(1); ++i) (void)vector(operand(0).dim(-1));
        return t_.layer_norm(operand(0), dimension(1));
    }
    tensor gathered() {
        shape to;
        for (int i = 0; i < operand(0).rank; ++i) to.size[to.rank++] = i == 0 ? integer(1) : operand(0).size[i];
        return t_.gather(operand(0), to);
    }

    tensor normed_by_channel() {
        const bool evaluates = integer(1) != 0;
        for (int i = 0; evaluates && i < 2; ++i) (void)vector(operand(0).dim(1));
        return t_.batch_norm(operand(0), evaluates);
    }
    tensor normed_by_group() {
        for (int i = 0; i < 2; ++i) (void)vector(operand(0).dim(1));
        return t_.group_norm(operand(0), integer(1));
    }
    tensor pooled(op kind) { return t_.pool(kind, operand(0), integer(1), integer(2), integer(3)); }
    tensor gathered_along() {
        shape to;
        for (int i = 0; i < operand(0).rank; ++i) to.size[to.rank++] = operand(0).size[i];
        to.size[to.rank - 1] = integer(1);
        return t_.gather_with_saved_source(operand(0), to);
    }

    static std::map<std::string, std::function<tensor(machine&)>> table() {
        return {
            {"param", [](machine& m) { return m.t_.param("weight", m.sizes(0)); }},
            {"buffer", [](machine& m) { return trace::buffer(m.sizes(0)); }},
            {"input", [](machine& m) { return m.t_.input(m.sizes(0)); }},
            {"constant", [](machine& m) { return m.t_.full(m.sizes(0)); }},
            {"zeros_like", [](machine& m) { return m.t_.zeros_like(m.operand(0)); }},
            {"transpose", [](machine& m) { return m.operand(0).transpose(m.dimension(1), m.dimension(2)); }},
            {"permute", [](machine& m) { return m.permuted(); }},
            {"unsqueeze", [](machine& m) { return m.operand(0).unsqueeze(m.dimension(1)); }},
            {"squeeze", [](machine& m) { return m.operand(0).squeeze(m.dimension(1)); }},
            {"slice", [](machine& m) { return m.t_.slice(m.operand(0), m.dimension(1), m.integer(2), m.integer(3)); }},
            {"select", [](machine& m) { return m.t_.select(m.operand(0), m.dimension(1)); }},
            {"expand", [](machine& m) { return m.operand(0).expand(m.sizes(1)); }},
            {"reshape", [](machine& m) { return m.t_.reshape(m.operand(0), m.sizes(1)); }},
            {"contiguous", [](machine& m) { return m.t_.contiguous(m.operand(0)); }},
            {"contiguous_format", [](machine& m) { return m.t_.to_contiguous_format(m.operand(0)); }},
            {"clone", [](machine& m) { return m.t_.clone(m.operand(0)); }},
            {"bfloat16", [](machine& m) { return m.t_.to(m.operand(0), dtype::bfloat16); }},
            {"float32", [](machine& m) { return m.t_.to(m.operand(0), dtype::float32); }},
            {"repeat_interleave",
             [](machine& m) { return m.t_.repeat_interleave(m.operand(0), m.dimension(1), m.integer(2)); }},
            {"cat",
             [](machine& m) {
                 return m.t_.cat({m.operand(0), m.operand(1)}, m.dimension(2));
             }},
            {"pad", [](machine& m) { return m.t_.pad(m.operand(0), m.dimension(1), m.integer(2)); }},
            {"index_select", [](machine& m) { return m.gathered(); }},
            {"gather_along", [](machine& m) { return m.gathered_along(); }},
            {"masked_fill", [](machine& m) { return m.t_.masked_fill(m.operand(0)); }},
            {"top_k", [](machine& m) { return m.t_.topk(m.operand(0), m.integer(1)); }},
            {"pow", [](machine& m) { return m.t_.pow(m.operand(0), static_cast<unsigned>(m.integer(1))); }},
            {"add_", [](machine& m) { return m.in_place(op::add); }},
            {"mul_", [](machine& m) { return m.in_place(op::mul); }},
            {"div_", [](machine& m) { return m.in_place(op::div); }},
            {"mul_scalar_", [](machine& m) { return m.in_place_scalar(op::mul); }},
            {"div_scalar_", [](machine& m) { return m.in_place_scalar(op::div); }},
            {"clamp_", [](machine& m) { return m.in_place_scalar(op::clamp); }},
            {"index_add_",
             [](machine& m) {
                 m.t_.index_add(m.operand(0), m.operand(1));
                 return m.operand(0);
             }},
            {"sum", [](machine& m) { return m.t_.sum(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"mean", [](machine& m) { return m.t_.mean(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"log_sigmoid", [](machine& m) { return m.t_.log_sigmoid(m.operand(0)); }},
            {"std", [](machine& m) { return m.t_.std(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"variance", [](machine& m) { return m.t_.var(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"logsumexp", [](machine& m) { return m.t_.logsumexp(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"vector_norm",
             [](machine& m) { return m.t_.vector_norm(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"max", [](machine& m) { return m.t_.amax(m.operand(0), m.dimension(1), m.integer(2) != 0); }},
            {"cumsum", [](machine& m) { return m.t_.cumsum(m.operand(0), m.dimension(1)); }},
            {"complex_mul",
             [](machine& m) {
                 return m.t_.binary(op::complex_mul, m.operand(0).view_as_complex(), m.operand(1).view_as_complex())
                     .view_as_real();
             }},
            {"softmax", [](machine& m) { return m.t_.softmax(m.operand(0)); }},
            {"log_softmax", [](machine& m) { return m.t_.log_softmax(m.operand(0)); }},
            {"layer_norm", [](machine& m) { return m.normed(); }},
            {"batch_norm", [](machine& m) { return m.normed_by_channel(); }},
            {"group_norm", [](machine& m) { return m.normed_by_group(); }},
            {"average_pool", [](machine& m) { return m.pooled(op::average_pool); }},
            {"max_pool", [](machine& m) { return m.pooled(op::max_pool); }},
            {"bilinear", [](machine& m) { return m.t_.bilinear(m.operand(0), m.integer(1), m.integer(2)); }},
            {"mean_of_images", [](machine& m) { return m.t_.mean_of_images(m.operand(0)); }},
            {"norm_over_places", [](machine& m) { return m.t_.norm_over_places(m.operand(0)); }},
            {"pad_images", [](machine& m) { return m.t_.pad_images(m.operand(0), m.integer(1), m.integer(2)); }},
            {"linear", [](machine& m) { return m.projected(); }},
            {"matmul", [](machine& m) { return m.t_.matmul(m.operand(0), m.operand(1)); }},
            {"bmm", [](machine& m) { return m.t_.bmm(m.operand(0), m.operand(1)); }},
            {"addmm",
             [](machine& m) {
                 const tensor bias = m.vector(m.operand(1).dim(1));
                 return m.t_.addmm(bias, m.operand(0), m.operand(1));
             }},
            {"conv1d", [](machine& m) { return m.convolved(); }},
            {"conv2d", [](machine& m) { return m.convolved(); }},
            {"baddbmm", [](machine& m) { return m.t_.bmm(op::batched_matmul_bias, m.operand(0), m.operand(1)); }},
            {"baddbmm_scaled",
             [](machine& m) { return m.t_.bmm(op::batched_matmul_bias_scaled, m.operand(0), m.operand(1)); }},
            {"bmm_scaled", [](machine& m) { return m.t_.bmm(op::batched_matmul_scaled, m.operand(0), m.operand(1)); }},
            {"solve", [](machine& m) { return m.t_.solve_triangular(m.operand(0), m.operand(1)); }},
        };
    }

    trace t_;
    std::map<std::string, tensor> values_;
    const std::vector<std::string>* arguments_ = nullptr;
};

/// The totals of a program in the order of its last line.
[[nodiscard]] inline std::vector<std::uint64_t> totals_of(const trace_totals& sums) {
    const primitives<count> forward = primitives_of(sums), backward_cost = backward(sums);
    std::vector<std::uint64_t> all;
    for (const primitives<count>& p : {forward, backward_cost})
        for (const auto primitive : primitive_members<count>) all.push_back((p.*primitive).to_64());
    for (const count n : {torch_flops(sums), sums.backward_torch_flops, sums.saved_bytes}) all.push_back(n.to_64());
    return all;
}

inline constexpr const char* total_names[] = {"ADD",           "MULT",
                                              "DIV",           "SQRT",
                                              "EXP",           "LOG",
                                              "TANH",          "ERF",
                                              "TRIG",          "POW",
                                              "NEG",           "CMP",
                                              "backward ADD",  "backward MULT",
                                              "backward DIV",  "backward SQRT",
                                              "backward EXP",  "backward LOG",
                                              "backward TANH", "backward ERF",
                                              "backward TRIG", "backward POW",
                                              "backward NEG",  "backward CMP",
                                              "torch FORWARD", "torch BACKWARD",
                                              "SAVED"};

}  // namespace llmcost::testing
