// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/base/string_ref.hpp>

// Written by tests/oracle/tensor_parallel_plans.py from Transformers 5.23.0.
namespace llmcost {

// clang-format off
/// How a module or a parameter is divided by tensor parallelism, by the name that Transformers has for it.
///
/// Source: transformers/distributed/tensor_parallel.py, `ALL_PARALLEL_STYLES`.
enum class tensor_parallel_style : std::uint8_t {
    none, all_reduce, colwise, colwise_gather_output, embedding_colwise, embedding_rowwise, local_params, mla_kv_a_proj, moe_identity_expert, moe_tp_experts, packed_colwise, packed_rowwise, replicate, replicated_with_grad_allreduce, rowwise, rowwise_split_input
};

/// A rule of a plan: a pattern of module or parameter names, in which `*` is the index of a layer.
struct tensor_parallel_rule {
    literal pattern;
    tensor_parallel_style style;
};

inline constexpr tensor_parallel_rule tensor_parallel_rules_0[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_1[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_2[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_3[]{{}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_4[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_rowwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_5[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_6[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_gate_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_7[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn", tensor_parallel_style::local_params}, {"layers.*.self_attn.gate_bias", tensor_parallel_style::colwise}, {"layers.*.self_attn.gate_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_8[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_9[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_10[]{{"layers.*.mlp.fc1", tensor_parallel_style::colwise}, {"layers.*.mlp.fc2", tensor_parallel_style::rowwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_11[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_12[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_13[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_b_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_14[]{{"layers.*.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_15[]{{"layers.*.mlp.down_embed", tensor_parallel_style::embedding_rowwise}, {"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.router_gate", tensor_parallel_style::colwise_gather_output}, {"layers.*.mlp.up_embed", tensor_parallel_style::embedding_rowwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.dt_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_16[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_17[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.g_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_rope_only_layernorm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_b_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_18[]{{"blocks.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"blocks.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"blocks.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_19[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_20[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.text_moe.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.text_moe.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.text_moe.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.vision_moe.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.vision_moe.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.vision_moe.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_21[]{{"blocks.*.mlp.fc1", tensor_parallel_style::colwise}, {"blocks.*.mlp.fc2", tensor_parallel_style::rowwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_22[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_23[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_24[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_25[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_expert.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_expert.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_expert.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_26[]{{"encoder.layers.*.mlp.down_proj.linear", tensor_parallel_style::rowwise}, {"encoder.layers.*.mlp.gate_proj.linear", tensor_parallel_style::colwise}, {"encoder.layers.*.mlp.up_proj.linear", tensor_parallel_style::colwise}, {"encoder.layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"encoder.layers.*.self_attn.k_proj.linear", tensor_parallel_style::colwise}, {"encoder.layers.*.self_attn.o_proj.linear", tensor_parallel_style::rowwise}, {"encoder.layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"encoder.layers.*.self_attn.q_proj.linear", tensor_parallel_style::colwise}, {"encoder.layers.*.self_attn.v_proj.linear", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_27[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.mlp.gate_up_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_28[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_b_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_29[]{{"layers.*.attention.dense", tensor_parallel_style::rowwise}, {"layers.*.attention.query_key_value", tensor_parallel_style::colwise}, {"layers.*.mlp.dense_4h_to_h", tensor_parallel_style::rowwise}, {"layers.*.mlp.dense_h_to_4h", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_30[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn", tensor_parallel_style::local_params}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.sinks", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_31[]{{"layers.*.block_sparse_moe.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.block_sparse_moe.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.block_sparse_moe.experts.gate_up_proj", tensor_parallel_style::packed_colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_32[]{{"layers.*.block_sparse_moe.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.block_sparse_moe.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.block_sparse_moe.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.self_attn", tensor_parallel_style::local_params}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.sinks", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_33[]{{"H_module.layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"H_module.layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"H_module.layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"H_module.layers.*.self_attn.gate_proj", tensor_parallel_style::colwise}, {"H_module.layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"H_module.layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"H_module.layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"H_module.layers.*.self_attn.v_proj", tensor_parallel_style::colwise}, {"L_module.layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"L_module.layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"L_module.layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"L_module.layers.*.self_attn.gate_proj", tensor_parallel_style::colwise}, {"L_module.layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"L_module.layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"L_module.layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"L_module.layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_34[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn", tensor_parallel_style::local_params}, {"layers.*.self_attn.gate_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.sinks", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_35[]{{"embed_tokens", tensor_parallel_style::replicate}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_36[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts", tensor_parallel_style::all_reduce}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_37[]{{"layers.*.feed_forward.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.feed_forward.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.feed_forward.experts.gate_up_proj", tensor_parallel_style::packed_colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_38[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_39[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_experts.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_experts.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.g_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_40[]{{"multi_modal_projector.linear_1", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_41[]{{"layers.*.feed_forward.down_proj", tensor_parallel_style::rowwise}, {"layers.*.feed_forward.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.feed_forward.experts.down_proj", tensor_parallel_style::colwise}, {"layers.*.feed_forward.experts.gate_up_proj", tensor_parallel_style::packed_rowwise}, {"layers.*.feed_forward.gate_proj", tensor_parallel_style::colwise}, {"layers.*.feed_forward.shared_expert.down_proj", tensor_parallel_style::rowwise}, {"layers.*.feed_forward.shared_expert.gate_proj", tensor_parallel_style::colwise}, {"layers.*.feed_forward.shared_expert.up_proj", tensor_parallel_style::colwise}, {"layers.*.feed_forward.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_42[]{{"model.layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"model.layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"model.layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"model.layers.*.self_attn.v_proj", tensor_parallel_style::colwise}, {"patch_embedding.linear", tensor_parallel_style::colwise_gather_output}, {"vision_adapter.mlp.fc1", tensor_parallel_style::colwise}, {"vision_adapter.mlp.fc2", tensor_parallel_style::rowwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_43[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.experts.identity_expert", tensor_parallel_style::moe_identity_expert}, {"layers.*.mlps.*.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlps.*.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlps.*.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.*.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.*.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.*.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.*.q_b_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_44[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn", tensor_parallel_style::local_params}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.sinks", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_45[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.kv_a_proj_with_mqa", tensor_parallel_style::mla_kv_a_proj}, {"layers.*.self_attn.kv_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_b_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_46[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_47[]{{"vision_adapter.fc1", tensor_parallel_style::colwise}, {"vision_adapter.fc2", tensor_parallel_style::rowwise}, {"vision_projection", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_48[]{{"encoder.fc", tensor_parallel_style::rowwise_split_input}, {"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_49[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.gate_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_50[]{{"layers.*.attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.attn.proj", tensor_parallel_style::rowwise}, {"layers.*.attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.attn.v_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.fc1", tensor_parallel_style::colwise}, {"layers.*.mlp.fc2", tensor_parallel_style::rowwise}, {"patch_embedder.patch_embedding", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_51[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.post_expert_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.mlp.pre_expert_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_52[]{{"embeddings", tensor_parallel_style::embedding_rowwise}, {"layers.*.mixer.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mixer.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mixer.experts.up_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_53[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.output_projection.gate_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.output_projection.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_54[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_55[]{{"layers.*.mlp.fc1", tensor_parallel_style::colwise}, {"layers.*.mlp.fc2", tensor_parallel_style::rowwise}, {"layers.*.self_attn.dense", tensor_parallel_style::rowwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_56[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.mlp.gate_up_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.self_attn.qkv_proj", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_57[]{{"layers.*.linear_attn.in_proj_a", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_b", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_qkv", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_z", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.out_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.shared_expert.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_expert.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_expert.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_58[]{{"layers.*.linear_attn.in_proj_a", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_b", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_qkv", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_z", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.out_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_59[]{{"layers.*.linear_attn.in_proj_ba", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_qkvz", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.out_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_expert.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_expert.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_expert.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.k_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_norm", tensor_parallel_style::replicated_with_grad_allreduce}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_60[]{{"hyper_connection_mixer.input_mix_weight_down", tensor_parallel_style::rowwise_split_input}, {"layers.*.attn_hyper_connection.input_mix_weight_down", tensor_parallel_style::rowwise_split_input}, {"layers.*.linear_attn.in_proj_a", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_b", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_qkv", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.in_proj_z", tensor_parallel_style::colwise_gather_output}, {"layers.*.linear_attn.out_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.mlp.shared_expert.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.shared_expert.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.shared_expert.up_proj", tensor_parallel_style::colwise}, {"layers.*.mlp_hyper_connection.input_mix_weight_down", tensor_parallel_style::rowwise_split_input}, {"layers.*.ple.ple_embedding.ngram_embedding", tensor_parallel_style::embedding_colwise}, {"layers.*.self_attn.indexer.index_qk_proj", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_61[]{{"layers.*.mlp.c_fc", tensor_parallel_style::colwise}, {"layers.*.mlp.c_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_62[]{{"layers.*.mlp.experts", tensor_parallel_style::moe_tp_experts}, {"layers.*.mlp.experts.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.experts.gate_up_proj", tensor_parallel_style::packed_colwise}, {"layers.*.self_attn.g_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.k_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.o_proj", tensor_parallel_style::rowwise_split_input}, {"layers.*.self_attn.q_proj", tensor_parallel_style::colwise_gather_output}, {"layers.*.self_attn.v_proj", tensor_parallel_style::colwise_gather_output}};
inline constexpr tensor_parallel_rule tensor_parallel_rules_63[]{{"layers.*.mlp.down_proj", tensor_parallel_style::rowwise}, {"layers.*.mlp.gate_proj", tensor_parallel_style::colwise}, {"layers.*.mlp.up_proj", tensor_parallel_style::colwise}};

/// The plan of a model type: rules relative to the base model, and the style of the head.
struct tensor_parallel_plan {
    literal model_type;
    const tensor_parallel_rule* rules;
    std::int32_t num_rules;
    tensor_parallel_style head;
};

inline constexpr tensor_parallel_plan tensor_parallel_plans[]{
    {"afmoe", tensor_parallel_rules_0, 3, tensor_parallel_style::colwise_gather_output},
    {"apertus", tensor_parallel_rules_1, 8, tensor_parallel_style::colwise_gather_output},
    {"arcee", tensor_parallel_rules_2, 6, tensor_parallel_style::colwise_gather_output},
    {"aria", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"aria_text", tensor_parallel_rules_4, 10, tensor_parallel_style::colwise_gather_output},
    {"axk1", tensor_parallel_rules_5, 9, tensor_parallel_style::colwise_gather_output},
    {"axk2", tensor_parallel_rules_6, 13, tensor_parallel_style::colwise_gather_output},
    {"aya_vision", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"bailing_hybrid", tensor_parallel_rules_5, 9, tensor_parallel_style::colwise_gather_output},
    {"bamba", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"beam", tensor_parallel_rules_7, 15, tensor_parallel_style::colwise_gather_output},
    {"cohere", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"cohere2", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"cohere2_moe", tensor_parallel_rules_9, 10, tensor_parallel_style::colwise_gather_output},
    {"cohere2_vision", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"cohere_compass", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"cohere_compass_text", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"cosmos3_edge", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"cosmos3_edge_text", tensor_parallel_rules_10, 6, tensor_parallel_style::none},
    {"cosmos3_omni", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"cwm", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"dbrx", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"deepseek_ocr2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"deepseek_ocr2_encoder", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"deepseek_ocr2_text", tensor_parallel_rules_11, 13, tensor_parallel_style::none},
    {"deepseek_v2", tensor_parallel_rules_12, 14, tensor_parallel_style::colwise_gather_output},
    {"deepseek_v3", tensor_parallel_rules_5, 9, tensor_parallel_style::colwise_gather_output},
    {"deepseek_v32", tensor_parallel_rules_13, 13, tensor_parallel_style::colwise_gather_output},
    {"deepseek_v4", tensor_parallel_rules_0, 3, tensor_parallel_style::colwise_gather_output},
    {"deepseek_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"deepseek_vl_hybrid", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"diffllama", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"diffusion_gemma", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"diffusion_gemma_text", tensor_parallel_rules_14, 12, tensor_parallel_style::none},
    {"doge", tensor_parallel_rules_15, 11, tensor_parallel_style::colwise_gather_output},
    {"dots1", tensor_parallel_rules_16, 15, tensor_parallel_style::colwise_gather_output},
    {"dots3_note", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"dots3_note_text", tensor_parallel_rules_17, 15, tensor_parallel_style::colwise_gather_output},
    {"dots3_note_vision_encoder", tensor_parallel_rules_18, 3, tensor_parallel_style::none},
    {"embedding_gemma2_text", tensor_parallel_rules_19, 10, tensor_parallel_style::none},
    {"emu3", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"ernie4_5", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"ernie4_5_moe", tensor_parallel_rules_11, 13, tensor_parallel_style::colwise_gather_output},
    {"ernie4_5_vl_moe", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"ernie4_5_vl_moe_text", tensor_parallel_rules_20, 16, tensor_parallel_style::none},
    {"ernie4_5_vl_moe_vision", tensor_parallel_rules_21, 2, tensor_parallel_style::none},
    {"esmc", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"eurobert", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"exaone4", tensor_parallel_rules_22, 9, tensor_parallel_style::colwise_gather_output},
    {"exaone4_5", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"exaone_moe", tensor_parallel_rules_23, 12, tensor_parallel_style::colwise_gather_output},
    {"falcon_h1", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"fast_vlm", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"flex_olmo", tensor_parallel_rules_24, 7, tensor_parallel_style::colwise_gather_output},
    {"flint", tensor_parallel_rules_25, 9, tensor_parallel_style::colwise_gather_output},
    {"florence2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"gemma2", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"gemma3", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma3_text", tensor_parallel_rules_22, 9, tensor_parallel_style::colwise_gather_output},
    {"gemma3n", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma3n_text", tensor_parallel_rules_19, 10, tensor_parallel_style::colwise_gather_output},
    {"gemma4", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma4_assistant", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma4_text", tensor_parallel_rules_14, 12, tensor_parallel_style::colwise_gather_output},
    {"gemma4_unified", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma4_unified_assistant", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gemma4_unified_text", tensor_parallel_rules_22, 9, tensor_parallel_style::colwise_gather_output},
    {"gemma4_vision", tensor_parallel_rules_26, 9, tensor_parallel_style::none},
    {"glm", tensor_parallel_rules_27, 6, tensor_parallel_style::colwise_gather_output},
    {"glm4", tensor_parallel_rules_27, 6, tensor_parallel_style::colwise_gather_output},
    {"glm46v", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"glm4_moe", tensor_parallel_rules_11, 13, tensor_parallel_style::colwise_gather_output},
    {"glm4_moe_lite", tensor_parallel_rules_28, 10, tensor_parallel_style::colwise_gather_output},
    {"glm4v", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"glm4v_moe", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"glm4v_moe_text", tensor_parallel_rules_11, 13, tensor_parallel_style::none},
    {"glm4v_text", tensor_parallel_rules_27, 6, tensor_parallel_style::none},
    {"glm5_next", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"glm5_next_text", tensor_parallel_rules_13, 13, tensor_parallel_style::none},
    {"glm_image_text", tensor_parallel_rules_27, 6, tensor_parallel_style::none},
    {"glm_moe_dsa", tensor_parallel_rules_13, 13, tensor_parallel_style::colwise_gather_output},
    {"glm_ocr", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"glm_ocr_text", tensor_parallel_rules_27, 6, tensor_parallel_style::none},
    {"glmga", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"got_ocr2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"gpt_neox", tensor_parallel_rules_29, 4, tensor_parallel_style::colwise_gather_output},
    {"gpt_oss", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"granite", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"granite4_vision", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"granite4_vision_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"granite_docling", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"granite_docling_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"granite_swa", tensor_parallel_rules_30, 9, tensor_parallel_style::colwise_gather_output},
    {"granitemoe", tensor_parallel_rules_31, 3, tensor_parallel_style::colwise_gather_output},
    {"granitemoe_swa", tensor_parallel_rules_32, 9, tensor_parallel_style::colwise_gather_output},
    {"granitemoehybrid", tensor_parallel_rules_31, 3, tensor_parallel_style::colwise_gather_output},
    {"granitemoeshared", tensor_parallel_rules_31, 3, tensor_parallel_style::colwise_gather_output},
    {"helium", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"higgs_audio_v2", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"hrm_text", tensor_parallel_rules_33, 16, tensor_parallel_style::colwise_gather_output},
    {"hunyuan_v1_dense", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"hunyuan_v1_moe", tensor_parallel_rules_0, 3, tensor_parallel_style::colwise_gather_output},
    {"hunyuan_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"hy_v3", tensor_parallel_rules_16, 15, tensor_parallel_style::colwise_gather_output},
    {"hy_v4", tensor_parallel_rules_34, 16, tensor_parallel_style::colwise_gather_output},
    {"hyperclovax", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"hyperclovax_vision_v2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"idefics2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"idefics3", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"inkling2", tensor_parallel_rules_3, 0, tensor_parallel_style::rowwise_split_input},
    {"inkling2_text", tensor_parallel_rules_35, 4, tensor_parallel_style::rowwise_split_input},
    {"inkling_mm_model", tensor_parallel_rules_3, 0, tensor_parallel_style::rowwise_split_input},
    {"inkling_text", tensor_parallel_rules_36, 10, tensor_parallel_style::rowwise_split_input},
    {"internlm3", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"internvl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"iquestcoder", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"jais2", tensor_parallel_rules_2, 6, tensor_parallel_style::colwise_gather_output},
    {"jamba", tensor_parallel_rules_37, 3, tensor_parallel_style::colwise_gather_output},
    {"janus", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"kimi_k25", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"kimi_linear", tensor_parallel_rules_5, 9, tensor_parallel_style::colwise_gather_output},
    {"kolibri1", tensor_parallel_rules_38, 12, tensor_parallel_style::colwise_gather_output},
    {"laguna", tensor_parallel_rules_39, 16, tensor_parallel_style::colwise_gather_output},
    {"lfm2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"lfm2_moe", tensor_parallel_rules_37, 3, tensor_parallel_style::colwise_gather_output},
    {"lfm2_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"lfm3", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"lfm3_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"lighton_ocr", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"llama", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"llama4", tensor_parallel_rules_40, 1, tensor_parallel_style::colwise_gather_output},
    {"llama4_text", tensor_parallel_rules_41, 13, tensor_parallel_style::colwise_gather_output},
    {"llama4_vision_model", tensor_parallel_rules_42, 7, tensor_parallel_style::none},
    {"llava", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"llava_next", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"llava_next_video", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"llava_onevision", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"longcat_flash", tensor_parallel_rules_43, 11, tensor_parallel_style::colwise_gather_output},
    {"mellum", tensor_parallel_rules_23, 12, tensor_parallel_style::colwise_gather_output},
    {"mimo_v2_flash", tensor_parallel_rules_44, 12, tensor_parallel_style::colwise_gather_output},
    {"minicpm3", tensor_parallel_rules_45, 8, tensor_parallel_style::colwise_gather_output},
    {"minicpm_ocr", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"minicpmv4_6", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"minicpmv4_7", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"minimax", tensor_parallel_rules_46, 7, tensor_parallel_style::colwise_gather_output},
    {"minimax_m2", tensor_parallel_rules_24, 7, tensor_parallel_style::colwise_gather_output},
    {"minimax_m3_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"minimax_m3_vl_text", tensor_parallel_rules_24, 7, tensor_parallel_style::colwise_gather_output},
    {"ministral", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"ministral3", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"mistral", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"mistral3", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"mistral4", tensor_parallel_rules_5, 9, tensor_parallel_style::colwise_gather_output},
    {"mistral_large4", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"mistral_large4_text", tensor_parallel_rules_5, 9, tensor_parallel_style::none},
    {"mixtral", tensor_parallel_rules_46, 7, tensor_parallel_style::colwise_gather_output},
    {"moss_transcribe_diarize", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"muse_glimmer", tensor_parallel_rules_47, 3, tensor_parallel_style::colwise_gather_output},
    {"muse_glimmer_assistant", tensor_parallel_rules_48, 8, tensor_parallel_style::none},
    {"muse_glimmer_text", tensor_parallel_rules_49, 8, tensor_parallel_style::none},
    {"muse_glimmer_vision", tensor_parallel_rules_50, 7, tensor_parallel_style::none},
    {"muse_spark", tensor_parallel_rules_47, 3, tensor_parallel_style::none},
    {"muse_spark_text", tensor_parallel_rules_51, 5, tensor_parallel_style::none},
    {"nanochat", tensor_parallel_rules_10, 6, tensor_parallel_style::colwise_gather_output},
    {"nemotron", tensor_parallel_rules_2, 6, tensor_parallel_style::colwise_gather_output},
    {"nemotron_h", tensor_parallel_rules_52, 4, tensor_parallel_style::none},
    {"neomme", tensor_parallel_rules_53, 7, tensor_parallel_style::none},
    {"olmo", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"olmo2", tensor_parallel_rules_54, 7, tensor_parallel_style::colwise_gather_output},
    {"olmo3", tensor_parallel_rules_54, 7, tensor_parallel_style::colwise_gather_output},
    {"olmo_hybrid", tensor_parallel_rules_54, 7, tensor_parallel_style::colwise_gather_output},
    {"olmoe", tensor_parallel_rules_24, 7, tensor_parallel_style::colwise_gather_output},
    {"ovis2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"paddleocr_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"paddleocr_vl_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"paligemma", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"perception_lm", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"phi", tensor_parallel_rules_55, 6, tensor_parallel_style::colwise_gather_output},
    {"phi3", tensor_parallel_rules_56, 4, tensor_parallel_style::colwise_gather_output},
    {"phi4_multimodal", tensor_parallel_rules_56, 4, tensor_parallel_style::colwise_gather_output},
    {"phimoe", tensor_parallel_rules_0, 3, tensor_parallel_style::colwise_gather_output},
    {"pp_chart2table", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"pp_formulanet", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qianfan_ocr", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen2", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"qwen2_5_omni_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"qwen2_5_omni_thinker", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen2_5_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen2_5_vl_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"qwen2_moe", tensor_parallel_rules_9, 10, tensor_parallel_style::colwise_gather_output},
    {"qwen2_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen2_vl_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"qwen3", tensor_parallel_rules_22, 9, tensor_parallel_style::colwise_gather_output},
    {"qwen3_5", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen3_5_moe", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen3_5_moe_text", tensor_parallel_rules_57, 17, tensor_parallel_style::colwise_gather_output},
    {"qwen3_5_text", tensor_parallel_rules_58, 14, tensor_parallel_style::colwise_gather_output},
    {"qwen3_moe", tensor_parallel_rules_23, 12, tensor_parallel_style::colwise_gather_output},
    {"qwen3_next", tensor_parallel_rules_59, 18, tensor_parallel_style::colwise_gather_output},
    {"qwen3_omni_moe_talker_code_predictor", tensor_parallel_rules_22, 9, tensor_parallel_style::none},
    {"qwen3_omni_moe_talker_text", tensor_parallel_rules_23, 12, tensor_parallel_style::none},
    {"qwen3_omni_moe_text", tensor_parallel_rules_9, 10, tensor_parallel_style::none},
    {"qwen3_omni_moe_thinker", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen3_vl", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen3_vl_moe", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen3_vl_moe_text", tensor_parallel_rules_9, 10, tensor_parallel_style::none},
    {"qwen4_exp", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"qwen4_exp_text", tensor_parallel_rules_60, 16, tensor_parallel_style::colwise_gather_output},
    {"seed_oss", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"shieldgemma2", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"smollm3", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"smolvlm", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"solar_open", tensor_parallel_rules_46, 7, tensor_parallel_style::colwise_gather_output},
    {"starcoder2", tensor_parallel_rules_61, 6, tensor_parallel_style::colwise_gather_output},
    {"step3p5", tensor_parallel_rules_62, 8, tensor_parallel_style::none},
    {"step3p7", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"t5_gemma_module", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"t5gemma2_decoder", tensor_parallel_rules_22, 9, tensor_parallel_style::none},
    {"t5gemma2_text", tensor_parallel_rules_22, 9, tensor_parallel_style::none},
    {"ultrabert", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"unlimited_ocr", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"unlimited_ocr_text", tensor_parallel_rules_11, 13, tensor_parallel_style::none},
    {"vaultgemma", tensor_parallel_rules_8, 7, tensor_parallel_style::colwise_gather_output},
    {"video_llama_3", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"video_llava", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"vipllava", tensor_parallel_rules_3, 0, tensor_parallel_style::colwise_gather_output},
    {"voxtral_realtime_text", tensor_parallel_rules_8, 7, tensor_parallel_style::none},
    {"youtu", tensor_parallel_rules_63, 3, tensor_parallel_style::colwise_gather_output},
};
// clang-format on

}  // namespace llmcost
