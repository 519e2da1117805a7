// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/deepseek.hpp>
#include <llmcost/arch/qwen2_vl.hpp>

namespace llmcost::arch {

namespace glm4v_detail {

enum family_config_index : std::uint8_t { patch, frames, channels, merge, out_width, image, heads };
inline constexpr family_key family_keys[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2},
    {"out_hidden_size", 4096}, {"image_size", 336},        {"num_heads", 12},
};
inline constexpr family_key keys_of_ocr[]{
    {"patch_size", 14},        {"temporal_patch_size", 2}, {"in_channels", 3}, {"spatial_merge_size", 2},
    {"out_hidden_size", 1536}, {"image_size", 336},        {"num_heads", 16},
};

/// Patch merger: a projection with a norm, then a gated MLP of size `inner`.
struct merger {
    class_name named;
    activation act;
    std::int64_t width;
    std::int64_t inner;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const linear projection{width, inner};
        tensor h = t.call("post_projection_norm", norm_module{norm_kind::layer, width},
                          t.call("proj", linear{width, width}, x));
        h = t.call("act1", gelu_module{}, h);
        const tensor gate = t.call("act_fn", activation_module{act}, t.call("gate_proj", projection, h));
        return t.call("down_proj", linear{inner, width}, t.mul(gate, t.call("up_proj", projection, h)));
    }
};

/// Vision block: norm, attention, residual; norm, gated MLP, residual.
template <bool Ocr>
struct block {
    layer_context ctx;
    const packed_attention_pattern& made;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionBlock"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const family_config& family = ctx.config.family;
        const decoder_module_names& n = ctx.spec.names;
        const std::int64_t in = ctx.config.hidden_size;
        const bool bias = ctx.config.attention_bias;
        const class_name norm_type = ctx.class_of("RMSNorm");
        const norm_module rms_norm{norm_kind::rms, in, norm_type};
        const packed_attention attention{ctx.class_of("VisionAttention"), family[heads], made,
                                         made.pictures.full_images(),     bias,          Ocr && bias,
                                         Ocr ? norm_type : class_name{}};
        const tensor middle = t.add(x, t.call("attn", attention, t.call("norm1", rms_norm, x)));
        const mlp_module gated_mlp{
            mlp_kind::gated,
            in,
            Ocr ? ctx.config.intermediate_size : family[out_width],
            ctx.config.hidden_act,
            {is_empty(n.mlp_class_prefix) ? ctx.spec.class_prefix : n.mlp_class_prefix, n.mlp_class},
            Ocr && bias,
            {.act = "act_fn"}};
        return t.add(middle, t.call("mlp", gated_mlp, t.call("norm2", rms_norm, middle)));
    }
};

/// Adds learned position embeddings, interpolated (bicubic) at the positions of patches: (S, width) -> (S, width).
struct positions {
    layer_context ctx;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VisionEmbeddings"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t side = ctx.config.family[image] / ctx.config.family[patch], width = x.dim(1),
                           patches = x.dim(0);
        const module_info table{.name = "position_embedding", .class_of_module = {"", "Embedding"}, .is_leaf = true};
        t.enter(table);  // only its weight is read, the module is not called
        const tensor weight = t.param("weight", {side * side, width});
        t.leave(table);
        const auto places = [&] {
            const recorder::no_grad_guard constants{t};
            const tensor sides = t.full({patches});
            return t.sub(t.mul_scalar(t.div(t.add_scalar(trace::buffer({patches})), sides)), trace::buffer({1}));
        };
        const tensor horizontal = places(), down = places();
        (void)t.cat({horizontal.unsqueeze(1), down.unsqueeze(1)}, 1);
        const tensor square = weight.view({side, side, width}).permute({2, 0, 1}).unsqueeze(0);
        // `aten::grid_sampler_2d` is one operation for all modes, counted with four taps
        const tensor found = t.resample(op::bilinear, t.to(square, dtype::float32), {patches, 1});
        return t.add(x, t.to(found.view({width, patches}).transpose(0, 1), x.type));
    }
};

/// Vision encoder: patches of several frames, layers with RoPE, merger.
///
/// With `Ocr`, it has biases and QK-norm instead of learned positions.
template <bool Ocr>
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = ctx.config.hidden_size, out = family[out_width];
    const norm_module rms_norm{norm_kind::rms, in, ctx.class_of("RMSNorm")};
    packed_attention_pattern made{.pictures = qwen2_vl_detail::grid_of(ctx, t)};
    const qwen2_vl_detail::patch_embed embed{ctx, ctx.class_of("VisionPatchEmbed"), in, true};
    tensor x = t.call("patch_embed", embed, qwen2_vl_detail::patches_in(ctx, t, made.pictures));
    if (!Ocr) x = t.call("post_conv_layernorm", rms_norm, x);
    const packed_position_table table{in / family[heads], ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first;
    made.sin = turns.second;
    if (!Ocr) x = t.call("embeddings", positions{ctx}, x);
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, block<Ocr>{ctx, made}, x);
    x = t.call("post_layernorm", rms_norm, x).view({-1, family[merge], family[merge], in}).permute({0, 3, 1, 2});
    const convolution_2d downsample_conv{in, out, family[merge], family[merge]};
    x = t.call("downsample", downsample_conv, x).view({-1, out});
    const std::int64_t expanded_width = Ocr ? out * family[channels] : ctx.config.intermediate_size;
    return t.call("merger", merger{ctx.class_of("VisionPatchMerger"), ctx.config.hidden_act, out, expanded_width}, x);
}

/// Media shapes of images and videos. A single image is a video of one pair of frames.
constexpr media_shapes show(const model& m, const workload& load) {
    return qwen2_vl_detail::show_within(m, load, {.all_frames = true, .of_pairs = true});
}

/// Traces the text model. The final norm has another class than those of the layers.
constexpr tensor moe_base(const layer_context& ctx, trace& t) {
    const tensor x = ctx.spec.embed_tokens(ctx, t);
    const decoder_inputs shared = ctx.spec.prepare_inputs(ctx, t);
    return call_norm(t, "norm", norm_kind::rms, ctx.config.hidden_size, ctx.class_of("RMSNorm"),
                     forward_layers(ctx, t, shared, x));
}

// options of the text model for the load-balancing loss
enum model_config_index : std::uint8_t { weighs_balance = pixel_bounds };
inline constexpr family_key model_keys[]{
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 15000, .type = family_key_type::computed},
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 2 * 30000, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

inline constexpr family_key keys_of_glmga[]{
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 15000, .type = family_key_type::computed},
    {.default_value = 112 * 112, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 2 * 55790, .type = family_key_type::computed},
    {.type = family_key_type::computed},
};

constexpr void parse_config(config_view json, model& m) {
    weigh_balance_of_text(json, m);
    m.family[weighs_balance] = m.config.moe.has_load_balancing_loss ? 1 : 0;
    m.config.moe.has_load_balancing_loss = false;
}

/// Adds the load-balancing loss, computed from router logits in float32.
constexpr tensor process_logits(const layer_context& ctx, trace& t, const tensor& logits) {
    const model_config& config = ctx.config;
    const recorder::detach_guard unread{t};  // added to a loss over labels
    if (ctx.model.family[weighs_balance] != 0)
        load_balancing_loss(t, config.layers.num_layers_with_experts(config.num_hidden_layers),
                            t.load().batch * t.load().sequence, config.moe, dtype::float32);
    return logits;
}

/// Parses partial RoPE with frequencies shared by three axes.
constexpr void parse_rotary(config_view json, model_config& config, double otherwise) {
    const double part = detail::parse_partial_rotary_factor(json, otherwise);
    config.rotary_dim = round_rotary_dim(config.head_dim, part);
    if (2 * parse_sections(json, {3, 32}).frequencies != config.rotary_dim)
        fail_sections(json, "frequencies per axis with a sum of half the rotary elements");
}

/// Parses the text configuration. The heads have hidden_size / heads elements, independent of `head_dim`.
constexpr void parse_text_config(config_view json, model_config& config) {
    const std::int64_t configured_head_dim = config.head_dim;
    config.head_dim = config.hidden_size / config.num_attention_heads;
    if (config.head_dim != configured_head_dim)
        throw_invalid_value(json, "head_dim", "hidden_size / num_attention_heads, or absent");
    config.attention_bias = true;
    config.output_bias = false;
    set_single_mask(json, config);
    parse_rotary(json, config, 1.0);
}

constexpr void parse_ocr_text(config_view json, model_config& config) {
    config.attention_bias = config.output_bias = false;
    set_single_mask(json, config);
    parse_rotary(json, config, 1.0);
}

/// Parses the MoE text model: dense layers first, then routed and shared experts.
constexpr void parse_moe_text(config_view json, model_config& config) {
    parse_experts(json, config, json.contains("num_local_experts") ? "num_local_experts" : "n_routed_experts");
    validate_experts(json, config);
    config.moe.shared_intermediate_size =
        checked_size(json, "n_shared_experts", json.positive("n_shared_experts", 1), config.moe.intermediate_size);
    config.moe.n_group = json.positive("n_group", 1);
    config.moe.topk_group = json.positive("topk_group", 1);
    config.moe.has_group_limit = true;
    check_groups(json, config);
    if (config.moe.num_experts / config.moe.n_group < 2)
        throw_invalid_value(json, "n_group", "at most half the number of experts");
    config.output_bias = false;
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const std::int64_t dense = json.non_negative("first_k_dense_replace", 1);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, i >= dense}; });
    parse_rotary(json, config, 0.5);
}

}  // namespace glm4v_detail

// The text model of GLM-4V. Derived from the default decoder, with these differences:
//  - norms before and after each block;
//  - interleaved RoPE with positions on three axes.
//
// Source: transformers/models/glm4v
inline constexpr model_spec glm4v_text = [](model_spec spec) {
    spec.model_type = "glm4v_text";
    spec.class_prefix = "Glm4v";
    spec.parse_config = glm4v_detail::parse_text_config;
    spec.supported_heads = {head_kind::none};
    spec.decoder_layer = sandwich_norm_layer;
    spec.dense_mlp = mlp_kind::fused_gated;
    spec.rotary = rotary_style::interleaved;
    spec.rotary_axes = rotary_axis_layout::sections;
    spec.has_partial_rotary = true;
    spec.names.model_class = "TextModel";
    spec.names.layer_class = "TextDecoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.names.mlp_class = "TextMLP";
    spec.names.rotary_class = "TextRotaryEmbedding";
    spec.names.post_attention_norm = "post_self_attn_layernorm";
    spec.names.post_mlp_norm = "post_mlp_layernorm";
    spec.names.mlp_modules.gate = "gate_up_proj";
    spec.names.mlp_modules.act = "activation_fn";
    spec.config_keys.add("mlp_bias", key_rule::absent);
    spec.config_keys.add("attention_bias", key_rule::absent);
    spec.defaults = {.vocab_size = 151552,
                     .hidden_size = 4096,
                     .intermediate_size = 13696,
                     .num_hidden_layers = 40,
                     .num_attention_heads = 32,
                     .num_key_value_heads = 2,
                     .max_position_embeddings = 32768,
                     .head = head_kind::none};
    return spec;
}(default_decoder);

// The text model of GLM-4V MoE. Derived from GLM-4V, with half-rotation RoPE, pre-norm layers and DeepSeek V3's
// experts.
//
// Source: transformers/models/glm4v_moe
inline constexpr model_spec glm4v_moe_text = [](model_spec spec) {
    spec.model_type = "glm4v_moe_text";
    spec.class_prefix = "Glm4vMoe";
    spec.parse_config = glm4v_detail::parse_moe_text;
    spec.base_model = glm4v_detail::moe_base;
    spec.decoder_layer = pre_norm_layer;
    spec.dense_mlp = mlp_kind::gated;
    spec.rotary = rotary_style::rotate_half;
    spec.router = router_kind::sigmoid_grouped;
    spec.shared_experts = shared_expert_kind::added;
    spec.names.mlp_modules = {};
    spec.names.norm_class = "TextRMSNorm";
    spec.names.moe_class = "TextMoE";
    spec.names.experts_class = "TextExperts";
    spec.names.router_class = "TextTopkRouter";
    spec.config_keys.remove("attention_bias");
    spec.defaults.vocab_size = 151424;
    spec.defaults.intermediate_size = 10944;
    spec.defaults.num_hidden_layers = 46;
    spec.defaults.num_attention_heads = 96;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 65536;
    spec.defaults.attention_bias = true;
    spec.defaults.moe = {
        .num_experts = 128, .num_experts_per_tok = 8, .intermediate_size = 1408, .norm_topk_prob = true};
    return spec;
}(glm4v_text);

// The text model of GLM-OCR. Derived from GLM-4V, with heads of size `head_dim` and without biases.
//
// Source: transformers/models/glm_ocr
inline constexpr model_spec glm_ocr_text = [](model_spec spec) {
    spec.model_type = "glm_ocr_text";
    spec.class_prefix = "GlmOcr";
    spec.parse_config = glm4v_detail::parse_ocr_text;
    spec.defaults.vocab_size = 59392;
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.num_hidden_layers = 16;
    spec.defaults.num_attention_heads = 16;
    spec.defaults.num_key_value_heads = 8;
    spec.defaults.max_position_embeddings = 131072;
    return spec;
}(glm4v_text);

// The vision encoder (`Glm4vVisionConfig`).
//
// Source: transformers/models/glm4v
inline constexpr submodel_spec glm4v_vision{
    .model_type = "glm4v_vision",
    .class_prefix = "Glm4v",
    .base_model = glm4v_detail::encode_images<false>,
    .family_keys = glm4v_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "VisionModel", .mlp_class = "VisionMlp", .mlp_class_prefix = "Glm4"},
    .config_keys = {{"num_hidden_layers", "depth", key_rule::standard_name_first}},
    .defaults = {.hidden_size = 1536, .intermediate_size = 13696, .num_hidden_layers = 24},
};
inline constexpr submodel_spec glm4v_moe_vision = [](model_spec spec) {
    spec.model_type = "glm4v_moe_vision";
    spec.class_prefix = "Glm4vMoe";
    spec.names.mlp_class_prefix = "";
    spec.names.mlp_class = "isionMlp";  // the reference's spelling
    return spec;
}(glm4v_vision);
inline constexpr submodel_spec glm_ocr_vision = [](model_spec spec) {
    spec.model_type = "glm_ocr_vision";
    spec.class_prefix = "GlmOcr";
    spec.base_model = glm4v_detail::encode_images<true>;
    spec.family_keys = glm4v_detail::keys_of_ocr;
    spec.names.mlp_class_prefix = "";
    spec.defaults.hidden_size = 1024;
    spec.defaults.intermediate_size = 4096;
    spec.defaults.attention_bias = true;
    return spec;
}(glm4v_vision);

// Source: transformers/models/glm4v
inline constexpr model_spec glm4v = [](model_spec spec) {
    spec.model_type = "glm4v";
    spec.class_prefix = "Glm4v";
    spec.base_model = qwen2_vl_detail::forward_vision_language<false>;
    spec.family_keys = glm4v_detail::model_keys;
    spec.compute_media_shapes = glm4v_detail::show;
    spec.modalities.has_images = spec.modalities.has_videos = true;
    spec.parse_image_processor = qwen2_vl_detail::parse_size_alone;
    spec.text_model = {
        .key = "text_config", .default_spec = &glm4v_text, .ignores_model_type = true, .ties_embeddings = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &glm4v_vision, .ignores_model_type = true};
    return spec;
}(shared_composite);

// Source: transformers/models/glm4v_moe
inline constexpr model_spec glm4v_moe = [](model_spec spec) {
    spec.model_type = "glm4v_moe";
    spec.class_prefix = "Glm4vMoe";
    spec.parse_composite_config = glm4v_detail::parse_config;
    spec.process_logits = glm4v_detail::process_logits;
    spec.text_model.default_spec = &glm4v_moe_text;
    spec.components[0].default_spec = &glm4v_moe_vision;
    return spec;
}(glm4v);

// Source: transformers/models/glm_ocr
inline constexpr model_spec glm_ocr = [](model_spec spec) {
    spec.model_type = "glm_ocr";
    spec.class_prefix = "GlmOcr";
    spec.text_model.default_spec = &glm_ocr_text;
    spec.components[0].default_spec = &glm_ocr_vision;
    return spec;
}(glm4v);

// GLM-4.6V. The text configuration determines the class of the text model.
//
// Source: transformers/models/glm46v
inline constexpr model_spec glm46v = [](model_spec spec) {
    spec.model_type = "glm46v";
    spec.class_prefix = "Glm46V";
    spec.text_model.ignores_model_type = spec.text_model.ties_embeddings = spec.components[0].ignores_model_type =
        false;
    return spec;
}(glm4v);

// GLM-GA. The classes of GLM-4.6V, with larger videos.
//
// Source: transformers/models/glmga
inline constexpr model_spec glmga = [](model_spec spec) {
    spec.model_type = "glmga";
    spec.family_keys = glm4v_detail::keys_of_glmga;
    return spec;
}(glm46v);

}  // namespace llmcost::arch
