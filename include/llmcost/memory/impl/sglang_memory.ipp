// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/memory/sglang_memory.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/analysis/counts.hpp>
#include <llmcost/base/count.hpp>
#include <llmcost/base/dtype.hpp>
#include <llmcost/base/inline.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/model/model_spec.hpp>

namespace llmcost::detail {

inline constexpr std::int64_t any_gib = 1 << 20;

// The second row has other values in other versions (`step_defaults_of_sglang`).
inline constexpr sglang_step_defaults sglang_step_default_rows[]{
    {.below_gib = 20, .chunked_prefill_size = 2048, .cuda_graph_max_bs = 8, .cuda_graph_max_bs_of_tp4 = 8},
    {.below_gib = 35, .chunked_prefill_size = 2048, .cuda_graph_max_bs = 24, .cuda_graph_max_bs_of_tp4 = 80},
    {.below_gib = 60, .chunked_prefill_size = 4096, .cuda_graph_max_bs = 32, .cuda_graph_max_bs_of_tp4 = 160},
    {.below_gib = 160, .chunked_prefill_size = 8192, .cuda_graph_max_bs = 256, .cuda_graph_max_bs_of_tp4 = 512},
    {.below_gib = any_gib, .chunked_prefill_size = 16384, .cuda_graph_max_bs = 512, .cuda_graph_max_bs_of_tp4 = 512},
};

// Before 0.5.3. Source: sglang 0.5.2, srt/server_args.py, lines 510 to 532 and `cuda_graph_max_bs` of the comments.
inline constexpr sglang_step_defaults earlier_sglang_step_default_rows[]{
    {.below_gib = 35, .chunked_prefill_size = 2048, .cuda_graph_max_bs = 8, .cuda_graph_max_bs_of_tp4 = 80},
    {.below_gib = 90, .chunked_prefill_size = 8192, .cuda_graph_max_bs = 160, .cuda_graph_max_bs_of_tp4 = 160},
    {.below_gib = 160, .chunked_prefill_size = 8192, .cuda_graph_max_bs = 256, .cuda_graph_max_bs_of_tp4 = 256},
    {.below_gib = any_gib, .chunked_prefill_size = 16384, .cuda_graph_max_bs = 512, .cuda_graph_max_bs_of_tp4 = 512},
};

/// The first row whose limit is above a size.
template <std::size_t N>
[[nodiscard]] constexpr const sglang_step_defaults& row_below(const sglang_step_defaults (&rows)[N], double gib) {
    for (const sglang_step_defaults& row : rows)
        if (gib < static_cast<double>(row.below_gib)) return row;
    return rows[N - 1];
}

[[nodiscard]] LLMCOST_INLINE sglang_step_defaults step_defaults_of_sglang(const engine_version_number& version,
                                                                          double gib) {
    constexpr engine_version_number formula{.numbers = {0, 5, 3}}, larger_graphs{.numbers = {0, 5, 5}},
        larger_steps{.numbers = {0, 5, 20}};
    if (version < formula) return row_below(earlier_sglang_step_default_rows, gib);
    sglang_step_defaults row = row_below(sglang_step_default_rows, gib);
    if (row.below_gib != sglang_step_default_rows[1].below_gib) return row;
    if (version < larger_graphs) row.cuda_graph_max_bs = 16;
    if (version >= larger_steps)
        row = {.below_gib = 35, .chunked_prefill_size = 4096, .cuda_graph_max_bs = 48, .cuda_graph_max_bs_of_tp4 = 160};
    return row;
}

/// Numbers of tokens for which SGLang captures a prefill, up to `max_tokens`.
///
/// Source: sglang 0.5.23, srt/arg_groups/cuda_graph_hook.py, `generate_prefill_cuda_graph_batch_sizes`.
[[nodiscard]] LLMCOST_INLINE std::int64_t captured_prefill_sizes(std::int64_t max_tokens) {
    struct size_range {
        std::int64_t first, last, step;
    };
    constexpr size_range ranges[]{{4, 32, 4},      {48, 256, 16},     {288, 512, 32},
                                  {576, 1024, 64}, {1280, 4096, 256}, {4608, max_input, 512}};
    std::int64_t sizes = 0;
    for (const size_range& range : ranges)
        if (const std::int64_t last = std::min(range.last, max_tokens); last >= range.first)
            sizes += (last - range.first) / range.step + 1;
    return sizes;
}

/// The vision encoder of a composite model; null without one.
[[nodiscard]] LLMCOST_INLINE const model_config* vision_encoder_of(const model& m) {
    for (std::size_t i = 0; i < max_components; ++i)
        if (std::string_view(m.spec->components[i].key) == "vision_config") return &m.components[i].config;
    return nullptr;
}

/// What a vision encoder multiplies the fraction by.
///
/// Source: sglang 0.5.23, srt/arg_groups/memory_hook.py, `adjust_mem_fraction_for_vlm`.
[[nodiscard]] LLMCOST_INLINE double vision_factor(const model_config& vision, const sglang_options& options) {
    constexpr double base_factor = 0.95, sensitivity = 0.1, baseline = 24.0 * 1024 * 1024;
    const auto layers =
        static_cast<double>(options.vision_layers > 0 ? options.vision_layers : vision.num_hidden_layers);
    const auto hidden =
        static_cast<double>(options.vision_hidden_size > 0 ? options.vision_hidden_size : vision.hidden_size);
    return base_factor * std::clamp(1 - sensitivity * (layers * hidden * hidden / baseline - 1), 0.8, 1.05);
}

[[nodiscard]] LLMCOST_INLINE double three_digits(double x) { return std::nearbyint(x * 1000) / 1000; }

/// The fraction before 0.4.8, by the number of ranks.
[[nodiscard]] LLMCOST_INLINE double fraction_of_ranks(double device_mib, std::int64_t ranks) {
    constexpr double gib = 1024;
    double fraction = 0.88;
    if (device_mib <= 80 * gib)
        fraction = ranks >= 16 ? 0.79 : ranks >= 8 ? 0.81 : ranks >= 4 ? 0.85 : ranks >= 2 ? 0.87 : 0.88;
    if (device_mib > 180'000) return 0.79;
    if (device_mib > 96 * gib)
        fraction = std::min(fraction + 48 * gib * (1 - fraction) / device_mib, (device_mib - 18 * gib) / device_mib);
    return fraction;
}

/// The reserve from 0.4.8 to 0.5.2, in MiB.
[[nodiscard]] LLMCOST_INLINE double reserve_of_device(double device_gib, double ranks) {
    if (device_gib < 35) return (2.8 + ranks / 10) * 1024;
    if (device_gib < 90) return (9.5 + ranks / 2) * 1024;
    if (device_gib < 160) return (12 + ranks / 2) * 1024;
    return 32 * 1024;
}

/// The reserve from 0.5.3, in MiB.
[[nodiscard]] LLMCOST_INLINE double reserve_of_step(const model& m, const sglang_defaults& defaults,
                                                    const engine_version_number& version, double device_gib,
                                                    std::int64_t ranks, bool has_pipeline,
                                                    std::int64_t dp_attention_size) {
    constexpr engine_version_number prefill_graphs{.numbers = {0, 5, 10}};
    double mib = 512 + 1.5 * static_cast<double>(std::max<std::int64_t>(defaults.chunked_prefill_size, 2048)) +
                 2 * static_cast<double>(defaults.cuda_graph_max_bs) + static_cast<double>(ranks) / 8 * 1024;
    if (dp_attention_size > 1) {
        constexpr std::int64_t large_graphs = 300;
        mib += (defaults.cuda_graph_max_bs > large_graphs ? 4.5 : 3) *
               static_cast<double>(defaults.cuda_graph_max_bs * dp_attention_size);
    }
    if (version >= prefill_graphs && !has_pipeline && vision_encoder_of(m) == nullptr)
        mib += m.config.mla.kv_lora_rank > 0
                   ? 1536
                   : 8 * static_cast<double>(captured_prefill_sizes(defaults.chunked_prefill_size));
    return device_gib > 60 ? std::max(mib, 10.0 * 1024) : mib;
}

/// A model whose recurrent states have the type of SGLang: float32 unless the configuration has another one.
///
/// Source: sglang 0.5.23, srt/configs/mamba_utils.py, `mamba2_state_dtype`.
[[nodiscard]] LLMCOST_INLINE model with_sglang_state_type(model m) {
    if (m.config.recurrent_state_dtype == dtype::unspecified) m.config.recurrent_state_dtype = dtype::float32;
    return m;
}

/// What scales and unquantized rotary elements add to an 8-bit latent cache of sparse attention, per layer and token.
///
/// Source: sglang 0.5.9, srt/model_executor/model_runner_kv_cache_mixin.py, `calculate_mla_kv_cache_dim`.
[[nodiscard]] LLMCOST_INLINE count latent_scale_bytes(const mla_config& mla) {
    constexpr std::int64_t block = 128, scale_bytes = 4;
    return count(mla.kv_lora_rank / block * scale_bytes) + count(mla.qk_rope_head_dim);
}

}  // namespace llmcost::detail

namespace llmcost {

LLMCOST_INLINE sglang_defaults sglang_defaults_of(const model& m, const sglang_options& options,
                                                  std::uint64_t device_bytes, std::int64_t tensor_parallel_size,
                                                  std::int64_t pipeline_parallel_size) {
    constexpr engine_version_number device_reserve{.numbers = {0, 4, 8}}, vision_reserve{.numbers = {0, 4, 10}},
        step_reserve{.numbers = {0, 5, 3}};
    const double device_mib = static_cast<double>(device_bytes) / (1 << 20), device_gib = device_mib / 1024;
    const std::int64_t ranks = tensor_parallel_size * pipeline_parallel_size;
    const sglang_step_defaults row = detail::step_defaults_of_sglang(options.version, device_gib);
    sglang_defaults out;
    out.chunked_prefill_size = sglang_chunked_prefill_size(options, device_bytes);
    out.cuda_graph_max_bs = options.cuda_graph_max_bs > 0 ? options.cuda_graph_max_bs
                            : tensor_parallel_size >= 4   ? row.cuda_graph_max_bs_of_tp4
                                                          : row.cuda_graph_max_bs;
    const std::int64_t chunk_of_rank = out.chunked_prefill_size / options.dp_attention_size;
    out.mem_fraction_static = options.mem_fraction_static;
    if (out.mem_fraction_static > 0 || options.version < device_reserve) {
        if (out.mem_fraction_static == 0) out.mem_fraction_static = detail::fraction_of_ranks(device_mib, ranks);
        out.chunked_prefill_size = chunk_of_rank;
        return out;
    }
    const double reserve = options.version < step_reserve
                               ? detail::reserve_of_device(device_gib, static_cast<double>(ranks))
                               : detail::reserve_of_step(m, out, options.version, device_gib, ranks,
                                                         pipeline_parallel_size > 1, options.dp_attention_size);
    out.mem_fraction_static = std::max(0.0, detail::three_digits((device_mib - reserve) / device_mib));
    const model_config* const vision = detail::vision_encoder_of(m);
    if (vision != nullptr && options.version >= vision_reserve)
        out.mem_fraction_static *= detail::vision_factor(*vision, options);
    out.chunked_prefill_size = chunk_of_rank;
    return out;
}

LLMCOST_INLINE std::int64_t sglang_chunked_prefill_size(const sglang_options& options, std::uint64_t device_bytes) {
    if (options.chunked_prefill_size > 0) return options.chunked_prefill_size;
    constexpr double assumed_gib = 80;
    const double gib = device_bytes == 0 ? assumed_gib : static_cast<double>(device_bytes) / (1 << 30);
    return detail::step_defaults_of_sglang(options.version, gib).chunked_prefill_size;
}

LLMCOST_INLINE count sglang_table_bytes(const model& shard, const workload& load, layer_range layers) {
    const model_config& config = shard.config;
    std::int64_t rotary_dims = std::max<std::int64_t>(config.rotary_dim, 0);
    if (const auto compressed_attention_of = shard.text_model_spec().compressed_attention_of) {
        bool has_entries = false, has_windows = false;
        for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
            if (layers.contains(i)) (compressed_attention_of(config, i).ratio > 0 ? has_entries : has_windows) = true;
        rotary_dims = compressed_attention_of(config, 0).rotary_dim * ((has_entries ? 1 : 0) + (has_windows ? 1 : 0));
    }
    const count rotary = count(config.context_length()) * count(rotary_dims);
    const count num_layers(std::min(layers.size, config.num_hidden_layers));
    const count latent = num_layers * count(config.num_attention_heads) * count(config.mla.kv_lora_rank) *
                         count(config.mla.qk_nope_head_dim + config.mla.v_head_dim);
    return bytes_of(rotary, dtype::float32) + bytes_of(latent, storage_types_of(shard, load).activations);
}

LLMCOST_INLINE sglang_pool_layout::sglang_pool_layout(const model& shard, const workload& load,
                                                      const sglang_options& options, layer_range layers)
    : options_(options), context_length_(shard.config.context_length()) {
    const std::string_view type(shard.text_model_spec().model_type);
    const bool has_sliding_pool = std::find(std::begin(sglang_hybrid_swa_types), std::end(sglang_hybrid_swa_types),
                                            type) != std::end(sglang_hybrid_swa_types);
    const bool has_8_bit_cache = bits_of(storage_types_of(shard, load).cache) == 8;
    for (const kv_cache_layer& layer : kv_cache_layers_of(detail::with_sglang_state_type(shard), load, layers)) {
        if (layer.compressed.head_dim > 0) {
            add_compressed_layer(layer.compressed);
            window_ = layer.window;
        } else if (has_sliding_pool && layer.window > 0) {
            swa_token_bytes_ += layer.bytes_per_token;
            window_ = layer.window;
        } else {
            token_bytes_ += layer.bytes_per_token;
        }
        state_bytes_ += layer.state_bytes;
        if (layer.has_index_keys && has_8_bit_cache) token_bytes_ += detail::latent_scale_bytes(shard.config.mla);
    }
    if (options_.max_running_requests > 0)
        options_.max_running_requests =
            std::max<std::int64_t>(1, options_.max_running_requests / options_.dp_attention_size);
}

LLMCOST_INLINE void sglang_pool_layout::add_compressed_layer(const compressed_attention& layer) {
    constexpr std::int64_t float_bytes = 4, scale_bytes = 8, ring_size = 8, window_page = 128;
    constexpr engine_version_number request_states{.numbers = {0, 5, 14}};
    constexpr sglang_options defaults{};
    constexpr std::int64_t page_size = 256, default_requests = 256;
    constexpr double window_share = 0.1;
    options_.page_size = page_size;
    if (options_.max_running_requests == 0) options_.max_running_requests = default_requests;
    if (options_.swa_full_tokens_ratio == defaults.swa_full_tokens_ratio) options_.swa_full_tokens_ratio = window_share;

    const count entry(layer.head_dim + layer.rotary_dim + scale_bytes);
    swa_token_bytes_ += entry;
    if (layer.ratio == 0) return;
    const count index = detail::index_key_bytes(count(layer.index_head_dim));
    entry_bytes_ += (entry + index) * count(entry_period / layer.ratio);
    const count row(2 * (layer.overlaps ? 2 : 1) * (layer.head_dim + layer.index_head_dim) * float_bytes);
    if (layer.overlaps)
        swa_token_bytes_ += row * count(ring_size) / count(window_page);
    else if (options_.version < request_states)
        swa_token_bytes_ += row * count(layer.ratio) / count(window_page);
    else
        entry_state_row_bytes_ += row;
}

LLMCOST_INLINE count sglang_pool_layout::fixed_bytes() const {
    constexpr std::int64_t row_multiple = 128;
    const std::int64_t rows = (options_.max_running_requests + 2) * entry_period + 1;
    return entry_state_row_bytes_ * count((rows + row_multiple - 1) / row_multiple * row_multiple);
}

LLMCOST_INLINE std::int64_t sglang_pool_layout::whole_pages(double tokens) const {
    return static_cast<std::int64_t>(tokens) / options_.page_size * options_.page_size;
}

LLMCOST_INLINE bool sglang_pool_layout::is_limited_by_windows(std::int64_t num_tokens,
                                                              std::int64_t chunked_prefill_size) const noexcept {
    if (!has_window_pool()) return false;
    if (!has_token_pool()) return true;
    return static_cast<double>(std::min(num_tokens, max_window_tokens(chunked_prefill_size))) >
           static_cast<double>(num_tokens) * options_.swa_full_tokens_ratio;
}

LLMCOST_INLINE count sglang_pool_layout::request_bytes(std::int64_t num_tokens,
                                                       std::int64_t chunked_prefill_size) const {
    return page_tokens(num_tokens) * token_bytes_ + page_tokens(num_tokens) / count(entry_period) * entry_bytes_ +
           entry_state_row_bytes_ * count(entry_period) +
           page_tokens(std::min(num_tokens, max_window_tokens(chunked_prefill_size))) * swa_token_bytes_ + state_bytes_;
}

LLMCOST_INLINE count sglang_pool_layout::page_tokens(std::int64_t num_tokens) const {
    return count((num_tokens + options_.page_size - 1) / options_.page_size * options_.page_size);
}

LLMCOST_INLINE double sglang_pool_layout::cell_bytes() const noexcept {
    const double swa_tokens = has_token_pool() ? options_.swa_full_tokens_ratio : 1;
    return static_cast<double>(token_bytes_) + static_cast<double>(entry_bytes_) / static_cast<double>(entry_period) +
           swa_tokens * static_cast<double>(swa_token_bytes_);
}

LLMCOST_INLINE count sglang_pool_layout::required_bytes(std::int64_t num_requests, std::int64_t num_tokens,
                                                        std::int64_t chunked_prefill_size) const {
    const auto requests = static_cast<double>(num_requests);
    double tokens = has_token_pool() ? requests * static_cast<double>(page_tokens(num_tokens)) : 0;
    if (has_window_pool()) {
        const double window_tokens =
            requests * static_cast<double>(page_tokens(std::min(num_tokens, max_window_tokens(chunked_prefill_size))));
        tokens = std::max(tokens, has_token_pool() ? window_tokens / options_.swa_full_tokens_ratio : window_tokens);
    }
    const double kv_bytes = tokens * cell_bytes() + static_cast<double>(fixed_bytes());
    const auto state = static_cast<double>(state_bytes_);
    const auto rounded = [](double bytes) { return count(static_cast<std::uint64_t>(std::ceil(bytes))); };
    if (state_bytes_ == count{}) return rounded(kv_bytes);
    const auto padding = static_cast<double>(padding_slots());
    if (const std::int64_t slots = given_slots(); slots > 0)
        return rounded(kv_bytes + state * (static_cast<double>(slots) + padding));
    const double r = options_.mamba_full_memory_ratio;
    return rounded(std::max(kv_bytes * (1 + r),
                            state * (requests * static_cast<double>(slots_per_request()) + padding) * (1 + r) / r));
}

LLMCOST_INLINE std::int64_t sglang_pool_layout::given_slots() const noexcept {
    if (options_.max_mamba_cache_size > 0) return options_.max_mamba_cache_size;
    return options_.has_radix_cache ? 0 : options_.max_running_requests;
}

LLMCOST_INLINE sglang_pools sglang_pool_layout::pools_in(count available_bytes, std::int64_t num_tokens_of_request,
                                                         std::int64_t chunked_prefill_size) const {
    constexpr std::int64_t min_requests = 2048, max_requests = 4096;
    sglang_pools out;
    auto rest = static_cast<double>(available_bytes);
    const auto state = static_cast<double>(state_bytes_);
    if (state > 0) {
        const double share = options_.mamba_full_memory_ratio / (1 + options_.mamba_full_memory_ratio);
        out.mamba_slots = given_slots();
        if (out.mamba_slots == 0)
            out.mamba_slots =
                std::max<std::int64_t>(0, static_cast<std::int64_t>(rest * share / state) - padding_slots());
        rest -= state * static_cast<double>(out.mamba_slots + padding_slots());
        out.mamba_bytes = state_bytes_ * count(out.mamba_slots + 1);
    }
    rest -= static_cast<double>(fixed_bytes());
    const double cell = cell_bytes();
    if (cell > 0 && rest > 0) out.max_total_num_tokens = whole_pages(rest / cell);
    if (options_.max_total_tokens > 0)
        out.max_total_num_tokens =
            std::min(out.max_total_num_tokens, whole_pages(static_cast<double>(options_.max_total_tokens)));
    if (has_window_pool())
        out.swa_num_tokens =
            has_token_pool()
                ? whole_pages(static_cast<double>(out.max_total_num_tokens) * options_.swa_full_tokens_ratio)
                : out.max_total_num_tokens;
    if (out.max_total_num_tokens > 0)
        out.kv_bytes = token_bytes_ * count(out.max_total_num_tokens + options_.page_size) +
                       entry_bytes_ * count((out.max_total_num_tokens + options_.page_size) / entry_period) +
                       fixed_bytes() +
                       swa_token_bytes_ * count(out.swa_num_tokens > 0 ? out.swa_num_tokens + options_.page_size : 0);

    const auto tokens = static_cast<double>(out.max_total_num_tokens);
    const auto of_context =
        context_length_ > 0 ? static_cast<std::int64_t>(tokens / static_cast<double>(context_length_) * 512) : 0;
    out.max_running_requests = options_.max_running_requests > 0 ? options_.max_running_requests
                                                                 : std::clamp(of_context, min_requests, max_requests);
    out.max_running_requests = std::min(out.max_running_requests, out.max_total_num_tokens / 2);
    if (state > 0) out.max_running_requests = std::min(out.max_running_requests, out.mamba_slots / slots_per_request());
    constexpr std::uint64_t index_bytes = 4;
    out.req_to_token_bytes =
        count(out.max_running_requests + 1) * count(std::max<std::int64_t>(context_length_, 0)) * count(index_bytes);

    const auto requests_in = [&](std::int64_t pool, std::int64_t of_request) {
        return static_cast<double>(pool) / static_cast<double>(std::max<std::int64_t>(of_request, 1));
    };
    out.max_concurrency = static_cast<double>(out.max_running_requests);
    if (has_token_pool())
        out.max_concurrency =
            std::min(out.max_concurrency, requests_in(out.max_total_num_tokens, num_tokens_of_request));
    if (out.swa_num_tokens > 0)
        out.max_concurrency = std::min(
            out.max_concurrency,
            requests_in(out.swa_num_tokens, std::min(num_tokens_of_request, max_window_tokens(chunked_prefill_size))));
    return out;
}

}  // namespace llmcost
