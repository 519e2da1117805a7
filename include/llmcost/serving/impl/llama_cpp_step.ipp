// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/serving/llama_cpp_step.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/devices/device.hpp>
#include <llmcost/graph/kv_cache_entries.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/llama_cpp_graph.hpp>
#include <llmcost/memory/llama_cpp_memory.hpp>
#include <llmcost/model/model_spec.hpp>
#include <llmcost/trace/layer_plan.hpp>

namespace llmcost::detail {

[[nodiscard]] LLMCOST_INLINE double to_real(count n) { return static_cast<double>(n.to_64()); }

/// Operations of a layer's attention and residuals: two rotations, two cache writes, attention, a gated product, two
/// additions, and layouts. Source: src/llama-graph.cpp, `build_attn`, `build_ffn`.
inline constexpr double operations_per_layer = 10;
/// Operations of a router: softmax, top-k, weights and their sum. Source: src/llama-graph.cpp, `build_moe_ffn`.
inline constexpr double operations_per_router = 8;

/// Rows of a tile of products that are not used, per expert: half a tile of 64. Source: ggml/src/ggml-cuda/mmq.cuh,
/// `mul_mat_q_case` (`mmq_x`).
inline constexpr double padded_rows_per_expert = 32;

/// Kernels of a product of a prompt: conversion of its inputs to F16, product, conversion of its results to F32; of
/// quantized weights also their conversion. Source: ggml-cuda.cu of May 2024, `ggml_cuda_op_mul_mat_cublas`.
inline constexpr double kernels_per_half_product = 3, kernels_per_quantized_product = 4;
/// Kernels that wait for a device before a launch blocks the host, which then launches nothing on other devices. Not
/// documented; fitted on 8B and 70B models on two to six cards.
inline constexpr double launch_queue_size = 1200;

/// Time of the slowest device of a pipeline of physical batches, relative to its work. Fitted on two to six devices.
inline constexpr double pipeline_overhead = 1.15;
/// Nine of ten measured speeds of prompts and of generation on several devices differ by at most this factor, minus 1.
inline constexpr double pipeline_prompt_interval = 0.45, pipeline_generation_interval = 0.18;

/// The part of the experts that `tokens` tokens read, if routing is uniform.
[[nodiscard]] LLMCOST_INLINE double read_experts(const moe_config& moe, double tokens) {
    const double share = static_cast<double>(moe.num_experts_per_tok) / static_cast<double>(moe.num_experts);
    return 1 - std::pow(1 - share, tokens);
}

/// Adds the KV cache, the recurrent states and the scores of each layer to the backend of the layer.
LLMCOST_INLINE void add_attention_work(const model& m, const llama_cpp_step_tokens& tokens,
                                       const llama_cpp_options& options, const llama_cpp_placement& placement,
                                       std::vector<llama_cpp_work>& work) {
    workload prefill;
    prefill.batch = 1;
    prefill.past = 0;
    prefill.sequence = 1;
    const std::vector<kv_cache_entry> one = list_kv_cache(m, prefill);
    prefill.sequence = 2;
    const std::vector<kv_cache_entry> two = list_kv_cache(m, prefill);
    const auto n = static_cast<double>(tokens.sequence);
    const auto batch = static_cast<double>(tokens.batch);
    const auto heads = static_cast<double>(m.config.num_attention_heads);
    // the mask is causal, but ggml computes all scores of a physical batch
    const double all_keys = static_cast<double>(tokens.past + tokens.sequence);
    for (std::size_t i = 0; i < one.size() && i < two.size(); ++i) {
        const std::int64_t layer = std::max<std::int64_t>(layer_of_path(one[i].path), 0);
        const auto index = std::min(static_cast<std::size_t>(layer), placement.layers.size() - 1);
        llama_cpp_work& on = work[static_cast<std::size_t>(placement.layers[index])];
        const bool is_sliding =
            m.config.sliding_window > 0 && m.config.layers[layer].token_mixer != token_mixer_kind::full_attention;
        const double keys =
            is_sliding ? std::min(all_keys, static_cast<double>(m.config.sliding_window) + n) : all_keys;
        std::size_t num_tensors = 0;
        for (std::size_t k = 0; k < one[i].tensors.size(); ++k) {
            const count elements = elements_of_shape(one[i].tensors[k]),
                        elements_of_two = elements_of_shape(two[i].tensors[k]);
            if (elements_of_two <= elements) {
                constexpr double read_and_written = 2, float_bytes = 4;
                on.state_bytes += batch * read_and_written * float_bytes * to_real(elements);
                continue;
            }
            const bool is_latent = m.config.mla.kv_lora_rank > 0;
            const bool is_value = num_tensors++ == 1 && !is_latent;
            const ggml_block& type = is_value ? options.values : options.keys;
            on.cache_bytes += batch * keys * to_real(type.bytes_of(elements_of_two - elements));
            const auto width = static_cast<double>(one[i].tensors[k].back());
            on.attention_flops += batch * (is_latent ? 4 : 2) * heads * width * keys * n;
            if (!is_value) on.score_bytes += batch * 4 * heads * keys * n;
        }
    }
}

/// The backend of a tensor.
[[nodiscard]] LLMCOST_INLINE std::int32_t backend_of(const llama_cpp_tensor& t, const llama_cpp_placement& placement) {
    if (t.weight.device >= 0) return t.weight.device;
    if (t.weight.device == llama_cpp_weight::host) return placement.host();
    const std::int64_t layer = layer_of_path(t.weight.parameter);
    if (layer < 0) return placement.output;
    const auto index =
        static_cast<std::size_t>(std::min<std::int64_t>(layer, static_cast<std::int64_t>(placement.layers.size()) - 1));
    return is_expert_parameter(t.weight.parameter) ? placement.experts[index] : placement.layers[index];
}

[[nodiscard]] LLMCOST_INLINE llama_cpp_placement step_placement(const model& m, const llama_cpp_options& options,
                                                                const std::vector<llama_cpp_tensor>& tensors) {
    llama_cpp_placement placement = llama_cpp_placement_of(m, options);
    if (!options.has_overrides) return placement;
    std::vector<llama_cpp_weight> weights;
    for (const llama_cpp_tensor& t : tensors) weights.push_back(t.weight);
    bool is_ignored = false;
    return placement_with_overrides(std::move(placement), weights, is_ignored);
}

/// The number of changes of the backend in a step.
[[nodiscard]] LLMCOST_INLINE std::int64_t num_crossings(const llama_cpp_placement& placement,
                                                        const std::vector<llama_cpp_tensor>& tensors) {
    // the backend of the MLP of each layer
    std::vector<std::int32_t> mlps = placement.experts;
    for (const llama_cpp_tensor& t : tensors) {
        const std::int64_t layer = layer_of_path(t.weight.parameter);
        if (layer < 0 || layer >= static_cast<std::int64_t>(mlps.size()) || !t.is_matrix ||
            is_expert_parameter(t.weight.parameter))
            continue;
        const std::int32_t backend = backend_of(t, placement);
        if (backend != placement.layers[static_cast<std::size_t>(layer)])
            mlps[static_cast<std::size_t>(layer)] = backend;
    }
    std::int64_t crossings = 0;
    // the embeddings of tokens are read on the host and copied with the inputs
    std::int32_t current = placement.layers.empty() ? placement.host() : placement.layers.front();
    const auto run_on = [&](std::int32_t backend) {
        crossings += backend != current ? 1 : 0;
        current = backend;
    };
    for (std::size_t i = 0; i < placement.layers.size(); ++i) {
        run_on(placement.layers[i]);
        run_on(mlps[i]);
    }
    run_on(placement.output);
    return crossings;
}

/// The peak of 16-bit products, in FLOP/s.
///
/// NVIDIA: with float16 accumulation, half of the int8 peak: the datasheet's 16-bit peak of GeForce cards has float32
/// accumulation. Source: ggml/src/ggml-cuda/ggml-cuda.cu, `ggml_cuda_op_mul_mat_cublas` (`CUBLAS_COMPUTE_16F`).
[[nodiscard]] LLMCOST_INLINE double prompt_peak(const device& d) {
    const double halves = std::max({d.fp16, d.fp32, d.bf16});
    return 1e12 * (d.vendor == string_ref("NVIDIA") ? std::max(halves, d.int8 / 2) : halves);
}

/// Tokens of a prompt up to which kernels multiply quantized weights as integers; larger batches convert them to F16.
/// Source: ggml-cuda.cu of May 2024, `ggml_cuda_mul_mat` (`MMQ_MAX_BATCH_SIZE`).
inline constexpr std::int64_t max_integer_tokens = 32;

/// The time of the work of one physical batch on one processor.
struct work_seconds {
    double weights = 0;
    double attention = 0;
    double overhead = 0;
    [[nodiscard]] double sum() const noexcept { return weights + attention + overhead; }
};

[[nodiscard]] LLMCOST_INLINE work_seconds seconds_of(const llama_cpp_work& work, const llama_cpp_rates& rates,
                                                     const device& d, bool is_prompt, bool is_converted,
                                                     bool has_flash_attention) {
    const double bandwidth = 1e9 * d.memory_bandwidth;
    const double peak = prompt_peak(d);
    const double limit = rates.unit_bandwidth > 0 && d.num_compute_units > 0
                             ? 1e9 * rates.unit_bandwidth * d.num_compute_units
                             : bandwidth;
    work_seconds out;
    const double bandwidth_share[]{rates.half_bandwidth, rates.bfloat_bandwidth, rates.half_bandwidth,
                                   rates.quantized_bandwidth};
    const double peak_share[]{rates.half_peak, rates.bfloat_peak, rates.half_peak, rates.quantized_peak};
    const double per_watt[]{rates.half_per_watt, rates.half_per_watt, rates.half_per_watt, rates.quantized_per_watt};
    const auto product_peak = [&](std::size_t type_class) {
        const double by_power = 1e12 * per_watt[type_class] * d.thermal_design_watts;
        return by_power > 0 ? std::min(by_power, peak * peak_share[type_class]) : peak * peak_share[type_class];
    };
    for (std::size_t i = 0; i < std::size(bandwidth_share); ++i) {
        const llama_cpp_work::products& p = work.by_class[i];
        const bool is_quantized = i == static_cast<std::size_t>(ggml_type_class::quantized);
        const double type_limit = is_quantized && rates.quantized_unit_bandwidth > 0
                                      ? 1e9 * rates.quantized_unit_bandwidth * d.num_compute_units
                                      : limit;
        const double read = p.bytes / std::min(type_limit, bandwidth * bandwidth_share[i]);
        const double computed = p.flops / product_peak(i);
        const double decoded = rates.token_peak > 0 ? p.flops / (peak * rates.token_peak) : 0;
        out.weights += std::max(read, is_prompt ? computed : decoded);
    }
    if (is_converted) {
        // cuBLAS reads weights that a kernel has converted to F16
        constexpr double written_and_read = 2 * 2;
        const llama_cpp_work::products& p = work.by_class[static_cast<std::size_t>(ggml_type_class::quantized)];
        out.weights += rates.dequantization_passes * (written_and_read * p.elements + p.bytes) / bandwidth;
    }
    const double cache_share = has_flash_attention ? rates.cache_bandwidth : rates.eager_cache_bandwidth;
    const double cache = work.cache_bytes / std::min(limit, bandwidth * cache_share);
    out.attention = work.state_bytes / bandwidth;
    if (has_flash_attention)
        out.attention += is_prompt ? std::max(cache, work.attention_flops / (peak * rates.attention_peak)) : cache;
    else
        out.attention += cache + work.score_bytes * rates.score_passes / bandwidth +
                         work.attention_flops / product_peak(static_cast<std::size_t>(ggml_type_class::half));
    const double launch = rates.launch_seconds + rates.launch_seconds_per_unit * d.num_compute_units;
    out.overhead = work.launches * launch + rates.activation_passes * work.activation_bytes / bandwidth;
    return out;
}

/// Bytes per second between a host and a device. PCIe 4.0 with 16 lanes where the datasheet has no figure; none with
/// unified memory.
[[nodiscard]] LLMCOST_INLINE double host_link_bandwidth(const device& d) {
    constexpr double pcie_4 = 31;
    return 1e9 * (d.pcie_bandwidth > 0 ? d.pcie_bandwidth : pcie_4);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE llama_cpp_work& llama_cpp_work::operator+=(const llama_cpp_work& other) noexcept {
    for (std::size_t i = 0; i < std::size(by_class); ++i) {
        by_class[i].bytes += other.by_class[i].bytes;
        by_class[i].flops += other.by_class[i].flops;
        by_class[i].elements += other.by_class[i].elements;
    }
    cache_bytes += other.cache_bytes;
    state_bytes += other.state_bytes;
    attention_flops += other.attention_flops;
    score_bytes += other.score_bytes;
    activation_bytes += other.activation_bytes;
    launches += other.launches;
    prompt_launches += other.prompt_launches;
    return *this;
}

LLMCOST_INLINE ggml_type_class type_class_of(std::string_view ggml_type) noexcept {
    if (ggml_type == "F16") return ggml_type_class::half;
    if (ggml_type == "BF16") return ggml_type_class::bfloat;
    if (ggml_type == "F32" || ggml_type == "F64") return ggml_type_class::single;
    return ggml_type_class::quantized;
}

LLMCOST_INLINE bool is_cpu(const device& d) noexcept {
    return d.memory_gigabytes == 0 && d.vendor != string_ref("Apple");
}

LLMCOST_INLINE llama_cpp_backend default_backend(const device& d) noexcept {
    if (is_cpu(d)) return llama_cpp_backend::cpu;
    if (d.vendor == string_ref("NVIDIA")) return llama_cpp_backend::cuda;
    if (d.vendor == string_ref("AMD")) return llama_cpp_backend::rocm;
    return d.vendor == string_ref("Apple") ? llama_cpp_backend::metal : llama_cpp_backend::vulkan;
}

LLMCOST_INLINE std::vector<llama_cpp_work> llama_cpp_work_of(const model& m, const llama_cpp_step_tokens& tokens,
                                                             const llama_cpp_options& options,
                                                             const std::vector<llama_cpp_tensor>& tensors) {
    const detail::llama_cpp_placement placement = detail::step_placement(m, options, tensors);
    std::vector<llama_cpp_work> work(static_cast<std::size_t>(placement.num_devices) + 1);
    const auto batch = static_cast<double>(tokens.batch);
    const double n = batch * static_cast<double>(tokens.sequence);
    const moe_config& moe = m.config.moe;
    for (const llama_cpp_tensor& t : tensors) {
        if (detail::is_multimodal_parameter(t.weight.parameter)) continue;
        const bool is_head_copy = t.is_lookup && m.config.tie_word_embeddings &&
                                  t.weight.elements == count(m.config.vocab_size) * count(m.config.hidden_size);
        if (t.is_lookup && !is_head_copy) continue;
        llama_cpp_work& on = work[static_cast<std::size_t>(detail::backend_of(t, placement))];
        on.launches += t.is_matrix ? 2 : 1;
        on.prompt_launches += !t.is_matrix ? 1
                              : type_class_of(t.type) == ggml_type_class::quantized
                                  ? detail::kernels_per_quantized_product
                                  : detail::kernels_per_half_product;
        if (!t.is_matrix) continue;
        const bool is_expert = detail::is_expert_parameter(t.weight.parameter) && moe.num_experts > 0;
        const bool is_in_layer = detail::layer_of_path(t.weight.parameter) >= 0;
        const double share = is_expert ? detail::read_experts(moe, n) : 1;
        // logits of one position of each sequence
        const double rows = is_in_layer ? n : batch;
        const double used =
            is_expert ? rows * static_cast<double>(moe.num_experts_per_tok) / static_cast<double>(moe.num_experts)
                      : rows;
        // tokens of an expert that has any
        const double rows_per_expert = is_expert ? used / share : rows;
        llama_cpp_work::products& p = on.by_class[static_cast<std::size_t>(type_class_of(t.type))];
        const double elements = detail::to_real(t.weight.elements);
        p.bytes += share * detail::to_real(t.weight.bytes);
        p.elements += share * elements;
        const double padding = is_expert && n > 1 ? detail::padded_rows_per_expert / rows_per_expert : 0;
        p.flops += 2 * used * elements * (1 + padding);
        // a product of k inputs has elements / k results; k is the hidden size, or the MLP's for its last product
        on.activation_bytes += 4 * used * elements / static_cast<double>(m.config.hidden_size);
    }
    for (std::size_t i = 0; i < placement.layers.size(); ++i) {
        llama_cpp_work& on = work[static_cast<std::size_t>(placement.layers[i])];
        const double operations =
            detail::operations_per_layer + (moe.num_experts > 0 ? detail::operations_per_router : 0);
        on.launches += operations;
        on.prompt_launches += operations;
    }
    detail::add_attention_work(m, tokens, options, placement, work);
    return work;
}

LLMCOST_INLINE llama_cpp_step_time time_llama_cpp_step(const model& m, const llama_cpp_step_tokens& tokens,
                                                       const llama_cpp_options& options,
                                                       const std::vector<llama_cpp_tensor>& tensors,
                                                       const llama_cpp_processors& processors) {
    constexpr std::int64_t min_offloaded_tokens = 32;
    const detail::llama_cpp_placement placement = detail::step_placement(m, options, tensors);
    const std::size_t host = static_cast<std::size_t>(placement.host());
    const llama_cpp_rates& host_rates = rates_of(llama_cpp_backend::cpu, *processors.host);
    const llama_cpp_rates& gpu_rates =
        processors.gpu == nullptr ? host_rates : rates_of(processors.backend, *processors.gpu);
    const llama_cpp_rates& rates = placement.num_devices > 0 ? gpu_rates : host_rates;
    const bool is_unified = processors.gpu != nullptr && processors.gpu->pcie_bandwidth == 0;
    const auto crossings = static_cast<double>(detail::num_crossings(placement, tensors));

    llama_cpp_step_time out;
    std::vector<double> on_backend(host + 1);
    std::int64_t num_batches = 0;
    const std::int64_t tokens_per_batch = std::max<std::int64_t>(options.num_ubatch / tokens.batch, 1);
    for (std::int64_t done = 0; done < tokens.sequence; ++num_batches) {
        const std::int64_t per_sequence = std::min(tokens_per_batch, tokens.sequence - done);
        const std::int64_t n = tokens.batch * per_sequence;
        const std::vector<llama_cpp_work> work =
            llama_cpp_work_of(m, {tokens.past + done, per_sequence, tokens.batch}, options, tensors);
        for (std::size_t i = 0; i < work.size(); ++i) {
            const bool is_host = i == host;
            const bool is_copied = is_host && host > 0 && n >= min_offloaded_tokens && !is_unified;
            const bool on_gpu = !is_host || is_copied;
            const detail::work_seconds s = detail::seconds_of(
                work[i], on_gpu ? gpu_rates : host_rates, on_gpu ? *processors.gpu : *processors.host, n > 1,
                per_sequence > detail::max_integer_tokens, options.has_flash_attention);
            out.weights_seconds += s.weights;
            out.attention_seconds += s.attention;
            out.overhead_seconds += s.overhead;
            on_backend[i] += s.sum();
            if (is_copied) {
                const double copy = work[i].weight_bytes() / detail::host_link_bandwidth(*processors.gpu);
                out.transfer_seconds += copy;
                on_backend[i] += copy;
            }
        }
        const double hidden_bytes = 4.0 * static_cast<double>(n) * static_cast<double>(m.config.hidden_size);
        if (processors.gpu != nullptr)
            out.transfer_seconds +=
                crossings * (rates.crossing_seconds + hidden_bytes / detail::host_link_bandwidth(*processors.gpu));
        out.work.resize(work.size());
        for (std::size_t i = 0; i < work.size(); ++i) out.work[i] += work[i];
        done += per_sequence;
    }
    const double sum = out.weights_seconds + out.attention_seconds + out.overhead_seconds + out.transfer_seconds;
    out.seconds = sum;
    if (placement.num_devices > 1 && placement.is_complete && num_batches > 1) {
        // the first batch runs on one device after the other; of the next ones, the slowest device is busy all the
        // time. The queue of a device limits the batches whose kernels overlap.
        double slowest = 0, launches = 0;
        for (const double seconds : on_backend) slowest = std::max(slowest, seconds);
        for (const llama_cpp_work& work : out.work) launches = std::max(launches, work.prompt_launches);
        const auto batches = static_cast<double>(num_batches);
        const double overlapping = std::max(1.0, detail::launch_queue_size * batches / launches);
        const double first = sum / batches;
        const double next = std::max(detail::pipeline_overhead * slowest, sum / overlapping) / batches;
        out.seconds = std::min(sum, first + (batches - 1) * next);
    }
    const bool has_host_work = host > 0 && on_backend[host] > 0;
    const bool is_prompt = tokens.sequence > 1;
    const auto interval_of = [&](const llama_cpp_rates& r) {
        return is_prompt ? r.prompt_interval : r.generation_interval;
    };
    double interval = interval_of(rates);
    if (has_host_work) interval = std::max(interval, interval_of(host_rates));
    if (placement.num_devices > 1)
        interval =
            std::max(interval, is_prompt ? detail::pipeline_prompt_interval : detail::pipeline_generation_interval);
    out.lower = out.seconds / (1 + interval);
    out.upper = out.seconds * (1 + interval);
    return out;
}

}  // namespace llmcost
