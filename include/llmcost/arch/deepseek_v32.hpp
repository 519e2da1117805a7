// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/layers/sparse_indexer.hpp>
#include <llmcost/reading/latent_attention.hpp>

namespace llmcost::arch {

namespace deepseek_v32_detail {

enum own : std::uint8_t { index_heads, index_head_dim, index_top_k };
inline constexpr own_key keys[]{
    {"index_n_heads", 64},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

/// The word of layers that attend to what the last indexer before them picked.
inline constexpr std::uint8_t shares_picks = 1;

/// Attention to picked tokens; `Turned`: how the indexer rotates.
template <rotation Turned>
constexpr value mix(const site& here, trace& t, const value& x) {
    const own_sizes& own = here.dims.own;
    const indexed_latent_attention layer{latent_attention_of(here), own[index_heads], own[index_head_dim],
                                         own[index_top_k],          Turned,           here.kind.own != shares_picks};
    return t.call(here.row.names.attention, layer, x);
}

/// Heads of an indexer have the rotated part of the others; every layer attends to picked tokens.
constexpr void check_indexed_layers(config_view config, const sizes& s) {
    if (s.own[index_head_dim] < s.rotary_dim) fail_value(config, "index_head_dim", "at least qk_rope_head_dim");
    (void)checked_width(config, "index_head_dim", s.own[index_heads], s.own[index_head_dim]);
    const auto types = config.optional_array("layer_types");
    if (!types) return;
    if (static_cast<std::int64_t>(types->size()) != s.num_hidden_layers)
        fail_value(config, "layer_types", "a list with one kind per hidden layer");
    for (const config_view entry : *types) {
        const string_ref word = entry.as_string();
        if (word != "indexed_attention" && word != "deepseek_sparse_attention" && word != "qwen_sparse_attention")
            fail_unsupported(config, "layer_types", "no layer of this type is of one of these kinds");
    }
}

/// Sizes of latent attention and of the indexer.
constexpr void read_indexed_attention(config_view config, sizes& s) {
    read_latent_attention(config, s);
    s.rope_interleave = true, s.mlp_bias = false;
    if (s.mla.q_lora_rank == 0)
        fail_value(config, "q_lora_rank", "a positive integer, as an indexer reads low-rank queries");
    check_indexed_layers(config, s);
}

constexpr std::int64_t read_mixture(config_view config, sizes& s, std::int64_t dense_layers = 3) {
    read_grouped_experts(config, s, {.shared = 1});
    const std::int64_t dense = config.non_negative("first_k_dense_replace", dense_layers);
    if (const auto older = config.optional_positive("num_experts")) {  // goes before both other names
        if (*older != s.moe.num_experts && config.contains("n_routed_experts"))
            fail_unsupported(config, "num_experts", "another number of experts than n_routed_experts");
        s.moe.num_experts = *older;
    }
    return dense;
}

constexpr void read(config_view config, sizes& s) {
    read_indexed_attention(config, s);
    const std::int64_t dense = read_mixture(config, s);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{.experts = is_sparse(config, s, i, i >= dense)}; });
}

/// Which layers have an indexer: `indexer_types`, else letters or words of `index_topk_pattern`, else a schedule.
constexpr bool has_indexer(config_view config, const sizes& s, std::int64_t i) {
    const auto at = static_cast<std::size_t>(i);
    for (const literal key : {"indexer_types", "index_topk_pattern"}) {
        const auto found = config.find(key);
        if (!found || found->is_null()) continue;
        const string_ref letters = found->is_string() ? found->as_string() : string_ref{};
        const std::size_t n = found->is_string() ? letters.size() : found->as_array().size();
        if (n != static_cast<std::size_t>(s.num_hidden_layers)) fail_value(config, key, "a kind of indexer for each layer");
        const string_ref word = found->is_string() ? letters.substr(at, 1) : (*found)[at].as_string();
        if (word != "full" && word != "shared" && word != "F" && word != "S")
            fail_value(config, key, "kinds that are full or shared");
        return word == "full" || word == "F";
    }
    const std::int64_t given = config.signed_size("index_topk_freq", 1), every = given > 1 ? given : 1;
    const std::int64_t behind = i - config.signed_size("index_skip_topk_offset", 2) + 1;
    return (behind > 0 ? behind : 0) % every == 0;
}

constexpr void read_glm(config_view config, sizes& s) {
    read_indexed_attention(config, s);
    const std::int64_t dense = read_mixture(config, s);
    if (!has_indexer(config, s, 0)) fail_value(config, "indexer_types", "a first layer that is full");
    plan_layers(config, s, [&](std::int64_t i) {
        return layer_kind{.experts = is_sparse(config, s, i, i >= dense),
                          .own = has_indexer(config, s, i) ? std::uint8_t{0} : shares_picks};
    });
}

inline constexpr own_key glm_keys[]{
    {"index_n_heads", 32},
    {"index_head_dim", 128},
    {"index_topk", 2048},
};

}  // namespace deepseek_v32_detail

// transformers/models/deepseek_v32: DeepSeek V3 with attention to the tokens that an indexer picks
inline constexpr architecture deepseek_v32 = [](architecture a) {
    a.model_type = "deepseek_v32", a.prefix = "DeepseekV32", a.heads = language_heads;
    a.read = deepseek_v32_detail::read, a.own = deepseek_v32_detail::keys;
    a.mix = deepseek_v32_detail::mix<rotation::half>;
    a.defaults.max_position_embeddings = 163840;
    a.defaults.mla = {
        .q_lora_rank = 1536, .kv_lora_rank = 512, .qk_nope_head_dim = 128, .qk_rope_head_dim = 64, .v_head_dim = 128};
    return a;
}(deepseek_v3);

// transformers/models/glm_moe_dsa: indexers that rotate pairs, layers that share what an earlier one picked
inline constexpr architecture glm_moe_dsa = [](architecture a) {
    a.model_type = "glm_moe_dsa", a.prefix = "GlmMoeDsa";
    a.read = deepseek_v32_detail::read_glm, a.own = deepseek_v32_detail::glm_keys;
    a.mix = deepseek_v32_detail::mix<rotation::split_pairs>, a.kinds.own = deepseek_v32_detail::shares_picks;
    a.defaults.vocab_size = 154880, a.defaults.hidden_size = 6144, a.defaults.intermediate_size = 12288;
    a.defaults.num_hidden_layers = 78, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 64;
    a.defaults.max_position_embeddings = 202752, a.defaults.moe.n_group = a.defaults.moe.topk_group = 1;
    a.defaults.mla.q_lora_rank = 2048, a.defaults.mla.v_head_dim = 256, a.defaults.mla.qk_nope_head_dim = 192;
    return a;
}(deepseek_v32);

}  // namespace llmcost::arch
