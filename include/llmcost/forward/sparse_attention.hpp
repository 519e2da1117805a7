// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <llmcost/config/experts.hpp>
#include <llmcost/config/latent_attention.hpp>
#include <llmcost/forward/attention.hpp>
#include <llmcost/layers/sparse_indexer.hpp>

// Sparse latent attention over tokens that an indexer selects (DeepSeek sparse attention).
namespace llmcost::sparse_attention {

enum family_config_index : std::uint8_t { index_heads, index_head_dim, index_top_k };
inline constexpr family_key family_keys[]{
    {"index_n_heads", 64},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

/// `family_tag` of layers that reuse the tokens selected by the last preceding indexer.
inline constexpr std::uint8_t shares_picks = 1;

/// Sparse latent attention over selected tokens. `Turned` is the rotary style of the indexer.
template <rotary_style Turned>
constexpr tensor token_mixer(const layer_context& ctx, trace& t, const tensor& x) {
    const family_config& family = ctx.config.family;
    const indexed_latent_attention layer{
        make_latent_attention(ctx),          family[index_heads], family[index_head_dim], family[index_top_k], Turned,
        ctx.layer.family_tag != shares_picks};
    return t.call(ctx.spec.names.attention, layer, x);
}

/// Checks the indexer's head size, which includes the rotary part, and that every layer uses sparse attention.
constexpr void check_indexed_layers(config_view json, const model_config& config) {
    if (config.family[index_head_dim] < config.rotary_dim)
        throw_invalid_value(json, "index_head_dim", "at least qk_rope_head_dim");
    (void)checked_size(json, "index_head_dim", config.family[index_heads], config.family[index_head_dim]);
    const auto types = json.optional_array("layer_types");
    if (!types) return;
    if (static_cast<std::int64_t>(types->size()) != config.num_hidden_layers)
        throw_invalid_value(json, "layer_types", "a list with one kind per hidden layer");
    for (const config_view entry : *types) {
        const string_ref name = entry.as_string();
        if (name != "indexed_attention" && name != "deepseek_sparse_attention" && name != "qwen_sparse_attention")
            throw_unsupported(json, "layer_types", "layer type not supported by this model type");
    }
}

/// Parses the sizes of latent attention and of the indexer.
constexpr void parse_indexed_attention(config_view json, model_config& config) {
    parse_latent_attention(json, config);
    config.rope_interleave = true;
    config.mlp_bias = false;
    if (config.mla.q_lora_rank == 0)
        throw_invalid_value(json, "q_lora_rank", "a positive integer, because the indexer uses low-rank queries");
    check_indexed_layers(json, config);
}

constexpr std::int64_t parse_moe_config(config_view json, model_config& config, std::int64_t dense_layers = 3) {
    parse_grouped_experts(json, config, {.shared = 1});
    const std::int64_t dense = json.non_negative("first_k_dense_replace", dense_layers);
    if (const auto older = json.optional_positive("num_experts")) {  // takes precedence over both other keys
        if (*older != config.moe.num_experts && json.contains("n_routed_experts"))
            throw_unsupported(json, "num_experts", "a value other than n_routed_experts is not supported");
        config.moe.num_experts = *older;
    }
    return dense;
}

/// Returns true if the layer has an indexer: from `indexer_types`, else from `index_topk_pattern`, else from a
/// schedule.
constexpr bool has_indexer(config_view json, const model_config& config, std::int64_t i) {
    const auto index = static_cast<std::size_t>(i);
    for (const literal key : {"indexer_types", "index_topk_pattern"}) {
        const auto found = json.find(key);
        if (!found || found->is_null()) continue;
        const string_ref letters = found->is_string() ? found->as_string() : string_ref{};
        const std::size_t n = found->is_string() ? letters.size() : found->as_array().size();
        if (n != static_cast<std::size_t>(config.num_hidden_layers))
            throw_invalid_value(json, key, "a kind of indexer for each layer");
        const string_ref indexer_kind = found->is_string() ? letters.substr(index, 1) : (*found)[index].as_string();
        if (indexer_kind != "full" && indexer_kind != "shared" && indexer_kind != "F" && indexer_kind != "S")
            throw_invalid_value(json, key, "\"full\" or \"shared\" for each layer");
        return indexer_kind == "full" || indexer_kind == "F";
    }
    const std::int64_t index_topk_freq = json.signed_integer("index_topk_freq", 1),
                       every = index_topk_freq > 1 ? index_topk_freq : 1;
    const std::int64_t layer_offset = i - json.signed_integer("index_skip_topk_offset", 2) + 1;
    return (layer_offset > 0 ? layer_offset : 0) % every == 0;
}

inline constexpr family_key glm_keys[]{
    {"index_n_heads", 32},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

}  // namespace llmcost::sparse_attention
