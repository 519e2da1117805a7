// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/config/latent_attention.hpp>
#include <llmcost/layers/sparse_indexer.hpp>

namespace llmcost::arch {

namespace deepseek_v32_detail {

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

constexpr void parse_config(config_view json, model_config& config) {
    parse_indexed_attention(json, config);
    const std::int64_t dense = parse_moe_config(json, config);
    set_layers(json, config,
               [&](std::int64_t i) { return layer_spec{.has_experts = is_sparse(json, config, i, i >= dense)}; });
}

/// Returns true if the layer has an indexer: from `indexer_types`, else from `index_topk_pattern`, else from a
/// schedule.
constexpr bool has_indexer(config_view json, const model_config& config, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    for (const literal key : {"indexer_types", "index_topk_pattern"}) {
        const auto found = json.find(key);
        if (!found || found->is_null()) continue;
        const string_ref letters = found->is_string() ? found->as_string() : string_ref{};
        const std::size_t n = found->is_string() ? letters.size() : found->as_array().size();
        if (n != static_cast<std::size_t>(config.num_hidden_layers))
            throw_invalid_value(json, key, "a kind of indexer for each layer");
        const string_ref name = found->is_string() ? letters.substr(at, 1) : (*found)[at].as_string();
        if (name != "full" && name != "shared" && name != "F" && name != "S")
            throw_invalid_value(json, key, "\"full\" or \"shared\" for each layer");
        return name == "full" || name == "F";
    }
    const std::int64_t index_topk_freq = json.signed_integer("index_topk_freq", 1),
                       every = index_topk_freq > 1 ? index_topk_freq : 1;
    const std::int64_t layer_offset = i - json.signed_integer("index_skip_topk_offset", 2) + 1;
    return (layer_offset > 0 ? layer_offset : 0) % every == 0;
}

constexpr void parse_glm(config_view json, model_config& config) {
    parse_indexed_attention(json, config);
    const std::int64_t dense = parse_moe_config(json, config);
    if (!has_indexer(json, config, 0))
        throw_invalid_value(json, "indexer_types", "a list whose first entry is \"full\"");
    set_layers(json, config, [&](std::int64_t i) {
        return layer_spec{.has_experts = is_sparse(json, config, i, i >= dense),
                          .family_tag = has_indexer(json, config, i) ? std::uint8_t{0} : shares_picks};
    });
}

inline constexpr family_key glm_keys[]{
    {"index_n_heads", 32},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

}  // namespace deepseek_v32_detail

// DeepSeek V3.2. Derived from DeepSeek V3, with sparse attention over tokens that an indexer selects.
//
// Source: transformers/models/deepseek_v32
inline constexpr model_spec deepseek_v32 = [](model_spec spec) {
    spec.model_type = "deepseek_v32";
    spec.class_prefix = "DeepseekV32";
    spec.supported_heads = language_heads;
    spec.parse_config = deepseek_v32_detail::parse_config;
    spec.family_keys = deepseek_v32_detail::family_keys;
    spec.token_mixer = deepseek_v32_detail::token_mixer<rotary_style::rotate_half>;
    spec.defaults.max_position_embeddings = 163840;
    spec.defaults.mla = {
        .q_lora_rank = 1536, .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
    return spec;
}(deepseek_v3);

// GLM MoE DSA. Derived from DeepSeek V3.2, with interleaved RoPE in the indexers. Some layers reuse the selection of an
// earlier layer.
//
// Source: transformers/models/glm_moe_dsa
inline constexpr model_spec glm_moe_dsa = [](model_spec spec) {
    spec.model_type = "glm_moe_dsa";
    spec.class_prefix = "GlmMoeDsa";
    spec.parse_config = deepseek_v32_detail::parse_glm;
    spec.family_keys = deepseek_v32_detail::glm_keys;
    spec.token_mixer = deepseek_v32_detail::token_mixer<rotary_style::interleaved_split>;
    spec.supported_layers.max_family_tag = deepseek_v32_detail::shares_picks;
    spec.defaults.vocab_size = 154880;
    spec.defaults.hidden_size = 6144;
    spec.defaults.intermediate_size = 12288;
    spec.defaults.num_hidden_layers = 78;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 64;
    spec.defaults.max_position_embeddings = 202752;
    spec.defaults.moe.n_group = spec.defaults.moe.topk_group = 1;
    spec.defaults.mla.q_lora_rank = 2048;
    spec.defaults.mla.v_head_dim = 256;
    spec.defaults.mla.qk_nope_head_dim = 192;
    return spec;
}(deepseek_v32);

}  // namespace llmcost::arch
