// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#include <llmcost/models.hpp>

#include <llmcost/bundled/all.hpp>
#include <llmcost/json.hpp>
#include <llmcost/llmcost.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

using llmcost::layer_kind;
using llmcost::mixer_kind;
using llmcost::model;
using llmcost::shape;
namespace arch = llmcost::arch;

// ---- what a planner's compiler can see

static_assert(llmcost::count_model(llmcost::models::llama_3_2_1b, {}).params == llmcost::count(1'235'814'400));
static_assert(llmcost::models::gemma_2_2b.dims.layers.mixed);

// a rule of the caller's own, and a row without one
constexpr model dense_first =
    llmcost::planned(arch::mixtral, {.num_hidden_layers = 3}, [](std::int64_t i) { return layer_kind{.experts = i > 0}; });
static_assert(dense_first.kind == &arch::mixtral && dense_first.dims.layers.mixed);
static_assert(!dense_first.dims.layers[0].experts && dense_first.dims.layers[2].experts);
static_assert(llmcost::planned(arch::llama, {.num_hidden_layers = 3}).dims == shape{.num_hidden_layers = 3});

// nothing but the layers is taken from the row
constexpr model few = llmcost::planned(arch::gemma2, {.num_hidden_layers = 2, .sliding_window = 8});
static_assert(!few.dims.attention_soft_cap && few.dims.sliding_window == 8);
static_assert(few.dims.layers[0].mixer == mixer_kind::sliding_attention);
static_assert(few.dims.layers[1].mixer == mixer_kind::full_attention);

namespace {

using fields = std::vector<std::pair<std::string, long long>>;

/// Every field of a shape with its name, so that a test can say which one differs.
fields fields_of(const shape& s) {
    fields all;
    const auto add = [&](const char* name, auto value) { all.emplace_back(name, static_cast<long long>(value)); };
    add("vocab_size", s.vocab_size), add("hidden_size", s.hidden_size), add("intermediate_size", s.intermediate_size);
    add("num_hidden_layers", s.num_hidden_layers), add("num_attention_heads", s.num_attention_heads);
    add("num_key_value_heads", s.num_key_value_heads), add("head_dim", s.head_dim), add("rotary_dim", s.rotary_dim);
    add("max_position_embeddings", s.max_position_embeddings), add("sliding_window", s.sliding_window);
    add("type_vocab_size", s.type_vocab_size), add("embedding_size", s.embedding_size);
    add("relative_attention_num_buckets", s.relative_attention_num_buckets), add("num_labels", s.num_labels);
    add("hidden_act", s.hidden_act), add("pooler_act", s.pooler_act), add("type", s.type), add("head", s.head);
    add("tie_word_embeddings", s.tie_word_embeddings), add("attention_bias", s.attention_bias);
    add("output_bias", s.output_bias), add("mlp_bias", s.mlp_bias), add("gated_mlp", s.gated_mlp);
    add("scales_output", s.scales_output), add("head_bias", s.head_bias), add("qk_norm", s.qk_norm);
    add("tunes_temperature", s.tunes_temperature), add("clips_qkv", s.clips_qkv), add("rope_interleave", s.rope_interleave),
        add("parallel_residual", s.parallel_residual);
    add("norms_apart", s.norms_apart), add("norms_after_sums", s.norms_after_sums);
    add("residual_from_norm", s.residual_from_norm), add("norm_affine", s.norm_affine), add("final_norm", s.final_norm);
    add("alibi", s.alibi), add("upcast_attention", s.upcast_attention), add("qkv", s.qkv);
    add("attention_soft_cap", s.attention_soft_cap), add("logits_soft_cap", s.logits_soft_cap),
        add("quantized", s.quantized);
    add("moe.num_experts", s.moe.num_experts), add("moe.num_experts_per_tok", s.moe.num_experts_per_tok);
    add("moe.intermediate_size", s.moe.intermediate_size),
        add("moe.shared_intermediate_size", s.moe.shared_intermediate_size);
    add("moe.n_group", s.moe.n_group), add("moe.topk_group", s.moe.topk_group);
    add("moe.norm_topk_prob", s.moe.norm_topk_prob), add("moe.limits_groups", s.moe.limits_groups);
    add("mla.q_lora_rank", s.mla.q_lora_rank), add("mla.kv_lora_rank", s.mla.kv_lora_rank);
    add("mla.qk_nope_head_dim", s.mla.qk_nope_head_dim), add("mla.qk_rope_head_dim", s.mla.qk_rope_head_dim);
    add("mla.v_head_dim", s.mla.v_head_dim);
    add("ssm.state_size", s.ssm.state_size), add("ssm.conv_kernel", s.ssm.conv_kernel);
    add("ssm.intermediate_size", s.ssm.intermediate_size), add("ssm.time_step_rank", s.ssm.time_step_rank);
    add("ssm.n_groups", s.ssm.n_groups), add("ssm.num_heads", s.ssm.num_heads), add("ssm.head_dim", s.ssm.head_dim);
    add("ssm.chunk_size", s.ssm.chunk_size), add("ssm.use_bias", s.ssm.use_bias);
    add("ssm.use_conv_bias", s.ssm.use_conv_bias), add("ssm.residual_in_fp32", s.ssm.residual_in_fp32);
    add("delta.num_key_heads", s.delta.num_key_heads), add("delta.num_value_heads", s.delta.num_value_heads);
    add("delta.key_head_dim", s.delta.key_head_dim), add("delta.value_head_dim", s.delta.value_head_dim);
    add("delta.conv_kernel", s.delta.conv_kernel), add("encoder.num_hidden_layers", s.encoder.num_hidden_layers);
    add("encoder.num_attention_heads", s.encoder.num_attention_heads);
    add("encoder.intermediate_size", s.encoder.intermediate_size), add("vision.image_height", s.vision.image_height);
    add("vision.image_width", s.vision.image_width), add("vision.patch_size", s.vision.patch_size);
    add("vision.num_channels", s.vision.num_channels), add("layers.mixed", s.layers.mixed);
    add("layers.common", s.layers.common);
    for (const std::uint8_t code : s.layers.kinds) add("layers.kinds", code);
    return all;
}

void check_same(const shape& preset, const shape& read) {
    const fields mine = fields_of(preset), expected = fields_of(read);
    for (std::size_t i = 0; i < mine.size(); ++i) {
        CAPTURE(mine[i].first);
        CHECK(mine[i].second == expected[i].second);
    }
    CHECK(preset == read);  // every field, those too that the list above may not know yet
}

}  // namespace

TEST_CASE("a preset is what its bundled configuration says, field by field") {
    for (const llmcost::models::named_model& preset : llmcost::models::all) {
        CAPTURE(preset.name);
        const llmcost::bundled_config* config = llmcost::find_bundled(preset.name);
        REQUIRE(config != nullptr);
        CHECK(config->name == preset.name);
        const model read = llmcost::parse_config(config->json, std::string(config->name)).read_with(llmcost::read_model);
        CHECK(preset.literal->kind == read.kind);
        check_same(preset.literal->dims, read.dims);
    }
}

TEST_CASE("a preset has the parameters of the reference") {
    for (const llmcost::models::named_model& preset : llmcost::models::all) {
        CAPTURE(preset.name);
        const llmcost::bundled_config* config = llmcost::find_bundled(preset.name);
        REQUIRE(config != nullptr);
        const llmcost::count counted = llmcost::count_model(*preset.literal, {.sequence = 1}).params;
        CHECK(llmcost::count_text{counted}.view() == std::to_string(config->parameters));
    }
}

TEST_CASE("the list of presets is whole") {
    std::ifstream in(std::string(LLMCOST_TEST_DIR) + "/../include/llmcost/models.hpp");
    REQUIRE(in);
    std::size_t written = 0;
    for (std::string line; std::getline(in, line);)
        if (line.starts_with("inline constexpr model ")) ++written;
    CHECK(written == std::size(llmcost::models::all));
}
