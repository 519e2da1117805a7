// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/cli/commands/memory.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/analysis/minimal_workload.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/maybe.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/cli/args/arguments.hpp>
#include <llmcost/cli/args/input_labels.hpp>
#include <llmcost/cli/args/options.hpp>
#include <llmcost/cli/args/streams.hpp>
#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/args/text.hpp>
#include <llmcost/cli/args/workload_request.hpp>
#include <llmcost/cli/commands/device_comparison.hpp>
#include <llmcost/cli/commands/llama_cpp_request.hpp>
#include <llmcost/cli/commands/sglang_request.hpp>
#include <llmcost/cli/commands/step_estimate.hpp>
#include <llmcost/cli/pages/device_table.hpp>
#include <llmcost/cli/pages/memory_pictures.hpp>
#include <llmcost/cli/pages/memory_sweep.hpp>
#include <llmcost/cli/pages/step_time.hpp>
#include <llmcost/cli/pages/sweep_plot.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/rank_options.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/cli/request/stored_weights.hpp>
#include <llmcost/cli/request/torch_options.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/inference.hpp>
#include <llmcost/memory/rank_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/report/chart.hpp>
#include <llmcost/report/json_report.hpp>
#include <llmcost/report/json_writer.hpp>
#include <llmcost/text/messages.hpp>
#include <llmcost/text/nearest_name.hpp>

namespace llmcost::cli::detail {

/// Parses `512,512,32768`. Throws: `usage` for a number below 1, or for more windows than a pattern has.
[[nodiscard]] LLMCOST_INLINE attention_window_pattern parse_attention_windows(std::string_view text) {
    const option_spec& o = option::max_attention_window;
    attention_window_pattern pattern;
    for (std::size_t begin = 0; begin <= text.size();) {
        const std::size_t end = std::min(text.find(',', begin), text.size());
        if (pattern.size == attention_window_pattern::max_size)
            throw_usage(o.name, "expected at most " + std::to_string(attention_window_pattern::max_size) + " windows");
        pattern.windows[pattern.size++] = parse_integer(o.name, text.substr(begin, end - begin), 1);
        begin = end + 1;
    }
    return pattern;
}

LLMCOST_INLINE engine_memory_profile parse_engine_memory_profile(const arguments& args) {
    std::string_view name = args.text(option::allocator, "vllm");
    if (name == torch_engine_name) name = "pytorch";
    const engine_memory_profile* const known = find_engine_memory_profile(name);
    if (known == nullptr) {
        name_suggestions near(name);
        for (const engine_memory_profile& e : engine_memory_profiles) near.add_candidate(e.name);
        throw_usage("--engine", "no engine " + quote(name) + near.suggestion_or_list());
    }
    engine_memory_profile out = *known;
    if (out.has_llama_cpp_buffers && !has_option(args.options(), option::gpu_layers.name))
        throw_usage("--engine", "llama.cpp is supported only by llmcost memory, fit, latency, serve, local and check");
    for (const option_spec& o : {option::utilization, option::memory_engine_version, option::memory_num_batched_tokens,
                                 option::memory_num_seqs})
        if (args.has(o) && out.max_num_seqs == 0 &&
            !(out.has_token_pools && std::string_view(o.name) == option::memory_engine_version.name))
            throw_usage(o.name, "supported only with --engine vllm");
    const device* const target_device = args.has(option::device) ? find_device(args.text(option::device)) : nullptr;
    const std::uint64_t device_bytes =
        target_device != nullptr   ? static_cast<std::uint64_t>(target_device->memory_bytes())
        : args.has(option::memory) ? read_bytes(option::memory.name, args.text(option::memory))
                                   : 0;
    out.sglang = parse_sglang_options(args, out);
    if (out.has_token_pools) out.max_num_batched_tokens = sglang_chunked_prefill_size(out.sglang, device_bytes);
    out = profile_with_defaults(
        out, args.text(option::memory_engine_version), device_bytes,
        target_device != nullptr ? std::string_view(target_device->names[0]) : std::string_view(),
        target_device != nullptr ? static_cast<std::int64_t>(target_device->num_compute_units) : 0);
    out.max_num_batched_tokens = args.number(option::memory_num_batched_tokens, out.max_num_batched_tokens);
    if (out.max_num_seqs > 0) out.max_num_seqs = args.number(option::memory_num_seqs, out.max_num_seqs);
    out.gpu_memory_utilization = args.real(option::utilization, out.gpu_memory_utilization, 1e-3, 1);
    for (const option_spec& o : {option::free_memory_fraction, option::tokens_per_block, option::max_attention_window})
        if (args.has(o) && !out.is_fraction_of_free_memory) throw_usage(o.name, "supported only with --engine trtllm");
    if (out.is_fraction_of_free_memory)
        out.gpu_memory_utilization = args.real(option::free_memory_fraction, out.gpu_memory_utilization, 1e-3, 1);
    if (args.has(option::tokens_per_block)) out.block_size = args.number(option::tokens_per_block, out.block_size);
    if (args.has(option::max_attention_window))
        out.attention_windows = parse_attention_windows(args.text(option::max_attention_window));
    if (!args.has(option::engine_memory)) return out;
    out.runtime_bytes = read_bytes(option::engine_memory.name, args.text(option::engine_memory));
    out.is_from_log = true;
    return out;
}

LLMCOST_INLINE engine_memory_profile profile_for_model(const engine_memory_profile& parsed, const arguments& args,
                                                       const model& m, const workload& load) {
    if (args.has(option::allocator) || args.has(option::utilization) || has_kv_cache(m) ||
        unit_of(m, load) == input_unit::token)
        return parsed;
    engine_memory_profile out = *find_engine_memory_profile("pytorch");
    if (parsed.is_from_log) out.runtime_bytes = parsed.runtime_bytes;
    out.is_from_log = parsed.is_from_log;
    return out;
}

LLMCOST_INLINE workload memory_workload(const arguments& args) {
    workload load;
    load.batch = args.number(option::batch, 1);
    load.sequence = args.number(option::sequence, 1024);
    load.past = args.number(option::past, 0, 0);
    load.encoder_sequence = args.number(option::encoder_sequence, 0, 0);
    parse_multimodal_inputs(args, load);
    load.weights = args.type(option::dtype);
    load.activations = args.type(option::activation_dtype);
    load.cache = args.type(option::cache_dtype);
    load.head = logits::last;
    return load;
}

LLMCOST_INLINE void warn_on_weights(const parsed_model& read, const streams& io) {
    require_known_layout(read);
    if (!read.stored.mismatch_warning.empty()) io.err << "llmcost: warning: " << read.stored.mismatch_warning << '\n';
}

LLMCOST_INLINE std::vector<memory_component> memory_components(const inference_memory& m) {
    return {{"weights", "weights", m.weight_bytes},
            {"tables", "engine tables", m.table_bytes},
            {"cache_allocated", "KV cache, as allocated", m.kv_cache_allocated_bytes},
            {"activations_peak", "activations, peak", m.peak_activation_bytes},
            {"runtime", "engine runtime", m.runtime_bytes},
            {"communication", "communication", m.communication_bytes}};
}

/// `2 sequences of 4,096 tokens`.
LLMCOST_INLINE std::string inputs_of(const parsed_model& read, const workload& load) {
    if (unit_of(read.subject, load) != input_unit::token) return input_label(read.subject, load);
    return std::to_string(load.batch) + (load.batch == 1 ? " sequence" : " sequences") + " of " +
           grouped(count(load.past) + count(load.sequence)) + " tokens";
}

/// The KV cache that fits, as the log of vLLM reports it; empty without a limit.
///
///     KV cache capacity: 70.7 GiB (0.92 of H100 SXM): 36,192 blocks of 16 tokens, 579,072 tokens
///     Maximum concurrency: 70.7 requests of 8,192 tokens
LLMCOST_INLINE std::string kv_cache_lines(const memory_request& request, const workload& load,
                                          const memory_response& response) {
    if (!request.limit.is_set() || !response.capacity) return {};
    if (!response.capacity->has_block_table) return {};
    const kv_cache_capacity& capacity = *response.capacity;
    const std::string concurrency = "Maximum concurrency: " + formatted("%.2f", capacity.max_concurrency) +
                                    " requests of " + grouped(count(load.past) + count(load.sequence)) + " tokens\n";
    if (response.pools)
        return "KV cache capacity: " + in_bytes(capacity.bytes) + " (" +
               formatted("%.3g", response.pool_defaults.mem_fraction_static) + " of " + request.limit.label +
               "): " + grouped(count(capacity.num_tokens)) + " tokens\n" + concurrency;
    const std::int64_t block_size = request.profile.block_size;
    const std::string blocks = grouped(count(capacity.num_blocks)) + (capacity.num_blocks == 1 ? " block" : " blocks");
    const std::string of_blocks =
        capacity.num_groups > 1 ? " for " + std::to_string(capacity.num_groups) + " groups of layers, "
                                : " of " + std::to_string(block_size) + (block_size == 1 ? " token, " : " tokens, ");
    return "KV cache capacity: " + in_bytes(capacity.bytes) + " (" +
           formatted("%.3g", request.profile.gpu_memory_utilization) +
           (request.profile.is_fraction_of_free_memory ? " of the free memory of " : " of ") + request.limit.label +
           "): " + blocks + of_blocks + grouped(count(capacity.num_tokens)) + " tokens\n" + concurrency;
}

/// The prediction as the log of vLLM prints it; empty without a limit.
///
///     Model loading took 14.99 GiB
///     Available KV cache memory: 51.33 GiB
///     GPU KV cache size: 420,496 tokens
///     Maximum concurrency for 8,192 tokens per request: 51.33x
/// Source: vllm/v1/worker/gpu_model_runner.py, gpu_worker.py; vllm/v1/core/kv_cache_utils.py.
LLMCOST_INLINE std::string vllm_log(const memory_request& request, const workload& load,
                                    const memory_response& response) {
    if (!request.profile.has_hybrid_cache_manager || !response.capacity || !response.capacity->has_block_table)
        return {};
    constexpr double gib = 1024.0 * 1024 * 1024;
    const count weights = response.memory.weight_bytes + response.memory.table_bytes;
    const kv_cache_capacity& capacity = *response.capacity;
    return "\n  Model loading took " + formatted("%.2f", static_cast<double>(weights) / gib) +
           " GiB\n  Available KV cache memory: " + formatted("%.2f", static_cast<double>(capacity.bytes) / gib) +
           " GiB\n  GPU KV cache size: " + grouped(count(capacity.num_tokens)) + " tokens\n  Maximum concurrency for " +
           grouped(count(load.past) + count(load.sequence)) +
           " tokens per request: " + formatted("%.2f", capacity.max_concurrency) + "x\n";
}

/// The pools of windows as the log of TensorRT-LLM lists them; empty without windows.
///
/// Source: tensorrt_llm/_torch/pyexecutor/resource_manager.py, `calculate_max_num_blocks_for_vswa`.
LLMCOST_INLINE std::string window_pool_log(const memory_response& response) {
    if (!response.capacity || response.capacity->window_pools.empty()) return {};
    std::string text = "\n";
    for (const window_pool& p : response.capacity->window_pools)
        text += "  Window size = " + std::to_string(p.window) + ", primary_blocks: " + std::to_string(p.num_blocks) +
                ", secondary_blocks: 0\n";
    return text;
}

/// `each rank of tp 8, pp 2`.
LLMCOST_INLINE std::string rank_label(const inference_sharding& s) {
    const std::int64_t replicas = s.has_dp_attention ? s.parallel.data_parallel_size : 1;
    std::string out = "each rank of tp " + std::to_string(s.parallel.tensor_parallel_size * replicas);
    for (const auto& [label, size] : {std::pair{"pp", s.pipeline_parallel_size},
                                      {"dp", s.parallel.data_parallel_size},
                                      {"ep", s.parallel.expert_parallel_size}})
        if (size > 1) out.append(", ").append(label).append(" ").append(std::to_string(size));
    if (s.has_dp_attention) out.append(", dp attention");
    return out;
}

/// `2 sequences of 4,096 tokens · vllm · bfloat16 weights · bfloat16 KV cache`.
LLMCOST_INLINE std::string memory_title(const memory_request& request, const parsed_model& read, const workload& load,
                                        const memory_response& response) {
    const inference_memory& m = response.memory;
    std::vector<std::string> parts{inputs_of(read, load)};
    if (request.profile.name != "none") parts.emplace_back(request.profile.name);
    const storage_types types = storage_types_of(read.subject, load);
    parts.push_back(read.stored.is_applied ? read.stored.label : std::string(name_of(types.weights)) + " weights");
    if (!read.head.empty()) parts.push_back("head " + read.head);
    if (request.sharding.world_size() > 1) parts.push_back(rank_label(request.sharding));
    if (!response.llama_cpp.devices.empty())
        parts.push_back(llama_cpp_cells(response.llama_cpp));
    else if (m.kv_cache_bytes != count{})
        parts.push_back(std::string(name_of(types.cache)) + " KV cache");
    if (read.subject.config.quantized && !read.stored.is_applied) parts.emplace_back("quantization_config not applied");
    return wrapped(parts, 80);
}

LLMCOST_INLINE std::string memory_page(const memory_request& request, const parsed_model& read, const workload& load,
                                       const memory_response& response) {
    const inference_memory& m = response.memory;
    std::string out = read.found.name_of_model.name + "\n" + memory_title(request, read, load, response) + "\nTotal " +
                      in_bytes(m.total_bytes());
    if (request.sharding.pipeline_parallel_size > 1)
        out += " in stage " + std::to_string(response.stage + 1) + ", layers " + std::to_string(response.layers.first) +
               " to " + std::to_string(response.layers.first + response.layers.size - 1);
    out += '\n';
    for (const memory_component& c : memory_components(m))
        if (c.bytes != count{})
            out += "  " + left(c.label, 28) + right(in_bytes(c.bytes), 9) +
                   right(percent(c.bytes, m.total_bytes()), 8) + "  " + bar_of(c.bytes, m.total_bytes(), 28) + '\n';
    if (m.kv_cache_bytes != m.kv_cache_allocated_bytes)
        out += "\nThe KV cache has " + in_bytes(m.kv_cache_bytes) +
               "; the engine allocates more for entire blocks and for tokens outside of sliding windows.\n";
    if (!response.llama_cpp.devices.empty()) out += '\n' + llama_cpp_log(response.llama_cpp);
    if (response.pools)
        out += '\n' + sglang_log(m, *response.pools, response.pool_defaults, read.subject.config.context_length());
    out += vllm_log(request, load, response) + window_pool_log(response);
    if (response.max_gpu_layers)
        out += "\nLargest --gpu-layers that fits: " + std::to_string(*response.max_gpu_layers) + " of " +
               std::to_string(read.subject.config.num_hidden_layers + 1) + '\n';
    const std::string fit = memory_fit_text(request.limit, response.limited_bytes());
    return fit.empty() ? out : out + '\n' + kv_cache_lines(request, load, response) + fit;
}

LLMCOST_INLINE table memory_table(const inference_memory& m) {
    table t{{{"part"}, {"bytes", true}}, {}};
    for (const memory_component& c : memory_components(m)) t.rows.push_back({std::string(c.name), digits(c.bytes)});
    t.rows.push_back({"total", digits(m.total_bytes())});
    return t;
}

LLMCOST_INLINE std::string memory_json(const memory_request& request, const parsed_model& read, const workload& load,
                                       const memory_response& response) {
    const inference_memory& m = response.memory;
    const maybe<kv_cache_capacity> cache =
        response.capacity && response.capacity->has_block_table ? response.capacity : maybe<kv_cache_capacity>{};
    json_writer json;
    json.object().member("model", read.found.name_of_model.name).member("engine", request.profile.name);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
    json.key("weights_as");
    read.stored.is_applied ? json.value(read.stored.label) : json.null();
    json.member("weights", m.weight_bytes)
        .member("cache", m.kv_cache_bytes)
        .member("cache_allocated", m.kv_cache_allocated_bytes);
    json.member("activations_peak", m.peak_activation_bytes)
        .member("runtime", m.runtime_bytes)
        .member("tables", m.table_bytes)
        .member("communication", m.communication_bytes)
        .member("total", m.total_bytes());
    json.member("gpu_memory_utilization", request.profile.gpu_memory_utilization);
    for (const auto& [name, n] : {std::pair{"cache_available", cache->bytes},
                                  {"cache_blocks", count(cache->num_blocks)},
                                  {"cache_tokens", count(cache->num_tokens)}}) {
        json.key(name);
        const bool has_several_pools =
            (response.pools && response.pools->swa_num_tokens > 0) || (cache && cache->window_pools.size() > 1);
        const bool is_undefined = !cache || (name == std::string_view("cache_blocks") && has_several_pools);
        is_undefined ? json.null() : json.value(n);
    }
    json.key("cache_concurrency");
    cache ? json.value(cache->max_concurrency) : json.null();
    if (!response.llama_cpp.devices.empty()) write_llama_cpp_buffers(json, response.llama_cpp);
    if (response.max_gpu_layers) json.member("max_gpu_layers", *response.max_gpu_layers);
    if (response.pools) write_sglang_pools(json, *response.pools, response.pool_defaults);
    if (cache && !cache->window_pools.empty()) {
        json.key("window_pools").array();
        for (const window_pool& p : cache->window_pools)
            json.object()
                .member("window", p.window)
                .member("blocks", p.num_blocks)
                .member("token_bytes", p.token_bytes)
                .end_object();
        json.end_array();
    }
    write_memory_fit(json, request.limit, response.limited_bytes());
    json.end_object();
    return json.text() + "\n";
}

LLMCOST_INLINE svg_picture memory_picture(const parsed_model& read, const workload& load, const inference_memory& m,
                                          const memory_limit& limit) {
    std::vector<memory_bar> bars;
    std::string description;
    for (const memory_component& p : memory_components(m)) {
        bars.push_back({std::string(p.label), p.bytes});
        description += (description.empty() ? "" : "; ") + std::string(p.label) + ' ' + in_bytes(p.bytes);
    }
    return breakdown_picture({read.found.name_of_model.name + ", " + inputs_of(read, load), description}, bars, limit);
}

LLMCOST_INLINE memory_request parse_memory_request(const arguments& args) {
    const engine_memory_profile profile = parse_engine_memory_profile(args);
    const memory_limit limit = parse_memory_limit(args);
    check_plot(args, true, {});
    for (const option_spec& o : rank_options)
        if (args.has(o) && profile.has_llama_cpp_buffers)
            throw_usage(o.name, "not supported with --engine llama.cpp; use --tensor-split");
    if (args.has(option::enable_dp_attention) && !profile.has_token_pools)
        throw_usage(option::enable_dp_attention.name, "supported only with --engine sglang");
    const llama_cpp_options llama_cpp = parse_llama_cpp_options(args, profile);
    return {.profile = profile,
            .limit = limit,
            .format = static_cast<output_format>(args.choice(option::format)),
            .sharding = {},
            .llama_cpp = llama_cpp,
            .overrides = parse_tensor_overrides(args, llama_cpp)};
}

/// The ranks of the draft model of vLLM or SGLang: as many tensor-parallel ranks as the target has. Throws: `usage`.
LLMCOST_INLINE rank_memory draft_ranks_of(const memory_request& request, const workload& load) {
    const parsed_model& draft = *request.draft_model;
    const parallel_config parallel =
        make_parallel_config(draft.subject, request.sharding.parallel.tensor_parallel_size);
    if (parallel.world_size() > 1) require_valid_parallelism(draft.subject, parallel);
    workload own_types = load;
    own_types.weights = dtype::unspecified;
    return ranks_of(draft.subject, draft.stored, own_types, request.profile, {.parallel = parallel});
}

LLMCOST_INLINE memory_response compute(const memory_request& request, const parsed_model& read, const workload& load) {
    memory_response response;
    if (request.profile.has_llama_cpp_buffers) {
        response.llama_cpp = llama_cpp_buffers_of(read, load, request.llama_cpp, request.overrides);
        response.memory = summed_buffers(response.llama_cpp, count_model(read.subject, load).cache_bytes);
        if (request.draft_model)
            add_draft_model(*request.draft_model, load, request.llama_cpp, response.llama_cpp, response.memory);
        if (request.limit.is_set() && request.llama_cpp.gpu_layers < 0) {
            count of_draft;
            for (const llama_cpp_buffers& device : response.llama_cpp.devices)
                if (device.device != "CPU") of_draft = std::max(of_draft, device.draft);
            const count limit(request.limit.bytes);
            response.max_gpu_layers = max_gpu_layers(read, load, request.llama_cpp, request.overrides,
                                                     limit > of_draft ? (limit - of_draft).to_64() : 0);
        }
        return response;
    }
    rank_memory ranks = ranks_of(read.subject, read.stored, load, request.profile, request.sharding);
    if (request.draft_model) ranks.add_draft_model(draft_ranks_of(request, load));
    response.stage = ranks.largest_stage(load);
    response.layers = ranks.layers(response.stage);
    response.memory = ranks.of_stage(load, response.stage);
    if (request.limit.is_set()) {
        response.capacity = ranks.capacity(load, request.limit.bytes);
        if (request.profile.has_token_pools && response.capacity && response.capacity->has_block_table) {
            response.pools = ranks.token_pools(load, response.capacity->stage, request.limit.bytes);
            response.pool_defaults = ranks.token_pool_defaults(request.limit.bytes);
        }
    }
    return response;
}

LLMCOST_INLINE std::string print(const memory_request& request, const parsed_model& read, const workload& load,
                                 const memory_response& response) {
    switch (request.format) {
        case output_format::text: return memory_page(request, read, load, response);
        case output_format::json: return memory_json(request, read, load, response);
        default: return written(memory_table(response.memory), request.format);
    }
}

/// The memory of all workloads of a command line with lists, as a table.
LLMCOST_INLINE command_output run_memory_sweep(const arguments& args, const program& io, const memory_request& request,
                                               const workload_sweep& sweep, const parsed_model& read) {
    std::int64_t longest = 0;
    const auto workload_of = [&](const arguments& combination_args) {
        workload load = memory_workload(combination_args);
        complete_workload(read.subject, combination_args, load);
        longest = std::max({longest, load.past + load.sequence, load.encoder_sequence});
        return load;
    };
    const auto bytes_of = [&](const arguments&, const workload& load) -> std::vector<count> {
        const inference_memory m = compute(request, read, load).memory;
        return {m.weight_bytes,          m.kv_cache_bytes, m.kv_cache_allocated_bytes,
                m.peak_activation_bytes, m.runtime_bytes,  m.total_bytes()};
    };
    command_output out = swept_bytes(args, io, sweep, read.found.name_of_model.name, request.limit, memory_columns,
                                     workload_of, bytes_of);
    warn_if_context_exceeded(io.err, read.found.name_of_model.name, read.subject, longest);
    return out;
}

/// The memory of one workload on several devices, with the time of its step.
LLMCOST_INLINE command_output run_memory_on_devices(const arguments& args, const program& io,
                                                    std::vector<std::string> devices) {
    for (const option_spec& o : {option::memory, option::plot}) reject_with_device_list(args, o);
    for (const option_spec& o : memory_lists)
        if (args.has(o) && is_list(args.text(o)))
            throw_usage(o.name, "a list cannot be combined with several devices; expected one number");
    device_comparison comparison;
    comparison.rows = device_runs(args, io, std::move(devices)).run([&](const arguments& one, const program& repeated) {
        workload load = memory_workload(one);
        memory_request request = parse_memory_request(one);
        const parsed_model read = repeated.read(one, repeated);
        complete_workload(read.subject, one, load);
        request.profile = profile_for_model(request.profile, one, read.subject, load);
        if (request.profile.has_token_pools) set_vision_sizes(read.found.document, request.profile.sglang);
        request.sharding = parse_sharding(one, read.subject);
        request.draft_model = read_draft_model(one, repeated);
        check_workload(read.subject, {.base_workload = load});
        warn_on_weights(read, repeated);
        const memory_response response = compute(request, read, load);
        comparison.model = read.found.name_of_model.name;
        comparison.title = memory_title(request, read, load, response);
        comparison.figures = step_figures(inputs_name(read.subject, load));
        const step_estimate estimate = estimate_inference_step(one, repeated, load);
        comparison.assumptions = inference_assumption_line(estimate);
        return device_row{{}, request.limit, response.limited_bytes(), step_values(estimate), estimate.problem};
    });
    return written_devices(comparison, static_cast<output_format>(args.choice(option::format)));
}

}  // namespace llmcost::cli::detail

namespace llmcost::cli {

LLMCOST_INLINE command_output run_memory(const arguments& args, const program& io) {
    if (std::vector<std::string> devices = detail::listed_devices(args); !devices.empty())
        return detail::run_memory_on_devices(args, io, std::move(devices));
    const workload_sweep sweep(args, memory_lists);
    workload load = detail::memory_workload(sweep.at(0));
    memory_request request = detail::parse_memory_request(args);
    const parsed_model read = io.read(args, io);
    complete_workload(read.subject, args, load);
    request.profile = detail::profile_for_model(request.profile, args, read.subject, load);
    if (request.profile.has_token_pools) detail::set_vision_sizes(read.found.document, request.profile.sglang);
    request.sharding = parse_sharding(args, read.subject);
    request.draft_model = detail::read_draft_model(args, io);
    check_workload(read.subject, {.base_workload = load});
    detail::warn_on_weights(read, io);
    if (sweep.has_axes()) return detail::run_memory_sweep(args, io, request, sweep, read);
    warn_if_context_exceeded(io.err, read.found.name_of_model.name, read.subject,
                             std::max(load.past + load.sequence, load.encoder_sequence));

    const memory_response response = detail::compute(request, read, load);
    command_output out{detail::print(request, read, load, response),
                       exit_code_of_fit(request.limit, response.limited_bytes())};
    if (!args.text(option::plot).empty())
        out.file = {std::string(args.text(option::plot)),
                    detail::memory_picture(read, load, response.memory, request.limit).document()};
    return out;
}

}  // namespace llmcost::cli
