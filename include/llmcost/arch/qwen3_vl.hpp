// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/qwen3.hpp>
#include <llmcost/config/experts.hpp>
#include <llmcost/forward/deepstack.hpp>
#include <llmcost/forward/qwen_vision.hpp>

namespace llmcost::arch {

namespace qwen3_vl_detail {

using deepstack::block_of, deepstack::deep, deepstack::deep_layer, deepstack::deep_place, deepstack::deepstack_features,
    deepstack::merge, deepstack::merge_deepstack_features, deepstack::out_width, deepstack::places;

inline constexpr family_key family_keys[]{
    {"patch_size", 16},
    {"temporal_patch_size", 2},
    {"in_channels", 3},
    {"spatial_merge_size", 2},
    {"out_hidden_size", 3584},
    {"num_position_embeddings", 2304},
    {.default_value = 3,
     .type = family_key_type::computed},  // layers that hand something to the text model's first layers
};

/// What processors make of images and videos: Qwen2-VL's of the former, one of its own of the latter.
constexpr media_shapes compute_media_shapes(const model& m, const workload& load) {
    return qwen_vision::compute_shapes_within(m, load, {.all_frames = true});
}

/// Several patches as one: two layers with a norm in front, over a patch or over all of them.
struct merger {
    layer_context ctx;
    bool over_all;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionPatchMerger"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const std::int64_t in = ctx.config.hidden_size, all = in * family[merge] * family[merge];
        const tensor h =
            t.call("norm", norm_module{norm_kind::layer, over_all ? all : in}, over_all ? x.view({-1, all}) : x);
        const tensor hidden = t.call("linear_fc1", linear{all, all, true}, h.view({-1, all}));
        return t.call("linear_fc2", linear{all, family[out_width], true}, t.call("act_fn", gelu_module{}, hidden));
    }
};

/// Patches of several frames with learned and rotary positions, mergers; the last one and those of `deep` layers.
constexpr deepstack_features encode_deepstack(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const model_config& config = ctx.config;
    packed_attention_pattern made{.pictures = qwen_vision::grid_of(ctx, t)};
    const std::int64_t in = config.hidden_size, rows = made.pictures.patches();
    const qwen_vision::patch_embed embed{ctx, ctx.class_of("VisionPatchEmbed"), in, true};
    tensor x = t.call("patch_embed", embed, qwen_vision::patches_in(ctx, t, made.pictures));
    x = t.add(x, resampled_positions(t, "pos_embed", family[places], in, rows));
    const packed_position_table table{in / config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, rows);
    made.cos = turns.first;
    made.sin = turns.second;
    const attention_inputs none{};
    deepstack_features out;
    for (loop layer_loop = t.loop_modules(config.num_hidden_layers, config.layers, x); layer_loop.next();) {
        x = t.call({"blocks", layer_loop.index()}, block_of(ctx.for_layer(layer_loop, none), made), x);
        if (layer_loop.layer().family_tag != deep_layer) continue;
        const std::int64_t place = deep_place(config, layer_loop.index());
        out.deep[place < 3 ? place : 2] = t.call({"deepstack_merger_list", place}, merger{ctx, true}, x);
    }
    out.last = t.call("merger", merger{ctx, false}, x);
    return out;
}

constexpr tensor encode_images(const layer_context& ctx, trace& t) { return encode_deepstack(ctx, t).last; }

constexpr void parse_vision_config(config_view json, model_config& config) {
    const auto layers = json.optional_array("deepstack_visual_indexes");
    if (layers) config.family[deep] = static_cast<std::int64_t>(layers->size());
    const auto hands_on = [&](std::int64_t layer) {
        if (!layers) return layer == 8 || layer == 16 || layer == 24;
        for (const config_view entry : *layers)
            if (entry.as_non_negative() == layer) return true;
        return false;
    };
    set_single_mask(json, config);
    for (std::int64_t i = 0; i < config.num_hidden_layers; ++i)
        set_layer(json, config, i, {.family_tag = hands_on(i) ? deep_layer : std::uint8_t{0}});
}

/// Runs the vision encoder, then the text model.
constexpr tensor forward_vision_language(const layer_context& ctx, trace& t) {
    return forward_text_with_features(ctx, t, "language_model", [&](attention_inputs& placed) {
        const layer_context tower = ctx.component(0);
        const module_info visual{.name = "visual",
                                 .class_of_module = tower.class_of(tower.spec.names.model_class),
                                 .module_role = role::vision};
        deepstack_features found[2];
        int n = 0;
        encode_images(ctx, t, [&] {
            deepstack_features& now = found[n++];
            t.enter(visual);
            now = encode_deepstack(tower, t);
            placed.family_tensors[0] =
                t.masked_scatter(placed.family_tensors[0], t.cat({t.leave(visual, now.last)}, 0));
        });
        qwen_vision::place_in_time(ctx, t);
        const std::int64_t layers = has_vision_inputs(t) ? tower.config.family[deep] : 0;
        for (std::int64_t i = 0; i < layers; ++i) {
            const std::int64_t level = i < 3 && found[0].deep[i].rank > 0 ? i : 0;
            placed.family_tensors[i < 3 ? i + 1 : 3] =
                merge_deepstack_features(t, found[0].deep[level], found[1].deep[level]);
        }
    });
}

}  // namespace qwen3_vl_detail

/// Of `mrope_section` the second and the third entry are looked up.
constexpr void check_three_axes(config_view json) {
    if (parse_sections(json, {3, 32}).axes < 3) fail_sections(json, "frequencies of three axes");
}

constexpr void parse_qwen3_vl(config_view json, model_config& config) {
    check_three_axes(json);
    set_single_mask(json, config);
}

/// Routers always norm their weights.
constexpr void parse_qwen3_vl_moe(config_view json, model_config& config) {
    check_three_axes(json);
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "num_experts");
    config.moe.norm_topk_prob = true;
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const expert_layer_selection experts(json, config);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, experts.has(i)}; });
}

// transformers/models/qwen3_vl: Qwen3 with positions of three axes
inline constexpr model_spec qwen3_vl_text = [](model_spec spec) {
    spec.model_type = "qwen3_vl_text";
    spec.class_prefix = "Qwen3VL";
    spec.parse_config = parse_qwen3_vl;
    spec.supported_heads = {head_kind::none};
    spec.base_model = deepstack::read_base;
    spec.supported_layers.max_family_tag = deepstack::deep_layer;
    spec.rotary_axes = rotary_axis_layout::interleaved;
    spec.mask_policy = mask_kind::by_window;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.norm_class = "TextRMSNorm";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.defaults.max_position_embeddings = 128000;
    spec.defaults.sliding_window = 0;
    spec.defaults.head = head_kind::none;
    return spec;
}(qwen3);

// transformers/models/qwen3_vl, Qwen3VLVisionConfig
inline constexpr submodel_spec qwen3_vl_vision{
    .model_type = "qwen3_vl_vision",
    .class_prefix = "Qwen3VL",
    .base_model = qwen3_vl_detail::encode_images,
    .parse_config = qwen3_vl_detail::parse_vision_config,
    .family_keys = qwen3_vl_detail::family_keys,
    .supported_layers = {.max_family_tag = deepstack::deep_layer},
    .rotary = rotary_style::none,
    .names = {.model_class = "VisionModel"},
    .config_keys = {{"num_hidden_layers", "depth", key_rule::standard_name_first},
                    {"num_attention_heads", "num_heads", key_rule::standard_name_first}},
    .defaults = {.hidden_size = 1152,
                 .intermediate_size = 4304,
                 .num_hidden_layers = 27,
                 .num_attention_heads = 16,
                 .hidden_act = activation::gelu_pytorch_tanh},
};

// transformers/models/qwen3_vl
inline constexpr model_spec qwen3_vl = [](model_spec spec) {
    spec.model_type = "qwen3_vl";
    spec.class_prefix = "Qwen3VL";
    spec.base_model = qwen3_vl_detail::forward_vision_language;
    spec.parse_composite_config = deepstack::parse_config;
    spec.compute_media_shapes = qwen3_vl_detail::compute_media_shapes;
    spec.modalities.has_images = spec.modalities.has_videos = true;
    spec.parse_image_processor = qwen_vision::parse_processor_config;
    spec.family_keys = deepstack::bound_keys;
    spec.text_model = {.key = "text_config", .default_spec = &qwen3_vl_text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &qwen3_vl_vision, .ignores_model_type = true};
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
