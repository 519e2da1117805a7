// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2_vl.hpp>
#include <llmcost/arch/qwen3.hpp>

namespace llmcost::arch {

namespace qwen3_vl_detail {

enum own : std::uint8_t { patch, frames, channels, merge, out_width, places, deep };
inline constexpr own_key keys[]{
    {"patch_size", 16},
    {"temporal_patch_size", 2},
    {"in_channels", 3},
    {"spatial_merge_size", 2},
    {"out_hidden_size", 3584},
    {"num_position_embeddings", 2304},
    {.otherwise = 3, .value = own_value::computed},  // layers that hand something to the text model's first layers
};

/// Several patches as one: two layers with a norm in front, over a patch or over all of them.
constexpr void describe_merger(const site& here, idle_modules& held, bool over_all) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, all = in * own[merge] * own[merge];
    held.layer_norm("norm", over_all ? all : in);
    held.linear("linear_fc1", all, all);
    held.plain("act_fn", {"", "GELU"});
    held.linear("linear_fc2", all, own[out_width]);
}

/// Patches of several frames with learned and rotary positions, mergers; the last one and those of `deep` layers.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    idle_modules held{t};
    held.within("patch_embed", here.type("VisionPatchEmbed"), [&] {
        held.weighted("proj", {"", "Conv3d"}, {in, own[channels], own[frames], own[patch], own[patch]});
    });
    held.embedding("pos_embed", own[places], in);
    held.plain("rotary_pos_emb", here.type("VisionRotaryEmbedding"));
    held.list("blocks", here.dims.num_hidden_layers, here.type("VisionBlock"), [&] {
        held.layer_norm("norm1", in);
        held.layer_norm("norm2", in);
        held.within("attn", here.type("VisionAttention"), [&] {
            held.linear("qkv", in, 3 * in);
            held.linear("proj", in, in);
        });
        held.within("mlp", here.type("VisionMLP"), [&] {
            held.linear("linear_fc1", in, inner);
            held.linear("linear_fc2", inner, in);
            held.act("act_fn", here.dims.hidden_act);
        });
    });
    const class_name merger = here.type("VisionPatchMerger");
    held.within("merger", merger, [&] { describe_merger(here, held, false); });
    if (own[deep] > 0) held.list("deepstack_merger_list", own[deep], merger, [&] { describe_merger(here, held, true); });
    return {};
}

constexpr void read_vision(config_view config, sizes& s) {
    if (const auto layers = config.optional_array("deepstack_visual_indexes"))
        s.own[deep] = static_cast<std::int64_t>(layers->size());
    plan_one_mask(config, s);
}

}  // namespace qwen3_vl_detail

/// Of `mrope_section` the second and the third entry are looked up.
constexpr void check_three_axes(config_view config) {
    if (read_sections(config, {3, 32}).axes < 3) fail_sections(config, "frequencies of three axes");
}

constexpr void read_qwen3_vl(config_view config, sizes& s) {
    check_three_axes(config);
    plan_one_mask(config, s);
}

/// Routers always norm their weights.
constexpr void read_qwen3_vl_moe(config_view config, sizes& s) {
    check_three_axes(config);
    read_experts(config, s, config.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    s.moe.norm_topk_prob = true;
    plan_one_mask(config, s);
    const mixer_kind mixer = s.layers[0].mixer;
    const expert_places experts(config, s);
    plan_layers(config, s, [&](std::int64_t i) { return layer_kind{mixer, experts.has(i)}; });
}

// transformers/models/qwen3_vl: Qwen3 with positions of three axes
inline constexpr architecture qwen3_vl_text = [](architecture a) {
    a.model_type = "qwen3_vl_text", a.prefix = "Qwen3VL", a.read = read_qwen3_vl, a.heads = {head_kind::none};
    a.axes = rotary_axes::interleaved, a.masks = mask_rule::by_window;
    a.names.model_type = "TextModel", a.names.layer_type = "TextDecoderLayer", a.names.attention_type = "TextAttention";
    a.names.norm_type = "TextRMSNorm", a.names.mlp_type = "TextMLP", a.names.rotary_type = "TextRotaryEmbedding";
    a.defaults.max_position_embeddings = 128000, a.defaults.sliding_window = 0, a.defaults.head = head_kind::none;
    return a;
}(qwen3);

// transformers/models/qwen3_vl_moe: experts as in Qwen3-MoE
inline constexpr architecture qwen3_vl_moe_text = [](architecture a) {
    a.model_type = "qwen3_vl_moe_text", a.prefix = "Qwen3VLMoe", a.read = read_qwen3_vl_moe;
    a.router = router_kind::softmax_top_k;
    a.names.moe_type = "TextSparseMoeBlock", a.names.experts_type = "TextExperts";
    a.names.router_type = "TextTopKRouter";
    a.defaults.hidden_size = 2048, a.defaults.intermediate_size = 5632, a.defaults.num_hidden_layers = 24;
    a.defaults.num_attention_heads = 16, a.defaults.num_key_value_heads = 16, a.defaults.head_dim = 0;
    a.defaults.moe = {.num_experts = 60, .num_experts_per_tok = 4, .intermediate_size = 1408};
    a.defaults.tie_word_embeddings = true;
    return a;
}(qwen3_vl_text);

// transformers/models/qwen3_vl, Qwen3VLVisionConfig
inline constexpr architecture qwen3_vl_vision{
    .model_type = "qwen3_vl_vision",
    .prefix = "Qwen3VL",
    .base = qwen3_vl_detail::see,
    .read = qwen3_vl_detail::read_vision,
    .own = qwen3_vl_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionModel"},
    .keys = {{"num_hidden_layers", "depth", key_rule::standard_first}},
    .defaults = {.hidden_size = 1152,
                 .intermediate_size = 4304,
                 .num_hidden_layers = 27,
                 .hidden_act = activation::gelu_pytorch_tanh},
};
inline constexpr architecture qwen3_vl_moe_vision = [](architecture a) {
    a.model_type = "qwen3_vl_moe_vision", a.prefix = "Qwen3VLMoe";
    return a;
}(qwen3_vl_vision);

// transformers/models/qwen3_vl
inline constexpr architecture qwen3_vl = [](architecture a) {
    a.model_type = "qwen3_vl", a.prefix = "Qwen3VL", a.base = qwen2_vl_detail::see_and_read;
    a.text = {.key = "text_config", .otherwise = &qwen3_vl_text, .always = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &qwen3_vl_vision, .always = true};
    return a;
}(shared_composite);

// transformers/models/qwen3_vl_moe
inline constexpr architecture qwen3_vl_moe = [](architecture a) {
    a.model_type = "qwen3_vl_moe", a.prefix = "Qwen3VLMoe", a.read_whole = weigh_balance_of_text;
    a.text.otherwise = &qwen3_vl_moe_text, a.beside[0].otherwise = &qwen3_vl_moe_vision;
    return a;
}(qwen3_vl);

}  // namespace llmcost::arch
