// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/walks/composite.hpp>
#include <llmcost/walks/idle.hpp>

namespace llmcost::arch {

/// Heads share the width whatever `head_dim` says; a window only for layers from `max_window_layers` on.
constexpr void read_qwen2_vl(config_view config, sizes& s) {
    const std::int64_t given = s.head_dim;
    plan_qwen_window(config, s, 80);
    share_among_heads(config, s, {"num_attention_heads"});
    if (s.head_dim != given) fail_value(config, "head_dim", "hidden_size / num_attention_heads, or no such key");
    if (2 * read_sections(config, {3, 64}).frequencies != s.rotary_dim)
        fail_sections(config, "frequencies per axis that add up to half of a head");
    s.attention_bias = true;
    s.output_bias = false;
}

namespace qwen2_vl_detail {

enum own : std::uint8_t { patch, frames, channels, merge, width, mlp_ratio };
inline constexpr own_key keys[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3},
    {"spatial_merge_size", 2}, {"embed_dim", 1280},        {"mlp_ratio", 4},
};
// 2.5: as wide as `hidden_size`, onto `out_hidden_size`
inline constexpr own_key keys_2_5[]{
    {"patch_size", 14}, {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2}, {"out_hidden_size", 3584},
};
constexpr std::uint8_t out_width = width;

/// Several patches as one: a norm, two layers with an activation.
constexpr void describe_merger(idle_modules& held, class_name type, std::int64_t in, std::int64_t many, std::int64_t out,
                               const char* norm_type) {
    held.within("merger", type, [&] {
        if (is_empty(norm_type))
            held.layer_norm("ln_q", in);
        else
            held.norm("ln_q", in, {"", norm_type});
        held.within("mlp", {"", "Sequential"}, [&] {
            held.linear("0", many * in, many * in);
            held.plain("1", {"", "GELU"});
            held.linear("2", many * in, out);
        });
    });
}

/// Patches of several frames, layers with rotary positions, a merger.
constexpr value see(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = own[width], inner = in * own[mlp_ratio];
    idle_modules held{t};
    held.within("patch_embed", {"", "PatchEmbed"}, [&] {
        held.weighted("proj", {"", "Conv3d"}, {in, own[channels], own[frames], own[patch], own[patch]}, false);
    });
    held.plain("rotary_pos_emb", {"Qwen2VL", "VisionRotaryEmbedding"});
    held.list("blocks", here.dims.num_hidden_layers, {"Qwen2VL", "VisionBlock"}, [&] {
        held.layer_norm("norm1", in);
        held.layer_norm("norm2", in);
        held.within("attn", {"", "VisionAttention"}, [&] {
            held.linear("qkv", in, 3 * in);
            held.linear("proj", in, in);
        });
        held.within("mlp", {"", "VisionMlp"}, [&] {
            held.linear("fc1", in, inner);
            held.act("act", here.dims.hidden_act);
            held.linear("fc2", inner, in);
        });
    });
    describe_merger(held, {"", "PatchMerger"}, in, own[merge] * own[merge], here.dims.hidden_size, "");
    return {};
}

/// The same with RMS norms and gated feed-forward blocks.
constexpr value see_2_5(const site& here, trace& t) {
    const own_sizes& own = here.dims.own;
    const std::int64_t in = here.dims.hidden_size, inner = here.dims.intermediate_size;
    const class_name norm{"Qwen2_5_VL", "RMSNorm"};
    idle_modules held{t};
    held.within("patch_embed", {"Qwen2_5_", "VisionPatchEmbed"}, [&] {
        held.weighted("proj", {"", "Conv3d"}, {in, own[channels], own[frames], own[patch], own[patch]}, false);
    });
    held.plain("rotary_pos_emb", {"Qwen2_5_VL", "VisionRotaryEmbedding"});
    held.list("blocks", here.dims.num_hidden_layers, {"Qwen2_5_VL", "VisionBlock"}, [&] {
        held.norm("norm1", in, norm);
        held.norm("norm2", in, norm);
        held.within("attn", {"Qwen2_5_VL", "VisionAttention"}, [&] {
            held.linear("qkv", in, 3 * in);
            held.linear("proj", in, in);
        });
        held.within("mlp", {"Qwen2_5_VL", "MLP"}, [&] {
            held.linear("gate_proj", in, inner);
            held.linear("up_proj", in, inner);
            held.linear("down_proj", inner, in);
            held.act("act_fn", here.dims.hidden_act);
        });
    });
    describe_merger(held, {"Qwen2_5_VL", "PatchMerger"}, in, own[merge] * own[merge], own[out_width], "Qwen2_5_VLRMSNorm");
    return {};
}

/// What sees, which a text does not call, and what reads.
constexpr value see_and_read(const site& here, trace& t) {
    (void)describe_tower(here, t, 0, "visual", role::vision);
    return describe_text(here, t, "language_model");
}

}  // namespace qwen2_vl_detail

// transformers/models/qwen2_vl: the text model alone, positions of three axes
inline constexpr architecture qwen2_vl_text = [](architecture a) {
    a.model_type = "qwen2_vl_text", a.prefix = "Qwen2VL", a.read = read_qwen2_vl, a.heads = {head_kind::none};
    a.axes = rotary_axes::sections, a.names.model_type = "TextModel", a.names.mlp_prefix = "Qwen2";
    a.defaults.vocab_size = 152064, a.defaults.hidden_size = 8192, a.defaults.intermediate_size = 29568;
    a.defaults.num_hidden_layers = 80, a.defaults.num_attention_heads = 64, a.defaults.num_key_value_heads = 8;
    a.defaults.max_position_embeddings = 32768, a.defaults.sliding_window = 4096, a.defaults.head = head_kind::none;
    return a;
}(qwen2);

// transformers/models/qwen2_5_vl: the same text model
inline constexpr architecture qwen2_5_vl_text = [](architecture a) {
    a.model_type = "qwen2_5_vl_text", a.prefix = "Qwen2_5_VL";
    return a;
}(qwen2_vl_text);

// transformers/models/qwen2_vl, Qwen2VLVisionConfig: `hidden_size` is the text model's
inline constexpr architecture qwen2_vl_vision{
    .model_type = "qwen2_vl_vision",
    .prefix = "Qwen2",
    .base = qwen2_vl_detail::see,
    .own = qwen2_vl_detail::keys,
    .rotated = rotation::none,
    .names = {.model_type = "VisionTransformerPretrainedModel"},
    .keys = {{"num_hidden_layers", "depth", key_rule::standard_first}},
    .defaults = {.hidden_size = 3584, .num_hidden_layers = 32, .hidden_act = activation::quick_gelu},
};
inline constexpr architecture qwen2_5_vl_vision = [](architecture a) {
    a.model_type = "qwen2_5_vl_vision", a.prefix = "Qwen2_5_", a.base = qwen2_vl_detail::see_2_5;
    a.own = qwen2_vl_detail::keys_2_5;
    a.defaults.intermediate_size = 3420, a.defaults.hidden_act = activation::silu;
    return a;
}(qwen2_vl_vision);

// transformers/models/qwen2_vl: the text model's keys stand at the root in older files
inline constexpr architecture qwen2_vl = [](architecture a) {
    a.model_type = "qwen2_vl", a.prefix = "Qwen2VL", a.base = qwen2_vl_detail::see_and_read;
    a.text = {.key = "text_config", .otherwise = &qwen2_vl_text, .always = true, .ties = true, .flat = true};
    a.beside[0] = {.key = "vision_config", .otherwise = &qwen2_vl_vision, .always = true};
    return a;
}(shared_composite);

// transformers/models/qwen2_5_vl
inline constexpr architecture qwen2_5_vl = [](architecture a) {
    a.model_type = "qwen2_5_vl", a.prefix = "Qwen2_5_VL";
    a.text.otherwise = &qwen2_5_vl_text, a.beside[0].otherwise = &qwen2_5_vl_vision;
    return a;
}(qwen2_vl);

}  // namespace llmcost::arch
