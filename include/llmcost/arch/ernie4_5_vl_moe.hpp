// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/ernie4_5_moe.hpp>
#include <llmcost/forward/masks_and_rotary.hpp>
#include <llmcost/forward/qwen_vision.hpp>
#include <llmcost/forward/router_balance.hpp>
#include <llmcost/forward/softmax_router_with_correction.hpp>

namespace llmcost::arch {

namespace ernie4_5_vl_moe_detail {

// ---- the text model, with separate experts for text and vision tokens

enum read_by : std::uint8_t { vision_width, heights };

inline constexpr family_key text_keys[]{
    {.default_value = 512, .type = family_key_type::computed},
    {.default_value = 22, .type = family_key_type::computed},  // height frequencies; width has as many
};

/// Rotary cosines and sines of three axes: (B, S, dim) each.
///
/// Height and width frequencies alternate, time frequencies follow. Each angle occurs twice.
/// Source: transformers/models/ernie4_5_vl_moe/modeling_ernie4_5_vl_moe.py, `Ernie4_5_VLMoeTextRotaryEmbedding`.
struct rotary_of_pairs {
    std::int64_t dim;
    std::int64_t num_height_frequencies;  ///< number of frequencies for height, and of those for width
    class_name named;

    static constexpr role module_role = role::rotary;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor_pair forward(trace& t, std::int64_t batch, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer(count(dim / 2 * 2 * 4));  // `inv_freq` and `original_inv_freq`, always in float32
        const std::int64_t of_times = dim / 2 - 2 * num_height_frequencies;
        const tensor angles = t.mul(t.full({3, batch, sequence, 1}), trace::buffer({dim / 2}));
        const auto table = [&](const tensor& x) {
            const tensor part = x.select(0).slice(-1, num_height_frequencies).unsqueeze(-1);
            const tensor pairs = t.cat({part, part}, -1).view({batch, sequence, 2 * num_height_frequencies});
            return t.repeat_interleave(t.cat({pairs, x.select(0).slice(-1, of_times)}, -1), -1, 2);
        };
        const tensor cos = t.mul_scalar(t.cos(angles)), sin = t.mul_scalar(t.sin(angles));
        const tensor of_sin = table(sin);
        return {table(cos), of_sin};
    }
};

constexpr decoder_inputs prepare_inputs(const layer_context& ctx, trace& t) {
    decoder_inputs c = make_masks(ctx, t);
    const rotary_of_pairs table{ctx.config.rotary_dim, ctx.config.family[heights], ctx.class_of("TextRotaryEmbedding")};
    const tensor_pair tables = t.call("rotary_emb", table, t.load().batch, t.load().sequence);
    c.full.cos = c.sliding.cos = tables.first;
    c.full.sin = c.sliding.sin = tables.second;
    return c;
}

constexpr tensor attention(const layer_context& ctx, trace& t, const tensor& x) {
    query_key_value qkv = project_qkv(ctx, t, x);
    split_heads(ctx, qkv);
    transpose_heads(qkv);
    const tensor cos = ctx.inputs->cos.unsqueeze(1), sin = ctx.inputs->sin.unsqueeze(1);
    for (tensor* const operand : {&qkv.query, &qkv.key}) *operand = apply_interleaved_rotary(t, *operand, cos, sin);
    update_kv_cache(ctx, t, qkv);
    return output_projection(ctx, t, scaled_dot_product_attention(ctx, t, qkv));
}

/// Router and experts of one modality, in a separate module: tokens (n, width) -> (n, width).
constexpr tensor modality_experts(const layer_context& ctx, trace& t, literal name, std::int64_t inner,
                                  const tensor& tokens) {
    model_spec spec = ctx.spec;
    spec.class_prefix = "Ernie4_5_VLMoeMoe";  // prefix of the classes of router and experts
    model_config config = ctx.config;
    config.moe.intermediate_size = inner;
    const layer_context moe_ctx{ctx.model, spec, config, ctx.inputs, ctx.layer, ctx.layer_index};
    const module_info m{.name = name, .class_of_module = ctx.class_of("SparseMoeBlock")};
    t.enter(m);
    const tensor weights = t.call("gate", softmax_router_with_correction{moe_ctx}, tokens);
    return t.leave(m, call_experts(moe_ctx, t, tokens, weights));
}

/// MoE block. Without `moe_mm_token_type_ids`, all tokens, including vision tokens, use the text experts.
constexpr tensor sparse_moe_block(const layer_context& ctx, trace& t, const tensor& x) {
    const std::int64_t width = ctx.config.hidden_size, inner = ctx.config.moe.shared_intermediate_size;
    const tensor shared_output = inner != 0 ? call_mlp(ctx, t, "shared_experts", inner, x) : tensor{};
    const tensor tokens = x.view({-1, width});
    const tensor out = modality_experts(ctx, t, "text_moe", ctx.config.moe.intermediate_size, tokens)
                           .view({x.dim(0), x.dim(1), width});
    {
        const recorder::not_executed_guard unread{t};
        (void)modality_experts(ctx, t, "vision_moe", ctx.config.family[vision_width], tokens);
    }
    return inner != 0 ? t.add(out, shared_output) : out;
}

constexpr tensor mlp(const layer_context& ctx, trace& t, const tensor& x) {
    return moe_or_dense_mlp(ctx, t, sparse_moe_block, x);
}

constexpr void parse_text_config(config_view json, model_config& config) {
    config.attention_bias = config.output_bias = config.mlp_bias = json.boolean("use_bias", false);
    config.moe.num_experts = json.positive(json.contains("num_experts") ? "num_experts" : "moe_num_experts", 64);
    const literal picked = json.contains("num_experts_per_tok") ? "num_experts_per_tok" : "moe_k";
    config.moe.num_experts_per_tok = json.positive(picked, 6);
    if (config.moe.num_experts_per_tok > config.moe.num_experts)
        throw_invalid_value(json, picked, "at most the number of experts");
    config.moe.intermediate_size = 1536;
    if (const auto widths = json.optional_array("moe_intermediate_size")) {
        if (widths->size() != 2)
            throw_invalid_value(json, "moe_intermediate_size", "two sizes, for text experts and vision experts");
        config.moe.intermediate_size = (*widths)[0].as_positive();
        config.family[vision_width] = (*widths)[1].as_positive();
    }
    config.moe.shared_intermediate_size = checked_size(
        json, "moe_num_shared_experts", json.non_negative("moe_num_shared_experts", 2), config.moe.intermediate_size);
    set_single_mask(json, config);
    const token_mixer_kind mixer = config.layers[0].token_mixer;
    const sparse_layer_selection sparse(json, config, 1);
    set_layers(json, config, [&](std::int64_t i) { return layer_spec{mixer, sparse.has(i)}; });
    if (2 * parse_sections(json, {3, 64}).frequencies != config.rotary_dim)
        fail_sections(json, "frequencies per axis with a sum of half the head size");
    const auto rope = detail::rope_parameters(json);
    const auto sections = rope ? rope->optional_array("mrope_section") : maybe<config_view>{};
    if (!sections) return;
    if (sections->size() != 3 || (*sections)[0].as_integer() != (*sections)[1].as_integer())
        fail_sections(json, "frequencies of three axes, with equal numbers for height and width");
    config.family[heights] = (*sections)[0].as_integer();
}

// ---- the vision encoder

using qwen_vision::channels, qwen_vision::merge, qwen_vision::patch;

enum vision_config_index : std::uint8_t { in_time = qwen_vision::width };

inline constexpr family_key family_keys[]{
    {"patch_size", 14},         {.default_value = 1, .type = family_key_type::computed},  // each patch covers one frame
    {"in_channels", 3},         {"spatial_merge_size", 2},
    {"temporal_merge_size", 2},
};

// of the multimodal model: image size limits, and options of the load-balancing loss
inline constexpr family_key model_keys[]{
    {.default_value = 56 * 56, .type = family_key_type::computed},
    {.default_value = 28 * 28 * 6177, .type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
    {.type = family_key_type::computed},
};

/// Vision encoder: patches of one frame each, layers with RoPE, norm.
constexpr tensor encode_images(const layer_context& ctx, trace& t) {
    const family_config& family = ctx.config.family;
    const std::int64_t in = ctx.config.hidden_size, pixels = family[channels] * family[patch] * family[patch];
    packed_attention_pattern made{.pictures = qwen_vision::grid_of(ctx, t)};
    const module_info embed{
        .name = "patch_embed", .class_of_module = ctx.class_of("PatchEmbed"), .module_role = role::embedding};
    t.enter(embed);
    tensor x = t.leave(embed, t.call("proj", linear{pixels, in}, qwen_vision::patches_in(ctx, t, made.pictures)));
    const packed_position_table table{in / ctx.config.num_attention_heads, ctx.class_of("VisionRotaryEmbedding")};
    const tensor_pair turns = t.call("rotary_pos_emb", table, made.pictures.patches());
    made.cos = turns.first;
    made.sin = turns.second;
    const qwen_vision::packed_block block{
        ctx, made, {"Ernie4_5VL", "VisionMLP"}, {.up = "fc1", .down = "fc2", .act = "act"}};
    for (loop layer_loop = t.loop_modules(ctx.config.num_hidden_layers, x); layer_loop.next();)
        x = t.call({"blocks", layer_loop.index()}, block, x);
    return t.call("ln", norm_module{norm_kind::layer, in}, x);
}

/// Two linear layers with an activation between them, and a norm.
struct resampler_mlp {
    class_name named;
    std::int64_t in;
    std::int64_t out;

    static constexpr role module_role = role::none;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const tensor h = t.call("act_fn", gelu_module{}, t.call("fc1", linear{in, out, true}, x));
        return t.call("ln", norm_module{norm_kind::layer, out}, t.call("fc2", linear{out, out, true}, h));
    }
};

/// Resampler: merges several patches. Images are repeated as two frames. (S, in) -> (S / merged, out).
struct resampler {
    layer_context ctx;
    std::int64_t merged;
    std::int64_t frames;

    static constexpr role module_role = role::projector;
    static constexpr bool is_leaf = false;
    [[nodiscard]] constexpr class_name type_name() const { return ctx.class_of("VariableResolutionResamplerModel"); }
    constexpr tensor forward(trace& t, const tensor& x) const {
        const std::int64_t all = x.dim(1) * merged * merged, out = ctx.config.hidden_size;
        const class_name inner = ctx.class_of("VisionMLP");
        const tensor operand = t.call("spatial_linear", resampler_mlp{inner, all, all}, x.view({-1, all}));
        const tensor even = t.gather(operand, {operand.dim(0), all}), odd = t.gather(operand, {operand.dim(0), all});
        const tensor h = t.call("temporal_linear", resampler_mlp{inner, frames * all, all}, t.cat({even, odd}, -1));
        return call_norm(t, "after_norm", norm_kind::rms, out, ctx.class_of("RMSNorm"),
                         t.call("mlp", linear{all, out, true}, h));
    }
};

constexpr void parse_vision_config(config_view json, model_config& config) {
    divide_by_heads(json, config, {"num_heads"});
    if (config.family[in_time] != 2) throw_unsupported(json, "temporal_merge_size", "the reference joins two frames");
}

/// Traces the vision encoder, the resampler and the text model.
constexpr tensor forward_vision_language_model(const layer_context& ctx, trace& t) {
    return forward_text_after_encoder(ctx, t, "language_model", [&](tensor token_embeddings) {
        token_embeddings = insert_image_features(ctx, t, token_embeddings, [&] {
            const tensor features = forward_encoder_component(ctx, t, 0, "vision_tower", role::vision);
            const family_config& family = ctx.component(0).config.family;
            return t.call("resampler_model", resampler{ctx, family[merge], family[in_time]}, features);
        });
        qwen_vision::place_in_time(ctx, t);
        return token_embeddings;
    });
}

}  // namespace ernie4_5_vl_moe_detail

// The text model (`Ernie4_5_VLMoeTextConfig`).
//
// Source: transformers/models/ernie4_5_vl_moe
inline constexpr model_spec ernie4_5_vl_moe_text = [](model_spec spec) {
    spec.dropout_keys = {};
    spec.model_type = "ernie4_5_vl_moe_text";
    spec.class_prefix = "Ernie4_5_VLMoe";
    spec.parse_config = ernie4_5_vl_moe_detail::parse_text_config;
    spec.supported_heads = {head_kind::none};
    spec.defaults.head = head_kind::none;
    spec.family_keys = ernie4_5_vl_moe_detail::text_keys;
    spec.process_logits = nullptr;
    spec.multi_token_prediction = nullptr;
    spec.prepare_inputs = ernie4_5_vl_moe_detail::prepare_inputs;
    spec.attention = ernie4_5_vl_moe_detail::attention;
    spec.mlp = ernie4_5_vl_moe_detail::mlp;
    spec.rotary_axes = rotary_axis_layout::sections;
    spec.names.model_class = "TextModel";
    spec.names.attention_class = "TextAttention";
    spec.names.moe_class = "MoeBlock";
    return spec;
}(ernie4_5_moe);

// The vision encoder (`Ernie4_5_VLMoeVisionConfig`).
//
// Source: transformers/models/ernie4_5_vl_moe
inline constexpr submodel_spec ernie4_5_vl_moe_vision{
    .model_type = "ernie4_5_vl_moe_vision",
    .class_prefix = "Ernie4_5_VLMoe",
    .base_model = ernie4_5_vl_moe_detail::encode_images,
    .parse_config = ernie4_5_vl_moe_detail::parse_vision_config,
    .family_keys = ernie4_5_vl_moe_detail::family_keys,
    .rotary = rotary_style::none,
    .names = {.model_class = "VisionTransformerPretrainedModel"},
    .config_keys = {{"num_hidden_layers", "depth", key_rule::standard_name_first},
                    {"num_attention_heads", "num_heads", key_rule::standard_name_first}},
    .defaults = {.hidden_size = 1280,
                 .intermediate_size = 5120,
                 .num_hidden_layers = 32,
                 .num_attention_heads = 16,
                 .hidden_act = activation::quick_gelu},
};

// ERNIE 4.5 VL MoE.
//
// Source: transformers/models/ernie4_5_vl_moe
inline constexpr model_spec ernie4_5_vl_moe = [](model_spec spec) {
    spec.model_type = "ernie4_5_vl_moe";
    spec.class_prefix = "Ernie4_5_VLMoe";
    spec.base_model = ernie4_5_vl_moe_detail::forward_vision_language_model;
    spec.family_keys = ernie4_5_vl_moe_detail::model_keys;
    spec.compute_media_shapes = qwen_vision::compute_media_shapes;
    spec.parse_image_processor = qwen_vision::parse_size_alone;
    spec.modalities.has_images = true;
    spec.parse_composite_config = router_balance::parse_config;
    spec.process_logits = router_balance::process_logits;
    spec.text_model = {.key = "text_config", .default_spec = &ernie4_5_vl_moe_text, .ignores_model_type = true};
    spec.components[0] = {.key = "vision_config", .default_spec = &ernie4_5_vl_moe_vision, .ignores_model_type = true};
    spec.defaults.tie_word_embeddings = true;
    return spec;
}(shared_composite);

}  // namespace llmcost::arch
