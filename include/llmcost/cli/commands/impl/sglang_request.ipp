// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/sglang_request.hpp>

#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/engine_memory_options.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/sglang_options.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/sglang_memory.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>

namespace llmcost::cli::detail {

LLMCOST_INLINE engine_version_number parse_sglang_version(std::string_view text) {
    if (text.empty()) return newest_sglang;
    std::string_view rest = text.front() == 'v' ? text.substr(1) : text;
    engine_version_number version;
    std::size_t parsed = 0;
    for (int& number : version.numbers) {
        const auto [end, problem] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
        if (problem != std::errc{}) break;
        ++parsed;
        rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
        if (rest.empty() || rest.front() != '.') break;
        rest.remove_prefix(1);
    }
    if (parsed == 0)
        throw_usage(option::memory_engine_version.name, "expected a version such as 0.5.9, found " + quote(text));
    return version == engine_version_number{} ? newest_sglang : version;
}

LLMCOST_INLINE sglang_options parse_sglang_options(const arguments& args, const engine_memory_profile& profile) {
    sglang_options options;
    if (!profile.has_token_pools) {
        for (const option_spec& o : sglang_option_specs)
            if (args.has(o)) throw_usage(o.name, "supported only with --engine sglang");
        return options;
    }
    constexpr double smallest = 1e-3;
    options.version = parse_sglang_version(args.text(option::memory_engine_version));
    options.mem_fraction_static = args.real(option::mem_fraction_static, 0, smallest, 1);
    options.chunked_prefill_size = args.number(option::memory_chunked_prefill_size, 0);
    options.cuda_graph_max_bs = args.number(option::cuda_graph_max_bs, 0);
    options.max_total_tokens = args.number(option::max_total_tokens, 0);
    options.max_running_requests = args.number(option::memory_max_running_requests, 0);
    options.max_mamba_cache_size = args.number(option::max_mamba_cache_size, 0);
    options.mamba_full_memory_ratio =
        args.real(option::mamba_full_memory_ratio, options.mamba_full_memory_ratio, smallest, 1e3);
    options.swa_full_tokens_ratio =
        args.real(option::swa_full_tokens_ratio, options.swa_full_tokens_ratio, smallest, 1);
    options.page_size = args.number(option::memory_page_size, options.page_size);
    options.has_radix_cache = !args.has(option::memory_disable_radix_cache);
    return options;
}

LLMCOST_INLINE std::string sglang_log(const inference_memory& memory, const sglang_pools& pools,
                                      const sglang_defaults& defaults, std::int64_t context_length) {
    const auto gib = [](count bytes) {
        return formatted("%.2f", static_cast<double>(bytes) / static_cast<double>(std::uint64_t{1} << 30)) + " GB";
    };
    std::string text = "  mem_fraction_static=" + formatted("%.3f", defaults.mem_fraction_static) +
                       "\n  Load weight end. mem usage=" + gib(memory.weight_bytes + memory.table_bytes) + '\n';
    if (pools.mamba_slots > 0)
        text += "  Mamba Cache is allocated. max_mamba_cache_size: " + std::to_string(pools.mamba_slots) +
                ", state size: " + gib(pools.mamba_bytes) + '\n';
    text += "  KV Cache is allocated. #tokens: " + std::to_string(pools.max_total_num_tokens);
    if (pools.swa_num_tokens > 0) text += ", swa tokens: " + std::to_string(pools.swa_num_tokens);
    text += ", KV size: " + gib(pools.kv_bytes) + '\n';
    text += "  max_total_num_tokens=" + std::to_string(pools.max_total_num_tokens) +
            ", chunked_prefill_size=" + std::to_string(defaults.chunked_prefill_size) +
            ", max_running_requests=" + std::to_string(pools.max_running_requests);
    if (context_length > 0) text += ", context_len=" + std::to_string(context_length);
    return text + '\n';
}

LLMCOST_INLINE void write_sglang_pools(json_writer& json, const sglang_pools& pools, const sglang_defaults& defaults) {
    json.key("pools")
        .object()
        .member("mem_fraction_static", defaults.mem_fraction_static)
        .member("chunked_prefill_size", defaults.chunked_prefill_size)
        .member("cuda_graph_max_bs", defaults.cuda_graph_max_bs)
        .member("max_total_num_tokens", pools.max_total_num_tokens)
        .member("swa_num_tokens", pools.swa_num_tokens)
        .member("max_mamba_cache_size", pools.mamba_slots)
        .member("max_running_requests", pools.max_running_requests)
        .member("kv_cache", pools.kv_bytes)
        .member("mamba_cache", pools.mamba_bytes)
        .member("req_to_token", pools.req_to_token_bytes)
        .end_object();
}

}  // namespace llmcost::cli::detail
