// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include <llmcost/cli/placement.hpp>
#include <llmcost/simulation/scheduling.hpp>

// How an engine is started, by its own options: vLLM 0.33.0 (engine/arg_utils.py), SGLang 0.5.23 (server_args.py),
// TensorRT-LLM 1.3.0 (commands/serve.py).
namespace llmcost::cli {

namespace detail {

[[nodiscard]] inline std::string with_number(const char* option, std::int64_t n) {
    return ' ' + std::string(option) + ' ' + std::to_string(n);
}
[[nodiscard]] inline std::string where_several(const char* option, std::int64_t n) {
    return n > 1 ? with_number(option, n) : std::string();
}

/// A checkpoint of wider weights, quantised when it is loaded: what vLLM and SGLang do by themselves.
[[nodiscard]] inline const char* quantised_on_loading(const placement& p, bool quantises) {
    const bool loads = p.by.name == string_ref("vllm") || p.by.name == string_ref("sglang");
    return quantises && loads && p.how.products->name == string_ref("fp8") ? " --quantization fp8" : "";
}
[[nodiscard]] inline std::string vllm_command(const std::string& model, const sharding& s, std::int64_t stages,
                                              const scheduling_policy& p) {
    return "vllm serve " + model + with_number("--tensor-parallel-size", s.tensor) +
           where_several("--pipeline-parallel-size", stages) + where_several("--data-parallel-size", s.data) +
           (s.expert > 1 ? " --enable-expert-parallel" : "") + with_number("--max-num-batched-tokens", p.tokens_per_step) +
           with_number("--max-num-seqs", p.sequences);
}
/// Where groups with requests of their own share experts, `--tp` counts the devices of all of them.
[[nodiscard]] inline std::string sglang_command(const std::string& model, const sharding& s, std::int64_t stages,
                                                const scheduling_policy& p, bool shares) {
    return "python -m sglang.launch_server --model-path " + model + with_number("--tp", shares ? s.devices() : s.tensor) +
           where_several("--pp-size", stages) + where_several("--dp-size", s.data) +
           (shares && s.data > 1 ? " --enable-dp-attention" : "") + where_several("--ep-size", s.expert) +
           with_number("--chunked-prefill-size", p.tokens_per_step) + with_number("--max-running-requests", p.sequences);
}
[[nodiscard]] inline std::string trtllm_command(const std::string& model, const sharding& s, std::int64_t stages,
                                                const scheduling_policy& p, bool shares) {
    return "trtllm-serve " + model + with_number("--tp_size", shares ? s.devices() : s.tensor) +
           where_several("--pp_size", stages) + (shares && s.data > 1 ? " --enable_attention_dp" : "") +
           where_several("--ep_size", s.expert) + with_number("--max_num_tokens", p.tokens_per_step) +
           with_number("--max_batch_size", p.sequences);
}

}  // namespace detail

/// How an engine of a placement is started, its layers on so many stages of devices; `quantises`: its weights are in another
/// type than the checkpoint's.
[[nodiscard]] inline std::string start_command(const placement& p, std::int64_t stages, const scheduling_policy& policy,
                                               bool quantises = false) {
    const std::string model(p.who.name);
    const sharding& s = p.how.shards;
    const bool narrow = p.how.cache->weight_bytes < 2;
    if (p.by.name == string_ref("vllm"))
        return detail::vllm_command(model, s, stages, policy) + detail::quantised_on_loading(p, quantises) +
               (narrow ? " --kv-cache-dtype fp8" : "");
    const bool shares = p.subject.dims.moe.num_experts > 1;
    if (p.by.name == string_ref("sglang"))
        return detail::sglang_command(model, s, stages, policy, shares) + detail::quantised_on_loading(p, quantises) +
               (narrow ? " --kv-cache-dtype fp8_e4m3" : "");
    return detail::trtllm_command(model, s, stages, policy, shares) + (narrow ? " --kv_cache_dtype fp8" : "");
}

}  // namespace llmcost::cli
