// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/cli/args/sweep.hpp>
#include <llmcost/cli/args/tables.hpp>
#include <llmcost/cli/pages/memory_pictures.hpp>
#include <llmcost/cli/pages/memory_sweep.hpp>
#include <llmcost/cli/pages/train_page.hpp>
#include <llmcost/cli/request/memory_fit.hpp>
#include <llmcost/cli/request/model_source.hpp>
#include <llmcost/cli/request/request.hpp>
#include <llmcost/memory/inference.hpp>

// `llmcost memory`: what inference holds.
namespace llmcost::cli {

namespace detail {

inline std::vector<std::string_view> engine_memory_names(const program&) { return names_in(engine_memory_profiles); }

}  // namespace detail

namespace option {

// clang-format off
inline constexpr option_spec
    allocator    {"--engine", value_type::text, "ENGINE", "vllm, sglang, trtllm, transformers, or none (vllm)", {}, detail::engine_memory_names},
    utilization  {"--gpu-memory-utilization", value_type::number, "X", "share of a device that vllm takes (0.92)"},
    engine_memory{"--engine-memory", value_type::text, "SIZE", "the engine's own: peak, libraries, as its log says"};
// clang-format on

}  // namespace option

/// The numbers of a step of inference, which may be lists.
inline constexpr std::array memory_lists{accepts_list(option::batch), accepts_list(option::sequence),
                                         accepts_list(option::past), accepts_list(option::encoder_sequence)};

namespace detail {

inline engine_memory_profile parse_engine_memory_profile(const arguments& args) {
    const std::string_view name = args.text(option::allocator, "vllm");
    const engine_memory_profile* const known = find_engine_memory_profile(name);
    if (known == nullptr) {
        name_suggestions near(name);
        for (const engine_memory_profile& e : engine_memory_profiles) near.add_candidate(e.name);
        throw_usage("--engine", "no engine " + quote(name) + near.suggestion_or_list());
    }
    engine_memory_profile out = *known;
    if (args.has(option::utilization) && out.name != "vllm")
        throw_usage(option::utilization.name, "is vllm's: other engines share out the memory by other rules");
    out.gpu_memory_utilization = args.real(option::utilization, out.gpu_memory_utilization, 1e-3, 1);
    if (!args.has(option::engine_memory)) return out;
    out.runtime_bytes = read_bytes(option::engine_memory.name, args.text(option::engine_memory));
    out.is_from_log = true;
    return out;
}

/// The workload of a command that asks about memory: one step, whatever has been cached before it.
inline workload memory_workload(const arguments& args) {
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

/// Says what of a file or plan of weights is not as one may think.
inline void warn_on_weights(const parsed_model& read, const streams& io) {
    for (const std::string& message : {read.stored.rejection_reason, read.stored.mismatch_warning})
        if (!message.empty()) io.err << "llmcost: " << message << '\n';
}
/// Bytes of weights that are not of one element type.
inline maybe<count> stored_weight_bytes(const parsed_model& read) {
    return read.stored.is_applied ? maybe<count>{read.stored.bytes.total} : maybe<count>{};
}

struct memory_component {
    std::string_view name;
    std::string_view label;
    count bytes;
};

inline std::vector<memory_component> memory_components(const inference_memory& m) {
    return {{"weights", "weights", m.weight_bytes},
            {"cache_allocated", "cache, as it is handed out", m.kv_cache_allocated_bytes},
            {"activations_peak", "tensors of a step at most", m.peak_activation_bytes},
            {"runtime", "the engine itself", m.runtime_bytes}};
}

/// `2 sequences of 4,096 tokens`.
inline std::string inputs_of(const parsed_model& read, const workload& load) {
    if (unit_of(read.subject, load) != input_unit::token) return input_label(read.subject, load);
    return std::to_string(load.batch) + (load.batch == 1 ? " sequence" : " sequences") + " of " +
           grouped(count(load.past) + count(load.sequence)) + " tokens";
}

/// `36,192 blocks of 16, 579,072 tokens`: what an engine has left for the cache; empty where no memory is asked about.
inline std::string kv_cache_line(const memory_limit& limit, const engine_memory_profile& memory_profile,
                                 const maybe<kv_cache_capacity>& cache) {
    if (!limit.is_set() || !cache) return {};
    return "The cache may take " + in_bytes(cache->bytes) + " of " +
           formatted("%.3g", memory_profile.gpu_memory_utilization) + " of " + limit.label + ": " +
           grouped(count(cache->num_blocks)) + (cache->num_blocks == 1 ? " block" : " blocks") + " of " +
           std::to_string(memory_profile.block_size) + ", " + grouped(count(cache->num_tokens)) + " tokens\n";
}

inline std::string memory_page(const parsed_model& read, const workload& load,
                               const engine_memory_profile& memory_profile, const inference_memory& m,
                               const memory_limit& limit, const maybe<kv_cache_capacity>& cache) {
    std::string out = read.found.name_of_model.name + "\n";
    std::vector<std::string> parts{inputs_of(read, load)};
    if (memory_profile.name != "none") parts.emplace_back(memory_profile.name);
    const storage_types types = storage_types_of(read.subject, load);
    parts.push_back(read.stored.is_applied ? read.stored.label : std::string(name_of(types.weights)) + " weights");
    if (m.kv_cache_bytes != count{}) parts.push_back(std::string(name_of(types.cache)) + " cache");
    if (read.subject.config.quantized && !read.stored.is_applied) parts.emplace_back("quantization_config not applied");
    out += wrapped(parts, 80) + "\nTotal " + in_bytes(m.total_bytes()) + '\n';
    for (const memory_component& p : memory_components(m))
        if (p.bytes != count{})
            out += "  " + left(p.label, 28) + right(in_bytes(p.bytes), 9) +
                   right(percent(p.bytes, m.total_bytes()), 8) + "  " + bar_of(p.bytes, m.total_bytes(), 28) + '\n';
    if (m.kv_cache_bytes != m.kv_cache_allocated_bytes)
        out += "\nThe cache itself is " + in_bytes(m.kv_cache_bytes) +
               ": the rest is whole blocks and windows that are kept.\n";
    const std::string line = memory_fit_text(limit, m.total_bytes());
    return line.empty() ? out : out + '\n' + kv_cache_line(limit, memory_profile, cache) + line;
}

/// The answer about one workload.
inline command_output memory_answer_of(const arguments& args, const parsed_model& read, const workload& load,
                                       const engine_memory_profile& memory_profile, const inference_memory& m,
                                       const memory_limit& limit) {
    const auto format = static_cast<output_format>(args.choice(option::format));
    const exit_code code = exit_code_of_fit(limit, m.total_bytes());
    maybe<kv_cache_capacity> cache;
    if (limit.is_set()) cache = kv_cache_capacity_of(read.subject, load, memory_profile, m, limit.bytes);
    if (format == output_format::text) return {detail::memory_page(read, load, memory_profile, m, limit, cache), code};
    if (format != output_format::json) {
        table t{{{"part"}, {"bytes", true}}, {}};
        for (const detail::memory_component& p : detail::memory_components(m))
            t.rows.push_back({std::string(p.name), digits(p.bytes)});
        t.rows.push_back({"total", digits(m.total_bytes())});
        return {written(t, format), code};
    }
    json_writer json;
    json.object().member("model", read.found.name_of_model.name).member("engine", memory_profile.name);
    json.member("batch", load.batch).member("sequence", load.sequence).member("past", load.past);
    json.key("weights_as");
    read.stored.is_applied ? json.value(read.stored.label) : json.null();
    json.member("weights", m.weight_bytes)
        .member("cache", m.kv_cache_bytes)
        .member("cache_allocated", m.kv_cache_allocated_bytes);
    json.member("activations_peak", m.peak_activation_bytes)
        .member("runtime", m.runtime_bytes)
        .member("total", m.total_bytes());
    json.member("gpu_memory_utilization", memory_profile.gpu_memory_utilization);
    for (const auto& [name, n] : {std::pair{"cache_available", cache->bytes},
                                  {"cache_blocks", count(cache->num_blocks)},
                                  {"cache_tokens", count(cache->num_tokens)}}) {
        json.key(name);
        cache ? json.value(n) : json.null();
    }
    write_memory_fit(json, limit, m.total_bytes());
    json.end_object();
    return {json.text() + "\n", code};
}

/// Columns of a table over workloads.
inline constexpr std::array<std::string_view, 6> memory_columns{"weights",          "cache",   "cache_allocated",
                                                                "activations_peak", "runtime", "total"};

inline svg_picture memory_picture(const parsed_model& read, const workload& load, const inference_memory& m,
                                  const memory_limit& limit) {
    std::vector<memory_bar> bars;
    std::string description;
    for (const memory_component& p : memory_components(m)) {
        bars.push_back({std::string(p.label), p.bytes});
        description += (description.empty() ? "" : "; ") + std::string(p.label) + ' ' + in_bytes(p.bytes);
    }
    return breakdown_picture({read.found.name_of_model.name + ", " + inputs_of(read, load), description}, bars, limit);
}

}  // namespace detail

/// What `llmcost memory` prints.
[[nodiscard]] inline command_output run_memory(const arguments& args, const program& io) {
    const engine_memory_profile memory_profile = detail::parse_engine_memory_profile(args);
    const workload_sweep work(args, memory_lists);
    workload load = detail::memory_workload(work.at(0));
    const memory_limit limit = parse_memory_limit(args);
    check_plot(args, true, {});
    const parsed_model read = io.read(args, io);
    complete_workload(read.subject, args, load);
    check_workload(read.subject, {.base_workload = load});
    detail::warn_on_weights(read, io);
    const auto complete = [&](const arguments& combination_args) {
        workload step_load = detail::memory_workload(combination_args);
        complete_workload(read.subject, combination_args, step_load);
        return step_load;
    };
    if (work.has_axes())
        return swept_bytes(args, io, work, read.found.name_of_model.name, limit, detail::memory_columns, complete,
                           [&](const arguments&, const workload& step_load) -> std::vector<count> {
                               const inference_memory m = inference_memory_of(read.subject, step_load, memory_profile,
                                                                              detail::stored_weight_bytes(read));
                               return {m.weight_bytes,          m.kv_cache_bytes, m.kv_cache_allocated_bytes,
                                       m.peak_activation_bytes, m.runtime_bytes,  m.total_bytes()};
                           });
    const inference_memory m =
        inference_memory_of(read.subject, load, memory_profile, detail::stored_weight_bytes(read));
    command_output out = detail::memory_answer_of(args, read, load, memory_profile, m, limit);
    if (!args.text(option::plot).empty())
        out.file = {std::string(args.text(option::plot)), detail::memory_picture(read, load, m, limit).document()};
    return out;
}

inline constexpr std::array memory_options =
    concatenate(model_options, memory_lists,
                std::array{option::image, option::images, option::video, option::videos, option::audio},
                std::array{option::dtype, option::quantization, option::activation_dtype, option::cache_dtype,
                           option::allocator, option::utilization, option::engine_memory, option::format, option::plot},
                with_section("Memory", memory_limit_options), help_option);

inline constexpr std::array<command_example, 4> memory_examples{{
    {"llmcost memory --model meta-llama/Llama-3.1-8B --dtype bfloat16 --sequence 8192 --memory 24GB", "does it fit?"},
    {"llmcost memory --model Qwen/Qwen3-8B --batch 32 --past 4096 --sequence 1 --engine sglang", "32 chats"},
    {"llmcost memory --model Qwen/Qwen3-8B --batch 1,8 --sequence 1024..131072:x2 --memory 80GB",
     "up to where it fits"},
    {"llmcost memory --model google/gemma-2-2b --engine none --format json", "weights, cache, tensors; bytes"},
}};

inline constexpr command memory_command{
    .name = "memory",
    .summary = "what inference holds, and whether it fits",
    .usage = "(--model NAME | --config FILE) [option]...",
    .description =
        "Memory of a step of inference: weights, the cache as an engine hands it out, the\n"
        "most that the step's tensors take at a time, and the engine itself.\n",
    .options = memory_options,
    .run = run_memory,
    .examples = memory_examples};

}  // namespace llmcost::cli
