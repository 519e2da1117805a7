// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include <llmcost/base/count.hpp>
#include <llmcost/base/workload.hpp>
#include <llmcost/layers/model_config.hpp>
#include <llmcost/memory/kv_cache_layers.hpp>
#include <llmcost/memory/sglang_options.hpp>
#include <llmcost/model/model_spec.hpp>

// The pools that SGLang allocates: tokens, tokens of sliding layers, recurrent states and requests.
//
// Line numbers refer to the release that is named with them.
namespace llmcost {

/// The newest version with rules.
inline constexpr engine_version_number newest_sglang{.numbers = {0, 5, 23}};

/// Defaults of a step for devices below a size. The last row has no limit.
///
/// Source: sglang 0.5.23, srt/arg_groups/memory_hook.py, `handle_gpu_memory_settings`, lines 87 to 169; sglang 0.5.3,
/// srt/server_args.py, lines 564 to 624.
struct sglang_step_defaults {
    std::int64_t below_gib;
    std::int64_t chunked_prefill_size;
    std::int64_t cuda_graph_max_bs;         ///< with less than 4 tensor-parallel ranks
    std::int64_t cuda_graph_max_bs_of_tp4;  ///< with 4 or more
};

/// Model types whose sliding layers have a pool of their own. All other models store all tokens in all layers.
///
/// Source: sglang 0.5.23, srt/configs/model_config.py, `is_hybrid_swa_model`.
inline constexpr std::string_view sglang_hybrid_swa_types[]{
    "llama4_text",         "gpt_oss", "mimo_v2_flash", "step3p5",     "gemma4_text",
    "gemma4_unified_text", "laguna",  "mellum",        "granite_swa", "granitemoe_swa"};

/// The fraction of the memory for weights and pools, and the sizes of a step, on a device.
struct sglang_defaults {
    double mem_fraction_static = 0;
    std::int64_t chunked_prefill_size = 0;
    std::int64_t cuda_graph_max_bs = 0;
};

/// The defaults of SGLang for a device of `device_bytes`, with `options` applied.
///
/// From 0.5.3, with MiB and `ranks` = tensor · pipeline ranks:
///
///     reserved = 512 + 1.5 · max(chunked_prefill_size, 2048) + 2 · cuda_graph_max_bs + ranks / 8 · 1024
///     with data-parallel attention: + 3 · cuda_graph_max_bs · dp, 4.5 if cuda_graph_max_bs > 300
///     from 0.5.10, for a decoder without vision and pipeline: + 8 · captured prefill sizes; 1536 with latent attention
///     above 60 GiB: at least 10 GiB
///     mem_fraction_static = round((device − reserved) / device, 3).
///
/// With data-parallel attention, the result has the `chunked_prefill_size` of one of its `dp` ranks.
///
/// A vision encoder multiplies the fraction by 0.95 · clamp(1 − 0.1 · (layers · hidden_size² / (24 · 1024²) − 1), 0.8,
/// 1.05), from 0.4.10. From 0.4.8 to 0.5.2, the reserve is a table by device size. Earlier, the fraction is a table by
/// the number of ranks.
/// Source: sglang 0.5.23, srt/arg_groups/memory_hook.py, lines 272 to 460; srt/server_args.py,
/// `_handle_data_parallelism`. Earlier releases, srt/server_args.py: 0.5.10, lines 1283 to 1330; 0.5.2, lines 455 to
/// 506; 0.4.7, lines 252 to 283.
[[nodiscard]] sglang_defaults sglang_defaults_of(const model& m, const sglang_options& options,
                                                 std::uint64_t device_bytes, std::int64_t tensor_parallel_size,
                                                 std::int64_t pipeline_parallel_size);

/// `--chunked-prefill-size`, or its default on a device of `device_bytes`; 0: 80 GiB.
[[nodiscard]] std::int64_t sglang_chunked_prefill_size(const sglang_options& options, std::uint64_t device_bytes);

/// Bytes that SGLang adds to the weights of a rank while it loads a model.
///
///     rotary tables: positions · rotary_dim · 4; with compressed entries, for layers with and without entries
///     latent attention: layers · heads · kv_lora_rank · (qk_nope_head_dim + v_head_dim) · bytes.
///
/// Source: sglang 0.5.9, srt/layers/rotary_embedding.py, `RotaryEmbedding.__init__` (float32 on CUDA);
/// srt/models/deepseek_common/deepseek_weight_loader.py, `post_load_weights` (`w_kc`, `w_vc`);
/// srt/layers/deepseek_v4_rope.py, `precompute_freqs_cis` (complex64, cached for two bases).
[[nodiscard]] count sglang_table_bytes(const model& shard, const workload& load, layer_range layers = all_layers);

/// Tokens after which the sizes of compressed entries repeat.
inline constexpr std::int64_t entry_period = 128;

/// The pools of one rank.
struct sglang_pools {
    std::int64_t max_total_num_tokens = 0;  ///< tokens of the layers that store all tokens
    std::int64_t swa_num_tokens = 0;        ///< tokens of sliding layers; 0: they share the first pool
    std::int64_t mamba_slots = 0;           ///< recurrent states; 0: the model has none
    std::int64_t max_running_requests = 0;
    count kv_bytes{};            ///< with the padding page of each pool
    count mamba_bytes{};         ///< with the padding slot
    count req_to_token_bytes{};  ///< indices of the tokens of each request
    double max_concurrency = 0;  ///< requests of the length of the workload
};

/// The bytes of a token and of a state in the pools of one rank.
///
/// Layers with compressed entries (DeepSeek-V4) have pools with pages of 256 tokens, 256 requests by default, and a
/// pool of window tokens with 0.1 of the tokens. With e = head_dim + rotary_dim + 8 bytes per entry:
///
///     token: Σ layers with entries: (e + index bytes) / ratio
///     window token: Σ layers: e + 8 · 4 / 128 · 4 · (head_dim + index_head_dim) bytes of an overlapping layer
///     request: Σ other layers with entries: ratio · 2 · head_dim · 4 bytes of states; to 0.5.13 part of a window
///     token.
///
/// Source: sglang 0.5.23, srt/model_executor/pool_configurator.py, `DSV4PoolConfigurator`;
/// srt/mem_cache/deepseek_v4_memory_pool.py, `get_compress_state_ring_size`; srt/arg_groups/deepseek_v4_hook.py,
/// `apply_deepseek_v4_defaults`.
class sglang_pool_layout {
public:
    /// `layers`: those of a pipeline stage.
    sglang_pool_layout(const model& shard, const workload& load, const sglang_options& options,
                       layer_range layers = all_layers);

    /// Bytes of a token in the layers that store all tokens, without compressed entries.
    [[nodiscard]] count token_bytes() const noexcept { return token_bytes_; }
    /// Bytes of the compressed entries of `entry_period` tokens.
    [[nodiscard]] count entry_bytes() const noexcept { return entry_bytes_; }
    /// Bytes per token of the pool of all tokens, with the share of sliding layers.
    [[nodiscard]] double cell_bytes() const noexcept;
    [[nodiscard]] std::int64_t page_size() const noexcept { return options_.page_size; }
    /// Whether a layer stores all tokens, or entries for all tokens.
    [[nodiscard]] bool has_token_pool() const noexcept { return token_bytes_ != count{} || entry_bytes_ != count{}; }
    [[nodiscard]] bool has_window_pool() const noexcept { return swa_token_bytes_ != count{}; }
    [[nodiscard]] count swa_token_bytes() const noexcept { return swa_token_bytes_; }
    [[nodiscard]] count state_bytes() const noexcept { return state_bytes_; }

    /// Adds the layers of a draft model, which store all tokens.
    ///
    /// SGLang scales the bytes of a token by the number of layers, which is equal for a draft model with the attention
    /// sizes of its target. Source: srt/model_executor/pool_configurator.py, `DefaultPoolConfigurator.__init__`.
    void add_draft_cache(const kv_cache_size& draft) {
        token_bytes_ += draft.bytes_per_token;
        state_bytes_ += draft.bytes_per_sequence;
    }

    /// Tokens of a request in the pool of sliding layers: at most `window + chunked_prefill_size`.
    ///
    /// With compressed entries, a request that decodes: window + 128 tokens between two evictions + 2 pages.
    /// Source: sglang 0.5.23, srt/model_executor/pool_configurator.py, `SWAChunkCapPoolConfigurator`;
    /// srt/environ.py, `SGLANG_SWA_EVICTION_INTERVAL`.
    [[nodiscard]] std::int64_t max_window_tokens(std::int64_t chunked_prefill_size) const noexcept {
        constexpr std::int64_t eviction_interval = 128;
        return entry_bytes_ == count{} ? window_ + chunked_prefill_size
                                       : window_ + eviction_interval + 2 * options_.page_size;
    }
    /// Whether the pool of sliding layers has fewer requests of `num_tokens` tokens than the pool of all tokens.
    ///
    ///     min(num_tokens, window + chunked_prefill_size) > num_tokens · swa_full_tokens_ratio.
    [[nodiscard]] bool is_limited_by_windows(std::int64_t num_tokens, std::int64_t chunked_prefill_size) const noexcept;

    /// Bytes of a request with `num_tokens` tokens.
    ///
    ///     pages of all tokens · token_bytes
    ///     + pages of min(num_tokens, window + chunked_prefill_size) tokens · swa_token_bytes + state_bytes.
    [[nodiscard]] count request_bytes(std::int64_t num_tokens, std::int64_t chunked_prefill_size) const;

    /// The smallest memory whose pools hold `num_requests` requests of `num_tokens` tokens.
    ///
    ///     tokens = max(pages of all tokens, pages of window tokens / swa_full_tokens_ratio)
    ///     without states: tokens · (token_bytes + swa_full_tokens_ratio · swa_token_bytes)
    ///     with states, r = mamba_full_memory_ratio: max(bytes of tokens · (1 + r), bytes of slots · (1 + r) / r).
    ///
    /// It is the inverse of `pools_in`, without the limits of options. With states, entire slots: at most one more.
    [[nodiscard]] count required_bytes(std::int64_t num_requests, std::int64_t num_tokens,
                                       std::int64_t chunked_prefill_size) const;

    /// The pools in `available_bytes`: what weights leave of the static memory.
    ///
    ///     states: slots = available · r / (1 + r) / state_bytes, r = mamba_full_memory_ratio; a given size has
    ///     priority tokens = (available − states) / (token_bytes + swa_full_tokens_ratio · swa_token_bytes), in entire
    ///     pages max_running_requests = min(clamp(tokens / context · 512, 2048, 4096), tokens / 2, slots / slots of a
    ///     request).
    ///
    /// Source: sglang 0.5.23, srt/mem_cache/kv_cache_configurator.py, `_handle_max_mamba_cache`,
    /// `resolve_max_num_reqs`; srt/model_executor/pool_configurator.py, `DefaultPoolConfigurator`,
    /// `HybridSWAPoolConfigurator`; srt/mem_cache/memory_pool.py, `ReqToTokenPool`.
    [[nodiscard]] sglang_pools pools_in(count available_bytes, std::int64_t num_tokens_of_request,
                                        std::int64_t chunked_prefill_size) const;

private:
    [[nodiscard]] std::int64_t whole_pages(double tokens) const;
    /// Slots of recurrent states that options set; 0: none does.
    [[nodiscard]] std::int64_t given_slots() const noexcept;
    /// Tokens of a request in entire pages.
    [[nodiscard]] count page_tokens(std::int64_t num_tokens) const;
    void add_compressed_layer(const compressed_attention& layer);
    /// Bytes of the states of compressed entries of all requests: `max_running_requests` + 2 requests and a row, in
    /// entire blocks of 128 rows.
    [[nodiscard]] count fixed_bytes() const;
    [[nodiscard]] std::int64_t slots_per_request() const noexcept { return options_.has_radix_cache ? 3 : 1; }
    /// Slots next to those of requests, for padding. Source: sglang 0.5.20, `_handle_max_mamba_cache`.
    [[nodiscard]] std::int64_t padding_slots() const noexcept {
        constexpr engine_version_number counts_padding{.numbers = {0, 5, 20}};
        return options_.version >= counts_padding ? 1 : 0;
    }

    sglang_options options_;
    std::int64_t context_length_;
    std::int64_t window_ = 0;
    count token_bytes_;
    count swa_token_bytes_;  ///< of layers with a pool of their own
    count state_bytes_;
    count entry_bytes_;            ///< of compressed entries, for `entry_period` tokens
    count entry_state_row_bytes_;  ///< of a row of the states of a request; a request has `entry_period` rows
};

}  // namespace llmcost

#ifndef LLMCOST_COMPILED
#include <llmcost/memory/impl/sglang_memory.ipp>  // IWYU pragma: export
#endif
