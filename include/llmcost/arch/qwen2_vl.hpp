// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen2.hpp>
#include <llmcost/config/processor.hpp>
#include <llmcost/forward/packed_sequences.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

/// Parses `config.json`. The head size is always hidden_size / heads. Layers from `max_window_layers` on have a sliding
/// window.
constexpr void parse_qwen2_vl(config_view json, model_config& config) {
    const std::int64_t configured_head_dim = config.head_dim;
    set_qwen_sliding_window(json, config, 80);
    divide_by_heads(json, config, {"num_attention_heads"});
    if (config.head_dim != configured_head_dim)
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads, or no such key");
    if (2 * parse_sections(json, {3, 64}).frequencies != config.rotary_dim)
        fail_sections(json, "frequencies per axis that add up to half of a head");
    config.attention_bias = true;
    config.output_bias = false;
}

namespace qwen2_vl_detail {

using qwen_vision::grid_of, qwen_vision::merge, qwen_vision::mlp_ratio, qwen_vision::patch_embed,
    qwen_vision::patch_merger, qwen_vision::patches_in, qwen_vision::width;

inline constexpr family_key family_keys[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3},
    {"spatial_merge_size", 2}, {"embed_dim", 1280},        {"mlp_ratio", 4},
};

/// A block: norm, attention, residual; norm, feed-forward, residual.
struct tower_block {
    layer_context ctx;
    const packed_attention_pattern& made;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return {"Qwen2VL", "VisionBlock"}; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t in = ctx.config.family[width];
        const norm_module layer_norm{norm_kind::layer, in};
        const packed_attention attention{
            {"", "VisionAttention"}, ctx.config.num_attention_heads, made, made.pictures.full_images()};
        const tensor middle = t.add(x, t.call("attn", attention, t.call("norm1", layer_norm, x)));
        const mlp_module vision_mlp{
            mlp_kind::plain,   in,   in * ctx.config.family[mlp_ratio],         ctx.config.hidden_act,
            {"", "VisionMlp"}, true, {.up = "fc1", .down = "fc2", .act = "act"}};
        return t.add(middle, t.call("mlp", vision_mlp, t.call("norm2", layer_norm, middle)));
    }
};

/// Patches of several frames, layers with rotary positions, a merger.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = family[width];
    packed_attention_pattern made{.pictures = grid_of(ctx, t)};
    tensor x = t.call("patch_embed", patch_embed{ctx, {"", "PatchEmbed"}, in}, patches_in(ctx, t, made.pictures));
    const packed_position_table table{in / ctx.config.num_attention_heads, {"Qwen2VL", "VisionRotaryEmbedding"}};
    const tensor_pair turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first;
    made.sin = turns.second;
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, tower_block{ctx, made}, x);
    const patch_merger merger{{"", "PatchMerger"}, in, family[merge] * family[merge], ctx.config.hidden_size, ""};
    return t.call("merger", merger, x);
}

}  // namespace qwen2_vl_detail

// transformers/models/qwen2_vl: the text model alone, positions of three axes
inline constexpr model_spec qwen2_vl_text = [](model_spec spec) {
    spec.model_type = "qwen2_vl_text";
    spec.class_prefix = "Qwen2VL";
    spec.parse_config = parse_qwen2_vl;
    spec.supported_heads = {head_kind::none};
    spec.rotary_axes = rotary_axis_layout::sections;
    spec.names.model_class = "TextModel";
    spec.names.mlp_class_prefix = "Qwen2";
    spec.defaults.vocab_size = 152064;
    spec.defaults.hidden_size = 8192;
    spec.defaults.intermediate_size = 29568;
    spec.defaults.num_hidden_layers = 80;
    spec.defaults.num_attention_heads = 64;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 32768;
    spec.defaults.sliding_window = 4096;
    spec.defaults.head = head_kind::none;
    return spec;
}(qwen2);

// transformers/models/qwen2_vl, Qwen2VLVisionConfig: `hidden_size` is the text model's
inline constexpr submodel_spec qwen2_vl_vision{
    .model_type = "qwen2_vl_vision",
    .class_prefix = "Qwen2",
    .base_model = qwen2_vl_detail::encode_images,
    .family_keys = qwen2_vl_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "VisionTransformerPretrainedModel"},
    .config_keys = {{"num_hidden_layers", "depth", key_rule::standard_name_first},
                    {"num_attention_heads", "num_heads", key_rule::standard_name_first}},
    .defaults = {.hidden_size = 3584,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 16,
                 .hidden_act = activation::quick_gelu},
};

// transformers/models/qwen2_vl: older files have the text model's keys at the root
inline constexpr model_spec qwen2_vl = [](model_spec spec) {
    spec.model_type = "qwen2_vl";
    spec.class_prefix = "Qwen2VL";
    spec.base_model = qwen_vision::forward_vision_language<false>;
    spec.compute_media_shapes = qwen_vision::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.modalities.has_images = spec.modalities.has_videos = true;
    spec.family_keys = qwen_vision::bound_keys;
    spec.text_model = {.key = "text_config",
                       .default_spec = &qwen2_vl_text,
                       .ignores_model_type = true,
                       .ties_embeddings = true,
                       .is_flat = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &qwen2_vl_vision, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
