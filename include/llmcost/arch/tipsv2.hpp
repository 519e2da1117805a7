// SPDX-FileCopyrightText: 2026 The llmcost authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <llmcost/arch/dinov2.hpp>
#include <llmcost/forward/dinov2_layers.hpp>
#include <llmcost/forward/dual_encoder.hpp>

namespace llmcost::arch {

namespace tipsv2_detail {

/// Positions that are computed when the model is made.
struct sinusoidal_positions {
    std::int64_t max_positions;
    std::int64_t width;
    class_name named;

    static constexpr role module_role = role::embedding;
    static constexpr bool is_leaf = true;
    [[nodiscard]] constexpr class_name type_name() const { return named; }
    constexpr tensor forward(trace& t, std::int64_t sequence) const {
        const recorder::no_grad_guard constants{t};
        t.register_buffer({max_positions, width}, t.activation_type());  // `weights`
        return t.gather(trace::buffer({max_positions, width}), {1, sequence, width});
    }
};

/// Scaled token embeddings with positions; layers, a norm, and the mean of all tokens.
constexpr tensor_pair encode_text(const layer_context& ctx, trace& t, bool reads_pool) {
    const workload& load = t.load();
    const std::int64_t width = ctx.config.hidden_size, max_positions = ctx.config.max_position_embeddings;
    const module_info embeddings{
        .name = "embeddings", .class_of_module = ctx.class_of("TextEmbeddings"), .module_role = role::embedding};
    t.check_positions(max_positions, load.sequence);
    t.enter(embeddings);
    t.register_integer_buffer(max_positions);  // `position_ids`
    const tensor token_embeddings =
        t.call("token_embedding", embedding{ctx.config.vocab_size, width}, shape{load.batch, load.sequence});
    const sinusoidal_positions places{max_positions, width, ctx.class_of("SinusoidalPositionalEmbedding")};
    tensor x = t.mul_scalar(token_embeddings);
    x = t.leave(embeddings, t.add(x, t.call("position_embedding", places, load.sequence)));
    const attention_inputs inputs{.pattern = full_pattern(load.sequence).pattern};
    x = t.call("final_layer_norm", norm_module{norm_kind::layer, width}, encode(ctx, t, x, "TextEncoder", inputs));
    const recorder::detach_guard unread{t, !reads_pool};
    return {x, t.mean(x, 1)};
}

inline constexpr submodel_spec texts = [](model_spec spec) {
    spec.class_prefix = "Tipsv2";
    spec.base_model = [](const layer_context& ctx, trace& t) { return encode_text(ctx, t, false).first; };
    spec.parse_config = [](config_view json, model_config& config) {
        divide_by_heads(json, config, {"num_attention_heads"});
    };
    spec.names.layer_class = "TextEncoderLayer";
    spec.names.attention_class = "TextAttention";
    spec.defaults.vocab_size = 32000;
    spec.defaults.max_position_embeddings = 64;
    spec.defaults.hidden_act = activation::relu;
    return spec;
}(text_tower);

/// DINOv2's keys; the ratio of a block's inner width may be no integer.
inline constexpr family_key family_keys[]{
    dinov2_layers::family_keys[0], {.default_value = 1, .type = family_key_type::computed},
    dinov2_layers::family_keys[2], dinov2_layers::family_keys[3],
    dinov2_layers::family_keys[4], {.type = family_key_type::computed}};

constexpr void parse_images(config_view json, model_config& config) {
    using namespace dinov2_layers;
    dinov2_layers::parse_config(json, config);
    if (!json.contains("image_size")) config.vision.image_height = config.vision.image_width = 448;
    if (!json.contains("patch_size")) config.vision.patch_size = 14;
    const double inner = json.real("mlp_ratio", 4.0) * static_cast<double>(config.hidden_size);
    if (!(inner >= 1 && inner <= static_cast<double>(max_input)))
        throw_invalid_value(json, "mlp_ratio", "a factor that gives a width up to 2147483647");
    config.intermediate_size = static_cast<std::int64_t>(inner);
    if (config.family[gated]) config.intermediate_size = (config.intermediate_size * 2 / 3 + 7) / 8 * 8;
    config.family[registers] = json.non_negative("num_register_tokens", 1);
    config.family[registered] = config.family[masked] = 1;
}

inline constexpr submodel_spec images = [](model_spec spec) {
    spec.class_prefix = "Tipsv2Vision";
    spec.parse_config = parse_images;
    spec.family_keys = family_keys;
    spec.accepts_any_image_size = false;
    return spec;
}(dinov2);

/// Scores of every text and image, divided by a learned temperature.
constexpr tensor forward(const layer_context& ctx, trace& t) {
    const module_info model_info{.class_of_module = ctx.class_of("Model")};
    const layer_context text = ctx.text_model(), tower = ctx.component(0);
    t.enter(model_info);
    const tensor temperature = t.param("temperature", {});
    const tensor read = forward_pooled_text(ctx, t, [&] { return encode_text(text, t, true).second; });
    const tensor features = forward_pooled_images(ctx, t, [&] { return t.select(tower.spec.base_model(tower, t), 1); });
    const tensor image_embeds = normalize_l2_by_power(t, features), text_embeds = normalize_l2_by_power(t, read);
    const tensor scores = t.matmul(text_embeds, image_embeds.transpose(0, 1));
    return t.leave(model_info, t.div(scores, temperature));
}

constexpr void parse_config(config_view json, model& m) {
    if (m.config.hidden_size != m.components[0].config.hidden_size)
        throw_invalid_value(json, "text_config", "the hidden_size of vision_config");
}

}  // namespace tipsv2_detail

// transformers/models/tipsv2: modeling_tipsv2.py; DINOv2 with a register, and a text model with mean pooling
inline constexpr model_spec tipsv2 = [](model_spec spec) {
    spec.model_type = "tipsv2";
    spec.class_prefix = "Tipsv2";
    spec.forward = tipsv2_detail::forward;
    spec.parse_composite_config = tipsv2_detail::parse_config;
    spec.supported_heads = {head_kind::none};
    spec.text_model.default_spec = &tipsv2_detail::texts;
    spec.components[0].default_spec = &tipsv2_detail::images;
    return spec;
}(shared_pair);

}  // namespace llmcost::arch
