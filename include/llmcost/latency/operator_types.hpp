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
#include <llmcost/latency/operator_type.hpp>  // IWYU pragma: export
#include <llmcost/latency/roofline.hpp>
#include <llmcost/latency/vector_units.hpp>

namespace llmcost {

namespace detail {

inline constexpr operator_size key_value_heads{
    .name = "num_key_value_heads", .role = size_role::layer_shape, .required = true, .multiple_size = "num_heads"};
/// Draft tokens of a sequence, which the step verifies.
inline constexpr operator_size draft_tokens{.name = "draft", .role = size_role::additive};
/// Cached tokens before those of a prompt.
inline constexpr operator_size past_tokens{.name = "step", .role = size_role::additive, .is_past_length = true};
/// Elements, up to the size of a device's memory.
inline constexpr operator_size message_size{
    .name = "message_size", .role = size_role::axis, .required = true, .maximum = std::int64_t{1} << 40};
inline constexpr operator_size num_gpus{
    .name = "num_gpus", .role = size_role::layer_shape, .required = true, .minimum = 2};

// Names of variants.

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

// Columns have the names of measurement tables (docs/latency.md).
//
// Default efficiencies are medians of the fitted kernels, and intervals are the widest of a device. Exceptions:
//
// - norm, softmax, elementwise: the bandwidth is the median of all kernels (7, 5, 60). The launch is that of vLLM's
// eight
//   elementwise kernels, whose tables include small sizes and exclude host time. p is 2, as these compute almost
//   nothing. Rows in 16 bits with host time (LLMCompass) are not in the intervals. elementwise has one per operation.
// - batched_gemm: five kernels in float32. The launch is that of gemm, as theirs includes host time.
// - linear_attention: Qwen3-Next's shape on H20 (alibaba/InferSim @f2293dab, gdn: five prefill kernels, one decode
//   kernel). The interval is from 1/2 to 3 times the prediction.
inline constexpr operator_type operator_families[]{
    {.name = "gemm",
     .help = "a matrix product (m, k) x (k, n)",
     .operand_column = "gemm_dtype",
     .sizes = {{.name = "m", .role = size_role::axis, .required = true},
               {.name = "n", .role = size_role::layer_shape, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true}},
     .size_count = 3,
     .num_axes = 1,
     .num_layer_shape_sizes = 2,
     .work = detail::gemm_work,
     .default_efficiency = {.roofline_model = {.launch = 3.3e-6,
                                               .compute_efficiency = 0.78,
                                               .bandwidth_efficiency = 0.82,
                                               .smoothness = 2.5},
                            .interval = {-0.49, 0.61}},
     .quantized_efficiency = {.roofline_model = {.launch = 13.3e-6,
                                                 .compute_efficiency = 0.65,
                                                 .bandwidth_efficiency = 0.81,
                                                 .smoothness = 1.2},
                              .interval = {-1.13, 2.36}},
     .backward = backward_rule::products,
     .companion_type = "computescale"},
    {.name = "batched_gemm",
     .help = "a batch of products of activations (m, k) x (k, n)",
     .operand_column = "gemm_dtype",
     .sizes = {{.name = "batch_size", .role = size_role::axis, .required = true},
               {.name = "m", .role = size_role::axis, .required = true},
               {.name = "n", .role = size_role::layer_shape, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true}},
     .size_count = 4,
     .num_axes = 2,
     .num_layer_shape_sizes = 2,
     .work = detail::batched_gemm_work,
     .default_efficiency = {.roofline_model = {.launch = 3.3e-6,
                                               .compute_efficiency = 0.85,
                                               .bandwidth_efficiency = 0.59,
                                               .smoothness = 3.2},
                            .interval = {-0.43, 1.4}},
     .quantized_efficiency = {.roofline_model = {.launch = 13.3e-6,
                                                 .compute_efficiency = 0.65,
                                                 .bandwidth_efficiency = 0.81,
                                                 .smoothness = 1.2},
                              .interval = {-1.13, 2.36}}},
    {.name = "context_attention",
     .help = "fused attention, prefill",
     .operand_column = "attn_dtype",
     .variant_column = "kv_cache_dtype",
     .fallback_variant = "bfloat16",
     .variants = {.get = detail::operand_names},
     .sizes = {{.name = "batch_size", .role = size_role::axis, .default_value = 1},
               {.name = "isl", .role = size_role::axis, .required = true},
               {.name = "num_heads", .role = size_role::layer_shape, .required = true},
               detail::key_value_heads,
               {.name = "head_dim", .role = size_role::layer_shape, .default_value = 128},
               {.name = "window_size", .role = size_role::layer_shape},
               detail::past_tokens},
     .size_count = 7,
     .num_axes = 2,
     .num_layer_shape_sizes = 4,
     .work = detail::context_attention_work,
     .default_efficiency = {.roofline_model = {.launch = 12.2e-6,
                                               .compute_efficiency = 0.6,
                                               .bandwidth_efficiency = 0.32,
                                               .smoothness = 1.13},
                            .interval = {-1.18, 1.65}},
     .quantized_efficiency = {.roofline_model = {.launch = 12.4e-6,
                                                 .compute_efficiency = 0.32,
                                                 .bandwidth_efficiency = 0.36,
                                                 .smoothness = 1.19},
                              .interval = {-1.18, 1.65}},
     .backward = backward_rule::attention},
    {.name = "generation_attention",
     .help = "fused attention, decode",
     .operand_column = "attn_dtype",
     .variant_column = "kv_cache_dtype",
     .fallback_variant = "bfloat16",
     .variants = {.get = detail::operand_names},
     .sizes = {{.name = "batch_size", .role = size_role::axis, .default_value = 1},
               {.name = "step", .role = size_role::axis, .required = true, .is_past_length = true},
               {.name = "num_heads", .role = size_role::layer_shape, .required = true},
               detail::key_value_heads,
               {.name = "head_dim", .role = size_role::layer_shape, .default_value = 128},
               {.name = "window_size", .role = size_role::layer_shape},
               detail::draft_tokens},
     .size_count = 7,
     .num_axes = 2,
     .num_layer_shape_sizes = 4,
     .work = detail::generation_attention_work,
     .default_efficiency = {.roofline_model = {.launch = 12.9e-6,
                                               .compute_efficiency = 0.81,
                                               .bandwidth_efficiency = 0.63,
                                               .smoothness = 7.7},
                            .interval = {-0.71, 2.24}},
     .quantized_efficiency = {.roofline_model = {.launch = 12.9e-6,
                                                 .compute_efficiency = 0.81,
                                                 .bandwidth_efficiency = 0.63,
                                                 .smoothness = 7.7},
                              .interval = {-0.71, 2.24}},
     .backward = backward_rule::attention},
    {.name = "full_attention",
     .help = "fused bidirectional attention",
     .operand_column = "attn_dtype",
     .sizes = {{.name = "batch_size", .role = size_role::axis, .default_value = 1},
               {.name = "isl", .role = size_role::axis, .required = true},
               {.name = "num_heads", .role = size_role::layer_shape, .required = true},
               detail::key_value_heads,
               {.name = "head_dim", .role = size_role::layer_shape, .default_value = 128},
               {.name = "length", .role = size_role::work_only, .required = true}},
     .size_count = 6,
     .num_axes = 2,
     .num_layer_shape_sizes = 3,
     .work = detail::full_attention_work,
     .default_efficiency = {.roofline_model = {.launch = 12.2e-6,
                                               .compute_efficiency = 0.6,
                                               .bandwidth_efficiency = 0.32,
                                               .smoothness = 1.13},
                            .interval = {-1.18, 1.65}},
     .quantized_efficiency = {.roofline_model = {.launch = 12.4e-6,
                                                 .compute_efficiency = 0.32,
                                                 .bandwidth_efficiency = 0.36,
                                                 .smoothness = 1.19},
                              .interval = {-1.18, 1.65}},
     .backward = backward_rule::attention},
    {.name = "context_mla",
     .help = "multi-head latent attention, prefill",
     .operand_column = "mla_dtype",
     .variant_column = "kv_cache_dtype",
     .fallback_variant = "bfloat16",
     .variants = {.get = detail::operand_names},
     .sizes = {{.name = "batch_size", .role = size_role::axis, .default_value = 1},
               {.name = "isl", .role = size_role::axis, .required = true},
               {.name = "num_heads", .role = size_role::layer_shape, .required = true},
               detail::past_tokens},
     .size_count = 4,
     .num_axes = 2,
     .num_layer_shape_sizes = 1,
     .work = detail::context_mla_work,
     .default_efficiency = {.roofline_model = {.launch = 18.4e-6,
                                               .compute_efficiency = 0.61,
                                               .bandwidth_efficiency = 0.42,
                                               .smoothness = 1.26},
                            .interval = {-0.34, 0.54}},
     .quantized_efficiency = {.roofline_model = {.launch = 18.4e-6,
                                                 .compute_efficiency = 0.61,
                                                 .bandwidth_efficiency = 0.42,
                                                 .smoothness = 1.26},
                              .interval = {-0.34, 0.54}},
     .backward = backward_rule::attention},
    {.name = "generation_mla",
     .help = "multi-head latent attention, decode",
     .operand_column = "mla_dtype",
     .variant_column = "kv_cache_dtype",
     .fallback_variant = "bfloat16",
     .variants = {.get = detail::operand_names},
     .sizes = {{.name = "batch_size", .role = size_role::axis, .default_value = 1},
               {.name = "step", .role = size_role::axis, .required = true, .is_past_length = true},
               {.name = "num_heads", .role = size_role::layer_shape, .required = true},
               detail::draft_tokens},
     .size_count = 4,
     .num_axes = 2,
     .num_layer_shape_sizes = 1,
     .work = detail::generation_mla_work,
     .default_efficiency = {.roofline_model = {.launch = 14.4e-6,
                                               .compute_efficiency = 0.72,
                                               .bandwidth_efficiency = 0.73,
                                               .smoothness = 5},
                            .interval = {-0.36, 1.02}},
     .quantized_efficiency = {.roofline_model = {.launch = 14.4e-6,
                                                 .compute_efficiency = 0.72,
                                                 .bandwidth_efficiency = 0.73,
                                                 .smoothness = 5},
                              .interval = {-0.36, 1.02}},
     .backward = backward_rule::attention},
    {.name = "linear_attention",
     .help = "linear attention with one state per head",
     .operand_column = "dtype",
     .variant_column = "rule",
     .default_variant = "decay",
     .variants = {.get = detail::scale_rule_names},
     .sizes =
         {{.name = "batch_size", .role = size_role::axis, .default_value = 1},
          {.name = "isl", .role = size_role::axis, .default_value = 1},
          {.name = "num_heads", .role = size_role::layer_shape, .required = true},
          {.name = "num_key_heads", .role = size_role::layer_shape, .required = true, .multiple_size = "num_heads"},
          {.name = "key_dim", .role = size_role::layer_shape, .default_value = 128},
          {.name = "value_dim", .role = size_role::layer_shape, .default_value = 128},
          {.name = "chunk", .role = size_role::work_only, .default_value = 64}},
     .size_count = 7,
     .num_axes = 2,
     .num_layer_shape_sizes = 4,
     .work = detail::linear_attention_work,
     .default_efficiency = {.roofline_model = {.launch = 10e-6,
                                               .compute_efficiency = 0.3,
                                               .bandwidth_efficiency = 0.55,
                                               .smoothness = 1.5},
                            .interval = {-1, 1.5}},
     .quantized_efficiency = {.roofline_model = {.launch = 10e-6,
                                                 .compute_efficiency = 0.3,
                                                 .bandwidth_efficiency = 0.55,
                                                 .smoothness = 1.5},
                              .interval = {-1, 1.5}}},
    {.name = "moe",
     .help = "fused routed experts on one device",
     .operand_column = "moe_dtype",
     .variant_column = "distribution",
     .default_variant = "balanced",
     .fallback_variant = "balanced",
     .variants = {.get = detail::distribution_names},
     .sizes =
         {{.name = "num_tokens", .role = size_role::axis, .required = true},
          {.name = "hidden_size", .role = size_role::layer_shape, .required = true},
          {.name = "inter_size", .role = size_role::layer_shape, .required = true},
          {.name = "topk", .role = size_role::layer_shape, .required = true, .upper_bound_size = "num_experts"},
          {.name = "num_experts", .role = size_role::layer_shape, .required = true},
          {.name = "moe_tp_size", .role = size_role::layer_shape, .default_value = 1, .multiple_size = "inter_size"},
          {.name = "moe_ep_size", .role = size_role::layer_shape, .default_value = 1, .multiple_size = "num_experts"}},
     .size_count = 7,
     .num_axes = 1,
     .num_layer_shape_sizes = 6,
     .work = detail::moe_work,
     .default_efficiency = {.roofline_model = {.launch = 54.3e-6,
                                               .compute_efficiency = 0.68,
                                               .bandwidth_efficiency = 1.4,
                                               .smoothness = 0.56},
                            .interval = {-1.09, 2.07}},
     .quantized_efficiency = {.roofline_model = {.launch = 60.2e-6,
                                                 .compute_efficiency = 0.33,
                                                 .bandwidth_efficiency = 1.28,
                                                 .smoothness = 0.54},
                              .interval = {-1.09, 2.07}},
     .backward = backward_rule::two_times_forward,
     .has_engine_specific_experts = true},
    {.name = "nccl",
     .help = "a collective; message_size in elements",
     .operand_column = "nccl_dtype",
     .variant_column = "op_name",
     .default_variant = "all_reduce",
     .variants = {.get = detail::collective_names},
     .sizes = {detail::message_size, detail::num_gpus},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::collective_work,
     .default_efficiency = {.roofline_model = {.launch = 10.7e-6,
                                               .compute_efficiency = 1,
                                               .bandwidth_efficiency = 0.52,
                                               .smoothness = 1.5},
                            .interval = {-0.84, 2.28}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 10.9e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.49, .smoothness = 2},
          .interval = {-0.84, 2.28}},
     .backward = backward_rule::same_as_forward,
     .companion_type = "custom_allreduce",
     .companion_variant = "all_reduce"},
    {.name = "custom_allreduce",
     .help = "custom all-reduce of an engine; message_size in elements",
     .operand_column = "allreduce_dtype",
     .sizes = {detail::message_size, detail::num_gpus},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::all_reduce_work,
     .default_efficiency = {.roofline_model = {.launch = 4.7e-6,
                                               .compute_efficiency = 1,
                                               .bandwidth_efficiency = 0.68,
                                               .smoothness = 1.2},
                            .interval = {-0.58, 2.15}},
     .quantized_efficiency = {.roofline_model = {.launch = 4.7e-6,
                                                 .compute_efficiency = 1,
                                                 .bandwidth_efficiency = 0.68,
                                                 .smoothness = 1.2},
                              .interval = {-0.58, 2.15}},
     .backward = backward_rule::same_as_forward},
    {.name = "network",
     .help = "a step of a collective between nodes; message_size in elements",
     .operand_column = "nccl_dtype",
     .sizes = {detail::message_size,
               {.name = "num_nodes", .role = size_role::layer_shape, .required = true},
               {.name = "num_gpus", .role = size_role::layer_shape, .default_value = 8}},
     .size_count = 3,
     .num_axes = 1,
     .num_layer_shape_sizes = 2,
     .work = detail::network_work,
     .default_efficiency =
         {.roofline_model = {.launch = 5e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.9, .smoothness = 8},
          .interval = {-1, 1}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 5e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.9, .smoothness = 8},
          .interval = {-1, 1}},
     .backward = backward_rule::same_as_forward},
    {.name = "computescale",
     .help = "scales for the quantization of a matrix",
     .operand_column = "quant_dtype",
     .sizes = {{.name = "m", .role = size_role::axis, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true}},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::read_work,
     .default_efficiency =
         {.roofline_model = {.launch = 7e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.36, .smoothness = 8},
          .interval = {-0.36, 0.32}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 7e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.36, .smoothness = 8},
          .interval = {-0.36, 0.32}}},
    {.name = "scale_matrix",
     .help = "quantization of a matrix with known scales",
     .operand_column = "quant_dtype",
     .sizes = {{.name = "m", .role = size_role::axis, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true}},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::quantise_work,
     .default_efficiency = {.roofline_model = {.launch = 1.3e-6,
                                               .compute_efficiency = 1,
                                               .bandwidth_efficiency = 1.07,
                                               .smoothness = 2.6},
                            .interval = {-0.36, 0.31}},
     .quantized_efficiency = {.roofline_model = {.launch = 1.3e-6,
                                                 .compute_efficiency = 1,
                                                 .bandwidth_efficiency = 1.07,
                                                 .smoothness = 2.6},
                              .interval = {-0.36, 0.31}}},
    {.name = "norm",
     .help = "a fused norm of m rows of k",
     .operand_column = "dtype",
     .sizes = {{.name = "m", .role = size_role::axis, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true}},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::row_work,
     .default_efficiency =
         {.roofline_model = {.launch = 2.1e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.66, .smoothness = 2},
          .interval = {-0.37, 1.04}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 2.1e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.66, .smoothness = 2},
          .interval = {-0.37, 1.04}}},
    {.name = "softmax",
     .help = "a softmax of m rows of k",
     .operand_column = "dtype",
     .sizes = {{.name = "m", .role = size_role::axis, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true}},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::row_work,
     .default_efficiency =
         {.roofline_model = {.launch = 2.1e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.71, .smoothness = 2},
          .interval = {-0.29, 0.82}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 2.1e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.71, .smoothness = 2},
          .interval = {-0.29, 0.82}}},
    {.name = "elementwise",
     .help = "an elementwise operation on m rows of k; moved: elements read and written; "
             "additions, products: arithmetic of fused sums",
     .operand_column = "dtype",
     .variant_column = "operation",
     .default_variant = "map",
     .fallback_variant = "map",
     .variants = {.get = detail::operation_names, .accepts_other_names = true},
     .sizes = {{.name = "m", .role = size_role::axis, .required = true},
               {.name = "k", .role = size_role::layer_shape, .required = true},
               {.name = "moved", .role = size_role::work_only},
               {.name = "additions", .role = size_role::work_only},
               {.name = "products", .role = size_role::work_only}},
     .size_count = 5,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::map_work,
     .default_efficiency =
         {.roofline_model = {.launch = 2.1e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.84, .smoothness = 2}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 2.1e-6, .compute_efficiency = 1, .bandwidth_efficiency = 0.84, .smoothness = 2}},
     .backward = backward_rule::two_times_forward,
     .interval_of_variant = detail::around_map},
    {.name = "primitive",
     .help = "n sequential operations in each thread",
     .operand_column = "dtype",
     .variant_column = "operation",
     .default_variant = "add",
     .variants = {.get = detail::primitive_names},
     .sizes = {{.name = "n", .role = size_role::axis, .required = true},
               {.name = "threads", .role = size_role::layer_shape, .default_value = 1}},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::primitive_work,
     .default_efficiency =
         {.roofline_model = {.launch = 2e-6, .compute_efficiency = 1, .bandwidth_efficiency = 1, .smoothness = 2},
          .interval = {-1, 6}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 2e-6, .compute_efficiency = 1, .bandwidth_efficiency = 1, .smoothness = 2},
          .interval = {-1, 6}}},
    {.name = "launch",
     .help = "an empty kernel; among: kernels in the sequence; issued: stream (launched one by one) or graph (one CUDA "
             "graph)",
     .operand_column = "dtype",
     .variant_column = "issued",
     .default_variant = "stream",
     .variants = {.get = detail::launch_mode_names},
     .sizes = {{.name = "among", .role = size_role::axis, .default_value = 1, .is_launch_count = true},
               {.name = "blocks", .role = size_role::layer_shape, .default_value = 1}},
     .size_count = 2,
     .num_axes = 1,
     .num_layer_shape_sizes = 1,
     .work = detail::launch_work,
     .default_efficiency =
         {.roofline_model = {.launch = 4e-6, .compute_efficiency = 1, .bandwidth_efficiency = 1, .smoothness = 2},
          .interval = {-1, 1}},
     .quantized_efficiency =
         {.roofline_model = {.launch = 4e-6, .compute_efficiency = 1, .bandwidth_efficiency = 1, .smoothness = 2},
          .interval = {-1, 1}}},
};

/// The operator type with a name; nullptr if there is none.
[[nodiscard]] constexpr const operator_type* find_operator_type(string_ref name) noexcept {
    for (const operator_type& f : operator_families)
        if (f.name == name) return &f;
    return nullptr;
}

}  // namespace llmcost
