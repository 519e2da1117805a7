// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/pages/engine_command.hpp>

#include <cstdint>
#include <string>

#include <llmcost/base/inline.hpp>
#include <llmcost/base/string_ref.hpp>
#include <llmcost/cli/request/deployment.hpp>
#include <llmcost/latency/operand_types.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/parallel_config.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/serving/engines.hpp>
#include <llmcost/serving/model_kernel.hpp>
#include <llmcost/simulation/scheduling_policy.hpp>

namespace llmcost::cli::detail {

[[nodiscard]] LLMCOST_INLINE std::string append_if_set(const char* option, std::int64_t n) {
    return ' ' + std::string(option) + ' ' + std::to_string(n);
}

[[nodiscard]] LLMCOST_INLINE std::string append_if_above_one(const char* option, std::int64_t n) {
    return n > 1 ? append_if_set(option, n) : std::string();
}

LLMCOST_INLINE const char* load_time_quantization(const deployment& p, bool quantises) {
    const bool loads = p.engine.name == string_ref("vllm") || p.engine.name == string_ref("sglang");
    return quantises && loads && p.execution.linear_type->name == string_ref("fp8") ? " --quantization fp8" : "";
}

[[nodiscard]] LLMCOST_INLINE std::string vllm_command(const std::string& model, const parallel_config& s,
                                                      std::int64_t stages, const scheduling_policy& p) {
    return "vllm serve " + model + append_if_set("--tensor-parallel-size", s.tensor_parallel_size) +
           append_if_above_one("--pipeline-parallel-size", stages) +
           append_if_above_one("--data-parallel-size", s.data_parallel_size) +
           (s.expert_parallel_size > 1 ? " --enable-expert-parallel" : "") +
           append_if_set("--max-num-batched-tokens", p.max_num_batched_tokens) +
           append_if_set("--max-num-seqs", p.max_num_seqs);
}

/// The SGLang command. If data-parallel ranks share experts, `--tp` is the number of all devices.
[[nodiscard]] LLMCOST_INLINE std::string sglang_command(const std::string& model, const parallel_config& s,
                                                        std::int64_t stages, const scheduling_policy& p, bool shares) {
    return "python -m sglang.launch_server --model-path " + model +
           append_if_set("--tp", shares ? s.world_size() : s.tensor_parallel_size) +
           append_if_above_one("--pp-size", stages) + append_if_above_one("--dp-size", s.data_parallel_size) +
           (shares && s.data_parallel_size > 1 ? " --enable-dp-attention" : "") +
           append_if_above_one("--ep-size", s.expert_parallel_size) +
           append_if_set("--chunked-prefill-size", p.max_num_batched_tokens) +
           append_if_set("--max-running-requests", p.max_num_seqs);
}

[[nodiscard]] LLMCOST_INLINE std::string trtllm_command(const std::string& model, const parallel_config& s,
                                                        std::int64_t stages, const scheduling_policy& p, bool shares) {
    return "trtllm-serve " + model + append_if_set("--tp_size", shares ? s.world_size() : s.tensor_parallel_size) +
           append_if_above_one("--pp_size", stages) +
           (shares && s.data_parallel_size > 1 ? " --enable_attention_dp" : "") +
           append_if_above_one("--ep_size", s.expert_parallel_size) +
           append_if_set("--max_num_tokens", p.max_num_batched_tokens) +
           append_if_set("--max_batch_size", p.max_num_seqs);
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE std::string launch_command(const deployment& p, std::int64_t stages, const scheduling_policy& policy,
                                          bool quantises) {
    const std::string model(p.name_of_model.name);
    const parallel_config& s = p.execution.parallel;
    const bool has_quantized_cache = p.execution.kv_cache_type->weight_bytes < 2;
    if (p.engine.name == string_ref("vllm"))
        return detail::vllm_command(model, s, stages, policy) + detail::load_time_quantization(p, quantises) +
               (has_quantized_cache ? " --kv-cache-dtype fp8" : "");
    const bool shares = p.model.config.moe.num_experts > 1;
    if (p.engine.name == string_ref("sglang"))
        return detail::sglang_command(model, s, stages, policy, shares) + detail::load_time_quantization(p, quantises) +
               (has_quantized_cache ? " --kv-cache-dtype fp8_e4m3" : "");
    return detail::trtllm_command(model, s, stages, policy, shares) +
           (has_quantized_cache ? " --kv_cache_dtype fp8" : "");
}

}  // namespace llmcost::cli
