// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/files/engine_log.hpp>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <llmcost/base/inline.hpp>

namespace llmcost::detail {

/// A figure: the number after `field`, in a line that contains `marker`.
struct log_pattern {
    std::string_view engine;
    std::string_view marker;
    std::string_view field;
    log_quantity quantity;
    bool is_total = false;  ///< replaces what earlier lines state: the sum of several pools
};

// Numbers with the same quantity in one line are added: keys and values.
inline constexpr log_pattern log_patterns[]{
    {"vllm", "Model loading took ", "took ", log_quantity::weights},
    {"vllm", "Loading model weights took ", "took ", log_quantity::weights},
    {"vllm", "Available KV cache memory: ", "memory: ", log_quantity::kv_cache},
    {"vllm", "reserved for KV Cache is ", "KV Cache is ", log_quantity::kv_cache},
    {"vllm", "GPU KV cache size: ", "size: ", log_quantity::kv_cache_tokens},
    {"vllm", "Maximum concurrency for ", "per request: ", log_quantity::max_concurrency},
    {"vllm", "Graph capturing finished in ", "took ", log_quantity::cuda_graphs},
    {"sglang", "Load weight end", "mem usage=", log_quantity::weights},
    {"sglang", "Mamba Cache is allocated", "conv_state size: ", log_quantity::recurrent_states},
    {"sglang", "Mamba Cache is allocated", "ssm_state size: ", log_quantity::recurrent_states},
    {"sglang", "SWAKVPool mem usage: ", "usage: ", log_quantity::kv_cache, true},
    {"sglang", "KV Cache is allocated", "K size: ", log_quantity::kv_cache},
    {"sglang", "KV Cache is allocated", "V size: ", log_quantity::kv_cache},
    {"sglang", "KV Cache is allocated", "KV size: ", log_quantity::kv_cache},
    {"sglang", "max_total_num_tokens=", "max_total_num_tokens=", log_quantity::kv_cache_tokens},
    {"sglang", "max_total_num_tokens=", "max_running_requests=", log_quantity::max_running_requests},
    {"sglang", "Capture cuda graph end", "mem usage=", log_quantity::cuda_graphs},
    {"sglang", "CUDA graph end", "mem usage=", log_quantity::cuda_graphs},
    {"llama.cpp", " model buffer size", "=", log_quantity::weights},
    {"llama.cpp", " KV buffer size", "=", log_quantity::kv_cache},
    {"llama.cpp", " RS buffer size", "=", log_quantity::recurrent_states},
    {"llama.cpp", " compute buffer size", "=", log_quantity::compute_buffer},
    {"llama.cpp", " output buffer size", "=", log_quantity::output_buffer},
};

/// An option: a key of the engine in lines that contain `marker`.
struct log_key {
    std::string_view engine;
    std::string_view key;
    std::string_view option;
    bool is_rank_count = false;                ///< one rank is the default and is not read
    bool shares_experts = false;               ///< with expert parallelism, these ranks share the experts
    bool is_split_by_attention_ranks = false;  ///< with data-parallel attention, the log has the part of one rank
};

inline constexpr log_key log_keys[]{
    {.engine = "vllm", .key = "tensor_parallel_size", .option = "--tp", .is_rank_count = true, .shares_experts = true},
    {.engine = "vllm", .key = "pipeline_parallel_size", .option = "--pp", .is_rank_count = true},
    {.engine = "vllm", .key = "data_parallel_size", .option = "--dp", .is_rank_count = true, .shares_experts = true},
    {.engine = "vllm", .key = "gpu_memory_utilization", .option = "--gpu-memory-utilization"},
    {.engine = "vllm", .key = "max_num_batched_tokens", .option = "--max-num-batched-tokens"},
    {.engine = "vllm", .key = "max_num_seqs", .option = "--max-num-seqs"},
    {.engine = "vllm", .key = "kv_cache_dtype", .option = "--cache-dtype"},
    {.engine = "sglang", .key = "tp_size", .option = "--tp", .is_rank_count = true},
    {.engine = "sglang", .key = "pp_size", .option = "--pp", .is_rank_count = true},
    {.engine = "sglang", .key = "ep_size", .option = "--ep", .is_rank_count = true},
    {.engine = "sglang", .key = "mem_fraction_static", .option = "--mem-fraction-static"},
    {.engine = "sglang", .key = "kv_cache_dtype", .option = "--cache-dtype"},
    {.engine = "sglang",
     .key = "chunked_prefill_size",
     .option = "--chunked-prefill-size",
     .is_split_by_attention_ranks = true},
    {.engine = "sglang", .key = "cuda_graph_max_bs", .option = "--cuda-graph-max-bs"},
    {.engine = "sglang", .key = "max_total_tokens", .option = "--max-total-tokens"},
    {.engine = "sglang", .key = "max_running_requests", .option = "--max-running-requests"},
    {.engine = "sglang", .key = "max_mamba_cache_size", .option = "--max-mamba-cache-size"},
    {.engine = "sglang", .key = "mamba_full_memory_ratio", .option = "--mamba-full-memory-ratio"},
    {.engine = "sglang", .key = "swa_full_tokens_ratio", .option = "--swa-full-tokens-ratio"},
    {.engine = "sglang", .key = "page_size", .option = "--page-size"},
    {.engine = "sglang", .key = "disable_radix_cache", .option = "--disable-radix-cache"},
};

/// Lines with the configuration of an engine.
struct log_configuration {
    std::string_view engine;
    std::string_view marker;
    std::string_view model_key;
    std::string_view length_key;
};
inline constexpr log_configuration log_configurations[]{
    {"vllm", "non-default args: ", "model", "max_model_len"},
    {"vllm", "LLM engine (v", "model", "max_seq_len"},
    {"sglang", "server_args=", "model_path", "context_length"},
};

/// The number at the beginning of a text, with commas as separators of thousands; negative if there is none.
[[nodiscard]] LLMCOST_INLINE double leading_number(std::string_view text) {
    std::string digits;
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    for (const char c : text) {
        if (c == ',' && !digits.empty()) continue;
        if (!std::isdigit(static_cast<unsigned char>(c)) && c != '.') break;
        digits += c;
    }
    // "1,024 tokens, " has a comma after the number, which is no part of it
    return digits.empty() || digits == "." ? -1 : std::strtod(digits.c_str(), nullptr);
}

/// Bytes of the unit after a number; 1 without a unit. The engines print powers of 1024 with either name.
[[nodiscard]] LLMCOST_INLINE double unit_after_number(std::string_view text) {
    const std::size_t end = text.find_first_not_of(" 0123456789.,");
    const std::string_view unit = end == std::string_view::npos ? std::string_view() : text.substr(end);
    if (unit.starts_with("GiB") || unit.starts_with("GB")) return 1024.0 * 1024 * 1024;
    if (unit.starts_with("MiB") || unit.starts_with("MB")) return 1024.0 * 1024;
    return 1;
}

/// The value of `key=value`, `'key': value` or `"key": value`; empty without the key, or for None.
[[nodiscard]] LLMCOST_INLINE std::string value_of_key(std::string_view line, std::string_view key) {
    for (std::size_t position = line.find(key); position != std::string_view::npos;
         position = line.find(key, position + 1)) {
        const char before = position == 0 ? ' ' : line[position - 1];
        if (std::isalnum(static_cast<unsigned char>(before)) || before == '_') continue;
        std::string_view rest = line.substr(position + key.size());
        if (!rest.empty() && (rest.front() == '\'' || rest.front() == '"')) rest.remove_prefix(1);
        if (rest.empty() || (rest.front() != '=' && rest.front() != ':')) continue;
        rest.remove_prefix(1);
        while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
        const bool is_quoted = !rest.empty() && (rest.front() == '\'' || rest.front() == '"');
        const std::string_view value =
            is_quoted ? rest.substr(1, rest.find(rest.front(), 1) - 1) : rest.substr(0, rest.find_first_of(",})] \t"));
        return value == "None" || value == "null" ? std::string() : std::string(value);
    }
    return {};
}

/// A cache type of an engine as an element type; empty for `auto`.
[[nodiscard]] LLMCOST_INLINE std::string cache_type_of(std::string_view value) {
    if (value.starts_with("torch.")) value.remove_prefix(6);
    if (value.starts_with("fp8")) return "fp8";
    return value == "auto" ? std::string() : std::string(value);
}

/// Sets an option that has no value yet.
LLMCOST_INLINE void set_once(engine_log& log, std::string_view name, std::string value) {
    for (const log_option& o : log.options)
        if (o.name == name) return;
    log.options.push_back({std::string(name), std::move(value)});
}

/// The message of a line: the text from the first character that belongs to it.
[[nodiscard]] LLMCOST_INLINE std::string message_of(std::string_view line, std::size_t marker) {
    const std::size_t bracket = line.substr(0, marker).rfind("] ");
    const std::size_t colon = line.substr(0, marker).rfind(": ");
    std::size_t begin = 0;
    if (bracket != std::string_view::npos)
        begin = bracket + 2;
    else if (colon != std::string_view::npos)
        begin = colon + 2;
    std::string_view message = line.substr(begin);
    while (!message.empty() && message.front() == ' ') message.remove_prefix(1);
    while (!message.empty() && (message.back() == '\r' || message.back() == ' ')) message.remove_suffix(1);
    return std::string(message);
}

/// The device of a buffer: `GPU1` for CUDA1, ROCm1, Vulkan1; `GPU0` for Metal; `CPU` for memory of the host.
[[nodiscard]] LLMCOST_INLINE std::string buffer_device(std::string_view line, std::size_t marker) {
    const std::string_view before = line.substr(0, marker);
    const std::string_view name = before.substr(before.find_last_of(" \t") + 1);
    if (name.starts_with("Metal") || name.starts_with("MTL")) return "GPU0";
    if (name.starts_with("CPU") || name.ends_with("_Host")) return "CPU";
    const std::size_t digit = name.find_last_not_of("0123456789") + 1;
    return digit < name.size() ? "GPU" + std::string(name.substr(digit)) : "CPU";
}

/// `Q4_K - Medium` as the name of a quantization: `q4_k_m`.
[[nodiscard]] LLMCOST_INLINE std::string quantization_of_file_type(std::string_view type) {
    std::string name;
    const std::size_t dash = type.find(" - ");
    for (const char c : type.substr(0, std::min(dash, type.find(' '))))
        name += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    if (dash == std::string_view::npos) return name;
    const std::string_view variant = type.substr(dash + 3);
    if (variant.starts_with("Medium")) return name + "_m";
    if (variant.starts_with("Small")) return name + "_s";
    if (variant.starts_with("Large")) return name + "_l";
    return name;
}

/// The text after `marker` and `=`, without blanks around it.
[[nodiscard]] LLMCOST_INLINE std::string text_after_equals(std::string_view line) {
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) return {};
    std::string_view rest = line.substr(equals + 1);
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
    return std::string(rest);
}

/// Reads options of llama.cpp, which has a line for each.
LLMCOST_INLINE void read_llama_cpp_option(std::string_view line, engine_log& log) {
    const auto number_of = [&](std::string_view key) -> std::int64_t {
        const std::size_t position = line.find(key);
        if (position == std::string_view::npos ||
            line.find_first_not_of(" =", position + key.size()) == std::string_view::npos)
            return 0;
        const char after = line[position + key.size()];
        const std::string value = after == ' ' || after == '=' ? text_after_equals(line) : std::string();
        const double number = leading_number(value);
        return number > 0 ? static_cast<std::int64_t>(number) : 0;
    };
    const bool is_context = line.find("llama_context: ") != std::string_view::npos ||
                            line.find("llama_new_context_with_model: ") != std::string_view::npos ||
                            line.find("llama_init_from_model: ") != std::string_view::npos;
    if (is_context) {
        if (const std::int64_t n = number_of(" n_ctx"); n > 0 && log.max_model_len == 0) log.max_model_len = n;
        if (const std::int64_t n = number_of(" n_seq_max"); n > 0) log.num_sequences = n;
        if (const std::int64_t n = number_of(" n_ubatch"); n > 0) set_once(log, "--ubatch-size", std::to_string(n));
        if (line.find(" flash_attn") != std::string_view::npos) {
            const std::string value = text_after_equals(line);
            if (value == "0" || value == "disabled") set_once(log, "--flash-attn", "off");
        }
    }
    if (const std::size_t position = line.find("offloaded "); position != std::string_view::npos) {
        const double layers = leading_number(line.substr(position + 10));
        const std::size_t slash = line.find('/', position);
        const double all = slash == std::string_view::npos ? -1 : leading_number(line.substr(slash + 1));
        if (layers >= 0 && layers < all) set_once(log, "--gpu-layers", std::to_string(static_cast<int>(layers)));
    }
    if (line.find("print_info: file type") != std::string_view::npos ||
        line.find("llm_load_print_meta: model ftype") != std::string_view::npos)
        set_once(log, "--quantization", quantization_of_file_type(text_after_equals(line)));
    if (line.find("general.name") != std::string_view::npos && log.model.empty()) log.model = text_after_equals(line);
    for (const auto& [key, option] : {std::pair{", K (", "--cache-type-k"}, {", V (", "--cache-type-v"}}) {
        const std::size_t position = line.find(key);
        if (position == std::string_view::npos || line.find("size") == std::string_view::npos) continue;
        const std::string type(line.substr(position + 5, line.find(')', position) - position - 5));
        if (type != "f16") set_once(log, option, type);
    }
}

/// Reads the configuration of vLLM or SGLang from one line.
LLMCOST_INLINE void read_configuration(std::string_view line, const log_configuration& row, engine_log& log) {
    if (log.engine.empty()) log.engine = row.engine;
    if (log.model.empty()) log.model = value_of_key(line, row.model_key);
    if (log.max_model_len == 0)
        log.max_model_len =
            static_cast<std::int64_t>(std::max(0.0, leading_number(value_of_key(line, row.length_key))));
    for (const log_key& key : log_keys) {
        if (key.engine != row.engine) continue;
        std::string value = value_of_key(line, key.key);
        if (key.option == "--cache-dtype") value = cache_type_of(value);
        const bool is_one_rank = key.is_rank_count && value == "1";
        if (value.empty() || value == "False" || value.front() == '-' || is_one_rank) continue;
        set_once(log, key.option, value == "True" ? std::string() : value);
    }
    if (row.engine == "sglang" && value_of_key(line, "enable_dp_attention") == "True") {
        const std::string ranks = value_of_key(line, "dp_size");
        set_once(log, "--dp", ranks);
        set_once(log, "--enable-dp-attention", {});
        for (log_option& o : log.options)
            for (const log_key& key : log_keys)
                if (key.engine == row.engine && key.is_split_by_attention_ranks && o.name == key.option)
                    o.value =
                        std::to_string(static_cast<std::int64_t>(leading_number(o.value) * leading_number(ranks)));
    }
    const std::string type = value_of_key(line, "dtype");
    if (type.starts_with("torch.") && line.find("quantization=None") != std::string_view::npos)
        set_once(log, "--dtype", type.substr(6));
    if (row.engine == "vllm" && value_of_key(line, "enable_expert_parallel") == "True") {
        double ranks = 1;
        for (const log_key& key : log_keys)
            for (const log_option& o : log.options)
                if (key.engine == row.engine && key.shares_experts && o.name == key.option)
                    ranks *= leading_number(o.value);
        if (ranks > 1) set_once(log, "--ep", std::to_string(static_cast<int>(ranks)));
    }
}

/// The version after a text: `0.11.2` of `LLM engine (v0.11.2) with config`.
[[nodiscard]] LLMCOST_INLINE std::string version_after(std::string_view line, std::string_view text) {
    const std::size_t position = line.find(text);
    if (position == std::string_view::npos) return {};
    std::string_view rest = line.substr(position + text.size());
    if (!rest.empty() && rest.front() == 'v') rest.remove_prefix(1);
    if (rest.empty() || !std::isdigit(static_cast<unsigned char>(rest.front()))) return {};
    return std::string(rest.substr(0, rest.find_first_of(" ),\r")));
}

/// Adds the figures of a line.
LLMCOST_INLINE void read_figures(std::string_view line, std::size_t number, engine_log& log) {
    for (const log_pattern& p : log_patterns) {
        const std::size_t marker = line.find(p.marker);
        // the encoder of images and audio has a compute buffer of its own
        if (marker == std::string_view::npos || line.find("alloc_compute_meta: ") != std::string_view::npos) continue;
        const std::size_t field = line.find(p.field, marker);
        if (field == std::string_view::npos) continue;
        // "KV size: " ends with "V size: ", "K size: " does not
        if (field > 0 && std::isalpha(static_cast<unsigned char>(line[field - 1])) && p.field != p.marker &&
            p.engine == "sglang" && p.field.find("size: ") != std::string_view::npos && p.field.front() == 'V')
            continue;
        const std::string_view rest = line.substr(field + p.field.size());
        const double value = leading_number(rest);
        if (value < 0) continue;
        if (log.engine.empty()) log.engine = p.engine;
        if (log.engine != p.engine) continue;
        const bool has_devices = p.engine == "llama.cpp";
        const std::string device = has_devices ? buffer_device(line, marker) : std::string();
        const double bytes = value * unit_after_number(rest);
        const auto same = std::find_if(log.figures.begin(), log.figures.end(), [&](const log_figure& f) {
            return f.quantity == p.quantity && f.device == device;
        });
        const log_figure figure{p.quantity, bytes, device, message_of(line, marker), number};
        if (same == log.figures.end())
            log.figures.push_back(figure);
        else if (p.is_total)
            *same = figure;
        else if (has_devices || same->line_number == number)
            same->value += bytes;
    }
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE std::string_view name_of(log_quantity quantity) noexcept {
    constexpr std::string_view names[]{"weights",         "kv_cache",         "kv_cache_tokens",
                                       "max_concurrency", "recurrent_states", "max_running_requests",
                                       "cuda_graphs",     "compute_buffer",   "output_buffer"};
    return names[static_cast<std::size_t>(quantity)];
}

LLMCOST_INLINE bool is_in_bytes(log_quantity quantity) noexcept {
    return quantity != log_quantity::kv_cache_tokens && quantity != log_quantity::max_concurrency &&
           quantity != log_quantity::max_running_requests;
}

LLMCOST_INLINE engine_log read_engine_log(std::string_view text) {
    engine_log log;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        ++log.num_lines;
        for (const detail::log_configuration& row : detail::log_configurations)
            if (line.find(row.marker) != std::string_view::npos) detail::read_configuration(line, row, log);
        for (const std::string_view marker : {"LLM engine (v", "vLLM API server version ", "vLLM server version "})
            if (log.version.empty()) log.version = detail::version_after(line, marker);
        if (log.version.empty() && line.starts_with("build: "))
            if (const double build = detail::leading_number(line.substr(7)); build > 0)
                log.version = "b" + std::to_string(static_cast<int>(build));
        detail::read_figures(line, log.num_lines, log);
        if (log.engine.empty() || log.engine == "llama.cpp") detail::read_llama_cpp_option(line, log);
        if (log.max_model_len == 0 && line.find("Maximum concurrency for ") != std::string_view::npos)
            log.max_model_len = static_cast<std::int64_t>(
                std::max(0.0, detail::leading_number(line.substr(line.find("Maximum concurrency for ") + 24))));
        if (const std::size_t position = line.find("Load weight begin. avail mem=");
            position != std::string_view::npos && log.free_bytes == 0) {
            const std::string_view rest = line.substr(position + 29);
            log.free_bytes = std::max(0.0, detail::leading_number(rest)) * detail::unit_after_number(rest);
        }
        if (log.engine == "sglang" && log.max_model_len == 0)
            if (const std::string length = detail::value_of_key(line, "context_len"); !length.empty())
                log.max_model_len = static_cast<std::int64_t>(std::max(0.0, detail::leading_number(length)));
    }
    return log;
}

}  // namespace llmcost
