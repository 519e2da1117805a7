// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <llmcost/base/string_ref.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/latency/elementwise.hpp>
#include <llmcost/latency/kernel_work_formulas.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/latency/roofline.hpp>
#include <llmcost/latency/vector_units.hpp>

namespace llmcost {

/// What a size of an operator is to a calibration.
enum class size_role : std::uint8_t {
    axis,         ///< grows with the workload: times are interpolated along it, on a logarithmic scale
    layer_shape,  ///< belongs to a layer: deviations are those of the same layer, or of near ones
    work_only,    ///< in the work only
    additive      ///< like it, and adds to what is measured without it
};

/// A size of an operator, as tables and options call it.
struct operator_size {
    string_ref name{};
    size_role role = size_role::work_only;
    std::int64_t default_value = 0;  ///< where nobody says; 0 for `given` and windows, whose zero means none
    bool required = false;
    bool is_past_length = false;    ///< tokens that stand before the new ones
    bool is_launch_count = false;   ///< of the kernel, one behind the other
    string_ref upper_bound_size{};  ///< the size of the same operator that it does not pass
    string_ref multiple_size{};     ///< the size of the same operator that it divides without a rest
    std::int64_t minimum = 1;       ///< but 0 where that is what nobody says
    std::int64_t maximum = max_input;
};

/// What backward executes of an operator, by what forward did.
enum class backward_rule : std::uint8_t {
    two_times_forward,  ///< as much for each of two inputs
    products,           ///< of (m, k) x (k, n) the products (m, n) x (n, k) and (n, m) x (m, k)
    attention,          ///< fused: five products instead of two (FlashAttention-2, arXiv 2307.08691, section 3.1.2)
    same_as_forward     ///< a sum over devices becomes another one
};

/// Efficiencies of a kernel that nobody has measured on this device.
struct default_efficiency_model {
    roofline roofline_model{};
    typical_interval interval{};  ///< over every measured device
};

inline constexpr std::size_t max_operator_sizes = 7;

/// The words of a family's `variant_column`.
struct variant_names {
    string_ref (*get)(std::size_t i) = nullptr;  ///< the known ones; empty behind the last
    bool accepts_other_names = false;            ///< mean something, too
};

/// A kind of operator: its sizes, axes first, then those of a site; its words; its work.
struct operator_type {
    string_ref name;
    string_ref help;
    string_ref operand_column;
    string_ref variant_column;    ///< what else tells kernels apart; empty: nothing
    string_ref default_variant;   ///< empty: as the operand
    string_ref fallback_variant;  ///< the variant whose kernel runs where another's was not measured; empty: no other
    variant_names variants;
    operator_size sizes[max_operator_sizes];
    std::size_t size_count;
    std::size_t num_axes;
    std::size_t num_layer_shape_sizes;
    kernel_work (*work)(const std::int64_t* sizes, const operand_type& operand, string_ref variant);
    default_efficiency_model default_efficiency;
    default_efficiency_model quantized_efficiency;  ///< where activations are quantised inside of the operator
    backward_rule backward = backward_rule::two_times_forward;
    string_ref companion_type{};     ///< another family: an engine's own form of it, or what it computes scales by
    string_ref companion_variant{};  ///< the variant that has it; empty: every one
    typical_interval (*interval_of_variant)(string_ref variant) = nullptr;  ///< of each variant where they differ
    bool has_engine_specific_experts = false;  ///< an engine has kernels of their own for them

    /// The size that adds to what is measured without it; `size_count` where there is none.
    [[nodiscard]] constexpr std::size_t additive_size_index() const noexcept {
        std::size_t i = num_axes + num_layer_shape_sizes;
        while (i < size_count && sizes[i].role != size_role::additive) ++i;
        return i;
    }
};

namespace detail {

inline constexpr operator_size key_value_heads{
    .name = "num_key_value_heads", .role = size_role::layer_shape, .required = true, .multiple_size = "num_heads"};
/// Queries of a sequence beside its newest token's: those of tokens that somebody proposes and this step checks.
inline constexpr operator_size draft_tokens{.name = "draft", .role = size_role::additive};
/// Tokens whose keys and values are there before those of a prompt.
inline constexpr operator_size past_tokens{.name = "step", .role = size_role::additive, .is_past_length = true};
/// Elements, as many as a device's memory has.
inline constexpr operator_size message_size{
    .name = "message_size", .role = size_role::axis, .required = true, .maximum = std::int64_t{1} << 40};
inline constexpr operator_size num_gpus{
    .name = "num_gpus", .role = size_role::layer_shape, .required = true, .minimum = 2};

// ---- words

template <std::size_t n>
constexpr string_ref name_at(const string_ref (&names)[n], std::size_t i) noexcept {
    return i < n ? names[i] : string_ref{};
}
template <class Row, std::size_t n>
constexpr string_ref name_at(const Row (&rows)[n], string_ref Row::*name, std::size_t i) noexcept {
    return i < n ? rows[i].*name : string_ref{};
}
constexpr string_ref operand_names(std::size_t i) { return name_at(operand_types, &operand_type::name, i); }
constexpr string_ref operation_names(std::size_t i) {
    return name_at(elementwise_operations, &elementwise_operation::name, i);
}
constexpr string_ref primitive_names(std::size_t i) { return name_at(vector_costs, &vector_cost::name, i); }
constexpr string_ref distribution_names(std::size_t i) {
    return name_at({"balanced", "power_law_1.01", "power_law_1.2"}, i);
}
constexpr string_ref collective_names(std::size_t i) {
    return name_at({"all_gather", "all_reduce", "alltoall", "reduce_scatter"}, i);
}
constexpr string_ref scale_rule_names(std::size_t i) { return name_at({"decay", "delta"}, i); }
constexpr string_ref launch_mode_names(std::size_t i) { return name_at({"graph", "stream"}, i); }

}  // namespace detail

// Columns as measurement tables name them (docs/latency.md). Typical constants: medians of the fitted kernels;
// intervals: the widest of a device's rows by them. Of norm, softmax and elementwise the bandwidth is the median of all
// their kernels (7, 5, 60), the launch that of vLLM's eight elementwise ones, whose tables reach down to one row and
// leave the host's launch out; p stays at 2, as these compute next to nothing. Their rows with the host's launch in 16
// bits (LLMCompass) are not in the intervals; elementwise has one for each operation. Of batched_gemm: five kernels in
// float32, the launch that of gemm, as theirs is the host's. Of linear_attention: Qwen3-Next's shape on H20
// (alibaba/InferSim @f2293dab, gdn: five kernels of a prompt, one of a token), between 1/2 and 3 times that.
// clang-format off
inline constexpr operator_type operator_families[]{
    {"gemm", "a matrix product (m, k) x (k, n)", "gemm_dtype", "", "", "", {},
     {{"m", size_role::axis, 0, true}, {"n", size_role::layer_shape, 0, true}, {"k", size_role::layer_shape, 0, true}}, 3, 1, 2,
     detail::gemm_work, {{3.3e-6, 0.78, 0.82, 2.5}, {-0.49, 0.61}}, {{13.3e-6, 0.65, 0.81, 1.2}, {-1.13, 2.36}},
     backward_rule::products, "computescale"},
    {"batched_gemm", "products of activations, a batch of (m, k) x (k, n)", "gemm_dtype", "", "", "", {},
     {{"batch_size", size_role::axis, 0, true}, {"m", size_role::axis, 0, true}, {"n", size_role::layer_shape, 0, true},
      {"k", size_role::layer_shape, 0, true}}, 4, 2, 2,
     detail::batched_gemm_work, {{3.3e-6, 0.85, 0.59, 3.2}, {-0.43, 1.4}}, {{13.3e-6, 0.65, 0.81, 1.2}, {-1.13, 2.36}}},
    {"context_attention", "attention of whole prompts, fused", "attn_dtype", "kv_cache_dtype", "", "bfloat16", {detail::operand_names},
     {{"batch_size", size_role::axis, 1, false}, {"isl", size_role::axis, 0, true},
      {"num_heads", size_role::layer_shape, 0, true}, detail::key_value_heads,
      {"head_dim", size_role::layer_shape, 128, false}, {"window_size", size_role::layer_shape, 0, false},
      detail::past_tokens}, 7, 2, 4,
     detail::context_attention_work, {{12.2e-6, 0.6, 0.32, 1.13}, {-1.18, 1.65}}, {{12.4e-6, 0.32, 0.36, 1.19}, {-1.18, 1.65}},
     backward_rule::attention},
    {"generation_attention", "attention of one new token each, fused", "attn_dtype", "kv_cache_dtype", "", "bfloat16", {detail::operand_names},
     {{"batch_size", size_role::axis, 1, false}, {"step", size_role::axis, 0, true, true},
      {"num_heads", size_role::layer_shape, 0, true}, detail::key_value_heads,
      {"head_dim", size_role::layer_shape, 128, false}, {"window_size", size_role::layer_shape, 0, false}, detail::draft_tokens}, 7, 2, 4,
     detail::generation_attention_work, {{12.9e-6, 0.81, 0.63, 7.7}, {-0.71, 2.24}}, {{12.9e-6, 0.81, 0.63, 7.7}, {-0.71, 2.24}},
     backward_rule::attention},
    {"full_attention", "attention of all to all, fused", "attn_dtype", "", "", "", {},
     {{"batch_size", size_role::axis, 1, false}, {"isl", size_role::axis, 0, true},
      {"num_heads", size_role::layer_shape, 0, true}, detail::key_value_heads,
      {"head_dim", size_role::layer_shape, 128, false}, {"length", size_role::work_only, 0, true}}, 6, 2, 3,
     detail::full_attention_work, {{12.2e-6, 0.6, 0.32, 1.13}, {-1.18, 1.65}}, {{12.4e-6, 0.32, 0.36, 1.19}, {-1.18, 1.65}},
     backward_rule::attention},
    {"context_mla", "multi-head latent attention of whole prompts", "mla_dtype", "kv_cache_dtype", "", "bfloat16", {detail::operand_names},
     {{"batch_size", size_role::axis, 1, false}, {"isl", size_role::axis, 0, true},
      {"num_heads", size_role::layer_shape, 0, true}, detail::past_tokens}, 4, 2, 1,
     detail::context_mla_work, {{18.4e-6, 0.61, 0.42, 1.26}, {-0.34, 0.54}}, {{18.4e-6, 0.61, 0.42, 1.26}, {-0.34, 0.54}},
     backward_rule::attention},
    {"generation_mla", "multi-head latent attention of one new token each", "mla_dtype", "kv_cache_dtype", "", "bfloat16", {detail::operand_names},
     {{"batch_size", size_role::axis, 1, false}, {"step", size_role::axis, 0, true, true},
      {"num_heads", size_role::layer_shape, 0, true}, detail::draft_tokens}, 4, 2, 1,
     detail::generation_mla_work, {{14.4e-6, 0.72, 0.73, 5}, {-0.36, 1.02}}, {{14.4e-6, 0.72, 0.73, 5}, {-0.36, 1.02}},
     backward_rule::attention},
    {"linear_attention", "attention by a state per head", "dtype", "rule", "decay", "", {detail::scale_rule_names},
     {{"batch_size", size_role::axis, 1, false}, {"isl", size_role::axis, 1, false}, {"num_heads", size_role::layer_shape, 0, true},
      {.name = "num_key_heads", .role = size_role::layer_shape, .required = true, .multiple_size = "num_heads"},
      {"key_dim", size_role::layer_shape, 128, false}, {"value_dim", size_role::layer_shape, 128, false},
      {"chunk", size_role::work_only, 64, false}}, 7, 2, 4,
     detail::linear_attention_work, {{10e-6, 0.3, 0.55, 1.5}, {-1, 1.5}}, {{10e-6, 0.3, 0.55, 1.5}, {-1, 1.5}}},
    {"moe", "routed experts on one device, fused", "moe_dtype", "distribution", "balanced", "balanced", {detail::distribution_names},
     {{"num_tokens", size_role::axis, 0, true}, {"hidden_size", size_role::layer_shape, 0, true},
      {"inter_size", size_role::layer_shape, 0, true},
      {.name = "topk", .role = size_role::layer_shape, .required = true, .upper_bound_size = "num_experts"},
      {"num_experts", size_role::layer_shape, 0, true},
      {.name = "moe_tp_size", .role = size_role::layer_shape, .default_value = 1, .multiple_size = "inter_size"},
      {.name = "moe_ep_size", .role = size_role::layer_shape, .default_value = 1, .multiple_size = "num_experts"}}, 7, 1, 6,
     detail::moe_work, {{54.3e-6, 0.68, 1.4, 0.56}, {-1.09, 2.07}}, {{60.2e-6, 0.33, 1.28, 0.54}, {-1.09, 2.07}},
     backward_rule::two_times_forward, {}, {}, nullptr, true},
    {"nccl", "a collective; message_size in elements", "nccl_dtype", "op_name", "all_reduce", "", {detail::collective_names},
     {detail::message_size, detail::num_gpus}, 2, 1, 1,
     detail::collective_work, {{10.7e-6, 1, 0.52, 1.5}, {-0.84, 2.28}}, {{10.9e-6, 1, 0.49, 2}, {-0.84, 2.28}},
     backward_rule::same_as_forward, "custom_allreduce", "all_reduce"},
    {"custom_allreduce", "an engine's own all-reduce; message_size in elements", "allreduce_dtype", "", "", "", {},
     {detail::message_size, detail::num_gpus}, 2, 1, 1,
     detail::all_reduce_work, {{4.7e-6, 1, 0.68, 1.2}, {-0.58, 2.15}}, {{4.7e-6, 1, 0.68, 1.2}, {-0.58, 2.15}},
     backward_rule::same_as_forward},
    {"network", "a step of a collective between nodes; message_size in elements", "nccl_dtype", "", "", "", {},
     {detail::message_size, {"num_nodes", size_role::layer_shape, 0, true}, {"num_gpus", size_role::layer_shape, 8, false}}, 3, 1, 2,
     detail::network_work, {{5e-6, 1, 0.9, 8}, {-1, 1}}, {{5e-6, 1, 0.9, 8}, {-1, 1}},
     backward_rule::same_as_forward},
    {"computescale", "the scales of a matrix to be quantised", "quant_dtype", "", "", "", {},
     {{"m", size_role::axis, 0, true}, {"k", size_role::layer_shape, 0, true}}, 2, 1, 1,
     detail::read_work, {{7e-6, 1, 0.36, 8}, {-0.36, 0.32}}, {{7e-6, 1, 0.36, 8}, {-0.36, 0.32}}},
    {"scale_matrix", "a matrix quantised by known scales", "quant_dtype", "", "", "", {},
     {{"m", size_role::axis, 0, true}, {"k", size_role::layer_shape, 0, true}}, 2, 1, 1,
     detail::quantise_work, {{1.3e-6, 1, 1.07, 2.6}, {-0.36, 0.31}}, {{1.3e-6, 1, 1.07, 2.6}, {-0.36, 0.31}}},
    {"norm", "a norm of m rows of k, fused", "dtype", "", "", "", {},
     {{"m", size_role::axis, 0, true}, {"k", size_role::layer_shape, 0, true}}, 2, 1, 1,
     detail::row_work, {{2.1e-6, 1, 0.66, 2}, {-0.37, 1.04}}, {{2.1e-6, 1, 0.66, 2}, {-0.37, 1.04}}},
    {"softmax", "a softmax of m rows of k", "dtype", "", "", "", {},
     {{"m", size_role::axis, 0, true}, {"k", size_role::layer_shape, 0, true}}, 2, 1, 1,
     detail::row_work, {{2.1e-6, 1, 0.71, 2}, {-0.29, 0.82}}, {{2.1e-6, 1, 0.71, 2}, {-0.29, 0.82}}},
    {"elementwise", "m rows of k, each element by itself; moved: elements read and written, additions and products "
     "of sums: what is computed",
     "dtype", "operation", "map", "map", {detail::operation_names, true},
     {{"m", size_role::axis, 0, true}, {"k", size_role::layer_shape, 0, true}, {"moved", size_role::work_only, 0, false},
      {"additions", size_role::work_only, 0, false}, {"products", size_role::work_only, 0, false}}, 5, 1, 1,
     detail::map_work, {{2.1e-6, 1, 0.84, 2}}, {{2.1e-6, 1, 0.84, 2}}, backward_rule::two_times_forward, {}, {}, detail::around_map},
    {"primitive", "n operations one behind the other in each of so many threads", "dtype", "operation", "add", "", {detail::primitive_names},
     {{"n", size_role::axis, 0, true}, {"threads", size_role::layer_shape, 1, false}}, 2, 1, 1,
     detail::primitive_work, {{2e-6, 1, 1, 2}, {-1, 6}}, {{2e-6, 1, 1, 2}, {-1, 6}}},
    {"launch", "an empty kernel among so many; on a stream the host issues each, in a graph none", "dtype", "issued", "stream", "", {detail::launch_mode_names},
     {{.name = "among", .role = size_role::axis, .default_value = 1, .is_launch_count = true},
      {"blocks", size_role::layer_shape, 1, false}}, 2, 1, 1,
     detail::no_work, {{4e-6, 1, 1, 2}, {-1, 1}}, {{4e-6, 1, 1, 2}, {-1, 1}}},
};
// clang-format on

/// The family of a name; nullptr where there is none.
[[nodiscard]] constexpr const operator_type* find_operator_type(string_ref name) noexcept {
    for (const operator_type& f : operator_families)
        if (f.name == name) return &f;
    return nullptr;
}

/// One operator: its family, its sizes in the family's order, its words.
struct operator_shape {
    const operator_type* type = nullptr;
    std::int64_t sizes[max_operator_sizes]{};
    const operand_type* operand = nullptr;
    string_ref variant{};
    [[nodiscard]] constexpr kernel_work work() const { return type->work(sizes, *operand, variant); }
    [[nodiscard]] constexpr const std::int64_t* layer_shape() const noexcept { return sizes + type->num_axes; }
    /// A size by its name; 0 where the family has none.
    [[nodiscard]] constexpr std::int64_t size(string_ref name) const noexcept {
        for (std::size_t i = 0; i < type->size_count; ++i)
            if (type->sizes[i].name == name) return sizes[i];
        return 0;
    }
};

}  // namespace llmcost
